//! Some nodes, a radio that does what it is told to, and virtual time.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use driftlock_net::link::{Effect, Frame, Link, Settings};
use driftlock_net::{Boot, Span, Time};
use driftlock_protocol::NodeId;

use crate::observer::{Message, Observer, Place, carries_token};
use crate::rng::Rng;

const MS: u64 = 1_000_000;

/// How frames travel from one node to another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weather {
    pub(crate) loss_percent: u64,
    pub(crate) doubled_percent: u64,
    pub(crate) delay_ms_max: u64,
}

impl Weather {
    pub(crate) const CLEAR: Self = Self { loss_percent: 0, doubled_percent: 0, delay_ms_max: 5 };
    pub(crate) const NONE: Self = Self { loss_percent: 100, doubled_percent: 0, delay_ms_max: 5 };
}

pub(crate) struct Crowd {
    pub(crate) now: Time,
    pub(crate) rng: Rng,
    pub(crate) links: Vec<Link<Message>>,
    pub(crate) observer: Observer,
    /// Whether there is always some path for what is routed.
    pub(crate) routed: bool,
    /// Whether every delivered message without a token may be replied to at once.
    pub(crate) replies: bool,
    frames: usize,
    pub(crate) unicasts: usize,
    pub(crate) longest_list: usize,
    pub(crate) hellos: Vec<(Time, NodeId)>,
    settings: Settings,
    boots: Vec<Boot>,
    weather: Vec<Vec<Weather>>,
    air: BTreeMap<(Time, usize), (NodeId, NodeId, Frame<Message>)>,
    wakes: BTreeSet<(Time, usize)>,
    wake_of: Vec<Time>,
}

impl Crowd {
    pub(crate) fn new(nodes: usize, seed: u64, settings: Settings) -> Self {
        let boot = Boot(1);
        let ids = (0u32..).map(NodeId).take(nodes);
        let links: Vec<_> = ids.map(|id| Link::new(Time::ZERO, id, boot, settings, carries_token)).collect();
        let mut crowd = Self {
            now: Time::ZERO,
            rng: Rng::new(seed),
            links,
            observer: Observer::default(),
            routed: false,
            replies: false,
            frames: 0,
            unicasts: 0,
            longest_list: 0,
            hellos: Vec::new(),
            settings,
            boots: vec![boot; nodes],
            weather: vec![vec![Weather::CLEAR; nodes]; nodes],
            air: BTreeMap::new(),
            wakes: BTreeSet::new(),
            wake_of: vec![Time::END; nodes],
        };
        for node in 0..nodes {
            crowd.note_wake(node);
        }
        crowd
    }

    /// A token comes into being.
    pub(crate) fn deal(&mut self, node: u32) -> usize {
        self.observer.tokens.push(Place::Held(NodeId(node)));
        self.observer.tokens.len() - 1
    }

    pub(crate) fn set_weather(&mut self, from: usize, to: usize, weather: Weather) {
        self.weather[from][to] = weather;
    }

    pub(crate) fn set_weather_between(&mut self, a: usize, b: usize, weather: Weather) {
        self.set_weather(a, b, weather);
        self.set_weather(b, a, weather);
    }

    /// Only these hear each other.
    pub(crate) fn divide(&mut self, hear: impl Fn(usize, usize) -> bool) {
        for (from, row) in self.weather.iter_mut().enumerate() {
            for (to, weather) in row.iter_mut().enumerate().filter(|(to, _)| !hear(from, *to)) {
                debug_assert_ne!(from, to);
                *weather = Weather::NONE;
            }
        }
    }

    pub(crate) fn heal(&mut self) {
        for row in &mut self.weather {
            row.fill(Weather { doubled_percent: 5, ..Weather::CLEAR });
        }
    }

    pub(crate) fn send(&mut self, from: u32, to: u32, token: Option<usize>) {
        let message = self.observer.sends(NodeId(from), NodeId(to), token);
        let mut out = Vec::new();
        self.links[from as usize].send(self.now, NodeId(to), message, &mut out);
        self.carry_out(from as usize, out);
    }

    /// The same message over all links of a node, each of which knows it by another number here.
    pub(crate) fn send_to_all(&mut self, from: u32) {
        let to: Vec<_> = self.links[from as usize].links().map(|(peer, _)| peer).collect();
        let message = self.observer.sends_to_all(NodeId(from), &to);
        let mut out = Vec::new();
        self.links[from as usize].send_to_all(self.now, to.into_iter(), &message, &mut out);
        self.carry_out(from as usize, out);
    }

    pub(crate) fn restart(&mut self, node: usize, remembers: bool) {
        self.boots[node].0 += 1;
        self.observer.restarts(NodeId(u32::try_from(node).unwrap()), remembers);
        let (id, boot) = (NodeId(u32::try_from(node).unwrap()), self.boots[node]);
        self.links[node] = if remembers {
            let durable = self.links[node].durable();
            Link::restore(self.now, id, boot, self.settings, carries_token, durable)
        } else {
            Link::new(self.now, id, boot, self.settings, carries_token)
        };
        self.note_wake(node);
    }

    /// Lets so much time pass.
    pub(crate) fn run(&mut self, ms: u64) {
        let end = self.now + Span::from_millis(ms);
        while self.step(end) {
            self.observer.check_custody(&self.links);
        }
        self.now = end;
    }

    /// The same, where no test looks at tokens.
    pub(crate) fn run_unwatched(&mut self, ms: u64) {
        let end = self.now + Span::from_millis(ms);
        while self.step(end) {}
        self.now = end;
    }

    /// The next thing that happens, unless that is after `end`.
    fn step(&mut self, end: Time) -> bool {
        let arrival = self.air.keys().next().map_or(Time::END, |key| key.0);
        let (wake, node) = self.wakes.first().copied().unwrap_or((Time::END, 0));
        let next = arrival.min(wake);
        if next > end {
            return false;
        }
        self.now = self.now.max(next);
        let mut out = Vec::new();
        if wake <= arrival {
            self.links[node].woken(self.now, &mut out);
            self.carry_out(node, out);
        } else if let Some((_, (from, to, frame))) = self.air.pop_first() {
            self.links[to.index()].received(self.now, from, frame, &mut out);
            self.carry_out(to.index(), out);
        }
        true
    }

    fn carry_out(&mut self, node: usize, effects: Vec<Effect<Message>>) {
        let here = NodeId(u32::try_from(node).unwrap());
        let mut queue = VecDeque::from(effects);
        while let Some(effect) = queue.pop_front() {
            self.observer.sees(here, &effect);
            match effect {
                Effect::Transmit { to: Some(to), frame, delay } => {
                    self.unicasts += 1;
                    self.transmit(here, to, frame, delay);
                }
                Effect::Transmit { to: None, frame, delay } => {
                    if let Frame::Hello(hello) = &frame {
                        self.hellos.push((self.now, here));
                        self.longest_list = self.longest_list.max(hello.list.len());
                    }
                    for to in (0u32..).map(NodeId).take(self.links.len()).filter(|&to| to != here) {
                        self.transmit(here, to, frame.clone(), delay);
                    }
                }
                Effect::Route { to, frame } if self.routed && self.rng.percent(70) => {
                    let delay = Span(self.rng.below(50 * MS));
                    self.fly(here, to, frame, delay);
                }
                Effect::Deliver { from, message, .. }
                    if self.replies && message.token.is_none() && message.id % 3 == 0 =>
                {
                    let mut out = Vec::new();
                    let reply = self.observer.sends(here, from, None);
                    self.links[node].send(self.now, from, reply, &mut out);
                    queue.extend(out);
                }
                _ => {}
            }
        }
        self.note_wake(node);
    }

    fn transmit(&mut self, from: NodeId, to: NodeId, frame: Frame<Message>, put_off: Span) {
        self.frames += 1;
        let weather = self.weather[from.index()][to.index()];
        if self.rng.percent(weather.doubled_percent) {
            let delay = Span(self.rng.below(20 * weather.delay_ms_max * MS) + 1);
            self.fly(from, to, frame.clone(), put_off + delay);
        }
        if !self.rng.percent(weather.loss_percent) {
            let delay = Span(self.rng.below(weather.delay_ms_max * MS) + 1);
            self.fly(from, to, frame, put_off + delay);
        }
    }

    fn fly(&mut self, from: NodeId, to: NodeId, frame: Frame<Message>, delay: Span) {
        let number = self.frames * 1_000 + self.air.len();
        self.air.insert((self.now + delay, number), (from, to, frame));
        self.frames += 1;
    }

    fn note_wake(&mut self, node: usize) {
        let wake = self.links[node].wakes().unwrap_or(Time::END).max(self.now);
        if wake != self.wake_of[node] {
            self.wakes.remove(&(self.wake_of[node], node));
            self.wakes.insert((wake, node));
            self.wake_of[node] = wake;
        }
    }
}

//! A world of routers with a clock, links that come and go, and packets that are lost, late and out of order.

mod discovery;
mod loops;
mod restarts;
mod rules;

use std::collections::{BTreeMap, BTreeSet};

use driftlock_protocol::NodeId;

use super::{Durable, Effect, Packet, Router, Settings};
use crate::dice::Dice;
use crate::{Span, Time};

const MILLISECOND: u64 = 1_000_000;

type Sent = Packet<u32, u64>;

/// The destination, and the way that does not lead there.
type Cycle = (NodeId, Vec<NodeId>);

fn id(index: usize) -> NodeId {
    NodeId(u32::try_from(index).unwrap())
}

enum Event {
    Arrives { from: NodeId, to: NodeId, packet: Sent },
    Unsent { from: NodeId, to: NodeId, packet: Sent },
}

/// What the world does to packets, in per mille where it is a chance.
#[derive(Clone, Copy)]
struct Air {
    delay_min: u64,
    delay_max: u64,
    lost: u64,
    /// A unicast packet that has arrived is reported as unsent all the same.
    acknowledgement_lost: u64,
    /// Whether a node learns that a unicast packet was lost.
    reports_losses: bool,
}

impl Air {
    const CLEAR: Self = Self { delay_min: 1, delay_max: 1, lost: 0, acknowledgement_lost: 0, reports_losses: true };
}

struct World {
    routers: Vec<Router<u32, u64>>,
    settings: Settings,
    links: BTreeSet<(NodeId, NodeId)>,
    air: Air,
    now: Time,
    events: BTreeMap<(Time, u64), Event>,
    count: u64,
    dice: Dice,
    /// (originator, destination, data).
    delivered: Vec<(NodeId, NodeId, u64)>,
    undelivered: Vec<(NodeId, NodeId, u64)>,
    sent: BTreeMap<&'static str, u32>,
    effects: Vec<Effect<u32, u64>>,
}

impl World {
    fn new(nodes: usize, settings: &Settings, air: Air, seed: u64) -> Self {
        Self {
            routers: (0..nodes).map(|index| Router::new(id(index), settings.clone())).collect(),
            settings: settings.clone(),
            links: BTreeSet::new(),
            air,
            now: Time::ZERO,
            events: BTreeMap::new(),
            count: 0,
            dice: Dice::new(seed),
            delivered: Vec::new(),
            undelivered: Vec::new(),
            sent: BTreeMap::new(),
            effects: Vec::new(),
        }
    }

    fn line(nodes: usize, settings: &Settings) -> Self {
        let mut world = Self::new(nodes, settings, Air::CLEAR, 0);
        (1..nodes).for_each(|index| world.link(index - 1, index));
        world
    }

    fn link(&mut self, a: usize, b: usize) {
        self.links.insert((id(a.min(b)), id(a.max(b))));
    }

    fn cut(&mut self, a: usize, b: usize) {
        self.links.remove(&(id(a.min(b)), id(a.max(b))));
    }

    fn linked(&self, a: NodeId, b: NodeId) -> bool {
        self.links.contains(&(a.min(b), a.max(b)))
    }

    fn send(&mut self, from: usize, to: usize, data: u64) {
        let mut effects = std::mem::take(&mut self.effects);
        self.routers[from].send(self.now, id(to), data, &mut effects);
        self.carry_out(id(from), effects);
    }

    fn chance(&mut self, per_mille: u64) -> bool {
        self.dice.below(1000) < per_mille
    }

    /// The next thing that happens, if anything does before `until`.
    fn step(&mut self, until: Time) -> bool {
        let wakes = |(index, router): (usize, &Router<_, _>)| router.wakes().map(|time| (time.max(self.now), index));
        let wake = self.routers.iter().enumerate().filter_map(wakes).min();
        let arrival = self.events.first_key_value().map(|(&(time, _), _)| time);
        let next = wake.map(|it| it.0).into_iter().chain(arrival).min();
        let Some(next) = next.filter(|&next| next <= until) else {
            self.now = self.now.max(until);
            return false;
        };
        self.now = next;
        let mut effects = std::mem::take(&mut self.effects);
        let node = match wake.filter(|&(time, _)| time == next) {
            Some((_, index)) => {
                self.routers[index].woken(next, &mut effects);
                id(index)
            }
            None => match self.events.pop_first().unwrap().1 {
                Event::Arrives { from, to, packet } => {
                    self.routers[to.index()].received(next, from, packet, &mut effects);
                    to
                }
                Event::Unsent { from, to, packet } => {
                    self.routers[from.index()].unsent(next, to, packet, &mut effects);
                    from
                }
            },
        };
        self.carry_out(node, effects);
        true
    }

    fn run(&mut self, until: Time) {
        while self.step(until) {}
    }

    fn run_for(&mut self, millis: u64) {
        self.run(self.now + Span::from_millis(millis));
    }

    fn carry_out(&mut self, node: NodeId, mut effects: Vec<Effect<u32, u64>>) {
        for effect in effects.drain(..) {
            match effect {
                Effect::Transmit { to: None, packet, delay } => {
                    *self.sent.entry(kind(&packet)).or_default() += 1;
                    for to in (0..self.routers.len()).map(id).filter(|&to| to != node) {
                        if self.linked(node, to) && !self.chance(self.air.lost) {
                            self.schedule(delay, Event::Arrives { from: node, to, packet: packet.clone() });
                        }
                    }
                }
                Effect::Transmit { to: Some(to), packet, delay } => {
                    *self.sent.entry(kind(&packet)).or_default() += 1;
                    self.transmit(node, to, packet, delay);
                }
                Effect::Deliver { from, data } => self.delivered.push((from, node, data)),
                Effect::Undelivered { to, data } => self.undelivered.push((node, to, data)),
                _ => {}
            }
        }
        self.effects = effects;
    }

    fn transmit(&mut self, from: NodeId, to: NodeId, packet: Sent, delay: Span) {
        let arrives = self.linked(from, to) && !self.chance(self.air.lost);
        let reported = self.air.reports_losses && (!arrives || self.chance(self.air.acknowledgement_lost));
        if reported {
            self.schedule(delay, Event::Unsent { from, to, packet: packet.clone() });
        }
        if arrives {
            self.schedule(delay, Event::Arrives { from, to, packet });
        }
    }

    fn schedule(&mut self, delay: Span, event: Event) {
        let air = self.air.delay_min + self.dice.below(self.air.delay_max - self.air.delay_min + 1);
        self.count += 1;
        self.events.insert((self.now + delay + Span::from_millis(air), self.count), event);
    }

    fn hops(&self, from: usize, to: usize) -> Option<u8> {
        self.routers[from].route(self.now, id(to)).map(|route| route.hops)
    }

    /// A node is back with what it had stored.
    fn restore(&mut self, node: usize, life: u32, durable: Durable) {
        let rules = self.routers[node].table.rules;
        self.routers[node] = Router::restored(id(node), self.settings.clone(), life, durable, self.now);
        self.routers[node].table.rules = rules;
    }

    /// A cycle of valid next hops, if there is one. A route through a former life of a node ends there.
    fn cycle(&self) -> Option<Cycle> {
        let lives = |at: &Router<u32, u64>, hop: NodeId| {
            !at.table.rules.bound_to_lives || at.neighbours.life_of(hop) == self.routers[hop.index()].life
        };
        let next = |at: NodeId, to: NodeId| {
            let router = &self.routers[at.index()];
            router.route(self.now, to).map(|route| route.next_hop).filter(|&hop| hop == to || lives(router, hop))
        };
        for destination in (0..self.routers.len()).map(id) {
            for start in (0..self.routers.len()).map(id).filter(|&start| start != destination) {
                let mut path = vec![start];
                while let Some(hop) = next(path[path.len() - 1], destination).filter(|&hop| hop != destination) {
                    path.push(hop);
                    if path.len() > self.routers.len() {
                        return Some((destination, path));
                    }
                }
            }
        }
        None
    }
}

fn kind(packet: &Sent) -> &'static str {
    match packet {
        Packet::Request(_) => "request",
        Packet::Reply(_) => "reply",
        Packet::Hello(_) => "hello",
        Packet::Error(_) => "error",
        Packet::Acknowledgement => "acknowledgement",
        Packet::Data(_) => "data",
    }
}

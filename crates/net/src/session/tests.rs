//! Nodes over a network that loses, delays, doubles, reorders and partitions, and an observer who sees everything.

mod caps;
mod histories;
mod limits;
mod observer;
mod scenarios;

use std::collections::BTreeMap;

use driftlock_protocol::NodeId;

use super::{Effect, Segment, Sessions, Settings};
use crate::dice::Dice;
use crate::{Boot, Span, Time};
use observer::{Note, Observer};

fn id(index: usize) -> NodeId {
    NodeId(u32::try_from(index).unwrap())
}

fn millis(count: u64) -> Span {
    Span::from_millis(count)
}

/// What the network does to datagrams, in per mille where it is a chance.
#[derive(Clone, Copy)]
struct Network {
    lost: u64,
    doubled: u64,
    delay_max: u64,
    /// Whether senders are told of some losses.
    hints: bool,
}

impl Network {
    const PERFECT: Self = Self { lost: 0, doubled: 0, delay_max: 1, hints: false };
}

struct Datagram {
    from: NodeId,
    to: NodeId,
    segment: Segment<Note>,
}

struct World {
    nodes: Vec<Sessions<Note>>,
    boots: Vec<Boot>,
    settings: Settings,
    network: Network,
    /// Nodes in different parts do not hear one another.
    parts: Vec<u64>,
    now: Time,
    air: BTreeMap<(Time, u64), Datagram>,
    count: u64,
    dice: Dice,
    observer: Observer,
}

impl World {
    fn new(nodes: usize, settings: &Settings, network: Network, seed: u64) -> Self {
        Self {
            nodes: (0..nodes).map(|index| Sessions::new(id(index), Boot(0), settings.clone())).collect(),
            boots: vec![Boot(0); nodes],
            settings: settings.clone(),
            network,
            parts: vec![0; nodes],
            now: Time::ZERO,
            air: BTreeMap::new(),
            count: 0,
            dice: Dice::new(seed),
            observer: Observer::default(),
        }
    }

    fn pick(&mut self) -> usize {
        usize::try_from(self.dice.below(self.nodes.len() as u64)).unwrap()
    }

    fn send(&mut self, from: usize, to: usize, keep: bool) -> Note {
        let mut out = Vec::new();
        let note = self.observer.sends(id(from), id(to), keep);
        let transfer = self.nodes[from].send(self.now, id(to), note, keep, &mut out);
        self.observer.named(id(from), transfer, note);
        self.carry_out(from, out);
        note
    }

    /// Everything is forgotten but what must survive.
    fn reboot(&mut self, node: usize) {
        self.boots[node].0 += 1;
        let durable = self.nodes[node].durable();
        self.nodes[node] = Sessions::restored(id(node), self.boots[node], self.settings.clone(), durable, self.now);
        self.observer.reboots(id(node));
    }

    fn step(&mut self, until: Time) -> bool {
        let wake =
            self.nodes.iter().enumerate().filter_map(|(index, node)| Some((node.wakes()?.max(self.now), index))).min();
        let arrival = self.air.first_key_value().map(|(&(time, _), _)| time);
        let next = wake.map(|it| it.0).into_iter().chain(arrival).min();
        let Some(next) = next.filter(|&next| next <= until) else {
            self.now = self.now.max(until);
            return false;
        };
        self.now = next;
        let mut out = Vec::new();
        let node = if let Some((_, index)) = wake.filter(|&(time, _)| time == next) {
            self.nodes[index].woken(next, &mut out);
            index
        } else {
            let Datagram { from, to, segment } = self.air.pop_first().unwrap().1;
            self.nodes[to.index()].received(next, from, segment, &mut out);
            to.index()
        };
        self.carry_out(node, out);
        true
    }

    fn run_for(&mut self, span: Span) {
        let until = self.now + span;
        while self.step(until) {}
    }

    fn carry_out(&mut self, node: usize, effects: Vec<Effect<Note>>) {
        let mut hints = Vec::new();
        for effect in effects {
            match effect {
                Effect::Transmit { to, segment } => {
                    if !self.transmit(node, to, &segment) && self.network.hints && self.dice.below(2) == 0 {
                        hints.push(to);
                    }
                }
                seen => self.observer.sees(id(node), &seen),
            }
        }
        for to in hints {
            let mut out = Vec::new();
            self.nodes[node].unreachable(self.now, to, &mut out);
            self.carry_out(node, out);
        }
    }

    /// Whether it will arrive.
    fn transmit(&mut self, from: usize, to: NodeId, segment: &Segment<Note>) -> bool {
        if self.parts[from] != self.parts[to.index()] || self.dice.below(1000) < self.network.lost {
            return false;
        }
        let copies = 1 + usize::from(self.dice.below(1000) < self.network.doubled);
        for _ in 0..copies {
            let delay = millis(1 + self.dice.below(self.network.delay_max));
            self.count += 1;
            let datagram = Datagram { from: id(from), to, segment: segment.clone() };
            self.air.insert((self.now + delay, self.count), datagram);
        }
        true
    }
}

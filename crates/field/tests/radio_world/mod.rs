//! A world for the radio alone: nodes that stand still, a queue of events, and a list of what was heard and sent.
#![allow(dead_code, unreachable_pub)] // every test binary uses another part

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use driftlock_field::radio::settings::{Access, Csma, Propagation};
use driftlock_field::radio::{Air, Effect, Event, Settings};
use driftlock_net::{Span, Time};
use driftlock_protocol::NodeId;

/// What the world notes down: when, and what.
pub type Note = (Time, Effect<u32>);

pub struct World {
    pub air: Air<u32>,
    pub now: Time,
    pub notes: Vec<Note>,
    places: Vec<(f64, f64)>,
    queue: BinaryHeap<Reverse<(u64, u64, usize)>>,
    events: Vec<Event>,
    effects: Vec<Effect<u32>>,
}

impl World {
    pub fn new(settings: &Settings, seed: u64, places: &[(f64, f64)]) -> Self {
        let rules = settings.rules().expect("sound settings");
        Self {
            air: Air::new(u32::try_from(places.len()).unwrap(), rules, seed),
            now: Time::ZERO,
            notes: Vec::new(),
            places: places.to_vec(),
            queue: BinaryHeap::new(),
            events: Vec::new(),
            effects: Vec::new(),
        }
    }

    /// Nodes on a line, so many metres apart.
    pub fn line(settings: &Settings, seed: u64, nodes: u32, apart: f64) -> Self {
        let places = (0..nodes).map(|node| (f64::from(node) * apart, 0.0)).collect::<Vec<_>>();
        Self::new(settings, seed, &places)
    }

    pub fn unicast(&mut self, from: u32, to: u32, bytes: u32, frame: u32) {
        self.send(from, Some(NodeId(to)), bytes, frame);
    }

    pub fn broadcast(&mut self, from: u32, bytes: u32, frame: u32) {
        self.send(from, None, bytes, frame);
    }

    fn send(&mut self, from: u32, to: Option<NodeId>, bytes: u32, frame: u32) {
        let Self { air, places, effects, now, .. } = self;
        air.send(*now, NodeId(from), to, bytes, frame, &mut around(places), effects);
        self.take_effects();
    }

    pub fn set_jammed(&mut self, node: u32, jammed: bool) {
        self.air.set_jammed(self.now, NodeId(node), jammed, &mut self.effects);
        self.take_effects();
    }

    pub fn set_down(&mut self, node: u32, down: bool) {
        self.air.set_down(self.now, NodeId(node), down);
    }

    /// Handles the next event if it is due by then.
    pub fn step(&mut self, until: Time) -> bool {
        let Some(&Reverse((time, _, event))) = self.queue.peek() else { return false };
        if time > until.0 {
            return false;
        }
        self.queue.pop();
        assert!(time >= self.now.0, "an event in the past");
        self.now = Time(time);
        let Self { air, places, effects, now, events, .. } = self;
        air.handle(*now, events[event], &mut around(places), effects);
        self.take_effects();
        true
    }

    pub fn run_until(&mut self, until: Time) {
        while self.step(until) {}
        self.now = until;
    }

    /// Until nothing is left to happen.
    pub fn run(&mut self) {
        while self.step(Time::END) {}
    }

    fn take_effects(&mut self) {
        for effect in self.effects.drain(..) {
            if let Effect::At(time, event) = effect {
                self.queue.push(Reverse((time.0, self.events.len() as u64, self.events.len())));
                self.events.push(event);
            } else {
                self.notes.push((self.now, effect));
            }
        }
    }

    /// The nodes that heard the frame, in order.
    pub fn heard(&self, wanted: u32) -> Vec<u32> {
        let hearer = |(_, effect): &Note| match effect {
            Effect::Heard { at, frame, .. } if *frame == wanted => Some(at.0),
            _ => None,
        };
        self.notes.iter().filter_map(hearer).collect()
    }

    pub fn sent(&self) -> usize {
        self.notes.iter().filter(|(_, effect)| matches!(effect, Effect::Sent { .. })).count()
    }

    pub fn failed(&self) -> usize {
        self.notes.iter().filter(|(_, effect)| matches!(effect, Effect::Failed { .. })).count()
    }
}

fn around(places: &[(f64, f64)]) -> impl FnMut(NodeId, f64, &mut Vec<(NodeId, f64)>) {
    move |node, radius, buffer| {
        let (x, y) = places[node.index()];
        for (other, (to_x, to_y)) in (0..).zip(places) {
            let distance = ((to_x - x) * (to_x - x) + (to_y - y) * (to_y - y)).sqrt();
            if distance <= radius {
                buffer.push((NodeId(other), distance));
            }
        }
    }
}

/// Settings with a disk of this range that is neither sensed nor disturbs beyond it.
pub fn disk(range_m: f64) -> Settings {
    let propagation = Propagation::UnitDisk { range_m, sense: 1.0, interference: 1.0 };
    Settings { propagation, ..Settings::default() }
}

pub fn csma(settings: &Settings, change: impl FnOnce(&mut Csma)) -> Settings {
    let mut csma = Csma::default();
    change(&mut csma);
    Settings { access: Access::Csma(csma), ..settings.clone() }
}

pub fn micros(micros: u64) -> Span {
    Span(micros * 1000)
}

//! Carries a schedule out: which nodes are touched now, by however many faults at once.

use std::collections::BTreeMap;
use std::mem;

use crate::plane::Point;
use driftlock_net::{Span, Time};
use driftlock_protocol::NodeId;

use super::{Action, Fault, FaultError, Kind, Memory, Nonsense, Schedule};

/// A schedule in the course of being carried out.
#[derive(Clone, Debug)]
pub struct Faults {
    schedule: Vec<Fault>,
    /// All begins and ends, in order.
    edges: Vec<Edge>,
    /// How many of them are over.
    passed: usize,
    /// How many of these were told.
    told: usize,
    /// Which faults last now that are not about one node, in the order of the schedule.
    lasting: Vec<usize>,
    /// How often it looks which nodes are in an area.
    step: Span,
    /// When to look next.
    look_at: Option<Time>,
    nodes: Vec<Touched>,
    /// By how many faults two nodes, the lower number first, do not hear each other.
    cuts: BTreeMap<(NodeId, NodeId), u32>,
    /// As it was told last.
    loss: f64,
    /// The group of the nodes that are inside of these partitions and outside of all others. Numbers are never used for
    /// others.
    groups: BTreeMap<Box<[usize]>, u32>,
    /// A buffer: inside of which partitions a node is.
    inside: Vec<usize>,
}

/// In this order: at one time begins come before ends, so that what one fault hands over to the next does not flicker.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Edge {
    at: Time,
    ends: bool,
    fault: usize,
}

/// What is the matter with a node, as it was told last.
#[derive(Clone, Debug)]
struct Touched {
    /// By so many crashes it is down.
    crashes: u32,
    /// What it will know when it is back.
    memory: Memory,
    pauses: u32,
    jammed: bool,
    group: u32,
    loss: f64,
}

impl Faults {
    /// How often it looks which nodes are in an area, if nothing else is said.
    pub const STEP: Span = Span::from_millis(500);

    /// A schedule for the nodes 0 to `nodes` - 1. While a fault of an area lasts, it looks which are in it when the
    /// fault begins and at all multiples of `step`.
    pub fn new(schedule: &Schedule, nodes: u32, step: Span) -> Result<Self, FaultError> {
        let mut edges = Vec::new();
        for (fault, what) in schedule.faults().iter().enumerate() {
            check(fault, what, nodes as usize)?;
            edges.push(Edge { at: what.at, ends: false, fault });
            edges.extend(what.ends().map(|at| Edge { at, ends: true, fault }));
        }
        edges.sort_unstable();
        let untouched = Touched { crashes: 0, memory: Memory::Kept, pauses: 0, jammed: false, group: 0, loss: 0.0 };
        Ok(Self {
            schedule: schedule.faults().to_vec(),
            edges,
            passed: 0,
            told: 0,
            lasting: Vec::new(),
            step: step.max(Span(1)),
            look_at: None,
            nodes: vec![untouched; nodes as usize],
            cuts: BTreeMap::new(),
            loss: 0.0,
            groups: BTreeMap::from([(Box::default(), 0)]),
            inside: Vec::new(),
        })
    }

    /// When [`Self::act`] has something to do.
    pub fn next(&self) -> Option<Time> {
        let edge = self.edges.get(self.passed).map(|edge| edge.at);
        edge.into_iter().chain(self.look_at).min()
    }

    /// Adds a fault, which begins now or later, and gives its number.
    pub fn add(&mut self, fault: Fault) -> Result<usize, FaultError> {
        let number = self.schedule.len();
        check(number, &fault, self.nodes.len())?;
        self.schedule.push(fault);
        self.expect(Edge { at: fault.at, ends: false, fault: number });
        if let Some(at) = fault.ends() {
            self.expect(Edge { at, ends: true, fault: number });
        }
        Ok(number)
    }

    /// Ends a fault now that would last longer. One that has ended, or not begun, is left as it is.
    pub fn end(&mut self, number: usize, now: Time) {
        let is_this = |edge: &Edge| edge.fault == number;
        let has_begun = self.edges[..self.passed].iter().any(is_this);
        let has_ended = self.edges[..self.passed].iter().any(|edge| is_this(edge) && edge.ends);
        if has_begun && !has_ended {
            self.edges.retain(|edge| !(is_this(edge) && edge.ends));
            self.expect(Edge { at: now, ends: true, fault: number });
        }
    }

    /// Whether any fault lasts.
    pub fn any_lasts(&self) -> bool {
        let of_nodes = self.nodes.iter().any(|touched| touched.crashes + touched.pauses > 0);
        of_nodes || !self.lasting.is_empty() || self.cuts.values().any(|cuts| *cuts > 0)
    }

    /// Puts a begin or an end among those to come.
    fn expect(&mut self, edge: Edge) {
        let place = self.passed + self.edges[self.passed..].partition_point(|other| *other <= edge);
        self.edges.insert(place, edge);
    }

    /// The faults that have begun or ended since the last call, with their numbers, and whether they are over.
    pub fn take_changes(&mut self) -> impl Iterator<Item = (usize, Fault, bool)> {
        let from = mem::replace(&mut self.told, self.passed);
        self.edges[from..self.passed].iter().map(|edge| (edge.fault, self.schedule[edge.fault], edge.ends))
    }

    /// Does what is due; tells only what has changed. `position` says where a node is now.
    pub fn act(&mut self, now: Time, position: impl FnMut(NodeId) -> Point, out: &mut Vec<Action>) {
        let mut looks = self.look_at.is_some_and(|at| at <= now);
        while let Some(&edge) = self.edges.get(self.passed).filter(|edge| edge.at <= now) {
            self.passed += 1;
            match self.schedule[edge.fault].kind {
                Kind::Crash { node, back_after } => self.crash(node, back_after, edge.ends, out),
                Kind::Pause { node, .. } => self.pause(node, edge.ends, out),
                Kind::Cut { between, .. } => self.cut(between, edge.ends, out),
                Kind::Jam { .. } | Kind::Partition { .. } | Kind::Loss { .. } => {
                    self.change_lasting(edge);
                    looks = true;
                }
            }
        }
        if looks {
            self.look(now, position, out);
        }
    }

    /// A node is down while any crash has not ended.
    fn crash(&mut self, node: NodeId, back_after: Option<(Span, Memory)>, ends: bool, out: &mut Vec<Action>) {
        let touched = &mut self.nodes[node.index()];
        if !ends {
            let memory = back_after.map_or(Memory::Lost, |(_, memory)| memory);
            if touched.crashes == 0 {
                touched.memory = Memory::Kept;
                out.push(Action::Crash { node, memory });
            }
            touched.crashes += 1;
            touched.memory = touched.memory.max(memory);
            return;
        }
        touched.crashes -= 1;
        if touched.crashes == 0 {
            out.push(Action::Restart { node, memory: touched.memory });
            if touched.pauses > 0 {
                out.push(Action::Pause(node));
            }
        }
    }

    /// A node stops while any pause has not ended; but a node that is down does not know of it.
    fn pause(&mut self, node: NodeId, ends: bool, out: &mut Vec<Action>) {
        let touched = &mut self.nodes[node.index()];
        let before = touched.pauses;
        touched.pauses = if ends { before - 1 } else { before + 1 };
        if touched.crashes == 0 {
            match (before, touched.pauses) {
                (0, _) => out.push(Action::Pause(node)),
                (_, 0) => out.push(Action::Resume(node)),
                _ => {}
            }
        }
    }

    /// Two nodes do not hear each other while any cut between them has not ended.
    fn cut(&mut self, (a, b): (NodeId, NodeId), ends: bool, out: &mut Vec<Action>) {
        let (a, b) = (a.min(b), a.max(b));
        let cuts = self.cuts.entry((a, b)).or_default();
        let before = *cuts;
        *cuts = if ends { before - 1 } else { before + 1 };
        if (before == 0) != (*cuts == 0) {
            out.push(Action::Cut(a, b, before == 0));
        }
    }

    fn change_lasting(&mut self, edge: Edge) {
        match self.lasting.binary_search(&edge.fault) {
            Ok(place) if edge.ends => {
                self.lasting.remove(place);
            }
            Err(place) if !edge.ends => self.lasting.insert(place, edge.fault),
            Ok(_) | Err(_) => {}
        }
    }

    /// Compares what lasts, and where nodes are, with what was told.
    fn look(&mut self, now: Time, mut position: impl FnMut(NodeId) -> Point, out: &mut Vec<Action>) {
        let loss = self.loss_everywhere();
        if changed(&mut self.loss, loss) {
            out.push(Action::Loss(loss));
        }
        for node in (0..).map(NodeId).take(self.nodes.len()) {
            self.look_at_node(node, position(node), out);
        }
        let any_area = self.lasting.iter().any(|&fault| self.schedule[fault].has_area());
        self.look_at = any_area.then(|| Time::ZERO + self.step * (now.0 / self.step.0).saturating_add(1));
    }

    fn loss_everywhere(&self) -> f64 {
        self.lasting.iter().fold(0.0, |sum, &fault| match self.schedule[fault].kind {
            Kind::Loss { area: None, chance, .. } => either(sum, chance.get()),
            _ => sum,
        })
    }

    fn look_at_node(&mut self, node: NodeId, place: Point, out: &mut Vec<Action>) {
        let (mut jammed, mut loss) = (false, 0.0);
        self.inside.clear();
        for &fault in &self.lasting {
            match self.schedule[fault].kind {
                Kind::Jam { area, .. } => jammed |= area.contains(place),
                Kind::Partition { border, .. } if border.contains(place) => self.inside.push(fault),
                Kind::Loss { area: Some(area), chance, .. } if area.contains(place) => {
                    loss = either(loss, chance.get());
                }
                _ => {}
            }
        }
        let group = self.group();
        let touched = &mut self.nodes[node.index()];
        if touched.jammed != jammed {
            touched.jammed = jammed;
            out.push(Action::Jam(node, jammed));
        }
        if touched.group != group {
            touched.group = group;
            out.push(Action::Group(node, group));
        }
        if changed(&mut touched.loss, loss) {
            out.push(Action::LossAt(node, loss));
        }
    }

    /// The group of the nodes that are inside of the same partitions.
    fn group(&mut self) -> u32 {
        if let Some(&group) = self.groups.get(self.inside.as_slice()) {
            return group;
        }
        let group = u32::try_from(self.groups.len()).unwrap_or(u32::MAX);
        self.groups.insert(self.inside.as_slice().into(), group);
        group
    }
}

/// Refuses a fault of a node that is not there.
fn check(fault: usize, what: &Fault, nodes: usize) -> Result<(), FaultError> {
    let nodes = u32::try_from(nodes).unwrap_or(u32::MAX);
    match what.nodes().find(|node| node.0 >= nodes) {
        Some(node) => Err(FaultError { number: fault + 1, why: Nonsense::UnknownNode { node, nodes } }),
        None => Ok(()),
    }
}

/// The probability of any of two independent losses. Nothing and a loss are exactly that loss.
fn either(one: f64, other: f64) -> f64 {
    one + other * (1.0 - one)
}

/// Losses are always summed up in the same order, so equal ones are equal to the bit.
fn changed(told: &mut f64, now: f64) -> bool {
    let changed = told.to_bits() != now.to_bits();
    *told = now;
    changed
}

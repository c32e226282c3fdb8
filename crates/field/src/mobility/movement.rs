//! Where all nodes are at any time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::plane::{Leg, Point, Velocity};
use driftlock_net::{Span, Time};
use driftlock_protocol::NodeId;

use super::model::{Area, Model, ModelError};
use super::tracks::{self, Tracks};
use super::{direction, gauss_markov, group, hilbert, waypoint};

/// A leg and its place in time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Course {
    /// From where, and how fast where to.
    pub leg: Leg,
    /// When it starts.
    pub since: Time,
    /// When it ends: later than it starts.
    pub until: Time,
    /// Whether the node is there at all. One that is absent stands where it will appear, or for ever where it was last.
    pub is_present: bool,
}

impl Course {
    pub(super) fn new(step: Step, since: Time) -> Self {
        let lasts = (step.until - since).units();
        let velocity = Velocity { x: (step.to.x - step.from.x) / lasts, y: (step.to.y - step.from.y) / lasts };
        let leg = Leg { from: step.from, velocity, lasts };
        Self { leg, since, until: step.until, is_present: step.is_present }
    }

    /// Where the node is, at a time of this leg.
    pub fn at(&self, at: Time) -> Point {
        debug_assert!(self.since <= at && at <= self.until, "{at:?} is not in {self:?}");
        self.leg.at(at.since(self.since).units())
    }

    /// Where it leads.
    pub fn end(&self) -> Point {
        self.leg.at(self.leg.lasts)
    }
}

/// What a node does next: it goes from one point to another until a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) from: Point,
    pub(super) to: Point,
    pub(super) until: Time,
    pub(super) is_present: bool,
}

impl Step {
    /// Arrives at a time. Every leg takes some, so that a node that goes from leg to leg gets on.
    pub(super) fn reach(from: Point, to: Point, until: Time, now: Time) -> Self {
        Self { from, to, until: until.max(now + Span(1)), is_present: true }
    }

    /// Goes at this speed.
    pub(super) fn go(from: Point, to: Point, speed: f64, now: Time) -> Self {
        let lasts = from.distance_squared(to).sqrt() / speed;
        Self::reach(from, to, now + Span::from_units(lasts), now)
    }

    /// Stays for so long.
    pub(super) fn rest(here: Point, lasts: f64, now: Time) -> Self {
        Self::reach(here, here, now + Span::from_units(lasts), now)
    }
}

/// How one node goes on.
#[derive(Clone, Debug)]
pub(super) enum Walker {
    Standing,
    Waypoint(waypoint::Walk),
    Direction(direction::Walk),
    GaussMarkov(gauss_markov::Walk),
    Member(Box<group::Walk>),
    Track(tracks::Walk),
}

impl Walker {
    /// What it does next, from the point where it is.
    fn next(&mut self, from: Point, at: Time) -> Step {
        match self {
            Self::Standing => Step { from, to: from, until: Time::END, is_present: true },
            Self::Waypoint(walk) => walk.next(from, at),
            Self::Direction(walk) => walk.next(from, at),
            Self::GaussMarkov(walk) => walk.next(from, at),
            Self::Member(walk) => walk.next(from, at),
            Self::Track(walk) => walk.next(from, at),
        }
    }
}

/// The movement of all nodes. Each is on one leg; the caller has it turn when the leg is over.
///
/// A node's legs depend on the model, the seed and its own number (in a group also on the group's), not on when the
/// caller asks.
#[derive(Clone, Debug)]
pub struct Movement {
    courses: Vec<Course>,
    walkers: Vec<Walker>,
    /// When legs end. An entry holds if it is the end of the node's present leg, and the first one always does.
    turns: BinaryHeap<Reverse<(Time, NodeId)>>,
    /// Where a node can be put: anywhere, if there are tracks.
    area: Option<Area>,
    bounds: (Point, Point),
    /// When the first one is there: at the start, unless there are tracks.
    begins: Time,
    /// When the last one comes to its end, if there are tracks on which any moves or leaves.
    ends: Option<Time>,
}

impl Movement {
    /// Nodes that move by a model in an area. Those of a stationary model start as one finds them at any time.
    pub fn new(model: &Model, area: Area, nodes: u32, seed: u64) -> Result<Self, ModelError> {
        model.check(area, nodes)?;
        let starts = (0..nodes).map(|node| model.start(area, nodes, NodeId(node), seed));
        Ok(Self::start(starts, Some(area), (Point::default(), area.corner())))
    }

    /// Nodes that repeat what a file says, numbered in its order.
    pub fn from_tracks(tracks: Tracks) -> Self {
        let (bounds, begins, ends) = (tracks.bounds(), tracks.begins(), tracks.ends());
        let starts = tracks.into_walks().map(|(from, walk)| (from, Walker::Track(walk)));
        Self { begins, ends, ..Self::start(starts, None, bounds) }
    }

    /// When the first node is there.
    pub fn begins(&self) -> Time {
        self.begins
    }

    /// From when on every node stands, or is gone, for ever: as [`Tracks::ends`].
    pub fn ends(&self) -> Option<Time> {
        self.ends
    }

    fn start(starts: impl Iterator<Item = (Point, Walker)>, area: Option<Area>, bounds: (Point, Point)) -> Self {
        let (mut courses, mut walkers, mut turns) = (Vec::new(), Vec::new(), BinaryHeap::new());
        for (node, (from, mut walker)) in (0..).map(NodeId).zip(starts) {
            let course = Course::new(walker.next(from, Time::ZERO), Time::ZERO);
            if course.until < Time::END {
                turns.push(Reverse((course.until, node)));
            }
            courses.push(course);
            walkers.push(walker);
        }
        Self { courses, walkers, turns, area, bounds, begins: Time::ZERO, ends: None }
    }

    /// The same movement from its start, with the nodes numbered along a curve through the plane, so that those that
    /// start close together mostly have numbers that are. A world that keeps things of nodes in the order of their
    /// numbers then has those of neighbours close together in memory. Among nodes that all move by the same rule, it is
    /// only a matter of names.
    #[must_use]
    pub fn in_order_of_place(self) -> Self {
        let (low, high) = self.bounds;
        let side = (high.x - low.x).max(high.y - low.y);
        let place = |course: &Course| hilbert::place(course.leg.from, low, side);
        let mut nodes: Vec<_> = self.courses.into_iter().zip(self.walkers).collect();
        nodes.sort_by_cached_key(|(course, _)| place(course));
        let (courses, walkers): (Vec<_>, Vec<_>) = nodes.into_iter().unzip();
        let ends = (0..).map(NodeId).zip(&courses).filter(|(_, course)| course.until < Time::END);
        let turns = ends.map(|(node, course)| Reverse((course.until, node))).collect();
        Self { courses, walkers, turns, ..self }
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.courses.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.courses.is_empty()
    }

    /// All nodes.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.courses.len()).map(|index| NodeId(u32::try_from(index).expect("nodes are numbered by u32")))
    }

    /// The corners of a rectangle that no node leaves, unless put elsewhere by [`Movement::place`].
    pub fn bounds(&self) -> (Point, Point) {
        self.bounds
    }

    /// The leg that a node is on.
    pub fn course(&self, node: NodeId) -> &Course {
        &self.courses[node.index()]
    }

    /// Where a node is, at a time of its present leg.
    pub fn position(&self, node: NodeId, at: Time) -> Point {
        self.course(node).at(at)
    }

    /// Whether a node is there at all, at a time of its present leg. It comes and goes when it turns.
    pub fn is_present(&self, node: NodeId) -> bool {
        self.course(node).is_present
    }

    /// Which node turns next, and when; of several at once the one with the lowest number. None if all stand for ever.
    pub fn next_turn(&self) -> Option<(Time, NodeId)> {
        self.turns.peek().map(|Reverse(turn)| *turn)
    }

    /// Puts a node onto its next leg, which starts when the present one ends.
    pub fn turn(&mut self, node: NodeId) -> &Course {
        let course = self.course(node);
        if course.until < Time::END {
            self.set_out(node, course.end(), course.until);
        }
        self.course(node)
    }

    /// Has every node turn whose leg ends by then.
    pub fn advance(&mut self, to: Time) {
        while let Some((_, node)) = self.next_turn().filter(|(at, _)| *at <= to) {
            self.turn(node);
        }
    }

    /// Puts a node somewhere, at a time of its present leg. It goes on from there: by a model with its next leg or
    /// pause; in a group, or if it has a track, so as to be where it should be by the end of the present leg; if it
    /// stood, it stands there. A point outside of a model's area counts as the nearest one inside. What is no point at
    /// all is ignored.
    pub fn place(&mut self, node: NodeId, at: Time, point: Point) {
        if !point.x.is_finite() || !point.y.is_finite() || at == Time::END {
            return;
        }
        while self.course(node).until <= at {
            self.turn(node);
        }
        let point = self.area.map_or(point, |area| area.clamp(point));
        self.set_out(node, point, at);
    }

    fn set_out(&mut self, node: NodeId, from: Point, at: Time) {
        let course = Course::new(self.walkers[node.index()].next(from, at), at);
        self.courses[node.index()] = course;
        if course.until < Time::END {
            self.turns.push(Reverse((course.until, node)));
        }
        while let Some(Reverse((at, node))) = self.turns.peek()
            && self.courses[node.index()].until != *at
        {
            self.turns.pop();
        }
    }
}

//! Which nodes are within a range of one another, and when exactly that changes.
//!
//! As long as two nodes are on their legs, their relative motion is a straight line, and the times at which their
//! distance is the range are the roots of a quadratic equation. A node that is farther away than a cell of the plane
//! need not be looked at: so the work for one node depends on how many are around it, not on how many there are. Pairs
//! are looked at when a node turns (with all around it) and when it comes into another cell (with those in the cells
//! that it comes to touch).

mod cells;
mod meeting;

use crate::plane::Point;
use driftlock_net::queue::{Due, Queue};
use driftlock_net::{Span, Time};
use driftlock_protocol::NodeId;

use self::cells::{Block, Cell, Cells, Occupant};
use self::meeting::Meeting;
use super::movement::{Course, Movement};

/// What is expected, most of it far ahead: in slots of about half a second.
type Agenda<T> = Queue<T, 29>;

/// Two nodes have come within range of one another, or are so no more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Change {
    /// When.
    pub at: Time,
    /// The one with the lower number.
    pub a: NodeId,
    /// The one with the higher number.
    pub b: NodeId,
    /// Whether they are within range from now on.
    pub is_up: bool,
}

/// What is going to happen to a pair if both stay on their legs. Ordered by time, then by the nodes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Prospect {
    at: Time,
    a: NodeId,
    b: NodeId,
    is_up: bool,
    /// How often the two had set out when this was computed.
    legs: (u32, u32),
}

impl Prospect {
    fn new(bodies: &[Body], (one, other): (NodeId, NodeId), at: Time, is_up: bool) -> Self {
        let (a, b) = (one.min(other), one.max(other));
        Self { at, a, b, is_up, legs: (bodies[a.index()].leg, bodies[b.index()].leg) }
    }
}

/// A node is going to come into another cell if it stays on its leg.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Crossing {
    at: Time,
    node: NodeId,
    leg: u32,
}

impl Due for Prospect {
    fn at(&self) -> Time {
        self.at
    }
}

impl Due for Crossing {
    fn at(&self) -> Time {
        self.at
    }
}

/// What is known of one node besides its course.
#[derive(Clone, Debug, Default)]
struct Body {
    /// How often it has set out.
    leg: u32,
    /// Where it is, and where it comes next; none of both if it is absent.
    cell: Option<Cell>,
    next_cell: Cell,
    /// In the order of their numbers.
    neighbours: Vec<NodeId>,
}

/// A movement, and which nodes are within range of one another in it.
#[derive(Clone, Debug)]
pub struct Proximity {
    movement: Movement,
    range: f64,
    cells: Cells,
    bodies: Vec<Body>,
    crossings: Agenda<Crossing>,
    prospects: Agenda<Prospect>,
    /// When the first of all these is due: asked for at every event of the radios, and seldom another.
    wakes: Option<Time>,
    /// The nodes that have set out, and on which course, if it is watched.
    set_out: Option<Vec<(NodeId, Course)>>,
    /// The nodes that have come or gone, and when, until they are asked for.
    presences: Vec<Presence>,
}

/// A node is there from now on, or is so no more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Presence {
    /// When.
    pub at: Time,
    /// Who.
    pub node: NodeId,
    /// Whether it is there.
    pub is_present: bool,
}

impl Proximity {
    /// From the time of the movement's start. In the beginning no node is in range of another: the first changes tell
    /// which are.
    ///
    /// # Panics
    /// If the range is not a positive number.
    pub fn new(movement: Movement, range: f64) -> Self {
        assert!(range.is_finite() && range > 0.0, "a range must be more than 0 metres, not {range}");
        let cells = Cells::new(movement.bounds(), range + slack(range), movement.len());
        let bodies = vec![Body::default(); movement.len()];
        let (crossings, prospects) = (Queue::default(), Queue::default());
        let (set_out, presences) = (None, Vec::new());
        let wakes = None;
        let mut proximity = Self { movement, range, cells, bodies, crossings, prospects, wakes, set_out, presences };
        let start = proximity.start();
        for node in proximity.movement.nodes() {
            proximity.set_out(node, start);
        }
        proximity.presences.clear();
        proximity.wakes = proximity.first_due();
        proximity
    }

    /// A time at which all nodes are on their present legs.
    fn start(&self) -> Time {
        self.movement.nodes().map(|node| self.movement.course(node).since).max().unwrap_or_default()
    }

    /// The movement, as far as it has got.
    pub fn movement(&self) -> &Movement {
        &self.movement
    }

    /// The distance up to which two nodes are in range, in metres.
    pub fn range(&self) -> f64 {
        self.range
    }

    /// Those in range of a node after the changes that were taken, in the order of their numbers.
    pub fn neighbours(&self, node: NodeId) -> &[NodeId] {
        &self.bodies[node.index()].neighbours
    }

    /// From now on remembers which nodes set out, beginning with all.
    pub fn watch(&mut self) {
        self.set_out = Some(self.movement.nodes().map(|node| (node, *self.movement.course(node))).collect());
    }

    /// Whether it does.
    pub fn is_watched(&self) -> bool {
        self.set_out.is_some()
    }

    /// The nodes that have set out since the last call, and on which course, in their order; a node may have done so
    /// more than once.
    pub fn take_set_out(&mut self) -> Vec<(NodeId, Course)> {
        self.set_out.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// The nodes that have come or gone since the last call, in the order of time.
    pub fn take_presences(&mut self) -> std::vec::Drain<'_, Presence> {
        self.presences.drain(..)
    }

    /// When [`Proximity::next`] has something to do: at that time or later there may be a change.
    pub fn wakes(&self) -> Option<Time> {
        self.wakes
    }

    fn first_due(&self) -> Option<Time> {
        let turn = self.movement.next_turn().map(|(at, _)| at);
        [turn, self.crossings.next_time(), self.prospects.next_time()].into_iter().flatten().min()
    }

    /// The next change up to a time, in the order of time and then of the nodes. If there is none, every node has got
    /// to that time.
    pub fn next(&mut self, until: Time) -> Option<Change> {
        loop {
            let due = self.wakes.filter(|due| *due <= until)?;
            let change = self.pass(due);
            self.wakes = self.first_due();
            if change.is_some() {
                return change;
            }
        }
    }

    /// What is due now happens. Whatever happens at one time, pairs come last: by then every node is on the right leg.
    fn pass(&mut self, now: Time) -> Option<Change> {
        if let Some((_, node)) = self.movement.next_turn().filter(|(at, _)| *at == now) {
            self.movement.turn(node);
            self.set_out(node, now);
        } else if let Some(crossing) = self.crossings.pop_by(now) {
            self.cross(crossing);
        } else if let Some(prospect) = self.prospects.pop() {
            return self.come_true(prospect);
        }
        None
    }

    /// Puts a node somewhere, as [`Movement::place`] does. All changes up to that time have been taken.
    pub fn place(&mut self, node: NodeId, at: Time, point: Point) {
        self.movement.place(node, at, point);
        self.set_out(node, at);
        self.wakes = self.first_due();
    }

    /// All others whose distance from a node is at most this, with the distance, in the order of their numbers. All
    /// changes up to that time have been taken, and no node turns before it. A node that is absent is in no other's
    /// radius, and none is in its own.
    pub fn within(&self, node: NodeId, radius: f64, at: Time, out: &mut Vec<(NodeId, f64)>) {
        out.clear();
        if !self.movement.is_present(node) {
            return;
        }
        let here = self.movement.position(node, at);
        if radius <= self.range {
            // Only neighbours: fewer to look at than in the cells, and in order.
            for &other in self.neighbours(node) {
                let squared = here.distance_squared(self.movement.position(other, at));
                if squared <= radius * radius {
                    out.push((other, squared.sqrt()));
                }
            }
            return;
        }
        let block = self.cells.within(here, radius + slack(radius));
        for other in self.cells.occupants(block) {
            let squared = here.distance_squared(other.course.at(at));
            if squared <= radius * radius && other.node != node {
                out.push((other.node, squared.sqrt()));
            }
        }
        out.sort_unstable_by_key(|(other, _)| *other);
    }

    /// A node is on another leg, or somewhere else: nothing that was computed with the former one holds any more.
    fn set_out(&mut self, node: NodeId, now: Time) {
        let (course, body) = (*self.movement.course(node), &mut self.bodies[node.index()]);
        if let Some(watched) = &mut self.set_out {
            watched.push((node, course));
        }
        body.leg = body.leg.wrapping_add(1);
        if body.cell.is_some() != course.is_present {
            self.presences.push(Presence { at: now, node, is_present: course.is_present });
        }
        if let Some(former) = body.cell.take() {
            self.cells.leave(node, former);
        }
        if course.is_present {
            let cell = self.cells.of(course.at(now));
            body.cell = Some(cell);
            self.cells.enter(Occupant { node, course }, cell);
        }
        self.part_from_far(node, now);
        if let Some(cell) = self.bodies[node.index()].cell {
            self.expect_crossing(node, now);
            self.look_at(node, self.cells.around(cell), now);
        }
    }

    /// Every other that was in range of a node and is in no cell near it now, because one of them has jumped or gone.
    fn part_from_far(&mut self, node: NodeId, now: Time) {
        let cell = self.bodies[node.index()].cell;
        for &other in &self.bodies[node.index()].neighbours {
            let touch = self.bodies[other.index()].cell.zip(cell).is_some_and(|(there, here)| there.touches(here));
            if !touch {
                self.prospects.push(Prospect::new(&self.bodies, (node, other), now, false));
            }
        }
    }

    fn cross(&mut self, crossing: Crossing) {
        let Crossing { at, node, leg } = crossing;
        let body = &mut self.bodies[node.index()];
        let Some(from) = body.cell.filter(|_| body.leg == leg) else { return };
        let to = body.next_cell;
        body.cell = Some(to);
        self.cells.leave(node, from);
        self.cells.enter(Occupant { node, course: *self.movement.course(node) }, to);
        self.expect_crossing(node, at);
        self.look_at(node, self.cells.ahead(from, to), at);
    }

    fn expect_crossing(&mut self, node: NodeId, now: Time) {
        let (course, body) = (self.movement.course(node), &mut self.bodies[node.index()]);
        let Some(cell) = body.cell else { return };
        if let Some((takes, next)) = self.cells.crossing(cell, course.at(now), course.leg.velocity) {
            let at = now + Span::from_units(takes);
            if at < course.until {
                body.next_cell = next;
                self.crossings.push(Crossing { at, node, leg: body.leg });
            }
        }
    }

    /// Looks at all pairs of a node with those in these cells.
    fn look_at(&mut self, node: NodeId, block: Block, now: Time) {
        let (course, neighbours) = (*self.movement.course(node), &self.bodies[node.index()].neighbours);
        for other in self.cells.occupants(block).filter(|other| other.node != node) {
            let was_up = neighbours.binary_search(&other.node).is_ok();
            let met = Meeting::of(&course, &other.course, self.range, now);
            if let Some((at, is_up)) = met.next(was_up, now)
                && at < course.until.min(other.course.until)
            {
                self.prospects.push(Prospect::new(&self.bodies, (node, other.node), at, is_up));
            }
        }
    }

    /// What happens to two nodes after a change, unless one of them turns before.
    fn look_on(&mut self, a: NodeId, b: NodeId, now: Time, is_up: bool) {
        let (course, other) = (self.movement.course(a), self.movement.course(b));
        if let Some(at) = Meeting::of(course, other, self.range, now).after_change(is_up, now)
            && at < course.until.min(other.until)
        {
            self.prospects.push(Prospect::new(&self.bodies, (a, b), at, !is_up));
        }
    }

    /// What was expected happens, unless one of the two has set out anew since, or it has happened already.
    fn come_true(&mut self, prospect: Prospect) -> Option<Change> {
        let Prospect { at, a, b, is_up, legs } = prospect;
        let holds = legs == (self.bodies[a.index()].leg, self.bodies[b.index()].leg);
        let place = self.neighbours(a).binary_search(&b);
        if !holds || place.is_ok() == is_up {
            return None;
        }
        self.connect(a, b, is_up);
        self.connect(b, a, is_up);
        self.look_on(a, b, at, is_up);
        Some(Change { at, a, b, is_up })
    }

    fn connect(&mut self, node: NodeId, other: NodeId, is_up: bool) {
        let neighbours = &mut self.bodies[node.index()].neighbours;
        match neighbours.binary_search(&other) {
            Ok(place) if !is_up => drop(neighbours.remove(place)),
            Err(place) if is_up => neighbours.insert(place, other),
            _ => {}
        }
    }
}

/// How far the cells reach beyond a range: nodes are in their cells only as exactly as nanoseconds and doubles tell.
fn slack(range: f64) -> f64 {
    1e-3 + range * 1e-6
}

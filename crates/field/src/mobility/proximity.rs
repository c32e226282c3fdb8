//! Who is within a range of whom, and when exactly that changes.
//!
//! As long as two nodes are on their legs, their relative motion is a straight line, and the times at which their distance is the range are the roots of
//! a quadratic equation. Whoever is farther away than a cell of the plane need not be looked at: so the work for one node depends on how many
//! are around it, not on how many there are. Pairs are looked at when a node turns (with all around it) and when it comes into another cell (with those in
//! the cells that it comes to touch).

mod cells;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use driftlock_net::Time;
use driftlock_net::neighbourhood::{Leg, Point, Velocity};
use driftlock_protocol::NodeId;

use self::cells::{Block, Cell, Cells};
use super::movement::Movement;

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

/// A node is going to come into another cell if it stays on its leg.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Crossing {
    at: Time,
    node: NodeId,
    leg: u32,
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

/// A movement, and who is within range of whom in it.
#[derive(Clone, Debug)]
pub struct Proximity {
    movement: Movement,
    range: f64,
    cells: Cells,
    bodies: Vec<Body>,
    crossings: BinaryHeap<Reverse<Crossing>>,
    prospects: BinaryHeap<Reverse<Prospect>>,
    /// Kept to be used again.
    around: Vec<NodeId>,
}

impl Proximity {
    /// From the time of the movement's start. In the beginning nobody is in range of anybody: the first changes tell who is.
    ///
    /// # Panics
    /// If the range is not a positive number.
    pub fn new(movement: Movement, range: f64) -> Self {
        assert!(range.is_finite() && range > 0.0, "a range must be more than 0 metres, not {range}");
        let cells = Cells::new(movement.bounds(), range + slack(range), movement.len());
        let bodies = vec![Body::default(); movement.len()];
        let mut proximity = Self {
            movement,
            range,
            cells,
            bodies,
            crossings: BinaryHeap::new(),
            prospects: BinaryHeap::new(),
            around: Vec::new(),
        };
        let start = proximity.start();
        for node in proximity.movement.nodes() {
            proximity.set_out(node, start);
        }
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

    /// When [`Proximity::next`] has something to do: at that time or later there may be a change.
    pub fn wakes(&self) -> Option<Time> {
        let turn = self.movement.next_turn().map(|(at, _)| at);
        let crossing = self.crossings.peek().map(|Reverse(crossing)| crossing.at);
        let prospect = self.prospects.peek().map(|Reverse(prospect)| prospect.at);
        [turn, crossing, prospect].into_iter().flatten().min()
    }

    /// The next change up to a time, in the order of time and then of the nodes. If there is none, everybody has got to that time.
    pub fn next(&mut self, until: Time) -> Option<Change> {
        loop {
            let due = self.wakes().filter(|due| *due <= until)?;
            // Whatever happens at one time, pairs come last: by then everybody is on the right leg.
            if let Some((_, node)) = self.movement.next_turn().filter(|(at, _)| *at == due) {
                self.movement.turn(node);
                self.set_out(node, due);
            } else if let Some(Reverse(crossing)) = pop_due(&mut self.crossings, |crossing| crossing.at == due) {
                self.cross(crossing);
            } else if let Some(Reverse(prospect)) = self.prospects.pop()
                && let Some(change) = self.come_true(prospect)
            {
                return Some(change);
            }
        }
    }

    /// Puts a node somewhere, as [`Movement::place`] does. All changes up to that time have been taken.
    pub fn place(&mut self, node: NodeId, at: Time, point: Point) {
        self.movement.place(node, at, point);
        self.set_out(node, at);
    }

    /// All others whose distance from a node is at most this, with the distance, in the order of their numbers. All changes up to that time
    /// have been taken, and nobody turns before it. Those who are absent are in nobody's radius, and nobody is in theirs.
    pub fn within(&self, node: NodeId, radius: f64, at: Time, out: &mut Vec<(NodeId, f64)>) {
        out.clear();
        if !self.movement.is_present(node) {
            return;
        }
        let here = self.movement.position(node, at);
        let block = self.cells.within(here, radius + slack(radius));
        for other in self.cells.nodes(block).filter(|other| *other != node) {
            let squared = here.distance_squared(self.movement.position(other, at));
            if squared <= radius * radius {
                out.push((other, squared.sqrt()));
            }
        }
        out.sort_unstable_by_key(|(other, _)| *other);
    }

    /// A node is on another leg, or somewhere else: nothing that was computed with the former one holds any more.
    fn set_out(&mut self, node: NodeId, now: Time) {
        let body = &mut self.bodies[node.index()];
        body.leg = body.leg.wrapping_add(1);
        let former = body.cell.take();
        let is_present = self.movement.is_present(node);
        let cell = is_present.then(|| self.cells.of(self.movement.position(node, now)));
        self.bodies[node.index()].cell = cell;
        if former != cell {
            former.inspect(|cell| self.cells.leave(node, *cell));
            cell.inspect(|cell| self.cells.enter(node, *cell));
        }
        self.part_from_far(node, now);
        if let Some(cell) = cell {
            self.expect_crossing(node, now);
            self.look_at(node, self.cells.around(cell), now);
        }
    }

    /// Whoever was in range of a node and is in no cell near it now, because one of them has jumped or gone.
    fn part_from_far(&mut self, node: NodeId, now: Time) {
        let cell = self.bodies[node.index()].cell;
        for &other in &self.bodies[node.index()].neighbours {
            let touch = self.bodies[other.index()].cell.zip(cell).is_some_and(|(there, here)| there.touches(here));
            if !touch {
                self.prospects.push(Reverse(self.prospect(node, other, now, false)));
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
        self.cells.enter(node, to);
        self.expect_crossing(node, at);
        self.look_at(node, self.cells.ahead(from, to), at);
    }

    fn expect_crossing(&mut self, node: NodeId, now: Time) {
        let (course, body) = (self.movement.course(node), &mut self.bodies[node.index()]);
        let Some(cell) = body.cell else { return };
        if let Some((takes, next)) = self.cells.crossing(cell, course.at(now), course.leg.velocity) {
            let at = now + Time::from_units(takes);
            if at < course.until {
                body.next_cell = next;
                self.crossings.push(Reverse(Crossing { at, node, leg: body.leg }));
            }
        }
    }

    /// Looks at all pairs of a node with those in these cells.
    fn look_at(&mut self, node: NodeId, block: Block, now: Time) {
        let mut around = std::mem::take(&mut self.around);
        around.clear();
        around.extend(self.cells.nodes(block).filter(|other| *other != node));
        for &other in &around {
            self.look_at_pair(node, other, now);
        }
        self.around = around;
    }

    /// When the distance of two nodes is the range next. If that they are in range, or that they are not, is news, it happens now.
    fn look_at_pair(&mut self, a: NodeId, b: NodeId, now: Time) {
        let was_up = self.neighbours(a).binary_search(&b).is_ok();
        let met = self.meeting(a, b, now);
        // In nanoseconds: what happens now happens neither in the past nor in the future.
        let is_up = met.is_some_and(|(from, until)| from <= 0 && 0 < until);
        let prospect = match met {
            _ if is_up != was_up => Some((now, is_up)),
            Some((from, until)) if 0 < from && from < until => Some((after(now, from), true)),
            Some((_, until)) if is_up => Some((after(now, until), false)),
            _ => None,
        };
        if let Some((at, is_up)) = prospect {
            self.expect(a, b, at, is_up);
        }
    }

    /// What happens to two nodes after a change. That they are in range now, or not, is not asked again: where one only just touches the range of the
    /// other, rounding could answer otherwise.
    fn expect_next(&mut self, a: NodeId, b: NodeId, now: Time, is_up: bool) {
        match self.meeting(a, b, now) {
            Some((_, until)) if is_up => self.expect(a, b, after(now, until.max(0)), false),
            None if is_up => self.expect(a, b, now, false),
            // They have jumped apart and come together again.
            Some((from, until)) if 0 < from && from < until => self.expect(a, b, after(now, from), true),
            _ => {}
        }
    }

    /// Something happens to a pair, unless one of the two turns before.
    fn expect(&mut self, a: NodeId, b: NodeId, at: Time, is_up: bool) {
        if at < self.movement.course(a).until.min(self.movement.course(b).until) {
            self.prospects.push(Reverse(self.prospect(a, b, at, is_up)));
        }
    }

    /// From when to when two nodes are in range of one another while they are on their legs, in nanoseconds from now.
    fn meeting(&self, a: NodeId, b: NodeId, now: Time) -> Option<(i64, i64)> {
        let (course, other) = (self.movement.course(a), self.movement.course(b));
        if !course.is_present || !other.is_present {
            return None;
        }
        let (here, there) = (course.at(now), other.at(now));
        let (moves, drifts) = (course.leg.velocity, other.leg.velocity);
        let relative = Leg {
            from: Point { x: here.x - there.x, y: here.y - there.y },
            velocity: Velocity { x: moves.x - drifts.x, y: moves.y - drifts.y },
            lasts: f64::INFINITY,
        };
        let (from, until) = relative.within(Point::default(), self.range)?;
        #[allow(clippy::cast_possible_truncation)] // saturates, as it should
        let nanos = |time: f64| (time * 1e9).round() as i64;
        Some((nanos(from), nanos(until)))
    }

    fn prospect(&self, a: NodeId, b: NodeId, at: Time, is_up: bool) -> Prospect {
        let (a, b) = (a.min(b), a.max(b));
        Prospect { at, a, b, is_up, legs: (self.bodies[a.index()].leg, self.bodies[b.index()].leg) }
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
        self.expect_next(a, b, at, is_up);
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

/// So many nanoseconds later.
fn after(now: Time, nanos: i64) -> Time {
    now + Time(nanos.unsigned_abs())
}

/// The first, if it is the one.
fn pop_due<T: Ord + Copy>(heap: &mut BinaryHeap<Reverse<T>>, is_due: impl Fn(&T) -> bool) -> Option<Reverse<T>> {
    heap.peek().is_some_and(|Reverse(first)| is_due(first)).then(|| heap.pop()).flatten()
}

//! A plane with radios on it: movement and the air, so that a world has one thing to ask.

use crate::plane::Point;
use driftlock_net::Time;
use driftlock_protocol::NodeId;

use crate::mobility::{Area, Course, Model, ModelError, Movement, Presence, Proximity};
use crate::radio::{Air, Effect, Event, Meter, Rules};

/// Nodes that move, and what their radios carry. Time does not go back from call to call.
#[derive(Clone, Debug)]
pub struct Medium<F> {
    proximity: Proximity,
    air: Air<F>,
    /// What nodes that have left did not send any more, until the caller can be told.
    given_up: Vec<Effect<F>>,
}

impl<F: Clone> Medium<F> {
    /// Radios at all nodes of a movement. That of a node that is absent is off.
    pub fn new(movement: Movement, rules: Rules, seed: u64) -> Self {
        let nodes = u32::try_from(movement.len()).expect("node numbers are 32 bits");
        // Cells as wide as a transmission can be sensed: a transmission then looks at nine of them.
        let proximity = Proximity::new(movement, rules.reach());
        let mut medium = Self { proximity, air: Air::new(nodes, rules, seed), given_up: Vec::new() };
        medium.compare_presences(Time::ZERO);
        medium
    }

    /// Has every radio be off if its node is absent now.
    fn compare_presences(&mut self, now: Time) {
        for node in self.proximity.movement().nodes() {
            let is_absent = !self.proximity.movement().is_present(node);
            self.air.set_absent(now, node, is_absent, &mut self.given_up);
        }
    }

    /// As [`Air::send`].
    pub fn send(
        &mut self,
        now: Time,
        from: NodeId,
        to: Option<NodeId>,
        bytes: u32,
        frame: F,
        out: &mut Vec<Effect<F>>,
    ) {
        self.advance(now);
        let Self { proximity, air, given_up } = self;
        out.append(given_up);
        let mut surroundings = |node: NodeId, radius: f64, found: &mut _| proximity.within(node, radius, now, found);
        air.send(now, from, to, bytes, frame, &mut surroundings, out);
    }

    /// As [`Air::handle`].
    pub fn handle(&mut self, now: Time, event: Event, out: &mut Vec<Effect<F>>) {
        self.advance(now);
        let Self { proximity, air, given_up } = self;
        out.append(given_up);
        let mut surroundings = |node: NodeId, radius: f64, found: &mut _| proximity.within(node, radius, now, found);
        air.handle(now, event, &mut surroundings, out);
    }

    /// Lets time pass.
    pub fn pass(&mut self, now: Time) {
        self.advance(now);
    }

    /// Where a node is.
    pub fn position(&mut self, now: Time, node: NodeId) -> Point {
        self.advance(now);
        self.proximity.movement().position(node, now)
    }

    /// Whether a node is there at all.
    pub fn is_present(&mut self, now: Time, node: NodeId) -> bool {
        self.advance(now);
        self.proximity.movement().is_present(node)
    }

    /// As [`Movement::begins`].
    pub fn begins(&self) -> Time {
        self.proximity.movement().begins()
    }

    /// As [`Movement::ends`].
    pub fn ends(&self) -> Option<Time> {
        self.proximity.movement().ends()
    }

    /// All others whose distance from a node is at most this, with the distance, in the order of their numbers.
    pub fn within(&mut self, now: Time, node: NodeId, radius: f64, out: &mut Vec<(NodeId, f64)>) {
        self.advance(now);
        self.proximity.within(node, radius, now, out);
    }

    /// Puts a node somewhere; it goes on from there.
    pub fn place(&mut self, now: Time, node: NodeId, point: Point) {
        self.advance(now);
        self.proximity.place(node, now, point);
    }

    /// Each node goes to a place of its own, and stays there.
    pub fn place_all(&mut self, now: Time, points: Vec<Point>) -> Result<(), ModelError> {
        let (mut corner, count) = (Point::default(), u32::try_from(points.len()).unwrap_or(u32::MAX));
        for point in &points {
            corner = Point { x: corner.x.max(point.x), y: corner.y.max(point.y) };
        }
        let area = Area { width: corner.x + 1.0, height: corner.y + 1.0 };
        let movement = Movement::new(&Model::Static { points }, area, count, 0)?;
        let is_watched = self.proximity.is_watched();
        self.proximity = Proximity::new(movement, self.proximity.range());
        if is_watched {
            self.proximity.watch();
        }
        self.compare_presences(now);
        self.advance(now);
        Ok(())
    }

    /// From now on remembers which nodes set out, beginning with all.
    pub fn watch(&mut self) {
        self.proximity.watch();
    }

    /// All courses on which nodes have set out since the last call, also those that are over.
    pub fn take_courses(&mut self, now: Time) -> Vec<(NodeId, Course)> {
        self.advance(now);
        self.proximity.take_set_out()
    }

    /// What all radios have done until now, and what energy they have spent, as [`Air::total`] and [`Air::joules`]
    /// tell.
    pub fn effort(&mut self, now: Time) -> (Meter, f64) {
        self.advance(now);
        (self.air.total(now), self.air.joules(now))
    }

    /// The air, to disturb it or to read its meters.
    pub fn air(&mut self) -> &mut Air<F> {
        &mut self.air
    }

    fn advance(&mut self, now: Time) {
        while self.proximity.next(now).is_some() {}
        for Presence { at, node, is_present } in self.proximity.take_presences() {
            self.air.set_absent(at, node, !is_present, &mut self.given_up);
        }
    }
}

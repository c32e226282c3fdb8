//! Reference point group: the reference point of a group moves by random waypoint, and its members stay around it.
//!
//! Hong, Gerla, Pei and Chiang: "A Group Mobility Model for Ad Hoc Wireless Networks", 1999. A member's place is the
//! reference point plus an offset. Both move along straight lines, so their sum does. The offset goes, in equal steps,
//! from one uniformly drawn point of the disc to the next. Both start as one finds them at any time, so the whole does.

use crate::plane::Point;
use driftlock_net::{Span, Time};
use driftlock_protocol::NodeId;
use serde::{Deserialize, Serialize};

use super::model::{Area, ModelError, is_positive};
use super::movement::{Course, Step};
use super::waypoint::{self, RandomWaypoint};
use crate::random::{Stream, angle, unit};

/// The parameters of the reference point group model.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReferencePointGroup {
    /// How many nodes a group has; nodes 0 to `members` - 1 are the first group. The last may be smaller.
    pub members: u32,
    /// How far members are from the reference point at most, in metres.
    pub radius: f64,
    /// How long a member takes from one place in the group to the next, in time units.
    pub step: f64,
    /// The lowest speed of a reference point, in m/s: more than 0, or there is no stationary state.
    pub speed_min: f64,
    /// The highest. Speeds are drawn uniformly between the two.
    pub speed_max: f64,
    /// How long a reference point rests at each of its way points, in time units.
    #[serde(default)]
    pub pause: f64,
}

impl ReferencePointGroup {
    pub(super) fn check(&self, area: Area) -> Result<(), ModelError> {
        ModelError::unless(self.members > 0, "members", "1 or more", f64::from(self.members))?;
        ModelError::unless(is_positive(self.radius), "radius", "more than 0", self.radius)?;
        ModelError::unless(is_positive(self.step), "step", "more than 0", self.step)?;
        ModelError::unless_restless(self.step)?;
        if 2.0 * self.radius >= area.width.min(area.height) {
            return Err(ModelError::Group { radius: self.radius, area });
        }
        self.centre().check(self.room(area))
    }

    /// Where the reference point can be, from one corner to the other.
    fn room(&self, area: Area) -> Point {
        Point { x: area.width - 2.0 * self.radius, y: area.height - 2.0 * self.radius }
    }

    /// The group of a node.
    pub(super) fn group(&self, node: NodeId) -> u32 {
        node.0 / self.members
    }

    fn centre(&self) -> RandomWaypoint {
        RandomWaypoint { speed_min: self.speed_min, speed_max: self.speed_max, pause: self.pause }
    }

    /// Any point of the disc alike.
    fn offset(&self, stream: &mut Stream) -> Point {
        let (distance, angle) = (self.radius * unit(stream).sqrt(), angle(stream));
        Point { x: distance * libm::cos(angle), y: distance * libm::sin(angle) }
    }
}

/// One member. Each of them walks the reference point's way by itself, from the same stream: so a node's movement needs
/// no other node's.
#[derive(Clone, Debug)]
pub(super) struct Walk {
    rule: ReferencePointGroup,
    leader: waypoint::Walk,
    /// Of the reference point, in an area that is smaller by the radius on each side.
    centre: Course,
    /// Of the place in the group.
    offset: Course,
    stream: Stream,
}

impl Walk {
    pub(super) fn start(rule: ReferencePointGroup, area: Area, centre: Stream, mut stream: Stream) -> (Point, Self) {
        let (from, mut leader) = waypoint::Walk::start(rule.centre(), rule.room(area), centre);
        let centre = Course::new(leader.next(from, Time::ZERO), Time::ZERO);
        let (last, next) = (rule.offset(&mut stream), rule.offset(&mut stream));
        let gone = unit(&mut stream);
        let from = Point { x: last.x + (next.x - last.x) * gone, y: last.y + (next.y - last.y) * gone };
        let until = Time::from_units(rule.step * (1.0 - gone));
        let offset = Course::new(Step::reach(from, next, until, Time::ZERO), Time::ZERO);
        let walk = Self { rule, leader, centre, offset, stream };
        (walk.place(Time::ZERO), walk)
    }

    pub(super) fn next(&mut self, from: Point, at: Time) -> Step {
        if self.centre.until <= at {
            self.centre = Course::new(self.leader.next(self.centre.end(), at), at);
        }
        if self.offset.until <= at {
            let (to, until) = (self.rule.offset(&mut self.stream), at + Span::from_units(self.rule.step));
            self.offset = Course::new(Step::reach(self.offset.end(), to, until, at), at);
        }
        let until = self.centre.until.min(self.offset.until);
        Step::reach(from, self.place(until), until, at)
    }

    fn place(&self, at: Time) -> Point {
        let (centre, offset) = (self.centre.at(at), self.offset.at(at));
        Point { x: centre.x + self.rule.radius + offset.x, y: centre.y + self.rule.radius + offset.y }
    }
}

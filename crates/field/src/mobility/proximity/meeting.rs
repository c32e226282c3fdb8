//! When two nodes on their legs are in range of one another.

use crate::plane::{Leg, Point, Velocity};
use driftlock_net::{Span, Time};

use crate::mobility::movement::Course;

/// As many nanoseconds as there can be: two that stand, or go side by side, stay in range for ever.
const NEVER: i64 = i64::MAX;

/// From when to when, in nanoseconds from now, if at all. The relative motion of two nodes on their legs is a straight
/// line, so it is one stretch of time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meeting(Option<(i64, i64)>);

impl Meeting {
    /// While both stay on their legs for ever. A node that is absent meets none.
    pub(super) fn of(course: &Course, other: &Course, range: f64, now: Time) -> Self {
        if !course.is_present || !other.is_present {
            return Self(None);
        }
        let (here, there) = (course.at(now), other.at(now));
        let (moves, drifts) = (course.leg.velocity, other.leg.velocity);
        let relative = Leg {
            from: Point { x: here.x - there.x, y: here.y - there.y },
            velocity: Velocity { x: moves.x - drifts.x, y: moves.y - drifts.y },
            lasts: f64::INFINITY,
        };
        #[allow(clippy::cast_possible_truncation)] // saturates, as it should
        let nanos = |time: f64| (time * 1e9).round() as i64;
        Self(relative.within(Point::default(), range).map(|(from, until)| (nanos(from), nanos(until))))
    }

    /// What happens next, and when. If that the two are in range, or that they are not, is news, it happens now. In
    /// nanoseconds: what happens now happens neither in the past nor in the future.
    pub(super) fn next(self, was_up: bool, now: Time) -> Option<(Time, bool)> {
        let is_up = self.0.is_some_and(|(from, until)| from <= 0 && 0 < until);
        if is_up != was_up {
            return Some((now, is_up));
        }
        self.after_change(is_up, now).map(|at| (at, !is_up))
    }

    /// When the next change is, if the last one is now. That the two are in range now, or not, is not asked again:
    /// where one only just touches the range of the other, rounding could answer otherwise.
    pub(super) fn after_change(self, is_up: bool, now: Time) -> Option<Time> {
        let later = |nanos: i64| now + Span(nanos.max(0).unsigned_abs());
        match self.0 {
            Some((_, NEVER)) if is_up => None,
            Some((_, until)) if is_up => Some(later(until)),
            None if is_up => Some(now),
            Some((from, until)) if 0 < from && from < until => Some(later(from)),
            _ => None,
        }
    }
}

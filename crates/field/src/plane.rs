//! Points of a plane, and movement along straight lines.

use serde::{Deserialize, Serialize};

/// A place, in metres.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Point {
    /// To the east.
    pub x: f64,
    /// To the north.
    pub y: f64,
}

/// A speed with a direction, in metres per time unit.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Velocity {
    /// Eastwards.
    pub x: f64,
    /// Northwards.
    pub y: f64,
}

impl Point {
    /// The square of the distance to another point: enough to compare by, and exact where the distance is rounded.
    pub fn distance_squared(self, other: Self) -> f64 {
        let (x, y) = (self.x - other.x, self.y - other.y);
        x * x + y * y
    }
}

/// A node's movement between two turns: along a straight line, at a constant speed. Times are time units since its
/// start.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Leg {
    /// Where it starts.
    pub from: Point,
    /// Where to, and how fast.
    pub velocity: Velocity,
    /// For how long.
    pub lasts: f64,
}

impl Leg {
    /// Where the node is after so long.
    pub fn at(&self, time: f64) -> Point {
        Point { x: self.from.x + self.velocity.x * time, y: self.from.y + self.velocity.y * time }
    }

    /// When the node is in the disc: from the first time to the second, which may lie before the start or after the end
    /// of the leg. None if it passes by, if it only touches the circle, or if it stands still outside.
    pub fn within(&self, centre: Point, radius: f64) -> Option<(f64, f64)> {
        let (x, y) = (centre.x - self.from.x, centre.y - self.from.y);
        let Velocity { x: vx, y: vy } = self.velocity;
        let speed_squared = vx * vx + vy * vy;
        if speed_squared == 0.0 {
            let inside = x * x + y * y <= radius * radius;
            return inside.then_some((f64::NEG_INFINITY, f64::INFINITY));
        }
        // The chord that the line cuts out lies symmetrically around the closest approach. The product with the
        // perpendicular keeps its precision where the usual discriminant subtracts two large squares.
        let closest = (x * vx + y * vy) / speed_squared;
        let offset = x * vy - y * vx;
        let chord = radius * radius * speed_squared - offset * offset;
        let half = (chord > 0.0).then(|| chord.sqrt() / speed_squared)?;
        Some((closest - half, closest + half))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CENTRE: Point = Point { x: 10.0, y: 0.0 };

    fn leg(from: (f64, f64), velocity: (f64, f64)) -> Leg {
        Leg {
            from: Point { x: from.0, y: from.1 },
            velocity: Velocity { x: velocity.0, y: velocity.1 },
            lasts: f64::INFINITY,
        }
    }

    #[test]
    fn a_line_through_the_centre_is_inside_for_a_diameter() {
        assert_eq!(leg((0.0, 0.0), (2.0, 0.0)).within(CENTRE, 4.0), Some((3.0, 7.0)));
        assert_eq!(leg((20.0, 0.0), (-2.0, 0.0)).within(CENTRE, 4.0), Some((3.0, 7.0)));
        assert_eq!(leg((10.0, 0.0), (0.0, 1.0)).within(CENTRE, 4.0), Some((-4.0, 4.0)), "it started inside");
    }

    #[test]
    fn a_line_that_passes_by_or_only_touches_is_never_inside() {
        assert_eq!(leg((0.0, 5.0), (1.0, 0.0)).within(CENTRE, 4.0), None);
        assert_eq!(leg((0.0, 4.0), (1.0, 0.0)).within(CENTRE, 4.0), None);
    }

    #[test]
    fn whoever_stands_still_is_inside_for_ever_or_never() {
        let for_ever = Some((f64::NEG_INFINITY, f64::INFINITY));
        assert_eq!(leg((7.0, 0.0), (0.0, 0.0)).within(CENTRE, 3.0), for_ever, "the circle belongs to the disc");
        assert_eq!(leg((6.9, 0.0), (0.0, 0.0)).within(CENTRE, 3.0), None);
    }

    #[test]
    fn a_slow_walk_far_away_is_as_exact_as_a_fast_one_nearby() {
        let (entry, exit) = leg((-1e6, 3.0), (1e-3, 0.0)).within(CENTRE, 5.0).unwrap();
        assert!((entry - 1_000_006e3).abs() < 1e-6 && (exit - 1_000_014e3).abs() < 1e-6, "{entry} {exit}");
    }
}

//! Random waypoint: to a random point at a random speed, a pause, to the next.
//!
//! A simulation that starts all nodes at uniformly drawn points, at uniformly drawn speeds, measures something else in
//! the beginning than later: long and slow legs last longer, so that an instant is more likely to fall into one of
//! them, and such legs cross the middle. Here the state at the start is drawn from the distribution that an observer
//! finds at any time: first whether the node pauses or goes, in proportion to the mean times; then a path with a
//! density proportional to its length and a speed with a density proportional to the time it takes, 1/v; then a point
//! on the path, uniformly, or the rest of the pause. Le Boudec and Vojnovic: "Perfect Simulation and Stationarity of a
//! Class of Mobility Models", INFOCOM 2005; Navidi and Camp: "Stationary Distributions for the Random Waypoint Mobility
//! Model", IEEE Trans. Mobile Computing 3(1), 2004.

use crate::plane::Point;
use driftlock_net::Time;
use serde::{Deserialize, Serialize};

use super::model::{ModelError, is_not_negative};
use super::movement::Step;
use super::speeds::Speeds;
use crate::random::{Stream, point, uniform, unit};

/// The parameters of the random waypoint model.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RandomWaypoint {
    /// The lowest speed, in m/s: more than 0, or there is no stationary state.
    pub speed_min: f64,
    /// The highest speed. Speeds are drawn uniformly between the two.
    pub speed_max: f64,
    /// How long a node rests at each point, in time units.
    #[serde(default)]
    pub pause: f64,
}

impl RandomWaypoint {
    pub(super) fn check(&self, corner: Point) -> Result<(), ModelError> {
        self.speeds().check()?;
        ModelError::unless(is_not_negative(self.pause), "pause", "0 or more", self.pause)?;
        ModelError::unless_restless(mean_distance(corner) / self.speed_max + self.pause)
    }

    fn speeds(&self) -> Speeds {
        Speeds { min: self.speed_min, max: self.speed_max }
    }
}

/// One node that moves by this model.
#[derive(Clone, Debug)]
pub(super) struct Walk {
    rule: RandomWaypoint,
    corner: Point,
    next: Next,
    stream: Stream,
}

/// What it does when it has done what it is doing.
#[derive(Clone, Copy, Debug)]
enum Next {
    Go { to: Point, speed: f64 },
    Rest { lasts: f64 },
}

impl Walk {
    /// A node as one finds it at any time.
    pub(super) fn start(rule: RandomWaypoint, corner: Point, mut stream: Stream) -> (Point, Self) {
        let going = mean_distance(corner) * rule.speeds().mean_slowness();
        let (from, next) = if unit(&mut stream) * (rule.pause + going) < rule.pause {
            (point(corner, &mut stream), Next::Rest { lasts: uniform(0.0, rule.pause, &mut stream) })
        } else {
            let (start, to) = path_by_length(corner, &mut stream);
            let gone = unit(&mut stream);
            let from = Point { x: start.x + (to.x - start.x) * gone, y: start.y + (to.y - start.y) * gone };
            (from, Next::Go { to, speed: rule.speeds().draw_seen(&mut stream) })
        };
        (from, Self { rule, corner, next, stream })
    }

    pub(super) fn next(&mut self, from: Point, at: Time) -> Step {
        match self.next {
            Next::Go { to, speed } => {
                self.next = if self.rule.pause > 0.0 { Next::Rest { lasts: self.rule.pause } } else { self.set_out() };
                Step::go(from, to, speed, at)
            }
            Next::Rest { lasts } => {
                self.next = self.set_out();
                Step::rest(from, lasts, at)
            }
        }
    }

    fn set_out(&mut self) -> Next {
        let to = point(self.corner, &mut self.stream);
        Next::Go { to, speed: self.rule.speeds().draw(&mut self.stream) }
    }
}

/// Two points, with a density proportional to their distance: of uniform pairs each is kept with the probability that
/// its distance is of the greatest there can be.
fn path_by_length(corner: Point, stream: &mut Stream) -> (Point, Point) {
    let longest = Point::default().distance_squared(corner).sqrt();
    loop {
        let (start, end) = (point(corner, stream), point(corner, stream));
        if unit(stream) * longest < start.distance_squared(end).sqrt() {
            return (start, end);
        }
    }
}

/// The mean distance of two points that are drawn uniformly from the rectangle.
fn mean_distance(corner: Point) -> f64 {
    // Where one side is that much longer, the formula subtracts numbers that are nearly equal, and the rectangle is a
    // line.
    const LINE: f64 = 1e4;
    let (long, short) = (corner.x.max(corner.y), corner.x.min(corner.y));
    if long > LINE * short {
        return long / 3.0;
    }
    let ratio = (long / short) * (long / short);
    let diagonal = (long * long + short * short).sqrt();
    let corners = long * ratio + short / ratio + diagonal * (3.0 - ratio - 1.0 / ratio);
    let along = short * short / long * libm::log((long + diagonal) / short);
    let across = long * long / short * libm::log((short + diagonal) / long);
    (corners + 2.5 * (along + across)) / 15.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Subject, stream};

    #[test]
    fn the_mean_distance_is_that_of_drawn_pairs() {
        let mut stream = stream(5, Subject::Walk, 0);
        for corner in [(1.0, 1.0), (1000.0, 300.0), (20.0, 4000.0), (1.0, 1e6)].map(|(x, y)| Point { x, y }) {
            let drawn: f64 = (0..200_000)
                .map(|_| point(corner, &mut stream).distance_squared(point(corner, &mut stream)).sqrt())
                .sum();
            let ratio = drawn / 2e5 / mean_distance(corner);
            assert!((ratio - 1.0).abs() < 0.006, "{corner:?}: {ratio}");
        }
        let square = mean_distance(Point { x: 1.0, y: 1.0 });
        assert!((square - 0.521_405_433).abs() < 1e-9, "{square}");
    }

    #[test]
    fn the_mean_distance_has_no_step_where_a_rectangle_counts_as_a_line() {
        let below = mean_distance(Point { x: 9_999.0, y: 1.0 }) / 9_999.0;
        let above = mean_distance(Point { x: 10_001.0, y: 1.0 }) / 10_001.0;
        assert!((below - above).abs() < 1e-6, "{below} {above}");
    }
}

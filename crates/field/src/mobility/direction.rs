//! Random direction: a random distance in a random direction at a random speed, a pause, and so on; borders are
//! mirrors.
//!
//! Nain, Towsley, Liu and Liu: "Properties of Random Direction Models", INFOCOM 2005: behind mirrors the plane goes on
//! for ever, so nodes that are spread uniformly and look everywhere alike stay so. Distances are exponential here: what
//! is left of one is distributed as a new one, so the start can be drawn exactly. (Royer's variant, in which nodes
//! always go on up to a border, keeps them at borders.)

use crate::plane::{Point, Velocity};
use driftlock_net::Time;
use serde::{Deserialize, Serialize};

use super::model::{Area, ModelError, is_not_negative, is_positive};
use super::movement::Step;
use super::speeds::Speeds;
use crate::random::{Stream, angle, exponential, point, uniform, unit};

/// The parameters of the random direction model.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RandomDirection {
    /// The lowest speed, in m/s: more than 0, or there is no stationary state.
    pub speed_min: f64,
    /// The highest speed. Speeds are drawn uniformly between the two.
    pub speed_max: f64,
    /// How far a node goes in one direction, in metres: the mean of an exponential distribution. Mirrors do not count.
    pub distance: f64,
    /// How long it rests before it turns, in time units.
    #[serde(default)]
    pub pause: f64,
}

impl RandomDirection {
    pub(super) fn check(&self, area: Area) -> Result<(), ModelError> {
        self.speeds().check()?;
        ModelError::unless(is_positive(self.distance), "distance", "more than 0", self.distance)?;
        ModelError::unless(is_not_negative(self.pause), "pause", "0 or more", self.pause)?;
        let side = area.width.min(area.height);
        // At mirrors no node rests.
        let pause = if self.distance < side { self.pause } else { 0.0 };
        ModelError::unless_restless(self.distance.min(side) / self.speed_max + pause)
    }

    fn speeds(&self) -> Speeds {
        Speeds { min: self.speed_min, max: self.speed_max }
    }
}

/// One node that moves by this model.
#[derive(Clone, Debug)]
pub(super) struct Walk {
    rule: RandomDirection,
    area: Area,
    next: Next,
    stream: Stream,
}

/// What it does when it has done what it is doing.
#[derive(Clone, Copy, Debug)]
enum Next {
    /// The heading has length 1.
    Go {
        heading: Velocity,
        speed: f64,
        left: f64,
    },
    Rest {
        lasts: f64,
    },
}

impl Walk {
    /// A node as one finds it at any time.
    pub(super) fn start(rule: RandomDirection, area: Area, mut stream: Stream) -> (Point, Self) {
        let from = point(area.corner(), &mut stream);
        let going = rule.distance * rule.speeds().mean_slowness();
        let next = if unit(&mut stream) * (rule.pause + going) < rule.pause {
            Next::Rest { lasts: uniform(0.0, rule.pause, &mut stream) }
        } else {
            let speed = rule.speeds().draw_seen(&mut stream);
            Next::Go { heading: heading(&mut stream), speed, left: exponential(rule.distance, &mut stream) }
        };
        (from, Self { rule, area, next, stream })
    }

    pub(super) fn next(&mut self, from: Point, at: Time) -> Step {
        match self.next {
            Next::Go { heading, speed, left } => {
                let (to, next) = self.go(from, heading, speed, left);
                self.next = next;
                Step::go(from, to, speed, at)
            }
            Next::Rest { lasts } => {
                self.next = self.set_out();
                Step::rest(from, lasts, at)
            }
        }
    }

    /// As far as the distance or the next border.
    fn go(&mut self, from: Point, heading: Velocity, speed: f64, left: f64) -> (Point, Next) {
        let to_x = to_border(from.x, heading.x, self.area.width);
        let to_y = to_border(from.y, heading.y, self.area.height);
        let distance = left.min(to_x).min(to_y);
        let to = Point { x: from.x + heading.x * distance, y: from.y + heading.y * distance };
        let next = if distance < left {
            let mirror = |component: f64, border: f64| if border <= distance { -component } else { component };
            let heading = Velocity { x: mirror(heading.x, to_x), y: mirror(heading.y, to_y) };
            Next::Go { heading, speed, left: left - distance }
        } else if self.rule.pause > 0.0 {
            Next::Rest { lasts: self.rule.pause }
        } else {
            self.set_out()
        };
        (self.area.clamp(to), next)
    }

    fn set_out(&mut self) -> Next {
        let speed = self.rule.speeds().draw(&mut self.stream);
        let heading = heading(&mut self.stream);
        Next::Go { heading, speed, left: exponential(self.rule.distance, &mut self.stream) }
    }
}

/// Any direction alike.
fn heading(stream: &mut Stream) -> Velocity {
    let angle = angle(stream);
    Velocity { x: libm::cos(angle), y: libm::sin(angle) }
}

/// How far it is to the border that lies ahead in one dimension.
fn to_border(from: f64, heading: f64, side: f64) -> f64 {
    let border = if heading > 0.0 {
        (side - from) / heading
    } else if heading < 0.0 {
        -from / heading
    } else {
        f64::INFINITY
    };
    // Rounding may have left a node a little outside.
    border.max(0.0)
}

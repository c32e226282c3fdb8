//! Gauss-Markov: speed and direction are drawn anew at every step, around what they were and what they are on average.
//!
//! Liang and Haas: "Predictive Distance-Based Mobility Management for PCS Networks", INFOCOM 1999, in the form that
//! Camp, Boleng and Davies give it in "A Survey of Mobility Models for Ad Hoc Network Research", 2002: near a border
//! the mean direction is turned away from it. The start (uniform points, any direction, speeds of the stationary
//! distribution) is not exactly what one finds later: then nodes are a little rarer at borders.

use crate::plane::Point;
use driftlock_net::{Span, Time};
use serde::{Deserialize, Serialize};
use std::f64::consts::{FRAC_PI_4, TAU};

use super::model::{Area, ModelError, is_not_negative, is_positive};
use super::movement::Step;
use crate::random::{Stream, angle, normal, point};

/// The parameters of the Gauss-Markov model.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GaussMarkov {
    /// How much of speed and direction is kept from step to step: 0 is no memory, 1 is a straight line.
    pub alpha: f64,
    /// The mean speed, in m/s.
    pub speed: f64,
    /// The standard deviation of the speed; a speed that would be negative is 0.
    pub speed_deviation: f64,
    /// The standard deviation of the direction around its mean, in radians.
    #[serde(default = "eighth")]
    pub direction_deviation: f64,
    /// How long a step takes, in time units.
    pub step: f64,
    /// How near to a border nodes are steered away from it, in metres; a tenth of the shorter side if it is not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub margin: Option<f64>,
}

/// An eighth of a full turn.
fn eighth() -> f64 {
    FRAC_PI_4
}

impl GaussMarkov {
    pub(super) fn check(&self) -> Result<(), ModelError> {
        ModelError::unless((0.0..=1.0).contains(&self.alpha), "alpha", "from 0 to 1", self.alpha)?;
        ModelError::unless(is_positive(self.step), "step", "more than 0", self.step)?;
        for (name, value) in [
            ("speed", self.speed),
            ("speed_deviation", self.speed_deviation),
            ("direction_deviation", self.direction_deviation),
            ("margin", self.margin.unwrap_or_default()),
        ] {
            ModelError::unless(is_not_negative(value), name, "0 or more", value)?;
        }
        ModelError::unless_restless(self.step)
    }
}

/// One node that moves by this model.
#[derive(Clone, Debug)]
pub(super) struct Walk {
    rule: GaussMarkov,
    area: Area,
    margin: f64,
    speed: f64,
    direction: f64,
    mean_direction: f64,
    stream: Stream,
}

impl Walk {
    pub(super) fn start(rule: GaussMarkov, area: Area, mut stream: Stream) -> (Point, Self) {
        let from = point(area.corner(), &mut stream);
        let direction = angle(&mut stream);
        let speed = rule.speed + rule.speed_deviation * normal(&mut stream);
        let margin = rule.margin.unwrap_or(area.width.min(area.height) / 10.0);
        (from, Self { rule, area, margin, speed, direction, mean_direction: direction, stream })
    }

    pub(super) fn next(&mut self, from: Point, at: Time) -> Step {
        self.steer(from);
        self.remember_a_little();
        let distance = self.speed.max(0.0) * self.rule.step;
        let (sin, cos) = (libm::sin(self.direction), libm::cos(self.direction));
        let ahead = Point { x: from.x + distance * cos, y: from.y + distance * sin };
        let to = self.area.clamp(ahead);
        if to != ahead {
            let mirror = |component: f64, side: f64, ahead: f64| {
                if (0.0..=side).contains(&ahead) { component } else { -component }
            };
            let (sin, cos) = (mirror(sin, self.area.height, ahead.y), mirror(cos, self.area.width, ahead.x));
            self.direction = libm::atan2(sin, cos);
        }
        Step::reach(from, to, at + Span::from_units(self.rule.step), at)
    }

    /// Near a border the mean direction is that of the middle of the area, and stays so until the next border.
    fn steer(&mut self, from: Point) {
        let near = |place: f64, side: f64| place < self.margin || side - place < self.margin;
        if near(from.x, self.area.width) || near(from.y, self.area.height) {
            self.mean_direction = libm::atan2(self.area.height / 2.0 - from.y, self.area.width / 2.0 - from.x);
        }
    }

    fn remember_a_little(&mut self) {
        let GaussMarkov { alpha, speed, speed_deviation, direction_deviation, .. } = self.rule;
        let fresh = (1.0 - alpha * alpha).sqrt();
        self.speed = alpha * self.speed + (1.0 - alpha) * speed + fresh * speed_deviation * normal(&mut self.stream);
        // Around the circle the shorter way.
        let off = self.direction - self.mean_direction;
        let off = off - TAU * (off / TAU).round();
        self.direction = self.mean_direction + alpha * off + fresh * direction_deviation * normal(&mut self.stream);
    }
}

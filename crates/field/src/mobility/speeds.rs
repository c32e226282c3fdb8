//! Speeds that are drawn anew for every leg, and how they look to an observer who comes along.

use super::model::ModelError;
use crate::random::{Stream, uniform, unit};

/// Uniform between the two.
#[derive(Clone, Copy, Debug)]
pub(super) struct Speeds {
    pub(super) min: f64,
    pub(super) max: f64,
}

impl Speeds {
    /// Refuses what has no stationary state: the mean of 1/v is infinite if v can be arbitrarily small.
    pub(super) fn check(self) -> Result<(), ModelError> {
        let Self { min, max } = self;
        for (name, value) in [("speed_min", min), ("speed_max", max)] {
            ModelError::unless(value.is_finite(), name, "a number", value)?;
        }
        if min <= 0.0 {
            return Err(ModelError::NoStationaryState(min));
        }
        if min > max { Err(ModelError::Speeds { min, max }) } else { Ok(()) }
    }

    /// The speed of a new leg.
    pub(super) fn draw(self, stream: &mut Stream) -> f64 {
        uniform(self.min, self.max, stream)
    }

    /// The speed of a node that is under way at some time: slow legs last longer, so its density is proportional to
    /// 1/v.
    pub(super) fn draw_seen(self, stream: &mut Stream) -> f64 {
        let drawn = self.min * libm::pow(self.max / self.min, unit(stream));
        drawn.clamp(self.min, self.max)
    }

    /// The mean time that a metre takes.
    pub(super) fn mean_slowness(self) -> f64 {
        if self.min < self.max { libm::log(self.max / self.min) / (self.max - self.min) } else { 1.0 / self.min }
    }
}

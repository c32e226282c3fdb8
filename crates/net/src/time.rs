//! Time, as a number that is handed in.

use std::ops::{Add, Sub};

/// An instant, or a span of time, in nanoseconds: since the start of a simulation, or by a node's own clock. A time
/// unit of the papers is a second.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Time(pub u64);

const NANOS_PER_UNIT: f64 = 1e9;

impl Time {
    /// The end: time can not go on from here.
    pub const END: Self = Self(u64::MAX);
    /// The start.
    pub const ZERO: Self = Self(0);

    /// So many time units, to the nearest nanosecond.
    pub fn from_units(units: f64) -> Self {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // saturates, as it should
        let nanos = (units * NANOS_PER_UNIT).round() as u64;
        Self(nanos)
    }

    /// In time units.
    pub fn units(self) -> f64 {
        self.0 as f64 / NANOS_PER_UNIT
    }
}

impl Add for Time {
    type Output = Self;

    fn add(self, span: Self) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl Sub for Time {
    type Output = Self;

    fn sub(self, earlier: Self) -> Self {
        Self(self.0 - earlier.0)
    }
}

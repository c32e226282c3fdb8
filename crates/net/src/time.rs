//! Time, as a number that is handed in: instants, and the spans between them.

use std::{
    iter,
    ops::{Add, Div, Mul, Sub},
    time::Duration,
};

const NANOS_PER_UNIT: f64 = 1e9;
const NANOS_PER_MILLI: u64 = 1_000_000;

/// An instant: nanoseconds since the start of a simulation, or by a node's own clock. A time unit of the papers is a
/// second.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Time(pub u64);

impl Time {
    /// The end: time cannot go on from here.
    pub const END: Self = Self(u64::MAX);
    /// The start.
    pub const ZERO: Self = Self(0);

    /// So many milliseconds after the start.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(NANOS_PER_MILLI))
    }

    /// So many time units after the start, to the nearest nanosecond.
    pub fn from_units(units: f64) -> Self {
        Self(nanos(units))
    }

    /// In time units.
    pub fn units(self) -> f64 {
        units(self.0)
    }

    /// How long ago `earlier` is; nothing if it is still to come.
    #[must_use]
    pub fn since(self, earlier: Self) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }

    /// The instant so long before; at the earliest, the start.
    #[must_use]
    pub fn saturating_sub(self, span: Span) -> Self {
        Self(self.0.saturating_sub(span.0))
    }
}

/// A span of time, from one instant to another: nanoseconds. A time unit of the papers is a second.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Span(pub u64);

impl Span {
    /// No time passes.
    pub const ZERO: Self = Self(0);
    /// As long as time goes on.
    pub const FOREVER: Self = Self(u64::MAX);

    /// So many milliseconds.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(NANOS_PER_MILLI))
    }

    /// So many time units, to the nearest nanosecond.
    pub fn from_units(units: f64) -> Self {
        Self(nanos(units))
    }

    /// In time units.
    pub fn units(self) -> f64 {
        units(self.0)
    }

    /// What is left of it after `other`; nothing if that is longer.
    #[must_use]
    pub fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl From<Duration> for Span {
    fn from(duration: Duration) -> Self {
        Self(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
    }
}

fn nanos(units: f64) -> u64 {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // saturates, as it should
    let nanos = (units * NANOS_PER_UNIT).round() as u64;
    nanos
}

fn units(nanos: u64) -> f64 {
    nanos as f64 / NANOS_PER_UNIT
}

/// At the latest, the end.
impl Add<Span> for Time {
    type Output = Self;

    fn add(self, span: Span) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

/// Of two instants in order; [`Time::since`] asks for none.
impl Sub for Time {
    type Output = Span;

    fn sub(self, earlier: Self) -> Span {
        Span(self.0 - earlier.0)
    }
}

impl Add for Span {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sub for Span {
    type Output = Self;

    fn sub(self, part: Self) -> Self {
        Self(self.0 - part.0)
    }
}

impl Mul<u64> for Span {
    type Output = Self;

    fn mul(self, count: u64) -> Self {
        Self(self.0.saturating_mul(count))
    }
}

/// Rounds down.
impl Div<u64> for Span {
    type Output = Self;

    fn div(self, parts: u64) -> Self {
        Self(self.0 / parts)
    }
}

impl iter::Sum for Span {
    fn sum<I: Iterator<Item = Self>>(spans: I) -> Self {
        spans.fold(Self::ZERO, Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LATE: Time = Time(u64::MAX - 1);

    #[test]
    fn nothing_is_later_than_the_end() {
        assert_eq!((Time(3) + Span(4), LATE + Span(1), LATE + Span(2)), (Time(7), Time::END, Time::END));
        assert_eq!((Time::ZERO + Span::FOREVER, Time(7) + Span::FOREVER), (Time::END, Time::END));
    }

    #[test]
    fn what_lies_between_two_instants_is_a_span() {
        assert_eq!(
            (Time(7) - Time(3), Time(3) - Time(3), Time::END - Time::ZERO),
            (Span(4), Span::ZERO, Span::FOREVER)
        );
        assert_eq!((Time(7).since(Time(3)), Time(3).since(Time(7))), (Span(4), Span::ZERO));
        assert_eq!((Time(7).saturating_sub(Span(3)), Time(3).saturating_sub(Span(7))), (Time(4), Time::ZERO));
    }

    #[test]
    fn spans_are_added_multiplied_and_divided_and_none_is_longer_than_for_ever() {
        assert_eq!((Span(3) + Span(4), Span::FOREVER + Span(1)), (Span(7), Span::FOREVER));
        assert_eq!((Span(7) - Span(3), Span(3).saturating_sub(Span(7))), (Span(4), Span::ZERO));
        assert_eq!((Span(3) * 4, Span(u64::MAX / 2) * 3), (Span(12), Span::FOREVER));
        assert_eq!((Span(7) / 2, Span::FOREVER / 1), (Span(3), Span::FOREVER));
        assert_eq!([Span(1), Span(2), Span::FOREVER].into_iter().sum::<Span>(), Span::FOREVER);
    }

    #[test]
    #[should_panic(expected = "overflow")]
    fn instants_that_are_subtracted_are_in_order() {
        let _ = Time(3) - Time(7);
    }

    #[test]
    fn units_are_seconds_to_the_nearest_nanosecond() {
        assert_eq!((Time::from_units(0.5), Span::from_units(0.5)), (Time(500_000_000), Span(500_000_000)));
        assert_eq!((Time::from_millis(1_500).units(), Span::from_millis(1_500).units()), (1.5, 1.5));
        assert_eq!((Span::from_units(4e-10), Span::from_units(6e-10)), (Span::ZERO, Span(1)));
        assert_eq!((Span::from_units(-1.0), Span::from_units(1e30)), (Span::ZERO, Span::FOREVER));
        assert_eq!((Time::from_units(-1.0), Time::from_units(1e30)), (Time::ZERO, Time::END));
        assert_eq!((Span::from_millis(u64::MAX), Span::from(Duration::MAX)), (Span::FOREVER, Span::FOREVER));
        assert_eq!(Span::from(Duration::from_micros(3)), Span(3_000));
    }
}

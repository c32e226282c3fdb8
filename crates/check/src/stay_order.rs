//! How the stays of members lie to one another.

use std::fmt;
use std::str::FromStr;

use driftlock_protocol::{Incarnation, Stay};

/// Above all stays that fall, and amid those that alternate.
const MIDDLE: u64 = 1_000_000;

/// In which order the stays are of members that come one after the other. Drawn as they are they may be in any, and no
/// algorithm should care; one that does is found in the order that it does not count on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum StayOrder {
    /// Whoever comes later has a greater one.
    #[default]
    Growing,
    /// Whoever comes later has a smaller one.
    Falling,
    /// Whoever comes has one beyond all that were before, in turns above and below them: of three members, that of the
    /// first is in the middle.
    Alternating,
}

impl StayOrder {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Growing, Self::Falling, Self::Alternating];

    /// The stay that begins with this life.
    pub(crate) fn of(self, life: Incarnation) -> Stay {
        let number = u64::from(life.0);
        let below = |so_many: u64| MIDDLE.checked_sub(so_many).expect("nobody enters a million times");
        Stay(match self {
            Self::Growing => number,
            Self::Falling => below(number),
            Self::Alternating if number % 2 == 1 => MIDDLE + number.div_ceil(2),
            Self::Alternating => below(number / 2),
        })
    }

    /// What there is to know, besides how stays lie now, of how the next one will lie.
    pub(crate) fn turn(self, next: Incarnation) -> u64 {
        if self == Self::Alternating { u64::from(next.0 % 2) } else { 0 }
    }

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Growing => "growing",
            Self::Falling => "falling",
            Self::Alternating => "alternating",
        }
    }
}

impl fmt::Display for StayOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for StayOrder {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|stays| stays.name() == text);
        found.ok_or_else(|| format!("stays are {}", Self::ALL.map(Self::name).join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stay_lies_beyond_all_before_it_on_the_side_that_was_asked_for() {
        let first = |stays: StayOrder| [0, 1, 2, 3, 4].map(|life| stays.of(Incarnation(life)).0);
        assert_eq!(first(StayOrder::Growing), [0, 1, 2, 3, 4]);
        assert_eq!(first(StayOrder::Falling).map(|stay| MIDDLE - stay), [0, 1, 2, 3, 4]);
        let alternating = first(StayOrder::Alternating).map(|stay| stay.cast_signed() - MIDDLE.cast_signed());
        assert_eq!(alternating, [0, 1, -1, 2, -2]);
        assert!((0..9).map(Incarnation).all(|life| StayOrder::Alternating.turn(life) == u64::from(life.0 % 2)));
        assert!((0..9).map(Incarnation).all(|life| StayOrder::Falling.turn(life) == 0));
    }

    #[test]
    fn an_order_is_spelled_as_it_is_read() {
        for stays in StayOrder::ALL {
            assert_eq!(stays.to_string().parse(), Ok(stays));
        }
        assert_eq!("drawn".parse::<StayOrder>(), Err("stays are growing, falling, alternating".into()));
    }
}

//! How long a node waits for an acknowledgement: one measure for all its links, because they share the air.
//!
//! Jacobson's estimator (RFC 6298), in nanoseconds. When an acknowledgement is late, all waits are doubled, at most
//! once in the time of one wait, and stay so until an acknowledgement tells how long one takes now: in a crowd
//! all nodes are late at once, and one that is impatient then makes all the others later.

use super::Settings;
use super::settings::from_ms;
use crate::dice::Dice;
use crate::{Span, Time};

/// Jitter adds up to one part in so many.
const JITTER_PARTS: u64 = 4;
/// More doublings than this are beyond the longest wait anyway.
const DOUBLINGS_MAX: u32 = 16;

/// The waits of one node.
#[derive(Clone, Debug)]
pub(super) struct Patience {
    /// The mean and its deviation, once one was measured.
    measured: Option<(u64, u64)>,
    doublings: u32,
    /// What is late before this was sent before the last doubling.
    doubled_until: Time,
    dice: Dice,
}

impl Patience {
    pub(super) fn new(seed: u64) -> Self {
        Self { measured: None, doublings: 0, doubled_until: Time::ZERO, dice: Dice::new(seed) }
    }

    /// A message that was transmitted once was acknowledged after this long. One that was transmitted again tells
    /// nothing (Karn's rule): the sender does not know which transmission was acknowledged.
    pub(super) fn sample(&mut self, took: Span) {
        self.doublings = 0;
        self.measured = Some(match self.measured {
            None => (took.0, took.0 / 2),
            Some((mean, deviation)) => {
                let error = mean.abs_diff(took.0);
                (mean - mean / 8 + took.0 / 8, deviation - deviation / 4 + error / 4)
            }
        });
    }

    /// An acknowledgement has not come in time, or the radio has given up.
    pub(super) fn late(&mut self, now: Time, settings: &Settings) {
        if now >= self.doubled_until {
            self.doublings = (self.doublings + 1).min(DOUBLINGS_MAX);
            self.doubled_until = now + self.without_jitter(0, settings);
        }
    }

    /// How long to wait for the acknowledgement of a message that was transmitted so many times before.
    pub(super) fn wait(&mut self, tries: u32, settings: &Settings) -> Span {
        let wait = self.without_jitter(tries, settings);
        wait + self.part_of(wait / JITTER_PARTS)
    }

    /// Some part of this time, another one each time.
    pub(super) fn part_of(&mut self, whole: Span) -> Span {
        Span(self.dice.below(whole.0 + 1))
    }

    fn without_jitter(&self, tries: u32, settings: &Settings) -> Span {
        let first = match self.measured {
            None => from_ms(settings.retransmit_ms),
            Some((mean, deviation)) => Span(mean + 4 * deviation).max(from_ms(settings.retransmit_ms_min)),
        };
        Settings::backed_off(first, tries.max(self.doublings), settings.retransmit_ms_max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(span: Span) -> u64 {
        span.0 / 1_000_000
    }

    #[test]
    fn it_follows_the_round_trips_and_doubles_with_every_try() {
        let settings = Settings::default();
        let mut patience = Patience::new(1);
        assert!((200..=250).contains(&ms(patience.wait(0, &settings))));
        for _ in 0..100 {
            patience.sample(from_ms(80));
        }
        assert!((80..=101).contains(&ms(patience.wait(0, &settings))));
        assert!((160..=202).contains(&ms(patience.wait(1, &settings))));
        assert!((2_000..=2_500).contains(&ms(patience.wait(30, &settings))), "the longest, and jitter");
    }

    #[test]
    fn who_is_late_makes_all_waits_longer_once_in_a_wait_until_something_is_measured() {
        let settings = Settings::default();
        let mut patience = Patience::new(1);
        for _ in 0..100 {
            patience.sample(from_ms(80));
        }
        let calm = patience.without_jitter(0, &settings);
        for _ in 0..5 {
            patience.late(Time::from_millis(1_000), &settings);
        }
        assert_eq!(patience.without_jitter(0, &settings).0, 2 * calm.0, "five links that are late at once");
        patience.late(Time::from_millis(1_000) + calm * 2, &settings);
        assert_eq!(patience.without_jitter(0, &settings).0, 4 * calm.0);
        assert_eq!(patience.without_jitter(1, &settings).0, 4 * calm.0, "tries and lateness are not added up");
        patience.sample(from_ms(80));
        assert!(patience.without_jitter(0, &settings) <= calm);
    }
}

//! How long an acknowledgement takes, and so how long to wait for one: Jacobson's estimator (RFC 6298), in nanoseconds.

use super::Settings;
use super::settings::from_ms;
use crate::Time;

/// The estimate of one link.
#[derive(Clone, Debug, Default)]
pub(super) struct RoundTrip {
    /// The mean and its deviation, once one was measured.
    measured: Option<(u64, u64)>,
}

impl RoundTrip {
    /// A message that was transmitted once was acknowledged after this long. One that was transmitted again tells nothing
    /// (Karn's rule): nobody knows which transmission was acknowledged.
    pub(super) fn sample(&mut self, took: Time) {
        self.measured = Some(match self.measured {
            None => (took.0, took.0 / 2),
            Some((mean, deviation)) => {
                let error = mean.abs_diff(took.0);
                (mean - mean / 8 + took.0 / 8, deviation - deviation / 4 + error / 4)
            }
        });
    }

    /// How long to wait after so many earlier tries.
    pub(super) fn patience(&self, tries: u32, settings: &Settings) -> Time {
        let first = match self.measured {
            None => from_ms(settings.retransmit_ms),
            Some((mean, deviation)) => {
                Time((mean + 4 * deviation).max(from_ms(settings.retransmit_ms_min).0)) + from_ms(settings.ack_delay_ms)
            }
        };
        Settings::backed_off(first, tries, settings.retransmit_ms_max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patience_follows_the_round_trips_and_doubles_with_every_try() {
        let settings = Settings::default();
        let mut trip = RoundTrip::default();
        assert_eq!(trip.patience(0, &settings), from_ms(100));
        for _ in 0..100 {
            trip.sample(from_ms(50));
        }
        let calm = trip.patience(0, &settings);
        assert!(calm >= from_ms(50) && calm < from_ms(60), "{calm:?}");
        assert_eq!(trip.patience(1, &settings).0, 2 * calm.0);
        assert_eq!(trip.patience(30, &settings), from_ms(settings.retransmit_ms_max));
    }
}

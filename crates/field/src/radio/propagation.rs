//! How strong a signal arrives, and what that is good for.

use driftlock_protocol::NodeId;

use super::settings::{Propagation, SettingsError, at_least, finite, not_negative, positive, reach};
use super::weather::Weather;

/// What lies between senders and receivers.
#[derive(Clone, Debug)]
pub(super) enum Medium {
    UnitDisk { range: f64, sensed: f64, disturbed: f64 },
    LogDistance(LogDistance),
}

/// Power falls with a power of the distance. Powers are in milliwatts where they are added, in dBm where they are
/// drawn.
#[derive(Clone, Debug)]
pub(super) struct LogDistance {
    exponent: f64,
    /// Received over one metre.
    first_metre_dbm: f64,
    noise_dbm: f64,
    noise_mw: f64,
    sense_dbm: f64,
    /// As a ratio.
    capture: f64,
    /// In cycles per nanosecond.
    bandwidth: f64,
    shadowing_db: f64,
    decorrelation: Option<f64>,
    reach: f64,
}

/// What a receiver gets of a signal.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Path {
    /// As seen by other receptions: milliwatts, or 1 for a disk.
    pub power: f64,
    pub decodable: bool,
    pub sensed: bool,
}

impl Medium {
    pub(super) fn new(given: &Propagation) -> Result<Self, SettingsError> {
        match *given {
            Propagation::UnitDisk { range_m, sense, interference } => {
                let range = positive("range-m", range_m)?;
                let sensed = reach(range * at_least("sense", 1.0, sense)?)?;
                let disturbed = reach(range * at_least("interference", 1.0, interference)?)?;
                Ok(Self::UnitDisk { range, sensed, disturbed })
            }
            Propagation::LogDistance { .. } => LogDistance::new(given).map(Self::LogDistance),
        }
    }

    /// How far a signal can matter.
    pub(super) fn reach(&self) -> f64 {
        match self {
            Self::UnitDisk { sensed, disturbed, .. } => sensed.max(*disturbed),
            Self::LogDistance(model) => model.reach,
        }
    }

    /// What a node at this distance gets, if it is anything.
    pub(super) fn path(&self, weather: &Weather, from: NodeId, to: NodeId, distance: f64) -> Option<Path> {
        match self {
            Self::UnitDisk { range, sensed, disturbed } => {
                let power = if distance <= *disturbed { 1.0 } else { 0.0 };
                let path = Path { power, decodable: distance <= *range, sensed: distance <= *sensed };
                (path.sensed || path.power > 0.0).then_some(path)
            }
            Self::LogDistance(model) => model.path(weather, from, to, distance),
        }
    }

    /// Whether a frame of this power survives the worst interference it met.
    pub(super) fn survives(&self, power: f64, interference: f64) -> bool {
        match self {
            Self::UnitDisk { .. } => interference <= 0.0,
            Self::LogDistance(model) => power >= model.capture * interference,
        }
    }

    /// The probability that noise and interference flip a bit of the frame, whose bits take so many nanoseconds.
    pub(super) fn error(&self, power: f64, interference: f64, bytes: u32, bit: f64) -> f64 {
        match self {
            Self::UnitDisk { .. } => 0.0,
            Self::LogDistance(model) => model.error(power, interference, bytes, bit),
        }
    }
}

impl LogDistance {
    fn new(given: &Propagation) -> Result<Self, SettingsError> {
        let Propagation::LogDistance {
            exponent,
            reference_loss_db,
            tx_power_dbm,
            noise_dbm,
            sense_dbm,
            capture_db,
            bandwidth_hz,
            shadowing_db,
            decorrelation_m,
        } = *given
        else {
            unreachable!("called for this variant only")
        };
        positive("exponent", exponent)?;
        not_negative("shadowing-db", shadowing_db)?;
        let first_metre_dbm = finite("tx-power-dbm", tx_power_dbm)? - finite("reference-loss-db", reference_loss_db)?;
        let floor = finite("noise-dbm", noise_dbm)?.min(finite("sense-dbm", sense_dbm)?);
        // Shadows are at most three deviations, so nothing beyond this is above the floor.
        let budget_db = first_metre_dbm - floor + 3.0 * shadowing_db;
        Ok(Self {
            exponent,
            first_metre_dbm,
            noise_dbm,
            noise_mw: milliwatts(noise_dbm),
            sense_dbm,
            capture: milliwatts(finite("capture-db", capture_db)?),
            bandwidth: positive("bandwidth-hz", bandwidth_hz)? / 1e9,
            shadowing_db,
            decorrelation: decorrelation_m.map(|way| positive("decorrelation-m", way)).transpose()?,
            reach: reach(libm::pow(10.0, budget_db / (10.0 * exponent)).max(1.0))?,
        })
    }

    fn path(&self, weather: &Weather, from: NodeId, to: NodeId, distance: f64) -> Option<Path> {
        let fallen_db = 10.0 * self.exponent * libm::log10(distance.max(1.0));
        let dbm = self.first_metre_dbm - fallen_db + self.shadow(weather, from, to, distance);
        let audible = dbm >= self.sense_dbm;
        (audible || dbm >= self.noise_dbm).then(|| Path { power: milliwatts(dbm), decodable: audible, sensed: audible })
    }

    /// One number per pair; or, along the distance, a walk between numbers at whole multiples of the decorrelation way,
    /// weighted so that the deviation is the same everywhere.
    fn shadow(&self, weather: &Weather, from: NodeId, to: NodeId, distance: f64) -> f64 {
        if self.shadowing_db <= 0.0 {
            return 0.0;
        }
        let normal = match self.decorrelation {
            None => weather.normal(from, to, 0),
            Some(way) => {
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // saturates, as it should
                let mark = (distance / way) as u64;
                let beyond = distance / way - mark as f64;
                let before = 1.0 - beyond;
                let sum = before * weather.normal(from, to, mark) + beyond * weather.normal(from, to, mark + 1);
                (sum / libm::sqrt(before * before + beyond * beyond)).clamp(-3.0, 3.0)
            }
        };
        normal * self.shadowing_db
    }

    /// Differential phase shift keying: a bit is wrong with half of e to the minus of its energy over noise.
    fn error(&self, power: f64, interference: f64, bytes: u32, bit: f64) -> f64 {
        let per_bit = power / (self.noise_mw + interference) * self.bandwidth * bit;
        let wrong = 0.5 * libm::exp(-per_bit);
        -libm::expm1(f64::from(bytes) * 8.0 * libm::log1p(-wrong))
    }
}

fn milliwatts(dbm: f64) -> f64 {
    libm::pow(10.0, dbm / 10.0)
}

#[cfg(test)]
mod tests {
    use driftlock_net::Span;

    use super::*;

    fn log_distance(shadowing_db: f64, decorrelation_m: Option<f64>) -> Medium {
        let given = Propagation::LogDistance {
            exponent: 3.0,
            reference_loss_db: 46.6777,
            tx_power_dbm: 16.0206,
            noise_dbm: -94.0,
            sense_dbm: -92.0,
            capture_db: 10.0,
            bandwidth_hz: 22e6,
            shadowing_db,
            decorrelation_m,
        };
        Medium::new(&given).unwrap()
    }

    fn dbm(medium: &Medium, from: u32, to: u32, distance: f64) -> f64 {
        let weather = Weather::new(1, Span(1), None);
        10.0 * libm::log10(medium.path(&weather, NodeId(from), NodeId(to), distance).unwrap().power)
    }

    #[test]
    fn power_falls_by_thirty_decibels_for_ten_times_the_distance() {
        let medium = log_distance(0.0, None);
        assert!((dbm(&medium, 0, 1, 1.0) - (16.0206 - 46.6777)).abs() < 1e-9);
        assert!((dbm(&medium, 0, 1, 2.0) - dbm(&medium, 0, 1, 20.0) - 30.0).abs() < 1e-9);
    }

    #[test]
    fn nothing_beyond_the_reach_arrives_and_just_within_it_something_does() {
        let weather = Weather::new(1, Span(1), None);
        let medium = log_distance(0.0, None);
        assert!(medium.path(&weather, NodeId(0), NodeId(1), medium.reach() * 0.999).is_some());
        assert!(medium.path(&weather, NodeId(0), NodeId(1), medium.reach() * 1.001).is_none());
        let shaded = log_distance(6.0, Some(20.0));
        for other in 1..2000 {
            assert!(shaded.path(&weather, NodeId(0), NodeId(other), shaded.reach() * 1.001).is_none());
        }
    }

    #[test]
    fn errors_grow_smoothly_as_the_signal_nears_the_noise_and_with_length() {
        let medium = log_distance(0.0, None);
        let noise = milliwatts(-94.0);
        let error = |db, bytes| medium.error(noise * milliwatts(db), 0.0, bytes, 1000.0 / 11.0);
        let errors = (-10..20).map(|db| error(f64::from(db), 500)).collect::<Vec<_>>();
        assert!(errors.windows(2).all(|pair| pair[1] <= pair[0]), "{errors:?}");
        assert!(errors[0] > 0.999 && errors[29] < 1e-9, "{errors:?}");
        // By hand at 6 dB: 3.981 * 2 = 7.962, half of e^-7.962 is 1.743e-4; over 4000 bits 1 - (1 - 1.743e-4)^4000 =
        // 0.502.
        let by_hand = error(6.0, 500);
        assert!((by_hand - 0.502).abs() < 0.002, "{by_hand}");
        assert!(error(6.0, 50) < by_hand);
    }

    #[test]
    fn shadows_are_symmetric_and_fixed_or_change_with_the_distance() {
        let fixed = log_distance(6.0, None);
        let walking = log_distance(6.0, Some(10.0));
        let shadow = |medium: &Medium, from, to, at: f64| dbm(medium, from, to, at) + 30.0 * libm::log10(at);
        assert!((shadow(&fixed, 3, 9, 10.0) - shadow(&fixed, 9, 3, 70.0)).abs() < 1e-9);
        assert!((shadow(&walking, 3, 9, 10.0) - shadow(&walking, 9, 3, 10.0)).abs() < 1e-9);
        assert!((shadow(&walking, 3, 9, 10.0) - shadow(&walking, 3, 9, 10.1)).abs() < 1.0);
        assert!((shadow(&walking, 3, 9, 10.0) - shadow(&walking, 3, 9, 70.0)).abs() > 0.1);
    }

    #[test]
    fn the_stronger_frame_survives_by_capture_and_in_a_disk_none() {
        let medium = log_distance(0.0, None);
        assert!(medium.survives(11.0, 1.0) && !medium.survives(9.0, 1.0));
        let disk = Medium::new(&Propagation::UnitDisk { range_m: 1.0, sense: 1.0, interference: 1.0 }).unwrap();
        assert!(!disk.survives(1.0, 1.0) && disk.survives(1.0, 0.0));
    }
}

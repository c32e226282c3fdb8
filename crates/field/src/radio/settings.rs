//! What the radio is like, as a person writes it down.
//!
//! The numbers carry their unit in the name and may be nonsense. [`Settings::rules`] makes [`Rules`] of them, which are
//! not.

use driftlock_net::Span;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::presets;
use super::propagation::Medium;
use super::rules::{CsmaRules, Rules};
use super::weather;

/// The longest time that a setting may be, in seconds: a longer one is a mistake.
const SECONDS_MAX: f64 = 1e3;
/// The farthest that a signal may matter, in metres: as large as an area can be.
const REACH_MAX: f64 = 1e9;

/// The radio of all nodes. What is not given is as in the preset `wifi-2mbps`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Settings {
    /// How far signals go.
    pub propagation: Propagation,
    /// How nodes share the medium.
    pub access: Access,
    /// The probability that a frame is lost on its way to a receiver, on top of everything else.
    pub loss: f64,
    /// Frames between the same two nodes in the same direction that begin in the same slot of time meet the same luck.
    pub weather_slot_ms: f64,
    /// Bad spells of single links.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bursts: Option<Bursts>,
    /// How much later than the end of its airtime a frame reaches the node. May change the order of frames.
    pub delay: Delay,
    /// The probability that a received frame is handed over twice.
    pub duplicated: f64,
    /// Whether a receiver hands over what is sent again because its acknowledgement was lost. MACs do not.
    pub duplicates: bool,
    /// How many frames a node keeps, the one that is being sent included.
    pub queue_max: u32,
    /// What a jammed node senses.
    pub jammed_senses: JammedSenses,
    /// What the radio draws.
    pub power: Power,
}

/// How far signals go.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "model", deny_unknown_fields, rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum Propagation {
    /// Heard up to a distance and not at all beyond it.
    UnitDisk {
        /// Frames are received up to this distance.
        #[serde(default = "presets::wavelan_range_m")]
        range_m: f64,
        /// A transmission is sensed up to so many ranges: 1 or more.
        #[serde(default = "presets::wavelan_sense")]
        sense: f64,
        /// A transmission spoils the reception of others up to so many ranges: 1 or more.
        #[serde(default = "presets::wavelan_interference")]
        interference: f64,
    },
    /// Power falls with a power of the distance, and errors grow as the signal nears the noise.
    LogDistance {
        /// The exponent of the distance.
        exponent: f64,
        /// What is lost over the first metre.
        reference_loss_db: f64,
        /// What senders send with.
        tx_power_dbm: f64,
        /// What receivers hear when no node sends.
        noise_dbm: f64,
        /// Signals below this are neither sensed nor received; if they are above the noise, they interfere.
        sense_dbm: f64,
        /// A frame must be so much stronger than all that overlaps it.
        capture_db: f64,
        /// The bandwidth over which the noise is counted: the energy of a bit is the power times bandwidth over bit
        /// rate.
        bandwidth_hz: f64,
        /// The standard deviation of the shadowing of a pair of nodes.
        #[serde(default)]
        shadowing_db: f64,
        /// The way over which shadowing changes; without it a pair has one shadow for all time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        decorrelation_m: Option<f64>,
    },
}

/// How nodes share the medium.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "mac", deny_unknown_fields, rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum Access {
    /// Every frame has the medium for itself and arrives after a fixed time.
    Ideal {
        /// That time.
        latency_ms: f64,
    },
    /// Listen before talk, with random backoff and acknowledgements.
    Csma(Csma),
}

/// The numbers of listen before talk.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Csma {
    /// The bit rate of unicast frames.
    pub bitrate_bps: f64,
    /// The bit rate of broadcasts and acknowledgements.
    pub basic_bps: f64,
    /// What precedes the bits of every frame.
    pub preamble_us: f64,
    /// The headers below the caller's bytes.
    pub overhead_bytes: u32,
    /// An acknowledgement.
    pub ack_bytes: u32,
    /// The unit of backoff.
    pub slot_us: f64,
    /// From the end of a frame to its acknowledgement.
    pub sifs_us: f64,
    /// How long the medium must be idle before slots are counted.
    pub difs_us: f64,
    /// How long before its start a transmission cannot be stopped any more by what the node senses: under a slot.
    pub turnaround_us: f64,
    /// The first backoff is 0 to this many slots.
    pub cw_min: u32,
    /// No backoff is longer than this many slots.
    pub cw_max: u32,
    /// How often an unacknowledged frame is sent again.
    pub retries: u32,
}

/// Bad spells: a link is good and bad in turns, for exponential times.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Bursts {
    /// The mean length of a good spell.
    pub good_ms: f64,
    /// The mean length of a bad spell.
    pub bad_ms: f64,
    /// The probability of a loss in a bad spell.
    pub loss: f64,
}

/// A random time.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(tag = "kind", deny_unknown_fields, rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum Delay {
    /// No time.
    #[default]
    None,
    /// All times from one to another alike.
    Uniform {
        /// The shortest.
        min_ms: f64,
        /// The longest.
        max_ms: f64,
    },
    /// Exponential.
    Exponential {
        /// On average.
        mean_ms: f64,
    },
}

/// What a jammed node senses. It hears nothing in either case.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JammedSenses {
    /// The jammer's energy: the medium is busy, so the node waits, and its queue fills.
    #[default]
    Busy,
    /// Nothing: the node sends, others outside the area hear it, and it never hears an answer.
    Free,
}

/// What the radio draws in each state, in watts. A node that is down draws nothing.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Power {
    /// Sending.
    pub transmit_w: f64,
    /// While the medium is busy around it.
    pub receive_w: f64,
    /// While it is not.
    pub idle_w: f64,
}

/// Settings that mean nothing.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum SettingsError {
    /// Something that must be greater than zero is not.
    #[error("{name} is {value}, but must be greater than 0")]
    NotPositive {
        /// Which setting.
        name: &'static str,
        /// What it is.
        value: f64,
    },
    /// Something is negative, or not a number.
    #[error("{name} is {value}, but must be a number that is not negative")]
    Negative {
        /// Which setting.
        name: &'static str,
        /// What it is.
        value: f64,
    },
    /// Not a number, or an infinite one.
    #[error("{name} is {value}, but must be finite")]
    NotFinite {
        /// Which setting.
        name: &'static str,
        /// What it is.
        value: f64,
    },
    /// Less than makes sense.
    #[error("{name} is {value:?}, but must be at least {least}")]
    TooSmall {
        /// Which setting.
        name: &'static str,
        /// What it is.
        value: f64,
        /// The least that it can be.
        least: f64,
    },
    /// More than makes sense.
    #[error("{name} is {value:?}, but must be at most {most}")]
    TooLarge {
        /// Which setting.
        name: &'static str,
        /// What it is.
        value: f64,
        /// The most that it can be.
        most: f64,
    },
    /// Signals that are everywhere.
    #[error("signals would matter up to {0:?} m away, and {REACH_MAX} m is the most: lower the range or the power")]
    TooFar(f64),
    /// Not a probability.
    #[error("{name} is {value}, but a probability is from 0 to 1")]
    NoProbability {
        /// Which setting.
        name: &'static str,
        /// What it is.
        value: f64,
    },
    /// Two numbers in the wrong order.
    #[error("{small} must not be greater than {large}")]
    Order {
        /// The one that must be the smaller.
        small: &'static str,
        /// The one that must be the larger.
        large: &'static str,
    },
    /// No frame would ever be sent.
    #[error("queue-max is 0, but a node must keep the frame it sends")]
    NoQueue,
    /// There is no preset of this name.
    #[error("there is no radio preset {0:?}; there are {list}", list = presets::NAMES.join(", "))]
    NoPreset(String),
}

impl Default for Power {
    /// A `WaveLAN` card of 2 Mb/s, as Feeney and Nilsson measured it (2001).
    fn default() -> Self {
        Self { transmit_w: 1.327, receive_w: 0.967, idle_w: 0.843 }
    }
}

impl Settings {
    /// The same settings as something that cannot be nonsense.
    pub fn rules(&self) -> Result<Rules, SettingsError> {
        if self.queue_max == 0 {
            return Err(SettingsError::NoQueue);
        }
        let bursts = self.bursts.map(|bursts| bursts.parsed()).transpose()?;
        let (latency, csma) = match self.access {
            Access::Ideal { latency_ms } => (Some(span("latency-ms", latency_ms, MILLIS)?), Csma::default()),
            Access::Csma(csma) => (None, csma),
        };
        self.delay.check()?;
        self.power.check()?;
        Ok(Rules {
            medium: Medium::new(&self.propagation)?,
            latency,
            csma: csma.parsed()?,
            loss: probability("loss", self.loss)?,
            weather_slot: Span::from_units(not_negative("weather-slot-ms", self.weather_slot_ms)? / 1e3),
            bursts,
            delay: self.delay,
            duplicated: probability("duplicated", self.duplicated)?,
            duplicates: self.duplicates,
            queue_max: self.queue_max as usize,
            jammed_senses: self.jammed_senses,
            power: self.power,
        })
    }
}

impl Csma {
    fn parsed(&self) -> Result<CsmaRules, SettingsError> {
        let micros = |name, value| span(name, value, MICROS);
        let slot = micros("slot-us", positive("slot-us", self.slot_us)?)?;
        let sifs = micros("sifs-us", self.sifs_us)?;
        let difs = micros("difs-us", self.difs_us)?;
        let turnaround = micros("turnaround-us", self.turnaround_us)?;
        in_order("cw-min", f64::from(self.cw_min), "cw-max", f64::from(self.cw_max))?;
        in_order("sifs-us", self.sifs_us, "difs-us", self.difs_us)?;
        in_order("turnaround-us", self.turnaround_us, "slot-us", self.slot_us)?;
        Ok(CsmaRules {
            bit: 1e9 / at_least("bitrate-bps", 1.0, self.bitrate_bps)?,
            basic_bit: 1e9 / at_least("basic-bps", 1.0, self.basic_bps)?,
            preamble: micros("preamble-us", self.preamble_us)?,
            overhead_bytes: self.overhead_bytes,
            ack_bytes: self.ack_bytes,
            slot: slot.max(Span(1)),
            sifs,
            difs,
            turnaround,
            cw_min: self.cw_min,
            cw_max: self.cw_max,
            retries: self.retries,
        })
    }
}

impl Bursts {
    fn parsed(&self) -> Result<weather::Bursts, SettingsError> {
        let good = positive("bursts.good-ms", self.good_ms)?;
        let bad = positive("bursts.bad-ms", self.bad_ms)?;
        let cell = Span::from_units(1.0 / (1.0 / good + 1.0 / bad) / 1e3);
        let loss = probability("bursts.loss", self.loss)?;
        Ok(weather::Bursts { cell: cell.max(Span(1)), bad: bad / (good + bad), loss })
    }
}

impl Delay {
    fn check(&self) -> Result<(), SettingsError> {
        match *self {
            Self::None => Ok(()),
            Self::Uniform { min_ms, max_ms } => {
                span("delay.min-ms", min_ms, MILLIS)?;
                span("delay.max-ms", max_ms, MILLIS)?;
                in_order("delay.min-ms", min_ms, "delay.max-ms", max_ms)
            }
            Self::Exponential { mean_ms } => span("delay.mean-ms", mean_ms, MILLIS).map(drop),
        }
    }

    /// The sample that belongs to a uniform number in [0, 1).
    pub(super) fn sample(&self, chance: f64) -> Span {
        match *self {
            Self::None => Span::ZERO,
            Self::Uniform { min_ms, max_ms } => Span::from_units((min_ms + chance * (max_ms - min_ms)) / 1e3),
            Self::Exponential { mean_ms } => Span::from_units(-mean_ms * libm::log(1.0 - chance) / 1e3),
        }
    }
}

impl Power {
    fn check(&self) -> Result<(), SettingsError> {
        not_negative("power.transmit-w", self.transmit_w)?;
        not_negative("power.receive-w", self.receive_w)?;
        not_negative("power.idle-w", self.idle_w).map(drop)
    }
}

pub(super) fn finite(name: &'static str, value: f64) -> Result<f64, SettingsError> {
    if value.is_finite() { Ok(value) } else { Err(SettingsError::NotFinite { name, value }) }
}

pub(super) fn positive(name: &'static str, value: f64) -> Result<f64, SettingsError> {
    if value > 0.0 { finite(name, value) } else { Err(SettingsError::NotPositive { name, value }) }
}

pub(super) fn not_negative(name: &'static str, value: f64) -> Result<f64, SettingsError> {
    if value >= 0.0 { finite(name, value) } else { Err(SettingsError::Negative { name, value }) }
}

pub(super) fn at_least(name: &'static str, least: f64, value: f64) -> Result<f64, SettingsError> {
    if value >= least { finite(name, value) } else { Err(SettingsError::TooSmall { name, value, least }) }
}

/// How far a signal matters.
pub(super) fn reach(metres: f64) -> Result<f64, SettingsError> {
    if metres <= REACH_MAX { Ok(metres) } else { Err(SettingsError::TooFar(metres)) }
}

/// How many of them are a second.
const MILLIS: f64 = 1e3;
const MICROS: f64 = 1e6;

fn span(name: &'static str, value: f64, per_second: f64) -> Result<Span, SettingsError> {
    let (value, most) = (not_negative(name, value)?, SECONDS_MAX * per_second);
    if value <= most {
        Ok(Span::from_units(value / per_second))
    } else {
        Err(SettingsError::TooLarge { name, value, most })
    }
}

fn probability(name: &'static str, value: f64) -> Result<f64, SettingsError> {
    if (0.0..=1.0).contains(&value) { Ok(value) } else { Err(SettingsError::NoProbability { name, value }) }
}

pub(super) fn in_order(small: &'static str, a: f64, large: &'static str, b: f64) -> Result<(), SettingsError> {
    if a <= b { Ok(()) } else { Err(SettingsError::Order { small, large }) }
}

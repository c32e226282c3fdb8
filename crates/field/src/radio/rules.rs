//! Settings that have been read and found sound, in the units the machinery counts in.

use driftlock_net::Span;

use super::propagation::Medium;
use super::settings::{Delay, JammedSenses, Power};
use super::weather::Bursts;

/// The radio of all nodes, checked: see [`super::Settings::rules`].
#[derive(Clone, Debug)]
pub struct Rules {
    pub(super) medium: Medium,
    /// Given if every frame has the medium for itself; then nothing of `csma` counts.
    pub(super) latency: Option<Span>,
    pub(super) csma: CsmaRules,
    pub(super) loss: f64,
    pub(super) weather_slot: Span,
    pub(super) bursts: Option<Bursts>,
    pub(super) delay: Delay,
    pub(super) duplicated: f64,
    pub(super) duplicates: bool,
    pub(super) queue_max: usize,
    pub(super) jammed_senses: JammedSenses,
    pub(super) power: Power,
}

/// The numbers of listen before talk.
#[derive(Clone, Copy, Debug)]
pub(super) struct CsmaRules {
    /// A bit of a unicast frame, in nanoseconds.
    pub bit: f64,
    /// A bit of a broadcast or an acknowledgement, in nanoseconds.
    pub basic_bit: f64,
    pub preamble: Span,
    pub overhead_bytes: u32,
    pub ack_bytes: u32,
    pub slot: Span,
    pub sifs: Span,
    pub difs: Span,
    pub turnaround: Span,
    pub cw_min: u32,
    pub cw_max: u32,
    pub retries: u32,
}

impl Rules {
    /// How long a frame of so many bytes of the caller is on the air.
    pub fn airtime(&self, bytes: u32, unicast: bool) -> Span {
        if self.latency.is_some() { Span::ZERO } else { self.csma.airtime(bytes, unicast) }
    }

    /// How far a frame is heard, if that is a distance.
    pub fn range(&self) -> Option<f64> {
        match self.medium {
            Medium::UnitDisk { range, .. } => Some(range),
            Medium::LogDistance(_) => None,
        }
    }

    /// How far from its sender a signal can matter at all.
    pub fn reach(&self) -> f64 {
        self.medium.reach()
    }
}

impl CsmaRules {
    pub(super) fn airtime(&self, bytes: u32, unicast: bool) -> Span {
        self.preamble + bits(u64::from(self.overhead_bytes) + u64::from(bytes), self.bit_of(unicast))
    }

    pub(super) fn bit_of(&self, unicast: bool) -> f64 {
        if unicast { self.bit } else { self.basic_bit }
    }

    pub(super) fn ack_airtime(&self) -> Span {
        self.preamble + bits(u64::from(self.ack_bytes), self.basic_bit)
    }

    /// How long stations wait that could not decode what they heard: an acknowledgement that they may not hear passes
    /// meanwhile. It is also how long a sender waits for one, so that all begin to count slots at the same moment after
    /// a collision.
    pub(super) fn eifs(&self) -> Span {
        self.sifs + self.ack_airtime() + self.difs
    }

    /// The contention window after so many transmissions of a frame.
    pub(super) fn window(&self, transmissions: u32) -> u32 {
        let doubled = (u64::from(self.cw_min) + 1) << transmissions.min(31);
        u32::try_from(doubled - 1).unwrap_or(u32::MAX).min(self.cw_max)
    }
}

fn bits(bytes: u64, bit: f64) -> Span {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // saturates, as it should
    let nanos = (bytes as f64 * 8.0 * bit).round() as u64;
    Span(nanos)
}

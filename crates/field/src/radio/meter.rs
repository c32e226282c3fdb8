//! What a radio has done.

use std::ops::AddAssign;

use driftlock_net::{Span, Time};
use serde::Serialize;

use super::settings::Power;

/// Counts of one node, or of all together.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Meter {
    /// Transmissions of the caller's frames, repetitions included.
    pub data_sent: u64,
    /// Transmissions of acknowledgements.
    pub acks_sent: u64,
    /// Receptions of frames that were for this node, repetitions included.
    pub data_received: u64,
    /// Receptions of acknowledgements.
    pub acks_received: u64,
    /// Bytes of the caller's frames in all transmissions. Headers and acknowledgements are not counted.
    pub bytes_sent: u64,
    /// Bytes of the caller's frames in all receptions.
    pub bytes_received: u64,
    /// Transmissions of a unicast frame after its first.
    pub retries: u64,
    /// Unicast frames that were given up.
    pub failed: u64,
    /// Frames for which there was no place in the queue, or whose sender was down.
    pub dropped: u64,
    /// Frames for this node that others' transmissions spoiled.
    pub collisions: u64,
    /// Frames for this node that the weather or the noise spoiled.
    pub faded: u64,
    /// Frames for this node that came while it was sending, jammed, down or absent.
    pub missed: u64,
    /// For how long it sent, in nanoseconds.
    pub transmitting_ns: u64,
    /// For how long the medium was busy around it while it did not send, in nanoseconds.
    pub receiving_ns: u64,
    /// For how long nothing was to be heard, in nanoseconds.
    pub idle_ns: u64,
}

/// What a radio is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Mode {
    Off,
    Transmitting,
    Receiving,
    Idle,
}

/// How long a radio has been doing what.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spans {
    /// Until when this has been kept.
    until: Time,
    pub transmitting_ns: u64,
    pub receiving_ns: u64,
    pub idle_ns: u64,
}

impl Meter {
    /// A proxy for the energy spent: time in each state times what the radio draws in it.
    pub fn joules(&self, power: &Power) -> f64 {
        let seconds = |nanos: u64| Span(nanos).units();
        seconds(self.transmitting_ns) * power.transmit_w
            + seconds(self.receiving_ns) * power.receive_w
            + seconds(self.idle_ns) * power.idle_w
    }
}

impl Spans {
    /// The radio has done this until now.
    pub(super) fn spend(&mut self, now: Time, mode: Mode) {
        let span = now.since(self.until).0;
        self.until = self.until.max(now);
        match mode {
            Mode::Off => {}
            Mode::Transmitting => self.transmitting_ns += span,
            Mode::Receiving => self.receiving_ns += span,
            Mode::Idle => self.idle_ns += span,
        }
    }
}

impl AddAssign for Meter {
    fn add_assign(&mut self, other: Self) {
        self.data_sent += other.data_sent;
        self.acks_sent += other.acks_sent;
        self.data_received += other.data_received;
        self.acks_received += other.acks_received;
        self.bytes_sent += other.bytes_sent;
        self.bytes_received += other.bytes_received;
        self.retries += other.retries;
        self.failed += other.failed;
        self.dropped += other.dropped;
        self.collisions += other.collisions;
        self.faded += other.faded;
        self.missed += other.missed;
        self.transmitting_ns += other.transmitting_ns;
        self.receiving_ns += other.receiving_ns;
        self.idle_ns += other.idle_ns;
    }
}

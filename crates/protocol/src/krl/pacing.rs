//! How often a node may turn its links when that leads nowhere.
//!
//! The paper allows partitions but does not say what happens in a part without a token, where everybody raises its
//! height over everybody else for ever, or in a part where all hold tokens, where everybody lowers it for ever; both as
//! fast as messages travel. Here a node that has turned its links [`PATIENCE`] times, while no token came or went and
//! none of its own links changed, waits before it does so again, and longer each time. In a part that has both holders
//! and others the reversals end long before that.

use core::time::Duration;

use super::{Krl, Timer, repair};
use crate::Out;

/// So many reversals in a row are made at once.
pub const PATIENCE: u16 = 64;
/// The first pause.
pub const PAUSE: Duration = Duration::from_secs(20);
/// The pause doubles so many times.
const DOUBLINGS: u16 = 3;

/// How a node stands with its reversals.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Pace {
    /// Reversals since something else happened.
    reversals: u16,
    /// Whether it waits for the timer before the next one.
    pub(super) paused: bool,
}

impl Krl {
    /// Whether a reversal has to wait. If so, the timer is armed.
    pub(super) fn must_pause(&mut self, out: &mut Out<Self>) -> bool {
        if !self.repairs.has(repair::PACE) {
            return false;
        }
        if self.pace.reversals < PATIENCE {
            self.pace.reversals += 1;
            return false;
        }
        if !self.pace.paused {
            self.pace.paused = true;
            out.clause("pause");
            out.arm(Timer::Pace, PAUSE * (1 << (self.pace.reversals - PATIENCE)));
        }
        true
    }

    /// A token came or went, or a link changed: reversals may lead somewhere again. Tells whether one had to wait.
    pub(super) fn reset_pace(&mut self, out: &mut Out<Self>) -> bool {
        let paused = self.pace.paused;
        self.pace = Pace::default();
        if paused {
            out.disarm(Timer::Pace);
        }
        paused
    }

    /// The pause is over: the reversal that had to wait is made, if it is still needed.
    pub(super) fn on_pace(&mut self, out: &mut Out<Self>) {
        let reversals = self.pace.reversals;
        self.pace = Pace::default();
        self.reverse_if_needed(out);
        self.pace.reversals = (reversals + 1).min(PATIENCE + DOUBLINGS);
    }

    /// The reversal that had to wait, if it is still needed; else the request that waited with it.
    pub(super) fn reverse_if_needed(&mut self, out: &mut Out<Self>) {
        if self.token_holder() {
            if self.has_no_higher_neighbour() {
                self.lower_height(out);
            }
        } else if self.has_no_lower_neighbour() {
            self.raise_height(out);
        } else if self.must_reroute() {
            self.forward_request(out);
        }
    }
}

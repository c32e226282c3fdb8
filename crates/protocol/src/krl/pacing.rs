//! What a node does when its reversals lead nowhere.
//!
//! The paper allows partitions but does not say what happens in a part without a token, where everybody raises its
//! height over everybody else for ever, or in a part where all hold tokens, where everybody lowers it for ever; both as
//! fast as messages travel. When the parts meet again, their heights may be thousands of levels apart, and partial
//! reversal, which climbs one level above the lowest neighbour, takes as many steps.
//!
//! Here a node that has reversed links [`Limits::patience`] times, while no token came or went and none of its own links changed,
//! reverses *all* its links at once, which makes up for any difference of levels; after as many of those it pauses before
//! each further one. In a part that has both holders and others the reversals end long before that.

use core::time::Duration;

use super::{Krl, Timer, repair};
use crate::Out;

/// How long a node goes on before it slows down.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Limits {
    /// So many partial reversals in a row are made at once, and after them so many full ones.
    pub patience: u16,
    /// The pause doubles so many times.
    pub doublings: u16,
}

impl Limits {
    /// What every world but the checker goes by.
    pub const USUAL: Self = Self { patience: 32, doublings: 3 };
    /// One reversal of each sort, then pauses of equal length.
    pub const SMALL: Self = Self { patience: 1, doublings: 0 };
}

/// The first pause.
pub const PAUSE: Duration = Duration::from_secs(20);

/// How a node stands with its reversals.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Pace {
    /// Reversals since something else happened.
    reversals: u16,
    /// Whether it waits for the timer before the next one.
    pub(super) paused: bool,
}

/// How far a reversal goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reversal {
    /// As in the paper: some links turn.
    Partial,
    /// All links turn.
    Full,
}

impl Krl {
    /// The reversal that may be made now. If none, the timer is armed.
    pub(super) fn next_reversal(&mut self, out: &mut Out<Self>) -> Option<Reversal> {
        if !self.repairs.has(repair::PACE) {
            return Some(Reversal::Partial);
        }
        if self.pace.reversals < 2 * self.limits.patience {
            self.pace.reversals += 1;
            return Some(if self.pace.reversals <= self.limits.patience { Reversal::Partial } else { Reversal::Full });
        }
        if !self.pace.paused {
            self.pace.paused = true;
            out.clause("pause");
            out.arm(Timer::Pace, PAUSE * (1 << (self.pace.reversals - 2 * self.limits.patience)));
        }
        None
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

    /// The pause is over.
    pub(super) fn on_pace(&mut self, out: &mut Out<Self>) {
        let reversals = self.pace.reversals;
        self.pace = Pace { reversals: 2 * self.limits.patience - 1, paused: false };
        self.reverse_if_needed(out);
        self.pace.reversals = (reversals + 1).min(2 * self.limits.patience + self.limits.doublings);
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

//! What a node does when its reversals lead nowhere.
//!
//! Where the network is partitioned, everybody in a part without a token raises its height over everybody else for ever, and
//! in a part where all hold tokens everybody lowers it for ever; both as fast as messages travel. The papers do not say
//! what to do about it. When the parts meet again, their heights may be thousands of levels apart, and partial
//! reversal, which climbs one level above the lowest neighbour, takes as many steps.
//!
//! Here a node that has reversed links [`Limits::patience`] times, while no token came or went and none of its own links changed,
//! reverses *all* its links at once, which takes it over whatever its neighbours have climbed to; after as many of those it pauses, and
//! after the pause it may make as many again. One at a time would not do: a neighbour whose links have just changed begins with
//! partial reversals, and would wait for a pause of this node before each of them.

use core::time::Duration;

use serde::{Deserialize, Serialize};

use super::Dag;
use crate::Outbox;

/// The timer of whoever reverses links; the papers have none.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Timer {
    /// The pause before the next reversal is over.
    Pace,
}

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
pub(crate) struct Pace {
    /// Reversals since something else happened; after a pause, partial ones are taken for made.
    reversals: u16,
    /// Pauses since then, as far as they make the next one longer.
    pauses: u16,
    /// Whether it waits for the timer before the next one.
    pub(crate) paused: bool,
}

/// How far a reversal goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reversal {
    /// As in the paper: some links turn.
    Partial,
    /// All links turn.
    Full,
}

impl Dag {
    /// The reversal that may be made now. If none, the timer is armed.
    pub(super) fn next_reversal<M: Clone>(&mut self, out: &mut Outbox<M, Timer>) -> Option<Reversal> {
        let Some(Limits { patience, .. }) = self.limits else { return Some(Reversal::Partial) };
        if self.pace.reversals < 2 * patience {
            self.pace.reversals += 1;
            return Some(if self.pace.reversals <= patience { Reversal::Partial } else { Reversal::Full });
        }
        if !self.pace.paused {
            self.pace.paused = true;
            out.clause("pause");
            out.arm(Timer::Pace, PAUSE * (1 << self.pace.pauses));
        }
        None
    }

    /// A token came or went, or a link changed: reversals may lead somewhere again. Tells whether one had to wait.
    pub(crate) fn reset_pace<M: Clone>(&mut self, out: &mut Outbox<M, Timer>) -> bool {
        let paused = self.pace.paused;
        self.pace = Pace::default();
        if paused {
            out.disarm(Timer::Pace);
        }
        paused
    }

    /// The pause is over: reversals may be made again.
    pub(crate) fn after_pause(&mut self) {
        let Some(Limits { patience, doublings }) = self.limits else { return };
        let pauses = (self.pace.pauses + 1).min(doublings);
        self.pace = Pace { reversals: patience, pauses, paused: false };
    }

    /// Whatever was needed after the pause has been done. If nothing was, the next need begins with another pause.
    pub(crate) fn settle_pace(&mut self) {
        let Some(Limits { patience, .. }) = self.limits else { return };
        if self.pace.reversals == patience && !self.pace.paused {
            self.pace.reversals = 2 * patience;
        }
    }
}

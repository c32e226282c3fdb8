//! Effects as data: what a protocol wants done after an input.

use alloc::vec::{Drain, Vec};
use core::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{Demand, Grant, NodeId};

/// One effect of a step, in the order in which the protocol asked for it.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect<M, T> {
    /// Send `message` to the neighbour `to`.
    Send {
        /// The receiver.
        to: NodeId,
        /// The content.
        message: M,
        /// Whether it repeats the send before it for one more receiver. A radio reaches both with one transmission.
        shared: bool,
    },
    /// Send `message` to every other member of the neighbourhood.
    Broadcast {
        /// The content.
        message: M,
    },
    /// Call back with `timer` after this long, unless it is disarmed or armed anew before.
    Arm {
        /// Which timer.
        timer: T,
        /// Relative: a protocol knows no clock.
        after: Duration,
    },
    /// Forget the timer.
    Disarm {
        /// Which timer.
        timer: T,
    },
    /// The application may use these units now.
    Grant(Grant),
    /// The application must stop using its units at once, and waits again, for this.
    Revoke(Demand),
    /// The node has put its affairs in order and is no longer a member of the neighbourhood.
    Depart,
    /// The step executed this clause of the paper's text. Recorded only where it is read.
    Clause(&'static str),
}

/// The timers of a protocol that arms none: a world knows by this type that time means nothing to it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Never {}

/// The effects of one step, in a buffer that is used again and again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outbox<M, T> {
    effects: Vec<Effect<M, T>>,
    clauses: bool,
}

impl<M: Clone, T> Outbox<M, T> {
    /// An empty outbox that ignores clause marks.
    pub fn new() -> Self {
        Self { effects: Vec::new(), clauses: false }
    }

    /// An empty outbox that records clause marks among the effects.
    pub fn with_clauses() -> Self {
        Self { effects: Vec::new(), clauses: true }
    }

    /// Sends one message.
    pub fn send(&mut self, to: NodeId, message: M) {
        self.effects.push(Effect::Send { to, message, shared: false });
    }

    /// Sends the same message to several neighbours; on a radio this is one transmission.
    pub fn multicast(&mut self, receivers: impl IntoIterator<Item = NodeId>, message: &M) {
        let mut shared = false;
        for to in receivers {
            self.effects.push(Effect::Send { to, message: message.clone(), shared });
            shared = true;
        }
    }

    /// Sends a message to every other member that is in the neighbourhood now; on a radio this is one transmission. The
    /// sender does not hear it.
    pub fn broadcast(&mut self, message: M) {
        self.effects.push(Effect::Broadcast { message });
    }

    /// Arms a timer.
    pub fn arm(&mut self, timer: T, after: Duration) {
        self.effects.push(Effect::Arm { timer, after });
    }

    /// Disarms a timer.
    pub fn disarm(&mut self, timer: T) {
        self.effects.push(Effect::Disarm { timer });
    }

    /// Lets the application in.
    pub fn grant(&mut self, grant: Grant) {
        self.effects.push(Effect::Grant(grant));
    }

    /// Takes the application's units away; it waits again, for this.
    pub fn revoke(&mut self, demand: Demand) {
        self.effects.push(Effect::Revoke(demand));
    }

    /// Leaves the neighbourhood.
    pub fn depart(&mut self) {
        self.effects.push(Effect::Depart);
    }

    /// Marks a clause of the paper as executed.
    pub fn clause(&mut self, name: &'static str) {
        if self.clauses {
            self.effects.push(Effect::Clause(name));
        }
    }

    /// The effects so far.
    pub fn effects(&self) -> &[Effect<M, T>] {
        &self.effects
    }

    /// Hands the effects out and leaves the buffer empty.
    pub fn drain(&mut self) -> Drain<'_, Effect<M, T>> {
        self.effects.drain(..)
    }

    /// Takes back the first grant at or after `start`, if there is one.
    pub(crate) fn withdraw_grant(&mut self, start: usize) -> Option<Grant> {
        let offset = self.effects[start..].iter().position(|effect| matches!(effect, Effect::Grant(_)))?;
        match self.effects.remove(start + offset) {
            Effect::Grant(grant) => Some(grant),
            _ => None,
        }
    }
}

impl<M: Clone, T> Default for Outbox<M, T> {
    fn default() -> Self {
        Self::new()
    }
}

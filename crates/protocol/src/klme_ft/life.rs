//! What a member stores, and how it comes back after it was killed.
//!
//! It stores what it has promised and who keeps copies. That changes when a leader is elected or a copy holder is replaced, so
//! that nothing is written on the way of a grant. Everything else it learns anew: from the next beat, or because its time is
//! over. docs/guarantees.md says why that is enough.

use alloc::vec::Vec;
use core::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Copy, Earlier, KlmeFt, Seal, Timer, Usage, Variant, guard};
use crate::tenure::{LeaderNo, Member, Round, Version};
use crate::{Charter, Demand, Grant, NodeId, Out, Permit, Permits, Protocol, Stay};

#[cfg(test)]
mod tests;

/// What a member stores.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Durable {
    /// While it is in a neighbourhood.
    pub stay: Option<Stay>,
    /// The greatest that it has voted for or followed.
    pub number: Option<LeaderNo>,
    /// What it knows of the copy holders.
    pub holding: Option<Holding>,
}

/// What a copy of the token says about those who keep one.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Holding {
    /// Of the leader that has announced them.
    pub number: LeaderNo,
    /// Of the set.
    pub version: Version,
    /// That leader.
    pub leader: NodeId,
    /// The stay of whoever founded the token.
    pub founded: Stay,
    /// They.
    pub holders: Vec<Member>,
}

impl From<&Copy> for Holding {
    fn from(copy: &Copy) -> Self {
        let Copy { number, version, leader, founded, holders, .. } = copy.clone();
        Self { number, version, leader, founded, holders }
    }
}

/// The round is none at all, under which nothing can be claimed.
impl From<Holding> for Copy {
    fn from(Holding { number, version, leader, founded, holders }: Holding) -> Self {
        Self { number, version, round: Round::default(), leader, founded, holders, queue: Vec::new() }
    }
}

impl KlmeFt {
    pub(super) fn to_store(&self) -> Durable {
        let mut holding = self.copy.as_ref().map(Holding::from);
        if let Some(holding) = holding.as_mut().filter(|_| !self.keeps(guard::STORE_VERSION)) {
            holding.version = Version::default();
        }
        Durable {
            stay: self.stay,
            number: self.promise.number().filter(|_| self.keeps(guard::STORE_NUMBER)),
            holding: holding.filter(|_| self.keeps(guard::STORE_HOLDERS)),
        }
    }

    /// In its next life it is bound as if it had just acknowledged a beat, since it does not know when it did. It rests: whoever
    /// wants something wakes it.
    pub(super) fn restored(me: NodeId, charter: &Charter<Variant>, durable: Durable, out: &mut Out<Self>) -> Self {
        let Durable { stay, number, holding } = durable;
        let mut node = Self { stay, copy: holding.map(Copy::from), ..Self::blank(me, charter) };
        if stay.is_none() {
            return node;
        }
        let times = node.variant.times;
        // It may have offered to keep a copy, and have been chosen meanwhile.
        (node.asked, node.rests) = (node.copy.is_some(), true);
        if let Some(number) = number {
            node.promise.follow(number);
        }
        if node.keeps(guard::BEGIN_BOND_ANEW) {
            out.arm(Timer::Silence, times.bond());
        } else {
            node.promise.loosen();
        }
        if node.keeps(guard::QUIET) {
            node.earlier = Earlier::MayBeInside;
            out.arm(Timer::Quiet, times.lease);
        }
        node
    }

    /// Whether this is the node's own again, which an application of an earlier life shows. The leader hears so under the next
    /// beat. If it does not lend the unit to this node any more, the lease is not renewed.
    pub(super) fn is_resumed(&mut self, grant: Grant, left: Duration, out: &mut Out<Self>) -> bool {
        let is_idle = matches!(self.usage, Usage::Idle) && !self.leaving;
        let is_in_time = self.is_quiet() && left <= self.variant.times.lease;
        let Some((permit, seal)) = self.recognise(grant).filter(|_| is_idle && is_in_time) else { return false };
        // It wants something now: if no leader is heard until its bond is over, it does something about it.
        (self.earlier, self.rests) = (Earlier::Over, false);
        out.disarm(Timer::Quiet);
        out.arm(Timer::Lease(false), left);
        self.usage = Usage::Using { demand: Demand::ONE, permit, seal, lease: false, claimed: false };
        true
    }

    /// What was granted, if it can be: one unit of this token, by a leader of which this node knows.
    fn recognise(&self, Grant { permits, fence }: Grant) -> Option<(Permit, Seal)> {
        let seal = Seal::of(fence, self.copy.as_ref()?.founded)?;
        let number = self.promise.number()?;
        let is_known = seal < Seal::first(number.next(number.stay));
        let is_one_unit = permits.count() == 1 && permits.without(Permits::first(self.k)).is_empty();
        permits.iter().next().filter(|_| is_known && is_one_unit).map(|permit| (permit, seal))
    }

    /// No application of an earlier life uses a unit any more. What it wants it claims under the next beat; if there may be none,
    /// it asks for one. The leader lends nothing on account of that, so that it does not matter which of two timers comes first.
    pub(super) fn on_quiet_over(&mut self, out: &mut Out<Self>) {
        self.earlier = Earlier::Over;
        if self.leaving {
            self.take_leave(out);
        } else if matches!(self.usage, Usage::Waiting { .. }) && (self.rests || self.copy.is_none()) {
            self.knock(out);
        }
    }
}

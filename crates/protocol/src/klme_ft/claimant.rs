//! What every member does: it follows the leader, and claims what its application wants.

#[cfg(test)]
mod tests;

use super::{Copy, KlmeFt, Message, Seal, Timer, Usage, Want, guard};
use crate::tenure::Round;
use crate::{Demand, Grant, NodeId, Out, Permit, Permits};

/// *A*, *B*, *E* and *F* of the paper.
impl KlmeFt {
    /// *B*: node i is requesting.
    pub(super) fn on_request_cs(&mut self, demand: Demand, out: &mut Out<Self>) {
        out.clause("B");
        self.usage = Usage::Waiting { demand, claimed: false };
        if self.stay.is_none() || self.leaving || self.is_quiet() {
            return;
        }
        let me = self.me();
        match &mut self.books {
            Some(books) => {
                books.enqueue(me, 0);
                if self.rests {
                    self.begin_round(false, out);
                } else {
                    self.serve(out);
                }
            }
            None if self.rests || self.copy.is_none() => self.knock(out),
            None => self.claim(out),
        }
    }

    /// *F*: node i exits from CS.
    pub(super) fn on_release_cs(&mut self, out: &mut Out<Self>) {
        out.clause("F");
        if let Usage::Using { seal, .. } = self.usage {
            self.give_up(seal, out);
        }
        self.usage = Usage::Idle;
        self.serve(out);
    }

    /// The leader may lend the unit to somebody else.
    fn give_up(&mut self, seal: Seal, out: &mut Out<Self>) {
        out.disarm(Timer::Lease(false));
        out.disarm(Timer::Lease(true));
        if let Some(books) = &mut self.books {
            books.reclaim(|loan| loan.allocation.seal == seal);
        } else {
            self.tell_leader(Want::Free(seal), out);
        }
    }

    /// *A*: on receiving `Leader_info`.
    pub(super) fn on_beat(&mut self, from: NodeId, copy: Copy, wanted: bool, rests: bool, out: &mut Out<Self>) {
        if copy.leader != from {
            return;
        }
        if self.copy.as_ref().is_some_and(|own| copy.age() <= own.age()) {
            return;
        }
        if !self.promise.may_follow(copy.number) && self.keeps(guard::PROMISE) {
            // It has voted for a candidate that came to nothing, or is itself late. Only under a greater number can it follow.
            if let Some(number) = self.promise.number() {
                out.send(from, Message::Ahead { number });
            }
            return;
        }
        out.clause("A");
        self.resign(out);
        self.promise.follow(copy.number);
        self.copy = Some(copy);
        self.asked = wanted;
        let has_to_say = self.leaving || !(matches!(self.usage, Usage::Idle) || self.is_quiet());
        // A node that wants something must not rest: what it says may be lost.
        self.rests = rests && !(has_to_say && self.keeps(guard::WANTS_NO_REST));
        out.arm(Timer::Silence, self.variant.times.bond());
        if has_to_say || (!rests && (wanted || self.is_holder())) {
            self.claim(out);
        }
    }

    /// Claims what it wants or uses under the latest beat, from which on its lease counts, and acknowledges the beat.
    pub(super) fn claim(&mut self, out: &mut Out<Self>) {
        let lease = self.variant.times.lease;
        let claims_nothing = self.leaving || self.is_quiet();
        let want = match &mut self.usage {
            _ if claims_nothing => Want::Nothing,
            Usage::Idle => Want::Nothing,
            Usage::Waiting { claimed, .. } => {
                *claimed = true;
                out.arm(Timer::Lease(false), lease);
                Want::Wait
            }
            Usage::Using { seal, lease: in_force, claimed, .. } => {
                *claimed = true;
                out.arm(Timer::Lease(!*in_force), lease);
                Want::Hold(*seal)
            }
        };
        self.tell_leader(want, out);
    }

    /// Wakes everybody: nobody knows whether there is a leader.
    pub(super) fn knock(&mut self, out: &mut Out<Self>) {
        self.rests = false;
        let want = if self.leaving { Want::Nothing } else { Want::Wait };
        out.broadcast(self.claim_of(want));
        out.arm(Timer::Silence, self.variant.times.bond());
    }

    fn tell_leader(&self, want: Want, out: &mut Out<Self>) {
        if let Some(copy) = self.copy.as_ref().filter(|copy| copy.leader != self.id) {
            out.send(copy.leader, self.claim_of(want));
        }
    }

    pub(super) fn claim_of(&self, want: Want) -> Message {
        let (number, round) = match &self.copy {
            Some(copy) => (Some(copy.number), copy.round),
            None => (None, Round::default()),
        };
        Message::Claim { stay: self.me().stay, number, round, want, leaving: self.leaving }
    }

    /// *E*: on receiving `Per_grant`, for a claim under the latest beat.
    pub(super) fn on_grant(&mut self, permit: Permit, seal: Seal, renews: bool, out: &mut Out<Self>) {
        match &mut self.usage {
            Usage::Waiting { demand, claimed: true } if !renews => {
                out.clause("E");
                let demand = *demand;
                self.enter(demand, permit, seal, out);
            }
            Usage::Using { seal: own, lease, claimed: claimed @ true, .. } if renews && *own == seal => {
                out.clause("E.renew");
                out.disarm(Timer::Lease(*lease));
                (*lease, *claimed) = (!*lease, false);
            }
            _ => return,
        }
        if let Usage::Using { lease, .. } = self.usage
            && !self.keeps(guard::LEASE_FROM_CLAIM)
        {
            out.arm(Timer::Lease(lease), self.variant.times.lease);
        }
    }

    /// Lets the application in. The lease counts already.
    pub(super) fn enter(&mut self, demand: Demand, permit: Permit, seal: Seal, out: &mut Out<Self>) {
        let Some(founded) = self.copy.as_ref().map(|copy| copy.founded) else { return };
        self.usage = Usage::Using { demand, permit, seal, lease: false, claimed: false };
        out.grant(Grant { permits: Permits::single(permit), fence: seal.fence(founded) });
    }

    /// What was granted for a claim is over.
    pub(super) fn on_lease_over(&mut self, which: bool, out: &mut Out<Self>) {
        match &mut self.usage {
            Usage::Using { lease, .. } if *lease == which => {
                self.lose_unit(out);
                if !self.keeps(guard::NOT_ON_TIMER) {
                    self.serve(out);
                }
            }
            Usage::Using { claimed, .. } | Usage::Waiting { claimed, .. } => *claimed = false,
            Usage::Idle => {}
        }
    }

    /// If the application uses a unit, it must stop, and waits again. Nobody is served at once: if this comes from a timer, the one
    /// that ends the right to grant may be due as well.
    pub(super) fn lose_unit(&mut self, out: &mut Out<Self>) {
        let Usage::Using { demand, seal, .. } = self.usage else { return };
        out.clause("revoke");
        out.revoke(demand);
        self.usage = Usage::Waiting { demand, claimed: false };
        let me = self.me();
        if let Some(books) = &mut self.books
            && !self.leaving
        {
            books.enqueue(me, 0);
        }
        self.give_up(seal, out);
    }
}

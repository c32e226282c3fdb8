//! What every member does: it follows the leader, and claims what its application wants.

#[cfg(test)]
mod tests;

use super::{Copy, Desk, KlmeFt, Message, Seal, Timer, Usage, Want, guard};
use crate::tenure::Chair;
use crate::{Demand, Grant, NodeId, Out, Permit, Permits};

/// *A*, *B* and *F* of the paper.
impl KlmeFt {
    /// *B*: node i is requesting.
    pub(super) fn on_request_cs(&mut self, demand: Demand, out: &mut Out<Self>) {
        out.clause("B");
        let Self { chair, desk } = self;
        desk.usage = Usage::Waiting { demand, claimed: false };
        if chair.stay.is_none() || chair.leaving || desk.is_quiet() {
            return;
        }
        match &mut desk.books {
            Some(books) => {
                books.enqueue(chair.me(), 0);
                if chair.rests {
                    chair.begin_round(false, desk, out);
                } else {
                    desk.lend(chair, out);
                }
            }
            None if chair.knows_no_leader() => chair.knock(desk, out),
            None => desk.claim(chair, out),
        }
    }

    /// *F*: node i exits from CS.
    pub(super) fn on_release_cs(&mut self, out: &mut Out<Self>) {
        out.clause("F");
        if let Usage::Using { seal, .. } = self.desk.usage {
            self.desk.give_up(seal, &self.chair, out);
        }
        self.desk.usage = Usage::Idle;
        self.desk.lend(&self.chair, out);
    }

    /// *A*: on receiving `Leader_info`.
    pub(super) fn on_beat(&mut self, from: NodeId, copy: Copy, wanted: bool, rests: bool, out: &mut Out<Self>) {
        let Self { chair, desk } = self;
        if !chair.on_beat(from, copy, wanted, desk, out) {
            return;
        }
        let has_to_say = chair.leaving || !(matches!(desk.usage, Usage::Idle) || desk.is_quiet());
        // A node that wants something must not rest: what it says may be lost.
        chair.rests = rests && !(has_to_say && desk.keeps(guard::WANTS_NO_REST));
        if has_to_say || (!rests && (wanted || chair.is_holder())) {
            desk.claim(chair, out);
        }
    }
}

/// What it says to the leader, and *E* of the paper.
impl Desk {
    /// The leader may lend the unit to another member.
    fn give_up(&mut self, seal: Seal, chair: &Chair<Self>, out: &mut Out<KlmeFt>) {
        out.disarm(Timer::Lease(false));
        out.disarm(Timer::Lease(true));
        if let Some(books) = &mut self.books {
            books.reclaim(|loan| loan.allocation.seal == seal);
        } else {
            tell_leader(chair, Want::Free(seal), out);
        }
    }

    /// Claims what it wants or uses under the latest beat, from which on its lease counts, and acknowledges the beat.
    pub(super) fn claim(&mut self, chair: &Chair<Self>, out: &mut Out<KlmeFt>) {
        let lease = self.variant.times.lease;
        let claims_nothing = chair.leaving || self.is_quiet();
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
        tell_leader(chair, want, out);
    }

    /// *E*: on receiving `Per_grant`, for a claim under the latest beat.
    pub(super) fn on_grant(
        &mut self,
        (permit, seal): (Permit, Seal),
        renews: bool,
        chair: &Chair<Self>,
        out: &mut Out<KlmeFt>,
    ) {
        match &mut self.usage {
            Usage::Waiting { demand, claimed: true } if !renews => {
                out.clause("E");
                let demand = *demand;
                self.enter(demand, (permit, seal), chair, out);
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
    pub(super) fn enter(
        &mut self,
        demand: Demand,
        (permit, seal): (Permit, Seal),
        chair: &Chair<Self>,
        out: &mut Out<KlmeFt>,
    ) {
        let Some(generation) = chair.copy.as_ref().map(|copy| copy.generation) else { return };
        self.usage = Usage::Using { demand, permit, seal, lease: false, claimed: false };
        out.grant(Grant { permits: Permits::single(permit), fence: seal.fence(generation) });
    }

    /// What was granted for a claim is over.
    pub(super) fn on_lease_over(&mut self, which: bool, chair: &Chair<Self>, out: &mut Out<KlmeFt>) {
        match &mut self.usage {
            Usage::Using { lease, .. } if *lease == which => {
                self.lose_unit(chair, out);
                if !self.keeps(guard::NOT_ON_TIMER) {
                    self.lend(chair, out);
                }
            }
            Usage::Using { claimed, .. } | Usage::Waiting { claimed, .. } => *claimed = false,
            Usage::Idle => {}
        }
    }

    /// If the application uses a unit, it must stop, and waits again. No waiter is served at once: if this comes from a
    /// timer, the one that ends the right to grant may be due as well.
    pub(super) fn lose_unit(&mut self, chair: &Chair<Self>, out: &mut Out<KlmeFt>) {
        let Usage::Using { demand, seal, .. } = self.usage else { return };
        out.clause("revoke");
        out.revoke(demand);
        self.usage = Usage::Waiting { demand, claimed: false };
        if let Some(books) = &mut self.books
            && !chair.leaving
        {
            books.enqueue(chair.me(), 0);
        }
        self.give_up(seal, chair, out);
    }
}

fn tell_leader(chair: &Chair<Desk>, want: Want, out: &mut Out<KlmeFt>) {
    if let Some(copy) = chair.copy.as_ref().filter(|copy| copy.leader != chair.id) {
        out.send(copy.leader, claim_of(chair, want));
    }
}

pub(super) fn claim_of(chair: &Chair<Desk>, want: Want) -> Message {
    let (number, round) = chair.beat();
    Message::Claim { stay: chair.me().stay, number, round, want, leaving: chair.leaving }
}

//! How somebody becomes leader.

#[cfg(test)]
mod tests;

use alloc::vec::Vec;

use super::books::Books;
use super::{Allocation, Candidacy, Copy, KlmeFt, Message, Role, Timer, Usage, Want, guard};
use crate::tenure::{LeaderNo, Member, Term, is_majority};
use crate::{NodeId, Out};

impl KlmeFt {
    /// No leader was heard of for so long that all its grants have run out; or, at the leader, no majority.
    pub(super) fn on_silence(&mut self, out: &mut Out<Self>) {
        if self.is_quiet() {
            // It slept, and both times are over. It leads nobody before it knows that no application of an earlier life is inside.
            out.arm(Timer::Silence, self.variant.times.bond());
            return;
        }
        self.promise.loosen();
        if self.rests {
            return;
        }
        if self.is_holder() {
            self.stand(out);
            return;
        }
        if self.leads() && self.keeps(guard::RESIGN) {
            // It can not stand, and its beats would keep a minority bound that the others need to elect another.
            out.clause("resign");
            self.resign(out);
        }
        if matches!(self.usage, Usage::Waiting { .. }) && !self.leads() && self.keeps(guard::KNOCK_AGAIN) {
            self.knock(out);
        } else {
            // It has nothing to ask for. When it has, it does not rely on the leader that it heard last.
            self.rests = true;
        }
    }

    /// Asks the copy holders for their votes; once more under the same number, as long as there is no greater one.
    fn stand(&mut self, out: &mut Out<Self>) {
        out.clause("stand");
        let (me, taken) = (self.me(), self.promise.number());
        let stands_already = matches!(&self.role, Role::Candidate(own) if Some(own.number) > taken);
        if stands_already {
            // Those whom it asks may all have gone since it last heard of them. The leader of today hears it so.
            if matches!(self.usage, Usage::Waiting { .. }) && !self.leaving && self.keeps(guard::ASK_ALL) {
                out.broadcast(self.claim_of(Want::Wait));
            }
        } else {
            self.resign(out);
            let number = taken.map_or(LeaderNo { counter: 1, stay: me.stay }, |taken| taken.next(me.stay));
            self.role = Role::Candidate(Candidacy { number, votes: alloc::vec![me], inheritance: None });
        }
        self.canvass(out);
    }

    fn canvass(&mut self, out: &mut Out<Self>) {
        let Some((Role::Candidate(candidacy), copy)) = self.copy.as_ref().map(|copy| (&self.role, copy)) else {
            return;
        };
        let relieves = candidacy.inheritance.as_ref().map(|(number, _)| *number);
        let stand = Message::Stand { number: candidacy.number, holders: copy.holders.clone(), relieves };
        out.multicast(copy.holders.iter().map(|holder| holder.id).filter(|id| *id != self.id), &stand);
        out.arm(Timer::Silence, self.variant.times.bond());
        self.lead_if_elected(out);
    }

    /// Somebody wants to lead.
    pub(super) fn on_stand(
        &mut self,
        from: NodeId,
        number: LeaderNo,
        holders: &[Member],
        relieves: Option<LeaderNo>,
        out: &mut Out<Self>,
    ) {
        if let Role::Candidate(own) = &self.role
            && own.number > number
        {
            // Usually it will yield when it is asked. It is not if it keeps a copy that this node has not heard of; then it may win
            // where this node can not.
            let is_unknown = |copy: &Copy| copy.holders.iter().all(|holder| holder.id != from);
            if self.copy.as_ref().is_some_and(is_unknown) && self.keeps(guard::HEED) {
                out.send(from, Message::Ahead { number: own.number });
            }
            return;
        }
        if !holders.contains(&self.me()) {
            return;
        }
        if !self.may_vote(number, relieves) {
            // Who stands under the greater number may have gone, and this node may not know that it keeps a copy itself.
            let taken = self.promise.number().filter(|taken| *taken > number && !self.promise.is_bound());
            if let Some(number) = taken.filter(|_| self.keeps(guard::SPOKEN_FOR)) {
                out.send(from, Message::Ahead { number });
            }
            // The candidate may have missed an election, and wants a leader.
            if self.keeps(guard::STIR_BY_STAND) {
                self.stir(out);
            }
            return;
        }
        out.clause("vote");
        self.resign(out);
        if !self.keeps(guard::STAY_BOUND) {
            self.promise.loosen();
        }
        self.promise.vote(number);
        self.rests = false;
        out.arm(Timer::Silence, self.variant.times.bond());
        out.send(from, Message::Vote { stay: self.me().stay, number, copy: self.copy.clone() });
    }

    fn may_vote(&self, number: LeaderNo, relieves: Option<LeaderNo>) -> bool {
        let mut promise = self.promise;
        if !self.keeps(guard::BOND) {
            promise.loosen();
        }
        let is_greater = !promise.is_bound() && promise.number() < Some(number);
        promise.may_vote(number, relieves) || (is_greater && !self.keeps(guard::COUNTER))
    }

    /// A vote, and what the voter knows. The latest copy says whose votes count.
    pub(super) fn on_vote(&mut self, voter: Member, number: LeaderNo, copy: Option<Copy>, out: &mut Out<Self>) {
        match &mut self.role {
            Role::Candidate(own) if own.number == number => {
                if let Err(at) = own.votes.binary_search(&voter) {
                    own.votes.insert(at, voter);
                }
            }
            _ => return,
        }
        let takes = self.keeps(guard::FRESHEST);
        let is_later = |own: &Copy| copy.as_ref().is_some_and(|copy| copy.age() > own.age()) && takes;
        if self.copy.as_ref().is_none_or(is_later) {
            self.copy = copy;
        }
        self.lead_if_elected(out);
    }

    fn lead_if_elected(&mut self, out: &mut Out<Self>) {
        let Some((Role::Candidate(own), copy)) = self.copy.as_ref().map(|copy| (&self.role, copy)) else { return };
        if is_majority(&copy.holders, |holder| own.votes.contains(holder)) {
            let number = own.number;
            let allocated = own.inheritance.as_ref().map_or(Vec::new(), |(_, allocated)| allocated.clone());
            self.lead(number, &allocated, out);
        }
    }

    /// *H*: the leader departs, and has chosen this node to follow it.
    pub(super) fn on_token(&mut self, number: LeaderNo, allocated: Vec<Allocation>, out: &mut Out<Self>) {
        if self.promise.number() != Some(number) || !matches!(self.role, Role::Follower) || !self.is_holder() {
            return;
        }
        // It would take its own unit back, which an application of its earlier life may still use.
        if self.is_quiet() {
            return;
        }
        out.clause("H");
        self.succeed(number, number, allocated, out);
    }

    /// Somebody can follow only a leader with a number greater than this, or vote only for such a candidate.
    pub(super) fn on_ahead(&mut self, number: LeaderNo, out: &mut Out<Self>) {
        let me = self.me();
        match &mut self.role {
            Role::Leader(term) if self.rules.has(guard::OUTDO) => {
                term.outbid = term.outbid.max(Some(number));
                self.outdo(out);
            }
            Role::Candidate(own) if number > own.number => {
                out.clause("stand");
                (own.number, own.votes) = (number.next(me.stay), alloc::vec![me]);
                self.canvass(out);
            }
            Role::Leader(_) | Role::Candidate(_) | Role::Follower => {}
        }
    }

    /// A leader that somebody can not follow becomes its own successor. If it has no majority behind it, somebody else may have,
    /// and two that outbid each other would not come to an end.
    pub(super) fn outdo(&mut self, out: &mut Out<Self>) {
        let (Role::Leader(term), Some(books)) = (&self.role, &self.books) else { return };
        if let Some(number) = term.outbid.filter(|number| *number > term.number && term.is_confirmed()) {
            out.clause("outdo");
            let (own, allocated) = (term.number, books.allocated());
            self.resign(out);
            self.succeed(own, number, allocated, out);
        }
    }

    /// Stands under a number greater than `taken`, in place of the leader `relieved`, which does not grant any more.
    fn succeed(&mut self, relieved: LeaderNo, taken: LeaderNo, allocated: Vec<Allocation>, out: &mut Out<Self>) {
        let me = self.me();
        self.role = Role::Candidate(Candidacy {
            number: taken.next(me.stay),
            votes: alloc::vec![me],
            inheritance: Some((relieved, allocated)),
        });
        self.canvass(out);
    }

    /// Becomes leader. All grants of leaders before it have run out, but for those that were handed over.
    pub(super) fn lead(&mut self, number: LeaderNo, allocated: &[Allocation], out: &mut Out<Self>) {
        out.clause("lead");
        let me = self.me();
        let Some(copy) = &self.copy else { return };
        let mut term = Term::new(number, copy.round, &copy.holders);
        term.settled = !self.keeps(guard::SETTLE);
        let mut books = Books::new(number, self.k, &copy.queue, allocated, self.beats_to_reclaim());
        books.dequeue(me.id);
        // Nothing was heard of the former leader. If it is still there, it will ask.
        books.dequeue(copy.leader);
        self.bind_self(number);
        match &mut self.usage {
            Usage::Waiting { claimed, .. } => {
                *claimed = false;
                out.disarm(Timer::Lease(false));
                if !self.leaving {
                    books.enqueue(me, 0);
                }
            }
            Usage::Using { claimed, lease, .. } => {
                *claimed = false;
                out.disarm(Timer::Lease(!*lease));
            }
            Usage::Idle => {}
        }
        if let Some(holder) = term.holder(me) {
            holder.leaving = self.leaving;
        }
        // It may have stopped using what its predecessor believed in use.
        let used = if let Usage::Using { seal, .. } = self.usage { Some(seal) } else { None };
        books.reclaim(|loan| loan.allocation.member == me && Some(loan.allocation.seal) != used);
        let is_lent = books.loan_of(me).is_some();
        (self.role, self.books) = (Role::Leader(term), Some(books));
        if !is_lent {
            self.lose_unit(out);
        }
        out.arm(Timer::Silence, self.variant.times.bond());
        self.begin_round(false, out);
    }
}

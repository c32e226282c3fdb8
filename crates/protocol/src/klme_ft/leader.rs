//! What the leader does.

#[cfg(test)]
mod tests;

use super::{Allocation, Copy, KlmeFt, Message, Role, Timer, Usage, Want, guard};
use crate::Out;
use crate::tenure::{Change, LeaderNo, Member};

impl KlmeFt {
    /// The right to grant is over, and is asked for anew.
    pub(super) fn on_beat_over(&mut self, out: &mut Out<Self>) {
        if let (Role::Leader(term), Some(books)) = (&mut self.role, &mut self.books) {
            let could_help = term.knows_others(&self.others);
            term.pass_beat(self.variant.care.patience, could_help);
            books.pass_beat();
            self.begin_round(true, out);
        }
    }

    /// The next beat. If nobody wants anything, it is the last for now.
    pub(super) fn begin_round(&mut self, beat_is_over: bool, out: &mut Out<Self>) {
        let (me, care, change) = (self.me(), self.variant.care, self.next_change(beat_is_over));
        let (Role::Leader(term), Some(books), Some(copy)) = (&mut self.role, &mut self.books, &mut self.copy) else {
            return;
        };
        let could_help = term.knows_others(&self.others);
        let is_wanted = if self.rules.has(guard::GHOSTS) { books.has_waiter() } else { !books.queue.is_empty() };
        let is_idle = !is_wanted && books.loans.is_empty() && term.is_confirmed();
        let must_ask = could_help && term.wants_copies(care) && !term.has_asked;
        let is_complete = change.is_none() && !must_ask && !term.has_leaver() && !self.leaving;
        let wakes = self.rests;
        self.rests = is_idle && is_complete;
        books.forget_claims(me);
        term.forget_answers();
        term.change(change);
        term.settled |= !self.rules.has(guard::SETTLE);
        term.round = term.round.next();
        term.has_asked = could_help && term.wants_copies(care);
        *copy = Copy {
            number: term.number,
            version: if change.is_some() { copy.version.next() } else { copy.version },
            round: term.round,
            leader: me.id,
            founded: copy.founded,
            holders: term.holders.iter().map(|holder| holder.member).collect(),
            queue: books.waiters(),
        };
        let beat = Message::Beat { copy: copy.clone(), wanted: term.has_asked, rests: self.rests };
        out.broadcast(beat);
        if self.rests {
            out.clause("rest");
            return;
        }
        out.clause("beat");
        out.arm(Timer::Beat, self.variant.times.beat);
        if wakes && self.rules.has(guard::WATCH) {
            // While it rested, nobody watched whether it still has a majority.
            out.arm(Timer::Silence, self.variant.times.bond());
        }
        if term.holder(me).is_some() {
            self.acknowledge(me, self.leaving, out);
        }
    }

    /// A copy holder has heard the latest beat.
    fn acknowledge(&mut self, member: Member, leaving: bool, out: &mut Out<Self>) {
        let me = self.me();
        let Role::Leader(term) = &mut self.role else { return };
        let was_confirmed = term.is_confirmed();
        let Some(holder) = term.holder(member) else { return };
        (holder.acknowledged, holder.missed, holder.leaving) = (true, 0, leaving);
        if was_confirmed || !term.is_confirmed() {
            return;
        }
        out.clause("confirmed");
        (term.settled, term.added) = (true, None);
        let (number, keeps_none) = (term.number, term.holder(me).is_none());
        self.bind_self(number);
        out.arm(Timer::Silence, self.variant.times.bond());
        if self.leaving && keeps_none {
            self.hand_over(out);
            return;
        }
        // Its own claim and the answer to it are one.
        if let Some(own) = self.books.as_mut().and_then(|books| books.loan_of(me)) {
            own.claimed = true;
        }
        self.serve(out);
        self.outdo(out);
    }

    /// A leader follows itself, and votes for no other as long as its grants may last.
    pub(super) fn bind_self(&mut self, number: LeaderNo) {
        if self.keeps(guard::BIND_SELF) {
            self.promise.follow(number);
        } else {
            self.promise.vote(number);
        }
    }

    /// The leader is no copy holder any more, and a majority of the others knows it: one of them shall lead.
    fn hand_over(&mut self, out: &mut Out<Self>) {
        let (Role::Leader(term), Some(books)) = (&self.role, &self.books) else { return };
        if let Some(heir) = term.holders.iter().find(|holder| holder.acknowledged) {
            out.clause("I.token");
            out.send(heir.member.id, Message::Token { number: term.number, allocated: books.allocated() });
        }
        self.depart(out);
    }

    /// *C* and *G*: on receiving `Req_CS` or Release; and acknowledgements.
    pub(super) fn on_claim(
        &mut self,
        member: Member,
        is_current: bool,
        want: Want,
        leaving: bool,
        out: &mut Out<Self>,
    ) {
        let wakes = self.rests && (want == Want::Wait || leaving);
        let (Role::Leader(term), Some(books)) = (&mut self.role, &mut self.books) else {
            if wakes {
                self.stir(out);
            }
            return;
        };
        books.note(member, is_current || !self.rules.has(guard::LATE_CLAIMS), want);
        if leaving && self.rules.has(guard::FORGET_VOLUNTEER) {
            term.volunteer = term.volunteer.filter(|volunteer| *volunteer != member);
        } else if is_current && term.has_asked && term.holder(member).is_none() {
            term.volunteer.get_or_insert(member);
        }
        if leaving && term.settled && term.holder(member).is_none() {
            let (stay, number, round) = (member.stay, term.number, term.round);
            out.send(member.id, Message::Dismiss { stay, number, round });
        }
        if wakes {
            self.begin_round(false, out);
        } else {
            if (is_current || !self.keeps(guard::LATE_ACKS)) && !self.rests {
                self.acknowledge(member, leaving, out);
            }
            self.serve(out);
            self.change_at_once(out);
        }
    }

    /// Somebody wants a leader. If this is one, it says so; otherwise it listens from now on whether there is one.
    pub(super) fn stir(&mut self, out: &mut Out<Self>) {
        match self.role {
            _ if !self.rests => {}
            Role::Leader(_) => self.begin_round(false, out),
            Role::Follower | Role::Candidate(_) => {
                self.rests = false;
                out.arm(Timer::Silence, self.variant.times.bond());
            }
        }
    }

    /// Whoever leaves need not wait for the next beat, if there is somebody to take its place.
    fn change_at_once(&mut self, out: &mut Out<Self>) {
        let Role::Leader(term) = &self.role else { return };
        if term.is_confirmed() && self.next_change(false).is_some() && !self.rests {
            self.begin_round(false, out);
        }
    }

    /// How the set of copy holders should change next.
    fn next_change(&self, beat_is_over: bool) -> Option<Change> {
        let Role::Leader(term) = &self.role else { return None };
        let could_help = term.knows_others(&self.others);
        let change = term.next_change(self.me(), self.variant.care, could_help, beat_is_over);
        change.filter(|_| term.settled || self.keeps(guard::WITHDRAW))
    }

    /// In how many beats a grant has run out for certain.
    pub(super) fn beats_to_reclaim(&self) -> u16 {
        if self.keeps(guard::GUARD_LEASE) { self.variant.times.beats_to_reclaim() } else { 1 }
    }

    /// Renews what is claimed again, and lends what is free; as far as it has the right.
    pub(super) fn serve(&mut self, out: &mut Out<Self>) {
        let (me, times, left) = (self.me(), self.variant.times, self.beats_to_reclaim());
        let (Role::Leader(term), Some(books)) = (&self.role, &mut self.books) else { return };
        if self.rests || (self.rules.has(guard::CONFIRM) && !term.is_confirmed()) {
            return;
        }
        let (number, round) = (term.number, term.round);
        for loan in books.loans.iter_mut().filter(|loan| loan.claimed) {
            (loan.claimed, loan.left) = (false, left);
            let Allocation { member, permit, seal } = loan.allocation;
            match self.usage {
                Usage::Using { lease, .. } if member == me => out.arm(Timer::Lease(lease), times.lease),
                _ => out.send(member.id, Message::Grant { number, round, permit, seal, renews: true }),
            }
        }
        let mut own = None;
        while let Some(Allocation { member, permit, seal }) = books.lend(left) {
            if member == me {
                own = Some((permit, seal));
            } else {
                out.clause("C.grant");
                out.send(member.id, Message::Grant { number, round, permit, seal, renews: false });
            }
        }
        if let (Some((permit, seal)), Usage::Waiting { demand, .. }) = (own, self.usage) {
            out.arm(Timer::Lease(false), times.lease);
            self.enter(demand, permit, seal, out);
        }
    }
}

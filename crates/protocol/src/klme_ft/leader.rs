//! What the leader does with units, and the other duties of its office.

#[cfg(test)]
mod tests;

use alloc::vec::Vec;

use super::books::Books;
use super::claimant::claim_of;
use super::{Allocation, Desk, KlmeFt, Message, Timer, Usage, Want, guard};
use crate::tenure::{Chair, ChairTimer, LeaderNo, Member, Office, Words};
use crate::{NodeId, Out};

impl KlmeFt {
    /// *C* and *G*: on receiving `Req_CS` or Release; and acknowledgements.
    pub(super) fn on_claim(
        &mut self,
        member: Member,
        is_current: bool,
        want: Want,
        leaving: bool,
        out: &mut Out<Self>,
    ) {
        let Self { chair, desk } = self;
        let wakes = chair.rests && (want == Want::Wait || leaving);
        let is_heeded = is_current || !desk.keeps(guard::LATE_CLAIMS);
        if let Some(books) = &mut desk.books {
            books.note(member, is_heeded, want);
            chair.hear(member, is_current, leaving, wakes, desk, out);
        } else if wakes {
            chair.stir(desk, out);
        }
    }
}

impl Desk {
    /// In how many beats a grant has run out for certain.
    fn beats_to_reclaim(&self) -> u16 {
        if self.keeps(guard::GUARD_LEASE) { self.variant.times.beats_to_reclaim() } else { 1 }
    }

    /// Renews what is claimed again, and lends what is free; as far as it has the right.
    pub(super) fn lend(&mut self, chair: &Chair<Self>, out: &mut Out<KlmeFt>) {
        let (me, times, left) = (chair.me(), self.variant.times, self.beats_to_reclaim());
        let must_be_confirmed = self.keeps(guard::CONFIRM);
        let (Some(term), Some(books)) = (chair.term(), &mut self.books) else { return };
        if chair.rests || (must_be_confirmed && !term.is_confirmed()) {
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
        if let (Some(granted), Usage::Waiting { demand, .. }) = (own, self.usage) {
            out.arm(Timer::Lease(false), times.lease);
            self.enter(demand, granted, chair, out);
        }
    }

    /// A new leader's own claims were made to another.
    fn forget_claim(&mut self, out: &mut Out<KlmeFt>) {
        match &mut self.usage {
            Usage::Waiting { claimed, .. } => {
                *claimed = false;
                out.disarm(Timer::Lease(false));
            }
            Usage::Using { claimed, lease, .. } => {
                *claimed = false;
                out.disarm(Timer::Lease(!*lease));
            }
            Usage::Idle => {}
        }
    }
}

/// The queue rides on beats, and a leader leaves what is in use to its successor.
impl Office for Desk {
    type Rides = Vec<Member>;
    type Estate = Vec<Allocation>;
    type Message = Message;
    type Timer = Timer;

    fn say(&self, words: Words<Vec<Member>, Vec<Allocation>>) -> Message {
        match words {
            Words::Beat { copy, wanted, rests } => Message::Beat { copy, wanted, rests },
            Words::Stand { number, holders, relieves } => Message::Stand { number, holders, relieves },
            Words::Vote { stay, number, copy } => Message::Vote { stay, number, copy },
            Words::Ahead { number } => Message::Ahead { number },
            Words::Token { number, estate } => Message::Token { number, allocated: estate },
            Words::Dismiss { stay, number, round } => Message::Dismiss { stay, number, round },
        }
    }

    fn timer(&self, timer: ChairTimer) -> Timer {
        match timer {
            ChairTimer::Beat => Timer::Beat,
            ChairTimer::Silence => Timer::Silence,
            ChairTimer::Farewell => Timer::Farewell,
        }
    }

    fn ask(&self, chair: &Chair<Self>) -> Message {
        claim_of(chair, if chair.leaving { Want::Nothing } else { Want::Wait })
    }

    fn waits(&self) -> bool {
        matches!(self.usage, Usage::Waiting { .. })
    }

    fn is_idle(&self) -> bool {
        self.books.as_ref().is_none_or(|books| {
            let is_wanted = if self.keeps(guard::GHOSTS) { books.has_waiter() } else { !books.queue.is_empty() };
            !is_wanted && books.loans.is_empty()
        })
    }

    fn begin_beat(&mut self, me: Member) -> Vec<Member> {
        let Some(books) = &mut self.books else { return Vec::new() };
        books.forget_claims(me);
        books.waiters()
    }

    fn end_beat(&mut self) {
        if let Some(books) = &mut self.books {
            books.pass_beat();
        }
    }

    /// Its own claim and the answer to it are one.
    fn confirm(&mut self, me: Member) {
        if let Some(own) = self.books.as_mut().and_then(|books| books.loan_of(me)) {
            own.claimed = true;
        }
    }

    fn serve(&mut self, chair: &Chair<Self>, out: &mut Out<KlmeFt>) {
        self.lend(chair, out);
    }

    fn take_over(&mut self, chair: &Chair<Self>, number: LeaderNo, estate: Vec<Allocation>, out: &mut Out<KlmeFt>) {
        let me = chair.me();
        let Some(copy) = &chair.copy else { return };
        let mut books = Books::new(number, self.k, &copy.rides, &estate, self.beats_to_reclaim());
        books.dequeue(me.id);
        // Nothing was heard of the former leader. If it is still there, it will ask.
        books.dequeue(copy.leader);
        if self.waits() && !chair.leaving {
            books.enqueue(me, 0);
        }
        self.forget_claim(out);
        // It may have stopped using what its predecessor believed in use.
        let used = if let Usage::Using { seal, .. } = self.usage { Some(seal) } else { None };
        books.reclaim(|loan| loan.allocation.member == me && Some(loan.allocation.seal) != used);
        let is_lent = books.loan_of(me).is_some();
        self.books = Some(books);
        if !is_lent {
            self.lose_unit(chair, out);
        }
    }

    fn resign(&mut self) {
        self.books = None;
    }

    fn estate(&self) -> Vec<Allocation> {
        self.books.as_ref().map(Books::allocated).unwrap_or_default()
    }

    fn part(&mut self, peer: NodeId) {
        if let Some(books) = &mut self.books {
            books.dequeue(peer);
        }
    }

    fn depart(&mut self, out: &mut Out<KlmeFt>) {
        out.disarm(Timer::Lease(false));
        out.disarm(Timer::Lease(true));
        self.books = None;
        if let Usage::Waiting { claimed, .. } = &mut self.usage {
            *claimed = false;
        }
    }
}

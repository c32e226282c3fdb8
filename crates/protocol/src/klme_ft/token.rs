//! The token: what a leader keeps, and the rules that need nothing else.

#[cfg(test)]
mod tests;

use alloc::vec::Vec;

use super::Care;
use super::message::{Allocation, Copy, Generation, Seal, Want};
use crate::tenure::{LeaderNo, Member, Round, Version, is_majority};
use crate::{NodeId, Permits};

/// Beats that a waiter may miss until others are served before it.
pub(super) const SILENT: u8 = 2;

/// A copy holder, as the leader sees it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Holder {
    pub(super) member: Member,
    /// Whether it has acknowledged the latest beat.
    pub(super) acknowledged: bool,
    /// How many beats before it missed, as far as anybody cares.
    pub(super) missed: u16,
    /// It is about to leave.
    pub(super) leaving: bool,
}

impl Holder {
    fn new(member: Member) -> Self {
        Self { member, acknowledged: false, missed: 0, leaving: false }
    }
}

/// A unit in use, as the leader sees it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Loan {
    pub(super) allocation: Allocation,
    /// In so many beats its lease has run out for certain.
    pub(super) left: u16,
    /// Its user has claimed it again, under the latest beat.
    pub(super) claimed: bool,
}

/// Somebody who wants a unit.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Waiter {
    pub(super) member: Member,
    /// How many beats ago it last said so; only one who said so under the latest beat can be granted anything.
    pub(super) missed: u8,
}

/// A change of the set of copy holders: always by one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Change {
    Add(Member),
    Remove(Member),
}

/// *Token*.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Token {
    /// *`Token_leader_no`*.
    pub(super) number: LeaderNo,
    /// Of the latest beat.
    pub(super) round: Round,
    /// Who keeps a copy.
    pub(super) holders: Vec<Holder>,
    /// Whether a majority of these holders has acknowledged, under this leader, that they are the holders.
    pub(super) settled: bool,
    /// Who was added last, until that is settled.
    pub(super) added: Option<Member>,
    /// Whether the latest beat asked who could keep a copy.
    pub(super) has_asked: bool,
    /// Somebody who could, and has answered it.
    pub(super) volunteer: Option<Member>,
    /// The greatest number that somebody has voted for who therefore can not follow.
    pub(super) outbid: Option<LeaderNo>,
    /// *Kfree*.
    pub(super) free: Permits,
    /// *`T_alloc_id`*.
    pub(super) loans: Vec<Loan>,
    /// *`R_Queue`*.
    pub(super) queue: Vec<Waiter>,
    /// Of the latest grant.
    pub(super) sealed: Seal,
}

impl Token {
    /// The token of a new leader, with all units free but those that its predecessor has handed over.
    pub(super) fn new(number: LeaderNo, k: u32, copy: &Copy, allocated: &[Allocation], left: u16) -> Self {
        let used = allocated.iter().fold(Permits::NONE, |used, loan| used.union(Permits::single(loan.permit)));
        // The copy may be older than what was handed over.
        let waits = |member: &&Member| allocated.iter().all(|loan| loan.member != **member);
        Self {
            number,
            round: copy.round,
            holders: copy.holders.iter().copied().map(Holder::new).collect(),
            settled: false,
            added: None,
            has_asked: false,
            volunteer: None,
            outbid: None,
            free: Permits::first(k).without(used),
            loans: allocated.iter().map(|&allocation| Loan { allocation, left, claimed: false }).collect(),
            queue: copy.queue.iter().filter(waits).map(|&member| Waiter { member, missed: 0 }).collect(),
            sealed: Seal::first(number),
        }
    }

    pub(super) fn holder(&mut self, member: Member) -> Option<&mut Holder> {
        self.holders.iter_mut().find(|holder| holder.member == member)
    }

    /// Whether the leader may grant anything: a majority of the copy holders is bound to it, since the latest beat.
    pub(super) fn is_confirmed(&self) -> bool {
        is_majority(&self.holders, |holder| holder.acknowledged)
    }

    pub(super) fn loan_of(&mut self, member: Member) -> Option<&mut Loan> {
        self.loans.iter_mut().find(|loan| loan.allocation.member == member)
    }

    /// Takes back what these have.
    pub(super) fn reclaim(&mut self, is_over: impl Fn(&Loan) -> bool) {
        for loan in self.loans.extract_if(.., |loan| is_over(loan)) {
            self.free = self.free.union(Permits::single(loan.allocation.permit));
        }
    }

    /// Notes that somebody wants a unit, and whether it said so under the latest beat. It keeps its place; a new stay of the same
    /// node takes the place of an old one.
    pub(super) fn enqueue(&mut self, member: Member, missed: u8) {
        match self.queue.iter_mut().find(|waiter| waiter.member.id == member.id) {
            Some(waiter) if waiter.member == member => waiter.missed = waiter.missed.min(missed),
            Some(waiter) => *waiter = Waiter { member, missed },
            None => self.queue.push(Waiter { member, missed }),
        }
    }

    pub(super) fn dequeue(&mut self, id: NodeId) {
        self.queue.retain(|waiter| waiter.member.id != id);
    }

    /// Who is served next: the first who said so under the latest beat, behind nobody but such as have been silent for long.
    fn next_waiter(&self) -> Option<Member> {
        let next = self.queue.iter().find(|waiter| waiter.missed < SILENT)?;
        (next.missed == 0).then_some(next.member)
    }

    /// Whether somebody waits who has said so lately.
    pub(super) fn has_waiter(&self) -> bool {
        self.queue.iter().any(|waiter| waiter.missed < SILENT)
    }

    /// Gives the next waiter a unit, if there is one.
    pub(super) fn lend(&mut self, left: u16) -> Option<Allocation> {
        let permit = self.free.iter().next()?;
        let member = self.next_waiter()?;
        self.dequeue(member.id);
        self.free = self.free.without(Permits::single(permit));
        self.sealed = self.sealed.next();
        let allocation = Allocation { member, permit, seal: self.sealed };
        self.loans.push(Loan { allocation, left, claimed: false });
        Some(allocation)
    }

    /// Whether the copy holders are fewer than they should be, not counting those that leave or were not heard of.
    pub(super) fn wants_copies(&self, Care { copies, patience }: Care) -> bool {
        let sound = |holder: &&Holder| !holder.leaving && holder.missed < patience;
        self.holders.iter().filter(sound).count() < copies.into()
    }

    /// How the set of copy holders should change next, if others `could_help`. Whoever is merely silent is struck off only if
    /// there is another, or if somebody could not leave otherwise; or if it is the only one beside the leader, which can not do
    /// without it. Nobody is let go before the others had a beat's time to say who would help, nor if that left the leader
    /// without a majority.
    pub(super) fn next_change(&self, me: Member, care: Care, could_help: bool, beat_is_over: bool) -> Option<Change> {
        let Care { copies, patience } = care;
        if !self.settled {
            return self.withdrawal(patience).filter(|change| self.would_be_confirmed(*change));
        }
        let (count, copies) = (self.holders.len(), usize::from(copies));
        let leaves = |is_me: bool| self.holders.iter().find(|holder| holder.leaving && (holder.member == me) == is_me);
        // Somebody has to lead until all others are struck off.
        let none_will_help = !could_help || (self.has_asked && beat_is_over);
        let leaver = leaves(false).or_else(|| leaves(true)).filter(|_| none_will_help || !self.wants_copies(care));
        let silent = self.holders.iter().find(|holder| holder.missed >= patience && holder.member != me);
        let change = match (self.volunteer, silent, leaver) {
            (Some(volunteer), _, _) if self.wants_copies(care) && count <= copies => Change::Add(volunteer),
            (_, Some(silent), leaver) if count != copies || leaver.is_some() => Change::Remove(silent.member),
            (_, _, Some(leaver)) if count > 1 => Change::Remove(leaver.member),
            _ => return None,
        };
        self.would_be_confirmed(change).then_some(change)
    }

    /// Whoever was added last and was never heard of since is struck off again: a leader that was the only copy holder can not do without the
    /// second. The set that was settled before differs from both by this one member.
    fn withdrawal(&self, patience: u16) -> Option<Change> {
        let added = self.holders.iter().find(|holder| Some(holder.member) == self.added)?;
        (added.missed >= patience).then_some(Change::Remove(added.member))
    }

    /// Whether some of these could keep a copy and do not.
    pub(super) fn knows_others(&self, others: &[NodeId]) -> bool {
        !others.iter().all(|id| self.holders.iter().any(|holder| holder.member.id == *id))
    }

    pub(super) fn has_leaver(&self) -> bool {
        self.holders.iter().any(|holder| holder.leaving)
    }

    /// Whether those who have acknowledged the latest beat, or volunteered, are a majority after the change.
    fn would_be_confirmed(&self, change: Change) -> bool {
        let mut heard: Vec<_> = self.holders.iter().map(|holder| (holder.member, holder.acknowledged)).collect();
        match change {
            Change::Add(member) => heard.push((member, true)),
            Change::Remove(member) => heard.retain(|holder| holder.0 != member),
        }
        is_majority(&heard, |holder| holder.1)
    }

    /// A beat's time is over: leases have run on, and whoever has not answered has missed a beat.
    pub(super) fn pass_beat(&mut self, patience: u16, could_help: bool) {
        for loan in &mut self.loans {
            loan.left = loan.left.saturating_sub(1);
        }
        self.reclaim(|loan| loan.left == 0);
        for waiter in &mut self.queue {
            waiter.missed = waiter.missed.saturating_add(1).min(SILENT);
        }
        // Who is silent matters only if something could be done about it.
        if could_help || self.holders.len() == 2 || self.has_leaver() {
            for holder in self.holders.iter_mut().filter(|holder| !holder.acknowledged) {
                holder.missed = holder.missed.saturating_add(1).min(patience);
            }
        }
    }

    /// What was said under the latest beat does not count under the next.
    pub(super) fn forget_answers(&mut self, me: Member) {
        for loan in &mut self.loans {
            loan.claimed = false;
        }
        for waiter in &mut self.queue {
            waiter.missed = if waiter.member == me { 0 } else { waiter.missed.max(1) };
        }
        for holder in &mut self.holders {
            holder.acknowledged = false;
        }
        self.volunteer = None;
    }

    pub(super) fn change(&mut self, change: Option<Change>) {
        self.added = match change {
            Some(Change::Add(member)) => {
                self.holders.push(Holder::new(member));
                Some(member)
            }
            Some(Change::Remove(member)) => {
                self.holders.retain(|holder| holder.member != member);
                None
            }
            None => return,
        };
        self.settled = false;
    }

    pub(super) fn copy(&self, me: Member, version: Version, generation: Generation) -> Copy {
        Copy {
            number: self.number,
            version,
            round: self.round,
            leader: me.id,
            generation,
            holders: self.holders.iter().map(|holder| holder.member).collect(),
            queue: self.queue.iter().map(|waiter| waiter.member).collect(),
        }
    }

    /// What a claim says about the units.
    pub(super) fn note(&mut self, member: Member, is_current: bool, want: Want) {
        match want {
            Want::Free(seal) => self.reclaim(|loan| loan.allocation.member == member && loan.allocation.seal == seal),
            Want::Hold(seal) if is_current => {
                if let Some(loan) = self.loan_of(member).filter(|loan| loan.allocation.seal == seal) {
                    loan.claimed = true;
                }
            }
            Want::Nothing | Want::Hold(_) => {}
            // Whoever waits does not use anything, and nothing that was granted before this beat will let it in.
            Want::Wait if is_current => {
                self.reclaim(|loan| loan.allocation.member == member);
                self.enqueue(member, 0);
            }
            Want::Wait => {
                if self.loan_of(member).is_none() {
                    self.enqueue(member, 1);
                }
            }
        }
    }
}

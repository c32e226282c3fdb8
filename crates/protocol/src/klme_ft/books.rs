//! The books: what a leader keeps about units, and the rules that need nothing else.

#[cfg(test)]
mod tests;

use alloc::vec::Vec;

use super::message::{Allocation, Seal, Want};
use crate::tenure::{LeaderNo, Member};
use crate::{NodeId, Permits};

/// Beats that a waiter may miss until others are served before it.
pub(super) const SILENT: u8 = 2;

/// A unit in use, as the leader sees it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Loan {
    pub(super) allocation: Allocation,
    /// In so many beats its lease has run out for certain.
    pub(super) left: u16,
    /// Its user has claimed it again, under the latest beat.
    pub(super) claimed: bool,
}

/// A member that wants a unit.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Waiter {
    pub(super) member: Member,
    /// How many beats ago it last said so; only one that said so under the latest beat can be granted anything.
    pub(super) missed: u8,
}

/// *Token*, but for the members that keep copies of it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Books {
    /// *Kfree*.
    pub(super) free: Permits,
    /// *`T_alloc_id`*.
    pub(super) loans: Vec<Loan>,
    /// *`R_Queue`*.
    pub(super) queue: Vec<Waiter>,
    /// Of the latest grant.
    pub(super) sealed: Seal,
}

impl Books {
    /// Of a new leader, with all units free but those that its predecessor has handed over.
    pub(super) fn new(number: LeaderNo, k: u32, queue: &[Member], allocated: &[Allocation], left: u16) -> Self {
        let used = allocated.iter().fold(Permits::NONE, |used, loan| used.union(Permits::single(loan.permit)));
        // The queue may be older than what was handed over.
        let waits = |member: &&Member| allocated.iter().all(|loan| loan.member != **member);
        Self {
            free: Permits::first(k).without(used),
            loans: allocated.iter().map(|&allocation| Loan { allocation, left, claimed: false }).collect(),
            queue: queue.iter().filter(waits).map(|&member| Waiter { member, missed: 0 }).collect(),
            sealed: Seal::first(number),
        }
    }

    /// What a copy says of the waiters.
    pub(super) fn waiters(&self) -> Vec<Member> {
        self.queue.iter().map(|waiter| waiter.member).collect()
    }

    /// What a leader hands over.
    pub(super) fn allocated(&self) -> Vec<Allocation> {
        self.loans.iter().map(|loan| loan.allocation).collect()
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

    /// Notes that a member wants a unit, and whether it said so under the latest beat. It keeps its place; a new stay
    /// of the same node takes the place of an old one.
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

    /// The member that is served next: the first that said so under the latest beat, behind none but such as have been
    /// silent for long.
    fn next_waiter(&self) -> Option<Member> {
        let next = self.queue.iter().find(|waiter| waiter.missed < SILENT)?;
        (next.missed == 0).then_some(next.member)
    }

    /// Whether a member waits that has said so lately.
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

    /// A beat's time is over: leases have run on, and every waiter has missed a beat unless it says so anew.
    pub(super) fn pass_beat(&mut self) {
        for loan in &mut self.loans {
            loan.left = loan.left.saturating_sub(1);
        }
        self.reclaim(|loan| loan.left == 0);
        for waiter in &mut self.queue {
            waiter.missed = waiter.missed.saturating_add(1).min(SILENT);
        }
    }

    /// What was said under the latest beat does not count under the next.
    pub(super) fn forget_claims(&mut self, me: Member) {
        for loan in &mut self.loans {
            loan.claimed = false;
        }
        for waiter in &mut self.queue {
            waiter.missed = if waiter.member == me { 0 } else { waiter.missed.max(1) };
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
            // A waiter does not use anything, and nothing that was granted before this beat will let it in.
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

//! A leader's term: which members keep copies, how the leader hears of them, and how they change. It knows no units.

#[cfg(test)]
mod tests;

use alloc::vec::Vec;

use super::{Care, LeaderNo, Member, Round, is_majority};
use crate::NodeId;

/// A copy holder, as the leader sees it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Holder {
    pub(crate) member: Member,
    /// Whether it has acknowledged the latest beat.
    pub(crate) acknowledged: bool,
    /// How many beats before it missed, as far as that matters.
    pub(crate) missed: u16,
    /// It is about to leave.
    pub(crate) leaving: bool,
}

impl Holder {
    fn new(member: Member) -> Self {
        Self { member, acknowledged: false, missed: 0, leaving: false }
    }
}

/// A change of the set of copy holders: always by one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Change {
    Add(Member),
    Remove(Member),
}

/// What a leader keeps while it leads.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Term {
    /// Its number.
    pub(crate) number: LeaderNo,
    /// Of the latest beat.
    pub(crate) round: Round,
    /// Which members keep a copy.
    pub(crate) holders: Vec<Holder>,
    /// Whether a majority of these holders has acknowledged, under this leader, that they are the holders.
    pub(crate) settled: bool,
    /// The member that was added last, until that is settled.
    pub(crate) added: Option<Member>,
    /// Whether the latest beat asked which members could keep a copy.
    pub(crate) has_asked: bool,
    /// A member that could, and has answered it.
    pub(crate) volunteer: Option<Member>,
    /// The greatest number that a copy holder has voted for, so that it cannot follow.
    pub(crate) outbid: Option<LeaderNo>,
}

impl Term {
    /// Of a new leader. It relies on no copy holder yet.
    pub(crate) fn new(number: LeaderNo, round: Round, holders: &[Member]) -> Self {
        Self {
            number,
            round,
            holders: holders.iter().copied().map(Holder::new).collect(),
            settled: false,
            added: None,
            has_asked: false,
            volunteer: None,
            outbid: None,
        }
    }

    pub(crate) fn holder(&mut self, member: Member) -> Option<&mut Holder> {
        self.holders.iter_mut().find(|holder| holder.member == member)
    }

    /// Whether the leader may grant anything: a majority of the copy holders is bound to it, since the latest beat.
    pub(crate) fn is_confirmed(&self) -> bool {
        is_majority(&self.holders, |holder| holder.acknowledged)
    }

    /// Whether the copy holders are fewer than they should be, not counting those that leave or were not heard of.
    pub(crate) fn wants_copies(&self, Care { copies, patience }: Care) -> bool {
        let sound = |holder: &&Holder| !holder.leaving && holder.missed < patience;
        self.holders.iter().filter(sound).count() < copies.into()
    }

    /// How the set of copy holders should change next, if others `could_help`. A copy holder that is merely silent is
    /// struck off only if there is another, or if a leaver could not go otherwise; or if it is the only one beside the
    /// leader, which cannot do without it. None is let go before the others had a beat's time to say which would help,
    /// nor if that left the leader without a majority.
    pub(crate) fn next_change(&self, me: Member, care: Care, could_help: bool, beat_is_over: bool) -> Option<Change> {
        let Care { copies, patience } = care;
        if !self.settled {
            return self.withdrawal(patience).filter(|change| self.would_be_confirmed(*change));
        }
        let (count, copies) = (self.holders.len(), usize::from(copies));
        let leaves = |is_me: bool| self.holders.iter().find(|holder| holder.leaving && (holder.member == me) == is_me);
        // The leader has to lead until all others are struck off.
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

    /// A copy holder that was added last and was never heard of since is struck off again: a leader that was the only
    /// copy holder cannot do without the second. The set that was settled before differs from both by this one member.
    fn withdrawal(&self, patience: u16) -> Option<Change> {
        let added = self.holders.iter().find(|holder| Some(holder.member) == self.added)?;
        (added.missed >= patience).then_some(Change::Remove(added.member))
    }

    /// Whether some of these could keep a copy and do not.
    pub(crate) fn knows_others(&self, others: &[NodeId]) -> bool {
        !others.iter().all(|id| self.holders.iter().any(|holder| holder.member.id == *id))
    }

    /// A member has gone, as far as the layer below knows.
    pub(crate) fn part(&mut self, peer: NodeId, patience: u16, forgets_volunteer: bool) {
        if forgets_volunteer {
            self.volunteer = self.volunteer.filter(|volunteer| volunteer.id != peer);
        }
        for holder in self.holders.iter_mut().filter(|holder| holder.member.id == peer) {
            holder.missed = patience;
        }
    }

    pub(crate) fn has_leaver(&self) -> bool {
        self.holders.iter().any(|holder| holder.leaving)
    }

    /// Whether those that have acknowledged the latest beat, or volunteered, are a majority after the change.
    fn would_be_confirmed(&self, change: Change) -> bool {
        let mut heard: Vec<_> = self.holders.iter().map(|holder| (holder.member, holder.acknowledged)).collect();
        match change {
            Change::Add(member) => heard.push((member, true)),
            Change::Remove(member) => heard.retain(|holder| holder.0 != member),
        }
        is_majority(&heard, |holder| holder.1)
    }

    /// A beat's time is over: a copy holder that has not answered has missed a beat.
    pub(crate) fn pass_beat(&mut self, patience: u16, could_help: bool) {
        // That a copy holder is silent matters only if something could be done about it.
        if could_help || self.holders.len() == 2 || self.has_leaver() {
            for holder in self.holders.iter_mut().filter(|holder| !holder.acknowledged) {
                holder.missed = holder.missed.saturating_add(1).min(patience);
            }
        }
    }

    /// What was said under the latest beat does not count under the next.
    pub(crate) fn forget_answers(&mut self) {
        for holder in &mut self.holders {
            holder.acknowledged = false;
        }
        self.volunteer = None;
    }

    pub(crate) fn change(&mut self, change: Option<Change>) {
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
}

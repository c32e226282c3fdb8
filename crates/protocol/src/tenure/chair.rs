//! A chair: which member leads, which keep copies, and how a leader follows another. It knows no units.
//!
//! What the leader hands out is a matter of the algorithm that stands on the chair, its [`Office`]. A chair carries two
//! things for it and looks into neither: what rides on every beat, so that the next leader knows of it, and the estate
//! that a leader leaves to the successor that it has chosen.

use alloc::vec::Vec;
use core::fmt::Debug;
use core::hash::Hash;
use core::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Care, Generation, LeaderNo, Member, Promise, Round, Term, Times, Version, guard};
use crate::{NodeId, Outbox, Repair, Repairs, Stay};

/// What the algorithm that stands on a chair does when something happens there.
pub(crate) trait Office: Sized {
    /// What rides on a beat.
    type Rides: Clone + Default + Eq + Hash + Debug;
    /// What a leader leaves to its successor.
    type Estate: Clone + Default + Eq + Hash + Debug;
    /// Its messages, the chair's among them.
    type Message: Clone;
    /// Its timers, likewise.
    type Timer;

    /// What the chair says, as a message of this algorithm.
    fn say(&self, words: Words<Self::Rides, Self::Estate>) -> Self::Message;
    /// What the chair waits for, as a timer of this algorithm.
    fn timer(&self, timer: Timer) -> Self::Timer;
    /// Asks for a leader.
    fn ask(&self, chair: &Chair<Self>) -> Self::Message;

    /// Whether its application waits for what only a leader can give.
    fn waits(&self) -> bool;
    /// Whether no member wants anything of this leader, and none has anything.
    fn is_idle(&self) -> bool;
    /// A beat of this leader begins. What was said under the one before does not count any more.
    fn begin_beat(&mut self, me: Member) -> Self::Rides;
    /// The time of a beat of this leader is over.
    fn end_beat(&mut self);
    /// A majority of the copy holders has acknowledged the latest beat of this leader.
    fn confirm(&mut self, me: Member);
    /// This leader may hand out what is asked for, as far as it has the right.
    fn serve(&mut self, chair: &Chair<Self>, out: &mut OutOf<Self>);
    /// It leads from now on. Whatever earlier leaders handed out has run out, but for the estate.
    fn take_over(&mut self, chair: &Chair<Self>, number: LeaderNo, estate: Self::Estate, out: &mut OutOf<Self>);
    /// It has led until now, and does not any more.
    fn resign(&mut self);
    /// What it leaves to a successor.
    fn estate(&self) -> Self::Estate;
    /// A member has gone, as far as the layer below knows.
    fn part(&mut self, peer: NodeId);
    /// It goes, and forgets everything but what its application wants.
    fn depart(&mut self, out: &mut OutOf<Self>);
}

pub(crate) type OutOf<O> = Outbox<<O as Office>::Message, <O as Office>::Timer>;

/// What members say to one another about leading.
pub(crate) enum Words<R, E> {
    /// "I lead." Whether it looks for a member to keep a copy, and whether there is no further beat for now.
    Beat { copy: Copy<R>, wanted: bool, rests: bool },
    /// "I want to lead", perhaps in place of a leader that has handed its duty over.
    Stand { number: LeaderNo, holders: Vec<Member>, relieves: Option<LeaderNo> },
    /// "Lead, then", and the latest that the voter knows of.
    Vote { stay: Stay, number: LeaderNo, copy: Option<Copy<R>> },
    /// "I cannot follow you, or vote for you: I know of this greater number."
    Ahead { number: LeaderNo },
    /// "I am about to depart: follow me."
    Token { number: LeaderNo, estate: E },
    /// "You may go: as of this round your copy is not counted on."
    Dismiss { stay: Stay, number: LeaderNo, round: Round },
}

/// What a chair waits for.
#[derive(Clone, Copy)]
pub(crate) enum Timer {
    /// At the leader: the next beat is due, and the right to hand anything out is over.
    Beat,
    /// Nothing was heard of a leader for so long that whatever it handed out is over; at the leader: of a majority.
    Silence,
    /// It has waited long enough for being dismissed.
    Farewell,
}

/// What a copy holder knows: enough to lead when whatever was handed out is over.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Copy<R> {
    /// Of the leader.
    pub number: LeaderNo,
    /// Of the set of copy holders.
    pub version: Version,
    /// Of the leader's beats.
    pub round: Round,
    /// Who leads.
    pub leader: NodeId,
    /// Of what is handed out. What is founded later has greater fences.
    pub generation: Generation,
    /// Who keeps a copy.
    pub holders: Vec<Member>,
    /// What rides on the beat.
    pub rides: R,
}

impl<R> Copy<R> {
    /// The beat that it came with: what claims, grants and dismissals name.
    pub fn beat(&self) -> (LeaderNo, Round) {
        (self.number, self.round)
    }

    /// What is compared to see which of two copies is the later one. Versions grow with rounds, but the round is not
    /// stored.
    pub fn age(&self) -> (LeaderNo, Version, Round) {
        (self.number, self.version, self.round)
    }
}

/// What a member is to the others.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Role<E> {
    Follower,
    Candidate(Candidacy<E>),
    Leader(Term),
}

/// What a candidate has.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Candidacy<E> {
    pub(crate) number: LeaderNo,
    /// In growing order.
    pub(crate) votes: Vec<Member>,
    /// The leader that has handed its duty over, and its estate.
    pub(crate) inheritance: Option<(LeaderNo, E)>,
}

/// What all chairs of a resource agree on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Terms {
    pub(crate) times: Times,
    pub(crate) care: Care,
    /// How long a member that wants to leave waits for being dismissed.
    pub(crate) farewell: Duration,
    /// In force: all of them, but in tests and searches.
    pub(crate) rules: Repairs,
}

/// A member's part in leadership.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Chair<O: Office> {
    pub(crate) id: NodeId,
    /// Its stay, while it is in the neighbourhood.
    pub(crate) stay: Option<Stay>,
    /// Which other members are there, as far as the layer below knows.
    pub(crate) others: Vec<NodeId>,
    /// Whether it is about to leave.
    pub(crate) leaving: bool,
    /// Which leader it has voted for or followed.
    pub(crate) promise: Promise,
    /// Of the latest beat that it heard or sent.
    pub(crate) copy: Option<Copy<O::Rides>>,
    /// No member wanted anything when it last heard, so silence means nothing.
    pub(crate) rests: bool,
    /// Whether the latest beat asked which members could keep a copy. A member that was asked may have been chosen.
    pub(crate) asked: bool,
    pub(crate) role: Role<O::Estate>,
    pub(crate) terms: Terms,
}

impl<O: Office> Chair<O> {
    /// Of a node that is nowhere.
    pub(crate) fn blank(id: NodeId, terms: Terms) -> Self {
        Self {
            id,
            stay: None,
            others: Vec::new(),
            leaving: false,
            promise: Promise::default(),
            copy: None,
            rests: false,
            asked: false,
            role: Role::Follower,
            terms,
        }
    }

    /// A member of a world in which all rest at first, and have heard of the first leader. There was none before, so no
    /// member knows of other copy holders.
    pub(crate) fn begin_at_rest(&mut self, me: Member, others: Vec<NodeId>, copy: Copy<O::Rides>) {
        (self.stay, self.others, self.rests) = (Some(me.stay), others, true);
        self.promise.follow(copy.number);
        self.promise.loosen();
        if copy.leader == self.id {
            let term = Term::new(copy.number, copy.round, &copy.holders);
            self.role = Role::Leader(Term { settled: true, ..term });
        }
        self.copy = Some(copy);
    }

    /// Whether this rule is in force.
    pub(crate) fn keeps(&self, rule: Repair) -> bool {
        self.terms.rules.has(rule)
    }

    /// This stay of this node. Nothing reaches a node that is nowhere, so there is one whenever it matters.
    pub(crate) fn me(&self) -> Member {
        Member { id: self.id, stay: self.stay.unwrap_or_default() }
    }

    pub(crate) fn leads(&self) -> bool {
        self.term().is_some()
    }

    /// If it leads.
    pub(crate) fn term(&self) -> Option<&Term> {
        match &self.role {
            Role::Leader(term) => Some(term),
            Role::Follower | Role::Candidate(_) => None,
        }
    }

    /// Whether it keeps a copy, as far as it knows.
    pub(crate) fn is_holder(&self) -> bool {
        self.copy.as_ref().is_some_and(|copy| copy.holders.contains(&self.me()))
    }

    /// The latest beat that it heard or sent.
    pub(crate) fn beat(&self) -> (Option<LeaderNo>, Round) {
        self.copy.as_ref().map_or((None, Round::default()), |copy| (Some(copy.number), copy.round))
    }

    /// Whether this was it.
    pub(crate) fn is_latest_beat(&self, number: Option<LeaderNo>, round: Round) -> bool {
        number.is_some() && self.beat() == (number, round)
    }

    /// Whether there may be no leader that hears what is said to it alone.
    pub(crate) fn knows_no_leader(&self) -> bool {
        self.rests || self.copy.is_none()
    }
}

/// What it does, for an office.
impl<O: Office> Chair<O> {
    /// Listens from now on whether there is a leader, for as long as a bond lasts.
    pub(super) fn await_silence(&self, office: &O, out: &mut OutOf<O>) {
        out.arm(office.timer(Timer::Silence), self.terms.times.bond());
    }

    /// It neither leads nor wants to.
    pub(super) fn resign(&mut self, office: &mut O, out: &mut OutOf<O>) {
        if self.leads() {
            out.disarm(office.timer(Timer::Beat));
            office.resign();
        }
        self.role = Role::Follower;
    }

    /// Wakes all members: it does not know whether there is a leader.
    pub(crate) fn knock(&mut self, office: &O, out: &mut OutOf<O>) {
        self.rests = false;
        out.broadcast(office.ask(self));
        self.await_silence(office, out);
    }

    /// A member wants a leader. If this is one, it says so; otherwise it listens from now on whether there is one.
    pub(crate) fn stir(&mut self, office: &mut O, out: &mut OutOf<O>) {
        if self.rests && self.leads() {
            self.begin_round(false, office, out);
        } else if self.rests {
            self.rests = false;
            self.await_silence(office, out);
        }
    }

    /// *A*: a beat. Tells whether it follows.
    pub(crate) fn on_beat(
        &mut self,
        from: NodeId,
        copy: Copy<O::Rides>,
        wanted: bool,
        office: &mut O,
        out: &mut OutOf<O>,
    ) -> bool {
        if copy.leader != from || self.copy.as_ref().is_some_and(|own| copy.age() <= own.age()) {
            return false;
        }
        if !self.promise.may_follow(copy.number) && self.keeps(guard::PROMISE) {
            // It has voted for a candidate that came to nothing, or is itself late. Only under a greater number can it
            // follow.
            if let Some(number) = self.promise.number() {
                out.send(from, office.say(Words::Ahead { number }));
            }
            return false;
        }
        out.clause("A");
        self.resign(office, out);
        self.promise.follow(copy.number);
        (self.copy, self.asked) = (Some(copy), wanted);
        self.await_silence(office, out);
        true
    }

    /// The first to come begins to lead.
    pub(crate) fn found(&mut self, generation: Generation, office: &mut O, out: &mut OutOf<O>) {
        let me = self.me();
        let number = LeaderNo { counter: 1, stay: me.stay };
        self.copy = Some(Copy::first(number, generation, me, alloc::vec![me]));
        self.lead(number, O::Estate::default(), office, out);
    }

    pub(crate) fn on_met(&mut self, peer: NodeId, office: &mut O, out: &mut OutOf<O>) {
        if let Err(at) = self.others.binary_search(&peer) {
            self.others.insert(at, peer);
        }
        // A newcomer learns from a beat which member leads, and may be needed to keep a copy.
        if self.leads() && self.rests {
            self.begin_round(false, office, out);
        }
    }

    pub(crate) fn on_parted(&mut self, peer: NodeId, office: &mut O, out: &mut OutOf<O>) {
        self.others.retain(|other| *other != peer);
        office.part(peer);
        let (patience, forgets) = (self.terms.care.patience, self.keeps(guard::FORGET_VOLUNTEER));
        if let Role::Leader(term) = &mut self.role {
            term.part(peer, patience, forgets);
            if self.leaving && self.others.is_empty() {
                self.depart(office, out);
            }
        }
    }

    /// It is about to leave, and wants nothing any more. Tells whether it goes at once: no leader can count on it.
    pub(crate) fn take_leave(&mut self, office: &mut O, out: &mut OutOf<O>) -> bool {
        let me = self.me();
        if let Role::Leader(term) = &mut self.role
            && let Some(holder) = term.holder(me)
        {
            holder.leaving = true;
        }
        let leads = self.leads();
        let goes = if leads { self.others.is_empty() } else { !self.is_holder() && !self.asked };
        if goes {
            self.depart(office, out);
        } else {
            office.serve(self, out);
            out.arm(office.timer(Timer::Farewell), self.terms.farewell);
        }
        goes
    }

    /// As of this beat its copy is not counted on. If an offer of its own was late, it has been made a copy holder
    /// since.
    pub(crate) fn on_dismiss(&mut self, stay: Stay, beat: (LeaderNo, Round), office: &mut O, out: &mut OutOf<O>) {
        let is_older = || self.is_holder() && self.copy.as_ref().is_some_and(|copy| copy.beat() > beat);
        let is_late = self.stay != Some(stay) || is_older();
        if self.leaving && !(is_late && self.keeps(guard::LATE_DISMISSALS)) {
            self.depart(office, out);
        }
    }

    /// It goes, and forgets everything.
    pub(crate) fn depart(&mut self, office: &mut O, out: &mut OutOf<O>) {
        out.disarm(office.timer(Timer::Beat));
        out.disarm(office.timer(Timer::Silence));
        office.depart(out);
        out.disarm(office.timer(Timer::Farewell));
        out.depart();
        *self = Self::blank(self.id, self.terms);
    }
}

impl<R: Default> Copy<R> {
    /// Before the first beat of the first leader, of which all these have a copy.
    pub(crate) fn first(number: LeaderNo, generation: Generation, leader: Member, holders: Vec<Member>) -> Self {
        Self {
            number,
            version: Version::default(),
            round: Round::default(),
            leader: leader.id,
            generation,
            holders,
            rides: R::default(),
        }
    }
}

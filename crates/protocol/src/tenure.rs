//! Which member may lead, and for how long: leases, leader numbers, and the majority of those that keep a copy.
//!
//! A holder that has crashed and one that is cut off look the same to all others. So a node that holds something stops
//! by itself, by its own clock, and the others wait until it must have done so ([`Times`]). Which node may hand things
//! out is decided by a majority of copy holders ([`is_majority`]), each of which is bound to one leader at a time
//! ([`Promise`]). docs/guarantees.md has the argument.
//!
//! All of that is a `Chair`: it elects a leader, sends its beats, keeps enough copies, and comes back after it was
//! killed. What is handed out it does not know. An algorithm stands on a chair by being its `Office`.

use core::hash::{Hash, Hasher};
use core::time::Duration;

use serde::{Deserialize, Serialize};

use crate::relative::{Kind, Series};
use crate::{NodeId, Stay};

mod beat;
mod chair;
mod election;
pub mod guard;
mod life;
mod term;

pub use chair::Copy;
pub(crate) use chair::{Candidacy, Chair, Office, OutOf, Role, Terms, Timer as ChairTimer, Words};
pub use life::{Durable, Holding};
pub(crate) use term::{Change, Term};

/// One stay of a node in a neighbourhood. A node that comes back, knowing nothing, is another member.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Member {
    /// Which node.
    pub id: NodeId,
    /// Which of its stays.
    pub stay: Stay,
}

/// Which founding it was: each has a greater number than all before.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Generation(pub u32);

impl Hash for Generation {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        Kind::Stamp.hash(Series::Generation.stamp(self.0.into()), hasher);
    }
}

/// The number of a leadership. Stays are unique, so no two leaderships have the same one. Which of two stays is the
/// greater means nothing; it only has to be the same for all.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct LeaderNo {
    /// One more than any that the leader knew of when it stood. Standing takes a bond's time, seconds at least, so that
    /// 32 bits last for a century.
    pub counter: u32,
    /// Of the leader.
    pub stay: Stay,
}

impl LeaderNo {
    /// The number under which `stay` may stand, now that `self` is taken.
    #[must_use]
    pub fn next(self, stay: Stay) -> Self {
        Self { counter: self.counter + 1, stay }
    }
}

impl Hash for LeaderNo {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        Kind::Level.hash(u128::from(self.counter), hasher);
        self.stay.hash(hasher);
    }
}

/// Counts the beats of leaders: every beat has a greater one than the beats of the same leader before.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Round(u64);

impl Round {
    /// The round after this one.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

/// None at all is below every other and equal to none: a newcomer begins with it.
impl Hash for Round {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let has_begun = *self != Self::default();
        has_begun.hash(hasher);
        if has_begun {
            Kind::Round.hash(self.0.into(), hasher);
        }
    }
}

/// Counts the changes of the set of copy holders. A new leader counts on from those that it knows of.
///
/// Which of two sets under one leader is the later one is told by this alone. So a copy holder need not store the round
/// of every beat.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Version(u64);

impl Version {
    /// The version after one more change.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl Hash for Version {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        Kind::Version.hash(self.0.into(), hasher);
    }
}

/// How long things last. Every duration is by the clock of the node that waits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Times {
    /// From one beat of the leader to the next. A leader's right to grant lasts no longer.
    pub beat: Duration,
    /// From the sending of a claim to the end of the grant that answers it.
    pub lease: Duration,
    /// By how many percent more one clock may measure than another.
    pub drift_percent: u16,
    /// What guards wait beyond that.
    pub margin: Duration,
}

impl Times {
    /// How long to wait until a time that another node measures is over for certain.
    pub fn guard(self, time: Duration) -> Duration {
        time + time * u32::from(self.drift_percent) / 100 + self.margin
    }

    /// How long a copy holder is bound to a leader from the arrival of a beat: until every grant that may be made after
    /// this beat has run out.
    pub fn bond(self) -> Duration {
        self.guard(self.beat + self.lease)
    }

    /// In how many beats a grant has run out for certain. The first may come at once.
    pub fn beats_to_reclaim(self) -> u16 {
        let beats = self.guard(self.lease).as_nanos().div_ceil(self.beat.as_nanos().max(1)) + 1;
        u16::try_from(beats).unwrap_or(u16::MAX)
    }
}

/// How many copies there should be, and when a holder counts as lost.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Care {
    /// With three copies, any one of them may be lost.
    pub copies: u16,
    /// How many beats in a row a copy holder may leave unanswered before it is replaced.
    pub patience: u16,
}

/// Whether those for whom `counts` is true are more than half of `all`. Of two majorities of the same set, or of two
/// sets that differ by one member, some member is in both.
pub fn is_majority<T>(all: &[T], counts: impl Fn(&T) -> bool) -> bool {
    2 * all.iter().filter(|one| counts(one)).count() > all.len()
}

/// How a copy holder stands to the leader whose number it knows.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
enum Bond {
    /// It has voted, no more.
    #[default]
    Voted,
    /// It has acknowledged a beat, and the leader may count on it still.
    Bound,
    /// It had acknowledged a beat, and its time is over.
    Loose,
}

/// What a copy holder has promised: to ignore all leaders below a number, and for a time to support no other.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Promise {
    number: Option<LeaderNo>,
    bond: Bond,
}

impl Promise {
    /// The greatest number that it has voted for or followed.
    pub fn number(self) -> Option<LeaderNo> {
        self.number
    }

    /// Whether it may support no other leader at present.
    pub fn is_bound(self) -> bool {
        self.bond == Bond::Bound
    }

    /// Whether it may vote for `number`. `relieves` is the leader that has handed its duty over to the candidate.
    pub fn may_vote(self, number: LeaderNo, relieves: Option<LeaderNo>) -> bool {
        let Some(own) = self.number else { return true };
        match self.bond {
            // A vote that got lost is given again.
            _ if number == own => true,
            Bond::Voted => number > own,
            Bond::Bound if relieves != Some(own) => false,
            // A leader that was followed may have made grants, and fences are told apart by the counter alone.
            Bond::Bound | Bond::Loose => number.counter > own.counter,
        }
    }

    /// Votes for `number`. A copy holder that is bound and votes for the successor that its leader has chosen stays
    /// bound to the leader's grants, which only that successor knows of: it votes for no other for as long.
    pub fn vote(&mut self, number: LeaderNo) {
        if self.number != Some(number) {
            let bond = if self.is_bound() { Bond::Bound } else { Bond::Voted };
            *self = Self { number: Some(number), bond };
        }
    }

    /// Whether it may take `number` for its leader. One with a greater number was elected by a majority, so earlier
    /// leaders have nothing to grant any more.
    pub fn may_follow(self, number: LeaderNo) -> bool {
        self.number.is_none_or(|own| number >= own)
    }

    /// Acknowledges a beat under `number`; to be loosened [`Times::bond`] after its arrival.
    pub fn follow(&mut self, number: LeaderNo) {
        *self = Self { number: Some(number), bond: Bond::Bound };
    }

    /// The time is over for which it was bound.
    pub fn loosen(&mut self) {
        if self.bond == Bond::Bound {
            self.bond = Bond::Loose;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(counter: u32, stay: u64) -> LeaderNo {
        LeaderNo { counter, stay: Stay(stay) }
    }

    const TIMES: Times = Times {
        beat: Duration::from_secs(1),
        lease: Duration::from_secs(3),
        drift_percent: 10,
        margin: Duration::from_millis(500),
    };

    #[test]
    fn a_guard_outlasts_what_it_guards_by_drift_and_margin() {
        assert_eq!(TIMES.guard(TIMES.lease), Duration::from_millis(3_800));
        assert_eq!(TIMES.bond(), Duration::from_millis(4_900));
        assert_eq!(TIMES.beats_to_reclaim(), 5, "four beats take 3.8 s, and the first may be due at once");
    }

    #[test]
    fn majorities_of_sets_that_differ_by_one_member_meet() {
        for size in 1..5_u32 {
            let (small, large): (alloc::vec::Vec<_>, alloc::vec::Vec<_>) = ((0..size).collect(), (0..=size).collect());
            for a in 0..1_u32 << size {
                for b in 0..1_u32 << (size + 1) {
                    let both = is_majority(&small, |at| a >> at & 1 == 1) && is_majority(&large, |at| b >> at & 1 == 1);
                    assert!(!both || a & b != 0);
                }
            }
        }
        assert!(!is_majority(&[0, 1], |at| *at == 0), "half is not enough");
        assert!(!is_majority::<u32>(&[], |_| true), "nobody is no majority");
    }

    #[test]
    fn a_member_that_knows_nothing_may_vote_for_any_candidate() {
        assert!(Promise::default().may_vote(number(1, 0), None));
        assert!(Promise::default().may_follow(number(1, 0)));
    }

    #[test]
    fn a_member_that_has_voted_may_turn_to_a_greater_number_and_never_to_a_smaller_one() {
        let mut promise = Promise::default();
        promise.vote(number(2, 1));
        assert!(promise.may_vote(number(2, 2), None));
        assert!(promise.may_vote(number(2, 1), None), "the vote may have been lost");
        assert!(!promise.may_vote(number(2, 0), None) && !promise.may_follow(number(2, 0)));
        assert!(promise.may_follow(number(2, 1)));
    }

    #[test]
    fn a_copy_holder_that_is_bound_votes_for_no_other_until_its_time_is_over() {
        let mut promise = Promise::default();
        promise.follow(number(2, 1));
        assert!(!promise.may_vote(number(3, 2), None));
        assert!(promise.may_follow(number(3, 2)), "elected without this vote");
        promise.loosen();
        assert!(promise.may_vote(number(3, 2), None));
        assert!(!promise.may_vote(number(2, 2), None), "its fences could be those of the former leader");
        assert!(promise.may_follow(number(2, 1)), "the leader was only slow");
    }

    #[test]
    fn a_member_that_votes_again_for_its_former_leader_does_not_forget_that_it_has_followed_it() {
        let mut promise = Promise::default();
        promise.follow(number(2, 1));
        promise.loosen();
        assert!(promise.may_vote(number(2, 1), None));
        promise.vote(number(2, 1));
        assert!(!promise.may_vote(number(2, 2), None), "its fences could be those of the former leader");
    }

    #[test]
    fn a_leader_that_hands_over_frees_only_those_bound_to_itself() {
        let mut promise = Promise::default();
        promise.follow(number(2, 1));
        assert!(promise.may_vote(number(3, 2), Some(number(2, 1))));
        assert!(!promise.may_vote(number(3, 2), Some(number(1, 0))));
        promise.vote(number(3, 2));
        assert!(promise.may_vote(number(3, 2), Some(number(2, 1))), "the vote may have been lost");
        assert!(!promise.may_vote(number(4, 0), None), "only the successor knows who uses what");
        promise.loosen();
        assert!(promise.may_vote(number(4, 0), None));
    }
}

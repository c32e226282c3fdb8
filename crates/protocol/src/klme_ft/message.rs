//! What members say to one another.

use alloc::vec::Vec;
use core::hash::{Hash, Hasher};

use serde::{Deserialize, Serialize};

use crate::relative::{Kind, Series};
use crate::tenure::{self, Generation, LeaderNo, Member, Round};
use crate::{Fence, Permit, Stay};

/// What members say to one another.
///
/// ```text
///   0 (leader)  ──BEAT──▶ all members        at intervals: "I lead, under this number, in this round"
///   0 ◀──CLAIM── 1                           "I heard it", from a copy holder; "I want, use, no longer use a unit"
///   0 ──GRANT──▶ 1                           once a majority of the copy holders has heard the beat
///   0 ◀──CLAIM── 1                           the release
///
///   1 ──STAND──▶ copy holders                nothing was heard of 0 for too long
///   1 ◀──VOTE─── 2                           by a majority: 1 leads, under a greater number, and sends a BEAT
///
///   0 ◀──AHEAD── 2                           2 has voted for another one: 0 stands again, under a greater number
///
///   0 ──TOKEN──▶ 1                           0 is about to leave: 1 stands at once
///   0 ──DISMISS▶ 2                           2 is about to leave, and as of this round its copy is not counted on
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Message {
    /// *`Leader_info`*, with the copy of the token.
    Beat {
        /// Of the leader.
        copy: Copy,
        /// The leader looks for a member to keep a copy: all members answer.
        wanted: bool,
        /// No member wants anything: there will be no further beat until one does.
        rests: bool,
    },
    /// *`Req_CS`* and *Release*, and what acknowledges a beat.
    Claim {
        /// Of the sender.
        stay: Stay,
        /// Of the last beat that it heard.
        number: Option<LeaderNo>,
        /// Likewise.
        round: Round,
        /// What it claims.
        want: Want,
        /// *`I_am_leaving`*.
        leaving: bool,
    },
    /// *`Per_grant`*.
    Grant {
        /// Of the leader.
        number: LeaderNo,
        /// Of the beat under which it was claimed.
        round: Round,
        /// The unit.
        permit: Permit,
        /// Of this grant.
        seal: Seal,
        /// Whether it answers the claim of a member that uses the unit already.
        renews: bool,
    },
    /// "I want to lead."
    Stand {
        /// The number it wants to lead under.
        number: LeaderNo,
        /// Whose votes count, as far as it knows.
        holders: Vec<Member>,
        /// The leader that has handed its duty over to it; perhaps itself, under a smaller number.
        relieves: Option<LeaderNo>,
    },
    /// "Lead, then."
    Vote {
        /// Of the sender.
        stay: Stay,
        /// Of the candidate.
        number: LeaderNo,
        /// The latest that the sender knows of.
        copy: Option<Copy>,
    },
    /// "I cannot follow you: I have voted for a greater number." Or vote for you: I stand under one.
    Ahead {
        /// That number.
        number: LeaderNo,
    },
    /// *Token*: the leader is about to depart and will not grant anything any more.
    Token {
        /// Of the leader that departs.
        number: LeaderNo,
        /// *`T_alloc_id`*.
        allocated: Vec<Allocation>,
    },
    /// A member that is about to leave may go: its copy is not counted on as of this round.
    Dismiss {
        /// Of the receiver: the claim that this answers may be of an earlier one.
        stay: Stay,
        /// Of the leader.
        number: LeaderNo,
        /// Of the latest beat.
        round: Round,
    },
}

/// What a copy holder knows of the token: *`R_Queue`* rides on beats.
pub type Copy = tenure::Copy<Vec<Member>>;

/// What a claim says about its sender.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Want {
    /// It uses nothing and wants nothing.
    Nothing,
    /// It wants a unit, and does not use any.
    Wait,
    /// It uses the unit that it was granted so, and goes on.
    Hold(Seal),
    /// It does not use the unit any more that it was granted so.
    Free(Seal),
}

/// A unit in use.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Allocation {
    /// Its user.
    pub member: Member,
    /// Which unit.
    pub permit: Permit,
    /// Of the grant.
    pub seal: Seal,
}

/// Tells grants of one generation apart, and which came first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Seal {
    /// The counter of the leader that granted it.
    leadership: u32,
    /// Which of that leader's grants it was.
    count: u64,
}

impl Seal {
    /// Before the first grant of a leader.
    pub(super) fn first(number: LeaderNo) -> Self {
        Self { leadership: number.counter, count: 0 }
    }

    /// Of the next grant.
    #[must_use]
    pub(super) fn next(self) -> Self {
        Self { count: self.count + 1, ..self }
    }

    /// What the resource is shown.
    pub(super) fn fence(self, generation: Generation) -> Fence {
        Fence { counter: self.count, ..Fence::first(generation.0, self.leadership) }
    }

    /// Of the grant that a resource is shown this for, if it is a grant of this token.
    pub(super) fn of(fence: Fence, generation: Generation) -> Option<Self> {
        let seal = Self { leadership: fence.leadership(), count: fence.counter };
        (seal.fence(generation) == fence).then_some(seal)
    }
}

impl Hash for Seal {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        // As in a fence, whose generation is hashed by itself.
        Kind::Stamp.hash(Series::Grant.stamp(self.fence(Generation(0)).into()), hasher);
    }
}

//! Numbers that mean something only beside others of their kind.
//!
//! A height counts for being above or below another one, a fence for being later than the one before, a permit for
//! being the same as another. A checker that takes two states for one when they differ in nothing else has far fewer of
//! them to look at. So these types hash as a mark and a value: to an ordinary hasher that is just more to hash, and a
//! checker's hasher recognises the mark and replaces the value by what it means.

use core::hash::Hasher;

/// What a number can be compared with, and what its hash may forget.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// *h1* of a height: a common shift of all levels changes nothing.
    Level,
    /// *h2* of a height: likewise.
    Order,
    /// The fence of the latest grant, from which the next is made: it counts by how far it is behind the last grant
    /// that was used, if it is. The permits that it is for were hashed just before.
    Fence,
    /// The fence of a grant: only its order among the fences of the same permit counts. The permits were hashed just
    /// before.
    Granted,
    /// A set of permits: which is which does not matter.
    Permits,
    /// Of a link, or of a member's life, as the layer below goes by it: where nothing is delivered late it does not
    /// matter at all.
    Incarnation,
    /// How many events of some kind a node has heard of: a common shift of all such counts changes nothing.
    Count,
    /// A place in an order that moves with the counts: shifted as they are.
    Rank,
    /// A number of some [`Series`]: only which are equal and which is greater counts, not by how much. A new one is
    /// greater than all of its series that it could ever be compared with; stays are drawn, and a checker says how new
    /// ones lie.
    Stamp,
    /// A round of a leader: a stamp of a series of the leader's own. The leader's number, a level and a stay, was
    /// hashed just before.
    Round,
    /// A version of the set of copy holders: likewise, in a series of its own.
    Version,
}

/// What stamps are compared within.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Series {
    /// Grants, where they are not told by a fence.
    Grant,
    /// Stays in a neighbourhood.
    Stay,
    /// Lives of members, where an algorithm compares them.
    Life,
    /// Generations, where an algorithm compares them.
    Generation,
}

impl Series {
    /// The value of a stamp of this series, for [`Kind::hash`].
    pub fn stamp(self, number: u128) -> u128 {
        debug_assert!(number >> Self::SHIFT == 0);
        (self as u128) << Self::SHIFT | number
    }

    /// Which series it is of that such a value was made of, as a number, and the number that it has there.
    pub fn of_stamp(value: u128) -> (u128, u128) {
        (value >> Self::SHIFT, value & ((1 << Self::SHIFT) - 1))
    }

    /// Numbers are shorter than this.
    const SHIFT: u32 = 120;
}

impl Kind {
    const ALL: [Self; 11] = [
        Self::Level,
        Self::Order,
        Self::Fence,
        Self::Granted,
        Self::Permits,
        Self::Incarnation,
        Self::Count,
        Self::Rank,
        Self::Stamp,
        Self::Round,
        Self::Version,
    ];

    /// Hashes `value` as one of this kind: its mark is the only thing in this crate that is written as an `i128`.
    pub fn hash<H: Hasher>(self, value: u128, hasher: &mut H) {
        hasher.write_i128(self as i128);
        hasher.write_u128(value);
    }

    /// The kind that a mark stands for.
    pub fn of_mark(mark: i128) -> Option<Self> {
        usize::try_from(mark).ok().and_then(|at| Self::ALL.get(at).copied())
    }
}

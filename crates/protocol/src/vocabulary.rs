//! The words that every algorithm and every world share.

use alloc::vec::Vec;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::num::NonZeroU16;

use serde::ser::SerializeSeq;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::relative::Kind;

/// The largest number of units a resource can have: the width of a [`Permits`] set.
pub const K_MAX: u32 = 128;

/// A node's identifier, unique in the network: the papers' `0..n-1`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The id as an index into a vector of all nodes.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Debug for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// How many units of the resource a request asks for: never none.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Units(pub NonZeroU16);

impl Units {
    /// A single unit.
    pub const ONE: Self = Self(NonZeroU16::MIN);

    /// So many units, unless there are none or more than fit.
    pub fn new(count: u32) -> Option<Self> {
        u16::try_from(count).ok().and_then(NonZeroU16::new).map(Self)
    }

    /// The number itself.
    pub fn count(self) -> u32 {
        u32::from(self.0.get())
    }
}

/// How urgent a request is; a larger number is more urgent.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Priority(pub u32);

/// By when a request should be granted: the smaller number is the earlier. Algorithms compare deadlines with one
/// another and never with a clock, so the unit of time is the application's own.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Deadline(pub u64);

impl Deadline {
    /// Whenever it may be: later than every other.
    pub const NONE: Self = Self(u64::MAX);

    /// Whether there is none.
    #[allow(clippy::trivially_copy_pass_by_ref)] // as serde wants it
    fn is_none(&self) -> bool {
        *self == Self::NONE
    }
}

impl Default for Deadline {
    fn default() -> Self {
        Self::NONE
    }
}

/// What an application asks for. An algorithm that knows nothing of priorities or deadlines serves all demands alike.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Demand {
    /// All of these or nothing.
    pub units: Units,
    /// How urgent it is.
    pub priority: Priority,
    /// By when it should be granted.
    #[serde(default, skip_serializing_if = "Deadline::is_none")]
    pub deadline: Deadline,
}

/// What of a demand tells an algorithm how urgent it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Urgency {
    /// Neither its priority nor its deadline.
    Ignored,
    /// Its priority.
    Priority,
    /// Its deadline.
    Deadline,
}

impl Demand {
    /// One unit at the lowest priority, whenever it may be.
    pub const ONE: Self = Self { units: Units::ONE, priority: Priority(0), deadline: Deadline::NONE };
}

/// A number that only grows with every grant of a permit, so that a resource can refuse a holder that is late.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
pub struct Fence {
    /// Grows when units are made anew and, where leaders grant, from one leader to the next: the generation in the
    /// upper half, the leadership in the lower.
    pub epoch: u64,
    /// Grows with every grant.
    pub counter: u64,
}

impl Fence {
    /// Before the first grant of this leadership in this generation. Where no node leads, the leadership is 0.
    pub fn first(generation: u32, leadership: u32) -> Self {
        Self { epoch: u64::from(generation) << 32 | u64::from(leadership), counter: 0 }
    }

    /// Under which leader of its generation.
    #[allow(clippy::cast_possible_truncation)] // the lower half
    pub fn leadership(self) -> u32 {
        self.epoch as u32
    }

    /// The fence of the next grant.
    #[must_use]
    pub fn next(self) -> Self {
        Self { counter: self.counter.saturating_add(1), ..self }
    }
}

impl From<Fence> for u128 {
    /// The later fence is the greater number.
    fn from(fence: Fence) -> Self {
        Self::from(fence.epoch) << 64 | Self::from(fence.counter)
    }
}

impl Hash for Fence {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        Kind::Fence.hash((*self).into(), hasher);
    }
}

/// Leave to use some units now.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Grant {
    /// Which units.
    pub permits: Permits,
    /// To be shown to the resource.
    pub fence: Fence,
}

impl Hash for Grant {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let Self { permits, fence } = *self;
        permits.hash(hasher);
        Kind::Granted.hash(fence.into(), hasher);
    }
}

/// The number of one unit of the resource.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct Permit(u8);

impl Permit {
    /// The number as an index into a vector over all permits.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

impl Hash for Permit {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        Permits::single(*self).hash(hasher);
    }
}

impl TryFrom<u8> for Permit {
    type Error = &'static str;

    fn try_from(number: u8) -> Result<Self, Self::Error> {
        if u32::from(number) < K_MAX { Ok(Self(number)) } else { Err("a permit number is too large") }
    }
}

impl From<Permit> for u8 {
    fn from(permit: Permit) -> Self {
        permit.0
    }
}

impl fmt::Debug for Permit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Permit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// A set of permits, numbered `0..k`; written as a list of numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Permits(u128);

impl Permits {
    /// No permit at all.
    pub const NONE: Self = Self(0);

    /// The permits `0..k` of a resource with `k` units.
    pub fn first(k: u32) -> Self {
        debug_assert!(k <= K_MAX);
        Self(if k >= K_MAX { u128::MAX } else { (1 << k) - 1 })
    }

    /// The set of this one permit.
    pub fn single(permit: Permit) -> Self {
        Self(1 << permit.0)
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many there are.
    pub fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// The permits in either set.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The permits in both sets.
    #[must_use]
    pub fn common(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// The permits of this set that are not in the other.
    #[must_use]
    pub fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The `count` lowest of the permits, or all of them if there are fewer.
    #[must_use]
    pub fn lowest(self, count: u32) -> Self {
        let mut rest = self.0;
        for _ in 0..count {
            rest &= rest.wrapping_sub(1);
        }
        Self(self.0 & !rest)
    }

    /// The permit numbers in growing order.
    pub fn iter(self) -> impl Iterator<Item = Permit> {
        let mut rest = self.0;
        core::iter::from_fn(move || {
            // At most 128 permits: the position fits.
            #[allow(clippy::cast_possible_truncation)]
            let lowest = rest.trailing_zeros() as u8;
            (rest != 0).then(|| {
                rest &= rest - 1;
                Permit(lowest)
            })
        })
    }
}

impl Hash for Permits {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        Kind::Permits.hash(self.0, hasher);
    }
}

impl fmt::Debug for Permits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

impl Serialize for Permits {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // With its length first, without which a binary format cannot begin.
        let mut permits = serializer.serialize_seq(Some(self.iter().count()))?;
        for permit in self.iter() {
            permits.serialize_element(&permit)?;
        }
        permits.end()
    }
}

impl<'de> Deserialize<'de> for Permits {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let permits = Vec::<Permit>::deserialize(deserializer)?;
        Ok(permits.into_iter().fold(Self::NONE, |set, permit| set.union(Self::single(permit))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_k_permits_are_numbered_from_zero() {
        assert_eq!(Permits::first(3).iter().map(Permit::index).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(Permits::first(K_MAX).count(), K_MAX);
        assert!(Permits::first(0).is_empty());
    }

    #[test]
    fn sets_of_permits_obey_set_algebra() {
        let (a, b) = (Permits::first(3), Permits::single(Permit(2)).union(Permits::single(Permit(7))));
        assert_eq!(a.common(b), Permits::single(Permit(2)));
        assert_eq!(a.without(b), Permits::first(2));
        assert_eq!(a.union(b).count(), 4);
        assert_eq!((b.lowest(0), b.lowest(1), b.lowest(2)), (Permits::NONE, Permits::single(Permit(2)), b));
        assert_eq!(b.lowest(9), b);
    }

    #[test]
    fn a_fence_only_grows() {
        let fence = Fence { counter: 9, ..Fence::first(1, 3) };
        assert!(fence.next() > fence);
        assert!(Fence::first(1, 4) > fence.next(), "of another leader");
        assert!(Fence::first(2, 0) > Fence::first(1, u32::MAX), "made anew");
        assert_eq!(u128::from(Fence { counter: 9, ..Fence::first(1, 3) }), 1 << 96 | 3 << 64 | 9);
    }
}

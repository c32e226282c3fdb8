//! What links are for: the resources whose nodes stand on them.

use serde::{Deserialize, Serialize};

use crate::parcel::Resource;

/// Tells one set of resources from another, in a few bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Mark(pub u32);

impl Mark {
    /// Of none: such a node needs no links.
    pub const NONE: Self = Self(0);

    /// Of these, in growing order. That of one resource is small.
    pub(super) fn of(resources: &[Resource]) -> Self {
        let mark =
            |mark: u32, resource: &Resource| mark.wrapping_mul(0x9e37_79b1).wrapping_add(1 + u32::from(resource.0));
        Self(resources.iter().fold(0, mark))
    }

    /// Whether a node that stands on links for this set does so for all that the two of a pair have in common: as far
    /// as a mark can say, if it is the set of one of them.
    pub(super) fn makes_up_for(self, one: Self, other: Self) -> bool {
        self == one || self == other
    }
}

/// Whether two sets, each in growing order, have any in common.
pub(super) fn meet(one: &[Resource], other: &[Resource]) -> bool {
    one.iter().any(|resource| other.binary_search(resource).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_resources_have_marks_of_their_own_and_none_has_none() {
        let [a, b, c] = [0, 1, 2].map(Resource);
        let marks = [vec![], vec![a], vec![b], vec![c], vec![a, b], vec![a, c], vec![b, c], vec![a, b, c]];
        let marks = marks.map(|set| Mark::of(&set));
        assert_eq!(marks[..2], [Mark::NONE, Mark(1)]);
        for (at, mark) in marks.iter().enumerate() {
            assert!(!marks[at + 1..].contains(mark));
        }
        assert!(meet(&[a, c], &[b, c]) && !meet(&[a], &[b, c]) && !meet(&[], &[a]));
    }
}

//! Which links there are, and how many there were over time.

use std::collections::BTreeSet;

use driftlock_net::Time;
use driftlock_protocol::NodeId;

/// What became of the links of all nodes in some time. A link is there as long as both ends have been told that it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Bonds {
    /// How many came to be.
    pub formed: u64,
    /// How many broke.
    pub broken: u64,
    /// How many there were, integrated over time.
    pub nanos: u128,
}

impl Bonds {
    /// What became of them since then.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            formed: self.formed - earlier.formed,
            broken: self.broken - earlier.broken,
            nanos: self.nanos - earlier.nanos,
        }
    }
}

/// What nodes have been told of their links.
#[derive(Clone, Debug, Default)]
pub(super) struct Ends {
    /// At which end of which links, the lower number first, there is a link.
    up: BTreeSet<(NodeId, NodeId, NodeId)>,
    /// How many links are up at both ends.
    links: u64,
    now: Time,
    bonds: Bonds,
}

impl Ends {
    /// A node has been told of a link. Tells whether the link is now there, or gone, as one that both ends agree on.
    pub(super) fn told(&mut self, now: Time, node: NodeId, peer: NodeId, is_up: bool) -> bool {
        let (a, b) = (node.min(peer), node.max(peer));
        let other_is_up = self.up.contains(&(a, b, peer));
        let has_changed = if is_up { self.up.insert((a, b, node)) } else { self.up.remove(&(a, b, node)) };
        if !(has_changed && other_is_up) {
            return false;
        }
        self.bonds = self.bonds(now);
        self.now = now;
        if is_up {
            (self.links, self.bonds.formed) = (self.links + 1, self.bonds.formed + 1);
        } else {
            (self.links, self.bonds.broken) = (self.links - 1, self.bonds.broken + 1);
        }
        true
    }

    /// What became of links until now.
    pub(super) fn bonds(&self, now: Time) -> Bonds {
        let span = u128::from((now - self.now).0);
        Bonds { nanos: self.bonds.nanos + span * u128::from(self.links), ..self.bonds }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_counts_from_when_both_ends_have_it_until_one_has_not() {
        let (a, b, c) = (NodeId(0), NodeId(1), NodeId(2));
        let mut ends = Ends::default();
        let told = [
            (1, b, a, true, false),
            (2, a, b, true, true),
            (4, c, b, true, false),
            (6, b, a, false, true),
            (7, a, b, false, false),
            (8, a, b, false, false),
            (9, b, c, true, true),
        ];
        for (at, node, peer, is_up, is_change) in told {
            assert_eq!(ends.told(Time(at), node, peer, is_up), is_change, "at {at}");
        }
        assert_eq!(ends.bonds(Time(12)), Bonds { formed: 2, broken: 1, nanos: 4 + 3 });
        assert_eq!(ends.bonds(Time(12)).since(ends.bonds(Time(10))), Bonds { formed: 0, broken: 0, nanos: 2 });
    }
}

//! What may change in a layer: kinds of changes, and the changes themselves.

use alloc::vec::Vec;
use core::fmt;

use crate::NodeId;

/// Whom a change of some kind befalls.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Whom {
    /// One node.
    Node,
    /// Two nodes alike.
    Pair,
    /// A node, on account of another.
    NodeByAnother,
}

/// What makes changes of some kind happen.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Course {
    /// They disturb, and happen as often as they are allowed.
    Bounded,
    /// They may always happen, and need not.
    Free,
    /// They follow from other changes, after so many delays of a message on average, and always come in the end.
    Follows {
        /// How many.
        delays: u16,
    },
}

/// A kind of changes of a layer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Kind {
    /// As bounds and flags have it: `disk-losses`.
    pub name: &'static str,
    /// One of them, as people say: `lost disk`.
    pub one: &'static str,
    /// As scripts and transcripts have it: `wipe`.
    pub word: &'static str,
    /// Whom it befalls.
    pub whom: Whom,
    /// What makes it happen.
    pub course: Course,
}

/// A change of a layer: it befalls this node, or these two.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Change {
    /// Whom it befalls.
    pub node: NodeId,
    /// The other one. Of a change that befalls one node, that node again.
    pub peer: NodeId,
    /// Which kind of change it is.
    pub kind: &'static Kind,
}

impl Change {
    /// It befalls one node.
    pub const fn at(kind: &'static Kind, node: NodeId) -> Self {
        Self { node, peer: node, kind }
    }

    /// It befalls two nodes, or the first on account of the second.
    pub const fn between(kind: &'static Kind, node: NodeId, peer: NodeId) -> Self {
        Self { node, peer, kind }
    }

    /// All changes of these kinds that there can be among so many nodes. The place of one in this list is its number.
    pub fn all(kinds: &[&'static Kind], nodes: u32) -> Vec<Self> {
        kinds.iter().flat_map(|kind| (0..kind.count(nodes)).map(|number| kind.numbered(number))).collect()
    }

    /// Its place in that list. The order of a pair makes no difference.
    pub fn number(self, kinds: &[&'static Kind], nodes: u32) -> u32 {
        let before = kinds.iter().take_while(|kind| **kind != self.kind);
        before.map(|kind| kind.count(nodes)).sum::<u32>() + self.number_in_kind()
    }

    fn number_in_kind(self) -> u32 {
        let (node, peer) = (self.node.0, self.peer.0);
        match self.kind.whom {
            Whom::Node => node,
            Whom::Pair => edge(node.min(peer), node.max(peer)),
            Whom::NodeByAnother => 2 * edge(node.min(peer), node.max(peer)) + u32::from(peer < node),
        }
    }
}

impl Kind {
    /// How many changes of this kind there can be among so many nodes.
    fn count(&self, nodes: u32) -> u32 {
        match self.whom {
            Whom::Node => nodes,
            Whom::Pair => edge(0, nodes),
            Whom::NodeByAnother => 2 * edge(0, nodes),
        }
    }

    fn numbered(&'static self, number: u32) -> Change {
        let (a, b) = match self.whom {
            Whom::Node => (number, number),
            Whom::Pair => ends(number),
            Whom::NodeByAnother if number.is_multiple_of(2) => ends(number / 2),
            Whom::NodeByAnother => {
                let (a, b) = ends(number / 2);
                (b, a)
            }
        };
        Change::between(self, NodeId(a), NodeId(b))
    }
}

/// The number of the pair `a < b`, counted row by row: there are as many pairs of nodes as the number of `(0, nodes)`.
fn edge(a: u32, b: u32) -> u32 {
    b * b.saturating_sub(1) / 2 + a
}

fn ends(edge_number: u32) -> (u32, u32) {
    let b = (1..).take_while(|&b| edge(0, b) <= edge_number).last().unwrap_or(1);
    (edge_number - edge(0, b), b)
}

/// As scripts and transcripts have it: `down 0-2`, `join 3`, `miss 1 at 0`.
impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { node, peer, kind: Kind { word, whom, .. } } = self;
        match whom {
            Whom::Node => write!(f, "{word} {node}"),
            Whom::Pair => write!(f, "{word} {node}-{peer}"),
            Whom::NodeByAnother => write!(f, "{word} {peer} at {node}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;
    use crate::ideal::{FAILURES, Ideal, JOINS, Links, NOTICES};

    #[test]
    fn every_change_has_a_number_of_its_own_which_is_its_place() {
        for nodes in 1..=8 {
            let all = Change::all(Links::KINDS, nodes);
            for (number, change) in (0..).zip(&all) {
                assert_eq!(change.number(Links::KINDS, nodes), number, "{change} of {nodes}");
            }
        }
        assert_eq!(Change::all(Links::KINDS, 3).len(), 3 + 3 + 3 + 6 + 3);
        let [a, b] = [1, 3].map(NodeId);
        let number = |change: Change| change.number(Links::KINDS, 4);
        assert_eq!(number(Change::between(&FAILURES, a, b)), number(Change::between(&FAILURES, b, a)));
        assert_ne!(number(Change::between(&NOTICES, a, b)), number(Change::between(&NOTICES, b, a)));
    }

    #[test]
    fn changes_are_told_in_the_words_of_scripts() {
        let [a, b] = [0, 2].map(NodeId);
        assert_eq!(Change::between(&FAILURES, a, b).to_string(), "down 0-2");
        assert_eq!(Change::at(&JOINS, b).to_string(), "join 2");
        assert_eq!(Change::between(&NOTICES, a, b).to_string(), "miss 2 at 0");
    }
}

//! *Q*: who asks through this node, the most urgent first.

use alloc::vec::Vec;

use super::Rank;
use crate::NodeId;

/// A request that waits: the node's own, or a neighbour's.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Entry {
    pub(super) node: NodeId,
    pub(super) rank: Rank,
}

/// The paper's priority queue: by rank, and in the order of arrival where ranks are equal. Nobody is in it twice.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct RequestQueue(Vec<Entry>);

impl RequestQueue {
    /// These entries as they are, in an order that no request could bring about.
    #[cfg(test)]
    pub(super) fn of(entries: Vec<Entry>) -> Self {
        Self(entries)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn entries(&self) -> &[Entry] {
        &self.0
    }

    /// The front of Q.
    pub(super) fn front(&self) -> Option<Entry> {
        self.0.first().copied()
    }

    pub(super) fn contains(&self, node: NodeId) -> bool {
        self.rank_of(node).is_some()
    }

    pub(super) fn rank_of(&self, node: NodeId) -> Option<Rank> {
        self.0.iter().find(|entry| entry.node == node).map(|entry| entry.rank)
    }

    /// Puts a request where its rank belongs, behind its equals. One that is there already moves only if its rank is
    /// another one.
    pub(super) fn put(&mut self, node: NodeId, rank: Rank) {
        if self.rank_of(node) == Some(rank) {
            return;
        }
        self.delete(node);
        let at = self.0.partition_point(|entry| entry.rank <= rank);
        self.0.insert(at, Entry { node, rank });
    }

    /// The paper's *delete*, wherever it stands.
    pub(super) fn delete(&mut self, node: NodeId) {
        self.0.retain(|entry| entry.node != node);
    }

    /// The paper's aging: all that waits here becomes more urgent by a step, so the order stays.
    pub(super) fn age(&mut self) {
        for entry in &mut self.0 {
            entry.rank = entry.rank.aged();
        }
    }
}

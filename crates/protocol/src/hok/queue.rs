//! *Q*: the nodes that ask through this one, the most urgent first.

use alloc::vec::Vec;

use super::Rank;
use crate::NodeId;

/// A request that waits: the node's own, or a neighbour's.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Entry {
    pub(super) node: NodeId,
    pub(super) rank: Rank,
}

/// The paper's priority queue: by rank, and in the order of arrival where ranks are equal. No node is in it twice.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hok::Policy;
    use crate::hok::policy::Grants;
    use crate::{Deadline, Demand};

    /// Of a request with a deadline of so much: the earlier, the more urgent.
    fn rank(deadline: u64) -> Rank {
        Policy::EarliestDeadline.rank(Demand { deadline: Deadline(deadline), ..Demand::ONE }, Grants::default())
    }

    fn queue(requests: &[(u32, u64)]) -> RequestQueue {
        let mut queue = RequestQueue::default();
        for &(node, deadline) in requests {
            queue.put(NodeId(node), rank(deadline));
        }
        queue
    }

    fn nodes(queue: &RequestQueue) -> Vec<u32> {
        queue.entries().iter().map(|entry| entry.node.0).collect()
    }

    #[test]
    fn the_most_urgent_comes_first_and_equals_in_the_order_of_arrival() {
        let queue = queue(&[(0, 5), (1, 3), (2, 5), (3, 3), (4, 1)]);
        assert_eq!(nodes(&queue), [4, 1, 3, 0, 2]);
        assert_eq!((queue.len(), queue.front().map(|entry| entry.node)), (5, Some(NodeId(4))));
    }

    #[test]
    fn no_node_is_in_it_twice_and_a_request_moves_only_with_its_rank() {
        let mut queue = queue(&[(0, 3), (1, 3), (2, 3)]);
        queue.put(NodeId(0), rank(3));
        assert_eq!(nodes(&queue), [0, 1, 2], "the same request again keeps its place");
        queue.put(NodeId(0), rank(4));
        assert_eq!(nodes(&queue), [1, 2, 0]);
        queue.put(NodeId(2), rank(1));
        assert_eq!(nodes(&queue), [2, 1, 0]);
        assert_eq!(queue.rank_of(NodeId(2)), Some(rank(1)));
    }

    #[test]
    fn a_request_is_deleted_wherever_it_stands() {
        let mut queue = queue(&[(0, 1), (1, 2), (2, 3)]);
        queue.delete(NodeId(1));
        assert_eq!(nodes(&queue), [0, 2]);
        assert!(queue.contains(NodeId(2)) && !queue.contains(NodeId(1)) && !queue.is_empty());
        assert_eq!(queue.rank_of(NodeId(1)), None);
        queue.delete(NodeId(0));
        queue.delete(NodeId(2));
        assert!(queue.is_empty() && queue.front().is_none());
    }

    #[test]
    fn by_aging_all_become_more_urgent_by_a_step() {
        let mut queue = queue(&[(0, 5), (1, 7)]);
        queue.age();
        assert_eq!(queue.rank_of(NodeId(0)), Some(rank(4)));
        assert_eq!(queue.rank_of(NodeId(1)), Some(rank(6)));
    }
}

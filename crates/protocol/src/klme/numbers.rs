//! Request numbers, and lists of them.

use alloc::vec::Vec;
use core::hash::{Hash, Hasher};

use serde::{Deserialize, Serialize};

use crate::relative::{Kind, Series};
use crate::{Incarnation, NodeId};

/// One stay of a node in the neighbourhood, by the number of the life that it has there: a later one is greater.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Life(pub u32);

impl From<Incarnation> for Life {
    fn from(incarnation: Incarnation) -> Self {
        Self(incarnation.0)
    }
}

/// Lives are compared here, and so their order counts.
impl Hash for Life {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        Kind::Stamp.hash(Series::Life.stamp(self.0.into()), hasher);
    }
}

/// A request of a node: *RN*, which begins anew with every stay, and the life that tells it from those before.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
pub struct RequestNo {
    /// In which it was made.
    pub life: Life,
    /// *RN*.
    pub number: u32,
}

impl RequestNo {
    /// Later than every request of this life: the node has left.
    pub fn gone(life: Life) -> Self {
        Self { life, number: u32::MAX }
    }
}

/// *`Node_req_list`*, *`T_req_list`*, *`Node_release_list`*: at most one request number for each node, by node.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Numbers(Vec<(NodeId, RequestNo)>);

impl Numbers {
    fn at(&self, node: NodeId) -> Result<usize, usize> {
        self.0.binary_search_by_key(&node, |entry| entry.0)
    }

    /// The number of this node.
    pub fn get(&self, node: NodeId) -> Option<RequestNo> {
        self.at(node).ok().map(|at| self.0[at].1)
    }

    /// Whether `number` is news.
    pub fn is_behind(&self, node: NodeId, number: RequestNo) -> bool {
        self.get(node) < Some(number)
    }

    /// Notes a number, unless a later one is known.
    pub fn note(&mut self, node: NodeId, number: RequestNo) {
        match self.at(node) {
            Ok(at) => self.0[at].1 = self.0[at].1.max(number),
            Err(at) => self.0.insert(at, (node, number)),
        }
    }

    /// Notes all of them. They come by node, so that both lists are gone through once: every member does this whenever
    /// one leaves.
    pub fn note_all(&mut self, others: impl IntoIterator<Item = (NodeId, RequestNo)>) {
        let mut at = 0;
        for (node, number) in others {
            debug_assert!(at == 0 || self.0[at - 1].0 < node, "by node");
            while self.0.get(at).is_some_and(|entry| entry.0 < node) {
                at += 1;
            }
            match self.0.get_mut(at) {
                Some(entry) if entry.0 == node => entry.1 = entry.1.max(number),
                _ => self.0.insert(at, (node, number)),
            }
            at += 1;
        }
    }

    /// Forgets a node.
    pub fn remove(&mut self, node: NodeId) {
        if let Ok(at) = self.at(node) {
            self.0.remove(at);
        }
    }

    /// Forgets a node, unless its number is later than `last`.
    pub fn remove_until(&mut self, node: NodeId, last: RequestNo) {
        if self.get(node) <= Some(last) {
            self.remove(node);
        }
    }

    /// Forgets all nodes, and hands the numbers out.
    pub fn take(&mut self) -> Vec<(NodeId, RequestNo)> {
        core::mem::take(&mut self.0)
    }

    /// All of them, by node.
    pub fn iter(&self) -> impl Iterator<Item = (NodeId, RequestNo)> + '_ {
        self.0.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(entries: &[(u32, u32)]) -> Numbers {
        let mut numbers = Numbers::default();
        for &(node, number) in entries {
            numbers.note(NodeId(node), RequestNo { life: Life(0), number });
        }
        numbers
    }

    #[test]
    fn of_two_lists_the_later_numbers_are_kept() {
        let mut merged = numbers(&[(1, 5), (3, 2), (7, 1)]);
        merged.note_all(numbers(&[(0, 1), (1, 4), (3, 3), (9, 9)]).iter());
        assert_eq!(merged, numbers(&[(0, 1), (1, 5), (3, 3), (7, 1), (9, 9)]));
        let nothing = Numbers::default();
        merged.note_all(nothing.iter());
        assert_eq!(merged.iter().count(), 5);
    }

    #[test]
    #[should_panic(expected = "by node")]
    fn what_does_not_come_by_node_is_not_merged() {
        let entry = |node| (NodeId(node), RequestNo::default());
        Numbers::default().note_all([entry(3), entry(1)]);
    }

    #[test]
    fn a_later_stay_comes_after_every_request_of_an_earlier_one() {
        let mut list = Numbers::default();
        list.note(NodeId(1), RequestNo::gone(Life(3)));
        assert!(!list.is_behind(NodeId(1), RequestNo { life: Life(3), number: 9 }));
        assert!(list.is_behind(NodeId(1), RequestNo { life: Life(4), number: 1 }));
        list.remove_until(NodeId(1), RequestNo::gone(Life(2)));
        assert!(list.get(NodeId(1)).is_some());
        list.remove_until(NodeId(1), RequestNo::gone(Life(3)));
        assert_eq!(list.get(NodeId(1)), None);
    }
}

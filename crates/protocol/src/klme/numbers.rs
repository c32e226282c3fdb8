//! Request numbers, and lists of them.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::{NodeId, Stay};

/// A request of a node: *RN*, which begins anew with every stay, and the stay that tells it from those before.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
pub struct RequestNo {
    /// In which it was made.
    pub stay: Stay,
    /// *RN*.
    pub number: u32,
}

impl RequestNo {
    /// Later than every request of this stay: the node has left.
    pub fn gone(stay: Stay) -> Self {
        Self { stay, number: u32::MAX }
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

    /// Notes all of them.
    pub fn note_all(&mut self, others: impl IntoIterator<Item = (NodeId, RequestNo)>) {
        for (node, number) in others {
            self.note(node, number);
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

    /// Forgets everybody, and hands the numbers out.
    pub fn take(&mut self) -> Vec<(NodeId, RequestNo)> {
        core::mem::take(&mut self.0)
    }

    /// All of them, by node.
    pub fn iter(&self) -> impl Iterator<Item = (NodeId, RequestNo)> + '_ {
        self.0.iter().copied()
    }
}

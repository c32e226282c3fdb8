//! What nodes say to one another, and the token.

use core::hash::{Hash, Hasher};

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::{Life, Numbers, RequestNo};
use crate::relative::Kind;
use crate::{Fence, Grant, NodeId, Permits};

/// What nodes say in their neighbourhood.
///
/// ```text
///   3 ──Req_CS──▶ 2 (token, idle)       2 ──Req_ack, Token──▶ 3        2 ══Leader_info══▶ all
///   4 ──Req_CS──▶ 3 (token, in CS)      3 ──Req_ack, Per_grant──▶ 4    if a unit is free; else 4 is queued
///   4 ──Release─▶ 3                     3 ──Per_grant──▶ 5             5 was at the front of the queue
///   5 ══I_am_here══▶ all                3 ──Leader_info──▶ 5
///   4 ══I_am_leaving══▶ all             3 ──Leave_ack──▶ 4             and 4 departs
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Message {
    /// *`Leader_info(i, T_alloc_id, Token_leader_no)`*: which node has the token now.
    LeaderInfo {
        /// *i*: the node that the token was sent to.
        leader: NodeId,
        /// *`T_alloc_id`*.
        allocated: Vec<(NodeId, RequestNo)>,
        /// *`Token_leader_no`*.
        leader_no: LeaderNo,
    },
    /// *`I_am_here(i, state)`*: "I have come".
    IAmHere {
        /// Of its request, if it is hungry; in any case of its stay.
        number: RequestNo,
        /// *state* = W: it wants a unit.
        hungry: bool,
    },
    /// *`Req_CS(i, RN)`*.
    ReqCs {
        /// *RN*.
        number: RequestNo,
    },
    /// *`Token(i, T_alloc_id, T_req_list, Kfree, R_Queue)`*.
    Token {
        /// What is handed over.
        token: Token,
    },
    /// *`Req_ack()`*: the request is in `R_Queue`, or served.
    ReqAck {
        /// Of the request, with [`super::repair::NUMBERED_REPLIES`].
        number: RequestNo,
    },
    /// *`Per_grant()`*: "you may enter".
    PerGrant {
        /// Of the request, with [`super::repair::NUMBERED_REPLIES`].
        number: RequestNo,
        /// The unit.
        grant: Grant,
        /// Of the sender's leadership, with [`super::repair::NUMBERED_REPLIES`].
        leader_no: LeaderNo,
    },
    /// *`Release(i, RN)`*.
    Release {
        /// *RN*.
        number: RequestNo,
    },
    /// *`I_am_leaving(i, Node_req_list, Node_release_list)`*.
    IAmLeaving {
        /// Of the last request that the sender made in this stay.
        number: RequestNo,
        /// *`Node_req_list`*.
        requests: Numbers,
        /// *`Node_release_list`*.
        releases: Numbers,
    },
    /// Section 7: the token has arrived. Not sent with [`super::repair::NO_COPY`].
    TokenAck {
        /// Of that token.
        leader_no: LeaderNo,
    },
    /// Section 7, *`token_lost`*: the news of the token has arrived, and the token has not.
    TokenLost {
        /// Of that token.
        leader_no: LeaderNo,
    },
    /// "Nothing is yours any more: go", with [`super::repair::FAREWELL`].
    LeaveAck {
        /// That ends.
        life: Life,
    },
}

/// *`Node_leader_no`*, *`Token_leader_no`*: how many leaders there were.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LeaderNo(pub u32);

/// None at all is not shifted with the others: a newcomer begins with it, however many leaders there were.
impl Hash for LeaderNo {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let is_known = *self != Self::default();
        is_known.hash(hasher);
        if is_known {
            Kind::Level.hash(u128::from(self.0), hasher);
        }
    }
}

/// An entry of *`T_alloc_id`*: a node that may use a unit.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Allocation {
    /// Who.
    pub node: NodeId,
    /// For which request.
    pub number: RequestNo,
    /// Which unit.
    pub grant: Grant,
}

/// The one token.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Token {
    /// *`Token_leader_no`*.
    pub leader_no: LeaderNo,
    /// *`T_alloc_id`*, by node.
    pub allocated: Vec<Allocation>,
    /// *`T_req_list`*: the last request of each node that was queued or served. A node that has left is past every
    /// request.
    pub requests: Numbers,
    /// *Kfree* units are free: these.
    pub free: Permits,
    /// Of the latest grant.
    pub fence: Fence,
    /// *`R_Queue`*.
    pub queue: Vec<(NodeId, RequestNo)>,
}

impl Token {
    /// *`GenerateToken()`*: k free units, for the node that came first.
    pub(super) fn generate(k: u32, generation: u32) -> Self {
        Self {
            leader_no: LeaderNo(1),
            allocated: Vec::new(),
            requests: Numbers::default(),
            free: Permits::first(k),
            fence: Fence::first(generation, 0),
            queue: Vec::new(),
        }
    }

    /// The entry of `node`.
    pub(super) fn allocation(&self, node: NodeId) -> Option<&Allocation> {
        self.allocated.iter().find(|entry| entry.node == node)
    }

    /// *`Kfree = Kfree - 1`*, and an entry in *`T_alloc_id`*; nothing, if there is no free unit.
    pub(super) fn allocate(&mut self, node: NodeId, number: RequestNo) -> Option<Grant> {
        let permits = self.free.lowest(1);
        if permits.is_empty() {
            return None;
        }
        self.free = self.free.without(permits);
        self.fence = self.fence.next();
        let grant = Grant { permits, fence: self.fence };
        let at = self.allocated.partition_point(|entry| entry.node < node);
        self.allocated.insert(at, Allocation { node, number, grant });
        Some(grant)
    }

    /// Takes back what `node` was allocated for a request that `is_over`. *`Kfree = Kfree + 1`*.
    pub(super) fn take_back(&mut self, node: NodeId, is_over: impl Fn(RequestNo) -> bool) -> bool {
        let at = self.allocated.iter().position(|entry| entry.node == node && is_over(entry.number));
        if let Some(at) = at {
            self.free = self.free.union(self.allocated.remove(at).grant.permits);
        }
        at.is_some()
    }

    /// Forgets what is queued of `node`.
    pub(super) fn unqueue(&mut self, node: NodeId) {
        self.queue.retain(|request| request.0 != node);
    }

    /// *`T_alloc_id`*, as others are told.
    pub(super) fn allocated_numbers(&self) -> Vec<(NodeId, RequestNo)> {
        self.allocated.iter().map(|entry| (entry.node, entry.number)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Permit;

    fn number(number: u32) -> RequestNo {
        RequestNo { life: Life(0), number }
    }

    fn unit(at: u8) -> Permits {
        Permits::single(Permit::try_from(at).unwrap())
    }

    #[test]
    fn the_lowest_free_unit_is_allocated_under_the_next_fence_as_long_as_there_is_one() {
        let mut token = Token::generate(2, 4);
        let fence = |counter| Fence { counter, ..Fence::first(4, 0) };
        assert_eq!((token.leader_no, token.free, token.fence), (LeaderNo(1), Permits::first(2), fence(0)));
        assert_eq!(token.allocate(NodeId(5), number(1)), Some(Grant { permits: unit(0), fence: fence(1) }));
        assert_eq!(token.allocate(NodeId(3), number(2)), Some(Grant { permits: unit(1), fence: fence(2) }));
        let full = token.clone();
        assert_eq!(token.allocate(NodeId(4), number(1)), None);
        assert_eq!(token, full, "nothing was free");
        assert_eq!(token.allocated_numbers(), [(NodeId(3), number(2)), (NodeId(5), number(1))], "by node");
        assert_eq!(token.allocation(NodeId(5)).map(|entry| entry.grant.permits), Some(unit(0)));
        assert_eq!(token.allocation(NodeId(4)), None);
    }

    #[test]
    fn what_is_over_is_taken_back_from_its_node_alone() {
        let mut token = Token::generate(2, 0);
        token.allocate(NodeId(1), number(3));
        token.allocate(NodeId(2), number(3));
        let busy = token.clone();
        assert!(!token.take_back(NodeId(1), |listed| listed < number(3)) && !token.take_back(NodeId(0), |_| true));
        assert_eq!(token, busy);
        assert!(token.take_back(NodeId(2), |listed| listed == number(3)));
        assert_eq!((token.free, token.allocated_numbers()), (unit(1), [(NodeId(1), number(3))].into()));
    }

    #[test]
    fn a_node_is_taken_out_of_the_queue_and_the_others_stay() {
        let mut token = Token::generate(1, 0);
        token.queue = [2, 1, 3].map(|node| (NodeId(node), number(1))).into();
        token.unqueue(NodeId(1));
        assert_eq!(token.queue, [2, 3].map(|node| (NodeId(node), number(1))));
    }
}

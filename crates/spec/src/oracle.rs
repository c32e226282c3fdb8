//! The outside view of mutual exclusion: requests, grants, releases.

use driftlock_protocol::{Demand, Fence, Grant, NodeId, Permit, Permits};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Something that must never happen has happened.
#[derive(Clone, PartialEq, Eq, Debug, Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Violation {
    /// The one unforgivable bug.
    #[error("{in_use} units are in use at once, but there are only {k} (the last was granted to node {node})")]
    TooManyInUse {
        /// Units in use.
        in_use: u32,
        /// Units that there are.
        k: u32,
        /// The node that got the last of them.
        node: NodeId,
    },
    /// Two nodes use the same unit.
    #[error("permits {permits:?} were granted to node {node} while somebody else uses them")]
    PermitInUse {
        /// The units concerned.
        permits: Permits,
        /// The node that got them too.
        node: NodeId,
    },
    /// No application asked.
    #[error("node {node} was granted units that it had not asked for")]
    Unasked {
        /// The grantee.
        node: NodeId,
    },
    /// Granted again before it was released.
    #[error("node {node} was granted units while it still used others")]
    DoubleGrant {
        /// The grantee.
        node: NodeId,
    },
    /// A demand is granted whole or not at all.
    #[error("node {node} asked for {asked} units and was granted {granted}")]
    PartialGrant {
        /// The grantee.
        node: NodeId,
        /// Units asked for.
        asked: u32,
        /// Units granted.
        granted: u32,
    },
    /// A resource would take the new holder for a late one.
    #[error("permit {permit} was granted to node {node} under {got:?}, which is not after {last:?}")]
    FenceNotGrowing {
        /// The unit.
        permit: Permit,
        /// The grantee.
        node: NodeId,
        /// The fence of this grant.
        got: Fence,
        /// The fence of the grant before.
        last: Fence,
    },
    /// A unit that does not exist.
    #[error("node {node} was granted permits {permits:?}, but there are only {k}")]
    UnknownPermit {
        /// The units concerned.
        permits: Permits,
        /// The grantee.
        node: NodeId,
        /// Units that there are.
        k: u32,
    },
    /// A permit exists twice.
    #[error("permits {permits:?} exist twice (the second at node {node} or on its way there)")]
    PermitDoubled {
        /// The units concerned.
        permits: Permits,
        /// Where the second copy is.
        node: NodeId,
    },
    /// A permit has vanished, or one came from nowhere.
    #[error("the permits held and in flight are {found:?}, but should be {expected:?}")]
    PermitsChanged {
        /// All there should be.
        expected: Permits,
        /// All there are.
        found: Permits,
    },
    /// The algorithm's own invariant is broken.
    #[error("{0}")]
    Lemma(String),
    /// The algorithm sent to a node that it cannot reach.
    #[error("node {from} sent to node {to} without a link")]
    NoLink {
        /// The sender.
        from: NodeId,
        /// The intended receiver.
        to: NodeId,
    },
    /// The topology is quiet and connected, yet some node is not served.
    #[error("nodes {nodes:?} wait and are not served although nothing changes any more")]
    Starved {
        /// The nodes that wait.
        nodes: Vec<NodeId>,
    },
    /// A waiter that nothing will ever serve.
    #[error("node {node} waits, and without a further change nothing leads to its being served")]
    Hopeless {
        /// The node that waits.
        node: NodeId,
    },
    /// Something goes on for ever, fairly, and does not serve a waiter.
    #[error("node {node} waits while the others can go round for ever: every message arrives, and it is never served")]
    Livelock {
        /// The node that waits.
        node: NodeId,
    },
    /// Traffic without end and without purpose.
    #[error("messages go round for ever, as fast as they travel, although nobody asks for anything")]
    Restless,
    /// The clock of the world has come to its end.
    #[error("simulated time has come to its end, after {years} years of seconds")]
    EndOfTime {
        /// How long it was.
        years: u64,
    },
    /// A node waits for far longer than any should have to that all others can reach.
    #[error("nodes {nodes:?} have waited for more than {seconds} s, in which everybody could reach everybody")]
    Overdue {
        /// How long.
        seconds: u64,
        /// The nodes that wait.
        nodes: Vec<NodeId>,
    },
    /// Nothing has been granted for far longer than any node should have to wait.
    #[error("nobody was served for {time_units} time units, although nodes {nodes:?} wait")]
    Stalled {
        /// How long.
        time_units: u64,
        /// The nodes that wait.
        nodes: Vec<NodeId>,
    },
}

/// What the application at a node is entitled to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Claim {
    Nothing,
    Owed(Demand),
    Using(Permits),
    /// What it used has run out, and it has not been told.
    Lapsed,
}

/// Watches all applications at once.
#[derive(Clone, Debug)]
pub struct Oracle {
    k: u32,
    claims: Vec<Claim>,
    /// What applications use whose node was killed since it was granted to them. They go on.
    outlived: Vec<(NodeId, Permits)>,
    in_use: Permits,
    owed: usize,
    /// The last fence of each permit.
    fences: Vec<Fence>,
}

impl Oracle {
    /// No node uses or wants any of the `k` units yet.
    pub fn new(nodes: u32, k: u32) -> Self {
        Self {
            k,
            claims: vec![Claim::Nothing; nodes as usize],
            outlived: Vec::new(),
            in_use: Permits::NONE,
            owed: 0,
            fences: vec![Fence::default(); k as usize],
        }
    }

    /// The application at `node` has asked.
    pub fn requested(&mut self, node: NodeId, demand: Demand) {
        self.claims[node.index()] = Claim::Owed(demand);
        self.owed += 1;
    }

    /// The application at `node` has changed its mind before it was served.
    pub fn cancelled(&mut self, node: NodeId) {
        self.claims[node.index()] = Claim::Nothing;
        self.owed -= 1;
    }

    /// The application at `node` has returned what it used.
    pub fn released(&mut self, node: NodeId) {
        match self.claims[node.index()] {
            Claim::Using(permits) => self.in_use = self.in_use.without(permits),
            Claim::Lapsed => {}
            Claim::Nothing | Claim::Owed(_) => return,
        }
        self.claims[node.index()] = Claim::Nothing;
    }

    /// The algorithm takes away what the application at `node` uses; it is owed this instead. The units are returned,
    /// none if it had none any more.
    pub fn revoked(&mut self, node: NodeId, demand: Demand) -> Option<Permits> {
        let permits = match self.claims[node.index()] {
            Claim::Using(permits) => permits,
            Claim::Lapsed => Permits::NONE,
            Claim::Nothing | Claim::Owed(_) => return None,
        };
        self.released(node);
        self.requested(node, demand);
        Some(permits)
    }

    /// What the application at `node` was granted has run out while its node does nothing: it does nothing either, and
    /// will be told before it goes on. The units are returned.
    pub fn lapsed(&mut self, node: NodeId) -> Option<Permits> {
        let Claim::Using(permits) = self.claims[node.index()] else { return None };
        self.in_use = self.in_use.without(permits);
        self.claims[node.index()] = Claim::Lapsed;
        Some(permits)
    }

    /// Whether that is so.
    pub fn has_lapsed(&self, node: NodeId) -> bool {
        matches!(self.claims[node.index()], Claim::Lapsed)
    }

    /// The application at `node` is no more: it uses nothing and is owed nothing.
    pub fn vanished(&mut self, node: NodeId) {
        self.released(node);
        if matches!(self.claims[node.index()], Claim::Owed(_)) {
            self.cancelled(node);
        }
    }

    /// The node is killed. Its application goes on using what it has, which is returned; one that waits is owed nothing
    /// any more, as no node knows that it has asked.
    pub fn killed(&mut self, node: NodeId) -> Option<Permits> {
        match std::mem::replace(&mut self.claims[node.index()], Claim::Nothing) {
            Claim::Nothing | Claim::Lapsed => None,
            Claim::Owed(_) => {
                self.owed -= 1;
                None
            }
            Claim::Using(permits) => {
                self.outlived.push((node, permits));
                Some(permits)
            }
        }
    }

    /// An application that has outlived its node is one of that node again, which takes what it uses for granted.
    pub fn resumed(&mut self, node: NodeId, permits: Permits) -> Result<(), Violation> {
        match self.claims[node.index()] {
            Claim::Using(_) | Claim::Lapsed => return Err(Violation::DoubleGrant { node }),
            Claim::Owed(_) => self.cancelled(node),
            Claim::Nothing => {}
        }
        if !self.forget(node, permits) {
            return Err(Violation::Unasked { node });
        }
        self.claims[node.index()] = Claim::Using(permits);
        Ok(())
    }

    /// An application that has outlived its node has ended.
    pub fn gone(&mut self, node: NodeId, permits: Permits) {
        if self.forget(node, permits) {
            self.in_use = self.in_use.without(permits);
        }
    }

    /// Takes an application that has outlived its node off the list, if it is there.
    fn forget(&mut self, node: NodeId, permits: Permits) -> bool {
        let at = self.outlived.iter().position(|outlived| *outlived == (node, permits));
        at.map(|at| self.outlived.swap_remove(at)).is_some()
    }

    /// The algorithm lets the application at `node` in.
    pub fn granted(&mut self, node: NodeId, grant: Grant) -> Result<(), Violation> {
        match self.claims[node.index()] {
            Claim::Nothing => return Err(Violation::Unasked { node }),
            Claim::Using(_) | Claim::Lapsed => return Err(Violation::DoubleGrant { node }),
            Claim::Owed(demand) => {
                let (asked, granted) = (demand.units.count(), grant.permits.count());
                if asked != granted {
                    return Err(Violation::PartialGrant { node, asked, granted });
                }
            }
        }
        let unknown = grant.permits.without(Permits::first(self.k));
        if !unknown.is_empty() {
            return Err(Violation::UnknownPermit { permits: unknown, node, k: self.k });
        }
        self.claims[node.index()] = Claim::Using(grant.permits);
        self.owed -= 1;
        let shared = self.in_use.common(grant.permits);
        let in_use = self.in_use.count() + grant.permits.count();
        self.in_use = self.in_use.union(grant.permits);
        if in_use > self.k {
            return Err(Violation::TooManyInUse { in_use, k: self.k, node });
        }
        if !shared.is_empty() {
            return Err(Violation::PermitInUse { permits: shared, node });
        }
        self.fences_grow(node, grant)
    }

    fn fences_grow(&mut self, node: NodeId, grant: Grant) -> Result<(), Violation> {
        for permit in grant.permits.iter() {
            let last = &mut self.fences[permit.index()];
            if grant.fence <= *last {
                return Err(Violation::FenceNotGrowing { permit, node, got: grant.fence, last: *last });
            }
            *last = grant.fence;
        }
        Ok(())
    }

    /// The units in use now.
    pub fn in_use(&self) -> Permits {
        self.in_use
    }

    /// How many wait.
    pub fn owed_count(&self) -> usize {
        self.owed
    }

    /// The nodes that have asked and were not served yet.
    pub fn owed(&self) -> impl Iterator<Item = NodeId> + '_ {
        (0..).map(NodeId).zip(&self.claims).filter(|(_, claim)| matches!(claim, Claim::Owed(_))).map(|(id, _)| id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: NodeId = NodeId(0);
    const B: NodeId = NodeId(1);

    fn permit(number: u8) -> Permit {
        Permit::try_from(number).unwrap()
    }

    fn grant(number: u8, counter: u64) -> Grant {
        Grant { permits: Permits::single(permit(number)), fence: Fence { epoch: 0, counter } }
    }

    #[test]
    fn one_unit_too_many_is_seen() {
        let mut oracle = Oracle::new(2, 1);
        oracle.requested(A, Demand::ONE);
        oracle.requested(B, Demand::ONE);
        assert_eq!(oracle.granted(A, grant(0, 1)), Ok(()));
        assert_eq!(oracle.granted(B, grant(0, 2)), Err(Violation::TooManyInUse { in_use: 2, k: 1, node: B }));
    }

    #[test]
    fn the_same_unit_twice_is_seen_even_if_others_are_free() {
        let mut oracle = Oracle::new(2, 2);
        oracle.requested(A, Demand::ONE);
        oracle.requested(B, Demand::ONE);
        assert_eq!(oracle.granted(A, grant(1, 1)), Ok(()));
        assert_eq!(
            oracle.granted(B, grant(1, 2)),
            Err(Violation::PermitInUse { permits: Permits::single(permit(1)), node: B })
        );
    }

    #[test]
    fn what_has_lapsed_may_be_used_by_another_one_and_not_again_before_it_is_taken_away() {
        let mut oracle = Oracle::new(2, 1);
        oracle.requested(A, Demand::ONE);
        oracle.requested(B, Demand::ONE);
        assert_eq!(oracle.granted(A, grant(0, 1)), Ok(()));
        assert_eq!((oracle.lapsed(A), oracle.lapsed(A)), (Some(Permits::first(1)), None));
        assert_eq!((oracle.has_lapsed(A), oracle.granted(B, grant(0, 2))), (true, Ok(())));
        assert_eq!(oracle.granted(A, grant(0, 3)), Err(Violation::DoubleGrant { node: A }));
        assert_eq!(oracle.revoked(A, Demand::ONE), Some(Permits::NONE));
        assert_eq!((oracle.has_lapsed(A), oracle.owed().collect::<Vec<_>>()), (false, vec![A]));
        assert_eq!(oracle.in_use(), Permits::first(1), "the other one's");
    }

    #[test]
    fn a_grant_that_nobody_asked_for_is_seen() {
        let mut oracle = Oracle::new(1, 2);
        assert_eq!(oracle.granted(A, grant(0, 1)), Err(Violation::Unasked { node: A }));
        oracle.requested(A, Demand::ONE);
        assert_eq!(oracle.granted(A, grant(0, 1)), Ok(()));
        assert_eq!(oracle.granted(A, grant(1, 1)), Err(Violation::DoubleGrant { node: A }));
    }

    #[test]
    fn a_fence_that_does_not_grow_is_seen() {
        let mut oracle = Oracle::new(1, 1);
        oracle.requested(A, Demand::ONE);
        assert_eq!(oracle.granted(A, grant(0, 1)), Ok(()));
        oracle.released(A);
        oracle.requested(A, Demand::ONE);
        assert!(matches!(oracle.granted(A, grant(0, 1)), Err(Violation::FenceNotGrowing { node: A, .. })));
    }

    #[test]
    fn a_partial_grant_is_seen() {
        let mut oracle = Oracle::new(1, 2);
        oracle.requested(A, Demand::ONE);
        let both = Grant { permits: Permits::first(2), fence: Fence { epoch: 0, counter: 1 } };
        assert_eq!(oracle.granted(A, both), Err(Violation::PartialGrant { node: A, asked: 1, granted: 2 }));
    }

    #[test]
    fn a_unit_that_does_not_exist_is_seen_even_if_others_are_free() {
        for k in [1, 2] {
            let mut oracle = Oracle::new(1, u32::from(k));
            oracle.requested(A, Demand::ONE);
            let permits = Permits::single(permit(k));
            let unknown = Err(Violation::UnknownPermit { permits, node: A, k: u32::from(k) });
            assert_eq!(oracle.granted(A, grant(k, 1)), unknown);
        }
    }

    #[test]
    fn what_was_released_or_revoked_or_has_vanished_with_its_user_may_be_granted_again() {
        let give_back: [fn(&mut Oracle); 3] = [
            |oracle| oracle.released(A),
            |oracle| assert_eq!(oracle.revoked(A, Demand::ONE), Some(Permits::single(permit(0)))),
            |oracle| oracle.vanished(A),
        ];
        for (give_back, owed) in give_back.into_iter().zip([0, 1, 0]) {
            let mut oracle = Oracle::new(2, 1);
            oracle.requested(A, Demand::ONE);
            oracle.granted(A, grant(0, 1)).unwrap();
            assert_eq!(oracle.in_use(), Permits::first(1));
            give_back(&mut oracle);
            assert_eq!((oracle.in_use(), oracle.owed_count()), (Permits::NONE, owed));
            oracle.requested(B, Demand::ONE);
            assert_eq!(oracle.granted(B, grant(0, 2)), Ok(()));
        }
    }

    #[test]
    fn nothing_is_taken_from_a_node_that_uses_nothing() {
        let mut oracle = Oracle::new(1, 1);
        assert_eq!(oracle.revoked(A, Demand::ONE), None);
        oracle.requested(A, Demand::ONE);
        oracle.released(A);
        assert_eq!(oracle.owed_count(), 1, "it waits still");
        oracle.vanished(A);
        assert_eq!((oracle.owed_count(), oracle.owed().count()), (0, 0));
        oracle.vanished(A);
        assert_eq!(oracle.owed_count(), 0, "it was owed nothing any more");
    }

    #[test]
    fn every_unit_of_a_grant_needs_a_later_fence() {
        let mut oracle = Oracle::new(1, 2);
        oracle.requested(A, Demand::ONE);
        oracle.granted(A, grant(1, 5)).unwrap();
        oracle.released(A);
        let two = Demand { units: driftlock_protocol::Units::new(2).unwrap(), ..Demand::ONE };
        oracle.requested(A, two);
        let fence = |counter| Fence { epoch: 0, counter };
        let both = Grant { permits: Permits::first(2), fence: fence(5) };
        let stands = Violation::FenceNotGrowing { permit: permit(1), node: A, got: fence(5), last: fence(5) };
        assert_eq!(oracle.granted(A, both), Err(stands));
    }

    #[test]
    fn what_an_application_uses_that_has_outlived_its_node_is_in_use_until_it_ends() {
        for second in [A, B] {
            let mut oracle = Oracle::new(2, 1);
            oracle.requested(A, Demand::ONE);
            oracle.granted(A, grant(0, 1)).unwrap();
            assert_eq!(oracle.killed(A), Some(Permits::first(1)));
            assert_eq!(oracle.in_use(), Permits::first(1));
            oracle.requested(second, Demand::ONE);
            let twice = Violation::TooManyInUse { in_use: 2, k: 1, node: second };
            assert_eq!(oracle.clone().granted(second, grant(0, 2)), Err(twice), "also to another of the same node");
            oracle.gone(A, Permits::first(1));
            assert_eq!(oracle.granted(second, grant(0, 2)), Ok(()));
        }
    }

    #[test]
    fn an_application_that_has_outlived_its_node_twice_or_was_resumed_is_counted_once() {
        let mut oracle = Oracle::new(2, 2);
        oracle.requested(A, Demand::ONE);
        oracle.granted(A, grant(0, 1)).unwrap();
        oracle.killed(A);
        assert_eq!(oracle.killed(A), None, "it is known already");
        assert_eq!(oracle.resumed(A, Permits::first(2)), Err(Violation::Unasked { node: A }), "it was granted less");
        assert_eq!(oracle.resumed(A, Permits::first(1)), Ok(()));
        oracle.gone(A, Permits::first(1));
        assert_eq!(oracle.in_use(), Permits::first(1), "it is one of its node again");
        oracle.released(A);
        assert_eq!(oracle.in_use(), Permits::NONE);
    }

    #[test]
    fn two_applications_of_two_lives_of_a_node_are_two() {
        let mut oracle = Oracle::new(1, 2);
        for number in 0..2 {
            oracle.requested(A, Demand::ONE);
            oracle.granted(A, grant(number, 1)).unwrap();
            oracle.killed(A);
        }
        oracle.gone(A, Permits::first(1));
        assert_eq!(oracle.in_use(), Permits::single(permit(1)));
        oracle.requested(A, Demand::ONE);
        oracle.granted(A, grant(0, 2)).unwrap();
        assert_eq!(oracle.resumed(A, Permits::single(permit(1))), Err(Violation::DoubleGrant { node: A }));
    }

    #[test]
    fn one_that_waits_when_its_node_is_killed_is_owed_nothing() {
        let mut oracle = Oracle::new(1, 1);
        oracle.requested(A, Demand::ONE);
        assert_eq!((oracle.killed(A), oracle.owed_count()), (None, 0));
        assert_eq!(oracle.granted(A, grant(0, 1)), Err(Violation::Unasked { node: A }));
    }

    #[test]
    fn a_node_that_asked_is_owed_until_served_or_cancelled() {
        let mut oracle = Oracle::new(2, 1);
        oracle.requested(A, Demand::ONE);
        oracle.requested(B, Demand::ONE);
        oracle.cancelled(A);
        assert_eq!(oracle.owed().collect::<Vec<_>>(), [B]);
        oracle.granted(B, grant(0, 1)).unwrap();
        assert_eq!(oracle.owed_count(), 0);
    }
}

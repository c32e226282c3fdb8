//! The link-reversal DAG as one node of it sees it: its own height, its neighbours, and how it turns links round.
//!
//! This is what the algorithms that descend from RL (Walter, Welch, Vaidya: "A mutual exclusion algorithm for ad hoc
//! mobile networks", 2001) have in common: *N*, the heights of its members, *receivedLI* and *forming*, the partial
//! reversal, and our own rule for reversals that lead nowhere ([`pacing`]). What they ask of one another along the
//! links is their own.

use alloc::vec::Vec;

use crate::height::{self, Height};
use crate::{Deployment, NodeId, Outbox};

pub(crate) mod lemmas;
mod neighbour;
pub mod pacing;

pub(crate) use neighbour::Neighbour;
pub use pacing::Timer;
use pacing::{Limits, Pace, Reversal};

/// A node's place in the DAG.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Dag {
    /// *myHeight*.
    pub(crate) my_height: Height,
    /// *N* and the arrays over it, by id.
    pub(crate) neighbours: Vec<Neighbour>,
    pub(crate) pace: Pace,
    /// `None`: it goes on reversing links for ever, as fast as messages travel.
    limits: Option<Limits>,
}

impl Dag {
    /// Every node's place at the start: paths lead down to the holders.
    pub(crate) fn deploy(
        deployment: &Deployment,
        is_holder: impl Fn(NodeId) -> bool,
        limits: Option<Limits>,
    ) -> impl Iterator<Item = Self> {
        let heights = height::initial(deployment, is_holder);
        deployment.adjacency().into_iter().enumerate().map(move |(at, peers)| {
            let my_height = heights[at];
            let neighbour = |peer: &NodeId| Neighbour::known(heights[peer.index()], my_height);
            Self { my_height, neighbours: peers.iter().map(neighbour).collect(), pace: Pace::default(), limits }
        })
    }

    /// Of a node without neighbours, at this height.
    pub(crate) fn alone(my_height: Height, limits: Option<Limits>) -> Self {
        Self { my_height, neighbours: Vec::new(), pace: Pace::default(), limits }
    }

    /// The heights of all k in N.
    pub(crate) fn known_heights(&self) -> impl Iterator<Item = Height> + Clone + '_ {
        self.neighbours.iter().filter(|neighbour| neighbour.known).map(|neighbour| neighbour.height)
    }

    /// *myHeight < height\[k\] for all k in N*.
    pub(crate) fn has_no_lower_neighbour(&self) -> bool {
        self.known_heights().all(|height| self.my_height < height)
    }

    /// *myHeight > height\[k\] for all k in N*.
    pub(crate) fn has_no_higher_neighbour(&self) -> bool {
        self.known_heights().all(|height| self.my_height > height)
    }

    /// Where the lowest of the neighbours of choice stands in the list.
    pub(crate) fn lowest_neighbour(&self, choose: impl Fn(&Neighbour) -> bool) -> Option<usize> {
        let chosen = self.neighbours.iter().enumerate().filter(|(_, neighbour)| neighbour.known && choose(neighbour));
        chosen.min_by_key(|(_, neighbour)| neighbour.height).map(|(at, _)| at)
    }

    pub(crate) fn position(&self, id: NodeId) -> Option<usize> {
        self.neighbours.binary_search_by_key(&id, |neighbour| neighbour.id).ok()
    }

    /// Whether `id` is in N.
    pub(crate) fn is_neighbour(&self, id: NodeId) -> bool {
        self.position(id).is_some_and(|at| self.neighbours[at].known)
    }

    /// Whether `id` is in N and higher than this node: the link to it leads here.
    pub(crate) fn is_below(&self, id: NodeId) -> bool {
        self.position(id).is_some_and(|at| self.neighbours[at].known && self.my_height < self.neighbours[at].height)
    }

    /// Has neighbours, and has no reversal to make up for.
    pub(crate) fn has_no_reversal_due(&self) -> bool {
        !self.pace.paused && self.known_heights().next().is_some()
    }

    /// A link to `id` has come up. Until its height is known it is not in N, and its height is never looked at.
    pub(crate) fn form(&mut self, id: NodeId) -> usize {
        let unknown = Height { id, ..self.my_height };
        let entry = Neighbour { forming: Some(self.my_height), ..Neighbour::new(unknown, self.my_height) };
        let at = self.neighbours.partition_point(|neighbour| neighbour.id < id);
        self.neighbours.insert(at, entry);
        at
    }

    /// The link to `id` is gone.
    pub(crate) fn fail(&mut self, id: NodeId) {
        self.neighbours.retain(|neighbour| neighbour.id != id);
    }

    /// A token goes to the neighbour, which will be lower than this node then. What it says of its height does not
    /// count until it has acknowledged the token.
    pub(crate) fn hand_down(&mut self, at: usize) {
        let neighbour = &mut self.neighbours[at];
        neighbour.height = self.my_height.just_below(neighbour.id);
        neighbour.unacknowledged += 1;
    }

    /// Procedure `RaiseHeight()`, as far as heights go: a new one over some neighbour. `None` without neighbours, or if
    /// it has to wait.
    pub(crate) fn raise<M: Clone>(&mut self, out: &mut Outbox<M, Timer>) -> Option<Height> {
        let raised = match self.next_reversal(out)? {
            Reversal::Partial => self.my_height.raised(self.known_heights()),
            Reversal::Full => self.my_height.above_all(self.known_heights()),
        }?;
        self.my_height = raised;
        Some(raised)
    }

    /// The mirror image: a new height under some neighbour.
    pub(crate) fn lower<M: Clone>(&mut self, out: &mut Outbox<M, Timer>) -> Option<Height> {
        let lowered = match self.next_reversal(out)? {
            Reversal::Partial => self.my_height.lowered(self.known_heights()),
            Reversal::Full => self.my_height.below_all(self.known_heights()),
        }?;
        self.my_height = lowered;
        Some(lowered)
    }

    /// A new height under all neighbours, if any of them is lower: that of a holder to which the links do not lead.
    pub(crate) fn sink(&mut self) -> Option<Height> {
        if self.has_no_lower_neighbour() {
            return None;
        }
        self.my_height = self.my_height.below_all(self.known_heights())?;
        Some(self.my_height)
    }

    /// The neighbours of choice, which are told this height now.
    pub(crate) fn tell(&mut self, height: Height, choose: impl Fn(&Neighbour) -> bool) -> impl Iterator<Item = NodeId> {
        self.neighbours.iter_mut().filter(move |k| k.known && choose(k)).map(move |k| {
            k.told = height;
            k.id
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Node 2 at height 5, between node 1 at height 3 and node 4 at height 8; no limits.
    fn dag() -> Dag {
        let height = |order, id| Height::new(0, order, NodeId(id));
        let my_height = height(5, 2);
        let neighbours = [height(3, 1), height(8, 4)].map(|other| Neighbour::known(other, my_height)).into();
        Dag { my_height, neighbours, pace: Pace::default(), limits: None }
    }

    fn out() -> Outbox<(), Timer> {
        Outbox::new()
    }

    #[test]
    fn a_node_knows_its_neighbours_and_which_of_them_are_higher() {
        let dag = dag();
        assert_eq!([1, 2, 4].map(|id| dag.position(NodeId(id))), [Some(0), None, Some(1)]);
        assert_eq!([1, 2, 4].map(|id| dag.is_neighbour(NodeId(id))), [true, false, true]);
        assert_eq!([1, 2, 4].map(|id| dag.is_below(NodeId(id))), [false, false, true]);
        assert!(!dag.has_no_lower_neighbour() && !dag.has_no_higher_neighbour() && dag.has_no_reversal_due());
        assert_eq!(dag.lowest_neighbour(|_| true), Some(0));
        assert_eq!(dag.lowest_neighbour(|neighbour| neighbour.id != NodeId(1)), Some(1));
    }

    #[test]
    fn a_link_that_forms_counts_when_the_height_of_its_other_end_is_known() {
        let mut dag = dag();
        assert_eq!(dag.form(NodeId(3)), 1, "by id");
        let formed = &dag.neighbours[1];
        assert_eq!((formed.id, formed.known, formed.forming), (NodeId(3), false, Some(dag.my_height)));
        assert!(!dag.is_neighbour(NodeId(3)) && dag.position(NodeId(3)) == Some(1));
        dag.neighbours[1].height = Height::new(0, 0, NodeId(3));
        assert_eq!(dag.known_heights().count(), 2);
        assert_eq!(dag.lowest_neighbour(|_| true), Some(0), "though node 3 would be lower");
        dag.neighbours[1].height = Height::new(0, 9, NodeId(3));
        assert!(!dag.is_below(NodeId(3)));
    }

    #[test]
    fn a_link_that_fails_is_forgotten_and_no_other() {
        let mut dag = dag();
        dag.fail(NodeId(1));
        assert!(!dag.is_neighbour(NodeId(1)) && dag.is_neighbour(NodeId(4)));
        assert!(dag.has_no_lower_neighbour() && !dag.has_no_higher_neighbour());
        dag.fail(NodeId(4));
        assert!(!dag.has_no_reversal_due(), "it is alone");
        assert_eq!((dag.raise(&mut out()), dag.lower(&mut out())), (None, None));
    }

    #[test]
    fn a_node_that_waits_with_a_reversal_is_not_settled() {
        let mut dag = dag();
        dag.pace.paused = true;
        assert!(!dag.has_no_reversal_due());
    }

    #[test]
    fn a_neighbour_that_is_handed_a_token_is_lower_and_owes_an_acknowledgement() {
        let mut dag = dag();
        dag.hand_down(1);
        dag.hand_down(1);
        let heir = &dag.neighbours[1];
        assert_eq!((heir.height, heir.unacknowledged), (Height::new(0, 4, NodeId(4)), 2));
        assert_eq!((dag.neighbours[0].height.h2, dag.neighbours[0].unacknowledged), (3, 0));
    }

    #[test]
    fn a_node_goes_over_a_neighbour_or_under_one() {
        let (mut raised, mut lowered) = (dag(), dag());
        assert_eq!(raised.raise(&mut out()), Some(Height::new(1, 5, NodeId(2))));
        assert_eq!(lowered.lower(&mut out()), Some(Height::new(-1, 5, NodeId(2))));
        assert_eq!((raised.my_height.h1, lowered.my_height.h1), (1, -1));
        assert!(raised.has_no_higher_neighbour() && lowered.has_no_lower_neighbour());
    }

    #[test]
    fn a_sink_is_under_all_its_neighbours_and_stays_where_it_is_if_it_was() {
        let mut dag = dag();
        assert_eq!(dag.sink(), Some(Height::new(-1, 5, NodeId(2))));
        assert!(dag.has_no_lower_neighbour());
        assert_eq!((dag.sink(), dag.my_height.h1), (None, -1));
    }

    #[test]
    fn a_neighbour_that_is_told_a_height_is_known_to_have_been_told() {
        let mut dag = dag();
        dag.form(NodeId(3));
        let raised = Height::new(1, 0, NodeId(2));
        assert_eq!(dag.tell(raised, |k| k.id != NodeId(1)).collect::<Vec<_>>(), [NodeId(4)], "3 is not in N yet");
        assert_eq!([0, 1, 2].map(|at| dag.neighbours[at].told.h1), [0, 0, 1]);
    }

    /// Node 1 stands at height 3 and was told 5: word is due when this node goes below it, and once only.
    #[test]
    fn a_link_has_turned_when_its_ends_were_told_otherwise() {
        let mut neighbour = dag().neighbours.swap_remove(0);
        let at = |order| Height::new(0, order, NodeId(2));
        assert_eq!([1, 4, 9].map(|order| neighbour.has_crossed(at(order))), [true, false, false]);
        neighbour.told = at(1);
        assert_eq!([1, 4].map(|order| neighbour.has_crossed(at(order))), [false, true]);
        neighbour.unacknowledged = 1;
        assert!(!neighbour.has_crossed(at(4)), "it is looked at when it has acknowledged the token");
    }
}

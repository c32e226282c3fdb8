//! The link-reversal DAG as one node of it sees it: its own height, its neighbours, and how it turns links round.
//!
//! This is what the algorithms that descend from RL (Walter, Welch, Vaidya: "A mutual exclusion algorithm for ad hoc mobile
//! networks", 2001) have in common: *N*, the heights of its members, *receivedLI* and *forming*, the partial reversal, and
//! our own rule for reversals that lead nowhere ([`pacing`]). What they ask of one another along the links is their own.

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
    pub(crate) fn is_settled(&self) -> bool {
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

    /// A token goes to the neighbour, which will be lower than this node then. What it says of its height does not count
    /// until it has acknowledged the token.
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

    /// The neighbours of choice, who are told this height now.
    pub(crate) fn tell(&mut self, height: Height, choose: impl Fn(&Neighbour) -> bool) -> impl Iterator<Item = NodeId> {
        self.neighbours.iter_mut().filter(move |k| k.known && choose(k)).map(move |k| {
            k.told = height;
            k.id
        })
    }
}

//! The twin of the layer below as a part of states: what may change next, and what comes of it, is worked out once.

use std::sync::OnceLock;

use driftlock_protocol::NodeId;
use driftlock_protocol::ideal::{Change, Course, Ideal, Kind, Life, NoLink, Way};

use crate::canon::Sketch;
use crate::parts::PartId;
use crate::setup::{Bound, Changes};

/// A set of nodes, as bits.
pub(crate) type Nodes = u8;

pub(crate) fn set(nodes: impl IntoIterator<Item = NodeId>) -> Nodes {
    nodes.into_iter().fold(0, |set, node| set | 1 << node.0)
}

/// A set of pairs, of a sender and a receiver, as bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Pairs(u64);

impl Pairs {
    fn of(pairs: &[(NodeId, NodeId)]) -> Self {
        Self(pairs.iter().fold(0, |set, (from, to)| set | 1 << (from.0 * 8 + to.0)))
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = (NodeId, NodeId)> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let first = (rest != 0).then(|| rest.trailing_zeros())?;
            rest &= rest - 1;
            Some((NodeId(first / 8), NodeId(first % 8)))
        })
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// What a change of the layer below means to the rest of a state, in order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Event {
    /// A node is told this.
    Tell(NodeId, PartId),
    /// What is on its way meets the fate of a failed link.
    Fail(NodeId, NodeId),
    /// What is on its way is lost, but for permits.
    Outlive(NodeId, NodeId),
    /// All that is on its way to the node is lost.
    Silence(NodeId),
    Crash(NodeId),
    Kill(NodeId),
    Back(NodeId),
    Wipe(NodeId),
}

/// What comes of a change.
pub(crate) struct Outcome {
    pub(crate) twin: PartId,
    pub(crate) events: Box<[Event]>,
}

/// A change that may be next, and what has to be the case for it.
pub(crate) struct Offer {
    pub(crate) change: Change,
    /// The number of its kind.
    pub(crate) kind: usize,
    pub(crate) attentive: Nodes,
    pub(crate) awake: Nodes,
    pub(crate) drained: Pairs,
    pub(crate) failing: Pairs,
    pub(crate) founds: bool,
    pub(crate) outcome: OnceLock<Outcome>,
}

/// A twin with what is asked of it most.
pub(crate) struct TwinPart<T> {
    pub(crate) twin: T,
    pub(crate) sketch: u64,
    pub(crate) offers: Box<[Offer]>,
    /// By sender and receiver.
    ways: Box<[Result<Way, NoLink>]>,
    /// Of each node, who hears it.
    pub(crate) audiences: Box<[Nodes]>,
    /// Of each node, who can serve one another with it.
    pub(crate) together: Box<[Nodes]>,
    pub(crate) down: Nodes,
    pub(crate) crashed: Nodes,
    /// Who is here to stay.
    pub(crate) staying: Nodes,
    /// Whether something that follows from earlier changes is still to come.
    pub(crate) is_torn: bool,
    pub(crate) is_seen_alike: bool,
    /// Whether nodes that are not together may come to be, even if nothing happens that is bounded.
    pub(crate) will_meet: bool,
    /// The kinds of changes by which they may, by number.
    pub(crate) meetings: Box<[usize]>,
    /// What comes of it when a node departs.
    pub(crate) departures: Box<[OnceLock<Outcome>]>,
}

impl<T: Ideal> TwinPart<T> {
    /// Among so many nodes, where changes may happen so often, or not at all.
    pub(crate) fn new(twin: T, nodes: u32, changes: &Changes, connected: bool) -> Self {
        let ids = || (0..nodes).map(NodeId);
        let is_such = |is: &dyn Fn(NodeId) -> bool| set(ids().filter(|&node| is(node)));
        let mut all = Vec::new();
        twin.changes(&mut all);
        let is_torn = all.iter().any(|change| matches!(change.kind.course, Course::Follows { .. }));
        let may_ever = |kind: &Kind| kind.course != Course::Bounded || changes.of(kind) != Bound::Most(0);
        let offers = all.into_iter().filter(|change| may_ever(change.kind)).map(|change| offer(&twin, change));
        let keeps = |offer: &Offer| !connected || offer.failing.is_empty() || keeps_together(&twin, offer.change);
        let offers = offers.filter(keeps).collect();
        let meetings = (0..).zip(T::KINDS).filter(|(_, kind)| twin.may_meet(&|other| other == **kind));
        Self {
            sketch: Sketch::of(&twin).fixed(),
            offers,
            ways: ids().flat_map(|from| ids().map(move |to| (from, to))).map(|(from, to)| twin.way(from, to)).collect(),
            audiences: ids().map(|node| set(twin.audience(node))).collect(),
            together: ids().map(|node| set(twin.together(node))).collect(),
            down: is_such(&|node| twin.life(node) == Life::Down),
            crashed: is_such(&|node| twin.life(node) == Life::Crashed),
            staying: is_such(&|node| twin.counts_on_service(node)),
            is_torn,
            is_seen_alike: twin.is_seen_alike(),
            will_meet: twin.may_meet(&|_| false),
            meetings: meetings.map(|(number, _)| number).collect(),
            departures: ids().map(|_| OnceLock::new()).collect(),
            twin,
        }
    }

    /// What becomes of a message that is sent now.
    pub(crate) fn way(&self, from: NodeId, to: NodeId) -> Result<Way, NoLink> {
        self.ways[from.index() * self.together.len() + to.index()]
    }
}

fn offer<T: Ideal>(twin: &T, change: Change) -> Offer {
    let needs = twin.needs(change);
    Offer {
        change,
        kind: T::KINDS.iter().position(|kind| *kind == change.kind).expect("a twin has listed its kinds"),
        attentive: set(needs.attentive),
        awake: set(needs.awake),
        drained: Pairs::of(&needs.drained),
        failing: Pairs::of(&needs.failing),
        founds: needs.founds,
        outcome: OnceLock::new(),
    }
}

/// Whether those whom a change befalls can reach one another after it.
fn keeps_together<T: Ideal>(twin: &T, change: Change) -> bool {
    let mut after = twin.clone();
    after.apply(change, &mut |_| unreachable!("who fails enters nowhere"), &mut Vec::new());
    after.together(change.node).contains(&change.peer)
}

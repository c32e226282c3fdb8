//! The exact twins of the layers below, for worlds that are to have what papers assume: nothing is lost unless a world
//! loses it, no suspicion is wrong, and every change is told at once to all who must know.
//!
//! A twin is a value that can be cloned, compared and hashed. It says [what may change next](Ideal::changes), carries
//! one change out, and tells what comes of it as [`News`], in order; who can reach whom, and who hears a broadcast.
//! Messages are no business of a twin: they are in [`Channels`], the same for all layers. A world is written for any
//! twin: the simulator draws changes, the checker explores them, and neither knows which layer it is.
//!
//! A new layer is a [`View`] with its twin and its [`Contacts`](crate::Contacts); no world has to be touched for it.

mod change;
mod channels;
mod links;
mod neighbourhood;
mod topology;

use alloc::vec::Vec;
use core::fmt::Debug;
use core::hash::Hash;

use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use change::{Change, Course, Kind, Whom};
pub use channels::Channels;
pub use links::{FAILURES, FORMATIONS, Links, MENDINGS, NOTICES};
pub use neighbourhood::{CRASHES, DISK_LOSSES, JOINS, LEAVES, Neighbourhood, RETURNS, REVIVALS};
pub use topology::Topology;

use crate::{Deployment, Incarnation, NodeId, Protocol, Stay, View};

/// Nodes that are killed, and come back with what they had stored: in all layers.
pub const RESTARTS: Kind =
    Kind { name: "restarts", one: "restart", word: "kill", whom: Whom::Node, course: Course::Bounded };

/// What of a [`Deployment`] says how a layer begins: who describes a network to a person, or asks one for it, speaks of
/// that.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Start {
    /// Its links.
    Links,
    /// Its members.
    Members,
    /// Nothing but the nodes.
    Nodes,
}

/// What becomes of the messages that are in flight on a link when it fails.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// The failure waits until they have arrived: the papers' assumption of detectable incipient failures.
    Drained,
    /// They are returned to their senders as undelivered, after the failure was indicated.
    Returned,
    /// Those that carry permits arrive later, from a former neighbour, before there is a link between the two
    /// again. All others are lost.
    Settled,
    /// They are lost, and nobody is told.
    Lost,
}

/// Nothing can be sent: there is no way.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("there is no link from node {from} to node {to}")]
pub struct NoLink {
    /// The sender.
    pub from: NodeId,
    /// The receiver.
    pub to: NodeId,
}

/// What becomes of a message that is sent now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// It arrives, if this link, or this life of the receiver, lasts.
    Open(Incarnation),
    /// The receiver is gone, and the sender does not know: the message is lost, but for permits, which find another way
    /// and arrive late. It belongs to this link still.
    Torn(Incarnation),
    /// The receiver is not there, and need not be: the message is dropped.
    Nowhere,
}

/// What becomes of what is on its way from one node to another.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Cut {
    /// The way has failed, which was of this incarnation: the world decides by its [`Fate`].
    Failed(Incarnation),
    /// It is lost, but for permits, which arrive late.
    Outlived,
    /// It arrives as if nothing had happened, but nothing can follow.
    Kept,
}

/// Whether a node lives.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Life {
    /// It does what there is to do.
    Up,
    /// It was killed, and will or may be back.
    Down,
    /// It has stopped for good.
    Crashed,
}

/// Where a node is now, for those who read traces.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Presence {
    /// It has entered the neighbourhood.
    Inside,
    /// It has departed.
    Outside,
    /// It has crashed inside, and forgotten everything; nobody is told.
    Crashed,
    /// It was killed inside, and will be back with what it had stored; nobody is told.
    Down,
}

/// What a trace shows of a change.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Sight {
    /// A link has formed or failed.
    Link {
        /// Its ends.
        ends: (NodeId, NodeId),
        /// Whether it has formed.
        up: bool,
        /// Which link it is.
        incarnation: Incarnation,
    },
    /// A node is somewhere else, or in another state.
    Member(NodeId, Presence),
}

/// What comes of a change, to be carried out by a world in the order in which it is told.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum News<V> {
    /// The layer tells a node this.
    Tells(NodeId, V),
    /// This becomes of what is on its way from one node to another.
    Cut(NodeId, NodeId, Cut),
    /// All that is on its way to a node is lost.
    Silenced(NodeId),
    /// What has outlived its link arrives before anything else happens between the two, from the one to the other.
    Settles(NodeId, NodeId),
    /// A node stops for good, and its application with it. What is in its place knows nothing and holds nothing.
    Crashed(NodeId),
    /// A node is killed; its application goes on.
    Killed(NodeId),
    /// A node that was killed is back with what it had stored.
    Back(NodeId),
    /// A node is killed, and what it had stored is lost; its application goes on.
    Wiped(NodeId),
    /// This follows by itself, after some time; it is about something of this incarnation.
    Follows(Change, Incarnation),
    /// Whoever reads a trace sees this.
    Shows(Sight),
}

/// What must be the case before a world makes a change.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Needs {
    /// These nodes have done whatever was due, as they notice the change at once.
    pub attentive: Vec<NodeId>,
    /// These nodes neither pause nor are down.
    pub awake: Vec<NodeId>,
    /// Nothing is on its way from the one node to the other.
    pub drained: Vec<(NodeId, NodeId)>,
    /// Likewise, where links fail only when they are [`Fate::Drained`].
    pub failing: Vec<(NodeId, NodeId)>,
    /// Units are made: no application may use any.
    pub founds: bool,
}

/// The exact twin of the layer that an algorithm stands on.
pub type IdealOf<P> = <<P as Protocol>::View as View>::Ideal;

/// The exact twin of a layer: who reaches whom, and what may change next.
pub trait Ideal: Clone + Eq + Hash + Debug + Send + Sync + 'static {
    /// What the layer tells.
    type View: View<Ideal = Self>;

    /// What of a deployment says how it begins.
    const STARTS_FROM: Start;

    /// All kinds of changes that there are.
    const KINDS: &'static [&'static Kind];

    /// The layer as a deployment has it at the start.
    fn new(start: &Deployment) -> Self;

    /// All that may happen next, always in the same order.
    fn changes(&self, out: &mut Vec<Change>);

    /// What such a change waits for.
    fn needs(&self, change: Change) -> Needs;

    /// Carries out a change, and adds what comes of it to the news. If a stay begins, the world draws it when it hears
    /// the number of the life that begins with it. Besides what [`Self::changes`] lists, a world may make other changes
    /// of which it knows that they make sense.
    fn apply(&mut self, change: Change, draw: &mut dyn FnMut(Incarnation) -> Stay, news: &mut Vec<News<Self::View>>);

    /// The algorithm of a node has departed, and the node with it.
    fn depart(&mut self, _node: NodeId, _news: &mut Vec<News<Self::View>>) {}

    /// Whether a change that follows from an earlier one, about something of this incarnation, is still to come.
    fn is_to_come(&self, _change: Change, _of: Incarnation) -> bool {
        true
    }

    /// The incarnation that begins next: all are numbered by one count.
    fn next(&self) -> Incarnation;

    /// Who may speak to a node that has heard of everything.
    fn contacts(&self, node: NodeId) -> <Self::View as View>::Contacts;

    /// Whether a node lives.
    fn life(&self, _node: NodeId) -> Life {
        Life::Up
    }

    /// Whether a node lives and is here to stay, so that it counts on being served.
    fn counts_on_service(&self, _node: NodeId) -> bool {
        true
    }

    /// What becomes of a message that is sent now, or that none may be sent.
    fn way(&self, from: NodeId, to: NodeId) -> Result<Way, NoLink>;

    /// Who hears a broadcast of `from`, by id.
    fn audience(&self, from: NodeId) -> impl Iterator<Item = NodeId> + '_;

    /// The nodes that can serve one another with this one, itself among them, by id.
    fn together(&self, node: NodeId) -> Vec<NodeId>;

    /// Whether all that reach one another know that of each other: the lemmas of papers speak of nothing else.
    fn is_seen_alike(&self) -> bool {
        true
    }

    /// Whether nodes that are not together may come to be, as far as changes of such kinds may happen.
    fn may_meet(&self, _may_happen: &dyn Fn(&Kind) -> bool) -> bool {
        true
    }

    /// Who is hinted at to those who come or come back, and in which life, by id.
    fn listed(&self) -> impl Iterator<Item = (NodeId, Incarnation)> + '_ {
        core::iter::empty()
    }

    /// Its links, where a world wants to choose among links.
    fn links(&self) -> Option<&Links> {
        None
    }

    /// The neighbourhood, where a world wants to choose among members.
    fn neighbourhood(&self) -> Option<&Neighbourhood> {
        None
    }
}

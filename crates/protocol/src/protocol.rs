//! The interface between an algorithm and every world that runs it.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Debug;
use core::hash::Hash;
use core::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::{
    Charter, Claims, Constant, Demand, Grant, Harm, Incarnation, NodeId, Outbox, Permits, Repair, Repairs, Section,
    Status, Stay, Units, Urgency, View,
};

/// The outbox of a protocol.
pub type Out<P> = Outbox<<P as Protocol>::Message, <P as Protocol>::Timer>;

/// An algorithm as a state machine: inputs are methods, effects go into the outbox.
///
/// Handlers are infallible. What an application or the network may get wrong is turned away by the shell in front of
/// them ([`crate::Node`]); what remains is checked by debug assertions. There is no `now` and no randomness: a timer is
/// armed for a relative delay, and a world delivers a due timer before any other event.
pub trait Protocol: Clone + Eq + Hash + Debug + Send + Sync + 'static {
    /// What nodes send to one another.
    type Message: Clone + Eq + Hash + Debug + Serialize + DeserializeOwned + Send + Sync + 'static;
    /// What the layer below tells.
    type View: View;
    /// The timers it arms.
    type Timer: Copy + Ord + Hash + Debug + Serialize + DeserializeOwned + Send + Sync + 'static;
    /// Tells the registered algorithms that share one implementation apart.
    type Variant: Copy + Debug + Send + Sync + 'static;
    /// What a node stores, so that it can come back after it was killed.
    type Durable: Clone + Eq + Hash + Debug + Serialize + DeserializeOwned + Send + Sync + 'static;

    /// The kinds of messages, in the order in which reports list them.
    const KINDS: &'static [&'static str];
    /// The repairs that can be switched off.
    const REPAIRS: &'static [Repair];
    /// The rules of an algorithm of our own, which tests and searches switch off to see what each is for. They are not
    /// listed to users, and nothing that grants for real takes them. Their bits differ from those of the repairs.
    const GUARDS: &'static [Repair] = &[];

    /// What it claims to stand beyond what its paper assumes.
    const CLAIMS: Claims = Claims::NONE;

    /// Whether units are lent by the books of a node, and come back to it, instead of being handed on from node to
    /// node: then the lowest of those that are free is granted next, and what no node uses is free for the one that
    /// keeps the books.
    const LENDS: bool = false;

    /// All nodes in the paper's initial state.
    fn deploy(deployment: &Deployment, variant: Self::Variant, repairs: Repairs) -> Vec<Self>;

    /// A node that takes part, knows nothing and holds nothing.
    fn blank(me: NodeId, charter: &Charter<Self::Variant>) -> Self;

    /// Makes the units `0..k`, of this generation, which is greater than all before. A person or program that knows
    /// that there are none tells one node, once.
    fn mint(&mut self, k: u32, generation: u32, out: &mut Out<Self>);

    /// What it must have when it comes back after it was killed. The driver of the node writes this down, whenever it
    /// has changed, before the effects of the step that changed it are carried out.
    fn durable(&self) -> Self::Durable;

    /// The node that stored this and was killed, in its next life. The layer below tells it anew what there is.
    fn restore(me: NodeId, charter: &Charter<Self::Variant>, durable: Self::Durable, out: &mut Out<Self>) -> Self;

    /// The timer that ends the grant which its application has now, if a grant is a lease.
    fn lease(&self) -> Option<Self::Timer> {
        None
    }

    /// An application that was granted this in an earlier life is still there, and its lease has so long to go: tells
    /// whether the grant is this node's again. Without leases a restored node knows by itself what was in use.
    fn resume(&mut self, _grant: Grant, _left: Duration, _out: &mut Out<Self>) -> bool {
        false
    }

    /// What makes a demand urgent to this variant. By default all demands are alike.
    fn urgency(_variant: Self::Variant) -> Urgency {
        Urgency::Ignored
    }

    /// The numbers of our own that this variant goes by, and that its users may set. By default there are none.
    fn constants(_variant: Self::Variant) -> Vec<Constant<Self::Variant>> {
        Vec::new()
    }

    /// What is wrong with the constants taken together, if they do not fit.
    fn fit(_variant: Self::Variant) -> Result<(), String> {
        Ok(())
    }

    /// The same algorithm with its constants as small as they can be, so that a search meets in a few steps what
    /// otherwise takes many. By default there is nothing to shrink.
    fn at_small_scale(variant: Self::Variant) -> Self::Variant {
        variant
    }

    /// The same algorithm where radios carry its messages, and each costs time that all share. By default nothing
    /// differs.
    fn over_radios(variant: Self::Variant) -> Self::Variant {
        variant
    }

    /// The application wants units. It does not ask again before it has released them.
    fn request(&mut self, demand: Demand, out: &mut Out<Self>);
    /// The application no longer uses what it was granted.
    fn release(&mut self, out: &mut Out<Self>);
    /// A message of a node that may speak to this one.
    fn message(&mut self, from: NodeId, message: Self::Message, out: &mut Out<Self>);
    /// A message of this node that did not reach `to` and never will.
    fn undelivered(&mut self, to: NodeId, message: Self::Message, out: &mut Out<Self>);
    /// An armed timer has run out.
    fn timer(&mut self, timer: Self::Timer, out: &mut Out<Self>);
    /// The layer below reports a change.
    fn below(&mut self, view: Self::View, out: &mut Out<Self>);

    /// The largest demand that can ever be granted.
    fn units_max(&self) -> Units;
    /// The permits this node holds, in use or not.
    fn held(&self) -> Permits;
    /// Whether it holds what a node must have to be granted anything. Usually that is the permits themselves. Where no
    /// node that it reaches holds it, a waiter is not taken for owed.
    fn has_token(&self) -> bool {
        !self.held().is_empty()
    }
    /// The section of its application, as the paper's variable has it.
    fn section(&self) -> Section;
    /// What it shows of itself.
    fn status(&self) -> Status;

    /// The permits that a message carries.
    fn permits(message: &Self::Message) -> Permits;
    /// Whether a message carries what [`Self::has_token`] speaks of.
    fn is_token(message: &Self::Message) -> bool {
        !Self::permits(message).is_empty()
    }
    /// The index of a message's kind in [`Self::KINDS`].
    fn kind(message: &Self::Message) -> usize;

    /// The permits that no node holds and no message carries, because their return is still being reported to the node
    /// that has them in its books, or because what is not in use is nowhere. Usually there are none.
    fn returning(_moment: &Moment<'_, Self>) -> Permits {
        Permits::NONE
    }

    /// Whether it claims to survive the crash of any one node now: it may need some time to get ready for it. By
    /// default it either always does or never.
    fn is_ready_for_crash(_moment: &Moment<'_, Self>) -> bool {
        Self::CLAIMS.stand(Harm::Crash)
    }

    /// The paper's lemmas, over all nodes and all messages in flight; the error says which one broke, and where.
    fn invariant(moment: &Moment<'_, Self>) -> Result<(), String>;
}

/// Whether a message must be neither lost nor doubled: it carries permits, or the token that others wait for.
pub fn carries_permits<P: Protocol>(message: &P::Message) -> bool {
    P::is_token(message) || !P::permits(message).is_empty()
}

/// The most nodes that a world takes.
pub const NODES_MAX: u32 = 100_000;

/// Where an algorithm starts: so many nodes, so many units, these links or these members.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Deployment {
    /// The paper's n.
    pub nodes: u32,
    /// The paper's k.
    pub k: u32,
    /// Each link once, as a pair, for an algorithm that stands on links.
    #[serde(default)]
    pub links: Vec<(NodeId, NodeId)>,
    /// The members of the neighbourhood, for an algorithm that stands on one. The first has the token; all came in this
    /// order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<NodeId>,
    /// The stay of each of them. If there are none, they are 0, 1 and so on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stays: Vec<Stay>,
}

impl Deployment {
    /// All node ids.
    pub fn ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.nodes).map(NodeId)
    }

    /// The members of the neighbourhood, in the order in which they came.
    pub fn stays(&self) -> impl Iterator<Item = (NodeId, Stay)> + '_ {
        let drawn = (0..).zip(&self.members).enumerate();
        drawn.map(|(at, (number, &member))| (member, self.stays.get(at).copied().unwrap_or(Stay(number))))
    }

    /// Likewise, with the lives that an ideal layer numbers: they begin in this order.
    pub fn lives(&self) -> impl Iterator<Item = (NodeId, Incarnation)> + '_ {
        self.members.iter().copied().zip((0..).map(Incarnation))
    }

    /// The neighbours of every node, in growing order.
    pub fn adjacency(&self) -> Vec<Vec<NodeId>> {
        let mut adjacency = alloc::vec![Vec::new(); self.nodes as usize];
        for &(a, b) in &self.links {
            adjacency[a.index()].push(b);
            adjacency[b.index()].push(a);
        }
        for neighbours in &mut adjacency {
            neighbours.sort_unstable();
        }
        adjacency
    }
}

/// A message on its way.
#[derive(Clone, Debug)]
pub struct Flight<'a, M> {
    /// The sender.
    pub from: NodeId,
    /// The receiver.
    pub to: NodeId,
    /// The content.
    pub message: &'a M,
}

/// The whole system between two steps, as an invariant sees it.
#[derive(Debug)]
pub struct Moment<'a, P: Protocol> {
    /// All nodes, by id.
    pub nodes: Vec<&'a P>,
    /// All messages in flight; those of one link and direction in the order in which they will arrive.
    pub flights: Vec<Flight<'a, P::Message>>,
}

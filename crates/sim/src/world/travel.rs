//! A world as one of several: what it takes to drive them side by side, and to get from one to another.

use std::mem;

use driftlock_field::plane::Leg;
use driftlock_net::Time;
use driftlock_protocol::{Contacts, Node, NodeId, Protocol};
use driftlock_trace::Scene;

use super::World;
use crate::meter::Waiter;

/// A node on its way from one world to another, with its instance of the algorithm.
pub struct Traveller<P: Protocol> {
    /// The instance.
    node: Node<P>,
    /// Since when its application waits, if it does.
    waiter: Option<Waiter>,
}

impl<P: Protocol> Traveller<P> {
    /// Since when its application waits, if it does.
    pub fn waiter(&self) -> Option<Waiter> {
        self.waiter
    }
}

impl<P: Protocol> World<P> {
    /// When the next event is due.
    pub fn next_time(&self) -> Option<Time> {
        self.queue.next_time()
    }

    /// Moves time on, not beyond the next event: something from outside is about to happen.
    pub fn advance_to(&mut self, now: Time) {
        debug_assert!(self.now <= now && self.queue.next_time().is_none_or(|next| now <= next));
        self.now = now;
        self.meter.pass(now);
    }

    /// A node is on this straight line since then: for the reader of the trace.
    pub fn record_leg(&mut self, node: NodeId, since: Time, leg: &Leg) {
        if let Some((_, recorder)) = self.recorder() {
            let (at, velocity) = ([leg.from.x, leg.from.y], [leg.velocity.x, leg.velocity.y]);
            recorder.scene(&Scene::Move { t: since.0, node, at, velocity, absent: false });
        }
    }

    /// A node from which units were taken away since the driver last asked.
    pub fn next_revoked(&mut self) -> Option<NodeId> {
        self.revoked.pop()
    }

    /// A node that has departed from the neighbourhood since the driver last asked.
    pub fn next_departed(&mut self) -> Option<NodeId> {
        self.departed.pop()
    }

    /// Takes a node out that is outside of the neighbourhood: it goes elsewhere, with what its application waits for.
    pub fn take(&mut self, node: NodeId) -> Traveller<P> {
        let at = node.index();
        debug_assert!(!self.nodes[at].contacts().is_anywhere() && self.armed[at].is_empty());
        let waiter = self.nodes[at].demand().map(|_| self.meter.departed(node));
        self.oracle.vanished(node);
        let blank = Node::blank(node, &self.charter);
        Traveller { node: mem::replace(&mut self.nodes[at], blank), waiter }
    }

    /// A node is here that was taken out elsewhere. It is to enter.
    pub fn put(&mut self, node: NodeId, traveller: Traveller<P>) {
        let Traveller { node: instance, waiter } = traveller;
        if let (Some(demand), Some(waiter)) = (instance.demand(), waiter) {
            self.oracle.requested(node, demand);
            self.meter.arrived(node, demand, waiter);
        }
        self.nodes[node.index()] = instance;
    }
}

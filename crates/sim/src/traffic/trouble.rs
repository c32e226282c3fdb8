//! What goes wrong on the field, and what becomes of the nodes that it happens to.

use std::mem;
use std::rc::Rc;

use driftlock_field::faults::Action;
use driftlock_net::Time;
use driftlock_protocol::NodeId;

use super::queue::Event;
use super::{Packet, Router, World};

/// Whether a node does anything.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Condition {
    Up,
    /// It does nothing for a while, but its radio goes on by itself.
    Paused,
    /// It is off.
    Down,
}

/// What a paused node should have done meanwhile.
#[derive(Clone, Debug)]
pub(super) enum Deferred {
    /// To look after its routes.
    Wake,
    /// To take a packet from another.
    Heard(NodeId, Rc<Packet>),
    /// To learn that a packet did not reach another.
    Failed(NodeId, Rc<Packet>),
    /// To send a request, to whom this luck says.
    Ask(f64),
}

impl World<'_> {
    /// Sees to it that the next fault begins or ends in time.
    pub(super) fn expect_fault(&mut self) {
        if let Some(at) = self.faults.next() {
            self.queue.schedule(at.max(self.now), Event::Fault);
        }
    }

    /// Something goes wrong, or gets right again.
    pub(super) fn fault(&mut self) {
        let (now, medium) = (self.now, &mut self.medium);
        let mut actions = Vec::new();
        self.faults.act(now, |node| medium.position(now, node), &mut actions);
        for action in actions {
            action.disturb(now, self.medium.air(), &mut self.of_radio);
            match action {
                Action::Crash { node, .. } => self.crash(node),
                Action::Restart { node, .. } => self.restart(node),
                Action::Pause(node) => self.nodes[node.index()].condition = Condition::Paused,
                Action::Resume(node) => self.resume(node),
                Action::Cut(..) | Action::Jam(..) | Action::Group(..) | Action::Loss(_) | Action::LossAt(..) => {}
            }
        }
        self.expect_fault();
    }

    /// What a node was about to do, and what it heard and has not looked at, is gone with it.
    fn crash(&mut self, id: NodeId) {
        self.nodes[id.index()].condition = Condition::Down;
        self.queue.forget_packets_of(id);
        self.deferred.retain(|(node, _)| *node != id);
    }

    /// Routers store nothing: whatever a node remembers, its routes have to be found again.
    fn restart(&mut self, id: NodeId) {
        let (now, node) = (self.now, &mut self.nodes[id.index()]);
        node.boot += 1;
        node.router = Router::rebooted(id, self.routing.clone(), node.boot, now);
        (node.wakes, node.condition) = (Time::END, Condition::Up);
        self.expect_wake(id);
    }

    /// A paused node goes on with what it should have done meanwhile.
    fn resume(&mut self, id: NodeId) {
        self.nodes[id.index()].condition = Condition::Up;
        let (own, others) = mem::take(&mut self.deferred).into_iter().partition(|(node, _)| *node == id);
        self.deferred = others;
        let own: Vec<(NodeId, Deferred)> = own;
        for (_, deferred) in own {
            match deferred {
                Deferred::Wake => {
                    self.nodes[id.index()].wakes = self.now;
                    self.wake(id);
                }
                Deferred::Heard(from, packet) => self.hear(id, from, packet),
                Deferred::Failed(to, packet) => self.fail(id, to, packet),
                Deferred::Ask(luck) => self.ask(id, luck),
            }
        }
    }

    /// Whether a node does something now. If it is paused, it will later.
    pub(super) fn does(&mut self, id: NodeId, deferred: impl FnOnce() -> Deferred) -> bool {
        let condition = self.nodes[id.index()].condition;
        if condition == Condition::Paused {
            self.deferred.push((id, deferred()));
        }
        condition == Condition::Up
    }
}

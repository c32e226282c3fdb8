//! Where the effects of steps go: what worlds have in common when they carry them out.

use alloc::vec::Vec;
use core::time::Duration;

use crate::{Demand, Effect, Grant, NodeId, Out, Protocol};

/// A world as the effects of its nodes see it.
pub trait Carrier<P: Protocol> {
    /// What can be wrong with an effect; nothing that comes after it is carried out.
    type Wrong;

    /// A node sends a message; it may repeat the one before it for one more receiver.
    fn send(&mut self, from: NodeId, to: NodeId, message: P::Message, shared: bool) -> Result<(), Self::Wrong>;

    /// Who hears a broadcast of a node now, by id.
    fn audience(&self, from: NodeId) -> Vec<NodeId>;

    /// A node arms a timer, perhaps anew.
    fn arm(&mut self, node: NodeId, timer: P::Timer, after: Duration);

    /// A node forgets a timer.
    fn disarm(&mut self, node: NodeId, timer: P::Timer);

    /// The application of a node may use these units.
    fn grant(&mut self, _node: NodeId, _grant: Grant) -> Result<(), Self::Wrong> {
        Ok(())
    }

    /// The application of a node must stop using its units, and waits again.
    fn revoke(&mut self, _node: NodeId, _demand: Demand) {}

    /// A step has executed a clause of the paper.
    fn clause(&mut self, _name: &'static str) {}

    /// All that the step wanted is done, unless its node departs. The buffer is empty: a world that uses one again and
    /// again takes it back now, as a departure leads to other steps.
    fn finish_step(&mut self, _buffer: &mut Out<P>) {}

    /// A node has departed by itself.
    fn depart(&mut self, node: NodeId) -> Result<(), Self::Wrong>;

    /// Does what a step of a node wants done. The node is gone after all else, whenever it said that it departs.
    fn carry_out(&mut self, node: NodeId, out: &mut Out<P>) -> Result<(), Self::Wrong> {
        let mut departs = false;
        for effect in out.drain() {
            match effect {
                Effect::Send { to, message, shared } => self.send(node, to, message, shared)?,
                Effect::Broadcast { message } => {
                    for (at, to) in self.audience(node).into_iter().enumerate() {
                        self.send(node, to, message.clone(), at > 0)?;
                    }
                }
                Effect::Arm { timer, after } => self.arm(node, timer, after),
                Effect::Disarm { timer } => self.disarm(node, timer),
                Effect::Grant(grant) => self.grant(node, grant)?,
                Effect::Revoke(demand) => self.revoke(node, demand),
                Effect::Depart => departs = true,
                Effect::Clause(name) => self.clause(name),
            }
        }
        self.finish_step(out);
        if departs { self.depart(node) } else { Ok(()) }
    }
}

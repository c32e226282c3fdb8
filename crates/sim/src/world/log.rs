//! What a node on a field has done, for a world that counts, checks and records.

use std::mem;

use driftlock_host::Watch;
use driftlock_net::Time;
use driftlock_net::stack::Told;
use driftlock_protocol::{
    Effect, Incarnation, Input, InputOf, Node, NodeId, Out, Protocol, Refusal, Status, StatusChange,
};

/// One thing that was seen.
#[derive(Debug)]
pub(super) enum Seen<P: Protocol> {
    /// The layers below told it something.
    Told(Told<P::Message>),
    /// It took an input, or refused it. Seen only where steps are recorded.
    Step(Box<Step<P>>),
    /// It sent a message.
    Sent {
        to: NodeId,
        /// Whether it knows of the receiver.
        is_known: bool,
        message: P::Message,
        shared: bool,
    },
}

/// A step, as a trace tells it.
#[derive(Debug)]
pub(super) struct Step<P: Protocol> {
    pub(super) input: InputOf<P>,
    pub(super) out: Vec<Effect<P::Message, P::Timer>>,
    pub(super) refused: Option<Refusal>,
    pub(super) change: Option<StatusChange>,
}

/// What was seen of a node since the world last looked.
#[derive(Debug)]
pub(super) struct Log<P: Protocol> {
    seen: Vec<Seen<P>>,
    /// Whether steps are recorded.
    records: bool,
}

impl<P: Protocol> Log<P> {
    pub(super) fn new(records: bool) -> Self {
        Self { seen: Vec::new(), records }
    }

    /// What was seen, in its order. It is [given back](Self::give_back), so that its room is used again.
    pub(super) fn take(&mut self) -> Vec<Seen<P>> {
        mem::take(&mut self.seen)
    }

    pub(super) fn give_back(&mut self, room: Vec<Seen<P>>) {
        debug_assert!(room.is_empty());
        if self.seen.is_empty() {
            self.seen = room;
        }
    }

    fn record(&mut self, input: InputOf<P>, out: Vec<Effect<P::Message, P::Timer>>, before: &Status, node: &Node<P>) {
        let change = node.protocol().status().change_since(before);
        self.seen.push(Seen::Step(Box::new(Step { input, out, refused: None, change })));
    }
}

impl<P: Protocol> Watch<P> for Log<P> {
    fn step(&mut self, _now: Time, node: &mut Node<P>, input: InputOf<P>, out: &mut Out<P>) -> Result<(), Refusal> {
        if !self.records {
            return node.step(input, out);
        }
        let (before, start) = (node.protocol().status(), out.effects().len());
        match node.step(input.clone(), out) {
            Ok(()) => {
                self.record(input, out.effects()[start..].to_vec(), &before, node);
                Ok(())
            }
            // It was of a link, or for a life, that is over: no trace tells of that.
            Err(refusal) if matches!(input, Input::Message { .. }) => Err(refusal),
            Err(refusal) => {
                let step = Step { input, out: Vec::new(), refused: Some(refusal.clone()), change: None };
                self.seen.push(Seen::Step(Box::new(step)));
                Err(refusal)
            }
        }
    }

    fn told(&mut self, _node: &Node<P>, told: &Told<P::Message>) {
        self.seen.push(Seen::Told(told.clone()));
    }

    fn sent(&mut self, to: NodeId, incarnation: Option<Incarnation>, message: &P::Message, shared: bool) {
        self.seen.push(Seen::Sent { to, is_known: incarnation.is_some(), message: message.clone(), shared });
    }
}

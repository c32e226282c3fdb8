//! The node of one resource, with its timers and what it has to have stored.

use driftlock_net::{Span, Time};
use driftlock_protocol::{Charter, ContactsOf, Effect, Input, InputOf, Node, NodeId, Out, Protocol, Refusal, Stored};

use crate::Watch;

/// A timer that was armed, and has not run out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Armed<T> {
    due: Time,
    timer: T,
}

/// The node of one resource.
///
/// A timer that is due is delivered before any other input, also when the node has paused and its timers have been due
/// for long; and of several, the one that ends its application's lease comes first, so that a holder whose lease is
/// over is out before it does anything else. What is to be stored is asked for after the inputs that belong together,
/// and before any of their effects is carried out.
#[derive(Clone, Debug)]
pub struct Seat<P: Protocol> {
    node: Node<P>,
    /// In the order in which they run out; those of one instant in the order in which they were armed.
    armed: Vec<Armed<P::Timer>>,
    /// What was last handed out to be stored.
    stored: Option<Stored<P::Durable>>,
}

impl<P: Protocol> Seat<P> {
    /// A node that has stored nothing yet, and has just begun with these effects.
    pub fn new(now: Time, node: Node<P>, out: &Out<P>) -> Self {
        let mut seat = Self { node, armed: Vec::new(), stored: None };
        seat.keep_time(now, 0, out);
        seat
    }

    /// A node that knows that a resource has no units, and makes them, of this generation: once in a resource's life.
    pub fn founder(now: Time, id: NodeId, charter: &Charter<P::Variant>, generation: u32, out: &mut Out<P>) -> Self {
        let mut protocol = P::blank(id, charter);
        protocol.mint(charter.k, generation, out);
        Self::new(now, Node::new(id, protocol, ContactsOf::<P::View>::default()), out)
    }

    /// The node that stored this and was killed, in its next life. Every lease of its earlier life counts as just
    /// begun.
    pub fn restore(
        now: Time,
        id: NodeId,
        charter: &Charter<P::Variant>,
        stored: Stored<P::Durable>,
        contacts: ContactsOf<P::View>,
        out: &mut Out<P>,
    ) -> Self {
        let node = Node::restore(id, charter, stored.clone(), contacts, out);
        Self { stored: Some(stored), ..Self::new(now, node, out) }
    }

    /// The node itself.
    pub fn node(&self) -> &Node<P> {
        &self.node
    }

    /// When the next timer runs out.
    pub fn due(&self) -> Option<Time> {
        self.armed.first().map(|armed| armed.due)
    }

    /// When the grant that the application has now ends by itself, if it is a lease.
    pub fn lease_ends(&self) -> Option<Time> {
        self.lease_at().map(|at| self.armed[at].due)
    }

    /// What has to be stored before the effects of any step so far are carried out, unless it was handed out before.
    pub fn unstored(&mut self) -> Option<&Stored<P::Durable>> {
        let durable = Some(self.node.durable());
        if self.stored == durable {
            return None;
        }
        self.stored = durable;
        self.stored.as_ref()
    }

    /// Takes an input, after all timers that are due. The effects of all these steps go into `out`, in their order.
    pub fn take(
        &mut self,
        now: Time,
        input: InputOf<P>,
        watch: &mut impl Watch<P>,
        out: &mut Out<P>,
    ) -> Result<(), Refusal> {
        self.run_due(now, watch, out);
        self.step(now, input, watch, out)
    }

    /// Delivers all timers that are due.
    pub fn run_due(&mut self, now: Time, watch: &mut impl Watch<P>, out: &mut Out<P>) {
        while self.due().is_some_and(|due| due <= now) {
            let lease = self.lease_at().filter(|&at| self.armed[at].due <= now);
            let Armed { timer, .. } = self.armed.remove(lease.unwrap_or(0));
            let taken = self.step(now, Input::Timer(timer), watch, out);
            debug_assert_eq!(taken, Ok(()), "no node refuses its own timer");
        }
    }

    fn step(
        &mut self,
        now: Time,
        input: InputOf<P>,
        watch: &mut impl Watch<P>,
        out: &mut Out<P>,
    ) -> Result<(), Refusal> {
        let start = out.effects().len();
        watch.step(now, &mut self.node, input, out)?;
        self.keep_time(now, start, out);
        Ok(())
    }

    /// Arms and disarms timers as the effects from `start` on say.
    fn keep_time(&mut self, now: Time, start: usize, out: &Out<P>) {
        for effect in &out.effects()[start..] {
            match effect {
                Effect::Arm { timer, after } => {
                    self.disarm(*timer);
                    let due = now + Span::from(*after);
                    let behind = self.armed.partition_point(|armed| armed.due <= due);
                    self.armed.insert(behind, Armed { due, timer: *timer });
                }
                Effect::Disarm { timer } => self.disarm(*timer),
                _ => {}
            }
        }
    }

    /// Which of the armed timers ends the lease.
    fn lease_at(&self) -> Option<usize> {
        let lease = self.node.protocol().lease()?;
        self.armed.iter().position(|armed| armed.timer == lease)
    }

    fn disarm(&mut self, timer: P::Timer) {
        self.armed.retain(|armed| armed.timer != timer);
    }
}

#[cfg(test)]
mod tests;

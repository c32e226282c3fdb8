//! How a world sees what the node of a resource does.

use driftlock_net::Time;
use driftlock_net::stack::Told;
use driftlock_protocol::{Incarnation, InputOf, Node, NodeId, Out, Protocol, Refusal};

/// Looks on while the node of a resource takes inputs and speaks to others. A daemon has none, which is `()`, and pays
/// nothing for it.
pub trait Watch<P: Protocol>: 'static {
    /// Has the node take an input. The effects go into `out`, behind what is there already.
    fn step(&mut self, _now: Time, node: &mut Node<P>, input: InputOf<P>, out: &mut Out<P>) -> Result<(), Refusal> {
        node.step(input, out)
    }

    /// The layers below tell something, which is the node's input next if it is anything to an algorithm.
    fn told(&mut self, _node: &Node<P>, _told: &Told<P::Message>) {}

    /// The node sends a message, in this incarnation of the link or to this life of the receiver, if it knows of one.
    /// `shared`: it repeats the one before for one more receiver.
    fn sent(&mut self, _to: NodeId, _incarnation: Option<Incarnation>, _message: &P::Message, _shared: bool) {}
}

impl<P: Protocol> Watch<P> for () {}

//! Applications that outlive a life of their node.

use driftlock_protocol::{NodeId, Protocol};

use super::Model;
use crate::action::Action;
use crate::parts::Stimulus;
use crate::state::State;

impl<P: Protocol> Model<P> {
    /// What applications of an earlier life may do.
    pub(super) fn late_users(&self, state: &State, node: NodeId, actions: &mut Vec<Action>) {
        let seat = self.layout.seat(state, node);
        if self.parts.reaction(node, seat, Stimulus::Show).seat != seat {
            actions.push(Action::Show(node));
        }
        if self.parts.seats.get(seat).seat.node.left().is_some() {
            actions.push(Action::Gone(node));
        }
    }

    /// Whether an application of an earlier life may use something: whoever has units made anew knows that none does.
    pub(super) fn is_any_left(&self, state: &State) -> bool {
        self.layout.seats(state).iter().any(|&seat| !self.parts.seats.get(seat).left.is_empty())
    }
}

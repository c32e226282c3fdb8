//! Nodes that are killed and come back: who may be, what follows from it, and what becomes of links and applications.

use std::sync::atomic::Ordering;

use driftlock_protocol::{Crossing, Layer, LinkEvent, NodeId, Protocol, View};

use super::{Model, RESTARTED};
use crate::Bound;
use crate::action::Action;
use crate::parts::Stimulus;
use crate::state::{AWAKE, Common, DOWN, Own, State};

impl<P: Protocol> Model<P> {
    /// Who may be killed, and what follows from that.
    pub(super) fn life_actions(&self, state: &State, actions: &mut Vec<Action>) {
        let layout = self.layout;
        let may = |what| layout.common(state, what) > 0;
        let on_links = P::View::LAYER == Layer::Links;
        let is_there = |node: &NodeId| on_links || layout.inside(state) >> node.0 & 1 == 1;
        for node in layout.ids() {
            if layout.own(state, node, Own::Absence) == DOWN {
                actions.push(Action::Back(node));
            } else if layout.own(state, node, Own::Absence) == AWAKE && is_there(&node) {
                let kills = [(Common::Restarts, Action::Kill(node)), (Common::DiskLosses, Action::Wipe(node))];
                actions.extend(kills.into_iter().filter(|(what, _)| may(*what)).map(|(_, action)| action));
            }
        }
        if on_links && layout.has_cuts(state) {
            self.mending(state, actions);
        }
    }

    /// What happens to links that a restart has cut: the other end notices, and then it forms again.
    fn mending(&self, state: &State, actions: &mut Vec<Action>) {
        let layout = self.layout;
        let may_be_told = |node| self.may_be_told(state, node);
        for (a, b) in layout.pairs().filter(|&(a, b)| layout.is_cut(state, a, b)) {
            if let Some((node, peer)) = self.loose_end(state, a, b) {
                actions.extend(may_be_told(node).then_some(Action::Miss { node, peer }));
            } else if self.is_idle(state, a, b) && may_be_told(a) && may_be_told(b) {
                actions.push(Action::Mend(a, b));
            }
        }
    }

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

    /// Whether units would be made while an application of an earlier life may use others: whoever has them made knows
    /// that none is.
    pub(super) fn founds_too_early(&self, state: &State, node: NodeId) -> bool {
        let seat = |of| self.parts.seats.get(self.layout.seat(state, of));
        let is_alone = self.layout.ids().all(|other| other == node || self.life_of(state, other).is_none());
        is_alone && self.layout.ids().any(|of| !seat(of).left.is_empty())
    }

    /// Nothing reaches the earlier life of a node but permits, later. What it has sent may still arrive.
    pub(super) fn kill(&self, state: &mut State, node: NodeId) {
        let layout = self.layout;
        if P::View::LAYER == Layer::Neighbourhood {
            self.input(state, node, Stimulus::Kill);
            self.silence(state, node);
            layout.set_own(state, node, Own::Absence, Bound::Most(DOWN));
            return;
        }
        for peer in layout.ids().filter(|&peer| peer != node) {
            if layout.is_up(state, node, peer) {
                let loose = self.loose_end(state, node, peer);
                // If that one was killed as well, neither end is left.
                layout.set_link(state, node, peer, loose.is_none_or(|(other, _)| other == peer));
                layout.set_cut(state, node, peer, true);
            }
            let late = self.parts.outliving(layout.channel(state, peer, node));
            layout.set_channel(state, peer, node, late);
        }
        self.input(state, node, Stimulus::Kill);
        self.begin_life(state, node);
    }

    /// A member that was killed is back, and hears who is there.
    pub(super) fn back(&self, state: &mut State, node: NodeId) {
        let layout = self.layout;
        layout.set_own(state, node, Own::Absence, Bound::Most(AWAKE));
        layout.set_inside(state, node, true);
        self.begin_life(state, node);
        for peer in layout.ids().filter(|&peer| peer != node) {
            if let Some(life) = self.life_of(state, peer) {
                self.input(state, node, self.parts.told(Crossing::Met { peer, life }));
            }
        }
    }

    fn begin_life(&self, state: &mut State, node: NodeId) {
        self.seen.fetch_or(1 << RESTARTED, Ordering::Relaxed);
        self.input(state, node, Stimulus::Back);
    }

    /// The other end of a link was killed. What it had sent is lost from now on, but for permits.
    pub(super) fn miss(&self, state: &mut State, node: NodeId, peer: NodeId) {
        let layout = self.layout;
        let late = self.parts.outliving(layout.channel(state, peer, node));
        layout.set_channel(state, peer, node, late);
        layout.set_link(state, node, peer, false);
        let seat = self.parts.seats.get(layout.seat(state, node));
        let incarnation = seat.seat.node.incarnation(peer).expect("this end was up");
        self.input(state, node, self.parts.told(LinkEvent::Down { peer, incarnation }));
    }

    /// The end of this link that has not noticed that the other one was killed, and the other one.
    pub(super) fn loose_end(&self, state: &State, a: NodeId, b: NodeId) -> Option<(NodeId, NodeId)> {
        let layout = self.layout;
        let has_end = |node, peer| self.parts.seats.get(layout.seat(state, node)).seat.node.incarnation(peer).is_some();
        let is_loose = |&(node, peer): &(NodeId, NodeId)| has_end(node, peer) && !has_end(peer, node);
        [(a, b), (b, a)].into_iter().find(|ends| layout.is_up(state, a, b) && is_loose(ends))
    }

    /// Whether there is any such end.
    pub(super) fn has_loose_end(&self, state: &State) -> bool {
        let layout = self.layout;
        let may_be = P::View::LAYER == Layer::Links && layout.has_cuts(state);
        may_be && layout.pairs().any(|(a, b)| layout.is_cut(state, a, b) && self.loose_end(state, a, b).is_some())
    }
}

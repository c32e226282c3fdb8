//! What members are told of who comes and goes: always and at once, or as a node hears of it that is not told for
//! certain.

use driftlock_net::Span;
use driftlock_protocol::ideal::Ideal;
use driftlock_protocol::{Contacts, Incarnation, NodeId, Protocol, View};
use rand::RngExt;

use super::{Step, World};
use crate::queue::Event;
use crate::random::{Stream, exponential};

/// How many delays of a message late a hint is on average, if it is late.
const LATE_DELAYS: f64 = 30.0;

/// How hints are wrong.
pub(super) struct Hints {
    draws: Stream,
    /// The share of them that is.
    wrong: f64,
    /// How many were.
    count: u64,
}

impl Hints {
    /// None is.
    pub(super) fn new(draws: Stream) -> Self {
        Self { draws, wrong: 0.0, count: 0 }
    }

    fn is_wrong(&mut self) -> bool {
        let is_wrong = self.wrong > 0.0 && self.draws.random_bool(self.wrong);
        self.count += u64::from(is_wrong);
        is_wrong
    }
}

impl<P: Protocol> World<P> {
    /// From now on this share of all hints is wrong: not given, late, or of a node that is not there.
    pub fn mislead(&mut self, share: f64) {
        self.hints.wrong = share;
    }

    /// How many hints were wrong so far.
    pub fn wrong_hints(&self) -> u64 {
        self.hints.count
    }

    /// From now on all hints are right, and nodes that were told wrongly learn better.
    pub fn tell_the_truth(&mut self) -> Step<()> {
        if self.hints.count == 0 {
            return Ok(());
        }
        self.hints.wrong = 0.0;
        (0..self.node_count()).map(NodeId).try_for_each(|node| self.put_right(node))
    }

    /// A member learns of each node whether it is there.
    fn put_right(&mut self, node: NodeId) -> Step<()> {
        let members: Vec<_> = self.ideal.listed().collect();
        for peer in (0..self.node_count()).map(NodeId) {
            let life = members.iter().find(|(member, _)| *member == peer).map(|(_, life)| *life);
            self.tell_hint(node, peer, life)?;
        }
        Ok(())
    }

    /// A member that is about to leave is told the truth, now and from now on: one that takes itself for the last of
    /// all takes the units with it.
    pub(super) fn put_right_before_leaving(&mut self, node: NodeId) -> Step<()> {
        if self.hears_of_members() {
            self.introduce_all(node)?;
        } else if self.hints.wrong <= 0.0 {
            return Ok(());
        }
        self.put_right(node)
    }

    /// What a node is told that comes in: who is there, or not all of them.
    pub(super) fn as_heard(&mut self, mut view: P::View) -> P::View {
        if !self.hears_of_members()
            && let Some(others) = view.others()
        {
            others.retain(|_| !self.hints.is_wrong());
        }
        view
    }

    /// A member hears that another one has come, or departed; perhaps later, perhaps never. Perhaps it hears of yet
    /// another one, of which it is not so.
    pub(super) fn hint(&mut self, node: NodeId, peer: NodeId, life: Option<Incarnation>) -> Step<()> {
        if self.hears_of_members() {
            return Ok(());
        }
        if self.is_leaving(node) || !self.hints.is_wrong() {
            return self.tell_hint(node, peer, life);
        }
        let late = Span::from_units(exponential(LATE_DELAYS * self.delay.mean(), &mut self.hints.draws));
        match self.hints.draws.random_range(0..3) {
            0 => {}
            1 => self.schedule(late, hint_of(node, peer, life)),
            _ => {
                let other = NodeId(self.hints.draws.random_range(0..self.node_count()));
                self.schedule(late, hint_of(node, other, life));
                self.tell_hint(node, peer, life)?;
            }
        }
        Ok(())
    }

    /// A node that is back in its stay hears of the members.
    pub(super) fn hear_of_members(&mut self, node: NodeId) -> Step<()> {
        let members: Vec<_> = self.ideal.listed().collect();
        members.into_iter().try_for_each(|(peer, life)| self.hint(node, peer, Some(life)))
    }

    /// A late hint comes, unless all are right by now.
    pub(super) fn late_hint(&mut self, node: NodeId, peer: NodeId, life: Option<Incarnation>) -> Step<()> {
        if self.hints.wrong > 0.0 && !self.is_leaving(node) { self.tell_hint(node, peer, life) } else { Ok(()) }
    }

    /// A node is told this of another one, if it is inside and up.
    fn tell_hint(&mut self, node: NodeId, peer: NodeId, life: Option<Incarnation>) -> Step<()> {
        if node == peer || !self.shell(node).contacts().is_anywhere() || self.is_down(node) {
            return Ok(());
        }
        P::View::hint(peer, life).map_or(Ok(()), |view| self.tell(node, view))
    }
}

/// The member is told later that another one has come, in this life, or departed.
fn hint_of(node: NodeId, peer: NodeId, life: Option<Incarnation>) -> Event {
    life.map_or(Event::HintParted { node, peer }, |life| Event::HintMet { node, peer, life })
}

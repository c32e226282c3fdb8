//! Reliable FIFO links that come and go by decree.

use std::collections::VecDeque;

use driftlock_protocol::{Flight, Incarnation, NodeId};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// What becomes of the messages that are in flight on a link when it fails.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// The failure waits until they have arrived: the papers' assumption of detectable incipient failures.
    Drained,
    /// They are returned to their senders as undelivered, after the failure was indicated.
    Returned,
    /// Those that carry permits arrive later, from who is no neighbour any more, before there is a link between the two
    /// again. All others are lost.
    Settled,
    /// They are lost, and nobody is told.
    Lost,
}

/// Nothing can be sent: the link is not up.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("there is no link from node {from} to node {to}")]
pub struct NoLink {
    /// The sender.
    pub from: NodeId,
    /// The receiver.
    pub to: NodeId,
}

/// One end of a link, as seen from the node it belongs to.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct End<M> {
    peer: NodeId,
    incarnation: Incarnation,
    /// On the way to the peer, the next to arrive first.
    outgoing: VecDeque<M>,
}

/// What is on its way from a node that has no end of this link any more.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Late<M> {
    from: NodeId,
    to: NodeId,
    incarnation: Incarnation,
    message: M,
}

/// The end of a link whose other end is gone, as its node was killed. This one has not noticed yet.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Loose {
    node: NodeId,
    peer: NodeId,
    incarnation: Incarnation,
}

/// A link that is no more.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LinkFailed<M> {
    /// Of the failed link.
    pub incarnation: Incarnation,
    /// What had not arrived, as (sender, receiver, message), each direction in the order of sending.
    pub undelivered: Vec<(NodeId, NodeId, M)>,
}

/// All links of a network and what is in flight on them.
///
/// A world decides when the head of a channel arrives and when links change; this decides what that means.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Links<M> {
    /// For each node its ends, by peer.
    ends: Vec<Vec<End<M>>>,
    /// What outlived its link, or the life of its sender, in the order of sending for each pair.
    late: Vec<Late<M>>,
    loose: Vec<Loose>,
    /// Of the next link to form.
    incarnation: Incarnation,
    count: usize,
}

impl<M> Links<M> {
    /// No links among `nodes` nodes.
    pub fn new(nodes: u32) -> Self {
        let ends = (0..nodes).map(|_| Vec::new()).collect();
        Self { ends, late: Vec::new(), loose: Vec::new(), incarnation: Incarnation(0), count: 0 }
    }

    /// How many links are up.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Whether there is a link between `a` and `b`.
    pub fn is_up(&self, a: NodeId, b: NodeId) -> bool {
        self.position(a, b).is_some()
    }

    /// Whether nothing is in flight between `a` and `b`.
    pub fn is_idle(&self, a: NodeId, b: NodeId) -> bool {
        [(a, b), (b, a)].into_iter().all(|(from, to)| self.end(from, to).is_none_or(|end| end.outgoing.is_empty()))
    }

    /// Every link once, in growing order, lower end first.
    pub fn iter(&self) -> impl Iterator<Item = (NodeId, NodeId)> + '_ {
        (0..).map(NodeId).zip(&self.ends).flat_map(|(a, ends)| {
            let higher = ends.iter().map(|end| end.peer).filter(move |&b| a < b);
            higher.map(move |b| (a, b))
        })
    }

    /// The links of one node, by peer.
    pub fn of(&self, node: NodeId) -> impl Iterator<Item = (NodeId, Incarnation)> + '_ {
        self.ends[node.index()].iter().map(|end| (end.peer, end.incarnation))
    }

    /// Everything in flight.
    pub fn flights(&self) -> impl Iterator<Item = Flight<'_, M>> {
        let over_links = (0..).map(NodeId).zip(&self.ends).flat_map(|(from, ends)| {
            ends.iter().flat_map(move |end| {
                let to = end.peer;
                end.outgoing.iter().map(move |message| Flight { from, to, message })
            })
        });
        over_links.chain(self.late.iter().map(|late| Flight { from: late.from, to: late.to, message: &late.message }))
    }

    /// Forms a link between two nodes that have none, and tells its incarnation.
    pub fn form(&mut self, a: NodeId, b: NodeId) -> Incarnation {
        debug_assert!(a != b && !self.is_up(a, b));
        debug_assert!(self.loose(a, b).or(self.loose(b, a)).is_none());
        debug_assert!(!self.late.iter().any(|late| [a, b].contains(&late.from) && [a, b].contains(&late.to)));
        let incarnation = self.incarnation;
        self.incarnation.0 += 1;
        self.count += 1;
        for (here, peer) in [(a, b), (b, a)] {
            let ends = &mut self.ends[here.index()];
            let at = ends.partition_point(|end| end.peer < peer);
            ends.insert(at, End { peer, incarnation, outgoing: VecDeque::new() });
        }
        incarnation
    }

    /// Takes the link between `a` and `b` down, with whatever is in flight on it.
    pub fn fail(&mut self, a: NodeId, b: NodeId) -> Result<LinkFailed<M>, NoLink> {
        let missing = NoLink { from: a, to: b };
        let mut undelivered = Vec::new();
        let mut incarnation = Err(missing);
        for (here, peer) in [(a, b), (b, a)] {
            let at = self.position(here, peer).ok_or(missing)?;
            let end = self.ends[here.index()].remove(at);
            incarnation = Ok(end.incarnation);
            undelivered.extend(end.outgoing.into_iter().map(|message| (here, peer, message)));
        }
        self.count -= 1;
        Ok(LinkFailed { incarnation: incarnation?, undelivered })
    }

    /// A node is killed: it has no links in its next life. The other ends are loose until they miss it. What it has
    /// sent is on its way still; of what was on its way to it only that goes on which `outlives` it. The rest is
    /// returned.
    pub fn kill(&mut self, node: NodeId, outlives: impl Fn(&M) -> bool) -> Vec<M> {
        self.loose.retain(|loose| loose.node != node);
        let mut dropped: Vec<M> = Vec::new();
        let to_node = self.late.extract_if(.., |late| late.to == node && !outlives(&late.message));
        dropped.extend(to_node.map(|late| late.message));
        for End { peer, incarnation, outgoing } in std::mem::take(&mut self.ends[node.index()]) {
            self.count -= 1;
            self.loose.push(Loose { node: peer, peer: node, incarnation });
            self.late.extend(outgoing.into_iter().map(|message| Late { from: node, to: peer, incarnation, message }));
            let Some(at) = self.position(peer, node) else { continue };
            for message in self.ends[peer.index()].remove(at).outgoing {
                if outlives(&message) {
                    self.late.push(Late { from: peer, to: node, incarnation, message });
                } else {
                    dropped.push(message);
                }
            }
        }
        self.loose.sort_unstable_by_key(|loose| (loose.node, loose.peer));
        dropped
    }

    /// The incarnation of a link to `peer` that was killed, which `node` has not noticed yet.
    pub fn loose(&self, node: NodeId, peer: NodeId) -> Option<Incarnation> {
        let loose = self.loose.iter().find(|loose| (loose.node, loose.peer) == (node, peer));
        loose.map(|loose| loose.incarnation)
    }

    /// Each such end, with the node that was killed.
    pub fn loose_ends(&self) -> impl Iterator<Item = (NodeId, NodeId)> + '_ {
        self.loose.iter().map(|loose| (loose.node, loose.peer))
    }

    /// `node` notices that `peer` was killed. Of what that one had sent before only that goes on which `outlives` the
    /// link. The rest is returned, with the incarnation of the link.
    pub fn miss(&mut self, node: NodeId, peer: NodeId, outlives: impl Fn(&M) -> bool) -> Option<(Incarnation, Vec<M>)> {
        let at = self.loose.iter().position(|loose| (loose.node, loose.peer) == (node, peer))?;
        let incarnation = self.loose.remove(at).incarnation;
        let is_over = |late: &mut Late<M>| (late.from, late.to) == (peer, node) && !outlives(&late.message);
        let dropped = self.late.extract_if(.., is_over).map(|late| late.message).collect();
        Some((incarnation, dropped))
    }

    /// Lets a message of a link that has failed go on to its receiver, behind those that do already.
    pub fn go_on(&mut self, from: NodeId, to: NodeId, incarnation: Incarnation, message: M) {
        debug_assert!(!self.is_up(from, to));
        self.late.push(Late { from, to, incarnation, message });
    }

    /// What outlived its link or its sender, of `from` to `to`, the next to arrive first.
    pub fn late(&self, from: NodeId, to: NodeId) -> impl Iterator<Item = &M> {
        self.late.iter().filter(move |late| (late.from, late.to) == (from, to)).map(|late| &late.message)
    }

    /// Takes the first of these, with the incarnation of its link. No link between the two may form before all have
    /// arrived.
    pub fn arrive_late(&mut self, from: NodeId, to: NodeId) -> Option<(Incarnation, M)> {
        let at = self.late.iter().position(|late| (late.from, late.to) == (from, to))?;
        let Late { incarnation, message, .. } = self.late.remove(at);
        Some((incarnation, message))
    }

    /// Puts a message on its way, behind what is in flight from `from` to `to` already.
    pub fn send(&mut self, from: NodeId, to: NodeId, message: M) -> Result<Incarnation, NoLink> {
        let at = self.position(from, to).ok_or(NoLink { from, to })?;
        let end = &mut self.ends[from.index()][at];
        end.outgoing.push_back(message);
        Ok(end.incarnation)
    }

    /// What was last put on its way from `from` to `to`, if it has not arrived.
    pub fn last_sent(&self, from: NodeId, to: NodeId) -> Option<&M> {
        self.end(from, to)?.outgoing.back()
    }

    /// Takes the message that arrives next from `from` at `to`, if that link is still in this incarnation.
    pub fn arrive(&mut self, from: NodeId, to: NodeId, incarnation: Incarnation) -> Option<M> {
        let at = self.position(from, to)?;
        let end = &mut self.ends[from.index()][at];
        (end.incarnation == incarnation).then(|| end.outgoing.pop_front()).flatten()
    }

    /// Whether all nodes can reach one another, over the links except `without`.
    pub fn connected_without(&self, without: Option<(NodeId, NodeId)>) -> bool {
        self.reached(without).iter().all(|is_reached| *is_reached)
    }

    /// The first node that can not be reached from node 0, if there is one.
    pub fn unreachable(&self) -> Option<NodeId> {
        let reached = self.reached(None);
        (0..).map(NodeId).zip(reached).find(|(_, is_reached)| !is_reached).map(|(node, _)| node)
    }

    /// Whether node 0 reaches each node, over the links except `without`.
    fn reached(&self, without: Option<(NodeId, NodeId)>) -> Vec<bool> {
        let mut reached = vec![false; self.ends.len()];
        let Some(first) = reached.first_mut() else { return reached };
        *first = true;
        let mut frontier = vec![NodeId(0)];
        while let Some(node) = frontier.pop() {
            for end in &self.ends[node.index()] {
                let removed = without.is_some_and(|(a, b)| (a, b) == (node, end.peer) || (b, a) == (node, end.peer));
                if !removed && !reached[end.peer.index()] {
                    reached[end.peer.index()] = true;
                    frontier.push(end.peer);
                }
            }
        }
        reached
    }

    fn position(&self, from: NodeId, to: NodeId) -> Option<usize> {
        self.ends[from.index()].binary_search_by_key(&to, |end| end.peer).ok()
    }

    fn end(&self, from: NodeId, to: NodeId) -> Option<&End<M>> {
        self.position(from, to).map(|at| &self.ends[from.index()][at])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: NodeId = NodeId(0);
    const B: NodeId = NodeId(1);
    const C: NodeId = NodeId(2);

    #[test]
    fn messages_arrive_in_the_order_of_sending() {
        let mut links = Links::new(2);
        let incarnation = links.form(A, B);
        links.send(A, B, 'x').unwrap();
        links.send(A, B, 'y').unwrap();
        assert!(!links.is_idle(B, A));
        assert_eq!(links.arrive(A, B, incarnation), Some('x'));
        assert_eq!(links.arrive(A, B, incarnation), Some('y'));
        assert_eq!(links.arrive(A, B, incarnation), None);
        assert!(links.is_idle(A, B));
    }

    #[test]
    fn nothing_is_sent_without_a_link() {
        let mut links = Links::new(2);
        assert_eq!(links.send(A, B, 'x'), Err(NoLink { from: A, to: B }));
        assert_eq!(links.fail(A, B), Err(NoLink { from: A, to: B }));
    }

    #[test]
    fn a_failed_link_hands_out_what_was_in_flight_in_both_directions() {
        let mut links = Links::new(2);
        let first = links.form(A, B);
        links.send(B, A, 'z').unwrap();
        links.send(A, B, 'x').unwrap();
        let failed = links.fail(B, A).unwrap();
        assert_eq!(failed.undelivered, [(B, A, 'z'), (A, B, 'x')]);
        assert_eq!(links.count(), 0);
        links.form(A, B);
        links.send(A, B, 'n').unwrap();
        assert_eq!(links.arrive(A, B, first), None, "a message of the new link is not delivered for the old one");
    }

    #[test]
    fn what_outlives_its_link_is_in_flight_still_and_arrives_in_order() {
        let mut links = Links::new(3);
        let first = links.form(A, B);
        links.send(A, B, 'x').unwrap();
        links.send(A, B, 'y').unwrap();
        links.fail(A, B).unwrap();
        links.go_on(A, B, first, 'x');
        links.go_on(A, B, first, 'y');
        assert_eq!(links.flights().count(), 2);
        assert_eq!(links.arrive(A, B, first), None, "not over the link");
        assert_eq!((links.arrive_late(B, A), links.arrive_late(A, B)), (None, Some((first, 'x'))));
        assert_eq!(links.late(A, B).collect::<String>(), "y");
        assert_eq!((links.arrive_late(A, B), links.arrive_late(A, B)), (Some((first, 'y')), None));
    }

    #[test]
    fn who_is_killed_has_no_links_and_the_other_ends_notice_later() {
        let is_permit = |message: &char| message.is_uppercase();
        let mut links = Links::new(3);
        let first = links.form(A, B);
        links.form(A, C);
        for message in "xYz".chars() {
            links.send(A, B, message).unwrap();
            links.send(B, A, message).unwrap();
        }
        assert_eq!(links.kill(A, is_permit), ['x', 'z'], "what was sent to its earlier life");
        assert_eq!((links.count(), links.of(A).count()), (0, 0));
        assert_eq!(links.loose_ends().collect::<Vec<_>>(), [(B, A), (C, A)]);
        assert_eq!((links.loose(B, A), links.loose(A, B)), (Some(first), None));
        assert_eq!(links.arrive_late(A, B), Some((first, 'x')), "sent before it was killed");
        assert_eq!(links.late(B, A).collect::<String>(), "Y");
        assert_eq!(links.miss(B, A, is_permit), Some((first, vec!['z'])));
        assert_eq!(links.miss(B, A, is_permit), None, "once");
        assert_eq!(links.late(A, B).collect::<String>(), "Y");
    }

    #[test]
    fn two_that_are_killed_need_not_miss_each_other() {
        let mut links = Links::new(2);
        links.form(A, B);
        links.send(A, B, 'x').unwrap();
        links.kill(A, |_| false);
        assert_eq!(links.kill(B, |_| false), ['x'], "sent to its earlier life");
        assert_eq!(links.loose_ends().count(), 0);
        links.form(A, B);
    }

    #[test]
    fn a_bridge_is_seen_to_disconnect() {
        let mut links = Links::<()>::new(3);
        links.form(A, B);
        links.form(C, B);
        assert!(links.connected_without(None) && links.unreachable().is_none());
        assert!(!links.connected_without(Some((A, B))));
        links.form(A, C);
        assert!(links.connected_without(Some((B, A))));
        assert_eq!(links.iter().collect::<Vec<_>>(), [(A, B), (A, C), (B, C)]);
    }
}

//! What is on its way from node to node, whatever the layer.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use crate::{Flight, Incarnation, NodeId};

/// What is on its way from one node to another, the next to arrive first. All of it belongs to one incarnation.
#[derive(Clone, Debug)]
struct Channel<M> {
    to: NodeId,
    incarnation: Incarnation,
    /// Whether more may follow. What is there has outlived its link, or the life of its sender, if not.
    is_open: bool,
    messages: VecDeque<M>,
}

/// All messages in flight: first in, first out, unless whoever drives them lets one overtake others.
///
/// A world decides when the head of a channel arrives, what is lost and what is late; a twin says what a change means
/// for a channel.
#[derive(Clone, Debug)]
pub struct Channels<M> {
    /// For each node its channels, by receiver.
    by_sender: Vec<Vec<Channel<M>>>,
}

impl<M> Channels<M> {
    /// Nothing is on its way among so many nodes.
    pub fn new(nodes: u32) -> Self {
        Self { by_sender: (0..nodes).map(|_| Vec::new()).collect() }
    }

    /// Puts a message on its way, behind what is in flight from `from` to `to` already. It is one of this incarnation.
    pub fn send(&mut self, from: NodeId, to: NodeId, incarnation: Incarnation, message: M) {
        self.last_and_send(from, to, incarnation, |_| message);
    }

    /// Likewise, where the message depends on what was sent last, if that has not arrived.
    pub fn last_and_send(
        &mut self,
        from: NodeId,
        to: NodeId,
        incarnation: Incarnation,
        message: impl FnOnce(Option<&M>) -> M,
    ) {
        let channel = self.channel_of(from, to, incarnation);
        debug_assert!(channel.is_open, "what is late arrives before more is sent");
        let message = message(channel.messages.back());
        channel.messages.push_back(message);
    }

    /// Puts a message behind those that have outlived their link of this incarnation, or their sender.
    pub fn go_on(&mut self, from: NodeId, to: NodeId, incarnation: Incarnation, message: M) {
        let channel = self.channel_of(from, to, incarnation);
        channel.is_open = false;
        channel.messages.push_back(message);
    }

    /// The channel from one node to another. Of another incarnation it has nothing any more, and begins anew.
    fn channel_of(&mut self, from: NodeId, to: NodeId, incarnation: Incarnation) -> &mut Channel<M> {
        let channels = &mut self.by_sender[from.index()];
        let at = channels.binary_search_by_key(&to, |channel| channel.to).unwrap_or_else(|at| {
            channels.insert(at, Channel { to, incarnation, is_open: true, messages: VecDeque::new() });
            at
        });
        let channel = &mut channels[at];
        if channel.incarnation != incarnation {
            debug_assert!(channel.messages.is_empty(), "all of a channel is of one incarnation");
            (channel.incarnation, channel.is_open) = (incarnation, true);
        }
        channel
    }

    /// What is on its way from `from` to `to`, the next to arrive first.
    pub fn on_the_way(&self, from: NodeId, to: NodeId) -> impl DoubleEndedIterator<Item = &M> {
        self.get(from, to).into_iter().flat_map(|channel| &channel.messages)
    }

    /// Whether nothing is in flight between `a` and `b`.
    pub fn is_idle(&self, a: NodeId, b: NodeId) -> bool {
        [(a, b), (b, a)].into_iter().all(|(from, to)| self.get(from, to).is_none_or(|all| all.messages.is_empty()))
    }

    /// Takes the message that arrives next from `from` at `to`, if their way is still open in this incarnation.
    pub fn arrive(&mut self, from: NodeId, to: NodeId, incarnation: Incarnation) -> Option<M> {
        let channel = self.get_mut(from, to)?;
        let is_current = channel.is_open && channel.incarnation == incarnation;
        if is_current { channel.messages.pop_front() } else { None }
    }

    /// What outlived its link or its sender, of `from` to `to`, the next to arrive first.
    pub fn late(&self, from: NodeId, to: NodeId) -> impl DoubleEndedIterator<Item = &M> {
        self.get(from, to).filter(|channel| !channel.is_open).into_iter().flat_map(|channel| &channel.messages)
    }

    /// Takes the first of these, with the incarnation that it belongs to.
    pub fn arrive_late(&mut self, from: NodeId, to: NodeId) -> Option<(Incarnation, M)> {
        let channel = self.get_mut(from, to).filter(|channel| !channel.is_open)?;
        Some((channel.incarnation, channel.messages.pop_front()?))
    }

    /// Of what is on its way from `from` to `to`, the message at this place overtakes so many of those before it.
    pub fn overtake(&mut self, from: NodeId, to: NodeId, place: usize, past: usize) {
        if let Some(Channel { messages, .. }) = self.get_mut(from, to)
            && let Some(message) = messages.remove(place)
        {
            messages.insert(place.saturating_sub(past), message);
        }
    }

    /// Nothing can follow from `from` to `to`. What is on its way is late from now on, if it `outlives` this; the rest
    /// is returned.
    pub fn close(&mut self, from: NodeId, to: NodeId, mut outlives: impl FnMut(&M) -> bool) -> Vec<M> {
        let channels = &mut self.by_sender[from.index()];
        let Ok(at) = channels.binary_search_by_key(&to, |channel| channel.to) else { return Vec::new() };
        let channel = &mut channels[at];
        channel.is_open = false;
        let all = core::mem::take(&mut channel.messages).into_iter();
        let (kept, dropped): (Vec<_>, Vec<_>) = all.partition(|message| outlives(message));
        channel.messages = kept.into();
        if channel.messages.is_empty() {
            channels.remove(at);
        }
        dropped
    }

    /// All that is on its way to a node is lost, and returned.
    pub fn silence(&mut self, node: NodeId) -> Vec<M> {
        let to_node = self.by_sender.iter_mut().filter_map(|channels| {
            let at = channels.binary_search_by_key(&node, |channel| channel.to).ok()?;
            Some(channels.remove(at).messages)
        });
        to_node.flatten().collect()
    }

    /// Everything in flight, by sender and receiver.
    pub fn flights(&self) -> impl Iterator<Item = Flight<'_, M>> {
        (0..).map(NodeId).zip(&self.by_sender).flat_map(|(from, channels)| {
            channels.iter().flat_map(move |channel| {
                let to = channel.to;
                channel.messages.iter().map(move |message| Flight { from, to, message })
            })
        })
    }

    fn get(&self, from: NodeId, to: NodeId) -> Option<&Channel<M>> {
        let channels = &self.by_sender[from.index()];
        channels.binary_search_by_key(&to, |channel| channel.to).ok().map(|at| &channels[at])
    }

    fn get_mut(&mut self, from: NodeId, to: NodeId) -> Option<&mut Channel<M>> {
        let channels = &mut self.by_sender[from.index()];
        channels.binary_search_by_key(&to, |channel| channel.to).ok().map(|at| &mut channels[at])
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::String;
    use alloc::vec;

    use super::*;

    const A: NodeId = NodeId(0);
    const B: NodeId = NodeId(1);
    const FIRST: Incarnation = Incarnation(0);
    const SECOND: Incarnation = Incarnation(1);

    fn on_its_way(messages: &str) -> Channels<char> {
        let mut channels = Channels::new(3);
        messages.chars().for_each(|message| channels.send(A, B, FIRST, message));
        channels
    }

    #[test]
    fn messages_arrive_in_the_order_of_sending() {
        let mut channels = on_its_way("xy");
        assert!(!channels.is_idle(B, A));
        assert_eq!(channels.arrive(B, A, FIRST), None);
        assert_eq!(channels.arrive(A, B, SECOND), None, "not for another link, or another life");
        assert_eq!([0; 3].map(|_| channels.arrive(A, B, FIRST)), [Some('x'), Some('y'), None]);
        assert!(channels.is_idle(A, B));
    }

    #[test]
    fn a_message_may_depend_on_the_one_before_it_that_has_not_arrived() {
        let mut channels = on_its_way("");
        channels.last_and_send(A, B, FIRST, |last| if last.is_none() { 'x' } else { '?' });
        channels.last_and_send(A, B, FIRST, |last| if last == Some(&'x') { 'y' } else { '?' });
        assert_eq!(channels.on_the_way(A, B).collect::<String>(), "xy");
    }

    #[test]
    fn what_outlives_its_link_is_in_flight_still_and_arrives_in_order() {
        let mut channels = on_its_way("xYzW");
        assert_eq!(channels.late(A, B).count(), 0);
        assert_eq!(channels.close(A, B, |message| message.is_uppercase()), ['x', 'z']);
        channels.go_on(A, B, FIRST, 'V');
        assert_eq!(channels.arrive(A, B, FIRST), None, "not over the link");
        assert_eq!(channels.late(A, B).collect::<String>(), "YWV");
        assert_eq!((channels.flights().count(), channels.arrive_late(B, A)), (3, None));
        for message in "YWV".chars() {
            assert_eq!(channels.arrive_late(A, B), Some((FIRST, message)));
        }
        channels.send(A, B, SECOND, 'n');
        assert_eq!(channels.arrive(A, B, FIRST), None, "a message of the new link is not delivered for the old one");
        assert_eq!(channels.arrive_late(A, B), None);
        assert_eq!(channels.arrive(A, B, SECOND), Some('n'));
    }

    #[test]
    fn who_is_silenced_gets_nothing_that_is_on_its_way_and_what_it_has_sent_arrives() {
        let mut channels = on_its_way("xy");
        channels.send(NodeId(2), B, FIRST, 'z');
        channels.send(B, A, FIRST, 'n');
        assert_eq!(channels.silence(B), ['x', 'y', 'z']);
        assert_eq!(channels.arrive(A, B, FIRST), None);
        assert_eq!(channels.arrive(B, A, FIRST), Some('n'));
        assert_eq!(channels.close(A, B, |_| true), vec![]);
    }

    #[test]
    fn a_message_may_overtake_others_on_the_same_way() {
        let mut channels = on_its_way("xyz");
        channels.overtake(A, B, 2, 1);
        assert_eq!(channels.on_the_way(A, B).collect::<String>(), "xzy");
        channels.overtake(A, B, 1, 1);
        assert_eq!(channels.arrive(A, B, FIRST), Some('z'));
        channels.overtake(B, A, 1, 1);
        channels.overtake(A, B, 7, 1);
        assert_eq!(channels.on_the_way(A, B).collect::<String>(), "xy", "there is nothing to overtake");
    }
}

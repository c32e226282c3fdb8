//! What is to come, by time, and at the same time in the order in which it was put in.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::rc::Rc;

use driftlock_field::radio;
use driftlock_net::Time;
use driftlock_protocol::NodeId;

use super::Packet;

/// What can be due.
#[derive(Clone, Debug)]
pub(super) enum Event {
    /// The radio medium has something to do.
    Radio(radio::Event),
    /// A router may have something to do.
    Wake(NodeId),
    /// A packet that was put off goes to the radio.
    Transmit { from: NodeId, to: Option<NodeId>, packet: Rc<Packet> },
    /// The application sends a request.
    Ask(NodeId),
}

/// An event and its place in the order.
#[derive(Clone, Debug)]
struct Scheduled {
    at: Time,
    sequence: u64,
    event: Event,
}

/// All that is to come. Radios want something within microseconds, routers and applications within seconds. So there are two heaps:
/// the one that most events go through stays small, and in the caches.
#[derive(Clone, Debug, Default)]
pub(super) struct Queue {
    soon: BinaryHeap<Scheduled>,
    later: BinaryHeap<Scheduled>,
    sequence: u64,
}

impl Queue {
    pub(super) fn schedule(&mut self, at: Time, event: Event) {
        let heap = match event {
            Event::Radio(_) | Event::Transmit { .. } => &mut self.soon,
            Event::Wake(_) | Event::Ask(_) => &mut self.later,
        };
        heap.push(Scheduled { at, sequence: self.sequence, event });
        self.sequence += 1;
    }

    /// Takes the next event, unless it comes after the end.
    pub(super) fn pop(&mut self, end: Time) -> Option<(Time, Event)> {
        // Of two, the greater is the earlier; nothing is the least.
        let heap = if self.soon.peek() > self.later.peek() { &mut self.soon } else { &mut self.later };
        heap.peek().filter(|next| next.at <= end)?;
        heap.pop().map(|Scheduled { at, event, .. }| (at, event))
    }
}

impl PartialEq for Scheduled {
    fn eq(&self, other: &Self) -> bool {
        self.sequence == other.sequence
    }
}

impl Eq for Scheduled {}

impl PartialOrd for Scheduled {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Scheduled {
    /// Reversed: the heap's greatest is the earliest.
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at, other.sequence).cmp(&(self.at, self.sequence))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_by_time_and_then_in_the_order_of_scheduling_whatever_they_are() {
        let mut queue = Queue::default();
        let transmit =
            |from| Event::Transmit { from: NodeId(from), to: None, packet: Rc::new(Packet::Acknowledgement) };
        queue.schedule(Time(5), Event::Ask(NodeId(1)));
        queue.schedule(Time(5), transmit(2));
        queue.schedule(Time(5), Event::Wake(NodeId(3)));
        queue.schedule(Time(4), transmit(4));
        queue.schedule(Time(3), Event::Wake(NodeId(5)));
        queue.schedule(Time(7), Event::Ask(NodeId(6)));
        let order: Vec<_> = std::iter::from_fn(|| queue.pop(Time(6)))
            .map(|(at, event)| match event {
                Event::Ask(node) | Event::Wake(node) | Event::Transmit { from: node, .. } => (at.0, node.0),
                Event::Radio(_) => unreachable!("there is none"),
            })
            .collect();
        assert_eq!(order, [(3, 5), (4, 4), (5, 1), (5, 2), (5, 3)]);
    }
}

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
    /// Something goes wrong, or gets right again.
    Fault,
}

/// What is soon due.
#[derive(Clone, Debug)]
enum Soon {
    Radio(radio::Event),
    Transmit { from: NodeId, to: Option<NodeId>, packet: Rc<Packet> },
}

/// What is due later.
#[derive(Clone, Copy, Debug)]
enum Later {
    Wake(NodeId),
    Ask(NodeId),
    Fault,
}

/// An event and its place in the order.
#[derive(Clone, Debug)]
struct Scheduled<E> {
    at: Time,
    sequence: u64,
    event: E,
}

/// All that is to come. Radios want something within microseconds, routers and applications within seconds. So there
/// are two heaps: the one that most events go through stays small, and in the caches, and the other has small entries.
#[derive(Clone, Debug, Default)]
pub(super) struct Queue {
    soon: BinaryHeap<Scheduled<Soon>>,
    later: BinaryHeap<Scheduled<Later>>,
    sequence: u64,
}

impl Queue {
    pub(super) fn schedule(&mut self, at: Time, event: Event) {
        let sequence = self.sequence;
        self.sequence += 1;
        match event {
            Event::Radio(event) => self.soon.push(Scheduled { at, sequence, event: Soon::Radio(event) }),
            Event::Transmit { from, to, packet } => {
                self.soon.push(Scheduled { at, sequence, event: Soon::Transmit { from, to, packet } });
            }
            Event::Wake(node) => self.later.push(Scheduled { at, sequence, event: Later::Wake(node) }),
            Event::Ask(node) => self.later.push(Scheduled { at, sequence, event: Later::Ask(node) }),
            Event::Fault => self.later.push(Scheduled { at, sequence, event: Later::Fault }),
        }
    }

    /// Drops the packets of this node that were put off.
    pub(super) fn forget_packets_of(&mut self, node: NodeId) {
        self.soon.retain(|next| !matches!(next.event, Soon::Transmit { from, .. } if from == node));
    }

    /// Takes the next event, unless it comes after the end.
    pub(super) fn pop(&mut self, end: Time) -> Option<(Time, Event)> {
        let [soon, later] = [self.soon.peek().map(Scheduled::place), self.later.peek().map(Scheduled::place)];
        let ((at, _), is_soon) = match (soon, later) {
            (Some(soon), Some(later)) => (soon.min(later), soon < later),
            (Some(soon), None) => (soon, true),
            (None, later) => (later?, false),
        };
        if at > end {
            None
        } else if is_soon {
            self.soon.pop().map(|next| (at, next.event.into()))
        } else {
            self.later.pop().map(|next| (at, next.event.into()))
        }
    }
}

impl From<Soon> for Event {
    fn from(event: Soon) -> Self {
        match event {
            Soon::Radio(event) => Self::Radio(event),
            Soon::Transmit { from, to, packet } => Self::Transmit { from, to, packet },
        }
    }
}

impl From<Later> for Event {
    fn from(event: Later) -> Self {
        match event {
            Later::Wake(node) => Self::Wake(node),
            Later::Ask(node) => Self::Ask(node),
            Later::Fault => Self::Fault,
        }
    }
}

impl<E> Scheduled<E> {
    fn place(&self) -> (Time, u64) {
        (self.at, self.sequence)
    }
}

impl<E> PartialEq for Scheduled<E> {
    fn eq(&self, other: &Self) -> bool {
        self.sequence == other.sequence
    }
}

impl<E> Eq for Scheduled<E> {}

impl<E> PartialOrd for Scheduled<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> Ord for Scheduled<E> {
    /// Reversed: the heap's greatest is the earliest.
    fn cmp(&self, other: &Self) -> Ordering {
        other.place().cmp(&self.place())
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
                Event::Radio(_) | Event::Fault => unreachable!("there is none"),
            })
            .collect();
        assert_eq!(order, [(3, 5), (4, 4), (5, 1), (5, 2), (5, 3)]);
    }

    #[test]
    fn packets_of_a_node_that_were_put_off_are_dropped_and_no_others() {
        let mut queue = Queue::default();
        for from in [1, 2, 1] {
            let packet = Rc::new(Packet::Acknowledgement);
            queue.schedule(Time(5), Event::Transmit { from: NodeId(from), to: None, packet });
        }
        queue.schedule(Time(6), Event::Ask(NodeId(1)));
        queue.forget_packets_of(NodeId(1));
        assert!(matches!(queue.pop(Time::END), Some((_, Event::Transmit { from: NodeId(2), .. }))));
        assert!(matches!(queue.pop(Time::END), Some((_, Event::Ask(NodeId(1))))));
        assert!(queue.pop(Time::END).is_none());
    }
}

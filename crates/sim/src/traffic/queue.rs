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

/// All that is to come.
#[derive(Clone, Debug, Default)]
pub(super) struct Queue {
    heap: BinaryHeap<Scheduled>,
    sequence: u64,
}

impl Queue {
    pub(super) fn schedule(&mut self, at: Time, event: Event) {
        self.heap.push(Scheduled { at, sequence: self.sequence, event });
        self.sequence += 1;
    }

    /// Takes the next event, unless it comes after the end.
    pub(super) fn pop(&mut self, end: Time) -> Option<(Time, Event)> {
        self.heap.peek().filter(|next| next.at <= end)?;
        self.heap.pop().map(|Scheduled { at, event, .. }| (at, event))
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

//! Events, ordered by time.

use driftlock_net::Time;
use driftlock_net::queue::Schedule;
use driftlock_protocol::{Incarnation, NodeId};

/// What can be due.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// The next message from one node to another arrives, if the link is still in this incarnation.
    Arrival {
        /// The sender.
        from: NodeId,
        /// The receiver.
        to: NodeId,
        /// Of the link it travels on.
        incarnation: Incarnation,
    },
    /// A timer runs out, unless it was disarmed or armed anew.
    Timer {
        /// Whose.
        node: NodeId,
        /// Which arming of it.
        arming: u32,
    },
    /// The application at this node asks.
    Request {
        /// Which node.
        node: NodeId,
    },
    /// The application at this node leaves the CS.
    Release {
        /// Which node.
        node: NodeId,
        /// Which of its entries ends, counted from 1: one that was cut short has ended already.
        entry: u32,
    },
    /// The application at this node loses patience.
    Cancel {
        /// Which node.
        node: NodeId,
    },
    /// The topology changes.
    Change,
    /// Some node is killed.
    Kill,
    /// A node that was killed is back.
    Back {
        /// Which node.
        node: NodeId,
    },
    /// A change of the layer below that follows from an earlier one.
    Follow {
        /// Which, by number.
        number: u32,
    },
    /// An application that has outlived its node shows its grant.
    Resume {
        /// Which node.
        node: NodeId,
        /// Which of its entries it was.
        entry: u32,
    },
    /// The lease of an application that has outlived its node ends.
    Lease {
        /// Which node.
        node: NodeId,
        /// Which of its entries it was.
        entry: u32,
    },
    /// A member hears late, or wrongly, that another one has come.
    HintMet {
        /// Which member.
        node: NodeId,
        /// Of whom.
        peer: NodeId,
        /// In this life.
        life: Incarnation,
    },
    /// Likewise that another one has departed.
    HintParted {
        /// Which member.
        node: NodeId,
        /// Of whom.
        peer: NodeId,
    },
    /// A node hears that no application of an earlier life is alive.
    Gone {
        /// Which node.
        node: NodeId,
    },
    /// Something happens on the field.
    Field,
}

/// The queue moves events about all the time: what makes them larger makes every run slower.
const _: () = assert!(size_of::<Event>() <= 16);

/// All events to come, the earliest first; of those at the same time, timers first, and the ends of leases that no node
/// else watches, then in the order of scheduling.
#[derive(Clone, Debug, Default)]
pub struct Queue(Schedule<Event>);

impl Queue {
    /// Adds an event.
    #[inline]
    pub fn schedule(&mut self, at: Time, event: Event) {
        if matches!(event, Event::Timer { .. } | Event::Lease { .. }) {
            self.0.schedule_urgent(at, event);
        } else {
            self.0.schedule(at, event);
        }
    }

    /// Takes the earliest event.
    pub fn pop(&mut self) -> Option<(Time, Event)> {
        self.0.pop()
    }

    /// When the earliest event is due.
    pub fn next_time(&self) -> Option<Time> {
        self.0.next_time()
    }

    /// Whether nothing is to come.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_by_time_then_timers_then_in_the_order_of_scheduling() {
        let request = |node| Event::Request { node: NodeId(node) };
        let timer = Event::Timer { node: NodeId(9), arming: 0 };
        let mut queue = Queue::default();
        queue.schedule(Time(5), request(1));
        queue.schedule(Time(5), request(2));
        queue.schedule(Time(5), timer);
        queue.schedule(Time(4), request(3));
        let order: Vec<_> = std::iter::from_fn(|| queue.pop()).map(|(_, event)| event).collect();
        assert_eq!(order, [request(3), timer, request(1), request(2)]);
    }
}

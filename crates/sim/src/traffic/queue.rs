//! What is to come, by time, and at the same time in the order in which it was put in.

use std::rc::Rc;

use driftlock_field::radio;
use driftlock_field::slab::Slab;
use driftlock_net::Time;
use driftlock_net::queue::Schedule;
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

/// The same, as small as can be.
#[derive(Clone, Copy, Debug)]
enum Due {
    Radio(radio::Event),
    Wake(NodeId),
    /// The packet of this number that was put off.
    Transmit(u32),
    Ask(NodeId),
    Fault,
}

/// A packet that was put off.
#[derive(Clone, Debug)]
struct PutOff {
    from: NodeId,
    to: Option<NodeId>,
    packet: Rc<Packet>,
}

/// All that is to come. Radios want something within microseconds, routers and applications within seconds: so time is
/// cut into slots of 17 milliseconds.
#[derive(Clone, Debug, Default)]
pub(super) struct Queue {
    schedule: Schedule<Due, 24>,
    /// By number; nothing where a packet was dropped, until it would have been due.
    put_off: Slab<Option<PutOff>>,
}

impl Queue {
    pub(super) fn schedule(&mut self, at: Time, event: Event) {
        let due = match event {
            Event::Radio(event) => Due::Radio(event),
            Event::Wake(node) => Due::Wake(node),
            Event::Transmit { from, to, packet } => {
                Due::Transmit(self.put_off.insert(Some(PutOff { from, to, packet })))
            }
            Event::Ask(node) => Due::Ask(node),
            Event::Fault => Due::Fault,
        };
        self.schedule.schedule(at, due);
    }

    /// Drops the packets of this node that were put off.
    pub(super) fn forget_packets_of(&mut self, node: NodeId) {
        self.put_off.iter_mut().for_each(|packet| *packet = packet.take().filter(|packet| packet.from != node));
    }

    /// Takes the next event, unless it comes after the end.
    pub(super) fn pop(&mut self, end: Time) -> Option<(Time, Event)> {
        loop {
            let (at, due) = self.schedule.pop_by(end)?;
            let event = match due {
                Due::Radio(event) => Event::Radio(event),
                Due::Wake(node) => Event::Wake(node),
                Due::Transmit(number) => {
                    let Some(PutOff { from, to, packet }) = self.put_off.remove(number).flatten() else { continue };
                    Event::Transmit { from, to, packet }
                }
                Due::Ask(node) => Event::Ask(node),
                Due::Fault => Event::Fault,
            };
            return Some((at, event));
        }
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

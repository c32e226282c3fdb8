//! Data on its way: RFC 3561, sections 6.2, 6.11 and 6.13.

use driftlock_protocol::NodeId;

use super::packet::Packet;
use super::{Data, Effect, Router, Unreachable};
use crate::Time;

impl<A: Clone, D> Router<A, D> {
    /// Sends data to any node, now if there is a route, or when one has been found.
    pub fn send(&mut self, now: Time, to: NodeId, data: D, out: &mut Vec<Effect<A, D>>) {
        if to == self.me {
            return out.push(Effect::Deliver { from: self.me, data });
        }
        match self.way(now, to, out) {
            None => self.await_route(now, to, data, out),
            Some((next_hop, _)) => {
                let ttl = self.settings.net_diameter;
                let packet = Data { ttl, originator: self.me, destination: to, content: data };
                self.forward(now, next_hop, packet, out);
            }
        }
    }

    pub(super) fn on_data(&mut self, now: Time, from: NodeId, packet: Data<D>, out: &mut Vec<Effect<A, D>>) {
        self.used_by(now, from, packet.originator, out);
        if packet.destination == self.me {
            return out.push(Effect::Deliver { from: packet.originator, data: packet.content });
        }
        if self.silent_until.is_some_and(|until| now < until) {
            return self.stay_silent(now, packet.destination, out);
        }
        match self.way(now, packet.destination, out) {
            None => self.no_way(now, from, packet.destination, out),
            Some((next_hop, _)) if packet.ttl > 1 => {
                self.forward(now, next_hop, Data { ttl: packet.ttl - 1, ..packet }, out);
            }
            Some(_) => {}
        }
    }

    fn forward(&mut self, now: Time, next_hop: NodeId, packet: Data<D>, out: &mut Vec<Effect<A, D>>) {
        let expires = now + self.settings.active_route_timeout;
        self.table.refresh(packet.destination, expires);
        self.settle(now, next_hop, out);
        self.table.refresh(next_hop, expires);
        Self::unicast(next_hop, Packet::Data(packet), out);
    }

    /// The way back is in use too: to the neighbour, and to the originator if it leads through that neighbour. The RFC does not
    /// ask for the latter; but a route that is not used must not live on while its next hop forgets it.
    fn used_by(&mut self, now: Time, from: NodeId, originator: NodeId, out: &mut Vec<Effect<A, D>>) {
        let expires = now + self.settings.active_route_timeout;
        for destination in [from, originator] {
            if self.way(now, destination, out).is_some_and(|(next_hop, _)| next_hop == from) {
                self.table.refresh(destination, expires);
            }
        }
    }

    /// Section 6.13: somebody routes through a node that has forgotten all routes. It tells everybody, and waits once more
    /// until nobody does.
    fn stay_silent(&mut self, now: Time, destination: NodeId, out: &mut Vec<Effect<A, D>>) {
        self.silent_until = Some(now + self.settings.delete_period());
        if self.errors.take(now).is_ok() {
            self.broadcast(now, Packet::Error(Box::new([Unreachable { destination, seq: None }])), out);
        }
    }
}

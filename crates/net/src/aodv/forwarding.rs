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
                let packet = Data { life: 0, ttl, originator: self.me, destination: to, content: data };
                self.forward(now, next_hop, packet, out);
            }
        }
    }

    pub(super) fn on_data(&mut self, now: Time, from: NodeId, packet: Data<D>, out: &mut Vec<Effect<A, D>>) {
        self.in_touch(now, from, out);
        if packet.destination == self.me {
            return out.push(Effect::Deliver { from: packet.originator, data: packet.content });
        }
        if self.silent_until.is_some_and(|until| now < until) {
            return self.stay_silent(now, packet.destination, out);
        }
        if packet.life != self.life && self.table.rules.bound_to_lives {
            // What has told of the way is forgotten: whatever there is now may lead back.
            return self.no_way(now, from, packet.destination, out);
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
        self.table.refresh(packet.destination, now + self.settings.active_route_timeout);
        self.in_touch(now, next_hop, out);
        let packet = Data { life: self.neighbours.life_of(next_hop), ..packet };
        Self::unicast(next_hop, Packet::Data(packet), out);
    }

    /// The route to a neighbour is in use too, if it is the direct one. The RFC asks for the same for the route back to
    /// the originator of data; but that is not used, and its next hop may have had the data from elsewhere and forget
    /// it.
    fn in_touch(&mut self, now: Time, neighbour: NodeId, out: &mut Vec<Effect<A, D>>) {
        if self.way(now, neighbour, out).is_some_and(|(next_hop, _)| next_hop == neighbour) {
            self.table.refresh(neighbour, now + self.settings.active_route_timeout);
        }
    }

    /// Section 6.13: a neighbour routes through a node that has forgotten all routes. It tells all neighbours, and
    /// waits once more until none does.
    fn stay_silent(&mut self, now: Time, destination: NodeId, out: &mut Vec<Effect<A, D>>) {
        self.silent_until = Some(now + self.settings.delete_period());
        if self.errors.take(now).is_ok() {
            self.broadcast(now, Packet::Error(Box::new([Unreachable { destination, seq: None }])), out);
        }
    }
}

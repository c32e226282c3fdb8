//! Replies: RFC 3561, sections 6.6 to 6.8.

use driftlock_protocol::NodeId;

use super::packet::{Packet, Reply, Seq};
use super::{Effect, Offer, Router};
use crate::{Span, Time};

impl<A: Clone, D> Router<A, D> {
    pub(super) fn on_reply(&mut self, now: Time, from: NodeId, reply: Reply<A>, out: &mut Vec<Effect<A, D>>) {
        if reply.acknowledge {
            Self::unicast(from, Packet::Acknowledgement, out);
        }
        let Some(hops) = reply.hops.checked_add(1) else { return };
        if reply.destination == self.me {
            return;
        }
        let forward = Offer {
            destination: reply.destination,
            next_hop: from,
            hops,
            seq: Some(reply.seq),
            expires: now + reply.lifetime,
            must_be_fresh: self.table.rules.replies_must_be_fresh,
        };
        self.offer(now, forward, out);
        self.learn(now, reply.advert, out);
        if reply.originator == self.me {
            return;
        }
        if self.way(now, reply.originator, out).is_none() {
            return self.no_way(now, from, reply.originator, out);
        }
        // The RFC passes on only what has changed its own table, so a reply that tells nothing new here never reaches
        // those who wait for it. What this node knows by now is as fresh, so it tells that.
        if let Some(reply) = self.reply_about(now, reply.destination, reply.originator) {
            self.send_reply(now, reply, out);
        }
    }

    /// What this node can tell `originator` about a way it knows, if its number is known and it is valid for long
    /// enough.
    pub(super) fn reply_about(&self, now: Time, destination: NodeId, originator: NodeId) -> Option<Reply<A>> {
        let entry = self.table.get(destination).filter(|entry| entry.is_valid(now))?;
        let lifetime = (entry.expires - now).saturating_sub(self.settings.there_and_back());
        if lifetime == Span::ZERO {
            return None;
        }
        Some(Reply {
            life: self.life,
            hops: entry.hops,
            acknowledge: false,
            destination,
            seq: entry.seq_to_tell()?,
            originator,
            lifetime,
            advert: entry.advert().cloned(),
        })
    }

    /// Sends a reply one hop further towards who had asked.
    pub(super) fn send_reply(&mut self, now: Time, reply: Reply<A>, out: &mut Vec<Effect<A, D>>) {
        let Some((to, _)) = self.way(now, reply.originator, out) else { return };
        self.table.refresh(reply.originator, now + self.settings.active_route_timeout);
        if let Some(towards) = self.table.get(reply.destination).map(|entry| entry.next_hop) {
            self.table.add_precursor(reply.destination, to);
            self.table.add_precursor(towards, to);
            self.table.add_precursor(reply.originator, towards);
        }
        let acknowledge = self.settings.acknowledge_replies;
        if acknowledge {
            self.neighbours.await_acknowledgement(to, now + self.settings.next_hop_wait());
        }
        Self::unicast(to, Packet::Reply(Reply { acknowledge, ..reply }), out);
    }

    /// Others know a newer number of this node than itself: since a link to it broke, or since it rebooted.
    pub(super) fn catch_up(&mut self, known: Option<Seq>) {
        self.number(self.table.rules.newest(Some(self.seq), known).unwrap_or(self.seq));
    }
}

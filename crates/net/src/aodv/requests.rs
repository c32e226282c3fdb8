//! Requests of others: RFC 3561, section 6.5, and when they are answered, section 6.6.

use driftlock_protocol::NodeId;

use super::packet::{Packet, Reply, Request};
use super::table::Entry;
use super::{Effect, Offer, Router};
use crate::Time;
use crate::by_node::ByNode;
use crate::flood::Window;

/// Which requests have been heard, by originator.
#[derive(Clone, Debug, Default)]
pub(super) struct Heard {
    /// With the time until which they are remembered.
    by_originator: ByNode<(Window, Time)>,
}

impl Heard {
    /// Makes room for the requests of so many originators.
    pub(super) fn reserve(&mut self, originators: usize) {
        self.by_originator.reserve(originators);
    }

    /// Notes a request; says whether it is new.
    fn note(&mut self, now: Time, originator: NodeId, id: u32, until: Time) -> bool {
        self.by_originator.make_room(|_, (_, until)| *until > now);
        let (window, remembered) = self.by_originator.get_or_insert_with(originator, Default::default);
        if *remembered <= now {
            // A node that has rebooted since counts from the start again.
            *window = Window::default();
        }
        *remembered = until;
        window.insert(u64::from(id))
    }

    /// Whether any request of this node is remembered.
    pub(super) fn knows(&self, originator: NodeId) -> bool {
        self.by_originator.get(originator).is_some_and(|(_, until)| *until > Time::ZERO)
    }
}

impl<A: Clone, D> Router<A, D> {
    pub(super) fn on_request(&mut self, now: Time, from: NodeId, request: Request<A>, out: &mut Vec<Effect<A, D>>) {
        let key = if self.table.rules.duplicates_by_originator { request.originator } else { NodeId(0) };
        let until = now + self.settings.path_discovery_time();
        if request.originator == self.me || !self.heard.note(now, key, request.id, until) {
            return;
        }
        let Some(hops) = request.hops.checked_add(1) else { return };
        let reverse = Offer {
            destination: request.originator,
            next_hop: from,
            hops,
            seq: Some(request.originator_seq),
            expires: now + self.settings.reverse_lifetime(hops),
            must_be_fresh: self.table.rules.requests_must_be_fresh,
        };
        self.offer(now, reverse, out);
        self.learn(now, request.advert.clone(), out);
        if self.way(now, request.originator, out).is_none() {
            // A fresher route back has ended: this is late, or the originator has rebooted. A reply would end here.
            return;
        }
        if request.destination == self.me {
            self.answer_for_self(now, &request, out);
        } else if !self.answer_for_other(now, &request, out) && request.ttl > 1 {
            self.pass_on(now, request, hops, out);
        }
    }

    /// Section 6.6.1: the destination answers, with a number that is fresh enough.
    fn answer_for_self(&mut self, now: Time, request: &Request<A>, out: &mut Vec<Effect<A, D>>) {
        self.catch_up(request.destination_seq);
        let reply = Reply {
            life: self.life,
            hops: 0,
            acknowledge: false,
            destination: self.me,
            seq: self.seq,
            originator: request.originator,
            lifetime: self.settings.my_route_timeout(),
            advert: self.own_advert(),
        };
        self.send_reply(now, reply, out);
    }

    /// Section 6.6.2: a router that knows a fresh way answers instead.
    fn answer_for_other(&mut self, now: Time, request: &Request<A>, out: &mut Vec<Effect<A, D>>) -> bool {
        self.update(now, request.destination, out);
        let rules = self.table.rules;
        let known = self.table.get(request.destination).filter(|entry| entry.valid).and_then(Entry::seq_to_tell);
        let fresh_enough =
            known.is_some_and(|seq| request.destination_seq.is_none_or(|asked| !rules.newer(asked, seq)));
        if !fresh_enough || request.destination_only {
            return false;
        }
        let Some(reply) = self.reply_about(now, request.destination, request.originator) else { return false };
        self.send_reply(now, reply, out);
        if request.gratuitous
            && let Some(reply) = self.reply_about(now, request.originator, request.destination)
        {
            self.send_reply(now, reply, out);
        }
        true
    }

    fn pass_on(&mut self, now: Time, request: Request<A>, hops: u8, out: &mut Vec<Effect<A, D>>) {
        let known = self.table.get(request.destination).and_then(|entry| entry.seq);
        let destination_seq = self.table.rules.newest(request.destination_seq, known);
        let request = Request { life: self.life, ttl: request.ttl - 1, hops, destination_seq, ..request };
        self.broadcast(now, Packet::Request(request), out);
    }
}

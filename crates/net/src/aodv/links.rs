//! Who is near, and what happens when a link is lost: RFC 3561, sections 6.8 to 6.11.

use std::collections::BTreeMap;

use driftlock_protocol::NodeId;

use super::packet::{Greeting, Packet, Unreachable};
use super::{Cause, Effect, Hello, Offer, Router, Settings};
use crate::{Span, Time};

/// What is known of neighbours beside the routes to them.
#[derive(Clone, Debug)]
pub(super) struct Neighbours {
    /// When those who say hello were last heard.
    heard: BTreeMap<NodeId, Time>,
    /// No neighbour has been silent for too long before this.
    silence_due: Time,
    hello_due: Time,
    last_spoken: Option<Time>,
    /// In which life those were heard last that are not in their first: routes through them are of that one.
    lives: BTreeMap<NodeId, u32>,
    /// Until when requests of these are ignored.
    blacklist: BTreeMap<NodeId, Time>,
    /// By when these have to acknowledge a reply.
    unacknowledged: BTreeMap<NodeId, Time>,
}

impl Neighbours {
    pub(super) fn new(me: NodeId, settings: &Settings) -> Self {
        // Nodes that start together do not say hello together.
        let spread = u64::from(me.0).wrapping_mul(0x9e37_79b9_7f4a_7c15) % settings.hello_interval.0.max(1);
        Self {
            heard: BTreeMap::new(),
            silence_due: Time::END,
            hello_due: if settings.hello == Hello::Off { Time::END } else { Time(spread) },
            last_spoken: None,
            lives: BTreeMap::new(),
            blacklist: BTreeMap::new(),
            unacknowledged: BTreeMap::new(),
        }
    }

    pub(super) fn wakes(&self) -> Time {
        let acknowledgement = self.unacknowledged.values().min().copied().unwrap_or(Time::END);
        self.silence_due.min(self.hello_due).min(acknowledgement)
    }

    /// The life in which a neighbour was heard last.
    pub(super) fn life_of(&self, neighbour: NodeId) -> u32 {
        self.lives.get(&neighbour).copied().unwrap_or_default()
    }

    pub(super) fn is_blacklisted(&self, now: Time, neighbour: NodeId) -> bool {
        self.blacklist.get(&neighbour).is_some_and(|&until| now < until)
    }

    pub(super) fn spoken(&mut self, now: Time) {
        self.last_spoken = Some(now);
    }

    pub(super) fn await_acknowledgement(&mut self, of: NodeId, until: Time) {
        self.unacknowledged.insert(of, until);
    }

    pub(super) fn acknowledged(&mut self, by: NodeId) {
        self.unacknowledged.remove(&by);
        self.blacklist.remove(&by);
    }
}

impl<A: Clone, D> Router<A, D> {
    /// Something of a neighbour has been heard, be it meant for this node or not.
    pub fn heard(&mut self, now: Time, from: NodeId) {
        if let Some(last) = self.neighbours.heard.get_mut(&from) {
            *last = now;
        }
    }

    /// A unicast packet has not reached the neighbour that it was for: the link is lost.
    pub fn unsent(&mut self, now: Time, to: NodeId, packet: Packet<A, D>, out: &mut Vec<Effect<A, D>>) {
        if matches!(packet, Packet::Reply(_)) {
            self.neighbours.unacknowledged.remove(&to);
            self.blacklist(now, to);
        }
        self.link_lost(now, to, out);
        if let Packet::Data(data) = packet
            && data.originator == self.me
        {
            out.push(Effect::Undelivered { to: data.destination, data: data.content });
        }
    }

    /// The link to a neighbour is lost, and with it all routes through it.
    pub fn link_lost(&mut self, now: Time, neighbour: NodeId, out: &mut Vec<Effect<A, D>>) {
        self.neighbours.heard.remove(&neighbour);
        // No route leads through any life of it. If a late packet makes one through a former life, it is turned away.
        self.neighbours.lives.remove(&neighbour);
        out.push(Effect::LinkLost { neighbour });
        self.end_routes_through(now, neighbour, |_| true, out);
    }

    /// A neighbour was heard in this life. If it has restarted since it was heard last, it has forgotten which routes
    /// lead through it; the way to itself is none of them. Tells whether this is the latest life that is known of it.
    pub fn lives(&mut self, now: Time, neighbour: NodeId, life: u32, out: &mut Vec<Effect<A, D>>) -> bool {
        let known = self.neighbours.life_of(neighbour);
        if life > known && self.table.rules.bound_to_lives {
            self.neighbours.lives.insert(neighbour, life);
            self.end_routes_through(now, neighbour, |destination| destination != neighbour, out);
        }
        life >= known
    }

    fn end_routes_through(
        &mut self,
        now: Time,
        neighbour: NodeId,
        ends: impl Fn(NodeId) -> bool,
        out: &mut Vec<Effect<A, D>>,
    ) {
        let mut unreachable = Vec::new();
        let mut affected = Vec::new();
        for destination in self.table.through(neighbour, now).into_iter().filter(|&destination| ends(destination)) {
            unreachable.extend(self.table.invalidate(now, destination, None, &mut affected));
            out.push(Effect::RouteDown { destination, cause: Cause::Broken });
        }
        self.report(now, unreachable, affected, out);
    }

    /// A control packet of a neighbour is a route to it.
    pub(super) fn meet(&mut self, now: Time, from: NodeId, out: &mut Vec<Effect<A, D>>) {
        let expires = now + self.settings.active_route_timeout;
        self.offer(
            now,
            Offer { destination: from, next_hop: from, hops: 1, seq: None, expires, must_be_fresh: true },
            out,
        );
    }

    pub(super) fn on_hello(&mut self, now: Time, from: NodeId, hello: Greeting<A>, out: &mut Vec<Effect<A, D>>) {
        let expires = now + hello.lifetime;
        let seq = Some(hello.seq);
        self.offer(now, Offer { destination: from, next_hop: from, hops: 1, seq, expires, must_be_fresh: true }, out);
        self.learn(now, hello.advert, out);
        if self.neighbours.heard.insert(from, now).is_none() {
            self.neighbours.silence_due = self.neighbours.silence_due.min(now + self.settings.hello_timeout());
        }
    }

    /// Section 6.11, case iii: a next hop has lost its routes.
    pub(super) fn on_error(&mut self, now: Time, from: NodeId, lost: &[Unreachable], out: &mut Vec<Effect<A, D>>) {
        let mut unreachable = Vec::new();
        let mut affected = Vec::new();
        for &Unreachable { destination, seq } in lost {
            if destination == self.me {
                self.catch_up(seq);
                continue;
            }
            let Some((next_hop, _)) = self.way(now, destination, out) else { continue };
            let concerned = next_hop == from || !self.table.rules.errors_from_next_hop;
            if concerned && next_hop != destination {
                unreachable.extend(self.table.invalidate(now, destination, seq, &mut affected));
                out.push(Effect::RouteDown { destination, cause: Cause::Reported });
            }
        }
        self.report(now, unreachable, affected, out);
    }

    /// Section 6.11, case ii: a neighbour uses a route that this node does not have.
    pub(super) fn no_way(&mut self, now: Time, from: NodeId, destination: NodeId, out: &mut Vec<Effect<A, D>>) {
        self.table.remember(now, destination);
        let seq = self.table.get(destination).and_then(|entry| entry.seq);
        self.report(now, vec![Unreachable { destination, seq }], vec![from], out);
    }

    /// Tells those who route through this node what they cannot reach, unless there has been too much of it.
    fn report(&mut self, now: Time, lost: Vec<Unreachable>, mut affected: Vec<NodeId>, out: &mut Vec<Effect<A, D>>) {
        affected.sort_unstable();
        affected.dedup();
        if lost.is_empty() || affected.is_empty() || self.errors.take(now).is_err() {
            return;
        }
        let packet = Packet::Error(lost.into_boxed_slice());
        match affected[..] {
            [only] => Self::unicast(only, packet, out),
            _ => self.broadcast(now, packet, out),
        }
    }

    /// Says hello when it is time, and notices who has not, or has not acknowledged a reply.
    pub(super) fn watch_neighbours(&mut self, now: Time, out: &mut Vec<Effect<A, D>>) {
        if self.neighbours.hello_due <= now {
            self.say_hello(now, out);
        }
        if self.neighbours.silence_due <= now {
            let timeout = self.settings.hello_timeout();
            let silent = |(&who, &heard): (&NodeId, &Time)| (heard + timeout <= now).then_some(who);
            let lost: Vec<_> = self.neighbours.heard.iter().filter_map(silent).collect();
            for neighbour in lost {
                self.link_lost(now, neighbour, out);
            }
            let next = self.neighbours.heard.values().map(|&heard| heard + timeout).min();
            self.neighbours.silence_due = next.unwrap_or(Time::END);
        }
        if self.neighbours.unacknowledged.values().any(|&until| until <= now) {
            let late = |(&who, &until): (&NodeId, &Time)| (until <= now).then_some(who);
            let late: Vec<_> = self.neighbours.unacknowledged.iter().filter_map(late).collect();
            for neighbour in late {
                self.neighbours.unacknowledged.remove(&neighbour);
                self.blacklist(now, neighbour);
            }
        }
    }

    fn say_hello(&mut self, now: Time, out: &mut Vec<Effect<A, D>>) {
        let interval = self.settings.hello_interval;
        let due = self.neighbours.last_spoken.map_or(now, |spoken| spoken + interval);
        if due > now {
            self.neighbours.hello_due = due;
            return;
        }
        self.neighbours.hello_due = now + interval.max(Span(1));
        let active = || self.table.iter(now).any(|(_, entry)| entry.is_valid(now));
        let speaks = self.settings.hello == Hello::Always || active();
        if speaks && self.silent_until.is_none() {
            let greeting =
                Greeting { seq: self.seq, lifetime: self.settings.hello_timeout(), advert: self.own_advert() };
            self.broadcast(now, Packet::Hello(greeting), out);
        }
    }

    fn blacklist(&mut self, now: Time, neighbour: NodeId) {
        self.neighbours.blacklist.retain(|_, &mut until| now < until);
        self.neighbours.blacklist.insert(neighbour, now + self.settings.blacklist_timeout());
    }
}

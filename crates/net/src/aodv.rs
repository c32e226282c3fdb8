//! Routes on demand: AODV (Perkins, Belding-Royer and Das, RFC 3561, 2003), with adverts in its control messages.
//!
//! A router that has data for a node to which it knows no way asks its neighbours, in rings that grow; a router that
//! knows a way, or is the one looked for, answers along the way that the request has come. Routes that are not used
//! expire; a route that breaks is reported to those who use it.
//!
//! What the layer above says about its node, its *advert*, rides on the requests, replies and hellos about that node
//! and is kept beside its route. Its version, not the route's number, decides which of two is the newer.
//!
//! Data may be lost on the way, doubled or overtaken: [`Effect::Undelivered`] is a hint, and silence promises nothing.
//! [`session`](crate::session) makes exactly-once of it.
//!
//! - [`packet`]: what routers say to one another.
//! - [`Settings`]: every constant.

mod discovery;
mod forwarding;
mod links;
pub mod packet;
mod replies;
mod requests;
mod rules;
mod settings;
mod table;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use driftlock_protocol::NodeId;
use serde::{Deserialize, Serialize};

use crate::dice::Dice;
use crate::{Span, Time};
use discovery::{Discovery, RateLimit};
use links::Neighbours;
pub use packet::{Advert, Packet, Seq};
use packet::{Data, Reply, Request, Unreachable};
use requests::Heard;
pub use settings::{Hello, Settings};
use table::{Offer, Table, Verdict};

/// So many numbers are used before what is stored has to be stored anew.
const BLOCK: u32 = 1_000;

/// What must survive a restart, so that a router can take part in routing at once.
///
/// It is to be written whenever a call has changed it, before the effects of that call are carried out, and once before
/// the first call. It changes once in so many requests.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Durable {
    /// The node has given itself no newer number.
    ceiling: Seq,
}

/// Why a route has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// No node has used it.
    Expired,
    /// The link to the next hop is lost.
    Broken,
    /// The next hop says that it has no route.
    Reported,
}

/// What a router wants done, in this order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Effect<A, D> {
    /// Put a packet on the air.
    Transmit {
        /// The neighbour, or all of them.
        to: Option<NodeId>,
        /// What to send.
        packet: Packet<A, D>,
        /// How long to put it off, so that neighbours do not all speak at once.
        delay: Span,
    },
    /// Data has arrived.
    Deliver {
        /// Its originator.
        from: NodeId,
        /// The data.
        data: D,
    },
    /// Data of this node has not been seen to arrive: no route was found in time, the queue is full, or the first hop
    /// failed.
    Undelivered {
        /// Its destination.
        to: NodeId,
        /// The data.
        data: D,
    },
    /// There is a route, or it has changed.
    RouteUp {
        /// Where it leads.
        destination: NodeId,
        /// The neighbour on it.
        next_hop: NodeId,
        /// How long it is.
        hops: u8,
    },
    /// There is no route any more.
    RouteDown {
        /// Where it led.
        destination: NodeId,
        /// Why.
        cause: Cause,
    },
    /// A neighbour has been silent for too long, or something could not be sent to it.
    LinkLost {
        /// Who.
        neighbour: NodeId,
    },
    /// A newer advert of another node has arrived.
    Advert(Advert<A>),
}

/// What a router knows of the way to a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Route<'a, A> {
    /// Where it leads.
    pub destination: NodeId,
    /// The neighbour on it.
    pub next_hop: NodeId,
    /// How long it is, or was.
    pub hops: u8,
    /// Whether it can be used.
    pub valid: bool,
    /// The destination's number, as far as it is known.
    pub seq: Option<Seq>,
    /// What is known of the destination's advert, whether or not the route can be used.
    pub advert: Option<&'a Advert<A>>,
}

/// The routing layer of one node.
#[derive(Clone, Debug)]
pub struct Router<A, D> {
    me: NodeId,
    /// The same for all routers of a world, which then find it in the caches.
    settings: Arc<Settings>,
    /// How often this node has started before. Others route through the life that has told them of a way.
    life: u32,
    /// Of this node.
    seq: Seq,
    /// No newer number is used before a newer ceiling is stored.
    ceiling: Seq,
    advert: Option<A>,
    version: u64,
    table: Table<A>,
    swept: Time,
    heard: Heard,
    discovery: Discovery<D>,
    errors: RateLimit,
    neighbours: Neighbours,
    /// After a reboot, until no node can route through this node any more.
    silent_until: Option<Time>,
    dice: Dice,
}

impl<A: Clone, D> Router<A, D> {
    /// The router of a node that starts for the first time.
    pub fn new(me: NodeId, settings: impl Into<Arc<Settings>>) -> Self {
        let settings = settings.into();
        Self {
            me,
            life: 0,
            seq: Seq(0),
            ceiling: Seq(BLOCK),
            advert: None,
            version: 0,
            table: Table::new(settings.delete_period()),
            swept: Time::ZERO,
            heard: Heard::default(),
            discovery: Discovery::new(&settings),
            errors: RateLimit::new(settings.rerr_ratelimit),
            neighbours: Neighbours::new(me, &settings),
            silent_until: None,
            dice: Dice::new(me.0.into()),
            settings,
        }
    }

    /// The same router, with room for what so many others cause. There is more when it is needed; but routers that get
    /// theirs one after the other have it side by side.
    #[must_use]
    pub fn with_room(mut self, others: usize) -> Self {
        self.table.reserve(others);
        self.heard.reserve(others);
        self
    }

    /// The router of a node that has started before, `boot` times, and has forgotten everything, also its own number.
    /// So it takes no part in routing for `DELETE_PERIOD` (section 6.13), until the others have forgotten that too.
    pub fn rebooted(me: NodeId, settings: impl Into<Arc<Settings>>, boot: u32, now: Time) -> Self {
        let settings = settings.into();
        let silent_until = Some(now + settings.delete_period());
        Self { silent_until, ..Self::begun_again(me, settings, boot, now) }
    }

    /// The router of a node that has started before, `boot` times, and remembers what [`Self::durable`] gave last. It
    /// takes part in routing at once.
    pub fn restored(me: NodeId, settings: impl Into<Arc<Settings>>, boot: u32, durable: Durable, now: Time) -> Self {
        let mut router = Self::begun_again(me, settings.into(), boot, now);
        router.seq = durable.ceiling;
        router.ceiling = Seq(durable.ceiling.0.wrapping_add(BLOCK));
        // There have never been more requests than numbers, and others remember which they have heard.
        router.discovery.count_on_from(durable.ceiling.0);
        router
    }

    fn begun_again(me: NodeId, settings: Arc<Settings>, life: u32, now: Time) -> Self {
        Self { life, version: u64::from(life) << 32, swept: now, ..Self::new(me, settings) }
    }

    /// What must survive a restart.
    pub fn durable(&self) -> Durable {
        Durable { ceiling: self.ceiling }
    }

    /// Gives this node a number.
    fn number(&mut self, seq: Seq) {
        self.seq = seq;
        if seq.newer(self.ceiling) {
            self.ceiling = Seq(seq.0.wrapping_add(BLOCK));
        }
    }

    /// Sets what this node says about itself. It is told with the next control message, not at once.
    pub fn advertise(&mut self, content: A) {
        self.version += 1;
        self.advert = Some(content);
    }

    /// All routes, valid or remembered, in the order of destinations.
    pub fn routes(&self, now: Time) -> impl Iterator<Item = Route<'_, A>> {
        let mut entries: Vec<_> = self.table.iter(now).collect();
        entries.sort_unstable_by_key(|(destination, _)| *destination);
        entries.into_iter().map(move |(destination, entry)| Route {
            destination,
            next_hop: entry.next_hop,
            hops: entry.hops,
            valid: entry.is_valid(now),
            seq: entry.seq,
            advert: entry.advert(),
        })
    }

    /// The valid route to a node.
    pub fn route(&self, now: Time, destination: NodeId) -> Option<Route<'_, A>> {
        let entry = self.table.get(destination).filter(|entry| entry.is_valid(now))?;
        let (next_hop, hops, seq, advert) = (entry.next_hop, entry.hops, entry.seq, entry.advert());
        Some(Route { destination, next_hop, hops, valid: true, seq, advert })
    }

    /// What a node is known to say about itself, whether or not there is a route to it.
    pub fn advert_of(&self, now: Time, node: NodeId) -> Option<&Advert<A>> {
        self.table.known(now, node).and_then(|entry| entry.advert())
    }

    /// A packet has arrived from a neighbour.
    pub fn received(&mut self, now: Time, from: NodeId, packet: Packet<A, D>, out: &mut Vec<Effect<A, D>>) {
        self.heard(now, from);
        let packet = match packet {
            Packet::Data(data) => return self.on_data(now, from, data, out),
            control => control,
        };
        if self.silent_until.is_some_and(|until| now < until) || from == self.me {
            return;
        }
        if matches!(packet, Packet::Request(_)) && self.neighbours.is_blacklisted(now, from) {
            return;
        }
        let life = match &packet {
            Packet::Request(Request { life, .. }) | Packet::Reply(Reply { life, .. }) => Some(*life),
            _ => None,
        };
        if life.is_some_and(|life| !self.lives(now, from, life, out)) {
            return;
        }
        self.meet(now, from, out);
        match packet {
            Packet::Request(request) => self.on_request(now, from, request, out),
            Packet::Reply(reply) => self.on_reply(now, from, reply, out),
            Packet::Hello(hello) => self.on_hello(now, from, hello, out),
            Packet::Error(unreachable) => self.on_error(now, from, &unreachable, out),
            Packet::Acknowledgement => self.neighbours.acknowledged(from),
            Packet::Data(_) => {}
        }
    }

    /// Reads what [`received`](Self::received) is going to need for this packet, and changes nothing. A world with
    /// thousands of routers calls it for all who hear a packet before the first of them handles it, so that memory is
    /// waited for once. The answer is how much is known, and of no use otherwise.
    pub fn look_ahead(&self, from: NodeId, packet: &Packet<A, D>) -> usize {
        let known = |node| usize::from(self.table.get(node).is_some_and(|entry| entry.valid));
        known(from)
            + match packet {
                Packet::Request(request) => usize::from(self.heard.knows(request.originator)),
                Packet::Data(data) => known(data.destination),
                _ => 0,
            }
    }

    /// When [`woken`](Self::woken) has something to do. An earlier call does no harm.
    pub fn wakes(&self) -> Option<Time> {
        let sweep = self.table.earliest().max(self.swept + self.settings.sweep_interval);
        let sweep = if self.table.earliest() == Time::END { Time::END } else { sweep };
        let next = sweep.min(self.discovery.wakes()).min(self.neighbours.wakes());
        let next = next.min(self.silent_until.unwrap_or(Time::END));
        (next != Time::END).then_some(next)
    }

    /// Does what is due.
    pub fn woken(&mut self, now: Time, out: &mut Vec<Effect<A, D>>) {
        self.silent_until = self.silent_until.filter(|&until| now < until);
        self.watch_neighbours(now, out);
        if self.table.earliest() <= now && self.swept + self.settings.sweep_interval <= now {
            self.sweep(now, out);
        }
        self.search_on(now, out);
    }

    fn sweep(&mut self, now: Time, out: &mut Vec<Effect<A, D>>) {
        self.swept = now;
        let mut down = Vec::new();
        self.table.sweep(now, &mut down);
        Self::tell_expired(down, out);
    }

    /// Sees to it that there is room for another entry.
    fn make_room(&mut self, now: Time, out: &mut Vec<Effect<A, D>>) {
        let mut down = Vec::new();
        self.table.make_room(now, &mut down);
        Self::tell_expired(down, out);
    }

    fn tell_expired(down: Vec<NodeId>, out: &mut Vec<Effect<A, D>>) {
        let expired = |destination| Effect::RouteDown { destination, cause: Cause::Expired };
        out.extend(down.into_iter().map(expired));
    }

    /// Brings the entry of a destination up to date before it is read or changed.
    fn update(&mut self, now: Time, destination: NodeId, out: &mut Vec<Effect<A, D>>) {
        if self.table.update(now, destination) {
            out.push(Effect::RouteDown { destination, cause: Cause::Expired });
        }
    }

    /// The neighbour on the valid route to a node, and its length.
    fn way(&mut self, now: Time, destination: NodeId, out: &mut Vec<Effect<A, D>>) -> Option<(NodeId, u8)> {
        self.update(now, destination, out);
        self.table.get(destination).filter(|entry| entry.valid).map(|entry| (entry.next_hop, entry.hops))
    }

    /// Takes a route if it is better than what is known.
    fn offer(&mut self, now: Time, offer: Offer, out: &mut Vec<Effect<A, D>>) {
        debug_assert_ne!(offer.destination, self.me, "a node has no route to itself");
        self.update(now, offer.destination, out);
        self.make_room(now, out);
        if self.table.offer(offer) == Verdict::Changed {
            let Offer { destination, next_hop, hops, .. } = offer;
            out.push(Effect::RouteUp { destination, next_hop, hops });
        }
        if self.discovery.looks_for(offer.destination) && self.way(now, offer.destination, out).is_some() {
            self.route_found(now, offer.destination, out);
        }
    }

    /// Keeps an advert if it is newer than the one that is known.
    fn learn(&mut self, now: Time, advert: Option<Advert<A>>, out: &mut Vec<Effect<A, D>>) {
        let Some(advert) = advert else { return };
        self.update(now, advert.owner, out);
        if let Some(entry) = self.table.get_mut(advert.owner)
            && entry.advert().is_none_or(|known| known.version < advert.version)
        {
            out.push(Effect::Advert(advert.clone()));
            entry.set_advert(advert);
        }
    }

    fn own_advert(&self) -> Option<Advert<A>> {
        let owned = |content: &A| Advert { owner: self.me, version: self.version, content: content.clone() };
        self.advert.as_ref().map(owned)
    }

    fn unicast(to: NodeId, packet: Packet<A, D>, out: &mut Vec<Effect<A, D>>) {
        out.push(Effect::Transmit { to: Some(to), packet, delay: Span::ZERO });
    }

    fn broadcast(&mut self, now: Time, packet: Packet<A, D>, out: &mut Vec<Effect<A, D>>) {
        self.neighbours.spoken(now);
        let delay = Span(self.dice.below(self.settings.jitter.0));
        out.push(Effect::Transmit { to: None, packet, delay });
    }
}

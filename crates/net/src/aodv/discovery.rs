//! Looking for a route: RFC 3561, sections 6.3 and 6.4. Rings that grow, then the whole network with waiting times that
//! double.

use std::collections::{BTreeMap, VecDeque};

use driftlock_protocol::NodeId;

use super::packet::{Packet, Request};
use super::settings::Settings;
use super::{Effect, Router};
use crate::{Span, Time};

const SECOND: Span = Span::from_millis(1_000);

/// A search that is under way.
#[derive(Clone, Debug)]
pub(super) struct Search {
    ttl: u8,
    /// Whether any request has been sent for it.
    begun: bool,
    /// How often the whole network has been asked.
    in_full: u32,
    /// How many of these were repetitions of an earlier request.
    retries: u32,
    /// When to ask again, or to give up; or, if it has not begun its ring yet, when it may.
    due: Time,
    /// It waits until another request may be sent.
    held_back: bool,
}

impl Search {
    fn new(settings: &Settings, hops_before: Option<u8>) -> Self {
        let ttl = hops_before.map_or(settings.ttl_start, |hops| hops.saturating_add(settings.ttl_increment));
        let ttl = ring(settings, ttl);
        Self { ttl, begun: false, in_full: 0, retries: 0, due: Time::ZERO, held_back: false }
    }

    /// The next ring, unless there has been the last.
    fn widen(&mut self, settings: &Settings) -> bool {
        if self.ttl < settings.net_diameter {
            self.ttl = ring(settings, self.ttl.saturating_add(settings.ttl_increment.max(1)));
            return self.ttl < settings.net_diameter || settings.rreq_retries > 0;
        }
        self.retries < settings.rreq_retries
    }

    /// Notes that the ring is asked now, and until when to wait for an answer.
    fn ask(&mut self, now: Time, settings: &Settings) {
        let wait = if self.ttl < settings.net_diameter {
            settings.ring_traversal_time(self.ttl)
        } else {
            let wait = settings.net_traversal_time() * (1 << self.in_full.min(20));
            self.in_full += 1;
            self.retries += u32::from(self.begun);
            wait
        };
        (self.begun, self.held_back, self.due) = (true, false, now + wait);
    }
}

fn ring(settings: &Settings, ttl: u8) -> u8 {
    if ttl > settings.ttl_threshold { settings.net_diameter } else { ttl.min(settings.net_diameter).max(1) }
}

/// At most so many in any second.
#[derive(Clone, Debug)]
pub(super) struct RateLimit {
    most: usize,
    sent: VecDeque<Time>,
}

impl RateLimit {
    pub(super) fn new(per_second: u32) -> Self {
        Self { most: per_second as usize, sent: VecDeque::new() }
    }

    /// Counts one more, or tells when there may be one.
    pub(super) fn take(&mut self, now: Time) -> Result<(), Time> {
        while self.sent.front().is_some_and(|&sent| sent + SECOND <= now) {
            self.sent.pop_front();
        }
        if self.sent.len() < self.most {
            self.sent.push_back(now);
            Ok(())
        } else {
            Err(self.sent.front().map_or(Time::END, |&oldest| oldest + SECOND))
        }
    }
}

/// Data of this node that waits for a route.
#[derive(Clone, Debug)]
struct Waiting<D> {
    to: NodeId,
    until: Time,
    data: D,
}

/// The searches, and what waits for them.
#[derive(Clone, Debug)]
pub(super) struct Discovery<D> {
    searches: BTreeMap<NodeId, Search>,
    /// In the order in which it was sent.
    waiting: VecDeque<Waiting<D>>,
    limit: RateLimit,
    last_id: u32,
}

impl<D> Discovery<D> {
    pub(super) fn new(settings: &Settings) -> Self {
        let limit = RateLimit::new(settings.rreq_ratelimit);
        Self { searches: BTreeMap::new(), waiting: VecDeque::new(), limit, last_id: 0 }
    }

    /// The next request gets the number after this one.
    pub(super) fn count_on_from(&mut self, last_id: u32) {
        self.last_id = last_id;
    }

    pub(super) fn wakes(&self) -> Time {
        let search = self.searches.values().map(|search| search.due).min().unwrap_or(Time::END);
        search.min(self.waiting.front().map_or(Time::END, |waiting| waiting.until))
    }

    pub(super) fn looks_for(&self, destination: NodeId) -> bool {
        self.searches.contains_key(&destination)
    }
}

impl<A: Clone, D> Router<A, D> {
    /// Keeps data until there is a route, and sees to it that one is looked for.
    pub(super) fn await_route(&mut self, now: Time, to: NodeId, data: D, out: &mut Vec<Effect<A, D>>) {
        self.discovery.waiting.push_back(Waiting { to, until: now + self.settings.queue_timeout, data });
        if self.discovery.waiting.len() > self.settings.queue_length {
            let dropped = self.discovery.waiting.pop_front();
            out.extend(dropped.map(|Waiting { to, data, .. }| Effect::Undelivered { to, data }));
        }
        if !self.discovery.looks_for(to) {
            let hops_before = self.table.get(to).map(|entry| entry.hops);
            self.discovery.searches.insert(to, Search::new(&self.settings, hops_before));
            self.ask(now, to, out);
        }
    }

    /// Sends what has waited for this route.
    pub(super) fn route_found(&mut self, now: Time, destination: NodeId, out: &mut Vec<Effect<A, D>>) {
        if self.discovery.searches.remove(&destination).is_some() {
            for data in self.take_waiting(destination) {
                self.send(now, destination, data, out);
            }
        }
    }

    /// Asks again where an answer is overdue, and gives up what has been looked for or has waited for too long.
    pub(super) fn search_on(&mut self, now: Time, out: &mut Vec<Effect<A, D>>) {
        let due = |(&to, search): (&NodeId, &Search)| (search.due <= now).then_some((to, search.held_back));
        let overdue: Vec<_> = self.discovery.searches.iter().filter_map(due).collect();
        for (to, held_back) in overdue {
            let Some(search) = self.discovery.searches.get_mut(&to) else { continue };
            if held_back || search.widen(&self.settings) {
                self.ask(now, to, out);
            } else {
                self.discovery.searches.remove(&to);
                let lost = self.take_waiting(to);
                out.extend(lost.into_iter().map(|data| Effect::Undelivered { to, data }));
            }
        }
        while self.discovery.waiting.front().is_some_and(|waiting| waiting.until <= now) {
            let dropped = self.discovery.waiting.pop_front();
            out.extend(dropped.map(|Waiting { to, data, .. }| Effect::Undelivered { to, data }));
        }
    }

    fn ask(&mut self, now: Time, to: NodeId, out: &mut Vec<Effect<A, D>>) {
        let may_ask = self.silent_until.map_or_else(|| self.discovery.limit.take(now), Err);
        let Some(search) = self.discovery.searches.get_mut(&to) else { return };
        if let Err(later) = may_ask {
            (search.held_back, search.due) = (true, later);
            return;
        }
        search.ask(now, &self.settings);
        let ttl = search.ttl;
        self.update(now, to, out);
        self.table.remember(now, to);
        self.discovery.last_id = self.discovery.last_id.wrapping_add(1);
        self.number(self.seq.next());
        let request = Request {
            life: self.life,
            id: self.discovery.last_id,
            ttl,
            hops: 0,
            gratuitous: self.settings.gratuitous,
            destination_only: self.settings.destination_only,
            destination: to,
            destination_seq: self.table.get(to).and_then(|entry| entry.seq),
            originator: self.me,
            originator_seq: self.seq,
            advert: self.own_advert(),
        };
        self.broadcast(now, Packet::Request(request), out);
    }

    fn take_waiting(&mut self, destination: NodeId) -> Vec<D> {
        let all = std::mem::take(&mut self.discovery.waiting);
        let (found, rest): (VecDeque<_>, _) = all.into_iter().partition(|waiting| waiting.to == destination);
        self.discovery.waiting = rest;
        found.into_iter().map(|waiting| waiting.data).collect()
    }
}

//! What is counted in one replication.

use std::collections::BTreeMap;
use std::ops::Bound;

use driftlock_net::{Span, Time};
use driftlock_protocol::{Deadline, Demand, NodeId, Permits};

/// Counts and integrals of one replication since the warm-up.
///
/// Messages are counted twice over: a *message* for every receiver, a *transmission* for every use of the radio, which
/// reaches several neighbours at once.
#[derive(Clone, Debug)]
pub struct Meter {
    k: u32,
    now: Time,
    /// When each node asked; meaningful while it waits.
    requested_at: Vec<Time>,
    /// Since when it has waited here, if it asked elsewhere; only where nodes come and go.
    here_since: Vec<Time>,
    /// Whether it waits for what was taken away from it.
    resumes: Vec<bool>,
    /// What it asked for.
    demands: Vec<Demand>,
    waiting: u32,
    /// How many wait with each priority; one with which no node waits any more is kept.
    waiting_with: BTreeMap<u32, u32>,
    /// Nodes in the CS.
    holders: u32,
    in_use: u32,
    in_flight: u32,
    /// For each permit: when it became free while a node waited, until it is granted again.
    freed_at: Vec<Option<Time>>,
    tally: Tally,
}

/// The numbers themselves.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Tally {
    /// When counting began.
    pub since: Time,
    /// How long it went on.
    pub span: Span,
    /// Messages, by kind.
    pub messages: Vec<u64>,
    /// Uses of the radio.
    pub transmissions: u64,
    /// Messages that handed a token over.
    pub token_hops: u64,
    /// From request to entry, in the order of the entries.
    pub waits: Vec<Span>,
    /// What each of these entries had asked for.
    pub classes: Vec<Class>,
    /// Entries after their deadlines.
    pub late: u64,
    /// Entries while a node waited with a higher priority.
    pub inversions: u64,
    /// Entries, by node.
    pub entries: Vec<u64>,
    /// Synchronisation delays: from a release while a node waits to the next entry with the same permit.
    pub synchronisations: Vec<Span>,
    /// Permits at rest while a node waited, integrated over time.
    pub idle_nanos: u128,
    /// Permits in use, integrated over time.
    pub use_nanos: u128,
    /// Nodes in the CS, integrated over time.
    pub holder_nanos: u128,
    /// For how long exactly so many permits were in use, from none to all of them.
    pub in_use: Vec<Span>,
    /// Where nodes come and go: how much of each wait was spent where it ended.
    pub waits_inside: Vec<Span>,
    /// How often a node left a neighbourhood.
    pub departures: u64,
    /// How often it waited there, in vain.
    pub left_waiting: u64,
    /// How often units were taken away from a node that left with them in use.
    pub handovers: u64,
    /// From there to the next entry of the same node, added up.
    pub interruption: Span,
    /// How many of these entries there were.
    pub resumptions: u64,
    /// Events that the world has processed.
    pub events: u64,
}

/// An application that waits, wherever it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Waiter {
    /// Since when.
    pub since: Time,
    /// Whether it waits for what was taken away from it.
    pub resumes: bool,
}

/// What tells entries apart in the results.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Class {
    /// How many units were asked for.
    pub units: u32,
    /// How urgently.
    pub priority: u32,
}

impl Class {
    fn of(demand: Demand) -> Self {
        Self { units: demand.units.count(), priority: demand.priority.0 }
    }
}

impl Tally {
    /// Adds what was counted elsewhere in the same time.
    pub fn add(&mut self, other: Self) {
        fn add_all<T: Copy + std::ops::Add<Output = T>>(all: &mut [T], more: &[T]) {
            for (sum, more) in all.iter_mut().zip(more) {
                *sum = *sum + *more;
            }
        }
        debug_assert_eq!((self.since, self.span), (other.since, other.span));
        add_all(&mut self.messages, &other.messages);
        add_all(&mut self.entries, &other.entries);
        add_all(&mut self.in_use, &other.in_use);
        self.waits.extend(other.waits);
        self.waits_inside.extend(other.waits_inside);
        self.classes.extend(other.classes);
        self.transmissions += other.transmissions;
        self.token_hops += other.token_hops;
        self.late += other.late;
        self.inversions += other.inversions;
        self.synchronisations.extend(other.synchronisations);
        self.idle_nanos += other.idle_nanos;
        self.use_nanos += other.use_nanos;
        self.holder_nanos += other.holder_nanos;
        self.departures += other.departures;
        self.left_waiting += other.left_waiting;
        self.handovers += other.handovers;
        self.interruption = self.interruption + other.interruption;
        self.resumptions += other.resumptions;
        self.events += other.events;
    }

    fn new(since: Time, nodes: usize, k: usize, kinds: usize, expected_entries: usize, comes_and_goes: bool) -> Self {
        Self {
            since,
            messages: vec![0; kinds],
            entries: vec![0; nodes],
            waits: Vec::with_capacity(expected_entries),
            waits_inside: Vec::with_capacity(if comes_and_goes { expected_entries } else { 0 }),
            classes: Vec::with_capacity(expected_entries),
            synchronisations: Vec::with_capacity(expected_entries),
            in_use: vec![Span::ZERO; k + 1],
            ..Self::default()
        }
    }
}

impl Meter {
    /// Starts to count.
    pub fn new(nodes: u32, k: u32, kinds: usize) -> Self {
        Self {
            k,
            now: Time::ZERO,
            requested_at: vec![Time::ZERO; nodes as usize],
            here_since: Vec::new(),
            resumes: vec![false; nodes as usize],
            demands: vec![Demand::ONE; nodes as usize],
            waiting: 0,
            waiting_with: BTreeMap::new(),
            holders: 0,
            in_use: 0,
            in_flight: 0,
            freed_at: vec![None; k as usize],
            tally: Tally::new(Time::ZERO, nodes as usize, k as usize, kinds, 0, false),
        }
    }

    /// Counts apart how much of each wait was spent here: nodes come and go.
    #[must_use]
    pub fn among_others(self) -> Self {
        Self { here_since: vec![Time::ZERO; self.requested_at.len()], ..self }
    }

    /// Forgets what was counted, but not what is going on. Room for the waits to come is made here, so that the event
    /// loop allocates nothing.
    pub fn restart(&mut self, expected_entries: usize) {
        let Tally { entries, messages, in_use, .. } = &self.tally;
        let comes_and_goes = !self.here_since.is_empty();
        let (nodes, k, kinds) = (entries.len(), in_use.len() - 1, messages.len());
        self.tally = Tally::new(self.now, nodes, k, kinds, expected_entries, comes_and_goes);
    }

    /// Time has come to `now`; another event is due.
    pub fn advance(&mut self, now: Time) {
        self.tally.events += 1;
        self.pass(now);
    }

    /// Time has come to `now`.
    pub fn pass(&mut self, now: Time) {
        let span = now - self.now;
        let elapsed = u128::from(span.0);
        self.now = now;
        self.tally.use_nanos += elapsed * u128::from(self.in_use);
        self.tally.holder_nanos += elapsed * u128::from(self.holders);
        let in_use = &mut self.tally.in_use[self.in_use as usize];
        *in_use = *in_use + span;
        if self.waiting > 0 {
            let resting = self.k.saturating_sub(self.in_use + self.in_flight);
            self.tally.idle_nanos += elapsed * u128::from(resting);
        }
    }

    /// A message is sent.
    pub fn sent(&mut self, kind: usize, shared: bool, is_token: bool, permits: Permits) {
        self.tally.messages[kind] += 1;
        self.tally.transmissions += u64::from(!shared);
        self.tally.token_hops += u64::from(is_token);
        self.in_flight += permits.count();
    }

    /// A message has arrived, or will never.
    pub fn landed(&mut self, permits: Permits) {
        self.in_flight -= permits.count();
    }

    /// An application has asked.
    pub fn requested(&mut self, node: NodeId, demand: Demand) {
        self.arrived(node, demand, Waiter { since: self.now, resumes: false });
    }

    /// An application is here that has asked elsewhere, or before it came.
    pub fn arrived(&mut self, node: NodeId, demand: Demand, waiter: Waiter) {
        let at = node.index();
        (self.requested_at[at], self.resumes[at]) = (waiter.since, waiter.resumes);
        self.demands[at] = demand;
        self.waiting += 1;
        *self.waiting_with.entry(demand.priority.0).or_default() += 1;
        if let Some(here_since) = self.here_since.get_mut(at) {
            *here_since = self.now;
        }
    }

    /// Since when an application waits that goes elsewhere; meaningful while it waits.
    pub fn departed(&mut self, node: NodeId) -> Waiter {
        self.no_longer_waits(node);
        self.waiter(node)
    }

    /// Since when an application waits; meaningful while it does.
    pub fn waiter(&self, node: NodeId) -> Waiter {
        Waiter { since: self.requested_at[node.index()], resumes: self.resumes[node.index()] }
    }

    /// A node is about to leave; its application may wait.
    pub fn leaves(&mut self, waits: bool) {
        self.tally.departures += 1;
        self.tally.left_waiting += u64::from(waits);
    }

    /// An application no longer waits, and was not served.
    pub fn cancelled(&mut self, node: NodeId) {
        self.no_longer_waits(node);
    }

    /// What an application uses, if it does still, is taken away from it, and it waits again.
    pub fn revoked(&mut self, node: NodeId, demand: Demand, permits: Permits) {
        if !permits.is_empty() {
            self.released(permits);
        }
        self.tally.handovers += 1;
        self.arrived(node, demand, Waiter { since: self.now, resumes: true });
    }

    /// Permits are gone for good: they are neither idle nor in use any more.
    pub fn lost(&mut self, permits: Permits) {
        self.k -= permits.count();
    }

    /// Once no node waits, what is free is no longer being handed over.
    fn no_longer_waits(&mut self, node: NodeId) {
        self.waiting -= 1;
        if let Some(count) = self.waiting_with.get_mut(&self.demands[node.index()].priority.0) {
            *count -= 1;
        }
        if self.waiting == 0 {
            self.freed_at.fill(None);
        }
    }

    /// An application has entered its CS.
    pub fn granted(&mut self, node: NodeId, permits: Permits) {
        self.in_use += permits.count();
        self.holders += 1;
        self.tally.late += u64::from(self.is_overdue(node));
        self.tally.inversions += u64::from(self.is_ahead_of_the_more_urgent(node));
        self.tally.classes.push(Class::of(self.demands[node.index()]));
        let wait = self.now - self.requested_at[node.index()];
        self.tally.waits.push(wait);
        if let Some(&here_since) = self.here_since.get(node.index()) {
            self.tally.waits_inside.push(self.now - here_since);
        }
        if std::mem::take(&mut self.resumes[node.index()]) {
            self.tally.interruption = self.tally.interruption + wait;
            self.tally.resumptions += 1;
        }
        self.tally.entries[node.index()] += 1;
        for permit in permits.iter() {
            if let Some(freed) = self.freed_at[permit.index()].take() {
                self.tally.synchronisations.push(self.now - freed.max(self.tally.since));
            }
        }
        self.no_longer_waits(node);
    }

    /// Whether another node waits with a higher priority than `node`.
    fn is_ahead_of_the_more_urgent(&self, node: NodeId) -> bool {
        let own = self.demands[node.index()].priority.0;
        let mut more_urgent = self.waiting_with.range((Bound::Excluded(own), Bound::Unbounded));
        more_urgent.any(|(_, &count)| count > 0)
    }

    /// An application has left its CS.
    pub fn released(&mut self, permits: Permits) {
        self.in_use -= permits.count();
        self.holders -= 1;
        if self.waiting > 0 {
            for permit in permits.iter() {
                self.freed_at[permit.index()] = Some(self.now);
            }
        }
    }

    /// Events counted so far.
    pub fn events(&self) -> u64 {
        self.tally.events
    }

    /// Entries counted so far.
    pub fn entries(&self) -> u64 {
        self.tally.waits.len() as u64
    }

    /// When `node` asked; meaningful while it waits.
    pub fn requested_at(&self, node: NodeId) -> Time {
        self.requested_at[node.index()]
    }

    /// Whether the deadline of `node` has passed; meaningful while it waits.
    pub fn is_overdue(&self, node: NodeId) -> bool {
        self.demands[node.index()].deadline < Deadline(self.now.0)
    }

    /// What was counted.
    pub fn finish(mut self) -> Tally {
        self.tally.span = self.now - self.tally.since;
        self.tally
    }
}

#[cfg(test)]
mod tests {
    use driftlock_protocol::{Permit, Priority, Units};

    use super::*;

    #[test]
    fn a_wait_an_idle_permit_and_a_hand_over_are_counted() {
        let (a, b) = (NodeId(0), NodeId(1));
        let permit = Permits::first(1);
        let mut meter = Meter::new(2, 1, 2);
        meter.advance(Time(10));
        meter.requested(a, Demand::ONE);
        meter.advance(Time(14)); // the permit rests while a waits
        meter.sent(1, false, true, permit);
        meter.advance(Time(16)); // it travels
        meter.landed(permit);
        meter.granted(a, permit);
        meter.requested(b, Demand::ONE);
        meter.advance(Time(20));
        meter.released(permit);
        meter.sent(0, true, false, Permits::NONE);
        meter.advance(Time(23));
        meter.granted(b, permit);
        let tally = meter.finish();
        assert_eq!(tally.waits, [Span(6), Span(7)]);
        assert_eq!((tally.idle_nanos, tally.use_nanos), (4 + 3, 4));
        assert_eq!(tally.synchronisations, [Span(3)]);
        assert_eq!((tally.messages, tally.transmissions, tally.token_hops), (vec![1, 1], 1, 1));
        assert_eq!((tally.entries, tally.span), (vec![1, 1], Span(23)));
    }

    #[test]
    fn a_permit_that_nobody_waits_for_is_not_being_handed_over() {
        let (a, b) = (NodeId(0), NodeId(1));
        let [first, second] = [0, 1].map(|number| Permits::single(Permit::try_from(number).unwrap()));
        let mut meter = Meter::new(2, 2, 1);
        meter.requested(a, Demand::ONE);
        meter.granted(a, first);
        meter.requested(b, Demand::ONE);
        meter.advance(Time(5));
        meter.released(first);
        meter.advance(Time(6));
        meter.granted(b, second); // served by another permit: the first is just free
        meter.advance(Time(1_000));
        meter.requested(a, Demand::ONE);
        meter.granted(a, first);
        assert_eq!(meter.finish().synchronisations, []);
    }

    #[test]
    fn holders_units_and_late_entries_are_counted() {
        let (a, b) = (NodeId(0), NodeId(1));
        let demand = |units, priority, deadline| Demand {
            units: Units::new(units).unwrap(),
            priority: Priority(priority),
            deadline: Deadline(deadline),
        };
        let mut meter = Meter::new(2, 3, 1);
        meter.requested(a, demand(2, 7, 4));
        meter.requested(b, demand(1, 0, 4));
        meter.advance(Time(4));
        meter.granted(a, Permits::first(2)); // just in time
        meter.advance(Time(5));
        assert!(meter.is_overdue(b));
        meter.granted(b, Permits::first(3).without(Permits::first(2)));
        meter.advance(Time(8));
        meter.released(Permits::first(2));
        meter.advance(Time(10));
        let tally = meter.finish();
        assert_eq!(tally.classes, [Class { units: 2, priority: 7 }, Class { units: 1, priority: 0 }]);
        assert_eq!((tally.late, tally.holder_nanos, tally.use_nanos), (1, 1 + 2 * 3 + 2, 2 + 3 * 3 + 2));
        assert_eq!(tally.in_use, [4, 2, 1, 3].map(Span));
    }

    #[test]
    fn whoever_enters_before_the_more_urgent_is_counted() {
        let demand = |priority| Demand { priority: Priority(priority), ..Demand::ONE };
        let [low, high, gone] = [0, 1, 2].map(NodeId);
        let mut meter = Meter::new(3, 3, 1);
        meter.requested(low, demand(1));
        meter.requested(high, demand(5));
        meter.requested(gone, demand(9));
        meter.cancelled(gone);
        meter.granted(high, Permits::first(1)); // the most urgent of those who wait
        meter.granted(low, Permits::first(1)); // and nobody else waits
        meter.requested(high, demand(5));
        meter.requested(gone, demand(5));
        meter.requested(low, demand(1));
        meter.granted(low, Permits::first(1)); // two wait who are more urgent
        meter.granted(gone, Permits::first(1)); // an equal waits
        assert_eq!(meter.finish().inversions, 1);
    }

    #[test]
    fn a_wait_that_began_elsewhere_is_counted_whole_and_in_part() {
        let node = NodeId(0);
        let mut meter = Meter::new(1, 1, 1).among_others();
        meter.advance(Time(10));
        meter.arrived(node, Demand::ONE, Waiter { since: Time(4), resumes: false });
        meter.advance(Time(13));
        meter.granted(node, Permits::first(1));
        meter.advance(Time(20));
        meter.revoked(node, Demand::ONE, Permits::first(1));
        meter.advance(Time(22));
        let waiter = meter.departed(node);
        assert_eq!(waiter, Waiter { since: Time(20), resumes: true });
        meter.advance(Time(25));
        meter.arrived(node, Demand::ONE, waiter);
        meter.advance(Time(26));
        meter.granted(node, Permits::first(1));
        let tally = meter.finish();
        assert_eq!((&tally.waits[..], &tally.waits_inside[..]), (&[Span(9), Span(6)][..], &[Span(3), Span(1)][..]));
        assert_eq!((tally.handovers, tally.resumptions, tally.interruption), (1, 1, Span(6)));
        assert_eq!(tally.use_nanos, 7);
    }

    #[test]
    fn tallies_of_the_same_time_add_up() {
        let count = |wait: u64| {
            let mut meter = Meter::new(1, 1, 1).among_others();
            meter.requested(NodeId(0), Demand::ONE);
            meter.sent(0, false, true, Permits::NONE);
            meter.advance(Time(wait));
            meter.granted(NodeId(0), Permits::first(1));
            meter.advance(Time(10));
            meter.finish()
        };
        let mut tally = count(4);
        tally.add(count(7));
        assert_eq!((&tally.waits[..], &tally.waits_inside[..]), (&[Span(4), Span(7)][..], &[Span(4), Span(7)][..]));
        assert_eq!((tally.messages, tally.entries, tally.transmissions), (vec![2], vec![2], 2));
        assert_eq!((tally.in_use, tally.use_nanos, tally.span), (vec![Span(11), Span(9)], 9, Span(10)));
    }

    #[test]
    fn a_restart_forgets_the_counts_and_keeps_the_state() {
        let mut meter = Meter::new(1, 1, 1);
        meter.advance(Time(1));
        meter.requested(NodeId(0), Demand::ONE);
        meter.restart(1);
        meter.advance(Time(5));
        meter.granted(NodeId(0), Permits::first(1));
        let tally = meter.finish();
        assert_eq!((tally.waits, tally.since, tally.span), (vec![Span(4)], Time(1), Span(4)));
    }
}

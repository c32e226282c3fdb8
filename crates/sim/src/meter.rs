//! What is counted in one replication.

use driftlock_protocol::{Deadline, Demand, NodeId, Permits};

use crate::queue::Time;

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
    /// What it asked for.
    demands: Vec<Demand>,
    waiting: u32,
    /// Nodes in the CS.
    holders: u32,
    in_use: u32,
    in_flight: u32,
    /// For each permit: when it became free while somebody waited, until it is granted again.
    freed_at: Vec<Option<Time>>,
    tally: Tally,
}

/// The numbers themselves.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Tally {
    /// When counting began.
    pub since: Time,
    /// How long it went on.
    pub span: Time,
    /// Messages, by kind.
    pub messages: Vec<u64>,
    /// Uses of the radio.
    pub transmissions: u64,
    /// Messages that handed a token over.
    pub token_hops: u64,
    /// From request to entry, in the order of the entries.
    pub waits: Vec<Time>,
    /// What each of these entries had asked for.
    pub classes: Vec<Class>,
    /// Entries after their deadlines.
    pub late: u64,
    /// Entries, by node.
    pub entries: Vec<u64>,
    /// Synchronisation delays, added up: from a release while somebody waits to the next entry with the same permit.
    pub synchronisation: Time,
    /// How many there were.
    pub synchronisations: u64,
    /// Permits at rest while somebody waited, integrated over time.
    pub idle_nanos: u128,
    /// Permits in use, integrated over time.
    pub use_nanos: u128,
    /// Nodes in the CS, integrated over time.
    pub holder_nanos: u128,
    /// For how long exactly so many permits were in use, from none to all of them.
    pub in_use: Vec<Time>,
    /// Events that the world has processed.
    pub events: u64,
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
    fn new(since: Time, nodes: usize, k: usize, kinds: usize, expected_entries: usize) -> Self {
        Self {
            since,
            messages: vec![0; kinds],
            entries: vec![0; nodes],
            waits: Vec::with_capacity(expected_entries),
            classes: Vec::with_capacity(expected_entries),
            in_use: vec![Time::ZERO; k + 1],
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
            demands: vec![Demand::ONE; nodes as usize],
            waiting: 0,
            holders: 0,
            in_use: 0,
            in_flight: 0,
            freed_at: vec![None; k as usize],
            tally: Tally::new(Time::ZERO, nodes as usize, k as usize, kinds, 0),
        }
    }

    /// Forgets what was counted, but not what is going on. Room for the waits to come is made here, so that the event
    /// loop allocates nothing.
    pub fn restart(&mut self, expected_entries: usize) {
        let Tally { entries, messages, in_use, .. } = &self.tally;
        self.tally = Tally::new(self.now, entries.len(), in_use.len() - 1, messages.len(), expected_entries);
    }

    /// Time has come to `now`; another event is due.
    pub fn advance(&mut self, now: Time) {
        let span = now - self.now;
        let elapsed = u128::from(span.0);
        self.now = now;
        self.tally.events += 1;
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
        self.requested_at[node.index()] = self.now;
        self.demands[node.index()] = demand;
        self.waiting += 1;
    }

    /// An application no longer waits, and was not served.
    pub fn cancelled(&mut self) {
        self.no_longer_waits();
    }

    /// Permits are gone for good: they are neither idle nor in use any more.
    pub fn lost(&mut self, permits: Permits) {
        self.k -= permits.count();
    }

    /// Once nobody waits, what is free is no longer being handed over.
    fn no_longer_waits(&mut self) {
        self.waiting -= 1;
        if self.waiting == 0 {
            self.freed_at.fill(None);
        }
    }

    /// An application has entered its CS.
    pub fn granted(&mut self, node: NodeId, permits: Permits) {
        self.in_use += permits.count();
        self.holders += 1;
        self.tally.late += u64::from(self.is_overdue(node));
        self.tally.classes.push(Class::of(self.demands[node.index()]));
        self.tally.waits.push(self.now - self.requested_at[node.index()]);
        self.tally.entries[node.index()] += 1;
        for permit in permits.iter() {
            if let Some(freed) = self.freed_at[permit.index()].take() {
                self.tally.synchronisation = self.tally.synchronisation + (self.now - freed.max(self.tally.since));
                self.tally.synchronisations += 1;
            }
        }
        self.no_longer_waits();
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
        assert_eq!(tally.waits, [Time(6), Time(7)]);
        assert_eq!((tally.idle_nanos, tally.use_nanos), (4 + 3, 4));
        assert_eq!((tally.synchronisation, tally.synchronisations), (Time(3), 1));
        assert_eq!((tally.messages, tally.transmissions, tally.token_hops), (vec![1, 1], 1, 1));
        assert_eq!((tally.entries, tally.span), (vec![1, 1], Time(23)));
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
        assert_eq!(meter.finish().synchronisations, 0);
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
        assert_eq!(tally.in_use, [4, 2, 1, 3].map(Time));
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
        assert_eq!((tally.waits, tally.since, tally.span), (vec![Time(4)], Time(1), Time(4)));
    }
}

//! What is going to happen, in the order of time.
//!
//! Most of what is expected lies far ahead, and a heap of all of it would not fit into the caches. So only what comes
//! soon is in a heap. The rest waits in slots of time, unsorted, until its slot has come.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use driftlock_net::Time;

/// How long a slot is, as a power of two: about half a second.
const SLOT_BITS: u32 = 29;

/// Something that happens at a time, by which things are ordered first.
pub(super) trait Timed: Ord + Copy {
    fn at(&self) -> Time;
}

/// Everything that is expected.
#[derive(Clone, Debug)]
pub(super) struct Agenda<T> {
    /// All that comes up to the end of the present slot: never empty if there is anything at all.
    soon: BinaryHeap<Reverse<T>>,
    present: u64,
    later: BTreeMap<u64, Vec<T>>,
}

impl<T: Timed> Agenda<T> {
    pub(super) fn new() -> Self {
        Self { soon: BinaryHeap::new(), present: 0, later: BTreeMap::new() }
    }

    pub(super) fn push(&mut self, event: T) {
        let slot = event.at().0 >> SLOT_BITS;
        if slot <= self.present {
            self.soon.push(Reverse(event));
        } else {
            self.later.entry(slot).or_default().push(event);
            self.refill();
        }
    }

    /// When the first thing happens.
    pub(super) fn first(&self) -> Option<Time> {
        self.soon.peek().map(|Reverse(event)| event.at())
    }

    /// The first thing.
    pub(super) fn pop(&mut self) -> Option<T> {
        let Reverse(event) = self.soon.pop()?;
        self.refill();
        Some(event)
    }

    fn refill(&mut self) {
        if self.soon.is_empty()
            && let Some((slot, events)) = self.later.pop_first()
        {
            self.present = slot;
            self.soon.extend(events.into_iter().map(Reverse));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Subject, stream};
    use rand::RngExt;

    impl Timed for Time {
        fn at(&self) -> Time {
            *self
        }
    }

    #[test]
    fn things_come_in_the_order_of_time_whenever_they_were_put_in() {
        let mut random = stream(3, Subject::Walk, 0);
        let (mut agenda, mut expected, mut now) = (Agenda::new(), Vec::new(), Time::ZERO);
        for _ in 0..20_000 {
            if random.random_bool(0.6) {
                let far: u32 = random.random_range(1..40);
                let event = now + Time(random.random_range(0..1 << far));
                agenda.push(event);
                expected.push(event);
            } else {
                expected.sort_unstable_by(|a, b| b.cmp(a));
                assert_eq!(agenda.first(), expected.last().copied());
                let popped = agenda.pop();
                assert_eq!(popped, expected.pop());
                now = popped.unwrap_or(now);
            }
        }
        assert!(expected.len() > 1_000);
    }
}

//! What is to come, in the order of time.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BinaryHeap};

use crate::Time;

/// Something that happens at a time, by which things are ordered first.
pub trait Due: Ord + Copy {
    /// When.
    fn at(&self) -> Time;
}

/// All of time is one slot.
pub const WHOLE: u32 = u64::BITS;

/// Everything that is to come, the first first.
///
/// Where most of it lies far ahead, a heap of all would not fit into the caches. So time is cut into slots of two to
/// the power of `SLOT` nanoseconds. Only what comes in the present slot, or before, is in a heap; the rest waits,
/// unsorted, until its slot has come. For a queue of hundreds one slot is best: [`WHOLE`].
#[derive(Clone, Debug)]
pub struct Queue<T, const SLOT: u32 = WHOLE> {
    /// What comes up to the end of the present slot: never nothing if there is anything at all.
    soon: BinaryHeap<Reverse<T>>,
    /// Whether the first of these was handed out already. Most things that happen put in another one, which takes its
    /// place: that is half the work of removing one and adding the other.
    spent: bool,
    present: u64,
    later: BTreeMap<u64, Vec<T>>,
    /// Slots that are over, to be used again.
    over: Vec<Vec<T>>,
}

impl<T, const SLOT: u32> Default for Queue<T, SLOT>
where
    T: Ord,
{
    fn default() -> Self {
        Self { soon: BinaryHeap::new(), spent: false, present: 0, later: BTreeMap::new(), over: Vec::new() }
    }
}

impl<T: Due, const SLOT: u32> Queue<T, SLOT> {
    /// Adds something.
    #[inline]
    pub fn push(&mut self, thing: T) {
        let slot = thing.at().0.checked_shr(SLOT).unwrap_or(0);
        if slot > self.present {
            self.put_off(slot, thing);
        } else if std::mem::take(&mut self.spent)
            && let Some(mut first) = self.soon.peek_mut()
        {
            *first = Reverse(thing);
        } else {
            self.soon.push(Reverse(thing));
        }
    }

    /// Takes the first thing.
    pub fn pop(&mut self) -> Option<T> {
        self.pop_by(Time::END)
    }

    /// Takes the first thing, if it comes by then.
    #[inline]
    pub fn pop_by(&mut self, end: Time) -> Option<T> {
        if std::mem::take(&mut self.spent) {
            self.soon.pop();
        }
        let Reverse(first) = *self.soon.peek().filter(|Reverse(first)| first.at() <= end)?;
        self.spent = true;
        self.refill();
        Some(first)
    }

    /// The first thing.
    pub fn first(&self) -> Option<&T> {
        let first = if self.spent {
            // It is one of the two below the root.
            self.soon.as_slice().get(1..)?.iter().take(2).max()
        } else {
            self.soon.peek()
        };
        first.map(|Reverse(first)| first)
    }

    /// When that happens.
    pub fn next_time(&self) -> Option<Time> {
        self.first().map(Due::at)
    }

    /// Whether nothing is to come.
    pub fn is_empty(&self) -> bool {
        self.soon.len() == usize::from(self.spent)
    }

    /// Adds something that comes after the present slot.
    fn put_off(&mut self, slot: u64, thing: T) {
        self.later.entry(slot).or_insert_with(|| self.over.pop().unwrap_or_default()).push(thing);
        self.refill();
    }

    /// Goes on to the next slot if nothing is left in this one.
    fn refill(&mut self) {
        if SLOT < WHOLE
            && self.is_empty()
            && let Some((slot, mut things)) = self.later.pop_first()
        {
            self.soon.clear();
            self.spent = false;
            self.present = slot;
            self.soon.extend(things.drain(..).map(Reverse));
            self.over.push(things);
        }
    }
}

/// An event and its place in the order.
#[derive(Clone, Copy, Debug)]
struct Scheduled<E> {
    at: Time,
    /// Unique.
    number: u64,
    event: E,
}

impl<E> Scheduled<E> {
    /// Its place as one number: comparing two of them takes no branch, which a processor would guess wrongly half the
    /// time.
    fn place(&self) -> u128 {
        u128::from(self.at.0) << 64 | u128::from(self.number)
    }
}

impl<E> PartialEq for Scheduled<E> {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl<E> Eq for Scheduled<E> {}

/// A heap asks which of two is less, and nothing else.
impl<E> PartialOrd for Scheduled<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }

    fn lt(&self, other: &Self) -> bool {
        self.place() < other.place()
    }

    fn le(&self, other: &Self) -> bool {
        self.place() <= other.place()
    }

    fn gt(&self, other: &Self) -> bool {
        self.place() > other.place()
    }

    fn ge(&self, other: &Self) -> bool {
        self.place() >= other.place()
    }
}

impl<E> Ord for Scheduled<E> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.place().cmp(&other.place())
    }
}

impl<E: Copy> Due for Scheduled<E> {
    fn at(&self) -> Time {
        self.at
    }
}

/// Events that come by time, and at the same time in the order in which they were scheduled.
#[derive(Clone, Debug)]
pub struct Schedule<E, const SLOT: u32 = WHOLE> {
    queue: Queue<Scheduled<E>, SLOT>,
    count: u64,
}

impl<E, const SLOT: u32> Default for Schedule<E, SLOT> {
    fn default() -> Self {
        Self { queue: Queue::default(), count: 0 }
    }
}

impl<E: Copy, const SLOT: u32> Schedule<E, SLOT> {
    /// Adds an event.
    pub fn schedule(&mut self, at: Time, event: E) {
        const AFTER_URGENT: u64 = 1 << 63;
        self.add(at, AFTER_URGENT, event);
    }

    /// Adds an event that comes before all at the same time that are not urgent.
    pub fn schedule_urgent(&mut self, at: Time, event: E) {
        self.add(at, 0, event);
    }

    #[inline]
    fn add(&mut self, at: Time, class: u64, event: E) {
        self.queue.push(Scheduled { at, number: class | self.count, event });
        self.count += 1;
    }

    /// Takes the next event.
    pub fn pop(&mut self) -> Option<(Time, E)> {
        self.pop_by(Time::END)
    }

    /// Takes the next event, if it is due by then.
    #[inline]
    pub fn pop_by(&mut self, end: Time) -> Option<(Time, E)> {
        self.queue.pop_by(end).map(|Scheduled { at, event, .. }| (at, event))
    }

    /// When that is due.
    pub fn next_time(&self) -> Option<Time> {
        self.queue.next_time()
    }

    /// Whether nothing is to come.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Span;
    use crate::dice::Dice;

    impl Due for Time {
        fn at(&self) -> Time {
            *self
        }
    }

    #[test]
    fn events_come_by_time_then_the_urgent_then_in_the_order_of_scheduling() {
        fn order<const SLOT: u32>() -> Vec<u32> {
            let mut schedule = Schedule::<u32, SLOT>::default();
            schedule.schedule(Time(5), 1);
            schedule.schedule(Time(5), 2);
            schedule.schedule_urgent(Time(5), 9);
            schedule.schedule(Time(4), 3);
            schedule.schedule(Time(700), 4);
            std::iter::from_fn(|| schedule.pop()).map(|(_, event)| event).collect()
        }
        assert_eq!(order::<WHOLE>(), [3, 9, 1, 2, 4]);
        assert_eq!(order::<0>(), [3, 9, 1, 2, 4]);
        assert_eq!(order::<4>(), [3, 9, 1, 2, 4]);
    }

    #[test]
    fn the_next_time_is_that_of_what_was_not_handed_out() {
        let mut schedule = Schedule::<u32>::default();
        assert_eq!((schedule.next_time(), schedule.is_empty()), (None, true));
        schedule.schedule(Time(5), 1);
        schedule.schedule(Time(7), 2);
        assert_eq!(schedule.next_time(), Some(Time(5)));
        assert_eq!(schedule.pop(), Some((Time(5), 1)));
        assert_eq!(schedule.next_time(), Some(Time(7)));
        schedule.schedule(Time(6), 3);
        assert_eq!((schedule.next_time(), schedule.is_empty()), (Some(Time(6)), false));
        assert_eq!((schedule.pop_by(Time(5)), schedule.next_time()), (None, Some(Time(6))));
        assert_eq!(schedule.pop_by(Time(6)), Some((Time(6), 3)));
        assert_eq!(schedule.pop(), Some((Time(7), 2)));
        assert_eq!((schedule.next_time(), schedule.is_empty(), schedule.pop()), (None, true, None));
    }

    /// Puts things in and takes them out at random, at most so many nanoseconds ahead, and looks that they come in
    /// order.
    fn come_in_order<const SLOT: u32>(bits: u64) {
        let mut dice = Dice::new(bits);
        let (mut queue, mut expected, mut now) = (Queue::<Time, SLOT>::default(), Vec::new(), Time::ZERO);
        for round in 0..20_000 {
            let far = dice.below(bits) + 1;
            let thing = now + Span(dice.below(1 << far));
            // It grows for a while, then it is emptied.
            if dice.below(10) < if round % 2_000 < 1_200 { 6 } else { 3 } {
                queue.push(thing);
                expected.push(thing);
                expected.sort_unstable_by(|a, b| b.cmp(a));
            } else {
                let popped = queue.pop();
                assert_eq!(popped, expected.pop());
                now = popped.unwrap_or(now);
            }
            assert_eq!((queue.first(), queue.is_empty()), (expected.last(), expected.is_empty()));
        }
    }

    #[test]
    fn things_come_in_the_order_of_time_whenever_they_were_put_in() {
        for bits in [3, 20, 40] {
            come_in_order::<WHOLE>(bits);
            come_in_order::<0>(bits);
            come_in_order::<16>(bits);
            come_in_order::<29>(bits);
        }
    }
}

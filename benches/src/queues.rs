//! The event queue, in each of the places that use it, beside what that place had before: five queues of their own.
//!
//! One event is one that is taken out, and another one put in instead of it. How far ahead that lies, and how much is
//! to come, is about as in the place.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BinaryHeap};
use std::hint::black_box;

use driftlock_net::Time;
use driftlock_net::queue::{Due, Queue, Schedule};

use crate::Delays;

/// What a place's queue holds: an event of its size.
type Event = [u32; 4];

/// A place, and how its queue is used.
pub struct Place {
    /// What it is called.
    pub name: &'static str,
    /// How many events are to come.
    pub pending: u64,
    /// What it had before, and what it has now. Each handles so many events (the second number) with so many to come,
    /// and returns how many it counted.
    pub contenders: [fn(u64, u64) -> u64; 2],
}

/// All places that have one.
pub const PLACES: [Place; 8] = [
    Place { name: "world, 30 nodes", pending: 30, contenders: [run::<Refilled, Alike>, run::<Scheduled, Alike>] },
    Place { name: "world, 1,000", pending: 1_000, contenders: [run::<Refilled, Alike>, run::<Scheduled, Alike>] },
    Place { name: "world, 100,000", pending: 100_000, contenders: [run::<Refilled, Alike>, run::<Scheduled, Alike>] },
    Place { name: "traffic, 50", pending: 200, contenders: [run::<Two, Radio>, run::<Slotted, Radio>] },
    Place { name: "traffic, 10,000", pending: 40_000, contenders: [run::<Two, Radio>, run::<Slotted, Radio>] },
    Place { name: "side by side", pending: 100, contenders: [run::<Plain, Alike>, run::<Scheduled, Alike>] },
    Place { name: "field of an algorithm", pending: 500, contenders: [run::<Plain, Radio>, run::<Scheduled, Radio>] },
    Place { name: "who meets whom", pending: 50_000, contenders: [run::<Agenda, Far>, run::<Prospects, Far>] },
];

/// How far ahead events lie, in nanoseconds.
trait Ahead {
    fn draw(delays: &mut Delays) -> u64;
}

/// Up to four seconds.
struct Alike;

impl Ahead for Alike {
    fn draw(delays: &mut Delays) -> u64 {
        delays.draw()
    }
}

/// Nearly always less than a millisecond, as radios have it; else some seconds.
struct Radio;

impl Ahead for Radio {
    fn draw(delays: &mut Delays) -> u64 {
        let drawn = delays.draw();
        if drawn.is_multiple_of(64) { drawn } else { drawn >> 12 }
    }
}

/// Up to a minute.
struct Far;

impl Ahead for Far {
    fn draw(delays: &mut Delays) -> u64 {
        delays.draw() << 4
    }
}

/// A queue, as the places use it.
trait Events: Default {
    fn put(&mut self, at: u64, event: Event);
    fn take(&mut self) -> Option<(u64, Event)>;
}

fn run<Q: Events, A: Ahead>(pending: u64, events: u64) -> u64 {
    let (mut delays, mut queue) = (Delays::new(1), Q::default());
    for _ in 0..pending {
        // What radios wait for is always little: in the beginning all lies as far ahead as it can.
        queue.put(delays.draw(), Event::default());
    }
    let mut counted = 0;
    while counted < events {
        let Some((at, event)) = queue.take() else { break };
        queue.put(at + A::draw(&mut delays), event);
        counted += 1;
    }
    black_box(queue);
    counted
}

#[derive(Default)]
struct Scheduled(Schedule<Event>);

impl Events for Scheduled {
    fn put(&mut self, at: u64, event: Event) {
        self.0.schedule(Time(at), event);
    }
    fn take(&mut self) -> Option<(u64, Event)> {
        self.0.pop().map(|(at, event)| (at.0, event))
    }
}

#[derive(Default)]
struct Slotted(Schedule<Event, 24>);

impl Events for Slotted {
    fn put(&mut self, at: u64, event: Event) {
        self.0.schedule(Time(at), event);
    }
    fn take(&mut self) -> Option<(u64, Event)> {
        self.0.pop().map(|(at, event)| (at.0, event))
    }
}

/// Ordered by the event after the time, as what is expected of two nodes is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Prospect {
    at: Time,
    event: Event,
}

impl Due for Prospect {
    fn at(&self) -> Time {
        self.at
    }
}

#[derive(Default)]
struct Prospects(Queue<Prospect, 29>);

impl Events for Prospects {
    fn put(&mut self, at: u64, event: Event) {
        self.0.push(Prospect { at: Time(at), event });
    }
    fn take(&mut self) -> Option<(u64, Event)> {
        self.0.pop().map(|Prospect { at, event }| (at.0, event))
    }
}

/// By time, then by number; the event never decides.
#[derive(Clone, Copy)]
struct Numbered<E> {
    at: u64,
    number: u64,
    event: E,
}

impl<E> Numbered<E> {
    fn place(&self) -> (u64, u64) {
        (self.at, self.number)
    }
}

impl<E> PartialEq for Numbered<E> {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl<E> Eq for Numbered<E> {}

impl<E> PartialOrd for Numbered<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> Ord for Numbered<E> {
    /// Reversed: the heap's greatest is the earliest.
    fn cmp(&self, other: &Self) -> Ordering {
        other.place().cmp(&self.place())
    }
}

/// A heap whose root is replaced, if it can be.
#[derive(Default)]
struct Refilled {
    heap: BinaryHeap<Numbered<Event>>,
    count: u64,
    spent: bool,
}

impl Events for Refilled {
    fn put(&mut self, at: u64, event: Event) {
        let numbered = Numbered { at, number: self.count, event };
        self.count += 1;
        if std::mem::take(&mut self.spent)
            && let Some(mut first) = self.heap.peek_mut()
        {
            *first = numbered;
        } else {
            self.heap.push(numbered);
        }
    }
    fn take(&mut self) -> Option<(u64, Event)> {
        if std::mem::take(&mut self.spent) {
            self.heap.pop();
        }
        let Numbered { at, event, .. } = *self.heap.peek()?;
        self.spent = true;
        Some((at, event))
    }
}

/// A heap.
#[derive(Default)]
struct Plain {
    heap: BinaryHeap<Reverse<(u64, u64, Event)>>,
    count: u64,
}

impl Events for Plain {
    fn put(&mut self, at: u64, event: Event) {
        self.heap.push(Reverse((at, self.count, event)));
        self.count += 1;
    }
    fn take(&mut self) -> Option<(u64, Event)> {
        self.heap.pop().map(|Reverse((at, _, event))| (at, event))
    }
}

/// A heap for what radios do, with larger events, and another one for the rest.
#[derive(Default)]
struct Two {
    soon: BinaryHeap<Numbered<(Event, u64)>>,
    later: BinaryHeap<Numbered<u64>>,
    count: u64,
    now: u64,
}

impl Events for Two {
    fn put(&mut self, at: u64, event: Event) {
        if at - self.now < 1 << 20 {
            self.soon.push(Numbered { at, number: self.count, event: (event, 0) });
        } else {
            self.later.push(Numbered { at, number: self.count, event: 0 });
        }
        self.count += 1;
    }
    fn take(&mut self) -> Option<(u64, Event)> {
        let [soon, later] = [self.soon.peek().map(Numbered::place), self.later.peek().map(Numbered::place)];
        let is_soon = match (soon, later) {
            (Some(soon), Some(later)) => soon < later,
            (soon, _) => soon.is_some(),
        };
        let taken = if is_soon {
            self.soon.pop().map(|Numbered { at, event: (event, _), .. }| (at, event))
        } else {
            self.later.pop().map(|Numbered { at, .. }| (at, Event::default()))
        };
        self.now = taken.map_or(self.now, |(at, _)| at);
        taken
    }
}

/// A heap of what comes within half a second, and the rest in slots.
#[derive(Default)]
struct Agenda {
    soon: BinaryHeap<Reverse<Prospect>>,
    present: u64,
    later: BTreeMap<u64, Vec<Prospect>>,
}

impl Agenda {
    fn refill(&mut self) {
        if self.soon.is_empty()
            && let Some((slot, events)) = self.later.pop_first()
        {
            self.present = slot;
            self.soon.extend(events.into_iter().map(Reverse));
        }
    }
}

impl Events for Agenda {
    fn put(&mut self, at: u64, event: Event) {
        let (slot, prospect) = (at >> 29, Prospect { at: Time(at), event });
        if slot <= self.present {
            self.soon.push(Reverse(prospect));
        } else {
            self.later.entry(slot).or_default().push(prospect);
            self.refill();
        }
    }
    fn take(&mut self) -> Option<(u64, Event)> {
        let Reverse(Prospect { at, event }) = self.soon.pop()?;
        self.refill();
        Some((at.0, event))
    }
}

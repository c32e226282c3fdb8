//! The limit: a bare [`BinaryHeap`] and nothing else.
//!
//! One event is one pop of the earliest entry and one push of its successor. A simulator which keeps its events in a
//! binary heap does this and its own work on top.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint::black_box;

use crate::Delays;

/// Ordered by time, then by sequence, which is unique: the payload never decides.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Event {
    time: u64,
    sequence: u64,
    payload: u64,
}

/// Handles `events` events with `pending` of them in the heap.
pub fn run(pending: u64, events: u64) -> u64 {
    let mut delays = Delays::new(1);
    let mut heap: BinaryHeap<_> =
        (0..pending).map(|sequence| Reverse(Event { time: delays.draw(), sequence, payload: sequence })).collect();
    let mut counted = 0;
    while counted < events {
        let Some(Reverse(Event { time, payload, .. })) = heap.pop() else { break };
        heap.push(Reverse(Event { time: time + delays.draw(), sequence: pending + counted, payload }));
        counted += 1;
    }
    black_box(heap);
    counted
}

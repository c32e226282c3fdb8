//! The peer: [nexosim](https://docs.rs/nexosim), a discrete-event simulator for models that exchange messages.
//!
//! As many models as there are messages under way form a ring. One event is one message that travels for a delay and
//! arrives at the next model: a model receives it and schedules its departure, the scheduler's queue gives it back when
//! it is due, and the output port puts it into the mailbox of the next model. Models can schedule only on themselves,
//! so this is how nexosim delays a message between two of them (asynchronics/nexosim#10).
//!
//! The choices are in nexosim's favour: its executor for one thread, no clock to wait for, plain functions where no
//! `await` is needed, and mailboxes of a single place. Messages arrive one by one, and at a thousand models the default
//! of 16 places costs a good part of the cache.

use std::time::Duration;

use nexosim::model::{Context, Model, schedulable};
use nexosim::ports::Output;
use nexosim::simulation::{Mailbox, SimInit};
use nexosim::time::MonotonicTime;
use serde::{Deserialize, Serialize};

use crate::Delays;

#[derive(Serialize, Deserialize)]
struct Node {
    next: Output<u64>,
    delays: Delays,
}

#[Model]
impl Node {
    #[nexosim(init)]
    async fn init(&mut self) {
        let message = self.delays.draw();
        self.next.send(message).await;
    }

    fn receive(&mut self, message: u64, cx: &Context<Self>) {
        let delay = Duration::from_nanos(self.delays.draw());
        cx.schedule_event(delay, schedulable!(Self::depart), message).expect("a delay is positive");
    }

    #[nexosim(schedulable)]
    async fn depart(&mut self, message: u64) {
        self.next.send(message).await;
    }
}

/// Lets `events` messages arrive, with `pending` models (two or more) and as many messages under way.
///
/// A step advances the time to the next instant at which a message is due, and passes that message on. In the rare case
/// that several are due, they count as one.
pub fn run(pending: u64, events: u64) -> u64 {
    let mailboxes: Vec<_> = (0..pending).map(|_| Mailbox::with_capacity(1)).collect();
    let mut successors: Vec<_> = mailboxes.iter().map(Mailbox::address).collect();
    successors.rotate_left(1);

    let mut bench = SimInit::with_num_threads(1);
    for ((mailbox, successor), seed) in mailboxes.into_iter().zip(successors).zip(1..) {
        let mut next = Output::new();
        next.connect(Node::receive, successor);
        bench = bench.add_model(Node { next, delays: Delays::new(seed) }, mailbox, "node");
    }
    let mut simulation = bench.init(MonotonicTime::EPOCH).expect("the ring starts");

    let mut counted = 0;
    while counted < events {
        simulation.step().expect("the ring never stops");
        counted += 1;
    }
    counted
}

//! The simulator itself: krl with its whole protocol step, the oracles' view from outside and all metrics.
//!
//! One event is a message that arrives, a request or a release. The network has a tenth as many tokens as nodes, and
//! each node six neighbours, as in the paper's 30 nodes at 20% connectivity; so about one event for each node is
//! pending.

use driftlock_sim::config::Config;
use driftlock_sim::run::{Records, replicate};

/// Events for each entry into the critical section, about.
const EVENTS_PER_ENTRY: u64 = 9;

/// Simulates `nodes` nodes for about `events` events, and returns how many there were.
pub fn run(nodes: u64, events: u64) -> u64 {
    let nodes = u32::try_from(nodes).expect("a benchmark of modest size");
    let config = Config {
        nodes,
        k: nodes / 10,
        connectivity: 5.8 / f64::from(nodes - 1),
        load: 0.1,
        warmup: 0,
        entries: (events / EVENTS_PER_ENTRY).max(1),
        ..Config::default()
    };
    let plan = config.plan().expect("a network that makes sense");
    let replication = replicate(&plan, 0, Records::default()).expect("without a trace there is nothing to write");
    assert_eq!(replication.violation, None);
    replication.tally.events
}

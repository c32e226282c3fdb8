//! What the hot loop allocates.

use driftlock_sim::config::Config;
use driftlock_sim::run::replicate;

/// Allocations of a whole replication with so many entries.
fn allocations(algorithm: &str, entries: u64) -> u64 {
    let config = Config { algorithm: algorithm.into(), warmup: 2_000, entries, ..Config::default() };
    let plan = config.plan().expect("it makes sense");
    let counted = allocation_counter::measure(|| {
        let replication = replicate(&plan, 0, None).expect("no trace");
        assert_eq!(replication.violation, None);
    });
    counted.count_total
}

#[test]
fn once_it_is_warm_the_event_loop_allocates_nothing() {
    for algorithm in ["krl", "krlf", "krlf-adaptive"] {
        let (short, long) = (allocations(algorithm, 1_000), allocations(algorithm, 21_000));
        // Now and then a queue is longer than it ever was before; 20,000 entries are some 200,000 events.
        assert!(long - short < 40, "{algorithm}: {} allocations more for 20,000 more entries", long - short);
    }
}

//! What the hot loop allocates.

use driftlock_sim::config::Config;
use driftlock_sim::run::{Records, replicate};

/// Allocations of a whole replication with so many entries.
fn allocations(config: &Config, entries: u64) -> u64 {
    let config = Config { warmup: 2_000, entries, ..config.clone() };
    let plan = config.plan().expect("it makes sense");
    let counted = allocation_counter::measure(|| {
        let replication = replicate(&plan, 0, Records::default()).expect("no trace");
        assert_eq!(replication.violation, None);
    });
    counted.count_total
}

#[test]
fn once_it_is_warm_the_event_loop_allocates_nothing() {
    let usual = |algorithm: &str| Config { algorithm: algorithm.into(), ..Config::default() };
    let several = |algorithm: &str| Config {
        units: "1..3".parse().expect("a range"),
        priorities: "0..9".parse().expect("a range"),
        deadlines: "exponential:50".parse().expect("a duration"),
        load: 0.02,
        ..usual(algorithm)
    };
    for config in [usual("krl"), usual("krlf"), usual("krlf-adaptive"), several("hok"), several("hok-edf")] {
        let algorithm = &config.algorithm;
        let (short, long) = (allocations(&config, 1_000), allocations(&config, 21_000));
        // Now and then a queue is longer than it ever was before; 20,000 entries are some 200,000 events.
        assert!(long - short < 40, "{algorithm}: {} allocations more for 20,000 more entries", long - short);
    }
}

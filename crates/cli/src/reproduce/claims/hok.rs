//! What Jiang (2003) says about prioritized h-out-of-k. The paper measures nothing: these are its stated purposes.

use driftlock_sim::config::Config;
use driftlock_sim::summary::Summary;

use super::{Claim, Evidence, Judged, Measured, weigh};
use crate::reproduce::named::Number;

/// "Comparable": within a quarter.
const COMPARABLE: f64 = 1.25;
/// The load at which the experiments' 5 units no longer suffice.
const SATURATED: f64 = 0.005;

const CLAIMS: &[Claim] = &[
    Claim {
        text: "highest priority first serve (read as: nobody enters while a more urgent request waits, with aging or without)",
        place: "Theorem 2",
        number: "share of the entries while a more urgent request waited",
        weigh: |m| {
            let by_priority = |config: &Config| {
                matches!(config.algorithm.as_str(), "hok" | "hok-strict") && !config.priorities.classes().is_empty()
            };
            weigh(m.numbers("priority_inversions", by_priority), place, |share| share.mean == 0.0)
        },
    },
    Claim {
        text: "highest priority first serve (read as: the highest class waits less than the lowest on average)",
        place: "Theorem 2",
        number: "waiting time of priority 100 / of priority 0",
        weigh: |m| {
            let lowest = |config: &Config| (config.clone(), "wait_by_priority.0.mean");
            let ratios = m.ratios("wait_by_priority.100.mean", |config| config.algorithm == "hok", lowest);
            weigh(ratios, place, |ratio| ratio.is_below(1.0))
        },
    },
    Claim {
        text: "aging prevents a node from being always preempted by nodes with higher priorities (read as: the longest wait of \
               the lowest class is shorter with aging than without, where units are short)",
        place: "Section 1, Theorem 3",
        number: "longest wait, hok / hok-strict",
        weigh: |m| {
            let short = |config: &Config| config.k == 5 && config.load >= SATURATED;
            let ratios = m.ratios_of_algorithms(["hok", "hok-strict"], "wait_by_priority.0.max", short);
            weigh(ratios, place, |ratio| ratio.is_below(1.0))
        },
    },
    Claim {
        text: "if the priority is the number of requested resources, concurrency is higher than first come, first served",
        place: "Section 1, Theorem 4",
        number: "nodes in the CS at once, hok-fewest / hok-fcfs",
        weigh: |m| of_policies(m, ["hok-fewest", "hok-fcfs"], "concurrency.mean", |ratio| ratio.is_above(1.0)),
    },
    Claim {
        text: "if the priority is the number of requested resources, whoever wants one unit waits less than first come, first served",
        place: "Section 1",
        number: "waiting time for 1 unit, hok-fewest / hok-fcfs",
        weigh: |m| of_policies(m, ["hok-fewest", "hok-fcfs"], "wait_by_units.1.mean", |ratio| ratio.is_below(1.0)),
    },
    Claim {
        text: "it can be properly applied with real-time applications (read as: earliest deadline first misses fewer deadlines than \
               first come, first served)",
        place: "Section 1",
        number: "share of deadlines missed, hok-edf / hok-fcfs",
        weigh: |m| of_policies(m, ["hok-edf", "hok-fcfs"], "deadline_miss_ratio", |ratio| ratio.is_below(1.0)),
    },
    Claim {
        text: "it is sensitive to link forming and breaking and thus suitable for a MANET (read as: waiting times at 100 times as \
               many link changes stay comparable)",
        place: "Abstract",
        number: "waiting time at a mobility of 0.2 / of 0.002",
        weigh: |m| {
            let calm = |config: &Config| (Config { mobility: 0.002, ..config.clone() }, "wait.mean");
            let moving = |config: &Config| (config.mobility - 0.2).abs() < 1e-9;
            weigh(m.ratios("wait.mean", moving, calm), place, |ratio| ratio.mean <= COMPARABLE)
        },
    },
    Claim {
        text: "one token for all units serves as fast as one for each (krl) when everybody wants one",
        place: "ours",
        number: "waiting time, hok / krl",
        weigh: |m| of_policies(m, ["hok", "krl"], "wait.mean", |ratio| ratio.mean <= 1.0),
    },
];

/// Judges all claims for which something was measured.
pub(crate) fn judge(results: &[&(Config, Summary)]) -> Vec<Judged> {
    super::judge(CLAIMS, &[(None, Measured::new(results.iter().copied()))])
}

/// What one policy came to by what another did, wherever both were measured.
fn of_policies(measured: &Measured, tags: [&str; 2], result: &str, holds: fn(Number) -> bool) -> Vec<Evidence> {
    weigh(measured.ratios_of_algorithms(tags, result, |_| true), place, holds)
}

fn place(config: &Config) -> String {
    format!("{}, load {}, k = {}, mobility {}", config.algorithm, config.load, config.k, config.mobility)
}

//! How fast events pass: the limit, the peer and the simulator side by side.
//!
//! `cargo bench -p driftlock-benches [-- --events N]`

use std::env;
use std::process::ExitCode;

use driftlock_benches::{cpu, heap, nexosim, sim};

/// Something that handles events.
struct Contender {
    name: &'static str,
    /// Handles so many events (the second number) with so many under way (the first), and returns how many it counted.
    run: fn(u64, u64) -> u64,
}

/// The first is what the others are compared with.
const CONTENDERS: &[Contender] = &[
    Contender { name: "bare heap", run: heap::run },
    Contender { name: "nexosim", run: nexosim::run },
    Contender { name: "driftlock", run: sim::run },
];

/// Messages under way, and models where there are any.
const PENDING: &[u64] = &[30, 1_000];

/// Odd, so that the median is one of the rounds.
const ROUNDS: usize = 9;

/// So many that setting up, which is part of every run, stays below half a percent.
const DEFAULT_EVENTS: u64 = 1_000_000;

fn main() -> ExitCode {
    match parse(env::args().skip(1)) {
        Ok(events) => {
            measure(events);
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// The number of events to pass in each run.
fn parse(mut args: impl Iterator<Item = String>) -> Result<u64, String> {
    let mut events = DEFAULT_EVENTS;
    while let Some(arg) = args.next() {
        match arg.as_str() {
            // Cargo's own.
            "--bench" => {}
            "--events" => {
                let value = args.next().unwrap_or_default();
                events = value.parse().ok().filter(|&n| n > 0).ok_or("--events takes a positive whole number")?;
            }
            _ => return Err(format!("unknown argument {arg}; the only one is --events N")),
        }
    }
    Ok(events)
}

/// Prints the table, a block for each number of messages under way.
fn measure(events: u64) {
    println!("median CPU time of {ROUNDS} rounds of {events} events");
    println!("{:>9}  {:<12}{:>12}{:>12}{:>12}", "under way", "", "M events/s", "ns/event", "× heap");
    for &pending in PENDING {
        let medians = medians(pending, events);
        for (contender, nanos) in CONTENDERS.iter().zip(&medians) {
            let (rate, ratio) = (1e3 / nanos, nanos / medians[0]);
            println!("{pending:>9}  {:<12}{rate:>12.2}{nanos:>12.1}{ratio:>12.2}", contender.name);
        }
    }
}

/// Median CPU nanoseconds per event of each contender. They take turns, so that noise hits all alike.
fn medians(pending: u64, events: u64) -> Vec<f64> {
    let round = || CONTENDERS.iter().map(|contender| nanos_per_event(contender, pending, events)).collect::<Vec<_>>();
    round(); // to warm up
    let rounds: Vec<_> = (0..ROUNDS).map(|_| round()).collect();
    (0..CONTENDERS.len())
        .map(|contender| {
            let mut nanos: Vec<_> = rounds.iter().map(|round| round[contender]).collect();
            nanos.sort_by(f64::total_cmp);
            nanos[ROUNDS / 2]
        })
        .collect()
}

fn nanos_per_event(contender: &Contender, pending: u64, events: u64) -> f64 {
    let (counted, spent) = cpu::time(|| (contender.run)(pending, events));
    spent.as_secs_f64() * 1e9 / counted as f64
}

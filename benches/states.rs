//! How fast states are seen: the search engine alone and the checker side by side.
//!
//! `cargo bench -p driftlock-benches --bench states`

use std::num::NonZeroUsize;
use std::thread::available_parallelism;

use driftlock_benches::{search, wall};

/// Something that sees states.
struct Contender {
    name: &'static str,
    run: fn(NonZeroUsize, u64) -> u64,
}

/// The first is what the others are compared with.
const CONTENDERS: &[Contender] =
    &[Contender { name: "bare search", run: search::bare }, Contender { name: "krl, 3 nodes", run: search::krl }];

/// Odd, so that the median is one of the rounds.
const ROUNDS: usize = 5;

fn main() {
    let cores = available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let states = search::krl(cores, 0);
    println!("median of {ROUNDS} rounds of {states} states on {cores} threads");
    let rounds: Vec<Vec<f64>> =
        (0..ROUNDS).map(|_| CONTENDERS.iter().map(|c| seconds(c, cores, states)).collect()).collect();
    let median = |contender: usize| {
        let mut times: Vec<f64> = rounds.iter().map(|round| round[contender]).collect();
        times.sort_by(f64::total_cmp);
        times[ROUNDS / 2]
    };
    for (at, contender) in CONTENDERS.iter().enumerate() {
        let (rate, ratio) = (states as f64 / median(at) / 1e3, median(at) / median(0));
        println!("{:<14}{rate:>10.0} k states/s{ratio:>10.2} × bare", contender.name);
    }
}

fn seconds(contender: &Contender, threads: NonZeroUsize, states: u64) -> f64 {
    let (seen, spent) = wall::time(|| (contender.run)(threads, states));
    assert_eq!(seen, states, "{} sees them all", contender.name);
    spent.as_secs_f64()
}

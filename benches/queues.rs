//! How fast the event queue is in each of the places that use it, beside what that place had before.
//!
//! `cargo bench -p driftlock-benches --bench queues`

use driftlock_benches::cpu;
use driftlock_benches::queues::PLACES;

/// Odd, so that the median is one of the rounds.
const ROUNDS: usize = 9;
const EVENTS: u64 = 500_000;

fn main() {
    println!("median CPU time of {ROUNDS} rounds of {EVENTS} events");
    println!("{:<24}{:>12}{:>12}{:>12}", "", "before, ns", "now, ns", "now/before");
    for place in &PLACES {
        // In turns, so that noise hits both alike.
        let mut nanos: [Vec<f64>; 2] = Default::default();
        for _ in 0..=ROUNDS {
            for (run, nanos) in place.contenders.iter().zip(&mut nanos) {
                let (counted, spent) = cpu::time(|| run(place.pending, EVENTS));
                nanos.push(spent.as_secs_f64() * 1e9 / counted as f64);
            }
        }
        let [before, now] = nanos.map(|mut nanos| {
            // The first is to warm up.
            nanos.remove(0);
            nanos.sort_by(f64::total_cmp);
            nanos[ROUNDS / 2]
        });
        println!("{:<24}{before:>12.1}{now:>12.1}{:>12.2}", place.name, now / before);
    }
}

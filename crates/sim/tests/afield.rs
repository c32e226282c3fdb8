//! Algorithms on the field: real link layer, radios that lose a tenth of all frames, nodes that move.

use driftlock_protocol::{Algorithm, Repairs};
use driftlock_sim::soak::{Crowd, soak};

fn holds(tag: &str, runs: u64) {
    let algorithm = Algorithm::named(tag).expect("registered");
    if let Some((seed, violation)) = soak(algorithm, Repairs::ALL, Crowd::Afield, 0..runs, 0, &|_| {}) {
        panic!(
            "seed {seed}: {violation}\nto record it: driftlock soak {tag} --field --seed {seed} --runs 1 --trace violation.jsonl"
        );
    }
}

#[test]
fn krl_serves_everybody_in_the_end_on_the_field() {
    holds("krl", 300);
}

#[test]
fn hok_serves_everybody_in_the_end_on_the_field() {
    holds("hok", 300);
}

#[test]
fn krlf_serves_everybody_in_the_end_on_the_field() {
    holds("krlf", 50);
}

#[test]
fn klme_serves_everybody_in_the_end_on_the_field() {
    holds("klme", 500);
}

#[test]
fn klme_ft_serves_everybody_in_the_end_on_the_field() {
    holds("klme-ft", 1000);
}

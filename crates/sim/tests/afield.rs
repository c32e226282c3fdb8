//! Algorithms on the field: the real link layer over radios, while nodes move.

use std::sync::atomic::{AtomicU64, Ordering};

use driftlock_field::faults::{Often, Ranges};
use driftlock_protocol::{Algorithm, Repairs};
use driftlock_sim::afield::{Radio, Terrain};
use driftlock_sim::config::Config;
use driftlock_sim::run::{Records, Replication, replicate};
use driftlock_sim::soak::{Crowd, Report, soak};

/// Fault and heal with a tenth of all frames lost, until so many runs have granted something under faults.
fn holds(tag: &str, counted_runs: u64) {
    let algorithm = Algorithm::named(tag).expect("registered");
    let counted = AtomicU64::new(0);
    let count = |report: &Report| _ = counted.fetch_add(u64::from(report.entries_under_faults > 0), Ordering::Relaxed);
    let mut seed = 0;
    while counted.load(Ordering::Relaxed) < counted_runs {
        let batch = (counted_runs - counted.load(Ordering::Relaxed)).max(10);
        if let Some((seed, violation)) = soak(algorithm, Repairs::ALL, Crowd::Afield, seed..seed + batch, 0, &count) {
            panic!(
                "seed {seed}: {violation}\nto record it: driftlock soak {tag} --field --seed {seed} --runs 1 --trace violation.jsonl"
            );
        }
        seed += batch;
    }
}

#[test]
fn krl_serves_everybody_in_the_end_on_the_field() {
    holds("krl", 100);
}

#[test]
fn krlf_serves_everybody_in_the_end_on_the_field() {
    holds("krlf", 30);
}

#[test]
fn krlf_adaptive_serves_everybody_in_the_end_on_the_field() {
    holds("krlf-adaptive", 30);
}

#[test]
fn rl_serves_everybody_in_the_end_on_the_field() {
    holds("rl", 30);
}

#[test]
fn hok_and_its_variants_serve_everybody_in_the_end_on_the_field() {
    holds("hok", 100);
    for tag in ["hok-strict", "hok-fewest", "hok-edf", "hok-fcfs"] {
        holds(tag, 20);
    }
}

#[test]
fn klme_serves_everybody_in_the_end_on_the_field() {
    holds("klme", 200);
}

#[test]
fn klme_ft_serves_everybody_in_the_end_on_the_field() {
    holds("klme-ft", 300);
}

fn measured(algorithm: &str, terrain: Terrain) -> Replication {
    replication(algorithm, terrain, 0)
}

fn replication(algorithm: &str, terrain: Terrain, number: u32) -> Replication {
    let config = Config {
        algorithm: algorithm.into(),
        nodes: 12,
        k: 2,
        load: 0.05,
        warmup: 10,
        entries: 60,
        check: true,
        field: Some(terrain),
        ..Config::default()
    };
    replicate(&config.plan().expect("it makes sense"), number, Records::default()).expect("nothing is written")
}

#[test]
fn the_same_seed_gives_the_same_run() {
    for algorithm in ["krl", "hok", "klme", "klme-ft"] {
        let first = measured(algorithm, Terrain::default());
        assert_eq!(first.violation, None);
        assert_eq!(first, measured(algorithm, Terrain::default()), "{algorithm}");
    }
}

#[test]
fn a_lossy_radio_sends_more_for_the_same_entries() {
    let with_loss = |loss| {
        let mut radio = driftlock_field::radio::Settings::wifi_11mbps();
        radio.loss = loss;
        let terrain = Terrain { radio: Radio::Written(Box::new(radio)), ..Terrain::default() };
        let effort = measured("krl", terrain).effort.expect("a field has radios");
        assert!(effort.bytes > effort.transmissions && effort.joules > 0.0 && effort.receptions > 0);
        effort
    };
    let (calm, rough) = (with_loss(0.0), with_loss(0.3));
    assert!(rough.transmissions > calm.transmissions, "{rough:?} {calm:?}");
}

#[test]
fn faults_by_chance_meet_measured_runs_and_are_others_in_each_replication() {
    let often = |per_minute| Often { per_minute, lasts: [1.0, 20.0] };
    let ranges = Ranges {
        heals_at: 1e6,
        crashes: often(2.0),
        memory_lost: 0.0,
        pauses: often(2.0),
        jams: often(1.0),
        partitions: often(1.0),
        losses: often(1.0),
        ..Ranges::default()
    };
    for algorithm in ["krl", "krlf", "hok", "klme", "klme-ft"] {
        let terrain = Terrain { faults: Some(ranges), ..Terrain::default() };
        let [calm, first, again] =
            [Terrain::default(), terrain.clone(), terrain.clone()].map(|it| measured(algorithm, it));
        assert_eq!((&first.violation, &first), (&None, &again), "{algorithm}");
        assert_ne!(first.effort, calm.effort, "{algorithm}");
        let other = replication(algorithm, terrain, 1);
        assert_eq!(other.violation, None, "{algorithm}");
        assert_ne!(first.effort, other.effort, "{algorithm}");
    }
}

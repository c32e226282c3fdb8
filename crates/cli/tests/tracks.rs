//! `driftlock tracks` from outside.

mod outside;

use std::fs;

use outside::{Said, Scratch};
use serde_json::Value;

fn driftlock(line: &str) -> Said {
    outside::driftlock(&line.split_whitespace().collect::<Vec<_>>())
}

const WALK: &str = "tracks walkers --nodes 12 --seconds 400 --seed 7";

#[test]
fn the_movements_of_a_field_are_written_read_again_and_run_on() {
    let scratch = Scratch::new("tracks");
    let ns2 = scratch.path("walk.ns2");
    let done = driftlock(&format!("{WALK} --out {ns2}"));
    assert_eq!((done.code, done.out.as_str()), (0, ""), "{}", done.err);
    assert_eq!(driftlock(WALK).out, fs::read_to_string(&ns2).unwrap(), "ns-2 is what comes without a name");
    let movements = scratch.path("walk.movements");
    assert_eq!(driftlock(&format!("tracks {ns2} --out {movements}")).code, 0);
    assert_eq!(fs::read_to_string(&movements).unwrap().lines().filter(|line| !line.starts_with('#')).count(), 12);
    let field = scratch.write("field.toml", "tracks = \"walk.ns2\"\n");
    let run = "--nodes 12 --k 2 --load 0.05 --entries 30 --warmup 5 --replications 1";
    let done = driftlock(&format!("sim --field {field} {run}"));
    assert_eq!(done.code, 0, "{}", done.err);
}

#[test]
fn they_are_the_movements_of_a_simulation_with_the_same_seed() {
    let scratch = Scratch::new("same-tracks");
    let trace = scratch.path("run.jsonl");
    let run = "--field walkers --nodes 12 --k 2 --load 0.05 --entries 10 --warmup 1 --replications 1 --seed 7";
    assert_eq!(driftlock(&format!("sim {run} --trace {trace}")).code, 0);
    let trace = fs::read_to_string(trace).unwrap();
    let lines = trace.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let starts: Vec<_> = lines.filter(|line| line["t"] == 0 && line["move"].is_u64()).collect();
    assert_eq!(starts.len(), 12);
    let written = driftlock(WALK).out;
    for start in starts {
        let node = &start["move"];
        let place = format!("$node_({node}) set X_ {}\n$node_({node}) set Y_ {}\n", start["at"][0], start["at"][1]);
        assert!(written.contains(&place), "{place}");
    }
}

#[test]
fn what_makes_no_sense_is_said_in_words() {
    for (flags, complaint) in [
        ("tracks nowhere", "fields that need no file"),
        ("tracks walkers --out moves.txt", "give --format"),
        ("tracks walkers --out moves.xml", "read only"),
        ("tracks walkers --seconds 0", "more than 0"),
        ("tracks walkers --nodes 0", "0 is not in 1..=100000"),
        ("tracks nowhere.ns2 --nodes 4", "go with a field"),
        ("tracks nowhere.ns2", "can not read nowhere.ns2"),
    ] {
        let said = driftlock(flags);
        assert_eq!(said.code, 2, "{flags}: {}", said.err);
        // As one line, however it was wrapped.
        let words: Vec<_> = said.err.split_whitespace().filter(|word| *word != "│").collect();
        assert!(words.join(" ").contains(complaint), "{flags}: {}", said.err);
    }
}

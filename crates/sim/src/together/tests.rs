use std::io::{Cursor, Write};
use std::sync::{Arc, Mutex};

use driftlock_trace::Reader;
use driftlock_trace::replay::{Outcome as Replayed, replay};

use super::*;
use crate::config::Config;
use crate::field::FieldPlan;

const FAULTS: &str = r"
    area = { width = 400, height = 400 }
    [faults]
    crashes = { per-minute = 4.0, lasts = [0.1, 20.0] }
    memory-lost = 0.0
    pauses = { per-minute = 4.0, lasts = [1.0, 10.0] }
    jams = { per-minute = 2.0, lasts = [1.0, 20.0] }
";
const ENTRIES: u64 = 150;

fn plans(algorithms: &[(&str, u32)], field: &FieldPlan) -> Vec<Plan> {
    let plan = |(&(algorithm, k), seed): (&(&str, u32), u64)| {
        let field = Some(field.clone());
        let usual = Config { algorithm: algorithm.into(), nodes: 8, k, seed, field, ..Config::default() };
        Config { entries: ENTRIES, check: true, ..usual }.plan().expect("it makes sense")
    };
    algorithms.iter().zip(1..).map(plan).collect()
}

/// A place in memory to write a trace to.
#[derive(Clone, Default)]
struct Bytes(Arc<Mutex<Vec<u8>>>);

impl Write for Bytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("nobody panics with it").write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What came of a run, and its trace.
fn recorded(plans: &[Plan]) -> (Vec<Outcome>, Vec<u8>) {
    let bytes = Bytes::default();
    let writer = Writer::new(Box::new(bytes.clone()), &trace_header(plans, 0));
    let outcomes = replicate(plans, 0, writers(writer, u32::try_from(plans.len()).expect("a few")));
    let trace = bytes.0.lock().expect("nobody panics with it").clone();
    (outcomes.expect("memory takes it all"), trace)
}

const PAIRS: [[(&str, u32); 2]; 2] = [[("krl", 2), ("hok", 3)], [("klme-ft", 2), ("krlf", 1)]];

#[test]
fn resources_with_different_algorithms_are_shared_over_the_same_radios_while_nodes_crash_and_pause() {
    let field: FieldPlan = toml::from_str(FAULTS).expect("a field");
    for algorithms in PAIRS {
        let plans = plans(&algorithms, &field);
        let (outcomes, trace) = recorded(&plans);
        assert!(outcomes.iter().all(|outcome| outcome.violation.is_none()), "{algorithms:?} {outcomes:?}");
        assert!(outcomes.iter().all(|outcome| outcome.tally.waits.len() as u64 >= ENTRIES), "{algorithms:?}");
        let reader = Reader::new(Box::new(Cursor::new(trace.clone()))).expect("a trace");
        match replay(reader).expect("it can be replayed") {
            Replayed::Same { steps, violation } => assert!(steps > 1_000 && violation.is_none()),
            other => panic!("{algorithms:?}: {other:?}"),
        }
        let of_the_second = String::from_utf8(trace).expect("text").matches("\"resource\":1,\"in\":").count();
        assert!(of_the_second > 500, "{algorithms:?}: {of_the_second} steps");
    }
}

#[test]
fn the_same_seeds_give_the_same_trace_and_recording_changes_nothing() {
    let plans = plans(&PAIRS[0], &toml::from_str(FAULTS).expect("a field"));
    let (outcomes, trace) = recorded(&plans);
    assert_eq!(recorded(&plans), (outcomes.clone(), trace));
    assert_eq!(replicate(&plans, 0, [None, None]).expect("nothing is written"), outcomes);
}

#[test]
fn each_resource_is_judged_and_one_that_is_broken_ends_the_run_of_all() {
    let field: FieldPlan = toml::from_str(FAULTS).expect("a field");
    for broken in [0, 1] {
        let mut algorithms = [("krl", 2), ("krl", 2)];
        algorithms[broken] = ("hok", 3);
        let mut plans = plans(&algorithms, &field);
        let config = Config { without: vec!["reclaim".into()], entries: 10_000, ..plans[broken].config.clone() };
        plans[broken] = config.plan().expect("it makes sense");
        let (outcomes, trace) = recorded(&plans);
        let violated: Vec<_> = outcomes.iter().map(|outcome| outcome.violation.is_some()).collect();
        assert_eq!(violated, [broken == 0, broken == 1]);
        let end = String::from_utf8(trace).expect("text").lines().last().expect("it ends").to_owned();
        assert!(end.contains("\"violation\"") && end.contains("\"resource\":1") == (broken == 1), "{end}");
    }
}

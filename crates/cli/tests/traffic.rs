//! `driftlock traffic` from outside.

use std::process::{Command, Output};

use serde_json::Value;

fn traffic(flags: &str) -> Output {
    let words = flags.split_whitespace();
    Command::new(env!("CARGO_BIN_EXE_driftlock")).arg("traffic").args(words).output().expect("the binary runs")
}

fn json(flags: &str) -> Value {
    let output = traffic(&format!("{flags} --format json"));
    assert_eq!(output.status.code(), Some(0), "{flags}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("one JSON object")
}

#[test]
fn the_same_command_prints_the_same_bytes_and_another_seed_others() {
    let said = |flags| String::from_utf8(traffic(flags).stdout).expect("text");
    let first = said("--seconds 20");
    assert!(first.contains("answered") && first.contains("RREQ") && first.contains("median"), "{first}");
    assert_eq!(first, said("--seconds 20"));
    assert_ne!(first, said("--seconds 20 --seed 2"));
}

#[test]
fn the_json_has_the_results_and_the_configuration() {
    let json = json("--seconds 20 --nodes 30 --density 60 --range 220 --radio ns-3 --routing ns-3 --within 500");
    for key in [
        "requests",
        "delivery",
        "one-way",
        "round-trip/mean",
        "round-trip/p50",
        "round-trip/p95",
        "packets/requests",
        "packets/hellos",
        "packets/data",
        "routing-per-message",
        "hops-per-message",
        "events",
        "radio/data-sent",
        "joules",
        "config/period",
    ] {
        let value = json.pointer(&format!("/{key}"));
        assert!(value.is_some_and(Value::is_number), "{key} is {value:?}");
    }
    assert!(json["packets"]["hellos"].as_u64() > Some(100));
    assert_eq!(json["config"]["radio"]["propagation"]["range-m"], 220.0);
    assert_eq!(json["config"]["routing"]["hello"], "always");
    assert_eq!(json["config"]["within"], 500.0);
}

#[test]
fn who_stands_close_together_loses_nothing() {
    let json = json("--nodes 10 --area 100x50 --speed 0 --radio ideal --seconds 60");
    assert_eq!((&json["delivery"], &json["one-way"]), (&1.0.into(), &1.0.into()));
    assert_eq!(json["config"]["mobility"]["model"], "uniform");
}

#[test]
fn nonsense_is_refused_with_a_sentence_and_exit_code_2() {
    for (flags, says) in [
        ("--nodes 1", "nodes must be from 2"),
        ("--speed 0..8", "speed_min must be more than 0"),
        ("--speed fast", "is no speed"),
        ("--area 1000", "is no area"),
        ("--area 10x10 --density 5", "cannot be used with"),
        ("--range -5", "range-m is -5"),
        ("--radio cb", "possible values"),
        ("--period 0", "period must be"),
        ("--within -1", "within must be"),
    ] {
        let output = traffic(flags);
        let said = String::from_utf8_lossy(&output.stderr).replace("\n  │ ", " ");
        assert_eq!(output.status.code(), Some(2), "{flags}: {said}");
        assert_eq!(said.matches(says).count(), 1, "{flags}: {said}");
        assert!(output.stdout.is_empty());
    }
}

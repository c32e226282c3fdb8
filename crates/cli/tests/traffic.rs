//! `driftlock traffic` from outside.

mod outside;

use std::fs;
use std::process::{Command, Output};

use outside::{Scratch, driftlock};
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
    let field = &json["config"]["field"];
    assert_eq!(field["radio"]["propagation"]["range-m"], 220.0);
    assert_eq!(field["layers"]["aodv"]["hello"], "always");
    assert!(field["layers"]["link"].is_null(), "there are no links");
    assert_eq!(json["config"]["within"], 500.0);
}

#[test]
fn who_stands_close_together_loses_nothing() {
    let json = json("--nodes 10 --area 100x50 --speed 0 --radio ideal --seconds 60");
    assert_eq!((&json["delivery"], &json["one-way"]), (&1.0.into(), &1.0.into()));
    assert_eq!(json["config"]["field"]["movement"]["model"], "uniform");
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
        ("--density 0", "density must be"),
        ("--field walkers --speed 3", "cannot be used with"),
        ("--field walkers --radio nfk", "cannot be used with"),
        ("--tracks nowhere.ns2 --area 10x10", "cannot be used with"),
        ("--tracks nowhere.ns2", "cannot read nowhere.ns2: No such file"),
        ("--field runners", "fields that need no file: walkers, nfk, cluster"),
        ("--pcap nowhere/run.pcapng", "cannot write nowhere/run.pcapng"),
    ] {
        let output = traffic(flags);
        let said = String::from_utf8_lossy(&output.stderr).replace("\n  │ ", " ");
        assert_eq!(output.status.code(), Some(2), "{flags}: {said}");
        assert_eq!(said.matches(says).count(), 1, "{flags}: {said}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn it_runs_on_the_fields_of_sim_and_where_their_nodes_go() {
    let scratch = Scratch::new("traffic-field");
    let walk = scratch.path("walk.ns2");
    let said = driftlock(&["tracks", "walkers", "--nodes", "30", "--seconds", "60", "--seed", "7", "--out", &walk]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    let results = |flags: &str| {
        let mut json = json(&format!("{flags} --nodes 30 --seconds 40 --seed 7"));
        json["config"].take();
        json
    };
    let field = results("--field walkers");
    assert!(field["delivery"].as_f64() > Some(0.5), "{field:#}");
    assert_eq!(field, results(&format!("--field walkers --tracks {walk}")), "the same movements, radios and routers");
    assert_ne!(field, results("--field nfk"));
    let on_tracks = json(&format!("--tracks {walk} --seconds 10"));
    assert!(on_tracks["config"]["field"]["movement"].is_null() && on_tracks["config"]["field"]["area"].is_null());
    assert_eq!(on_tracks["config"]["nodes"], 30, "as many as the file has");
    let text = String::from_utf8(traffic(&format!("--tracks {walk} --seconds 10")).stdout).expect("text");
    assert!(text.contains("30 with the movements of"), "{text}");
    let other = traffic(&format!("--tracks {walk} --nodes 31"));
    assert!(other.status.code() == Some(2) && String::from_utf8_lossy(&other.stderr).contains("give --nodes 30"));
}

#[test]
fn faults_of_a_field_are_carried_out_and_refused_in_their_place() {
    let scratch = Scratch::new("traffic-faults");
    let crash = "[[fault]]\nat = 5.0\nkind = \"crash\"\nnode = 3\n";
    let file = scratch.write("crash.toml", crash);
    let json = json(&format!("--field {file} --nodes 10 --seconds 60 --period 1"));
    assert!(json["down"].as_u64() > Some(20), "{json:#}");
    let said = traffic(&format!("--field {file} --nodes 3"));
    let err = String::from_utf8_lossy(&said.stderr).replace("\n  │ ", " ");
    assert!(said.status.code() == Some(2) && err.contains("crash.toml, line 1, column 1: fault 1"), "{err}");
}

#[test]
fn packets_are_captured_and_are_as_long_as_the_radios_say() {
    let scratch = Scratch::new("traffic-pcap");
    let capture = scratch.path("run.pcapng");
    let json = json(&format!("--nodes 10 --area 300x300 --seconds 20 --pcap {capture}"));
    let capture = fs::read(capture).expect("written");
    assert!(capture.starts_with(&[0x0A, 0x0D, 0x0D, 0x0A]), "a section header block comes first");
    let word = |at: usize| u32::from_le_bytes(capture[at..at + 4].try_into().expect("four bytes"));
    let (mut at, mut sent, mut bytes) = (0, 0, 0);
    while at < capture.len() {
        if word(at) == 6 {
            let length = word(at + 20) as usize;
            // The first option has the direction, 2 for outbound; Ethernet takes 14 bytes.
            let is_sent = word(at + 28 + length.next_multiple_of(4) + 4) & 3 == 2;
            sent += u64::from(is_sent);
            bytes += if is_sent { length as u64 - 14 } else { 0 };
        }
        at += word(at + 4) as usize;
    }
    assert_eq!((Some(sent), Some(bytes)), (json["radio"]["data-sent"].as_u64(), json["radio"]["bytes-sent"].as_u64()));
}

/// Three cars close together, the second and the third of which come 20 s and 40 s after the first, and leave after a
/// minute.
fn cars(start: u32) -> String {
    let mut table = String::from("time,id,x,y\n");
    for time in 0..=100 {
        for (id, comes) in [(0, 0), (1, 20), (2, 40)] {
            if (comes..comes + 60).contains(&time) {
                table += &format!("{},{id},{},{}\n", start + time, time, 10 * id);
            }
        }
    }
    table
}

#[test]
fn those_who_are_absent_neither_send_nor_get_requests_and_traffic_ends_with_its_movements() {
    let scratch = Scratch::new("absent-traffic");
    for start in [0, 25_200] {
        let file = scratch.write(&format!("cars-{start}.csv"), &cars(start));
        let output = traffic(&format!("--tracks {file} --radio ideal --period 1 --format json"));
        assert_eq!(output.status.code(), Some(0));
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        let over = f64::from(start) + 99.0;
        assert_eq!((&json["over"], &json["sent"]), (&over.into(), &serde_json::json!([f64::from(start), over])));
        // Of 99 seconds each is there for 60, and the first is alone for 20.
        let count = |key: &str| json[key].as_u64().unwrap();
        assert!((120..180).contains(&count("requests")), "{json}");
        assert!(count("absent") > 80 && count("nobody-near") > 5, "{json}");
        assert!(json["delivery"].as_f64() > Some(0.95), "{}", json["delivery"]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains(&format!("the movements are over at {over} s")), "{said}");
    }
}

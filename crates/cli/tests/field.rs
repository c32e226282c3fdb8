//! The field from outside: what is typed, what is printed, and the exit code.

mod outside;

use std::fs;

use outside::{Said, Scratch, driftlock};
use serde_json::Value;

const QUICK: &str = "sim --nodes 10 --k 2 --load 0.05 --entries 30 --warmup 5 --replications 2";

/// A crowded field on which much goes wrong, both written down and by chance.
const ROUGH: &str = r#"
area = { width = 400, height = 300 }
movement = { model = "random-waypoint", speed_min = 1.0, speed_max = 8.0 }

[radio]
loss = 0.05

[layers.link]
hello-ms = 500

[[fault]]
at = 10.0
kind = "jam"
disc = { centre = [200, 150], radius = 100 }
lasts = 10.0

[[fault]]
at = 15.0
kind = "restart"
node = 3
back-after = 4.0
memory = "kept"

[faults]
heals-at = 100000.0
pauses = { per-minute = 4.0, lasts = [1.0, 10.0] }
crashes = { per-minute = 4.0, lasts = [1.0, 10.0] }
memory-lost = 0.0
"#;

fn quick(more: &[&str]) -> Said {
    driftlock(&[&QUICK.split(' ').collect::<Vec<_>>()[..], more].concat())
}

/// As one line, without the frame around errors.
fn one_line(text: &str) -> String {
    // A line is broken behind a hyphen as well.
    text.replace("-\n  │ ", "-").split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ")
}

#[test]
fn walkers_need_no_file_and_cost_what_radios_do() {
    let said = quick(&["--field", "walkers"]);
    assert_eq!(said.code, 0, "{}", said.err);
    for part in
        ["krl on 10 nodes", "a field of 700 m x 700 m", "radio, per entry", "airtime", "radios in range", "violations"]
    {
        assert!(said.out.contains(part), "{part:?} is missing in\n{}", said.out);
    }
    assert_eq!(said.out, quick(&["--field", "walkers", "--threads", "1"]).out);
    assert_ne!(said.out, quick(&["--field", "walkers", "--seed", "2"]).out);
    let json: Value = serde_json::from_str(&quick(&["--field", "walkers", "--format", "json"]).out).expect("JSON");
    assert_eq!((json["entries"].as_u64(), json["violations"].as_u64()), (Some(60), Some(0)));
    assert!(json["radio"].is_object(), "{json:#}");
    for key in ["connected", "largest_component", "degree"] {
        for part in ["mean", "ci95"] {
            assert!(json["graph"][key][part].is_number(), "{key}.{part}: {:#}", json["graph"]);
            let name = format!("`graph.{key}.{part}`");
            assert!(include_str!("../../../docs/results.md").contains(&name), "{name} is not in docs/results.md");
        }
    }
}

#[test]
fn nodes_that_stand_in_a_row_are_connected_as_far_as_their_radios_reach() {
    let scratch = Scratch::new("field-graph");
    // Ten nodes have nine others beside them, and eight that are next but one.
    for (range, links) in [(60.0, 9.0), (110.0, 9.0 + 8.0)] {
        let row = "[movement]\nmodel = \"grid\"\ncolumns = 10\nspacing = 50.0\n";
        let radio = format!("[radio.propagation]\nmodel = \"unit-disk\"\nrange-m = {range}\n");
        let file = scratch.write("row.toml", &format!("{row}{radio}"));
        let said = quick(&["--field", &file, "--format", "json"]);
        let json: Value = serde_json::from_str(&said.out).unwrap_or_else(|_| panic!("no JSON: {}", said.err));
        let graph = ["connected", "largest_component", "degree"].map(|key| json["graph"][key]["mean"].as_f64());
        assert_eq!(graph, [Some(1.0), Some(1.0), Some(2.0 * links / 10.0)], "with a range of {range} m");
    }
}

#[test]
fn a_file_says_how_large_and_how_rough_the_field_is() {
    let scratch = Scratch::new("field-file");
    let file = scratch.write("rough.toml", ROUGH);
    for algorithm in ["krl", "krlf", "hok", "klme", "klme-ft"] {
        let said = quick(&["--algorithm", algorithm, "--field", &file, "--check"]);
        assert_eq!(said.code, 0, "{algorithm}: {}{}", said.out, said.err);
        assert!(said.out.contains("a field of 400 m x 300 m"), "{}", said.out);
    }
    let config = scratch.write("config.toml", "algorithm = \"hok\"\n[field]\narea = { width = 300, height = 200 }\n");
    assert!(
        quick(&["--config", &config]).out.contains("hok on 10 nodes with k = 2: load 0.05, a field of 300 m x 200 m")
    );
}

#[test]
fn packets_are_captured_as_pcapng_and_are_the_same_for_the_same_seed() {
    let scratch = Scratch::new("field-pcap");
    let capture = |name: &str, seed: &str| {
        let path = scratch.path(name);
        let said = quick(&["--field", "walkers", "--pcap", &path, "--seed", seed]);
        assert_eq!(said.code, 0, "{}", said.err);
        fs::read(path).expect("written")
    };
    let first = capture("first.pcapng", "1");
    assert!(first.starts_with(&[0x0A, 0x0D, 0x0D, 0x0A]), "a section header block comes first");
    assert!(first.len() > 10_000, "{} bytes", first.len());
    assert!(first == capture("again.pcapng", "1"));
    assert!(first != capture("other.pcapng", "2"));
}

#[test]
fn a_trace_of_a_field_is_replayed_and_rerun() {
    let scratch = Scratch::new("field-trace");
    let file = scratch.write("rough.toml", ROUGH);
    for algorithm in ["krl", "klme-ft"] {
        let trace = scratch.path(&format!("{algorithm}.jsonl.zst"));
        let more = ["--algorithm", algorithm, "--field", &file, "--trace", &trace, "--trace-replication", "1"];
        assert_eq!(quick(&more).code, 0, "{algorithm}");
        let said = driftlock(&["replay", &trace]);
        assert!(said.code == 0 && said.out.contains("every output is the same"), "{}{}", said.out, said.err);
        let said = driftlock(&["replay", "--rerun", &trace]);
        assert!(said.code == 0 && said.out.contains("the same trace again"), "{}{}", said.out, said.err);
    }
}

#[test]
fn soak_holds_on_the_field_and_its_trace_is_rerun() {
    let scratch = Scratch::new("field-soak");
    for algorithm in ["krl", "krlf", "hok", "klme", "klme-ft"] {
        let trace = scratch.path(&format!("{algorithm}.jsonl.zst"));
        let said = driftlock(&["soak", algorithm, "--field", "--runs", "3", "--trace", &trace]);
        assert!(said.code == 0 && said.out.contains(" held, seeds 0 to 2"), "{}{}", said.out, said.err);
        let said = driftlock(&["replay", &trace]);
        assert!(said.code == 0 && said.out.contains("every output is the same"), "{}{}", said.out, said.err);
        let said = driftlock(&["replay", "--rerun", &trace]);
        assert!(said.code == 0 && said.out.contains("the same trace again"), "{}{}", said.out, said.err);
    }
    let said = driftlock(&["soak", "krl", "--field", "--crowded"]);
    assert!(said.code == 2 && said.err.contains("cannot be used with"), "{}", said.err);
}

#[test]
fn soak_takes_as_many_nodes_as_it_is_given_and_its_trace_is_rerun() {
    let scratch = Scratch::new("field-crowd");
    for place in [&["--field"][..], &[]] {
        let trace = scratch.path("crowd.jsonl.zst");
        let more = ["--nodes", "30", "--runs", "2", "--trace", &trace];
        let said = driftlock(&[&["soak", "krlf"], place, &more].concat());
        assert!(said.code == 0 && said.out.contains("2 runs held, seeds 0 to 1"), "{}{}", said.out, said.err);
        let said = driftlock(&["replay", "--rerun", &trace]);
        assert!(said.code == 0 && said.out.contains("the same trace again"), "{}{}", said.out, said.err);
    }
    for nodes in ["2", "201"] {
        let said = driftlock(&["soak", "krl", "--field", "--nodes", nodes]);
        assert!(said.code == 2 && said.err.contains("fault-and-heal runs take 3 to 200"), "{}", said.err);
    }
    let said = driftlock(&["soak", "krl", "--nodes", "20", "--crowded"]);
    assert!(said.code == 2 && said.err.contains("cannot be used with"), "{}", said.err);
}

#[test]
fn what_is_broken_is_noticed_on_the_field_and_can_be_recorded() {
    is_noticed("--field");
    is_noticed("--field --nodes 20");
}

/// krl without one of its repairs is violated in some such run; the command that is printed records it.
fn is_noticed(crowd: &str) {
    let flags: Vec<_> = crowd.split_whitespace().collect();
    let said = driftlock(&[&["soak", "krl"], &flags[..], &["--without", "reclaim", "--runs", "300"]].concat());
    assert!(said.code == 1 && said.out.contains("violated with seed"), "{}{}", said.out, said.err);
    let command = said.out.lines().find(|line| line.contains("--trace")).expect("the command");
    assert!(command.contains(&format!("soak krl {crowd} --without reclaim --seed")), "{command}");
    let scratch = Scratch::new("field-violation");
    let trace = scratch.path("violation.jsonl");
    let words: Vec<_> =
        command.split_whitespace().skip(1).map(|word| if word == "violation.jsonl" { &trace } else { word }).collect();
    assert_eq!(driftlock(&words).code, 1, "{command}");
    let said = driftlock(&["replay", &trace]);
    assert!(said.code == 0 && said.out.contains("ended with a violation"), "{}{}", said.out, said.err);
}

#[test]
fn traffic_tells_what_a_field_is_worth() {
    let said = driftlock(&["traffic", "--nodes", "20", "--seconds", "10"]);
    assert!(said.code == 0 && said.out.contains("answered"), "{}{}", said.out, said.err);
}

#[test]
fn bad_fields_get_a_clear_sentence_and_exit_code_2() {
    let scratch = Scratch::new("field-bad");
    for (algorithm, text, says) in [
        ("krl", "area = { width = 300, height = 300 }\nhaste = 3\n", "line 2, column 1: unknown field `haste`"),
        ("krl", "[radio]\nloss = 0.1\nlos = 0.1\n", "line 3, column 1: unknown field `los`"),
        ("krl", "movement = { model = \"uniform\", speed = 1 }\n", "line 1, column 12: unknown field `speed`"),
        (
            "krl",
            "area = { width = 9, height = 9 }\n\n[movement]\nmodel = \"random-waypoint\"\nspeed_min = 1e9\nspeed_max = 1e9\n",
            "bad.toml, line 3, column 2: nodes would turn every",
        ),
        (
            "krl",
            "[radio.propagation]\nmodel = \"unit-disk\"\nrange-m = 1e308\nsense = 10\n",
            "bad.toml, line 1, column 2: signals would matter up to inf m away",
        ),
        ("krl", "[radio]\nloss = 2.0\n", "bad.toml, line 1, column 2: loss is 2, but a probability is from 0 to 1"),
        (
            "krl",
            "[faults]\nheals-at = 60\njams = { per-minute = 1, lasts = [9, 3] }\n",
            "bad.toml, line 1, column 2: faults: jams: \"lasts\" must be the least and the greatest",
        ),
        ("krl", "tracks = \"x.tcl.gz\"\n", "bad.toml, line 1, column 1: "),
        (
            "krl",
            "radio = \"cb\"\n",
            "bad.toml, line 1, column 1: there is no radio preset \"cb\"; there are ideal, wifi-2mbps",
        ),
        ("krl", "[faults]\nnodes = 3\n", "line 2, column 1: unknown field `nodes`"),
        ("krl", "area = { width = 0, height = 300 }\n", "the area must be a rectangle of more than 0"),
        ("krl", "tracks = \"nowhere.movements\"\n", "nowhere.movements: No such file"),
        (
            "krl",
            "[[fault]]\nat = 1\nkind = \"pause\"\nnode = 1\nlasts = 1\n[[fault]]\nat = 5.0\nkind = \"pause\"\nnode = 10\nlasts = 2.0\n",
            "bad.toml, line 6, column 1: fault 2: there is no node 10: nodes have the numbers 0 to 9",
        ),
        ("krl", "[[fault]]\nat = 5.0\nkind = \"pause\"\nnode = 1\n", "a pause needs \"lasts\""),
        (
            "krl",
            "[[fault]]\nat = 5.0\nkind = \"crash\"\nnode = 3\nback-after = 2.0\n",
            "fault 1 is a crash, which krl does not survive: give it back-after and memory = \"kept\", or take one of: klme-ft",
        ),
        ("klme", "[[fault]]\nat = 5.0\nkind = \"crash\"\nnode = 3\n", "which klme does not survive"),
        (
            "hok",
            "[faults]\ncrashes = { per-minute = 1.0, lasts = [1.0, 2.0] }\n",
            "0.5 of the crashes lose the memory, which hok does not survive: give memory-lost = 0, or take one of: klme-ft",
        ),
        (
            "krl",
            "[faults]\nheals-at = 1e9\njams = { per-minute = 1.0, lasts = [1.0, 2.0] }\n",
            "a million of a kind is the most",
        ),
    ] {
        let file = scratch.write("bad.toml", text);
        let said = quick(&["--algorithm", algorithm, "--field", &file]);
        let err = one_line(&said.err);
        assert!(said.code == 2 && err.contains(says), "{text:?} says {err}");
        assert!(said.out.is_empty() && !err.contains("panicked"), "{text:?}");
    }
    let config = scratch.write("config.toml", "load = 0.05\n\n[field]\nradio = \"cb\"\n");
    let said = quick(&["--config", &config]);
    let err = one_line(&said.err);
    assert!(said.code == 2 && err.contains("config.toml, line 4, column 1: there is no radio preset"), "{err}");
    let survived = scratch.write("crash.toml", "[[fault]]\nat = 5.0\nkind = \"crash\"\nnode = 3\nback-after = 2.0\n");
    let said = quick(&["--algorithm", "klme-ft", "--field", &survived]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
}

#[test]
fn movements_are_looked_for_beside_the_field_that_names_them() {
    let scratch = Scratch::new("field-tracks");
    scratch.write("two.movements", "0 0 0 100 50 0\n0 40 40\n");
    let field = scratch.write("two.toml", "tracks = \"two.movements\"\n");
    let config = scratch.write("config.toml", "[field]\ntracks = \"two.movements\"\n");
    let words: Vec<_> = "sim --nodes 2 --k 1 --entries 10 --warmup 0 --replications 1".split(' ').collect();
    for more in [&["--field", &field][..], &["--config", &config]] {
        let said = driftlock(&[&words[..], more].concat());
        assert_eq!(said.code, 0, "{more:?}: {}", said.err);
    }
}

#[test]
fn the_papers_fields_have_names() {
    for (name, side, speeds, pause, range) in
        [("nfk", 1000.0, [0.1, 8.0], 0.0, 200.0), ("cluster", 500.0, [8.0, 40.0], 150.0, 250.0)]
    {
        let said = quick(&["--field", name, "--format", "json"]);
        assert_eq!(said.code, 0, "{}", said.err);
        let json: Value = serde_json::from_str(&said.out).expect("JSON");
        let field = &json["config"]["field"];
        assert_eq!((&field["area"]["width"], &field["area"]["height"]), (&side.into(), &side.into()));
        let movement = &field["movement"];
        assert_eq!(movement["model"], "random-waypoint");
        assert_eq!((&movement["speed_min"], &movement["speed_max"]), (&speeds[0].into(), &speeds[1].into()));
        assert_eq!(movement["pause"], pause);
        assert_eq!(field["radio"]["propagation"]["range-m"], range, "{name}: a radio is written out");
    }
}

/// What is on the air in a capture: for each packet, whether it was sent (or received), whether to all, and how many
/// bytes IP has of it.
fn packets(capture: &[u8]) -> Vec<(bool, bool, usize)> {
    const PACKET: u32 = 6;
    const ETHERNET: usize = 14;
    let word = |at: usize| u32::from_le_bytes(capture[at..at + 4].try_into().expect("four bytes"));
    let (mut at, mut packets) = (0, Vec::new());
    while at < capture.len() {
        let length = word(at + 4) as usize;
        if word(at) == PACKET {
            let (bytes, data) = (word(at + 20) as usize, at + 28);
            // The first option is the one with the direction, 2 for outbound.
            let flags = word(data + bytes.next_multiple_of(4) + 4);
            packets.push((flags & 3 == 2, capture[data] == 0xFF, bytes - ETHERNET));
        }
        at += length;
    }
    packets
}

/// Two who stand beside each other: everything can be computed by hand from the packets.
#[test]
fn what_radios_cost_is_what_the_packets_of_the_capture_cost() {
    let scratch = Scratch::new("field-cost");
    let field = scratch.write(
        "two.toml",
        "area = { width = 200, height = 10 }\nmovement = { model = \"static\", points = [[0, 0], [100, 0]] }\n",
    );
    let capture = scratch.path("two.pcapng");
    let words = "sim --nodes 2 --k 1 --load 0.1 --entries 100 --warmup 0 --replications 1 --format json";
    for algorithm in ["krl", "hok", "klme", "klme-ft"] {
        let more = ["--algorithm", algorithm, "--field", &field, "--pcap", &capture];
        let said = driftlock(&[&words.split(' ').collect::<Vec<_>>()[..], &more].concat());
        assert_eq!(said.code, 0, "{}", said.err);
        let json: Value = serde_json::from_str(&said.out).expect("JSON");
        let result = |key: &str| json["radio"][key].as_f64().expect("a number") * 100.0;
        let (sent, received): (Vec<_>, Vec<_>) =
            packets(&fs::read(&capture).expect("written")).into_iter().partition(|(sent, ..)| *sent);
        let bytes: usize = sent.iter().map(|(.., bytes)| bytes).sum();
        // 192 us, then 36 bytes of headers and the packet: at 1 Mb/s to all, at 2 Mb/s to one. An acknowledgement takes
        // 304 us.
        let micros = |(_, to_all, bytes): &(bool, bool, usize)| 192 + (36 + bytes) * if *to_all { 8 } else { 4 };
        let airtime = sent.iter().map(micros).sum::<usize>() as f64 * 1e-6 + result("acknowledgements") * 304e-6;
        let watts = 0.967 + 1.327 - 2.0 * 0.843;
        let joules = airtime * watts + 2.0 * 0.843 * json["span"].as_f64().expect("a number");
        for (key, expected, tolerance) in [
            ("transmissions", sent.len() as f64, 1e-9),
            ("receptions", received.len() as f64, 1e-9),
            ("bytes", bytes as f64, 1e-9),
            ("airtime", airtime, 1e-9),
            // Two who begin at once both send, and neither receives.
            ("joules", joules, 1e-5),
        ] {
            let ratio = result(key) / expected;
            assert!((ratio - 1.0).abs() < tolerance, "{algorithm}: {key} is {}, not {expected}", result(key));
        }
    }
}

#[test]
fn flags_that_make_no_sense_on_a_field_are_refused() {
    let pcap = Scratch::new("field-flags").path("run.pcapng");
    for (more, says) in [
        (
            &["--field", "runners"][..],
            "cannot read runners: No such file or directory (os error 2); fields that need no file: walkers, nfk, cluster",
        ),
        (&["--pcap", &pcap], "there are packets only on a field: give --field as well, or leave --pcap out"),
        (&["--field", "walkers", "--pcap", "no-such-folder/run.pcapng"], "cannot write no-such-folder/run.pcapng"),
        (&["--field", "walkers", "--pcap", &pcap, "--trace-replication", "2"], "there is no replication 2 to record"),
        (&["--field", "walkers", "--tracks", "nowhere.ns2"], "cannot read nowhere.ns2: No such file"),
        (&["--field", "walkers", "--mobility", "1"], "mobility"),
        (&["--field", "walkers", "--delay", "2"], "delay"),
        (&["--field", "walkers", "--algorithm", "klme", "--churn", "light"], "churn"),
    ] {
        let said = quick(more);
        let err = one_line(&said.err);
        assert!(said.code == 2 && err.contains(says), "{more:?} says {err}");
        assert!(said.out.is_empty() && !err.contains("panicked"), "{more:?}");
    }
}

#[test]
fn help_teaches_the_field() {
    for (command, parts) in [
        ("sim", &["--field walkers", "[faults]", "--pcap run.pcapng", "the same for every algorithm"][..]),
        ("soak", &["--field", "--nodes", "a tenth of all frames", "klme-ft", "crash"]),
        ("traffic", &["AODV", "Examples:", "Exit codes"]),
    ] {
        let said = driftlock(&[command, "--help"]);
        for part in parts {
            assert!(said.code == 0 && one_line(&said.out).contains(part), "{part:?} is missing in\n{}", said.out);
        }
        // A sentence that is broken where it was written and once more where the terminal ends is not for reading.
        let stub = |line: &&str| !line.is_empty() && !line.starts_with(' ') && line.len() < 40;
        let ends = |line: &str| line.ends_with(['.', ':']) || line.starts_with("Usage");
        let stubs: Vec<_> = said.out.lines().skip(1).filter(stub).filter(|line| !ends(line)).collect();
        assert!(stubs.is_empty(), "{stubs:?} in\n{}", said.out);
    }
}

#[test]
fn waits_that_have_not_ended_are_said_not_to_be_in_the_mean() {
    let scratch = Scratch::new("field-halves");
    let halves = r#"
area = { width = 40, height = 40 }
movement = { model = "static", points = [[5, 5], [10, 5], [15, 5], [20, 5]] }
"#;
    let cut = "[[fault]]\nat = 0.0\nkind = \"partition\"\nline = { from = [12, 0], to = [12, 40] }\nlasts = 1e5\n";
    let sim = |file: &str| {
        let typed = "sim --algorithm hok --nodes 4 --k 1 --load 0.05 --entries 50 --warmup 5 --replications 1 --field";
        driftlock(&[&typed.split(' ').collect::<Vec<_>>()[..], &[file]].concat())
    };
    let told = "not in the waits above, and longer than any";
    let one = sim(&scratch.write("halves.toml", &format!("{halves}{cut}")));
    assert!(one.code == 0 && one.out.contains(told), "{}", one.out);
    let whole = sim(&scratch.write("whole.toml", halves));
    assert!(whole.code == 0 && !whole.out.contains(told), "{}", whole.out);
}

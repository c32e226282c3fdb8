//! The binary from outside: what is typed, what is printed, and the exit code.

mod outside;

use std::fs;
use std::path::Path;
use std::process::Command;

use outside::{Said, Scratch, driftlock};
use serde_json::Value;

const QUICK: [&str; 7] = ["sim", "--entries", "200", "--warmup", "50", "--replications", "2"];

fn quick(more: &[&str]) -> Said {
    driftlock(&[&QUICK[..], more].concat())
}

#[test]
fn list_names_every_algorithm_and_shows_one() {
    let said = driftlock(&["list"]);
    assert_eq!(said.code, 0);
    for tag in ["krl ", "krlf ", "krlf-adaptive ", "rl "] {
        assert!(said.out.lines().any(|line| line.starts_with(tag)), "{tag:?} is missing in\n{}", said.out);
    }
    let said = driftlock(&["list", "krlf"]);
    assert!(said.out.contains("Walter") && said.out.contains("pending-request"));
    let said = driftlock(&["list", "klme-ft"]);
    assert!(said.out.contains("Khanna") && !said.out.contains("late-dismissals"), "{}", said.out);
    assert!(said.out.contains("lost messages") && said.out.contains("lost its disk"), "{}", said.out);
    let [krl, klme] = ["krl", "klme"].map(|tag| driftlock(&["list", tag]).out);
    assert!(krl.contains("killed and comes back") && !krl.contains("lost messages"), "{krl}");
    assert!(klme.contains("It claims to stand nothing beyond what its paper assumes"), "{klme}");
    assert_eq!(driftlock(&["list", "paxos"]).code, 2);
}

#[test]
fn the_same_command_prints_the_same_bytes_on_any_number_of_threads() {
    let command = "--algorithm krlf --nodes 30 --k 3 --load 0.1 --connectivity 0.2 --mobility 0.02 --seed 7";
    let words: Vec<&str> = command.split(' ').collect();
    let print = |threads: &[&str]| quick(&[&words[..], threads].concat()).out;
    assert_eq!(print(&[]), print(&[]));
    assert_eq!(print(&["--threads", "1"]), print(&["--threads", "2"]));
}

#[test]
fn the_json_has_its_documented_keys() {
    let said = quick(&["--format", "json"]);
    let json: Value = serde_json::from_str(&said.out).expect("one JSON object");
    let documented = include_str!("../../../docs/results.md");
    for key in [
        "entries",
        "wait.mean",
        "wait.ci95",
        "wait.p50",
        "wait.p90",
        "wait.p95",
        "wait.p99",
        "wait.max",
        "wait.zero_share",
        "messages_per_entry",
        "messages_per_entry_ci95",
        "transmissions_per_entry",
        "transmissions_per_entry_ci95",
        "hops",
        "synchronisation_delay.mean",
        "synchronisation_delay.ci95",
        "synchronisation_delay.p50",
        "synchronisation_delay.p95",
        "synchronisation_delay.max",
        "synchronisation_delay.above_2t",
        "synchronisation_delay.above_2t_ci95",
        "jain",
        "idle_token_share",
        "utilisation",
        "concurrency.mean",
        "concurrency.ci95",
        "span",
        "waiting_at_end",
        "longest_open_wait",
        "overdue_at_end",
        "events",
        "seed",
        "violations",
        "config.load",
    ] {
        let value = json.pointer(&format!("/{}", key.replace('.', "/")));
        assert!(value.is_some_and(Value::is_number), "{key} is {value:?}");
        assert!(documented.contains(&format!("`{key}`")), "{key} is not in docs/results.md");
    }
    assert!(json["messages_by_kind"]["token"].is_number());
    assert_eq!((json["entries"].as_u64(), json["violations"].as_u64()), (Some(400), Some(0)));
}

#[test]
fn neighbourhoods_have_documented_results() {
    let documented = include_str!("../../../docs/results.md");
    let flags = "--algorithm klme --nodes 40 --neighbourhoods 2 --contention 50 --delay 0.1 --churn heavy";
    let flags: Vec<&str> = flags.split(' ').collect();
    let json: Value = serde_json::from_str(&quick(&[&flags[..], &["--format", "json"]].concat()).out).expect("JSON");
    for key in [
        "crossings.departures",
        "crossings.left_waiting",
        "crossings.handovers",
        "crossings.interruption.mean",
        "crossings.wait_per_request.mean",
        "crossings.wait_per_request.ci95",
    ] {
        let value = json.pointer(&format!("/{}", key.replace('.', "/")));
        assert!(value.is_some_and(Value::is_number), "{key} is {value:?}");
        assert!(documented.contains(&format!("`{key}`")), "{key} is not in docs/results.md");
    }
    assert!(json["wait_inside"]["mean"].is_number() && documented.contains("`wait_inside`"));
    assert_eq!((json["config"]["churn"].as_str(), json["config"]["load"].as_f64()), (Some("heavy"), Some(1.0)));
    let text = quick(&flags).out;
    for line in [
        "klme on 40 nodes with k = 3: load 1 (50% contention), 2 neighbourhoods, churn heavy (a rate of 0.2), absence 0",
        "  where it was served",
        "waited per request, in all",
    ] {
        assert!(text.contains(line), "{line:?} is missing in\n{text}");
    }
    let krl = quick(&["--format", "json"]).out;
    assert!(!krl.contains("crossings") && !krl.contains("wait_inside"), "of links there is nothing to say");
}

const DEMANDS: &str = "--algorithm hok --k 5 --units 1..3 --priorities 0..11 --deadlines exponential:50";

#[test]
fn demands_of_several_kinds_have_documented_results() {
    let demands: Vec<&str> = DEMANDS.split(' ').collect();
    let said = quick(&[&demands[..], &["--format", "json"]].concat());
    let json: Value = serde_json::from_str(&said.out).expect("one JSON object");
    for key in [
        "wait_by_priority.11.mean",
        "wait_by_priority.0.entries",
        "wait_by_units.3.p99",
        "units_in_use.0",
        "units_in_use.5",
        "deadline_miss_ratio",
        "deadline_miss_ratio_ci95",
        "priority_inversions",
        "priority_inversions_ci95",
    ] {
        let value = json.pointer(&format!("/{}", key.replace('.', "/")));
        assert!(value.is_some_and(Value::is_number), "{key} is {value:?}");
        let name = key.split('.').next().expect("a word");
        assert!(include_str!("../../../docs/results.md").contains(&format!("`{name}")), "{name} is not documented");
    }
    let csv = quick(&[&demands[..], &["--format", "csv"]].concat()).out;
    let header = csv.lines().next().expect("a header");
    for column in ["units", "deadlines", "wait_by_priority.11.mean", "wait_by_units.1.entries", "units_in_use.5"] {
        assert!(header.split(',').any(|name| name == column), "{column} is missing in {header}");
    }
    let text = quick(&demands).out;
    for part in ["units per request 1..3, priorities 0..11, deadlines exponential:50", "deadlines missed", "  2 units"]
    {
        assert!(text.contains(part), "{part:?} is missing in\n{text}");
    }
    assert!(
        text.contains("  priority 11") && !text.contains("  priority 10"),
        "of many classes only the ends:\n{text}"
    );
    assert!(!quick(&[]).out.contains("units per request"), "the usual needs no mention");
}

#[test]
fn a_priority_that_is_listed_twice_is_asked_with_twice_as_often() {
    let said = quick(&["--algorithm", "hok", "--priorities", "1,1,2", "--units", "1,1,1,2", "--format", "json"]);
    let json: Value = serde_json::from_str(&said.out).expect("one JSON object");
    let entries = |class: &str, of: &str| json[class][of]["entries"].as_f64().expect("a number");
    let (priorities, units) = ([1, 2].map(|p| entries("wait_by_priority", &p.to_string())), [1, 2]);
    let units = units.map(|u| entries("wait_by_units", &u.to_string()));
    assert!((1.6..2.5).contains(&(priorities[0] / priorities[1])), "{priorities:?}");
    assert!((2.3..4.0).contains(&(units[0] / units[1])), "{units:?}");
}

#[test]
fn a_trace_of_several_kinds_of_demands_is_rerun() {
    let scratch = Scratch::new("demands");
    let trace = scratch.path("run.jsonl");
    let demands: Vec<&str> = DEMANDS.split(' ').collect();
    assert_eq!(quick(&[&demands[..], &["--trace", &trace]].concat()).code, 0);
    for args in [&["replay", &trace][..], &["replay", "--rerun", &trace]] {
        let said = driftlock(args);
        assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    }
}

#[test]
fn results_go_to_files_as_csv_and_parquet() {
    let scratch = Scratch::new("formats");
    let (csv, parquet) = (scratch.path("run.csv"), scratch.path("run.parquet"));
    assert_eq!(quick(&["--format", "csv", "--output", &csv]).code, 0);
    let text = fs::read_to_string(&csv).expect("written");
    let header = text.lines().next().expect("a header");
    for column in ["run", "algorithm", "load", "seed", "wait.mean", "messages_by_kind.token"] {
        assert!(header.split(',').any(|name| name == column), "{column} is missing in {header}");
    }
    assert_eq!(text.lines().count(), 2);
    assert_eq!(quick(&["--output", &csv]).code, 0);
    assert_eq!(fs::read_to_string(&csv).expect("written"), text, "the name tells the format");
    assert_eq!(quick(&["--output", &parquet]).code, 0);
    assert!(fs::read(parquet).expect("written").starts_with(b"PAR1"));
    let said = quick(&["--format", "parquet"]);
    assert!(said.code == 2 && said.err.contains("--output"));
}

#[test]
fn parameters_come_from_a_file_and_flags_win() {
    let scratch = Scratch::new("config");
    let file = scratch
        .write("net.toml", "algorithm = \"krlf\"\nnodes = 12\nk = 2\nconnectivity = 0.5\ndelay = \"exponential:1\"\n");
    let said = quick(&["--config", &file, "--k", "4", "--format", "json"]);
    let json: Value = serde_json::from_str(&said.out).expect("one JSON object");
    let config = &json["config"];
    assert_eq!((config["algorithm"].as_str(), config["k"].as_u64()), (Some("krlf"), Some(4)));
    assert_eq!((config["nodes"].as_u64(), config["delay"].as_str()), (Some(12), Some("exponential:1")));
}

/// With beats twenty times as often, the leader of klme-ft has twenty times as much to say.
#[test]
fn constants_are_listed_set_and_told_with_the_results() {
    let list = driftlock(&["list", "klme-ft"]).out;
    assert!(list.contains("beat") && list.contains("10 s  from one beat"), "{list}");
    assert!(!driftlock(&["list", "klme"]).out.contains("--constant"));
    let config = "algorithm = \"klme-ft\"\nload = 0.01\nk = 1\ndelay = 0.01\n[constants]\nbeat = 0.5\nlease = 5\n";
    let scratch = Scratch::new("constants");
    let file = scratch.write("often.toml", config);
    let sent = |more: &[&str]| {
        let said = quick(&[&["--config", &file, "--format", "json"], more].concat());
        let json: Value = serde_json::from_str(&said.out).expect(&said.err);
        (json["messages_per_entry"].as_f64().expect("a number"), json["config"]["constants"]["beat"].as_f64())
    };
    let (often, rarely) = (sent(&[]), sent(&["--constant", "beat=4"]));
    assert!(often.0 > 2.0 * rarely.0, "{often:?} {rarely:?}");
    assert_eq!((often.1, rarely.1), (Some(0.5), Some(4.0)), "flags win");
    let csv = quick(&["--config", &file, "--format", "csv"]).out;
    assert!(csv.lines().next().is_some_and(|names| names.contains(",constants.beat,constants.lease")), "{csv}");
    assert!(quick(&["--config", &file]).out.contains(", beat = 0.5, lease = 5\n"));
}

#[test]
fn a_run_with_constants_is_recorded_and_done_again() {
    let scratch = Scratch::new("constants-again");
    let trace = scratch.path("run.jsonl");
    let brisk = ["--constant", "beat=1", "--constant", "lease=4", "--trace", &trace];
    let few = ["--entries", "30", "--warmup", "0", "--replications", "1"];
    let sim = [&["sim", "--algorithm", "klme-ft", "--delay", "0.05"], &few[..]].concat();
    let soak = ["soak", "klme-ft", "--seed", "7", "--runs", "1"];
    let check =
        ["check", "klme-ft", "--timed", "--tick", "2s", "--ignore", "service", "--crossings", "0", "--without", "bond"];
    for (command, rerun) in [(&sim[..], true), (&soak, true), (&check, false)] {
        let said = driftlock(&[command, &brisk].concat());
        assert!(rerun == (said.code == 0), "{command:?} says {} {}", said.out, said.err);
        let text = fs::read_to_string(&trace).expect("a trace");
        assert!(text.starts_with("{\"format\"") && text.contains("\"constants\":{\"beat\":1.0,\"lease\":4.0}"));
        assert_eq!(driftlock(&["replay", &trace]).code, 0);
        let again = driftlock(&["replay", "--rerun", &trace]);
        assert!(rerun == (again.code == 0), "{}", again.out);
        let unset = text.replacen("\"constants\":{\"beat\":1.0,\"lease\":4.0},", "", 1);
        assert_eq!(driftlock(&["replay", &scratch.write("unset.jsonl", &unset)]).code, 1, "they make a difference");
    }
}

#[test]
fn constants_that_make_no_sense_are_refused_by_every_command() {
    for (set, says) in [
        ("lease=9", "klme-ft: a lease of 9 s would be over before the next beat, after 10 s"),
        ("bate=9", "klme-ft: the algorithm has no constant \"bate\": it has beat, lease, drift,"),
        ("copies=1.5", "klme-ft: copies = 1.5: it must be a whole number from 1 to 9"),
        ("beat=2s", "\"2s\" is no number; times are in seconds, without a unit"),
    ] {
        for command in [&["sim", "--algorithm", "klme-ft"][..], &["soak", "klme-ft"], &["check", "klme-ft"]] {
            let said = driftlock(&[command, &["--constant", set]].concat());
            let err = said.err.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ");
            assert!(said.code == 2 && err.contains(says), "{command:?} {set} says {err}");
        }
    }
    for command in [&["sim", "--algorithm", "klme-ft"][..], &["soak", "klme-ft"], &["check", "klme-ft"]] {
        let said = driftlock(&[command, &["--constant", "beat=5", "--constant", "beat=6"]].concat());
        assert!(said.code == 2 && said.err.contains("--constant sets beat twice"), "{command:?} says {}", said.err);
    }
}

#[test]
fn rl_shares_one_unit_without_being_told() {
    let said = quick(&["--algorithm", "rl"]);
    assert!(said.code == 0 && said.out.contains("with k = 1"), "{}{}", said.out, said.err);
    let alone = quick(&["--algorithm", "rl", "--nodes", "1"]);
    assert!(alone.code == 0 && alone.out.contains("with k = 1"), "{}{}", alone.out, alone.err);
}

#[test]
fn links_may_stand_in_a_file() {
    let scratch = Scratch::new("links");
    let numbers = |topology: &str| {
        let said = quick(&["--nodes", "4", "--k", "1", "--topology", topology]);
        assert_eq!(said.code, 0, "{topology}: {}", said.err);
        said.out.lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    let ring = scratch.write("ring.links", "# four in a ring\n0-1\n1-2 2-3\n0-3 # closed\n");
    assert_eq!(numbers(&ring), numbers("ring"));
    let apart = scratch.write("apart.links", "0-1\n2-3\n");
    let said = quick(&["--nodes", "4", "--k", "1", "--topology", &apart]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("node 2 cannot be reached from node 0"), "{}", said.err);
    let broken = scratch.write("broken.links", "0-1\n1:2\n");
    let said = quick(&["--nodes", "4", "--k", "1", "--topology", &broken]);
    assert!(said.code == 2 && said.err.contains("\"1:2\" is neither"), "{}", said.err);
}

#[test]
fn bad_input_gets_a_clear_sentence_and_exit_code_2() {
    for (args, says) in [
        (&["--k", "0"][..], "k must be from 1"),
        (&["--nodes", "0"], "nodes must be from 1"),
        (&["--nodes", "3", "--connectivity", "1", "--k", "3"], "k = 3 and n = 3"),
        (&["--nodes", "-4"], "invalid value '-4' for '--nodes"),
        (&["--load", "-1"], "load must be a finite number from 0.000001 to 1000000, not -1"),
        (&["--load", "NaN"], "load must be a finite number from 0.000001 to 1000000, not NaN"),
        (&["--mobility", "inf"], "mobility must be a finite number"),
        (&["--churn", "light"], "krl has no churn: that is for algorithms that stand on neighbourhoods"),
        (
            &["--algorithm", "klme", "--mobility", "1"],
            "klme has no mobility: that is for algorithms that stand on links",
        ),
        (&["--algorithm", "klme", "--churn", "much"], "is no churn"),
        (&["--algorithm", "klme", "--churn", "1", "--speed", "1"], "two ways to move"),
        (&["--algorithm", "klme", "--areas", "discs"], "are no areas"),
        (&["--contention", "100"], "contention must be a finite number above 0 and below 100"),
        (&["--contention", "50", "--load", "1"], "cannot be used with"),
        (&["--delay", "-1"], "is no duration"),
        (&["--delay", "gauss:1"], "is no duration"),
        (&["--delay", "0"], "the mean delay must be a finite number from 0.000001"),
        (&["--connectivity", "0.01"], "too small to connect 30 nodes"),
        (&["--connectivity", "7"], "connectivity must be a finite number from 0 to 1"),
        (&["--algorithm", "paxos"], "there is no algorithm \"paxos\"; there are krl, krlf"),
        (&["--without", "glue"], "krl has no repair \"glue\"; it has holder-lowers"),
        (&["--algorithm", "klme-ft", "--without", "bond"], "a rule of its own, which only check and soak switch off"),
        (
            &["--algorithm", "klme-ft", "--without", "glue"],
            "klme-ft has no repair \"glue\"; docs/papers/klme-ft.md has its own rules",
        ),
        (&["--link-info", "loud"], "is no LinkInfo rule"),
        (&["--replications", "0"], "replications must be from 1 to 10000"),
        (&["--entries", "0"], "entries must be from 1"),
        (&["--algorithm", "rl", "--k", "2"], "exactly one unit"),
        (&["--algorithm", "hok", "--units", "0"], "units must be from 1 to k = 3, not 0"),
        (&["--units", "4..1"], "\"4..1\" is no choice of numbers"),
        (&["--units", "-1"], "\"-1\" is no choice of numbers"),
        (&["--algorithm", "hok", "--units", "1..9"], "units must be from 1 to k = 3, not 1..9"),
        (
            &["--units", "2"],
            "krl grants one unit at a time, but units = 2; several are granted by hok, hok-strict, hok-fewest, hok-edf, hok-fcfs",
        ),
        (&["--priorities", "high"], "is no choice of numbers"),
        (&["--priorities", "0..64"], "at most 64 are told apart"),
        (&["--deadlines", "soon"], "\"soon\" is no time until a deadline: write none"),
        (&["--deadlines", "1e300"], "the mean time until a deadline must be"),
        (&["--config", "no-such-file.toml"], "cannot read no-such-file.toml"),
        (&["--trace", "no-such-folder/run.jsonl"], "cannot write no-such-folder/run.jsonl"),
        (&["--seed", "-1"], "invalid value '-1' for '--seed"),
        (&["--load", "-inf"], "load must be a finite number"),
        (&["--load", "1e-300"], "load must be a finite number"),
        (&["--delay", "1e300"], "the mean delay must be"),
        (&["--replications", "4294967295"], "replications must be from 1 to 10000"),
        (&["--nodes", "100000", "--connectivity", "1"], "links are too many"),
        (&["--threads", "100000"], "a number of threads is from 0"),
        (&["--frobnicate"], "--frobnicate"),
        (&["--churn", "none"], "krl has no churn: that is for algorithms that stand on neighbourhoods"),
        (&["--algorithm", "klme", "--connectivity", "0.2"], "klme has no connectivity"),
        (&["--field", "walkers", "--delay", "1"], "delay has no meaning on a field"),
        (&["--link-failure", "returned"], "no link fails without mobility; give --mobility"),
        (&["--algorithm", "klme", "--absence", "3"], "nobody is away without churn; give --churn"),
        (&["--algorithm", "klme", "--spacing", "30"], "give --speed as well"),
        (&["--algorithm", "hok", "--link-info", "repaired"], "hok has no LinkInfo rule"),
        (&["--link-info", "repaired", "--as-published"], "contradict each other"),
        (&["--as-published", "--without", "pace"], "cannot be used with"),
        (&["--algorithm", "klme-ft", "--as-published"], "klme-ft is not from a paper"),
        (&["--topology", "torus"], "\"torus\" is neither a topology (there are random, complete, line, ring, star)"),
        (&["--topology", "0-1,1-99"], "topology: the link 1-99 leads to a node that does not exist: there are 30"),
        (&["--topology", "ring", "--connectivity", "0.2"], "connectivity is for random graphs"),
        (&["--algorithm", "klme", "--topology", "line"], "klme has no topology"),
        (&["--field", "walkers", "--topology", "line"], "topology has no meaning on a field"),
        (&["--load-of", "99=1"], "load_of speaks of node 99, but there are 30 nodes, counted from 0"),
        (&["--load-of", "3"], "write the number of a node, =, and the value"),
        (&["--load-of", "3=-1"], "load_of must be a finite number from 0.000001 to 1000000, not -1"),
        (&["--load-of", "3=1", "--load-of", "3=2"], "--load-of speaks of node 3 twice: leave one out"),
        (&["--priority-of", "3=5"], "krl does not go by priorities, so priority_of means nothing to it"),
        (&["--algorithm", "hok", "--priority-of", "3=high"], "is no choice of numbers"),
        (&["--trace-replication", "1"], "nothing is recorded; give --trace, --pcap or --view"),
        (&["--port", "8080"], "there is no page to serve; give --view"),
        (&["--view", "--format", "json"], "cannot be used with"),
    ] {
        let said = driftlock(&[&["sim"][..], args].concat());
        let err = said.err.split_whitespace().collect::<Vec<_>>().join(" ").replace(" │ ", " ");
        assert_eq!(said.code, 2, "{args:?} says {err}");
        assert!(err.contains(says), "{args:?} says {err}");
        assert!(said.out.is_empty() && !err.contains("panicked"), "{args:?}");
    }
}

#[test]
fn malformed_toml_is_shown_with_line_and_column() {
    let scratch = Scratch::new("toml");
    for (text, says) in [
        ("nodes = 30\nk = = 3\n", "line 2, column 5"),
        ("nodes = 30\nk = \"three\"\n", "line 2, column 5"),
        ("nodes = 30\nhaste = 3\n", "line 2, column 1"),
        ("churn = \"much\"\n", "line 1, column 9"),
        ("areas = \"hexagons\"\n", "line 1, column 9"),
        ("delay = \"gauss:1\"\n", "line 1, column 9"),
        ("units = \"4..1\"\n", "line 1, column 9"),
        ("deadlines = \"soon\"\n", "line 1, column 13"),
    ] {
        let file = scratch.write("bad.toml", text);
        let said = driftlock(&["sim", "--config", &file]);
        assert_eq!(said.code, 2);
        let err = said.err.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ");
        assert!(err.contains(says), "{text:?} says {err}");
    }
    let file = scratch.write("sense.toml", "k = 0\n");
    let said = driftlock(&["sim", "--config", &file]);
    assert!(said.code == 2 && said.err.contains("k must be from 1"), "{}", said.err);
}

#[test]
fn a_trace_is_written_replayed_and_rerun() {
    let scratch = Scratch::new("trace");
    for file in ["run.jsonl", "run.jsonl.zst"] {
        let trace = scratch.path(file);
        let more = ["--algorithm", "krlf", "--mobility", "0.05", "--trace", &trace, "--trace-replication", "1"];
        assert_eq!(quick(&more).code, 0);
        let said = driftlock(&["replay", &trace]);
        assert!(said.code == 0 && said.out.contains("every output is the same"), "{}{}", said.out, said.err);
        let said = driftlock(&["replay", "--rerun", &trace]);
        assert!(said.code == 0 && said.out.contains("the same trace again"), "{}{}", said.out, said.err);
    }
}

#[test]
fn a_rerun_compares_every_byte_and_names_the_first_line_that_differs() {
    let scratch = Scratch::new("bytes");
    let trace = scratch.path("run.jsonl");
    assert_eq!(quick(&["--trace", &trace]).code, 0);
    let text = fs::read_to_string(&trace).expect("written");
    let lines = text.lines().count();
    let cut = text.lines().take(9).map(|line| line.to_owned() + "\n").collect::<String>();
    for (other, says) in [
        (text.replace('\n', "\r\n"), "line 1 came out differently".to_owned()),
        (text.replacen("],\"", "], \"", 1), "line 1 came out differently".into()),
        (text.replacen("{\"t\":", "{\"more\":0,\"t\":", 1), "line 2 came out differently".into()),
        (text.trim_end().into(), format!("line {lines} came out differently")),
        (format!("{text}garbage"), format!("line {} is there", lines + 1)),
        (format!("{text}\n"), format!("line {} is there", lines + 1)),
        (text.repeat(2), format!("line {} is there", lines + 1)),
        (cut, "it ends after line 9".into()),
    ] {
        fs::write(&trace, other).expect("written");
        let said = driftlock(&["replay", "--rerun", &trace]);
        assert!(said.code == 1 && said.out.contains(&says), "{says}: {}{}", said.out, said.err);
    }
}

#[test]
fn a_trace_of_a_run_with_awkward_numbers_is_rerun() {
    let scratch = Scratch::new("awkward");
    let trace = scratch.path("run.jsonl");
    assert_eq!(quick(&["--load", "0.017915360495035692", "--trace", &trace]).code, 0);
    assert_eq!(driftlock(&["replay", "--rerun", &trace]).code, 0);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_and_not_a_panic() {
    let scratch = Scratch::new("full");
    let trace = scratch.path("run.jsonl");
    assert_eq!(quick(&["--trace", &trace]).code, 0);
    for args in [&["list"][..], &["soak", "krl", "--runs", "2"], &["replay", &trace], &["replay", "--rerun", &trace]] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
        let status =
            Command::new(env!("CARGO_BIN_EXE_driftlock")).args(args).stdout(full).output().expect("it runs").status;
        assert_eq!(status.code(), Some(2), "{args:?}");
    }
    let said = quick(&["--trace", "/dev/full"]);
    assert!(said.code == 2 && said.err.contains("cannot write /dev/full"), "{}", said.err);
}

#[test]
fn a_trace_that_was_tampered_with_is_a_violation_and_a_damaged_one_can_not_be_run() {
    let scratch = Scratch::new("tampered");
    let trace = scratch.path("run.jsonl");
    assert_eq!(quick(&["--trace", &trace]).code, 0);
    let text = fs::read_to_string(&trace).expect("written");
    fs::write(&trace, text.replacen("\"grant\":{\"permits\":[0]", "\"grant\":{\"permits\":[1]", 1)).expect("written");
    for args in [&["replay", &trace][..], &["replay", "--rerun", &trace]] {
        let said = driftlock(args);
        assert!(said.code == 1 && said.out.contains("came out differently"), "{}{}", said.out, said.err);
    }
    fs::write(&trace, text.replacen("\"tokens\":\"each\"", "\"tokens\":\"one\"", 1)).expect("written");
    let said = driftlock(&["replay", &trace]);
    let says = "line 1 came out differently, in resources[0].tokens\n  recorded: \"one\"\n  replayed: \"each\"\n";
    assert!(said.code == 1 && said.out.ends_with(says), "{}{}", said.out, said.err);
    let without_a_step: Vec<_> = text.lines().enumerate().filter(|(at, _)| *at != 1).map(|(_, line)| line).collect();
    fs::write(&trace, without_a_step.join("\n") + "\n").expect("written");
    assert_ne!(driftlock(&["replay", &trace]).code, 0, "a step is missing");
    fs::write(&trace, &text[..text.len() / 2]).expect("written");
    let said = driftlock(&["replay", &trace]);
    assert!(said.code == 2 && said.err.contains("truncated"), "{}", said.err);
    assert_eq!(driftlock(&["replay", &scratch.path("none.jsonl")]).code, 2);
}

#[test]
fn a_violation_exits_1_and_says_how_to_record_it() {
    let scratch = Scratch::new("violation");
    let broken =
        "--without reclaim --link-failure returned --mobility 5 --nodes 6 --k 1 --connectivity 0.6 --load 1 --check";
    let said = quick(&broken.split(' ').collect::<Vec<_>>());
    assert_eq!(said.code, 1, "{}", said.err);
    let command = said.err.lines().find(|line| line.contains("--trace violation.jsonl")).expect("the command");
    let trace = scratch.path("violation.jsonl");
    let words: Vec<_> =
        command.split_whitespace().skip(1).map(|word| if word == "violation.jsonl" { &trace } else { word }).collect();
    assert_eq!(driftlock(&words).code, 1, "{command}");
    let said = driftlock(&["replay", &trace]);
    assert!(said.code == 0 && said.out.contains("ended with a violation"), "{}{}", said.out, said.err);
}

#[test]
fn soak_counts_the_runs_that_do_not_come_to_rest() {
    let at_rest = |words: &str| {
        let said = driftlock(&words.split(' ').collect::<Vec<_>>());
        assert_eq!(said.code, 0, "{}{}", said.out, said.err);
        said.out.lines().find(|line| line.starts_with("at rest")).map(str::to_owned)
    };
    let restless = |words: &str| {
        let line = at_rest(words).expect("a line about rest");
        line.split("all but ").last().and_then(|rest| rest.split(' ').next()?.parse::<u64>().ok()).expect("a number")
    };
    assert_eq!(restless("soak krl --runs 20"), 0);
    assert_eq!(restless("soak krlf --runs 20"), 20, "its tokens go round");
    assert_eq!(restless("soak klme-ft --seed 20 --runs 1"), 0);
    assert_eq!(restless("soak klme-ft --seed 20 --runs 1 --without ghosts"), 1);
    assert_eq!(at_rest("soak krl --field --runs 1"), None, "nodes on a field say hello for ever");
}

#[test]
fn soak_holds_for_the_repaired_and_names_the_seed_for_the_broken() {
    let said = driftlock(&["soak", "krl", "--runs", "100"]);
    assert!(said.code == 0 && said.out.contains("krl: 100 runs held"), "{}{}", said.out, said.err);
    let said = driftlock(&["soak", "krl", "--without", "pending-request"]);
    assert!(said.code == 1 && said.out.contains("violated with seed"), "{}{}", said.out, said.err);
    let scratch = Scratch::new("soak");
    let trace = scratch.path("violation.jsonl");
    let command = said.out.lines().find(|line| line.contains("--trace")).expect("the command");
    let words: Vec<_> =
        command.split_whitespace().skip(1).map(|word| if word == "violation.jsonl" { &trace } else { word }).collect();
    assert_eq!(driftlock(&words).code, 1);
    assert_eq!(driftlock(&["replay", "--rerun", &trace]).code, 0);
    let said = driftlock(&["soak", "krl", "--without", "glue"]);
    assert!(said.code == 2 && said.err.contains("krl has no repair \"glue\""), "{}", said.err);
    assert_eq!(driftlock(&["soak", "krl", "--seed", "18446744073709551614", "--runs", "3"]).code, 2);
    let said = driftlock(&["soak", "krl", "--seed", "18446744073709551614", "--runs", "2"]);
    assert!(said.code == 0 && said.out.contains("seeds 18446744073709551614 to 18446744073709551615"), "{}", said.err);
    assert_eq!(driftlock(&["soak", "rl", "--crowded"]).code, 2);
    assert_eq!(driftlock(&["soak", "krl", "--runs", "0"]).code, 2);
}

#[test]
fn runs_of_a_soak_that_do_not_count_did_not_hold() {
    let krl = |more: &str| driftlock(&format!("soak krl --nodes 3 {more}").split(' ').collect::<Vec<_>>());
    let said = krl("--seed 182 --runs 1");
    let err = said.err.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ");
    assert!(said.code == 2 && said.out.is_empty(), "{}", said.out);
    assert!(err.contains("krl: no run counts, seed 182: ") && err.contains("give more --runs"), "{err}");
    let said = krl("--seed 182 --runs 2");
    assert!(said.code == 0 && said.out.starts_with("krl: 1 run held, seeds 182 to 183; "), "{}", said.out);
    assert!(said.out.contains("; 1 run does not count, as nothing was granted before all"), "{}", said.out);
    let said = krl("--seed 183 --runs 1");
    assert!(said.code == 0 && !said.out.contains(" count"), "{}", said.out);
}

#[test]
fn what_did_not_happen_in_a_soak_is_said_if_it_could_have_and_is_no_violation() {
    let klme_ft = |more: &str| driftlock(&format!("soak klme-ft {more}").split(' ').collect::<Vec<_>>());
    let said = klme_ft("--nodes 3 --runs 1000");
    assert!(said.code == 0 && said.out.contains(" crashes, ") && !said.out.contains("but there"), "{}", said.out);
    let said = klme_ft("--crowded --runs 200");
    let says = "but there were no resumed applications in any of these runs, so they say nothing about that\n";
    assert!(said.code == 0 && said.out.ends_with(says), "{}", said.out);
}

fn files(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn reproduce_writes_figures_tables_and_a_report() {
    let scratch = Scratch::new("reproduce");
    let out = scratch.path("out");
    let said = driftlock(&["reproduce", "fig8", "fig9", "--out", &out, "--entries", "100", "--replications", "2"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.out.contains("KRLF is not sensitive to network connectivity"));
    assert_eq!(
        files(Path::new(&out)),
        [
            "krl-fig8-published.svg",
            "krl-fig8-repaired.svg",
            "krl-fig8.csv",
            "krl-fig8.parquet",
            "krl-fig9-published.svg",
            "krl-fig9-repaired.svg",
            "krl-fig9.csv",
            "krl-fig9.parquet",
            "report.html",
        ]
    );
    let report = fs::read_to_string(Path::new(&out).join("report.html")).expect("written");
    for part in ["does not hold", "At a load of 0.1", "2 replications of 100 entries after 500", "<svg", "± "] {
        assert!(report.contains(part), "{part:?} is missing in the report");
    }
    for name in ["fig8", "fig9"] {
        let again = format!("<code>driftlock reproduce {name} --entries 100 --replications 2 --out krl-{name}</code>");
        assert!(report.contains(&again), "{again} is missing in the report");
    }
    let claims = said.out.lines().filter_map(|line| line.split_once(" [")).map(|(claim, _)| &claim[15..]);
    assert!(claims.clone().count() > 3 && claims.clone().all(|claim| report.contains(claim)));
    assert!(!report.contains("http:") && !report.contains("https:") && !report.contains(" src="));
}

#[test]
fn the_command_of_a_figure_does_it_again() {
    let scratch = Scratch::new("again");
    let [all, one] = ["all", "one"].map(|folder| scratch.path(folder));
    let few = ["--entries", "50", "--replications", "2"];
    assert_eq!(driftlock(&[&["reproduce", "fig8", "fig9", "--out", &all], few.as_slice()].concat()).code, 0);
    assert_eq!(driftlock(&[&["reproduce", "fig9", "--out", &one], few.as_slice()].concat()).code, 0);
    for file in ["krl-fig9-repaired.svg", "krl-fig9-published.svg", "krl-fig9.csv"] {
        let read = |folder: &str| fs::read(Path::new(folder).join(file)).expect("written");
        assert!(read(&all) == read(&one), "{file} differs");
    }
}

#[test]
fn reproduce_takes_experiment_files_and_refuses_bad_ones() {
    let scratch = Scratch::new("experiment");
    let good = "name = \"mine\"\ntitle = \"Mine\"\nabout = \"A test.\"\n[base]\nnodes = 8\nconnectivity = 0.5\nk = 1\n[vary]\nalgorithm = [\"krl\"]\nmobility = [0.0]\nload = [0.1, 0.2]\n[figure]\nx = \"load\"\nx_label = \"load\"\ny = \"jain\"\ny_label = \"Jain's index\"\ncolour = { by = \"algorithm\", names = [\"KRL\"] }\nline = { by = \"mobility\", names = [\"zero\"] }\n";
    let out = scratch.path("out");
    let run = |file: &str| driftlock(&["reproduce", file, "--out", &out, "--entries", "50", "--replications", "1"]);
    let said = run(&scratch.write("mine.toml", good));
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(files(Path::new(&out)).contains(&"mine.svg".to_owned()));
    let report = fs::read_to_string(Path::new(&out).join("report.html")).expect("written");
    assert!(!report.contains("Walter") && !said.out.contains("hold"), "it is nobody's but its author's");
    for (from, to, says) in [
        ("y = \"jain\"", "y = \"joy\"", "there is no result \"joy\"; there are entries, wait, wait_by_priority"),
        ("y = \"jain\"", "y = \"wait.p98\"", "\"wait\" has mean, ci95, p50, p90, p95, p99, max, zero_share"),
        ("y = \"jain\"\n", "", "the figure has nothing to draw"),
        ("x = \"load\"", "x = { keys_of = \"messages_by_kind\" }", "draws one of these, not several"),
        ("by = \"mobility\"", "by = \"mobility\", results = [\"jain\"]", "either by a parameter"),
        ("mobility = [0.0]", "mobility = [0.0]\nk = [1, 2]", "\"k\" varies, but the figure does not tell"),
        ("x = \"load\"", "x = \"lode\"", "needs [vary] to have a list \"lode\""),
        ("[\"zero\"]", "[]", "must name each of the 1 values"),
        ("load = [0.1, 0.2]", "load = [0.1, -0.2]", "bad.toml: load must be a finite number"),
        ("name = \"mine\"", "name = \"../mine\"", "must be of letters"),
        ("name = \"mine\"", "nome = \"mine\"", "line 1, column 1"),
    ] {
        let said = run(&scratch.write("bad.toml", &good.replacen(from, to, 1)));
        let err = said.err.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ");
        assert!(said.code == 2 && err.contains(says), "{to:?} says {err}");
    }
    let twice = scratch.write("twice.toml", good);
    assert!(driftlock(&["reproduce", &twice, &twice]).err.contains("asked for twice"));
}

#[test]
fn reproduce_without_a_name_says_what_there_is() {
    let said = driftlock(&["reproduce"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let help = driftlock(&["reproduce", "--help"]).out;
    for name in ["krl", "Walter, Cao and Mohanty", "fig6", "adaptive-messages", "TOML"] {
        assert!(said.out.contains(name) && help.contains(name), "{name}");
    }
    let said = driftlock(&["reproduce", "fig99"]);
    let err = said.err.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ");
    assert!(said.code == 2 && err.contains("\"fig99\" cannot be reproduced; there are krl (fig6, fig7,"), "{err}");
}

#[test]
fn reproduce_draws_several_results_and_results_by_their_keys() {
    let scratch = Scratch::new("splits");
    let file = |name: &str, figure: &str| {
        let text = format!(
            "name = \"{name}\"\ntitle = \"Mine\"\nabout = \"A test.\"\n[base]\nnodes = 8\nconnectivity = 0.5\nk = 1\n[vary]\n\
             algorithm = [\"krl\", \"krlf\"]\nload = [0.1, 0.2]\n[figure]\nx_label = \"x\"\ny_label = \"y\"\n\
             colour = {{ by = \"algorithm\", names = [\"KRL\", \"KRLF\"] }}\n{figure}\n"
        );
        scratch.write(&format!("{name}.toml"), &text)
    };
    let split = "line = { results = [\"wait.p50\", \"wait.p99\"], names = [\"median\", \"99%\"] }";
    let results = file("results", &format!("x = \"load\"\n{split}"));
    let by_load = "line = { by = \"load\", names = [\"low\", \"high\"] }";
    let keys = file("keys", &format!("x = {{ keys_of = \"messages_by_kind\" }}\n{by_load}"));
    let out = scratch.path("out");
    let said = driftlock(&["reproduce", &results, &keys, "--out", &out, "--entries", "50", "--replications", "2"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let svg = |name: &str| fs::read_to_string(Path::new(&out).join(name)).expect("written");
    assert!(svg("results.svg").contains("KRLF, 99%"));
    assert!(svg("keys.svg").contains("link_info"));
}

fn check(more: &[&str]) -> Said {
    driftlock(&[&["check"], more].concat())
}

#[test]
fn check_needs_no_option_and_says_what_it_looked_at() {
    let said = check(&["krl"]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    for words in ["416,186 states", "every state within the bounds", "not followed: 2,787", "a grant at every node"] {
        assert!(said.out.contains(words), "{words:?} is missing in\n{}", said.out);
    }
}

#[test]
fn check_finds_a_violation_of_every_algorithm_as_published() {
    for tag in ["krl", "krlf", "krlf-adaptive", "rl"] {
        let said = check(&[tag, "--as-published"]);
        assert_eq!(said.code, 1, "{tag}: {}", said.err);
        assert!(said.out.contains("VIOLATED") && said.out.contains("as published"), "{}", said.out);
    }
}

#[test]
fn check_keeps_the_counterexample_as_a_trace_and_as_charts() {
    let scratch = Scratch::new("check");
    let (trace, svg, mermaid) = (scratch.path("c.jsonl"), scratch.path("c.svg"), scratch.path("c.mmd"));
    let said = check(&["krl", "--without", "reclaim", "--trace", &trace, "--chart", &svg, "--chart", &mermaid]);
    assert_eq!(said.code, 1);
    assert!(said.out.contains("req 1; msg 1>0; down 0-1"), "{}", said.out);
    let again = driftlock(&["replay", &trace]);
    assert_eq!(again.code, 0, "{}", again.err);
    assert!(again.out.contains("every output is the same") && again.out.contains("the permits held"), "{}", again.out);
    let rerun = driftlock(&["replay", &trace, "--rerun"]);
    assert_eq!(rerun.code, 2);
    assert!(rerun.err.contains("driftlock check krl"), "{}", rerun.err);
    assert!(fs::read_to_string(svg).unwrap().starts_with("<svg"));
    assert!(fs::read_to_string(mermaid).unwrap().starts_with("sequenceDiagram"));
}

#[test]
fn check_never_claims_a_proof_when_a_limit_ended_it() {
    let wide = ["krlf", "--nodes", "4", "--k", "2", "--requests", "2", "--link-changes", "2"];
    for limit in [["--max-states", "20000"], ["--budget", "300ms"], ["--max-memory", "1MiB"]] {
        let said = check(&[&wide[..], &limit].concat());
        assert_eq!(said.code, 0, "{}", said.err);
        assert!(said.out.contains("not exhaustive") && !said.out.contains("every state"), "{}", said.out);
    }
}

#[test]
fn check_walks_at_random_where_there_are_too_many_states() {
    let wide = ["krlf", "--nodes", "5", "--k", "2", "--topology", "ring", "--walks", "300", "--format", "transcript"];
    let said = check(&wide);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.out.contains("300 random walks") && said.out.contains("prove nothing"), "{}", said.out);
    assert_eq!(said.out, check(&[&wide[..], &["--threads", "1"]].concat()).out);
    let broken = ["krl", "--without", "holder-lowers", "--walks", "300", "--seed", "7", "--format", "transcript"];
    let said = check(&broken);
    assert_eq!(said.code, 1);
    assert_eq!(said.out, check(&broken).out);
}

#[test]
fn check_prints_one_json_object_whose_command_does_the_same_again() {
    let said =
        check(&["krl", "--k", "2", "--topology", "line", "--stay", "1", "--link-changes", "0", "--format", "json"]);
    let object: Value = serde_json::from_str(&said.out).expect("one object");
    assert_eq!(object["holds"], Value::Bool(false));
    assert_eq!(object["violation"]["property"], "service");
    let command = object["command"].as_str().expect("a command").strip_prefix("driftlock ").expect("of ours");
    let words: Vec<_> = command.split(' ').chain(["--format", "json"]).collect();
    let again: Value = serde_json::from_str(&driftlock(&words).out).expect("one object");
    assert_eq!(again["violation"], object["violation"]);
}

#[test]
fn check_says_what_it_could_not_decide() {
    let said = check(&["krl", "--topology", "line", "--without", "pace", "--also", "calm"]);
    assert_eq!(said.code, 0);
    assert!(said.out.contains("undecided:"), "{}", said.out);
    let said = check(&["krlf", "--link-changes", "0", "--safety-only", "--also", "calm"]);
    assert!(said.out.contains("stuck waiters only") && !said.out.contains("calm"), "{}", said.out);
}

#[test]
fn check_takes_several_repairs_in_one_flag_or_in_several() {
    let searched = |flags: &[&str]| check(&[&["krl", "--nodes", "2", "--format", "transcript"], flags].concat()).out;
    let both = searched(&["--without", "pace,reclaim"]);
    assert!(both.contains("krl without pace, reclaim:"), "{both}");
    assert_eq!(both, searched(&["--without", "pace", "--without", "reclaim"]));
}

#[test]
fn check_fails_where_service_says_nothing_of_those_that_wait() {
    // The leader crashes, and the units with it.
    let words: Vec<_> =
        "klme --nodes 2 --crossings 0 --crashes 1 --ignore invariant --ignore conservation".split(' ').collect();
    let said = check(&words);
    assert!(said.code == 1 && said.out.contains("but service says nothing of"), "{}{}", said.out, said.err);
    let said = check(&[&words[..], &["--ignore", "service"]].concat());
    assert!(said.code == 0 && !said.out.contains("says nothing"), "{}{}", said.out, said.err);
}

#[test]
fn check_turns_bad_input_away() {
    let cases: &[(&[&str], &str)] = &[
        (&["nothing"], "nothing"),
        (&["krl", "--nodes", "9"], "1 to 8"),
        (&["krl", "--nodes", "0"], "1 to 8"),
        (&["krl", "--k", "0"], "1 to 8"),
        (&["rl", "--k", "2"], "single unit"),
        (&["krl", "--without", "glue"], "glue"),
        (&["krl", "--requests", "many"], "any"),
        (&["krl", "--budget", "soon"], "30s"),
        (&["krl", "--ignore", "beauty"], "calm"),
        (&["krl", "--nodes", "6", "--topology", "all"], "more graphs than"),
        (&["krl", "--drift", "1"], "--timed"),
        (&["krl", "--nodes", "4000000000", "--topology", "line"], "1 to 8"),
        (&["krl", "--topology", "line", "--spread", "1"], "2 apart"),
        (&["krl", "--walks", "9", "--max-states", "9"], "--walks"),
        (&["krl", "--priorities", "1,2"], "krl does not go by priority: leave --priorities 1..2 out, or check hok"),
        (&["hok-edf", "--priorities", "5"], "hok-edf does not go by priority"),
        (&["hok", "--deadlines", "1,2"], "hok does not go by deadline: leave --deadlines 1..2 out, or check hok-edf"),
        (&["klme", "--timed"], "klme has no timers"),
        (&["klme", "--usual-constants"], "klme has no constants"),
        (&["krl", "--over-radios"], "krl is the same over radios: leave --over-radios out"),
        (&["klme", "--lateness", "0"], "--timed"),
        (&["klme-ft", "--as-published"], "klme-ft is not from a paper"),
        (&["klme-ft", "--crossings", "0"], "Give --timed"),
        (&["krl", "--link-changes", "0", "--link-failure", "lost"], "no link fails"),
        (&["krl", "--failures", "0", "--connected"], "no link fails"),
        (&["krl", "--link-changes", "1", "--failures", "1", "--formations", "1"], "leave it out"),
        (&["klme", "--crossings", "1", "--leaves", "1", "--joins", "1"], "leave it out"),
        (&["krl", "--failures", "0", "--formations", "1"], "all links are up"),
        (&["klme", "--leaves", "0", "--joins", "1"], "all nodes are inside"),
        (&["klme", "--connected"], "klme stands on a neighbourhood, not on links"),
        (&["krl", "--also", "safety"], "asked for in any case"),
        (&["krl", "--ignore", "calm"], "asked for only with --also calm"),
        (&["krl", "--walks", "9", "--max-memory", "1GiB"], "--walks"),
        (&["krl", "--port", "8080"], "give --view"),
        (&["hok", "--priorities", "1,1,2"], "name each once"),
        (&["hok", "--k", "2", "--units", "1..2,2"], "name each once"),
        (&["hok-edf", "--deadlines", "3,3"], "name each once"),
        (&["krl", "--without", "reclaim", "--trace", "/nowhere/at/all"], "/nowhere/at/all"),
    ];
    for (args, words) in cases {
        let said = check(args);
        assert_eq!(said.code, 2, "{args:?}: {}", said.out);
        assert!(said.err.contains(words), "{args:?} says\n{}", said.err);
    }
}

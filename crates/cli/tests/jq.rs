//! The lines for jq in docs/trace.md do what they say on traces of every family. scripts/test installs jq where it is
//! missing.

mod outside;

use std::fs;
use std::process::Command;

use outside::{Scratch, driftlock};
use serde_json::Value;

const FAMILIES: [&str; 3] = [
    "algorithm = \"krl\"",
    "algorithm = \"hok\"\nunits = \"1..3\"",
    "algorithm = \"klme\"\nchurn = \"heavy\"\ndelay = 0.1",
];

/// The lines of the section on jq.
fn documented() -> Vec<&'static str> {
    let (_, section) = include_str!("../../../docs/trace.md").split_once("## With jq").expect("the section");
    let lines: Vec<_> = section.lines().filter(|line| line.starts_with("jq ")).collect();
    assert!(lines.len() >= 3, "{lines:?}");
    lines
}

/// What a line prints in the folder of a trace.
fn run(line: &str, scratch: &Scratch) -> String {
    let folder = scratch.path("");
    let output = Command::new("bash").args(["-o", "pipefail", "-c", line]).current_dir(folder).output();
    let output = output.expect("bash runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "{line}\n{said}(scripts/test installs jq)");
    String::from_utf8(output.stdout).expect("text")
}

fn effects(trace: &str) -> Vec<Value> {
    let steps = trace.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    steps.filter_map(|step| step["out"].as_array().cloned()).flatten().collect()
}

#[test]
fn the_lines_for_jq_work_on_traces_of_every_family() {
    let scratch = Scratch::new("jq");
    for family in FAMILIES {
        let (config, trace) = (scratch.write("family.toml", family), scratch.path("run.jsonl"));
        let few = ["--warmup", "0", "--entries", "100", "--replications", "1"];
        let said = driftlock(&[&["sim", "--config", &config, "--trace", &trace], &few[..]].concat());
        assert_eq!(said.code, 0, "{}{}", said.out, said.err);
        let effects = effects(&fs::read_to_string(&trace).expect("written"));
        // An effect without fields is a word, and a word has no fields to ask for.
        assert_eq!(effects.iter().any(Value::is_string), family.contains("churn"), "{family}");
        for line in documented() {
            let printed = run(line, &scratch);
            assert!(!printed.is_empty(), "{family}: {line}");
            if line.contains("all entries") {
                let grants = effects.iter().filter(|effect| effect["grant"].is_object()).count();
                assert_eq!(printed.lines().count(), grants, "{family}");
            }
        }
    }
}

//! docs/trace.md says of traces what is in them.

mod outside;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use outside::{Scratch, driftlock};
use serde_json::Value;

const DOCS: &str = include_str!("../../../docs/trace.md");

/// Whether the page says this, wherever its lines end.
fn says(sentence: &str) -> bool {
    DOCS.split_whitespace().collect::<Vec<_>>().join(" ").contains(sentence)
}

/// The lines of a trace that a command writes.
fn trace(command: &str) -> Vec<Value> {
    let scratch = Scratch::new(&format!("trace-{}", command.replace([' ', ':', '.'], "-")));
    let path = scratch.path("run.jsonl");
    let said = driftlock(&command.split(' ').chain(["--trace", &path]).collect::<Vec<_>>());
    // A run of soak that does not count has a trace, too.
    let is_recorded = said.code == 0 || said.err.contains("no run counts");
    assert!(is_recorded, "{command}: {}{}", said.out, said.err);
    let text = fs::read_to_string(path).expect("written");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn sim(flags: &str) -> Vec<Value> {
    trace(&format!("sim --warmup 20 --entries 300 --replications 1 {flags}"))
}

fn effects(lines: &[Value]) -> impl Iterator<Item = &Value> {
    lines.iter().filter_map(|line| line["out"].as_array()).flatten()
}

/// The fields of each kind of message that was sent.
fn messages(lines: &[Value]) -> BTreeMap<String, BTreeSet<String>> {
    let mut kinds: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for effect in effects(lines) {
        let sent = [&effect["send"]["message"], &effect["broadcast"]["message"]];
        for (kind, fields) in sent.into_iter().filter_map(Value::as_object).flatten() {
            kinds
                .entry(kind.clone())
                .or_default()
                .extend(fields.as_object().into_iter().flatten().map(|it| it.0.clone()));
        }
    }
    kinds
}

/// The table of messages under the paragraph that begins with this tag.
fn documented(tag: &str) -> Vec<&'static str> {
    let (_, section) = DOCS.split_once("## Messages").expect("the section");
    let (_, rest) = section.split_once(&format!("\n{tag}")).unwrap_or_else(|| panic!("no messages of {tag}"));
    let rows = rest.lines().skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|'));
    rows.collect()
}

#[test]
fn every_message_of_every_algorithm_is_documented_with_its_fields() {
    for (tag, flags) in [
        ("krl,", "--algorithm krlf --mobility 0.1"),
        ("hok,", "--algorithm hok --k 5 --units 1..3 --priorities 0,50"),
        ("klme ", "--algorithm klme --churn heavy --delay 0.1"),
        ("klme-ft ", "--algorithm klme-ft --nodes 8 --churn heavy --delay 0.1 --load 1"),
    ] {
        let rows = documented(tag);
        let row = |kind: &str| rows.iter().find(|row| row.starts_with(&format!("| `{kind}` |")));
        for (kind, fields) in messages(&sim(flags)) {
            let row = row(&kind).unwrap_or_else(|| panic!("{tag} {kind} is not in docs/trace.md"));
            for field in fields {
                assert!(row.contains(&format!("`{field}`")), "{tag} {kind}: {field} is not in {row}");
            }
        }
        // Also those that this run had no need of.
        let said =
            driftlock(&format!("sim --warmup 0 --entries 10 --format json {flags}").split(' ').collect::<Vec<_>>());
        let results: Value = serde_json::from_str(&said.out).expect("JSON");
        for kind in results["messages_by_kind"].as_object().expect("kinds").keys() {
            assert!(row(kind).is_some(), "{tag} {kind} is not in docs/trace.md");
        }
    }
}

#[test]
fn the_header_of_every_algorithm_is_documented() {
    let (_, section) = DOCS.split_once("## First line: the header").expect("the section");
    let (section, _) = section.split_once("\n## ").expect("another");
    for flags in
        ["krl", "hok --constant pause=9", "klme --neighbourhoods 3 --churn heavy --delay 0.1", "klme-ft --delay 0.1"]
    {
        let header = &sim(&format!("--algorithm {flags}"))[0];
        let resource = &header["resources"][0];
        for fields in [header, resource] {
            for field in fields.as_object().expect("fields").keys() {
                assert!(section.contains(&format!("`{field}`")), "{flags}: {field} is not in docs/trace.md");
            }
        }
        assert!(section.contains(&format!("`{}`: ", resource["tokens"])), "{flags}: {}", resource["tokens"]);
        assert_eq!(header["driftlock"], env!("CARGO_PKG_VERSION"));
        assert!(header["version"] == 4 && section.contains("`\"driftlock-trace\"`, `4`"));
    }
}

#[test]
fn what_is_of_the_first_resource_or_neighbourhood_does_not_say_so() {
    assert!(says("a trace of one resource does not have that field at all"));
    let lines = sim("--algorithm klme --nodes 12 --neighbourhoods 3 --churn heavy --delay 0.1");
    assert!(lines.iter().all(|line| line["resource"].is_null()));
    let entered = |site: &Value| {
        lines.iter().filter(|line| line["presence"] == "inside" && line["neighbourhood"] == *site).count()
    };
    assert!([Value::Null, 1.into(), 2.into()].iter().all(|site| entered(site) > 0));
    assert_eq!(entered(&0.into()) + entered(&3.into()), 0);
}

#[test]
fn a_trace_begins_with_the_warm_up_and_ends_with_the_last_entry_that_is_counted() {
    assert!(says("begins at time zero, and so with the warm-up"));
    for flags in ["--algorithm krl", "--algorithm hok --k 5 --units 1..3", "--algorithm klme --churn heavy --delay 0.1"]
    {
        let lines = sim(flags);
        let grants = effects(&lines).filter(|effect| effect["grant"].is_object()).count();
        assert_eq!(grants, 20 + 300, "{flags}");
        let last = lines.iter().rev().find(|line| line["out"].is_array()).expect("a step");
        assert!(effects(std::slice::from_ref(last)).any(|effect| effect["grant"].is_object()), "{flags}: {last}");
    }
}

#[test]
fn deadlines_are_times_and_spans_have_seconds_and_nanoseconds() {
    assert!(says("`deadline` is there only if the request has one"));
    assert!(says("`{\"secs\", \"nanos\"}`"));
    let of_requests = |flags: &str| -> Vec<(u64, Option<u64>)> {
        let lines = sim(flags);
        let requests = lines.iter().filter(|line| line["in"]["request"].is_object());
        requests.map(|line| (line["t"].as_u64().expect("a time"), line["in"]["request"]["deadline"].as_u64())).collect()
    };
    let late = of_requests("--deadlines 7");
    assert!(late.len() > 300 && late.iter().all(|(t, deadline)| *deadline == Some(t + 7_000_000_000)), "{late:?}");
    assert!(of_requests("--algorithm krl").iter().all(|(_, deadline)| deadline.is_none()));
    let lines = sim("--algorithm klme-ft --nodes 8 --churn heavy --delay 0.1");
    let armed: Vec<_> = effects(&lines).filter_map(|effect| effect["arm"].as_object()).collect();
    assert!(!armed.is_empty());
    for arm in armed {
        assert!(arm["after"]["secs"].is_u64() && arm["after"]["nanos"].is_u64(), "{arm:?}");
        let timer = arm["timer"].to_string().replace(':', ": ");
        assert!(says(&format!("`{timer}`")), "{timer} is not in docs/trace.md");
    }
}

/// The first crash of a node that uses a unit: where it is among the lines, who crashed, and its grant.
fn crash_in_use(lines: &[Value]) -> Option<(usize, &Value, &Value)> {
    let mut uses: BTreeMap<u64, &Value> = BTreeMap::new();
    for (at, line) in lines.iter().enumerate() {
        if line["presence"] == "crashed"
            && let Some(&grant) = uses.get(&line["member"].as_u64()?)
        {
            return Some((at, &line["member"], grant));
        }
        let (Some(node), true) = (line["node"].as_u64(), line["out"].is_array()) else { continue };
        if line["in"] == "release" {
            uses.remove(&node);
        }
        for effect in line["out"].as_array().into_iter().flatten() {
            if effect["grant"].is_object() {
                uses.insert(node, &effect["grant"]);
            } else if effect["revoke"].is_object() {
                uses.remove(&node);
            }
        }
    }
    None
}

#[test]
fn a_crash_ends_a_grant_without_a_step_and_the_unit_is_granted_again_under_a_greater_fence() {
    assert!(says("without a step that says so") && says("its grant ends there"));
    let soaked = (0..).map(|seed| trace(&format!("soak klme-ft --seed {seed} --runs 1")));
    let lines = soaked.take(200).find(|lines| crash_in_use(lines).is_some()).expect("a crash of one who uses a unit");
    let (at, node, grant) = crash_in_use(&lines).expect("as found");
    let rest = &lines[at + 1..];
    let next = rest.iter().find(|line| line["node"] == *node).expect("it comes back");
    assert!(next["in"]["below"]["entered"].is_object(), "its first step is to enter anew: {next}");
    let same = |again: &&Value| again["permits"] == grant["permits"];
    let again = effects(rest).map(|effect| &effect["grant"]).find(same).expect("the unit is granted again");
    let order = |grant: &Value| ["epoch", "counter"].map(|part| grant["fence"][part].as_u64().expect("a number"));
    assert!(order(again) > order(grant), "{again} after {grant}");
}

#[test]
fn messages_that_are_lost_have_lines_by_decree_and_none_on_a_field() {
    assert!(says("On a [field](field.md) there are no such lines"));
    let losses = |lines: &[Value]| lines.iter().filter(|line| line["lost"].is_array()).count();
    assert!((0..20).any(|seed| losses(&trace(&format!("soak klme-ft --seed {seed} --runs 1"))) > 0));
    let on_a_field = |seed| losses(&trace(&format!("soak klme-ft --field --seed {seed} --runs 1")));
    assert_eq!((0..5).map(on_a_field).sum::<usize>(), 0, "radios lose a tenth of all frames there");
}

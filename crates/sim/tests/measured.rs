//! What measured runs must show: the same bytes every time, and the paper's network behaving as it should.

use std::io::Write;
use std::sync::{Arc, Mutex};

use driftlock_protocol::ideal::Fate;
use driftlock_sim::config::{Config, LinkInfoRule, Plan};
use driftlock_sim::demand::Numbers;
use driftlock_sim::random::Duration;
use driftlock_sim::run::{Records, replicate, trace_header};
use driftlock_sim::summary::Summary;
use driftlock_sim::sweep::run_all;
use driftlock_trace::replay::{Outcome, replay};
use driftlock_trace::{Reader, Writer};

fn plan(change: impl FnOnce(&mut Config)) -> Plan {
    let mut config = Config { entries: 1_000, warmup: 200, replications: 3, ..Config::default() };
    change(&mut config);
    config.plan().expect("it makes sense")
}

fn measure(plan: &Plan) -> Summary {
    run_all(std::slice::from_ref(plan), 0, &|_| {}).remove(0)
}

#[derive(Clone, Default)]
struct Bytes(Arc<Mutex<Vec<u8>>>);

impl Write for Bytes {
    fn write(&mut self, buffer: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("one thread").write(buffer)
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn trace(plan: &Plan) -> Vec<u8> {
    let bytes = Bytes::default();
    let writer = Writer::new(Box::new(bytes.clone()), &trace_header(plan, 1));
    replicate(plan, 1, writer.into()).expect("memory takes it all");
    std::mem::take(&mut bytes.0.lock().expect("one thread"))
}

#[test]
fn the_number_of_threads_does_not_matter() {
    let plans: Vec<_> = ["krl", "krlf", "krlf-adaptive"]
        .map(|tag| plan(|c| (c.algorithm, c.mobility, c.delay) = (tag.into(), 0.02, Duration::Exponential(1.0))))
        .into();
    let json = |threads| serde_json::to_string(&run_all(&plans, threads, &|_| {})).expect("plain data");
    assert_eq!(json(1), json(2));
    assert_eq!(json(2), json(5));
}

#[test]
fn the_same_seed_gives_the_same_trace_and_another_seed_another() {
    let krlf = |seed| plan(|c| (c.algorithm, c.mobility, c.entries, c.seed) = ("krlf".into(), 0.02, 100, seed));
    assert_eq!(trace(&krlf(7)), trace(&krlf(7)));
    assert_ne!(trace(&krlf(7)), trace(&krlf(8)));
}

#[test]
fn every_step_of_a_trace_can_be_replayed_without_a_seed() {
    for (tag, fate) in [("krl", Fate::Drained), ("krlf", Fate::Returned), ("krlf-adaptive", Fate::Settled)] {
        let plan = plan(|c| (c.algorithm, c.mobility, c.entries, c.link_failure) = (tag.into(), 0.5, 200, fate));
        let reader = Reader::new(Box::new(std::io::Cursor::new(trace(&plan)))).expect("a trace");
        match replay(reader).expect("it can be replayed") {
            Outcome::Same { steps, violation } => assert!(steps > 1_000 && violation.is_none()),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn recording_a_run_does_not_change_it() {
    let plan = plan(|c| c.mobility = 0.02);
    let bytes = Bytes::default();
    let writer = Writer::new(Box::new(bytes), &trace_header(&plan, 0));
    let recorded = replicate(&plan, 0, writer.into()).expect("memory takes it all");
    assert_eq!(recorded, replicate(&plan, 0, Records::default()).expect("no trace"));
}

#[test]
fn all_invariants_hold_at_the_papers_size_and_in_all_its_settings() {
    for tag in ["krl", "krlf", "krlf-adaptive"] {
        for (connectivity, mobility) in [(0.1, 0.02), (0.2, 0.0), (0.2, 0.02), (0.8, 0.02)] {
            let plan = plan(|c| {
                (c.algorithm, c.connectivity, c.mobility) = (tag.into(), connectivity, mobility);
                (c.check, c.replications, c.entries) = (true, 1, 500);
            });
            let summary = measure(&plan);
            assert_eq!(summary.violation_details, [], "{tag} at {connectivity}, {mobility}");
        }
    }
}

#[test]
fn section_4_2_no_node_of_a_static_network_raises_its_height() {
    for seed in 0..5 {
        let plan = plan(|c| (c.seed, c.entries, c.load) = (seed, 300, 0.5));
        let trace = String::from_utf8(trace(&plan)).expect("JSON");
        assert!(trace.contains("lower-height.1") && !trace.contains("raise-height.1"), "seed {seed}");
    }
}

#[test]
fn the_published_link_info_rule_strands_tokens_and_the_repaired_one_does_not() {
    let jain = |rule| measure(&plan(|c| c.link_info = rule)).jain;
    let (published, repaired) = (jain(LinkInfoRule::Published), jain(LinkInfoRule::Repaired));
    assert!(published < 0.7 && repaired > 0.9, "Jain's index is {published} as published and {repaired} as repaired");
}

#[test]
fn adaptive_forwarding_costs_little_when_idle_and_waits_little_when_busy() {
    let run = |tag: &str, load| measure(&plan(|c| (c.algorithm, c.load) = (tag.into(), load)));
    let idle = ["krl", "krlf", "krlf-adaptive"].map(|tag| run(tag, 0.001).messages_per_entry);
    assert!(idle[2] < 1.5 * idle[0] && idle[1] > 10.0 * idle[2], "messages per entry at load 0.001: {idle:?}");
    let busy = ["krl", "krlf", "krlf-adaptive"].map(|tag| run(tag, 0.1).wait.mean);
    assert!(busy[2] < 1.1 * busy[1] && busy[2] < 0.75 * busy[0], "waiting times at load 0.1: {busy:?}");
}

#[test]
fn a_network_that_can_not_serve_anybody_is_reported_as_stalled() {
    // Without the repair, tokens on failing links vanish: after a while there is none left.
    let plan = plan(|c| {
        (c.without, c.link_failure) = (vec!["reclaim".into()], Fate::Returned);
        (c.mobility, c.nodes, c.k, c.connectivity, c.load) = (5.0, 6, 1, 0.6, 1.0);
        c.replications = 1;
    });
    let summary = measure(&plan);
    assert_eq!(summary.violations, 1);
    assert!(summary.violation_details[0].what.contains("nobody was served"), "{:?}", summary.violation_details);
}

#[test]
fn summaries_do_not_hide_those_who_still_wait() {
    let summary = measure(&plan(|c| c.load = 1.0));
    assert!(summary.waiting_at_end > 0 && summary.longest_open_wait > 0.0);
    assert!(summary.transmissions_per_entry < summary.messages_per_entry);
    let by_kind: f64 = summary.messages_by_kind.values().sum();
    assert!((by_kind - summary.messages_per_entry).abs() < 1e-9);
}

#[test]
fn a_violation_while_warming_up_leaves_no_numbers_behind() {
    let plan = plan(|c| {
        (c.without, c.link_failure) = (vec!["reclaim".into()], Fate::Returned);
        (c.mobility, c.nodes, c.k, c.connectivity, c.load) = (5.0, 6, 1, 0.6, 1.0);
        (c.replications, c.warmup) = (2, 5_000);
    });
    let summary = measure(&plan);
    assert_eq!((summary.entries, summary.violations), (0, 2));
    assert!(summary.wait.mean.is_nan() && summary.messages_per_entry.is_nan() && summary.jain.is_nan());
}

/// Requests of several kinds under load. They stay long, so that they wait for units and not for messages.
fn mixed(tag: &str, deadlines: &str) -> Plan {
    plan(|c| {
        (c.algorithm, c.k, c.load) = (tag.into(), 5, 0.005);
        c.cs_time = Duration::Exponential(20.0);
        c.units = "1..3".parse().expect("a range");
        c.priorities = "0..4".parse().expect("a range");
        c.deadlines = deadlines.parse().expect("a duration");
    })
}

#[test]
fn every_entry_is_in_a_class_and_every_moment_in_a_number_of_units() {
    let summary = measure(&mixed("hok", "none"));
    for classes in [&summary.wait_by_priority, &summary.wait_by_units] {
        assert_eq!(classes.values().map(|class| class.entries).sum::<u64>(), summary.entries);
        assert!(classes.values().all(|class| class.entries > 100 && class.wait.mean > 0.0), "{classes:?}");
    }
    assert!(summary.wait_by_priority.keys().copied().eq(0..=4) && summary.wait_by_units.keys().copied().eq(1..=3));
    let shares = &summary.units_in_use;
    assert_eq!(shares.len(), 6);
    assert!((shares.values().sum::<f64>() - 1.0).abs() < 1e-9, "{shares:?}");
    let units: f64 = shares.iter().map(|(&units, share)| f64::from(units) * share).sum();
    assert!((summary.utilisation - units / 5.0).abs() < 1e-9);
    assert!(
        summary.concurrency.mean > 0.0 && summary.concurrency.mean < units,
        "requests for several units are held by one"
    );
    assert_eq!((summary.deadline_miss_ratio, summary.overdue_at_end), (None, 0));
}

#[test]
fn the_urgent_wait_less_where_priorities_count() {
    let waits = |tag| {
        let summary = measure(&mixed(tag, "none"));
        [0, 4].map(|priority| summary.wait_by_priority[&priority].wait.mean)
    };
    let (strict, first_come) = (waits("hok-strict"), waits("hok-fcfs"));
    assert!(strict[1] < 0.5 * strict[0], "{strict:?}");
    assert!((first_come[1] / first_come[0] - 1.0).abs() < 0.2, "{first_come:?}");
}

/// A line of four nodes that always want the only unit: the last one with priority 0, the others with a higher one.
fn line_with_a_low_priority_at_its_end(tag: &str, others: u32, without: &[&str]) -> Plan {
    plan(|c| {
        (c.algorithm, c.nodes, c.k, c.load) = (tag.into(), 4, 1, 5.0);
        c.topology = "line".parse().expect("a topology");
        c.priorities = Numbers::only(others);
        c.priority_of = [(3, Numbers::only(0))].into();
        c.without = without.iter().map(|&name| name.to_owned()).collect();
    })
}

#[test]
fn the_lowest_priority_starves_without_aging_and_with_that_of_the_paper() {
    for (tag, without) in [("hok-strict", &[][..]), ("hok", &["age-by-grants"])] {
        let summary = measure(&line_with_a_low_priority_at_its_end(tag, 1, without));
        assert_eq!((summary.entries, summary.violations), (3_000, 0), "the others are served all the time");
        assert_eq!(summary.wait_by_priority[&0].entries, 0, "{tag}");
        assert!(summary.longest_open_wait > summary.span, "{tag}: it has waited since before counting began");
    }
}

#[test]
fn the_lowest_priority_is_served_within_the_bound_if_grants_age() {
    for others in [1, 5, 20] {
        let plan = line_with_a_low_priority_at_its_end("hok", others, &[]);
        let run = replicate(&plan, 0, Records::default()).expect("nothing is recorded");
        let entries: Vec<_> = run.tally.classes.iter().map(|class| class.priority).collect();
        let overtaken = entries.split(|&priority| priority == 0).map(<[u32]>::len).max();
        // Once its request is known at the holder, p_max - p + n - 1 others come first at most (docs/papers/hok.md).
        // Until it is, it travels three hops, and no grant takes less than the CS, which is as long as a hop.
        let most = (others + 3) as usize + 3;
        assert!(overtaken.is_some_and(|times| times <= most), "others ask with {others}: {overtaken:?} of {most}");
    }
}

#[test]
fn who_has_a_higher_load_enters_more_often() {
    let plan = plan(|c| (c.nodes, c.k, c.load, c.load_of) = (10, 3, 0.01, [(7, 0.1)].into()));
    let entries = replicate(&plan, 0, Records::default()).expect("nothing is recorded").tally.entries;
    let others = entries.iter().sum::<u64>() - entries[7];
    assert!(entries[7] > 5 * others / 9 && entries[7] < 12 * others / 9, "about ten times as often: {entries:?}");
}

#[test]
fn a_topology_by_name_is_that_of_its_links() {
    let of = |topology: &str| {
        let plan = plan(|c| (c.nodes, c.topology) = (5, topology.parse().expect("links")));
        serde_json::to_string(&measure(&plan)).expect("plain data")
    };
    assert_eq!(of("line"), of("0-1,1-2,2-3,3-4"));
    assert_eq!(of("star"), of("0-1,0-2,0-3,0-4"));
    assert_ne!(of("line"), of("star"));
}

#[test]
fn the_closer_the_deadlines_the_more_are_missed_and_fewest_if_the_earliest_goes_first() {
    let misses = |tag, deadlines| measure(&mixed(tag, deadlines)).deadline_miss_ratio.expect("there are deadlines");
    let missed = ["uniform:0..1000", "uniform:0..400", "uniform:0..100"].map(|deadlines| misses("hok-edf", deadlines));
    assert!(missed[0] < missed[1] && missed[1] < missed[2] && missed[2] < 1.0, "{missed:?}");
    let [earliest, first_come] = ["hok-edf", "hok-fcfs"].map(|tag| misses(tag, "uniform:0..400"));
    assert!(earliest < first_come, "the earliest first misses {earliest}, the first come {first_come}");
    assert!(measure(&mixed("hok-fcfs", "1")).overdue_at_end > 0);
}

#[test]
fn what_an_algorithm_ignores_does_not_change_it() {
    let usual = measure(&plan(|_| {}));
    let summary = measure(&plan(|c| {
        (c.priorities, c.deadlines) = ("0..1".parse().expect("a range"), "5".parse().expect("a duration"));
    }));
    assert!(summary.wait_by_priority.len() == 2 && summary.deadline_miss_ratio.is_some_and(|ratio| ratio > 0.0));
    assert_eq!((summary.wait, summary.events, summary.span), (usual.wait, usual.events, usual.span));
    assert!(usual.wait_by_priority.is_empty() && usual.wait_by_units.is_empty());
    let holders: f64 = usual.units_in_use.iter().map(|(&units, share)| f64::from(units) * share).sum();
    assert!(
        (usual.concurrency.mean - holders).abs() < 1e-9,
        "with one unit each, as many are in the CS as units in use"
    );
}

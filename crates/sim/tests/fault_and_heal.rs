//! Random faults, then service for all: ten thousand runs for each algorithm, all from printed seeds.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use driftlock_protocol::ideal::Fate;
use driftlock_protocol::klme;
use driftlock_protocol::krl::{Durable, Forwarding, Krl, Message, Timer, Variant, repair};
use driftlock_protocol::{
    Algorithm, Charter, Constants, Demand, Deployment, LinkEvent, Moment, NodeId, Out, Permits, Protocol, Repair,
    Repairs, Section, Status, Units,
};
use driftlock_sim::soak::{Case, Crowd, Injected, Report, soak};
use driftlock_spec::Violation;
use driftlock_trace::Writer;
use serde_json::Value;

const RUNS: u64 = 10_000;

/// Runs seeds until so many runs have granted something under faults.
fn holds(tag: &str, crowd: Crowd, counted_runs: u64) {
    let algorithm = Algorithm::named(tag).expect("registered");
    let counted = AtomicU64::new(0);
    let injected = Mutex::new(Injected::default());
    let mut seed = 0;
    while counted.load(Ordering::Relaxed) < counted_runs {
        let batch = (counted_runs - counted.load(Ordering::Relaxed)).max(100);
        let count = |report: &Report| {
            let mut injected = injected.lock().unwrap();
            *injected = *injected + report.injected;
            counted.fetch_add(u64::from(report.entries_under_faults > 0), Ordering::Relaxed);
            assert!(report.violation.is_some() || report.rested || tag == "krlf", "an idle {tag} should come to rest");
        };
        if let Some((seed, violation)) =
            soak(algorithm, Repairs::ALL, &Constants::new(), crowd, seed..seed + batch, 0, &count)
        {
            panic!(
                "seed {seed}: {violation}\nto record it: driftlock soak {tag}{crowd} --seed {seed} --runs 1 --trace violation.jsonl"
            );
        }
        seed += batch;
    }
    let missing = injected.into_inner().unwrap().missing(algorithm, crowd, seed);
    assert!(missing.is_empty(), "there were no {missing:?} in any of these runs of {tag}");
}

#[test]
fn krl_is_safe_under_faults_and_serves_everybody_after_them() {
    holds("krl", Crowd::Usual, RUNS);
}

#[test]
fn krlf_is_safe_under_faults_and_serves_everybody_after_them() {
    holds("krlf", Crowd::Usual, RUNS);
}

#[test]
fn krlf_adaptive_is_safe_under_faults_and_serves_everybody_after_them() {
    holds("krlf-adaptive", Crowd::Usual, RUNS);
}

#[test]
fn rl_is_safe_under_faults_and_serves_everybody_after_them() {
    holds("rl", Crowd::Usual, RUNS / 10);
}

#[test]
fn klme_ft_is_safe_under_faults_and_serves_everybody_after_them() {
    holds("klme-ft", Crowd::Usual, RUNS);
}

#[test]
fn hok_is_safe_under_faults_and_serves_everybody_after_them() {
    holds("hok", Crowd::Usual, RUNS);
}

#[test]
fn hok_strict_is_safe_under_faults_and_serves_everybody_after_them() {
    holds("hok-strict", Crowd::Usual, RUNS);
}

#[test]
fn hok_fewest_is_safe_under_faults_and_serves_everybody_after_them() {
    holds("hok-fewest", Crowd::Usual, RUNS);
}

#[test]
fn hok_edf_is_safe_under_faults_and_serves_everybody_after_them() {
    holds("hok-edf", Crowd::Usual, RUNS);
}

#[test]
fn hok_fcfs_is_safe_under_faults_and_serves_everybody_after_them() {
    holds("hok-fcfs", Crowd::Usual, RUNS);
}

#[test]
fn klme_is_safe_while_nodes_come_and_go_and_serves_everybody_afterwards() {
    holds("klme", Crowd::Usual, RUNS);
}

#[test]
fn with_fewer_nodes_than_units_all_stay_safe_and_live() {
    for tag in ["krl", "krlf", "krlf-adaptive", "hok", "hok-strict", "hok-fewest", "hok-edf", "hok-fcfs", "klme"] {
        // All of them may hold tokens for ever, so they need not come to rest; see krl::pacing.
        let algorithm = Algorithm::named(tag).expect("registered");
        let failed = soak(algorithm, Repairs::ALL, &Constants::new(), Crowd::FewerNodesThanUnits, 0..2_000, 0, &|_| {});
        assert_eq!(failed, None, "driftlock soak {tag} --crowded");
    }
}

/// The first seed below `seeds` at which the algorithm breaks without this repair.
fn breaks_without(tag: &str, repair: Repair, seeds: u64) -> Option<(u64, Violation)> {
    let algorithm = Algorithm::named(tag).expect("registered");
    soak(algorithm, Repairs::ALL.without(repair), &Constants::new(), Crowd::Usual, 0..seeds, 0, &|_| {})
}

#[test]
fn without_any_one_repair_something_breaks() {
    for (tag, repair) in [
        ("krl", repair::HOLDER_LOWERS),
        ("krl", repair::RELEASE_HOLDS),
        ("krl", repair::PENDING_REQUEST),
        ("krlf", repair::ACKNOWLEDGE),
        ("krl", repair::LINK_INFO),
        ("krl", repair::RECLAIM),
        ("klme", klme::repair::POSSESSION),
        ("klme", klme::repair::RELEASE_NUMBER),
        ("klme", klme::repair::LAST_NODE),
        ("klme", klme::repair::TOMBSTONE),
        ("klme", klme::repair::STAYS),
    ] {
        assert!(breaks_without(tag, repair, 500).is_some(), "{tag} holds without {}", repair.name);
    }
}

/// Messages that a pair of nodes without any token exchanges in a thousand time units after one of them has asked.
fn messages_without_a_token(repairs: Repairs) -> usize {
    let links = vec![(NodeId(1), NodeId(2))];
    let mut nodes = Krl::deploy(
        &Deployment { nodes: 3, k: 1, links, ..Deployment::default() },
        Variant::new(Forwarding::Off),
        repairs,
    );
    let mut out = driftlock_protocol::Outbox::new();
    let (mut now, mut count) = (0, 0);
    // What is due, when, and at whom: `None` is the pause's timer.
    let mut due: Vec<(u64, usize, Option<Message>)> = Vec::new();
    nodes[1].request(Demand::ONE, &mut out);
    // Node 1, which stands below node 2, learns where it stands.
    let height = nodes[2].status().height.expect("krl has heights");
    nodes[1].message(NodeId(2), Message::LinkInfo { height, acknowledges: None }, &mut out);
    let mut actor = 1;
    while now < 1_000 {
        for effect in out.drain() {
            match effect {
                driftlock_protocol::Effect::Send { to, message, .. } => {
                    count += 1;
                    due.push((now + 1, to.index(), Some(message)));
                }
                driftlock_protocol::Effect::Arm { after, .. } => due.push((now + after.as_secs(), actor, None)),
                _ => {}
            }
        }
        due.sort_by_key(|event| event.0);
        if due.is_empty() {
            break;
        }
        let (at, node, what) = due.remove(0);
        (now, actor) = (at, node);
        match what {
            Some(message) => nodes[node].message(NodeId(if node == 1 { 2 } else { 1 }), message, &mut out),
            None => nodes[node].timer(Timer::Pace, &mut out),
        }
    }
    count
}

#[test]
fn a_part_of_the_network_without_a_token_does_not_flood_it() {
    let (paced, unpaced) =
        (messages_without_a_token(Repairs::ALL), messages_without_a_token(Repairs::ALL.without(repair::PACE)));
    assert!(unpaced > 1_000, "as published they raise their heights for ever, as fast as they can: {unpaced}");
    assert!(paced < 350, "{paced}");
}

/// Pauses that grew left these nodes unserved for 10,000 time units after the last change.
#[test]
fn a_leaf_that_pauses_does_not_keep_the_others_from_the_token() {
    let algorithm = Algorithm::named("hok-strict").expect("registered");
    let case = Case::draw(7_000_020_340, Crowd::Usual, algorithm).without_kills();
    assert_eq!(case.run(algorithm, Repairs::ALL, None).expect("no trace").violation, None);
}

/// A member of klme that pauses while it is about to leave would hear late that others have come, after it has heard
/// that the last one departed: it would take itself for the last of all, and leave with the units.
#[test]
fn no_node_enters_while_a_member_pauses_that_counts_on_hearing_it() {
    let algorithm = Algorithm::named("klme").expect("registered");
    let path = std::env::temp_dir().join(format!("driftlock-attentive-{}", std::process::id()));
    let (mut entered, mut paused) = (0, 0);
    for seed in 0..20 {
        let case = Case::draw(seed, Crowd::Exactly { nodes: 10, on_field: true }, algorithm);
        let writer = Writer::create(&path, &case.trace_header(algorithm, Vec::new())).expect("a file");
        let report = case.run(algorithm, Repairs::ALL, Some(writer)).expect("written");
        assert_eq!(report.violation, None, "seed {seed}");
        let (mut members, mut stopped) = (BTreeSet::new(), BTreeMap::new());
        for line in fs::read_to_string(&path).expect("a trace").lines().skip(1) {
            let line: Value = serde_json::from_str(line).expect("a line");
            let node = &line["node"];
            if let (Some(fault), "pause" | "crash") =
                (line["fault"].as_u64(), line["is"]["kind"].as_str().unwrap_or(""))
            {
                stopped.insert(fault, line["is"]["node"].as_u64().expect("of a node"));
                paused += 1;
            } else if let Some(fault) = line["fault"].as_u64().filter(|_| line["is"].is_null()) {
                stopped.remove(&fault);
            } else if line["in"]["below"]["entered"].is_object() {
                let absent = stopped.values().find(|node| members.contains(*node));
                assert_eq!(absent, None, "seed {seed}: this member does not hear of {line}");
                members.extend(node.as_u64());
                entered += 1;
            }
            if line["out"].as_array().is_some_and(|out| out.contains(&Value::from("depart"))) {
                members.remove(&node.as_u64().expect("a node"));
            }
        }
    }
    fs::remove_file(&path).expect("removed");
    assert!(entered > 200 && paused > 20, "{entered}, {paused}");
}

#[test]
fn a_token_that_is_lost_with_a_link_is_noticed() {
    let algorithm = Algorithm::named("krl").expect("registered");
    let lost = |seed| {
        let case = Case::draw(seed, Crowd::Usual, algorithm).with_fate(Fate::Lost);
        case.run(algorithm, Repairs::ALL, None).expect("no trace").violation
    };
    assert!((0..200).any(|seed| matches!(lost(seed), Some(Violation::PermitsChanged { .. }))));
}

/// Krl with a bug: each token that arrives is kept twice.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Forger(Krl);

impl Protocol for Forger {
    type Message = Message;
    type View = LinkEvent;
    type Timer = Timer;
    type Variant = Variant;
    type Durable = Durable;
    const KINDS: &'static [&'static str] = Krl::KINDS;
    const REPAIRS: &'static [Repair] = &[];

    fn deploy(deployment: &Deployment, variant: Variant, repairs: Repairs) -> Vec<Self> {
        Krl::deploy(deployment, variant, repairs).into_iter().map(Self).collect()
    }
    fn blank(me: NodeId, charter: &Charter<Variant>) -> Self {
        Self(Krl::blank(me, charter))
    }
    fn mint(&mut self, k: u32, generation: u32, out: &mut Out<Self>) {
        self.0.mint(k, generation, out);
    }
    fn durable(&self) -> Durable {
        self.0.durable()
    }
    fn restore(me: NodeId, charter: &Charter<Variant>, durable: Durable, out: &mut Out<Self>) -> Self {
        Self(Krl::restore(me, charter, durable, out))
    }
    fn request(&mut self, demand: Demand, out: &mut Out<Self>) {
        self.0.request(demand, out);
    }
    fn release(&mut self, out: &mut Out<Self>) {
        self.0.release(out);
    }
    fn message(&mut self, from: NodeId, message: Message, out: &mut Out<Self>) {
        if matches!(message, Message::Token { .. }) {
            self.0.message(from, message.clone(), out);
        }
        self.0.message(from, message, out);
    }
    fn undelivered(&mut self, to: NodeId, message: Message, out: &mut Out<Self>) {
        self.0.undelivered(to, message, out);
    }
    fn timer(&mut self, timer: Timer, out: &mut Out<Self>) {
        self.0.timer(timer, out);
    }
    fn below(&mut self, view: LinkEvent, out: &mut Out<Self>) {
        self.0.below(view, out);
    }
    fn units_max(&self) -> Units {
        self.0.units_max()
    }
    fn held(&self) -> Permits {
        self.0.held()
    }
    fn section(&self) -> Section {
        self.0.section()
    }
    fn status(&self) -> Status {
        self.0.status()
    }
    fn permits(message: &Message) -> Permits {
        Krl::permits(message)
    }
    fn kind(message: &Message) -> usize {
        Krl::kind(message)
    }
    /// Says nothing: the oracles have to see it from outside.
    fn invariant(_: &Moment<'_, Self>) -> Result<(), String> {
        Ok(())
    }
}

#[test]
fn one_token_too_many_is_noticed_by_its_effects_and_by_conservation() {
    let algorithm = Algorithm::named("krl").expect("registered");
    let violations: Vec<_> = (0..200)
        .filter_map(|seed| {
            let case = Case::draw(seed, Crowd::Usual, algorithm);
            case.run_with::<Forger>(Variant::new(Forwarding::Off), Repairs::ALL, None).expect("no trace").violation
        })
        .collect();
    assert!(violations.len() > 150, "only {} of 200 runs noticed it", violations.len());
    assert!(violations.iter().any(|violation| matches!(violation, Violation::PermitDoubled { .. })));
    let unchecked = (0..200).filter_map(|seed| {
        let case = Case::draw(seed, Crowd::Usual, algorithm).unchecked();
        case.run_with::<Forger>(Variant::new(Forwarding::Off), Repairs::ALL, None).expect("no trace").violation
    });
    let outside = |violation: &Violation| {
        matches!(
            violation,
            Violation::TooManyInUse { .. } | Violation::PermitInUse { .. } | Violation::FenceNotGrowing { .. }
        )
    };
    assert!(unchecked.filter(outside).count() > 100, "the oracle needs no look inside");
}

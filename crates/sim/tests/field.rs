//! Algorithms on the field: the real link layer over radios, while nodes move.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};

use driftlock_field::faults::{Area, Fault, Kind, Memory, Often, Ranges};
use driftlock_field::plane::Point;
use driftlock_net::{Span, Time};
use driftlock_protocol::{Algorithm, Constants, NodeId, Repairs};
use driftlock_sim::config::{Config, Plan};
use driftlock_sim::field::{FieldPlan, Radio};
use driftlock_sim::run::{Records, Replication, replicate, trace_header};
use driftlock_sim::soak::{Case, Crowd, Report, soak};
use driftlock_trace::{Line, Reader, Scene, Writer};

/// Fault and heal with a tenth of all frames lost, until so many runs have granted something under faults.
fn holds(tag: &str, counted_runs: u64) {
    holds_among(tag, Crowd::OnField, counted_runs);
}

fn holds_among(tag: &str, crowd: Crowd, counted_runs: u64) {
    let algorithm = Algorithm::named(tag).expect("registered");
    let counted = AtomicU64::new(0);
    let count = |report: &Report| _ = counted.fetch_add(u64::from(report.entries_under_faults > 0), Ordering::Relaxed);
    let mut seed = 0;
    while counted.load(Ordering::Relaxed) < counted_runs {
        let batch = (counted_runs - counted.load(Ordering::Relaxed)).max(2);
        if let Some((seed, violation)) =
            soak(algorithm, Repairs::ALL, &Constants::new(), crowd, seed..seed + batch, 0, &count)
        {
            panic!(
                "seed {seed}: {violation}\nto record it: driftlock soak {tag}{crowd} --seed {seed} --runs 1 --trace violation.jsonl"
            );
        }
        seed += batch;
    }
}

#[test]
fn krl_serves_everybody_in_the_end_on_the_field() {
    holds("krl", 100);
}

#[test]
fn krlf_serves_everybody_in_the_end_on_the_field() {
    holds("krlf", 30);
}

#[test]
fn krlf_adaptive_serves_everybody_in_the_end_on_the_field() {
    holds("krlf-adaptive", 30);
}

#[test]
fn rl_serves_everybody_in_the_end_on_the_field() {
    holds("rl", 30);
}

#[test]
fn hok_and_its_variants_serve_everybody_in_the_end_on_the_field() {
    holds("hok", 100);
    for tag in ["hok-strict", "hok-fewest", "hok-edf", "hok-fcfs"] {
        holds(tag, 20);
    }
}

#[test]
fn klme_serves_everybody_in_the_end_on_the_field() {
    holds("klme", 200);
}

#[test]
fn klme_ft_serves_everybody_in_the_end_on_the_field() {
    holds("klme-ft", 300);
}

const FIFTY: Crowd = Crowd::Exactly { nodes: 50, on_field: true };

#[test]
fn fifty_nodes_are_all_served_in_the_end_in_a_hall_and_on_a_field() {
    for (tag, counted_runs) in [("krl", 6), ("krlf", 6), ("hok", 6), ("rl", 2), ("krlf-adaptive", 2)] {
        holds_among(tag, FIFTY, counted_runs);
    }
}

#[test]
fn half_of_the_runs_with_a_given_number_of_nodes_are_in_a_hall_in_which_all_are_in_range() {
    let krl = Algorithm::named("krl").expect("registered");
    let is_hall = |seed: &u64| {
        let header = Case::draw(*seed, FIFTY, krl).trace_header(krl, Vec::new());
        assert_eq!(header.nodes, 50);
        let plane = header.field.expect("a field");
        plane.width.hypot(plane.height) <= plane.range.expect("a range")
    };
    let halls = (0..200).filter(is_hall).count();
    assert!((70..=130).contains(&halls), "{halls} of 200");
}

fn measured(algorithm: &str, field: FieldPlan) -> Replication {
    replication(algorithm, field, 0)
}

fn replication(algorithm: &str, field: FieldPlan, number: u32) -> Replication {
    replicate(&plan(algorithm, field), number, Records::default()).expect("nothing is written")
}

fn plan(algorithm: &str, field: FieldPlan) -> Plan {
    let config = Config {
        algorithm: algorithm.into(),
        nodes: 12,
        k: 2,
        load: 0.05,
        warmup: 10,
        entries: 60,
        check: true,
        field: Some(field),
        ..Config::default()
    };
    config.plan().expect("it makes sense")
}

#[test]
fn the_same_seed_gives_the_same_run() {
    for algorithm in ["krl", "hok", "klme", "klme-ft"] {
        let first = measured(algorithm, FieldPlan::default());
        assert_eq!(first.violation, None);
        assert_eq!(first, measured(algorithm, FieldPlan::default()), "{algorithm}");
    }
}

fn lossy(loss: f64) -> Radio {
    let mut radio = driftlock_field::radio::Settings::wifi_11mbps();
    radio.loss = loss;
    Radio::Written(Box::new(radio))
}

#[test]
fn a_lossy_radio_sends_more_for_the_same_entries() {
    let with_loss = |loss| {
        let field = FieldPlan { radio: lossy(loss), ..FieldPlan::default() };
        let effort = measured("krl", field).effort.expect("a field has radios");
        assert!(effort.bytes > effort.transmissions && effort.joules > 0.0 && effort.receptions > 0);
        effort
    };
    let (calm, rough) = (with_loss(0.0), with_loss(0.3));
    assert!(rough.transmissions > calm.transmissions, "{rough:?} {calm:?}");
}

#[test]
fn faults_by_chance_meet_measured_runs_and_are_others_in_each_replication() {
    let often = |per_minute| Often { per_minute, lasts: [1.0, 20.0] };
    let ranges = Ranges {
        heals_at: 1e6,
        crashes: often(2.0),
        memory_lost: 0.0,
        pauses: often(2.0),
        jams: often(1.0),
        partitions: often(1.0),
        losses: often(1.0),
        ..Ranges::default()
    };
    for algorithm in ["krl", "krlf", "hok", "klme", "klme-ft"] {
        let field = FieldPlan { faults: Some(ranges), ..FieldPlan::default() };
        let [calm, first, again] =
            [FieldPlan::default(), field.clone(), field.clone()].map(|it| measured(algorithm, it));
        assert_eq!((&first.violation, &first), (&None, &again), "{algorithm}");
        assert_ne!(first.effort, calm.effort, "{algorithm}");
        let other = replication(algorithm, field, 1);
        assert_eq!(other.violation, None, "{algorithm}");
        assert_ne!(first.effort, other.effort, "{algorithm}");
    }
}

/// Every line of the trace of a run.
fn traced(plan: &Plan) -> Vec<Line> {
    let name = format!("driftlock-scenes-{}-{}.jsonl", plan.algorithm.tag, std::process::id());
    let file = std::env::temp_dir().join(name);
    let writer = Writer::create(&file, &trace_header(plan, 0)).expect("a file");
    replicate(plan, 0, writer.into()).expect("a trace");
    let mut reader = Reader::open(&file).expect("a trace");
    let lines = std::iter::from_fn(|| reader.next_line().expect("sound")).collect();
    std::fs::remove_file(&file).expect("it is there");
    lines
}

/// What a trace tells of the field is what happened there: every node is somewhere from the start, times do not go
/// back, a fault begins before it ends, a link forms before it fails, what is in doubt is settled, and a route is told
/// once.
#[test]
fn a_trace_tells_where_nodes_go_what_fails_what_is_in_doubt_and_which_way_messages_take() {
    let area = Area::disc(Point { x: 350.0, y: 350.0 }, 300.0).expect("a disc");
    let jam = Fault { at: Time::from_units(20.0), kind: Kind::Jam { area, lasts: Span::from_units(30.0) } };
    let field = FieldPlan { fault: [jam].into_iter().collect(), radio: lossy(0.4), ..FieldPlan::default() };
    let told = |algorithm: &str| Told::by(&traced(&plan(algorithm, field.clone())));
    // Its tokens are often under way.
    let (krlf, klme) = (told("krlf"), told("klme"));
    for told in [&krlf, &klme] {
        assert_eq!((told.at_start, told.faults.as_slice()), (12, &[(20.0, true), (50.0, false)][..]));
        assert!(told.moves > 12, "{told:?}");
    }
    assert!(krlf.links > 20 && krlf.doubts >= 2, "{krlf:?}");
    assert!(klme.routes > 20 && klme.links == 0, "{klme:?}");
}

/// No end of such a link hears that it is down: both are killed, and know of no link when they are back.
#[test]
fn a_trace_tells_that_a_link_is_down_whose_ends_crash_together() {
    let crash = |node| {
        let back_after = Some((Span::from_units(5.0), Memory::Kept));
        Fault { at: Time::from_units(20.0), kind: Kind::Crash { node, back_after } }
    };
    let field = FieldPlan { fault: (0..12).map(NodeId).map(crash).collect(), ..FieldPlan::default() };
    let lines = traced(&plan("krl", field));
    let links_at = |time: f64| {
        let mut up = BTreeSet::new();
        for line in &lines {
            match line {
                Line::Link(change) if change.t > Time::from_units(time).0 => break,
                Line::Link(change) if change.up => _ = up.insert(change.link),
                Line::Link(change) => _ = up.remove(&change.link),
                _ => {}
            }
        }
        up
    };
    assert!(links_at(19.9).len() > 5, "{:?}", links_at(19.9));
    assert!(links_at(25.5).is_empty(), "{:?}", links_at(25.5));
    Told::by(&lines);
}

/// What a trace tells of the field, counted.
#[derive(Default, Debug)]
struct Told {
    /// Who is somewhere at time zero.
    at_start: usize,
    moves: usize,
    links: usize,
    doubts: usize,
    routes: usize,
    /// When a fault began or ended.
    faults: Vec<(f64, bool)>,
}

impl Told {
    fn by(lines: &[Line]) -> Self {
        let (mut told, mut last) = (Self::default(), 0);
        let (mut links, mut routes, mut doubts) = (BTreeSet::new(), BTreeMap::new(), BTreeSet::new());
        for line in lines {
            let time = match line {
                Line::Step(step) => step.t,
                Line::Link(change) => {
                    told.links += 1;
                    let changed = if change.up { links.insert(change.link) } else { links.remove(&change.link) };
                    assert!(changed, "{change:?} is so already");
                    change.t
                }
                Line::Join(join) => panic!("{join:?}: all nodes are there from the start"),
                Line::Scene(scene) => {
                    match scene {
                        Scene::Move { t, .. } => {
                            told.moves += 1;
                            told.at_start += usize::from(*t == 0);
                        }
                        Scene::Fault { t, is, .. } => told.faults.push((Time(*t).units(), is.is_some())),
                        Scene::Route { route, via, .. } => {
                            told.routes += 1;
                            assert_ne!(routes.insert(*route, *via).flatten(), *via, "{scene:?} is so already");
                        }
                        Scene::Doubt { doubt, permits, .. } if permits.is_empty() => assert!(doubts.remove(doubt)),
                        Scene::Doubt { doubt, .. } => {
                            told.doubts += 1;
                            doubts.insert(*doubt);
                        }
                        Scene::Now { .. } => panic!("that is for streams"),
                    }
                    scene.time()
                }
                Line::Member(_) | Line::Loss(_) | Line::End { .. } => last,
            };
            assert!(time >= last, "{line:?} comes after {last}");
            last = time;
        }
        told
    }
}

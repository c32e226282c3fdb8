//! What measured runs of k-local mutual exclusion must show: the paper's section 5, and that coming and going loses
//! nobody.
//!
//! A. Khanna, A. K. Singh, A. Swaroop: "A Leader-Based k-Local Mutual Exclusion Algorithm Using Token for MANETs",
//! 2014.

use driftlock_protocol::Repairs;
use driftlock_protocol::klme::{Klme, repair};
use driftlock_protocol::{Constants, Demand, Deployment, NodeId};
use driftlock_sim::config::{Config, Plan};
use driftlock_sim::queue::Event;
use driftlock_sim::random::{Duration, Stays, Subject, stream};
use driftlock_sim::run::{Records, Replication, replicate, trace_header};
use driftlock_sim::summary::Summary;
use driftlock_sim::sweep::run_all;
use driftlock_sim::world::{Setting, World};
use driftlock_trace::replay::{Outcome, replay};
use driftlock_trace::{Line, Reader, Scene, Writer};

/// The paper's T.
const T: f64 = 0.01;

/// The paper's setting: seconds, a CS of half a second on average, and messages that take T.
fn plan(change: impl FnOnce(&mut Config)) -> Plan {
    let mut config = Config {
        algorithm: "klme".into(),
        nodes: 20,
        contention: Some(50.0),
        cs_time: Duration::Exponential(0.5),
        delay: Duration::Constant(T),
        entries: 1_000,
        warmup: 200,
        replications: 3,
        ..Config::default()
    };
    change(&mut config);
    config.plan().expect("it makes sense")
}

fn measure(plan: &Plan) -> Summary {
    let summary = run_all(std::slice::from_ref(plan), 0, &|_| {}).remove(0);
    assert_eq!(summary.violation_details, []);
    summary
}

fn one(plan: &Plan) -> Replication {
    let replication = replicate(plan, 0, Records::default()).expect("no trace");
    assert_eq!(replication.violation, None);
    replication
}

fn is(value: f64, expected: f64) -> bool {
    (value - expected).abs() < 1e-9
}

/// One neighbourhood with all nodes inside, led by node 0.
fn world(nodes: u32, k: u32) -> World<Klme> {
    world_with(nodes, k, Repairs::ALL)
}

fn world_with(nodes: u32, k: u32, repairs: Repairs) -> World<Klme> {
    let members = (0..nodes).map(NodeId).collect();
    World::new(Setting {
        deployment: &Deployment { nodes, k, members, ..Deployment::default() },
        variant: (),
        repairs,
        constants: &Constants::new(),
        delay: Duration::Constant(1.0),
        delays: stream(1, 0, Subject::Delay),
        stays: Stays::new(1, 0),
        lives: stream(1, 0, Subject::Life),
        checked: true,
        recorder: None,
        field: None,
    })
}

/// Delivers until nothing is in flight, and tells when each of those entered who were granted units meanwhile.
fn settle(world: &mut World<Klme>) -> Vec<(NodeId, f64)> {
    let mut entered = Vec::new();
    loop {
        while let Some(node) = world.next_granted() {
            entered.push((node, world.now().units()));
        }
        let Some(event) = world.next_event() else { return entered };
        assert!(matches!(event, Event::Arrival { .. }));
        world.deliver(event).expect("nothing is violated");
    }
}

fn request(world: &mut World<Klme>, node: u32) -> Vec<(NodeId, f64)> {
    world.request(NodeId(node), Demand::ONE).expect("nothing is violated");
    settle(world)
}

fn release(world: &mut World<Klme>, node: u32) -> Vec<(NodeId, f64)> {
    world.release(NodeId(node), world.entry(NodeId(node))).expect("nothing is violated");
    settle(world)
}

/// Messages and transmissions since the last look.
fn sent(world: &mut World<Klme>) -> (u64, u64) {
    let tally = world.meter().clone().finish();
    world.meter().restart(0);
    (tally.messages.iter().sum(), tally.transmissions)
}

#[test]
fn section_5_1_1_an_idle_holder_enters_without_a_message() {
    let mut world = world(4, 2);
    assert_eq!(request(&mut world, 0), [(NodeId(0), 0.0)]);
    assert!(release(&mut world, 0).is_empty());
    assert_eq!(sent(&mut world), (0, 0));
}

#[test]
fn section_5_1_2_a_request_that_a_leader_in_its_cs_grants_takes_four_messages() {
    // The paper counts three: the acknowledgement, which its clause C sends before the grant, is not among them.
    let mut world = world(4, 2);
    request(&mut world, 0);
    assert_eq!(request(&mut world, 2), [(NodeId(2), 2.0)]);
    release(&mut world, 2);
    assert_eq!(sent(&mut world), (4, 4));
}

#[test]
fn section_5_2_an_idle_token_comes_in_2t_and_everybody_is_told() {
    let mut world = world(6, 2);
    assert_eq!(request(&mut world, 3), [(NodeId(3), 2.0)]);
    // The request, its acknowledgement, the token, and the news to the five others.
    assert_eq!(sent(&mut world), (3 + 5, 3 + 1));
    release(&mut world, 3);
    assert_eq!(sent(&mut world), (0, 0), "it keeps the token");
}

#[test]
fn section_7_to_acknowledge_the_token_costs_a_message_with_every_move() {
    let mut world = world_with(6, 2, Repairs::ALL.without(repair::NO_COPY));
    request(&mut world, 3);
    assert_eq!(sent(&mut world), (4 + 5, 4 + 1));
}

#[test]
fn section_5_3_a_unit_changes_hands_in_t_from_the_leader_and_in_2t_from_others() {
    let mut world = world(6, 2);
    request(&mut world, 0);
    request(&mut world, 1);
    request(&mut world, 2);
    request(&mut world, 3);
    let now = world.now().units();
    assert_eq!(release(&mut world, 1), [(NodeId(2), now + 2.0)], "a release, and a grant");
    let now = world.now().units();
    assert_eq!(release(&mut world, 0), [(NodeId(3), now + 1.0)], "the token");
}

#[test]
fn under_light_load_most_wait_2t_and_under_heavy_load_units_change_hands_in_t_to_2t() {
    let idle = measure(&plan(|c| c.contention = Some(0.001)));
    assert!(is(idle.wait.p50, 2.0 * T) && is(idle.wait.p99, 2.0 * T), "{:?}", idle.wait);
    for k in [1, 2, 5] {
        let busy = measure(&plan(|c| (c.contention, c.k) = (Some(98.0), k)));
        // One in k is the leader's own, and takes T.
        let expected = T * (1.0 + 2.0 * f64::from(k - 1)) / f64::from(k);
        let delay = busy.synchronisation_delay.mean;
        assert!((delay / expected - 1.0).abs() < 0.1, "k = {k}: {delay} rather than {expected}");
    }
}

/// Delays that vary let requests come before the token to whom it was sent: they are stored, and queued with the token.
#[test]
fn requests_cost_no_more_with_delays_that_vary_than_with_constant_ones() {
    let requests = |delay, without: &[&str]| {
        let summary = measure(&plan(|c| {
            (c.nodes, c.k, c.delay) = (100, 2, delay);
            c.without = without.iter().map(ToString::to_string).collect();
        }));
        summary.messages_by_kind["req_cs"]
    };
    let constant = requests(Duration::Constant(0.1), &[]);
    let varying = requests(Duration::Uniform(0.02, 0.18), &[]);
    assert!((varying / constant - 1.0).abs() < 0.1, "{varying} rather than {constant}");
    let unacknowledged = requests(Duration::Uniform(0.02, 0.18), &["ack-stored"]);
    assert!(unacknowledged > 2.0 * varying, "{unacknowledged} and {varying}");
}

#[test]
fn under_heavy_load_a_release_that_misses_the_token_makes_a_delay_longer_than_2t() {
    let busy = |k| measure(&plan(|c| (c.contention, c.k) = (Some(98.0), k))).synchronisation_delay;
    let alone = busy(1);
    assert!(is(alone.max, T) && alone.above_2t == Some(0.0), "the only unit goes with the token: {alone:?}");
    let among_five = busy(5);
    assert!(is(among_five.p50, 2.0 * T) && among_five.max > 2.0 * T, "{among_five:?}");
    assert!(among_five.above_2t.is_some_and(|share| (0.01..0.1).contains(&share)), "{among_five:?}");
}

#[test]
fn t_is_the_longest_that_a_message_takes_if_there_is_such_a_thing() {
    let busy = |delay| measure(&plan(|c| (c.contention, c.k, c.delay) = (Some(98.0), 5, delay))).synchronisation_delay;
    let uniform = busy(Duration::Uniform(0.0, T));
    let constant = busy(Duration::Constant(T));
    assert!(uniform.above_2t > Some(0.0) && uniform.above_2t < constant.above_2t, "{uniform:?}, {constant:?}");
    assert_eq!(busy(Duration::Exponential(T)).above_2t, None);
}

#[test]
fn the_number_of_threads_does_not_matter() {
    let plans: Vec<_> = [("none", 1), ("heavy", 1), ("medium", 4)]
        .map(|(churn, neighbourhoods)| {
            plan(|c| {
                (c.churn, c.neighbourhoods, c.delay) =
                    (churn.parse().unwrap(), neighbourhoods, Duration::Exponential(T));
            })
        })
        .into();
    let json = |threads| serde_json::to_string(&run_all(&plans, threads, &|_| {})).expect("plain data");
    assert_eq!(json(1), json(2));
    assert_eq!(json(2), json(5));
}

#[test]
fn all_invariants_hold_while_nodes_come_and_go() {
    for (churn, absence) in [("light", 0.0), ("heavy", 0.0), ("heavy", 3.0), ("2", 0.1)] {
        for (k, neighbourhoods) in [(1, 1), (3, 2), (5, 4)] {
            let summary = measure(&plan(|c| {
                (c.churn, c.absence) = (churn.parse().unwrap(), Duration::Exponential(absence));
                (c.k, c.neighbourhoods, c.check, c.replications) = (k, neighbourhoods, true, 1);
            }));
            let crossings = summary.crossings.expect("nodes come and go");
            assert!(crossings.departures > 0.0 && summary.jain > 0.8, "{churn}: {crossings:?}, {}", summary.jain);
        }
    }
}

/// A leaver says farewell to every new leader, and some of these messages come when it has gone.
#[test]
fn a_node_that_leaves_is_answered_once() {
    let summary = measure(&plan(|c| {
        (c.churn, c.neighbourhoods, c.nodes) = ("heavy".parse().unwrap(), 4, 80);
        c.delay = Duration::Uniform(0.02, 0.18);
    }));
    let departures = summary.crossings.expect("nodes come and go").departures;
    let answers = summary.messages_by_kind["leave_ack"];
    // Some who leave were answered before the measurement began, or depart after it has ended.
    assert!((answers / departures - 1.0).abs() < 0.01, "{answers} answers to {departures} departures");
}

#[test]
fn walkers_are_served_across_borders() {
    for areas in ["cells", "discs:60"] {
        let summary = measure(&plan(|c| {
            (c.speed, c.areas, c.neighbourhoods) = (20.0, areas.parse().unwrap(), 4);
        }));
        let crossings = summary.crossings.expect("nodes come and go");
        assert!(crossings.handovers > 0.0 && crossings.interruption.mean > 0.0, "{areas}: {crossings:?}");
    }
}

#[test]
fn moving_on_shortens_what_is_waited_where_one_is_served_and_not_what_is_waited_in_all() {
    let run = |churn: &str| {
        measure(&plan(|c| {
            (c.churn, c.neighbourhoods, c.nodes) = (churn.parse().unwrap(), 2, 100);
            (c.warmup, c.entries) = (1_000, 5_000);
        }))
    };
    let inside = |summary: &Summary| summary.wait_inside.expect("nodes come and go").mean;
    let in_all = |summary: &Summary| summary.crossings.expect("nodes come and go").wait_per_request.mean;
    let (calm, heavy) = (run("none"), run("heavy"));
    assert!(is(calm.wait.mean, inside(&calm)) && is(calm.wait.mean, in_all(&calm)), "who stays waits in one place");
    assert!(inside(&heavy) < 0.7 * inside(&calm), "{} and {}", inside(&heavy), inside(&calm));
    assert!(in_all(&heavy) > 0.95 * in_all(&calm), "{} and {}", in_all(&heavy), in_all(&calm));
}

#[test]
fn messages_are_counted_both_ways() {
    let summary = measure(&plan(|c| c.contention = Some(98.0)));
    let kinds: f64 = summary.messages_by_kind.values().sum();
    assert!((kinds - summary.messages_per_entry).abs() < 1e-9);
    let news = summary.messages_by_kind["leader_info"];
    let once = summary.messages_per_entry - news + news / 19.0;
    assert!(is(summary.transmissions_per_entry, once), "the news is a message to 19 others, and one transmission");
}

/// The trace of a run, which replays.
fn replayable_trace(plan: &Plan, name: &str) -> String {
    let file = std::env::temp_dir().join(format!("driftlock-klme-{}-{name}.jsonl", std::process::id()));
    let writer = Writer::create(&file, &trace_header(plan, 0)).expect("a file");
    let recorded = replicate(plan, 0, writer.into()).expect("a trace");
    assert_eq!(recorded, one(plan), "recording a run does not change it");
    let reader = Reader::open(&file).expect("a trace");
    match replay(reader).expect("it can be replayed") {
        Outcome::Same { steps, violation } => assert!(steps > 1_000 && violation.is_none()),
        other => panic!("{other:?}"),
    }
    let text = std::fs::read_to_string(&file).expect("it is there");
    std::fs::remove_file(&file).expect("it is there");
    text
}

#[test]
fn a_run_with_churn_can_be_replayed_step_by_step() {
    let plan = plan(|c| (c.churn, c.absence, c.entries) = ("heavy".parse().unwrap(), Duration::Constant(0.5), 300));
    assert!(!replayable_trace(&plan, "churn").contains("\"neighbourhood\""), "there is only one");
}

#[test]
fn a_run_in_several_neighbourhoods_is_one_trace_that_can_be_replayed() {
    for algorithm in ["klme", "klme-ft"] {
        let churn = plan(|c| {
            (c.algorithm, c.neighbourhoods, c.delay) = (algorithm.into(), 3, Duration::Constant(0.1));
            (c.churn, c.absence, c.entries) = ("heavy".parse().unwrap(), Duration::Constant(0.5), 300);
        });
        let walk = plan(|c| {
            (c.algorithm, c.neighbourhoods, c.delay) = (algorithm.into(), 4, Duration::Constant(0.1));
            (c.speed, c.areas, c.entries) = (2.0, "discs:40".parse().unwrap(), 300);
        });
        for (plan, name) in [(churn, "churns"), (walk, "walks")] {
            let name = format!("{algorithm}-{name}");
            let text = replayable_trace(&plan, &name);
            assert_eq!(text, replayable_trace(&plan, &name), "the same seed gives the same bytes");
            for site in 1..plan.config.neighbourhoods {
                let enters = format!("\"presence\":\"inside\",\"neighbourhood\":{site}}}");
                assert!(text.contains(&enters), "{name}: nobody enters neighbourhood {site}");
            }
            let times = text.lines().skip(1).filter_map(|line| line.strip_prefix("{\"t\":")?.split_once(','));
            let times: Vec<u64> = times.map(|(t, _)| t.parse().expect("a time")).collect();
            assert!(times.is_sorted(), "{name}: the worlds write in the order in which things happen");
        }
    }
}

#[test]
fn the_trace_of_walkers_tells_where_they_go_and_where_the_neighbourhood_is() {
    let discs = |c: &mut Config| (c.speed, c.areas, c.entries) = (2.0, "discs:40".parse().unwrap(), 300);
    let plan = plan(discs);
    let file = std::env::temp_dir().join(format!("driftlock-walk-{}.jsonl", std::process::id()));
    let writer = Writer::create(&file, &trace_header(&plan, 0)).expect("a file");
    replicate(&plan, 0, writer.into()).expect("a trace");
    let mut reader = Reader::open(&file).expect("a trace");
    let plane = reader.header().field.clone().expect("a plane");
    assert_eq!((plane.width, &plane.sites[..], plane.reach), (100.0, &[[50.0, 50.0]][..], Some(40.0)));
    let (mut moves, mut last) = (0, 0);
    while let Some(line) = reader.next_line().expect("sound") {
        if let Line::Scene(Scene::Move { t, at: [x, y], .. }) = line {
            assert!(t >= last && (0.0..=100.0).contains(&x) && (0.0..=100.0).contains(&y));
            (moves, last) = (moves + 1, t);
        }
    }
    assert!(moves > plan.config.nodes, "everybody starts, and goes elsewhere");
    std::fs::remove_file(&file).expect("it is there");
}

#[test]
fn nonsense_is_refused_in_a_sentence() {
    let refusal = |change: fn(&mut Config)| {
        let mut config = plan(|_| {}).config;
        change(&mut config);
        config.plan().unwrap_err().to_string()
    };
    for (name, change) in [
        ("connectivity", (|c| c.connectivity = 0.5) as fn(&mut Config)),
        ("mobility", |c| c.mobility = 0.1),
        ("link_failure", |c| c.link_failure = driftlock_protocol::ideal::Fate::Lost),
    ] {
        assert_eq!(refusal(change), format!("klme has no {name}: that is for algorithms that stand on links"));
    }
    assert_eq!(refusal(|c| c.neighbourhoods = 0), "neighbourhoods must be from 1 to 10000, not 0");
    assert!(refusal(|c| (c.nodes, c.neighbourhoods) = (100_000, 1_000)).contains("their product may be"));
    assert_eq!(
        refusal(|c| (c.speed, c.churn) = (1.0, "light".parse().unwrap())),
        "churn and speed are two ways to move: give one of them"
    );
    assert!(refusal(|c| c.speed = f64::NAN).contains("speed must be a finite number"));
    assert!(refusal(|c| c.speed = -1.0).contains("speed must be a finite number from 0"));
    assert!(refusal(|c| c.spacing = 0.0).contains("spacing must be"));
    assert!(refusal(|c| c.margin = 100.0).contains("margin must be smaller than the side of a cell"));
    assert!(refusal(|c| c.margin = -1.0).contains("margin must be a finite number of at least 0"));
    assert!(refusal(|c| c.churn = "1e9".parse().unwrap()).contains("churn must be a finite number from 0 to 1000"));
    assert!(refusal(|c| c.units = "2".parse().unwrap()).contains("grants one unit at a time"));
}

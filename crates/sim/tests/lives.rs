//! Nodes that are killed and come back, one at a time, and what becomes of their applications.

use driftlock_net::{Span, Time};
use driftlock_protocol::krl::{Forwarding, Krl, Variant};
use driftlock_protocol::{Algorithm, Constants, Demand, Deployment, NodeId, Permits, Priority, Repairs};
use driftlock_sim::config::Config;
use driftlock_sim::queue::Event;
use driftlock_sim::random::{Duration, Stays, Subject, stream};
use driftlock_sim::soak::{Case, Crowd};
use driftlock_sim::sweep::run_all;
use driftlock_sim::world::{Setting, World};
use driftlock_trace::replay::{Outcome, replay};
use driftlock_trace::{Reader, Writer};

const A: NodeId = NodeId(0);
const B: NodeId = NodeId(1);

/// Two nodes with a link, of which A has the only token.
fn pair(seed: u64) -> World<Krl> {
    World::new(Setting {
        deployment: &Deployment { nodes: 2, k: 1, links: vec![(A, B)], ..Deployment::default() },
        variant: Variant::new(Forwarding::Off),
        repairs: Repairs::ALL,
        constants: &Constants::new(),
        delay: Duration::Constant(1.0),
        delays: stream(seed, 0, Subject::Delay),
        stays: Stays::new(seed, 0),
        lives: stream(seed, 0, Subject::Life),
        checked: true,
        recorder: None,
        field: None,
    })
}

/// Lets everything happen that does so by itself.
fn settle(world: &mut World<Krl>) {
    while let Some(event) = world.next_event() {
        if let Event::Request { node } = event {
            world.request(node, Demand::ONE).expect("it holds");
        }
        world.deliver(event).expect("it holds");
    }
}

/// A is inside, and is killed and started again while B waits.
fn a_is_killed_inside(seed: u64) -> World<Krl> {
    let mut world = pair(seed);
    world.request(A, Demand::ONE).expect("it holds");
    world.request(B, Demand::ONE).expect("it holds");
    assert_eq!(world.next_granted(), Some(A));
    world.restart(A).expect("it holds");
    world
}

#[test]
fn what_an_application_uses_is_granted_to_nobody_while_it_outlives_its_node() {
    let mut resumed = 0;
    for seed in 0..20 {
        let mut world = a_is_killed_inside(seed);
        settle(&mut world);
        assert_eq!((world.next_granted(), world.oracle().in_use()), (None, Permits::first(1)));
        let entry = world.entry(A);
        assert_eq!(world.release(A, entry), Ok(true));
        assert_eq!(world.oracle().in_use(), Permits::NONE);
        settle(&mut world);
        assert_eq!(world.next_granted(), Some(B), "it is told that nobody is inside, or released as usual");
        resumed += world.toll().resumed;
    }
    assert!((1..20).contains(&resumed), "{resumed} of 20 applications showed their grants");
}

#[test]
fn an_application_that_ends_before_its_node_is_told_so_is_not_in_the_way() {
    let mut world = a_is_killed_inside(1);
    let entry = world.entry(A);
    assert_eq!(world.release(A, entry), Ok(true));
    assert_eq!(world.release(A, entry), Ok(false), "once");
    assert!(world.is_left(A), "it does not know yet");
    settle(&mut world);
    assert_eq!((world.next_granted(), world.is_left(A)), (Some(B), false));
}

#[test]
fn one_application_outlives_several_lives_of_its_node() {
    let mut world = a_is_killed_inside(2);
    world.restart(A).expect("it holds");
    world.restart(A).expect("it holds");
    assert_eq!((world.toll().restarts, world.toll().outlived), (3, 1));
    settle(&mut world);
    let entry = world.entry(A);
    assert_eq!(world.release(A, entry), Ok(true));
    settle(&mut world);
    assert_eq!(world.next_granted(), Some(B));
}

#[test]
fn the_other_end_notices_later_and_the_link_forms_again() {
    let mut world = pair(3);
    world.restart(A).expect("it holds");
    assert!(world.links().loose(B, A).is_some() && world.links().loose(A, B).is_none());
    world.request(B, Demand::ONE).expect("what it asks for over the loose end is lost");
    settle(&mut world);
    assert!(world.links().is_up(A, B) && world.links().loose(B, A).is_none());
    assert_eq!(world.next_granted(), Some(B), "it has asked again");
}

#[test]
fn a_token_that_is_under_way_when_an_end_is_killed_arrives() {
    for killed in [A, B] {
        let mut world = pair(4);
        world.request(B, Demand::ONE).expect("it holds");
        let request = world.next_event().expect("it is under way");
        world.deliver(request).expect("it holds");
        world.restart(killed).expect("it holds");
        settle(&mut world);
        assert_eq!(world.next_granted(), Some(B), "{killed} was killed");
    }
}

#[test]
fn who_waits_when_its_node_is_killed_goes_on_waiting_for_the_same() {
    let mut world = pair(5);
    let urgent = Demand { priority: Priority(7), ..Demand::ONE };
    world.request(A, Demand::ONE).expect("it holds");
    world.request(B, urgent).expect("it holds");
    assert_eq!(world.next_granted(), Some(A));
    world.schedule(Span::from_units(10.0), Event::Change);
    settle(&mut world);
    world.restart(B).expect("it holds");
    settle(&mut world);
    assert_eq!((world.meter().waiter(B).since, world.oracle().owed_count()), (Time::ZERO, 1));
    let entry = world.entry(A);
    world.release(A, entry).expect("it holds");
    settle(&mut world);
    assert_eq!(world.next_granted(), Some(B));
}

/// Each of three nodes pauses once, in the CS or not, for longer than a lease of 30 s.
#[test]
fn a_lease_is_over_at_a_node_that_pauses_although_the_node_does_not_know() {
    let field = "area = { width = 100, height = 100 }\n\
                   fault = [\n\
                   { at = 100.0, kind = \"pause\", node = 1, lasts = 100.0 },\n\
                   { at = 400.0, kind = \"pause\", node = 0, lasts = 100.0 },\n\
                   { at = 700.0, kind = \"pause\", node = 2, lasts = 100.0 }]";
    let config = Config {
        algorithm: "klme-ft".into(),
        nodes: 3,
        k: 1,
        load: 0.5,
        cs_time: Duration::Constant(60.0),
        warmup: 0,
        entries: 20,
        replications: 4,
        check: true,
        field: Some(toml::from_str(field).expect("a field")),
        ..Config::default()
    };
    let plan = config.plan().expect("it makes sense");
    let summary = run_all(&[plan], 0, &|_| ()).remove(0);
    assert_eq!((summary.violations, summary.entries), (0, 80), "{:?}", summary.violation_details);
}

#[test]
fn measured_runs_in_which_nodes_are_killed_serve_everybody() {
    for algorithm in ["krl", "krlf", "krlf-adaptive", "hok", "hok-edf"] {
        let config = Config {
            algorithm: algorithm.into(),
            nodes: 12,
            connectivity: 0.3,
            load: 0.5,
            restarts: 0.2,
            warmup: 0,
            entries: 400,
            replications: 2,
            check: true,
            ..Config::default()
        };
        let plan = config.plan().expect("it makes sense");
        let summary = run_all(&[plan], 0, &|_| ()).remove(0);
        let lives = summary.lives.expect("some are killed");
        assert_eq!((summary.violations, summary.entries), (0, 800), "{algorithm}: {:?}", summary.violation_details);
        assert!(lives.restarts > 20 && lives.outlived > 0 && lives.outlived >= lives.resumed, "{algorithm}: {lives:?}");
    }
}

#[test]
fn traces_of_runs_with_restarts_are_replayed() {
    for (tag, seeds) in [("krl", 0..6), ("hok", 0..6)] {
        let algorithm = Algorithm::named(tag).expect("registered");
        for seed in seeds {
            let case = Case::draw(seed, Crowd::Usual, algorithm).with_kills();
            let path = std::env::temp_dir().join(format!("driftlock-lives-{}-{tag}-{seed}", std::process::id()));
            let writer = Writer::create(&path, &case.trace_header(algorithm, Vec::new())).expect("a file");
            let report = case.run(algorithm, Repairs::ALL, Some(writer)).expect("written");
            assert!(report.injected.restarts > 0 && report.violation.is_none());
            let outcome = replay(Reader::open(&path).expect("a trace")).expect("it makes sense");
            assert!(matches!(outcome, Outcome::Same { .. }), "{tag}, seed {seed}: {outcome:?}");
            std::fs::remove_file(&path).expect("removed");
        }
    }
}

//! What each thing is for that a node stores: random runs in which nodes are killed, and one of them is not on their
//! disks.

use driftlock_protocol::height::Height;
use driftlock_protocol::hok::{self, Hok};
use driftlock_protocol::krl::{self, Forwarding, Krl};
use driftlock_protocol::{Algorithm, Constants, Demand, Deployment, NodeId, Permits, Protocol, Repairs, Stored};
use driftlock_sim::random::{Duration, Stays, Subject, stream};
use driftlock_sim::soak::{Case, Crowd, Report};
use driftlock_sim::world::{Setting, World};
use driftlock_spec::Violation;

const RUNS: u64 = 60;
/// Runs of each whose means are compared: what a height is worth is little beside what differs from run to run.
const RUNS_COMPARED: u64 = 2_000;

type Forget<P> = fn(&mut Stored<<P as Protocol>::Durable>);

/// Runs of this algorithm, with much killing, in which disks forget this.
fn runs<P: Protocol>(tag: &str, variant: P::Variant, checked: bool, forget: Forget<P>, count: u64) -> Vec<Report> {
    let algorithm = Algorithm::named(tag).expect("registered");
    let run = |seed| {
        let case = Case::draw(seed, Crowd::Usual, algorithm).with_kills();
        let case = if checked { case } else { case.unchecked() };
        case.run_forgetting::<P>(variant, Repairs::ALL, None, forget).expect("no trace")
    };
    (0..count).map(run).collect()
}

fn krl(checked: bool, forget: Forget<Krl>) -> Vec<Report> {
    runs::<Krl>("krl", krl::Variant::new(Forwarding::Off), checked, forget, RUNS)
}

fn hok(checked: bool, forget: Forget<Hok>) -> Vec<Report> {
    runs::<Hok>("hok", hok::Variant::new(hok::Policy::Priority), checked, forget, RUNS)
}

fn violations(reports: &[Report]) -> Vec<Violation> {
    reports.iter().filter_map(|report| report.violation.clone()).collect()
}

fn is_lost(violation: &Violation) -> bool {
    matches!(violation, Violation::PermitsChanged { .. })
}

fn is_in_use_twice(violation: &Violation) -> bool {
    matches!(violation, Violation::TooManyInUse { .. } | Violation::PermitInUse { .. })
}

fn is_starved(violation: &Violation) -> bool {
    matches!(violation, Violation::Starved { .. })
}

#[test]
fn a_node_that_forgets_nothing_that_it_stores_breaks_nothing() {
    assert_eq!(violations(&krl(true, |_| {})), Vec::<Violation>::new());
    assert_eq!(violations(&hok(true, |_| {})), Vec::<Violation>::new());
}

#[test]
fn krl_loses_tokens_that_a_node_does_not_store() {
    let forget: Forget<Krl> = |stored| stored.protocol.idle.clear();
    assert!(violations(&krl(true, forget)).iter().any(is_lost));
    assert!(violations(&krl(false, forget)).iter().any(is_starved), "and somebody waits for ever");
}

#[test]
fn krl_grants_a_unit_that_is_in_use_if_a_node_does_not_store_that_it_is() {
    let forget: Forget<Krl> = |stored| stored.protocol.idle.extend(stored.protocol.in_use.take());
    assert!(violations(&krl(true, forget)).iter().any(is_in_use_twice));
}

#[test]
fn krl_loses_the_token_that_is_in_use_if_a_node_stores_only_the_others() {
    let forget: Forget<Krl> = |stored| stored.protocol.in_use = None;
    assert!(violations(&krl(true, forget)).iter().any(is_lost));
}

#[test]
#[should_panic(expected = "called only with somebody to serve and a token to give")]
fn a_node_that_does_not_store_what_it_has_granted_asks_while_that_is_in_use() {
    krl(true, |stored| stored.grant = None);
}

#[test]
fn hok_loses_the_token_that_its_holder_does_not_store() {
    let forget: Forget<Hok> = |stored| stored.protocol.token = None;
    assert!(violations(&hok(true, forget)).iter().any(is_lost));
    assert!(violations(&hok(false, forget)).iter().any(is_starved), "and somebody waits for ever");
}

#[test]
fn hok_grants_units_that_are_in_use_if_a_node_does_not_store_that_they_are() {
    let forget: Forget<Hok> = |stored| {
        let in_use = std::mem::replace(&mut stored.protocol.in_use, Permits::NONE);
        match &mut stored.protocol.token {
            Some(token) => token.free = token.free.union(in_use),
            None => stored.protocol.released = stored.protocol.released.union(in_use),
        }
    };
    assert!(violations(&hok(true, forget)).iter().any(is_in_use_twice));
}

#[test]
fn hok_loses_units_that_a_node_does_not_store() {
    let in_use: Forget<Hok> = |stored| stored.protocol.in_use = Permits::NONE;
    assert!(violations(&hok(true, in_use)).iter().any(is_lost));
    let on_their_way_back: Forget<Hok> = |stored| stored.protocol.released = Permits::NONE;
    assert!(violations(&hok(true, on_their_way_back)).iter().any(is_lost));
}

/// Messages for each entry.
fn cost(reports: &[Report]) -> f64 {
    let sum = |of: fn(&Report) -> u64| reports.iter().map(of).sum::<u64>() as f64;
    sum(|report| report.messages) / sum(|report| report.entries_under_faults + report.entries_after)
}

#[test]
fn a_node_that_comes_back_at_its_first_height_has_others_move() {
    fn first(height: &mut Height) {
        *height = Height::new(0, 0, height.id);
    }
    let [stored, forgotten] = [|_: &mut _| (), |stored: &mut Stored<krl::Durable>| first(&mut stored.protocol.height)];
    let krl = |forget| runs::<Krl>("krl", krl::Variant::new(Forwarding::Off), false, forget, RUNS_COMPARED);
    let (with, without) = (cost(&krl(stored)), cost(&krl(forgotten)));
    assert!(with < 0.99 * without, "{with} messages an entry with its height, {without} without");
}

/// Who is served first of node 2, which has asked, and node 0, which is killed, comes back and asks then: they stand at
/// either side of node 1, which is inside, and have been granted the unit before.
fn first_of_two(forget: Forget<Hok>) -> Option<NodeId> {
    let [a, b, c] = [0, 1, 2].map(NodeId);
    let deployment = Deployment { nodes: 3, k: 1, links: vec![(a, b), (b, c)], ..Deployment::default() };
    let mut world = World::<Hok>::new(Setting {
        deployment: &deployment,
        variant: hok::Variant::new(hok::Policy::Priority),
        repairs: Repairs::ALL,
        constants: &Constants::new(),
        delay: Duration::Constant(1.0),
        delays: stream(1, 0, Subject::Delay),
        stays: Stays::new(1, 0),
        lives: stream(1, 0, Subject::Life),
        checked: true,
        recorder: None,
        field: None,
    });
    world.forget_of_disks(forget);
    let settle = |world: &mut World<Hok>| {
        while let Some(event) = world.next_event() {
            world.deliver(event).expect("it holds");
        }
    };
    for node in [a, c, b] {
        world.request(node, Demand::ONE).expect("it holds");
        settle(&mut world);
        assert_eq!(world.next_granted(), Some(node));
        if node != b {
            let entry = world.entry(node);
            world.release(node, entry).expect("it holds");
            settle(&mut world);
        }
    }
    world.request(c, Demand::ONE).expect("it holds");
    settle(&mut world);
    world.restart(a).expect("it holds");
    world.request(a, Demand::ONE).expect("it holds");
    settle(&mut world);
    let entry = world.entry(b);
    world.release(b, entry).expect("it holds");
    settle(&mut world);
    world.next_granted()
}

#[test]
fn a_node_of_hok_that_forgets_how_many_grants_it_had_heard_of_goes_before_who_has_waited() {
    assert_eq!(first_of_two(|_| {}), Some(NodeId(2)));
    assert_eq!(first_of_two(|stored| stored.protocol.grants = hok::Grants::default()), Some(NodeId(0)));
}

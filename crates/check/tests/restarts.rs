//! Nodes that are killed at any instant, and come back with what they had stored, while their applications go on: every
//! order of events, and what each stored field is for.

use std::ops::ControlFlow;

use driftlock_check::{Bound, Effort, Lives, Model, Report, Setup, Topology, check, explore, topologies};
use driftlock_protocol::ideal::RESTARTS;
use driftlock_protocol::krl::{Forwarding, Krl};
use driftlock_protocol::{Algorithm, Demand, Deployment, Protocol, Repairs, Stored, Units, Visitor, krl};
use driftlock_spec::Violation;

struct Explore<'a>(&'a Setup);

impl Visitor for Explore<'_> {
    type Output = Report;

    fn visit<P: Protocol>(self, variant: P::Variant) -> Report {
        let effort = Effort { threads: 2, liveness: true };
        check::<P>(self.0, variant, Repairs::ALL, effort, &mut |_| ControlFlow::Continue(())).unwrap()
    }
}

/// Nodes with these links, each of which asks so often; one of them is killed.
fn killed(topology: Topology, nodes: u32, k: u32, requests: u8) -> Setup {
    let links = topologies(topology, nodes).remove(0);
    let still = Setup::still(Deployment { nodes, k, links, ..Deployment::default() }, Bound::Most(requests));
    let mut setup = still.allowing([(&RESTARTS, Bound::Most(1))]);
    setup.spread = setup.usual_spread();
    setup
}

#[track_caller]
fn holds(tag: &str, setup: &Setup) {
    let report = Algorithm::named(tag).unwrap().visit(Explore(setup));
    assert_eq!(report.violation, None, "{tag}: {setup:?}");
    assert!(report.exhaustive && report.liveness, "{tag}: {setup:?}");
    assert!(report.witnessed.lives == Lives::Resumed, "{tag}: {:?}", report.witnessed);
    assert_eq!(report.witnessed.granted.len(), setup.deployment.nodes as usize, "{tag}");
    println!(
        "{tag} {} nodes: {} states, depth {}, cut {}",
        setup.deployment.nodes, report.states, report.depth, report.cut
    );
}

const ON_LINKS: [&str; 9] =
    ["krl", "krlf", "krlf-adaptive", "rl", "hok", "hok-strict", "hok-fewest", "hok-edf", "hok-fcfs"];

#[test]
fn either_of_two_nodes_may_be_killed_at_any_instant_and_both_are_served() {
    for tag in ON_LINKS {
        holds(tag, &killed(Topology::Line, 2, 1, 2));
    }
}

#[test]
fn two_nodes_may_be_killed_one_after_the_other() {
    for tag in ["krl", "krlf", "hok"] {
        holds(tag, &killed(Topology::Line, 2, 1, 1).allowing([(&RESTARTS, Bound::Most(2))]));
    }
}

#[test]
fn any_of_three_nodes_may_be_killed_at_any_instant_and_all_are_served() {
    for tag in ["krl", "krlf", "hok"] {
        holds(tag, &killed(Topology::Line, 3, 1, 1));
    }
}

#[test]
fn several_units_are_neither_lost_nor_lent_twice() {
    let two = Demand { units: Units::new(2).unwrap(), ..Demand::ONE };
    holds("hok", &Setup { demands: vec![Demand::ONE, two], ..killed(Topology::Line, 2, 2, 1) });
    holds("krl", &killed(Topology::Line, 3, 2, 1));
}

/// What goes wrong where a node that is killed has stored less.
#[track_caller]
fn without<P: Protocol>(setup: &Setup, variant: P::Variant, forget: fn(&mut Stored<P::Durable>)) -> Violation {
    let model = Model::<P>::new(setup.clone(), variant, Repairs::ALL).unwrap().forgetting(forget);
    let report = explore(&model, Effort { threads: 2, liveness: true }, &mut |_| ControlFlow::Continue(()));
    report.violation.expect("it was stored for something").violation
}

#[test]
fn what_krl_stores_is_needed() {
    let setup = killed(Topology::Line, 2, 1, 2);
    let krl = krl::Variant::new(Forwarding::Off);
    let idle = without::<Krl>(&setup, krl, |stored| stored.protocol.idle.clear());
    assert!(matches!(idle, Violation::PermitsChanged { .. }), "{idle}");
    let in_use = without::<Krl>(&setup, krl, |stored| stored.protocol.in_use = None);
    assert!(matches!(in_use, Violation::PermitsChanged { .. }), "{in_use}");
}

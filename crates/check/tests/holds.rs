//! The smallest networks in every order of events: nothing is violated and everybody is served, in however many states.

use std::ops::ControlFlow;

use driftlock_check::{Bound, Effort, Property, Report, Setup, Topology, check, topologies};
use driftlock_protocol::ideal::Fate;
use driftlock_protocol::ideal::{FAILURES, FORMATIONS, JOINS, LEAVES};
use driftlock_protocol::{Algorithm, Demand, Deployment, NodeId, Priority, Protocol, Repairs, Units, Visitor};
use driftlock_spec::Violation;

struct Explore<'a>(&'a Setup);

impl Visitor for Explore<'_> {
    type Output = Report;

    fn visit<P: Protocol>(self, variant: P::Variant) -> Report {
        let effort = Effort { threads: 2, liveness: true };
        check::<P>(self.0, variant, Repairs::ALL, effort, &mut |_| ControlFlow::Continue(())).unwrap()
    }
}

#[track_caller]
fn holds(tag: &str, setup: &Setup) {
    let nodes = setup.deployment.nodes as usize;
    let report = Algorithm::named(tag).unwrap().visit(Explore(setup));
    assert_eq!(report.violation, None, "{tag}: {setup:?}");
    assert!(report.exhaustive && report.liveness && report.uncounted == 0, "{tag}: {setup:?}");
    assert!(report.witnessed.all_in_use && report.witnessed.granted.len() == nodes, "{tag}: {:?}", report.witnessed);
}

/// Nodes with these links, each of which asks so often.
fn linked(topology: Topology, nodes: u32, k: u32, requests: u8) -> Setup {
    let links = topologies(topology, nodes).remove(0);
    Setup::still(Deployment { nodes, k, links, ..Deployment::default() }, Bound::Most(requests))
}

/// One link fails, one forms, and each node may withdraw once.
fn changing(still: Setup, fate: Fate) -> Setup {
    let once = Bound::Most(1);
    let still = still.allowing([(&FAILURES, once), (&FORMATIONS, once)]);
    let mut setup = Setup { cancels: once, fate, ..still };
    setup.spread = setup.usual_spread();
    setup
}

const ON_LINKS: [&str; 9] =
    ["krl", "krlf", "krlf-adaptive", "rl", "hok", "hok-strict", "hok-fewest", "hok-edf", "hok-fcfs"];

#[test]
fn three_nodes_are_served_while_nothing_changes() {
    for tag in ON_LINKS {
        holds(tag, &linked(Topology::Line, 3, 1, 1));
    }
    for tag in ["krl", "krlf-adaptive", "hok"] {
        holds(tag, &linked(Topology::Complete, 3, 1, 1));
    }
}

#[test]
fn two_nodes_are_served_while_their_link_fails_and_forms_whatever_becomes_of_messages() {
    for tag in ON_LINKS {
        for fate in [Fate::Returned, Fate::Drained, Fate::Settled] {
            holds(tag, &changing(linked(Topology::Line, 2, 1, 2), fate));
        }
    }
}

#[test]
fn several_units_are_granted_whole_to_the_urgent_and_to_the_others() {
    let two = Demand { units: Units::new(2).unwrap(), ..Demand::ONE };
    let demands = vec![Demand::ONE, two, Demand { priority: Priority(1), ..Demand::ONE }];
    for tag in ["hok", "hok-strict", "hok-fewest"] {
        let still = Setup { demands: demands.clone(), ..linked(Topology::Line, 2, 2, 2) };
        holds(tag, &still);
        holds(tag, &changing(Setup { requests: Bound::Most(1), ..still }, Fate::Settled));
    }
}

#[test]
fn klme_serves_while_one_node_leaves_or_enters() {
    for (nodes, members, k, [leaves, joins, cancels]) in
        [(2, 2, 1, [1, 1, 1]), (2, 2, 2, [1, 1, 1]), (2, 1, 1, [0, 1, 1]), (3, 3, 1, [0, 0, 0]), (3, 3, 2, [0, 0, 0])]
    {
        let members = (0..members).map(NodeId).collect();
        let still = Setup::still(Deployment { nodes, k, members, ..Deployment::default() }, Bound::Most(1));
        let [leaves, joins, cancels] = [leaves, joins, cancels].map(Bound::Most);
        holds("klme", &Setup { cancels, ..still.allowing([(&LEAVES, leaves), (&JOINS, joins)]) });
    }
}

#[test]
fn klme_serves_who_asks_again() {
    let members = (0..3).map(NodeId).collect();
    holds("klme", &Setup::still(Deployment { nodes: 3, k: 1, members, ..Deployment::default() }, Bound::Most(2)));
}

#[test]
fn krl_comes_to_rest_and_krlf_keeps_its_token_moving() {
    let calm = |tag: &str| {
        let mut setup = linked(Topology::Line, 3, 1, 1);
        setup.properties = setup.properties.with(Property::Calm);
        Algorithm::named(tag).unwrap().visit(Explore(&setup)).violation.map(|found| found.violation)
    };
    assert_eq!(calm("krl"), None);
    assert_eq!(calm("krlf"), Some(Violation::Restless));
}

//! A search says what was the case in some state; and it does not say so of what never was.

use std::ops::ControlFlow;

use driftlock_check::{Bound, Effort, Report, Setup, check};
use driftlock_protocol::ideal::{JOINS, LEAVES};
use driftlock_protocol::klme::Klme;
use driftlock_protocol::{Deployment, NodeId, Repairs};

const EFFORT: Effort = Effort { threads: 1, liveness: true };

/// Of three nodes the first two are in the neighbourhood and share two units; nothing but requests happens.
fn setup(requests: u8) -> Setup {
    let members = vec![NodeId(0), NodeId(1)];
    Setup::still(Deployment { nodes: 3, k: 2, members, ..Deployment::default() }, Bound::Most(requests))
}

fn explored(requests: u8, requests_in_all: u8) -> Report {
    let setup = Setup { requests_in_all: Bound::Most(requests_in_all), ..setup(requests) };
    let report = check::<Klme>(&setup, (), Repairs::ALL, EFFORT, &mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(report.violation, None);
    assert!(report.exhaustive && report.liveness && report.undecided == 0);
    report
}

#[test]
fn where_nobody_asks_nobody_is_granted_anything() {
    let report = explored(0, 0);
    assert_eq!(report.witnessed.granted, []);
    assert!(!report.witnessed.all_in_use && report.witnessed.quiet);
    assert_eq!((report.states, report.transitions, report.depth), (1, 0, 0));
}

#[test]
fn a_node_outside_is_not_among_the_granted() {
    let reachable = [NodeId(0), NodeId(1)];
    assert_eq!(explored(1, 9).witnessed.granted, reachable);
    assert!(explored(1, 9).witnessed.all_in_use, "both may be inside at once");
}

#[test]
fn where_one_request_is_all_there_is_one_of_two_units_stays_free() {
    let report = explored(1, 1);
    assert_eq!(report.witnessed.granted, [NodeId(0), NodeId(1)], "each in another order of events");
    assert!(!report.witnessed.all_in_use);
}

/// A search that is told to stop does not call itself exhaustive, and decides nothing about service.
#[test]
fn a_search_that_was_ended_says_so() {
    let endless = Setup { requests: Bound::Any, ..setup(0).allowing([(&JOINS, Bound::Any), (&LEAVES, Bound::Any)]) };
    let report = check::<Klme>(&endless, (), Repairs::ALL, EFFORT, &mut |_| ControlFlow::Break(())).unwrap();
    assert_eq!(report.violation, None);
    assert!(!report.exhaustive && !report.liveness);
}

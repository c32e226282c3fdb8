//! klme-ft in every order of events where a member is killed at any instant and comes back, while its application goes
//! on for as long as its lease lasts; and what goes wrong without each of the rules for that.

use std::ops::ControlFlow;
use std::time::Duration;

use driftlock_check::{Bound, Effort, Lives, Properties, Property, Report, Setup, Timing, check};
use driftlock_protocol::ideal::{DISK_LOSSES, JOINS, RESTARTS};
use driftlock_protocol::klme_ft::{KlmeFt, Variant, guard};
use driftlock_protocol::{Deployment, NodeId, Repair, Repairs};
use driftlock_spec::Violation;

const TICK: Duration = Duration::from_secs(10);
const ONCE: Bound = Bound::Most(1);
const TWICE: Bound = Bound::Most(2);

/// Three members, one unit, one of them is killed; every message arrives before time goes on.
fn setup(requests_in_all: u8) -> Setup {
    let members = (0..3).map(NodeId).collect();
    let deployment = Deployment { nodes: 3, k: 1, members, ..Deployment::default() };
    let mut setup = Setup::still(deployment, TWICE);
    setup.timing = Timing::Timed { tick: TICK, drift: 0, pauses: 0 };
    setup.requests_in_all = Bound::Most(requests_in_all);
    setup.allow([(&RESTARTS, ONCE)]);
    setup.lateness = Bound::Most(0);
    // Its beats for ever take turns with whatever an application might do.
    setup.properties = Properties::USUAL.without(Property::Service);
    setup
}

fn explored(setup: &Setup, rules: Repairs) -> Report {
    let effort = Effort { threads: 2, liveness: false };
    check::<KlmeFt>(setup, Variant::USUAL, rules, effort, &mut |_| ControlFlow::Continue(())).unwrap()
}

#[track_caller]
fn holds(setup: &Setup) -> u64 {
    let report = explored(setup, Repairs::ALL);
    assert_eq!(report.violation, None);
    assert!(report.exhaustive && report.witnessed.lives == Lives::Resumed, "{:?}", report.witnessed);
    println!("{} states, depth {}", report.states, report.depth);
    report.states
}

/// Without this rule a search finds what an application sees of it.
#[track_caller]
fn needs(rule: Repair, setup: &Setup) {
    let blind = Setup { properties: setup.properties.without(Property::Invariant), ..setup.clone() };
    let report = explored(&blind, Repairs::ALL.without(rule));
    let found = report.violation.unwrap_or_else(|| panic!("nothing is wrong without `{}`", rule.name));
    println!("without {}: {} after {} steps", rule.name, found.violation, found.actions.len());
    let found = found.violation;
    let is_unsafe = matches!(
        found,
        Violation::TooManyInUse { .. } | Violation::PermitInUse { .. } | Violation::FenceNotGrowing { .. }
    );
    assert!(is_unsafe, "without `{}`: {found}", rule.name);
}

#[test]
fn a_member_is_killed_and_comes_back() {
    holds(&setup(2));
}

#[test]
fn a_member_comes_back_and_a_message_is_lost() {
    holds(&Setup { losses: ONCE, ..setup(1) });
}

#[test]
fn a_member_comes_back_blank_while_its_application_goes_on() {
    let wiped = setup(2).allowing([(&RESTARTS, Bound::Most(0)), (&DISK_LOSSES, ONCE)]);
    assert_eq!(explored(&wiped, Repairs::ALL).violation, None);
}

#[test]
fn the_number_is_stored() {
    needs(guard::STORE_NUMBER, &Setup { losses: ONCE, ..setup(2) });
}

#[test]
fn the_bond_begins_anew() {
    needs(guard::BEGIN_BOND_ANEW, &Setup { losses: ONCE, ..setup(2) });
}

#[test]
fn who_comes_back_claims_nothing_for_a_lease() {
    needs(guard::QUIET, &setup(2));
}

/// So few members that one is a majority: when it is back after a pause, all its timers are due at once, and it may
/// take its unit from itself and grant it anew in one step.
#[test]
fn who_is_its_own_majority_may_take_back_and_grant_in_one_step() {
    let members = (0..2).map(NodeId).collect();
    let deployment = Deployment { nodes: 2, k: 1, members, ..Deployment::default() };
    let timing = Timing::Timed { tick: TICK, drift: 0, pauses: 1 };
    assert_eq!(holds(&Setup { deployment, timing, requests: ONCE, ..setup(2) }), 52_435);
}

/// The only member loses its disk while its application is inside: nobody has units made before that has ended.
#[test]
fn nobody_founds_while_an_application_of_an_earlier_life_is_inside() {
    let members = vec![NodeId(0)];
    let deployment = Deployment { nodes: 2, k: 1, members, ..Deployment::default() };
    let mut setup =
        Setup { deployment, ..setup(2).allowing([(&RESTARTS, Bound::Most(0)), (&DISK_LOSSES, ONCE), (&JOINS, ONCE)]) };
    setup.requests = TWICE;
    let report = explored(&setup, Repairs::ALL);
    assert_eq!(report.violation, None);
    assert!(report.exhaustive && report.states > 1_000, "{} states", report.states);
}

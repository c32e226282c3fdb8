//! klme-ft in every order of events, in timed mode: three nodes share one unit while a node crashes and a message is
//! lost. And what it rests on: without it, the search finds two users of one unit.

use std::ops::ControlFlow;
use std::time::Duration;

use driftlock_check::{Bound, Effort, Model, Properties, Property, Report, Setup, StayOrder, Timing, check, walk};
use driftlock_protocol::ideal::{CRASHES, JOINS, LEAVES};
use driftlock_protocol::klme_ft::{KlmeFt, Variant};
use driftlock_protocol::{Deployment, NodeId, Repairs};
use driftlock_spec::Violation;

const TICK: Duration = Duration::from_secs(10);
const ONCE: Bound = Bound::Most(1);

/// Three members, one unit, each asks once, every message arrives before time goes on; nothing fails.
fn setup() -> Setup {
    let members = (0..3).map(NodeId).collect();
    let deployment = Deployment { nodes: 3, k: 1, members, ..Deployment::default() };
    let mut setup = Setup::still(deployment, ONCE);
    setup.timing = Timing::Timed { tick: TICK, drift: 0, pauses: 0 };
    setup.lateness = Bound::Most(0);
    // The constants are given by each test.
    setup.small_scale = false;
    // Periodic timers keep taking turns with what an application might do, so that fairness says nothing here: that
    // everybody is served is a matter of the fault-and-heal runs.
    setup.properties = Properties::USUAL.without(Property::Service);
    setup
}

fn explored(setup: &Setup, variant: Variant) -> Report {
    let effort = Effort { threads: 2, liveness: false };
    check::<KlmeFt>(setup, variant, Repairs::ALL, effort, &mut |_| ControlFlow::Continue(())).unwrap()
}

/// Nothing is violated in any state; returns how many there are.
fn holds(setup: &Setup, variant: Variant) -> u64 {
    let report = explored(setup, variant);
    assert_eq!(report.violation, None);
    assert!(report.exhaustive && report.cut == 0 && report.witnessed.all_in_use);
    assert_eq!(report.witnessed.granted.len(), setup.deployment.nodes as usize, "everybody is granted in some state");
    report.states
}

fn breaks(setup: &Setup, variant: Variant) {
    let found = explored(setup, variant).violation.expect("it breaks").violation;
    assert!(matches!(found, Violation::TooManyInUse { .. }), "{found}");
}

fn with_margin(ticks: u32) -> Variant {
    let mut variant = Variant::SMALL;
    variant.times.margin = TICK * ticks;
    variant
}

#[test]
fn three_nodes_survive_a_crash_and_a_lost_message() {
    let setup = Setup { losses: ONCE, ..setup().allowing([(&CRASHES, ONCE)]) };
    assert_eq!(holds(&setup, Variant::SMALL), 715_009);
}

#[test]
fn messages_may_overtake_one_another_as_well() {
    let setup = Setup { losses: ONCE, overtakes: ONCE, ..setup().allowing([(&CRASHES, ONCE)]) };
    assert_eq!(holds(&setup, Variant::SMALL), 2_668_438);
}

#[test]
fn messages_may_be_late() {
    let setup = Setup { requests_in_all: ONCE, lateness: Bound::Most(3), ..setup().allowing([(&CRASHES, ONCE)]) };
    assert_eq!(holds(&setup, Variant::SMALL), 174_575);
}

#[test]
fn a_node_may_sleep_for_any_time() {
    let mut setup = Setup { requests_in_all: Bound::Most(2), ..setup().allowing([(&CRASHES, ONCE)]) };
    setup.timing = Timing::Timed { tick: TICK, drift: 0, pauses: 1 };
    assert_eq!(holds(&setup, Variant::SMALL), 933_172);
}

#[test]
fn members_may_leave_and_enter_meanwhile() {
    let setup =
        Setup { requests_in_all: ONCE, ..setup().allowing([(&LEAVES, ONCE), (&JOINS, ONCE), (&CRASHES, ONCE)]) };
    assert_eq!(holds(&setup, Variant::SMALL), 48_103);
}

/// Whether the leader's stay is below those of the others, above them or between them, and those of newcomers above or
/// below.
#[test]
fn stays_may_lie_to_one_another_in_any_order() {
    let of_members = |stays| {
        let mut setup = Setup { losses: ONCE, requests_in_all: ONCE, ..setup().allowing([(&CRASHES, ONCE)]) };
        setup.set_stays(stays);
        holds(&setup, Variant::SMALL)
    };
    let of_newcomers = |stays| {
        let mut setup =
            Setup { requests_in_all: ONCE, ..setup().allowing([(&LEAVES, ONCE), (&JOINS, ONCE), (&CRASHES, ONCE)]) };
        setup.set_stays(stays);
        holds(&setup, Variant::SMALL)
    };
    assert_eq!(StayOrder::ALL.map(of_members), [14_049, 14_056, 14_055]);
    assert_eq!(StayOrder::ALL.map(of_newcomers), [48_103, 47_979, 48_209]);
}

#[test]
fn clocks_may_differ_by_as_much_as_the_margin_allows_and_no_more() {
    let mut setup = Setup { requests_in_all: Bound::Most(2), ..setup() };
    setup.timing = Timing::Timed { tick: TICK, drift: 1, pauses: 0 };
    // The leader's clock and the user's may both be slow.
    holds(&setup, with_margin(2));
    breaks(&setup, with_margin(0));
}

#[test]
fn two_units_are_shared_by_no_more_than_two() {
    let mut setup = Setup { losses: ONCE, ..setup().allowing([(&CRASHES, ONCE)]) };
    setup.deployment.k = 2;
    holds(&setup, Variant::SMALL);
}

/// Untimed, any timer may fire next: a lease may run out at once, and a guard as well, before what it guards. Nothing
/// is left but that no grant is made twice, which is what the fence rests on.
#[test]
fn without_a_clock_no_grant_is_made_twice() {
    let mut setup = Setup { losses: Bound::Any, requests: Bound::Most(9), ..setup().allowing([(&CRASHES, ONCE)]) };
    (setup.timing, setup.lateness) = (Timing::Untimed, Bound::Any);
    setup.properties = setup.properties.without(Property::Safety);
    let model = Model::<KlmeFt>::new(setup.clone(), Variant::SMALL, Repairs::ALL).unwrap();
    let walked = walk(&model, 1, 0..10_000, &|_| ControlFlow::Continue(()));
    assert_eq!(walked.violation, None);
    assert!(walked.grants > 500, "{} grants", walked.grants);
}

/// Messages that are late without bound cost leaders their majorities, again and again; the walk goes on nevertheless.
#[test]
fn a_walk_goes_on_while_there_is_no_leader() {
    let setup = Setup { lateness: Bound::Any, ..setup() };
    let model = Model::<KlmeFt>::new(setup, Variant::SMALL, Repairs::ALL).unwrap();
    let walked = walk(&model, 1, 0..200, &|_| ControlFlow::Continue(()));
    assert_eq!(walked.violation, None);
    assert!(walked.grants > 400, "{} of 600 requests were granted", walked.grants);
}

//! What klme-ft's rules of safety are for: without each of them a search finds two users of one unit, or one fence
//! issued twice. What the others are for, runs of the simulator show (`crates/sim/tests/klme_ft_guards.rs`), and
//! stories (`crates/spec/tests/klme_ft.rs`).

use std::ops::ControlFlow;
use std::time::Duration;

use driftlock_check::{Bound, Effort, Properties, Property, Setup, Timing, check};
use driftlock_protocol::ideal::CRASHES;
use driftlock_protocol::klme_ft::{KlmeFt, Variant, guard};
use driftlock_protocol::{Deployment, NodeId, Repair, Repairs};
use driftlock_spec::Violation;

const TICK: Duration = Duration::from_secs(10);
const ONCE: Bound = Bound::Most(1);
const TWICE: Bound = Bound::Most(2);

/// Three members, one unit, each asks once; the bounds of the faults are given by each test.
fn setup() -> Setup {
    let members = (0..3).map(NodeId).collect();
    let deployment = Deployment { nodes: 3, k: 1, members, ..Deployment::default() };
    let mut setup = Setup::still(deployment, ONCE);
    setup.timing = Timing::Timed { tick: TICK, drift: 0, pauses: 0 };
    setup.lateness = Bound::Most(0);
    setup.small_scale = false;
    // Only what applications see: a lemma would be violated earlier, and for a reason of its own.
    setup.properties = Properties::USUAL.without(Property::Service).without(Property::Invariant);
    setup
}

/// A node crashes, and a message is lost.
fn faults() -> Setup {
    Setup { losses: ONCE, ..setup().allowing([(&CRASHES, ONCE)]) }
}

/// Two ask, and so many ticks in all pass while a message that is due has not arrived.
fn late(ticks: u8) -> Setup {
    Setup { requests_in_all: TWICE, lateness: Bound::Most(ticks), ..setup() }
}

#[track_caller]
fn needs(rule: Repair, setup: &Setup) {
    needs_as(rule, setup, Variant::SMALL);
}

#[track_caller]
fn needs_as(rule: Repair, setup: &Setup, variant: Variant) {
    let effort = Effort { threads: 2, liveness: false };
    let without = Repairs::ALL.without(rule);
    let report = check::<KlmeFt>(setup, variant, without, effort, &mut |_| ControlFlow::Continue(())).unwrap();
    let found = report.violation.unwrap_or_else(|| panic!("nothing is wrong without `{}`", rule.name)).violation;
    let is_unsafe = matches!(
        found,
        Violation::TooManyInUse { .. }
            | Violation::PermitInUse { .. }
            | Violation::DoubleGrant { .. }
            | Violation::FenceNotGrowing { .. }
    );
    assert!(is_unsafe, "without `{}`: {found}", rule.name);
}

#[test]
fn a_copy_holder_is_bound_to_its_leader() {
    needs(guard::BOND, &late(3));
}

#[test]
fn a_leader_is_bound_to_itself() {
    needs(guard::BIND_SELF, &Setup { overtakes: ONCE, ..faults() });
}

#[test]
fn who_has_voted_follows_no_lower_leader() {
    needs(guard::PROMISE, &faults());
}

#[test]
fn a_leader_has_a_majority_behind_it() {
    needs(guard::CONFIRM, &faults());
}

#[test]
fn an_acknowledgement_is_of_one_beat() {
    needs(guard::LATE_ACKS, &late(3));
}

#[test]
fn nothing_is_granted_on_account_of_a_timer() {
    let timing = Timing::Timed { tick: TICK, drift: 0, pauses: 1 };
    needs(guard::NOT_ON_TIMER, &Setup { requests_in_all: TWICE, timing, ..setup().allowing([(&CRASHES, ONCE)]) });
}

/// The leader grants, and crashes; its grant is late, and another leads already. That shows if a lease is longer than
/// the shortest.
#[test]
fn a_lease_counts_from_the_claim() {
    let mut variant = Variant::SMALL;
    variant.times.lease = 3 * TICK;
    needs_as(guard::LEASE_FROM_CLAIM, &late(3).allowing([(&CRASHES, ONCE)]), variant);
}

#[test]
fn a_unit_is_lent_anew_when_its_last_lease_is_over() {
    needs(guard::GUARD_LEASE, &faults());
}

#[test]
fn a_grant_is_for_the_latest_claim() {
    needs(guard::LATE_GRANTS, &Setup { overtakes: TWICE, ..late(1) });
}

#[test]
fn a_late_claim_frees_nothing() {
    needs(guard::LATE_CLAIMS, &faults());
}

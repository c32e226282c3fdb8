//! What klme-ft's rules are for, beside those that a search shows (`crates/check/tests/klme_ft_guards.rs`): runs with
//! faults that are not served afterwards, or break, without one of them; and are, with all.

use driftlock_protocol::klme_ft::guard;
use driftlock_protocol::registry::Algorithm;
use driftlock_protocol::{Repair, Repairs};
use driftlock_sim::soak::{Case, Crowd, Report};
use driftlock_spec::Violation;

/// A run in which no node is killed to come back, or told wrongly which nodes come and go.
fn report(rules: Repairs, seed: u64) -> Report {
    let algorithm = Algorithm::named("klme-ft").expect("registered");
    let case = Case::draw(seed, Crowd::Usual, algorithm).without_kills().well_informed();
    case.run(algorithm, rules, None).expect("nothing is written")
}

fn run(rules: Repairs, seed: u64) -> Option<Violation> {
    report(rules, seed).violation
}

fn found(rule: Repair, seed: u64) -> Violation {
    assert_eq!(run(Repairs::ALL, seed), None, "seed {seed}");
    run(Repairs::ALL.without(rule), seed).unwrap_or_else(|| panic!("seed {seed} holds without `{}`", rule.name))
}

#[test]
fn without_these_rules_waiters_are_never_served() {
    let found_by = [
        (guard::RESIGN, 3_134),
        (guard::WATCH, 5),
        (guard::OUTDO, 1_155),
        (guard::HEED, 2_511),
        (guard::SPOKEN_FOR, 83_983),
        (guard::WITHDRAW, 50),
        (guard::FORGET_VOLUNTEER, 53),
        (guard::LATE_DISMISSALS, 19_188),
        (guard::KNOCK_AGAIN, 48),
        (guard::WANTS_NO_REST, 23_743),
    ];
    for (rule, seed) in found_by {
        let found = found(rule, seed);
        assert!(matches!(found, Violation::Starved { .. }), "without `{}`: {found}", rule.name);
    }
}

#[test]
fn without_these_rules_a_fence_is_issued_twice() {
    for (rule, seed) in [(guard::COUNTER, 86), (guard::FRESHEST, 4_082), (guard::SETTLE, 54_283)] {
        let found = found(rule, seed);
        assert!(matches!(found, Violation::FenceNotGrowing { .. }), "without `{}`: {found}", rule.name);
    }
}

#[test]
fn a_claim_that_was_overtaken_by_the_release_does_not_keep_the_leader_awake() {
    assert!(report(Repairs::ALL, 20).rested);
    assert!(!report(Repairs::ALL.without(guard::GHOSTS), 20).rested);
}

#[test]
fn who_keeps_copies_is_stored_and_which_set_is_the_later_one() {
    let run = |rules: Repairs, seed: u64| {
        let algorithm = Algorithm::named("klme-ft").expect("registered");
        let report = Case::draw(seed, Crowd::Usual, algorithm).run(algorithm, rules, None);
        report.expect("nothing is written").violation
    };
    for (rule, seed) in [(guard::STORE_HOLDERS, 1), (guard::STORE_VERSION, 4_706)] {
        assert_eq!(run(Repairs::ALL, seed), None, "seed {seed}");
        let found = run(Repairs::ALL.without(rule), seed).expect("members come back that do not know who keeps copies");
        assert!(matches!(found, Violation::Starved { .. }), "without `{}`: {found}", rule.name);
    }
}

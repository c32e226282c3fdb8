//! The example of docs/add-an-algorithm.md in every order of events: it holds, and without any one of its rules it does
//! not, so that the search is known to see what each is for.

mod ricart_agrawala;

use std::ops::ControlFlow;

use driftlock_check::{Bound, Effort, Property, Report, Setup, check};
use driftlock_protocol::ideal::{JOINS, LEAVES};
use driftlock_protocol::{Deployment, NodeId, Repair, Repairs};
use driftlock_spec::Violation;
use ricart_agrawala::{ASK_NEWCOMERS, DEFERRED_REPLIES, HAND_ON, NUMBERED_REPLIES, RicartAgrawala as Example, WELCOME};

const EXAMPLE: &str = include_str!("ricart_agrawala.rs");
const GUIDE: &str = include_str!("../../../../docs/add-an-algorithm.md");

#[test]
fn what_the_guide_quotes_is_so() {
    let flush = |text: &str| text.lines().map(str::trim).collect::<Vec<_>>().join("\n");
    let quotes = GUIDE.split("```rust,example\n").skip(1).map(|rest| rest.split("```").next().expect("its end"));
    let (example, quotes) = (flush(EXAMPLE), quotes.map(flush).collect::<Vec<_>>());
    assert!(quotes.len() > 3);
    for quote in quotes {
        assert!(example.contains(&quote), "the guide quotes what is not in the example:\n{quote}");
    }
}

/// The first of three nodes are inside, so many; each asks so often.
fn three(inside: u32, requests: u8) -> Setup {
    let members = (0..inside).map(NodeId).collect();
    Setup::still(Deployment { nodes: 3, k: 1, members, ..Deployment::default() }, Bound::Most(requests))
}

/// So many leave, and so many enter.
fn crossing(setup: Setup, [leaves, joins]: [u8; 2]) -> Setup {
    setup.allowing([(&LEAVES, Bound::Most(leaves)), (&JOINS, Bound::Most(joins))])
}

fn search(setup: &Setup, rules: Repairs) -> Report {
    let effort = Effort { threads: 2, liveness: true };
    check::<Example>(setup, (), rules, effort, &mut |_| ControlFlow::Continue(())).expect("it can be explored")
}

#[track_caller]
fn holds(setup: &Setup) -> u64 {
    let report = search(setup, Repairs::ALL);
    assert_eq!(report.violation, None);
    assert!(report.exhaustive && report.liveness && report.uncounted == 0);
    assert!(report.witnessed.granted.len() == 3 && report.witnessed.all_in_use && report.witnessed.quiet);
    report.states
}

/// What goes wrong without a rule, and after how many actions, where the algorithm's own lemmas are asked or are not.
fn without(rule: Repair, mut setup: Setup, lemmas: bool) -> (Violation, usize) {
    if !lemmas {
        setup.properties = setup.properties.without(Property::Invariant);
    }
    let report = search(&setup, Repairs::ALL.without(rule));
    let found = report.violation.unwrap_or_else(|| panic!("nothing is missed without {}", rule.name));
    (found.violation, found.actions.len())
}

#[test]
fn three_nodes_that_stay_are_served_once_and_again() {
    assert_eq!([holds(&three(3, 1)), holds(&three(3, 2))], [2_049, 25_674]);
}

#[test]
fn three_nodes_are_served_while_one_leaves_and_one_enters() {
    assert_eq!(holds(&crossing(three(3, 1), [1, 1])), 528_030);
}

/// The first thing to try with a new algorithm: take a reply out, and see that the search misses it.
#[test]
fn without_deferred_replies_a_node_waits_for_ever_and_service_sees_it() {
    let (violation, actions) = without(DEFERRED_REPLIES, three(3, 1), false);
    assert!(matches!(violation, Violation::Starved { .. }), "{violation}");
    assert_eq!(actions, 10);
}

#[test]
fn each_rule_for_nodes_that_come_and_go_is_missed() {
    for rule in [NUMBERED_REPLIES, WELCOME, ASK_NEWCOMERS] {
        let (violation, actions) = without(rule, crossing(three(3, 1), [1, 1]), false);
        assert!(matches!(violation, Violation::TooManyInUse { in_use: 2, .. }), "{}: {violation}", rule.name);
        assert_eq!(actions, 12, "{}", rule.name);
    }
}

/// Service counts no node as owed where none has what it takes, so only a lemma can say that it is lost.
#[test]
fn that_the_number_is_lost_is_seen_by_a_lemma_alone() {
    let (violation, _) = without(HAND_ON, crossing(three(1, 1), [2, 2]), true);
    assert!(matches!(violation, Violation::Lemma(_)), "{violation}");
}

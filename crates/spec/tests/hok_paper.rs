//! The example and the statements of Jiang: "A prioritized h-out of-k mutual exclusion algorithm with maximum degree of
//! concurrency for mobile ad hoc networks and distributed systems", 2003, as tests; one for each property.

mod stage;

use driftlock_protocol::hok::{Hok, Policy, Variant, repair};
use driftlock_protocol::{Deadline, Demand, Priority, Repairs, Units};

type Stage = stage::Stage<Hok>;
type Links = &'static [(u32, u32)];

const STAR_4: Links = &[(0, 1), (0, 2), (0, 3)];
const LINE_4: Links = &[(0, 1), (1, 2), (2, 3)];

/// The fewest units first, with and without an end to waiting.
const FEWEST: Policy = Policy::FewestUnits { unit: 2 };
const FEWEST_FOR_EVER: Policy = Policy::FewestUnits { unit: u16::MAX };

fn staged(k: u32, links: Links, policy: Policy) -> Stage {
    staged_with(k, links, policy, Repairs::ALL)
}

fn staged_with(k: u32, links: Links, policy: Policy, repairs: Repairs) -> Stage {
    let nodes = links.iter().map(|&(a, b)| a.max(b) + 1).max().unwrap_or(1);
    Stage::new(nodes, k, links, Variant::new(policy), repairs)
}

fn units(count: u32) -> Demand {
    Demand { units: Units::new(count).expect("at least one"), ..Demand::ONE }
}

fn priority(priority: u32) -> Demand {
    Demand { priority: Priority(priority), ..Demand::ONE }
}

fn in_cs(stage: &Stage) -> Vec<u32> {
    (0..4).filter(|&node| stage.is_critical(node)).collect()
}

/// Everybody leaves as soon as it is in, one at a time; the order in which they entered.
fn order_of_entry(stage: &mut Stage) -> Vec<u32> {
    let mut order = Vec::new();
    stage.drive(1000);
    while let Some(&node) = in_cs(stage).first() {
        order.push(node);
        stage.release(node);
        stage.drive(1000);
    }
    order
}

/// Section 1: 5 resources, 2 of them occupied (by node 3). Node 0 holds the token and wants 4, nodes 1 and 2 want 2 and
/// 1.
fn introduction(policy: Policy) -> Stage {
    let mut stage = staged(5, STAR_4, policy);
    stage.ask(3, units(2));
    stage.drive(100);
    stage.ask(0, units(4));
    stage.drive(100);
    assert!(stage.status(0).permits.count() == 3 && !stage.is_critical(0), "it holds the token, and 3 units are free");
    stage.ask(1, units(2));
    stage.ask(2, units(1));
    stage.drive(100);
    stage
}

#[test]
fn section_1_first_come_first_served_nobody_enters_although_two_could() {
    let mut stage = introduction(Policy::FirstCome);
    assert_eq!(in_cs(&stage), [3], "nodes 1 and 2 cannot enter although 3 units are free");
    stage.release(3);
    assert_eq!(order_of_entry(&mut stage), [0, 1, 2]);
    assert_eq!(stage.violation, None);
}

#[test]
fn section_1_fewest_units_first_two_enter_without_waiting_for_the_third() {
    let mut stage = introduction(FEWEST);
    assert_eq!(in_cs(&stage), [1, 2, 3], "all 5 units are in use");
    for node in [1, 2, 3] {
        stage.release(node);
        stage.drive(100);
    }
    assert_eq!(in_cs(&stage), [0], "and node 0 enters as soon as 4 units are free");
    assert_eq!(stage.violation, None);
}

#[test]
fn theorem_1_mutual_exclusion() {
    let all: Links = &[(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];
    let mut stage = staged(3, all, Policy::Priority);
    // A linear congruential generator, for the order of events: the oracle is asked after each of them.
    let mut state = 1_u32;
    let mut draw = |below: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) % below
    };
    let (mut grants, mut all_in_use) = (0, 0);
    for _ in 0..4000 {
        let node = draw(4);
        let demand = Demand { units: Units::new(1 + draw(3)).expect("at least one"), ..priority(draw(5)) };
        let is_critical = stage.is_critical(node);
        if is_critical && draw(3) == 0 {
            stage.release(node);
        } else if !is_critical && stage.refusal(node, demand).is_none() {
            stage.ask(node, demand);
        }
        stage.drive(draw(6) as usize);
        grants += in_cs(&stage).len();
        let in_use: u32 = in_cs(&stage).iter().map(|&node| stage.status(node).permits.count()).sum();
        all_in_use += usize::from(in_use == 3);
    }
    assert_eq!(stage.violation, None, "never more than 3 units, and never another number than was asked for");
    assert!(grants > 1000 && all_in_use > 500, "{grants} {all_in_use}");
}

#[test]
fn theorem_2_among_requests_that_are_known_the_highest_priority_is_first() {
    for (policy, demand) in [
        (Policy::Strict, (|p| priority(p)) as fn(u32) -> Demand),
        (Policy::Priority, |p| priority(10 * p)),
        (Policy::EarliestDeadline, |p| Demand { deadline: Deadline(100 - u64::from(p)), ..Demand::ONE }),
    ] {
        for links in [STAR_4, LINE_4] {
            let mut stage = staged(1, links, policy);
            stage.request(0);
            for (node, p) in [(1, 2), (2, 3), (3, 1)] {
                stage.ask(node, demand(p));
            }
            stage.drive(100);
            stage.release(0);
            assert_eq!(order_of_entry(&mut stage), [2, 1, 3], "{policy:?} on {links:?}");
            assert_eq!(stage.violation, None);
        }
    }
}

#[test]
fn theorem_2_is_false_of_a_request_that_is_still_on_its_way() {
    let mut stage = staged(1, LINE_4, Policy::Strict);
    stage.ask(3, priority(9));
    stage.ask(0, priority(1));
    assert_eq!(in_cs(&stage), [0], "both compete, and node 3 has the higher priority");
    assert_eq!(stage.violation, None);
}

#[test]
fn theorem_2_an_update_reaches_a_holder_that_waits() {
    let mut stage = staged(1, LINE_4, Policy::Strict);
    stage.request(0);
    stage.ask(1, priority(1));
    stage.ask(3, priority(0));
    stage.drive(100);
    assert_eq!(stage.queue(1), [1, 2], "node 1 waits with the token, and node 3 behind it");
    stage.ask(2, priority(5));
    assert_eq!(stage.in_flight(2, 1), ["update"], "on behalf of itself now");
    stage.drive(100);
    assert_eq!(stage.queue(2), [2, 1, 3], "the token has moved to node 2");
    stage.release(0);
    assert_eq!(order_of_entry(&mut stage), [2, 1, 3]);
    assert_eq!(stage.violation, None);
}

/// Leaves 1 and 2 of a star use the one unit in turns, each asking again with priority 5 as soon as it has left. How
/// many times leaf 3, which asks once with priority 0, is overtaken; at most so many are waited for.
fn times_overtaken(policy: Policy, repairs: Repairs, most: usize) -> usize {
    let mut stage = staged_with(1, STAR_4, policy, repairs);
    for node in [1, 2] {
        stage.ask(node, priority(5));
    }
    stage.drive(100);
    stage.ask(3, priority(0));
    stage.drive(100);
    for grants in 0..most {
        let node = in_cs(&stage)[0];
        stage.release(node);
        stage.ask(node, priority(5));
        stage.drive(100);
        if stage.is_critical(3) {
            assert_eq!(stage.violation, None);
            return grants;
        }
    }
    most
}

#[test]
fn theorem_3_the_lowest_priority_is_served_within_the_bound() {
    // docs/papers/hok.md derives the bound: (p_max - p) + n - 1.
    let times = times_overtaken(Policy::Priority, Repairs::ALL, 1000);
    let (difference, others) = (5, 3);
    assert!(times <= difference + others, "{times} times");
    assert!(times >= 5, "but a priority that is higher by 5 is worth as many grants: {times}");
}

#[test]
fn theorem_3_needs_aging() {
    assert_eq!(times_overtaken(Policy::Strict, Repairs::ALL, 1000), 1000, "it starves");
}

#[test]
fn theorem_3_is_false_of_the_papers_aging_which_does_not_reach_the_queue_of_a_node_that_has_nothing_to_release() {
    let published = Repairs::ALL.without(repair::AGE_BY_GRANTS);
    assert_eq!(times_overtaken(Policy::Priority, published, 1000), 1000, "it starves");
}

#[test]
fn lemma_1_when_link_changes_cease_every_request_chain_ends_at_the_holder() {
    let mut stage = staged(1, LINE_4, Policy::Priority);
    stage.request(0);
    for node in [3, 1] {
        stage.request(node);
    }
    stage.play("msg 3>2; up 0-3; msg 2>1; up 1-3; down 1-2");
    stage.request(2);
    stage.play("msg 0>3; down 2-3; up 0-2; down 0-1");
    stage.drive(1000);
    assert_eq!(in_cs(&stage), [0]);
    let holder = (0..4).find(|&node| stage.waits_on(node).is_none() && !stage.queue(node).is_empty());
    for node in 1..4 {
        let mut at = node;
        while let Some(next) = stage.waits_on(at) {
            assert!(stage.queue(next).contains(&at) && stage.is_above(at, next));
            at = next;
        }
        assert_eq!(Some(at), holder, "the chain of node {node}");
    }
    stage.release(0);
    assert_eq!(order_of_entry(&mut stage).len(), 3);
    assert_eq!(stage.violation, None);
}

#[test]
fn theorem_4_the_token_is_passed_on_at_entry_and_all_that_fit_are_in_at_once() {
    let mut stage = staged(3, LINE_4, FEWEST);
    for node in [1, 2, 3] {
        stage.request(node);
    }
    stage.drive(100);
    assert_eq!(in_cs(&stage), [1, 2, 3]);
    assert_eq!(stage.violation, None);
}

#[test]
fn theorem_4_is_false_nobody_is_thrown_out_for_two_who_would_fit_in_its_place() {
    let mut stage = staged(3, STAR_4, FEWEST);
    stage.ask(1, units(3));
    stage.drive(100);
    for node in [2, 3] {
        stage.request(node);
    }
    stage.drive(100);
    assert_eq!(in_cs(&stage), [1], "two nodes could be in the CS instead");
    assert_eq!(stage.violation, None);
}

/// Leaves 1 and 2 use a unit each in turns, of 3; leaf 3 wants all of them. How many turns there are before it is
/// served, at most so many, and whether units were ever free that a leaf waited for.
fn turns_before_the_largest(policy: Policy, most: usize) -> (usize, bool) {
    let mut stage = staged(3, STAR_4, policy);
    let mut kept_free = false;
    for node in [1, 2] {
        stage.request(node);
    }
    stage.drive(100);
    stage.ask(3, units(3));
    stage.drive(100);
    let mut turn = 0;
    for turns in 0..most {
        turn = 3 - turn.max(1);
        if stage.is_critical(3) {
            assert_eq!(stage.violation, None);
            return (turns, kept_free);
        }
        if stage.is_critical(turn) {
            stage.release(turn);
            stage.request(turn);
        }
        stage.drive(100);
        kept_free |= in_cs(&stage).len() < 2 && !stage.is_critical(3);
    }
    (most, kept_free)
}

#[test]
fn theorems_3_and_4_exclude_one_another() {
    let (turns, kept_free) = turns_before_the_largest(FEWEST, 1000);
    assert!(turns < 20 && kept_free, "who waits for many units is served only if units are kept free for it");
    assert_eq!(turns_before_the_largest(FEWEST_FOR_EVER, 1000), (1000, false), "else it starves");
}

#[test]
fn more_units_than_there_are_are_refused() {
    let stage = staged(3, STAR_4, Policy::Priority);
    let refusal = stage.refusal(1, units(4)).expect("it would block everybody for ever");
    assert!(refusal.contains('4') && refusal.contains('3'), "{refusal}");
    assert_eq!(stage.refusal(1, units(3)), None);
}

#[test]
fn a_release_follows_the_token_wherever_it_goes() {
    let mut stage = staged(2, LINE_4, Policy::Priority);
    stage.ask(0, units(2));
    stage.ask(3, units(2));
    stage.drive(100);
    assert!(!stage.is_critical(3));
    // The units leave node 0 while the token, which node 3 has, is taken to node 1 and back.
    stage.release(0);
    assert_eq!(stage.in_flight(0, 1), ["release"]);
    stage.ask(1, priority(9));
    stage.drive(100);
    assert_eq!(order_of_entry(&mut stage), [1, 3]);
    assert_eq!(stage.violation, None);
}

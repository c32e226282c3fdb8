//! The examples and statements of Walter, Cao, Mohanty: "A K-Mutual Exclusion Algorithm for Wireless Ad Hoc Networks",
//! 2001, as tests. The figures' topologies are as far as the text tells them.

mod stage;

use driftlock_protocol::Repairs;
use driftlock_protocol::krl::{Forwarding, Krl, Variant};

type Stage = stage::Stage<Krl>;

/// With the usual constants.
fn staged(nodes: u32, k: u32, links: &[(u32, u32)], forwarding: Forwarding, repairs: Repairs) -> Stage {
    Stage::new(nodes, k, links, Variant::new(forwarding), repairs)
}

/// Figures 2 and 3 (a): nodes 2 and 3 ask node 0, node 4 asks node 1; both holders are in their CS.
fn figure_2a(repairs: Repairs) -> Stage {
    let mut stage = staged(5, 2, &[(0, 2), (0, 3), (2, 3), (2, 4), (1, 4)], Forwarding::Off, repairs);
    stage.request(0);
    stage.request(1);
    for node in [3, 2, 4] {
        stage.request(node);
    }
    stage.deliver(3, 0);
    stage.drive(100);
    assert_eq!(stage.queue(0), [3, 2], "in the order in which the requests were received");
    assert_eq!(stage.queue(1), [4]);
    assert_eq!([2, 3, 4].map(|node| stage.queue(node)), [[2], [3], [4]], "each has enqueued itself");
    assert_eq!([2, 3, 4].map(|node| stage.waits_on(node)), [Some(0), Some(0), Some(1)]);
    stage
}

#[test]
fn section_4_2_figure_2_static_operation() {
    for repairs in [Repairs::ALL, Repairs::NONE] {
        let mut stage = figure_2a(repairs);
        // (b) Node 1 sends its token to node 4 and asks for it again; node 0 sends its token to node 3, and a request
        // on behalf of node 2 after it.
        stage.release(1);
        stage.request(1);
        stage.release(0);
        assert_eq!(stage.in_flight(0, 3), ["token", "request"]);
        stage.drive(100);
        assert!(stage.is_critical(3) && stage.is_critical(4));
        assert_eq!((stage.queue(3), stage.queue(4), stage.queue(1)), (vec![0], vec![1], vec![1]));
        assert!(stage.is_above(0, 3) && stage.is_above(1, 4), "the links have turned towards the new holders");
        // (c) Node 4 returns the token to node 1, node 3 to node 0, which passes it on to node 2.
        stage.release(4);
        stage.release(3);
        stage.drive(100);
        assert!(stage.is_critical(1) && stage.is_critical(2));
        assert!((0..5).all(|node| stage.queue(node).is_empty()), "there are no pending requests");
        stage.release(1);
        stage.release(2);
        stage.drive(100);
        // (d) Node 4 asks again; its lowest neighbour is now node 2.
        stage.request(4);
        assert_eq!(stage.waits_on(4), Some(2));
        // (e), (f) Node 2 sends it the token. Node 1, which holds the other, sees that it has no incoming link left,
        // and lowers its height below all its neighbours.
        stage.drive(100);
        assert!(stage.is_critical(4));
        assert_eq!(stage.holders(), [1, 4]);
        assert!(stage.is_above(4, 1) && stage.clauses.contains(&"lower-height.1"));
        // "In a static network, no node will have to raise its height": true only once release, lines 3 and 4, are
        // repaired. As published, node 1 lowers itself in (b) although it has just given its token away.
        let raised = stage.clauses.contains(&"raise-height.1");
        assert_eq!((raised, stage.violation.is_some()), (repairs == Repairs::NONE, repairs == Repairs::NONE));
    }
}

#[test]
fn section_4_3_figure_3_dynamic_operation() {
    for repairs in [Repairs::ALL, Repairs::NONE] {
        let mut stage = figure_2a(repairs);
        // (b) Node 3 moves away from nodes 0 and 2 ...
        stage.link_up(3, 1);
        stage.drive(100);
        stage.link_down(2, 3);
        assert_eq!((stage.queue(2), stage.waits_on(2)), (vec![2], Some(0)), "node 2 takes no action");
        stage.link_down(0, 3);
        assert_eq!(stage.queue(0), [2], "node 0 has removed 3 from its request queue");
        // (c) ... and has sent its request to node 1.
        assert_eq!(stage.waits_on(3), Some(1));
        stage.drive(100);
        assert_eq!(stage.queue(1), [4, 3]);
        // (d), (e) Node 0 sends a token to node 2; node 4, once served, sends the other to node 1, which sends it to 3.
        stage.release(0);
        stage.release(1);
        stage.drive(100);
        assert!(stage.is_critical(2) && stage.is_critical(4));
        stage.release(4);
        stage.drive(100);
        assert!(stage.is_critical(3));
        assert_eq!(stage.violation.is_some(), repairs == Repairs::NONE, "for the reason of Figure 2");
    }
}

#[test]
fn section_4_3_a_node_that_loses_its_last_outgoing_link_raises_its_height() {
    let mut stage = staged(3, 1, &[(0, 1), (1, 2), (0, 2)], Forwarding::Off, Repairs::ALL);
    stage.request(0);
    stage.request(2);
    stage.drive(100);
    assert!(stage.is_above(2, 1), "both are one hop away from node 0, and the higher id is the higher node");
    stage.link_down(0, 1);
    assert!(stage.clauses.contains(&"raise-height.1") && stage.is_above(1, 2));
    stage.request(1);
    assert_eq!(stage.waits_on(1), Some(2));
    stage.drive(100);
    assert_eq!(stage.queue(2), [2, 1]);
    stage.release(0);
    stage.drive(100);
    stage.release(2);
    stage.drive(100);
    assert!(stage.is_critical(1));
    assert_eq!(stage.violation, None);
}

#[test]
fn section_4_4_figure_4_an_idle_token_stays_in_krl_while_others_wait() {
    // Node 0 holds an idle token at one end, node 1 is in its CS at the other, and the waiters stand near node 1.
    let mut stage = staged(6, 2, &[(0, 2), (2, 3), (3, 1), (1, 4), (1, 5)], Forwarding::Off, Repairs::ALL);
    for node in [1, 4, 5] {
        stage.request(node);
    }
    stage.drive(100);
    assert_eq!((stage.queue(1), stage.holders()), (vec![4, 5], vec![0, 1]));
    assert!(!stage.is_critical(0), "its token is idle while nodes 4 and 5 wait");
}

#[test]
fn section_4_4_a_forwarded_token_goes_to_the_lowest_unvisited_neighbour_until_somebody_wants_it() {
    let mut stage = staged(4, 1, &[(0, 1), (0, 2), (0, 3)], Forwarding::Always, Repairs::ALL);
    stage.request(0);
    stage.release(0);
    let mut visits = Vec::new();
    for _ in 0..6 {
        let hop =
            (0..4).flat_map(|a| (0..4).map(move |b| (a, b))).find(|&(a, b)| stage.in_flight(a, b).contains(&"token"));
        let (from, to) = hop.expect("the token travels on");
        visits.push(to);
        stage.deliver(from, to);
        while stage.in_flight(to, from).first() == Some(&"link_info") {
            stage.deliver(to, from);
        }
    }
    assert_eq!(visits, [1, 0, 2, 0, 3, 0], "every leaf once before any of them twice");
    assert!(stage.clauses.contains(&"pick-lowest.2"), "then the marks are cleared and it starts over");
    stage.request(2);
    for _ in 0..50 {
        stage.drive(1);
    }
    assert!(stage.is_critical(2));
    assert_eq!(stage.violation, None);
}

#[test]
fn section_4_4_a_node_does_not_forward_to_the_neighbour_it_last_forwarded_to() {
    // More tokens than nodes, so that node 0 has two to forward before anything comes back.
    let mut stage = staged(3, 4, &[(0, 1), (0, 2)], Forwarding::Always, Repairs::ALL);
    stage.play("req 0; rel 0; req 0; rel 0");
    assert_eq!((stage.in_flight(0, 1), stage.in_flight(0, 2)), (vec!["token"], vec!["token"]));
    assert_eq!(stage.violation, None);
}

#[test]
fn section_4_4_a_request_that_crosses_a_forwarded_token_is_answered_by_it() {
    let mut stage = staged(2, 1, &[(0, 1)], Forwarding::Always, Repairs::ALL);
    stage.play("req 0; rel 0; req 1");
    assert_eq!((stage.in_flight(0, 1), stage.in_flight(1, 0)), (vec!["token"], vec!["request"]));
    stage.deliver(1, 0);
    assert_eq!(stage.queue(0), [0; 0], "node 1 is not put in line for another");
    assert_eq!(stage.in_flight(0, 1), ["token"], "and node 0 has no reason to rise");
    stage.deliver(0, 1);
    assert!(stage.is_critical(1));
    assert_eq!(stage.violation, None);
}

#[test]
fn section_7_in_an_idle_network_the_adaptive_variant_does_not_forward() {
    let mut stage = staged(4, 1, &[(0, 1), (0, 2), (0, 3)], Forwarding::Adaptive, Repairs::ALL);
    for _ in 0..3 {
        stage.request(2);
        stage.drive(100);
        stage.release(2);
        assert!(stage.drive(100) < 100);
        assert_eq!(stage.holders(), [2], "nobody else asked, so it stays");
    }
    // Under load it is sent on: somebody has waited whenever a token became free.
    for _ in 0..4 {
        let holder = stage.holders()[0];
        for node in 0..4 {
            stage.request(node);
        }
        stage.drive(100);
        assert!(stage.is_critical(holder));
        while let Some(node) = (0..4).find(|&node| stage.is_critical(node)) {
            stage.release(node);
            stage.drive(100);
        }
    }
    assert!(stage.clauses.contains(&"pick-lowest.10"));
    assert_eq!(stage.violation, None);
}

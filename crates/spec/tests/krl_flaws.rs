//! What goes wrong without each repair of the paper's text, by the shortest way found in exhaustive search; and that it
//! does not with it.

mod stage;

use driftlock_protocol::krl::{Forwarding, Krl, Variant, repair};
use driftlock_protocol::{Repair, Repairs};

type Stage = stage::Stage<Krl>;

/// Nodes, tokens and links.
type Network = (u32, u32, &'static [(u32, u32)]);

const LINE_3: Network = (3, 1, &[(0, 1), (1, 2)]);
const LINE_4: Network = (4, 3, &[(0, 1), (1, 2), (2, 3)]);
const TRIANGLE: Network = (3, 1, &[(0, 1), (1, 2), (0, 2)]);
const TRIANGLE_2: Network = (3, 2, TRIANGLE.2);
const RING_4: Network = (4, 3, &[(0, 1), (1, 2), (2, 3), (3, 0)]);

fn played((nodes, k, links): Network, forwarding: Forwarding, repairs: Repairs, script: &str) -> Stage {
    let mut stage = Stage::new(nodes, k, links, Variant::new(forwarding), repairs);
    stage.play(script);
    stage
}

/// krl without one repair.
fn without(repair: Repair, network: Network, script: &str) -> Stage {
    played(network, Forwarding::Off, Repairs::ALL.without(repair), script)
}

/// krl with all repairs, after the script and everything that follows from it.
fn repaired(network: Network, script: &str) -> Stage {
    let mut stage = played(network, Forwarding::Off, Repairs::ALL, script);
    stage.drive(100);
    assert_eq!(stage.violation, None);
    stage
}

#[test]
fn holder_lowers_a_triangle_deadlocks_in_4_steps() {
    let stage = without(repair::HOLDER_LOWERS, TRIANGLE, "down 0-2; msg 2>1; req 2; msg 2>1");
    assert_eq!(stage.stuck(), [2]);
    assert!(repaired(TRIANGLE, "down 0-2; req 2").is_critical(2));
}

#[test]
fn release_holds_a_static_line_of_4_with_3_tokens_deadlocks_in_15_steps() {
    let script = "req 2; req 3; msg 3>2; rel 2; msg 2>1; msg 1>0; msg 2>3; rel 3; req 2; msg 2>1; msg 0>1; msg 1>2; \
                  msg 3>2; msg 2>3; msg 3>2";
    assert_eq!(without(repair::RELEASE_HOLDS, LINE_4, script).stuck(), [2]);
    assert!(repaired(LINE_4, "req 2; req 3; msg 3>2; rel 2; msg 2>3; rel 3; req 2").is_critical(2));
}

#[test]
fn release_holds_a_static_ring_of_4_with_3_tokens_deadlocks_in_20_steps() {
    let script = "req 0; req 3; msg 3>0; rel 0; msg 0>1; msg 0>3; msg 3>2; msg 2>3; rel 3; req 0; msg 0>1; msg 2>1; \
                  msg 1>0; msg 1>2; msg 3>0; msg 0>3; msg 3>0; msg 3>2; msg 2>1; msg 2>3";
    assert_eq!(without(repair::RELEASE_HOLDS, RING_4, script).stuck(), [0]);
    assert!(repaired(RING_4, "req 0; req 3; msg 3>0; rel 0; msg 0>3; rel 3; req 0").is_critical(0));
}

#[test]
fn as_published_the_static_line_deadlocks_too() {
    let script = "req 2; req 3; msg 3>2; rel 2; msg 2>1; msg 1>0; msg 2>3; msg 2>3; rel 3; req 2; msg 2>1; msg 0>1; \
                  msg 1>2; msg 3>2; msg 3>2";
    assert_eq!(played(LINE_4, Forwarding::Off, Repairs::NONE, script).stuck(), [2]);
}

#[test]
fn pending_request_a_request_made_without_neighbours_is_lost_in_5_steps() {
    let script = "up 0-2; msg 2>0; down 1-2; req 2; msg 0>2";
    assert_eq!(without(repair::PENDING_REQUEST, LINE_3, script).stuck(), [2]);
    assert!(repaired(LINE_3, script).is_critical(2));
}

#[test]
fn reclaim_a_token_on_a_failing_link_is_gone_in_3_steps() {
    let script = "req 1; msg 1>0; down 0-1";
    assert_eq!(without(repair::RECLAIM, LINE_3, script).holders(), [0; 0]);
    assert_eq!(repaired(LINE_3, script).holders(), [0]);
}

#[test]
fn acknowledge_tokens_that_cross_on_a_link_leave_a_wrong_view_in_8_steps() {
    let script = "req 0; rel 0; req 1; rel 1; msg 0>1; msg 1>0; msg 0>1; msg 1>0";
    let stage = |repairs| played(TRIANGLE_2, Forwarding::Always, repairs, script);
    assert!(stage(Repairs::ALL.without(repair::ACKNOWLEDGE)).violation.is_some());
    assert_eq!(stage(Repairs::ALL).violation, None);
}

#[test]
fn acknowledge_each_of_two_tokens_to_the_same_neighbour_is_awaited() {
    let line: Network = (3, 2, LINE_3.2);
    // Node 0 forwards its token to node 1, gets the other one from there, and forwards that too.
    let mut stage = played(line, Forwarding::Always, Repairs::ALL, "req 0; rel 0; req 1; rel 1; msg 1>0; msg 0>1");
    stage.clauses.clear();
    stage.play("msg 1>0");
    assert!(stage.clauses.contains(&"recv-link-info.6"), "the first is acknowledged");
    assert!(!stage.clauses.contains(&"recv-link-info.5"), "the height is not believed before the second is, too");
    stage.play("msg 0>1; msg 0>1");
    stage.clauses.clear();
    while !stage.clauses.contains(&"recv-link-info.6") {
        stage.play("msg 1>0");
    }
    assert!(stage.clauses.contains(&"recv-link-info.5"));
    assert_eq!(stage.violation, None);
}

#[test]
fn link_info_a_selective_link_info_leaves_a_wrong_direction_in_11_steps() {
    let script = "req 1; req 2; msg 2>0; msg 0>2; msg 1>0; msg 0>2; msg 2>0; rel 2; msg 2>0; msg 0>1; msg 2>1";
    let violation = without(repair::LINK_INFO, TRIANGLE, script).violation.expect("a broken lemma").to_string();
    assert!(violation.contains("direction"), "{violation}");
    let stage = repaired(TRIANGLE, "req 1; req 2; msg 2>0; msg 0>2; msg 1>0; msg 0>2; msg 2>0; rel 2");
    assert!(stage.is_critical(1));
}

/// Nodes 1 and 2 of a line lose the token's side and reverse their links until they pause.
fn paused_pair() -> Stage {
    let mut stage = played(LINE_3, Forwarding::Off, Repairs::ALL, "down 0-1");
    while !stage.clauses.contains(&"pause") {
        stage.play("msg 1>2; msg 2>1");
    }
    stage
}

#[test]
fn pace_a_part_without_a_token_falls_silent() {
    let mut stage = paused_pair();
    assert_eq!(stage.drive(100), 0);
    assert_eq!(stage.violation, None);
}

#[test]
fn pace_a_request_that_is_made_during_a_pause_is_not_lost() {
    let mut stage = paused_pair();
    stage.play("req 1; up 0-2; msg 0>2; msg 2>0; req 2; msg 2>0; msg 0>2; msg 2>0; msg 2>1; rel 2");
    stage.drive(100);
    assert!(stage.is_critical(1), "{:?}", stage.status(1));
    assert_eq!(stage.violation, None);
}

//! What goes wrong without each repair of the paper's text, by the shortest way found in exhaustive search; and that it
//! does not with it.

mod stage;

use driftlock_protocol::hok::{Hok, Policy, Variant, repair};
use driftlock_protocol::{Demand, Input, Priority, Repair, Repairs, Units};

type Stage = stage::Stage<Hok>;

/// Nodes, units and links.
type Network = (u32, u32, &'static [(u32, u32)]);

const PAIR: Network = (2, 1, &[(0, 1)]);
const LINE_3: Network = (3, 1, &[(0, 1), (1, 2)]);
const LINE_3_2: Network = (3, 2, LINE_3.2);
const TRIANGLE: Network = (3, 1, &[(0, 1), (0, 2), (1, 2)]);
const LINE_4: Network = (4, 1, &[(0, 1), (1, 2), (2, 3)]);

/// On a line of three: the network is connected all the time, but the nodes 1 and 2 do not know a way to the token
/// until the LINK from 0 to 2 has arrived.
const REPLACED_LINK: &str = "up 0-2; down 0-1";

/// In scripts, `req 0.1` is for two units, and `req 0.2` is urgent.
fn played((nodes, k, links): Network, policy: Policy, repairs: Repairs, script: &str) -> Stage {
    let mut stage = Stage::new(nodes, k, links, Variant::new(policy), repairs);
    let two = Demand { units: Units::new(2).expect("at least one"), ..Demand::ONE };
    stage.demands = vec![Demand::ONE, two, Demand { priority: Priority(1), ..Demand::ONE }];
    stage.play(script);
    stage
}

/// Without some repairs.
fn without(repairs: &[Repair], network: Network, script: &str) -> Stage {
    let repairs = repairs.iter().fold(Repairs::ALL, |all, repair| all.without(*repair));
    played(network, Policy::Priority, repairs, script)
}

/// With all repairs, after the script and everything that follows from it.
fn repaired(network: Network, script: &str) -> Stage {
    let mut stage = played(network, Policy::Priority, Repairs::ALL, script);
    stage.drive(100);
    assert_eq!(stage.violation, None);
    stage
}

#[test]
fn keep_own_a_request_that_was_dequeued_is_lost_in_14_steps() {
    let script = "req 0; req 1.1; msg 1>0; rel 0; msg 0>1; msg 1>0; msg 1>2; req 2; msg 2>1; msg 0>1; msg 1>2; msg 2>1; \
                  msg 1>2; rel 2";
    assert_eq!(without(&[repair::KEEP_OWN], LINE_3_2, script).stuck(), [1]);
    // With it, node 1 waits at the front of its own queue, and node 2 comes after it.
    let mut stage = repaired(LINE_3_2, "req 0; req 1.1; msg 1>0; rel 0; msg 0>1; req 2");
    assert!(stage.is_critical(1));
    stage.release(1);
    stage.drive(100);
    assert!(stage.is_critical(2));
}

/// As published: "i is waiting for t >= h (within the `giveTokenToFrontOfQ()` procedure)", with its request dequeued.
#[test]
fn without_keep_own_a_holder_that_waits_enters_with_the_units_of_a_release() {
    let mut stage = without(&[repair::KEEP_OWN], LINE_3_2, "req 0; req 1.1; msg 1>0; msg 0>1");
    assert_eq!((stage.has_token(1), stage.queue(1), stage.is_critical(1)), (true, vec![], false));
    stage.play("rel 0; msg 0>1");
    assert!(stage.is_critical(1));
}

#[test]
fn release_serves_a_pair_deadlocks_in_4_steps() {
    let script = "req 0; req 1; msg 1>0; rel 0";
    assert_eq!(without(&[repair::RELEASE_SERVES, repair::SHARE_IN_CS], PAIR, script).stuck(), [1]);
    assert!(repaired(PAIR, script).is_critical(1));
    assert!(without(&[repair::SHARE_IN_CS], PAIR, script).in_flight(0, 1).contains(&"token"));
}

#[test]
fn as_published_a_pair_deadlocks_in_4_steps() {
    assert_eq!(played(PAIR, Policy::Priority, Repairs::NONE, "req 0; req 1; msg 1>0; rel 0").stuck(), [1]);
}

#[test]
fn share_in_cs_a_free_unit_is_kept_from_whoever_asks_in_3_steps() {
    let (script, two_units) = ("req 0; req 1; msg 1>0", (2, 2, PAIR.2));
    let mut stage = without(&[repair::SHARE_IN_CS], two_units, script);
    assert_eq!((stage.drive(100), stage.is_critical(1)), (0, false), "although a unit is free");
    assert!(repaired(two_units, script).is_critical(1));
}

#[test]
fn ask_once_requests_multiply_until_a_link_message_arrives() {
    let reversals = |repairs: &[Repair]| {
        let mut stage = without(repairs, LINE_3, &format!("{REPLACED_LINK}; req 1; req 2; msg 2>1"));
        let mut most = 0;
        for _ in 0..40 {
            for (from, to) in [(1, 2), (2, 1)] {
                most = most.max(stage.in_flight(from, to).len());
                while stage.in_flight(from, to).contains(&"link") {
                    stage.deliver(from, to);
                }
            }
        }
        most
    };
    assert!(reversals(&[repair::ASK_ONCE]) > 20, "every request that is not taken is answered with another one");
    assert!(reversals(&[]) < 6);
}

#[test]
fn release_aside_a_request_waits_at_a_node_that_never_got_it_in_20_steps() {
    let script = "req 0; req 1; msg 1>0; down 1-2; msg 0>1; msg 1>0; up 1-2; msg 2>1; down 0-1; rel 0; msg 0>2; \
                  msg 2>0; req 2; msg 2>0; msg 1>2; msg 2>1; msg 0>2; msg 2>1; rel 1; msg 0>2";
    assert_eq!(without(&[repair::RELEASE_ASIDE], TRIANGLE, script).stuck(), [2]);
    assert!(repaired(TRIANGLE, script).is_critical(2));
}

#[test]
fn received_link_a_node_without_the_token_has_no_way_to_it_after_9_steps() {
    let script = "req 1; msg 1>0; msg 0>1; req 2; msg 2>0; msg 0>1; down 0-2; req 0; msg 0>1";
    let violation = without(&[repair::RECEIVED_LINK], TRIANGLE, script).violation.expect("a broken lemma").to_string();
    assert!(violation.contains("has no lower neighbour"), "{violation}");
    let mut stage = repaired(TRIANGLE, script);
    assert!(stage.is_critical(1));
    stage.release(1);
    stage.drive(100);
    assert!(stage.is_critical(0));
}

#[test]
fn forming_a_height_that_was_not_told_deadlocks_in_19_steps() {
    let script = "up 0-2; msg 2>0; down 0-1; msg 1>2; msg 0>2; req 2; up 0-1; msg 1>0; msg 0>1; msg 2>1; req 1; \
                  msg 1>0; msg 0>1; msg 1>0; rel 1; msg 1>2; down 0-1; msg 2>0; msg 0>2";
    assert_eq!(without(&[repair::FORMING], LINE_3, script).stuck(), [2]);
    assert!(repaired(LINE_3, script).is_critical(2));
}

#[test]
fn pending_request_a_request_made_without_neighbours_is_lost_in_5_steps() {
    let script = "up 0-2; msg 2>0; down 1-2; req 2; msg 0>2";
    assert_eq!(without(&[repair::PENDING_REQUEST], LINE_3, script).stuck(), [2]);
    assert!(repaired(LINE_3, script).is_critical(2));
}

#[test]
fn a_request_whose_next_hop_is_gone_goes_another_way_at_once_and_no_other_does() {
    let asks = |script| played(TRIANGLE, Policy::Priority, Repairs::ALL, script).in_flight(2, 1);
    assert_eq!(asks("req 2; down 0-2"), ["request"]);
    assert_eq!(asks("down 0-2"), [""; 0], "it has nothing to ask for");
    let stage = played(TRIANGLE, Policy::Priority, Repairs::ALL, "req 2; down 1-2");
    assert_eq!(stage.in_flight(2, 0), ["request"], "the way that it went is still there");
}

#[test]
fn keep_release_units_without_a_way_to_the_token_are_gone_in_8_steps() {
    let script = "req 0; req 1; msg 1>0; msg 0>1; msg 1>0; up 0-2; down 0-1; rel 0";
    let violation = without(&[repair::KEEP_RELEASE], LINE_3, script).violation.expect("a lost unit").to_string();
    assert!(violation.contains("permits"), "{violation}");
    let stage = played(LINE_3, Policy::Priority, Repairs::ALL, script);
    assert!(!stage.is_critical(1), "its unit has no way yet");
    assert!(repaired(LINE_3, script).is_critical(1), "and comes when there is one");
}

#[test]
fn keep_release_units_that_are_kept_join_a_token_that_comes_back() {
    // The token is on its way to node 1 when the link fails, and node 0 leaves its CS before it learns that.
    let mut stage = played(PAIR, Policy::Priority, Repairs::ALL, "req 0; req 1; msg 1>0");
    stage.link_down_while(0, 1, |stage| stage.input(0, Input::Release));
    assert!(stage.has_token(0));
    stage.request(0);
    assert!(stage.is_critical(0), "it has the unit that it needs");
    assert_eq!(stage.violation, None);
}

#[test]
fn update_front_the_own_request_is_not_told_and_the_wrong_one_is_served_first() {
    let urgent_behind = |repairs| {
        let mut stage = played(LINE_4, Policy::Strict, repairs, "req 0; req 1; msg 1>0; msg 0>1; msg 1>0; msg 1>2");
        stage.play("req 3; msg 3>2; msg 2>1; req 2.2");
        stage.drive(100);
        stage.release(0);
        stage.drive(100);
        (0..4).find(|&node| stage.is_critical(node))
    };
    assert_eq!(urgent_behind(Repairs::ALL.without(repair::UPDATE_FRONT)), Some(1));
    assert_eq!(urgent_behind(Repairs::ALL), Some(2), "which has the highest priority");
}

#[test]
fn reclaim_the_token_on_a_failing_link_is_gone_in_3_steps() {
    let script = "req 1; msg 1>0; down 0-1";
    assert_eq!(without(&[repair::RECLAIM], LINE_3, script).holders(), [0; 0]);
    assert_eq!(repaired(LINE_3, script).holders(), [0]);
}

#[test]
fn pace_a_part_without_the_token_falls_silent() {
    let mut stage = played(LINE_3, Policy::Priority, Repairs::ALL, "down 0-1");
    while !stage.clauses.contains(&"pause") {
        stage.play("msg 1>2; msg 2>1");
    }
    assert_eq!(stage.drive(100), 0);
    let mut stage = without(&[repair::PACE], LINE_3, "down 0-1");
    assert_eq!(stage.drive(1000), 1000, "it does not without");
}

#[test]
fn pace_a_connected_network_falls_silent_without_it_once_the_link_message_has_arrived() {
    let mut stage = without(&[repair::PACE], LINE_3, REPLACED_LINK);
    for _ in 0..500 {
        stage.play("msg 1>2; msg 2>1");
    }
    stage.play("msg 0>2");
    assert!(stage.drive(100) < 100);
}

/// A star around node 1, at one end of which is the token's user, and node 4 behind node 2.
const STAR: Network = (5, 1, &[(0, 1), (1, 2), (1, 3), (2, 4)]);

/// As published, a change of rank is passed on if it brings another request to the front, and only then.
#[test]
fn without_update_front_only_a_change_of_the_front_is_passed_on() {
    let asked = "req 0; req 3; msg 3>1; msg 1>0; req 2; msg 2>1";
    let urgent = "req 4.2; msg 4>2; msg 2>1";
    let behind = without(&[repair::UPDATE_FRONT], STAR, &format!("{asked}; {urgent}"));
    assert_eq!((behind.queue(1), behind.in_flight(1, 0)), (vec![2, 3], vec!["update"]), "node 2 overtakes node 3");
    let alone = "req 0; req 2; msg 2>1; msg 1>0";
    let in_front = without(&[repair::UPDATE_FRONT], STAR, &format!("{alone}; {urgent}"));
    assert_eq!((in_front.queue(1), in_front.in_flight(1, 0)), (vec![2], vec![]), "it was in front already");
}

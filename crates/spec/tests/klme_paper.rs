//! The paper's illustration, its claims about messages, and what happens to those who leave.
//!
//! A. Khanna, A. K. Singh, A. Swaroop: "A Leader-Based k-Local Mutual Exclusion Algorithm Using Token for MANETs",
//! 2014.

mod stage;

use driftlock_protocol::klme::{Klme, repair};
use driftlock_protocol::{Repairs, Section};
use stage::{Stage, id};

fn stage(nodes: u32, k: u32, members: &[u32]) -> Stage<Klme> {
    Stage::inside(nodes, k, members, (), Repairs::ALL)
}

/// A row of Table 1: the event as a script, then the columns in the paper's order. `T_alloc_id` without its empty
/// places.
struct Row {
    event: char,
    script: &'static str,
    queue: &'static [u32],
    allocated: &'static [(u32, u32)],
    states: &'static [(u32, Section)],
    leader: u32,
    request_lists: &'static [&'static str],
    free: u32,
}

const R: Section = Section::Remainder;
const W: Section = Section::Waiting;
const CS: Section = Section::Critical;

#[rustfmt::skip]
const TABLE_1: [Row; 8] = [
    // Initialization: node 2 is elected as leader.
    Row { event: 'a', script: "", queue: &[], allocated: &[], states: &[(1, R), (2, R), (3, R), (4, R)], leader: 2,
        request_lists: &["0000", "0000", "0000", "0000"], free: 2 },
    // Node 3 requests; the token is transferred to it.
    Row { event: 'b', script: "req 3", queue: &[], allocated: &[(3, 1)], states: &[(1, R), (2, R), (3, CS), (4, R)], leader: 3,
        request_lists: &["0010", "0010", "0010", "0010"], free: 1 },
    // Node 4 requests while node 3 is in its CS, and is permitted.
    Row { event: 'c', script: "req 4", queue: &[], allocated: &[(3, 1), (4, 1)], states: &[(1, R), (2, R), (3, CS), (4, CS)], leader: 3,
        request_lists: &["0010", "0010", "0011", "0011"], free: 0 },
    // Node 5 enters the neighborhood.
    Row { event: 'd', script: "join 5", queue: &[], allocated: &[(3, 1), (4, 1)],
        states: &[(1, R), (2, R), (3, CS), (4, CS), (5, R)], leader: 3,
        request_lists: &["00100", "00100", "00110", "00110", "00110"], free: 0 },
    // Node 4 exits from CS.
    Row { event: 'e', script: "rel 4", queue: &[], allocated: &[(3, 1)],
        states: &[(1, R), (2, R), (3, CS), (4, R), (5, R)], leader: 3,
        request_lists: &["00100", "00100", "00110", "00110", "00110"], free: 1 },
    // Node 4 goes out.
    Row { event: 'f', script: "leave 4", queue: &[], allocated: &[(3, 1)], states: &[(1, R), (2, R), (3, CS), (5, R)], leader: 3,
        request_lists: &["0010", "0010", "0010", "0010"], free: 1 },
    // Node 3 exits from CS, and node 1 is sent the token.
    Row { event: 'g', script: "rel 3; req 1", queue: &[], allocated: &[(1, 1)], states: &[(1, CS), (2, R), (3, R), (5, R)], leader: 1,
        request_lists: &["1010", "1010", "1010", "1010"], free: 1 },
    // Node 5 is permitted, and node 2 queued.
    Row { event: 'h', script: "req 5; req 2; msg 5>1; msg 2>1", queue: &[2], allocated: &[(1, 1), (5, 1)],
        states: &[(1, CS), (2, W), (3, R), (5, CS)], leader: 1,
        request_lists: &["1111", "1110", "1010", "1011"], free: 0 },
];

fn assert_row(stage: &Stage<Klme>, row: &Row) {
    let event = row.event;
    let nodes: Vec<u32> = row.states.iter().map(|state| state.0).collect();
    let token = stage.protocol(row.leader).token().unwrap_or_else(|| panic!("{event}: {} is leader", row.leader));
    let queue: Vec<_> = token.queue.iter().map(|request| request.0.0).collect();
    assert_eq!(queue, row.queue, "R_Queue after event {event}");
    let allocated: Vec<_> = token.allocated.iter().map(|entry| (entry.node.0, entry.number.number)).collect();
    assert_eq!(allocated, row.allocated, "T_alloc_id after event {event}");
    assert_eq!(token.free.count(), row.free, "Kfree after event {event}");
    for (&(node, state), &numbers) in row.states.iter().zip(row.request_lists) {
        assert_eq!(stage.status(node).section, state, "State of {node} after event {event}");
        assert_eq!(stage.protocol(node).leader(), Some(id(row.leader)), "M_Th_id of {node} after event {event}");
        let list: String = nodes.iter().map(|&other| stage.protocol(node).request_of(id(other)).to_string()).collect();
        assert_eq!(list, numbers, "Node_Req_List of {node} after event {event}");
    }
    assert_eq!(stage.violation, None, "after event {event}");
}

#[test]
fn every_cell_of_the_illustration_in_table_1() {
    // Node 0 does not exist in the paper and stays outside.
    let mut stage = stage(6, 2, &[2, 1, 3, 4]);
    for row in &TABLE_1 {
        stage.play(row.script);
        stage.drive(30);
        assert_row(&stage, row);
    }
    assert!(!stage.is_inside(4));
}

#[test]
fn without_merged_allocations_the_illustration_does_not_come_out() {
    let repairs = Repairs::ALL.without(repair::MERGE_ALLOCATED);
    let mut stage = Stage::<Klme>::inside(5, 2, &[2, 1, 3, 4], (), repairs);
    stage.request(3);
    stage.drive(20);
    assert_eq!(stage.protocol(1).request_of(id(3)), 0, "the table has r.P1 = 0010 after event b");
}

#[test]
fn section_5_1_1_an_idle_holder_enters_without_a_message() {
    let mut stage = stage(3, 2, &[0, 1, 2]);
    stage.request(0);
    assert!(stage.is_critical(0));
    assert_eq!(stage.drive(1), 0);
}

#[test]
fn section_5_1_2_the_best_case_of_another_node_takes_four_messages_and_not_three() {
    let mut stage = stage(3, 2, &[0, 1, 2]);
    stage.request(0);
    stage.request(1);
    let request_ack_and_grant = stage.drive(10);
    assert!(stage.is_critical(1));
    stage.release(1);
    let release = stage.drive(10);
    assert_eq!(
        request_ack_and_grant + release,
        4,
        "clause C acknowledges what it grants, which the paper does not count"
    );
}

/// Section 5.1.3 says n + 2: a request is sent at most n - 1 times. But as long as it has not arrived anywhere, it is
/// sent again with every move of the token.
#[test]
fn section_5_1_3_the_worst_case_is_not_bounded_by_n_plus_2() {
    let mut stage = stage(3, 1, &[0, 1, 2]);
    stage.request(2);
    for (holder, other) in [(0, 1), (1, 0), (0, 1), (1, 0)] {
        stage.request(other);
        stage.deliver(other, holder);
        for _ in ["req_ack", "token", "leader_info"] {
            stage.deliver(holder, other);
        }
        stage.deliver(holder, 2);
        stage.release(other);
    }
    let requests = stage.in_flight(2, 0).len() + stage.in_flight(2, 1).len();
    assert_eq!(requests, 5, "one entry, five requests, three nodes");
    stage.drive(100);
    assert!(stage.is_critical(2));
    assert_eq!(stage.violation, None);
}

/// How often node 3 has asked when it is told of a second leader. Its request came to the first one before the token
/// did, behind that of node 2, was stored and then queued.
fn requests_of_who_asked_before_the_token_came(repairs: Repairs) -> usize {
    let mut stage = Stage::<Klme>::inside(4, 1, &[0, 1, 2, 3], (), repairs);
    stage.play("req 1; msg 1>0; msg 0>2; msg 0>3; req 2; req 3; msg 2>1; msg 3>1");
    stage.drive(20);
    assert_eq!(stage.queue(1), [2, 3]);
    stage.release(1);
    stage.deliver(1, 3);
    let asked_again = stage.in_flight(3, 2).len();
    stage.drive(20);
    assert!(stage.is_critical(2));
    assert_eq!(stage.queue(2), [3]);
    1 + asked_again
}

#[test]
fn a_request_that_was_stored_is_acknowledged_when_it_is_queued() {
    assert_eq!(requests_of_who_asked_before_the_token_came(Repairs::ALL), 1);
    let published = Repairs::ALL.without(repair::ACK_STORED);
    assert_eq!(requests_of_who_asked_before_the_token_came(published), 2, "and again with every further leader");
}

/// H: the lists. Nobody but the token tells node 2 of the request of node 3, which waits behind it, and that of node 1,
/// which has left, is not remembered.
#[test]
fn a_new_leader_learns_from_the_token_what_those_who_are_here_have_asked_for() {
    let mut stage = stage(4, 1, &[0, 1, 2, 3]);
    stage.play("req 1");
    stage.drive(20);
    stage.release(1);
    stage.request(0);
    stage.drive(20);
    stage.leave(1);
    stage.drive(20);
    assert!(stage.is_critical(0) && !stage.is_inside(1));
    stage.play("req 2; msg 2>0; req 3; msg 3>0");
    assert_eq!(stage.queue(0), [2, 3]);
    stage.release(0);
    assert_eq!(stage.protocol(2).request_of(id(3)), 0, "it was not told");
    stage.drive(20);
    assert!(stage.is_critical(2));
    assert_eq!([1, 3].map(|node| stage.protocol(2).request_of(id(node))), [0, 1]);
    assert_eq!(stage.violation, None);
}

/// The news that it leads come before the token to a node whose own request has not come anywhere. It has nothing to
/// ask of itself, or to give back to itself: it asks for the token.
#[test]
fn section_7_who_is_told_that_it_leads_before_the_token_comes_asks_for_it_and_for_nothing_else() {
    let mut stage = Stage::<Klme>::inside(3, 1, &[0, 1, 2], (), Repairs::ALL.without(repair::TOKEN_FIRST));
    stage.play("req 1; leave 0");
    assert_eq!(stage.in_flight(0, 1), ["leader_info", "token", "i_am_leaving"]);
    stage.clauses.clear();
    stage.deliver(0, 1);
    assert_eq!(stage.clauses, ["A", "7.lost"]);
    assert_eq!(stage.in_flight(1, 0), ["req_cs", "token_lost"]);
    stage.deliver(0, 1);
    assert!(stage.is_critical(1));
}

#[test]
fn a_node_shows_whom_it_waits_on_and_a_leader_whom_it_will_serve() {
    let mut stage = stage(3, 1, &[0, 1, 2]);
    stage.play("req 0; req 2; msg 2>0");
    assert_eq!([0, 1, 2].map(|node| stage.waits_on(node)), [None, None, Some(0)]);
    assert_eq!([0, 1, 2].map(|node| stage.queue(node)), [vec![2], vec![], vec![]]);
    assert_eq!([0, 1, 2].map(|node| stage.has_token(node)), [true, false, false]);
    stage.drive(20);
    stage.release(0);
    stage.drive(20);
    assert_eq!((stage.waits_on(2), stage.queue(2), stage.has_token(2)), (None, vec![], true));
}

#[test]
fn section_7_a_token_that_is_late_is_not_taken_for_lost() {
    let mut stage = stage(3, 1, &[0, 1, 2]);
    stage.play("req 1; msg 1>0");
    assert_eq!(stage.in_flight(0, 1), ["req_ack", "token", "leader_info"]);
    stage.drive(20);
    assert!(stage.is_critical(1));
    assert_eq!(stage.violation, None);
}

#[test]
fn the_token_goes_before_the_news_of_it_and_as_published_behind_them() {
    let sent = |repairs| {
        let mut stage = Stage::<Klme>::inside(3, 1, &[0, 1, 2], (), repairs);
        stage.play("req 1; msg 1>0");
        assert_eq!(stage.in_flight(0, 2), ["leader_info"], "everybody is told");
        stage.in_flight(0, 1)
    };
    assert_eq!(sent(Repairs::ALL), ["req_ack", "token", "leader_info"]);
    assert_eq!(sent(Repairs::ALL.without(repair::TOKEN_FIRST)), ["req_ack", "leader_info", "token"]);
}

#[test]
fn a_node_that_leaves_with_an_idle_token_hands_it_over() {
    let mut stage = stage(3, 2, &[0, 1, 2]);
    stage.leave(0);
    stage.drive(20);
    assert!(!stage.is_inside(0));
    assert!(stage.has_token(1), "the lowest id of those who stay");
    stage.request(2);
    stage.drive(20);
    assert!(stage.is_critical(2));
    assert_eq!(stage.violation, None);
}

#[test]
fn a_node_that_leaves_while_the_token_is_on_its_way_to_it_passes_it_on() {
    let mut stage = stage(3, 1, &[0, 1, 2]);
    stage.play("req 1; msg 1>0; leave 1");
    stage.drive(30);
    assert!(!stage.is_inside(1));
    assert!(stage.has_token(0), "it came back, and none was made anew");
    stage.request(2);
    stage.drive(20);
    assert!(stage.is_critical(2));
    assert_eq!(stage.violation, None);
}

#[test]
fn a_node_that_leaves_is_answered_once_though_it_says_farewell_to_every_new_leader() {
    let mut stage = stage(3, 1, &[0, 1, 2]);
    stage.play("req 1; msg 1>0; leave 2; msg 0>2; msg 0>1; msg 0>1");
    assert_eq!(stage.in_flight(2, 1), ["i_am_leaving", "i_am_leaving"], "to all, and to the new leader");
    stage.play("msg 2>1; msg 2>1");
    assert_eq!(stage.in_flight(1, 2), ["leave_ack"]);
    stage.drive(20);
    assert!(!stage.is_inside(2));
    assert_eq!(stage.violation, None);
}

/// What node 1 answers to node 0 when the token has come to it.
fn answers_to_the_token(repairs: Repairs) -> Vec<&'static str> {
    let mut stage = Stage::<Klme>::inside(3, 1, &[0, 1, 2], (), repairs);
    stage.play("req 1; msg 1>0; msg 0>1; msg 0>1");
    assert!(stage.is_critical(1));
    stage.in_flight(1, 0)
}

/// Section 7: the receiver of a token acknowledges it, so that the sender forgets a copy which nothing uses any more.
#[test]
fn a_token_is_acknowledged_only_where_its_copy_could_be_used() {
    assert!(answers_to_the_token(Repairs::ALL).is_empty());
    for repair in [repair::NO_COPY, repair::POSSESSION, repair::FAREWELL] {
        assert_eq!(answers_to_the_token(Repairs::ALL.without(repair)), ["token_ack"], "{}", repair.name);
    }
}

#[test]
fn a_node_that_leaves_with_queued_requests_of_others_hands_them_over() {
    let mut stage = stage(4, 1, &[0, 1, 2, 3]);
    stage.play("req 0; req 2; req 1; msg 2>0; msg 1>0");
    assert_eq!(stage.queue(0), [2, 1]);
    stage.leave(0);
    assert!(!stage.is_critical(0), "crossing the border ends the CS");
    stage.drive(30);
    assert!(stage.is_critical(2), "the front of the queue");
    assert_eq!(stage.queue(2), [1]);
    stage.release(2);
    stage.drive(20);
    assert!(stage.is_critical(1));
    assert_eq!(stage.violation, None);
}

#[test]
fn requests_and_releases_that_a_leaver_has_stored_reach_the_leader() {
    let mut stage = stage(4, 2, &[0, 1, 2, 3]);
    // Node 2 enters by permission of 0, which then passes the token on to 1; the release of 2 finds 0 without it.
    stage.play("req 0; req 2; msg 2>0; msg 0>2; msg 0>2; req 1; msg 1>0; rel 0; rel 2; msg 2>0");
    stage.leave(0);
    stage.drive(40);
    assert!(stage.is_critical(1));
    let token = stage.protocol(1).token().expect("the leader");
    assert_eq!(token.free.count(), 1, "the unit of node 2 is free again");
    assert_eq!(stage.violation, None);
}

#[test]
fn a_node_that_re_enters_is_not_taken_for_the_one_that_left() {
    let mut stage = stage(3, 1, &[0, 1, 2]);
    // Two requests in the first stay, one of which is still on its way to a former leader when node 2 leaves.
    stage.play("req 2; msg 2>0; msg 0>2; msg 0>2; msg 0>1; rel 2; req 1; msg 1>2; msg 2>1; msg 2>1; msg 2>1");
    stage.drive(20);
    stage.release(1);
    stage.request(2);
    stage.leave(2);
    stage.drive(30);
    assert!(!stage.is_inside(2));
    stage.join(2);
    stage.drive(30);
    assert!(stage.is_critical(2), "it comes back hungry and is served under request 1 of its second stay");
    stage.release(2);
    stage.drive(20);
    assert_eq!(stage.stuck(), [0; 0]);
    assert_eq!(stage.violation, None);
}

#[test]
fn who_crosses_the_border_in_its_cs_comes_back_hungry_and_goes_on() {
    let mut stage = stage(3, 1, &[0, 1, 2]);
    stage.play("req 2");
    stage.drive(20);
    assert!(stage.is_critical(2));
    stage.leave(2);
    assert_eq!(stage.status(2).section, W);
    stage.drive(20);
    assert!(!stage.is_inside(2));
    stage.request(1);
    stage.drive(20);
    assert!(stage.is_critical(1), "the unit is free for others");
    stage.join(2);
    stage.drive(20);
    stage.release(1);
    stage.drive(20);
    assert!(stage.is_critical(2), "without asking again");
    assert_eq!(stage.violation, None);
}

#[test]
fn the_token_ends_with_the_last_node_and_begins_anew_with_the_first() {
    let mut stage = stage(2, 2, &[0, 1]);
    stage.play("req 1");
    stage.drive(20);
    stage.leave(1);
    stage.leave(0);
    stage.drive(30);
    assert!(!stage.is_inside(0) && !stage.is_inside(1));
    stage.join(0);
    stage.request(0);
    assert!(stage.is_critical(0), "under a later fence than ever before, or the oracle objects");
    assert_eq!(stage.violation, None);
}

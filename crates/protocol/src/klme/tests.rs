//! One node at a time: what it says and does about what it hears, clause by clause. Here clauses A to H; and what the
//! tests of the others have in common.

use alloc::format;
use alloc::vec;

use super::*;
use crate::{Effect, Incarnation, Outbox};

/// Nodes 0 to 3 share two units, and node 0 leads.
pub(super) fn deployed(repairs: Repairs) -> Vec<Klme> {
    let members = (0..4).map(NodeId).collect();
    let deployment = Deployment { nodes: 4, k: 2, members, ..Deployment::default() };
    Klme::deploy(&deployment, (), repairs)
}

pub(super) fn without(repair: Repair) -> Repairs {
    Repairs::ALL.without(repair)
}

pub(super) fn leader_with(repairs: Repairs) -> Klme {
    deployed(repairs).swap_remove(0)
}

pub(super) fn leader() -> Klme {
    leader_with(Repairs::ALL)
}

/// Node 0, in its CS.
pub(super) fn busy_leader() -> Klme {
    let mut leader = leader();
    done(&mut leader, |leader, out| leader.request(Demand::ONE, out));
    leader
}

/// Node 1.
pub(super) fn member_with(repairs: Repairs) -> Klme {
    deployed(repairs).swap_remove(1)
}

pub(super) fn member() -> Klme {
    member_with(Repairs::ALL)
}

/// Node 1, which has asked.
pub(super) fn waiter_with(repairs: Repairs) -> Klme {
    let mut node = member_with(repairs);
    done(&mut node, |node, out| node.request(Demand::ONE, out));
    node
}

pub(super) fn waiter() -> Klme {
    waiter_with(Repairs::ALL)
}

/// A request of a node in the stay that it is in from the start.
pub(super) fn nth(node: u32, number: u32) -> RequestNo {
    RequestNo { life: Life(node), number }
}

pub(super) fn effects(node: &mut Klme, act: impl FnOnce(&mut Klme, &mut Out<Klme>)) -> Vec<Effect<Message, Never>> {
    let mut out = Outbox::new();
    act(node, &mut out);
    out.drain().collect()
}

fn clauses(node: &mut Klme, from: u32, message: Message) -> Vec<&'static str> {
    let mut out = Outbox::with_clauses();
    node.message(NodeId(from), message, &mut out);
    let clause = |effect| if let Effect::Clause(clause) = effect { Some(clause) } else { None };
    out.drain().filter_map(clause).collect()
}

/// What it does, in short, and to which node.
pub(super) fn done(node: &mut Klme, act: impl FnOnce(&mut Klme, &mut Out<Klme>)) -> Vec<String> {
    let kind = |message: &Message| Klme::KINDS[Klme::kind(message)];
    let brief = |effect| match effect {
        Effect::Send { to, message, .. } => format!("{} {to}", kind(&message)),
        Effect::Broadcast { message } => format!("{} *", kind(&message)),
        Effect::Grant(_) => "grant".into(),
        Effect::Revoke(_) => "revoke".into(),
        Effect::Depart => "depart".into(),
        other => format!("{other:?}"),
    };
    effects(node, act).into_iter().map(brief).collect()
}

pub(super) fn heard(node: &mut Klme, from: u32, message: Message) -> Vec<String> {
    done(node, |node, out| node.message(NodeId(from), message, out))
}

/// What it says, and to which node.
pub(super) fn said(node: &mut Klme, act: impl FnOnce(&mut Klme, &mut Out<Klme>)) -> Vec<(NodeId, Message)> {
    let message = |effect| if let Effect::Send { to, message, .. } = effect { Some((to, message)) } else { None };
    effects(node, act).into_iter().filter_map(message).collect()
}

/// The token of node 0, under the next number, on its way to node 1.
pub(super) fn on_its_way() -> Token {
    let mut token = leader().token().unwrap().clone();
    token.leader_no = LeaderNo(2);
    token
}

/// What node 0 tells when node 2 leads, and these have units.
fn news(leader_no: u32, allocated: &[(u32, RequestNo)]) -> Message {
    let allocated = allocated.iter().map(|&(node, number)| (NodeId(node), number)).collect();
    Message::LeaderInfo { leader: NodeId(2), allocated, leader_no: LeaderNo(leader_no) }
}

#[test]
fn members_know_one_another_by_their_ids_whoever_leads() {
    let members = [2, 3, 0].map(NodeId).to_vec();
    let nodes = Klme::deploy(&Deployment { nodes: 4, k: 1, members, ..Deployment::default() }, (), Repairs::ALL);
    let others = |at: usize| nodes[at].place.as_ref().map(|place| place.others.iter().map(|other| other.0.0).collect());
    assert_eq!([0, 1, 2, 3].map(others), [Some(vec![2, 3]), None, Some(vec![0, 3]), Some(vec![0, 2])]);
    let leader = Some(NodeId(2));
    assert_eq!([0, 1, 2, 3].map(|at| nodes[at].leader()), [leader, None, leader, leader]);
    assert_eq!([0, 1, 2, 3].map(|at| nodes[at].has_token()), [false, false, true, false]);
}

#[test]
fn the_node_with_the_token_leads_and_as_published_one_that_believes_it_and_has_the_token_or_a_copy() {
    let leads = |repairs, believes: u32, has_token, has_copy| {
        let mut node = member_with(repairs);
        let place = node.here();
        place.leader = Some(NodeId(believes));
        place.token = Some(on_its_way()).filter(|_| has_token);
        place.copy = Some((NodeId(2), on_its_way())).filter(|_| has_copy);
        let leads = node.leads();
        assert_eq!(node.has_token(), has_token || leads, "a copy that it goes by is the token now");
        leads
    };
    let published = without(repair::POSSESSION);
    assert!(leads(Repairs::ALL, 2, true, false) && leads(published, 1, true, false));
    assert!(leads(published, 1, false, true), "it goes by the copy");
    assert!(!leads(Repairs::ALL, 1, false, true) && !leads(published, 1, false, false));
    assert!(!leads(published, 2, true, true), "it believes that node 2 leads");
    let mut outside = leader();
    outside.place = None;
    assert!(!outside.leads());
}

#[test]
fn members_that_come_and_go_are_known_by_their_ids_with_their_latest_life() {
    let mut node = member();
    let others = |node: &mut Klme| node.here().others.iter().map(|other| (other.0.0, other.1.0)).collect::<Vec<_>>();
    done(&mut node, |node, out| node.below(Crossing::Parted { peer: NodeId(2) }, out));
    assert_eq!(others(&mut node), [(0, 0), (3, 3)]);
    done(&mut node, |node, out| node.below(Crossing::Met { peer: NodeId(2), life: Incarnation(9) }, out));
    assert_eq!(others(&mut node), [(0, 0), (2, 9), (3, 3)]);
    done(&mut node, |node, out| node.below(Crossing::Met { peer: NodeId(3), life: Incarnation(10) }, out));
    assert_eq!(others(&mut node), [(0, 0), (2, 9), (3, 10)]);
}

#[test]
fn the_farewell_of_one_that_has_gone_is_forgotten_and_no_other() {
    let mut node = member();
    for leaver in [2, 3] {
        node.here().leavers.note(NodeId(leaver), nth(leaver, 0));
    }
    done(&mut node, |node, out| node.below(Crossing::Parted { peer: NodeId(2) }, out));
    assert_eq!(node.here().leavers.iter().map(|leaver| leaver.0.0).collect::<Vec<_>>(), [3]);
}

#[test]
fn b_a_node_asks_the_leader_once_it_knows_it_and_is_not_about_to_leave() {
    let ask = |node: &mut Klme| said(node, |node, out| node.request(Demand::ONE, out));
    let mut node = member();
    node.here().acknowledged = true;
    assert_eq!(ask(&mut node), [(NodeId(0), Message::ReqCs { number: nth(1, 1) })]);
    assert!(node.state == Section::Waiting && !node.here().acknowledged);
    assert_eq!(node.request_of(NodeId(1)), 1);
    let mut lost = member();
    lost.here().leader = None;
    assert_eq!(ask(&mut lost), []);
    assert_eq!(lost.number(), nth(1, 1), "it has asked, and will tell the leader");
    let mut leaver = member();
    leaver.here().leaving = true;
    assert_eq!((ask(&mut leaver), leaver.number(), leaver.state), (vec![], nth(1, 0), Section::Waiting));
    let mut outside = member();
    outside.place = None;
    assert_eq!((ask(&mut outside), outside.state), (vec![], Section::Waiting));
}

#[test]
fn b_a_leader_takes_a_unit_itself() {
    let mut node = leader();
    assert_eq!(done(&mut node, |node, out| node.request(Demand::ONE, out)), ["grant"]);
    assert_eq!((node.state, node.in_use.unwrap().permits), (Section::Critical, Permits::first(1)));
    assert!(node.here().acknowledged);
    assert_eq!(node.token().unwrap().allocated_numbers(), [(NodeId(0), nth(0, 1))]);
    assert_eq!(node.token().unwrap().requests.get(NodeId(0)), Some(nth(0, 1)));
}

#[test]
fn c_a_node_that_does_not_lead_stores_a_request_and_says_nothing() {
    let mut node = member();
    let request = Message::ReqCs { number: nth(2, 1) };
    assert_eq!(heard(&mut node, 2, request.clone()), [""; 0]);
    assert_eq!(node.request_of(NodeId(2)), 1);
    assert_eq!(clauses(&mut node, 2, request), ["C", "C.store"]);
}

#[test]
fn c_an_idle_leader_sends_the_token_with_a_unit_and_tells_all() {
    let mut node = leader();
    let answer = heard(&mut node.clone(), 2, Message::ReqCs { number: nth(2, 1) });
    assert_eq!(answer, ["req_ack 2", "token 2", "leader_info *"]);
    let answer = said(&mut node, |node, out| node.message(NodeId(2), Message::ReqCs { number: nth(2, 1) }, out));
    let [(_, ack), (NodeId(2), Message::Token { token })] = &answer[..] else { panic!("{answer:?}") };
    assert_eq!(*ack, Message::ReqAck { number: nth(2, 1) });
    assert_eq!(token.allocated_numbers(), [(NodeId(2), nth(2, 1))]);
    assert_eq!((token.leader_no, token.free.count(), token.queue.len()), (LeaderNo(2), 1, 0));
    assert_eq!((node.leader(), node.here().leader_no, node.has_token()), (Some(NodeId(2)), LeaderNo(2), false));
    assert_eq!(node.request_of(NodeId(2)), 1);
}

#[test]
fn c_a_leader_in_its_cs_permits_those_it_has_a_unit_for_and_queues_the_others() {
    let mut node = busy_leader();
    let number = nth(2, 1);
    let answer = said(&mut node, |node, out| node.message(NodeId(2), Message::ReqCs { number }, out));
    let entry = *node.token().unwrap().allocation(NodeId(2)).unwrap();
    let grant = Message::PerGrant { number, grant: entry.grant, leader_no: LeaderNo(1) };
    assert_eq!(answer, [(NodeId(2), Message::ReqAck { number }), (NodeId(2), grant)]);
    assert_eq!(heard(&mut node, 3, Message::ReqCs { number: nth(3, 1) }), ["req_ack 3"]);
    assert_eq!(node.token().unwrap().queue, [(NodeId(3), nth(3, 1))]);
    assert_eq!(heard(&mut node, 3, Message::ReqCs { number: nth(3, 1) }), [""; 0], "it is known");
}

#[test]
fn c_a_node_that_asks_again_has_left_its_cs_and_waits_once() {
    let mut node = busy_leader();
    for number in [1, 2] {
        heard(&mut node, 2, Message::ReqCs { number: nth(2, number) });
    }
    let token = node.token().unwrap();
    assert_eq!(token.allocated_numbers(), [(NodeId(0), nth(0, 1)), (NodeId(2), nth(2, 2))]);
    heard(&mut node, 3, Message::ReqCs { number: nth(3, 1) });
    heard(&mut node, 3, Message::ReqCs { number: nth(3, 2) });
    assert_eq!(node.token().unwrap().queue, [(NodeId(3), nth(3, 2))]);
}

#[test]
fn c_what_the_token_does_not_know_is_news_and_as_published_what_the_leader_does_not() {
    let is_news = |repairs, token_knows, leader_knows| {
        let mut node = leader_with(repairs);
        node.books().requests.note(NodeId(2), nth(2, token_knows));
        node.here().requests.note(NodeId(2), nth(2, leader_knows));
        node.is_news(NodeId(2), nth(2, 2))
    };
    let published = without(repair::TOMBSTONE);
    assert_eq!([1, 2, 3].map(|known| is_news(Repairs::ALL, known, 0)), [true, false, false]);
    assert_eq!([1, 2, 3].map(|known| is_news(Repairs::ALL, 0, known)), [true; 3]);
    assert_eq!([1, 2, 3].map(|known| is_news(published, known, 0)), [true, false, false]);
    assert_eq!([1, 2, 3].map(|known| is_news(published, 0, known)), [true, false, false]);
}

#[test]
fn d_an_acknowledgement_counts_for_the_request_that_waits() {
    let counts = |mut node: Klme, number| {
        heard(&mut node, 0, Message::ReqAck { number: nth(1, number) });
        node.here().acknowledged
    };
    assert!(counts(waiter(), 1) && !counts(waiter(), 0));
    let mut served = waiter();
    served.state = Section::Remainder;
    assert!(!counts(served, 1));
    assert!(counts(waiter_with(without(repair::NUMBERED_REPLIES)), 0), "as published it has no number");
}

fn grant(number: u32, leader_no: u32) -> Message {
    let grant = leader().books().allocate(NodeId(1), nth(1, number)).unwrap();
    Message::PerGrant { number: nth(1, number), grant, leader_no: LeaderNo(leader_no) }
}

#[test]
fn e_a_grant_is_taken_for_the_request_that_waits() {
    let mut node = waiter();
    assert_eq!(heard(&mut node, 0, grant(1, 1)), ["grant"]);
    assert_eq!((node.state, node.in_use.unwrap().permits), (Section::Critical, Permits::first(1)));
    assert!(node.here().acknowledged);
    assert_eq!(heard(&mut waiter(), 0, grant(0, 1)), [""; 0], "that was an earlier request");
    assert_eq!(heard(&mut node, 0, grant(1, 1)), [""; 0], "it waits no more");
    let mut leaver = waiter();
    leaver.here().leaving = true;
    assert_eq!(heard(&mut leaver, 0, grant(1, 1)), [""; 0], "it is about to leave");
    assert_eq!(heard(&mut waiter_with(without(repair::NUMBERED_REPLIES)), 0, grant(0, 1)), ["grant"], "as published");
}

#[test]
fn e_a_grant_of_a_later_leader_says_who_leads() {
    let leader = |leader_no| {
        let mut node = waiter();
        heard(&mut node, 3, grant(1, leader_no));
        (node.leader().unwrap().0, node.here().leader_no.0)
    };
    assert_eq!([0, 1, 2].map(leader), [(0, 1), (0, 1), (3, 2)]);
}

#[test]
fn f_a_leader_that_leaves_its_cs_serves_the_next_and_another_node_tells_the_leader() {
    let mut node = busy_leader();
    assert_eq!(done(&mut node.clone(), Protocol::release), [""; 0], "nobody waits");
    for other in [2, 3] {
        heard(&mut node, other, Message::ReqCs { number: nth(other, 1) });
    }
    assert_eq!(done(&mut node, Protocol::release), ["token 3", "leader_info *"]);
    assert_eq!((node.state, node.in_use), (Section::Remainder, None));
    let mut node = waiter();
    heard(&mut node, 0, grant(1, 1));
    let release = said(&mut node, Protocol::release);
    assert_eq!(release, [(NodeId(0), Message::Release { number: nth(1, 1) })]);
    assert_eq!((node.state, node.in_use), (Section::Remainder, None));
}

#[test]
fn f_a_leader_frees_its_own_unit() {
    let mut node = busy_leader();
    done(&mut node, Protocol::release);
    assert!(node.token().unwrap().allocated.is_empty() && node.token().unwrap().free == Permits::first(2));
}

#[test]
fn g_a_release_frees_what_was_allocated_for_it_and_serves_the_next_and_is_stored_by_others() {
    let mut node = busy_leader();
    for other in [2, 3] {
        heard(&mut node, other, Message::ReqCs { number: nth(other, 1) });
    }
    let late = |number| Message::Release { number: nth(2, number) };
    assert_eq!(heard(&mut node.clone(), 2, late(0)), [""; 0], "that was an earlier one");
    assert_eq!(heard(&mut node.clone(), 1, late(1)), [""; 0], "it has none");
    assert_eq!(heard(&mut node, 2, late(1)), ["per_grant 3"]);
    node.repairs = without(repair::RELEASE_NUMBER);
    assert_eq!(heard(&mut node, 3, late(0)), [""; 0]);
    assert_eq!(node.token().unwrap().allocation(NodeId(3)), None, "as published any release of the node will do");
    let mut other = member();
    assert_eq!(heard(&mut other, 2, late(1)), [""; 0]);
    assert_eq!(other.here().releases.get(NodeId(2)), Some(nth(2, 1)));
}

#[test]
fn h_a_node_that_waits_enters_with_the_token_and_permits_others() {
    let mut token = on_its_way();
    token.queue = vec![(NodeId(1), nth(1, 1)), (NodeId(3), nth(3, 1))];
    let mut node = waiter();
    assert_eq!(heard(&mut node, 0, Message::Token { token }), ["grant", "per_grant 3"]);
    assert_eq!((node.leader(), node.here().leader_no), (Some(NodeId(1)), LeaderNo(2)));
    let token = node.token().unwrap();
    assert_eq!(token.allocated_numbers(), [(NodeId(1), nth(1, 1)), (NodeId(3), nth(3, 1))]);
    assert!(token.queue.is_empty());
}

#[test]
fn h_the_unit_that_comes_with_the_token_is_used_and_one_for_an_earlier_request_is_taken_back() {
    let entered = |number| {
        let mut token = on_its_way();
        let allocated = token.allocate(NodeId(1), nth(1, number)).unwrap();
        let mut node = waiter();
        assert_eq!(heard(&mut node, 0, Message::Token { token }), ["grant"]);
        let token = node.token().unwrap();
        assert_eq!((token.allocated_numbers(), token.free.count()), (vec![(NodeId(1), nth(1, 1))], 1));
        node.in_use == Some(allocated)
    };
    assert!(entered(1), "it is the same grant");
    assert!(!entered(0), "it is a new grant");
}

#[test]
fn h_a_node_that_does_not_wait_gives_back_the_unit_that_comes_with_the_token_and_passes_it_on() {
    let mut token = on_its_way();
    token.allocate(NodeId(1), nth(1, 0));
    let mut node = member();
    assert_eq!(heard(&mut node, 0, Message::Token { token: token.clone() }), [""; 0]);
    assert_eq!((node.token().unwrap().free.count(), node.has_token()), (2, true));
    token.queue.push((NodeId(3), nth(3, 1)));
    assert_eq!(heard(&mut member(), 0, Message::Token { token: token.clone() }), ["token 3", "leader_info *"]);
    let mut published = member_with(without(repair::FORWARD_ANNOUNCED));
    assert_eq!(heard(&mut published.clone(), 0, Message::Token { token: token.clone() }), ["token 3"], "silently");
    let passed = said(&mut published, |node, out| node.message(NodeId(0), Message::Token { token }, out));
    let [(NodeId(3), Message::Token { token })] = &passed[..] else { panic!("{passed:?}") };
    assert_eq!((token.allocated_numbers(), token.leader_no), (vec![(NodeId(3), nth(3, 1))], LeaderNo(2)));
    assert_eq!((published.leader(), &published.here().copy), (Some(NodeId(3)), &None));
}

#[test]
fn h_a_node_in_its_cs_keeps_its_unit_when_the_token_comes() {
    let in_cs = |number| {
        let mut token = on_its_way();
        let grant = token.allocate(NodeId(1), nth(1, number));
        let mut node = waiter();
        (node.state, node.in_use) = (Section::Critical, grant);
        heard(&mut node, 0, Message::Token { token });
        node.token().unwrap().allocation(NodeId(1)).is_some()
    };
    assert!(in_cs(1));
    assert!(!in_cs(0), "that was for an earlier request");
}

#[test]
fn h_as_published_a_node_that_passes_the_token_on_silently_keeps_a_copy() {
    let mut token = on_its_way();
    token.queue.push((NodeId(3), nth(3, 1)));
    let mut node = member_with(without(repair::FORWARD_ANNOUNCED).without(repair::NO_COPY));
    heard(&mut node, 0, Message::Token { token });
    assert!(matches!(&node.here().copy, Some((NodeId(3), copy)) if copy.allocation(NodeId(3)).is_some()));
}

#[test]
fn h_as_published_the_token_is_passed_on_silently_only_in_the_remainder_section_of_a_node_that_stays() {
    let mut token = on_its_way();
    let grant = token.allocate(NodeId(1), nth(1, 1));
    token.queue.push((NodeId(3), nth(3, 1)));
    let mut node = waiter_with(without(repair::FORWARD_ANNOUNCED));
    let mut leaver = node.clone();
    (node.state, node.in_use) = (Section::Critical, grant);
    assert_eq!(heard(&mut node, 0, Message::Token { token: token.clone() }), ["per_grant 3"]);
    leaver.here().leaving = true;
    assert_eq!(heard(&mut leaver, 0, Message::Token { token }), ["token 3", "i_am_leaving 3"]);
}

#[test]
fn h_a_node_that_has_the_token_or_knows_of_a_later_one_takes_no_other_unless_as_published() {
    let taken = |mut node: Klme, leader_no| {
        let mut token = on_its_way();
        (token.leader_no, token.fence.counter) = (LeaderNo(leader_no), 99);
        heard(&mut node, 0, Message::Token { token });
        node.token().is_some_and(|token| token.fence.counter == 99)
    };
    let informed = |repairs| {
        let mut node = member_with(repairs);
        node.here().leader_no = LeaderNo(2);
        node
    };
    assert_eq!([1, 2, 3].map(|leader_no| taken(informed(Repairs::ALL), leader_no)), [false, true, true]);
    assert!(!taken(leader(), 3));
    let published = without(repair::POSSESSION);
    assert!(taken(informed(published), 1));
    let mut node = informed(published);
    heard(&mut node, 0, Message::Token { token: Token { leader_no: LeaderNo(5), ..on_its_way() } });
    assert_eq!(node.here().leader_no, LeaderNo(2), "it does not compare numbers");
}

#[test]
fn h_requests_and_releases_that_were_stored_count_when_the_token_comes() {
    let mut token = on_its_way();
    for node in [2, 3] {
        token.allocate(NodeId(node), nth(node, 1));
        token.requests.note(NodeId(node), nth(node, 1));
    }
    let mut node = member();
    let place = node.here();
    place.releases.note(NodeId(2), nth(2, 1));
    // The own request is not stored, the one of node 2 is known, node 3 has asked for nothing, and node 0 is news.
    for (node, number) in [(0, 1), (1, 1), (2, 1), (3, 0)] {
        place.requests.note(NodeId(node), nth(node, number));
    }
    assert_eq!(heard(&mut node.clone(), 0, Message::Token { token: token.clone() })[..2], ["req_ack 0", "token 0"]);
    node.repairs = without(repair::ACK_STORED);
    let passed = said(&mut node, |node, out| node.message(NodeId(0), Message::Token { token }, out));
    let [(NodeId(0), Message::Token { token })] = &passed[..] else { panic!("{passed:?}") };
    assert_eq!(token.allocated_numbers(), [(NodeId(0), nth(0, 1)), (NodeId(3), nth(3, 1))]);
    assert!(token.queue.is_empty() && node.here().releases.iter().next().is_none());
}

#[test]
fn h_nodes_that_came_or_said_farewell_meanwhile_hear_of_the_leader() {
    let mut node = member();
    node.here().newcomers = vec![NodeId(3)];
    node.here().leavers.note(NodeId(2), nth(2, 0));
    assert_eq!(heard(&mut node, 0, Message::Token { token: on_its_way() }), ["leave_ack 2", "leader_info 3"]);
    assert!(node.here().newcomers.is_empty() && node.here().leavers.iter().next().is_none());
}

#[test]
fn h_what_the_token_knows_of_the_members_here_is_noted() {
    let mut token = on_its_way();
    for node in [2, 9] {
        token.requests.note(NodeId(node), nth(node, 4));
    }
    let mut node = member();
    heard(&mut node, 0, Message::Token { token });
    assert_eq!([2, 9].map(|other| node.request_of(NodeId(other))), [4, 0]);
}

#[test]
fn a_news_of_a_later_leader_is_taken_and_no_other() {
    let leader = |repairs, leader_no| {
        let mut node = member_with(repairs);
        heard(&mut node, 0, news(leader_no, &[(3, nth(3, 2))]));
        (node.leader().unwrap().0, node.here().leader_no.0, node.request_of(NodeId(3)))
    };
    assert_eq!([0, 1, 2].map(|leader_no| leader(Repairs::ALL, leader_no)), [(0, 1, 0), (0, 1, 0), (2, 2, 2)]);
    let published = without(repair::STALE_LEADER);
    assert_eq!([0, 1, 2].map(|leader_no| leader(published, leader_no)), [(2, 1, 0), (2, 1, 0), (2, 2, 2)]);
    assert_eq!(leader(without(repair::MERGE_ALLOCATED), 2), (2, 2, 0));
}

#[test]
fn a_a_node_that_was_not_heard_asks_a_new_leader_again() {
    let ask = Message::ReqCs { number: nth(1, 1) };
    let tell = |node: &mut Klme| said(node, |node, out| node.message(NodeId(0), news(2, &[]), out));
    assert_eq!(tell(&mut waiter()), [(NodeId(2), ask)]);
    let mut acknowledged = waiter();
    acknowledged.here().acknowledged = true;
    assert_eq!(tell(&mut acknowledged), []);
    assert_eq!(tell(&mut member()), [], "it has not asked");
    let mut leaver = waiter();
    leaver.here().leaving = true;
    assert_eq!(heard(&mut leaver, 0, news(2, &[])), ["i_am_leaving 2"]);
}

#[test]
fn a_a_node_that_is_listed_with_a_unit_that_it_does_not_use_releases_it_again() {
    let release = |number| (NodeId(2), Message::Release { number: nth(1, number) });
    let tell = |node: &mut Klme, listed| {
        said(node, |node, out| node.message(NodeId(0), news(2, &[(1, nth(1, listed)), (3, nth(3, 9))]), out))
    };
    assert_eq!(tell(&mut member(), 0), [release(0)], "it has left its CS");
    let mut waits = waiter();
    waits.here().acknowledged = true;
    assert_eq!(tell(&mut waits.clone(), 0), [release(0)], "that was for an earlier request");
    assert_eq!(tell(&mut waits, 1), [], "the grant is on its way");
    let mut served = waiter();
    served.state = Section::Critical;
    assert_eq!(tell(&mut served, 1), [], "it uses it");
}

#[test]
fn what_it_holds_is_what_is_free_and_what_it_uses() {
    let node = busy_leader();
    assert_eq!((node.held(), member().held()), (Permits::first(2), Permits::NONE));
    let mut user = waiter();
    heard(&mut user, 0, grant(1, 1));
    assert_eq!(user.held(), Permits::first(1));
    let token = node.token().unwrap().clone();
    let free = token.free;
    assert_eq!((free.count(), Klme::permits(&Message::Token { token })), (1, free));
    assert_eq!(Klme::permits(&Message::Release { number: nth(1, 1) }), Permits::NONE);
}

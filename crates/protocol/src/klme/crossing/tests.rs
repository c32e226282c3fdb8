use alloc::string::String;
use alloc::vec::Vec;

use super::*;
use crate::klme::tests::{busy_leader, done, heard, member, member_with, nth, on_its_way, said, waiter, without};
use crate::klme::{LeaderNo, Token};
use crate::{Crossing, Deployment, Effect, Fence, Incarnation, Outbox, Protocol, Repair, Repairs, Stay};

/// Nodes 0 to 3, of which node 0 leads.
fn deployed(repairs: Repairs) -> Vec<Klme> {
    let members = (0..4).map(NodeId).collect();
    let deployment = Deployment { nodes: 4, k: 1, members, ..Deployment::default() };
    Klme::deploy(&deployment, (), repairs)
}

fn leader(repairs: Repairs) -> Klme {
    deployed(repairs).swap_remove(0)
}

fn heir(change: impl FnOnce(&mut Klme)) -> Option<NodeId> {
    let mut leader = leader(Repairs::ALL);
    change(&mut leader);
    leader.heir()
}

#[test]
fn the_heir_is_the_lowest_of_the_members_that_stay_and_use_nothing() {
    assert_eq!(heir(|_| {}), Some(NodeId(1)));
    let number = RequestNo { life: Life(1), number: 1 };
    assert_eq!(heir(|leader| _ = leader.books().allocate(NodeId(1), number)), Some(NodeId(2)), "node 1 uses a unit");
    let only_one_who_uses = heir(|leader| {
        leader.here().others.truncate(1);
        leader.books().allocate(NodeId(1), number);
    });
    assert_eq!(only_one_who_uses, Some(NodeId(1)), "there is no other");
    assert_eq!(heir(|leader| leader.here().others.clear()), None);
}

/// Node 1 is in its stay number 1; its farewell, or the token's word that it has left, may be of an earlier one.
#[test]
fn a_member_that_has_said_farewell_in_this_stay_inherits_nothing() {
    let said = |life| heir(move |leader| leader.here().leavers.note(NodeId(1), RequestNo { life, number: 0 }));
    assert_eq!((said(Life(1)), said(Life(0))), (Some(NodeId(2)), Some(NodeId(1))));
    let gone = |life| heir(move |leader| leader.books().requests.note(NodeId(1), RequestNo::gone(life)));
    assert_eq!((gone(Life(1)), gone(Life(0))), (Some(NodeId(2)), Some(NodeId(1))));
}

/// Whether node 0 tells all others which node leads now, when it leaves and hands the token over.
fn announces(switched_off: Option<Repair>) -> bool {
    let mut leader = leader(switched_off.map_or(Repairs::ALL, |repair| Repairs::ALL.without(repair)));
    let mut out = Outbox::new();
    leader.on_about_to_leave(&mut out);
    let effects: Vec<_> = out.drain().collect();
    let is_token = |effect: &_| matches!(effect, Effect::Send { to: NodeId(1), message: Message::Token { .. }, .. });
    assert!(effects.iter().any(is_token), "{effects:?}");
    effects.iter().any(|effect| matches!(effect, Effect::Broadcast { message: Message::LeaderInfo { .. } }))
}

#[test]
fn a_leader_that_hands_the_token_over_tells_all_and_as_published_tells_none() {
    assert!(announces(None));
    assert!(!announces(Some(repair::FORWARD_ANNOUNCED)));
}

/// Whether a node that is told to leave goes at once.
fn goes_at_once(mut node: Klme) -> bool {
    let mut out = Outbox::new();
    node.on_about_to_leave(&mut out);
    out.drain().any(|effect| effect == Effect::Depart)
}

#[test]
fn as_published_a_leaver_is_gone_at_once_and_an_idle_holder_takes_the_token_along() {
    let member = |switched_off: Repair| deployed(Repairs::ALL.without(switched_off)).swap_remove(1);
    assert!(goes_at_once(member(repair::FAREWELL)));
    assert!(!goes_at_once(member(repair::IDLE_HOLDER)), "it has no token, and waits until the leader lets it go");
    assert!(goes_at_once(leader(Repairs::ALL.without(repair::IDLE_HOLDER))));
}

/// Whether node 1, which is told to leave if it is to, goes when the leader lets it go from this stay.
fn is_let_go(is_to_leave: bool, life: Life, change: impl FnOnce(&mut Klme)) -> bool {
    let mut node = deployed(Repairs::ALL).swap_remove(1);
    let mut out = Outbox::new();
    if is_to_leave {
        node.on_about_to_leave(&mut out);
    }
    change(&mut node);
    node.on_leave_ack(life, &mut out);
    let departs = out.drain().any(|effect| effect == Effect::Depart);
    assert_eq!(node.place.is_none(), departs);
    departs
}

#[test]
fn a_leaver_goes_when_the_leader_lets_it_go_from_this_stay_and_it_has_no_token() {
    let life = deployed(Repairs::ALL)[1].number().life;
    assert!(is_let_go(true, life, |_| {}));
    assert!(!is_let_go(false, life, |_| {}), "it was not told to leave");
    assert!(!is_let_go(true, Life(life.0 - 1), |_| {}), "that was an earlier stay");
    assert!(!is_let_go(true, life, |node| node.here().token = Some(Token::generate(1, 0))), "it has the token");
}

#[test]
fn a_newcomer_that_has_gone_is_not_told_who_leads() {
    let mut node = deployed(Repairs::ALL).swap_remove(1);
    node.here().newcomers = [2, 3].map(NodeId).to_vec();
    node.below(Crossing::Parted { peer: NodeId(2) }, &mut Outbox::new());
    assert_eq!(node.here().newcomers, [NodeId(3)]);
}

/// What a node does that is told to leave.
fn leaves(node: &mut Klme) -> Vec<String> {
    done(node, |node, out| node.below(Crossing::Leaving, out))
}

fn parts(node: &mut Klme, peer: u32) -> Vec<String> {
    done(node, |node, out| node.below(Crossing::Parted { peer: NodeId(peer) }, out))
}

/// The one message of which this is the content goes to all.
fn broadcast(node: &mut Klme, act: impl FnOnce(&mut Klme, &mut Out<Klme>)) -> Option<Message> {
    let mut out = Outbox::new();
    act(node, &mut out);
    out.drain().find_map(|effect| if let Effect::Broadcast { message } = effect { Some(message) } else { None })
}

#[test]
fn i_a_leaver_in_its_cs_stops_and_waits_and_the_unit_is_free_again() {
    let mut node = waiter();
    (node.state, node.in_use) = (Section::Critical, leader(Repairs::ALL).books().allocate(NodeId(1), nth(1, 1)));
    assert_eq!(leaves(&mut node), ["revoke", "release 0", "i_am_leaving *"]);
    assert_eq!((node.state, node.in_use), (Section::Waiting, None));
    let mut leader = busy_leader();
    let given = said(&mut leader, |leader, out| leader.below(Crossing::Leaving, out));
    let [(NodeId(1), Message::Token { token })] = &given[..] else { panic!("{given:?}") };
    assert_eq!((token.free.count(), token.allocated.len()), (2, 0));
    assert_eq!((leader.state, leader.in_use), (Section::Waiting, None));
}

#[test]
fn i_a_leaver_says_what_it_has_stored_and_under_which_number() {
    let mut node = waiter();
    node.here().requests.note(NodeId(2), nth(2, 3));
    node.here().releases.note(NodeId(3), nth(3, 4));
    let farewell = broadcast(&mut node, |node, out| node.below(Crossing::Leaving, out));
    let place = node.here();
    let (requests, releases) = (place.requests.clone(), place.releases.clone());
    assert_eq!(requests.get(NodeId(2)), Some(nth(2, 3)));
    assert_eq!(farewell, Some(Message::IAmLeaving { number: nth(1, 1), requests, releases }));
}

#[test]
fn i_the_token_goes_to_the_front_of_the_queue_with_a_unit_or_to_an_heir_without() {
    let given = |mut leader: Klme| {
        let given = said(&mut leader, |leader, out| leader.below(Crossing::Leaving, out));
        let [(to, Message::Token { token })] = &given[..] else { panic!("{given:?}") };
        (to.0, token.allocated_numbers())
    };
    let mut leader = leader(Repairs::ALL);
    assert_eq!(given(leader.clone()), (1, [].into()));
    leader.books().queue.push((NodeId(3), nth(3, 1)));
    assert_eq!(given(leader), (3, [(NodeId(3), nth(3, 1))].into()));
}

#[test]
fn i_the_last_node_takes_the_token_to_its_end_and_while_all_others_leave_it_is_kept() {
    let mut last = leader(Repairs::ALL);
    last.here().others.clear();
    assert_eq!(leaves(&mut last), ["depart"]);
    let mut leader = leader(Repairs::ALL);
    leader.here().others.truncate(1);
    leader.here().leavers.note(NodeId(1), nth(1, 0));
    assert_eq!(leaves(&mut leader.clone()), ["i_am_leaving *"]);
    leaves(&mut leader);
    assert!(leader.has_token());
    let mut published = leader.clone();
    assert_eq!(parts(&mut leader, 1), ["depart"], "it is the last one now");
    published.repairs = without(repair::LAST_NODE);
    assert_eq!(done(&mut published, Klme::hand_over), ["depart"], "as published it does not wait");
}

#[test]
fn i_a_leaver_that_was_left_with_the_token_gives_it_to_a_newcomer_and_says_farewell_again() {
    let mut leader = leader(Repairs::ALL);
    leader.here().others.truncate(1);
    leader.here().leavers.note(NodeId(1), nth(1, 0));
    leaves(&mut leader);
    let met = Crossing::Met { peer: NodeId(3), life: Incarnation(9) };
    let mut published = leader.clone();
    let given = done(&mut leader, |node, out| node.below(met.clone(), out));
    assert_eq!(given, ["token 3", "leader_info *", "i_am_leaving 3"]);
    published.repairs = without(repair::FAREWELL);
    assert_eq!(done(&mut published, |node, out| node.below(met.clone(), out)), ["token 3", "leader_info *"]);
    assert_eq!(done(&mut member(), |node, out| node.below(met, out)), [""; 0], "it does not leave");
}

#[test]
fn i_a_leaver_passes_on_the_token_that_comes_to_it() {
    let mut node = member();
    leaves(&mut node);
    let passed = heard(&mut node, 0, Message::Token { token: on_its_way() });
    assert_eq!(passed, ["token 0", "leader_info *", "i_am_leaving 0"]);
}

#[test]
fn j_what_a_leaver_has_stored_is_stored_and_what_it_asked_for_in_this_stay_is_forgotten() {
    let mut node = member();
    let place = node.here();
    place.requests.note(NodeId(2), nth(2, 5));
    place.releases.note(NodeId(2), nth(2, 5));
    let (mut requests, mut releases) = (Numbers::default(), Numbers::default());
    for other in [2, 3] {
        requests.note(NodeId(other), nth(other, 6));
        releases.note(NodeId(other), nth(other, 7));
    }
    let farewell = |life| Message::IAmLeaving {
        number: RequestNo { life, number: 5 },
        requests: requests.clone(),
        releases: releases.clone(),
    };
    let mut late = node.clone();
    assert_eq!(heard(&mut node, 2, farewell(Life(2))), [""; 0]);
    let place = node.here();
    assert_eq!([2, 3].map(|other| place.requests.get(NodeId(other))), [None, Some(nth(3, 6))]);
    assert_eq!([2, 3].map(|other| place.releases.get(NodeId(other))), [None, Some(nth(3, 7))]);
    assert_eq!(place.leavers.get(NodeId(2)), Some(nth(2, 5)));
    heard(&mut late, 2, farewell(Life(1)));
    let place = late.here();
    assert_eq!(place.requests.get(NodeId(2)), Some(nth(2, 5)), "that was an earlier stay");
    assert_eq!(place.releases.get(NodeId(2)), Some(nth(2, 5)));
}

fn farewell(life: Life) -> Message {
    let (requests, releases) = (Numbers::default(), Numbers::default());
    Message::IAmLeaving { number: RequestNo { life, number: 1 }, requests, releases }
}

/// Section 7: the token was on its way to it.
#[test]
fn j_as_published_the_token_is_made_anew_when_its_receiver_has_gone() {
    let mut node = leader(without(repair::FAREWELL));
    heard(&mut node, 1, Message::ReqCs { number: nth(1, 1) });
    assert!(!node.has_token());
    heard(&mut node, 1, farewell(Life(1)));
    assert!(node.has_token());
}

/// Node 2 uses a unit and node 3 waits for one, or the other way round.
fn leader_with_two(user: u32, waits: u32) -> Klme {
    let mut leader = busy_leader();
    for node in [user, waits] {
        heard(&mut leader, node, Message::ReqCs { number: nth(node, 1) });
    }
    leader
}

#[test]
fn j_a_leader_strikes_a_leaver_off_serves_the_next_and_lets_it_go_once() {
    let mut leader = leader_with_two(2, 3);
    assert_eq!(heard(&mut leader.clone(), 2, farewell(Life(1))), [""; 0], "of an earlier stay");
    assert_eq!(heard(&mut leader, 2, farewell(Life(2))), ["leave_ack 2", "per_grant 3"]);
    let token = leader.token().unwrap();
    assert_eq!(token.allocated_numbers(), [(NodeId(0), nth(0, 1)), (NodeId(3), nth(3, 1))]);
    assert_eq!(token.requests.get(NodeId(2)), Some(RequestNo::gone(Life(2))));
    assert_eq!(heard(&mut leader, 2, farewell(Life(2))), [""; 0], "it was told");
    let mut leader = leader_with_two(3, 2);
    assert_eq!(heard(&mut leader, 2, farewell(Life(2))), ["leave_ack 2"]);
    assert!(leader.token().unwrap().queue.is_empty());
}

#[test]
fn j_a_request_of_a_later_stay_stays_in_the_queue_and_as_published_a_leaver_is_forgotten() {
    let mut leader = leader_with_two(3, 2);
    leader.books().queue[0].1.life = Life(7);
    heard(&mut leader, 2, farewell(Life(2)));
    assert_eq!(leader.token().unwrap().queue.len(), 1);
    let mut published = leader_with_two(3, 2);
    published.repairs = without(repair::TOMBSTONE);
    heard(&mut published, 2, farewell(Life(2)));
    assert_eq!(published.token().unwrap().requests.get(NodeId(2)), None);
    let mut published = leader_with_two(3, 2);
    published.repairs = without(repair::FAREWELL);
    assert_eq!(heard(&mut published, 2, farewell(Life(2))), [""; 0], "it has gone already");
}

#[test]
fn j_a_request_or_a_release_that_a_leaver_brings_counts_at_once() {
    let mut leader = busy_leader();
    let mut requests = Numbers::default();
    requests.note(NodeId(3), nth(3, 1));
    let farewell = Message::IAmLeaving { number: nth(2, 0), requests, releases: Numbers::default() };
    assert_eq!(heard(&mut leader, 2, farewell), ["leave_ack 2", "req_ack 3", "per_grant 3"]);
}

#[test]
fn k_a_newcomer_says_that_it_is_here_and_whether_it_is_hungry() {
    let enters = |state, members: &[u32]| {
        let mut node = member();
        (node.place, node.state) = (None, state);
        let founds = members.is_empty().then_some(8);
        let members = members.iter().map(|&id| (NodeId(id), Incarnation(id))).collect();
        let entered = Crossing::Entered { stay: Stay(5), life: Incarnation(8), members, founds };
        let here = broadcast(&mut node, |node, out| node.below(entered, out));
        (here, node)
    };
    let here = |number, hungry| Some(Message::IAmHere { number: RequestNo { life: Life(8), number }, hungry });
    let (said, mut node) = enters(Section::Remainder, &[0, 2]);
    assert_eq!((said, node.leader(), node.has_token()), (here(0, false), None, false));
    assert_eq!(node.here().others, [(NodeId(0), Life(0)), (NodeId(2), Life(2))]);
    assert_eq!(enters(Section::Waiting, &[0, 2]).0, here(1, true));
    let (_, mut first) = enters(Section::Remainder, &[]);
    assert_eq!((first.leader(), first.here().leader_no), (Some(NodeId(1)), LeaderNo(1)));
    assert_eq!(first.token().map(|token| token.fence), Some(Fence::first(8, 0)), "later than all before");
    let (_, first) = enters(Section::Waiting, &[]);
    assert_eq!(first.state, Section::Critical);
}

#[test]
fn k_a_newcomer_that_hears_of_no_other_makes_no_token_unless_it_is_told_to() {
    let mut node = member();
    node.place = None;
    let entered = Crossing::Entered { stay: Stay(5), life: Incarnation(8), members: Vec::new(), founds: None };
    done(&mut node, |node, out| node.below(entered, out));
    assert_eq!((node.leader(), node.has_token()), (None, false));
}

#[test]
fn k_as_published_the_first_node_does_not_make_the_token_anew() {
    let mut node = member_with(without(repair::LAST_NODE));
    node.place = None;
    let entered = Crossing::Entered { stay: Stay(5), life: Incarnation(8), members: Vec::new(), founds: Some(8) };
    done(&mut node, |node, out| node.below(entered, out));
    assert_eq!((node.leader(), node.has_token()), (None, false));
}

#[test]
fn l_a_leader_tells_a_newcomer_and_takes_its_request() {
    let here = |hungry| Message::IAmHere { number: RequestNo { life: Life(9), number: u32::from(hungry) }, hungry };
    assert_eq!(heard(&mut busy_leader(), 5, here(true)), ["leader_info 5", "req_ack 5", "per_grant 5"]);
    let mut leader = busy_leader();
    let info = said(&mut leader, |leader, out| leader.message(NodeId(5), here(false), out));
    let (allocated, leader_no) = ([(NodeId(0), nth(0, 1))].into(), LeaderNo(1));
    assert_eq!(info, [(NodeId(5), Message::LeaderInfo { leader: NodeId(0), allocated, leader_no })]);
    assert_eq!(leader.here().requests.get(NodeId(5)).map(|number| number.life), Some(Life(9)));
}

#[test]
fn l_a_node_that_does_not_lead_remembers_newcomers_for_when_it_does_each_once() {
    let here = |life| Message::IAmHere { number: RequestNo { life: Life(life), number: 1 }, hungry: true };
    let mut node = member();
    for newcomer in [6, 5, 6] {
        assert_eq!(heard(&mut node, newcomer, here(newcomer)), [""; 0]);
    }
    assert_eq!(node.here().newcomers, [5, 6].map(NodeId));
    assert_eq!(node.here().requests.get(NodeId(5)), Some(nth(5, 1)));
    let mut published = member_with(without(repair::GREET));
    heard(&mut published, 5, here(5));
    assert!(published.here().newcomers.is_empty());
}

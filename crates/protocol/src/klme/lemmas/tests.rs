//! Moments with one thing wrong: the lemma that is there for it says so, and says nothing of what is sound.

use alloc::vec;

use super::*;
use crate::klme::{LeaderNo, RequestNo};
use crate::{Deployment, Flight, Repairs};

/// Three members share two units. Node 0 leads and uses one, node 1 uses the other, node 2 waits in the queue.
fn busy() -> [Klme; 3] {
    let members = (0..3).map(NodeId).collect();
    let deployment = Deployment { nodes: 3, k: 2, members, ..Deployment::default() };
    let mut nodes: [Klme; 3] = Klme::deploy(&deployment, (), Repairs::ALL).try_into().unwrap();
    for at in 0..2 {
        let (id, number) = (nodes[at].id, nodes[at].number());
        nodes[at].in_use = nodes[0].books().allocate(id, number);
        nodes[at].state = Section::Critical;
    }
    nodes[2].state = Section::Waiting;
    nodes[2].here().acknowledged = true;
    let waiter = (NodeId(2), nodes[2].number());
    nodes[0].books().queue.push(waiter);
    nodes
}

fn judged(nodes: &[Klme; 3], message: Option<&Message>) -> Verdict {
    let flight = message.map(|message| Flight { from: NodeId(1), to: NodeId(2), message });
    hold(&Moment { nodes: nodes.iter().collect(), flights: flight.into_iter().collect() })
}

#[track_caller]
fn is_said(words: &str, spoil: impl FnOnce(&mut [Klme; 3])) {
    let mut nodes = busy();
    spoil(&mut nodes);
    let said = judged(&nodes, None).expect_err(words);
    assert!(said.contains(words), "{said}");
}

#[track_caller]
fn is_sound(change: impl FnOnce(&mut [Klme; 3])) {
    let mut nodes = busy();
    change(&mut nodes);
    assert_eq!(judged(&nodes, None), Ok(()));
}

/// The node no longer uses its unit, and the leader knows it.
fn leaves_cs(nodes: &mut [Klme; 3], at: usize) {
    let id = nodes[at].id;
    (nodes[at].state, nodes[at].in_use) = (Section::Remainder, None);
    nodes[0].books().take_back(id, |_| true);
}

#[test]
fn a_sound_moment_is_sound() {
    is_sound(|_| {});
}

#[test]
fn there_is_one_token_while_any_member_is_there() {
    is_said("there are 0 tokens", |nodes| nodes[0].here().token = None);
    is_said("there are 2 tokens", |nodes| nodes[1].here().token = nodes[0].here().token.clone());
    let nodes = busy();
    let token = Message::Token { token: nodes[0].token().unwrap().clone() };
    assert_eq!(judged(&nodes, Some(&token)), Err("there are 2 tokens".into()), "one of them is in flight");
    is_sound(|nodes| nodes.iter_mut().for_each(|node| node.place = None));
}

#[test]
fn every_unit_is_free_or_allocated_to_one_node() {
    is_said("is free or allocated twice", |nodes| nodes[0].books().free = Permits::first(1));
    is_said("is free or allocated twice", |nodes| {
        let first = nodes[0].books().allocated[0].grant;
        nodes[0].books().allocated[1].grant = first;
    });
    is_said("is free or allocated twice", |nodes| nodes[0].books().allocated[0].grant.permits = Permits::first(2));
    is_said("Kfree is 0 and 1 are allocated", |nodes| _ = nodes[0].books().allocated.pop());
    is_said("Kfree is 1 and 2 are allocated", |nodes| {
        nodes[0].books().free = Permits::first(3).without(Permits::first(2));
    });
    is_said("node 0 is allocated two units", |nodes| nodes[0].books().allocated[1].node = NodeId(0));
}

#[test]
fn a_node_in_its_cs_is_in_the_books_as_it_is() {
    is_said("node 1 is Remainder and uses", |nodes| nodes[1].state = Section::Remainder);
    is_said("node 1 is Critical and uses None", |nodes| nodes[1].in_use = None);
    is_said("node 1 is in its CS and not in T_alloc_id", |nodes| nodes[0].books().allocated[1].number.number += 1);
    is_said("node 1 is in its CS and not in T_alloc_id", |nodes| {
        nodes[0].books().allocated[1].grant.fence.counter += 1;
    });
    is_said("node 1 is in its CS and not in T_alloc_id", |nodes| nodes[0].books().allocated[1].node = NodeId(2));
}

#[test]
fn no_member_knows_of_a_leader_that_there_was_not_yet() {
    is_said("node 2 knows of a leader that there was not yet", |nodes| nodes[2].here().leader_no = LeaderNo(2));
    is_sound(|nodes| nodes[2].here().leader_no = LeaderNo(0));
}

#[test]
fn a_leader_serves_the_requests_that_it_can() {
    is_said("node 0 sits on the token although others ask", |nodes| leaves_cs(nodes, 0));
    is_said("node 0 lets others wait for nothing", |nodes| leaves_cs(nodes, 1));
    is_said("node 0 waits although it has the token", |nodes| {
        leaves_cs(nodes, 0);
        nodes[0].state = Section::Waiting;
    });
    is_said("node 0 holds an idle token without a free unit", |nodes| {
        leaves_cs(nodes, 0);
        nodes[0].books().queue.clear();
        let (id, number) = (nodes[2].id, nodes[2].number());
        nodes[2].in_use = nodes[0].books().allocate(id, number);
        nodes[2].state = Section::Critical;
    });
    is_sound(|nodes| {
        leaves_cs(nodes, 0);
        nodes[0].here().leaving = true;
    });
    is_sound(|nodes| {
        leaves_cs(nodes, 1);
        nodes[0].books().queue.clear();
    });
}

#[test]
fn when_nothing_is_in_flight_the_books_are_true_all_know_the_leader_and_a_waiter_knows_that_it_is_queued() {
    let gone = |nodes: &mut [Klme; 3]| (nodes[1].state, nodes[1].in_use) = (Section::Remainder, None);
    is_said("node 1 has left its CS, and nobody will tell the leader", gone);
    is_said("node 9 has left its CS, and nobody will tell the leader", |nodes| {
        gone(nodes);
        nodes[0].books().allocated[1].node = NodeId(9);
    });
    is_said("node 2 takes Some(1) for the leader, but it is Some(0)", |nodes| nodes[2].here().leader = Some(NodeId(1)));
    is_said("node 2 is in R_Queue, and will ask every new leader again", |nodes| nodes[2].here().acknowledged = false);
    let mut nodes = busy();
    gone(&mut nodes);
    let release = Message::Release { number: RequestNo::default() };
    assert_eq!(judged(&nodes, Some(&release)), Ok(()), "the release is in flight");
}

#[test]
fn lent_is_what_is_allocated_and_not_in_use() {
    let mut nodes = busy();
    let lent_by = |nodes: &[Klme; 3]| lent(&Moment { nodes: nodes.iter().collect(), flights: vec![] });
    assert_eq!(lent_by(&nodes), Permits::NONE);
    let unit = nodes[1].in_use.take().unwrap().permits;
    assert_eq!(lent_by(&nodes), unit, "its grant, or its release, is on its way");
    nodes[0].books().take_back(NodeId(1), |_| true);
    nodes[2].place = None;
    assert_eq!(lent_by(&nodes), Permits::NONE, "the token has it, where the others are");
    for node in &mut nodes {
        (node.place, node.in_use) = (None, None);
    }
    assert_eq!(lent_by(&nodes), Permits::first(2), "all units are there for whoever comes first");
}

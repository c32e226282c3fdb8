//! Moments with one thing wrong: the lemma that is there for it says so, and says nothing of what is sound.

use alloc::vec;

use super::*;
use crate::krl::{Forwarding, Message, Variant};
use crate::{Deployment, Flight, Repairs};

/// Three nodes in a line share one token. Node 0 uses it, node 2 waits for it by way of node 1.
fn busy() -> [Krl; 3] {
    let links = vec![(NodeId(0), NodeId(1)), (NodeId(1), NodeId(2))];
    let deployment = Deployment { nodes: 3, k: 1, links, ..Deployment::default() };
    let nodes = Krl::deploy(&deployment, Variant::new(Forwarding::Off), Repairs::ALL);
    let mut nodes: [Krl; 3] = nodes.try_into().unwrap();
    (nodes[0].status, nodes[0].in_use) = (Section::Critical, nodes[0].idle.pop());
    nodes[0].queue.push_back(NodeId(1));
    nodes[1].queue.push_back(NodeId(2));
    nodes[2].status = Section::Waiting;
    nodes[2].queue.push_back(NodeId(2));
    nodes
}

fn judged(nodes: &[Krl; 3], flight: Option<(u32, u32, &Message)>) -> Verdict {
    let flight = flight.map(|(from, to, message)| Flight { from: NodeId(from), to: NodeId(to), message });
    hold(&Moment { nodes: nodes.iter().collect(), flights: flight.into_iter().collect() })
}

#[track_caller]
fn is_said(words: &str, spoil: impl FnOnce(&mut [Krl; 3])) {
    let mut nodes = busy();
    spoil(&mut nodes);
    let said = judged(&nodes, None).expect_err(words);
    assert!(said.contains(words), "{said}");
}

#[track_caller]
fn is_sound(change: impl FnOnce(&mut [Krl; 3])) {
    let mut nodes = busy();
    change(&mut nodes);
    assert_eq!(judged(&nodes, None), Ok(()));
}

#[test]
fn a_sound_moment_is_sound() {
    is_sound(|_| {});
}

#[test]
fn a_queue_has_neighbours_each_once_and_none_that_could_be_served() {
    is_said("node 0 queues 2, which is no neighbour", |nodes| nodes[0].queue.push_back(NodeId(2)));
    is_said("node 1 queues 2 twice", |nodes| nodes[1].queue.extend([NodeId(0), NodeId(2)]));
    is_said("node 0 sits on an idle token", |nodes| {
        nodes[0].idle.extend(nodes[0].in_use.take());
        nodes[0].status = Section::Remainder;
    });
}

#[test]
fn a_section_is_what_queue_and_token_say() {
    is_said("node 2 is Remainder but its queue", |nodes| nodes[2].status = Section::Remainder);
    is_said("node 1 is Waiting but its queue", |nodes| nodes[1].status = Section::Waiting);
    is_said("node 0 is Remainder but its token in use", |nodes| nodes[0].status = Section::Remainder);
    is_said("node 1 is Critical but its token in use", |nodes| nodes[1].status = Section::Critical);
}

#[test]
fn requests_have_a_way_in_unless_every_node_holds_a_token() {
    let lowered = |nodes: &mut [Krl; 3]| nodes[0].dag.neighbours[0].height.h1 = -9;
    is_said("node 0 holds a token and has no higher neighbour", lowered);
    let mut nodes = busy();
    lowered(&mut nodes);
    nodes[0].dag.neighbours[0].unacknowledged = 1;
    let height = nodes[0].dag.my_height;
    let word = Message::LinkInfo { height, acknowledges: None };
    assert_eq!(judged(&nodes, Some((0, 1, &word))), Ok(()), "it will see to it when it is acknowledged");
    let mut nodes = busy();
    let token = nodes[0].in_use.unwrap();
    lowered(&mut nodes);
    // As many tokens as nodes: three at node 0, and again with the third of them in flight.
    nodes[0].queue.clear();
    nodes[0].idle = [1, 2].map(|permit: u8| super::super::Token { permit: permit.try_into().unwrap(), ..token }).into();
    assert_eq!(judged(&nodes, Some((0, 1, &word))), Ok(()));
    let third = Message::Token { height, token: nodes[0].idle.pop().unwrap(), onward: None };
    assert_eq!(judged(&nodes, Some((0, 1, &third))), Ok(()));
    assert!(judged(&nodes, Some((0, 1, &word))).is_err(), "two tokens for three nodes");
}

#[test]
fn a_holder_waits_with_its_way_in_while_any_neighbour_owes_an_acknowledgement() {
    let [user, mut node, _] = busy();
    node.in_use = user.in_use;
    node.dag.neighbours[1].height.h1 = -9;
    assert!(requests_have_a_way_in(&node).is_err());
    node.dag.neighbours[1].unacknowledged = 1;
    assert_eq!(requests_have_a_way_in(&node), Ok(()));
}

#[test]
fn the_links_of_the_dag_are_looked_at() {
    is_said("node 2 holds no token and has no lower neighbour", |nodes| nodes[2].dag.neighbours[0].height.h1 = 9);
    is_said("node 1 has the direction of its link to 2 wrong", |nodes| nodes[1].dag.neighbours[1].height.h1 = -9);
}

#[test]
fn when_nothing_is_in_flight_every_request_ends_at_a_holder() {
    is_said("the request of node 2 is lost: node 1 is not in the queue of 0", |nodes| nodes[0].queue.clear());
    is_said("the request of node 2 is lost: node 2 is not in the queue of 1", |nodes| nodes[1].queue.clear());
    is_said("the request of node 2 is lost: node 1 has nobody to ask", |nodes| nodes[1].next = None);
    is_said("the request of node 2 runs in a circle", |nodes| {
        nodes[1].next = Some(NodeId(2));
        nodes[2].queue.push_back(NodeId(1));
    });
    is_sound(|nodes| (nodes[1].next, nodes[0].dag.pace.paused) = (None, true));
    let mut nodes = busy();
    nodes[0].queue.clear();
    let word = Message::Request { height: nodes[1].dag.my_height };
    assert_eq!(judged(&nodes, Some((1, 0, &word))), Ok(()), "the request is in flight");
}

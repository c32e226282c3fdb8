//! Moments with one thing wrong: the lemma that is there for it says so, and says nothing of what is sound.

use alloc::vec;

use super::*;
use crate::hok::queue::{Entry, RequestQueue};
use crate::hok::{Message, Policy, Rank, Variant};
use crate::{Demand, Deployment, Flight, NodeId, Permits, Priority, Repairs, Units};

/// The rank of a request that is so urgent.
fn rank(priority: u32) -> Rank {
    let demand = Demand { priority: Priority(priority), ..Demand::ONE };
    Policy::Strict.rank(demand, crate::hok::Grants::default())
}

fn unit(number: u8) -> Permits {
    Permits::single(number.try_into().unwrap())
}

/// Three nodes in a line share two units. Node 0 has the token with one of them and waits for both; node 1 waits as
/// well, less urgently; node 2 uses the other unit.
fn busy() -> [Hok; 3] {
    let links = vec![(NodeId(0), NodeId(1)), (NodeId(1), NodeId(2))];
    let deployment = Deployment { nodes: 3, k: 2, links, ..Deployment::default() };
    let nodes = Hok::deploy(&deployment, Variant::new(Policy::Strict), Repairs::ALL);
    let mut nodes: [Hok; 3] = nodes.try_into().unwrap();
    for (at, units, urgency) in [(0, 2, 9), (1, 1, 5)] {
        (nodes[at].state, nodes[at].wanted) = (Section::Waiting, Units::new(units));
        let id = nodes[at].id;
        nodes[at].queue.put(id, rank(urgency));
    }
    nodes[0].queue.put(NodeId(1), rank(5));
    nodes[0].token.as_mut().unwrap().free = unit(0);
    (nodes[2].state, nodes[2].in_use) = (Section::Critical, unit(1));
    nodes
}

fn judged(nodes: &[Hok; 3], flight: Option<(u32, u32, &Message)>) -> Verdict {
    let flight = flight.map(|(from, to, message)| Flight { from: NodeId(from), to: NodeId(to), message });
    hold(&Moment { nodes: nodes.iter().collect(), flights: flight.into_iter().collect() })
}

/// What is said when this is done to a sound moment.
#[track_caller]
fn is_said(words: &str, spoil: impl FnOnce(&mut [Hok; 3])) {
    let mut nodes = busy();
    spoil(&mut nodes);
    let said = judged(&nodes, None).expect_err(words);
    assert!(said.contains(words), "{said}");
}

#[track_caller]
fn is_sound(change: impl FnOnce(&mut [Hok; 3])) {
    let mut nodes = busy();
    change(&mut nodes);
    assert_eq!(judged(&nodes, None), Ok(()));
}

#[test]
fn a_sound_moment_is_sound() {
    is_sound(|_| {});
}

#[test]
fn there_is_one_token() {
    is_said("there are 2 tokens", |nodes| nodes[1].token = nodes[0].token);
    is_said("there are 0 tokens", |nodes| nodes[0].token = None);
    let nodes = busy();
    let (height, grants) = (nodes[1].dag.my_height, nodes[1].grants);
    let token = Message::Token { height, grants, token: nodes[0].token.unwrap(), asks: None };
    assert_eq!(judged(&nodes, Some((1, 2, &token))), Err("there are 2 tokens".into()), "one of them is in flight");
}

#[test]
fn a_queue_has_neighbours_in_order_each_once() {
    is_said("node 0 queues 2, which is no neighbour", |nodes| nodes[0].queue.put(NodeId(2), rank(1)));
    let of = |entries: [(u32, u32); 3]| {
        RequestQueue::of(entries.map(|(node, urgency)| Entry { node: NodeId(node), rank: rank(urgency) }).to_vec())
    };
    is_said("node 1 queues 0 twice", |nodes| nodes[1].queue = of([(0, 9), (1, 5), (0, 5)]));
    is_said("node 1 queues 1 before somebody more urgent", |nodes| nodes[1].queue = of([(1, 5), (0, 5), (2, 6)]));
}

#[test]
fn a_section_is_what_queue_and_units_say() {
    is_said("node 1 is Remainder but its queue", |nodes| nodes[1].state = Section::Remainder);
    is_said("node 1 is Waiting but its queue", |nodes| nodes[1].queue = RequestQueue::default());
    is_said("node 1 is Waiting but its queue", |nodes| nodes[1].wanted = None);
    is_said("node 2 is Critical but uses", |nodes| nodes[2].in_use = Permits::NONE);
    is_said("node 2 is Remainder but uses", |nodes| nodes[2].state = Section::Remainder);
}

#[test]
fn a_holder_serves_the_requests_that_it_can() {
    is_said("node 0 sits on the token although 1 asks", |nodes| {
        (nodes[0].state, nodes[0].wanted) = (Section::Remainder, None);
        nodes[0].queue.delete(NodeId(0));
    });
    is_said("although 1 units are free", |nodes| nodes[0].wanted = Units::new(1));
    is_said("although 2 units are free", |nodes| nodes[0].token.as_mut().unwrap().free = Permits::first(2));
}

#[test]
fn units_do_not_stay_where_they_could_go_on() {
    is_said("node 1 keeps {1} although", |nodes| nodes[1].released = unit(1));
    is_said("node 2 keeps {0} although", |nodes| nodes[2].released = unit(0));
    let deployment = Deployment { nodes: 3, k: 2, ..Deployment::default() };
    let nodes = Hok::deploy(&deployment, Variant::new(Policy::Strict), Repairs::ALL);
    let mut apart: [Hok; 3] = nodes.try_into().unwrap();
    apart[1].released = unit(1);
    assert_eq!(judged(&apart, None), Ok(()), "it has no neighbour to send them to");
}

#[test]
fn when_nothing_is_in_flight_every_request_has_been_passed_on() {
    is_said("the requests of node 1 are lost", |nodes| nodes[0].queue.delete(NodeId(1)));
    is_said("node 0 takes the requests of node 1 for another rank", |nodes| nodes[0].queue.put(NodeId(1), rank(4)));
    is_said("node 1 has requests and asks nobody", |nodes| nodes[1].next = None);
    is_said("node 1 waits for 2, which is no lower neighbour", |nodes| nodes[1].next = Some(NodeId(2)));
    let mut nodes = busy();
    nodes[1].next = None;
    let word = Message::Link { height: nodes[1].dag.my_height, grants: nodes[1].grants, acknowledges: None };
    assert_eq!(judged(&nodes, Some((1, 0, &word))), Ok(()), "what is in flight may mend it");
    is_sound(|nodes| (nodes[1].next, nodes[2].dag.pace.paused) = (None, true));
}

#[test]
fn the_links_of_the_dag_are_looked_at() {
    let lifted = |nodes: &mut [Hok; 3]| nodes[2].dag.neighbours[0].height.h1 = 9;
    is_said("node 2 holds no token and has no lower neighbour", lifted);
    is_said("node 1 has the direction of its link to 2 wrong", |nodes| nodes[1].dag.neighbours[1].height.h1 = -9);
}

//! What the paper's correctness argument relies on, over all nodes and all messages in flight.

#[cfg(test)]
mod tests;

use alloc::format;
use alloc::string::String;

use super::Krl;
use crate::dag::lemmas::{directions_agree, has_a_way_out};
use crate::{Moment, NodeId, Protocol, Section};

type Verdict = Result<(), String>;

/// All lemmas. Token conservation is not among them: it is checked from outside, for every algorithm alike.
pub(super) fn hold(moment: &Moment<'_, Krl>) -> Verdict {
    let crowded = tokens(moment) >= moment.nodes.len();
    for node in &moment.nodes {
        queue_is_sound(node)?;
        section_agrees_with_state(node)?;
        if !node.token_holder() {
            has_a_way_out(&node.dag)?;
        }
        if !crowded {
            requests_have_a_way_in(node)?;
        }
    }
    directions_agree(&moment.nodes, |node| &node.dag, &moment.flights)?;
    if moment.flights.is_empty() {
        request_chains_end_at_holders(moment)?;
    }
    Ok(())
}

/// Q lies within N and i itself, without repetition, and none in it can be served at once.
fn queue_is_sound(node: &Krl) -> Verdict {
    let id = node.id;
    for (at, &waiting) in node.queue.iter().enumerate() {
        if waiting != id && !node.dag.is_neighbour(waiting) {
            return Err(format!("node {id} queues {waiting}, which is no neighbour"));
        }
        if node.queue.iter().skip(at + 1).any(|&other| other == waiting) {
            return Err(format!("node {id} queues {waiting} twice"));
        }
    }
    if !node.idle.is_empty() && !node.queue.is_empty() {
        return Err(format!("node {id} sits on an idle token although it queues {:?}", node.queue));
    }
    Ok(())
}

/// WAITING means that the own id is in Q, CRITICAL that a token is in use.
fn section_agrees_with_state(node: &Krl) -> Verdict {
    let id = node.id;
    if (node.status == Section::Waiting) != node.queue.contains(&id) {
        return Err(format!("node {id} is {:?} but its queue is {:?}", node.status, node.queue));
    }
    if (node.status == Section::Critical) != node.in_use.is_some() {
        return Err(format!("node {id} is {:?} but its token in use is {:?}", node.status, node.in_use));
    }
    Ok(())
}

/// A holder with neighbours has a higher one, as far as it knows, unless it waits for an acknowledgement and will see
/// to it then. The paper assumes k < n: where every node holds a token, the topmost one cannot have a higher neighbour.
fn requests_have_a_way_in(node: &Krl) -> Verdict {
    let acknowledged = node.dag.neighbours.iter().all(|neighbour| neighbour.unacknowledged == 0);
    if node.dag.has_no_reversal_due() && acknowledged && node.token_holder() && node.dag.has_no_higher_neighbour() {
        return Err(format!("node {} holds a token and has no higher neighbour", node.id));
    }
    Ok(())
}

/// With nothing in flight, every waiter's request has been passed on, hop by hop, to a token holder.
fn request_chains_end_at_holders(moment: &Moment<'_, Krl>) -> Verdict {
    if moment.nodes.iter().any(|node| node.dag.pace.paused) {
        return Ok(());
    }
    for waiter in moment.nodes.iter().filter(|node| node.status == Section::Waiting) {
        chain_ends_at_holder(moment, waiter)?;
    }
    Ok(())
}

fn chain_ends_at_holder(moment: &Moment<'_, Krl>, waiter: &Krl) -> Verdict {
    let mut node = waiter;
    for _ in 0..=moment.nodes.len() {
        if node.token_holder() {
            return Ok(());
        }
        let broken = |what: &str| Err(format!("the request of node {} is lost: node {} {what}", waiter.id, node.id));
        let next: &Krl = match node.next {
            Some(next) => moment.nodes[next.index()],
            // Without a neighbour there is none to ask.
            None if node.dag.known_heights().next().is_none() => return Ok(()),
            None => return broken("has nobody to ask"),
        };
        if !next.queue.contains(&node.id) {
            return broken(&format!("is not in the queue of {}", next.id));
        }
        node = next;
    }
    let NodeId(id) = waiter.id;
    Err(format!("the request of node {id} runs in a circle"))
}

/// How many tokens there are.
fn tokens(moment: &Moment<'_, Krl>) -> usize {
    let held = moment.nodes.iter().map(|node| node.held().count());
    let carried = moment.flights.iter().map(|flight| Krl::permits(flight.message).count());
    held.chain(carried).sum::<u32>() as usize
}

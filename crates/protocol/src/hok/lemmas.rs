//! What the paper's correctness argument relies on, over all nodes and all messages in flight.

#[cfg(test)]
mod tests;

use alloc::format;
use alloc::string::String;

use super::Hok;
use crate::dag::lemmas::{directions_agree, has_a_way_out};
use crate::{Moment, Protocol, Section};

type Verdict = Result<(), String>;

/// All lemmas. That t, the units in use and the units on their way back add up to k is not among them: conservation of
/// permits is checked from outside, for every algorithm alike.
pub(super) fn hold(moment: &Moment<'_, Hok>) -> Verdict {
    the_token_is_unique(moment)?;
    for node in &moment.nodes {
        queue_is_sound(node)?;
        section_agrees_with_state(node)?;
        if node.token_holder() {
            nobody_waits_who_could_be_served(node)?;
        } else {
            has_a_way_out(&node.dag)?;
            units_are_kept_only_without_a_way(node)?;
        }
    }
    directions_agree(&moment.nodes, |node| &node.dag, &moment.flights)?;
    if moment.flights.is_empty() && !moment.nodes.iter().any(|node| node.dag.pace.paused) {
        moment.nodes.iter().try_for_each(|node| next_knows_the_front(moment, node))?;
    }
    Ok(())
}

/// There is one token, held or in flight.
fn the_token_is_unique(moment: &Moment<'_, Hok>) -> Verdict {
    let held = moment.nodes.iter().filter(|node| node.has_token()).count();
    let tokens = held + moment.flights.iter().filter(|flight| Hok::is_token(flight.message)).count();
    if tokens == 1 { Ok(()) } else { Err(format!("there are {tokens} tokens")) }
}

/// Q lies within N and i itself, the most urgent first, without repetition.
fn queue_is_sound(node: &Hok) -> Verdict {
    let (id, entries) = (node.id, node.queue.entries());
    for (at, entry) in entries.iter().enumerate() {
        if entry.node != id && !node.dag.is_neighbour(entry.node) {
            return Err(format!("node {id} queues {}, which is no neighbour", entry.node));
        }
        if entries[at + 1..].iter().any(|other| other.node == entry.node) {
            return Err(format!("node {id} queues {} twice", entry.node));
        }
        if entries[at + 1..].iter().any(|other| other.rank < entry.rank) {
            return Err(format!("node {id} queues {} before somebody more urgent", entry.node));
        }
    }
    Ok(())
}

/// ES means that the own request is in Q, CS that units are in use.
fn section_agrees_with_state(node: &Hok) -> Verdict {
    let id = node.id;
    let waits = node.queue.contains(id) && node.wanted.is_some();
    if (node.state == Section::Waiting) != waits {
        return Err(format!("node {id} is {:?} but its queue is {:?}", node.state, node.status().queue));
    }
    if (node.state == Section::Critical) == node.in_use.is_empty() {
        return Err(format!("node {id} is {:?} but uses {:?}", node.state, node.in_use));
    }
    Ok(())
}

/// A holder with a queue is at the front of it itself, and waits for more units than are free.
fn nobody_waits_who_could_be_served(node: &Hok) -> Verdict {
    let (Some(front), Some(token)) = (node.queue.front(), node.token) else { return Ok(()) };
    let id = node.id;
    if front.node != id {
        return Err(format!("node {id} sits on the token although {} asks for it", front.node));
    }
    if node.wanted.is_some_and(|wanted| wanted.count() <= token.free.count()) {
        return Err(format!("node {id} waits with the token although {} units are free", token.free.count()));
    }
    Ok(())
}

/// Units that are on their way to the token move on wherever there is a way.
fn units_are_kept_only_without_a_way(node: &Hok) -> Verdict {
    if !node.released.is_empty() && node.dag.known_heights().any(|height| height < node.dag.my_height) {
        return Err(format!("node {} keeps {:?} although it could send them on", node.id, node.released));
    }
    Ok(())
}

/// With nothing in flight, a node without the token that has any node in its queue is in the queue of its `next`, a
/// lower neighbour, with the rank of its own front. So every chain of requests ends at the holder, whose front is the
/// most urgent request of all.
fn next_knows_the_front(moment: &Moment<'_, Hok>, node: &Hok) -> Verdict {
    let Some(front) = node.queue.front().filter(|_| !node.token_holder()) else { return Ok(()) };
    let id = node.id;
    let Some(next) = node.next else {
        // Without a neighbour there is none to ask.
        let alone = node.dag.known_heights().next().is_none();
        return if alone { Ok(()) } else { Err(format!("node {id} has requests and asks nobody")) };
    };
    if !node.dag.known_heights().any(|height| height.id == next && height < node.dag.my_height) {
        return Err(format!("node {id} waits for {next}, which is no lower neighbour"));
    }
    match moment.nodes[next.index()].queue.rank_of(id) {
        None => Err(format!("the requests of node {id} are lost: it is not in the queue of {next}")),
        Some(rank) if rank != front.rank => {
            Err(format!("node {next} takes the requests of node {id} for another rank than they have"))
        }
        Some(_) => Ok(()),
    }
}

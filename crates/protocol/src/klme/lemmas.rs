//! What the paper's proofs rely on, over all nodes and all messages in flight.

#[cfg(test)]
mod tests;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{Klme, Message, Place, Token};
use crate::{Moment, NodeId, Permits, Protocol, Section};

type Verdict = Result<(), String>;

/// All lemmas.
pub(super) fn hold(moment: &Moment<'_, Klme>) -> Verdict {
    let tokens: Vec<&Token> = tokens(moment).collect();
    let somebody = moment.nodes.iter().any(|node| node.place.is_some());
    if tokens.len() != usize::from(somebody) {
        return Err(format!("there are {} tokens", tokens.len()));
    }
    let Some(token) = tokens.first() else { return Ok(()) };
    books_are_in_order(moment.nodes.first().map_or(0, |node| node.k), token)?;
    for (node, place) in members(moment) {
        whoever_is_in_cs_is_allocated(node, token)?;
        if place.leader_no > token.leader_no {
            return Err(format!("node {} knows of a leader that there was not yet", node.id));
        }
        if place.token.is_some() && !place.leaving {
            nobody_waits_who_could_be_served(node, token)?;
        }
    }
    if moment.flights.is_empty() { at_rest(moment, token) } else { Ok(()) }
}

/// Held and in flight.
fn tokens<'a>(moment: &'a Moment<'_, Klme>) -> impl Iterator<Item = &'a Token> {
    let held = moment.nodes.iter().filter_map(|node| node.token());
    let in_flight = moment.flights.iter().filter_map(|flight| match flight.message {
        Message::Token { token } => Some(token),
        _ => None,
    });
    held.chain(in_flight)
}

fn members<'a>(moment: &'a Moment<'_, Klme>) -> impl Iterator<Item = (&'a Klme, &'a Place)> {
    moment.nodes.iter().filter_map(|node| node.place.as_ref().map(|place| (*node, place)))
}

/// The units that a token has in its books as allocated, and that no node uses: the grant is on its way, or the
/// release.
pub(super) fn lent(moment: &Moment<'_, Klme>) -> Permits {
    let all = |permits: Permits, more: Permits| permits.union(more);
    let allocated = tokens(moment).flat_map(|token| &token.allocated).map(|entry| entry.grant.permits);
    let in_use = moment.nodes.iter().filter_map(|node| node.in_use).map(|grant| grant.permits);
    let nobody = moment.nodes.iter().all(|node| node.place.is_none());
    // Without members there is no token, and every unit is free for the first node that comes.
    let books = if nobody { Permits::first(moment.nodes.first().map_or(0, |node| node.k)) } else { Permits::NONE };
    allocated.fold(books, all).without(in_use.fold(Permits::NONE, all))
}

/// Lemmas 1 and 2: Kfree and the allocated units together are k, each unit once.
fn books_are_in_order(k: u32, token: &Token) -> Verdict {
    let mut units = token.free;
    for entry in &token.allocated {
        if entry.grant.permits.count() != 1 || !units.common(entry.grant.permits).is_empty() {
            return Err(format!("{:?} of node {} is free or allocated twice", entry.grant.permits, entry.node));
        }
        units = units.union(entry.grant.permits);
    }
    if units != Permits::first(k) {
        return Err(format!("Kfree is {} and {} are allocated", token.free.count(), token.allocated.len()));
    }
    let listed_twice = |at: usize, node: NodeId| token.allocated[at + 1..].iter().any(|other| other.node == node);
    let mut entries = token.allocated.iter().enumerate();
    match entries.find(|(at, entry)| listed_twice(*at, entry.node)) {
        Some((_, entry)) => Err(format!("node {} is allocated two units", entry.node)),
        None => Ok(()),
    }
}

/// Theorem 1: a node that is in its CS is in `T_alloc_id`, under its number and with its unit.
fn whoever_is_in_cs_is_allocated(node: &Klme, token: &Token) -> Verdict {
    let in_cs = node.state == Section::Critical;
    if in_cs != node.in_use.is_some() {
        return Err(format!("node {} is {:?} and uses {:?}", node.id, node.state, node.in_use));
    }
    let entry = token.allocation(node.id);
    let is_listed = entry.is_some_and(|entry| entry.number == node.number() && Some(entry.grant) == node.in_use);
    if in_cs && !is_listed { Err(format!("node {} is in its CS and not in T_alloc_id", node.id)) } else { Ok(()) }
}

/// A leader in its remainder section has an empty queue and a free unit; one in its CS a free unit or a queue, not
/// both.
fn nobody_waits_who_could_be_served(node: &Klme, token: &Token) -> Verdict {
    let (free, queued) = (token.free.count(), token.queue.len());
    match node.state {
        Section::Remainder if queued > 0 => Err(format!("node {} sits on the token although others ask", node.id)),
        Section::Remainder if free == 0 => Err(format!("node {} holds an idle token without a free unit", node.id)),
        Section::Critical if queued > 0 && free > 0 => Err(format!("node {} lets others wait for nothing", node.id)),
        Section::Waiting => Err(format!("node {} waits although it has the token", node.id)),
        _ => Ok(()),
    }
}

/// With nothing in flight, `T_alloc_id` are the nodes in their CS, every member knows the leader, and a node that is
/// queued knows it.
fn at_rest(moment: &Moment<'_, Klme>, token: &Token) -> Verdict {
    let in_cs = |id: NodeId| moment.nodes.get(id.index()).is_some_and(|node| node.state == Section::Critical);
    if let Some(entry) = token.allocated.iter().find(|entry| !in_cs(entry.node)) {
        return Err(format!("node {} has left its CS, and nobody will tell the leader", entry.node));
    }
    let holder = moment.nodes.iter().find(|node| node.has_token()).map(|node| node.id);
    let lost = members(moment).find(|(_, place)| place.leader != holder);
    if let Some((node, place)) = lost {
        return Err(format!("node {} takes {:?} for the leader, but it is {holder:?}", node.id, place.leader));
    }
    let is_queued = |node: &Klme| token.queue.iter().any(|request| *request == (node.id, node.number()));
    match members(moment).find(|(node, place)| is_queued(node) && !place.acknowledged) {
        Some((node, _)) => Err(format!("node {} is in R_Queue, and will ask every new leader again", node.id)),
        None => Ok(()),
    }
}

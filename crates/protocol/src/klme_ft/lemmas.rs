//! What holds in every state, however time goes: the lemmas need no clock.

#[cfg(test)]
mod tests;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::books::Books;
use super::{Allocation, KlmeFt, Message, Seal, Usage};
use crate::tenure::{Member, Role, Term};
use crate::{Moment, NodeId, Permit, Permits};

type Verdict = Result<(), String>;

/// All of them.
pub(super) fn hold(moment: &Moment<'_, KlmeFt>) -> Verdict {
    let leaders: Vec<_> = moment.nodes.iter().filter_map(|node| Some((*node, node.chair.term()?))).collect();
    for (at, &(node, term)) in leaders.iter().enumerate() {
        let Some(books) = &node.desk.books else { return Err(format!("leader {} has no books", node.chair.id)) };
        every_unit_is_free_or_lent(node, books)?;
        nobody_is_in_the_books_twice(node, books)?;
        if let Some((other, _)) = leaders[..at].iter().find(|(_, other)| other.number == term.number) {
            return Err(format!("nodes {} and {} lead under the same number", other.chair.id, node.chair.id));
        }
    }
    no_grant_is_made_twice(moment)
}

/// Whether any one node may crash: the copy holders of the latest leader that are there and do not leave, less one, are
/// still a majority of all its copy holders; these have said that they are; no node has voted for another leader
/// meanwhile; and the leader is not about to give a copy to a node that has gone. A node that was restarted does not
/// know any more that it was about to leave, but the leader may, and lets it go.
pub(super) fn can_lose_a_node(moment: &Moment<'_, KlmeFt>) -> bool {
    let Some(term) = moment.nodes.iter().filter_map(|node| node.chair.term()).max_by_key(|term| term.number) else {
        return false;
    };
    let stays = |member: Member| {
        moment.nodes.iter().any(|node| node.chair.stay.is_some() && node.chair.me() == member && !node.chair.leaving)
    };
    let staying = term.holders.iter().filter(|holder| !holder.leaving && stays(holder.member)).count();
    let is_latest = moment.nodes.iter().all(|node| node.chair.promise.number() <= Some(term.number));
    let has_volunteer_gone = volunteers(moment, term).any(|member| !stays(member));
    term.settled && is_latest && !has_volunteer_gone && 2 * staying.saturating_sub(1) > term.holders.len()
}

/// Which members may be given a copy next: the one that has offered to keep one, or those whose offers are still on
/// their way.
fn volunteers(moment: &Moment<'_, KlmeFt>, term: &Term) -> impl Iterator<Item = Member> {
    let offers = moment.flights.iter().filter_map(|flight| match *flight.message {
        Message::Claim { stay, number, round, .. } if number == Some(term.number) && round == term.round => {
            Some(Member { id: flight.from, stay })
        }
        _ => None,
    });
    term.volunteer.into_iter().chain(offers.filter(|_| term.has_asked))
}

/// The paper's lemma 1, *Kfree* + |*`T_alloc_id`*| = k, unit by unit.
fn every_unit_is_free_or_lent(node: &KlmeFt, books: &Books) -> Verdict {
    let id = node.chair.id;
    let mut known = books.free;
    for loan in &books.loans {
        let permit = Permits::single(loan.allocation.permit);
        if !known.common(permit).is_empty() {
            return Err(format!("unit {permit:?} is in the books of leader {id} twice"));
        }
        known = known.union(permit);
    }
    if known == Permits::first(node.desk.k) { Ok(()) } else { Err(format!("leader {id} knows of {known:?} only")) }
}

fn nobody_is_in_the_books_twice(node: &KlmeFt, books: &Books) -> Verdict {
    let waiting = books.queue.iter().map(|waiter| waiter.member);
    let lent = books.loans.iter().map(|loan| loan.allocation.member);
    let mut members: Vec<_> = waiting.chain(lent).collect();
    members.sort_unstable();
    match members.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(format!("leader {} has node {} in its books twice", node.chair.id, pair[0].id)),
        None => Ok(()),
    }
}

/// Whatever goes by the same seal is one grant, of one unit to one node.
fn no_grant_is_made_twice(moment: &Moment<'_, KlmeFt>) -> Verdict {
    let mut grants: Vec<(Seal, NodeId, Permit)> = Vec::new();
    let of = |Allocation { member, permit, seal }: &Allocation| (*seal, member.id, *permit);
    for node in &moment.nodes {
        if let Usage::Using { permit, seal, .. } = node.desk.usage {
            grants.push((seal, node.chair.id, permit));
        }
        grants.extend(node.desk.books.iter().flat_map(|books| books.loans.iter().map(|loan| of(&loan.allocation))));
        if let Role::Candidate(candidacy) = &node.chair.role {
            grants.extend(candidacy.inheritance.iter().flat_map(|(_, loans)| loans.iter().map(of)));
        }
    }
    for flight in &moment.flights {
        match flight.message {
            Message::Grant { permit, seal, .. } => grants.push((*seal, flight.to, *permit)),
            Message::Token { allocated, .. } => grants.extend(allocated.iter().map(of)),
            _ => {}
        }
    }
    grants.sort_unstable();
    match grants.windows(2).find(|pair| pair[0].0 == pair[1].0 && pair[0] != pair[1]) {
        Some(pair) => Err(format!("nodes {} and {} were granted a unit under the same seal", pair[0].1, pair[1].1)),
        None => Ok(()),
    }
}

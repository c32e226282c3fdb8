//! What holds in every state, however time goes: the lemmas need no clock.

#[cfg(test)]
mod tests;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::token::Token;
use super::{Allocation, KlmeFt, Message, Role, Seal, Usage};
use crate::tenure::Member;
use crate::{Moment, NodeId, Permit, Permits};

type Verdict = Result<(), String>;

/// All of them.
pub(super) fn hold(moment: &Moment<'_, KlmeFt>) -> Verdict {
    let leaders: Vec<_> = moment.nodes.iter().filter_map(|node| Some((*node, token(node)?))).collect();
    for (at, &(node, token)) in leaders.iter().enumerate() {
        every_unit_is_free_or_lent(node, token)?;
        nobody_is_in_the_books_twice(node, token)?;
        if let Some((other, _)) = leaders[..at].iter().find(|(_, other)| other.number == token.number) {
            return Err(format!("nodes {} and {} lead under the same number", other.id, node.id));
        }
    }
    no_grant_is_made_twice(moment)
}

/// Whether any one node may crash: the copy holders of the latest leader that are there and do not leave, less one, are still a
/// majority of all its copy holders; these have said that they are; no node has voted for another leader meanwhile; and the
/// leader is not about to give a copy to a node that has gone.
pub(super) fn can_lose_a_node(moment: &Moment<'_, KlmeFt>) -> bool {
    let Some(token) = moment.nodes.iter().filter_map(|node| token(node)).max_by_key(|token| token.number) else {
        return false;
    };
    let stays =
        |member: Member| moment.nodes.iter().any(|node| node.stay.is_some() && node.me() == member && !node.leaving);
    let staying = token.holders.iter().filter(|holder| stays(holder.member)).count();
    let is_latest = moment.nodes.iter().all(|node| node.promise.number() <= Some(token.number));
    let has_volunteer_gone = volunteers(moment, token).any(|member| !stays(member));
    token.settled && is_latest && !has_volunteer_gone && 2 * staying.saturating_sub(1) > token.holders.len()
}

/// Who may be given a copy next: the node that has offered to keep one, or those whose offers are still on their way.
fn volunteers(moment: &Moment<'_, KlmeFt>, token: &Token) -> impl Iterator<Item = Member> {
    let offers = moment.flights.iter().filter_map(|flight| match *flight.message {
        Message::Claim { stay, number, round, .. } if number == Some(token.number) && round == token.round => {
            Some(Member { id: flight.from, stay })
        }
        _ => None,
    });
    token.volunteer.into_iter().chain(offers.filter(|_| token.has_asked))
}

fn token(node: &KlmeFt) -> Option<&Token> {
    match &node.role {
        Role::Leader(token) => Some(token),
        Role::Follower | Role::Candidate(_) => None,
    }
}

/// The paper's lemma 1, *Kfree* + |*`T_alloc_id`*| = k, unit by unit.
fn every_unit_is_free_or_lent(node: &KlmeFt, token: &Token) -> Verdict {
    let id = node.id;
    let mut known = token.free;
    for loan in &token.loans {
        let permit = Permits::single(loan.allocation.permit);
        if !known.common(permit).is_empty() {
            return Err(format!("unit {permit:?} is in the books of leader {id} twice"));
        }
        known = known.union(permit);
    }
    if known == Permits::first(node.k) { Ok(()) } else { Err(format!("leader {id} knows of {known:?} only")) }
}

fn nobody_is_in_the_books_twice(node: &KlmeFt, token: &Token) -> Verdict {
    let waiting = token.queue.iter().map(|waiter| waiter.member);
    let lent = token.loans.iter().map(|loan| loan.allocation.member);
    let mut members: Vec<_> = waiting.chain(lent).collect();
    members.sort_unstable();
    match members.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(format!("leader {} has node {} in its books twice", node.id, pair[0].id)),
        None => Ok(()),
    }
}

/// Whatever goes by the same seal is one grant, of one unit to one node.
fn no_grant_is_made_twice(moment: &Moment<'_, KlmeFt>) -> Verdict {
    let mut grants: Vec<(Seal, NodeId, Permit)> = Vec::new();
    let of = |Allocation { member, permit, seal }: &Allocation| (*seal, member.id, *permit);
    for node in &moment.nodes {
        if let Usage::Using { permit, seal, .. } = node.usage {
            grants.push((seal, node.id, permit));
        }
        let known = match &node.role {
            Role::Leader(token) => token.loans.iter().map(|loan| of(&loan.allocation)).collect(),
            Role::Candidate(candidacy) => {
                candidacy.inheritance.iter().flat_map(|(_, loans)| loans.iter().map(of)).collect()
            }
            Role::Follower => Vec::new(),
        };
        grants.extend(known);
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

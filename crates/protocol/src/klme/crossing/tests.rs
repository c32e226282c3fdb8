use super::*;
use crate::{Deployment, Effect, Outbox, Protocol, Repair, Repairs};

/// Node 0, which leads nodes 1 to 3.
fn leader(repairs: Repairs) -> Klme {
    let members = (0..4).map(NodeId).collect();
    let deployment = Deployment { nodes: 4, k: 1, members, ..Deployment::default() };
    Klme::deploy(&deployment, (), repairs).swap_remove(0)
}

fn heir(change: impl FnOnce(&mut Klme)) -> Option<NodeId> {
    let mut leader = leader(Repairs::ALL);
    change(&mut leader);
    leader.heir()
}

#[test]
fn the_heir_is_the_lowest_of_those_who_stay_and_use_nothing() {
    assert_eq!(heir(|_| {}), Some(NodeId(1)));
    let number = RequestNo { stay: Stay(1), number: 1 };
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
fn whoever_has_said_farewell_in_this_stay_inherits_nothing() {
    let said = |stay| heir(move |leader| leader.here().leavers.note(NodeId(1), RequestNo { stay, number: 0 }));
    assert_eq!((said(Stay(1)), said(Stay(0))), (Some(NodeId(2)), Some(NodeId(1))));
    let gone = |stay| heir(move |leader| leader.books().requests.note(NodeId(1), RequestNo::gone(stay)));
    assert_eq!((gone(Stay(1)), gone(Stay(0))), (Some(NodeId(2)), Some(NodeId(1))));
}

/// Whether node 0 tells everybody who leads now, when it leaves and hands the token over.
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
fn whoever_hands_the_token_over_tells_all_and_as_published_tells_nobody() {
    assert!(announces(None));
    assert!(!announces(Some(repair::FORWARD_ANNOUNCED)));
}

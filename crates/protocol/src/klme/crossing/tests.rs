use super::*;
use crate::{Crossing, Deployment, Effect, Outbox, Protocol, Repair, Repairs};

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

/// Whether a node that is told to leave goes at once.
fn goes_at_once(mut node: Klme) -> bool {
    let mut out = Outbox::new();
    node.on_about_to_leave(&mut out);
    out.drain().any(|effect| effect == Effect::Depart)
}

#[test]
fn as_published_whoever_leaves_is_gone_at_once_and_an_idle_holder_takes_the_token_along() {
    let member = |switched_off: Repair| deployed(Repairs::ALL.without(switched_off)).swap_remove(1);
    assert!(goes_at_once(member(repair::FAREWELL)));
    assert!(!goes_at_once(member(repair::IDLE_HOLDER)), "it has no token, and waits until the leader lets it go");
    assert!(goes_at_once(leader(Repairs::ALL.without(repair::IDLE_HOLDER))));
}

/// Whether node 1, which is told to leave if it is to, goes when the leader lets it go from this stay.
fn is_let_go(is_to_leave: bool, stay: Stay, change: impl FnOnce(&mut Klme)) -> bool {
    let mut node = deployed(Repairs::ALL).swap_remove(1);
    let mut out = Outbox::new();
    if is_to_leave {
        node.on_about_to_leave(&mut out);
    }
    change(&mut node);
    node.on_leave_ack(stay, &mut out);
    let departs = out.drain().any(|effect| effect == Effect::Depart);
    assert_eq!(node.place.is_none(), departs);
    departs
}

#[test]
fn whoever_leaves_goes_when_the_leader_lets_it_go_from_this_stay_and_it_has_no_token() {
    let stay = deployed(Repairs::ALL)[1].number().stay;
    assert!(is_let_go(true, stay, |_| {}));
    assert!(!is_let_go(false, stay, |_| {}), "it was not told to leave");
    assert!(!is_let_go(true, Stay(stay.0 - 1), |_| {}), "that was an earlier stay");
    assert!(!is_let_go(true, stay, |node| node.here().token = Some(Token::generate(1, stay))), "it has the token");
}

#[test]
fn a_newcomer_that_has_gone_is_not_told_who_leads() {
    let mut node = deployed(Repairs::ALL).swap_remove(1);
    node.here().newcomers = [2, 3].map(NodeId).to_vec();
    node.below(Crossing::Parted { peer: NodeId(2) }, &mut Outbox::new());
    assert_eq!(node.here().newcomers, [NodeId(3)]);
}

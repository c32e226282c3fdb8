//! What every member does about beats, grants and its application.

use alloc::vec;

use crate::klme_ft::tests::*;
use crate::tenure::{LeaderNo, Round};
use crate::{Effect, Protocol, Repairs, Stay};

use super::*;

const CLAIMED: Usage = Usage::Waiting { demand: Demand::ONE, claimed: true };

fn requests(node: &mut KlmeFt) -> Effects {
    done(|out| node.request(Demand::ONE, out))
}

/// Node 0's next beat.
fn next_beat(wanted: bool, rests: bool) -> Message {
    let mut copy = copy_of(&awake());
    copy.round = copy.round.next();
    Message::Beat { copy, wanted, rests }
}

/// What a node says that has heard that beat.
fn answer(from: u32, want: Want) -> Message {
    let Message::Beat { copy, .. } = next_beat(false, false) else { unreachable!() };
    Message::Claim { stay: Stay(from.into()), number: Some(copy.number), round: copy.round, want, leaving: false }
}

#[test]
fn a_request_goes_to_the_leader_and_its_lease_counts_from_then_on() {
    let mut node = follower(3);
    let asks = claim(&node, 3, Want::Wait);
    assert_eq!(requests(&mut node), [arm(Timer::Lease(false), LEASE), send(0, asks)]);
    assert_eq!(node.desk.usage, CLAIMED);
}

#[test]
fn a_request_goes_to_all_members_where_none_may_lead() {
    let mut resting = node(3);
    let asks = claim(&resting, 3, Want::Wait);
    assert_eq!(requests(&mut resting), [broadcast(asks), arm(Timer::Silence, BOND)]);
    assert_eq!((resting.desk.usage, resting.chair.rests), (WAITING, false), "no lease counts yet");
    let mut newcomer = follower(3);
    newcomer.chair.copy = None;
    let (number, round) = (None, Round::default());
    let asks = Message::Claim { stay: Stay(3), number, round, want: Want::Wait, leaving: false };
    assert_eq!(requests(&mut newcomer), [broadcast(asks), arm(Timer::Silence, BOND)]);
}

#[test]
fn a_request_of_a_leader_is_served_by_itself() {
    let mut leader = confirmed();
    assert_eq!(requests(&mut leader), [arm(Timer::Lease(false), LEASE), entered()]);
    let mut resting = node(0);
    let effects = requests(&mut resting);
    assert_eq!(effects[0], latest_beat(&resting, false));
    assert_eq!(claimed(&mut resting, 1, Want::Nothing).last(), Some(&entered()));
}

#[test]
fn a_request_of_a_leader_that_keeps_the_only_copy_is_served_at_once() {
    let mut leader = node(0);
    term(&mut leader).holders.truncate(1);
    assert_eq!(requests(&mut leader).last(), Some(&entered()), "it is its own majority");
}

#[test]
fn a_request_of_one_that_is_about_to_leave_waits() {
    let mut node = follower(1);
    node.chair.leaving = true;
    assert_eq!((requests(&mut node), node.desk.usage), (vec![], WAITING));
}

#[test]
fn a_release_tells_the_leader_or_serves_the_next() {
    let mut node = follower(3);
    node.desk.usage = using(false, false);
    let frees = claim(&node, 3, Want::Free(seal()));
    let stops = [disarm(Timer::Lease(false)), disarm(Timer::Lease(true))];
    let effects = done(|out| node.release(out));
    assert_eq!(effects, [stops.to_vec(), vec![send(0, frees)]].concat());
    assert_eq!(node.desk.usage, Usage::Idle);
    let mut leader = confirmed();
    requests(&mut leader);
    let books = books(&mut leader);
    books.enqueue(member(3), 0);
    let others = books.lend(5).unwrap();
    books.enqueue(member(4), 0);
    let effects = done(|out| leader.release(out));
    let (number, round) = copy_of(&leader).beat();
    let grant = Message::Grant { number, round, permit: permit(0), seal: others.seal.next(), renews: false };
    assert_eq!(effects, [stops.to_vec(), vec![send(4, grant)]].concat());
    assert_eq!(loans(&mut leader)[0].allocation, others, "it goes on");
    assert_eq!(leader.desk.usage, Usage::Idle);
}

#[test]
fn a_beat_is_acknowledged_once_and_binds_a_copy_holder() {
    let mut node = follower(1);
    node.chair.promise.loosen();
    let effects = told(&mut node, 0, next_beat(false, false));
    assert_eq!(effects, [arm(Timer::Silence, BOND), send(0, answer(1, Want::Nothing))]);
    assert!(node.chair.promise.is_bound());
    assert_eq!(told(&mut node, 0, next_beat(false, false)), [], "it has heard that one");
    assert_eq!(told(&mut node, 2, next_beat(false, false)), [], "node 2 does not lead");
    let mut newcomer = follower(3);
    newcomer.chair.copy = None;
    assert_eq!(told(&mut newcomer, 0, next_beat(false, false)), [arm(Timer::Silence, BOND)]);
    assert_eq!(told(&mut follower(1), 2, next_beat(false, false)), [], "it is none of node 2's");
}

#[test]
fn a_node_follows_no_lower_leader_than_it_has_promised_unless_the_rule_is_off() {
    let (voted, heard) = (FIRST.next(Stay(2)), next_beat(false, false));
    let hears_node_0 = |rules: Repairs| {
        let mut node = follower_with(1, rules);
        node.chair.promise.loosen();
        node.chair.promise.vote(voted);
        (told(&mut node, 0, heard.clone()), node.chair.promise.number())
    };
    assert_eq!(hears_node_0(Repairs::ALL), (vec![send(0, Message::Ahead { number: voted })], Some(voted)));
    let follows = vec![arm(Timer::Silence, BOND), send(0, answer(1, Want::Nothing))];
    assert_eq!(hears_node_0(Repairs::ALL.without(guard::PROMISE)), (follows, Some(FIRST)));
}

#[test]
fn a_leader_that_hears_a_later_one_leads_no_more() {
    let mut leader = awake();
    let number = LeaderNo { counter: 2, stay: Stay(1) };
    let copy = Copy { number, leader: NodeId(1), ..copy_of(&leader) };
    let effects = told(&mut leader, 1, Message::Beat { copy: copy.clone(), wanted: false, rests: false });
    let acknowledges =
        Message::Claim { stay: Stay(0), number: Some(number), round: copy.round, want: Want::Nothing, leaving: false };
    assert_eq!(effects, [disarm(Timer::Beat), arm(Timer::Silence, BOND), send(1, acknowledges)]);
    assert!(!leader.chair.leads());
}

/// Whether a node that is so answers a beat, and whether it rests then.
fn hears(rules: Repairs, id: usize, usage: Usage, leaving: bool, beat: Message) -> (bool, bool) {
    let mut node = follower_with(id, rules);
    (node.desk.usage, node.chair.leaving) = (usage, leaving);
    let effects = told(&mut node, 0, beat);
    (effects.iter().any(|effect| matches!(effect, Effect::Send { .. })), node.chair.rests)
}

#[test]
fn a_member_that_has_something_to_say_answers_and_does_not_rest() {
    let hears_all = |id, usage, leaving, beat| hears(Repairs::ALL, id, usage, leaving, beat);
    let (beat, last, asks) = (next_beat(false, false), next_beat(false, true), next_beat(true, false));
    assert_eq!(hears_all(3, Usage::Idle, false, beat.clone()), (false, false));
    assert_eq!(hears_all(1, Usage::Idle, false, beat.clone()), (true, false), "it keeps a copy");
    assert_eq!(hears_all(3, Usage::Idle, false, asks), (true, false), "it could help");
    assert_eq!(hears_all(3, WAITING, false, beat.clone()), (true, false));
    assert_eq!(hears_all(3, Usage::Idle, true, beat), (true, false), "it wants to leave");
    assert_eq!(hears_all(1, Usage::Idle, false, last.clone()), (false, true), "nobody waits for its answer");
    assert_eq!(hears_all(3, WAITING, false, last.clone()), (true, false));
    assert_eq!(hears_all(3, Usage::Idle, true, last.clone()), (true, false));
    let without = Repairs::ALL.without(guard::WANTS_NO_REST);
    assert_eq!(hears(without, 3, WAITING, false, last), (true, true));
}

#[test]
fn a_node_knows_whether_it_was_asked_to_keep_a_copy() {
    let mut node = follower(3);
    told(&mut node, 0, next_beat(true, false));
    assert!(node.chair.asked);
}

#[test]
fn a_member_that_waits_for_a_unit_or_uses_one_claims_it_at_every_beat() {
    let silence = || arm(Timer::Silence, BOND);
    let mut waiter = follower(3);
    waiter.desk.usage = WAITING;
    let effects = told(&mut waiter, 0, next_beat(false, false));
    assert_eq!(effects, [silence(), arm(Timer::Lease(false), LEASE), send(0, answer(3, Want::Wait))]);
    assert_eq!(waiter.desk.usage, CLAIMED);
    for lease in [false, true] {
        let mut user = follower(3);
        user.desk.usage = using(lease, false);
        let effects = told(&mut user, 0, next_beat(false, false));
        let claims = send(0, answer(3, Want::Hold(seal())));
        assert_eq!(effects, [silence(), arm(Timer::Lease(!lease), LEASE), claims], "the other lease is in force");
        assert_eq!(user.desk.usage, using(lease, true));
    }
    let mut leaver = follower(1);
    (leaver.desk.usage, leaver.chair.leaving) = (WAITING, true);
    let says = farewell(&leaver, 1);
    assert_eq!(
        done(|out| leaver.desk.claim(&leaver.chair, out)),
        [send(0, says)],
        "what is granted to it comes too late"
    );
}

#[test]
fn a_leader_says_nothing_to_itself() {
    let mut leader = awake();
    assert_eq!(done(|out| leader.desk.claim(&leader.chair, out)), []);
}

/// What a node that is so does about a grant of unit 0, and what it uses then.
fn granted(rules: Repairs, usage: Usage, of: Seal, renews: bool) -> (Effects, Usage) {
    let mut node = follower_with(3, rules);
    node.desk.usage = usage;
    (done(|out| node.desk.on_grant((permit(0), of), renews, &node.chair, out)), node.desk.usage)
}

#[test]
fn a_grant_answers_a_claim_and_a_renewal_that_of_a_user() {
    let granted_all = |usage, of, renews| granted(Repairs::ALL, usage, of, renews);
    assert_eq!(granted_all(CLAIMED, seal(), false), (vec![entered()], using(false, false)));
    assert_eq!(granted_all(WAITING, seal(), false), (vec![], WAITING), "its claim was too long ago");
    assert_eq!(granted_all(CLAIMED, seal(), true), (vec![], CLAIMED), "it uses nothing");
    for lease in [false, true] {
        let renewed = (vec![disarm(Timer::Lease(lease))], using(!lease, false));
        assert_eq!(granted_all(using(lease, true), seal(), true), renewed);
        let as_before = |claimed| (vec![], using(lease, claimed));
        assert_eq!(granted_all(using(lease, false), seal(), true), as_before(false), "its claim was too long ago");
        assert_eq!(granted_all(using(lease, true), seal().next(), true), as_before(true), "of another grant");
        assert_eq!(granted_all(using(lease, true), seal(), false), as_before(true));
    }
    assert_eq!(granted_all(Usage::Idle, seal(), false), (vec![], Usage::Idle));
}

#[test]
fn a_lease_counts_from_the_grant_only_if_the_rule_is_off() {
    let without = Repairs::ALL.without(guard::LEASE_FROM_CLAIM);
    let effects = granted(without, CLAIMED, seal(), false).0;
    assert_eq!(effects, [entered(), arm(Timer::Lease(false), LEASE)]);
    let effects = granted(without, using(false, true), seal(), true).0;
    assert_eq!(effects, [disarm(Timer::Lease(false)), arm(Timer::Lease(true), LEASE)]);
}

#[test]
fn a_user_stops_when_the_lease_in_force_is_over() {
    let over = |usage: Usage, which: bool| {
        let mut node = follower(3);
        node.desk.usage = usage;
        (done(|out| node.timer(Timer::Lease(which), out)), node.desk.usage)
    };
    let frees = claim(&follower(3), 3, Want::Free(seal()));
    let revoke = Effect::Revoke(Demand::ONE);
    let stops = vec![revoke, disarm(Timer::Lease(false)), disarm(Timer::Lease(true)), send(0, frees)];
    for lease in [false, true] {
        assert_eq!(over(using(lease, true), lease), (stops.clone(), WAITING));
        assert_eq!(over(using(lease, true), !lease), (vec![], using(lease, false)), "it was not renewed in time");
    }
    assert_eq!(over(CLAIMED, false), (vec![], WAITING));
    assert_eq!(over(Usage::Idle, false), (vec![], Usage::Idle));
}

#[test]
fn a_leader_whose_lease_is_over_waits_in_line_and_grants_nothing_on_that_account_unless_the_rule_is_off() {
    let over = |rules: Repairs, leaving: bool| {
        let mut leader = awake_with(rules);
        term(&mut leader).holders[1].acknowledged = true;
        lend_to(0, &mut leader);
        (leader.desk.usage, leader.chair.leaving) = (using(false, false), leaving);
        let effects = done(|out| leader.timer(Timer::Lease(false), out));
        (effects, leader)
    };
    let stops = [Effect::Revoke(Demand::ONE), disarm(Timer::Lease(false)), disarm(Timer::Lease(true))];
    let (effects, mut leader) = over(Repairs::ALL, false);
    assert_eq!(effects, stops);
    assert_eq!((books(&mut leader).queue[0].member, books(&mut leader).free.count()), (member(0), 2));
    assert_eq!(books(&mut over(Repairs::ALL, true).1).queue, [], "it is about to leave");
    assert!(over(Repairs::ALL.without(guard::NOT_ON_TIMER), false).0.len() > stops.len());
}

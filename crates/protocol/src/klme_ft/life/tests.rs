//! What is stored, and what a node does that comes back with it.

use alloc::vec;

use crate::klme_ft::tests::*;
use crate::klme_ft::{Copy, Message, Want};
use crate::tenure::{Generation, Role, Round, Version};
use crate::{Crossing, Effect, Fence, Protocol, Repairs, Stay};

use super::*;

fn charter_of(node: &KlmeFt) -> Charter<Variant> {
    Charter::new(node.desk.k, node.desk.variant, node.desk.rules)
}

/// A node after it was killed, and what it did when it came back.
fn restarted(node: &KlmeFt) -> (KlmeFt, Effects) {
    let mut again = None;
    let effects = done(|out| again = Some(KlmeFt::restore(node.chair.id, &charter_of(node), node.durable(), out)));
    (again.unwrap(), effects)
}

/// Likewise, when it is its own again: no application of an earlier life is inside.
fn back(node: &KlmeFt) -> KlmeFt {
    let (mut node, _) = restarted(node);
    done(|out| node.timer(Timer::Quiet, out));
    node
}

fn request(node: &mut KlmeFt) -> Effects {
    done(|out| node.request(Demand::ONE, out))
}

/// The next beat of node 0 after the first one, with the holders that it has then.
fn beat_with(holders: &[u32], version: Version) -> Message {
    let copy = copy_of(&awake());
    let holders = holders.iter().copied().map(member).collect();
    Message::Beat { copy: Copy { round: copy.round.next(), version, holders, ..copy }, wanted: false, rests: false }
}

fn next_beat() -> Message {
    beat_with(&[0, 1, 2], Version::default())
}

/// What node 1 says that has heard it.
fn answer(want: Want) -> Effect<Message, Timer> {
    let round = copy_of(&awake()).round.next();
    send(0, Message::Claim { stay: Stay(1), number: Some(FIRST), round, want, leaving: false })
}

/// What unit 0 was granted for, by the first grant of node 0.
fn granted() -> Grant {
    Grant { permits: Permits::first(1), fence: seal().fence(Generation(0)) }
}

#[test]
fn what_is_stored_does_not_change_on_the_way_of_a_grant() {
    let (mut leader, mut node) = (node(0), node(1));
    let stored = (leader.durable(), node.durable());
    for _ in 0..3 {
        done(|out| leader.timer(Timer::Beat, out));
        let beat = Message::Beat { copy: copy_of(&leader), wanted: false, rests: false };
        told(&mut node, 0, beat);
        claimed(&mut leader, 1, Want::Wait);
        (leader.desk.usage, node.desk.usage) = (WAITING, using(false, false));
        assert_eq!((leader.durable(), node.durable()), stored);
    }
}

#[test]
fn a_vote_and_another_set_of_copy_holders_are_stored() {
    let mut voter = follower(1);
    voter.chair.promise.loosen();
    let (stored, number) = (voter.durable(), FIRST.next(Stay(2)));
    told(&mut voter, 2, Message::Stand { number, holders: [0, 1, 2].map(member).to_vec(), relieves: None });
    assert_eq!(voter.durable(), Durable { number: Some(number), ..stored });
    let mut node = follower(1);
    let version = Version::default().next();
    told(&mut node, 0, beat_with(&[0, 1], version));
    let holding = node.durable().holding.unwrap();
    assert_eq!((holding.number, holding.version, holding.holders.len()), (FIRST, version, 2));
}

#[test]
fn a_leader_counts_the_changes_of_the_set_of_copy_holders_and_goes_on_from_those_before_it() {
    let mut leader = confirmed();
    let version = |leader: &KlmeFt| copy_of(leader).version;
    assert_eq!(version(&leader), Version::default());
    leader.chair.others.clear();
    term(&mut leader).holders[2].leaving = true;
    done(|out| leader.timer(Timer::Beat, out));
    assert_eq!((version(&leader), copy_of(&leader).holders.len()), (Version::default().next(), 2));
    done(|out| leader.timer(Timer::Beat, out));
    assert_eq!(version(&leader), Version::default().next());
    done(|out| leader.chair.lead(FIRST.next(Stay(0)), vec![], &mut leader.desk, out));
    assert_eq!(version(&leader), Version::default().next());
}

#[test]
fn a_restarted_member_does_not_lead_and_is_bound_anew_to_the_leader_it_followed() {
    for former in [confirmed(), follower(1)] {
        let (node, effects) = restarted(&former);
        assert_eq!(effects, [arm(Timer::Silence, BOND), arm(Timer::Quiet, LEASE)]);
        assert!(
            matches!(node.chair.role, Role::Follower)
                && node.chair.promise.is_bound()
                && node.chair.rests
                && !node.chair.leaving
        );
        assert_eq!((node.chair.me(), node.chair.promise.number()), (former.chair.me(), Some(FIRST)));
        assert_eq!((node.chair.is_holder(), copy_of(&node).round), (true, Round::default()));
        assert_eq!(node.durable(), former.durable());
    }
    let (_, effects) = restarted(&KlmeFt::blank(NodeId(3), &charter_of(&node(3))));
    assert_eq!(effects, [], "it was nowhere");
}

#[test]
fn a_restarted_member_keeps_the_promise_of_an_earlier_life() {
    let votes = |rules: Repairs| {
        let mut voter = follower_with(1, rules);
        voter.chair.promise.loosen();
        voter.chair.promise.vote(FIRST.next(Stay(2)));
        let mut voter = back(&voter);
        done(|out| voter.timer(Timer::Silence, out));
        let holders = [0, 1, 2].map(member).to_vec();
        let smaller = Message::Stand { number: FIRST.next(Stay(0)), holders, relieves: None };
        told(&mut voter, 0, smaller)
            .iter()
            .any(|effect| matches!(effect, Effect::Send { message: Message::Vote { .. }, .. }))
    };
    assert!(!votes(Repairs::ALL));
    assert!(votes(Repairs::ALL.without(guard::STORE_NUMBER)));
}

#[test]
fn a_restarted_member_votes_for_no_other_before_its_bond_is_over() {
    let votes = |rules: Repairs| {
        let mut voter = back(&follower_with(1, rules));
        let holders = [0, 1, 2].map(member).to_vec();
        told(&mut voter, 2, Message::Stand { number: FIRST.next(Stay(2)), holders, relieves: None });
        voter.chair.promise.number() != Some(FIRST)
    };
    assert!(!votes(Repairs::ALL));
    assert!(votes(Repairs::ALL.without(guard::BEGIN_BOND_ANEW)));
}

#[test]
fn a_restarted_member_knows_which_members_keep_copies() {
    let holders = |rules: Repairs| back(&follower_with(1, rules)).chair.copy.map(|copy| copy.holders.len());
    assert_eq!(holders(Repairs::ALL), Some(3));
    assert_eq!(holders(Repairs::ALL.without(guard::STORE_HOLDERS)), None);
}

/// Node 1 knows of the later one of two sets, and stands; node 2 knows of the earlier one.
#[test]
fn the_later_set_of_copy_holders_is_told_by_its_version_although_no_round_is_stored() {
    let holders = |rules: Repairs| {
        let mut candidate = follower_with(1, rules);
        told(&mut candidate, 0, beat_with(&[0, 1], Version::default().next()));
        let mut candidate = back(&candidate);
        candidate.chair.rests = false;
        done(|out| candidate.timer(Timer::Silence, out));
        let number = FIRST.next(Stay(1));
        let vote = Message::Vote { stay: Stay(2), number, copy: Some(copy_of(&follower(2))) };
        told(&mut candidate, 2, vote);
        copy_of(&candidate).holders.len()
    };
    assert_eq!(holders(Repairs::ALL), 2);
    assert_eq!(holders(Repairs::ALL.without(guard::STORE_VERSION)), 3);
}

#[test]
fn a_restarted_member_ignores_beats_with_an_earlier_set_of_copy_holders() {
    let mut node = follower(1);
    let version = Version::default().next();
    told(&mut node, 0, beat_with(&[0, 1], version));
    let (mut node, _) = restarted(&node);
    assert_eq!(told(&mut node, 0, next_beat()), []);
    assert_eq!(told(&mut node, 0, beat_with(&[0, 1], version)), [arm(Timer::Silence, BOND), answer(Want::Nothing)]);
}

#[test]
fn what_is_asked_for_in_the_quiet_time_is_claimed_under_a_beat_after_it() {
    let (mut node, _) = restarted(&follower(1));
    assert_eq!((request(&mut node), node.desk.usage), (vec![], WAITING));
    assert_eq!(told(&mut node, 0, next_beat()), [arm(Timer::Silence, BOND), answer(Want::Nothing)]);
    assert_eq!(done(|out| node.timer(Timer::Quiet, out)), [], "the next beat is due soon");
    let Message::Beat { copy, .. } = next_beat() else { unreachable!() };
    let copy = Copy { round: copy.round.next(), ..copy };
    let claims =
        Message::Claim { stay: Stay(1), number: Some(FIRST), round: copy.round, want: Want::Wait, leaving: false };
    let effects = told(&mut node, 0, Message::Beat { copy, wanted: false, rests: false });
    assert_eq!(effects, [arm(Timer::Silence, BOND), arm(Timer::Lease(false), LEASE), send(0, claims)]);
}

#[test]
fn what_is_asked_for_in_the_quiet_time_wakes_all_members_after_it_where_all_rest() {
    let (mut node, _) = restarted(&follower(3));
    request(&mut node);
    let last = Message::Beat { copy: copy_of(&awake()), wanted: false, rests: true };
    assert_eq!(told(&mut node, 0, last), [arm(Timer::Silence, BOND)]);
    let asks = claim(&node, 3, Want::Wait);
    assert_eq!(done(|out| node.timer(Timer::Quiet, out)), [broadcast(asks), arm(Timer::Silence, BOND)]);
}

#[test]
fn what_is_asked_for_later_is_claimed_at_once() {
    let mut node = back(&follower(1));
    told(&mut node, 0, next_beat());
    assert_eq!(request(&mut node), [arm(Timer::Lease(false), LEASE), answer(Want::Wait)]);
}

#[test]
fn without_a_quiet_time_a_request_would_free_what_an_application_still_uses() {
    let (mut node, effects) = restarted(&follower_with(1, Repairs::ALL.without(guard::QUIET)));
    assert_eq!(effects, [arm(Timer::Silence, BOND)]);
    request(&mut node);
    assert!(told(&mut node, 0, next_beat()).contains(&answer(Want::Wait)));
}

#[test]
fn a_token_that_is_handed_over_in_the_quiet_time_is_not_taken() {
    let takes_over = Message::Token { number: FIRST, allocated: vec![] };
    let (mut quiet, _) = restarted(&follower(1));
    assert_eq!(told(&mut quiet, 0, takes_over.clone()), []);
    assert!(!told(&mut back(&follower(1)), 0, takes_over).is_empty());
}

#[test]
fn a_member_that_slept_through_both_times_does_not_lead_before_its_quiet_time_is_over() {
    let (mut node, _) = restarted(&follower(1));
    node.chair.rests = false;
    assert_eq!(done(|out| node.timer(Timer::Silence, out)), [arm(Timer::Silence, BOND)]);
    assert!(node.chair.promise.is_bound());
}

#[test]
fn a_member_that_is_told_to_leave_in_the_quiet_time_goes_after_it() {
    let leave = |node: &mut KlmeFt| done(|out| node.below(Crossing::Leaving, out));
    let (mut outsider, _) = restarted(&follower(3));
    assert_eq!(leave(&mut outsider), []);
    let (number, round) = copy_of(&outsider).beat();
    assert_eq!(told(&mut outsider, 0, Message::Dismiss { stay: Stay(3), number, round }), [], "not yet");
    let says = broadcast(farewell(&outsider, 3));
    let wakes_all = [arm(Timer::Farewell, FAREWELL), says, arm(Timer::Silence, BOND)];
    assert_eq!(done(|out| outsider.timer(Timer::Quiet, out)), wakes_all, "it may have been made a copy holder");
    assert_eq!(told(&mut outsider, 0, Message::Dismiss { stay: Stay(3), number, round }), departure());
}

#[test]
fn an_application_that_shows_its_grant_in_time_has_it_back() {
    let left = LEASE / 2;
    let (mut node, _) = restarted(&follower(1));
    let mut is_its_own = false;
    let effects = done(|out| is_its_own = node.resume(granted(), left, out));
    assert!(is_its_own && !node.desk.is_quiet());
    assert_eq!(effects, [disarm(Timer::Quiet), arm(Timer::Lease(false), left)]);
    assert_eq!((node.desk.usage, node.lease()), (using(false, false), Some(Timer::Lease(false))));
    let holds = [arm(Timer::Silence, BOND), arm(Timer::Lease(true), LEASE), answer(Want::Hold(seal()))];
    assert_eq!(told(&mut node, 0, next_beat()), holds);
}

#[test]
fn what_was_not_granted_in_an_earlier_life_is_not_resumed() {
    let resumes = |prepare: &dyn Fn(&mut KlmeFt), grant: Grant, left: Duration| {
        let (mut node, _) = restarted(&follower(1));
        prepare(&mut node);
        let mut is_its_own = false;
        let effects = done(|out| is_its_own = node.resume(grant, left, out));
        assert_eq!(is_its_own, !effects.is_empty());
        is_its_own
    };
    let shows = |grant: Grant| resumes(&|_| {}, grant, LEASE);
    let fence = granted().fence;
    let later = Seal::first(FIRST.next(Stay(0))).next().fence(Generation(0));
    assert!(shows(granted()));
    assert!(!shows(Grant { permits: Permits::first(2), ..granted() }), "only one unit is granted at a time");
    assert!(!shows(Grant { permits: Permits::first(3).without(Permits::first(2)), ..granted() }), "no such unit");
    assert!(!shows(Grant { fence: Fence { epoch: 7 << 32 | fence.epoch, ..fence }, ..granted() }), "of another token");
    assert!(!shows(Grant { fence: later, ..granted() }), "it has heard of no such leader");
    assert!(!resumes(&|_| {}, granted(), LEASE + Duration::from_nanos(1)), "no lease is that long");
    assert!(!resumes(&|node| node.chair.leaving = true, granted(), LEASE));
    assert!(
        !resumes(&|node| node.desk.earlier = Earlier::Over, granted(), LEASE),
        "too late: it may have freed the unit"
    );
    assert!(!resumes(&|node| node.chair.copy = None, granted(), LEASE), "it was never granted anything");
}

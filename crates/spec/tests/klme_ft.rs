//! What klme-ft promises, one event at a time. docs/guarantees.md says it in words.

mod clocked;

use clocked::Clocked;
use driftlock_protocol::Repairs;
use driftlock_protocol::klme_ft::{KlmeFt, Variant, guard};

const VARIANT: Variant = Variant::USUAL;

fn neighbourhood(nodes: u32, k: u32, members: &[u32]) -> Clocked<KlmeFt> {
    Clocked::new(nodes, k, members, VARIANT, Repairs::ALL)
}

/// How long until a grant of somebody who does not answer has run out for certain, as beats go.
fn reclaim_seconds() -> u64 {
    VARIANT.times.beat.as_secs() * u64::from(VARIANT.times.beats_to_reclaim() + 1)
}

/// How long until all grants of a leader that is not heard of have run out, and somebody else leads.
fn regenerate_seconds() -> u64 {
    VARIANT.times.bond().as_secs() + 3
}

#[test]
fn who_asks_is_served_and_who_uses_a_unit_keeps_it_as_long_as_it_likes() {
    let mut place = neighbourhood(3, 2, &[0, 1, 2]);
    place.request(1);
    place.request(0);
    place.request(2);
    place.pass(2);
    assert_eq!([0, 1, 2].map(|node| place.is_critical(node)).iter().filter(|uses| **uses).count(), 2);
    place.pass(1_000);
    assert!(place.revoked.is_empty(), "leases are renewed");
    let user = [0, 1].into_iter().find(|&node| place.is_critical(node)).unwrap();
    place.release(user);
    place.pass(2 * VARIANT.times.beat.as_secs());
    assert_eq!([0, 1, 2].map(|node| place.is_critical(node)).iter().filter(|uses| **uses).count(), 2);
}

#[test]
fn nobody_says_anything_when_nobody_wants_anything() {
    let mut place = neighbourhood(4, 1, &[0, 1, 2, 3]);
    place.request(3);
    place.pass(1);
    place.release(3);
    place.pass(30);
    let sent = place.sent;
    place.pass(100_000);
    assert_eq!(place.sent, sent);
}

#[test]
fn the_crash_of_the_leader_is_survived_after_one_guard_time() {
    let mut place = neighbourhood(3, 1, &[0, 1, 2]);
    place.request(0);
    place.request(1);
    place.pass(1);
    assert!(place.is_critical(0));
    let before = place.fence(0);
    place.crash(0);
    let seconds = place.pass_until(|place| place.is_critical(1), regenerate_seconds());
    assert!(seconds + 1 >= VARIANT.times.lease.as_secs(), "not before the leases of the old leader have run out");
    assert_eq!(place.leaders().len(), 1);
    assert!(place.fence(1) > before, "a late holder would be refused");
}

#[test]
fn the_crash_of_a_leader_at_rest_is_survived_too() {
    let mut place = neighbourhood(4, 1, &[0, 1, 2, 3]);
    place.crash(0);
    place.pass(1_000);
    place.request(3);
    place.pass_until(|place| place.is_critical(3), regenerate_seconds());
}

#[test]
fn the_unit_of_a_user_that_has_crashed_is_free_after_a_guard_time() {
    let mut place = neighbourhood(3, 1, &[0, 1, 2]);
    place.request(2);
    place.pass(1);
    place.request(1);
    place.pass(1);
    assert!(place.is_critical(2));
    place.crash(2);
    let seconds = place.pass_until(|place| place.is_critical(1), reclaim_seconds());
    assert!(seconds + 1 >= VARIANT.times.lease.as_secs());
    assert_eq!(place.leaders(), [0], "the leader went on");
}

#[test]
fn two_sides_of_a_split_can_not_both_grant() {
    let mut place = neighbourhood(3, 1, &[0, 1, 2]);
    place.request(0);
    place.request(1);
    place.pass(1);
    assert!(place.is_critical(0));
    place.cut(&[0], &[1, 2]);
    // The oracle would object if the first had not stopped by then.
    place.pass_until(|place| place.is_critical(1), regenerate_seconds());
    assert_eq!(place.revoked, [0]);
    place.pass(1_000);
    assert!(place.is_critical(1) && !place.is_critical(0), "the larger side works, the smaller one does not");
}

#[test]
fn a_leader_that_was_cut_off_follows_when_it_is_back() {
    let mut place = neighbourhood(3, 1, &[0, 1, 2]);
    place.request(0);
    place.pass(1);
    place.cut(&[0], &[1, 2]);
    place.request(1);
    place.pass_until(|place| place.is_critical(1), 2 * regenerate_seconds());
    place.heal();
    place.pass(30);
    assert_eq!(place.leaders().len(), 1);
    assert!(!place.leaders().contains(&0));
    place.release(1);
    place.pass(30);
    assert!(place.is_critical(0), "it waits in the line of the new leader");
}

#[test]
fn what_is_lost_is_made_up_for_by_the_next_beat() {
    let mut place = neighbourhood(3, 1, &[0, 1, 2]);
    place.request(1);
    place.pass(1);
    place.release(1);
    place.pass(1);
    // Claim, grant and beat: whatever is said now between 0 and 2 is lost.
    place.cut(&[0], &[2]);
    place.request(2);
    place.pass(5);
    assert!(!place.is_critical(2));
    place.heal();
    place.pass_until(|place| place.is_critical(2), regenerate_seconds());
}

#[test]
fn a_leader_that_leaves_hands_its_token_over_and_nobody_notices() {
    let mut place = neighbourhood(4, 1, &[0, 1, 2, 3]);
    place.request(3);
    place.request(2);
    place.pass(2);
    let user = [2, 3].into_iter().find(|&node| place.is_critical(node)).unwrap();
    let (waiter, fence) = (5 - user, place.fence(user));
    place.leave(0);
    place.pass_until(|place| !place.is_inside(0), 4 * VARIANT.times.beat.as_secs());
    place.pass(30);
    assert_eq!((place.revoked.len(), place.fence(user)), (0, fence), "the lease was renewed by the new leader");
    assert_eq!(place.leaders().len(), 1);
    place.release(user);
    place.pass(2 * VARIANT.times.beat.as_secs());
    assert!(place.is_critical(waiter));
}

#[test]
fn a_copy_holder_that_leaves_is_replaced_first_so_that_a_crash_is_survived_afterwards() {
    let mut place = neighbourhood(4, 1, &[0, 1, 2, 3]);
    place.leave(1);
    place.pass_until(|place| !place.is_inside(1), 4 * VARIANT.times.beat.as_secs());
    place.crash(0);
    place.request(2);
    place.pass_until(|place| place.is_critical(2), 2 * regenerate_seconds());
}

#[test]
fn a_neighbourhood_may_shrink_to_nobody_and_begin_anew_under_greater_fences() {
    let mut place = neighbourhood(4, 1, &[0, 1, 2, 3]);
    place.request(2);
    place.pass(1);
    let fence = place.fence(2);
    place.release(2);
    for node in [0, 2, 1, 3] {
        place.leave(node);
        place.pass_until(|place| !place.is_inside(node), 8 * VARIANT.times.beat.as_secs());
    }
    place.join(1);
    place.request(1);
    place.pass(1);
    assert!(place.is_critical(1) && place.fence(1) > fence);
}

#[test]
fn with_two_members_the_crash_of_the_leader_stops_everything_and_breaks_nothing() {
    let mut place = neighbourhood(2, 1, &[0, 1]);
    place.request(0);
    place.request(1);
    place.pass(1);
    place.crash(0);
    place.pass(10_000);
    assert!(!place.is_critical(1), "it cannot know that it is alone");
    place.leave(1);
    place.pass_until(|place| !place.is_inside(1), VARIANT.farewell.as_secs() + 1);
}

#[test]
fn with_two_members_the_leader_goes_on_without_the_other() {
    let mut place = neighbourhood(2, 1, &[0, 1]);
    place.request(1);
    place.pass(1);
    assert!(place.is_critical(1));
    place.crash(1);
    place.request(0);
    let patience = VARIANT.times.beat.as_secs() * u64::from(VARIANT.care.patience + 2);
    place.pass_until(|place| place.is_critical(0), reclaim_seconds() + patience);
}

#[test]
fn who_comes_back_blank_is_not_taken_for_the_copy_holder_it_was() {
    let mut place = neighbourhood(3, 1, &[0, 1, 2]);
    place.request(0);
    place.pass(1);
    place.crash(1);
    place.join(1);
    // The new node 1 has forgotten to whom it is bound. If its vote counted, 1 and 2 could elect somebody at once.
    place.cut(&[0], &[1, 2]);
    place.request(2);
    place.pass(VARIANT.times.lease.as_secs() - 2);
    assert!(place.is_critical(0) && place.leaders() == [0]);
    place.pass(1_000);
    assert!(!place.is_critical(2), "two of three copies are gone");
}

#[test]
fn a_holder_that_sleeps_through_its_lease_is_told_before_it_does_anything() {
    let mut place = neighbourhood(3, 1, &[0, 1, 2]);
    place.request(1);
    place.pass(1);
    assert!(place.is_critical(1));
    place.pause(1);
    place.request(2);
    place.pass_until(|place| place.is_critical(2), reclaim_seconds());
    place.wake(1);
    assert!(!place.is_critical(1), "whatever comes next, it has stopped");
}

#[test]
fn a_leader_that_sleeps_too_long_grants_nothing_when_it_wakes() {
    let mut place = neighbourhood(3, 1, &[0, 1, 2]);
    place.request(1);
    place.pass(1);
    place.release(1);
    place.pass(1);
    place.pause(0);
    place.request(2);
    place.pass_until(|place| place.is_critical(2), 2 * regenerate_seconds());
    place.wake(0);
    place.request(0);
    place.pass(60);
    assert!(place.is_critical(2) && !place.is_critical(0));
}

#[test]
fn who_missed_the_last_beats_and_is_not_heard_asks_again() {
    let mut place = neighbourhood(4, 1, &[0, 1, 2, 3]);
    place.request(1);
    place.pass(2);
    // It does not hear that the leader goes to rest, and then is not heard itself.
    place.cut(&[0], &[3]);
    place.release(1);
    place.pass(2 * regenerate_seconds());
    place.request(3);
    place.pass(5);
    place.heal();
    place.pass_until(|place| place.is_critical(3), 2 * regenerate_seconds());
}

#[test]
fn a_leader_that_missed_an_election_is_heard_when_the_other_rests() {
    let mut place = neighbourhood(3, 1, &[0, 1, 2]);
    place.request(0);
    place.pass(1);
    place.cut(&[0], &[1, 2]);
    place.request(1);
    place.pass_until(|place| place.is_critical(1), 2 * regenerate_seconds());
    place.release(1);
    place.pass(2 * regenerate_seconds());
    place.heal();
    place.pass_until(|place| place.is_critical(0), 2 * regenerate_seconds());
}

/// It keeps a copy and wants a unit.
fn a_copy_holder_that_knows_only_members_who_have_gone_asks(rules: Repairs) {
    let mut place = Clocked::<KlmeFt>::new(6, 1, &[0, 1, 2, 3, 4, 5], VARIANT, rules);
    place.request(3);
    place.pass(1);
    place.request(2);
    // It keeps a copy, and does not hear that everybody else who did is replaced, nor that they are new when they are
    // back.
    place.cut(&[2], &[0, 1, 3, 4, 5]);
    place.pass(2 * reclaim_seconds());
    for former in [0, 1] {
        place.leave(former);
        place.pass(2 * reclaim_seconds());
        place.join(former);
        place.pass(2 * reclaim_seconds());
    }
    place.release(3);
    place.pass(2 * regenerate_seconds());
    place.heal();
    place.pass_until(|place| place.is_critical(2), 3 * regenerate_seconds());
}

#[test]
fn a_copy_holder_that_knows_only_members_who_have_gone_is_heard_by_those_who_came() {
    a_copy_holder_that_knows_only_members_who_have_gone_asks(Repairs::ALL);
}

#[test]
#[should_panic(expected = "it was not so")]
fn if_it_asked_only_for_votes_nobody_would_hear_it() {
    a_copy_holder_that_knows_only_members_who_have_gone_asks(Repairs::ALL.without(guard::ASK_ALL));
}

/// Node 2 leads and keeps no copy: it did not hear that it was struck off, nor that all went to rest, and was elected
/// anew. Nodes 0, 1 and 3 keep the copies.
fn led_from_outside(nodes: u32, rules: Repairs) -> Clocked<KlmeFt> {
    let members: Vec<_> = (0..nodes).collect();
    let mut place = Clocked::new(nodes, 1, &members, VARIANT, rules);
    place.request(1);
    place.pass(1);
    let others: Vec<_> = members.iter().copied().filter(|&node| node != 2).collect();
    place.cut(&[2], &others);
    place.deafen(4, 0);
    place.pass(2 * regenerate_seconds());
    place.release(1);
    place.pass(2 * regenerate_seconds());
    place.heal();
    place.pass_until(|place| place.leaders() == [2], 2 * regenerate_seconds());
    place.pass(5);
    place
}

/// Node 3 has not heard the leader for a while when it hands over to node 0, which does not hear that node 1 votes for
/// it. Only node 0 knows that node 4 uses the unit.
fn a_successor_that_is_not_heard(rules: Repairs) -> Clocked<KlmeFt> {
    let mut place = led_from_outside(5, rules);
    place.request(4);
    place.pass(2);
    assert!(place.is_critical(4));
    place.request(1);
    place.cut(&[3], &[0, 2]);
    place.deafen(1, 0);
    place.pass(15);
    place.leave(2);
    place.pass_until(|place| !place.is_inside(2), 15);
    place.pass(2);
    place.heal();
    place.pass(30);
    place
}

#[test]
fn who_voted_for_a_successor_that_was_not_heard_votes_for_no_other_meanwhile() {
    let mut place = a_successor_that_is_not_heard(Repairs::ALL);
    place.pass_until(|place| place.is_critical(1), 3 * regenerate_seconds());
}

#[test]
#[should_panic(expected = "safety")]
fn if_it_did_two_would_use_one_unit() {
    a_successor_that_is_not_heard(Repairs::ALL.without(guard::STAY_BOUND));
}

/// A copy holder missed that the leader handed over and that all went to rest, and wants nothing. Whether there is
/// silence in the end.
fn a_candidate_that_missed_an_election_comes_to_rest(rules: Repairs) -> bool {
    // Node 2 has a greater stay than node 1: under the same counter its number is the greater one.
    let mut place = Clocked::<KlmeFt>::new(4, 1, &[0, 2, 1, 3], VARIANT, rules);
    place.request(1);
    place.pass(1);
    place.cut(&[2], &[0, 1, 3]);
    place.release(1);
    place.leave(0);
    place.pass(2 * regenerate_seconds());
    place.heal();
    place.pass(4 * regenerate_seconds());
    let sent = place.sent;
    place.pass(10_000);
    place.sent == sent
}

#[test]
fn a_candidate_that_no_node_votes_for_hears_why() {
    assert!(a_candidate_that_missed_an_election_comes_to_rest(Repairs::ALL));
    assert!(!a_candidate_that_missed_an_election_comes_to_rest(Repairs::ALL.without(guard::STIR_BY_STAND)));
}

#[test]
fn a_leader_that_is_killed_and_comes_back_follows_another() {
    let mut place = neighbourhood(3, 1, &[0, 1, 2]);
    place.request(1);
    place.request(2);
    place.pass(1);
    let (user, waiter) = if place.is_critical(1) { (1, 2) } else { (2, 1) };
    place.restart(0);
    assert!(place.leaders().is_empty());
    place.pass_until(|place| place.is_critical(waiter) || place.is_critical(user), 2 * regenerate_seconds());
    place.pass_until(|place| place.leaders().len() == 1, regenerate_seconds());
    place.request(0);
    for _ in 0..3 {
        let [served] = [0, 1, 2].into_iter().filter(|&node| place.is_critical(node)).collect::<Vec<_>>()[..] else {
            panic!("one of them is served");
        };
        place.release(served);
        place.pass(3 * VARIANT.times.beat.as_secs());
    }
    assert!(![0, 1, 2].into_iter().any(|node| place.is_critical(node)), "all three were served");
}

#[test]
fn that_a_copy_holder_is_killed_and_comes_back_is_not_noticed() {
    let mut place = neighbourhood(3, 1, &[0, 1, 2]);
    place.request(2);
    place.pass(1);
    for _ in 0..5 {
        place.restart(1);
        place.pass(25);
    }
    assert!(place.is_critical(2) && place.revoked.is_empty() && place.leaders() == [0]);
    place.crash(0);
    place.request(1);
    place.pass_until(|place| place.leaders() == [1] || place.leaders() == [2], 2 * regenerate_seconds());
}

#[test]
fn all_are_killed_at_once_and_come_back() {
    let mut place = neighbourhood(4, 2, &[0, 1, 2, 3]);
    (0..4).for_each(|node| place.request(node));
    place.pass(2);
    let fences: Vec<_> = (0..4).filter(|&node| place.is_critical(node)).map(|node| place.fence(node)).collect();
    assert_eq!(fences.len(), 2);
    (0..4).for_each(|node| place.restart(node));
    place.pass(VARIANT.times.lease.as_secs());
    (0..4).for_each(|node| place.request(node));
    let uses = |place: &Clocked<KlmeFt>| (0..4).filter(|&node| place.is_critical(node)).collect::<Vec<_>>();
    place.pass_until(|place| uses(place).len() == 2, 3 * regenerate_seconds());
    assert!(uses(&place).iter().all(|&node| fences.iter().all(|fence| place.fence(node) > *fence)));
}

#[test]
fn an_application_that_outlives_its_node_shows_its_grant_and_keeps_its_unit() {
    let mut place = neighbourhood(3, 1, &[0, 1, 2]);
    place.request(1);
    place.pass(1);
    let fence = place.fence(1);
    place.request(2);
    place.restart(1);
    assert!(place.is_left(1) && !place.is_critical(1));
    place.pass(5);
    place.resume(1);
    place.pass(1_000);
    assert!(place.is_critical(1) && place.fence(1) == fence && place.revoked.is_empty(), "its lease is renewed");
    place.release(1);
    place.pass(2);
    assert!(place.is_critical(2));
}

#[test]
fn an_application_that_outlives_a_leader_keeps_its_unit_until_its_lease_ends() {
    let mut place = neighbourhood(3, 1, &[0, 1, 2]);
    place.request(0);
    place.pass(1);
    place.restart(0);
    place.resume(0);
    place.pass_until(|place| !place.is_critical(0), VARIANT.times.lease.as_secs() + 1);
    assert_eq!(place.revoked, [0], "nobody knows what it lent to itself");
    place.pass_until(|place| place.is_critical(0), 2 * regenerate_seconds());
}

/// Node 1 is killed while it uses the unit. Its application does not come back, but goes on; and another one asks.
fn a_user_comes_back_and_asks_anew(rules: Repairs) -> Clocked<KlmeFt> {
    let mut place = Clocked::<KlmeFt>::new(3, 1, &[0, 1, 2], VARIANT, rules);
    place.request(1);
    place.pass(1);
    place.request(2);
    place.restart(1);
    place.request(1);
    place.pass(VARIANT.times.lease.as_secs() - 2);
    place
}

#[test]
fn a_unit_is_free_only_when_an_application_of_an_earlier_life_has_stopped() {
    let mut place = a_user_comes_back_and_asks_anew(Repairs::ALL);
    assert!(place.is_left(1));
    place.pass_until(|place| place.is_critical(2), reclaim_seconds());
    assert!(!place.is_left(1));
    place.release(2);
    place.pass_until(|place| place.is_critical(1), 2 * VARIANT.times.beat.as_secs());
}

#[test]
#[should_panic(expected = "an application of an earlier life is inside")]
fn if_it_were_freed_by_asking_anew_two_would_use_it() {
    a_user_comes_back_and_asks_anew(Repairs::ALL.without(guard::QUIET));
}

/// Node 2 does not hear the leader, which uses the unit, and soon stands. Node 1 has heard it lately, and is killed.
fn a_bound_copy_holder_comes_back(rules: Repairs) -> Clocked<KlmeFt> {
    let mut place = Clocked::<KlmeFt>::new(3, 1, &[0, 1, 2], VARIANT, rules);
    place.request(0);
    place.pass(1);
    place.request(2);
    place.pass(1);
    place.cut(&[0], &[2]);
    place.pass(VARIANT.times.beat.as_secs() * 3);
    place.restart(1);
    place.cut(&[0], &[1]);
    place.pass(VARIANT.times.beat.as_secs() * 2);
    place
}

#[test]
fn a_copy_holder_is_bound_anew_when_it_comes_back() {
    let mut place = a_bound_copy_holder_comes_back(Repairs::ALL);
    assert!(place.is_critical(0) && place.leaders() == [0]);
    place.heal();
    place.release(0);
    place.pass_until(|place| place.is_critical(2), 3 * regenerate_seconds());
}

#[test]
#[should_panic(expected = "safety")]
fn if_it_were_free_two_would_use_one_unit() {
    a_bound_copy_holder_comes_back(Repairs::ALL.without(guard::BEGIN_BOND_ANEW));
}

#[test]
fn an_application_outlives_a_node_that_lost_its_disk_and_nobody_gets_its_unit() {
    let mut place = neighbourhood(3, 1, &[0, 1, 2]);
    place.request(2);
    place.pass(1);
    place.lose_disk(2);
    place.join(2);
    place.request(2);
    place.request(1);
    place.pass(VARIANT.times.lease.as_secs() - 2);
    assert!(place.is_left(2));
    place.pass_until(|place| place.is_critical(1) || place.is_critical(2), reclaim_seconds());
}

#[test]
fn an_application_that_comes_back_where_no_node_leads_any_more_is_served_anew() {
    let mut place = neighbourhood(2, 1, &[0, 1]);
    place.request(1);
    place.pass(1);
    place.restart(0);
    place.restart(1);
    place.resume(1);
    place.pass_until(|place| !place.is_critical(1), VARIANT.times.lease.as_secs() + 1);
    assert_eq!(place.revoked, [1], "no leader renews its lease");
    place.pass_until(|place| place.is_critical(1), 2 * regenerate_seconds());
}

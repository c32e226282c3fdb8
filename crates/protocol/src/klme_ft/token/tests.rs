//! The rules of the token by themselves: who is served, and how copy holders change.

use alloc::vec;

use super::*;
use crate::Stay;

const PATIENCE: u16 = 2;
const CARE: Care = Care { copies: 3, patience: PATIENCE };

fn member(id: u32) -> Member {
    Member { id: NodeId(id), stay: Stay(10 + u64::from(id)) }
}

/// A token whose copies these keep: settled, with the leader's and all others' acknowledgements of the latest beat.
fn token(holders: &[u32]) -> Token {
    let copy = Copy {
        number: LeaderNo { counter: 3, stay: Stay(10) },
        version: Version::default(),
        round: Round::default(),
        leader: NodeId(0),
        generation: Generation(0),
        holders: holders.iter().copied().map(member).collect(),
        queue: vec![],
    };
    let mut token = Token::new(copy.number, 2, &copy, &[], 0);
    token.settled = true;
    token.holders.iter_mut().for_each(|holder| holder.acknowledged = true);
    token
}

fn silence(token: &mut Token, id: u32) {
    let holder = token.holder(member(id)).unwrap();
    (holder.acknowledged, holder.missed) = (false, PATIENCE);
}

/// The next change in the middle of a beat, if nobody else could keep a copy.
fn next(token: &Token) -> Option<Change> {
    token.next_change(member(0), CARE, false, false)
}

#[test]
fn who_was_handed_a_unit_does_not_wait_for_one() {
    let of = |id: u32, permit: u8| Allocation {
        member: member(id),
        permit: permit.try_into().unwrap(),
        seal: token(&[0]).sealed.next(),
    };
    let copy = Copy {
        queue: vec![member(1), member(2), member(3)],
        ..token(&[0]).copy(member(0), Version::default(), Generation(0))
    };
    let heir = Token::new(copy.number, 2, &copy, &[of(2, 1)], 4);
    assert_eq!(heir.queue.iter().map(|waiter| waiter.member).collect::<Vec<_>>(), [member(1), member(3)]);
    assert_eq!((heir.free, heir.loans.len()), (Permits::first(1), 1));
}

#[test]
fn a_node_that_is_back_waits_in_the_place_of_its_former_stay() {
    let mut token = token(&[0]);
    let back = Member { stay: Stay(99), ..member(1) };
    token.enqueue(member(1), 0);
    token.enqueue(member(2), 0);
    token.enqueue(back, 1);
    let waiters = [Waiter { member: back, missed: 1 }, Waiter { member: member(2), missed: 0 }];
    assert_eq!(token.queue, waiters, "what the former stay has said does not count");
    token.enqueue(member(2), 1);
    assert_eq!(token.queue, waiters, "an earlier claim does not unsay a later one");
}

#[test]
fn what_was_said_under_a_beat_does_not_count_under_the_next() {
    let mut token = token(&[0, 1]);
    for id in 0..3 {
        token.enqueue(member(id), 0);
    }
    token.lend(4).unwrap();
    token.note(member(0), true, Want::Hold(token.sealed));
    assert!(token.loans[0].claimed);
    token.volunteer = Some(member(3));
    token.forget_answers(member(1));
    assert!(!token.loans[0].claimed, "its user may have crashed since");
    assert!(token.holders.iter().all(|holder| !holder.acknowledged));
    assert_eq!(token.queue.iter().map(|waiter| waiter.missed).collect::<Vec<_>>(), [0, 1], "the leader is there");
    assert_eq!(token.volunteer, None);
}

#[test]
fn those_who_were_silent_for_long_are_passed_over_and_others_are_waited_for() {
    let mut token = token(&[0]);
    for (id, missed) in [(1, SILENT), (2, 1), (3, 0)] {
        token.enqueue(member(id), missed);
    }
    assert_eq!(token.lend(4), None, "node 2 comes next, and may claim under this beat yet");
    assert!(token.has_waiter());
    token.enqueue(member(2), 0);
    assert_eq!(token.lend(4).map(|lent| lent.member), Some(member(2)));
    assert_eq!(token.lend(4).map(|lent| lent.member), Some(member(3)));
    assert_eq!(token.lend(4), None, "nothing is left");
    assert!(!token.queue.is_empty() && !token.has_waiter(), "node 1 may have gone");
}

#[test]
fn a_copy_holder_that_was_added_and_never_heard_is_struck_off_again() {
    let mut token = token(&[0, 1]);
    token.change(Some(Change::Add(member(2))));
    assert_eq!(next(&token), None, "it has time to answer");
    silence(&mut token, 2);
    assert_eq!(next(&token), Some(Change::Remove(member(2))));
    silence(&mut token, 1);
    assert_eq!(next(&token), None, "without a majority nothing is changed");
}

#[test]
fn before_a_change_is_settled_nobody_else_is_struck_off_or_added() {
    let mut token = token(&[0, 1, 2, 3]);
    silence(&mut token, 3);
    assert_eq!(next(&token), Some(Change::Remove(member(3))));
    token.settled = false;
    assert_eq!(next(&token), None);
    token.volunteer = Some(member(4));
    token.added = Some(member(1));
    assert_eq!(next(&token), None);
}

#[test]
fn a_volunteer_takes_the_place_of_a_leaver_or_of_a_silent_holder_and_of_no_other() {
    let with_volunteer = |change: &dyn Fn(&mut Token)| {
        let mut token = token(&[0, 1, 2]);
        token.volunteer = Some(member(3));
        change(&mut token);
        token.next_change(member(0), CARE, true, true)
    };
    assert_eq!(with_volunteer(&|_| {}), None, "three copies are enough");
    assert_eq!(with_volunteer(&|token| silence(token, 2)), Some(Change::Add(member(3))));
    assert_eq!(with_volunteer(&|token| token.holder(member(1)).unwrap().leaving = true), Some(Change::Add(member(3))));
    let with_a_fourth = |token: &mut Token| {
        token.holders.push(Holder { acknowledged: true, ..Holder::new(member(4)) });
        silence(token, 1);
        silence(token, 2);
    };
    assert_eq!(with_volunteer(&with_a_fourth), Some(Change::Remove(member(1))), "there is no fifth copy");
}

#[test]
fn a_silent_holder_is_struck_off_only_if_something_is_gained_by_it() {
    let of = |holders: &[u32], silent: u32, leaver: Option<u32>| {
        let mut token = token(holders);
        silence(&mut token, silent);
        if let Some(leaver) = leaver {
            token.holder(member(leaver)).unwrap().leaving = true;
        }
        next(&token)
    };
    assert_eq!(of(&[0, 1, 2], 2, None), None, "it may come back, and two of three are a majority");
    assert_eq!(of(&[0, 1, 2], 2, Some(1)), Some(Change::Remove(member(2))), "node 1 could not leave otherwise");
    assert_eq!(of(&[0, 1], 1, None), Some(Change::Remove(member(1))), "the leader can not do without it");
    assert_eq!(of(&[0, 1, 2, 3], 3, None), Some(Change::Remove(member(3))));
    assert_eq!(of(&[0, 1, 2, 3], 0, None), None, "the leader does not strike itself off");
}

#[test]
fn a_leaver_goes_when_the_others_had_time_to_help_and_the_leader_last() {
    let mut token = token(&[0, 1, 2]);
    token.holder(member(0)).unwrap().leaving = true;
    token.holder(member(1)).unwrap().leaving = true;
    assert_eq!(next(&token), Some(Change::Remove(member(1))));
    assert_eq!(token.next_change(member(0), CARE, true, true), None, "nobody was asked");
    token.has_asked = true;
    assert_eq!(token.next_change(member(0), CARE, true, false), None, "somebody may answer yet");
    assert_eq!(token.next_change(member(0), CARE, true, true), Some(Change::Remove(member(1))));
    token.change(Some(Change::Remove(member(1))));
    token.settled = true;
    assert_eq!(next(&token), Some(Change::Remove(member(0))));
    token.change(Some(Change::Remove(member(2))));
    token.settled = true;
    assert_eq!(next(&token), None, "the last copy is kept");
}

#[test]
fn missed_beats_count_where_something_could_be_done_about_them() {
    let missed = |holders: &[u32], could_help: bool, leaver: bool| {
        let mut token = token(holders);
        let last = token.holders.last_mut().unwrap();
        last.acknowledged = false;
        token.holders[0].leaving = leaver;
        token.pass_beat(PATIENCE, could_help);
        assert_eq!(token.holders[0].missed, 0, "it has answered");
        token.holders.last().unwrap().missed
    };
    assert_eq!(missed(&[0, 1, 2], false, false), 0);
    assert_eq!(missed(&[0, 1, 2], true, false), 1);
    assert_eq!(missed(&[0, 1, 2], false, true), 1);
    assert_eq!(missed(&[0, 1], false, false), 1);
}

#[test]
fn others_could_help_if_they_keep_no_copy() {
    let token = token(&[0, 1]);
    assert!(!token.knows_others(&[]));
    assert!(!token.knows_others(&[NodeId(1)]));
    assert!(token.knows_others(&[NodeId(1), NodeId(2)]));
    assert!(!token.knows_others(&[NodeId(0), NodeId(1)]));
}

#[test]
fn a_lease_that_has_run_out_for_certain_is_taken_back() {
    let mut token = token(&[0]);
    token.enqueue(member(1), 0);
    token.lend(2).unwrap();
    token.pass_beat(PATIENCE, false);
    assert_eq!(token.free, Permits::first(2).without(Permits::first(1)));
    token.pass_beat(PATIENCE, false);
    assert_eq!((token.free, token.loans.len()), (Permits::first(2), 0));
}

#[test]
fn claims_count_by_their_beat_and_their_seal() {
    let lent = || {
        let mut token = token(&[0]);
        token.enqueue(member(1), 0);
        let seal = token.lend(4).unwrap().seal;
        (token, seal)
    };
    let is_lent = |token: &Token| token.loans.len() == 1;
    let (mut token, seal) = lent();
    token.note(member(1), true, Want::Free(seal.next()));
    token.note(member(2), true, Want::Free(seal));
    token.note(member(1), false, Want::Wait);
    assert!(is_lent(&token) && token.queue.is_empty(), "its grant may be on its way");
    token.note(member(1), true, Want::Hold(seal.next()));
    token.note(member(1), false, Want::Hold(seal));
    assert!(!token.loans[0].claimed);
    token.note(member(1), true, Want::Hold(seal));
    assert!(token.loans[0].claimed);
    token.note(member(1), false, Want::Free(seal));
    assert!(!is_lent(&token), "what is given back is free, however late that is heard");
    let (mut token, _) = lent();
    token.note(member(1), true, Want::Wait);
    assert!(!is_lent(&token) && token.queue == [Waiter { member: member(1), missed: 0 }], "it did not get its grant");
}

#[test]
fn a_late_claim_of_one_that_uses_nothing_is_queued_and_not_served_under_this_beat() {
    let mut token = token(&[0]);
    token.note(member(1), false, Want::Wait);
    assert_eq!(token.queue, [Waiter { member: member(1), missed: 1 }]);
    token.note(member(2), true, Want::Nothing);
    assert_eq!((token.lend(4), token.queue.len()), (None, 1), "nothing was asked for");
}

#[test]
fn each_beat_that_is_missed_is_counted_up_to_a_limit() {
    let mut token = token(&[0, 1]);
    token.enqueue(member(3), 0);
    token.holder(member(1)).unwrap().acknowledged = false;
    let mut counted = || {
        token.pass_beat(PATIENCE, false);
        (token.queue[0].missed, token.holders[1].missed)
    };
    assert_eq!([counted(), counted(), counted()], [(1, 1), (2, 2), (2, 2)]);
}

#[test]
fn copies_are_wanted_when_fewer_than_three_are_sound() {
    let wants = |holders: &[u32], spoil: &dyn Fn(&mut Token)| {
        let mut token = token(holders);
        spoil(&mut token);
        token.wants_copies(CARE)
    };
    assert!(!wants(&[0, 1, 2], &|_| {}) && !wants(&[0, 1, 2, 3], &|_| {}));
    assert!(wants(&[0, 1], &|_| {}));
    assert!(wants(&[0, 1, 2], &|token| silence(token, 2)));
    assert!(wants(&[0, 1, 2], &|token| token.holders[2].leaving = true));
    assert!(!wants(&[0, 1, 2], &|token| token.holders[2].missed = PATIENCE - 1), "it may only be slow");
}

#[test]
fn a_new_token_relies_on_nobody_and_has_asked_nobody() {
    let copy = token(&[0, 1]).copy(member(0), Version::default(), Generation(0));
    let of =
        |id: u32| Allocation { member: member(id), permit: 0.try_into().unwrap(), seal: token(&[0]).sealed.next() };
    let new = Token::new(copy.number, 2, &copy, &[of(1)], 4);
    assert!(!new.settled && !new.has_asked && !new.loans[0].claimed);
    assert!(new.holders.iter().all(|holder| !holder.acknowledged && !holder.leaving && holder.missed == 0));
    assert!(!new.is_confirmed() && !new.has_leaver());
}

#[test]
fn who_leads_is_not_struck_off_as_a_leaver_before_a_leaver_that_does_not() {
    let mut token = token(&[0, 1, 2]);
    token.holder(member(0)).unwrap().leaving = true;
    assert_eq!(next(&token), Some(Change::Remove(member(0))));
    token.holder(member(2)).unwrap().leaving = true;
    assert_eq!(next(&token), Some(Change::Remove(member(2))));
    assert!(token.has_leaver());
}

//! How copy holders are heard of, and how they change.

use alloc::vec::Vec;

use super::*;
use crate::Stay;

const PATIENCE: u16 = 2;
const CARE: Care = Care { copies: 3, patience: PATIENCE };

fn member(id: u32) -> Member {
    Member { id: NodeId(id), stay: Stay(10 + u64::from(id)) }
}

fn new_term(holders: &[u32]) -> Term {
    let holders: Vec<_> = holders.iter().copied().map(member).collect();
    Term::new(LeaderNo { counter: 3, stay: Stay(10) }, Round::default(), &holders)
}

/// In which these keep copies: settled, with the leader's and all others' acknowledgements of the latest beat.
fn term(holders: &[u32]) -> Term {
    let mut term = new_term(holders);
    term.settled = true;
    term.holders.iter_mut().for_each(|holder| holder.acknowledged = true);
    term
}

fn silence(term: &mut Term, id: u32) {
    let holder = term.holder(member(id)).unwrap();
    (holder.acknowledged, holder.missed) = (false, PATIENCE);
}

/// The next change in the middle of a beat, if no other member could keep a copy.
fn next(term: &Term) -> Option<Change> {
    term.next_change(member(0), CARE, false, false)
}

#[test]
fn a_copy_holder_that_was_added_and_never_heard_is_struck_off_again() {
    let mut term = term(&[0, 1]);
    term.change(Some(Change::Add(member(2))));
    assert_eq!(next(&term), None, "it has time to answer");
    silence(&mut term, 2);
    assert_eq!(next(&term), Some(Change::Remove(member(2))));
    silence(&mut term, 1);
    assert_eq!(next(&term), None, "without a majority nothing is changed");
}

#[test]
fn before_a_change_is_settled_no_other_is_struck_off_or_added() {
    let mut term = term(&[0, 1, 2, 3]);
    silence(&mut term, 3);
    assert_eq!(next(&term), Some(Change::Remove(member(3))));
    term.settled = false;
    assert_eq!(next(&term), None);
    term.volunteer = Some(member(4));
    term.added = Some(member(1));
    assert_eq!(next(&term), None);
}

#[test]
fn a_volunteer_takes_the_place_of_a_leaver_or_of_a_silent_holder_and_of_no_other() {
    let with_volunteer = |change: &dyn Fn(&mut Term)| {
        let mut term = term(&[0, 1, 2]);
        term.volunteer = Some(member(3));
        change(&mut term);
        term.next_change(member(0), CARE, true, true)
    };
    assert_eq!(with_volunteer(&|_| {}), None, "three copies are enough");
    assert_eq!(with_volunteer(&|term| silence(term, 2)), Some(Change::Add(member(3))));
    assert_eq!(with_volunteer(&|term| term.holder(member(1)).unwrap().leaving = true), Some(Change::Add(member(3))));
    let with_a_fourth = |term: &mut Term| {
        term.holders.push(Holder { acknowledged: true, ..Holder::new(member(4)) });
        silence(term, 1);
        silence(term, 2);
    };
    assert_eq!(with_volunteer(&with_a_fourth), Some(Change::Remove(member(1))), "there is no fifth copy");
}

#[test]
fn a_silent_holder_is_struck_off_only_if_something_is_gained_by_it() {
    let of = |holders: &[u32], silent: u32, leaver: Option<u32>| {
        let mut term = term(holders);
        silence(&mut term, silent);
        if let Some(leaver) = leaver {
            term.holder(member(leaver)).unwrap().leaving = true;
        }
        next(&term)
    };
    assert_eq!(of(&[0, 1, 2], 2, None), None, "it may come back, and two of three are a majority");
    assert_eq!(of(&[0, 1, 2], 2, Some(1)), Some(Change::Remove(member(2))), "node 1 could not leave otherwise");
    assert_eq!(of(&[0, 1], 1, None), Some(Change::Remove(member(1))), "the leader cannot do without it");
    assert_eq!(of(&[0, 1, 2, 3], 3, None), Some(Change::Remove(member(3))));
    assert_eq!(of(&[0, 1, 2, 3], 0, None), None, "the leader does not strike itself off");
}

#[test]
fn a_leaver_goes_when_the_others_had_time_to_help_and_the_leader_last() {
    let mut term = term(&[0, 1, 2]);
    term.holder(member(0)).unwrap().leaving = true;
    term.holder(member(1)).unwrap().leaving = true;
    assert_eq!(next(&term), Some(Change::Remove(member(1))));
    assert_eq!(term.next_change(member(0), CARE, true, true), None, "nobody was asked");
    term.has_asked = true;
    assert_eq!(term.next_change(member(0), CARE, true, false), None, "somebody may answer yet");
    assert_eq!(term.next_change(member(0), CARE, true, true), Some(Change::Remove(member(1))));
    term.change(Some(Change::Remove(member(1))));
    term.settled = true;
    assert_eq!(next(&term), Some(Change::Remove(member(0))));
    term.change(Some(Change::Remove(member(2))));
    term.settled = true;
    assert_eq!(next(&term), None, "the last copy is kept");
}

#[test]
fn missed_beats_count_where_something_could_be_done_about_them() {
    let missed = |holders: &[u32], could_help: bool, leaver: bool| {
        let mut term = term(holders);
        let last = term.holders.last_mut().unwrap();
        last.acknowledged = false;
        term.holders[0].leaving = leaver;
        term.pass_beat(PATIENCE, could_help);
        assert_eq!(term.holders[0].missed, 0, "it has answered");
        term.holders.last().unwrap().missed
    };
    assert_eq!(missed(&[0, 1, 2], false, false), 0);
    assert_eq!(missed(&[0, 1, 2], true, false), 1);
    assert_eq!(missed(&[0, 1, 2], false, true), 1);
    assert_eq!(missed(&[0, 1], false, false), 1);
}

#[test]
fn others_could_help_if_they_keep_no_copy() {
    let term = term(&[0, 1]);
    assert!(!term.knows_others(&[]));
    assert!(!term.knows_others(&[NodeId(1)]));
    assert!(term.knows_others(&[NodeId(1), NodeId(2)]));
    assert!(!term.knows_others(&[NodeId(0), NodeId(1)]));
}

#[test]
fn copies_are_wanted_when_fewer_than_three_are_sound() {
    let wants = |holders: &[u32], spoil: &dyn Fn(&mut Term)| {
        let mut term = term(holders);
        spoil(&mut term);
        term.wants_copies(CARE)
    };
    assert!(!wants(&[0, 1, 2], &|_| {}) && !wants(&[0, 1, 2, 3], &|_| {}));
    assert!(wants(&[0, 1], &|_| {}));
    assert!(wants(&[0, 1, 2], &|term| silence(term, 2)));
    assert!(wants(&[0, 1, 2], &|term| term.holders[2].leaving = true));
    assert!(!wants(&[0, 1, 2], &|term| term.holders[2].missed = PATIENCE - 1), "it may only be slow");
}

#[test]
fn the_leader_is_not_struck_off_as_a_leaver_before_another_leaver() {
    let mut term = term(&[0, 1, 2]);
    term.holder(member(0)).unwrap().leaving = true;
    assert_eq!(next(&term), Some(Change::Remove(member(0))));
    term.holder(member(2)).unwrap().leaving = true;
    assert_eq!(next(&term), Some(Change::Remove(member(2))));
    assert!(term.has_leaver());
}

#[test]
fn what_was_said_under_a_beat_does_not_count_under_the_next() {
    let mut term = term(&[0, 1]);
    term.volunteer = Some(member(3));
    term.forget_answers();
    assert!(term.holders.iter().all(|holder| !holder.acknowledged));
    assert_eq!(term.volunteer, None);
}

#[test]
fn each_beat_that_is_missed_is_counted_up_to_a_limit() {
    let mut term = term(&[0, 1]);
    term.holder(member(1)).unwrap().acknowledged = false;
    let mut counted = || {
        term.pass_beat(PATIENCE, false);
        term.holders[1].missed
    };
    assert_eq!([counted(), counted(), counted()], [1, 2, 2]);
}

#[test]
fn a_new_leader_relies_on_no_copy_holder_and_has_asked_none() {
    let new = new_term(&[0, 1]);
    assert!(!new.settled && !new.has_asked && !new.is_confirmed() && !new.has_leaver());
    assert!(new.holders.iter().all(|holder| !holder.acknowledged && !holder.leaving && holder.missed == 0));
}

//! The rules of the books by themselves: which member is served.

use super::*;
use crate::Stay;

fn member(id: u32) -> Member {
    Member { id: NodeId(id), stay: Stay(10 + u64::from(id)) }
}

/// Of a leader with two units.
fn books() -> Books {
    Books::new(LeaderNo { counter: 3, stay: Stay(10) }, 2, &[], &[], 0)
}

#[test]
fn a_member_that_was_handed_a_unit_does_not_wait_for_one() {
    let of = |id: u32, permit: u8| Allocation {
        member: member(id),
        permit: permit.try_into().unwrap(),
        seal: books().sealed.next(),
    };
    let queue = [1, 2, 3].map(member);
    let heir = Books::new(LeaderNo { counter: 4, stay: Stay(11) }, 2, &queue, &[of(2, 1)], 4);
    assert_eq!(heir.queue.iter().map(|waiter| waiter.member).collect::<Vec<_>>(), [member(1), member(3)]);
    assert_eq!((heir.free, heir.loans.len()), (Permits::first(1), 1));
}

#[test]
fn a_node_that_is_back_waits_in_the_place_of_its_former_stay() {
    let mut books = books();
    let back = Member { stay: Stay(99), ..member(1) };
    books.enqueue(member(1), 0);
    books.enqueue(member(2), 0);
    books.enqueue(back, 1);
    let waiters = [Waiter { member: back, missed: 1 }, Waiter { member: member(2), missed: 0 }];
    assert_eq!(books.queue, waiters, "what the former stay has said does not count");
    books.enqueue(member(2), 1);
    assert_eq!(books.queue, waiters, "an earlier claim does not unsay a later one");
}

#[test]
fn waiters_that_were_silent_for_long_are_passed_over_and_others_are_waited_for() {
    let mut books = books();
    for (id, missed) in [(1, SILENT), (2, 1), (3, 0)] {
        books.enqueue(member(id), missed);
    }
    assert_eq!(books.lend(4), None, "node 2 comes next, and may claim under this beat yet");
    assert!(books.has_waiter());
    books.enqueue(member(2), 0);
    assert_eq!(books.lend(4).map(|lent| lent.member), Some(member(2)));
    assert_eq!(books.lend(4).map(|lent| lent.member), Some(member(3)));
    assert_eq!(books.lend(4), None, "nothing is left");
    assert!(!books.queue.is_empty() && !books.has_waiter(), "node 1 may have gone");
}

#[test]
fn a_lease_that_has_run_out_for_certain_is_taken_back() {
    let mut books = books();
    books.enqueue(member(1), 0);
    books.lend(2).unwrap();
    books.pass_beat();
    assert_eq!(books.free, Permits::first(2).without(Permits::first(1)));
    books.pass_beat();
    assert_eq!((books.free, books.loans.len()), (Permits::first(2), 0));
}

#[test]
fn claims_count_by_their_beat_and_their_seal() {
    let lent = || {
        let mut books = books();
        books.enqueue(member(1), 0);
        let seal = books.lend(4).unwrap().seal;
        (books, seal)
    };
    let is_lent = |books: &Books| books.loans.len() == 1;
    let (mut books, seal) = lent();
    books.note(member(1), true, Want::Free(seal.next()));
    books.note(member(2), true, Want::Free(seal));
    books.note(member(1), false, Want::Wait);
    assert!(is_lent(&books) && books.queue.is_empty(), "its grant may be on its way");
    books.note(member(1), true, Want::Hold(seal.next()));
    books.note(member(1), false, Want::Hold(seal));
    assert!(!books.loans[0].claimed);
    books.note(member(1), true, Want::Hold(seal));
    assert!(books.loans[0].claimed);
    books.note(member(1), false, Want::Free(seal));
    assert!(!is_lent(&books), "what is given back is free, however late that is heard");
    let (mut books, _) = lent();
    books.note(member(1), true, Want::Wait);
    assert!(!is_lent(&books) && books.queue == [Waiter { member: member(1), missed: 0 }], "it did not get its grant");
}

#[test]
fn a_late_claim_of_one_that_uses_nothing_is_queued_and_not_served_under_this_beat() {
    let mut books = books();
    books.note(member(1), false, Want::Wait);
    assert_eq!(books.queue, [Waiter { member: member(1), missed: 1 }]);
    books.note(member(2), true, Want::Nothing);
    assert_eq!((books.lend(4), books.queue.len()), (None, 1), "nothing was asked for");
}

#[test]
fn what_was_said_under_a_beat_does_not_count_under_the_next() {
    let mut books = books();
    for id in 0..3 {
        books.enqueue(member(id), 0);
    }
    books.lend(4).unwrap();
    books.note(member(0), true, Want::Hold(books.sealed));
    assert!(books.loans[0].claimed);
    books.forget_claims(member(1));
    assert!(!books.loans[0].claimed, "its user may have crashed since");
    assert_eq!(books.queue.iter().map(|waiter| waiter.missed).collect::<Vec<_>>(), [0, 1], "the leader is there");
}

#[test]
fn each_beat_that_a_waiter_misses_is_counted_up_to_a_limit() {
    let mut books = books();
    books.enqueue(member(3), 0);
    let mut counted = || {
        books.pass_beat();
        books.queue[0].missed
    };
    assert_eq!([counted(), counted(), counted()], [1, 2, 2]);
}

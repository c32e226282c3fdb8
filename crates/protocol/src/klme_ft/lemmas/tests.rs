//! Moments with one thing wrong: the lemma that is there for it says so, and says nothing of what is sound.

use alloc::vec;

use super::*;
use crate::klme_ft::books::{Loan, Waiter};
use crate::klme_ft::tests::{books, permit, term};
use crate::klme_ft::{Variant, Want};
use crate::tenure::{Candidacy, LeaderNo};
use crate::{Demand, Deployment, Flight, Protocol, Repairs, Stay};

/// Four members share two units. Node 0 leads and has lent unit 0 to node 1, which uses it; node 2 waits.
fn busy() -> [KlmeFt; 4] {
    let members = (0..4).map(NodeId).collect();
    let deployment = Deployment { nodes: 4, k: 2, members, ..Deployment::default() };
    let mut nodes: [KlmeFt; 4] = KlmeFt::deploy(&deployment, Variant::SMALL, Repairs::ALL).try_into().unwrap();
    let (user, waiter) = (nodes[1].chair.me(), nodes[2].chair.me());
    let books = books(&mut nodes[0]);
    let seal = books.sealed.next();
    (books.sealed, books.free) = (seal, Permits::single(permit(1)));
    books.loans.push(Loan {
        allocation: Allocation { member: user, permit: permit(0), seal },
        left: 2,
        claimed: false,
    });
    books.queue.push(Waiter { member: waiter, missed: 0 });
    nodes[1].desk.usage = using(permit(0), seal);
    nodes
}

fn using(permit: Permit, seal: Seal) -> Usage {
    Usage::Using { demand: Demand::ONE, permit, seal, lease: false, claimed: false }
}

fn moment<'a>(nodes: &'a [KlmeFt; 4], message: Option<&'a Message>) -> Moment<'a, KlmeFt> {
    let flight = message.map(|message| Flight { from: NodeId(0), to: NodeId(3), message });
    Moment { nodes: nodes.iter().collect(), flights: flight.into_iter().collect() }
}

#[track_caller]
fn is_said_of(words: &str, nodes: &[KlmeFt; 4], message: Option<&Message>) {
    let said = hold(&moment(nodes, message)).expect_err(words);
    assert!(said.contains(words), "{said}");
}

#[track_caller]
fn is_said(words: &str, spoil: impl FnOnce(&mut [KlmeFt; 4])) {
    let mut nodes = busy();
    spoil(&mut nodes);
    is_said_of(words, &nodes, None);
}

#[test]
fn a_sound_moment_is_sound() {
    assert_eq!(hold(&moment(&busy(), None)), Ok(()));
}

/// What the worlds ask the algorithm is what is tried here.
#[test]
fn the_algorithm_answers_by_its_lemmas() {
    let sound = busy();
    assert_eq!(KlmeFt::invariant(&moment(&sound, None)), Ok(()));
    assert!(KlmeFt::is_ready_for_crash(&moment(&sound, None)));
    let mut wrong = busy();
    books(&mut wrong[0]).free = Permits::first(2);
    term(&mut wrong[0]).settled = false;
    let moment = moment(&wrong, None);
    assert!(!KlmeFt::is_ready_for_crash(&moment));
    assert_eq!(KlmeFt::invariant(&moment), hold(&moment));
    assert!(hold(&moment).is_err());
}

#[test]
fn the_leader_has_the_token_and_all_units_are_in_its_books() {
    let nodes = busy();
    assert_eq!(nodes.each_ref().map(Protocol::has_token), [true, false, false, false]);
    assert_eq!(nodes.each_ref().map(Protocol::held), [Permits::NONE; 4]);
    assert_eq!(KlmeFt::returning(&moment(&nodes, None)), Permits::first(2));
    let nobody = Moment::<KlmeFt> { nodes: vec![], flights: vec![] };
    assert_eq!(KlmeFt::returning(&nobody), Permits::NONE);
}

#[test]
fn every_unit_is_free_or_lent_once() {
    is_said("unit {0} is in the books of leader 0 twice", |nodes| books(&mut nodes[0]).free = Permits::first(2));
    is_said("unit {0} is in the books of leader 0 twice", |nodes| {
        let (other, books) = (nodes[3].chair.me(), books(&mut nodes[0]));
        let mut again = books.loans[0];
        (again.allocation.member, again.allocation.seal) = (other, books.sealed.next());
        books.loans.push(again);
    });
    is_said("leader 0 knows of {0} only", |nodes| books(&mut nodes[0]).free = Permits::NONE);
    is_said("leader 0 knows of {0, 1, 2} only", |nodes| {
        books(&mut nodes[0]).free = Permits::first(3).without(Permits::first(1));
    });
}

#[test]
fn no_member_is_in_the_books_twice_under_any_heading() {
    is_said("leader 0 has node 1 in its books twice", |nodes| {
        let user = nodes[1].chair.me();
        books(&mut nodes[0]).queue.push(Waiter { member: user, missed: 0 });
    });
    is_said("leader 0 has node 2 in its books twice", |nodes| {
        let waiter = books(&mut nodes[0]).queue[0];
        books(&mut nodes[0]).queue.push(waiter);
    });
    is_said("leader 0 has node 2 in its books twice", |nodes| {
        let (other, books) = (nodes[3].chair.me(), books(&mut nodes[0]));
        books.queue.extend([Waiter { member: other, missed: 0 }, books.queue[0]]);
    });
}

#[test]
fn no_two_lead_under_one_number() {
    is_said("nodes 0 and 3 lead under the same number", |nodes| {
        (nodes[3].chair.role, nodes[3].desk.books) = (nodes[0].chair.role.clone(), nodes[0].desk.books.clone());
    });
    let mut nodes = busy();
    (nodes[3].chair.role, nodes[3].desk.books) = (nodes[0].chair.role.clone(), nodes[0].desk.books.clone());
    let me = nodes[3].chair.me();
    let term = term(&mut nodes[3]);
    term.number = LeaderNo { counter: term.number.counter + 1, stay: me.stay };
    assert_eq!(hold(&moment(&nodes, None)), Ok(()), "an earlier leader may not know of the later one yet");
}

#[test]
fn a_seal_is_of_one_unit_and_one_node_wherever_it_is_known() {
    let same_seal = "were granted a unit under the same seal";
    let (nodes, Usage::Using { seal, .. }) = (busy(), busy()[1].desk.usage) else { panic!("node 1 uses a unit") };
    is_said(same_seal, |nodes| nodes[3].desk.usage = using(permit(0), seal));
    is_said(same_seal, |nodes| nodes[1].desk.usage = using(permit(1), seal));
    is_said(same_seal, |nodes| {
        (nodes[2].desk.usage, nodes[3].desk.usage) = (using(permit(1), seal.next()), using(permit(0), seal));
    });
    let number = term(&mut nodes.clone()[0]).number;
    let stranger = Allocation { member: nodes[3].chair.me(), permit: permit(0), seal };
    is_said(same_seal, |nodes| {
        let inheritance = Some((number, vec![stranger]));
        nodes[2].chair.role = Role::Candidate(Candidacy { number: number.next(Stay(2)), votes: vec![], inheritance });
    });
    let round = crate::tenure::Round::default();
    let grant = Message::Grant { number, round, permit: permit(0), seal, renews: false };
    is_said_of(same_seal, &nodes, Some(&grant));
    is_said_of(same_seal, &nodes, Some(&Message::Token { number, allocated: vec![stranger] }));
    let later = Message::Grant { number, round, permit: permit(0), seal: seal.next(), renews: false };
    assert_eq!(hold(&moment(&nodes, Some(&later))), Ok(()), "another grant of the same unit");
}

#[test]
fn a_node_may_crash_if_the_copies_of_the_others_are_a_majority() {
    let survives = |change: &dyn Fn(&mut [KlmeFt; 4])| {
        let mut nodes = busy();
        change(&mut nodes);
        can_lose_a_node(&moment(&nodes, None))
    };
    assert!(survives(&|_| {}));
    assert!(!survives(&|nodes| term(&mut nodes[0]).settled = false), "no majority has said so yet");
    assert!(!survives(&|nodes| nodes[2].chair.leaving = true), "a copy is about to go");
    assert!(!survives(&|nodes| nodes[1].chair.stay = None), "a copy has gone");
    assert!(!survives(&|nodes| nodes[1].chair.stay = Some(Stay(9))), "it has come back and knows nothing");
    assert!(!survives(&|nodes| _ = term(&mut nodes[0]).holders.pop()), "there are two");
    assert!(!survives(&|nodes| nodes[0].chair.role = Role::Follower), "nobody leads");
    assert!(survives(&|nodes| nodes[3].chair.leaving = true), "it keeps no copy");
    let with_a_vote_for_another = |nodes: &mut [KlmeFt; 4]| {
        let number = term(&mut nodes[0]).number.next(Stay(3));
        nodes[2].chair.promise.loosen();
        nodes[2].chair.promise.vote(number);
    };
    assert!(!survives(&with_a_vote_for_another), "a holder has turned away from the leader");
    let with_a_later_leader = |nodes: &mut [KlmeFt; 4]| {
        (nodes[3].chair.role, nodes[3].desk.books) = (nodes[0].chair.role.clone(), nodes[0].desk.books.clone());
        let term = term(&mut nodes[3]);
        term.number.counter += 1;
        term.settled = false;
    };
    assert!(!survives(&with_a_later_leader), "the latest leader's copies count");
}

#[test]
fn no_node_may_crash_while_the_leader_is_about_to_give_a_copy_to_one_that_has_gone() {
    let mut nodes = busy();
    let gone = nodes[3].chair.me();
    (term(&mut nodes[0]).has_asked, term(&mut nodes[0]).volunteer) = (true, Some(gone));
    assert!(can_lose_a_node(&moment(&nodes, None)));
    nodes[3].chair.stay = None;
    assert!(!can_lose_a_node(&moment(&nodes, None)), "it has offered to keep a copy");

    term(&mut nodes[0]).volunteer = None;
    let (number, round) = (term(&mut nodes[0]).number, term(&mut nodes[0]).round);
    let survives = |nodes: &[KlmeFt; 4], round| {
        let offer =
            Message::Claim { stay: gone.stay, number: Some(number), round, want: Want::Nothing, leaving: false };
        let flights = vec![Flight { from: gone.id, to: NodeId(0), message: &offer }];
        can_lose_a_node(&Moment { nodes: nodes.iter().collect(), flights })
    };
    assert!(!survives(&nodes, round), "its offer is on its way");
    assert!(survives(&nodes, round.next()), "it answers another beat");
    term(&mut nodes[0]).has_asked = false;
    assert!(survives(&nodes, round), "nobody was asked");
}

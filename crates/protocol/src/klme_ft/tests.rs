//! One node at a time: what it says and does about what it hears. Here, how it comes and goes; and what the tests of
//! its parts have in common.

mod elections;

use alloc::vec;

use super::books::{Loan, Waiter};
use super::*;
use crate::tenure::{Role, Term, Version};
use crate::{Effect, Grant, Outbox};

pub(super) type Effects = Vec<Effect<Message, Timer>>;

pub(super) const BEAT: Duration = Variant::USUAL.times.beat;
pub(super) const LEASE: Duration = Variant::USUAL.times.lease;
pub(super) const FAREWELL: Duration = Variant::USUAL.farewell;
/// Forty seconds of beat and lease, one percent more, and the margin.
pub(super) const BOND: Duration = Duration::from_millis(40_900);

/// The number that node 0 leads under.
pub(super) const FIRST: LeaderNo = LeaderNo { counter: 1, stay: Stay(0) };

/// That a newcomer begins; klme-ft does not ask which it is.
const LIFE: Incarnation = Incarnation(9);

const CHARTER: Charter<Variant> = Charter::new(2, Variant::USUAL, Repairs::ALL);

/// One of five members that share two units. Node 0 leads, nodes 0 to 2 keep copies, and all rest.
pub(super) fn node_with(id: usize, rules: Repairs) -> KlmeFt {
    let members = (0..5).map(NodeId).collect();
    let deployment = Deployment { nodes: 5, k: 2, members, ..Deployment::default() };
    KlmeFt::deploy(&deployment, Variant::USUAL, rules).swap_remove(id)
}

pub(super) fn node(id: usize) -> KlmeFt {
    node_with(id, Repairs::ALL)
}

pub(super) fn member(id: u32) -> Member {
    Member { id: NodeId(id), stay: Stay(id.into()) }
}

/// Node 0, which has sent its first beat, has acknowledged it itself, and has heard nothing yet.
pub(super) fn awake_with(rules: Repairs) -> KlmeFt {
    let mut leader = node_with(0, rules);
    done(|out| leader.chair.begin_round(false, &mut leader.desk, out));
    leader
}

pub(super) fn awake() -> KlmeFt {
    awake_with(Repairs::ALL)
}

/// Node 0, to which a majority is bound.
pub(super) fn confirmed() -> KlmeFt {
    let mut leader = awake();
    term(&mut leader).holders[1].acknowledged = true;
    leader
}

/// Another node, which has heard node 0's first beat.
pub(super) fn follower_with(id: usize, rules: Repairs) -> KlmeFt {
    let mut node = node_with(id, rules);
    done(|out| node.on_beat(NodeId(0), copy_of(&awake()), false, false, out));
    node
}

pub(super) fn follower(id: usize) -> KlmeFt {
    follower_with(id, Repairs::ALL)
}

pub(super) fn copy_of(node: &KlmeFt) -> Copy {
    node.chair.copy.clone().unwrap()
}

pub(super) fn books(node: &mut KlmeFt) -> &mut Books {
    node.desk.books.as_mut().expect("it leads")
}

pub(super) fn term(node: &mut KlmeFt) -> &mut Term {
    match &mut node.chair.role {
        Role::Leader(term) => term,
        _ => panic!("node {} leads", node.chair.id),
    }
}

pub(super) fn loans(leader: &mut KlmeFt) -> Vec<Loan> {
    books(leader).loans.clone()
}

pub(super) fn permit(number: u8) -> Permit {
    number.try_into().unwrap()
}

pub(super) fn seal() -> Seal {
    Seal::first(FIRST).next()
}

pub(super) const WAITING: Usage = Usage::Waiting { demand: Demand::ONE, claimed: false };

/// It uses unit 0 by node 0's first grant.
pub(super) fn using(lease: bool, claimed: bool) -> Usage {
    Usage::Using { demand: Demand::ONE, permit: permit(0), seal: seal(), lease, claimed }
}

/// The leader has lent unit 0 by its first grant.
pub(super) fn lend_to(user: u32, leader: &mut KlmeFt) {
    let books = books(leader);
    books.enqueue(member(user), 0);
    books.lend(5).unwrap();
}

/// What is done about something.
pub(super) fn done(about: impl FnOnce(&mut Out<KlmeFt>)) -> Effects {
    let mut out = Outbox::new();
    about(&mut out);
    out.drain().collect()
}

/// What a node does about a message.
pub(super) fn told(node: &mut KlmeFt, from: u32, message: Message) -> Effects {
    done(|out| node.message(NodeId(from), message, out))
}

/// What a member says in its first stay about the latest beat that `hearer` knows.
pub(super) fn claim(hearer: &KlmeFt, from: u32, want: Want) -> Message {
    let (number, round) = copy_of(hearer).beat();
    Message::Claim { stay: Stay(from.into()), number: Some(number), round, want, leaving: false }
}

/// Likewise, of one that is about to leave.
pub(super) fn farewell(hearer: &KlmeFt, from: u32) -> Message {
    let (number, round) = copy_of(hearer).beat();
    Message::Claim { stay: Stay(from.into()), number: Some(number), round, want: Want::Nothing, leaving: true }
}

/// What a leader does about a claim under its latest beat.
pub(super) fn claimed(leader: &mut KlmeFt, from: u32, want: Want) -> Effects {
    let message = claim(leader, from, want);
    told(leader, from, message)
}

pub(super) fn send(to: u32, message: Message) -> Effect<Message, Timer> {
    Effect::Send { to: NodeId(to), message, shared: false }
}

/// The same once more, to another.
pub(super) fn again(to: u32, message: Message) -> Effect<Message, Timer> {
    Effect::Send { to: NodeId(to), message, shared: true }
}

pub(super) fn broadcast(message: Message) -> Effect<Message, Timer> {
    Effect::Broadcast { message }
}

pub(super) fn arm(timer: Timer, after: Duration) -> Effect<Message, Timer> {
    Effect::Arm { timer, after }
}

pub(super) fn disarm(timer: Timer) -> Effect<Message, Timer> {
    Effect::Disarm { timer }
}

/// The application is let in, to unit 0 by node 0's first grant.
pub(super) fn entered() -> Effect<Message, Timer> {
    Effect::Grant(Grant { permits: Permits::first(1), fence: seal().fence(Generation(0)) })
}

/// What a node does that goes.
pub(super) fn departure() -> Effects {
    let timers = [Timer::Beat, Timer::Silence, Timer::Lease(false), Timer::Lease(true), Timer::Farewell];
    timers.map(disarm).into_iter().chain([Effect::Depart]).collect()
}

/// The beat that the leader has sent last.
pub(super) fn latest_beat(leader: &KlmeFt, wanted: bool) -> Effect<Message, Timer> {
    broadcast(Message::Beat { copy: copy_of(leader), wanted, rests: leader.chair.rests })
}

fn crossed(node: &mut KlmeFt, view: Crossing) -> Effects {
    done(|out| node.below(view, out))
}

/// One that is nowhere yet.
fn nowhere() -> KlmeFt {
    KlmeFt::blank(NodeId(3), &CHARTER)
}

#[test]
fn the_first_to_come_leads_with_the_only_copy() {
    let mut node = nowhere();
    let effects = crossed(&mut node, Crossing::Entered { stay: Stay(7), life: LIFE, members: vec![], founds: Some(4) });
    let number = LeaderNo { counter: 1, stay: Stay(7) };
    let own = Member { id: NodeId(3), stay: Stay(7) };
    let (round, generation, version) = (Round::default().next(), Generation(4), Version::default());
    let copy = Copy { number, version, round, leader: NodeId(3), generation, holders: vec![own], rides: vec![] };
    let beat = Message::Beat { copy, wanted: false, rests: false };
    let silence = arm(Timer::Silence, BOND);
    assert_eq!(effects, [silence.clone(), broadcast(beat), arm(Timer::Beat, BEAT), silence], "it is its own majority");
    assert!(node.chair.leads() && node.chair.promise.number() == Some(number));
}

#[test]
fn a_newcomer_asks_all_others_for_what_it_wants_and_says_nothing_otherwise() {
    let members = vec![(NodeId(0), Incarnation(0)), (NodeId(1), Incarnation(1))];
    let mut node = nowhere();
    assert_eq!(
        crossed(&mut node, Crossing::Entered { stay: Stay(7), life: LIFE, members: members.clone(), founds: None }),
        []
    );
    assert_eq!(node.chair.others, [NodeId(0), NodeId(1)]);
    let mut node = nowhere();
    assert_eq!(done(|out| node.request(Demand::ONE, out)), [], "it is nowhere");
    let (number, round) = (None, Round::default());
    let asks = Message::Claim { stay: Stay(7), number, round, want: Want::Wait, leaving: false };
    let effects = crossed(&mut node, Crossing::Entered { stay: Stay(7), life: LIFE, members, founds: None });
    assert_eq!(effects, [broadcast(asks), arm(Timer::Silence, BOND)]);
}

#[test]
fn a_newcomer_that_has_heard_nothing_keeps_no_copy_and_goes_at_once() {
    let mut node = nowhere();
    let members = vec![(NodeId(0), Incarnation(0))];
    crossed(&mut node, Crossing::Entered { stay: Stay(7), life: LIFE, members, founds: None });
    assert!(!node.chair.is_holder());
    assert_eq!(crossed(&mut node, Crossing::Leaving), departure());
}

#[test]
fn the_latest_beat_is_known_to_a_member_that_has_heard_one() {
    let node = follower(3);
    let (number, round) = copy_of(&node).beat();
    assert!(node.chair.is_latest_beat(Some(number), round));
    assert!(!node.chair.is_latest_beat(Some(number), round.next()) && !node.chair.is_latest_beat(None, round));
    assert!(!nowhere().chair.is_latest_beat(Some(number), round));
}

#[test]
fn a_newcomer_learns_from_a_beat_who_leads() {
    let mut leader = node(0);
    let newcomer = || Crossing::Met { peer: NodeId(5), life: LIFE };
    let effects = crossed(&mut leader, newcomer());
    assert_eq!(effects[0], latest_beat(&leader, false));
    assert_eq!(leader.chair.others, [1, 2, 3, 4, 5].map(NodeId));
    assert_eq!(crossed(&mut leader, newcomer()), [], "the next beat is due soon");
    assert_eq!(leader.chair.others, [1, 2, 3, 4, 5].map(NodeId), "it is known already");
    let mut other = node(1);
    assert_eq!(crossed(&mut other, newcomer()), [], "node 0 tells it");
    assert_eq!(other.chair.others, [0, 2, 3, 4, 5].map(NodeId));
}

#[test]
fn a_member_that_has_gone_is_not_counted_on() {
    let parted = |rules: Repairs| {
        let mut leader = awake_with(rules);
        books(&mut leader).enqueue(member(1), 0);
        books(&mut leader).enqueue(member(2), 0);
        term(&mut leader).volunteer = Some(member(4));
        assert_eq!(crossed(&mut leader, Crossing::Parted { peer: NodeId(1) }), []);
        assert_eq!(crossed(&mut leader, Crossing::Parted { peer: NodeId(3) }), []);
        assert_eq!(term(&mut leader).volunteer, Some(member(4)), "others have gone");
        assert_eq!(crossed(&mut leader, Crossing::Parted { peer: NodeId(4) }), []);
        leader
    };
    let mut leader = parted(Repairs::ALL);
    assert_eq!(leader.chair.others, [NodeId(2)]);
    assert_eq!(books(&mut leader).queue, [Waiter { member: member(2), missed: 0 }]);
    assert_eq!(term(&mut leader).volunteer, None);
    let patience = Variant::USUAL.care.patience;
    assert_eq!(term(&mut leader).holders.iter().map(|holder| holder.missed).collect::<Vec<_>>(), [0, patience, 0]);
    assert_eq!(term(&mut parted(Repairs::ALL.without(guard::FORGET_VOLUNTEER))).volunteer, Some(member(4)));
}

#[test]
fn a_leader_that_is_about_to_leave_goes_when_it_is_alone() {
    let alone = |leaving: bool| {
        let mut leader = awake();
        (leader.chair.leaving, leader.chair.others) = (leaving, vec![NodeId(1)]);
        crossed(&mut leader, Crossing::Parted { peer: NodeId(1) })
    };
    assert_eq!((alone(true), alone(false)), (departure(), vec![]));
    let mut leader = awake();
    leader.chair.leaving = true;
    assert_eq!(crossed(&mut leader, Crossing::Parted { peer: NodeId(1) }), [], "others are there");
    leader.chair.others.clear();
    assert_eq!(crossed(&mut leader, Crossing::Leaving), departure());
    let mut other = follower(1);
    (other.chair.leaving, other.chair.others) = (true, vec![NodeId(0)]);
    assert_eq!(crossed(&mut other, Crossing::Parted { peer: NodeId(0) }), [], "its copy may be needed");
}

#[test]
fn a_member_that_no_leader_counts_on_goes_at_once() {
    assert_eq!(crossed(&mut follower(3), Crossing::Leaving), departure());
    let mut asked = follower(3);
    asked.chair.asked = true;
    let says = farewell(&asked, 3);
    assert_eq!(crossed(&mut asked, Crossing::Leaving), [arm(Timer::Farewell, FAREWELL), send(0, says)]);
    assert!(asked.chair.leaving, "it may have been chosen to keep a copy");
    let mut holder = follower(1);
    let says = farewell(&holder, 1);
    assert_eq!(crossed(&mut holder, Crossing::Leaving), [arm(Timer::Farewell, FAREWELL), send(0, says)]);
    let mut resting = node(1);
    let says = broadcast(farewell(&resting, 1));
    let wakes_all = [arm(Timer::Farewell, FAREWELL), says, arm(Timer::Silence, BOND)];
    assert_eq!(crossed(&mut resting, Crossing::Leaving), wakes_all);
    let mut outside = confirmed();
    outside.chair.copy.as_mut().unwrap().holders.remove(0);
    term(&mut outside).holders.remove(0);
    assert_eq!(crossed(&mut outside, Crossing::Leaving), [arm(Timer::Farewell, FAREWELL)], "it leads");
}

#[test]
fn a_member_that_is_about_to_leave_uses_nothing_and_asks_for_nothing() {
    let mut user = follower(1);
    user.desk.usage = using(true, true);
    let (number, round) = copy_of(&user).beat();
    let want = Want::Free(seal());
    let frees = Message::Claim { stay: Stay(1), number: Some(number), round, want, leaving: true };
    let says = farewell(&user, 1);
    let stops = [Effect::Revoke(Demand::ONE), disarm(Timer::Lease(false)), disarm(Timer::Lease(true)), send(0, frees)];
    let waits = [disarm(Timer::Lease(false)), arm(Timer::Farewell, FAREWELL), send(0, says)];
    assert_eq!(crossed(&mut user, Crossing::Leaving), [&stops[..], &waits].concat());
    let mut waiter = follower(1);
    waiter.desk.usage = Usage::Waiting { demand: Demand::ONE, claimed: true };
    assert_eq!(crossed(&mut waiter, Crossing::Leaving), waits, "what is granted now comes too late");
    assert_eq!(waiter.desk.usage, WAITING);
}

#[test]
fn a_leader_that_is_about_to_leave_waits_for_nothing_and_lends_what_it_used() {
    let mut leader = confirmed();
    lend_to(0, &mut leader);
    leader.desk.usage = using(false, false);
    books(&mut leader).enqueue(member(3), 0);
    books(&mut leader).free = Permits::NONE;
    let effects = crossed(&mut leader, Crossing::Leaving);
    let round = copy_of(&leader).round;
    let grant = Message::Grant { number: FIRST, round, permit: permit(0), seal: seal().next(), renews: false };
    assert!(effects.contains(&send(3, grant)), "{effects:?}");
    assert_eq!(effects.last(), Some(&arm(Timer::Farewell, FAREWELL)), "the next beat is due soon");
    assert_eq!(books(&mut leader).queue, []);
    let leaving = term(&mut leader).holders.iter().map(|holder| holder.leaving).collect::<Vec<_>>();
    assert_eq!(leaving, [true, false, false]);
    let mut waiter = awake();
    waiter.desk.usage = WAITING;
    books(&mut waiter).enqueue(member(0), 0);
    crossed(&mut waiter, Crossing::Leaving);
    assert_eq!(books(&mut waiter).queue, []);
}

#[test]
fn a_leader_at_rest_that_is_about_to_leave_asks_who_would_help_once_more() {
    let mut leader = node(0);
    let term = term(&mut leader);
    term.holders.pop();
    term.has_asked = true;
    term.holders[1].acknowledged = true;
    let effects = crossed(&mut leader, Crossing::Leaving);
    assert_eq!(effects[..2], [arm(Timer::Farewell, FAREWELL), latest_beat(&leader, true)]);
    assert_eq!(copy_of(&leader).holders, [0, 1].map(member), "it had asked long ago");
}

#[test]
fn a_dismissal_counts_unless_it_was_made_a_copy_holder_since() {
    let dismissed = |id: usize, rules: Repairs, leaving: bool, of_an_earlier_beat: bool| {
        let mut node = follower_with(id, rules);
        node.chair.leaving = leaving;
        let round = if of_an_earlier_beat { Round::default() } else { copy_of(&node).round };
        let stay = node.chair.me().stay;
        told(&mut node, 0, Message::Dismiss { stay, number: FIRST, round }) == departure()
    };
    assert!(dismissed(1, Repairs::ALL, true, false));
    assert!(!dismissed(1, Repairs::ALL, false, false), "it stays");
    assert!(!dismissed(1, Repairs::ALL, true, true));
    assert!(dismissed(1, Repairs::ALL.without(guard::LATE_DISMISSALS), true, true));
    assert!(dismissed(3, Repairs::ALL, true, true), "it keeps no copy");
}

#[test]
fn a_dismissal_of_an_earlier_stay_does_not_count() {
    let mut node = follower(1);
    node.chair.leaving = true;
    let (number, round) = copy_of(&node).beat();
    let dismissal = |stay| Message::Dismiss { stay: Stay(stay), number, round };
    assert_eq!(told(&mut node, 0, dismissal(0)), []);
    assert_eq!(told(&mut node, 0, dismissal(1)), departure());
}

#[test]
fn a_member_that_goes_forgets_everything_but_what_its_application_wants() {
    let mut node = follower(1);
    node.desk.usage = Usage::Waiting { demand: Demand::ONE, claimed: true };
    assert_eq!(done(|out| node.timer(Timer::Farewell, out)), departure());
    let blank = KlmeFt::blank(NodeId(1), &CHARTER);
    assert_eq!(node, KlmeFt { desk: Desk { usage: WAITING, ..blank.desk }, ..blank });
}

#[test]
fn a_node_knows_at_first_who_leads_and_who_keeps_copies_and_is_bound_to_no_leader() {
    for id in 0..5 {
        let node = node(id);
        let copy = copy_of(&node);
        assert_eq!((copy.beat(), copy.leader, copy.generation), ((FIRST, Round::default()), NodeId(0), Generation(0)));
        assert_eq!(copy.holders, [0, 1, 2].map(member));
        assert_eq!(node.chair.others, (0..5).filter(|&other| other != node.chair.id.0).map(NodeId).collect::<Vec<_>>());
        assert!(node.chair.rests && !node.chair.asked && !node.chair.leaving && !node.chair.promise.is_bound());
        assert_eq!(
            (node.chair.promise.number(), node.chair.leads(), node.chair.is_holder()),
            (Some(FIRST), id == 0, id < 3)
        );
    }
    assert!(term(&mut node(0)).settled, "there was nobody before it");
}

#[test]
fn a_grant_counts_under_the_latest_beat_alone() {
    let granted = |rules: Repairs, of_an_earlier_beat: bool| {
        let mut node = follower_with(3, rules);
        node.desk.usage = Usage::Waiting { demand: Demand::ONE, claimed: true };
        let round = if of_an_earlier_beat { Round::default() } else { copy_of(&node).round };
        told(&mut node, 0, Message::Grant { number: FIRST, round, permit: permit(0), seal: seal(), renews: false })
    };
    assert_eq!((granted(Repairs::ALL, false), granted(Repairs::ALL, true)), (vec![entered()], vec![]));
    assert_eq!(granted(Repairs::ALL.without(guard::LATE_GRANTS), true), [entered()]);
}

#[test]
fn a_status_tells_who_waits_for_whom() {
    let mut leader = awake();
    leader.desk.usage = WAITING;
    books(&mut leader).enqueue(member(0), 0);
    books(&mut leader).enqueue(member(3), 0);
    let status = leader.status();
    assert_eq!((status.section, status.waits_on), (Section::Waiting, None), "it waits for no leader");
    assert_eq!(status.queue, [0, 3].map(NodeId));
    let mut other = follower(3);
    assert_eq!(other.status().waits_on, None, "it wants nothing");
    other.desk.usage = WAITING;
    assert_eq!((other.status().waits_on, other.status().permits), (Some(NodeId(0)), Permits::NONE));
    other.desk.usage = using(false, false);
    let status = other.status();
    assert_eq!((status.section, status.waits_on), (Section::Critical, None));
    assert_eq!((status.permits, status.queue), (Permits::first(1), vec![]));
}

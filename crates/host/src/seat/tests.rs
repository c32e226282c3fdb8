use std::time::Duration;

use driftlock_protocol::klme_ft::{KlmeFt, Timer, Variant as Leased};
use driftlock_protocol::krl::{Forwarding, Krl, Variant};
use driftlock_protocol::{
    Crossing, Demand, Grant, Incarnation, LinkEvent, Linked, Membership, Outbox, Repairs, Section, Stay,
};

use super::*;

const ME: NodeId = NodeId(0);
const PEER: NodeId = NodeId(1);
const LINK: Incarnation = Incarnation(3);
const START: Time = Time(1_000);

fn seconds(seconds: u64) -> Time {
    START + Span::from_millis(seconds * 1_000)
}

type Effects<P> = Vec<Effect<<P as Protocol>::Message, <P as Protocol>::Timer>>;

/// Gives a seat an input, and tells what came of it.
fn give<P: Protocol>(seat: &mut Seat<P>, now: Time, input: InputOf<P>) -> (Result<(), Refusal>, Effects<P>) {
    let mut out = Outbox::new();
    let taken = seat.take(now, input, &mut (), &mut out);
    (taken, out.drain().collect())
}

fn wake<P: Protocol>(seat: &mut Seat<P>, now: Time) -> Effects<P> {
    let mut out = Outbox::new();
    seat.run_due(now, &mut (), &mut out);
    out.drain().collect()
}

fn granted<M, T>(effects: &[Effect<M, T>]) -> Option<Grant> {
    effects.iter().find_map(|effect| if let Effect::Grant(grant) = effect { Some(*grant) } else { None })
}

fn is_revoked<M, T>(effects: &[Effect<M, T>]) -> bool {
    effects.iter().any(|effect| matches!(effect, Effect::Revoke(_)))
}

const LEASED: Charter<Leased> = Charter::new(1, Leased::USUAL, Repairs::ALL);
const LEASE: u64 = 30;

/// A leader of itself alone, which is granted the only unit; and when.
fn with_a_lease() -> (Seat<KlmeFt>, Time, Grant) {
    let mut seat = Seat::<KlmeFt>::new(START, Node::blank(ME, &LEASED), &Outbox::new());
    let enters = Crossing::Entered { stay: Stay(7), life: Incarnation(0), members: Vec::new(), founds: Some(0) };
    give(&mut seat, START, Input::Below(enters)).0.expect("it is outside");
    let (taken, mut effects) = give(&mut seat, START, Input::Request(Demand::ONE));
    taken.expect("it is idle");
    let mut now = START;
    while granted(&effects).is_none() {
        now = seat.due().expect("it waits for something");
        effects = wake(&mut seat, now);
    }
    (seat, now, granted(&effects).expect("it was just seen"))
}

#[test]
fn a_grant_that_is_a_lease_ends_at_an_instant_and_is_renewed_before() {
    let (mut seat, _, _) = with_a_lease();
    let ends = seat.lease_ends().expect("it is a lease");
    while seat.due().is_some_and(|due| due < ends) {
        let now = seat.due().expect("it was just seen");
        assert!(!is_revoked(&wake(&mut seat, now)));
    }
    assert!(seat.lease_ends().is_some_and(|renewed| renewed > ends), "it renews it itself");
    give(&mut seat, ends, Input::Release).0.expect("it holds it still");
    assert_eq!(seat.lease_ends(), None);
}

#[test]
fn after_a_pause_what_was_due_comes_before_any_other_input() {
    let (mut seat, now, grant) = with_a_lease();
    let ends = seat.lease_ends().expect("it is a lease");
    assert!(seat.due().is_some_and(|due| due < ends), "a beat, by which a leader renews its lease, is due before");
    let (taken, effects) = give(&mut seat, ends, Input::Cancel);
    assert!(matches!(effects[..], [Effect::Revoke(_), ..]), "{effects:?}");
    let again = granted(&effects).expect("it leads only itself, and may be granted the unit anew at once");
    assert!(again.fence > grant.fence && now < ends);
    assert_eq!(taken, Err(Refusal::NotWaiting), "the input comes after all of that");
}

#[test]
fn timers_run_out_in_the_order_in_which_they_are_due_and_those_of_one_instant_as_they_were_armed() {
    let (mut seat, ..) = with_a_lease();
    seat.armed.clear();
    let mut out = Outbox::<<KlmeFt as Protocol>::Message, Timer>::new();
    for (timer, after) in [(Timer::Silence, 5), (Timer::Beat, 3), (Timer::Quiet, 5), (Timer::Beat, 5)] {
        out.arm(timer, Duration::from_secs(after));
    }
    out.arm(Timer::Farewell, Duration::from_secs(1));
    out.disarm(Timer::Farewell);
    seat.keep_time(START, 0, &out);
    let order: Vec<_> = seat.armed.iter().map(|armed| (armed.timer, armed.due)).collect();
    assert_eq!(order, [Timer::Silence, Timer::Quiet, Timer::Beat].map(|timer| (timer, seconds(5))));
}

#[test]
fn a_restored_node_is_quiet_for_a_lease_and_its_application_shows_its_grant_within_that() {
    let (mut seat, now, grant) = with_a_lease();
    let stored = seat.unstored().expect("nothing was stored before").clone();
    assert_eq!(stored.grant, None, "a lease ends by itself");
    let restored = |now| {
        let mut out = Outbox::new();
        let contacts = Membership::of(Some(Incarnation(1)));
        let mut seat = Seat::<KlmeFt>::restore(now, ME, &LEASED, stored.clone(), contacts, &mut out);
        assert_eq!(seat.unstored(), None, "it has just been read");
        seat
    };
    let left = Duration::from_secs(12);
    let resume = Input::Resume { grant, left };
    let mut back = restored(now);
    give(&mut back, seconds(20), resume.clone()).0.expect("it is quiet still");
    assert_eq!((back.node().grant(), back.lease_ends()), (Some(grant), Some(seconds(32))));
    let mut back = restored(START);
    assert_eq!(give(&mut back, seconds(LEASE), resume).0, Err(Refusal::NotLeft), "it is over, and it knows it");
}

const UNLEASED: Charter<Variant> = Charter::new(1, Variant::new(Forwarding::Off), Repairs::ALL);

/// A node that holds the only token.
fn holder() -> Seat<Krl> {
    let mut out = Outbox::new();
    let seat = Seat::founder(START, ME, &UNLEASED, 0, &mut out);
    assert!(out.effects().is_empty(), "it has no neighbour");
    seat
}

#[test]
fn what_has_changed_is_to_be_stored_once_and_what_has_not_never() {
    let mut seat = holder();
    let at_first = seat.unstored().expect("nothing was stored before").clone();
    assert_eq!(seat.unstored(), None);
    give(&mut seat, START, Input::Below(LinkEvent::Up { peer: PEER, incarnation: LINK })).0.expect("there was none");
    assert_eq!(seat.unstored(), None, "links are told anew");
    give(&mut seat, START, Input::Request(Demand::ONE)).0.expect("it is idle");
    let in_use = seat.unstored().expect("its token is in use").clone();
    assert_eq!((at_first.grant, in_use.grant), (None, seat.node().grant()));
    assert_eq!(seat.lease_ends(), None, "it ends when it is released");
    give(&mut seat, START, Input::Release).0.expect("it holds it");
    give(&mut seat, START, Input::Request(Demand::ONE)).0.expect("it is idle");
    assert!(seat.unstored().is_some(), "it is another grant");
}

#[test]
fn what_an_application_of_an_earlier_life_uses_is_its_own_again_or_gone() {
    let mut seat = holder();
    give(&mut seat, START, Input::Request(Demand::ONE)).0.expect("it is idle");
    let stored = seat.unstored().expect("it was never stored").clone();
    let back =
        || Seat::<Krl>::restore(seconds(9), ME, &UNLEASED, stored.clone(), Linked::default(), &mut Outbox::new());
    let grant = seat.node().grant().expect("it was granted");
    let mut resumed = back();
    assert_eq!(give(&mut resumed, seconds(9), Input::Request(Demand::ONE)).0, Err(Refusal::LeftInUse));
    give(&mut resumed, seconds(9), Input::Resume { grant, left: Duration::ZERO }).0.expect("it was its own");
    assert_eq!(resumed.node().grant(), Some(grant));
    let mut gone = back();
    give(&mut gone, seconds(9), Input::Gone).0.expect("it was left in use");
    assert_eq!((gone.node().left(), gone.node().protocol().section()), (None, Section::Remainder));
    assert_eq!(give(&mut gone, seconds(9), Input::Gone).0, Err(Refusal::NotLeft));
}

/// Looks on and does nothing else.
struct Count(u32);

impl Watch<Krl> for Count {
    fn step(&mut self, _: Time, node: &mut Node<Krl>, input: InputOf<Krl>, out: &mut Out<Krl>) -> Result<(), Refusal> {
        self.0 += 1;
        node.step(input, out)
    }
}

#[test]
fn a_world_that_watches_sees_every_step() {
    let (mut seat, mut count) = (holder(), Count(0));
    for input in [Input::Request(Demand::ONE), Input::Release, Input::Release] {
        _ = seat.take(START, input, &mut count, &mut Outbox::new());
    }
    assert_eq!(count.0, 3);
}

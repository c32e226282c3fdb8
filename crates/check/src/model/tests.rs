//! What may happen in states put together by hand, and what may not, in the words of transcripts.

use std::time::Duration;

use driftlock_protocol::ideal::{CRASHES, Change, FAILURES, FORMATIONS, Fate, JOINS, LEAVES};
use driftlock_protocol::{Crossing, Demand, LinkEvent, NodeId, Permits, Units, View};

use crate::puppet::{Puppet, Scene, unit};
use crate::{Action, Bound, Setup, Timing};

const ZERO: NodeId = NodeId(0);
const ONE: NodeId = NodeId(1);
const NONE: Bound = Bound::Most(0);
const ONCE: Bound = Bound::Most(1);

impl<V: View> Scene<V> {
    fn may(&self) -> String {
        let mut actions = Vec::new();
        self.model.enabled(&self.state, &mut actions);
        let words: Vec<_> = actions.iter().map(ToString::to_string).collect();
        words.join("; ")
    }

    /// What may happen after this.
    fn after(&mut self, action: Action) -> String {
        self.state = self.model.after(&self.state, action).expect("heights do not matter");
        self.may()
    }

    /// A message that carries nothing, or this permit.
    fn word(&mut self, from: u32, to: u32, permits: Permits) {
        self.send(from, to, permits, false);
    }
}

/// Two nodes to which nothing happens but what the test allows; nobody asks.
fn silent<V: View>(allow: impl FnOnce(&mut Setup)) -> Scene<V> {
    Scene::with(2, 2, |setup| {
        setup.requests = NONE;
        allow(setup);
    })
}

#[test]
fn an_application_asks_while_it_may_and_withdraws_while_it_waits() {
    let mut scene = silent::<LinkEvent>(|setup| (setup.requests, setup.cancels) = (ONCE, ONCE));
    assert_eq!(scene.may(), "req 0; req 1");
    assert_eq!(scene.after(Action::Request(ZERO, 0)), "cancel 0; req 1");
    assert_eq!(scene.after(Action::Cancel(ZERO)), "req 1");
    assert_eq!(scene.after(Action::Request(ONE, 0)), "cancel 1");
    let mut scene = silent::<LinkEvent>(|setup| (setup.requests, setup.requests_in_all) = (Bound::Any, ONCE));
    assert_eq!(scene.may(), "req 0; req 1");
    assert_eq!(scene.after(Action::Request(ONE, 0)), "", "one request is all there is");
}

#[test]
fn an_application_returns_what_it_uses_before_it_asks_again() {
    let mut scene = silent::<LinkEvent>(|setup| (setup.requests, setup.cancels) = (Bound::Any, ONCE));
    scene.seat(0, Puppet::bare().entering(unit(0)), 1);
    assert_eq!(scene.may(), "rel 0; req 1");
    assert_eq!(scene.after(Action::Release(ZERO)), "req 0; req 1");
}

#[test]
fn every_request_chooses_among_the_demands() {
    let two = Demand { units: Units::new(2).unwrap(), ..Demand::ONE };
    let scene = silent::<LinkEvent>(|setup| (setup.requests, setup.demands) = (ONCE, vec![Demand::ONE, two]));
    assert_eq!(scene.may(), "req 0; req 0.1; req 1; req 1.1");
}

#[test]
fn links_fail_and_form_as_often_as_they_may() {
    let mut scene = silent::<LinkEvent>(|setup| setup.allow([(&FAILURES, ONCE), (&FORMATIONS, ONCE)]));
    assert_eq!(scene.may(), "down 0-1");
    assert_eq!(scene.after(Action::Change(Change::between(&FAILURES, ZERO, ONE))), "up 0-1");
    assert_eq!(scene.after(Action::Change(Change::between(&FORMATIONS, ZERO, ONE))), "");
}

#[test]
fn a_link_fails_only_when_it_is_drained_where_that_is_asked_for() {
    for (from, to) in [(0, 1), (1, 0)] {
        let mut scene = silent::<LinkEvent>(|setup| {
            setup.allow([(&FAILURES, ONCE)]);
            setup.fate = Fate::Drained;
        });
        assert_eq!(scene.may(), "down 0-1");
        scene.word(from, to, Permits::NONE);
        assert_eq!(scene.may(), format!("msg {from}>{to}"));
    }
}

#[test]
fn what_outlived_a_link_arrives_before_there_is_another() {
    let mut scene = silent::<LinkEvent>(|setup| {
        setup.allow([(&FAILURES, ONCE), (&FORMATIONS, ONCE)]);
        setup.fate = Fate::Settled;
    });
    scene.word(0, 1, Permits::NONE);
    scene.word(1, 0, unit(0));
    assert_eq!(
        scene.after(Action::Change(Change::between(&FAILURES, ZERO, ONE))),
        "msg 1>0",
        "what carries nothing is gone"
    );
    assert_eq!(scene.after(Action::Deliver { from: ONE, to: ZERO }), "up 0-1");
}

#[test]
fn a_network_that_stays_connected_loses_no_link_that_it_needs() {
    let mut scene = Scene::<LinkEvent>::with(3, 1, |setup| {
        setup.allow([(&FAILURES, Bound::Any)]);
        (setup.requests, setup.connected) = (NONE, true);
    });
    assert_eq!(scene.may(), "down 0-1; down 0-2; down 1-2");
    assert_eq!(scene.after(Action::Change(Change::between(&FAILURES, ZERO, ONE))), "");
}

#[test]
fn members_leave_and_crash_as_often_as_they_may() {
    let mut scene = silent::<Crossing>(|setup| setup.allow([(&LEAVES, Bound::Any)]));
    assert_eq!(scene.may(), "leave 0; leave 1");
    assert_eq!(scene.after(Action::Change(Change::at(&LEAVES, ZERO))), "leave 1", "it is told once");
    let mut scene = silent::<Crossing>(|setup| setup.allow([(&LEAVES, ONCE)]));
    assert_eq!(scene.after(Action::Change(Change::at(&LEAVES, ONE))), "");
    let mut scene = silent::<Crossing>(|setup| {
        setup.allow([(&CRASHES, ONCE), (&JOINS, Bound::Any)]);
        setup.requests = ONCE;
    });
    assert_eq!(scene.may(), "req 0; req 1; crash 0; crash 1");
    assert_eq!(
        scene.after(Action::Change(Change::at(&CRASHES, ZERO))),
        "req 1",
        "it does not ask, nor does it come back"
    );
}

#[test]
fn nodes_outside_enter_as_often_as_they_may() {
    let mut scene = silent::<Crossing>(|setup| setup.allow([(&JOINS, ONCE)]));
    assert_eq!(scene.may(), "");
    for node in [0, 1] {
        scene.has_departed(node);
    }
    assert_eq!(scene.may(), "join 0; join 1");
    assert_eq!(scene.after(Action::Change(Change::at(&JOINS, ONE))), "");
}

#[test]
fn a_message_to_who_has_crashed_reaches_nobody_and_one_from_it_arrives() {
    let mut scene = silent::<Crossing>(|setup| setup.allow([(&CRASHES, ONCE)]));
    scene.word(0, 1, Permits::NONE);
    scene.word(1, 0, Permits::NONE);
    assert_eq!(scene.after(Action::Change(Change::at(&CRASHES, ZERO))), "msg 0>1");
}

#[test]
fn messages_are_lost_as_often_as_they_may() {
    let mut scene = silent::<Crossing>(|setup| setup.losses = ONCE);
    assert_eq!(scene.may(), "");
    scene.word(1, 0, Permits::NONE);
    scene.word(1, 0, unit(0));
    assert_eq!(scene.may(), "msg 1>0; lose 1>0");
    assert_eq!(scene.after(Action::Lose { from: ONE, to: ZERO }), "msg 1>0");
    assert_eq!(scene.after(Action::Deliver { from: ONE, to: ZERO }), "");
}

#[test]
fn each_message_that_is_passed_counts_as_overtaken() {
    let overtaking = |most: u8| {
        let mut scene = silent::<Crossing>(|setup| setup.overtakes = Bound::Most(most));
        for number in 0..3 {
            scene.word(0, 1, unit(number));
        }
        scene
    };
    assert_eq!(overtaking(1).may(), "msg 0>1; pass 1 0>1");
    let mut scene = overtaking(3);
    assert_eq!(scene.may(), "msg 0>1; pass 1 0>1; pass 2 0>1");
    let past = |past| Action::Overtake { from: ZERO, to: ONE, past };
    assert_eq!(scene.after(past(2)), "msg 0>1; pass 1 0>1");
    assert_eq!(scene.after(past(1)), "msg 0>1");
    let mut same = silent::<Crossing>(|setup| setup.overtakes = Bound::Any);
    same.word(0, 1, unit(0));
    same.word(0, 1, unit(0));
    assert_eq!(same.may(), "msg 0>1", "it makes no difference which of them arrives");
}

/// Two members by the clock; time passes as the test allows.
fn timed(drift: u8, pauses: u8, lateness: Bound) -> Scene<Crossing> {
    silent(|setup| {
        setup.timing = Timing::Timed { tick: Duration::from_secs(1), drift, pauses };
        setup.lateness = lateness;
    })
}

#[test]
fn without_a_clock_any_timer_may_fire_and_with_one_when_it_is_due() {
    let mut scene = silent::<Crossing>(|_| {});
    scene.arm(0, 0);
    assert_eq!(scene.may(), "timer 0");
    assert_eq!(scene.after(Action::Timer(ZERO, 0)), "");
    let mut scene = timed(0, 0, Bound::Any);
    assert_eq!(scene.may(), "", "time passes for nobody");
    scene.arm(0, 2);
    assert_eq!(scene.may(), "tick");
    assert_eq!(scene.after(Action::Tick), "tick");
    assert_eq!(scene.after(Action::Tick), "timer 0");
    assert_eq!(scene.after(Action::Timer(ZERO, 0)), "");
}

#[test]
fn a_timer_that_is_due_comes_before_anything_else_at_its_node() {
    let mut scene = Scene::<Crossing>::with(2, 2, |setup| {
        setup.timing = Timing::Timed { tick: Duration::from_secs(1), drift: 0, pauses: 0 };
        setup.allow([(&LEAVES, ONCE)]);
        setup.requests = ONCE;
    });
    scene.word(1, 0, Permits::NONE);
    scene.word(0, 1, Permits::NONE);
    scene.arm(0, 0);
    scene.arm(1, 3);
    assert_eq!(scene.may(), "msg 0>1; req 1; timer 0; leave 1", "and time stands still");
    assert_eq!(scene.after(Action::Timer(ZERO, 0)), "msg 1>0; req 0; msg 0>1; req 1; tick; leave 0; leave 1");
}

#[test]
fn nobody_enters_while_a_timer_is_due_and_no_link_changes_at_its_node() {
    let clock = Timing::Timed { tick: Duration::from_secs(1), drift: 0, pauses: 1 };
    let mut scene = silent::<Crossing>(|setup| {
        setup.allow([(&JOINS, ONCE)]);
        setup.timing = clock;
    });
    scene.has_departed(1);
    scene.arm(0, 0);
    assert_eq!(scene.may(), "timer 0; pause 0; pause 1");
    let mut scene = Scene::<LinkEvent>::with(3, 1, |setup| {
        setup.allow([(&FAILURES, ONCE)]);
        (setup.requests, setup.timing) = (NONE, clock);
    });
    scene.arm(0, 0);
    assert_eq!(scene.may(), "timer 0; pause 0; pause 1; pause 2; down 1-2");
}

#[test]
fn clocks_differ_by_no_more_than_the_drift() {
    let mut scene = timed(1, 0, Bound::Any);
    scene.arm(0, 9);
    assert_eq!(scene.may(), "tick; tick but 0; tick but 1");
    assert_eq!(scene.after(Action::TickBut(ZERO)), "tick; tick but 1");
    assert_eq!(scene.after(Action::Tick), "tick; tick but 1");
    assert_eq!(scene.after(Action::TickBut(ONE)), "tick; tick but 0; tick but 1", "only differences count");
    for _ in 0..6 {
        assert_eq!(scene.after(Action::Tick), "tick; tick but 0; tick but 1");
    }
    assert_eq!(scene.after(Action::Tick), "timer 0", "the tenth tick is the ninth by its clock");
}

#[test]
fn a_node_that_pauses_does_nothing_while_its_timers_run_down() {
    let mut scene = timed(0, 1, Bound::Any);
    scene.word(1, 0, Permits::NONE);
    scene.arm(0, 1);
    scene.arm(1, 2);
    assert_eq!(scene.may(), "msg 1>0; pause 0; pause 1; tick");
    assert_eq!(scene.after(Action::Pause(ZERO)), "resume 0; tick");
    assert_eq!(scene.after(Action::Tick), "resume 0; tick", "its timer is due, and time passes");
    assert_eq!(scene.after(Action::Tick), "timer 1; resume 0");
    assert_eq!(scene.after(Action::Resume(ZERO)), "timer 0; timer 1", "its pause is spent");
}

#[test]
fn ticks_pass_over_messages_as_often_as_these_may_be_late() {
    let mut scene = timed(0, 0, Bound::Most(3));
    scene.arm(0, 9);
    scene.word(0, 1, Permits::NONE);
    assert_eq!(scene.after(Action::Tick), "msg 0>1; tick");
    scene.word(1, 0, Permits::NONE);
    assert_eq!(scene.after(Action::Tick), "msg 1>0; msg 0>1", "both channels were late, so nothing is left");
    assert_eq!(scene.after(Action::Deliver { from: ZERO, to: ONE }), "msg 1>0");
    assert_eq!(scene.after(Action::Deliver { from: ONE, to: ZERO }), "tick");
}

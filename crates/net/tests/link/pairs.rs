//! One mechanism at a time, between two nodes, or three.

use driftlock_net::custody::{Doubt, Statement};
use driftlock_net::link::{CallId, Effect, Frame, Head, Hello, Link, Mark, Settings};
use driftlock_net::parcel::Resource;
use driftlock_net::{Boot, Span, Time, Transfer};
use driftlock_protocol::{Incarnation, NodeId};

use crate::crowd::{Crowd, Weather};
use crate::observer::{Message, Place, carries_token};

const A: NodeId = NodeId(0);
const B: NodeId = NodeId(1);

fn pair(seed: u64) -> Crowd {
    let mut crowd = Crowd::new(2, seed, Settings::default());
    crowd.run(6_000);
    assert!(crowd.observer.link(A, B).is_some(), "a link forms");
    crowd
}

#[test]
fn a_link_comes_up_at_both_ends_with_one_incarnation() {
    let crowd = pair(1);
    assert_eq!(crowd.observer.link(A, B), crowd.observer.link(B, A));
    assert_eq!(crowd.observer.ups, 2);
}

#[test]
fn a_link_needs_both_directions() {
    for (from, to) in [(0, 1), (1, 0)] {
        let mut crowd = Crowd::new(2, 7, Settings::default());
        crowd.set_weather(from, to, Weather::NONE);
        crowd.run(60_000);
        assert_eq!(crowd.observer.ups, 0);
        assert_eq!(crowd.unicasts, 0, "nobody calls whom it hears, but who does not hear it");
    }
}

#[test]
fn a_link_that_is_quiet_stays_up_and_one_that_falls_silent_goes_down_at_both_ends() {
    let mut crowd = pair(3);
    crowd.run(600_000);
    assert_eq!(crowd.observer.ups, 2, "ten quiet minutes");
    crowd.set_weather(0, 1, Weather::NONE);
    crowd.run(8_000);
    assert_eq!((crowd.observer.link(A, B), crowd.observer.link(B, A)), (None, None), "A hears B all the time");
}

#[test]
fn a_link_breaks_by_silence_and_not_by_impatience() {
    let mut crowd = pair(3);
    crowd.set_weather_between(0, 1, Weather { loss_percent: 30, ..Weather::CLEAR });
    for _ in 0..100 {
        crowd.send(0, 1, None);
        crowd.run(1_000);
    }
    assert_eq!(crowd.observer.ups, 2, "much is lost, and the link stays");
    crowd.set_weather_between(0, 1, Weather { delay_ms_max: 3_000, ..Weather::CLEAR });
    for _ in 0..100 {
        crowd.send(0, 1, None);
        crowd.run(1_000);
    }
    assert_eq!(crowd.observer.ups, 2, "all is late, and the link stays");
}

#[test]
fn who_is_not_heard_for_a_while_is_asked_before_it_counts_as_gone_within_three_of_its_intervals() {
    let mut crowd = pair(4);
    let silence = |link: &mut Link<Message>, mut now: Time| {
        let (mut probes, mut out) = (0, Vec::new());
        while !out.contains(&Effect::Silent { peer: B }) {
            assert_eq!(out, [], "it is not gone yet");
            now = link.wakes().unwrap();
            link.woken(now, &mut out);
            let is_probe = |effect: &Effect<_>| matches!(effect, Effect::Transmit { frame: Frame::Probe(_), .. });
            probes += out.extract_if(.., |effect| is_probe(effect)).count();
            out.retain(|effect| !matches!(effect, Effect::Transmit { frame: Frame::Hello(_), .. }));
        }
        assert!(matches!(out[1], Effect::Down { .. }), "and its link is: {out:?}");
        (probes, now)
    };
    let now = crowd.now;
    let (probes, gone_at) = silence(&mut crowd.links[0], now);
    // The last hello was up to one of them ago.
    assert!(
        gone_at > now + Span::from_millis(2_500) && gone_at <= now + Span::from_millis(3_750),
        "{probes} at {gone_at:?}"
    );
    assert!(probes >= 2, "{probes}");
    let head = Head { boot: Boot(1), to: Boot(1), incarnation: crowd.observer.link(B, A).unwrap(), acknowledges: 0 };
    let mut out = Vec::new();
    crowd.links[1].received(crowd.now, A, Frame::Probe(head), &mut out);
    assert!(
        matches!(out[..], [Effect::Transmit { to: Some(A), frame: Frame::Ack(_), .. }]),
        "an answer at once: {out:?}"
    );
}

#[test]
fn a_link_that_the_peer_does_not_name_twice_is_over_and_one_that_it_names_wrongly_is_denied() {
    let mut crowd = pair(5);
    let hello = |count, links: &[NodeId]| {
        let links = links.to_vec();
        Frame::Hello(Hello {
            boot: Boot(1),
            count,
            interval_ms: 1_000,
            crowd: 1,
            mark: Mark(1),
            links,
            hears: 1,
            list: vec![A],
            spared: Vec::new(),
            notices: Vec::new(),
        })
    };
    let (now, link) = (crowd.now, &mut crowd.links[0]);
    let mut hears = |count, links: &[NodeId]| {
        let mut out = Vec::new();
        link.received(now, B, hello(count, links), &mut out);
        out
    };
    assert_eq!(hears(100, &[]), [], "it may have been on the way when the link came up");
    assert_eq!(hears(101, &[A]), []);
    assert_eq!(hears(102, &[]), []);
    assert!(matches!(hears(103, &[])[..], [Effect::Down { .. }, Effect::Transmit { frame: Frame::Reset { .. }, .. }]));
    assert_eq!(hears(104, &[]), []);
    assert!(matches!(hears(105, &[A])[..], [Effect::Transmit { frame: Frame::Reset { .. }, .. }]));
}

#[test]
fn a_neighbour_that_restarts_is_met_again_under_a_greater_number() {
    let mut crowd = pair(5);
    let before = crowd.observer.link(A, B);
    for node in [0, 1] {
        crowd.restart(node, false);
        crowd.run(8_000);
    }
    assert!(crowd.observer.link(A, B) > before);
    assert_eq!(crowd.observer.link(A, B), crowd.observer.link(B, A));
}

/// Breaks the link under the token of A, with the frame lost or only its acknowledgements, and comes back when both
/// ends know.
fn token_in_doubt(arrives: bool) -> Crowd {
    let mut crowd = pair(6);
    crowd.deal(0);
    crowd.set_weather(usize::from(arrives), usize::from(!arrives), Weather::NONE);
    crowd.send(0, 1, Some(0));
    crowd.run(100);
    crowd.set_weather_between(0, 1, Weather::NONE);
    crowd.run(9_000);
    assert_eq!((crowd.observer.link(A, B), crowd.observer.link(B, A)), (None, None));
    assert_eq!(crowd.links[0].in_doubt().map(|(to, _)| to).collect::<Vec<_>>(), [B]);
    crowd
}

#[test]
fn a_token_in_doubt_that_had_arrived_stays_where_it_is() {
    let mut crowd = token_in_doubt(true);
    assert_eq!(crowd.observer.tokens, [Place::Held(B)]);
    crowd.heal();
    crowd.run(10_000);
    assert_eq!(crowd.observer.tokens, [Place::Held(B)]);
    assert_eq!((crowd.observer.settled, crowd.links[0].in_doubt().count()), (1, 0));
}

#[test]
fn a_token_in_doubt_that_had_not_arrived_arrives_before_there_is_a_link_again() {
    let mut crowd = token_in_doubt(false);
    crowd.heal();
    crowd.run(10_000);
    assert_eq!(crowd.observer.tokens, [Place::Held(B)]);
    assert_eq!((crowd.observer.late, crowd.observer.settled, crowd.links[0].in_doubt().count()), (1, 1, 0));
    assert!(crowd.observer.link(A, B).is_some());
}

#[test]
fn a_doubt_is_settled_over_a_path_when_the_two_do_not_meet_again() {
    for arrives in [true, false] {
        let mut crowd = token_in_doubt(arrives);
        crowd.routed = true;
        crowd.run(120_000);
        assert_eq!(crowd.observer.tokens, [Place::Held(B)]);
        assert_eq!((crowd.observer.late, crowd.links[0].in_doubt().count()), (usize::from(!arrives), 0));
        assert_eq!(crowd.observer.link(A, B), None, "from a former neighbour");
    }
}

#[test]
fn who_is_made_an_offer_while_it_still_believes_in_the_link_leaves_it_before_it_takes_anything() {
    let mut crowd = pair(8);
    let incarnation = crowd.observer.link(B, A).unwrap();
    let mut out = Vec::new();
    let (now, link) = (crowd.now, &mut crowd.links[1]);
    let message = Message { id: 0, token: Some(0) };
    let transfer = Transfer { boot: Boot(1), number: 0 };
    let doubts = vec![Doubt { transfer, incarnation, to: Boot(1), message }];
    let offer = Frame::Offer { incarnation, doubts };
    link.received(now, A, offer.clone(), &mut out);
    let verdict = Frame::Verdict(Statement { boot: Boot(1), since: Boot(1), had: Some(transfer) });
    let verdict = Effect::Transmit { to: Some(A), frame: verdict, delay: Span::ZERO };
    assert!(matches!(out[0], Effect::Down { .. }));
    assert_eq!(out[1..], [Effect::Deliver { from: A, incarnation, message }, verdict.clone()]);
    out.clear();
    link.received(now, A, offer, &mut out);
    assert_eq!(out, [verdict], "once");
    out.clear();
    let head = Head { boot: Boot(1), to: Boot(1), incarnation, acknowledges: 0 };
    link.received(now, A, Frame::Data { head, sequence: 0, transfer: Some(0), message }, &mut out);
    assert_eq!(
        out,
        [Effect::Transmit { to: Some(A), frame: Frame::Reset { incarnation }, delay: Span::ZERO }],
        "never, from now on"
    );
}

#[test]
fn a_stranger_takes_an_offer_too_for_it_may_have_forgotten_whom_it_never_had_anything_from() {
    let mut link = Link::new(Time::ZERO, B, Boot(1), Settings::default(), carries_token);
    let mut out = Vec::new();
    let (incarnation, message) = (Incarnation(5), Message { id: 0, token: Some(0) });
    let transfer = Transfer { boot: Boot(4), number: 7 };
    let doubts = vec![Doubt { transfer, incarnation, to: Boot(1), message }];
    let deliveries =
        |out: &[Effect<Message>]| out.iter().filter(|effect| matches!(effect, Effect::Deliver { .. })).count();
    for (count, incarnation) in [(1, 5), (1, 6), (1, 5)] {
        let offer = Frame::Offer { incarnation: Incarnation(incarnation), doubts: doubts.clone() };
        link.received(Time::ZERO, A, offer, &mut out);
        assert_eq!(deliveries(&out), count, "and remembers from then on");
    }
    let mut again = Link::restore(Time::ZERO, B, Boot(2), Settings::default(), carries_token, link.durable());
    again.received(Time::ZERO, A, Frame::Offer { incarnation, doubts }, &mut out);
    assert_eq!(deliveries(&out), 1, "also over a restart");
}

#[test]
fn a_token_is_lost_when_its_receiver_forgets_and_not_when_it_remembers() {
    for remembers in [true, false] {
        let mut crowd = token_in_doubt(true);
        crowd.restart(1, remembers);
        crowd.heal();
        crowd.run(10_000);
        assert_eq!(crowd.observer.lost, usize::from(!remembers));
        assert_eq!(crowd.observer.settled, usize::from(remembers));
        assert_eq!(crowd.links[0].in_doubt().count(), 0);
    }
}

#[test]
fn what_waits_behind_the_window_is_undelivered_and_the_rest_of_what_carries_nothing_is_dropped() {
    let mut out = Vec::new();
    let mut crowd = Crowd::new(2, 9, Settings { window: 2, ..Settings::default() });
    crowd.run(6_000);
    let incarnation = crowd.observer.link(A, B).unwrap();
    let (now, link) = (crowd.now, &mut crowd.links[0]);
    for id in 0..4 {
        let message = Message { id, token: (id % 2 == 1).then_some(id) };
        link.send(now, B, message, &mut out);
    }
    out.clear();
    link.received(now, B, Frame::Reset { incarnation }, &mut out);
    let told = out.iter().map(|effect| match effect {
        Effect::Down { .. } => "down",
        Effect::Dropped { message: Message { id: 0, .. }, .. } => "0 dropped",
        Effect::Doubt { transfer, .. } if transfer.number == 0 => "1 in doubt",
        Effect::Undelivered { message: Message { id: 2, .. }, .. } => "2 undelivered",
        Effect::Undelivered { message: Message { id: 3, .. }, .. } => "3 undelivered",
        _ => "something else",
    });
    assert_eq!(told.collect::<Vec<_>>(), ["down", "0 dropped", "1 in doubt", "2 undelivered", "3 undelivered"]);
}

#[test]
fn strangers_are_told_that_there_is_no_link_and_nonsense_is_survived() {
    let mut link = Link::new(Time::ZERO, B, Boot(1), Settings::default(), carries_token);
    let mut out = Vec::new();
    let incarnation = Incarnation(5);
    let head = Head { boot: Boot(9), to: Boot(1), incarnation, acknowledges: u64::MAX };
    let message = Message { id: 0, token: None };
    let reset = Effect::Transmit { to: Some(A), frame: Frame::Reset { incarnation }, delay: Span::ZERO };
    let data = Frame::Data { head, sequence: u64::MAX, transfer: None, message };
    link.received(Time::ZERO, A, data, &mut out);
    link.received(Time::ZERO, A, Frame::Ack(head), &mut out);
    assert_eq!(out, [reset.clone(), reset]);
    link.received(Time::ZERO, B, Frame::Ack(head), &mut out);
    assert_eq!(out.len(), 2, "its own echo");
    let mut crowd = pair(10);
    let head =
        Head { boot: Boot(1), to: Boot(1), incarnation: crowd.observer.link(B, A).unwrap(), acknowledges: u64::MAX };
    let data = Frame::Data { head, sequence: u64::MAX, transfer: Some(u64::MAX), message };
    crowd.links[1].received(crowd.now, A, data, &mut out);
    crowd.run(10_000);
    assert_eq!(crowd.observer.ups, 2);
}

#[test]
fn a_call_of_former_times_settles_nothing() {
    for restarts in [false, true] {
        let mut crowd = pair(11);
        crowd.deal(1);
        crowd.set_weather(0, 1, Weather::NONE);
        crowd.send(1, 0, Some(0));
        crowd.run(100);
        assert_eq!(crowd.observer.tokens, [Place::Held(A)], "but B does not know");
        crowd.run(9_000);
        if restarts {
            crowd.restart(1, true);
        }
        // B hears A again, and A does not hear B.
        crowd.set_weather_between(0, 1, Weather::NONE);
        crowd.set_weather(0, 1, Weather::CLEAR);
        crowd.run(9_000);
        let statement = Statement { boot: Boot(1), since: Boot(1), had: None };
        for number in [0, 1] {
            let call = CallId { boot: Boot(1), number: Incarnation(number) };
            let mut out = Vec::new();
            crowd.links[1].received(
                crowd.now,
                A,
                Frame::Call { call, statement, doubts: Vec::new(), resources: vec![Resource(0)] },
                &mut out,
            );
            assert_eq!(out, []);
        }
        assert_eq!(crowd.links[1].in_doubt().count(), 1);
    }
}

#[test]
fn when_both_have_forgotten_frames_are_told_apart_by_the_boot() {
    let mut crowd = pair(12);
    let before = crowd.observer.link(B, A);
    for node in [0, 1] {
        crowd.restart(node, false);
    }
    crowd.run(8_000);
    assert_eq!(crowd.observer.link(B, A), before, "the numbers begin anew");
    let message = Message { id: 0, token: None };
    let mut delivers = |boot: u32| {
        let mut out = Vec::new();
        let head = Head { boot: Boot(boot), to: Boot(2), incarnation: before.unwrap(), acknowledges: 0 };
        let data = Frame::Data { head, sequence: 0, transfer: None, message };
        crowd.links[1].received(crowd.now, A, data, &mut out);
        out.iter().any(|effect| matches!(effect, Effect::Deliver { .. }))
    };
    assert!(!delivers(1) && delivers(2));
}

#[test]
fn who_has_forgotten_a_link_is_not_made_to_believe_in_it_by_its_late_frames() {
    let mut crowd = pair(13);
    let incarnation = crowd.observer.link(B, A).unwrap();
    crowd.set_weather(1, 0, Weather::NONE);
    crowd.restart(1, false);
    crowd.run(3_000);
    let statement = Statement { boot: Boot(1), since: Boot(1), had: None };
    let call = CallId { boot: Boot(1), number: incarnation };
    let mut out = Vec::new();
    crowd.links[1].received(
        crowd.now,
        A,
        Frame::Call { call, statement, doubts: Vec::new(), resources: vec![Resource(0)] },
        &mut out,
    );
    let answered = |effect: &Effect<_>| match effect {
        Effect::Transmit { frame: Frame::Answer { incarnation, .. }, .. } => Some(*incarnation),
        _ => None,
    };
    assert_eq!(
        out.iter().find_map(answered),
        Some(incarnation),
        "a call of former times, answered with the number of then"
    );
    let head = Head { boot: Boot(1), to: Boot(1), incarnation, acknowledges: 0 };
    crowd.links[1].received(crowd.now, A, Frame::Ack(head), &mut out);
    assert!(!out.iter().any(|effect| matches!(effect, Effect::Up { .. })));
    let head = Head { to: Boot(2), ..head };
    crowd.links[1].received(crowd.now, A, Frame::Ack(head), &mut out);
    assert!(out.iter().any(|effect| matches!(effect, Effect::Up { .. })));
}

//! Single cases.

use super::observer::Outcome;
use super::{Effect, Network, Segment, Sessions, Settings, World, id, millis};
use crate::{Boot, Time, Transfer};

#[test]
fn messages_arrive_once_and_in_order_and_the_sender_learns_of_it() {
    let mut world = World::new(2, &Settings::default(), Network::PERFECT, 0);
    let notes: Vec<_> = (0..100).map(|_| world.send(0, 1, false)).collect();
    world.run_for(millis(400));
    assert_eq!(world.observer.delivered(), notes);
    assert_eq!(world.observer.count(Outcome::Delivered), 100);
    assert_eq!(world.nodes[0].wakes(), None, "nothing is left to do");
}

#[test]
fn what_was_never_on_the_air_is_undelivered_and_what_was_is_in_doubt() {
    let settings = Settings { window: 1, ..Settings::default() };
    let mut world = World::new(2, &settings, Network::PERFECT, 0);
    world.send(0, 1, false);
    world.run_for(millis(100));
    world.parts[1] = 1;
    let (on_air, waiting) = (world.send(0, 1, false), world.send(0, 1, false));
    world.run_for(settings.give_up);
    assert_eq!(world.observer.outcome(on_air), Some(Outcome::Doubt));
    assert_eq!(world.observer.outcome(waiting), Some(Outcome::Undelivered));
}

#[test]
fn who_was_never_reached_leaves_no_doubt() {
    let mut world = World::new(2, &Settings::default(), Network::PERFECT, 0);
    world.parts[1] = 1;
    let note = world.send(0, 1, false);
    world.run_for(Settings::default().give_up);
    assert_eq!(world.observer.outcome(note), Some(Outcome::Undelivered));
}

#[test]
fn a_kept_message_outlives_breaks_and_the_reboots_of_both_ends() {
    let mut world = World::new(2, &Settings::default(), Network::PERFECT, 0);
    world.send(0, 1, true);
    world.run_for(millis(100));
    world.parts[1] = 1;
    let kept = world.send(0, 1, true);
    world.send(0, 1, false);
    world.run_for(millis(100_000));
    world.reboot(0);
    world.reboot(1);
    world.run_for(millis(100_000));
    assert_eq!(world.observer.outcome(kept), None);
    world.parts[1] = 0;
    world.run_for(millis(20_000));
    assert_eq!(world.observer.outcome(kept), Some(Outcome::Delivered));
    assert_eq!(world.observer.delivered().len(), 2);
}

#[test]
fn a_kept_message_whose_acknowledgement_was_lost_is_not_delivered_again_in_the_next_session() {
    let mut world = World::new(2, &Settings::default(), Network::PERFECT, 0);
    let kept = world.send(0, 1, true);
    while world.observer.delivered().is_empty() {
        assert!(world.step(Time::from_millis(1_000)));
    }
    world.air.clear();
    world.reboot(1);
    world.run_for(millis(10_000));
    assert_eq!(world.observer.delivered(), [kept]);
    assert_eq!(world.observer.outcome(kept), Some(Outcome::Delivered));
}

#[test]
fn a_receiver_that_has_rebooted_takes_nothing_that_was_meant_for_its_former_life() {
    let mut world = World::new(2, &Settings::default(), Network::PERFECT, 0);
    world.send(0, 1, false);
    world.run_for(millis(100));
    let lost = world.send(0, 1, false);
    world.reboot(1);
    world.run_for(millis(100));
    assert_eq!(world.observer.outcome(lost), Some(Outcome::Doubt));
    assert_eq!(world.observer.delivered().len(), 1);
    let next = world.send(0, 1, false);
    world.run_for(millis(100));
    assert_eq!(world.observer.outcome(next), Some(Outcome::Delivered));
}

#[test]
fn a_hint_brings_one_repetition_forward_and_no_more() {
    let mut sessions: Sessions<u8> = Sessions::new(id(0), Boot(0), Settings::default());
    let mut out = Vec::new();
    sessions.send(Time::ZERO, id(1), 7, false, &mut out);
    assert_eq!(out.len(), 1);
    sessions.unreachable(Time::from_millis(1), id(1), &mut out);
    sessions.unreachable(Time::from_millis(2), id(1), &mut out);
    assert_eq!(out.len(), 2);
}

#[test]
fn waiting_times_double_up_to_the_longest() {
    let settings = Settings { give_up: millis(1_000_000), ..Settings::default() };
    let mut sessions: Sessions<u8> = Sessions::new(id(0), Boot(0), settings.clone());
    let mut out = Vec::new();
    sessions.send(Time::ZERO, id(1), 7, true, &mut out);
    let mut waits = Vec::new();
    let mut now = Time::ZERO;
    for _ in 0..8 {
        let next = sessions.wakes().unwrap();
        waits.push(next - now);
        now = next;
        sessions.woken(now, &mut out);
    }
    for (count, wait) in waits.into_iter().enumerate() {
        let least = millis(500 << count.min(5)).min(settings.retry_max);
        assert!(wait >= least && wait <= least + least / 8, "{wait:?} after {count} repetitions");
    }
}

#[test]
fn a_multicast_is_one_message_for_each_member_but_oneself() {
    let mut sessions: Sessions<u8> = Sessions::new(id(1), Boot(3), Settings::default());
    let mut out = Vec::new();
    let sent = sessions.multicast(Time::ZERO, (0..4).map(id), &9, false, &mut out);
    let transfer = |number| Transfer { boot: Boot(3), number };
    assert_eq!(sent, [(id(0), transfer(0)), (id(2), transfer(1)), (id(3), transfer(2))]);
    assert!(out.iter().all(|effect| matches!(effect, Effect::Transmit { segment: Segment::Open { .. }, .. })));
}

#[test]
fn a_late_word_of_a_former_life_ends_no_session() {
    let mut world = World::new(2, &Settings::default(), Network::PERFECT, 0);
    world.send(1, 0, false);
    let late = world.air.pop_first().unwrap().1;
    world.reboot(1);
    world.send(0, 1, false);
    world.run_for(millis(100));
    let note = world.send(0, 1, false);
    let mut out = Vec::new();
    world.nodes[0].received(world.now, late.from, late.segment, &mut out);
    assert_eq!(out, []);
    world.run_for(millis(100));
    assert_eq!(world.observer.outcome(note), Some(Outcome::Delivered));
}

#[test]
fn settings_of_nothing_at_all_do_no_harm() {
    let none = millis(0);
    let settings = Settings { window: 0, retry: none, retry_max: none, give_up: none, ..Settings::default() };
    let mut world = World::new(2, &settings, Network::PERFECT, 0);
    world.send(0, 1, false);
    let kept = Settings { retry: millis(5), ..settings };
    world.run_for(millis(1));
    let mut world = World::new(2, &kept, Network::PERFECT, 0);
    let note = world.send(0, 1, true);
    world.run_for(millis(100));
    assert_eq!(world.observer.outcome(note), Some(Outcome::Delivered));
}

//! Jamming, cutting, crashing, losing more; and what holds whatever happens.

mod radio_world;

use std::collections::BTreeMap;

use driftlock_field::radio::settings::{Bursts, Delay, JammedSenses};
use driftlock_field::radio::{Effect, Settings};
use driftlock_net::{Span, Time};
use driftlock_protocol::NodeId;
use radio_world::{World, disk};

#[test]
fn a_jammed_node_hears_nothing_and_by_default_waits_with_sending() {
    let mut world = World::line(&disk(250.0), 1, 2, 100.0);
    world.set_jammed(1, true);
    world.set_jammed(1, true);
    world.unicast(0, 1, 100, 1);
    world.unicast(1, 0, 100, 2);
    world.run_until(Time::from_millis(500));
    assert_eq!((world.heard(1).len(), world.heard(2).len(), world.failed()), (0, 0, 1));
    world.set_jammed(1, false);
    world.unicast(0, 1, 100, 3);
    world.run();
    assert_eq!((world.heard(2), world.heard(3)), (vec![0], vec![1]));
}

#[test]
fn a_jammed_node_that_senses_nothing_is_heard_but_not_answered() {
    let settings = Settings { jammed_senses: JammedSenses::Free, ..disk(250.0) };
    let mut world = World::line(&settings, 1, 2, 100.0);
    world.set_jammed(1, true);
    world.unicast(1, 0, 100, 2);
    world.run();
    assert_eq!((world.heard(2), world.failed()), (vec![0], 1));
}

#[test]
fn jamming_in_the_middle_of_a_frame_spoils_it() {
    let mut world = World::line(&disk(250.0), 1, 2, 100.0);
    world.broadcast(0, 500, 1);
    world.run_until(Time::from_millis(1));
    world.set_jammed(1, true);
    world.set_jammed(1, false);
    world.run();
    assert_eq!(world.heard(1).len(), 0);
}

#[test]
fn groups_do_not_hear_or_sense_each_other_until_they_are_one_again() {
    let mut world = World::line(&disk(250.0), 1, 4, 50.0);
    world.air.set_group(NodeId(2), 1);
    world.air.set_group(NodeId(3), 1);
    world.broadcast(0, 500, 1);
    world.run_until(Time::from_millis(1));
    world.broadcast(2, 500, 2);
    world.run();
    assert_eq!((world.heard(1), world.heard(2)), (vec![1], vec![3]));
    for node in 2..4 {
        world.air.set_group(NodeId(node), 0);
    }
    world.broadcast(0, 500, 3);
    world.run();
    assert_eq!(world.heard(3), [1, 2, 3]);
}

#[test]
fn two_that_are_cut_off_from_each_other_are_heard_by_all_others() {
    let mut world = World::line(&disk(250.0), 1, 3, 50.0);
    world.air.set_cut(NodeId(2), NodeId(0), true);
    world.broadcast(0, 500, 1);
    world.run();
    world.air.set_cut(NodeId(0), NodeId(2), false);
    world.broadcast(2, 500, 2);
    world.run();
    assert_eq!((world.heard(1), world.heard(2)), (vec![1], vec![0, 1]));
}

#[test]
fn a_crash_cuts_the_frame_off_and_drops_the_queue_and_a_restart_begins_blank() {
    let mut world = World::line(&disk(250.0), 1, 2, 100.0);
    world.unicast(0, 1, 500, 1);
    world.unicast(0, 1, 500, 2);
    world.run_until(Time::from_millis(1));
    world.set_down(0, true);
    assert_eq!(world.air.in_hand(), 0);
    world.unicast(0, 1, 500, 3);
    assert_eq!(world.failed(), 1, "a node that is down cannot send");
    world.run();
    assert_eq!((world.heard(1).len(), world.heard(2).len(), world.sent()), (0, 0, 0));
    world.set_down(0, false);
    world.unicast(0, 1, 500, 4);
    world.run();
    assert_eq!((world.heard(4), world.sent()), (vec![1], 1));
}

#[test]
fn a_node_that_is_down_hears_nothing_and_spends_nothing() {
    let mut world = World::line(&disk(250.0), 1, 2, 100.0);
    world.set_down(1, true);
    world.unicast(0, 1, 500, 1);
    world.run_until(Time::from_millis(1000));
    assert_eq!((world.heard(1).len(), world.failed()), (0, 1));
    let meter = world.air.meter(world.now, NodeId(1));
    assert_eq!(meter.transmitting_ns + meter.receiving_ns + meter.idle_ns, 0);
}

#[test]
fn a_receiver_that_crashes_before_its_ack_leaves_the_sender_to_its_retries() {
    let mut world = World::line(&disk(250.0), 1, 2, 100.0);
    world.unicast(0, 1, 500, 1);
    while world.heard(1).is_empty() {
        assert!(world.step(Time::END));
    }
    world.set_down(1, true);
    world.run_until(Time::from_millis(5));
    world.set_down(1, false);
    world.run();
    assert_eq!((world.heard(1), world.sent()), (vec![1, 1], 1), "who restarts does not know what it has heard");
}

#[test]
fn extra_loss_comes_and_goes() {
    let mut world = World::line(&disk(250.0), 1, 2, 100.0);
    world.air.set_loss(1.0);
    world.unicast(0, 1, 100, 1);
    world.run();
    world.air.set_loss(0.0);
    world.unicast(0, 1, 100, 2);
    world.run();
    assert_eq!((world.heard(1).len(), world.heard(2).len(), world.failed()), (0, 1, 1));
}

/// A small generator for the tests' own choices.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    fn node(&mut self) -> u32 {
        u32::try_from(self.roll(12)).unwrap()
    }
}

fn unkind(seed: u64) -> Settings {
    let delays = [Delay::None, Delay::Exponential { mean_ms: 3.0 }];
    let bursts = Bursts { good_ms: 50.0, bad_ms: 20.0, loss: 0.9 };
    Settings {
        loss: [0.0, 0.1, 0.4][usize::try_from(seed % 3).unwrap()],
        bursts: seed.is_multiple_of(2).then_some(bursts),
        delay: delays[usize::try_from(seed % 2).unwrap()],
        queue_max: 8,
        ..if seed.is_multiple_of(7) { Settings::ideal() } else { disk(250.0) }
    }
}

/// Random sends and faults, then peace. Without crashes if `crashes` is off.
fn turmoil(seed: u64, crashes: bool) -> World {
    let mut dice = Dice(seed);
    let places = (0..12).map(|_| (dice.roll(600) as f64, dice.roll(600) as f64)).collect::<Vec<_>>();
    let mut world = World::new(&unkind(seed), seed, &places);
    for frame in 0..600 {
        let later = dice.roll(3_000_000);
        world.run_until(world.now + Span(later));
        match dice.roll(20) {
            0 => world.set_jammed(dice.node(), dice.0.is_multiple_of(2)),
            1 => world.air.set_group(NodeId(dice.node()), u32::from(dice.0.is_multiple_of(2))),
            2 if crashes => world.set_down(dice.node(), dice.0.is_multiple_of(2)),
            3 => world.air.set_loss([0.0, 0.5][usize::from(dice.0.is_multiple_of(2))]),
            4..8 => world.broadcast(dice.node(), 50, 10_000 + frame),
            _ => world.unicast(dice.node(), dice.node(), 100, frame),
        }
    }
    for node in 0..12 {
        world.set_jammed(node, false);
        world.set_down(node, false);
    }
    world.run();
    world
}

#[test]
fn every_unicast_ends_exactly_once_and_is_heard_at_most_once() {
    for seed in 0..60 {
        let world = turmoil(seed, false);
        let (mut ends, mut heard) = (BTreeMap::new(), BTreeMap::new());
        for (_, effect) in &world.notes {
            match effect {
                Effect::Sent { to: Some(_), frame, .. } | Effect::Failed { frame, .. } => {
                    *ends.entry(*frame).or_insert(0) += 1;
                }
                Effect::Heard { frame, at, from } => {
                    assert_ne!(at, from, "seed {seed}: a node hears itself");
                    *heard.entry((*frame, *at)).or_insert(0) += 1;
                }
                _ => {}
            }
        }
        assert!(ends.len() > 300, "seed {seed}");
        assert!(ends.values().all(|&times| times == 1), "seed {seed}: {ends:?}");
        assert!(heard.values().all(|&times| times == 1), "seed {seed}: {heard:?}");
        let unicasts = heard.keys().filter(|(frame, _)| *frame < 10_000).count();
        assert!(unicasts > 10, "seed {seed}: only {unicasts} unicasts were heard");
        assert_eq!(world.air.in_hand(), 0, "seed {seed}");
    }
}

#[test]
fn what_was_sent_was_heard() {
    for seed in 0..60 {
        let world = turmoil(seed, false);
        for (_, effect) in &world.notes {
            if let Effect::Sent { to: Some(to), frame, .. } = effect {
                assert_eq!(world.heard(*frame), [to.0], "seed {seed}: acknowledged and not heard");
            }
        }
    }
}

#[test]
fn the_medium_is_silent_in_the_end_whichever_node_crashes_and_serves_again() {
    for seed in 0..60 {
        let mut world = turmoil(seed, true);
        assert_eq!(world.air.in_hand(), 0, "seed {seed}");
        world.air.set_loss(0.0);
        for node in 0..12 {
            world.air.set_group(NodeId(node), 0);
            let before = world.air.meter(world.now, NodeId(node)).data_sent;
            world.broadcast(node, 10, 99_999);
            world.run();
            assert_eq!(world.air.meter(world.now, NodeId(node)).data_sent, before + 1, "seed {seed}: {node} is stuck");
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_effects_and_another_does_not() {
    for seed in [3, 7, 8] {
        assert!(turmoil(seed, true).notes == turmoil(seed, true).notes);
    }
    assert!(turmoil(3, true).notes != turmoil(5, true).notes);
}

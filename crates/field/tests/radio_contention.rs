//! Many nodes that want to send at once.

mod radio_world;

use std::f64::consts::TAU;

use driftlock_field::radio::settings::Propagation;
use driftlock_field::radio::{Effect, Settings};
use driftlock_net::{Span, Time};
use driftlock_protocol::NodeId;
use radio_world::{World, csma, disk};

/// The probability of a collision and of a transmission in a slot, for `n` saturated stations: the fixed point of
/// Bianchi, "Performance Analysis of the IEEE 802.11 Distributed Coordination Function" (2000), equations 7 and 9.
fn bianchi(n: u32, window: f64, stages: u32) -> (f64, f64) {
    let tau = |p: f64| {
        let sum = (0..stages).map(|stage| (2.0 * p).powi(stage.cast_signed())).sum::<f64>();
        2.0 / (1.0 + window + p * window * sum)
    };
    let collides = |tau: f64| 1.0 - (1.0 - tau).powi(n.cast_signed() - 1);
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if collides(tau(middle)) > middle { low = middle } else { high = middle }
    }
    (low, tau(low))
}

/// Saturated senders around a sink, which all hear one another.
fn cell(n: u32, seconds: u64) -> World {
    let mut places = vec![(0.0, 0.0)];
    places.extend((0..n).map(|node| TAU * f64::from(node) / f64::from(n)).map(|a| (50.0 * a.cos(), 50.0 * a.sin())));
    let settings = csma(&disk(250.0), |csma| csma.retries = u32::MAX);
    let mut world = World::new(&settings, 11, &places);
    for node in 1..=n {
        for _ in 0..2 {
            world.unicast(node, 0, 1000, node);
        }
    }
    let mut seen = 0;
    while world.step(Time::from_millis(seconds * 1000)) {
        while seen < world.notes.len() {
            if let Effect::Sent { from, .. } = world.notes[seen].1 {
                world.unicast(from.0, 0, 1000, from.0);
            }
            seen += 1;
        }
    }
    world.now = Time::from_millis(seconds * 1000);
    world
}

#[test]
fn saturated_senders_collide_and_share_as_bianchi_says() {
    for n in [5, 10, 20] {
        let world = cell(n, 60);
        let (p, tau) = bianchi(n, 32.0, 5);
        let total = world.air.total(world.now);
        let collided = total.retries as f64 / total.data_sent as f64;
        assert!((collided / p - 1.0).abs() < 0.15, "n = {n}: collision probability {collided}, Bianchi {p}");

        let some = 1.0 - (1.0 - tau).powi(n.cast_signed());
        let one = f64::from(n) * tau * (1.0 - tau).powi(n.cast_signed() - 1);
        let data = world.air.rules().airtime(1000, true).units();
        let [slot, sifs, difs, ack] = [20e-6, 10e-6, 50e-6, 304e-6];
        let round = (1.0 - some) * slot + some * (data + sifs + ack + difs);
        let expected = one * 60.0 / round;
        let sent = world.sent() as f64;
        println!("n {n}: p {collided:.4} (Bianchi {p:.4}), frames {sent} (Bianchi {expected:.0})");
        assert!((sent / expected - 1.0).abs() < 0.05, "n = {n}: {sent} frames, Bianchi {expected}");

        let shares = (1..=n).map(|node| world.heard(node).len() as f64).collect::<Vec<_>>();
        let sum = shares.iter().sum::<f64>();
        let fairness = sum * sum / (f64::from(n) * shares.iter().map(|share| share * share).sum::<f64>());
        assert!(fairness > 0.98, "n = {n}: Jain's index {fairness}, {shares:?}");
    }
}

/// Two senders to the node between them, each with a frame at a random time of every eight milliseconds. How many of
/// them collide there, and how many are received.
fn two_senders(settings: &Settings) -> (u64, u64) {
    let mut world = World::line(settings, 4, 3, 200.0);
    let mut random = 1_u64;
    let mut some_time = || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % 8_000_000
    };
    for frame in 0..2000 {
        let mut next = [(some_time(), 0), (some_time(), 2)];
        next.sort_unstable();
        for (later, node) in next {
            world.run_until(Time::from_millis(8 * u64::from(frame)) + Span(later));
            world.unicast(node, 1, 500, frame * 10 + node);
        }
    }
    world.run();
    let meter = world.air.meter(world.now, NodeId(1));
    (meter.collisions, meter.data_received)
}

#[test]
fn hidden_terminals_collide_often_and_nodes_that_sense_each_other_rarely() {
    let sensing = Propagation::UnitDisk { range_m: 250.0, sense: 2.2, interference: 1.78 };
    let (hidden, _) = two_senders(&disk(250.0));
    let (open, received) = two_senders(&Settings { propagation: sensing, ..Settings::default() });
    println!("collisions: hidden {hidden}, open {open} of {received}");
    assert!(hidden > 2000, "hidden: {hidden}");
    assert!(open * 10 < hidden, "open: {open}, hidden: {hidden}");
}

#[test]
fn no_node_hears_while_it_sends() {
    let mut world = World::line(&disk(250.0), 1, 2, 100.0);
    world.broadcast(0, 500, 1);
    world.broadcast(1, 500, 2);
    world.run();
    assert_eq!((world.heard(1).len(), world.heard(2).len()), (0, 0));
    let total = world.air.total(world.now);
    assert_eq!((total.missed, total.collisions), (2, 0));
}

#[test]
fn two_frames_that_begin_at_once_are_both_lost_in_a_disk_and_the_stronger_captures_with_power() {
    let places = [(0.0, 0.0), (10.0, 0.0), (110.0, 0.0)];
    let propagation = Propagation::LogDistance {
        exponent: 3.0,
        reference_loss_db: 46.6777,
        tx_power_dbm: 16.0206,
        noise_dbm: -94.0,
        sense_dbm: -94.0,
        capture_db: 10.0,
        bandwidth_hz: 22e6,
        shadowing_db: 0.0,
        decorrelation_m: None,
    };
    let heard = |settings: &Settings| {
        let mut world = World::new(settings, 1, &places);
        world.broadcast(0, 500, 1);
        world.broadcast(2, 500, 2);
        world.run();
        (world.heard(1).len(), world.heard(2).len())
    };
    assert_eq!(heard(&disk(250.0)), (0, 0));
    assert_eq!(heard(&Settings { propagation, ..Settings::default() }), (1, 0));
}

#[test]
fn a_frame_that_comes_while_the_medium_is_busy_waits_for_its_end() {
    let mut world = World::line(&disk(250.0), 1, 3, 100.0);
    world.broadcast(0, 500, 1);
    world.run_until(Time::from_millis(1));
    world.broadcast(1, 500, 2);
    world.run();
    assert_eq!((world.heard(1), world.heard(2)), (vec![1, 2], vec![0, 2]));
    assert_eq!(world.air.total(world.now).collisions, 0);
}

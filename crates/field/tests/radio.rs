//! One frame at a time: airtime, acknowledgements, losses, queues, settings.

mod radio_world;

use driftlock_field::radio::settings::{Access, Bursts, Delay, Propagation};
use driftlock_field::radio::{Effect, Settings, SettingsError};
use driftlock_net::{Span, Time};
use driftlock_protocol::NodeId;
use radio_world::{World, csma, disk, micros};

#[test]
fn airtime_is_preamble_and_headers_and_bytes() {
    let slow = Settings::default().rules().unwrap();
    // 192 us + (36 + 512) * 8 / 2 Mb/s = 192 + 2192.
    assert_eq!(slow.airtime(512, true), micros(2384));
    // Broadcasts go at 1 Mb/s: 192 + 4384.
    assert_eq!(slow.airtime(512, false), micros(4576));
    let fast = Settings::wifi_11mbps().rules().unwrap();
    // 192 us + 548 * 8 / 11 Mb/s = 192 + 398.545.
    assert_eq!(fast.airtime(512, true), Span(590_545));
    assert_eq!(Settings::ideal().rules().unwrap().airtime(512, true), Span::ZERO);
}

#[test]
fn a_unicast_is_heard_after_its_airtime_and_acknowledged_after_sifs_and_the_ack() {
    let mut world = World::line(&Settings::default(), 1, 2, 100.0);
    world.unicast(0, 1, 512, 7);
    world.run();
    let (from, to) = (NodeId(0), NodeId(1));
    assert_eq!(
        world.notes,
        [
            (Time::ZERO + micros(2384), Effect::Heard { at: to, from, frame: 7 }),
            // 10 us and 192 + 14 * 8.
            (Time::ZERO + micros(2384 + 10 + 304), Effect::Sent { from, to: Some(to), frame: 7 }),
        ]
    );
    assert_eq!(world.air.in_hand(), 0);
}

#[test]
fn a_broadcast_is_one_transmission_that_all_in_range_hear_but_its_sender() {
    let mut world = World::line(&disk(250.0), 1, 6, 100.0);
    world.broadcast(2, 100, 7);
    world.run();
    assert_eq!(world.heard(7), [0, 1, 3, 4]);
    assert_eq!(world.sent(), 1);
    let total = world.air.total(world.now);
    assert_eq!((total.data_sent, total.acks_sent, total.data_received, total.bytes_received), (1, 0, 4, 400));
}

#[test]
fn a_second_frame_waits_for_difs_and_a_backoff_of_at_most_cw_min_slots() {
    let mut world = World::line(&Settings::default(), 1, 2, 100.0);
    world.unicast(0, 1, 512, 1);
    world.unicast(0, 1, 512, 2);
    world.run();
    let gap = world.notes[2].0 - world.notes[1].0;
    let slots = (gap - micros(50 + 2384)).0;
    assert_eq!(slots % 20_000, 0);
    assert!(slots / 20_000 <= 31);
}

#[test]
fn a_unicast_that_no_node_hears_is_tried_seven_times_and_fails() {
    let mut world = World::line(&Settings::default(), 1, 2, 300.0);
    world.unicast(0, 1, 100, 7);
    world.unicast(0, 0, 100, 8);
    world.unicast(0, 99, 100, 9);
    world.run();
    assert_eq!((world.failed(), world.sent()), (3, 0));
    let meter = world.air.meter(world.now, NodeId(0));
    assert_eq!((meter.data_sent, meter.retries, meter.failed), (21, 18, 3));
    assert_eq!(world.heard(8), [0; 0], "a node must not hear itself");
}

#[test]
fn a_lost_ack_causes_no_duplicate_unless_duplicates_are_asked_for() {
    for duplicates in [false, true] {
        let settings = Settings { loss: 0.4, duplicates, ..Settings::default() };
        let mut world = World::line(&settings, 3, 2, 100.0);
        for frame in 0..40 {
            world.unicast(0, 1, 200, frame);
        }
        world.run();
        let meter = world.air.meter(world.now, NodeId(1));
        assert!(meter.data_received > 40, "acks were lost: {meter:?}");
        let most = (0..40).map(|frame| world.heard(frame).len()).max();
        assert_eq!(most > Some(1), duplicates);
    }
}

#[test]
fn the_queue_is_bounded_and_what_does_not_fit_fails_at_once() {
    let mut world = World::line(&Settings { queue_max: 3, ..Settings::default() }, 1, 2, 100.0);
    for frame in 0..5 {
        world.unicast(0, 1, 100, frame);
    }
    assert_eq!(world.failed(), 2);
    world.broadcast(0, 100, 5);
    assert_eq!(world.air.meter(world.now, NodeId(0)).dropped, 3);
    world.run();
    assert_eq!((world.sent(), world.failed()), (3, 2));
}

#[test]
fn the_ideal_medium_delivers_all_at_once_after_a_millisecond() {
    let mut world = World::line(&Settings::ideal(), 1, 4, 100.0);
    for from in 0..4 {
        world.broadcast(from, 1000, from);
    }
    world.unicast(0, 1, 1000, 10);
    world.unicast(0, 3, 1000, 11);
    world.run();
    assert_eq!((world.heard(0), world.heard(1)), (vec![1, 2], vec![0, 2, 3]));
    assert_eq!((world.sent(), world.failed()), (5, 1));
    assert!(world.notes.iter().all(|(time, _)| *time == Time::from_millis(1)));
}

#[test]
fn delays_reorder_and_duplication_hands_over_twice() {
    let delay = Delay::Uniform { min_ms: 1.0, max_ms: 50.0 };
    let mut world = World::line(&Settings { delay, duplicated: 0.5, ..Settings::default() }, 1, 2, 100.0);
    for frame in 0..30 {
        world.unicast(0, 1, 100, frame);
    }
    world.run();
    let copies = (0..30).map(|frame| world.heard(frame).len()).collect::<Vec<_>>();
    assert!(copies.iter().all(|&copies| copies == 1 || copies == 2), "{copies:?}");
    assert!(copies.contains(&1) && copies.contains(&2));
    let order = world.notes.iter().filter_map(|(_, effect)| match effect {
        Effect::Heard { frame, .. } => Some(*frame),
        _ => None,
    });
    assert!(!order.is_sorted());
}

/// Which of the broadcasts of node 0, one every five milliseconds, node 1 hears.
fn heard_broadcasts(settings: &Settings, seed: u64, disturb: bool) -> Vec<bool> {
    let mut world = World::line(settings, seed, 3, 100.0);
    for frame in 0..400 {
        world.run_until(Time::from_millis(u64::from(frame) * 5));
        world.broadcast(0, 100, frame);
        if disturb {
            world.run_until(Time::from_millis(u64::from(frame) * 5 + 3));
            world.unicast(1, 2, 10, 1000 + frame);
        }
    }
    world.run();
    (0..400).map(|frame| world.heard(frame).contains(&1)).collect()
}

#[test]
fn the_weather_is_the_same_whatever_else_is_sent() {
    let bursts = Some(Bursts { good_ms: 100.0, bad_ms: 50.0, loss: 0.9 });
    let settings = Settings { loss: 0.2, bursts, ..Settings::ideal() };
    let alone = heard_broadcasts(&settings, 5, false);
    assert_eq!(alone, heard_broadcasts(&settings, 5, true));
    assert_ne!(alone, heard_broadcasts(&settings, 6, false));
    let share = alone.iter().filter(|&&heard| heard).count() as f64 / 400.0;
    // 0.8 * (2 / 3 + 1 / 3 * 0.1) = 0.56.
    assert!((share - 0.56).abs() < 0.1, "{share}");
}

#[test]
fn with_more_loss_the_same_frames_are_lost_and_others_besides() {
    let heard = |loss| heard_broadcasts(&Settings { loss, ..Settings::default() }, 5, false);
    let (little, much) = (heard(0.1), heard(0.5));
    assert!(little.iter().zip(&much).all(|(little, much)| *little || !much));
    let share = |heard: &[bool]| heard.iter().filter(|&&heard| heard).count();
    assert!((335..=385).contains(&share(&little)) && (165..=235).contains(&share(&much)));
}

#[test]
fn with_log_distance_near_frames_arrive_and_far_ones_fade() {
    let propagation = Propagation::LogDistance {
        exponent: 3.0,
        reference_loss_db: 46.6777,
        tx_power_dbm: 16.0206,
        noise_dbm: -94.0,
        sense_dbm: -100.0,
        capture_db: 10.0,
        bandwidth_hz: 22e6,
        shadowing_db: 0.0,
        decorrelation_m: None,
    };
    let received = |metres| {
        let settings = csma(&Settings { propagation, ..Settings::default() }, |csma| csma.bitrate_bps = 11e6);
        let mut world = World::line(&settings, 1, 2, metres);
        for frame in 0..50 {
            world.unicast(0, 1, 1000, frame);
        }
        world.run();
        world.air.meter(world.now, NodeId(0))
    };
    let (near, middle, far) = (received(50.0), received(78.0), received(130.0));
    assert_eq!((near.failed, near.retries), (0, 0));
    assert!(middle.retries > 20 && middle.failed < 25, "{middle:?}");
    assert_eq!(far.failed, 50);
}

#[test]
fn the_meter_adds_up_time_and_energy() {
    let settings = Settings::default();
    let mut world = World::line(&settings, 1, 2, 100.0);
    world.unicast(0, 1, 512, 7);
    world.run_until(Time::from_millis(1000));
    let (sender, receiver) = (world.air.meter(world.now, NodeId(0)), world.air.meter(world.now, NodeId(1)));
    assert_eq!((sender.transmitting_ns, sender.receiving_ns), (2_384_000, 304_000));
    assert_eq!((receiver.transmitting_ns, receiver.receiving_ns), (304_000, 2_384_000));
    for meter in [sender, receiver] {
        assert_eq!(meter.transmitting_ns + meter.receiving_ns + meter.idle_ns, 1_000_000_000);
    }
    let expected = 2.0 * (0.002_688 / 2.0 * (1.327 + 0.967) + (1.0 - 0.002_688) * 0.843);
    assert!((world.air.joules(world.now) - expected).abs() < 1e-9);
}

#[test]
fn settings_are_read_from_toml_and_written_back() {
    let text = r#"
        loss = 0.05
        queue-max = 20
        jammed-senses = "free"
        [propagation]
        model = "unit-disk"
        range-m = 120.0
        sense = 2.0
        interference = 1.5
        [access]
        mac = "csma"
        bitrate-bps = 5.5e6
        [bursts]
        good-ms = 900.0
        bad-ms = 100.0
        loss = 0.8
        [delay]
        kind = "exponential"
        mean-ms = 2.0
    "#;
    let settings: Settings = toml::from_str(text).unwrap();
    let Access::Csma(csma) = settings.access else { panic!("csma was asked for") };
    assert_eq!((csma.bitrate_bps, csma.cw_min, settings.queue_max), (5.5e6, 31, 20));
    assert!(settings.rules().is_ok());
    let again: Settings = toml::from_str(&toml::to_string(&settings).unwrap()).unwrap();
    assert_eq!(again, settings);
    assert!(toml::from_str::<Settings>("lost = 0.1").is_err(), "an unknown key must be refused");
    let partly: Settings = toml::from_str("[propagation]\nmodel = \"unit-disk\"\nrange-m = 200").unwrap();
    assert_eq!(partly, Settings::nfk(), "what is not given is as in wifi-2mbps");
}

#[test]
fn the_examples_of_the_manual_can_be_read() {
    let manual = include_str!("../../../docs/radio.md");
    let examples = manual.split("```toml").skip(1).filter_map(|rest| rest.split("```").next());
    let rules: Vec<_> =
        examples.map(|example| toml::from_str::<Settings>(example).expect(example).rules().expect(example)).collect();
    assert_eq!(rules.len(), 2);
    assert_eq!(rules[0].range(), Some(250.0));
    // Three deviations of 6 dB are 18 dB beyond the noise floor: 10^((16.0206 - 46.6777 + 93.6 + 18) / 30).
    assert!((rules[1].reach() - 498.9).abs() < 1.0, "{}", rules[1].reach());
}

#[test]
fn every_preset_is_sound_and_unknown_ones_are_named() {
    for name in driftlock_field::radio::presets::NAMES {
        assert!(name.parse::<Settings>().unwrap().rules().is_ok(), "{name}");
    }
    let error = "wify".parse::<Settings>().unwrap_err();
    assert!(error.to_string().contains("wifi-2mbps"), "{error}");
}

#[test]
fn signals_that_would_be_everywhere_are_refused() {
    let log_distance = |exponent, shadowing_db| Propagation::LogDistance {
        exponent,
        reference_loss_db: 46.6777,
        tx_power_dbm: 16.0206,
        noise_dbm: -94.0,
        sense_dbm: -92.0,
        capture_db: 10.0,
        bandwidth_hz: 22e6,
        shadowing_db,
        decorrelation_m: None,
    };
    let disk = |range_m, sense, interference| Propagation::UnitDisk { range_m, sense, interference };
    let rules = |propagation| Settings { propagation, ..Settings::default() }.rules();
    for propagation in [disk(1e308, 10.0, 1.0), disk(1e8, 1.0, 100.0), log_distance(1e-9, 0.0), log_distance(3.0, 1e9)]
    {
        assert!(matches!(rules(propagation), Err(SettingsError::TooFar(_))), "{propagation:?}");
    }
    assert!(rules(disk(1e8, 1.0, 1.0)).is_ok() && rules(log_distance(3.0, 6.0)).is_ok());
}

#[test]
fn nonsense_is_refused_by_name() {
    let ok = Settings::default();
    let refused = |settings: Settings| settings.rules().unwrap_err().to_string();
    assert_eq!(refused(disk(-1.0)), "range-m is -1, but must be greater than 0");
    assert_eq!(refused(disk(f64::INFINITY)), "range-m is inf, but must be finite");
    assert_eq!(refused(csma(&ok, |csma| csma.bitrate_bps = 0.0)), "bitrate-bps is 0.0, but must be at least 1");
    assert_eq!(
        refused(csma(&ok, |csma| csma.slot_us = 1e10)),
        "slot-us is 10000000000.0, but must be at most 1000000000"
    );
    let senseless = Propagation::UnitDisk { range_m: 100.0, sense: 0.5, interference: 1.0 };
    assert_eq!(refused(Settings { propagation: senseless, ..ok.clone() }), "sense is 0.5, but must be at least 1");
    assert_eq!(refused(csma(&ok, |csma| csma.cw_max = 7)), "cw-min must not be greater than cw-max");
    assert_eq!(refused(Settings { loss: 1.5, ..ok.clone() }), "loss is 1.5, but a probability is from 0 to 1");
    assert!(Settings { loss: f64::NAN, ..ok.clone() }.rules().is_err());
    assert_eq!(Settings { queue_max: 0, ..ok.clone() }.rules().unwrap_err(), SettingsError::NoQueue);
    let delay = Delay::Uniform { min_ms: 2.0, max_ms: 1.0 };
    assert_eq!(refused(Settings { delay, ..ok }), "delay.min-ms must not be greater than delay.max-ms");
}

//! What is told to a caller that watches, and what is lost at single nodes.

mod radio_world;

use driftlock_field::radio::{Effect, Settings};
use driftlock_net::Time;
use driftlock_protocol::NodeId;
use radio_world::{World, disk, micros};

const FROM: NodeId = NodeId(0);
const TO: NodeId = NodeId(1);

#[test]
fn a_transmission_is_told_of_when_it_begins_and_a_reception_when_it_ends() {
    let mut world = World::line(&Settings::default(), 1, 2, 100.0);
    world.air.set_watched(true);
    world.unicast(0, 1, 512, 7);
    world.run();
    let (from, at, to, frame, attempt) = (FROM, TO, Some(TO), 7, 1);
    let expected = [
        (Time::ZERO, Effect::OnAir { from, to, frame, attempt }),
        (Time::ZERO + micros(2384), Effect::Received { at, from, to, frame, attempt }),
        (Time::ZERO + micros(2384), Effect::Heard { at, from, frame }),
        (Time::ZERO + micros(2384 + 10 + 304), Effect::Sent { from, to, frame }),
    ];
    assert_eq!(world.notes, expected);
}

#[test]
fn the_ideal_medium_tells_the_same() {
    let mut world = World::line(&Settings::ideal(), 1, 2, 100.0);
    world.air.set_watched(true);
    world.broadcast(0, 512, 7);
    world.run();
    let (from, at, to, frame, attempt) = (FROM, TO, None, 7, 1);
    let expected = [
        (Time::ZERO, Effect::OnAir { from, to, frame, attempt }),
        (Time::from_millis(1), Effect::Received { at, from, to, frame, attempt }),
        (Time::from_millis(1), Effect::Heard { at, from, frame }),
        (Time::from_millis(1), Effect::Sent { from, to, frame }),
    ];
    assert_eq!(world.notes, expected);
}

#[test]
fn attempts_are_counted_and_what_a_node_has_had_before_is_still_received() {
    let mut world = World::line(&disk(250.0), 1, 2, 100.0);
    world.air.set_watched(true);
    // Every acknowledgement is lost at the sender.
    world.air.set_loss_at(FROM, 1.0);
    world.unicast(0, 1, 100, 1);
    world.run();
    let attempts =
        |of: fn(&Effect<u32>) -> Option<u32>| world.notes.iter().filter_map(|(_, it)| of(it)).collect::<Vec<_>>();
    let sent = attempts(|effect| if let Effect::OnAir { attempt, .. } = effect { Some(*attempt) } else { None });
    let received = attempts(|effect| if let Effect::Received { attempt, .. } = effect { Some(*attempt) } else { None });
    assert_eq!((sent, received), ((1..=7).collect(), (1..=7).collect()));
    assert_eq!((world.heard(1), world.failed()), (vec![1], 1));
}

#[test]
fn what_is_lost_at_one_node_is_heard_by_others() {
    let mut world = World::line(&disk(250.0), 1, 3, 100.0);
    world.air.set_loss_at(TO, 1.0);
    world.broadcast(0, 100, 1);
    world.run();
    world.air.set_loss_at(TO, 0.0);
    world.broadcast(0, 100, 2);
    world.run();
    assert_eq!((world.heard(1), world.heard(2)), (vec![2], vec![1, 2]));
}

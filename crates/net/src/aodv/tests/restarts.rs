//! A node that restarts routes at once with what it had stored: in a new life, with a number that is no older.

use super::super::Seq;
use super::super::packet::{Data, Unreachable};
use super::{Effect, Packet, Router, Settings, World, id};
use crate::Span;

/// Four nodes on a line, of which the first and the last send to each other four times in a second, and in between one
/// node restarts with what this makes of it. Tells which of the two was heard by the other within a second after.
fn heard_within_a_second(restarts: usize, remembers: impl Fn(&mut Router<u32, u64>)) -> (bool, bool) {
    let mut world = World::line(4, &Settings::default());
    let talk = |world: &mut World, rounds| {
        for _ in 0..rounds {
            for (from, to) in [(0, 3), (3, 0)] {
                world.send(from, to, 0);
            }
            world.run_for(250);
        }
    };
    talk(&mut world, 40);
    let durable = world.routers[restarts].durable();
    world.restore(restarts, 1, durable);
    remembers(&mut world.routers[restarts]);
    world.delivered.clear();
    talk(&mut world, 4);
    let arrived = |to| world.delivered.iter().any(|delivered| delivered.1 == id(to));
    (arrived(0), arrived(3))
}

#[test]
fn a_node_that_remembers_its_number_routes_within_a_second() {
    for restarts in 0..4 {
        assert_eq!(heard_within_a_second(restarts, |_| ()), (true, true), "node {restarts}");
    }
}

/// The last of four nodes on a line has talked to the first and looked for others, restarts after so many milliseconds
/// with what this makes of it, and talks to the first again. Tells whether that is heard within a second.
fn is_believed(quiet: u64, forgets: impl Fn(&mut Router<u32, u64>)) -> bool {
    let mut world = World::line(4, &Settings::default());
    world.send(3, 0, 1);
    world.run_for(1_000);
    world.send(3, 9, 2);
    world.run_for(4_000 + quiet);
    let durable = world.routers[3].durable();
    world.restore(3, 1, durable);
    forgets(&mut world.routers[3]);
    world.send(3, 0, 3);
    world.run_for(1_000);
    world.delivered.contains(&(id(3), id(0), 3))
}

#[test]
fn without_its_number_or_with_the_numbers_of_former_requests_it_is_not_believed() {
    assert!([0, 8_000].iter().all(|&quiet| is_believed(quiet, |_| ())));
    assert!(!is_believed(0, |router| router.discovery.count_on_from(0)), "those requests were heard");
    assert!(!is_believed(8_000, |router| router.seq = Seq(0)), "newer numbers are remembered");
}

#[test]
fn data_for_a_former_life_is_turned_away_and_its_sender_told() {
    let mut world = World::line(3, &Settings::default());
    world.send(0, 2, 1);
    world.run_for(1_000);
    let durable = world.routers[1].durable();
    world.restore(1, 1, durable);
    // It knows a way again, but not the one that node 0 was told of.
    world.send(1, 2, 2);
    world.run_for(100);
    assert_eq!((world.hops(1, 2), world.routers[0].neighbours.life_of(id(1))), (Some(1), 1));
    let late = Data { life: 0, ttl: 9, originator: id(0), destination: id(2), content: 3 };
    let mut out = Vec::new();
    world.routers[1].received(world.now, id(0), Packet::Data(late.clone()), &mut out);
    let lost = [Unreachable { destination: id(2), seq: world.routers[1].table.get(id(2)).and_then(|entry| entry.seq) }];
    let error = Effect::Transmit { to: Some(id(0)), packet: Packet::Error(Box::new(lost)), delay: Span::ZERO };
    assert_eq!(out, [error]);
    out.clear();
    world.routers[1].received(world.now, id(0), Packet::Data(Data { life: 1, ..late.clone() }), &mut out);
    assert!(matches!(out[..], [Effect::Transmit { packet: Packet::Data(_), .. }]), "{out:?}");
    out.clear();
    world.routers[1].received(world.now, id(0), Packet::Data(Data { destination: id(1), ..late }), &mut out);
    assert_eq!(out, [Effect::Deliver { from: id(0), data: 3 }], "what is for itself needs no way");
}

#[test]
fn numbers_are_stored_a_thousand_ahead() {
    let mut router = Router::<u32, u64>::new(id(0), Settings::default());
    let mut stored = vec![router.durable()];
    for number in 1..=2_500 {
        router.number(Seq(number));
        if stored.last() != Some(&router.durable()) {
            stored.push(router.durable());
        }
        assert!(!router.seq.newer(router.durable().ceiling));
    }
    assert_eq!(stored.iter().map(|durable| durable.ceiling.0).collect::<Vec<_>>(), [1_000, 2_001, 3_002]);
}

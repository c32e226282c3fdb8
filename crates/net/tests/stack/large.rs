//! Messages that are larger than a frame.

use driftlock_net::Boot;
use driftlock_net::parcel::{Parcel, Resource};
use driftlock_net::stack::{Footing, Limits, Packet, Resident, Settings, Stack, Told, Way};
use driftlock_protocol::{Incarnation, NodeId};

use crate::air::{World, ms};

const R: u16 = 9;

/// Two nodes whose messages may be about many units and members.
fn pair(footing: Footing, loss: u64) -> World {
    let mut world = World::new(2, Settings::default());
    world.loss = loss;
    let now = world.now;
    for node in [NodeId(0), NodeId(1)] {
        let resident = Resident { footing, k: 128, members: 1_000 };
        world.act(node, |stack, out| {
            stack.host(now, Resource(R), resident).unwrap();
            stack.drain(now, out);
        });
    }
    world.run(10_000);
    world
}

fn long(keep: bool, number: u32) -> Parcel {
    Parcel::new(Resource(R), keep, &(0..1_500).map(|at| (number + 1) * 1_000_000 + at).collect::<Vec<u32>>())
}

fn numbers(world: &World, node: NodeId) -> Vec<u32> {
    let first = |(at, _, told): &(NodeId, Resource, Told)| match told {
        Told::Message { message, .. } if *at == node => {
            let numbers: Vec<u32> = message.open().unwrap();
            assert!(numbers.len() == 1_500 && numbers.is_sorted());
            Some(numbers[0] / 1_000_000 - 1)
        }
        _ => None,
    };
    world.told.iter().filter_map(first).collect()
}

#[test]
fn a_message_larger_than_a_frame_arrives_whole_once_and_in_order_over_a_link_and_over_a_path() {
    for footing in [Footing::Links, Footing::Paths] {
        for loss in [0, 10] {
            let mut world = pair(footing, loss);
            for number in 0..8 {
                let parcel = long(number % 2 == 0, number);
                assert!(parcel.len() > 3 * world.settings.limits.frame_bytes_max);
                match footing {
                    Footing::Links => {
                        let link = [(NodeId(1), world.link(0, 1, R).expect("they hear each other"))];
                        world.send(0, Way::Links(&link), parcel);
                    }
                    Footing::Paths => world.send(0, Way::Paths(&[(NodeId(1), Incarnation(0))]), parcel),
                }
                world.run(3_000);
            }
            world.run(60_000);
            assert_eq!(numbers(&world, NodeId(1)), (0..8).collect::<Vec<_>>(), "{footing:?}, {loss}% lost");
            let longest = world.aired.iter().map(|(_, packet)| packet.len()).max();
            assert!(longest <= Some(world.settings.limits.frame_bytes_max), "{longest:?}");
            assert!(world.aired.iter().any(|(_, packet)| match &**packet {
                Packet::Piece(_) => footing == Footing::Links,
                Packet::Routed(_) => footing == Footing::Paths,
                _ => false,
            }));
        }
    }
}

#[test]
fn large_tokens_that_are_in_doubt_are_offered_whole() {
    let mut world = pair(Footing::Links, 0);
    let link = [(NodeId(1), world.link(0, 1, R).unwrap())];
    world.hears = vec![false; 4];
    (0..5).for_each(|number| world.send(0, Way::Links(&link), long(true, number)));
    world.run(60_000);
    assert_eq!(world.link(0, 1, R), None);
    assert_eq!(world.stacks[0].in_doubt().count(), 5);
    world.hears = vec![true; 4];
    world.run(60_000);
    assert_eq!(numbers(&world, NodeId(1)), [0, 1, 2, 3, 4]);
    assert_eq!(world.stacks[0].in_doubt().count(), 0);
}

#[test]
fn a_resource_whose_k_makes_messages_too_long_is_refused_when_it_is_set_up() {
    let limits = Limits { message_bytes_max: 4_000, ..Limits::default() };
    let mut stack = Stack::new(ms(0), NodeId(0), Boot(0), &Settings { limits, ..Settings::default() });
    let mut host = |k| stack.host(ms(0), Resource(R), Resident { footing: Footing::Links, k, members: 3 });
    assert_eq!(host(58), Ok(()));
    let refusal = host(59).expect_err("too many units");
    assert_eq!((refusal.k, refusal.longest, refusal.most), (59, 4_032, 4_000));
    assert!(refusal.to_string().contains("raise limits.message-bytes-max"), "{refusal}");
}

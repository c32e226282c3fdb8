//! What nodes say of themselves, on their hellos.

use driftlock_net::Span;
use driftlock_net::parcel::Resource;
use driftlock_net::stack::{Footing, Packet, Refused, Settings, Told, Way};
use driftlock_protocol::{Incarnation, NodeId};

use crate::air::{World, ms, parcel};

/// Nodes that all take part in so many resources, every third of which stands on links, and say so.
fn busy(nodes: u32, resources: u16) -> World {
    busy_with(nodes, resources, Settings::default())
}

fn busy_with(nodes: u32, resources: u16, settings: Settings) -> World {
    let mut world = World::new(nodes, settings);
    for node in 0..nodes {
        for resource in 0..resources {
            world.host(node, resource, if resource % 3 == 0 { Footing::Links } else { Footing::Paths });
            let (now, life) = (world.now, Incarnation(node));
            world.stacks[node as usize].advertise(now, Resource(resource), Some(life), Vec::new()).unwrap();
        }
    }
    world
}

/// How old the oldest is that any node knows of another one, if all know of all.
fn oldest(world: &World, resources: u16) -> Option<Span> {
    let mut oldest = Span::ZERO;
    for at in world.ids() {
        for of in world.ids().filter(|of| *of != at) {
            for resource in 0..resources {
                oldest = oldest.max(world.stacks[at.index()].age(world.now, Resource(resource), of)?);
            }
        }
    }
    Some(oldest)
}

/// docs/routing.md computes it: an advert about nothing but membership takes 9 bytes, 14 fit into half of 256 bytes, so
/// that a node's own 100 take 8 hellos, each at most a quarter later than a second.
#[test]
fn with_a_hundred_resources_among_twenty_nodes_adverts_are_as_old_as_computed_and_nothing_but_hellos_is_sent() {
    let mut world = busy(20, 100);
    world.run(120_000);
    assert!(oldest(&world, 100).is_some(), "all know of all");
    world.aired.clear();
    let mut worst = Span::ZERO;
    for _ in 0..300 {
        world.run(1_000);
        worst = worst.max(oldest(&world, 100).expect("nobody is forgotten"));
    }
    assert_eq!(world.aired_besides_hellos(), []);
    let longest = world.aired.iter().map(|(_, packet)| packet.len()).max().unwrap();
    println!("the oldest advert was {:.1} s old, the longest hello had {longest} bytes", worst.units());
    assert!(worst <= Span::from_millis(8 * 1_250) + Span::from_millis(2), "{worst:?}");
    assert!(worst >= Span::from_millis(7 * 1_000), "{worst:?}: what is computed is of the right size");
}

#[test]
fn a_hello_that_is_longer_than_a_frame_comes_in_pieces_and_is_heard_like_any_other() {
    let mut settings = Settings::default();
    (settings.adverts.hello_bytes, settings.limits.frame_bytes_max) = (2_000, 512);
    let mut world = busy_with(2, 100, settings);
    world.run(5_000);
    assert!(world.aired.iter().any(|(_, packet)| matches!(**packet, Packet::Piece(_))));
    assert!(world.aired.iter().all(|(_, packet)| packet.len() <= 512));
    assert!(oldest(&world, 100).is_some(), "both know of all");
}

#[test]
fn what_would_never_fit_into_a_hello_is_refused() {
    let mut world = World::new(1, Settings::default());
    world.host(0, 1, Footing::Paths);
    let mut say = |bytes| world.stacks[0].advertise(ms(0), Resource(1), Some(Incarnation(0)), vec![7; bytes]);
    assert_eq!((say(88), say(89)), (Ok(()), Err(Refused::TooLong { length: 89, most: 88 })));
    let mut none = Settings::default();
    none.adverts.hello_bytes = 79;
    assert!(none.check().is_err_and(|refusal| refusal.contains("adverts.hello-bytes")));
}

#[test]
fn an_idle_resource_among_few_costs_nothing_but_hellos() {
    let mut world = busy(4, 3);
    world.run(60_000);
    world.aired.clear();
    world.run(300_000);
    assert!(world.aired.len() > 1_000);
    assert_eq!(world.aired_besides_hellos(), []);
    // What all know is told again after 3.75 s, on the next hello.
    assert!(oldest(&world, 3).is_some_and(|age| age <= Span::from_millis(3_750 + 1_250 + 2)));
}

#[test]
fn residents_hear_who_else_is_there_over_any_number_of_hops_what_they_say_and_that_they_are_gone() {
    let mut world = World::new(6, Settings::default()).in_a_row();
    (0..6).for_each(|node| world.host(node, 1, Footing::Paths));
    world.host(3, 2, Footing::Paths);
    world.stacks[0].advertise(ms(0), Resource(1), Some(Incarnation(4)), b"two docks".to_vec()).unwrap();
    world.stacks[1].advertise(ms(0), Resource(2), Some(Incarnation(0)), Vec::new()).unwrap();
    world.run(20_000);
    let of_last = |world: &World| {
        let of_last = world.told.iter().filter(|(node, ..)| *node == NodeId(5));
        of_last.map(|(_, resource, told)| (resource.0, told.clone())).collect::<Vec<_>>()
    };
    let told = of_last(&world);
    assert_eq!(told[0], (1, Told::Met { peer: NodeId(0), life: Incarnation(4) }));
    assert!(matches!(&told[1], (1, Told::Said(advert)) if advert.content == b"two docks"));
    assert_eq!(told.len(), 2, "it takes no part in the other resource: {told:?}");
    assert_eq!(world.stacks[3].members(Resource(2)).collect::<Vec<_>>(), [(NodeId(1), Incarnation(0))]);

    let now = world.now;
    world.stacks[0].advertise(now, Resource(1), None, Vec::new()).unwrap();
    world.run(20_000);
    assert_eq!(of_last(&world)[2..], [(1, Told::Parted { peer: NodeId(0) })]);

    // One that is switched off says nothing: it is gone when no node has heard it for two minutes.
    let nodes = world.stacks.len();
    (0..nodes).for_each(|node| (world.hears[nodes + node], world.hears[node * nodes + 1]) = (false, false));
    world.run(115_000);
    assert_eq!(world.stacks[3].members(Resource(2)).count(), 1);
    world.run(30_000);
    assert_eq!(world.stacks[3].members(Resource(2)).count(), 0);
}

#[test]
fn who_gets_a_message_knows_that_its_sender_is_there() {
    let mut world = World::new(2, Settings::default());
    world.hears = vec![true, true, true, true];
    (0..2).for_each(|node| world.host(node, 1, Footing::Paths));
    world.stacks[0].advertise(ms(0), Resource(1), Some(Incarnation(7)), Vec::new()).unwrap();
    world.send(0, Way::Paths(&[(NodeId(1), Incarnation(0))]), parcel(1, true, "here I am"));
    world.run(1_000);
    let of_other: Vec<_> = world.told.iter().filter(|(node, ..)| *node == NodeId(1)).map(|(.., told)| told).collect();
    assert_eq!(*of_other[0], Told::Met { peer: NodeId(0), life: Incarnation(7) });
    assert!(matches!(of_other[1], Told::Message { .. }) && of_other.len() == 2, "{of_other:?}");
}

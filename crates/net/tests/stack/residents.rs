//! Several resources over the same stacks.

use driftlock_net::link::Frame;
use driftlock_net::parcel::Resource;
use driftlock_net::stack::{Footing, Packet, Refused, Settings, Stack, Told, Way};
use driftlock_protocol::{Incarnation, NodeId};

use crate::air::{World, on, parcel};

const KRL: u16 = 3;
const HOK: u16 = 4;
const KLME: u16 = 200;

/// Three nodes that hear one another; the last one has no node of the second resource.
fn three() -> World {
    let mut world = World::new(3, Settings::default());
    for node in 0..3 {
        world.host(node, KRL, Footing::Links);
        world.host(node, KLME, Footing::Paths);
    }
    (0..2).for_each(|node| world.host(node, HOK, Footing::Links));
    world.run(10_000);
    world
}

#[test]
fn each_hears_of_the_links_to_those_who_share_its_resource_and_gets_its_own_messages() {
    let mut world = three();
    assert!(world.link(0, 1, KRL).is_some() && world.link(0, 2, KRL).is_some());
    assert_eq!(world.link(0, 1, HOK), world.link(0, 1, KRL), "it is one link");
    assert_eq!((world.link(0, 2, HOK), world.link(2, 0, HOK), world.link(0, 1, KLME)), (None, None, None));
    let link = [(NodeId(1), world.link(0, 1, KRL).unwrap())];
    world.send(0, Way::Links(&link), parcel(KRL, true, "token"));
    world.send(0, Way::Links(&link), parcel(HOK, false, "height"));
    world.send(0, Way::Paths(&[(NodeId(1), Incarnation(0))]), parcel(KLME, true, "beat"));
    world.run(1_000);
    assert_eq!(
        (world.got(1, KRL), world.got(1, HOK), world.got(1, KLME)),
        (vec!["token".to_owned()], vec!["height".to_owned()], vec!["beat".to_owned()],)
    );
}

#[test]
fn what_several_send_to_one_neighbour_in_one_drain_is_one_frame() {
    let mut world = three();
    let (aired, now) = (world.aired.len(), world.now);
    let link = [(NodeId(1), world.link(0, 1, KRL).unwrap())];
    let member = [(NodeId(1), Incarnation(0))];
    world.act(NodeId(0), |stack, out| {
        for (resource, keep, text) in [(KRL, true, "a"), (HOK, false, "b"), (KRL, false, "c"), (HOK, true, "d")] {
            stack.send(now, Way::Links(&link), parcel(resource, keep, text)).unwrap();
        }
        stack.drain(now, out);
    });
    let [(_, packet)] = &world.aired[aired..] else { panic!("{:?}", &world.aired[aired..]) };
    assert!(matches!(&**packet, Packet::Link(Frame::Run { messages, .. }) if messages.len() == 4), "{packet:?}");
    world.run(1_000);
    assert_eq!((world.got(1, KRL).concat(), world.got(1, HOK).concat()), ("ac".to_owned(), "bd".to_owned()));

    // Over paths as well, once there is a session.
    world.send(0, Way::Paths(&member), parcel(KLME, false, "0"));
    world.run(2_000);
    let (aired, now) = (world.aired.len(), world.now);
    world.act(NodeId(0), |stack, out| {
        for text in ["1", "2", "3"] {
            stack.send(now, Way::Paths(&member), parcel(KLME, false, text)).unwrap();
        }
        stack.drain(now, out);
    });
    assert_eq!(world.aired[aired..].len(), 1, "{:?}", &world.aired[aired..]);
    world.run(1_000);
    assert_eq!(world.got(1, KLME).concat(), "0123");
}

#[test]
fn a_flood_reaches_those_within_its_hops_once() {
    let mut world = World::new(5, Settings::default()).in_a_row();
    (0..5).for_each(|node| world.host(node, KLME, Footing::Paths));
    world.run(5_000);
    world.send(0, Way::Around { hops: 3 }, parcel(KLME, false, "fire"));
    world.run(1_000);
    let heard: Vec<_> = (0..5).map(|node| world.got(node, KLME).len()).collect();
    assert_eq!(heard, [0, 1, 1, 1, 0]);
}

#[test]
fn nodes_that_share_nothing_that_stands_on_links_form_none() {
    let mut world = World::new(3, Settings::default());
    world.host(0, KRL, Footing::Links);
    world.host(1, HOK, Footing::Links);
    world.host(2, KLME, Footing::Paths);
    world.run(60_000);
    assert!(world.told.iter().all(|(.., told)| !matches!(told, Told::Link(_))), "{:?}", world.told);
    world.host(1, KRL, Footing::Links);
    world.run(60_000);
    assert!(world.link(0, 1, KRL).is_some(), "one that comes later is heard of as well");
    assert_eq!(world.link(1, 0, HOK), None);
}

#[test]
fn a_token_for_a_resource_that_is_not_there_is_kept_by_its_sender_until_it_is() {
    let mut world = World::new(2, Settings::default());
    (0..2).for_each(|node| world.host(node, KRL, Footing::Links));
    world.host(0, KLME, Footing::Paths);
    world.run(10_000);
    world.send(0, Way::Paths(&[(NodeId(1), Incarnation(0))]), parcel(KLME, true, "token"));
    world.run(60_000);
    assert_eq!(world.got(1, KLME), Vec::<String>::new());
    world.host(1, KLME, Footing::Paths);
    world.run(60_000);
    assert_eq!(world.got(1, KLME), ["token"]);
}

#[test]
fn what_nobody_here_takes_part_in_and_what_is_too_long_is_refused() {
    let mut stack = Stack::new(driftlock_net::Time::ZERO, NodeId(0), driftlock_net::Boot(0), &Settings::default());
    let now = driftlock_net::Time::ZERO;
    let to = [(NodeId(1), Incarnation(0))];
    let refused =
        |stack: &mut Stack, way, text: &str| stack.send(now, way, parcel(KRL, true, text)).expect_err("refused");
    assert_eq!(refused(&mut stack, Way::Paths(&to), "x"), Refused::NoResident(Resource(KRL)));
    stack.host(now, Resource(KRL), on(Footing::Links)).unwrap();
    let long = "x".repeat(10_000);
    let most = on(Footing::Links).longest();
    assert_eq!(refused(&mut stack, Way::Links(&to), &long), Refused::TooLong { length: 10_002, most });
    let flooded = refused(&mut stack, Way::Around { hops: 2 }, &long);
    assert!(flooded.to_string().contains("the message takes 10002 bytes"), "{flooded}");
}

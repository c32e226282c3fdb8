//! What survives that a node is killed, and what a full queue refuses.

use driftlock_net::parcel::Resource;
use driftlock_net::stack::{Durable, Footing, Full, Settings, Stack, Told, Way};
use driftlock_protocol::{Incarnation, NodeId};

use crate::air::{World, on, parcel};

const ON_LINKS: u16 = 0;
const ON_PATHS: u16 = 1;

fn pair(settings: Settings) -> World {
    let mut world = World::new(2, settings);
    for node in 0..2 {
        world.host(node, ON_LINKS, Footing::Links);
        world.host(node, ON_PATHS, Footing::Paths);
    }
    world.run(10_000);
    world
}

/// A node is killed, and comes back with what it had stored, which was written down and read.
fn restart(world: &mut World, node: u32) {
    let stored = toml::to_string(&world.stacks[node as usize].durable()).expect("it can be written");
    let durable: Durable = toml::from_str(&stored).expect("and read");
    assert_eq!(durable, world.stacks[node as usize].durable());
    world.stacks[node as usize] = Stack::restored(world.now, NodeId(node), durable, &world.settings);
    for (resource, footing) in [(ON_LINKS, Footing::Links), (ON_PATHS, Footing::Paths)] {
        world.stacks[node as usize].host(world.now, Resource(resource), on(footing)).unwrap();
    }
}

#[test]
fn what_is_kept_outlives_its_sender_and_its_receiver_and_arrives_once() {
    for killed in [0, 1] {
        for times in 1..4 {
            let mut world = pair(Settings::default());
            let link = [(NodeId(1), world.link(0, 1, ON_LINKS).unwrap())];
            world.hears = vec![false; 4];
            for (at, keep) in [true, false, true].into_iter().enumerate() {
                world.send(0, Way::Links(&link), parcel(ON_LINKS, keep, &format!("{at}")));
                let to = [(NodeId(1), Incarnation(0))];
                world.send(0, Way::Paths(&to), parcel(ON_PATHS, keep, &format!("{at}")));
            }
            for _ in 0..times {
                world.run(500);
                restart(&mut world, killed);
            }
            world.hears = vec![true; 4];
            world.run(120_000);
            let kept = |got: Vec<String>| got.into_iter().filter(|text| text != "1").collect::<String>();
            assert_eq!(kept(world.got(1, ON_LINKS)), "02", "node {killed} was killed");
            assert_eq!(kept(world.got(1, ON_PATHS)), "02", "node {killed} was killed");
            assert_eq!(world.stacks[0].in_doubt().count(), 0);
        }
    }
}

#[test]
fn a_full_queue_refuses_what_is_new_and_never_a_token() {
    let mut settings = Settings::default();
    (settings.link.queue_max, settings.session.queue_max) = (20, 20);
    let mut world = pair(settings);
    let link = [(NodeId(1), world.link(0, 1, ON_LINKS).unwrap())];
    let path = [(NodeId(1), Incarnation(0))];
    assert_eq!(world.stacks[0].admits(), Ok(()));
    world.hears = vec![false; 4];
    (0..20).for_each(|_| world.send(0, Way::Paths(&path), parcel(ON_PATHS, false, "early")));
    assert_eq!(world.stacks[0].admits(), Err(Full { to: NodeId(1), waiting: 20 }), "applications are to wait");
    world.send(0, Way::Paths(&path), parcel(ON_PATHS, false, "late"));
    world.send(0, Way::Paths(&path), parcel(ON_PATHS, true, "token"));
    let dropped = |told: &Told| match told {
        Told::Dropped { message, .. } | Told::Undelivered { message, .. } => message.open::<String>().ok(),
        _ => None,
    };
    assert_eq!(world.told.iter().filter_map(|(.., told)| dropped(told)).collect::<Vec<_>>(), ["late"]);

    world.send(0, Way::Links(&link), parcel(ON_LINKS, true, "token"));
    (0..19).for_each(|_| world.send(0, Way::Links(&link), parcel(ON_LINKS, false, "early")));
    world.send(0, Way::Links(&link), parcel(ON_LINKS, true, "token"));
    assert!(world.link(0, 1, ON_LINKS).is_some());
    world.send(0, Way::Links(&link), parcel(ON_LINKS, false, "late"));
    assert_eq!(world.link(0, 1, ON_LINKS), None, "such a neighbour is none");
    assert_eq!(world.stacks[0].in_doubt().count(), 1, "the other token was behind the window: it is back at once");
    world.hears = vec![true; 4];
    world.run(60_000);
    assert_eq!(world.got(1, ON_LINKS), ["token"]);
    assert!(world.got(1, ON_PATHS).contains(&"token".to_owned()));
    assert_eq!(world.stacks[0].admits(), Ok(()));
}

//! Routes are found, used, lost and reported as the RFC says.

use std::collections::VecDeque;

use super::super::Hello;
use super::super::packet::{Advert, Data};
use super::{Air, Effect, MILLISECOND, Packet, Router, Settings, World, id};
use crate::{Span, Time};

fn millis(count: u64) -> Span {
    Span::from_millis(count)
}

/// A connected graph: a random tree and some more links.
fn random_graph(nodes: usize, seed: u64, settings: &Settings) -> World {
    let mut world = World::new(nodes, settings, Air::CLEAR, seed);
    for node in 1..nodes {
        let parent = usize::try_from(world.dice.below(node as u64)).unwrap();
        world.link(node, parent);
    }
    for _ in 0..world.dice.below(nodes as u64) {
        let (a, b) = (world.dice.below(nodes as u64), world.dice.below(nodes as u64));
        if a != b {
            world.link(usize::try_from(a).unwrap(), usize::try_from(b).unwrap());
        }
    }
    world
}

fn distance(world: &World, from: usize, to: usize) -> u8 {
    let mut distances = vec![None; world.routers.len()];
    distances[from] = Some(0_u8);
    let mut queue = VecDeque::from([from]);
    while let Some(at) = queue.pop_front() {
        for next in 0..distances.len() {
            if distances[next].is_none() && world.linked(id(at), id(next)) {
                distances[next] = distances[at].map(|hops| hops + 1);
                queue.push_back(next);
            }
        }
    }
    distances[to].unwrap()
}

#[test]
fn the_first_route_is_a_shortest_path_when_all_hops_take_equally_long() {
    for ttl_start in [1, 35] {
        let settings = Settings { ttl_start, jitter: Span::ZERO, ..Settings::default() };
        for seed in 0..300 {
            let mut world = random_graph(12, seed, &settings);
            let (from, to) = (0, 1 + usize::try_from(world.dice.below(11)).unwrap());
            world.send(from, to, seed);
            while world.delivered.is_empty() && world.step(Time::from_millis(60_000)) {}
            assert_eq!(world.delivered, [(id(from), id(to), seed)], "seed {seed}");
            assert_eq!(world.hops(from, to), Some(distance(&world, from, to)), "seed {seed}");
        }
    }
}

#[test]
fn all_data_arrives_on_a_graph_at_rest_whoever_sends() {
    let mut delivered = 0;
    for seed in 0..100 {
        let mut world = random_graph(10, seed, &Settings { gratuitous: seed % 2 == 0, ..Settings::default() });
        for number in 0..60 {
            let (from, to) = (world.dice.below(10), world.dice.below(10));
            world.send(usize::try_from(from).unwrap(), usize::try_from(to).unwrap(), number);
            world.run_for(number * 20);
        }
        world.run_for(60_000);
        delivered += world.delivered.len();
    }
    assert_eq!(delivered, 6_000);
}

#[test]
fn rings_grow_until_the_whole_network_is_asked_and_waiting_times_double() {
    let mut world = World::new(2, &Settings::default(), Air::CLEAR, 0);
    let (mut asked, mut seen) = (Vec::new(), 0);
    world.send(0, 1, 7);
    while world.undelivered.is_empty() {
        if world.sent["request"] > seen {
            seen = world.sent["request"];
            asked.push(world.now.0 / MILLISECOND);
        }
        assert!(world.step(Time::from_millis(60_000)));
    }
    // TTL 1, 3, 5, 7, then 35 twice: 2 * 40 ms * (ttl + 2), then 2.8 s and 5.6 s.
    assert_eq!(asked, [0, 240, 640, 1_200, 1_920, 4_720]);
    assert_eq!(world.now, Time::from_millis(4_720 + 5_600));
    assert_eq!(world.undelivered, [(id(0), id(1), 7)]);
}

#[test]
fn no_more_requests_are_sent_in_a_second_than_the_limit_allows() {
    let mut world = World::new(30, &Settings::default(), Air::CLEAR, 0);
    (1..30).for_each(|to| world.send(0, to, 0));
    world.run_for(999);
    assert_eq!(world.sent["request"], 10);
    world.run_for(2);
    assert_eq!(world.sent["request"], 20);
}

#[test]
fn a_queue_that_is_full_drops_the_oldest() {
    let mut world = World::new(2, &Settings { queue_length: 2, ..Settings::default() }, Air::CLEAR, 0);
    (0..3).for_each(|number| world.send(0, 1, number));
    assert_eq!(world.undelivered, [(id(0), id(1), 0)]);
}

#[test]
fn data_waits_no_longer_than_the_queue_allows() {
    let mut world = World::new(2, &Settings { queue_timeout: millis(500), ..Settings::default() }, Air::CLEAR, 0);
    world.send(0, 1, 5);
    world.run_for(499);
    assert!(world.undelivered.is_empty());
    world.run_for(1);
    assert_eq!(world.undelivered, [(id(0), id(1), 5)]);
}

#[test]
fn a_break_is_reported_to_the_originator_who_finds_another_way() {
    let mut world = World::line(4, &Settings::default());
    world.send(0, 3, 1);
    world.run_for(2_000);
    assert_eq!((world.hops(0, 3), world.hops(3, 0)), (Some(3), Some(3)));
    world.cut(2, 3);
    world.send(0, 3, 2);
    world.run_for(200);
    assert_eq!(world.hops(0, 3), None, "the error has reached the originator");
    assert_eq!(world.sent["error"], 2, "and was unicast to the only precursor of each hop");
    world.link(1, 3);
    world.send(0, 3, 3);
    world.run_for(5_000);
    assert_eq!(world.delivered.iter().map(|it| it.2).collect::<Vec<_>>(), [1, 3]);
}

#[test]
fn a_break_of_the_first_hop_is_told_to_the_sender() {
    let mut world = World::line(2, &Settings::default());
    world.send(0, 1, 1);
    world.run_for(1_000);
    world.cut(0, 1);
    world.send(0, 1, 2);
    world.run_for(100);
    assert_eq!(world.undelivered, [(id(0), id(1), 2)]);
}

#[test]
fn adverts_ride_on_requests_and_replies_and_the_newer_one_stays() {
    let mut world = World::line(3, &Settings::default());
    world.routers[0].advertise(100);
    world.routers[2].advertise(200);
    world.routers[2].advertise(201);
    world.send(0, 2, 1);
    world.run_for(1_500);
    let known = |world: &World, at: usize, of: usize| {
        world.routers[at].advert_of(world.now, id(of)).map(|advert| advert.content)
    };
    assert_eq!((known(&world, 0, 2), known(&world, 1, 2)), (Some(201), Some(201)));
    assert_eq!((known(&world, 1, 0), known(&world, 2, 0)), (Some(100), Some(100)));
    let mut out = Vec::new();
    for (version, content) in [(1, 9), (7, 300)] {
        let now = world.now;
        world.routers[0].learn(now, Some(Advert { owner: id(2), version, content }), &mut out);
    }
    assert_eq!(out, [Effect::Advert(Advert { owner: id(2), version: 7, content: 300 })]);
}

#[test]
fn adverts_of_neighbours_spread_by_hellos() {
    let mut world = World::line(2, &Settings { hello: Hello::Always, ..Settings::default() });
    world.routers[0].advertise(5);
    world.run_for(1_100);
    let route = world.routers[1].route(world.now, id(0)).unwrap();
    assert_eq!((route.hops, route.advert.map(|advert| advert.content)), (1, Some(5)));
}

#[test]
fn a_neighbour_that_misses_two_hellos_is_lost() {
    let settings = Settings { hello: Hello::Always, ..Settings::default() };
    let mut world = World::line(2, &settings);
    world.run_for(3_000);
    assert_eq!(world.hops(0, 1), Some(1));
    world.cut(0, 1);
    world.run_for(2_100);
    assert_eq!(world.hops(0, 1), None);
}

#[test]
fn a_gratuitous_reply_tells_the_destination_the_way_back() {
    for gratuitous in [false, true] {
        let mut world = World::line(4, &Settings { gratuitous, ..Settings::default() });
        world.send(1, 3, 1);
        world.run_for(1_000);
        world.send(0, 3, 2);
        // Before the data itself makes a way back known: AODV makes none of data.
        world.run_for(1_000);
        assert_eq!(world.delivered.len(), 2);
        assert_eq!(world.hops(3, 0).is_some(), gratuitous);
    }
}

#[test]
fn a_neighbour_that_does_not_acknowledge_a_reply_is_ignored_for_a_while() {
    let settings = Settings { acknowledge_replies: true, ttl_start: 35, rreq_retries: 0, ..Settings::default() };
    let mut world = World::line(2, &settings);
    world.air.reports_losses = false;
    world.send(0, 1, 1);
    assert!(world.step(Time::from_millis(100)), "the request arrives");
    assert_eq!(world.sent["reply"], 1);
    world.events.clear();
    world.run_for(100);
    assert!(world.routers[1].neighbours.is_blacklisted(world.now, id(0)));
    world.run_for(20_000);
    assert!(!world.routers[1].neighbours.is_blacklisted(world.now, id(0)));
    world.send(0, 1, 2);
    world.run_for(1_000);
    assert_eq!(world.delivered, [(id(0), id(1), 2)]);
    assert_eq!(world.sent["acknowledgement"], 1);
}

#[test]
fn a_node_that_has_rebooted_routes_nothing_until_nobody_routes_through_it() {
    let settings = Settings::default();
    let mut world = World::line(3, &settings);
    world.send(0, 2, 1);
    world.run_for(1_000);
    world.routers[1] = Router::rebooted(id(1), settings, 1, world.now);
    world.send(0, 2, 2);
    world.run_for(100);
    assert_eq!(world.hops(0, 2), None, "an error came back");
    world.send(0, 2, 3);
    world.run_for(14_000);
    assert_eq!(world.delivered.len(), 1);
    world.run_for(1_500);
    world.send(0, 2, 4);
    world.run_for(5_000);
    assert!(world.delivered.contains(&(id(0), id(2), 4)));
}

#[test]
fn packets_are_as_long_as_the_rfc_says() {
    let mut world = World::line(2, &Settings::default());
    world.routers[0].advertise(1);
    world.send(0, 1, 1);
    let first = world.events.first_key_value().map(|(_, event)| match event {
        super::Event::Arrives { packet, .. } | super::Event::Unsent { packet, .. } => packet.len(|_| 4, |_| 8),
    });
    assert_eq!(first, Some(24 + 2 + 8 + 4));
    let length = |packet: &Packet<(), ()>| packet.len(|()| 0, |()| 100);
    assert_eq!(
        length(&Packet::Data(Data { life: 0, ttl: 1, originator: id(0), destination: id(1), content: () })),
        120
    );
    assert_eq!(length(&Packet::Error(Box::new([]))), 4);
}

#[test]
fn the_defaults_are_those_of_the_rfc() {
    let settings = Settings::default();
    assert_eq!(settings.net_traversal_time(), millis(2_800));
    assert_eq!(settings.path_discovery_time(), millis(5_600));
    assert_eq!(settings.my_route_timeout(), millis(6_000));
    assert_eq!(settings.delete_period(), millis(15_000));
    assert_eq!(settings.ring_traversal_time(1), millis(240));
}

#[test]
fn settings_are_written_in_seconds_and_read_back() {
    let read: Settings = toml::from_str("active-route-timeout = 10\nhello = \"active\"\nttl-start = 2").unwrap();
    assert_eq!((read.active_route_timeout, read.hello, read.ttl_start), (millis(10_000), Hello::Active, 2));
    assert_eq!(read.delete_period(), millis(50_000), "derived from the former");
    let given = Settings { delete_period: Some(millis(1_500)), ..read };
    assert_eq!(toml::from_str(&toml::to_string(&given).unwrap()), Ok(given));
    for wrong in ["ttl-begin = 1", "jitter = -1", "jitter = inf", "delete-period = -1"] {
        assert!(toml::from_str::<Settings>(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn what_is_over_is_not_known_whether_or_not_anybody_has_swept() {
    for sweep_interval in [millis(1), Span::FOREVER] {
        let mut world = World::line(3, &Settings { sweep_interval, ..Settings::default() });
        world.routers[2].advertise(200);
        world.send(0, 2, 1);
        world.run_for(1_500);
        let known = |world: &World| {
            let (router, now) = (&world.routers[0], world.now);
            (router.route(now, id(2)).is_some(), router.routes(now).count(), router.advert_of(now, id(2)).is_some())
        };
        assert_eq!(known(&world), (true, 2, true));
        world.run_for(10_000);
        assert_eq!(known(&world), (false, 2, true), "expired, and remembered");
        world.run_for(15_000);
        assert_eq!(known(&world), (false, 0, false), "forgotten");
    }
}

#[test]
fn settings_of_nothing_at_all_do_no_harm() {
    let none = Span::ZERO;
    let settings = Settings {
        hello: Hello::Always,
        hello_interval: millis(1),
        net_diameter: 0,
        ttl_start: 0,
        ttl_increment: 0,
        ttl_threshold: 0,
        rreq_ratelimit: 0,
        queue_length: 0,
        jitter: none,
        sweep_interval: none,
        active_route_timeout: none,
        ..Settings::default()
    };
    let mut world = World::line(3, &settings);
    world.send(0, 2, 1);
    world.run_for(100);
    assert_eq!(world.undelivered, [(id(0), id(2), 1)]);
}

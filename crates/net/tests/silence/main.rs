//! Links and routers have one verdict of silence: the hellos of the link layer, by the interval that each neighbour
//! has announced. No radio tells here what it could not send.

mod stacks;
mod world;

use driftlock_net::Span;
use world::{Rules, World, id};

/// Datagrams that are sent, one every 400 ms.
const DATAGRAMS: u64 = 300;

/// Two ways from node 0 to node 3: 0-1-3 and 0-2-3.
fn diamond_hears(a: usize, b: usize) -> bool {
    !(a + b).is_multiple_of(3)
}

/// The relay on the way in use dies, after which node 0 goes on sending to node 3.
fn datagrams_past_a_dead_relay(rules: Rules) -> usize {
    let mut world = World::new(4, rules, diamond_hears);
    world.run_for(5_000);
    world.send(0, 3, 0);
    world.run_for(1_000);
    let relay = world.next_hop(0, 3).expect("a route");
    world.switch_off(relay);
    world.delivered.clear();
    for data in 1..=DATAGRAMS {
        world.send(0, 3, data);
        world.run_for(400);
    }
    world.delivered.len()
}

#[test]
fn datagrams_find_another_way_when_their_relay_falls_silent_and_never_without_that_word() {
    let told = datagrams_past_a_dead_relay(Rules::USUAL);
    let untold = datagrams_past_a_dead_relay(Rules { told: false, ..Rules::USUAL });
    println!("{told} of {DATAGRAMS} in 120 s, and {untold} if links do not tell");
    assert_eq!(untold, 0, "each datagram keeps the route alive");
    assert!(told >= 290, "{told} arrive: those of less than four seconds are lost");
}

/// How long a route through a relay outlives it, in its intervals, where so many nodes hear each other, and of these
/// the relays 0 and 1 hear one more.
fn intervals_of_a_route_through_a_dead_relay(nodes: usize) -> f64 {
    let far = nodes;
    let mut world = World::new(nodes + 1, Rules::USUAL, move |a, b| a.max(b) < far || a.min(b) < 2);
    // Hellos of a crowd have found their interval.
    world.run_for(60_000);
    world.send(far - 1, far, 0);
    world.run_for(1_000);
    let relay = world.next_hop(far - 1, far).expect("a route");
    let announced = world.switch_off(relay);
    let died = world.now;
    world.given_up.clear();
    // In use all the time.
    while world.given_up.iter().all(|&(_, at, to)| (at, to) != (id(far - 1), id(far))) {
        world.send(far - 1, far, 1);
        world.run_for(100);
        assert!(world.now < died + Span::from_millis(60_000), "it is never given up");
    }
    world.delivered.clear();
    world.send(far - 1, far, 2);
    world.run_for(1_000);
    assert!(world.delivered.contains(&(id(far), 2)), "there is another way");
    let given_up = world.given_up.iter().find(|&&(_, at, to)| (at, to) == (id(far - 1), id(far))).unwrap().0;
    println!("{nodes} nodes: given up after {} s, announced were {} s", (given_up - died).units(), announced.units());
    (given_up - died).units() / announced.units()
}

#[test]
fn a_route_through_a_silent_node_is_given_up_within_three_of_the_intervals_that_it_has_announced() {
    for nodes in [4, 30, 120] {
        let intervals = intervals_of_a_route_through_a_dead_relay(nodes);
        assert!(intervals <= 3.0, "after {intervals} intervals among {nodes}");
    }
}

/// Node 0 sends to node 2 by node 1, of which it hears nothing but hellos. Tells how many datagrams arrive, and how
/// often the route was given up.
fn along_a_line(lost_percent: u64) -> (usize, usize) {
    let mut world = World::new(3, Rules { lost_percent, ..Rules::USUAL }, |a, b| a.abs_diff(b) == 1);
    world.run_for(5_000);
    for data in 0..10 * DATAGRAMS {
        world.send(0, 2, data);
        world.run_for(400);
    }
    world.run_for(5_000);
    (world.delivered.len(), world.given_up.iter().filter(|&&(_, at, to)| (at, to) == (id(0), id(2))).count())
}

#[test]
fn a_relay_that_lives_is_hardly_ever_taken_for_silent_and_no_datagram_is_lost_when_it_is() {
    for (lost_percent, given_up_max) in [(0, 0), (5, 0), (10, 3), (30, 30)] {
        let (arrived, given_up) = along_a_line(lost_percent);
        println!("{lost_percent}% lost: {arrived} arrive, given up {given_up} times in 20 minutes");
        assert_eq!(arrived as u64, 10 * DATAGRAMS, "{lost_percent}% lost");
        assert!(given_up <= given_up_max, "given up {given_up} times at {lost_percent}%");
    }
}

/// Node 0 sends to node 3 four times in a second, and one node restarts with what it had stored. Tells how long after
/// that the first datagram arrives that was sent after it.
fn first_after_a_restart(restarts: usize) -> Span {
    let mut world = World::new(4, Rules::USUAL, |a, b| a.abs_diff(b) == 1);
    for data in 0..40 {
        world.send(0, 3, data);
        world.run_for(250);
    }
    assert!(world.delivered.len() >= 40, "a route is in use");
    world.delivered.clear();
    world.restart(restarts);
    let start = world.now;
    while world.delivered.is_empty() {
        world.send(0, 3, 1_000);
        world.run_for(50);
    }
    world.now - start
}

#[test]
fn a_node_that_restarts_with_what_it_had_stored_routes_within_a_second() {
    for restarts in 0..4 {
        let took = first_after_a_restart(restarts);
        println!("node {restarts} of a line: {} s", took.units());
        assert!(took <= Span::from_millis(1_000), "node {restarts}: {took:?}");
    }
}

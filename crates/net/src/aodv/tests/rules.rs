//! What each rule is for where a loop is not the point, or too rare to be met by chance.

use super::super::packet::{Data, Reply, Request, Unreachable};
use super::super::rules::Rules;
use super::super::{Cause, Seq};
use super::{Effect, MILLISECOND, Packet, Router, Sent, Settings, World, id, kind};
use crate::Time;

const NOW: Time = Time(MILLISECOND);

fn router(me: usize, rules: Rules) -> Router<u32, u64> {
    let mut router = Router::new(id(me), Settings::default());
    router.table.rules = rules;
    router
}

fn reply(destination: usize, seq: u32, hops: u8, originator: usize) -> Sent {
    Packet::Reply(Reply {
        hops,
        acknowledge: false,
        destination: id(destination),
        seq: Seq(seq),
        originator: id(originator),
        lifetime: Time(6_000 * MILLISECOND),
        advert: None,
    })
}

fn request(originator: usize, number: u32, seq: u32, destination: usize, fresh: Option<u32>) -> Sent {
    Packet::Request(Request {
        id: number,
        ttl: 9,
        hops: 0,
        gratuitous: false,
        destination_only: false,
        destination: id(destination),
        destination_seq: fresh.map(Seq),
        originator: id(originator),
        originator_seq: Seq(seq),
        advert: None,
    })
}

fn receive(router: &mut Router<u32, u64>, from: usize, packet: Sent) -> Vec<Effect<u32, u64>> {
    let mut out = Vec::new();
    router.received(NOW, id(from), packet, &mut out);
    out
}

fn sent(effects: &[Effect<u32, u64>]) -> Vec<&'static str> {
    let kinds = effects.iter().filter_map(|effect| match effect {
        Effect::Transmit { packet, .. } => Some(kind(packet)),
        _ => None,
    });
    kinds.collect()
}

/// Node 1 routes to 9 through 2, node 3 through 1; a late error of 2 about former times reaches 1, and 1 asks 3 for a way.
fn next_hop_after_a_late_error(rules: Rules) -> Option<usize> {
    let (mut one, mut three) = (router(1, rules), router(3, rules));
    receive(&mut one, 2, reply(9, 10, 1, 1));
    receive(&mut three, 1, reply(9, 10, 2, 3));
    receive(&mut one, 2, Packet::Error(Box::new([Unreachable { destination: id(9), seq: Some(Seq(5)) }])));
    let asked = one.table.get(id(9)).and_then(|entry| entry.seq).map(|seq| seq.0);
    for effect in receive(&mut three, 1, request(1, 1, 1, 9, asked)) {
        if let Effect::Transmit { to: Some(_), packet, .. } = effect {
            receive(&mut one, 3, packet);
        }
    }
    one.route(NOW, id(9)).map(|route| route.next_hop.index())
}

#[test]
fn a_late_error_that_lowers_a_number_makes_a_loop() {
    assert_eq!(next_hop_after_a_late_error(Rules::ALL), None);
    let lowering = Rules { errors_never_lower: false, ..Rules::ALL };
    assert_eq!(next_hop_after_a_late_error(lowering), Some(3), "which routes through 1");
}

#[test]
fn an_error_ends_routes_through_its_sender_only() {
    let valid_after = |rules| {
        let mut one = router(1, rules);
        receive(&mut one, 2, reply(9, 10, 1, 1));
        receive(&mut one, 3, Packet::Error(Box::new([Unreachable { destination: id(9), seq: Some(Seq(11)) }])));
        one.route(NOW, id(9)).is_some()
    };
    assert!(valid_after(Rules::ALL));
    assert!(!valid_after(Rules { errors_from_next_hop: false, ..Rules::ALL }));
}

#[test]
fn requests_of_two_originators_with_the_same_id_are_both_passed_on() {
    let passed_on = |rules| {
        let mut one = router(1, rules);
        assert_eq!(sent(&receive(&mut one, 2, request(2, 7, 1, 9, None))), ["request"]);
        assert_eq!(sent(&receive(&mut one, 3, request(2, 7, 1, 9, None))), [""; 0], "a duplicate");
        !sent(&receive(&mut one, 3, request(3, 7, 1, 9, None))).is_empty()
    };
    assert!(passed_on(Rules::ALL));
    assert!(!passed_on(Rules { duplicates_by_originator: false, ..Rules::ALL }));
}

#[test]
fn a_number_that_has_rolled_over_is_newer() {
    let hops_after = |rules| {
        let mut one = router(1, rules);
        receive(&mut one, 2, reply(9, u32::MAX, 1, 1));
        receive(&mut one, 3, reply(9, 2, 4, 1));
        one.route(NOW, id(9)).map(|route| route.hops)
    };
    assert_eq!(hops_after(Rules::ALL), Some(5));
    assert_eq!(hops_after(Rules { signed: false, ..Rules::ALL }), Some(2), "a stale route is kept");
}

#[test]
fn an_older_request_does_not_replace_a_fresher_way_back() {
    let next_hop_after = |rules| {
        let mut one = router(1, rules);
        receive(&mut one, 2, request(8, 6, 20, 9, None));
        receive(&mut one, 3, request(8, 5, 19, 9, None));
        one.route(NOW, id(8)).map(|route| route.next_hop.index())
    };
    assert_eq!(next_hop_after(Rules::ALL), Some(2));
    assert_eq!(next_hop_after(Rules { requests_must_be_fresh: false, ..Rules::ALL }), Some(3));
}

#[test]
fn the_number_of_a_neighbour_is_kept_when_its_link_breaks() {
    let number_after = |rules| {
        let mut one = router(1, rules);
        receive(&mut one, 2, request(2, 1, 20, 9, None));
        let mut out = Vec::new();
        one.link_lost(NOW, id(2), &mut out);
        assert!(out.contains(&Effect::RouteDown { destination: id(2), cause: Cause::Broken }));
        one.table.get(id(2)).and_then(|entry| entry.seq)
    };
    assert_eq!(number_after(Rules::ALL), Some(Seq(21)));
    assert_eq!(number_after(Rules { breaks_raise: false, ..Rules::ALL }), None);
}

#[test]
fn the_number_is_raised_when_the_route_expires() {
    let number_after = |rules| {
        let mut world = World::line(3, &Settings::default());
        world.routers.iter_mut().for_each(|router| router.table.rules = rules);
        world.send(0, 2, 1);
        world.run_for(1_000);
        let before = world.routers[0].table.get(id(2)).and_then(|entry| entry.seq);
        world.run_for(8_000);
        assert_eq!(world.hops(0, 2), None);
        (before.unwrap(), world.routers[0].table.get(id(2)).and_then(|entry| entry.seq).unwrap())
    };
    let (before, after) = number_after(Rules::ALL);
    assert_eq!(after, before.next());
    let (before, after) = number_after(Rules { expiry_raises: false, ..Rules::ALL });
    assert_eq!(after, before);
}

#[test]
fn a_node_answers_only_with_what_is_fresh_enough() {
    for (asked, answer) in [(Some(10), "reply"), (None, "reply"), (Some(11), "request")] {
        let mut one = router(1, Rules::ALL);
        receive(&mut one, 2, reply(9, 10, 1, 1));
        assert_eq!(sent(&receive(&mut one, 3, request(3, 1, 1, 9, asked))), [answer], "asked for {asked:?}");
    }
}

#[test]
fn data_keeps_a_way_back_alive_only_if_it_came_that_way() {
    for (from, alive) in [(2, true), (3, false)] {
        let mut one = router(1, Rules::ALL);
        receive(&mut one, 2, reply(9, 10, 1, 1));
        let content = Data { ttl: 5, originator: id(9), destination: id(1), content: 0 };
        let mut out = Vec::new();
        let later = NOW + Time(5_900 * MILLISECOND);
        one.received(later, id(from), Packet::Data(content), &mut out);
        assert_eq!(one.route(later + Time(1_000 * MILLISECOND), id(9)).is_some(), alive, "from {from}");
    }
}

#[test]
fn what_others_say_about_oneself_makes_no_route() {
    let mut one = router(1, Rules::ALL);
    receive(&mut one, 2, reply(1, 10, 1, 1));
    receive(&mut one, 2, request(1, 7, 99, 9, None));
    receive(&mut one, 1, request(3, 7, 99, 9, None));
    assert_eq!(one.routes(NOW).map(|route| route.destination.index()).collect::<Vec<_>>(), [2]);
}

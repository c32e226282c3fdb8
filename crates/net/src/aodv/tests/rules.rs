//! What each rule is for where a loop is not the point, or too rare to be met by chance.

use super::super::packet::{Data, Greeting, Reply, Request, Unreachable};
use super::super::rules::Rules;
use super::super::{Cause, Seq};
use super::{Effect, Packet, Router, Sent, Settings, World, id, kind};
use crate::{Span, Time};

const NOW: Time = Time::from_millis(1);

fn router(me: usize, rules: Rules) -> Router<u32, u64> {
    let mut router = Router::new(id(me), Settings::default());
    router.table.rules = rules;
    router
}

fn reply(destination: usize, seq: u32, hops: u8, originator: usize) -> Sent {
    Packet::Reply(Reply {
        life: 0,
        hops,
        acknowledge: false,
        destination: id(destination),
        seq: Seq(seq),
        originator: id(originator),
        lifetime: Span::from_millis(6_000),
        advert: None,
    })
}

fn request(originator: usize, number: u32, seq: u32, destination: usize, fresh: Option<u32>) -> Sent {
    Packet::Request(Request {
        life: 0,
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

/// Node 1 routes to 9 through 2, node 3 through 1; a late error of 2 about former times reaches 1, and 1 asks 3 for a
/// way.
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

/// Until when a router has a route to 9.
fn end_of_route(router: &Router<u32, u64>) -> Time {
    router.table.get(id(9)).map_or(Time::ZERO, |entry| entry.expires)
}

fn with_lifetime(mut reply: Sent, millis: u64) -> Sent {
    if let Packet::Reply(reply) = &mut reply {
        reply.lifetime = Span::from_millis(millis);
    }
    reply
}

/// Node 1 hears its neighbour 9, whose number is 20, twice, and forgets the route after each.
fn after_a_neighbour_was_silent_twice(rules: Rules) -> Router<u32, u64> {
    let mut one = router(1, rules);
    let mut out = Vec::new();
    one.received(Time::ZERO, id(9), request(9, 1, 20, 8, None), &mut out);
    one.received(Time::from_millis(6_000), id(9), Packet::Acknowledgement, &mut out);
    assert!(one.route(Time::from_millis(6_000), id(9)).is_some());
    one.update(Time::from_millis(10_000), id(9), &mut out);
    assert!(one.route(Time::from_millis(10_000), id(9)).is_none());
    one
}

#[test]
fn a_number_is_not_raised_again_before_its_owner_has_given_itself_one() {
    for (rules, number, next_hop) in
        [(Rules::ALL, 21, Some(id(2))), (Rules { raised_once: false, ..Rules::ALL }, 22, None)]
    {
        let mut one = after_a_neighbour_was_silent_twice(rules);
        assert_eq!(one.table.get(id(9)).and_then(|entry| entry.seq), Some(Seq(number)));
        // Its next request comes another way, with the next number.
        let mut out = Vec::new();
        one.received(Time::from_millis(10_000), id(2), request(9, 2, 21, 8, None), &mut out);
        assert_eq!(one.route(Time::from_millis(10_000), id(9)).map(|route| route.next_hop), next_hop);
    }
}

#[test]
fn nobody_is_told_a_number_that_its_owner_has_not_given_itself() {
    let told = |rules| {
        let mut one = router(1, rules);
        let mut out = Vec::new();
        one.received(Time::ZERO, id(9), request(9, 1, 20, 8, None), &mut out);
        one.received(Time::from_millis(6_000), id(9), Packet::Acknowledgement, &mut out);
        one.reply_about(Time::from_millis(6_000), id(9), id(3)).map(|reply| reply.seq.0)
    };
    assert_eq!(told(Rules::ALL), Some(20));
    assert_eq!(told(Rules { raised_once: false, ..Rules::ALL }), Some(21));
}

#[test]
fn a_number_is_raised_again_when_others_may_have_it() {
    let mut one = router(1, Rules::ALL);
    let mut out = Vec::new();
    one.received(Time::ZERO, id(9), request(9, 1, 20, 8, None), &mut out);
    one.received(Time::from_millis(6_000), id(9), Packet::Acknowledgement, &mut out);
    // The route is not taken, but the request is passed on.
    one.received(Time::from_millis(6_000), id(2), request(9, 2, 21, 8, None), &mut out);
    assert_eq!(one.route(Time::from_millis(6_000), id(9)).map(|route| route.next_hop), Some(id(9)));
    one.link_lost(Time::from_millis(6_000), id(9), &mut out);
    assert_eq!(one.table.get(id(9)).and_then(|entry| entry.seq), Some(Seq(22)));
}

#[test]
fn who_has_no_way_back_passes_no_request_on_and_answers_none() {
    for destination in [1, 8] {
        let mut one = router(1, Rules::ALL);
        receive(&mut one, 2, reply(9, 30, 1, 1));
        receive(&mut one, 2, Packet::Error(Box::new([Unreachable { destination: id(9), seq: Some(Seq(31)) }])));
        assert_eq!(sent(&receive(&mut one, 3, request(9, 1, 1, destination, None))), [""; 0]);
    }
}

#[test]
fn a_route_is_told_to_end_earlier_than_it_does_and_not_told_when_it_is_nearly_over() {
    for (rest, answer) in [(81, "reply"), (80, "request")] {
        let mut one = router(1, Rules::ALL);
        receive(&mut one, 2, with_lifetime(reply(9, 10, 1, 1), rest));
        let effects = receive(&mut one, 3, request(3, 1, 1, 9, None));
        assert_eq!(sent(&effects), [answer], "{rest} ms before its end");
        for effect in effects {
            if let Effect::Transmit { packet: Packet::Reply(reply), .. } = effect {
                assert_eq!(reply.lifetime, Span::from_millis(1), "a hop takes up to 40 ms, there and back");
            }
        }
    }
}

#[test]
fn an_older_number_of_a_neighbour_or_none_does_not_replace_a_newer_one() {
    let mut one = router(1, Rules::ALL);
    receive(&mut one, 2, reply(9, 20, 1, 1));
    let hello = Greeting { seq: Seq(19), lifetime: Span::from_millis(2_000), advert: None };
    receive(&mut one, 9, Packet::Hello(hello));
    let route = one.route(NOW, id(9)).map(|route| (route.next_hop, route.seq));
    assert_eq!(route, Some((id(9), Some(Seq(20)))));
}

#[test]
fn a_destination_catches_up_with_the_number_that_is_asked_for() {
    for (asked, told) in [(None, 5), (Some(4), 5), (Some(6), 6)] {
        let mut nine = router(9, Rules::ALL);
        nine.seq = Seq(5);
        let effects = receive(&mut nine, 3, request(3, 1, 1, 9, asked));
        let numbers = effects.iter().filter_map(|effect| match effect {
            Effect::Transmit { packet: Packet::Reply(reply), .. } => Some(reply.seq.0),
            _ => None,
        });
        assert_eq!(numbers.collect::<Vec<_>>(), [told], "asked for {asked:?}");
    }
}

#[test]
fn a_request_is_passed_on_with_the_newest_number_that_is_known() {
    for (asked, passed_on) in [(None, 11), (Some(10), 11), (Some(12), 12)] {
        let mut one = router(1, Rules::ALL);
        receive(&mut one, 2, reply(9, 10, 1, 1));
        receive(&mut one, 2, Packet::Error(Box::new([Unreachable { destination: id(9), seq: Some(Seq(11)) }])));
        let effects = receive(&mut one, 3, request(3, 1, 1, 9, asked));
        let numbers = effects.iter().filter_map(|effect| match effect {
            Effect::Transmit { packet: Packet::Request(request), .. } => request.destination_seq,
            _ => None,
        });
        assert_eq!(numbers.collect::<Vec<_>>(), [Seq(passed_on)], "asked for {asked:?}");
        assert_eq!(
            one.table.get(id(9)).and_then(|entry| entry.seq),
            Some(Seq(11)),
            "what is asked for is not believed"
        );
    }
}

#[test]
fn a_number_is_not_forgotten_while_it_is_looked_for() {
    let mut one = router(1, Rules::ALL);
    let mut out = Vec::new();
    one.received(Time::ZERO, id(2), reply(9, 10, 1, 1), &mut out);
    let (end, delete_period) = (Time::from_millis(6_000), Settings::default().delete_period());
    one.send(end + (delete_period - Span::from_millis(1)), id(9), 0, &mut out);
    one.update(end + delete_period, id(9), &mut out);
    assert_eq!(one.table.get(id(9)).and_then(|entry| entry.seq), Some(Seq(11)));
}

#[test]
fn data_keeps_alive_no_way_back_but_that_to_the_neighbour_it_came_from() {
    for (from, alive) in [(9, true), (2, false), (3, false)] {
        let mut one = router(1, Rules::ALL);
        if from == 9 {
            receive(&mut one, 9, Packet::Acknowledgement);
        } else {
            receive(&mut one, 2, with_lifetime(reply(9, 10, 1, 1), 3_000));
        }
        let content = Data { life: 0, ttl: 5, originator: id(9), destination: id(1), content: 0 };
        let mut out = Vec::new();
        let later = NOW + Span::from_millis(2_900);
        one.received(later, id(from), Packet::Data(content), &mut out);
        assert_eq!(one.route(later + Span::from_millis(1_000), id(9)).is_some(), alive, "from {from}");
    }
}

#[test]
fn data_to_a_neighbour_does_not_keep_alive_a_way_to_it_through_others() {
    let mut one = router(1, Rules::ALL);
    receive(&mut one, 2, reply(9, 10, 1, 1));
    let end = end_of_route(&one);
    receive(&mut one, 9, reply(8, 5, 1, 1));
    // Hearing from 9 has made the way to it direct; another reply leads through 2 again.
    receive(&mut one, 2, reply(9, 11, 1, 1));
    assert_eq!(one.route(NOW, id(9)).map(|route| route.next_hop), Some(id(2)));
    let mut out = Vec::new();
    one.send(NOW + Span::from_millis(5_900), id(8), 0, &mut out);
    assert_eq!(sent(&out), ["data"]);
    assert_eq!(end_of_route(&one), end);
}

#[test]
fn a_newer_route_ends_when_its_next_hop_says_so() {
    for (number, end) in [(10, 6_000), (11, 1_000)] {
        let mut one = router(1, Rules::ALL);
        receive(&mut one, 2, reply(9, 10, 1, 1));
        receive(&mut one, 2, with_lifetime(reply(9, number, 1, 1), 1_000));
        assert_eq!(end_of_route(&one), NOW + Span::from_millis(end), "number {number}");
    }
}

#[test]
fn a_shorter_way_is_taken_if_it_does_not_end_before_the_other_or_is_newer() {
    for (number, lifetime, next_hop) in [(10, 5_999, 2), (10, 6_000, 3), (11, 5_999, 3)] {
        let mut one = router(1, Rules::ALL);
        receive(&mut one, 2, reply(9, 10, 2, 1));
        receive(&mut one, 3, with_lifetime(reply(9, number, 1, 1), lifetime));
        let route = one.route(NOW, id(9)).map(|route| route.next_hop);
        assert_eq!(route, Some(id(next_hop)), "number {number}, {lifetime} ms");
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

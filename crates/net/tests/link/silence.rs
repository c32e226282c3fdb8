//! Who counts as gone, and who is heard again.

use driftlock_net::link::{Effect, Frame, Hello, Link, Mark, Settings};
use driftlock_net::{Boot, Time};
use driftlock_protocol::NodeId;

use crate::crowd::Crowd;
use crate::observer::{Message, carries_token};

const ME: NodeId = NodeId(0);
const PEER: NodeId = NodeId(1);

fn link() -> Link<Message> {
    Link::new(Time::ZERO, ME, Boot(1), Settings::default(), carries_token)
}

fn at(ms: u64) -> Time {
    Time::from_millis(ms)
}

fn hello(boot: u32, count: u32) -> Frame<Message> {
    let nobody = Vec::new;
    let (boot, interval_ms) = (Boot(boot), 2_000);
    Frame::Hello(Hello {
        boot,
        count,
        interval_ms,
        crowd: 1,
        mark: Mark(1),
        links: nobody(),
        hears: 0,
        list: nobody(),
        spared: nobody(),
        notices: Vec::new(),
    })
}

/// What a node is told of its neighbour until then.
fn told_until(link: &mut Link<Message>, end: Time) -> Vec<(Time, Effect<Message>)> {
    let mut told = Vec::new();
    while let Some(now) = link.wakes().filter(|&now| now <= end) {
        let mut out = Vec::new();
        link.woken(now, &mut out);
        told.extend(out.into_iter().map(|effect| (now, effect)));
    }
    told.retain(|(_, effect)| matches!(effect, Effect::Heard { .. } | Effect::Silent { .. }));
    told
}

fn received(link: &mut Link<Message>, now: Time, frame: Frame<Message>) -> Vec<Effect<Message>> {
    let mut out = Vec::new();
    link.received(now, PEER, frame, &mut out);
    out
}

#[test]
fn a_neighbour_is_silent_after_three_of_its_intervals_once_and_heard_again_at_any_sign_of_life() {
    let heard = |boot| Effect::Heard { peer: PEER, boot: Boot(boot) };
    let silent = |ms| [(at(ms), Effect::Silent { peer: PEER })];
    let mut link = link();
    assert_eq!(received(&mut link, at(1_000), hello(4, 0)), [heard(4)]);
    assert_eq!(received(&mut link, at(3_000), hello(4, 1)), []);
    assert_eq!(told_until(&mut link, at(9_500)), silent(9_000));
    // It is not forgotten yet, and this is not its hello.
    let mut out = Vec::new();
    link.heard(at(9_600), PEER, &mut out);
    assert_eq!(out, [heard(4)]);
    assert_eq!(told_until(&mut link, at(60_000)), silent(15_600));
    assert_eq!(received(&mut link, at(60_000), hello(4, 30)), [heard(4)], "it was forgotten");
    assert_eq!(received(&mut link, at(60_500), hello(5, 0)), [heard(5)], "a new life");
    assert_eq!(received(&mut link, at(60_600), hello(4, 31)), [], "a late one");
}

#[test]
fn a_neighbour_that_says_no_hello_is_silent_after_three_of_the_intervals_of_this_node() {
    let mut link = link();
    assert_eq!(told_until(&mut link, at(5_000)), []);
    let mut out = Vec::new();
    link.heard(at(5_000), PEER, &mut out);
    link.heard(at(5_250), PEER, &mut out);
    assert_eq!(out, [], "its life is not known");
    assert_eq!(told_until(&mut link, at(60_000)), [(at(9_000), Effect::Silent { peer: PEER })]);
}

#[test]
fn nodes_on_which_nothing_stands_on_links_say_hello_and_no_more() {
    let mut crowd = Crowd::new(6, 3, Settings::default());
    for node in 1..6 {
        crowd.links[node].serve(Time::ZERO, Vec::new(), &mut Vec::new());
    }
    crowd.run(60_000);
    assert_eq!((crowd.observer.ups, crowd.unicasts), (0, 0));
    assert!(crowd.hellos.len() > 6 * 50);
    assert_eq!(crowd.longest_list, 0, "none of them has to know that node 0 hears it, which would have links");
}

//! What a step leaves behind: effects in their order, and what is different in a node's status.

use std::time::Duration;

use driftlock_protocol::height::Height;
use driftlock_protocol::{Effect, NodeId, Outbox, Permits, Section, Status, StatusChange};

type Out = Outbox<&'static str, u8>;

#[test]
fn effects_come_in_the_order_in_which_they_were_asked_for() {
    let mut out = Out::new();
    out.broadcast("all");
    out.send(NodeId(1), "one");
    out.arm(7, Duration::from_secs(1));
    out.clause("of no interest");
    out.disarm(7);
    out.depart();
    let expected = [
        Effect::Broadcast { message: "all" },
        Effect::Send { to: NodeId(1), message: "one", shared: false },
        Effect::Arm { timer: 7, after: Duration::from_secs(1) },
        Effect::Disarm { timer: 7 },
        Effect::Depart,
    ];
    assert_eq!(out.effects(), expected);
    assert_eq!(out.drain().collect::<Vec<_>>(), expected);
    assert_eq!(out.effects(), [], "handed out once");
}

#[test]
fn clauses_are_told_where_somebody_reads_them() {
    let mut out = Out::with_clauses();
    out.clause("A.1");
    out.depart();
    assert_eq!(out.effects(), [Effect::Clause("A.1"), Effect::Depart]);
    assert_eq!(Out::default(), Out::new(), "by default nobody does");
}

#[test]
fn one_message_to_several_is_one_transmission() {
    let mut out = Out::new();
    out.multicast([1, 2, 3].map(NodeId), &"same");
    let send = |to, shared| Effect::Send { to: NodeId(to), message: "same", shared };
    assert_eq!(out.effects(), [send(1, false), send(2, true), send(3, true)]);
}

#[test]
fn a_change_of_status_tells_what_is_different_and_nothing_else() {
    let height = |order| Some(Height::new(0, order, NodeId(0)));
    let (section, permits) = (Section::Remainder, Permits::NONE);
    let before = Status { section, permits, queue: vec![NodeId(1)], waits_on: None, height: height(1) };
    assert_eq!(before.change_since(&before), None);
    let since = |now: Status| now.change_since(&before).expect("something changed");
    let none = StatusChange::default;
    let (section, permits) = (Section::Waiting, Permits::first(1));
    assert_eq!(since(Status { section, ..before.clone() }), StatusChange { section: Some(section), ..none() });
    assert_eq!(since(Status { permits, ..before.clone() }), StatusChange { permits: Some(permits), ..none() });
    assert_eq!(since(Status { queue: vec![], ..before.clone() }), StatusChange { queue: Some(vec![]), ..none() });
    let waits = Status { waits_on: Some(NodeId(2)), ..before.clone() };
    assert_eq!(since(waits.clone()), StatusChange { waits_on: Some(vec![NodeId(2)]), ..none() });
    let no_more = before.change_since(&waits).expect("it waits on nobody now");
    assert_eq!(no_more, StatusChange { waits_on: Some(vec![]), ..none() }, "an empty list is nobody");
    let higher = Status { height: height(2), ..before.clone() };
    assert_eq!(since(higher), StatusChange { height: height(2), ..none() });
}

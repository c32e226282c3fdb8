//! A counterexample as a trace: all that happened is in it, once round the cycle, and fresh nodes do the same again.

use std::io::{self, Cursor, Write};
use std::sync::{Arc, Mutex};

use driftlock_check::{Action, Bound, Counterexample, Model, Setup, record};
use driftlock_protocol::ideal::{
    CRASHES, Change, DISK_LOSSES, FAILURES, FORMATIONS, JOINS, Kind, LEAVES, MENDINGS, NOTICES, RESTARTS, RETURNS,
    REVIVALS,
};
use driftlock_protocol::klme::Klme;
use driftlock_protocol::klme_ft::{self, KlmeFt};
use driftlock_protocol::krl::{Forwarding, Krl, Variant};
use driftlock_protocol::{Algorithm, Deployment, Incarnation, NodeId, Protocol, Repairs};
use driftlock_spec::Violation;
use driftlock_trace::replay::{Outcome, replay};
use driftlock_trace::{End, Header, Line, LinkChange, Loss, MemberChange, Origin, Presence, Reader, Writer};

fn at(kind: &'static Kind, node: NodeId) -> Action {
    Action::Change(Change::at(kind, node))
}

fn between(kind: &'static Kind, node: NodeId, peer: NodeId) -> Action {
    Action::Change(Change::between(kind, node, peer))
}

/// What is written, for the test to read.
#[derive(Clone, Default)]
struct Page(Arc<Mutex<Vec<u8>>>);

impl Write for Page {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

const ZERO: NodeId = NodeId(0);
const ONE: NodeId = NodeId(1);
const TWO: NodeId = NodeId(2);
const THREE: NodeId = NodeId(3);
const VIOLATION: Violation = Violation::Livelock { node: ONE };
const SECOND: u64 = 1_000_000_000;

/// The lines of the trace of these actions, and then of the cycle, but for the steps of nodes; it replays.
fn recorded<P: Protocol>(tag: &str, deployment: Deployment, variant: P::Variant, actions: [&[Action]; 2]) -> Vec<Line> {
    let world = Origin::Check { command: String::new(), actions: Vec::new(), small_scale: true, over_radios: false };
    let header = Header::new(Algorithm::named(tag).unwrap(), Vec::new(), deployment.clone(), world);
    let model = Model::<P>::new(Setup::still(deployment, Bound::Any), variant, Repairs::ALL).unwrap();
    let [actions, cycle] = actions.map(<[Action]>::to_vec);
    let (page, found) = (Page::default(), Counterexample { violation: VIOLATION, actions, cycle });
    record(&model, &found, Writer::new(Box::new(page.clone()), &header)).unwrap();
    let written = page.0.lock().unwrap().clone();
    let read = || Reader::new(Box::new(Cursor::new(written.clone()))).unwrap();
    assert!(matches!(replay(read()).unwrap(), Outcome::Same { .. }));
    let mut reader = read();
    let lines = std::iter::from_fn(|| reader.next_line().unwrap());
    lines.filter(|line| !matches!(line, Line::Step(_))).collect()
}

fn end(steps: u64, t: u64) -> Line {
    Line::End { end: End { steps, t: Some(t), violation: Some(VIOLATION.to_string()), resource: 0 } }
}

#[test]
fn links_that_fail_and_form_are_told_of() {
    let deployment = Deployment { nodes: 2, k: 1, links: vec![(ZERO, ONE)], ..Deployment::default() };
    let actions: [&[Action]; 2] =
        [&[between(&FAILURES, ZERO, ONE)], &[between(&FORMATIONS, ZERO, ONE), Action::Request(ZERO, 0)]];
    let lines = recorded::<Krl>("krl", deployment, Variant::new(Forwarding::Off), actions);
    let change = |t, up, number| {
        let incarnation = Incarnation(number);
        Line::Link(LinkChange { t: t * SECOND, link: (ZERO, ONE), up, incarnation })
    };
    // Both ends are told of either change, and node 0 asks.
    assert_eq!(lines, [change(1, false, 0), change(2, true, 1), end(5, 3 * SECOND)]);
}

#[test]
fn who_enters_departs_and_crashes_and_what_is_lost_is_told_of() {
    let deployment = Deployment { nodes: 4, k: 1, members: vec![ZERO, ONE, TWO], ..Deployment::default() };
    let asked = [Action::Request(ONE, 0), Action::Lose { from: ONE, to: ZERO }];
    let deliver = |from, to| Action::Deliver { from, to };
    // The leader, node 0, is told that node 2 wants to leave, and lets it go.
    let gone = [at(&LEAVES, TWO), deliver(TWO, ZERO), deliver(ZERO, TWO), at(&JOINS, THREE), at(&CRASHES, ONE)];
    let lines = recorded::<Klme>("klme", deployment, (), [&asked, &gone]);
    let change = |t, member, presence| {
        Line::Member(MemberChange { t: t * SECOND, member, presence, resource: 0, neighbourhood: 0 })
    };
    let message = serde_json::json!({"req_cs": {"number": {"life": 1, "number": 1}}});
    let expected = [
        Line::Loss(Loss { t: 2 * SECOND, lost: (ONE, ZERO), resource: 0, message }),
        change(5, TWO, Presence::Outside),
        change(6, THREE, Presence::Inside),
        change(7, ONE, Presence::Crashed),
        // Asked, leaving, farewell, let go; two see node 2 part, two meet node 3, which has entered.
        end(9, 7 * SECOND),
    ];
    assert_eq!(lines, expected);
}

#[test]
fn who_is_killed_and_comes_back_is_told_of_and_the_trace_replays() {
    let deployment = Deployment { nodes: 2, k: 1, links: vec![(ZERO, ONE)], ..Deployment::default() };
    // Node 0 uses the unit when it is killed, and its application shows its grant to the next life of the node.
    let killed = [Action::Request(ZERO, 0), at(&RESTARTS, ZERO), between(&NOTICES, ONE, ZERO)];
    let again = [Action::Show(ZERO), between(&MENDINGS, ZERO, ONE), Action::Release(ZERO), at(&RESTARTS, ONE)];
    let lines = recorded::<Krl>("krl", deployment, Variant::new(Forwarding::Off), [&killed, &again]);
    let change = |t, up, number| {
        let incarnation = Incarnation(number);
        Line::Link(LinkChange { t: t * SECOND, link: (ZERO, ONE), up, incarnation })
    };
    assert_eq!(lines[..3], [change(2, false, 0), change(5, true, 1), change(7, false, 1)]);
    assert!(matches!(lines[3..], [Line::End { .. }]));
    let members = Deployment { nodes: 3, k: 1, members: vec![ZERO, ONE, TWO], ..Deployment::default() };
    let steps = [at(&RESTARTS, ONE), at(&REVIVALS, ONE), at(&DISK_LOSSES, TWO), at(&RETURNS, TWO)];
    let lines = recorded::<KlmeFt>("klme-ft", members, klme_ft::Variant::SMALL, [&steps, &[]]);
    let change = |t, member, presence| {
        Line::Member(MemberChange { t: t * SECOND, member, presence, resource: 0, neighbourhood: 0 })
    };
    let expected = [
        change(1, ONE, Presence::Down),
        change(2, ONE, Presence::Inside),
        change(3, TWO, Presence::Crashed),
        change(4, TWO, Presence::Inside),
    ];
    assert_eq!(lines[..4], expected);
}

use driftlock_field::plane::Point;
use driftlock_protocol::{NodeId, Section};

use super::*;
use crate::config::Config;
use crate::field::FieldPlan;

const A: NodeId = NodeId(0);
const B: NodeId = NodeId(1);

fn plan(algorithm: &str) -> Plan {
    let (cs_time, load) = ("uniform:2..6".parse().unwrap(), 0.02);
    let field = Some(FieldPlan::default());
    Config { algorithm: algorithm.into(), nodes: 12, k: 2, load, cs_time, field, ..Config::default() }.plan().unwrap()
}

/// Does these deeds, each after a second, then goes on for so long. Gives every progress.
fn watched(plan: &Plan, deeds: &[Deed], seconds: u64) -> (Vec<Progress>, Progress) {
    let (mut seen, mut deeds, mut goes_on) = (Vec::new(), deeds.iter(), false);
    let end = run(plan, None, &mut |progress| {
        seen.push(progress.clone());
        goes_on = !goes_on;
        let second = progress.now + Span::from_millis(1_000);
        match deeds.as_slice() {
            _ if goes_on => Order::Until(second),
            [_, ..] => Order::Do(*deeds.next().unwrap()),
            [] if progress.now < Time::from_millis(seconds * 1_000) => Order::Until(second),
            [] => Order::End,
        }
    });
    (seen, end.unwrap())
}

#[test]
fn who_is_asked_for_by_hand_keeps_what_it_gets_until_released_by_hand() {
    for algorithm in ["krl", "hok", "klme"] {
        let (_, end) = watched(&plan(algorithm), &[Deed::Request(B)], 100);
        assert_eq!(end.violation, None, "{algorithm}");
        assert_eq!(end.nodes[1].section, Section::Critical, "{algorithm}");
        let mut deeds = vec![Deed::Request(B); 60];
        deeds.push(Deed::Release(B));
        let (seen, end) = watched(&plan(algorithm), &deeds, 65);
        let refused: Vec<_> = seen.iter().filter_map(|progress| progress.refused.as_deref()).collect();
        assert_eq!(refused.len(), 59, "{algorithm} {refused:?}");
        assert!(refused[0].contains("node 1 waits already"), "{refused:?}");
        assert_ne!(end.nodes[1].section, Section::Critical, "{algorithm}");
    }
}

#[test]
fn what_is_broken_by_hand_can_be_mended_by_hand() {
    let corner = Point { x: 10.0, y: 20.0 };
    let deeds = [
        Deed::Crash(A),
        Deed::Crash(A),
        Deed::Request(A),
        Deed::Revive(A),
        Deed::Revive(A),
        Deed::Pause(B),
        Deed::Resume(B),
        Deed::Cut(B, A),
        Deed::Mend(A, B),
        Deed::Jam(corner, 100.0),
        Deed::Cut(A, B),
        Deed::Clear,
        Deed::Mend(A, B),
        Deed::Place(A, corner),
        Deed::Jam(corner, -1.0),
        Deed::Crash(NodeId(12)),
        Deed::Place(NodeId(12), corner),
        Deed::Request(NodeId(12)),
    ];
    for algorithm in ["krlf", "klme-ft"] {
        let (seen, end) = watched(&plan(algorithm), &deeds, 60);
        assert_eq!(end.violation, None, "{algorithm}");
        assert!(end.entries > 5 && end.nodes.iter().all(|node| !node.is_silent), "{algorithm} {end:?}");
        let refused: Vec<_> = seen.into_iter().filter_map(|progress| progress.refused).collect();
        let words = [
            "so already",
            "down or pauses",
            "not down",
            "not cut off",
            "radius",
            "no node 12",
            "no node 12",
            "no node 12",
        ];
        assert_eq!(refused.len(), words.len(), "{refused:?}");
        assert!(refused.iter().zip(words).all(|(refused, words)| refused.contains(words)), "{refused:?}");
    }
}

#[test]
fn a_node_that_is_put_somewhere_is_there() {
    let corner = Point { x: 10.0, y: 20.0 };
    let (seen, _) = watched(&plan("krl"), &[Deed::Place(A, corner)], 2);
    let there = seen.iter().any(|progress| progress.nodes[0].at.distance_squared(corner) < 1.0);
    assert!(there, "{seen:?}");
}

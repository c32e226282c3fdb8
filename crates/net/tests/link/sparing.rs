//! Few links in a crowd, and enough: which there are follows from who hears whom, and nothing is cut off.

use std::collections::BTreeSet;

use driftlock_net::link::Settings;
use driftlock_protocol::NodeId;

use crate::crowd::{Crowd, Weather};
use crate::observer::needed;

fn witnesses() -> usize {
    Settings::default().spare_witnesses as usize
}

/// Whether these pairs connect all nodes but one of them, or all if there is no such node.
fn connects(pairs: &BTreeSet<(NodeId, NodeId)>, nodes: u32, without: Option<NodeId>) -> bool {
    let mut reached = BTreeSet::from([(0..nodes).map(NodeId).find(|&node| Some(node) != without).unwrap()]);
    loop {
        let next = |&(a, b): &(NodeId, NodeId)| match (reached.contains(&a), reached.contains(&b)) {
            (true, false) => Some(b),
            (false, true) => Some(a),
            _ => None,
        };
        let found: Vec<_> = pairs.iter().filter_map(next).filter(|&node| Some(node) != without).collect();
        if found.is_empty() {
            return reached.len() == nodes as usize - usize::from(without.is_some());
        }
        reached.extend(found);
    }
}

fn degrees(pairs: &BTreeSet<(NodeId, NodeId)>, nodes: u32) -> Vec<usize> {
    (0..nodes).map(NodeId).map(|node| pairs.iter().filter(|(a, b)| *a == node || *b == node).count()).collect()
}

#[test]
fn in_one_cell_the_number_of_links_of_a_node_does_not_grow_with_the_crowd() {
    for nodes in [10, 40, 100, 200] {
        let links = needed(nodes, witnesses(), |_, _| true);
        let degrees = degrees(&links, nodes);
        let (most, mean) = (degrees.iter().max().unwrap(), degrees.iter().sum::<usize>() as f64 / f64::from(nodes));
        println!("{nodes} nodes: {mean:.1} links on average, at most {most}");
        assert!(*most <= 20 && mean <= 8.0, "{nodes}: {mean}, at most {most}");
        assert!(connects(&links, nodes, None));
        for without in (0..nodes).map(NodeId) {
            assert!(connects(&links, nodes, Some(without)), "{without} alone holds {nodes} nodes together");
        }
    }
}

#[test]
fn a_crowd_agrees_on_the_links_of_the_rule_and_keeps_them() {
    for nodes in [12, 60] {
        let mut crowd = Crowd::new(nodes, 2, Settings::default());
        crowd.run_unwatched(90_000);
        crowd.observer.check_calm(&crowd.links, witnesses(), |_, _| true);
        let ups = crowd.observer.ups;
        crowd.run_unwatched(600_000);
        assert_eq!(crowd.observer.ups, ups, "ten minutes in which nobody moves");
        crowd.observer.check_calm(&crowd.links, witnesses(), |_, _| true);
    }
}

#[test]
fn a_crowd_that_never_falls_silent_comes_to_the_links_of_the_rule_as_well() {
    let mut crowd = Crowd::new(12, 5, Settings::default());
    for _ in 0..400 {
        (0..12).for_each(|node| crowd.send_to_all(node));
        crowd.run_unwatched(300);
    }
    crowd.observer.check_calm(&crowd.links, witnesses(), |_, _| true);
}

#[test]
fn a_neighbour_that_walks_off_is_missed_in_a_crowd_as_soon_as_among_few() {
    // As many hellos as five nodes say in a second are all that these 60 may, so each speaks every 15 s or so.
    let settings = Settings { hellos_per_second_max: 5, ..Settings::default() };
    let mut crowd = Crowd::new(60, 4, settings);
    crowd.run_unwatched(300_000);
    let (gone, _) = crowd.links[0].links().next().expect("it has links");
    for node in (0..60).filter(|&node| node != gone.index()) {
        crowd.set_weather_between(node, gone.index(), Weather::NONE);
    }
    crowd.send(0, gone.0, None);
    let is_up = |crowd: &Crowd| crowd.links[0].links().any(|(peer, _)| peer == gone);
    crowd.run_unwatched(3_500);
    assert!(is_up(&crowd), "a pause of that long is no reason");
    crowd.run_unwatched(2_500);
    assert!(!is_up(&crowd), "a message is not answered");
}

#[test]
fn nothing_is_cut_off_where_reach_is_no_disc() {
    // Two halls with a door: nodes hear those of their hall, and by the door two hear one of the other side each.
    let door = [(3, 20), (17, 31)];
    let hear = |a: NodeId, b: NodeId| {
        let (a, b) = (a.0.min(b.0), a.0.max(b.0));
        (a < 18) == (b < 18) || door.contains(&(a, b))
    };
    halls(hear);
    // A row of pillars: a hears b unless the pillar of one is behind that of the other.
    halls(|a, b| a.0 % 6 != b.0 % 6 || a.0.abs_diff(b.0) == 6);
}

fn halls(hear: impl Fn(NodeId, NodeId) -> bool + Copy) {
    let nodes = 36;
    assert!(connects(&needed(nodes, witnesses(), hear), nodes, None));
    let mut crowd = Crowd::new(nodes as usize, 3, Settings::default());
    let id = |node: usize| NodeId(u32::try_from(node).unwrap());
    crowd.divide(|a, b| a == b || hear(id(a), id(b)));
    crowd.run_unwatched(150_000);
    crowd.observer.check_calm(&crowd.links, witnesses(), hear);
}

//! What the graph of those in range of one another was like, over time.

use driftlock_field::mobility::Proximity;
use driftlock_net::Time;
use driftlock_protocol::NodeId;

/// The graph of the nodes on a field, with a link between any two that are in range of each other: on average over some
/// time. It is a matter of distances alone, and so the same for every algorithm.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Graph {
    /// The share of the time in which it was connected.
    pub connected: f64,
    /// The share of the nodes that were in its largest component.
    pub largest_component: f64,
    /// How many others were in range of a node.
    pub degree: f64,
}

/// The graph as it is at one time.
#[derive(Clone, Copy)]
struct Shape {
    /// How many nodes are in its largest component.
    largest: usize,
    /// The degrees of all nodes, added up.
    degrees: usize,
}

impl Graph {
    /// What it was like from one time to another, if there is any time between them. `proximity` is still at the start.
    pub(super) fn between(mut proximity: Proximity, since: Time, until: Time) -> Option<Self> {
        let nodes = proximity.movement().len();
        let (mut connected, mut largest, mut degrees) = (0_u128, 0_u128, 0_u128);
        while proximity.next(since).is_some() {}
        let (mut now, mut known) = (since, None);
        while now < until {
            let next = proximity.wakes().map_or(until, |at| at.min(until));
            let shape: Shape = *known.get_or_insert_with(|| Shape::of(&proximity));
            let span = u128::from((next - now).0);
            connected += if shape.largest == nodes { span } else { 0 };
            largest += span * shape.largest as u128;
            degrees += span * shape.degrees as u128;
            // Most often a node only turns, and the graph stays as it is.
            while proximity.next(next).is_some() {
                known = None;
            }
            now = next;
        }
        let time = (until - since).0 as f64;
        let per_node = |sum: u128| sum as f64 / (time * nodes as f64);
        (since < until).then(|| Self {
            connected: connected as f64 / time,
            largest_component: per_node(largest),
            degree: per_node(degrees),
        })
    }
}

impl Shape {
    fn of(proximity: &Proximity) -> Self {
        let nodes = proximity.movement().len();
        let (mut is_reached, mut to_visit, mut largest) = (vec![false; nodes], Vec::new(), 0);
        for first in proximity.movement().nodes() {
            let mut size = 0;
            reach(first, &mut is_reached, &mut to_visit);
            while let Some(node) = to_visit.pop() {
                size += 1;
                for &peer in proximity.neighbours(node) {
                    reach(peer, &mut is_reached, &mut to_visit);
                }
            }
            largest = largest.max(size);
        }
        let degrees = proximity.movement().nodes().map(|node| proximity.neighbours(node).len()).sum();
        Self { largest, degrees }
    }
}

/// Has a node visited, unless it was reached before.
fn reach(node: NodeId, is_reached: &mut [bool], to_visit: &mut Vec<NodeId>) {
    if !std::mem::replace(&mut is_reached[node.index()], true) {
        to_visit.push(node);
    }
}

#[cfg(test)]
mod tests {
    use driftlock_field::mobility::{Movement, Track, Tracks, Waypoint};
    use driftlock_field::plane::Point;

    use super::*;

    const RANGE: f64 = 100.0;

    fn s(seconds: f64) -> Time {
        Time::from_units(seconds)
    }

    /// A node that is so far from the origin at each of these times, and goes straight in between.
    fn track(places: &[(f64, f64)]) -> Track {
        let waypoint = |&(at, x): &(f64, f64)| Waypoint { at: s(at), point: Point { x, y: 0.0 } };
        Track::always("node", places.iter().map(waypoint).collect()).expect("a track")
    }

    fn graph(tracks: Vec<Track>, since: f64, until: f64) -> Option<Graph> {
        let movement = Movement::from_tracks(Tracks::new(tracks));
        Graph::between(Proximity::new(movement, RANGE), s(since), s(until))
    }

    fn is(graph: Option<Graph>, connected: f64, largest_component: f64, degree: f64) -> bool {
        let graph = graph.expect("time goes by");
        let close = |a: f64, b: f64| (a - b).abs() < 1e-6;
        close(graph.connected, connected)
            && close(graph.largest_component, largest_component)
            && close(graph.degree, degree)
    }

    #[test]
    fn one_of_two_nodes_walks_out_of_range() {
        // At 50 m and 10 m/s it is 100 m away after 5 s.
        let both = || vec![track(&[(0.0, 0.0)]), track(&[(0.0, 50.0), (20.0, 250.0)])];
        assert!(is(graph(both(), 0.0, 20.0), 0.25, (5.0 + 15.0 * 0.5) / 20.0, 0.25));
        assert!(is(graph(both(), 4.0, 8.0), 0.25, (1.0 + 3.0 * 0.5) / 4.0, 0.25), "only what is measured counts");
        assert!(is(graph(both(), 6.0, 20.0), 0.0, 0.5, 0.0));
        assert!(is(graph(both(), 30.0, 31.0), 0.0, 0.5, 0.0), "and stands there");
        assert_eq!(graph(both(), 3.0, 3.0), None);
    }

    #[test]
    fn a_node_that_passes_by_connects_two_for_a_while() {
        // They stand 180 m apart. It comes from beyond the first, and is in range of the first from 0 s to 20 s, of the
        // second from 18 s (at 80 m) to 38 s: of both from 18 s to 20 s.
        let all = vec![track(&[(0.0, 0.0)]), track(&[(0.0, 180.0)]), track(&[(0.0, -100.0), (100.0, 900.0)])];
        let largest = (18.0 * 2.0 + 2.0 * 3.0 + 18.0 * 2.0 + 2.0 * 1.0) / (40.0 * 3.0);
        let degree = (20.0 + 20.0) * 2.0 / (40.0 * 3.0);
        assert!(is(graph(all, 0.0, 40.0), 2.0 / 40.0, largest, degree));
    }

    #[test]
    fn a_node_alone_is_connected() {
        assert!(is(graph(vec![track(&[(0.0, 0.0)])], 0.0, 1.0), 1.0, 1.0, 0.0));
    }
}

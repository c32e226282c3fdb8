//! Movement along straight lines: everybody walks to a random point, then to the next, without a rest.

use driftlock_field::plane::{Leg, Point, Velocity};
use driftlock_field::sites::{Passage, Site, Sites};
use driftlock_net::Time;
use driftlock_protocol::NodeId;
use rand::RngExt;

use crate::random::Stream;

/// Nodes that walk about on a rectangle, all at the same speed.
#[derive(Clone, Debug)]
pub struct Walk {
    sites: Sites,
    /// The corner of the rectangle that is not the origin.
    size: Point,
    speed: f64,
    walkers: Vec<Walker>,
}

/// Where one of them is.
#[derive(Clone, Copy, Debug)]
struct Walker {
    leg: Leg,
    to: Point,
    started: Time,
    /// How much of the leg lies behind it, in time units.
    since: f64,
    site: Option<Site>,
}

/// What a walker does next.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Turn {
    /// It passes a border.
    Passes(Passage),
    /// It has come to where it wanted, and goes elsewhere.
    Arrives,
}

impl Walk {
    /// Everybody starts at a random point.
    pub fn new(nodes: u32, sites: Sites, size: Point, speed: f64, stream: &mut Stream) -> Self {
        let mut walk = Self { sites, size, speed, walkers: Vec::with_capacity(nodes as usize) };
        for _ in 0..nodes {
            let from = walk.random_point(stream);
            let walker = walk.set_out(from, Time::ZERO, walk.sites.at(from), stream);
            walk.walkers.push(walker);
        }
        walk
    }

    /// The neighbourhood that a node is in.
    pub fn site(&self, node: NodeId) -> Option<Site> {
        self.walkers[node.index()].site
    }

    /// The straight line that a node is on, and since when.
    pub fn leg(&self, node: NodeId) -> (Time, Leg) {
        let Walker { leg, started, .. } = self.walkers[node.index()];
        (started, leg)
    }

    /// When a node does something next, and what.
    pub fn next(&self, node: NodeId) -> (Time, Turn) {
        let Walker { leg, started, since, site, .. } = &self.walkers[node.index()];
        match self.sites.first_passage(*site, leg, *since) {
            Some(passage) => (*started + Time::from_units(passage.after), Turn::Passes(passage)),
            None => (*started + Time::from_units(leg.lasts), Turn::Arrives),
        }
    }

    /// It does so now.
    pub fn advance(&mut self, node: NodeId, stream: &mut Stream) {
        let (now, turn) = self.next(node);
        match turn {
            Turn::Passes(Passage { after, entered, .. }) => {
                let walker = &mut self.walkers[node.index()];
                (walker.since, walker.site) = (after, entered);
            }
            Turn::Arrives => {
                let Walker { to, site, .. } = self.walkers[node.index()];
                self.walkers[node.index()] = self.set_out(to, now, site, stream);
            }
        }
    }

    fn random_point(&self, stream: &mut Stream) -> Point {
        Point { x: self.size.x * stream.random::<f64>(), y: self.size.y * stream.random::<f64>() }
    }

    fn set_out(&self, from: Point, started: Time, site: Option<Site>, stream: &mut Stream) -> Walker {
        let to = self.random_point(stream);
        let distance = from.distance_squared(to).sqrt();
        let lasts = distance / self.speed;
        // Whoever is there already goes on to the next point at once.
        let pace = if distance > 0.0 { self.speed / distance } else { 0.0 };
        let leg = Leg { from, velocity: Velocity { x: (to.x - from.x) * pace, y: (to.y - from.y) * pace }, lasts };
        Walker { leg, to, started, since: 0.0, site }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Subject, stream};

    fn walk(speed: f64, draw: &mut Stream) -> Walk {
        let sites = Sites::cells(2, 2, 50.0, 1.0).unwrap();
        Walk::new(8, sites, Point { x: 100.0, y: 100.0 }, speed, draw)
    }

    /// How often nodes cross borders in a thousand time units.
    fn passages(speed: f64) -> usize {
        let mut draw = stream(3, 0, Subject::Mobility);
        let mut walk = walk(speed, &mut draw);
        let mut count = 0;
        for node in (0..8).map(NodeId) {
            let mut before = Time::ZERO;
            while before < Time::from_units(1000.0) {
                let (at, turn) = walk.next(node);
                assert!(at >= before, "time does not go back");
                before = at;
                if let Turn::Passes(passage) = turn {
                    assert_eq!(passage.left, walk.site(node));
                    count += 1;
                }
                walk.advance(node, &mut draw);
            }
            assert!(walk.site(node).is_some(), "cells leave no gap");
        }
        count
    }

    #[test]
    fn whoever_walks_faster_crosses_more_borders() {
        let passed = [0.5, 1.0, 4.0].map(passages);
        assert!(passed[0] > 10 && passed[1] > passed[0] && passed[2] > 2 * passed[1], "{passed:?}");
    }

    #[test]
    fn everybody_starts_in_the_neighbourhood_of_its_point() {
        let walk = walk(1.0, &mut stream(1, 0, Subject::Mobility));
        for (number, walker) in walk.walkers.iter().enumerate() {
            assert_eq!(walker.site, walk.sites.at(walker.leg.from), "node {number}");
        }
    }
}

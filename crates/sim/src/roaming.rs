//! Who is in which neighbourhood, and when that changes: by rates, or by movement on a plane.

use driftlock_field::mobility::{Area, Model, ModelError, Movement, RandomWaypoint};
use driftlock_field::plane::{Leg, Point};
use driftlock_field::sites::{Passage, Site, Sites};
use driftlock_net::{Span, Time};
use driftlock_protocol::NodeId;
use rand::RngExt;

use crate::churn::Churn;
use crate::random::{Duration, Stream, exponential};

/// Where each node wants to be. An algorithm may take a while to let a node go; that does not hold its body back.
pub enum Roaming {
    /// Each node leaves its neighbourhood at a rate.
    Churn(Rates),
    /// Each walks about on a plane.
    Walk(Walk),
}

/// All nodes leave at the same rate, for one of the other neighbourhoods.
pub struct Rates {
    churn: Churn,
    absence: Duration,
    neighbourhoods: u32,
    sites: Vec<Option<Site>>,
    /// Where those who are in no neighbourhood come from.
    left: Vec<Site>,
    stream: Stream,
}

/// Nodes that walk about on a rectangle between sites, all at the same speed and without a rest.
pub struct Walk {
    movement: Movement,
    sites: Sites,
    walkers: Vec<Walker>,
}

/// Where one of them is.
#[derive(Clone, Copy, Debug)]
struct Walker {
    site: Option<Site>,
    /// How much of its leg lies behind it, in time units.
    gone: f64,
}

impl Roaming {
    /// Nodes that are dealt out evenly, leave at a rate, if at all, are in no neighbourhood for a while, and enter
    /// another one, or the same if there is only one.
    pub fn churn(nodes: u32, neighbourhoods: u32, churn: Churn, absence: Duration, stream: Stream) -> Self {
        let left: Vec<_> = dealt_out(nodes, neighbourhoods).collect();
        let sites = left.iter().copied().map(Some).collect();
        Self::Churn(Rates { churn, absence, neighbourhoods, sites, left, stream })
    }

    /// Nodes that walk about between these sites, on a rectangle with this corner, as one finds them at any time.
    pub fn walk(nodes: u32, sites: Sites, corner: Point, speed: f64, seed: u64) -> Result<Self, ModelError> {
        let (model, area) = random_waypoint(corner, speed);
        let movement = Movement::new(&model, area, nodes, seed)?;
        let walker = |node| Walker { site: sites.at(movement.course(node).leg.from), gone: 0.0 };
        let walkers = movement.nodes().map(walker).collect();
        Ok(Self::Walk(Walk { movement, sites, walkers }))
    }

    /// Refuses a walk that makes no sense.
    pub fn check_walk(nodes: u32, corner: Point, speed: f64) -> Result<(), ModelError> {
        let (model, area) = random_waypoint(corner, speed);
        model.check(area, nodes)
    }

    /// The neighbourhood that a node is in, going by where it is.
    pub fn site(&self, node: NodeId) -> Option<Site> {
        match self {
            Self::Churn(rates) => rates.sites[node.index()],
            Self::Walk(walk) => walk.walkers[node.index()].site,
        }
    }

    /// The straight line that a node walks on, and since when, if it walks.
    pub fn leg(&self, node: NodeId) -> Option<(Time, Leg)> {
        match self {
            Self::Churn(_) => None,
            Self::Walk(walk) => {
                let course = walk.movement.course(node);
                Some((course.since, course.leg))
            }
        }
    }

    /// When something changes about a node that was last looked at `now`. To be asked once for every change.
    pub fn next(&mut self, node: NodeId, now: Time) -> Option<Time> {
        match self {
            Self::Churn(rates) => rates.next(node, now),
            Self::Walk(walk) => Some(walk.next(node)),
        }
    }

    /// What was to change has changed.
    pub fn advance(&mut self, node: NodeId) {
        match self {
            Self::Churn(rates) => rates.advance(node),
            Self::Walk(walk) => walk.advance(node),
        }
    }
}

fn random_waypoint(corner: Point, speed: f64) -> (Model, Area) {
    let model = Model::RandomWaypoint(RandomWaypoint { speed_min: speed, speed_max: speed, pause: 0.0 });
    (model, Area { width: corner.x, height: corner.y })
}

impl Walk {
    /// The next border that a node passes, if it passes one before it turns.
    fn passage(&self, node: NodeId) -> Option<Passage> {
        let Walker { site, gone } = self.walkers[node.index()];
        self.sites.first_passage(site, &self.movement.course(node).leg, gone)
    }

    /// When a node passes a border, or turns.
    fn next(&self, node: NodeId) -> Time {
        let course = self.movement.course(node);
        let passes = self.passage(node).map(|passage| course.since + Span::from_units(passage.after));
        passes.map_or(course.until, |at| at.min(course.until))
    }

    fn advance(&mut self, node: NodeId) {
        let passage = self.passage(node);
        let walker = &mut self.walkers[node.index()];
        if let Some(Passage { after, entered, .. }) = passage {
            *walker = Walker { site: entered, gone: after };
        } else {
            walker.gone = 0.0;
            self.movement.turn(node);
        }
    }
}

impl Rates {
    fn next(&mut self, node: NodeId, now: Time) -> Option<Time> {
        match self.sites[node.index()] {
            Some(_) if self.churn == Churn::NONE => None,
            Some(_) => Some(now + Span::from_units(exponential(1.0 / self.churn.rate(), &mut self.stream))),
            None => Some(now + self.absence.sample(&mut self.stream)),
        }
    }

    fn advance(&mut self, node: NodeId) {
        let at = node.index();
        self.sites[at] = match self.sites[at] {
            Some(site) => {
                self.left[at] = site;
                None
            }
            None => Some(self.another(self.left[at])),
        };
    }

    fn another(&mut self, left: Site) -> Site {
        if self.neighbourhoods == 1 {
            return left;
        }
        let other = self.stream.random_range(0..self.neighbourhoods - 1);
        Site(if other < left.0 { other } else { other + 1 })
    }
}

fn dealt_out(nodes: u32, neighbourhoods: u32) -> impl Iterator<Item = Site> {
    (0..nodes).map(move |node| Site(node % neighbourhoods))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Subject, stream};

    fn draw() -> Stream {
        stream(5, 0, Subject::Mobility)
    }

    #[test]
    fn whoever_stays_is_dealt_out_evenly_and_never_moves() {
        let mut roaming = Roaming::churn(5, 2, Churn::NONE, Duration::Constant(1.0), draw());
        let sites: Vec<_> = (0..5).map(|node| roaming.site(NodeId(node)).unwrap().0).collect();
        assert_eq!(sites, [0, 1, 0, 1, 0]);
        assert_eq!(roaming.next(NodeId(0), Time::ZERO), None);
    }

    #[test]
    fn churn_leads_out_and_then_into_another_neighbourhood() {
        let (node, away) = (NodeId(1), Time(7));
        let mut roaming = Roaming::churn(3, 3, "0.5".parse().unwrap(), Duration::Constant(7e-9), draw());
        let mut stayed = 0.0;
        for _ in 0..2_000 {
            let before = roaming.site(node).unwrap();
            stayed += roaming.next(node, Time::ZERO).unwrap().units();
            roaming.advance(node);
            assert_eq!((roaming.site(node), roaming.next(node, Time::ZERO)), (None, Some(away)));
            roaming.advance(node);
            assert_ne!(roaming.site(node).unwrap(), before);
        }
        assert!((stayed / 2_000.0 - 2.0).abs() < 0.1, "a rate of 0.5 is a mean stay of 2: {stayed}");
    }

    #[test]
    fn where_there_is_only_one_neighbourhood_everybody_comes_back_to_it() {
        let mut roaming = Roaming::churn(1, 1, "heavy".parse().unwrap(), Duration::Constant(0.0), draw());
        roaming.advance(NodeId(0));
        roaming.advance(NodeId(0));
        assert_eq!(roaming.site(NodeId(0)), Some(Site(0)));
    }

    fn walk(nodes: u32, columns: u32, speed: f64) -> Roaming {
        let (side, corner) = (100.0 / f64::from(columns), Point { x: 100.0, y: 100.0 });
        Roaming::walk(nodes, Sites::cells(columns, columns, side, 1.0).unwrap(), corner, speed, 3).unwrap()
    }

    /// How often nodes cross borders in a thousand time units.
    fn passages(speed: f64) -> usize {
        let mut roaming = walk(8, 2, speed);
        let mut count = 0;
        for node in (0..8).map(NodeId) {
            let mut now = Time::ZERO;
            while now < Time::from_units(1000.0) {
                let before = (now, roaming.site(node));
                now = roaming.next(node, now).unwrap();
                assert!(now >= before.0, "time does not go back");
                roaming.advance(node);
                count += usize::from(roaming.site(node) != before.1);
            }
            assert!(roaming.site(node).is_some(), "cells leave no gap");
        }
        count
    }

    #[test]
    fn whoever_walks_faster_crosses_more_borders() {
        let passed = [0.5, 1.0, 4.0].map(passages);
        assert!(passed[0] > 10 && passed[1] > passed[0] && passed[2] > 2 * passed[1], "{passed:?}");
    }

    #[test]
    fn everybody_is_in_the_cell_of_its_place_but_for_the_margin() {
        let mut roaming = walk(50, 3, 1.0);
        for node in (0..50).map(NodeId) {
            for _ in 0..20 {
                let (_, leg) = roaming.leg(node).unwrap();
                let Roaming::Walk(walk) = &roaming else { unreachable!("it walks") };
                let (here, Walker { site, gone }) =
                    (leg.at(walk.walkers[node.index()].gone), walk.walkers[node.index()]);
                let cell = site.unwrap().0;
                let middle = |index: u32| (f64::from(index) + 0.5) * 100.0 / 3.0;
                let within = |at: f64, index| (at - middle(index)).abs() <= 50.0 / 3.0 + 1.0 + 1e-9;
                assert!(within(here.x, cell % 3) && within(here.y, cell / 3), "{here:?} {site:?} {gone}");
                roaming.advance(node);
            }
        }
    }

    #[test]
    fn the_middle_is_as_full_in_the_beginning_as_later() {
        const NODES: u32 = 4_000;
        let mut roaming = walk(NODES, 3, 1.0);
        let in_the_middle = |roaming: &Roaming| {
            let inside = (0..NODES).filter(|node| roaming.site(NodeId(*node)) == Some(Site(4))).count();
            inside as f64 / f64::from(NODES)
        };
        let first = in_the_middle(&roaming);
        for node in (0..NODES).map(NodeId) {
            while let Some(at) = roaming.next(node, Time::ZERO).filter(|at| *at < Time::from_units(300.0)) {
                assert!(at > Time::ZERO);
                roaming.advance(node);
            }
        }
        let later = in_the_middle(&roaming);
        // Where nodes are spread evenly, it is a ninth.
        assert!(first > 0.19 && (first - later).abs() < 0.03, "{first} {later}");
    }
}

//! Who is in which neighbourhood, and when that changes: by rates, or by movement on a plane.

use driftlock_field::plane::Leg;
use driftlock_field::sites::Site;
use driftlock_net::Time;
use driftlock_protocol::NodeId;
use rand::RngExt;

use crate::churn::Churn;
use crate::movement::Walk;
use crate::random::{Duration, Stream, exponential};

/// Where everybody wants to be. An algorithm may take a while to let a node go; that does not hold its body back.
pub struct Roaming {
    way: Way,
    stream: Stream,
}

enum Way {
    Churn(Rates),
    Walk(Walk),
}

/// Everybody leaves at the same rate, for one of the other neighbourhoods.
struct Rates {
    churn: Churn,
    absence: Duration,
    neighbourhoods: u32,
    sites: Vec<Option<Site>>,
    /// Where those who are in no neighbourhood come from.
    left: Vec<Site>,
}

impl Roaming {
    /// Nodes that are dealt out evenly, leave at a rate, if at all, are in no neighbourhood for a while, and enter
    /// another one, or the same if there is only one.
    pub fn churn(nodes: u32, neighbourhoods: u32, churn: Churn, absence: Duration, stream: Stream) -> Self {
        let left: Vec<_> = dealt_out(nodes, neighbourhoods).collect();
        let sites = left.iter().copied().map(Some).collect();
        Self { way: Way::Churn(Rates { churn, absence, neighbourhoods, sites, left }), stream }
    }

    /// Nodes that walk about. `make` draws where they start.
    pub fn walk(make: impl FnOnce(&mut Stream) -> Walk, mut stream: Stream) -> Self {
        Self { way: Way::Walk(make(&mut stream)), stream }
    }

    /// The neighbourhood that a node is in, going by where it is.
    pub fn site(&self, node: NodeId) -> Option<Site> {
        match &self.way {
            Way::Churn(Rates { sites, .. }) => sites[node.index()],
            Way::Walk(walk) => walk.site(node),
        }
    }

    /// The straight line that a node walks on, and since when, if it walks.
    pub fn leg(&self, node: NodeId) -> Option<(Time, Leg)> {
        match &self.way {
            Way::Churn(_) => None,
            Way::Walk(walk) => Some(walk.leg(node)),
        }
    }

    /// When something changes about a node that was last looked at `now`. To be asked once for every change.
    pub fn next(&mut self, node: NodeId, now: Time) -> Option<Time> {
        match &self.way {
            Way::Churn(rates) => match rates.sites[node.index()] {
                Some(_) if rates.churn == Churn::NONE => None,
                Some(_) => Some(now + Time::from_units(exponential(1.0 / rates.churn.rate(), &mut self.stream))),
                None => Some(now + rates.absence.sample(&mut self.stream)),
            },
            Way::Walk(walk) => Some(walk.next(node).0),
        }
    }

    /// What was to change has changed.
    pub fn advance(&mut self, node: NodeId) {
        match &mut self.way {
            Way::Churn(rates) => rates.advance(node, &mut self.stream),
            Way::Walk(walk) => walk.advance(node, &mut self.stream),
        }
    }
}

impl Rates {
    fn advance(&mut self, node: NodeId, stream: &mut Stream) {
        let at = node.index();
        self.sites[at] = match self.sites[at] {
            Some(site) => {
                self.left[at] = site;
                None
            }
            None => Some(self.another(self.left[at], stream)),
        };
    }

    fn another(&self, left: Site, stream: &mut Stream) -> Site {
        if self.neighbourhoods == 1 {
            return left;
        }
        let other = stream.random_range(0..self.neighbourhoods - 1);
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
}

//! Discs around the sites, which may overlap and leave gaps.

use super::Site;
use crate::plane::{Leg, Point};

/// Sites that can be reached from equally far.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Discs {
    pub(super) centres: Vec<Point>,
    pub(super) range: f64,
}

impl Discs {
    /// The nearest site in range.
    pub(super) fn at(&self, point: Point) -> Option<Site> {
        let in_range = self.distances(point).filter(|(_, squared)| *squared <= self.range * self.range);
        nearest(in_range)
    }

    /// When a node of this disc goes out of it by more than the margin, and what it enters then.
    pub(super) fn leave(&self, site: Site, margin: f64, leg: &Leg, since: f64) -> (f64, Option<Site>) {
        // A node that is said to be inside and never is was left outside by rounding at a turn: it is out.
        let exit = leg.within(self.centres[site.index()], self.range + margin).map_or(since, |(_, exit)| exit);
        let after = exit.max(since);
        let entered = if after == f64::INFINITY { None } else { self.reachable(leg, after, Some(site)) };
        (after, entered)
    }

    /// When a node outside of all discs comes into one, and into which.
    pub(super) fn enter(&self, leg: &Leg, since: f64) -> Option<(f64, Option<Site>)> {
        let stays = self.centres.iter().filter_map(|&centre| leg.within(centre, self.range));
        let entries = stays.map(|(entry, exit)| (entry.max(since), exit)).filter(|(entry, exit)| entry < exit);
        let after = entries.map(|(entry, _)| entry).min_by(f64::total_cmp)?;
        Some((after, self.reachable(leg, after, None)))
    }

    /// The nearest site but one in whose range the node is from this time on. Told by the times at which it enters and
    /// leaves the discs rather than by distances, which are rounded otherwise: so no node enters what it leaves in the
    /// same moment.
    fn reachable(&self, leg: &Leg, time: f64, but: Option<Site>) -> Option<Site> {
        let inside = |site: Site| {
            let stay = leg.within(self.centres[site.index()], self.range);
            Some(site) != but && stay.is_some_and(|(entry, exit)| entry <= time && time < exit)
        };
        nearest(self.distances(leg.at(time)).filter(|(site, _)| inside(*site)))
    }

    fn distances(&self, point: Point) -> impl Iterator<Item = (Site, f64)> {
        let squared = move |centre: &Point| centre.distance_squared(point);
        (0..).map(Site).zip(self.centres.iter().map(squared))
    }
}

/// Of equally near ones the lowest: it comes first, and the first of equals is kept.
fn nearest(sites: impl Iterator<Item = (Site, f64)>) -> Option<Site> {
    sites.min_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(site, _)| site)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plane::Velocity;

    /// Two overlapping discs and one apart, on a line.
    fn three() -> Discs {
        Discs { centres: [0.0, 6.0, 30.0].map(|x| Point { x, y: 0.0 }).into(), range: 5.0 }
    }

    fn leg(from: (f64, f64), velocity: (f64, f64)) -> Leg {
        Leg {
            from: Point { x: from.0, y: from.1 },
            velocity: Velocity { x: velocity.0, y: velocity.1 },
            lasts: f64::INFINITY,
        }
    }

    #[test]
    fn a_point_belongs_to_the_nearest_site_in_range_and_to_the_lower_of_equals() {
        let at = |x, y| three().at(Point { x, y });
        assert_eq!(at(2.0, 0.0), Some(Site(0)));
        assert_eq!(at(4.0, 0.0), Some(Site(1)));
        assert_eq!(at(3.0, 1.0), Some(Site(0)), "equally near");
        assert_eq!(at(11.0, 0.0), Some(Site(1)), "the circle belongs to the disc");
        assert_eq!(at(11.1, 0.0), None);
    }

    #[test]
    fn whoever_is_in_an_overlap_stays_in_the_neighbourhood_it_is_in() {
        let east = leg((0.0, 0.0), (1.0, 0.0));
        assert_eq!(three().leave(Site(0), 0.0, &east, 0.0), (5.0, Some(Site(1))), "not at 3, where 1 is nearer");
        assert_eq!(three().leave(Site(0), 1.0, &east, 0.0), (6.0, Some(Site(1))));
        let west = leg((6.0, 0.0), (-1.0, 0.0));
        assert_eq!(three().leave(Site(1), 0.0, &west, 0.0), (5.0, Some(Site(0))), "the other way it is in the other");
    }

    #[test]
    fn gaps_are_in_no_neighbourhood() {
        let east = leg((6.0, 0.0), (1.0, 0.0));
        assert_eq!(three().leave(Site(1), 0.0, &east, 0.0), (5.0, None));
        assert_eq!(three().enter(&east, 5.0), Some((19.0, Some(Site(2)))));
        assert_eq!(three().leave(Site(2), 0.0, &east, 19.0), (29.0, None));
        assert_eq!(three().enter(&east, 29.0), None);
    }

    #[test]
    fn two_discs_that_are_entered_at_once_give_the_lower_and_left_at_once_give_neither() {
        let along_the_bisector = leg((3.0, -10.0), (0.0, 1.0));
        assert_eq!(three().enter(&along_the_bisector, 0.0), Some((6.0, Some(Site(0)))));
        assert_eq!(three().leave(Site(0), 0.0, &along_the_bisector, 6.0), (14.0, None));
        assert_eq!(three().leave(Site(1), 0.0, &along_the_bisector, 6.0), (14.0, None));
        assert_eq!(three().enter(&along_the_bisector, 14.0), None);
    }

    #[test]
    fn whoever_stands_still_stays_and_appears_in_the_nearest() {
        let still = leg((4.0, 0.0), (0.0, 0.0));
        assert_eq!(three().leave(Site(0), 0.0, &still, 0.0), (f64::INFINITY, None));
        assert_eq!(three().enter(&still, 2.0), Some((2.0, Some(Site(1)))));
    }

    #[test]
    fn whoever_was_left_outside_by_rounding_is_out_at_once() {
        assert_eq!(three().leave(Site(0), 0.0, &leg((5.1, 0.0), (0.0, 0.0)), 0.0), (0.0, Some(Site(1))));
        assert_eq!(three().leave(Site(0), 0.0, &leg((5.1, 0.0), (0.0, 1.0)), 2.0), (2.0, Some(Site(1))));
    }
}

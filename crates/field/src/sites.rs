//! Which neighbourhood a point is in, and when exactly a moving node passes from one to another.
//!
//! A neighbourhood is the area in which one set of k resources can be reached. Many lie side by side, and in each an
//! instance of the algorithm runs for itself. A node is in one of them or in none, never in two: where areas overlap it
//! belongs to the nearest site when it comes in from outside (of equally near ones to the lower number), and then it
//! stays where it is until it has left that area by more than a margin. So a node that walks along a border does not
//! change sides with every step, and one in an overlap asks in one neighbourhood only.
//!
//! Everything here is computed, nothing is sampled: a passage happens at the root of an equation, and the same movement
//! gives the same passages on every machine.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::plane::{Leg, Point};
use cells::Cells;
use discs::Discs;

mod cells;
mod discs;

/// The most neighbourhoods of one plane.
pub const SITES_MAX: u32 = 1 << 16;

/// The number of a set of resources, and of the neighbourhood in which it can be reached.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Site(pub u32);

impl Site {
    /// The number as an index into a vector of all neighbourhoods.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A node passes from one neighbourhood to another, comes in from none, or goes out into none.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Passage {
    /// When, in time units since the start of the leg.
    pub after: f64,
    /// What it leaves.
    pub left: Option<Site>,
    /// What it enters; never what it leaves.
    pub entered: Option<Site>,
}

/// Why sites make no sense.
#[derive(Clone, Copy, PartialEq, Debug, Error)]
pub enum SitesError {
    /// A length that is none.
    #[error("the {what} must be a finite number {bound}, not {value}")]
    Length {
        /// Which length.
        what: &'static str,
        /// What it may be.
        bound: &'static str,
        /// What it is.
        value: f64,
    },
    /// A margin that reaches across a whole cell.
    #[error("the margin must be smaller than the side of a cell, but {margin} is not smaller than {side}")]
    Margin {
        /// The margin.
        margin: f64,
        /// The side of a cell.
        side: f64,
    },
    /// None, or too many.
    #[error("there must be from 1 to {SITES_MAX} sites, not {0}")]
    Count(u64),
}

/// Where the sets of resources are, and how far each can be reached.
///
/// The rules, in both shapes:
///
/// - A node in no neighbourhood enters the one whose area it comes into; of several, the one of the nearest site,
///   and of equally near ones the one of the lower number.
/// - A node in a neighbourhood stays in it while it is in its area or within the margin around it, however near
///   another site is. Then it passes to the neighbourhood that the rule above names at that point, if there is one.
///
/// Areas of cells are half-open squares: a point on a border belongs to the cell to the right of it, or above it. So
/// every point of the rectangle is in exactly one. Areas of discs include their circles, may overlap, and may leave
/// gaps in which no node is served.
#[derive(Clone, PartialEq, Debug)]
pub struct Sites {
    areas: Areas,
    margin: f64,
}

#[derive(Clone, PartialEq, Debug)]
enum Areas {
    Cells(Cells),
    Discs(Discs),
}

impl Sites {
    /// A rectangle of square cells with this side, numbered row by row from the origin.
    pub fn cells(columns: u32, rows: u32, side: f64, margin: f64) -> Result<Self, SitesError> {
        check_count(u64::from(columns) * u64::from(rows))?;
        check_length("side of a cell", "above 0", side, side > 0.0)?;
        check_length("margin", "of at least 0", margin, margin >= 0.0)?;
        if margin >= side {
            return Err(SitesError::Margin { margin, side });
        }
        Ok(Self { areas: Areas::Cells(Cells { columns, rows, side }), margin })
    }

    /// Discs of the same range around these points, numbered in this order.
    pub fn discs(centres: Vec<Point>, range: f64, margin: f64) -> Result<Self, SitesError> {
        check_count(centres.len() as u64)?;
        check_length("range of a site", "above 0", range, range > 0.0)?;
        check_length("margin", "of at least 0", margin, margin >= 0.0)?;
        for value in centres.iter().flat_map(|centre| [centre.x, centre.y]) {
            check_length("coordinate of a site", "of metres", value, true)?;
        }
        Ok(Self { areas: Areas::Discs(Discs { centres, range }), margin })
    }

    /// The neighbourhood that a node is in if it appears here.
    pub fn at(&self, point: Point) -> Option<Site> {
        match &self.areas {
            Areas::Cells(cells) => cells.at(point),
            Areas::Discs(discs) => discs.at(point),
        }
    }

    /// The first passage of a node on this leg that is in `current` so long after its start.
    pub fn first_passage(&self, current: Option<Site>, leg: &Leg, since: f64) -> Option<Passage> {
        let (after, entered) = match (&self.areas, current) {
            (Areas::Cells(cells), Some(site)) => cells.leave(site, self.margin, leg, since)?,
            (Areas::Cells(cells), None) => cells.enter(leg, since)?,
            (Areas::Discs(discs), Some(site)) => discs.leave(site, self.margin, leg, since),
            (Areas::Discs(discs), None) => discs.enter(leg, since)?,
        };
        debug_assert!(after >= since && entered != current, "{leg:?} from {current:?} at {since}");
        (after.is_finite() && after <= leg.lasts).then_some(Passage { after, left: current, entered })
    }
}

fn check_count(count: u64) -> Result<(), SitesError> {
    if (1..=u64::from(SITES_MAX)).contains(&count) { Ok(()) } else { Err(SitesError::Count(count)) }
}

fn check_length(what: &'static str, bound: &'static str, value: f64, sound: bool) -> Result<(), SitesError> {
    if value.is_finite() && sound { Ok(()) } else { Err(SitesError::Length { what, bound, value }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plane::Velocity;

    /// Numbers between 0 and 1, from a seed.
    struct Draw(u64);

    impl Draw {
        fn next(&mut self) -> f64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 11) as f64 / (1u64 << 53) as f64
        }

        fn point(&mut self, size: f64) -> Point {
            Point { x: size * self.next(), y: size * self.next() }
        }

        /// From one point to another at a speed of 1.
        fn leg(&mut self, from: Point, size: f64) -> Leg {
            let to = self.point(size);
            let lasts = from.distance_squared(to).sqrt();
            Leg { from, velocity: Velocity { x: (to.x - from.x) / lasts, y: (to.y - from.y) / lasts }, lasts }
        }
    }

    /// All passages of a node on this leg that starts in `current`, in their order.
    fn passages(sites: &Sites, current: Option<Site>, leg: &Leg) -> impl Iterator<Item = Passage> {
        let first = sites.first_passage(current, leg, 0.0);
        std::iter::successors(first, |last| sites.first_passage(last.entered, leg, last.after))
    }

    /// How many neighbourhoods there are.
    fn count(sites: &Sites) -> u32 {
        match &sites.areas {
            Areas::Cells(cells) => cells.columns * cells.rows,
            Areas::Discs(discs) => u32::try_from(discs.centres.len()).unwrap(),
        }
    }

    fn overlapping() -> Vec<Point> {
        [(20.0, 20.0), (45.0, 25.0), (70.0, 75.0), (30.0, 80.0)].map(|(x, y)| Point { x, y }).into()
    }

    /// How far outside of its area a member of a neighbourhood is; what it may be is the margin.
    fn excess(sites: &Sites, site: Site, point: Point) -> f64 {
        match &sites.areas {
            Areas::Cells(cells) => {
                let corner = Point {
                    x: f64::from(site.0 % cells.columns) * cells.side,
                    y: f64::from(site.0 / cells.columns) * cells.side,
                };
                let beyond = |value: f64, low: f64| (low - value).max(value - low - cells.side);
                beyond(point.x, corner.x).max(beyond(point.y, corner.y))
            }
            Areas::Discs(discs) => point.distance_squared(discs.centres[site.index()]).sqrt() - discs.range,
        }
    }

    /// Random walks: at every place, a member is within its area and the margin, and a node that is no member is
    /// in no area at all.
    fn walk(sites: &Sites, margin: f64, seed: u64) -> usize {
        const SIZE: f64 = 100.0;
        const CLOSE: f64 = 1e-9;
        let mut draw = Draw(seed);
        let (mut passed, mut place) = (0, draw.point(SIZE));
        let mut current = sites.at(place);
        for _ in 0..200 {
            let leg = draw.leg(place, SIZE);
            let mut stays = vec![(0.0, current)];
            stays.extend(passages(sites, current, &leg).map(|passage| (passage.after, passage.entered)));
            for (number, &(start, site)) in stays.iter().enumerate() {
                let end = stays.get(number + 1).map_or(leg.lasts, |stay| stay.0);
                assert!(start <= end && end <= leg.lasts);
                for share in [0.001, 0.5, 0.999] {
                    let point = leg.at(start + share * (end - start));
                    match site {
                        Some(site) => assert!(excess(sites, site, point) <= margin + CLOSE),
                        None => (0..count(sites)).for_each(|other| {
                            assert!(excess(sites, Site(other), point) >= -CLOSE, "{point:?} is in {other}");
                        }),
                    }
                }
            }
            passed += stays.len() - 1;
            (place, current) = (leg.at(leg.lasts), stays[stays.len() - 1].1);
        }
        passed
    }

    #[test]
    fn on_random_walks_everybody_is_where_the_rules_say() {
        for seed in 1..40 {
            for margin in [0.0, 0.5, 3.0] {
                let cells = Sites::cells(4, 5, 22.3, margin).unwrap();
                assert!(walk(&cells, margin, seed) > 100);
                let discs = Sites::discs(overlapping(), 19.0, margin).unwrap();
                assert!(walk(&discs, margin, seed) > 100);
            }
        }
    }

    #[test]
    fn a_margin_makes_passages_rarer_and_never_more_frequent() {
        for seed in 1..20 {
            let passed = [0.0, 2.0, 8.0].map(|margin| walk(&Sites::cells(5, 5, 20.0, margin).unwrap(), margin, seed));
            assert!(passed[0] > passed[1] && passed[1] > passed[2], "{passed:?}");
        }
    }

    #[test]
    fn the_same_leg_gives_the_same_passages_to_the_last_bit() {
        let sites = Sites::discs(overlapping(), 19.0, 1.0).unwrap();
        let leg = Draw(7).leg(Point { x: 1.0, y: 1.0 }, 100.0);
        let bits = || passages(&sites, None, &leg).map(|passage| passage.after.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(), bits());
    }

    #[test]
    fn nonsense_is_refused_in_a_sentence() {
        let says = |sites: Result<Sites, SitesError>| sites.unwrap_err().to_string();
        assert_eq!(says(Sites::cells(0, 3, 1.0, 0.0)), "there must be from 1 to 65536 sites, not 0");
        assert_eq!(says(Sites::cells(1000, 1000, 1.0, 0.0)), "there must be from 1 to 65536 sites, not 1000000");
        assert_eq!(says(Sites::cells(2, 2, 0.0, 0.0)), "the side of a cell must be a finite number above 0, not 0");
        assert_eq!(says(Sites::cells(2, 2, 1.0, -1.0)), "the margin must be a finite number of at least 0, not -1");
        assert!(says(Sites::cells(2, 2, 1.0, 1.0)).contains("smaller than the side of a cell"));
        assert!(says(Sites::discs(overlapping(), f64::NAN, 0.0)).contains("range of a site"));
        assert!(says(Sites::discs(vec![Point { x: f64::INFINITY, y: 0.0 }], 1.0, 0.0)).contains("coordinate"));
        assert!(says(Sites::discs(Vec::new(), 1.0, 0.0)).contains("not 0"));
    }
}

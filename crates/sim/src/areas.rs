//! Where the neighbourhoods of a simulation lie: the sites stand in the middle of the squares of a rectangle.

use std::fmt;
use std::str::FromStr;

use driftlock_field::plane::Point;
use driftlock_field::sites::{Sites, SitesError};
use driftlock_trace::Plane;
use serde::{Deserialize, Serialize};

/// From where a site's resources can be reached. Written `cells` or `discs:60`.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Areas {
    /// Each from its own square: no gaps, and no overlaps.
    Cells,
    /// Each from as far as this, in metres: the corners may be in no neighbourhood, and edges in two.
    Discs(f64),
}

impl fmt::Display for Areas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cells => f.write_str("cells"),
            Self::Discs(range) => write!(f, "discs:{range}"),
        }
    }
}

impl FromStr for Areas {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let range = |text: &str| text.trim().parse().ok().filter(|range: &f64| range.is_finite() && *range > 0.0);
        let areas = match text.split_once(':') {
            None => (text == "cells").then_some(Self::Cells),
            Some(("discs", text)) => range(text).map(Self::Discs),
            Some(_) => None,
        };
        areas.ok_or_else(|| format!("{text:?} are no areas: write cells, or discs:60 for a range of 60 metres"))
    }
}

impl TryFrom<String> for Areas {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Areas> for String {
    fn from(areas: Areas) -> Self {
        areas.to_string()
    }
}

/// So many sites, this far apart, and the far corner of the rectangle on which they stand.
pub fn plane(neighbourhoods: u32, areas: Areas, spacing: f64, margin: f64) -> Result<(Sites, Point), SitesError> {
    let (columns, rows) = rectangle(neighbourhoods);
    let sites = match areas {
        Areas::Cells => Sites::cells(columns, rows, spacing, margin)?,
        Areas::Discs(range) => {
            let middle = |number: u32| spacing * (f64::from(number) + 0.5);
            let centre = |row| move |column| Point { x: middle(column), y: middle(row) };
            Sites::discs((0..rows).flat_map(|row| (0..columns).map(centre(row))).collect(), range, margin)?
        }
    };
    Ok((sites, Point { x: f64::from(columns) * spacing, y: f64::from(rows) * spacing }))
}

/// The same, as a trace tells of it.
pub fn traced(neighbourhoods: u32, areas: Areas, spacing: f64) -> Plane {
    let (columns, rows) = rectangle(neighbourhoods);
    let middle = |number: u32| spacing * (f64::from(number) + 0.5);
    let sites = (0..rows).flat_map(|row| (0..columns).map(move |column| [middle(column), middle(row)])).collect();
    let reach = if let Areas::Discs(range) = areas { Some(range) } else { None };
    Plane { width: f64::from(columns) * spacing, height: f64::from(rows) * spacing, sites, reach, ..Plane::default() }
}

/// The rectangle of so many squares that is closest to a square itself, as columns and rows.
fn rectangle(count: u32) -> (u32, u32) {
    let rows = (1..=count.isqrt()).rev().find(|rows| count.is_multiple_of(*rows)).unwrap_or(1);
    (count / rows, rows)
}

#[cfg(test)]
mod tests {
    use driftlock_field::sites::Site;

    use super::*;

    #[test]
    fn areas_are_spelled_as_they_are_read() {
        for text in ["cells", "discs:60", "discs:0.5"] {
            assert_eq!(text.parse::<Areas>().unwrap().to_string(), text);
        }
        for text in ["", "discs", "discs:0", "discs:-1", "cells:3", "hexagons:2"] {
            assert!(text.parse::<Areas>().is_err(), "{text:?} should be refused");
        }
    }

    #[test]
    fn rectangles_are_as_square_as_can_be() {
        let all = [1, 2, 4, 6, 7, 9, 12].map(rectangle);
        assert_eq!(all, [(1, 1), (2, 1), (2, 2), (3, 2), (7, 1), (3, 3), (4, 3)]);
    }

    #[test]
    fn cells_and_discs_are_numbered_alike() {
        for areas in [Areas::Cells, Areas::Discs(40.0)] {
            let (sites, corner) = plane(6, areas, 100.0, 0.0).unwrap();
            assert_eq!(corner, Point { x: 300.0, y: 200.0 });
            assert_eq!(sites.at(Point { x: 150.0, y: 140.0 }), Some(Site(4)), "{areas}");
        }
        assert!(plane(0, Areas::Cells, 100.0, 0.0).is_err());
    }
}

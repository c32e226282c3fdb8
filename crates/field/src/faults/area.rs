//! Parts of the plane, in metres. What is on an edge belongs to the inside.

use crate::plane::Point;

use super::Nonsense;

/// The latest time, as in a file of movements.
const SECONDS_MAX: f64 = 1e10;

/// A part of the plane.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Area(pub(super) Shape);

/// What has two sides.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Border(pub(super) Divide);

#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Shape {
    Disc { centre: Point, radius: f64 },
    Rectangle { low: Point, high: Point },
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Divide {
    /// Inside and outside.
    Edge(Area),
    /// The left and the right of a line without ends.
    Line { from: Point, to: Point },
}

impl Area {
    /// All within a distance of a point.
    pub fn disc(centre: Point, radius: f64) -> Result<Self, Nonsense> {
        let radius = positive("radius", radius)?;
        Ok(Self(Shape::Disc { centre: finite("centre", centre)?, radius }))
    }

    /// All between two corners that lie opposite to each other.
    pub fn rectangle(from: Point, to: Point) -> Result<Self, Nonsense> {
        let (from, to) = (finite("from", from)?, finite("to", to)?);
        let low = Point { x: from.x.min(to.x), y: from.y.min(to.y) };
        let high = Point { x: from.x.max(to.x), y: from.y.max(to.y) };
        for side in [high.x - low.x, high.y - low.y] {
            positive("the side of a rectangle", side)?;
        }
        Ok(Self(Shape::Rectangle { low, high }))
    }

    /// Whether a point belongs to it.
    pub fn contains(&self, point: Point) -> bool {
        match self.0 {
            Shape::Disc { centre, radius } => {
                let (x, y) = (point.x - centre.x, point.y - centre.y);
                x * x + y * y <= radius * radius
            }
            Shape::Rectangle { low, high } => {
                (low.x..=high.x).contains(&point.x) && (low.y..=high.y).contains(&point.y)
            }
        }
    }
}

impl Border {
    /// Between inside and outside.
    pub fn of(area: Area) -> Self {
        Self(Divide::Edge(area))
    }

    /// The line through two points. It has no ends.
    pub fn line(from: Point, to: Point) -> Result<Self, Nonsense> {
        let (from, to) = (finite("from", from)?, finite("to", to)?);
        let length = (to.x - from.x).abs() + (to.y - from.y).abs();
        positive("the distance of the two points of a line", length)?;
        Ok(Self(Divide::Line { from, to }))
    }

    /// On which side a point is: true for the inside, or for the left of the line and the line itself.
    pub fn contains(&self, point: Point) -> bool {
        match self.0 {
            Divide::Edge(area) => area.contains(point),
            Divide::Line { from, to } => {
                (to.x - from.x) * (point.y - from.y) - (to.y - from.y) * (point.x - from.x) >= 0.0
            }
        }
    }
}

fn finite(key: &'static str, point: Point) -> Result<Point, Nonsense> {
    for value in [point.x, point.y] {
        if !value.is_finite() {
            return Err(Nonsense::Number { key, bound: "two finite numbers of metres", value });
        }
    }
    Ok(point)
}

pub(super) fn positive(key: &'static str, value: f64) -> Result<f64, Nonsense> {
    let bound = "a finite number greater than 0";
    if value > 0.0 && value.is_finite() { Ok(value) } else { Err(Nonsense::Number { key, bound, value }) }
}

/// A time or a span of time.
pub(super) fn seconds(key: &'static str, value: f64) -> Result<f64, Nonsense> {
    let bound = "at most 10000000000 seconds, which are some 300 years";
    let value = not_negative(key, value)?;
    if value <= SECONDS_MAX { Ok(value) } else { Err(Nonsense::Number { key, bound, value }) }
}

pub(super) fn not_negative(key: &'static str, value: f64) -> Result<f64, Nonsense> {
    let bound = "a finite number, 0 or more";
    if value >= 0.0 && value.is_finite() { Ok(value) } else { Err(Nonsense::Number { key, bound, value }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(x: f64, y: f64) -> Point {
        Point { x, y }
    }

    #[test]
    fn edges_belong_to_the_inside() {
        let disc = Area::disc(at(10.0, 10.0), 5.0).unwrap();
        assert!(disc.contains(at(13.0, 14.0)) && !disc.contains(at(13.0, 14.1)));
        let rectangle = Area::rectangle(at(4.0, 3.0), at(0.0, 9.0)).unwrap();
        assert!(
            rectangle.contains(at(0.0, 3.0)) && rectangle.contains(at(4.0, 9.0)) && !rectangle.contains(at(2.0, 2.9))
        );
    }

    #[test]
    fn a_line_has_a_left_and_a_right_and_no_ends() {
        let north = Border::line(at(5.0, 0.0), at(5.0, 1.0)).unwrap();
        assert!(north.contains(at(4.9, -1e6)) && north.contains(at(5.0, 7.0)) && !north.contains(at(5.1, 1e6)));
        let south = Border::line(at(5.0, 1.0), at(5.0, 0.0)).unwrap();
        assert!(!south.contains(at(4.9, 0.0)) && south.contains(at(5.1, 0.0)));
    }

    #[test]
    fn what_has_no_extent_or_no_place_is_refused() {
        assert!(Area::disc(at(0.0, 0.0), 0.0).is_err() && Area::disc(at(0.0, f64::NAN), 1.0).is_err());
        assert!(Area::rectangle(at(0.0, 0.0), at(f64::INFINITY, 1.0)).is_err());
        assert!(
            Area::rectangle(at(1.0, 2.0), at(1.0, 2.0)).is_err()
                && Area::rectangle(at(0.0, 2.0), at(9.0, 2.0)).is_err()
        );
        assert!(Border::line(at(1.0, 1.0), at(1.0, 1.0)).is_err());
    }
}

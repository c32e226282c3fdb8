//! Square cells that fill a rectangle.

use super::Site;
use crate::plane::{Leg, Point};

/// A rectangle of cells, its lower left corner at the origin.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Cells {
    pub(super) columns: u32,
    pub(super) rows: u32,
    pub(super) side: f64,
}

/// A movement along one axis.
#[derive(Clone, Copy)]
struct Axis {
    from: f64,
    velocity: f64,
}

impl Axis {
    /// When it has come to this coordinate; it moves.
    fn reaches(self, coordinate: f64) -> f64 {
        (coordinate - self.from) / self.velocity
    }

    /// When it goes out of the interval; never, if it stands still.
    fn leaves(self, low: f64, high: f64) -> f64 {
        if self.velocity == 0.0 { f64::INFINITY } else { self.reaches(if self.velocity > 0.0 { high } else { low }) }
    }

    /// When it comes into the interval; if it stands still, it is inside or never will be.
    fn enters(self, low: f64, high: f64) -> f64 {
        match self.velocity {
            0.0 if (low..high).contains(&self.from) => f64::NEG_INFINITY,
            0.0 => f64::INFINITY,
            velocity => self.reaches(if velocity > 0.0 { low } else { high }),
        }
    }

    /// A coordinate at the time of going out, moved to where the border has been crossed if rounding left it before.
    fn beyond(self, coordinate: f64, low: f64, high: f64) -> f64 {
        if self.velocity > 0.0 { coordinate.max(high) } else { coordinate.min(low.next_down()) }
    }
}

fn axes(leg: &Leg) -> [Axis; 2] {
    [Axis { from: leg.from.x, velocity: leg.velocity.x }, Axis { from: leg.from.y, velocity: leg.velocity.y }]
}

impl Cells {
    /// The cell around a point of the rectangle.
    pub(super) fn at(&self, point: Point) -> Option<Site> {
        let (column, row) = (self.index(point.x, self.columns)?, self.index(point.y, self.rows)?);
        Some(Site(row * self.columns + column))
    }

    /// When a node of this cell goes out of it by more than the margin, and what it enters then.
    pub(super) fn leave(&self, site: Site, margin: f64, leg: &Leg, since: f64) -> Option<(f64, Option<Site>)> {
        let spans = [site.0 % self.columns, site.0 / self.columns]
            .map(|index| (self.edge(index) - margin, self.edge(index + 1) + margin));
        let axes = axes(leg);
        let leaves = [0, 1].map(|axis| axes[axis].leaves(spans[axis].0, spans[axis].1));
        let after = leaves[0].min(leaves[1]).max(since);
        if after == f64::INFINITY {
            return None;
        }
        let Point { x, y } = leg.at(after);
        let mut point = [x, y];
        for axis in [0, 1] {
            if leaves[axis] <= after {
                point[axis] = axes[axis].beyond(point[axis], spans[axis].0, spans[axis].1);
            }
        }
        Some((after, self.at(Point { x: point[0], y: point[1] })))
    }

    /// When a node outside comes into the rectangle, and into which cell.
    pub(super) fn enter(&self, leg: &Leg, since: f64) -> Option<(f64, Option<Site>)> {
        let sizes = [self.edge(self.columns), self.edge(self.rows)];
        let axes = axes(leg);
        let [enters, leaves]: [[f64; 2]; 2] = [
            [0, 1].map(|axis| axes[axis].enters(0.0, sizes[axis])),
            [0, 1].map(|axis| axes[axis].leaves(0.0, sizes[axis])),
        ];
        let after = enters[0].max(enters[1]).max(since);
        if after >= leaves[0].min(leaves[1]) {
            return None;
        }
        // Rounding may have left it just outside.
        let inside = |coordinate: f64, size: f64| coordinate.clamp(0.0, size.next_down());
        let Point { x, y } = leg.at(after);
        Some((after, self.at(Point { x: inside(x, sizes[0]), y: inside(y, sizes[1]) })))
    }

    /// Where the column or row of this number begins.
    fn edge(&self, index: u32) -> f64 {
        f64::from(index) * self.side
    }

    /// The column or row of a coordinate, by the very edges that passages are computed from.
    fn index(&self, coordinate: f64, count: u32) -> Option<u32> {
        if !(0.0..self.edge(count)).contains(&coordinate) {
            return None;
        }
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // within the rectangle
        let guess = ((coordinate / self.side) as u32).min(count - 1);
        // The division may have been rounded across an edge.
        if coordinate < self.edge(guess) {
            Some(guess - 1)
        } else if coordinate >= self.edge(guess + 1) {
            Some(guess + 1)
        } else {
            Some(guess)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plane::Velocity;

    /// 0 1 2 below 3 4 5, 10 metres each.
    const SIX: Cells = Cells { columns: 3, rows: 2, side: 10.0 };

    fn leg(from: (f64, f64), velocity: (f64, f64)) -> Leg {
        Leg {
            from: Point { x: from.0, y: from.1 },
            velocity: Velocity { x: velocity.0, y: velocity.1 },
            lasts: f64::INFINITY,
        }
    }

    #[test]
    fn a_point_on_a_border_belongs_to_the_cell_on_the_right_or_above() {
        let at = |x, y| SIX.at(Point { x, y });
        assert_eq!(at(0.0, 0.0), Some(Site(0)));
        assert_eq!(at(10.0, 9.9), Some(Site(1)));
        assert_eq!(at(9.9, 10.0), Some(Site(3)));
        assert_eq!(at(29.9, 19.9), Some(Site(5)));
        for (x, y) in [(30.0, 5.0), (5.0, 20.0), (-0.1, 5.0), (f64::NAN, 5.0)] {
            assert_eq!(at(x, y), None, "({x}, {y}) is outside");
        }
    }

    #[test]
    fn edges_that_no_float_can_hold_exactly_are_the_same_for_points_and_for_passages() {
        for side in [0.1, 0.3, 1.0 / 3.0, 7.7] {
            let cells = Cells { columns: 1000, rows: 1, side };
            for column in 0..1000 {
                let x = cells.edge(column);
                assert_eq!(cells.at(Point { x, y: 0.0 }), Some(Site(column)), "side {side}");
                assert_eq!(cells.at(Point { x: x.next_down(), y: 0.0 }), column.checked_sub(1).map(Site));
            }
        }
    }

    #[test]
    fn a_node_passes_to_the_next_cell_exactly_at_the_border() {
        assert_eq!(SIX.leave(Site(0), 0.0, &leg((4.0, 5.0), (2.0, 0.0)), 0.0), Some((3.0, Some(Site(1)))));
        assert_eq!(SIX.leave(Site(1), 0.0, &leg((14.0, 5.0), (-2.0, 0.0)), 0.0), Some((2.0, Some(Site(0)))));
        assert_eq!(SIX.leave(Site(1), 0.0, &leg((14.0, 5.0), (-2.0, 4.0)), 0.0), Some((1.25, Some(Site(4)))));
        assert_eq!(SIX.leave(Site(0), 0.0, &leg((5.0, 5.0), (1.0, 1.0)), 0.0), Some((5.0, Some(Site(4)))), "a corner");
    }

    #[test]
    fn a_node_stays_until_it_has_crossed_the_margin_too() {
        assert_eq!(SIX.leave(Site(0), 1.0, &leg((4.0, 5.0), (2.0, 0.0)), 0.0), Some((3.5, Some(Site(1)))));
        assert_eq!(SIX.leave(Site(1), 1.0, &leg((11.0, 5.0), (-2.0, 0.0)), 0.0), Some((1.0, Some(Site(0)))));
    }

    #[test]
    fn whoever_stands_still_stays() {
        assert_eq!(SIX.leave(Site(0), 0.0, &leg((4.0, 5.0), (0.0, 0.0)), 0.0), None);
        assert_eq!(SIX.enter(&leg((40.0, 5.0), (0.0, 0.0)), 0.0), None);
    }

    #[test]
    fn the_rectangle_is_left_into_nowhere_and_entered_from_there() {
        assert_eq!(SIX.leave(Site(2), 0.5, &leg((28.0, 5.0), (1.0, 0.0)), 0.0), Some((2.5, None)));
        assert_eq!(SIX.enter(&leg((28.0, 5.0), (1.0, 0.0)), 2.5), None, "it goes on");
        assert_eq!(SIX.enter(&leg((34.0, 12.0), (-2.0, 0.0)), 0.0), Some((2.0, Some(Site(5)))));
        assert_eq!(SIX.enter(&leg((34.0, 12.0), (-2.0, 9.0)), 0.0), None, "it passes by");
        assert_eq!(SIX.enter(&leg((15.0, -3.0), (0.0, 1.0)), 0.0), Some((3.0, Some(Site(1)))));
    }
}

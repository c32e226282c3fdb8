//! A plane cut into square cells, and which nodes are in which.

use std::cmp::Ordering;
use std::ops::Range;

use crate::plane::{Point, Velocity};
use driftlock_protocol::NodeId;

use crate::mobility::movement::Course;

/// Column and row.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Cell {
    pub(super) column: u32,
    pub(super) row: u32,
}

impl Cell {
    /// Whether the two touch, or are the same.
    pub(super) fn touches(self, other: Self) -> bool {
        self.column.abs_diff(other.column) <= 1 && self.row.abs_diff(other.row) <= 1
    }
}

/// Some columns and some rows.
#[derive(Clone, Debug)]
pub(super) struct Block {
    columns: Range<u32>,
    rows: Range<u32>,
}

/// The cells of a rectangle. Those at its border reach on outwards for ever, so that every point is in one. Two points
/// whose cells do not touch are at least a side apart.
#[derive(Clone, Debug)]
pub(super) struct Cells {
    origin: Point,
    side: f64,
    columns: u32,
    rows: u32,
    /// Row after row.
    occupants: Vec<Vec<Occupant>>,
}

/// A node and its course: nodes that are close together are so in memory too, and a look around reads them in one go.
#[derive(Clone, Copy, Debug)]
pub(super) struct Occupant {
    pub(super) node: NodeId,
    pub(super) course: Course,
}

impl Cells {
    /// Cells of at least this side, and larger ones where the rectangle would have many more cells than nodes: its size
    /// costs nothing.
    pub(super) fn new((low, high): (Point, Point), side: f64, nodes: usize) -> Self {
        const CELLS_PER_NODE: usize = 4;
        const CELLS_MIN: usize = 64;
        const ROOM: usize = 4;
        let cells_max = nodes.saturating_mul(CELLS_PER_NODE).max(CELLS_MIN) as f64;
        let (width, height) = (high.x - low.x, high.y - low.y);
        let count = |length: f64, side: f64| (length / side).ceil().max(1.0);
        let mut side = side;
        while count(width, side) * count(height, side) > cells_max {
            side *= 1.25;
        }
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // whole, and not above cells_max
        let (columns, rows) = (count(width, side) as u32, count(height, side) as u32);
        // With some room from the start, so that cells that touch have it side by side.
        let occupants = (0..columns as usize * rows as usize).map(|_| Vec::with_capacity(ROOM)).collect();
        Self { origin: low, side, columns, rows, occupants }
    }

    /// The cell of a point.
    pub(super) fn of(&self, point: Point) -> Cell {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // saturates, as it should
        let index = |offset: f64, count: u32| ((offset / self.side) as u32).min(count - 1);
        Cell { column: index(point.x - self.origin.x, self.columns), row: index(point.y - self.origin.y, self.rows) }
    }

    /// How long a node of this cell takes from a point to the border that it crosses next, and into which cell.
    pub(super) fn crossing(&self, cell: Cell, from: Point, velocity: Velocity) -> Option<(f64, Cell)> {
        let across = |index: u32, count: u32, offset: f64, speed: f64| {
            let next =
                if speed > 0.0 { index.checked_add(1).filter(|next| *next < count)? } else { index.checked_sub(1)? };
            let border = f64::from(index.max(next)) * self.side;
            let takes = (border - offset) / speed;
            // Rounding may have put a node over the border already. A node that stands never gets there.
            (speed != 0.0).then_some((takes.max(0.0), next))
        };
        let x = across(cell.column, self.columns, from.x - self.origin.x, velocity.x);
        let y = across(cell.row, self.rows, from.y - self.origin.y, velocity.y);
        let x = x.map(|(takes, column)| (takes, Cell { column, ..cell }));
        let y = y.map(|(takes, row)| (takes, Cell { row, ..cell }));
        x.into_iter().chain(y).min_by(|(a, _), (b, _)| a.total_cmp(b))
    }

    pub(super) fn enter(&mut self, occupant: Occupant, cell: Cell) {
        self.at_mut(cell).push(occupant);
    }

    pub(super) fn leave(&mut self, node: NodeId, cell: Cell) {
        let occupants = self.at_mut(cell);
        if let Some(place) = occupants.iter().position(|occupant| occupant.node == node) {
            occupants.swap_remove(place);
        }
    }

    fn at_mut(&mut self, cell: Cell) -> &mut Vec<Occupant> {
        &mut self.occupants[cell.row as usize * self.columns as usize + cell.column as usize]
    }

    /// A cell and those that it touches.
    pub(super) fn around(&self, cell: Cell) -> Block {
        let around = |index: u32, count: u32| index.saturating_sub(1)..(index + 2).min(count);
        Block { columns: around(cell.column, self.columns), rows: around(cell.row, self.rows) }
    }

    /// Those that a cell touches and its neighbour, from which a node comes, does not.
    pub(super) fn ahead(&self, from: Cell, to: Cell) -> Block {
        let ahead = |from: u32, to: u32, around: Range<u32>| match from.cmp(&to) {
            Ordering::Less => to + 1..around.end,
            Ordering::Equal => around,
            Ordering::Greater => around.start..to,
        };
        let Block { columns, rows } = self.around(to);
        Block { columns: ahead(from.column, to.column, columns), rows: ahead(from.row, to.row, rows) }
    }

    /// All that have a point within this distance of another in both dimensions.
    pub(super) fn within(&self, point: Point, distance: f64) -> Block {
        let low = self.of(Point { x: point.x - distance, y: point.y - distance });
        let high = self.of(Point { x: point.x + distance, y: point.y + distance });
        Block { columns: low.column..high.column + 1, rows: low.row..high.row + 1 }
    }

    /// All nodes in these cells, in no order that means anything.
    pub(super) fn occupants(&self, Block { columns, rows }: Block) -> impl Iterator<Item = &Occupant> {
        rows.flat_map(move |row| {
            let start = row as usize * self.columns as usize;
            self.occupants[start + columns.start as usize..start + columns.end as usize].iter().flatten()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mobility::{Area, Model, Movement};
    use driftlock_net::Time;

    #[test]
    fn at_equal_density_as_many_are_looked_at_however_many_there_are() {
        let looked_at = |nodes: u32| {
            let side = (f64::from(nodes) / 50.0).sqrt() * 1000.0;
            let movement = Movement::new(&Model::Uniform {}, Area { width: side, height: side }, nodes, 1).unwrap();
            let mut cells = Cells::new(movement.bounds(), 250.0, movement.len());
            let placed: Vec<_> =
                movement.nodes().map(|node| (node, cells.of(movement.position(node, Time::ZERO)))).collect();
            for &(node, cell) in &placed {
                cells.enter(Occupant { node, course: *movement.course(node) }, cell);
            }
            let looks = placed.iter().map(|(_, cell)| cells.occupants(cells.around(*cell)).count()).sum::<usize>();
            looks as f64 / f64::from(nodes)
        };
        // Nine cells of at least 250 m have 28 nodes; a node at a border has fewer around it.
        let counts = [1_000, 10_000, 100_000].map(looked_at);
        assert!(counts.iter().all(|count| (22.0..34.0).contains(count)), "{counts:?}");
    }
}

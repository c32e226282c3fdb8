//! Where nodes stand that do not move.

use crate::plane::Point;
use driftlock_protocol::NodeId;
use serde::{Deserialize, Serialize};

use super::model::{Area, ModelError, is_positive};

/// Rows and columns, the first node at the origin's corner.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grid {
    /// How many nodes stand in a row; if it is not said, as many as make the grid most nearly a square.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub columns: Option<u32>,
    /// How far they are apart, in metres, from a first one in the origin; if it is not said, they are spread evenly
    /// over the area.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spacing: Option<f64>,
}

impl Grid {
    pub(super) fn check(&self, area: Area, nodes: u32) -> Result<(), ModelError> {
        ModelError::unless(self.columns != Some(0), "columns", "1 or more", 0.0)?;
        let Some(spacing) = self.spacing else { return Ok(()) };
        ModelError::unless(is_positive(spacing), "spacing", "more than 0", spacing)?;
        let (columns, rows) = self.shape(nodes);
        let length = |count: u32| f64::from(count.saturating_sub(1)) * spacing;
        let fits = length(columns) <= area.width && length(rows) <= area.height;
        if fits { Ok(()) } else { Err(ModelError::Grid { columns, rows, spacing, area }) }
    }

    pub(super) fn place(&self, area: Area, nodes: u32, node: NodeId) -> Point {
        let (columns, rows) = self.shape(nodes);
        let (column, row) = (f64::from(node.0 % columns), f64::from(node.0 / columns));
        match self.spacing {
            Some(spacing) => Point { x: column * spacing, y: row * spacing },
            None => Point {
                x: (column + 0.5) * area.width / f64::from(columns),
                y: (row + 0.5) * area.height / f64::from(rows),
            },
        }
    }

    /// Columns and rows.
    fn shape(&self, nodes: u32) -> (u32, u32) {
        let columns = self.columns.unwrap_or_else(|| {
            let root = nodes.isqrt();
            if root * root < nodes { root + 1 } else { root }
        });
        let columns = columns.clamp(1, nodes.max(1));
        (columns, nodes.div_ceil(columns).max(1))
    }
}

/// A place in the area for each node.
pub(super) fn check_points(points: &[Point], area: Area, nodes: u32) -> Result<(), ModelError> {
    if points.len() != nodes as usize {
        return Err(ModelError::Points { nodes, points: points.len() });
    }
    match points.iter().position(|point| area.clamp(*point) != *point) {
        Some(index) => Err(ModelError::Outside { index, point: points[index] }),
        None => Ok(()),
    }
}

//! The rules by which nodes move, as a person writes them down.

use crate::plane::Point;
use driftlock_protocol::NodeId;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::direction::{self, RandomDirection};
use super::gauss_markov::{self, GaussMarkov};
use super::group::{self, ReferencePointGroup};
use super::movement::Walker;
use super::placement::{self, Grid};
use super::waypoint::{self, RandomWaypoint};
use crate::random::{Subject, stream};

/// The largest side of an area, and the farthest that a coordinate may be from the origin, in metres: further out a
/// double does not tell millimetres apart any more.
pub(super) const FAR: f64 = 1e9;

/// The least that the fastest legs may take, in seconds. A node that turns more often is computed for ever, and shows
/// nothing new.
const LEG_MIN: f64 = 1e-3;

/// A rectangle with a corner in the origin, in metres.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Area {
    /// From west to east.
    pub width: f64,
    /// From south to north.
    pub height: f64,
}

impl Area {
    /// The corner that is not the origin.
    pub(super) fn corner(self) -> Point {
        Point { x: self.width, y: self.height }
    }

    /// The nearest point that belongs to it.
    pub(super) fn clamp(self, point: Point) -> Point {
        Point { x: point.x.clamp(0.0, self.width), y: point.y.clamp(0.0, self.height) }
    }
}

/// How nodes move, or stand. Lengths are metres, times are time units, which are seconds.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "model", deny_unknown_fields, rename_all = "kebab-case")]
pub enum Model {
    /// To a random point, a pause, to the next.
    RandomWaypoint(RandomWaypoint),
    /// In a random direction, a pause, in another; borders are mirrors.
    RandomDirection(RandomDirection),
    /// Speed and direction change a little with every step.
    GaussMarkov(GaussMarkov),
    /// Groups stay together.
    ReferencePointGroup(ReferencePointGroup),
    /// All stand, in rows and columns.
    Grid(Grid),
    /// Each stands at a random point.
    Uniform {},
    /// Each stands where this list says.
    Static {
        /// One for each node.
        points: Vec<Point>,
    },
}

/// Why a model makes no sense.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum ModelError {
    /// Nowhere to be.
    #[error("the area must be a rectangle of more than 0 and at most {FAR} metres a side, not {:?} x {:?}", .0.width, .0.height)]
    Area(Area),
    /// A parameter without meaning.
    #[error("{name} must be {must}, not {value}")]
    Parameter {
        /// As it is written.
        name: &'static str,
        /// What it can be.
        must: &'static str,
        /// What it was.
        value: f64,
    },
    /// The lowest speed is none.
    #[error(
        "speed_min must be more than 0, not {0}: with legs that are arbitrarily slow the model has no stationary state, nodes slow down \
         for ever and every result depends on how long one waited; take 0.1 m/s if you have no better value"
    )]
    NoStationaryState(f64),
    /// The lowest speed is above the highest.
    #[error("speed_min must not be more than speed_max, but {min} > {max}")]
    Speeds {
        /// The lowest.
        min: f64,
        /// The highest.
        max: f64,
    },
    /// Nothing but turns.
    #[error(
        "nodes would turn every {0:?} s, and {LEG_MIN} s is the least: give a lower speed, a longer step or distance, or a larger area"
    )]
    Restless(f64),
    /// Members would leave the area.
    #[error("a group of radius {radius} needs an area of more than twice that a side; {} x {} is too small", area.width, area.height)]
    Group {
        /// How far members are from their reference point.
        radius: f64,
        /// Where they are to be.
        area: Area,
    },
    /// Nodes that stand outside.
    #[error("{columns} columns and {rows} rows, {spacing} metres apart, do not fit into {} x {}", area.width, area.height)]
    Grid {
        /// How many stand in a row.
        columns: u32,
        /// How many rows there are.
        rows: u32,
        /// How far they are apart.
        spacing: f64,
        /// Where they are to be.
        area: Area,
    },
    /// Another number of places than of nodes.
    #[error("there are {nodes} nodes, but {points} points for them")]
    Points {
        /// How many nodes there are.
        nodes: u32,
        /// How many places the list has.
        points: usize,
    },
    /// A place that is none.
    #[error("point {index} ({}, {}) is not in the area", point.x, point.y)]
    Outside {
        /// Its place in the list, counted from 0.
        index: usize,
        /// The point.
        point: Point,
    },
}

impl ModelError {
    /// Takes a parameter for which this holds.
    pub(super) fn unless(holds: bool, name: &'static str, must: &'static str, value: f64) -> Result<(), Self> {
        if holds { Ok(()) } else { Err(Self::Parameter { name, must, value }) }
    }

    /// Takes a model whose nodes turn after so many seconds at the earliest, as a rule.
    pub(super) fn unless_restless(lasts: f64) -> Result<(), Self> {
        if lasts >= LEG_MIN { Ok(()) } else { Err(Self::Restless(lasts)) }
    }
}

/// Something that takes time or has a length: finite, and more than nothing.
pub(super) fn is_positive(value: f64) -> bool {
    value.is_finite() && value > 0.0
}

/// The same, or nothing.
pub(super) fn is_not_negative(value: f64) -> bool {
    value.is_finite() && value >= 0.0
}

impl Model {
    /// Whether nodes can move in this way.
    pub fn check(&self, area: Area, nodes: u32) -> Result<(), ModelError> {
        let side = |length: f64| is_positive(length) && length <= FAR;
        if !side(area.width) || !side(area.height) {
            return Err(ModelError::Area(area));
        }
        match self {
            Self::RandomWaypoint(rule) => rule.check(area.corner()),
            Self::RandomDirection(rule) => rule.check(area),
            Self::GaussMarkov(rule) => rule.check(),
            Self::ReferencePointGroup(rule) => rule.check(area),
            Self::Grid(rule) => rule.check(area, nodes),
            Self::Uniform {} => Ok(()),
            Self::Static { points } => placement::check_points(points, area, nodes),
        }
    }

    /// Where a node starts, and how it goes on. It depends on the model, the area, the seed and the node's number, of
    /// static places also on how many nodes there are. The model has been checked.
    pub(super) fn start(&self, area: Area, nodes: u32, node: NodeId, seed: u64) -> (Point, Walker) {
        let corner = area.corner();
        let mut random = stream(seed, Subject::Walk, node.0);
        match self {
            Self::RandomWaypoint(rule) => {
                let (from, walk) = waypoint::Walk::start(*rule, corner, random);
                (from, Walker::Waypoint(walk))
            }
            Self::RandomDirection(rule) => {
                let (from, walk) = direction::Walk::start(*rule, area, random);
                (from, Walker::Direction(walk))
            }
            Self::GaussMarkov(rule) => {
                let (from, walk) = gauss_markov::Walk::start(*rule, area, random);
                (from, Walker::GaussMarkov(walk))
            }
            Self::ReferencePointGroup(rule) => {
                let centre = stream(seed, Subject::Group, rule.group(node));
                let (from, walk) = group::Walk::start(*rule, area, centre, random);
                (from, Walker::Member(Box::new(walk)))
            }
            Self::Grid(rule) => (rule.place(area, nodes, node), Walker::Standing),
            Self::Uniform {} => (crate::random::point(corner, &mut random), Walker::Standing),
            Self::Static { points } => (points[node.index()], Walker::Standing),
        }
    }
}

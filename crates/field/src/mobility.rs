//! How nodes move.
//!
//! A node is at any time on one straight leg of constant velocity; to pause is to have none. Legs are made when they
//! are needed.
//!
//! - [`Model`]: the rules by which nodes move, as a person writes them down.
//! - [`Tracks`]: where nodes were, as a file says; [`Format`] reads and writes the usual ones.
//! - [`Movement`]: the legs of all nodes, from either of them.
//! - [`Proximity`]: which nodes are within a range of one another, and when exactly that changes.

mod direction;
pub mod format;
mod gauss_markov;
mod group;
mod hilbert;
mod model;
mod movement;
mod placement;
mod proximity;
mod speeds;
mod tracks;
mod waypoint;

pub use direction::RandomDirection;
pub use format::{Format, TraceError};
pub use gauss_markov::GaussMarkov;
pub use group::ReferencePointGroup;
pub use model::{Area, Model, ModelError};
pub use movement::{Course, Movement};
pub use placement::Grid;
pub use proximity::{Change, Presence, Proximity};
pub use tracks::{Track, Tracks, Visit, Waypoint};
pub use waypoint::RandomWaypoint;

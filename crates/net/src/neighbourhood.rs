//! Neighbourhoods: who shares which set of resources, by where everybody is.
//!
//! A neighbourhood is the area in which one set of k resources can be reached. Many lie side by side, and in each an
//! instance of the algorithm runs for itself. A node is in one of them or in none, never in two: where areas overlap it
//! belongs to the nearest site when it comes in from outside (of equally near ones to the lower number), and then it
//! stays where it is until it has left that area by more than a margin. So a node that walks along a border does not
//! change sides with every step, and one in an overlap asks in one neighbourhood only.
//!
//! - [`plane`]: points, and movement along straight lines.
//! - [`sites`]: which neighbourhood a point is in, and when exactly a moving node passes from one to another.
//! - [`membership`]: who is in which neighbourhood now.
//!
//! Everything here is computed, nothing is sampled: a passage happens at the root of an equation, and the same movement
//! gives the same passages on every machine.

pub mod membership;
pub mod plane;
pub mod sites;

pub use membership::Membership;
pub use plane::{Leg, Point, Velocity};
pub use sites::{Passage, SITES_MAX, Site, Sites, SitesError};

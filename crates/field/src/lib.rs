//! Where nodes are, and which hear one another: movement on a plane, radio, and what goes wrong, sans-IO.
//!
//! Used by every world that has a plane. Deterministic: all randomness comes from streams that are split by seed,
//! subject and node, so that two algorithms can be compared on the same movements and in the same weather.
//!
//! - [`plane`]: points, and movement along straight lines; [`mobility`]: how nodes move.
//! - [`sites`]: which neighbourhood a point is in, and when a moving node passes from one to another.
//! - [`medium`]: nodes that move about with [`radio`]s; [`faults`]: what goes wrong there.
//! - [`capture`]: packets for Wireshark.
//! - [`slab`]: things that come and go, by number.

pub mod capture;
pub mod faults;
pub mod medium;
pub mod mobility;
pub mod plane;
pub mod radio;
pub mod random;
pub mod sites;
pub mod slab;

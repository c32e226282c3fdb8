//! Where nodes are, and which hear one another: movement on a plane, radio, and what goes wrong, sans-IO.
//!
//! Used by every world that has a plane. Deterministic: all randomness comes from streams that are split by seed,
//! subject and node, so that two algorithms can be compared on the same movements and in the same weather.

pub mod capture;
pub mod faults;
pub mod medium;
pub mod mobility;
pub mod radio;
pub mod random;

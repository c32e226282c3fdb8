//! What the algorithms assume below them, sans-IO.
//!
//! [`neighbourhood`] tells from positions who shares a set of resources with whom, and when that changes.
//!
//! [`aodv`] finds routes, [`session`] makes exactly-once of what they carry, [`flood`] reaches everybody, [`suspicion`] says who seems gone.
//!
//! [`ideal`] holds the exact twins of the layers: no loss, no wrong suspicion, every change indicated at once to all who
//! must know. They are what the papers assume, so they reproduce the papers' figures, and a checker can explore them.

pub mod aodv;
mod dice;
pub mod flood;
pub mod ideal;
pub mod neighbourhood;
mod seconds;
pub mod session;
pub mod suspicion;
mod time;

pub use time::Time;

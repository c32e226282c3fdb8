//! What the algorithms assume below them, sans-IO.
//!
//! [`neighbourhood`] tells from positions who shares a set of resources with whom, and when that changes.
//!
//! [`link`] makes reliable links out of a radio that loses frames; [`custody`] is what it knows of messages that must not be lost.
//!
//! [`ideal`] holds the exact twins of the layers: no loss, no wrong suspicion, every change indicated at once to all who
//! must know. They are what the papers assume, so they reproduce the papers' figures, and a checker can explore them.

mod beacon;
pub mod custody;
pub mod ideal;
pub mod link;
pub mod neighbourhood;
mod time;

pub use time::Time;

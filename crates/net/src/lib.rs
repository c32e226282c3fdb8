//! What the algorithms assume below them, sans-IO.
//!
//! [`neighbourhood`] tells from positions who shares a set of resources with whom, and when that changes.
//!
pub mod aodv;
mod beacon;
pub mod custody;
mod dice;
pub mod flood;
pub mod ideal;
pub mod link;
pub mod neighbourhood;
mod seconds;
pub mod session;
pub mod suspicion;
mod time;

pub use time::Time;

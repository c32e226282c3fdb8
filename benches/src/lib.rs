//! What the simulator is measured against: a limit ([`heap`]) and a peer ([`nexosim`]); and the checker: the bare
//! search ([`search`]). And the event queue, beside those that it has replaced ([`queues`]).
//!
//! Each contender is a function `run(pending, events)` which keeps `pending` messages under way, drawn from the same
//! [`Delays`], handles `events` of them and returns how many it counted. `cargo bench -p driftlock-benches` runs them.

pub mod cpu;
mod delays;
pub mod heap;
pub mod nexosim;
pub mod queues;
pub mod search;
pub mod sim;
pub mod wall;

pub use delays::Delays;

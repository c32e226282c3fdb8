//! The exhaustive world: every order of events, at small size, on the very nodes that the other worlds run.
//!
//! - [`Setup`]: how many nodes, which events, how often, and what must hold.
//! - [`Model`]: the system as a transition system over [`State`]s and [`Action`]s. A state is a row of numbers of parts
//!   (`parts`), and two states that differ only in what makes no difference count as one (`canon`).
//! - [`check`]: breadth-first search through all states by stateright, which writes the graph down (`graph`), then
//!   liveness on that graph (`liveness`).
//! - [`walk()`]: random walks through the same states, where there are too many of them.
//! - [`record`]: a counterexample acted out by real nodes, as a trace.

mod action;
mod canon;
mod graph;
mod liveness;
mod model;
mod parts;
#[cfg(test)]
mod puppet;
mod search;
mod setup;
mod state;
mod stay_order;
mod topology;
mod twins;
mod walk;
mod witness;

pub use driftlock_protocol::ideal::Topology;

pub use action::{Action, DEMANDS_MAX};
pub use model::Model;
pub use search::{Counterexample, Effort, Lives, Progress, Report, Stage, Witnessed, check, explore};
pub use setup::{Bound, Changes, EVENTS_MAX, K_MAX, NODES_MAX, Properties, Property, Setup, SetupError, Timing};
pub use state::State;
pub use stay_order::StayOrder;
pub use topology::{Networks, topologies};
pub use walk::{Walked, walk};
pub use witness::record;

//! The discrete-event world: links appear by decree and messages arrive for certain and in order, or, on a field, as
//! radios have it.
//!
//! - [`field`]: what a world stands on if its nodes move about with radios.
//! - `applications`: when they ask, for what, and how long they use what they get.
//! - [`config`]: what is simulated, and the checks that refuse nonsense in a sentence.
//! - [`demand`]: what requests ask for: how many units, how urgently, and by when.
//! - [`random`]: one seed, split into independent streams per replication and subject.
//! - [`queue`]: events ordered by (time, sequence).
//! - [`layout`]: which links there are at the start, by name or one by one.
//! - [`topology`]: random connected graphs, and how they change.
//! - [`areas`], [`churn`], [`roaming`]: where neighbourhoods lie, and how nodes come to be in them.
//! - [`world`]: nodes, links and time; the event loop. Everything that is run stands on it.
//! - [`run`]: one replication of a measured simulation: workload, mobility, warm-up.
//! - `side_by_side`: the same in neighbourhoods that nodes enter and leave.
//! - [`meter`], [`summary`]: what is counted in a replication, and what all replications come to.
//! - [`sweep`]: many simulations on all cores, with the same result for any number of threads.
//! - [`together`]: several resources, each with its algorithm, on one field.
//! - [`traffic`]: routed requests and replies on a moving field, with radios instead of ideal links.
//! - [`live`]: a field that a person watches and meddles with.
//! - [`soak`]: fault-and-heal runs: safety under random changes, then service once they have ceased.

mod applications;
pub mod areas;
mod capturing;
pub mod churn;
pub mod config;
pub mod demand;
pub mod field;
pub mod layout;
pub mod live;
pub mod meter;
pub mod queue;
pub mod random;
pub mod roaming;
pub mod run;
mod side_by_side;
pub mod soak;
pub mod summary;
pub mod sweep;
pub mod together;
pub mod topology;
pub mod traffic;
pub mod world;

//! The record that every world writes, and that viewers, reports and replays read.
//!
//! A trace is JSON lines, one record a line; docs/trace.md describes every field. The first line is the [`Header`].
//! Then come, in the order in which things happened, the changes of links and the steps of nodes: each step with its
//! input, every output, the paper's clauses that it executed and what it changed in the node's status. The last line is
//! the [`End`], so that a truncated file is known as such.
//!
//! [`replay`] feeds the inputs to fresh nodes and compares every output: it needs no seed and no world. [`transcript`]
//! tells a trace as text, [`chart`] draws it as a message sequence chart.

pub mod chart;
mod read;
mod record;
pub mod replay;
pub mod transcript;
mod write;

pub use driftlock_protocol::ideal::Presence;
pub use read::{ReadError, Reader, bytes};
pub use record::{
    End, FORMAT, Header, Join, Line, LinkChange, Loss, MemberChange, Members, Origin, Plane, RESTART, Resource, Scene,
    Step, VERSION,
};
pub use write::Writer;

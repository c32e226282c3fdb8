//! The algorithms of driftlock, each written once as a sans-IO state machine, and the vocabulary they share.
//!
//! From the bottom up:
//!
//! - [`vocabulary`]: node ids, units, permits, fences, demands and grants.
//! - [`protocol`]: the [`Protocol`] trait. Inputs are methods; every effect leaves through one [`Outbox`].
//! - [`outbox`]: the effects, as data in a reused buffer, so that tests can compare lists of them.
//! - [`carrier`]: where effects go, for worlds that carry them out.
//! - [`life`]: how a node begins, what it stores, and how it comes back; what algorithms claim to stand.
//! - [`link`], [`neighbourhood`]: what the layers below tell the algorithms that stand on them; [`below`]: any of them.
//! - [`ideal`]: the exact twins of the layers, and what is on its way over any of them.
//! - [`constants`]: the numbers that an algorithm goes by, and that its users may set.
//! - [`relative`]: how numbers that only count beside others of their kind are hashed, for the checker's sake.
//! - [`height`]: the heights of the link-reversal family, and how they are raised and lowered.
//! - [`dag`]: a node's place among its neighbours, which the link-reversal algorithms share.
//! - [`krl`]: k tokens on a link-reversal DAG, with and without token forwarding.
//! - [`hok`]: several units at once from one token, the most urgent request first.
//! - [`klme`]: k units in every neighbourhood, which nodes enter and leave.
//! - [`tenure`]: leases, leader numbers and the majority of those that keep a copy.
//! - [`klme_ft`]: k units of a neighbourhood, lent by a leader whose token survives crashes.
//! - [`node`]: the shell around any protocol. What an application or the network may get wrong ends here.
//! - [`registry`]: the list of all algorithms, and how a world is run with one of them.
//!
//! What is absent on purpose: a clock (time arrives as timers), randomness (worlds add it), I/O, hash-ordered
//! collections, and `std`. A protocol is a value that can be cloned, compared and hashed, so that one source is
//! simulated, model-checked and run for real.

#![no_std]

extern crate alloc;

pub mod below;
pub mod carrier;
pub mod constants;
pub mod dag;
pub mod height;
pub mod hok;
pub mod ideal;
pub mod klme;
pub mod klme_ft;
pub mod krl;
pub mod life;
pub mod link;
pub mod neighbourhood;
pub mod node;
pub mod outbox;
pub mod protocol;
pub mod registry;
pub mod relative;
pub mod repairs;
pub mod status;
pub mod tenure;
pub mod vocabulary;

pub use below::{Contacts, ContactsOf, View};
pub use carrier::Carrier;
pub use constants::{Constant, Constants, Terms, WrongConstant};
pub use life::{Charter, Claims, Harm};
pub use link::{Incarnation, LinkEvent, Linked};
pub use neighbourhood::{Crossing, Membership, Stay};
pub use node::{Input, InputOf, Node, Refusal, Stored};
pub use outbox::{Effect, Never, Outbox};
pub use protocol::{Deployment, Flight, Moment, NODES_MAX, Out, Protocol, carries_permits};
pub use registry::{ALGORITHMS, Algorithm, Manner, Tokens, Visitor};
pub use repairs::{Repair, Repairs};
pub use status::{Section, Status, StatusChange};
pub use vocabulary::{Deadline, Demand, Fence, Grant, K_MAX, NodeId, Permit, Permits, Priority, Units, Urgency};

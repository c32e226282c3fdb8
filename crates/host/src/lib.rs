//! What one node does for all its resources, sans-IO.
//!
//! - [`seat`]: the node of one resource, with its timers and what it has to have stored.
//! - [`watch`]: how a world sees what a seat does.
//! - [`resident`]: a seat as a host knows it, whatever its algorithm; [`tenant`]: one of a known algorithm.
//! - [`start`]: how a node begins: blank, as a founder, or with what it had stored.
//! - [`host`]: a stack and all residents over it.
//! - [`batch`]: what a host wants of its driver: first to store, then to do.
//!
//! Nothing here knows of other nodes, of a simulator or of a clock: time is handed in as `now`.

pub mod batch;
pub mod host;
pub mod resident;
pub mod seat;
pub mod start;
mod stored;
pub mod tenant;
pub mod watch;

pub use batch::{Batch, Do, Part, Store};
pub use host::{Declined, Host};
pub use resident::{Cue, Desk, Resident, Share};
pub use seat::Seat;
pub use start::{Agreed, Start, StartError};
pub use stored::Unreadable;
pub use tenant::Tenant;
pub use watch::Watch;

//! What the algorithms assume below them, sans-IO.
//!
//! - [`link`]: hellos, links that both ends agree on, messages in order; [`custody`] of what must be neither lost nor
//!   doubled.
//! - [`aodv`]: routes to nodes that are farther away; [`session`]: exactly once and in order over them; [`flood`]: to
//!   all nodes.
//! - [`advert`]: what nodes say of themselves, and who takes part in what.
//! - [`parcel`]: what all of them carry, the messages of resources; [`wire`]: the bytes on the air.
//! - [`stack`]: all layers of one node, for all resources that it takes part in.
//! - [`suspicion`]: who may have crashed, right or wrong.
//! - [`queue`]: what is to come, in the order of [`Time`].
//!
//! Time is handed in as `now`: [`Time`] is an instant, and [`Span`] what lies between two. A layer says when it wants
//! to be woken, and what it wants done goes into a buffer of effects.

pub mod advert;
pub mod aodv;
mod beacon;
mod by_node;
pub mod custody;
pub mod dice;
pub mod flood;
pub mod link;
mod names;
pub mod parcel;
pub mod queue;
mod seconds;
pub mod session;
pub mod stack;
pub mod suspicion;
mod time;
mod window;
pub mod wire;

pub use names::{Boot, Transfer};
pub use time::{Span, Time};

//! The ideal layers: exact, cloneable and hashable.

mod ground;
mod links;
mod neighbourhood;
mod topology;

pub use ground::Ground;
pub use links::{Fate, LinkFailed, Links, NoLink};
pub use neighbourhood::Neighbourhood;
pub use topology::Topology;

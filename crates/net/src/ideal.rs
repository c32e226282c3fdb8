//! The ideal layers: exact, cloneable and hashable.

mod ground;
mod links;
mod neighbourhood;

pub use ground::Ground;
pub use links::{Fate, LinkFailed, Links, NoLink};
pub use neighbourhood::Neighbourhood;

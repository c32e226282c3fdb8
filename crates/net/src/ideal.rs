//! The ideal layers: exact, cloneable and hashable.

mod links;

pub use links::{Fate, LinkFailed, Links, NoLink};

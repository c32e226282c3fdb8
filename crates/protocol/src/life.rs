//! A node's life: how it begins, what it stores, and how it comes back after it was killed.
//!
//! A node begins [blank](crate::Protocol::blank): it takes part, knows nothing and holds nothing. Somebody who knows that the
//! resource is new tells one node to [mint](crate::Protocol::mint) its units; no node ever does so because it hears nobody.
//! Whoever drives a node writes down what it says is [durable](crate::Protocol::durable), whenever that changes, before
//! anything that the node did meanwhile takes effect. A node that was killed at any instruction is
//! [restored](crate::Protocol::restore) from that and nothing else. docs/lives.md says what each algorithm stores, and why
//! that is enough.

use crate::Repairs;

/// What all nodes of a resource agree on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Charter<V> {
    /// How many units there are: the papers' k.
    pub k: u32,
    /// Which algorithm, and the constants it goes by.
    pub variant: V,
    /// The repairs and the rules in force.
    pub repairs: Repairs,
}

impl<V> Charter<V> {
    /// With these terms.
    pub const fn new(k: u32, variant: V, repairs: Repairs) -> Self {
        Self { k, variant, repairs }
    }
}

/// What an algorithm claims to stand. The worlds draw and explore what is claimed, so that a claim is tested or not made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Claims {
    /// A node that stops for good, and nobody is told.
    pub crashes: bool,
    /// Messages that are lost, or late beyond every timeout.
    pub losses: bool,
    /// Messages that overtake one another.
    pub overtaking: bool,
    /// A node that is killed, and comes back with what it had stored, as often as one likes.
    pub restarts: bool,
    /// A node that is killed, and comes back with nothing.
    pub disk_losses: bool,
}

impl Claims {
    /// Nothing of all that.
    pub const NONE: Self =
        Self { crashes: false, losses: false, overtaking: false, restarts: false, disk_losses: false };
}

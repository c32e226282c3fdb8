//! A node's life: how it begins, what it stores, and how it comes back after it was killed.
//!
//! A node begins [blank](crate::Protocol::blank): it takes part, knows nothing and holds nothing. Somebody who knows
//! that the resource is new tells one node to [mint](crate::Protocol::mint) its units; no node ever does so because it
//! hears nobody. Whoever drives a node writes down what it says is [durable](crate::Protocol::durable), whenever that
//! changes, before anything that the node did meanwhile takes effect. A node that was killed at any instruction is
//! [restored](crate::Protocol::restore) from that and nothing else. docs/lives.md says what each algorithm stores, and
//! why that is enough.

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

/// What may befall nodes and messages beyond what a paper assumes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Harm {
    /// A node stops for good, and nobody is told.
    Crash,
    /// A message is lost, or late beyond every timeout.
    Loss,
    /// A message overtakes another.
    Overtaking,
    /// A node is killed, and comes back with what it had stored, as often as one likes.
    Restart,
    /// A node is killed, and comes back with nothing.
    DiskLoss,
}

/// What an algorithm claims to stand. The worlds draw and explore what is claimed, so that a claim is tested or not
/// made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Claims(&'static [Harm]);

impl Claims {
    /// Nothing beyond what its paper assumes.
    pub const NONE: Self = Self(&[]);

    /// It stands all of this, in one run.
    pub const fn to_stand(harms: &'static [Harm]) -> Self {
        Self(harms)
    }

    /// Whether this is among it.
    pub fn stand(self, harm: Harm) -> bool {
        self.0.contains(&harm)
    }
}

//! Repairs of flaws in a paper's text, as a set that is given at construction.
//!
//! The full set is the algorithm we stand behind, the empty set is the paper as published, and everything between
//! shows what one repair is worth.

use serde::{Deserialize, Serialize};

/// One repair that can be switched off.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Repair {
    /// Its name on the command line and in the errata.
    pub name: &'static str,
    /// What it mends, in a line.
    pub summary: &'static str,
    bit: u32,
}

impl Repair {
    /// The repair number `index` of an algorithm.
    pub const fn new(index: u32, name: &'static str, summary: &'static str) -> Self {
        Self { name, summary, bit: 1 << index }
    }
}

/// Which repairs are in force.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Repairs(u32);

impl Repairs {
    /// Every repair: the default.
    pub const ALL: Self = Self(u32::MAX);
    /// The paper as published.
    pub const NONE: Self = Self(0);

    /// Whether `repair` is in force.
    pub fn has(self, repair: Repair) -> bool {
        self.0 & repair.bit != 0
    }

    /// The same set with `repair` switched off.
    #[must_use]
    pub fn without(self, repair: Repair) -> Self {
        Self(self.0 & !repair.bit)
    }

    /// The same set with `repair` switched on.
    #[must_use]
    pub fn with(self, repair: Repair) -> Self {
        Self(self.0 | repair.bit)
    }
}

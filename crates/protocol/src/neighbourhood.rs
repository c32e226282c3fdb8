//! What the neighbourhood layer tells an algorithm that stands on it.
//!
//! A neighbourhood is where one set of k units can be reached. A node is in at most one at a time. Inside, everybody
//! reaches everybody, in the order of sending, and a broadcast reaches whoever is inside when it is sent.
//!
//! The contract: `Met` precedes every message of that stay. A node that is told to leave goes on being a member until it
//! departs by itself, so that it can put its affairs in order. What is sent to somebody who is gone, or has not come yet,
//! is dropped; what a node sent before it departed still arrives.

use core::hash::{Hash, Hasher};

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::relative::{Kind, Series};
use crate::{Incarnation, NodeId};

/// Numbers the stays in one neighbourhood: whoever enters gets a greater number than anybody had there before.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Stay(pub u32);

impl Stay {
    /// Of the messages that reach a node during this stay.
    pub fn incarnation(self) -> Incarnation {
        Incarnation(self.0)
    }
}

impl Hash for Stay {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        Kind::Stamp.hash(Series::Stay.stamp(self.0.into()), hasher);
    }
}

impl Crossing {
    /// A node enters, by decree of one that knows everybody: whoever comes first makes the units.
    pub fn decreed(stay: Stay, members: Vec<(NodeId, Stay)>) -> Self {
        let founds = members.is_empty().then_some(stay.0);
        Self::Entered { stay, members, founds }
    }
}

/// A border is crossed.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Crossing {
    /// The node has come into a neighbourhood.
    Entered {
        /// Of the node.
        stay: Stay,
        /// Who is there already, by id, as far as the layer knows.
        members: Vec<(NodeId, Stay)>,
        /// Whoever drives it knows that there are no units: the node makes them, of this generation. No node does so because
        /// it hears nobody.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        founds: Option<u32>,
    },
    /// The node is about to leave the neighbourhood. It says farewell as its algorithm wants, and then departs.
    Leaving,
    /// Somebody else has come.
    Met {
        /// Who.
        peer: NodeId,
        /// Of that node.
        stay: Stay,
    },
    /// Somebody else has departed.
    Parted {
        /// Who.
        peer: NodeId,
    },
}

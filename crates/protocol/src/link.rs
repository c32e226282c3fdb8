//! What the link layer tells an algorithm that stands on it.
//!
//! The contract, which ideal and real link layers keep alike: `Up` precedes every message of its incarnation, messages
//! between two neighbours arrive in the order in which they were sent, and nothing of an incarnation arrives after its
//! `Down`. What was accepted for a link that then failed may be reported as undelivered after the `Down`. Permits may
//! instead arrive late, over another way: then as a message from who is no neighbour any more, before there is a link
//! to it again.

use core::hash::{Hash, Hasher};

use serde::{Deserialize, Serialize};

use crate::NodeId;
use crate::relative::Kind;

/// Tells one life of a link from the next, so that a late message of the former is not taken for one of the latter.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Incarnation(pub u32);

impl Hash for Incarnation {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        Kind::Incarnation.hash(u128::from(self.0), hasher);
    }
}

/// A change of the node's own links.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkEvent {
    /// The paper's `LinkUp`: a link to `peer` has formed.
    Up {
        /// The other end.
        peer: NodeId,
        /// Of the new link.
        incarnation: Incarnation,
    },
    /// The paper's `LinkDown`: the link to `peer` has failed.
    Down {
        /// The other end.
        peer: NodeId,
        /// Of the failed link.
        incarnation: Incarnation,
    },
}

//! What tells one life of a node from another, and one message from another.

use serde::{Deserialize, Serialize};

/// The number of a node's life: greater after each restart.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Boot(pub u32);

/// The name of a message for ever, given by its sender. A later one is greater: what is delivered in the order of these
/// names needs no list of what was delivered, but the last name of each sender.
///
/// Links name the messages that carry permits, sessions all of theirs, and each counts for itself: the same name in the
/// other layer is another message.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Transfer {
    /// The life in which its sender sent it first.
    pub boot: Boot,
    /// How many its sender had named in that life before.
    pub number: u64,
}

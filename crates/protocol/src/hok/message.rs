//! What nodes say to one another, and the token.

use serde::{Deserialize, Serialize};

use super::{Grants, Rank};
use crate::height::Height;
use crate::{Fence, NodeId, Permits};

/// What nodes say to their neighbours.
///
/// ```text
///      2 ──REQUEST──▶ 1 ──REQUEST──▶ 0 (token)        2 wants h units
///                     1 ──UPDATE───▶ 0                a more urgent node asks through 1
///      2 ◀──TOKEN──── 1 ◀──TOKEN──── 0                t free units; 2 takes h of them and passes the token on
///      2 ──RELEASE──▶ 1 ──RELEASE──▶ ...              2 has left the CS: h units follow the token
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Message {
    /// *REQUEST(i, p)*: "I, or a node behind me, want the token": an entry in the receiver's queue.
    Request {
        /// *ht*: the sender's height.
        height: Height,
        /// How many grants the sender has heard of.
        grants: Grants,
        /// *p*, of the most urgent request that the sender knows of.
        rank: Rank,
    },
    /// *RELEASE(r)*: units on their way back to the token.
    Release {
        /// *ht*: the sender's height.
        height: Height,
        /// How many grants the sender has heard of.
        grants: Grants,
        /// *r* units: these.
        permits: Permits,
    },
    /// *UPDATE(i, u)*: the most urgent request behind the sender is another one now.
    Update {
        /// *ht*: the sender's height.
        height: Height,
        /// How many grants the sender has heard of.
        grants: Grants,
        /// *u*.
        rank: Rank,
    },
    /// *TOKEN(t)*.
    Token {
        /// *ht*: the sender's height.
        height: Height,
        /// How many grants there were.
        grants: Grants,
        /// What is handed over.
        token: Token,
        /// *p*, of the most urgent request that stays behind, with [`super::repair::TOKEN_ASKS`].
        asks: Option<Rank>,
    },
    /// *LINK*: "my height is now ...".
    Link {
        /// *ht*: the sender's height.
        height: Height,
        /// How many grants the sender has heard of.
        grants: Grants,
        /// The neighbour whose token this message acknowledges. One broadcast can inform all and acknowledge one.
        acknowledges: Option<NodeId>,
    },
}

impl Message {
    /// *ht*: the sender's height.
    pub fn height(&self) -> Height {
        match self {
            Self::Request { height, .. }
            | Self::Release { height, .. }
            | Self::Update { height, .. }
            | Self::Token { height, .. }
            | Self::Link { height, .. } => *height,
        }
    }

    /// How many grants the sender has heard of.
    pub fn grants(&self) -> Grants {
        match self {
            Self::Request { grants, .. }
            | Self::Release { grants, .. }
            | Self::Update { grants, .. }
            | Self::Token { grants, .. }
            | Self::Link { grants, .. } => *grants,
        }
    }
}

/// The one token.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Token {
    /// *t* units are free: these.
    pub free: Permits,
    /// Of the latest grant.
    pub fence: Fence,
}

impl Token {
    /// With all units free, none of which was ever granted.
    pub(super) fn new(k: u32, generation: u32) -> Self {
        Self { free: Permits::first(k), fence: Fence::first(generation, 0) }
    }
}

//! What nodes say to one another, and the tokens they pass on.

use serde::{Deserialize, Serialize};

use crate::height::Height;
use crate::{Fence, NodeId, Permit};

/// What nodes say to their neighbours; every message carries the sender's height when it was sent.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Message {
    /// "Send me a token when you can": an entry in the receiver's queue, kept until it is served, or until the link
    /// fails or turns round.
    Request {
        /// The sender's height.
        height: Height,
    },
    /// A token changes hands.
    Token {
        /// The sender's height.
        height: Height,
        /// What is handed over.
        token: Token,
        /// `None`: the receiver asked for it. Otherwise it was forwarded unasked, and may travel so many hops more.
        onward: Option<u8>,
    },
    /// "My height is now ...".
    LinkInfo {
        /// The sender's height.
        height: Height,
        /// The neighbour whose token this message acknowledges. One broadcast can inform all and acknowledge one.
        acknowledges: Option<NodeId>,
    },
}

impl Message {
    /// The sender's height.
    pub fn height(&self) -> Height {
        match self {
            Self::Request { height } | Self::Token { height, .. } | Self::LinkInfo { height, .. } => *height,
        }
    }
}

/// One of the k tokens.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Token {
    /// Which one.
    pub permit: Permit,
    /// Of its latest grant.
    pub fence: Fence,
}

impl Token {
    /// A token that was never granted.
    pub(super) fn new(permit: Permit, generation: u32) -> Self {
        Self { permit, fence: Fence::first(generation, 0) }
    }
}

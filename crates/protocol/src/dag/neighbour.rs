//! What a node knows of one neighbour.

use crate::NodeId;
use crate::height::Height;

/// What a node knows of one neighbour: the papers' arrays, at index j.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Neighbour {
    /// j.
    pub(crate) id: NodeId,
    /// Whether j is in N. The link may be up before: j counts from its first `LinkInfo` on.
    pub(crate) known: bool,
    /// *height\[j\]*, this node's view of j's height.
    pub(crate) height: Height,
    /// *receivedLI\[j\]* is false while this is not 0: it counts the tokens sent to j that j has not acknowledged.
    pub(crate) unacknowledged: u16,
    /// *forming\[j\]*, and *formHeight\[j\]* while it is true.
    pub(crate) forming: Option<Height>,
    /// *visited\[j\]*, of KRLF.
    pub(crate) visited: bool,
    /// The height that j was last told.
    pub(crate) told: Height,
}

impl Neighbour {
    pub(crate) fn new(height: Height, told: Height) -> Self {
        Self { id: height.id, known: false, height, unacknowledged: 0, forming: None, visited: false, told }
    }

    /// One that both ends know of from the start.
    pub(super) fn known(height: Height, told: Height) -> Self {
        Self { known: true, ..Self::new(height, told) }
    }

    /// Whether the link has turned since this neighbour was last told. One that owes an acknowledgement is looked at
    /// when that comes.
    pub(crate) fn has_crossed(&self, actual: Height) -> bool {
        self.unacknowledged == 0 && (self.told > self.height) != (actual > self.height)
    }
}

//! What a node knows of its neighbours, and what it tells them.

use super::{Krl, Message, repair};
use crate::height::Height;
use crate::{NodeId, Out};

/// What a node knows of one neighbour: the paper's arrays, at index j.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Neighbour {
    /// j.
    pub(super) id: NodeId,
    /// Whether j is in N. The link may be up before: j counts from its first `LinkInfo` on.
    pub(super) known: bool,
    /// *height\[j\]*, this node's view of j's height.
    pub(super) height: Height,
    /// *receivedLI\[j\]* is false while this is not 0. With [`repair::ACKNOWLEDGE`] it counts the tokens sent to j that
    /// j has not acknowledged; without, it is only ever 0 or 1.
    pub(super) unacknowledged: u16,
    /// *forming\[j\]*, and *formHeight\[j\]* while it is true.
    pub(super) forming: Option<Height>,
    /// *visited\[j\]*, of the forwarding modules.
    pub(super) visited: bool,
    /// The height that j was last told, for [`repair::LINK_INFO`].
    pub(super) told: Height,
}

impl Neighbour {
    pub(super) fn new(height: Height, told: Height) -> Self {
        Self { id: height.id, known: false, height, unacknowledged: 0, forming: None, visited: false, told }
    }

    /// Whether the link has turned since this neighbour was last told. One that owes an acknowledgement is looked at
    /// when that comes.
    pub(super) fn has_crossed(&self, actual: Height) -> bool {
        self.unacknowledged == 0 && (self.told > self.height) != (actual > self.height)
    }
}

/// Who is told of a new height.
impl Krl {
    /// Sends `LinkInfo` to the neighbours of choice, as one broadcast.
    pub(super) fn tell(
        &mut self,
        height: Height,
        acknowledges: Option<NodeId>,
        choose: impl Fn(&Neighbour) -> bool,
        out: &mut Out<Self>,
    ) {
        let chosen = self.neighbours.iter_mut().filter(|k| k.known && choose(k)).map(|k| {
            k.told = height;
            k.id
        });
        out.multicast(chosen, &Message::LinkInfo { height, acknowledges });
    }

    /// [`repair::LINK_INFO`], for the one neighbour whose height has just been learned.
    pub(super) fn tell_if_crossed(&mut self, at: usize, out: &mut Out<Self>) {
        let neighbour = &self.neighbours[at];
        if self.repairs.has(repair::LINK_INFO) && neighbour.has_crossed(self.my_height) {
            self.send(at, Message::LinkInfo { height: self.my_height, acknowledges: None }, out);
        }
    }

    /// Sends a message, which tells the receiver this node's height on the way.
    pub(super) fn send(&mut self, at: usize, message: Message, out: &mut Out<Self>) {
        let neighbour = &mut self.neighbours[at];
        neighbour.told = self.my_height;
        out.send(neighbour.id, message);
    }
}

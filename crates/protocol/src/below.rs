//! What a layer below tells the algorithms that stand on it, and who may speak to a node as far as that goes: worlds
//! and shells speak of all layers alike.

use alloc::vec::Vec;
use core::fmt::Debug;
use core::hash::Hash;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::ideal::Ideal;
use crate::{Crossing, Incarnation, LinkEvent, NodeId, Refusal};

/// What one layer tells the algorithms that stand on it.
pub trait View: Clone + Eq + Hash + Debug + Serialize + DeserializeOwned + Send + Sync + 'static {
    /// The exact twin of this layer.
    type Ideal: Ideal<View = Self>;
    /// What a node's shell keeps of what it was told.
    type Contacts: Contacts<View = Self>;

    /// What this layer tells of a link that real nodes have found or lost, if it tells of links.
    fn of_link(_event: LinkEvent) -> Option<Self> {
        None
    }

    /// What this layer tells of a border that its own node crosses, if it tells of borders.
    fn of_crossing(_crossing: Crossing) -> Option<Self> {
        None
    }

    /// The border that it tells of, if it does.
    fn crossing(&self) -> Option<&Crossing> {
        None
    }

    /// What this layer tells of another node that has come, in this life, or is gone, if that is a hint: one that may
    /// be missing, late or wrong where nobody knows.
    fn hint(peer: NodeId, life: Option<Incarnation>) -> Option<Self> {
        Self::of_crossing(life.map_or(Crossing::Parted { peer }, |life| Crossing::Met { peer, life }))
    }

    /// Of whom this is a hint, if it is one.
    fn hints_at(&self) -> Option<(NodeId, Option<Incarnation>)> {
        match *self.crossing()? {
            Crossing::Met { peer, life } => Some((peer, Some(life))),
            Crossing::Parted { peer } => Some((peer, None)),
            Crossing::Entered { .. } | Crossing::Leaving => None,
        }
    }

    /// The hints at other nodes that come with it, if it is no hint itself: a world may leave some out, and a
    /// host puts in their place what the node has heard.
    fn others(&mut self) -> Option<&mut Vec<(NodeId, Incarnation)>> {
        None
    }
}

/// Who may speak to a node, as far as its shell knows. By default nobody may.
pub trait Contacts: Clone + Eq + Hash + Debug + Default + Send + Sync + 'static {
    /// From what it is told.
    type View;

    /// The layer tells this node something, which may be refused.
    fn hear(&mut self, me: NodeId, view: &Self::View) -> Result<(), Refusal>;

    /// The node has departed by itself.
    fn depart(&mut self) {
        *self = Self::default();
    }

    /// What is left of it when the node was killed and is back: it is told of everything else anew.
    #[must_use]
    fn restarted(&self) -> Self {
        Self::default()
    }

    /// The incarnation under which messages of `peer` arrive now, if they may.
    fn incarnation(&self, peer: NodeId) -> Option<Incarnation>;

    /// Whether a message of `from`, to whom there is no way at all, may have come late, as it carries `permits`.
    fn admits_late(&self, me: NodeId, from: NodeId, permits: bool) -> Result<(), Refusal>;

    /// Of a node that is in a neighbourhood, in this life, if there are neighbourhoods.
    #[must_use]
    fn in_life(_life: Incarnation) -> Self {
        Self::default()
    }

    /// In which life the node is in a neighbourhood, if it is.
    fn life(&self) -> Option<Incarnation> {
        None
    }

    /// The links that are up, by peer, if it is links that there are.
    fn links(&self) -> &[(NodeId, Incarnation)] {
        &[]
    }

    /// Whether the layer can tell the node anything but that it comes in somewhere.
    fn is_anywhere(&self) -> bool {
        true
    }

    /// Whether the node is about to leave.
    fn is_leaving(&self) -> bool {
        false
    }
}

/// Who may speak to a node that hears this from the layer below.
pub type ContactsOf<V> = <V as View>::Contacts;

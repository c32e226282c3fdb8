//! What the neighbourhood layer tells an algorithm that stands on it.
//!
//! A neighbourhood is where one set of k units can be reached. A node is in at most one at a time. Inside, everybody
//! reaches everybody, in the order of sending, and a broadcast reaches whoever is inside when it is sent.
//!
//! The contract: a node that is told to leave goes on being a member until it departs by itself, so that it can put its
//! affairs in order. What is sent to somebody who is gone, or has not come yet, is dropped; what a node sent before it
//! departed still arrives. A message is for one *life* of its receiver: the layer numbers the lives of a member, and
//! delivers in none what was sent to another.
//!
//! Who else is there is a *hint*: [`Crossing::Entered`], [`Crossing::Met`] and [`Crossing::Parted`] tell what the layer
//! has gathered. In a real network a member may be missing from it or come up late, one that has crashed is in it for
//! long, and one that is merely unheard for a while is said to have parted. An algorithm that claims to stand crashes
//! must be safe whatever it is told of others, as klme-ft is; klme, which claims nothing, counts on hints that are
//! right, and on `Met` before every message of that life, as the ideal layer has it.

use core::hash::{Hash, Hasher};

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::ideal::Neighbourhood;
use crate::relative::{Kind, Series};
use crate::{Contacts, Incarnation, NodeId, Refusal, View};

/// Who a member is, from its entering to its departure: no two stays of any nodes are the same.
///
/// Nobody hands stays out. Whoever drives a node draws 64 bits when the node enters, so their order means nothing: that
/// of a newcomer may be greater or smaller than any other. A member that is killed comes back with the stay that it had
/// stored; one that has lost its disk has nothing to come back with, and is another member.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Stay(pub u64);

impl Hash for Stay {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        Kind::Stamp.hash(Series::Stay.stamp(self.0.into()), hasher);
    }
}

impl Crossing {
    /// A node enters, by decree of one that knows everybody: whoever comes first makes the units. Lives that are
    /// decreed are numbered by one count, so that of a founder is a generation later than all before.
    pub fn decreed(stay: Stay, life: Incarnation, members: Vec<(NodeId, Incarnation)>) -> Self {
        let founds = members.is_empty().then_some(life.0);
        Self::Entered { stay, life, members, founds }
    }
}

/// A border is crossed.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Crossing {
    /// The node has come into a neighbourhood.
    Entered {
        /// Of the node, drawn by whoever drives it.
        stay: Stay,
        /// Of the node: its messages arrive in this life. Of two lives of the same node the later has the greater
        /// number; those of different nodes are not compared.
        life: Incarnation,
        /// A hint: who is there already, by id, and in which life.
        members: Vec<(NodeId, Incarnation)>,
        /// Whoever drives it knows that there are no units: the node makes them, of this generation, which is greater
        /// than all before. No node does so because it hears nobody.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        founds: Option<u32>,
    },
    /// The node is about to leave the neighbourhood. It says farewell as its algorithm wants, and then departs.
    Leaving,
    /// A hint: somebody else has come, or has begun another life.
    Met {
        /// Who.
        peer: NodeId,
        /// Of that node.
        life: Incarnation,
    },
    /// A hint: somebody else has departed.
    Parted {
        /// Who.
        peer: NodeId,
    },
}

impl View for Crossing {
    type Ideal = Neighbourhood;
    type Contacts = Membership;

    fn of_crossing(crossing: Crossing) -> Option<Self> {
        Some(crossing)
    }

    fn crossing(&self) -> Option<&Crossing> {
        Some(self)
    }

    fn others(&mut self) -> Option<&mut Vec<(NodeId, Incarnation)>> {
        if let Self::Entered { members, .. } = self { Some(members) } else { None }
    }
}

/// Whether a node is in the neighbourhood: then everybody there may speak to it.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub enum Membership {
    /// It is in none.
    #[default]
    Outside,
    /// It is inside.
    Inside {
        /// What reaches it is for this life.
        life: Incarnation,
        /// Whether it is about to leave.
        leaving: bool,
    },
}

impl Membership {
    /// In the neighbourhood, or in none.
    pub fn of(life: Option<Incarnation>) -> Self {
        life.map_or(Self::Outside, |life| Self::Inside { life, leaving: false })
    }
}

impl Contacts for Membership {
    type View = Crossing;

    fn hear(&mut self, _me: NodeId, crossing: &Crossing) -> Result<(), Refusal> {
        match (&mut *self, crossing) {
            (outside @ Self::Outside, &Crossing::Entered { life, .. }) => *outside = Self::of(Some(life)),
            (Self::Outside, _) => return Err(Refusal::Outside),
            (_, Crossing::Entered { .. }) | (Self::Inside { leaving: true, .. }, Crossing::Leaving) => {
                return Err(Refusal::AlreadyInside);
            }
            (Self::Inside { leaving, .. }, Crossing::Leaving) => *leaving = true,
            (_, Crossing::Met { .. } | Crossing::Parted { .. }) => {}
        }
        Ok(())
    }

    /// It is in the same life as before, and is not asked to leave any more.
    fn restarted(&self) -> Self {
        match *self {
            Self::Outside => Self::Outside,
            Self::Inside { life, .. } => Self::of(Some(life)),
        }
    }

    fn in_life(life: Incarnation) -> Self {
        Self::of(Some(life))
    }

    fn life(&self) -> Option<Incarnation> {
        match *self {
            Self::Outside => None,
            Self::Inside { life, .. } => Some(life),
        }
    }

    fn incarnation(&self, _peer: NodeId) -> Option<Incarnation> {
        self.life()
    }

    fn admits_late(&self, _me: NodeId, _from: NodeId, _permits: bool) -> Result<(), Refusal> {
        Err(Refusal::Outside)
    }

    fn is_anywhere(&self) -> bool {
        *self != Self::Outside
    }

    fn is_leaving(&self) -> bool {
        matches!(self, Self::Inside { leaving: true, .. })
    }
}

//! What a layer below can tell, whichever layer it is: worlds and shells speak of all of them alike.

use core::fmt::Debug;
use core::hash::Hash;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{Crossing, LinkEvent};

/// The layers that algorithms stand on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Layer {
    /// Links between neighbours, which come and go.
    Links,
    /// A neighbourhood, in which everybody reaches everybody, and which nodes enter and leave.
    Neighbourhood,
}

/// What some layer tells.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Indication {
    /// The link layer.
    Link(LinkEvent),
    /// The neighbourhood layer.
    Crossing(Crossing),
}

/// What one layer tells the algorithms that stand on it.
pub trait View:
    Clone
    + Eq
    + Hash
    + Debug
    + Serialize
    + DeserializeOwned
    + Send
    + Sync
    + Into<Indication>
    + TryFrom<Indication, Error = Indication>
    + 'static
{
    /// Which layer it is.
    const LAYER: Layer;

    /// What this layer tells, from a world that runs it. No world mixes layers up.
    fn of(indication: Indication) -> Self {
        Self::try_from(indication).unwrap_or_else(|other| unreachable!("{:?} does not tell {other:?}", Self::LAYER))
    }
}

impl View for LinkEvent {
    const LAYER: Layer = Layer::Links;
}

impl View for Crossing {
    const LAYER: Layer = Layer::Neighbourhood;
}

impl From<LinkEvent> for Indication {
    fn from(event: LinkEvent) -> Self {
        Self::Link(event)
    }
}

impl From<Crossing> for Indication {
    fn from(crossing: Crossing) -> Self {
        Self::Crossing(crossing)
    }
}

impl TryFrom<Indication> for LinkEvent {
    type Error = Indication;

    fn try_from(indication: Indication) -> Result<Self, Indication> {
        match indication {
            Indication::Link(event) => Ok(event),
            other @ Indication::Crossing(_) => Err(other),
        }
    }
}

impl TryFrom<Indication> for Crossing {
    type Error = Indication;

    fn try_from(indication: Indication) -> Result<Self, Indication> {
        match indication {
            Indication::Crossing(crossing) => Ok(crossing),
            other @ Indication::Link(_) => Err(other),
        }
    }
}

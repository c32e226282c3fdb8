//! What a stack tells the resident of a resource.

use std::sync::Arc;

use driftlock_protocol::{Incarnation, LinkEvent, NodeId};
use serde::de::DeserializeOwned;

use crate::advert::Advert;
use crate::parcel::Parcel;
use crate::wire::WireError;

/// An input of the node that takes part in a resource, but that messages are still bytes; opened, it is one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Told<M = Parcel> {
    /// A link has formed, or is gone. Only who stands on links is told.
    Link(LinkEvent),
    /// Another node takes part in the resource, as far as this one has heard.
    Met {
        /// Which.
        peer: NodeId,
        /// Of that node.
        life: Incarnation,
    },
    /// Another node does not any more, or was not heard of for long.
    Parted {
        /// Which.
        peer: NodeId,
    },
    /// Another node says something about the resource.
    Said(Arc<Advert>),
    /// A message has arrived.
    Message {
        /// The sender.
        from: NodeId,
        /// Of the link it came over, or of the life that it is for.
        incarnation: Incarnation,
        /// The message.
        message: M,
    },
    /// A message of this node did not arrive and never will.
    Undelivered {
        /// The receiver it did not reach.
        to: NodeId,
        /// The message.
        message: M,
    },
    /// No node knows whether this message of this node arrived, and none has to. For counts and traces.
    Dropped {
        /// The receiver.
        to: NodeId,
        /// The message.
        message: M,
    },
}

impl Told {
    /// The same, with its message in the words of its algorithm.
    pub fn open<M: DeserializeOwned>(self) -> Result<Told<M>, WireError> {
        Ok(match self {
            Self::Link(event) => Told::Link(event),
            Self::Met { peer, life } => Told::Met { peer, life },
            Self::Parted { peer } => Told::Parted { peer },
            Self::Said(advert) => Told::Said(advert),
            Self::Message { from, incarnation, message } => {
                Told::Message { from, incarnation, message: message.open()? }
            }
            Self::Undelivered { to, message } => Told::Undelivered { to, message: message.open()? },
            Self::Dropped { to, message } => Told::Dropped { to, message: message.open()? },
        })
    }
}

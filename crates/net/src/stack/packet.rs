//! What goes over the radio.

use driftlock_protocol::{Incarnation, NodeId};
use serde::{Deserialize, Serialize};

use crate::aodv;
use crate::flood::Flooded;
use crate::link::Frame;
use crate::parcel::Parcel;
use crate::session::Segment;
use crate::wire::{self, Datagram, WireError};

/// A message between members of a neighbourhood.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Letter {
    /// The life of the receiver that it is for.
    pub life: Incarnation,
    /// The message.
    pub parcel: Parcel,
}

/// What is routed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Cargo {
    /// An offer of messages in doubt, or a verdict on it.
    Custody(Frame<Parcel>),
    /// Of a session.
    Segment(Segment<Letter>),
}

/// What goes over the radio.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Packet {
    /// Between link layers.
    Link(Frame<Parcel>),
    /// Between routers.
    Routed(aodv::Packet<(), Cargo>),
    /// To everybody within some hops.
    Flooded(Flooded<Parcel>),
}

impl Packet {
    /// How many bytes it takes as the payload of a datagram.
    #[allow(clippy::len_without_is_empty)] // none is empty
    pub fn len(&self) -> usize {
        match self {
            Self::Link(frame) => wire::encoded_len(frame),
            // The routers' own count of data has an IP header.
            Self::Routed(aodv::Packet::Data(data)) => data.content.len(),
            Self::Routed(packet) => packet.len(wire::aodv::advert_len, Cargo::len),
            Self::Flooded(flooded) => wire::encoded_len(flooded),
        }
    }

    /// The same as it would be sent by a node of a network of computers.
    pub fn datagram(&self, from: NodeId, to: Option<NodeId>) -> Result<Datagram, WireError> {
        match self {
            Self::Link(frame) => Datagram::to_neighbour(from, to, frame),
            Self::Routed(packet) => wire::aodv::datagram(from, to, packet, Cargo::encode),
            Self::Flooded(flooded) => Datagram::to_neighbour(from, to, flooded),
        }
    }
}

impl Cargo {
    /// The messages in it that must not be lost.
    pub(super) fn kept(&self) -> impl Iterator<Item = &Parcel> {
        let (frame, letter) = match self {
            Self::Custody(frame) => (Some(frame), None),
            Self::Segment(Segment::Data { kept: Some(_), message, .. }) => (None, Some(&message.parcel)),
            Self::Segment(_) => (None, None),
        };
        frame.into_iter().flat_map(Frame::kept).chain(letter)
    }

    fn len(&self) -> usize {
        match self {
            Self::Custody(frame) => wire::encoded_len(frame),
            Self::Segment(segment) => wire::encoded_len(segment),
        }
    }

    fn encode(&self) -> Vec<u8> {
        match self {
            Self::Custody(frame) => wire::encode(frame),
            Self::Segment(segment) => wire::encode(segment),
        }
    }
}

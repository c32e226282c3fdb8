//! What goes over the radio.

use driftlock_protocol::{Incarnation, NodeId};
use serde::{Deserialize, Serialize};

use crate::aodv;
use crate::flood::Flooded;
use crate::link::Frame;
use crate::parcel::Parcel;
use crate::session::Segment;
use crate::wire::{self, Datagram, Payload, WireError};

use super::pieces::Piece;

/// A message between members of a neighbourhood.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Letter {
    /// The life of the receiver that it is for.
    pub life: Incarnation,
    /// That of the sender, if it has said that it takes part in the resource: who is written to can write back.
    pub from: Option<Incarnation>,
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
    /// Several of these.
    Segments(Vec<Segment<Letter>>),
    /// A part of what is too long for one datagram.
    Piece(Piece),
}

/// What goes over the radio.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Packet {
    /// Between link layers.
    Link(Frame<Parcel>),
    /// Between routers.
    Routed(aodv::Packet<(), Cargo>),
    /// To all nodes within some hops.
    Flooded(Flooded<Parcel>),
    /// A part of a frame between link layers that is too long for one datagram.
    Piece(Piece),
}

impl Packet {
    /// How many bytes it takes as the payload of a datagram.
    #[allow(clippy::len_without_is_empty)] // none is empty
    pub fn len(&self) -> usize {
        match self {
            Self::Link(frame) => wire::encoded_len(frame),
            Self::Routed(packet) => {
                let header = if matches!(packet, aodv::Packet::Data(_)) { wire::aodv::IP_HEADER } else { 0 };
                packet.len(wire::aodv::advert_len, Cargo::len) - header
            }
            Self::Flooded(flooded) => wire::encoded_len(flooded),
            Self::Piece(piece) => wire::encoded_len(piece),
        }
    }

    /// The same as it would be sent by a node of a network of computers.
    pub fn datagram(&self, from: NodeId, to: Option<NodeId>) -> Result<Datagram, WireError> {
        match self {
            Self::Link(frame) => Datagram::to_neighbour(from, to, frame),
            Self::Routed(packet) => wire::aodv::datagram(from, to, packet, Cargo::encode),
            Self::Flooded(flooded) => Datagram::to_neighbour(from, to, flooded),
            Self::Piece(piece) => Datagram::to_neighbour(from, to, piece),
        }
    }
}

impl Cargo {
    /// The messages in it that must not be lost.
    pub(super) fn kept(&self) -> impl Iterator<Item = &Parcel> {
        let (frame, segments): (_, &[_]) = match self {
            Self::Custody(frame) => (Some(frame), &[]),
            Self::Segment(segment) => (None, std::slice::from_ref(segment)),
            Self::Segments(segments) => (None, segments),
            Self::Piece(_) => (None, &[]),
        };
        let letters = segments.iter().filter_map(|segment| match segment {
            Segment::Data { kept: Some(_), message, .. } => Some(&message.parcel),
            _ => None,
        });
        frame.into_iter().flat_map(Frame::kept).chain(letters)
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Custody(frame) => wire::encoded_len(frame),
            Self::Segment(segment) => wire::encoded_len(segment),
            Self::Segments(segments) => wire::encoded_len(segments),
            Self::Piece(piece) => wire::encoded_len(piece),
        }
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        match self {
            Self::Custody(frame) => wire::encode(frame),
            Self::Segment(segment) => wire::encode(segment),
            Self::Segments(segments) => wire::encode(segments),
            Self::Piece(piece) => wire::encode(piece),
        }
    }

    /// The inverse of `encode`.
    pub fn decode(bytes: &[u8]) -> Result<Self, WireError> {
        match wire::kind(bytes)? {
            Frame::<Parcel>::KIND => wire::decode(bytes).map(Self::Custody),
            Segment::<Letter>::KIND => wire::decode(bytes).map(Self::Segment),
            Vec::<Segment<Letter>>::KIND => wire::decode(bytes).map(Self::Segments),
            Piece::KIND => wire::decode(bytes).map(Self::Piece),
            other => Err(WireError::Kind(other)),
        }
    }
}

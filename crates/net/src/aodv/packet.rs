//! What routers say to one another.
//!
//! ```text
//! originator                 intermediate                  destination
//!     | Request (broadcast) ----> | Request (broadcast) ----> |
//!     |                           | <------ Reply (unicast)   |
//!     | <------ Reply (unicast)   |                           |
//!     | Data -------------------> | Data -------------------> |
//!     |                           |        (the link breaks)  x
//!     | <---- Error (precursors)  |
//! ```

use driftlock_protocol::NodeId;
use serde::{Deserialize, Serialize};

use crate::Span;

/// A destination's sequence number: how fresh what is said about the way to it is. Numbers roll over, so they have no
/// order; of two of them one is [newer](Seq::newer).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Seq(pub u32);

impl Seq {
    /// Whether this is newer: the difference is positive as a signed number of 32 bits.
    pub fn newer(self, other: Self) -> bool {
        self.0.wrapping_sub(other.0).cast_signed() > 0
    }

    /// The number after it.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.wrapping_add(1))
    }

    /// The number before it.
    #[must_use]
    pub fn previous(self) -> Self {
        Self(self.0.wrapping_sub(1))
    }
}

/// What the layer above a node says about itself. It rides on the control messages about that node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Advert<A> {
    /// Whom it is about, and who has said it.
    pub owner: NodeId,
    /// Given by the owner; a greater one replaces a smaller, whatever is known of the way there.
    pub version: u64,
    /// What is said.
    pub content: A,
}

/// RREQ: who knows the way to `destination`?
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Request<A> {
    /// Of the node that sends it on, hop by hop: the way back leads through this life of it.
    pub life: u32,
    /// Together with the originator it names the request.
    pub id: u32,
    /// How far it may still go.
    pub ttl: u8,
    /// How far it has come.
    pub hops: u8,
    /// `G`: the destination wants to know the way back, also if an intermediate node answers.
    pub gratuitous: bool,
    /// `D`: no node but the destination may answer.
    pub destination_only: bool,
    /// Who is looked for.
    pub destination: NodeId,
    /// An answer must be this fresh.
    pub destination_seq: Option<Seq>,
    /// Who asks.
    pub originator: NodeId,
    /// How fresh the way back is.
    pub originator_seq: Seq,
    /// Of the originator.
    pub advert: Option<Advert<A>>,
}

/// RREP: the way to `destination` is through me.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reply<A> {
    /// Of the node that sends it on, hop by hop: the way leads through this life of it.
    pub life: u32,
    /// From the sender to the destination.
    pub hops: u8,
    /// `A`: the receiver must acknowledge it.
    pub acknowledge: bool,
    /// Where the way leads.
    pub destination: NodeId,
    /// How fresh it is.
    pub seq: Seq,
    /// Who had asked.
    pub originator: NodeId,
    /// How long it is good for.
    pub lifetime: Span,
    /// Of the destination.
    pub advert: Option<Advert<A>>,
}

/// A hello: in the RFC, a reply about the sender itself that is broadcast with a TTL of 1.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Greeting<A> {
    /// Of the sender.
    pub seq: Seq,
    /// How long the route to the sender is good for.
    pub lifetime: Span,
    /// Of the sender.
    pub advert: Option<Advert<A>>,
}

/// A destination that can no longer be reached through the sender of an error.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unreachable {
    /// Who.
    pub destination: NodeId,
    /// A new route must be this fresh; unknown if the sender has never known, or has forgotten, the destination.
    pub seq: Option<Seq>,
}

/// What the layer above sends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Data<D> {
    /// Of the next hop, hop by hop: it has told of the way in this life.
    pub life: u32,
    /// How far it may still go.
    pub ttl: u8,
    /// Who sends it.
    pub originator: NodeId,
    /// To whom.
    pub destination: NodeId,
    /// What.
    pub content: D,
}

/// A packet between two neighbours, or from a node to all its neighbours.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Packet<A, D> {
    /// RREQ, broadcast.
    Request(Request<A>),
    /// RREP, unicast.
    Reply(Reply<A>),
    /// Hello, broadcast.
    Hello(Greeting<A>),
    /// RERR, unicast to the only precursor or broadcast.
    Error(Box<[Unreachable]>),
    /// RREP-ACK, unicast.
    Acknowledgement,
    /// Data, unicast.
    Data(Data<D>),
}

impl<A, D> Packet<A, D> {
    /// How many bytes the RFC's format takes, given the length of an advert's content and of data. An advert is an
    /// extension (type, length, version, content), and so are numbers of an error that are unknown (type, length, a bit
    /// for each) and a life other than the first (type, length, life; before data, a head and the life); data has an IP
    /// header. The IP and UDP headers of control messages are not counted.
    #[allow(clippy::len_without_is_empty)] // no packet is empty
    pub fn len(&self, advert: impl Fn(&A) -> usize, data: impl Fn(&D) -> usize) -> usize {
        let extension = |carried: &Option<Advert<A>>| carried.as_ref().map_or(0, |it| 2 + 8 + advert(&it.content));
        let extra = |life: u32, head: usize| if life == 0 { 0 } else { head + size_of::<u32>() };
        match self {
            Self::Request(request) => 24 + extension(&request.advert) + extra(request.life, 2),
            Self::Reply(reply) => 20 + extension(&reply.advert) + extra(reply.life, 2),
            Self::Hello(hello) => 20 + extension(&hello.advert),
            Self::Error(unreachable) => {
                let unknown = unreachable.iter().any(|entry| entry.seq.is_none());
                4 + 8 * unreachable.len() + if unknown { 2 + unreachable.len().div_ceil(8) } else { 0 }
            }
            Self::Acknowledgement => 2,
            Self::Data(packet) => 20 + extra(packet.life, 4) + data(&packet.content),
        }
    }
}

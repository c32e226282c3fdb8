//! The bytes on the air.
//!
//! ```text
//! Ethernet, or whatever carries IP
//!   IPv4         10.x.y.z from the node's id; 255.255.255.255 is every node in reach
//!     UDP 654    routing: RFC 3561, byte by byte                 wire::aodv
//!     UDP 49654  "dl", version, kind, then postcard's encoding   link frames, session segments, floods
//! ```
//!
//! Whatever bytes arrive, decoding gives a value or a [`WireError`]. What the values say is for the layers to judge.

pub mod aodv;

use std::net::Ipv4Addr;
use std::sync::Arc;

use driftlock_protocol::NodeId;
use postcard::ser_flavors::Size;
use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

use crate::flood::Flooded;
use crate::link::Frame;
use crate::session::Segment;
use crate::stack::Piece;

/// The UDP port of AODV, by RFC 3561.
pub const AODV_PORT: u16 = 654;
/// The UDP port of our own formats, of those that are not assigned.
pub const PORT: u16 = 49654;
/// What our own formats begin with.
pub const MAGIC: [u8; 2] = *b"dl";
/// A node that speaks another version is not understood.
pub const VERSION: u8 = 3;

/// Magic, version and kind.
const HEAD: usize = MAGIC.len() + 2;
/// All nodes are in this network of eight bits.
const NETWORK: u8 = 10;
/// The most nodes that have an address.
pub const NODES_MAX: u32 = 1 << 24;

/// Something with an encoding of our own.
pub trait Payload: Serialize {
    /// Tells it from the other payloads. Applications that are simulated have kinds from 4 to 15.
    const KIND: u8;
}

impl<M: Serialize> Payload for Frame<M> {
    const KIND: u8 = 1;
}

impl<M: Serialize> Payload for Segment<M> {
    const KIND: u8 = 2;
}

impl<M: Serialize> Payload for Flooded<M> {
    const KIND: u8 = 3;
}

impl<M: Serialize> Payload for Vec<Segment<M>> {
    const KIND: u8 = 17;
}

impl Payload for Piece {
    const KIND: u8 = 16;
}

/// Why bytes say nothing, or why something cannot be said in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum WireError {
    /// Of another program.
    #[error("this is not of driftlock: another port, or bytes that do not begin with \"dl\"")]
    Foreign,
    /// Of a later or an earlier driftlock.
    #[error(
        "the sender speaks version {0} of the format, and this is version {VERSION}: install the same driftlock on both"
    )]
    Version(u8),
    /// Not what was expected.
    #[error("this is a payload of kind {0}, and another was expected")]
    Kind(u8),
    /// It ends too early, or a number in it means nothing.
    #[error("{0} is cut short or malformed")]
    Malformed(&'static str),
    /// There is more than there should be.
    #[error("{0} bytes too many")]
    Surplus(usize),
    /// No node has this address.
    #[error("{0} is no node's address: those are 10.x.y.z")]
    Address(Ipv4Addr),
    /// A node whose number is too large.
    #[error("{0} has no address: 10.x.y.z has room for {NODES_MAX} nodes")]
    NoAddress(NodeId),
    /// It does not fit.
    #[error("{length} {what} do not fit: at most {most} do")]
    TooLong {
        /// Of what there is too much.
        what: &'static str,
        /// How much there is.
        length: usize,
        /// How much fits.
        most: usize,
    },
}

/// What UDP and IP are to carry.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Datagram {
    /// The node that has sent it at first.
    pub source: Ipv4Addr,
    /// The node that gets it in the end.
    pub destination: Ipv4Addr,
    /// How many hops it may still go.
    pub ttl: u8,
    /// Of UDP, at both ends.
    pub port: u16,
    /// Of UDP.
    pub payload: Vec<u8>,
}

impl Datagram {
    /// From a node to a neighbour, or to all of them.
    pub fn to_neighbour<T: Payload>(from: NodeId, to: Option<NodeId>, content: &T) -> Result<Self, WireError> {
        let destination = to.map_or(Ok(Ipv4Addr::BROADCAST), address)?;
        Ok(Self { source: address(from)?, destination, ttl: 1, port: PORT, payload: encode(content) })
    }
}

/// The address of a node.
pub fn address(node: NodeId) -> Result<Ipv4Addr, WireError> {
    match node.0.to_be_bytes() {
        [0, high, middle, low] => Ok(Ipv4Addr::new(NETWORK, high, middle, low)),
        _ => Err(WireError::NoAddress(node)),
    }
}

/// The node with this address.
pub fn node(address: Ipv4Addr) -> Result<NodeId, WireError> {
    match address.octets() {
        [NETWORK, high, middle, low] => Ok(NodeId(u32::from_be_bytes([0, high, middle, low]))),
        _ => Err(WireError::Address(address)),
    }
}

/// As bytes.
pub fn encode<T: Payload>(content: &T) -> Vec<u8> {
    let [first, second] = MAGIC;
    postcard::to_extend(content, vec![first, second, VERSION, T::KIND]).expect(WELL_BEHAVED)
}

/// How many bytes [`encode`] makes of it. Nothing is allocated for it.
pub fn encoded_len<T: Payload>(content: &T) -> usize {
    HEAD + content_len(content)
}

/// The inverse of [`encode`].
pub fn decode<T: Payload + DeserializeOwned>(bytes: &[u8]) -> Result<T, WireError> {
    let kind = kind(bytes)?;
    if kind == T::KIND { from_content(&bytes[HEAD..], "the payload") } else { Err(WireError::Kind(kind)) }
}

/// What of ours begins like this.
pub(crate) fn kind(bytes: &[u8]) -> Result<u8, WireError> {
    match bytes.first_chunk::<HEAD>() {
        Some(&[first, second, version, kind]) if [first, second] == MAGIC => {
            if version == VERSION {
                Ok(kind)
            } else {
                Err(WireError::Version(version))
            }
        }
        _ => Err(WireError::Foreign),
    }
}

/// A message by itself, as bytes that many can share. Nothing but these is allocated for a short one.
pub(crate) fn content(content: &impl Serialize) -> Arc<[u8]> {
    const SHORT: usize = 256;
    postcard::to_slice(content, &mut [0; SHORT]).map_or_else(
        |_| postcard::to_extend(content, Vec::new()).expect(WELL_BEHAVED).into(),
        |bytes| Arc::from(&*bytes),
    )
}

/// The encoding fails only where a type does not know how long its own list is, or says so of itself.
const WELL_BEHAVED: &str = "our own types can be encoded";

pub(crate) fn content_len(content: &impl Serialize) -> usize {
    postcard::serialize_with_flavor(content, Size::default()).expect(WELL_BEHAVED)
}

pub(crate) fn from_content<T: DeserializeOwned>(bytes: &[u8], what: &'static str) -> Result<T, WireError> {
    match postcard::take_from_bytes(bytes) {
        Ok((content, [])) => Ok(content),
        Ok((_, surplus)) => Err(WireError::Surplus(surplus.len())),
        Err(_) => Err(WireError::Malformed(what)),
    }
}

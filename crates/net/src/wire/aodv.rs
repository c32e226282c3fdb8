//! Routing packets in the format of RFC 3561, section 5, so that other people's tools can read them.
//!
//! What the format has no place for rides in extensions (section 9):
//!
//! - 100, in RREQ and RREP: an advert: its version in eight bytes, then what it says. Its owner is the node that the
//!   message is about.
//! - 201, in RREQ and RREP: the sender's life, in four bytes, if it is not its first.
//! - 200, in RERR: which of the sequence numbers are unknown, a bit for each destination, the first one lowest. Only if
//!   there are such.
//!
//! A node that does not know an extension below 128 may skip it. A lifetime is rounded down to milliseconds: a route
//! may end earlier than was said, but never later. Data is an IP packet from its originator to its destination. If it
//! is for another life of the next hop than the first, it begins with a head of our own formats, kind 0, and that life.

use std::net::Ipv4Addr;

use driftlock_protocol::NodeId;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{AODV_PORT, Datagram, MAGIC, PORT, VERSION, WireError, address, content_len, from_content, node};
use crate::Span;
use crate::aodv::packet::{Advert, Data, Greeting, Packet, Reply, Request, Seq, Unreachable};

const RREQ: u8 = 1;
const RREP: u8 = 2;
const RERR: u8 = 3;
const RREP_ACK: u8 = 4;

/// Flags of a request.
const GRATUITOUS: u8 = 0x20;
const DESTINATION_ONLY: u8 = 0x10;
const UNKNOWN_SEQ: u8 = 0x08;
/// A flag of a reply.
const ACKNOWLEDGE: u8 = 0x40;

/// Extensions.
const ADVERT: u8 = 100;
const UNKNOWN_SEQS: u8 = 200;
const LIFE: u8 = 201;
const MUST_BE_KNOWN: u8 = 128;
const LIFE_BYTES: u8 = 4;

/// What data begins with before the life of the next hop that it is for.
const FOR_A_LIFE: [u8; 4] = [MAGIC[0], MAGIC[1], VERSION, 0];

/// How many bytes of data's length are not in its datagram's payload.
pub const IP_HEADER: usize = 20;

/// A neighbour does not pass it on as it is.
const ONE_HOP: u8 = 1;
const NANOS_PER_MILLI: u64 = 1_000_000;
/// The most unreachable destinations in an error, and the most bytes in an extension: both are counted in a byte.
pub const COUNT_MAX: usize = u8::MAX as usize;

/// How many bytes the content of an advert takes, for [`Packet::len`].
pub fn advert_len(content: &impl Serialize) -> usize {
    content_len(content)
}

/// A packet of `from` to a neighbour, or to all. `encode` makes bytes of data.
pub fn datagram<A: Serialize, D>(
    from: NodeId,
    to: Option<NodeId>,
    packet: &Packet<A, D>,
    encode: impl FnOnce(&D) -> Vec<u8>,
) -> Result<Datagram, WireError> {
    let (ttl, payload) = match packet {
        Packet::Request(request) => (request.ttl, request_bytes(request)?),
        Packet::Reply(reply) => (ONE_HOP, reply_bytes(reply)?),
        Packet::Hello(hello) => (ONE_HOP, hello_bytes(from, hello)?),
        Packet::Error(unreachable) => (ONE_HOP, error_bytes(unreachable)?),
        Packet::Acknowledgement => (ONE_HOP, vec![RREP_ACK, 0]),
        Packet::Data(data) => {
            let (source, destination) = (address(data.originator)?, address(data.destination)?);
            let payload = for_a_life(data.life, encode(&data.content));
            return Ok(Datagram { source, destination, ttl: data.ttl, port: PORT, payload });
        }
    };
    let destination = to.map_or(Ok(Ipv4Addr::BROADCAST), address)?;
    Ok(Datagram { source: address(from)?, destination, ttl, port: AODV_PORT, payload })
}

fn for_a_life(life: u32, content: Vec<u8>) -> Vec<u8> {
    if life == 0 { content } else { [&FOR_A_LIFE[..], &life.to_be_bytes(), &content].concat() }
}

fn request_bytes<A: Serialize>(request: &Request<A>) -> Result<Vec<u8>, WireError> {
    let flags = flag(request.gratuitous, GRATUITOUS)
        | flag(request.destination_only, DESTINATION_ONLY)
        | flag(request.destination_seq.is_none(), UNKNOWN_SEQ);
    let mut bytes = vec![RREQ, flags, 0, request.hops];
    put(&mut bytes, request.id);
    put_node(&mut bytes, request.destination)?;
    put(&mut bytes, request.destination_seq.unwrap_or_default().0);
    put_node(&mut bytes, request.originator)?;
    put(&mut bytes, request.originator_seq.0);
    put_life(&mut bytes, request.life);
    put_advert(bytes, request.advert.as_ref())
}

fn reply_bytes<A: Serialize>(reply: &Reply<A>) -> Result<Vec<u8>, WireError> {
    let mut bytes = vec![RREP, flag(reply.acknowledge, ACKNOWLEDGE), 0, reply.hops];
    put_node(&mut bytes, reply.destination)?;
    put(&mut bytes, reply.seq.0);
    put_node(&mut bytes, reply.originator)?;
    put(&mut bytes, millis(reply.lifetime));
    put_life(&mut bytes, reply.life);
    put_advert(bytes, reply.advert.as_ref())
}

/// A hello is a reply about the sender that all neighbours get (section 6.9).
fn hello_bytes<A: Serialize>(from: NodeId, hello: &Greeting<A>) -> Result<Vec<u8>, WireError> {
    let mut bytes = vec![RREP, 0, 0, 0];
    put_node(&mut bytes, from)?;
    put(&mut bytes, hello.seq.0);
    put_node(&mut bytes, from)?;
    put(&mut bytes, millis(hello.lifetime));
    put_advert(bytes, hello.advert.as_ref())
}

fn error_bytes(unreachable: &[Unreachable]) -> Result<Vec<u8>, WireError> {
    let count = count("unreachable destinations", unreachable.len())?;
    let mut bytes = vec![RERR, 0, 0, count];
    for entry in unreachable {
        put_node(&mut bytes, entry.destination)?;
        put(&mut bytes, entry.seq.unwrap_or_default().0);
    }
    if unreachable.iter().any(|entry| entry.seq.is_none()) {
        let bits = unreachable
            .chunks(8)
            .map(|eight| eight.iter().rev().fold(0, |bits: u8, entry| bits << 1 | u8::from(entry.seq.is_none())));
        bytes.extend([UNKNOWN_SEQS, count.div_ceil(8)]);
        bytes.extend(bits);
    }
    Ok(bytes)
}

fn put_advert<A: Serialize>(mut bytes: Vec<u8>, advert: Option<&Advert<A>>) -> Result<Vec<u8>, WireError> {
    let Some(advert) = advert else { return Ok(bytes) };
    let length = size_of::<u64>() + content_len(&advert.content);
    bytes.extend([ADVERT, count("bytes of an advert", length)?]);
    bytes.extend(advert.version.to_be_bytes());
    Ok(postcard::to_extend(&advert.content, bytes).expect(super::WELL_BEHAVED))
}

fn put_life(bytes: &mut Vec<u8>, life: u32) {
    if life > 0 {
        bytes.extend([LIFE, LIFE_BYTES]);
        put(bytes, life);
    }
}

fn put(bytes: &mut Vec<u8>, word: u32) {
    bytes.extend(word.to_be_bytes());
}

fn put_node(bytes: &mut Vec<u8>, node: NodeId) -> Result<(), WireError> {
    bytes.extend(address(node)?.octets());
    Ok(())
}

fn flag(set: bool, flag: u8) -> u8 {
    if set { flag } else { 0 }
}

fn count(what: &'static str, length: usize) -> Result<u8, WireError> {
    u8::try_from(length).map_err(|_| WireError::TooLong { what, length, most: COUNT_MAX })
}

fn millis(span: Span) -> u32 {
    u32::try_from(span.0 / NANOS_PER_MILLI).unwrap_or(u32::MAX)
}

/// The inverse of [`datagram`]. `decode` makes data of bytes.
pub fn packet<A: DeserializeOwned, D>(
    datagram: &Datagram,
    decode: impl FnOnce(&[u8]) -> Result<D, WireError>,
) -> Result<Packet<A, D>, WireError> {
    let (from, ttl) = (node(datagram.source)?, datagram.ttl);
    match datagram.port {
        AODV_PORT => control(datagram, from),
        PORT => {
            let (life, content) = match datagram.payload.strip_prefix(&FOR_A_LIFE) {
                Some(rest) => rest.split_first_chunk().ok_or(MALFORMED)?,
                None => (&[0; 4], &datagram.payload[..]),
            };
            let (life, destination, content) =
                (u32::from_be_bytes(*life), node(datagram.destination)?, decode(content)?);
            Ok(Packet::Data(Data { life, ttl, originator: from, destination, content }))
        }
        _ => Err(WireError::Foreign),
    }
}

fn control<A: DeserializeOwned, D>(datagram: &Datagram, from: NodeId) -> Result<Packet<A, D>, WireError> {
    let mut bytes = Bytes(&datagram.payload);
    let packet = match bytes.byte()? {
        RREQ => Packet::Request(bytes.request(datagram.ttl)?),
        RREP if datagram.destination == Ipv4Addr::BROADCAST => Packet::Hello(bytes.hello(from)?),
        RREP => Packet::Reply(bytes.reply()?),
        RERR => Packet::Error(bytes.error()?),
        RREP_ACK => {
            bytes.byte()?;
            Packet::Acknowledgement
        }
        kind => return Err(WireError::Kind(kind)),
    };
    match bytes.0 {
        [] => Ok(packet),
        surplus => Err(WireError::Surplus(surplus.len())),
    }
}

/// What is still to be read.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn request<A: DeserializeOwned>(&mut self, ttl: u8) -> Result<Request<A>, WireError> {
        let [flags, _, hops] = self.array()?;
        let (id, destination, destination_seq) = (self.word()?, self.node()?, Seq(self.word()?));
        let (originator, originator_seq) = (self.node()?, Seq(self.word()?));
        let [advert, life] = self.extensions([ADVERT, LIFE])?;
        Ok(Request {
            life: life_of(life)?,
            id,
            ttl,
            hops,
            gratuitous: flags & GRATUITOUS != 0,
            destination_only: flags & DESTINATION_ONLY != 0,
            destination,
            destination_seq: (flags & UNKNOWN_SEQ == 0).then_some(destination_seq),
            originator,
            originator_seq,
            advert: advert_of(originator, advert)?,
        })
    }

    fn reply<A: DeserializeOwned>(&mut self) -> Result<Reply<A>, WireError> {
        let [flags, _, hops] = self.array()?;
        let (destination, seq, originator) = (self.node()?, Seq(self.word()?), self.node()?);
        let lifetime = self.lifetime()?;
        let acknowledge = flags & ACKNOWLEDGE != 0;
        let [advert, life] = self.extensions([ADVERT, LIFE])?;
        let (advert, life) = (advert_of(destination, advert)?, life_of(life)?);
        Ok(Reply { life, hops, acknowledge, destination, seq, originator, lifetime, advert })
    }

    /// No node says hello for another: a hello is about its sender.
    fn hello<A: DeserializeOwned>(&mut self, from: NodeId) -> Result<Greeting<A>, WireError> {
        let Reply { destination, seq, lifetime, advert, .. } = self.reply()?;
        if destination == from { Ok(Greeting { seq, lifetime, advert }) } else { Err(MALFORMED) }
    }

    fn error(&mut self) -> Result<Box<[Unreachable]>, WireError> {
        let [_, _, count] = self.array()?;
        let entries = (0..count).map(|_| Ok(Unreachable { destination: self.node()?, seq: Some(Seq(self.word()?)) }));
        let mut entries = entries.collect::<Result<Box<[_]>, WireError>>()?;
        let [unknown] = self.extensions([UNKNOWN_SEQS])?;
        let unknown = unknown.unwrap_or_default();
        for (place, entry) in entries.iter_mut().enumerate() {
            if unknown.get(place / 8).is_some_and(|bits| bits >> (place % 8) & 1 == 1) {
                entry.seq = None;
            }
        }
        Ok(entries)
    }

    /// Reads the extensions, which are all that is left, and looks for these. Others are skipped if they may be.
    fn extensions<const N: usize>(&mut self, wanted: [u8; N]) -> Result<[Option<&'a [u8]>; N], WireError> {
        let mut found = [None; N];
        while !self.0.is_empty() {
            let [kind, length] = self.array()?;
            let (content, rest) = self.0.split_at_checked(usize::from(length)).ok_or(MALFORMED)?;
            self.0 = rest;
            if let Some(place) = wanted.iter().position(|&wanted| wanted == kind) {
                found[place] = Some(content);
            } else if kind >= MUST_BE_KNOWN {
                return Err(WireError::Kind(kind));
            }
        }
        Ok(found)
    }

    fn byte(&mut self) -> Result<u8, WireError> {
        self.array().map(|[byte]| byte)
    }

    fn word(&mut self) -> Result<u32, WireError> {
        self.array().map(u32::from_be_bytes)
    }

    fn node(&mut self) -> Result<NodeId, WireError> {
        self.array::<4>().and_then(|octets| node(octets.into()))
    }

    fn lifetime(&mut self) -> Result<Span, WireError> {
        self.word().map(|millis| Span::from_millis(millis.into()))
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], WireError> {
        let (&array, rest) = self.0.split_first_chunk().ok_or(MALFORMED)?;
        self.0 = rest;
        Ok(array)
    }
}

fn advert_of<A: DeserializeOwned>(owner: NodeId, extension: Option<&[u8]>) -> Result<Option<Advert<A>>, WireError> {
    let Some(extension) = extension else { return Ok(None) };
    let (&version, content) = extension.split_first_chunk().ok_or(MALFORMED)?;
    let content = from_content(content, "an advert")?;
    Ok(Some(Advert { owner, version: u64::from_be_bytes(version), content }))
}

fn life_of(extension: Option<&[u8]>) -> Result<u32, WireError> {
    let Some(extension) = extension else { return Ok(0) };
    extension.try_into().map(u32::from_be_bytes).map_err(|_| MALFORMED)
}

const MALFORMED: WireError = WireError::Malformed("a routing packet");

//! Bytes on the air: what is said comes out again, and no bytes do harm.

#[path = "link/rng.rs"]
#[allow(dead_code)] // other tests use the rest of it
mod rng;

use std::net::Ipv4Addr;

use driftlock_net::advert::{Notice, Version};
use driftlock_net::aodv::packet::{Advert, Data, Greeting, Packet, Reply, Request, Seq, Unreachable};
use driftlock_net::custody::{Doubt, Statement};
use driftlock_net::flood::Flooded;
use driftlock_net::link::{CallId, Frame, Head, Hello, Mark, Part};
use driftlock_net::parcel::Resource;
use driftlock_net::session::{Segment, Session};
use driftlock_net::wire::{self, Datagram, Payload, WireError, aodv, decode, encode, encoded_len};
use driftlock_net::{Boot, Span, Transfer};
use driftlock_protocol::height::Height;
use driftlock_protocol::{Fence, Grant, Incarnation, K_MAX, NodeId, Permit, Permits, hok, klme, krl};
use rng::Rng;
use serde::de::DeserializeOwned;

fn number(rng: &mut Rng) -> u32 {
    // Short and long ones alike.
    u32::try_from(rng.draw() >> 32 >> rng.below(32)).unwrap()
}

fn node(rng: &mut Rng) -> NodeId {
    NodeId(number(rng) % wire::NODES_MAX)
}

fn maybe<T>(rng: &mut Rng, make: impl FnOnce(&mut Rng) -> T) -> Option<T> {
    rng.percent(50).then(|| make(rng))
}

fn message(rng: &mut Rng) -> krl::Message {
    let height = Height::new(rng.draw().cast_signed(), -3, node(rng));
    match rng.below(3) {
        0 => krl::Message::Request { height },
        1 => krl::Message::LinkInfo { height, acknowledges: maybe(rng, node) },
        _ => {
            let fence = Fence { epoch: rng.draw(), counter: rng.draw() };
            let token = krl::Token { permit: Permit::try_from(3).unwrap(), fence };
            krl::Message::Token { height, token, onward: maybe(rng, |_| 200) }
        }
    }
}

fn statement(rng: &mut Rng) -> Statement {
    Statement { boot: Boot(number(rng)), since: Boot(number(rng)), had: maybe(rng, transfer) }
}

fn transfer(rng: &mut Rng) -> Transfer {
    Transfer { boot: Boot(number(rng)), number: rng.draw() }
}

fn doubts(rng: &mut Rng) -> Vec<Doubt<krl::Message>> {
    let doubt = |rng: &mut Rng| Doubt {
        transfer: transfer(rng),
        incarnation: Incarnation(number(rng)),
        to: Boot(number(rng)),
        message: message(rng),
    };
    (0..rng.below(4)).map(|_| doubt(rng)).collect()
}

fn resources(rng: &mut Rng) -> Vec<Resource> {
    (0..rng.below(4)).map(|_| Resource(u16::try_from(number(rng) >> 16).unwrap())).collect()
}

fn notice(rng: &mut Rng) -> Notice {
    let advert = driftlock_net::advert::Advert {
        owner: node(rng),
        resource: Resource(u16::try_from(number(rng) >> 16).unwrap()),
        version: Version { boot: Boot(number(rng)), count: number(rng) },
        life: maybe(rng, number).map(Incarnation),
        content: (0..rng.below(40)).map(|_| rng.draw().to_be_bytes()[0]).collect(),
    };
    Notice { advert, age: u16::try_from(number(rng) >> 16).unwrap() }
}

const FRAMES: u64 = 12;

fn frame(rng: &mut Rng, kind: u64) -> Frame<krl::Message> {
    let incarnation = Incarnation(number(rng));
    let call = CallId { boot: Boot(number(rng)), number: Incarnation(number(rng)) };
    let head = Head { boot: Boot(number(rng)), to: Boot(number(rng)), incarnation, acknowledges: rng.draw() };
    match kind {
        0 => Frame::Hello(Hello {
            boot: Boot(number(rng)),
            count: number(rng),
            interval_ms: number(rng),
            crowd: number(rng),
            mark: Mark(number(rng)),
            links: (0..rng.below(13)).map(|_| node(rng)).collect(),
            hears: number(rng),
            list: (0..rng.below(33)).map(|_| node(rng)).collect(),
            spared: (0..rng.below(4)).map(|_| node(rng)).collect(),
            notices: (0..rng.below(9)).map(|_| notice(rng)).collect(),
        }),
        1 => Frame::Call { call, statement: statement(rng), doubts: doubts(rng), resources: resources(rng) },
        2 => Frame::Answer {
            call,
            incarnation,
            statement: statement(rng),
            doubts: doubts(rng),
            resources: resources(rng),
        },
        3 => {
            let transfer = maybe(rng, Rng::draw);
            Frame::Data { head, sequence: rng.draw(), transfer, message: message(rng) }
        }
        4 => Frame::Ack(head),
        5 => Frame::Reset { incarnation },
        6 => Frame::Offer { incarnation, doubts: doubts(rng) },
        7 => Frame::Shared {
            parts: (0..rng.below(9)).map(|_| Part { to: node(rng), head, sequence: rng.draw() }).collect(),
            message: message(rng),
        },
        8 => Frame::Acks((0..rng.below(9)).map(|_| (node(rng), head)).collect()),
        9 => Frame::Probe(head),
        10 => {
            let messages = (0..rng.below(5)).map(|_| (maybe(rng, Rng::draw), message(rng))).collect();
            Frame::Run { head, sequence: rng.draw(), messages }
        }
        _ => Frame::Verdict(statement(rng)),
    }
}

const SEGMENTS: u64 = 4;

fn segment(rng: &mut Rng, kind: u64) -> Segment<krl::Message> {
    let session = Session { boot: Boot(number(rng)), counter: number(rng) };
    let (boot, seq) = (Boot(number(rng)), rng.draw());
    match kind {
        0 => Segment::Open { session },
        1 => Segment::Accept { session, boot },
        2 => {
            let kept = maybe(rng, transfer);
            Segment::Data { session, boot, seq, kept, message: message(rng) }
        }
        _ => Segment::Ack { session, boot, next: seq },
    }
}

/// It comes out again, is as long as was said, and no part of it is taken for the whole.
fn check<T: Payload + DeserializeOwned + PartialEq + std::fmt::Debug>(content: &T) {
    let mut bytes = encode(content);
    assert_eq!(bytes.len(), encoded_len(content));
    assert_eq!(decode::<T>(&bytes).as_ref(), Ok(content));
    for end in 0..bytes.len() {
        assert!(decode::<T>(&bytes[..end]).is_err(), "{end} of {} bytes of {content:?}", bytes.len());
    }
    bytes.push(0);
    assert_eq!(decode::<T>(&bytes), Err(WireError::Surplus(1)));
}

#[test]
fn frames_segments_and_floods_of_every_kind_come_out_again() {
    let rng = &mut Rng::new(1);
    for _ in 0..200 {
        (0..FRAMES).for_each(|kind| check(&frame(rng, kind)));
        (0..SEGMENTS).for_each(|kind| check(&segment(rng, kind)));
        let (boot, number) = (Boot(number(rng)), rng.draw());
        check(&Flooded { origin: node(rng), boot, number, ttl: 35, message: message(rng) });
    }
}

/// Sets and lists are written with their length first, so their types must know it.
#[test]
fn sets_of_permits_come_out_again() {
    let fence = Fence { epoch: 1, counter: 2 };
    for free in [Permits::NONE, Permits::first(3), Permits::first(K_MAX)] {
        check(&Segment::Data {
            session: Session::default(),
            boot: Boot(1),
            seq: 0,
            kept: None,
            message: hok::Message::Token {
                height: Height::new(1, -1, NodeId(0)),
                grants: hok::Grants::default(),
                token: hok::Token { free, fence },
                asks: None,
            },
        });
        let number = klme::RequestNo::default();
        let grant = Grant { permits: free, fence };
        check(&Flooded {
            origin: NodeId(0),
            boot: Boot(1),
            number: 1,
            ttl: 1,
            message: klme::Message::PerGrant { number, grant, leader_no: klme::LeaderNo(3) },
        });
    }
}

#[test]
fn what_is_said_in_another_way_is_refused_by_name() {
    let bytes = encode(&Frame::<krl::Message>::Reset { incarnation: Incarnation(5) });
    assert_eq!(bytes, [b'd', b'l', 3, 1, 9, 5]);
    let changed = |place: usize, byte: u8| {
        let mut bytes = bytes.clone();
        bytes[place] = byte;
        decode::<Frame<krl::Message>>(&bytes)
    };
    assert_eq!(changed(1, b'x'), Err(WireError::Foreign));
    assert_eq!(changed(2, 9), Err(WireError::Version(9)));
    assert_eq!(changed(3, 2), Err(WireError::Kind(2)));
    assert_eq!(changed(4, 77), Err(WireError::Malformed("the payload")));
    assert_eq!(decode::<Frame<()>>(b"dl\x03"), Err(WireError::Foreign));
}

#[test]
fn no_bytes_do_harm() {
    let rng = &mut Rng::new(2);
    let mut understood = 0;
    for _ in 0..20_000 {
        // Alternately noise behind a good head, and something good with a few bytes changed.
        let mut bytes = if rng.percent(50) {
            let noise = (0..rng.below(60)).map(|_| rng.draw().to_le_bytes()[0]);
            b"dl\x03\x01".iter().copied().chain(noise).collect()
        } else {
            let kind = rng.below(FRAMES);
            encode(&frame(rng, kind))
        };
        for _ in 0..rng.below(4) {
            let place = rng.index(bytes.len());
            bytes[place] = rng.draw().to_le_bytes()[0];
        }
        if let Ok(frame) = decode::<Frame<krl::Message>>(&bytes) {
            understood += 1;
            assert_eq!(decode(&encode(&frame)).as_ref(), Ok(&frame));
        }
        let _ = decode::<Segment<krl::Message>>(&bytes);
        let port = if rng.percent(90) { wire::AODV_PORT } else { wire::PORT };
        let payload = bytes.get(rng.index(5)..).unwrap_or_default().to_vec();
        let _ = aodv::packet::<u64, u8>(&Datagram { payload, port, ..arrived() }, |_| Ok(0));
    }
    assert!(understood > 1_000, "{understood}");
}

#[test]
fn a_list_that_claims_to_be_huge_takes_no_memory() {
    // A hello whose list has u64::MAX entries, of which none is there.
    let bytes = [b"dl\x03\x01\x00\x01\x01\x01\x01\x01".as_slice(), &[0xff; 9], &[0x01]].concat();
    assert_eq!(decode::<Frame<()>>(&bytes), Err(WireError::Malformed("the payload")));
}

#[test]
fn a_node_has_an_address_and_an_address_has_a_node() {
    assert_eq!(wire::address(NodeId(7)), Ok(Ipv4Addr::new(10, 0, 0, 7)));
    assert_eq!(wire::address(NodeId(0x01_02_03)), Ok(Ipv4Addr::new(10, 1, 2, 3)));
    assert_eq!(wire::node(Ipv4Addr::new(10, 1, 2, 3)), Ok(NodeId(0x01_02_03)));
    assert_eq!(wire::address(NodeId(wire::NODES_MAX)), Err(WireError::NoAddress(NodeId(wire::NODES_MAX))));
    assert!(wire::address(NodeId(wire::NODES_MAX - 1)).is_ok());
    assert_eq!(wire::node(Ipv4Addr::LOCALHOST), Err(WireError::Address(Ipv4Addr::LOCALHOST)));
}

type Routed = Packet<u64, Segment<krl::Message>>;

fn arrived() -> Datagram {
    let (source, destination) = (Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2));
    Datagram { source, destination, ttl: 1, port: wire::AODV_PORT, payload: Vec::new() }
}

fn routed(rng: &mut Rng, kind: u64) -> (Option<NodeId>, Routed) {
    let advert = |rng: &mut Rng, owner| maybe(rng, |rng| Advert { owner, version: rng.draw(), content: rng.draw() });
    let lifetime = Span::from_millis(number(rng).into());
    let hops = u8::try_from(rng.below(256)).unwrap();
    let (originator, destination, seq) = (node(rng), node(rng), Seq(number(rng)));
    let life = maybe(rng, number).unwrap_or_default();
    let neighbour = Some(NodeId(2));
    match kind {
        0 => {
            let request = Request {
                life,
                id: number(rng),
                ttl: hops,
                hops: 3,
                gratuitous: rng.percent(50),
                destination_only: rng.percent(50),
                destination,
                destination_seq: maybe(rng, |_| seq),
                originator,
                originator_seq: Seq(number(rng)),
                advert: advert(rng, originator),
            };
            (None, Packet::Request(request))
        }
        1 => {
            let (acknowledge, advert) = (rng.percent(50), advert(rng, destination));
            (
                neighbour,
                Packet::Reply(Reply { life, hops, acknowledge, destination, seq, originator, lifetime, advert }),
            )
        }
        2 => (None, Packet::Hello(Greeting { seq, lifetime, advert: advert(rng, NodeId(1)) })),
        3 => {
            let unreachable = |_| Unreachable { destination: node(rng), seq: maybe(rng, |rng| Seq(number(rng))) };
            (None, Packet::Error((0..u64::from(hops)).map(unreachable).collect()))
        }
        4 => (neighbour, Packet::Acknowledgement),
        _ => {
            let kind = rng.below(SEGMENTS);
            let content = segment(rng, kind);
            (neighbour, Packet::Data(Data { life, ttl: hops, originator, destination, content }))
        }
    }
}

#[test]
fn routing_packets_come_out_again_and_are_as_long_as_they_say() {
    const IP_HEADER: usize = 20;
    let rng = &mut Rng::new(3);
    for round in 0..600 {
        let (to, packet) = routed(rng, round % 6);
        let datagram = aodv::datagram(NodeId(1), to, &packet, encode).unwrap();
        assert_eq!(aodv::packet(&datagram, decode).as_ref(), Ok(&packet));
        let header = if matches!(packet, Packet::Data(_)) { IP_HEADER } else { 0 };
        assert_eq!(header + datagram.payload.len(), packet.len(aodv::advert_len, encoded_len), "{packet:?}");
        for end in 0..datagram.payload.len() {
            let cut = Datagram { payload: datagram.payload[..end].to_vec(), ..datagram.clone() };
            let taken = aodv::packet::<u64, Segment<krl::Message>>(&cut, decode);
            // Without its extensions a packet is still one.
            assert!(taken.as_ref() != Ok(&packet), "{end}: {packet:?}");
        }
    }
}

/// Figures of RFC 3561, section 5.
#[test]
fn every_bit_is_where_the_rfc_has_it() {
    let bytes = |to, packet: &Packet<u8, ()>| aodv::datagram(NodeId(1), to, packet, |()| Vec::new()).unwrap();
    let request = Packet::Request(Request {
        life: 0,
        id: 0x0102_0304,
        ttl: 5,
        hops: 2,
        gratuitous: true,
        destination_only: false,
        destination: NodeId(9),
        destination_seq: None,
        originator: NodeId(0x1_0001),
        originator_seq: Seq(0xAABB_CCDD),
        advert: Some(Advert { owner: NodeId(0x1_0001), version: 6, content: 0x55 }),
    });
    let datagram = bytes(None, &request);
    assert_eq!((datagram.ttl, datagram.port, datagram.destination), (5, 654, Ipv4Addr::BROADCAST));
    let (fixed, extension) = datagram.payload.split_at(24);
    let expected = [1, 0x28, 0, 2, 1, 2, 3, 4, 10, 0, 0, 9, 0, 0, 0, 0, 10, 1, 0, 1, 0xAA, 0xBB, 0xCC, 0xDD];
    assert_eq!(fixed, expected);
    assert_eq!(extension, [100, 9, 0, 0, 0, 0, 0, 0, 0, 6, 0x55]);

    // 3.0009 s are 3,000 ms: rounded down.
    let lifetime = Span(3_000_900_000);
    let (destination, seq, originator) = (NodeId(9), Seq(7), NodeId(1));
    let reply = Reply { life: 0, hops: 4, acknowledge: true, destination, seq, originator, lifetime, advert: None };
    let fixed = [2, 0x40, 0, 4, 10, 0, 0, 9, 0, 0, 0, 7, 10, 0, 0, 1, 0, 0, 0x0B, 0xB8];
    assert_eq!(bytes(Some(NodeId(3)), &Packet::Reply(reply.clone())).payload, fixed);
    let later = bytes(Some(NodeId(3)), &Packet::Reply(Reply { life: 0x0102_0304, ..reply }));
    assert_eq!(later.payload, [&fixed[..], &[201, 4, 1, 2, 3, 4]].concat());

    let hello = bytes(None, &Packet::Hello(Greeting { seq, lifetime, advert: None }));
    assert_eq!((hello.ttl, hello.destination), (1, Ipv4Addr::BROADCAST));
    assert_eq!(hello.payload, [2, 0, 0, 0, 10, 0, 0, 1, 0, 0, 0, 7, 10, 0, 0, 1, 0, 0, 0x0B, 0xB8]);

    let lost = |destination, seq| Unreachable { destination: NodeId(destination), seq };
    let error = Packet::Error(Box::new([lost(9, Some(Seq(8))), lost(4, None)]));
    let expected = [3, 0, 0, 2, 10, 0, 0, 9, 0, 0, 0, 8, 10, 0, 0, 4, 0, 0, 0, 0, 200, 1, 2];
    assert_eq!(bytes(None, &error).payload, expected);
    assert_eq!(bytes(Some(NodeId(3)), &Packet::Acknowledgement).payload, [4, 0]);

    let data = Data { life: 0, ttl: 12, originator: NodeId(5), destination: NodeId(6), content: () };
    let later = bytes(Some(NodeId(3)), &Packet::Data(Data { life: 0x0102_0304, ..data.clone() }));
    assert_eq!(later.payload, [b'd', b'l', wire::VERSION, 0, 1, 2, 3, 4]);
    let data = bytes(Some(NodeId(3)), &Packet::Data(data));
    let ends = (Ipv4Addr::new(10, 0, 0, 5), Ipv4Addr::new(10, 0, 0, 6));
    assert_eq!(((data.source, data.destination), data.ttl, data.port), (ends, 12, wire::PORT));
}

#[test]
fn extensions_that_may_be_skipped_are_and_others_are_not() {
    let (destination, seq, originator) = (NodeId(9), Seq(7), NodeId(1));
    let reply =
        Reply { life: 0, hops: 4, acknowledge: false, destination, seq, originator, lifetime: Span(0), advert: None };
    let packet = Packet::<u8, ()>::Reply(reply);
    let datagram = aodv::datagram(NodeId(1), Some(NodeId(2)), &packet, |()| Vec::new()).unwrap();
    let with = |extension: &[u8]| {
        let payload = [datagram.payload.as_slice(), extension].concat();
        aodv::packet::<u8, ()>(&Datagram { payload, ..datagram.clone() }, |_| Ok(()))
    };
    // A hello interval, which RFC 3561 has and we do not.
    assert_eq!(with(&[1, 4, 0, 0, 3, 0xE8]), Ok(packet));
    assert_eq!(with(&[150, 0]), Err(WireError::Kind(150)));
    assert_eq!(with(&[1, 4, 0]), Err(WireError::Malformed("a routing packet")));
    assert_eq!(with(&[201, 2, 0, 1]), Err(WireError::Malformed("a routing packet")));
    assert_eq!(with(&[100, 8, 0, 0, 0, 0, 0, 0, 0, 0]), Err(WireError::Malformed("an advert")));
}

#[test]
fn what_does_not_fit_is_refused() {
    let say = |packet: &Packet<Vec<u8>, ()>| aodv::datagram(NodeId(1), None, packet, |()| Vec::new());
    let unreachable = vec![Unreachable { destination: NodeId(2), seq: None }; 256];
    let too_long = |what, length| Err(WireError::TooLong { what, length, most: 255 });
    assert_eq!(say(&Packet::Error(unreachable.into())), too_long("unreachable destinations", 256));
    let advert = Advert { owner: NodeId(1), version: 0, content: vec![0; 246] };
    let hello = Packet::Hello(Greeting { seq: Seq(0), lifetime: Span(0), advert: Some(advert) });
    assert_eq!(say(&hello), too_long("bytes of an advert", 8 + 2 + 246));
}

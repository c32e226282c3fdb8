//! A small network with everything on the air that there is, and its capture read back.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::{fs, io};

use driftlock_field::capture::Capture;
use driftlock_field::medium::Medium;
use driftlock_field::mobility::{Area, Model, Movement};
use driftlock_field::plane::Point;
use driftlock_field::radio::{Effect, Event, Settings};
use driftlock_net::aodv::{self, Packet, Router};
use driftlock_net::link::{self, Frame, Link};
use driftlock_net::session::{Segment, Session};
use driftlock_net::wire::{self, Datagram};
use driftlock_net::{Boot, Time, wire::decode};
use driftlock_protocol::NodeId;
use pcap_file::DataLink;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::InterfaceDescriptionOption;
use pcap_file::pcapng::{Block, PcapNgReader};

/// What a radio carries here.
#[derive(Clone, PartialEq, Debug)]
enum Said {
    Link(Frame<u64>),
    Route(Packet<u64, Segment<u64>>),
}

impl Said {
    fn datagram(&self, from: NodeId, to: Option<NodeId>) -> Datagram {
        match self {
            Self::Link(frame) => Datagram::to_neighbour(from, to, frame),
            Self::Route(packet) => wire::aodv::datagram(from, to, packet, wire::encode),
        }
        .unwrap()
    }
}

enum Due {
    Air(Event),
    Send(NodeId, Option<NodeId>, Said),
}

struct Node {
    link: Link<u64>,
    router: Router<u64, Segment<u64>>,
}

struct World {
    medium: Medium<Said>,
    nodes: Vec<Node>,
    queue: BTreeMap<(Time, u64), Due>,
    count: u64,
    now: Time,
    capture: Capture<Vec<u8>>,
    /// What was told of: when, at which node, from which, to which, what, and whether it was sent there.
    record: Vec<(Time, NodeId, NodeId, Option<NodeId>, Datagram, bool)>,
}

const NODES: u32 = 4;

impl World {
    /// Nodes on a line, of which each reaches the next, in bad weather.
    fn new() -> Self {
        let points = (0..NODES).map(|node| Point { x: 200.0 * f64::from(node), y: 0.0 }).collect();
        let area = Area { width: 1_000.0, height: 1_000.0 };
        let movement = Movement::new(&Model::Static { points }, area, NODES, 1).unwrap();
        let mut medium = Medium::new(movement, Settings { loss: 0.2, ..Settings::default() }.rules().unwrap(), 1);
        medium.air().set_watched(true);
        let routing =
            aodv::Settings { acknowledge_replies: true, hello: aodv::Hello::Always, ..aodv::Settings::default() };
        let node = |id| {
            let mut router = Router::new(NodeId(id), routing.clone());
            router.advertise(u64::from(id) + 100);
            Node { link: Link::new(Time::ZERO, NodeId(id), Boot(1), link::Settings::default(), |_| false), router }
        };
        Self {
            medium,
            nodes: (0..NODES).map(node).collect(),
            queue: BTreeMap::new(),
            count: 0,
            now: Time::ZERO,
            capture: Capture::new(Vec::new(), NODES).unwrap(),
            record: Vec::new(),
        }
    }

    fn put(&mut self, at: Time, due: Due) {
        self.queue.insert((at, self.count), due);
        self.count += 1;
    }

    fn run_until(&mut self, end: Time) {
        loop {
            let wakes = |node: &Node| node.link.wakes().into_iter().chain(node.router.wakes()).min();
            let wake = (0..NODES).map(NodeId).filter_map(|id| Some((wakes(&self.nodes[id.index()])?, id))).min();
            let event = self.queue.first_key_value().map(|(&(at, _), _)| at);
            match (event, wake) {
                (Some(at), wake) if at <= end && wake.is_none_or(|(wakes, _)| at <= wakes) => {
                    self.now = at;
                    let due = self.queue.pop_first().unwrap().1;
                    self.carry_out(due);
                }
                (_, Some((at, id))) if at <= end => {
                    self.now = at.max(self.now);
                    let (mut linked, mut routed) = (Vec::new(), Vec::new());
                    self.nodes[id.index()].link.woken(self.now, &mut linked);
                    self.nodes[id.index()].router.woken(self.now, &mut routed);
                    self.of_link(id, linked);
                    self.of_router(id, routed);
                }
                _ => break,
            }
        }
        self.now = end;
    }

    fn carry_out(&mut self, due: Due) {
        let mut effects = Vec::new();
        match due {
            Due::Air(event) => self.medium.handle(self.now, event, &mut effects),
            Due::Send(from, to, said) => {
                let bytes = u32::try_from(28 + said.datagram(from, to).payload.len()).unwrap();
                self.medium.send(self.now, from, to, bytes, said, &mut effects);
            }
        }
        for effect in effects {
            self.of_air(effect);
        }
    }

    fn of_air(&mut self, effect: Effect<Said>) {
        let now = self.now;
        match effect {
            Effect::At(at, event) => self.put(at, Due::Air(event)),
            Effect::OnAir { from, to, frame, attempt } => {
                let datagram = frame.datagram(from, to);
                self.capture.sent(now, from, to, attempt, &datagram).unwrap();
                self.record.push((now, from, from, to, datagram, true));
            }
            Effect::Received { at, from, to, frame, .. } => {
                let datagram = frame.datagram(from, to);
                self.capture.heard(now, at, from, to, &datagram).unwrap();
                self.record.push((now, at, from, to, datagram, false));
            }
            Effect::Heard { at, from, frame: Said::Link(frame) } => {
                let mut out = Vec::new();
                self.nodes[at.index()].link.received(now, from, frame, &mut out);
                self.of_link(at, out);
            }
            Effect::Heard { at, from, frame: Said::Route(packet) } => {
                let mut out = Vec::new();
                self.nodes[at.index()].router.received(now, from, packet, &mut out);
                self.of_router(at, out);
            }
            Effect::Failed { from, to, frame: Said::Route(packet) } => {
                let mut out = Vec::new();
                self.nodes[from.index()].router.unsent(now, to, packet, &mut out);
                self.of_router(from, out);
            }
            Effect::Failed { .. } | Effect::Sent { .. } => {}
        }
    }

    fn of_link(&mut self, at: NodeId, effects: Vec<link::Effect<u64>>) {
        for effect in effects {
            if let link::Effect::Transmit { to, frame, delay } = effect {
                self.put(self.now + delay, Due::Send(at, to, Said::Link(frame)));
            }
        }
    }

    fn of_router(&mut self, at: NodeId, effects: Vec<aodv::Effect<u64, Segment<u64>>>) {
        for effect in effects {
            if let aodv::Effect::Transmit { to, packet, delay } = effect {
                self.put(self.now + delay, Due::Send(at, to, Said::Route(packet)));
            }
        }
    }

    fn send(&mut self, from: u32, to: u32, counter: u32) {
        let mut out = Vec::new();
        let segment = Segment::Open { session: Session { boot: Boot(1), counter } };
        self.nodes[from as usize].router.send(self.now, NodeId(to), segment, &mut out);
        self.of_router(NodeId(from), out);
    }
}

fn busy_world() -> World {
    let mut world = World::new();
    for second in 1..=10 {
        world.run_until(Time::from_units(f64::from(second)));
        world.send(0, 3, second);
        if second == 6 {
            // Its neighbour will notice, and report the route as broken.
            world.medium.air().set_down(world.now, NodeId(3), true);
        }
        if second == 3 {
            let mut out = Vec::new();
            world.nodes[0].link.send(world.now, NodeId(1), 77, &mut out);
            world.of_link(NodeId(0), out);
        }
    }
    world.run_until(Time::from_units(12.0));
    world
}

#[test]
fn every_transmission_and_reception_is_in_the_file_at_its_time() {
    let mut world = busy_world();
    let (now, record) = (world.now, world.record);
    let total = world.medium.air().total(now);
    let file = world.capture.finish().unwrap();
    fs::write(concat!(env!("CARGO_TARGET_TMPDIR"), "/line.pcapng"), &file).unwrap();

    let (interfaces, packets) = blocks(&file);
    let names: Vec<_> = interfaces.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["node 0", "node 1", "node 2", "node 3"]);
    assert!(interfaces.iter().all(|(_, resolution)| *resolution == Some(9)));

    assert_eq!(packets.len(), record.len());
    for (packet, (at, interface, from, to, datagram, outbound)) in packets.iter().zip(&record) {
        assert_eq!((packet.timestamp.as_nanos(), packet.interface_id), (u128::from(at.0), interface.0));
        let direction = if *outbound { 2 } else { 1 };
        let reach = if to.is_some() { 1 } else { 3 };
        assert_eq!(packet.options[0], EnhancedPacketOption::Flags(direction | reach << 2));
        assert_eq!(packet.data[..14], ethernet(*from, *to));
        assert_eq!(parse(&packet.data), *datagram);
        assert_eq!(packet.original_len as usize, packet.data.len());
    }
    let sent = record.iter().filter(|entry| entry.5).count() as u64;
    assert_eq!((sent, record.len() as u64 - sent), (total.data_sent, total.data_received));
    let comments = packets.iter().filter(|packet| packet.options.len() > 1).count() as u64;
    assert_eq!(comments, total.retries);
    assert!(total.retries > 0);
}

/// That the world above says everything there is to say, so that the capture shows it.
#[test]
fn all_kinds_of_frames_and_packets_are_seen() {
    let mut kinds = BTreeMap::<&str, u32>::new();
    for (.., datagram, _) in busy_world().record {
        let kind = match (datagram.port, datagram.payload[0]) {
            (wire::AODV_PORT, 1) => "RREQ",
            (wire::AODV_PORT, 2) if datagram.destination == Ipv4Addr::BROADCAST => "hello of AODV",
            (wire::AODV_PORT, 2) => "RREP",
            (wire::AODV_PORT, 3) => "RERR",
            (wire::AODV_PORT, 4) => "RREP-ACK",
            _ if decode::<Segment<u64>>(&datagram.payload).is_ok() => "data",
            _ => match decode::<Frame<u64>>(&datagram.payload).unwrap() {
                Frame::Hello(_) => "hello of links",
                Frame::Data { .. } => "message",
                _ => "other frames",
            },
        };
        *kinds.entry(kind).or_default() += 1;
    }
    assert_eq!(kinds.len(), 9, "{kinds:?}");
}

#[test]
fn a_caller_that_does_not_watch_is_not_told() {
    let mut world = World::new();
    world.medium.air().set_watched(false);
    world.run_until(Time::from_units(5.0));
    assert!(world.record.is_empty() && world.medium.air().total(world.now).data_received > 0);
}

#[test]
fn nodes_that_do_not_exist_and_packets_that_do_not_fit_are_errors() {
    let mut capture = Capture::new(Vec::new(), 1).unwrap();
    let of = |length| Datagram {
        source: Ipv4Addr::new(10, 0, 0, 0),
        destination: Ipv4Addr::BROADCAST,
        ttl: 1,
        port: wire::PORT,
        payload: vec![0xFF; length],
    };
    assert!(capture.sent(Time::ZERO, NodeId(0), None, 1, &of(65_507)).is_ok());
    let error = capture.sent(Time::ZERO, NodeId(0), None, 1, &of(65_508)).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    let error = capture.sent(Time::ZERO, NodeId(1), None, 1, &of(1)).unwrap_err();
    assert_eq!(error.to_string(), "there is no node 1 in this capture");
    let (_, packets) = blocks(&capture.finish().unwrap());
    assert_eq!(packets.len(), 1);
    parse(&packets[0].data);
}

type Interface = (String, Option<u8>);

fn blocks(file: &[u8]) -> (Vec<Interface>, Vec<EnhancedPacketBlock<'static>>) {
    let mut reader = PcapNgReader::new(file).unwrap();
    let (mut interfaces, mut packets) = (Vec::new(), Vec::new());
    while let Some(block) = reader.next_block() {
        match block.unwrap().into_owned() {
            Block::InterfaceDescription(interface) => {
                assert_eq!(interface.linktype, DataLink::ETHERNET);
                let mut found = (String::new(), None);
                for option in interface.options {
                    match option {
                        InterfaceDescriptionOption::IfName(name) => found.0 = name.into_owned(),
                        InterfaceDescriptionOption::IfTsResol(resolution) => found.1 = Some(resolution),
                        _ => {}
                    }
                }
                interfaces.push(found);
            }
            Block::EnhancedPacket(packet) => packets.push(packet),
            other => panic!("{other:?}"),
        }
    }
    (interfaces, packets)
}

fn ethernet(from: NodeId, to: Option<NodeId>) -> Vec<u8> {
    let mac = |node: NodeId| [&[2, 0], node.0.to_be_bytes().as_slice()].concat();
    [to.map_or(vec![0xFF; 6], mac), mac(from), vec![8, 0]].concat()
}

/// Reads the headers as a stranger would: lengths and checksums must be right.
fn parse(frame: &[u8]) -> Datagram {
    let (ip, udp) = frame[14..].split_at(20);
    let word = |bytes: &[u8], place: usize| u16::from_be_bytes([bytes[place], bytes[place + 1]]);
    let address = |place: usize| Ipv4Addr::new(ip[place], ip[place + 1], ip[place + 2], ip[place + 3]);
    assert_eq!(
        (ip[0], ip[9], usize::from(word(ip, 2)), usize::from(word(udp, 4))),
        (0x45, 17, 20 + udp.len(), udp.len())
    );
    // With the checksum in it, what is summed up gives all ones.
    let folded = |parts: &[&[u8]]| {
        let mut sum: u64 = parts
            .iter()
            .flat_map(|part| part.chunks(2))
            .map(|pair| u64::from(pair[0]) << 8 | u64::from(pair.get(1).copied().unwrap_or(0)))
            .sum();
        while sum > 0xFFFF {
            sum = (sum & 0xFFFF) + (sum >> 16);
        }
        sum
    };
    assert_eq!(folded(&[ip]), 0xFFFF);
    assert_eq!(folded(&[&ip[12..20], &[0, 17], &udp[4..6], udp]), 0xFFFF);
    assert!(word(udp, 6) != 0 && word(udp, 0) == word(udp, 2));
    let payload = udp[8..].to_vec();
    Datagram { source: address(12), destination: address(16), ttl: ip[8], port: word(udp, 0), payload }
}

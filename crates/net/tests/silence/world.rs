//! Nodes with hellos and routers over radios that do not tell what they could not send.

use std::collections::BTreeMap;

use driftlock_net::link::{self, Frame, Link};
use driftlock_net::{Boot, Span, Time, aodv};
use driftlock_protocol::NodeId;

const MS: u64 = 1_000_000;

type Router = aodv::Router<(), u64>;

pub(crate) fn id(index: usize) -> NodeId {
    NodeId(u32::try_from(index).unwrap())
}

#[derive(Clone)]
enum Packet {
    Link(Frame<()>),
    Routed(aodv::Packet<(), u64>),
}

/// What no node has to itself.
#[derive(Clone, Copy)]
pub(crate) struct Rules {
    /// Whether links tell routers who has fallen silent.
    pub(crate) told: bool,
    /// Of frames to all in reach, which no radio repeats.
    pub(crate) lost_percent: u64,
}

impl Rules {
    pub(crate) const USUAL: Self = Self { told: true, lost_percent: 0 };
}

struct Node {
    link: Link<()>,
    router: Router,
    boot: Boot,
    is_on: bool,
    /// The interval that its last hello has announced.
    announced: Span,
}

pub(crate) struct World {
    rules: Rules,
    nodes: Vec<Node>,
    hears: Box<dyn Fn(usize, usize) -> bool>,
    pub(crate) now: Time,
    air: BTreeMap<(Time, u64), (usize, usize, Packet)>,
    count: u64,
    dice: u64,
    /// What has arrived, and where.
    pub(crate) delivered: Vec<(NodeId, u64)>,
    /// When which node has given up which route.
    pub(crate) given_up: Vec<(Time, NodeId, NodeId)>,
}

impl World {
    /// So many nodes, of which those hear each other of whom this says so.
    pub(crate) fn new(nodes: usize, rules: Rules, hears: impl Fn(usize, usize) -> bool + 'static) -> Self {
        let node = |index| Node {
            link: without_links(id(index)),
            router: Router::new(id(index), aodv::Settings::default()),
            boot: Boot(0),
            is_on: true,
            announced: Span::ZERO,
        };
        Self {
            rules,
            nodes: (0..nodes).map(node).collect(),
            hears: Box::new(hears),
            now: Time::ZERO,
            air: BTreeMap::new(),
            count: 0,
            dice: 0x9e37_79b9_7f4a_7c15,
            delivered: Vec::new(),
            given_up: Vec::new(),
        }
    }

    pub(crate) fn send(&mut self, from: usize, to: usize, data: u64) {
        let mut out = Vec::new();
        self.nodes[from].router.send(self.now, id(to), data, &mut out);
        self.of_router(from, out);
    }

    /// The neighbour by which a node reaches another now.
    pub(crate) fn next_hop(&self, from: usize, to: usize) -> Option<usize> {
        self.nodes[from].router.route(self.now, id(to)).map(|route| route.next_hop.index())
    }

    /// A node falls silent for good; tells what interval it had announced.
    pub(crate) fn switch_off(&mut self, node: usize) -> Span {
        self.nodes[node].is_on = false;
        self.nodes[node].announced
    }

    /// A node is back at once with what it had stored.
    pub(crate) fn restart(&mut self, index: usize) {
        let (now, node) = (self.now, &mut self.nodes[index]);
        node.boot.0 += 1;
        let (boot, durable) = (node.boot, node.router.durable());
        let stored = node.link.durable();
        node.link = serving_nothing(Link::restore(now, id(index), boot, link::Settings::default(), |()| false, stored));
        node.router = Router::restored(id(index), aodv::Settings::default(), boot.0, durable, now);
    }

    pub(crate) fn run_for(&mut self, millis: u64) {
        let end = self.now + Span::from_millis(millis);
        while self.step(end) {}
        self.now = end;
    }

    fn step(&mut self, end: Time) -> bool {
        let wakes = |node: &Node| node.link.wakes().into_iter().chain(node.router.wakes()).min();
        let wake = (0..self.nodes.len())
            .filter(|&index| self.nodes[index].is_on)
            .filter_map(|index| Some((wakes(&self.nodes[index])?, index)))
            .min();
        let arrival = self.air.first_key_value().map(|(key, _)| key.0);
        let Some(next) = wake.map(|wake| wake.0).into_iter().chain(arrival).min().filter(|&next| next <= end) else {
            return false;
        };
        self.now = self.now.max(next);
        let (mut told, mut routed) = (Vec::new(), Vec::new());
        let at = if let Some((_, index)) = wake.filter(|wake| wake.0 == next) {
            self.nodes[index].link.woken(self.now, &mut told);
            self.nodes[index].router.woken(self.now, &mut routed);
            index
        } else {
            let (from, to, packet) = self.air.pop_first().unwrap().1;
            self.arrives(from, to, packet, &mut told, &mut routed);
            to
        };
        self.of_link(at, told);
        self.of_router(at, routed);
        true
    }

    fn arrives(
        &mut self,
        from: usize,
        to: usize,
        packet: Packet,
        told: &mut Vec<link::Effect<()>>,
        routed: &mut Vec<aodv::Effect<(), u64>>,
    ) {
        let (now, node) = (self.now, &mut self.nodes[to]);
        match packet {
            _ if !node.is_on => {}
            Packet::Link(frame) => node.link.received(now, id(from), frame, told),
            Packet::Routed(packet) => {
                node.link.heard(now, id(from), told);
                node.router.received(now, id(from), packet, routed);
            }
        }
    }

    fn of_link(&mut self, at: usize, effects: Vec<link::Effect<()>>) {
        for effect in effects {
            match effect {
                link::Effect::Transmit { to, frame, delay } => {
                    if let Frame::Hello(hello) = &frame {
                        self.nodes[at].announced = Span::from_millis(hello.interval_ms.into());
                    }
                    self.transmit(at, to, &Packet::Link(frame), delay);
                }
                link::Effect::Heard { peer, boot } => {
                    let mut out = Vec::new();
                    self.nodes[at].router.lives(self.now, peer, boot.0, &mut out);
                    self.of_router(at, out);
                }
                link::Effect::Silent { peer } if self.rules.told => {
                    let mut out = Vec::new();
                    self.nodes[at].router.link_lost(self.now, peer, &mut out);
                    self.of_router(at, out);
                }
                _ => {}
            }
        }
    }

    fn of_router(&mut self, at: usize, effects: Vec<aodv::Effect<(), u64>>) {
        for effect in effects {
            match effect {
                aodv::Effect::Transmit { to, packet, delay } => self.transmit(at, to, &Packet::Routed(packet), delay),
                aodv::Effect::Deliver { data, .. } => self.delivered.push((id(at), data)),
                aodv::Effect::RouteDown { destination, cause: aodv::Cause::Broken } => {
                    self.given_up.push((self.now, id(at), destination));
                }
                _ => {}
            }
        }
    }

    fn transmit(&mut self, from: usize, to: Option<NodeId>, packet: &Packet, delay: Span) {
        for receiver in (0..self.nodes.len()).filter(|&it| it != from && to.is_none_or(|to| to == id(it))) {
            let is_lost = to.is_none() && self.below(100) < self.rules.lost_percent;
            if (self.hears)(from, receiver) && !is_lost {
                self.count += 1;
                let at = self.now + delay + Span(MS + self.below(2 * MS));
                self.air.insert((at, self.count), (from, receiver, packet.clone()));
            }
        }
    }

    fn below(&mut self, end: u64) -> u64 {
        self.dice ^= self.dice << 13;
        self.dice ^= self.dice >> 7;
        self.dice ^= self.dice << 17;
        self.dice % end
    }
}

/// A node on which nothing stands on links.
fn without_links(me: NodeId) -> Link<()> {
    serving_nothing(Link::new(Time::ZERO, me, Boot(0), link::Settings::default(), |()| false))
}

fn serving_nothing(mut link: Link<()>) -> Link<()> {
    link.serve(Time::ZERO, Vec::new(), &mut Vec::new());
    link
}

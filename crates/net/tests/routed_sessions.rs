//! Sessions over AODV over links that come and go: how the layers are put together, and that together they keep their
//! word.

use std::collections::BTreeMap;

use driftlock_net::session::{self, Segment, Sessions};
use driftlock_net::suspicion::{self, Evidence, Standing, Suspicions};
use driftlock_net::{Boot, Span, Time, Transfer, aodv};
use driftlock_protocol::NodeId;

type Router = aodv::Router<(), Segment<u64>>;
type Packet = aodv::Packet<(), Segment<u64>>;

const NODES: u32 = 8;

fn millis(count: u64) -> Span {
    Span::from_millis(count)
}

struct Node {
    router: Router,
    sessions: Sessions<u64>,
    suspicions: Suspicions,
}

enum Event {
    Arrives(NodeId, NodeId, Packet),
    Unsent(NodeId, NodeId, Packet),
}

struct World {
    nodes: Vec<Node>,
    links: Vec<bool>,
    now: Time,
    events: BTreeMap<(Time, u64), Event>,
    count: u64,
    dice: u64,
    delivered: Vec<(NodeId, NodeId, u64)>,
    outcomes: BTreeMap<(NodeId, Transfer), &'static str>,
}

impl World {
    fn new(seed: u64) -> Self {
        let node = |id| Node {
            router: Router::new(NodeId(id), aodv::Settings::default()),
            sessions: Sessions::new(NodeId(id), Boot(0), session::Settings::default()),
            suspicions: Suspicions::new(suspicion::Settings::default()),
        };
        Self {
            nodes: (0..NODES).map(node).collect(),
            links: vec![true; (NODES * NODES) as usize],
            now: Time::ZERO,
            events: BTreeMap::new(),
            count: 0,
            dice: seed | 1,
            delivered: Vec::new(),
            outcomes: BTreeMap::new(),
        }
    }

    fn below(&mut self, end: u64) -> u64 {
        self.dice ^= self.dice << 13;
        self.dice ^= self.dice >> 7;
        self.dice ^= self.dice << 17;
        self.dice % end
    }

    fn link(&mut self, a: NodeId, b: NodeId) -> &mut bool {
        &mut self.links[a.min(b).index() * NODES as usize + a.max(b).index()]
    }

    /// A line along which every link is up, and others by chance.
    fn shuffle(&mut self, connected: bool) {
        for a in 0..NODES {
            for b in a + 1..NODES {
                let up = (connected && b == a + 1) || self.below(4) == 0;
                *self.link(NodeId(a), NodeId(b)) = up;
            }
        }
    }

    fn send(&mut self, from: NodeId, to: NodeId, message: u64, keep: bool) -> Transfer {
        let mut out = Vec::new();
        let transfer = self.nodes[from.index()].sessions.send(self.now, to, message, keep, &mut out);
        self.of_sessions(from, out);
        transfer
    }

    fn step(&mut self, until: Time) -> bool {
        let wakes = |node: &Node| node.router.wakes().into_iter().chain(node.sessions.wakes()).min();
        let wake = (0..NODES).filter_map(|id| Some((wakes(&self.nodes[id as usize])?, id))).min();
        let arrival = self.events.first_key_value().map(|(key, _)| key.0);
        let next = wake.map(|it| it.0).into_iter().chain(arrival).min().filter(|&next| next <= until);
        self.now = next.unwrap_or(until).max(self.now);
        let (mut routed, mut told) = (Vec::new(), Vec::new());
        let at = match wake.filter(|it| Some(it.0) == next) {
            _ if next.is_none() => return false,
            Some((_, id)) => {
                let node = &mut self.nodes[id as usize];
                node.router.woken(self.now, &mut routed);
                node.sessions.woken(self.now, &mut told);
                NodeId(id)
            }
            None => match self.events.pop_first().unwrap().1 {
                Event::Arrives(from, to, packet) => {
                    let node = &mut self.nodes[to.index()];
                    node.suspicions.heard(from, &mut Vec::new());
                    node.router.received(self.now, from, packet, &mut routed);
                    to
                }
                Event::Unsent(from, to, packet) => {
                    self.nodes[from.index()].router.unsent(self.now, to, packet, &mut routed);
                    from
                }
            },
        };
        self.of_router(at, routed);
        self.of_sessions(at, told);
        true
    }

    fn run_for(&mut self, span: Span) {
        let until = self.now + span;
        while self.step(until) {}
    }

    fn of_router(&mut self, at: NodeId, effects: Vec<aodv::Effect<(), Segment<u64>>>) {
        for effect in effects {
            let mut out = Vec::new();
            let node = &mut self.nodes[at.index()];
            match effect {
                aodv::Effect::Transmit { to, packet, delay } => self.transmit(at, to, &packet, delay),
                aodv::Effect::Deliver { from, data } => {
                    node.suspicions.heard(from, &mut Vec::new());
                    node.sessions.received(self.now, from, data, &mut out);
                }
                aodv::Effect::Undelivered { to, .. } => {
                    node.suspicions.evidence(self.now, to, Evidence::NoRoute, &mut Vec::new());
                    node.sessions.unreachable(self.now, to, &mut out);
                }
                aodv::Effect::LinkLost { neighbour } => {
                    node.suspicions.evidence(self.now, neighbour, Evidence::LinkLost, &mut Vec::new());
                }
                aodv::Effect::RouteUp { .. } | aodv::Effect::RouteDown { .. } | aodv::Effect::Advert(_) => {}
            }
            self.of_sessions(at, out);
        }
    }

    fn of_sessions(&mut self, at: NodeId, effects: Vec<session::Effect<u64>>) {
        for effect in effects {
            match effect {
                session::Effect::Transmit { to, segment } => {
                    let mut out = Vec::new();
                    self.nodes[at.index()].router.send(self.now, to, segment, &mut out);
                    self.of_router(at, out);
                }
                session::Effect::Deliver { from, message } => self.delivered.push((from, at, message)),
                session::Effect::Delivered { transfer, .. } => self.settle(at, transfer, "delivered"),
                session::Effect::Undelivered { transfer, .. } => self.settle(at, transfer, "undelivered"),
                session::Effect::Doubt { transfer, .. } => self.settle(at, transfer, "doubt"),
                session::Effect::Silent { peer } => {
                    let node = &mut self.nodes[at.index()];
                    node.suspicions.evidence(self.now, peer, Evidence::Unanswered, &mut Vec::new());
                }
            }
        }
    }

    fn settle(&mut self, at: NodeId, transfer: Transfer, outcome: &'static str) {
        assert_eq!(self.outcomes.insert((at, transfer), outcome), None, "two outcomes");
    }

    fn transmit(&mut self, from: NodeId, to: Option<NodeId>, packet: &Packet, delay: Span) {
        let receivers: Vec<_> = to.map_or_else(|| (0..NODES).map(NodeId).collect(), |to| vec![to]);
        for receiver in receivers.into_iter().filter(|&receiver| receiver != from) {
            let arrives = *self.link(from, receiver) && self.below(20) > 0;
            let at = self.now + delay + Span(1_000_000 + self.below(10_000_000));
            self.count += 1;
            if arrives {
                self.events.insert((at, self.count), Event::Arrives(from, receiver, packet.clone()));
            } else if to.is_some() {
                self.events.insert((at, self.count), Event::Unsent(from, receiver, packet.clone()));
            }
        }
    }
}

#[test]
fn messages_over_routes_that_break_arrive_once_and_in_order_and_kept_ones_always() {
    let (mut kept_sent, mut settled) = (0, 0);
    for seed in 1..=20 {
        let mut world = World::new(seed * 7_919);
        let mut kept = Vec::new();
        for message in 0..60 {
            let connected = world.below(3) > 0;
            world.shuffle(connected);
            let span = millis(world.below(3_000));
            world.run_for(span);
            let (from, to) = (world.below(u64::from(NODES)), world.below(u64::from(NODES)));
            let (from, to) = (NodeId(u32::try_from(from).unwrap()), NodeId(u32::try_from(to).unwrap()));
            let keep = message % 2 == 0;
            world.send(from, to, message, keep);
            kept.extend(keep.then_some((from, to, message)));
        }
        world.shuffle(true);
        world.run_for(millis(200_000));
        let mut last = BTreeMap::new();
        for &(from, to, message) in &world.delivered {
            let former = last.insert((from, to), message);
            assert!(former.is_none_or(|former| former < message), "seed {seed}: {message} is doubled or out of order");
        }
        for sent in &kept {
            assert!(world.delivered.contains(sent), "seed {seed}: {sent:?} is lost");
        }
        assert_eq!(world.outcomes.len(), 60, "seed {seed}");
        (kept_sent, settled) = (kept_sent + kept.len(), settled + world.outcomes.len());
    }
    assert_eq!((kept_sent, settled), (600, 1_200));
}

#[test]
fn who_is_cut_off_is_suspected_until_it_is_heard_again() {
    let mut world = World::new(3);
    let (here, there) = (NodeId(0), NodeId(5));
    world.links.fill(false);
    world.send(here, there, 1, true);
    world.run_for(millis(20_000));
    assert!(matches!(world.nodes[0].suspicions.standing(there), Standing::Suspected { .. }));
    world.links.fill(true);
    world.run_for(millis(60_000));
    assert_eq!(world.nodes[0].suspicions.standing(there), Standing::Trusted);
    assert_eq!(world.delivered, [(here, there, 1)]);
}

//! Requests and replies over routes on a moving field, with no algorithm on top: what radio and routing are worth by themselves.
//!
//! ```text
//! application   a request to somebody now and then, a reply to each
//! router        AODV
//! medium        a plane and the radios on it
//! ```
//!
//! - [`Config`]: what is simulated; [`Config::plan`] refuses nonsense.
//! - [`run`]: from the start to the end.
//! - [`Report`]: what came of it.

mod config;
mod queue;
mod report;
#[cfg(test)]
mod tests;

use std::hint;
use std::mem;
use std::rc::Rc;
use std::sync::Arc;

use driftlock_field::medium::Medium;
use driftlock_field::radio;
use driftlock_net::{Time, aodv};
use driftlock_protocol::NodeId;
use rand::RngExt;

pub use config::{Config, ConfigError, Plan};
use queue::{Event, Queue};
pub use report::{Packets, Report, Times};

use crate::random::{Stream, Subject, exponential, stream};

type Packet = aodv::Packet<(), Letter>;
type Router = aodv::Router<(), Letter>;

/// The headers of IP and UDP.
const IP_BYTES: u32 = 20;
const UDP_BYTES: u32 = 8;

/// For how many others a router has room from the start.
const ROOM: u32 = 96;

/// What applications send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Letter {
    /// The request of an exchange, by its number.
    Request(u32),
    /// And its reply.
    Reply(u32),
}

/// A request and what became of it.
#[derive(Clone, Copy, Debug)]
struct Exchange {
    sent: Time,
    has_arrived: bool,
    answered: Option<Time>,
}

impl Exchange {
    fn round_trip(&self) -> Option<Time> {
        self.answered.map(|answered| answered - self.sent)
    }
}

/// A node's router, and the one event that will wake it; others are stale.
struct Node {
    router: Router,
    wakes: Time,
}

/// The field, the traffic on it and time.
struct World<'a> {
    plan: &'a Plan,
    now: Time,
    queue: Queue,
    medium: Medium<Rc<Packet>>,
    nodes: Vec<Node>,
    workload: Stream,
    exchanges: Vec<Exchange>,
    packets: Packets,
    nobody_near: u64,
    /// Effects that have not been carried out, and buffers that are used again.
    of_radio: Vec<radio::Effect<Rc<Packet>>>,
    of_router: Vec<aodv::Effect<(), Letter>>,
    answers: Vec<(NodeId, u32)>,
    nearby: Vec<(NodeId, f64)>,
}

/// Runs it from the start to the end. The same plan gives the same report.
pub fn run(plan: &Plan) -> Report {
    let mut world = World::new(plan);
    let mut events = 0;
    while let Some((at, event)) = world.queue.pop(plan.end) {
        world.now = at;
        world.handle(event);
        events += 1;
    }
    let air = world.medium.air();
    let radio = (air.total(plan.end), air.joules(plan.end));
    Report::new(&world.exchanges, world.packets, world.nobody_near, events, radio)
}

impl<'a> World<'a> {
    fn new(plan: &'a Plan) -> Self {
        let config = &plan.config;
        // Nobody listens when routes expire.
        let routing = Arc::new(aodv::Settings { sweep_interval: Time::END, ..config.routing.clone() });
        let room = plan.config.nodes.min(ROOM) as usize;
        let node =
            |id| Node { router: Router::new(NodeId(id), Arc::clone(&routing)).with_room(room), wakes: Time::END };
        let mut world = Self {
            plan,
            now: Time::ZERO,
            queue: Queue::default(),
            medium: Medium::new(plan.movement(), plan.rules.clone(), config.seed),
            nodes: (0..config.nodes).map(node).collect(),
            workload: stream(config.seed, 0, Subject::Workload),
            exchanges: Vec::new(),
            packets: Packets::default(),
            nobody_near: 0,
            of_radio: Vec::new(),
            of_router: Vec::new(),
            answers: Vec::new(),
            nearby: Vec::new(),
        };
        for id in (0..config.nodes).map(NodeId) {
            world.expect_wake(id);
            world.expect_request(id);
        }
        world
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Radio(event) => self.medium.handle(self.now, event, &mut self.of_radio),
            Event::Wake(node) => self.wake(node),
            Event::Transmit { from, to, packet } => self.transmit(from, to, packet),
            Event::Ask(node) => {
                self.expect_request(node);
                self.ask(node);
            }
        }
        while !self.of_radio.is_empty() {
            self.carry_out_radio();
        }
    }

    fn expect_request(&mut self, node: NodeId) {
        let at = self.now + Time::from_units(exponential(self.plan.config.period, &mut self.workload));
        if at < self.plan.until {
            self.queue.schedule(at, Event::Ask(node));
        }
    }

    fn ask(&mut self, node: NodeId) {
        // Drawn whether or not there is anybody, so that the requests of others do not depend on it.
        let luck = self.workload.random::<f64>();
        let Some(to) = self.destination(node, luck) else {
            self.nobody_near += 1;
            return;
        };
        let number = u32::try_from(self.exchanges.len()).expect("memory ends before the numbers do");
        self.exchanges.push(Exchange { sent: self.now, has_arrived: false, answered: None });
        self.send(node, to, Letter::Request(number));
    }

    /// Anybody else, or anybody else who is near enough.
    fn destination(&mut self, from: NodeId, luck: f64) -> Option<NodeId> {
        let Some(within) = self.plan.config.within else {
            let other = pick(self.nodes.len() - 1, luck)?;
            let id = u32::try_from(other).ok().map(NodeId)?;
            return Some(if id < from { id } else { NodeId(id.0 + 1) });
        };
        self.medium.within(self.now, from, within, &mut self.nearby);
        pick(self.nearby.len(), luck).map(|place| self.nearby[place].0)
    }

    fn send(&mut self, from: NodeId, to: NodeId, letter: Letter) {
        self.nodes[from.index()].router.send(self.now, to, letter, &mut self.of_router);
        self.carry_out_router(from);
    }

    fn wake(&mut self, id: NodeId) {
        let node = &mut self.nodes[id.index()];
        if node.wakes != self.now {
            return;
        }
        node.wakes = Time::END;
        if node.router.wakes().is_some_and(|due| due <= self.now) {
            node.router.woken(self.now, &mut self.of_router);
            self.carry_out_router(id);
        } else {
            self.expect_wake(id);
        }
    }

    /// Sees to it that a router is woken in time. If it wants to sleep longer than it did, it is found out then.
    fn expect_wake(&mut self, id: NodeId) {
        let node = &mut self.nodes[id.index()];
        if let Some(at) = node.router.wakes().map(|at| at.max(self.now)).filter(|at| *at < node.wakes) {
            node.wakes = at;
            self.queue.schedule(at, Event::Wake(id));
        }
    }

    fn carry_out_radio(&mut self) {
        let mut effects = mem::take(&mut self.of_radio);
        self.look_ahead(&effects);
        for effect in effects.drain(..) {
            match effect {
                radio::Effect::At(at, event) => self.queue.schedule(at, Event::Radio(event)),
                radio::Effect::Heard { at, from, frame } => {
                    let packet = Rc::unwrap_or_clone(frame);
                    self.nodes[at.index()].router.received(self.now, from, packet, &mut self.of_router);
                    self.carry_out_router(at);
                }
                radio::Effect::Failed { from, to, frame } => {
                    let packet = Rc::unwrap_or_clone(frame);
                    self.nodes[from.index()].router.unsent(self.now, to, packet, &mut self.of_router);
                    self.carry_out_router(from);
                }
                radio::Effect::Sent { .. } | radio::Effect::OnAir { .. } | radio::Effect::Received { .. } => {}
            }
        }
        if self.of_radio.is_empty() {
            self.of_radio = effects;
        }
    }

    /// Reads what the routers are going to need for what they have heard. Among thousands of nodes it is in main memory; in a short
    /// loop of its own the processor fetches it for all of them at once, and below it would wait for each.
    fn look_ahead(&self, effects: &[radio::Effect<Rc<Packet>>]) {
        let heard = effects.iter().filter_map(|effect| match effect {
            radio::Effect::Heard { at, from, frame } => Some(self.nodes[at.index()].router.look_ahead(*from, frame)),
            _ => None,
        });
        hint::black_box(heard.sum::<usize>());
    }

    fn carry_out_router(&mut self, at: NodeId) {
        let mut effects = mem::take(&mut self.of_router);
        for effect in effects.drain(..) {
            match effect {
                aodv::Effect::Transmit { to, packet, delay } => self.put_off(at, to, packet, delay),
                aodv::Effect::Deliver { from, data } => self.deliver(from, data),
                aodv::Effect::Undelivered { .. }
                | aodv::Effect::RouteUp { .. }
                | aodv::Effect::RouteDown { .. }
                | aodv::Effect::LinkLost { .. }
                | aodv::Effect::Advert(_) => {}
            }
        }
        self.of_router = effects;
        while let Some((to, number)) = self.answers.pop() {
            self.send(at, to, Letter::Reply(number));
        }
        self.expect_wake(at);
    }

    /// What arrives twice counts once.
    fn deliver(&mut self, from: NodeId, letter: Letter) {
        match letter {
            Letter::Request(number) => {
                let exchange = &mut self.exchanges[number as usize];
                if !mem::replace(&mut exchange.has_arrived, true) {
                    self.answers.push((from, number));
                }
            }
            Letter::Reply(number) => {
                self.exchanges[number as usize].answered.get_or_insert(self.now);
            }
        }
    }

    fn put_off(&mut self, from: NodeId, to: Option<NodeId>, packet: Packet, delay: Time) {
        self.packets.count(&packet);
        let packet = Rc::new(packet);
        if delay == Time::ZERO {
            self.transmit(from, to, packet);
        } else {
            self.queue.schedule(self.now + delay, Event::Transmit { from, to, packet });
        }
    }

    fn transmit(&mut self, from: NodeId, to: Option<NodeId>, packet: Rc<Packet>) {
        let bytes = length(&packet, self.plan.config.bytes);
        self.medium.send(self.now, from, to, bytes, packet, &mut self.of_radio);
    }
}

/// The length of a packet with the headers of IP and UDP.
fn length(packet: &Packet, bytes: u32) -> u32 {
    let data = |_: &Letter| (UDP_BYTES + bytes) as usize;
    let length = u32::try_from(packet.len(|()| 0, data)).unwrap_or(u32::MAX);
    // The routers' own count has the IP header of data, and none of control messages.
    if matches!(packet, aodv::Packet::Data(_)) { length } else { length.saturating_add(IP_BYTES + UDP_BYTES) }
}

/// One of so many, by a number from 0 to less than 1.
fn pick(count: usize, luck: f64) -> Option<usize> {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // less than the count
    let place = (luck * count as f64) as usize;
    (count > 0).then(|| place.min(count - 1))
}

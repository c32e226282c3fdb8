//! Requests and replies over routes on a moving field, with no algorithm on top: what radio and routing are worth by
//! themselves.
//!
//! ```text
//! application   a request to another now and then, a reply to each
//! router        AODV
//! medium        a plane and the radios on it, and what goes wrong there
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
mod trouble;

use std::hint;
use std::io::{self, Write};
use std::mem;
use std::rc::Rc;
use std::sync::Arc;

use driftlock_field::faults::Faults;
use driftlock_field::medium::Medium;
use driftlock_field::radio;
use driftlock_net::wire::{self, Datagram, WireError};
use driftlock_net::{Span, Time, aodv};
use driftlock_protocol::NodeId;
use rand::RngExt;
use serde::Serialize;

pub use config::{Config, ConfigError, Plan};
use queue::{Event, Queue};
use report::Unsent;
pub use report::{Packets, Report, Times};
use trouble::{Condition, Deferred};

use crate::capturing::Capturing;
use crate::field::FieldError;
use crate::random::{Streams, Subject, exponential};

type Packet = aodv::Packet<(), Letter>;
type Router = aodv::Router<(), Letter>;

/// The headers of IP and UDP.
const IP_BYTES: u32 = 20;
const UDP_BYTES: u32 = 8;

/// For how many others a router has room from the start.
const ROOM: u32 = 96;

/// What applications send.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
enum Letter {
    /// The request of an exchange, by its number.
    Request(u32),
    /// And its reply.
    Reply(u32),
}

impl wire::Payload for Letter {
    const KIND: u8 = 4;
}

/// A request and what became of it.
#[derive(Clone, Copy, Debug)]
struct Exchange {
    sent: Time,
    has_arrived: bool,
    answered: Option<Time>,
}

impl Exchange {
    fn round_trip(&self) -> Option<Span> {
        self.answered.map(|answered| answered - self.sent)
    }
}

/// A node's router, and the one event that will wake it; others are stale.
struct Node {
    router: Router,
    wakes: Time,
    condition: Condition,
    /// How often it was switched on again.
    boot: u32,
    /// How many requests its application has planned so far.
    asks: u32,
}

/// The field, the traffic on it and time.
struct World<'a> {
    plan: &'a Plan,
    hours: Hours,
    now: Time,
    queue: Queue,
    medium: Medium<Rc<Packet>>,
    nodes: Vec<Node>,
    routing: Arc<aodv::Settings>,
    faults: Faults,
    /// What paused nodes should have done.
    deferred: Vec<(NodeId, Deferred)>,
    capturing: Capturing,
    /// When each node asks, by the number of its request, and whom.
    pauses: Streams,
    lucks: Streams,
    exchanges: Vec<Exchange>,
    packets: Packets,
    unsent: Unsent,
    /// Effects that have not been carried out, and buffers that are used again.
    of_radio: Vec<radio::Effect<Rc<Packet>>>,
    of_router: Vec<aodv::Effect<(), Letter>>,
    answers: Vec<(NodeId, u32)>,
    nearby: Vec<(NodeId, f64)>,
}

/// Runs it from the start to the end, and writes every packet there, if told, as Wireshark reads it. The same plan
/// gives the same report. Fails only if that cannot be written, or if a file of movements is not any more what it was.
pub fn run(plan: &Plan, capture: Option<Box<dyn Write>>) -> io::Result<Report> {
    let mut world = World::new(plan).map_err(io::Error::other)?;
    if let Some(writer) = capture {
        world.capturing = Capturing::to(writer, plan.config.nodes)?;
        world.medium.air().set_watched(true);
    }
    let mut events = 0;
    while let Some((at, event)) = world.queue.pop(world.hours.end) {
        world.now = at;
        world.handle(event);
        events += 1;
    }
    let radio = world.medium.effort(world.hours.end);
    world.capturing.finish()?;
    Ok(Report::new(&world.exchanges, world.packets, world.unsent, &world.hours, events, radio))
}

/// When what is done.
#[derive(Clone, Copy, Debug)]
struct Hours {
    /// When the first node is there, and all begins.
    start: Time,
    /// Until when requests are sent.
    until: Time,
    /// When nothing is heard any more.
    end: Time,
    /// When the movements of a file are over, if that is before the end.
    over: Option<Time>,
}

impl Hours {
    fn of<F: Clone>(plan: &Plan, medium: &Medium<F>) -> Self {
        let Config { seconds, grace, .. } = plan.config;
        let start = medium.begins();
        let (until, end) = (start + Span::from_units(seconds), start + Span::from_units(seconds + grace));
        let over = medium.ends().filter(|over| *over < end);
        let cut = |time: Time| over.map_or(time, |over| over.min(time));
        Self { start, until: cut(until), end: cut(end), over }
    }
}

impl<'a> World<'a> {
    fn new(plan: &'a Plan) -> Result<Self, FieldError> {
        let config = &plan.config;
        // No application listens when routes expire.
        let settings = config.field.layers.aodv.clone();
        let routing = Arc::new(aodv::Settings { sweep_interval: Span::FOREVER, ..settings });
        let room = plan.config.nodes.min(ROOM) as usize;
        let node = |id| {
            let router = Router::new(NodeId(id), Arc::clone(&routing)).with_room(room);
            Node { router, wakes: Time::END, condition: Condition::Up, boot: 0, asks: 0 }
        };
        let (medium, faults) = plan.ground()?;
        let hours = Hours::of(plan, &medium);
        let mut world = Self {
            plan,
            hours,
            now: hours.start,
            queue: Queue::default(),
            medium,
            nodes: (0..config.nodes).map(node).collect(),
            routing,
            faults,
            deferred: Vec::new(),
            capturing: Capturing::default(),
            pauses: Streams::new(config.seed, 0, Subject::Workload),
            lucks: Streams::new(config.seed, 0, Subject::Demand),
            exchanges: Vec::new(),
            packets: Packets::default(),
            unsent: Unsent::default(),
            of_radio: Vec::new(),
            of_router: Vec::new(),
            answers: Vec::new(),
            nearby: Vec::new(),
        };
        world.expect_fault();
        for id in (0..config.nodes).map(NodeId) {
            world.expect_wake(id);
            world.expect_request(id);
        }
        Ok(world)
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Radio(event) => self.medium.handle(self.now, event, &mut self.of_radio),
            Event::Wake(node) => self.wake(node),
            Event::Transmit { from, to, packet } => self.transmit(from, to, packet),
            Event::Ask(node) => {
                let luck = self.lucks.of(node, self.nodes[node.index()].asks).random();
                self.expect_request(node);
                self.ask(node, luck);
            }
            Event::Fault => self.fault(),
        }
        while !self.of_radio.is_empty() {
            self.carry_out_radio();
        }
    }

    fn expect_request(&mut self, node: NodeId) {
        let asks = &mut self.nodes[node.index()].asks;
        *asks += 1;
        let at = self.now + Span::from_units(exponential(self.plan.config.period, &mut self.pauses.of(node, *asks)));
        if at < self.hours.until {
            self.queue.schedule(at, Event::Ask(node));
        }
    }

    fn ask(&mut self, node: NodeId, luck: f64) {
        if !self.does(node, || Deferred::Ask(luck)) {
            self.unsent.down += u64::from(self.nodes[node.index()].condition == Condition::Down);
            return;
        }
        if !self.medium.is_present(self.now, node) {
            self.unsent.absent += 1;
            return;
        }
        let Some(to) = self.destination(node, luck) else {
            self.unsent.nobody_near += 1;
            return;
        };
        let number = u32::try_from(self.exchanges.len()).expect("memory ends before the numbers do");
        self.exchanges.push(Exchange { sent: self.now, has_arrived: false, answered: None });
        self.send(node, to, Letter::Request(number));
    }

    /// Any other node that is there, or is there and near enough.
    fn destination(&mut self, from: NodeId, luck: f64) -> Option<NodeId> {
        let Some(within) = self.plan.config.within else {
            if self.plan.config.field.tracks.is_some() {
                return self.somebody_present(from, luck);
            }
            let other = pick(self.nodes.len() - 1, luck)?;
            let id = u32::try_from(other).ok().map(NodeId)?;
            return Some(if id < from { id } else { NodeId(id.0 + 1) });
        };
        self.medium.within(self.now, from, within, &mut self.nearby);
        pick(self.nearby.len(), luck).map(|place| self.nearby[place].0)
    }

    /// Any other node that is there: on tracks not all are.
    fn somebody_present(&mut self, from: NodeId, luck: f64) -> Option<NodeId> {
        let nodes = (0..self.plan.config.nodes).map(NodeId);
        let others: Vec<_> = nodes.filter(|id| *id != from && self.medium.is_present(self.now, *id)).collect();
        pick(others.len(), luck).map(|place| others[place])
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
        if !self.does(id, || Deferred::Wake) {
            return;
        }
        let node = &mut self.nodes[id.index()];
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
                radio::Effect::Heard { at, from, frame } => self.hear(at, from, frame),
                radio::Effect::Failed { from, to, frame } => self.fail(from, to, frame),
                radio::Effect::OnAir { from, to, frame, attempt } => {
                    let (now, bytes) = (self.now, self.plan.config.bytes);
                    let datagram = || datagram(from, to, &frame, bytes);
                    self.capturing.write(datagram, |file, datagram| file.sent(now, from, to, attempt, datagram));
                }
                radio::Effect::Received { at, from, to, frame, .. } => {
                    let (now, bytes) = (self.now, self.plan.config.bytes);
                    let datagram = || datagram(from, to, &frame, bytes);
                    self.capturing.write(datagram, |file, datagram| file.heard(now, at, from, to, datagram));
                }
                radio::Effect::Sent { .. } => {}
            }
        }
        if self.of_radio.is_empty() {
            self.of_radio = effects;
        }
    }

    fn hear(&mut self, at: NodeId, from: NodeId, frame: Rc<Packet>) {
        if self.does(at, || Deferred::Heard(from, Rc::clone(&frame))) {
            let packet = Rc::unwrap_or_clone(frame);
            self.nodes[at.index()].router.received(self.now, from, packet, &mut self.of_router);
            self.carry_out_router(at);
        }
    }

    fn fail(&mut self, from: NodeId, to: NodeId, frame: Rc<Packet>) {
        if self.does(from, || Deferred::Failed(to, Rc::clone(&frame))) {
            let packet = Rc::unwrap_or_clone(frame);
            self.nodes[from.index()].router.unsent(self.now, to, packet, &mut self.of_router);
            self.carry_out_router(from);
        }
    }

    /// Reads what the routers are going to need for what they have heard. Among thousands of nodes it is in main
    /// memory; in a short loop of its own the processor fetches it for all of them at once, and below it would wait for
    /// each.
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

    fn put_off(&mut self, from: NodeId, to: Option<NodeId>, packet: Packet, delay: Span) {
        self.packets.count(&packet);
        let packet = Rc::new(packet);
        if delay == Span::ZERO {
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

/// A packet as it would be sent by a node of a network of computers. A message says which it is, and zeros fill it up.
fn datagram(from: NodeId, to: Option<NodeId>, packet: &Packet, bytes: u32) -> Result<Datagram, WireError> {
    wire::aodv::datagram(from, to, packet, |letter| {
        let mut payload = wire::encode(letter);
        payload.resize(bytes as usize, 0);
        payload
    })
}

/// One of so many, by a number from 0 to less than 1.
fn pick(count: usize, luck: f64) -> Option<usize> {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // less than the count
    let place = (luck * count as f64) as usize;
    (count > 0).then(|| place.min(count - 1))
}

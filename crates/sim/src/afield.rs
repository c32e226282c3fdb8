//! Nodes that move about with radios: what a world stands on instead of ideal links.
//!
//! Below every algorithm is the node's own [`Stack`]; the stacks are connected by a [`Medium`]. What they tell their
//! algorithms is handed out one by one, so that the world carries out each before it hears of the next.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::io::{self, Write};
use std::rc::Rc;

use driftlock_field::faults::{Action, Fault, FaultError, Faults, Memory};
use driftlock_field::medium::Medium;
use driftlock_field::mobility::ModelError;
use driftlock_field::plane::Point;
use driftlock_field::radio;
use driftlock_net::Time;
use driftlock_net::link::Boot;
use driftlock_net::parcel::{Parcel, Resource};
use driftlock_net::stack::{self, Footing, Packet, Resident, Stack, Told, Unfit, Way};
use driftlock_protocol::{Flight, Incarnation, NodeId, Permits};
use driftlock_trace::Scene;
use serde::Serialize;
use serde::de::DeserializeOwned;

use self::bonds::Ends;
use self::scenery::Scenery;
use crate::capturing::Capturing;

mod bonds;
mod graph;
mod scenery;
mod terrain;
#[cfg(test)]
mod tests;

pub use bonds::Bonds;
pub use graph::Graph;
pub use terrain::{Radio, Terrain, TerrainError, open_tracks};

/// Headers of IP and UDP, which every packet has.
const HEADERS: usize = 28;

/// What all radios together have done in some time.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Effort {
    /// Frames that were put on the air, repetitions included.
    pub transmissions: u64,
    /// Acknowledgements that were.
    pub acknowledgements: u64,
    /// Frames that arrived where they were meant to, once for each receiver.
    pub receptions: u64,
    /// Bytes of all frames that were put on the air.
    pub bytes: u64,
    /// How long radios sent.
    pub airtime: Time,
    /// What they spent, by the radio's own figures.
    pub joules: f64,
}

impl Effort {
    /// What was done since then.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            transmissions: self.transmissions - earlier.transmissions,
            acknowledgements: self.acknowledgements - earlier.acknowledgements,
            receptions: self.receptions - earlier.receptions,
            bytes: self.bytes - earlier.bytes,
            airtime: self.airtime - earlier.airtime,
            joules: self.joules - earlier.joules,
        }
    }
}

/// The one resource of a field.
const RESOURCE: Resource = Resource(0);

/// What happens to a node on a field.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum News<M> {
    /// Its stack tells it something.
    Told(Told<M>),
    /// This node has crashed, and forgets everything.
    Crashed,
    /// It is back, and knows nothing.
    Restarted,
    /// This node is off, and will have what it had stored when it is back.
    Killed,
    /// It was off, and is back with what it had stored. None of its links is up.
    Restored,
    /// It had paused, and goes on.
    Resumed,
}

/// What is due.
#[derive(Clone, Debug)]
enum Due {
    Air(radio::Event),
    /// A stack wants to be woken.
    Wake(NodeId),
    /// A transmission that was put off.
    Transmit(NodeId, Option<NodeId>, Rc<Packet>),
    /// What a paused node heard from another meanwhile.
    Heard(NodeId, NodeId, Rc<Packet>),
    /// What a paused node could not send to another meanwhile.
    Failed(NodeId, NodeId, Rc<Packet>),
    /// Something goes wrong, or gets right again.
    Fault,
}

/// Makes the stack of a node in one of its lives: from that of its life before, if it remembers that.
type Life = Box<dyn Fn(Time, NodeId, Boot, Option<&Stack>) -> Stack>;

/// What a field has to know of an algorithm.
#[derive(Clone, Copy)]
struct Kind<M> {
    resident: Resident,
    /// What a message carries.
    permits: fn(&M) -> Permits,
    /// Whether a message must be neither lost nor doubled.
    keeps: fn(&M) -> bool,
    /// Whether nodes hear of one another by themselves, or are told by the world who takes part.
    hears_of_members: bool,
    /// Whether a crash may be the end of what a node knows. If its algorithm could not survive that, it never is.
    is_forgetful: bool,
}

/// An entry of the queue: when, and where in the slab of what is due.
type Entry = Reverse<(Time, u64, u32)>;

/// What is known of a node besides its stack.
#[derive(Clone, Copy, Debug)]
struct Body {
    /// When its stack is woken next.
    wakes: Time,
    condition: Condition,
    boot: Boot,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Condition {
    Up,
    /// It does nothing for a while, but its radio goes on by itself.
    Paused,
    /// It is off. With its memory, its stack is left as it was: what that had stored goes into the next one.
    Down(Memory),
}

/// A message, and all whom a node sends it to.
struct Outgoing<M> {
    from: NodeId,
    to: Vec<(NodeId, Incarnation)>,
    message: M,
}

/// Everything below the algorithms.
pub struct Afield<M> {
    medium: Medium<Rc<Packet>>,
    stacks: Vec<Stack>,
    queue: BinaryHeap<Entry>,
    due: Vec<Option<Due>>,
    vacant: Vec<u32>,
    sequence: u64,
    life: Life,
    kind: Kind<M>,
    /// What is known of each node besides its stack.
    bodies: Vec<Body>,
    news: VecDeque<(NodeId, News<M>)>,
    /// Messages that were sent and have not arrived, as far as anybody knows.
    flights: Vec<(NodeId, NodeId, M)>,
    /// What paused nodes should have done meanwhile.
    held: Vec<(NodeId, Due)>,
    faults: Faults,
    /// When the faults are looked at next.
    fault_due: Time,
    actions: Vec<Action>,
    capturing: Capturing,
    ends: Ends,
    /// What a trace is told, if there is one.
    scenery: Option<Scenery>,
    /// What a node has sent and may send to others too.
    letter: Option<Outgoing<M>>,
    told: Vec<stack::Effect>,
    heard: Vec<radio::Effect<Rc<Packet>>>,
}

impl<M: Clone + Eq + Serialize + DeserializeOwned> Afield<M> {
    /// Stacks with these constants, all switched on when the first node is there.
    fn new(medium: Medium<Rc<Packet>>, faults: Faults, kind: Kind<M>, layers: stack::Settings) -> Result<Self, Unfit> {
        let Resident { members: nodes, .. } = kind.resident;
        layers.limits.admit(RESOURCE, &kind.resident)?;
        let life: Life = Box::new(move |now, id, boot, former| match former {
            Some(former) => former.restarted(now, &layers),
            None => {
                let mut stack = Stack::new(now, id, boot, &layers);
                stack.host(now, RESOURCE, kind.resident).expect("it was admitted before");
                stack
            }
        });
        let body = Body { wakes: Time::END, condition: Condition::Up, boot: Boot(0) };
        let start = medium.begins();
        let mut afield = Self {
            medium,
            stacks: (0..nodes).map(|id| life(start, NodeId(id), Boot(0), None)).collect(),
            life,
            kind,
            queue: BinaryHeap::new(),
            due: Vec::new(),
            vacant: Vec::new(),
            sequence: 0,
            bodies: vec![body; nodes as usize],
            news: VecDeque::new(),
            flights: Vec::new(),
            held: Vec::new(),
            faults,
            fault_due: Time::END,
            actions: Vec::new(),
            capturing: Capturing::default(),
            ends: Ends::default(),
            scenery: None,
            letter: None,
            told: Vec::new(),
            heard: Vec::new(),
        };
        afield.expect_fault();
        (0..nodes).map(NodeId).for_each(|node| afield.expect(node));
        Ok(afield)
    }

    /// When something happens next.
    pub fn wakes(&self) -> Option<Time> {
        self.queue.peek().map(|Reverse((at, ..))| *at)
    }

    /// Lets one thing happen that is due by now, if there is any.
    pub fn step(&mut self, now: Time) -> bool {
        let Some(&Reverse((at, _, place))) = self.queue.peek() else { return false };
        if at > now {
            return false;
        }
        self.queue.pop();
        self.vacant.push(place);
        match self.due[place as usize].take() {
            Some(Due::Air(event)) => {
                self.medium.handle(now, event, &mut self.heard);
                self.carry_out(now);
            }
            Some(Due::Wake(node)) if self.bodies[node.index()].wakes == at => {
                self.bodies[node.index()].wakes = Time::END;
                self.wake(now, node);
            }
            Some(Due::Transmit(from, to, packet)) => self.transmit(now, from, to, packet),
            Some(Due::Heard(node, from, packet)) => self.hear(now, node, from, packet),
            Some(Due::Failed(node, to, packet)) => self.fail(now, node, to, packet),
            Some(Due::Fault) if self.fault_due == at => {
                self.fault_due = Time::END;
                self.fault(now);
            }
            // It was done before.
            Some(Due::Wake(_) | Due::Fault) | None => {}
        }
        true
    }

    fn wake(&mut self, now: Time, node: NodeId) {
        match self.bodies[node.index()].condition {
            Condition::Down(_) => {}
            Condition::Paused => self.held.push((node, Due::Wake(node))),
            Condition::Up => {
                self.stacks[node.index()].woken(now, &mut self.told);
                self.done(now, node);
            }
        }
    }

    fn hear(&mut self, now: Time, node: NodeId, from: NodeId, packet: Rc<Packet>) {
        match self.bodies[node.index()].condition {
            Condition::Down(_) => {}
            Condition::Paused => self.held.push((node, Due::Heard(node, from, packet))),
            Condition::Up => {
                self.stacks[node.index()].received(now, from, &packet, &mut self.told);
                self.done(now, node);
            }
        }
    }

    fn fail(&mut self, now: Time, node: NodeId, to: NodeId, packet: Rc<Packet>) {
        match self.bodies[node.index()].condition {
            Condition::Down(_) => {}
            Condition::Paused => self.held.push((node, Due::Failed(node, to, packet))),
            Condition::Up => {
                self.stacks[node.index()].unsent(now, to, &packet, &mut self.told);
                self.done(now, node);
            }
        }
    }

    /// Whether a node does nothing at present: it pauses, or is down.
    pub fn is_paused(&self, node: NodeId) -> bool {
        self.bodies[node.index()].condition != Condition::Up
    }

    /// Something goes wrong, or gets right again.
    fn fault(&mut self, now: Time) {
        let mut actions = std::mem::take(&mut self.actions);
        let medium = &mut self.medium;
        self.faults.act(now, |node| medium.position(now, node), &mut actions);
        for action in actions.drain(..) {
            match action {
                Action::Crash { node, memory } => self.fails(now, node, memory),
                Action::Restart { node, memory } => self.comes_back(now, node, memory),
                Action::Pause(node) => self.pause(node),
                Action::Resume(node) => self.resume(now, node),
                Action::Cut(..) | Action::Jam(..) | Action::Group(..) | Action::Loss(_) | Action::LossAt(..) => {
                    action.disturb(now, self.medium.air(), &mut self.heard);
                }
            }
        }
        self.actions = actions;
        if let Some(scenery) = &mut self.scenery {
            self.faults.take_changes().for_each(|(number, fault, ends)| scenery.fault(now, number, &fault, ends));
        }
        self.carry_out(now);
        self.expect_fault();
    }

    /// A node crashes, unless it was off before.
    fn fails(&mut self, now: Time, node: NodeId, memory: Memory) {
        if matches!(self.bodies[node.index()].condition, Condition::Down(_)) {
            return;
        }
        if self.kind.is_forgetful && memory == Memory::Lost {
            self.crash(now, node);
            self.news.push_back((node, News::Crashed));
            return;
        }
        self.switch_off(now, node, Memory::Kept);
        self.news.push_back((node, News::Killed));
        self.flights.retain(|(from, _, message)| *from != node || (self.kind.keeps)(message));
    }

    /// A node that crashed is back, unless somebody else has switched it on or off since.
    fn comes_back(&mut self, now: Time, node: NodeId, memory: Memory) {
        match (self.bodies[node.index()].condition, memory) {
            (Condition::Up | Condition::Paused, _) | (Condition::Down(Memory::Lost), Memory::Kept) => {}
            (Condition::Down(Memory::Kept), memory) if !self.kind.is_forgetful || memory == Memory::Kept => {
                self.switch_on(now, node);
                self.news.push_back((node, News::Restored));
            }
            (Condition::Down(before), Memory::Kept | Memory::Lost) => {
                if before == Memory::Kept {
                    // It crashed again meanwhile, and that took the memory.
                    self.crash(now, node);
                    self.news.push_back((node, News::Crashed));
                }
                self.switch_on(now, node);
                self.news.push_back((node, News::Restarted));
            }
        }
    }

    fn pause(&mut self, node: NodeId) {
        let condition = &mut self.bodies[node.index()].condition;
        if *condition == Condition::Up {
            *condition = Condition::Paused;
        }
    }

    /// A paused node goes on with what it should have done meanwhile.
    fn resume(&mut self, now: Time, node: NodeId) {
        if self.bodies[node.index()].condition != Condition::Paused {
            return;
        }
        self.bodies[node.index()].condition = Condition::Up;
        let held: Vec<_> = self.held.extract_if(.., |(of, _)| *of == node).collect();
        for (_, due) in held {
            if matches!(due, Due::Wake(_)) {
                self.bodies[node.index()].wakes = now;
            }
            self.schedule(now, due);
        }
        self.news.push_back((node, News::Resumed));
    }

    fn expect_fault(&mut self) {
        if let Some(at) = self.faults.next().filter(|at| *at < self.fault_due) {
            self.fault_due = at;
            self.schedule(at, Due::Fault);
        }
    }

    /// Something goes wrong that nobody had planned, until it is ended by this number.
    pub fn begin(&mut self, fault: Fault) -> Result<usize, FaultError> {
        let number = self.faults.add(fault)?;
        self.expect_fault();
        Ok(number)
    }

    /// It is over.
    pub fn end(&mut self, now: Time, number: usize) {
        self.faults.end(number, now);
        self.expect_fault();
    }

    /// Whether any fault lasts.
    pub fn is_disturbed(&self) -> bool {
        self.faults.any_lasts()
    }

    /// Puts a node somewhere; it goes on from there.
    pub fn place(&mut self, now: Time, node: NodeId, point: Point) {
        self.medium.place(now, node, point);
    }

    /// A node is off, and forgets everything.
    pub fn crash(&mut self, now: Time, node: NodeId) {
        self.switch_off(now, node, Memory::Lost);
        self.flights.retain(|(from, to, _)| *from != node && *to != node);
    }

    /// A node that was off begins anew.
    pub fn restart_if_down(&mut self, now: Time, node: NodeId) {
        if matches!(self.bodies[node.index()].condition, Condition::Down(_)) {
            self.switch_on(now, node);
        }
    }

    /// What a node was about to do, and what it heard and has not looked at, is gone with it.
    fn switch_off(&mut self, now: Time, node: NodeId, memory: Memory) {
        self.medium.air().set_down(now, node, true);
        self.bodies[node.index()].condition = Condition::Down(memory);
        self.held.retain(|(of, _)| *of != node);
        for due in &mut self.due {
            _ = due.take_if(|due| matches!(due, Due::Transmit(from, ..) if *from == node));
        }
    }

    /// The next life of a node begins, with what its stack had stored if it has its memory.
    fn switch_on(&mut self, now: Time, node: NodeId) {
        self.medium.air().set_down(now, node, false);
        let body = &mut self.bodies[node.index()];
        let remembers = body.condition == Condition::Down(Memory::Kept);
        *body = Body { wakes: Time::END, condition: Condition::Up, boot: Boot(body.boot.0 + 1) };
        let (boot, stack) = (body.boot, &mut self.stacks[node.index()]);
        *stack = (self.life)(now, node, boot, remembers.then_some(&*stack));
        self.expect(node);
    }

    /// What a node's algorithm has to be told next.
    pub fn next_news(&mut self) -> Option<(NodeId, News<M>)> {
        self.news.pop_front()
    }

    /// A node sends a message over a link, or to a member in this life; if it is `shared`, the same as the last. It
    /// goes out with [`Self::dispatch`] at the latest.
    pub fn send(&mut self, now: Time, from: NodeId, to: (NodeId, Incarnation), message: M, shared: bool) {
        self.flights.push((from, to.0, message.clone()));
        match &mut self.letter {
            Some(letter) if shared && letter.from == from => letter.to.push(to),
            _ => {
                self.dispatch(now);
                self.letter = Some(Outgoing { from, to: vec![to], message });
            }
        }
    }

    /// Whether nodes hear of one another by themselves.
    pub fn hears_of_members(&self) -> bool {
        self.kind.hears_of_members
    }

    /// A node takes part from now on, in this life, and says so; or it does not any more.
    pub fn takes_part(&mut self, now: Time, node: NodeId, life: Option<Incarnation>) {
        self.stacks[node.index()].advertise(now, RESOURCE, life, Vec::new());
    }

    /// Who else takes part, as far as a node has heard.
    pub fn heard_by(&self, node: NodeId) -> impl Iterator<Item = (NodeId, Incarnation)> {
        self.stacks[node.index()].members(RESOURCE)
    }

    /// The life in which another node takes part, as far as this one has heard.
    pub fn life_heard_by(&self, node: NodeId, other: NodeId) -> Option<Incarnation> {
        self.stacks[node.index()].life(RESOURCE, other)
    }

    /// A node is told for certain that another one takes part.
    pub fn introduce(&mut self, now: Time, node: NodeId, other: NodeId, life: Incarnation) {
        self.stacks[node.index()].introduce(now, RESOURCE, other, life);
    }

    /// Everything that was sent goes out.
    pub fn dispatch(&mut self, now: Time) {
        let Some(Outgoing { from, to, message }) = self.letter.take() else { return };
        let way = match self.kind.resident.footing {
            Footing::Links => Way::Links(&to),
            Footing::Paths => Way::Paths(&to),
        };
        let (stack, parcel) =
            (&mut self.stacks[from.index()], Parcel::new(RESOURCE, (self.kind.keeps)(&message), &message));
        stack.send(now, way, parcel).expect("all take part, and no message is too long");
        stack.drain(now, &mut self.told);
        self.done(now, from);
    }

    /// Everything that was sent and has not arrived; what is in doubt among it.
    pub fn flights(&self) -> impl Iterator<Item = Flight<'_, M>> {
        self.flights.iter().map(|(from, to, message)| Flight { from: *from, to: *to, message })
    }

    /// Whatever is on its way to this node is for a life that is over.
    pub fn forget_flights_to(&mut self, node: NodeId) -> Vec<M> {
        self.flights.extract_if(.., |(_, to, _)| *to == node).map(|(.., message)| message).collect()
    }

    /// What all radios have done until now.
    pub fn effort(&mut self, now: Time) -> Effort {
        let (total, joules) = self.medium.effort(now);
        Effort {
            transmissions: total.data_sent,
            acknowledgements: total.acks_sent,
            receptions: total.data_received,
            bytes: total.bytes_sent,
            airtime: Time(total.transmitting_ns),
            joules,
        }
    }

    /// Everybody goes to a place of its own, and stays there.
    pub fn settle(&mut self, now: Time, points: Vec<Point>) -> Result<(), ModelError> {
        self.medium.settle(now, points)
    }

    /// Whether a node is there at all: one that follows a file may not have come yet, or has left.
    pub fn is_present(&mut self, now: Time, node: NodeId) -> bool {
        self.medium.is_present(now, node)
    }

    /// When the first node is there.
    pub fn begins(&self) -> Time {
        self.medium.begins()
    }

    /// From when on everybody stands, or is gone, for ever, if all follow a file on which any moves or leaves.
    pub fn ends(&self) -> Option<Time> {
        self.medium.ends()
    }

    /// Where a node is.
    pub fn position(&mut self, now: Time, node: NodeId) -> Point {
        self.medium.position(now, node)
    }

    /// Carries out what a stack wants, and sees when it wants to be woken.
    fn done(&mut self, now: Time, node: NodeId) {
        let mut told = std::mem::take(&mut self.told);
        for effect in told.drain(..) {
            match effect {
                stack::Effect::Transmit { to, packet, delay } if delay == Time::ZERO => {
                    self.transmit(now, node, to, Rc::new(packet));
                }
                stack::Effect::Transmit { to, packet, delay } => {
                    self.schedule(now + delay, Due::Transmit(node, to, Rc::new(packet)));
                }
                stack::Effect::Tell { told, .. } => {
                    let told = told.open().expect("what nodes of a world send can be read");
                    self.news.push_back((node, News::Told(told)));
                }
            }
        }
        self.told = told;
        self.look_at(now, node);
        self.expect(node);
    }

    /// Has what is new in a node's layers told to the trace.
    fn look_at(&mut self, now: Time, node: NodeId) {
        if let Some(scenery) = &mut self.scenery {
            let stack = &self.stacks[node.index()];
            let permits =
                |parcel: &Parcel| parcel.open().map_or(Permits::NONE, |message| (self.kind.permits)(&message));
            scenery.doubts(now, node, stack.in_doubt().map(|(to, parcel)| (to, permits(parcel))));
            scenery.routes(now, node, stack.routes(now));
        }
    }

    /// From now on remembers what a trace should tell.
    pub fn watch(&mut self) {
        let start = self.medium.begins();
        // Before that there is nothing to tell: nobody is there.
        self.medium.pass(start);
        self.medium.watch();
        self.scenery = Some(Scenery::since(start));
    }

    /// What is new on the field since one last asked.
    pub fn take_scenes(&mut self, now: Time) -> Vec<Scene> {
        let Some(scenery) = &mut self.scenery else { return Vec::new() };
        for (node, course) in self.medium.take_courses(now) {
            scenery.moves(node, &course);
        }
        scenery.take()
    }

    /// A node is told of a link. Tells whether a trace should say so: now that both ends, or no longer both, are told.
    pub fn told_of_link(&mut self, now: Time, node: NodeId, peer: NodeId, up: bool) -> bool {
        self.ends.told(now, node, peer, up)
    }

    /// What became of links until now.
    pub fn bonds(&self, now: Time) -> Bonds {
        self.ends.bonds(now)
    }

    /// A message has arrived, or never will. Tells whether it was on its way.
    pub fn landed(&mut self, from: NodeId, to: NodeId, message: &M) -> bool {
        let at = self.flights.iter().position(|flight| flight.0 == from && flight.1 == to && flight.2 == *message);
        at.map(|at| self.flights.remove(at)).is_some()
    }

    fn transmit(&mut self, now: Time, from: NodeId, to: Option<NodeId>, packet: Rc<Packet>) {
        let bytes = u32::try_from(packet.len() + HEADERS).unwrap_or(u32::MAX);
        self.medium.send(now, from, to, bytes, packet, &mut self.heard);
        self.carry_out(now);
    }

    /// Carries out what the medium wants.
    fn carry_out(&mut self, now: Time) {
        let mut heard = std::mem::take(&mut self.heard);
        for effect in heard.drain(..) {
            match effect {
                radio::Effect::At(at, event) => self.schedule(at, Due::Air(event)),
                radio::Effect::Heard { at, from, frame } => self.hear(now, at, from, frame),
                radio::Effect::Failed { from, to, frame } => self.fail(now, from, to, frame),
                radio::Effect::OnAir { from, to, frame, attempt } => {
                    let datagram = || frame.datagram(from, to);
                    self.capturing.write(datagram, |file, datagram| file.sent(now, from, to, attempt, datagram));
                }
                radio::Effect::Received { at, from, to, frame, .. } => {
                    let datagram = || frame.datagram(from, to);
                    self.capturing.write(datagram, |file, datagram| file.heard(now, at, from, to, datagram));
                }
                radio::Effect::Sent { .. } => {}
            }
        }
        if self.heard.is_empty() {
            self.heard = heard;
        } else {
            // What came of it meanwhile is carried out after it.
            self.carry_out(now);
        }
    }

    /// From now on every packet is written there, as Wireshark reads it.
    pub fn capture_to(&mut self, writer: Box<dyn Write>) -> io::Result<()> {
        let nodes = u32::try_from(self.stacks.len()).unwrap_or(u32::MAX);
        self.capturing = Capturing::to(writer, nodes)?;
        self.medium.air().set_watched(true);
        Ok(())
    }

    /// Ends the capture.
    pub fn finish(self) -> io::Result<()> {
        self.capturing.finish()
    }

    fn expect(&mut self, node: NodeId) {
        let at = self.stacks[node.index()].wakes().unwrap_or(Time::END);
        if at < self.bodies[node.index()].wakes {
            self.bodies[node.index()].wakes = at;
            self.schedule(at, Due::Wake(node));
        }
    }

    fn schedule(&mut self, at: Time, due: Due) {
        let place = self.vacant.pop().unwrap_or_else(|| {
            self.due.push(None);
            u32::try_from(self.due.len() - 1).expect("fewer events than that")
        });
        self.due[place as usize] = Some(due);
        self.queue.push(Reverse((at, self.sequence, place)));
        self.sequence += 1;
    }
}

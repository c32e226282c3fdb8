//! Nodes that move about with radios: what a world stands on instead of ideal links.
//!
//! Each node is a [`Host`], as it would be on a real network: its stack, and its instance of the algorithm above it.
//! The hosts are connected by a [`Medium`], and faults befall them. What concerns the applications and lives of nodes
//! is handed out one by one, so that the world carries out each before it hears of the next.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::rc::Rc;

use driftlock_field::faults::{Action, Fault, FaultError, Faults, Memory};
use driftlock_field::medium::Medium;
use driftlock_field::mobility::ModelError;
use driftlock_field::plane::Point;
use driftlock_field::radio;
use driftlock_field::slab::Slab;
use driftlock_host::{Cue, Declined, Do, Host, Resident, Share};
use driftlock_net::parcel::{Parcel, Resource};
use driftlock_net::queue::Schedule;
use driftlock_net::stack::{self, Packet, Stack};
use driftlock_net::{Boot, Span, Time};
use driftlock_protocol::{Incarnation, NodeId, Permits};
use driftlock_trace::Scene;

use self::bonds::Ends;
use self::scenery::Scenery;
use crate::capturing::Capturing;

mod bonds;
mod graph;
mod plan;
mod scenery;
#[cfg(test)]
mod tests;

pub use bonds::Bonds;
pub use graph::Graph;
pub use plan::{FieldError, FieldPlan, Membership, Radio, open_tracks};

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
    pub airtime: Span,
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

/// The first resource of a field.
const FIRST: Resource = Resource(0);

/// What happens to a node on a field.
#[derive(Clone, PartialEq, Debug)]
pub enum News {
    /// It wants this done, which is no frame.
    Deed(Do),
    /// This node has crashed, and forgets everything.
    Crashed,
    /// It is back, and knows nothing.
    Restarted,
    /// This node is off, and will have what it had stored when it is back.
    Killed,
    /// It was off, and is back with what it had stored. None of its links is up.
    Restored,
    /// It does nothing for a while, and does not know it.
    Paused,
    /// It had paused, and goes on.
    Resumed,
}

/// What is due.
#[derive(Clone, Debug)]
enum Due {
    Air(radio::Event),
    /// A node wants to be woken.
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

/// What a field has to know of a resource and its algorithm.
#[derive(Clone, Copy)]
struct Kind {
    share: Share,
    /// What a message carries.
    permits: fn(&Parcel) -> Permits,
    /// Whether nodes hear of one another by themselves, or are told by the world who takes part.
    hears_of_members: bool,
    /// Whether a crash may be the end of what a node knows. If its algorithm could not survive that, it never is.
    survives_crash: bool,
}

/// What is known of a node besides its host.
#[derive(Clone, Copy, Debug)]
struct Body {
    /// When it is woken next.
    wakes: Time,
    condition: Condition,
    boot: Boot,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Condition {
    Up,
    /// It does nothing for a while, but its radio goes on by itself.
    Paused,
    /// It is off. With its memory, its host is left as it was: what that had stored goes into the next one.
    Down(Memory),
}

/// A resource, and what its world has not looked at yet.
struct Shared {
    kind: Kind,
    news: VecDeque<(NodeId, News)>,
    /// Nodes that have done something since.
    busy: VecDeque<NodeId>,
}

/// All nodes, and what is between them.
pub struct Field {
    medium: Medium<Rc<Packet>>,
    hosts: Vec<Host>,
    layers: stack::Settings,
    /// What is due, by its number.
    queue: Schedule<u32>,
    /// Nothing where it was dropped, until it would have been due.
    due: Slab<Option<Due>>,
    /// The resources that nodes share.
    shared: Vec<Shared>,
    /// What is known of each node besides its host.
    bodies: Vec<Body>,
    /// What paused nodes should have heard meanwhile.
    deferred: Vec<(NodeId, Due)>,
    faults: Faults,
    /// When the faults are looked at next.
    fault_due: Time,
    actions: Vec<Action>,
    capturing: Capturing,
    ends: Ends,
    /// What a trace is told, if there is one.
    scenery: Option<Scenery>,
    deeds: Vec<Do>,
    heard: Vec<radio::Effect<Rc<Packet>>>,
}

impl Field {
    /// Hosts whose layers have these constants, all switched on when the first node is there. No resident is in them
    /// yet.
    fn new(medium: Medium<Rc<Packet>>, faults: Faults, nodes: u32, layers: stack::Settings) -> Self {
        let body = Body { wakes: Time::END, condition: Condition::Up, boot: Boot(0) };
        let start = medium.begins();
        let host = |id| Host::new(Stack::new(start, NodeId(id), Boot(0), &layers));
        let mut field = Self {
            medium,
            hosts: (0..nodes).map(host).collect(),
            layers,
            shared: Vec::new(),
            queue: Schedule::default(),
            due: Slab::default(),
            bodies: vec![body; nodes as usize],
            deferred: Vec::new(),
            faults,
            fault_due: Time::END,
            actions: Vec::new(),
            capturing: Capturing::default(),
            ends: Ends::default(),
            scenery: None,
            deeds: Vec::new(),
            heard: Vec::new(),
        };
        field.expect_fault();
        field
    }

    /// One more resource is shared.
    fn share(&mut self, kind: Kind) {
        self.shared.push(Shared { kind, news: VecDeque::new(), busy: VecDeque::new() });
    }

    /// The resource that came last: a world is made for it.
    pub fn latest(&self) -> Resource {
        let before = u16::try_from(self.shared.len() - 1).expect("fewer resources than that");
        Resource(before)
    }

    fn shared(&self, resource: Resource) -> &Shared {
        &self.shared[usize::from(resource.0)]
    }

    fn shared_mut(&mut self, resource: Resource) -> &mut Shared {
        &mut self.shared[usize::from(resource.0)]
    }

    /// This is a node's instance of the algorithm of a resource from now on.
    pub fn take_in(&mut self, now: Time, resource: Resource, node: NodeId, resident: Box<dyn Resident>) {
        let share = self.shared(resource).kind.share;
        let taken = self.hosts[node.index()].take_in(now, resource, share, resident);
        taken.expect("how much it has to say was looked at before");
        self.done(now, node);
    }

    /// A node's instance of the algorithm of a resource.
    pub fn resident<R: Resident>(&self, resource: Resource, node: NodeId) -> &R {
        self.hosts[node.index()].resident_as(resource).expect("a world has its nodes taken in first")
    }

    /// Likewise, for a world that looks at what it has seen.
    pub fn resident_mut<R: Resident>(&mut self, resource: Resource, node: NodeId) -> &mut R {
        self.hosts[node.index()].resident_as_mut(resource).expect("a world has its nodes taken in first")
    }

    /// A node's instance of the algorithm of a resource is told something.
    pub fn cue(&mut self, now: Time, resource: Resource, node: NodeId, cue: Cue) -> Result<(), Declined> {
        let taken = self.hosts[node.index()].cue(now, resource, cue);
        self.done(now, node);
        taken
    }

    /// Whether a node has room for what an application wants done.
    pub fn admits(&self, node: NodeId) -> bool {
        self.hosts[node.index()].stack().admits().is_ok()
    }

    /// A node does what is due.
    pub fn rouse(&mut self, now: Time, node: NodeId) {
        self.hosts[node.index()].woken(now);
        self.done(now, node);
    }

    /// When something happens next.
    pub fn wakes(&self) -> Option<Time> {
        self.queue.next_time()
    }

    /// Lets one thing happen that is due by now, if there is any.
    pub fn step(&mut self, now: Time) -> bool {
        let Some((at, number)) = self.queue.pop_by(now) else { return false };
        match self.due.remove(number).flatten() {
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

    /// One that pauses is roused when it goes on.
    fn wake(&mut self, now: Time, node: NodeId) {
        if self.bodies[node.index()].condition == Condition::Up {
            self.rouse(now, node);
        }
    }

    fn hear(&mut self, now: Time, node: NodeId, from: NodeId, packet: Rc<Packet>) {
        match self.bodies[node.index()].condition {
            Condition::Down(_) => {}
            Condition::Paused => self.deferred.push((node, Due::Heard(node, from, packet))),
            Condition::Up => {
                self.hosts[node.index()].received(now, from, &packet);
                self.done(now, node);
            }
        }
    }

    fn fail(&mut self, now: Time, node: NodeId, to: NodeId, packet: Rc<Packet>) {
        match self.bodies[node.index()].condition {
            Condition::Down(_) => {}
            Condition::Paused => self.deferred.push((node, Due::Failed(node, to, packet))),
            Condition::Up => {
                self.hosts[node.index()].unsent(now, to, &packet);
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

    /// Whether a crash may be the end of what a node knows: if the algorithms of all its resources survive that.
    fn survives_crash(&self) -> bool {
        self.shared.iter().all(|shared| shared.kind.survives_crash)
    }

    /// What happens to a node concerns all resources.
    fn tell_all(&mut self, node: NodeId, news: &News) {
        for shared in &mut self.shared {
            shared.news.push_back((node, news.clone()));
        }
    }

    /// A node crashes, unless it was off before.
    fn fails(&mut self, now: Time, node: NodeId, memory: Memory) {
        if matches!(self.bodies[node.index()].condition, Condition::Down(_)) {
            return;
        }
        if self.survives_crash() && memory == Memory::Lost {
            self.crash(now, node);
            self.tell_all(node, &News::Crashed);
            return;
        }
        self.switch_off(now, node, Memory::Kept);
        self.tell_all(node, &News::Killed);
    }

    /// A node that crashed is back, unless something else has switched it on or off since.
    fn comes_back(&mut self, now: Time, node: NodeId, memory: Memory) {
        match (self.bodies[node.index()].condition, memory) {
            (Condition::Up | Condition::Paused, _) | (Condition::Down(Memory::Lost), Memory::Kept) => {}
            (Condition::Down(Memory::Kept), memory) if !self.survives_crash() || memory == Memory::Kept => {
                self.switch_on(now, node);
                self.tell_all(node, &News::Restored);
            }
            (Condition::Down(before), Memory::Kept | Memory::Lost) => {
                if before == Memory::Kept {
                    // It crashed again meanwhile, and that took the memory.
                    self.crash(now, node);
                    self.tell_all(node, &News::Crashed);
                }
                self.switch_on(now, node);
                self.tell_all(node, &News::Restarted);
            }
        }
    }

    fn pause(&mut self, node: NodeId) {
        let condition = &mut self.bodies[node.index()].condition;
        if *condition == Condition::Up {
            *condition = Condition::Paused;
            self.tell_all(node, &News::Paused);
        }
    }

    /// A paused node goes on with what it should have done meanwhile.
    fn resume(&mut self, now: Time, node: NodeId) {
        if self.bodies[node.index()].condition != Condition::Paused {
            return;
        }
        self.bodies[node.index()].condition = Condition::Up;
        let deferred: Vec<_> = self.deferred.extract_if(.., |(of, _)| *of == node).collect();
        for (_, due) in deferred {
            self.schedule(now, due);
        }
        self.tell_all(node, &News::Resumed);
    }

    fn expect_fault(&mut self) {
        if let Some(at) = self.faults.next().filter(|at| *at < self.fault_due) {
            self.fault_due = at;
            self.schedule(at, Due::Fault);
        }
    }

    /// Something goes wrong that was not planned, until it is ended by this number.
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
        self.deferred.retain(|(of, _)| *of != node);
        for due in self.due.iter_mut() {
            _ = due.take_if(|due| matches!(due, Due::Transmit(from, ..) if *from == node));
        }
    }

    /// The next life of a node begins, with what its layers had stored if it has its memory. Its instance of the
    /// algorithm is a matter of the world.
    fn switch_on(&mut self, now: Time, node: NodeId) {
        self.medium.air().set_down(now, node, false);
        let body = &mut self.bodies[node.index()];
        let remembers = body.condition == Condition::Down(Memory::Kept);
        *body = Body { wakes: Time::END, condition: Condition::Up, boot: Boot(body.boot.0 + 1) };
        let (boot, host) = (body.boot, &mut self.hosts[node.index()]);
        let stack = if remembers {
            Stack::restored(now, node, host.stack().durable(), &self.layers)
        } else {
            Stack::new(now, node, boot, &self.layers)
        };
        let former = std::mem::replace(host, Host::new(stack));
        for (resource, share, resident) in former.into_residents() {
            host.take_in(now, resource, share, resident).expect("it was there before");
        }
        self.done(now, node);
    }

    /// What the world of a resource has to be told next.
    pub fn next_news(&mut self, resource: Resource) -> Option<(NodeId, News)> {
        self.shared_mut(resource).news.pop_front()
    }

    /// A node that has done something since the world of a resource last looked at it.
    pub fn next_busy(&mut self, resource: Resource) -> Option<NodeId> {
        self.shared_mut(resource).busy.pop_front()
    }

    /// Whether there is anything that the world of some resource has not looked at.
    pub fn has_news(&self) -> bool {
        self.shared.iter().any(|shared| !(shared.news.is_empty() && shared.busy.is_empty()))
    }

    /// Whether nodes hear by themselves who else takes part in a resource.
    pub fn hears_of_members(&self, resource: Resource) -> bool {
        self.shared(resource).kind.hears_of_members
    }

    /// A node is told for certain that another one takes part in a resource, in this life.
    pub fn introduce(&mut self, now: Time, resource: Resource, node: NodeId, other: (NodeId, Incarnation)) {
        self.hosts[node.index()].introduce(now, resource, other.0, other.1);
        self.done(now, node);
    }

    /// What all radios have done until now.
    pub fn effort(&mut self, now: Time) -> Effort {
        let (total, joules) = self.medium.effort(now);
        Effort {
            transmissions: total.data_sent,
            acknowledgements: total.acks_sent,
            receptions: total.data_received,
            bytes: total.bytes_sent,
            airtime: Span(total.transmitting_ns),
            joules,
        }
    }

    /// Each node goes to a place of its own, and stays there.
    pub fn place_all(&mut self, now: Time, points: Vec<Point>) -> Result<(), ModelError> {
        if let Some(scenery) = &mut self.scenery {
            scenery.settled(now);
        }
        self.medium.place_all(now, points)
    }

    /// Whether a node is there at all: one that follows a file may not have come yet, or has left.
    pub fn is_present(&mut self, now: Time, node: NodeId) -> bool {
        self.medium.is_present(now, node)
    }

    /// When the first node is there.
    pub fn begins(&self) -> Time {
        self.medium.begins()
    }

    /// From when on all nodes stand, or are gone, for ever, if all follow a file on which any moves or leaves.
    pub fn ends(&self) -> Option<Time> {
        self.medium.ends()
    }

    /// Where a node is.
    pub fn position(&mut self, now: Time, node: NodeId) -> Point {
        self.medium.position(now, node)
    }

    /// Carries out what a node wants, and sees when it wants to be woken.
    fn done(&mut self, now: Time, node: NodeId) {
        let mut deeds = std::mem::take(&mut self.deeds);
        let has_acted = self.hosts[node.index()].take_deeds(&mut deeds);
        if matches!(self.bodies[node.index()].condition, Condition::Down(_)) {
            // One that is off is only looked at: it does nothing.
            deeds.clear();
        }
        if has_acted {
            self.shared.iter_mut().for_each(|shared| shared.busy.push_back(node));
        }
        for deed in deeds.drain(..) {
            match deed {
                Do::Transmit { to, packet, delay } if delay == Span::ZERO => {
                    self.transmit(now, node, to, Rc::new(packet));
                }
                Do::Transmit { to, packet, delay } => {
                    self.schedule(now + delay, Due::Transmit(node, to, Rc::new(packet)));
                }
                Do::Granted { resource, .. }
                | Do::Renewed { resource, .. }
                | Do::Revoked { resource, .. }
                | Do::Departed(resource) => self.shared_mut(resource).news.push_back((node, News::Deed(deed))),
            }
        }
        self.deeds = deeds;
        self.look_at(now, node);
        self.expect(node);
    }

    /// Has what is new in a node's layers told to the trace.
    fn look_at(&mut self, now: Time, node: NodeId) {
        if let Some(scenery) = &mut self.scenery {
            let stack = self.hosts[node.index()].stack();
            for (resource, shared) in (0..).map(Resource).zip(&self.shared) {
                let doubts = stack.in_doubt().filter(|(_, parcel)| parcel.resource == resource);
                let doubts = doubts.map(|(to, parcel)| (to, (shared.kind.permits)(parcel)));
                scenery.doubts(now, (resource, node), doubts);
            }
            scenery.routes(now, node, stack.routes(now));
        }
    }

    /// From now on remembers what a trace should tell.
    pub fn watch(&mut self) {
        if self.scenery.is_some() {
            return;
        }
        let start = self.medium.begins();
        // Before that there is nothing to tell: no node is there.
        self.medium.pass(start);
        self.medium.watch();
        self.scenery = Some(Scenery::since(start));
    }

    /// What is new on the field since the last call.
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
        let nodes = u32::try_from(self.hosts.len()).unwrap_or(u32::MAX);
        self.capturing = Capturing::to(writer, nodes)?;
        self.medium.air().set_watched(true);
        Ok(())
    }

    /// Ends the capture.
    pub fn finish(self) -> io::Result<()> {
        self.capturing.finish()
    }

    fn expect(&mut self, node: NodeId) {
        let at = self.hosts[node.index()].wakes().unwrap_or(Time::END);
        if at < self.bodies[node.index()].wakes {
            self.bodies[node.index()].wakes = at;
            self.schedule(at, Due::Wake(node));
        }
    }

    fn schedule(&mut self, at: Time, due: Due) {
        self.queue.schedule(at, self.due.insert(Some(due)));
    }
}

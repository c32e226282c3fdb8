//! Nodes that are killed and come back, and the applications that outlive them.
//!
//! A node that comes back has what it had stored, and nothing else. Its application is another process, and goes on:
//! until it leaves its CS, or its lease ends by the clock of the world. If its node is back before that it may show its
//! grant, and is one of that node again. Whatever is left to chance has a stream of its own.

use std::mem;
use std::time::Duration;

use driftlock_net::{Span, Time};
use driftlock_protocol::ideal::{CRASHES, Change, Fate, Ideal, News, RESTARTS, REVIVALS};
use driftlock_protocol::{Demand, Flight, Grant, Input, Node, NodeId, Out, Outbox, Protocol, Stored, carries_permits};
use rand::RngExt;

use super::field::{Deferred, FieldNode};
use super::{Step, World};
use crate::meter::Waiter;
use crate::queue::Event;
use crate::random::{Stream, exponential};

/// How many delays of a message it takes on average until the next life of a node hears of an application, or that
/// there is none.
const HEARSAY_DELAYS: f64 = 2.0;
/// The share of applications that show their grant when their node is back.
const RESUMES: f64 = 0.5;

/// An application asks again so much later if its node has no room for what it wants done.
const FULL_PAUSE: Span = Span::from_millis(1_000);

/// An application whose node was killed while it used this.
#[derive(Clone, Copy, Debug)]
struct Outlived {
    node: NodeId,
    grant: Grant,
    entry: u32,
    /// When its lease ends, if its grant is one.
    until: Option<Time>,
}

/// What was done to lives in a world.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Toll {
    /// Nodes that were killed, and had what they had stored when they were back.
    pub restarts: u64,
    /// Nodes that were killed and had lost it.
    pub disk_losses: u64,
    /// Applications that were inside then.
    pub outlived: u64,
    /// Those of them that became ones of their node again.
    pub resumed: u64,
}

/// What a world knows of the lives of its nodes.
pub(super) struct Lives<P: Protocol> {
    /// What is left to chance.
    draws: Stream,
    /// Nodes that are down, as they were when they were killed.
    down: Vec<(NodeId, Node<P>)>,
    outlived: Vec<Outlived>,
    toll: Toll,
    /// What applications will ask for again, which waited when their nodes were killed, or had no room there.
    again: Vec<(NodeId, Demand, Waiter)>,
    /// What is taken away from what nodes have stored.
    forget: Option<fn(&mut Stored<P::Durable>)>,
}

impl<P: Protocol> Lives<P> {
    /// All are in their first one.
    pub(super) fn new(draws: Stream) -> Self {
        Self { draws, down: Vec::new(), outlived: Vec::new(), toll: Toll::default(), again: Vec::new(), forget: None }
    }

    /// Whether a node was killed and is not back.
    pub(super) fn is_down(&self, node: NodeId) -> bool {
        self.down.iter().any(|(down, _)| *down == node)
    }

    /// A node was killed, and will not find what it had stored.
    pub(super) fn count_disk_loss(&mut self) {
        self.toll.disk_losses += 1;
    }

    /// Whether any node was.
    pub(super) fn has_killed(&self) -> bool {
        self.toll.restarts > 0
    }

    /// What the application at a node that was killed had asked for, if it waited then.
    pub(super) fn take_wait(&mut self, node: NodeId) -> Option<(Demand, Waiter)> {
        let at = self.again.iter().position(|(of, ..)| *of == node)?;
        let (_, demand, waiter) = self.again.swap_remove(at);
        Some((demand, waiter))
    }

    fn is_outlived(&self, node: NodeId, grant: Grant) -> bool {
        self.outlived.iter().any(|outlived| (outlived.node, outlived.grant) == (node, grant))
    }

    fn take(&mut self, node: NodeId, entry: u32) -> Option<Outlived> {
        let at = self.outlived.iter().position(|outlived| (outlived.node, outlived.entry) == (node, entry))?;
        Some(self.outlived.swap_remove(at))
    }
}

impl<P: Protocol> World<P> {
    /// From now on this is taken away from whatever a node has stored when it comes back: to see what it is for.
    pub fn forget_of_disks(&mut self, forget: fn(&mut Stored<P::Durable>)) {
        self.lives.forget = Some(forget);
    }

    /// What was done to lives so far.
    pub fn toll(&self) -> Toll {
        self.lives.toll
    }

    /// Whether a node was killed and is not back.
    pub fn is_down(&self, node: NodeId) -> bool {
        self.lives.is_down(node)
    }

    /// Whether a node takes it that an application of an earlier life of it may be inside: it asks for nothing
    /// meanwhile.
    pub fn is_left(&self, node: NodeId) -> bool {
        self.shell(node).left().is_some()
    }

    /// Whether much is at stake at a node: it holds something, or something is on its way to it or from it.
    pub fn is_precious(&self, node: NodeId) -> bool {
        let protocol = self.shell(node).protocol();
        let is_concerned = |flight: Flight<'_, P::Message>| {
            (flight.from == node || flight.to == node) && carries_permits::<P>(flight.message)
        };
        protocol.has_token() || !protocol.held().is_empty() || self.moment().flights.into_iter().any(is_concerned)
    }

    /// A node is killed and started again.
    pub fn restart(&mut self, node: NodeId) -> Step<()> {
        self.kill(node)?;
        self.back(node)
    }

    /// A node is killed. No other is told; over links the other ends notice by themselves, each in its time, and the
    /// node is back at once.
    pub fn kill(&mut self, node: NodeId) -> Step<()> {
        if self.is_down(node) {
            return Ok(());
        }
        if self.field.is_some() {
            self.cut_off_on_field(node);
            self.killed(node);
            return Ok(());
        }
        self.change(Change::at(&RESTARTS, node), Fate::Drained)
    }

    /// What being killed means to a node and its application.
    pub(super) fn killed(&mut self, node: NodeId) {
        self.lives.toll.restarts += 1;
        let waits = self.shell(node).demand().map(|demand| (node, demand, self.meter.waiter(node)));
        self.outlive(node);
        self.die(node);
        if waits.is_some() {
            // When it is back, its application wants the same again, and has wanted it since before.
            self.lives.again.extend(waits);
            self.put_off(node, Event::Request { node });
        }
        // Until it is back, what is on its disk is all that there is of it to look at.
        let mut unused = Outbox::new();
        let on_disk = self.next_life(node, self.shell(node), &mut unused);
        let killed = self.replace(node, on_disk);
        self.lives.down.push((node, killed));
    }

    /// An application is told that its node has no room for what it wants done.
    pub(super) fn ask_again_later(&mut self, node: NodeId, demand: Demand, waiter: Waiter) {
        self.lives.again.push((node, demand, waiter));
        self.schedule(FULL_PAUSE, Event::Request { node });
    }

    /// A node that was killed is back, and has what it had stored, if it is not back yet.
    pub fn back(&mut self, node: NodeId) -> Step<()> {
        if !self.is_down(node) {
            return Ok(());
        }
        if self.field.is_some() {
            self.come_back(node)?;
            return self.resumed(node);
        }
        self.change(Change::at(&REVIVALS, node), Fate::Drained)
    }

    /// A node begins its next life, and hears of applications and members.
    pub(super) fn come_back(&mut self, node: NodeId) -> Step<()> {
        let Some(at) = self.lives.down.iter().position(|(down, _)| *down == node) else { return Ok(()) };
        let (_, killed) = self.lives.down.swap_remove(at);
        let mut out = mem::take(&mut self.out);
        let restored = self.next_life(node, &killed, &mut out);
        let change = restored.protocol().status().change_since(&killed.protocol().status());
        if let Some((t, recorder)) = self.recorder() {
            recorder.restart::<P>(t, node, out.effects(), change);
        }
        let out = self.move_in(node, restored, out);
        self.step_taken(node, out)?;
        self.hear_of_applications(node);
        self.hear_of_members(node)
    }

    /// A member is killed, and when it is back it has lost its disk: it knows nothing. No other is told, and its
    /// application goes on if it is inside.
    pub fn lose_disk(&mut self, node: NodeId) -> Step<()> {
        self.crash_on_field(node);
        self.lost_disk(node)
    }

    /// It goes on being taken for a member, like one that has crashed; but its application goes on.
    pub(super) fn lost_disk(&mut self, node: NodeId) -> Step<()> {
        let mut news = self.apply(Change::at(&CRASHES, node));
        for news in news.iter_mut().filter(|news| **news == News::Crashed(node)) {
            *news = News::Wiped(node);
        }
        self.take_place(news, Fate::Drained)
    }

    /// What a node was about to do, and whether it will be back, is gone with it. What its application is about to do
    /// is not.
    pub(super) fn die(&mut self, node: NodeId) {
        self.lives.down.retain(|(down, _)| *down != node);
        self.lives.again.retain(|(of, ..)| *of != node);
        self.armed[node.index()].clear();
        self.deferred.retain(|(of, deferred)| *of != node || matches!(deferred, Deferred::Event(_)));
    }

    /// The applications at a node are no more, whichever of its lives they are of.
    pub(super) fn end_applications(&mut self, node: NodeId) {
        let entries = self.lives.outlived.iter().filter(|outlived| outlived.node == node);
        for entry in entries.map(|outlived| outlived.entry).collect::<Vec<_>>() {
            self.end_outlived(node, entry);
        }
        let shell = self.shell(node);
        if let Some(Grant { permits, .. }) = shell.grant() {
            if !self.oracle.has_lapsed(node) {
                self.meter.released(permits);
            }
        } else if shell.demand().is_some() {
            self.meter.cancelled(node);
        }
        self.oracle.vanished(node);
    }

    /// What a node that was killed is in its next life.
    fn next_life(&self, id: NodeId, killed: &Node<P>, out: &mut Out<P>) -> Node<P> {
        let mut stored = killed.durable();
        if let Some(forget) = self.lives.forget {
            forget(&mut stored);
        }
        Node::restore(id, &self.charter, stored, self.ideal.contacts(id), out)
    }

    /// The application at a node that is being killed goes on if it is inside. If it waits, no node knows of that any
    /// more.
    pub(super) fn outlive(&mut self, node: NodeId) {
        if self.shell(node).demand().is_some() {
            self.meter.cancelled(node);
        }
        let shell = self.shell(node);
        if let Some(grant) = shell.grant().filter(|_| !self.oracle.has_lapsed(node)) {
            let is_lease = shell.protocol().lease().is_some();
            let until = is_lease.then(|| self.lease_ends(node).unwrap_or(self.now).max(self.now));
            let entry = self.entry(node);
            self.lives.outlived.push(Outlived { node, grant, entry, until });
            self.lives.toll.outlived += 1;
            if let Some(until) = until {
                self.queue.schedule(until, Event::Lease { node, entry });
            }
        }
        self.oracle.killed(node);
    }

    /// When the grant ends by itself that the application at a node has, if it is a lease.
    pub(super) fn lease_ends(&self, node: NodeId) -> Option<Time> {
        if let Some(field) = &self.field {
            return field.resident::<FieldNode<P>>(self.resource, node).seat().lease_ends();
        }
        let lease = self.shell(node).protocol().lease()?;
        self.armed[node.index()].iter().find(|armed| armed.timer == lease).map(|armed| armed.due)
    }

    pub(super) fn schedule_drawn(&mut self, delays: f64, event: Event) {
        let after = Span::from_units(exponential(delays * self.delay.mean(), &mut self.lives.draws));
        self.schedule(after, event);
    }

    /// A node that is back will hear of applications of its earlier lives: of each that shows its grant, or that there
    /// is none.
    fn hear_of_applications(&mut self, node: NodeId) {
        let outlived = self.lives.outlived.iter().filter(|outlived| outlived.node == node);
        for entry in outlived.map(|outlived| outlived.entry).collect::<Vec<_>>() {
            if self.lives.draws.random_bool(RESUMES) {
                self.schedule_drawn(HEARSAY_DELAYS, Event::Resume { node, entry });
            }
        }
        self.schedule_gone(node);
    }

    /// If no application of an earlier life is alive, a node that is up will hear of that.
    fn schedule_gone(&mut self, node: NodeId) {
        if self.is_safe_to_say_gone(node) {
            self.schedule_drawn(HEARSAY_DELAYS, Event::Gone { node });
        }
    }

    fn is_safe_to_say_gone(&self, node: NodeId) -> bool {
        let left = self.shell(node).left().filter(|_| !self.is_down(node));
        left.is_some_and(|left| !self.lives.is_outlived(node, left))
    }

    /// A node is told that no application of an earlier life is alive, if that is so.
    pub(super) fn say_gone(&mut self, node: NodeId) -> Step<()> {
        if !self.is_safe_to_say_gone(node) {
            return Ok(());
        }
        self.input(node, Input::Gone)
    }

    /// An application that has outlived its node shows its grant, unless it has ended or the node is down. If it is
    /// refused it goes on until it ends.
    pub(super) fn resume(&mut self, node: NodeId, entry: u32) -> Step<()> {
        if self.is_down(node) {
            return Ok(());
        }
        let Some(outlived) = self.lives.take(node, entry) else { return Ok(()) };
        let left = outlived.until.map_or(Duration::ZERO, |until| Duration::from_nanos((until - self.now).0));
        let mut out = mem::take(&mut self.out);
        if self.take_input(node, Input::Resume { grant: outlived.grant, left }, &mut out).is_some() {
            self.lives.outlived.push(outlived);
        } else {
            self.lives.toll.resumed += 1;
            self.entries[node.index()] = entry;
            self.oracle.resumed(node, outlived.grant.permits)?;
        }
        self.step_taken(node, out)
    }

    /// An application that has outlived its node ends; whether there is such a one.
    pub(super) fn end_outlived(&mut self, node: NodeId, entry: u32) -> bool {
        let Some(Outlived { grant, .. }) = self.lives.take(node, entry) else { return false };
        self.meter.released(grant.permits);
        self.oracle.gone(node, grant.permits);
        self.schedule_gone(node);
        true
    }

    /// The lease of an application ends that has outlived its node, or whose node pauses: it stops.
    pub(super) fn end_lease(&mut self, node: NodeId, entry: u32) {
        self.note_lapse(node);
        let is_over = |outlived: &Outlived| outlived.until.is_some_and(|until| until <= self.now);
        let of_this = |outlived: &&Outlived| (outlived.node, outlived.entry) == (node, entry);
        if self.lives.outlived.iter().find(of_this).is_some_and(is_over) {
            self.end_outlived(node, entry);
        }
    }
}

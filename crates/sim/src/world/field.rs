//! A world on the field: its messages are carried by radios.

use std::mem;

use driftlock_host::{Cue, Declined, Do, Seat, Tenant, tenant};
use driftlock_net::Time;
use driftlock_net::parcel::Resource;
use driftlock_net::stack::Told;
use driftlock_protocol::ideal::Ideal;
use driftlock_protocol::{
    Carrier, Contacts, ContactsOf, Harm, Incarnation, Input, InputOf, LinkEvent, Node, NodeId, Out, Outbox, Protocol,
    Refusal, Status, View,
};
use driftlock_spec::Violation;
use driftlock_trace::Scene;

use super::log::{Log, Seen};
use super::{Step, World, log};
use crate::field::{Bonds, Effort, Field, News};
use crate::live::Glimpse;
use crate::queue::Event;

/// A node on a field, with what was seen of it.
pub(super) type FieldNode<P> = Tenant<P, Log<P>>;

/// What waits for a node that has paused.
#[derive(Clone, Debug)]
pub(super) enum Deferred<V> {
    Event(Event),
    Told(V),
}

/// A node on a field is given an input, or refuses it. What the layers below tell, and timers, come from there.
pub(super) fn give<P: Protocol>(
    field: &mut Field,
    now: Time,
    (resource, node): (Resource, NodeId),
    input: InputOf<P>,
) -> Option<Refusal> {
    let cue = match input {
        Input::Request(demand) => Cue::Request(demand),
        Input::Cancel => Cue::Cancel,
        Input::Release => Cue::Release,
        Input::Resume { grant, left } => Cue::Resume { grant, left },
        Input::Gone => Cue::Gone,
        Input::Below(view) => {
            let crossing = view.crossing().expect("a node hears of all but borders from its own layers");
            Cue::Crossing(crossing.clone())
        }
        Input::Message { .. } | Input::Undelivered { .. } | Input::Timer(_) => unreachable!("likewise of messages"),
    };
    match field.cue(now, resource, node, cue) {
        Ok(()) => None,
        Err(Declined::Refused(refusal)) => Some(refusal),
        Err(full @ Declined::Full(_)) => unreachable!("it was asked whether it has room: {full}"),
    }
}

impl<P: Protocol> World<P> {
    /// The place of the field, which goes from hand to hand where several resources are shared on it: a world that acts
    /// has it.
    pub(crate) fn field_in_hand(&mut self) -> &mut Option<Field> {
        &mut self.field
    }

    /// The field, in a world that has one.
    pub fn field(&mut self) -> Option<&mut Field> {
        self.field.as_mut()
    }

    /// A node, wherever it is.
    pub(super) fn shell(&self, node: NodeId) -> &Node<P> {
        match &self.field {
            Some(field) => field.resident::<FieldNode<P>>(self.resource, node).seat().node(),
            None => &self.nodes[node.index()],
        }
    }

    /// On a field, all nodes are there from now on.
    pub(super) fn begin_on_field(&mut self) {
        if self.field.is_some() {
            for node in mem::take(&mut self.nodes) {
                let id = node.id();
                let instance =
                    FieldNode::<P>::new(Seat::new(self.now, node, &Outbox::new()), self.log(), self.outbox());
                let others = self.members().into_iter().filter(|(member, _)| *member != id).collect();
                self.take_in(id, instance, others);
            }
            self.expect_field();
        }
    }

    fn log(&self) -> Log<P> {
        Log::new(self.recorder.is_some())
    }

    fn outbox(&self) -> Out<P> {
        if self.recorder.is_some() { Outbox::with_clauses() } else { Outbox::new() }
    }

    fn take_in(&mut self, node: NodeId, instance: FieldNode<P>, told_of: Vec<(NodeId, Incarnation)>) {
        let hears = self.hears_of_members();
        if let Some(field) = &mut self.field {
            let instance = if hears { instance } else { instance.by_decree(told_of) };
            field.take_in(self.now, self.resource, node, Box::new(instance));
        }
    }

    /// Whether members hear of one another by themselves.
    pub(super) fn hears_of_members(&self) -> bool {
        self.field.as_ref().is_some_and(|field| field.hears_of_members(self.resource))
    }

    /// Who is in the neighbourhood, if there is one.
    fn members(&self) -> Vec<(NodeId, Incarnation)> {
        self.ideal.listed().collect()
    }

    /// A node is told of all members for certain.
    pub(super) fn introduce_all(&mut self, node: NodeId) -> Step<()> {
        let members = self.members();
        if let Some(field) = &mut self.field {
            for member in members {
                field.introduce(self.now, self.resource, node, member);
            }
        }
        self.follow()
    }

    /// Another node takes the place of one that is off, or outside. It wants nothing done.
    pub(super) fn replace(&mut self, id: NodeId, node: Node<P>) -> Node<P> {
        if self.field.is_none() {
            return mem::replace(&mut self.nodes[id.index()], node);
        }
        let former = self.shell(id).clone();
        let unused = self.outbox();
        _ = self.move_in(id, node, unused);
        former
    }

    /// A node is here from now on, which wants this done. What is left of that for the world is given back.
    pub(super) fn move_in(&mut self, id: NodeId, node: Node<P>, out: Out<P>) -> Out<P> {
        if self.field.is_none() {
            self.nodes[id.index()] = node;
            return out;
        }
        let seat = Seat::new(self.now, node, &out);
        self.take_in(id, FieldNode::<P>::new(seat, self.log(), out), Vec::new());
        self.outbox()
    }

    /// How a node is.
    pub fn glimpse(&mut self, node: NodeId) -> Glimpse {
        let (now, is_silent) = (self.now, self.is_paused(node));
        let Status { section, permits, .. } = self.shell(node).protocol().status();
        let at = self.field.as_mut().map(|field| field.position(now, node)).unwrap_or_default();
        Glimpse { at, section, permits, is_silent }
    }

    /// Whether the application at a node neither waits nor has anything.
    pub fn is_idle(&self, node: NodeId) -> bool {
        let shell = self.shell(node);
        shell.grant().is_none() && shell.pending().is_none() && shell.left().is_none()
    }

    /// Tells the reader of a growing trace that nothing else has happened until now.
    pub fn record_now(&mut self) {
        let checked = self.meter.events();
        if let Some((now, recorder)) = self.recorder() {
            recorder.scene(&Scene::Now { now, checked });
            recorder.flush();
        }
    }

    /// What the radios have done until now, on a field.
    pub fn effort(&mut self) -> Option<Effort> {
        let now = self.now;
        self.field.as_mut().map(|field| field.effort(now))
    }

    /// What became of links until now, on a field, if the algorithm stands on links.
    pub fn bonds(&self) -> Option<Bonds> {
        self.field.as_ref().filter(|_| self.ideal.links().is_some()).map(|field| field.bonds(self.now))
    }

    /// Whether a node has lost its memory since it was granted this entry, and with it what it held.
    pub fn has_forgotten(&self, node: NodeId, entry: u32) -> bool {
        let shell = self.shell(node);
        self.entry(node) == entry && shell.grant().is_none() && shell.pending().is_none()
    }

    /// Whether a node is there at all.
    pub fn is_present(&mut self, node: NodeId) -> bool {
        let now = self.now;
        self.field.as_mut().is_none_or(|field| field.is_present(now, node))
    }

    /// From when on all nodes stand, or are gone, for ever, if all follow a file on which any moves or leaves.
    pub fn movements_end(&self) -> Option<Time> {
        self.field.as_ref().and_then(Field::ends)
    }

    /// Whether a node does nothing at present: it pauses, or is down.
    pub fn is_paused(&self, node: NodeId) -> bool {
        self.field.as_ref().is_some_and(|field| field.is_paused(node)) || self.is_down(node)
    }

    /// Whether what an application is about to do has to wait: it pauses with its node, but it ends by itself while
    /// that is down.
    pub fn has_to_wait(&self, event: Event) -> Option<NodeId> {
        match event {
            Event::Request { node } | Event::Cancel { node } => Some(node).filter(|&node| self.is_paused(node)),
            Event::Release { node, .. } => Some(node).filter(|&node| self.is_paused(node) && !self.is_down(node)),
            _ => None,
        }
    }

    /// The lease of an application whose node pauses has run out, though that will know later.
    pub(super) fn note_lapse(&mut self, node: NodeId) {
        let is_over = self.lease_ends(node).is_some_and(|ends| ends <= self.now);
        if is_over
            && self.is_paused(node)
            && let Some(permits) = self.oracle.lapsed(node)
        {
            self.meter.released(permits);
        }
    }

    /// A node that pauses does not renew its lease.
    fn expect_lapse(&mut self, node: NodeId) {
        if let Some(ends) = self.lease_ends(node) {
            self.queue.schedule(ends.max(self.now), Event::Lease { node, entry: self.entry(node) });
        }
    }

    /// What a paused node should do comes when it goes on.
    pub fn put_off(&mut self, node: NodeId, event: Event) {
        self.deferred.push((node, Deferred::Event(event)));
    }

    /// Likewise what it should be told.
    pub(super) fn tell_later(&mut self, node: NodeId, view: P::View) {
        self.deferred.push((node, Deferred::Told(view)));
    }

    /// No link of a node is up any more that is being killed: for the reader of the trace, and for counts.
    pub(super) fn cut_off_on_field(&mut self, node: NodeId) {
        for (peer, incarnation) in self.shell(node).contacts().links().to_vec() {
            self.note_link(node, LinkEvent::Down { peer, incarnation });
        }
    }

    /// What a node that is killed has sent and not stored is lost.
    fn lose_flights(&mut self, node: NodeId) {
        self.flights.retain(|(from, _, message)| *from != node || tenant::keeps::<P>(message));
    }

    /// A member crashes with all that it knows, on a field, and so do the layers below it.
    pub(super) fn crash_on_field(&mut self, node: NodeId) {
        if let Some(field) = &mut self.field {
            field.crash(self.now, node);
            self.flights.retain(|(from, to, _)| *from != node && *to != node);
        }
    }

    fn note_link(&mut self, node: NodeId, event: LinkEvent) {
        let (peer, incarnation, up) = match event {
            LinkEvent::Up { peer, incarnation } => (peer, incarnation, true),
            LinkEvent::Down { peer, incarnation } => (peer, incarnation, false),
        };
        let now = self.now;
        if self.field.as_mut().is_some_and(|field| field.told_of_link(now, node, peer, up))
            && let Some((t, recorder)) = self.recorder()
        {
            recorder.link(t, (node.min(peer), node.max(peer)), up, incarnation);
        }
    }

    /// A node goes on.
    pub(super) fn resumed(&mut self, node: NodeId) -> Step<()> {
        if let Some(field) = &mut self.field {
            field.rouse(self.now, node);
            self.follow()?;
        }
        let deferred: Vec<_> =
            self.deferred.extract_if(.., |(of, _)| *of == node).map(|(_, deferred)| deferred).collect();
        for deferred in deferred {
            match deferred {
                Deferred::Event(event) => self.queue.schedule(self.now, event),
                Deferred::Told(view) => {
                    // Who has come or gone meanwhile is of no interest to one that has left when it woke.
                    let enters = ContactsOf::<P::View>::default().hear(node, &view).is_ok();
                    if enters || self.shell(node).contacts().is_anywhere() {
                        self.tell(node, view)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Sees to it that the field is looked at when something happens there.
    pub(crate) fn expect_field(&mut self) {
        // Something may be overdue: a node that paused sends before it is woken.
        let next = self.field.as_ref().and_then(Field::wakes).map(|at| at.max(self.now));
        if let Some(at) = next.filter(|at| *at < self.field_due) {
            self.field_due = at;
            self.queue.schedule(at, Event::Field);
        }
    }

    /// Lets everything happen that is due on the field, and tells the nodes.
    pub(super) fn run_field(&mut self) -> Step<()> {
        if self.field_due != self.now {
            // It was looked at before.
            return Ok(());
        }
        self.field_due = Time::END;
        while let Some(field) = &mut self.field
            && field.step(self.now)
        {
            if field.has_news() {
                self.follow()?;
            }
        }
        self.expect_field();
        Ok(())
    }

    /// Sees what nodes on the field have done, and does what concerns their applications and lives.
    pub(crate) fn follow(&mut self) -> Step<()> {
        loop {
            self.look()?;
            let Some((node, news)) = self.field.as_mut().and_then(|field| field.next_news(self.resource)) else {
                break;
            };
            self.hear(node, &news)?;
        }
        self.expect_field();
        Ok(())
    }

    /// Sees what nodes have done.
    fn look(&mut self) -> Step<()> {
        let mut has_seen = false;
        while let Some(field) = &mut self.field
            && let Some(node) = field.next_busy(self.resource)
        {
            let mut seen = field.resident_mut::<FieldNode<P>>(self.resource, node).watch.take();
            has_seen |= !seen.is_empty();
            for one in seen.drain(..) {
                self.note(node, one)?;
            }
            if let Some(field) = &mut self.field {
                field.resident_mut::<FieldNode<P>>(self.resource, node).watch.give_back(seen);
            }
        }
        if has_seen { self.check() } else { Ok(()) }
    }

    fn note(&mut self, node: NodeId, seen: Seen<P>) -> Step<()> {
        match seen {
            Seen::Told(Told::Link(event)) => self.note_link(node, event),
            Seen::Told(Told::Message { from, message, .. }) => self.note_landed(from, node, &message),
            Seen::Told(Told::Undelivered { to, message }) => self.note_landed(node, to, &message),
            Seen::Told(Told::Met { .. } | Told::Parted { .. } | Told::Said(_)) => {}
            // It was on its way no longer than until now. Its permits do not count as lost: it carries none.
            Seen::Told(Told::Dropped { to, message }) => _ = self.take_flight(node, to, &message),
            Seen::Step(step) => {
                let log::Step { input, out, refused, change } = *step;
                if let Some((t, recorder)) = self.recorder() {
                    recorder.step::<P>(t, node, &input, &out, refused, change);
                }
            }
            Seen::Sent { to, is_known, message, shared } => {
                self.meter.sent(P::kind(&message), shared, P::is_token(&message), P::permits(&message));
                if is_known {
                    self.flights.push((node, to, message));
                } else if self.ideal.links().is_some() {
                    return Err(Violation::NoLink { from: node, to }.into());
                } else {
                    // To a node that has left, or that the sender has not heard of.
                    self.meter.landed(P::permits(&message));
                }
            }
        }
        Ok(())
    }

    /// A message has arrived, or is its sender's again.
    fn note_landed(&mut self, from: NodeId, to: NodeId, message: &P::Message) {
        if self.take_flight(from, to, message) {
            self.meter.landed(P::permits(message));
        }
    }

    /// Whether a message was on its way, which it is no more.
    fn take_flight(&mut self, from: NodeId, to: NodeId, message: &P::Message) -> bool {
        let at = self.flights.iter().position(|flight| flight.0 == from && flight.1 == to && flight.2 == *message);
        at.map(|at| self.flights.remove(at)).is_some()
    }

    fn hear(&mut self, node: NodeId, news: &News) -> Step<()> {
        match news {
            News::Deed(Do::Granted { grant, .. }) => self.grant(node, *grant),
            News::Deed(Do::Revoked { demand, .. }) => {
                self.revoke(node, *demand);
                Ok(())
            }
            News::Deed(Do::Departed(_)) => self.depart(node),
            News::Deed(Do::Renewed { .. } | Do::Transmit { .. }) => Ok(()),
            News::Paused => {
                self.expect_lapse(node);
                Ok(())
            }
            News::Killed => {
                self.lose_flights(node);
                if P::CLAIMS.stand(Harm::Restart) { self.kill(node) } else { Ok(()) }
            }
            News::Restored if self.is_down(node) => self.back(node),
            // One whose algorithm does not claim to stand restarts has all that it had.
            News::Resumed | News::Restored => self.resumed(node),
            News::Crashed => {
                let waits = self.shell(node).demand().is_some();
                self.flights.retain(|(from, to, _)| *from != node && *to != node);
                self.lost_disk(node)?;
                if waits {
                    // When it is back, it wants the same again.
                    self.put_off(node, Event::Request { node });
                }
                Ok(())
            }
            News::Restarted => {
                self.enter(node)?;
                self.resumed(node)
            }
        }
    }
}

//! A world on the field: its messages are carried by radios.

use driftlock_net::Time;
use driftlock_net::stack::Told;
use driftlock_protocol::ideal::Ideal;
use driftlock_protocol::{
    Harm, Incarnation, Input, LinkEvent, NodeId, Protocol, Reach, ReachOf, Status, View, carries_permits,
};
use driftlock_spec::Violation;
use driftlock_trace::Scene;

use super::{Armed, Step, World};
use crate::afield::{Afield, Bonds, Effort, News};
use crate::live::Glimpse;
use crate::queue::Event;

/// What waits for a node that has paused.
#[derive(Clone, Debug)]
pub(super) enum Held<V> {
    Event(Event),
    Told(V),
}

impl<P: Protocol> World<P> {
    /// The field, in a world that has one.
    pub fn field(&mut self) -> Option<&mut Afield<P::Message>> {
        self.field.as_mut()
    }

    /// How a node is.
    pub fn glimpse(&mut self, node: NodeId) -> Glimpse {
        let (now, is_silent) = (self.now, self.is_paused(node));
        let Status { section, permits, .. } = self.nodes[node.index()].protocol().status();
        let at = self.field.as_mut().map(|field| field.position(now, node)).unwrap_or_default();
        Glimpse { at, section, permits, is_silent }
    }

    /// Whether the application at a node neither waits nor has anything.
    pub fn is_idle(&self, node: NodeId) -> bool {
        let shell = &self.nodes[node.index()];
        shell.grant().is_none() && shell.pending().is_none() && shell.left().is_none()
    }

    /// Tells whoever reads the trace along that nothing else has happened until now.
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
        let shell = &self.nodes[node.index()];
        self.entry(node) == entry && shell.grant().is_none() && shell.pending().is_none()
    }

    /// Whether a node is there at all.
    pub fn is_present(&mut self, node: NodeId) -> bool {
        let now = self.now;
        self.field.as_mut().is_none_or(|field| field.is_present(now, node))
    }

    /// From when on everybody stands, or is gone, for ever, if all follow a file on which any moves or leaves.
    pub fn movements_end(&self) -> Option<Time> {
        self.field.as_ref().and_then(Afield::ends)
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

    /// A grant that is a lease has run out if this was its timer, also where its node pauses and will know later.
    pub(super) fn note_lapse(&mut self, node: NodeId, arming: u32) {
        let lease = self.nodes[node.index()].protocol().lease();
        let is_lease = |armed: &Armed<P::Timer>| armed.arming == arming && Some(armed.timer) == lease;
        if self.armed[node.index()].iter().any(is_lease)
            && let Some(permits) = self.oracle.lapsed(node)
        {
            self.meter.released(permits);
        }
    }

    /// What a paused node should do comes when it goes on.
    pub fn put_off(&mut self, node: NodeId, event: Event) {
        self.held.push((node, Held::Event(event)));
    }

    /// Likewise what it should be told.
    pub(super) fn tell_later(&mut self, node: NodeId, view: P::View) {
        self.held.push((node, Held::Told(view)));
    }

    /// Timers that are due come first, whatever else there is.
    fn run_due_timers(&mut self, node: NodeId) -> Step<()> {
        let is_timer = |held: &Held<_>| matches!(held, Held::Event(Event::Timer { .. }));
        let timers: Vec<_> = self.held.extract_if(.., |(of, held)| *of == node && is_timer(held)).collect();
        for (_, held) in timers {
            if let Held::Event(timer) = held {
                self.deliver(timer)?;
            }
        }
        Ok(())
    }

    /// No link of a node is up any more that is being killed: for whoever reads the trace, and counts.
    pub(super) fn cut_off_afield(&mut self, node: NodeId) {
        for (peer, incarnation) in self.nodes[node.index()].reach().links().to_vec() {
            self.note_link(node, LinkEvent::Down { peer, incarnation });
        }
    }

    /// A node whose algorithm does not claim to stand restarts is back with all that it had; none of its links is up.
    fn restored(&mut self, node: NodeId) -> Step<()> {
        // It is told of all links now, also of those that it has not heard of since it was back the last time.
        let has_links = self.ideal.links().is_some();
        self.held.retain(|(of, held)| *of != node || !(has_links && matches!(held, Held::Told(_))));
        self.run_due_timers(node)?;
        for (peer, incarnation) in self.nodes[node.index()].reach().links().to_vec() {
            self.tell_of_link(node, LinkEvent::Down { peer, incarnation })?;
        }
        self.resumed(node)
    }

    /// A node hears of a link, and so does a trace once both ends have.
    fn tell_of_link(&mut self, node: NodeId, event: LinkEvent) -> Step<()> {
        self.note_link(node, event);
        P::View::of_link(event).map_or(Ok(()), |view| self.tell(node, view))
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
        self.run_due_timers(node)?;
        let held: Vec<_> = self.held.extract_if(.., |(of, _)| *of == node).map(|(_, held)| held).collect();
        for held in held {
            match held {
                Held::Event(event @ Event::Timer { .. }) => self.put_off(node, event),
                Held::Event(event) => self.queue.schedule(self.now, event),
                Held::Told(view) => {
                    // Who has come or gone meanwhile is of no interest to one that has left when it woke.
                    let enters = ReachOf::<P::View>::default().hear(node, &view).is_ok();
                    if enters || self.nodes[node.index()].reach().is_anywhere() {
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
        let next = self.field.as_ref().and_then(Afield::wakes).map(|at| at.max(self.now));
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
        while let Some(field) = &mut self.field {
            match field.next_news() {
                Some((node, news)) => self.hear(node, news)?,
                None if field.step(self.now) => {}
                None => break,
            }
        }
        self.expect_field();
        Ok(())
    }

    fn hear(&mut self, node: NodeId, news: News<P::Message>) -> Step<()> {
        let is_down = self.is_down(node);
        match news {
            News::Resumed => self.resumed(node),
            News::Killed if P::CLAIMS.stand(Harm::Restart) => self.kill(node),
            News::Killed => Ok(()),
            News::Restored if is_down => self.back(node),
            News::Restored => self.restored(node),
            News::Crashed => {
                let waits = self.nodes[node.index()].demand().is_some();
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
            News::Told(told) => self.told(node, told),
        }
    }

    /// A node's stack tells it something.
    fn told(&mut self, node: NodeId, told: Told<P::Message>) -> Step<()> {
        let Some(field) = &mut self.field else { return Ok(()) };
        match told {
            Told::Link(event) => self.tell_of_link(node, event),
            Told::Message { from, incarnation, message } => {
                if field.landed(from, node, &message) {
                    self.meter.landed(P::permits(&message));
                }
                let permits = carries_permits::<P>(&message);
                let may_come = self.nodes[node.index()].admit(from, incarnation, permits).is_ok();
                // Else it is for a life that is over.
                if may_come { self.input(node, Input::Message { from, incarnation, message }) } else { Ok(()) }
            }
            Told::Undelivered { to, message } => {
                if field.landed(node, to, &message) {
                    self.meter.landed(P::permits(&message));
                }
                self.input(node, Input::Undelivered { to, message })
            }
            Told::Met { peer, life } => self.tell_of_member(node, peer, Some(life)),
            Told::Parted { peer } => self.tell_of_member(node, peer, None),
            // Nodes of a world have nothing else to say of themselves.
            Told::Said(_) => Ok(()),
            // Nobody knows, and nobody has to: it is on its way no longer.
            Told::Dropped { to, message } => {
                field.landed(node, to, &message);
                Ok(())
            }
        }
    }

    pub(super) fn send_afield(&mut self, from: NodeId, to: NodeId, message: P::Message, shared: bool) -> Step<()> {
        let Some(field) = &mut self.field else { return Ok(()) };
        let has_links = self.ideal.links().is_some();
        let life = || self.ideal.neighbourhood().and_then(|inside| inside.life_of(to));
        let incarnation = match () {
            () if has_links => self.nodes[from.index()].incarnation(to),
            () if field.hears_of_members() => field.life_heard_by(from, to),
            () => life(),
        };
        match incarnation {
            Some(incarnation) => field.send(self.now, from, (to, incarnation), message, shared),
            None if has_links => return Err(Violation::NoLink { from, to }.into()),
            // To a node that has left, or that the sender has not heard of.
            None => self.meter.landed(P::permits(&message)),
        }
        Ok(())
    }

    /// Whether members hear of one another by themselves.
    pub(super) fn hears_of_members(&self) -> bool {
        self.field.as_ref().is_some_and(Afield::hears_of_members)
    }

    /// Whoever is in the neighbourhood at the start says so from then on.
    pub(super) fn announce_members(&mut self) {
        let members: Vec<_> = self.ideal.listed().collect();
        members.into_iter().for_each(|(member, _)| self.announce(member));
    }

    /// A member says on the field that it is there, and in which life.
    pub(super) fn announce(&mut self, node: NodeId) {
        let life = self.ideal.neighbourhood().and_then(|inside| inside.life_of(node));
        if let Some(field) = self.field.as_mut().filter(|_| life.is_some()) {
            field.takes_part(self.now, node, life);
        }
    }

    /// A node is told of all members for certain.
    pub(super) fn introduce_all(&mut self, node: NodeId) {
        let members: Vec<_> = self.ideal.listed().collect();
        if let Some(field) = &mut self.field {
            members.into_iter().for_each(|(member, life)| field.introduce(self.now, node, member, life));
        }
    }

    /// A member has heard of another one, or not for long. One that is about to leave was told who is there.
    fn tell_of_member(&mut self, node: NodeId, peer: NodeId, life: Option<Incarnation>) -> Step<()> {
        let is_inside = self.nodes[node.index()].reach().is_anywhere();
        let may_hear = self.hears_of_members() && is_inside && !self.is_leaving(node) && !self.is_down(node);
        let hint = P::View::hint(peer, life).filter(|_| may_hear);
        hint.map_or(Ok(()), |hint| self.tell(node, hint))
    }

    /// What a node has sent in this step goes out.
    pub(super) fn dispatch_afield(&mut self) {
        if let Some(field) = &mut self.field {
            field.dispatch(self.now);
            self.expect_field();
        }
    }
}

//! Nodes, the layer below them and time: the event loop on which measured runs and fault-and-heal runs stand.

use std::mem;

use driftlock_net::parcel::Resource;
use driftlock_net::{Span, Time};
use driftlock_protocol::ideal::{
    CRASHES, Change, Channels, FAILURES, FORMATIONS, Fate, Ideal, IdealOf, JOINS, LEAVES, Links, Neighbourhood, News,
    Start, Way,
};
use driftlock_protocol::{
    Carrier, Charter, Constants, Contacts, Demand, Deployment, Flight, Grant, Incarnation, Input, InputOf, Moment,
    Node, NodeId, Out, Outbox, Protocol, Refusal, Repairs, Terms,
};
use driftlock_spec::{Oracle, Violation, check_moment, check_permits};
use driftlock_trace::Writer;
use rand::RngExt;

use crate::field::Field;
use crate::meter::{Meter, Waiter};
use crate::queue::{Event, Queue};
use crate::random::{Duration, Stays, Stream};

mod changes;
mod field;
mod hints;
mod lives;
mod log;
mod travel;

use changes::Following;
use hints::Hints;
use lives::Lives;
pub use lives::Toll;
pub use travel::Traveller;

/// What a step gives, unless it ends the run. The violation is boxed because it is rare and large, and every step pays
/// for the size of what it might return.
pub type Step<T> = Result<T, Box<Violation>>;

/// A message and when it arrives.
#[derive(Clone, Debug)]
struct Timed<M> {
    message: M,
    arrives: Time,
}

/// How messages come to overtake one another: each is on its way for its own time, and some for far longer than usual.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Disorder {
    /// The share of messages that are late.
    pub late: f64,
    /// How much longer these take.
    pub by: Duration,
}

/// A timer that was armed, and has not run out.
#[derive(Clone, Debug)]
struct Armed<T> {
    timer: T,
    arming: u32,
    due: Time,
}

/// How a world is made.
pub struct Setting<'a, P: Protocol> {
    /// The nodes, units and links at the start.
    pub deployment: &'a Deployment,
    /// Which of the algorithms that share the implementation.
    pub variant: P::Variant,
    /// Which repairs are in force.
    pub repairs: Repairs,
    /// What users have set of its constants, which was checked.
    pub constants: &'a Constants,
    /// How long a message takes.
    pub delay: Duration,
    /// From which the delays are drawn.
    pub delays: Stream,
    /// From which the stays of those who enter are drawn. The first are those of the deployment.
    pub stays: Stays,
    /// From which is drawn what follows when a node is killed.
    pub lives: Stream,
    /// Whether all invariants are checked after every step.
    pub checked: bool,
    /// Where the steps are recorded.
    pub recorder: Option<Writer>,
    /// Where nodes are, if their messages are not to arrive by decree.
    pub field: Option<Field>,
}

/// What is counted: of a neighbourhood more than of links.
fn meter<P: Protocol>(deployment: &Deployment) -> Meter {
    let meter = Meter::new(deployment.nodes, deployment.k, P::KINDS.len());
    if IdealOf::<P>::STARTS_FROM == Start::Members { meter.among_others() } else { meter }
}

/// A network of nodes that run one algorithm.
///
/// Its driver takes events from [`World::next_event`], hands arrivals and timers to [`World::deliver`], and does
/// with the others what it scheduled them for. The first violation ends a run.
pub struct World<P: Protocol> {
    now: Time,
    queue: Queue,
    /// On a field they are there.
    nodes: Vec<Node<P>>,
    /// The layer below, and what is on its way over it.
    ideal: IdealOf<P>,
    channels: Channels<Timed<P::Message>>,
    /// What comes of a change of it: a buffer.
    news: Vec<News<P::View>>,
    /// What follows from changes, by the number of its event.
    following: Following,
    /// What carries the messages instead of the channels. The twin still says who is in the neighbourhood.
    field: Option<Field>,
    /// Which of the resources of the field this is the world of.
    resource: Resource,
    /// Messages that were sent on the field and have not arrived, as far as is known.
    flights: Vec<(NodeId, NodeId, P::Message)>,
    /// When the field is looked at next.
    field_due: Time,
    /// What waits for nodes that have paused.
    deferred: Vec<(NodeId, field::Deferred<P::View>)>,
    /// The number of the last entry of each node, or of the one that was resumed since.
    entries: Vec<u32>,
    /// How many entries there were: no two have the same number.
    entry_count: u32,
    lives: Lives<P>,
    hints: Hints,
    charter: Charter<P::Variant>,
    armed: Vec<Vec<Armed<P::Timer>>>,
    armings: u32,
    delay: Duration,
    /// The delay, if it is always the same: then it need not be computed for every message.
    constant_delay: Option<Span>,
    delays: Stream,
    stays: Stays,
    /// Whether messages may overtake one another, and how.
    disorder: Option<Disorder>,
    /// How many messages did.
    overtakings: u64,
    out: Out<P>,
    /// Who was granted units, until the driver asks.
    granted: Vec<NodeId>,
    /// Likewise, from whom units were taken away.
    revoked: Vec<NodeId>,
    /// Likewise, who has departed from the neighbourhood.
    departed: Vec<NodeId>,
    oracle: Oracle,
    meter: Meter,
    k: u32,
    checked: bool,
    recorder: Option<Writer>,
}

impl<P: Protocol> World<P> {
    /// All nodes in their initial state at time zero, or when the first of them is there.
    pub fn new(setting: Setting<'_, P>) -> Self {
        let Setting { deployment, variant, repairs, constants, delay, delays, mut stays, lives, .. } = setting;
        let Setting { checked, recorder, mut field, .. } = setting;
        let of_members = stays.draw_all(deployment.stays.len());
        debug_assert_eq!(of_members, deployment.stays);
        if let Some(field) = field.as_mut().filter(|_| recorder.is_some()) {
            field.watch();
        }
        let ideal = IdealOf::<P>::new(deployment);
        let terms = Terms { small_scale: false, over_radios: field.is_some(), constants };
        let variant = terms.variant::<P>(variant).expect("they were checked");
        let protocols = P::deploy(deployment, variant, repairs);
        let nodes: Vec<_> =
            deployment.ids().zip(protocols).map(|(id, protocol)| Node::new(id, protocol, ideal.contacts(id))).collect();
        let mut world = Self {
            now: Time::ZERO,
            queue: Queue::default(),
            entries: vec![0; nodes.len()],
            nodes,
            ideal,
            channels: Channels::new(deployment.nodes),
            news: Vec::new(),
            following: Following::default(),
            resource: field.as_ref().map_or(Resource(0), Field::latest),
            field,
            flights: Vec::new(),
            field_due: Time::END,
            deferred: Vec::new(),
            entry_count: 0,
            hints: Hints::new(lives.clone()),
            lives: Lives::new(lives),
            charter: Charter::new(deployment.k, variant, repairs),
            armed: deployment.ids().map(|_| Vec::new()).collect(),
            armings: 0,
            delay,
            constant_delay: delay.constant(),
            delays,
            stays,
            disorder: None,
            overtakings: 0,
            out: if recorder.is_some() { Outbox::with_clauses() } else { Outbox::new() },
            granted: Vec::new(),
            revoked: Vec::new(),
            departed: Vec::new(),
            oracle: Oracle::new(deployment.nodes, deployment.k),
            meter: meter::<P>(deployment),
            k: deployment.k,
            checked,
            recorder,
        };
        world.advance_to(world.field.as_ref().map_or(Time::ZERO, Field::begins));
        world.begin_on_field();
        world
    }

    /// The time.
    pub fn now(&self) -> Time {
        self.now
    }

    /// The number of nodes.
    pub fn node_count(&self) -> u32 {
        #[allow(clippy::cast_possible_truncation)] // made from a u32
        let count = self.entries.len() as u32;
        count
    }

    /// What applications ask and get.
    pub fn oracle(&self) -> &Oracle {
        &self.oracle
    }

    /// What `node` still waits for although its application has withdrawn it: it can ask for nothing else.
    pub fn withdrawn(&self, node: NodeId) -> Option<Demand> {
        let node = self.shell(node);
        node.pending().filter(|_| node.demand().is_none())
    }

    /// Whether the application at `node` waits or uses something, or one of an earlier life may.
    pub fn is_busy(&self, node: NodeId) -> bool {
        let node = self.shell(node);
        node.demand().is_some() || node.grant().is_some() || node.left().is_some()
    }

    /// What is counted.
    pub fn meter(&mut self) -> &mut Meter {
        &mut self.meter
    }

    /// The layer below.
    pub fn ideal(&self) -> &IdealOf<P> {
        &self.ideal
    }

    /// The links, to choose from, in a world of links.
    pub fn links(&self) -> &Links {
        self.ideal.links().expect("a world of links")
    }

    /// Who is where, in a world of one neighbourhood.
    pub fn neighbourhood(&self) -> &Neighbourhood {
        self.ideal.neighbourhood().expect("a world of one neighbourhood")
    }

    /// Whether nothing is in flight between `a` and `b`.
    pub fn are_drained(&self, a: NodeId, b: NodeId) -> bool {
        self.channels.is_idle(a, b)
    }

    /// Whether `node` is about to leave the neighbourhood.
    pub fn is_leaving(&self, node: NodeId) -> bool {
        self.shell(node).contacts().is_leaving()
    }

    /// Whether nothing is in flight and nothing else is to come.
    pub fn is_quiet(&self) -> bool {
        self.queue.is_empty()
    }

    /// Adds an event `after` so long.
    pub fn schedule(&mut self, after: Span, event: Event) {
        self.queue.schedule(self.now + after, event);
    }

    /// Moves time to the next event and hands it out.
    pub fn next_event(&mut self) -> Option<Event> {
        let (at, event) = self.queue.pop()?;
        self.now = at;
        self.meter.advance(at);
        Some(event)
    }

    /// A node that was granted units since the driver last asked.
    pub fn next_granted(&mut self) -> Option<NodeId> {
        self.granted.pop()
    }

    /// Carries out what a world does by itself.
    pub fn deliver(&mut self, event: Event) -> Step<()> {
        match event {
            Event::Arrival { from, to, .. } if self.arrives_later(from, to) => Ok(()),
            Event::Arrival { from, to, incarnation } => {
                let Some(Timed { message, arrives }) = self.channels.arrive(from, to, incarnation) else {
                    return self.deliver_late(from, to, self.now);
                };
                debug_assert_eq!(arrives, self.now, "each message arrives at its own time");
                self.meter.landed(P::permits(&message));
                self.input(to, Input::Message { from, incarnation, message })
            }
            Event::Timer { node, arming } => {
                let armed = &mut self.armed[node.index()];
                let Some(at) = armed.iter().position(|armed| armed.arming == arming) else { return Ok(()) };
                let timer = armed.swap_remove(at).timer;
                self.input(node, Input::Timer(timer))
            }
            Event::Field => self.run_field(),
            Event::Back { node } => self.back(node),
            Event::Follow { number } => self.come_about(number),
            Event::Resume { node, .. } | Event::Gone { node } if self.is_paused(node) && !self.is_down(node) => {
                self.put_off(node, event);
                Ok(())
            }
            Event::Resume { node, entry } => self.resume(node, entry),
            Event::Lease { node, entry } => {
                self.end_lease(node, entry);
                Ok(())
            }
            Event::Gone { node } => self.say_gone(node),
            Event::HintMet { node, peer, life } => self.late_hint(node, peer, Some(life)),
            Event::HintParted { node, peer } => self.late_hint(node, peer, None),
            Event::Kill | Event::Change | Event::Request { .. } | Event::Release { .. } | Event::Cancel { .. } => {
                Ok(())
            }
        }
    }

    /// Whether what arrives next from one node at another is not due: what was, was lost when that one was killed.
    fn arrives_later(&self, from: NodeId, to: NodeId) -> bool {
        let next = || self.channels.on_the_way(from, to).next();
        self.lives.has_killed() && next().is_some_and(|next| next.arrives > self.now)
    }

    /// From now on messages may overtake one another: in a neighbourhood by decree, as on a field they do so by
    /// themselves.
    pub fn disorder(&mut self, disorder: Disorder) {
        self.disorder = Some(disorder);
    }

    /// How many messages have overtaken others so far.
    pub fn overtakings(&self) -> u64 {
        self.overtakings
    }

    /// The application at `node` asks for this; or for what it waited for when its node was killed.
    pub fn request(&mut self, node: NodeId, demand: Demand) -> Step<()> {
        let new = (demand, Waiter { since: self.now, resumes: false });
        let (demand, waiter) = self.lives.take_wait(node).unwrap_or(new);
        self.request_since(node, demand, waiter)
    }

    /// The application at `node` has wanted this since before.
    pub fn request_since(&mut self, node: NodeId, demand: Demand, waiter: Waiter) -> Step<()> {
        if self.field.as_ref().is_some_and(|field| !field.admits(node)) {
            self.ask_again_later(node, demand, waiter);
            return Ok(());
        }
        self.meter.arrived(node, demand, waiter);
        self.oracle.requested(node, demand);
        self.input(node, Input::Request(demand))
    }

    /// The number of the entry of `node` that [`Event::Release`] is to end.
    pub fn entry(&self, node: NodeId) -> u32 {
        self.entries[node.index()]
    }

    /// The application that was granted units at this entry of `node` ends, and returns them if it is that node's;
    /// whether it was there still.
    pub fn release(&mut self, node: NodeId, entry: u32) -> Step<bool> {
        if self.end_outlived(node, entry) {
            return Ok(true);
        }
        let grant = self.shell(node).grant().filter(|_| self.entry(node) == entry);
        if let Some(Grant { permits, .. }) = grant {
            self.meter.released(permits);
            self.oracle.released(node);
            self.input(node, Input::Release)?;
        }
        Ok(grant.is_some())
    }

    /// The application at `node`, which waits, no longer wants to.
    pub fn cancel(&mut self, node: NodeId) -> Step<()> {
        self.meter.cancelled(node);
        self.oracle.cancelled(node);
        self.input(node, Input::Cancel)
    }

    /// Forms a link between two nodes that have none.
    pub fn form_link(&mut self, a: NodeId, b: NodeId) -> Step<()> {
        self.change(Change::between(&FORMATIONS, a, b), Fate::Drained)
    }

    /// Takes a link down. Both ends are told at once; what was in flight on it meets its `fate`.
    pub fn fail_link(&mut self, a: NodeId, b: NodeId, fate: Fate) -> Step<()> {
        debug_assert!(fate != Fate::Drained || self.are_drained(a, b), "the link has to be drained first");
        self.change(Change::between(&FAILURES, a, b), fate)
    }

    /// A node enters the neighbourhood: all members are told, and it is told who is there.
    pub fn enter(&mut self, node: NodeId) -> Step<()> {
        if let Some(field) = &mut self.field {
            field.restart_if_down(self.now, node);
        }
        self.change(Change::at(&JOINS, node), Fate::Drained)
    }

    /// A node is told to leave the neighbourhood, which it does as soon as it has said farewell.
    pub fn leave(&mut self, node: NodeId) -> Step<()> {
        self.put_right_before_leaving(node)?;
        self.meter.leaves(self.shell(node).demand().is_some());
        self.change(Change::at(&LEAVES, node), Fate::Drained)
    }

    /// A member stops for good, and its application with it. No other is told.
    pub fn crash(&mut self, node: NodeId) -> Step<()> {
        self.crash_on_field(node);
        self.change(Change::at(&CRASHES, node), Fate::Drained)
    }

    /// What arrives now from `from` at `to`, if that is still in this incarnation, is lost; whether there was anything.
    pub fn lose(&mut self, from: NodeId, to: NodeId, incarnation: Incarnation) -> bool {
        let lost = self.channels.arrive(from, to, incarnation);
        if let Some(Timed { message, .. }) = &lost {
            self.meter.landed(P::permits(message));
            if let Some((t, recorder)) = self.recorder() {
                recorder.loss(t, from, to, message);
            }
        }
        lost.is_some()
    }

    /// The time, and where steps are recorded, if they are. What has changed on the field since is recorded before.
    fn recorder(&mut self) -> Option<(u64, &mut Writer)> {
        let recorder = self.recorder.as_mut()?;
        if let Some(field) = &mut self.field {
            field.take_scenes(self.now).iter().for_each(|scene| recorder.scene(scene));
        }
        Some((self.now.0, recorder))
    }

    /// Ends the record of the run.
    pub fn finish(mut self, violation: Option<&Violation>) -> std::io::Result<Meter> {
        _ = self.recorder();
        if let Some(recorder) = self.recorder {
            recorder.finish(self.now.0, violation.map(ToString::to_string))?;
        }
        if let Some(field) = self.field {
            field.finish()?;
        }
        Ok(self.meter)
    }

    /// The layer below tells a node something.
    fn tell(&mut self, node: NodeId, view: P::View) -> Step<()> {
        if self.is_paused(node) {
            self.tell_later(node, view);
            return Ok(());
        }
        self.input(node, Input::Below(view))
    }

    /// One step of one node, with all that follows from it at once.
    fn input(&mut self, id: NodeId, input: InputOf<P>) -> Step<()> {
        let mut out = mem::take(&mut self.out);
        let refused = self.take_input(id, input, &mut out);
        debug_assert_eq!(refused, None, "an ideal link layer and this workload give no reason to refuse");
        self.step_taken(id, out)
    }

    /// Does what a node wants done. On a field that is done, and only what followed from it is left. A violation ends
    /// the run: what is left of the buffer is not needed any more.
    fn step_taken(&mut self, id: NodeId, mut out: Out<P>) -> Step<()> {
        if self.field.is_some() {
            self.out = out;
            return self.follow();
        }
        self.carry_out(id, &mut out)?;
        self.check()
    }

    /// A node takes an input, or refuses it.
    fn take_input(&mut self, id: NodeId, input: InputOf<P>, out: &mut Out<P>) -> Option<Refusal> {
        if let Some(field) = &mut self.field {
            return field::give::<P>(field, self.now, (self.resource, id), input);
        }
        let node = &mut self.nodes[id.index()];
        if self.recorder.is_none() {
            return node.step(input, out).err();
        }
        let before = node.protocol().status();
        let refused = node.step(input.clone(), out).err();
        let change = node.protocol().status().change_since(&before);
        if let Some((t, recorder)) = self.recorder() {
            recorder.step::<P>(t, id, &input, out.effects(), refused.clone(), change);
        }
        refused
    }

    /// What was sent last passes all that arrives later.
    fn overtake(&mut self, from: NodeId, to: NodeId, arrives: Time) {
        if self.disorder.is_none() {
            return;
        }
        let mut latest_first = self.channels.on_the_way(from, to).rev();
        _ = latest_first.next();
        let past = latest_first.take_while(|other| other.arrives > arrives).count();
        if past > 0 {
            let place = self.channels.on_the_way(from, to).count() - 1;
            self.channels.overtake(from, to, place, past);
            self.overtakings += 1;
        }
    }

    /// When a message that is sent now arrives, unless another one has to arrive before; and whether that has to be
    /// looked at. First in, first out, unless there is disorder.
    fn draw_arrival(&mut self) -> (Time, bool) {
        if let Some(Disorder { late, by }) = self.disorder {
            let usual = self.now + self.delay.sample(&mut self.delays);
            let is_late = self.delays.random_bool(late);
            return (if is_late { usual + by.sample(&mut self.delays) } else { usual }, false);
        }
        if let Some(delay) = self.constant_delay {
            return (self.now + delay, false);
        }
        (self.now + self.delay.sample(&mut self.delays), true)
    }

    fn check(&self) -> Step<()> {
        if !self.checked {
            return Ok(());
        }
        let moment = self.moment();
        // The lemmas speak of links that both ends see alike, which radios do not promise.
        let is_one_sided = !self.ideal.is_seen_alike() || (self.field.is_some() && self.ideal.links().is_some());
        if is_one_sided {
            return Ok(check_permits(self.k, &moment)?);
        }
        Ok(check_moment(self.k, &moment)?)
    }

    /// Everything as it is now.
    pub fn moment(&self) -> Moment<'_, P> {
        let nodes = (0..self.node_count()).map(|node| self.shell(NodeId(node)).protocol()).collect();
        let by_radio = self.flights.iter().map(|(from, to, message)| Flight { from: *from, to: *to, message });
        let by_decree = self.channels.flights();
        let by_decree = by_decree.map(|Flight { from, to, message }| Flight { from, to, message: &message.message });
        let flights = by_radio.chain(by_decree).collect();
        Moment { nodes, flights }
    }
}

impl<P: Protocol> Carrier<P> for World<P> {
    type Wrong = Box<Violation>;

    fn send(&mut self, from: NodeId, to: NodeId, message: P::Message, shared: bool) -> Step<()> {
        let permits = P::permits(&message);
        self.meter.sent(P::kind(&message), shared, P::is_token(&message), permits);
        let way = self.ideal.way(from, to);
        if let Ok(Way::Torn(incarnation)) = way {
            self.send_in_vain(from, to, incarnation, message);
            return Ok(());
        }
        let (mut arrives, in_order) = self.draw_arrival();
        match way {
            Ok(Way::Open(incarnation)) => {
                self.channels.last_and_send(from, to, incarnation, |last| {
                    if in_order && let Some(last) = last {
                        arrives = arrives.max(last.arrives);
                    }
                    Timed { message, arrives }
                });
                self.queue.schedule(arrives, Event::Arrival { from, to, incarnation });
                self.overtake(from, to, arrives);
                Ok(())
            }
            Ok(_) => {
                self.meter.landed(permits);
                Ok(())
            }
            Err(_) => Err(Violation::NoLink { from, to }.into()),
        }
    }

    fn audience(&self, from: NodeId) -> Vec<NodeId> {
        self.ideal.audience(from).collect()
    }

    fn arm(&mut self, node: NodeId, timer: P::Timer, after: std::time::Duration) {
        let arming = self.armings;
        self.armings = self.armings.wrapping_add(1);
        let armed = &mut self.armed[node.index()];
        armed.retain(|armed| armed.timer != timer);
        let due = self.now + Span::from(after);
        armed.push(Armed { timer, arming, due });
        self.queue.schedule(due, Event::Timer { node, arming });
    }

    fn disarm(&mut self, node: NodeId, timer: P::Timer) {
        self.armed[node.index()].retain(|armed| armed.timer != timer);
    }

    fn grant(&mut self, node: NodeId, grant: Grant) -> Step<()> {
        self.entry_count = self.entry_count.wrapping_add(1);
        self.entries[node.index()] = self.entry_count;
        self.oracle.granted(node, grant)?;
        self.meter.granted(node, grant.permits);
        self.granted.push(node);
        Ok(())
    }

    /// Its application waits again.
    fn revoke(&mut self, node: NodeId, demand: Demand) {
        if let Some(permits) = self.oracle.revoked(node, demand) {
            self.meter.revoked(node, demand, permits);
            self.revoked.push(node);
        }
    }

    fn finish_step(&mut self, buffer: &mut Out<P>) {
        mem::swap(&mut self.out, buffer);
    }

    /// A node is no member any more, and the others are told.
    fn depart(&mut self, node: NodeId) -> Step<()> {
        for (.., message) in self.flights.extract_if(.., |(_, to, _)| *to == node) {
            self.meter.landed(P::permits(&message));
        }
        self.departed.push(node);
        let mut news = mem::take(&mut self.news);
        self.ideal.depart(node, &mut news);
        self.take_place(news, Fate::Drained)
    }
}

//! Nodes, links and time: the event loop on which measured runs and fault-and-heal runs stand.

use std::mem;

use driftlock_net::ideal::{Fate, Links};
use driftlock_protocol::{
    Demand, Deployment, Effect, Flight, Grant, Input, InputOf, LinkEvent, Moment, Node, NodeId, Out, Outbox, Protocol,
    Repairs,
};
use driftlock_spec::{Oracle, Violation, check_moment};
use driftlock_trace::Writer;

use crate::meter::Meter;
use crate::queue::{Event, Queue, Time};
use crate::random::{Duration, Stream};

/// What a step gives, unless it ends the run. The violation is boxed because it is rare and large, and every step pays
/// for the size of what it might return.
pub type Step<T> = Result<T, Box<Violation>>;

/// A message and when it arrives.
#[derive(Clone, Debug)]
struct Timed<M> {
    message: M,
    arrives: Time,
}

/// A timer that was armed, and has not run out.
#[derive(Clone, Debug)]
struct Armed<T> {
    timer: T,
    arming: u32,
}

/// How a world is made.
pub struct Setting<'a, P: Protocol> {
    /// The nodes, units and links at the start.
    pub deployment: &'a Deployment,
    /// Which of the algorithms that share the implementation.
    pub variant: P::Variant,
    /// Which repairs are in force.
    pub repairs: Repairs,
    /// How long a message takes.
    pub delay: Duration,
    /// From which the delays are drawn.
    pub delays: Stream,
    /// Whether all invariants are checked after every step.
    pub checked: bool,
    /// Where the steps are recorded.
    pub recorder: Option<Writer>,
}

/// A network of nodes that run one algorithm.
///
/// Whoever drives it takes events from [`World::next_event`], hands arrivals and timers to [`World::deliver`], and does
/// with the others what it scheduled them for. The first violation ends a run.
pub struct World<P: Protocol<View = LinkEvent>> {
    now: Time,
    queue: Queue,
    nodes: Vec<Node<P>>,
    links: Links<Timed<P::Message>>,
    armed: Vec<Vec<Armed<P::Timer>>>,
    armings: u32,
    delay: Duration,
    /// The delay, if it is always the same: then it need not be computed for every message.
    constant_delay: Option<Time>,
    delays: Stream,
    out: Out<P>,
    oracle: Oracle,
    meter: Meter,
    k: u32,
    checked: bool,
    recorder: Option<Writer>,
}

impl<P: Protocol<View = LinkEvent>> World<P> {
    /// All nodes in their initial state at time zero.
    pub fn new(setting: Setting<'_, P>) -> Self {
        let Setting { deployment, variant, repairs, delay, delays, checked, recorder } = setting;
        let mut links = Links::new(deployment.nodes);
        for &(a, b) in &deployment.links {
            links.form(a, b);
        }
        let protocols = P::deploy(deployment, variant, repairs);
        let nodes =
            deployment.ids().zip(protocols).map(|(id, protocol)| Node::new(id, protocol, links.of(id))).collect();
        Self {
            now: Time::ZERO,
            queue: Queue::default(),
            nodes,
            links,
            armed: deployment.ids().map(|_| Vec::new()).collect(),
            armings: 0,
            delay,
            constant_delay: delay.constant(),
            delays,
            out: if recorder.is_some() { Outbox::with_clauses() } else { Outbox::new() },
            oracle: Oracle::new(deployment.nodes, deployment.k),
            meter: Meter::new(deployment.nodes, deployment.k, P::KINDS.len()),
            k: deployment.k,
            checked,
            recorder,
        }
    }

    /// The time.
    pub fn now(&self) -> Time {
        self.now
    }

    /// The number of nodes.
    pub fn node_count(&self) -> u32 {
        #[allow(clippy::cast_possible_truncation)] // made from a u32
        let count = self.nodes.len() as u32;
        count
    }

    /// What applications ask and get.
    pub fn oracle(&self) -> &Oracle {
        &self.oracle
    }

    /// What `node` still waits for although its application has withdrawn it: it can ask for nothing else.
    pub fn withdrawn(&self, node: NodeId) -> Option<Demand> {
        let node = &self.nodes[node.index()];
        node.pending().filter(|_| node.demand().is_none())
    }

    /// What is counted.
    pub fn meter(&mut self) -> &mut Meter {
        &mut self.meter
    }

    /// Whether a link is up.
    pub fn is_up(&self, a: NodeId, b: NodeId) -> bool {
        self.links.is_up(a, b)
    }

    /// The links, to choose from.
    pub fn links(&self) -> &Links<impl Clone + use<P>> {
        &self.links
    }

    /// Whether nothing is in flight and nothing else is to come.
    pub fn is_quiet(&self) -> bool {
        self.queue.is_empty()
    }

    /// Adds an event `after` so long.
    pub fn schedule(&mut self, after: Time, event: Event) {
        self.queue.schedule(self.now + after, event);
    }

    /// Moves time to the next event and hands it out.
    pub fn next_event(&mut self) -> Option<Event> {
        let (at, event) = self.queue.pop()?;
        self.now = at;
        self.meter.advance(at);
        Some(event)
    }

    /// Carries out an arrival or a timer; whoever was granted units by it is returned.
    pub fn deliver(&mut self, event: Event) -> Step<Option<NodeId>> {
        match event {
            Event::Arrival { from, to, incarnation } => {
                let Some(Timed { message, arrives }) = self.links.arrive(from, to, incarnation) else {
                    return Ok(None);
                };
                debug_assert_eq!(arrives, self.now, "each message arrives at its own time, and none overtakes another");
                self.meter.landed(P::permits(&message));
                self.input(to, Input::Message { from, incarnation, message })
            }
            Event::Timer { node, arming } => {
                let armed = &mut self.armed[node.index()];
                let Some(at) = armed.iter().position(|armed| armed.arming == arming) else { return Ok(None) };
                let timer = armed.swap_remove(at).timer;
                self.input(node, Input::Timer(timer))
            }
            Event::Request { .. } | Event::Release { .. } | Event::Cancel { .. } | Event::Change => Ok(None),
        }
    }

    /// The application at `node` asks for this.
    pub fn request(&mut self, node: NodeId, demand: Demand) -> Step<Option<NodeId>> {
        self.meter.requested(node, demand);
        self.oracle.requested(node, demand);
        self.input(node, Input::Request(demand))
    }

    /// The application at `node` returns what it was granted.
    pub fn release(&mut self, node: NodeId) -> Step<()> {
        if let Some(Grant { permits, .. }) = self.nodes[node.index()].grant() {
            self.meter.released(permits);
            self.oracle.released(node);
            self.input(node, Input::Release)?;
        }
        Ok(())
    }

    /// The application at `node`, which waits, no longer wants to.
    pub fn cancel(&mut self, node: NodeId) -> Step<()> {
        self.meter.cancelled();
        self.oracle.cancelled(node);
        self.input(node, Input::Cancel).map(|_| ())
    }

    /// Forms a link between two nodes that have none. The nodes that were granted units by it are returned.
    pub fn form_link(&mut self, a: NodeId, b: NodeId) -> Step<Vec<NodeId>> {
        let incarnation = self.links.form(a, b);
        if let Some(recorder) = &mut self.recorder {
            recorder.link(self.now.0, (a, b), true, incarnation);
        }
        let mut granted = Vec::new();
        granted.extend(self.input(a, Input::Below(LinkEvent::Up { peer: b, incarnation }))?);
        granted.extend(self.input(b, Input::Below(LinkEvent::Up { peer: a, incarnation }))?);
        Ok(granted)
    }

    /// Takes a link down. Both ends are told at once; what was in flight on it meets its `fate`. The nodes that were
    /// granted units by it are returned.
    pub fn fail_link(&mut self, a: NodeId, b: NodeId, fate: Fate) -> Step<Vec<NodeId>> {
        debug_assert!(fate != Fate::Drained || self.links.is_idle(a, b), "the link has to be drained first");
        let Ok(failed) = self.links.fail(a, b) else { return Ok(Vec::new()) };
        let incarnation = failed.incarnation;
        if let Some(recorder) = &mut self.recorder {
            recorder.link(self.now.0, (a, b), false, incarnation);
        }
        // Until its sender has it back, a message is nowhere: the whole is sound again after the last step only.
        let checked = mem::replace(&mut self.checked, false);
        for (_, _, timed) in &failed.undelivered {
            self.meter.landed(P::permits(&timed.message));
            if fate == Fate::Lost {
                self.meter.lost(P::permits(&timed.message));
            }
        }
        let mut granted = Vec::new();
        granted.extend(self.input(a, Input::Below(LinkEvent::Down { peer: b, incarnation }))?);
        granted.extend(self.input(b, Input::Below(LinkEvent::Down { peer: a, incarnation }))?);
        if fate == Fate::Returned {
            for (from, to, Timed { message, .. }) in failed.undelivered {
                granted.extend(self.input(from, Input::Undelivered { to, message })?);
            }
        }
        self.checked = checked;
        self.check()?;
        Ok(granted)
    }

    /// Ends the record of the run.
    pub fn finish(self, violation: Option<&Violation>) -> std::io::Result<Meter> {
        if let Some(recorder) = self.recorder {
            recorder.finish(violation.map(ToString::to_string))?;
        }
        Ok(self.meter)
    }

    /// One step of one node, with all that follows from it at once.
    fn input(&mut self, id: NodeId, input: InputOf<P>) -> Step<Option<NodeId>> {
        let mut out = mem::take(&mut self.out);
        if self.recorder.is_some() {
            self.recorded_step(id, &input, &mut out);
        } else {
            let refused = self.nodes[id.index()].step(input, &mut out).err();
            debug_assert_eq!(refused, None, "an ideal link layer and this workload give no reason to refuse");
        }
        let mut granted = None;
        for effect in out.drain() {
            // A violation ends the run: what is left of the buffer is not needed any more.
            self.effect(id, effect, &mut granted)?;
        }
        self.out = out;
        self.check()?;
        Ok(granted)
    }

    fn recorded_step(&mut self, id: NodeId, input: &InputOf<P>, out: &mut Out<P>) {
        let node = &mut self.nodes[id.index()];
        let before = node.protocol().status();
        let refused = node.step(input.clone(), out).err();
        let change = node.protocol().status().change_since(&before);
        if let Some(recorder) = &mut self.recorder {
            recorder.step::<P>(self.now.0, id, input, out.effects(), refused, change);
        }
    }

    fn effect(&mut self, id: NodeId, effect: Effect<P::Message, P::Timer>, granted: &mut Option<NodeId>) -> Step<()> {
        match effect {
            Effect::Send { to, message, shared } => self.send(id, to, message, shared)?,
            Effect::Arm { timer, after } => {
                let arming = self.armings;
                self.armings = self.armings.wrapping_add(1);
                self.armed[id.index()].retain(|armed| armed.timer != timer);
                self.armed[id.index()].push(Armed { timer, arming });
                #[allow(clippy::cast_possible_truncation)] // 584 years
                self.schedule(Time(after.as_nanos() as u64), Event::Timer { node: id, arming });
            }
            Effect::Disarm { timer } => self.armed[id.index()].retain(|armed| armed.timer != timer),
            Effect::Grant(grant) => {
                self.oracle.granted(id, grant)?;
                self.meter.granted(id, grant.permits);
                *granted = Some(id);
            }
            Effect::Clause(_) => {}
        }
        Ok(())
    }

    fn send(&mut self, from: NodeId, to: NodeId, message: P::Message, shared: bool) -> Step<()> {
        let arrives = self.arrival(from, to);
        self.meter.sent(P::kind(&message), shared, P::is_token(&message), P::permits(&message));
        match self.links.send(from, to, Timed { message, arrives }) {
            Ok(incarnation) => {
                self.queue.schedule(arrives, Event::Arrival { from, to, incarnation });
                Ok(())
            }
            Err(_) => Err(Violation::NoLink { from, to }.into()),
        }
    }

    /// When a message that is sent now arrives: first in, first out, so never before what is in flight already.
    fn arrival(&mut self, from: NodeId, to: NodeId) -> Time {
        if let Some(delay) = self.constant_delay {
            return self.now + delay;
        }
        let last = self.links.last_sent(from, to).map_or(Time::ZERO, |last| last.arrives);
        last.max(self.now + self.delay.sample(&mut self.delays))
    }

    fn check(&self) -> Step<()> {
        if !self.checked {
            return Ok(());
        }
        let moment = Moment::<P> {
            nodes: self.nodes.iter().map(Node::protocol).collect(),
            flights: self
                .links
                .flights()
                .map(|Flight { from, to, message }| Flight { from, to, message: &message.message })
                .collect(),
        };
        Ok(check_moment(self.k, &moment)?)
    }
}

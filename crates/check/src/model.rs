//! The system as a transition system: what may happen in a state, what comes of it, and what must hold.

mod identity;
mod judgement;

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use driftlock_net::ideal::Fate;
use driftlock_protocol::{LinkEvent, Node, NodeId, Protocol, Repairs};
use driftlock_spec::Violation;

use crate::action::Action;
use crate::graph::Recorder;
use crate::parts::{EMPTY, Parts, Seat, Stimulus};
use crate::state::{Common, Layout, Own, State};
use crate::{Bound, Setup, SetupError, Timing};

/// All nodes, the ideal links between them, and everything that may happen to them within the bounds of a setup.
///
/// The links are those of `net::ideal`, packed: a channel is a row of message numbers. A test walks both side by side.
pub struct Model<P: Protocol> {
    setup: Setup,
    variant: P::Variant,
    repairs: Repairs,
    pub(crate) layout: Layout,
    pub(crate) parts: Parts<P>,
    /// What was done that must not be done, each once.
    faults: Mutex<Vec<Violation>>,
    /// Where the transitions are written down, if liveness is to be decided.
    pub(crate) recorder: Option<Arc<Recorder>>,
    /// What was the case at least once, by the numbers of [`Model::is_witness`].
    pub(crate) seen: AtomicU64,
    /// How many successors were not followed because heights would lie too far apart.
    pub(crate) cut: AtomicU64,
    /// The furthest that heights lay apart.
    pub(crate) spread: AtomicU64,
    /// How many states were looked at.
    pub(crate) expanded: AtomicU64,
    /// The number of the first state in which something is wrong.
    pub(crate) violated: AtomicU32,
    /// Set to end a search early.
    pub(crate) stop: AtomicBool,
}

impl<P: Protocol<View = LinkEvent>> Model<P> {
    /// The model of an algorithm within these bounds.
    pub fn new(setup: Setup, variant: P::Variant, repairs: Repairs) -> Result<Self, SetupError> {
        setup.validate()?;
        let tick = match setup.timing {
            Timing::Untimed => None,
            Timing::Timed { tick, .. } => Some(tick),
        };
        let model = Self {
            layout: Layout::new(setup.deployment.nodes),
            parts: Parts::new(tick, setup.demands.clone()),
            variant: if setup.small_scale { P::at_small_scale(variant) } else { variant },
            setup,
            repairs,
            faults: Mutex::default(),
            recorder: None,
            seen: AtomicU64::new(0),
            cut: AtomicU64::new(0),
            spread: AtomicU64::new(0),
            expanded: AtomicU64::new(0),
            violated: AtomicU32::new(NOT_VIOLATED),
            stop: AtomicBool::new(false),
        };
        let (_, spread) = model.fingerprint(&model.initial());
        if spread > model.setup.spread { Err(SetupError::Spread(spread)) } else { Ok(model) }
    }

    /// The bounds.
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// Fresh nodes, as the algorithm deploys them.
    pub(crate) fn deploy(&self) -> Vec<P> {
        P::deploy(&self.setup.deployment, self.variant, self.repairs)
    }

    /// The state in which everything begins.
    pub fn initial(&self) -> State {
        let (deployment, layout) = (&self.setup.deployment, self.layout);
        let numbered = || (0..).map(driftlock_protocol::Incarnation).zip(&deployment.links);
        let links_of = |id| {
            let of = move |(incarnation, &(a, b))| match id {
                _ if id == a => Some((b, incarnation)),
                _ if id == b => Some((a, incarnation)),
                _ => None,
            };
            numbered().filter_map(of)
        };
        let nodes = layout.ids().zip(self.deploy()).map(|(id, protocol)| Node::new(id, protocol, links_of(id)));
        let seats: Vec<_> = nodes.map(|node| self.parts.seat(Seat { node, timers: Vec::new() })).collect();
        let ledger = self.parts.first_ledger(deployment.k, deployment.links.len());
        let mut state = layout.state(&seats, ledger);
        for &(a, b) in &deployment.links {
            layout.set_link(&mut state, a, b, true);
        }
        layout.set_common(&mut state, Common::Failures, self.setup.failures);
        layout.set_common(&mut state, Common::Formations, self.setup.formations);
        if let Timing::Timed { pauses, .. } = self.setup.timing {
            layout.set_common(&mut state, Common::Pauses, Bound::Most(pauses));
        }
        for id in layout.ids() {
            layout.set_own(&mut state, id, Own::Requests, self.setup.requests);
            layout.set_own(&mut state, id, Own::Cancels, self.setup.cancels);
        }
        state.fingerprint = self.fingerprint(&state).0;
        state
    }

    /// Everything that may happen in `state`, always in the same order.
    pub fn enabled(&self, state: &State, actions: &mut Vec<Action>) {
        let layout = self.layout;
        if layout.fault(state).is_some() {
            return;
        }
        let awake = |node| layout.own(state, node, Own::Paused) == 0;
        for to in layout.ids().filter(|&to| awake(to) && !self.has_due_timer(state, to)) {
            let busy = |&from: &NodeId| from != to && layout.channel(state, from, to) != EMPTY;
            actions.extend(layout.ids().filter(busy).map(|from| Action::Deliver { from, to }));
            self.own_actions(state, to, actions);
        }
        self.timer_actions(state, actions);
        let may_change = |node| awake(node) && !self.has_due_timer(state, node);
        for (a, b) in layout.pairs().filter(|&(a, b)| may_change(a) && may_change(b)) {
            if !layout.is_up(state, a, b) {
                if layout.common(state, Common::Formations) > 0 {
                    actions.push(Action::Form(a, b));
                }
            } else if layout.common(state, Common::Failures) > 0 && self.may_fail(state, a, b) {
                actions.push(Action::Fail(a, b));
            }
        }
    }

    fn own_actions(&self, state: &State, node: NodeId, actions: &mut Vec<Action>) {
        let (layout, seat) = (self.layout, self.parts.seats.get(self.layout.seat(state, node)));
        if seat.grant.is_some() {
            actions.push(Action::Release(node));
        }
        if seat.grant.is_none() && !seat.waits && layout.own(state, node, Own::Requests) > 0 {
            let demands = (0..).zip(&self.setup.demands).filter(|(_, demand)| seat.seat.node.may_ask(**demand));
            actions.extend(demands.map(|(at, _)| Action::Request(node, at)));
        }
        if seat.waits && layout.own(state, node, Own::Cancels) > 0 {
            actions.push(Action::Cancel(node));
        }
    }

    fn timer_actions(&self, state: &State, actions: &mut Vec<Action>) {
        let layout = self.layout;
        let armed = |node| self.parts.seats.get(layout.seat(state, node)).seat.timers.iter();
        let awake = |&node: &NodeId| layout.own(state, node, Own::Paused) == 0;
        for node in layout.ids().filter(awake) {
            let due = (0..).zip(armed(node)).filter(|(_, (_, left))| *left == 0);
            actions.extend(due.map(|(at, _)| Action::Timer(node, at)));
        }
        let Timing::Timed { drift, .. } = self.setup.timing else { return };
        let may_pause = layout.common(state, Common::Pauses) > 0;
        for node in layout.ids() {
            if !awake(&node) {
                actions.push(Action::Resume(node));
            } else if may_pause {
                actions.push(Action::Pause(node));
            }
        }
        let due = layout.ids().filter(awake).any(|node| self.has_due_timer(state, node));
        let running = layout.ids().any(|node| armed(node).any(|(_, left)| *left > 0));
        if running && !due {
            actions.push(Action::Tick);
            let may_lag = |&node: &NodeId| layout.own(state, node, Own::Lag) < drift;
            actions.extend(layout.ids().filter(may_lag).map(Action::TickBut));
        }
    }

    /// Whether time is counted, and a timer of this node has run out.
    fn has_due_timer(&self, state: &State, node: NodeId) -> bool {
        let timers = &self.parts.seats.get(self.layout.seat(state, node)).seat.timers;
        self.setup.timing != Timing::Untimed && timers.iter().any(|(_, left)| *left == 0)
    }

    fn may_fail(&self, state: &State, a: NodeId, b: NodeId) -> bool {
        let idle = self.layout.channel(state, a, b) == EMPTY && self.layout.channel(state, b, a) == EMPTY;
        self.setup.fate != Fate::Drained || idle
    }

    /// What comes of `action`, and how far heights lie apart then.
    pub(crate) fn stepped(&self, state: &State, action: Action) -> (State, u64) {
        let mut next = state.clone();
        self.apply(&mut next, action);
        let (fingerprint, spread) = self.fingerprint(&next);
        next.fingerprint = fingerprint;
        (next, spread)
    }

    /// What comes of `action`; nothing, if that would take heights too far apart.
    pub fn after(&self, state: &State, action: Action) -> Option<State> {
        let (next, spread) = self.stepped(state, action);
        if spread > self.setup.spread {
            self.cut.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        if spread > self.spread.load(Ordering::Relaxed) {
            self.spread.fetch_max(spread, Ordering::Relaxed);
        }
        Some(next)
    }

    fn apply(&self, state: &mut State, action: Action) {
        let layout = self.layout;
        match action {
            Action::Deliver { from, to } => {
                if let Some((message, rest)) = self.parts.arrived(layout.channel(state, from, to)) {
                    layout.set_channel(state, from, to, rest);
                    self.input(state, to, Stimulus::Message { from, message });
                }
            }
            Action::Release(node) => self.input(state, node, Stimulus::Release),
            Action::Timer(node, timer) => self.input(state, node, Stimulus::Timer(timer)),
            Action::Request(node, demand) => {
                layout.spend_own(state, node, Own::Requests);
                self.input(state, node, Stimulus::Request(demand));
            }
            Action::Cancel(node) => {
                layout.spend_own(state, node, Own::Cancels);
                self.input(state, node, Stimulus::Cancel);
            }
            Action::Pause(node) => {
                layout.spend_common(state, Common::Pauses);
                layout.set_own(state, node, Own::Paused, Bound::Most(1));
            }
            Action::Resume(node) => layout.set_own(state, node, Own::Paused, Bound::Most(0)),
            Action::Tick => self.tick(state, None),
            Action::TickBut(node) => self.tick(state, Some(node)),
            Action::Fail(a, b) => self.fail(state, a, b),
            Action::Form(a, b) => {
                layout.spend_common(state, Common::Formations);
                layout.set_link(state, a, b, true);
                let (incarnation, ledger) = self.parts.formed(layout.ledger(state));
                layout.set_ledger(state, ledger);
                self.input(state, a, Stimulus::Up { peer: b, incarnation });
                self.input(state, b, Stimulus::Up { peer: a, incarnation });
            }
        }
    }

    /// Both ends are told at once, then what was in flight meets its fate.
    fn fail(&self, state: &mut State, a: NodeId, b: NodeId) {
        let layout = self.layout;
        layout.spend_common(state, Common::Failures);
        let in_flight = [(a, b), (b, a)].map(|(from, to)| (from, to, layout.channel(state, from, to)));
        layout.set_channel(state, a, b, EMPTY);
        layout.set_channel(state, b, a, EMPTY);
        layout.set_link(state, a, b, false);
        self.input(state, a, Stimulus::Down { peer: b });
        self.input(state, b, Stimulus::Down { peer: a });
        if self.setup.fate == Fate::Returned {
            for (from, to, channel) in in_flight {
                for &message in &self.parts.channels.get(channel).messages {
                    self.input(state, from, Stimulus::Undelivered { to, message });
                }
            }
        }
    }

    fn tick(&self, state: &mut State, but: Option<NodeId>) {
        let layout = self.layout;
        for node in layout.ids() {
            if Some(node) == but {
                let lag = layout.own(state, node, Own::Lag);
                layout.set_own(state, node, Own::Lag, Bound::Most(lag + 1));
            } else {
                layout.set_seat(state, node, self.parts.ticked(layout.seat(state, node)));
            }
        }
        // Only differences between clocks count.
        let least = layout.ids().map(|node| layout.own(state, node, Own::Lag)).min().unwrap_or(0);
        for node in layout.ids() {
            let lag = layout.own(state, node, Own::Lag);
            layout.set_own(state, node, Own::Lag, Bound::Most(lag - least));
        }
    }

    /// One step of one node, with all that follows from it at once.
    fn input(&self, state: &mut State, node: NodeId, stimulus: Stimulus) {
        let layout = self.layout;
        let reaction = self.parts.reaction(node, layout.seat(state, node), stimulus);
        layout.set_seat(state, node, reaction.seat);
        for &(to, message) in &reaction.sends {
            if to == node || !layout.is_up(state, node, to) {
                self.fault(state, Violation::NoLink { from: node, to });
                return;
            }
            let channel = self.parts.sent(layout.channel(state, node, to), message);
            layout.set_channel(state, node, to, channel);
        }
        if let Some(violation) = &reaction.fault {
            self.fault(state, violation.clone());
        }
        if let Some(grant) = reaction.grant {
            match self.parts.granted(layout.ledger(state), node, grant) {
                Ok(ledger) => layout.set_ledger(state, ledger),
                Err(violation) => self.fault(state, violation),
            }
        }
    }

    fn fault(&self, state: &mut State, violation: Violation) {
        if self.layout.fault(state).is_none() {
            let mut faults = self.faults.lock().expect("no thread panicked");
            let known = faults.iter().position(|known| *known == violation);
            let fault = known.unwrap_or_else(|| {
                faults.push(violation);
                faults.len() - 1
            });
            self.layout.set_fault(state, fault);
        }
    }

    /// The nodes that can be reached from `node`, as a set of bits.
    pub(super) fn reach(&self, state: &State, node: NodeId) -> u8 {
        let mut reached = 1_u8 << node.0;
        loop {
            let before = reached;
            for (a, b) in self.layout.pairs() {
                let ends = 1 << a.0 | 1 << b.0;
                if reached & ends != 0 && self.layout.is_up(state, a, b) {
                    reached |= ends;
                }
            }
            if reached == before {
                return reached;
            }
        }
    }
}

/// The number that says that nothing is going on.
pub(crate) const QUIET: u32 = 8;
/// The number that says that all units are in use.
pub(crate) const ALL_IN_USE: u32 = 9;
/// No state was violated.
pub(crate) const NOT_VIOLATED: u32 = u32::MAX;

#[cfg(test)]
impl<P: Protocol<View = LinkEvent>> Model<P> {
    /// Nodes, messages on their way and armed timers, to compare with another world's.
    #[allow(clippy::type_complexity)]
    pub(crate) fn unpacked(
        &self,
        state: &State,
    ) -> (Vec<&Node<P>>, Vec<(NodeId, NodeId, &P::Message)>, Vec<Vec<P::Timer>>) {
        let seats: Vec<_> = self.layout.seats(state).iter().map(|&seat| &self.parts.seats.get(seat).seat).collect();
        let armed = seats.iter().map(|seat| seat.timers.iter().map(|(timer, _)| *timer).collect()).collect();
        let flights = self.flights(state).map(|flight| (flight.from, flight.to, flight.message)).collect();
        (seats.into_iter().map(|seat| &seat.node).collect(), flights, armed)
    }
}

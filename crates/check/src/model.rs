//! The system as a transition system: what may happen in a state, what comes of it, and what must hold.

mod identity;
mod judgement;
mod lives;
#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use driftlock_protocol::ideal::{Change, Course, Fate, Ideal, IdealOf, NoLink, Way};
use driftlock_protocol::{Charter, Node, NodeId, Protocol, Repairs, Stored, Terms};
use driftlock_spec::Violation;

use crate::action::{Action, PAST_MAX};
use crate::graph::Recorder;
use crate::parts::{EMPTY, PartId, Parts, Seat, Stimulus};
use crate::state::{AWAKE, Common, Layout, Own, PAUSED, State};
use crate::twins::{Event, Nodes, Offer, Pairs, TwinPart, set};
use crate::{Bound, Setup, SetupError, Timing};

/// All nodes, the ideal layer below them, and everything that may happen to them within the bounds of a setup.
///
/// Which layer it is, its twin knows. The messages are those of [`driftlock_protocol::ideal::Channels`], packed: a
/// channel is a row of message numbers. A test walks both side by side.
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
    /// How many waiters service says nothing of: see [`Model::uncounted`].
    pub(crate) uncounted: AtomicU64,
    /// How many states were looked at.
    pub(crate) expanded: AtomicU64,
    /// The number of the first state in which something is wrong.
    pub(crate) violated: AtomicU32,
    /// Set to end a search early.
    pub(crate) stop: AtomicBool,
}

impl<P: Protocol> Model<P> {
    /// The model of an algorithm within these bounds.
    pub fn new(setup: Setup, variant: P::Variant, repairs: Repairs) -> Result<Self, SetupError> {
        setup.validate()?;
        setup.begins_as_it_stays()?;
        let tick = match setup.timing {
            Timing::Untimed => None,
            Timing::Timed { tick, .. } => Some(tick),
        };
        let Setup { small_scale, over_radios, .. } = setup;
        let variant = Terms { small_scale, over_radios, constants: &setup.constants }.variant::<P>(variant)?;
        let charter = Charter::new(setup.deployment.k, variant, repairs);
        let model = Self {
            layout: Layout::new(setup.deployment.nodes, IdealOf::<P>::KINDS.len()),
            parts: Parts::new(tick, &setup, charter),
            variant,
            setup,
            repairs,
            faults: Mutex::default(),
            recorder: None,
            seen: AtomicU64::new(0),
            cut: AtomicU64::new(0),
            spread: AtomicU64::new(0),
            uncounted: AtomicU64::new(0),
            expanded: AtomicU64::new(0),
            violated: AtomicU32::new(NOT_VIOLATED),
            stop: AtomicBool::new(false),
        };
        let (_, spread) = model.fingerprint(&model.initial());
        if spread > model.setup.spread { Err(SetupError::Spread(spread)) } else { Ok(model) }
    }

    /// The same, which has not met any state yet.
    pub(crate) fn anew(&self) -> Self {
        let mut anew = Self::new(self.setup.clone(), self.variant, self.repairs).expect("it made sense before");
        anew.parts.forget = self.parts.forget;
        anew
    }

    /// The same, where nodes store less than they say: to see what it is for.
    #[must_use]
    pub fn forgetting(mut self, forget: fn(&mut Stored<P::Durable>)) -> Self {
        self.parts.forget = Some(forget);
        self
    }

    /// The bounds.
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// Fresh nodes, as the algorithm deploys them.
    pub(crate) fn deploy(&self) -> Vec<P> {
        P::deploy(&self.setup.deployment, self.variant, self.repairs)
    }

    /// What nodes go by.
    pub(crate) fn charter(&self) -> Charter<P::Variant> {
        Charter::new(self.setup.deployment.k, self.variant, self.repairs)
    }

    /// The state in which everything begins.
    pub fn initial(&self) -> State {
        let (setup, layout) = (&self.setup, self.layout);
        let twin = IdealOf::<P>::new(&setup.deployment);
        let nodes = layout.ids().zip(self.deploy()).map(|(id, protocol)| Node::new(id, protocol, twin.contacts(id)));
        let seats: Vec<_> = nodes.map(|node| self.parts.seat(Seat::new(node))).collect();
        let mut state = layout.state(&seats, self.parts.twin(twin), self.parts.first_ledger(setup.deployment.k));
        for (what, bound) in [
            (Common::Losses, setup.losses),
            (Common::Lateness, setup.lateness),
            (Common::Requests, setup.requests_in_all),
            (Common::Overtakes, setup.overtakes),
        ] {
            layout.set_common(&mut state, what, bound);
        }
        for (number, kind) in (0..).zip(IdealOf::<P>::KINDS) {
            let bound = if kind.course == Course::Bounded { setup.changes.of(kind) } else { Bound::Any };
            layout.set_common(&mut state, Common::Change(number), bound);
        }
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
        let awake = self.awake(state);
        let attentive = self.attentive(state, awake);
        for to in layout.ids().filter(|to| attentive >> to.0 & 1 == 1) {
            let busy = |&from: &NodeId| from != to && layout.channel(state, from, to) != EMPTY;
            for from in layout.ids().filter(busy) {
                actions.push(Action::Deliver { from, to });
                self.overtakings(state, from, to, actions);
            }
            self.own_actions(state, to, actions);
        }
        self.timer_actions(state, awake, actions);
        self.changes(state, awake, attentive, actions);
        if layout.common(state, Common::Losses) > 0 {
            let pairs = layout.ids().flat_map(|from| layout.ids().map(move |to| (from, to)));
            let busy = pairs.filter(|&(from, to)| from != to && layout.channel(state, from, to) != EMPTY);
            actions.extend(busy.map(|(from, to)| Action::Lose { from, to }));
        }
    }

    /// The twin of the layer below.
    pub(crate) fn twin(&self, state: &State) -> &TwinPart<IdealOf<P>> {
        self.parts.twins.get(self.layout.twin(state))
    }

    /// Who neither pauses nor is down.
    fn awake(&self, state: &State) -> Nodes {
        let is_awake = |node: &NodeId| self.layout.own(state, *node, Own::Absence) == AWAKE;
        set(self.layout.ids().filter(is_awake)) & !self.twin(state).down
    }

    /// Who of those that are awake has done what was due.
    fn attentive(&self, state: &State, awake: Nodes) -> Nodes {
        set(self.layout.ids().filter(|&node| awake >> node.0 & 1 == 1 && !self.has_due_timer(state, node)))
    }

    /// Each message that is passed counts.
    fn overtakings(&self, state: &State, from: NodeId, to: NodeId, actions: &mut Vec<Action>) {
        let channel = self.layout.channel(state, from, to);
        let most = self.layout.common(state, Common::Overtakes).min(PAST_MAX);
        let passed = (1..=most).filter(|&past| self.parts.overtaking(channel, past).is_some());
        actions.extend(passed.map(|past| Action::Overtake { from, to, past }));
    }

    /// What may change in the layer below.
    fn changes(&self, state: &State, awake: Nodes, attentive: Nodes, actions: &mut Vec<Action>) {
        let layout = self.layout;
        let may = |offer: &&Offer| {
            layout.common(state, Common::Change(offer.kind)) > 0
                && offer.attentive & !attentive == 0
                && offer.awake & !awake == 0
                && self.are_idle(state, offer.drained)
                && (self.setup.fate != Fate::Drained || self.are_idle(state, offer.failing))
                && !(offer.founds && self.is_any_left(state))
        };
        actions.extend(self.twin(state).offers.iter().filter(may).map(|offer| Action::Change(offer.change)));
    }

    /// Whether nothing is on its way between any of these.
    fn are_idle(&self, state: &State, pairs: Pairs) -> bool {
        pairs.iter().all(|(from, to)| self.layout.channel(state, from, to) == EMPTY)
    }

    fn own_actions(&self, state: &State, node: NodeId, actions: &mut Vec<Action>) {
        let (layout, seat) = (self.layout, self.parts.seats.get(self.layout.seat(state, node)));
        if seat.grant.is_some() {
            actions.push(Action::Release(node));
        }
        let may_ask = self.twin(state).crashed >> node.0 & 1 == 0 && layout.common(state, Common::Requests) > 0;
        if may_ask && seat.grant.is_none() && !seat.waits && layout.own(state, node, Own::Requests) > 0 {
            let demands = (0..).zip(&self.setup.demands).filter(|(_, demand)| seat.seat.node.may_ask(**demand));
            actions.extend(demands.map(|(at, _)| Action::Request(node, at)));
        }
        if seat.waits && layout.own(state, node, Own::Cancels) > 0 {
            actions.push(Action::Cancel(node));
        }
        if !seat.left.is_empty() {
            self.late_users(state, node, actions);
        }
    }

    fn timer_actions(&self, state: &State, awake: Nodes, actions: &mut Vec<Action>) {
        let layout = self.layout;
        let armed = |node| self.parts.seats.get(layout.seat(state, node)).seat.timers.iter();
        let awake = |node: &NodeId| awake >> node.0 & 1 == 1;
        for node in layout.ids().filter(awake) {
            let due = (0..).zip(armed(node)).filter(|(_, (_, left))| *left == 0);
            actions.extend(due.map(|(at, _)| Action::Timer(node, at)));
        }
        let Timing::Timed { drift, .. } = self.setup.timing else { return };
        let may_pause = layout.common(state, Common::Pauses) > 0;
        for node in layout.ids() {
            match layout.own(state, node, Own::Absence) {
                PAUSED => actions.push(Action::Resume(node)),
                AWAKE if may_pause && awake(&node) => actions.push(Action::Pause(node)),
                _ => {}
            }
        }
        let due = layout.ids().filter(awake).any(|node| self.has_due_timer(state, node));
        let leased = |node| !self.parts.seats.get(layout.seat(state, node)).seat.left.is_empty();
        let running = layout.ids().any(|node| leased(node) || armed(node).any(|(_, left)| *left > 0));
        if running && !due && self.busy(state) <= layout.common(state, Common::Lateness) {
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
                layout.spend_common(state, Common::Requests);
                self.input(state, node, Stimulus::Request(demand));
            }
            Action::Cancel(node) => {
                layout.spend_own(state, node, Own::Cancels);
                self.input(state, node, Stimulus::Cancel);
            }
            Action::Pause(node) => {
                layout.spend_common(state, Common::Pauses);
                layout.set_own(state, node, Own::Absence, Bound::Most(PAUSED));
            }
            Action::Resume(node) => layout.set_own(state, node, Own::Absence, Bound::Most(AWAKE)),
            Action::Tick => self.tick(state, None),
            Action::TickBut(node) => self.tick(state, Some(node)),
            Action::Show(node) => {
                self.seen.fetch_or(1 << RESUMED, Ordering::Relaxed);
                self.input(state, node, Stimulus::Show);
            }
            Action::Gone(node) => self.input(state, node, Stimulus::Gone),
            Action::Overtake { from, to, past } => {
                for _ in 0..past {
                    layout.spend_common(state, Common::Overtakes);
                }
                if let Some((message, rest)) = self.parts.overtaking(layout.channel(state, from, to), past) {
                    layout.set_channel(state, from, to, rest);
                    self.input(state, to, Stimulus::Message { from, message });
                }
            }
            Action::Lose { from, to } => {
                layout.spend_common(state, Common::Losses);
                if let Some((_, rest)) = self.parts.arrived(layout.channel(state, from, to)) {
                    layout.set_channel(state, from, to, rest);
                }
            }
            Action::Change(change) => self.change(state, change),
        }
    }

    /// The layer below changes.
    fn change(&self, state: &mut State, change: Change) {
        let part = self.twin(state);
        let offer = part.offers.iter().find(|offer| offer.change == change).expect("it may be next");
        let outcome = offer.outcome.get_or_init(|| self.parts.changed(&part.twin, change));
        self.layout.spend_common(state, Common::Change(offer.kind));
        self.layout.set_twin(state, outcome.twin);
        self.carry_out(state, &outcome.events);
    }

    fn depart(&self, state: &mut State, node: NodeId) {
        let part = self.twin(state);
        let outcome = part.departures[node.index()].get_or_init(|| self.parts.departed(&part.twin, node));
        self.layout.set_twin(state, outcome.twin);
        self.carry_out(state, &outcome.events);
    }

    /// What was in flight on a link that has failed meets its fate when both ends were told.
    fn carry_out(&self, state: &mut State, events: &[Event]) {
        let layout = self.layout;
        let mut failed = Vec::new();
        for &event in events {
            match event {
                Event::Tell(node, view) => self.input(state, node, Stimulus::Below(view)),
                Event::Fail(from, to) => {
                    let channel = layout.channel(state, from, to);
                    let left = if self.setup.fate == Fate::Settled { self.parts.outliving(channel) } else { EMPTY };
                    layout.set_channel(state, from, to, left);
                    failed.push((from, to, channel));
                }
                Event::Outlive(from, to) => {
                    let late = self.parts.outliving(layout.channel(state, from, to));
                    layout.set_channel(state, from, to, late);
                }
                Event::Silence(node) => {
                    for from in layout.ids().filter(|&from| from != node) {
                        layout.set_channel(state, from, node, EMPTY);
                    }
                }
                Event::Crash(node) => {
                    let blank = Seat::new(Node::blank(node, &self.charter()));
                    layout.set_seat(state, node, self.parts.seat(blank));
                }
                Event::Kill(node) => self.input(state, node, Stimulus::Kill),
                Event::Wipe(node) => self.input(state, node, Stimulus::Wipe),
                Event::Back(node) => {
                    self.seen.fetch_or(1 << RESTARTED, Ordering::Relaxed);
                    self.input(state, node, Stimulus::Back);
                }
            }
        }
        for (from, to, channel) in failed.into_iter().filter(|_| self.setup.fate == Fate::Returned) {
            for &message in &self.parts.channels.get(channel).messages {
                self.input(state, from, Stimulus::Undelivered { to, message });
            }
        }
    }

    fn tick(&self, state: &mut State, but: Option<NodeId>) {
        let layout = self.layout;
        for _ in 0..self.busy(state) {
            layout.spend_common(state, Common::Lateness);
        }
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
            let sent = match to {
                Some(to) => self.send(state, node, to, message),
                None => self.broadcast(state, node, message),
            };
            if !sent {
                return;
            }
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
        if reaction.departed {
            self.depart(state, node);
        }
    }

    /// How many channels have messages on them.
    fn busy(&self, state: &State) -> u8 {
        let layout = self.layout;
        let channels = layout.ids().flat_map(|from| layout.ids().map(move |to| (from, to)));
        let busy = channels.filter(|&(from, to)| from != to && layout.channel(state, from, to) != EMPTY);
        u8::try_from(busy.count()).expect("few nodes")
    }

    fn broadcast(&self, state: &mut State, from: NodeId, message: PartId) -> bool {
        let audience = self.twin(state).audiences[from.index()];
        self.layout.ids().filter(|to| audience >> to.0 & 1 == 1).all(|to| self.send(state, from, to, message))
    }

    /// Puts a message on its way. To send where no link leads is wrong; to send to somebody who has left is not.
    fn send(&self, state: &mut State, from: NodeId, to: NodeId, message: PartId) -> bool {
        let (layout, parts) = (self.layout, &self.parts);
        match self.twin(state).way(from, to) {
            Ok(Way::Open(_)) => {
                let channel = parts.sent(layout.channel(state, from, to), message);
                layout.set_channel(state, from, to, channel);
            }
            Ok(Way::Torn(_)) => {
                let channel = parts.sent(layout.channel(state, from, to), message);
                layout.set_channel(state, from, to, parts.outliving(channel));
            }
            Ok(Way::Nowhere) => {}
            Err(NoLink { from, to }) => {
                self.fault(state, Violation::NoLink { from, to });
                return false;
            }
        }
        true
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
    pub(super) fn reach(&self, state: &State, node: NodeId) -> Nodes {
        self.twin(state).together[node.index()]
    }
}

/// The number that says that nothing is going on.
pub(crate) const QUIET: u32 = 8;
/// The number that says that all units are in use.
pub(crate) const ALL_IN_USE: u32 = 9;
/// The number that says that a node that was killed has come back.
pub(crate) const RESTARTED: u32 = 10;
/// The number that says that an application of an earlier life has shown its grant to a node that took it.
pub(crate) const RESUMED: u32 = 11;
/// No state was violated.
pub(crate) const NOT_VIOLATED: u32 = u32::MAX;

#[cfg(test)]
impl<P: Protocol> Model<P> {
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

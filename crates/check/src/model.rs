//! The system as a transition system: what may happen in a state, what comes of it, and what must hold.

mod identity;
mod judgement;
mod lives;
#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use driftlock_net::ideal::{Fate, Ground};
use driftlock_protocol::{
    Charter, Crossing, Incarnation, Layer, LinkEvent, Node, NodeId, Protocol, Reach, Repairs, Stored, Terms, View,
};
use driftlock_spec::Violation;

use crate::action::{Action, PAST_MAX};
use crate::graph::Recorder;
use crate::parts::{EMPTY, PartId, Parts, Seat, Stimulus};
use crate::state::{AWAKE, Common, DOWN, Layout, Own, PAUSED, State, WIPED};
use crate::{Bound, Setup, SetupError, Timing};

/// All nodes, the ideal layer below them, and everything that may happen to them within the bounds of a setup.
///
/// The layers are those of `net::ideal`, packed: a channel is a row of message numbers. A test walks both side by side.
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
            layout: Layout::new(setup.deployment.nodes),
            parts: Parts::new(tick, setup.demands.clone(), charter),
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
        let (deployment, layout) = (&self.setup.deployment, self.layout);
        let ground = Ground::<()>::new(P::View::LAYER, deployment);
        let nodes = layout.ids().zip(self.deploy()).map(|(id, protocol)| Node::new(id, protocol, ground.reach(id)));
        let seats: Vec<_> = nodes.map(|node| self.parts.seat(Seat::new(node))).collect();
        let changes = deployment.links.len() + deployment.members.len();
        let ledger = self.parts.first_ledger(deployment.k, changes);
        let mut state = layout.state(&seats, ledger);
        for &(a, b) in &deployment.links {
            layout.set_link(&mut state, a, b, true);
        }
        for &member in &deployment.members {
            layout.set_inside(&mut state, member, true);
        }
        let setup = &self.setup;
        for (what, bound) in [
            (Common::Failures, setup.failures),
            (Common::Formations, setup.formations),
            (Common::Joins, setup.joins),
            (Common::Leaves, setup.leaves),
            (Common::Crashes, setup.crashes),
            (Common::Losses, setup.losses),
            (Common::Lateness, setup.lateness),
            (Common::Requests, setup.requests_in_all),
            (Common::Overtakes, setup.overtakes),
            (Common::Restarts, setup.restarts),
            (Common::DiskLosses, setup.disk_losses),
        ] {
            layout.set_common(&mut state, what, bound);
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
        let awake = |node| layout.own(state, node, Own::Absence) == AWAKE;
        for to in layout.ids().filter(|&to| awake(to) && !self.has_due_timer(state, to)) {
            let busy = |&from: &NodeId| from != to && layout.channel(state, from, to) != EMPTY;
            for from in layout.ids().filter(busy) {
                actions.push(Action::Deliver { from, to });
                self.overtakings(state, from, to, actions);
            }
            self.own_actions(state, to, actions);
        }
        self.timer_actions(state, actions);
        match P::View::LAYER {
            Layer::Links => self.link_actions(state, actions),
            Layer::Neighbourhood => self.member_actions(state, actions),
        }
        self.life_actions(state, actions);
    }

    /// Each message that is passed counts.
    fn overtakings(&self, state: &State, from: NodeId, to: NodeId, actions: &mut Vec<Action>) {
        let channel = self.layout.channel(state, from, to);
        let most = self.layout.common(state, Common::Overtakes).min(PAST_MAX);
        let passed = (1..=most).filter(|&past| self.parts.overtaking(channel, past).is_some());
        actions.extend(passed.map(|past| Action::Overtake { from, to, past }));
    }

    /// Whether the layer below may tell this node something.
    fn may_be_told(&self, state: &State, node: NodeId) -> bool {
        self.layout.own(state, node, Own::Absence) == AWAKE && !self.has_due_timer(state, node)
    }

    fn link_actions(&self, state: &State, actions: &mut Vec<Action>) {
        let layout = self.layout;
        let may_change = |node| self.may_be_told(state, node);
        for (a, b) in layout.pairs().filter(|&(a, b)| may_change(a) && may_change(b)) {
            if layout.is_cut(state, a, b) {
                continue;
            }
            if !layout.is_up(state, a, b) {
                // What outlived the last link between the two arrives before there is another.
                if layout.common(state, Common::Formations) > 0 && self.is_idle(state, a, b) {
                    actions.push(Action::Form(a, b));
                }
            } else if layout.common(state, Common::Failures) > 0 && self.may_fail(state, a, b) {
                actions.push(Action::Fail(a, b));
            }
        }
    }

    fn member_actions(&self, state: &State, actions: &mut Vec<Action>) {
        let layout = self.layout;
        let left = |what| layout.common(state, what) > 0;
        let is_among = |set: u8, node: NodeId| set >> node.0 & 1 == 1;
        let (inside, crashed) = (layout.inside(state), layout.crashed(state));
        let is_away = |node| [DOWN, WIPED].contains(&layout.own(state, node, Own::Absence));
        let all_may_be_told = layout.ids().all(|node| is_away(node) || self.may_be_told(state, node));
        let is_newcomer = |node| match layout.own(state, node, Own::Absence) {
            WIPED => true,
            DOWN => false,
            _ => left(Common::Joins) && !is_among(crashed, node),
        };
        for node in layout.ids() {
            if is_among(inside, node) {
                let leaving = self.parts.seats.get(layout.seat(state, node)).leaving;
                if left(Common::Leaves) && !leaving && self.may_be_told(state, node) {
                    actions.push(Action::Leave(node));
                }
                if left(Common::Crashes) {
                    actions.push(Action::Crash(node));
                }
            } else if is_newcomer(node) && all_may_be_told && !self.founds_too_early(state, node) {
                actions.push(Action::Join(node));
            }
        }
        if left(Common::Losses) {
            let pairs = layout.ids().flat_map(|from| layout.ids().map(move |to| (from, to)));
            let busy = pairs.filter(|&(from, to)| from != to && layout.channel(state, from, to) != EMPTY);
            actions.extend(busy.map(|(from, to)| Action::Lose { from, to }));
        }
    }

    fn own_actions(&self, state: &State, node: NodeId, actions: &mut Vec<Action>) {
        let (layout, seat) = (self.layout, self.parts.seats.get(self.layout.seat(state, node)));
        if seat.grant.is_some() {
            actions.push(Action::Release(node));
        }
        let may_ask = layout.crashed(state) >> node.0 & 1 == 0 && layout.common(state, Common::Requests) > 0;
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

    fn timer_actions(&self, state: &State, actions: &mut Vec<Action>) {
        let layout = self.layout;
        let armed = |node| self.parts.seats.get(layout.seat(state, node)).seat.timers.iter();
        let awake = |&node: &NodeId| layout.own(state, node, Own::Absence) == AWAKE;
        for node in layout.ids().filter(awake) {
            let due = (0..).zip(armed(node)).filter(|(_, (_, left))| *left == 0);
            actions.extend(due.map(|(at, _)| Action::Timer(node, at)));
        }
        let Timing::Timed { drift, .. } = self.setup.timing else { return };
        let may_pause = layout.common(state, Common::Pauses) > 0;
        for node in layout.ids() {
            match layout.own(state, node, Own::Absence) {
                PAUSED => actions.push(Action::Resume(node)),
                AWAKE if may_pause => actions.push(Action::Pause(node)),
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

    fn may_fail(&self, state: &State, a: NodeId, b: NodeId) -> bool {
        (self.setup.fate != Fate::Drained || self.is_idle(state, a, b))
            && (!self.setup.connected || self.is_connected_without(state, a, b))
    }

    /// Whether all nodes can reach one another without this link.
    fn is_connected_without(&self, state: &State, a: NodeId, b: NodeId) -> bool {
        let mut without = state.clone();
        self.layout.set_link(&mut without, a, b, false);
        self.reach(&without, a) >> b.0 & 1 == 1
    }

    /// Whether nothing is on its way between the two.
    fn is_idle(&self, state: &State, a: NodeId, b: NodeId) -> bool {
        self.layout.channel(state, a, b) == EMPTY && self.layout.channel(state, b, a) == EMPTY
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
            Action::Fail(a, b) => self.fail(state, a, b),
            Action::Form(a, b) => {
                layout.spend_common(state, Common::Formations);
                self.form(state, a, b);
            }
            Action::Kill(node) => {
                layout.spend_common(state, Common::Restarts);
                self.kill(state, node);
            }
            Action::Back(node) => self.back(state, node),
            Action::Wipe(node) => {
                layout.spend_common(state, Common::DiskLosses);
                layout.set_crashed(state, node, true);
                layout.set_own(state, node, Own::Absence, Bound::Most(WIPED));
                self.input(state, node, Stimulus::Wipe);
                self.silence(state, node);
            }
            Action::Show(node) => {
                self.seen.fetch_or(1 << RESUMED, Ordering::Relaxed);
                self.input(state, node, Stimulus::Show);
            }
            Action::Gone(node) => self.input(state, node, Stimulus::Gone),
            Action::Miss { node, peer } => self.miss(state, node, peer),
            Action::Mend(a, b) => {
                layout.set_cut(state, a, b, false);
                self.form(state, a, b);
            }
            Action::Join(node) => self.join(state, node),
            Action::Leave(node) => {
                layout.spend_common(state, Common::Leaves);
                self.input(state, node, self.parts.told(Crossing::Leaving));
            }
            Action::Crash(node) => {
                layout.spend_common(state, Common::Crashes);
                layout.set_crashed(state, node, true);
                // Nobody is told, so it is a member still.
                let reach = Reach::member(self.life_of(state, node));
                let node_left = Node::new(node, P::blank(node, &self.charter()), reach);
                layout.set_seat(state, node, self.parts.seat(Seat::new(node_left)));
                self.silence(state, node);
            }
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
        }
    }

    fn form(&self, state: &mut State, a: NodeId, b: NodeId) {
        let layout = self.layout;
        layout.set_link(state, a, b, true);
        let (incarnation, ledger) = self.parts.formed(layout.ledger(state));
        layout.set_ledger(state, ledger);
        self.input(state, a, self.parts.told(LinkEvent::Up { peer: b, incarnation }));
        self.input(state, b, self.parts.told(LinkEvent::Up { peer: a, incarnation }));
    }

    /// Both ends are told at once, then what was in flight meets its fate.
    fn fail(&self, state: &mut State, a: NodeId, b: NodeId) {
        let layout = self.layout;
        layout.spend_common(state, Common::Failures);
        let in_flight = [(a, b), (b, a)].map(|(from, to)| (from, to, layout.channel(state, from, to)));
        for (from, to, channel) in in_flight {
            let left = if self.setup.fate == Fate::Settled { self.parts.outliving(channel) } else { EMPTY };
            layout.set_channel(state, from, to, left);
        }
        layout.set_link(state, a, b, false);
        let seat = self.parts.seats.get(layout.seat(state, a));
        let incarnation = seat.seat.node.incarnation(b).expect("the link was up");
        self.input(state, a, self.parts.told(LinkEvent::Down { peer: b, incarnation }));
        self.input(state, b, self.parts.told(LinkEvent::Down { peer: a, incarnation }));
        if self.setup.fate == Fate::Returned {
            for (from, to, channel) in in_flight {
                for &message in &self.parts.channels.get(channel).messages {
                    self.input(state, from, Stimulus::Undelivered { to, message });
                }
            }
        }
    }

    /// Whoever is there is told, and the node is told who is there.
    fn join(&self, state: &mut State, node: NodeId) {
        let layout = self.layout;
        if layout.own(state, node, Own::Absence) != WIPED {
            layout.spend_common(state, Common::Joins);
        }
        let (life, ledger) = self.parts.formed(layout.ledger(state));
        layout.set_ledger(state, ledger);
        let life_of = |member| self.life_of(state, member).map(|life| (member, life));
        let members = layout.ids().filter_map(life_of).collect();
        layout.set_inside(state, node, true);
        if layout.own(state, node, Own::Absence) == WIPED {
            layout.set_crashed(state, node, false);
            layout.set_own(state, node, Own::Absence, Bound::Most(AWAKE));
        }
        for peer in self.members(state).filter(|&peer| peer != node) {
            self.input(state, peer, self.parts.told(Crossing::Met { peer: node, life }));
        }
        self.input(state, node, self.parts.told(Crossing::decreed(self.setup.stays.of(life), life, members)));
    }

    fn life_of(&self, state: &State, node: NodeId) -> Option<Incarnation> {
        match *self.parts.seats.get(self.layout.seat(state, node)).seat.node.reach() {
            Reach::Inside { life, .. } => Some(life),
            Reach::Links(_) | Reach::Outside => None,
        }
    }

    /// Who is inside and lives.
    fn members(&self, state: &State) -> impl Iterator<Item = NodeId> + use<P> {
        let inside = self.layout.inside(state);
        self.layout.ids().filter(move |node| inside >> node.0 & 1 == 1)
    }

    fn depart(&self, state: &mut State, node: NodeId) {
        self.silence(state, node);
        for peer in self.members(state) {
            self.input(state, peer, self.parts.told(Crossing::Parted { peer: node }));
        }
    }

    /// Nothing reaches the node any more.
    fn silence(&self, state: &mut State, node: NodeId) {
        self.layout.set_inside(state, node, false);
        for from in self.layout.ids().filter(|&from| from != node) {
            self.layout.set_channel(state, from, node, EMPTY);
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
                None => self.members(state).filter(|&to| to != node).all(|to| self.send(state, node, to, message)),
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

    /// Puts a message on its way. To send where no link leads is wrong; to send to somebody who has left is not.
    fn send(&self, state: &mut State, from: NodeId, to: NodeId, message: PartId) -> bool {
        let layout = self.layout;
        let reaches = match P::View::LAYER {
            Layer::Links => from != to && layout.is_up(state, from, to),
            Layer::Neighbourhood => from != to && layout.inside(state) >> to.0 & 1 == 1,
        };
        let is_loose = || layout.has_cuts(state) && layout.is_cut(state, from, to);
        if P::View::LAYER == Layer::Links && reaches && is_loose() && self.loose_end(state, from, to).is_some() {
            // Nobody is there but for permits, which find another way.
            let channel = self.parts.sent(layout.channel(state, from, to), message);
            layout.set_channel(state, from, to, self.parts.outliving(channel));
        } else if reaches {
            let channel = self.parts.sent(layout.channel(state, from, to), message);
            layout.set_channel(state, from, to, channel);
        } else if P::View::LAYER == Layer::Links {
            self.fault(state, Violation::NoLink { from, to });
            return false;
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
    pub(super) fn reach(&self, state: &State, node: NodeId) -> u8 {
        let mut reached = 1_u8 << node.0;
        if P::View::LAYER == Layer::Neighbourhood {
            let inside = self.layout.inside(state);
            return if inside & reached == 0 { reached } else { inside };
        }
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

//! A counterexample, acted out: real nodes over an ideal layer take the same actions and record every step.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::io;
use std::time::Duration;

use driftlock_protocol::ideal::{Change, Channels, Cut, Fate, Ideal, IdealOf, News, Way};
use driftlock_protocol::{
    Carrier, Charter, Demand, Input, InputOf, Node, NodeId, Outbox, Protocol, Status, Stored, carries_permits,
};
use driftlock_trace::Writer;

use crate::parts::{Forget, Seat, ticks};
use crate::search::Counterexample;
use crate::{Action, Model, StayOrder};

/// Between two actions, in nanoseconds: a time unit.
const PAUSE: u64 = 1_000_000_000;

/// Writes the steps of `counterexample` as a trace; of a livelock, once round the cycle.
pub fn record<P: Protocol>(model: &Model<P>, counterexample: &Counterexample, writer: Writer) -> io::Result<()> {
    let mut play = Play::new(model, Some(writer));
    for &action in counterexample.actions.iter().chain(&counterexample.cycle) {
        play.act(action);
    }
    let t = play.now;
    let ended = play.writer.map(|writer| writer.finish(t, Some(counterexample.violation.to_string())));
    ended.unwrap_or(Ok(()))
}

/// Nodes and the layer below them as every other world has them.
pub(crate) struct Play<P: Protocol> {
    pub(crate) seats: Vec<Seat<P>>,
    pub(crate) ideal: IdealOf<P>,
    pub(crate) channels: Channels<P::Message>,
    charter: Charter<P::Variant>,
    forget: Option<Forget<P>>,
    tick: Option<Duration>,
    /// What those that were killed, and are not back yet, showed of themselves.
    killed: BTreeMap<NodeId, Status>,
    demands: Vec<Demand>,
    fate: Fate,
    stays: StayOrder,
    now: u64,
    writer: Option<Writer>,
}

impl<P: Protocol> Play<P> {
    pub(crate) fn new(model: &Model<P>, writer: Option<Writer>) -> Self {
        let setup = model.setup();
        let ideal = IdealOf::<P>::new(&setup.deployment);
        let protocols = setup.deployment.ids().zip(model.deploy());
        let seats = protocols.map(|(id, node)| Seat::new(Node::new(id, node, ideal.contacts(id)))).collect();
        let (charter, demands) = (model.charter(), setup.demands.clone());
        let (forget, tick) = (model.parts.forget, model.parts.tick);
        Self {
            seats,
            ideal,
            channels: Channels::new(setup.deployment.nodes),
            charter,
            forget,
            tick,
            killed: BTreeMap::new(),
            demands,
            fate: setup.fate,
            stays: setup.stays,
            now: 0,
            writer,
        }
    }

    pub(crate) fn act(&mut self, action: Action) {
        self.now += PAUSE;
        match action {
            Action::Deliver { from, to } => self.deliver(from, to),
            Action::Overtake { from, to, past } => {
                self.channels.overtake(from, to, usize::from(past), usize::from(past));
                self.deliver(from, to);
            }
            Action::Release(node) => self.input(node, Input::Release),
            Action::Request(node, demand) => {
                let demand = self.demands[usize::from(demand)];
                self.input(node, Input::Request(demand));
            }
            Action::Cancel(node) => self.input(node, Input::Cancel),
            Action::Timer(node, at) => {
                let (timer, _) = self.seats[node.index()].timers.remove(usize::from(at));
                self.input(node, Input::Timer(timer));
            }
            Action::Change(change) => self.change(change),
            Action::Lose { from, to } => {
                let Some(incarnation) = self.seats[to.index()].node.incarnation(from) else { return };
                let lost = self.channels.arrive(from, to, incarnation);
                if let (Some(message), Some(writer)) = (lost, &mut self.writer) {
                    writer.loss(self.now, from, to, &message);
                }
            }
            Action::Show(node) => self.show(node),
            Action::Gone(node) => self.input(node, Input::Gone),
            Action::Tick => self.tick(None),
            Action::TickBut(node) => self.tick(Some(node)),
            // A node that does nothing does not notice that.
            Action::Pause(_) | Action::Resume(_) => {}
        }
    }

    fn tick(&mut self, but: Option<NodeId>) {
        let others = (0..).map(NodeId).zip(&mut self.seats).filter(|(node, _)| Some(*node) != but);
        others.for_each(|(_, seat)| seat.tick());
    }

    /// The layer below changes.
    fn change(&mut self, change: Change) {
        let (mut news, stays) = (Vec::new(), self.stays);
        self.ideal.apply(change, &mut |life| stays.of(life), &mut news);
        self.take_place(news);
    }

    /// What was in flight on a link that has failed is returned when both ends were told.
    fn take_place(&mut self, news: Vec<News<P::View>>) {
        let mut returned = Vec::new();
        for news in news {
            match news {
                News::Tells(node, view) => self.input(node, Input::Below(view)),
                News::Cut(from, to, cut) => {
                    let lost = self.cut(from, to, cut);
                    let is_returned = matches!(cut, Cut::Failed(_)) && self.fate == Fate::Returned;
                    returned.extend(lost.into_iter().filter(|_| is_returned).map(|message| (from, to, message)));
                }
                News::Silenced(node) => drop(self.channels.silence(node)),
                News::Crashed(node) => self.seats[node.index()] = Seat::new(Node::blank(node, &self.charter)),
                News::Killed(node) => self.begin_life(node),
                News::Back(node) => self.be_back(node),
                News::Wiped(node) => {
                    let seat = &mut self.seats[node.index()];
                    seat.kill();
                    seat.node = seat.node.wiped(&self.charter);
                }
                News::Shows(sight) => {
                    if let Some(writer) = &mut self.writer {
                        writer.sight(self.now, sight);
                    }
                }
                // The search has let all arrive that is late, and what follows is among its actions.
                News::Settles(..) | News::Follows(..) => {}
            }
        }
        for (from, to, message) in returned {
            self.input(from, Input::Undelivered { to, message });
        }
    }

    fn cut(&mut self, from: NodeId, to: NodeId, cut: Cut) -> Vec<P::Message> {
        let outlives = |message: &P::Message| match cut {
            Cut::Kept => true,
            Cut::Failed(_) if self.fate != Fate::Settled => false,
            Cut::Failed(_) | Cut::Outlived => carries_permits::<P>(message),
        };
        self.channels.close(from, to, outlives)
    }

    /// From now on it knows only what it had stored.
    fn begin_life(&mut self, node: NodeId) {
        let (charter, stored) = (&self.charter, self.stored(node));
        let seat = &mut self.seats[node.index()];
        self.killed.insert(node, seat.node.protocol().status());
        let restored = seat.node.restarted_with(stored, charter, &mut Outbox::new());
        seat.kill();
        seat.node = restored;
    }

    fn be_back(&mut self, node: NodeId) {
        let (mut out, stored) = (Outbox::with_clauses(), self.stored(node));
        let seat = &mut self.seats[node.index()];
        seat.node = seat.node.restarted_with(stored, &self.charter, &mut out);
        let status = seat.node.protocol().status();
        let change = self.killed.remove(&node).and_then(|before| status.change_since(&before));
        if let Some(writer) = &mut self.writer {
            writer.restart::<P>(self.now, node, out.effects(), change);
        }
        let Ok(()) = self.carry_out(node, &mut out);
    }

    fn stored(&self, node: NodeId) -> Stored<P::Durable> {
        let mut stored = self.seats[node.index()].node.durable();
        if let Some(forget) = self.forget {
            forget(&mut stored);
        }
        stored
    }

    fn show(&mut self, node: NodeId) {
        let seat = &mut self.seats[node.index()];
        let Some((resume, Seat { left, .. })) = seat.resumed(self.tick, &mut Outbox::new()) else { return };
        seat.left = left;
        self.input(node, resume);
    }

    fn deliver(&mut self, from: NodeId, to: NodeId) {
        let incarnation = self.seats[to.index()].node.incarnation(from);
        let in_time = incarnation.and_then(|now| Some((now, self.channels.arrive(from, to, now)?)));
        if let Some((incarnation, message)) = in_time.or_else(|| self.channels.arrive_late(from, to)) {
            self.input(to, Input::Message { from, incarnation, message });
        }
    }

    #[allow(clippy::needless_pass_by_value)] // every caller has just made it
    fn input(&mut self, id: NodeId, input: InputOf<P>) {
        let node = &mut self.seats[id.index()].node;
        let before = node.protocol().status();
        let mut out = Outbox::with_clauses();
        let refused = node.step(input.clone(), &mut out).err();
        let change = node.protocol().status().change_since(&before);
        if let Some(writer) = &mut self.writer {
            writer.step::<P>(self.now, id, &input, out.effects(), refused, change);
        }
        let Ok(()) = self.carry_out(id, &mut out);
    }
}

impl<P: Protocol> Carrier<P> for Play<P> {
    type Wrong = Infallible;

    /// A counterexample may end with a message to nobody.
    fn send(&mut self, from: NodeId, to: NodeId, message: P::Message, _shared: bool) -> Result<(), Infallible> {
        match self.ideal.way(from, to) {
            Ok(Way::Open(incarnation)) => self.channels.send(from, to, incarnation, message),
            Ok(Way::Torn(incarnation)) if carries_permits::<P>(&message) => {
                self.channels.go_on(from, to, incarnation, message);
            }
            Ok(Way::Torn(_) | Way::Nowhere) | Err(_) => {}
        }
        Ok(())
    }

    fn audience(&self, from: NodeId) -> Vec<NodeId> {
        self.ideal.audience(from).collect()
    }

    fn arm(&mut self, node: NodeId, timer: P::Timer, after: Duration) {
        self.seats[node.index()].arm(timer, ticks(after, self.tick));
    }

    fn disarm(&mut self, node: NodeId, timer: P::Timer) {
        self.seats[node.index()].disarm(timer);
    }

    fn depart(&mut self, node: NodeId) -> Result<(), Infallible> {
        let mut news = Vec::new();
        self.ideal.depart(node, &mut news);
        self.take_place(news);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use driftlock_protocol::hok::{self, Hok, Policy};
    use driftlock_protocol::ideal::{CRASHES, DISK_LOSSES, FAILURES, FORMATIONS, JOINS, LEAVES, Life, RESTARTS};
    use driftlock_protocol::klme::Klme;
    use driftlock_protocol::klme_ft::{self, KlmeFt};
    use driftlock_protocol::krl::{self, Forwarding, Krl};
    use driftlock_protocol::{Demand, Deployment, Priority, Repairs, Units};
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::{Bound, Setup};

    /// Walks model and play side by side, and compares everything there is.
    fn walk<P: Protocol>(variant: P::Variant, demands: &[Demand], fate: Fate, seed: u64) {
        let links = [(0, 1), (1, 2), (0, 3)].map(|(a, b)| (NodeId(a), NodeId(b))).to_vec();
        let mut setup = Setup::still(Deployment { nodes: 4, k: 2, links, ..Deployment::default() }, Bound::Any);
        setup.allow([(&FAILURES, Bound::Any), (&FORMATIONS, Bound::Any)]);
        setup.cancels = Bound::Any;
        (setup.fate, setup.demands) = (fate, demands.to_vec());
        walk_through::<P>(setup.clone(), variant, seed);
        setup.allow([(&RESTARTS, Bound::Any)]);
        walk_through::<P>(setup, variant, seed);
    }

    fn walk_through<P: Protocol>(mut setup: Setup, variant: P::Variant, seed: u64) {
        setup.spread = u64::MAX;
        let model = Model::<P>::new(setup, variant, Repairs::ALL).unwrap();
        let (mut state, mut play) = (model.initial(), Play::new(&model, None));
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        for _ in 0..300 {
            let mut actions = Vec::new();
            model.enabled(&state, &mut actions);
            if actions.is_empty() {
                return;
            }
            let action = actions[random.random_range(0..actions.len())];
            play.act(action);
            state = model.after(&state, action).unwrap();
            let (nodes, flights, armed) = model.unpacked(&state);
            let lives = |node: &NodeId| play.ideal.life(*node) != Life::Crashed;
            for id in (0..4).map(NodeId).filter(lives) {
                assert_eq!(nodes[id.index()], &play.seats[id.index()].node, "after {action}");
            }
            let ideal: Vec<_> = play.channels.flights().map(|f| (f.from, f.to, f.message)).collect();
            assert_eq!(flights, ideal, "after {action}");
            assert_eq!(model.twin(&state).twin, play.ideal, "after {action}");
            let timers = |seat: &Seat<P>| seat.timers.iter().map(|(timer, _)| *timer).collect::<Vec<_>>();
            assert_eq!(armed, play.seats.iter().map(timers).collect::<Vec<_>>(), "after {action}");
        }
    }

    #[test]
    fn the_packed_neighbourhood_is_the_ideal_neighbourhood() {
        let members = [0, 1, 2].map(NodeId).to_vec();
        let mut setup = Setup::still(Deployment { nodes: 4, k: 2, members, ..Deployment::default() }, Bound::Any);
        setup.allow([(&JOINS, Bound::Any), (&LEAVES, Bound::Any)]);
        setup.cancels = Bound::Any;
        for seed in 0..100 {
            walk_through::<Klme>(setup.clone(), (), seed);
        }
        // What it does when somebody crashes does not matter here, only that both worlds do the same.
        setup.allow([(&CRASHES, Bound::Most(1)), (&RESTARTS, Bound::Most(9)), (&DISK_LOSSES, Bound::Most(2))]);
        (setup.losses, setup.overtakes) = (Bound::Most(3), Bound::Most(5));
        for seed in 0..100 {
            walk_through::<KlmeFt>(setup.clone(), klme_ft::Variant::SMALL, seed);
        }
        for stays in StayOrder::ALL {
            setup.set_stays(stays);
            walk_through::<KlmeFt>(setup.clone(), klme_ft::Variant::SMALL, 1);
        }
    }

    #[test]
    fn the_packed_links_are_the_ideal_links() {
        let ones = [Demand::ONE];
        let several = [Demand::ONE, Demand { units: Units::new(2).unwrap(), priority: Priority(1), ..Demand::ONE }];
        for seed in 0..100 {
            walk::<Krl>(krl::Variant::new(Forwarding::Off), &ones, Fate::Returned, seed);
            walk::<Krl>(krl::Variant::new(Forwarding::Always), &ones, Fate::Returned, seed);
            walk::<Krl>(krl::Variant::new(Forwarding::Off), &ones, Fate::Drained, seed);
            walk::<Krl>(krl::Variant::new(Forwarding::Always), &ones, Fate::Settled, seed);
            walk::<Hok>(hok::Variant::new(Policy::Priority), &several, Fate::Returned, seed);
            walk::<Hok>(hok::Variant::new(Policy::Priority), &several, Fate::Settled, seed);
        }
    }
}

//! A counterexample, acted out: real nodes over an ideal layer take the same actions and record every step.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use driftlock_net::ideal::{Fate, Ground};
use driftlock_protocol::{
    Charter, Crossing, Demand, Effect, Indication, Input, InputOf, LinkEvent, Node, NodeId, Out, Outbox, Protocol,
    Reach, Status, Stored, View, carries_permits,
};
use driftlock_trace::{Presence, Writer};

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
    pub(crate) ground: Ground<P::Message>,
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
        let ground = Ground::new(P::View::LAYER, &setup.deployment);
        let protocols = setup.deployment.ids().zip(model.deploy());
        let seats = protocols.map(|(id, node)| Seat::new(Node::new(id, node, ground.reach(id)))).collect();
        let (charter, demands) = (model.charter(), setup.demands.clone());
        let (forget, tick) = (model.parts.forget, model.parts.tick);
        Self {
            seats,
            ground,
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
                let neighbourhood = self.ground.neighbourhood_mut().expect("a model of a neighbourhood");
                neighbourhood.overtake(from, to, usize::from(past), usize::from(past));
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
            Action::Fail(a, b) => self.fail(a, b),
            Action::Form(a, b) | Action::Mend(a, b) => self.form(a, b),
            Action::Join(node) => self.join(node),
            Action::Leave(node) => self.tell(node, Crossing::Leaving),
            Action::Crash(node) => {
                self.ground.neighbourhood_mut().expect("a model of a neighbourhood").crash(node);
                self.note_member(node, Presence::Crashed);
                self.seats[node.index()] = Seat::new(Node::new(node, P::blank(node, &self.charter), Reach::Outside));
            }
            Action::Lose { from, to } => {
                let Some(incarnation) = self.seats[to.index()].node.incarnation(from) else { return };
                let lost = self.ground.arrive(from, to, incarnation);
                if let (Some(message), Some(writer)) = (lost, &mut self.writer) {
                    writer.loss(self.now, from, to, &message);
                }
            }
            Action::Kill(node) => self.kill(node),
            Action::Back(node) => self.back(node),
            Action::Wipe(node) => {
                self.ground.neighbourhood_mut().expect("a model of a neighbourhood").depart(node);
                self.note_member(node, Presence::Crashed);
                let seat = &mut self.seats[node.index()];
                seat.kill();
                seat.node = seat.node.wiped(&self.charter);
            }
            Action::Show(node) => self.show(node),
            Action::Gone(node) => self.input(node, Input::Gone),
            Action::Miss { node, peer } => {
                let links = self.ground.links_mut().expect("a model of links");
                if let Some((incarnation, _)) = links.miss(node, peer, carries_permits::<P>) {
                    self.tell(node, LinkEvent::Down { peer, incarnation });
                }
            }
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

    fn form(&mut self, a: NodeId, b: NodeId) {
        let incarnation = self.ground.links_mut().expect("a model of links").form(a, b);
        self.note_link(a, b, true, incarnation);
        self.tell(a, LinkEvent::Up { peer: b, incarnation });
        self.tell(b, LinkEvent::Up { peer: a, incarnation });
    }

    /// On links a node is back at once.
    fn kill(&mut self, node: NodeId) {
        if let Some(neighbourhood) = self.ground.neighbourhood_mut() {
            neighbourhood.kill(node);
            self.note_member(node, Presence::Down);
            self.begin_life(node);
            return;
        }
        let links = self.ground.links_mut().expect("a model of links");
        let cut: Vec<_> = links.of(node).collect();
        links.kill(node, carries_permits::<P>);
        for (peer, incarnation) in cut {
            self.note_link(node.min(peer), node.max(peer), false, incarnation);
        }
        self.begin_life(node);
        self.be_back(node);
    }

    fn back(&mut self, node: NodeId) {
        let neighbourhood = self.ground.neighbourhood_mut().expect("a model of a neighbourhood");
        neighbourhood.back(node);
        let members: Vec<_> = neighbourhood.members().filter(|(member, _)| *member != node).collect();
        self.note_member(node, Presence::Inside);
        self.be_back(node);
        for (peer, life) in members {
            self.tell(node, Crossing::Met { peer, life });
        }
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
        self.carry_out(node, &mut out);
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
        let over_link = incarnation.and_then(|now| Some((now, self.ground.arrive(from, to, now)?)));
        let arrived = over_link.or_else(|| self.ground.links_mut().and_then(|links| links.arrive_late(from, to)));
        if let Some((incarnation, message)) = arrived {
            self.input(to, Input::Message { from, incarnation, message });
        }
    }

    fn fail(&mut self, a: NodeId, b: NodeId) {
        let links = self.ground.links_mut().expect("a model of links");
        let Ok(mut failed) = links.fail(a, b) else { return };
        let incarnation = failed.incarnation;
        if self.fate == Fate::Settled {
            let late = failed.undelivered.extract_if(.., |(_, _, message)| carries_permits::<P>(message));
            for (from, to, message) in late {
                links.go_on(from, to, incarnation, message);
            }
        }
        self.note_link(a, b, false, incarnation);
        self.tell(a, LinkEvent::Down { peer: b, incarnation });
        self.tell(b, LinkEvent::Down { peer: a, incarnation });
        if self.fate == Fate::Returned {
            for (from, to, message) in failed.undelivered {
                self.input(from, Input::Undelivered { to, message });
            }
        }
    }

    fn join(&mut self, node: NodeId) {
        let neighbourhood = self.ground.neighbourhood_mut().expect("a model of a neighbourhood");
        let members = neighbourhood.members().filter(|(member, _)| *member != node).collect();
        let stay = self.stays.of(neighbourhood.next_life());
        let life = neighbourhood.enter(node, stay);
        self.note_member(node, Presence::Inside);
        for peer in self.ground.audience(node) {
            self.tell(peer, Crossing::Met { peer: node, life });
        }
        self.tell(node, Crossing::decreed(stay, life, members));
    }

    fn depart(&mut self, node: NodeId) {
        self.ground.neighbourhood_mut().expect("a model of a neighbourhood").depart(node);
        self.note_member(node, Presence::Outside);
        for peer in self.ground.audience(node) {
            self.tell(peer, Crossing::Parted { peer: node });
        }
    }

    fn tell(&mut self, node: NodeId, indication: impl Into<Indication>) {
        self.input(node, Input::Below(P::View::of(indication.into())));
    }

    fn note_member(&mut self, node: NodeId, presence: Presence) {
        if let Some(writer) = &mut self.writer {
            writer.member(self.now, node, presence);
        }
    }

    fn note_link(&mut self, a: NodeId, b: NodeId, up: bool, incarnation: driftlock_protocol::Incarnation) {
        if let Some(writer) = &mut self.writer {
            writer.link(self.now, (a, b), up, incarnation);
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
        self.carry_out(id, &mut out);
    }

    fn carry_out(&mut self, id: NodeId, out: &mut Out<P>) {
        let mut departed = false;
        for effect in out.drain() {
            match effect {
                Effect::Send { to, message, .. } => self.send(id, to, message),
                Effect::Broadcast { message } => {
                    for to in self.ground.audience(id) {
                        _ = self.ground.send(id, to, message.clone());
                    }
                }
                Effect::Depart => departed = true,
                Effect::Arm { timer, after } => self.seats[id.index()].arm(timer, ticks(after, self.tick)),
                Effect::Disarm { timer } => self.seats[id.index()].disarm(timer),
                Effect::Grant(_) | Effect::Revoke(_) | Effect::Clause(_) => {}
            }
        }
        if departed {
            self.depart(id);
        }
    }

    /// What goes to a node that was killed and is not missed yet is lost, but for permits. A counterexample may end
    /// with a message to nobody.
    fn send(&mut self, from: NodeId, to: NodeId, message: P::Message) {
        if let Some(links) = self.ground.links_mut()
            && let Some(incarnation) = links.loose(from, to)
        {
            if carries_permits::<P>(&message) {
                links.go_on(from, to, incarnation, message);
            }
            return;
        }
        _ = self.ground.send(from, to, message);
    }
}

#[cfg(test)]
mod tests {
    use driftlock_protocol::hok::{self, Hok, Policy};
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
        (setup.failures, setup.formations, setup.cancels) = (Bound::Any, Bound::Any, Bound::Any);
        (setup.fate, setup.demands) = (fate, demands.to_vec());
        walk_through::<P>(setup.clone(), variant, seed);
        setup.restarts = Bound::Any;
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
            let lives = |node: &NodeId| play.ground.neighbourhood().is_none_or(|ground| !ground.is_crashed(*node));
            for id in (0..4).map(NodeId).filter(lives) {
                assert_eq!(nodes[id.index()], &play.seats[id.index()].node, "after {action}");
            }
            let mut ideal: Vec<_> = play.ground.flights().map(|f| (f.from, f.to, f.message)).collect();
            // What outlived its link comes last there.
            ideal.sort_by_key(|&(from, to, _)| (from, to));
            assert_eq!(flights, ideal, "after {action}");
            let timers = |seat: &Seat<P>| seat.timers.iter().map(|(timer, _)| *timer).collect::<Vec<_>>();
            assert_eq!(armed, play.seats.iter().map(timers).collect::<Vec<_>>(), "after {action}");
        }
    }

    #[test]
    fn the_packed_neighbourhood_is_the_ideal_neighbourhood() {
        let members = [0, 1, 2].map(NodeId).to_vec();
        let mut setup = Setup::still(Deployment { nodes: 4, k: 2, members, ..Deployment::default() }, Bound::Any);
        (setup.joins, setup.leaves, setup.cancels) = (Bound::Any, Bound::Any, Bound::Any);
        for seed in 0..100 {
            walk_through::<Klme>(setup.clone(), (), seed);
        }
        // What it does when somebody crashes does not matter here, only that both worlds do the same.
        (setup.crashes, setup.losses, setup.overtakes) = (Bound::Most(1), Bound::Most(3), Bound::Most(5));
        (setup.restarts, setup.disk_losses) = (Bound::Most(9), Bound::Most(2));
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

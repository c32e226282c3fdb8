//! A counterexample, acted out: real nodes over an ideal layer take the same actions and record every step.

use std::io;

use driftlock_net::ideal::{Fate, Ground};
use driftlock_protocol::{
    Charter, Crossing, Demand, Effect, Indication, Input, InputOf, LinkEvent, Node, NodeId, Outbox, Protocol, Reach,
    View, carries_permits,
};
use driftlock_trace::{Presence, Writer};

use crate::search::Counterexample;
use crate::{Action, Model, Stays};

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
    pub(crate) nodes: Vec<Node<P>>,
    pub(crate) ground: Ground<P::Message>,
    charter: Charter<P::Variant>,
    /// The timers of each node that are armed, in order.
    pub(crate) armed: Vec<Vec<P::Timer>>,
    demands: Vec<Demand>,
    fate: Fate,
    stays: Stays,
    now: u64,
    writer: Option<Writer>,
}

impl<P: Protocol> Play<P> {
    pub(crate) fn new(model: &Model<P>, writer: Option<Writer>) -> Self {
        let setup = model.setup();
        let ground = Ground::new(P::View::LAYER, &setup.deployment);
        let protocols = setup.deployment.ids().zip(model.deploy());
        let nodes: Vec<_> = protocols.map(|(id, node)| Node::new(id, node, ground.reach(id))).collect();
        let armed = nodes.iter().map(|_| Vec::new()).collect();
        let (charter, demands) = (model.charter(), setup.demands.clone());
        let (fate, stays) = (setup.fate, setup.stays);
        Self { nodes, ground, charter, armed, demands, fate, stays, now: 0, writer }
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
                let timer = self.armed[node.index()].remove(usize::from(at));
                self.input(node, Input::Timer(timer));
            }
            Action::Fail(a, b) => self.fail(a, b),
            Action::Form(a, b) => {
                let incarnation = self.ground.links_mut().expect("a model of links").form(a, b);
                self.note_link(a, b, true, incarnation);
                self.tell(a, LinkEvent::Up { peer: b, incarnation });
                self.tell(b, LinkEvent::Up { peer: a, incarnation });
            }
            Action::Join(node) => self.join(node),
            Action::Leave(node) => self.tell(node, Crossing::Leaving),
            Action::Crash(node) => {
                self.ground.neighbourhood_mut().expect("a model of a neighbourhood").crash(node);
                self.note_member(node, Presence::Crashed);
                self.armed[node.index()].clear();
                self.nodes[node.index()] = Node::new(node, P::blank(node, &self.charter), Reach::Outside);
            }
            Action::Lose { from, to } => {
                let Some(incarnation) = self.nodes[to.index()].incarnation(from) else { return };
                let lost = self.ground.arrive(from, to, incarnation);
                if let (Some(message), Some(writer)) = (lost, &mut self.writer) {
                    writer.loss(self.now, from, to, &message);
                }
            }
            // Time passes, or does not, without anybody noticing.
            Action::Tick | Action::TickBut(_) | Action::Pause(_) | Action::Resume(_) => {}
        }
    }

    fn deliver(&mut self, from: NodeId, to: NodeId) {
        let arrived = match self.nodes[to.index()].incarnation(from) {
            Some(incarnation) => self.ground.arrive(from, to, incarnation).map(|message| (incarnation, message)),
            None => self.ground.links_mut().and_then(|links| links.arrive_late(from, to)),
        };
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
        let node = &mut self.nodes[id.index()];
        let before = node.protocol().status();
        let mut out = Outbox::with_clauses();
        let refused = node.step(input.clone(), &mut out).err();
        let change = node.protocol().status().change_since(&before);
        if let Some(writer) = &mut self.writer {
            writer.step::<P>(self.now, id, &input, out.effects(), refused, change);
        }
        let armed = &mut self.armed[id.index()];
        let mut departed = false;
        for effect in out.drain() {
            match effect {
                // A counterexample may end with a message to nobody.
                Effect::Send { to, message, .. } => _ = self.ground.send(id, to, message),
                Effect::Broadcast { message } => {
                    for to in self.ground.audience(id) {
                        _ = self.ground.send(id, to, message.clone());
                    }
                }
                Effect::Depart => departed = true,
                Effect::Arm { timer, .. } => {
                    armed.retain(|&other| other != timer);
                    armed.push(timer);
                    armed.sort_unstable();
                }
                Effect::Disarm { timer } => armed.retain(|&other| other != timer),
                Effect::Grant(_) | Effect::Revoke(_) | Effect::Clause(_) => {}
            }
        }
        if departed {
            self.depart(id);
        }
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
                assert_eq!(nodes[id.index()], &play.nodes[id.index()], "after {action}");
            }
            let mut ideal: Vec<_> = play.ground.flights().map(|f| (f.from, f.to, f.message)).collect();
            // What outlived its link comes last there.
            ideal.sort_by_key(|&(from, to, _)| (from, to));
            assert_eq!(flights, ideal, "after {action}");
            assert_eq!(armed, play.armed, "after {action}");
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
        for seed in 0..100 {
            walk_through::<Klme>(setup.clone(), (), seed);
            walk_through::<KlmeFt>(setup.clone(), klme_ft::Variant::SMALL, seed);
        }
        for stays in Stays::ALL {
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

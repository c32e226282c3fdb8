//! Nodes that were never told that the resource is new: alone or with others like them, whatever they are told and
//! whatever becomes of their messages, none of them ever makes a unit. In the same histories with one node that was
//! told so, units are made and granted: so it is no want of opportunity.

use std::any::Any;
use std::collections::BTreeSet;

use driftlock_protocol::ideal::{Ideal, Start};
use driftlock_protocol::{
    ALGORITHMS, Charter, Contacts, ContactsOf, Crossing, Demand, Effect, Harm, Incarnation, Input, InputOf, LinkEvent,
    Node, NodeId, Out, Outbox, Protocol, Repairs, Stay, View, Visitor, carries_permits,
};

/// Runs of each algorithm.
const RUNS: u64 = 3_000;
const STEPS: usize = 80;
/// Of the units, where they are made.
const GENERATION: u32 = 1;

/// A linear congruential generator: the order of events has to be odd, not secret.
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next()).expect("31 bits") % bound
    }
}

/// What is under way from one to another, in a life of a link or of the receiver.
struct Flight<P: Protocol> {
    from: NodeId,
    to: NodeId,
    incarnation: Incarnation,
    message: P::Message,
}

struct Newcomers<P: Protocol> {
    charter: Charter<P::Variant>,
    nodes: Vec<Node<P>>,
    air: Vec<Flight<P>>,
    armed: BTreeSet<(NodeId, P::Timer)>,
    lives: u32,
    draws: Draws,
    /// Whether the first node is told that the resource is new.
    has_founder: bool,
    /// How often a node was granted units.
    entries: u64,
}

impl<P: Protocol> Newcomers<P> {
    fn new(variant: P::Variant, seed: u64, has_founder: bool) -> Self {
        let mut draws = Draws(seed);
        let charter = Charter::new(1 + u32::try_from(draws.below(2)).expect("few"), variant, Repairs::ALL);
        let ids = (0..3).map(NodeId).take(1 + draws.below(3));
        let nodes = ids.map(|id| Node::blank(id, &charter)).collect();
        let (air, armed) = (Vec::new(), BTreeSet::new());
        let mut newcomers = Self { charter, nodes, air, armed, lives: 0, draws, has_founder, entries: 0 };
        if has_founder && is_linked::<P>() {
            newcomers.found();
        }
        newcomers
    }

    /// The first node makes the units, where it is not told so when it enters.
    fn found(&mut self) {
        let (id, mut out) = (Self::id(0), Outbox::new());
        let mut protocol = P::blank(id, &self.charter);
        protocol.mint(self.charter.k, GENERATION, &mut out);
        self.nodes[0] = Node::new(id, protocol, ContactsOf::<P::View>::default());
        self.carry_out(0, &mut out);
    }

    /// What a node is told of that when it enters for the first time.
    fn founds(&self, node: usize) -> Option<u32> {
        let has_entered = self.nodes[node].protocol() != &P::blank(Self::id(node), &self.charter);
        (self.has_founder && node == 0 && !has_entered).then_some(GENERATION)
    }

    fn step(&mut self) {
        let node = self.draws.below(self.nodes.len());
        match self.draws.below(12) {
            0..=3 => self.deliver(),
            4..=6 => self.ring(node),
            7 => self.ask(node),
            8 if self.draws.below(4) == 0 => self.restart(node),
            9 => self.lose(),
            _ => self.hint(node),
        }
    }

    fn id(at: usize) -> NodeId {
        NodeId(u32::try_from(at).expect("few"))
    }

    fn new_life(&mut self) -> Incarnation {
        self.lives += 1;
        Incarnation(self.lives)
    }

    /// A message arrives: any, where the order is not promised.
    fn deliver(&mut self) {
        if self.air.is_empty() {
            return;
        }
        let any = self.draws.below(self.air.len());
        let (from, to) = (self.air[any].from, self.air[any].to);
        let oldest = self.air.iter().position(|flight| (flight.from, flight.to) == (from, to));
        let at = if is_hardy::<P>() { any } else { oldest.expect("it is there") };
        let Flight { from, to, incarnation, message } = self.air.remove(at);
        self.input(to.index(), Input::Message { from, incarnation, message });
    }

    /// A message is lost, where they may be.
    fn lose(&mut self) {
        if is_hardy::<P>() && !self.air.is_empty() {
            let at = self.draws.below(self.air.len());
            self.air.swap_remove(at);
        }
    }

    /// Some timer of the node runs out.
    fn ring(&mut self, node: usize) {
        let timers: Vec<_> = self.armed.iter().copied().filter(|(of, _)| *of == Self::id(node)).collect();
        if !timers.is_empty() {
            let timer = timers[self.draws.below(timers.len())];
            self.armed.remove(&timer);
            self.input(node, Input::Timer(timer.1));
        }
    }

    fn ask(&mut self, node: usize) {
        let asker = &self.nodes[node];
        let input = match (asker.grant(), asker.pending()) {
            (Some(_), _) => Input::Release,
            (None, Some(_)) => Input::Cancel,
            (None, None) => Input::Request(Demand::ONE),
        };
        self.input(node, input);
    }

    /// It is killed, and comes back with its disk or without, if the algorithm claims to stand that.
    fn restart(&mut self, node: usize) {
        if !P::CLAIMS.stand(Harm::Restart) {
            return;
        }
        let id = Self::id(node);
        self.armed.retain(|(of, _)| *of != id);
        self.air.retain(|flight| flight.to != id);
        if is_linked::<P>() {
            for other in (0..self.nodes.len()).filter(|&other| other != node) {
                self.cut(node, other);
            }
        }
        let mut out = Outbox::new();
        let keeps_disk = self.draws.below(2) == 0;
        self.nodes[node] = if keeps_disk {
            self.nodes[node].restarted(&self.charter, &mut out)
        } else {
            self.nodes[node].wiped(&self.charter)
        };
        self.carry_out(node, &mut out);
    }

    /// The layer below says something, true or not.
    fn hint(&mut self, node: usize) {
        let other = self.draws.below(self.nodes.len());
        match is_linked::<P>() {
            true if other == node => {}
            true if self.nodes[node].incarnation(Self::id(other)).is_some() => self.cut(node, other),
            true => {
                let incarnation = self.new_life();
                for (at, peer) in [(node, other), (other, node)] {
                    self.tell(at, LinkEvent::Up { peer: Self::id(peer), incarnation });
                }
            }
            false if is_hardy::<P>() => self.cross_misled(node),
            false => self.cross(node),
        }
    }

    fn cut(&mut self, a: usize, b: usize) {
        let Some(incarnation) = self.nodes[a].incarnation(Self::id(b)) else { return };
        self.air.retain(|flight| flight.incarnation != incarnation);
        for (at, peer) in [(a, b), (b, a)] {
            self.tell(at, LinkEvent::Down { peer: Self::id(peer), incarnation });
        }
    }

    /// It enters or is about to leave, and all others are told so.
    fn cross(&mut self, node: usize) {
        if self.nodes[node].contacts().is_anywhere() {
            return self.tell(node, Crossing::Leaving);
        }
        let (stay, life) = (Stay(self.draws.next()), self.new_life());
        let members = self.inside().filter_map(|at| Some((Self::id(at), self.nodes[at].incarnation(NodeId(0))?)));
        let (members, founds) = (members.collect(), self.founds(node));
        self.tell(node, Crossing::Entered { stay, life, members, founds });
        self.tell_others(node, &Crossing::Met { peer: Self::id(node), life });
    }

    fn inside(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.nodes.len()).filter(|&at| self.nodes[at].contacts().is_anywhere())
    }

    fn tell_others(&mut self, node: usize, crossing: &Crossing) {
        let others: Vec<_> = self.inside().filter(|&other| other != node).collect();
        for other in others {
            self.tell(other, crossing.clone());
        }
    }

    /// It enters, is about to leave, or is told that some node that may not exist has come or gone.
    fn cross_misled(&mut self, node: usize) {
        let peer = NodeId(u32::try_from(self.draws.below(5)).expect("few"));
        let life = self.new_life();
        let crossing = match self.nodes[node].contacts().is_anywhere() {
            true if peer == Self::id(node) => Crossing::Leaving,
            true if self.draws.below(2) == 0 => Crossing::Parted { peer },
            true => Crossing::Met { peer, life },
            false => {
                let heard = self.draws.below(3) == 0 && peer != Self::id(node);
                let members = if heard { vec![(peer, Incarnation(1))] } else { Vec::new() };
                Crossing::Entered { stay: Stay(self.draws.next()), life, members, founds: self.founds(node) }
            }
        };
        self.tell(node, crossing);
    }

    fn tell(&mut self, node: usize, view: impl Any) {
        let view = (Box::new(view) as Box<dyn Any>).downcast().expect("it stands on the layer that tells this");
        self.input(node, Input::Below(*view));
    }

    fn input(&mut self, node: usize, input: InputOf<P>) {
        let mut out = Outbox::new();
        // What the shell turns away is as good as not said.
        if self.nodes[node].step(input, &mut out).is_ok() {
            self.carry_out(node, &mut out);
        }
        let protocol = self.nodes[node].protocol();
        let has_units = protocol.has_token() || !protocol.held().is_empty();
        assert!(self.has_founder || !has_units, "node {node} has made units of nothing");
    }

    fn carry_out(&mut self, node: usize, out: &mut Out<P>) {
        let from = Self::id(node);
        for effect in out.drain() {
            match effect {
                Effect::Send { to, message, .. } => self.transmit(from, to, message),
                Effect::Broadcast { message } => {
                    let others = (0..self.nodes.len()).map(Self::id).filter(|&other| other != from);
                    for to in others {
                        self.transmit(from, to, message.clone());
                    }
                }
                Effect::Arm { timer, .. } => drop(self.armed.insert((from, timer))),
                Effect::Disarm { timer } => drop(self.armed.remove(&(from, timer))),
                Effect::Grant(_) if self.has_founder => self.entries += 1,
                Effect::Revoke(_) if self.has_founder => {}
                Effect::Grant(grant) => panic!("node {node} is granted {grant:?}, which nobody has made"),
                Effect::Revoke(_) => panic!("node {node} has nothing that could be taken from it"),
                Effect::Depart if !is_hardy::<P>() => self.tell_others(node, &Crossing::Parted { peer: from }),
                Effect::Depart | Effect::Clause(_) => {}
            }
        }
    }

    fn transmit(&mut self, from: NodeId, to: NodeId, message: P::Message) {
        let has_units = carries_permits::<P>(&message);
        assert!(self.has_founder || !has_units, "{from} sends units that nobody has made: {message:?}");
        let Some(receiver) = self.nodes.get(to.index()) else { return };
        if let Some(incarnation) = receiver.incarnation(from) {
            self.air.push(Flight { from, to, incarnation, message });
        }
    }
}

/// Whether it claims to stand whatever befalls messages, and wrong hints.
fn is_hardy<P: Protocol>() -> bool {
    P::CLAIMS.stand(Harm::Crash)
}

fn is_linked<P: Protocol>() -> bool {
    <P::View as View>::Ideal::STARTS_FROM == Start::Links
}

/// How often units were granted in all runs, with one node that is told to make them, or without.
struct Run {
    has_founder: bool,
}

impl Visitor for Run {
    type Output = u64;

    fn visit<P: Protocol>(self, variant: P::Variant) -> u64 {
        let run = |seed| {
            let mut newcomers = Newcomers::<P>::new(variant, seed, self.has_founder);
            (0..STEPS).for_each(|_| newcomers.step());
            newcomers.entries
        };
        (0..RUNS).map(run).sum()
    }
}

#[test]
fn a_node_that_was_not_told_to_makes_no_units() {
    for algorithm in ALGORITHMS {
        assert_eq!(algorithm.visit(Run { has_founder: false }), 0, "{}", algorithm.tag);
        let entries = algorithm.visit(Run { has_founder: true });
        assert!(entries > RUNS / 10, "{}: {entries} entries with a founder", algorithm.tag);
    }
}

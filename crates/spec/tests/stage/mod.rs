//! A stage for paper tests: nodes and an ideal layer below them, where the test decides what happens next. Everything
//! that must hold is checked after every step.

#![allow(dead_code, reason = "each test file uses a part of it")]

use driftlock_net::ideal::Ground;
use driftlock_protocol::{
    Crossing, Demand, Deployment, Effect, Flight, Indication, Input, InputOf, LinkEvent, Moment, Node, NodeId, Outbox,
    Protocol, Repairs, Section, Status, Stay, View,
};
use driftlock_spec::{Oracle, Violation, check_moment};

/// Nodes by number, for short.
pub(crate) fn id(number: u32) -> NodeId {
    NodeId(number)
}

pub(crate) struct Stage<P: Protocol> {
    k: u32,
    nodes: Vec<Node<P>>,
    ground: Ground<P::Message>,
    /// The timers of each node that are armed, in order.
    armed: Vec<Vec<P::Timer>>,
    oracle: Oracle,
    /// What `req 0.1` in a script asks for is the second of these.
    pub(crate) demands: Vec<Demand>,
    /// The clauses that were executed, in order.
    pub(crate) clauses: Vec<&'static str>,
    /// The first thing that was wrong.
    pub(crate) violation: Option<Violation>,
}

impl<P: Protocol> Stage<P> {
    pub(crate) fn new(nodes: u32, k: u32, links: &[(u32, u32)], variant: P::Variant, repairs: Repairs) -> Self {
        let links = links.iter().map(|&(a, b)| (id(a), id(b))).collect();
        Self::deployed(&Deployment { nodes, k, links, ..Deployment::default() }, variant, repairs)
    }

    /// With these in the neighbourhood; the first of them has the token.
    pub(crate) fn inside(nodes: u32, k: u32, members: &[u32], variant: P::Variant, repairs: Repairs) -> Self {
        let members = members.iter().map(|&member| id(member)).collect();
        Self::deployed(&Deployment { nodes, k, members, ..Deployment::default() }, variant, repairs)
    }

    fn deployed(deployment: &Deployment, variant: P::Variant, repairs: Repairs) -> Self {
        let ground = Ground::new(P::View::LAYER, deployment);
        let protocols = P::deploy(deployment, variant, repairs);
        let nodes = deployment.ids().zip(protocols).map(|(id, node)| Node::new(id, node, ground.reach(id))).collect();
        Self {
            k: deployment.k,
            nodes,
            armed: deployment.ids().map(|_| Vec::new()).collect(),
            ground,
            oracle: Oracle::new(deployment.nodes, deployment.k),
            demands: vec![Demand::ONE],
            clauses: Vec::new(),
            violation: None,
        }
    }

    /// One input of one node; what it sends is put on its way.
    pub(crate) fn input(&mut self, node: u32, input: InputOf<P>) {
        let mut out = Outbox::with_clauses();
        match &input {
            Input::Request(demand) => self.oracle.requested(id(node), *demand),
            Input::Release => self.oracle.released(id(node)),
            _ => {}
        }
        self.nodes[node as usize].step(input, &mut out).expect("the test asks for what is possible");
        let mut departed = false;
        for effect in out.drain() {
            match effect {
                Effect::Send { to, message, .. } => {
                    self.ground.send(id(node), to, message).map(|_| ()).expect("there is a link");
                }
                Effect::Broadcast { message } => {
                    for to in self.ground.audience(id(node)) {
                        self.ground.send(id(node), to, message.clone()).map(|_| ()).expect("it is there");
                    }
                }
                Effect::Revoke(demand) => _ = self.oracle.revoked(id(node), demand),
                Effect::Depart => departed = true,
                Effect::Grant(grant) => {
                    let verdict = self.oracle.granted(id(node), grant);
                    self.note(verdict);
                }
                Effect::Clause(clause) => self.clauses.push(clause),
                Effect::Arm { timer, .. } => {
                    let armed = &mut self.armed[node as usize];
                    armed.retain(|other| *other != timer);
                    armed.push(timer);
                    armed.sort_unstable();
                }
                Effect::Disarm { timer } => self.armed[node as usize].retain(|other| *other != timer),
            }
        }
        if departed {
            self.ground.neighbourhood_mut().expect("a neighbourhood").depart(id(node));
            for peer in self.ground.audience(id(node)) {
                self.tell(peer.0, Crossing::Parted { peer: id(node) });
            }
        }
    }

    fn tell(&mut self, node: u32, indication: impl Into<Indication>) {
        self.input(node, Input::Below(P::View::of(indication.into())));
    }

    fn note(&mut self, verdict: Result<(), Violation>) {
        if let Err(violation) = verdict {
            self.violation.get_or_insert(violation);
        }
    }

    pub(crate) fn check(&mut self) {
        let moment = Moment::<P> {
            nodes: self.nodes.iter().map(Node::protocol).collect(),
            flights: self.ground.flights().collect(),
        };
        let verdict = check_moment(self.k, &moment);
        self.note(verdict);
    }

    pub(crate) fn request(&mut self, node: u32) {
        self.ask(node, Demand::ONE);
    }

    /// A request for several units, or one that is more urgent than another.
    pub(crate) fn ask(&mut self, node: u32, demand: Demand) {
        self.input(node, Input::Request(demand));
        self.check();
    }

    /// What the shell says to a request that can not be.
    pub(crate) fn refusal(&self, node: u32, demand: Demand) -> Option<String> {
        let refused = self.nodes[node as usize].clone().step(Input::Request(demand), &mut Outbox::new());
        refused.err().map(|error| error.to_string())
    }

    pub(crate) fn release(&mut self, node: u32) {
        self.input(node, Input::Release);
        self.check();
    }

    /// The next message from one node to the other arrives.
    pub(crate) fn deliver(&mut self, from: u32, to: u32) {
        let (from, to) = (id(from), id(to));
        let incarnation = self.nodes[to.index()].incarnation(from).expect("there is a link");
        let message = self.ground.arrive(from, to, incarnation).expect("there is a message");
        self.input(to.0, Input::Message { from, incarnation, message });
        self.check();
    }

    /// Delivers everything, the lowest sender first, until nothing is in flight; at most so many messages.
    pub(crate) fn drive(&mut self, messages_max: usize) -> usize {
        for count in 0..messages_max {
            let Some((from, to)) = self.ground.flights().next().map(|flight| (flight.from.0, flight.to.0)) else {
                return count;
            };
            self.deliver(from, to);
        }
        messages_max
    }

    pub(crate) fn link_up(&mut self, a: u32, b: u32) {
        let incarnation = self.ground.links_mut().expect("links").form(id(a), id(b));
        for (node, peer) in [(a, b), (b, a)] {
            self.tell(node, LinkEvent::Up { peer: id(peer), incarnation });
        }
        self.check();
    }

    /// The link fails; what was in flight on it goes back to its sender.
    pub(crate) fn link_down(&mut self, a: u32, b: u32) {
        self.link_down_while(a, b, |_| {});
    }

    /// Likewise, and something else happens before it is back.
    pub(crate) fn link_down_while(&mut self, a: u32, b: u32, meanwhile: impl FnOnce(&mut Self)) {
        let failed = self.ground.links_mut().expect("links").fail(id(a), id(b)).expect("there is a link");
        for (node, peer) in [(a, b), (b, a)] {
            self.tell(node, LinkEvent::Down { peer: id(peer), incarnation: failed.incarnation });
        }
        meanwhile(self);
        for (from, to, message) in failed.undelivered {
            self.input(from.0, Input::Undelivered { to, message });
        }
        self.check();
    }

    /// A node enters the neighbourhood.
    pub(crate) fn join(&mut self, node: u32) {
        let neighbourhood = self.ground.neighbourhood_mut().expect("a neighbourhood");
        let members = neighbourhood.members().collect();
        let life = neighbourhood.next_life();
        let stay = Stay(u64::from(life.0));
        neighbourhood.enter(id(node), stay);
        for peer in self.ground.audience(id(node)) {
            self.tell(peer.0, Crossing::Met { peer: id(node), life });
        }
        self.tell(node, Crossing::decreed(stay, life, members));
        self.check();
    }

    /// A node is told to leave the neighbourhood.
    pub(crate) fn leave(&mut self, node: u32) {
        self.tell(node, Crossing::Leaving);
        self.check();
    }

    /// Whether a node is in the neighbourhood.
    pub(crate) fn is_inside(&self, node: u32) -> bool {
        self.ground.neighbourhood().is_some_and(|neighbourhood| neighbourhood.stay(id(node)).is_some())
    }

    /// The protocol of a node, to look at.
    pub(crate) fn protocol(&self, node: u32) -> &P {
        self.nodes[node as usize].protocol()
    }

    /// Plays a script: `req 2`, `req 2.1` and `rel 2` are the application's, `msg 1>2` delivers what is next from 1 to
    /// 2, `up 0-2` and `down 0-2` are the link's, `join 3` and `leave 3` cross the border, and `timer 1` is the first
    /// timer of node 1.
    pub(crate) fn play(&mut self, script: &str) {
        for action in script.split(';').map(str::trim).filter(|action| !action.is_empty()) {
            let (verb, object) = action.split_once(' ').expect("a verb and an object");
            let numbers: Vec<u32> =
                object.split(['>', '-', '.']).map(|number| number.parse().expect("a node")).collect();
            match (verb, &numbers[..]) {
                ("req", &[node]) => self.ask(node, self.demands[0]),
                ("req", &[node, demand]) => self.ask(node, self.demands[demand as usize]),
                ("rel", &[node]) => self.release(node),
                ("msg", &[from, to]) => self.deliver(from, to),
                ("up", &[a, b]) => self.link_up(a, b),
                ("down", &[a, b]) => self.link_down(a, b),
                ("join", &[node]) => self.join(node),
                ("leave", &[node]) => self.leave(node),
                ("timer", &[node]) => self.fire(node, 0),
                ("timer", &[node, timer]) => self.fire(node, timer as usize),
                _ => panic!("no such action: {action}"),
            }
        }
    }

    fn fire(&mut self, node: u32, timer: usize) {
        let timer = self.armed[node as usize].remove(timer);
        self.input(node, Input::Timer(timer));
        self.check();
    }

    /// The nodes that wait although nothing is in flight and nobody is in its CS: they wait for ever.
    pub(crate) fn stuck(&self) -> Vec<u32> {
        let ids = 0..u32::try_from(self.nodes.len()).expect("a small stage");
        let quiet = self.ground.flights().next().is_none() && ids.clone().all(|node| !self.is_critical(node));
        ids.filter(|&node| quiet && self.status(node).section == Section::Waiting).collect()
    }

    pub(crate) fn status(&self, node: u32) -> Status {
        self.nodes[node as usize].protocol().status()
    }

    pub(crate) fn queue(&self, node: u32) -> Vec<u32> {
        self.status(node).queue.iter().map(|id| id.0).collect()
    }

    pub(crate) fn waits_on(&self, node: u32) -> Option<u32> {
        self.status(node).waits_on.map(|id| id.0)
    }

    pub(crate) fn is_critical(&self, node: u32) -> bool {
        self.status(node).section == Section::Critical
    }

    pub(crate) fn has_token(&self, node: u32) -> bool {
        self.nodes[node as usize].protocol().has_token()
    }

    /// Whether node `a` stands above node `b`.
    pub(crate) fn is_above(&self, a: u32, b: u32) -> bool {
        self.status(a).height > self.status(b).height
    }

    pub(crate) fn holders(&self) -> Vec<u32> {
        let ids = 0..u32::try_from(self.nodes.len()).expect("a small stage");
        ids.filter(|&node| !self.status(node).permits.is_empty()).collect()
    }

    /// The kinds of the messages in flight from one node to another.
    pub(crate) fn in_flight(&self, from: u32, to: u32) -> Vec<&'static str> {
        let between = |flight: &Flight<'_, P::Message>| flight.from == id(from) && flight.to == id(to);
        self.ground.flights().filter(between).map(|flight| P::KINDS[P::kind(flight.message)]).collect()
    }
}

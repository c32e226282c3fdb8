//! A stage for paper tests: nodes and an ideal layer below them, where the test decides what happens next. Everything
//! that must hold is checked after every step.

#![allow(dead_code, reason = "each test file uses a part of it")]

use std::convert::Infallible;
use std::time::Duration;

use driftlock_protocol::ideal::{Change, Channels, Cut, Ideal, IdealOf, News, Way};
use driftlock_protocol::{
    Carrier, Demand, Deployment, Flight, Grant, Input, InputOf, Moment, Node, NodeId, Outbox, Protocol, Repairs,
    Section, Status, Stay,
};
use driftlock_spec::{Oracle, Violation, check_moment};

/// Nodes by number, for short.
pub(crate) fn id(number: u32) -> NodeId {
    NodeId(number)
}

pub(crate) struct Stage<P: Protocol> {
    k: u32,
    nodes: Vec<Node<P>>,
    ideal: IdealOf<P>,
    channels: Channels<P::Message>,
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
        let ideal = IdealOf::<P>::new(deployment);
        let protocols = P::deploy(deployment, variant, repairs);
        let nodes = deployment.ids().zip(protocols).map(|(id, node)| Node::new(id, node, ideal.contacts(id))).collect();
        Self {
            k: deployment.k,
            nodes,
            armed: deployment.ids().map(|_| Vec::new()).collect(),
            ideal,
            channels: Channels::new(deployment.nodes),
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
        let Ok(()) = self.carry_out(id(node), &mut out);
    }

    /// The layer below changes, which befalls one node or two; scripts have this word for it. What is in flight on a
    /// link that fails goes back to its sender.
    fn change(&mut self, word: &str, node: u32, peer: u32) {
        self.change_while(word, node, peer, |_| {});
    }

    /// Likewise, and something else happens before it is back.
    fn change_while(&mut self, word: &str, node: u32, peer: u32, meanwhile: impl FnOnce(&mut Self)) {
        let kind = IdealOf::<P>::KINDS.iter().find(|kind| kind.word == word);
        let kind = kind.unwrap_or_else(|| panic!("no such action: {word}"));
        let mut news = Vec::new();
        self.ideal.apply(Change::between(kind, id(node), id(peer)), &mut |life| Stay(life.0.into()), &mut news);
        let returned = self.take_place(news);
        meanwhile(self);
        for (from, to, message) in returned {
            self.input(from.0, Input::Undelivered { to, message });
        }
        self.check();
    }

    /// What comes of a change, but for what was in flight on a link that fails: that is handed out.
    fn take_place(&mut self, news: Vec<News<P::View>>) -> Vec<(NodeId, NodeId, P::Message)> {
        let mut returned = Vec::new();
        for news in news {
            match news {
                News::Tells(node, view) => self.input(node.0, Input::Below(view)),
                News::Cut(from, to, Cut::Failed(_)) => {
                    let in_flight = self.channels.close(from, to, |_| false);
                    returned.extend(in_flight.into_iter().map(|message| (from, to, message)));
                }
                News::Silenced(node) => drop(self.channels.silence(node)),
                News::Settles(..) | News::Shows(_) => {}
                other => unreachable!("nobody is killed on this stage: {other:?}"),
            }
        }
        returned
    }

    fn note(&mut self, verdict: Result<(), Violation>) {
        if let Err(violation) = verdict {
            self.violation.get_or_insert(violation);
        }
    }

    pub(crate) fn check(&mut self) {
        let moment = Moment::<P> {
            nodes: self.nodes.iter().map(Node::protocol).collect(),
            flights: self.channels.flights().collect(),
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

    /// What the shell says to a request that cannot be.
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
        let message = self.channels.arrive(from, to, incarnation).expect("there is a message");
        self.input(to.0, Input::Message { from, incarnation, message });
        self.check();
    }

    /// Delivers everything, the lowest sender first, until nothing is in flight; at most so many messages.
    pub(crate) fn drive(&mut self, messages_max: usize) -> usize {
        for count in 0..messages_max {
            let Some((from, to)) = self.channels.flights().next().map(|flight| (flight.from.0, flight.to.0)) else {
                return count;
            };
            self.deliver(from, to);
        }
        messages_max
    }

    pub(crate) fn link_up(&mut self, a: u32, b: u32) {
        self.change("up", a, b);
    }

    /// The link fails; what was in flight on it goes back to its sender.
    pub(crate) fn link_down(&mut self, a: u32, b: u32) {
        self.link_down_while(a, b, |_| {});
    }

    /// Likewise, and something else happens before it is back.
    pub(crate) fn link_down_while(&mut self, a: u32, b: u32, meanwhile: impl FnOnce(&mut Self)) {
        self.change_while("down", a, b, meanwhile);
    }

    /// A node enters the neighbourhood.
    pub(crate) fn join(&mut self, node: u32) {
        self.change("join", node, node);
    }

    /// A node is told to leave the neighbourhood.
    pub(crate) fn leave(&mut self, node: u32) {
        self.change("leave", node, node);
    }

    /// Whether a node is in the neighbourhood.
    pub(crate) fn is_inside(&self, node: u32) -> bool {
        self.ideal.listed().any(|(member, _)| member == id(node))
    }

    /// The protocol of a node, to look at.
    pub(crate) fn protocol(&self, node: u32) -> &P {
        self.nodes[node as usize].protocol()
    }

    /// Plays a script: `req 2`, `req 2.1` and `rel 2` are the application's, `msg 1>2` delivers what is next from 1 to
    /// 2, `timer 1` is the first timer of node 1, and all else is a change of the layer below: `up 0-2` and `down 0-2`
    /// are the link's, `join 3` and `leave 3` cross the border.
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
                ("timer", &[node]) => self.fire(node, 0),
                ("timer", &[node, timer]) => self.fire(node, timer as usize),
                (word, &[node]) => self.change(word, node, node),
                (word, &[node, peer]) => self.change(word, node, peer),
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
        let quiet = self.channels.flights().next().is_none() && ids.clone().all(|node| !self.is_critical(node));
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
        self.channels.flights().filter(between).map(|flight| P::KINDS[P::kind(flight.message)]).collect()
    }
}

impl<P: Protocol> Carrier<P> for Stage<P> {
    type Wrong = Infallible;

    fn send(&mut self, from: NodeId, to: NodeId, message: P::Message, _shared: bool) -> Result<(), Infallible> {
        match self.ideal.way(from, to).expect("there is a link") {
            Way::Open(incarnation) => self.channels.send(from, to, incarnation, message),
            Way::Nowhere => {}
            Way::Torn(_) => unreachable!("nobody is killed on this stage"),
        }
        Ok(())
    }

    fn audience(&self, from: NodeId) -> Vec<NodeId> {
        self.ideal.audience(from).collect()
    }

    fn arm(&mut self, node: NodeId, timer: P::Timer, _after: Duration) {
        self.disarm(node, timer);
        let armed = &mut self.armed[node.index()];
        armed.push(timer);
        armed.sort_unstable();
    }

    fn disarm(&mut self, node: NodeId, timer: P::Timer) {
        self.armed[node.index()].retain(|other| *other != timer);
    }

    fn grant(&mut self, node: NodeId, grant: Grant) -> Result<(), Infallible> {
        let verdict = self.oracle.granted(node, grant);
        self.note(verdict);
        Ok(())
    }

    fn revoke(&mut self, node: NodeId, demand: Demand) {
        _ = self.oracle.revoked(node, demand);
    }

    fn clause(&mut self, name: &'static str) {
        self.clauses.push(name);
    }

    fn depart(&mut self, node: NodeId) -> Result<(), Infallible> {
        let mut news = Vec::new();
        self.ideal.depart(node, &mut news);
        self.take_place(news);
        Ok(())
    }
}

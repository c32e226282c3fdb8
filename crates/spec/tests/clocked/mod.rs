//! A neighbourhood in which time passes: messages take a tenth of a second, timers run down, and a test may cut
//! connections, crash and pause nodes. What the applications get is judged all the time.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::time::Duration;

use driftlock_protocol::{
    Carrier, Charter, Crossing, Demand, Deployment, Grant, Incarnation, Input, InputOf, Membership, Node, NodeId,
    Outbox, Protocol, Repairs, Section, Stay,
};
use driftlock_spec::Oracle;

/// In milliseconds.
const DELAY: u64 = 100;

enum Event<P: Protocol> {
    Arrival {
        from: NodeId,
        to: NodeId,
        life: Incarnation,
        restarts: u32,
        message: P::Message,
    },
    Timer {
        node: NodeId,
        timer: P::Timer,
    },
    /// An application of an earlier life of the node stops: its lease is over.
    Stop {
        node: NodeId,
    },
}

/// What an application of an earlier life of a node still uses.
struct Left {
    grant: Grant,
    /// Until then, unless it has resumed.
    ends: (u64, bool, u64),
}

pub(crate) struct Clocked<P: Protocol> {
    nodes: Vec<Node<P>>,
    charter: Charter<P::Variant>,
    /// Of those who are inside and live.
    lives: Vec<Option<Incarnation>>,
    /// Who is taken for a member, although it may have crashed.
    listed: Vec<Option<Incarnation>>,
    next_life: u32,
    paused: Vec<bool>,
    /// How often each was restarted: nothing that was sent before arrives.
    restarts: Vec<u32>,
    left: BTreeMap<NodeId, Left>,
    /// By due time and order. A due timer comes before an arrival at the same time.
    events: BTreeMap<(u64, bool, u64), Event<P>>,
    armed: BTreeMap<(NodeId, P::Timer), (u64, bool, u64)>,
    /// No message gets from the one to the other.
    cuts: Vec<(u32, u32)>,
    oracle: Oracle,
    now: u64,
    order: u64,
    /// How many messages were sent.
    pub(crate) sent: usize,
    /// Whose units were taken away, in order.
    pub(crate) revoked: Vec<u32>,
}

/// As if they were drawn: each once, and in no order.
fn stay(life: u32) -> Stay {
    Stay(u64::from(life).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

impl<P: Protocol<View = Crossing>> Clocked<P> {
    pub(crate) fn new(nodes: u32, k: u32, members: &[u32], variant: P::Variant, rules: Repairs) -> Self {
        let members: Vec<_> = members.iter().map(|&member| NodeId(member)).collect();
        let stays = (0..).map(stay).take(members.len()).collect();
        let deployment = Deployment { nodes, k, members, stays, ..Deployment::default() };
        let life_of = |id| deployment.lives().find(|(member, _)| *member == id).map(|(_, life)| life);
        let lives: Vec<_> = deployment.ids().map(life_of).collect();
        let protocols = P::deploy(&deployment, variant, rules).into_iter();
        let shells = deployment.ids().zip(protocols).map(|(id, node)| Node::new(id, node, Membership::of(life_of(id))));
        Self {
            nodes: shells.collect(),
            charter: Charter::new(k, variant, rules),
            listed: lives.clone(),
            next_life: u32::try_from(lives.iter().flatten().count()).unwrap(),
            lives,
            paused: vec![false; nodes as usize],
            restarts: vec![0; nodes as usize],
            left: BTreeMap::new(),
            events: BTreeMap::new(),
            armed: BTreeMap::new(),
            cuts: Vec::new(),
            oracle: Oracle::new(nodes, k),
            now: 0,
            order: 0,
            sent: 0,
            revoked: Vec::new(),
        }
    }

    pub(crate) fn protocol(&self, node: u32) -> &P {
        self.nodes[node as usize].protocol()
    }

    pub(crate) fn is_critical(&self, node: u32) -> bool {
        self.lives[node as usize].is_some() && self.protocol(node).section() == Section::Critical
    }

    pub(crate) fn is_inside(&self, node: u32) -> bool {
        self.lives[node as usize].is_some()
    }

    /// Who leads, in its own opinion.
    pub(crate) fn leaders(&self) -> Vec<u32> {
        (0..).zip(&self.nodes).filter(|(_, node)| node.protocol().has_token()).map(|(id, _)| id).collect()
    }

    /// The fence of what a node uses.
    pub(crate) fn fence(&self, node: u32) -> driftlock_protocol::Fence {
        self.nodes[node as usize].grant().expect("it uses a unit").fence
    }

    pub(crate) fn request(&mut self, node: u32) {
        self.oracle.requested(NodeId(node), Demand::ONE);
        self.input(node, Input::Request(Demand::ONE));
    }

    pub(crate) fn release(&mut self, node: u32) {
        self.stops(NodeId(node));
        self.input(node, Input::Release);
    }

    /// It uses nothing any more, neither of this life nor of an earlier one.
    fn stops(&mut self, node: NodeId) {
        self.oracle.released(node);
        self.left.remove(&node);
    }

    pub(crate) fn leave(&mut self, node: u32) {
        self.input(node, Input::Below(Crossing::Leaving));
    }

    pub(crate) fn join(&mut self, node: u32) {
        let life = Incarnation(self.next_life);
        self.next_life += 1;
        let members = (0..).map(NodeId).zip(&self.listed);
        let members = members.filter(|(id, _)| id.0 != node).filter_map(|(id, life)| Some((id, (*life)?))).collect();
        (self.lives[node as usize], self.listed[node as usize]) = (Some(life), Some(life));
        for peer in self.others(node) {
            self.input(peer, Input::Below(Crossing::Met { peer: NodeId(node), life }));
        }
        self.input(node, Input::Below(Crossing::decreed(stay(life.0), life, members)));
    }

    /// It stops for good, and nobody is told. What comes back in its place knows nothing.
    pub(crate) fn crash(&mut self, node: u32) {
        self.oracle.vanished(NodeId(node));
        self.lives[node as usize] = None;
        self.nodes[node as usize] = Node::blank(NodeId(node), &self.charter);
        self.forget_timers(node);
    }

    /// It is killed, and comes back with what it had stored. Its application goes on, if it uses a unit, until its
    /// lease ends.
    pub(crate) fn restart(&mut self, node: u32) {
        let id = NodeId(node);
        self.leave_application(id);
        self.forget_timers(node);
        let mut out = Outbox::new();
        self.nodes[id.index()] = self.nodes[id.index()].restarted(&self.charter, &mut out);
        let Ok(()) = self.carry_out(id, &mut out);
        for peer in self.others(node) {
            let life = self.lives[peer as usize].expect("it is inside");
            self.input(node, Input::Below(Crossing::Met { peer: NodeId(peer), life }));
        }
    }

    /// It is killed, and what it had stored is lost. Its application goes on, as above.
    pub(crate) fn lose_disk(&mut self, node: u32) {
        self.leave_application(NodeId(node));
        self.crash(node);
    }

    /// A life of this node ends. Only what its application uses stays in use.
    fn leave_application(&mut self, node: NodeId) {
        let shell = &self.nodes[node.index()];
        let lease = shell.protocol().lease().and_then(|timer| self.armed.remove(&(node, timer)));
        if let Some((grant, ends)) = shell.grant().zip(lease) {
            self.left.insert(node, Left { grant, ends });
            // In place of the timer.
            self.events.insert(ends, Event::Stop { node });
        }
        self.oracle.vanished(node);
        self.restarts[node.index()] += 1;
    }

    /// The application of an earlier life comes back to its node, and shows what it was granted.
    pub(crate) fn resume(&mut self, node: u32) {
        let Left { grant, ends } = &self.left[&NodeId(node)];
        let (grant, left) = (*grant, Duration::from_millis(ends.0 - self.now));
        self.events.remove(ends);
        self.input(node, Input::Resume { grant, left });
    }

    /// Whether an application of an earlier life uses a unit.
    pub(crate) fn is_left(&self, node: u32) -> bool {
        self.left.contains_key(&NodeId(node))
    }

    fn forget_timers(&mut self, node: u32) {
        let timers: Vec<_> = self.armed.keys().filter(|(id, _)| id.0 == node).map(|(_, timer)| *timer).collect();
        for timer in timers {
            self.disarm(NodeId(node), timer);
        }
    }

    /// Nothing gets from one group to the other any more, nor back.
    pub(crate) fn cut(&mut self, one: &[u32], other: &[u32]) {
        self.cuts.extend(one.iter().flat_map(|&a| other.iter().flat_map(move |&b| [(a, b), (b, a)])));
    }

    /// Nothing that one says gets to the other any more.
    pub(crate) fn deafen(&mut self, from: u32, to: u32) {
        self.cuts.push((from, to));
    }

    pub(crate) fn heal(&mut self) {
        self.cuts.clear();
    }

    /// It does nothing until it is woken; what happened to it meanwhile happens then, timers first.
    pub(crate) fn pause(&mut self, node: u32) {
        self.paused[node as usize] = true;
        // Its application does nothing either.
        self.oracle.released(NodeId(node));
    }

    pub(crate) fn wake(&mut self, node: u32) {
        self.paused[node as usize] = false;
        let is_due = |(id, _): &(NodeId, P::Timer), at: &(u64, bool, u64)| id.0 == node && at.0 <= self.now;
        let due: Vec<_> = self.armed.iter().filter(|(timer, at)| is_due(timer, at)).map(|(_, at)| *at).collect();
        for at in due {
            // One may have put off another.
            if let Some(event) = self.events.remove(&at) {
                self.happen(event);
            }
        }
    }

    /// Lets so many seconds pass.
    pub(crate) fn pass(&mut self, seconds: u64) {
        let end = self.now + seconds * 1_000;
        let concerns = |event: &Event<P>| match event {
            Event::Arrival { to, .. } => to.index(),
            Event::Timer { node, .. } | Event::Stop { node } => node.index(),
        };
        loop {
            let next = self.events.iter().find(|(_, event)| !self.paused[concerns(event)]).map(|(at, _)| *at);
            let Some(at) = next.filter(|at| at.0 <= end) else { break };
            self.now = self.now.max(at.0);
            let event = self.events.remove(&at).expect("it is there");
            self.happen(event);
        }
        self.now = end;
    }

    /// Lets time pass until something is so; returns how many seconds it took.
    pub(crate) fn pass_until(&mut self, is_so: impl Fn(&Self) -> bool, seconds_max: u64) -> u64 {
        for second in 0..seconds_max {
            if is_so(self) {
                return second;
            }
            self.pass(1);
        }
        panic!("it was not so within {seconds_max} s");
    }

    fn happen(&mut self, event: Event<P>) {
        match event {
            Event::Timer { node, timer } => {
                self.armed.remove(&(node, timer));
                self.input(node.0, Input::Timer(timer));
            }
            Event::Stop { node } => _ = self.left.remove(&node),
            Event::Arrival { from, to, life, restarts, message } => {
                let is_there = self.lives[to.index()] == Some(life) && self.restarts[to.index()] == restarts;
                if is_there && !self.cuts.contains(&(from.0, to.0)) {
                    self.input(to.0, Input::Message { from, incarnation: life, message });
                }
            }
        }
    }

    /// Who is inside and lives, but for this one.
    fn others(&self, of: u32) -> Vec<u32> {
        (0..).zip(&self.lives).filter(|(id, life)| *id != of && life.is_some()).map(|(id, _)| id).collect()
    }

    #[allow(clippy::needless_pass_by_value)] // every caller has just made it
    fn input(&mut self, node: u32, input: InputOf<P>) {
        let mut out = Outbox::new();
        self.nodes[node as usize].step(input, &mut out).expect("the test asks for what is possible");
        let Ok(()) = self.carry_out(NodeId(node), &mut out);
    }

    fn later(&mut self, after: Duration, is_message: bool) -> (u64, bool, u64) {
        self.order += 1;
        (self.now + u64::try_from(after.as_millis()).unwrap(), is_message, self.order)
    }
}

impl<P: Protocol<View = Crossing>> Carrier<P> for Clocked<P> {
    type Wrong = Infallible;

    fn send(&mut self, from: NodeId, to: NodeId, message: P::Message, _shared: bool) -> Result<(), Infallible> {
        self.sent += 1;
        if let Some(life) = self.lives[to.index()] {
            let at = self.later(Duration::from_millis(DELAY), true);
            let restarts = self.restarts[to.index()];
            self.events.insert(at, Event::Arrival { from, to, life, restarts, message });
        }
        Ok(())
    }

    fn audience(&self, from: NodeId) -> Vec<NodeId> {
        self.others(from.0).into_iter().map(NodeId).collect()
    }

    fn arm(&mut self, node: NodeId, timer: P::Timer, after: Duration) {
        self.disarm(node, timer);
        let at = self.later(after, false);
        self.armed.insert((node, timer), at);
        self.events.insert(at, Event::Timer { node, timer });
    }

    fn disarm(&mut self, node: NodeId, timer: P::Timer) {
        if let Some(at) = self.armed.remove(&(node, timer)) {
            self.events.remove(&at);
        }
    }

    fn grant(&mut self, node: NodeId, grant: Grant) -> Result<(), Infallible> {
        self.oracle.granted(node, grant).expect("safety");
        let is_free = |left: &Left| left.grant.permits.common(grant.permits).is_empty();
        assert!(self.left.values().all(is_free), "safety: an application of an earlier life is inside");
        Ok(())
    }

    fn revoke(&mut self, node: NodeId, demand: Demand) {
        self.revoked.push(node.0);
        match self.left.remove(&node) {
            Some(_) => self.oracle.requested(node, demand),
            None => _ = self.oracle.revoked(node, demand),
        }
    }

    fn depart(&mut self, node: NodeId) -> Result<(), Infallible> {
        (self.lives[node.index()], self.listed[node.index()]) = (None, None);
        for peer in self.others(node.0) {
            self.input(peer, Input::Below(Crossing::Parted { peer: node }));
        }
        Ok(())
    }
}

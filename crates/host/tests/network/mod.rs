//! Hosts that hear one another, their disks, and the applications at them, which outlive their hosts.

use std::collections::BTreeMap;
use std::time::Duration;

use driftlock_host::start::resident;
use driftlock_host::{Agreed, Batch, Cue, Declined, Do, Host, Part, Share, Start};
use driftlock_net::parcel::Resource;
use driftlock_net::stack::{Packet, Settings, Stack};
use driftlock_net::{Boot, Span, Time};
use driftlock_protocol::{Algorithm, Constants, Crossing, Demand, Grant, Incarnation, NodeId, Refusal, Stay, ideal};

/// How long a frame takes.
const FLIGHT: Span = Span::from_millis(1);

pub(crate) fn seconds(seconds: f64) -> Time {
    Time::from_units(seconds)
}

/// What becomes of a batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fate {
    /// It is stored, then done.
    Whole,
    /// The node is killed before it is stored.
    Nothing,
    /// The node is killed after it was stored, and before anything is done.
    Stored,
    /// It is done before it is stored, and the node is killed in between: what a host must never be driven like.
    Done,
}

/// What happens at some time.
enum Event {
    Heard { to: NodeId, from: NodeId, packet: Packet },
    Back(NodeId),
}

/// Decides what becomes of each batch.
type Judge = Box<dyn FnMut(NodeId, &Batch) -> Fate>;

/// What a node finds when it comes back.
type Disk = BTreeMap<Part, Vec<u8>>;

pub(crate) struct Network {
    pub now: Time,
    pub hosts: Vec<Option<Host>>,
    disks: Vec<Disk>,
    resources: Vec<(Resource, Agreed<'static>)>,
    settings: Settings,
    events: BTreeMap<(Time, u64), Event>,
    count: u64,
    /// Who uses what, whatever its host knows of it, and until when if that is a lease.
    pub inside: BTreeMap<(Resource, NodeId), (Grant, Option<Time>)>,
    /// Decides what becomes of each batch.
    pub fate: Judge,
    /// How long a node is down.
    pub down: Span,
    /// Frames that went out.
    pub frames: u64,
    /// Bytes that were written down, and how often.
    pub flushes: u64,
    /// How often units were granted.
    pub grants: u64,
    /// What went wrong.
    pub violation: Option<String>,
    batch: Batch,
}

impl Network {
    /// So many hosts in reach of one another. Node 0 founds all of these resources.
    pub(crate) fn new(nodes: u32, resources: &[(&str, u32)], constants: &'static Constants) -> Self {
        let agreed = |&(tag, k): &(&str, u32)| {
            let algorithm = Algorithm::named(tag).expect("registered");
            Agreed { algorithm, k, constants }
        };
        let numbered = (0..).map(Resource).zip(resources.iter().map(agreed)).collect();
        let settings = Settings::default();
        let stack = |node| Stack::new(Time::ZERO, NodeId(node), Boot(0), &settings);
        let stacks: Vec<_> = (0..nodes).map(stack).collect();
        let mut network = Self {
            now: Time::ZERO,
            disks: vec![Disk::new(); nodes as usize],
            hosts: stacks.into_iter().map(|stack| Some(Host::new(stack))).collect(),
            resources: numbered,
            settings,
            events: BTreeMap::new(),
            count: 0,
            inside: BTreeMap::new(),
            fate: Box::new(|_, _| Fate::Whole),
            down: Span::from_units(1.0),
            frames: 0,
            flushes: 0,
            grants: 0,
            violation: None,
            batch: Batch::default(),
        };
        (0..nodes).map(NodeId).for_each(|node| network.begin(node));
        network
    }

    fn nodes(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..u32::try_from(self.hosts.len()).expect("a few")).map(NodeId)
    }

    fn share(&self, agreed: Agreed<'_>) -> Share {
        Share { k: agreed.k, members: u32::try_from(self.hosts.len()).expect("a few") }
    }

    fn begin(&mut self, node: NodeId) {
        for (resource, agreed) in self.resources.clone() {
            let start = if node.0 == 0 { Start::Founder { generation: 0 } } else { Start::Blank };
            let resident = resident(self.now, node, agreed, start).expect("it makes sense");
            let share = self.share(agreed);
            let host = self.hosts[node.index()].as_mut().expect("it is up");
            host.take_in(self.now, resource, share, resident).expect("few units and nodes");
            if agreed.algorithm.starts_from() == ideal::Start::Members {
                let (stay, life) = (Stay(0xABCD_0000 + u64::from(node.0)), Incarnation(0));
                let founds = (node.0 == 0).then_some(0);
                let entered = Crossing::Entered { stay, life, members: Vec::new(), founds };
                self.cue(node, resource, Cue::Crossing(entered)).expect("it was outside");
            }
        }
        self.carry_out(node);
    }

    /// A resident is told something.
    pub(crate) fn cue(&mut self, node: NodeId, resource: Resource, cue: Cue) -> Result<(), Declined> {
        let Some(host) = &mut self.hosts[node.index()] else { return Ok(()) };
        let taken = host.cue(self.now, resource, cue);
        self.carry_out(node);
        taken
    }

    /// An application asks, unless it waits or is inside.
    pub(crate) fn request(&mut self, node: NodeId, resource: Resource) {
        if !self.inside.contains_key(&(resource, node)) {
            _ = self.cue(node, resource, Cue::Request(Demand::ONE));
        }
    }

    /// An application leaves. Its host is told, or when it is back that no application of before is alive.
    pub(crate) fn release(&mut self, node: NodeId, resource: Resource) {
        if self.inside.remove(&(resource, node)).is_some()
            && self.cue(node, resource, Cue::Release) == Err(Refusal::NotHolding.into())
        {
            _ = self.cue(node, resource, Cue::Gone);
        }
    }

    /// Lets everything happen until then.
    pub(crate) fn run(&mut self, until: Time) {
        loop {
            let wakes = |host: &Option<Host>| host.as_ref().and_then(Host::wakes).unwrap_or(Time::END);
            let (at, node) = self.nodes().map(|node| (wakes(&self.hosts[node.index()]), node)).min().expect("nodes");
            let event = self.events.keys().next().copied();
            if self.violation.is_some() || at.min(event.map_or(Time::END, |event| event.0)) > until {
                self.now = until;
                return;
            }
            if let Some(event) = event.filter(|(due, _)| *due <= at) {
                self.now = event.0;
                let event = self.events.remove(&event).expect("it was just seen");
                self.happens(event);
            } else {
                self.now = at;
                self.hosts[node.index()].as_mut().expect("it wakes").woken(at);
                self.carry_out(node);
            }
        }
    }

    fn happens(&mut self, event: Event) {
        match event {
            Event::Heard { to, from, packet } => {
                let Some(host) = &mut self.hosts[to.index()] else { return };
                host.received(self.now, from, &packet);
                self.carry_out(to);
            }
            Event::Back(node) => self.restore(node),
        }
    }

    fn schedule(&mut self, at: Time, event: Event) {
        self.count += 1;
        self.events.insert((at, self.count), event);
    }

    /// Takes a batch out of a host, and does with it what becomes of it.
    fn carry_out(&mut self, node: NodeId) {
        let Some(host) = &mut self.hosts[node.index()] else { return };
        let mut batch = std::mem::take(&mut self.batch);
        host.take(&mut batch);
        let fate = (self.fate)(node, &batch);
        if matches!(fate, Fate::Whole | Fate::Stored) {
            self.store(node, &batch);
        }
        if matches!(fate, Fate::Whole | Fate::Done) {
            batch.then.drain(..).for_each(|wanted| self.do_one(node, wanted));
        }
        self.batch = batch;
        if fate != Fate::Whole {
            self.kill(node);
        }
    }

    fn store(&mut self, node: NodeId, batch: &Batch) {
        for part in &batch.store {
            self.disks[node.index()].insert(part.part, part.bytes.clone());
        }
        self.flushes += u64::from(!batch.store.is_empty());
    }

    fn do_one(&mut self, node: NodeId, wanted: Do) {
        match wanted {
            Do::Transmit { to, packet, delay } => {
                self.frames += 1;
                let heard_by = self.nodes().filter(|other| *other != node && to.is_none_or(|to| to == *other));
                for to in heard_by.collect::<Vec<_>>() {
                    let event = Event::Heard { to, from: node, packet: packet.clone() };
                    self.schedule(self.now + delay + FLIGHT, event);
                }
            }
            Do::Granted { resource, grant, until } => self.granted(node, resource, grant, until),
            Do::Renewed { resource, until } => {
                self.inside.entry((resource, node)).and_modify(|(_, ends)| *ends = Some(until));
            }
            Do::Revoked { resource, .. } => _ = self.inside.remove(&(resource, node)),
            Do::Departed(_) => {}
        }
    }

    /// An application is inside from now on. No permit is in use twice, and there are no more of them than agreed.
    fn granted(&mut self, node: NodeId, resource: Resource, grant: Grant, until: Option<Time>) {
        self.grants += 1;
        let now = self.now;
        self.inside.retain(|_, (_, until)| until.is_none_or(|until| until > now));
        for ((_, other), (theirs, _)) in self.inside.iter().filter(|((of, _), _)| *of == resource) {
            if !theirs.permits.common(grant.permits).is_empty() {
                self.violation =
                    Some(format!("{resource:?}: {grant:?} of node {other} granted to node {node} as well"));
            }
        }
        let k = self.resources[usize::from(resource.0)].1.k;
        if grant.permits.iter().any(|permit| permit.index() >= k as usize) {
            self.violation = Some(format!("{resource:?}: there are {k} units, and {grant:?} was granted"));
        }
        self.inside.insert((resource, node), (grant, until));
    }

    /// A node is killed. Its applications go on.
    pub(crate) fn kill(&mut self, node: NodeId) {
        if self.hosts[node.index()].take().is_some() {
            self.schedule(self.now + self.down, Event::Back(node));
        }
    }

    /// A node is back with what it had stored, and nothing else.
    fn restore(&mut self, node: NodeId) {
        let at = node.index();
        let disk = self.disks[at].clone();
        let layers = disk.get(&Part::Stack).expect("its first batch stored them");
        let mut host = Host::restore(self.now, node, layers, &self.settings).expect("it was stored so");
        for (resource, agreed) in self.resources.clone() {
            let life = (agreed.algorithm.starts_from() == ideal::Start::Members).then_some(Incarnation(0));
            let start = match disk.get(&Part::Resident(resource)) {
                Some(bytes) => Start::Stored { bytes, life },
                None => Start::Blank,
            };
            let resident = resident(self.now, node, agreed, start).expect("it was stored so");
            host.take_in(self.now, resource, self.share(agreed), resident).expect("few units and nodes");
        }
        self.hosts[at] = Some(host);
        for (resource, _) in self.resources.clone() {
            self.hear_of_application(node, resource);
        }
        self.carry_out(node);
    }

    /// An application of an earlier life shows its grant, or there is none.
    fn hear_of_application(&mut self, node: NodeId, resource: Resource) {
        let now = self.now;
        let inside = self.inside.get(&(resource, node)).filter(|(_, until)| until.is_none_or(|until| until > now));
        let cue = match inside {
            Some(&(grant, until)) => {
                let left = Duration::from_nanos(until.map_or(0, |until| (until - now).0));
                Cue::Resume { grant, left }
            }
            None => Cue::Gone,
        };
        _ = self.cue(node, resource, cue);
    }
}

//! Fault-and-heal: a random network under random changes, then a quiet one that must serve every node.
//!
//! While links fail and form at random, partitions included, or nodes enter and leave a neighbourhood, the oracles and
//! every invariant are checked after each event. Then the graph is made connected, or all nodes come in, and all stays
//! as it is: every node that waits must be served, and after that every node that asks once more. An algorithm that
//! survives crashes and lost messages meets those, too; one that stands restarts meets nodes that are killed and come
//! back while their applications go on; and one that stands overtaking meets messages that overtake one another and are
//! late by more than any of its timeouts. What was injected is counted, so that runs cannot pass for nothing. All of it
//! follows from a seed, the size of the network included unless it is given.

mod changes;
mod field;
mod injected;
mod lives;

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::ops::RangeInclusive;

use driftlock_net::{Span, Time};
use driftlock_protocol::ideal::{Fate, Ideal, IdealOf, Life, Start};
use driftlock_protocol::{
    Algorithm, Constants, Deployment, Harm, NodeId, Protocol, Repairs, Stored, Visitor, registry::UnitsRule,
};
use driftlock_spec::Violation;
use driftlock_trace::{Header, Origin, Writer};
use rand::RngExt;
use rayon::prelude::*;
use thiserror::Error;

pub use self::injected::Injected;
use crate::applications::{Applications, Habits};
use crate::demand::{Deadlines, Demands, Numbers};
use crate::field::FieldPlan;
use crate::queue::Event;
use crate::random::{Duration, Stays, Stream, Subject, exponential, stream};
use crate::sweep::in_pool;
use crate::topology::{possible_links, random_connected};
use crate::world::{Disorder, Setting, Step, World};

/// After this long without changes every node must have been served. Pauses of a paced algorithm are far shorter.
const SERVICE_UNITS_MAX: f64 = 10_000.0;
/// Less than any algorithm waits for being let go.
const FAREWELL_UNITS: f64 = 150.0;
/// So many events and so long afterwards, an algorithm that can come to rest has done so.
const REST_EVENTS_MAX: u64 = 3_000;
const REST_UNITS_MAX: f64 = 50_000.0;
/// A run of up to so many nodes that needs more events than this does not end: a livelock.
const EVENTS_MAX: u64 = 5_000_000;
const USUAL_NODES_MAX: u32 = 12;

/// Which networks are drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Crowd {
    /// 3 to 12 nodes and up to 4 units, fewer than nodes.
    #[default]
    Usual,
    /// 1 to 4 nodes and at least as many units: some nodes hold several tokens, and there may be none without.
    FewerNodesThanUnits,
    /// 3 to 12 nodes that move about a field, with radios that lose a tenth of all frames.
    OnField,
    /// So many nodes, and else as usual or as on the field, where half of the runs take place in a hall in which all
    /// hear all.
    Exactly {
        /// How many.
        nodes: u32,
        /// Whether they move about a field.
        on_field: bool,
    },
}

/// How many nodes may be asked for.
const NODES: RangeInclusive<u32> = 3..=200;

/// So many nodes cannot be drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("{0} nodes: fault-and-heal runs take {min} to {max}", min = NODES.start(), max = NODES.end())]
pub struct NodesError(u32);

impl Crowd {
    /// What these flags of `driftlock soak` ask for. `crowded` goes with no other.
    pub fn of(crowded: bool, on_field: bool, nodes: Option<u32>) -> Result<Self, NodesError> {
        match (crowded, on_field, nodes) {
            (true, ..) => Ok(Self::FewerNodesThanUnits),
            (false, on_field, Some(nodes)) if NODES.contains(&nodes) => Ok(Self::Exactly { nodes, on_field }),
            (false, _, Some(nodes)) => Err(NodesError(nodes)),
            (false, true, None) => Ok(Self::OnField),
            (false, false, None) => Ok(Self::Usual),
        }
    }

    /// Whether nodes move about a field.
    pub fn is_on_field(self) -> bool {
        matches!(self, Self::OnField | Self::Exactly { on_field: true, .. })
    }

    /// How many nodes there are, if that is not drawn.
    fn nodes(self) -> Option<u32> {
        if let Self::Exactly { nodes, .. } = self { Some(nodes) } else { None }
    }
}

/// The flags of `driftlock soak` that ask for it, each after a space.
impl fmt::Display for Crowd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let crowded = *self == Self::FewerNodesThanUnits;
        f.write_str(if crowded { " --crowded" } else { "" })?;
        f.write_str(if self.is_on_field() { " --field" } else { "" })?;
        self.nodes().map_or(Ok(()), |nodes| write!(f, " --nodes {nodes}"))
    }
}

/// A run, drawn from a seed.
#[derive(Clone, PartialEq, Debug)]
pub struct Case {
    seed: u64,
    crowd: Crowd,
    deployment: Deployment,
    delay: Duration,
    cs_time: Duration,
    demands: Demands,
    request_rate: f64,
    /// The share of requests that are withdrawn unless they are served soon.
    impatience: f64,
    change_rate: f64,
    heals_at: Time,
    fate: Fate,
    /// Whether nodes may crash.
    crashes: bool,
    /// The share of messages that are lost as long as there are faults.
    loss: f64,
    /// Whether members are out of reach for a while, so that nothing gets to them or from them.
    seclusion: bool,
    /// How messages overtake one another, if they do.
    disorder: Option<Disorder>,
    /// How often a node is killed, to be back with what it had stored or without, if any is.
    kill_rate: f64,
    /// The share of hints about who comes and goes that are wrong.
    wrong_hints: f64,
    checked: bool,
    /// Of the algorithm, where they are not as usual.
    constants: Constants,
    /// Where nodes move about, if they do.
    field: Option<FieldPlan>,
}

/// What a run came to.
#[derive(Clone, PartialEq, Debug)]
pub struct Report {
    /// Entries while things changed. A run without any shows nothing and does not count.
    pub entries_under_faults: u64,
    /// Entries afterwards.
    pub entries_after: u64,
    /// What went wrong on purpose.
    pub injected: Injected,
    /// Messages sent.
    pub messages: u64,
    /// Whether it came to rest in the end: no message in flight, no timer armed.
    pub rested: bool,
    /// What the oracles objected to.
    pub violation: Option<Violation>,
}

impl Case {
    /// The run of this seed. What becomes of messages on failing links is part of it: never that they are lost.
    pub fn draw(seed: u64, crowd: Crowd, algorithm: &Algorithm) -> Self {
        algorithm.visit(DrawCase { seed, crowd, units: algorithm.units })
    }

    /// Likewise, for a protocol that need not be registered, and that can manage so many units.
    pub fn draw_for<P: Protocol>(seed: u64, crowd: Crowd, units: UnitsRule) -> Self {
        let mut draw = stream(seed, 0, Subject::Setting);
        let (nodes, k) = sizes(crowd, units, &mut draw);
        let deployment = match IdealOf::<P>::STARTS_FROM {
            Start::Links if !crowd.is_on_field() => linked(nodes, k, &mut draw),
            Start::Members => peopled(nodes, k, &mut draw, &mut Stays::new(seed, 0)),
            // Which node hears which, none knows beforehand.
            Start::Links | Start::Nodes => Deployment { nodes, k, ..Deployment::default() },
        };
        let case = Self {
            seed,
            crowd,
            deployment,
            delay: random_duration(0.05..=2.0, &mut draw),
            cs_time: random_duration(0.0..=5.0, &mut draw),
            demands: demands(k, units),
            request_rate: log_uniform(0.01, 2.0, &mut draw),
            impatience: if draw.random_bool(0.25) { 0.3 } else { 0.0 },
            change_rate: log_uniform(0.02, 4.0, &mut draw),
            heals_at: Time::from_units(draw.random_range(20.0..=150.0)),
            fate: [Fate::Drained, Fate::Returned, Fate::Settled][draw.random_range(0..3)],
            crashes: P::CLAIMS.stand(Harm::Crash) && draw.random_bool(0.7),
            loss: if P::CLAIMS.stand(Harm::Loss) && draw.random_bool(0.7) { draw.random_range(0.0..0.1) } else { 0.0 },
            seclusion: false,
            disorder: None,
            kill_rate: 0.0,
            wrong_hints: 0.0,
            checked: true,
            constants: Constants::new(),
            field: None,
        };
        let heals_at = case.heals_at.units();
        let field = crowd.is_on_field().then(|| {
            let side = field::side(crowd, nodes, &mut draw);
            field::plan(side, heals_at, &mut draw)
        });
        let case = Self { field, ..case }.with_lives::<P>();
        if P::CLAIMS.stand(Harm::Overtaking) && case.field.is_none() { case.disordered::<P>(&mut draw) } else { case }
    }

    /// The same run, perhaps with messages that overtake one another; perhaps with more time and less to do, and with
    /// members out of reach, so that leaders rest, are missed, and are elected, again and again.
    fn disordered<P: Protocol>(self, draw: &mut Stream) -> Self {
        let case = Self { disorder: disorder(draw), ..self };
        if draw.random_bool(0.5) {
            return case;
        }
        Self {
            seclusion: P::CLAIMS.stand(Harm::Crash),
            request_rate: log_uniform(0.001, 0.1, draw),
            change_rate: log_uniform(0.01, 0.2, draw),
            heals_at: Time::from_units(draw.random_range(150.0..=1000.0)),
            ..case
        }
    }

    /// More events than a run needs. In a crowd there is one for each pair of nodes whenever each has said something.
    fn events_max(&self) -> u64 {
        let nodes = u64::from(self.deployment.nodes.max(USUAL_NODES_MAX));
        EVENTS_MAX * nodes.pow(2) / u64::from(USUAL_NODES_MAX).pow(2)
    }

    /// Whether a node may be unheard for longer than timeouts.
    fn is_patchy(&self) -> bool {
        self.seclusion || self.disorder.is_some_and(|disorder| disorder.late > 0.0)
    }

    /// The same run with another fate of messages on failing links.
    #[must_use]
    pub fn with_fate(self, fate: Fate) -> Self {
        Self { fate, ..self }
    }

    /// The same run with these constants of the algorithm, which were checked.
    #[must_use]
    pub fn with_constants(self, constants: Constants) -> Self {
        Self { constants, ..self }
    }

    /// The same run without a look inside: only what applications get is checked.
    #[must_use]
    pub fn unchecked(self) -> Self {
        Self { checked: false, ..self }
    }

    /// What its applications are like.
    fn habits(&self) -> Habits {
        Habits {
            load: self.request_rate,
            load_of: BTreeMap::new(),
            demands: self.demands.clone(),
            priority_of: BTreeMap::new(),
            cs_time: self.cs_time,
        }
    }

    /// The nodes, units and links at the start.
    pub fn deployment(&self) -> &Deployment {
        &self.deployment
    }

    /// The first line of a trace of this run.
    pub fn trace_header(&self, algorithm: &'static Algorithm, without: Vec<String>) -> Header {
        let origin = Origin::Soak {
            seed: self.seed,
            crowded: self.crowd == Crowd::FewerNodesThanUnits,
            on_field: self.crowd.is_on_field(),
            nodes: self.crowd.nodes(),
        };
        let header = Header::new(algorithm, without, self.deployment.clone(), origin);
        Header { field: self.field.as_ref().map(FieldPlan::plane), ..header.with_constants(&self.constants) }
    }

    /// Runs it. Fails only if the trace cannot be written.
    pub fn run(&self, algorithm: &Algorithm, repairs: Repairs, recorder: Option<Writer>) -> io::Result<Report> {
        algorithm.visit(RunCase { case: self, repairs, recorder })
    }

    /// Runs it with a protocol that need not be registered.
    pub fn run_with<P: Protocol>(
        &self,
        variant: P::Variant,
        repairs: Repairs,
        recorder: Option<Writer>,
    ) -> io::Result<Report> {
        self.run_forgetting::<P>(variant, repairs, recorder, |_| {})
    }

    /// Likewise, where this is taken away from whatever a node has stored when it comes back.
    pub fn run_forgetting<P: Protocol>(
        &self,
        variant: P::Variant,
        repairs: Repairs,
        recorder: Option<Writer>,
        forget: fn(&mut Stored<P::Durable>),
    ) -> io::Result<Report> {
        let draws = |subject| stream(self.seed, 0, subject);
        let set_up = |field: &FieldPlan| {
            field.set_up::<P>(self.deployment.nodes, self.deployment.k, self.seed).expect("it makes sense")
        };
        let setting = Setting {
            deployment: &self.deployment,
            variant,
            repairs,
            constants: &self.constants,
            delay: self.delay,
            delays: draws(Subject::Delay),
            stays: Stays::new(self.seed, 0),
            lives: stream(self.seed, lives::IN_WORLD, Subject::Life),
            checked: self.checked,
            recorder,
            field: self.field.as_ref().map(set_up),
        };
        let mut soak = Soak::<P> {
            case: self,
            world: World::new(setting),
            applications: Applications::new(self.habits(), self.deployment.nodes, self.seed, 0),
            mobility: draws(Subject::Mobility),
            losses: draws(Subject::Loss),
            lives: stream(self.seed, lives::WHO_AND_WHEN, Subject::Life),
            secluded: Vec::new(),
            injected: Injected::default(),
            events: 0,
            entries: 0,
        };
        if let Some(disorder) = self.disorder {
            soak.world.disorder(disorder);
        }
        soak.world.mislead(self.wrong_hints);
        soak.world.forget_of_disks(forget);
        let violation = soak.break_links().err();
        let entries_under_faults = soak.entries;
        let healed = violation.map_or_else(|| soak.heal().and_then(|()| soak.rests()), Err);
        let (rested, violation) = healed.map_or_else(|violation| (false, Some(*violation)), |rested| (rested, None));
        let (entries, injected) = (soak.entries, soak.injected());
        let tally = soak.world.finish(violation.as_ref())?.finish();
        Ok(Report {
            entries_under_faults,
            entries_after: entries - entries_under_faults,
            injected,
            messages: tally.messages.iter().sum(),
            rested,
            violation,
        })
    }
}

/// A random connected graph.
fn linked(nodes: u32, k: u32, draw: &mut Stream) -> Deployment {
    let link_count = draw.random_range(u64::from(nodes - 1)..=possible_links(nodes));
    // One in eight starts cold: no node knows another.
    let cold = draw.random_bool(0.125);
    let links = if cold { Vec::new() } else { random_connected(nodes, link_count, draw) };
    Deployment { nodes, k, links, ..Deployment::default() }
}

/// A neighbourhood with some of the nodes in it, in any order. One in eight is empty at first.
fn peopled(nodes: u32, k: u32, draw: &mut Stream, stays: &mut Stays) -> Deployment {
    let mut members: Vec<_> = (0..nodes).map(NodeId).collect();
    for at in (1..members.len()).rev() {
        members.swap(at, draw.random_range(0..=at));
    }
    let inside = if draw.random_bool(0.125) { 0 } else { draw.random_range(1..=members.len()) };
    members.truncate(inside);
    let stays = stays.draw_all(members.len());
    Deployment { nodes, k, members, stays, ..Deployment::default() }
}

fn sizes(crowd: Crowd, rule: UnitsRule, draw: &mut Stream) -> (u32, u32) {
    let (nodes, k) = match crowd {
        Crowd::Usual | Crowd::OnField | Crowd::Exactly { .. } => {
            let nodes = crowd.nodes().unwrap_or_else(|| draw.random_range(3..=USUAL_NODES_MAX));
            (nodes, draw.random_range(1..=4.min(nodes - 1)))
        }
        Crowd::FewerNodesThanUnits => {
            let nodes = draw.random_range(1..=4);
            (nodes, draw.random_range(nodes..=nodes + 3))
        }
    };
    (nodes, if rule == UnitsRule::One { 1 } else { k })
}

/// All that an algorithm can be asked for; where it grants one unit at a time, that and nothing else.
fn demands(k: u32, rule: UnitsRule) -> Demands {
    const PRIORITY_MAX: u32 = 20;
    const DEADLINE_MEAN: f64 = 20.0;
    if rule != UnitsRule::Several {
        return Demands::default();
    }
    Demands {
        units: Numbers::between(1, k),
        priorities: Numbers::between(0, PRIORITY_MAX),
        deadlines: Deadlines::After(Duration::Exponential(DEADLINE_MEAN)),
    }
}

/// In two of three runs messages overtake one another; in most of these some are later than every timeout.
fn disorder(draw: &mut Stream) -> Option<Disorder> {
    const LATENESS_MAX: f64 = 120.0;
    draw.random_bool(2.0 / 3.0).then(|| Disorder {
        late: if draw.random_bool(0.75) { draw.random_range(0.0..0.2) } else { 0.0 },
        by: Duration::Uniform(0.0, draw.random_range(1.0..LATENESS_MAX)),
    })
}

fn random_duration(means: RangeInclusive<f64>, draw: &mut Stream) -> Duration {
    let mean = draw.random_range(means);
    match draw.random_range(0..3) {
        0 => Duration::Constant(mean),
        1 => Duration::Uniform(0.0, 2.0 * mean),
        _ => Duration::Exponential(mean),
    }
}

fn log_uniform(low: f64, high: f64, draw: &mut Stream) -> f64 {
    low * libm::pow(high / low, draw.random::<f64>())
}

struct DrawCase {
    seed: u64,
    crowd: Crowd,
    units: UnitsRule,
}

impl Visitor for DrawCase {
    type Output = Case;

    fn visit<P: Protocol>(self, _variant: P::Variant) -> Case {
        Case::draw_for::<P>(self.seed, self.crowd, self.units)
    }
}

struct RunCase<'a> {
    case: &'a Case,
    repairs: Repairs,
    recorder: Option<Writer>,
}

impl Visitor for RunCase<'_> {
    type Output = io::Result<Report>;

    fn visit<P: Protocol>(self, variant: P::Variant) -> Self::Output {
        self.case.run_with::<P>(variant, self.repairs, self.recorder)
    }
}

struct Soak<'a, P: Protocol> {
    case: &'a Case,
    world: World<P>,
    applications: Applications,
    mobility: Stream,
    losses: Stream,
    lives: Stream,
    /// Who is out of reach.
    secluded: Vec<NodeId>,
    injected: Injected,
    events: u64,
    entries: u64,
}

impl<P: Protocol> Soak<'_, P> {
    /// The first phase: requests and changes at random.
    fn break_links(&mut self) -> Step<()> {
        for node in self.case.deployment.ids() {
            self.schedule_request(node);
        }
        self.schedule_change();
        self.schedule_kill();
        while let Some(event) = self.next_event() {
            self.handle(event, true)?;
            if self.world.now() > self.case.heals_at {
                break;
            }
        }
        Ok(())
    }

    /// The second phase: all is whole and stays so. Every node that waits is served, then every node that asks again.
    fn heal(&mut self) -> Step<()> {
        self.make_whole()?;
        self.serve_all()?;
        for node in self.case.deployment.ids() {
            self.request(node)?;
        }
        self.serve_all()
    }

    /// Runs until no node waits or uses anything any more, or takes it that a node may.
    fn serve_all(&mut self) -> Step<()> {
        let limit = self.world.now() + Span::from_units(SERVICE_UNITS_MAX);
        while self.world.oracle().owed_count() > 0 || self.is_any_inside() {
            let event = self.next_event().filter(|_| self.world.now() <= limit);
            let Some(event) = event else {
                return Err(Violation::Starved { nodes: self.world.oracle().owed().collect() }.into());
            };
            self.handle(event, false)?;
        }
        Ok(())
    }

    fn is_any_inside(&self) -> bool {
        !self.world.oracle().in_use().is_empty() || self.case.deployment.ids().any(|node| self.world.is_left(node))
    }

    /// Whether nothing is left to do after a while.
    fn rests(&mut self) -> Step<bool> {
        let limit = self.world.now() + Span::from_units(REST_UNITS_MAX);
        let events = self.events + REST_EVENTS_MAX;
        while self.world.now() <= limit && self.events < events {
            match self.next_event() {
                Some(event) => self.handle(event, false)?,
                None => return Ok(self.world.is_quiet()),
            }
        }
        Ok(false)
    }

    fn next_event(&mut self) -> Option<Event> {
        self.events += 1;
        if self.events > self.case.events_max() { None } else { self.world.next_event() }
    }

    fn handle(&mut self, event: Event, faults: bool) -> Step<()> {
        if let Some(node) = self.world.has_to_wait(event) {
            self.world.put_off(node, event);
            return Ok(());
        }
        match event {
            Event::Arrival { from, to, incarnation } if faults && self.loses(from, to) => {
                self.injected.losses += u64::from(self.world.lose(from, to, incarnation));
            }
            Event::Release { node, entry } => {
                if self.world.release(node, entry)? && faults {
                    self.schedule_request(node);
                }
            }
            Event::Request { node } if faults && self.may_ask(node) => self.request(node)?,
            Event::Request { node } if faults && self.world.is_left(node) => self.schedule_request(node),
            Event::Cancel { node } if faults && self.world.oracle().owed().any(|owed| owed == node) => {
                self.world.cancel(node)?;
                self.schedule_request(node);
            }
            Event::Change if faults => self.change()?,
            Event::Kill if faults => self.kill()?,
            Event::Back { node } if faults && self.is_down(node) => self.enter(node)?,
            Event::Request { .. } | Event::Cancel { .. } | Event::Change | Event::Kill => {}
            event => self.world.deliver(event)?,
        }
        self.welcome();
        Ok(())
    }

    fn request(&mut self, node: NodeId) -> Step<()> {
        let demand = self.applications.demand(node, self.world.now());
        self.world.request(node, self.world.withdrawn(node).unwrap_or(demand))?;
        self.welcome();
        let mut patience = self.applications.patience(node);
        if patience.random_bool(self.case.impatience) {
            let patience = Span::from_units(exponential(5.0, &mut patience));
            self.world.schedule(patience, Event::Cancel { node });
        }
        Ok(())
    }

    /// A node that was granted units leaves its CS in time. One that lost them waits already, and one that departed
    /// comes back with some change to come.
    fn welcome(&mut self) {
        while self.world.next_revoked().is_some() {}
        while self.world.next_departed().is_some() {}
        while let Some(node) = self.world.next_granted() {
            self.entries += 1;
            let use_time = self.applications.use_time(node);
            let entry = self.world.entry(node);
            self.world.schedule(use_time, Event::Release { node, entry });
        }
    }

    /// Whether a node has crashed and has not come back.
    fn is_down(&self, node: NodeId) -> bool {
        self.world.ideal().life(node) == Life::Crashed
    }

    /// Whether a node is up, and its application neither waits nor uses anything: one that came back after a crash may
    /// be due to ask twice.
    fn may_ask(&self, node: NodeId) -> bool {
        !self.is_down(node) && !self.world.is_busy(node)
    }

    fn loses(&mut self, from: NodeId, to: NodeId) -> bool {
        let is_out_of_reach = self.secluded.contains(&from) || self.secluded.contains(&to);
        is_out_of_reach || self.case.loss > 0.0 && self.losses.random_bool(self.case.loss)
    }

    fn schedule_request(&mut self, node: NodeId) {
        let pause = self.applications.pause(node);
        self.world.schedule(pause, Event::Request { node });
    }

    fn schedule_change(&mut self) {
        let pause = Span::from_units(exponential(1.0 / self.case.change_rate, &mut self.mobility));
        self.world.schedule(pause, Event::Change);
    }
}

/// Runs the cases of these seeds on all cores, and tells the first seed that is violated. `progress` sees every report.
pub fn soak(
    algorithm: &Algorithm,
    repairs: Repairs,
    constants: &Constants,
    crowd: Crowd,
    seeds: impl IntoParallelIterator<Item = u64> + Send,
    threads: usize,
    progress: &(dyn Fn(&Report) + Sync),
) -> Option<(u64, Violation)> {
    let run = |seed| {
        let case = Case::draw(seed, crowd, algorithm).with_constants(constants.clone());
        let report = case.run(algorithm, repairs, None);
        let report = report.expect("without a trace there is nothing to write");
        progress(&report);
        report.violation.map(|violation| (seed, violation))
    };
    in_pool(threads, || seeds.into_par_iter().find_map_first(run))
}

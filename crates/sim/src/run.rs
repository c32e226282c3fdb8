//! One replication of a measured simulation: the paper's workload on the paper's changing graph.

use std::io::{self, Write};

use driftlock_net::{Span, Time};
use driftlock_protocol::ideal::{Fate, Ideal, IdealOf, Start};
use driftlock_protocol::{Deployment, NodeId, Protocol, Visitor};
use driftlock_spec::Violation;
use driftlock_trace::{Header, Origin, Writer};
use rand::RngExt;

use crate::applications::Applications;
use crate::areas::traced;
use crate::config::{Config, Plan};
use crate::field::{Bonds, Effort, Field, FieldPlan, Graph};
use crate::layout::Layout;
use crate::meter::Tally;
use crate::queue::Event;
use crate::random::{Stays, Stream, Subject, exponential, stream};
use crate::side_by_side;
use crate::topology::{random_absent, random_connected, random_removable};
use crate::world::{Setting, Step, Toll, World};

/// Between the seeds of the fields of two replications, which take a seed as a whole.
const FIELD_SEEDS_APART: u64 = 0x9E37_79B9_7F4A_7C15;
/// So many events without an entry are no longer bad luck either, however little time they take.
pub(crate) const EVENTS_WITHOUT_ENTRY_MAX: u64 = 20_000_000;

/// What one replication came to.
#[derive(Clone, PartialEq, Debug)]
pub struct Replication {
    /// What was counted after the warm-up.
    pub tally: Tally,
    /// The names of the message kinds, as the tally counts them.
    pub kinds: &'static [&'static str],
    /// Who waited when the run ended.
    pub waiting_at_end: OpenWaits,
    /// What the radios did meanwhile, on a field.
    pub effort: Option<Effort>,
    /// What was done to the lives of nodes, also before counting began.
    pub toll: Toll,
    /// What became of links meanwhile, on a field, if the algorithm stands on links.
    pub bonds: Option<Bonds>,
    /// Who was in range of whom meanwhile, on a field whose radios have a range.
    pub graph: Option<Graph>,
    /// When the movements of a file were over, if that ended the run.
    pub over: Option<Time>,
    /// What the oracles objected to: it ended the run.
    pub violation: Option<Violation>,
}

/// Requests that were not served any more.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct OpenWaits {
    /// How many nodes waited.
    pub nodes: u64,
    /// For how long the longest of them had.
    pub longest: Span,
    /// How many of them were past their deadlines.
    pub overdue: u64,
}

impl OpenWaits {
    /// All that wait in this world, and are there.
    pub(crate) fn add_all<P: Protocol>(&mut self, world: &mut World<P>) {
        let waiting = present_and_owed(world);
        let now = world.now();
        let meter = world.meter();
        for node in waiting {
            self.add(now - meter.requested_at(node), meter.is_overdue(node));
        }
    }

    /// One more, who has waited for so long.
    pub(crate) fn add(&mut self, wait: Span, overdue: bool) {
        self.nodes += 1;
        self.longest = self.longest.max(wait);
        self.overdue += u64::from(overdue);
    }
}

/// Who waits, and is there.
fn present_and_owed<P: Protocol>(world: &mut World<P>) -> Vec<NodeId> {
    let owed: Vec<_> = world.oracle().owed().collect();
    owed.into_iter().filter(|&node| world.is_present(node)).collect()
}

/// What a replication starts from: the graph, or who is in the first neighbourhood.
pub fn deployment(plan: &Plan, replication: u32) -> Deployment {
    let config = &plan.config;
    if config.field.is_some() {
        // No node knows of links beforehand; the neighbourhood is all nodes.
        let everybody = || (0..config.nodes).map(NodeId).collect();
        let members = if plan.algorithm.starts_from() == Start::Members { everybody() } else { Vec::new() };
        let stays = Stays::new(config.seed, replication).draw_all(members.len());
        return Deployment { nodes: config.nodes, k: config.k, members, stays, ..Deployment::default() };
    }
    if plan.algorithm.starts_from() == Start::Members {
        return side_by_side::deployments(config, replication).swap_remove(0);
    }
    let links = match &config.topology {
        Layout::Random => {
            let mut topology = stream(config.seed, replication, Subject::Topology);
            random_connected(config.nodes, plan.links, &mut topology)
        }
        Layout::Named(topology) => topology.links(config.nodes),
        Layout::Links(links) => links.clone(),
    };
    Deployment { nodes: config.nodes, k: config.k, links, ..Deployment::default() }
}

/// The first line of a trace of this replication.
pub fn trace_header(plan: &Plan, replication: u32) -> Header {
    let config = serde_json::to_value(&plan.config).unwrap_or_default();
    let origin = Origin::Sim { config, replication };
    let starts = if plan.config.neighbourhoods > 1 {
        side_by_side::deployments(&plan.config, replication)
    } else {
        vec![deployment(plan, replication)]
    };
    let header = Header::of_neighbourhoods(plan.algorithm, plan.without.clone(), &starts, origin);
    let &Config { neighbourhoods, areas, spacing, speed, .. } = &plan.config;
    let walked = (speed > 0.0).then(|| traced(neighbourhoods, areas, spacing));
    let field = plan.config.field.as_ref().map(FieldPlan::plane).or(walked);
    Header { field, ..header.with_constants(&plan.config.constants) }
}

/// Runs one replication. Fails only if what is to be recorded cannot be written.
pub fn replicate(plan: &Plan, replication: u32, records: Records) -> io::Result<Replication> {
    plan.algorithm.visit(Replicate { plan, replication, records })
}

/// What is written down while a replication runs.
#[derive(Default)]
pub struct Records {
    /// Every step.
    pub trace: Option<Writer>,
    /// Every packet, on a field.
    pub capture: Option<Box<dyn Write>>,
}

impl From<Writer> for Records {
    fn from(trace: Writer) -> Self {
        Self { trace: Some(trace), capture: None }
    }
}

/// The seed of the field of a replication.
pub(crate) fn field_seed(plan: &Plan, replication: u32) -> u64 {
    plan.config.seed.wrapping_add(u64::from(replication).wrapping_mul(FIELD_SEEDS_APART))
}

struct Replicate<'a> {
    plan: &'a Plan,
    replication: u32,
    records: Records,
}

impl Visitor for Replicate<'_> {
    type Output = io::Result<Replication>;

    fn visit<P: Protocol>(self, variant: P::Variant) -> Self::Output {
        let Self { plan, replication, records: Records { trace: recorder, capture } } = self;
        let seed = field_seed(plan, replication);
        // It was checked, but a file of movements may have changed since.
        let set_up =
            |field: &FieldPlan| field.set_up::<P>(plan.config.nodes, plan.config.k, seed).map_err(io::Error::other);
        let mut field = plan.config.field.as_ref().map(set_up).transpose()?;
        if let Some((field, capture)) = field.as_mut().zip(capture) {
            field.capture_to(capture)?;
        }
        if IdealOf::<P>::STARTS_FROM == Start::Members && field.is_none() {
            return side_by_side::replicate::<P>(&plan.config, plan.repairs, replication, variant, recorder);
        }
        let mut run = Run::<P>::new(plan, replication, variant, field, recorder);
        let violation = run.until_counted().err().map(|violation| *violation);
        let (waiting_at_end, over) = (run.open_waits(), run.over);
        let effort = run.world.effort().map(|effort| effort.since(run.effort_before));
        let bonds = run.world.bonds().map(|bonds| bonds.since(run.bonds_before));
        let toll = run.world.toll();
        let tally = run.world.finish(violation.as_ref())?.finish();
        let graph = plan.config.field.as_ref().map_or(Ok(None), |field| {
            field.graph(plan.config.nodes, seed, tally.since, tally.since + tally.span).map_err(io::Error::other)
        })?;
        Ok(Replication { tally, kinds: P::KINDS, waiting_at_end, effort, toll, bonds, graph, over, violation })
    }
}

pub(crate) struct Run<'a, P: Protocol> {
    pub(crate) plan: &'a Plan,
    pub(crate) world: World<P>,
    applications: Applications,
    mobility: Stream,
    restarts: Stream,
    last_entry: Time,
    /// When the movements of a file were over, if they are.
    over: Option<Time>,
    /// What the radios had done when counting began.
    effort_before: Effort,
    /// What had become of links until then.
    bonds_before: Bonds,
}

impl<'a, P: Protocol> Run<'a, P> {
    /// All nodes are about to ask for the first time.
    pub(crate) fn new(
        plan: &'a Plan,
        replication: u32,
        variant: P::Variant,
        field: Option<Field>,
        recorder: Option<Writer>,
    ) -> Self {
        let draws = |subject| stream(plan.config.seed, replication, subject);
        let setting = Setting {
            deployment: &deployment(plan, replication),
            variant,
            repairs: plan.repairs,
            constants: &plan.config.constants,
            delay: plan.config.delay,
            delays: draws(Subject::Delay),
            stays: Stays::new(plan.config.seed, replication),
            lives: draws(Subject::Life),
            checked: plan.config.check,
            recorder,
            field,
        };
        let mut run = Self {
            plan,
            world: World::new(setting),
            applications: Applications::of(&plan.config, replication),
            mobility: draws(Subject::Mobility),
            restarts: draws(Subject::Restart),
            last_entry: Time::ZERO,
            over: None,
            effort_before: Effort::default(),
            bonds_before: Bonds::default(),
        };
        run.last_entry = run.world.now();
        for node in (0..plan.config.nodes).map(NodeId) {
            run.schedule_request(node);
        }
        run.schedule_change();
        run.schedule_restart();
        run
    }

    fn until_counted(&mut self) -> Step<()> {
        let warm = self.world.now() + Span::from_units(self.plan.config.warmup_time);
        let warmed_up = self.until(self.plan.config.warmup, warm);
        // Also after a violation: what was counted while warming up is no result. Room for the waits is made here, so
        // that the event loop allocates nothing; beyond some millions it may.
        #[allow(clippy::cast_possible_truncation)] // bounded on the same line
        self.world.meter().restart(self.plan.config.entries.min(1 << 24) as usize);
        self.effort_before = self.world.effort().unwrap_or_default();
        self.bonds_before = self.world.bonds().unwrap_or_default();
        warmed_up?;
        self.until(self.plan.config.entries, Time::ZERO)
    }

    /// Goes on until there were so many more entries, and at least until then; but not beyond the end of movements that
    /// a file tells of.
    fn until(&mut self, entries: u64, time: Time) -> Step<()> {
        let patience = patience(&self.plan.config);
        let (mut counted, mut events_at_entry) = (0, self.world.meter().events());
        let end = self.world.movements_end();
        while counted < entries || self.world.now() < time {
            if let Some(end) = end.filter(|end| self.world.next_time().is_none_or(|at| *end < at)) {
                self.world.advance_to(end);
                self.over = Some(end);
                break;
            }
            let Some(event) = self.world.next_event() else {
                return Err(Violation::Starved { nodes: self.world.oracle().owed().collect() }.into());
            };
            self.handle(event)?;
            if self.world.meter().entries() > counted {
                counted = self.world.meter().entries();
                events_at_entry = self.world.meter().events();
            }
            let events = self.world.meter().events() - events_at_entry;
            if self.world.now() - self.last_entry > patience || events > EVENTS_WITHOUT_ENTRY_MAX {
                let owed = present_and_owed(&mut self.world);
                give_up(self.world.now(), self.last_entry, owed)?;
                // No node that is there waits: patience begins anew.
                (self.last_entry, events_at_entry) = (self.world.now(), self.world.meter().events());
            }
        }
        Ok(())
    }

    pub(crate) fn handle(&mut self, event: Event) -> Step<()> {
        if let Some(node) = self.world.has_to_wait(event) {
            self.world.put_off(node, event);
            return Ok(());
        }
        match event {
            Event::Request { node } if !self.world.is_present(node) || self.world.is_left(node) => {
                self.schedule_request(node);
            }
            Event::Request { node } => self.request(node)?,
            Event::Release { node, entry } => {
                if self.world.release(node, entry)? || self.world.has_forgotten(node, entry) {
                    self.schedule_request(node);
                }
            }
            Event::Change => {
                self.change_graph()?;
                self.schedule_change();
            }
            Event::Kill => {
                let node = NodeId(self.restarts.random_range(0..self.plan.config.nodes));
                self.world.restart(node)?;
                self.schedule_restart();
            }
            event => self.world.deliver(event)?,
        }
        self.let_in();
        Ok(())
    }

    /// Those that were granted units begin to use them.
    pub(crate) fn let_in(&mut self) {
        while let Some(node) = self.world.next_granted() {
            self.entered(node);
        }
    }

    /// Fails if a node that is there has waited while none was served for long.
    pub(crate) fn lose_patience(&mut self) -> Step<()> {
        let now = self.world.now();
        if now - self.last_entry > patience(&self.plan.config) {
            let owed = present_and_owed(&mut self.world);
            give_up(now, self.last_entry, owed)?;
            self.last_entry = now;
        }
        Ok(())
    }

    fn request(&mut self, node: NodeId) -> Step<()> {
        let demand = self.applications.demand(node, self.world.now());
        self.world.request(node, demand)
    }

    fn entered(&mut self, node: NodeId) {
        self.last_entry = self.world.now();
        let use_time = self.applications.use_time(node);
        let entry = self.world.entry(node);
        self.world.schedule(use_time, Event::Release { node, entry });
    }

    fn schedule_request(&mut self, node: NodeId) {
        let pause = self.applications.pause(node);
        self.world.schedule(pause, Event::Request { node });
    }

    fn schedule_change(&mut self) {
        if self.plan.config.mobility > 0.0 && self.plan.config.field.is_none() {
            let pause = Span::from_units(exponential(1.0 / self.plan.config.mobility, &mut self.mobility));
            self.world.schedule(pause, Event::Change);
        }
    }

    fn schedule_restart(&mut self) {
        if self.plan.config.restarts > 0.0 {
            let pause = Span::from_units(exponential(1.0 / self.plan.config.restarts, &mut self.restarts));
            self.world.schedule(pause, Event::Kill);
        }
    }

    /// Deletes a random link whose loss does not disconnect the graph, and forms another. The number of links stays
    /// within 10% of what it was at the start.
    fn change_graph(&mut self) -> Step<()> {
        let fate = self.plan.config.link_failure;
        let start = self.plan.links as f64;
        let links = self.world.links();
        let mut gone = None;
        if links.count() as f64 - 1.0 >= 0.9 * start || links.count() as u64 >= self.plan.links {
            let may_go =
                |a, b| (fate != Fate::Drained || self.world.are_drained(a, b)) && links.connected_without(Some((a, b)));
            gone = random_removable(links, may_go, &mut self.mobility);
        }
        if let Some((a, b)) = gone {
            self.world.fail_link(a, b, fate)?;
        }
        let links = self.world.links();
        if links.count() as f64 + 1.0 <= 1.1 * start || (links.count() as u64) < self.plan.links {
            let new = random_absent(links, self.plan.config.nodes, gone, &mut self.mobility);
            if let Some((a, b)) = new {
                self.world.form_link(a, b)?;
            }
        }
        Ok(())
    }

    fn open_waits(&mut self) -> OpenWaits {
        let mut open = OpenWaits::default();
        open.add_all(&mut self.world);
        open
    }
}

/// So long without any entry is no longer bad luck: a thousand times what a request takes if nothing goes wrong.
pub(crate) fn patience(config: &Config) -> Span {
    let nodes = f64::from(config.nodes);
    let usual = config.cs_time.mean() + 1.0 / config.rate_of_all() + nodes * config.delay.mean();
    Span::from_units(1000.0 * usual)
}

/// Nothing has happened since `last_entry`, for long. That is wrong if a node waits, or if time has come to its end.
pub(crate) fn give_up(now: Time, last_entry: Time, owed: Vec<NodeId>) -> Step<()> {
    if now == Time::END {
        return Err(Violation::EndOfTime { years: Time::END.0 / 1_000_000_000 / 31_557_600 }.into());
    }
    if owed.is_empty() {
        return Ok(());
    }
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a message to people
    let time_units = (now - last_entry).units() as u64;
    Err(Violation::Stalled { time_units, nodes: owed }.into())
}

#[cfg(test)]
mod tests {
    use driftlock_protocol::Algorithm;

    use super::*;

    const SETTLED: f64 = 200.0;

    /// What a crowd in one cell waits on average, in four hundred seconds: ten seconds after it has asked at the first
    /// rate, and those who waited then have been served. Since then it asks at the second rate.
    struct Waits<'a> {
        stormy: &'a Plan,
        calm: &'a Plan,
    }

    impl Visitor for Waits<'_> {
        type Output = f64;

        fn visit<P: Protocol>(self, variant: P::Variant) -> f64 {
            let field = self.stormy.config.field.as_ref().expect("it is on a field");
            let field = field.set_up::<P>(self.stormy.config.nodes, self.stormy.config.k, 1).expect("it makes sense");
            let mut run = Run::<P>::new(self.stormy, 0, variant, Some(field), None);
            let until = |run: &mut Run<P>, seconds| run.until(0, Time::from_units(seconds)).expect("it holds");
            until(&mut run, SETTLED - 20.0);
            run.world.meter().restart(0);
            until(&mut run, SETTLED);
            let served_in_a_second = run.world.meter().entries() as f64 / 20.0;
            let served = SETTLED + run.world.oracle().owed_count() as f64 / served_in_a_second;
            run.applications = Applications::of(&self.calm.config, 0);
            until(&mut run, served + 10.0);
            run.world.meter().restart(0);
            until(&mut run, served + 410.0);
            let tally = run.world.finish(None).expect("nothing is written").finish();
            assert!(tally.waits.len() > 200, "{} entries", tally.waits.len());
            tally.waits.iter().map(|wait| wait.units()).sum::<f64>() / tally.waits.len() as f64
        }
    }

    fn crowd(algorithm: &str, nodes: u32, load_of_all: f64) -> Plan {
        let field = "area = { width = 150, height = 150 }\nmovement = { model = \"uniform\" }";
        let config = Config {
            algorithm: algorithm.into(),
            nodes,
            k: 1,
            load_of_all: Some(load_of_all),
            cs_time: crate::random::Duration::Constant(0.001),
            field: Some(toml::from_str(field).expect("a field")),
            ..Config::default()
        };
        config.plan().expect("it makes sense")
    }

    #[test]
    fn ten_seconds_after_an_overload_a_crowd_waits_as_if_there_had_been_none() {
        for (tag, nodes) in [("krl", 40), ("krl", 200), ("krlf", 100), ("hok", 100)] {
            let (calm, stormy) = (crowd(tag, nodes, 1.0), crowd(tag, nodes, 300.0));
            let algorithm = Algorithm::named(tag).expect("registered");
            let usual = algorithm.visit(Waits { stormy: &calm, calm: &calm });
            let after = algorithm.visit(Waits { stormy: &stormy, calm: &calm });
            assert!(after < 1.5 * usual, "{tag}, {nodes} nodes: {after} s after an overload, {usual} s without");
        }
    }
}

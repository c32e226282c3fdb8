//! A field that a person watches and meddles with: it goes on until a time, and in between does what it is told.
//!
//! Like every world it knows no clock. The caller says how far to go on, and so how fast.

use std::collections::BTreeMap;
use std::io;

use driftlock_field::faults::{Area, Fault, FaultError, Kind, Memory};
use driftlock_field::plane::Point;
use driftlock_net::{Span, Time};
use driftlock_protocol::{Deployment, Harm, NodeId, Permits, Protocol, Section, Visitor};
use driftlock_spec::Violation;
use driftlock_trace::{Header, Origin, Writer};

use crate::applications::Applications;
use crate::config::Plan;
use crate::field::FieldPlan;
use crate::queue::Event;
use crate::random::{Stays, Subject, stream};
use crate::run::deployment;
use crate::world::{Setting, Step, World};

mod calm;

use calm::Calm;

/// What the watcher wants next.
#[derive(Clone, PartialEq, Debug)]
pub enum Order {
    /// That it goes on until then.
    Until(Time),
    /// That this happens now.
    Do(Deed),
    /// That it ends.
    End,
}

/// What a watcher can do.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Deed {
    /// The application at this node asks, and keeps what it gets until [`Deed::Release`].
    Request(NodeId),
    /// It returns what it has.
    Release(NodeId),
    /// The node falls silent: with all that it knows, if its algorithm survives that.
    Crash(NodeId),
    /// It is back.
    Revive(NodeId),
    /// It does nothing, and does not know it.
    Pause(NodeId),
    /// It goes on.
    Resume(NodeId),
    /// The two do not hear each other any more.
    Cut(NodeId, NodeId),
    /// They do again.
    Mend(NodeId, NodeId),
    /// The node is put there, and goes on from there.
    Place(NodeId, Point),
    /// Radios in this disc hear nothing.
    Jam(Point, f64),
    /// All jams and cuts are over.
    Clear,
}

/// How a node is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Glimpse {
    /// Where it is.
    pub at: Point,
    /// What its application does.
    pub section: Section,
    /// What it has, in use or not.
    pub permits: Permits,
    /// Whether it does nothing at present: it pauses, or is down.
    pub is_silent: bool,
}

/// How far it has got.
#[derive(Clone, PartialEq, Debug)]
pub struct Progress {
    /// The time.
    pub now: Time,
    /// How many events the oracle has checked.
    pub checked: u64,
    /// How often a node was granted units.
    pub entries: u64,
    /// How many units are in use.
    pub in_use: u32,
    /// How long those who were served have waited on average.
    pub mean_wait: Option<Span>,
    /// Every node.
    pub nodes: Vec<Glimpse>,
    /// Why the last deed was not done.
    pub refused: Option<String>,
    /// What the oracle objects to. Then nothing goes on any more.
    pub violation: Option<Violation>,
}

/// The first line of a trace of this.
pub fn trace_header(plan: &Plan) -> Header {
    let origin = Origin::Live { config: serde_json::to_value(&plan.config).unwrap_or_default() };
    let header = Header::new(plan.algorithm, plan.without.clone(), deployment(plan, 0), origin);
    let field = plan.config.field.as_ref().map(FieldPlan::plane);
    Header { field, ..header.with_constants(&plan.config.constants) }
}

/// Runs the field of a plan as its watcher orders, until that has seen enough or something is violated: then it is
/// asked no more. Fails only if the trace cannot be written.
///
/// # Panics
/// If the plan has no field.
pub fn run(plan: &Plan, trace: Option<Writer>, watcher: &mut dyn FnMut(&Progress) -> Order) -> io::Result<Progress> {
    plan.algorithm.visit(Watched { plan, trace, watcher })
}

struct Watched<'a> {
    plan: &'a Plan,
    trace: Option<Writer>,
    watcher: &'a mut dyn FnMut(&Progress) -> Order,
}

impl Visitor for Watched<'_> {
    type Output = io::Result<Progress>;

    fn visit<P: Protocol>(self, variant: P::Variant) -> Self::Output {
        let Self { plan, trace, watcher } = self;
        let field_plan = plan.config.field.as_ref().expect("a plan with a field");
        let deployment: &Deployment = &deployment(plan, 0);
        let setting = Setting {
            deployment,
            variant,
            repairs: plan.repairs,
            constants: &plan.config.constants,
            delay: plan.config.delay,
            delays: stream(plan.config.seed, 0, Subject::Delay),
            stays: Stays::new(plan.config.seed, 0),
            lives: stream(plan.config.seed, 0, Subject::Life),
            checked: true,
            recorder: trace,
            field: Some(
                field_plan.set_up::<P>(plan.config.nodes, plan.config.k, plan.config.seed).expect("it was checked"),
            ),
        };
        let mut live = Live::<P> {
            plan,
            world: World::new(setting),
            applications: Applications::of(&plan.config, 0),
            asks: vec![false; plan.config.nodes as usize],
            by_hand: vec![false; plan.config.nodes as usize],
            faults: BTreeMap::new(),
            calm: Calm::new(field_plan.plane().range),
            entries: 0,
            waited: Span::ZERO,
            refused: None,
        };
        deployment.ids().for_each(|node| live.schedule_request(node));
        let violation = live.obey(watcher).err().map(|violation| *violation);
        let progress = Progress { violation, ..live.progress() };
        live.world.finish(progress.violation.as_ref())?;
        Ok(progress)
    }
}

/// What a watcher has broken.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Broken {
    Down(NodeId),
    Paused(NodeId),
    /// The lower number first.
    Cut(NodeId, NodeId),
    /// The number of the fault.
    Jam(usize),
}

struct Live<'a, P: Protocol> {
    plan: &'a Plan,
    world: World<P>,
    applications: Applications,
    /// Whether an application is going to ask by itself.
    asks: Vec<bool>,
    /// Whether the watcher has asked in its place.
    by_hand: Vec<bool>,
    /// What the watcher has broken, and the numbers of these faults.
    faults: BTreeMap<Broken, usize>,
    calm: Calm,
    entries: u64,
    /// How long all who entered have waited.
    waited: Span,
    refused: Option<String>,
}

impl<P: Protocol> Live<'_, P> {
    fn obey(&mut self, watcher: &mut dyn FnMut(&Progress) -> Order) -> Step<()> {
        loop {
            let progress = self.progress();
            self.refused = None;
            match watcher(&progress) {
                Order::Until(until) => self.go_on(until)?,
                Order::Do(deed) => self.refused = self.act(deed)?.err(),
                Order::End => return Ok(()),
            }
        }
    }

    fn progress(&mut self) -> Progress {
        let nodes = (0..self.plan.config.nodes).map(NodeId);
        Progress {
            now: self.world.now(),
            checked: self.world.meter().events(),
            entries: self.entries,
            in_use: self.world.oracle().in_use().count(),
            mean_wait: (self.entries > 0).then(|| self.waited / self.entries),
            nodes: nodes.map(|node| self.world.glimpse(node)).collect(),
            refused: self.refused.take(),
            violation: None,
        }
    }

    fn go_on(&mut self, until: Time) -> Step<()> {
        while self.world.next_time().is_some_and(|at| at <= until) {
            let Some(event) = self.world.next_event() else { break };
            self.handle(event)?;
            self.calm.look(&mut self.world, &self.plan.config)?;
        }
        self.world.advance_to(until.max(self.world.now()));
        self.world.record_now();
        Ok(())
    }

    fn handle(&mut self, event: Event) -> Step<()> {
        if let Some(node) = self.world.has_to_wait(event) {
            self.world.put_off(node, event);
            return Ok(());
        }
        match event {
            Event::Request { node } => {
                self.asks[node.index()] = false;
                if self.world.is_left(node) {
                    self.schedule_request(node);
                } else if self.world.is_idle(node) {
                    self.request(node)?;
                }
            }
            Event::Release { node, entry } => {
                if self.world.release(node, entry)? || self.world.has_forgotten(node, entry) {
                    self.schedule_request(node);
                }
            }
            event => self.world.deliver(event)?,
        }
        while let Some(node) = self.world.next_granted() {
            self.entered(node);
        }
        Ok(())
    }

    fn request(&mut self, node: NodeId) -> Step<()> {
        let demand = self.applications.demand(node, self.world.now());
        self.world.request(node, demand)
    }

    fn entered(&mut self, node: NodeId) {
        self.entries += 1;
        let now = self.world.now();
        self.waited = self.waited + (now - self.world.meter().requested_at(node));
        if !self.by_hand[node.index()] {
            let use_time = self.applications.use_time(node);
            let entry = self.world.entry(node);
            self.world.schedule(use_time, Event::Release { node, entry });
        }
    }

    fn schedule_request(&mut self, node: NodeId) {
        if !std::mem::replace(&mut self.asks[node.index()], true) {
            let pause = self.applications.pause(node);
            self.world.schedule(pause, Event::Request { node });
        }
    }

    /// Does what the watcher wants, or says why not.
    fn act(&mut self, deed: Deed) -> Step<Result<(), String>> {
        let done = match deed {
            Deed::Request(node) => self.request_by_hand(node)?,
            Deed::Release(node) => self.release_by_hand(node)?,
            Deed::Crash(node) => self.break_down(node),
            Deed::Pause(node) => self.begin(Broken::Paused(node), Kind::Pause { node, lasts: Span::FOREVER }),
            Deed::Revive(node) => self.end(Broken::Down(node), || format!("node {node} is not down")),
            Deed::Resume(node) => self.end(Broken::Paused(node), || format!("node {node} does not pause")),
            Deed::Cut(a, b) => self.begin(cut(a, b), Kind::Cut { between: (a, b), lasts: Span::FOREVER }),
            Deed::Mend(a, b) => self.end(cut(a, b), || format!("nodes {a} and {b} are not cut off from each other")),
            Deed::Place(node, point) => self.place(node, point),
            Deed::Jam(centre, radius) => self.jam(centre, radius),
            Deed::Clear => self.clear(),
        };
        // What happens at this moment happens now, and not when the watcher lets time go on.
        self.world.expect_field();
        self.go_on(self.world.now())?;
        Ok(done)
    }

    /// Refuses a node that is not there, or does nothing.
    fn awake(&self, node: NodeId) -> Result<(), String> {
        self.known(node)?;
        if self.world.is_paused(node) { Err(format!("node {node} is down or pauses: revive it first")) } else { Ok(()) }
    }

    fn known(&self, node: NodeId) -> Result<(), String> {
        let nodes = self.plan.config.nodes;
        if node.0 < nodes { Ok(()) } else { Err(format!("there is no node {node}: there are 0 to {}", nodes - 1)) }
    }

    fn request_by_hand(&mut self, node: NodeId) -> Step<Result<(), String>> {
        let busy = || Err(format!("node {node} waits already, or has what it asked for"));
        let may = self.awake(node).and_then(|()| if self.world.is_idle(node) { Ok(()) } else { busy() });
        if may.is_ok() {
            self.by_hand[node.index()] = true;
            self.request(node)?;
        }
        Ok(may)
    }

    fn release_by_hand(&mut self, node: NodeId) -> Step<Result<(), String>> {
        if let Err(refused) = self.awake(node) {
            return Ok(Err(refused));
        }
        let entry = self.world.entry(node);
        if !self.world.release(node, entry)? {
            return Ok(Err(format!("node {node} has nothing to release")));
        }
        self.by_hand[node.index()] = false;
        self.schedule_request(node);
        Ok(Ok(()))
    }

    fn break_down(&mut self, node: NodeId) -> Result<(), String> {
        let memory = if P::CLAIMS.stand(Harm::Crash) { Memory::Lost } else { Memory::Kept };
        self.begin(Broken::Down(node), Kind::Crash { node, back_after: Some((Span::FOREVER, memory)) })
    }

    fn jam(&mut self, centre: Point, radius: f64) -> Result<(), String> {
        let area = Area::disc(centre, radius).map_err(|nonsense| nonsense.to_string())?;
        let number = self.add(Kind::Jam { area, lasts: Span::FOREVER })?;
        self.faults.insert(Broken::Jam(number), number);
        Ok(())
    }

    fn begin(&mut self, broken: Broken, kind: Kind) -> Result<(), String> {
        if self.faults.contains_key(&broken) {
            return Err("that is so already".into());
        }
        let number = self.add(kind)?;
        self.faults.insert(broken, number);
        Ok(())
    }

    fn add(&mut self, kind: Kind) -> Result<usize, String> {
        let fault = Fault { at: self.world.now(), kind };
        let added = self.world.field().map(|field| field.begin(fault));
        added.unwrap_or(Ok(0)).map_err(|FaultError { why, .. }| why.to_string())
    }

    fn end(&mut self, broken: Broken, otherwise: impl FnOnce() -> String) -> Result<(), String> {
        let number = self.faults.remove(&broken).ok_or_else(otherwise)?;
        let now = self.world.now();
        if let Some(field) = self.world.field() {
            field.end(now, number);
        }
        Ok(())
    }

    fn clear(&mut self) -> Result<(), String> {
        let over = |broken: &Broken| matches!(broken, Broken::Cut(..) | Broken::Jam(_));
        let broken: Vec<_> = self.faults.keys().copied().filter(over).collect();
        broken.into_iter().try_for_each(|broken| self.end(broken, String::new))
    }

    fn place(&mut self, node: NodeId, point: Point) -> Result<(), String> {
        self.known(node)?;
        let now = self.world.now();
        if let Some(field) = self.world.field() {
            field.place(now, node, point);
        }
        Ok(())
    }
}

fn cut(a: NodeId, b: NodeId) -> Broken {
    Broken::Cut(a.min(b), a.max(b))
}

#[cfg(test)]
mod tests;

//! `driftlock check`: every order of events, in a small network.

// The search itself knows no clock; how long a person is willing to wait for it is measured here.
#![allow(clippy::disallowed_types, clippy::disallowed_methods)]

mod demands;
mod effect;
mod flags;
mod layer;
mod verdict;

use std::fs;
use std::io::{Cursor, ErrorKind};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use driftlock_check::{
    Counterexample, Effort, Model, Progress, Report, Setup, SetupError, Stage, Walked, check, record, topologies, walk,
};
use driftlock_protocol::ideal::Start;
use driftlock_protocol::{Algorithm, Demand, Protocol, Repairs, Units, Visitor};
use driftlock_trace::chart::Chart;
use driftlock_trace::{Header, Origin, Reader, Writer, transcript};
pub(crate) use flags::Args;
use flags::Format;
use indicatif::{ProgressBar, ProgressStyle};
use verdict::Told;
pub(crate) use verdict::grouped;

use crate::failure::{Failure, Outcome};
use crate::output;
use crate::replay::Bytes;
use crate::results::print;
use crate::view::show_bytes;

/// What a check of one network found.
enum Found {
    Searched(Report),
    Walked(Walked),
}

pub(crate) fn run(args: &Args) -> Outcome {
    let plan = args.plan()?;
    output::check(args.trace.iter().chain(&args.chart), [])?;
    let graphs = match plan.algorithm.starts_from() {
        Start::Links => topologies(plan.networks, plan.setup.deployment.nodes),
        Start::Members | Start::Nodes => vec![Vec::new()],
    };
    let (count, started) = (graphs.len(), Instant::now());
    for (at, links) in graphs.into_iter().enumerate() {
        let mut limits = Limits::new(args, started);
        if at > 0 && limits.are_over() {
            say(&format!("{at} of {count} networks were looked at: the budget is spent\n"))?;
            break;
        }
        let mut setup = plan.setup.clone();
        setup.deployment.links = links;
        let begun = Instant::now();
        let found = plan.algorithm.visit(Explore { args, setup: &setup, repairs: plan.repairs, limits: &mut limits });
        limits.bar.finish_and_clear();
        let found = found.map_err(|error| Failure::Other(error.to_string()))?;
        let took = begun.elapsed();
        let explored = limits.explored.map_or(took, |ended| ended - begun);
        let told = Told { plan: &plan, setup: &setup, found: &found, took, explored, memory: memory_peak() };
        say(&told.in_format(args.format))?;
        if let Some(counterexample) = found.counterexample() {
            let command = told.command();
            let trace = trace(&plan, &setup, counterexample, &command)?;
            tell(args, &command, &trace)?;
            if args.view {
                show_bytes(args.at, "counterexample", &trace)?;
            }
        }
        if !told.holds() {
            return Ok(ExitCode::from(1));
        }
    }
    if args.view {
        say("nothing was violated, so there is nothing to show\n")?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The counterexample in the forms that were asked for.
fn tell(args: &Args, command: &str, bytes: &[u8]) -> Result<(), Failure> {
    if matches!(args.format, Format::Text | Format::Transcript) {
        let story = transcript::tell(reader(bytes)?).map_err(damaged)?;
        let advice = if args.format == Format::Text { verdict::advice(args, command) } else { String::new() };
        say(&format!("\n{story}{advice}"))?;
    }
    keep(args, bytes)
}

/// Prints. A reader that closes the pipe has read enough, but the verdict is still to come as the exit code.
fn say(text: &str) -> Result<(), Failure> {
    match print(text) {
        Err(Failure::Stdout(error)) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        outcome => outcome,
    }
}

impl Found {
    fn counterexample(&self) -> Option<&Counterexample> {
        match self {
            Self::Searched(report) => report.violation.as_ref(),
            Self::Walked(walked) => walked.violation.as_ref().map(|(_, counterexample)| counterexample),
        }
    }
}

/// The search or the walks, once the type of the algorithm is known.
struct Explore<'a> {
    args: &'a Args,
    setup: &'a Setup,
    repairs: Repairs,
    limits: &'a mut Limits,
}

impl Visitor for Explore<'_> {
    type Output = Result<Found, SetupError>;

    fn visit<P: Protocol>(self, variant: P::Variant) -> Self::Output {
        let limits = self.limits;
        if let Some(walks) = self.args.walks {
            let model = Model::<P>::new(self.setup.clone(), variant, self.repairs)?;
            let seed = self.args.seed;
            limits.bar.set_length(walks);
            let walked = driftlock_sim::sweep::in_pool(self.args.threads, || {
                walk(&model, seed, 0..walks, &|made| limits.after_walks(made))
            });
            return Ok(Found::Walked(walked));
        }
        let threads = if self.args.threads == 0 { all_cores() } else { self.args.threads };
        let effort = Effort { threads, liveness: !self.args.safety_only };
        check::<P>(self.setup, variant, self.repairs, effort, &mut |so_far| limits.after(so_far)).map(Found::Searched)
    }
}

fn all_cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// When to give up, and the line that tells how far the search has come.
struct Limits {
    bar: ProgressBar,
    started: Instant,
    /// When all states were known.
    explored: Option<Instant>,
    budget: Option<Duration>,
    states_max: Option<u64>,
    memory_max: u64,
}

impl Limits {
    fn new(args: &Args, started: Instant) -> Self {
        let bar = ProgressBar::no_length();
        let template = if args.walks.is_some() { "{pos}/{len} walks, {eta} left" } else { "{spinner} {msg}" };
        bar.set_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner()));
        Self {
            bar,
            started,
            explored: None,
            budget: args.budget,
            states_max: args.max_states,
            memory_max: args.max_memory.0,
        }
    }

    fn are_over(&self) -> bool {
        self.budget.is_some_and(|budget| self.started.elapsed() >= budget)
    }

    fn after(&mut self, so_far: Progress) -> ControlFlow<()> {
        let Progress { states, depth, queue, stage, .. } = so_far;
        self.bar.tick();
        if stage == Stage::Liveness {
            self.explored = Some(Instant::now());
        }
        let what = match stage {
            Stage::Exploring => "exploring",
            Stage::Shortening => "violated; looking for the shortest way",
            Stage::Liveness => "deciding who is served",
        };
        let (seconds, memory) = (self.started.elapsed().as_secs_f64(), memory_now());
        self.bar.set_message(format!(
            "{what}: {} states, depth {depth}, {} waiting to be looked at, {} states/s, {} MiB",
            grouped(states),
            grouped(queue),
            verdict::rate(states, seconds),
            memory >> 20,
        ));
        let over = self.are_over() || self.states_max.is_some_and(|most| states >= most) || memory > self.memory_max;
        if over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn after_walks(&self, made: u64) -> ControlFlow<()> {
        if made.is_multiple_of(1_024) {
            self.bar.set_position(made);
        }
        if self.are_over() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// The counterexample as the bytes of a trace.
fn trace(plan: &flags::Plan, setup: &Setup, found: &Counterexample, command: &str) -> Result<Vec<u8>, Failure> {
    struct Record<'a>(&'a Setup, Repairs, &'a Counterexample, Writer);
    impl Visitor for Record<'_> {
        type Output = Result<(), String>;
        fn visit<P: Protocol>(self, variant: P::Variant) -> Self::Output {
            let Self(setup, repairs, counterexample, writer) = self;
            let model = Model::<P>::new(setup.clone(), variant, repairs).map_err(|error| error.to_string())?;
            record(&model, counterexample, writer).map_err(|error| error.to_string())
        }
    }
    let origin = Origin::Check {
        command: command.into(),
        actions: found.actions.iter().chain(&found.cycle).map(ToString::to_string).collect(),
        small_scale: setup.small_scale,
        over_radios: setup.over_radios,
    };
    let header = Header::new(plan.algorithm, plan.without.clone(), setup.deployment.clone(), origin);
    let header = header.with_constants(&setup.constants);
    let bytes = Bytes::default();
    let writer = Writer::new(Box::new(bytes.clone()), &header);
    plan.algorithm.visit(Record(setup, plan.repairs, found, writer)).map_err(Failure::Other)?;
    Ok(bytes.take())
}

fn reader(bytes: &[u8]) -> Result<Reader, Failure> {
    Reader::new(Box::new(Cursor::new(bytes.to_vec()))).map_err(damaged)
}

#[allow(clippy::needless_pass_by_value)] // as `map_err` wants it
fn damaged(error: driftlock_trace::ReadError) -> Failure {
    Failure::Other(format!("the counterexample cannot be told: {error}"))
}

/// Writes the files that were asked for.
fn keep(args: &Args, bytes: &[u8]) -> Result<(), Failure> {
    if let Some(path) = &args.trace {
        fs::write(path, bytes).map_err(Failure::write(path))?;
    }
    for path in &args.chart {
        let chart = Chart::read(reader(bytes)?).map_err(damaged)?;
        let drawn = if is_svg(path) { chart.svg() } else { chart.mermaid() };
        fs::write(path, drawn).map_err(Failure::write(path))?;
    }
    Ok(())
}

fn is_svg(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "svg")
}

/// The memory in use, in bytes, where the system tells.
fn memory_now() -> u64 {
    status_of_self("VmRSS:")
}

/// The most memory that was in use, in bytes, where the system tells.
fn memory_peak() -> u64 {
    status_of_self("VmHWM:")
}

fn status_of_self(field: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(field));
    line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok()).map_or(0, |kib| kib << 10)
}

/// Whether an algorithm can be checked with so many units, and can ever grant these demands.
fn units_fit(algorithm: &Algorithm, k: u32, demands: &[Demand]) -> Result<(), Failure> {
    use driftlock_protocol::registry::UnitsRule;
    let tag = algorithm.tag;
    if algorithm.units == UnitsRule::One && k != 1 {
        return Err(Failure::Other(format!("{tag} shares a single unit: --k {k} makes no sense")));
    }
    let several = demands.iter().any(|demand| demand.units != Units::ONE);
    if algorithm.units != UnitsRule::Several && several {
        return Err(Failure::Other(format!("{tag} grants one unit at a time: leave --units away, or check hok")));
    }
    Ok(())
}

//! `driftlock demo`: nodes that drive about and share docks, to be watched and meddled with.

// How long nothing came from the page is measured by the clock of people.
#![allow(clippy::disallowed_types, clippy::disallowed_methods)]

pub(crate) mod command;
mod terminal;

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use command::Command;
use driftlock_field::mobility::{Area, Model, RandomWaypoint};
use driftlock_net::{Span, Time};
use driftlock_protocol::registry::ALGORITHMS;
use driftlock_sim::config::{Config, Plan};
use driftlock_sim::field::FieldPlan;
use driftlock_sim::live::{self, Order, Progress, trace_header};
use driftlock_trace::Writer;
use driftlock_viewer::{Hub, Source};
use serde_json::json;
use terminal::Terminal;

use crate::clock::{self, Clock};
use crate::failure::{Failure, Outcome};
use crate::results::print;
use crate::sim::with_own_units;
use crate::view::{At, announcement, tell};

/// How often the field goes on, for people.
const FRAME: Duration = Duration::from_millis(50);
/// How often the terminal is drawn.
const REDRAWN: Duration = Duration::from_millis(500);
/// How far the field goes on at most before the page is asked again, in seconds.
const STRIDE: f64 = 0.5;
/// Nodes on the field of 600 m by 450 m; more have a larger one, where they are as near to one another.
const NODES: u32 = 20;
/// More nodes than this take longer than they show.
const NODES_MAX: u32 = 1000;

const EXAMPLES: &str = "\
Twenty nodes drive about a field and share three docks, over simulated radios and the real link layer. Open the address that it \
prints: you can ask for a dock, release it, crash and revive a node, drag it, cut a link, jam an area, choose another algorithm, and \
switch a repair of its paper off and watch it break. The oracle watches every event.

Examples:
  driftlock demo
  driftlock demo --algorithm hok --nodes 100 --speed 4     more nodes have a larger field
  driftlock demo --seconds 30 --headless           no page, no waiting: a summary and a verdict
  driftlock demo --seconds 600 --headless --without reclaim

Exit codes: 0 everything held, 1 something was violated, 2 it could not be run.";

/// The flags of `driftlock demo`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The algorithm: see driftlock list
    #[arg(long, default_value = "krlf")]
    algorithm: String,
    /// The number of nodes, from 1 to 1000
    #[arg(long, default_value_t = NODES, allow_hyphen_values = true)]
    nodes: u32,
    /// The number of docks [default: 3; 1 for rl]
    #[arg(long, allow_hyphen_values = true)]
    k: Option<u32>,
    /// Switch this repair of the paper's text off; several as NAME,NAME or by several flags
    #[arg(long, value_name = "REPAIR", value_delimiter = ',')]
    without: Vec<String>,
    /// From which all randomness follows
    #[arg(long, default_value_t = 1, allow_hyphen_values = true)]
    seed: u64,
    /// How fast time goes by, from 0.05 to 100
    #[arg(long, default_value = "1", value_parser = clock::speed, allow_hyphen_values = true)]
    speed: f64,
    /// End after so many seconds of the field's time
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..), allow_hyphen_values = true)]
    seconds: Option<u32>,
    /// No page and no clock: go on as fast as it can until --seconds are over
    #[arg(long, requires = "seconds", conflicts_with_all = ["speed", "history", "port"])]
    headless: bool,
    /// The whole run is kept for pages: begin anew when it has grown to so many megabytes
    #[arg(long, value_name = "MEGABYTES", default_value_t = 256, value_parser = clap::value_parser!(u16).range(1..), allow_hyphen_values = true)]
    history: u16,
    #[command(flatten)]
    at: At,
}

impl Args {
    fn plan(&self, algorithm: &str, without: Vec<String>) -> Result<Plan, Failure> {
        if !(1..=NODES_MAX).contains(&self.nodes) {
            let nodes = self.nodes;
            let instead = if nodes == 0 { "" } else { ": for more there is driftlock sim --field" };
            return Err(Failure::Other(format!("the demo has 1 to {NODES_MAX} nodes, not {nodes}{instead}")));
        }
        let scale = (f64::from(self.nodes) / f64::from(NODES)).sqrt().max(1.0);
        let field = FieldPlan {
            area: Area { width: 600.0 * scale, height: 450.0 * scale },
            movement: Model::RandomWaypoint(RandomWaypoint { speed_min: 2.0, speed_max: 9.0, pause: 3.0 }),
            ..FieldPlan::default()
        };
        let config = Config {
            algorithm: algorithm.into(),
            nodes: self.nodes,
            k: self.k.unwrap_or(3),
            load: 0.04,
            cs_time: driftlock_sim::random::Duration::Uniform(2.0, 6.0),
            without,
            seed: self.seed,
            check: true,
            field: Some(field),
            ..Config::default()
        };
        Ok(with_own_units(config, self.k.is_some()).plan()?)
    }

    fn is_over(&self, now: Time) -> bool {
        self.seconds.is_some_and(|seconds| now >= Time::from_units(f64::from(seconds)))
    }
}

pub(crate) fn run(args: &Args) -> Outcome {
    let plan = args.plan(&args.algorithm, args.without.clone())?;
    let end = if args.headless { headless(args, &plan)? } else { watched(args, plan)? };
    print(&summary(&end))?;
    Ok(if end.violation.is_some() { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// As fast as it goes.
fn headless(args: &Args, plan: &Plan) -> Result<Progress, Failure> {
    let end = Time::from_units(args.seconds.map_or(0.0, f64::from));
    let mut watcher = |progress: &Progress| if progress.now < end { Order::Until(end) } else { Order::End };
    live::run(plan, None, &mut watcher).map_err(|error| Failure::Other(error.to_string()))
}

/// With a page, until the user ends it.
fn watched(args: &Args, mut plan: Plan) -> Result<Progress, Failure> {
    let server = args.at.server()?;
    print(&announcement(&server))?;
    let (hub, (sender, commands)) = (Hub::default(), mpsc::channel());
    let take = move |text: &str| _ = sender.send(text.to_owned());
    let source = Source::Stream { name: "demo".into(), hub: hub.clone(), commands: Arc::new(take) };
    thread::spawn(move || {
        if let Err(error) = server.run(source) {
            eprintln!("the page cannot be served any more: {error}");
        }
    });
    let mut demo = Demo {
        args,
        hub,
        commands,
        clock: Clock::new(1.0),
        terminal: Terminal::open(),
        redrawn: Instant::now(),
        next: None,
        note: None,
    };
    demo.clock.set_speed(args.speed);
    loop {
        let end = demo.run_once(&plan)?;
        demo.draw(&plan, &end);
        if args.is_over(end.now) {
            return Ok(end);
        }
        match demo.next.take() {
            Some(next) => plan = next,
            // Something was violated: it stays so, for all to see, until a watcher wants it otherwise.
            None if args.seconds.is_some() => return Ok(end),
            None => plan = demo.wait_for_restart(&plan),
        }
    }
}

/// What is between the field and those who watch it.
struct Demo<'a> {
    args: &'a Args,
    hub: Hub,
    commands: Receiver<String>,
    clock: Clock,
    terminal: Option<Terminal>,
    redrawn: Instant,
    /// What is to be run instead.
    next: Option<Plan>,
    /// What those who watch should know of the run.
    note: Option<String>,
}

impl Demo<'_> {
    /// Until something is violated, it is over, or a watcher wants it otherwise.
    fn run_once(&mut self, plan: &Plan) -> Result<Progress, Failure> {
        let mut writer = Writer::new(Box::new(self.hub.begin()), &trace_header(plan));
        writer.flush();
        self.clock.set_now(Time::ZERO);
        self.describe(plan);
        if let Some(note) = &self.note {
            tell(&self.hub, note);
        }
        live::run(plan, Some(writer), &mut |progress| self.order(plan, progress))
            .map_err(|error| Failure::Other(format!("the page cannot be fed any more: {error}")))
    }

    fn order(&mut self, plan: &Plan, progress: &Progress) -> Order {
        if let Some(refused) = &progress.refused {
            self.refuse(refused);
        }
        if self.redrawn.elapsed() >= REDRAWN {
            self.draw(plan, progress);
        }
        if self.args.is_over(progress.now) {
            return Order::End;
        }
        if self.hub.bytes() > usize::from(self.args.history) << 20 {
            self.begin_anew(plan, progress.now);
            return Order::End;
        }
        match self.commands.recv_timeout(FRAME) {
            Ok(text) => match self.obey(plan, &text) {
                Some(order) => order,
                None => Order::Until(progress.now),
            },
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => self.go_on(progress.now),
        }
    }

    /// The same from the beginning, and those who watch are told why.
    fn begin_anew(&mut self, plan: &Plan, now: Time) {
        let (history, seconds) = (self.args.history, now.units());
        let note =
            format!("After {seconds:.0} s the run had grown to {history} MB, as much as is kept: it has begun anew.");
        if self.terminal.is_none() {
            println!("{note}");
        }
        (self.next, self.note) = (Some(plan.clone()), Some(note));
    }

    /// As far as time has gone by. A machine that does not keep up falls behind.
    fn go_on(&self, now: Time) -> Order {
        let (due, most) = (self.clock.now(), now + Span::from_units(STRIDE * self.clock.speed().0.max(1.0)));
        if due > most {
            self.clock.set_now(most);
        }
        Order::Until(due.clamp(now, most))
    }

    /// What a command means for the field, if anything.
    fn obey(&mut self, plan: &Plan, text: &str) -> Option<Order> {
        let command = match Command::read(text) {
            Ok(command) => command,
            Err(refused) => {
                self.refuse(&refused);
                return None;
            }
        };
        match &command {
            Command::Speed(speed) => self.clock.set_speed(*speed),
            Command::Hold(held) => self.clock.hold(*held),
            Command::Restart { algorithm, without } => {
                match self.args.plan(algorithm, without.clone()) {
                    Ok(next) => (self.next, self.note) = (Some(next), None),
                    Err(refused) => {
                        self.refuse(&refused.to_string());
                        return None;
                    }
                }
                return Some(Order::End);
            }
            _ => {}
        }
        if matches!(command, Command::Speed(_) | Command::Hold(_)) {
            self.describe(plan);
        }
        command.deed().map(Order::Do)
    }

    fn wait_for_restart(&mut self, plan: &Plan) -> Plan {
        while let Ok(text) = self.commands.recv() {
            match self.obey(plan, &text) {
                Some(Order::Do(_)) => self.refuse("something was violated, so nothing goes on: restart it"),
                _ => {
                    if let Some(next) = self.next.take() {
                        return next;
                    }
                }
            }
        }
        plan.clone()
    }

    fn refuse(&self, why: &str) {
        self.hub.tell(&json!({ "refused": why }).to_string());
    }

    /// Tells the page what there is to choose from, and what was chosen.
    fn describe(&self, plan: &Plan) {
        let algorithms = ALGORITHMS.iter().map(|algorithm| {
            let repairs = algorithm.repairs().iter();
            let repairs: Vec<_> =
                repairs.map(|repair| json!({ "name": repair.name, "what": repair.summary })).collect();
            // A unit is a dock here.
            let how = algorithm.manner.how.replace("unit", "dock");
            json!({ "tag": algorithm.tag, "title": algorithm.summary, "how": how, "repairs": repairs })
        });
        let ((speed, paused), config) = (self.clock.speed(), &plan.config);
        let demo = json!({ "demo": {
            "algorithms": algorithms.collect::<Vec<_>>(),
            "algorithm": plan.algorithm.tag,
            "without": plan.without,
            "nodes": config.nodes,
            "k": config.k,
            "speed": speed,
            "paused": paused,
            "canAct": true,
        }});
        self.hub.tell(&demo.to_string());
    }

    fn draw(&mut self, plan: &Plan, progress: &Progress) {
        self.redrawn = Instant::now();
        if let (Some(terminal), Some(field)) = (&mut self.terminal, &plan.config.field) {
            let note = self.note.as_ref().map_or(String::new(), |note| format!("{note}\n"));
            let words =
                format!("{}{note}[7] uses a dock   7? waits   7* holds a free one   7x is down\n", summary(progress));
            terminal.draw(field, progress, &words);
        }
    }
}

fn summary(progress: &Progress) -> String {
    let waited = progress.mean_wait.map_or(String::new(), |wait| format!(", after {:.1} s on average", wait.units()));
    let verdict = match &progress.violation {
        Some(violation) => format!("VIOLATED: {violation}"),
        None => format!("held: {} events checked", progress.checked),
    };
    let (seconds, entries, in_use) = (progress.now.units(), progress.entries, progress.in_use);
    format!("{seconds:.0} s: docks were used {entries} times{waited}; {in_use} in use now\n{verdict}\n")
}

//! `driftlock soak`: fault-and-heal runs by the thousand.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use driftlock_protocol::registry::UnitsRule;
use driftlock_protocol::{Algorithm, Terms};
use driftlock_sim::config::{ConfigError, unknown_repair};
use driftlock_sim::soak::{Case, Crowd, Injected, Report, soak};
use driftlock_trace::Writer;

use crate::constants::ConstantFlags;
use crate::failure::{Failure, Outcome};
use crate::progress::Progress;
use crate::results::print;
use crate::{constants, list, progress};

const EXAMPLES: &str = "\
Each run is drawn from its seed: 3 to 12 nodes, 1 to 4 units, delays, load, and links that fail and form at random, \
partitions included, while every invariant is checked after every event. An algorithm that grants several units is asked \
for one to all of them, with priorities and deadlines. Then the graph is made connected and left alone: every node that \
waits must be served, and every one that asks once more. Then the runs are counted that come to rest: no message under \
way, no timer. krlf's tokens are never at rest while some node is without one. Run number i has the seed SEED + i.

In half of the runs nodes are killed and come back with what they had stored, if the algorithm claims to stand that. \
Their applications go on: a unit is in use until they end, and some become those of the node's next life (docs/lives.md).

For klme and klme-ft nodes enter and leave one neighbourhood instead, and at the end all come in. In most runs of \
klme-ft messages overtake one another and up to a tenth of them is lost; nodes crash, one after another, as far as can be \
survived, forget everything, and come back, while the applications of half of them go on; members are told too late, or \
wrongly, which nodes come and go; and half of the runs are long and quiet, with up to half of the members cut off \
for a time. What was injected is counted, and what never was, although it could have been, is said in the last line: about \
that these runs say nothing, and more of them may. A run in which nothing was granted before all was healed does not count.

With --field the same nodes have radios that reach 200 m and lose a tenth of all frames, and move at up to 30 m/s about a square \
on which they are connected now and then (docs/field.md). Nodes pause, or crash and come back with what they had stored; areas \
are jammed, the field is cut in two, and there are bursts of loss, each for up to 20 s. Every unit is counted after every event: \
held or under way, once. At the end all stand where neighbours hear one another. klme-ft's node that crashes and \
forgets is drawn there too.

With --nodes every network has that many nodes instead of 3 to 12, and on the field half of the runs take place in a \
hall so small that each node hears all others, which is where crowds weigh on the air.

Examples:
  driftlock soak krl                        1,000 runs
  driftlock soak krlf --runs 1000000        a long soak
  driftlock soak krl --without pending-request
  driftlock soak hok --field --runs 100     on the field: movement, radio, jamming, pauses, crashes
  driftlock soak krl --field --nodes 50     crowds, half of them in a hall
  driftlock soak klme-ft --constant beat=5 --constant lease=15
  driftlock soak klme-ft --field            crashes that nothing is remembered of, and lost messages
  driftlock soak krl --seed 4711 --runs 1 --trace run.jsonl

Exit codes: 0 all runs that count held, 1 one was violated, 2 it could not be run, or no run counts.";

/// The flags of `driftlock soak`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The algorithm: see driftlock list
    algorithm: String,
    /// How many runs
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..))]
    runs: u64,
    /// The seed of the first run
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Draw networks with at least as many units as nodes
    #[arg(long)]
    crowded: bool,
    /// Draw nodes that move about a field, with the real link layer over radios that lose a tenth of all frames
    #[arg(long, conflicts_with = "crowded")]
    field: bool,
    /// Let every network have so many nodes, 3 to 200; with --field, half of them in a hall in which all hear all
    #[arg(long, value_name = "NUMBER", conflicts_with = "crowded")]
    nodes: Option<u32>,
    /// Switch a repair of the paper's text off; several as NAME,NAME or by several flags
    #[arg(long, value_name = "REPAIR", value_delimiter = ',')]
    without: Vec<String>,
    #[command(flatten)]
    constants: ConstantFlags,
    /// Record the first run in this file (compressed if it ends in .zst)
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Threads to use; 0 is one for each core
    #[arg(long, default_value_t = 0, value_parser = progress::threads)]
    threads: usize,
}

pub(crate) fn run(args: &Args) -> Outcome {
    let algorithm = list::named(&args.algorithm)?;
    let names = args.without.iter().map(String::as_str);
    let repairs = algorithm.rules_without(names).map_err(|name| unknown_repair(algorithm, name))?;
    let Some(last) = args.seed.checked_add(args.runs - 1) else {
        return Err(Failure::Other(format!(
            "there are no {} seeds from {} on: lower --seed or --runs",
            args.runs, args.seed
        )));
    };
    args.constants.check()?;
    let constants = args.constants.constants();
    let terms = Terms { small_scale: false, over_radios: args.field, constants: &constants };
    algorithm.check(terms).map_err(|error| ConfigError::Constant { algorithm: algorithm.tag, error })?;
    if args.crowded && algorithm.units == UnitsRule::One {
        return Err(Failure::Other(format!("{} shares a single unit: it cannot be crowded", algorithm.tag)));
    }
    let crowd =
        Crowd::of(args.crowded, args.field, args.nodes).map_err(|error| Failure::Other(format!("--nodes: {error}")))?;
    if let Some(path) = &args.trace {
        let case = Case::draw(args.seed, crowd, algorithm).with_constants(constants.clone());
        let header = case.trace_header(algorithm, args.without.clone());
        let writer = Writer::create(path, &header).map_err(Failure::write(path))?;
        case.run(algorithm, repairs, Some(writer)).map_err(Failure::write(path))?;
    }
    let progress = Progress::new(args.runs, "runs");
    let counted = Mutex::new(Counted::default());
    let count = |report: &Report| {
        progress.step();
        counted.lock().unwrap_or_else(PoisonError::into_inner).add(report);
    };
    let failed = soak(algorithm, repairs, &constants, crowd, args.seed..=last, args.threads, &count);
    progress.finish();
    if let Some((seed, violation)) = failed {
        let command = command(args, crowd, algorithm, seed);
        print(&format!("{}: violated with seed {seed}: {violation}\nto record it:\n  {command}\n", algorithm.tag))?;
        return Ok(ExitCode::from(1));
    }
    let counted = counted.into_inner().unwrap_or_else(PoisonError::into_inner);
    print(&counted.told(args, algorithm, crowd)?)?;
    Ok(ExitCode::SUCCESS)
}

/// What all runs came to.
#[derive(Default)]
struct Counted {
    entries: u64,
    /// The runs that do not count.
    vacuous: u64,
    restless: u64,
    injected: Injected,
}

impl Counted {
    fn add(&mut self, report: &Report) {
        self.entries += report.entries_under_faults + report.entries_after;
        self.vacuous += u64::from(report.entries_under_faults == 0);
        self.restless += u64::from(!report.rested);
        self.injected = self.injected + report.injected;
    }

    /// In words, if nothing was violated. Where no run counts there is no verdict.
    fn told(&self, args: &Args, algorithm: &Algorithm, crowd: Crowd) -> Result<String, Failure> {
        let (tag, first, last) = (algorithm.tag, args.seed, args.seed + (args.runs - 1));
        let held = args.runs - self.vacuous;
        if held == 0 {
            let seeds = if first == last { format!("seed {first}") } else { format!("seeds {first} to {last}") };
            return Err(Failure::Other(format!(
                "{tag}: no run counts, {seeds}: nothing was granted before all was healed, so there is nothing to judge; \
                 give more --runs, or another --seed"
            )));
        }
        let mut text = format!("{tag}: {} held, seeds {first} to {last}; {} entries", runs(held), self.entries);
        if self.vacuous > 0 {
            let do_not = if self.vacuous == 1 { "does not" } else { "do not" };
            text += &format!("; {} {do_not} count, as nothing was granted before all was healed", runs(self.vacuous));
        }
        text += &format!("\ninjected: {}\n", self.injected);
        if !crowd.is_on_field() {
            let restless = runs(self.restless);
            text += &format!("at rest in the end, with no message under way and no timer: all but {restless}\n");
        }
        let missing = self.injected.missing(algorithm, crowd, args.runs).join(", ");
        if !missing.is_empty() {
            text += &format!("but there were no {missing} in any of these runs, so they say nothing about that\n");
        }
        Ok(text)
    }
}

/// So many.
fn runs(count: u64) -> String {
    if count == 1 { "1 run".into() } else { format!("{count} runs") }
}

fn command(args: &Args, crowd: Crowd, algorithm: &Algorithm, seed: u64) -> String {
    let without: String = args.without.iter().map(|name| format!(" --without {name}")).collect();
    let constants = constants::flags(&args.constants.constants());
    format!(
        "driftlock soak {}{crowd}{without}{constants} --seed {seed} --runs 1 --trace violation.jsonl",
        algorithm.tag
    )
}

//! `driftlock sim`: measure an algorithm.

mod effect;
mod watch;

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::str::FromStr;

use clap::ValueEnum;
use driftlock_protocol::Algorithm;
use driftlock_protocol::ideal::Fate;
use driftlock_protocol::registry::UnitsRule;
use driftlock_sim::areas::Areas;
use driftlock_sim::churn::Churn;
use driftlock_sim::config::{Config, ConfigError, LinkInfoRule, Plan};
use driftlock_sim::demand::{Deadlines, Numbers};
use driftlock_sim::field::FieldPlan;
use driftlock_sim::layout::Layout;
use driftlock_sim::random::Duration;
use driftlock_sim::run::{Records, replicate, trace_header};
use driftlock_sim::summary::Summary;
use driftlock_sim::sweep::run_all;
use driftlock_trace::{Header, Writer};

use crate::constants::ConstantFlags;
use crate::failure::{Failure, Outcome};
use crate::field::{self, FieldFlags, Source};
use crate::progress::Progress;
use crate::results::{print, to_json, to_table, to_text};
use crate::view::At;
use crate::{movements, output, progress, shell};

const EXAMPLES: &str = "\
Every parameter is a flag, and a key of the same name (with _ for -) in a TOML file for --config; flags win. \
Defaults are the paper's network: 30 nodes, 3 tokens, 20% connectivity, unit delay and unit CS time.

Examples:
  driftlock sim --algorithm krlf --nodes 30 --k 3 --load 0.1 --mobility 0.02 --seed 7
  driftlock sim --delay exponential:1 --cs-time uniform:0.5..1.5 --format json
  driftlock sim --algorithm hok-edf --k 5 --units 1..3 --priorities 0..9 --deadlines exponential:50
  driftlock sim --algorithm klme --k 3 --contention 50 --cs-time exponential:0.5 --delay 0.01
  driftlock sim --algorithm klme --nodes 80 --neighbourhoods 4 --churn heavy --load 1
  driftlock sim --algorithm klme --nodes 80 --neighbourhoods 4 --speed 1.5 --areas discs:60
  driftlock sim --algorithm hok-strict --nodes 4 --k 1 --load 5 --topology line --priorities 1 --priority-of 3=0
  driftlock sim --nodes 5 --topology 0-1,1-2,2-3,3-4,4-1 --load-of 0=2
  driftlock sim --link-info published                the LinkInfo rule as the paper has it
  driftlock sim --as-published                       none of the repairs of the paper's text
  driftlock sim --algorithm klme-ft --delay 0.05 --constant beat=0.4 --constant lease=2
  driftlock sim --entries 50 --replications 1 --trace run.jsonl.zst
  driftlock sim --config my.toml --output my.parquet

On a field nodes move about with radios, and everything below the algorithm is real (docs/field.md). A time unit is a second \
there, and what was decreed before is not given: connectivity, mobility, churn, delay. A field is a TOML file in which all \
has a default: area, movement or tracks, radio, layers, [[fault]] for what goes wrong, [faults] for what does by chance:

  radio = \"wifi-11mbps\"
  [faults]
  heals-at = 600.0
  jams = { per-minute = 1.0, lasts = [5.0, 20.0] }
  pauses = { per-minute = 2.0, lasts = [1.0, 20.0] }

Such faults follow from the seed: they are other ones in each replication, and the same for every algorithm.

With --tracks, or tracks in a field, nodes go where a file says. Such a run begins when the first node is there and ends \
when the movements do: if fewer entries were counted by then, it says so. A file in which no node moves or leaves has \
no end.

Examples on a field:
  driftlock sim --field walkers --load 0.02          30 walkers on a square of 700 m
  driftlock sim --field nfk --nodes 50 --k 5         as in the paper on NFK: a square kilometre, up to 8 m/s
  driftlock sim --tracks city.fcd.xml.gz --k 2       the cars that SUMO wrote down, or ns-2, BonnMotion, ONE, GPX, CSV
  driftlock sim --algorithm hok --field my.toml --entries 500 --replications 2
  driftlock sim --algorithm klme-ft --field my.toml --entries 200 --pcap run.pcapng
  driftlock sim --field my.toml --entries 50 --replications 1 --trace run.jsonl.zst

Exit codes: 0 it held, 1 something was violated, 2 it could not be run.";

/// The flags of `driftlock sim`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Read parameters from this TOML file
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    parameters: Parameters,
    #[command(flatten)]
    field: FieldFlags,
    /// How to write the results [default: as the name of --output ends, or else table]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Write the results to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Record every step of one replication in this file (compressed if it ends in .zst)
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Show one replication in a browser while it runs, instead of measuring
    #[arg(long, conflicts_with_all = ["trace", "pcap", "output", "format", "threads"])]
    view: bool,
    #[command(flatten)]
    at: At,
    /// Which replication to record or to show [default: 0]
    #[arg(long, value_name = "R")]
    trace_replication: Option<u32>,
    /// Threads to use; 0 is one for each core. The results do not depend on it
    #[arg(long, default_value_t = 0, value_parser = progress::threads)]
    threads: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    Table,
    /// One JSON object
    Json,
    /// A header line and a row
    Csv,
    /// Apache Parquet; needs --output
    Parquet,
}

impl Args {
    fn format(&self) -> Format {
        let ending = self.output.as_deref().and_then(Path::extension).and_then(OsStr::to_str);
        self.format.unwrap_or(match ending {
            Some("json") => Format::Json,
            Some("csv") => Format::Csv,
            Some("parquet") => Format::Parquet,
            _ => Format::Table,
        })
    }
}

/// The parameters of a simulation; what is not given comes from the file, or else is the default.
#[derive(clap::Args)]
struct Parameters {
    /// The algorithm: see driftlock list [default: krl]
    #[arg(long)]
    algorithm: Option<String>,
    /// The number of nodes (n) [default: 30]
    #[arg(long, allow_hyphen_values = true)]
    nodes: Option<u32>,
    /// The number of units of the resource [default: 3; 1 for rl]
    #[arg(long, allow_hyphen_values = true)]
    k: Option<u32>,
    /// The rate of each node's next request after it has left the CS, per time unit [default: 0.1]
    #[arg(long, allow_hyphen_values = true)]
    load: Option<f64>,
    /// The load of one node, such as 3=0.2; may be given several times
    #[arg(long, value_name = "NODE=LOAD", value_parser = of_node::<f64>, allow_hyphen_values = true)]
    load_of: Vec<(u32, f64)>,
    /// The load in another way: time in the CS by that and the pause after it, in per cent
    #[arg(long, value_name = "PERCENT", conflicts_with = "load", allow_hyphen_values = true)]
    contention: Option<f64>,
    /// The load in another way: of all nodes together, of which each has the same part
    #[arg(long, value_name = "LOAD", conflicts_with_all = ["load", "contention", "load_of"], allow_hyphen_values = true)]
    load_of_all: Option<f64>,
    /// The links at the start: random, complete, line, ring or star, links such as 0-1,1-2, or a file of such links
    /// [default: random]
    #[arg(long, value_name = "LINKS", allow_hyphen_values = true)]
    topology: Option<String>,
    /// The share of the possible links that are up, from 0 to 1, if they are random [default: 0.2]
    #[arg(long, allow_hyphen_values = true)]
    connectivity: Option<f64>,
    /// Changes of the graph per time unit, in the whole network [default: 0]
    #[arg(long, allow_hyphen_values = true)]
    mobility: Option<f64>,
    /// Nodes that are killed and come back with what they have stored, per time unit, in the whole network [default: 0]
    #[arg(long, allow_hyphen_values = true)]
    restarts: Option<f64>,
    /// Neighbourhoods with k units each, among which the nodes are dealt out (for klme) [default: 1]
    #[arg(long, allow_hyphen_values = true)]
    neighbourhoods: Option<u32>,
    /// How often each node leaves its neighbourhood for another (or the same, if there is one): none, light, medium,
    /// heavy, or a rate per time unit [default: none]
    #[arg(long, allow_hyphen_values = true)]
    churn: Option<Churn>,
    /// Time that it is in no neighbourhood then: a number, uniform:A..B or exponential:MEAN [default: 0]
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true)]
    absence: Option<Duration>,
    /// Instead of churn: how fast nodes walk from one random point to the next, in metres per time unit [default: 0]
    #[arg(long, allow_hyphen_values = true)]
    speed: Option<f64>,
    /// From where a site is reached by nodes that walk: cells, or discs:RANGE in metres [default: cells]
    #[arg(long, allow_hyphen_values = true)]
    areas: Option<Areas>,
    /// How far apart the sites are, in metres [default: 100]
    #[arg(long, value_name = "METRES", allow_hyphen_values = true)]
    spacing: Option<f64>,
    /// How far beyond a border one still belongs to one's neighbourhood, in metres [default: 1]
    #[arg(long, value_name = "METRES", allow_hyphen_values = true)]
    margin: Option<f64>,
    /// Time in the CS: a number, uniform:A..B or exponential:MEAN [default: 1]
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true)]
    cs_time: Option<Duration>,
    /// Units that a request asks for, all or nothing: a number, or a choice such as 1..4 (with hok) [default: 1]
    #[arg(long, value_name = "NUMBERS", allow_hyphen_values = true)]
    units: Option<Numbers>,
    /// The priority of a request, the larger the more urgent: a number, or a choice such as 0..9 or 0,100 [default: 0]
    #[arg(long, value_name = "NUMBERS", allow_hyphen_values = true)]
    priorities: Option<Numbers>,
    /// The priority of one node's requests, such as 3=5; may be given several times (with hok and hok-strict)
    #[arg(long, value_name = "NODE=NUMBERS", value_parser = of_node::<Numbers>, allow_hyphen_values = true)]
    priority_of: Vec<(u32, Numbers)>,
    /// Time from a request to its deadline: a number, uniform:A..B, exponential:MEAN or none [default: none]
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true)]
    deadlines: Option<Deadlines>,
    /// Time that a message takes: a number, uniform:A..B or exponential:MEAN [default: 1]
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true)]
    delay: Option<Duration>,
    /// What becomes of messages in flight on a link that fails [default: drained]
    #[arg(long, value_enum)]
    link_failure: Option<FateFlag>,
    /// Which neighbours are told of a lowered height: published or repaired [default: repaired]
    #[arg(long, visible_alias = "linkinfo", value_name = "RULE")]
    link_info: Option<LinkInfoRule>,
    /// Switch a repair of the paper's text off (see driftlock list ALGORITHM); several as NAME,NAME or by several flags
    #[arg(long, value_name = "REPAIR", value_delimiter = ',')]
    without: Vec<String>,
    /// Switch all repairs off: the paper's text as published
    #[arg(long, conflicts_with = "without")]
    as_published: bool,
    #[command(flatten)]
    constants: ConstantFlags,
    /// Entries before counting begins, in each replication [default: 500]
    #[arg(long, allow_hyphen_values = true)]
    warmup: Option<u64>,
    /// Counting does not begin before this time either: links on a field take their time to form [default: 0]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    warmup_time: Option<f64>,
    /// Entries that are counted, in each replication [default: 5000]
    #[arg(long, allow_hyphen_values = true)]
    entries: Option<u64>,
    /// Independent repetitions [default: 5]
    #[arg(long, allow_hyphen_values = true)]
    replications: Option<u32>,
    /// From which all randomness follows [default: 1]
    #[arg(long, allow_hyphen_values = true)]
    seed: Option<u64>,
    /// Check every invariant after every event (slower)
    #[arg(long)]
    check: bool,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum FateFlag {
    /// Only links that carry nothing fail, as the paper assumes
    Drained,
    /// They are returned to their senders
    Returned,
    /// Permits reach their receiver later, over another way; all else is lost
    Settled,
    /// They are lost
    Lost,
}

impl From<FateFlag> for Fate {
    fn from(flag: FateFlag) -> Self {
        match flag {
            FateFlag::Drained => Self::Drained,
            FateFlag::Returned => Self::Returned,
            FateFlag::Settled => Self::Settled,
            FateFlag::Lost => Self::Lost,
        }
    }
}

impl Parameters {
    /// The file's parameters, with the flags on top.
    fn over(&self, file: Config) -> Config {
        let (load, contention, load_of_all) = self.load_over(&file);
        Config {
            load,
            load_of: with(file.load_of, &self.load_of),
            contention,
            load_of_all,
            neighbourhoods: self.neighbourhoods.unwrap_or(file.neighbourhoods),
            churn: self.churn.unwrap_or(file.churn),
            absence: self.absence.unwrap_or(file.absence),
            speed: self.speed.unwrap_or(file.speed),
            areas: self.areas.unwrap_or(file.areas),
            spacing: self.spacing.unwrap_or(file.spacing),
            margin: self.margin.unwrap_or(file.margin),
            algorithm: self.algorithm.clone().unwrap_or(file.algorithm),
            nodes: self.nodes.unwrap_or(file.nodes),
            k: self.k.unwrap_or(file.k),
            connectivity: self.connectivity.unwrap_or(file.connectivity),
            mobility: self.mobility.unwrap_or(file.mobility),
            restarts: self.restarts.unwrap_or(file.restarts),
            // These flags may name a file, which has to be read first.
            field: file.field,
            topology: file.topology,
            cs_time: self.cs_time.unwrap_or(file.cs_time),
            units: self.units.clone().unwrap_or(file.units),
            priorities: self.priorities.clone().unwrap_or(file.priorities),
            priority_of: with(file.priority_of, &self.priority_of),
            deadlines: self.deadlines.unwrap_or(file.deadlines),
            delay: self.delay.unwrap_or(file.delay),
            link_failure: self.link_failure.map_or(file.link_failure, Fate::from),
            link_info: self.link_info.unwrap_or(file.link_info),
            without: if self.without.is_empty() { file.without } else { self.without.clone() },
            as_published: self.as_published || file.as_published,
            constants: self.constants.over(file.constants),
            warmup: self.warmup.unwrap_or(file.warmup),
            warmup_time: self.warmup_time.unwrap_or(file.warmup_time),
            entries: self.entries.unwrap_or(file.entries),
            replications: self.replications.unwrap_or(file.replications),
            seed: self.seed.unwrap_or(file.seed),
            check: self.check || file.check,
        }
    }

    /// Any of the three flags takes the place of all three keys of the file.
    fn load_over(&self, file: &Config) -> (f64, Option<f64>, Option<f64>) {
        match (self.load, self.contention, self.load_of_all) {
            (None, None, None) => (file.load, file.contention, file.load_of_all),
            (load, contention, all) => (load.unwrap_or(Config::default().load), contention, all),
        }
    }
}

/// What is said of a single node.
fn of_node<T: FromStr>(text: &str) -> Result<(u32, T), String>
where
    T::Err: ToString,
{
    let (node, value) = text.split_once('=').ok_or("write the number of a node, =, and the value, such as 3=5")?;
    let node = node.parse().map_err(|_| format!("{node:?} is no number of a node"))?;
    value.parse().map(|value| (node, value)).map_err(|error: T::Err| error.to_string())
}

/// What the file says of single nodes, with the flags on top.
fn with<T: Clone>(mut file: BTreeMap<u32, T>, flags: &[(u32, T)]) -> BTreeMap<u32, T> {
    file.extend(flags.iter().cloned());
    file
}

/// The links at the start, as they are written or as the file of this name has them.
fn layout(text: &str) -> Result<Layout, Failure> {
    let says = match text.parse() {
        Ok(layout) => return Ok(layout),
        Err(says) => says,
    };
    let path = Path::new(text);
    if !path.exists() {
        return Err(Failure::Other(format!("--topology: {says}; and there is no file of that name")));
    }
    let links = fs::read_to_string(path).map_err(|error| Failure::Other(format!("cannot read {text}: {error}")))?;
    links.parse().map_err(|says| Failure::Other(format!("{text}: {says}")))
}

pub(crate) fn run(args: &Args) -> Outcome {
    let plan = plan(args)?;
    effect::check(args, &plan)?;
    let recorded = args.trace_replication.unwrap_or(0);
    if args.format() == Format::Parquet && args.output.is_none() {
        return Err(Failure::Other("Parquet is not for reading on a terminal: name a file with --output".into()));
    }
    if args.view {
        check_replication(&plan, recorded)?;
        return watch::watch(&plan, recorded, args.at);
    }
    check_records(args, &plan, recorded)?;
    let outputs = [&args.output, &args.trace, &args.field.pcap];
    let tracks = plan.config.field.iter().flat_map(|field| &field.tracks);
    output::check(outputs.into_iter().flatten(), args.config.iter().chain(args.field.inputs()).chain(tracks))?;
    if let Some(path) = &args.trace {
        record(&plan, recorded, path)?;
    }
    if let Some(path) = &args.field.pcap {
        let records = Records { trace: None, capture: args.field.capture()? };
        replicate(&plan, recorded, records).map_err(Failure::write(path))?;
    }
    let progress = Progress::new(u64::from(plan.config.replications), "replications");
    let summary = run_all(std::slice::from_ref(&plan), args.threads, &|_| progress.step()).remove(0);
    progress.finish();
    let over_early = movements_over(&plan, &summary);
    if let Some(note) = over_early.as_ref().filter(|_| summary.entries == 0) {
        return Err(Failure::Other(note.clone()));
    }
    write(args, &plan, &summary)?;
    if let Some(note) = over_early {
        eprintln!("{note}");
    }
    if summary.violations > 0 {
        eprintln!("{}", how_to_replay(&plan, &summary, env::args().skip(1)));
        return Ok(ExitCode::from(1));
    }
    Ok(ExitCode::SUCCESS)
}

/// What to say of a run that was over before it had counted enough, because its movements were.
fn movements_over(plan: &Plan, summary: &Summary) -> Option<String> {
    let path = plan.config.field.as_ref()?.tracks.as_ref()?.display();
    let over = summary.over.filter(|_| summary.violations == 0)?.units();
    let &Config { warmup, warmup_time, entries, replications, .. } = &plan.config;
    let (counted, asked) = (summary.entries, entries * u64::from(replications));
    let time = if warmup_time > 0.0 { format!(", --warmup-time (now {warmup_time})") } else { String::new() };
    Some(format!(
        "{path}: the movements are over at {over} s; {counted} entries were counted of {asked}. Raise --load, or lower \
         --warmup (now {warmup}){time} or --entries (now {entries})."
    ))
}

fn plan(args: &Args) -> Result<Plan, Failure> {
    let topology = args.parameters.topology.as_deref().map(layout).transpose()?;
    let file = args.config.as_deref().map(FromFile::read).transpose()?.unwrap_or_default();
    // Movements alone are on the field of the walkers.
    let usual = || args.field.tracks.is_some().then(|| (FieldPlan::default(), None));
    let field = args.field.named()?.or(file.field).or_else(usual);
    let asked = field.map(|field| args.field.over(field)).transpose()?;
    let nodes_on_tracks = asked.as_ref().and_then(|asked| asked.nodes_on_tracks).filter(|_| !file.has_nodes);
    let config = Config {
        field: asked.as_ref().map(|asked| asked.field.clone()),
        topology: topology.unwrap_or(file.config.topology),
        nodes: nodes_on_tracks.unwrap_or(file.config.nodes),
        ..file.config
    };
    let config = with_own_units(args.parameters.over(config), args.parameters.k.is_some() || file.has_units);
    config.plan().map_err(|error| match (error, &asked, &args.config) {
        (ConfigError::Field(error), Some(asked), _) => asked.refuse(&error),
        (error, _, Some(path)) => Failure::ConfigIn { path: path.clone(), error },
        (error, ..) => Failure::Config(error),
    })
}

/// What a file for `--config` says.
#[derive(Default)]
struct FromFile {
    config: Config,
    /// Whether it says how many nodes there are, and how many units.
    has_nodes: bool,
    has_units: bool,
    field: Option<field::Read>,
}

impl FromFile {
    fn read(path: &Path) -> Result<Self, Failure> {
        let source = Source::config(path)?;
        let bad = |error: toml::de::Error| source.bad_toml(&error);
        let keys: toml::Table = toml::from_str(source.text()).map_err(bad)?;
        let config: Config = toml::from_str(source.text()).map_err(bad)?;
        let field = config.field.clone().map(|field| source.beside(field));
        let [has_nodes, has_units] = ["nodes", "k"].map(|key| keys.contains_key(key));
        Ok(Self { config, has_nodes, has_units, field: field.map(|field| (field, Some(source))) })
    }
}

/// An algorithm that shares a single unit does so unless the user asks for another number.
pub(crate) fn with_own_units(config: Config, units_given: bool) -> Config {
    let shares_one = Algorithm::named(&config.algorithm).is_some_and(|algorithm| algorithm.units == UnitsRule::One);
    if shares_one && !units_given { Config { k: 1, ..config } } else { config }
}

fn check_replication(plan: &Plan, replication: u32) -> Result<(), Failure> {
    if replication >= plan.config.replications {
        return Err(Failure::Other(format!(
            "there is no replication {replication} to record: there are {}, counted from 0",
            plan.config.replications
        )));
    }
    Ok(())
}

/// Refuses records that cannot be made.
fn check_records(args: &Args, plan: &Plan, replication: u32) -> Result<(), Failure> {
    if args.trace.is_some() || args.field.pcap.is_some() {
        check_replication(plan, replication)?;
    }
    if args.field.pcap.is_some() && plan.config.field.is_none() {
        let says = "there are packets only on a field: give --field as well, or leave --pcap out";
        return Err(Failure::Other(says.into()));
    }
    Ok(())
}

fn record(plan: &Plan, replication: u32, path: &Path) -> Result<(), Failure> {
    let Header { world, .. } = trace_header(&movements::told_by(path, plan), replication);
    let header = Header { world, ..trace_header(plan, replication) };
    let writer = Writer::create(path, &header).map_err(Failure::write(path))?;
    replicate(plan, replication, writer.into()).map_err(Failure::write(path))?;
    Ok(())
}

fn write(args: &Args, plan: &Plan, summary: &Summary) -> Result<(), Failure> {
    let text = match args.format() {
        Format::Table => to_text(plan, summary),
        Format::Json => format!("{:#}\n", to_json(plan, summary)?),
        Format::Csv => {
            let mut bytes = Vec::new();
            to_table(&[(plan, summary)])?.write_csv(&mut bytes)?;
            String::from_utf8_lossy(&bytes).into_owned()
        }
        Format::Parquet => String::new(),
    };
    let Some(path) = &args.output else { return print(&text) };
    if args.format() == Format::Parquet {
        let file = File::create(path).map_err(Failure::write(path))?;
        return Ok(to_table(&[(plan, summary)])?.write_parquet(io::BufWriter::new(file))?);
    }
    fs::write(path, text).map_err(Failure::write(path))
}

/// The flags that say what becomes of the results, and not what they are.
const OF_OUTPUT: [&str; 6] = ["--format", "--output", "--trace", "--trace-replication", "--pcap", "--threads"];

/// The command that records the first replication that went wrong, or at least repeats it: the words that were typed,
/// so that it reads the same files.
fn how_to_replay(plan: &Plan, summary: &Summary, words: impl Iterator<Item = String>) -> String {
    let replication = summary.violation_details.first().map_or(0, |violated| violated.replication);
    let (seed, command) = (plan.config.seed, shell::without(&OF_OUTPUT, words));
    let trace = format!("--trace violation.jsonl --trace-replication {replication}");
    format!("a violation with seed {seed}; to record it:\n  driftlock {command} {trace}")
}

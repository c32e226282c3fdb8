//! `driftlock tracks`: where nodes go on a field, in a file that other simulators read; or one such file as another.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ValueEnum;
use driftlock_field::mobility::format::one;
use driftlock_field::mobility::{Format, Tracks};
use driftlock_net::{Span, Time};

use crate::failure::{Failure, Outcome};
use crate::results::print;
use crate::{field, movements, output};

/// The most lines that are written for the ONE: some 300 MB.
const SAMPLES_MAX: u64 = 10_000_000;

const EXAMPLES: &str = "\
The movements are those of the first replication of driftlock sim --field FIELD with the same seed and nodes.

Files of movements are read in the formats of ns-2, BonnMotion, SUMO (--fcd-output), the ONE, GPX, and as tables (CSV) \
with columns such as time,id,x,y; compressed by gzip or zstd or not. The name of a file or its first lines tell which it \
is (docs/mobility.md). The ONE reads the place of every node at every --step, and takes the way between to be straight.

Examples:
  driftlock tracks walkers --nodes 20 --seconds 300 --out walkers.ns2      for ns-2 and ns-3
  driftlock tracks nfk --nodes 50 --format bonnmotion > nfk.movements
  driftlock tracks city.fcd.xml.gz --format ns-2 --out city.ns2            what SUMO wrote, for ns-3
  driftlock tracks scen-50-20 --step 0.5 --out walk.one                    setdest commands, for the ONE
  driftlock sim --tracks city.fcd.xml.gz                                   or run on them as they are";

/// The flags of `driftlock tracks`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A field, by its name or its file; or a file of movements, to be written as another
    source: PathBuf,
    /// How many nodes move; a file of movements says so itself [default: 20]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=i64::from(driftlock_protocol::NODES_MAX)))]
    nodes: Option<u32>,
    /// For how long; a file of movements says so itself [default: 300]
    #[arg(long)]
    seconds: Option<f64>,
    /// From which the movements follow [default: 1]
    #[arg(long)]
    seed: Option<u64>,
    /// As what they are written [default: as the name of --out tells, or ns-2]
    #[arg(long, value_enum)]
    format: Option<Written>,
    /// For the ONE: how far apart the places of a node are, in seconds [default: 1]
    #[arg(long, value_name = "SECONDS")]
    step: Option<f64>,
    /// Where to; without it, to standard output
    #[arg(long)]
    out: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Written {
    /// setdest commands, which ns-3 reads too
    #[value(name = "ns-2")]
    Ns2,
    /// A line for each node
    #[value(name = "bonnmotion")]
    BonnMotion,
    /// The external movement of the ONE
    One,
}

impl From<Written> for Format {
    fn from(written: Written) -> Self {
        match written {
            Written::Ns2 => Self::Ns2,
            Written::BonnMotion => Self::BonnMotion,
            Written::One => Self::One,
        }
    }
}

pub(crate) fn run(args: &Args) -> Outcome {
    let format = format(args)?;
    let step = step(args, format)?;
    output::check(&args.out, [&args.source])?;
    let tracks = if is_of_movements(&args.source) { read(args)? } else { record(args)? };
    if format == Format::One {
        check_samples(one::samples(&tracks, step), step)?;
    }
    let text = format
        .write(&tracks, step)
        .ok_or_else(|| Failure::Other(format!("{format} is read only: take --format ns-2, bonnmotion or one")))?;
    if let Some(note) = absence_lost(args, format, &tracks) {
        eprintln!("{note}");
    }
    match &args.out {
        Some(path) => fs::write(path, text).map_err(|error| Failure::Write { path: path.clone(), error })?,
        None => print(&text)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// What to say if the format has no words for something that the tracks tell.
fn absence_lost(args: &Args, format: Format, tracks: &Tracks) -> Option<String> {
    let (absent, source) = (tracks.absent(), args.source.display());
    (absent > 0 && !format.knows_absence()).then(|| {
        format!(
            "{source}: of {absent} nodes it is lost when they are absent: {format} has no words for that, and they stand \
             where they will appear, or were last. --format ns-2 has."
        )
    })
}

fn format(args: &Args) -> Result<Format, Failure> {
    let Some(path) = &args.out else { return Ok(args.format.map_or(Format::Ns2, Format::from)) };
    let shown = path.display();
    if let Some(end) = [".gz", ".zst"].into_iter().find(|end| shown.to_string().ends_with(end)) {
        return Err(Failure::Other(format!(
            "{shown}: files are written as they are: leave {end} away, and pack it then"
        )));
    }
    let told = args.format.map(Format::from).or_else(|| Format::of(&shown.to_string(), b""));
    told.ok_or_else(|| {
        Failure::Other(format!("{shown}: its name does not tell a format: give --format ns-2, bonnmotion or one"))
    })
}

/// How far apart samples are, in formats that have some.
fn step(args: &Args, format: Format) -> Result<Span, Failure> {
    let Some(seconds) = args.step else { return Ok(Span::from_units(1.0)) };
    if format != Format::One {
        return Err(Failure::Other(format!("--step: only files for the ONE have steps, and this is for {format}")));
    }
    if !(0.001..=1e6).contains(&seconds) {
        return Err(Failure::Other(format!("--step {seconds}: it must be from 0.001 to a million seconds")));
    }
    Ok(Span::from_units(seconds))
}

fn check_samples(samples: u64, step: Span) -> Result<(), Failure> {
    if samples <= SAMPLES_MAX {
        return Ok(());
    }
    let (step, enough) = (step.units(), step.units() * samples.div_ceil(SAMPLES_MAX) as f64);
    Err(Failure::Other(format!(
        "with --step {step} there are {samples} places to write, and {SAMPLES_MAX} are the most: take --step {enough}"
    )))
}

/// Whether it is to be read as a file of movements, and not as a field. What is no file at all is refused there.
fn is_of_movements(path: &Path) -> bool {
    let is_no_file = || path.exists() && !path.is_file();
    !field::is_name(path) && (movements::format(path).is_some() || is_no_file())
}

fn read(args: &Args) -> Result<Tracks, Failure> {
    if args.nodes.is_some() || args.seconds.is_some() || args.seed.is_some() {
        let path = args.source.display();
        return Err(Failure::Other(format!(
            "{path} says itself who moves and when: --nodes, --seconds and --seed go with a field"
        )));
    }
    movements::read(&args.source)
}

fn record(args: &Args) -> Result<Tracks, Failure> {
    let seconds = args.seconds.unwrap_or(300.0);
    if !(seconds > 0.0 && seconds <= 1e6) {
        return Err(Failure::Other(format!("--seconds {seconds}: it must be more than 0 and at most a million")));
    }
    let (field, _) = field::read(&args.source).map_err(|failure| neither(&args.source, failure))?;
    let movement = field.movement(args.nodes.unwrap_or(20), args.seed.unwrap_or(1));
    let movement = movement.map_err(|error| Failure::Other(format!("{}: {error}", args.source.display())))?;
    Ok(Tracks::record(movement, Time::from_units(seconds)))
}

/// What is said of a file that is no field: if it is not called one, that it is no file of movements either.
fn neither(path: &Path, failure: Failure) -> Failure {
    let is_toml = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("toml"));
    match (&failure, movements::read(path)) {
        // No text at all: compressed, or in the middle of being so.
        (Failure::Other(_), Err(none)) if !is_toml && path.exists() => none,
        (Failure::Toml(bad), Err(none)) if !is_toml => {
            Failure::Other(format!("this is neither movements nor a field. As movements: {none}. As a field: {bad}"))
        }
        _ => failure,
    }
}

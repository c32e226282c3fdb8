//! `driftlock tracks`: where nodes go on a field, in a file that other simulators read; or one such file as another.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ValueEnum;
use driftlock_field::mobility::{Format, Tracks};
use driftlock_net::Time;

use crate::failure::{Failure, Outcome};
use crate::results::print;
use crate::{field, output};

const EXAMPLES: &str = "\
The movements are those of the first replication of driftlock sim --field FIELD with the same seed and nodes.

Examples:
  driftlock tracks walkers --nodes 20 --seconds 300 --out walkers.ns2      for ns-2 and ns-3
  driftlock tracks nfk --nodes 50 --format bonnmotion > nfk.movements
  driftlock tracks city.fcd.xml --format ns-2 --out city.ns2               what SUMO wrote, for ns-3";

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
    output::check(&args.out)?;
    let tracks = if is_of_movements(&args.source) { read(args)? } else { record(args)? };
    let text = format.write(&tracks).ok_or_else(|| {
        Failure::Other("SUMO's formats are read only: take --format ns-2, bonnmotion or one".to_owned())
    })?;
    match &args.out {
        Some(path) => fs::write(path, text).map_err(|error| Failure::Write { path: path.clone(), error })?,
        None => print(&text)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn format(args: &Args) -> Result<Format, Failure> {
    let of_name = |path: &PathBuf| {
        Format::of(&path.display().to_string(), b"").ok_or_else(|| {
            let path = path.display();
            Failure::Other(format!("{path}: its name does not tell a format: give --format ns-2, bonnmotion or one"))
        })
    };
    match (args.format, &args.out) {
        (Some(written), _) => Ok(written.into()),
        (None, Some(path)) => of_name(path),
        (None, None) => Ok(Format::Ns2),
    }
}

/// Whether the name says that it is a file of movements, not of a field.
fn is_of_movements(path: &Path) -> bool {
    Format::of(&path.display().to_string(), b"").is_some()
}

fn read(args: &Args) -> Result<Tracks, Failure> {
    if args.nodes.is_some() || args.seconds.is_some() || args.seed.is_some() {
        let path = args.source.display();
        return Err(Failure::Other(format!(
            "{path} says itself who moves and when: --nodes, --seconds and --seed go with a field"
        )));
    }
    let (path, name) = (&args.source, args.source.display().to_string());
    let file = File::open(path).map_err(Failure::read(path))?;
    let format = Format::of(&name, b"").unwrap_or(Format::Ns2);
    format.read(&name, BufReader::new(file)).map_err(|error| Failure::Other(error.to_string()))
}

fn record(args: &Args) -> Result<Tracks, Failure> {
    let seconds = args.seconds.unwrap_or(300.0);
    if !(seconds > 0.0 && seconds <= 1e6) {
        return Err(Failure::Other(format!("--seconds {seconds}: it must be more than 0 and at most a million")));
    }
    let (terrain, _) = field::read(&args.source)?;
    let movement = terrain.movement(args.nodes.unwrap_or(20), args.seed.unwrap_or(1));
    let movement = movement.map_err(|error| Failure::Other(format!("{}: {error}", args.source.display())))?;
    Ok(Tracks::record(movement, Time::from_units(seconds)))
}

//! `driftlock replay`: do again what a trace says.

use std::fmt::Display;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};

use driftlock_sim::config::{Config, ConfigError, unknown_repair};
use driftlock_sim::field::FieldError;
use driftlock_sim::run::{replicate, trace_header};
use driftlock_sim::soak::{Case, Crowd};
use driftlock_trace::replay::{Difference, Outcome as Replayed, ReplayError, replay};
use driftlock_trace::{Header, Origin, Reader, Writer};

use crate::failure::{Failure, Outcome};
use crate::results::print;
use crate::{list, movements};

const EXAMPLES: &str = "\
Without --rerun, the recorded inputs are fed to fresh nodes and every output is compared: this needs no seed, and takes
the traces of all worlds. With --rerun, the simulation itself is run again from its seed, and must give the same trace
byte for byte; the folder makes no difference, but a file of movements must be where it was, as seen from the trace.

Examples:
  driftlock sim --entries 20 --replications 1 --trace run.jsonl && driftlock replay run.jsonl
  driftlock replay run.jsonl --rerun
  jq 'select(.node == 7 and .status)' run.jsonl     what changed at node 7";

/// The flags of `driftlock replay`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The trace, as --trace wrote it
    trace: PathBuf,
    /// Run the whole simulation again and compare the traces
    #[arg(long)]
    rerun: bool,
}

pub(crate) fn run(args: &Args) -> Outcome {
    if args.rerun { rerun(&args.trace) } else { replay_steps(&args.trace) }
}

fn open(path: &Path) -> Result<Reader, Failure> {
    Reader::open(path).map_err(|error| Failure::Replay { path: path.to_owned(), error: error.into() })
}

fn replay_steps(path: &Path) -> Outcome {
    let reader = open(path)?;
    let failure = |error: ReplayError| Failure::Replay { path: path.to_owned(), error };
    match replay(reader).map_err(failure)? {
        Replayed::Same { steps, violation } => {
            let ended = violation.map(|what| format!("the recorded run ended with a violation: {what}\n"));
            let ended = ended.unwrap_or_default();
            print(&format!("{}: {steps} steps, every output is the same\n{ended}", path.display()))?;
            Ok(ExitCode::SUCCESS)
        }
        Replayed::Differs(difference) => {
            print(&describe(path, &difference))?;
            Ok(ExitCode::from(1))
        }
    }
}

fn describe(path: &Path, difference: &Difference) -> String {
    let Difference { line, recorded, replayed } = difference;
    let show = |step| serde_json::to_string(step).unwrap_or_default();
    format!(
        "{}: line {line} (node {}) came out differently\n  recorded: {}\n  replayed: {}\n",
        path.display(),
        recorded.node,
        show(recorded),
        show(replayed)
    )
}

/// Runs what the header describes, and compares the two traces.
fn rerun(path: &Path) -> Outcome {
    let mut recorded = open(path)?;
    let bytes = Bytes::default();
    simulate(path, recorded.header(), &bytes)?;
    let bytes = bytes.take();
    let mut again = Reader::new(Box::new(io::Cursor::new(bytes)))
        .map_err(|error| Failure::Replay { path: path.to_owned(), error: error.into() })?;
    let mut same = recorded.header() == again.header();
    let failure = |error: driftlock_trace::ReadError| Failure::Replay { path: path.to_owned(), error: error.into() };
    while same {
        let (was, is) = (recorded.next_line().map_err(failure)?, again.next_line().map_err(failure)?);
        if was.is_none() && is.is_none() {
            let lines = recorded.line();
            print(&format!("{}: {lines} lines, the simulation gives the same trace again\n", path.display()))?;
            return Ok(ExitCode::SUCCESS);
        }
        same = was == is;
    }
    let line = again.line();
    print(&format!("{}: line {line} came out differently when the simulation was run again\n", path.display()))?;
    Ok(ExitCode::from(1))
}

fn simulate(path: &Path, header: &Header, bytes: &Bytes) -> Result<(), Failure> {
    let sink = Box::new(bytes.clone());
    let damaged = |says: &dyn Display| Failure::Other(format!("{}: its first line is damaged: {says}", path.display()));
    match &header.world {
        Origin::Sim { config, replication } => {
            let config: Config = serde_json::from_value(config.clone()).map_err(|error| {
                Failure::Other(format!("{}: its configuration is damaged: {error}", path.display()))
            })?;
            let plan = movements::found_by(path, config).plan().map_err(|error| unplannable(path, &error))?;
            // The configuration as it was recorded: another folder, or another spelling, makes no difference.
            let again = Header { world: header.world.clone(), ..trace_header(&plan, *replication) };
            let writer = Writer::new(sink, &again);
            replicate(&plan, *replication, writer.into()).map_err(Failure::write(path))?;
        }
        Origin::Live { .. } => {
            return Err(Failure::Other(format!(
                "{}: somebody meddled with this run while it went on, so it cannot be run again; leave --rerun out",
                path.display()
            )));
        }
        Origin::Check { command, .. } => {
            return Err(Failure::Other(format!(
                "{}: a counterexample has no simulation to run again; this finds it anew: {command}",
                path.display()
            )));
        }
        Origin::Soak { seed, crowded, on_field, nodes } => {
            let resource = header.resources.first().ok_or_else(|| damaged(&"nothing is shared"))?;
            let algorithm = list::named(&resource.algorithm)?;
            let names = resource.without.iter().map(String::as_str);
            let repairs = algorithm.rules_without(names).map_err(|name| unknown_repair(algorithm, name))?;
            let crowd = Crowd::of(*crowded, *on_field, *nodes).map_err(|error| damaged(&error))?;
            let case = Case::draw(*seed, crowd, algorithm).with_constants(resource.constants.clone());
            let writer = Writer::new(sink, &case.trace_header(algorithm, resource.without.clone()));
            case.run(algorithm, repairs, Some(writer)).map_err(Failure::write(path))?;
        }
    }
    Ok(())
}

/// What a trace says of its run makes no sense any more: most likely a file is not where it was.
fn unplannable(path: &Path, error: &ConfigError) -> Failure {
    let path = path.display();
    match error {
        ConfigError::Field(FieldError::Unreadable { .. }) => Failure::Other(format!(
            "{path}: {error}; the movements are looked for from where the trace is: put the file there, or leave \
             --rerun out"
        )),
        error => Failure::Other(format!("{path}: {error}")),
    }
}

/// A sink whose bytes can be had afterwards.
#[derive(Clone, Default)]
pub(crate) struct Bytes(Arc<Mutex<Vec<u8>>>);

impl Bytes {
    pub(crate) fn take(self) -> Vec<u8> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
    }
}

impl Write for Bytes {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner).write(buffer)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

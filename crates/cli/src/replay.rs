//! `driftlock replay`: do again what a trace says.

use std::fmt::Display;
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};

use driftlock_sim::config::{Config, ConfigError, unknown_repair};
use driftlock_sim::field::FieldError;
use driftlock_sim::run::{replicate, trace_header};
use driftlock_sim::soak::{Case, Crowd};
use driftlock_trace::replay::{Difference, HeaderDifference, Outcome as Replayed, ReplayError, replay};
use driftlock_trace::{Header, Origin, ReadError, Reader, Writer};

use crate::failure::{Failure, Outcome};
use crate::results::print;
use crate::{list, movements};

const EXAMPLES: &str = "\
Without --rerun, the recorded inputs are fed to fresh nodes, and every output and status is compared, those of the first \
line included: this needs no seed, and takes the traces of all worlds. With --rerun, the simulation itself is run again \
from its seed, and must give the same trace byte for byte (once it is decompressed); the folder makes no difference, but \
a file of movements must be where it was, as seen from the trace.

Exit codes: 0 all is the same, 1 something differs, 2 it could not be run, or the trace is damaged.

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
    /// Run the whole simulation again and compare the traces, byte for byte
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
        Replayed::HeaderDiffers(HeaderDifference { place, recorded, replayed }) => {
            let says =
                format!("line 1 came out differently, in {place}\n  recorded: {recorded}\n  replayed: {replayed}");
            print(&format!("{}: {says}\n", path.display()))?;
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

/// Runs what the header describes, and compares the bytes of the two traces.
fn rerun(path: &Path) -> Outcome {
    let bytes = Bytes::default();
    simulate(path, open(path)?.header(), &bytes)?;
    let failure = |error: io::Error| Failure::Replay { path: path.to_owned(), error: ReadError::from(error).into() };
    let recorded = driftlock_trace::bytes(path).map_err(failure)?;
    match difference(recorded, &bytes.take()).map_err(failure)? {
        Ok(lines) => {
            print(&format!("{}: {lines} lines, the simulation gives the same trace again\n", path.display()))?;
            Ok(ExitCode::SUCCESS)
        }
        Err(difference) => {
            print(&format!("{}: {difference}\n", path.display()))?;
            Ok(ExitCode::from(1))
        }
    }
}

/// How many lines two equal traces have, or which line is the first that differs, and how.
fn difference(mut recorded: impl BufRead, again: &[u8]) -> io::Result<Result<u64, String>> {
    let (mut lines, mut was) = (0, Vec::new());
    for is in again.split_inclusive(|&byte| byte == b'\n') {
        was.clear();
        if recorded.read_until(b'\n', &mut was)? == 0 {
            return Ok(Err(format!("it ends after line {lines}, and the simulation, when it was run again, did not")));
        }
        lines += 1;
        if was != is {
            return Ok(Err(format!("line {lines} came out differently when the simulation was run again")));
        }
    }
    if recorded.fill_buf()?.is_empty() {
        return Ok(Ok(lines));
    }
    Ok(Err(format!("the simulation, when it was run again, ended with line {lines}, and line {} is there", lines + 1)))
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

//! The `driftlock` binary: what was typed, what it means, and which world does it.
//!
//! Exit codes: 0 everything held, 1 something was violated, 2 it could not be run.

mod check;
mod clock;
mod constants;
mod demo;
mod failure;
mod field;
mod list;
mod movements;
mod output;
mod progress;
mod replay;
mod reproduce;
mod results;
mod shell;
mod sim;
mod soak;
mod tracks;
mod traffic;
mod view;

use std::io::ErrorKind;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use failure::Failure;
use mimalloc::MiMalloc;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

const EXAMPLES: &str = "\
Examples:
  driftlock demo                                    watch it, meddle with it
  driftlock list                                    the algorithms
  driftlock sim --algorithm krlf --load 0.1         simulate one
  driftlock sim --trace run.jsonl --entries 50      record every step
  driftlock view run.jsonl                          look at them in a browser
  driftlock replay run.jsonl                        do the same steps again and compare
  driftlock soak krlf --runs 10000                  random faults, then every node must be served
  driftlock check krl                               every order of events in a small network
  driftlock check krl --as-published                the shortest way to break the paper's text
  driftlock reproduce krl                           the paper's figures, and whether its claims hold
  driftlock traffic --nodes 100                     what radios and routes are worth on a field that moves
  driftlock tracks walkers --out walkers.ns2        where nodes go there, for ns-2 and ns-3

Exit codes: 0 everything held, 1 something was violated, 2 it could not be run.";

/// Share k units of a resource in a network that moves, loses links and has no server.
#[derive(Parser)]
#[command(name = "driftlock", version, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Watch nodes share docks on a field, and meddle with them, in a browser
    Demo(demo::Args),
    /// List the algorithms, or show one of them
    List(list::Args),
    /// Simulate an algorithm and measure it
    Sim(Box<sim::Args>),
    /// Repeat the steps of a trace and compare every output
    Replay(replay::Args),
    /// Break links at random, heal the network, and see that every node is served
    Soak(soak::Args),
    /// Explore every order of events in a small network
    Check(Box<check::Args>),
    /// Run a paper's experiments, draw its figures and judge its claims
    Reproduce(reproduce::Args),
    /// Write down where nodes go on a field, for other simulators
    Tracks(tracks::Args),
    /// Send requests and replies over routes on a moving field, and measure it
    Traffic(Box<traffic::Args>),
    /// Show a trace in a browser
    View(view::Args),
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Demo(args) => demo::run(&args),
        Command::List(args) => list::run(&args),
        Command::Sim(args) => sim::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Soak(args) => soak::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Reproduce(args) => reproduce::run(&args),
        Command::Tracks(args) => tracks::run(&args),
        Command::Traffic(args) => traffic::run(&args),
        Command::View(args) => view::run(&args),
    };
    outcome.unwrap_or_else(|failure| {
        // A reader that closed the pipe, `head` for one, has read enough.
        if matches!(&failure, Failure::Stdout(error) if error.kind() == ErrorKind::BrokenPipe) {
            return ExitCode::SUCCESS;
        }
        eprintln!("{:?}", miette::Report::new(failure));
        ExitCode::from(2)
    })
}

//! `driftlock list`: what there is.

use std::fmt::Write as _;
use std::process::ExitCode;

use driftlock_protocol::{ALGORITHMS, Algorithm};

use crate::failure::{Failure, Outcome};
use crate::results::print;

/// The flags of `driftlock list`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Show this algorithm: its paper, the repairs of the paper's text that can be switched off, and the constants that
    /// can be set
    algorithm: Option<String>,
}

pub(crate) fn run(args: &Args) -> Outcome {
    match &args.algorithm {
        None => print(&overview())?,
        Some(tag) => print(&details(named(tag)?))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The algorithm of this name, or the sentence that says which names there are.
pub(crate) fn named(tag: &str) -> Result<&'static Algorithm, Failure> {
    let unknown = || driftlock_sim::config::ConfigError::UnknownAlgorithm(tag.to_owned());
    Ok(Algorithm::named(tag).ok_or_else(unknown)?)
}

fn overview() -> String {
    let width = ALGORITHMS.iter().map(|algorithm| algorithm.tag.len()).max().unwrap_or(0);
    ALGORITHMS.iter().fold(String::new(), |mut text, algorithm| {
        let _ = writeln!(text, "{:width$}  {}", algorithm.tag, algorithm.summary);
        text
    })
}

fn details(algorithm: &Algorithm) -> String {
    let paper = algorithm.paper;
    let mut text =
        format!("{}: {}\n\n{}: \"{}\", {}\n", algorithm.tag, algorithm.summary, paper.authors, paper.title, paper.year);
    text += match algorithm.repairs() {
        [] if algorithm.guards().is_empty() => "\nThe paper's text is in force as it was published.\n",
        [] => "\nWhat is ours alone has no repairs of the paper's text.\n",
        _ => "\nRepairs of the paper's text, which --without NAME switches off:\n",
    };
    let width = algorithm.repairs().iter().map(|repair| repair.name.len()).max().unwrap_or(0);
    for repair in algorithm.repairs() {
        let _ = writeln!(text, "  {:width$}  {}", repair.name, repair.summary);
    }
    text + &constants(algorithm)
}

/// The numbers that can be set, as they usually are.
fn constants(algorithm: &Algorithm) -> String {
    let constants = algorithm.constants();
    if constants.is_empty() {
        return String::new();
    }
    let mut text = "\nConstants of our own, which --constant NAME=VALUE sets, times in seconds:\n".to_owned();
    let names = constants.iter().map(|(name, ..)| name.len()).max().unwrap_or(0);
    let values = constants.iter().map(|(_, usual, _)| usual.len()).max().unwrap_or(0);
    for (name, usual, says) in constants {
        let _ = writeln!(text, "  {name:names$}  {usual:>values$}  {says}");
    }
    text
}

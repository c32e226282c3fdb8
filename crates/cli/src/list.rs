//! `driftlock list`: what there is.

use std::fmt::Write as _;
use std::process::ExitCode;

use driftlock_protocol::{ALGORITHMS, Algorithm, Harm};

use crate::failure::{Failure, Outcome};
use crate::results::print;

/// The flags of `driftlock list`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Show this algorithm: its paper, the repairs of the paper's text that can be switched off, what it claims to
    /// stand, and the constants that can be set
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
        [] if algorithm.guards().is_empty() => {
            "\nThere are no repairs of the paper's text that could be switched off.\n"
        }
        [] => "\nWhat is ours alone has no repairs of the paper's text.\n",
        _ => "\nRepairs of the paper's text, which --without NAME switches off:\n",
    };
    let width = algorithm.repairs().iter().map(|repair| repair.name.len()).max().unwrap_or(0);
    for repair in algorithm.repairs() {
        let _ = writeln!(text, "  {:width$}  {}", repair.name, repair.summary);
    }
    text + &claims(algorithm) + &constants(algorithm)
}

/// What may befall nodes and messages beyond what its paper assumes.
fn claims(algorithm: &Algorithm) -> String {
    let harms = [
        (Harm::Crash, "a node that stops for good"),
        (Harm::Restart, "a node that is killed and comes back with what it had stored, as often as one likes"),
        (Harm::DiskLoss, "a node that has lost its disk"),
        (Harm::Loss, "lost messages, and late ones"),
        (Harm::Overtaking, "messages that overtake one another"),
    ];
    let claimed: Vec<_> = harms.into_iter().filter(|(harm, _)| algorithm.claims().stand(*harm)).collect();
    if claimed.is_empty() {
        return "\nIt claims to stand nothing beyond what its paper assumes.\n".into();
    }
    let start = "\nIt claims to stand, which soak draws and check searches:\n".to_owned();
    claimed.into_iter().fold(start, |text, (_, says)| text + "  " + says + "\n")
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

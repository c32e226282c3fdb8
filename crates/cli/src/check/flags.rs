//! The flags of `driftlock check`, and what they mean.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;
use driftlock_check::{Bound, EVENTS_MAX, Networks, Property, Setup, Timing};
use driftlock_protocol::{Algorithm, Deployment, Repairs, Terms};
use driftlock_sim::config::{ConfigError, unknown_repair};

use super::demands::Menu;
use super::layer::{self, LifeFlags, LinkFlags, NeighbourhoodFlags};
use super::{effect, units_fit};
use crate::constants::ConstantFlags;
use crate::failure::Failure;
use crate::view::At;
use crate::{list, progress};

const EXAMPLES: &str = "\
Every order of events is explored: messages arrive in any order that channels allow, applications ask and release, links
fail and form or nodes enter and leave, timers fire, each as often as the bounds say. In every state at most k units are in use, every permit
exists once, the algorithm's own lemmas hold, and no node waits in vain; when all states are known, it is decided on
their graph whether a node that waits can be passed over for ever. docs/check.md explains bounds and verdicts.

Examples:
  driftlock check krl                                       a few seconds
  driftlock check krl --as-published                        the paper's own text, and how it breaks
  driftlock check krl --as-published --view                 the same, step by step in a browser
  driftlock check krl --without holder-lowers --ignore invariant --chart deadlock.svg
  driftlock check krlf --nodes 3 --k 2 --requests 2 --link-changes 0 --topology all
  driftlock check hok --nodes 3 --k 3 --units 1..3 --link-changes 0
  driftlock check hok --k 2 --units 1,2 --priorities 0,1    every request chooses
  driftlock check klme --nodes 3 --k 1 --crossings 1        one node leaves the neighbourhood, one enters
  driftlock check krl --nodes 4 --k 2 --budget 30s          as far as it comes in 30 s
  driftlock check krlf --over-radios                        with idle tokens that rest at each node: some minutes
  driftlock check krlf --nodes 4 --k 2 --walks 1000000      random walks through the same states

Exit codes: 0 no violation (also when a limit ended the search, which is said), 1 a violation, 2 it could not be run.";

/// The flags of `driftlock check`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
#[allow(clippy::struct_excessive_bools)] // each is a switch of its own
pub(crate) struct Args {
    /// The algorithm: see driftlock list
    algorithm: String,
    /// How many nodes, up to 8
    #[arg(long, default_value_t = 3)]
    nodes: u32,
    /// How many units, up to 8
    #[arg(long, default_value_t = 1)]
    k: u32,
    /// Requests of each node: a number, or any
    #[arg(long, default_value = "1", value_parser = bound)]
    requests: Bound,
    /// Requests of all nodes together
    #[arg(long, value_name = "NUMBER", default_value = "any", hide_default_value = true, value_parser = bound)]
    requests_in_all: Bound,
    #[command(flatten)]
    pub(super) menu: Menu,
    /// Requests that each node may withdraw: a number, or any
    #[arg(long, default_value = "0", value_parser = bound)]
    cancels: Bound,
    #[command(flatten)]
    pub(super) links: LinkFlags,
    #[command(flatten)]
    pub(super) neighbourhood: NeighbourhoodFlags,
    #[command(flatten)]
    pub(super) lives: LifeFlags,
    /// So many applications may keep their units for ever, and no other may be stuck behind them (looked for in states
    /// in which nothing else moves)
    #[arg(long, default_value_t = 0)]
    stay: u8,
    /// Let time pass in ticks instead of letting any armed timer fire
    #[arg(long)]
    pub(super) timed: bool,
    /// How long a tick is
    #[arg(long, default_value = "10s", value_parser = duration, requires = "timed")]
    tick: Duration,
    /// By how many ticks two clocks may come to differ
    #[arg(long, default_value_t = 0, requires = "timed")]
    drift: u8,
    /// How many times a node may pause
    #[arg(long, default_value_t = 0, requires = "timed", value_parser = clap::value_parser!(u8).range(..=250))]
    pub(super) pauses: u8,
    /// How far heights, or counts of grants, may lie apart, or any; what would take them further is counted, not
    /// followed. Without it, three for each hop if links change or requests have no end, and any otherwise
    #[arg(long, value_name = "NUMBER", value_parser = spread)]
    spread: Option<u64>,
    /// Keep the algorithm's own constants as they are in use, instead of as small as possible
    #[arg(long)]
    pub(super) usual_constants: bool,
    /// Search the algorithm as it is over radios: krlf's idle tokens rest at each node
    #[arg(long)]
    pub(super) over_radios: bool,
    /// Switch a repair of the paper's text off; several as NAME,NAME or by several flags
    #[arg(long, value_name = "REPAIR", value_delimiter = ',')]
    without: Vec<String>,
    /// Switch all repairs off: the paper as published
    #[arg(long, conflicts_with = "without")]
    pub(super) as_published: bool,
    #[command(flatten)]
    constants: ConstantFlags,
    /// Do not ask for this property; may be given several times
    #[arg(long, value_name = "PROPERTY", value_parser = property)]
    pub(super) ignore: Vec<Property>,
    /// Ask for this property, too: calm is not asked for otherwise
    #[arg(long, value_name = "PROPERTY", value_parser = property)]
    pub(super) also: Vec<Property>,
    /// Keep no graph, and so decide no liveness beyond states where nothing moves: takes half the memory
    #[arg(long, conflicts_with = "walks")]
    pub(super) safety_only: bool,
    /// End after this time, such as 30s, 5m or 1h
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(super) budget: Option<Duration>,
    /// End after about so many states
    #[arg(long, value_name = "NUMBER", conflicts_with = "walks", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) max_states: Option<u64>,
    /// End when this much memory is in use
    #[arg(long, value_name = "SIZE", default_value = "12GiB", value_parser = size, conflicts_with = "walks")]
    pub(super) max_memory: Size,
    /// Make random walks instead, so many of them
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) walks: Option<u64>,
    /// The seed of the random walks
    #[arg(long, default_value_t = 1, requires = "walks")]
    pub(super) seed: u64,
    /// Write the counterexample to this file, for driftlock replay
    #[arg(long, value_name = "FILE")]
    pub(super) trace: Option<PathBuf>,
    /// Show the counterexample in a browser
    #[arg(long)]
    pub(super) view: bool,
    #[command(flatten)]
    pub(super) at: At,
    /// Draw the counterexample as a message sequence chart: .svg is a picture, anything else is Mermaid
    #[arg(long, value_name = "FILE")]
    pub(super) chart: Vec<PathBuf>,
    /// How the verdict is printed
    #[arg(long, value_enum, default_value = "text")]
    pub(super) format: Format,
    /// Threads to use; 0 is one for each core
    #[arg(long, default_value_t = 0, value_parser = progress::threads)]
    pub(super) threads: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(super) enum Format {
    /// For people
    Text,
    /// Like text, but without what differs from run to run
    Transcript,
    /// One object on one line
    Json,
    /// A row of a Markdown table
    Markdown,
}

/// A number of bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Size(pub(super) u64);

/// What was asked for.
pub(super) struct Plan {
    pub(super) algorithm: &'static Algorithm,
    pub(super) repairs: Repairs,
    /// The names of the repairs that are switched off.
    pub(super) without: Vec<String>,
    pub(super) networks: Networks,
    /// What a request may ask for.
    pub(super) menu: Menu,
    /// How many random walks, and their seed.
    pub(super) walks: Option<(u64, u64)>,
    /// Whether no liveness is decided.
    pub(super) safety_only: bool,
    /// For each network; its links are still to be filled in.
    pub(super) setup: Setup,
}

impl Args {
    pub(super) fn plan(&self) -> Result<Plan, Failure> {
        let algorithm = list::named(&self.algorithm)?;
        let mut without: Vec<String> = if self.as_published {
            algorithm.repairs().iter().map(|repair| repair.name.to_owned()).collect()
        } else {
            self.without.clone()
        };
        let mut named = BTreeSet::new();
        without.retain(|name| named.insert(name.clone()));
        let names = without.iter().map(String::as_str);
        let repairs = algorithm.rules_without(names).map_err(|name| unknown_repair(algorithm, name))?;
        let networks = self.links.networks(self.nodes)?;
        let setup = self.setup(algorithm)?;
        units_fit(algorithm, self.k, &setup.demands)?;
        effect::check(self, algorithm)?;
        // Before links are drawn up for a billion nodes.
        setup.validate().map_err(|error| Failure::Other(error.to_string()))?;
        let walks = self.walks.map(|walks| (walks, self.seed));
        let (menu, safety_only) = (self.menu.clone(), self.safety_only);
        Ok(Plan { algorithm, repairs, without, networks, menu, walks, safety_only, setup })
    }

    fn setup(&self, algorithm: &'static Algorithm) -> Result<Setup, Failure> {
        let deployment = Deployment { nodes: self.nodes, k: self.k, ..Deployment::default() };
        let mut setup = Setup::still(deployment, self.requests);
        setup.demands = self.menu.demands()?;
        setup.requests_in_all = self.requests_in_all;
        setup.cancels = self.cancels;
        layer::apply(algorithm, &self.links, &self.neighbourhood, &self.lives, &mut setup)?;
        setup.spread = self.spread.unwrap_or_else(|| setup.usual_spread());
        setup.stay = self.stay;
        setup.small_scale = !self.usual_constants;
        setup.over_radios = self.over_radios;
        self.constants.check()?;
        setup.constants = self.constants.constants();
        let terms =
            Terms { small_scale: setup.small_scale, over_radios: setup.over_radios, constants: &setup.constants };
        algorithm.check(terms).map_err(|error| ConfigError::Constant { algorithm: algorithm.tag, error })?;
        if self.timed {
            setup.timing = Timing::Timed { tick: self.tick, drift: self.drift, pauses: self.pauses };
        }
        setup.properties = self.also.iter().fold(setup.properties, |set, &property| set.with(property));
        setup.properties = self.ignore.iter().fold(setup.properties, |set, &property| set.without(property));
        Ok(setup)
    }
}

pub(super) fn bound(text: &str) -> Result<Bound, String> {
    if text == "any" {
        return Ok(Bound::Any);
    }
    let count = text.parse::<u8>().ok().filter(|&count| count <= EVENTS_MAX);
    count.map(Bound::Most).ok_or_else(|| format!("a number from 0 to {EVENTS_MAX}, or any"))
}

fn spread(text: &str) -> Result<u64, String> {
    if text == "any" {
        return Ok(u64::MAX);
    }
    text.parse().map_err(|_| "a number, or any".to_owned())
}

fn property(name: &str) -> Result<Property, String> {
    let names: Vec<_> = Property::ALL.into_iter().map(Property::name).collect();
    let found = Property::ALL.into_iter().find(|property| property.name() == name);
    found.ok_or_else(|| format!("the properties are {}", names.join(", ")))
}

fn duration(text: &str) -> Result<Duration, String> {
    let explain = || "a time such as 30s, 500ms, 5m or 1h".to_owned();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let number: u64 = digits.parse().map_err(|_| explain())?;
    let milliseconds = match &text[digits.len()..] {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return Err(explain()),
    };
    let total = number.checked_mul(milliseconds).filter(|&total| total > 0).ok_or_else(explain)?;
    Ok(Duration::from_millis(total))
}

fn size(text: &str) -> Result<Size, String> {
    let explain = || "a size such as 500MiB or 12GiB".to_owned();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let number: u64 = digits.parse().map_err(|_| explain())?;
    let unit = match &text[digits.len()..] {
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return Err(explain()),
    };
    number.checked_mul(unit).filter(|&bytes| bytes > 0).map(Size).ok_or_else(explain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_sizes_have_units() {
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("2h"), Ok(Duration::from_secs(7_200)));
        assert!(
            ["", "s", "30", "0s", "-1s", "1.5s", "1d", "99999999999999999999h"].iter().all(|t| duration(t).is_err())
        );
        assert_eq!(size("12GiB"), Ok(Size(12 << 30)));
        assert!(["", "12", "12GB", "0MiB"].iter().all(|text| size(text).is_err()));
    }

    #[test]
    fn a_bound_is_a_number_or_any() {
        assert_eq!((bound("2"), bound("any")), (Ok(Bound::Most(2)), Ok(Bound::Any)));
        assert!(["251", "-1", "two", ""].iter().all(|text| bound(text).is_err()));
    }
}

//! Why a configuration makes no sense, in sentences.

use driftlock_field::mobility::ModelError;
use driftlock_field::sites::SitesError;
use driftlock_protocol::registry::UnitsRule;
use driftlock_protocol::{ALGORITHMS, Algorithm, K_MAX, NODES_MAX, Urgency, WrongConstant};
use thiserror::Error;

use super::{LINKS_MAX, PLACES_MAX};
use crate::demand::Numbers;
use crate::field::FieldError;
use crate::layout::{Layout, LayoutError};

/// Why a configuration makes no sense.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum ConfigError {
    /// No such algorithm.
    #[error("there is no algorithm {0:?}; there are {list}", list = tags_of(|_| true))]
    UnknownAlgorithm(String),
    /// No such repair.
    #[error("{algorithm} has no repair {repair:?}; {}", instead_of(repair, algorithm))]
    UnknownRepair {
        /// The algorithm's tag.
        algorithm: &'static str,
        /// The unknown name.
        repair: String,
    },
    /// A rule of another algorithm.
    #[error("{algorithm} has no LinkInfo rule: link_info is for krl and its variants")]
    NoLinkInfo {
        /// The algorithm's tag.
        algorithm: &'static str,
    },
    /// Nothing was published, or it is in force as it was.
    #[error("{algorithm} {}: leave as-published out", nothing_published(algorithm))]
    NothingPublished {
        /// The algorithm's tag.
        algorithm: &'static str,
    },
    /// A field on which no node could be.
    #[error("the field: {0}")]
    Field(FieldError),
    /// Decreed where the radios decide.
    #[error("{name} has no meaning on a field: there {}", on_field(name))]
    NotOnTheField {
        /// The parameter.
        name: &'static str,
    },
    /// No node there.
    #[error("nodes must be from 1 to {NODES_MAX}, not {0}")]
    Nodes(u32),
    /// Nothing to share, or too much.
    #[error("k must be from 1 to {K_MAX}, not {0}")]
    Units(u32),
    /// The paper assumes k < n.
    #[error("{algorithm} needs fewer tokens than nodes (k < n), but k = {k} and n = {nodes}")]
    TooManyUnits {
        /// The algorithm's tag.
        algorithm: &'static str,
        /// Units asked for.
        k: u32,
        /// Nodes asked for.
        nodes: u32,
    },
    /// The algorithm shares a single unit.
    #[error("{algorithm} shares exactly one unit (k = 1), not {k}; several are shared by {}", tags_of(|algorithm| algorithm.units != UnitsRule::One))]
    OnlyOneUnit {
        /// The algorithm's tag.
        algorithm: &'static str,
        /// Units asked for.
        k: u32,
    },
    /// Requests that could never be granted, or that ask for nothing.
    #[error("units must be from 1 to k = {k}, not {units}")]
    UnitsOfRequests {
        /// What requests would ask for.
        units: Numbers,
        /// What there is.
        k: u32,
    },
    /// The algorithm grants units one by one.
    #[error("{algorithm} grants one unit at a time, but units = {units}; several are granted by {}",
        tags_of(|algorithm| algorithm.units == UnitsRule::Several))]
    OneAtATime {
        /// The algorithm's tag.
        algorithm: &'static str,
        /// What requests would ask for.
        units: Numbers,
    },
    /// A parameter of a layer that the algorithm does not stand on.
    #[error("{algorithm} has no {name}: that is for algorithms that stand on {other}{}", or_on_field(name))]
    NotOfThisLayer {
        /// The algorithm's tag.
        algorithm: &'static str,
        /// What it does not stand on.
        other: &'static str,
        /// Which parameter.
        name: &'static str,
    },
    /// What comes of it then is no result.
    #[error("{algorithm} does not claim to survive that nodes are killed: restarts must be 0")]
    NoRestarts {
        /// The algorithm's tag.
        algorithm: &'static str,
    },
    /// No node could be in two places.
    #[error("churn and speed are two ways to move: give one of them")]
    TwoWaysToMove,
    /// Two rates of requests.
    #[error("{} {means} {}, not {load}: give one of them", words.0, words.1)]
    TwoLoads {
        /// What was asked for in other words, and why it means that.
        words: (String, String),
        /// The load that it stands for.
        means: f64,
        /// As asked for.
        load: f64,
    },
    /// Two other ways to say it.
    #[error("load_of_all and {name} say the load in two ways: give one of them")]
    ThreeLoads {
        /// The other parameter.
        name: &'static str,
    },
    /// Constants that it does not have, or that make no sense.
    #[error("{algorithm}: {error}")]
    Constant {
        /// The algorithm's tag.
        algorithm: &'static str,
        /// What is wrong.
        error: WrongConstant,
    },
    /// Sites that make no sense.
    #[error(transparent)]
    Sites(#[from] SitesError),
    /// A walk that makes no sense.
    #[error("the walk: {0}")]
    Walk(ModelError),
    /// More places than fit.
    #[error("{nodes} nodes in {neighbourhoods} neighbourhoods are too many: their product may be {PLACES_MAX} at most")]
    TooManyPlaces {
        /// Nodes asked for.
        nodes: u32,
        /// Neighbourhoods asked for.
        neighbourhoods: u32,
    },
    /// A rate that is none.
    #[error("{name} must be a finite number {bound}, not {value:?}")]
    Number {
        /// Which parameter.
        name: &'static str,
        /// What it may be.
        bound: &'static str,
        /// What it is.
        value: f64,
    },
    /// Not enough links.
    #[error(
        "connectivity {connectivity} is too small to connect {nodes} nodes: {links} links, but {needed} are needed \
         (connectivity of at least {least:.4})"
    )]
    NotConnected {
        /// As asked for.
        connectivity: f64,
        /// Nodes asked for.
        nodes: u32,
        /// Links that this makes.
        links: u64,
        /// Links that a tree has.
        needed: u64,
        /// The smallest share that does.
        least: f64,
    },
    /// Links that make no network.
    #[error("topology: {0}")]
    Topology(LayoutError),
    /// A share of links that are all named.
    #[error("connectivity is for random graphs: which links there are, topology = {topology} says")]
    NotRandom {
        /// As asked for.
        topology: Layout,
    },
    /// Something about a node that is not there.
    #[error("{name} speaks of node {node}, but there are {nodes} nodes, counted from 0")]
    NoSuchNode {
        /// Which parameter.
        name: &'static str,
        /// Whom it speaks of.
        node: u32,
        /// Nodes asked for.
        nodes: u32,
    },
    /// The algorithm serves all priorities alike.
    #[error(
        "{algorithm} does not go by priorities, so priority_of means nothing to it: it is for {list}",
        list = tags_of(|algorithm| algorithm.urgency() == Urgency::Priority)
    )]
    NoPriorities {
        /// The algorithm's tag.
        algorithm: &'static str,
    },
    /// Nothing to count, or more than a run could wait for.
    #[error("{name} must be from {least} to {most}, not {value}")]
    Count {
        /// Which parameter.
        name: &'static str,
        /// What it is.
        value: u64,
        /// The least it may be.
        least: u64,
        /// The most it may be.
        most: u64,
    },
    /// More links than fit.
    #[error("{links} links are too many: at most {LINKS_MAX} are simulated; lower nodes or connectivity")]
    TooManyLinks {
        /// Links asked for.
        links: u64,
    },
}

pub(crate) fn tags_of(is_meant: impl Fn(&Algorithm) -> bool) -> String {
    ALGORITHMS
        .iter()
        .filter(|algorithm| is_meant(algorithm))
        .map(|algorithm| algorithm.tag)
        .collect::<Vec<_>>()
        .join(", ")
}

/// Why there is nothing as published.
fn nothing_published(tag: &str) -> &'static str {
    let is_ours = Algorithm::named(tag).is_some_and(|algorithm| !algorithm.guards().is_empty());
    if is_ours {
        "is not from a paper, so there is nothing as published"
    } else {
        "has no repairs of its paper's text that could be switched off"
    }
}

/// What can be switched off instead of this, or where this can be.
fn instead_of(name: &str, tag: &str) -> String {
    let (repairs, guards) =
        Algorithm::named(tag).map_or_else(Default::default, |algorithm| (algorithm.repairs(), algorithm.guards()));
    if guards.iter().any(|guard| guard.name == name) {
        return "it is a rule of its own, which only check and soak switch off: leave it out".into();
    }
    let names = repairs.iter().map(|repair| repair.name).collect::<Vec<_>>().join(", ");
    match (names.is_empty(), guards.is_empty()) {
        (false, _) => format!("it has {names}"),
        (true, true) => "it has none: leave it out".into(),
        (true, false) => format!("docs/papers/{tag}.md has its own rules, which check and soak can switch off"),
    }
}

/// What takes the place of a parameter on a field.
fn on_field(name: &str) -> &'static str {
    match name {
        "restarts" => "nodes restart by faults, as in [[fault]] with kind = \"restart\" and memory = \"kept\"",
        _ => "it is a matter of movement, radio and faults",
    }
}

/// Where a parameter is to be had all the same.
fn or_on_field(name: &str) -> &'static str {
    if name == "restarts" { "; nodes of others restart on a field, by its faults" } else { "" }
}

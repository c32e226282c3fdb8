//! What is simulated. Everything has a default; nonsense is refused in a sentence.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use driftlock_net::ideal::Fate;
use driftlock_protocol::registry::UnitsRule;
use driftlock_protocol::{ALGORITHMS, Algorithm, K_MAX, NODES_MAX, Repairs};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::demand::{Deadlines, Demands, Numbers};
use crate::random::Duration;
use crate::topology::{links_at, possible_links};

/// The most links that a simulation takes.
const LINKS_MAX: u64 = 10_000_000;
/// The most replications, and entries in each.
const REPLICATIONS_MAX: u64 = 10_000;
const ENTRIES_MAX: u64 = 100_000_000;

/// The repair behind [`LinkInfoRule`].
const LINK_INFO: &str = driftlock_protocol::krl::repair::LINK_INFO.name;

/// Who is sent `LinkInfo` when a height is lowered, for the algorithms that have such messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkInfoRule {
    /// As the paper says.
    Published,
    /// Exactly those for whom the link has turned.
    Repaired,
}

impl fmt::Display for LinkInfoRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Published => "published",
            Self::Repaired => "repaired",
        })
    }
}

impl FromStr for LinkInfoRule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "published" => Ok(Self::Published),
            "repaired" => Ok(Self::Repaired),
            _ => Err(format!("{text:?} is no LinkInfo rule: it is either published or repaired")),
        }
    }
}

/// A simulation, as a person writes it down.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The algorithm's tag.
    pub algorithm: String,
    /// The paper's n.
    pub nodes: u32,
    /// The paper's k.
    pub k: u32,
    /// The rate of each node's next request after it has left the CS, per time unit.
    pub load: f64,
    /// The share of the possible links that are up.
    pub connectivity: f64,
    /// Changes of the graph per time unit, in the whole network.
    pub mobility: f64,
    /// How long an application stays in the CS.
    pub cs_time: Duration,
    /// How many units a request asks for.
    pub units: Numbers,
    /// How urgent a request is; the larger is the more urgent.
    pub priorities: Numbers,
    /// How long after the request its deadline lies.
    pub deadlines: Deadlines,
    /// How long a message takes.
    pub delay: Duration,
    /// What becomes of messages on a link that fails.
    pub link_failure: Fate,
    /// Who is told of a lowered height.
    pub link_info: LinkInfoRule,
    /// Repairs of the paper's text to switch off, by name.
    pub without: Vec<String>,
    /// Switch all repairs off.
    pub as_published: bool,
    /// Entries before counting begins, in each replication.
    pub warmup: u64,
    /// Entries that are counted, in each replication.
    pub entries: u64,
    /// Independent repetitions.
    pub replications: u32,
    /// From which all randomness follows.
    pub seed: u64,
    /// Check every invariant after every event.
    pub check: bool,
}

impl Default for Config {
    /// The paper's network of 30 nodes and 3 tokens, moderately loaded.
    fn default() -> Self {
        Self {
            algorithm: "krl".into(),
            nodes: 30,
            k: 3,
            load: 0.1,
            connectivity: 0.2,
            mobility: 0.0,
            cs_time: Duration::Constant(1.0),
            units: Numbers::only(1),
            priorities: Numbers::only(0),
            deadlines: Deadlines::None,
            delay: Duration::Constant(1.0),
            link_failure: Fate::Drained,
            link_info: LinkInfoRule::Repaired,
            without: Vec::new(),
            as_published: false,
            warmup: 500,
            entries: 5_000,
            replications: 5,
            seed: 1,
            check: false,
        }
    }
}

/// Why a configuration makes no sense.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum ConfigError {
    /// No such algorithm.
    #[error("there is no algorithm {0:?}; there are {list}", list = tags())]
    UnknownAlgorithm(String),
    /// No such repair.
    #[error("{algorithm} has no repair {repair:?}; it has {list}", list = repair_names(algorithm))]
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
    /// Nobody there.
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
    #[error("{algorithm} shares exactly one unit (k = 1), not {k}; krl shares several")]
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
    #[error("{algorithm} grants one unit at a time, but units = {units}; hok grants several")]
    OneAtATime {
        /// The algorithm's tag.
        algorithm: &'static str,
        /// What requests would ask for.
        units: Numbers,
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
    /// Nothing to count, or more than anybody could wait for.
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

fn tags() -> String {
    ALGORITHMS.iter().map(|algorithm| algorithm.tag).collect::<Vec<_>>().join(", ")
}

fn repair_names(tag: &str) -> String {
    let repairs = Algorithm::named(tag).map_or(&[][..], Algorithm::repairs);
    repairs.iter().map(|repair| repair.name).collect::<Vec<_>>().join(", ")
}

/// A simulation that makes sense.
#[derive(Clone, PartialEq, Debug)]
pub struct Plan {
    /// What was asked for.
    pub config: Config,
    /// The algorithm itself.
    pub algorithm: &'static Algorithm,
    /// The repairs in force.
    pub repairs: Repairs,
    /// The names of the repairs that are not.
    pub without: Vec<String>,
    /// How many links the graph starts with.
    pub links: u64,
}

impl Config {
    /// Refuses what makes no sense.
    pub fn plan(self) -> Result<Plan, ConfigError> {
        let algorithm =
            Algorithm::named(&self.algorithm).ok_or_else(|| ConfigError::UnknownAlgorithm(self.algorithm.clone()))?;
        self.check_sizes(algorithm)?;
        self.check_demands(algorithm)?;
        self.check_numbers()?;
        let links = self.check_links()?;
        let (repairs, without) = self.repairs_of(algorithm)?;
        // However it was switched off: every output states the rule that was in force.
        let published = without.iter().any(|name| name == LINK_INFO);
        let link_info = if published { LinkInfoRule::Published } else { LinkInfoRule::Repaired };
        Ok(Plan { algorithm, repairs, without, links, config: Self { link_info, ..self } })
    }

    fn check_sizes(&self, algorithm: &'static Algorithm) -> Result<(), ConfigError> {
        let (nodes, k, tag) = (self.nodes, self.k, algorithm.tag);
        if nodes == 0 || nodes > NODES_MAX {
            return Err(ConfigError::Nodes(nodes));
        }
        if k == 0 || k > K_MAX {
            return Err(ConfigError::Units(k));
        }
        match algorithm.units {
            UnitsRule::One if k != 1 => return Err(ConfigError::OnlyOneUnit { algorithm: tag, k }),
            UnitsRule::One | UnitsRule::FewerThanNodes if k >= nodes => {
                return Err(ConfigError::TooManyUnits { algorithm: tag, k, nodes });
            }
            UnitsRule::One | UnitsRule::FewerThanNodes | UnitsRule::AnyNumber | UnitsRule::Several => {}
        }
        for (name, value, least, most) in [
            ("entries", self.entries, 1, ENTRIES_MAX),
            ("warmup", self.warmup, 0, ENTRIES_MAX),
            ("replications", u64::from(self.replications), 1, REPLICATIONS_MAX),
        ] {
            if !(least..=most).contains(&value) {
                return Err(ConfigError::Count { name, value, least, most });
            }
        }
        Ok(())
    }

    fn check_demands(&self, algorithm: &'static Algorithm) -> Result<(), ConfigError> {
        let (units, k) = (&self.units, self.k);
        let several = algorithm.units == UnitsRule::Several;
        if units.low() == 0 || (several && units.high() > k) {
            return Err(ConfigError::UnitsOfRequests { units: units.clone(), k });
        }
        if !several && units.high() > 1 {
            return Err(ConfigError::OneAtATime { algorithm: algorithm.tag, units: units.clone() });
        }
        Ok(())
    }

    fn check_numbers(&self) -> Result<(), ConfigError> {
        let number = |name, bound, value: f64, range: RangeInclusive<f64>| {
            if range.contains(&value) { Ok(()) } else { Err(ConfigError::Number { name, bound, value }) }
        };
        // The bounds keep simulated time within its 64 bits of nanoseconds. Without any delay, moreover, an idle token
        // that is forwarded would go round for ever in no time.
        number("load", "from 0.000001 to 1000000", self.load, 1e-6..=1e6)?;
        number("mobility", "from 0 to 1000", self.mobility, 0.0..=1e3)?;
        number("connectivity", "from 0 to 1", self.connectivity, 0.0..=1.0)?;
        number("the mean delay", "from 0.000001 to 1000000", self.delay.mean(), 1e-6..=1e6)?;
        let deadline = self.deadlines.mean().unwrap_or_default();
        number("the mean time until a deadline", "from 0 to 1000000", deadline, 0.0..=1e6)?;
        number("the mean CS time", "from 0 to 1000000", self.cs_time.mean(), 0.0..=1e6)
    }

    fn check_links(&self) -> Result<u64, ConfigError> {
        let links = links_at(self.nodes, self.connectivity);
        let needed = u64::from(self.nodes - 1);
        if links < needed {
            return Err(ConfigError::NotConnected {
                connectivity: self.connectivity,
                nodes: self.nodes,
                links,
                needed,
                least: needed as f64 / possible_links(self.nodes) as f64,
            });
        }
        if links > LINKS_MAX {
            return Err(ConfigError::TooManyLinks { links });
        }
        Ok(links)
    }

    /// What the requests ask for.
    pub fn demands(&self) -> Demands {
        Demands { units: self.units.clone(), priorities: self.priorities.clone(), deadlines: self.deadlines }
    }

    /// The repairs in force, and the names of those that are not.
    fn repairs_of(&self, algorithm: &'static Algorithm) -> Result<(Repairs, Vec<String>), ConfigError> {
        let names = self.without.iter().map(String::as_str);
        let published = (self.link_info == LinkInfoRule::Published).then_some(LINK_INFO);
        if published.is_some() && !algorithm.repairs().iter().any(|repair| repair.name == LINK_INFO) {
            return Err(ConfigError::NoLinkInfo { algorithm: algorithm.tag });
        }
        let repairs =
            algorithm.repairs_without(names.chain(published)).map_err(|name| unknown_repair(algorithm, name))?;
        let repairs = if self.as_published { Repairs::NONE } else { repairs };
        let off = algorithm.repairs().iter().filter(|repair| !repairs.has(**repair));
        Ok((repairs, off.map(|repair| repair.name.to_owned()).collect()))
    }
}

/// The refusal of a repair that the algorithm does not have.
pub fn unknown_repair(algorithm: &'static Algorithm, name: &str) -> ConfigError {
    ConfigError::UnknownRepair { algorithm: algorithm.tag, repair: name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(change: impl FnOnce(&mut Config)) -> String {
        let mut config = Config::default();
        change(&mut config);
        config.plan().unwrap_err().to_string()
    }

    #[test]
    fn the_defaults_make_sense() {
        let plan = Config::default().plan().unwrap();
        assert_eq!((plan.algorithm.tag, plan.links, plan.repairs), ("krl", 87, Repairs::ALL));
    }

    #[test]
    fn nonsense_is_refused_in_a_sentence() {
        assert!(refusal(|c| c.nodes = 0).starts_with("nodes must be from 1"));
        assert!(refusal(|c| c.k = 0).starts_with("k must be from 1"));
        assert!(refusal(|c| c.k = 30).contains("k = 30 and n = 30"));
        assert!(
            refusal(|c| c.load = f64::NAN).contains("load must be a finite number from 0.000001 to 1000000, not NaN")
        );
        assert!(refusal(|c| c.load = 0.0).contains("from 0.000001"));
        assert!(refusal(|c| c.delay = Duration::Constant(0.0)).contains("the mean delay must be"));
        assert!(refusal(|c| c.mobility = -1.0).contains("mobility"));
        assert!(refusal(|c| c.mobility = f64::INFINITY).contains("mobility"));
        assert!(refusal(|c| c.connectivity = 0.01).contains("too small to connect 30 nodes"));
        assert!(refusal(|c| (c.nodes, c.connectivity) = (100_000, 1.0)).contains("links are too many"));
        assert!(refusal(|c| c.entries = u64::MAX).contains("entries must be from 1"));
        assert!(refusal(|c| c.connectivity = 1.5).contains("from 0 to 1"));
        assert!(refusal(|c| c.algorithm = "paxos".into()).contains("krlf-adaptive"));
        assert!(refusal(|c| c.without = vec!["glue".into()]).contains("holder-lowers"));
        assert!(refusal(|c| c.algorithm = "rl".into()).contains("exactly one unit"));
        assert!(refusal(|c| c.replications = 0).contains("replications must be from 1 to 10000, not 0"));
    }

    #[test]
    fn demands_that_nobody_could_grant_are_refused_in_a_sentence() {
        let range = |text: &str| text.parse::<Numbers>().unwrap();
        let hok = |units| refusal(|c| (c.algorithm, c.units) = ("hok".into(), range(units)));
        assert_eq!(hok("0"), "units must be from 1 to k = 3, not 0");
        assert_eq!(hok("1..9"), "units must be from 1 to k = 3, not 1..9");
        assert_eq!(
            refusal(|c| c.units = range("1..4")),
            "krl grants one unit at a time, but units = 1..4; hok grants several"
        );
        assert!(refusal(|c| c.units = range("0..1")).contains("from 1 to k"));
        let late = Deadlines::After(Duration::Exponential(1e7));
        assert!(refusal(|c| c.deadlines = late).contains("the mean time until a deadline must be"));
        let all =
            Config { algorithm: "hok".into(), units: range("1..3"), priorities: range("1..64"), ..Config::default() };
        assert!(all.plan().is_ok());
        let krl = Config { priorities: range("0..9"), deadlines: "10".parse().unwrap(), ..Config::default() };
        assert!(krl.plan().is_ok(), "whoever ignores them can be measured against those who do not");
    }

    #[test]
    fn the_published_rule_is_one_repair_less() {
        let hok = refusal(|c| (c.algorithm, c.link_info) = ("hok".into(), LinkInfoRule::Published));
        assert_eq!(hok, "hok has no LinkInfo rule: link_info is for krl and its variants");
        let config = Config { link_info: LinkInfoRule::Published, ..Config::default() };
        assert_eq!(config.plan().unwrap().without, ["link-info"]);
        let config = Config { as_published: true, ..Config::default() };
        assert_eq!(config.clone().plan().unwrap().config.link_info, LinkInfoRule::Published, "every output says so");
        assert!(!config.plan().unwrap().repairs.has(driftlock_protocol::krl::repair::RECLAIM));
    }
}

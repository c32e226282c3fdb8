//! What is simulated. Everything has a default; nonsense is refused in a sentence.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use driftlock_protocol::ideal::Start;
use driftlock_protocol::ideal::{Fate, Topology};
use driftlock_protocol::registry::UnitsRule;
use driftlock_protocol::{Algorithm, Constants, Harm, K_MAX, NODES_MAX, Repairs, Terms, Urgency};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use crate::areas::{Areas, plane};
use crate::churn::Churn;
use crate::demand::{Deadlines, Demands, Numbers};
use crate::field::FieldPlan;
use crate::layout::{Layout, check_links};
use crate::random::Duration;
use crate::roaming::Roaming;
use crate::topology::{links_at, possible_links};

mod error;
mod in_force;
mod load;

pub use error::ConfigError;
pub(crate) use error::tags_of;

/// The most links that a simulation takes.
const LINKS_MAX: u64 = 10_000_000;
/// The most neighbourhoods, and places in them: each has room for all nodes.
const NEIGHBOURHOODS_MAX: u64 = 10_000;
const PLACES_MAX: u64 = 4_000_000;
/// The most replications, and entries in each.
const REPLICATIONS_MAX: u64 = 10_000;
const ENTRIES_MAX: u64 = 100_000_000;

/// What is decreed of links, and of neighbourhoods: for algorithms that stand on them, and not on a field.
const OF_LINKS: [&str; 5] = ["topology", "connectivity", "mobility", "link_failure", "restarts"];
const OF_NEIGHBOURHOODS: [&str; 7] = ["neighbourhoods", "churn", "absence", "speed", "areas", "spacing", "margin"];

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
    /// The same of single nodes, by their numbers; the others go by `load`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "by_node")]
    pub load_of: BTreeMap<u32, f64>,
    /// How busy the nodes would be if no node had to wait, in per cent: time in the CS by that and the pause after it.
    /// Another way to say `load`.
    pub contention: Option<f64>,
    /// The load of all nodes together, of which each has the same part. Another way to say `load`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load_of_all: Option<f64>,
    /// Which links are up at the start.
    pub topology: Layout,
    /// The share of the possible links that are up, if they are random.
    pub connectivity: f64,
    /// Changes of the graph per time unit, in the whole network.
    pub mobility: f64,
    /// Nodes that are killed and come back with what they have stored, per time unit, in the whole network.
    pub restarts: f64,
    /// Sets of k resources, each with its own neighbourhood.
    pub neighbourhoods: u32,
    /// How often each node leaves its neighbourhood for another.
    pub churn: Churn,
    /// How long it is in none then.
    pub absence: Duration,
    /// How fast nodes walk about instead, in metres per time unit.
    pub speed: f64,
    /// From where a site can be reached then.
    pub areas: Areas,
    /// How far apart sites are then, in metres.
    pub spacing: f64,
    /// How far beyond the border a node still belongs to its neighbourhood then, in metres.
    pub margin: f64,
    /// Instead of links or neighbourhoods by decree: a field on which nodes move about, with radios.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<FieldPlan>,
    /// How long an application stays in the CS.
    pub cs_time: Duration,
    /// How many units a request asks for.
    pub units: Numbers,
    /// How urgent a request is; the larger is the more urgent.
    pub priorities: Numbers,
    /// The same of the requests of single nodes, by their numbers; the others go by `priorities`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "by_node")]
    pub priority_of: BTreeMap<u32, Numbers>,
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
    /// The algorithm's own constants, by name; times are in time units. The others are as usual.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub constants: Constants,
    /// Entries before counting begins, in each replication.
    pub warmup: u64,
    /// Counting does not begin before this time, however many entries there were: on a field links take their time.
    #[serde(skip_serializing_if = "is_zero")]
    pub warmup_time: f64,
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
            load_of: BTreeMap::new(),
            contention: None,
            load_of_all: None,
            topology: Layout::Random,
            connectivity: 0.2,
            mobility: 0.0,
            restarts: 0.0,
            neighbourhoods: 1,
            churn: Churn::NONE,
            absence: Duration::Constant(0.0),
            speed: 0.0,
            areas: Areas::Cells,
            spacing: 100.0,
            margin: 1.0,
            field: None,
            cs_time: Duration::Constant(1.0),
            units: Numbers::only(1),
            priorities: Numbers::only(0),
            priority_of: BTreeMap::new(),
            deadlines: Deadlines::None,
            delay: Duration::Constant(1.0),
            link_failure: Fate::Drained,
            link_info: LinkInfoRule::Repaired,
            without: Vec::new(),
            as_published: false,
            constants: Constants::new(),
            warmup: 500,
            warmup_time: 0.0,
            entries: 5_000,
            replications: 5,
            seed: 1,
            check: false,
        }
    }
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde asks like this
fn is_zero(number: &f64) -> bool {
    *number == 0.0
}

/// Reads a table by the numbers of nodes. Its keys are texts in TOML, and not every reader makes numbers of them.
fn by_node<'de, D: Deserializer<'de>, T: Deserialize<'de>>(reader: D) -> Result<BTreeMap<u32, T>, D::Error> {
    let numbered = |(key, value): (String, T)| {
        let node = key.parse().map_err(|_| D::Error::custom(format!("{key:?} is no number of a node")))?;
        Ok((node, value))
    };
    BTreeMap::deserialize(reader)?.into_iter().map(numbered).collect()
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
    /// How many links the graph starts with; none, if the algorithm stands on neighbourhoods.
    pub links: u64,
}

impl Config {
    /// Refuses what makes no sense.
    pub fn plan(self) -> Result<Plan, ConfigError> {
        let algorithm =
            Algorithm::named(&self.algorithm).ok_or_else(|| ConfigError::UnknownAlgorithm(self.algorithm.clone()))?;
        self.check_sizes(algorithm)?;
        self.check_demands(algorithm)?;
        self.check_single_nodes(algorithm)?;
        self.check_layer(algorithm)?;
        if self.restarts > 0.0 && !algorithm.claims().stand(Harm::Restart) {
            return Err(ConfigError::NoRestarts { algorithm: algorithm.tag });
        }
        self.check_constants(algorithm)?;
        let load = self.load_in_other_words()?;
        let this = Self { load, ..self };
        this.check_numbers()?;
        let links = match algorithm.starts_from() {
            _ if this.field.is_some() => this.check_field(algorithm).map(|()| 0)?,
            Start::Links => this.check_links()?,
            Start::Members => this.check_neighbourhoods().map(|()| 0)?,
            Start::Nodes => 0,
        };
        let (repairs, without) = this.repairs_of(algorithm)?;
        // However it was switched off: every output states the rule that was in force.
        let published = without.iter().any(|name| name == LINK_INFO);
        let link_info = if published { LinkInfoRule::Published } else { LinkInfoRule::Repaired };
        Ok(Plan { algorithm, repairs, without, links, config: Self { link_info, ..this } })
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
            UnitsRule::FewerThanNodes if k >= nodes => {
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

    /// What is said of single nodes is said of nodes that there are, and means something to the algorithm.
    fn check_single_nodes(&self, algorithm: &'static Algorithm) -> Result<(), ConfigError> {
        if !self.priority_of.is_empty() && algorithm.urgency() != Urgency::Priority {
            return Err(ConfigError::NoPriorities { algorithm: algorithm.tag });
        }
        let nodes = self.nodes;
        let last = [("load_of", self.load_of.keys().last()), ("priority_of", self.priority_of.keys().last())];
        match last.into_iter().find_map(|(name, last)| Some((name, *last.filter(|node| **node >= nodes)?))) {
            Some((name, node)) => Err(ConfigError::NoSuchNode { name, node, nodes }),
            None => Ok(()),
        }
    }

    fn check_numbers(&self) -> Result<(), ConfigError> {
        let number = |name, bound, value: f64, range: RangeInclusive<f64>| {
            if range.contains(&value) { Ok(()) } else { Err(ConfigError::Number { name, bound, value }) }
        };
        // The bounds keep simulated time within its 64 bits of nanoseconds. Without any delay, moreover, an idle token
        // that is forwarded would go round for ever in no time.
        number("load", "from 0.000001 to 1000000", self.load, 1e-6..=1e6)?;
        self.load_of.values().try_for_each(|&load| number("load_of", "from 0.000001 to 1000000", load, 1e-6..=1e6))?;
        number("mobility", "from 0 to 1000", self.mobility, 0.0..=1e3)?;
        number("restarts", "from 0 to 1000", self.restarts, 0.0..=1e3)?;
        number("churn", "from 0 to 1000", self.churn.rate(), 0.0..=1e3)?;
        number("the mean absence", "from 0 to 1000000", self.absence.mean(), 0.0..=1e6)?;
        number("speed", "from 0 to 1000000", self.speed, 0.0..=1e6)?;
        number("spacing", "from 0.001 to 1000000", self.spacing, 1e-3..=1e6)?;
        number("connectivity", "from 0 to 1", self.connectivity, 0.0..=1.0)?;
        number("the mean delay", "from 0.000001 to 1000000", self.delay.mean(), 1e-6..=1e6)?;
        let deadline = self.deadlines.mean().unwrap_or_default();
        number("warmup_time", "from 0 to 1000000", self.warmup_time, 0.0..=1e6)?;
        number("the mean time until a deadline", "from 0 to 1000000", deadline, 0.0..=1e6)?;
        number("the mean CS time", "from 0 to 1000000", self.cs_time.mean(), 0.0..=1e6)
    }

    /// The algorithm has these constants, and they make sense, also on the field.
    fn check_constants(&self, algorithm: &'static Algorithm) -> Result<(), ConfigError> {
        let terms = Terms { small_scale: false, over_radios: self.field.is_some(), constants: &self.constants };
        algorithm.check(terms).map_err(|error| ConfigError::Constant { algorithm: algorithm.tag, error })
    }

    /// Whether something is asked for that the layer below the algorithm does not have.
    fn check_layer(&self, algorithm: &'static Algorithm) -> Result<(), ConfigError> {
        let starts_from = algorithm.starts_from();
        for (start, other, foreign) in
            [(Start::Members, "neighbourhoods", &OF_NEIGHBOURHOODS[..]), (Start::Links, "links", &OF_LINKS)]
        {
            if let Some(name) = self.first_changed(foreign).filter(|_| start != starts_from) {
                return Err(ConfigError::NotOfThisLayer { algorithm: algorithm.tag, other, name });
            }
        }
        Ok(())
    }

    /// The first of these parameters that is not as usual.
    fn first_changed(&self, names: &[&'static str]) -> Option<&'static str> {
        let [given, default] = [self, &Self::default()].map(|config| serde_json::to_value(config).unwrap_or_default());
        names.iter().copied().find(|name| given[*name] != default[*name])
    }

    /// On the field, links and neighbours are what radios make of it.
    fn check_field(&self, algorithm: &'static Algorithm) -> Result<(), ConfigError> {
        let decreed = [&OF_LINKS[..], &OF_NEIGHBOURHOODS, &["delay"]].concat();
        if let Some(name) = self.first_changed(&decreed) {
            return Err(ConfigError::NotOnTheField { name });
        }
        self.field.iter().try_for_each(|field| field.check(self.nodes, self.k, algorithm)).map_err(ConfigError::Field)
    }

    fn check_neighbourhoods(&self) -> Result<(), ConfigError> {
        let (nodes, neighbourhoods) = (self.nodes, self.neighbourhoods);
        if !(1..=NEIGHBOURHOODS_MAX).contains(&u64::from(neighbourhoods)) {
            let (value, most) = (u64::from(neighbourhoods), NEIGHBOURHOODS_MAX);
            return Err(ConfigError::Count { name: "neighbourhoods", value, least: 1, most });
        }
        if u64::from(nodes) * u64::from(neighbourhoods) > PLACES_MAX {
            return Err(ConfigError::TooManyPlaces { nodes, neighbourhoods });
        }
        if self.churn != Churn::NONE && self.speed > 0.0 {
            return Err(ConfigError::TwoWaysToMove);
        }
        let (_, corner) = plane(neighbourhoods, self.areas, self.spacing, self.margin)?;
        if self.speed > 0.0 {
            Roaming::check_walk(nodes, corner, self.speed).map_err(ConfigError::Walk)
        } else {
            Ok(())
        }
    }

    /// How many links there are at the start.
    fn check_links(&self) -> Result<u64, ConfigError> {
        let links = match &self.topology {
            Layout::Random => self.random_links()?,
            topology if self.connectivity.to_bits() != Self::default().connectivity.to_bits() => {
                return Err(ConfigError::NotRandom { topology: topology.clone() });
            }
            Layout::Named(Topology::Complete) => possible_links(self.nodes),
            Layout::Named(topology) => topology.links(self.nodes).len() as u64,
            Layout::Links(links) => {
                check_links(self.nodes, links).map_err(ConfigError::Topology)?;
                links.len() as u64
            }
        };
        if links > LINKS_MAX {
            return Err(ConfigError::TooManyLinks { links });
        }
        Ok(links)
    }

    fn random_links(&self) -> Result<u64, ConfigError> {
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
        Ok(links)
    }

    /// The rate at which all nodes would ask together if entries took no time, per time unit.
    pub(crate) fn rate_of_all(&self) -> f64 {
        let others = f64::from(self.nodes) - self.load_of.len() as f64;
        others * self.load + self.load_of.values().sum::<f64>()
    }

    /// All priorities that there are.
    pub(crate) fn all_priorities(&self) -> Numbers {
        let everybody_has_its_own = self.priority_of.len() == self.nodes as usize;
        let usual = (!everybody_has_its_own).then_some(&self.priorities);
        let all = usual.into_iter().chain(self.priority_of.values()).cloned();
        all.reduce(|some, more| some.and(&more)).unwrap_or_else(|| self.priorities.clone())
    }

    /// What the requests ask for, but for those of which `priority_of` knows better.
    pub fn demands(&self) -> Demands {
        Demands { units: self.units.clone(), priorities: self.priorities.clone(), deadlines: self.deadlines }
    }

    /// The repairs in force, and the names of those that are not.
    fn repairs_of(&self, algorithm: &'static Algorithm) -> Result<(Repairs, Vec<String>), ConfigError> {
        if self.as_published && algorithm.repairs().is_empty() {
            return Err(ConfigError::NothingPublished { algorithm: algorithm.tag });
        }
        let names = self.without.iter().map(String::as_str);
        let published = (self.link_info == LinkInfoRule::Published).then_some(LINK_INFO);
        if published.is_some() && !algorithm.repairs().iter().any(|repair| repair.name == LINK_INFO) {
            return Err(ConfigError::NoLinkInfo { algorithm: algorithm.tag });
        }
        let repairs =
            algorithm.repairs_without(names.chain(published)).map_err(|name| unknown_repair(algorithm, name))?;
        let published = || algorithm.repairs().iter().fold(Repairs::ALL, |repairs, &repair| repairs.without(repair));
        let repairs = if self.as_published { published() } else { repairs };
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
        assert!(refusal(|c| c.topology = "0-1,1-99".parse().unwrap()).contains("the link 1-99 leads to a node that"));
        assert!(refusal(|c| c.topology = "0-1".parse().unwrap()).contains("node 2 cannot be reached from node 0"));
        assert_eq!(
            refusal(|c| (c.topology, c.connectivity) = ("ring".parse().unwrap(), 0.5)),
            "connectivity is for random graphs: which links there are, topology = ring says"
        );
        assert!(
            refusal(|c| (c.nodes, c.topology) = (100_000, "complete".parse().unwrap())).contains("links are too many")
        );
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
            "krl grants one unit at a time, but units = 1..4; several are granted by hok, hok-strict, hok-fewest, hok-edf, hok-fcfs"
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
    fn what_is_said_of_single_nodes_must_make_sense() {
        let loads = |node, load| refusal(|c| c.load_of = [(node, load)].into());
        assert_eq!(loads(30, 1.0), "load_of speaks of node 30, but there are 30 nodes, counted from 0");
        assert!(loads(29, 0.0).starts_with("load_of must be a finite number from 0.000001"));
        let priorities = |tag: &str, node| {
            refusal(|c| (c.algorithm, c.priority_of) = (tag.into(), [(node, Numbers::only(5))].into()))
        };
        assert_eq!(
            priorities("krl", 3),
            "krl does not go by priorities, so priority_of means nothing to it: it is for hok, hok-strict"
        );
        assert!(priorities("hok", 31).starts_with("priority_of speaks of node 31"));
    }

    #[test]
    fn priorities_of_single_nodes_are_told_apart_from_those_of_the_others() {
        let config = |own: &[u32]| Config {
            nodes: 3,
            priorities: Numbers::only(5),
            priority_of: (0..).zip(own.iter().copied().map(Numbers::only)).collect(),
            ..Config::default()
        };
        assert!(config(&[]).all_priorities().classes().is_empty());
        assert_eq!(config(&[0]).all_priorities().classes(), [0, 5]);
        assert_eq!(config(&[0, 1, 2]).all_priorities().classes(), [0, 1, 2], "nobody has 5");
    }

    #[test]
    fn in_a_file_single_nodes_are_the_keys_of_a_table() {
        let text =
            "algorithm = \"hok\"\ntopology = \"line\"\nload_of = { 3 = 2.5 }\n[priority_of]\n0 = 7\n1 = \"1..3\"\n";
        let config: Config = toml::from_str(text).unwrap();
        assert_eq!(toml::from_str::<toml::Table>(text).unwrap().try_into(), Ok(config.clone()), "as experiments do");
        assert!(
            toml::from_str::<Config>("load_of = { x = 1 }").unwrap_err().to_string().contains("no number of a node")
        );
        assert_eq!((config.load_of[&3].to_bits(), config.priority_of.len()), (2.5_f64.to_bits(), 2));
        let again: Config = serde_json::from_value(serde_json::to_value(&config).unwrap()).unwrap();
        assert_eq!(again, config, "a trace has it in its header");
    }

    #[test]
    fn what_is_for_the_other_layer_is_refused() {
        for (name, change) in [
            ("churn", (|c| c.churn = "light".parse().unwrap()) as fn(&mut Config)),
            ("neighbourhoods", |c| c.neighbourhoods = 2),
            ("absence", |c| c.absence = Duration::Constant(1.0)),
            ("speed", |c| c.speed = 1.0),
            ("areas", |c| c.areas = Areas::Discs(5.0)),
        ] {
            let says = format!("krl has no {name}: that is for algorithms that stand on neighbourhoods");
            assert_eq!(refusal(change), says);
        }
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

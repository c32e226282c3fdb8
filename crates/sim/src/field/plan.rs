//! The field, as a person writes it down.

use std::f64::consts::PI;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use driftlock_field::faults::{FaultError, Faults, Kind, Memory, Nonsense, Ranges, Schedule};
use driftlock_field::medium::Medium;
use driftlock_field::mobility::{
    Area, Model, ModelError, Movement, Proximity, RandomWaypoint, TraceError, Tracks, format,
};
use driftlock_field::radio::{self, SettingsError};
use driftlock_host::Share;
use driftlock_net::stack::{self, Footing, Resident, Unfit};
use driftlock_net::{Time, aodv};
use driftlock_protocol::ideal::{Ideal, IdealOf, Start};
use driftlock_protocol::{Algorithm, Claims, Harm, Permits, Protocol};
use driftlock_trace::Plane;
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use thiserror::Error;

use super::{FIRST, Field, Graph, Kind as Of};
use crate::config::tags_of;

/// The most pairs of nodes that may be in reach of each other, in round numbers: a gigabyte of them.
const PAIRS_MAX: f64 = 2e7;
/// The shortest side of a plane, in metres.
const PLANE_MIN: f64 = 1.0;

/// The field, as a person writes it down.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct FieldPlan {
    /// How large it is, in metres.
    pub area: Area,
    /// How nodes move on it.
    pub movement: Model,
    /// Instead: a file that says where each node is when.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tracks: Option<PathBuf>,
    /// What they hear there.
    pub radio: Radio,
    /// The layers between radio and algorithm.
    pub layers: stack::Settings,
    /// From whom nodes know who else is in their neighbourhood. If nothing is said, from one another if the algorithm
    /// stands wrong hints.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub membership: Option<Membership>,
    /// What goes wrong, and when.
    pub fault: Schedule,
    /// From what more of it is drawn, by the seed of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub faults: Option<Ranges>,
}

impl Default for FieldPlan {
    /// A field on which some tens of walkers mostly reach one another, over several hops.
    fn default() -> Self {
        Self {
            area: Area { width: 700.0, height: 700.0 },
            movement: Model::RandomWaypoint(RandomWaypoint { speed_min: 0.5, speed_max: 2.0, pause: 0.0 }),
            tracks: None,
            radio: Radio::Written(Box::default()),
            layers: stack::Settings::default(),
            membership: None,
            fault: Schedule::default(),
            faults: None,
        }
    }
}

/// From whom nodes know who else is in their neighbourhood.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Membership {
    /// From what they hear: late, and at times wrong.
    Heard,
    /// From the world, which tells all of them at once.
    Decreed,
}

/// The radio: one with a name, or one that is written out.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(untagged)]
pub enum Radio {
    /// A preset.
    Named(String),
    /// Every number.
    Written(Box<radio::Settings>),
}

impl Radio {
    /// Every number of it.
    pub fn settings(&self) -> Result<radio::Settings, SettingsError> {
        match self {
            Self::Named(name) => name.parse(),
            Self::Written(settings) => Ok((**settings).clone()),
        }
    }
}

/// Text is a name and a table is written out, so that what is wrong in the table is said about the table.
impl<'de> Deserialize<'de> for Radio {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ReadRadio)
    }
}

struct ReadRadio;

impl<'de> Visitor<'de> for ReadRadio {
    type Value = Radio;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("the name of a radio, or a table with its numbers")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<Radio, E> {
        Ok(Radio::Named(name.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Radio, A::Error> {
        Deserialize::deserialize(MapAccessDeserializer::new(map)).map(Radio::Written)
    }
}

/// A field that makes no sense.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum FieldError {
    /// No node can move so.
    #[error("{0}")]
    Movement(#[from] ModelError),
    /// No radio can work so.
    #[error("{0}")]
    Radio(#[from] SettingsError),
    /// It would take too much memory.
    #[error(
        "about {pairs:.0} pairs of nodes would be in reach of each other, and {PAIRS_MAX:.0} are the most: take fewer nodes, a larger area, or a radio that reaches less far"
    )]
    Crowded {
        /// How many, by the density.
        pairs: f64,
    },
    /// No layer can work so.
    #[error("layers: {0}")]
    Layers(&'static str),
    /// No message could say as much as this algorithm has to say.
    #[error("layers: {0}")]
    Unfit(#[from] Unfit),
    /// Nothing can fail so.
    #[error("{0}")]
    Fault(#[from] FaultError),
    /// Nothing can be drawn from this.
    #[error("faults: {0}")]
    Faults(#[from] Nonsense),
    /// The file of movements cannot be read.
    #[error("{}: {reason}", path.display())]
    Unreadable {
        /// Which.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// It makes no sense.
    #[error("{0}")]
    Tracks(#[from] TraceError),
    /// It is about others.
    #[error("{} tells of {tracks} nodes, but there are {nodes}: give --nodes {tracks}", path.display())]
    OtherNodes {
        /// Which file.
        path: PathBuf,
        /// How many nodes it tells of.
        tracks: usize,
        /// How many there are.
        nodes: u32,
    },
    /// The algorithm does not survive this.
    #[error(
        "fault {number} is a crash, which {algorithm} does not survive: give it back-after and memory = \"kept\", or take one of: {}",
        tags_of(|algorithm| algorithm.claims().stand(Harm::Crash))
    )]
    Crash {
        /// Counted from 1.
        number: usize,
        /// The algorithm's tag.
        algorithm: &'static str,
    },
    /// The algorithm does not stand wrong hints.
    #[error(
        "membership = \"heard\": what nodes hear of one another is late, and wrong at times, and {algorithm} counts on who \
         is there: leave it out, or take one of: {}",
        tags_of(|algorithm| algorithm.claims().stand(Harm::Crash))
    )]
    Hearsay {
        /// The algorithm's tag.
        algorithm: &'static str,
    },
    /// The algorithm knows nothing of members.
    #[error(
        "membership: {algorithm} stands on links, and nothing tells it of members: leave it out, or take one of: {}",
        tags_of(|algorithm| algorithm.starts_from() == Start::Members)
    )]
    NoMembers {
        /// The algorithm's tag.
        algorithm: &'static str,
    },
    /// Nor those that would be drawn.
    #[error(
        "faults: {share} of the crashes lose the memory, which {algorithm} does not survive: give memory-lost = 0, or take one of: {}",
        tags_of(|algorithm| algorithm.claims().stand(Harm::Crash))
    )]
    Crashes {
        /// How many.
        share: f64,
        /// The algorithm's tag.
        algorithm: &'static str,
    },
}

/// Opens a file of movements.
pub fn open_tracks(path: &Path) -> io::Result<BufReader<File>> {
    let is_at_hand = fs::metadata(path)?.is_file();
    // To open a pipe can take for ever, and what was read from it is gone.
    let refused = || io::Error::other("it is no regular file, and is read several times: save it as a file first");
    if is_at_hand { File::open(path).map(BufReader::new) } else { Err(refused()) }
}

fn read_tracks(path: &Path) -> Result<Tracks, FieldError> {
    let unreadable = |error: io::Error| FieldError::Unreadable { path: path.to_owned(), reason: error.to_string() };
    Ok(format::read(&path.display().to_string(), open_tracks(path).map_err(unreadable)?)?)
}

impl FieldPlan {
    /// Refuses what makes no sense, whatever the nodes do there.
    pub fn check_ground(&self, nodes: u32) -> Result<(), FieldError> {
        self.movement(nodes, 0)?;
        let rules = self.radio_rules()?;
        if self.tracks.is_none() {
            self.check_density(nodes, rules.reach())?;
        }
        self.layers.check().map_err(FieldError::Layers)?;
        self.schedule(nodes, 0).map(drop)
    }

    /// Refuses what makes no sense, or not to this algorithm.
    pub fn check(&self, nodes: u32, k: u32, algorithm: &'static Algorithm) -> Result<(), FieldError> {
        self.check_ground(nodes)?;
        let footing = Footing::of(algorithm.starts_from());
        self.layers.limits.admit(FIRST, &Resident { footing, k, members: nodes })?;
        if self.layers.aodv.hello != aodv::Hello::Off {
            return Err(FieldError::Layers(
                "aodv.hello is for routers alone: remove it, links say hello and tell the router who falls silent",
            ));
        }
        if algorithm.starts_from() == Start::Links && self.membership.is_some() {
            return Err(FieldError::NoMembers { algorithm: algorithm.tag });
        }
        if algorithm.claims().stand(Harm::Crash) {
            return Ok(());
        }
        if algorithm.starts_from() == Start::Members && self.membership == Some(Membership::Heard) {
            return Err(FieldError::Hearsay { algorithm: algorithm.tag });
        }
        let (tag, crashing) = (algorithm.tag, |ranges: &Ranges| ranges.crashes.per_minute > 0.0);
        if let Some(Ranges { memory_lost, .. }) = self.faults.filter(crashing).filter(|ranges| ranges.memory_lost > 0.0)
        {
            return Err(FieldError::Crashes { share: memory_lost, algorithm: tag });
        }
        let loses = |kind| matches!(kind, Kind::Crash { back_after: None | Some((_, Memory::Lost)), .. });
        match self.fault.faults().iter().position(|fault| loses(fault.kind)) {
            Some(at) => Err(FieldError::Crash { number: at + 1, algorithm: tag }),
            None => Ok(()),
        }
    }

    /// The field as a file has it, with every number of its radio, and null where something had no say: what a file of
    /// movements takes the place of, and these layers.
    pub fn in_force(&self, idle_layers: &[&str]) -> Value {
        let written = self.radio.settings().map(|settings| Radio::Written(Box::new(settings)));
        let radio = written.unwrap_or_else(|_| self.radio.clone());
        let mut field = serde_json::to_value(Self { radio, ..self.clone() }).unwrap_or_default();
        if self.tracks.is_some() {
            field["movement"] = Value::Null;
            // Faults by chance are still drawn over the area.
            if self.faults.is_none() {
                field["area"] = Value::Null;
            }
        }
        for layer in idle_layers {
            field["layers"][layer] = Value::Null;
        }
        field
    }

    /// From whom nodes know who else is there, if their algorithm claims this. One that does not stand crashes counts
    /// on right hints.
    pub fn membership_of(&self, claims: Claims) -> Membership {
        let usual = if claims.stand(Harm::Crash) { Membership::Heard } else { Membership::Decreed };
        self.membership.unwrap_or(usual)
    }

    /// How radios work.
    pub fn radio_rules(&self) -> Result<radio::Rules, SettingsError> {
        self.radio.settings()?.rules()
    }

    /// Every pair in reach of each other takes its place in memory.
    fn check_density(&self, nodes: u32, reach: f64) -> Result<(), FieldError> {
        let share = (PI * reach * reach / (self.area.width * self.area.height)).min(1.0);
        let pairs = f64::from(nodes).powi(2) / 2.0 * share;
        if pairs > PAIRS_MAX { Err(FieldError::Crowded { pairs }) } else { Ok(()) }
    }

    /// The plane, as a trace tells of it: the area, or the smallest rectangle that holds all movements of a file.
    pub fn plane(&self) -> Plane {
        let range = self.radio_rules().ok().and_then(|rules| rules.range());
        let Some(Ok(tracks)) = self.tracks.as_ref().map(|path| read_tracks(path)) else {
            return Plane { width: self.area.width, height: self.area.height, range, ..Plane::default() };
        };
        let (low, high) = tracks.bounds();
        // A plane on which all stand in a row has to be seen, too.
        let (width, height) = ((high.x - low.x).max(PLANE_MIN), (high.y - low.y).max(PLANE_MIN));
        Plane { origin: Some([low.x, low.y]), width, height, range, ..Plane::default() }
    }

    /// What goes wrong in the run of this seed: what was written down, then what is drawn. That depends on nothing
    /// else, and so is the same for every algorithm.
    pub fn schedule(&self, nodes: u32, seed: u64) -> Result<Schedule, FieldError> {
        // Those that were written down are refused by their own numbers.
        Faults::new(&self.fault, nodes, Faults::STEP)?;
        let drawn = self.faults.map(|ranges| Schedule::random(seed, nodes, self.area, &ranges)).transpose()?;
        let drawn = drawn.unwrap_or_default();
        Ok(self.fault.faults().iter().chain(drawn.faults()).copied().collect())
    }

    /// How nodes move in the run of this seed.
    pub fn movement(&self, nodes: u32, seed: u64) -> Result<Movement, FieldError> {
        let Some(path) = &self.tracks else { return Ok(Movement::new(&self.movement, self.area, nodes, seed)?) };
        let tracks = read_tracks(path)?;
        if tracks.len() != nodes as usize {
            return Err(FieldError::OtherNodes { path: path.clone(), tracks: tracks.len(), nodes });
        }
        Ok(Movement::from_tracks(tracks))
    }

    /// Who was in range of whom between two times in the run of this seed, if radios have a range.
    pub fn graph(&self, nodes: u32, seed: u64, since: Time, until: Time) -> Result<Option<Graph>, FieldError> {
        let Some(range) = self.radio_rules()?.range() else { return Ok(None) };
        Ok(Graph::between(Proximity::new(self.movement(nodes, seed)?, range), since, until))
    }

    /// The hosts of an algorithm's nodes, all switched on at time zero, on their way about the field.
    pub fn set_up<P: Protocol>(&self, nodes: u32, k: u32, seed: u64) -> Result<Field, FieldError> {
        let medium = Medium::new(self.movement(nodes, seed)?, self.radio_rules()?, seed);
        let faults = Faults::new(&self.schedule(nodes, seed)?, nodes, Faults::STEP)?;
        let mut field = Field::new(medium, faults, nodes, self.layers.clone());
        self.share::<P>(&mut field, nodes, k)?;
        Ok(field)
    }

    /// On a field of these constants, one more resource is shared.
    pub fn share<P: Protocol>(&self, field: &mut Field, nodes: u32, k: u32) -> Result<(), FieldError> {
        let footing = Footing::of(IdealOf::<P>::STARTS_FROM);
        self.layers.limits.admit(FIRST, &Resident { footing, k, members: nodes })?;
        field.share(Of {
            share: Share { k, members: nodes },
            permits: |parcel| parcel.open().map_or(Permits::NONE, |message| P::permits(&message)),
            hears_of_members: self.membership_of(P::CLAIMS) == Membership::Heard,
            survives_crash: P::CLAIMS.stand(Harm::Crash),
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWN: &str = r#"
        [[fault]]
        at = 5.0
        kind = "pause"
        node = 1
        lasts = 2.0

        [faults]
        heals-at = 120.0
        crashes = { per-minute = 3.0, lasts = [1.0, 30.0] }
        memory-lost = 0.0
        jams = { per-minute = 3.0, lasts = [1.0, 30.0] }
    "#;

    fn read(text: &str) -> FieldPlan {
        toml::from_str(text).expect("a field")
    }

    fn refusal(field: &FieldPlan, tag: &str) -> String {
        let algorithm = Algorithm::named(tag).expect("registered");
        field.check(30, 5, algorithm).expect_err("it makes no sense").to_string()
    }

    #[test]
    fn what_would_take_all_memory_or_never_end_is_refused() {
        let krl = Algorithm::named("krl").expect("registered");
        let crowded =
            FieldPlan::default().check(driftlock_protocol::NODES_MAX, 5, krl).expect_err("a crowd").to_string();
        assert!(crowded.contains("take fewer nodes"), "{crowded}");
        let restless = read("layers = { link = { hello-ms = 0 } }");
        assert_eq!(refusal(&restless, "krl"), "layers: link.hello-ms must be at least 1");
        let twofold = read("layers = { aodv = { hello = \"always\" } }");
        assert!(refusal(&twofold, "klme").starts_with("layers: aodv.hello is for routers alone"));
        assert_eq!(twofold.check_ground(30), Ok(()), "as traffic has it");
    }

    #[test]
    fn faults_are_drawn_by_the_seed_and_come_after_those_that_are_written_down() {
        let field = read(DRAWN);
        let schedule = |seed| field.schedule(30, seed).expect("it makes sense");
        assert_eq!(schedule(7), schedule(7));
        assert_ne!(schedule(7), schedule(8));
        assert_eq!(schedule(7).faults()[..1], *field.fault.faults());
        let count = |what: fn(&Kind) -> bool| schedule(7).faults().iter().filter(|fault| what(&fault.kind)).count();
        let kept = |kind: &Kind| matches!(kind, Kind::Crash { back_after: Some((_, Memory::Kept)), .. });
        assert!(count(kept) > 0 && count(|kind| matches!(kind, Kind::Jam { .. })) > 0);
        assert_eq!(count(|kind| matches!(kind, Kind::Crash { back_after: None | Some((_, Memory::Lost)), .. })), 0);
        let again: FieldPlan = serde_json::from_value(serde_json::to_value(&field).unwrap()).unwrap();
        assert_eq!(again, field, "a trace has it in its header");
    }

    #[test]
    fn crashes_that_are_drawn_are_refused_where_they_are_not_survived() {
        let field = read(DRAWN);
        for tag in ["krl", "hok", "klme", "klme-ft"] {
            assert_eq!(field.check(30, 5, Algorithm::named(tag).unwrap()), Ok(()), "{tag}");
        }
        let losing = read(&DRAWN.replace("memory-lost = 0.0", ""));
        assert_eq!(
            refusal(&losing, "hok"),
            "faults: 0.5 of the crashes lose the memory, which hok does not survive: give memory-lost = 0, or take one of: klme-ft"
        );
        assert_eq!(losing.check(30, 5, Algorithm::named("klme-ft").unwrap()), Ok(()));
        let without = read(&DRAWN.replace("memory-lost = 0.0", "").replace("crashes", "pauses"));
        assert_eq!(without.check(30, 5, Algorithm::named("krl").unwrap()), Ok(()), "there are none to survive");
    }

    #[test]
    fn tracks_take_the_place_of_a_model_and_of_an_area_unless_faults_need_it() {
        let on_tracks = FieldPlan { tracks: Some("two.movements".into()), ..FieldPlan::default() };
        let field = on_tracks.in_force(&["session"]);
        assert!(field["movement"].is_null() && field["area"].is_null() && field["tracks"] == "two.movements");
        assert!(field["layers"]["session"].is_null() && field["layers"]["link"].is_object());
        let disturbed = FieldPlan { faults: Some(Ranges::default()), ..on_tracks };
        assert!(disturbed.in_force(&[])["area"].is_object());
        assert!(FieldPlan::default().in_force(&[])["movement"].is_object());
    }

    #[test]
    fn who_counts_on_right_hints_is_not_left_to_hearsay_and_messages_have_to_fit() {
        let hearsay = read("membership = \"heard\"");
        assert!(refusal(&hearsay, "klme").starts_with("membership = \"heard\": what nodes hear"));
        let fits = |tag: &str| hearsay.check(30, 5, Algorithm::named(tag).unwrap());
        assert_eq!(fits("klme-ft"), Ok(()));
        let decreed = read("membership = \"decreed\"");
        assert_eq!(decreed.membership_of(Algorithm::named("klme-ft").unwrap().claims()), Membership::Decreed);
        for membership in [&hearsay, &decreed] {
            let said = refusal(membership, "krl");
            let others = "leave it out, or take one of: klme, klme-ft";
            assert!(said.starts_with("membership: krl stands on links") && said.ends_with(others), "{said}");
        }
        let small = read("layers = { limits = { message-bytes-max = 1000 } }");
        let said = refusal(&small, "klme");
        assert!(said.starts_with("layers: a message about 5 units and 30 nodes may take 1536 bytes"), "{said}");
        assert_eq!(small.check(30, 5, Algorithm::named("krl").unwrap()), Ok(()), "it says nothing about nodes");
    }

    #[test]
    fn what_makes_no_sense_is_said_about_the_table_where_it_is() {
        let refused = |text: &str| toml::from_str::<FieldPlan>(text).expect_err("it makes no sense").to_string();
        assert!(refused("[radio]\nlos = 0.1\n").contains("unknown field `los`"), "{}", refused("[radio]\nlos = 0.1\n"));
        assert!(refused("radio = 5\n").contains("the name of a radio, or a table"));
        assert!(refused("[faults]\nnodes = 3\n").contains("unknown field `nodes`"));
        let field = read("[faults]\nloss = [0.0, 2.0]\n");
        assert_eq!(refusal(&field, "krl"), "faults: \"loss\" must be a probability from 0 to 1, not 2.0");
    }
}

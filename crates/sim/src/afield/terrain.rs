//! The field, as a person writes it down.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::PathBuf;

use driftlock_field::faults::{FaultError, Faults, Kind, Memory, Schedule};
use driftlock_field::medium::Medium;
use driftlock_field::mobility::{Area, Format, Model, ModelError, Movement, RandomWaypoint, TraceError};
use driftlock_field::radio::{self, SettingsError};
use driftlock_net::link::carries_permits;
use driftlock_net::stack::{self, Stack};
use driftlock_protocol::{Algorithm, Layer, Protocol, View};
use driftlock_trace::Plane;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::Afield;

/// The field, as a person writes it down.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Terrain {
    /// How large it is, in metres.
    pub area: Area,
    /// How nodes move on it.
    pub movement: Model,
    /// Instead: a file that says where everybody is when.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tracks: Option<PathBuf>,
    /// What they hear there.
    pub radio: Radio,
    /// The layers between radio and algorithm.
    pub layers: stack::Settings,
    /// What goes wrong, and when.
    pub fault: Schedule,
}

impl Default for Terrain {
    /// A field on which some tens of walkers mostly reach one another, over several hops.
    fn default() -> Self {
        Self {
            area: Area { width: 700.0, height: 700.0 },
            movement: Model::RandomWaypoint(RandomWaypoint { speed_min: 0.5, speed_max: 2.0, pause: 0.0 }),
            tracks: None,
            radio: Radio::Written(Box::default()),
            layers: stack::Settings::default(),
            fault: Schedule::default(),
        }
    }
}

/// The radio: one with a name, or one that is written out.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Radio {
    /// A preset.
    Named(String),
    /// Every number.
    Written(Box<radio::Settings>),
}

impl Radio {
    fn rules(&self) -> Result<radio::Rules, SettingsError> {
        match self {
            Self::Named(name) => name.parse::<radio::Settings>()?.rules(),
            Self::Written(settings) => settings.rules(),
        }
    }
}

/// A field that makes no sense.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum TerrainError {
    /// Nobody can move so.
    #[error("{0}")]
    Movement(#[from] ModelError),
    /// Nobody can hear so.
    #[error("{0}")]
    Radio(#[from] SettingsError),
    /// Nothing can fail so.
    #[error("{0}")]
    Fault(#[from] FaultError),
    /// The file of movements can not be read.
    #[error("{}: {reason}", path.display())]
    Unreadable {
        /// Which.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// It is of no known kind.
    #[error("{}: this is none of the known kinds of movements: ns-2, BonnMotion, SUMO, ONE", .0.display())]
    UnknownFormat(PathBuf),
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
        "fault {number} is a crash, which {algorithm} does not survive: give it back-after and memory = \"kept\", or take klme-ft"
    )]
    Crash {
        /// Counted from 1.
        number: usize,
        /// The algorithm's tag.
        algorithm: &'static str,
    },
}

impl Terrain {
    /// Refuses what makes no sense.
    pub fn check(&self, nodes: u32, algorithm: &'static Algorithm) -> Result<(), TerrainError> {
        self.movement(nodes, 0)?;
        self.radio.rules()?;
        Faults::new(&self.fault, nodes, Faults::STEP)?;
        let loses = |kind| matches!(kind, Kind::Crash { back_after: None | Some((_, Memory::Lost)), .. });
        match self.fault.faults().iter().position(|fault| loses(fault.kind)) {
            Some(at) if !algorithm.survives_crashes() => {
                Err(TerrainError::Crash { number: at + 1, algorithm: algorithm.tag })
            }
            _ => Ok(()),
        }
    }

    /// The plane, as a trace tells of it.
    pub fn plane(&self) -> Plane {
        let range = self.radio.rules().ok().and_then(|rules| rules.range());
        Plane { width: self.area.width, height: self.area.height, range, sites: Vec::new() }
    }

    fn movement(&self, nodes: u32, seed: u64) -> Result<Movement, TerrainError> {
        let Some(path) = &self.tracks else { return Ok(Movement::new(&self.movement, self.area, nodes, seed)?) };
        let unreadable = |error: io::Error| TerrainError::Unreadable { path: path.clone(), reason: error.to_string() };
        let mut file = BufReader::new(File::open(path).map_err(unreadable)?);
        let name = path.display().to_string();
        let format = Format::of(&name, file.fill_buf().map_err(unreadable)?);
        let tracks = format.ok_or_else(|| TerrainError::UnknownFormat(path.clone()))?.read(&name, file)?;
        if tracks.len() != nodes as usize {
            return Err(TerrainError::OtherNodes { path: path.clone(), tracks: tracks.len(), nodes });
        }
        Ok(Movement::from_tracks(tracks))
    }

    /// The stacks of an algorithm's nodes, all switched on at time zero, on their way about the field.
    pub fn afield<P: Protocol>(&self, nodes: u32, seed: u64) -> Result<Afield<P::Message>, TerrainError> {
        let medium = Medium::new(self.movement(nodes, seed)?, self.radio.rules()?, seed);
        let faults = Faults::new(&self.fault, nodes, Faults::STEP)?;
        let layers = self.layers.clone();
        let fresh = move |now, id, boot| match P::View::LAYER {
            Layer::Links => Stack::linked(now, id, boot, &layers, carries_permits::<P>),
            // What survives lost messages need not be sent again for ever.
            Layer::Neighbourhood => Stack::routed(now, id, boot, &layers, !P::SURVIVES_CRASHES),
        };
        Ok(Afield::new(nodes, medium, faults, P::SURVIVES_CRASHES, P::permits, Box::new(fresh)))
    }
}

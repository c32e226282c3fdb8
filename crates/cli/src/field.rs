//! Fields: those that have a name, those in files, and the flags that every command on a field has.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use driftlock_field::mobility::{Area, Model, ModelError, RandomWaypoint};
use driftlock_sim::field::{FieldError, FieldPlan, Radio};
use toml::de::DeTable;

use crate::failure::Failure;
use crate::movements;
use crate::shell::quoted;

/// The flags that every command on a field has.
#[derive(clap::Args)]
pub(crate) struct FieldFlags {
    /// Nodes move about a field with radios, over the real layers: a TOML file (docs/field.md), or walkers, nfk or
    /// cluster
    #[arg(long, value_name = "FILE")]
    pub(crate) field: Option<PathBuf>,
    /// Nodes move on the field as this file says, and there are as many as it has: ns-2, BonnMotion, SUMO, ONE, GPX or
    /// CSV (docs/mobility.md)
    #[arg(long, value_name = "FILE")]
    pub(crate) tracks: Option<PathBuf>,
    /// Write the packets of one run on the field to this file, for Wireshark (docs/pcap.md)
    #[arg(long, value_name = "FILE")]
    pub(crate) pcap: Option<PathBuf>,
}

/// A field, and the file that it was read from, if it was.
pub(crate) type Read = (FieldPlan, Option<Source>);

/// A field that was asked for.
pub(crate) struct Asked {
    pub(crate) field: FieldPlan,
    /// The file that it is from.
    source: Option<Source>,
    /// How many nodes the movements are of, if a flag has them, and not that file.
    pub(crate) nodes_on_tracks: Option<u32>,
}

impl FieldFlags {
    /// Whether the field is another than that which a command has by itself.
    pub(crate) fn are_given(&self) -> bool {
        self.field.is_some() || self.tracks.is_some()
    }

    /// The files that are read for it.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = &PathBuf> {
        self.field.iter().chain(&self.tracks)
    }

    /// The field that was named, and the file that it is from.
    pub(crate) fn named(&self) -> Result<Option<Read>, Failure> {
        self.field.as_deref().map(read).transpose()
    }

    /// A field with the movements that were given.
    pub(crate) fn over(&self, (field, source): Read) -> Result<Asked, Failure> {
        let Some(path) = &self.tracks else { return Ok(Asked { field, source, nodes_on_tracks: None }) };
        let found = u32::try_from(movements::read(path)?.len()).unwrap_or(u32::MAX);
        let field = FieldPlan { tracks: Some(path.clone()), ..field };
        Ok(Asked { field, source, nodes_on_tracks: Some(found) })
    }

    /// The file for the packets, if there is to be one.
    pub(crate) fn capture(&self) -> Result<Option<Box<dyn Write>>, Failure> {
        let create = |path: &PathBuf| File::create(path).map_err(Failure::write(path));
        let file = self.pcap.as_ref().map(create).transpose()?;
        Ok(file.map(|file| -> Box<dyn Write> { Box::new(BufWriter::new(file)) }))
    }
}

impl Asked {
    /// It makes no sense: says so of its place, or of the flag.
    pub(crate) fn refuse(&self, error: &FieldError) -> Failure {
        match &self.source {
            _ if self.nodes_on_tracks.is_some() && key_of(error).0 == "tracks" => {
                Failure::Other(format!("--tracks: {error}"))
            }
            Some(source) => source.refuse(error),
            None => Failure::Other(format!("the field: {error}")),
        }
    }
}

/// Under which key of a field that is said which makes no sense, and of which of several, counted from 1.
fn key_of(error: &FieldError) -> (&'static str, Option<usize>) {
    match error {
        FieldError::Movement(ModelError::Area(_)) | FieldError::Crowded { .. } => ("area", None),
        FieldError::Movement(_) => ("movement", None),
        FieldError::Radio(_) => ("radio", None),
        FieldError::Layers(_) | FieldError::Unfit(_) => ("layers", None),
        FieldError::Hearsay { .. } | FieldError::NoMembers { .. } => ("membership", None),
        FieldError::Fault(error) => ("fault", Some(error.number)),
        FieldError::Crash { number, .. } => ("fault", Some(*number)),
        FieldError::Faults(_) | FieldError::Crashes { .. } => ("faults", None),
        FieldError::Unreadable { .. } | FieldError::Tracks(_) | FieldError::OtherNodes { .. } => ("tracks", None),
    }
}

/// What a field is called, and which one it is.
type Named = (&'static str, fn() -> FieldPlan);

/// The fields that are there already.
const NAMED: [Named; 3] = [("walkers", FieldPlan::default), ("nfk", nfk), ("cluster", cluster)];

/// Allaoui, Yagoubi, Kerrache, Calafate: "NFK: a novel fault-tolerant K-mutual exclusion algorithm for mobile and
/// opportunistic ad hoc networks", 2019. Its speeds begin at 0, with which random waypoint has no stationary state.
fn nfk() -> FieldPlan {
    square(1000.0, RandomWaypoint { speed_min: 0.1, speed_max: 8.0, pause: 0.0 }, "nfk")
}

/// Sharma, Bhatia, Singh: "A Token Based Protocol for Mutual Exclusion in Mobile Ad Hoc Networks", 2014. Its grid of
/// 500 by 500 is taken to be in metres, and its random mobility with pauses to be random waypoint.
fn cluster() -> FieldPlan {
    square(500.0, RandomWaypoint { speed_min: 8.0, speed_max: 40.0, pause: 150.0 }, "cluster")
}

fn square(side: f64, walk: RandomWaypoint, radio: &str) -> FieldPlan {
    FieldPlan {
        area: Area { width: side, height: side },
        movement: Model::RandomWaypoint(walk),
        radio: Radio::Named(radio.into()),
        ..FieldPlan::default()
    }
}

/// Whether a field has this name.
pub(crate) fn is_name(path: &Path) -> bool {
    NAMED.iter().any(|(name, _)| path.as_os_str() == *name)
}

/// The field of this name, or in this file.
pub(crate) fn read(path: &Path) -> Result<Read, Failure> {
    if let Some((_, named)) = NAMED.iter().find(|(name, _)| path.as_os_str() == *name) {
        return Ok((named(), None));
    }
    let names = NAMED.map(|(name, _)| name).join(", ");
    let text = fs::read_to_string(path).map_err(|error| {
        let unreadable = format!("cannot read {}: {error}; fields that need no file: {names}", path.display());
        movements_instead(path).unwrap_or(Failure::Other(unreadable))
    })?;
    let source = Source { path: path.to_owned(), text, table: None };
    let field = toml::from_str(&source.text).map_err(|error| source.bad_toml(&error))?;
    Ok((source.beside(field), Some(source)))
}

/// What is said if a file that should be TOML is one of movements.
fn movements_instead(path: &Path) -> Option<Failure> {
    let format = movements::format(path).filter(|_| path.is_file())?;
    let path = path.display();
    let word = quoted(&path.to_string());
    Some(Failure::Other(format!(
        "{path} is a file of movements ({format}), and not TOML: give it as --tracks {word}, or in a field as tracks = \
         \"{path}\""
    )))
}

/// A file that a field was read from.
pub(crate) struct Source {
    path: PathBuf,
    text: String,
    /// In which table of the file it is, unless it is all of it.
    table: Option<&'static str>,
}

impl Source {
    /// A file for `--config`.
    pub(crate) fn config(path: &Path) -> Result<Self, Failure> {
        let unreadable = |error| movements_instead(path).unwrap_or_else(|| Failure::read(path)(error));
        let text = fs::read_to_string(path).map_err(unreadable)?;
        Ok(Self { path: path.to_owned(), text, table: Some("field") })
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn bad_toml(&self, error: &toml::de::Error) -> Failure {
        let bad = || Failure::toml(&self.path.display().to_string(), &self.text, error);
        movements_instead(&self.path).unwrap_or_else(bad)
    }

    /// A file of movements that a field names is looked for from where the field is.
    pub(crate) fn beside(&self, mut field: FieldPlan) -> FieldPlan {
        if let (Some(tracks), Some(folder)) = (&mut field.tracks, self.path.parent()) {
            *tracks = folder.join(&*tracks);
        }
        field
    }

    /// A field in this file makes no sense: says so of its place.
    fn refuse(&self, error: &FieldError) -> Failure {
        let name = self.path.display().to_string();
        match self.place(error) {
            Some(span) => Failure::at(&name, &self.text, span, error.to_string()),
            None => Failure::Other(format!("{name}: {error}")),
        }
    }

    /// Where that is said which makes no sense, if it is.
    fn place(&self, error: &FieldError) -> Option<Range<usize>> {
        let root = DeTable::parse(&self.text).ok()?;
        let mut table = root.get_ref();
        if let Some(name) = self.table {
            table = table.get(name)?.get_ref().as_table()?;
        }
        let (key, number) = key_of(error);
        let (key, value) = table.get_key_value(key)?;
        let fault = number.and_then(|number| value.get_ref().as_array()?.get(number - 1));
        Some(fault.map_or_else(|| key.span(), toml::Spanned::span))
    }
}

//! The files in which movements are kept.
//!
//! A trace is read from anything that can be read line by line, and is trusted in nothing: what is malformed is refused
//! with file, line and reason, and no number in it decides how much memory is taken.

pub mod bonnmotion;
mod clock;
pub mod csv;
mod geographic;
pub mod gpx;
mod lines;
pub mod ns2;
pub mod one;
mod packed;
mod sightings;
pub mod sumo_xml;
mod tcl;
mod xml;

use std::fmt;
use std::io::BufRead;

use driftlock_net::Span;
use thiserror::Error;

use self::packed::{look, unpacked};

use super::tracks::Tracks;

/// How many bytes of a file are looked at to know its format.
const HEAD: u64 = 1 << 16;

/// What some programs put in front of a text. It belongs to none of the formats.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Why a trace could not be read, and where.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{file}:{line}: {reason}")]
pub struct TraceError {
    /// As the caller calls it.
    pub file: String,
    /// Counted from 1.
    pub line: u64,
    /// What is wrong, and what to do about it.
    pub reason: String,
}

/// How a trace is written down.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// `setdest` commands of ns-2, which ns-3 reads too.
    Ns2,
    /// A line for each node, as BonnMotion writes it.
    BonnMotion,
    /// Floating car data of SUMO.
    SumoXml,
    /// A table, of SUMO or of others.
    Csv,
    /// Tracks of GPS.
    Gpx,
    /// The external movement of the ONE.
    One,
}

impl fmt::Display for Format {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(match self {
            Self::Ns2 => "ns-2",
            Self::BonnMotion => "BonnMotion",
            Self::SumoXml => "SUMO",
            Self::Csv => "CSV",
            Self::Gpx => "GPX",
            Self::One => "ONE",
        })
    }
}

/// Reads a trace, unpacked or packed, of the format that the file's name or its first lines tell.
pub fn read(name: &str, reader: impl BufRead) -> Result<Tracks, TraceError> {
    let refused = |reason| TraceError { file: name.to_owned(), line: 1, reason };
    let (head, reader) = unpacked_head(reader).map_err(refused)?;
    match Format::of(name, &head) {
        Some(format) => format.read(name, reader),
        None => Err(TraceError { line: first_told(&head), ..refused(unknown(&head)) }),
    }
}

/// The format that the name of a file or its first lines tell, packed or not.
pub fn sniff(name: &str, reader: impl BufRead) -> Option<Format> {
    let (head, _) = unpacked_head(reader).ok()?;
    Format::of(name, &head)
}

fn unpacked_head<'a>(reader: impl BufRead + 'a) -> Result<(Vec<u8>, impl BufRead + 'a), String> {
    look(unpacked(reader)?, HEAD).map_err(|error| lines::unreadable(&error))
}

/// Why a file is of no known format.
fn unknown(head: &[u8]) -> String {
    let head = String::from_utf8_lossy(head);
    let Some(first) = told(&head).next() else { return "there is nothing in this file; is it the right one?".into() };
    let is_toml = first.starts_with('[') || first.split_once('=').is_some_and(|(key, _)| is_key(key.trim()));
    if is_toml {
        return "this looks like the file of a field (TOML), and not of movements: give it as --field".into();
    }
    format!(
        "the first lines are of none of the known kinds of movements (ns-2, BonnMotion, SUMO, CSV, GPX, ONE), but \
         begin with {}; a table needs a line on top that names its columns, such as time,id,x,y",
        lines::shown(first)
    )
}

/// The number of the first line that says something; 1 if none does.
fn first_told(head: &[u8]) -> u64 {
    let head = String::from_utf8_lossy(head);
    let first = told(&head).next();
    (1..).zip(head.lines()).find(|(_, line)| told(line).next() == first).map_or(1, |(number, _)| number)
}

/// Whether TOML could have such a key.
fn is_key(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|character| character.is_alphanumeric() || "_-.".contains(character))
}

/// The lines of a head that say something.
fn told(head: &str) -> impl Iterator<Item = &str> {
    let head = head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(head);
    head.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
}

impl Format {
    /// The format that a file's name tells, or its first lines do.
    pub fn of(name: &str, head: &[u8]) -> Option<Self> {
        match Self::of_name(name) {
            // Only the first lines tell which XML it is.
            Some(Self::SumoXml) => Self::of_content(head).filter(|format| *format == Self::Gpx).or(Some(Self::SumoXml)),
            Some(format) => Some(format),
            None => Self::of_content(head),
        }
    }

    fn of_name(name: &str) -> Option<Self> {
        let name = [".gz", ".bz2", ".xz", ".zst"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
        match name.rsplit_once('.')?.1.to_ascii_lowercase().as_str() {
            "tcl" | "ns2" | "ns_movements" | "setdest" => Some(Self::Ns2),
            "movements" => Some(Self::BonnMotion),
            "xml" => Some(Self::SumoXml),
            "csv" => Some(Self::Csv),
            "gpx" => Some(Self::Gpx),
            "one" => Some(Self::One),
            _ => None,
        }
    }

    fn of_content(head: &[u8]) -> Option<Self> {
        let head = String::from_utf8_lossy(head);
        let mut lines = told(&head);
        let (first, second) = (lines.next()?, lines.next().unwrap_or_default());
        // The names of columns may be marked as a comment.
        let mut headers = head.lines().find(|line| !line.trim().is_empty()).into_iter().chain([first]);
        let is_movement = |line: &str| line.contains(" setdest ") || line.contains(" set X_ ");
        if first.starts_with('<') {
            Some(if head.contains("<gpx") { Self::Gpx } else { Self::SumoXml })
        } else if headers.any(csv::is_header) {
            Some(Self::Csv)
        } else if first.starts_with('$') || told(&head).any(is_movement) {
            Some(Self::Ns2)
        } else {
            Self::of_numbers(&head, first, second)
        }
    }

    /// The format of a file that begins with nothing but numbers. Where that is not the header of the ONE it is taken
    /// to be of BonnMotion, also if a number is missing: its reader says in which line, and what it may be instead.
    fn of_numbers(head: &str, first: &str, second: &str) -> Option<Self> {
        let words = |line: &str| line.split_whitespace().count();
        let is_cut = head.len() as u64 >= HEAD;
        // The head may end in the middle of a line, and of a number.
        let complete = if is_cut && second.is_empty() { first.rsplit_once(char::is_whitespace)?.0 } else { first };
        let is_of_numbers = |line: &str| line.split_whitespace().all(|word| word.parse::<f64>().is_ok());
        if !is_of_numbers(complete) {
            return None;
        }
        let has_z = head.lines().map(str::trim).any(bonnmotion::is_of_three_dimensions);
        let is_one = !has_z && matches!(words(first), 6 | 8) && matches!(words(second), 4 | 5);
        // A second line that is a number short looks like a sighting, and the others of its file do not.
        if is_one && !told(head).skip(2).any(|line| words(line).is_multiple_of(3) && is_of_numbers(line)) {
            return Some(Self::One);
        }
        Some(Self::BonnMotion)
    }

    /// Whether a file of this format can tell which nodes are absent when.
    pub fn knows_absence(self) -> bool {
        !matches!(self, Self::BonnMotion | Self::One)
    }

    /// Reads a trace that is unpacked. The name is that of the file, for errors.
    pub fn read(self, name: &str, reader: impl BufRead) -> Result<Tracks, TraceError> {
        match self {
            Self::Ns2 => ns2::read(name, reader),
            Self::BonnMotion => bonnmotion::read(name, reader),
            Self::SumoXml => sumo_xml::read(name, reader),
            Self::Csv => csv::read(name, reader),
            Self::Gpx => gpx::read(name, reader),
            Self::One => one::read(name, reader),
        }
    }

    /// The trace in this format, if it is one that we write. Only ns-2 [knows absence](Self::knows_absence): in the
    /// others a node stands where it will appear, or where it was last. The ONE gets a place of every node at every
    /// step; the others need no steps.
    pub fn write(self, tracks: &Tracks, step: Span) -> Option<String> {
        match self {
            Self::Ns2 => Some(ns2::write(tracks)),
            Self::BonnMotion => Some(bonnmotion::write(tracks)),
            Self::One => Some(one::write(tracks, step)),
            Self::SumoXml | Self::Csv | Self::Gpx => None,
        }
    }
}

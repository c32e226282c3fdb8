//! The files in which movements are kept.
//!
//! A trace is read from anything that can be read line by line, and is trusted in nothing: what is malformed is refused
//! with file, line and reason, and no number in it decides how much memory is taken.

pub mod bonnmotion;
mod lines;
pub mod ns2;
pub mod one;
mod sightings;
pub mod sumo_csv;
pub mod sumo_xml;

use std::io::BufRead;

use thiserror::Error;

use super::tracks::Tracks;

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
    /// The same as a table.
    SumoCsv,
    /// The external movement of the ONE.
    One,
}

impl Format {
    /// The format that a file's name tells, or its first lines do.
    pub fn of(name: &str, head: &[u8]) -> Option<Self> {
        Self::of_name(name).or_else(|| Self::of_content(head))
    }

    fn of_name(name: &str) -> Option<Self> {
        // The reader then says that it must be unpacked.
        let name = [".gz", ".bz2", ".xz", ".zst"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
        match name.rsplit_once('.')?.1.to_ascii_lowercase().as_str() {
            "tcl" | "ns2" | "ns_movements" | "setdest" => Some(Self::Ns2),
            "movements" => Some(Self::BonnMotion),
            "xml" => Some(Self::SumoXml),
            "csv" => Some(Self::SumoCsv),
            "one" => Some(Self::One),
            _ => None,
        }
    }

    fn of_content(head: &[u8]) -> Option<Self> {
        let head = String::from_utf8_lossy(head);
        let head = head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&head);
        let mut lines = head.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let (first, second) = (lines.next()?, lines.next().unwrap_or_default());
        let are_numbers = |line: &str| line.split_whitespace().all(|word| word.parse::<f64>().is_ok());
        let words = |line: &str| line.split_whitespace().count();
        if first.starts_with('<') {
            Some(Self::SumoXml)
        } else if first.starts_with('$') || first.starts_with("set ") {
            Some(Self::Ns2)
        } else if first.contains(';') {
            Some(Self::SumoCsv)
        } else if !are_numbers(first) {
            None
        } else if matches!(words(first), 6 | 8) && matches!(words(second), 4 | 5) {
            Some(Self::One)
        } else {
            (words(first) % 3 == 0).then_some(Self::BonnMotion)
        }
    }

    /// Reads a trace. The name is that of the file, for errors.
    pub fn read(self, name: &str, reader: impl BufRead) -> Result<Tracks, TraceError> {
        match self {
            Self::Ns2 => ns2::read(name, reader),
            Self::BonnMotion => bonnmotion::read(name, reader),
            Self::SumoXml => sumo_xml::read(name, reader),
            Self::SumoCsv => sumo_csv::read(name, reader),
            Self::One => one::read(name, reader),
        }
    }

    /// The trace in this format, if it is one that we write. None of these knows absence: a node stands where it will
    /// appear, or where it was last.
    pub fn write(self, tracks: &Tracks) -> Option<String> {
        match self {
            Self::Ns2 => Some(ns2::write(tracks)),
            Self::BonnMotion => Some(bonnmotion::write(tracks)),
            Self::One => Some(one::write(tracks)),
            Self::SumoXml | Self::SumoCsv => None,
        }
    }
}

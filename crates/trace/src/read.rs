//! Reading a trace, line by line.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use serde::Deserialize;
use thiserror::Error;

use crate::{FORMAT, Header, Line, VERSION};

/// Which driftlock wrote the versions whose headers do not say so themselves, in the words of docs/trace.md.
const WROTE: [(u32, &str); 3] = [
    (1, "driftlock 0.1.0 before its release (commits from c7a662c until 77f8f68)"),
    (2, "driftlock 0.1.0 before its release (commits from 77f8f68 until 1b0d118)"),
    (3, "driftlock 0.1.0 before its release (commits from 1b0d118 on)"),
];

/// Why a trace cannot be read.
#[derive(Debug, Error)]
pub enum ReadError {
    /// The file cannot be opened or read.
    #[error("cannot read the trace: {0}")]
    Io(#[from] io::Error),
    /// There is nothing in it.
    #[error("the trace is empty")]
    Empty,
    /// The first line is not that of a trace.
    #[error("this is not a driftlock trace: line 1 is no header ({0})")]
    NoHeader(serde_json::Error),
    /// It calls itself something else.
    #[error("this is not a driftlock trace: it calls itself {0:?}")]
    OtherFormat(String),
    /// It was written by another version.
    #[error(
        "the trace has version {version} of the format, which {wrote} wrote, and this driftlock reads version {VERSION}: \
         use the one that wrote it, or record the run again"
    )]
    OtherVersion {
        /// Its version.
        version: u32,
        /// Who wrote such.
        wrote: String,
    },
    /// A line is damaged.
    #[error("line {line} of the trace is damaged: {error}")]
    Damaged {
        /// Counted from 1.
        line: u64,
        /// What the parser says.
        error: serde_json::Error,
    },
    /// The last line is missing.
    #[error("the trace is truncated: it stops after line {line} without an end record")]
    Truncated {
        /// Counted from 1.
        line: u64,
    },
    /// There is more after the last line.
    #[error("line {line} of the trace comes after its end: remove it and what follows, or record the run again")]
    AfterEnd {
        /// Counted from 1.
        line: u64,
    },
}

/// As much of a first line as all versions have.
#[derive(Deserialize)]
struct Kind {
    format: String,
    version: u32,
    #[serde(default)]
    driftlock: Option<String>,
}

/// Who wrote a trace of this version, as far as anybody can tell.
fn writer_of(version: u32, driftlock: Option<String>) -> String {
    let known = WROTE.iter().find(|(known, _)| *known == version).map(|(_, wrote)| (*wrote).to_owned());
    let told = driftlock.map(|driftlock| format!("driftlock {driftlock}"));
    told.or(known).unwrap_or_else(|| "a driftlock unknown to this one".into())
}

/// The longest first line, in bytes: ten times what the most nodes and links take.
const HEADER_MAX: u64 = 1 << 28;

/// The bytes of the trace at `path`; those of one that ends in `.zst` are decompressed.
pub fn bytes(path: &Path) -> io::Result<Box<dyn BufRead>> {
    let file = File::open(path)?;
    let compressed = path.extension().is_some_and(|extension| extension == "zst");
    Ok(if compressed { Box::new(BufReader::new(zstd::Decoder::new(file)?)) } else { Box::new(BufReader::new(file)) })
}

/// Hands out the lines of a trace.
pub struct Reader {
    source: Box<dyn BufRead>,
    header: Header,
    line: u64,
    buffer: String,
    ended: bool,
}

impl Reader {
    /// Opens the trace at `path`.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        Self::new(bytes(path)?)
    }

    /// Reads from any source.
    pub fn new(mut source: Box<dyn BufRead>) -> Result<Self, ReadError> {
        let mut buffer = String::new();
        // What is no trace may be one line of any length.
        if source.by_ref().take(HEADER_MAX).read_line(&mut buffer)? == 0 {
            return Err(ReadError::Empty);
        }
        let Kind { format, version, driftlock } = serde_json::from_str(&buffer).map_err(ReadError::NoHeader)?;
        if format != FORMAT {
            return Err(ReadError::OtherFormat(format));
        }
        if version != VERSION {
            return Err(ReadError::OtherVersion { version, wrote: writer_of(version, driftlock) });
        }
        let header = serde_json::from_str(&buffer).map_err(ReadError::NoHeader)?;
        Ok(Self { source, header, line: 1, buffer, ended: false })
    }

    /// The first line.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The number of the line that was read last, counted from 1.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// The next record; `None` after the end record, after which there may be nothing.
    pub fn next_line(&mut self) -> Result<Option<Line>, ReadError> {
        if self.ended {
            return Ok(None);
        }
        self.buffer.clear();
        if self.source.read_line(&mut self.buffer)? == 0 {
            return Err(ReadError::Truncated { line: self.line });
        }
        self.line += 1;
        match serde_json::from_str(&self.buffer) {
            Ok(line) => {
                self.ended = matches!(line, Line::End { .. });
                if self.ended && !self.source.fill_buf()?.is_empty() {
                    return Err(ReadError::AfterEnd { line: self.line + 1 });
                }
                Ok(Some(line))
            }
            Err(_) if !self.buffer.ends_with('\n') => Err(ReadError::Truncated { line: self.line }),
            Err(error) => Err(ReadError::Damaged { line: self.line, error }),
        }
    }
}

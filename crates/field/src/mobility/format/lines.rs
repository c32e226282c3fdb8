//! What all readers have in common: lines with numbers, and the numbers in them.

use std::io::{self, BufRead, Read};

use crate::plane::Point;
use driftlock_net::Time;

use super::{BYTE_ORDER_MARK, TraceError};
use crate::mobility::model::FAR;
use crate::mobility::tracks::{Track, Tracks, is_place};

/// The latest time in a trace, in seconds: some 300 years.
const LATE: f64 = 1e10;

/// The longest line, in bytes. A few bytes that are unpacked can become a line without end.
const LONG: u64 = 1 << 28;

/// Why a line is refused, which need not be the last that was read.
pub(super) struct Refusal {
    pub(super) line: u64,
    pub(super) reason: String,
}

/// Reads text and knows how many lines it has read.
pub(super) struct Lines<R> {
    reader: R,
    file: String,
    /// How many ends of lines lie behind.
    ended: u64,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(file: &str, reader: R) -> Self {
        Self { reader, file: file.to_owned(), ended: 0 }
    }

    /// Hands every line over, until one is refused.
    pub(super) fn each(&mut self, mut take: impl FnMut(&str) -> Result<(), String>) -> Result<(), TraceError> {
        self.each_numbered(|number, line| take(line).map_err(|reason| Refusal { line: number, reason }))
    }

    /// Hands every line and its number over, until one is refused.
    pub(super) fn each_numbered(
        &mut self,
        mut take: impl FnMut(u64, &str) -> Result<(), Refusal>,
    ) -> Result<(), TraceError> {
        let mut bytes = Vec::new();
        loop {
            let number = self.ended + 1;
            let taken = match self.next_line(&mut bytes) {
                Ok(None) => return Ok(()),
                Ok(Some(line)) => {
                    take(number, line.strip_prefix(BYTE_ORDER_MARK).filter(|_| number == 1).unwrap_or(line))
                }
                Err(reason) => Err(Refusal { line: number, reason }),
            };
            taken.map_err(|Refusal { line, reason }| self.error_at(line, reason))?;
        }
    }

    fn next_line<'a>(&mut self, bytes: &'a mut Vec<u8>) -> Result<Option<&'a str>, String> {
        bytes.clear();
        let read = self.take(LONG).read_until(b'\n', bytes).map_err(|error| unreadable(&error))?;
        if read as u64 == LONG {
            return Err(format!("a line of more than {} MiB is none; is this the right file?", LONG >> 20));
        }
        let line = (read > 0).then(|| str::from_utf8(bytes)).transpose();
        line.map_err(|_| NO_TEXT.to_owned())
    }

    /// An error where the reader is.
    pub(super) fn error(&self, reason: String) -> TraceError {
        self.error_at(self.ended + 1, reason)
    }

    pub(super) fn error_at(&self, line: u64, reason: String) -> TraceError {
        TraceError { file: self.file.clone(), line, reason }
    }

    /// All tracks, if there are any.
    pub(super) fn tracks(&self, tracks: Vec<Track>) -> Result<Tracks, TraceError> {
        if tracks.is_empty() {
            return Err(
                self.error("the trace ends here and has no node in it; is this the right file, and all of it?".into())
            );
        }
        Ok(Tracks::new(tracks))
    }
}

impl<R: BufRead> Read for Lines<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let available = self.fill_buf()?;
        let count = available.len().min(buffer.len());
        buffer[..count].copy_from_slice(&available[..count]);
        self.consume(count);
        Ok(count)
    }
}

impl<R: BufRead> BufRead for Lines<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.reader.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        // What is consumed has been filled in before, so this reads nothing.
        let filled = self.reader.fill_buf().unwrap_or_default();
        let consumed = &filled[..count.min(filled.len())];
        self.ended += consumed.iter().map(|byte| u64::from(*byte == b'\n')).sum::<u64>();
        self.reader.consume(count);
    }
}

/// What is said of bytes that are no text.
pub(super) const NO_TEXT: &str =
    "this is not text in UTF-8; if it is in another encoding, convert it first (iconv -f latin1 -t utf-8)";

/// Why reading has failed.
pub(super) fn unreadable(error: &io::Error) -> String {
    format!("the file cannot be read: {error}; is it all there, and undamaged?")
}

/// Any number but the infinite.
pub(super) fn number(text: &str, what: &str) -> Result<f64, String> {
    let parsed = text.parse::<f64>().ok().filter(|value| value.is_finite());
    let with_a_point = || text.replacen(',', ".", 1).parse::<f64>();
    parsed.ok_or_else(|| {
        let advice = if text.contains(',') && with_a_point().is_ok() { ": write 1.5 and not 1,5" } else { "" };
        format!("{what} must be a number, not {}{advice}", shown(text))
    })
}

/// A time in seconds.
pub(super) fn time(text: &str) -> Result<Time, String> {
    since(text, 0.0)
}

/// A time in seconds, counted from another.
pub(super) fn since(text: &str, start: f64) -> Result<Time, String> {
    let seconds = number(text, "a time")? - start;
    if (0.0..=LATE).contains(&seconds) {
        return Ok(Time::from_units(seconds));
    }
    Err(format!("a time must be from {start} to {} seconds, not {}", start + LATE, shown(text)))
}

/// A coordinate in metres.
pub(super) fn coordinate(text: &str, what: &str) -> Result<f64, String> {
    let value = number(text, what)?;
    if is_place(value) {
        return Ok(value);
    }
    Err(format!("{what} must be at most {FAR} metres from the origin, not {}", shown(text)))
}

/// Two coordinates.
pub(super) fn point(x: &str, y: &str) -> Result<Point, String> {
    Ok(Point { x: coordinate(x, "x")?, y: coordinate(y, "y")? })
}

/// A text as an error quotes it: of a long one only the beginning.
pub(super) fn shown(text: &str) -> String {
    const SHOWN: usize = 40;
    let start: String = text.chars().take(SHOWN).collect();
    if start.len() < text.len() { format!("{start:?}...") } else { format!("{start:?}") }
}

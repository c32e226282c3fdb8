//! A trace that grows: one writes, any number of pages read along, each from the beginning.

use std::io::{self, Write};
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

/// What has been written since the last header, and who waits for more.
#[derive(Clone)]
pub struct Hub {
    history: Arc<Mutex<History>>,
    /// Changes whenever there is something new.
    news: Arc<watch::Sender<u64>>,
}

#[derive(Default)]
struct History {
    /// Grows with each trace that begins.
    trace: u64,
    /// Whole lines, in pieces as they came.
    pieces: Vec<Arc<str>>,
    bytes: usize,
}

/// How far a reader has got.
#[derive(Clone, Copy, Default)]
pub(crate) struct Place {
    trace: u64,
    piece: usize,
}

impl Default for Hub {
    fn default() -> Self {
        Self { history: Arc::default(), news: Arc::new(watch::Sender::new(0)) }
    }
}

impl Hub {
    /// Where a world writes a new trace to. Readers of the one before go over to it.
    pub fn begin(&self) -> Sink {
        let mut history = self.history();
        *history = History { trace: history.trace + 1, ..History::default() };
        Sink { hub: self.clone(), trace: history.trace, line: Vec::new() }
    }

    /// Tells all readers this, which is one line or several.
    pub fn tell(&self, lines: &str) {
        let trace = self.history().trace;
        self.add(trace, lines.trim_end());
    }

    /// How much has been written since the last header.
    pub fn bytes(&self) -> usize {
        self.history().bytes
    }

    fn add(&self, trace: u64, lines: &str) {
        let mut history = self.history();
        // What is left of a trace that is over is of no interest.
        if history.trace == trace && !lines.is_empty() {
            history.bytes += lines.len();
            history.pieces.push(lines.into());
            drop(history);
            self.news.send_modify(|count| *count += 1);
        }
    }

    /// What a reader has not read yet.
    pub(crate) fn read_on(&self, place: &mut Place) -> Vec<Arc<str>> {
        let history = self.history();
        if place.trace != history.trace {
            *place = Place { trace: history.trace, piece: 0 };
        }
        let new = history.pieces[place.piece..].to_vec();
        place.piece = history.pieces.len();
        new
    }

    /// Tells when there is more.
    pub(crate) fn news(&self) -> watch::Receiver<u64> {
        self.news.subscribe()
    }

    fn history(&self) -> MutexGuard<'_, History> {
        self.history.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes a trace, and hands it on in whole lines whenever it is flushed.
pub struct Sink {
    hub: Hub,
    trace: u64,
    line: Vec<u8>,
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.line.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let end = self.line.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let rest = self.line.split_off(end);
        let whole = mem::replace(&mut self.line, rest);
        self.hub.add(self.trace, String::from_utf8_lossy(&whole).trim_end());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(pieces: &[Arc<str>]) -> String {
        pieces.join("\n")
    }

    #[test]
    fn readers_get_whole_lines_from_the_beginning_each_once() {
        let hub = Hub::default();
        let mut sink = hub.begin();
        write!(sink, "one\ntw").unwrap();
        let (mut early, mut late) = (Place::default(), Place::default());
        assert_eq!(text(&hub.read_on(&mut early)), "");
        sink.flush().unwrap();
        assert_eq!(text(&hub.read_on(&mut early)), "one");
        writeln!(sink, "o").unwrap();
        sink.flush().unwrap();
        hub.tell("three\n");
        assert_eq!(
            (text(&hub.read_on(&mut early)), text(&hub.read_on(&mut late))),
            ("two\nthree".into(), "one\ntwo\nthree".into())
        );
        assert_eq!((text(&hub.read_on(&mut early)), hub.bytes()), (String::new(), 11));
    }

    #[test]
    fn a_new_trace_takes_the_place_of_the_former_whose_rest_is_dropped() {
        let (hub, mut place) = (Hub::default(), Place::default());
        let mut former = hub.begin();
        writeln!(former, "former").unwrap();
        former.flush().unwrap();
        assert_eq!(text(&hub.read_on(&mut place)), "former");
        let mut new = hub.begin();
        writeln!(former, "rest").unwrap();
        writeln!(new, "new").unwrap();
        former.flush().unwrap();
        new.flush().unwrap();
        assert_eq!(text(&hub.read_on(&mut place)), "new");
    }
}

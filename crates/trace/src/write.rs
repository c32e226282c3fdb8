//! Writing a trace while a world runs.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use driftlock_protocol::{Effect, Incarnation, InputOf, NodeId, Protocol, Refusal, StatusChange};
use serde::Serialize;

use crate::record::LiveStep;
use crate::{End, Header, LinkChange};

/// Writes the lines of one trace.
///
/// A world can not stop in the middle of a step because a disk is full, so the first error is kept and
/// [`Writer::finish`] returns it.
pub struct Writer {
    sink: Box<dyn Write + Send>,
    steps: u64,
    error: Option<io::Error>,
}

impl Writer {
    /// Starts a trace at `path`; one that ends in `.zst` is compressed.
    pub fn create(path: &Path, header: &Header) -> io::Result<Self> {
        let file = BufWriter::new(File::create(path)?);
        let compressed = path.extension().is_some_and(|extension| extension == "zst");
        let sink: Box<dyn Write + Send> =
            if compressed { Box::new(zstd::Encoder::new(file, 0)?.auto_finish()) } else { Box::new(file) };
        Ok(Self::new(sink, header))
    }

    /// Starts a trace in any sink.
    pub fn new(sink: Box<dyn Write + Send>, header: &Header) -> Self {
        let mut writer = Self { sink, steps: 0, error: None };
        writer.line(header);
        writer
    }

    /// A link has formed or failed.
    pub fn link(&mut self, t: u64, link: (NodeId, NodeId), up: bool, incarnation: Incarnation) {
        self.line(&LinkChange { t, link, up, incarnation });
    }

    /// A node has taken an input.
    pub fn step<P: Protocol>(
        &mut self,
        t: u64,
        node: NodeId,
        input: &InputOf<P>,
        out: &[Effect<P::Message, P::Timer>],
        refused: Option<Refusal>,
        status: Option<StatusChange>,
    ) {
        self.steps += 1;
        let step: LiveStep<'_, P, _> = LiveStep::<P, _> { t, node, input, out, refused, status };
        self.line(&step);
    }

    /// Ends the trace, and says whether all of it was written.
    pub fn finish(mut self, violation: Option<String>) -> io::Result<()> {
        #[derive(Serialize)]
        struct Last {
            end: End,
        }
        let steps = self.steps;
        self.line(&Last { end: End { steps, violation } });
        match self.error.take() {
            Some(error) => Err(error),
            None => self.sink.flush(),
        }
    }

    fn line(&mut self, record: &impl Serialize) {
        if self.error.is_some() {
            return;
        }
        let written = serde_json::to_writer(&mut self.sink, record).map_err(io::Error::from);
        self.error = written.and_then(|()| self.sink.write_all(b"\n")).err();
    }
}

//! Writing a trace while a world runs.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use driftlock_protocol::ideal::{Presence, Sight};
use driftlock_protocol::{Effect, Incarnation, InputOf, NodeId, Protocol, Refusal, StatusChange};
use serde::Serialize;

use crate::record::{LiveStep, RESTART, Step};
use crate::{End, Header, LinkChange, Loss, MemberChange, Scene};

/// Writes the lines of one trace.
///
/// A world can not stop in the middle of a step because a disk is full, so the first error is kept and
/// [`Writer::finish`] returns it.
pub struct Writer {
    sink: Sink,
    steps: u64,
    error: Option<io::Error>,
}

/// Where the lines go.
enum Sink {
    Plain(Box<dyn Write + Send>),
    Compressed(zstd::Encoder<'static, BufWriter<File>>),
}

impl Sink {
    fn as_write(&mut self) -> &mut dyn Write {
        match self {
            Self::Plain(sink) => sink,
            Self::Compressed(encoder) => encoder,
        }
    }

    /// Writes what is still held back.
    fn finish(self) -> io::Result<()> {
        match self {
            Self::Plain(mut sink) => sink.flush(),
            Self::Compressed(encoder) => encoder.finish()?.flush(),
        }
    }
}

impl Writer {
    /// Starts a trace at `path`; one that ends in `.zst` is compressed.
    pub fn create(path: &Path, header: &Header) -> io::Result<Self> {
        let file = BufWriter::new(File::create(path)?);
        let compressed = path.extension().is_some_and(|extension| extension == "zst");
        let sink =
            if compressed { Sink::Compressed(zstd::Encoder::new(file, 0)?) } else { Sink::Plain(Box::new(file)) };
        Ok(Self::start(sink, header))
    }

    /// Starts a trace in any sink.
    pub fn new(sink: Box<dyn Write + Send>, header: &Header) -> Self {
        Self::start(Sink::Plain(sink), header)
    }

    fn start(sink: Sink, header: &Header) -> Self {
        let mut writer = Self { sink, steps: 0, error: None };
        writer.line(header);
        writer
    }

    /// Something below the nodes has changed.
    pub fn sight(&mut self, t: u64, sight: Sight) {
        match sight {
            Sight::Link { ends, up, incarnation } => self.link(t, ends, up, incarnation),
            Sight::Member(member, presence) => self.member(t, member, presence),
        }
    }

    /// A link has formed or failed.
    pub fn link(&mut self, t: u64, link: (NodeId, NodeId), up: bool, incarnation: Incarnation) {
        self.line(&LinkChange { t, link, up, incarnation });
    }

    /// A node has entered the neighbourhood, departed or crashed.
    pub fn member(&mut self, t: u64, member: NodeId, presence: Presence) {
        self.line(&MemberChange { t, member, presence });
    }

    /// This message from one node to another is lost.
    pub fn loss<M: Serialize>(&mut self, t: u64, from: NodeId, to: NodeId, message: &M) {
        self.line(&Loss { t, lost: (from, to), message });
    }

    /// Something around the nodes has changed.
    pub fn scene(&mut self, scene: &Scene) {
        self.line(scene);
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

    /// A node was killed, and is back with what it had stored.
    pub fn restart<P: Protocol>(
        &mut self,
        t: u64,
        node: NodeId,
        out: &[Effect<P::Message, P::Timer>],
        status: Option<StatusChange>,
    ) {
        self.steps += 1;
        self.line(&Step { t, node, input: RESTART, out, refused: None, status });
    }

    /// Hands what was written to whoever reads along.
    pub fn flush(&mut self) {
        if self.error.is_none() {
            self.error = self.sink.as_write().flush().err();
        }
    }

    /// Ends the trace, and says whether all of it was written.
    pub fn finish(mut self, t: u64, violation: Option<String>) -> io::Result<()> {
        #[derive(Serialize)]
        struct Last {
            end: End,
        }
        let steps = self.steps;
        self.line(&Last { end: End { steps, t: Some(t), violation } });
        match self.error.take() {
            Some(error) => Err(error),
            None => self.sink.finish(),
        }
    }

    fn line(&mut self, record: &impl Serialize) {
        if self.error.is_some() {
            return;
        }
        let sink = self.sink.as_write();
        let written = serde_json::to_writer(&mut *sink, record).map_err(io::Error::from);
        self.error = written.and_then(|()| sink.write_all(b"\n")).err();
    }
}

//! Writing a trace while a world runs.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::rc::Rc;

use driftlock_protocol::ideal::{Presence, Sight};
use driftlock_protocol::{Effect, Incarnation, InputOf, NodeId, Protocol, Refusal, StatusChange};
use serde::Serialize;

use crate::record::{LiveStep, RESTART, Step};
use crate::{End, Header, Join, LinkChange, Loss, MemberChange, Scene};

/// Writes the lines of a trace, for one resource in one neighbourhood. Others write into the same trace: see
/// [`Writer::of_neighbourhood`] and [`Writer::of_resource`].
///
/// A world cannot stop in the middle of a step because a disk is full, so the first error is kept and
/// [`Writer::finish`] returns it.
pub struct Writer {
    lines: Rc<RefCell<Lines>>,
    resource: u32,
    neighbourhood: u32,
}

/// What all who write a trace have in common.
struct Lines {
    sink: Sink,
    steps: u64,
    /// Of which resource, and what.
    violation: Option<(u32, String)>,
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
        let mut lines = Lines { sink, steps: 0, violation: None, error: None };
        lines.put(header);
        Self { lines: Rc::new(RefCell::new(lines)), resource: 0, neighbourhood: 0 }
    }

    /// Writes into the same trace, for another neighbourhood of the same resource.
    #[must_use]
    pub fn of_neighbourhood(&self, neighbourhood: u32) -> Self {
        Self { lines: self.lines.clone(), neighbourhood, ..*self }
    }

    /// Writes into the same trace, for another resource.
    #[must_use]
    pub fn of_resource(&self, resource: u32) -> Self {
        Self { lines: self.lines.clone(), resource, neighbourhood: 0 }
    }

    /// A node takes part from now on, and knows nothing.
    pub fn join(&mut self, t: u64, node: NodeId) {
        self.line(&Join { t, join: node });
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
        let &mut Self { resource, neighbourhood, .. } = self;
        let neighbourhood = if presence == Presence::Inside { neighbourhood } else { 0 };
        self.line(&MemberChange { t, member, presence, resource, neighbourhood });
    }

    /// This message from one node to another is lost.
    pub fn loss<M: Serialize>(&mut self, t: u64, from: NodeId, to: NodeId, message: &M) {
        self.line(&Loss { t, lost: (from, to), resource: self.resource, message });
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
        let step: LiveStep<'_, P, _> =
            LiveStep::<P, _> { t, node, resource: self.resource, input, out, refused, status };
        self.step_line(&step);
    }

    /// A node was killed, and is back with what it had stored.
    pub fn restart<P: Protocol>(
        &mut self,
        t: u64,
        node: NodeId,
        out: &[Effect<P::Message, P::Timer>],
        status: Option<StatusChange>,
    ) {
        self.step_line(&Step { t, node, resource: self.resource, input: RESTART, out, refused: None, status });
    }

    /// Hands what was written to whoever reads along.
    pub fn flush(&mut self) {
        let mut lines = self.lines.borrow_mut();
        if lines.error.is_none() {
            lines.error = lines.sink.as_write().flush().err();
        }
    }

    /// Writes nothing more. The last of those that write the trace ends it so, and says whether all of it was written.
    pub fn finish(self, t: u64, violation: Option<String>) -> io::Result<()> {
        if let Some(violation) = violation {
            self.lines.borrow_mut().violation.get_or_insert((self.resource, violation));
        }
        Rc::into_inner(self.lines).map_or(Ok(()), |lines| lines.into_inner().finish(t))
    }

    fn line(&mut self, record: &impl Serialize) {
        self.lines.borrow_mut().put(record);
    }

    fn step_line(&mut self, step: &impl Serialize) {
        let mut lines = self.lines.borrow_mut();
        lines.steps += 1;
        lines.put(step);
    }
}

impl Lines {
    fn put(&mut self, record: &impl Serialize) {
        if self.error.is_some() {
            return;
        }
        let sink = self.sink.as_write();
        let written = serde_json::to_writer(&mut *sink, record).map_err(io::Error::from);
        self.error = written.and_then(|()| sink.write_all(b"\n")).err();
    }

    fn finish(mut self, t: u64) -> io::Result<()> {
        #[derive(Serialize)]
        struct Last {
            end: End,
        }
        let (resource, violation) =
            self.violation.take().map_or((0, None), |(resource, violation)| (resource, Some(violation)));
        self.put(&Last { end: End { steps: self.steps, t: Some(t), violation, resource } });
        match self.error.take() {
            Some(error) => Err(error),
            None => self.sink.finish(),
        }
    }
}

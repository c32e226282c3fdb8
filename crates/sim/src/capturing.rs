//! Packets that are written down while they go over the air.

use std::io::{self, Write};

use driftlock_field::capture::Capture;
use driftlock_net::wire::{Datagram, WireError};

/// A file for Wireshark that is being written, if one was asked for. What cannot be written ends it, and is told at
/// the end.
#[derive(Default)]
pub(crate) struct Capturing {
    file: Option<Capture<Box<dyn Write>>>,
    error: Option<io::Error>,
}

impl Capturing {
    /// Writes the packets of so many nodes there.
    pub(crate) fn to(writer: Box<dyn Write>, nodes: u32) -> io::Result<Self> {
        Ok(Self { file: Some(Capture::new(writer, nodes)?), error: None })
    }

    /// Writes one down, which is made only if there is a file for it.
    pub(crate) fn write(
        &mut self,
        datagram: impl FnOnce() -> Result<Datagram, WireError>,
        write: impl FnOnce(&mut Capture<Box<dyn Write>>, &Datagram) -> io::Result<()>,
    ) {
        let Some(file) = &mut self.file else { return };
        let written = datagram().map_err(io::Error::other).and_then(|datagram| write(file, &datagram));
        if let Err(error) = written {
            (self.file, self.error) = (None, Some(error));
        }
    }

    /// Ends the file.
    pub(crate) fn finish(self) -> io::Result<()> {
        match (self.error, self.file) {
            (Some(error), _) => Err(error),
            (None, Some(file)) => file.finish().map(drop),
            (None, None) => Ok(()),
        }
    }
}

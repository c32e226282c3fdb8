//! A trace that lies in a file, piece by piece.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use axum::body::{Body, Bytes};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

const PIECE: usize = 1 << 16;

/// What the file holds, decompressed if its name ends in `.zst`. It is read as fast as it is taken.
pub(crate) fn body(path: &Path) -> Body {
    let (path, (sender, receiver)) = (path.to_owned(), mpsc::channel(4));
    tokio::task::spawn_blocking(move || {
        if let Err(error) = send(&path, &sender) {
            // The reader sees that it was cut off.
            _ = sender.blocking_send(Err(error));
        }
    });
    Body::from_stream(ReceiverStream::new(receiver))
}

fn send(path: &Path, sender: &mpsc::Sender<io::Result<Bytes>>) -> io::Result<()> {
    let file = File::open(path)?;
    let compressed = path.extension().is_some_and(|extension| extension == "zst");
    let mut source: Box<dyn Read> = if compressed { Box::new(zstd::Decoder::new(file)?) } else { Box::new(file) };
    let mut piece = vec![0; PIECE];
    loop {
        let length = source.read(&mut piece)?;
        if length == 0 || sender.blocking_send(Ok(Bytes::copy_from_slice(&piece[..length]))).is_err() {
            return Ok(());
        }
    }
}

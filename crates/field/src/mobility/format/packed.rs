//! Files that are compressed, which their first bytes tell.

use std::io::{self, BufRead, BufReader, Chain, Cursor, Read};

use flate2::bufread::MultiGzDecoder;

/// Those that are unpacked here.
const GZIP: &[u8] = b"\x1f\x8b";
const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd";
/// Those that are not, and what unpacks them.
const OTHERS: [(&[u8], &str, &str); 3] =
    [(b"BZh", "bzip2", "bunzip2"), (b"\xfd7zXZ", "xz", "unxz"), (b"PK\x03\x04", "zip", "unzip")];

/// How many bytes tell.
const MAGIC: u64 = 6;

/// What was read to have a look at it, and all that follows, as if it had not been looked at.
pub(super) type Untouched<R> = Chain<Cursor<Vec<u8>>, R>;

/// Looks at the first bytes: at so many, if there are.
pub(super) fn look<R: BufRead>(mut reader: R, bytes: u64) -> io::Result<(Vec<u8>, Untouched<R>)> {
    let mut head = Vec::new();
    reader.by_ref().take(bytes).read_to_end(&mut head)?;
    Ok((head.clone(), Cursor::new(head).chain(reader)))
}

/// The bytes of a file, unpacked if they are packed; or why they cannot be.
pub(super) fn unpacked<'a>(reader: impl BufRead + 'a) -> Result<Box<dyn BufRead + 'a>, String> {
    let broken = |error: io::Error| super::lines::unreadable(&error);
    let (head, reader) = look(reader, MAGIC).map_err(broken)?;
    if head.starts_with(GZIP) {
        return Ok(Box::new(BufReader::new(MultiGzDecoder::new(reader))));
    }
    if head.starts_with(ZSTD) {
        let decoder = zstd::Decoder::with_buffer(reader).map_err(broken)?;
        return Ok(Box::new(BufReader::new(decoder)));
    }
    match OTHERS.iter().find(|(magic, ..)| head.starts_with(magic)) {
        Some((_, packed, unpack)) => Err(format!(
            "this is compressed by {packed}, and only gzip and zstd are read as they are: unpack it first ({unpack})"
        )),
        None => Ok(Box::new(reader)),
    }
}

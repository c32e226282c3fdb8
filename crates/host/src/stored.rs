//! What a node stores, as bytes.

use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

/// What stored parts begin with. Who changes what is stored counts it up.
const VERSION: u8 = 1;

/// Why something stored cannot be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum Unreadable {
    /// Of a later or an earlier driftlock.
    #[error(
        "it was stored in version {0} of the format, and this is version {VERSION}: start the driftlock that wrote it"
    )]
    Version(u8),
    /// Changed since it was written, or of another algorithm.
    #[error("it is cut short or malformed: this node cannot come back as who it was, and must begin under a new id")]
    Malformed,
}

/// As it is written down.
pub(crate) fn encode(part: &impl Serialize) -> Vec<u8> {
    postcard::to_extend(part, vec![VERSION]).expect("what nodes store can be written")
}

/// As it was before it was written down.
pub(crate) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Unreadable> {
    match bytes.split_first() {
        Some((&VERSION, part)) => match postcard::take_from_bytes(part) {
            Ok((part, [])) => Ok(part),
            _ => Err(Unreadable::Malformed),
        },
        Some((&version, _)) => Err(Unreadable::Version(version)),
        None => Err(Unreadable::Malformed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_stored_is_read_back_and_nothing_else_is() {
        let bytes = encode(&(7_u32, Some(3_u64)));
        assert_eq!(decode(&bytes), Ok((7_u32, Some(3_u64))));
        for cut in 1..bytes.len() {
            assert_eq!(decode::<(u32, Option<u64>)>(&bytes[..cut]), Err(Unreadable::Malformed));
        }
        let longer = [&bytes[..], &[0]].concat();
        assert_eq!(decode::<(u32, Option<u64>)>(&longer), Err(Unreadable::Malformed));
        assert_eq!(decode::<()>(&[]), Err(Unreadable::Malformed));
        assert_eq!(decode::<()>(&[VERSION + 1]), Err(Unreadable::Version(VERSION + 1)));
    }
}

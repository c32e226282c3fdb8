//! What the layers carry: the message of a resource, as bytes.
//!
//! A message is encoded once, by its sender. Every layer, every repetition and every receiver shares these bytes, and
//! knows their length without looking at them; they are decoded where they have arrived.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::wire::{self, WireError};

/// Tells the resources of a network apart, on the air and at each node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Resource(pub u16);

/// A message of the nodes of one resource.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Parcel {
    /// Whose it is.
    pub resource: Resource,
    /// Whether it must be neither lost nor doubled: it carries permits, or the token that others wait for.
    pub keep: bool,
    content: Arc<[u8]>,
}

impl Parcel {
    /// A message that is about to be sent.
    pub fn new(resource: Resource, keep: bool, message: &impl Serialize) -> Self {
        Self { resource, keep, content: wire::content(message) }
    }

    /// The message.
    pub fn open<M: DeserializeOwned>(&self) -> Result<M, WireError> {
        wire::from_content(&self.content, "a message")
    }

    /// How many bytes the message takes.
    #[allow(clippy::len_without_is_empty)] // a message says something
    pub fn len(&self) -> usize {
        self.content.len()
    }
}

/// On the air the number of the resource and whether the message is to be kept are one number.
#[derive(Serialize, Deserialize)]
#[serde(rename = "parcel")]
struct Label(u32);

impl Serialize for Parcel {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let label = Label(u32::from(self.resource.0) << 1 | u32::from(self.keep));
        (label, Bytes(&self.content)).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Parcel {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (Label(label), content) = <(Label, Vec<u8>)>::deserialize(deserializer)?;
        let resource =
            u16::try_from(label >> 1).map_err(|_| serde::de::Error::custom("no resource has this number"))?;
        Ok(Self { resource: Resource(resource), keep: label & 1 == 1, content: content.into() })
    }
}

/// Bytes are written, and counted, all at once and not one by one.
struct Bytes<'a>(&'a [u8]);

impl Serialize for Bytes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parcel_says_on_the_air_whose_it_is_and_whether_it_is_to_be_kept() {
        for (number, label_len) in [(0, 1), (63, 1), (64, 2), (u16::MAX, 3)] {
            for keep in [false, true] {
                let parcel = Parcel::new(Resource(number), keep, &("a message", 7_u64));
                let bytes = wire::content(&parcel);
                assert_eq!(bytes.len(), label_len + 1 + parcel.len());
                let read: Parcel = wire::from_content(&bytes, "a parcel").expect("it was written so");
                assert_eq!((read.open(), &read), (Ok(("a message".to_owned(), 7_u64)), &parcel));
            }
        }
        let beyond = wire::content(&(u32::from(u16::MAX) * 2 + 2, [0_u8; 0].as_slice()));
        assert!(wire::from_content::<Parcel>(&beyond, "a parcel").is_err());
    }
}

//! How much a node takes on.

use driftlock_protocol::K_MAX;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::Footing;
use crate::parcel::Resource;

/// The most bytes that a message says about nothing in particular, about one unit, and about one member. The field
/// looks at every message of every algorithm that it is no longer than that.
const HEAD_MAX: usize = 256;
const OF_UNIT_MAX: usize = 64;
const OF_MEMBER_MAX: usize = 32;
/// What a piece has besides its part of the packet.
const PIECE_HEAD: usize = 24;
/// The most messages that one packet carries: those in doubt between two nodes.
const MESSAGES_MAX: usize = 16;

/// The most bytes of frames and messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Limits {
    /// The longest payload of a datagram: what is longer is cut into pieces.
    pub frame_bytes_max: usize,
    /// The longest message. A resource whose messages may be longer is refused.
    pub message_bytes_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { frame_bytes_max: 1_200, message_bytes_max: 64 * 1024 }
    }
}

impl Limits {
    /// The shortest frame that makes sense: the hello of a node with few neighbours is not cut.
    const FRAME_MIN: usize = 512;

    /// Refuses what nothing could be sent with, in a sentence.
    pub fn check(&self) -> Result<(), &'static str> {
        if self.frame_bytes_max < Self::FRAME_MIN {
            return Err("limits.frame-bytes-max must be at least 512: a hello would not fit");
        }
        if self.message_bytes_max.div_ceil(self.part_max()) * MESSAGES_MAX > usize::from(u16::MAX) {
            return Err("limits.message-bytes-max is too long: it would be cut into more than 4095 pieces");
        }
        Ok(())
    }

    /// The longest part of a packet.
    pub(super) fn part_max(&self) -> usize {
        self.frame_bytes_max - PIECE_HEAD
    }

    /// The most parts of a packet that any node sends.
    pub(super) fn parts_max(&self) -> usize {
        1 + self.message_bytes_max.div_ceil(self.part_max()) * MESSAGES_MAX
    }

    /// Refuses a resource whose messages may be too long.
    pub fn admit(&self, resource: Resource, resident: &Resident) -> Result<(), Unfit> {
        let Resident { k, members, .. } = *resident;
        let (longest, most) = (resident.longest(), self.message_bytes_max);
        if longest > most { Err(Unfit { resource, k, members, longest, most }) } else { Ok(()) }
    }
}

/// What a stack has to know of the node of a resource.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Resident {
    /// What it stands on.
    pub footing: Footing,
    /// How many units there are.
    pub k: u32,
    /// How many nodes share them, at most.
    pub members: u32,
}

impl Resident {
    /// The longest message that it may send. Who stands on links tells a neighbour about units alone; who stands on
    /// nothing tells about every member.
    pub fn longest(&self) -> usize {
        let members = if self.footing == Footing::Links { 0 } else { self.members as usize };
        HEAD_MAX + OF_UNIT_MAX * self.k.min(K_MAX) as usize + OF_MEMBER_MAX * members
    }
}

/// Why a node cannot take part in a resource.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error(
    "a message about {k} units and {members} nodes may take {longest} bytes, and at most {most} are sent: share fewer \
     units, among fewer nodes, or raise limits.message-bytes-max"
)]
pub struct Unfit {
    /// Which resource.
    pub resource: Resource,
    /// Its units.
    pub k: u32,
    /// How many nodes share them.
    pub members: u32,
    /// How many bytes a message of it may take.
    pub longest: usize,
    /// How many may be sent.
    pub most: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_not_be_sent_is_refused_when_a_resource_is_set_up() {
        let limits = Limits::default();
        let resident = |footing, k, members| Resident { footing, k, members };
        let admit = |resident| limits.admit(Resource(7), &resident);
        assert_eq!(admit(resident(Footing::Links, K_MAX, 100_000)), Ok(()));
        assert_eq!(admit(resident(Footing::Paths, K_MAX, 1_500)), Ok(()));
        let refusal = admit(resident(Footing::Paths, 5, 10_000)).expect_err("too many");
        assert_eq!((refusal.k, refusal.members, refusal.longest, refusal.most), (5, 10_000, 320_576, 65_536));
        let small = Limits { message_bytes_max: 1_000, ..limits };
        assert!(small.admit(Resource(0), &resident(Footing::Links, 20, 2)).is_err(), "its k is too large");
        assert_eq!(small.admit(Resource(0), &resident(Footing::Links, 8, 2)), Ok(()));
    }

    #[test]
    fn limits_with_which_nothing_could_be_sent_are_refused() {
        let usual = Limits::default();
        assert_eq!(usual.check(), Ok(()));
        assert!(
            Limits { frame_bytes_max: 100, ..usual }.check().is_err_and(|refusal| refusal.contains("frame-bytes-max"))
        );
        assert!(
            Limits { message_bytes_max: 1 << 30, ..usual }
                .check()
                .is_err_and(|refusal| refusal.contains("message-bytes-max"))
        );
    }
}

//! What is larger than a frame: cut into pieces, and joined.
//!
//! This is below links and sessions: they see the whole or nothing, and repeat what did not arrive, so no piece is ever
//! acknowledged, stored or offered by itself. What is joined by half is forgotten when it is in the way.

use std::collections::BTreeMap;

use crate::Boot;
use driftlock_protocol::NodeId;
use serde::{Deserialize, Serialize};

/// The most that is joined of one sender at a time. With more of them the oldest is given up.
const OF_ONE_SENDER_MAX: usize = 4;
/// The most that is joined of all.
const OF_ALL_MAX: usize = 64;

/// A part of a packet.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Piece {
    /// The life of who has cut it.
    boot: Boot,
    /// Of the packet, in that life.
    number: u32,
    /// Which part.
    at: u16,
    /// Of how many.
    count: u16,
    bytes: Vec<u8>,
}

/// The parts of a packet, as far as they have arrived.
type Parts = Vec<Option<Vec<u8>>>;

/// One node's cutting and joining.
#[derive(Clone, Debug)]
pub(super) struct Pieces {
    boot: Boot,
    cut: u32,
    /// What has arrived in part, the oldest packets of a sender first.
    joined: BTreeMap<(NodeId, Boot, u32), Parts>,
}

impl Pieces {
    pub(super) fn new(boot: Boot) -> Self {
        Self { boot, cut: 0, joined: BTreeMap::new() }
    }

    /// Cuts a packet into parts that are no longer than this.
    pub(super) fn cut(&mut self, packet: &[u8], part_max: usize) -> impl Iterator<Item = Piece> + use<> {
        let (boot, number) = (self.boot, self.cut);
        self.cut = number.wrapping_add(1);
        let parts: Vec<_> = packet.chunks(part_max.max(1)).map(<[u8]>::to_vec).collect();
        let count = u16::try_from(parts.len()).unwrap_or(u16::MAX);
        (0..count).zip(parts).map(move |(at, bytes)| Piece { boot, number, at, count, bytes })
    }

    /// A part has arrived: the packet, if nothing else is missing of it.
    pub(super) fn join(&mut self, from: NodeId, piece: Piece, parts_max: usize) -> Option<Vec<u8>> {
        let Piece { boot, number, at, count, bytes } = piece;
        if at >= count || usize::from(count) > parts_max {
            return None;
        }
        let key = (from, boot, number);
        if !self.joined.contains_key(&key) {
            self.make_room(from);
        }
        let parts = self.joined.entry(key).or_insert_with(|| vec![None; usize::from(count)]);
        *parts.get_mut(usize::from(at))? = Some(bytes);
        if parts.iter().any(Option::is_none) {
            return None;
        }
        Some(self.joined.remove(&key)?.into_iter().flatten().flatten().collect())
    }

    fn make_room(&mut self, from: NodeId) {
        let of_sender = (from, Boot(0), 0)..=(from, Boot(u32::MAX), u32::MAX);
        if self.joined.range(of_sender.clone()).count() >= OF_ONE_SENDER_MAX {
            let oldest = self.joined.range(of_sender).next().map(|(key, _)| *key);
            oldest.map(|key| self.joined.remove(&key));
        }
        if self.joined.len() >= OF_ALL_MAX {
            self.joined.pop_first();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dice::Dice;

    const SENDER: NodeId = NodeId(3);

    fn packet(number: u8) -> Vec<u8> {
        (0..=250).map(|byte: u8| byte ^ number).collect()
    }

    #[test]
    fn what_arrives_in_any_order_and_more_than_once_is_joined_as_it_was_cut() {
        let (mut sender, mut receiver, mut dice) = (Pieces::new(Boot(1)), Pieces::new(Boot(9)), Dice::new(1));
        for number in 0..100 {
            let mut pieces: Vec<_> = sender.cut(&packet(number), 40).collect();
            assert_eq!(pieces.len(), 7);
            pieces.extend(pieces.clone().into_iter().filter(|piece| piece.at % 2 == 0));
            for at in (1..pieces.len()).rev() {
                pieces.swap(at, usize::try_from(dice.below(at as u64 + 1)).unwrap());
            }
            let joined: Vec<_> = pieces.into_iter().filter_map(|piece| receiver.join(SENDER, piece, 7)).collect();
            assert_eq!(joined, [packet(number)]);
        }
        assert!(receiver.joined.len() <= OF_ONE_SENDER_MAX, "what came twice is forgotten");
    }

    #[test]
    fn packets_of_two_lives_and_of_two_senders_are_not_mixed_up() {
        let mut receiver = Pieces::new(Boot(9));
        let cut = |boot, content| Pieces::new(Boot(boot)).cut(&packet(content), 200).collect::<Vec<_>>();
        let [before, after, other] = [cut(1, 1), cut(2, 2), cut(1, 3)];
        assert_eq!(receiver.join(SENDER, before[0].clone(), 2), None);
        assert_eq!(receiver.join(SENDER, after[1].clone(), 2), None);
        assert_eq!(receiver.join(NodeId(4), other[1].clone(), 2), None);
        assert_eq!(receiver.join(SENDER, after[0].clone(), 2), Some(packet(2)));
        assert_eq!(receiver.join(NodeId(4), other[0].clone(), 2), Some(packet(3)));
    }

    #[test]
    fn nobody_fills_the_memory_with_halves() {
        let mut receiver = Pieces::new(Boot(9));
        for sender in 0..1_000 {
            let mut pieces = Pieces::new(Boot(0));
            for number in 0..10 {
                let first = pieces.cut(&packet(number), 200).next().unwrap();
                assert_eq!(receiver.join(NodeId(sender), first, 2), None);
            }
        }
        assert!(receiver.joined.len() <= OF_ALL_MAX);
        let too_many = Pieces::new(Boot(0)).cut(&packet(0), 10).next().unwrap();
        let nonsense = Piece { at: 2, count: 2, ..too_many.clone() };
        let before = receiver.joined.len();
        assert_eq!((receiver.join(SENDER, too_many, 2), receiver.join(SENDER, nonsense, 2)), (None, None));
        assert_eq!(receiver.joined.len(), before);
    }
}

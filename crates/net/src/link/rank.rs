//! Which of several pairs of nodes is to be linked first: an order of all pairs that every node computes alike.
//!
//! Each node has a place in a space of four dimensions, a hash of its id, and a pair ranks better the nearer its two
//! places are. As in any such space only so many others can be the nearest in their direction, few pairs are left when
//! those are spared that two better ones make up for; and as there are four dimensions and not two, ways between far
//! places are short.

use driftlock_protocol::NodeId;

use crate::dice::Dice;

/// How good a pair is: less is better, and no two pairs are equal.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Rank {
    distance: u64,
    lower: NodeId,
    higher: NodeId,
}

impl Rank {
    /// Of this pair, in either order.
    pub fn of(a: NodeId, b: NodeId) -> Self {
        let squared = |(a, b): (u16, u16)| u64::from(a.abs_diff(b)).pow(2);
        let distance = place(a).into_iter().zip(place(b)).map(squared).sum();
        Self { distance, lower: a.min(b), higher: a.max(b) }
    }
}

/// Where a node is in the space of ranks.
fn place(node: NodeId) -> [u16; 4] {
    let hash = Dice::new(u64::from(node.0)).roll();
    #[allow(clippy::cast_possible_truncation)] // 16 of the 64 bits each
    [0, 16, 32, 48].map(|shift| (hash >> shift) as u16)
}

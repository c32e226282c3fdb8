//! Heights of the link-reversal family, after Gafni and Bertsekas, "Distributed algorithms for generating loop-free
//! routes in networks with frequently changing topology", 1981.
//!
//! A link is directed from the higher to the lower node. Heights are triples, ordered lexicographically; the last part
//! is the node's id, so no two are equal and the directed links cannot form a cycle.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::hash::{Hash, Hasher};

use serde::{Deserialize, Serialize};

use crate::relative::Kind;
use crate::{Deployment, NodeId};

/// The paper's triple (h1, h2, i); written as an array.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(from = "(i64, i64, NodeId)", into = "(i64, i64, NodeId)")]
pub struct Height {
    /// The reference level.
    pub h1: i64,
    /// The order within a reference level.
    pub h2: i64,
    /// Whose height it is.
    pub id: NodeId,
}

impl Height {
    /// The height (h1, h2, id).
    pub const fn new(h1: i64, h2: i64, id: NodeId) -> Self {
        Self { h1, h2, id }
    }

    /// The height of node `id` just below this one.
    #[must_use]
    pub fn just_below(self, id: NodeId) -> Self {
        Self { h2: self.h2.saturating_sub(1), id, ..self }
    }

    /// Partial reversal: this height raised over the lowest reference level among `neighbours`, so that at least one
    /// link turns outgoing. `None` without neighbours.
    pub fn raised(self, neighbours: impl Iterator<Item = Height> + Clone) -> Option<Self> {
        let h1 = neighbours.clone().map(|height| height.h1).min()?.saturating_add(1);
        let lowest = neighbours.filter(|height| height.h1 == h1).map(|height| height.h2).min();
        Some(Self { h1, h2: lowest.map_or(self.h2, |h2| h2.saturating_sub(1)), ..self })
    }

    /// The mirror image: this height lowered under the highest reference level among `neighbours`, so that at least
    /// one link turns incoming. `None` without neighbours.
    pub fn lowered(self, neighbours: impl Iterator<Item = Height> + Clone) -> Option<Self> {
        let h1 = neighbours.clone().map(|height| height.h1).max()?.saturating_sub(1);
        let highest = neighbours.filter(|height| height.h1 == h1).map(|height| height.h2).max();
        Some(Self { h1, h2: highest.map_or(self.h2, |h2| h2.saturating_add(1)), ..self })
    }

    /// Full reversal: this height raised over all `neighbours`, so that every link turns outgoing.
    pub fn above_all(self, neighbours: impl Iterator<Item = Height>) -> Option<Self> {
        let h1 = neighbours.map(|height| height.h1).max()?.saturating_add(1);
        Some(Self { h1, ..self })
    }

    /// The mirror image: this height lowered under all `neighbours`, so that every link turns incoming.
    pub fn below_all(self, neighbours: impl Iterator<Item = Height>) -> Option<Self> {
        let h1 = neighbours.map(|height| height.h1).min()?.saturating_sub(1);
        Some(Self { h1, ..self })
    }
}

impl Hash for Height {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        // The bits of the number; the reader of the mark knows that it is signed.
        Kind::Level.hash(u128::from(self.h1.cast_unsigned()), hasher);
        Kind::Order.hash(u128::from(self.h2.cast_unsigned()), hasher);
        self.id.hash(hasher);
    }
}

impl From<(i64, i64, NodeId)> for Height {
    fn from((h1, h2, id): (i64, i64, NodeId)) -> Self {
        Self { h1, h2, id }
    }
}

impl From<Height> for (i64, i64, NodeId) {
    fn from(height: Height) -> Self {
        (height.h1, height.h2, height.id)
    }
}

/// Initial heights: every node without a token has a path down to a holder, and every holder has a higher neighbour,
/// as far as the links allow.
///
/// A non-holder stands as high as it is far from the nearest holder; a holder as low as it is far from the nearest
/// non-holder. So node 0 starts at (0, 0, 0) unless it is surrounded by other holders. Nodes that have links but no
/// path to a holder start level, and one of them without a lower neighbour: the paper starts connected, and so should a
/// deployment, or else without links.
pub fn initial(deployment: &Deployment, is_holder: impl Fn(NodeId) -> bool) -> Vec<Height> {
    let adjacency = deployment.adjacency();
    let to_holder = distances(&adjacency, &is_holder);
    let to_other = distances(&adjacency, |id| !is_holder(id));
    deployment
        .ids()
        .map(|id| {
            let h2 =
                if is_holder(id) { 1 - to_other[id.index()].unwrap_or(1) } else { to_holder[id.index()].unwrap_or(0) };
            Height::new(0, h2, id)
        })
        .collect()
}

/// The number of hops from every node to the nearest of the `sources`, where there is a path.
fn distances(adjacency: &[Vec<NodeId>], sources: impl Fn(NodeId) -> bool) -> Vec<Option<i64>> {
    let mut distance = alloc::vec![None; adjacency.len()];
    let mut frontier = VecDeque::new();
    for (id, found) in (0..).map(NodeId).zip(&mut distance) {
        if sources(id) {
            *found = Some(0);
            frontier.push_back((id, 0));
        }
    }
    while let Some((id, hops)) = frontier.pop_front() {
        for &neighbour in &adjacency[id.index()] {
            if distance[neighbour.index()].is_none() {
                distance[neighbour.index()] = Some(hops + 1);
                frontier.push_back((neighbour, hops + 1));
            }
        }
    }
    distance
}

#[cfg(test)]
mod tests {
    use super::*;

    fn height(h1: i64, h2: i64, id: u32) -> Height {
        Height::new(h1, h2, NodeId(id))
    }

    #[test]
    fn the_papers_example_directs_the_link_from_node_1_to_node_2() {
        assert!(height(2, 3, 1) > height(2, 2, 2));
    }

    #[test]
    fn raising_turns_the_lowest_links_and_stays_under_the_rest_of_the_new_level() {
        let neighbours = [height(0, 1, 1), height(1, 4, 2), height(1, 7, 3)];
        let raised = height(0, 0, 0).raised(neighbours.into_iter()).unwrap();
        assert_eq!(raised, height(1, 3, 0));
        assert!(raised > neighbours[0] && raised < neighbours[1]);
    }

    #[test]
    fn lowering_is_the_mirror_image_of_raising() {
        let neighbours = [height(1, -1, 1), height(0, -4, 2), height(0, -7, 3)];
        let lowered = height(1, 0, 0).lowered(neighbours.into_iter()).unwrap();
        assert_eq!(lowered, height(0, -3, 0));
        assert!(lowered < neighbours[0] && lowered > neighbours[1]);
    }

    #[test]
    fn a_full_reversal_turns_every_link() {
        let neighbours = [height(0, 1, 1), height(7, 4, 2), height(-3, 7, 3)];
        let node = height(0, 0, 0);
        assert!(neighbours.iter().all(|&other| node.above_all(neighbours.into_iter()).unwrap() > other));
        assert!(neighbours.iter().all(|&other| node.below_all(neighbours.into_iter()).unwrap() < other));
    }

    #[test]
    fn without_neighbours_there_is_nothing_to_rise_above() {
        assert_eq!(height(0, 0, 0).raised(core::iter::empty()), None);
        assert_eq!(height(0, 0, 0).lowered(core::iter::empty()), None);
        assert_eq!(height(0, 0, 0).above_all(core::iter::empty()), None);
        assert_eq!(height(0, 0, 0).below_all(core::iter::empty()), None);
    }

    #[test]
    fn a_holder_among_holders_starts_below_them() {
        let links = [(0, 1), (1, 2)].map(|(a, b)| (NodeId(a), NodeId(b))).to_vec();
        let heights = initial(&Deployment { nodes: 3, k: 2, links, ..Deployment::default() }, |id| id.0 < 2);
        assert_eq!(heights, [height(0, -1, 0), height(0, 0, 1), height(0, 1, 2)]);
    }

    #[test]
    fn a_source_is_where_it_is_and_the_others_are_as_far_as_they_are_by_links() {
        let links = [(0, 1), (1, 2)].map(|(a, b)| (NodeId(a), NodeId(b))).to_vec();
        let adjacency = Deployment { nodes: 4, k: 1, links, ..Deployment::default() }.adjacency();
        assert_eq!(distances(&adjacency, |id| id == NodeId(0)), [Some(0), Some(1), Some(2), None]);
    }
}

//! A map by node that is found with two looks at memory.
//!
//! Among thousands of nodes nothing of a node is in the caches when a packet reaches it, so what counts is how many places
//! in memory are looked at, and how few bytes there are in all. A tree looks at several on every level. Here an index tells
//! at once where the thing is, and the things lie side by side, so that going through all of them is fast too.
//!
//! The order of things is that of insertion, until one is removed and the last takes its place. It does not depend on
//! anything but the calls that were made; still, whoever tells others of several things sorts them.

use driftlock_protocol::NodeId;

/// A place of the index: the node, and where its thing is.
#[derive(Clone, Copy, Debug)]
struct Slot {
    node: NodeId,
    place: u32,
}

const VACANT: Slot = Slot { node: NodeId(0), place: u32::MAX };

impl Slot {
    fn is_vacant(self) -> bool {
        self.place == VACANT.place
    }
}

/// Things by node.
#[derive(Clone, Debug)]
pub(crate) struct ByNode<T> {
    things: Vec<(NodeId, T)>,
    /// As many as a power of two, at most three quarters of them taken. A node is in the first that was vacant from its own on.
    index: Vec<Slot>,
}

impl<T> Default for ByNode<T> {
    fn default() -> Self {
        Self { things: Vec::new(), index: Vec::new() }
    }
}

impl<T> ByNode<T> {
    pub(crate) fn get(&self, node: NodeId) -> Option<&T> {
        self.find(node).map(|slot| &self.things[self.index[slot].place as usize].1)
    }

    pub(crate) fn get_mut(&mut self, node: NodeId) -> Option<&mut T> {
        self.find(node).map(|slot| &mut self.things[self.index[slot].place as usize].1)
    }

    /// The thing of a node, which is made if there is none.
    pub(crate) fn get_or_insert_with(&mut self, node: NodeId, make: impl FnOnce() -> T) -> &mut T {
        let place = match self.find(node) {
            Some(slot) => self.index[slot].place as usize,
            None => self.add(node, make()),
        };
        &mut self.things[place].1
    }

    pub(crate) fn remove(&mut self, node: NodeId) -> Option<T> {
        let slot = self.find(node)?;
        let place = self.index[slot].place;
        if let Some(&(last, _)) = self.things.last()
            && let Some(moved) = self.find(last)
        {
            self.index[moved].place = place;
        }
        self.vacate(slot);
        Some(self.things.swap_remove(place as usize).1)
    }

    /// Keeps those things for which this holds.
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(NodeId, &mut T) -> bool) {
        let before = self.things.len();
        self.things.retain_mut(|(node, thing)| keep(*node, thing));
        if self.things.len() < before {
            self.rebuild(self.index.len());
        }
    }

    /// All things, in no order that means anything.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (NodeId, &T)> {
        self.things.iter().map(|(node, thing)| (*node, thing))
    }

    fn home(&self, node: NodeId) -> usize {
        // Fibonacci hashing: the upper bits of the product depend on all bits of the number.
        let spread = node.0.wrapping_mul(0x9e37_79b9);
        ((u64::from(spread) * self.index.len() as u64) >> 32) as usize
    }

    fn after(&self, slot: usize) -> usize {
        (slot + 1) & (self.index.len() - 1)
    }

    fn find(&self, node: NodeId) -> Option<usize> {
        if self.index.is_empty() {
            return None;
        }
        let mut slot = self.home(node);
        loop {
            let found = self.index[slot];
            if found.is_vacant() {
                return None;
            }
            if found.node == node {
                return Some(slot);
            }
            slot = self.after(slot);
        }
    }

    /// Adds a thing of a node that has none.
    fn add(&mut self, node: NodeId, thing: T) -> usize {
        const INDEX_MIN: usize = 8;
        if (self.things.len() + 1) * 4 > self.index.len() * 3 {
            self.rebuild((self.index.len() * 2).max(INDEX_MIN));
        }
        let place = self.things.len();
        self.things.push((node, thing));
        self.enter(node, place);
        place
    }

    fn enter(&mut self, node: NodeId, place: usize) {
        let mut slot = self.home(node);
        while !self.index[slot].is_vacant() {
            slot = self.after(slot);
        }
        self.index[slot] = Slot { node, place: u32::try_from(place).expect("nodes are numbered by u32") };
    }

    fn rebuild(&mut self, slots: usize) {
        self.index.clear();
        self.index.resize(slots, VACANT);
        for place in 0..self.things.len() {
            self.enter(self.things[place].0, place);
        }
    }

    /// Makes a slot vacant. Those behind it who are there only because it was taken move up.
    fn vacate(&mut self, slot: usize) {
        let (mut hole, mut next) = (slot, self.after(slot));
        while !self.index[next].is_vacant() {
            let home = self.home(self.index[next].node);
            let distance = |from: usize, to: usize| to.wrapping_sub(from) & (self.index.len() - 1);
            if distance(home, next) >= distance(hole, next) {
                self.index[hole] = self.index[next];
                hole = next;
            }
            next = self.after(next);
        }
        self.index[hole] = VACANT;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::dice::Dice;

    #[test]
    fn it_does_what_a_tree_does() {
        for (seed, nodes) in [(1, 5), (2, 40), (3, 1_000), (4, u64::from(u32::MAX))] {
            let (mut dice, mut map, mut tree) = (Dice::new(seed), ByNode::default(), BTreeMap::new());
            for step in 0..20_000_u64 {
                let node = NodeId(u32::try_from(dice.below(nodes)).unwrap());
                match dice.below(8) {
                    0..4 => {
                        *map.get_or_insert_with(node, || 0) += step;
                        *tree.entry(node).or_insert(0) += step;
                    }
                    4 if dice.below(100) == 0 => {
                        map.retain(|node, value| node.0 % 3 > 0 && *value % 5 > 0);
                        tree.retain(|node, value| node.0 % 3 > 0 && *value % 5 > 0);
                    }
                    5 => assert_eq!(map.get_mut(node), tree.get_mut(&node)),
                    _ => assert_eq!(map.remove(node), tree.remove(&node)),
                }
                assert_eq!(map.get(node), tree.get(&node));
            }
            let mut all: Vec<_> = map.iter().collect();
            all.sort_unstable();
            assert!(all.into_iter().eq(tree.iter().map(|(node, value)| (*node, value))), "seed {seed}");
        }
    }

    #[test]
    fn the_same_calls_give_the_same_order() {
        let made = || {
            let mut map = ByNode::default();
            for node in 0..100 {
                map.get_or_insert_with(NodeId(node * 7_919), || node);
            }
            map.remove(NodeId(0));
            map.iter().map(|(node, _)| node).collect::<Vec<_>>()
        };
        assert_eq!(made(), made());
        assert_eq!(made()[..2], [NodeId(99 * 7_919), NodeId(7_919)]);
    }
}

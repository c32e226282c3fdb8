//! A map by node that is found with one look at memory.
//!
//! Among thousands of nodes nothing of a node is in the caches when a packet reaches it, so what counts is how many
//! places in memory are looked at, and how few bytes there are in all. A tree looks at several on every level. Here a
//! node's number tells at once where its thing is, or nearly so.
//!
//! The order of things depends on nothing but the calls that were made; still, code that tells others of several things
//! sorts them.

use std::mem;

use driftlock_protocol::NodeId;

/// A place for the thing of a node.
#[derive(Clone, Debug)]
enum Slot<T> {
    Vacant,
    Taken { node: NodeId, thing: T },
}

impl<T> Slot<T> {
    fn node(&self) -> Option<NodeId> {
        match self {
            Self::Vacant => None,
            Self::Taken { node, .. } => Some(*node),
        }
    }

    fn thing(&self) -> Option<&T> {
        match self {
            Self::Vacant => None,
            Self::Taken { thing, .. } => Some(thing),
        }
    }

    fn thing_mut(&mut self) -> Option<&mut T> {
        match self {
            Self::Vacant => None,
            Self::Taken { thing, .. } => Some(thing),
        }
    }
}

/// Things by node.
#[derive(Clone, Debug)]
pub(crate) struct ByNode<T> {
    /// As many as a power of two, at most three quarters of them taken. A node is in the first that was vacant from its
    /// own on.
    slots: Box<[Slot<T>]>,
    taken: usize,
}

impl<T> Default for ByNode<T> {
    fn default() -> Self {
        Self { slots: Box::default(), taken: 0 }
    }
}

impl<T> ByNode<T> {
    pub(crate) fn get(&self, node: NodeId) -> Option<&T> {
        self.slots.get(self.search(node))?.thing()
    }

    pub(crate) fn get_mut(&mut self, node: NodeId) -> Option<&mut T> {
        self.slots.get_mut(self.search(node))?.thing_mut()
    }

    /// The thing of a node, which is made if there is none.
    pub(crate) fn get_or_insert_with(&mut self, node: NodeId, make: impl FnOnce() -> T) -> &mut T {
        let mut place = self.search(node);
        if self.slots.get(place).and_then(Slot::node).is_none() {
            if !self.has_room() {
                self.grow();
                place = self.search(node);
            }
            self.taken += 1;
            self.slots[place] = Slot::Taken { node, thing: make() };
        }
        self.slots[place].thing_mut().expect("it has just been put there")
    }

    pub(crate) fn remove(&mut self, node: NodeId) -> Option<T> {
        let place = self.search(node);
        self.slots.get(place)?.node()?;
        self.vacate(place)
    }

    /// Keeps those things for which this holds.
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(NodeId, &mut T) -> bool) {
        // Things move up only as far as the next vacant slot: begun behind one, the walk meets each of them once.
        let Some(start) = self.slots.iter().position(|slot| matches!(slot, Slot::Vacant)) else { return };
        let mut place = self.after(start);
        while place != start {
            if let Slot::Taken { node, thing } = &mut self.slots[place]
                && !keep(*node, thing)
            {
                // Another may move up to this place, and is next.
                self.vacate(place);
            } else {
                place = self.after(place);
            }
        }
    }

    /// Makes room for one thing more. Only if there is none, those for which this does not hold are gone through and
    /// dropped, and if that is not enough, the table grows: what is over costs nothing as long as nothing needs its
    /// place.
    pub(crate) fn make_room(&mut self, keep: impl FnMut(NodeId, &mut T) -> bool) {
        if self.has_room() {
            return;
        }
        self.retain(keep);
        // Otherwise it would be full again soon, and gone through for little.
        if self.taken * 2 > self.slots.len() || self.slots.is_empty() {
            self.grow();
        }
    }

    fn has_room(&self) -> bool {
        (self.taken + 1) * 4 <= self.slots.len() * 3
    }

    /// All things, in no order that means anything.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (NodeId, &T)> {
        self.slots.iter().filter_map(|slot| Some((slot.node()?, slot.thing()?)))
    }

    fn home(&self, node: NodeId) -> usize {
        // Fibonacci hashing: the upper bits of the product depend on all bits of the number.
        let spread = node.0.wrapping_mul(0x9e37_79b9);
        ((u64::from(spread) * self.slots.len() as u64) >> 32) as usize
    }

    fn after(&self, place: usize) -> usize {
        (place + 1) & (self.slots.len() - 1)
    }

    /// Where the thing of a node is, or would be; no place at all if there is none yet.
    fn search(&self, node: NodeId) -> usize {
        let mut place = self.home(node);
        while self.slots.get(place).and_then(Slot::node).is_some_and(|found| found != node) {
            place = self.after(place);
        }
        place
    }

    fn grow(&mut self) {
        const SLOTS_MIN: usize = 8;
        self.resize((self.slots.len() * 2).max(SLOTS_MIN));
    }

    /// Makes room for so many in all.
    pub(crate) fn reserve(&mut self, things: usize) {
        let slots = (things * 4).div_ceil(3).next_power_of_two();
        if slots > self.slots.len() {
            self.resize(slots);
        }
    }

    fn resize(&mut self, slots: usize) {
        let former = mem::replace(&mut self.slots, (0..slots).map(|_| Slot::Vacant).collect());
        for slot in former {
            if let Some(node) = slot.node() {
                self.slots[self.search(node)] = slot;
            }
        }
    }

    /// Takes the thing out of a slot. Those behind it who are there only because it was taken move up.
    fn vacate(&mut self, place: usize) -> Option<T> {
        let gone = mem::replace(&mut self.slots[place], Slot::Vacant);
        let (mut hole, mut next) = (place, self.after(place));
        while let Some(node) = self.slots[next].node() {
            let distance = |from: usize, to: usize| to.wrapping_sub(from) & (self.slots.len() - 1);
            if distance(self.home(node), next) >= distance(hole, next) {
                self.slots.swap(hole, next);
                hole = next;
            }
            next = self.after(next);
        }
        self.taken -= 1;
        match gone {
            Slot::Vacant => None,
            Slot::Taken { thing, .. } => Some(thing),
        }
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
    fn a_full_table_drops_what_is_over_and_grows_only_if_that_is_not_enough() {
        let filled = |things: u32| {
            let mut map = ByNode::default();
            map.reserve(12);
            for node in 0..things {
                map.get_or_insert_with(NodeId(node), || node);
            }
            assert_eq!(map.slots.len(), 16);
            map
        };
        let after = |things: u32, over: u32| {
            let (mut map, mut asked) = (filled(things), 0);
            map.make_room(|_, thing| {
                asked += 1;
                *thing >= over
            });
            assert!(map.has_room());
            assert!((over..things).all(|node| map.get(NodeId(node)) == Some(&node)));
            (asked, map.taken, map.slots.len())
        };
        assert_eq!(after(11, 11), (0, 11, 16), "there is room: nobody looks");
        assert_eq!(after(12, 4), (12, 8, 16), "half of the slots are enough");
        assert_eq!(after(12, 3), (12, 9, 32), "it would soon be full again");
        ByNode::<u32>::default().make_room(|_, _| true);
    }

    #[test]
    fn what_is_not_to_be_kept_is_asked_for_once_and_leaves_the_others_in_reach() {
        let mut dice = Dice::new(5);
        for size in 1..200 {
            let mut map = ByNode::default();
            for node in 0..size {
                map.get_or_insert_with(NodeId(node * 7_919), || dice.below(3));
            }
            let mut asked = Vec::new();
            map.retain(|node, value| {
                asked.push(node.0 / 7_919);
                *value > 0
            });
            asked.sort_unstable();
            assert_eq!(asked, (0..size).collect::<Vec<_>>());
            let kept: Vec<_> = map.iter().collect();
            assert!(kept.iter().all(|(node, value)| **value > 0 && map.get(*node) == Some(*value)), "{kept:?}");
        }
    }
}

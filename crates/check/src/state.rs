//! A state of the whole system, as a row of numbers: the seats, the channels, the ledger, the twin of the layer below,
//! and what may still happen.

use std::hash::{Hash, Hasher};

use driftlock_protocol::NodeId;

use crate::Bound;
use crate::parts::PartId;

/// The whole system between two actions.
#[derive(Clone, Debug)]
pub struct State {
    words: Box<[u32]>,
    /// Two states with the same fingerprint count as one.
    pub(crate) fingerprint: u64,
    /// Its number in the recorded graph.
    pub(crate) index: u32,
}

impl PartialEq for State {
    fn eq(&self, other: &Self) -> bool {
        self.fingerprint == other.fingerprint
    }
}

impl Hash for State {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.fingerprint.hash(hasher);
    }
}

#[cfg(test)]
impl State {
    /// What it is, to the last detail.
    pub(crate) fn row(&self) -> &[u32] {
        &self.words
    }
}

/// Where a word of the row is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    nodes: usize,
    /// How many kinds of changes the layer below has.
    kinds: usize,
}

/// What may still happen in the whole system: one byte each.
#[derive(Clone, Copy)]
pub(crate) enum Common {
    Pauses,
    Losses,
    Lateness,
    Requests,
    Overtakes,
    /// A change of the layer below, of the kind of this number.
    Change(usize),
}

impl Common {
    /// How many there are that are the same over all layers.
    const OWN: usize = 5;

    fn number(self) -> usize {
        match self {
            Self::Pauses => 0,
            Self::Losses => 1,
            Self::Lateness => 2,
            Self::Requests => 3,
            Self::Overtakes => 4,
            Self::Change(kind) => Self::OWN + kind,
        }
    }
}

/// What may still happen at a node, and how its clock stands: one byte each.
#[derive(Clone, Copy)]
pub(crate) enum Own {
    Requests,
    Cancels,
    /// How many ticks its clock is behind.
    Lag,
    /// Whether it does nothing for the time being: one of the following.
    Absence,
}

/// A node does what there is to do.
pub(crate) const AWAKE: u8 = 0;
/// It has paused, and goes on later.
pub(crate) const PAUSED: u8 = 1;

/// A bound that nothing counts against.
const ANY: u8 = u8::MAX;

impl Bound {
    fn byte(self) -> u8 {
        match self {
            Self::Most(count) => count,
            Self::Any => ANY,
        }
    }
}

impl Layout {
    pub(crate) fn new(nodes: u32, kinds: usize) -> Self {
        Self { nodes: nodes as usize, kinds }
    }

    pub(crate) fn ids(self) -> impl Iterator<Item = NodeId> + use<> {
        (0..u32::try_from(self.nodes).expect("few nodes")).map(NodeId)
    }

    /// A state with these seats over this twin, and nothing on its way.
    pub(crate) fn state(self, seats: &[PartId], twin: PartId, ledger: PartId) -> State {
        let mut words = vec![0; self.at_own(NodeId(0)) + self.nodes];
        words[..self.nodes].copy_from_slice(seats);
        words[self.at_ledger()] = ledger;
        words[self.at_twin()] = twin;
        State { words: words.into(), fingerprint: 0, index: 0 }
    }

    fn at_channel(self, from: NodeId, to: NodeId) -> usize {
        let column = if to < from { to.index() } else { to.index() - 1 };
        self.nodes + from.index() * (self.nodes - 1) + column
    }

    fn at_ledger(self) -> usize {
        self.nodes * self.nodes
    }

    fn at_twin(self) -> usize {
        self.at_ledger() + 1
    }

    fn at_fault(self) -> usize {
        self.at_ledger() + 2
    }

    fn at_common(self) -> usize {
        self.at_ledger() + 3
    }

    fn at_own(self, node: NodeId) -> usize {
        self.at_common() + (Common::OWN + self.kinds).div_ceil(4) + node.index()
    }

    pub(crate) fn seat(self, state: &State, node: NodeId) -> PartId {
        self.seats(state)[node.index()]
    }

    pub(crate) fn set_seat(self, state: &mut State, node: NodeId, seat: PartId) {
        state.words[..self.nodes][node.index()] = seat;
    }

    pub(crate) fn seats(self, state: &State) -> &[PartId] {
        &state.words[..self.nodes]
    }

    pub(crate) fn channel(self, state: &State, from: NodeId, to: NodeId) -> PartId {
        state.words[self.at_channel(from, to)]
    }

    pub(crate) fn set_channel(self, state: &mut State, from: NodeId, to: NodeId, channel: PartId) {
        state.words[self.at_channel(from, to)] = channel;
    }

    pub(crate) fn channels(self, state: &State) -> &[PartId] {
        &state.words[self.nodes..self.at_ledger()]
    }

    pub(crate) fn ledger(self, state: &State) -> PartId {
        state.words[self.at_ledger()]
    }

    pub(crate) fn set_ledger(self, state: &mut State, ledger: PartId) {
        state.words[self.at_ledger()] = ledger;
    }

    pub(crate) fn twin(self, state: &State) -> PartId {
        state.words[self.at_twin()]
    }

    pub(crate) fn set_twin(self, state: &mut State, twin: PartId) {
        state.words[self.at_twin()] = twin;
    }

    /// The number of the violation that led here, counted from 1.
    pub(crate) fn fault(self, state: &State) -> Option<usize> {
        (state.words[self.at_fault()] as usize).checked_sub(1)
    }

    pub(crate) fn set_fault(self, state: &mut State, fault: usize) {
        state.words[self.at_fault()] = u32::try_from(fault + 1).expect("few faults");
    }

    /// The words that count as they are.
    pub(crate) fn plain(self, state: &State) -> &[u32] {
        &state.words[self.at_common()..]
    }

    pub(crate) fn common(self, state: &State, what: Common) -> u8 {
        state.words[self.at_common() + what.number() / 4].to_le_bytes()[what.number() % 4]
    }

    pub(crate) fn set_common(self, state: &mut State, what: Common, bound: Bound) {
        set_byte(&mut state.words[self.at_common() + what.number() / 4], what.number() % 4, bound.byte());
    }

    pub(crate) fn own(self, state: &State, node: NodeId, what: Own) -> u8 {
        state.words[self.at_own(node)].to_le_bytes()[what as usize]
    }

    pub(crate) fn set_own(self, state: &mut State, node: NodeId, what: Own, bound: Bound) {
        set_byte(&mut state.words[self.at_own(node)], what as usize, bound.byte());
    }

    /// One of what may still happen has happened.
    pub(crate) fn spend_common(self, state: &mut State, what: Common) {
        let left = self.common(state, what);
        if left != ANY {
            self.set_common(state, what, Bound::Most(left - 1));
        }
    }

    /// Likewise, at a node.
    pub(crate) fn spend_own(self, state: &mut State, node: NodeId, what: Own) {
        let left = self.own(state, node, what);
        if left != ANY {
            self.set_own(state, node, what, Bound::Most(left - 1));
        }
    }
}

fn set_byte(word: &mut u32, at: usize, byte: u8) {
    let mut bytes = word.to_le_bytes();
    bytes[at] = byte;
    *word = u32::from_le_bytes(bytes);
}

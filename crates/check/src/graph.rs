//! The graph of all states and transitions, written down during a search and read afterwards.

use std::hash::BuildHasherDefault;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

use dashmap::DashMap;
use rustc_hash::FxHasher;

use crate::Action;
use crate::action::Codes;

/// The target of a transition that was not followed.
pub(crate) const CUT: u32 = u32::MAX;

/// A long list in pieces, so that it never has to move to grow: while it did, it would take twice its memory.
struct Pieces<T>(Vec<Vec<T>>);

impl<T> Pieces<T> {
    const LENGTH: usize = 1 << 18;

    fn push(&mut self, item: T) {
        match self.0.last_mut() {
            Some(last) if last.len() < Self::LENGTH => last.push(item),
            _ => {
                let mut piece = Vec::with_capacity(if self.0.is_empty() { 64 } else { Self::LENGTH });
                piece.push(item);
                self.0.push(piece);
            }
        }
    }

    fn last_mut(&mut self) -> Option<&mut T> {
        self.0.last_mut()?.last_mut()
    }
}

impl<T> Default for Pieces<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

/// The transitions of a state, as far as one thread found them in a row.
struct Row {
    state: u32,
    /// How many there are.
    length: u8,
    /// The nodes that are owed a grant in the state; `None` if that was said before.
    owed: Option<u8>,
}

/// Transitions in the order in which one thread found them.
#[derive(Default)]
struct Found {
    rows: Pieces<Row>,
    to: Pieces<u32>,
    action: Pieces<u16>,
}

/// What one thread writes, on cache lines of its own.
#[derive(Default)]
#[repr(align(128))]
struct Shard(Mutex<Found>);

/// Takes transitions from all threads of a search.
pub(crate) struct Recorder {
    indices: DashMap<u64, u32, BuildHasherDefault<FxHasher>>,
    next: AtomicU32,
    /// Each thread has one of its own, as long as there are not too many threads.
    shards: Vec<Shard>,
    codes: Codes,
}

const SHARDS: usize = 64;
/// So many locks that threads rarely meet at one.
const LOCKS: usize = 1 << 10;

thread_local! {
    /// Which shard this thread writes to.
    static SHARD: usize = {
        static THREADS: AtomicUsize = AtomicUsize::new(0);
        THREADS.fetch_add(1, Ordering::Relaxed) % SHARDS
    };
}

impl Recorder {
    /// With the state of this fingerprint as number 0, and actions by these numbers.
    pub(crate) fn starting_at(fingerprint: u64, codes: Codes) -> Self {
        let indices = DashMap::with_hasher_and_shard_amount(BuildHasherDefault::default(), LOCKS);
        indices.insert(fingerprint, 0);
        Self { indices, next: AtomicU32::new(1), shards: (0..SHARDS).map(|_| Shard::default()).collect(), codes }
    }

    /// The number of the state with this fingerprint.
    pub(crate) fn index(&self, fingerprint: u64) -> u32 {
        *self.indices.entry(fingerprint).or_insert_with(|| self.next.fetch_add(1, Ordering::Relaxed))
    }

    fn shard(&self) -> MutexGuard<'_, Found> {
        self.shards[SHARD.with(|shard| *shard)].0.lock().expect("no thread panicked")
    }

    pub(crate) fn state(&self, state: u32, owed: u8) {
        self.shard().rows.push(Row { state, length: 0, owed: Some(owed) });
    }

    pub(crate) fn transition(&self, from: u32, action: Action, to: u32) {
        let code = self.codes.code(action);
        let mut found = self.shard();
        match found.rows.last_mut() {
            Some(row) if row.state == from && row.length < u8::MAX => row.length += 1,
            // Another thread has written to the shard meanwhile.
            _ => found.rows.push(Row { state: from, length: 1, owed: None }),
        }
        found.to.push(to);
        found.action.push(code);
    }

    /// Everything that was written down, sorted by state.
    pub(crate) fn finish(self) -> Graph {
        let Self { indices, next, shards, codes } = self;
        drop(indices);
        let states = next.into_inner() as usize;
        let shards: Vec<Found> =
            shards.into_iter().map(|shard| shard.0.into_inner().expect("no thread panicked")).collect();
        let mut graph =
            Graph { offsets: vec![0; states + 1], to: Vec::new(), action: Vec::new(), owed: vec![0; states], codes };
        for row in shards.iter().flat_map(|shard| shard.rows.0.iter().flatten()) {
            graph.offsets[row.state as usize + 1] += u32::from(row.length);
            graph.owed[row.state as usize] |= row.owed.unwrap_or(0);
        }
        for at in 0..states {
            graph.offsets[at + 1] += graph.offsets[at];
        }
        graph.fill(shards);
        graph
    }
}

/// States by number, 0 being the first, with their transitions in the order of actions.
pub(crate) struct Graph {
    offsets: Vec<u32>,
    to: Vec<u32>,
    action: Vec<u16>,
    owed: Vec<u8>,
    codes: Codes,
}

impl Graph {
    /// The number of an action.
    pub(crate) fn code(&self, action: Action) -> u16 {
        self.codes.code(action)
    }

    /// Puts the transitions where the offsets say. A state has more than one row if threads had to share a shard.
    fn fill(&mut self, shards: Vec<Found>) {
        let edges = self.offsets.last().map_or(0, |&end| end as usize);
        (self.to, self.action) = (vec![0; edges], vec![0; edges]);
        for Found { rows, to, action } in shards {
            let mut transitions = to.0.into_iter().flatten().zip(action.0.into_iter().flatten());
            for row in rows.0.into_iter().flatten() {
                for (to, action) in transitions.by_ref().take(usize::from(row.length)) {
                    let at = &mut self.offsets[row.state as usize];
                    (self.to[*at as usize], self.action[*at as usize]) = (to, action);
                    *at += 1;
                }
            }
        }
        // Each offset has moved to the end of its state, which is where the next one begins.
        self.offsets.pop();
        self.offsets.insert(0, 0);
    }

    pub(crate) fn states(&self) -> u32 {
        u32::try_from(self.owed.len()).expect("counted in 32 bits")
    }

    /// The nodes that wait in this state and could be served, as a set of bits.
    pub(crate) fn owed(&self, state: u32) -> u8 {
        self.owed[state as usize]
    }

    /// What may happen in a state, and where it leads.
    pub(crate) fn from(&self, state: u32) -> impl Iterator<Item = (Action, u32)> + '_ {
        self.span(state).map(|at| (self.codes.action(self.action[at as usize]), self.to[at as usize]))
    }

    /// The numbers of a state's transitions.
    pub(crate) fn span(&self, state: u32) -> std::ops::Range<u32> {
        self.offsets[state as usize]..self.offsets[state as usize + 1]
    }

    /// One transition by its number.
    pub(crate) fn transition(&self, at: u32) -> (Action, u32) {
        (self.codes.action(self.action[at as usize]), self.to[at as usize])
    }

    /// The shortest way from `start` to a state that `is_goal`, by transitions that `may_pass`, as the actions and
    /// where each leads; of several, the first in the order of actions.
    pub(crate) fn shortest(
        &self,
        start: u32,
        may_pass: impl Fn(Action, u32) -> bool,
        is_goal: impl Fn(u32) -> bool,
    ) -> Option<(Vec<(Action, u32)>, u32)> {
        if is_goal(start) {
            return Some((Vec::new(), start));
        }
        let mut parent = vec![(CUT, 0_u16); self.owed.len()];
        parent[start as usize].0 = start;
        let mut frontier = vec![start];
        while !frontier.is_empty() {
            let mut further = Vec::new();
            for &state in &frontier {
                for (action, to) in self.from(state) {
                    if to == CUT || parent[to as usize].0 != CUT || !may_pass(action, to) {
                        continue;
                    }
                    parent[to as usize] = (state, self.code(action));
                    if is_goal(to) {
                        return Some((self.way(&parent, start, to), to));
                    }
                    further.push(to);
                }
            }
            frontier = further;
        }
        None
    }

    fn way(&self, parent: &[(u32, u16)], start: u32, goal: u32) -> Vec<(Action, u32)> {
        let mut way = Vec::new();
        let mut at = goal;
        while at != start {
            let (before, code) = parent[at as usize];
            way.push((self.codes.action(code), at));
            at = before;
        }
        way.reverse();
        way
    }

    /// How many actions it takes to reach the state that is furthest from the first.
    pub(crate) fn depth(&self) -> u32 {
        let mut seen = vec![false; self.owed.len()];
        seen[0] = true;
        let (mut frontier, mut depth) = (vec![0], 0);
        loop {
            let mut further = Vec::new();
            for &state in &frontier {
                for at in self.span(state) {
                    let to = self.to[at as usize];
                    if to != CUT && !seen[to as usize] {
                        seen[to as usize] = true;
                        further.push(to);
                    }
                }
            }
            if further.is_empty() {
                return depth;
            }
            depth += 1;
            frontier = further;
        }
    }
}

#[cfg(test)]
mod tests {
    use driftlock_protocol::NodeId;
    use driftlock_protocol::ideal::{Ideal, Links};

    use super::*;

    const A: Action = Action::Request(NodeId(0), 0);
    const B: Action = Action::Request(NodeId(1), 0);

    /// States 0 to `last`, and these transitions.
    fn graph(last: u32, transitions: &[(u32, Action, u32)]) -> Graph {
        let recorder = Recorder::starting_at(0, Codes::new(Links::KINDS));
        for state in 0..=last {
            assert_eq!(recorder.index(u64::from(state)), state);
            recorder.state(state, 0);
        }
        for &(from, action, to) in transitions {
            recorder.transition(from, action, to);
        }
        recorder.finish()
    }

    /// From 0 to 3 past 1 and 2, and straight to 2; 1 leads back as well, and 3 to what was not followed.
    fn detour() -> Graph {
        graph(3, &[(0, A, 1), (0, B, 2), (1, A, 2), (1, B, 0), (2, A, 3), (3, A, CUT)])
    }

    #[test]
    fn a_long_list_comes_in_pieces_none_of_which_has_to_move_to_grow() {
        let mut list = Pieces::default();
        let shape = |list: &Pieces<u8>| {
            list.0.iter().map(|piece| (piece.len(), piece.capacity() >= Pieces::<u8>::LENGTH)).collect::<Vec<_>>()
        };
        list.push(0);
        assert_eq!(shape(&list), [(1, false)], "a short list takes little");
        (0..Pieces::<u8>::LENGTH).for_each(|_| list.push(1));
        assert_eq!(shape(&list), [(Pieces::<u8>::LENGTH, true), (1, true)]);
        *list.last_mut().unwrap() += 1;
        assert_eq!(list.0[1], [2]);
    }

    #[test]
    fn the_depth_is_how_far_the_furthest_state_is_by_the_shortest_way() {
        assert_eq!(graph(0, &[]).depth(), 0);
        assert_eq!(graph(0, &[(0, A, 0), (0, B, CUT)]).depth(), 0);
        assert_eq!(detour().depth(), 2);
        assert_eq!(graph(3, &[(0, A, 1), (1, A, 2), (2, A, 3), (3, A, 0)]).depth(), 3);
    }

    #[test]
    fn the_shortest_way_keeps_to_where_it_may_pass_and_is_none_where_there_is_none() {
        let (graph, anywhere) = (detour(), |_, _| true);
        assert_eq!(graph.shortest(0, anywhere, |state| state == 0), Some((vec![], 0)), "it is there");
        assert_eq!(graph.shortest(0, anywhere, |state| state == 3), Some((vec![(B, 2), (A, 3)], 3)));
        let past_1 = |action, _| action == A;
        assert_eq!(graph.shortest(0, past_1, |state| state == 3), Some((vec![(A, 1), (A, 2), (A, 3)], 3)));
        assert_eq!(graph.shortest(3, anywhere, |state| state == 0), None, "what was not followed leads nowhere");
        assert_eq!(graph.shortest(0, |_, to| to != 2, |state| state == 3), None);
    }

    #[test]
    fn a_state_has_all_its_transitions_however_many_and_in_however_many_rows() {
        let recorder = Recorder::starting_at(0, Codes::new(Links::KINDS));
        recorder.index(1);
        recorder.state(0, 0b10);
        (0..300).for_each(|_| recorder.transition(0, A, 1));
        recorder.state(1, 0b01);
        recorder.transition(1, B, 0);
        // As if another thread had written to the same shard in between.
        recorder.transition(0, B, 0);
        let rows = recorder.shard().rows.0.iter().flatten().count();
        assert_eq!(rows, 4, "of 255, 45, one and one: a row for each would take more memory than the transitions");
        let graph = recorder.finish();
        let mut expected = vec![(A, 1); 300];
        expected.push((B, 0));
        assert_eq!(graph.from(0).collect::<Vec<_>>(), expected);
        assert_eq!(graph.from(1).collect::<Vec<_>>(), [(B, 0)]);
        assert_eq!((graph.states(), graph.owed(0), graph.owed(1)), (2, 0b10, 0b01));
    }
}

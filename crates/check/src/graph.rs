//! The graph of all states and transitions, written down during a search and read afterwards.

use std::hash::BuildHasherDefault;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

use dashmap::DashMap;
use rustc_hash::FxHasher;

use crate::Action;

/// The target of a transition that was not followed.
pub(crate) const CUT: u32 = u32::MAX;

/// Transitions in the order in which one thread found them: those of a state together, as a row.
#[derive(Default)]
struct Rows {
    /// The state that a row belongs to, and where the row begins.
    heads: Vec<(u32, u32)>,
    to: Vec<u32>,
    action: Vec<u8>,
    /// States, and the nodes that are owed a grant there.
    owed: Vec<(u32, u8)>,
}

impl Rows {
    /// Where the row that begins at `heads[at]` ends.
    fn end(&self, at: usize) -> usize {
        self.heads.get(at + 1).map_or(self.to.len(), |&(_, start)| start as usize)
    }
}

/// Takes transitions from all threads of a search.
pub(crate) struct Recorder {
    indices: DashMap<u64, u32, BuildHasherDefault<FxHasher>>,
    next: AtomicU32,
    /// Each thread has one of its own, as long as there are not too many threads.
    shards: Vec<Mutex<Rows>>,
}

const SHARDS: usize = 64;

thread_local! {
    /// Which shard this thread writes to.
    static SHARD: usize = {
        static THREADS: AtomicUsize = AtomicUsize::new(0);
        THREADS.fetch_add(1, Ordering::Relaxed) % SHARDS
    };
}

impl Recorder {
    /// With the state of this fingerprint as number 0.
    pub(crate) fn starting_at(fingerprint: u64) -> Self {
        let indices = DashMap::default();
        indices.insert(fingerprint, 0);
        Self { indices, next: AtomicU32::new(1), shards: (0..SHARDS).map(|_| Mutex::default()).collect() }
    }

    /// The number of the state with this fingerprint.
    pub(crate) fn index(&self, fingerprint: u64) -> u32 {
        *self.indices.entry(fingerprint).or_insert_with(|| self.next.fetch_add(1, Ordering::Relaxed))
    }

    fn shard(&self) -> MutexGuard<'_, Rows> {
        self.shards[SHARD.with(|shard| *shard)].lock().expect("no thread panicked")
    }

    pub(crate) fn state(&self, state: u32, owed: u8) {
        self.shard().owed.push((state, owed));
    }

    pub(crate) fn transition(&self, from: u32, action: Action, to: u32) {
        let mut rows = self.shard();
        if rows.heads.last().is_none_or(|&(state, _)| state != from) {
            let start = u32::try_from(rows.to.len()).expect("fewer transitions than 32 bits can count");
            rows.heads.push((from, start));
        }
        rows.to.push(to);
        rows.action.push(action.code());
    }

    /// Everything that was written down, sorted by state.
    pub(crate) fn finish(self) -> Graph {
        let Self { indices, next, shards } = self;
        drop(indices);
        let states = next.into_inner() as usize;
        let shards: Vec<Rows> =
            shards.into_iter().map(|shard| shard.into_inner().expect("no thread panicked")).collect();
        let mut graph =
            Graph { offsets: vec![0; states + 1], to: Vec::new(), action: Vec::new(), owed: vec![0; states] };
        for rows in &shards {
            for (at, &(from, start)) in rows.heads.iter().enumerate() {
                let length = rows.end(at) - start as usize;
                graph.offsets[from as usize + 1] += u32::try_from(length).expect("a short row");
            }
            for &(state, nodes) in &rows.owed {
                graph.owed[state as usize] = nodes;
            }
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
    action: Vec<u8>,
    owed: Vec<u8>,
}

impl Graph {
    /// Copies the rows to where the offsets say. A state has more than one row if threads had to share a shard.
    fn fill(&mut self, shards: Vec<Rows>) {
        let edges = self.offsets.last().map_or(0, |&end| end as usize);
        (self.to, self.action) = (vec![0; edges], vec![0; edges]);
        for rows in shards {
            for (at, &(from, start)) in rows.heads.iter().enumerate() {
                let (start, length) = (start as usize, rows.end(at) - start as usize);
                let goal = self.offsets[from as usize] as usize;
                self.offsets[from as usize] += u32::try_from(length).expect("a short row");
                self.to[goal..goal + length].copy_from_slice(&rows.to[start..start + length]);
                self.action[goal..goal + length].copy_from_slice(&rows.action[start..start + length]);
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
        self.span(state).map(|at| (Action::of_code(self.action[at as usize]), self.to[at as usize]))
    }

    /// The numbers of a state's transitions.
    pub(crate) fn span(&self, state: u32) -> std::ops::Range<u32> {
        self.offsets[state as usize]..self.offsets[state as usize + 1]
    }

    /// One transition by its number.
    pub(crate) fn transition(&self, at: u32) -> (Action, u32) {
        (Action::of_code(self.action[at as usize]), self.to[at as usize])
    }

    /// The shortest way from `start` to a state that `is_goal`, by transitions that `may_pass`, as the actions and where each
    /// leads; of several, the first in the order of actions.
    pub(crate) fn shortest(
        &self,
        start: u32,
        may_pass: impl Fn(Action, u32) -> bool,
        is_goal: impl Fn(u32) -> bool,
    ) -> Option<(Vec<(Action, u32)>, u32)> {
        if is_goal(start) {
            return Some((Vec::new(), start));
        }
        let mut parent = vec![(CUT, 0_u8); self.owed.len()];
        parent[start as usize].0 = start;
        let mut frontier = vec![start];
        while !frontier.is_empty() {
            let mut further = Vec::new();
            for &state in &frontier {
                for (action, to) in self.from(state) {
                    if to == CUT || parent[to as usize].0 != CUT || !may_pass(action, to) {
                        continue;
                    }
                    parent[to as usize] = (state, action.code());
                    if is_goal(to) {
                        return Some((Self::way(&parent, start, to), to));
                    }
                    further.push(to);
                }
            }
            frontier = further;
        }
        None
    }

    fn way(parent: &[(u32, u8)], start: u32, goal: u32) -> Vec<(Action, u32)> {
        let mut way = Vec::new();
        let mut at = goal;
        while at != start {
            let (before, code) = parent[at as usize];
            way.push((Action::of_code(code), at));
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

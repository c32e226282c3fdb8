//! Whether whoever waits is served in the end, decided on the graph of all states.
//!
//! Two questions, for each node. *Is there hope?* From every state in which it is owed a grant, some continuation without
//! further disturbance serves it. *Is hope fulfilled?* No fair run goes round for ever while it waits: a run that does
//! stays, in the end, in one strongly connected component of the states in which it waits. The component is fair if
//! everything that stays possible in it also happens in it. Components are found such that whatever one leads to is found
//! before it, so both questions are answered as soon as a component is complete.

use crate::action::Action;
use crate::graph::{CUT, Graph};

/// A way to go on for ever.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Endless {
    /// How it comes to that.
    pub(crate) stem: Vec<Action>,
    /// What then goes on; empty if it does not matter what goes on.
    pub(crate) cycle: Vec<Action>,
}

/// The first node that may never be served, with the shortest way there: hope lost before hope deferred.
pub(crate) fn unserved(graph: &Graph, nodes: u32) -> Option<(u32, Endless)> {
    let mut livelock = None;
    for node in 0..nodes {
        let scope = Scope { is_inside: |state| graph.owed(state) >> node & 1 == 1, may_take: |a| !a.is_disturbance() };
        let waiting = Components::of(graph, &scope);
        let way = |is_bad: fn(Fate) -> bool| graph.shortest(0, |_, _| true, |at| waiting.fate(at).is_some_and(is_bad));
        if let Some((stem, _)) = way(|fate| !fate.hope) {
            return Some((node, Endless { stem, cycle: Vec::new() }));
        }
        if livelock.is_none()
            && let Some((stem, entry)) = way(|fate| fate.may_stay)
        {
            livelock = Some((node, Endless { stem, cycle: waiting.cycle(graph, scope.may_take, entry) }));
        }
    }
    livelock
}

/// How messages alone can go round for ever: no request, no release, no timer among them, and none of these due.
pub(crate) fn restless(graph: &Graph) -> Option<Endless> {
    let scope = Scope { is_inside: |_| true, may_take: |action| matches!(action, Action::Deliver { .. }) };
    let components = Components::of(graph, &scope);
    let goes_round = |state| components.fate(state).is_some_and(|fate| fate.may_stay && fate.turns);
    let (stem, entry) = graph.shortest(0, |_, _| true, goes_round)?;
    Some(Endless { stem, cycle: components.cycle(graph, scope.may_take, entry) })
}

/// The part of the graph in which components are looked for.
struct Scope<I: Fn(u32) -> bool> {
    is_inside: I,
    may_take: fn(Action) -> bool,
}

/// What can become of a run that has come to a component.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Fate {
    /// Something leads out of the scope's states.
    hope: bool,
    /// A fair run may stay for ever.
    may_stay: bool,
    /// There is something to do in it.
    turns: bool,
}

/// A set of actions.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
struct Actions([u64; 4]);

impl Actions {
    const ALL: Self = Self([u64::MAX; 4]);

    fn insert(&mut self, action: Action) {
        let code = action.code();
        self.0[usize::from(code / 64)] |= 1 << (code % 64);
    }

    fn has(self, action: Action) -> bool {
        let code = action.code();
        self.0[usize::from(code / 64)] >> (code % 64) & 1 == 1
    }

    fn and(self, other: Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at] & other.0[at]))
    }

    fn and_not(self, other: Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at] & !other.0[at]))
    }
}

/// The strongly connected components of a part of the graph.
struct Components {
    /// The component of each state; [`CUT`] outside the part. Whatever a component leads to has a smaller number.
    of: Vec<u32>,
    fates: Vec<Fate>,
}

impl Components {
    /// Tarjan's algorithm, with a stack of its own: paths are as long as there are states.
    fn of<I: Fn(u32) -> bool>(graph: &Graph, scope: &Scope<I>) -> Self {
        const UNSEEN: u32 = 0;
        let Scope { is_inside, may_take } = scope;
        let states = graph.states() as usize;
        let (mut order, mut low) = (vec![UNSEEN; states], vec![0_u32; states]);
        let mut components = Self { of: vec![CUT; states], fates: Vec::new() };
        let (mut path, mut open, mut seen) = (Vec::<(u32, u32)>::new(), Vec::new(), 0);
        for root in (0..graph.states()).filter(|&state| is_inside(state)) {
            if order[root as usize] != UNSEEN {
                continue;
            }
            let mut enter = Some(root);
            loop {
                if let Some(state) = enter.take() {
                    seen += 1;
                    (order[state as usize], low[state as usize]) = (seen, seen);
                    open.push(state);
                    path.push((state, graph.span(state).start));
                }
                let Some((state, at)) = path.last_mut() else { break };
                let state = *state;
                if *at < graph.span(state).end {
                    let (action, to) = graph.transition(*at);
                    *at += 1;
                    if to == CUT || !may_take(action) || !is_inside(to) {
                        continue;
                    }
                    if order[to as usize] == UNSEEN {
                        enter = Some(to);
                    } else if components.of[to as usize] == CUT {
                        low[state as usize] = low[state as usize].min(order[to as usize]);
                    }
                    continue;
                }
                path.pop();
                if let Some(&(before, _)) = path.last() {
                    low[before as usize] = low[before as usize].min(low[state as usize]);
                }
                if low[state as usize] == order[state as usize] {
                    let start = open.iter().rposition(|&other| other == state).unwrap_or(0);
                    components.close(graph, &open[start..], scope);
                    open.truncate(start);
                }
            }
        }
        components
    }

    /// These states are one component; all that they lead to is settled.
    fn close<I: Fn(u32) -> bool>(&mut self, graph: &Graph, members: &[u32], scope: &Scope<I>) {
        let number = u32::try_from(self.fates.len()).expect("no more components than states");
        for &state in members {
            self.of[state as usize] = number;
        }
        let (mut always_enabled, mut taken, mut hope) = (Actions::ALL, Actions::default(), false);
        for &state in members {
            let mut enabled = Actions::default();
            for (action, to) in graph.from(state) {
                if action.is_fair() {
                    enabled.insert(action);
                }
                if !(scope.may_take)(action) {
                    continue;
                }
                // What was not followed may lead anywhere.
                if to == CUT || !(scope.is_inside)(to) {
                    hope = true;
                } else if self.of[to as usize] == number {
                    taken.insert(action);
                } else {
                    hope |= self.fates[self.of[to as usize] as usize].hope;
                }
            }
            always_enabled = always_enabled.and(enabled);
        }
        let may_stay = always_enabled.and_not(taken) == Actions::default();
        self.fates.push(Fate { hope, may_stay, turns: taken != Actions::default() });
    }

    fn fate(&self, state: u32) -> Option<Fate> {
        let component = self.of[state as usize];
        (component != CUT).then(|| self.fates[component as usize])
    }

    /// A way round within the component of `start`, on which every fair action happens or is impossible at times.
    fn cycle(&self, graph: &Graph, may_take: fn(Action) -> bool, start: u32) -> Vec<Action> {
        let component = self.of[start as usize];
        let inside = |action: Action, to: u32| may_take(action) && self.of[to as usize] == component;
        let (mut cycle, mut at, mut settled) = (Vec::new(), start, Actions::default());
        loop {
            // Where something fair is possible that has neither happened nor been impossible on the way so far.
            let possible = graph.from(at).filter(|(action, _)| action.is_fair());
            let mut enabled = Actions::default();
            possible.for_each(|(action, _)| enabled.insert(action));
            settled = Actions(std::array::from_fn(|word| settled.0[word] | !enabled.0[word]));
            let due =
                |action: Action, to: u32| action.is_fair() && !settled.has(action) && to != CUT && inside(action, to);
            let next = |state: u32| graph.from(state).find(|&(action, to)| due(action, to));
            let Some((way, state)) = graph.shortest(at, inside, |state| next(state).is_some()) else { break };
            cycle.extend(way);
            let Some((action, to)) = next(state) else { break };
            cycle.push(action);
            settled.insert(action);
            at = to;
        }
        if let Some((way, _)) = graph.shortest(at, inside, |state| state == start) {
            cycle.extend(way);
        }
        cycle
    }
}

#[cfg(test)]
mod tests {
    use driftlock_protocol::NodeId;

    use super::*;
    use crate::graph::Recorder;

    const A: Action = Action::Deliver { from: NodeId(0), to: NodeId(1) };
    const B: Action = Action::Deliver { from: NodeId(1), to: NodeId(0) };
    const ASK: Action = Action::Request(NodeId(1));
    const FAIL: Action = Action::Fail(NodeId(0), NodeId(1));

    /// A graph of these transitions, in which node 0 waits in these states.
    fn graph(transitions: &[(u32, Action, u32)], waiting: &[u32]) -> Graph {
        let recorder = Recorder::starting_at(0);
        let most = transitions.iter().map(|&(from, _, to)| from.max(if to == CUT { 0 } else { to })).max().unwrap_or(0);
        for state in 0..=most {
            assert_eq!(recorder.index(u64::from(state)), state);
            recorder.state(state, u8::from(waiting.contains(&state)));
        }
        for &(from, action, to) in transitions {
            recorder.transition(from, action, to);
        }
        recorder.finish()
    }

    fn verdict(transitions: &[(u32, Action, u32)], waiting: &[u32]) -> Option<(Vec<Action>, Vec<Action>)> {
        unserved(&graph(transitions, waiting), 1).map(|(_, endless)| (endless.stem, endless.cycle))
    }

    #[test]
    fn who_is_served_on_every_way_is_served() {
        assert_eq!(verdict(&[(0, A, 1), (0, B, 2), (1, B, 3), (2, A, 3)], &[0, 1, 2]), None);
    }

    #[test]
    fn a_cycle_that_leaves_something_possible_undone_for_ever_is_not_fair() {
        // Round by A, while B, which would serve, is possible all the time.
        assert_eq!(verdict(&[(0, A, 1), (1, A, 0), (0, B, 2), (1, B, 2)], &[0, 1]), None);
    }

    #[test]
    fn a_cycle_on_which_everything_happens_or_is_impossible_at_times_is_a_livelock() {
        // B serves, but it is possible in one of the two states only.
        let transitions = [(0, A, 1), (1, A, 0), (0, B, 2)];
        assert_eq!(verdict(&transitions, &[0, 1]), Some((vec![], vec![A, A])));
    }

    #[test]
    fn requests_need_not_happen() {
        assert_eq!(verdict(&[(0, A, 1), (1, A, 0), (0, ASK, 2), (1, ASK, 2)], &[0, 1]), Some((vec![], vec![A, A])));
    }

    #[test]
    fn hope_that_needs_a_disturbance_is_no_hope() {
        assert_eq!(verdict(&[(0, A, 1), (1, B, 2), (2, FAIL, 3)], &[1, 2]), Some((vec![A], vec![])));
    }

    #[test]
    fn what_was_not_followed_may_serve() {
        assert_eq!(verdict(&[(0, A, 1), (1, B, CUT)], &[0, 1]), None);
    }

    #[test]
    fn the_shortest_way_to_a_livelock_is_told() {
        let transitions = [(0, A, 1), (1, A, 2), (2, A, 3), (0, B, 3), (3, A, 4), (4, A, 3), (3, B, 5)];
        assert_eq!(verdict(&transitions, &[3, 4]), Some((vec![B], vec![A, A])));
    }

    #[test]
    fn messages_alone_are_restless_and_with_a_timer_among_them_they_are_not() {
        let timer = Action::Timer(NodeId(0), 0);
        let endless = restless(&graph(&[(0, ASK, 1), (1, A, 2), (2, B, 1)], &[]));
        assert_eq!(endless, Some(Endless { stem: vec![ASK], cycle: vec![A, B] }));
        assert_eq!(restless(&graph(&[(0, ASK, 1), (1, A, 2), (2, timer, 1)], &[])), None);
        assert_eq!(restless(&graph(&[(0, A, 1), (1, B, 0), (0, timer, 2), (1, timer, 2)], &[])), None);
    }
}

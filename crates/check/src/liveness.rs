//! Whether whoever waits is served in the end, decided on the graph of all states.
//!
//! Two questions, for each node. *Is there hope?* From every state in which it is owed a grant, some continuation
//! without further disturbance serves it. *Is hope fulfilled?* No fair run goes round for ever while it waits: a run
//! that does stays, in the end, in one strongly connected component of the states in which it waits. The component is
//! fair if everything that stays possible in it also happens in it. Components are found such that whatever one leads
//! to is found before it, so both questions are answered as soon as a component is complete.

use crate::action::{Action, Codes};
use crate::graph::{CUT, Graph};

/// A way to go on for ever.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Endless {
    /// How it comes to that.
    pub(crate) stem: Vec<Action>,
    /// What then goes on.
    pub(crate) cycle: Vec<Action>,
}

/// How a node that waits can go unserved.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Unserved {
    /// These actions lead to where nothing serves it any more.
    Hopeless(Vec<Action>),
    /// It is passed over for ever.
    PassedOver(Endless),
}

/// What is known of service, or of calm.
pub(crate) struct Decided<T> {
    /// The nearest way to the worst that can happen.
    pub(crate) worst: Option<T>,
    /// From so many states, counted for each node by itself, it depends on what was not followed.
    pub(crate) undecided: u64,
}

/// The first node that may never be served, with the shortest way there: hope lost before hope deferred.
pub(crate) fn unserved(graph: &Graph, nodes: u32) -> Decided<(u32, Unserved)> {
    let mut decided = Decided { worst: None, undecided: 0 };
    for node in 0..nodes {
        let scope = Scope { is_inside: |state| graph.owed(state) >> node & 1 == 1, may_take: |a| !a.is_disturbance() };
        let waiting = Components::of(graph, &scope);
        let way = |is_bad: fn(Prospect) -> bool| {
            graph.shortest(0, |_, _| true, |state| waiting.prospect(state).is_some_and(is_bad))
        };
        if let Some((way, _)) = way(|prospect| !prospect.hope) {
            decided.worst = Some((node, Unserved::Hopeless(actions(way))));
            return decided;
        }
        if decided.worst.is_none()
            && let Some((way, entry)) = way(|prospect| prospect.may_stay)
        {
            let cycle = waiting.cycle(graph, scope.may_take, entry);
            decided.worst = Some((node, Unserved::PassedOver(Endless { stem: actions(way), cycle })));
        }
        decided.undecided += waiting.count(|prospect| !prospect.sure_hope || prospect.might_stay);
    }
    decided
}

/// How messages alone can go round for ever: no request, no release, no timer among them, and none of these due.
pub(crate) fn restless(graph: &Graph) -> Decided<Endless> {
    let scope = Scope { is_inside: |_| true, may_take: |action| matches!(action, Action::Deliver { .. }) };
    let components = Components::of(graph, &scope);
    let goes_round = |state| components.prospect(state).is_some_and(|prospect| prospect.may_stay && prospect.turns);
    let worst = graph
        .shortest(0, |_, _| true, goes_round)
        .map(|(way, entry)| Endless { stem: actions(way), cycle: components.cycle(graph, scope.may_take, entry) });
    Decided { worst, undecided: components.count(|prospect| prospect.might_stay && !prospect.may_stay) }
}

fn actions(way: Vec<(Action, u32)>) -> Vec<Action> {
    way.into_iter().map(|(action, _)| action).collect()
}

/// The part of the graph in which components are looked for.
struct Scope<I: Fn(u32) -> bool> {
    is_inside: I,
    may_take: fn(Action) -> bool,
}

/// What can become of a run that has come to a component.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(clippy::struct_excessive_bools)] // five answers to five questions
struct Prospect {
    /// Something leads out of the scope's states, or may: what was not followed may lead anywhere.
    hope: bool,
    /// Something that was followed leads out of the scope's states.
    sure_hope: bool,
    /// A fair run may stay for ever.
    may_stay: bool,
    /// A fair run could stay for ever if what was not followed leads back.
    might_stay: bool,
    /// There is something to do in it.
    turns: bool,
}

/// A set of actions, by number.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
struct Actions([u64; Codes::COUNT.div_ceil(64) as usize]);

impl Actions {
    const ALL: Self = Self([u64::MAX; Codes::COUNT.div_ceil(64) as usize]);

    fn insert(&mut self, code: u16) {
        self.0[usize::from(code / 64)] |= 1 << (code % 64);
    }

    fn has(self, code: u16) -> bool {
        self.0[usize::from(code / 64)] >> (code % 64) & 1 == 1
    }

    fn and(self, other: Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at] & other.0[at]))
    }

    fn or(self, other: Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at] | other.0[at]))
    }

    fn and_not(self, other: Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at] & !other.0[at]))
    }
}

/// The strongly connected components of a part of the graph.
struct Components {
    /// The component of each state; [`CUT`] outside the part. Whatever a component leads to has a smaller number.
    of: Vec<u32>,
    prospects: Vec<Prospect>,
    /// How many states each has.
    sizes: Vec<u32>,
}

impl Components {
    /// Tarjan's algorithm, with a stack of its own: paths are as long as there are states.
    fn of<I: Fn(u32) -> bool>(graph: &Graph, scope: &Scope<I>) -> Self {
        const UNSEEN: u32 = 0;
        let Scope { is_inside, may_take } = scope;
        let states = graph.states() as usize;
        let (mut order, mut low) = (vec![UNSEEN; states], vec![0_u32; states]);
        let mut components = Self { of: vec![CUT; states], prospects: Vec::new(), sizes: Vec::new() };
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
        let number = u32::try_from(self.prospects.len()).expect("no more components than states");
        for &state in members {
            self.of[state as usize] = number;
        }
        let (mut always_enabled, mut taken, mut cut) = (Actions::ALL, Actions::default(), Actions::default());
        let (mut hope, mut sure_hope) = (false, false);
        for &state in members {
            let mut enabled = Actions::default();
            for (action, to) in graph.from(state) {
                if action.is_fair() {
                    enabled.insert(graph.code(action));
                }
                if !(scope.may_take)(action) {
                    continue;
                }
                if to == CUT {
                    cut.insert(graph.code(action));
                    hope = true;
                } else if !(scope.is_inside)(to) {
                    (hope, sure_hope) = (true, true);
                } else if self.of[to as usize] == number {
                    taken.insert(graph.code(action));
                } else {
                    let onward = self.prospects[self.of[to as usize] as usize];
                    (hope, sure_hope) = (hope || onward.hope, sure_hope || onward.sure_hope);
                }
            }
            always_enabled = always_enabled.and(enabled);
        }
        let undone = always_enabled.and_not(taken);
        let may_stay = undone == Actions::default();
        let might_stay = undone.and_not(cut) == Actions::default();
        let turns = taken != Actions::default();
        self.prospects.push(Prospect { hope, sure_hope, may_stay, might_stay, turns });
        self.sizes.push(u32::try_from(members.len()).expect("counted in 32 bits"));
    }

    fn prospect(&self, state: u32) -> Option<Prospect> {
        let component = self.of[state as usize];
        (component != CUT).then(|| self.prospects[component as usize])
    }

    /// How many states have such prospects.
    fn count(&self, is_such: impl Fn(Prospect) -> bool) -> u64 {
        let sizes = self.prospects.iter().zip(&self.sizes);
        sizes.filter(|(prospect, _)| is_such(**prospect)).map(|(_, &size)| u64::from(size)).sum()
    }

    /// A way round within the component of `start`, on which every fair action happens or is impossible at times.
    fn cycle(&self, graph: &Graph, may_take: fn(Action) -> bool, start: u32) -> Vec<Action> {
        let component = self.of[start as usize];
        let inside = |action: Action, to: u32| to != CUT && may_take(action) && self.of[to as usize] == component;
        let (mut cycle, mut at) = (Vec::new(), start);
        let mut settled = impossible(graph, start);
        loop {
            let due = |state: u32| {
                graph
                    .from(state)
                    .find(|&(action, to)| action.is_fair() && !settled.has(graph.code(action)) && inside(action, to))
            };
            let has_news =
                |state: u32| due(state).is_some() || impossible(graph, state).and_not(settled) != Actions::default();
            let Some((mut way, end)) = graph.shortest(at, inside, has_news) else { break };
            // Where nothing new is impossible, something new is taken.
            way.extend(due(end).filter(|_| impossible(graph, end).and_not(settled) == Actions::default()));
            for &(action, to) in &way {
                cycle.push(action);
                settled.insert(graph.code(action));
                settled = settled.or(impossible(graph, to));
                at = to;
            }
        }
        if let Some((way, _)) = graph.shortest(at, inside, |state| state == start) {
            cycle.extend(actions(way));
        }
        cycle
    }
}

/// What is fair and cannot happen in this state, and all that is not fair.
fn impossible(graph: &Graph, state: u32) -> Actions {
    let mut enabled = Actions::default();
    graph.from(state).filter(|(action, _)| action.is_fair()).for_each(|(action, _)| enabled.insert(graph.code(action)));
    Actions::ALL.and_not(enabled)
}

#[cfg(test)]
mod tests {
    use driftlock_protocol::NodeId;
    use driftlock_protocol::ideal::{Change, FAILURES, Ideal, Links};

    use super::*;
    use crate::graph::Recorder;

    const A: Action = Action::Deliver { from: NodeId(0), to: NodeId(1) };
    const B: Action = Action::Deliver { from: NodeId(1), to: NodeId(0) };
    const ASK: Action = Action::Request(NodeId(1), 0);
    const FAIL: Action = Action::Change(Change::between(&FAILURES, NodeId(0), NodeId(1)));

    /// A graph of these transitions, in which node 0 waits in these states.
    fn graph(transitions: &[(u32, Action, u32)], waiting: &[u32]) -> Graph {
        graph_of_waiters(transitions, |state| u8::from(waiting.contains(&state)))
    }

    /// The same, where the function says who waits, as a set of bits.
    fn graph_of_waiters(transitions: &[(u32, Action, u32)], waiters: impl Fn(u32) -> u8) -> Graph {
        let recorder = Recorder::starting_at(0, Codes::new(Links::KINDS));
        let most = transitions.iter().map(|&(from, _, to)| from.max(if to == CUT { 0 } else { to })).max().unwrap_or(0);
        for state in 0..=most {
            assert_eq!(recorder.index(u64::from(state)), state);
            recorder.state(state, waiters(state));
        }
        for &(from, action, to) in transitions {
            recorder.transition(from, action, to);
        }
        recorder.finish()
    }

    fn verdict(transitions: &[(u32, Action, u32)], waiting: &[u32]) -> Option<(Vec<Action>, Vec<Action>)> {
        unserved(&graph(transitions, waiting), 1).worst.map(|(_, unserved)| match unserved {
            Unserved::Hopeless(stem) => (stem, Vec::new()),
            Unserved::PassedOver(Endless { stem, cycle }) => (stem, cycle),
        })
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
    fn what_was_not_followed_may_serve_and_leaves_the_question_open() {
        let transitions = [(0, A, 1), (1, B, CUT)];
        assert_eq!(verdict(&transitions, &[0, 1]), None);
        assert_eq!(unserved(&graph(&transitions, &[0, 1]), 1).undecided, 2);
        assert_eq!(unserved(&graph(&[(0, A, 1), (1, B, CUT), (1, A, 2)], &[0, 1]), 1).undecided, 0);
    }

    /// Nodes 0 to 2 wait in state 1, and the node of this number waits on in state 2, which nothing leaves.
    #[test]
    fn every_node_is_looked_at_whoever_it_is_that_is_not_served() {
        for node in 0..3 {
            let waiters = |state| [0, 0b111, 1 << node][state as usize];
            let graph = graph_of_waiters(&[(0, ASK, 1), (1, A, 2)], waiters);
            let hopeless = Unserved::Hopeless(vec![ASK]);
            assert_eq!(unserved(&graph, 3).worst, Some((node, hopeless)));
            assert_eq!(unserved(&graph, node).worst, None, "there is no such node");
        }
    }

    #[test]
    fn lost_hope_of_a_later_node_is_told_before_deferred_hope_of_an_earlier_one() {
        // Node 0 is passed over in states 0 and 1; node 1 has no hope in state 2.
        let transitions = [(0, A, 1), (1, A, 0), (0, B, 2)];
        let graph = graph_of_waiters(&transitions, |state| [0b01, 0b01, 0b10][state as usize]);
        assert_eq!(
            unserved(&graph, 1).worst,
            Some((0, Unserved::PassedOver(Endless { stem: vec![], cycle: vec![A, A] })))
        );
        assert_eq!(unserved(&graph, 2).worst, Some((1, Unserved::Hopeless(vec![B]))));
    }

    #[test]
    fn a_way_round_that_may_lead_through_what_was_not_followed_leaves_the_question_open() {
        // Round by A. OUT serves in state 0 alone; B is always possible and was not followed, so it may lead back.
        const OUT: Action = Action::Release(NodeId(1));
        let transitions = [(0, A, 1), (1, A, 0), (0, OUT, 2), (0, B, CUT), (1, B, CUT)];
        let decided = unserved(&graph(&transitions, &[0, 1]), 1);
        assert_eq!((decided.worst, decided.undecided), (None, 2));
        // The same of calm: messages A go round, and B, always possible, may be one of them.
        let decided = restless(&graph(&[(0, A, 1), (1, A, 0), (0, B, CUT), (1, B, CUT)], &[]));
        assert_eq!((decided.worst, decided.undecided), (None, 2));
    }

    #[test]
    fn what_is_decided_is_not_counted_as_undecided() {
        // Round for ever; at rest; and on to rest, past something that was not followed but cannot lead back for ever.
        for transitions in [&[(0, A, 1), (1, A, 0)][..], &[(0, ASK, 1)], &[(0, A, 1), (0, B, CUT)]] {
            assert_eq!(restless(&graph(transitions, &[])).undecided, 0, "{transitions:?}");
        }
    }

    #[test]
    fn a_cycle_passes_where_something_is_impossible() {
        const OUT: Action = Action::Release(NodeId(1));
        // OUT would serve; only state 2 does not offer it, so the way round must pass there.
        let transitions = [(0, A, 1), (1, B, 0), (1, A, 2), (2, B, 0), (0, OUT, 3), (1, OUT, 3)];
        let (stem, cycle) = verdict(&transitions, &[0, 1, 2]).expect("it can be passed over");
        assert_eq!((stem, cycle), (vec![], vec![A, A, B]));
    }

    #[test]
    fn the_shortest_way_to_a_livelock_is_told() {
        let transitions = [(0, A, 1), (1, A, 2), (2, A, 3), (0, B, 3), (3, A, 4), (4, A, 3), (3, B, 5)];
        assert_eq!(verdict(&transitions, &[3, 4]), Some((vec![B], vec![A, A])));
    }

    #[test]
    fn messages_alone_are_restless_and_with_a_timer_among_them_they_are_not() {
        let timer = Action::Timer(NodeId(0), 0);
        let restless = |transitions: &[(u32, Action, u32)]| restless(&graph(transitions, &[])).worst;
        let endless = restless(&[(0, ASK, 1), (1, A, 2), (2, B, 1)]);
        assert_eq!(endless, Some(Endless { stem: vec![ASK], cycle: vec![A, B] }));
        assert_eq!(restless(&[(0, ASK, 1), (1, A, 2), (2, timer, 1)]), None);
        assert_eq!(restless(&[(0, A, 1), (1, B, 0), (0, timer, 2), (1, timer, 2)]), None);
    }
}

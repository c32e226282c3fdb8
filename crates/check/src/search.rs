//! Breadth-first search through all states, by stateright; then the verdict.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use driftlock_protocol::ideal::{Ideal, IdealOf};
use driftlock_protocol::{NodeId, Protocol, Repairs};
use driftlock_spec::Violation;
use stateright::{Checker, HasDiscoveries, Model as _, Property as Expected};

use crate::action::{Action, Codes};
use crate::graph::{CUT, Graph, Recorder};
use crate::liveness::{Endless, Unserved, restless, unserved};
use crate::model::{ALL_IN_USE, Model, NOT_VIOLATED, QUIET, RESTARTED, RESUMED};
use crate::state::State;
use crate::{Property, Setup, SetupError};

/// How to search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Effort {
    /// How many threads.
    pub threads: usize,
    /// Whether the graph is kept, and liveness decided on it. Without it a state takes less than half the memory.
    pub liveness: bool,
}

/// How far a search has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Progress {
    /// Different states so far.
    pub states: u64,
    /// Transitions so far.
    pub transitions: u64,
    /// The deepest state so far.
    pub depth: u32,
    /// States that were met but not looked at.
    pub queue: u64,
    /// What it is doing.
    pub stage: Stage,
}

/// What a search is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Stage {
    /// Looking for all states.
    #[default]
    Exploring,
    /// Looking once more, on one thread, for the shortest way to a violation.
    Shortening,
    /// Deciding who is served on the graph of all states.
    Liveness,
}

/// What a search found.
#[derive(Clone, PartialEq, Debug)]
pub struct Report {
    /// Different states.
    pub states: u64,
    /// Transitions.
    pub transitions: u64,
    /// The number of actions to the furthest state; in an unfinished search, to the furthest that was met.
    pub depth: u32,
    /// Whether every state within the bounds was looked at.
    pub exhaustive: bool,
    /// Whether the graph was looked at for service and calm, as far as these were asked for.
    pub liveness: bool,
    /// The furthest that heights lay apart.
    pub spread: u64,
    /// Transitions that were not followed because heights would have lain further apart.
    pub cut: u64,
    /// Of service and calm, from so many states it could not be decided: it depends on what was not followed.
    pub undecided: u64,
    /// Of so many nodes that wait, counted in each state by itself, service says nothing: no node has a token there,
    /// and none is on its way. Without the graph they are not counted.
    pub uncounted: u64,
    /// What was the case in some state, so that the verdict is not about nothing.
    pub witnessed: Witnessed,
    /// The shortest way to the first violation, if there is one.
    pub violation: Option<Counterexample>,
}

/// What was the case in some state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Witnessed {
    /// The nodes that were granted units.
    pub granted: Vec<NodeId>,
    /// Nothing was on its way, nobody used anything, no timer was armed.
    pub quiet: bool,
    /// All k units were in use at once.
    pub all_in_use: bool,
    /// What came of nodes that were killed.
    pub lives: Lives,
}

/// What came of nodes that were killed: the most that did.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Lives {
    /// None was, or none came back.
    One,
    /// One came back with what it had stored.
    Restarted,
    /// An application of an earlier life showed its grant to one that took it.
    Resumed,
}

/// How something goes wrong.
#[derive(Clone, PartialEq, Debug)]
pub struct Counterexample {
    /// What is wrong.
    pub violation: Violation,
    /// What has to happen for it.
    pub actions: Vec<Action>,
    /// What then goes on for ever, if it is a livelock.
    pub cycle: Vec<Action>,
}

impl<P: Protocol> stateright::Model for Model<P> {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![self.initial()]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        if self.stop.load(Ordering::Relaxed) {
            return;
        }
        self.expanded.fetch_add(1, Ordering::Relaxed);
        self.enabled(state, actions);
        if let Some(recorder) = &self.recorder {
            let owed = self.owed(state);
            recorder.state(state.index, owed);
            let uncounted = if owed == 0 { self.uncounted(state) } else { 0 };
            if uncounted > 0 {
                self.uncounted.fetch_add(uncounted as u64, Ordering::Relaxed);
            }
        }
    }

    fn next_state(&self, state: &State, action: Action) -> Option<State> {
        let next = self.after(state, action);
        let Some(recorder) = &self.recorder else { return next };
        let next = next.map(|mut next| {
            next.index = recorder.index(next.fingerprint);
            next
        });
        recorder.transition(state.index, action, next.as_ref().map_or(CUT, |next| next.index));
        next
    }

    fn properties(&self) -> Vec<Expected<Self>> {
        let granted = [
            Expected::sometimes("node 0 is granted", Self::witness::<0>),
            Expected::sometimes("node 1 is granted", Self::witness::<1>),
            Expected::sometimes("node 2 is granted", Self::witness::<2>),
            Expected::sometimes("node 3 is granted", Self::witness::<3>),
            Expected::sometimes("node 4 is granted", Self::witness::<4>),
            Expected::sometimes("node 5 is granted", Self::witness::<5>),
            Expected::sometimes("node 6 is granted", Self::witness::<6>),
            Expected::sometimes("node 7 is granted", Self::witness::<7>),
        ];
        let mut all = vec![
            Expected::always(HOLDS, Self::holds),
            Expected::sometimes("quiet", Self::witness::<QUIET>),
            Expected::sometimes("all units in use", Self::witness::<ALL_IN_USE>),
        ];
        all.extend(granted.into_iter().take(self.setup().deployment.nodes as usize));
        all
    }
}

/// The name of the property that must hold in every state.
const HOLDS: &str = "everything that must hold";

impl<P: Protocol> Model<P> {
    fn holds(&self, state: &State) -> bool {
        if self.stop.load(Ordering::Relaxed) || self.verdict(state).is_ok() {
            return true;
        }
        self.violated.fetch_min(state.index, Ordering::Relaxed);
        false
    }

    fn witnessed(&self) -> Witnessed {
        let seen = self.seen.load(Ordering::Relaxed);
        let is_seen = |bit: u32| seen >> bit & 1 == 1;
        Witnessed {
            granted: self.layout.ids().filter(|node| is_seen(node.0)).collect(),
            quiet: is_seen(QUIET),
            all_in_use: is_seen(ALL_IN_USE),
            lives: match (is_seen(RESTARTED), is_seen(RESUMED)) {
                (_, true) => Lives::Resumed,
                (true, false) => Lives::Restarted,
                (false, false) => Lives::One,
            },
        }
    }

    /// Whether this is the first state in which the thing of this number is the case. The search would note each one.
    fn witness<const BIT: u32>(&self, state: &State) -> bool {
        let seen = |bits: u64| bits >> BIT & 1 == 1;
        !seen(self.seen.load(Ordering::Relaxed))
            && self.is_witness(state, BIT)
            && !seen(self.seen.fetch_or(1 << BIT, Ordering::Relaxed))
    }
}

/// What one pass of the search leaves behind.
struct Pass {
    exhaustive: bool,
    report: Report,
    /// The number of the violating state that was met first.
    violated: Option<u32>,
    recorder: Option<Recorder>,
}

fn pass<P: Protocol>(
    mut model: Model<P>,
    effort: Effort,
    stage: Stage,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Pass {
    let codes = || Codes::new(IdealOf::<P>::KINDS);
    let recorder = effort.liveness.then(|| Arc::new(Recorder::starting_at(model.initial().fingerprint, codes())));
    model.recorder.clone_from(&recorder);
    let mut checker = model.checker().threads(effort.threads).finish_when(HasDiscoveries::AnyFailures).spawn_bfs();
    let handles = checker.handles();
    let (mut nap, mut exhaustive) = (Duration::from_micros(200), true);
    while !handles.iter().all(thread::JoinHandle::is_finished) {
        thread::sleep(nap);
        nap = (nap * 2).min(Duration::from_millis(50));
        if exhaustive && progress(so_far(&checker, stage)) == ControlFlow::Break(()) {
            checker.model().stop.store(true, Ordering::Relaxed);
            exhaustive = false;
        }
    }
    for handle in handles {
        handle.join().expect("no algorithm panics");
    }
    let Progress { states, transitions, depth, .. } = so_far(&checker, stage);
    let model = checker.model();
    let report = Report {
        states,
        transitions,
        depth,
        exhaustive,
        liveness: false,
        spread: model.spread.load(Ordering::Relaxed),
        cut: model.cut.load(Ordering::Relaxed),
        undecided: 0,
        uncounted: model.uncounted.load(Ordering::Relaxed),
        witnessed: model.witnessed(),
        violation: None,
    };
    let violated = model.violated.load(Ordering::Relaxed);
    drop(checker);
    let recorder = recorder.map(|recorder| Arc::into_inner(recorder).expect("the search and its model are gone"));
    Pass { exhaustive, report, violated: (violated != NOT_VIOLATED).then_some(violated), recorder }
}

fn so_far<P: Protocol>(checker: &impl Checker<Model<P>>, stage: Stage) -> Progress {
    let states = checker.unique_state_count() as u64;
    Progress {
        states,
        // The first state is counted, too, but nothing led to it.
        transitions: (checker.state_count() as u64).saturating_sub(1),
        depth: u32::try_from(checker.max_depth()).unwrap_or(u32::MAX).saturating_sub(1),
        queue: states.saturating_sub(checker.model().expanded.load(Ordering::Relaxed)),
        stage,
    }
}

/// Looks at every state of an algorithm within the bounds of `setup`.
///
/// A violation is reported with the shortest way to it: the search goes as fast as it can until it meets one, then once
/// more on a single thread, which meets the nearest first.
pub fn check<P: Protocol>(
    setup: &Setup,
    variant: P::Variant,
    repairs: Repairs,
    effort: Effort,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Report, SetupError> {
    Ok(explore(&Model::<P>::new(setup.clone(), variant, repairs)?, effort, progress))
}

/// Likewise, of this model.
pub fn explore<P: Protocol>(
    model: &Model<P>,
    effort: Effort,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Report {
    let mut found = pass(model.anew(), effort, Stage::Exploring, progress);
    if found.violated.is_some() {
        let alone = Effort { threads: 1, liveness: true };
        if effort != alone {
            found = pass(model.anew(), alone, Stage::Shortening, &mut |so_far| {
                _ = progress(so_far);
                ControlFlow::Continue(())
            });
        }
        let (Some(recorder), Some(violated)) = (found.recorder, found.violated) else {
            unreachable!("what one search meets, another meets too")
        };
        let violation = Some(nearest(&model.anew(), &recorder.finish(), violated));
        return Report { exhaustive: false, violation, ..found.report };
    }
    let mut report = found.report;
    if let Some(recorder) = found.recorder.filter(|_| found.exhaustive) {
        _ = progress(Progress { states: report.states, stage: Stage::Liveness, ..Progress::default() });
        let graph = recorder.finish();
        report.depth = graph.depth();
        decide(&graph, model.setup(), &mut report);
    }
    report
}

/// Service and calm, as far as they are asked for.
fn decide(graph: &Graph, setup: &Setup, report: &mut Report) {
    report.liveness = true;
    if setup.properties.has(Property::Service) {
        let decided = unserved(graph, setup.deployment.nodes);
        report.undecided += decided.undecided;
        report.violation = decided.worst.map(|(node, unserved)| Counterexample::starving(node, unserved));
    }
    if setup.properties.has(Property::Calm) && report.violation.is_none() {
        let decided = restless(graph);
        report.undecided += decided.undecided;
        report.violation = decided.worst.map(|Endless { stem, cycle }| Counterexample {
            violation: Violation::Restless,
            actions: stem,
            cycle,
        });
    }
}

/// The way to the state of this number, and what is wrong with it.
fn nearest<P: Protocol>(model: &Model<P>, graph: &Graph, violated: u32) -> Counterexample {
    let way = graph.shortest(0, |_, _| true, |state| state == violated);
    let actions: Vec<_> = way.map(|(way, _)| way).unwrap_or_default().into_iter().map(|(action, _)| action).collect();
    let end = actions.iter().try_fold(model.initial(), |state, &action| model.after(&state, action));
    let violation = end.and_then(|end| model.verdict(&end).err()).expect("the same actions lead to the same end");
    Counterexample { violation, actions, cycle: Vec::new() }
}

impl Counterexample {
    fn starving(node: u32, unserved: Unserved) -> Self {
        let node = NodeId(node);
        match unserved {
            Unserved::Hopeless(actions) => Self { violation: Violation::Hopeless { node }, actions, cycle: Vec::new() },
            Unserved::PassedOver(Endless { stem, cycle }) => {
                Self { violation: Violation::Livelock { node }, actions: stem, cycle }
            }
        }
    }
}

//! Random walks through the same states, for bounds that are too wide to look at all of them.

use std::ops::ControlFlow;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use driftlock_protocol::{Harm, NodeId, Protocol};
use driftlock_spec::Violation;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::search::Counterexample;
use crate::{Action, Model, Property};

/// A walk takes no more steps than this before it is left in peace.
const STEPS_MAX: u32 = 400;
/// Walks meet ever new states, and a model keeps the parts of all it has met: so many walks share one.
const WALKS_OF_A_MODEL: u64 = 10_000;
/// Left in peace, every waiter must be served within so many steps.
const SETTLING_MAX: u32 = 20_000;

/// What came of random walks.
#[derive(Clone, PartialEq, Debug)]
pub struct Walked {
    /// How many walks were made.
    pub walks: u64,
    /// Steps of all walks together.
    pub steps: u64,
    /// Requests that were granted.
    pub grants: u64,
    /// The number of the first walk that went wrong, and how.
    pub violation: Option<(u64, Counterexample)>,
}

/// Makes the walks of these numbers, each drawn from `seed` and its own number alone, until `progress` has had enough.
///
/// Each takes any action that is possible, whichever comes up, until nothing is left to ask for or to change, or it has
/// been long enough; then only messages, releases and timers, until nobody waits. Everything that must hold is checked
/// after every step. How far heights lie apart does not matter here.
pub fn walk<P: Protocol>(
    model: &Model<P>,
    seed: u64,
    walks: Range<u64>,
    progress: &(dyn Fn(u64) -> ControlFlow<()> + Sync),
) -> Walked {
    let (made, steps, grants) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
    let walk = |model: &Model<P>, number| {
        if progress(made.fetch_add(1, Ordering::Relaxed)) == ControlFlow::Break(()) {
            made.fetch_sub(1, Ordering::Relaxed);
            return None;
        }
        let mut walker = Walker { model, random: stream(seed, number), actions: Vec::new(), grants: 0 };
        let outcome = walker.walk();
        steps.fetch_add(walker.actions.len() as u64, Ordering::Relaxed);
        grants.fetch_add(walker.grants, Ordering::Relaxed);
        let actions = walker.actions;
        outcome.err().map(|violation| (number, Counterexample { violation: *violation, actions, cycle: Vec::new() }))
    };
    let starts = walks.clone().step_by(usize::try_from(WALKS_OF_A_MODEL).unwrap_or(usize::MAX));
    let violation = starts.into_iter().find_map(|start| {
        let (model, end) = (model.anew(), walks.end.min(start + WALKS_OF_A_MODEL));
        (start..end).into_par_iter().find_map_first(|number| walk(&model, number))
    });
    Walked { walks: made.into_inner(), steps: steps.into_inner(), grants: grants.into_inner(), violation }
}

fn stream(seed: u64, number: u64) -> ChaCha8Rng {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(number);
    random
}

struct Walker<'a, P: Protocol> {
    model: &'a Model<P>,
    random: ChaCha8Rng,
    actions: Vec<Action>,
    grants: u64,
}

impl<P: Protocol> Walker<'_, P> {
    fn walk(&mut self) -> Result<(), Box<Violation>> {
        let model = self.model;
        let mut state = model.initial();
        let service = model.setup().properties.has(Property::Service);
        let mut enabled = Vec::new();
        for step in 0..STEPS_MAX + SETTLING_MAX {
            enabled.clear();
            model.enabled(&state, &mut enabled);
            let in_peace = step >= STEPS_MAX || enabled.iter().all(|action| action.is_fair());
            if in_peace {
                enabled.retain(|action| action.is_fair());
            }
            // Where a token that is lost comes back, a waiter that could not be served just now may be served later.
            let may_be_served =
                || P::CLAIMS.stand(Harm::Crash) && step < STEPS_MAX && model.waiters(&state).next().is_some();
            let waits = model.owed(&state) != 0 || may_be_served();
            if enabled.is_empty() || (in_peace && !waits && model.grants(&state) == 0) {
                return Ok(());
            }
            let action = enabled[self.random.random_range(0..enabled.len())];
            let (next, _) = model.stepped(&state, action);
            self.actions.push(action);
            self.grants += u64::from(model.grants(&next).count_ones() > model.grants(&state).count_ones());
            state = next;
            model.verdict(&state)?;
        }
        if !service {
            return Ok(());
        }
        let owed = model.owed(&state);
        let nodes = (0..model.setup().deployment.nodes).map(NodeId).filter(|node| owed >> node.0 & 1 == 1).collect();
        Err(Box::new(Violation::Starved { nodes }))
    }
}

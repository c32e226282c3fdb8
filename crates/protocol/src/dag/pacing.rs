//! What a node does when its reversals lead nowhere.
//!
//! Where the network is partitioned, every node in a part without a token raises its height over the others for ever,
//! and in a part where all hold tokens every node lowers it for ever; both as fast as messages travel. So it is in a
//! network that is connected by a new link, until the heights of its ends have arrived. The papers do not say what to
//! do about it. When the parts meet again, their heights may be thousands of levels apart, and partial reversal, which
//! climbs one level above the lowest neighbour, takes as many steps.
//!
//! Here a node that has reversed links [`Limits::patience`] times, while no token came or went and none of its own
//! links changed, reverses *all* its links at once, which takes it over whatever its neighbours have climbed to; after
//! as many of those it pauses before each further one. The pauses do not grow: a neighbour whose links have just
//! changed begins with partial reversals, and may have to wait for a pause of this node before each of them.

use alloc::vec::Vec;
use core::time::Duration;

use serde::{Deserialize, Serialize};

use super::Dag;
use crate::{Constant, Outbox};

/// The timer of an algorithm that reverses links; the papers have none.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Timer {
    /// The pause before the next reversal is over.
    Pace,
    /// A token for which no request waits here has stayed long enough. Of KRLF alone.
    Rest,
}

/// How long a node goes on before it slows down.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Limits {
    /// So many partial reversals in a row are made at once, and after them so many full ones.
    pub patience: u16,
    /// How long the pause before each further one is.
    pub pause: Duration,
}

impl Limits {
    /// What every world but the checker goes by.
    pub const USUAL: Self = Self { patience: 32, pause: Duration::from_secs(20) };
    /// One reversal of each sort.
    pub const SMALL: Self = Self { patience: 1, ..Self::USUAL };
}

/// What users may set of this, given where a variant has it.
pub(crate) fn constants<V: Copy>(
    patience: fn(&mut V) -> &mut u16,
    pause: fn(&mut V) -> &mut Duration,
) -> Vec<Constant<V>> {
    alloc::vec![
        Constant::count("reversals", patience, 1..=10_000, "partial reversals in a row, and then as many full ones"),
        Constant::time("pause", pause, "before each further reversal, while they lead nowhere"),
    ]
}

/// How a node stands with its reversals.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Pace {
    /// Reversals since something else happened, as far as they count.
    reversals: u16,
    /// Whether it waits for the timer before the next one.
    pub(crate) paused: bool,
}

/// How far a reversal goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reversal {
    /// As in the paper: some links turn.
    Partial,
    /// All links turn.
    Full,
}

impl Dag {
    /// The reversal that may be made now. If none, the timer is armed.
    pub(super) fn next_reversal<M: Clone>(&mut self, out: &mut Outbox<M, Timer>) -> Option<Reversal> {
        let Some(Limits { patience, pause }) = self.limits else { return Some(Reversal::Partial) };
        if self.pace.reversals < 2 * patience {
            self.pace.reversals += 1;
            return Some(if self.pace.reversals <= patience { Reversal::Partial } else { Reversal::Full });
        }
        if !self.pace.paused {
            self.pace.paused = true;
            out.clause("pause");
            out.arm(Timer::Pace, pause);
        }
        None
    }

    /// A token came or went, or a link changed: reversals may lead somewhere again. Tells whether one had to wait.
    pub(crate) fn reset_pace<M: Clone>(&mut self, out: &mut Outbox<M, Timer>) -> bool {
        let paused = self.pace.paused;
        self.pace = Pace::default();
        if paused {
            out.disarm(Timer::Pace);
        }
        paused
    }

    /// The pause is over: one reversal may be made, if it is still needed.
    pub(crate) fn begin_turn(&mut self) {
        let patience = self.limits.map_or(0, |limits| limits.patience);
        self.pace = Pace { reversals: (2 * patience).saturating_sub(1), paused: false };
    }

    /// The next one, if there has to be one, comes after another pause.
    pub(crate) fn end_turn(&mut self) {
        if let Some(Limits { patience, .. }) = self.limits {
            self.pace.reversals = 2 * patience;
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::{Deployment, Effect};

    type Effects = Vec<Effect<(), Timer>>;

    const PAUSES: [Effect<(), Timer>; 1] = [Effect::Arm { timer: Timer::Pace, after: Limits::USUAL.pause }];

    fn dag(limits: Option<Limits>) -> Dag {
        let alone = Deployment { nodes: 1, k: 1, ..Deployment::default() };
        Dag::deploy(&alone, |_| true, limits).next().expect("there is a node")
    }

    fn next(dag: &mut Dag) -> (Option<Reversal>, Effects) {
        let mut out = Outbox::new();
        let reversal = dag.next_reversal(&mut out);
        (reversal, out.drain().collect())
    }

    /// Reverses links until it has to pause.
    fn reversals(dag: &mut Dag) -> Vec<Reversal> {
        core::iter::from_fn(|| next(dag).0).collect()
    }

    #[test]
    fn after_partial_reversals_come_as_many_full_ones_and_then_a_pause() {
        let mut dag = dag(Some(Limits { patience: 2, ..Limits::USUAL }));
        let (partial, full) = ((Some(Reversal::Partial), Effects::new()), (Some(Reversal::Full), Effects::new()));
        assert_eq!([(); 4].map(|()| next(&mut dag)), [partial.clone(), partial, full.clone(), full]);
        assert!(!dag.pace.paused);
        assert_eq!(next(&mut dag), (None, PAUSES.into()));
        assert_eq!(next(&mut dag), (None, Effects::new()), "it pauses already");
        assert!(dag.pace.paused);
    }

    #[test]
    fn after_each_pause_one_full_reversal_may_be_made() {
        let mut dag = dag(Some(Limits { patience: 2, ..Limits::USUAL }));
        reversals(&mut dag);
        for _ in 0..3 {
            dag.begin_turn();
            assert_eq!(next(&mut dag), (Some(Reversal::Full), Effects::new()));
            assert_eq!(next(&mut dag), (None, PAUSES.into()));
        }
        dag.begin_turn();
        dag.end_turn();
        assert_eq!(next(&mut dag), (None, PAUSES.into()), "one that was not needed is not saved up");
    }

    #[test]
    fn when_something_happens_it_begins_anew_and_needs_no_timer() {
        let mut dag = dag(Some(Limits::SMALL));
        assert_eq!(reversals(&mut dag), [Reversal::Partial, Reversal::Full]);
        let mut out = Outbox::<(), Timer>::new();
        assert!(dag.reset_pace(&mut out), "a reversal had to wait");
        assert_eq!(out.effects(), [Effect::Disarm { timer: Timer::Pace }]);
        assert_eq!(next(&mut dag).0, Some(Reversal::Partial));
        let mut out = Outbox::<(), Timer>::new();
        assert!(!dag.reset_pace(&mut out) && out.effects().is_empty(), "there was no timer");
    }

    #[test]
    fn without_limits_it_goes_on_as_the_paper_has_it() {
        let mut dag = dag(None);
        (0..100).for_each(|_| assert_eq!(next(&mut dag), (Some(Reversal::Partial), Effects::new())));
        dag.begin_turn();
        dag.end_turn();
        assert_eq!(next(&mut dag), (Some(Reversal::Partial), Effects::new()));
    }
}

//! Searches of equal size: the limit, where states are bare numbers, and the checker's.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;

use driftlock_check::{Bound, Effort, Setup, Topology, check, topologies};
use driftlock_protocol::ideal::{FAILURES, FORMATIONS};
use driftlock_protocol::krl::{Forwarding, Krl, Variant};
use driftlock_protocol::{Deployment, Repairs};
use stateright::{Checker, Model, Property};

/// As many numbers as the checker has states, each leading to four others.
struct Numbers(u64);

impl Model for Numbers {
    type State = u64;
    type Action = u64;

    fn init_states(&self) -> Vec<u64> {
        vec![0]
    }

    fn actions(&self, _state: &u64, actions: &mut Vec<u64>) {
        actions.extend(0..4);
    }

    fn next_state(&self, state: &u64, action: u64) -> Option<u64> {
        // Scattered, and from every number to every other in the end.
        Some((state * 4 + action) % self.0)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always("there is always more to see", |_, _| true)]
    }
}

/// The search engine alone: no nodes, no links, nothing to check. Returns how many states it saw.
pub fn bare(threads: NonZeroUsize, states: u64) -> u64 {
    Numbers(states).checker().threads(threads.get()).spawn_bfs().join().unique_state_count() as u64
}

/// krl on three nodes, with everything that is checked in a state, the graph written down, and liveness decided on it.
pub fn krl(threads: NonZeroUsize, _states: u64) -> u64 {
    let links = topologies(Topology::Complete, 3).remove(0);
    let mut setup = Setup::still(Deployment { nodes: 3, k: 1, links, ..Deployment::default() }, Bound::Most(1));
    setup.allow([(&FAILURES, Bound::Most(1)), (&FORMATIONS, Bound::Most(1))]);
    setup.spread = setup.usual_spread();
    let effort = Effort { threads: threads.get(), liveness: true };
    let report =
        check::<Krl>(&setup, Variant::new(Forwarding::Off), Repairs::ALL, effort, &mut |_| ControlFlow::Continue(()));
    report.expect("a sound setup").states
}

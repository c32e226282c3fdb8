//! What applications do: when they ask, for what, and how long they use what they get.

use std::collections::BTreeMap;

use driftlock_net::{Span, Time};
use driftlock_protocol::{Demand, NodeId, Priority};
use rand::rngs::Xoshiro256PlusPlus;

use crate::config::Config;
use crate::demand::{Demands, Numbers};
use crate::random::{Duration, Streams, Subject, exponential};

/// What the applications of a run are like.
#[derive(Clone, Debug)]
pub(crate) struct Habits {
    /// The rate of each node's next request after it has left the CS, per time unit.
    pub(crate) load: f64,
    /// The same of single nodes, by their numbers.
    pub(crate) load_of: BTreeMap<u32, f64>,
    pub(crate) demands: Demands,
    /// The priorities of the requests of single nodes, by their numbers.
    pub(crate) priority_of: BTreeMap<u32, Numbers>,
    pub(crate) cs_time: Duration,
}

impl From<&Config> for Habits {
    fn from(config: &Config) -> Self {
        Self {
            load: config.load,
            load_of: config.load_of.clone(),
            demands: config.demands(),
            priority_of: config.priority_of.clone(),
            cs_time: config.cs_time,
        }
    }
}

/// All applications of one replication.
///
/// A node's n-th pause, what its n-th request asks for, and how long it uses that, follow from the seed, the node and n
/// alone. So two algorithms meet the same requests, whatever they do about them and whichever node asks first.
pub(crate) struct Applications {
    habits: Habits,
    pauses: Streams,
    demands: Streams,
    uses: Streams,
    patience: Streams,
    /// By node.
    counts: Vec<Counts>,
}

/// What a node has done so far. Where it is away when a pause ends, that is followed by another pause and no request.
#[derive(Clone, Copy, Default)]
struct Counts {
    pauses: u32,
    requests: u32,
}

impl Applications {
    pub(crate) fn new(habits: Habits, nodes: u32, seed: u64, replication: u32) -> Self {
        let draws = |subject| Streams::new(seed, replication, subject);
        Self {
            habits,
            pauses: draws(Subject::Workload),
            demands: draws(Subject::Demand),
            uses: draws(Subject::Service),
            patience: draws(Subject::Patience),
            counts: vec![Counts::default(); nodes as usize],
        }
    }

    /// Those of a configuration.
    pub(crate) fn of(config: &Config, replication: u32) -> Self {
        Self::new(config.into(), config.nodes, config.seed, replication)
    }

    /// How long until the one at this node asks, which wants nothing now.
    pub(crate) fn pause(&mut self, node: NodeId) -> Span {
        let pauses = &mut self.counts[node.index()].pauses;
        *pauses = pauses.wrapping_add(1);
        let load = self.habits.load_of.get(&node.0).unwrap_or(&self.habits.load);
        Span::from_units(exponential(1.0 / load, &mut self.pauses.of(node, *pauses)))
    }

    /// What its next request asks for, which is made now.
    pub(crate) fn demand(&mut self, node: NodeId, now: Time) -> Demand {
        let requests = &mut self.counts[node.index()].requests;
        *requests = requests.wrapping_add(1);
        let mut stream = self.demands.of(node, *requests);
        let demand = self.habits.demands.draw(now, &mut stream);
        match self.habits.priority_of.get(&node.0) {
            Some(own) => Demand { priority: Priority(own.sample(&mut stream)), ..demand },
            None => demand,
        }
    }

    /// How long it uses what it gets for its latest request, however often that is taken away and granted again.
    pub(crate) fn use_time(&self, node: NodeId) -> Span {
        self.habits.cs_time.sample(&mut self.uses.of(node, self.counts[node.index()].requests))
    }

    /// From which it is drawn whether its latest request is withdrawn, and when.
    pub(crate) fn patience(&self, node: NodeId) -> Xoshiro256PlusPlus {
        self.patience.of(node, self.counts[node.index()].requests)
    }
}

//! What applications do: when they ask, for what, and how long they use what they get.

use std::collections::BTreeMap;

use driftlock_net::Time;
use driftlock_protocol::{Demand, NodeId, Priority};

use crate::config::Config;
use crate::demand::{Demands, Numbers};
use crate::random::{Duration, Stream, Subject, exponential, stream};

/// All applications of one replication. Each of the three is drawn from a stream of its own, so that two algorithms
/// meet the same ones.
pub(crate) struct Applications {
    load: f64,
    load_of: BTreeMap<u32, f64>,
    priority_of: BTreeMap<u32, Numbers>,
    cs_time: Duration,
    demands: Demands,
    workload: Stream,
    demand: Stream,
    service: Stream,
}

impl Applications {
    pub(crate) fn new(config: &Config, replication: u32) -> Self {
        let draws = |subject| stream(config.seed, replication, subject);
        Self {
            load: config.load,
            load_of: config.load_of.clone(),
            priority_of: config.priority_of.clone(),
            cs_time: config.cs_time,
            demands: config.demands(),
            workload: draws(Subject::Workload),
            demand: draws(Subject::Demand),
            service: draws(Subject::Service),
        }
    }

    /// How long until the one at this node asks, which wants nothing now.
    pub(crate) fn pause(&mut self, node: NodeId) -> Time {
        let load = self.load_of.get(&node.0).unwrap_or(&self.load);
        Time::from_units(exponential(1.0 / load, &mut self.workload))
    }

    /// What it asks for.
    pub(crate) fn demand(&mut self, node: NodeId, now: Time) -> Demand {
        let demand = self.demands.draw(now, &mut self.demand);
        match self.priority_of.get(&node.0) {
            Some(own) => Demand { priority: Priority(own.sample(&mut self.demand)), ..demand },
            None => demand,
        }
    }

    /// How long it stays in the CS.
    pub(crate) fn stay(&mut self) -> Time {
        self.cs_time.sample(&mut self.service)
    }
}

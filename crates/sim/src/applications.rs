//! What applications do: when they ask, for what, and how long they use what they get.

use driftlock_net::Time;
use driftlock_protocol::Demand;

use crate::config::Config;
use crate::demand::Demands;
use crate::random::{Duration, Stream, Subject, exponential, stream};

/// All applications of one replication. Each of the three is drawn from a stream of its own, so that two algorithms meet the same ones.
pub(crate) struct Applications {
    load: f64,
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
            cs_time: config.cs_time,
            demands: config.demands(),
            workload: draws(Subject::Workload),
            demand: draws(Subject::Demand),
            service: draws(Subject::Service),
        }
    }

    /// How long until one asks that wants nothing now.
    pub(crate) fn pause(&mut self) -> Time {
        Time::from_units(exponential(1.0 / self.load, &mut self.workload))
    }

    /// What it asks for.
    pub(crate) fn demand(&mut self, now: Time) -> Demand {
        self.demands.draw(now, &mut self.demand)
    }

    /// How long it stays in the CS.
    pub(crate) fn stay(&mut self) -> Time {
        self.cs_time.sample(&mut self.service)
    }
}

//! Who waits too long, on a field where nothing stands in the way.

use driftlock_field::plane::Point;
use driftlock_net::{Span, Time};
use driftlock_protocol::{NodeId, Protocol};
use driftlock_spec::Violation;

use crate::config::Config;
use crate::world::{Step, World};

/// How often one looks.
const LOOKS_APART: Span = Span::from_millis(1_000);
/// So long no node has to wait that all others can reach: far longer than it takes to serve all nodes once.
const PATIENCE: Span = Span::from_millis(600_000);

/// Since when all nodes have been reachable by all, with all nodes awake and the air undisturbed. No node is owed
/// anything before.
#[derive(Clone, Copy, Debug)]
pub(super) struct Calm {
    /// How far radios are heard, if that is a distance: otherwise it is not known which nodes are reachable.
    range: Option<f64>,
    since: Time,
    looks_at: Time,
}

impl Calm {
    pub(super) fn new(range: Option<f64>) -> Self {
        Self { range, since: Time::ZERO, looks_at: Time::ZERO }
    }

    /// Fails if a node has waited for too long.
    pub(super) fn look<P: Protocol>(&mut self, world: &mut World<P>, config: &Config) -> Step<()> {
        let now = world.now();
        if now < self.looks_at {
            return Ok(());
        }
        self.looks_at = now + LOOKS_APART;
        let nodes = (0..config.nodes).map(NodeId);
        let is_calm = world.field().is_some_and(|field| {
            let places: Vec<_> = nodes.clone().map(|node| field.position(now, node)).collect();
            self.range.is_some_and(|range| !field.is_disturbed() && is_connected(&places, range))
        });
        if !is_calm {
            self.since = now;
        }
        let owed: Vec<_> = world.oracle().owed().collect();
        let (since, meter) = (self.since, world.meter());
        let waits_long = |node: &NodeId| now - meter.requested_at(*node).max(since) > PATIENCE;
        let overdue: Vec<_> = owed.into_iter().filter(waits_long).collect();
        if overdue.is_empty() {
            return Ok(());
        }
        Err(Violation::Overdue { seconds: PATIENCE.0 / 1_000_000_000, nodes: overdue }.into())
    }
}

/// Whether each place can be reached from each other, in steps of at most the range.
fn is_connected(places: &[Point], range: f64) -> bool {
    let mut reached = vec![false; places.len()];
    let mut next: Vec<_> = (0..places.len()).take(1).collect();
    while let Some(at) = next.pop() {
        if std::mem::replace(&mut reached[at], true) {
            continue;
        }
        let near = |other: &usize| places[at].distance_squared(places[*other]) <= range * range;
        next.extend((0..places.len()).filter(|other| !reached[*other]).filter(near));
    }
    reached.into_iter().all(|reached| reached)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_connected_over_others() {
        let line = [0.0, 200.0, 100.0].map(|x| Point { x, y: 0.0 });
        assert!(is_connected(&line, 100.0) && !is_connected(&line, 99.0));
        assert!(is_connected(&[], 1.0));
    }
}

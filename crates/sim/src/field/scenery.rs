//! What a trace tells of the field, besides the steps of nodes: where they go, what fails, which tokens are in doubt,
//! which way messages take.

use std::collections::BTreeMap;

use driftlock_field::faults::Fault;
use driftlock_field::mobility::Course;
use driftlock_net::Time;
use driftlock_net::parcel::Resource;
use driftlock_protocol::{NodeId, Permits};
use driftlock_trace::Scene;

/// What was told last, so that only changes are told.
#[derive(Clone, Debug, Default)]
pub(super) struct Scenery {
    /// When the record begins, or all nodes were put elsewhere.
    start: Time,
    /// By resource.
    doubts: BTreeMap<Resource, BTreeMap<(NodeId, NodeId), Permits>>,
    routes: BTreeMap<(NodeId, NodeId), NodeId>,
    scenes: Vec<Scene>,
}

impl Scenery {
    /// A record of all that happens from then on.
    pub(super) fn since(start: Time) -> Self {
        Self { start, ..Self::default() }
    }

    /// All nodes were put elsewhere, and stand there since now.
    pub(super) fn settled(&mut self, now: Time) {
        self.start = now;
    }

    /// A node has set out, appeared or left.
    pub(super) fn moves(&mut self, node: NodeId, course: &Course) {
        let (from, velocity, absent) = (course.leg.from, course.leg.velocity, !course.is_present);
        let velocity = if absent { [0.0, 0.0] } else { [velocity.x, velocity.y] };
        // One that is absent may have been so since before, and one that was put somewhere stands since time zero.
        let t = course.since.max(self.start).0;
        self.scenes.push(Scene::Move { t, node, at: [from.x, from.y], velocity, absent });
    }

    /// A fault has begun or ended.
    pub(super) fn fault(&mut self, now: Time, number: usize, fault: &Fault, ends: bool) {
        let is = if ends { None } else { serde_json::to_value(fault).ok() };
        self.scenes.push(Scene::Fault { t: now.0, fault: number as u64, is });
    }

    /// What a node has in doubt now of a resource.
    pub(super) fn doubts(
        &mut self,
        now: Time,
        (resource, node): (Resource, NodeId),
        doubts: impl Iterator<Item = (NodeId, Permits)>,
    ) {
        let mut present = BTreeMap::<_, Permits>::new();
        for (to, permits) in doubts.filter(|(_, permits)| !permits.is_empty()) {
            let sum = present.entry((node, to)).or_default();
            *sum = sum.union(permits);
        }
        for (doubt, permits) in compare(self.doubts.entry(resource).or_default(), node, &present) {
            let (resource, permits) = (resource.0.into(), permits.unwrap_or_default());
            self.scenes.push(Scene::Doubt { t: now.0, doubt, resource, permits });
        }
    }

    /// By whom a node reaches others now.
    pub(super) fn routes(&mut self, now: Time, node: NodeId, routes: impl Iterator<Item = (NodeId, NodeId)>) {
        let present = routes.map(|(to, via)| ((node, to), via)).collect();
        for (route, via) in compare(&mut self.routes, node, &present) {
            self.scenes.push(Scene::Route { t: now.0, route, via });
        }
    }

    /// What is to be told, in the order in which it happened: that a node has turned is noticed only when it is
    /// looked at.
    pub(super) fn take(&mut self) -> Vec<Scene> {
        self.scenes.sort_by_key(Scene::time);
        std::mem::take(&mut self.scenes)
    }
}

/// Puts what a node has now in place of what was told, and gives what is different.
fn compare<V: Copy + PartialEq>(
    told: &mut BTreeMap<(NodeId, NodeId), V>,
    node: NodeId,
    present: &BTreeMap<(NodeId, NodeId), V>,
) -> Vec<((NodeId, NodeId), Option<V>)> {
    let of_node = (node, NodeId(0))..=(node, NodeId(u32::MAX));
    let gone = told.range(of_node).map(|(key, _)| *key).filter(|key| !present.contains_key(key));
    let gone: Vec<_> = gone.map(|key| (key, None)).collect();
    let new = present.iter().filter(|(key, value)| told.get(key) != Some(value));
    let changes: Vec<_> = gone.into_iter().chain(new.map(|(key, value)| (*key, Some(*value)))).collect();
    for (key, value) in &changes {
        match value {
            Some(value) => _ = told.insert(*key, *value),
            None => _ = told.remove(key),
        }
    }
    changes
}

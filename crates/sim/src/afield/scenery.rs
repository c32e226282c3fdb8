//! What a trace tells of the field, besides the steps of nodes: where they go, what fails, which tokens are in doubt, which way
//! messages take.

use std::collections::{BTreeMap, BTreeSet};

use driftlock_field::faults::Fault;
use driftlock_field::mobility::Course;
use driftlock_net::Time;
use driftlock_protocol::{NodeId, Permits};
use driftlock_trace::Scene;

/// What was told last, so that only changes are told.
#[derive(Clone, Debug, Default)]
pub(super) struct Scenery {
    doubts: BTreeMap<(NodeId, NodeId), Permits>,
    routes: BTreeMap<(NodeId, NodeId), NodeId>,
    /// At which end of which links, the lower number first, there is a link.
    ends_up: BTreeSet<(NodeId, NodeId, NodeId)>,
    scenes: Vec<Scene>,
}

impl Scenery {
    /// A node has set out.
    pub(super) fn moves(&mut self, node: NodeId, course: &Course) {
        let (from, velocity) = (course.leg.from, course.leg.velocity);
        let velocity = if course.is_present { [velocity.x, velocity.y] } else { [0.0, 0.0] };
        self.scenes.push(Scene::Move { t: course.since.0, node, at: [from.x, from.y], velocity });
    }

    /// A fault has begun or ended.
    pub(super) fn fault(&mut self, now: Time, number: usize, fault: &Fault, ends: bool) {
        let is = if ends { None } else { serde_json::to_value(fault).ok() };
        self.scenes.push(Scene::Fault { t: now.0, fault: number as u64, is });
    }

    /// What a node has in doubt now.
    pub(super) fn doubts(&mut self, now: Time, node: NodeId, doubts: impl Iterator<Item = (NodeId, Permits)>) {
        let mut present = BTreeMap::<_, Permits>::new();
        for (to, permits) in doubts.filter(|(_, permits)| !permits.is_empty()) {
            let sum = present.entry((node, to)).or_default();
            *sum = sum.union(permits);
        }
        for (doubt, permits) in compare(&mut self.doubts, node, &present) {
            self.scenes.push(Scene::Doubt { t: now.0, doubt, permits: permits.unwrap_or_default() });
        }
    }

    /// By whom a node reaches others now.
    pub(super) fn routes(&mut self, now: Time, node: NodeId, routes: impl Iterator<Item = (NodeId, NodeId)>) {
        let present = routes.map(|(to, via)| ((node, to), via)).collect();
        for (route, via) in compare(&mut self.routes, node, &present) {
            self.scenes.push(Scene::Route { t: now.0, route, via });
        }
    }

    /// A node has been told of a link. Tells whether the link is now there, or gone, as one that both ends agree on.
    pub(super) fn link(&mut self, node: NodeId, peer: NodeId, up: bool) -> bool {
        let (a, b) = (node.min(peer), node.max(peer));
        let other_is_up = self.ends_up.contains(&(a, b, peer));
        let changed = if up { self.ends_up.insert((a, b, node)) } else { self.ends_up.remove(&(a, b, node)) };
        changed && other_is_up
    }

    /// What is to be told, in the order in which it happened: that a node has turned is noticed only when somebody looks.
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

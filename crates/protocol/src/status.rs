//! What a node shows of itself to traces, viewers and people.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::height::Height;
use crate::{NodeId, Permits};

/// Where a node is in the cycle that every paper draws.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Section {
    /// Not interested in the resource.
    #[default]
    Remainder,
    /// Has asked and waits.
    Waiting,
    /// Uses the resource.
    Critical,
}

/// A node's answer to "what are you doing, and which node do you wait for?".
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Status {
    /// The section of its application.
    pub section: Section,
    /// The permits it holds, in use or not.
    pub permits: Permits,
    /// The nodes that it will serve, in this order.
    pub queue: Vec<NodeId>,
    /// The neighbour from which it expects to be served.
    pub waits_on: Option<NodeId>,
    /// Its height, for the algorithms that direct links by one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<Height>,
}

/// What has changed in a node's status, field by field: `None` where nothing has.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct StatusChange {
    /// The new section.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub section: Option<Section>,
    /// The new permits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permits: Option<Permits>,
    /// The new queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<Vec<NodeId>>,
    /// The node that it waits on now: an empty list is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits_on: Option<Vec<NodeId>>,
    /// The new height.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub height: Option<Height>,
}

impl Status {
    /// What is different from `earlier`, if anything.
    pub fn change_since(&self, earlier: &Self) -> Option<StatusChange> {
        fn changed<T: PartialEq + Clone>(now: &T, earlier: &T) -> Option<T> {
            (now != earlier).then(|| now.clone())
        }
        let change = StatusChange {
            section: changed(&self.section, &earlier.section),
            permits: changed(&self.permits, &earlier.permits),
            queue: changed(&self.queue, &earlier.queue),
            waits_on: changed(&self.waits_on, &earlier.waits_on).map(|waits_on| waits_on.into_iter().collect()),
            height: changed(&self.height, &earlier.height).flatten(),
        };
        (change != StatusChange::default()).then_some(change)
    }
}

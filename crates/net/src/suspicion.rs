//! Which nodes seem to be gone, and what speaks for it.
//!
//! A suspicion is never known to be right. A node that has crashed, one that is cut off and one that is slow look the
//! same; a node that is trusted may have crashed a moment ago, and a node that is suspected may be at work. An
//! algorithm that acts on a suspicion must be safe if it is wrong. Any message of a node clears it.

use std::collections::BTreeMap;

use driftlock_protocol::NodeId;
use serde::{Deserialize, Serialize};

use crate::Time;

/// Something that speaks for a node being gone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Evidence {
    /// The link to it was lost: it has missed hellos, or something could not be sent to it.
    LinkLost,
    /// A route error has named it, or no route to it was found.
    NoRoute,
    /// It has not acknowledged in time what a session has sent to it.
    Unanswered,
}

/// How much evidence of each kind there is since a node was last heard.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Record {
    /// How often [`Evidence::LinkLost`].
    pub links_lost: u32,
    /// How often [`Evidence::NoRoute`].
    pub no_routes: u32,
    /// How often [`Evidence::Unanswered`].
    pub unanswered: u32,
}

/// From how much evidence of one kind on a node is suspected; zero for never.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Settings {
    /// Of [`Evidence::LinkLost`].
    pub links_lost: u32,
    /// Of [`Evidence::NoRoute`].
    pub no_routes: u32,
    /// Of [`Evidence::Unanswered`].
    pub unanswered: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self { links_lost: 3, no_routes: 3, unanswered: 4 }
    }
}

/// What is thought of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    /// Nothing, or too little, speaks against it.
    Trusted,
    /// It seems to be gone.
    Suspected {
        /// Since when it is suspected.
        since: Time,
        /// What speaks for it.
        record: Record,
    },
}

/// A change of what is thought of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// It seems to be gone.
    Suspected {
        /// Who.
        node: NodeId,
        /// What speaks for it.
        record: Record,
    },
    /// It was there after all, or is back.
    Cleared {
        /// Who.
        node: NodeId,
    },
}

/// The suspicions of one node.
#[derive(Clone, Debug)]
pub struct Suspicions {
    settings: Settings,
    /// Of those with evidence against them; and since when they are suspected, if they are.
    records: BTreeMap<NodeId, (Record, Option<Time>)>,
}

impl Suspicions {
    /// Every node is trusted.
    pub fn new(settings: Settings) -> Self {
        Self { settings, records: BTreeMap::new() }
    }

    /// What is thought of a node.
    pub fn standing(&self, node: NodeId) -> Standing {
        match self.records.get(&node) {
            Some(&(record, Some(since))) => Standing::Suspected { since, record },
            _ => Standing::Trusted,
        }
    }

    /// Something that a node has sent has arrived.
    pub fn heard(&mut self, node: NodeId, out: &mut Vec<Effect>) {
        if let Some((_, Some(_))) = self.records.remove(&node) {
            out.push(Effect::Cleared { node });
        }
    }

    /// Something speaks for a node being gone.
    pub fn evidence(&mut self, now: Time, node: NodeId, evidence: Evidence, out: &mut Vec<Effect>) {
        let (record, since) = self.records.entry(node).or_default();
        let (count, enough) = match evidence {
            Evidence::LinkLost => (&mut record.links_lost, self.settings.links_lost),
            Evidence::NoRoute => (&mut record.no_routes, self.settings.no_routes),
            Evidence::Unanswered => (&mut record.unanswered, self.settings.unanswered),
        };
        *count = count.saturating_add(1);
        if since.is_none() && enough > 0 && *count >= enough {
            *since = Some(now);
            out.push(Effect::Suspected { node, record: *record });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NODE: NodeId = NodeId(4);

    #[test]
    fn enough_evidence_of_one_kind_makes_a_suspicion_and_any_message_clears_it() {
        let mut suspicions = Suspicions::new(Settings { links_lost: 0, no_routes: 2, unanswered: 2 });
        let mut out = Vec::new();
        for evidence in [Evidence::LinkLost, Evidence::LinkLost, Evidence::NoRoute, Evidence::Unanswered] {
            suspicions.evidence(Time(5), NODE, evidence, &mut out);
        }
        assert_eq!((suspicions.standing(NODE), out.len()), (Standing::Trusted, 0));
        suspicions.evidence(Time(6), NODE, Evidence::Unanswered, &mut out);
        suspicions.evidence(Time(7), NODE, Evidence::NoRoute, &mut out);
        let record = Record { links_lost: 2, no_routes: 1, unanswered: 2 };
        assert_eq!(out, [Effect::Suspected { node: NODE, record }], "once");
        let record = Record { no_routes: 2, ..record };
        assert_eq!(suspicions.standing(NODE), Standing::Suspected { since: Time(6), record });
        suspicions.heard(NODE, &mut out);
        assert_eq!((suspicions.standing(NODE), out.pop()), (Standing::Trusted, Some(Effect::Cleared { node: NODE })));
    }

    #[test]
    fn a_node_that_is_heard_in_between_is_never_suspected() {
        let mut suspicions = Suspicions::new(Settings::default());
        let mut out = Vec::new();
        for _ in 0..100 {
            suspicions.evidence(Time(1), NODE, Evidence::Unanswered, &mut out);
            suspicions.heard(NODE, &mut out);
        }
        assert!(out.is_empty());
    }
}

//! What the link layer tells an algorithm that stands on it.
//!
//! The contract, which ideal and real link layers keep alike: `Up` precedes every message of its incarnation, messages
//! between two neighbours arrive in the order in which they were sent, and nothing of an incarnation arrives after its
//! `Down`. What was accepted for a link that then failed may be reported as undelivered after the `Down`. Permits may
//! instead arrive late, over another way: then as a message from a former neighbour, before there is a link
//! to it again.

use alloc::vec::Vec;
use core::hash::{Hash, Hasher};

use serde::{Deserialize, Serialize};

use crate::ideal::Links;
use crate::relative::Kind;
use crate::{Contacts, NodeId, Refusal, View};

/// Tells one life of a link from the next, so that a late message of the former is not taken for one of the latter.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Incarnation(pub u32);

impl Hash for Incarnation {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        Kind::Incarnation.hash(u128::from(self.0), hasher);
    }
}

/// A change of the node's own links.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkEvent {
    /// The paper's `LinkUp`: a link to `peer` has formed.
    Up {
        /// The other end.
        peer: NodeId,
        /// Of the new link.
        incarnation: Incarnation,
    },
    /// The paper's `LinkDown`: the link to `peer` has failed.
    Down {
        /// The other end.
        peer: NodeId,
        /// Of the failed link.
        incarnation: Incarnation,
    },
}

impl View for LinkEvent {
    type Ideal = Links;
    type Contacts = Linked;

    fn of_link(event: LinkEvent) -> Option<Self> {
        Some(event)
    }
}

/// The other ends of the links of a node that are up, by peer: these may speak to it.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Linked(Vec<(NodeId, Incarnation)>);

impl FromIterator<(NodeId, Incarnation)> for Linked {
    fn from_iter<I: IntoIterator<Item = (NodeId, Incarnation)>>(links: I) -> Self {
        let mut links: Vec<_> = links.into_iter().collect();
        links.sort_unstable();
        Self(links)
    }
}

impl Contacts for Linked {
    type View = LinkEvent;

    fn hear(&mut self, me: NodeId, event: &LinkEvent) -> Result<(), Refusal> {
        let links = &mut self.0;
        match *event {
            LinkEvent::Up { peer, .. } if peer == me => return Err(Refusal::OwnLink),
            LinkEvent::Up { peer, incarnation } => match links.binary_search_by_key(&peer, |link| link.0) {
                Ok(_) => return Err(Refusal::LinkAlreadyUp { peer }),
                Err(at) => links.insert(at, (peer, incarnation)),
            },
            LinkEvent::Down { peer, incarnation } => match links.binary_search(&(peer, incarnation)) {
                Ok(at) => _ = links.remove(at),
                Err(_) => return Err(Refusal::NoSuchLink { peer }),
            },
        }
        Ok(())
    }

    /// Who stands on links has nowhere to depart from.
    fn depart(&mut self) {}

    fn incarnation(&self, peer: NodeId) -> Option<Incarnation> {
        self.0.binary_search_by_key(&peer, |link| link.0).ok().map(|at| self.0[at].1)
    }

    fn admits_late(&self, me: NodeId, from: NodeId, permits: bool) -> Result<(), Refusal> {
        if permits && from != me { Ok(()) } else { Err(Refusal::UnknownSender { from }) }
    }

    fn links(&self) -> &[(NodeId, Incarnation)] {
        &self.0
    }
}

//! What a host wants its driver to do: first to store, then to do.

use driftlock_net::parcel::Resource;
use driftlock_net::stack::Packet;
use driftlock_net::{Span, Time};
use driftlock_protocol::{Demand, Grant, NodeId};

/// What came of the inputs that a host was given together, in a buffer that is used again and again.
///
/// All of `store` is written down in one transaction before anything of `then` is done. A node that is killed in
/// between has done nothing that it does not remember: what it was about to send is kept or as good as lost, and what
/// it was about to hand to an application is in use until it is known that it is not.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Batch {
    /// What has changed of what the node must have when it comes back, each part as a whole.
    pub store: Vec<Store>,
    /// What is to be done once that is stored, in this order.
    pub then: Vec<Do>,
}

/// A part that has changed takes the place of what was stored of it before.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Store {
    /// Which.
    pub part: Part,
    /// What to write down.
    pub bytes: Vec<u8>,
}

/// A part of what a node stores.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Part {
    /// Of the layers below all residents.
    Stack,
    /// Of the node of a resource.
    Resident(Resource),
}

/// What is to be done.
#[derive(Clone, PartialEq, Debug)]
pub enum Do {
    /// A frame goes out.
    Transmit {
        /// To this neighbour, or to all nodes in reach.
        to: Option<NodeId>,
        /// What.
        packet: Packet,
        /// How long to put it off, so that neighbours do not all speak at once.
        delay: Span,
    },
    /// An application may use these units now.
    Granted {
        /// Of which resource.
        resource: Resource,
        /// What.
        grant: Grant,
        /// When it ends by itself, if it is a lease. What hands it over looks at the clock once more.
        until: Option<Time>,
    },
    /// A lease was renewed.
    Renewed {
        /// Of which resource.
        resource: Resource,
        /// When it ends now.
        until: Time,
    },
    /// An application must stop using its units at once, and waits again, for this.
    Revoked {
        /// Of which resource.
        resource: Resource,
        /// For what.
        demand: Demand,
    },
    /// The node is no member of the neighbourhood of this resource any more.
    Departed(Resource),
}

impl Batch {
    /// Whether there is nothing to store and nothing to do.
    pub fn is_empty(&self) -> bool {
        self.store.is_empty() && self.then.is_empty()
    }

    /// Forgets everything, and keeps the room.
    pub fn clear(&mut self) {
        self.store.clear();
        self.then.clear();
    }
}

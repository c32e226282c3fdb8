//! What is explored: how many nodes, which events, how often, and what must hold.

use std::collections::BTreeMap;
use std::time::Duration;

use driftlock_protocol::ideal::{FAILURES, FORMATIONS, Fate, JOINS, Kind, LEAVES, RESTARTS};
use driftlock_protocol::{Constants, Demand, Deployment, NodeId, WrongConstant};
use driftlock_spec::Violation;
use thiserror::Error;

use crate::StayOrder;
use crate::action::DEMANDS_MAX;

/// The most nodes that can be explored.
pub const NODES_MAX: u32 = 8;
/// The most units that can be explored.
pub const K_MAX: u32 = 8;
/// The largest number that bounds events of one kind.
pub const EVENTS_MAX: u8 = 250;

/// How often something may happen.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Bound {
    /// At most so many times.
    Most(u8),
    /// Any number of times.
    Any,
}

/// How often each kind of change of the layer below may happen, by the name of the kind: never, if nothing is said.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Changes(BTreeMap<&'static str, Bound>);

impl Changes {
    /// How often those of this kind may.
    pub fn of(&self, kind: &Kind) -> Bound {
        self.0.get(kind.name).copied().unwrap_or(Bound::Most(0))
    }

    /// Those of this kind may so often.
    pub fn allow(&mut self, kind: &Kind, bound: Bound) {
        self.0.insert(kind.name, bound);
    }
}

/// What time means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Timing {
    /// Any armed timer may fire next.
    Untimed,
    /// Timers count down in ticks, at all nodes together but for drift and pauses. A timer that is due comes before
    /// anything else at its node.
    Timed {
        /// How long a tick is; a timer's duration is rounded up.
        tick: Duration,
        /// By how many ticks two clocks may come to differ.
        drift: u8,
        /// How many times any node may pause. A paused node does nothing, but its timers run down.
        pauses: u8,
    },
}

/// The bounds of an exploration.
#[derive(Clone, PartialEq, Debug)]
pub struct Setup {
    /// The nodes, the units and the links at the start.
    pub deployment: Deployment,
    /// Requests of each node.
    pub requests: Bound,
    /// Requests of all nodes together.
    pub requests_in_all: Bound,
    /// What a request may ask for: each request is one of these, whichever the application likes.
    pub demands: Vec<Demand>,
    /// Requests that each node may withdraw.
    pub cancels: Bound,
    /// Changes of the layer below.
    pub changes: Changes,
    /// How the stays of members lie to one another, and those of the deployment with them: see [`Setup::set_stays`].
    pub stays: StayOrder,
    /// Messages that are lost.
    pub losses: Bound,
    /// How often in all a message may overtake another on its way from one node to another.
    pub overtakes: Bound,
    /// Whether links fail only where all nodes can still reach one another afterwards.
    pub connected: bool,
    /// How late messages may be, in timed mode: so often in all may a tick pass while a channel from one node to
    /// another has messages on it. Without a bound they are on their way for any time.
    pub lateness: Bound,
    /// What becomes of the messages on a link that fails.
    pub fate: Fate,
    /// How far the levels, and the orders, of heights may lie apart; what would take them further is not followed. See
    /// [`Setup::usual_spread`].
    pub spread: u64,
    /// What time means.
    pub timing: Timing,
    /// So many applications may keep what they use for ever: the others must be served all the same.
    pub stay: u8,
    /// Whether the algorithm's own constants are as small as they can be, so that everything happens sooner.
    pub small_scale: bool,
    /// Whether the algorithm is as it is where radios carry its messages: krlf's idle tokens rest at each node.
    pub over_radios: bool,
    /// What users have set of its constants, whatever the scale.
    pub constants: Constants,
    /// What must hold.
    pub properties: Properties,
}

/// Why a setup cannot be explored.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum SetupError {
    /// Too many nodes, or none.
    #[error("{0} nodes: the checker takes 1 to {NODES_MAX}")]
    Nodes(u32),
    /// Too many units, or none.
    #[error("k = {0}: the checker takes 1 to {K_MAX} units")]
    Units(u32),
    /// A link that leads nowhere, or is there twice.
    #[error("the link {0}-{1} leads nowhere, or is there twice")]
    Link(NodeId, NodeId),
    /// A member that does not exist, or is there twice.
    #[error("member {0} does not exist, or is there twice")]
    Member(NodeId),
    /// Nothing to ask for, or too much to choose from.
    #[error("{0} different demands: the checker takes 1 to {DEMANDS_MAX}; give fewer units, priorities or deadlines")]
    Demands(usize),
    /// A demand that can never be granted.
    #[error("{asked} units were asked for, but there are only k = {k}")]
    Demand {
        /// Units asked for.
        asked: u32,
        /// Units that there are.
        k: u32,
    },
    /// A bound that does not fit.
    #[error("{0} is too large a bound: the most is {EVENTS_MAX}; use \"any\" for no bound at all")]
    TooMany(u8),
    /// The limit does not even allow the first state.
    #[error("heights lie {0} apart at the start already: allow at least that (--spread)")]
    Spread(u64),
    /// A network that is to stay connected, and is not.
    #[error("the network is to stay connected, but is not at the start")]
    NotConnected,
    /// Constants that the algorithm does not have, or that make no sense.
    #[error(transparent)]
    Constant(#[from] WrongConstant),
    /// A tick of no length.
    #[error("a tick must take some time")]
    NoTick,
}

impl Setup {
    /// A network in which nothing but requests happens.
    pub fn still(deployment: Deployment, requests: Bound) -> Self {
        let mut setup = Self {
            deployment,
            requests,
            requests_in_all: Bound::Any,
            demands: vec![Demand::ONE],
            cancels: Bound::Most(0),
            changes: Changes::default(),
            stays: StayOrder::Growing,
            losses: Bound::Most(0),
            overtakes: Bound::Most(0),
            connected: false,
            lateness: Bound::Any,
            fate: Fate::Returned,
            spread: u64::MAX,
            timing: Timing::Untimed,
            stay: 0,
            small_scale: true,
            over_radios: false,
            constants: Constants::new(),
            properties: Properties::USUAL,
        };
        setup.spread = setup.usual_spread();
        setup
    }

    /// The same, in which changes of these kinds may happen so often.
    #[must_use]
    pub fn allowing<const N: usize>(mut self, changes: [(&Kind, Bound); N]) -> Self {
        self.allow(changes);
        self
    }

    /// Lets changes of these kinds happen so often.
    pub fn allow<const N: usize>(&mut self, changes: [(&Kind, Bound); N]) {
        for (kind, bound) in changes {
            self.changes.allow(kind, bound);
        }
    }

    /// Lets the stays of members lie so, of those that are there at the start as of those that enter later.
    pub fn set_stays(&mut self, stays: StayOrder) {
        self.stays = stays;
        let of_members = || self.deployment.lives().map(|(_, life)| stays.of(life)).collect();
        // Those that grow need not be told.
        self.deployment.stays = if stays == StayOrder::Growing { Vec::new() } else { of_members() };
    }

    /// No limit where the number of states is bounded anyhow; else three for each hop that heights may have to span.
    /// Links that change, or break because a node is killed, or requests without end, can drive heights apart for ever.
    pub fn usual_spread(&self) -> u64 {
        // Which links there are may not be said yet.
        let may = |kind| self.changes.of(kind);
        let cut = if self.deployment.members.is_empty() { may(&RESTARTS) } else { Bound::Most(0) };
        let still = [may(&FAILURES), may(&FORMATIONS), cut] == [Bound::Most(0); 3]
            && [&JOINS, &LEAVES].iter().all(|kind| may(kind) != Bound::Any);
        if still && self.requests != Bound::Any {
            return u64::MAX;
        }
        (3 * u64::from(self.deployment.nodes.saturating_sub(1))).max(6)
    }

    /// Whether a network that is to stay connected is so at the start.
    pub(crate) fn begins_as_it_stays(&self) -> Result<(), SetupError> {
        let Deployment { nodes, links, .. } = &self.deployment;
        if self.connected && !is_connected(*nodes, links) { Err(SetupError::NotConnected) } else { Ok(()) }
    }

    /// Whether it can be explored.
    pub fn validate(&self) -> Result<(), SetupError> {
        let Deployment { nodes, k, links, members, .. } = &self.deployment;
        if !(1..=NODES_MAX).contains(nodes) {
            return Err(SetupError::Nodes(*nodes));
        }
        if !(1..=K_MAX).contains(k) {
            return Err(SetupError::Units(*k));
        }
        for (at, &(a, b)) in links.iter().enumerate() {
            let again = links[..at].iter().any(|&other| other == (a, b) || other == (b, a));
            if a == b || a.0 >= *nodes || b.0 >= *nodes || again {
                return Err(SetupError::Link(a, b));
            }
        }
        for (at, &member) in members.iter().enumerate() {
            if member.0 >= *nodes || members[..at].contains(&member) {
                return Err(SetupError::Member(member));
            }
        }
        if !(1..=DEMANDS_MAX).contains(&self.demands.len()) {
            return Err(SetupError::Demands(self.demands.len()));
        }
        if let Some(asked) = self.demands.iter().map(|demand| demand.units.count()).find(|asked| asked > k) {
            return Err(SetupError::Demand { asked, k: *k });
        }
        let pauses = match self.timing {
            Timing::Timed { tick: Duration::ZERO, .. } => return Err(SetupError::NoTick),
            Timing::Timed { pauses, .. } => Bound::Most(pauses),
            Timing::Untimed => Bound::Most(0),
        };
        let faults = [self.losses, self.overtakes, self.lateness];
        let changes = self.changes.0.values().copied().chain(faults);
        for bound in changes.chain([self.requests, self.requests_in_all, self.cancels, pauses]) {
            if let Bound::Most(count) = bound
                && count > EVENTS_MAX
            {
                return Err(SetupError::TooMany(count));
            }
        }
        Ok(())
    }
}

/// Whether these links connect all nodes.
fn is_connected(nodes: u32, links: &[(NodeId, NodeId)]) -> bool {
    let mut reached = vec![NodeId(0)];
    let mut at = 0;
    while let Some(&node) = reached.get(at) {
        for &(a, b) in links.iter().filter(|(a, b)| [*a, *b].contains(&node)) {
            let peer = if a == node { b } else { a };
            if !reached.contains(&peer) {
                reached.push(peer);
            }
        }
        at += 1;
    }
    reached.len() == nodes as usize
}

/// Something that must hold.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Property {
    /// At most k units in use, none of them twice, none unasked, all that were asked for, under fences that grow.
    Safety,
    /// Every permit exists once, at a node or on its way.
    Conservation,
    /// The algorithm's own lemmas.
    Invariant,
    /// Whoever waits is served once nothing changes any more: nobody is stuck, nobody's hope is lost, and no fair run
    /// goes round for ever without serving somebody.
    Service,
    /// Messages do not go round for ever by themselves. Not every algorithm claims it: one that keeps tokens moving
    /// does not.
    Calm,
}

impl Property {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Safety, Self::Conservation, Self::Invariant, Self::Service, Self::Calm];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Safety => "safety",
            Self::Conservation => "conservation",
            Self::Invariant => "invariant",
            Self::Service => "service",
            Self::Calm => "calm",
        }
    }

    /// The one that a violation belongs to.
    pub fn of(violation: &Violation) -> Self {
        match violation {
            Violation::PermitDoubled { .. } | Violation::PermitsChanged { .. } => Self::Conservation,
            Violation::Lemma(_) => Self::Invariant,
            Violation::Starved { .. }
            | Violation::Stalled { .. }
            | Violation::Overdue { .. }
            | Violation::Hopeless { .. }
            | Violation::Livelock { .. } => Self::Service,
            Violation::Restless => Self::Calm,
            _ => Self::Safety,
        }
    }
}

/// A set of properties.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Properties(u8);

impl Properties {
    /// What every algorithm must keep: all but [`Property::Calm`].
    pub const USUAL: Self = Self(!(1 << Property::Calm as u8));

    /// Whether it is among them.
    pub fn has(self, property: Property) -> bool {
        self.0 & (1 << property as u8) != 0
    }

    /// This one as well.
    #[must_use]
    pub fn with(self, property: Property) -> Self {
        Self(self.0 | 1 << property as u8)
    }

    /// The others.
    #[must_use]
    pub fn without(self, property: Property) -> Self {
        Self(self.0 & !(1 << property as u8))
    }
}

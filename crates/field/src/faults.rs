//! What goes wrong, and when: crashes, pauses, jamming, partitions, losses.
//!
//! A [`Schedule`] is a list of faults, written down by a person or drawn by a seed. [`Faults`] carries it out: it says
//! when it wants to act, is told where nodes are, and gives [`Action`]s, one for each node that is touched.
//! docs/faults.md shows how faults are written.
//!
//! - `area`: parts of the plane. While a fault of an area lasts, a node that moves into it is touched and a node that
//!   leaves it is not.
//! - `file`: faults as TOML has them. What makes no sense does not get past it.
//! - `random`: schedules by seed, which have healed at a given time.
//! - `runner`: which nodes are touched now, by however many faults at once.

mod area;
mod file;
mod random;
mod runner;

use driftlock_net::{Span, Time};
use driftlock_protocol::NodeId;
use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use area::{Area, Border};
pub use file::File;
pub use random::{Often, Ranges};
pub use runner::Faults;

use crate::radio::{Air, Effect};

/// Faults, in the order in which they are written down.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Schedule(Vec<Fault>);

/// Something that goes wrong.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Fault {
    /// When it begins.
    pub at: Time,
    /// What it is.
    pub kind: Kind,
}

/// What goes wrong.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Kind {
    /// A node falls silent.
    Crash {
        /// Who.
        node: NodeId,
        /// After how long it is back, and with which memory. `None`: never.
        back_after: Option<(Span, Memory)>,
    },
    /// A node does nothing for a while, and does not know it.
    Pause {
        /// Who.
        node: NodeId,
        /// How long.
        lasts: Span,
    },
    /// Two nodes do not hear each other.
    Cut {
        /// Who.
        between: (NodeId, NodeId),
        /// How long.
        lasts: Span,
    },
    /// Radios in an area hear nothing.
    Jam {
        /// Where.
        area: Area,
        /// How long.
        lasts: Span,
    },
    /// Those on one side of a border and those on the other do not hear each other.
    Partition {
        /// Where it is.
        border: Border,
        /// How long.
        lasts: Span,
    },
    /// More frames than usual are lost.
    Loss {
        /// At receivers in this area; everywhere if there is none.
        area: Option<Area>,
        /// How many of those that would have arrived.
        chance: Chance,
        /// How long.
        lasts: Span,
    },
}

/// What a node knows when it is back. Of several crashes at once, one that loses the memory is enough.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Memory {
    /// What it had stored.
    Kept,
    /// Nothing.
    Lost,
}

/// A probability.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
pub struct Chance(f64);

impl Chance {
    /// From 0 to 1, or it is none.
    pub fn new(chance: f64) -> Option<Self> {
        (0.0..=1.0).contains(&chance).then_some(Self(chance))
    }

    /// From 0 to 1.
    pub fn get(self) -> f64 {
        self.0
    }
}

/// Something to be done to a node or to the air.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Action {
    /// The node is down. It was up, paused or not; a crash ends a pause.
    Crash {
        /// Who.
        node: NodeId,
        /// What it will know, unless it crashes once more before it is back.
        memory: Memory,
    },
    /// The node is up. It was down.
    Restart {
        /// Who.
        node: NodeId,
        /// What it knows.
        memory: Memory,
    },
    /// The node stops. It was up and not paused.
    Pause(NodeId),
    /// The node goes on. It was paused.
    Resume(NodeId),
    /// These two do not hear each other, or do again.
    Cut(NodeId, NodeId, bool),
    /// The node is jammed, or no longer.
    Jam(NodeId, bool),
    /// The node hears only those of this group.
    Group(NodeId, u32),
    /// So many frames are lost besides, everywhere.
    Loss(f64),
    /// So many frames are lost besides at this node.
    LossAt(NodeId, f64),
}

/// Why a fault makes no sense.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum Nonsense {
    /// Something is not said.
    #[error("a {kind} needs {key:?}: {meaning}")]
    Missing {
        /// What the fault is.
        kind: &'static str,
        /// What is missing.
        key: &'static str,
        /// What it would say.
        meaning: &'static str,
    },
    /// Something is said that this fault does not have.
    #[error("a {kind} has no {key:?}: remove it{hint}")]
    Superfluous {
        /// What the fault is.
        kind: &'static str,
        /// What is too much.
        key: &'static str,
        /// What else to do.
        hint: &'static str,
    },
    /// Several areas.
    #[error(
        "there are several areas: give one of \"disc\", \"rectangle\" and \"line\", and write a fault for each other one"
    )]
    SeveralAreas,
    /// A number that means nothing.
    #[error("{key:?} must be {bound}, not {value:?}")]
    Number {
        /// Which number.
        key: &'static str,
        /// What it may be.
        bound: &'static str,
        /// What it is.
        value: f64,
    },
    /// A node that is to be cut off from itself.
    #[error("\"nodes\" must be two different nodes, not {0} twice")]
    SameNode(u32),
    /// Two numbers that are no least and no greatest.
    #[error("{key:?} must be the least and the greatest, in this order, not [{low:?}, {high:?}]")]
    NoRange {
        /// Which numbers.
        key: &'static str,
        /// What should be the least.
        low: f64,
        /// What should be the greatest.
        high: f64,
    },
    /// Something is wrong with one kind of what is drawn.
    #[error("{kind}: {why}")]
    Of {
        /// Which kind.
        kind: &'static str,
        /// What is wrong.
        why: Box<Nonsense>,
    },
    /// More than can be kept.
    #[error("{per_minute} per minute for {seconds} s are {faults:.0} faults, and a million of a kind is the most")]
    TooMany {
        /// How often.
        per_minute: f64,
        /// For how long.
        seconds: f64,
        /// How many on average.
        faults: f64,
    },
    /// No node has this number.
    #[error("there is no node {node}: nodes have the numbers 0 to {last}", last = nodes.saturating_sub(1))]
    UnknownNode {
        /// The number.
        node: NodeId,
        /// How many nodes there are.
        nodes: u32,
    },
}

/// Which fault makes no sense, and why.
#[derive(Clone, PartialEq, Debug, Error)]
#[error("fault {number}: {why}")]
pub struct FaultError {
    /// From 1, in the order of the schedule.
    pub number: usize,
    /// Why.
    pub why: Nonsense,
}

impl Fault {
    /// When it is over. `None`: never.
    pub fn ends(&self) -> Option<Time> {
        let lasts = match self.kind {
            Kind::Crash { back_after, .. } => back_after.map(|(after, _)| after),
            Kind::Pause { lasts, .. }
            | Kind::Cut { lasts, .. }
            | Kind::Jam { lasts, .. }
            | Kind::Partition { lasts, .. }
            | Kind::Loss { lasts, .. } => Some(lasts),
        };
        lasts.map(|lasts| self.at + lasts)
    }

    /// The nodes that it is about, if it is about some.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> + use<> {
        let (one, other) = match self.kind {
            Kind::Crash { node, .. } | Kind::Pause { node, .. } => (Some(node), None),
            Kind::Cut { between: (a, b), .. } => (Some(a), Some(b)),
            Kind::Jam { .. } | Kind::Partition { .. } | Kind::Loss { .. } => (None, None),
        };
        one.into_iter().chain(other)
    }

    /// Whether it depends on where nodes are.
    fn has_area(&self) -> bool {
        matches!(self.kind, Kind::Jam { .. } | Kind::Partition { .. } | Kind::Loss { area: Some(_), .. })
    }
}

impl Schedule {
    /// The faults.
    pub fn faults(&self) -> &[Fault] {
        &self.0
    }

    /// When all faults are over, if they ever are.
    pub fn heals_at(&self) -> Option<Time> {
        self.0.iter().map(Fault::ends).try_fold(Time::ZERO, |latest, ends| Some(latest.max(ends?)))
    }
}

impl FromIterator<Fault> for Schedule {
    fn from_iter<I: IntoIterator<Item = Fault>>(faults: I) -> Self {
        Self(faults.into_iter().collect())
    }
}

impl Action {
    /// Does to the air what concerns it: of a pause the radio knows nothing.
    pub fn disturb<F: Clone>(self, now: Time, air: &mut Air<F>, out: &mut Vec<Effect<F>>) {
        match self {
            Self::Crash { node, .. } => air.set_down(now, node, true),
            Self::Restart { node, .. } => air.set_down(now, node, false),
            Self::Pause(_) | Self::Resume(_) => {}
            Self::Cut(a, b, cut) => air.set_cut(a, b, cut),
            Self::Jam(node, jammed) => air.set_jammed(now, node, jammed, out),
            Self::Group(node, group) => air.set_group(node, group),
            Self::Loss(loss) => air.set_loss(loss),
            Self::LossAt(node, loss) => air.set_loss_at(node, loss),
        }
    }
}

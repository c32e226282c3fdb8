//! The lines of a trace.

use driftlock_protocol::ideal::Presence;
use driftlock_protocol::{
    Algorithm, Constants, Deployment, Incarnation, InputOf, NodeId, Permits, Protocol, Refusal, Repairs, Status,
    StatusChange, Visitor,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What the first line calls itself.
pub const FORMAT: &str = "driftlock-trace";
/// Grows when a reader of the former version would misread a trace.
pub const VERSION: u32 = 3;
/// The oldest version that can be read. Before, a node that heard of nobody made the units, and was not told to.
pub const OLDEST: u32 = 3;

/// The first line: what is needed to make the nodes anew.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Header {
    /// [`FORMAT`].
    pub format: String,
    /// [`VERSION`].
    pub version: u32,
    /// The algorithm's tag.
    pub algorithm: String,
    /// The names of the repairs that are switched off.
    pub without: Vec<String>,
    /// The algorithm's own constants that are not as usual.
    #[serde(default, skip_serializing_if = "Constants::is_empty")]
    pub constants: Constants,
    /// The nodes, the units and the links at the start; the first link is incarnation 0, the next 1, and so on.
    pub deployment: Deployment,
    /// Which world wrote it.
    pub world: Origin,
    /// The status of each node at the start, from which the changes in the steps go on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub start: Vec<Status>,
    /// The plane that nodes move on, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<Plane>,
}

impl Header {
    /// The first line of a trace that begins now.
    pub fn new(algorithm: &'static Algorithm, without: Vec<String>, deployment: Deployment, world: Origin) -> Self {
        struct Start<'a>(&'a Deployment);
        impl Visitor for Start<'_> {
            type Output = Vec<Status>;
            fn visit<P: Protocol>(self, variant: P::Variant) -> Self::Output {
                P::deploy(self.0, variant, Repairs::ALL).iter().map(P::status).collect()
            }
        }
        let start = algorithm.visit(Start(&deployment));
        let (format, version, algorithm) = (FORMAT.into(), VERSION, algorithm.tag.into());
        let constants = Constants::new();
        Self { format, version, algorithm, without, constants, deployment, world, start, field: None }
    }
}

/// The plane that nodes move on, in metres.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Plane {
    /// The corner with the least coordinates, if it is not the origin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<[f64; 2]>,
    /// From the left to the right.
    pub width: f64,
    /// From the top to the bottom.
    pub height: f64,
    /// How far a radio is usually heard, if that can be said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<f64>,
    /// The centres of the neighbourhoods: a place belongs to the nearest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sites: Vec<[f64; 2]>,
    /// If it is not farther away than this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reach: Option<f64>,
}

/// The world that a trace comes from, and what that world needs to do the same again.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// A simulation with this configuration.
    Sim {
        /// As `driftlock sim --config` takes it.
        config: Value,
        /// Which of its replications.
        replication: u32,
    },
    /// A fault-and-heal run.
    Soak {
        /// From which everything else follows.
        seed: u64,
        /// Whether there are at least as many units as nodes.
        crowded: bool,
        /// Whether nodes move about a field, with radios.
        #[serde(default, skip_serializing_if = "core::ops::Not::not")]
        afield: bool,
        /// How many nodes were asked for; none if the seed drew that.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        nodes: Option<u32>,
    },
    /// A simulation that somebody meddled with while it ran.
    Live {
        /// As `driftlock sim --config` takes it.
        config: Value,
    },
    /// A counterexample of the checker.
    Check {
        /// The command that finds it.
        command: String,
        /// What has to happen, in the words of docs/check.md.
        actions: Vec<String>,
        /// Whether the algorithm's own constants were as small as they can be.
        small_scale: bool,
        /// Whether the algorithm was as it is over radios.
        #[serde(default, skip_serializing_if = "core::ops::Not::not")]
        over_radios: bool,
    },
}

/// A link has formed or failed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LinkChange {
    /// When, in nanoseconds; a time unit of the papers is a second.
    pub t: u64,
    /// Its ends.
    pub link: (NodeId, NodeId),
    /// Whether it formed.
    pub up: bool,
    /// Of the link concerned.
    pub incarnation: Incarnation,
}

/// A node has entered the neighbourhood, departed or crashed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MemberChange {
    /// When, in nanoseconds.
    pub t: u64,
    /// Who.
    pub member: NodeId,
    /// Where it is now.
    pub presence: Presence,
}

/// A message between two nodes is lost.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Loss<M> {
    /// When, in nanoseconds.
    pub t: u64,
    /// The sender and the receiver.
    pub lost: (NodeId, NodeId),
    /// What it says; nothing in an older trace, where it is taken for the oldest on its way.
    #[serde(default)]
    pub message: M,
}

/// What surrounds the nodes, for whoever draws it. They know nothing of it, so a replay has no use for it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Scene {
    /// A node sets out.
    Move {
        /// When, in nanoseconds.
        t: u64,
        /// Who.
        #[serde(rename = "move")]
        node: NodeId,
        /// From where, in metres.
        at: [f64; 2],
        /// How fast where to, in metres a second. It goes on so until it sets out again.
        velocity: [f64; 2],
        /// Whether it is not there: it has left, or has yet to appear.
        #[serde(default, skip_serializing_if = "core::ops::Not::not")]
        absent: bool,
    },
    /// Something goes wrong, or is over.
    Fault {
        /// When, in nanoseconds.
        t: u64,
        /// Its number, the same at its end.
        fault: u64,
        /// What it is, in the words of docs/faults.md; nothing when it is over.
        is: Option<Value>,
    },
    /// A token is in doubt, or no longer.
    Doubt {
        /// When, in nanoseconds.
        t: u64,
        /// Who sent it, and to whom.
        doubt: (NodeId, NodeId),
        /// What it carries and nobody has; none when it is settled.
        permits: Permits,
    },
    /// Messages from a node to another take another way.
    Route {
        /// When, in nanoseconds.
        t: u64,
        /// From whom to whom.
        route: (NodeId, NodeId),
        /// By which neighbour; by nobody if there is no way any more.
        via: Option<NodeId>,
    },
    /// Nothing else has happened until now: only in a stream.
    Now {
        /// In nanoseconds.
        now: u64,
        /// How many events the oracle has checked.
        checked: u64,
    },
}

impl Scene {
    /// When, in nanoseconds.
    pub fn time(&self) -> u64 {
        match *self {
            Self::Move { t, .. } | Self::Fault { t, .. } | Self::Doubt { t, .. } | Self::Route { t, .. } => t,
            Self::Now { now, .. } => now,
        }
    }
}

/// What stands for the input where a node was killed, and is back with what it had stored.
pub const RESTART: &str = "restart";

/// A node has taken an input.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Step<I, O> {
    /// When, in nanoseconds.
    pub t: u64,
    /// Who.
    pub node: NodeId,
    /// What happened to it.
    #[serde(rename = "in")]
    pub input: I,
    /// What it did, in order.
    pub out: O,
    /// Why the shell turned the input away, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<Refusal>,
    /// What is different in its status now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<StatusChange>,
}

/// The last line.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct End {
    /// How many steps there were.
    pub steps: u64,
    /// When it was, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub t: Option<u64>,
    /// What the oracles objected to, if anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub violation: Option<String>,
}

/// Any line but the first, as a reader meets it.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "neither a step, nor a change of a link, a member or the scene, nor a loss, nor the end of a trace"
)]
pub enum Line {
    /// A node's step. Its input and output are kept as they are until the algorithm is known.
    Step(Box<Step<Value, Value>>),
    /// A change of a link.
    Link(LinkChange),
    /// Somebody came, went or crashed.
    Member(MemberChange),
    /// A message was lost.
    Loss(Loss<Value>),
    /// Somebody moves, something fails, or the like.
    Scene(Scene),
    /// The end.
    End {
        /// The last record.
        end: End,
    },
}

/// A step as a world writes it.
pub(crate) type LiveStep<'a, P, E> = Step<&'a InputOf<P>, &'a [E]>;

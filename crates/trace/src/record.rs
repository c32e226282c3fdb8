//! The lines of a trace.

use driftlock_protocol::{Deployment, Incarnation, InputOf, NodeId, Refusal, StatusChange};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What the first line calls itself.
pub const FORMAT: &str = "driftlock-trace";
/// Grows when a reader of the former version would misread a trace.
pub const VERSION: u32 = 1;

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
    /// The nodes, the units and the links at the start; the first link is incarnation 0, the next 1, and so on.
    pub deployment: Deployment,
    /// Which world wrote it.
    pub world: Origin,
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
    },
    /// A counterexample of the checker.
    Check {
        /// The command that finds it.
        command: String,
        /// What has to happen, in the words of docs/check.md.
        actions: Vec<String>,
        /// Whether the algorithm's own constants were as small as they can be.
        small_scale: bool,
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

/// Where a node is now.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Presence {
    /// It has entered the neighbourhood.
    Inside,
    /// It has departed.
    Outside,
    /// It has crashed inside, and forgotten everything; nobody is told.
    Crashed,
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

/// The next message between two nodes is lost.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Loss {
    /// When, in nanoseconds.
    pub t: u64,
    /// The sender and the receiver.
    pub lost: (NodeId, NodeId),
}

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
    /// What the oracles objected to, if anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub violation: Option<String>,
}

/// Any line but the first, as a reader meets it.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(untagged, expecting = "neither a step, nor a change of a link or a member, nor a loss, nor the end of a trace")]
pub enum Line {
    /// A node's step. Its input and output are kept as they are until the algorithm is known.
    Step(Box<Step<Value, Value>>),
    /// A change of a link.
    Link(LinkChange),
    /// Somebody came, went or crashed.
    Member(MemberChange),
    /// A message was lost.
    Loss(Loss),
    /// The end.
    End {
        /// The last record.
        end: End,
    },
}

/// A step as a world writes it.
pub(crate) type LiveStep<'a, P, E> = Step<&'a InputOf<P>, &'a [E]>;

//! The lines of a trace.

use driftlock_protocol::ideal::{Presence, Start};
use driftlock_protocol::{
    Algorithm, Constants, Deployment, Incarnation, InputOf, NodeId, Permits, Protocol, Refusal, Repairs, Status,
    StatusChange, Stay, Tokens, Visitor,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What the first line calls itself.
pub const FORMAT: &str = "driftlock-trace";
/// Grows when a reader of the former version would misread a trace. Others are not read.
pub const VERSION: u32 = 4;

/// The first line: what is needed to make the nodes anew.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Header {
    /// [`FORMAT`].
    pub format: String,
    /// [`VERSION`].
    pub version: u32,
    /// The version of the driftlock that wrote it.
    pub driftlock: String,
    /// How many nodes there are at the start: 0, 1 and so on. Others join, under any id.
    pub nodes: u32,
    /// The links at the start; the first link is incarnation 0, the next 1, and so on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<(NodeId, NodeId)>,
    /// What the nodes share. Lines name a resource by its place in this list.
    pub resources: Vec<Resource>,
    /// Which world wrote it.
    pub world: Origin,
    /// The plane that nodes move on, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<Plane>,
}

/// A resource, and the algorithm that shares its units.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Resource {
    /// The algorithm's tag.
    pub algorithm: String,
    /// How many units it has; if there are several neighbourhoods, in each of them.
    pub k: u32,
    /// The names of the repairs that are switched off.
    pub without: Vec<String>,
    /// The algorithm's own constants that are not as usual.
    #[serde(default, skip_serializing_if = "Constants::is_empty")]
    pub constants: Constants,
    /// What stands for the units.
    pub tokens: Tokens,
    /// The kinds of messages by which nodes ask for units.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asks: Vec<String>,
    /// The kinds of messages that bring what a node must have to be granted units.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub brings: Vec<String>,
    /// Those of them that hand a token over.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hands_over: Vec<String>,
    /// The pages about the algorithm that explain its clauses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pages: Vec<String>,
    /// Who is in which neighbourhood at the start, if the algorithm stands on neighbourhoods.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub neighbourhoods: Vec<Members>,
    /// The status of each node at the start, from which the changes in the steps go on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub start: Vec<Status>,
}

/// Who is in a neighbourhood at the start.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Members {
    /// In the order in which they came: their lives are numbered 0, 1 and so on.
    pub members: Vec<NodeId>,
    /// The stay of each of them. If there are none, they are 0, 1 and so on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stays: Vec<Stay>,
}

impl Header {
    /// The first line of a trace that begins now, of one resource.
    pub fn new(algorithm: &'static Algorithm, without: Vec<String>, deployment: Deployment, world: Origin) -> Self {
        Self::of_neighbourhoods(algorithm, without, &[deployment], world)
    }

    /// Likewise, of a resource that each of several neighbourhoods has units of.
    pub fn of_neighbourhoods(
        algorithm: &'static Algorithm,
        without: Vec<String>,
        deployments: &[Deployment],
        world: Origin,
    ) -> Self {
        let Deployment { nodes, links, .. } = deployments.first().cloned().unwrap_or_default();
        let (format, version, driftlock) = (FORMAT.into(), VERSION, env!("CARGO_PKG_VERSION").into());
        let resources = vec![Resource::new(algorithm, without, deployments)];
        Self { format, version, driftlock, nodes, links, resources, world, field: None }
    }

    /// The same, where the constants of all algorithms were set so.
    #[must_use]
    pub fn with_constants(mut self, constants: &Constants) -> Self {
        for resource in &mut self.resources {
            resource.constants.clone_from(constants);
        }
        self
    }

    /// How a resource starts: in each of its neighbourhoods, or on the links that there are.
    pub fn deployments(&self, resource: &Resource) -> Vec<Deployment> {
        let Self { nodes, links, .. } = self;
        let start = |Members { members, stays }| Deployment {
            nodes: *nodes,
            k: resource.k,
            links: links.clone(),
            members,
            stays,
        };
        match &resource.neighbourhoods[..] {
            [] => vec![start(Members::default())],
            neighbourhoods => neighbourhoods.iter().cloned().map(start).collect(),
        }
    }
}

impl Resource {
    /// One that is shared from now on, and starts so: once for each neighbourhood, if the algorithm stands on them.
    pub fn new(algorithm: &'static Algorithm, without: Vec<String>, deployments: &[Deployment]) -> Self {
        struct Deploy<'a>(&'a [Deployment]);
        impl Visitor for Deploy<'_> {
            type Output = Vec<Status>;
            fn visit<P: Protocol>(self, variant: P::Variant) -> Self::Output {
                deployed::<P>(self.0, variant, Repairs::ALL).iter().map(P::status).collect()
            }
        }
        let all = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        let manner = &algorithm.manner;
        let members = |start: &Deployment| Members { members: start.members.clone(), stays: start.stays.clone() };
        let has_members = algorithm.starts_from() == Start::Members;
        Self {
            algorithm: algorithm.tag.into(),
            k: deployments.first().map_or(0, |deployment| deployment.k),
            without,
            constants: Constants::new(),
            tokens: manner.tokens,
            asks: all(manner.asks),
            brings: all(manner.brings),
            hands_over: all(manner.hands_over),
            pages: all(manner.pages),
            neighbourhoods: if has_members { deployments.iter().map(members).collect() } else { Vec::new() },
            start: algorithm.visit(Deploy(deployments)),
        }
    }
}

/// All nodes at the start, each as its own neighbourhood has it.
pub(crate) fn deployed<P: Protocol>(deployments: &[Deployment], variant: P::Variant, repairs: Repairs) -> Vec<P> {
    let mut starts = deployments.iter().filter(|start| start.nodes > 0);
    let mut nodes = starts.next().map_or(Vec::new(), |start| P::deploy(start, variant, repairs));
    for start in starts {
        let there = P::deploy(start, variant, repairs);
        for member in &start.members {
            nodes[member.index()].clone_from(&there[member.index()]);
        }
    }
    nodes
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
        #[serde(rename = "afield", default, skip_serializing_if = "core::ops::Not::not")]
        on_field: bool,
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

/// A node takes part from now on. It knows nothing and holds nothing.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Join {
    /// When, in nanoseconds.
    pub t: u64,
    /// Its id, which nobody had before.
    pub join: NodeId,
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
    /// Of which resource.
    #[serde(default, skip_serializing_if = "is_first")]
    pub resource: u32,
    /// In which of its neighbourhoods, which means something only to those that are inside.
    #[serde(default, skip_serializing_if = "is_first")]
    pub neighbourhood: u32,
}

/// A message between two nodes is lost.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Loss<M> {
    /// When, in nanoseconds.
    pub t: u64,
    /// The sender and the receiver.
    pub lost: (NodeId, NodeId),
    /// Of which resource.
    #[serde(default, skip_serializing_if = "is_first")]
    pub resource: u32,
    /// What it says.
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
        /// Of which resource.
        #[serde(default, skip_serializing_if = "is_first")]
        resource: u32,
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

/// A line that names no resource or neighbourhood is about the first.
#[allow(clippy::trivially_copy_pass_by_ref)] // as serde wants it
fn is_first(number: &u32) -> bool {
    *number == 0
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
    /// Of which resource.
    #[serde(default, skip_serializing_if = "is_first")]
    pub resource: u32,
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
    /// Of which resource.
    #[serde(default, skip_serializing_if = "is_first")]
    pub resource: u32,
}

/// Any line but the first, as a reader meets it.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "neither a step, nor a change of a link, a member or the scene, nor a loss, a newcomer or the end"
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
    /// A node moves, something fails, or the like.
    Scene(Scene),
    /// A node joined.
    Join(Join),
    /// The end.
    End {
        /// The last record.
        end: End,
    },
}

impl Line {
    /// When, in nanoseconds; an end need not say.
    pub fn time(&self) -> Option<u64> {
        match self {
            Self::Step(step) => Some(step.t),
            Self::Link(change) => Some(change.t),
            Self::Member(change) => Some(change.t),
            Self::Loss(loss) => Some(loss.t),
            Self::Scene(scene) => Some(scene.time()),
            Self::Join(join) => Some(join.t),
            Self::End { end } => end.t,
        }
    }
}

/// A step as a world writes it.
pub(crate) type LiveStep<'a, P, E> = Step<&'a InputOf<P>, &'a [E]>;

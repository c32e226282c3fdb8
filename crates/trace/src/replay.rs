//! Doing again what a trace says, with fresh nodes, and comparing every output.

use driftlock_protocol::ideal::Ideal;
use driftlock_protocol::{
    Algorithm, Charter, InputOf, K_MAX, NODES_MAX, Node, NodeId, Outbox, Permits, Protocol, Repairs, Terms, View,
    Visitor, WrongConstant,
};
use serde_json::Value;
use thiserror::Error;

use crate::{Header, Line, MemberChange, Origin, Presence, RESTART, ReadError, Reader, Step};

/// What came of a replay that could be carried out.
#[derive(Clone, PartialEq, Debug)]
pub enum Outcome {
    /// Every output is the same.
    Same {
        /// How many steps were compared.
        steps: u64,
        /// What the oracles had objected to when the trace was written.
        violation: Option<String>,
    },
    /// An output differs: the code is not the code that wrote the trace.
    Differs(Box<Difference>),
}

/// The first step that came out differently.
#[derive(Clone, PartialEq, Debug)]
pub struct Difference {
    /// Its line, counted from 1.
    pub line: u64,
    /// The step as recorded.
    pub recorded: Step<Value, Value>,
    /// The same step with the outputs of now.
    pub replayed: Step<Value, Value>,
}

/// Why a replay could not be carried out.
#[derive(Debug, Error)]
pub enum ReplayError {
    /// The trace can not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The trace is of an algorithm that is not there.
    #[error("the trace is of the algorithm {0:?}, which this driftlock does not have")]
    UnknownAlgorithm(String),
    /// A repair that is not there.
    #[error("the trace switches off {repair:?}, which {algorithm} does not have")]
    UnknownRepair {
        /// The algorithm's tag.
        algorithm: String,
        /// The unknown name.
        repair: String,
    },
    /// The initial state makes no sense.
    #[error("the trace starts from an impossible deployment: {0}")]
    BadDeployment(&'static str),
    /// Steps were taken out, or put in.
    #[error("the trace ends after {recorded} steps by its own account, but has {found}")]
    StepsMissing {
        /// According to the last line.
        recorded: u64,
        /// According to the lines before.
        found: u64,
    },
    /// A node that the deployment does not have.
    #[error("line {line} is about node {node}, but there are only {nodes} nodes")]
    UnknownNode {
        /// Counted from 1.
        line: u64,
        /// Its number.
        node: u32,
        /// How many there are.
        nodes: u32,
    },
    /// Constants that the algorithm does not have, or that make no sense.
    #[error("its first line is damaged: {0}")]
    Constant(#[from] WrongConstant),
    /// An input that the algorithm can not take.
    #[error("the input on line {line} is not one of {algorithm}: {error}")]
    BadInput {
        /// Counted from 1.
        line: u64,
        /// The algorithm's tag.
        algorithm: String,
        /// What the parser says.
        error: serde_json::Error,
    },
}

/// Replays a whole trace.
pub fn replay(reader: Reader) -> Result<Outcome, ReplayError> {
    let tag = reader.header().algorithm.clone();
    let algorithm = Algorithm::named(&tag).ok_or(ReplayError::UnknownAlgorithm(tag))?;
    let unknown = |repair: &str| ReplayError::UnknownRepair { algorithm: algorithm.tag.into(), repair: repair.into() };
    let names = reader.header().without.iter().map(String::as_str);
    let repairs = algorithm.rules_without(names).map_err(unknown)?;
    check_deployment(reader.header())?;
    algorithm.visit(Replay { reader, repairs })
}

/// Likewise, with a protocol that need not be registered.
pub fn replay_with<P: Protocol>(reader: Reader, variant: P::Variant, repairs: Repairs) -> Result<Outcome, ReplayError> {
    check_deployment(reader.header())?;
    Replay { reader, repairs }.visit::<P>(variant)
}

/// The permits that each node has at the start, if the algorithm is known and the deployment makes sense.
pub(crate) fn permits_at_start(header: &Header) -> Option<Vec<Permits>> {
    struct Deploy<'a>(&'a Header);
    impl Visitor for Deploy<'_> {
        type Output = Vec<Permits>;
        fn visit<P: Protocol>(self, variant: P::Variant) -> Self::Output {
            P::deploy(&self.0.deployment, variant, Repairs::ALL).iter().map(P::held).collect()
        }
    }
    check_deployment(header).ok()?;
    Some(Algorithm::named(&header.algorithm)?.visit(Deploy(header)))
}

fn check_deployment(header: &Header) -> Result<(), ReplayError> {
    let deployment = &header.deployment;
    if deployment.nodes == 0 || deployment.nodes > NODES_MAX || deployment.k == 0 || deployment.k > K_MAX {
        return Err(ReplayError::BadDeployment("it has no nodes or units, or too many"));
    }
    let mut links = deployment.links.clone();
    for link in &mut links {
        *link = (link.0.min(link.1), link.0.max(link.1));
    }
    links.sort_unstable();
    if links.iter().any(|(a, b)| a == b || b.0 >= deployment.nodes) || links.windows(2).any(|two| two[0] == two[1]) {
        return Err(ReplayError::BadDeployment("a link is there twice, or leads nowhere"));
    }
    let mut members = deployment.members.clone();
    members.sort_unstable();
    if members.iter().any(|member| member.0 >= deployment.nodes) || members.windows(2).any(|two| two[0] == two[1]) {
        return Err(ReplayError::BadDeployment("a member is there twice, or does not exist"));
    }
    let mut stays = deployment.stays.clone();
    stays.sort_unstable();
    let of_all = stays.is_empty() || stays.len() == members.len();
    if !of_all || stays.windows(2).any(|two| two[0] == two[1]) {
        return Err(ReplayError::BadDeployment("a stay is there twice, or it is not told of every member"));
    }
    Ok(())
}

struct Replay {
    reader: Reader,
    repairs: Repairs,
}

impl Visitor for Replay {
    type Output = Result<Outcome, ReplayError>;

    fn visit<P: Protocol>(mut self, variant: P::Variant) -> Self::Output {
        let deployment = self.reader.header().deployment.clone();
        let ideal = <P::View as View>::Ideal::new(&deployment);
        let header = self.reader.header();
        let small = matches!(header.world, Origin::Check { small_scale: true, .. });
        let radios = header.field.is_some() || matches!(header.world, Origin::Check { over_radios: true, .. });
        let terms = Terms { small_scale: small, over_radios: radios, constants: &header.constants };
        let variant = terms.variant::<P>(variant)?;
        let protocols = P::deploy(&deployment, variant, self.repairs);
        let mut nodes: Vec<Node<P>> =
            deployment.ids().zip(protocols).map(|(id, protocol)| Node::new(id, protocol, ideal.reach(id))).collect();
        let charter = Charter::new(deployment.k, variant, self.repairs);
        let mut steps = 0;
        while let Some(line) = self.reader.next_line()? {
            match line {
                Line::Member(MemberChange { member, presence: Presence::Crashed, .. }) => {
                    let node = nodes.get_mut(member.index()).ok_or_else(|| self.unknown(member))?;
                    *node = Node::blank(member, &charter);
                }
                // What another change means to a node is among its inputs.
                Line::Link(_) | Line::Member(_) | Line::Loss(_) | Line::Scene(_) => {}
                Line::End { end } if end.steps == steps => {
                    return Ok(Outcome::Same { steps, violation: end.violation });
                }
                Line::End { end } => return Err(ReplayError::StepsMissing { recorded: end.steps, found: steps }),
                Line::Step(recorded) => {
                    let replayed = self.repeat(&mut nodes, &charter, &recorded)?;
                    if replayed != *recorded {
                        let line = self.reader.line();
                        return Ok(Outcome::Differs(Box::new(Difference { line, recorded: *recorded, replayed })));
                    }
                    steps += 1;
                }
            }
        }
        unreachable!("a reader ends with an end record or an error")
    }
}

impl Replay {
    fn unknown(&self, node: NodeId) -> ReplayError {
        let nodes = self.reader.header().deployment.nodes;
        ReplayError::UnknownNode { line: self.reader.line(), node: node.0, nodes }
    }

    /// The recorded step, taken again by the node as it is now.
    fn repeat<P: Protocol>(
        &self,
        nodes: &mut [Node<P>],
        charter: &Charter<P::Variant>,
        recorded: &Step<Value, Value>,
    ) -> Result<Step<Value, Value>, ReplayError> {
        let line = self.reader.line();
        let node = nodes.get_mut(recorded.node.index()).ok_or_else(|| self.unknown(recorded.node))?;
        let mut out = Outbox::with_clauses();
        let before = node.protocol().status();
        let refused = if recorded.input == RESTART {
            *node = node.restarted(charter, &mut out);
            None
        } else {
            let algorithm = || self.reader.header().algorithm.clone();
            let input: InputOf<P> = serde_json::from_value(recorded.input.clone())
                .map_err(|error| ReplayError::BadInput { line, algorithm: algorithm(), error })?;
            node.step(input, &mut out).err()
        };
        let out = serde_json::to_value(out.effects()).unwrap_or(Value::Null);
        let status = node.protocol().status().change_since(&before);
        Ok(Step { out, refused, status, ..recorded.clone() })
    }
}

//! Doing again what a trace says, with fresh nodes, and comparing every output.

use std::collections::BTreeMap;

use driftlock_protocol::ideal::{Ideal, IdealOf};
use driftlock_protocol::registry::{Manner, UnitsRule};
use driftlock_protocol::{
    Algorithm, Charter, ContactsOf, Deployment, InputOf, K_MAX, NODES_MAX, Node, NodeId, Outbox, Permits, Protocol,
    Repairs, Terms, Visitor, WrongConstant,
};
use serde_json::{Map, Value, json};
use thiserror::Error;

use crate::record::deployed;
use crate::{Header, Join, Line, MemberChange, Origin, Presence, RESTART, ReadError, Reader, Resource, Step};

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
    /// The first line says something else of a resource than this driftlock does.
    HeaderDiffers(HeaderDifference),
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

/// The first thing in the first line that came out differently.
#[derive(Clone, PartialEq, Debug)]
pub struct HeaderDifference {
    /// Where it is, as `jq` would name it.
    pub place: String,
    /// What the trace says there.
    pub recorded: Value,
    /// What this driftlock says.
    pub replayed: Value,
}

/// Why a replay could not be carried out.
#[derive(Debug, Error)]
pub enum ReplayError {
    /// The trace cannot be read.
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
    /// The algorithm shares a single unit.
    #[error("the trace has k = {k}, but {algorithm} shares exactly one unit")]
    OnlyOneUnit {
        /// The algorithm's tag.
        algorithm: String,
        /// By the first line.
        k: u32,
    },
    /// Lines are not in the order in which things happened.
    #[error("line {line} is of the time {t}, but a line before it is of {before}: time does not run backwards")]
    Backwards {
        /// Counted from 1.
        line: u64,
        /// Of this line, in nanoseconds.
        t: u64,
        /// The latest before.
        before: u64,
    },
    /// Steps were taken out, or put in.
    #[error("the trace ends after {recorded} steps by its own account, but has {found}")]
    StepsMissing {
        /// According to the last line.
        recorded: u64,
        /// According to the lines before.
        found: u64,
    },
    /// A node that was not there at the start, and has not joined.
    #[error("line {line} is about node {node}, but there are only {nodes} nodes by then, and none of that number")]
    UnknownNode {
        /// Counted from 1.
        line: u64,
        /// Its number.
        node: u32,
        /// How many there are.
        nodes: usize,
    },
    /// A node joins that is there.
    #[error("on line {line} node {node} joins, but it is there already")]
    JoinsTwice {
        /// Counted from 1.
        line: u64,
        /// Its number.
        node: u32,
    },
    /// A resource that the header does not name.
    #[error("line {line} is about resource {resource}, but the first line names only {resources}, counted from 0")]
    UnknownResource {
        /// Counted from 1.
        line: u64,
        /// Its place in the header's list.
        resource: u32,
        /// How many there are.
        resources: usize,
    },
    /// Constants that the algorithm does not have, or that make no sense.
    #[error("its first line is damaged: {0}")]
    Constant(#[from] WrongConstant),
    /// An input that the algorithm cannot take.
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
    check_start(reader.header())?;
    let header = reader.header();
    let players: Result<_, _> = header.resources.iter().map(|resource| begin(header, resource)).collect();
    play(reader, players?)
}

/// Likewise, with a protocol that need not be registered and shares the only resource.
pub fn replay_with<P: Protocol>(reader: Reader, variant: P::Variant, repairs: Repairs) -> Result<Outcome, ReplayError> {
    check_start(reader.header())?;
    let header = reader.header();
    let player = Begin { header, resource: &header.resources[0], repairs, manner: None }.visit::<P>(variant)?;
    play(reader, vec![player])
}

fn play(mut reader: Reader, mut players: Vec<Box<dyn Player>>) -> Result<Outcome, ReplayError> {
    if let Some(difference) = header_difference(reader.header(), &players) {
        return Ok(Outcome::HeaderDiffers(difference));
    }
    let (mut steps, mut before) = (0, 0);
    while let Some(line) = reader.next_line()? {
        let number = reader.line();
        if let Some(t) = line.time().filter(|&t| t < before) {
            return Err(ReplayError::Backwards { line: number, t, before });
        }
        before = line.time().unwrap_or(before);
        match line {
            Line::Member(MemberChange { member, presence: Presence::Crashed, resource, .. }) => {
                player(&mut players, resource, number)?.forget(member, number)?;
            }
            Line::Join(Join { join, .. }) => players.iter_mut().try_for_each(|player| player.join(join, number))?,
            // What another change means to a node is among its inputs.
            Line::Link(_) | Line::Member(_) | Line::Loss(_) | Line::Scene(_) => {}
            Line::End { end } if end.steps == steps => return Ok(Outcome::Same { steps, violation: end.violation }),
            Line::End { end } => return Err(ReplayError::StepsMissing { recorded: end.steps, found: steps }),
            Line::Step(recorded) => {
                let replayed = player(&mut players, recorded.resource, number)?.repeat(&recorded, number)?;
                if replayed != *recorded {
                    return Ok(Outcome::Differs(Box::new(Difference { line: number, recorded: *recorded, replayed })));
                }
                steps += 1;
            }
        }
    }
    unreachable!("a reader ends with an end record or an error")
}

/// Where the first line first says something else of a resource than its player does.
fn header_difference(header: &Header, players: &[Box<dyn Player>]) -> Option<HeaderDifference> {
    header.resources.iter().zip(players).enumerate().find_map(|(at, (resource, player))| {
        let recorded = serde_json::to_value(resource).unwrap_or_default();
        let places = player.header();
        places.iter().find_map(|(key, is)| value_difference(format!("resources[{at}].{key}"), &recorded[key], is))
    })
}

/// A list is compared item by item, and is left out where it is empty.
fn value_difference(place: String, recorded: &Value, replayed: &Value) -> Option<HeaderDifference> {
    if let Value::Array(items) = replayed {
        let count = items.len().max(recorded.as_array().map_or(0, Vec::len));
        let mut items = (0..count).map(|item| (format!("{place}[{item}]"), &recorded[item], &replayed[item]));
        return items.find_map(|(place, was, is)| value_difference(place, was, is));
    }
    let differs = recorded != replayed;
    differs.then(|| HeaderDifference { place, recorded: recorded.clone(), replayed: replayed.clone() })
}

fn player(players: &mut [Box<dyn Player>], resource: u32, line: u64) -> Result<&mut Box<dyn Player>, ReplayError> {
    let resources = players.len();
    players.get_mut(resource as usize).ok_or(ReplayError::UnknownResource { line, resource, resources })
}

/// The permits that each node has at the start, if the algorithm is known and the deployment makes sense.
pub(crate) fn permits_at_start(header: &Header, resource: &Resource) -> Option<Vec<Permits>> {
    struct Deploy(Vec<Deployment>);
    impl Visitor for Deploy {
        type Output = Vec<Permits>;
        fn visit<P: Protocol>(self, variant: P::Variant) -> Self::Output {
            deployed::<P>(&self.0, variant, Repairs::ALL).iter().map(P::held).collect()
        }
    }
    check_start(header).ok()?;
    Some(Algorithm::named(&resource.algorithm)?.visit(Deploy(header.deployments(resource))))
}

fn check_start(header: &Header) -> Result<(), ReplayError> {
    if header.nodes > NODES_MAX {
        return Err(ReplayError::BadDeployment("it has too many nodes"));
    }
    let mut links = header.links.clone();
    for link in &mut links {
        *link = (link.0.min(link.1), link.0.max(link.1));
    }
    links.sort_unstable();
    if links.iter().any(|(a, b)| a == b || b.0 >= header.nodes) || links.windows(2).any(|two| two[0] == two[1]) {
        return Err(ReplayError::BadDeployment("a link is there twice, or leads nowhere"));
    }
    if header.resources.is_empty() {
        return Err(ReplayError::BadDeployment("nothing is shared"));
    }
    header.resources.iter().try_for_each(|resource| check_resource(header.nodes, resource))
}

fn check_resource(nodes: u32, resource: &Resource) -> Result<(), ReplayError> {
    if resource.k == 0 || resource.k > K_MAX {
        return Err(ReplayError::BadDeployment("it has no units, or too many"));
    }
    let mut members: Vec<_> = resource.neighbourhoods.iter().flat_map(|inside| inside.members.clone()).collect();
    members.sort_unstable();
    if members.iter().any(|member| member.0 >= nodes) || members.windows(2).any(|two| two[0] == two[1]) {
        return Err(ReplayError::BadDeployment("a member is there twice, or does not exist"));
    }
    for inside in &resource.neighbourhoods {
        let mut stays = inside.stays.clone();
        stays.sort_unstable();
        let of_all = stays.is_empty() || stays.len() == inside.members.len();
        if !of_all || stays.windows(2).any(|two| two[0] == two[1]) {
            return Err(ReplayError::BadDeployment("a stay is there twice, or it is not told of every member"));
        }
    }
    Ok(())
}

/// The nodes of a resource, whatever shares it.
trait Player {
    /// What the first line says of the resource that this driftlock knows by itself, before any step is taken.
    fn header(&self) -> Map<String, Value>;
    /// The recorded step, taken again by the node as it is now.
    fn repeat(&mut self, recorded: &Step<Value, Value>, line: u64) -> Result<Step<Value, Value>, ReplayError>;
    /// A node crashes.
    fn forget(&mut self, node: NodeId, line: u64) -> Result<(), ReplayError>;
    /// A node takes part from now on.
    fn join(&mut self, node: NodeId, line: u64) -> Result<(), ReplayError>;
}

/// The nodes of a resource as they are at the start.
fn begin(header: &Header, resource: &Resource) -> Result<Box<dyn Player>, ReplayError> {
    let tag = &resource.algorithm;
    let algorithm = Algorithm::named(tag).ok_or_else(|| ReplayError::UnknownAlgorithm(tag.clone()))?;
    if algorithm.units == UnitsRule::One && resource.k != 1 {
        return Err(ReplayError::OnlyOneUnit { algorithm: tag.clone(), k: resource.k });
    }
    let unknown = |repair: &str| ReplayError::UnknownRepair { algorithm: tag.clone(), repair: repair.into() };
    let repairs = algorithm.rules_without(resource.without.iter().map(String::as_str)).map_err(unknown)?;
    algorithm.visit(Begin { header, resource, repairs, manner: Some(&algorithm.manner) })
}

struct Begin<'a> {
    header: &'a Header,
    resource: &'a Resource,
    repairs: Repairs,
    /// If the algorithm is registered.
    manner: Option<&'static Manner>,
}

impl Visitor for Begin<'_> {
    type Output = Result<Box<dyn Player>, ReplayError>;

    fn visit<P: Protocol>(self, variant: P::Variant) -> Self::Output {
        let Self { header, resource, repairs, manner } = self;
        let small = matches!(header.world, Origin::Check { small_scale: true, .. });
        let radios = header.field.is_some() || matches!(header.world, Origin::Check { over_radios: true, .. });
        let terms = Terms { small_scale: small, over_radios: radios, constants: &resource.constants };
        let variant = terms.variant::<P>(variant)?;
        let charter = Charter::new(resource.k, variant, repairs);
        let deployments = header.deployments(resource);
        let protocols = deployed::<P>(&deployments, variant, repairs);
        let contacts = contacts::<P>(&deployments);
        let nodes = (0..).map(NodeId).zip(protocols).zip(contacts);
        let nodes = nodes.map(|((id, protocol), contacts)| (id, Node::new(id, protocol, contacts))).collect();
        Ok(Box::new(Instances::<P> { tag: resource.algorithm.clone(), manner, charter, nodes }))
    }
}

/// The contacts of each node at the start, in its own neighbourhood or on the links that there are.
fn contacts<P: Protocol>(deployments: &[Deployment]) -> Vec<ContactsOf<P::View>> {
    let first = IdealOf::<P>::new(&deployments[0]);
    let mut contacts: Vec<_> = deployments[0].ids().map(|id| first.contacts(id)).collect();
    for start in &deployments[1..] {
        let there = IdealOf::<P>::new(start);
        start.members.iter().for_each(|&member| contacts[member.index()] = there.contacts(member));
    }
    contacts
}

struct Instances<P: Protocol> {
    /// The algorithm's.
    tag: String,
    manner: Option<&'static Manner>,
    charter: Charter<P::Variant>,
    nodes: BTreeMap<NodeId, Node<P>>,
}

fn named<N>(nodes: &mut BTreeMap<NodeId, N>, node: NodeId, line: u64) -> Result<&mut N, ReplayError> {
    let count = nodes.len();
    nodes.get_mut(&node).ok_or(ReplayError::UnknownNode { line, node: node.0, nodes: count })
}

impl<P: Protocol> Player for Instances<P> {
    fn header(&self) -> Map<String, Value> {
        let start: Vec<_> = self.nodes.values().map(|node| node.protocol().status()).collect();
        let mut header = Map::from_iter([("start".into(), json!(start))]);
        if let Some(Manner { tokens, asks, brings, hands_over, pages, how: _ }) = self.manner {
            let told = [("asks", asks), ("brings", brings), ("hands_over", hands_over), ("pages", pages)];
            header.insert("tokens".into(), json!(tokens));
            header.extend(told.map(|(key, names)| (key.into(), json!(names))));
        }
        header
    }

    fn forget(&mut self, node: NodeId, line: u64) -> Result<(), ReplayError> {
        let blank = Node::blank(node, &self.charter);
        *named(&mut self.nodes, node, line)? = blank;
        Ok(())
    }

    fn join(&mut self, node: NodeId, line: u64) -> Result<(), ReplayError> {
        let blank = Node::blank(node, &self.charter);
        match self.nodes.insert(node, blank) {
            None => Ok(()),
            Some(_) => Err(ReplayError::JoinsTwice { line, node: node.0 }),
        }
    }

    fn repeat(&mut self, recorded: &Step<Value, Value>, line: u64) -> Result<Step<Value, Value>, ReplayError> {
        let Self { tag, charter, nodes, .. } = self;
        let node = named(nodes, recorded.node, line)?;
        let mut out = Outbox::with_clauses();
        let before = node.protocol().status();
        let refused = if recorded.input == RESTART {
            *node = node.restarted(charter, &mut out);
            None
        } else {
            let input: InputOf<P> = serde_json::from_value(recorded.input.clone())
                .map_err(|error| ReplayError::BadInput { line, algorithm: tag.clone(), error })?;
            node.step(input, &mut out).err()
        };
        let out = serde_json::to_value(out.effects()).unwrap_or(Value::Null);
        let status = node.protocol().status().change_since(&before);
        Ok(Step { out, refused, status, ..recorded.clone() })
    }
}

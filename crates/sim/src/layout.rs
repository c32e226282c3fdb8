//! Which links a simulation starts with, as a person writes it down.

use std::fmt;
use std::str::FromStr;

use driftlock_protocol::NodeId;
use driftlock_protocol::ideal::Links;
use driftlock_protocol::ideal::Topology;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The links at the start. Written `random`, as a [`Topology`], or link by link, such as `0-1,1-2`; in a file of links
/// these may stand in lines of their own, and what follows a `#` is a remark.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Layout {
    /// Another random graph in each replication.
    #[default]
    Random,
    /// The one of this name.
    Named(Topology),
    /// These.
    Links(Vec<(NodeId, NodeId)>),
}

/// Why links make no network.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum LayoutError {
    /// A link to a node that is not there.
    #[error("the link {0}-{1} leads to a node that does not exist: there are {2}, counted from 0")]
    NoSuchNode(NodeId, NodeId, u32),
    /// A link that leads nowhere.
    #[error("the link {0}-{0} leads from a node to itself")]
    ToItself(NodeId),
    /// The same link again.
    #[error("the link {0}-{1} is there twice")]
    Twice(NodeId, NodeId),
    /// Two parts.
    #[error("node {0} cannot be reached from node 0 over these links: add one that connects them")]
    Apart(NodeId),
}

impl Layout {
    /// Whether it is as usual.
    pub fn is_random(&self) -> bool {
        *self == Self::Random
    }
}

/// Whether these links connect so many nodes, each link once.
pub(crate) fn check_links(nodes: u32, links: &[(NodeId, NodeId)]) -> Result<(), LayoutError> {
    let mut graph = Links::among(nodes);
    for &(a, b) in links {
        if a.0.max(b.0) >= nodes {
            return Err(LayoutError::NoSuchNode(a, b, nodes));
        }
        if a == b {
            return Err(LayoutError::ToItself(a));
        }
        if graph.is_up(a, b) {
            return Err(LayoutError::Twice(a, b));
        }
        graph.form(a, b);
    }
    graph.unreachable().map_or(Ok(()), |node| Err(LayoutError::Apart(node)))
}

fn link(text: &str) -> Option<(NodeId, NodeId)> {
    let (a, b) = text.split_once('-')?;
    Some((NodeId(a.parse().ok()?), NodeId(b.parse().ok()?)))
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Random => f.write_str("random"),
            Self::Named(topology) => topology.fmt(f),
            Self::Links(links) => {
                let links: Vec<_> = links.iter().map(|(a, b)| format!("{a}-{b}")).collect();
                f.write_str(&links.join(","))
            }
        }
    }
}

impl FromStr for Layout {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "random" {
            return Ok(Self::Random);
        }
        if let Ok(topology) = text.parse() {
            return Ok(Self::Named(topology));
        }
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default());
        let words = lines.flat_map(|line| line.split([',', ' ', '\t'])).filter(|word| !word.is_empty());
        let read = |word: &str| link(word).ok_or_else(|| unreadable(word));
        let links = words.map(read).collect::<Result<Vec<_>, _>>()?;
        if links.is_empty() { Err(unreadable(text)) } else { Ok(Self::Links(links)) }
    }
}

fn unreadable(text: &str) -> String {
    let names = Topology::ALL.map(|topology| topology.to_string()).join(", ");
    format!("{text:?} is neither a topology (there are random, {names}) nor a link such as 0-1")
}

impl TryFrom<String> for Layout {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Layout> for String {
    fn from(layout: Layout) -> Self {
        layout.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links(text: &str) -> Vec<(NodeId, NodeId)> {
        match text.parse() {
            Ok(Layout::Links(links)) => links,
            other => panic!("{text:?} is {other:?}"),
        }
    }

    #[test]
    fn a_layout_is_spelled_as_it_is_read() {
        for text in ["random", "complete", "line", "ring", "star", "0-1,1-2,4-0"] {
            assert_eq!(text.parse::<Layout>().unwrap().to_string(), text);
        }
        assert_eq!(links("# a line\n0-1\n1-2 2-3 # and its end\n\n"), links("0-1,1-2,2-3"));
        for text in ["", "torus", "0-1,1", "0-1-2", "a-b", "0--1", "# nothing"] {
            let says = text.parse::<Layout>().unwrap_err();
            assert!(says.contains("random, complete, line, ring, star") && says.contains("such as 0-1"), "{says}");
        }
    }

    #[test]
    fn links_that_make_no_network_are_refused() {
        let check = |text: &str| check_links(3, &links(text)).map_err(|error| error.to_string());
        assert_eq!(check("0-1,1-2"), Ok(()));
        let says = |text: &str| check(text).unwrap_err();
        assert_eq!(says("0-1,1-3"), "the link 1-3 leads to a node that does not exist: there are 3, counted from 0");
        assert_eq!(says("0-1,2-2"), "the link 2-2 leads from a node to itself");
        assert_eq!(says("0-1,1-2,1-0"), "the link 1-0 is there twice");
        assert!(says("0-2").starts_with("node 1 cannot be reached from node 0"));
    }
}

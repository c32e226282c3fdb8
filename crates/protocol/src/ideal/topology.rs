//! Networks that have a name.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use crate::NodeId;

/// Which links there are. Written `complete`, `line`, `ring` or `star`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Topology {
    /// Everybody to everybody.
    Complete,
    /// 0 to 1 to 2 and so on.
    Line,
    /// A line whose ends meet.
    Ring,
    /// Everybody to node 0.
    Star,
}

impl Topology {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Complete, Self::Line, Self::Ring, Self::Star];

    /// The links of so many nodes, each once.
    pub fn links(self, nodes: u32) -> Vec<(NodeId, NodeId)> {
        let line = || (1..nodes).map(|b| (NodeId(b - 1), NodeId(b)));
        match self {
            Self::Complete => (0..nodes).flat_map(|b| (0..b).map(move |a| (NodeId(a), NodeId(b)))).collect(),
            Self::Line => line().collect(),
            // Two nodes have one link, which is no ring, and serves as well.
            Self::Ring => line().chain((nodes > 2).then(|| (NodeId(0), NodeId(nodes - 1)))).collect(),
            Self::Star => (1..nodes).map(|b| (NodeId(0), NodeId(b))).collect(),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Line => "line",
            Self::Ring => "ring",
            Self::Star => "star",
        }
    }
}

impl fmt::Display for Topology {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Topology {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|topology| topology.name() == text);
        found.ok_or_else(|| format!("{text:?} is no topology: there are {}", Self::ALL.map(Self::name).join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn named_topologies_have_the_links_that_one_expects() {
        let counts = Topology::ALL.map(|topology| topology.links(4).len());
        assert_eq!(counts, [6, 3, 4, 3]);
        assert_eq!(Topology::Ring.links(2), Topology::Line.links(2));
        assert!(Topology::ALL.iter().all(|topology| topology.links(1).is_empty()));
    }

    #[test]
    fn a_topology_is_spelled_as_it_is_read() {
        for topology in Topology::ALL {
            assert_eq!(topology.to_string().parse(), Ok(topology));
        }
        assert!("torus".parse::<Topology>().unwrap_err().contains("complete, line, ring, star"));
    }
}

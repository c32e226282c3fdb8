//! The networks that a check starts from.

use std::fmt;
use std::str::FromStr;

use driftlock_protocol::NodeId;
use driftlock_protocol::ideal::Topology;

/// Which networks. Written as a [`Topology`], or `all`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Networks {
    /// The one of this name.
    One(Topology),
    /// Every connected graph, one after the other.
    All,
}

impl From<Topology> for Networks {
    fn from(topology: Topology) -> Self {
        Self::One(topology)
    }
}

impl fmt::Display for Networks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One(topology) => topology.fmt(f),
            Self::All => f.write_str("all"),
        }
    }
}

impl FromStr for Networks {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "all" {
            return Ok(Self::All);
        }
        text.parse().map(Self::One).map_err(|says: String| format!("{says}, and all for every connected graph"))
    }
}

/// The links of each network that `networks` stands for.
pub fn topologies(networks: impl Into<Networks>, nodes: u32) -> Vec<Vec<(NodeId, NodeId)>> {
    match networks.into() {
        Networks::One(topology) => vec![topology.links(nodes)],
        Networks::All => connected(nodes),
    }
}

/// All connected graphs with these nodes, those with fewer links first.
fn connected(nodes: u32) -> Vec<Vec<(NodeId, NodeId)>> {
    let pairs = Topology::Complete.links(nodes);
    let chosen = |set: u32| -> Vec<_> { pairs.iter().enumerate().filter(|(at, _)| set >> at & 1 == 1).collect() };
    let graphs =
        (0..1_u32 << pairs.len()).map(|set| chosen(set).into_iter().map(|(_, &pair)| pair).collect::<Vec<_>>());
    let mut connected: Vec<_> = graphs.filter(|links| is_connected(nodes, links)).collect();
    connected.sort_by_key(Vec::len);
    connected
}

fn is_connected(nodes: u32, links: &[(NodeId, NodeId)]) -> bool {
    let mut reached = 1_u32;
    for _ in 0..nodes {
        for (a, b) in links {
            let ends = 1 << a.0 | 1 << b.0;
            if reached & ends != 0 {
                reached |= ends;
            }
        }
    }
    reached.count_ones() == nodes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_4_connected_graphs_of_3_nodes_and_38_of_4() {
        let count = |nodes| topologies(Networks::All, nodes).len();
        assert_eq!((count(1), count(2), count(3), count(4), count(5)), (1, 1, 4, 38, 728));
    }

    #[test]
    fn networks_are_spelled_as_they_are_read() {
        for networks in [Networks::All, Topology::Line.into()] {
            assert_eq!(networks.to_string().parse(), Ok(networks));
        }
        assert!("torus".parse::<Networks>().unwrap_err().ends_with("star, and all for every connected graph"));
    }
}

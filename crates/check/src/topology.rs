//! The networks that a check starts from.

use driftlock_protocol::NodeId;

/// Which links there are at the start.
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
    /// Every connected graph, one after the other.
    All,
}

/// The links of each network that `topology` stands for.
pub fn topologies(topology: Topology, nodes: u32) -> Vec<Vec<(NodeId, NodeId)>> {
    let line = || (1..nodes).map(|b| (NodeId(b - 1), NodeId(b)));
    let one = match topology {
        Topology::All => return connected(nodes),
        Topology::Complete => pairs(nodes).collect(),
        Topology::Line => line().collect(),
        // Two nodes have one link, which is no ring, and serves as well.
        Topology::Ring => line().chain((nodes > 2).then(|| (NodeId(0), NodeId(nodes - 1)))).collect(),
        Topology::Star => (1..nodes).map(|b| (NodeId(0), NodeId(b))).collect(),
    };
    vec![one]
}

fn pairs(nodes: u32) -> impl Iterator<Item = (NodeId, NodeId)> {
    (0..nodes).flat_map(|b| (0..b).map(move |a| (NodeId(a), NodeId(b))))
}

/// All connected graphs with these nodes, those with fewer links first.
fn connected(nodes: u32) -> Vec<Vec<(NodeId, NodeId)>> {
    let pairs: Vec<_> = pairs(nodes).collect();
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
        let count = |nodes| topologies(Topology::All, nodes).len();
        assert_eq!((count(1), count(2), count(3), count(4), count(5)), (1, 1, 4, 38, 728));
    }

    #[test]
    fn named_topologies_have_the_links_that_one_expects() {
        let count = |topology| topologies(topology, 4)[0].len();
        assert_eq!((count(Topology::Complete), count(Topology::Line)), (6, 3));
        assert_eq!((count(Topology::Ring), count(Topology::Star)), (4, 3));
        assert_eq!(topologies(Topology::Ring, 2), topologies(Topology::Line, 2));
    }
}

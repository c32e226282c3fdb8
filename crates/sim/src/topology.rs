//! The paper's graphs: connected, random, and changing one link at a time.

use driftlock_protocol::NodeId;
use driftlock_protocol::ideal::Links;
use rand::RngExt;

use crate::random::Stream;

/// How many links are possible among `nodes` nodes.
pub fn possible_links(nodes: u32) -> u64 {
    u64::from(nodes) * u64::from(nodes.saturating_sub(1)) / 2
}

/// How many links make up this share of the possible ones.
pub fn links_at(nodes: u32, connectivity: f64) -> u64 {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a share of a u64
    let links = (connectivity * possible_links(nodes) as f64).round() as u64;
    links
}

/// A random connected graph with so many links: a uniformly random spanning tree, filled up with random links.
pub fn random_connected(nodes: u32, link_count: u64, stream: &mut Stream) -> Vec<(NodeId, NodeId)> {
    let mut graph = Links::among(nodes);
    let mut links = random_tree(nodes, stream);
    for &(a, b) in &links {
        graph.form(a, b);
    }
    while (links.len() as u64) < link_count.min(possible_links(nodes)) {
        if let Some((a, b)) = random_absent(&graph, nodes, None, stream) {
            graph.form(a, b);
            links.push((a, b));
        }
    }
    links
}

/// A random walk over all nodes; the steps that reach a node for the first time form a uniformly random tree.
fn random_tree(nodes: u32, stream: &mut Stream) -> Vec<(NodeId, NodeId)> {
    let mut reached = vec![false; nodes as usize];
    let mut at = 0;
    reached[at] = true;
    let mut links = Vec::new();
    while links.len() + 1 < nodes as usize {
        let to = stream.random_range(0..nodes);
        if !reached[to as usize] {
            reached[to as usize] = true;
            #[allow(clippy::cast_possible_truncation)] // an index below `nodes`
            links.push((NodeId(at as u32), NodeId(to)));
        }
        at = to as usize;
    }
    links
}

/// A random pair of nodes without a link, other than `except`, if there is one.
pub fn random_absent(
    links: &Links,
    nodes: u32,
    except: Option<(NodeId, NodeId)>,
    stream: &mut Stream,
) -> Option<(NodeId, NodeId)> {
    let excluded = except.map_or(0, |(a, b)| u64::from(!links.is_up(a, b)));
    if links.count() as u64 + excluded >= possible_links(nodes) {
        return None;
    }
    loop {
        let (a, b) = (NodeId(stream.random_range(0..nodes)), NodeId(stream.random_range(0..nodes)));
        let pair = (a.min(b), a.max(b));
        if a != b && !links.is_up(a, b) && Some(pair) != except {
            return Some(pair);
        }
    }
}

/// A random link that may go, if there is one.
pub fn random_removable(
    links: &Links,
    may_go: impl Fn(NodeId, NodeId) -> bool,
    stream: &mut Stream,
) -> Option<(NodeId, NodeId)> {
    let mut candidates: Vec<_> = links.iter().collect();
    while !candidates.is_empty() {
        let (a, b) = candidates.swap_remove(stream.random_range(0..candidates.len()));
        if may_go(a, b) {
            return Some((a, b));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Subject, stream};

    #[test]
    fn random_graphs_are_connected_and_have_the_links_asked_for() {
        for seed in 0..50 {
            let mut stream = stream(seed, 0, Subject::Topology);
            for (nodes, connectivity) in [(1, 0.0), (2, 1.0), (30, 0.1), (30, 0.8), (12, 1.0)] {
                let count = links_at(nodes, connectivity);
                let links = random_connected(nodes, count, &mut stream);
                assert_eq!(links.len() as u64, count);
                let mut graph = Links::among(nodes);
                for (a, b) in links {
                    graph.form(a, b);
                }
                assert!(graph.connected_without(None));
            }
        }
    }

    #[test]
    fn the_papers_connectivities_are_the_papers_link_counts() {
        assert_eq!(possible_links(30), 435);
        assert_eq!([0.1, 0.2, 0.8].map(|share| links_at(30, share)), [44, 87, 348]);
    }

    #[test]
    fn a_complete_graph_has_no_absent_link() {
        let mut graph = Links::among(3);
        let mut stream = stream(1, 0, Subject::Topology);
        graph.form(NodeId(0), NodeId(1));
        graph.form(NodeId(0), NodeId(2));
        let last = (NodeId(1), NodeId(2));
        assert_eq!(random_absent(&graph, 3, Some(last), &mut stream), None);
        assert_eq!(random_absent(&graph, 3, None, &mut stream), Some(last));
    }
}

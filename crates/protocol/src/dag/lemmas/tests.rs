//! Nodes whose view of a link is wrong, and nodes whose view may be wrong for a while.

use alloc::vec;
use alloc::vec::Vec;

use super::*;
use crate::{Deployment, NodeId};

/// Three nodes in a line, the first of which holds a token: heights 0 < 1 < 2.
fn line() -> Vec<Dag> {
    let links = vec![(NodeId(0), NodeId(1)), (NodeId(1), NodeId(2))];
    Dag::deploy(&Deployment { nodes: 3, k: 1, links, ..Deployment::default() }, |id| id.0 == 0, None).collect()
}

fn judged(dags: &[Dag], flights: &[(u32, u32)]) -> Verdict {
    let flights: Vec<_> =
        flights.iter().map(|&(from, to)| Flight { from: NodeId(from), to: NodeId(to), message: &() }).collect();
    directions_agree(&dags.iter().collect::<Vec<_>>(), |dag| dag, &flights)
}

#[test]
fn a_node_without_a_lower_neighbour_has_no_way_out() {
    let mut dags = line();
    assert!(has_a_way_out(&dags[0]).is_err(), "it is the lowest");
    assert_eq!([has_a_way_out(&dags[1]), has_a_way_out(&dags[2])], [Ok(()), Ok(())]);
    dags[1].neighbours[0].height.h1 = 1;
    assert!(has_a_way_out(&dags[1]).is_err());
    dags[1].pace.paused = true;
    assert_eq!(has_a_way_out(&dags[1]), Ok(()), "it will go on");
    dags[0].neighbours.clear();
    assert_eq!(has_a_way_out(&dags[0]), Ok(()), "it has no neighbours");
}

#[test]
fn both_ends_of_a_link_know_its_direction_unless_word_of_it_is_in_flight() {
    let mut dags = line();
    assert_eq!(judged(&dags, &[]), Ok(()));
    // Node 1 takes node 2 for lower than itself.
    dags[1].neighbours[1].height.h1 = -1;
    let wrong = Err("node 1 has the direction of its link to 2 wrong".into());
    assert_eq!(judged(&dags, &[]), wrong);
    assert_eq!([judged(&dags, &[(1, 2)]), judged(&dags, &[(2, 1)])], [Ok(()), Ok(())]);
    assert_eq!([judged(&dags, &[(0, 1)]), judged(&dags, &[(2, 0)])], [wrong.clone(), wrong], "that is another link");
    dags[1].neighbours[1].known = false;
    assert_eq!(judged(&dags, &[]), Ok(()), "it does not go by it yet");
}

#[test]
fn nobody_stands_higher_than_it_has_told() {
    let mut dags = line();
    dags[1].neighbours[1].told.h1 = -1;
    assert_eq!(judged(&dags, &[(1, 2), (2, 1)]), Err("node 1 stands higher than it has told 2".into()));
    dags[1].neighbours[1].told.h1 = 1;
    assert_eq!(judged(&dags, &[]), Ok(()), "lower it may stand");
}

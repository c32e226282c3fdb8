//! Random walks: in each, everybody who asks is served, and the same seed makes the same walks.

use std::ops::ControlFlow;

use driftlock_check::{Bound, Model, Setup, Topology, Walked, topologies, walk};
use driftlock_protocol::ideal::{FAILURES, FORMATIONS};
use driftlock_protocol::krl::{Forwarding, Krl, Variant};
use driftlock_protocol::{Deployment, Repairs};

const WALKS: u64 = 200;

/// Three nodes in a line share one unit, each asks twice, and links change twice each way.
fn walked(seed: u64, repairs: Repairs, pace: &(dyn Fn(u64) -> ControlFlow<()> + Sync)) -> Walked {
    let links = topologies(Topology::Line, 3).remove(0);
    let mut setup = Setup::still(Deployment { nodes: 3, k: 1, links, ..Deployment::default() }, Bound::Most(2));
    setup.allow([(&FAILURES, Bound::Most(2)), (&FORMATIONS, Bound::Most(2))]);
    let model = Model::<Krl>::new(setup, Variant::new(Forwarding::Off), repairs).unwrap();
    walk(&model, seed, 0..WALKS, pace)
}

#[test]
fn every_request_of_every_walk_is_granted_once() {
    let still = {
        let links = topologies(Topology::Complete, 3).remove(0);
        let setup = Setup::still(Deployment { nodes: 3, k: 2, links, ..Deployment::default() }, Bound::Most(2));
        let model = Model::<Krl>::new(setup, Variant::new(Forwarding::Off), Repairs::ALL).unwrap();
        walk(&model, 1, 0..WALKS, &|_| ControlFlow::Continue(()))
    };
    assert_eq!((still.violation, still.walks, still.grants), (None, WALKS, WALKS * 6));
    // A request, a message or none, a grant and a release are steps each.
    assert!(still.steps > WALKS * 12);
}

#[test]
fn the_same_seed_makes_the_same_walks_and_another_makes_others() {
    let steps = |seed| {
        let walked = walked(seed, Repairs::ALL, &|_| ControlFlow::Continue(()));
        assert_eq!(walked.violation, None);
        walked.steps
    };
    assert_eq!(steps(1), steps(1));
    assert_ne!(steps(1), steps(2));
}

#[test]
fn without_its_repairs_krl_goes_wrong_on_some_walk() {
    let walked = walked(1, Repairs::NONE, &|_| ControlFlow::Continue(()));
    assert!(walked.violation.is_some() && walked.walks <= WALKS);
}

#[test]
fn walks_end_when_there_were_enough() {
    let walked =
        walked(1, Repairs::ALL, &|made| if made < 10 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) });
    assert_eq!((walked.walks, walked.violation), (10, None));
}

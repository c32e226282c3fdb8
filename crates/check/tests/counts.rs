//! Exact numbers of states of small configurations. They change only when an algorithm, the model or what counts as the
//! same state changes; then look at the difference, and write the new numbers down.

use driftlock_check::{Bound, Effort, Pace, Property, Report, Setup, Topology, check, topologies};
use driftlock_protocol::{Algorithm, Deployment, LinkEvent, Protocol, Repairs, Visitor};

/// Algorithm, nodes, units, links, requests a node, link failures and as many formations.
type Configuration = (&'static str, u32, u32, Topology, u8, u8);

struct Count(Setup, usize);

impl Visitor for Count {
    type Output = Report;

    fn visit<P: Protocol<View = LinkEvent>>(self, variant: P::Variant) -> Report {
        let effort = Effort { threads: self.1, liveness: true };
        check::<P>(&self.0, variant, Repairs::ALL, effort, &mut |_| Pace::On).unwrap()
    }
}

fn explored((tag, nodes, k, topology, requests, changes): Configuration, threads: usize) -> Report {
    let links = topologies(topology, nodes).remove(0);
    let mut setup = Setup::still(Deployment { nodes, k, links }, Bound::Most(requests));
    (setup.failures, setup.formations) = (Bound::Most(changes), Bound::Most(changes));
    let report = Algorithm::named(tag).unwrap().visit(Count(setup, threads));
    assert_eq!(report.violation, None, "{tag}, {nodes} nodes, k = {k}, {topology:?}");
    assert!(report.exhaustive && report.liveness);
    assert_eq!(report.witnessed.granted.len(), nodes as usize, "everybody is granted in some state");
    assert!(report.witnessed.all_in_use);
    report
}

/// States, transitions and depth.
#[rustfmt::skip]
const TABLE: &[(Configuration, (u64, u64, u32))] = &[
    (("krl", 3, 1, Topology::Line, 1, 0), (369, 855, 21)),
    (("krl", 3, 1, Topology::Complete, 1, 0), (752, 1_846, 21)),
    (("krl", 3, 1, Topology::Complete, 2, 0), (30_738, 98_248, 39)),
    (("krl", 3, 2, Topology::Complete, 2, 0), (22_403, 77_430, 48)),
    (("krl", 4, 1, Topology::Ring, 1, 0), (7_758, 24_824, 34)),
    (("krl", 4, 2, Topology::Complete, 1, 0), (62_662, 301_498, 45)),
    (("krl", 4, 3, Topology::Line, 2, 0), (57_683, 261_227, 42)),
    (("krl", 3, 1, Topology::Line, 1, 1), (131_816, 402_510, 38)),
    (("krl", 3, 2, Topology::Complete, 1, 1), (56_127, 204_378, 30)),
    (("krl", 3, 1, Topology::Complete, 1, 1), (416_186, 1_519_386, 48)),
    (("rl", 3, 1, Topology::Line, 1, 1), (131_816, 402_510, 38)),
    (("krlf", 3, 1, Topology::Line, 1, 0), (3_168, 7_788, 34)),
    (("krlf", 3, 1, Topology::Complete, 1, 0), (49_212, 143_040, 43)),
    (("krlf", 3, 2, Topology::Line, 1, 0), (34_807, 89_764, 53)),
    (("krlf-adaptive", 3, 1, Topology::Complete, 1, 0), (1_848, 4_318, 21)),
    (("krlf-adaptive", 3, 2, Topology::Line, 1, 1), (87_977, 267_655, 40)),
];

#[test]
fn every_small_configuration_holds_and_has_as_many_states_as_ever() {
    for &(configuration, expected) in TABLE {
        let report = explored(configuration, 2);
        assert_eq!((report.states, report.transitions, report.depth), expected, "{configuration:?}");
    }
}

#[test]
fn the_numbers_do_not_depend_on_the_number_of_threads() {
    for configuration in [("krl", 3, 2, Topology::Complete, 1, 1), ("krlf", 3, 2, Topology::Line, 1, 0)] {
        let numbers = |threads| {
            let report = explored(configuration, threads);
            (report.states, report.transitions, report.depth, report.cut, report.spread)
        };
        assert_eq!(numbers(1), numbers(3));
    }
}

#[test]
fn krl_comes_to_rest_and_krlf_keeps_its_token_moving() {
    let calm = |tag: &str| {
        let links = topologies(Topology::Line, 3).remove(0);
        let mut setup = Setup::still(Deployment { nodes: 3, k: 1, links }, Bound::Most(1));
        setup.properties = setup.properties.with(Property::Calm);
        Algorithm::named(tag).unwrap().visit(Count(setup, 1)).violation.is_none()
    };
    assert!(calm("krl"));
    assert!(!calm("krlf"));
}

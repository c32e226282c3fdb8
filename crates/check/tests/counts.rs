//! Exact numbers of states of small configurations. They change only when an algorithm, the model or what counts as the
//! same state changes; then look at the difference, and write the new numbers down.

use std::fmt::Debug;
use std::ops::ControlFlow;

use driftlock_check::{Bound, Effort, Report, Setup, Topology, check, topologies};
use driftlock_protocol::ideal::Fate;
use driftlock_protocol::ideal::{FAILURES, FORMATIONS, JOINS, LEAVES};
use driftlock_protocol::{
    Algorithm, Deadline, Demand, Deployment, NodeId, Priority, Protocol, Repairs, Units, Visitor,
};

/// Algorithm, nodes, units, links, requests a node, link failures and as many formations.
type Configuration = (&'static str, u32, u32, Topology, u8, u8);

struct Count(Setup, usize);

impl Visitor for Count {
    type Output = Report;

    fn visit<P: Protocol>(self, variant: P::Variant) -> Report {
        let effort = Effort { threads: self.1, liveness: true };
        check::<P>(&self.0, variant, Repairs::ALL, effort, &mut |_| ControlFlow::Continue(())).unwrap()
    }
}

fn explored(configuration: Configuration, threads: usize) -> Report {
    explored_with(configuration, threads, |_| {})
}

/// With what is not as usual.
fn explored_with(
    (tag, nodes, k, topology, requests, changes): Configuration,
    threads: usize,
    unusual: impl FnOnce(&mut Setup),
) -> Report {
    let links = topologies(topology, nodes).remove(0);
    let mut setup = Setup::still(Deployment { nodes, k, links, ..Deployment::default() }, Bound::Most(requests));
    setup.allow([(&FAILURES, Bound::Most(changes)), (&FORMATIONS, Bound::Most(changes))]);
    setup.spread = setup.usual_spread();
    unusual(&mut setup);
    let report = Algorithm::named(tag).unwrap().visit(Count(setup, threads));
    assert_eq!(report.violation, None, "{tag}, {nodes} nodes, k = {k}, {topology:?}");
    assert!(report.exhaustive && report.liveness);
    assert_eq!(report.witnessed.granted.len(), nodes as usize, "everybody is granted in some state");
    assert!(report.witnessed.all_in_use);
    report
}

/// States, transitions, depth, and transitions that were not followed because heights would lie too far apart.
type Numbers = (u64, u64, u32, u64);

#[rustfmt::skip]
const TABLE: &[(Configuration, Numbers)] = &[
    (("krl", 3, 1, Topology::Line, 1, 0), (369, 855, 21, 0)),
    (("krl", 3, 1, Topology::Complete, 1, 0), (752, 1_846, 21, 0)),
    (("krl", 3, 1, Topology::Complete, 2, 0), (35_724, 114_578, 42, 0)),
    (("krl", 3, 2, Topology::Complete, 2, 0), (22_403, 77_430, 48, 0)),
    (("krl", 4, 1, Topology::Ring, 1, 0), (10_470, 34_394, 37, 0)),
    (("krl", 4, 2, Topology::Complete, 1, 0), (62_662, 301_498, 45, 0)),
    (("krl", 4, 3, Topology::Line, 2, 0), (57_839, 261_859, 42, 0)),
    (("krl", 3, 1, Topology::Line, 1, 1), (131_816, 402_510, 38, 5_600)),
    (("krl", 3, 2, Topology::Complete, 1, 1), (56_127, 204_378, 30, 0)),
    (("krl", 3, 1, Topology::Complete, 1, 1), (416_186, 1_519_386, 48, 2_787)),
    (("krl", 3, 2, Topology::Line, 2, 1), (899_434, 3_438_079, 50, 19_077)),
    (("rl", 3, 1, Topology::Line, 1, 1), (131_816, 402_510, 38, 5_600)),
    (("krlf", 3, 1, Topology::Line, 1, 0), (3_270, 8_052, 34, 0)),
    (("krlf", 3, 1, Topology::Complete, 1, 0), (179_437, 551_689, 73, 0)),
    (("krlf", 3, 2, Topology::Line, 1, 0), (36_495, 93_996, 53, 0)),
    (("krlf", 3, 1, Topology::Line, 1, 1), (1_246_558, 3_893_985, 61, 102_153)),
    (("krlf-adaptive", 3, 1, Topology::Complete, 1, 0), (1_848, 4_318, 21, 0)),
    (("krlf-adaptive", 3, 2, Topology::Line, 1, 1), (87_977, 267_655, 40, 2_473)),
];

fn numbers(report: &Report) -> Numbers {
    (report.states, report.transitions, report.depth, report.cut)
}

/// Takes configurations with what was found and what was expected. All are explored before any numbers are compared,
/// because a violation says more than another number of states.
fn compare<C: Debug, N: Debug + PartialEq>(explored: impl Iterator<Item = (C, N, N)>) {
    let changed: Vec<_> = explored.filter(|(_, found, expected)| found != expected).collect();
    assert!(changed.is_empty(), "configuration, found, expected: {changed:#?}");
}

/// Every configuration of a table holds and has as many states as ever.
fn check_table(table: &[(Configuration, Numbers)], unusual: impl Fn(&mut Setup)) {
    compare(table.iter().map(|&(configuration, expected)| {
        let report = explored_with(configuration, 2, &unusual);
        (configuration, numbers(&report), expected)
    }));
}

#[test]
fn every_small_configuration_holds_and_has_as_many_states_as_ever() {
    check_table(TABLE, |_| {});
}

/// The same where permits on a failing link arrive late, from a former neighbour.
#[rustfmt::skip]
const LATE: &[(Configuration, Numbers)] = &[
    (("krl", 3, 1, Topology::Line, 1, 1), (334_484, 1_069_773, 45, 21_418)),
    (("krl", 3, 1, Topology::Complete, 1, 1), (476_967, 1_733_340, 52, 839)),
    (("krl", 3, 2, Topology::Complete, 1, 1), (79_435, 284_355, 31, 0)),
    (("krlf-adaptive", 3, 2, Topology::Line, 1, 1), (96_469, 302_665, 43, 2_628)),
    (("hok", 3, 1, Topology::Line, 1, 1), (1_979_618, 6_284_800, 55, 134_777)),
];

#[test]
fn permits_may_arrive_late_from_former_neighbours() {
    check_table(LATE, |setup| setup.fate = Fate::Settled);
}

/// The same where an idle token rests at each node before it is sent on.
#[rustfmt::skip]
const OVER_RADIOS: &[(Configuration, Numbers)] = &[
    (("krlf", 3, 1, Topology::Line, 1, 0), (10_177, 29_797, 52, 0)),
    (("krlf", 3, 1, Topology::Complete, 1, 0), (720_471, 2_527_662, 109, 0)),
    (("krlf", 3, 2, Topology::Line, 1, 0), (1_786_181, 6_197_270, 90, 0)),
];

#[test]
fn idle_tokens_may_rest_at_each_node_for_any_time() {
    check_table(OVER_RADIOS, |setup| setup.over_radios = true);
}

/// Units, priority, deadline.
type Asked = (u32, u32, u64);

const PLAIN: Asked = (1, 0, 0);

#[rustfmt::skip]
const SEVERAL: &[(Configuration, &[Asked], Numbers)] = &[
    (("hok", 3, 3, Topology::Line, 1, 0), &[(1, 0, 0), (2, 0, 0), (3, 0, 0)], (22_952, 62_856, 25, 0)),
    (("hok", 3, 3, Topology::Complete, 1, 0), &[(1, 0, 0), (2, 0, 0), (3, 0, 0)], (90_914, 305_636, 23, 0)),
    (("hok", 3, 2, Topology::Complete, 1, 0), &[PLAIN, (1, 1, 0)], (18_163, 61_591, 22, 0)),
    (("hok", 3, 1, Topology::Line, 2, 0), &[PLAIN], (26_404, 68_461, 43, 0)),
    (("hok", 3, 1, Topology::Line, 1, 1), &[PLAIN], (325_423, 977_544, 45, 14_984)),
    (("hok-strict", 3, 2, Topology::Line, 1, 0), &[PLAIN, (1, 1, 0), (2, 0, 0), (2, 1, 0)], (20_519, 56_955, 28, 0)),
    (("hok-fewest", 3, 2, Topology::Complete, 1, 0), &[PLAIN, (2, 0, 0)], (34_828, 115_148, 30, 0)),
    (("hok-edf", 3, 1, Topology::Complete, 1, 0), &[(1, 0, 1), (1, 0, 2)], (10_655, 31_625, 30, 0)),
    (("hok-fcfs", 3, 2, Topology::Complete, 1, 0), &[PLAIN, (2, 0, 0)], (22_012, 70_904, 22, 0)),
    (("hok-fcfs", 3, 1, Topology::Complete, 1, 1), &[PLAIN], (412_397, 1_436_045, 58, 938)),
];

#[test]
fn requests_for_several_units_are_granted_whole_and_nobody_is_forgotten() {
    let demand = |&(units, priority, deadline): &Asked| Demand {
        units: Units::new(units).unwrap(),
        priority: Priority(priority),
        deadline: Deadline(deadline),
    };
    compare(SEVERAL.iter().map(|&(configuration, asked, expected)| {
        let report = explored_with(configuration, 2, |setup| setup.demands = asked.iter().map(demand).collect());
        (configuration, numbers(&report), expected)
    }));
}

/// Nodes, how many of them outside, units; requests a node, leavings, enterings; states, transitions, depth.
type Churned = ([u32; 3], [u8; 3], (u64, u64, u32));

#[rustfmt::skip]
const NEIGHBOURHOODS: &[Churned] = &[
    ([3, 0, 1], [1, 0, 0], (2_716, 7_764, 21)),
    ([3, 0, 2], [1, 0, 0], (3_794, 10_215, 21)),
    ([2, 0, 1], [1, 1, 1], (723, 1_355, 21)),
    ([3, 1, 1], [1, 1, 0], (842, 2_057, 17)),
];

fn churning([nodes, outside, k]: [u32; 3], [requests, leaves, joins]: [u8; 3]) -> Setup {
    let members = (0..nodes - outside).map(NodeId).collect();
    let mut setup = Setup::still(Deployment { nodes, k, members, ..Deployment::default() }, Bound::Most(requests));
    setup.allow([(&LEAVES, Bound::Most(leaves)), (&JOINS, Bound::Most(joins))]);
    setup
}

fn held(setup: Setup) -> Report {
    let report = Algorithm::named("klme").unwrap().visit(Count(setup, 2));
    assert_eq!(report.violation, None);
    assert!(report.exhaustive && report.liveness && report.undecided == 0);
    assert!(report.witnessed.all_in_use && report.witnessed.quiet);
    report
}

#[test]
fn klme_holds_while_nodes_come_and_go() {
    compare(NEIGHBOURHOODS.iter().map(|&(sizes, events, expected)| {
        let report = held(churning(sizes, events));
        ((sizes, events), (report.states, report.transitions, report.depth), expected)
    }));
}

/// Units, requests a node, requests in all; states, transitions, depth.
type Crossed = (u32, [u8; 2], (u64, u64, u32));

#[rustfmt::skip]
const ONE_LEAVES_AND_ONE_ENTERS: &[Crossed] = &[
    (1, [1, 3], (738_936, 2_720_989, 38)),
    (2, [1, 3], (1_097_109, 3_962_854, 38)),
    (2, [2, 2], (133_859, 438_266, 31)),
];

#[test]
fn klme_holds_while_one_of_three_nodes_leaves_and_one_enters() {
    compare(ONE_LEAVES_AND_ONE_ENTERS.iter().map(|&(k, [requests, in_all], expected)| {
        let setup = Setup { requests_in_all: Bound::Most(in_all), ..churning([3, 0, k], [requests, 1, 1]) };
        let report = held(setup);
        ((k, [requests, in_all]), (report.states, report.transitions, report.depth), expected)
    }));
}

#[test]
fn the_numbers_do_not_depend_on_the_number_of_threads() {
    for configuration in [
        ("krl", 3, 2, Topology::Complete, 1, 1),
        ("krlf", 3, 2, Topology::Line, 1, 0),
        ("hok", 3, 1, Topology::Complete, 1, 0),
    ] {
        let found = |threads| {
            let report = explored(configuration, threads);
            (numbers(&report), report.spread)
        };
        assert_eq!(found(1), found(3));
    }
}

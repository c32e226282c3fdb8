//! Setups that make no sense are refused for what is wrong with them, and those at the limit are not.

use std::time::Duration;

use driftlock_check::{Bound, DEMANDS_MAX, EVENTS_MAX, Model, Properties, Property, Setup, SetupError, Timing};
use driftlock_protocol::ideal::{CRASHES, FAILURES, FORMATIONS, JOINS, LEAVES};
use driftlock_protocol::krl::{Forwarding, Krl, Variant};
use driftlock_protocol::{Demand, Deployment, NodeId, Repairs, Units};

/// Nodes 0 to 2 in a line, two units.
fn setup() -> Setup {
    let links = vec![(NodeId(0), NodeId(1)), (NodeId(1), NodeId(2))];
    Setup::still(Deployment { nodes: 3, k: 2, links, ..Deployment::default() }, Bound::Most(1))
}

fn with(change: impl FnOnce(&mut Setup)) -> Result<(), SetupError> {
    let mut setup = setup();
    change(&mut setup);
    let model = Model::<Krl>::new(setup.clone(), Variant::new(Forwarding::Off), Repairs::ALL).err();
    assert_eq!(setup.validate().err().or(model.clone()), model, "nothing is explored that is not valid");
    model.map_or(Ok(()), Err)
}

fn with_links(links: &[(u32, u32)]) -> Result<(), SetupError> {
    with(|setup| setup.deployment.links = links.iter().map(|&(a, b)| (NodeId(a), NodeId(b))).collect())
}

#[test]
fn there_are_one_to_eight_nodes_and_units() {
    for (count, fits) in [(0, false), (1, true), (8, true), (9, false)] {
        let nodes = with(|setup| (setup.deployment.nodes, setup.deployment.links) = (count, vec![]));
        assert_eq!(nodes, if fits { Ok(()) } else { Err(SetupError::Nodes(count)) });
        let units = with(|setup| setup.deployment.k = count);
        assert_eq!(units, if fits { Ok(()) } else { Err(SetupError::Units(count)) });
    }
}

#[test]
fn every_link_and_every_member_is_there_once_and_exists() {
    let [zero, one, two, three] = [0, 1, 2, 3].map(NodeId);
    assert_eq!(with_links(&[(0, 1), (2, 1), (0, 2)]), Ok(()));
    assert_eq!(with_links(&[(0, 1), (1, 1)]), Err(SetupError::Link(one, one)));
    assert_eq!(with_links(&[(0, 3)]), Err(SetupError::Link(zero, three)));
    assert_eq!(with_links(&[(3, 0)]), Err(SetupError::Link(three, zero)));
    assert_eq!(with_links(&[(0, 1), (2, 1), (0, 1)]), Err(SetupError::Link(zero, one)));
    assert_eq!(with_links(&[(0, 1), (2, 1), (1, 2)]), Err(SetupError::Link(one, two)));
    assert_eq!(with(|setup| setup.deployment.members = vec![zero, two]), Ok(()));
    assert_eq!(with(|setup| setup.deployment.members = vec![three]), Err(SetupError::Member(three)));
    assert_eq!(with(|setup| setup.deployment.members = vec![one, two, one]), Err(SetupError::Member(one)));
}

#[test]
fn there_is_something_to_ask_for_and_nobody_asks_for_more_than_there_is() {
    for (count, fits) in [(0, false), (1, true), (DEMANDS_MAX, true), (DEMANDS_MAX + 1, false)] {
        let asked = with(|setup| setup.demands = vec![Demand::ONE; count]);
        assert_eq!(asked, if fits { Ok(()) } else { Err(SetupError::Demands(count)) });
    }
    let asks = |units| {
        with(|setup| setup.demands = vec![Demand::ONE, Demand { units: Units::new(units).unwrap(), ..Demand::ONE }])
    };
    assert_eq!(asks(2), Ok(()));
    assert_eq!(asks(3), Err(SetupError::Demand { asked: 3, k: 2 }));
}

#[test]
fn every_bound_fits_or_is_none_at_all() {
    let bounds: [fn(&mut Setup, Bound); 11] = [
        |setup, bound| setup.requests = bound,
        |setup, bound| setup.requests_in_all = bound,
        |setup, bound| setup.cancels = bound,
        |setup, bound| setup.allow([(&FAILURES, bound)]),
        |setup, bound| setup.allow([(&FORMATIONS, bound)]),
        |setup, bound| setup.allow([(&JOINS, bound)]),
        |setup, bound| setup.allow([(&LEAVES, bound)]),
        |setup, bound| setup.allow([(&CRASHES, bound)]),
        |setup, bound| setup.losses = bound,
        |setup, bound| setup.overtakes = bound,
        |setup, bound| setup.lateness = bound,
    ];
    for set in bounds {
        assert_eq!(with(|setup| set(setup, Bound::Any)), Ok(()));
        assert_eq!(with(|setup| set(setup, Bound::Most(EVENTS_MAX))), Ok(()));
        let above = EVENTS_MAX + 1;
        assert_eq!(with(|setup| set(setup, Bound::Most(above))), Err(SetupError::TooMany(above)));
    }
}

#[test]
fn a_tick_takes_some_time_and_pauses_are_bounded_too() {
    let timed = |tick, pauses| with(|setup| setup.timing = Timing::Timed { tick, drift: 0, pauses });
    let second = Duration::from_secs(1);
    assert_eq!(timed(second, EVENTS_MAX), Ok(()));
    assert_eq!(timed(Duration::ZERO, 0), Err(SetupError::NoTick));
    assert_eq!(timed(second, EVENTS_MAX + 1), Err(SetupError::TooMany(EVENTS_MAX + 1)));
}

#[test]
fn a_network_that_is_to_stay_connected_is_so_at_the_start() {
    let with_links = |links: &[(u32, u32)], connected| {
        with(|setup| {
            setup.deployment.links = links.iter().map(|&(a, b)| (NodeId(a), NodeId(b))).collect();
            setup.connected = connected;
        })
    };
    assert_eq!(with_links(&[(2, 1), (1, 0)], true), Ok(()));
    assert_eq!(with_links(&[(0, 1)], true), Err(SetupError::NotConnected));
    assert_eq!(with_links(&[(1, 2)], true), Err(SetupError::NotConnected));
    assert_eq!(with_links(&[(0, 1)], false), Ok(()));
}

#[test]
fn the_heights_at_the_start_lie_within_the_limit() {
    let spread = |spread| with(|setup| (setup.deployment.k, setup.spread) = (1, spread));
    // Node 0 has the token, and node 2 is two hops away.
    assert_eq!(spread(2), Ok(()));
    assert_eq!(spread(1), Err(SetupError::Spread(2)));
}

#[test]
fn heights_are_limited_where_they_could_drift_apart_for_ever() {
    let spread = |nodes: u32, change: fn(&mut Setup)| {
        let mut setup = setup();
        setup.deployment.nodes = nodes;
        change(&mut setup);
        setup.usual_spread()
    };
    assert_eq!(spread(3, |_| {}), u64::MAX);
    assert_eq!(spread(3, |setup| setup.allow([(&JOINS, Bound::Most(1)), (&LEAVES, Bound::Most(1))])), u64::MAX);
    assert_eq!(spread(4, |setup| setup.allow([(&FAILURES, Bound::Most(1))])), 9, "three for each hop");
    assert_eq!(spread(4, |setup| setup.allow([(&FORMATIONS, Bound::Most(1))])), 9);
    assert_eq!(spread(3, |setup| setup.allow([(&JOINS, Bound::Any)])), 6);
    assert_eq!(spread(3, |setup| setup.allow([(&LEAVES, Bound::Any)])), 6);
    assert_eq!(spread(2, |setup| setup.requests = Bound::Any), 6, "and no less than that");
}

#[test]
fn properties_are_a_set() {
    let calm = Properties::USUAL.with(Property::Calm);
    for property in Property::ALL {
        assert_eq!(Properties::USUAL.has(property), property != Property::Calm);
        assert!(calm.has(property) && !calm.without(property).has(property));
        assert_eq!(calm.without(property).with(property), calm);
    }
}

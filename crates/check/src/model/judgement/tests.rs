//! States put together by hand: what each judge says of them, and what it does not say.

use std::time::Duration;

use driftlock_protocol::ideal::{Change, LEAVES};
use driftlock_protocol::{Crossing, LinkEvent, NodeId, Permits, View};
use driftlock_spec::Violation;

use crate::model::{ALL_IN_USE, QUIET};
use crate::parts::Stimulus;
use crate::puppet::{Puppet, Scene, unit};
use crate::{Property, Timing};

const BOTH: fn() -> Permits = || Permits::first(2);

impl<V: View> Scene<V> {
    /// Who is owed a grant if everybody leaves the CS in time, and if nobody ever does.
    fn owed(&self) -> (Vec<u32>, Vec<u32>) {
        let nodes = |set: u8| (0..8).filter(|node| set >> node & 1 == 1).collect();
        (nodes(self.model.owed_if(&self.state, true)), nodes(self.model.owed_if(&self.state, false)))
    }

    fn units_in_use(&self) -> Result<(), Violation> {
        self.model.units_in_use(&self.state)
    }

    fn is_quiet(&self) -> bool {
        self.model.is_quiet(&self.state)
    }

    /// Of a scene with three nodes.
    fn witnesses(&self) -> Vec<u32> {
        [0, 1, 2, QUIET, ALL_IN_USE].into_iter().filter(|&bit| self.is_witness(bit)).collect()
    }

    fn is_witness(&self, bit: u32) -> bool {
        self.model.is_witness(&self.state, bit)
    }
}

#[test]
fn two_users_of_one_unit_are_seen_while_other_units_are_free() {
    let mut scene = Scene::<LinkEvent>::new(3, 3);
    scene.seat(0, Puppet::bare().entering(unit(1)), 1);
    scene.seat(1, Puppet::bare().entering(unit(0)), 1);
    assert_eq!(scene.units_in_use(), Ok(()));
    scene.seat(2, Puppet::bare().entering(unit(1)), 1);
    let found = Violation::PermitInUse { permits: unit(1), node: NodeId(2) };
    assert_eq!(scene.units_in_use(), Err(found.clone()));
    assert_eq!(scene.model.verdict(&scene.state), Err(found), "it comes before what is wrong with the permits held");
}

#[test]
fn more_units_than_there_are_may_not_be_in_use() {
    let mut scene = Scene::<LinkEvent>::new(2, 2);
    scene.seat(0, Puppet::bare().entering(BOTH()), 2);
    assert_eq!(scene.units_in_use(), Ok(()));
    scene.seat(1, Puppet::bare().entering(unit(1)), 1);
    assert_eq!(scene.units_in_use(), Err(Violation::TooManyInUse { in_use: 3, k: 2, node: NodeId(1) }));
}

#[test]
fn a_node_with_a_due_timer_sleeps_and_uses_nothing() {
    let timed = Timing::Timed { tick: Duration::from_secs(1), drift: 0, pauses: 0 };
    let in_use = |timing: Timing, ticks: u16| {
        let mut scene = Scene::<Crossing>::with(2, 1, |setup| setup.timing = timing);
        scene.seat(0, Puppet::bare().entering(unit(0)), 1);
        scene.arm(0, ticks);
        scene.seat(1, Puppet::bare().entering(unit(0)), 1);
        scene.units_in_use().is_err()
    };
    assert!(in_use(timed, 1), "its lease still runs");
    assert!(!in_use(timed, 0));
    assert!(in_use(Timing::Untimed, 0), "without a clock no timer is ever due");
}

#[test]
fn what_a_user_keeps_serves_nobody_else() {
    let mut scene = Scene::<LinkEvent>::new(3, 2);
    scene.seat(0, Puppet::holder(BOTH()).entering(unit(0)), 1);
    scene.seat(1, Puppet::bare(), 1);
    assert_eq!(scene.owed(), (vec![1], vec![1]), "the other unit is free");
    scene.seat(1, Puppet::bare(), 2);
    assert_eq!(scene.owed(), (vec![1], vec![]), "both are free once the user has left");
}

#[test]
fn in_a_neighbourhood_whatever_is_not_in_use_is_free_for_the_leader_to_lend() {
    let mut scene = Scene::<Crossing>::new(3, 2);
    scene.seat(0, Puppet::holder(Permits::NONE), 0);
    scene.seat(1, Puppet::bare().entering(unit(0)), 1);
    scene.seat(2, Puppet::bare(), 1);
    assert_eq!(scene.owed(), (vec![2], vec![2]));
    scene.seat(2, Puppet::bare(), 2);
    assert_eq!(scene.owed(), (vec![2], vec![]));
    scene.seat(0, Puppet::bare(), 0);
    assert_eq!(scene.owed(), (vec![], vec![]), "nobody leads");
}

#[test]
fn a_part_of_the_network_serves_with_what_it_has_itself() {
    let mut scene = Scene::<LinkEvent>::new(3, 2);
    scene.seat(0, Puppet::holder(unit(0)), 0);
    scene.seat(1, Puppet::bare(), 1);
    scene.seat(2, Puppet::bare(), 1);
    scene.cut(0, 2);
    scene.cut(1, 2);
    assert_eq!(scene.owed().0, [1], "node 2 is alone and has no token");
    scene.seat(2, Puppet::holder(Permits::NONE), 1);
    assert_eq!(scene.owed().0, [1], "a token without a unit is not enough");
    scene.seat(2, Puppet::holder(unit(1)), 1);
    assert_eq!(scene.owed().0, [1, 2]);
    let mut units_without_token = Puppet::holder(unit(1));
    units_without_token.has_token = false;
    scene.seat(2, units_without_token, 1);
    assert_eq!(scene.owed().0, [1], "nor are units without a token");
}

#[test]
fn what_is_on_its_way_between_them_serves_too() {
    let mut scene = Scene::<LinkEvent>::new(3, 2);
    scene.seat(2, Puppet::bare(), 2);
    scene.send(0, 1, unit(0), true);
    assert_eq!(scene.owed().0, [0; 0]);
    scene.send(1, 0, unit(1), false);
    assert_eq!(scene.owed().0, [2]);
    let mut late = Scene::<LinkEvent>::new(3, 2);
    late.seat(2, Puppet::bare(), 1);
    late.cut(0, 2);
    late.cut(0, 1);
    late.send(0, 1, unit(0), true);
    assert_eq!(late.owed().0, [0; 0], "what comes from elsewhere is not counted before it is there");
}

#[test]
fn behind_a_request_that_can_not_be_served_nobody_is_owed_anything() {
    let mut scene = Scene::<LinkEvent>::new(3, 2);
    scene.seat(0, Puppet::holder(unit(0)), 0);
    scene.seat(1, Puppet::bare(), 2);
    scene.seat(2, Puppet::bare(), 1);
    assert_eq!(scene.owed().0, [0; 0], "the other unit is not to be had here");
    scene.step(1, Stimulus::Cancel);
    assert_eq!(scene.owed().0, [0; 0], "it is withdrawn, but stands in the queues still");
    scene.seat(1, Puppet::bare(), 1);
    assert_eq!(scene.owed().0, [1, 2]);
}

#[test]
fn who_leaves_or_is_outside_is_owed_nothing_there() {
    let mut scene = Scene::<Crossing>::new(3, 1);
    scene.seat(0, Puppet::holder(Permits::NONE), 0);
    scene.seat(1, Puppet::bare(), 1);
    scene.seat(2, Puppet::bare(), 1);
    assert_eq!(scene.owed().0, [1, 2]);
    scene.has_made(Change::at(&LEAVES, NodeId(1)));
    assert_eq!(scene.owed().0, [2]);
    scene.has_departed(2);
    assert_eq!(scene.owed().0, [0; 0]);
}

#[test]
fn grants_are_the_nodes_that_use_units() {
    let mut scene = Scene::<LinkEvent>::new(3, 2);
    assert_eq!(scene.model.grants(&scene.state), 0);
    scene.seat(1, Puppet::bare().entering(unit(0)), 1);
    scene.seat(2, Puppet::bare(), 1);
    assert_eq!(scene.model.grants(&scene.state), 0b010);
    scene.seat(2, Puppet::bare().entering(unit(1)), 1);
    assert_eq!(scene.model.grants(&scene.state), 0b110);
}

#[test]
fn it_is_quiet_when_nothing_is_under_way() {
    assert!(Scene::<LinkEvent>::new(2, 1).is_quiet());
    let mut busy = Scene::<LinkEvent>::new(2, 1);
    busy.send(1, 0, Permits::NONE, false);
    assert!(!busy.is_quiet(), "a message");
    let mut armed = Scene::<LinkEvent>::new(2, 1);
    armed.arm(1, 5);
    assert!(!armed.is_quiet(), "a timer");
    let mut paused = Scene::<LinkEvent>::new(2, 1);
    paused.pause(1);
    assert!(!paused.is_quiet(), "a node that will go on");
}

#[test]
fn it_is_quiet_while_no_more_use_units_than_may_stay() {
    let quiet = |stay: u8, users: u32| {
        let mut scene = Scene::<LinkEvent>::with(3, 3, |setup| setup.stay = stay);
        for (node, number) in (0..users).zip(0..) {
            scene.seat(node, Puppet::bare().entering(unit(number)), 1);
        }
        scene.is_quiet()
    };
    assert!(quiet(0, 0) && !quiet(0, 1));
    assert!(quiet(1, 1) && !quiet(1, 2));
}

/// Node 0 stays in the CS with one of two units, node 1 asks for so many, and nothing else goes on.
fn beside_one_who_stays(asks: u32, properties: impl FnOnce(&mut crate::Setup)) -> Result<(), Violation> {
    let mut scene = Scene::<LinkEvent>::with(2, 2, |setup| {
        setup.stay = 1;
        properties(setup);
    });
    scene.seat(0, Puppet::holder(BOTH()).entering(unit(0)), 1);
    scene.seat(1, Puppet::bare(), asks);
    scene.model.verdict(&scene.state)
}

#[test]
fn in_silence_whoever_could_be_served_beside_those_who_stay_is_starved() {
    let starved = Violation::Starved { nodes: vec![NodeId(1)] };
    assert_eq!(beside_one_who_stays(1, |_| {}), Err(starved));
    assert_eq!(beside_one_who_stays(2, |_| {}), Ok(()), "it waits for a unit that is kept");
    assert_eq!(beside_one_who_stays(0, |_| {}), Ok(()), "nobody waits");
    assert_eq!(beside_one_who_stays(1, |setup| setup.stay = 0), Ok(()), "the user will leave, so it is not the end");
    let ignored = |setup: &mut crate::Setup| setup.properties = setup.properties.without(Property::Service);
    assert_eq!(beside_one_who_stays(1, ignored), Ok(()), "service is not asked for");
}

#[test]
fn a_witness_is_absent_until_the_thing_is_the_case() {
    let mut scene = Scene::<LinkEvent>::new(3, 2);
    assert_eq!(scene.witnesses(), [QUIET]);
    scene.seat(1, Puppet::bare().entering(unit(0)), 1);
    assert_eq!(scene.witnesses(), [1], "one of two units is in use");
    scene.seat(2, Puppet::bare().entering(unit(1)), 1);
    assert_eq!(scene.witnesses(), [1, 2, ALL_IN_USE]);
}

#[test]
fn a_violation_of_what_is_not_asked_for_is_passed_over() {
    let mut scene = Scene::<LinkEvent>::new(2, 1);
    assert!(matches!(scene.model.verdict(&scene.state), Err(Violation::PermitsChanged { .. })), "nobody has the unit");
    scene.seat(0, Puppet::holder(unit(0)), 0);
    assert_eq!(scene.model.verdict(&scene.state), Ok(()));
    scene.send(0, 1, unit(0), true);
    assert!(matches!(scene.model.verdict(&scene.state), Err(Violation::PermitDoubled { .. })));
    let lenient = |setup: &mut crate::Setup| setup.properties = setup.properties.without(Property::Conservation);
    let scene = Scene::<LinkEvent>::with(2, 1, lenient);
    assert_eq!(scene.model.verdict(&scene.state), Ok(()));
}

//! Hosts in memory that hear one another: several resources, lives, and what batches are for.

mod network;

use driftlock_host::Part;
use driftlock_net::dice::Dice;
use driftlock_net::parcel::Resource;
use driftlock_net::{Span, Time};
use driftlock_protocol::{Constants, NodeId};
use network::{Fate, Network, seconds};

static USUAL: Constants = Constants::new();

/// Applications at all nodes ask and leave by chance, ten times a second, until then.
fn busy(network: &mut Network, dice: &mut Dice, resources: u16, until: Time) {
    let nodes = network.hosts.len() as u64;
    while network.now < until && network.violation.is_none() {
        network.run(network.now + Span::from_units(0.1));
        let (node, resource) = (dice.below(nodes), dice.below(u64::from(resources)));
        let node = NodeId(u32::try_from(node).expect("a few"));
        let resource = Resource(u16::try_from(resource).expect("a few"));
        match dice.below(2) {
            0 => network.request(node, resource),
            _ => network.release(node, resource),
        }
    }
}

/// All ask at last, and leave as soon as they are inside: whether each of them gets there.
fn serves_all(network: &mut Network, resources: u16, patience: Span) -> bool {
    let mut waiting: Vec<_> = Vec::new();
    for node in (0..u32::try_from(network.hosts.len()).expect("a few")).map(NodeId) {
        for resource in (0..resources).map(Resource) {
            network.release(node, resource);
            waiting.push((resource, node));
        }
    }
    let end = network.now + patience;
    while network.now < end && !waiting.is_empty() && network.violation.is_none() {
        for &(resource, node) in &waiting {
            network.request(node, resource);
        }
        network.run(network.now + Span::from_units(0.2));
        let done: Vec<_> = network.inside.keys().copied().collect();
        for (resource, node) in done {
            network.release(node, resource);
            waiting.retain(|other| *other != (resource, node));
        }
    }
    waiting.is_empty()
}

#[test]
fn two_resources_with_different_algorithms_are_shared_by_the_same_hosts() {
    for algorithms in [[("krl", 2), ("hok", 3)], [("hok", 1), ("rl", 1)], [("klme-ft", 2), ("krlf", 1)]] {
        let mut network = Network::new(5, &algorithms, &USUAL);
        network.run(seconds(10.0));
        busy(&mut network, &mut Dice::new(1), 2, seconds(200.0));
        assert_eq!(network.violation, None, "{algorithms:?}");
        assert!(network.grants > 100, "{algorithms:?}: {}", network.grants);
        assert!(serves_all(&mut network, 2, Span::from_units(300.0)), "{algorithms:?}");
    }
}

/// A run in which nodes are killed by chance, each at some batch: what became of the batch is chosen by `fate`. Gives
/// what went wrong, and whether all were served when no node was killed any more.
fn killed(seed: u64, algorithms: &'static [(&str, u32)], fate: impl Fn(&mut Dice) -> Fate + 'static) -> Network {
    let mut network = Network::new(4, algorithms, &USUAL);
    network.run(seconds(10.0));
    let mut dice = Dice::new(seed);
    // Only what changes what is stored, or hands anything out, is worth being killed at.
    network.fate = Box::new(move |_, batch| {
        let is_killed = !batch.store.is_empty() && dice.below(40) == 0;
        if is_killed { fate(&mut dice) } else { Fate::Whole }
    });
    let resources = u16::try_from(algorithms.len()).expect("a few");
    busy(&mut network, &mut Dice::new(!seed), resources, seconds(150.0));
    network
}

const KILLED: [&[(&str, u32)]; 3] = [&[("krl", 2), ("hok", 2)], &[("krlf", 1), ("klme-ft", 1)], &[("hok", 1)]];

#[test]
fn a_host_may_be_killed_at_any_batch_before_or_after_it_is_stored() {
    for algorithms in KILLED {
        for seed in 0..12 {
            let fate = |dice: &mut Dice| if dice.below(2) == 0 { Fate::Nothing } else { Fate::Stored };
            let mut network = killed(seed, algorithms, fate);
            assert_eq!(network.violation, None, "{algorithms:?}, seed {seed}");
            network.fate = Box::new(|_, _| Fate::Whole);
            network.run(network.now + Span::from_units(60.0));
            let resources = u16::try_from(algorithms.len()).expect("a few");
            assert!(serves_all(&mut network, resources, Span::from_units(600.0)), "{algorithms:?}, seed {seed}");
            assert_eq!(network.violation, None, "{algorithms:?}, seed {seed}");
        }
    }
}

#[test]
fn doing_before_storing_breaks_safety() {
    let broken =
        |algorithms| (0..20).filter(|&seed| killed(seed, algorithms, |_| Fate::Done).violation.is_some()).count();
    let counts = KILLED.map(broken);
    assert!(counts[0] > 0 && counts[2] > 0, "{counts:?}");
}

#[test]
fn a_hundred_idle_resources_cost_hellos_and_nothing_else() {
    let frames = |count: usize| {
        let resources: Vec<_> = (0..count).map(|at| if at % 2 == 0 { ("krl", 1) } else { ("klme-ft", 1) }).collect();
        let mut network = Network::new(5, &resources, &USUAL);
        network.run(seconds(60.0));
        let (before, flushes) = (network.frames, network.flushes);
        network.run(seconds(360.0));
        assert_eq!(network.flushes, flushes, "nothing is stored");
        network.frames - before
    };
    assert_eq!(frames(100), frames(0));
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let run = || {
        let network = killed(7, KILLED[0], |_| Fate::Stored);
        (network.frames, network.flushes, network.grants, network.inside)
    };
    assert_eq!(run(), run());
}

#[test]
fn parts_are_stored_resource_by_resource() {
    let mut network = Network::new(2, &[("krl", 1), ("krl", 1)], &USUAL);
    network.run(seconds(10.0));
    let seen = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
    let sees = std::rc::Rc::clone(&seen);
    network.fate = Box::new(move |node, batch| {
        sees.borrow_mut().extend(batch.store.iter().map(|store| (node, store.part)));
        Fate::Whole
    });
    network.request(NodeId(0), Resource(1));
    assert_eq!(*seen.borrow(), [(NodeId(0), Part::Resident(Resource(1)))]);
}

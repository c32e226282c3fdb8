//! No history makes a loop.

use super::super::rules::Rules;
use super::super::{Hello, Seq};
use super::{Air, Cycle, MILLISECOND, Router, Settings, World, id};
use crate::Span;

const STEPS_PER_HISTORY: u64 = 5_000;

/// A random history; the settings are random too. Returns how many packets arrived over more than one hop, or the first
/// loop.
fn history(seed: u64, rules: Rules, steps: u64) -> Result<usize, Cycle> {
    let mut world = random_world(seed, rules);
    let nodes = world.routers.len() as u64;
    let pick = |world: &mut World| usize::try_from(world.dice.below(nodes)).unwrap();
    let mut boots = 0;
    let mut taken = 0;
    while taken < steps {
        let pause = world.dice.below(300) * MILLISECOND;
        let until = world.now + Span(pause);
        while taken < steps && world.step(until) {
            taken += 1;
            world.cycle().map_or(Ok(()), Err)?;
            assert!(world.routers.iter().all(|router| !router.seq.newer(router.durable().ceiling)), "seed {seed}");
        }
        let (a, b) = (pick(&mut world), pick(&mut world));
        match world.dice.below(1000) {
            0..400 => world.send(a, b, taken),
            400..650 => world.cut(a, b),
            650..980 if a != b => world.link(a, b),
            980..983 => {
                boots += 1;
                world.routers[a] = Router::rebooted(id(a), world.settings.clone(), boots, world.now);
                world.routers[a].table.rules = rules;
            }
            983..1000 => {
                boots += 1;
                let durable = world.routers[a].durable();
                world.restore(a, boots, durable);
            }
            _ => {}
        }
        world.cycle().map_or(Ok(()), Err)?;
    }
    Ok(world.delivered.iter().filter(|(from, to, _)| !world.linked(*from, *to)).count())
}

fn random_world(seed: u64, rules: Rules) -> World {
    let mut dice = crate::dice::Dice::new(seed);
    let hello = [Hello::Off, Hello::Active, Hello::Always][usize::try_from(dice.below(3)).unwrap()];
    let settings = Settings {
        hello,
        ttl_start: [1, 2, 35][usize::try_from(dice.below(3)).unwrap()],
        gratuitous: dice.below(2) == 0,
        destination_only: dice.below(4) == 0,
        acknowledge_replies: dice.below(3) == 0,
        rreq_ratelimit: 50,
        rreq_retries: 1,
        sweep_interval: [Span::ZERO, Span::from_millis(500), Span::FOREVER][usize::try_from(dice.below(3)).unwrap()],
        ..Settings::default()
    };
    let air = Air {
        delay_min: 1,
        delay_max: 40,
        lost: [0, 50, 150][usize::try_from(dice.below(3)).unwrap()],
        acknowledgement_lost: 20,
        reports_losses: hello == Hello::Off || dice.below(2) == 0,
    };
    let nodes = 4 + usize::try_from(dice.below(6)).unwrap();
    let mut world = World::new(nodes, &settings, air, seed);
    for router in &mut world.routers {
        router.table.rules = rules;
        router.seq = Seq(u32::MAX - 20 + u32::try_from(dice.below(20)).unwrap());
    }
    for a in 0..nodes {
        for b in 0..a {
            if dice.below(3) == 0 {
                world.link(a, b);
            }
        }
    }
    world
}

/// The seed of the first history with a loop.
fn first_loop(rules: Rules, histories: u64) -> Option<u64> {
    (0..histories).find(|&seed| history(seed, rules, STEPS_PER_HISTORY).is_err())
}

/// How many packets arrived over more than one hop.
fn no_loop(seeds: std::ops::Range<u64>, steps: u64) -> usize {
    let none = |seed| {
        history(seed, Rules::ALL, steps)
            .unwrap_or_else(|(destination, path)| panic!("seed {seed}: a loop on the way to {destination}: {path:?}"))
    };
    seeds.map(none).sum()
}

#[test]
fn a_million_random_steps_make_no_loop() {
    let delivered = no_loop(0..200, STEPS_PER_HISTORY);
    assert!(delivered > 5_000, "only {delivered} packets arrived");
}

#[test]
#[ignore = "takes a minute"]
fn ten_million_random_steps_make_no_loop() {
    no_loop(1_000..2_000, 10_000);
}

#[test]
fn a_request_that_replaces_a_fresher_route_makes_a_loop() {
    assert!(first_loop(Rules { requests_must_be_fresh: false, ..Rules::ALL }, 200).is_some());
}

#[test]
fn a_reply_that_replaces_a_fresher_route_makes_a_loop() {
    assert!(first_loop(Rules { replies_must_be_fresh: false, ..Rules::ALL }, 200).is_some());
}

#[test]
fn a_number_that_is_forgotten_when_the_link_breaks_makes_a_loop() {
    assert!(first_loop(Rules { breaks_raise: false, ..Rules::ALL }, 200).is_some());
}

#[test]
fn a_number_that_is_not_raised_when_the_route_expires_makes_a_loop() {
    assert!(first_loop(Rules { expiry_raises: false, ..Rules::ALL }, 200).is_some());
}

#[test]
fn numbers_that_are_not_compared_as_signed_differences_make_a_loop() {
    assert!(first_loop(Rules { signed: false, ..Rules::ALL }, 200).is_some());
}

#[test]
fn a_route_that_outlives_the_life_of_its_next_hop_makes_a_loop() {
    assert!(first_loop(Rules { bound_to_lives: false, ..Rules::ALL }, 200).is_some());
}

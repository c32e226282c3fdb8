//! Random histories: faults first, then everything heals.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::observer::Outcome;
use super::{Network, Settings, World, millis};
use crate::dice::Dice;

fn history(seed: u64) -> World {
    let mut dice = Dice::new(!seed);
    let settings = Settings {
        window: 1 + usize::try_from(dice.below(6)).unwrap(),
        retry: millis(100 + dice.below(900)),
        retry_max: millis(1_000 + dice.below(9_000)),
        give_up: millis(2_000 + dice.below(20_000)),
        ..Settings::default()
    };
    let network = Network {
        lost: dice.below(500),
        doubled: dice.below(300),
        delay_max: [1, 50, 500, 5_000][usize::try_from(dice.below(4)).unwrap()],
        hints: dice.below(2) == 0,
    };
    let reboots = dice.below(3) * 20;
    let mut world = World::new(2 + usize::try_from(dice.below(3)).unwrap(), &settings, network, seed);
    for _ in 0..40 {
        let span = millis(world.dice.below(1_500));
        world.run_for(span);
        let (a, b) = (world.pick(), world.pick());
        match world.dice.below(1000) {
            0..700 => {
                for _ in 0..=world.dice.below(4) {
                    let keep = world.dice.below(3) == 0;
                    world.send(a, b, keep);
                }
            }
            700..800 => world.parts[a] = world.dice.below(2),
            800..900 => world.parts.fill(0),
            roll if roll < 900 + reboots => world.reboot(a),
            _ => {}
        }
    }
    world.parts.fill(0);
    world.network = Network::PERFECT;
    world.run_for(millis(200_000));
    world.observer.expects_nothing_open();
    world
}

#[test]
fn every_message_is_delivered_at_most_once_in_order_and_has_one_outcome() {
    let (mut delivered, mut undelivered, mut doubt) = (0, 0, 0);
    for seed in 0..5_000 {
        let world = catch_unwind(AssertUnwindSafe(|| history(seed))).unwrap_or_else(|_| panic!("seed {seed}"));
        delivered += world.observer.count(Outcome::Delivered);
        undelivered += world.observer.count(Outcome::Undelivered);
        doubt += world.observer.count(Outcome::Doubt);
    }
    // Nothing of this would mean anything if it did not happen.
    assert!(delivered > 100_000 && undelivered > 1_000 && doubt > 1_000, "{delivered} {undelivered} {doubt}");
}

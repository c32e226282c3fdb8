//! Thousands of random histories: first everything goes wrong, then all heals and must come to rest.

use driftlock_net::link::Settings;
use driftlock_protocol::NodeId;

use crate::crowd::{Crowd, Weather};
use crate::observer::{Observer, Place};

#[derive(Clone, Copy, PartialEq)]
enum Restarts {
    Never,
    Remembering,
    Forgetting,
}

/// One history, told by its seed.
fn live_through(seed: u64, restarts: Restarts) -> Observer {
    let mut crowd = Crowd::new(3, seed, Settings::default());
    let nodes = 3 + crowd.rng.index(3);
    let settings = Settings {
        window: [1, 3, 16][crowd.rng.index(3)],
        spare_witnesses: [0, 1, 2][crowd.rng.index(3)],
        ..Settings::default()
    };
    crowd = Crowd::new(nodes, crowd.rng.draw(), settings);
    crowd.routed = crowd.rng.percent(50);
    crowd.replies = true;
    for token in 0..3 {
        crowd.deal(token);
    }
    let head_start = crowd.rng.below(6_000);
    crowd.run(head_start);
    for _ in 0..60 {
        let (a, b) = two_of(&mut crowd, nodes);
        match crowd.rng.below(10) {
            0..=2 => change_weather(&mut crowd, a, b),
            3..=5 => pass_tokens(&mut crowd),
            6..=8 => chatter(&mut crowd, a, b),
            _ if restarts == Restarts::Never => {}
            _ => crowd.restart(a, restarts == Restarts::Remembering),
        }
        let pause = [0, 3, 30, 300, 2_000][crowd.rng.index(5)];
        crowd.run(pause);
    }
    crowd.heal();
    crowd.run(60_000);
    crowd.observer.check_calm(&crowd.links, settings.spare_witnesses as usize, |_, _| true);
    crowd.observer
}

fn two_of(crowd: &mut Crowd, nodes: usize) -> (usize, usize) {
    let a = crowd.rng.index(nodes);
    let b = (a + 1 + crowd.rng.index(nodes - 1)) % nodes;
    (a, b)
}

fn change_weather(crowd: &mut Crowd, a: usize, b: usize) {
    let rough = Weather {
        loss_percent: crowd.rng.below(80),
        doubled_percent: crowd.rng.below(60),
        delay_ms_max: 1 + crowd.rng.below(200),
    };
    match crowd.rng.below(5) {
        0 => crowd.set_weather(a, b, rough),
        1 => crowd.set_weather_between(a, b, rough),
        2 => crowd.set_weather(a, b, Weather::NONE),
        3 => crowd.set_weather_between(a, b, Weather::NONE),
        _ => crowd.set_weather_between(a, b, Weather { doubled_percent: 20, ..Weather::CLEAR }),
    }
}

/// A node that has a token and a neighbour passes it on.
fn pass_tokens(crowd: &mut Crowd) {
    for token in 0..crowd.observer.tokens.len() {
        let Place::Held(holder) = crowd.observer.tokens[token] else { continue };
        let links: Vec<_> = crowd.links[holder.index()].links().map(|(peer, _)| peer).collect();
        if !links.is_empty() {
            let to: NodeId = links[crowd.rng.index(links.len())];
            crowd.send(holder.0, to.0, Some(token));
        }
    }
}

fn chatter(crowd: &mut Crowd, a: usize, b: usize) {
    if crowd.rng.percent(30) {
        return crowd.send_to_all(u32::try_from(a).unwrap());
    }
    for _ in 0..crowd.rng.below(12) {
        crowd.send(u32::try_from(a).unwrap(), u32::try_from(b).unwrap(), None);
    }
}

/// Prints the seed of a history that goes wrong.
struct Seed(u64);

impl Drop for Seed {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("seed {}", self.0);
        }
    }
}

#[derive(Default, Debug)]
struct Total {
    ups: usize,
    deliveries: usize,
    doubts: usize,
    late: usize,
    returned: usize,
    settled: usize,
    lost: usize,
}

fn all(seeds: std::ops::Range<u64>, restarts: Restarts) -> Total {
    let mut total = Total::default();
    for number in seeds {
        let seed = Seed(number);
        let observer = live_through(seed.0, restarts);
        total.ups += observer.ups;
        total.deliveries += observer.deliveries();
        total.doubts += observer.doubts;
        total.late += observer.late;
        total.returned += observer.returned;
        total.settled += observer.settled;
        total.lost += observer.lost;
    }
    println!("{total:?}");
    // Without these nothing would have been shown.
    assert!(total.doubts > 500 && total.late > 100 && total.returned > 100 && total.settled > 100, "{total:?}");
    total
}

#[test]
fn the_contract_is_kept_in_any_weather_and_every_token_is_somewhere() {
    assert_eq!(all(0..1_000, Restarts::Never).lost, 0);
}

#[test]
fn nodes_that_remember_lose_no_token_in_a_restart() {
    assert_eq!(all(10_000..11_000, Restarts::Remembering).lost, 0);
}

#[test]
fn nodes_that_forget_double_no_token() {
    assert!(all(20_000..21_000, Restarts::Forgetting).lost > 0);
}

use driftlock_field::mobility::{Area, Grid, Model, RandomWaypoint};
use driftlock_field::radio::Settings;
use driftlock_net::neighbourhood::Point;

use super::{Config, Report, run};

fn measured(config: Config) -> Report {
    run(&config.plan().expect("it makes sense"))
}

fn moving(speed_min: f64, speed_max: f64) -> Model {
    Model::RandomWaypoint(RandomWaypoint { speed_min, speed_max, pause: 0.0 })
}

/// Six rows and columns, 150 m apart, of which neighbours and diagonals are or are not within range.
fn grid(radio: Settings) -> Config {
    Config {
        nodes: 36,
        area: Some(Area { width: 900.0, height: 900.0 }),
        mobility: Model::Grid(Grid { columns: Some(6), spacing: Some(150.0) }),
        radio,
        seconds: 60.0,
        ..Config::default()
    }
}

#[test]
fn the_same_seed_gives_the_same_numbers_and_another_seed_others() {
    let config = Config { seconds: 30.0, ..Config::default() };
    let first = measured(config.clone());
    assert_eq!(first, measured(config.clone()));
    assert_ne!(first.events, measured(Config { seed: 2, ..config }).events);
}

#[test]
fn nothing_is_lost_on_a_grid_that_stands_still() {
    for seed in 1..=100 {
        let report = measured(Config { seed, ..grid(Settings::ideal()) });
        assert!(report.requests > 150);
        let failures = (report.radio.failed, report.packets.errors);
        assert_eq!((report.delivery, failures), (Some(1.0), (0, 0)), "seed {seed}: {report:?}");
        let times = report.round_trip.expect("there were replies");
        assert!(0.002 <= times.p50 && times.p50 <= times.p95, "{times:?}");
    }
}

#[test]
fn nearly_nothing_is_lost_there_with_a_real_radio() {
    let report = measured(grid(Config::default().radio));
    assert!(report.delivery > Some(0.95), "{report:?}");
    assert!(report.radio.acks_sent > 0 && report.radio.transmitting_ns > 0);
}

#[test]
fn most_requests_are_answered_on_a_field_that_moves_and_the_more_the_slower_it_is() {
    let field = |mobility| measured(Config { nodes: 100, mobility, seconds: 100.0, ..Config::default() });
    let (slow, fast) = (field(moving(0.1, 8.0)), field(moving(30.0, 50.0)));
    assert!(slow.delivery > Some(0.5), "{slow:?}");
    assert!(slow.delivery > fast.delivery, "{:?} {:?}", slow.delivery, fast.delivery);
    assert!(slow.radio.failed < fast.radio.failed);
    assert!(slow.requests_received >= slow.replies_received);
}

#[test]
fn those_nearby_are_found_with_less_than_those_anywhere() {
    let field = |within| measured(Config { nodes: 200, within, seconds: 30.0, ..Config::default() });
    let (near, anywhere) = (field(Some(300.0)), field(None));
    assert!(near.hops_per_message < anywhere.hops_per_message);
    assert!(near.routing_per_message < anywhere.routing_per_message);
    assert!(near.delivery > anywhere.delivery);
}

#[test]
fn who_has_nobody_near_sends_nothing() {
    let points = [0.0, 10.0, 500.0].map(|x| Point { x, y: 0.0 }).to_vec();
    let mobility = Model::Static { points };
    let area = Some(Area { width: 500.0, height: 1.0 });
    let report = measured(Config { nodes: 3, area, mobility, within: Some(100.0), period: 1.0, ..Config::default() });
    assert!(report.nobody_near > 200 && report.requests > 400, "{report:?}");
    assert_eq!(report.delivery, Some(1.0));
    let nobody = measured(Config { seconds: 0.0, ..Config::default() });
    assert_eq!((nobody.requests, nobody.delivery, nobody.round_trip), (0, None, None));
}

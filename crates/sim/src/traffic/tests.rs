use driftlock_field::mobility::{Area, Grid, Model, RandomWaypoint};
use driftlock_field::plane::Point;

use super::{Config, Report, run};
use crate::field::{FieldPlan, Radio};

fn measured(config: Config) -> Report {
    run(&config.plan().expect("it makes sense"), None).expect("nothing is written")
}

/// A square with 50 nodes to the square kilometre, and the usual radio.
fn field(nodes: u32) -> FieldPlan {
    let side = (f64::from(nodes) / 50.0).sqrt() * 1000.0;
    FieldPlan { area: Area { width: side, height: side }, ..Config::default().field }
}

fn moving(nodes: u32, speed_min: f64, speed_max: f64) -> FieldPlan {
    FieldPlan { movement: Model::RandomWaypoint(RandomWaypoint { speed_min, speed_max, pause: 0.0 }), ..field(nodes) }
}

/// Six rows and columns, 150 m apart, of which neighbours and diagonals are or are not within range.
fn grid(radio: Radio) -> Config {
    let field = FieldPlan {
        area: Area { width: 900.0, height: 900.0 },
        movement: Model::Grid(Grid { columns: Some(6), spacing: Some(150.0) }),
        radio,
        ..FieldPlan::default()
    };
    Config { nodes: 36, field, seconds: 60.0, ..Config::default() }
}

/// Nodes that stand in a row, 150 m apart, so that they hear only those beside them, with these faults.
fn row(nodes: u32, faults: &str) -> Config {
    let spacing = "movement = { model = \"grid\", columns = 100, spacing = 150.0 }\nradio = \"ideal\"\n";
    let area = "area = { width = 2000, height = 10 }\n";
    let field: FieldPlan = toml::from_str(&format!("{area}{spacing}{faults}")).expect("a field");
    Config { nodes, field, numbered_by_place: false, period: 1.0, seconds: 60.0, ..Config::default() }
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
        let report = measured(Config { seed, ..grid(Radio::Named("ideal".into())) });
        assert!(report.requests > 150);
        let failures = (report.radio.failed, report.packets.errors);
        assert_eq!((report.delivery, failures), (Some(1.0), (0, 0)), "seed {seed}: {report:?}");
        let times = report.round_trip.expect("there were replies");
        assert!(0.002 <= times.p50 && times.p50 <= times.p95, "{times:?}");
    }
}

#[test]
fn nearly_nothing_is_lost_there_with_a_real_radio() {
    let report = measured(grid(Config::default().field.radio));
    assert!(report.delivery > Some(0.95), "{report:?}");
    assert!(report.radio.acks_sent > 0 && report.radio.transmitting_ns > 0);
}

#[test]
fn most_requests_are_answered_on_a_field_that_moves_and_the_more_the_slower_it_is() {
    let on = |field| measured(Config { nodes: 100, field, seconds: 100.0, ..Config::default() });
    let (slow, fast) = (on(moving(100, 0.1, 8.0)), on(moving(100, 30.0, 50.0)));
    assert!(slow.delivery > Some(0.5), "{slow:?}");
    assert!(slow.delivery > fast.delivery, "{:?} {:?}", slow.delivery, fast.delivery);
    assert!(slow.radio.failed < fast.radio.failed);
    assert!(slow.requests_received >= slow.replies_received);
}

#[test]
fn those_nearby_are_found_with_less_than_those_anywhere() {
    let to = |within| measured(Config { nodes: 200, field: field(200), within, seconds: 30.0, ..Config::default() });
    let (near, anywhere) = (to(Some(300.0)), to(None));
    assert!(near.hops_per_message < anywhere.hops_per_message);
    assert!(near.routing_per_message < anywhere.routing_per_message);
    assert!(near.delivery > anywhere.delivery);
}

#[test]
fn who_has_nobody_near_sends_nothing() {
    let points = [0.0, 10.0, 500.0].map(|x| Point { x, y: 0.0 }).to_vec();
    let area = Area { width: 500.0, height: 1.0 };
    let field = FieldPlan { area, movement: Model::Static { points }, ..field(3) };
    let report = measured(Config { nodes: 3, field, within: Some(100.0), period: 1.0, ..Config::default() });
    assert!(report.nobody_near > 200 && report.requests > 400, "{report:?}");
    assert_eq!(report.delivery, Some(1.0));
    let nobody = measured(Config { seconds: 0.0, ..Config::default() });
    assert_eq!((nobody.requests, nobody.delivery, nobody.round_trip), (0, None, None));
}

#[test]
fn nobody_is_answered_across_a_node_that_is_down_or_an_air_that_is_cut() {
    let calm = measured(row(3, ""));
    assert_eq!((calm.delivery, calm.down), (Some(1.0), 0));
    for (fault, is_down) in [
        ("at = 0.0\nkind = \"crash\"\nnode = 1\n", true),
        ("at = 0.0\nkind = \"cut\"\nnodes = [0, 1]\nlasts = 1000.0\n", false),
        ("at = 0.0\nkind = \"partition\"\nline = { from = [75, 0], to = [75, 10] }\nlasts = 1000.0\n", false),
        ("at = 0.0\nkind = \"jam\"\ndisc = { centre = [150, 0], radius = 50 }\nlasts = 1000.0\n", false),
        ("at = 0.0\nkind = \"loss\"\nloss = 1.0\nlasts = 1000.0\n", false),
    ] {
        let report = measured(row(3, &format!("[[fault]]\n{fault}")));
        assert!(report.delivery < Some(0.6), "{fault}{report:?}");
        assert_eq!(report.down > 30, is_down, "{fault}{report:?}");
        assert_eq!(report.requests + report.down, calm.requests, "{fault}");
    }
}

#[test]
fn a_node_that_is_back_is_reached_again() {
    let from =
        |restart: &str| measured(row(2, &format!("[[fault]]\nat = 10.0\nkind = \"crash\"\nnode = 1\n{restart}")));
    let (gone, back) = (from(""), from("back-after = 5.0\n"));
    assert!(back.replies_received > 2 * gone.replies_received, "{back:?} {gone:?}");
    assert!(back.down > 0 && back.down < gone.down, "{back:?} {gone:?}");
}

#[test]
fn a_pause_puts_off_what_it_holds_up_and_loses_nothing() {
    let pause = "[[fault]]\nat = 10.0\nkind = \"pause\"\nnode = 1\nlasts = 1.0\n";
    let (calm, paused) = (measured(row(2, "")), measured(row(2, pause)));
    assert_eq!((paused.requests, paused.delivery, paused.down), (calm.requests, Some(1.0), 0), "{paused:?}");
    let mean = |report: &Report| report.round_trip.expect("replies").mean;
    assert!(mean(&paused) > mean(&calm), "{paused:?} {calm:?}");
}

#[test]
fn faults_by_chance_follow_from_the_seed() {
    let faults = "[faults]\nheals-at = 60.0\ncrashes = { per-minute = 6.0, lasts = [1.0, 9.0] }\n";
    let config = |seed| Config { seed, ..row(5, faults) };
    assert_eq!(measured(config(3)), measured(config(3)));
    let down: u64 = (1..6).map(|seed| measured(config(seed)).down).sum();
    assert!(down > 0);
}

/// A file in memory.
#[derive(Clone, Default)]
struct Bytes(std::rc::Rc<std::cell::RefCell<Vec<u8>>>);

impl std::io::Write for Bytes {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_capture_changes_nothing_and_is_the_same_for_the_same_seed() {
    let config = |seed| Config { seconds: 20.0, seed, ..Config::default() };
    let captured = |seed| {
        let bytes = Bytes::default();
        let plan = config(seed).plan().expect("it makes sense");
        let report = run(&plan, Some(Box::new(bytes.clone()))).expect("written");
        (report, bytes.0.take())
    };
    let (report, bytes) = captured(1);
    assert_eq!(report, measured(config(1)));
    assert!(bytes.len() as u64 > report.radio.bytes_sent, "{} bytes", bytes.len());
    assert!(bytes == captured(1).1 && bytes != captured(2).1);
}

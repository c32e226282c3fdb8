//! The models, as a user meets them.

use driftlock_field::mobility::{
    Area, GaussMarkov, Grid, Model, ModelError, Movement, RandomDirection, RandomWaypoint, ReferencePointGroup,
};
use driftlock_field::plane::Point;
use driftlock_net::Time;
use driftlock_protocol::NodeId;

const AREA: Area = Area { width: 500.0, height: 300.0 };

fn waypoint(pause: f64) -> Model {
    Model::RandomWaypoint(RandomWaypoint { speed_min: 1.0, speed_max: 20.0, pause })
}

fn direction(pause: f64) -> Model {
    Model::RandomDirection(RandomDirection { speed_min: 1.0, speed_max: 20.0, distance: 200.0, pause })
}

fn rule_of_gauss_markov() -> GaussMarkov {
    GaussMarkov {
        alpha: 0.75,
        speed: 10.0,
        speed_deviation: 2.0,
        direction_deviation: 0.5,
        step: 1.0,
        margin: Some(40.0),
    }
}

fn gauss_markov() -> Model {
    Model::GaussMarkov(rule_of_gauss_markov())
}

fn groups() -> Model {
    Model::ReferencePointGroup(ReferencePointGroup {
        members: 5,
        radius: 50.0,
        step: 10.0,
        speed_min: 1.0,
        speed_max: 20.0,
        pause: 4.0,
    })
}

fn all() -> Vec<Model> {
    let points = (0..20).map(|node| Point { x: f64::from(node), y: 7.0 }).collect();
    let mut all = vec![waypoint(0.0), waypoint(10.0), direction(0.0), direction(10.0), gauss_markov(), groups()];
    all.extend([Model::Grid(Grid::default()), Model::Uniform {}, Model::Static { points }]);
    all
}

/// Speed, square of the distance from the centre and of that along x alone, and whether the node moves at all: means
/// over many nodes, and their standard errors.
fn portrait(movements: &mut [Movement], at: Time) -> [(f64, f64); 4] {
    let centre = Point { x: AREA.width / 2.0, y: AREA.height / 2.0 };
    let mut sums = [(0.0, 0.0); 4];
    let mut count = 0.0;
    for movement in movements {
        movement.advance(at);
        for node in movement.nodes() {
            let (place, velocity) = (movement.position(node, at), movement.course(node).leg.velocity);
            let speed = (velocity.x * velocity.x + velocity.y * velocity.y).sqrt();
            let off = place.x - centre.x;
            let values = [speed, place.distance_squared(centre), off * off, f64::from(u8::from(speed > 0.0))];
            for (sum, value) in sums.iter_mut().zip(values) {
                *sum = (sum.0 + value, sum.1 + value * value);
            }
            count += 1.0;
        }
    }
    sums.map(|(sum, squares)| {
        let mean = sum / count;
        (mean, ((squares / count - mean * mean) / count).sqrt())
    })
}

fn crowd(model: &Model) -> Vec<Movement> {
    (0..200).map(|seed| Movement::new(model, AREA, 100, seed).unwrap()).collect()
}

/// Within four and a half standard errors: among some dozens of comparisons one fails by chance in a thousand tries.
fn assert_alike(early: [(f64, f64); 4], late: [(f64, f64); 4], what: &str) {
    for ((early, its_error), (late, error)) in early.into_iter().zip(late) {
        let bound = 4.5 * (its_error * its_error + error * error).sqrt() + 1e-9;
        assert!((early - late).abs() <= bound, "{what}: {early} at first, {late} later (bound {bound})");
    }
}

#[test]
fn random_waypoint_and_random_direction_look_at_the_start_as_they_look_later() {
    for model in [waypoint(0.0), waypoint(10.0), direction(0.0), direction(10.0)] {
        let mut crowd = crowd(&model);
        let early = portrait(&mut crowd, Time::ZERO);
        assert_alike(early, portrait(&mut crowd, Time::from_units(2000.0)), &format!("{model:?}"));
        // Those of a uniform spread would differ by far more than that.
        assert!(early[1].1 < 150.0, "{early:?}");
    }
}

#[test]
fn the_mean_speed_of_random_waypoint_is_that_of_theory_at_all_times() {
    let mut crowd = crowd(&waypoint(0.0));
    let theory = (20.0 - 1.0) / libm::log(20.0);
    for second in [0.0, 1.0, 50.0, 2000.0] {
        let (speed, error) = portrait(&mut crowd, Time::from_units(second))[0];
        assert!((speed - theory).abs() < 4.5 * error, "at {second} s: {speed}, not {theory} (error {error})");
    }
}

#[test]
fn groups_look_at_the_start_as_they_look_later() {
    // One member of each group: those of one group are not independent.
    let alone = Model::ReferencePointGroup(ReferencePointGroup {
        members: 1,
        radius: 50.0,
        step: 10.0,
        speed_min: 1.0,
        speed_max: 20.0,
        pause: 4.0,
    });
    let mut crowd = crowd(&alone);
    assert_alike(portrait(&mut crowd, Time::ZERO), portrait(&mut crowd, Time::from_units(2000.0)), "groups");
}

#[test]
fn random_direction_spreads_nodes_uniformly() {
    let mut crowd = crowd(&direction(3.0));
    let uniform = AREA.width * AREA.width / 12.0;
    for second in [0.0, 777.0] {
        let (squared, error) = portrait(&mut crowd, Time::from_units(second))[2];
        assert!((squared - uniform).abs() < 4.5 * error, "at {second} s: {squared}, not {uniform}");
    }
}

#[test]
fn no_node_leaves_the_area_and_none_jumps() {
    for model in all() {
        let mut movement = Movement::new(&model, AREA, 20, 3).unwrap();
        let is_inside = |point: Point| {
            (-1e-9..=AREA.width + 1e-9).contains(&point.x) && (-1e-9..=AREA.height + 1e-9).contains(&point.y)
        };
        for _ in 0..5_000 {
            let Some((at, node)) = movement.next_turn() else { break };
            let end = movement.position(node, at);
            let course = movement.turn(node);
            assert!(course.since == at && at < course.until, "{model:?}");
            assert!(is_inside(end) && end.distance_squared(course.leg.from) < 1e-18, "{model:?}: {end:?} {course:?}");
        }
    }
}

#[test]
fn a_nodes_movement_depends_on_no_other_node_and_not_on_when_one_asks() {
    for model in [waypoint(2.0), direction(2.0), gauss_markov(), groups(), Model::Uniform {}] {
        let mut few = Movement::new(&model, AREA, 7, 11).unwrap();
        let mut many = Movement::new(&model, AREA, 70, 11).unwrap();
        let mut other = Movement::new(&model, AREA, 7, 12).unwrap();
        for second in 0..100 {
            let at = Time::from_units(f64::from(second));
            many.advance(at);
            if second % 10 == 0 {
                few.advance(at);
                other.advance(at);
                for node in few.nodes() {
                    assert_eq!(few.position(node, at), many.position(node, at), "{model:?}");
                    assert_ne!(few.position(node, at), other.position(node, at), "{model:?}");
                }
            }
        }
    }
}

#[test]
fn members_stay_within_the_radius_of_their_group() {
    let mut movement = Movement::new(&groups(), AREA, 20, 8).unwrap();
    for tenth in 0..2_000 {
        let at = Time::from_units(f64::from(tenth) / 10.0);
        movement.advance(at);
        for group in 0..4 {
            let places = (0..5).map(|member| movement.position(NodeId(5 * group + member), at));
            let places: Vec<Point> = places.collect();
            for a in &places {
                for b in &places {
                    assert!(a.distance_squared(*b).sqrt() <= 100.0 + 1e-6, "two radii apart at most");
                }
            }
        }
    }
}

#[test]
fn gauss_markov_keeps_its_mean_speed_and_keeps_off_the_borders() {
    let mut movement = Movement::new(&gauss_markov(), AREA, 50, 2).unwrap();
    let (mut speeds, mut near, mut count) = (0.0, 0.0, 0.0);
    for second in 0..1_000 {
        let at = Time::from_units(f64::from(second) + 0.5);
        movement.advance(at);
        for node in movement.nodes() {
            let (place, velocity) = (movement.position(node, at), movement.course(node).leg.velocity);
            speeds += (velocity.x * velocity.x + velocity.y * velocity.y).sqrt();
            let to_border = place.x.min(AREA.width - place.x).min(place.y).min(AREA.height - place.y);
            near += f64::from(u8::from(to_border < 40.0));
            count += 1.0;
        }
    }
    assert!((speeds / count - 10.0).abs() < 0.5, "{}", speeds / count);
    let uniform = 1.0 - 420.0 * 220.0 / (AREA.width * AREA.height);
    assert!(near / count < 0.8 * uniform, "{} of the time near a border, {uniform} if spread uniformly", near / count);
}

#[test]
fn a_gauss_markov_node_that_remembers_all_goes_straight_on() {
    let rule = GaussMarkov {
        alpha: 1.0,
        speed: 2.0,
        speed_deviation: 0.0,
        direction_deviation: 1.0,
        step: 1.0,
        margin: Some(0.0),
    };
    let mut movement = Movement::new(&Model::GaussMarkov(rule), Area { width: 1e6, height: 1e6 }, 1, 2).unwrap();
    let first = movement.course(NodeId(0)).leg.velocity;
    movement.advance(Time::from_units(100.5));
    let last = movement.course(NodeId(0)).leg.velocity;
    assert!((first.x - last.x).abs() < 1e-6 && (first.y - last.y).abs() < 1e-6, "{first:?} {last:?}");
    assert!((first.x * first.x + first.y * first.y - 4.0).abs() < 1e-6);
}

#[test]
fn a_node_that_is_put_somewhere_goes_on_from_there() {
    let (at, there) = (Time::from_units(30.0), Point { x: 123.0, y: 45.0 });
    for model in all() {
        let mut movement = Movement::new(&model, AREA, 20, 3).unwrap();
        let mut alone = movement.clone();
        movement.advance(at);
        movement.place(NodeId(2), at, there);
        assert_eq!(movement.position(NodeId(2), at), there, "{model:?}");
        movement.place(NodeId(3), at, Point { x: -50.0, y: 1e6 });
        assert_eq!(movement.position(NodeId(3), at), Point { x: 0.0, y: AREA.height }, "the nearest place inside");
        movement.place(NodeId(4), at, Point { x: f64::NAN, y: 0.0 });
        for second in 30..300 {
            let at = Time::from_units(f64::from(second));
            movement.advance(at);
            alone.advance(at);
            let place = movement.position(NodeId(2), at);
            assert!((0.0..=AREA.width).contains(&place.x) && (0.0..=AREA.height).contains(&place.y));
            for node in [0, 1, 4, 5].map(NodeId) {
                assert_eq!(movement.position(node, at), alone.position(node, at), "others do not mind");
            }
        }
        let has_moved = movement.position(NodeId(2), Time::from_units(299.0)) != there;
        assert_eq!(has_moved, movement.next_turn().is_some(), "{model:?}");
    }
}

#[test]
fn the_example_of_the_manual_can_be_read() {
    let manual = include_str!("../../../docs/mobility.md");
    let example =
        manual.split("```toml\n[movement]\n").nth(1).and_then(|rest| rest.split("```").next()).expect("there is one");
    let model: Model = toml::from_str(example).expect(example);
    assert_eq!(model, waypoint(30.0));
}

#[test]
fn models_are_written_as_toml() {
    let model = |text: &str| toml::from_str::<Model>(text);
    let rule = RandomWaypoint { speed_min: 0.5, speed_max: 20.0, pause: 30.0 };
    let text = "model = \"random-waypoint\"\nspeed_min = 0.5\nspeed_max = 20\npause = 30";
    assert_eq!(model(text).unwrap(), Model::RandomWaypoint(rule));
    assert_eq!(model("model = \"uniform\"").unwrap(), Model::Uniform {});
    assert_eq!(
        model("model = \"grid\"\nspacing = 5.5").unwrap(),
        Model::Grid(Grid { columns: None, spacing: Some(5.5) })
    );
    let points = vec![Point { x: 1.0, y: 2.0 }, Point { x: 3.0, y: 4.0 }];
    assert_eq!(
        model("model = \"static\"\npoints = [[1.0, 2.0], { x = 3.0, y = 4.0 }]").unwrap(),
        Model::Static { points }
    );
    for model in all() {
        assert_eq!(toml::from_str::<Model>(&toml::to_string(&model).unwrap()).unwrap(), model);
    }
    for wrong in [
        "model = \"walk\"",
        "model = \"random-waypoint\"\nspeed_min = 1",
        "model = \"grid\"\nspeed = 1",
        "model = \"uniform\"\nspeed = 1",
        "model = \"static\"\npoints = [[1, 2]]\nspeed = 1",
        "pause = 1",
    ] {
        assert!(model(wrong).is_err(), "{wrong:?}");
    }
}

#[test]
fn models_without_meaning_are_refused_with_a_reason() {
    let refusal = |model: &Model| Movement::new(model, AREA, 20, 1).unwrap_err();
    let waypoint = |speed_min, speed_max, pause| Model::RandomWaypoint(RandomWaypoint { speed_min, speed_max, pause });
    assert!(refusal(&waypoint(0.0, 5.0, 0.0)).to_string().contains("no stationary state"));
    assert_eq!(refusal(&waypoint(6.0, 5.0, 0.0)), ModelError::Speeds { min: 6.0, max: 5.0 });
    for model in [waypoint(1.0, f64::INFINITY, 0.0), waypoint(f64::NAN, 1.0, 0.0), waypoint(1.0, 2.0, -1.0)] {
        assert!(matches!(refusal(&model), ModelError::Parameter { .. }), "{model:?}");
    }
    let mut group =
        ReferencePointGroup { members: 0, radius: 50.0, step: 1.0, speed_min: 1.0, speed_max: 2.0, pause: 0.0 };
    assert!(matches!(refusal(&Model::ReferencePointGroup(group)), ModelError::Parameter { name: "members", .. }));
    (group.members, group.radius) = (5, 150.0);
    assert!(matches!(refusal(&Model::ReferencePointGroup(group)), ModelError::Group { .. }));
    assert!(matches!(
        refusal(&Model::Grid(Grid { columns: Some(2), spacing: Some(40.0) })),
        ModelError::Grid { rows: 10, .. }
    ));
    assert!(matches!(refusal(&Model::Static { points: vec![] }), ModelError::Points { nodes: 20, points: 0 }));
    let outside = Model::Static { points: vec![Point { x: 1e4, y: 0.0 }; 20] };
    assert!(matches!(refusal(&outside), ModelError::Outside { index: 0, .. }));
    let flat = Area { width: 10.0, height: 0.0 };
    assert!(matches!(Movement::new(&Model::Uniform {}, flat, 1, 1), Err(ModelError::Area(_))));
}

#[test]
fn nodes_that_would_do_nothing_but_turn_are_refused() {
    let waypoint = |speed, pause| RandomWaypoint { speed_min: 1.0, speed_max: speed, pause };
    let direction = |distance| RandomDirection { speed_min: 1.0, speed_max: 20.0, distance, pause: 0.0 };
    let steps = |step| GaussMarkov { step, ..rule_of_gauss_markov() };
    let group =
        |speed_max, step| ReferencePointGroup { members: 5, radius: 50.0, step, speed_min: 1.0, speed_max, pause: 0.0 };
    for (hectic, calm) in [
        (Model::RandomWaypoint(waypoint(1e6, 0.0)), Model::RandomWaypoint(waypoint(1e6, 0.1))),
        (Model::RandomDirection(direction(1e-3)), Model::RandomDirection(direction(0.1))),
        (Model::GaussMarkov(steps(1e-4)), Model::GaussMarkov(steps(0.01))),
        (Model::ReferencePointGroup(group(1e300, 1.0)), Model::ReferencePointGroup(group(1e3, 1.0))),
        (Model::ReferencePointGroup(group(2.0, 1e-9)), Model::ReferencePointGroup(group(2.0, 0.01))),
    ] {
        let refusal = Movement::new(&hectic, AREA, 20, 1).unwrap_err();
        assert!(matches!(refusal, ModelError::Restless(_)), "{hectic:?}: {refusal}");
        assert!(Movement::new(&calm, AREA, 20, 1).is_ok(), "{calm:?}");
    }
    // Behind mirrors so close to each other that the distance does not matter, nor the rest after it.
    let narrow = Area { width: 500.0, height: 0.01 };
    let model = Model::RandomDirection(RandomDirection { pause: 9.0, ..direction(100.0) });
    assert_eq!(Movement::new(&model, narrow, 1, 1).unwrap_err(), ModelError::Restless(5e-4));
}

#[test]
fn a_grid_without_spacing_fills_the_area_evenly() {
    let movement = Movement::new(&Model::Grid(Grid { columns: Some(5), spacing: None }), AREA, 15, 1).unwrap();
    assert_eq!(movement.position(NodeId(0), Time::ZERO), Point { x: 50.0, y: 50.0 });
    assert_eq!(movement.position(NodeId(14), Time::ZERO), Point { x: 450.0, y: 250.0 });
    assert_eq!(movement.next_turn(), None);
}

#[test]
fn numbers_in_the_order_of_places_change_names_and_nothing_else() {
    for model in all() {
        let movement = Movement::new(&model, AREA, 20, 3).unwrap();
        let (mut given, mut sorted) = (movement.clone(), movement.in_order_of_place());
        for at in [0.0, 17.0, 1000.0].map(Time::from_units) {
            given.advance(at);
            sorted.advance(at);
            let places = |movement: &Movement| {
                let place = |node| movement.position(node, at);
                let mut places: Vec<_> = movement.nodes().map(|node| (place(node).x, place(node).y)).collect();
                places.sort_by(|a, b| a.partial_cmp(b).unwrap());
                places
            };
            assert_eq!(places(&given), places(&sorted), "{model:?}");
            assert_eq!(given.next_turn().map(|(at, _)| at), sorted.next_turn().map(|(at, _)| at), "{model:?}");
        }
    }
}

#[test]
fn in_the_order_of_places_those_with_neighbouring_numbers_start_close_together() {
    let step = |movement: &Movement| {
        let places: Vec<_> = movement.nodes().map(|node| movement.position(node, Time::ZERO)).collect();
        let steps = places.windows(2).map(|pair| pair[0].distance_squared(pair[1]).sqrt());
        steps.sum::<f64>() / (places.len() - 1) as f64
    };
    let movement = Movement::new(&waypoint(0.0), AREA, 1_000, 5).unwrap();
    // The mean distance of two is some 190 m at random, and a node has 150 square metres to itself.
    assert!(step(&movement) > 150.0);
    assert!(step(&movement.in_order_of_place()) < 15.0);
}

//! Which nodes are within range of one another, against looking at all pairs.

use std::collections::{BTreeMap, BTreeSet};

use driftlock_field::mobility::{
    Area, Change, Course, GaussMarkov, Grid, Model, Movement, Proximity, RandomDirection, RandomWaypoint,
    ReferencePointGroup, Track, Tracks, Visit, Waypoint,
};
use driftlock_field::plane::Point;
use driftlock_field::random::{Subject, stream, uniform, unit};
use driftlock_net::{Span, Time};
use driftlock_protocol::NodeId;

const AREA: Area = Area { width: 700.0, height: 400.0 };
const RANGE: f64 = 100.0;
const NODES: u32 = 40;

type Pairs = BTreeSet<(NodeId, NodeId)>;

fn models() -> Vec<Model> {
    let waypoint = RandomWaypoint { speed_min: 1.0, speed_max: 20.0, pause: 5.0 };
    vec![
        Model::RandomWaypoint(waypoint),
        Model::RandomWaypoint(RandomWaypoint { speed_min: 7.0, speed_max: 7.0, pause: 0.0 }),
        Model::RandomDirection(RandomDirection { speed_min: 1.0, speed_max: 20.0, distance: 300.0, pause: 2.0 }),
        Model::GaussMarkov(GaussMarkov {
            alpha: 0.8,
            speed: 10.0,
            speed_deviation: 3.0,
            direction_deviation: 0.6,
            step: 1.0,
            margin: None,
        }),
        Model::ReferencePointGroup(ReferencePointGroup {
            members: 8,
            radius: 80.0,
            step: 20.0,
            speed_min: 1.0,
            speed_max: 10.0,
            pause: 3.0,
        }),
        Model::Grid(Grid { columns: None, spacing: Some(50.0) }),
        Model::Uniform {},
    ]
}

/// Cars on a few streets, which come and go, jump, and meet at whole numbers.
fn traffic(seed: u64) -> Tracks {
    let mut random = stream(seed, Subject::Walk, 0);
    let mut place = |at| Waypoint {
        at: Time::from_units(f64::from(at)),
        point: Point { x: (unit(&mut random) * 8.0).floor() * 50.0, y: (unit(&mut random) * 8.0).floor() * 50.0 },
    };
    let mut track = |node: u32| {
        let from = node % 7 * 10;
        let first = [from, from + 10, from + 10, from + 25].map(&mut place);
        let second = [from + 60, from + 80].map(&mut place);
        let visits = vec![
            Visit::new(first[0].at, Time::from_units(f64::from(from + 30)), first.to_vec()).unwrap(),
            Visit::new(second[0].at, Time::END, second.to_vec()).unwrap(),
        ];
        Track::new(node.to_string(), visits).unwrap()
    };
    Tracks::new((0..NODES).map(&mut track).collect())
}

/// All pairs that are certainly within range, and all that may be.
fn all_pairs(movement: &Movement, at: Time, range: f64) -> (Pairs, Pairs) {
    let present: Vec<NodeId> = movement.nodes().filter(|node| movement.is_present(*node)).collect();
    let pairs = |range: f64| {
        let mut pairs = BTreeSet::new();
        for (index, &a) in present.iter().enumerate() {
            for &b in &present[index + 1..] {
                if movement.position(a, at).distance_squared(movement.position(b, at)).sqrt() <= range {
                    pairs.insert((a, b));
                }
            }
        }
        pairs
    };
    (pairs(range - 1e-6), pairs(range + 1e-6))
}

fn neighbour_pairs(proximity: &Proximity) -> Pairs {
    let movement = proximity.movement();
    let pairs = movement.nodes().flat_map(|a| proximity.neighbours(a).iter().map(move |b| (a.min(*b), a.max(*b))));
    pairs.collect()
}

/// Goes on to a time, and compares what is told with what is.
fn follow(proximity: &mut Proximity, links: &mut Pairs, twin: &mut Movement, until: Time) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::new();
    while let Some(change) = proximity.next(until) {
        let Change { at, a, b, is_up } = change;
        assert!(a < b && at <= until);
        assert!(changes.last().is_none_or(|last| (last.at, last.a, last.b) <= (at, a, b)), "{changes:?} {change:?}");
        let is_news = if is_up { links.insert((a, b)) } else { links.remove(&(a, b)) };
        assert!(is_news, "{change:?}");
        changes.push(change);
    }
    twin.advance(until);
    let (certain, possible) = all_pairs(twin, until, proximity.range());
    assert!(certain.is_subset(links), "at {until:?} these are missing: {:?}", certain.difference(links));
    assert!(links.is_subset(&possible), "at {until:?} these are too many: {:?}", links.difference(&possible));
    assert_eq!(&neighbour_pairs(proximity), links);
    changes
}

fn compare(movement: Movement, range: f64, jumps: bool) -> usize {
    let (mut twin, mut at_change, mut links) = (movement.clone(), movement.clone(), BTreeSet::new());
    let mut proximity = Proximity::new(movement, range);
    let mut random = stream(99, Subject::Walk, 0);
    let (mut now, mut count) = (0.0, 0);
    while now < 120.0 {
        for change in follow(&mut proximity, &mut links, &mut twin, Time::from_units(now)) {
            count += 1;
            // A node that appears, disappears or jumps can be anywhere.
            if !jumps && change.at > Time::ZERO {
                at_change.advance(change.at);
                let (a, b) = (at_change.position(change.a, change.at), at_change.position(change.b, change.at));
                let distance = a.distance_squared(b).sqrt();
                assert!((distance - range).abs() < 1e-6, "{change:?} at a distance of {distance}");
            }
        }
        now += uniform(0.0, 2.0, &mut random);
    }
    count
}

#[test]
fn pairs_in_range_are_those_that_all_pairs_give_in_every_model() {
    for model in models() {
        for seed in 0..4 {
            let movement = Movement::new(&model, AREA, NODES, seed).unwrap();
            let changes = compare(movement, RANGE, false);
            assert!(changes > 30, "{model:?}: only {changes} changes");
        }
    }
}

/// The legs of every node up to a time, in their order.
fn legs(mut movement: Movement, until: Time) -> Vec<Vec<Course>> {
    let mut legs: Vec<_> = movement.nodes().map(|node| vec![*movement.course(node)]).collect();
    while let Some((_, node)) = movement.next_turn().filter(|(at, _)| *at < until) {
        legs[node.index()].push(*movement.turn(node));
    }
    legs
}

/// From when to when two nodes on their legs are in range, in seconds from a time: by the quadratic equation.
fn contact(one: &Course, other: &Course, range: f64, since: Time, lasts: f64) -> Option<(f64, f64)> {
    let (here, there, moves, drifts) = (one.at(since), other.at(since), one.leg.velocity, other.leg.velocity);
    let (off_x, off_y, by_x, by_y) = (here.x - there.x, here.y - there.y, moves.x - drifts.x, moves.y - drifts.y);
    let (speed, away) = (by_x * by_x + by_y * by_y, off_x * by_x + off_y * by_y);
    let gap = off_x * off_x + off_y * off_y - range * range;
    if speed <= 0.0 {
        return (gap <= 0.0).then_some((0.0, lasts));
    }
    let squared = away * away - speed * gap;
    let root = (squared > 0.0).then(|| squared.sqrt())?;
    Some((((-away - root) / speed).max(0.0), ((-away + root) / speed).min(lasts))).filter(|(from, to)| from < to)
}

/// When two nodes are in range, in seconds from the start.
fn contacts(one: &[Course], other: &[Course], range: f64, until: Time) -> Vec<(f64, f64)> {
    let mut contacts: Vec<(f64, f64)> = Vec::new();
    let (mut here, mut there) = (one.iter().peekable(), other.iter().peekable());
    while let (Some(a), Some(b)) = (here.peek(), there.peek()) {
        let (since, ends) = (a.since.max(b.since), a.until.min(b.until).min(until));
        if let Some((from, to)) = contact(a, b, range, since, (ends - since).units()) {
            let (from, to) = (since.units() + from, since.units() + to);
            match contacts.last_mut().filter(|last| from - last.1 < SHORT) {
                Some(last) => last.1 = to,
                None => contacts.push((from, to)),
            }
        }
        if ends == until {
            break;
        }
        if a.until <= b.until {
            here.next()
        } else {
            there.next()
        };
    }
    contacts.retain(|(from, to)| to - from > SHORT);
    contacts
}

/// Contacts and gaps that are shorter are left out: where two only just touch, rounding decides.
const SHORT: f64 = 1e-4;

#[test]
fn every_contact_is_told_and_no_other_when_the_equation_of_its_legs_says_so() {
    let until = Time::from_units(200.0);
    for model in &models()[..5] {
        let movement = Movement::new(model, AREA, NODES, 17).unwrap();
        let legs = legs(movement.clone(), until);
        let mut proximity = Proximity::new(movement, RANGE);
        let mut told = BTreeMap::<_, Vec<(f64, f64)>>::new();
        while let Some(Change { at, a, b, is_up }) = proximity.next(until) {
            let (spans, at) = (told.entry((a, b)).or_default(), at.units());
            match spans.last_mut().filter(|last| at - last.1 < SHORT || !is_up) {
                // What begins again at once has not ended; what has begun ends when that is told.
                Some(last) => last.1 = if is_up { until.units() } else { at },
                None => spans.push((at, until.units())),
            }
        }
        let mut count = 0;
        for (a, b) in (0..NODES).flat_map(|a| (a + 1..NODES).map(move |b| (NodeId(a), NodeId(b)))) {
            let mut spans = told.remove(&(a, b)).unwrap_or_default();
            spans.retain(|(from, to)| to - from > SHORT);
            let expected = contacts(&legs[a.index()], &legs[b.index()], RANGE, until);
            let near = |(one, other): (&(f64, f64), &(f64, f64))| {
                (one.0 - other.0).abs() < 1e-6 && (one.1 - other.1).abs() < 1e-6
            };
            let same = spans.len() == expected.len() && spans.iter().zip(&expected).all(near);
            assert!(same, "{model:?}: {a} and {b}: told {spans:?}, but {expected:?}");
            count += expected.len();
        }
        assert!(count > 200, "{model:?}: only {count} contacts");
    }
}

#[test]
fn the_range_may_be_larger_than_the_area_or_tiny() {
    for range in [0.5, 5.0, 350.0, 2_000.0] {
        compare(Movement::new(&models()[0], AREA, NODES, 3).unwrap(), range, false);
    }
}

#[test]
fn nodes_that_come_and_go_and_jump_are_in_range_when_they_are_there() {
    for seed in 0..10 {
        assert!(compare(Movement::from_tracks(traffic(seed)), 60.0, true) > 100);
        assert!(
            compare(Movement::from_tracks(traffic(seed)), 50.0, true) > 100,
            "distances that are exactly the range"
        );
    }
}

#[test]
fn an_absent_node_has_no_neighbours() {
    let mut proximity = Proximity::new(Movement::from_tracks(traffic(1)), 60.0);
    let (mut now, mut found) = (Time::ZERO, Vec::new());
    while now < Time::from_units(130.0) {
        while proximity.next(now).is_some() {}
        for node in proximity.movement().nodes().filter(|node| !proximity.movement().is_present(*node)) {
            assert!(proximity.neighbours(node).is_empty());
            proximity.within(node, 1_000.0, now, &mut found);
            assert!(found.is_empty());
        }
        now = now + Span::from_units(5.0);
    }
}

#[test]
fn a_node_that_is_dragged_about_has_the_neighbours_of_the_place() {
    let movement = Movement::new(&models()[0], AREA, NODES, 5).unwrap();
    let (mut twin, mut links) = (movement.clone(), BTreeSet::new());
    let mut proximity = Proximity::new(movement, RANGE);
    let mut random = stream(4, Subject::Walk, 0);
    for tenth in 0..600 {
        let now = Time::from_units(f64::from(tenth) / 10.0);
        follow(&mut proximity, &mut links, &mut twin, now);
        let point = Point { x: uniform(-100.0, 900.0, &mut random), y: uniform(-100.0, 600.0, &mut random) };
        let node = NodeId(tenth % 5);
        proximity.place(node, now, point);
        twin.place(node, now, point);
        follow(&mut proximity, &mut links, &mut twin, now);
    }
}

#[test]
fn all_nodes_within_a_radius_are_found_in_order_whatever_the_radius() {
    let movement = Movement::new(&models()[0], AREA, NODES, 6).unwrap();
    let mut proximity = Proximity::new(movement, RANGE);
    let mut found = Vec::new();
    for second in 0..60 {
        let now = Time::from_units(f64::from(second));
        while proximity.next(now).is_some() {}
        let movement = proximity.movement();
        for (node, radius) in movement.nodes().zip([0.0, 10.0, 99.0, 100.0, 150.0, 400.0, 1_000.0].into_iter().cycle())
        {
            proximity.within(node, radius, now, &mut found);
            let distance =
                |other: NodeId| movement.position(node, now).distance_squared(movement.position(other, now)).sqrt();
            let others = movement.nodes().filter(|other| *other != node);
            let expected: Vec<_> = others.map(|other| (other, distance(other))).filter(|(_, d)| *d <= radius).collect();
            assert_eq!(found, expected, "within {radius} of {node}");
        }
    }
}

#[test]
fn where_no_node_moves_nothing_changes_after_the_start() {
    for model in [Model::Uniform {}, Model::Grid(Grid { columns: None, spacing: Some(50.0) })] {
        let mut proximity = Proximity::new(Movement::new(&model, AREA, NODES, 1).unwrap(), RANGE);
        assert!(std::iter::from_fn(|| proximity.next(Time::ZERO)).count() > 30);
        assert_eq!(proximity.wakes(), None);
        assert_eq!(proximity.next(Time::END), None);
    }
}

#[test]
fn the_same_seed_gives_the_same_changes() {
    let changes = |seed| {
        let mut proximity = Proximity::new(Movement::new(&models()[0], AREA, NODES, seed).unwrap(), RANGE);
        std::iter::from_fn(move || proximity.next(Time::from_units(60.0))).collect::<Vec<_>>()
    };
    assert_eq!(changes(1), changes(1));
    assert_ne!(changes(1), changes(2));
}

/// How long this thread has been computing, in nanoseconds, as Linux tells it: other than a clock it does not count
/// what others do meanwhile.
fn computed() -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").expect("on Linux");
    told.split_whitespace().next().and_then(|nanos| nanos.parse().ok()).expect("a number comes first")
}

/// Run with `cargo test --release -p driftlock-field --test mobility_proximity -- --ignored --nocapture`.
#[test]
#[ignore = "measures, and judges nothing"]
fn what_a_change_costs_at_equal_density() {
    let model = Model::RandomWaypoint(RandomWaypoint { speed_min: 1.0, speed_max: 20.0, pause: 0.0 });
    for nodes in [100_u32, 500, 1_000, 10_000] {
        // About 12 neighbours within 250 m.
        let side = (f64::from(nodes) * std::f64::consts::PI * 250.0 * 250.0 / 12.0).sqrt();
        let movement = Movement::new(&model, Area { width: side, height: side }, nodes, 1).unwrap();
        let start = computed();
        let mut proximity = Proximity::new(movement, 250.0);
        while proximity.next(Time::ZERO).is_some() {}
        let made = computed();
        let (until, mut changes) = (Time::from_units(f64::from(2_000_000 / nodes).min(2_000.0)), 0_u32);
        while proximity.next(until).is_some() {
            changes += 1;
        }
        let run = computed();
        let (mut found, mut seen) = (Vec::new(), 0);
        for _ in 0..100_000 / nodes {
            for node in proximity.movement().nodes() {
                proximity.within(node, 550.0, until, &mut found);
                seen += found.len();
            }
        }
        let each = (run - made) / f64::from(changes);
        let (made, around) = ((made - start) / f64::from(nodes), (computed() - run) / seen as f64);
        println!("{nodes} nodes: {made:.0} ns a node to make, {each:.0} ns for each of {changes} changes");
        println!("    {around:.1} ns for each that is found within 550 m");
    }
}

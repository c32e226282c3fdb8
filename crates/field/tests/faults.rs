//! Faults: how they are written, and what becomes of several at once.

use driftlock_field::faults::{
    Action, Area, Border, Chance, Fault, Faults, File, Kind, Memory, Nonsense, Often, Ranges, Schedule,
};
use driftlock_field::medium::Medium;
use driftlock_field::mobility::{self, Model, Movement, RandomWaypoint};
use driftlock_field::plane::Point;
use driftlock_field::radio::{Effect, Settings};
use driftlock_net::{Span, Time};
use driftlock_protocol::NodeId;

const SECOND: u64 = 1_000_000_000;
const FIELD: mobility::Area = mobility::Area { width: 1_000.0, height: 1_000.0 };

fn s(seconds: f64) -> Time {
    Time::from_units(seconds)
}

fn at(x: f64, y: f64) -> Point {
    Point { x, y }
}

fn read(toml: &str) -> Vec<Fault> {
    toml::from_str::<File>(toml).expect("good faults").fault.faults().to_vec()
}

#[test]
fn every_kind_of_fault_can_be_written_down() {
    let faults = read(
        r#"
        [[fault]]
        at = 30
        kind = "crash"
        node = 3

        [[fault]]
        at = 30.0
        kind = "crash"
        node = 4
        back-after = 20.0
        memory = "kept"

        [[fault]]
        at = 31.5
        kind = "restart"
        node = 5

        [[fault]]
        at = 40
        kind = "pause"
        node = 6
        lasts = 2.5

        [[fault]]
        at = 50
        kind = "jam"
        disc = { centre = [500, 500], radius = 200 }
        lasts = 10

        [[fault]]
        at = 60
        kind = "partition"
        line = { from = [500, 0], to = [500, 1000] }
        lasts = 10

        [[fault]]
        at = 70
        kind = "partition"
        rectangle = { from = [500, 250], to = [0, 0] }
        lasts = 10

        [[fault]]
        at = 80
        kind = "loss"
        loss = 0.3
        lasts = 5
        "#,
    );
    let rectangle = Area::rectangle(at(0.0, 0.0), at(500.0, 250.0)).unwrap();
    let line = Border::line(at(500.0, 0.0), at(500.0, 1000.0)).unwrap();
    let (disc, lasts) = (Area::disc(at(500.0, 500.0), 200.0).unwrap(), Span::from_units(10.0));
    let crash = |node, back_after| Kind::Crash { node: NodeId(node), back_after };
    let expected = [
        (30.0, crash(3, None)),
        (30.0, crash(4, Some((Span::from_units(20.0), Memory::Kept)))),
        (31.5, crash(5, Some((Span::ZERO, Memory::Lost)))),
        (40.0, Kind::Pause { node: NodeId(6), lasts: Span::from_units(2.5) }),
        (50.0, Kind::Jam { area: disc, lasts }),
        (60.0, Kind::Partition { border: line, lasts }),
        (70.0, Kind::Partition { border: Border::of(rectangle), lasts }),
        (80.0, Kind::Loss { area: None, chance: Chance::new(0.3).unwrap(), lasts: Span::from_units(5.0) }),
    ];
    let expected: Vec<_> = expected.into_iter().map(|(time, kind)| Fault { at: s(time), kind }).collect();
    assert_eq!(faults, expected);
    assert_eq!(toml::from_str::<File>("").unwrap(), File::default());
}

#[test]
fn the_examples_of_the_manual_can_be_read() {
    let manual = include_str!("../../../docs/faults.md");
    let examples = manual.split("```toml").skip(1).filter_map(|rest| rest.split("```").next());
    let (faults, ranges): (Vec<_>, Vec<_>) = examples.partition(|example| example.contains("[[fault]]"));
    assert_eq!((faults.iter().map(|example| read(example).len()).sum::<usize>(), ranges.len()), (8, 1));
    let ranges = ranges[0].trim_start().strip_prefix("[faults]").expect("the table's name comes first");
    let schedule = Schedule::random(1, 50, FIELD, &toml::from_str(ranges).unwrap()).unwrap();
    assert!(schedule.faults().len() > 5);
}

/// The message, and the line that it points to.
fn complaint(fault: &str) -> (String, usize) {
    let text = format!("[[fault]]\nat = 1\nkind = \"crash\"\nnode = 0\n\n[[fault]]\n{fault}\n");
    let error = toml::from_str::<File>(&text).expect_err("nonsense");
    let line = text[..error.span().expect("a place").start].matches('\n').count() + 1;
    (error.message().to_owned(), line)
}

#[test]
fn nonsense_is_refused_with_the_number_of_the_fault_its_line_and_what_to_do() {
    for (fault, message) in [
        ("at = 1\nkind = \"pause\"\nnode = 1", "a pause needs \"lasts\": for how many seconds"),
        ("at = 1\nkind = \"pause\"\nlasts = 1", "a pause needs \"node\": which one"),
        ("at = 1\nkind = \"pause\"\nnode = 1\nlasts = 0", "\"lasts\" must be a finite number greater than 0, not 0.0"),
        ("at = -1\nkind = \"crash\"\nnode = 1", "\"at\" must be a finite number, 0 or more, not -1.0"),
        (
            "at = 1e300\nkind = \"crash\"\nnode = 1",
            "\"at\" must be at most 10000000000 seconds, which are some 300 years, not 1e300",
        ),
        (
            "at = 1\nkind = \"pause\"\nnode = 1\nlasts = 2e10",
            "\"lasts\" must be at most 10000000000 seconds, which are some 300 years, not 20000000000.0",
        ),
        ("at = nan\nkind = \"crash\"\nnode = 1", "\"at\" must be a finite number, 0 or more, not NaN"),
        (
            "at = 1\nkind = \"crash\"\nnode = 1\nlasts = 3",
            "a crash has no \"lasts\": remove it or call it \"back-after\"",
        ),
        (
            "at = 1\nkind = \"crash\"\nnode = 1\nmemory = \"lost\"",
            "a crash has no \"memory\": remove it or give \"back-after\", since a node that does not come back remembers \
             nothing",
        ),
        ("at = 1\nkind = \"cut\"\nlasts = 3", "a cut needs \"nodes\": which two"),
        ("at = 1\nkind = \"cut\"\nlasts = 3\nnodes = [4, 4]", "\"nodes\" must be two different nodes, not 4 twice"),
        ("at = 1\nkind = \"jam\"\nlasts = 3", "a jam needs \"disc\": where, or \"rectangle\""),
        (
            "at = 1\nkind = \"jam\"\nlasts = 3\ndisc = { centre = [1, 1], radius = -2 }",
            "\"radius\" must be a finite number greater than 0, not -2.0",
        ),
        ("at = 1\nkind = \"loss\"\nlasts = 3\nloss = 30", "\"loss\" must be a probability from 0 to 1, not 30.0"),
        (
            "at = 1\nkind = \"loss\"\nlasts = 3\nloss = 1\nline = { from = [0, 0], to = [1, 1] }",
            "a loss has no \"line\": remove it",
        ),
        (
            "at = 1\nkind = \"partition\"\nlasts = 3\nline = { from = [0, 0], to = [1, 1] }\n\
             rectangle = { from = [0, 0], to = [1, 1] }",
            "there are several areas: give one of \"disc\", \"rectangle\" and \"line\", and write a fault for each other \
             one",
        ),
    ] {
        assert_eq!(complaint(fault), (format!("fault 2: {message}"), 6), "{fault}");
    }
    let (message, line) = complaint("at = 1\nkind = \"meteor\"\nnode = 1");
    assert!(message.contains("unknown variant `meteor`, expected one of `crash`") && line == 8, "{message} {line}");
    for (fault, place) in [
        ("at = 1\nkind = \"cut\"\nnodes = [1, 2, 3]\nlasts = 1", 9),
        ("at = 1\nkind = \"jam\"\nlasts = 1\ndisc = { centre = [1, 2, 3], radius = 5 }", 10),
        ("at = 1\nkind = \"partition\"\nlasts = 1\nline = { from = [1, 2], to = [1] }", 10),
    ] {
        let (message, line) = complaint(fault);
        assert!(message.contains("expected a list of two") && line == place, "{fault}: {message} {line}");
    }
    let (message, line) = complaint("at = 1\nkind = \"crash\"\nvictim = 1");
    assert!(message.contains("unknown field `victim`, expected one of `at`") && line == 9, "{message} {line}");
}

/// Carries faults out for nodes that stand still, and says what was done when.
fn played(places: &[Point], faults: &[(f64, Kind)]) -> Vec<(f64, Action)> {
    let schedule: Schedule = faults.iter().map(|&(time, kind)| Fault { at: s(time), kind }).collect();
    let mut faults = Faults::new(&schedule, u32::try_from(places.len()).unwrap(), Faults::STEP).unwrap();
    let (mut out, mut done) = (Vec::new(), Vec::new());
    while let Some(now) = faults.next() {
        faults.act(now, |node| places[node.index()], &mut out);
        done.extend(out.drain(..).map(|action| (now.units(), action)));
    }
    done
}

const A: NodeId = NodeId(0);
const B: NodeId = NodeId(1);

fn crash(node: NodeId, back_after: Option<(f64, Memory)>) -> Kind {
    Kind::Crash { node, back_after: back_after.map(|(after, memory)| (Span::from_units(after), memory)) }
}

fn pause(node: NodeId, lasts: f64) -> Kind {
    Kind::Pause { node, lasts: Span::from_units(lasts) }
}

fn jam(x: f64, radius: f64, lasts: f64) -> Kind {
    Kind::Jam { area: Area::disc(at(x, 0.0), radius).unwrap(), lasts: Span::from_units(lasts) }
}

fn cut(a: NodeId, b: NodeId, lasts: f64) -> Kind {
    Kind::Cut { between: (a, b), lasts: Span::from_units(lasts) }
}

#[test]
fn two_nodes_are_cut_off_from_each_other_while_any_cut_between_them_lasts() {
    let places = [at(0.0, 0.0), at(10.0, 0.0)];
    let done = played(&places, &[(1.0, cut(A, B, 4.0)), (3.0, cut(B, A, 5.0)), (9.0, cut(A, B, 1.0))]);
    let expected = [(1.0, true), (8.0, false), (9.0, true), (10.0, false)];
    assert_eq!(done, expected.map(|(when, is_cut)| (when, Action::Cut(A, B, is_cut))));
}

#[test]
fn faults_can_be_added_and_ended_by_hand() {
    let (mut faults, mut out) = (Faults::new(&Schedule::default(), 2, Faults::STEP).unwrap(), Vec::new());
    let mut acts = |faults: &mut Faults, now: f64| {
        faults.act(s(now), |_| at(0.0, 0.0), &mut out);
        std::mem::take(&mut out)
    };
    assert_eq!(faults.add(Fault { at: s(1.0), kind: pause(NodeId(2), 1.0) }).unwrap_err().number, 1);
    let pause = faults.add(Fault { at: s(1.0), kind: pause(A, 100.0) }).unwrap();
    let jam = faults.add(Fault { at: s(1.0), kind: jam(0.0, 5.0, 1.0) }).unwrap();
    faults.end(jam, s(0.5));
    assert_eq!(faults.next(), Some(s(1.0)), "what has not begun does not end");
    assert_eq!(acts(&mut faults, 1.0), [Action::Pause(A), Action::Jam(A, true), Action::Jam(B, true)]);
    assert_eq!(
        faults.take_changes().map(|(number, _, ends)| (number, ends)).collect::<Vec<_>>(),
        [(0, false), (1, false)]
    );
    faults.end(pause, s(1.5));
    faults.end(pause, s(1.5));
    assert_eq!(acts(&mut faults, 1.5), [Action::Resume(A)]);
    assert_eq!(acts(&mut faults, 2.0), [Action::Jam(A, false), Action::Jam(B, false)]);
    faults.end(jam, s(3.0));
    assert_eq!(faults.next(), None, "what is over stays over");
    assert_eq!(
        faults.take_changes().map(|(number, _, ends)| (number, ends)).collect::<Vec<_>>(),
        [(0, true), (1, true)]
    );
}

fn loss(loss: f64, area: Option<Area>, lasts: f64) -> Kind {
    Kind::Loss { area, chance: Chance::new(loss).unwrap(), lasts: Span::from_units(lasts) }
}

const DOWN: Action = Action::Crash { node: A, memory: Memory::Kept };

#[test]
fn a_node_is_back_when_all_its_crashes_are_over() {
    let nodes = [at(0.0, 0.0); 2];
    let restart = |memory| Action::Restart { node: A, memory };
    let (kept, lost) = (Memory::Kept, Memory::Lost);
    // One within the other, the inner one without memory.
    let both = [(10.0, crash(A, Some((20.0, kept)))), (15.0, crash(A, Some((5.0, lost))))];
    assert_eq!(played(&nodes, &both), [(10.0, DOWN), (30.0, restart(lost))]);
    // One after the other, at the same moment: it does not come back in between.
    let chain = [(10.0, crash(A, Some((5.0, kept)))), (15.0, crash(A, Some((5.0, kept))))];
    assert_eq!(played(&nodes, &chain), [(10.0, DOWN), (20.0, restart(kept))]);
    // What was lost in a former crash does not count in the next.
    let two = [(1.0, crash(A, Some((1.0, lost)))), (5.0, crash(A, Some((1.0, kept))))];
    let forgets = Action::Crash { node: A, memory: lost };
    assert_eq!(played(&nodes, &two)[..2], [(1.0, forgets), (2.0, restart(lost))]);
    assert_eq!(played(&nodes, &two)[2..], [(5.0, DOWN), (6.0, restart(kept))]);
    // For good, whatever else was meant to be.
    let for_good = [(10.0, crash(A, None)), (5.0, crash(A, Some((50.0, kept))))];
    assert_eq!(played(&nodes, &for_good), [(5.0, DOWN)]);
    // At once.
    let at_once = [(10.0, crash(A, Some((0.0, kept))))];
    assert_eq!(played(&nodes, &at_once), [(10.0, DOWN), (10.0, restart(kept))]);
}

#[test]
fn pauses_add_up_and_a_crash_ends_them_for_its_time() {
    let nodes = [at(0.0, 0.0); 2];
    let overlapping = [(1.0, pause(A, 4.0)), (3.0, pause(A, 4.0)), (4.0, pause(B, 1.0))];
    let expected =
        [(1.0, Action::Pause(A)), (4.0, Action::Pause(B)), (5.0, Action::Resume(B)), (7.0, Action::Resume(A))];
    assert_eq!(played(&nodes, &overlapping), expected);
    let memory = Memory::Kept;
    let restart = Action::Restart { node: A, memory };
    let interrupted = [(1.0, pause(A, 9.0)), (2.0, crash(A, Some((2.0, memory))))];
    let expected =
        [(1.0, Action::Pause(A)), (2.0, DOWN), (4.0, restart), (4.0, Action::Pause(A)), (10.0, Action::Resume(A))];
    assert_eq!(played(&nodes, &interrupted), expected);
    let outlived = [(1.0, pause(A, 2.0)), (2.0, crash(A, Some((2.0, memory)))), (2.5, pause(A, 1.0))];
    assert_eq!(played(&nodes, &outlived), [(1.0, Action::Pause(A)), (2.0, DOWN), (4.0, restart)]);
}

#[test]
fn a_node_is_jammed_while_any_area_jams_it() {
    let nodes = [at(0.0, 0.0), at(100.0, 0.0)];
    let faults = [(1.0, jam(0.0, 50.0, 4.0)), (3.0, jam(50.0, 60.0, 4.0)), (7.0, jam(0.0, 50.0, 1.0))];
    let expected = [
        (1.0, Action::Jam(A, true)),
        (3.0, Action::Jam(B, true)),
        (7.0, Action::Jam(B, false)),
        (8.0, Action::Jam(A, false)),
    ];
    assert_eq!(played(&nodes, &faults), expected);
}

#[test]
fn a_node_that_moves_into_an_area_is_touched_at_the_next_step() {
    let schedule: Schedule = [Fault { at: s(1.2), kind: jam(0.0, 10.0, 20.0) }].into_iter().collect();
    let mut faults = Faults::new(&schedule, 1, Span::from_units(0.5)).unwrap();
    let (mut out, mut done, mut looks) = (Vec::new(), Vec::new(), Vec::new());
    while let Some(now) = faults.next() {
        // Ten metres per second, from -35 m on: inside from 2.5 s to 4.5 s.
        faults.act(now, |_| at(-35.0 + 10.0 * now.units(), 0.0), &mut out);
        done.extend(out.drain(..).map(|action| (now.units(), action)));
        looks.push(now.units());
    }
    assert_eq!(done, [(2.5, Action::Jam(A, true)), (5.0, Action::Jam(A, false))]);
    // When it begins, at each half second, and when it ends.
    assert_eq!((&looks[..3], looks.last(), looks.len()), ([1.2, 1.5, 2.0].as_slice(), Some(&21.2), 42));
}

#[test]
fn partitions_that_cross_make_a_group_of_each_part() {
    let nodes = [at(1.0, 1.0), at(9.0, 1.0), at(1.0, 9.0), at(9.0, 9.0), at(2.0, 2.0)];
    let line = |from, to| Border::line(from, to).unwrap();
    let vertical = Kind::Partition { border: line(at(5.0, 0.0), at(5.0, 1.0)), lasts: Span::from_units(4.0) };
    let horizontal = Kind::Partition { border: line(at(0.0, 5.0), at(1.0, 5.0)), lasts: Span::from_units(4.0) };
    let done = played(&nodes, &[(1.0, vertical), (3.0, horizontal)]);
    let groups_after = |time: f64| {
        let mut groups = [0; 5];
        for &(when, action) in &done {
            if let Action::Group(node, group) = action
                && when <= time
            {
                groups[node.index()] = group;
            }
        }
        groups
    };
    let same = |groups: [u32; 5]| groups.map(|group| groups.iter().position(|&other| other == group).unwrap());
    assert_eq!(same(groups_after(1.0)), [0, 1, 0, 1, 0]);
    assert_eq!(same(groups_after(3.0)), [0, 1, 2, 3, 0]);
    assert_eq!(same(groups_after(5.0)), [0, 0, 2, 2, 0]);
    assert_eq!(groups_after(7.0), [0; 5]);
}

#[test]
fn losses_add_up_as_independent_ones_do() {
    let nodes = [at(0.0, 0.0), at(100.0, 0.0)];
    let near = Area::disc(at(0.0, 0.0), 50.0).unwrap();
    let faults = [
        (1.0, loss(0.5, None, 10.0)),
        (2.0, loss(0.5, None, 2.0)),
        (3.0, loss(0.25, Some(near), 5.0)),
        (4.0, loss(0.5, Some(near), 1.0)),
    ];
    let expected = [
        (1.0, Action::Loss(0.5)),
        (2.0, Action::Loss(0.75)),
        (3.0, Action::LossAt(A, 0.25)),
        (4.0, Action::Loss(0.5)),
        (4.0, Action::LossAt(A, 0.625)),
        (5.0, Action::LossAt(A, 0.25)),
        (8.0, Action::LossAt(A, 0.0)),
        (11.0, Action::Loss(0.0)),
    ];
    assert_eq!(played(&nodes, &faults), expected);
}

#[test]
fn a_node_that_does_not_exist_is_named_with_its_fault() {
    let schedule: Schedule =
        [Fault { at: s(1.0), kind: pause(A, 1.0) }, Fault { at: s(1.0), kind: crash(B, None) }].into_iter().collect();
    let error = Faults::new(&schedule, 1, Faults::STEP).unwrap_err();
    assert_eq!(error.to_string(), "fault 2: there is no node 1: nodes have the numbers 0 to 0");
    assert_eq!((error.number, error.why), (2, Nonsense::UnknownNode { node: B, nodes: 1 }));
    assert_eq!((schedule.heals_at(), Schedule::default().heals_at()), (None, Some(Time::ZERO)));
}

fn ranges() -> Ranges {
    let often = |per_minute| Often { per_minute, lasts: [0.0, 15.0] };
    Ranges {
        begins_at: 5.0,
        heals_at: 65.0,
        crashes: often(10.0),
        pauses: often(10.0),
        jams: often(6.0),
        partitions: often(6.0),
        losses: often(6.0),
        ..Ranges::default()
    }
}

/// What the actions have made of a node, and complaints about those that do not follow from the one before.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct State {
    down: bool,
    paused: bool,
    jammed: bool,
    group: u32,
    loss: f64,
}

fn obey(states: &mut [State], loss: &mut f64, action: Action) {
    match action {
        Action::Crash { node, .. } => {
            let state = &mut states[node.index()];
            assert!(!state.down);
            (state.down, state.paused) = (true, false);
        }
        Action::Restart { node, .. } => {
            assert!(states[node.index()].down);
            states[node.index()].down = false;
        }
        Action::Pause(node) => {
            assert!(!states[node.index()].down && !states[node.index()].paused);
            states[node.index()].paused = true;
        }
        Action::Resume(node) => {
            assert!(!states[node.index()].down && states[node.index()].paused);
            states[node.index()].paused = false;
        }
        Action::Jam(node, jammed) => {
            assert_ne!(states[node.index()].jammed, jammed);
            states[node.index()].jammed = jammed;
        }
        Action::Group(node, group) => {
            assert_ne!(states[node.index()].group, group);
            states[node.index()].group = group;
        }
        Action::Cut(..) => panic!("random schedules cut nothing"),
        Action::Loss(now) => *loss = now,
        Action::LossAt(node, now) => states[node.index()].loss = now,
    }
}

fn lasting(schedule: &Schedule, now: Time) -> Vec<&Fault> {
    let lasts = |fault: &&Fault| fault.at <= now && fault.ends().is_none_or(|ends| now < ends);
    schedule.faults().iter().filter(lasts).collect()
}

/// What must hold of each node whenever it may be, said from the schedule alone.
fn check_nodes(lasting: &[&Fault], states: &[State]) {
    for (number, state) in states.iter().enumerate() {
        let about_it = || lasting.iter().filter(|fault| fault.nodes().any(|node| node.index() == number));
        let down = about_it().any(|fault| matches!(fault.kind, Kind::Crash { .. }));
        let paused = about_it().any(|fault| matches!(fault.kind, Kind::Pause { .. }));
        assert_eq!((state.down, state.paused), (down, paused && !down));
    }
}

/// What must hold of areas after a look at where nodes are.
fn check_areas(lasting: &[&Fault], places: &[Point], states: &[State], loss: f64) {
    let safe = |place: Option<Point>| -> f64 {
        let safe = lasting.iter().map(|fault| match (fault.kind, place) {
            (Kind::Loss { area: None, chance, .. }, None) => 1.0 - chance.get(),
            (Kind::Loss { area: Some(area), chance, .. }, Some(place)) if area.contains(place) => 1.0 - chance.get(),
            _ => 1.0,
        });
        safe.product()
    };
    let inside = |place| -> Vec<bool> {
        let is_inside = |fault: &&Fault| matches!(fault.kind, Kind::Partition { border, .. } if border.contains(place));
        lasting.iter().map(is_inside).collect()
    };
    assert!((1.0 - loss - safe(None)).abs() < 1e-9);
    for (state, &place) in states.iter().zip(places) {
        let jams = |fault: &&Fault| matches!(fault.kind, Kind::Jam { area, .. } if area.contains(place));
        assert_eq!(state.jammed, lasting.iter().any(jams));
        assert!((1.0 - state.loss - safe(Some(place))).abs() < 1e-9);
        for (other, &elsewhere) in states.iter().zip(places) {
            assert_eq!(state.group == other.group, inside(place) == inside(elsewhere));
        }
    }
}

#[test]
fn every_random_schedule_does_what_it_says_and_has_healed_in_time() {
    const NODES: u32 = 8;
    let model = Model::RandomWaypoint(RandomWaypoint { speed_min: 20.0, speed_max: 60.0, pause: 0.0 });
    let (mut touched, mut faults_seen) = (0, 0);
    for seed in 0..100 {
        let schedule = Schedule::random(seed, NODES, FIELD, &ranges()).unwrap();
        faults_seen += schedule.faults().len();
        assert!(schedule.faults().iter().all(|fault| fault.at >= s(5.0)));
        assert!(schedule.faults().is_sorted_by_key(|fault| fault.at));
        assert!(schedule.heals_at().unwrap() <= s(65.0));
        let mut movement = Movement::new(&model, FIELD, NODES, seed).unwrap();
        let mut faults = Faults::new(&schedule, NODES, Span::from_units(0.5)).unwrap();
        let (mut states, mut loss, mut out) = (vec![State::default(); NODES as usize], 0.0, Vec::new());
        while let Some(now) = faults.next() {
            let places = positions(&mut movement, now);
            faults.act(now, |node| places[node.index()], &mut out);
            touched += out.len();
            out.drain(..).for_each(|action| obey(&mut states, &mut loss, action));
            let lasting = lasting(&schedule, now);
            check_nodes(&lasting, &states);
            if now.0.is_multiple_of(s(0.5).0) {
                check_areas(&lasting, &places, &states, loss);
            }
            assert!(now <= s(65.0));
        }
        assert_eq!((states, loss.to_bits()), (vec![State::default(); NODES as usize], 0), "seed {seed}");
    }
    assert!(faults_seen > 3_000 && touched > 5_000, "{faults_seen} {touched}");
}

fn positions(movement: &mut Movement, now: Time) -> Vec<Point> {
    movement.advance(now);
    let movement = &*movement;
    (0..8).map(|node| movement.position(NodeId(node), now)).collect()
}

#[test]
fn a_schedule_is_the_same_for_the_same_seed_and_after_being_written_down() {
    let schedule = Schedule::random(7, 20, FIELD, &ranges()).unwrap();
    assert_eq!(schedule, Schedule::random(7, 20, FIELD, &ranges()).unwrap());
    assert_ne!(schedule, Schedule::random(8, 20, FIELD, &ranges()).unwrap());
    let text = toml::to_string(&File { fault: schedule.clone() }).unwrap();
    assert_eq!(toml::from_str::<File>(&text).unwrap().fault, schedule);
    // Without pauses all the rest is as before.
    let no_pauses = Schedule::random(7, 20, FIELD, &Ranges { pauses: Often::NEVER, ..ranges() }).unwrap();
    let rest = schedule.faults().iter().filter(|fault| !matches!(fault.kind, Kind::Pause { .. }));
    assert!(rest.eq(no_pauses.faults()));
}

#[test]
fn ranges_that_make_no_sense_are_refused() {
    let with = |change: fn(&mut Ranges)| {
        let mut ranges = ranges();
        change(&mut ranges);
        Schedule::random(1, 3, FIELD, &ranges).map_err(|why| why.to_string())
    };
    let refused = |change| with(change).unwrap_err();
    assert_eq!(refused(|it| it.loss = [0.1, 2.0]), "\"loss\" must be a probability from 0 to 1, not 2.0");
    assert_eq!(refused(|it| it.jams.per_minute = 1e9), "jams: \"per-minute\" must be at most 60000, not 1000000000.0");
    assert!(refused(|it| it.size[0] = 0.0).starts_with("\"size\" must be"));
    let late = "\"heals-at\" must be at most 10000000000 seconds, which are some 300 years, not 1e300";
    assert_eq!(refused(|it| it.heals_at = 1e300), late);
    assert_eq!(refused(|it| it.heals_at = 1.0), "\"heals-at\" must be later than \"begins-at\", not 1.0");
    assert_eq!(
        refused(|it| (it.heals_at, it.jams.per_minute) = (6_000_005.0, 11.0)),
        "jams: 11 per minute for 6000000 s are 1100000 faults, and a million of a kind is the most"
    );
    let upside_down = "must be the least and the greatest, in this order, not";
    assert_eq!(refused(|it| it.pauses.lasts = [20.0, 2.0]), format!("pauses: \"lasts\" {upside_down} [20.0, 2.0]"));
    assert_eq!(refused(|it| it.loss = [0.9, 0.1]), format!("\"loss\" {upside_down} [0.9, 0.1]"));
    assert_eq!(refused(|it| it.size = [400.0, 100.0]), format!("\"size\" {upside_down} [400.0, 100.0]"));
    assert_eq!(refused(|it| it.losses.lasts[1] = f64::NAN), format!("losses: \"lasts\" {upside_down} [0.0, NaN]"));
    let flat = mobility::Area { width: 0.0, ..FIELD };
    assert!(Schedule::random(1, 3, flat, &ranges()).unwrap_err().to_string().starts_with("\"width\" must be"));
    let nobody = Schedule::random(1, 0, FIELD, &ranges()).unwrap();
    assert!(!nobody.faults().is_empty() && nobody.faults().iter().all(|fault| fault.nodes().next().is_none()));
}

/// Nodes 100 m apart on a line; broadcasts of node 1 every second, over the ideal radio, and the nodes that hear them.
fn heard(kind: Kind) -> Vec<(u64, Vec<u32>)> {
    let model = Model::Static { points: (0..3).map(|node| at(100.0 * f64::from(node), 0.0)).collect() };
    let movement = Movement::new(&model, FIELD, 3, 1).unwrap();
    let mut medium = Medium::new(movement, Settings::ideal().rules().unwrap(), 1);
    let schedule: Schedule = [Fault { at: s(1.5), kind }].into_iter().collect();
    let mut faults = Faults::new(&schedule, 3, Faults::STEP).unwrap();
    let (mut actions, mut effects, mut log) = (Vec::new(), Vec::new(), Vec::new());
    for second in 1..=3 {
        let now = Time(second * SECOND);
        while let Some(due) = faults.next().filter(|&due| due <= now) {
            faults.act(due, |node| medium.position(due, node), &mut actions);
            actions.drain(..).for_each(|action| action.disturb(due, medium.air(), &mut effects));
        }
        medium.send(now, NodeId(1), None, 100, (), &mut effects);
        let mut hearers = Vec::new();
        while let Some(effect) = effects.pop() {
            match effect {
                Effect::At(due, event) => medium.handle(due, event, &mut effects),
                Effect::Heard { at, .. } => hearers.push(at.0),
                _ => {}
            }
        }
        hearers.sort_unstable();
        log.push((second, hearers));
    }
    log
}

#[test]
fn the_air_is_disturbed_as_long_as_the_fault_lasts() {
    let near_zero = Area::disc(at(0.0, 0.0), 50.0).unwrap();
    let only_two = vec![(1, vec![0, 2]), (2, vec![2]), (3, vec![0, 2])];
    assert_eq!(heard(jam(0.0, 50.0, 1.0)), only_two);
    assert_eq!(heard(loss(1.0, Some(near_zero), 1.0)), only_two);
    assert_eq!(heard(crash(A, Some((1.0, Memory::Lost)))), only_two);
    assert_eq!(heard(Kind::Partition { border: Border::of(near_zero), lasts: Span::from_units(1.0) }), only_two);
    let nobody = vec![(1, vec![0, 2]), (2, vec![]), (3, vec![0, 2])];
    assert_eq!(heard(loss(1.0, None, 1.0)), nobody);
    assert_eq!(heard(pause(A, 1.0)), [(1, vec![0, 2]), (2, vec![0, 2]), (3, vec![0, 2])]);
}

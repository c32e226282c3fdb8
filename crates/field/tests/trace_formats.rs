//! Traces of others: read, written, and refused.

use driftlock_field::mobility::{Area, Format, Model, Movement, RandomWaypoint, Track, Tracks, Visit, Waypoint};
use driftlock_field::plane::Point;
use driftlock_field::random::{Subject, stream};
use driftlock_net::{Span, Time};
use driftlock_protocol::NodeId;
use rand::RngExt;

const WRITTEN: [Format; 3] = [Format::Ns2, Format::BonnMotion, Format::One];
const ALL: [Format; 6] = [Format::Ns2, Format::BonnMotion, Format::SumoXml, Format::Csv, Format::Gpx, Format::One];
/// For the ONE.
const STEP: Span = Span::from_millis(100);

const SUMO_XML: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<!-- generated -->
<fcd-export xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
    <timestep time="0.00"/>
    <timestep time="1.00">
        <vehicle id="a&amp;b" x="10.0" y="-5.0" angle="90" speed="1" lane="l_0"/>
        <person id="walker" x="0" y="0"/>
    </timestep>
    <timestep time="2.00"><vehicle id="a&amp;b" x="12.0" y="-5.0"></vehicle></timestep>
    <timestep time="3.00"><vehicle id="late" x="1" y="1"/></timestep>
    <timestep time="4.00"><vehicle id="a&amp;b" x="20" y="5"/><vehicle id="late" x="3" y="1"/></timestep>
</fcd-export>
"#;

const GPX: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<gpx version="1.1" xmlns="http://www.topografix.com/GPX/1/1"><trk><name>Ann</name><trkseg>
<trkpt lat="48.20" lon="16.37"><ele>170</ele><time>2020-02-29T23:59:50Z</time></trkpt>
<trkpt lat="48.21" lon="16.37"><time>2020-03-01T00:00:00Z</time></trkpt>
</trkseg></trk></gpx>
"#;

const SUMO_CSV: &str = "timestep_time;vehicle_angle;vehicle_id;vehicle_x;vehicle_y;person_id;person_x;person_y\r
0.00\r
1.00;90;a&b;10.0;-5.0;;;\r
1.00;;;;;walker;0;0\r
2.00;90;a&b;12.0;-5.0;;;\r
3.00;;late;1;1;;;\r
4.00;;a&b;20;5;;;\r
4.00;;late;3;1\r
";

fn read(format: Format, text: &str) -> Tracks {
    format.read("test", text.as_bytes()).unwrap()
}

fn refusal(format: Format, text: &str) -> String {
    format.read("some.trace", text.as_bytes()).unwrap_err().to_string()
}

fn seconds(seconds: f64) -> Time {
    Time::from_units(seconds)
}

fn position(tracks: &Tracks, node: u32, second: f64) -> (f64, f64) {
    let mut movement = Movement::from_tracks(tracks.clone());
    movement.advance(seconds(second));
    let Point { x, y } = movement.position(NodeId(node), seconds(second));
    ((x * 1e6).round() / 1e6, (y * 1e6).round() / 1e6)
}

fn assert_same_movement(one: &Tracks, other: &Tracks, until: f64) {
    let (mut one, mut other) = (Movement::from_tracks(one.clone()), Movement::from_tracks(other.clone()));
    assert_eq!(one.len(), other.len());
    let mut second = 0.0;
    while second < until {
        one.advance(seconds(second));
        other.advance(seconds(second));
        for node in one.nodes() {
            let (a, b) = (one.position(node, seconds(second)), other.position(node, seconds(second)));
            assert!(a.distance_squared(b).sqrt() < 1e-6, "{node} at {second}: {a:?} {b:?}");
        }
        second += 0.37;
    }
}

#[test]
fn what_is_written_reads_back_as_the_same_movement() {
    let model = Model::RandomWaypoint(RandomWaypoint { speed_min: 0.3, speed_max: 30.0, pause: 4.0 });
    let movement = Movement::new(&model, Area { width: 1500.0, height: 300.0 }, 25, 9).unwrap();
    let tracks = Tracks::record(movement.clone(), seconds(300.0));
    let mut movement = movement;
    for second in [0.0, 0.1, 77.7, 299.0] {
        movement.advance(seconds(second));
        let Point { x, y } = movement.position(NodeId(7), seconds(second));
        let (recorded_x, recorded_y) = position(&tracks, 7, second);
        assert!((x - recorded_x).abs() < 1e-6 && (y - recorded_y).abs() < 1e-6, "recorded as it was");
    }
    for format in WRITTEN {
        let text = format.write(&tracks, STEP).unwrap();
        assert_eq!(Format::of("unknown", text.as_bytes()), Some(format));
        if format != Format::One {
            assert_same_movement(&tracks, &read(format, &text), 310.0);
        }
    }
    for format in [Format::SumoXml, Format::Csv, Format::Gpx] {
        assert_eq!(format.write(&tracks, STEP), None);
    }
}

#[test]
fn jumps_and_absences_read_back_as_standing_where_the_node_will_appear() {
    let waypoint = |at, x| Waypoint { at: seconds(at), point: Point { x, y: 3.0 } };
    let visits = vec![
        Visit::new(seconds(5.0), seconds(10.0), vec![waypoint(5.0, 1.0), waypoint(7.0, 2.0), waypoint(7.0, 9.0)])
            .unwrap(),
        Visit::new(seconds(20.0), Time::END, vec![waypoint(22.0, 50.0), waypoint(30.0, 60.0)]).unwrap(),
    ];
    let tracks = Tracks::new(vec![Track::new("car", visits).unwrap()]);
    assert_eq!(position(&tracks, 0, 6.0), (1.5, 3.0));
    assert_eq!(position(&tracks, 0, 7.0), (9.0, 3.0));
    assert_eq!(position(&tracks, 0, 15.0), (50.0, 3.0));
    for format in [Format::Ns2, Format::BonnMotion] {
        assert_same_movement(&tracks, &read(format, &format.write(&tracks, STEP).unwrap()), 40.0);
    }
    let recorded = Tracks::record(Movement::from_tracks(tracks.clone()), seconds(40.0));
    assert_same_movement(&tracks, &recorded, 40.0);
    assert_eq!(recorded.iter().next().unwrap().visits()[0].until(), seconds(10.0));
}

#[test]
fn ns2_movements_mean_what_they_mean_to_ns2() {
    let tracks = read(
        Format::Ns2,
        r#"
# nodes: 2
set god_ [God instance]
$node_(4000000000) set X_ 100
$node_(4000000000) set Y_ 0.0
$node_(4000000000) set Z_ 0.0
$god_ set-dist 0 1 2
$ns_ at 10.0 "$node_(4000000000) setdest 200.0 0.0 10.0"
$ns_ at 15.0 "$node_(4000000000) setdest 150.0 100.0 5.0" ;
$ns_ at 3.0 "$god_ set-dist 0 1 1"
$ns_ at 16.0 "$node_(3) setdest 0 4 1.0"
$ns_ at 18.0 "$node_(3) setdest 0 4 0.0"
$ns_ at 2.0 "$node_(3) setdest 0 1 0.5"
$ns_ at 20.0 "$node_(7) setdest 30 40 1e300"
"#,
    );
    let names: Vec<_> = tracks.iter().map(Track::name).collect();
    assert_eq!(names, ["3", "7", "4000000000"], "in the order of their numbers");
    assert_eq!(position(&tracks, 1, 19.9), (0.0, 0.0));
    assert_eq!(position(&tracks, 1, 20.0), (30.0, 40.0), "so fast that it takes no time");
    assert_eq!(position(&tracks, 2, 9.0), (100.0, 0.0));
    assert_eq!(position(&tracks, 2, 12.0), (120.0, 0.0));
    assert_eq!(position(&tracks, 2, 20.0), (150.0, 25.0), "the second command overrides the first on its way");
    assert_eq!(position(&tracks, 2, 99.0), (150.0, 100.0), "and is not overridden");
    assert_eq!(position(&tracks, 0, 1.0), (0.0, 0.0));
    assert_eq!(position(&tracks, 0, 10.0), (0.0, 1.0), "scheduled for earlier, though written later");
    assert_eq!(position(&tracks, 0, 99.0), (0.0, 3.0), "stopped on its way");
}

#[test]
fn bonnmotion_lines_are_nodes() {
    let tracks = read(Format::BonnMotion, "# header\n#2D\n0.0 1.0 2.0 10.0 11.0 2.0\n\n5.0 0 0\n");
    assert_eq!(tracks.len(), 2);
    assert_eq!(position(&tracks, 0, 5.0), (6.0, 2.0));
    assert_eq!(position(&tracks, 0, 50.0), (11.0, 2.0));
    assert_eq!(position(&tracks, 1, 0.0), (0.0, 0.0));
}

#[test]
fn one_counts_from_its_least_time_and_place() {
    let tracks = read(Format::One, "100 200 10 50 -20 50 0 0\n100 p1 10 -20\n100 p0 20 0 1.5\n110 p1 30 -20\n");
    let names: Vec<_> = tracks.iter().map(Track::name).collect();
    assert_eq!(names, ["p1", "p0"]);
    assert_eq!(position(&tracks, 0, 5.0), (10.0, 0.0));
    assert_eq!(position(&tracks, 1, 5.0), (10.0, 20.0));
}

#[test]
fn sumo_vehicles_are_there_while_time_steps_list_them() {
    for (format, text) in [(Format::SumoXml, SUMO_XML), (Format::Csv, SUMO_CSV)] {
        let tracks = read(format, text);
        let names: Vec<_> = tracks.iter().map(Track::name).collect();
        assert_eq!(names, ["a&b", "walker", "late"], "{format:?}");
        let mut movement = Movement::from_tracks(tracks.clone());
        for (second, expected) in [
            (0.0, [false, false, false]),
            (0.9, [false, false, false]),
            (1.0, [true, true, false]),
            (1.5, [true, true, false]),
            (2.0, [true, false, false]),
            (2.9, [true, false, false]),
            (3.0, [false, false, true]),
            (4.0, [true, false, true]),
            (1e6, [true, false, true]),
        ] {
            movement.advance(seconds(second));
            let present = [0, 1, 2].map(|node| movement.is_present(NodeId(node)));
            assert_eq!(present, expected, "{format:?} at {second}");
        }
        assert_eq!(position(&tracks, 0, 1.5), (11.0, -5.0));
        assert_eq!(position(&tracks, 0, 2.5), (12.0, -5.0), "stands until the step at which it is gone");
        assert_eq!(position(&tracks, 0, 3.5), (20.0, 5.0), "absent, where it will appear");
        assert_eq!(position(&tracks, 2, 3.5), (2.0, 1.0));
    }
}

#[test]
fn the_name_or_the_first_lines_tell_the_format() {
    for (name, format) in [
        ("a/b.movements", Format::BonnMotion),
        ("scen-20.tcl", Format::Ns2),
        ("x.ns_movements", Format::Ns2),
        ("fcd.XML", Format::SumoXml),
        ("fcd.csv", Format::Csv),
        ("helsinki.one", Format::One),
    ] {
        assert_eq!(Format::of(name, b""), Some(format));
    }
    for (head, format) in [
        ("# nodes: 1\n$node_(0) set X_ 1\n", Some(Format::Ns2)),
        ("0 1 2 3 4 5\n0 1 2\n", Some(Format::BonnMotion)),
        ("0 100 0 10 0 10\n0 a 1 1\n", Some(Format::One)),
        ("0 100 0 10 0 10\n0 7 1 1\n5 7 1\n", Some(Format::BonnMotion)),
        ("#3D\n0 1 2 3 4 5 6 7\n0 1 2 3\n", Some(Format::BonnMotion)),
        ("# a number is missing\n0 1 2 3 4\n", Some(Format::BonnMotion)),
        (SUMO_XML, Some(Format::SumoXml)),
        (SUMO_CSV, Some(Format::Csv)),
        ("once upon a time", None),
        ("", None),
    ] {
        assert_eq!(Format::of("trace", head.as_bytes()), format, "{head:?}");
    }
}

#[test]
fn what_is_malformed_is_refused_with_file_line_and_reason() {
    for (format, text, expected) in [
        (Format::Ns2, "\n$node_(x) set X_ 1", "some.trace:2: a node must be a whole number"),
        (Format::Ns2, "$node_(1) set X_ NaN", "some.trace:1: X_ must be a number"),
        (Format::Ns2, "$node_(1) set X_ 1e300", "at most 1000000000 metres"),
        (Format::Ns2, "$ns_ at -1 \"$node_(1) setdest 1 1 1\"", "a time must be from 0"),
        (Format::Ns2, "$ns_ at inf \"$node_(1) setdest 1 1 1\"", "a time must be a number"),
        (Format::Ns2, "$ns_ at 1 \"$node_(1) setdest 1 1 -1\"", "a speed must be 0 or more"),
        (Format::Ns2, "$ns_ at 1 \"$node_(1) setdest 1 1\"", "no command that we know"),
        (Format::Ns2, "node_(1) set X_ 1", "put a # in front"),
        (Format::Ns2, "$ns_ at \"$node_(1) setdest 1 1 1\"", "some.trace:1: \"$ns_ at"),
        (Format::Ns2, "set when 3\n$ns_ after 1 \"$node_(1) setdest 1 1 1\"", "some.trace:2: \"$ns_ after"),
        (Format::Ns2, "puts \"$node_(1) set X_ 1\"", "put a # in front"),
        (Format::Ns2, "# nothing\n", "some.trace:2: the trace ends here and has no node"),
        (Format::BonnMotion, "0 1 1\n0 1 1 5 2", "some.trace:2: every way point needs three numbers"),
        (Format::BonnMotion, "5 1 1 4 1 1", "must not go back"),
        (Format::BonnMotion, "0 inf 1", "x must be a number"),
        (
            Format::SumoXml,
            "<fcd-export>\n<timestep time=\"1\">\n<vehicle x=\"1\" y=\"1\"/>",
            "some.trace:3: <vehicle> needs the attribute id",
        ),
        (
            Format::SumoXml,
            "<f><timestep time=\"2\"/>\n<timestep time=\"1\"/></f>",
            "some.trace:2: time steps must not go back",
        ),
        (Format::SumoXml, "<f><vehicle id=\"a\" x=\"1\" y=\"1\"/></f>", "before the first time step"),
        (
            Format::SumoXml,
            "<f><timestep time=\"1\"><vehicle id=\"a\" x=\"1\" y=\"1\"/><vehicle id=\"a\" x=\"1\" y=\"1\"/>",
            "twice",
        ),
        (Format::SumoXml, "<f><timestep time=\"1\"><vehicle id=\"a\" x=\"1\" y=\"1\"/>", "ends in the middle"),
        (Format::SumoXml, "<f><timestep time=1></f>", "unsound attribute"),
        (Format::SumoXml, "<f></g>", "no sound XML"),
        (
            Format::SumoXml,
            "<f><timestep time=\"1\"><vehicle id=\"a\" x=\"1\" y=\"1\"/></timestep></f>\n\nand so on",
            "some.trace:3: \"and so on\" stands outside of all elements",
        ),
        (Format::SumoXml, "<fcd-export/>", "has no node"),
        (Format::Csv, "time,x,y\n", "some.trace:1: the first line must name the columns"),
        (Format::Csv, "time;id;x;y\n1;a;1\n", "some.trace:2: too few columns"),
        (Format::One, "0 1 2\n", "some.trace:1: the first line must be `minTime"),
        (Format::One, "0 9 0 9 0 9\n5 a 1 1\n4 a 1 1\n", "some.trace:3: times must not go back"),
        (Format::One, "0 9 0 9 0 9\n5 a 1\n", "expected `time id x y`"),
        (Format::One, "9 9 0 9 0 9\n5 a 1 1\n", "a time must be from 9"),
        (Format::One, "0 9 0 9 9 0\n5 a 1 1\n", "some.trace:1: the first line must be `minTime"),
        (Format::One, "0 9 0 9 9 0\n5 a 1 1\n", "but there 9 is the least and 0 the greatest"),
    ] {
        let reason = refusal(format, text);
        assert!(reason.contains(expected), "{format:?} {text:?}: {reason}");
    }
}

#[test]
fn a_byte_order_mark_belongs_to_no_format() {
    let walk = Track::always("0", vec![Waypoint { at: Time::ZERO, point: Point { x: 1.0, y: 2.0 } }]).unwrap();
    let written = WRITTEN.map(|format| (format, format.write(&Tracks::new(vec![walk.clone()]), STEP).unwrap()));
    let sumo = [(Format::SumoXml, SUMO_XML.to_owned()), (Format::Csv, SUMO_CSV.to_owned())];
    for (format, text) in written.into_iter().chain(sumo) {
        let marked = format!("\u{feff}{text}");
        assert_eq!(Format::of("trace", marked.as_bytes()), Some(format));
        assert_eq!(read(format, &marked), read(format, &text));
        let reason = refusal(Format::BonnMotion, "0 1 1\n\u{feff}0 1 1\n");
        assert!(reason.starts_with("some.trace:2: a time must be a number"), "only in front of all: {reason}");
    }
}

#[test]
fn blanks_in_an_ns2_command_mean_nothing() {
    let told = read(Format::Ns2, "$node_(0) set X_ 7\n$ns_ at 5.0 \"$node_(0) setdest 17 0 1.0\"\n");
    let loose = "$node_(0)  set\tX_ 7\n  $ns_\tat   5.0 \" $node_(0)  setdest 17 0 1.0 \" ; \n$ns_ initial_node_pos $node_(0) 20\n";
    assert_eq!(read(Format::Ns2, loose), told);
    assert_eq!(position(&told, 0, 10.0), (12.0, 0.0));
}

/// Damages sound traces in all kinds of ways, and walks along whatever still counts as one.
#[test]
fn no_damage_to_a_trace_makes_a_reader_panic() {
    let model = Model::RandomWaypoint(RandomWaypoint { speed_min: 0.3, speed_max: 30.0, pause: 4.0 });
    let tracks =
        Tracks::record(Movement::new(&model, Area { width: 99.0, height: 99.0 }, 3, 9).unwrap(), seconds(30.0));
    let mut sound: Vec<String> = WRITTEN.iter().map(|format| format.write(&tracks, STEP).unwrap()).collect();
    sound.extend([SUMO_XML, SUMO_CSV, GPX, "time,id,x,y\n0,a,1,2\n1,b,1,2\n1,a,3,4\n"].map(str::to_owned));
    let evil = [
        "NaN",
        "-1",
        "1e308",
        "inf",
        "4000000000",
        "18446744073709551616",
        "\"",
        "<",
        ">",
        "&#0;",
        "\u{feff}",
        "\n",
        ";",
        " ",
        "",
    ];
    let mut random = stream(1, Subject::Walk, 0);
    let mut accepted = 0;
    for round in 0..20_000 {
        let mut text = sound[round % sound.len()].clone().into_bytes();
        for _ in 0..random.random_range(1..4) {
            let start = random.random_range(0..text.len());
            let end = (start + random.random_range(0..8)).min(text.len());
            text.splice(start..end, evil[random.random_range(0..evil.len())].bytes());
        }
        let format = ALL[random.random_range(0..ALL.len())];
        let natural = Format::of("", &text).unwrap_or(format);
        for format in [format, natural] {
            if let Ok(tracks) = format.read("damaged", text.as_slice()) {
                accepted += 1;
                let mut movement = Movement::from_tracks(tracks);
                movement.advance(Time::from_units(1e11));
                for node in movement.nodes() {
                    let Point { x, y } =
                        movement.position(node, Time::from_units(1e10 + 1.0).max(movement.course(node).since));
                    assert!(x.is_finite() && y.is_finite());
                }
            }
        }
    }
    assert!(accepted > 1_000, "only {accepted} were accepted, which tests little");
}

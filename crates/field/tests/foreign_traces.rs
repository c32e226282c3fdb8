//! Movements as other people's programs write them, in all the forms that they have.

use std::io::Write;

use driftlock_field::mobility::format::{read, sniff};
use driftlock_field::mobility::{Area, Format, Model, Movement, RandomWaypoint, Track, Tracks};
use driftlock_field::plane::Point;
use driftlock_net::{Span, Time};
use driftlock_protocol::NodeId;

fn seconds(seconds: f64) -> Time {
    Time::from_units(seconds)
}

/// Reads a file of this name.
fn traced(name: &str, text: &str) -> Tracks {
    read(name, text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn refusal(name: &str, text: &str) -> String {
    read(name, text.as_bytes()).map(|tracks| tracks.len()).unwrap_err().to_string()
}

fn at(tracks: &Tracks, node: u32, second: f64) -> (f64, f64) {
    let mut movement = Movement::from_tracks(tracks.clone());
    movement.advance(seconds(second));
    let Point { x, y } = movement.position(NodeId(node), seconds(second));
    ((x * 1e6).round() / 1e6, (y * 1e6).round() / 1e6)
}

/// At which of these seconds the node is there.
fn presence(tracks: &Tracks, node: u32, at: &[f64]) -> Vec<bool> {
    let mut movement = Movement::from_tracks(tracks.clone());
    let mut present = |second: &f64| {
        movement.advance(seconds(*second));
        movement.is_present(NodeId(node))
    };
    at.iter().map(&mut present).collect()
}

fn names(tracks: &Tracks) -> Vec<&str> {
    tracks.iter().map(Track::name).collect()
}

const WALK: &str = "$node_(0) set X_ 10\n$node_(0) set Y_ 20\n$ns_ at 1.0 \"$node_(0) setdest 30 20 10\"\n";

#[test]
fn the_first_lines_tell_the_format_of_a_file_whatever_its_name() {
    let script = "Mac/802_11 set dataRate_ 11e6\nset val(nn) 1\nproc finish {} {\n  exit 0\n}\n".to_owned() + WALK;
    let numbers = "0 1.5 2.5 7 ".repeat(30_000);
    for (text, format) in [
        (WALK, Format::Ns2),
        (script.as_str(), Format::Ns2),
        ("#3D\n0 1 1 9 5 2 2 9\n", Format::BonnMotion),
        (&format!("0 1.5 2.5 {numbers}"), Format::BonnMotion),
        ("<!-- x -->\n<fcd-export/>", Format::SumoXml),
        ("<?xml version=\"1.0\"?>\n<gpx/>", Format::Gpx),
        ("time,id,x,y\n", Format::Csv),
        ("# time id x y\n0 a 1 1\n", Format::Csv),
        ("0 9 0 9 0 9\n0 a 1 1\n", Format::One),
    ] {
        for name in ["scen-50-20", "walk.scen", "walk.txt", "folder.d/walk"] {
            assert_eq!(sniff(name, text.as_bytes()), Some(format), "{name}: {text:.40}");
        }
    }
    assert_eq!(sniff("walk.xml", &b"<gpx/>"[..]), Some(Format::Gpx));
    assert_eq!(sniff("field.txt", &b"area = { width = 3, height = 3 }\n"[..]), None);
}

#[test]
fn a_file_of_no_known_format_says_how_it_begins_and_a_field_that_it_is_one() {
    let said = refusal("koeln.tr", "0 car7 11.5 20.0 3.5\n");
    assert!(said.starts_with("koeln.tr:1: the first lines are of none of the known kinds"), "{said}");
    assert!(said.contains("begin with \"0 car7 11.5 20.0 3.5\"") && said.contains("time,id,x,y"), "{said}");
    let fields = ["# mine\narea = { width = 3, height = 3 }\n", "[movement]\nmodel = \"uniform\"\n"];
    for (field, line) in fields.into_iter().zip([2, 1]) {
        let said = refusal("mine", field);
        let expected = format!("mine:{line}: this looks like the file of a field (TOML)");
        assert!(said.starts_with(&expected) && said.contains("--field"), "{said}");
    }
    assert!(refusal("empty", "# nothing\n").contains("empty:1: there is nothing in this file"));
}

#[test]
fn compressed_files_are_read_as_they_are() {
    let told = traced("walk.ns2", WALK);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(WALK.as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    let zstd = zstd::encode_all(WALK.as_bytes(), 0).unwrap();
    for packed in [&gzip, &zstd] {
        // Only the bytes tell: the name may say so, or not, or something else.
        for name in ["walk.ns2.gz", "walk.ns2.zst", "walk.ns2", "walk"] {
            assert_eq!(read(name, packed.as_slice()), Ok(told.clone()), "{name}");
        }
        assert_eq!(sniff("walk", packed.as_slice()), Some(Format::Ns2));
        for place in 4..packed.len() {
            let mut damaged = packed.clone();
            damaged[place] ^= 0x55;
            // Whether it is noticed or not, nothing panics.
            if let Err(error) = read("walk", damaged.as_slice()) {
                assert!(error.line >= 1 && !error.reason.is_empty());
            }
        }
        let half = &packed[..packed.len() - 9];
        let said = read("half.ns2", half).unwrap_err().to_string();
        assert!(said.contains("the file cannot be read") && said.contains("is it all there"), "{said}");
    }
    // Two of them one after the other are one.
    let twice: Vec<u8> = [gzip.as_slice(), &gzip].concat();
    assert_eq!(read("walk", twice.as_slice()).unwrap().len(), told.len());
}

#[test]
fn what_is_compressed_in_another_way_is_named_with_what_unpacks_it() {
    for (bytes, how, unpack) in [
        (&b"BZh91AY"[..], "bzip2", "bunzip2"),
        (b"\xfd7zXZ\x00\x00", "xz", "unxz"),
        (b"PK\x03\x04\x14", "zip", "unzip"),
    ] {
        let said = read("fcd.xml", bytes).unwrap_err().to_string();
        assert!(
            said.starts_with(&format!("fcd.xml:1: this is compressed by {how}")) && said.contains(unpack),
            "{said}"
        );
    }
}

#[test]
fn bytes_that_are_no_text_are_refused_where_they_are() {
    let latin1 = b"$node_(0) set X_ 1\n# movimenta\xe7\xe3o\n";
    let said = read("walk.tcl", &latin1[..]).unwrap_err().to_string();
    assert!(said.starts_with("walk.tcl:2: this is not text in UTF-8") && said.contains("iconv"), "{said}");
}

#[test]
fn ns2_comments_may_stand_behind_commands_and_commands_beside_one_another() {
    let told = traced("walk.ns2", WALK);
    for text in [
        "$node_(0) set X_ 10 ;# the start\n$node_(0) set Y_ 20;#\n$ns_ at 1.0 \"$node_(0) setdest 30 20 10\" ; # go\n",
        "$node_(0) set X_ 10; $node_(0) set Y_ 20; $ns_ at 1.0 \"$node_(0) setdest 30 20 10\";\n",
        "$node_(0) set X_ 10 # the start\n$node_(0) set Y_ 20\n$ns_ at 1.0 \"$node_(0) setdest 30 20 10\" # away\n",
        "$node_(0) set X_ 10\r\n$node_(0) set Y_ 20\r\n$ns_ at 1.0 {$node_(0) setdest 30 20 10}\r\n",
        "$node_(0) set X_ 10\n$node_(0) set \\\n  Y_ 20\n$ns_ at 1.0 \\\n    \"$node_(0) setdest 30 20 10\"",
        "$ns_ at 1.0 \"$node_(0) setdest 30 20 10; $node_(0) color red\"\n$node_(0) set X_ 10\n$node_(0) set Y_ 20",
    ] {
        assert_eq!(traced("walk.ns2", text), told, "{text}");
    }
}

#[test]
fn ns2_nodes_and_the_simulator_may_have_any_name() {
    let told = traced("walk.ns2", WALK);
    for (node, simulator) in
        [("$n(0)", "$ns"), ("$node(0)", "$ns_"), ("$mobile_node(0)", "$nsim"), ("$n0", "$ns"), ("$node0", "$sim")]
    {
        let text = WALK.replace("$node_(0)", node).replace("$ns_", simulator);
        assert_eq!(traced("walk.tcl", &text), told, "{text}");
    }
    let two = traced("two.tcl", "$node_(1) set X_ 1\n$BS(0) set X_ 2\n$node_(0) set X_ 3\n$hub set X_ 4\n");
    assert_eq!(names(&two), ["node_(0)", "node_(1)", "BS(0)", "hub"], "as they appear, and by number");
    assert_eq!([0, 1, 2, 3].map(|node| at(&two, node, 0.0)), [(3.0, 0.0), (1.0, 0.0), (2.0, 0.0), (4.0, 0.0)]);
}

#[test]
fn what_does_not_move_ns2_nodes_is_skipped() {
    let script = r#"
        # A whole simulation, as people write them.
        set val(chan) Channel/WirelessChannel ;# channel type
        set val(nn) 1
        Antenna/OmniAntenna set X_ 0
        Antenna/OmniAntenna set Z_ 1.5
        set ns_ [new Simulator]
        set topo [new Topography]
        $topo load_flatgrid 500 500
        create-god $val(nn)
        for {set i 0} {$i < $val(nn)} {incr i} {
            set node_($i) [$ns_ node]
            $node_($i) random-motion 0 ;# disable random motion
        }
        proc record {} {
            global ns_ node_
            # $node_(0) setdest 1 1 1
            set x [$node_(0) set X_]
            puts "at $x [$node_(0) set Y_]"
            if {$x > 5} { puts "far" }
            $ns_ at [expr [$ns_ now] + 1] "record"
        }
        $node_(0) label "a node; with a name"
        $node_(0) set X_ 10
        $node_(0) set Y_ 20
        set udp_(0) [new Agent/UDP]
        $udp_(0) set packetSize_ 1000
        $ns_ initial_node_pos $node_(0) 20
        $ns_ at 1.0 "$node_(0) setdest 30 20 10"
        $ns_ at 2.0 "$cbr_(0) start"
        $ns_ at $val(stop) "finish"
        $ns_ at 9.0 "$ns_ nam-end-wireless 9.0; puts {done}"
        $ns_ at 3.0 "$cbr_(0) off"
        $ns_ at $val(stop) "$cbr_(0) off"
        $ns_ at 3.0 "$cbr_($i) off"
        $ns_ run
    "#;
    assert_eq!(traced("whole.tcl", script), traced("walk.ns2", WALK));
}

#[test]
fn what_moves_ns2_nodes_in_a_way_that_is_not_understood_is_refused_where_it_stands() {
    for (text, line, reason) in [
        (
            "set n 3\nfor {set i 0} {$i < 3} {incr i} {\n  set a 1\n  $node_($i) set X_ [expr $i*9]\n}\n",
            4,
            "a `for` moves nodes",
        ),
        ("proc go {} {\n\n  $ns_ at 3 \"$node_(0) setdest 1 2 3\"\n}\n", 3, "a `proc` moves nodes"),
        ("$node_(0) set X_ $x\n", 1, "X_ must be a number, not \"$x\"; nothing is computed here"),
        ("$node_(0) set X_ [expr 3 * 4]\n", 1, "X_ must be a number"),
        ("$node_($i) set X_ 3\n", 1, "a node must be a whole number, not \"$i\"; nothing is computed here"),
        (
            "$ns_ at $t \"$node_(0) setdest 1 2 3\"\n",
            1,
            "a time must be a number, not \"$t\"; nothing is computed here",
        ),
        ("$ns_ at 1 \"$node_(0) setdets 1 2 3\"\n", 1, "\"setdets 1 2 3\" is no command that we know"),
        ("\n$ns_ at 1 \"$node_(0) switch OF\"\n", 2, "a node is switched ON or OFF, not \"OF\""),
        (
            "$ns_ at 1 \"$node_(0) setdest 1 2 3\n$ns_ at 2 \"$node_(0) setdest 1 2 3\"\n",
            1,
            "right behind a closing quote",
        ),
        ("$node_(0) set X_ 1\n$ns_ at $t \"$node_(0) off\"\n", 2, "a time must be a number, not \"$t\""),
        ("$ns_ at 1 {$ns_ at 2 {$node_(0) setdest 1 2 3}}\n", 1, "is no movement"),
        ("set a 1\nproc x {} {\n set b 2\n", 2, "the brace that is opened here is not closed"),
        ("set sc scen\nsource $sc\n$ns_ run\n", 2, "moves nobody, but reads \"$sc\": give that file"),
    ] {
        let said = refusal("script.tcl", text);
        assert!(said.starts_with(&format!("script.tcl:{line}: ")) && said.contains(reason), "{text}\n{said}");
    }
}

#[test]
fn an_ns2_node_that_is_switched_off_is_absent() {
    let tracks = traced(
        "cars",
        r#"
        $node_(0) set X_ 0
        $ns_ at 0.0 "$node_(0) setdest 100 0 10"
        $ns_ at 4.0 "$node_(0) switch OFF"
        $node_(1) set X_ 5
        $ns_ at 12.0 "$node_(1) switch ON"
        $ns_ at 14.0 "$node_(1) setdest 5 8 1"
        $ns_ at 16.0 "$node_(1) switch off"
        $ns_ at 20.0 "$node_(1) on"
        $node_(2) set X_ 7
        $ns_ at 0.0 "$node_(2) switch OFF"
        $node_(3) set X_ 9
        "#,
    );
    assert_eq!(names(&tracks), ["0", "1", "3"], "node 2 is never there");
    assert_eq!(presence(&tracks, 0, &[0.0, 3.9, 4.0, 99.0]), [true, true, false, false]);
    assert_eq!(
        presence(&tracks, 1, &[0.0, 11.9, 12.0, 15.9, 16.0, 20.0, 99.0]),
        [false, false, true, true, false, true, true]
    );
    assert_eq!(presence(&tracks, 2, &[0.0, 99.0]), [true, true]);
    assert_eq!(at(&tracks, 0, 3.0), (30.0, 0.0));
    assert_eq!(at(&tracks, 1, 15.0), (5.0, 1.0));
    assert_eq!(at(&tracks, 1, 21.0), (5.0, 7.0), "it went on while it was off");
}

#[test]
fn bonnmotion_in_three_dimensions_has_its_header_and_is_seen_from_above() {
    let tracks = traced("m.movements", "#3D\n0 1 2 50 10 11 2 60\n5 7 8 9\n");
    assert_eq!(tracks, traced("m.movements", "0 1 2 10 11 2\n5 7 8\n"));
    for (text, line, reason) in [
        ("#3D\n0 1 2 3\n0 1 2\n", 3, "needs four numbers, time x y z, and the last one here has fewer"),
        ("#3D\n0 1 2 inf\n", 2, "z must be a number"),
        ("0 1 2 50 10 11 2 60\n", 1, "put the line #3D in front"),
        ("0 1 2 50 10 11 2 60 20 1 1 5\n", 1, "put the line #3D in front"),
    ] {
        let said = refusal("m.movements", text);
        assert!(said.starts_with(&format!("m.movements:{line}: ")) && said.contains(reason), "{text}: {said}");
    }
}

#[test]
fn a_bonnmotion_row_that_is_a_number_short_is_found_in_its_line_whatever_the_name_of_the_file() {
    for (text, line) in [
        ("# by hand\n0 1 2 3 4\n", 2),
        ("# by hand\n\n0 1 2 3 4\n0 1 2\n", 3),
        ("0 1 1 5 2 2\n0 1 1 5 2\n0 1 1\n", 2),
        ("0 1 5.0 6.0\n1 1 6.0 6.0\n", 1),
    ] {
        let said = refusal("walk.txt", text);
        let expected = format!("walk.txt:{line}: every way point needs three numbers, time x y, and the last one here");
        assert!(said.starts_with(&expected) && said.contains("time id x y"), "{text}: {said}");
    }
    assert_eq!(sniff("walk.txt", &b"# by hand\n0 1 2 3 4\n"[..]), Some(Format::BonnMotion), "and no field");
}

const GEO_CONFIGURATION: &str = r#"<!-- generated by SUMO
<configuration>
    <output>
        <fcd-output value="fcd.xml"/>
        <fcd-output.geo value="true"/>
    </output>
</configuration>
-->
"#;

const GEO_STEPS: &str = r#"<fcd-export>
<timestep time="0.00"><vehicle id="a" x="13.400000" y="52.500000" speed="0.00"/></timestep>
<timestep time="1.00"><vehicle id="a" x="13.400294" y="52.500000" speed="20.00"/></timestep>
<timestep time="2.00"><vehicle id="a" x="13.400589" y="52.500180" speed="20.00"/></timestep>
</fcd-export>
"#;

#[test]
fn sumo_in_degrees_is_projected_where_it_says_so_itself() {
    let tracks = traced("fcd.xml", &format!("{GEO_CONFIGURATION}{GEO_STEPS}"));
    let near = |(x, y): (f64, f64), (east, north): (f64, f64)| (x - east).abs() < 0.1 && (y - north).abs() < 0.1;
    // A degree of longitude has 67,904 m there, and one of latitude 111,267 m.
    assert!(near(at(&tracks, 0, 0.0), (0.0, 0.0)), "{:?}", at(&tracks, 0, 0.0));
    assert!(near(at(&tracks, 0, 1.0), (19.96, 0.0)), "{:?}", at(&tracks, 0, 1.0));
    assert!(near(at(&tracks, 0, 2.0), (40.0, 20.03)), "{:?}", at(&tracks, 0, 2.0));
    let plain = GEO_CONFIGURATION.replace("\"true\"", "\"false\"");
    let metres = "<timestep time=\"0\"><vehicle id=\"a\" x=\"500\" y=\"600\"/></timestep>";
    assert_eq!(at(&traced("fcd.xml", &format!("{plain}<fcd-export>{metres}</fcd-export>")), 0, 0.0), (500.0, 600.0));
    let said = refusal("fcd.xml", &format!("{GEO_CONFIGURATION}<fcd-export>\n{metres}</fcd-export>"));
    assert!(said.starts_with("fcd.xml:10: a longitude is from -180 to 180 degrees, not \"500\""), "{said}");
}

#[test]
fn sumo_in_degrees_is_never_read_as_metres() {
    let said = refusal("fcd.xml", GEO_STEPS);
    assert!(said.starts_with("fcd.xml:6: by their speeds the nodes go 40 m in all"), "{said}");
    assert!(said.contains("may be longitudes and latitudes, or metres") && said.contains("--fcd-output.geo"), "{said}");
    let table = "timestep_time;vehicle_id;vehicle_speed;vehicle_x;vehicle_y\n0;a;20;13.4;52.5\n1;a;20;13.400294;52.5\n";
    let said = refusal("fcd.csv", table);
    assert!(said.contains("for metres write the unit behind the names of the columns"), "{said}");
    assert!(said.contains("for degrees call them lon and lat"), "{said}");
    let said = refusal("fcd.xml", &GEO_STEPS.replace("speed", "pos"));
    assert!(said.starts_with("fcd.xml:6: all places are from -180 to 180 and from -90 to 90, and nobody"), "{said}");
    let header = "<!-- <configuration><output><fcd-output value=\"fcd.xml\"/></output></configuration> -->\n";
    let said_so = traced("fcd.xml", &format!("{header}{GEO_STEPS}"));
    assert_eq!(at(&said_so, 0, 0.0), (13.4, 52.5), "SUMO's own configuration is believed");
    let slow = "timestep_time;vehicle_id;vehicle_speed;vehicle_x;vehicle_y\n0;a;20;13;52\n1;a;20;33;52\n2;a;0;33;52\n";
    assert_eq!(at(&traced("fcd.csv", slow), 0, 1.0), (33.0, 52.0), "a place can be that small");
}

#[test]
fn sumo_that_may_be_in_degrees_or_metres_is_read_as_either_once_it_says_which() {
    let degrees = "<!-- <fcd-output.geo value=\"true\"/> -->\n";
    let metres = "<!-- <fcd-output.geo value=\"false\"/> -->\n";
    let step = |second: u32, x: &str, y: &str, more: &str| {
        format!("<timestep time=\"{second}\"><vehicle id=\"a\" x=\"{x}\" y=\"{y}\"{more}/></timestep>")
    };
    let fcd = |steps: &[String]| format!("<fcd-export>{}</fcd-export>", steps.concat());
    for ambiguous in [
        // A vehicle that stands, with a speed and without.
        fcd(&[step(0, "13.4", "52.5", "")]),
        fcd(&[step(0, "13.4", "52.5", " speed=\"0.00\""), step(1, "13.4", "52.5", " speed=\"0.00\"")]),
        // A creep of some centimetres, or a walk of some kilometres an hour.
        fcd(&[step(0, "13.40000", "52.5", ""), step(9, "13.40025", "52.5", "")]),
        // Across the 180th meridian, and near a pole.
        fcd(&[step(0, "179.9999", "1", ""), step(1, "-179.9999", "1", "")]),
        fcd(&[step(0, "10", "89.9999", ""), step(1, "11", "89.9999", "")]),
    ] {
        let said = refusal("fcd.xml", &ambiguous);
        assert!(said.contains("may be longitudes and latitudes, or metres; for metres put <!--"), "{said}");
        assert!(said.contains(metres.trim()) && said.contains("the same with \"true\""), "{said}");
        traced("fcd.xml", &format!("{metres}{ambiguous}"));
    }
    let stands = fcd(&[step(0, "13.4", "52.5", "")]);
    assert_eq!(at(&traced("fcd.xml", &format!("{metres}{stands}")), 0, 0.0), (13.4, 52.5));
    assert_eq!(at(&traced("fcd.xml", &format!("{degrees}{stands}")), 0, 0.0), (0.0, 0.0), "counted from the least");
    let behind = refusal("fcd.xml", &format!("{stands}{metres}"));
    assert!(behind.contains("may be longitudes"), "what comes behind places is no header: {behind}");

    // What can only be metres needs no words: no such degrees, and nothing that is so fast.
    for (steps, place) in [
        (vec![step(0, "181", "1", "")], (181.0, 1.0)),
        (vec![step(0, "1", "-91", "")], (1.0, -91.0)),
        (vec![step(0, "0", "0.00", ""), step(1, "0", "0.05", "")], (0.0, 0.0)),
        (vec![step(0, "0", "0", " speed=\"15\""), step(1, "1.5", "0", " speed=\"15\"")], (0.0, 0.0)),
    ] {
        assert_eq!(at(&traced("fcd.xml", &fcd(&steps)), 0, 0.0), place);
    }

    let table = |x: &str, y: &str| format!("timestep_time;vehicle_id;{x};{y}\n0;a;13.4;52.5\n");
    let said = refusal("fcd.csv", &table("vehicle_x", "vehicle_y"));
    assert!(said.contains("as in \"vehicle_x [m]\"; for degrees call them lon and lat"), "{said}");
    for (x, y) in [("vehicle_x [m]", "vehicle_y [m]"), ("x_m", "y_m"), ("x (metres)", "y (metres)")] {
        assert_eq!(at(&traced("fcd.csv", &table(x, y)), 0, 0.0), (13.4, 52.5), "{x}");
    }
    assert_eq!(at(&traced("fcd.csv", &table("lon", "lat")), 0, 0.0), (0.0, 0.0));
    let plain = traced("t.csv", "time,id,x,y\n0,a,13.4,52.5\n");
    assert_eq!(at(&plain, 0, 0.0), (13.4, 52.5), "in other tables x and y are metres, as the docs say");
}

#[test]
fn places_too_far_apart_for_a_plane_are_refused_and_the_180th_meridian_is_no_border() {
    let table = |east: f64| format!("time,id,lon,lat\n0,a,179.999,-17\n0,b,{east},-17\n");
    let fiji = traced("fiji.csv", &table(-179.999));
    let apart = at(&fiji, 1, 0.0).0 - at(&fiji, 0, 0.0).0;
    assert!((apart - 213.0).abs() < 1.0, "{apart}");
    let said = refusal("fiji.csv", &table(170.0));
    assert!(said.contains("degrees of longitude apart, and 6 are the most"), "{said}");
}

#[test]
fn sumo_times_may_be_written_for_people() {
    let steps = |times: [&str; 2]| {
        let [first, second] = times;
        format!(
            "<fcd-export><timestep time=\"{first}\"><vehicle id=\"a\" x=\"0\" y=\"0\"/></timestep>\n\
             <timestep time=\"{second}\"><vehicle id=\"a\" x=\"8\" y=\"0\"/></timestep></fcd-export>"
        )
    };
    let told = traced("fcd.xml", &steps(["61.00", "65.00"]));
    assert_eq!(traced("fcd.xml", &steps(["0:01:01.00", "0:01:05.00"])), told);
    let later = traced("fcd.xml", &steps(["23:59:59.00", "1:00:00:03.00"]));
    assert_eq!(at(&later, 0, 86_401.0), (4.0, 0.0));
    let said = refusal("fcd.xml", &steps(["0:01:01", "1:05"]));
    assert!(said.starts_with("fcd.xml:2: a time must be seconds, hours:minutes:seconds or days:"), "{said}");
    let table = traced("fcd.csv", "timestep_time;vehicle_id;vehicle_x;vehicle_y\n0:01:01;a;0;0\n0:01:05;a;8;0\n");
    assert_eq!(table, told);
}

#[test]
fn other_xml_says_what_it_is() {
    let said = refusal("city.net.xml", "<net>\n<edge id=\"1\"/>\n</net>\n");
    assert!(said.starts_with("city.net.xml:4: nobody is seen in this file: its outermost element is <net>"), "{said}");
    let dump = "<!-- by SUMO -->\n<netstate>\n<timestep time=\"0.00\"><edge id=\"e\"><lane id=\"e_0\">\
                <vehicle id=\"a\" pos=\"5.10\" speed=\"0.00\"/></lane></edge></timestep></netstate>\n";
    let said = refusal("dump.xml", dump);
    assert!(said.starts_with("dump.xml:2: this is what SUMO writes for --netstate-dump"), "{said}");
    assert!(said.ends_with("--fcd-output"), "{said}");
    let said = refusal("city.rou.xml", "<routes>\n<vehicle id=\"a\" depart=\"0\"/></routes>\n");
    assert!(said.starts_with("city.rou.xml:1: these are routes") && said.contains("--fcd-output"), "{said}");
}

#[test]
fn tables_have_the_columns_that_people_give_them() {
    let told = traced("t.csv", "time,id,x,y\n0,a,0,5\n1,a,2,5\n2,a,4,5\n");
    assert_eq!(at(&told, 0, 1.5), (3.0, 5.0));
    for header in [
        "time,vehicle_id,x,y",
        "Time,Vehicle_ID,X,Y",
        "t,node,pos_x,pos_y",
        "timestamp,node_id,x_pos,y_pos",
        "\"time\",\"id\",\"x\",\"y\"",
        "Time (s),Node ID,x [m],y [m]",
        "sim_time,car_id,position_x,position_y",
        "seconds,agent_id,xcoord,ycoord",
    ] {
        assert_eq!(traced("t.csv", &format!("{header}\n0,a,0,5\n1,a,2,5\n2,a,4,5\n")), told, "{header}");
    }
    for table in [
        "time;id;x;y\n0;a;0;5\n1;a;2;5\n2;a;4;5\n",
        "time\tid\tx\ty\n0\ta\t0\t5\n1\ta\t2\t5\n2\ta\t4\t5\n",
        "time id x y\n0 a 0 5\n1 a 2 5\n2 a 4 5\n",
        "# time id x y\n0 a 0 5\n1 a 2 5\n2 a 4 5\n",
        "# of somebody\n\ntime,id,x,y\n0,a,0,5\n\n1,a,2,5\n2,a,4,5\n",
        "y,speed,x,id,time\n5,9,0,a,0\n5,9,2,a,1\n5,9,4,a,2\n",
        "time,id,x,y\n2,a,4,5\n0,a,0,5\n1,a,2,5\n1,a,2,5\n",
        "time,id,x,y\n1600000000,a,0,5\n1600000001,a,2,5\n1600000002,a,4,5\n",
        "time,id,x,y\n2020-02-29T23:59:59Z,a,0,5\n2020-03-01T00:00:00Z,a,2,5\n2020-03-01 00:00:01,a,4,5\n",
        "time,id,x,y\n0:00:00,a,0,5\n0:00:01,a,2,5\n0:00:02,a,4,5\n",
    ] {
        assert_eq!(traced("t.csv", table), told, "{table}");
    }
    let named = traced("t.csv", "time,id,x,y\n0,\"b, the second\",1,1\n0,a,2,2\n");
    assert_eq!(names(&named), ["b, the second", "a"], "as they appear");
}

/// The names in a row of the table of columns in the docs.
fn documented(row: &str) -> Vec<&'static str> {
    let docs = include_str!("../../../docs/mobility.md");
    let line = docs.lines().find(|line| line.starts_with(&format!("| {row} |"))).expect("the docs have this row");
    line.split('`').skip(1).step_by(2).filter(|name| !name.starts_with("person_")).collect()
}

#[test]
fn every_name_of_a_column_in_the_docs_is_known() {
    let rows = ["time", "who", "x, in metres"].map(documented);
    assert!(rows.iter().all(|names| names.len() > 10), "{rows:?}");
    let [times, nodes, xs] = &rows;
    for time in times {
        traced("t.csv", &format!("{time},id,x,y\n1,a,200,300\n"));
    }
    for node in nodes {
        traced("t.csv", &format!("time,{node},x,y\n1,a,2,3\n"));
    }
    for x in xs {
        traced("t.csv", &format!("time,id,{x},{}\n1,a,2,3\n", x.replace('x', "y")));
    }

    let (latitudes, longitudes): (Vec<&str>, Vec<&str>) =
        documented("or instead").into_iter().partition(|name| name.starts_with("la"));
    for (lat, lon) in latitudes.iter().flat_map(|lat| longitudes.iter().map(move |lon| (lat, lon))) {
        traced("t.csv", &format!("time,id,{lon},{lat}\n1,a,2,3\n"));
    }
}

#[test]
fn a_node_that_is_not_listed_at_a_time_step_is_absent_and_one_with_times_of_its_own_is_not() {
    let steps = traced("t.csv", "time,id,x,y\n0,a,0,0\n1,a,1,0\n1,b,5,5\n2,a,2,0\n2,b,6,5\n3,b,7,5\n");
    assert_eq!(presence(&steps, 0, &[0.0, 2.0, 3.0, 9.0]), [true, true, false, false]);
    assert_eq!(presence(&steps, 1, &[0.0, 0.9, 1.0, 9.0]), [false, false, true, true]);
    let by_name = traced("t.csv", "time,id,x,y\n0,a,0,0\n1,a,1,0\n2,a,2,0\n1,b,5,5\n2,b,6,5\n3,b,7,5\n");
    assert_eq!(by_name, steps, "in the order of names");
    let own = traced("t.csv", "time,id,x,y\n0.1,a,0,0\n0.7,b,5,5\n5.2,a,1,0\n5.9,b,6,5\n9.8,a,2,0\n9.9,b,7,5\n");
    for node in [0, 1] {
        assert_eq!(presence(&own, node, &[0.0, 3.0, 6.0, 99.0]), [true; 4]);
    }
    assert_eq!(at(&own, 1, 3.3), (5.5, 5.0));
}

#[test]
fn tables_that_say_too_little_are_refused_where_they_do() {
    for (text, line, reason) in [
        ("id,x,y\na,1,1\n", 1, "the first line must name the columns"),
        ("0,a,1,1\n1,a,2,2\n", 1, "such as time,id,x,y), not \"0,a,1,1\""),
        (
            "time (ms),id,x,y\n0,a,1,1\n",
            1,
            "; what is missing is a time in seconds (\"time (ms)\" is not known as one)",
        ),
        ("time_ms,id,x,y\n0,a,1,1\n", 1, "is a time in seconds (\"time_ms\" is not known as one)"),
        ("time [m];id;x;y\n0;a;1;1\n", 1, "such as time;id;x;y), not \"time [m];id;x;y\"; what is missing is a time"),
        ("time,id,x (km),y (km)\n0,a,1,1\n", 1, "x and y in metres"),
        ("time,id,x (km),y (km)\n0,a,1,1\n", 1, "missing is x (\"x (km)\" is not known as one), and y (\"y (km)\""),
        ("time,id,x [deg],y [deg]\n0,a,1,1\n", 1, "missing is x (\"x [deg]\" is not known as one)"),
        ("time,id,x\n0,a,1\n", 1, "not \"time,id,x\"; what is missing is y"),
        ("time,x,y\n0,1,1\n", 1, "; what is missing is an id"),
        ("time,id,lon\n0,a,1\n", 1, "; what is missing is lat"),
        ("time,id\n0,a\n", 1, "; what is missing is x, and y"),
        ("sep=;\ntime;id;x\n0;a;1\n", 2, "; what is missing is y"),
        ("sep=\ntime;id;x;y\n0;a;1;1\n", 1, "behind sep= stands the character that separates columns"),
        ("time,id,x,y\n0,a,1,1\n0,a,2,2\n", 3, "\"a\" is at two places at the same time"),
        ("time,id,x,y\n0,a,1\n", 2, "too few columns: this row has 3 fields, and the first line names 4"),
        ("time,id,x,y\n0,a,1,\n", 2, "y must be a number, not \"\""),
        ("y,x,id,time\n1,1,a\n", 2, "too few columns"),
        ("time;id;x;y\n0,00;a;1;1\n", 2, "a time must be a number, not \"0,00\": write 1.5 and not 1,5"),
        (
            "time,id,x,y\n0,a,1,1\n1,a,1,5,2,5\n",
            3,
            "this row has 6 fields, and the first line names 4 columns; write 1.5",
        ),
        ("timestep_time;vehicle_id;vehicle_x;vehicle_y\n0;a;1;1;9\n", 2, "this row has 5 fields"),
        ("time,id,x,y\n0,a,1,1\n1,,2,2\n", 3, "this row has no id"),
        ("time,id,x,y\n0,a,1,1\n1\n", 3, "this row has no id"),
        ("timestep_time;vehicle_id;vehicle_x;vehicle_y\n0;;1;1\n", 2, "this row has no id"),
        ("time,id,x,y\n5,a,1,1\n5,a,2,2\n0,b,1,1\n0,b,2,2\n", 3, "\"a\" is at two places at the same time"),
        ("time,id,x,y\n-1,a,1,1\n", 2, "a time must be from 0"),
        ("time,id,lon,lat\n0,a,1,95\n", 2, "a latitude is from -89 to 89 degrees, not \"95\""),
        ("time,id,x,y\n2020-02-30T00:00:00Z,a,1,1\n", 2, "a date must be"),
        ("time,id,x,y\n", 2, "has no node"),
    ] {
        let said = refusal("t.csv", text);
        assert!(said.starts_with(&format!("t.csv:{line}: ")) && said.contains(reason), "{text}: {said}");
    }
}

#[test]
fn a_table_with_one_thing_missing_is_one_whatever_its_name_and_a_comment_that_speaks_of_columns_is_none() {
    for (header, missing) in [
        ("time,id,x", "y"),
        ("time_ms,id,x,y", "a time in seconds (\"time_ms\" is not known as one)"),
        ("time;x;y", "an id"),
    ] {
        let said = refusal("walk.txt", &format!("# mine\n{header}\n"));
        assert!(said.starts_with("walk.txt:2: the first line must name the columns"), "{said}");
        assert!(said.ends_with(&format!("; what is missing is {missing}")), "{said}");
    }
    let rows = traced("walk.txt", "# time x y\n0 1 2 5 3 4\n");
    assert_eq!(rows, traced("walk.movements", "0 1 2 5 3 4\n"));
}

#[test]
fn a_spreadsheet_may_declare_its_separator() {
    let told = traced("t.csv", "time,id,x,y\n0,a,0,5\n1,a,2,5\n");
    for (declaration, separator) in [
        ("sep=;", ';'),
        ("SEP=,\r", ','),
        ("\u{feff}sep=;", ';'),
        ("\"sep=;\"", ';'),
        ("sep=\t", '\t'),
        ("sep=|", '|'),
        ("sep= ", ' '),
    ] {
        let table = "time,id,x,y\n0,a,0,5\n1,a,2,5\n".replace(',', &separator.to_string());
        for name in ["t.csv", "export.txt"] {
            assert_eq!(traced(name, &format!("{declaration}\n{table}")), told, "{declaration:?}");
        }
    }
}

#[test]
fn columns_that_could_be_the_same_thing_are_refused_by_their_names() {
    for (header, one, other) in [
        ("time,id,Vehicle_ID,x,y", "id", "Vehicle_ID"),
        ("time,name,x,y,track_id", "name", "track_id"),
        ("t,time,id,x,y", "t", "time"),
        ("time,id,x,x,y", "x", "x"),
        ("time,id,x,y,pos_y", "y", "pos_y"),
        ("time,id,lon,lat,longitude", "lon", "longitude"),
    ] {
        let said = refusal("t.csv", &format!("# mine\n{header}\n0,1,2,3,4\n"));
        let expected = format!("t.csv:2: the columns \"{one}\" and \"{other}\" could be the same thing");
        assert!(said.starts_with(&expected), "{header}: {said}");
    }
    let both = traced("t.csv", "time,id,x,y,lon,lat,speed,vehicle_speed\n0,a,7,8,13.4,52.5,1,1\n");
    assert_eq!(at(&both, 0, 0.0), (7.0, 8.0), "metres are metres, also where there are degrees");
    let empty = traced("t.csv", "time,id,x,y\n0,a,7,8,,\n");
    assert_eq!(at(&empty, 0, 0.0), (7.0, 8.0), "what is empty is no field too many");
}

#[test]
fn movements_end_with_the_last_way_point_or_departure_and_a_placement_has_no_end() {
    let absent = "<timestep time=\"30\"/>";
    let seen =
        |time: u32, x: u32| format!("<timestep time=\"{time}\"><vehicle id=\"a\" x=\"{x}\" y=\"0\"/></timestep>");
    let metres = "<!-- <fcd-output.geo value=\"false\"/> -->";
    let fcd = |steps: &[String]| format!("{metres}<fcd-export>{}</fcd-export>", steps.concat());
    for (name, text, end) in [
        ("walk.ns2", WALK.to_owned(), Some(3.0)),
        ("off.ns2", "$node_(0) set X_ 1\n$ns_ at 9.0 \"$node_(0) off\"\n".into(), Some(9.0)),
        (
            "back.ns2",
            "$node_(0) set X_ 1\n$ns_ at 9 \"$node_(0) off\"\n$ns_ at 11 \"$node_(0) on\"\n".into(),
            Some(11.0),
        ),
        ("stands.ns2", "$node_(0) set X_ 1\n$node_(1) set X_ 2\n".into(), None),
        ("set.ns2", "$node_(0) set X_ 1\n$ns_ at 0.0 \"$node_(0) set X_ 5\"\n".into(), None),
        ("walk.movements", "0 0 0 40 9 9\n0 5 5 70 5 5\n".into(), Some(70.0)),
        ("stands.movements", "0 5 5 70 5 5\n".into(), None),
        ("left.xml", fcd(&[seen(10, 50), seen(20, 50), absent.into()]), Some(30.0)),
        ("stays.xml", fcd(&[seen(10, 50), seen(20, 60), seen(40, 60)]), Some(40.0)),
        ("own.csv", "time,id,x,y\n0,a,0,0\n7,b,1,1\n25,a,3,3\n".into(), Some(25.0)),
        ("walk.one", "0 100 0 9 0 9\n0 a 1 1\n8 a 2 2\n".into(), Some(8.0)),
    ] {
        let tracks = traced(name, &text);
        assert_eq!(tracks.ends(), end.map(seconds), "{name}");
        let begins = if name.ends_with("xml") { seconds(10.0) } else { Time::ZERO };
        assert_eq!(tracks.begins(), begins, "{name}");
    }
}

#[test]
fn absence_is_written_for_ns2_and_read_again() {
    let text = "time,id,x,y\n0,a,0,0\n1,a,1,0\n1,b,5,5\n2,a,2,0\n2,b,6,5\n3,b,7,5\n4,b,7,5\n5,a,9,9\n5,b,7,5\n";
    let tracks = traced("t.csv", text);
    let written = Format::Ns2.write(&tracks, Span::ZERO).unwrap();
    assert!(written.contains("$ns_ at 3 \"$node_(0) switch OFF\"\n$ns_ at 5 \"$node_(0) switch ON\"\n"), "{written}");
    let again = traced("t.ns2", &written);
    let times = [0.0, 0.5, 1.0, 2.9, 3.0, 4.9, 5.0, 99.0];
    for node in [0, 1] {
        assert_eq!(presence(&again, node, &times), presence(&tracks, node, &times), "{written}");
        for second in times {
            assert_eq!(at(&again, node, second), at(&tracks, node, second), "node {node} at {second} s");
        }
    }
    assert_eq!((again.absent(), traced("walk.ns2", WALK).absent()), (2, 0));
}

/// Second, longitude and latitude of each point.
type Segment = &'static [(u32, f64, f64)];

/// A file of GPX with these tracks.
fn gpx(tracks: &[(&str, &[Segment])]) -> String {
    let mut text = "<?xml version=\"1.0\"?>\n<gpx version=\"1.1\">\n".to_owned();
    for (name, segments) in tracks {
        text += &format!("<trk>{name}");
        for segment in *segments {
            text += "<trkseg>\n";
            for (second, lon, lat) in *segment {
                let time = format!("2021-06-30T10:00:{second:02}.000Z");
                text += &format!("<trkpt lat=\"{lat}\" lon=\"{lon}\"><ele>9</ele><time>{time}</time></trkpt>\n");
            }
            text += "</trkseg>";
        }
        text += "</trk>\n";
    }
    text + "</gpx>\n"
}

#[test]
fn gpx_tracks_are_nodes_in_metres_from_their_first_time() {
    let text = gpx(&[
        ("<name>Ann &amp; <![CDATA[Bob]]></name>", &[&[(5, 0.0, 0.0), (15, 0.001, 0.0)]]),
        ("", &[&[(10, 0.0, 0.001), (12, 0.0, 0.001)], &[], &[(20, 0.001, 0.001), (22, 0.0, 0.001)]]),
    ]);
    let tracks = traced("walk.gpx", &text);
    assert_eq!(names(&tracks), ["Ann & Bob", "2"]);
    // At the equator: 111.32 m to the east, 110.57 m to the north.
    assert_eq!(at(&tracks, 0, 0.0), (0.0, 0.0));
    assert!((at(&tracks, 0, 5.0).0 - 55.66).abs() < 0.01, "{:?}", at(&tracks, 0, 5.0));
    assert!((at(&tracks, 1, 0.0).1 - 110.57).abs() < 0.01, "{:?}", at(&tracks, 1, 0.0));
    assert_eq!(presence(&tracks, 0, &[0.0, 99.0]), [true, true]);
    assert_eq!(presence(&tracks, 1, &[0.0, 6.9, 7.0, 14.9, 15.0, 99.0]), [true, true, false, false, true, true]);
}

#[test]
fn gpx_without_times_or_tracks_is_refused() {
    let point = "<trkpt lat=\"1\" lon=\"1\">";
    let in_segment = |points: &str| format!("<gpx>\n<trk><trkseg>\n{points}\n</trkseg></trk></gpx>");
    for (text, line, reason) in [
        (in_segment(&format!("{point}</trkpt>")), 3, "this <trkpt> has no <time>"),
        (in_segment(&format!("{point}<time>noon</time></trkpt>")), 3, "a date must be"),
        (
            in_segment("<trkpt lon=\"1\"><time>2021-06-30T10:00:00Z</time></trkpt>"),
            3,
            "<trkpt> needs the attribute lat",
        ),
        (
            in_segment(&format!(
                "{point}<time>2021-06-30T10:00:09Z</time></trkpt>\n{point}<time>2021-06-30T10:00:00Z</time></trkpt>"
            )),
            4,
            "times of a track must not go back",
        ),
        ("<gpx>\n<wpt lat=\"1\" lon=\"1\"/></gpx>".into(), 2, "there is no <trk> with points"),
        ("<gpx>\n<trkseg></trkseg></gpx>".into(), 2, "outside of all <trk>"),
    ] {
        let said = refusal("walk.gpx", &text);
        assert!(said.starts_with(&format!("walk.gpx:{line}: ")) && said.contains(reason), "{text}: {said}");
    }
}

/// Where the ONE takes nodes to be at each of its steps: what comes next for a node is a step later, whatever time it
/// is given.
fn as_the_one_reads(text: &str) -> Vec<Vec<Point>> {
    let mut steps = Vec::new();
    let mut seen = std::collections::BTreeMap::<&str, usize>::new();
    for line in text.lines().skip(1) {
        let [_, node, x, y] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let step = seen.entry(node).and_modify(|step| *step += 1).or_default();
        if steps.len() == *step {
            steps.push(Vec::new());
        }
        steps[*step].push(Point { x: x.parse().unwrap(), y: y.parse().unwrap() });
    }
    steps
}

#[test]
fn the_one_finds_every_node_in_every_step_where_it_is_and_so_do_we() {
    let model = Model::RandomWaypoint(RandomWaypoint { speed_min: 0.3, speed_max: 30.0, pause: 4.0 });
    let movement = Movement::new(&model, Area { width: 1500.0, height: 300.0 }, 9, 5).unwrap();
    let tracks = Tracks::record(movement, seconds(100.25));
    for (step, steps) in [(0.1, 1004), (0.5, 202), (3.0, 35)] {
        let text = Format::One.write(&tracks, Span::from_units(step)).unwrap();
        let one = as_the_one_reads(&text);
        assert_eq!(one.len(), steps, "the last is the first at which all have arrived");
        assert!(one.iter().all(|places| places.len() == 9), "each has every node");
        let (mut there, mut here) =
            (Movement::from_tracks(tracks.clone()), Movement::from_tracks(traced("walk.one", &text)));
        assert_eq!(here.len(), 9);
        for (number, places) in (0_u64..).zip(&one) {
            let now = Time(number * seconds(step).0);
            there.advance(now);
            here.advance(now);
            for (node, place) in there.nodes().zip(places) {
                let truly = there.position(node, now);
                assert!(truly.distance_squared(*place) < 1e-12, "{node} at {now:?}, to the ONE");
                assert!(truly.distance_squared(here.position(node, now)) < 1e-12, "{node} at {now:?}, to us");
            }
        }
    }
}

//! `driftlock tracks` from outside.

mod outside;

use std::fs;

use outside::{Said, Scratch};
use serde_json::{Value, json};

fn driftlock(line: &str) -> Said {
    outside::driftlock(&line.split_whitespace().collect::<Vec<_>>())
}

const WALK: &str = "tracks walkers --nodes 12 --seconds 400 --seed 7";

#[test]
fn the_movements_of_a_field_are_written_read_again_and_run_on() {
    let scratch = Scratch::new("tracks");
    let ns2 = scratch.path("walk.ns2");
    let done = driftlock(&format!("{WALK} --out {ns2}"));
    assert_eq!((done.code, done.out.as_str()), (0, ""), "{}", done.err);
    assert_eq!(driftlock(WALK).out, fs::read_to_string(&ns2).unwrap(), "ns-2 is what comes without a name");
    let movements = scratch.path("walk.movements");
    assert_eq!(driftlock(&format!("tracks {ns2} --out {movements}")).code, 0);
    assert_eq!(fs::read_to_string(&movements).unwrap().lines().filter(|line| !line.starts_with('#')).count(), 12);
    let field = scratch.write("field.toml", "tracks = \"walk.ns2\"\n");
    let run = "--nodes 12 --k 2 --load 0.05 --entries 30 --warmup 5 --replications 1";
    let done = driftlock(&format!("sim --field {field} {run}"));
    assert_eq!(done.code, 0, "{}", done.err);
}

#[test]
fn they_are_the_movements_of_a_simulation_with_the_same_seed() {
    let scratch = Scratch::new("same-tracks");
    let trace = scratch.path("run.jsonl");
    let run = "--field walkers --nodes 12 --k 2 --load 0.05 --entries 10 --warmup 1 --replications 1 --seed 7";
    assert_eq!(driftlock(&format!("sim {run} --trace {trace}")).code, 0);
    let trace = fs::read_to_string(trace).unwrap();
    let lines = trace.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let starts: Vec<_> = lines.filter(|line| line["t"] == 0 && line["move"].is_u64()).collect();
    assert_eq!(starts.len(), 12);
    let written = driftlock(WALK).out;
    for start in starts {
        let node = &start["move"];
        let place = format!("$node_({node}) set X_ {}\n$node_({node}) set Y_ {}\n", start["at"][0], start["at"][1]);
        assert!(written.contains(&place), "{place}");
    }
}

const CARS: &str = "$node_(0) set X_ 10\n$node_(1) set X_ 60\n$ns_ at 1.0 \"$node_(0) setdest 30 20 10\" ;# away\n";

#[test]
fn a_file_of_movements_is_known_by_its_first_lines_and_run_on_as_it_is() {
    let scratch = Scratch::new("known-tracks");
    for name in ["scen-2-20", "cars.scen", "cars.txt"] {
        let file = scratch.write(name, CARS);
        let written = driftlock(&format!("tracks {file}"));
        assert_eq!(written.code, 0, "{name}: {}", written.err);
        assert!(written.out.contains("$node_(1) set X_ 60\n"), "{}", written.out);
        let run = "--k 1 --load 20 --cs-time 0.01 --entries 5 --warmup 0 --replications 1 --format json";
        let done = driftlock(&format!("sim --tracks {file} {run}"));
        assert_eq!(done.code, 0, "{name}: {}", done.err);
        let json: Value = serde_json::from_str(&done.out).unwrap();
        assert_eq!((&json["config"]["nodes"], &json["config"]["field"]["tracks"]), (&2.into(), &file.into()));
    }
    let cars = scratch.path("cars.scen");
    let run = "--k 1 --load 20 --cs-time 0.01 --entries 5 --warmup 0 --replications 1";
    let said = driftlock(&format!("sim --tracks {cars} {run}"));
    assert!(said.out.contains(&format!("krl on 2 nodes with k = 1: load 20, a field with the movements of {cars}\n")));
    let field = scratch.write("field", "movement = { model = \"grid\" }\n");
    assert_eq!(driftlock(&format!("tracks {field}")).code, 0, "a field needs no suffix");
}

#[test]
fn the_one_gets_every_node_at_every_step() {
    let scratch = Scratch::new("one-tracks");
    let cars = scratch.write("cars.tcl", CARS);
    let written = driftlock(&format!("tracks {cars} --format one --step 0.5"));
    assert_eq!(written.code, 0, "{}", written.err);
    let lines: Vec<_> = written.out.lines().collect();
    // They have arrived after 3.83 s.
    assert_eq!((lines[0], lines.len()), ("0 4 0 60 0 20 0 0", 1 + 9 * 2));
    assert_eq!(lines[5..7], ["1 0 10 0", "1 1 60 0"]);
    let [time, node, x, y] = lines[9].split(' ').map(|word| word.parse::<f64>().unwrap()).collect::<Vec<_>>()[..]
    else {
        panic!("{}", lines[9])
    };
    let gone = 10.0 / 800_f64.sqrt() * 20.0;
    assert!((time, node) == (2.0, 0.0) && (x - 10.0 - gone).abs() < 1e-6 && (y - gone).abs() < 1e-6, "{}", lines[9]);
}

#[test]
fn fields_and_movements_in_the_place_of_each_other_say_what_to_type() {
    let scratch = Scratch::new("swapped-tracks");
    let cars = scratch.write("cars.tcl", CARS);
    let own = scratch.write("own.toml", "movement = { model = \"grid\" }\n");
    let text = scratch.write("own.txt", "area = { width = 9, height = 9 }\n");
    let wrong = scratch.write("wrong.toml", "tracks = \"own.txt\"\n");
    let odd = scratch.write("odd.txt", "once upon a time\n");
    for (flags, complaints) in [
        (
            format!("sim --field {cars}"),
            vec!["cars.tcl is a file of movements (ns-2), and not TOML", "give it as --tracks"],
        ),
        (format!("sim --config {cars}"), vec!["is a file of movements (ns-2), and not TOML", "give it as --tracks"]),
        (format!("sim --tracks {own}"), vec!["own.toml:1: this looks like the file of a field (TOML)", "as --field"]),
        (format!("sim --tracks {text}"), vec!["own.txt:1: this looks like the file of a field (TOML)", "as --field"]),
        (format!("sim --field {wrong}"), vec!["wrong.toml, line 1", "own.txt:1: this looks like the file of a field"]),
        ("sim --tracks walkers".into(), vec!["cannot read walkers", "a field has that name: --field walkers"]),
        ("sim --field nowhere.tcl".into(), vec!["cannot read nowhere.tcl"]),
        (format!("sim --tracks {cars} --nodes 5"), vec!["cars.tcl tells of 2 nodes", "give --nodes 2"]),
        (format!("tracks {odd}"), vec!["neither movements nor a field", "odd.txt:1: the first lines", "As a field: "]),
    ] {
        let said = driftlock(&flags);
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{flags}: {}", said.err);
        // As one line, and a path may be wrapped anywhere.
        let without_blanks = |text: &str| text.replace(|c: char| c.is_whitespace() || c == '│', "");
        for complaint in complaints {
            assert!(without_blanks(&said.err).contains(&without_blanks(complaint)), "{flags}: {}", said.err);
        }
    }
}

#[test]
fn what_makes_no_sense_is_said_in_words() {
    for (flags, complaint) in [
        ("tracks nowhere", "fields that need no file"),
        ("tracks walkers --out moves.txt", "give --format"),
        ("tracks walkers --out moves.xml", "SUMO is read only"),
        ("tracks walkers --out moves.gpx", "GPX is read only"),
        ("tracks walkers --out moves.ns2.gz", "leave .gz away"),
        ("tracks walkers --step 2", "only files for the ONE have steps, and this is for ns-2"),
        ("tracks walkers --format one --step 0", "from 0.001 to a million"),
        ("tracks walkers --format one --seconds 1000000 --step 0.5", "take --step 2.5"),
        ("tracks walkers --seconds 0", "more than 0"),
        ("tracks walkers --nodes 0", "0 is not in 1..=100000"),
        ("tracks nowhere.ns2 --nodes 4", "go with a field"),
        ("tracks nowhere.ns2", "cannot read nowhere.ns2"),
    ] {
        let said = driftlock(flags);
        assert_eq!(said.code, 2, "{flags}: {}", said.err);
        // As one line, however it was wrapped.
        let words: Vec<_> = said.err.split_whitespace().filter(|word| *word != "│").collect();
        assert!(words.join(" ").contains(complaint), "{flags}: {}", said.err);
    }
}

/// A place of a node at a time, by the lines that it is told in: the last one not after that time decides.
fn place(told: &[(f64, [f64; 2], [f64; 2])], time: f64) -> [f64; 2] {
    let (since, at, velocity) = told[told.partition_point(|(since, ..)| *since <= time) - 1];
    [0, 1].map(|axis| at[axis] + velocity[axis] * (time - since))
}

#[test]
fn positions_rebuilt_from_a_trace_are_those_of_the_tracks() {
    // Legs of one to three seconds, which nobody looks at while they last: hardly anybody asks for anything.
    let (nodes, seconds) = (6_u32, 1_200_u32);
    let mut steps = 1_u64;
    let mut draw = |end: u32| {
        steps = steps.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        u32::try_from((steps >> 33) % u64::from(end)).unwrap()
    };
    let mut ways = Vec::new();
    let mut table = String::from("time,id,x,y\n");
    for node in 0..nodes {
        let (mut way, mut time) = (Vec::new(), 0);
        while time < seconds {
            let point = [f64::from(draw(90)), f64::from(draw(90))];
            table += &format!("{time},{node},{},{}\n", point[0], point[1]);
            way.push((f64::from(time), point));
            time += 1 + draw(3);
        }
        ways.push(way);
    }
    let scratch = Scratch::new("rebuilt");
    let (file, trace) = (scratch.write("legs.csv", &table), scratch.path("run.jsonl"));
    let run = "--k 1 --load 0.002 --entries 8 --warmup 0 --replications 1";
    let done = driftlock(&format!("sim --tracks {file} {run} --trace {trace}"));
    assert_eq!(done.code, 0, "{}", done.err);

    let mut told = vec![Vec::new(); nodes as usize];
    let mut end: f64 = 0.0;
    for line in fs::read_to_string(&trace).unwrap().lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let Some(nanoseconds) = line["t"].as_f64() else { continue };
        end = end.max(nanoseconds / 1e9);
        if let Some(node) = line["move"].as_u64() {
            let pair = |name: &str| [0, 1].map(|axis| line[name][axis].as_f64().unwrap());
            told[usize::try_from(node).unwrap()].push((nanoseconds / 1e9, pair("at"), pair("velocity")));
        }
    }
    assert!(end > 300.0, "the run should last a while: {end}");
    for _ in 0..10_000 {
        let node = draw(nodes) as usize;
        let time = f64::from(draw(1_000_000)) / 1e6 * end.min(f64::from(seconds) - 4.0);
        let next = ways[node].partition_point(|(at, _)| *at <= time);
        let ((before, from), (after, to)) = (ways[node][next - 1], ways[node][next]);
        let part = (time - before) / (after - before);
        let truth = [0, 1].map(|axis| from[axis] + (to[axis] - from[axis]) * part);
        let rebuilt = place(&told[node], time);
        let off = (truth[0] - rebuilt[0]).hypot(truth[1] - rebuilt[1]);
        assert!(off < 1.0, "node {node} at {time} s: {rebuilt:?}, but it is at {truth:?}");
    }
}

/// Three vehicles that come at 0, 10 and 20 s and leave a minute later, in steps of a second, of which there are so
/// many.
fn vehicles(steps: u32, start: u32) -> String {
    let mut fcd = String::from("<fcd-export>\n");
    for time in 0..steps {
        fcd += &format!("<timestep time=\"{}.00\">\n", start + time);
        for (number, comes) in [(0, 0), (1, 10), (2, 20)] {
            if (comes..comes + 60).contains(&time) {
                let x = 10 * number + time;
                fcd += &format!("<vehicle id=\"v{number}\" x=\"{x}.0\" y=\"5.0\" speed=\"1.0\"/>\n");
            }
        }
        fcd += "</timestep>\n";
    }
    fcd + "</fcd-export>\n"
}

#[test]
fn a_run_ends_when_the_movements_do_also_if_nodes_stay() {
    let scratch = Scratch::new("over");
    let (file, trace) = (scratch.write("cars.xml", &vehicles(50, 0)), scratch.path("run.jsonl"));
    let run = "--k 1 --load 0.2 --cs-time 0.1 --replications 1 --entries 1000 --warmup 0 --format json";
    let done = driftlock(&format!("sim --tracks {file} {run} --trace {trace}"));
    assert_eq!(done.code, 0, "{}", done.err);
    let json: Value = serde_json::from_str(&done.out).unwrap();
    let said = format!("cars.xml: the movements are over at 49 s; {} entries were counted of 1000", json["entries"]);
    assert!(
        done.err.contains(&said) && done.err.contains("lower --warmup (now 0) or --entries (now 1000)"),
        "{}",
        done.err
    );
    assert_eq!(json["span"], 49.0);
    let text = fs::read_to_string(&trace).unwrap();
    let end: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!(end["end"]["t"], 49_000_000_000_u64);

    let stands = scratch.write("stands.ns2", "$node_(0) set X_ 10\n$node_(1) set X_ 60\n");
    let done = driftlock(&format!("sim --tracks {stands} --k 1 --load 0.2 --replications 1 --entries 40 --warmup 0"));
    assert_eq!((done.code, done.err.as_str()), (0, ""), "a placement has no end");
}

#[test]
fn nobody_is_said_to_wait_in_vain_while_all_are_absent() {
    // For two and a half hours, and patience lasts 7,052 s. One of them waits when they leave.
    let mut gap = String::from("$node_(0) set X_ 10\n$node_(1) set X_ 60\n");
    for node in [0, 1] {
        gap += &format!("$ns_ at 20 \"$node_({node}) off\"\n$ns_ at 9000 \"$node_({node}) on\"\n");
    }
    gap += "$ns_ at 9000 \"$node_(0) setdest 110 0 1\"\n";
    let scratch = Scratch::new("gap");
    let file = scratch.write("gap.tcl", &gap);
    let run = "--k 1 --load 10 --cs-time 5 --replications 1 --entries 5000 --warmup 0";
    let done = driftlock(&format!("sim --tracks {file} {run}"));
    assert_eq!(done.code, 0, "{}", done.out);
    assert!(done.err.contains("the movements are over at 9100 s"), "{}", done.err);
}

#[test]
fn a_trace_tells_who_is_absent_and_its_plane_holds_all_places() {
    let scratch = Scratch::new("absent");
    let cars = "$node_(0) set X_ -70\n$node_(0) set Y_ 9000\n$node_(1) set X_ -40\n$node_(1) set Y_ 9010\n\
                $ns_ at 5 \"$node_(0) setdest -20 9000 1\"\n$ns_ at 10 \"$node_(1) off\"\n$ns_ at 20 \"$node_(1) on\"\n";
    let (file, trace) = (scratch.write("cars.tcl", cars), scratch.path("run.jsonl"));
    let done = driftlock(&format!(
        "sim --tracks {file} --k 1 --load 1 --entries 1000 --warmup 0 --replications 1 --trace {trace}"
    ));
    assert_eq!(done.code, 0, "{}", done.err);
    let text = fs::read_to_string(&trace).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let plane = &lines[0]["field"];
    assert_eq!(
        (&plane["origin"], &plane["width"], &plane["height"]),
        (&json!([-70.0, 9000.0]), &50.0.into(), &10.0.into())
    );
    let told = |line: &&Value| line["move"] == 1;
    let told: Vec<_> =
        lines.iter().filter(told).map(|line| (line["t"].as_u64().unwrap() / 1_000_000_000, &line["absent"])).collect();
    assert_eq!(told, [(0, &Value::Null), (10, &true.into()), (20, &Value::Null)]);
}

#[test]
fn a_file_that_begins_late_is_run_on_from_when_the_first_node_is_there() {
    let scratch = Scratch::new("late");
    let (file, trace) = (scratch.write("cars.xml", &vehicles(90, 25_200)), scratch.path("run.jsonl"));
    let run = "--k 1 --load 1 --cs-time 0.1 --replications 1 --entries 20 --warmup 0 --warmup-time 5 --format json";
    let done = driftlock(&format!("sim --tracks {file} {run} --trace {trace}"));
    assert_eq!((done.code, done.err.as_str()), (0, ""));
    let json: Value = serde_json::from_str(&done.out).unwrap();
    assert!(json["span"].as_f64().unwrap() < 80.0, "{}", json["span"]);
    let text = fs::read_to_string(&trace).unwrap();
    let times = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).unwrap()["t"].as_u64());
    assert_eq!(times.min(), Some(25_200_000_000_000), "times are those of the file");
    let again = driftlock(&format!("replay --rerun {trace}"));
    assert_eq!(again.code, 0, "{} {}", again.out, again.err);
}

#[test]
fn what_is_wrong_with_a_file_of_movements_is_said_by_tracks_as_by_sim() {
    let scratch = Scratch::new("causes");
    let zstd = [0x28, 0xb5, 0x2f, 0xfd, 0x24, 0x88, 0x41];
    for (name, bytes, cause) in [
        ("walk.bz2", &b"BZh91AY&SY\xff\xfe"[..], "compressed by bzip2"),
        ("fcd.xml.xz", b"\xfd7zXZ\x00\x00\xff", "compressed by xz"),
        ("cut.zst", &zstd, "the file cannot be read"),
        ("some.bin", b"\xff\xfe\x00\x01", "none of the known kinds"),
    ] {
        let file = scratch.path(name);
        fs::write(&file, bytes).unwrap();
        for command in ["tracks", "sim --tracks"] {
            let said = driftlock(&format!("{command} {file}"));
            let words: Vec<_> = said.err.split_whitespace().filter(|word| *word != "│").collect();
            assert!(said.code == 2 && words.join(" ").contains(cause), "{command} {name}: {}", said.err);
            assert!(!said.err.contains("UTF-8"), "{command} {name}: {}", said.err);
        }
    }
}

#[test]
#[cfg(unix)]
fn a_pipe_is_refused_before_it_is_opened() {
    let scratch = Scratch::new("pipe");
    let pipe = scratch.path("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for command in ["tracks", "sim --tracks", "traffic --tracks"] {
        let said = driftlock(&format!("{command} {pipe}"));
        assert!(said.code == 2 && said.err.contains("no regular file"), "{command}: {}", said.err);
    }
}

#[test]
fn absence_is_lost_with_a_warning_in_formats_that_have_no_words_for_it() {
    let scratch = Scratch::new("lost");
    let file = scratch.write("cars.xml", &vehicles(90, 0));
    for (format, warned) in [("bonnmotion", true), ("one", true), ("ns-2", false)] {
        let said = driftlock(&format!("tracks {file} --format {format}"));
        assert_eq!(said.code, 0);
        assert_eq!(said.err.contains("of 3 nodes it is lost when they are absent"), warned, "{format}: {}", said.err);
    }
}

#[test]
fn a_run_ends_when_all_have_left_and_those_who_are_not_there_do_not_ask() {
    let scratch = Scratch::new("left");
    let (file, trace) = (scratch.write("cars.xml", &vehicles(90, 0)), scratch.path("run.jsonl"));
    let run = format!("sim --tracks {file} --k 1 --load 0.2 --cs-time 0.1 --replications 1");
    let done = driftlock(&format!("{run} --entries 1000 --warmup 0 --trace {trace} --format json"));
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(done.err.contains("the movements are over at 80 s"), "{}", done.err);
    let json: Value = serde_json::from_str(&done.out).unwrap();
    for open in ["waiting_at_end", "longest_open_wait", "overdue_at_end"] {
        assert_eq!(json[open].as_f64(), Some(0.0), "{open}: nobody is there any more");
    }
    let asked = fs::read_to_string(&trace).unwrap();
    let asked = asked.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut count = 0;
    for line in asked.filter(|line| line["in"].get("request").is_some() || line["in"] == "request") {
        let (time, node) = (line["t"].as_f64().unwrap() / 1e9, line["node"].as_f64().unwrap());
        assert!((10.0 * node..=10.0 * node + 60.0).contains(&time), "vehicle {node} asks at {time} s");
        count += 1;
    }
    assert!(count > 5, "{count} requests");
    let done = driftlock(&format!("{run} --entries 10 --warmup 1000"));
    assert!(done.code == 2 && done.err.contains("lower --warmup"), "{} {}", done.code, done.err);
}

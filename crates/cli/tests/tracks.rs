//! `driftlock tracks` from outside.

mod outside;

use std::fs;

use outside::{Said, Scratch};
use serde_json::Value;

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
        let run = "--k 1 --load 0.05 --entries 10 --warmup 0 --replications 1 --format json";
        let done = driftlock(&format!("sim --tracks {file} {run}"));
        assert_eq!(done.code, 0, "{name}: {}", done.err);
        let json: Value = serde_json::from_str(&done.out).unwrap();
        assert_eq!((&json["config"]["nodes"], &json["config"]["field"]["tracks"]), (&2.into(), &file.into()));
    }
    let cars = scratch.path("cars.scen");
    let said = driftlock(&format!("sim --tracks {cars} --k 1 --load 0.05 --entries 10 --warmup 0 --replications 1"));
    assert!(
        said.out.contains(&format!("krl on 2 nodes with k = 1: load 0.05, a field with the movements of {cars}\n"))
    );
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
        ("sim --tracks walkers".into(), vec!["can not read walkers", "a field has that name: --field walkers"]),
        ("sim --field nowhere.tcl".into(), vec!["can not read nowhere.tcl"]),
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
        ("tracks nowhere.ns2", "can not read nowhere.ns2"),
    ] {
        let said = driftlock(flags);
        assert_eq!(said.code, 2, "{flags}: {}", said.err);
        // As one line, however it was wrapped.
        let words: Vec<_> = said.err.split_whitespace().filter(|word| *word != "│").collect();
        assert!(words.join(" ").contains(complaint), "{flags}: {}", said.err);
    }
}

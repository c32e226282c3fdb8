//! Commands that are printed or documented can be copied into a shell as they stand, and runs be done again from any
//! folder.

mod outside;

use std::fs;
use std::path::Path;
use std::process::Command;

use outside::{Said, Scratch, driftlock};

/// A field on which links break soon.
const HASTY: &str = "area = { width = 400, height = 300 }\nradio = \"nfk\"\n\
                     movement = { model = \"random-waypoint\", speed_min = 5.0, speed_max = 30.0 }\n";
/// A replication in which a token is lost, if a field is given.
const BROKEN: &str = "--without reclaim --check --nodes 8 --k 2 --load 0.5 --entries 300 --warmup 0 --replications 2";

/// Runs the binary with these words in a folder.
fn within(folder: &Path, words: &[&str]) -> Said {
    let output = Command::new(env!("CARGO_BIN_EXE_driftlock")).args(words).current_dir(folder).output();
    said(&output.expect("the binary runs"))
}

/// Has a shell run a command in a folder, word for word.
fn copied(folder: &Path, command: &str) -> Said {
    let binary = Path::new(env!("CARGO_BIN_EXE_driftlock")).parent().expect("a folder").display().to_string();
    let path = format!("{binary}:{}", std::env::var("PATH").unwrap_or_default());
    let output = Command::new("sh").args(["-c", command]).env("PATH", path).current_dir(folder).output();
    said(&output.expect("there is a shell"))
}

fn said(output: &std::process::Output) -> Said {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Said { code: output.status.code().unwrap_or(-1), out: text(&output.stdout), err: text(&output.stderr) }
}

/// The line with the command.
fn command(text: &str) -> String {
    text.lines().find(|line| line.starts_with("  driftlock ")).unwrap_or_else(|| panic!("{text}")).to_owned()
}

/// A trace of a violation was written there, and plays.
fn is_recorded(folder: &Path) {
    let said = within(folder, &["replay", "violation.jsonl"]);
    assert!(said.code == 0 && said.out.contains("ended with a violation"), "{}{}", said.out, said.err);
    fs::remove_file(folder.join("violation.jsonl")).expect("it is there");
}

/// A folder whose name a shell would take for several words, or for a command.
fn awkward(scratch: &Scratch) -> String {
    let folder = scratch.path("my $(net)'s; runs");
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

#[test]
fn what_sim_prints_after_a_violation_can_be_copied_with_its_files() {
    let scratch = Scratch::new("copy-sim");
    let folder = awkward(&scratch);
    let folder = Path::new(&folder);
    fs::write(folder.join("a field.toml"), HASTY).expect("written");
    fs::write(folder.join("a config.toml"), format!("seed = 9\n[field]\n{HASTY}")).expect("written");
    let broken: Vec<&str> = BROKEN.split(' ').collect();
    let full = folder.join("a field.toml").display().to_string();
    for more in [
        &["--field", "a field.toml"][..],
        &[&format!("--field={full}")],
        // The file has what the flags have not, and something that a flag sets back to the default.
        &["--config", "a config.toml", "--seed", "1"],
    ] {
        let said = within(folder, &[&["sim"], &broken[..], more, &["--format", "csv", "--output", "o.csv"]].concat());
        assert_eq!(said.code, 1, "{more:?}: {}", said.err);
        let command = command(&said.err);
        assert!(!command.contains("o.csv"), "{command}");
        fs::remove_file(folder.join("o.csv")).expect("the results");
        let again = copied(folder, &command);
        assert_eq!(again.code, 1, "{command}: {}", again.err);
        assert!(again.out.contains("  replication 0:"), "{}", again.out);
        is_recorded(folder);
        assert!(!folder.join("o.csv").exists(), "the results of before are left alone");
    }
}

#[test]
fn what_soak_and_check_print_after_a_violation_can_be_copied() {
    let scratch = Scratch::new("copy-check");
    let folder = awkward(&scratch);
    let folder = Path::new(&folder);
    let said = within(folder, &["soak", "krl", "--without", "pending-request", "--threads", "1"]);
    assert_eq!(copied(folder, &command(&said.out)).code, 1, "{}", said.out);
    is_recorded(folder);
    for words in [
        "check krl --as-published",
        "check krl --without reclaim --link-failure returned --failures 2 --formations 0 --safety-only",
        "check hok --as-published --k 2 --units 1,2 --priorities 0,1 --topology all",
        "check klme --without stale-leader --crossings 1 --walks 20000 --seed 3",
        "check krl --as-published --also calm --topology line --timed --tick 20s --drift 1",
        "check krlf --over-radios --without acknowledge --k 2 --link-changes 0",
    ] {
        let said = within(folder, &words.split(' ').collect::<Vec<_>>());
        assert_eq!(said.code, 1, "{words}: {}{}", said.out, said.err);
        let again = copied(folder, &command(&said.out));
        assert_eq!(again.code, 1, "{words}: {}{}", again.out, again.err);
        let found = |text: &str| text.lines().find(|line| line.contains("VIOLATED")).map(str::to_owned);
        assert_eq!(found(&again.out), found(&said.out), "{words}");
        assert!(folder.join("violation.svg").exists(), "{words}");
        is_recorded(folder);
    }
}

#[test]
fn what_check_prints_of_a_kept_counterexample_can_be_copied() {
    let scratch = Scratch::new("copy-kept");
    let folder = awkward(&scratch);
    let said = within(Path::new(&folder), &["check", "krl", "--as-published", "--trace", "it's a trace.jsonl"]);
    let again = copied(Path::new(&folder), &command(&said.out));
    assert!(again.code == 0 && again.out.contains("ended with a violation"), "{}{}", again.out, again.err);
}

#[test]
fn a_violation_in_a_report_says_how_to_record_it() {
    let scratch = Scratch::new("copy-report");
    let folder = awkward(&scratch);
    let folder = Path::new(&folder);
    let field =
        HASTY.replace("area", "field.area").replace("radio", "field.radio").replace("movement", "field.movement");
    let experiment = format!(
        "name = \"mine\"\ntitle = \"Mine\"\nabout = \"A test.\"\n[base]\nnodes = 8\nk = 2\nwarmup = 0\n\
         without = [\"reclaim\"]\ncheck = true\n{field}[vary]\nalgorithm = [\"krl\"]\nload = [0.5]\n\
         [figure]\nx = \"load\"\nx_label = \"load\"\ny = \"jain\"\ny_label = \"Jain's index\"\ncolour = {{ by = \"algorithm\", names = [\"KRL\"] }}\n"
    );
    fs::write(folder.join("mine.toml"), experiment).expect("written");
    let words = ["reproduce", "mine.toml", "--out", "my results", "--entries", "300", "--replications", "1"];
    let said = within(folder, &words);
    assert_eq!(said.code, 1, "{}{}", said.out, said.err);
    let page = fs::read_to_string(folder.join("my results/report.html")).expect("a report");
    let (_, rest) = page.split_once("<code>driftlock sim ").expect("a command");
    let (command, _) = rest.split_once("</code>").expect("its end");
    let command = format!("driftlock sim {}", command.replace("&#39;", "'").replace("&quot;", "\""));
    let again = copied(folder, &command);
    assert_eq!(again.code, 1, "{command}: {}", again.err);
    is_recorded(folder);
}

#[test]
fn a_run_on_tracks_is_done_again_from_any_folder_and_where_its_files_were_moved_together() {
    let scratch = Scratch::new("any-folder");
    let root = scratch.path("");
    let root = Path::new(&root);
    for folder in ["here/fields", "here/runs", "elsewhere"] {
        fs::create_dir_all(root.join(folder)).expect("a folder");
    }
    let (here, elsewhere) = (root.join("here"), root.join("elsewhere"));
    fs::write(here.join("fields/two.movements"), "0 0 0 100 50 0\n0 40 40\n").expect("written");
    fs::write(here.join("fields/two.toml"), "tracks = \"two.movements\"\n").expect("written");
    let few = ["--nodes", "2", "--k", "1", "--entries", "10", "--warmup", "0", "--replications", "1"];
    let on_flag = ["--field", "walkers", "--tracks", "fields/two.movements"];
    for on in [&["--field", "fields/two.toml"][..], &on_flag] {
        let said = within(&here, &[&["sim", "--trace", "runs/run.jsonl"], on, &few].concat());
        assert_eq!(said.code, 0, "{on:?}: {}", said.err);
        let trace = here.join("runs/run.jsonl").display().to_string();
        for (folder, trace) in [(&here, "runs/run.jsonl"), (&here.join("runs"), "run.jsonl"), (&elsewhere, &*trace)] {
            let said = within(folder, &["replay", "--rerun", trace]);
            assert_eq!(said.code, 0, "{on:?}, {}: {}{}", folder.display(), said.out, said.err);
        }
    }
    fs::rename(&here, root.join("there")).expect("moved");
    let said = within(&elsewhere, &["replay", "--rerun", "../there/runs/run.jsonl"]);
    assert_eq!(said.code, 0, "moved together: {}{}", said.out, said.err);
    fs::remove_file(root.join("there/fields/two.movements")).expect("removed");
    let said = within(&elsewhere, &["replay", "--rerun", "../there/runs/run.jsonl"]);
    let err = said.err.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ");
    assert!(said.code == 2 && err.contains("looked for from where the trace is"), "{err}");
}

#[test]
fn what_can_not_be_written_is_said_before_the_work() {
    let scratch = Scratch::new("unwritable");
    let folder = scratch.path("");
    let folder = Path::new(&folder);
    let quick = "sim --field walkers --nodes 5 --k 1 --entries 5 --warmup 0 --replications 1 --trace run.jsonl";
    for more in [["--output", "nowhere/run.csv"], ["--pcap", "nowhere/run.pcapng"], ["--output", "."]] {
        let said = within(folder, &[&quick.split(' ').collect::<Vec<_>>()[..], &more].concat());
        assert!(said.code == 2 && said.err.contains(&format!("cannot write {}", more[1])), "{}", said.err);
        assert!(!folder.join("run.jsonl").exists(), "{more:?}: a replication was run for nothing");
    }
    for flag in ["--trace", "--chart"] {
        let said = within(folder, &["check", "krl", "--as-published", flag, "nowhere/it"]);
        assert!(said.code == 2 && said.err.contains("cannot write nowhere/it"), "{}", said.err);
        assert_eq!(said.out, "", "{flag}: it was searched for nothing");
    }
    fs::create_dir_all(folder.join("out/report.html")).expect("a folder where a file should be");
    let said = within(folder, &["reproduce", "fig9", "--out", "out", "--entries", "10", "--replications", "1"]);
    assert!(said.code == 2 && said.err.contains("cannot write out/report.html"), "{}", said.err);
    assert_eq!(fs::read_dir(folder.join("out")).expect("a folder").count(), 1, "figures were drawn for nothing");
}

#[test]
fn a_file_that_is_there_is_not_harmed_by_a_command_that_is_refused() {
    let scratch = Scratch::new("unharmed");
    let file = scratch.write("results.csv", "precious");
    assert_eq!(driftlock(&["sim", "--output", &file, "--pcap", &scratch.path("no.pcapng")]).code, 2);
    assert_eq!(fs::read_to_string(file).expect("it is there"), "precious");
}

#[test]
fn no_command_writes_over_what_it_reads() {
    let scratch = Scratch::new("over");
    let places = "$node_(0) set X_ 1\n$node_(0) set Y_ 1\n$node_(1) set X_ 2\n$node_(1) set Y_ 2\n";
    let movements = scratch.write("a.tcl", &format!("{places}$ns_ at 1 \"$node_(0) setdest 9 9 1\"\n"));
    let config = scratch.write("c.toml", "nodes = 20\n");
    let field = scratch.write("f.toml", "area = { width = 100, height = 100 }\n");
    for (command, file) in [
        (vec!["sim", "--tracks", &movements, "--k", "1", "--trace", &movements], &movements),
        (vec!["traffic", "--tracks", &movements, "--pcap", &movements], &movements),
        (vec!["tracks", &movements, "--format", "ns-2", "--out", &movements], &movements),
        (vec!["sim", "--config", &config, "--output", &config], &config),
        (vec!["sim", "--field", &field, "--trace", &field], &field),
    ] {
        let before = fs::read_to_string(file).expect("it is there");
        let said = driftlock(&command);
        assert!(said.code == 2 && said.err.contains("it is read as well"), "{command:?} says {}", said.err);
        assert_eq!(fs::read_to_string(file).expect("it is there"), before);
    }
    let same = scratch.path("same");
    let said = driftlock(&["sim", "--trace", &same, "--output", &same]);
    assert!(said.code == 2 && said.err.contains("it is to be written twice"), "{}", said.err);
}

/// The pages whose commands are tried.
const PAGES: [&str; 2] = ["README.md", "docs/commands.md"];

/// The commands of a page's code blocks, in a console with or without the prompt, less what a comment says.
fn commands(page: &str) -> Vec<Vec<String>> {
    let path = format!("{}/../../{page}", env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(path).expect("the page is there");
    let in_blocks = text.split("```").skip(1).step_by(2).flat_map(str::lines);
    let commands = in_blocks.filter_map(|line| line.strip_prefix("$ ").unwrap_or(line).strip_prefix("driftlock "));
    let words = |command: &str| command.split_whitespace().take_while(|word| *word != "#").map(str::to_owned).collect();
    commands.map(words).collect()
}

/// With `--help` behind it a command does nothing, but what comes before is read.
fn is_taken(command: &[String]) -> Result<(), String> {
    let args: Vec<_> = command.iter().map(String::as_str).chain(["--help"]).collect();
    let said = driftlock(&args);
    if said.code == 0 { Ok(()) } else { Err(format!("driftlock {}: {}", args.join(" "), said.err)) }
}

#[test]
fn every_command_of_the_documentation_is_one_that_the_binary_takes() {
    let refused = is_taken(&["sim".into(), "--no-such-flag".into()]);
    assert!(refused.is_err(), "or nothing is shown");
    for page in PAGES {
        let commands = commands(page);
        assert!(commands.len() >= 5, "{page} has {} commands", commands.len());
        for command in &commands {
            is_taken(command).unwrap_or_else(|says| panic!("{page}: {says}"));
        }
    }
}

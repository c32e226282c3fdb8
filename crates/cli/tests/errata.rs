//! The errata's counterexamples: each transcript in docs/errata begins with the command that finds it, and is what that
//! command prints. `DRIFTLOCK_BLESS=1 cargo test -p driftlock-cli --test errata` writes them anew.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/errata")
}

/// Every transcript, by name.
fn transcripts() -> Vec<PathBuf> {
    let entries = fs::read_dir(folder()).expect("docs/errata is there");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("a readable entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "txt"));
    paths.sort();
    paths
}

/// The command on a transcript's first line, carried out.
fn regenerated(path: &Path, text: &str) -> String {
    let first = text.lines().next().unwrap_or_default();
    let command = first.strip_prefix("$ driftlock ").unwrap_or_else(|| panic!("{} names no command", path.display()));
    let run =
        Command::new(env!("CARGO_BIN_EXE_driftlock")).args(command.split_whitespace()).output().expect("it starts");
    assert_eq!(run.status.code(), Some(1), "{first} finds a violation: {}", String::from_utf8_lossy(&run.stderr));
    format!("{first}\n{}", String::from_utf8(run.stdout).expect("text"))
}

#[test]
fn every_counterexample_of_the_errata_is_what_the_checker_finds() {
    let bless = std::env::var_os("DRIFTLOCK_BLESS").is_some();
    for path in transcripts() {
        let text = fs::read_to_string(&path).expect("a readable transcript");
        let again = regenerated(&path, &text);
        if bless {
            fs::write(&path, again).expect("a writable transcript");
        } else {
            assert!(text == again, "{} differs; it would now be:\n{again}", path.display());
        }
    }
}

#[test]
fn every_transcript_is_in_the_errata_and_every_repair_has_one() {
    let errata = fs::read_to_string(folder().join("../errata.md")).expect("docs/errata.md is there");
    for path in transcripts() {
        let name = path.file_name().and_then(|name| name.to_str()).expect("a plain name");
        assert!(errata.contains(name), "docs/errata.md does not mention {name}");
    }
    for algorithm in driftlock_protocol::ALGORITHMS {
        for repair in algorithm.repairs() {
            assert!(errata.contains(&format!("`{}`", repair.name)), "docs/errata.md does not mention {}", repair.name);
        }
    }
}

/// What a paper assumes of links, as flags of the checker: incipient failures are detected; partitions do not occur.
const LINK_ASSUMPTIONS: [(&str, &str, &[&str]); 2] = [
    ("krl", "KRL and KRLF", &["--link-failure drained"]),
    ("hok", "Prioritized h-out-of-k", &["--link-failure drained", "--connected"]),
];

/// The repairs in the table of a section, each with what is said of the paper's assumptions.
fn verdicts<'a>(errata: &'a str, heading: &str) -> Vec<(&'a str, &'a str)> {
    let (_, section) = errata.split_once(&format!("\n## {heading}\n")).expect("the section is there");
    let section = section.split("\n## ").next().expect("there is always a first part");
    let cells = section.lines().map(|line| line.trim_matches(['|', ' ']).split(" | ").collect::<Vec<_>>());
    let row = |cells: Vec<&'a str>| match cells[..] {
        [repair, _, _, _, verdict] => Some((repair.strip_prefix('`')?.strip_suffix('`')?, verdict)),
        _ => None,
    };
    cells.filter_map(row).collect()
}

/// Whether a transcript such as `krlf-acknowledge.txt` is about this repair of this algorithm or one of its variants.
fn is_about(path: &Path, algorithm: &str, repair: &str) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).expect("a plain name");
    name.split_once('-').is_some_and(|(tag, about)| tag.starts_with(algorithm) && about.starts_with(repair))
}

#[test]
fn a_counterexample_keeps_to_the_papers_assumptions_unless_the_errata_say_otherwise() {
    let errata = fs::read_to_string(folder().join("../errata.md")).expect("docs/errata.md is there");
    for (algorithm, heading, assumptions) in LINK_ASSUMPTIONS {
        let rows = verdicts(&errata, heading);
        let repairs = driftlock_protocol::Algorithm::named(algorithm).expect("it is there").repairs();
        assert_eq!(rows.len(), repairs.len(), "the table of {heading} has a row for each repair");
        for (repair, verdict) in rows.into_iter().chain([("as-published", "no")]) {
            assert!(verdict.starts_with("no") || verdict.starts_with("by assumption"), "{repair}: {verdict}");
            for path in transcripts().into_iter().filter(|path| is_about(path, algorithm, repair)) {
                let text = fs::read_to_string(&path).expect("a readable transcript");
                let command = text.lines().next().expect("a command");
                let is_static = command.contains("--link-changes 0");
                let keeps = is_static || assumptions.iter().all(|flag| command.contains(flag));
                assert_eq!(keeps, verdict.starts_with("no"), "{}, of which the errata say: {verdict}", path.display());
            }
        }
    }
}

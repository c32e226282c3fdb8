//! The page and the demo from outside: what is typed, what is printed, and the exit code.

mod outside;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use outside::{Scratch, driftlock};

#[test]
fn a_demo_without_a_page_ends_with_a_summary_and_its_verdict() {
    for algorithm in ["krl", "krlf", "rl", "hok", "klme", "klme-ft"] {
        let said = driftlock(&["demo", "--seconds", "30", "--headless", "--algorithm", algorithm]);
        assert_eq!(said.code, 0, "{algorithm}: {}", said.err);
        assert!(said.out.starts_with("30 s: docks were used") && said.out.contains("held: "), "{}", said.out);
    }
    let again = |seed| driftlock(&["demo", "--seconds", "30", "--headless", "--seed", seed]).out;
    assert_eq!(again("1"), again("1"));
    assert_ne!(again("1"), again("2"));
}

#[test]
fn a_demo_without_a_repair_is_seen_to_break() {
    let said = driftlock(&["demo", "--seconds", "600", "--headless", "--without", "reclaim"]);
    assert_eq!(said.code, 1);
    assert!(said.out.contains("VIOLATED: the permits held and in flight are"), "{}", said.out);
}

#[test]
fn what_makes_no_sense_is_refused_in_words() {
    let scratch = Scratch::new("view");
    let no_trace = &*scratch.write("no.jsonl", "hello\n");
    for (args, words) in [
        (&["demo", "--headless"][..], "--seconds"),
        (&["demo", "--seconds", "1", "--headless", "--algorithm", "paxos"], "paxos"),
        (&["demo", "--seconds", "1", "--headless", "--without", "glue"], "glue"),
        (&["demo", "--seconds", "1", "--headless", "--nodes", "2", "--k", "5"], "5"),
        (&["demo", "--seconds", "1", "--headless", "--nodes", "0"], "1 to 1000 nodes, not 0"),
        (&["demo", "--seconds", "0", "--headless"], "0 is not in 1.."),
        (&["demo", "--seconds", "1", "--headless", "--nodes", "100000"], "1 to 1000 nodes"),
        (&["demo", "--seconds", "1", "--headless", "--nodes", "-3"], "'-3' for '--nodes"),
        (&["demo", "--seconds", "1", "--headless", "--k", "0"], "k must be from 1"),
        (&["demo", "--seconds", "1", "--headless", "--speed", "4"], "cannot be used with"),
        (&["demo", "--seconds", "1", "--headless", "--port", "0"], "cannot be used with"),
        (&["demo", "--seconds", "1", "--headless", "--history", "9"], "cannot be used with"),
        (&["demo", "--seconds", "1", "--speed", "0"], "from 0.05 to 100"),
        (&["demo", "--seconds", "1", "--speed", "-1"], "from 0.05 to 100"),
        (&["demo", "--seconds", "1", "--speed", "nan"], "from 0.05 to 100"),
        (&["demo", "--seconds", "-1"], "'-1' for '--seconds"),
        (&["demo", "--seconds", "1", "--port", "http"], "'http' for '--port"),
        (&["demo", "--seconds", "1", "--port", "65536"], "'65536' for '--port"),
        (&["demo", "--seconds", "1", "--history", "0"], "'0' for '--history"),
        (&["view", "nowhere.jsonl"], "nowhere.jsonl"),
        (&["view", no_trace], "not a driftlock trace"),
        (&["sim", "--view", "--trace", "x.jsonl"], "--trace"),
    ] {
        let said = driftlock(args);
        assert_eq!(said.code, 2, "{args:?}: {}", said.out);
        assert!(said.err.contains(words), "{args:?}: {}", said.err);
    }
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = taken.local_addr().expect("an address").port().to_string();
    let said = driftlock(&["demo", "--seconds", "1", "--port", &port]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("choose another --port"), "{}", said.err);
}

/// A command that serves the page until it is dropped.
struct Serving {
    child: Child,
    host: String,
    path: String,
}

impl Serving {
    fn start(args: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_driftlock"))
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines().map_while(Result::ok);
        let line = lines.find(|line| line.starts_with("the page is at ")).expect("an address");
        let address = line.strip_prefix("the page is at http://").expect("an address");
        let (host, path) = address.split_once('/').expect("a path");
        // What else it says is of no interest, but must not stop it.
        let (host, path) = (host.to_owned(), format!("/{path}"));
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, host, path }
    }

    fn get(&self, name: &str) -> String {
        let Self { host, path, .. } = self;
        let mut stream = TcpStream::connect(host).expect("it listens");
        write!(stream, "GET {path}{name} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").expect("sent");
        let mut said = Vec::new();
        stream.read_to_end(&mut said).expect("answered");
        String::from_utf8_lossy(&said).into_owned()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.child.kill().and_then(|()| self.child.wait()).expect("ended");
    }
}

#[test]
fn a_trace_a_counterexample_a_simulation_and_the_demo_are_served() {
    let scratch = Scratch::new("serve");
    let run = &*scratch.path("run.jsonl.zst");
    assert_eq!(driftlock(&["sim", "--entries", "20", "--warmup", "0", "--replications", "1", "--trace", run]).code, 0);
    let trace = Serving::start(&["view", run]).get("trace");
    assert!(trace.contains(r#"{"format":"driftlock-trace","version":4"#) && trace.contains(r#"{"end":"#), "{trace}");
    let counterexample = Serving::start(&["check", "krl", "--as-published", "--view"]);
    assert!(counterexample.get("trace").contains(r#""violation":"#));
    assert!(counterexample.get("feed.json").contains(r#""name":"counterexample""#));
    let areas = &["sim", "--algorithm", "klme", "--neighbourhoods", "4", "--view"];
    for args in [&["sim", "--field", "walkers", "--view"][..], areas, &["demo"]] {
        assert!(Serving::start(args).get("feed.json").contains(r#""source":"stream""#), "{args:?}");
    }
}

//! Traces that are sound, and traces that are not.

use std::io::Cursor;

use driftlock_protocol::krl::{Forwarding, Krl, Variant};
use driftlock_protocol::{
    Algorithm, Demand, Deployment, Incarnation, Input, Linked, Node, NodeId, Outbox, Protocol, Repairs, Stay,
};
use driftlock_trace::replay::{Outcome, ReplayError, replay};
use driftlock_trace::{FORMAT, Header, Origin, ReadError, Reader, Writer};

fn header() -> Header {
    let deployment = Deployment { nodes: 2, k: 1, links: vec![(NodeId(0), NodeId(1))], ..Deployment::default() };
    let krl = Algorithm::named("krl").expect("registered");
    Header::new(krl, Vec::new(), deployment, Origin::Soak { seed: 1, crowded: false, afield: false, nodes: None })
}

/// Node 0 enters and leaves its CS.
fn write(writer: &mut Writer) {
    let protocols = Krl::deploy(&header().deployment, Variant::new(Forwarding::Off), Repairs::ALL);
    let mut node = Node::new(NodeId(0), protocols[0].clone(), Linked::from_iter([(NodeId(1), Incarnation(0))]));
    for (t, input) in [(5, Input::Request(Demand::ONE)), (9, Input::Release)] {
        let mut out = Outbox::with_clauses();
        let before = node.protocol().status();
        node.step(input.clone(), &mut out).expect("legal");
        let change = node.protocol().status().change_since(&before);
        writer.step::<Krl>(t, NodeId(0), &input, out.effects(), None, change);
    }
}

/// A small trace as text.
fn trace(name: &str) -> String {
    let path = std::env::temp_dir().join(format!("driftlock-trace-{}-{name}.jsonl", std::process::id()));
    let mut writer = Writer::create(&path, &header()).expect("a file");
    write(&mut writer);
    writer.finish(9, None).expect("written");
    let text = std::fs::read_to_string(&path).expect("read");
    std::fs::remove_file(&path).expect("removed");
    text
}

fn replayed(text: &str) -> Result<Outcome, ReplayError> {
    replay(Reader::new(Box::new(Cursor::new(text.to_owned())))?)
}

#[test]
fn a_trace_replays_and_reads_as_documented() {
    let text = trace("sound");
    assert_eq!(replayed(&text).expect("sound"), Outcome::Same { steps: 2, violation: None });
    let step = text.lines().nth(1).expect("a step");
    assert_eq!(
        step,
        r#"{"t":5,"node":0,"in":{"request":{"units":1,"priority":0}},"out":[{"clause":"request.1"},{"clause":"request.5"},{"clause":"give-token.12"},{"grant":{"permits":[0],"fence":{"epoch":0,"counter":1}}}],"status":{"section":"critical"}}"#
    );
}

#[test]
fn a_trace_of_a_soak_from_before_there_were_fields_and_sizes_is_read_as_one_without() {
    let text = trace("old-soak");
    let first = text.lines().next().expect("a header");
    assert!(first.contains(r#""world":{"soak":{"seed":1,"crowded":false}}"#), "{first}");
    let reader = Reader::new(Box::new(Cursor::new(text.clone()))).expect("sound");
    assert_eq!(reader.header().world, header().world);
}

#[test]
fn a_compressed_trace_replays_too() {
    let path = std::env::temp_dir().join(format!("driftlock-trace-{}.jsonl.zst", std::process::id()));
    let mut writer = Writer::create(&path, &header()).expect("a file");
    write(&mut writer);
    writer.finish(9, Some("as a test".into())).expect("written");
    let outcome = replay(Reader::open(&path).expect("opened"));
    std::fs::remove_file(&path).expect("removed");
    assert_eq!(outcome.expect("sound"), Outcome::Same { steps: 2, violation: Some("as a test".into()) });
}

#[test]
fn an_output_that_was_different_is_found_with_its_line() {
    let text = trace("differs").replace("\"counter\":1", "\"counter\":7");
    match replayed(&text).expect("it can be replayed") {
        Outcome::Differs(difference) => assert_eq!(difference.line, 2),
        Outcome::Same { .. } => panic!("the change went unnoticed"),
    }
}

#[test]
fn what_is_no_trace_or_a_damaged_one_is_refused_in_words() {
    let text = trace("damaged");
    let refusal = |text: &str| replayed(text).expect_err("refused").to_string();
    assert!(refusal("").contains("empty"));
    assert!(refusal("hello\n").contains("no header"));
    assert!(refusal(&text.replace(FORMAT, "something-else")).contains("something-else"));
    assert!(refusal(&text.replacen("\"version\":3", "\"version\":99", 1)).contains("version 99"));
    assert!(refusal(&text.replacen("\"krl\"", "\"paxos\"", 1)).contains("paxos"));
    assert!(refusal(&text.replacen("\"without\":[]", "\"without\":[\"glue\"]", 1)).contains("glue"));
    assert!(refusal(&text.replacen("\"node\":0", "\"node\":9", 1)).contains("only 2 nodes"));
    assert!(refusal(&text.replacen("\"links\":[[0,1]]", "\"links\":[[0,7]]", 1)).contains("deployment"));
    assert!(refusal(&text.replacen("\"nodes\":2", "\"nodes\":0", 1)).contains("deployment"));
    assert!(refusal(&text.replacen("{\"request\"", "{\"abdicate\"", 1)).contains("line 2"));
    let end = text.lines().last().expect("an end");
    assert!(refusal(text.trim_end().strip_suffix(end).expect("it ends so")).contains("truncated"));
    assert!(refusal(&text[..text.len() - 5]).contains("truncated"));
    let second = text.lines().nth(1).expect("a step");
    assert!(refusal(&text.replace(second, "{\"t\":")).contains("line 2"));
}

#[test]
fn a_file_that_is_not_there_is_said_to_be_not_there() {
    let error = Reader::open("no-such-file.jsonl".as_ref()).err().expect("there is none");
    assert!(matches!(error, ReadError::Io(_)));
}

#[test]
fn members_have_stays_of_their_own_or_none_is_told() {
    let members = [0, 1].map(NodeId).to_vec();
    let outcome = |stays: &[u64]| {
        let stays = stays.iter().copied().map(Stay).collect();
        let deployment = Deployment { nodes: 2, k: 1, members: members.clone(), stays, ..Deployment::default() };
        let klme_ft = Algorithm::named("klme-ft").expect("registered");
        let origin = Origin::Soak { seed: 1, crowded: false, afield: false, nodes: None };
        let header = Header::new(klme_ft, Vec::new(), deployment, origin);
        let text = serde_json::to_string(&header).expect("written") + "\n{\"end\":{\"steps\":0}}\n";
        replayed(&text).map_err(|error| error.to_string())
    };
    for stays in [&[][..], &[u64::MAX, 3]] {
        assert_eq!(outcome(stays), Ok(Outcome::Same { steps: 0, violation: None }));
    }
    for stays in [&[7][..], &[7, 7], &[1, 2, 3]] {
        assert!(outcome(stays).unwrap_err().contains("a stay is there twice, or it is not told of every member"));
    }
}

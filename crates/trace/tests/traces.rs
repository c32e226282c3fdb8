//! Traces that are sound, and traces that are not.

use std::io::Cursor;

use driftlock_protocol::hok::{self, Hok, Policy};
use driftlock_protocol::krl::{Forwarding, Krl, Variant};
use driftlock_protocol::{
    Algorithm, Demand, Deployment, Incarnation, Input, Linked, Node, NodeId, Outbox, Protocol, Repairs, Stay,
};
use driftlock_trace::replay::{Outcome, ReplayError, replay};
use driftlock_trace::{FORMAT, Header, Origin, ReadError, Reader, Resource, Writer};

fn header() -> Header {
    let deployment = Deployment { nodes: 2, k: 1, links: vec![(NodeId(0), NodeId(1))], ..Deployment::default() };
    Header::new(algorithm("krl"), Vec::new(), deployment, SOAK)
}

/// Node 0 enters and leaves its CS.
fn write(writer: &mut Writer) {
    let protocols =
        Krl::deploy(&header().deployments(&header().resources[0])[0], Variant::new(Forwarding::Off), Repairs::ALL);
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
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_the_header_says_of_an_algorithm_is_compared_with_the_nodes_and_the_registry() {
    let text = trace("header");
    let place = |was: &str, is: &str| match replayed(&text.replacen(was, is, 1)).expect("it can be replayed") {
        Outcome::HeaderDiffers(difference) => difference.place,
        other => panic!("{other:?}"),
    };
    assert_eq!(place("\"permits\":[0]", "\"permits\":[]"), "resources[0].start[0]");
    assert_eq!(place("\"waits_on\":null,\"height\":[0,1,1]", "\"waits_on\":0"), "resources[0].start[1]");
    assert_eq!(place("\"tokens\":\"each\"", "\"tokens\":\"none\""), "resources[0].tokens");
    assert_eq!(place("\"asks\":[\"request\"],", ""), "resources[0].asks[0]");
    assert_eq!(place("\"brings\":[\"token\"]", "\"brings\":[\"request\"]"), "resources[0].brings[0]");
    let one_more = "\"hands_over\":[\"token\",\"request\"]";
    assert_eq!(place("\"hands_over\":[\"token\"]", one_more), "resources[0].hands_over[1]");
    assert_eq!(place("\"pages\":[\"krl\"]", "\"pages\":[\"hok\"]"), "resources[0].pages[0]");
}

#[test]
fn lines_are_in_the_order_of_time_and_an_algorithm_has_units_that_it_can_share() {
    let text = trace("order");
    let refusal = |text: &str| replayed(text).expect_err("refused").to_string();
    let later = refusal(&text.replacen("\"t\":5,", "\"t\":10,", 1));
    assert_eq!(later, "line 3 is of the time 9, but a line before it is of 10: time does not run backwards");
    assert!(refusal(&text.replace("\"steps\":2,\"t\":9", "\"steps\":2,\"t\":8")).contains("line 4 is of the time 8"));
    let relabelled = text.replacen("\"algorithm\":\"krl\"", "\"algorithm\":\"rl\"", 1);
    assert_eq!(replayed(&relabelled).expect("it does the same"), Outcome::Same { steps: 2, violation: None });
    let two = refusal(&relabelled.replacen("\"k\":1", "\"k\":2", 1));
    assert_eq!(two, "the trace has k = 2, but rl shares exactly one unit");
}

#[test]
fn what_is_no_trace_or_a_damaged_one_is_refused_in_words() {
    let text = trace("damaged");
    let refusal = |text: &str| replayed(text).expect_err("refused").to_string();
    assert!(refusal("").contains("empty"));
    assert!(refusal("hello\n").contains("no header"));
    assert!(refusal(&text.replace(FORMAT, "something-else")).contains("something-else"));
    assert!(refusal(&text.replacen("\"krl\"", "\"paxos\"", 1)).contains("paxos"));
    assert!(refusal(&text.replacen("\"without\":[]", "\"without\":[\"glue\"]", 1)).contains("glue"));
    assert!(
        refusal(&text.replacen("\"node\":0", "\"node\":9", 1))
            .contains("only 2 nodes by then, and none of that number")
    );
    assert!(refusal(&text.replacen("\"links\":[[0,1]]", "\"links\":[[0,7]]", 1)).contains("deployment"));
    assert!(refusal(&text.replacen("\"nodes\":2", "\"nodes\":0", 1)).contains("deployment"));
    assert!(refusal(&text.replacen("{\"request\"", "{\"abdicate\"", 1)).contains("line 2"));
    let end = text.lines().last().expect("an end");
    assert!(refusal(text.trim_end().strip_suffix(end).expect("it ends so")).contains("truncated"));
    assert!(refusal(&text[..text.len() - 5]).contains("truncated"));
    let second = text.lines().nth(1).expect("a step");
    assert!(refusal(&text.replace(second, "{\"t\":")).contains("line 2"));
    for more in [second, "garbage", "\n", &text] {
        assert!(refusal(&format!("{text}{more}")).contains("line 5 of the trace comes after its end"), "{more}");
    }
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
        told(&Header::new(algorithm("klme-ft"), Vec::new(), deployment, SOAK), &[], 0)
    };
    for stays in [&[][..], &[u64::MAX, 3]] {
        assert_eq!(outcome(stays), Ok(Outcome::Same { steps: 0, violation: None }));
    }
    for stays in [&[7][..], &[7, 7], &[1, 2, 3]] {
        assert!(outcome(stays).unwrap_err().contains("a stay is there twice, or it is not told of every member"));
    }
}

#[test]
fn traces_of_other_versions_are_refused_with_who_wrote_them() {
    let text = trace("versions");
    let says = |version: &str| replayed(&text.replacen("\"version\":4", version, 1)).expect_err("refused").to_string();
    let documented = include_str!("../../../docs/trace.md").split_whitespace().collect::<Vec<_>>().join(" ");
    for version in 1..=3 {
        // Their headers said nothing of the driftlock that wrote them, and had other fields besides.
        let old = format!(r#"{{"format":"{FORMAT}","version":{version},"algorithm":"krl","deployment":{{}}}}"#) + "\n";
        let says = replayed(&old).expect_err("refused").to_string();
        let (_, rest) = says.split_once(&format!("version {version} of the format, which ")).expect("its version");
        let (wrote, rest) = rest.split_once(" wrote, and this driftlock reads version 4").expect("who");
        let (who, commits) = wrote.split_once(" (").expect("which commits");
        assert!(who == "driftlock 0.1.0 before its release" && rest.contains("or record the run again"), "{says}");
        let row = format!("| {version} | {who}: {} |", commits.trim_end_matches(')'));
        assert!(documented.contains(&row), "{row} is not in docs/trace.md");
    }
    assert!(says("\"version\":99").contains("version 99 of the format, which driftlock 0.1.0 wrote"));
}

/// A trace with this first line, of these lines and so many steps.
fn told(header: &Header, lines: &[&str], steps: usize) -> Result<Outcome, String> {
    let end = format!("{{\"end\":{{\"steps\":{steps}}}}}");
    let header = serde_json::to_string(header).expect("written");
    let text = [&[&*header], lines, &[&*end]].concat().join("\n") + "\n";
    replayed(&text).map_err(|error| error.to_string())
}

fn algorithm(tag: &str) -> &'static Algorithm {
    Algorithm::named(tag).expect("registered")
}

const SOAK: Origin = Origin::Soak { seed: 1, crowded: false, on_field: false, nodes: None };

#[test]
fn a_node_may_join_under_any_id_and_only_once() {
    let asks = r#"{"t":2,"node":70000,"in":{"request":{"units":1,"priority":0}},"out":[{"clause":"request.1"},{"clause":"request.4"}],"status":{"section":"waiting","queue":[70000]}}"#;
    let joins = r#"{"t":1,"join":70000}"#;
    assert_eq!(told(&header(), &[joins, asks], 1), Ok(Outcome::Same { steps: 1, violation: None }));
    assert!(
        told(&header(), &[asks], 1).unwrap_err().contains("line 2 is about node 70000, but there are only 2 nodes")
    );
    assert!(told(&header(), &[joins, joins], 0).unwrap_err().contains("on line 3 node 70000 joins, but it is there"));
    let mut nobody = Header { nodes: 0, links: Vec::new(), ..header() };
    nobody.resources[0].start.clear();
    assert_eq!(told(&nobody, &[joins, asks], 1), Ok(Outcome::Same { steps: 1, violation: None }), "all nodes may join");
}

#[test]
fn steps_of_several_resources_are_those_of_their_own_algorithms() {
    let deployment = header().deployments(&header().resources[0])[0].clone();
    let mut both = header();
    both.resources.push(Resource::new(algorithm("hok"), Vec::new(), &[deployment]));
    let path = std::env::temp_dir().join(format!("driftlock-trace-{}-both.jsonl", std::process::id()));
    let mut writer = Writer::create(&path, &both).expect("a file");
    let mut of_hok = writer.of_resource(1);
    write(&mut writer);
    let protocols =
        Hok::deploy(&both.deployments(&both.resources[1])[0], hok::Variant::new(Policy::Priority), Repairs::ALL);
    let mut node = Node::new(NodeId(0), protocols[0].clone(), Linked::from_iter([(NodeId(1), Incarnation(0))]));
    let (mut out, before) = (Outbox::with_clauses(), node.protocol().status());
    node.step(Input::Request(Demand::ONE), &mut out).expect("legal");
    let change = node.protocol().status().change_since(&before);
    of_hok.step::<Hok>(9, NodeId(0), &Input::Request(Demand::ONE), out.effects(), None, change);
    of_hok.finish(9, Some("as a test".into())).expect("nothing is ended yet");
    writer.finish(9, None).expect("written");
    let text = std::fs::read_to_string(&path).expect("read");
    std::fs::remove_file(&path).expect("removed");
    let violation = Some("as a test".to_owned());
    assert_eq!(replayed(&text).expect("sound"), Outcome::Same { steps: 3, violation });
    assert!(text.ends_with("{\"end\":{\"steps\":3,\"t\":9,\"violation\":\"as a test\",\"resource\":1}}\n"), "{text}");
    assert_eq!(text.matches("\"resource\":1,\"in\"").count(), 1, "{text}");
    let other = text.replace("\"resource\":1,\"in\"", "\"resource\":0,\"in\"");
    assert!(matches!(replayed(&other), Ok(Outcome::Differs(_))), "krl does not do the same");
    let none = text.replace("\"resource\":1,\"in\"", "\"resource\":2,\"in\"");
    assert!(
        replayed(&none).expect_err("refused").to_string().contains("about resource 2, but the first line names only 2")
    );
}

#[test]
fn a_member_is_in_one_neighbourhood_and_starts_as_that_has_it() {
    let start = |members: &[u32]| {
        let members = members.iter().copied().map(NodeId).collect();
        Deployment { nodes: 4, k: 2, members, ..Deployment::default() }
    };
    let header = |starts: &[Deployment]| Header::of_neighbourhoods(algorithm("klme"), Vec::new(), starts, SOAK);
    let two = header(&[start(&[0, 1]), start(&[3, 2])]);
    let held: Vec<_> = two.resources[0].start.iter().map(|status| status.permits.iter().count()).collect();
    assert_eq!(held, [2, 0, 0, 2], "the first member of each has the token");
    let asks = r#"{"t":1,"node":3,"in":{"request":{"units":1,"priority":0}},"out":["#;
    match told(&two, &[&format!("{asks}]}}")], 1) {
        Ok(Outcome::Differs(difference)) => {
            assert!(difference.replayed.out.to_string().contains("grant"), "{difference:?}");
        }
        other => panic!("{other:?}"),
    }
    assert!(told(&header(&[start(&[0, 1]), start(&[1])]), &[], 0).unwrap_err().contains("a member is there twice"));
}

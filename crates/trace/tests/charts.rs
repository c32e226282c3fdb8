//! What a chart shows of a trace, in both languages.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Cursor;

use driftlock_protocol::krl::{Forwarding, Krl, Variant};
use driftlock_protocol::{
    Algorithm, Demand, Deployment, Effect, Incarnation, Input, InputOf, Linked, Node, NodeId, Outbox, Protocol, Repairs,
};
use driftlock_trace::chart::Chart;
use driftlock_trace::{FORMAT, Header, Origin, ReadError, Reader, VERSION, Writer};

const CRITICAL: &str = "fill=\"#0072B2\"";
const WAITING: &str = "fill=\"#D3E7F3\"";
const HOLDING: &str = "fill=\"#E69F00\"";
const END: &str = r#"{"end":{"steps":0}}"#;

fn header(nodes: u32) -> String {
    format!(
        r#"{{"format":"{FORMAT}","version":{VERSION},"driftlock":"0","nodes":{nodes},"links":[[0,1],[1,2]],"resources":[{{"algorithm":"krl","k":1,"without":["pace"],"tokens":"each"}}],"world":{{"soak":{{"seed":1,"crowded":false}}}}}}"#
    )
}

fn read(nodes: u32, lines: &[&str]) -> Result<Chart, ReadError> {
    read_after(&header(nodes), lines)
}

fn read_after(header: &str, lines: &[&str]) -> Result<Chart, ReadError> {
    let text = format!("{header}\n{}\n", lines.join("\n"));
    Chart::read(Reader::new(Box::new(Cursor::new(text)))?)
}

/// The chart of a trace of three nodes; whatever is in it, both texts are sound.
fn chart(lines: &[&str]) -> Chart {
    let chart = read(3, lines).expect("a trace");
    check_svg(&chart.svg());
    check_mermaid(&chart.mermaid());
    chart
}

/// Every tag is closed, every attribute quoted, and nothing is left that XML would take for its own.
fn check_svg(svg: &str) {
    let mut open = Vec::new();
    let mut rest = svg;
    while let Some((text, tail)) = rest.split_once('<') {
        check_entities(text);
        let (tag, after) = tail.split_once('>').expect("a tag ends");
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        assert!(!tag.contains('<'), "{tag}");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "closed in order");
        } else if !tag.ends_with('/') {
            open.push(tag.split(' ').next().expect("a name"));
        }
        rest = after;
    }
    assert!(open.is_empty() && rest.trim().is_empty(), "{open:?} {rest:?}");
    assert!(svg.starts_with("<svg ") && svg.contains("role=\"img\"") && svg.contains("<title>"));
    assert!(!svg.contains("<script") && !svg.contains("href") && !svg.contains("url("), "it needs nothing else");
}

fn check_entities(text: &str) {
    for tail in text.split('&').skip(1) {
        let (entity, _) = tail.split_once(';').expect("an entity ends");
        assert!(["amp", "lt", "gt", "quot"].contains(&entity), "{entity}");
    }
    assert!(!text.chars().any(|character| character.is_control() && character != '\n'), "{text:?}");
}

/// Every line is a sentence of a `sequenceDiagram`, and what is activated is deactivated.
fn check_mermaid(mermaid: &str) {
    let mut lines = mermaid.lines();
    assert_eq!(lines.next(), Some("sequenceDiagram"));
    assert!(lines.next().is_some_and(|line| line.starts_with("    title ")));
    let mut known = BTreeSet::new();
    let mut active = BTreeMap::new();
    for line in lines.map(str::trim) {
        let (head, text) = line.split_once(": ").unwrap_or((line, ""));
        let plain = text.replace("<br/>", "");
        for tail in plain.split('#').skip(1) {
            let (number, _) = tail.split_once(';').expect("an entity ends");
            assert!(number.parse::<u32>().is_ok(), "{line}");
        }
        assert_eq!(plain.matches('#').count(), plain.matches(';').count(), "{line}");
        assert!(!plain.contains(['<', '>', '%', '"']), "{line}");
        let nodes: Vec<&str> = if let Some(node) = head.strip_prefix("participant ") {
            known.insert(node.split(' ').next().expect("a name"));
            Vec::new()
        } else if let Some(nodes) = head.strip_prefix("Note over ") {
            nodes.split(',').collect()
        } else if let Some(node) = head.strip_prefix("activate ") {
            *active.entry(node).or_insert(0) += 1;
            vec![node]
        } else if let Some(node) = head.strip_prefix("deactivate ") {
            *active.entry(node).or_insert(0) -= 1;
            assert!(active[node] >= 0, "{node} is not active");
            vec![node]
        } else {
            let (from, to) = head.split_once("->>").or_else(|| head.split_once("-x")).expect("an arrow");
            vec![from, to]
        };
        assert!(!text.trim().is_empty() || !line.contains(':'), "{line}");
        assert!(nodes.iter().all(|node| known.contains(node)), "{line}");
    }
    assert!(active.values().all(|count| *count == 0), "{active:?}");
}

/// How far down each row is; the first is row 1.
fn levels(svg: &str) -> Vec<usize> {
    let rows = svg.lines().filter_map(|line| line.strip_prefix("<path d=\"M36,")?.split_once('H'));
    rows.map(|(y, _)| y.parse().expect("a number")).collect()
}

fn number(tag: &str, attribute: &str) -> usize {
    let (_, tail) = tag.split_once(&format!(" {attribute}=\"")).expect("it has it");
    tail.split('"').next().and_then(|number| number.parse().ok()).expect("a number")
}

/// The (top, bottom) of all bars with this paint, without that of the legend.
fn bars(svg: &str, paint: &str) -> Vec<(usize, usize)> {
    let bars = svg.lines().filter(|line| line.starts_with("<rect x=") && line.contains(paint)).skip(1);
    bars.map(|bar| (number(bar, "y"), number(bar, "y") + number(bar, "height"))).collect()
}

/// The rows have to be of this kind, in this order.
fn sentences(chart: &Chart) -> Vec<String> {
    let mermaid = chart.mermaid();
    let lines = mermaid.lines().skip(2).map(str::trim);
    lines.filter(|line| !line.starts_with("participant")).map(str::to_owned).collect()
}

#[test]
fn messages_arrive_in_the_order_of_sending_on_each_way() {
    let chart = chart(&[
        r#"{"t":1,"node":0,"in":{"request":{"units":1,"priority":0}},"out":[{"clause":"request.1"},{"send":{"to":1,"message":{"request":{"height":[0,1,0]}},"shared":false}},{"send":{"to":2,"message":"hello","shared":false}}]}"#,
        r#"{"t":2,"node":0,"in":{"timer":"pace"},"out":[{"send":{"to":1,"message":{"link_info":{"height":[0,-7,0],"acknowledges":1}},"shared":false}}]}"#,
        r#"{"t":3,"node":1,"in":{"message":{"from":0,"incarnation":0,"message":{"request":{"height":[0,1,0]}}}},"out":[]}"#,
        r#"{"t":4,"node":1,"in":{"message":{"from":0,"incarnation":0,"message":{"link_info":{"height":[0,-7,0],"acknowledges":1}}}},"out":[]}"#,
        r#"{"t":5,"node":2,"in":{"message":{"from":0,"incarnation":1,"message":"hello"}},"out":[]}"#,
        END,
    ]);
    let svg = chart.svg();
    assert!(svg.contains("<title>request (0,1,0) from node 0 to node 1, sent in row 1, arrives in row 3</title>"));
    assert!(svg.contains("<title>link info (0,-7,0) from node 0 to node 1, sent in row 2, arrives in row 4</title>"));
    assert!(svg.contains("<title>hello from node 0 to node 2, sent in row 1, arrives in row 5</title>"));
    assert_eq!(levels(&svg).len(), 5);
    assert_eq!(
        sentences(&chart),
        [
            "Note over n0: requests",
            "Note over n0: timer: pace",
            "n0->>n1: request (0,1,0)",
            "n0->>n1: link info (0,-7,0)",
            "n0->>n2: hello",
        ]
    );
    assert!(chart.mermaid().contains("title krl without pace on 3 nodes, k = 1, links 0\u{2013}1, 1\u{2013}2"));
}

/// Node 0 says four things to node 1, of which two are called the same.
const OVERTAKING: &str = r#"{"t":1,"node":0,"in":{"timer":"pace"},"out":[{"send":{"to":1,"message":"early"}},{"send":{"to":1,"message":{"claim":{"round":1}}}},{"send":{"to":1,"message":{"claim":{"round":2}}}},{"send":{"to":1,"message":"early"}}]}"#;

/// How each message ended, in the order of sending.
fn endings(chart: &Chart) -> Vec<String> {
    let svg = chart.svg();
    let stories = svg.lines().filter_map(|line| line.split_once("sent in row ")?.1.split_once("</title>"));
    stories.map(|(story, _)| story.split_once(", ").expect("how it ended").1.to_owned()).collect()
}

#[test]
fn a_message_that_overtakes_others_is_known_by_what_it_says() {
    let arrives = |t: u32, message: &str| {
        format!(r#"{{"t":{t},"node":1,"in":{{"message":{{"from":0,"incarnation":0,"message":{message}}}}},"out":[]}}"#)
    };
    let [second, first, early, odd] = [
        arrives(2, r#"{"claim":{"round":2}}"#),
        arrives(3, r#"{"claim":{"round":1}}"#),
        arrives(4, r#""early""#),
        arrives(5, r#""odd""#),
    ];
    let overtaken = chart(&[OVERTAKING, &second, &first, &early, END]);
    assert_eq!(
        endings(&overtaken),
        ["arrives in row 4", "arrives in row 3", "arrives in row 2", "under way at the end"],
        "of two that say the same, the older arrives first"
    );
    let unknown = chart(&[OVERTAKING, &second, &odd, END]);
    assert_eq!(
        endings(&unknown),
        ["arrives in row 3", "under way at the end", "arrives in row 2", "under way at the end"],
        "what nobody has said is taken for the oldest"
    );
}

#[test]
fn a_message_that_is_lost_or_returned_is_known_by_what_it_says() {
    let lost = r#"{"t":2,"lost":[0,1],"message":{"claim":{"round":2}}}"#;
    let ends = |chart: &Chart| endings(chart).iter().map(|story| !story.starts_with("under way")).collect::<Vec<_>>();
    assert_eq!(ends(&chart(&[OVERTAKING, lost, END])), [false, false, true, false]);
    let returned = r#"{"t":3,"node":0,"in":{"undelivered":{"to":1,"message":{"claim":{"round":1}}}},"out":[]}"#;
    assert_eq!(
        endings(&chart(&[OVERTAKING, FAILURE[2], returned, END])),
        ["lost in row 2", "returned in row 2", "lost in row 2", "lost in row 2"]
    );
}

/// Three messages are under way on 0-1 when it fails; two are returned, one is not. Then the link forms again.
const FAILURE: [&str; 10] = [
    r#"{"t":1,"node":0,"in":{"timer":"pace"},"out":[{"send":{"to":1,"message":"first","shared":false}},{"send":{"to":1,"message":"second","shared":false}},{"send":{"to":2,"message":"beside","shared":false}}]}"#,
    r#"{"t":2,"node":1,"in":{"timer":"pace"},"out":[{"send":{"to":0,"message":{"token":{"height":[0,0,1],"token":{"permit":3,"fence":{}}}},"shared":false}}]}"#,
    r#"{"t":3,"link":[1,0],"up":false,"incarnation":0}"#,
    r#"{"t":3,"node":1,"in":{"below":{"down":{"peer":0,"incarnation":0}}},"out":[]}"#,
    r#"{"t":3,"node":0,"in":{"below":{"down":{"peer":1,"incarnation":0}}},"out":[]}"#,
    r#"{"t":3,"node":0,"in":{"undelivered":{"to":1,"message":"first"}},"out":[{"send":{"to":2,"message":"detour","shared":false}}]}"#,
    r#"{"t":3,"node":1,"in":{"undelivered":{"to":0,"message":{"token":{"height":[0,0,1],"token":{"permit":3,"fence":{}}}}}},"out":[]}"#,
    r#"{"t":4,"link":[0,1],"up":true,"incarnation":2}"#,
    r#"{"t":4,"node":0,"in":{"below":{"up":{"peer":1,"incarnation":2}}},"out":[{"send":{"to":1,"message":"anew","shared":false}}]}"#,
    r#"{"t":5,"node":1,"in":{"message":{"from":0,"incarnation":2,"message":"anew"}},"out":[]}"#,
];

#[test]
fn a_failed_link_ends_what_is_under_way_on_it_and_nothing_else() {
    let chart = chart(&[&FAILURE[..], &[END]].concat());
    let svg = chart.svg();
    for story in [
        "first from node 0 to node 1, sent in row 1, returned in row 3",
        "second from node 0 to node 1, sent in row 1, lost in row 3",
        "token 3 (0,0,1) from node 1 to node 0, sent in row 2, returned in row 3",
        "anew from node 0 to node 1, sent in row 4, arrives in row 5",
        "beside from node 0 to node 2, sent in row 1, under way at the end",
        "detour from node 0 to node 2, sent in row 3, under way at the end",
    ] {
        assert!(svg.contains(&format!("<title>{story}</title>")), "{story}\n{svg}");
    }
    assert!(svg.contains("link 0\u{2013}1 fails") && svg.contains("link 0\u{2013}1 forms"));
    assert_eq!(
        sentences(&chart)[2..],
        [
            "Note over n0,n1: link 0-1 fails",
            "n0-xn1: first, returned",
            "n0-xn1: second, lost",
            "n1-xn0: token 3 (0,0,1), returned",
            "Note over n0,n1: link 0-1 forms",
            "n0->>n1: anew",
            "n0-xn2: beside, under way",
            "n0-xn2: detour, under way",
        ]
    );
}

#[test]
fn all_that_follows_from_a_change_of_a_link_is_in_its_row() {
    let svg = chart(&[&FAILURE[..], &[END]].concat()).svg();
    let levels = levels(&svg);
    assert_eq!(levels.len(), 5, "two timers, two changes, one arrival");
    // The row of the failure is lower by the three messages that end above it.
    assert!(levels[2] - levels[1] >= levels[1] - levels[0] + 3 * 20, "{levels:?}");
    let lone = chart(&[r#"{"t":3,"node":0,"in":{"below":{"down":{"peer":1,"incarnation":0}}},"out":[]}"#, END]);
    assert_eq!(sentences(&lone), ["Note over n0: below: down"]);
}

#[test]
fn no_label_covers_another_or_a_lifeline() {
    let svg = chart(&[&FAILURE[..], &[END]].concat()).svg();
    let (_, labels) = svg.split_once("<g paint-order=\"stroke\"").expect("the labels");
    let (labels, _) = labels.split_once("</g>").expect("all of them");
    let boxes: Vec<[usize; 4]> = labels
        .lines()
        .filter(|line| line.starts_with("<text"))
        .map(|line| {
            let (x, y) = (number(line, "x"), number(line, "y"));
            let text = line.split(['<', '>']).nth(2).expect("a text");
            let width = text.chars().count() * 6;
            let left = match line {
                _ if line.contains("\"end\"") => x - width,
                _ if line.contains("\"start\"") => x,
                _ => x - width / 2,
            };
            [left, left + width, y - 10, y + 2]
        })
        .collect();
    assert_eq!(boxes.len(), 8);
    let lifelines = svg.lines().filter_map(|line| line.strip_prefix("<path d=\"M").filter(|line| line.contains('V')));
    let lifelines: Vec<usize> = lifelines.filter_map(|line| line.split(',').next()?.parse().ok()).collect();
    assert_eq!(lifelines.len(), 3);
    for [left, right, ..] in &boxes {
        assert!(lifelines.iter().all(|x| right <= x || x <= left), "{left} {right} {lifelines:?}");
    }
    for (index, a) in boxes.iter().enumerate() {
        for b in &boxes[..index] {
            assert!(a[1] <= b[0] || b[1] <= a[0] || a[3] <= b[2] || b[3] <= a[2], "{a:?} {b:?}");
        }
    }
}

/// Node 0 has token 0, which node 1 asks for, gets, uses and keeps; then node 0 asks twice.
const ENTRY: [&str; 6] = [
    r#"{"t":1,"node":1,"in":{"request":{"units":1,"priority":0}},"out":[{"send":{"to":0,"message":{"request":{"height":[0,1,1]}},"shared":false}}],"status":{"section":"waiting"}}"#,
    r#"{"t":2,"node":0,"in":{"message":{"from":1,"incarnation":0,"message":{"request":{"height":[0,1,1]}}}},"out":[{"send":{"to":1,"message":{"token":{"height":[0,0,0],"token":{"permit":0,"fence":{}}}},"shared":false}}],"status":{"permits":[]}}"#,
    r#"{"t":3,"node":1,"in":{"message":{"from":0,"incarnation":0,"message":{"token":{"height":[0,0,0],"token":{"permit":0,"fence":{}}}}}},"out":[{"grant":{"permits":[0],"fence":{}}}],"status":{"section":"critical","permits":[0]}}"#,
    r#"{"t":4,"node":1,"in":"release","out":[],"status":{"section":"remainder"}}"#,
    r#"{"t":5,"node":0,"in":{"request":{"units":2,"priority":0}},"out":[]}"#,
    r#"{"t":6,"node":0,"in":{"request":{"units":1,"priority":0}},"out":[],"refused":"already_waiting"}"#,
];

#[test]
fn bars_go_from_request_to_grant_to_release_and_from_token_to_token() {
    let chart = chart(&[&ENTRY[..], &[r#"{"t":7,"node":0,"in":"cancel","out":[]}"#, END]].concat());
    let svg = chart.svg();
    let rows = levels(&svg);
    assert_eq!(bars(&svg, CRITICAL), [(rows[2], rows[3])]);
    assert_eq!(bars(&svg, WAITING), [(rows[0], rows[2]), (rows[4], rows[6])]);
    let held = bars(&svg, HOLDING);
    assert_eq!(held.len(), 2);
    assert!(held[0].0 < rows[0] && held[0].1 == rows[1], "node 0 had it from the start: {held:?}");
    assert!(held[1].0 == rows[2] && held[1].1 > rows[6], "node 1 keeps it: {held:?}");
    assert_eq!(
        sentences(&chart)[2..],
        [
            "n0->>n1: token 0 (0,0,0)",
            "activate n1",
            "Note over n1: releases",
            "deactivate n1",
            "Note over n0: requests 2 units",
            "Note over n0: requests (refused)",
            "Note over n0: cancels",
        ]
    );
}

#[test]
fn a_token_stays_where_it_is_while_another_comes_and_goes() {
    let has = |t: u32, permits: &str| {
        format!(r#"{{"t":{t},"node":2,"in":{{"timer":"pace"}},"out":[],"status":{{"permits":{permits}}}}}"#)
    };
    let far = r#"{"t":0,"node":0,"in":"release","out":[{"grant":{"permits":[0,1]}}],"status":{"permits":[]}}"#;
    let svg = chart(&[far, &has(1, "[0]"), &has(2, "[0,1]"), &has(3, "[0]"), &has(4, "[]"), END]).svg();
    let rows = levels(&svg);
    assert_eq!(bars(&svg, HOLDING)[2..], [(rows[2], rows[3]), (rows[1], rows[4])]);
}

#[test]
fn a_grant_that_is_never_released_lasts_to_the_end() {
    let chart = chart(&[&ENTRY[..3], &[END]].concat());
    let svg = chart.svg();
    let bar = bars(&svg, CRITICAL)[0];
    assert_eq!(bar.0, levels(&svg)[2]);
    assert!(bar.1 > bar.0);
    assert_eq!(sentences(&chart).last().map(String::as_str), Some("deactivate n1"));
}

#[test]
fn a_late_message_is_refused_and_takes_no_other_messages_place() {
    let late = r#"{"t":6,"node":1,"in":{"message":{"from":0,"incarnation":0,"message":"second"}},"out":[],"refused":{"wrong_incarnation":{"from":0,"got":0,"now":2}}}"#;
    let lines = [&FAILURE[..9], &[late], &FAILURE[9..], &[END]].concat();
    let svg = chart(&lines).svg();
    assert!(svg.contains("second from node 0 to node 1, sent in row 1, arrives in row 5 and is refused"), "{svg}");
    assert!(svg.contains("anew from node 0 to node 1, sent in row 4, arrives in row 6<"), "{svg}");
}

#[test]
fn a_token_that_outlives_its_link_is_one_arrow_from_its_sending_to_its_arrival() {
    let arrives = r#"{"t":4,"node":0,"in":{"message":{"from":1,"incarnation":0,"message":{"token":{"height":[0,0,1],"token":{"permit":3,"fence":{}}}}}},"out":[]}"#;
    let before =
        r#"{"t":2,"node":1,"in":{"timer":"pace"},"out":[{"send":{"to":0,"message":"before","shared":false}}]}"#;
    let chart = chart(&[before, FAILURE[1], FAILURE[2], FAILURE[3], FAILURE[4], arrives, END]);
    let svg = chart.svg();
    assert!(svg.contains("token 3 (0,0,1) from node 1 to node 0, sent in row 2, arrives in row 4<"), "{svg}");
    assert!(svg.contains("before from node 1 to node 0, sent in row 1, lost in row 3<"), "{svg}");
}

#[test]
fn a_message_that_nobody_sent_is_drawn_all_the_same() {
    let chart = chart(&[r#"{"t":1,"node":2,"in":{"message":{"from":1,"message":"ghost"}},"out":[]}"#, END]);
    assert!(chart.svg().contains("ghost from node 1 to node 2, sent nobody knows when, arrives in row 1"));
    assert_eq!(sentences(&chart), ["n1->>n2: ghost"]);
}

#[test]
fn texts_of_others_can_not_break_out() {
    let chart = chart(&[
        r#"{"t":1,"node":0,"in":{"timer":"</g>&%%{init: 1}%%"},"out":[{"send":{"to":1,"message":"a<b>&\"c\";#1\n\u0001d","shared":false}}]}"#,
        r#"{"end":{"steps":1,"violation":"x < y & z; #2\nnode 1: \"%%\""}}"#,
    ]);
    let svg = chart.svg();
    assert!(svg.contains("a&lt;b&gt;&amp;&quot;c&quot;;#1  d"), "{svg}");
    assert!(svg.contains("x &lt; y &amp; z; #2 node 1: &quot;%%&quot;"), "{svg}");
    let said = sentences(&chart);
    assert_eq!(said[1], "n0-xn1: a#60;b#62;#38;#34;c#34;#59;#35;1  d, under way");
    let odd = header(3).replace("\"krl\"", r#""k\u0001<r>l""#);
    check_svg(&read_after(&odd, &[END]).expect("a trace").svg());
    assert_eq!(said[2], "Note over n0,n2: x #60; y #38; z#59; #35;2 node 1: #34;#37;#37;#34;");
}

#[test]
fn a_long_violation_is_red_and_wrapped() {
    let words = "the permits held and in flight are none ".repeat(9);
    let end = format!(r#"{{"end":{{"steps":0,"violation":"{words}{}"}}}}"#, "x".repeat(400));
    let chart = chart(&[&end]);
    let svg = chart.svg();
    let (_, red) = svg.split_once("fill=\"#C00000\">\n").expect("it is red");
    let lines: Vec<&str> = red.lines().filter_map(|line| line.split(['<', '>']).nth(2)).collect();
    let width = number(svg.lines().next().expect("a first line"), "width");
    assert!(lines.len() > 8 && lines.iter().all(|line| line.len() * 7 <= width), "{lines:?}");
    let bottom = number(red.lines().rfind(|line| line.starts_with("<text")).expect("a line"), "y");
    assert!(bottom < number(svg.lines().next().expect("a first line"), "height"));
    assert!(sentences(&chart)[0].split("<br/>").all(|line| line.len() < 80));
}

#[test]
fn a_large_network_shows_only_the_nodes_to_which_something_happens() {
    let step = r#"{"t":1,"node":70000,"in":"release","out":[{"send":{"to":4294967295,"message":"far"}}]}"#;
    let large = read(100_000, &[step, r#"{"t":2,"link":[3,5],"up":true,"incarnation":0}"#, END]).expect("a trace");
    check_svg(&large.svg());
    check_mermaid(&large.mermaid());
    let mermaid = large.mermaid();
    let shown = mermaid.lines().filter_map(|line| line.trim().strip_prefix("participant "));
    let shown: Vec<&str> = shown.filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(shown, ["n3", "n5", "n70000", "n4294967295"]);
    assert_eq!(read(50, &[END]).expect("a trace").mermaid().matches("participant").count(), 50);
    let alone = read(1, &[r#"{"end":{"steps":0,"violation":"odd"}}"#]).expect("a trace");
    assert_eq!(sentences(&alone), ["Note over n0: odd"]);
    assert_eq!(read(0, &[r#"{"end":{"steps":0,"violation":"odd"}}"#]).expect("a trace").mermaid().lines().count(), 2);
}

#[test]
fn whatever_a_step_looks_like_it_is_drawn() {
    let inputs = [
        "7",
        "null",
        "[]",
        "{}",
        r#""""#,
        r#""abdicate""#,
        r#"{"_":"\u0001"}"#,
        r#"{"message":null}"#,
        r#"{"message":{"from":-1}}"#,
        r#"{"message":{"from":0}}"#,
        r#"{"message":{"from":0,"message":[1]}}"#,
        r#"{"message":{"from":0,"message":{"permit":1,"height":[0]}}}"#,
        r#"{"undelivered":{"to":9}}"#,
        r#"{"undelivered":{}}"#,
        r#"{"below":7}"#,
        r#"{"timer":{"at":3}}"#,
        r#"{"request":"many","release":1}"#,
    ];
    let outs = [
        "null",
        "7",
        "[7,null,{},\"grant\"]",
        r#"[{"send":{}},{"send":7},{"send":{"to":0}},{"send":{"to":1e99,"message":1}}]"#,
        r#"[{"grant":{"permits":[999,-1,"x",127]}},{"send":{"to":0,"message":{"privilege":{"permit":127,"height":{}}}}}]"#,
    ];
    for out in outs {
        let steps = inputs.map(|input| format!(r#"{{"t":1,"node":0,"in":{input},"out":{out}}}"#));
        let lines: Vec<&str> = steps.iter().map(String::as_str).chain([END]).collect();
        assert_eq!(levels(&chart(&lines).svg()).len(), inputs.len());
    }
    let step = r#"{"t":1,"node":0,"in":"release","out":[{"send":{"to":1,"message":{"privilege":{"permit":127}}}}]}"#;
    assert_eq!(sentences(&chart(&[step, END]))[1], "n0-xn1: privilege, token 127, under way");
    let flat = r#"{"t":1,"node":0,"in":{"message":{"from":2,"message":{"permit":1,"height":[0,"a"]}}},"out":[]}"#;
    assert_eq!(sentences(&chart(&[flat, END])), ["n2->>n0: message, token 1 (0,#34;a#34;)"]);
    assert!(sentences(&chart(&[r#"{"end":{"steps":0,"violation":" \u0001"}}"#])).is_empty(), "no words, no note");
    let long = format!(r#"{{"t":1,"node":0,"in":{{"timer":"{}"}},"out":[]}}"#, "very_".repeat(99));
    assert!(sentences(&chart(&[&long, END]))[0].len() < 100);
}

#[test]
fn a_truncated_trace_is_refused() {
    assert!(matches!(read(3, &ENTRY), Err(ReadError::Truncated { .. })));
}

/// A step of a real node, as a world records it; what it sends is returned.
fn recorded(writer: &mut Writer, node: &mut Node<Krl>, id: NodeId, input: &InputOf<Krl>) -> Vec<InputOf<Krl>> {
    let mut out = Outbox::with_clauses();
    let before = node.protocol().status();
    node.step(input.clone(), &mut out).expect("legal");
    writer.step::<Krl>(1, id, input, out.effects(), None, node.protocol().status().change_since(&before));
    let sent = out.drain().filter_map(|effect| match effect {
        Effect::Send { message, .. } => Some(Input::Message { from: id, incarnation: Incarnation(0), message }),
        _ => None,
    });
    sent.collect()
}

#[test]
fn the_words_fit_the_messages_of_krl() {
    let [a, b] = [NodeId(0), NodeId(1)];
    let deployment = Deployment { nodes: 2, k: 1, links: vec![(a, b)], ..Deployment::default() };
    let protocols = Krl::deploy(&deployment, Variant::new(Forwarding::Off), Repairs::ALL);
    let mut holder = Node::new(a, protocols[0].clone(), Linked::from_iter([(b, Incarnation(0))]));
    let mut asker = Node::new(b, protocols[1].clone(), Linked::from_iter([(a, Incarnation(0))]));
    let origin = Origin::Soak { seed: 1, crowded: false, on_field: false, nodes: None };
    let header = Header::new(Algorithm::named("krl").expect("registered"), Vec::new(), deployment, origin);
    let path = std::env::temp_dir().join(format!("driftlock-chart-{}.jsonl", std::process::id()));
    let mut writer = Writer::create(&path, &header).expect("a file");
    let asked = recorded(&mut writer, &mut asker, b, &Input::Request(Demand::ONE)).remove(0);
    let given = recorded(&mut writer, &mut holder, a, &asked).remove(0);
    let told = recorded(&mut writer, &mut asker, b, &given).remove(0);
    recorded(&mut writer, &mut holder, a, &told);
    writer.finish(0, None).expect("written");
    let chart = Chart::read(Reader::open(&path).expect("opened")).expect("read");
    std::fs::remove_file(&path).expect("removed");
    assert_eq!(
        sentences(&chart),
        [
            "Note over n1: requests",
            "n1->>n0: request (0,1,1)",
            "n0->>n1: token 0 (0,0,0)",
            "activate n1",
            "n1->>n0: link info (0,-1,1)",
            "deactivate n1",
        ]
    );
    assert_eq!(bars(&chart.svg(), HOLDING).len(), 2, "first the one has the token, then the other");
}

#[test]
fn who_holds_a_token_at_the_start_is_known_from_the_algorithm() {
    let request = r#"{"t":1,"node":2,"in":{"request":{"units":1,"priority":0}},"out":[]}"#;
    let end = r#"{"end":{"steps":1}}"#;
    let holding = |header: &str| bars(&read_after(header, &[request, end]).expect("a trace").svg(), HOLDING).len();
    let unknown = holding(&header(3).replace("\"krl\"", "\"nobody's\""));
    assert_eq!(unknown, 0);
    assert_eq!(holding(&header(3)), 1, "node 0 has the token, though it takes no step");
}

/// The first line of a trace of klme in two neighbourhoods, and of krl, on three nodes.
fn header_of_two() -> String {
    header(3).replace(
        r#""resources":["#,
        r#""resources":[{"algorithm":"klme","k":1,"without":[],"tokens":"one","neighbourhoods":[{"members":[0,1]},{"members":[2]}]},"#,
    )
}

#[test]
fn several_resources_and_neighbourhoods_and_newcomers_are_told_apart() {
    let lines = [
        r#"{"t":1,"join":70}"#,
        r#"{"t":2,"member":70,"presence":"inside","neighbourhood":1}"#,
        r#"{"t":3,"node":2,"in":{"request":{"units":1,"priority":0}},"out":[{"broadcast":{"message":"hello"}}]}"#,
        r#"{"t":4,"node":2,"resource":1,"in":{"request":{"units":1,"priority":0}},"out":[{"send":{"to":1,"message":"hello"}}]}"#,
        r#"{"t":5,"node":1,"resource":1,"in":{"message":{"from":2,"message":"hello"}},"out":[]}"#,
        r#"{"t":6,"link":[1,2],"up":false,"incarnation":1}"#,
        r#"{"end":{"steps":3,"violation":"as a test","resource":1}}"#,
    ];
    let chart = read_after(&header_of_two(), &lines).expect("a trace");
    check_svg(&chart.svg());
    check_mermaid(&chart.mermaid());
    let heading = "    title 3 nodes: klme, k = 1; krl without pace, k = 1; links 0–1, 1–2";
    let title = chart.mermaid().lines().nth(1).map(str::to_owned);
    assert_eq!(title.map(|title| title.replace("#59;", ";")), Some(heading.into()));
    let told = sentences(&chart);
    let expected = [
        "Note over n70: joins",
        "Note over n70: enters neighbourhood 1 (resource 0)",
        "Note over n2: requests (resource 0)",
        "Note over n2: requests (resource 1)",
        "n2->>n1: hello (resource 1)",
        "Note over n1,n2: link 1-2 fails",
        "n2-xn70: hello (resource 0), under way",
        "Note over n0,n70: as a test (resource 1)",
    ];
    assert_eq!(told, expected, "only those in the same neighbourhood hear a broadcast");
}

//! What docs/link-layer.md promises of crowds, at sizes that tests have time for; `driftlock reproduce crowd` measures
//! it at length.

use driftlock_net::{Span, Time};
use driftlock_protocol::{NodeId, Section};
use driftlock_sim::config::Config;
use driftlock_sim::live::{self, Deed, Order, Progress};
use driftlock_sim::random::Duration;
use driftlock_sim::summary::Summary;
use driftlock_sim::sweep::run_all;

/// After this many seconds the links of any of these crowds have formed.
const SETTLED: f64 = 240.0;

/// A crowd that stands in one cell, and loses so many of its frames.
fn crowd(algorithm: &str, nodes: u32, loss: f64, load_of_all: f64) -> Config {
    let field = format!(
        "area = {{ width = 150, height = 150 }}\nmovement = {{ model = \"uniform\" }}\nradio = {{ loss = {loss} }}"
    );
    Config {
        algorithm: algorithm.into(),
        nodes,
        k: 1,
        load_of_all: Some(load_of_all),
        warmup: 0,
        warmup_time: SETTLED,
        replications: 1,
        field: Some(toml::from_str(&field).expect("a field")),
        ..Config::default()
    }
}

/// What all of these come to, in their order.
fn measured(configs: impl IntoIterator<Item = Config>) -> Vec<Summary> {
    let plans: Vec<_> = configs.into_iter().map(|config| config.plan().expect("it makes sense")).collect();
    let summaries = run_all(&plans, 0, &|_| ());
    assert!(summaries.iter().all(|summary| summary.violations == 0));
    summaries
}

#[test]
fn no_link_forms_or_breaks_while_nobody_moves_and_no_frame_is_lost() {
    let of = |(tag, nodes)| Config { entries: 40, ..crowd(tag, nodes, 0.0, 0.2) };
    let crowds = [("krl", 10), ("krl", 40), ("krl", 100), ("krl", 200), ("krlf", 100), ("hok", 100)];
    for (crowd, summary) in crowds.iter().zip(measured(crowds.map(of))) {
        let links = summary.links.expect("there are some");
        assert!(links.degree.mean > 2.0 && summary.span > 100.0, "{crowd:?}: {links:?}");
        assert_eq!((links.formed.mean, links.broken.mean), (0.0, 0.0), "{crowd:?}");
    }
}

#[test]
fn with_a_tenth_of_all_frames_lost_a_link_breaks_less_than_once_in_an_hour() {
    let of = |(tag, nodes)| Config { entries: 100, ..crowd(tag, nodes, 0.1, 0.2) };
    let crowds = [("krl", 10), ("krl", 40), ("krlf", 40), ("hok", 40), ("krl", 100)];
    for (crowd, summary) in crowds.iter().zip(measured(crowds.map(of))) {
        let links = summary.links.expect("there are some");
        let link_hours = links.degree.mean * f64::from(crowd.1) / 2.0 * summary.span / 3_600.0;
        let broken = links.broken.mean * summary.span;
        assert!(broken < link_hours, "{crowd:?}: {broken} broke in {link_hours} hours of links");
    }
}

#[test]
fn the_air_is_mostly_free_when_hardly_anything_is_asked_for() {
    let of = |(tag, nodes, loss)| Config { entries: 2, ..crowd(tag, nodes, loss, 0.02) };
    let crowds = [("krl", 200, 0.0), ("krl", 200, 0.1), ("krlf", 10, 0.0), ("krlf", 200, 0.1), ("hok", 200, 0.1)];
    for (crowd, summary) in crowds.iter().zip(measured(crowds.map(of))) {
        let sending = summary.radio.expect("there are some").sending;
        assert!(sending > 0.0 && sending < 0.4, "{crowd:?}: {sending}");
    }
}

#[test]
fn a_hundred_nodes_wait_no_longer_than_five_times_as_long_as_ten() {
    for tag in ["krl", "krlf", "hok"] {
        let of = |nodes| Config { entries: 100, ..crowd(tag, nodes, 0.0, 0.2) };
        let waits = measured([10, 100].map(of));
        let [ten, hundred] = [0, 1].map(|at: usize| waits[at].wait.mean);
        assert!(hundred < 5.0 * ten, "{tag}: {hundred} s and {ten} s");
    }
}

#[test]
fn when_more_is_asked_for_than_the_air_carries_what_is_served_stays_at_its_most() {
    for (tag, nodes) in [("krl", 40), ("krl", 100), ("krlf", 100), ("hok", 40)] {
        let cs_time = Duration::Constant(0.001);
        let of = |load| Config { entries: 500, cs_time, ..crowd(tag, nodes, 0.0, load) };
        let served: Vec<_> = measured([10.0, 30.0, 100.0, 1000.0].map(of)).iter().map(|s| s.throughput.mean).collect();
        let most = served.iter().copied().fold(0.0, f64::max);
        assert!(served[3] > 0.67 * most, "{tag}, {nodes} nodes: {served:?} a second");
    }
}

/// What a crowd does in which all nodes ask without end from when its links have formed until this time.
fn besieged(
    (tag, nodes, loss): (&str, u32, f64),
    calm_at: Time,
    step: Span,
    watcher: &mut dyn FnMut(&Progress) -> Option<Order>,
) {
    let plan = Config { load_of_all: Some(1e-3), ..crowd(tag, nodes, loss, 0.2) }.plan().expect("it makes sense");
    let settled = Time::from_units(SETTLED);
    let mut orders = Vec::new();
    let end = live::run(&plan, None, &mut |seen| {
        if let Some(order) = orders.pop() {
            return order;
        }
        if let Some(order) = watcher(seen) {
            return order;
        }
        orders.push(Order::Until((seen.now + step).max(settled)));
        orders.extend(of(seen, Section::Critical).map(|node| Order::Do(Deed::Release(node))));
        if seen.now >= settled && seen.now < calm_at {
            orders.extend(of(seen, Section::Remainder).map(|node| Order::Do(Deed::Request(node))));
        }
        orders.pop().expect("it goes on at least")
    });
    assert_eq!(end.expect("no trace is written").violation, None);
}

/// The nodes in this section.
fn of(seen: &Progress, section: Section) -> impl Iterator<Item = NodeId> + '_ {
    (0..).map(NodeId).zip(&seen.nodes).filter(move |(_, node)| node.section == section).map(|(node, _)| node)
}

/// How many are served in each ten seconds of a minute in which all nodes ask without end.
fn served_under_siege(tag: &str, nodes: u32) -> Vec<usize> {
    let ends = [10.0, 20.0, 30.0, 40.0, 50.0, 60.0].map(|after| Time::from_units(SETTLED + after));
    let mut served = vec![0; ends.len()];
    besieged((tag, nodes, 0.0), Time::END, Span::from_millis(5), &mut |seen| {
        let Some(ten) = ends.iter().position(|&end| seen.now < end) else { return Some(Order::End) };
        served[ten] += of(seen, Section::Critical).count();
        None
    });
    served
}

#[test]
fn who_asks_without_end_is_served_as_often_after_a_minute_as_ever() {
    for (tag, nodes) in [("krl", 100), ("krlf", 40), ("hok", 40), ("hok", 100), ("hok", 200)] {
        let served = served_under_siege(tag, nodes);
        let (last, most) = (served[5], served.iter().max().expect("six"));
        assert!(last * 10 > most * 9, "{tag}, {nodes}: {served:?} in ten seconds each");
        assert!(last > 250, "{tag}, {nodes}: {served:?} in ten seconds each");
    }
}

/// How many seconds all who wait need to be served when all nodes have asked without end for a while and then none
/// does, and how long a node waits that asks a while later.
fn recovery(tag: &str, nodes: u32, loss: f64) -> (f64, f64) {
    let (calm_at, over_at) = (Time::from_units(SETTLED + 15.0), Time::from_units(SETTLED + 60.0));
    let (mut recovered, mut asked, mut waits_until) = (None, false, over_at);
    besieged((tag, nodes, loss), calm_at, Span::from_millis(20), &mut |seen| {
        let nobody_waits = of(seen, Section::Waiting).count() == 0;
        if asked && nobody_waits {
            waits_until = seen.now;
            return Some(Order::End);
        }
        if seen.now >= calm_at && nobody_waits {
            recovered.get_or_insert(seen.now - calm_at);
        }
        if seen.now >= over_at && !asked {
            asked = true;
            return Some(Order::Do(Deed::Request(NodeId(nodes / 2))));
        }
        None
    });
    (recovered.expect("all are served in the end").units(), (waits_until - over_at).units())
}

#[test]
fn when_the_load_falls_all_who_wait_are_served_within_ten_seconds() {
    for (tag, nodes, loss) in
        [("krl", 10, 0.0), ("krl", 200, 0.1), ("krlf", 100, 0.0), ("hok", 200, 0.0), ("hok", 200, 0.1)]
    {
        let (recovered, wait) = recovery(tag, nodes, loss);
        println!("{tag}, {nodes} nodes, {loss}: {recovered} s, then {wait} s");
        assert!(recovered > 0.0 && recovered < 10.0 && wait < 1.0, "{tag}, {nodes}: {recovered} s, then {wait} s");
    }
}

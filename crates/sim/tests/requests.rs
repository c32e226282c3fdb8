//! Two algorithms meet the same requests: the n-th of each node is the same, whatever was granted before, and when.

use std::io::Write;
use std::sync::{Arc, Mutex};

use driftlock_protocol::{Algorithm, Demand, Repairs, Units};
use driftlock_sim::config::{Config, Plan};
use driftlock_sim::live::{self, Order};
use driftlock_sim::run::{replicate, trace_header};
use driftlock_sim::soak::{Case, Crowd};
use driftlock_trace::{Header, Line, Reader, Step, Writer};
use serde_json::Value;

#[derive(Clone, Default)]
struct Bytes(Arc<Mutex<Vec<u8>>>);

impl Write for Bytes {
    fn write(&mut self, buffer: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("one thread").write(buffer)
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A request as its trace tells of it. Times are in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Request {
    /// How long after the end of the one before, or after the start.
    pause: u64,
    units: Units,
    priority: u32,
    /// How long after the request.
    deadline: u64,
    /// How long it was used, altogether; none if it was not released.
    hold: Option<u64>,
}

/// What a node has done so far.
#[derive(Clone, Default)]
struct Node {
    requests: Vec<Request>,
    /// When it was granted what it uses.
    granted: u64,
    /// How long it has used it before it was taken away.
    used: u64,
    ended: u64,
}

impl Node {
    fn take(&mut self, Step { t, input, out, .. }: &Step<Value, Value>) {
        if let Some(demand) = input.get("request") {
            let Demand { units, priority, deadline } = serde_json::from_value(demand.clone()).expect("a demand");
            let (pause, deadline) = (t - self.ended, deadline.0.saturating_sub(*t));
            self.requests.push(Request { pause, units, priority: priority.0, deadline, hold: None });
        }
        if input.as_str() == Some("release") {
            let hold = self.used + t - self.granted;
            self.requests.last_mut().expect("it has asked").hold = Some(hold);
            (self.used, self.ended) = (0, *t);
        }
        for effect in out.as_array().expect("a list") {
            if effect.get("grant").is_some() {
                self.granted = *t;
            } else if effect.get("revoke").is_some() {
                self.used += t - self.granted;
            }
        }
    }
}

/// The requests of each node, in what this writes.
fn requests(header: &Header, write: impl FnOnce(Writer)) -> Vec<Vec<Request>> {
    let bytes = Bytes::default();
    write(Writer::new(Box::new(bytes.clone()), header));
    let trace = std::mem::take(&mut *bytes.0.lock().expect("one thread"));
    let mut reader = Reader::new(Box::new(std::io::Cursor::new(trace))).expect("a trace");
    let mut nodes = vec![Node::default(); header.nodes as usize];
    while let Some(line) = reader.next_line().expect("a whole trace") {
        if let Line::Step(step) = line {
            nodes[step.node.index()].take(&step);
        }
    }
    nodes.into_iter().map(|node| node.requests).collect()
}

fn of_run(plan: &Plan) -> Vec<Vec<Request>> {
    requests(&trace_header(plan, 1), |writer| {
        let replication = replicate(plan, 1, writer.into()).expect("memory takes it all");
        assert_eq!(replication.violation, None);
    })
}

/// How many requests of the same number two runs have, after looking that these parts of them are the same. At the end
/// of a run some have no hold yet.
fn compare<T: PartialEq + std::fmt::Debug>(
    [ours, theirs]: [&[Vec<Request>]; 2],
    of: impl Fn(Request) -> T,
    what: &str,
) -> usize {
    let mut compared = 0;
    for (node, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
        for (number, (one, other)) in ours.iter().zip(theirs).enumerate() {
            if one.hold.is_some() && other.hold.is_some() {
                assert_eq!(of(*one), of(*other), "request {number} of node {node}, {what}");
                compared += 1;
            }
        }
    }
    compared
}

/// Looks that all these algorithms meet the same requests where the first one does something else about them.
fn all_alike(algorithms: &[&str], config: &Config) {
    let met: Vec<_> = algorithms
        .iter()
        .map(|tag| of_run(&Config { algorithm: (*tag).into(), ..config.clone() }.plan().expect("it makes sense")))
        .collect();
    let everything = |request| request;
    for (tag, other) in algorithms.iter().zip(&met).skip(1) {
        let compared = compare([&met[0], other], everything, tag);
        assert!(compared > 300, "{tag}: {compared}");
    }
}

fn config() -> Config {
    Config {
        nodes: 12,
        k: 2,
        load: 0.1,
        connectivity: 0.4,
        cs_time: "uniform:0.5..3".parse().expect("a duration"),
        priorities: "0..9".parse().expect("numbers"),
        deadlines: "exponential:20".parse().expect("a duration"),
        delay: "exponential:1".parse().expect("a duration"),
        warmup: 0,
        entries: 600,
        ..Config::default()
    }
}

#[test]
fn algorithms_of_links_meet_the_same_requests() {
    let fails = driftlock_protocol::ideal::Fate::Returned;
    all_alike(&["krl", "hok", "krlf", "hok-edf"], &Config { mobility: 0.2, link_failure: fails, ..config() });
    let several = Config { units: "1..2".parse().expect("numbers"), load_of: [(3, 2.0)].into(), ..config() };
    let own_priority = [(1, "50".parse().expect("a number"))].into();
    all_alike(&["hok", "hok-strict"], &Config { priority_of: own_priority, ..several });
}

#[test]
fn algorithms_of_neighbourhoods_meet_the_same_requests() {
    all_alike(&["klme", "klme-ft"], &Config { connectivity: Config::default().connectivity, ..config() });
}

#[test]
fn algorithms_over_radios_meet_the_same_requests() {
    let field = Some(toml::from_str("area = { width = 150, height = 150 }").expect("a field"));
    let usual = Config::default();
    let (connectivity, delay) = (usual.connectivity, usual.delay);
    all_alike(&["krl", "hok", "klme", "klme-ft"], &Config { field, connectivity, delay, ..config() });
}

#[test]
fn what_a_border_cuts_short_is_used_for_as_long_altogether() {
    let plan = |tag: &str| {
        let (connectivity, churn) = (Config::default().connectivity, "heavy".parse().expect("a churn"));
        Config { algorithm: tag.into(), connectivity, churn, neighbourhoods: 2, ..config() }
            .plan()
            .expect("it makes sense")
    };
    let [ours, theirs] = ["klme", "klme-ft"].map(|tag| of_run(&plan(tag)));
    // An application that asks while its node is in no neighbourhood is first heard of when it comes in.
    assert!(compare([&ours, &theirs], |request| (request.hold, request.priority), "klme-ft") > 300);
}

#[test]
fn whoever_watches_two_algorithms_sees_the_same_requests() {
    let met = ["krl", "hok"].map(|tag| {
        let (connectivity, delay) = (Config::default().connectivity, Config::default().delay);
        let field = Some(toml::from_str("area = { width = 150, height = 150 }").expect("a field"));
        let config = Config { algorithm: tag.into(), connectivity, delay, field, ..config() };
        let plan = config.plan().expect("it makes sense");
        requests(&live::trace_header(&plan), |writer| {
            let end = driftlock_net::Time::from_units(500.0);
            let until = |progress: &live::Progress| if progress.now < end { Order::Until(end) } else { Order::End };
            live::run(&plan, Some(writer), &mut { until }).expect("memory takes it all");
        })
    });
    assert!(compare([&met[0], &met[1]], |request| request, "hok") > 200);
}

#[test]
fn fault_and_heal_runs_of_two_algorithms_are_about_the_same_requests() {
    let mut compared = 0;
    for seed in 0..40 {
        let met = ["hok", "hok-fcfs"].map(|tag| {
            let algorithm = Algorithm::named(tag).expect("registered");
            let case = Case::draw(seed, Crowd::Usual, algorithm).without_kills();
            requests(&case.trace_header(algorithm, Vec::new()), |writer| {
                let report = case.run(algorithm, Repairs::ALL, Some(writer)).expect("memory takes it all");
                assert_eq!(report.violation, None, "seed {seed}");
            })
        });
        // What was withdrawn too late is asked for once more, and stays as urgent as it was.
        compared += compare([&met[0], &met[1]], |request| request.hold, "hok-fcfs");
    }
    assert!(compared > 1_000, "{compared}");
}

//! The results of simulations as a table for people, as JSON, CSV and Parquet.

mod columns;
mod identity;
mod table;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write as _};

use driftlock_protocol::ideal::{Fate, Start};
use driftlock_sim::churn::Churn;
use driftlock_sim::config::{Config, Plan};
use driftlock_sim::demand::Demands;
use driftlock_sim::field::FieldPlan;
use driftlock_sim::layout::Layout;
use driftlock_sim::summary::{Connectedness, Crossings, Links, Lives, Radio, Summary, Wait, WaitOfClass};
use serde_json::Value as Json;

use self::identity::VERSION;
pub(crate) use self::identity::run_id;
pub(crate) use self::table::to_table;
use crate::constants;
use crate::failure::Failure;

/// Writes to standard output, and says so if that is not possible.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(Failure::Stdout)
}

/// One simulation as one JSON object: what tells it from others, and the configuration under `config`, beside the
/// results.
pub(crate) fn to_json(plan: &Plan, summary: &Summary) -> Result<Json, Failure> {
    let mut object = serde_json::to_value(summary).unwrap_or_default();
    if let Json::Object(fields) = &mut object {
        fields.insert("run_id".into(), run_id(plan)?.into());
        fields.insert("version".into(), VERSION.into());
        fields.insert("config".into(), Json::Object(plan.parameters()));
    }
    Ok(object)
}

/// The rule that is in force, if the algorithm has one.
fn link_info(plan: &Plan) -> String {
    let has_rule = plan.algorithm.repairs().iter().any(|repair| repair.name == "link-info");
    if has_rule { format!("; LinkInfo rule {}", plan.config.link_info) } else { String::new() }
}

/// One simulation for a person to read.
pub(crate) fn to_text(plan: &Plan, summary: &Summary) -> String {
    let config = &plan.config;
    let mut text = format!(
        "{} on {} nodes with k = {}: load {}{}, {}\n\
         CS time {}{}{}{}{}{}\n{}\
         {} replications of {} entries after {} of warm-up{}, seed {}{}\n\n",
        config.algorithm,
        config.nodes,
        config.k,
        config.load,
        load_in_other_words(config),
        ground(plan),
        config.cs_time,
        if config.field.is_some() { String::new() } else { format!(", message delay {}", config.delay) },
        fate(plan),
        link_info(plan),
        if plan.without.is_empty() { String::new() } else { format!(", without {}", plan.without.join(", ")) },
        constants::listed(&config.constants),
        demands_line(config.demands()) + &single_nodes_line(config),
        config.replications,
        config.entries,
        config.warmup,
        if config.warmup_time > 0.0 { format!(" and not before {}", config.warmup_time) } else { String::new() },
        config.seed,
        if config.check { ", every invariant checked after every event" } else { "" },
    );
    for (name, value) in lines(summary) {
        let _ = writeln!(text, "{name:<28} {value}");
    }
    for violated in &summary.violation_details {
        let _ = writeln!(text, "  replication {}: {}", violated.replication, violated.what);
    }
    text
}

/// How the load was given, if it was given otherwise.
fn load_in_other_words(config: &Config) -> String {
    let contention = config.contention.map(|percent| format!(" ({percent}% contention)"));
    contention.or_else(|| config.load_of_all.map(|all| format!(" ({all} of all)"))).unwrap_or_default()
}

/// What the nodes stand on, and how it changes.
fn ground(plan: &Plan) -> String {
    let Config { connectivity, mobility, neighbourhoods, churn, absence, speed, .. } = &plan.config;
    match &plan.config.field {
        Some(FieldPlan { tracks: Some(path), .. }) => {
            return format!("a field with the movements of {}", path.display());
        }
        Some(FieldPlan { area, .. }) => return format!("a field of {} m x {} m", area.width, area.height),
        None => {}
    }
    if plan.algorithm.starts_from() == Start::Links {
        let links = match &plan.config.topology {
            Layout::Random => format!("connectivity {connectivity}"),
            Layout::Named(topology) => topology.to_string(),
            Layout::Links(_) => "a given graph".to_owned(),
        };
        let restarts = plan.config.restarts;
        let restarts = if restarts > 0.0 { format!(", restarts {restarts}") } else { String::new() };
        return format!("{links} ({} links), mobility {mobility}{restarts}", plan.links);
    }
    let Config { areas, spacing, margin, .. } = &plan.config;
    let moves = if *speed > 0.0 {
        format!("speed {speed}, {areas} {spacing} m apart, margin {margin} m")
    } else if *churn == Churn::NONE {
        "nobody moves".to_owned()
    } else {
        format!("churn {churn} (a rate of {}), absence {absence}", churn.rate())
    };
    let plural = if *neighbourhoods == 1 { "" } else { "s" };
    format!("{neighbourhoods} neighbourhood{plural}, {moves}")
}

/// What becomes of messages on links that fail, where there are links.
fn fate(plan: &Plan) -> &'static str {
    match (plan.algorithm.starts_from(), plan.config.link_failure) {
        _ if plan.config.field.is_some() => "",
        (Start::Members | Start::Nodes, _) => "",
        (Start::Links, Fate::Drained) => "; messages on failing links drained",
        (Start::Links, Fate::Returned) => "; messages on failing links returned",
        (Start::Links, Fate::Settled) => "; permits on failing links settled",
        (Start::Links, Fate::Lost) => "; messages on failing links lost",
    }
}

/// What requests ask for, where it is not the usual single unit.
fn demands_line(demands: Demands) -> String {
    if demands == Demands::default() {
        return String::new();
    }
    let Demands { units, priorities, deadlines } = demands;
    format!("units per request {units}, priorities {priorities}, deadlines {deadlines}\n")
}

/// What single nodes do otherwise than the rest.
fn single_nodes_line(config: &Config) -> String {
    let loads = config.load_of.iter().map(|(node, load)| format!("load of node {node} {load}"));
    let priorities = config.priority_of.iter().map(|(node, own)| format!("priority of node {node} {own}"));
    let all: Vec<_> = loads.chain(priorities).collect();
    if all.is_empty() { String::new() } else { format!("{}\n", all.join(", ")) }
}

fn lines(summary: &Summary) -> Vec<(String, String)> {
    let wait = &summary.wait;
    let sync = &summary.synchronisation_delay;
    let mut lines: Vec<(String, String)> = Vec::new();
    let mut add = |name: &str, value: String| lines.push((name.to_owned(), value));
    add("entries", summary.entries.to_string());
    add("entries per time unit", with_ci(summary.throughput.mean, summary.throughput.ci95));
    add("waiting time, mean", with_ci(wait.mean, wait.ci95));
    add("  50, 90, 95, 99%, longest", quantiles(wait));
    add("  no wait at all", format!("{:.1}%", 100.0 * wait.zero_share));
    if let Some(inside) = &summary.wait_inside {
        add("  where it was served", with_ci(inside.mean, inside.ci95));
        add("    50, 90, 95, 99%, longest", quantiles(inside));
    }
    for (name, value) in class_lines(summary) {
        add(&name, value);
    }
    if let Some(ratio) = summary.deadline_miss_ratio {
        add("deadlines missed", percent_with_ci(ratio, summary.deadline_miss_ratio_ci95));
    }
    if let Some(share) = summary.priority_inversions {
        add("ahead of the more urgent", percent_with_ci(share, summary.priority_inversions_ci95));
    }
    add("messages per entry", with_ci(summary.messages_per_entry, summary.messages_per_entry_ci95));
    for (kind, count) in &summary.messages_by_kind {
        add(&format!("  {kind}"), format!("{count:.3}"));
    }
    add("transmissions per entry", with_ci(summary.transmissions_per_entry, summary.transmissions_per_entry_ci95));
    add("token hops per entry", format!("{:.3}", summary.hops));
    add("synchronisation delay", with_ci(sync.mean, sync.ci95));
    if !sync.mean.is_nan() {
        add("  median, 95%, longest", format!("{:.3}, {:.3}, {:.3}", sync.p50, sync.p95, sync.max));
    }
    if let Some(above) = sync.above_2t {
        add("  above 2T", percent_with_ci(above, sync.above_2t_ci95));
    }
    add("fairness (Jain's index)", format!("{:.4}", summary.jain));
    add("tokens idle while wanted", format!("{:.1}%", 100.0 * summary.idle_token_share));
    add("tokens in use", format!("{:.1}%", 100.0 * summary.utilisation));
    add("  all of them", format!("{:.1}% of the time", 100.0 * all_in_use(summary)));
    add("in the CS at once, mean", with_ci(summary.concurrency.mean, summary.concurrency.ci95));
    for (name, value) in summary.crossings.iter().flat_map(crossing_lines) {
        add(name, value);
    }
    for (name, value) in summary.lives.iter().flat_map(life_lines) {
        add(name, value);
    }
    for (name, value) in summary.radio.iter().flat_map(radio_lines) {
        add(name, value);
    }
    for (name, value) in summary.links.iter().flat_map(link_lines) {
        add(name, value);
    }
    for (name, value) in summary.graph.iter().flat_map(graph_lines) {
        add(name, value);
    }
    add("still waiting at the end", still_waiting(summary));
    add("violations", summary.violations.to_string());
    lines
}

fn quantiles(wait: &Wait) -> String {
    let Wait { p50, p90, p95, p99, max, .. } = wait;
    format!("{p50:.3}, {p90:.3}, {p95:.3}, {p99:.3}, {max:.3}")
}

fn crossing_lines(crossings: &Crossings) -> Vec<(&'static str, String)> {
    let Crossings { departures, left_waiting, handovers, interruption, wait_per_request } = crossings;
    vec![
        ("departures per entry", format!("{departures:.4}")),
        ("  of nodes that waited", format!("{left_waiting:.4}")),
        ("  of nodes in the CS", format!("{handovers:.4}")),
        ("  from there to re-entry", with_ci(interruption.mean, interruption.ci95)),
        ("waited per request, in all", with_ci(wait_per_request.mean, wait_per_request.ci95)),
    ]
}

/// What was done to the lives of nodes.
fn life_lines(lives: &Lives) -> Vec<(&'static str, String)> {
    let Lives { restarts, outlived, resumed } = lives;
    vec![
        ("nodes killed, back at once", restarts.to_string()),
        ("  in the CS, which went on", outlived.to_string()),
        ("  and was resumed", resumed.to_string()),
    ]
}

/// What an entry cost on the air.
fn radio_lines(radio: &Radio) -> Vec<(&'static str, String)> {
    vec![
        ("radio, per entry", String::new()),
        ("  frames sent", format!("{:.2}", radio.transmissions)),
        ("  acknowledgements sent", format!("{:.2}", radio.acknowledgements)),
        ("  frames received", format!("{:.2}", radio.receptions)),
        ("  bytes sent", format!("{:.0}", radio.bytes)),
        ("  airtime", format!("{:.2} ms", 1e3 * radio.airtime)),
        ("  energy", format!("{:.3} J", radio.joules)),
        ("radios sending at once", format!("{:.4}", radio.sending)),
    ]
}

/// Which links there were.
fn link_lines(links: &Links) -> Vec<(&'static str, String)> {
    let Links { degree, formed, broken } = links;
    vec![
        ("links of a node", with_ci(degree.mean, degree.ci95)),
        ("  formed per time unit", format!("{:.4}", formed.mean)),
        ("  broken per time unit", format!("{:.4}", broken.mean)),
    ]
}

/// Which nodes were in range of one another.
fn graph_lines(graph: &Connectedness) -> Vec<(&'static str, String)> {
    let Connectedness { connected, largest_component, degree } = graph;
    vec![
        ("radios in range", String::new()),
        ("  all connected", format!("{} of the time", percent_with_ci(connected.mean, connected.ci95))),
        ("  in the largest component", percent_with_ci(largest_component.mean, largest_component.ci95)),
        ("  neighbours of a node", with_ci(degree.mean, degree.ci95)),
    ]
}

/// Waiting times of each kind of request, priorities first.
fn class_lines(summary: &Summary) -> Vec<(String, String)> {
    let priority = |number| format!("  priority {number}");
    let units = |number| if number == 1 { "  1 unit".to_owned() } else { format!("  {number} units") };
    let mut lines = lines_of(&summary.wait_by_priority, priority);
    lines.extend(lines_of(&summary.wait_by_units, units));
    lines
}

/// A line for each class, or only for the first and the last where there are more than a reader would read.
fn lines_of(classes: &BTreeMap<u32, WaitOfClass>, name: impl Fn(u32) -> String) -> Vec<(String, String)> {
    const CLASSES_MAX: usize = 10;
    let ends = [classes.first_key_value(), classes.last_key_value()];
    let shown: Vec<_> =
        if classes.len() > CLASSES_MAX { ends.into_iter().flatten().collect() } else { classes.iter().collect() };
    let line = |(&number, class): (&u32, &WaitOfClass)| {
        let wait = with_ci(class.wait.mean, class.wait.ci95);
        (name(number), format!("{wait} ({} entries)", class.entries))
    };
    shown.into_iter().map(line).collect()
}

/// The share of the time in which there was no unit left.
fn all_in_use(summary: &Summary) -> f64 {
    summary.units_in_use.last_key_value().map_or(f64::NAN, |(_, share)| *share)
}

fn still_waiting(summary: &Summary) -> String {
    let Summary { waiting_at_end, longest_open_wait, overdue_at_end, deadline_miss_ratio, .. } = summary;
    let overdue =
        if deadline_miss_ratio.is_some() { format!("; {overdue_at_end} past the deadline") } else { String::new() };
    // A wait that has not ended is in no mean: nodes that are cut off for good make it look better, not worse.
    let left_out =
        if *longest_open_wait > summary.wait.max { "; not in the waits above, and longer than any" } else { "" };
    format!("{waiting_at_end} (the longest for {longest_open_wait:.1} time units{overdue}{left_out})")
}

fn percent_with_ci(share: f64, ci95: Option<f64>) -> String {
    match ci95 {
        _ if share.is_nan() => "nothing was counted".into(),
        Some(ci95) => format!("{:.1}% ± {:.1}", 100.0 * share, 100.0 * ci95),
        None => format!("{:.1}%", 100.0 * share),
    }
}

/// A mean and the half width of its 95% confidence interval.
pub(crate) fn with_ci(mean: f64, ci95: Option<f64>) -> String {
    match ci95 {
        _ if mean.is_nan() => "nothing was counted".into(),
        Some(ci95) => format!("{mean:.3} ± {ci95:.3}"),
        None => format!("{mean:.3}"),
    }
}

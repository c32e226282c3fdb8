//! The results of simulations as a table for people, as JSON, CSV and Parquet.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write as _};

use driftlock_sim::config::Plan;
use driftlock_sim::summary::Summary;
use driftlock_table::{Kind, Table, Value};
use serde_json::Value as Json;

use crate::failure::Failure;

/// Writes to standard output, and says so if that is not possible.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(Failure::Stdout)
}

/// One simulation as one JSON object: the configuration under `config`, the results beside it.
pub(crate) fn to_json(plan: &Plan, summary: &Summary) -> Json {
    let mut object = serde_json::to_value(summary).unwrap_or_default();
    if let Json::Object(fields) = &mut object {
        fields.insert("config".into(), serde_json::to_value(&plan.config).unwrap_or_default());
    }
    object
}

/// One row for each simulation, with its number, its parameters and its results; nested names are joined with dots.
pub(crate) fn to_table(runs: &[(&Plan, &Summary)]) -> Result<Table, Failure> {
    let rows: Vec<Vec<(String, Value)>> = runs.iter().map(|(plan, summary)| row(plan, summary)).collect();
    let mut kinds: Vec<(String, Kind)> = vec![("run".into(), Kind::Integer)];
    let mut positions = BTreeMap::new();
    for (name, value) in rows.iter().flatten() {
        let position = *positions.entry(name.clone()).or_insert_with(|| {
            kinds.push((name.clone(), Kind::Integer));
            kinds.len() - 1
        });
        kinds[position].1 = wider(kinds[position].1, value);
    }
    let mut table = Table::new(kinds.clone());
    for (number, row) in rows.into_iter().enumerate() {
        let mut cells = vec![Value::Missing; kinds.len()];
        cells[0] = Value::Integer(number as u64);
        for (name, value) in row {
            let position = positions[&name];
            cells[position] = match (value, kinds[position].1) {
                (Value::Integer(count), Kind::Real) => Value::Real(count as f64),
                (value, _) => value,
            };
        }
        table.push(cells)?;
    }
    Ok(table)
}

/// A column's kind once it also has to hold this value. One that has held nothing else yet is of integers.
fn wider(kind: Kind, value: &Value) -> Kind {
    match value {
        Value::Integer(_) | Value::Missing if kind == Kind::Integer => Kind::Integer,
        Value::Integer(_) | Value::Missing => kind,
        Value::Text(_) => Kind::Text,
        Value::Real(_) => Kind::Real,
        Value::Flag(_) => Kind::Flag,
    }
}

fn row(plan: &Plan, summary: &Summary) -> Vec<(String, Value)> {
    let mut cells = Vec::new();
    let parameters = serde_json::to_value(&plan.config).unwrap_or_default();
    flatten("", &parameters, &mut cells);
    let results = serde_json::to_value(summary).unwrap_or_default();
    let seen = cells.len();
    flatten("", &results, &mut cells);
    // The seed, and the entries asked for, are parameters; what was counted goes by another name.
    let names: Vec<String> = cells[..seen].iter().map(|(name, _)| name.clone()).collect();
    let mut rest = cells.split_off(seen);
    rest.retain(|(name, _)| name != "seed");
    for (name, _) in &mut rest {
        if names.contains(name) {
            *name = format!("counted_{name}");
        }
    }
    cells.extend(rest);
    cells
}

fn flatten(prefix: &str, value: &Json, cells: &mut Vec<(String, Value)>) {
    let cell = match value {
        Json::Object(fields) => {
            for (name, value) in fields {
                let name = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
                flatten(&name, value, cells);
            }
            return;
        }
        Json::Array(items) => {
            let texts: Vec<_> =
                items.iter().map(|item| item.as_str().map_or_else(|| item.to_string(), str::to_owned)).collect();
            Value::Text(texts.join("; "))
        }
        Json::String(text) => Value::Text(text.clone()),
        Json::Bool(flag) => Value::Flag(*flag),
        Json::Null => Value::Missing,
        Json::Number(number) => match number.as_u64() {
            Some(count) => Value::Integer(count),
            None => Value::Real(number.as_f64().unwrap_or(f64::NAN)),
        },
    };
    cells.push((prefix.to_owned(), cell));
}

/// One simulation for a person to read.
pub(crate) fn to_text(plan: &Plan, summary: &Summary) -> String {
    let config = &plan.config;
    let mut text = format!(
        "{} on {} nodes with k = {}: load {}, connectivity {} ({} links), mobility {}\n\
         CS time {}, message delay {}; LinkInfo rule {}{}\n\
         {} replications of {} entries after {} of warm-up, seed {}\n\n",
        config.algorithm,
        config.nodes,
        config.k,
        config.load,
        config.connectivity,
        plan.links,
        config.mobility,
        config.cs_time,
        config.delay,
        config.link_info,
        if plan.without.is_empty() { String::new() } else { format!(", without {}", plan.without.join(", ")) },
        config.replications,
        config.entries,
        config.warmup,
        config.seed,
    );
    for (name, value) in lines(summary) {
        let _ = writeln!(text, "{name:<28} {value}");
    }
    for detail in &summary.violation_details {
        let _ = writeln!(text, "  {detail}");
    }
    text
}

fn lines(summary: &Summary) -> Vec<(String, String)> {
    let wait = &summary.wait;
    let sync = &summary.synchronisation_delay;
    let mut lines: Vec<(String, String)> = Vec::new();
    let mut add = |name: &str, value: String| lines.push((name.to_owned(), value));
    add("entries", summary.entries.to_string());
    add("waiting time, mean", with_ci(wait.mean, wait.ci95));
    add("  median, 90%, 99%, longest", format!("{:.3}, {:.3}, {:.3}, {:.3}", wait.p50, wait.p90, wait.p99, wait.max));
    add("messages per entry", with_ci(summary.messages_per_entry, summary.messages_per_entry_ci95));
    for (kind, count) in &summary.messages_by_kind {
        add(&format!("  {kind}"), format!("{count:.3}"));
    }
    add("transmissions per entry", with_ci(summary.transmissions_per_entry, summary.transmissions_per_entry_ci95));
    add("token hops per entry", format!("{:.3}", summary.hops));
    add("synchronisation delay", with_ci(sync.mean, sync.ci95));
    add("fairness (Jain's index)", format!("{:.4}", summary.jain));
    add("tokens idle while wanted", format!("{:.1}%", 100.0 * summary.idle_token_share));
    add("tokens in use", format!("{:.1}%", 100.0 * summary.utilisation));
    add(
        "still waiting at the end",
        format!("{} (the longest for {:.1} time units)", summary.waiting_at_end, summary.longest_open_wait),
    );
    add("violations", summary.violations.to_string());
    lines
}

/// A mean and the half width of its 95% confidence interval.
pub(crate) fn with_ci(mean: f64, ci95: Option<f64>) -> String {
    match ci95 {
        Some(ci95) => format!("{mean:.3} ± {ci95:.3}"),
        None => format!("{mean:.3}"),
    }
}

//! Results as a table: a row for each simulation.

use std::collections::BTreeMap;

use driftlock_sim::config::Plan;
use driftlock_sim::summary::Summary;
use driftlock_table::{Column, Table, Value};
use serde_json::{Map, Value as Json};

use super::columns::{in_every_table, in_this_table};
use super::identity::{VERSION, run_id};
use crate::failure::Failure;

/// Parts of a row that were found under a name.
type Cells = Vec<(String, Value)>;

/// One row for each simulation, with what tells it from others, its parameters and its results; nested names are joined
/// with dots.
pub(crate) fn to_table(runs: &[(&Plan, &Summary)]) -> Result<Table, Failure> {
    let mut columns = in_every_table();
    let mut positions: BTreeMap<String, usize> =
        columns.iter().enumerate().map(|(position, column)| (column.name.clone(), position)).collect();
    let rows: Vec<Cells> = (0..).zip(runs).map(|(number, run)| row(number, run)).collect::<Result<_, _>>()?;
    for (name, value) in rows.iter().flatten() {
        // What is null and in no list may be of any kind, and where the column is missing it is null as well.
        if let (Some(kind), false) = (value.kind(), positions.contains_key(name)) {
            positions.insert(name.clone(), columns.len());
            columns.push(in_this_table(name, kind));
        }
    }
    let mut table = Table::new(columns).with_note("driftlock.version", VERSION);
    for row in rows {
        let cells = in_order(row, &positions, table.columns());
        table.push(cells)?;
    }
    Ok(table)
}

/// The cells of a row, each in its column.
fn in_order(row: Cells, positions: &BTreeMap<String, usize>, columns: &[Column]) -> Vec<Value> {
    let mut cells = vec![Value::Missing; columns.len()];
    for (name, value) in row {
        if let Some(&position) = positions.get(&name) {
            cells[position] = value;
        }
    }
    cells
}

fn row(number: u64, (plan, summary): &(&Plan, &Summary)) -> Result<Cells, Failure> {
    let mut cells = vec![
        ("run".to_owned(), Value::Integer(number)),
        ("run_id".to_owned(), Value::Text(run_id(plan)?)),
        ("version".to_owned(), Value::Text(VERSION.into())),
    ];
    flatten("", Json::Object(plan.parameters()), &mut cells);
    flatten("", Json::Object(results(summary)), &mut cells);
    Ok(cells)
}

/// The results, without what is a parameter. The entries that were asked for are one; those that were counted go by
/// another name.
fn results(summary: &Summary) -> Map<String, Json> {
    let Ok(Json::Object(mut results)) = serde_json::to_value(summary) else { return Map::new() };
    results.remove("seed");
    let entries = results.remove("entries").unwrap_or_default();
    results.insert("counted_entries".into(), entries);
    results
}

fn flatten(prefix: &str, value: Json, cells: &mut Cells) {
    let cell = match value {
        Json::Object(fields) => {
            for (name, value) in fields {
                let name = if prefix.is_empty() { name } else { format!("{prefix}.{name}") };
                flatten(&name, value, cells);
            }
            return;
        }
        list @ Json::Array(_) => Value::Text(list.to_string()),
        Json::String(text) => Value::Text(text),
        Json::Bool(flag) => Value::Flag(flag),
        Json::Null => Value::Missing,
        // Whether it is a count or a measurement is a matter of its type in the program, and not of its value.
        Json::Number(number) => match number.as_u64() {
            Some(count) => Value::Integer(count),
            None => Value::Real(number.as_f64().unwrap_or(f64::NAN)),
        },
    };
    cells.push((prefix.to_owned(), cell));
}

#[cfg(test)]
mod tests {
    use driftlock_sim::config::Config;
    use driftlock_sim::sweep::run_all;
    use driftlock_table::Kind;

    use super::*;

    /// Runs that differ in as much as runs can, and small ones.
    const DIFFERENT: [&str; 12] = [
        "",
        "delay = \"exponential:1\"\ncs_time = \"uniform:0.5..1.5\"\nmobility = 0.1\nlink_failure = \"returned\"",
        "algorithm = \"hok\"\nk = 5\nunits = \"1..3\"\npriorities = \"0,50\"\ndeadlines = \"exponential:50\"",
        "algorithm = \"hok\"\nunits = 2\npriorities = 4\ndeadlines = 10\ntopology = \"ring\"\nload_of = { 3 = 0.5 }",
        "algorithm = \"hok\"\ndelay = 0.5\ncs_time = 2.5\npriority_of = { 0 = 5, 1 = \"1..3\" }",
        "algorithm = \"klme\"\nneighbourhoods = 2\nchurn = \"heavy\"\nabsence = \"exponential:1\"\ncontention = 50",
        "algorithm = \"klme\"\nneighbourhoods = 4\nspeed = 1.5\nareas = \"discs:60\"\nnodes = 40",
        "algorithm = \"rl\"\nk = 1\nas_published = true\nreplications = 2\ncheck = true",
        "load = 0.05\n[field]",
        "load = 0.05\nreplications = 2\n[field]\nmovement = { model = \"grid\", columns = 6 }\nradio = \"nfk\"\n\
         [field.faults]\npauses = { per-minute = 4.0, lasts = [1.0, 10.0] }",
        "algorithm = \"klme-ft\"\nload = 0.05\n[field]\nmovement = { model = \"grid\", spacing = 50.0 }\n\
         [[field.fault]]\nat = 5.0\nkind = \"pause\"\nnode = 1\nlasts = 2.0",
        "load = 0.05\n[field.radio]\nloss = 0.01\n[field.radio.propagation]\nmodel = \"log-distance\"\nexponent = 3.0\n\
         reference-loss-db = 40.0\ntx-power-dbm = 15.0\nnoise-dbm = -95.0\nsense-dbm = -85.0\ncapture-db = 10.0\n\
         bandwidth-hz = 2e6",
    ];

    fn plan(text: &str) -> Plan {
        let usual = Config { warmup: 0, entries: 10, replications: 1, ..Config::default() };
        let mut keys = toml::Table::try_from(usual).expect("as a file has it");
        keys.extend(toml::from_str::<toml::Table>(text).expect("TOML"));
        let config: Config = keys.try_into().expect("a configuration");
        config.plan().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    fn tables() -> Vec<Table> {
        let plans = DIFFERENT.map(plan);
        let summaries = run_all(&plans, 1, &|_| ());
        plans.iter().zip(&summaries).map(|run| to_table(&[run]).expect("a table")).collect()
    }

    fn cell<'a>(table: &'a Table, name: &str) -> &'a Value {
        let position = table.columns().iter().position(|column| column.name == name);
        position.map_or(&Value::Missing, |position| &table.rows()[0][position])
    }

    #[test]
    fn a_column_is_of_one_kind_and_unit_in_all_tables() {
        let mut seen: BTreeMap<String, Column> = BTreeMap::new();
        for column in tables().iter().flat_map(Table::columns) {
            let known = seen.entry(column.name.clone()).or_insert_with(|| column.clone());
            assert_eq!(known, column);
        }
        let no_unit = |column: &&Column| column.kind == Kind::Real && column.unit.is_none();
        assert_eq!(seen.values().find(no_unit), None, "what is measured is measured in something");
    }

    #[test]
    fn all_tables_begin_with_the_same_columns_and_only_names_that_depend_on_the_run_follow() {
        let families = ["load_of.", "priority_of.", "messages_by_kind.", "units_in_use.", "wait_by_", "field."];
        for table in tables() {
            let (same, own) = table.columns().split_at(in_every_table().len());
            assert_eq!(same, in_every_table());
            for Column { name, .. } in own {
                assert!(families.iter().any(|family| name.starts_with(family)), "{name} belongs into every table");
            }
        }
    }

    #[test]
    fn every_column_of_every_table_is_documented() {
        let documented = include_str!("../../../../docs/results.md");
        for Column { name, .. } in in_every_table() {
            let family = name.split('.').next().unwrap_or_default();
            let said = [name.as_str(), family].iter().any(|name| documented.contains(&format!("`{name}`")));
            assert!(said, "{name} is not in docs/results.md");
        }
        for name in ["field.fault", "field.tracks", "field.faults"] {
            assert!(documented.contains(&format!("`{name}`")), "{name} is not in docs/results.md");
        }
    }

    #[test]
    fn what_was_not_in_force_is_null_and_what_was_is_not() {
        let tables = tables();
        let [krl, failing, hok, ..] = &tables[..] else { panic!("some") };
        let [klme, walking, field] = [5, 6, 8].map(|at| &tables[at]);
        for (table, name, is_null) in [
            (krl, "churn", true),
            (krl, "link_failure", true),
            (krl, "topology", false),
            (failing, "link_failure", false),
            (hok, "link_info", true),
            (klme, "connectivity", true),
            (klme, "wait_inside.mean", false),
            (klme, "speed", true),
            (walking, "churn", true),
            (walking, "areas", false),
            (field, "connectivity", true),
            (field, "mobility", true),
            (field, "delay", true),
            (field, "field.movement.model", false),
            (field, "field.layers.link.hello-ms", false),
            (field, "field.layers.session.retry", true),
            (krl, "field.fault", true),
            (field, "radio.joules", false),
        ] {
            assert_eq!(*cell(table, name) == Value::Missing, is_null, "{name}: {:?}", cell(table, name));
        }
    }

    #[test]
    fn lists_are_json_and_durations_and_choices_are_texts() {
        let tables = tables();
        let text = |at: usize, name: &str| match cell(&tables[at], name) {
            Value::Text(text) => text.clone(),
            other => panic!("{name} is {other:?}"),
        };
        assert_eq!((text(0, "delay"), text(1, "delay")), ("1".into(), "exponential:1".into()));
        assert_eq!((text(0, "units"), text(2, "units")), ("1".into(), "1..3".into()));
        assert_eq!((text(3, "deadlines"), text(4, "priority_of.0")), ("10".into(), "5".into()));
        assert_eq!((text(0, "without"), text(8, "field.fault")), ("[]".into(), "[]".into()));
        assert_eq!(text(10, "field.fault"), r#"[{"at":5.0,"kind":"pause","node":1,"lasts":2.0}]"#);
        assert_eq!(text(9, "field.faults.pauses.lasts"), "[1.0,10.0]");
    }

    #[test]
    fn rows_that_are_put_together_are_told_apart_by_their_ids() {
        let ids = |tables: &[Table]| -> Vec<String> {
            tables.iter().map(|table| format!("{:?}", cell(table, "run_id"))).collect()
        };
        let (first, again) = (ids(&tables()), ids(&tables()));
        assert_eq!(first, again, "the same configurations and seeds");
        let distinct: std::collections::BTreeSet<_> = first.iter().collect();
        assert_eq!(distinct.len(), DIFFERENT.len());
    }
}

//! What the columns of result tables hold, and in which units. It follows from their names alone, so that tables of
//! runs that were configured differently fit together.

use driftlock_protocol::{ALGORITHMS, Algorithm};
use driftlock_table::{Column, Kind};

/// A time unit of the papers; on a field it is a second.
const TIME: &str = "time unit";
const PER_TIME: &str = "1/time unit";
/// Of shares, ratios and indices.
const ONE: &str = "1";
const ENTRIES: &str = "entries";
const NODES: &str = "nodes";
const MESSAGES: &str = "messages/entry";
const SECONDS: &str = "s";
const METRES: &str = "m";

/// A name, what is under it, and in which unit; names, rules, switches and numbers that only tell one from another have
/// none.
type Known = (&'static str, Kind, Option<&'static str>);

/// Which run it is, and of which driftlock.
const IDENTITY: [Known; 3] =
    [("run", Kind::Integer, None), ("run_id", Kind::Text, None), ("version", Kind::Text, None)];

/// The parameters that every run has, be it as null. Durations and choices of numbers are texts, whatever they say.
const PARAMETERS: [Known; 32] = [
    ("algorithm", Kind::Text, None),
    ("nodes", Kind::Integer, Some(NODES)),
    ("k", Kind::Integer, Some("units")),
    ("load", Kind::Real, Some(PER_TIME)),
    ("contention", Kind::Real, Some("%")),
    ("load_of_all", Kind::Real, Some(PER_TIME)),
    ("topology", Kind::Text, None),
    ("connectivity", Kind::Real, Some(ONE)),
    ("mobility", Kind::Real, Some(PER_TIME)),
    ("restarts", Kind::Real, Some(PER_TIME)),
    ("neighbourhoods", Kind::Integer, Some("neighbourhoods")),
    ("churn", Kind::Text, Some(PER_TIME)),
    ("absence", Kind::Text, Some(TIME)),
    ("speed", Kind::Real, Some("m/time unit")),
    ("areas", Kind::Text, Some(METRES)),
    ("spacing", Kind::Real, Some(METRES)),
    ("margin", Kind::Real, Some(METRES)),
    ("cs_time", Kind::Text, Some(TIME)),
    ("units", Kind::Text, Some("units")),
    ("priorities", Kind::Text, None),
    ("deadlines", Kind::Text, Some(TIME)),
    ("delay", Kind::Text, Some(TIME)),
    ("link_failure", Kind::Text, None),
    ("link_info", Kind::Text, None),
    ("without", Kind::Text, None),
    ("as_published", Kind::Flag, None),
    ("warmup", Kind::Integer, Some(ENTRIES)),
    ("warmup_time", Kind::Real, Some(TIME)),
    ("entries", Kind::Integer, Some(ENTRIES)),
    ("replications", Kind::Integer, Some("replications")),
    ("seed", Kind::Integer, None),
    ("check", Kind::Flag, None),
];

/// What is told of waiting times, be it of all of them or of those of a class.
const OF_WAITS: [Known; 8] = [
    ("mean", Kind::Real, Some(TIME)),
    ("ci95", Kind::Real, Some(TIME)),
    ("p50", Kind::Real, Some(TIME)),
    ("p90", Kind::Real, Some(TIME)),
    ("p95", Kind::Real, Some(TIME)),
    ("p99", Kind::Real, Some(TIME)),
    ("max", Kind::Real, Some(TIME)),
    ("zero_share", Kind::Real, Some(ONE)),
];

/// The other results that every run has, be it as null.
const RESULTS: [Known; 59] = [
    ("deadline_miss_ratio", Kind::Real, Some(ONE)),
    ("deadline_miss_ratio_ci95", Kind::Real, Some(ONE)),
    ("priority_inversions", Kind::Real, Some(ONE)),
    ("priority_inversions_ci95", Kind::Real, Some(ONE)),
    ("throughput.mean", Kind::Real, Some("entries/time unit")),
    ("throughput.ci95", Kind::Real, Some("entries/time unit")),
    ("messages_per_entry", Kind::Real, Some(MESSAGES)),
    ("messages_per_entry_ci95", Kind::Real, Some(MESSAGES)),
    ("transmissions_per_entry", Kind::Real, Some("transmissions/entry")),
    ("transmissions_per_entry_ci95", Kind::Real, Some("transmissions/entry")),
    ("hops", Kind::Real, Some(MESSAGES)),
    ("synchronisation_delay.mean", Kind::Real, Some(TIME)),
    ("synchronisation_delay.ci95", Kind::Real, Some(TIME)),
    ("synchronisation_delay.p50", Kind::Real, Some(TIME)),
    ("synchronisation_delay.p95", Kind::Real, Some(TIME)),
    ("synchronisation_delay.max", Kind::Real, Some(TIME)),
    ("synchronisation_delay.above_2t", Kind::Real, Some(ONE)),
    ("synchronisation_delay.above_2t_ci95", Kind::Real, Some(ONE)),
    ("jain", Kind::Real, Some(ONE)),
    ("idle_token_share", Kind::Real, Some(ONE)),
    ("utilisation", Kind::Real, Some(ONE)),
    ("concurrency.mean", Kind::Real, Some(NODES)),
    ("concurrency.ci95", Kind::Real, Some(NODES)),
    ("crossings.departures", Kind::Real, Some("departures/entry")),
    ("crossings.left_waiting", Kind::Real, Some("departures/entry")),
    ("crossings.handovers", Kind::Real, Some("departures/entry")),
    ("crossings.interruption.mean", Kind::Real, Some(TIME)),
    ("crossings.interruption.ci95", Kind::Real, Some(TIME)),
    ("crossings.wait_per_request.mean", Kind::Real, Some(TIME)),
    ("crossings.wait_per_request.ci95", Kind::Real, Some(TIME)),
    ("lives.restarts", Kind::Integer, Some("restarts")),
    ("lives.outlived", Kind::Integer, Some("applications")),
    ("lives.resumed", Kind::Integer, Some("applications")),
    ("radio.transmissions", Kind::Real, Some("frames/entry")),
    ("radio.acknowledgements", Kind::Real, Some("frames/entry")),
    ("radio.receptions", Kind::Real, Some("frames/entry")),
    ("radio.bytes", Kind::Real, Some("bytes/entry")),
    ("radio.airtime", Kind::Real, Some("s/entry")),
    ("radio.joules", Kind::Real, Some("J/entry")),
    ("radio.sending", Kind::Real, Some("radios")),
    ("links.degree.mean", Kind::Real, Some(NODES)),
    ("links.degree.ci95", Kind::Real, Some(NODES)),
    ("links.formed.mean", Kind::Real, Some("links/time unit")),
    ("links.formed.ci95", Kind::Real, Some("links/time unit")),
    ("links.broken.mean", Kind::Real, Some("links/time unit")),
    ("links.broken.ci95", Kind::Real, Some("links/time unit")),
    ("graph.connected.mean", Kind::Real, Some(ONE)),
    ("graph.connected.ci95", Kind::Real, Some(ONE)),
    ("graph.largest_component.mean", Kind::Real, Some(ONE)),
    ("graph.largest_component.ci95", Kind::Real, Some(ONE)),
    ("graph.degree.mean", Kind::Real, Some(NODES)),
    ("graph.degree.ci95", Kind::Real, Some(NODES)),
    ("span", Kind::Real, Some(TIME)),
    ("waiting_at_end", Kind::Integer, Some(NODES)),
    ("longest_open_wait", Kind::Real, Some(TIME)),
    ("overdue_at_end", Kind::Integer, Some(NODES)),
    ("events", Kind::Integer, Some("events")),
    ("violations", Kind::Integer, Some("replications")),
    ("violation_details", Kind::Text, None),
];

/// The settings of a field whose names do not end with their unit.
const OF_FIELDS: [(&[&str], &str); 9] = [
    (&["width", "height", "radius", "distance", "spacing", "margin", "size"], METRES),
    (&["speed", "speed_min", "speed_max", "speed_deviation"], "m/s"),
    (&["direction_deviation"], "rad"),
    (&["alpha", "exponent", "sense", "interference", "loss", "duplicated", "memory-lost"], ONE),
    (&["pause", "step", "lasts", "begins-at", "heals-at", "retry", "retry-max", "give-up", "forget"], SECONDS),
    (&["active-route-timeout", "hello-interval", "node-traversal-time", "queue-timeout", "jitter"], SECONDS),
    (&["sweep-interval", "my-route-timeout", "net-traversal-time", "path-discovery-time"], SECONDS),
    (&["blacklist-timeout", "delete-period", "next-hop-wait"], SECONDS),
    (&["per-minute"], "1/min"),
];

/// The units that the names of settings end with, or have before `-min` and `-max`.
const SUFFIXES: [(&str, &str); 10] = [
    ("-ms", "ms"),
    ("-us", "us"),
    ("-m", METRES),
    ("-bps", "bit/s"),
    ("-hz", "Hz"),
    ("-db", "dB"),
    ("-dbm", "dBm"),
    ("-w", "W"),
    ("-bytes", "bytes"),
    ("-per-second", "1/s"),
];

/// The columns that every table begins with, whatever was simulated.
pub(super) fn in_every_table() -> Vec<Column> {
    let waits = |of: &'static str| OF_WAITS.map(|(name, kind, unit)| column(&format!("{of}.{name}"), kind, unit));
    let known = |all: &[Known]| all.iter().map(|(name, kind, unit)| column(name, *kind, *unit)).collect::<Vec<_>>();
    let mut columns = [known(&IDENTITY), known(&PARAMETERS)].concat();
    columns.push(column("counted_entries", Kind::Integer, Some(ENTRIES)));
    columns.extend(["wait", "wait_inside"].into_iter().flat_map(waits));
    columns.extend(known(&RESULTS));
    columns
}

/// A column that only some runs have: their algorithm, their number of units, or what they name decides it.
pub(super) fn in_this_table(name: &str, kind: Kind) -> Column {
    column(name, kind, unit(name))
}

fn column(name: &str, kind: Kind, unit: Option<&'static str>) -> Column {
    Column { unit, ..Column::new(name, kind) }
}

fn unit(name: &str) -> Option<&'static str> {
    let (family, rest) = name.split_once('.')?;
    let last = rest.rsplit('.').next()?;
    match family {
        "load_of" => Some(PER_TIME),
        "messages_by_kind" => Some(MESSAGES),
        "units_in_use" => Some(ONE),
        "wait_by_priority" | "wait_by_units" if last == "entries" => Some(ENTRIES),
        "wait_by_priority" | "wait_by_units" => OF_WAITS.iter().find(|(known, ..)| *known == last)?.2,
        "constants" => unit_of_constant(last),
        "field" => unit_of_setting(last),
        _ => None,
    }
}

/// Of a constant of some algorithm: those that are times are shown so.
fn unit_of_constant(name: &str) -> Option<&'static str> {
    let mut constants = ALGORITHMS.iter().flat_map(Algorithm::constants);
    constants.any(|(known, usual, _)| known == name && usual.ends_with(" s")).then_some(TIME)
}

fn unit_of_setting(name: &str) -> Option<&'static str> {
    let named = OF_FIELDS.iter().find(|(names, _)| names.contains(&name)).map(|(_, unit)| *unit);
    let stem = name.trim_end_matches("-min").trim_end_matches("-max");
    named.or_else(|| SUFFIXES.iter().find(|(suffix, _)| stem.ends_with(suffix)).map(|(_, unit)| *unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_of_some_runs_has_the_unit_that_its_name_says() {
        for (name, unit) in [
            ("load_of.3", Some("1/time unit")),
            ("wait_by_units.2.p95", Some("time unit")),
            ("wait_by_priority.100.zero_share", Some("1")),
            ("wait_by_priority.100.entries", Some("entries")),
            ("constants.beat", Some("time unit")),
            ("constants.copies", None),
            ("field.area.width", Some("m")),
            ("field.radio.propagation.range-m", Some("m")),
            ("field.layers.link.retransmit-ms-max", Some("ms")),
            ("field.layers.link.hellos-per-second-max", Some("1/s")),
            ("field.layers.link.tries-max", None),
            ("field.movement.model", None),
            ("priority_of.3", None),
        ] {
            assert_eq!(in_this_table(name, Kind::Real).unit, unit, "{name}");
        }
    }
}

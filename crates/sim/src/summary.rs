//! What all replications of a simulation come to.

use driftlock_net::{Span, Time};
use std::collections::BTreeMap;

use driftlock_protocol::ideal::Start;
use serde::Serialize;

use crate::config::Plan;
use crate::demand::{Deadlines, Numbers};
use crate::meter::{Class, Tally};
use crate::run::Replication;
use crate::world::Toll;

mod field;

pub use field::{Connectedness, Links, Radio};

/// A mean over replications and the half width of its 95% confidence interval. Not a number, and null in JSON, if there
/// is nothing to take the mean of.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Estimate {
    /// The mean of the replications' values.
    pub mean: f64,
    /// Student's t; not known from a single replication.
    pub ci95: Option<f64>,
}

impl Estimate {
    /// The estimate from one value per replication.
    pub fn of(values: &[f64]) -> Self {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
        let ci95 = (values.len() > 1).then(|| t_quantile(values.len() - 1) * (squares / (count - 1.0) / count).sqrt());
        Self { mean, ci95 }
    }
}

/// The 97.5% quantile of Student's t distribution with so many degrees of freedom.
fn t_quantile(freedom: usize) -> f64 {
    const TABLE: [f64; 30] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
        2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
    ];
    // Beyond the table, an expansion in 1/freedom that is exact to three digits.
    TABLE.get(freedom - 1).copied().unwrap_or_else(|| 1.960 + 2.37 / freedom as f64)
}

/// Waiting times, from request to entry, in time units.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Wait {
    /// The mean of the replications' means.
    pub mean: f64,
    /// Half width of its 95% confidence interval.
    pub ci95: Option<f64>,
    /// The median over all entries of all replications.
    pub p50: f64,
    /// 90 of 100 waited no longer.
    pub p90: f64,
    /// 95 of 100 waited no longer.
    pub p95: f64,
    /// 99 of 100 waited no longer.
    pub p99: f64,
    /// The longest.
    pub max: f64,
    /// The share of all entries of all replications that did not wait at all.
    pub zero_share: f64,
}

/// The entries of one kind of request.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct WaitOfClass {
    /// How many were counted, in all replications.
    pub entries: u64,
    /// Their waiting times.
    #[serde(flatten)]
    pub wait: Wait,
}

/// The results of a simulation. The field names are the keys of the JSON output, which docs/results.md describes.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Summary {
    /// Entries that were counted, in all replications.
    pub entries: u64,
    /// Waiting times.
    pub wait: Wait,
    /// The part of these that was spent in the neighbourhood of the entry, where there are such.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_inside: Option<Wait>,
    /// Waiting times by priority, if there are several.
    pub wait_by_priority: BTreeMap<u32, WaitOfClass>,
    /// Waiting times by the number of units asked for, if there are several.
    pub wait_by_units: BTreeMap<u32, WaitOfClass>,
    /// The share of the entries that came after their deadlines, if there were any.
    pub deadline_miss_ratio: Option<f64>,
    /// Half width of its 95% confidence interval.
    pub deadline_miss_ratio_ci95: Option<f64>,
    /// The share of the entries that came while a more urgent request waited, if there are several priorities.
    pub priority_inversions: Option<f64>,
    /// Half width of its 95% confidence interval.
    pub priority_inversions_ci95: Option<f64>,
    /// Entries per time unit, of all nodes together.
    pub throughput: Estimate,
    /// Messages per entry; one for each receiver.
    pub messages_per_entry: f64,
    /// Half width of its 95% confidence interval.
    pub messages_per_entry_ci95: Option<f64>,
    /// Uses of the radio per entry; one may reach several receivers.
    pub transmissions_per_entry: f64,
    /// Half width of its 95% confidence interval.
    pub transmissions_per_entry_ci95: Option<f64>,
    /// Messages per entry, by kind.
    pub messages_by_kind: BTreeMap<&'static str, f64>,
    /// Messages that handed a token over, per entry.
    pub hops: f64,
    /// From a release while a node waits to the next entry with the same permit, in time units.
    pub synchronisation_delay: Synchronisation,
    /// Jain's index of the entries of all nodes: 1 when all entered equally often.
    pub jain: f64,
    /// The share of all token time in which a token rested while a node waited.
    pub idle_token_share: f64,
    /// The share of all token time in which it was in use.
    pub utilisation: f64,
    /// The share of the time in which exactly so many units were in use.
    pub units_in_use: BTreeMap<u32, f64>,
    /// Nodes in the CS at once, on average over time.
    pub concurrency: Estimate,
    /// What coming and going did, where nodes do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub crossings: Option<Crossings>,
    /// What was done to the lives of nodes, if any were to be killed, from the start of the replications on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lives: Option<Lives>,
    /// What the radios did, on a field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub radio: Option<Radio>,
    /// Which links there were, on a field, for an algorithm that stands on links.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub links: Option<Links>,
    /// Who was in range of whom, on a field whose radios have a range.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub graph: Option<Connectedness>,
    /// How long the replications took, in simulated time units, on average.
    pub span: f64,
    /// Nodes that still waited at the end, in all replications. Their waits are in no other figure.
    pub waiting_at_end: u64,
    /// For how long the longest of them had waited, in time units.
    pub longest_open_wait: f64,
    /// Those of them whose deadlines had passed.
    pub overdue_at_end: u64,
    /// Events that the worlds processed.
    pub events: u64,
    /// From which all randomness follows.
    pub seed: u64,
    /// When the movements of a file were over, if that ended a replication before all was counted.
    #[serde(skip)]
    pub over: Option<Time>,
    /// Replications that an oracle ended.
    pub violations: u64,
    /// What it said of each.
    pub violation_details: Vec<Violated>,
}

/// How long permits take from one user to the next, in time units.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Synchronisation {
    /// The mean of the replications' means.
    pub mean: f64,
    /// Half width of its 95% confidence interval.
    pub ci95: Option<f64>,
    /// The median over all delays of all replications.
    pub p50: f64,
    /// 95 of 100 took no longer.
    pub p95: f64,
    /// The longest.
    pub max: f64,
    /// The share of them that took longer than two messages can, T each, if there is a longest time T that a message
    /// takes.
    pub above_2t: Option<f64>,
    /// Half width of its 95% confidence interval.
    pub above_2t_ci95: Option<f64>,
}

/// What became of those who left neighbourhoods.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Crossings {
    /// How often a node left a neighbourhood, per entry.
    pub departures: f64,
    /// How often it waited there, in vain, per entry.
    pub left_waiting: f64,
    /// How often it was in the CS, so that its units were taken away, per entry.
    pub handovers: f64,
    /// From there to its next entry, in time units.
    pub interruption: Estimate,
    /// What a request waited in all, in time units: before its first entry, and whenever its time in the CS was
    /// interrupted.
    pub wait_per_request: Estimate,
}

/// What was done to the lives of nodes, in all replications.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Lives {
    /// Nodes that were killed and came back.
    pub restarts: u64,
    /// Applications that were inside then, and went on.
    pub outlived: u64,
    /// Those of them that became ones of their node again.
    pub resumed: u64,
}

/// A replication that an oracle ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Violated {
    /// Counted from 0.
    pub replication: u32,
    /// What the oracle said.
    pub what: String,
}

impl Summary {
    /// Sums up the replications of `plan`. One that was ended before anything was counted adds nothing to the means.
    pub fn of(plan: &Plan, replications: &[Replication]) -> Self {
        let counted: Vec<&Replication> =
            replications.iter().filter(|replication| entries_of(replication) > 0).collect();
        let messages = per_entry(&counted, |tally| tally.messages.iter().sum());
        let transmissions = per_entry(&counted, |tally| tally.transmissions);
        let k = f64::from(plan.config.k) * f64::from(plan.config.neighbourhoods);
        let comes_and_goes = plan.algorithm.starts_from() == Start::Members && plan.config.field.is_none();
        let share_of_tokens = |nanos: fn(&Tally) -> u128| {
            mean_of(&counted, |tally| nanos(tally) as f64 / (tally.span.0.max(1) as f64 * k))
        };
        let misses = (plan.config.deadlines != Deadlines::None).then(|| per_entry(&counted, |tally| tally.late));
        let priorities = plan.config.all_priorities();
        let inversions = (!priorities.classes().is_empty()).then(|| per_entry(&counted, |tally| tally.inversions));
        Self {
            entries: counted.iter().map(|replication| entries_of(replication)).sum(),
            wait: Wait::of(&spans(&counted, |tally| &tally.waits)),
            wait_inside: comes_and_goes.then(|| Wait::of(&spans(&counted, |tally| &tally.waits_inside))),
            wait_by_priority: by_class(&counted, &priorities, |class| class.priority),
            wait_by_units: by_class(&counted, &plan.config.units, |class| class.units),
            deadline_miss_ratio: misses.map(|misses| misses.mean),
            deadline_miss_ratio_ci95: misses.and_then(|misses| misses.ci95),
            priority_inversions: inversions.map(|inversions| inversions.mean),
            priority_inversions_ci95: inversions.and_then(|inversions| inversions.ci95),
            throughput: throughput(&counted),
            messages_per_entry: messages.mean,
            messages_per_entry_ci95: messages.ci95,
            transmissions_per_entry: transmissions.mean,
            transmissions_per_entry_ci95: transmissions.ci95,
            messages_by_kind: by_kind(&counted),
            hops: per_entry(&counted, |tally| tally.token_hops).mean,
            synchronisation_delay: Synchronisation::of(&counted, longest_message(plan)),
            jain: mean_of(&counted, |tally| jain(&tally.entries)),
            idle_token_share: share_of_tokens(|tally| tally.idle_nanos),
            utilisation: share_of_tokens(|tally| tally.use_nanos),
            units_in_use: units_in_use(&counted, plan.config.k, plan.config.neighbourhoods),
            concurrency: concurrency(&counted),
            crossings: comes_and_goes.then(|| Crossings::of(&counted)),
            lives: (plan.config.restarts > 0.0).then(|| Lives::of(replications)),
            radio: Radio::of(&counted),
            links: Links::of(plan.config.nodes, &counted),
            graph: Connectedness::of(&counted),
            span: mean_of(&counted, |tally| tally.span.units()),
            waiting_at_end: replications.iter().map(|replication| replication.waiting_at_end.nodes).sum(),
            longest_open_wait: longest(replications).units(),
            overdue_at_end: replications.iter().map(|replication| replication.waiting_at_end.overdue).sum(),
            events: replications.iter().map(|replication| replication.tally.events).sum(),
            seed: plan.config.seed,
            over: replications.iter().filter_map(|replication| replication.over).max(),
            violations: replications.iter().filter(|replication| replication.violation.is_some()).count() as u64,
            violation_details: details(replications),
        }
    }
}

impl Lives {
    fn of(replications: &[Replication]) -> Self {
        let sum = |of: fn(&Toll) -> u64| replications.iter().map(|replication| of(&replication.toll)).sum();
        Self {
            restarts: sum(|toll| toll.restarts),
            outlived: sum(|toll| toll.outlived),
            resumed: sum(|toll| toll.resumed),
        }
    }
}

impl Wait {
    /// The waits of each replication come to this. Those in which no node waited add nothing.
    fn of(replications: &[&[Span]]) -> Self {
        let mean_wait = |waits: &&[Span]| waits.iter().map(|wait| wait.units()).sum::<f64>() / waits.len() as f64;
        let means: Vec<f64> = replications.iter().filter(|waits| !waits.is_empty()).map(mean_wait).collect();
        let Estimate { mean, ci95 } = Estimate::of(&means);
        let all = Sorted::of(replications);
        Self {
            mean,
            ci95,
            p50: all.percentile(50),
            p90: all.percentile(90),
            p95: all.percentile(95),
            p99: all.percentile(99),
            max: all.percentile(100),
            zero_share: all.share_of_zeros(),
        }
    }
}

/// Spans of all replications, the shortest first.
struct Sorted(Vec<Span>);

impl Sorted {
    fn of(replications: &[&[Span]]) -> Self {
        let mut all = replications.concat();
        all.sort_unstable();
        Self(all)
    }

    /// The smallest value that at least so many per cent do not exceed, in time units.
    fn percentile(&self, percent: usize) -> f64 {
        let rank = (self.0.len() * percent).div_ceil(100).max(1) - 1;
        self.0.get(rank).map_or(f64::NAN, |span| span.units())
    }

    fn share_of_zeros(&self) -> f64 {
        self.0.partition_point(|span| *span == Span::ZERO) as f64 / self.0.len() as f64
    }
}

impl Synchronisation {
    fn of(counted: &[&Replication], longest_message: Option<Span>) -> Self {
        let delays = spans(counted, |tally| &tally.synchronisations);
        let sum_and_count = |tally: &Tally| (sum(&tally.synchronisations), tally.synchronisations.len() as u64);
        let Estimate { mean, ci95 } = mean_span(counted, sum_and_count);
        let above = longest_message.map(|t| share(&delays, |delay| delay > t + t));
        let all = Sorted::of(&delays);
        Self {
            mean,
            ci95,
            p50: all.percentile(50),
            p95: all.percentile(95),
            max: all.percentile(100),
            above_2t: above.map(|above| above.mean),
            above_2t_ci95: above.and_then(|above| above.ci95),
        }
    }
}

/// T of the papers: "the maximum message propagation delay". Exponential delays have none, and radios neither.
fn longest_message(plan: &Plan) -> Option<Span> {
    let decreed = plan.config.field.is_none().then_some(plan.config.delay)?;
    decreed.longest().map(Span::from_units)
}

/// The share of the spans of each replication of which something is so. Those without any add nothing.
fn share(replications: &[&[Span]], is_so: impl Fn(Span) -> bool) -> Estimate {
    let share = |spans: &&[Span]| spans.iter().filter(|span| is_so(**span)).count() as f64 / spans.len() as f64;
    let shares: Vec<f64> = replications.iter().filter(|spans| !spans.is_empty()).map(share).collect();
    Estimate::of(&shares)
}

impl Crossings {
    fn of(counted: &[&Replication]) -> Self {
        Self {
            departures: per_entry(counted, |tally| tally.departures).mean,
            left_waiting: per_entry(counted, |tally| tally.left_waiting).mean,
            handovers: per_entry(counted, |tally| tally.handovers).mean,
            interruption: mean_span(counted, |tally| (tally.interruption, tally.resumptions)),
            wait_per_request: mean_span(counted, |tally| {
                (sum(&tally.waits), tally.waits.len() as u64 - tally.resumptions)
            }),
        }
    }
}

impl WaitOfClass {
    fn of(counted: &[&Replication], belongs: impl Fn(&Class) -> bool) -> Self {
        let own_waits = |replication: &&Replication| -> Vec<Span> {
            let Tally { waits, classes, .. } = &replication.tally;
            waits.iter().zip(classes).filter(|(_, class)| belongs(class)).map(|(wait, _)| *wait).collect()
        };
        let waits: Vec<Vec<Span>> = counted.iter().map(own_waits).collect();
        let entries = waits.iter().map(|waits| waits.len() as u64).sum();
        Self { entries, wait: Wait::of(&waits.iter().map(Vec::as_slice).collect::<Vec<_>>()) }
    }
}

/// For how long was counted, in time units.
fn units_of(tally: &Tally) -> f64 {
    tally.span.max(Span(1)).units()
}

/// Entries over time.
fn throughput(counted: &[&Replication]) -> Estimate {
    let of = |replication: &&Replication| entries_of(replication) as f64 / units_of(&replication.tally);
    Estimate::of(&counted.iter().map(of).collect::<Vec<_>>())
}

fn entries_of(replication: &Replication) -> u64 {
    replication.tally.waits.len() as u64
}

fn mean_of(counted: &[&Replication], value: impl Fn(&Tally) -> f64) -> f64 {
    counted.iter().map(|replication| value(&replication.tally)).sum::<f64>() / counted.len() as f64
}

/// Some count, per entry.
fn per_entry(counted: &[&Replication], count: impl Fn(&Tally) -> u64) -> Estimate {
    let ratio = |replication: &&Replication| count(&replication.tally) as f64 / entries_of(replication) as f64;
    Estimate::of(&counted.iter().map(ratio).collect::<Vec<_>>())
}

fn by_kind(counted: &[&Replication]) -> BTreeMap<&'static str, f64> {
    let kinds = counted.first().map_or(&[][..], |replication| replication.kinds);
    kinds
        .iter()
        .enumerate()
        .map(|(kind, name)| (*name, per_entry(counted, |tally| tally.messages[kind]).mean))
        .collect()
}

fn sum(spans: &[Span]) -> Span {
    spans.iter().copied().sum()
}

/// The mean of spans that were added up and counted.
fn mean_span(counted: &[&Replication], sum: impl Fn(&Tally) -> (Span, u64)) -> Estimate {
    let sums = counted.iter().map(|replication| sum(&replication.tally)).filter(|(_, count)| *count > 0);
    Estimate::of(&sums.map(|(total, count)| total.units() / count as f64).collect::<Vec<_>>())
}

fn spans<'a>(counted: &[&'a Replication], of: fn(&Tally) -> &[Span]) -> Vec<&'a [Span]> {
    counted.iter().map(|replication| of(&replication.tally)).collect()
}

/// Waiting times apart by what was asked for, if there was a choice; also of those that were never served.
fn by_class(counted: &[&Replication], choice: &Numbers, number: fn(&Class) -> u32) -> BTreeMap<u32, WaitOfClass> {
    choice.classes().iter().map(|&of| (of, WaitOfClass::of(counted, |class| number(class) == of))).collect()
}

/// Nodes in the CS at once.
fn concurrency(counted: &[&Replication]) -> Estimate {
    let mean = |tally: &Tally| tally.holder_nanos as f64 / tally.span.0.max(1) as f64;
    Estimate::of(&counted.iter().map(|replication| mean(&replication.tally)).collect::<Vec<_>>())
}

/// The shares of the time by the number of units in use, from none to all, in each neighbourhood.
fn units_in_use(counted: &[&Replication], k: u32, neighbourhoods: u32) -> BTreeMap<u32, f64> {
    let time = |tally: &Tally| tally.span.0.max(1) as f64 * f64::from(neighbourhoods);
    let share = |tally: &Tally, units: u32| tally.in_use[units as usize].0 as f64 / time(tally);
    (0..=k).map(|units| (units, mean_of(counted, |tally| share(tally, units)))).collect()
}

/// Jain's fairness index: (sum x)^2 / (n sum x^2).
fn jain(entries: &[u64]) -> f64 {
    let sum: f64 = entries.iter().map(|&count| count as f64).sum();
    let squares: f64 = entries.iter().map(|&count| count as f64 * count as f64).sum();
    sum * sum / (entries.len() as f64 * squares)
}

fn longest(replications: &[Replication]) -> Span {
    replications.iter().map(|replication| replication.waiting_at_end.longest).max().unwrap_or_default()
}

fn details(replications: &[Replication]) -> Vec<Violated> {
    let violated = |(number, replication): (u32, &Replication)| {
        let what = replication.violation.as_ref()?.to_string();
        Some(Violated { replication: number, what })
    };
    (0..).zip(replications).filter_map(violated).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_confidence_interval_is_students() {
        let estimate = Estimate::of(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        assert!((estimate.mean - 3.0).abs() < 1e-12);
        assert!((estimate.ci95.unwrap() - 2.776 * (2.5f64 / 5.0).sqrt()).abs() < 1e-12);
        assert_eq!(Estimate::of(&[7.0]), Estimate { mean: 7.0, ci95: None });
    }

    #[test]
    fn the_t_quantile_beyond_the_table_is_right_to_three_digits() {
        assert!((t_quantile(31) - 2.040).abs() < 0.005);
        assert!((t_quantile(60) - 2.000).abs() < 0.005);
        assert!((t_quantile(1000) - 1.962).abs() < 0.001);
    }

    #[test]
    fn shares_and_percentiles_are_of_all_spans() {
        let spans: [&[Span]; 3] = [&[Span(1), Span(5), Span(9), Span(9)], &[], &[Span(5), Span(7)]];
        assert!((share(&spans, |span| span > Span(5)).mean - 0.5).abs() < 1e-12, "0.5 and 0.5; nothing adds nothing");
        let sorted = Sorted::of(&spans);
        let nanos = |percent| format!("{:.0}", sorted.percentile(percent) * 1e9);
        assert_eq!([0, 16, 17, 50, 95, 100].map(nanos), ["1", "1", "5", "5", "9", "9"]);
        let waits = Wait::of(&[&[Span::ZERO, Span(5), Span::ZERO], &[Span(7)]]);
        assert!((waits.zero_share - 0.5).abs() < 1e-12, "two of four");
        assert!(Wait::of(&[&[]]).zero_share.is_nan());
        assert!(Sorted::of(&[]).percentile(50).is_nan() && share(&[&[]], |_| true).mean.is_nan());
    }

    #[test]
    fn jains_index_is_one_for_equals_and_one_nth_for_a_monopoly() {
        assert!((jain(&[5, 5, 5, 5]) - 1.0).abs() < 1e-12);
        assert!((jain(&[8, 0, 0, 0]) - 0.25).abs() < 1e-12);
    }
}

//! What Khanna, Singh and Swaroop (2014) say about KLME.

use driftlock_sim::churn::Churn;
use driftlock_sim::config::Config;
use driftlock_sim::random::Duration;
use driftlock_sim::summary::Summary;

use super::{Claim, Condition, Evidence, Judged, Measured, weigh};
use crate::reproduce::named::Number;

/// "Comparable", and "negligible": within a quarter.
const COMPARABLE: f64 = 1.25;
/// "Stabilises": the last fifth more nodes add no more than this.
const STABLE: f64 = 1.05;

const MESSAGES: &str = "messages_per_entry";
const TRANSMISSIONS: &str = "transmissions_per_entry";
const WAIT: &str = "wait.mean";
const WAIT_INSIDE: &str = "wait_inside.mean";
const WAIT_IN_ALL: &str = "crossings.wait_per_request.mean";
const MEDIAN: &str = "wait.p50";
const ABOVE_2T: &str = "synchronisation_delay.above_2t";

const CLAIMS: &[Claim] = &[
    Claim {
        text: "the token holder enters without any message",
        place: "Section 5.1.1",
        number: "messages per CS of a node on its own",
        weigh: |m| weigh(m.numbers(MESSAGES, |c| idle(c) && c.nodes == 1), place, |messages| messages.mean == 0.0),
    },
    Claim {
        text: "the response time under light load is 2T (T the mean delay; read as: within 1%)",
        place: "Section 5.2",
        number: "median waiting time / T",
        weigh: |m| in_delays(m, MEDIAN, |c| idle(c) && c.nodes > 2, |delays| (delays.mean - 2.0).abs() < 0.02),
    },
    Claim {
        text: "the synchronisation delay under heavy load is T or 2T (read as: none is longer)",
        place: "Section 5.3",
        number: "share of the delays that are longer than 2T",
        weigh: |m| weigh(m.numbers(ABOVE_2T, |c| figure_2(c) && at(c, 98.0)), place, |share| share.mean == 0.0),
    },
    Claim {
        text: "messages per CS vary between n/4 and n/2 (if a broadcast counts as a message to each of the others)",
        place: "Section 6, Figure 2",
        number: "messages per CS / n",
        weigh: |m| by_nodes(m, MESSAGES, |share| between(share, 0.25, 0.5)),
    },
    Claim {
        text: "messages per CS vary between n/4 and n/2 (if a broadcast counts as one)",
        place: "Section 6, Figure 2",
        number: "transmissions per CS / n",
        weigh: |m| by_nodes(m, TRANSMISSIONS, |share| between(share, 0.25, 0.5)),
    },
    Claim {
        text: "the fewer resources, the more messages per CS, under medium and heavy load",
        place: "Section 6, Figure 2 (b), (c)",
        number: "messages with k = 2 / with k = 5",
        weigh: |m| of_k(m, MESSAGES, |c| !at(c, 2.0), |ratio| ratio.is_above(1.0)),
    },
    Claim {
        text: "under light load that difference is not significant",
        place: "Section 6, Figure 2 (a)",
        number: "messages with k = 2 / with k = 5",
        weigh: |m| of_k(m, MESSAGES, |c| at(c, 2.0), |ratio| between(ratio, 1.0 / COMPARABLE, COMPARABLE)),
    },
    Claim {
        text: "the fewer resources, the longer the waiting time",
        place: "Section 6, Figure 2",
        number: "waiting time with k = 2 / with k = 5",
        weigh: |m| of_k(m, WAIT, |_| true, |ratio| ratio.is_above(1.0)),
    },
    Claim {
        text: "under heavy load the waiting time grows with n",
        place: "Section 6, Figure 2 (c)",
        number: "waiting time with 20 nodes more / without",
        weigh: |m| of_nodes(m, WAIT, |c| figure_2(c) && at(c, 98.0), |ratio| ratio.is_above(1.0)),
    },
    Claim {
        text: "under medium and light load the waiting time falls with n in certain cases",
        place: "Section 6, Figure 2 (a), (b)",
        number: "waiting time with 20 nodes more / without",
        weigh: |m| of_nodes(m, WAIT, |c| figure_2(c) && !at(c, 98.0), |ratio| ratio.is_below(1.0)),
    },
    Claim {
        text: "churn has a negligible effect on messages per CS",
        place: "Section 6, Figure 3 (a)",
        number: "messages under medium or heavy churn / under light",
        weigh: |m| of_churn(m, MESSAGES, |ratio| between(ratio, 1.0 / COMPARABLE, COMPARABLE)),
    },
    Claim {
        text: "churn has a negligible effect on messages per CS (if those that say who comes and goes are not counted)",
        place: "Section 6, Figure 3 (a)",
        number: "messages under medium or heavy churn / under light",
        weigh: of_churn_but_news,
    },
    Claim {
        text: "the waiting time falls with churn (if only what was waited where one was served counts)",
        place: "Section 6, Figure 3 (b)",
        number: "waiting time under medium or heavy churn / under light",
        weigh: |m| of_churn(m, WAIT_INSIDE, |ratio| ratio.is_below(1.0)),
    },
    Claim {
        text: "the waiting time falls with churn (if all that a request waited counts)",
        place: "Section 6, Figure 3 (b)",
        number: "waiting time under medium or heavy churn / under light",
        weigh: |m| of_churn(m, WAIT_IN_ALL, |ratio| ratio.is_below(1.0)),
    },
    Claim {
        text: "the waiting time stabilises beyond some n (if only what was waited where one was served counts; read as: 100 rather \
               than 80 nodes add at most 5%)",
        place: "Section 6, Figure 3 (b)",
        number: "waiting time with 100 nodes in a neighbourhood / with 80",
        weigh: |m| of_nodes(m, WAIT_INSIDE, |c| figure_3(c) && c.nodes == 400, |ratio| ratio.mean <= STABLE),
    },
    Claim {
        text: "the waiting time stabilises beyond some n (if all that a request waited counts)",
        place: "Section 6, Figure 3 (b)",
        number: "waiting time with 100 nodes in a neighbourhood / with 80",
        weigh: |m| of_nodes(m, WAIT_IN_ALL, |c| figure_3(c) && c.nodes == 400, |ratio| ratio.mean <= STABLE),
    },
];

/// Judges all claims for which something was measured, apart for each way in which messages are delayed: the paper's
/// delays are unpredictable, and only such let a request overtake the token.
pub(crate) fn judge(results: &[&(Config, Summary)]) -> Vec<Judged> {
    let mut delays: Vec<Duration> = Vec::new();
    for (config, _) in results {
        if !delays.contains(&config.delay) {
            delays.push(config.delay);
        }
    }
    let measured = delays.into_iter().map(|delay| {
        let of_delay = results.iter().copied().filter(move |(config, _)| config.delay == delay);
        (Some(Condition { what: "delay", value: delay.to_string() }), Measured::new(of_delay))
    });
    super::judge(CLAIMS, &measured.collect::<Vec<_>>())
}

/// One neighbourhood in which all nodes stay.
fn figure_2(config: &Config) -> bool {
    config.neighbourhoods == 1 && config.churn == Churn::NONE && config.contention.is_some_and(|percent| percent >= 1.0)
}

/// Four of them, and churn.
fn figure_3(config: &Config) -> bool {
    config.neighbourhoods == 4 && config.churn != Churn::NONE
}

/// So rare requests that every one meets an idle token.
fn idle(config: &Config) -> bool {
    config.neighbourhoods == 1 && config.contention.is_some_and(|percent| percent < 1.0)
}

fn at(config: &Config, contention: f64) -> bool {
    config.contention.is_some_and(|percent| (percent - contention).abs() < 1e-9)
}

fn between(number: Number, low: f64, high: f64) -> bool {
    (low..=high).contains(&number.mean)
}

/// A result in multiples of n, in the simulations of Figure 2.
fn by_nodes(measured: &Measured, result: &str, holds: fn(Number) -> bool) -> Vec<Evidence> {
    in_units(measured, result, figure_2, per_neighbourhood, holds)
}

/// A time in multiples of T.
fn in_delays(
    measured: &Measured,
    result: &str,
    choose: fn(&Config) -> bool,
    holds: fn(Number) -> bool,
) -> Vec<Evidence> {
    in_units(measured, result, choose, |config| config.delay.mean(), holds)
}

fn in_units(
    measured: &Measured,
    result: &str,
    choose: fn(&Config) -> bool,
    unit: fn(&Config) -> f64,
    holds: fn(Number) -> bool,
) -> Vec<Evidence> {
    let mut numbers = measured.numbers(result, choose);
    for (config, number) in &mut numbers {
        *number = number.by(unit(config));
    }
    weigh(numbers, place, holds)
}

/// A result with 2 resources by the same with 5, in the simulations of Figure 2.
fn of_k(measured: &Measured, result: &str, choose: fn(&Config) -> bool, holds: fn(Number) -> bool) -> Vec<Evidence> {
    let of_five = |config: &Config| (Config { k: 5, ..config.clone() }, result);
    weigh(measured.ratios(result, |c| figure_2(c) && c.k == 2 && choose(c), of_five), place, holds)
}

/// A result by the same with 20 nodes fewer in each neighbourhood.
fn of_nodes(
    measured: &Measured,
    result: &str,
    choose: fn(&Config) -> bool,
    holds: fn(Number) -> bool,
) -> Vec<Evidence> {
    let fewer = |config: &Config| {
        let nodes = config.nodes.saturating_sub(20 * config.neighbourhoods);
        (Config { nodes, ..config.clone() }, result)
    };
    weigh(measured.ratios(result, choose, fewer), place, holds)
}

/// A result under medium and heavy churn by the same under light churn.
fn of_churn(measured: &Measured, result: &str, holds: fn(Number) -> bool) -> Vec<Evidence> {
    let light = |config: &Config| (Config { churn: Churn::LIGHT, ..config.clone() }, result);
    weigh(measured.ratios(result, |c| figure_3(c) && c.churn != Churn::LIGHT, light), place, holds)
}

/// Messages per entry under medium and heavy churn by the same under light churn, but for those about churn itself.
fn of_churn_but_news(measured: &Measured) -> Vec<Evidence> {
    let mut messages = measured.numbers(MESSAGES, figure_3);
    for kind in ["i_am_here", "i_am_leaving", "leave_ack"] {
        let news = measured.numbers(&format!("messages_by_kind.{kind}"), figure_3);
        for ((_, all), (_, news)) in messages.iter_mut().zip(news) {
            all.mean -= news.mean;
        }
    }
    let ratio = |&(config, number): &(&Config, Number)| {
        let light = Config { churn: Churn::LIGHT, ..config.clone() };
        let (_, divisor) = messages.iter().find(|(config, _)| **config == light)?;
        let value = number.over(*divisor);
        let holds = between(value, 1.0 / COMPARABLE, COMPARABLE);
        (config.churn != Churn::LIGHT).then(|| Evidence { at: place(config), value, holds })
    };
    messages.iter().filter_map(ratio).collect()
}

fn per_neighbourhood(config: &Config) -> f64 {
    f64::from(config.nodes) / f64::from(config.neighbourhoods)
}

fn place(config: &Config) -> String {
    let contention = config.contention.unwrap_or(f64::NAN);
    let churn = if config.churn == Churn::NONE { String::new() } else { format!(", {} churn", config.churn) };
    format!("n = {}, k = {}, {contention}% contention{churn}", per_neighbourhood(config), config.k)
}

//! What Walter, Cao and Mohanty (2001) say about KRL and KRLF.

use driftlock_sim::config::{Config, LinkInfoRule};
use driftlock_sim::summary::Summary;

use super::{Claim, Condition, Evidence, Judged, Measured, weigh};
use crate::reproduce::named::Number;

/// "Comparable", and "not sensitive": within a quarter.
const COMPARABLE: f64 = 1.25;

const WAIT: &str = "wait.mean";
const MESSAGES: &str = "messages_per_entry";
const JAIN: &str = "jain";

const CLAIMS: &[Claim] = &[
    Claim {
        text: "KRLF results in a lower average time per CS entry than KRL",
        place: "Section 6, Figure 6",
        number: "KRLF's time / KRL's",
        weigh: |m| of_forwarding(m, WAIT, |_| true, |ratio| ratio.is_below(1.0)),
    },
    Claim {
        text: "KRLF uses less than half the time per CS entry of KRL when the mean time between requests is 10",
        place: "Section 6, Figures 6 and 8",
        number: "KRLF's time / KRL's",
        weigh: |m| of_forwarding(m, WAIT, at_load_tenth, |ratio| ratio.is_below(0.5)),
    },
    Claim {
        text: "at that load KRLF uses fewer messages per CS entry when nodes are mobile",
        place: "Section 6, Figure 7 (b), (c)",
        number: "KRLF's messages / KRL's",
        weigh: |m| of_forwarding(m, MESSAGES, |c| at_load_tenth(c) && c.mobility > 0.0, |ratio| ratio.is_below(1.0)),
    },
    Claim {
        text: "for loads from 0.1 to 1 KRLF is comparable to KRL in messages per CS entry",
        place: "Section 6, Figure 7",
        number: "KRLF's messages / KRL's",
        weigh: |m| {
            let comparable = |ratio: Number| (1.0 / COMPARABLE..=COMPARABLE).contains(&ratio.mean);
            of_forwarding(m, MESSAGES, |c| c.load >= 0.1, comparable)
        },
    },
    Claim {
        text: "at the lowest load KRLF uses more messages, due to the continuous circulation of tokens",
        place: "Section 6, Figure 7",
        number: "KRLF's messages / KRL's",
        weigh: |m| of_forwarding(m, MESSAGES, |c| c.load <= 0.001, |ratio| ratio.is_above(1.0)),
    },
    Claim {
        text: "KRLF performs better in time per CS entry as mobility increases",
        place: "Section 6, Figure 8",
        number: "time at high mobility / without",
        weigh: |m| of_mobility(m, "krlf", WAIT, |ratio| ratio.is_below(1.0)),
    },
    Claim {
        text: "more messages are sent as mobility increases in KRL",
        place: "Section 6, Figure 9",
        number: "messages at high mobility / without",
        weigh: |m| of_mobility(m, "krl", MESSAGES, |ratio| ratio.is_above(1.0)),
    },
    Claim {
        text: "KRLF is not sensitive to network connectivity at a load of 0.1",
        place: "Section 6, Figure 8",
        number: "longest time / shortest, over 10% to 80%",
        weigh: |m| of_connectivity(m, "krlf"),
    },
    Claim {
        text: "KRLF uses fewer messages per CS entry than KRL at the highest mobility and a load of 0.1",
        place: "Section 6, Figure 9",
        number: "KRLF's messages / KRL's",
        weigh: |m| of_forwarding(m, MESSAGES, |c| at_load_tenth(c) && c.mobility >= 0.02, |ratio| ratio.is_below(1.0)),
    },
    Claim {
        text: "token forwarding allows the tokens to circulate more evenly (read as: Jain's index of entries does not fall)",
        place: "Abstract",
        number: "KRLF's Jain index / KRL's",
        weigh: |m| of_forwarding(m, JAIN, |_| true, |ratio| ratio.mean > 0.995),
    },
];

/// Judges the paper's claims under both `LinkInfo` rules.
pub(crate) fn judge(results: &[&(Config, Summary)]) -> Vec<Judged> {
    let measured = [LinkInfoRule::Repaired, LinkInfoRule::Published].map(|rule| {
        let of_rule = results.iter().copied().filter(|(config, _)| config.link_info == rule);
        (Some(Condition { what: "LinkInfo rule", value: rule.to_string() }), Measured::new(of_rule))
    });
    super::judge(CLAIMS, &measured)
}

/// A result of KRLF by the same result of KRL, at every point of choice.
fn of_forwarding(
    measured: &Measured,
    result: &str,
    choose: fn(&Config) -> bool,
    holds: fn(Number) -> bool,
) -> Vec<Evidence> {
    weigh(measured.ratios_of_algorithms(["krlf", "krl"], result, choose), place, holds)
}

/// A result at high mobility by the same result without, at a load of 0.1 and every connectivity.
fn of_mobility(measured: &Measured, tag: &str, result: &str, holds: fn(Number) -> bool) -> Vec<Evidence> {
    let moving = |config: &Config| config.algorithm == tag && at_load_tenth(config) && config.mobility >= 0.02;
    let still = |config: &Config| (Config { mobility: 0.0, ..config.clone() }, result);
    let connectivity = |config: &Config| format!("{}% connectivity", 100.0 * config.connectivity);
    weigh(measured.ratios(result, moving, still), connectivity, holds)
}

/// The longest of the mean waiting times by the shortest, over all connectivities, at each mobility.
fn of_connectivity(measured: &Measured, tag: &str) -> Vec<Evidence> {
    let waits = measured.numbers(WAIT, |config| config.algorithm == tag && at_load_tenth(config));
    let mut mobilities: Vec<f64> = waits.iter().map(|(config, _)| config.mobility).collect();
    mobilities.sort_by(f64::total_cmp);
    mobilities.dedup();
    let spread = |mobility: f64| {
        let waits =
            || waits.iter().filter(|(config, _)| config.mobility.total_cmp(&mobility).is_eq()).map(|(_, wait)| *wait);
        let longest = waits().max_by(|a, b| a.mean.total_cmp(&b.mean))?;
        let shortest = waits().min_by(|a, b| a.mean.total_cmp(&b.mean))?;
        let value = longest.over(shortest);
        let holds = value.mean <= COMPARABLE;
        (waits().count() > 2).then(|| Evidence { at: format!("mobility {mobility}"), value, holds })
    };
    mobilities.into_iter().filter_map(spread).collect()
}

fn at_load_tenth(config: &Config) -> bool {
    (config.load - 0.1).abs() < 1e-9
}

fn place(config: &Config) -> String {
    format!("load {}, {}% connectivity, mobility {}", config.load, 100.0 * config.connectivity, config.mobility)
}

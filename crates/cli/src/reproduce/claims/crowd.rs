//! What docs/link-layer.md promises of crowds.

use driftlock_field::mobility::Model;
use driftlock_sim::config::Config;
use driftlock_sim::summary::Summary;

use super::{Claim, Evidence, Judged, Measured, weigh};
use crate::reproduce::named::Number;

/// "Stays at its most": within a third of it, which leaves room for chance.
const MOST: f64 = 0.67;
/// How much longer a hundred may wait than ten.
const LONGER: f64 = 5.0;
/// How much of the time the air may be in use when hardly anything is asked for.
const IDLE: f64 = 0.4;
const PLACE: &str = "docs/link-layer.md";

const WAIT: &str = "wait.mean";
const THROUGHPUT: &str = "throughput.mean";
const SENDING: &str = "radio.sending";
const BROKEN: &str = "links.broken.mean";
const DEGREE: &str = "links.degree.mean";

const CLAIMS: &[Claim] = &[
    Claim {
        text: "load makes no more load: when ever more is asked for, what is served stays at its most (read as: within a third)",
        place: PLACE,
        number: "entries at the highest load / at their most",
        weigh: of_load,
    },
    Claim {
        text: "100 nodes wait no longer than 5 times as long as 10 that ask as often, all together",
        place: PLACE,
        number: "mean wait of 100 nodes / of 10",
        weigh: |m| {
            let waits = m.ratios(WAIT, |c| asks_at(c, 0.2) && c.nodes == 100, |c| (among_ten(c), WAIT));
            weigh(waits, place, |ratio| ratio.mean < LONGER)
        },
    },
    Claim {
        text: "when hardly anything is asked for, the air of a cell is in use for less than 40% of the time",
        place: PLACE,
        number: "share of the time",
        weigh: |m| weigh(m.numbers(SENDING, |c| asks_at(c, 0.01) && is_still(c)), place, |share| share.mean < IDLE),
    },
    Claim {
        text: "no link breaks as long as nobody moves and no frame is lost",
        place: PLACE,
        number: "links that break in an hour, by those that there are",
        weigh: |m| breaking(m, |c| is_still(c) && loss(c) == 0.0, |rate| rate.mean == 0.0),
    },
    Claim {
        text: "with a tenth of all frames lost, a link breaks less than once in an hour",
        place: PLACE,
        number: "links that break in an hour, by those that there are",
        weigh: |m| breaking(m, |c| is_still(c) && loss(c) > 0.0, |rate| rate.mean < 1.0),
    },
];

/// Judges what is promised.
pub(crate) fn judge(results: &[&(Config, Summary)]) -> Vec<Judged> {
    super::judge(CLAIMS, &[(None, Measured::new(results.iter().copied()))])
}

/// Entries at the highest load by the most entries at any.
fn of_load(measured: &Measured) -> Vec<Evidence> {
    let served = measured.numbers(THROUGHPUT, |config| config.cs_time.mean() < 1.0);
    let is_same = |a: &Config, b: &Config| (&a.algorithm, a.nodes) == (&b.algorithm, b.nodes);
    let highest = |(config, number): &(&Config, Number)| {
        let others = || served.iter().filter(|(other, _)| is_same(other, config));
        let is_highest = others().all(|(other, _)| other.load_of_all <= config.load_of_all);
        let most = others().map(|(_, number)| *number).max_by(|a, b| a.mean.total_cmp(&b.mean))?;
        let value = number.over(most);
        let at = format!("{}, {} nodes", config.algorithm, config.nodes);
        (is_highest && others().count() > 2).then_some(Evidence { at, value, holds: value.mean > MOST })
    };
    served.iter().filter_map(highest).collect()
}

/// How often a link breaks in an hour.
fn breaking(measured: &Measured, choose: fn(&Config) -> bool, holds: fn(Number) -> bool) -> Vec<Evidence> {
    let broken = measured.numbers(BROKEN, |config| asks_at(config, 0.01) && choose(config));
    let degrees = measured.numbers(DEGREE, |config| asks_at(config, 0.01) && choose(config));
    let rate = |((config, broken), (_, degree)): ((&Config, Number), (&Config, Number))| {
        let value = broken.by(f64::from(config.nodes) * degree.mean / 2.0 / 3_600.0);
        Evidence { at: place(config), value, holds: holds(value) }
    };
    broken.into_iter().zip(degrees).map(rate).collect()
}

/// The same among ten nodes that ask as often, all together.
fn among_ten(config: &Config) -> Config {
    let load = config.load_of_all.map_or(config.load, |all| all / 10.0);
    Config { nodes: 10, load, ..config.clone() }
}

fn asks_at(config: &Config, load_of_all: f64) -> bool {
    config.load_of_all.is_some_and(|load| (load - load_of_all).abs() < 1e-9)
}

fn is_still(config: &Config) -> bool {
    config.field.as_ref().is_some_and(|field| matches!(field.movement, Model::Uniform { .. }))
}

/// The share of the frames that are lost.
fn loss(config: &Config) -> f64 {
    let radio = config.field.as_ref().and_then(|field| field.radio.settings().ok());
    radio.map_or(f64::NAN, |settings| settings.loss)
}

fn place(config: &Config) -> String {
    let moves = if is_still(config) { "standing" } else { "walking" };
    let Config { algorithm, nodes, .. } = config;
    format!("{algorithm}, {nodes} nodes, {moves}, {:.0}% of all frames lost", 100.0 * loss(config))
}

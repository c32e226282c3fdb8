//! What the paper says about KRL and KRLF, judged by what was measured.

use driftlock_sim::config::{Config, LinkInfoRule};
use driftlock_sim::summary::Summary;

/// Whether what the paper says is so. A difference counts if it is larger than chance explains (95% confidence).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    /// At every point that was measured.
    Holds,
    /// At none.
    DoesNotHold,
    /// At some.
    Mixed,
}

impl Verdict {
    /// In words.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::DoesNotHold => "does not hold",
            Self::Mixed => "mixed",
        }
    }
}

/// A claim, judged.
pub(crate) struct Judged {
    /// What the paper says.
    pub claim: &'static str,
    /// Where.
    pub place: &'static str,
    /// Under which `LinkInfo` rule it was measured.
    pub rule: LinkInfoRule,
    /// Whether it is so.
    pub verdict: Verdict,
    /// The numbers, in a line.
    pub evidence: String,
    /// The numbers, point by point.
    pub points: Vec<Evidence>,
}

/// The number that speaks for or against a claim at one point.
pub(crate) struct Evidence {
    /// Where in the parameter space.
    pub at: String,
    /// The number, and the half width of its 95% confidence interval.
    pub value: Number,
    /// Whether it speaks for the claim, by more than chance.
    pub holds: bool,
}

/// A number and the half width of its 95% confidence interval.
#[derive(Clone, Copy)]
pub(crate) struct Number {
    pub mean: f64,
    pub ci95: f64,
}

impl Number {
    fn new(mean: f64, ci95: Option<f64>) -> Self {
        Self { mean, ci95: ci95.unwrap_or(0.0) }
    }

    /// This by that; relative errors add up as independent ones do.
    fn over(self, other: Self) -> Self {
        let mean = self.mean / other.mean;
        let (a, b) = (self.ci95 / self.mean, other.ci95 / other.mean);
        Self { mean, ci95: mean * (a * a + b * b).sqrt() }
    }

    fn is_below(self, limit: f64) -> bool {
        self.mean + self.ci95 < limit
    }

    fn is_above(self, limit: f64) -> bool {
        self.mean - self.ci95 > limit
    }
}

/// A claim, and how to judge it.
struct Claim {
    text: &'static str,
    place: &'static str,
    /// What the numbers are.
    number: &'static str,
    weigh: fn(&Measured) -> Vec<Evidence>,
}

/// "Comparable", and "not sensitive": within a quarter.
const COMPARABLE: f64 = 1.25;

const CLAIMS: &[Claim] = &[
    Claim {
        text: "KRLF results in a lower average time per CS entry than KRL",
        place: "Section 6, Figure 6",
        number: "KRLF's time / KRL's",
        weigh: |m| m.ratios(wait, |_| true, |ratio| ratio.is_below(1.0)),
    },
    Claim {
        text: "KRLF uses less than half the time per CS entry of KRL when the mean time between requests is 10",
        place: "Section 6, Figures 6 and 8",
        number: "KRLF's time / KRL's",
        weigh: |m| m.ratios(wait, at_load_tenth, |ratio| ratio.is_below(0.5)),
    },
    Claim {
        text: "at that load KRLF uses fewer messages per CS entry when nodes are mobile",
        place: "Section 6, Figure 7 (b), (c)",
        number: "KRLF's messages / KRL's",
        weigh: |m| m.ratios(messages, |c| at_load_tenth(c) && c.mobility > 0.0, |ratio| ratio.is_below(1.0)),
    },
    Claim {
        text: "for loads from 0.1 to 1 KRLF is comparable to KRL in messages per CS entry",
        place: "Section 6, Figure 7",
        number: "KRLF's messages / KRL's",
        weigh: |m| m.ratios(messages, |c| c.load >= 0.1, |ratio| (1.0 / COMPARABLE..=COMPARABLE).contains(&ratio.mean)),
    },
    Claim {
        text: "at the lowest load KRLF uses more messages, due to the continuous circulation of tokens",
        place: "Section 6, Figure 7",
        number: "KRLF's messages / KRL's",
        weigh: |m| m.ratios(messages, |c| c.load <= 0.001, |ratio| ratio.is_above(1.0)),
    },
    Claim {
        text: "KRLF performs better in time per CS entry as mobility increases",
        place: "Section 6, Figure 8",
        number: "time at high mobility / without",
        weigh: |m| m.effect_of_mobility("krlf", wait, |ratio| ratio.is_below(1.0)),
    },
    Claim {
        text: "more messages are sent as mobility increases in KRL",
        place: "Section 6, Figure 9",
        number: "messages at high mobility / without",
        weigh: |m| m.effect_of_mobility("krl", messages, |ratio| ratio.is_above(1.0)),
    },
    Claim {
        text: "KRLF is not sensitive to network connectivity at a load of 0.1",
        place: "Section 6, Figure 8",
        number: "longest time / shortest, over 10% to 80%",
        weigh: |m| m.effect_of_connectivity("krlf"),
    },
    Claim {
        text: "KRLF uses fewer messages per CS entry than KRL at the highest mobility and a load of 0.1",
        place: "Section 6, Figure 9",
        number: "KRLF's messages / KRL's",
        weigh: |m| m.ratios(messages, |c| at_load_tenth(c) && c.mobility >= 0.02, |ratio| ratio.is_below(1.0)),
    },
    Claim {
        text: "token forwarding allows the tokens to circulate more evenly (read as: Jain's index of entries does not fall)",
        place: "Abstract",
        number: "KRLF's Jain index / KRL's",
        weigh: |m| m.ratios(jain, |_| true, |ratio| ratio.mean > 0.995),
    },
];

fn wait(summary: &Summary) -> Number {
    Number::new(summary.wait.mean, summary.wait.ci95)
}

fn messages(summary: &Summary) -> Number {
    Number::new(summary.messages_per_entry, summary.messages_per_entry_ci95)
}

fn jain(summary: &Summary) -> Number {
    Number::new(summary.jain, None)
}

fn at_load_tenth(config: &Config) -> bool {
    (config.load - 0.1).abs() < 1e-9
}

/// Judges all claims for which something was measured. A single replication says nothing about chance, and is left out.
pub(crate) fn judge(results: &[(Config, Summary)]) -> Vec<Judged> {
    let rules = [LinkInfoRule::Repaired, LinkInfoRule::Published];
    CLAIMS
        .iter()
        .flat_map(|claim| rules.map(|rule| (claim, rule)))
        .filter_map(|(claim, rule)| {
            let of_rule =
                results.iter().filter(|(config, summary)| config.link_info == rule && summary.wait.ci95.is_some());
            let points = (claim.weigh)(&Measured { results: of_rule.collect() });
            (!points.is_empty()).then(|| claim.judged(rule, points))
        })
        .collect()
}

impl Claim {
    fn judged(&self, rule: LinkInfoRule, points: Vec<Evidence>) -> Judged {
        let held = points.iter().filter(|point| point.holds).count();
        let verdict = match held {
            0 => Verdict::DoesNotHold,
            all if all == points.len() => Verdict::Holds,
            _ => Verdict::Mixed,
        };
        let low = points.iter().map(|point| point.value.mean).fold(f64::INFINITY, f64::min);
        let high = points.iter().map(|point| point.value.mean).fold(f64::NEG_INFINITY, f64::max);
        let evidence = format!("at {held} of {} points; {}: {low:.2} to {high:.2}", points.len(), self.number);
        Judged { claim: self.text, place: self.place, rule, verdict, evidence, points }
    }
}

/// The results of one `LinkInfo` rule.
struct Measured<'a> {
    results: Vec<&'a (Config, Summary)>,
}

impl Measured<'_> {
    /// A number of KRLF by the same number of KRL, at every point of choice.
    fn ratios(
        &self,
        number: fn(&Summary) -> Number,
        choose: fn(&Config) -> bool,
        holds: fn(Number) -> bool,
    ) -> Vec<Evidence> {
        let krl = self.results.iter().filter(|(config, _)| config.algorithm == "krl" && choose(config));
        krl.filter_map(|(config, basic)| {
            let forwarding = self.get(&Config { algorithm: "krlf".into(), ..config.clone() })?;
            let value = number(forwarding).over(number(basic));
            Some(Evidence { at: place(config), value, holds: holds(value) })
        })
        .collect()
    }

    /// A number at high mobility by the same number without, at a load of 0.1 and every connectivity.
    fn effect_of_mobility(
        &self,
        tag: &str,
        number: fn(&Summary) -> Number,
        holds: fn(Number) -> bool,
    ) -> Vec<Evidence> {
        let moving = self.at_load_tenth(tag).filter(|(config, _)| config.mobility >= 0.02);
        moving
            .filter_map(|(config, moving)| {
                let still = self.get(&Config { mobility: 0.0, ..config.clone() })?;
                let value = number(moving).over(number(still));
                let at = format!("{}% connectivity", 100.0 * config.connectivity);
                Some(Evidence { at, value, holds: holds(value) })
            })
            .collect()
    }

    /// The longest of the mean waiting times by the shortest, over all connectivities, at each mobility.
    fn effect_of_connectivity(&self, tag: &str) -> Vec<Evidence> {
        let mut mobilities: Vec<f64> = self.at_load_tenth(tag).map(|(config, _)| config.mobility).collect();
        mobilities.sort_by(f64::total_cmp);
        mobilities.dedup();
        let spread = |mobility: f64| {
            let waits = || {
                self.at_load_tenth(tag).filter(|(c, _)| c.mobility.total_cmp(&mobility).is_eq()).map(|(_, s)| wait(s))
            };
            let longest = waits().max_by(|a, b| a.mean.total_cmp(&b.mean))?;
            let shortest = waits().min_by(|a, b| a.mean.total_cmp(&b.mean))?;
            let value = longest.over(shortest);
            let holds = value.mean <= COMPARABLE;
            (waits().count() > 2).then(|| Evidence { at: format!("mobility {mobility}"), value, holds })
        };
        mobilities.into_iter().filter_map(spread).collect()
    }

    fn at_load_tenth(&self, tag: &str) -> impl Iterator<Item = &(Config, Summary)> {
        self.results.iter().copied().filter(move |(config, _)| config.algorithm == tag && at_load_tenth(config))
    }

    fn get(&self, wanted: &Config) -> Option<&Summary> {
        self.results.iter().find(|(config, _)| config == wanted).map(|(_, summary)| summary)
    }
}

fn place(config: &Config) -> String {
    format!("load {}, {}% connectivity, mobility {}", config.load, 100.0 * config.connectivity, config.mobility)
}

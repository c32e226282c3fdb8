//! What papers say, and what we promise ourselves, judged by what was measured.

use driftlock_sim::config::Config;
use driftlock_sim::summary::Summary;

use super::named::{Named, Number};

pub(crate) mod crowd;
pub(crate) mod hok;
pub(crate) mod klme;
pub(crate) mod krl;

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
    /// Under what it was measured, if that makes a difference.
    pub under: Option<Condition>,
    /// Whether it is so.
    pub verdict: Verdict,
    /// The numbers, in a line.
    pub evidence: String,
    /// The numbers, point by point.
    pub points: Vec<Evidence>,
}

/// Something under which all claims of a paper are measured apart.
#[derive(Clone)]
pub(crate) struct Condition {
    /// What differs.
    pub what: &'static str,
    /// What it is here.
    pub value: String,
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

/// A claim, and how to judge it.
struct Claim {
    text: &'static str,
    place: &'static str,
    /// What the numbers are.
    number: &'static str,
    weigh: fn(&Measured) -> Vec<Evidence>,
}

/// Judges the claims for which something was measured, each under all conditions before the next.
fn judge(claims: &[Claim], measured: &[(Option<Condition>, Measured)]) -> Vec<Judged> {
    let pairs = claims.iter().flat_map(|claim| measured.iter().map(move |(under, measured)| (claim, under, measured)));
    pairs
        .filter_map(|(claim, under, measured)| {
            let points = (claim.weigh)(measured);
            (!points.is_empty()).then(|| claim.judged(under.clone(), points))
        })
        .collect()
}

impl Claim {
    fn judged(&self, under: Option<Condition>, points: Vec<Evidence>) -> Judged {
        let held = points.iter().filter(|point| point.holds).count();
        let verdict = match held {
            0 => Verdict::DoesNotHold,
            all if all == points.len() => Verdict::Holds,
            _ => Verdict::Mixed,
        };
        let low = points.iter().map(|point| point.value.mean).fold(f64::INFINITY, f64::min);
        let high = points.iter().map(|point| point.value.mean).fold(f64::NEG_INFINITY, f64::max);
        let evidence = format!("at {held} of {} points; {}: {low:.2} to {high:.2}", points.len(), self.number);
        Judged { claim: self.text, place: self.place, under, verdict, evidence, points }
    }
}

/// What was measured under one condition. Results go by their names in the JSON output, as in experiment files.
struct Measured<'a> {
    results: Vec<(&'a Config, Named)>,
}

impl<'a> Measured<'a> {
    /// What the simulations measured. A single replication says nothing about chance, and is left out.
    fn new(results: impl Iterator<Item = &'a (Config, Summary)>) -> Self {
        let judgeable = results.filter(|(_, summary)| summary.wait.ci95.is_some());
        Self { results: judgeable.map(|(config, summary)| (config, Named::of(summary))).collect() }
    }

    /// A result at every point of choice.
    fn numbers(&self, result: &str, choose: impl Fn(&Config) -> bool) -> Vec<(&'a Config, Number)> {
        let chosen = self.results.iter().filter(|(config, _)| choose(config));
        chosen.filter_map(|(config, named)| Some((*config, named.number(result)?))).collect()
    }

    /// A result at every point of choice by another one. The divisor says where that was measured, which may be the
    /// same point, and what it is called.
    fn ratios<'n>(
        &self,
        result: &str,
        choose: impl Fn(&Config) -> bool,
        divisor: impl Fn(&Config) -> (Config, &'n str),
    ) -> Vec<(&'a Config, Number)> {
        let ratio = |(config, number): (&'a Config, Number)| {
            let (wanted, name) = divisor(config);
            let (_, named) = self.results.iter().find(|(config, _)| **config == wanted)?;
            Some((config, number.over(named.number(name)?)))
        };
        self.numbers(result, choose).into_iter().filter_map(ratio).collect()
    }

    /// A result of the first algorithm by the same result of the second, at every point of choice.
    fn ratios_of_algorithms(
        &self,
        [tag, divisor]: [&str; 2],
        result: &str,
        choose: impl Fn(&Config) -> bool,
    ) -> Vec<(&'a Config, Number)> {
        let other = |config: &Config| (Config { algorithm: divisor.into(), ..config.clone() }, result);
        self.ratios(result, |config| config.algorithm == tag && choose(config), other)
    }
}

/// What numbers say about a claim, and where they were measured.
fn weigh(numbers: Vec<(&Config, Number)>, at: fn(&Config) -> String, holds: fn(Number) -> bool) -> Vec<Evidence> {
    numbers.into_iter().map(|(config, value)| Evidence { at: at(config), value, holds: holds(value) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const WAIT: &str = "wait.mean";

    /// Simulations of two algorithms at rest and in motion, with these mean waits; the median is half of it.
    fn configs() -> Vec<(Config, f64)> {
        let config = |tag: &str, mobility| Config { algorithm: tag.into(), mobility, ..Config::default() };
        vec![(config("krl", 0.0), 8.0), (config("krl", 0.5), 16.0), (config("krlf", 0.0), 2.0)]
    }

    fn measured(configs: &[(Config, f64)]) -> Measured<'_> {
        let results = |wait: f64| format!(r#"{{"wait": {{"mean": {wait}, "ci95": 0.0, "p50": {}}}}}"#, wait / 2.0);
        let results = configs.iter().map(|(config, wait)| (config, Named::from_json(&results(*wait))));
        Measured { results: results.collect() }
    }

    fn means(ratios: &[(&Config, Number)]) -> Vec<f64> {
        ratios.iter().map(|(_, number)| number.mean).collect()
    }

    #[test]
    fn ratios_are_of_algorithms_of_settings_or_of_results() {
        let configs = configs();
        let measured = measured(&configs);
        assert_eq!(means(&measured.ratios_of_algorithms(["krl", "krlf"], WAIT, |_| true)), [4.0]);
        let still = |config: &Config| (Config { mobility: 0.0, ..config.clone() }, WAIT);
        assert_eq!(means(&measured.ratios(WAIT, |config| config.mobility > 0.0, still)), [2.0]);
        let median = |config: &Config| (config.clone(), "wait.p50");
        assert_eq!(means(&measured.ratios(WAIT, |_| true, median)), [2.0, 2.0, 2.0]);
        assert!(measured.ratios("weight.mean", |_| true, median).is_empty());
    }

    /// What two replications of this come to.
    fn simulated(config: Config) -> (Config, Summary) {
        let plan = Config { entries: 500, replications: 2, ..config }.plan().unwrap();
        let summary = driftlock_sim::sweep::run_all(std::slice::from_ref(&plan), 1, &|_| {}).remove(0);
        (plan.config, summary)
    }

    fn verdict_on(claim: &str, judged: &[Judged]) -> Verdict {
        judged.iter().find(|judged| judged.claim.starts_with(claim)).expect("it was measured").verdict
    }

    #[test]
    fn a_bound_is_judged_by_what_exceeds_it_and_not_by_the_mean() {
        let klme = |k| {
            let cs_time = "exponential:0.5".parse().unwrap();
            let delay = "0.01".parse().unwrap();
            simulated(Config {
                algorithm: "klme".into(),
                k,
                contention: Some(98.0),
                cs_time,
                delay,
                ..Config::default()
            })
        };
        let [alone, among_five] = [1, 5].map(klme);
        let mean = among_five.1.synchronisation_delay.mean;
        assert!((0.01..0.02).contains(&mean), "between T and 2T: {mean}");
        let claim = "the synchronisation delay under heavy load is T or 2T";
        assert_eq!(verdict_on(claim, &klme::judge(&[&among_five])), Verdict::DoesNotHold);
        assert_eq!(verdict_on(claim, &klme::judge(&[&alone])), Verdict::Holds, "the only unit goes with the token");
    }

    #[test]
    fn an_order_is_judged_by_who_is_served_against_it_and_not_by_the_mean() {
        let priorities = "0,50,100".parse().unwrap();
        let cs_time = "exponential:20".parse().unwrap();
        let hok = Config { algorithm: "hok-strict".into(), priorities, cs_time, load: 0.02, ..Config::default() };
        let measured = simulated(hok);
        let class = |priority| measured.1.wait_by_priority[&priority].wait.mean;
        assert!(class(100) < class(0), "on average the urgent wait less");
        let claim = "highest priority first serve (read as: nobody enters while";
        assert_eq!(verdict_on(claim, &hok::judge(&[&measured])), Verdict::DoesNotHold);
    }

    fn nowhere(_: &Config) -> String {
        String::new()
    }

    #[test]
    fn a_claim_holds_everywhere_somewhere_or_nowhere() {
        let configs = configs();
        let verdict = |weigh: fn(&Measured) -> Vec<Evidence>| {
            let claim = Claim { text: "", place: "", number: "", weigh };
            judge(&[claim], &[(None, measured(&configs))]).first().map(|judged| judged.verdict)
        };
        assert_eq!(verdict(|m| weigh(m.numbers(WAIT, |_| true), nowhere, |n| n.is_above(1.0))), Some(Verdict::Holds));
        assert_eq!(verdict(|m| weigh(m.numbers(WAIT, |_| true), nowhere, |n| n.is_above(4.0))), Some(Verdict::Mixed));
        assert_eq!(
            verdict(|m| weigh(m.numbers(WAIT, |_| true), nowhere, |n| n.is_below(1.0))),
            Some(Verdict::DoesNotHold)
        );
        assert_eq!(verdict(|m| weigh(m.numbers("weight", |_| true), nowhere, |_| true)), None);
    }
}

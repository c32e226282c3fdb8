//! The papers whose experiments come with driftlock, and what has experiments without a paper.

use std::fmt::Write as _;

use driftlock_sim::config::Config;
use driftlock_sim::summary::Summary;

use super::claims::{self, Judged};
use super::report;

/// What a simulation came to.
type Measurement = (Config, Summary);

/// A paper, or a subject of our own: its experiments, its claims, and what a report says beside them.
pub(crate) struct Paper {
    /// What all of it is asked for by: the tag of its main algorithm, if there is a paper.
    pub tag: &'static str,
    /// What stands above it where there is no paper whose title could.
    pub heading: Option<&'static str>,
    /// What there is of it.
    pub about: &'static str,
    /// What its experiments are asked for by, and their files.
    pub experiments: &'static [(&'static str, &'static str)],
    /// Judges its claims.
    pub judge: fn(&[&Measurement]) -> Vec<Judged>,
    /// What one must know to read the claims; a paragraph of the report.
    pub note: Option<&'static str>,
    /// The numbers behind the claims; a table of the report, empty if none of them was measured.
    pub numbers: Option<fn(&[&Measurement]) -> String>,
}

/// All papers, in the order in which they are listed to people. A name stands for one paper or one experiment.
pub(crate) static PAPERS: &[Paper] = &[
    Paper {
        tag: "krl",
        heading: None,
        about: "all of the paper of Walter, Cao and Mohanty, 2001, and our adaptive variant beside it",
        experiments: &[
            ("fig6", include_str!("../../../../experiments/krl-fig6.toml")),
            ("fig7", include_str!("../../../../experiments/krl-fig7.toml")),
            ("fig8", include_str!("../../../../experiments/krl-fig8.toml")),
            ("fig9", include_str!("../../../../experiments/krl-fig9.toml")),
            ("adaptive-time", include_str!("../../../../experiments/krl-adaptive-time.toml")),
            ("adaptive-messages", include_str!("../../../../experiments/krl-adaptive-messages.toml")),
        ],
        judge: claims::krl::judge,
        note: Some(report::krl::NOTE),
        numbers: Some(report::krl::at_load_tenth),
    },
    Paper {
        tag: "hok",
        heading: None,
        about: "the evaluation that the paper of Jiang, 2003, never had",
        experiments: &[
            ("hok-priority", include_str!("../../../../experiments/hok-priority.toml")),
            ("hok-longest", include_str!("../../../../experiments/hok-longest.toml")),
            ("hok-units", include_str!("../../../../experiments/hok-units.toml")),
            ("hok-deadlines", include_str!("../../../../experiments/hok-deadlines.toml")),
            ("hok-utilisation", include_str!("../../../../experiments/hok-utilisation.toml")),
            ("hok-units-in-use", include_str!("../../../../experiments/hok-units-in-use.toml")),
            ("hok-concurrency", include_str!("../../../../experiments/hok-concurrency.toml")),
            ("hok-fairness", include_str!("../../../../experiments/hok-fairness.toml")),
            ("hok-starvation", include_str!("../../../../experiments/hok-starvation.toml")),
            ("hok-messages", include_str!("../../../../experiments/hok-messages.toml")),
            ("hok-k", include_str!("../../../../experiments/hok-k.toml")),
            ("hok-mobility-time", include_str!("../../../../experiments/hok-mobility-time.toml")),
            ("hok-mobility-messages", include_str!("../../../../experiments/hok-mobility-messages.toml")),
            ("hok-krl-time", include_str!("../../../../experiments/hok-krl-time.toml")),
            ("hok-krl-messages", include_str!("../../../../experiments/hok-krl-messages.toml")),
        ],
        judge: claims::hok::judge,
        note: Some(report::hok::NOTE),
        numbers: None,
    },
    Paper {
        tag: "klme",
        heading: None,
        about: "all of the paper of Khanna, Singh and Swaroop, 2014, and walking across borders beside it",
        experiments: &[
            ("klme-fig2a", include_str!("../../../../experiments/klme-fig2a.toml")),
            ("klme-fig2b", include_str!("../../../../experiments/klme-fig2b.toml")),
            ("klme-fig2c", include_str!("../../../../experiments/klme-fig2c.toml")),
            ("klme-fig3a", include_str!("../../../../experiments/klme-fig3a.toml")),
            ("klme-fig3b", include_str!("../../../../experiments/klme-fig3b.toml")),
            ("klme-idle", include_str!("../../../../experiments/klme-idle.toml")),
            ("klme-speed", include_str!("../../../../experiments/klme-speed.toml")),
        ],
        judge: claims::klme::judge,
        note: Some(report::klme::NOTE),
        numbers: None,
    },
    Paper {
        tag: "crowd",
        heading: Some("Crowds"),
        about: "10 to 200 nodes in one cell or hall: what docs/link-layer.md promises of krl, krlf and hok over radios",
        experiments: &[
            ("crowd-load", include_str!("../../../../experiments/crowd-load.toml")),
            ("crowd-wait", include_str!("../../../../experiments/crowd-wait.toml")),
            ("crowd-idle", include_str!("../../../../experiments/crowd-idle.toml")),
            ("crowd-links", include_str!("../../../../experiments/crowd-links.toml")),
        ],
        judge: claims::crowd::judge,
        note: Some(report::crowd::NOTE),
        numbers: None,
    },
];

impl Paper {
    fn names(&self) -> String {
        let names: Vec<_> = self.experiments.iter().map(|(name, _)| *name).collect();
        names.join(", ")
    }
}

/// The papers and their experiments, for people.
pub(crate) fn overview() -> String {
    let mut text = String::from("What can be reproduced:\n");
    for paper in PAPERS {
        let _ = writeln!(text, "  {:<5} {}\n        or one by one: {}", paper.tag, paper.about, paper.names());
    }
    text.push_str("  and a TOML file like those in experiments/, which docs/results.md describes\n");
    text
}

/// What can be asked for, in a sentence.
pub(crate) fn in_a_sentence() -> String {
    let papers: Vec<_> = PAPERS.iter().map(|paper| format!("{} ({})", paper.tag, paper.names())).collect();
    format!("there are {}, and TOML files", papers.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::experiment::Experiment;

    #[test]
    fn a_name_stands_for_one_paper_or_one_experiment() {
        let names = PAPERS.iter().flat_map(|paper| paper.experiments.iter().map(|(name, _)| *name).chain([paper.tag]));
        let mut names: Vec<_> = names.collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all, "{names:?}");
    }

    #[test]
    fn every_experiment_can_be_run_and_writes_files_of_its_own() {
        let mut files = Vec::new();
        for (name, text) in PAPERS.iter().flat_map(|paper| paper.experiments) {
            let experiment = Experiment::parse(name, text).unwrap();
            assert!(!experiment.runs(name, &toml::Table::new()).unwrap().is_empty());
            assert!(!files.contains(&experiment.name), "{}", experiment.name);
            files.push(experiment.name);
        }
    }
}

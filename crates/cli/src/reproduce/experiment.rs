//! Experiment files: which simulations make up a figure, and how it is drawn.

use std::path::Path;

use driftlock_sim::config::{Config, Plan};
use serde::Deserialize;
use toml::{Table, Value};

use super::named::Named;
use crate::failure::Failure;
use layout::{Along, Layout};

mod layout;
mod plot;

/// One figure, as its file describes it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Experiment {
    /// What its files are called.
    pub name: String,
    /// What stands above the figure.
    pub title: String,
    /// What it shows, in a paragraph.
    pub about: String,
    /// Parameters that all its simulations share, as in a file for `driftlock sim --config`.
    #[serde(default)]
    pub base: Table,
    /// Parameters that vary: every combination of these values is simulated.
    pub vary: Table,
    /// How it is drawn.
    pub figure: Layout,
}

/// A simulation that was run, with the parameters that tell it apart from the others of its experiment.
pub(crate) struct Run {
    pub plan: Plan,
    pub choice: Table,
}

impl Experiment {
    /// Reads an experiment, which is called `name` in messages.
    pub(crate) fn parse(name: &str, text: &str) -> Result<Self, Failure> {
        let experiment: Self = toml::from_str(text).map_err(|error| Failure::toml(name, text, &error))?;
        experiment.check().map_err(|problem| Failure::Other(format!("{name}: {problem}")))?;
        Ok(experiment)
    }

    fn check(&self) -> Result<(), String> {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if self.name.is_empty() || !self.name.chars().all(plain) {
            return Err(format!("the name {:?} must be of letters, digits, - and _: files are called so", self.name));
        }
        self.figure.check(&self.vary)
    }

    /// Whether the figure's results are among those that there are. A number as a key, say a priority, may turn up in a
    /// longer simulation.
    pub(crate) fn check_names(&self, there_are: &Named) -> Result<(), Failure> {
        let is_number = |name: &&str| name.split('.').any(|part| part.parse::<u64>().is_ok());
        self.refuse(self.figure.results().filter(|name| !is_number(name)), there_are)
    }

    /// Whether all results that the figure draws were measured.
    fn check_results(&self, measured: &Named) -> Result<(), Failure> {
        self.refuse(self.figure.results(), measured)
    }

    fn refuse<'a>(&self, mut results: impl Iterator<Item = &'a str>, there_are: &Named) -> Result<(), Failure> {
        let problem = results.find_map(|name| there_are.why_no_number(name)).or_else(|| self.no_keys(there_are));
        problem.map_or(Ok(()), |problem| Err(Failure::Other(format!("{}: {problem}", self.name))))
    }

    /// Why the results by keys cannot be drawn.
    fn no_keys(&self, there_are: &Named) -> Option<String> {
        let Along::Keys(keys) = &self.figure.x else { return None };
        let first = || Some((*there_are.keys_of(&keys.keys_of)?.first()?).to_owned());
        there_are.why_no_keys(&keys.keys_of).or_else(|| there_are.why_no_number(&keys.result(&first()?)))
    }

    /// Every combination of the parameters that vary.
    pub(crate) fn runs(&self, name: &str, overrides: &Table) -> Result<Vec<Run>, Failure> {
        let mut choices = vec![Table::new()];
        for (parameter, values) in &self.vary {
            let values = values.as_array().cloned().unwrap_or_else(|| vec![values.clone()]);
            let with = |choice: &Table, value: &Value| {
                let mut choice = choice.clone();
                choice.insert(parameter.clone(), value.clone());
                choice
            };
            choices = choices.iter().flat_map(|choice| values.iter().map(move |value| with(choice, value))).collect();
        }
        choices.into_iter().map(|choice| self.run(name, choice, overrides)).collect()
    }

    fn run(&self, name: &str, choice: Table, overrides: &Table) -> Result<Run, Failure> {
        let mut parameters = self.base.clone();
        parameters.extend(choice.clone());
        parameters.extend(overrides.clone());
        let mut config: Config = parameters.try_into().map_err(|error| Failure::Other(format!("{name}: {error}")))?;
        // A file of movements is looked for from where the experiment is.
        let tracks = config.field.as_mut().and_then(|field| field.tracks.as_mut());
        if let (Some(tracks), Some(folder)) = (tracks, Path::new(name).parent()) {
            *tracks = folder.join(&*tracks);
        }
        let plan = config.plan().map_err(|error| Failure::Other(format!("{name}: {error}")))?;
        Ok(Run { plan, choice })
    }
}

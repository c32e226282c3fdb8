//! Experiment files: which simulations make up a figure, and how it is drawn.

use driftlock_sim::config::{Config, Plan};
use driftlock_sim::summary::Summary;
use serde::Deserialize;
use toml::{Table, Value};

use super::figure::{Figure, Panel, Point, Series, Style};
use crate::failure::Failure;

/// The experiments that come with driftlock: what they are asked for by, and their files.
pub(crate) const BUILT_IN: &[(&str, &str)] = &[
    ("fig6", include_str!("../../../../experiments/krl-fig6.toml")),
    ("fig7", include_str!("../../../../experiments/krl-fig7.toml")),
    ("fig8", include_str!("../../../../experiments/krl-fig8.toml")),
    ("fig9", include_str!("../../../../experiments/krl-fig9.toml")),
    ("adaptive-time", include_str!("../../../../experiments/krl-adaptive-time.toml")),
    ("adaptive-messages", include_str!("../../../../experiments/krl-adaptive-messages.toml")),
];

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

/// How a figure is drawn.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Layout {
    /// The parameter along the x axis.
    pub x: String,
    /// What the x axis says.
    pub x_label: String,
    /// The result along the y axis: a dotted name of the JSON output.
    pub y: String,
    /// What the y axis says.
    pub y_label: String,
    /// Logarithmic axes.
    #[serde(default)]
    pub x_log: bool,
    #[serde(default)]
    pub y_log: bool,
    /// The parameter that tells panels apart, and what stands above each.
    pub panels: Option<Split>,
    /// The parameter that gives a series its colour, and what the legend calls its values.
    pub colour: Split,
    /// The parameter that gives a series its line and mark.
    pub line: Split,
    /// The parameter that tells figures of the same layout apart: each value gets a file of its own.
    pub files: Option<Split>,
}

/// A parameter, and a name for each of its values, in the order of `vary`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Split {
    /// The parameter.
    pub by: String,
    /// The names.
    pub names: Vec<String>,
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
        let layout = &self.figure;
        let splits = layout.panels.iter().chain([&layout.colour, &layout.line]).chain(&layout.files);
        let named = splits.map(|split| (split.by.as_str(), Some(split.names.len())));
        for (parameter, names) in named.chain([(layout.x.as_str(), None)]) {
            let Some(Value::Array(values)) = self.vary.get(parameter) else {
                return Err(format!("the figure needs [vary] to have a list {parameter:?}"));
            };
            if names.is_some_and(|names| names != values.len()) {
                return Err(format!("the figure must name each of the {} values of {parameter:?}", values.len()));
            }
        }
        Ok(())
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
        let config: Config = parameters.try_into().map_err(|error| Failure::Other(format!("{name}: {error}")))?;
        let plan = config.plan().map_err(|error| Failure::Other(format!("{name}: {error}")))?;
        Ok(Run { plan, choice })
    }

    /// The figures, each with the end of its file name.
    pub(crate) fn figures(&self, runs: &[(&Run, &Summary)]) -> Result<Vec<(String, Figure)>, Failure> {
        let split = self.figure.files.as_ref();
        let values = split.and_then(|split| self.vary.get(&split.by)?.as_array());
        let parts = self.parts(split, runs);
        let figure = |(at, (name, runs)): (usize, (String, Vec<_>))| {
            let value = values.and_then(|values| values.get(at)).map(|value| value.to_string().replace('"', ""));
            let suffix = value.map_or_else(String::new, |value| format!("-{value}"));
            Ok((suffix, self.figure_of(&name, &runs)?))
        };
        parts.into_iter().enumerate().map(figure).collect()
    }

    /// The figure of one of the files, which is told apart from the others by this name.
    fn figure_of(&self, name: &str, runs: &[(&Run, &Summary)]) -> Result<Figure, Failure> {
        let layout = &self.figure;
        let mut panels = Vec::new();
        for (title, runs) in self.parts(layout.panels.as_ref(), runs) {
            panels.push(Panel { title, series: self.series(&runs)? });
        }
        let title = if name.is_empty() { self.title.clone() } else { format!("{} ({name})", self.title) };
        let (x_label, y_label) = (layout.x_label.clone(), layout.y_label.clone());
        Ok(Figure { title, x_label, y_label, x_log: layout.x_log, y_log: layout.y_log, panels })
    }

    /// The runs apart by the values of a parameter, each part with its name.
    fn parts<'a>(
        &self,
        split: Option<&Split>,
        runs: &[(&'a Run, &'a Summary)],
    ) -> Vec<(String, Vec<(&'a Run, &'a Summary)>)> {
        let Some(split) = split else { return vec![(String::new(), runs.to_vec())] };
        let values = self.vary.get(&split.by).and_then(Value::as_array).into_iter().flatten();
        let of =
            |value: &Value| runs.iter().filter(|(run, _)| run.choice.get(&split.by) == Some(value)).copied().collect();
        values.zip(&split.names).map(|(value, name)| (name.clone(), of(value))).collect()
    }

    fn series(&self, runs: &[(&Run, &Summary)]) -> Result<Vec<Series>, Failure> {
        let mut series = Vec::new();
        for (hue, (colour, runs)) in self.parts(Some(&self.figure.colour), runs).into_iter().enumerate() {
            for (mark, (line, runs)) in self.parts(Some(&self.figure.line), &runs).into_iter().enumerate() {
                let points: Result<Vec<_>, _> = runs.iter().map(|(run, summary)| self.point(run, summary)).collect();
                let style = Style { hue, dash: mark % 2 == 1, mark };
                series.push(Series { label: format!("{colour}, {line}"), style, points: points? });
            }
        }
        Ok(series)
    }

    fn point(&self, run: &Run, summary: &Summary) -> Result<Point, Failure> {
        let x =
            run.choice.get(&self.figure.x).and_then(|value| value.as_float().or(value.as_integer().map(|i| i as f64)));
        let results = serde_json::to_value(summary).unwrap_or_default();
        let result =
            |name: &str| results.pointer(&format!("/{}", name.replace('.', "/"))).and_then(serde_json::Value::as_f64);
        let y = &self.figure.y;
        let interval = y.strip_suffix("mean").map_or_else(|| format!("{y}_ci95"), |stem| format!("{stem}ci95"));
        match (x, result(y)) {
            (Some(x), Some(value)) => Ok(Point { x, y: value, ci95: result(&interval).unwrap_or(0.0) }),
            (None, _) => {
                Err(Failure::Other(format!("{}: the values of {:?} are no numbers", self.name, self.figure.x)))
            }
            (_, None) => Err(Failure::Other(format!("{}: there is no result {y:?}", self.name))),
        }
    }
}

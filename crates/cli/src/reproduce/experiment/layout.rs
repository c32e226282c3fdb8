//! How a figure is drawn, as an experiment file says it.

use serde::Deserialize;
use toml::{Table, Value};

use crate::reproduce::figure::Style;

/// How a figure is drawn. What it draws is one of three: the result `y`, the results of a split, or results by their
/// keys.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Layout {
    /// What lies along the x axis.
    pub x: Along,
    /// What the x axis says.
    pub x_label: String,
    /// The result along the y axis: a dotted name of the JSON output.
    pub y: Option<String>,
    /// What the y axis says.
    pub y_label: String,
    /// Logarithmic axes.
    #[serde(default)]
    pub x_log: bool,
    #[serde(default)]
    pub y_log: bool,
    /// What tells panels apart, and what stands above each.
    pub panels: Option<Split>,
    /// What gives a series its colour, and what the legend calls it.
    pub colour: Split,
    /// What gives a series its line and mark. Without it, they go with the colour.
    pub line: Option<Split>,
    /// What tells figures of the same layout apart: each gets a file of its own.
    pub files: Option<Split>,
}

/// What lies along the x axis.
#[derive(Deserialize)]
#[serde(untagged, expecting = "x must be a parameter, or { keys_of = \"a result\", value = \"mean\" }")]
pub(crate) enum Along {
    /// The values of a parameter.
    Parameter(String),
    /// The keys of a result, such as the priorities of `wait_by_priority`.
    Keys(Keys),
}

/// A result that has others by their keys.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Keys {
    /// The result, a dotted name of the JSON output.
    pub keys_of: String,
    /// Which of the results under each key is drawn, if there are several.
    pub value: Option<String>,
}

impl Keys {
    /// The name of the result under a key.
    pub(crate) fn result(&self, key: &str) -> String {
        let value = self.value.as_ref().map_or_else(String::new, |value| format!(".{value}"));
        format!("{}.{key}{value}", self.keys_of)
    }
}

/// What is told apart, and a name for each.
#[derive(Deserialize)]
#[serde(try_from = "SplitFields")]
pub(crate) struct Split {
    pub by: By,
    pub names: Vec<String>,
}

/// What is told apart.
pub(crate) enum By {
    /// The values of a parameter, in the order of `vary`.
    Parameter(String),
    /// Several results of the same simulations.
    Results(Vec<String>),
}

/// A split, as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SplitFields {
    by: Option<String>,
    results: Option<Vec<String>>,
    names: Vec<String>,
}

impl TryFrom<SplitFields> for Split {
    type Error = &'static str;

    fn try_from(fields: SplitFields) -> Result<Self, Self::Error> {
        let by = match (fields.by, fields.results) {
            (Some(parameter), None) => By::Parameter(parameter),
            (None, Some(results)) => By::Results(results),
            _ => {
                return Err(
                    "a split is either by a parameter (by = \"load\") or by results (results = [\"wait.p50\"])",
                );
            }
        };
        Ok(Self { by, names: fields.names })
    }
}

impl Split {
    fn parameter(&self) -> Option<&str> {
        match &self.by {
            By::Parameter(parameter) => Some(parameter),
            By::Results(_) => None,
        }
    }

    fn results(&self) -> Option<&[String]> {
        match &self.by {
            By::Results(results) => Some(results),
            By::Parameter(_) => None,
        }
    }

    /// What is told apart, in the order of the names: a text for file names.
    pub(crate) fn values(&self, vary: &Table) -> Vec<String> {
        match &self.by {
            By::Parameter(parameter) => {
                let values = vary.get(parameter).and_then(Value::as_array).into_iter().flatten();
                values.map(|value| value.to_string().replace('"', "")).collect()
            }
            By::Results(results) => results.clone(),
        }
    }

    fn check(&self, vary: &Table) -> Result<(), String> {
        let (what, count) = match &self.by {
            By::Parameter(parameter) => (format!("values of {parameter:?}"), list(vary, parameter)?.len()),
            By::Results(results) => ("results of a split".to_owned(), results.len()),
        };
        if count != self.names.len() {
            return Err(format!("the figure must name each of the {count} {what}"));
        }
        Ok(())
    }
}

/// The values of a parameter that varies.
fn list<'a>(vary: &'a Table, parameter: &str) -> Result<&'a [Value], String> {
    let values = vary.get(parameter).and_then(Value::as_array);
    values.map(Vec::as_slice).ok_or_else(|| format!("the figure needs [vary] to have a list {parameter:?}"))
}

impl Layout {
    /// Whether a figure of simulations that vary like this can be drawn so; if not, why.
    pub(crate) fn check(&self, vary: &Table) -> Result<(), String> {
        self.check_what_is_drawn()?;
        for split in self.splits() {
            split.check(vary)?;
        }
        if let Along::Parameter(parameter) = &self.x {
            list(vary, parameter)?;
        }
        self.check_all_is_shown(vary)?;
        self.check_styles()
    }

    fn splits(&self) -> impl Iterator<Item = &Split> {
        self.panels.iter().chain([&self.colour]).chain(&self.line).chain(&self.files)
    }

    fn check_what_is_drawn(&self) -> Result<(), String> {
        let of_splits = self.splits().filter(|split| split.results().is_some()).count();
        let of_keys = usize::from(matches!(self.x, Along::Keys(_)));
        match usize::from(self.y.is_some()) + of_splits + of_keys {
            1 => Ok(()),
            0 => Err("the figure has nothing to draw: give y, or a split by results, or x = { keys_of = ... }".into()),
            _ => Err("the figure draws one of these, not several: y, a split by results, x = { keys_of = ... }".into()),
        }
    }

    /// Simulations that differ in what the figure does not show would be one line with several points above each other.
    fn check_all_is_shown(&self, vary: &Table) -> Result<(), String> {
        let shown = |parameter: &str| {
            matches!(&self.x, Along::Parameter(x) if x == parameter)
                || self.splits().any(|split| split.parameter() == Some(parameter))
        };
        let several = |value: &Value| value.as_array().is_some_and(|values| values.len() > 1);
        match vary.iter().find(|(parameter, values)| several(values) && !shown(parameter)) {
            Some((parameter, _)) => Err(format!("{parameter:?} varies, but the figure does not tell its values apart")),
            None => Ok(()),
        }
    }

    fn check_styles(&self) -> Result<(), String> {
        let lines = self.line.as_ref().map_or(0, |line| line.names.len());
        match self.colour.names.len() {
            colours if colours > Style::COLOURS => {
                Err(format!("there are {} colours, and the figure needs {colours}", Style::COLOURS))
            }
            _ if lines > Style::MARKS => Err(format!("there are {} marks, and the figure needs {lines}", Style::MARKS)),
            _ => Ok(()),
        }
    }

    /// The results that are drawn, except those by keys.
    pub(crate) fn results(&self) -> impl Iterator<Item = &str> {
        self.y.iter().chain(self.splits().filter_map(Split::results).flatten()).map(String::as_str)
    }

    /// The names of what is drawn.
    pub(crate) fn drawn(&self) -> Vec<String> {
        let by_keys = match &self.x {
            Along::Keys(keys) => Some(keys.result("*")),
            Along::Parameter(_) => None,
        };
        self.results().map(str::to_owned).chain(by_keys).collect()
    }
}

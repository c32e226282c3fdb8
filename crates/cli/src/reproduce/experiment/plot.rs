//! From what was measured to the figures of an experiment.

use toml::Value;

use super::layout::{Along, By, Keys, Split};
use super::{Experiment, Run};
use crate::failure::Failure;
use crate::reproduce::figure::{Figure, Panel, Point, Series, Style};
use crate::reproduce::named::{Named, Number};

/// A part of what was measured: some of the simulations, and which of their results, if that is told.
#[derive(Clone)]
struct Part<'a> {
    /// What tells it apart from the others.
    name: &'a str,
    runs: Vec<&'a (&'a Run, Named)>,
    result: Option<&'a str>,
}

impl Experiment {
    /// The figures, each with the end of its file name.
    pub(crate) fn figures(&self, runs: &[(&Run, Named)]) -> Result<Vec<(String, Figure)>, Failure> {
        let measured = Named::union(runs.iter().map(|(_, named)| named));
        self.check_results(&measured)?;
        let categories = self.categories(&measured);
        let files = self.figure.files.as_ref();
        let mut ends = files.map_or_else(Vec::new, |split| split.values(&self.vary)).into_iter();
        let whole = Part { name: "", runs: runs.iter().collect(), result: self.figure.y.as_deref() };
        let figure = |part: &Part| {
            let end = ends.next().map_or_else(String::new, |value| format!("-{value}"));
            Ok((end, self.figure_of(part, &categories)?))
        };
        self.parts(files, &whole).iter().map(figure).collect()
    }

    /// The keys along the x axis, unless they are numbers.
    fn categories(&self, measured: &Named) -> Vec<String> {
        let Along::Keys(keys) = &self.figure.x else { return Vec::new() };
        let keys = measured.keys_of(&keys.keys_of).unwrap_or_default();
        let all_numbers = keys.iter().all(|key| key.parse::<f64>().is_ok());
        if all_numbers { Vec::new() } else { keys.into_iter().map(str::to_owned).collect() }
    }

    /// The figure of one of the files.
    fn figure_of(&self, file: &Part, categories: &[String]) -> Result<Figure, Failure> {
        let layout = &self.figure;
        let mut panels = Vec::new();
        for part in self.parts(layout.panels.as_ref(), file) {
            panels.push(Panel { title: part.name.to_owned(), series: self.series(&part, categories)? });
        }
        let (title, part) = (self.title.clone(), file.name.to_owned());
        let (x_label, y_label) = (layout.x_label.clone(), layout.y_label.clone());
        let x_log = layout.x_log && categories.is_empty();
        let (y_log, x_names) = (layout.y_log, categories.to_vec());
        Ok(Figure { title, part, x_label, y_label, x_log, y_log, x_names, panels })
    }

    /// The part apart by a split.
    fn parts<'a>(&'a self, split: Option<&'a Split>, whole: &Part<'a>) -> Vec<Part<'a>> {
        let Some(split) = split else { return vec![Part { name: "", ..whole.clone() }] };
        let names = split.names.iter().map(String::as_str);
        match &split.by {
            By::Parameter(parameter) => {
                let of = |value: &Value| {
                    whole.runs.iter().filter(|(run, _)| run.choice.get(parameter) == Some(value)).copied().collect()
                };
                let values = self.vary.get(parameter).and_then(Value::as_array).into_iter().flatten();
                names.zip(values).map(|(name, value)| Part { name, runs: of(value), ..*whole }).collect()
            }
            By::Results(results) => {
                let part = |(name, result): (&'a str, &'a String)| Part { name, result: Some(result), ..whole.clone() };
                names.zip(results).map(part).collect()
            }
        }
    }

    fn series(&self, panel: &Part, categories: &[String]) -> Result<Vec<Series>, Failure> {
        let mut series = Vec::new();
        for (hue, colour) in self.parts(Some(&self.figure.colour), panel).iter().enumerate() {
            for (nth, part) in self.parts(self.figure.line.as_ref(), colour).iter().enumerate() {
                let (label, style) = match &self.figure.line {
                    Some(_) => (format!("{}, {}", colour.name, part.name), Style::of_line(hue, nth)),
                    None => (colour.name.to_owned(), Style::of_colour(hue)),
                };
                series.push(Series { label, style, points: self.points(part, categories)? });
            }
        }
        Ok(series)
    }

    fn points(&self, part: &Part, categories: &[String]) -> Result<Vec<Point>, Failure> {
        match &self.figure.x {
            Along::Parameter(parameter) => {
                part.runs.iter().map(|(run, named)| self.point(parameter, run, part.number(named))).collect()
            }
            Along::Keys(keys) => Ok(part.runs.iter().flat_map(|(_, named)| by_keys(keys, named, categories)).collect()),
        }
    }

    fn point(&self, parameter: &str, run: &Run, y: Number) -> Result<Point, Failure> {
        let number = |value: &Value| value.as_float().or(value.as_integer().map(|i| i as f64));
        let no_number = || Failure::Other(format!("{}: the values of {parameter:?} are no numbers", self.name));
        let x = run.choice.get(parameter).and_then(number).ok_or_else(no_number)?;
        Ok(Point { x, y: y.mean, ci95: y.ci95 })
    }
}

impl Part<'_> {
    /// The result that is drawn. Not a number, and a gap in the line, if this simulation does not have it.
    fn number(&self, named: &Named) -> Number {
        let number = self.result.and_then(|result| named.number(result));
        number.unwrap_or(Number { mean: f64::NAN, ci95: 0.0 })
    }
}

/// A point for each key, along a scale of numbers or of categories.
fn by_keys(keys: &Keys, named: &Named, categories: &[String]) -> Vec<Point> {
    let place = |key: &str| match categories.iter().position(|category| category == key) {
        Some(place) => Some(place as f64),
        None => key.parse().ok(),
    };
    let point = |key: &str| {
        let y = named.number(&keys.result(key))?;
        Some(Point { x: place(key)?, y: y.mean, ci95: y.ci95 })
    };
    let mut points: Vec<Point> = named.keys_of(&keys.keys_of).into_iter().flatten().filter_map(point).collect();
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = "name = \"mine\"\ntitle = \"Mine\"\nabout = \"\"\n[base]\nnodes = 8\nconnectivity = 0.5\nk = 1\n[vary]\n\
                        algorithm = [\"krl\", \"krlf\"]\nload = [0.1, 0.2]\n[figure]\nx_label = \"\"\ny_label = \"\"\n";

    /// The figures of an experiment with these lines in `[figure]`, if every simulation has these results.
    fn figures(lines: &str, results: &str) -> Result<Vec<(String, Figure)>, Failure> {
        let experiment = Experiment::parse("mine", &format!("{BASE}{lines}"))?;
        let runs = experiment.runs("mine", &toml::Table::new())?;
        let runs: Vec<_> = runs.iter().map(|run| (run, Named::from_json(results))).collect();
        experiment.figures(&runs)
    }

    fn labels(panel: &Panel) -> Vec<&str> {
        panel.series.iter().map(|series| series.label.as_str()).collect()
    }

    fn points(series: &Series) -> Vec<(f64, f64, f64)> {
        series.points.iter().map(|point| (point.x, point.y, point.ci95)).collect()
    }

    const BY_PRIORITY: &str = r#"{"wait": {"mean": 1.5}, "by_priority": {
        "10": {"mean": 2.0, "ci95": 0.2}, "0": {"mean": 9.0, "ci95": 0.5}, "2": {"mean": 5.0, "ci95": null}},
        "in_use": {"0": 0.25, "1": 0.75}, "by_kind": {"token": 3.0, "request": 4.0}}"#;

    #[test]
    fn lines_may_be_results_of_the_same_simulations() {
        let split = r#"{ results = ["by_priority.0.mean", "by_priority.10.mean"], names = ["lowest", "highest"] }"#;
        let colour = r#"colour = { by = "algorithm", names = ["KRL", "KRLF"] }"#;
        let drawn = figures(&format!("x = \"load\"\n{colour}\nline = {split}"), BY_PRIORITY).unwrap();
        let [(end, Figure { panels, .. })] = drawn.as_slice() else { panic!("one figure") };
        assert_eq!(end, "");
        assert_eq!(labels(&panels[0]), ["KRL, lowest", "KRL, highest", "KRLF, lowest", "KRLF, highest"]);
        assert_eq!(points(&panels[0].series[2]), [(0.1, 9.0, 0.5), (0.2, 9.0, 0.5)]);
        assert_eq!(points(&panels[0].series[3]), [(0.1, 2.0, 0.2), (0.2, 2.0, 0.2)]);
    }

    #[test]
    fn panels_and_files_may_be_results_and_a_line_is_not_needed() {
        let split = r#"{ results = ["wait.mean", "by_priority.0.mean"], names = ["all", "lowest"] }"#;
        let colour = r#"colour = { by = "algorithm", names = ["KRL", "KRLF"] }"#;
        let drawn = figures(&format!("x = \"load\"\n{colour}\npanels = {split}"), BY_PRIORITY).unwrap();
        let panels = &drawn[0].1.panels;
        assert_eq!(panels.iter().map(|panel| panel.title.as_str()).collect::<Vec<_>>(), ["all", "lowest"]);
        assert_eq!(labels(&panels[1]), ["KRL", "KRLF"]);
        assert_eq!(panels[1].series[1].style.mark, 1, "colours have marks of their own");
        let drawn = figures(&format!("x = \"load\"\n{colour}\nfiles = {split}"), BY_PRIORITY).unwrap();
        assert_eq!(
            drawn.iter().map(|(end, _)| end.as_str()).collect::<Vec<_>>(),
            ["-wait.mean", "-by_priority.0.mean"]
        );
        assert_eq!(drawn[1].1.whole_title(), "Mine (lowest)");
    }

    const BY_BOTH: &str = "colour = { by = \"algorithm\", names = [\"KRL\", \"KRLF\"] }\n\
                           line = { by = \"load\", names = [\"low\", \"high\"] }\n";

    #[test]
    fn the_keys_of_a_result_lie_along_x_in_the_order_of_numbers() {
        let drawn = figures(&format!("x = {{ keys_of = \"by_priority\", value = \"mean\" }}\n{BY_BOTH}"), BY_PRIORITY);
        let panels = &drawn.unwrap()[0].1.panels;
        assert_eq!(panels[0].series.len(), 4);
        assert_eq!(points(&panels[0].series[0]), [(0.0, 9.0, 0.5), (2.0, 5.0, 0.0), (10.0, 2.0, 0.2)]);
        let drawn = figures(&format!("x = {{ keys_of = \"in_use\" }}\n{BY_BOTH}"), BY_PRIORITY);
        assert_eq!(points(&drawn.unwrap()[0].1.panels[0].series[0]), [(0.0, 0.25, 0.0), (1.0, 0.75, 0.0)]);
    }

    #[test]
    fn keys_that_are_no_numbers_are_names_along_x() {
        let drawn = figures(&format!("x = {{ keys_of = \"by_kind\" }}\n{BY_BOTH}"), BY_PRIORITY).unwrap();
        assert_eq!(drawn[0].1.x_names, ["token", "request"]);
        assert_eq!(points(&drawn[0].1.panels[0].series[0]), [(0.0, 3.0, 0.0), (1.0, 4.0, 0.0)]);
    }

    #[test]
    fn what_can_not_be_drawn_is_refused_in_a_sentence() {
        let colour = r#"colour = { by = "algorithm", names = ["KRL", "KRLF"] }"#;
        let results = r#"line = { results = ["wait.mean"], names = ["all"] }"#;
        for (lines, says) in [
            (format!("x = \"load\"\n{colour}"), "nothing to draw"),
            (format!("x = \"load\"\ny = \"wait.mean\"\n{colour}\n{results}"), "draws one of these, not several"),
            (
                format!("x = {{ keys_of = \"by_kind\" }}\ny = \"wait.mean\"\n{BY_BOTH}"),
                "draws one of these, not several",
            ),
            (format!("x = {{ keys_of = \"wait.mean\" }}\n{BY_BOTH}"), "\"wait.mean\" has no keys"),
            (
                format!("x = {{ keys_of = \"by_kinds\" }}\n{BY_BOTH}"),
                "there is no result \"by_kinds\"; there are wait, by_",
            ),
            (format!("x = {{ keys_of = \"by_priority\" }}\n{BY_BOTH}"), "is no number; it has mean, ci95"),
            (format!("x = {{ keys = \"by_priority\" }}\n{BY_BOTH}"), "x must be a parameter, or { keys_of"),
            (format!("x = \"load\"\ny = \"by_priority.7.mean\"\n{colour}"), "\"by_priority\" has 10, 0, 2"),
            (format!("x = \"load\"\n{colour}\nline = {{ names = [\"all\"] }}"), "either by a parameter"),
            (format!("x = \"load\"\n{colour}\nline = {{ results = [], names = [\"all\"] }}"), "each of the 0 results"),
            (format!("x = {{ keys_of = \"by_kind\" }}\n{colour}"), "\"load\" varies, but the figure does not tell"),
        ] {
            match figures(&lines, BY_PRIORITY) {
                Err(failure) => assert!(failure.to_string().contains(says), "{lines} says {failure}"),
                Ok(_) => panic!("{lines} is drawn"),
            }
        }
    }
}

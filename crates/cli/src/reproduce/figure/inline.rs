//! A figure within a page: each panel apart, so that they fit side by side or below each other, and every point one
//! that the pointer finds. Title and legend are left to the page.

use std::fmt::Write as _;

use super::canvas::{Canvas, units};
use super::legend::{LINE, ROW, draw_swatch, entries};
use super::{Figure, FigureError, Frame, PANEL_WIDTH, PANELS_HEIGHT, PLOT_TOP, Panel, Point, Y_LABEL_WIDTH, drawing};
use crate::reproduce::markup::text;

/// How near to a point the pointer must come, where no script helps.
const TARGET_RADIUS: f64 = 8.0;
const DECADES: [f64; 9] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8];
const HEIGHT: f64 = PANELS_HEIGHT - 4.0;

/// The elements of a figure.
pub(crate) struct Inline {
    /// An SVG element for each panel.
    pub panels: Vec<String>,
    /// What the lines are called, each with an SVG element that shows it.
    pub legend: Vec<(String, String)>,
}

impl Inline {
    pub(crate) fn of(figure: &Figure) -> Result<Self, FigureError> {
        let (x_axis, y_axis) = figure.axes()?;
        let frame = Frame::new(&x_axis, &y_axis, Y_LABEL_WIDTH);
        let panels = figure.panels.iter().map(|panel| figure.plot(panel, &frame)).collect::<Result<_, _>>()?;
        let swatch = |(label, style): (&str, _)| {
            let svg = drawing((LINE, ROW), |canvas: &Canvas| draw_swatch(canvas, (0.0, ROW / 2.0), style))?;
            let head =
                format!("<svg class=\"swatch\" viewBox=\"0 0 {} {}\" aria-hidden=\"true\">", units(LINE), units(ROW));
            Ok((label.to_owned(), format!("{head}{}</svg>", content(&svg))))
        };
        let legend = entries(&figure.panels).into_iter().map(swatch).collect::<Result<_, FigureError>>()?;
        Ok(Self { panels, legend })
    }
}

impl Figure {
    fn plot(&self, panel: &Panel, frame: &Frame) -> Result<String, FigureError> {
        let width = Y_LABEL_WIDTH + PANEL_WIDTH;
        let svg = drawing((width, HEIGHT), |canvas| {
            self.draw_y_label(canvas)?;
            self.draw_panel(canvas, frame, panel)
        })?;
        let top = if panel.title.is_empty() { PLOT_TOP - 8.0 } else { PLOT_TOP - 26.0 };
        let view = format!("0 {} {} {}", units(top), units(width), units(HEIGHT - top));
        let named = if panel.title.is_empty() { self.whole_title() } else { panel.title.clone() };
        let label = text(&format!("{named}: {} against {}", self.y_label, self.x_label));
        let drawn = content(&svg);
        let points = self.targets(panel, frame);
        Ok(format!(
            "<svg class=\"plot\" viewBox=\"{view}\" role=\"group\" aria-label=\"{label}\">\n\
             <g aria-hidden=\"true\">\n{drawn}</g>\n{points}</svg>"
        ))
    }

    /// A target on every point that says what it is: the series, x, the mean, and its interval, a line each.
    fn targets(&self, panel: &Panel, frame: &Frame) -> String {
        let mut targets = String::new();
        for series in &panel.series {
            for point in series.points.iter().filter(|point| self.holds(point)) {
                let (x, y) = frame.at(point);
                let _ = writeln!(
                    targets,
                    "<circle class=\"point\" cx=\"{}\" cy=\"{}\" r=\"{}\" color=\"{}\"><title>{}</title></circle>",
                    units(x),
                    units(y),
                    units(TARGET_RADIUS),
                    series.style.hex(),
                    text(&format!("{}\n{}: {}\n{}", series.label, self.x_label, self.x_text(point.x), told(point))),
                );
            }
        }
        targets
    }

    /// What x is, in the words of the axis.
    pub(crate) fn x_text(&self, x: f64) -> String {
        let name = self.x_names.iter().enumerate().find(|(at, _)| (*at as f64 - x).abs() < 0.5);
        name.map_or_else(|| x.to_string(), |(_, name)| name.clone())
    }
}

/// What was measured, and the interval in a line of its own if there is one.
fn told(point: &Point) -> String {
    let [from, to] = point.interval();
    let decimals = decimals(point);
    let interval = format!("\n95% confidence: {from:.decimals$} to {to:.decimals$}").replace('-', "−");
    format!("{}{}", reading(point), if point.ci95 > 0.0 { &interval } else { "" })
}

/// The mean, and half the width of its interval if there is one.
pub(crate) fn reading(point: &Point) -> String {
    let decimals = decimals(point);
    let interval = if point.ci95 > 0.0 { format!(" ± {:.decimals$}", point.ci95) } else { String::new() };
    format!("{:.decimals$}{interval}", point.y).replace('-', "−")
}

/// As many decimals as give the mean four digits that count.
fn decimals(point: &Point) -> usize {
    let size = point.y.abs().max(point.ci95);
    let enough = DECADES.iter().position(|decade| size * decade >= 999.5);
    enough.unwrap_or(if size > 0.0 { DECADES.len() } else { 0 })
}

/// What stands within an SVG element.
fn content(svg: &str) -> &str {
    let after_head = svg.find('>').map_or(svg, |end| svg[end + 1..].trim_start());
    after_head.trim_end().trim_end_matches("</svg>")
}

#[cfg(test)]
mod tests {
    use super::super::{Series, Style};
    use super::*;

    fn figure() -> Figure {
        let points = vec![
            Point { x: 0.001, y: 12.3456, ci95: 0.25 },
            Point { x: 0.01, y: f64::NAN, ci95: 0.0 },
            Point { x: 0.1, y: 0.0, ci95: 0.0 },
        ];
        let series = vec![Series { label: "k < 3 & \"up\"".into(), style: Style::of_colour(0), points }];
        let [title, part, x_label, y_label] = ["Waiting", "", "load", "time"].map(str::to_owned);
        let panels = vec![Panel { title: "(a) <still>".into(), series }];
        Figure { title, part, x_label, y_label, x_log: false, y_log: false, x_names: Vec::new(), panels }
    }

    #[test]
    fn every_point_with_a_place_says_what_it_is() {
        let Inline { panels, legend } = Inline::of(&figure()).unwrap();
        assert_eq!(panels[0].matches("class=\"point\"").count(), 2);
        let told =
            "<title>k &lt; 3 &amp; &quot;up&quot;\nload: 0.001\n12.35 ± 0.25\n95% confidence: 12.10 to 12.60</title>";
        assert!(panels[0].contains(told), "{}", panels[0]);
        assert!(panels[0].contains("load: 0.1\n0</title>"), "no interval is claimed where there is none");
        assert!(panels[0].contains("aria-label=\"(a) &lt;still&gt;: time against load\""));
        assert_eq!(legend.len(), 1);
        assert!(panels.iter().chain(legend.iter().map(|(_, svg)| svg)).all(|svg| svg.matches("</svg>").count() == 1));
    }

    #[test]
    fn the_target_lies_on_the_mark() {
        let panel = &Inline::of(&figure()).unwrap().panels[0];
        let place = |class: &str| {
            let circle = panel.split(class).nth(1).unwrap();
            let number = |name: &str| circle.split(name).nth(1).unwrap().split('"').next().unwrap().to_owned();
            (number("cx=\""), number("cy=\""))
        };
        assert_eq!(place("<circle "), place("class=\"point\""));
    }

    #[test]
    fn a_reading_has_four_digits_that_count() {
        let say = |y, ci95| reading(&Point { x: 0.0, y, ci95 });
        assert_eq!(say(12345.6, 0.0), "12346");
        assert_eq!(say(-1.0, 0.01), "−1.000 ± 0.010");
        assert_eq!(say(0.000_123_44, 0.000_001), "0.0001234 ± 0.0000010");
    }
}

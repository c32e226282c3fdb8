//! The points of a figure as tables: for those who do not see it, and for those who check it.

use super::page::scrolling;
use crate::reproduce::figure::{Figure, Panel, reading};
use crate::reproduce::markup::text;

/// The tables of all panels, behind a fold.
pub(super) fn fold(figure: &Figure) -> String {
    let points: usize = figure.panels.iter().flat_map(|panel| &panel.series).map(|series| series.points.len()).sum();
    let tables: String = figure.panels.iter().map(|panel| table(figure, panel)).collect();
    format!("<details class=\"data\"><summary>The {points} points as a table</summary>\n{tables}</details>\n")
}

/// A row for each x, a column for each series.
fn table(figure: &Figure, panel: &Panel) -> String {
    let mut xs: Vec<f64> = panel.series.iter().flat_map(|series| &series.points).map(|point| point.x).collect();
    xs.sort_by(f64::total_cmp);
    xs.dedup();
    let columns: String =
        panel.series.iter().map(|series| format!("<th class=\"number\">{}", text(&series.label))).collect();
    let rows: String = xs.iter().map(|&x| row(figure, panel, x)).collect();
    let what = if panel.title.is_empty() { figure.whole_title() } else { panel.title.clone() };
    let caption = format!("{what}: {}", figure.y_label);
    scrolling(
        &caption,
        &format!(
            "<table><caption>{}</caption><thead><tr><th class=\"number\">{}{columns}</tr></thead>\n<tbody>{rows}</tbody></table>",
            text(&caption),
            text(&figure.x_label),
        ),
    )
}

fn row(figure: &Figure, panel: &Panel, x: f64) -> String {
    let cells = panel.series.iter().map(|series| {
        let point = series.points.iter().find(|point| point.x.total_cmp(&x).is_eq() && point.y.is_finite());
        format!("<td class=\"number\">{}", point.map_or_else(|| "none".into(), reading))
    });
    let cells: String = cells.collect();
    format!("<tr><th class=\"number\" scope=\"row\">{}{cells}</tr>\n", text(&figure.x_text(x)))
}

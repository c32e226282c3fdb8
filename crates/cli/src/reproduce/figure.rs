//! Figures in the manner of a paper: panels side by side on common axes with one legend below, written as SVG.
//!
//! The canvas is drawn in tenths of a pixel, and the size in the header is set right afterwards: thin strokes and true
//! positions come out that way.

use plotters::prelude::{DrawingAreaErrorKind, IntoDrawingArea, RGBColor, SVGBackend, WHITE};

mod axis;
mod canvas;
mod inline;
mod legend;

use axis::Axis;
use canvas::{Canvas, Drawn, INK, LABEL, MARK_RADIUS, Pixel, RISING, TICK, TICK_BELOW, TITLE, units};
use legend::Legend;

pub(crate) use canvas::Style;
pub(crate) use inline::{Inline, reading};

const GRID: RGBColor = RGBColor(0xE2, 0xE2, 0xE2);
/// A panel with its tick labels; the label of the y axis stands left of the first one.
const PANEL_WIDTH: f64 = 420.0;
const PANELS_HEIGHT: f64 = 360.0;
const PLOT_TOP: f64 = 58.0;
const PLOT_BOTTOM: f64 = PANELS_HEIGHT - 46.0;
const Y_LABEL_WIDTH: f64 = 22.0;
const MARGIN: f64 = 12.0;

/// Why there is no figure.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FigureError {
    #[error("figure {title:?} has no point to draw")]
    Empty { title: String },
    #[error("figure cannot be drawn")]
    Draw(#[from] DrawingAreaErrorKind<std::io::Error>),
}

/// Panels side by side that share their axes.
pub(crate) struct Figure {
    pub title: String,
    /// What tells it apart from the other figures of this title, if there are any.
    pub part: String,
    pub x_label: String,
    pub y_label: String,
    pub x_log: bool,
    pub y_log: bool,
    /// What stands at 0, 1, 2 and so on of the x axis, if it is a scale of names.
    pub x_names: Vec<String>,
    pub panels: Vec<Panel>,
}

/// One plot of a figure.
pub(crate) struct Panel {
    pub title: String,
    pub series: Vec<Series>,
}

/// Points joined by a line. Series of one label, in whatever panels, share an entry in the legend.
pub(crate) struct Series {
    pub label: String,
    pub style: Style,
    pub points: Vec<Point>,
}

/// A mean and the half width of its confidence interval. A point without a place on the axes (not finite, or not
/// positive on a logarithmic axis) leaves a gap in the line.
pub(crate) struct Point {
    pub x: f64,
    pub y: f64,
    pub ci95: f64,
}

impl Figure {
    /// The figure as an SVG document; the same figure gives the same bytes.
    pub(crate) fn to_svg(&self) -> Result<String, FigureError> {
        let (x_axis, y_axis) = self.axes()?;
        let width = Y_LABEL_WIDTH + PANEL_WIDTH * self.panels.len() as f64;
        let legend = Legend::new(&self.panels, width - 2.0 * MARGIN);
        drawing((width, PANELS_HEIGHT + legend.height()), |canvas| {
            canvas.0.fill(&WHITE)?;
            canvas.text(&self.whole_title(), (width / 2.0, 22.0), TITLE, width - 2.0 * MARGIN)?;
            self.draw_y_label(canvas)?;
            for (index, panel) in self.panels.iter().enumerate() {
                let frame = Frame::new(&x_axis, &y_axis, Y_LABEL_WIDTH + PANEL_WIDTH * index as f64);
                self.draw_panel(canvas, &frame, panel)?;
            }
            legend.draw(canvas, width / 2.0)
        })
    }

    /// The title, with what tells it apart from others.
    pub(crate) fn whole_title(&self) -> String {
        if self.part.is_empty() { self.title.clone() } else { format!("{} ({})", self.title, self.part) }
    }

    /// The axes that all panels share.
    fn axes(&self) -> Result<(Axis, Axis), FigureError> {
        let empty = || FigureError::Empty { title: self.whole_title() };
        let points = || self.panels.iter().flat_map(|p| &p.series).flat_map(|s| &s.points).filter(|p| self.holds(p));
        let x_axis = match self.x_names.as_slice() {
            [] => Axis::over(points().map(|p| p.x), self.x_log).ok_or_else(empty)?,
            names => Axis::of_names(names),
        };
        let y_axis = Axis::over(points().flat_map(|p| p.reach(self.y_log)), self.y_log).ok_or_else(empty)?;
        Ok((x_axis, y_axis))
    }

    fn draw_y_label(&self, canvas: &Canvas) -> Drawn {
        let middle = f64::midpoint(PLOT_TOP, PLOT_BOTTOM);
        canvas.text(&self.y_label, (Y_LABEL_WIDTH - 4.0, middle), RISING, PANELS_HEIGHT - PLOT_TOP)
    }

    /// Whether the point has a place on the axes.
    fn holds(&self, point: &Point) -> bool {
        let fits = |value: f64, log: bool| value.abs() < 1e300 && (!log || value > 0.0);
        fits(point.x, self.x_log) && fits(point.y, self.y_log)
    }

    fn draw_panel(&self, canvas: &Canvas, frame: &Frame, panel: &Panel) -> Drawn {
        frame.draw_axes(canvas)?;
        canvas.text(&panel.title, (frame.x(0.5), PLOT_TOP - 9.0), LABEL, frame.width)?;
        canvas.text(&self.x_label, (frame.x(0.5), PLOT_BOTTOM + 36.0), LABEL, frame.width)?;
        for Series { style, points, .. } in &panel.series {
            for run in points.split(|p| !self.holds(p)).filter(|run| !run.is_empty()) {
                let path: Vec<_> = run.iter().map(|p| frame.at(p)).collect();
                canvas.line(&path, style.colour(), 1.5, style.dash)?;
            }
            for point in points.iter().filter(|p| self.holds(p)) {
                frame.draw_interval(canvas, point, style.colour())?;
                canvas.mark(frame.at(point), *style)?;
            }
        }
        Ok(())
    }
}

/// An SVG document of this size, in pixels.
fn drawing((width, height): (f64, f64), draw: impl FnOnce(&Canvas) -> Drawn) -> Result<String, FigureError> {
    let mut svg = String::new();
    let size = (units(width).unsigned_abs(), units(height).unsigned_abs());
    let canvas = Canvas(SVGBackend::with_string(&mut svg, size).into_drawing_area());
    draw(&canvas)?;
    canvas.0.present()?;
    drop(canvas);
    let drawn = format!("width=\"{}\" height=\"{}\"", size.0, size.1);
    Ok(svg.replacen(&drawn, &format!("width=\"{width}\" height=\"{height}\" stroke-linejoin=\"round\""), 1))
}

impl Point {
    fn interval(&self) -> [f64; 2] {
        let half = if self.ci95 < 1e300 { self.ci95.max(0.0) } else { 0.0 };
        [self.y - half, self.y + half]
    }

    /// The part of the interval that the axis has to show: a mean that is not negative does not call for an axis below
    /// zero, nor an interval that nears zero for all the decades on the way.
    fn reach(&self, log: bool) -> [f64; 2] {
        let floor = if self.y < 0.0 { f64::MIN } else { self.y * if log { 0.5 } else { 0.0 } };
        self.interval().map(|end| end.max(floor))
    }
}

/// Where a panel's plot lies on the canvas.
struct Frame<'a> {
    x_axis: &'a Axis,
    y_axis: &'a Axis,
    left: f64,
    width: f64,
}

impl<'a> Frame<'a> {
    /// The frame in the panel that begins at `left`, with room for the tick labels of the y axis.
    fn new(x_axis: &'a Axis, y_axis: &'a Axis, left: f64) -> Self {
        let room = 14.0 + y_axis.ticks.iter().map(|tick| TICK.width(&tick.1)).fold(0.0, f64::max);
        Self { x_axis, y_axis, left: left + room, width: PANEL_WIDTH - room - MARGIN }
    }

    fn x(&self, share: f64) -> f64 {
        self.left + self.width * share
    }

    fn at(&self, point: &Point) -> Pixel {
        (self.x(self.x_axis.share(point.x)), height_of(self.y_axis.share(point.y)))
    }

    /// Grid, ticks with their labels, and the box around the plot.
    fn draw_axes(&self, canvas: &Canvas) -> Drawn {
        let (left, right) = (self.x(0.0), self.x(1.0));
        for (share, text) in &self.x_axis.ticks {
            let (x, length) = (self.x(*share), if text.is_empty() { 3.0 } else { 5.0 });
            canvas.line(&[(x, PLOT_BOTTOM), (x, PLOT_BOTTOM + length)], INK, 0.8, false)?;
            if !text.is_empty() {
                canvas.line(&[(x, PLOT_TOP), (x, PLOT_BOTTOM)], GRID, 0.8, false)?;
                canvas.text(text, (x, PLOT_BOTTOM + 18.0), TICK_BELOW, PANEL_WIDTH)?;
            }
        }
        for (share, text) in &self.y_axis.ticks {
            let (y, length) = (height_of(*share), if text.is_empty() { 3.0 } else { 5.0 });
            canvas.line(&[(left - length, y), (left, y)], INK, 0.8, false)?;
            if !text.is_empty() {
                canvas.line(&[(left, y), (right, y)], GRID, 0.8, false)?;
                canvas.text(text, (left - 8.0, y + 0.36 * TICK.size), TICK, PANEL_WIDTH)?;
            }
        }
        // From the middle of an edge, so that all corners are joints and no edge is drawn twice.
        let start = (self.x(0.5), PLOT_TOP);
        let corners = [(right, PLOT_TOP), (right, PLOT_BOTTOM), (left, PLOT_BOTTOM), (left, PLOT_TOP)];
        canvas.line(&[&[start], corners.as_slice(), &[start]].concat(), INK, 0.8, false)
    }

    /// The parts of the confidence interval that its mark does not hide, cut off at the frame.
    fn draw_interval(&self, canvas: &Canvas, point: &Point, colour: RGBColor) -> Drawn {
        let (x, y) = self.at(point);
        for share in point.interval().map(|end| self.y_axis.share(end)) {
            let tip = height_of(share.clamp(0.0, 1.0));
            if (tip - y).abs() > MARK_RADIUS + 1.5 {
                canvas.line(&[(x, y), (x, tip)], colour, 0.9, false)?;
                if (0.0..=1.0).contains(&share) {
                    canvas.line(&[(x - 3.0, tip), (x + 3.0, tip)], colour, 0.9, false)?;
                }
            }
        }
        Ok(())
    }
}

/// The height on the canvas of a share of the y axis.
fn height_of(share: f64) -> f64 {
    PLOT_BOTTOM - (PLOT_BOTTOM - PLOT_TOP) * share
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two panels with a series for each label, all through the same points.
    fn figure(labels: &[&str], ys: &[f64]) -> Figure {
        let series = |(index, label): (usize, &&str)| Series {
            label: (*label).to_owned(),
            style: Style { hue: index, dash: index % 2 == 1, mark: index },
            points: ys.iter().zip(1_u8..).map(|(&y, x)| Point { x: x.into(), y, ci95: 1.5 }).collect(),
        };
        let panels = ["(a) zero mobility", "(b) high mobility"]
            .map(|title| Panel { title: title.to_owned(), series: labels.iter().enumerate().map(series).collect() });
        let [title, x_label, y_label] = ["Waiting time", "load", "time per CS"].map(str::to_owned);
        let (part, x_names) = (String::new(), Vec::new());
        Figure { title, part, x_label, y_label, x_log: true, y_log: false, x_names, panels: panels.into() }
    }

    #[test]
    fn the_same_figure_gives_the_same_bytes() {
        let svg = || figure(&["KRL", "KRLF"], &[4.0, 5.0, 9.0]).to_svg().unwrap();
        assert_eq!(svg(), svg());
        assert!(svg().starts_with("<svg width=\"862\" height=\"390\" "));
        assert!(svg().ends_with("</svg>\n"));
    }

    #[test]
    fn texts_appear_escaped_and_each_label_once() {
        let svg = figure(&["KRL 20%", "k < 3 & up"], &[4.0, 5.0, 9.0]).to_svg().unwrap();
        let count = |text: &str| svg.matches(&format!(">\n{text}\n<")).count();
        for once in ["KRL 20%", "k &lt; 3 &amp; up", "Waiting time", "(a) zero mobility", "time per CS"] {
            assert_eq!(count(once), 1, "{once}");
        }
        assert_eq!(count("load"), 2);
        assert!(!svg.contains("k < 3"));
    }

    #[test]
    fn a_figure_without_points_is_an_error() {
        let bare = Figure { panels: Vec::new(), ..figure(&[], &[]) };
        for figure in [bare, figure(&[], &[1.0]), figure(&["KRL"], &[]), figure(&["KRL"], &[f64::NAN])] {
            assert!(matches!(figure.to_svg(), Err(FigureError::Empty { title }) if title == "Waiting time"));
        }
    }

    #[test]
    fn an_axis_of_names_shows_them() {
        let names = ["request", "token", "link_info"].map(str::to_owned);
        let named = Figure { x_log: false, x_names: names.into(), ..figure(&["KRL"], &[4.0, 5.0]) };
        let svg = named.to_svg().unwrap();
        assert!(
            ["request", "token", "link_info"].iter().all(|name| svg.matches(&format!(">\n{name}\n<")).count() == 2)
        );
    }

    #[test]
    fn points_without_a_place_leave_a_gap() {
        // A circle takes two elements; the legend has one more.
        let circles = |figure: &Figure| figure.to_svg().unwrap().matches("<circle").count() / 2 - 1;
        assert_eq!(circles(&figure(&["KRL"], &[4.0, 5.0, 6.0, 7.0])), 2 * 4);
        assert_eq!(circles(&figure(&["KRL"], &[4.0, f64::NAN, f64::INFINITY, 7.0])), 2 * 2);
        assert_eq!(circles(&Figure { y_log: true, ..figure(&["KRL"], &[0.0, 5.0, -1.0]) }), 2);
    }
}

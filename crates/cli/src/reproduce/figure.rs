//! Figures in the manner of a paper: panels side by side on common axes with one legend below, written as SVG.
//!
//! The SVG backend of plotters puts everything on whole units, so the canvas is drawn in tenths of a pixel and the size
//! in the header is set right afterwards: thin strokes and true positions come out that way. No font is at hand to
//! measure with, so every text hangs on an anchor and the room for it comes from an estimate of its width.

use plotters::coord::Shift;
use plotters::element::DashedPathElement;
use plotters::prelude::{
    Circle, Color, DrawingArea, DrawingAreaErrorKind, FontDesc, FontFamily, FontStyle, FontTransform, IntoDrawingArea,
    PathElement, Polygon, RGBColor, SVGBackend, Text, WHITE,
};
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// The colours of Okabe and Ito without the yellow, which is lost on white.
const PALETTE: [u32; 7] = [0x00_72_B2, 0xD5_5E_00, 0x00_9E_73, 0xCC_79_A7, 0xE6_9F_00, 0x56_B4_E9, 0x00_00_00];
const INK: RGBColor = RGBColor(0x22, 0x22, 0x22);
const GRID: RGBColor = RGBColor(0xE2, 0xE2, 0xE2);
/// Units of the canvas per pixel. All other lengths are in pixels.
const SCALE: f64 = 10.0;
/// A panel with its tick labels; the label of the y axis stands left of the first one.
const PANEL_WIDTH: f64 = 420.0;
const PANELS_HEIGHT: f64 = 360.0;
const PLOT_TOP: f64 = 58.0;
const PLOT_BOTTOM: f64 = PANELS_HEIGHT - 46.0;
const Y_LABEL_WIDTH: f64 = 22.0;
const MARGIN: f64 = 12.0;
const LEGEND_ROW: f64 = 20.0;
const LEGEND_LINE: f64 = 34.0;
const MARK_RADIUS: f64 = 3.2;
/// The outlines of the marks between circle and cross, in radii: square, triangle, diamond. They go on over the first
/// edge, so that all corners are joints.
const OUTLINES: [&[Pixel]; 3] = [
    &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9), (-0.9, -0.9), (0.9, -0.9)],
    &[(0.0, -1.25), (1.15, 0.8), (-1.15, 0.8), (0.0, -1.25), (1.15, 0.8)],
    &[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0), (0.0, -1.3), (1.3, 0.0)],
];

type Pixel = (f64, f64);
type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

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
    pub x_label: String,
    pub y_label: String,
    pub x_log: bool,
    pub y_log: bool,
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

/// How a series looks. Indices beyond the last colour or mark start over.
#[derive(Clone, Copy)]
pub(crate) struct Style {
    /// Blue, vermilion, green, purple, orange, sky blue, black.
    pub hue: usize,
    pub dash: bool,
    /// Circle, square, triangle, diamond, cross, then the first four hollow.
    pub mark: usize,
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
        let empty = || FigureError::Empty { title: self.title.clone() };
        let points = || self.panels.iter().flat_map(|p| &p.series).flat_map(|s| &s.points).filter(|p| self.holds(p));
        let x_axis = Axis::over(points().map(|p| p.x), self.x_log).ok_or_else(empty)?;
        let y_axis = Axis::over(points().flat_map(|p| p.reach(self.y_log)), self.y_log).ok_or_else(empty)?;
        let width = Y_LABEL_WIDTH + PANEL_WIDTH * self.panels.len() as f64;
        let legend = Legend::new(&self.panels, width - 2.0 * MARGIN);
        let height = PANELS_HEIGHT + legend.height();

        let mut svg = String::new();
        let size = (units(width).unsigned_abs(), units(height).unsigned_abs());
        let canvas = Canvas(SVGBackend::with_string(&mut svg, size).into_drawing_area());
        canvas.0.fill(&WHITE)?;
        canvas.text(&self.title, (width / 2.0, 22.0), TITLE, width - 2.0 * MARGIN)?;
        let middle = f64::midpoint(PLOT_TOP, PLOT_BOTTOM);
        canvas.text(&self.y_label, (Y_LABEL_WIDTH - 4.0, middle), RISING, PANELS_HEIGHT - PLOT_TOP)?;
        for (index, panel) in self.panels.iter().enumerate() {
            let frame = Frame::new(&x_axis, &y_axis, Y_LABEL_WIDTH + PANEL_WIDTH * index as f64);
            self.draw_panel(&canvas, &frame, panel)?;
        }
        legend.draw(&canvas, width / 2.0)?;
        canvas.0.present()?;
        drop(canvas);
        let drawn = format!("width=\"{}\" height=\"{}\"", size.0, size.1);
        Ok(svg.replacen(&drawn, &format!("width=\"{width}\" height=\"{height}\" stroke-linejoin=\"round\""), 1))
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

impl Style {
    fn colour(self) -> RGBColor {
        let [_, red, green, blue] = PALETTE[self.hue % PALETTE.len()].to_be_bytes();
        RGBColor(red, green, blue)
    }
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

/// A range of values with its ticks. Places on a logarithmic axis are decimal logarithms; they end up rounded to a
/// tenth of a pixel, so that a logarithm that differs in its last bit on another machine does not show.
struct Axis {
    log: bool,
    from: f64,
    to: f64,
    /// Shares of the axis with their labels; a minor tick has none.
    ticks: Vec<(f64, String)>,
}

/// A tick: mantissa, power of ten, and whether it is labelled.
type Tick = (i32, i32, bool);

impl Axis {
    /// The axis for these values, or nothing if there are none.
    fn over(values: impl Iterator<Item = f64>, log: bool) -> Option<Self> {
        let (low, high) = values.map(|v| (v, v)).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))?;
        let mut axis = Self { log, from: 0.0, to: 1.0, ticks: Vec::new() };
        (axis.from, axis.to) = axis.limits(low, high);
        let ticks = match axis.to - axis.from {
            span if !log => even_ticks(axis.from, axis.to, span),
            span if span < 0.7 => even_ticks(2.0 * low - high, 2.0 * high - low, high - low),
            span => decade_ticks(axis.from, axis.to, span),
        };
        let plain = ticks.iter().all(|tick| !tick.2 || (-4..=4).contains(&tick.1));
        let ticks = ticks.into_iter().map(|tick| (axis.share(number(tick.0, tick.1)), label(tick, plain)));
        axis.ticks = ticks.filter(|tick| (0.0..=1.0).contains(&tick.0)).collect();
        Some(axis)
    }

    /// The places of the ends for values in this range: some air around them, and zero if it is near.
    fn limits(&self, low: f64, high: f64) -> (f64, f64) {
        let (mut from, mut to) = (self.place(low), self.place(high));
        let scale = if self.log { 1.0 } else { from.abs().max(to.abs()) };
        if to - from <= 1e-7 * scale || scale < 1e-300 {
            (from, to) = if scale < 1e-300 { (0.0, 1.0) } else { (from - scale / 2.0, to + scale / 2.0) };
        }
        let air = 0.04 * (to - from);
        let near_zero = !self.log && from >= 0.0 && from < to / 3.0;
        (if near_zero { 0.0 } else { from - air }, to + air)
    }

    fn place(&self, value: f64) -> f64 {
        if self.log { value.max(f64::MIN_POSITIVE).log10() } else { value }
    }

    /// How far along the axis the value lies: 0 at its beginning, 1 at its end.
    fn share(&self, value: f64) -> f64 {
        (self.place(value) - self.from) / (self.to - self.from)
    }
}

/// A handful of evenly spaced ticks.
fn even_ticks(from: f64, to: f64, span: f64) -> Vec<Tick> {
    let power = whole((span / 6.0).log10().floor());
    let step = [1, 2, 5].into_iter().find(|&step| number(step, power) >= span / 6.0);
    let (step, power) = step.map_or((1, power + 1), |step| (step, power));
    let unit = number(step, power);
    let ticks = whole((from / unit).ceil())..=whole((to / unit).floor());
    ticks.take(100).map(|i| (i.saturating_mul(step), power, true)).collect()
}

/// The ticks of a logarithmic axis: fewer labels the more decades there are.
fn decade_ticks(from: f64, to: f64, span: f64) -> Vec<Tick> {
    let labelled: &[i32] = match span {
        ..1.2 => &[1, 2, 3, 5, 7],
        ..2.3 => &[1, 2, 5],
        _ => &[1],
    };
    let stride = whole((span / 7.0).ceil());
    let decades = whole(from.floor())..=whole(to.ceil());
    let ticks = decades.flat_map(|power| (1..10).map(move |m| (m, power)));
    let ticks = ticks.map(|(m, power)| (m, power, power % stride == 0 && labelled.contains(&m)));
    ticks.filter(|tick| tick.2 || stride == 1).collect()
}

/// The nearest value, which multiplying by powers of ten would miss.
fn number(mantissa: i32, power: i32) -> f64 {
    format!("{mantissa}e{power}").parse().unwrap_or(f64::NAN)
}

fn label((mantissa, power, labelled): Tick, plain: bool) -> String {
    let decimals = usize::try_from(-power).unwrap_or(0);
    let text = match number(mantissa, power) {
        _ if !labelled => String::new(),
        value if plain => format!("{value:.decimals$}"),
        value if mantissa == 0 => format!("{value}"),
        value => format!("{value:e}"),
    };
    text.replace('-', "−")
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
                canvas.text(text, (x, PLOT_BOTTOM + 18.0), Font { anchor: HPos::Center, ..TICK }, PANEL_WIDTH)?;
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
        let corners = [(left, PLOT_TOP), (right, PLOT_TOP), (right, PLOT_BOTTOM), (left, PLOT_BOTTOM)];
        canvas.line(&[corners.as_slice(), &corners[..2]].concat(), INK, 0.8, false)
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

/// The entries below the panels, in columns of one width.
struct Legend<'a> {
    entries: Vec<(&'a str, Style)>,
    columns: usize,
    pitch: f64,
}

impl<'a> Legend<'a> {
    fn new(panels: &'a [Panel], room: f64) -> Self {
        let mut entries: Vec<(&str, Style)> = Vec::new();
        for series in panels.iter().flat_map(|panel| &panel.series) {
            if !series.label.is_empty() && entries.iter().all(|entry| entry.0 != series.label) {
                entries.push((&series.label, series.style));
            }
        }
        let widest = entries.iter().map(|entry| ENTRY.width(entry.0)).fold(0.0, f64::max);
        let pitch = (LEGEND_LINE + widest + 26.0).min(room);
        let most = (1..=entries.len()).rev().find(|&n| n as f64 * pitch <= room).unwrap_or(1);
        let rows = entries.len().div_ceil(most);
        Self { columns: entries.len().div_ceil(rows.max(1)).max(1), entries, pitch }
    }

    fn height(&self) -> f64 {
        LEGEND_ROW * (self.entries.len().div_ceil(self.columns) as f64 + 0.5)
    }

    fn draw(&self, canvas: &Canvas, centre: f64) -> Drawn {
        let left = centre - (self.columns as f64 * self.pitch - 20.0) / 2.0;
        for (index, &(text, style)) in self.entries.iter().enumerate() {
            let x = left + self.pitch * (index % self.columns) as f64;
            let y = PANELS_HEIGHT + LEGEND_ROW * ((index / self.columns) as f64 + 0.5);
            canvas.line(&[(x, y), (x + LEGEND_LINE, y)], style.colour(), 1.5, style.dash)?;
            canvas.mark((x + LEGEND_LINE / 2.0, y), style)?;
            let start = (x + LEGEND_LINE + 6.0, y + 0.36 * ENTRY.size);
            canvas.text(text, start, ENTRY, self.pitch - LEGEND_LINE - 6.0)?;
        }
        Ok(())
    }
}

#[derive(Clone, Copy)]
struct Font {
    size: f64,
    anchor: HPos,
    style: FontStyle,
    rising: bool,
}

const LABEL: Font = Font { size: 13.0, anchor: HPos::Center, style: FontStyle::Normal, rising: false };
const TITLE: Font = Font { size: 15.0, style: FontStyle::Bold, ..LABEL };
const RISING: Font = Font { rising: true, ..LABEL };
const TICK: Font = Font { size: 12.5, anchor: HPos::Right, ..LABEL };
const ENTRY: Font = Font { anchor: HPos::Left, ..LABEL };

impl Font {
    /// About how wide the text is in one of the wider faces.
    fn width(&self, text: &str) -> f64 {
        self.size * 0.62 * text.chars().count() as f64
    }
}

fn whole(value: f64) -> i32 {
    #[expect(clippy::cast_possible_truncation, reason = "it saturates, far off any canvas")]
    let whole = value.round() as i32;
    whole
}

fn units(pixels: f64) -> i32 {
    whole(pixels * SCALE)
}

fn spots(path: &[Pixel]) -> Vec<(i32, i32)> {
    path.iter().map(|&(x, y)| (units(x), units(y))).collect()
}

/// The drawing area, in pixels.
struct Canvas<'a>(DrawingArea<SVGBackend<'a>, Shift>);

impl Canvas<'_> {
    fn line(&self, path: &[Pixel], colour: RGBColor, width: f64, dash: bool) -> Drawn {
        let style = colour.stroke_width(units(width).unsigned_abs());
        if dash {
            self.0.draw(&DashedPathElement::new(spots(path), units(6.0), units(3.5), style))
        } else {
            self.0.draw(&PathElement::new(spots(path), style))
        }
    }

    fn mark(&self, (x, y): Pixel, style: Style) -> Drawn {
        let (colour, r) = (style.colour(), MARK_RADIUS);
        let fill = if style.mark % 9 > 4 { WHITE } else { colour };
        match style.mark % 9 % 5 {
            0 => {
                let circle = |style| Circle::new((units(x), units(y)), units(r), style);
                self.0.draw(&circle(fill.filled()))?;
                self.0.draw(&circle(colour.stroke_width(units(1.2).unsigned_abs())))
            }
            4 => {
                self.line(&[(x - r, y - r), (x + r, y + r)], colour, 1.6, false)?;
                self.line(&[(x - r, y + r), (x + r, y - r)], colour, 1.6, false)
            }
            shape => {
                let outline: Vec<_> = OUTLINES[shape - 1].iter().map(|(dx, dy)| (x + r * dx, y + r * dy)).collect();
                self.0.draw(&Polygon::new(spots(&outline), fill.filled()))?;
                self.line(&outline, colour, 1.2, false)
            }
        }
    }

    /// Writes on the baseline through the pixel, smaller if the text would not fit into the room.
    fn text(&self, text: &str, (x, y): Pixel, font: Font, room: f64) -> Drawn {
        let text: String = text.chars().filter(|c| !c.is_control()).collect();
        let size = font.size.min(font.size * room / font.width(&text).max(1.0));
        // The backend writes in 1/1.24 of the size given, and 0.76 of that below an anchor at the top.
        let face = FontDesc::new(FontFamily::Name("Helvetica, Arial, sans-serif"), size * SCALE * 1.24, font.style);
        let drop = 0.76 * size;
        let (turn, x, y) =
            if font.rising { (FontTransform::Rotate270, x - drop, y) } else { (FontTransform::None, x, y - drop) };
        let style = face.transform(turn).color(&INK).pos(Pos::new(font.anchor, VPos::Top));
        self.0.draw(&Text::new(text, (units(x), units(y)), style))
    }
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
        Figure { title, x_label, y_label, x_log: true, y_log: false, panels: panels.into() }
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
    fn points_without_a_place_leave_a_gap() {
        // A circle takes two elements; the legend has one more.
        let circles = |figure: &Figure| figure.to_svg().unwrap().matches("<circle").count() / 2 - 1;
        assert_eq!(circles(&figure(&["KRL"], &[4.0, 5.0, 6.0, 7.0])), 2 * 4);
        assert_eq!(circles(&figure(&["KRL"], &[4.0, f64::NAN, f64::INFINITY, 7.0])), 2 * 2);
        assert_eq!(circles(&Figure { y_log: true, ..figure(&["KRL"], &[0.0, 5.0, -1.0]) }), 2);
    }

    #[test]
    fn ticks_are_round_numbers() {
        let labels = |values: [f64; 2], log| {
            let ticks = Axis::over(values.into_iter(), log).unwrap().ticks.into_iter();
            ticks.map(|tick| tick.1).filter(|text| !text.is_empty()).collect::<Vec<_>>()
        };
        assert_eq!(labels([0.001, 1.0], true), ["0.001", "0.01", "0.1", "1"]);
        assert_eq!(labels([5.0, 400.0], true), ["5", "10", "20", "50", "100", "200"]);
        assert_eq!(labels([1.0, 40.0], false), ["0", "10", "20", "30", "40"]);
        assert_eq!(labels([7.0, 7.0], false), ["4", "6", "8", "10"]);
        assert_eq!(labels([0.0, 0.0], false), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels([-2e-9, 2e-9], false), ["−2e−9", "−1e−9", "0", "1e−9", "2e−9"]);
    }
}

//! A chart as a picture.
//!
//! A message leaves its sender's lifeline at a slant and comes to its receiver on the level. So its label, which stands
//! over the level part, is read without turning one's head and has its row to itself.

use std::collections::BTreeMap;

use driftlock_protocol::NodeId;

use super::{Action, Bar, BarKind, Chart, Fate, Message, wrapped};

// The palette of Okabe and Ito, whose colours everybody can tell apart, and greys.
const ORANGE: &str = "#E69F00";
const GREEN: &str = "#009E73";
const BLUE: &str = "#0072B2";
const VERMILLION: &str = "#D55E00";
const INK: &str = "#222222";
const GREY: &str = "#8A8A8A";
const PALE: &str = "#EEEEEE";
/// A tint of [`BLUE`].
const PALE_BLUE: &str = "#D3E7F3";
const RED: &str = "#C00000";

// All lengths are pixels.
const MARGIN: usize = 20;
/// Room for the numbers of the rows.
const NUMBERS: usize = 36;
/// The legend has to fit in.
const WIDTH_MIN: usize = 440;
const LANE_MIN: usize = 150;
/// What a label leaves of its lane for the slants.
const SLANT: usize = 64;
const ROW: usize = 40;
/// The height of a message that ends between two rows.
const LEVEL: usize = 24;
const TEXT_LINE: usize = 18;
const HEAD_HALF: usize = 13;
const NOTE_HALF: usize = 10;
const BAR_HALF: usize = 5;

pub(super) fn draw(chart: &Chart) -> String {
    let picture = Picture::of(chart);
    let heading = escaped(&chart.heading);
    let (width, height) = (picture.width, picture.height);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\" fill=\"{INK}\">\n\
         <title>Message sequence chart: {heading}</title>\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#FFFFFF\"/>\n"
    );
    svg += &picture.top();
    svg += &picture.grid();
    svg += &picture.links();
    svg += &picture.arrows();
    svg += &picture.bars();
    svg += &picture.notes();
    svg += &picture.labels();
    svg += &picture.names();
    svg += &picture.violation();
    svg + "</svg>\n"
}

/// Where everything goes.
struct Picture<'a> {
    chart: &'a Chart,
    /// The lifelines.
    columns: BTreeMap<NodeId, usize>,
    /// From one lifeline to the next.
    lane: usize,
    width: usize,
    height: usize,
    /// The rows, with the start and the end.
    levels: Vec<usize>,
    /// The levels of the messages that never arrive, by their index.
    dead_ends: BTreeMap<usize, usize>,
    /// Waiting and critical nodes, to be found by node and row.
    phases: BTreeMap<(NodeId, usize), &'a Bar>,
}

impl<'a> Picture<'a> {
    fn of(chart: &'a Chart) -> Self {
        let labels = chart.messages.iter().map(|message| width_of(&message.text()) + SLANT);
        let lane = labels.max().unwrap_or(0).max(LANE_MIN);
        let names = chart.lifelines.iter().map(|node| width_of(&name(*node)));
        let notes = chart.rows.iter().map(|row| match &row.action {
            Action::Local { text, .. } => width_of(text),
            Action::Arrival { .. } | Action::Link { .. } => 0,
        });
        let overhang = names.chain(notes).max().unwrap_or(0) / 2 + MARGIN;
        let places = (0..).map(|index| NUMBERS + overhang + index * lane);
        let columns: BTreeMap<_, _> = chart.lifelines.iter().copied().zip(places).collect();
        let to_itself = chart.messages.iter().any(|message| message.from == message.to);
        let right = if to_itself { lane } else { overhang };
        let width = columns.values().max().map_or(0, |last| last + right).max(WIDTH_MIN);
        let phases = chart.bars.iter().filter(|bar| bar.kind != BarKind::Holding);
        let phases = phases.map(|bar| ((bar.node, bar.from), bar)).collect();
        let levels = Vec::new();
        let mut picture = Self { chart, columns, lane, width, height: 0, levels, dead_ends: BTreeMap::new(), phases };
        picture.lay_out_rows();
        picture
    }

    /// Before a row there is room for the messages that end there without having arrived.
    fn lay_out_rows(&mut self) {
        let mut ending: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (index, message) in self.chart.messages.iter().enumerate() {
            match message.fate {
                Fate::Arrived { .. } => {}
                Fate::Ended { row, .. } => ending.entry(row).or_default().push(index),
                Fate::UnderWay => ending.entry(self.chart.end()).or_default().push(index),
            }
        }
        let mut y = MARGIN + TEXT_LINE * (self.heading().len() + 1) + 2 * HEAD_HALF;
        self.levels.push(y);
        for row in 1..=self.chart.end() {
            let mut in_lane: BTreeMap<usize, usize> = BTreeMap::new();
            for &index in ending.get(&row).into_iter().flatten() {
                let count = in_lane.entry(self.half_way(&self.chart.messages[index])).or_default();
                *count += 1;
                self.dead_ends.insert(index, y + ROW / 2 + LEVEL * *count);
            }
            y += ROW + LEVEL * in_lane.into_values().max().unwrap_or(0);
            self.levels.push(y);
        }
        let last_lines = self.violation_lines().len();
        self.height = y + 2 * HEAD_HALF + MARGIN + if last_lines > 0 { TEXT_LINE * last_lines + MARGIN / 2 } else { 0 };
    }

    fn x(&self, node: NodeId) -> usize {
        self.columns.get(&node).copied().unwrap_or_default()
    }

    fn y(&self, row: usize) -> usize {
        self.levels.get(row).or(self.levels.last()).copied().unwrap_or_default()
    }

    /// The middle of the first lane that a message crosses.
    fn half_way(&self, message: &Message) -> usize {
        shifted(self.x(message.from), self.lane / 2, is_rightward(message))
    }

    /// Where a lifeline is touched in this row: at its edge if it is broad there.
    fn edge(&self, node: NodeId, row: usize, rightward: bool) -> usize {
        let last = self.phases.range(..=(node, row)).next_back();
        let broad = last.is_some_and(|((of, _), bar)| *of == node && row <= bar.to);
        shifted(self.x(node), if broad { BAR_HALF } else { 0 }, rightward)
    }

    fn heading(&self) -> Vec<String> {
        wrapped(&self.chart.heading, (self.width - 2 * MARGIN) / 8)
    }

    fn violation_lines(&self) -> Vec<String> {
        wrapped(self.chart.violation.as_deref().unwrap_or_default(), (self.width - 2 * MARGIN) / 7)
    }

    /// What it is, and what the colours of the lifelines mean.
    fn top(&self) -> String {
        let mut y = MARGIN + 4;
        let mut svg = String::from("<g font-size=\"14\" font-weight=\"bold\">\n");
        for line in self.heading() {
            svg += &format!("<text x=\"{MARGIN}\" y=\"{y}\">{}</text>\n", escaped(&line));
            y += TEXT_LINE;
        }
        svg += "</g>\n";
        let mut x = MARGIN;
        for (kind, meaning) in [
            (BarKind::Waiting, "waits"),
            (BarKind::Critical, "in the critical section"),
            (BarKind::Holding, "holds a unit"),
        ] {
            if self.chart.bars.iter().any(|bar| bar.kind == kind) {
                svg += &bar(kind, x + BAR_HALF, y - 11, y + 3);
                svg += &format!("<text x=\"{}\" y=\"{y}\">{meaning}</text>\n", x + 16);
                x += width_of(meaning) + 28;
            }
        }
        svg
    }

    /// The numbers of the rows and the lifelines.
    fn grid(&self) -> String {
        let mut svg = format!("<g font-size=\"11\" text-anchor=\"end\" stroke=\"{PALE}\">\n");
        for (number, row) in (1..).zip(&self.chart.rows) {
            let (y, right) = (self.y(number), self.width - MARGIN);
            let (seconds, millis) = (row.t / 1_000_000_000, row.t / 1_000_000 % 1000);
            svg += &format!(
                "<path d=\"M{NUMBERS},{y}H{right}\"/>\
                 <text x=\"{}\" y=\"{}\" stroke=\"none\" fill=\"{GREY}\">{number}<title>t = {seconds}.{millis:03}</title></text>\n",
                NUMBERS - 8,
                y + 4
            );
        }
        svg += &format!("</g>\n<g stroke=\"{GREY}\">\n");
        for x in self.columns.values() {
            svg += &format!("<path d=\"M{x},{}V{}\"/>\n", self.y(0), self.y(self.chart.end()));
        }
        svg + "</g>\n"
    }

    fn links(&self) -> String {
        let mut svg = String::from("<g stroke-width=\"2\" stroke-dasharray=\"6 4\">\n");
        for (number, row) in (1..).zip(&self.chart.rows) {
            if let Action::Link { ends, up } = row.action {
                let (from, to, y) = (self.x(ends.0), self.x(ends.1), self.y(number));
                svg += &format!("<path d=\"M{from},{y}H{to}\" stroke=\"{}\"/>\n", link_colour(up));
            }
        }
        svg + "</g>\n"
    }

    fn arrows(&self) -> String {
        let mut svg = String::from("<g fill=\"none\" stroke-linejoin=\"round\">\n");
        for (index, message) in self.chart.messages.iter().enumerate() {
            let (colour, width) = if message.label.permit.is_some() { (ORANGE, "2.5") } else { (INK, "1.2") };
            svg += &format!(
                "<g stroke=\"{colour}\" stroke-width=\"{width}\"><title>{}</title>{}</g>\n",
                escaped(&story(message)),
                match message.fate {
                    Fate::Arrived { row, .. } => self.arrow(message, row, colour),
                    Fate::Ended { .. } | Fate::UnderWay => self.dead_end(index, message),
                }
            );
        }
        svg + "</g>\n"
    }

    /// The arrow of a message that arrives in this row.
    fn arrow(&self, message: &Message, row: usize, colour: &str) -> String {
        let to_itself = message.from == message.to;
        let rightward = is_rightward(message) && !to_itself;
        let (lifeline, y) = (self.x(message.to), self.y(row));
        let tip = self.edge(message.to, row, !rightward);
        let length = if to_itself { SLANT / 2 } else { width_of(&message.text()) + 22 };
        let knee = shifted(lifeline, length, !rightward);
        let neck = shifted(tip, 8, !rightward);
        let head = format!("<path d=\"M{tip},{y}L{neck},{}V{}Z\" fill=\"{colour}\" stroke=\"none\"/>", y - 4, y + 4);
        let Some(sent) = message.sent else {
            return format!("<path d=\"M{knee},{y}H{neck}\"/>{}{head}", open_end(knee, y));
        };
        let (x, start) = (self.edge(message.from, sent, rightward || to_itself), self.y(sent));
        let out = if to_itself { format!("H{knee}") } else { String::new() };
        format!("<path d=\"M{x},{start}{out}L{knee},{y}H{neck}\"/>{head}")
    }

    /// The line of a message that never arrives.
    fn dead_end(&self, index: usize, message: &Message) -> String {
        let (sent, rightward) = (message.sent.unwrap_or_default(), is_rightward(message));
        let (x, start) = (self.edge(message.from, sent, rightward), self.y(sent));
        let knee = shifted(self.x(message.from), SLANT / 2, rightward);
        let end = self.half_way(message);
        let y = self.dead_ends.get(&index).copied().unwrap_or_default();
        let line = format!("<path d=\"M{x},{start}L{knee},{y}H{end}\"/>");
        match message.fate {
            Fate::Ended { .. } => format!(
                "{line}<path d=\"M{left},{top}l10,10m0,-10l-10,10\" stroke=\"{VERMILLION}\" stroke-width=\"2.5\"/>",
                left = end - 5,
                top = y - 5
            ),
            Fate::UnderWay | Fate::Arrived { .. } => line + &open_end(end, y),
        }
    }

    fn bars(&self) -> String {
        let mut svg = String::new();
        // A token is held within a critical section, and is to be seen there.
        for kind in [BarKind::Waiting, BarKind::Critical, BarKind::Holding] {
            for stretch in self.chart.bars.iter().filter(|bar| bar.kind == kind) {
                svg += &bar(kind, self.x(stretch.node), self.y(stretch.from), self.y(stretch.to));
            }
        }
        svg
    }

    /// What concerns one node only.
    fn notes(&self) -> String {
        let mut svg = String::from("<g text-anchor=\"middle\">\n");
        for (number, row) in (1..).zip(&self.chart.rows) {
            if let Action::Local { node, text } = &row.action {
                svg += &boxed(text, self.x(*node), self.y(number), NOTE_HALF);
            }
        }
        svg + "</g>\n"
    }

    /// The words over the arrows and under the changes of links.
    fn labels(&self) -> String {
        let mut svg = String::from(
            "<g paint-order=\"stroke\" stroke=\"#FFFFFF\" stroke-width=\"4\" stroke-linejoin=\"round\" text-anchor=\"middle\">\n",
        );
        for (number, row) in (1..).zip(&self.chart.rows) {
            if let Action::Link { ends: (a, b), up } = row.action {
                let (x, y) = (self.x(a) + self.lane / 2, self.y(number) + 16);
                let (colour, verb) = (link_colour(up), if up { "forms" } else { "fails" });
                svg += &format!(
                    "<text x=\"{x}\" y=\"{y}\" fill=\"{colour}\" font-weight=\"bold\">link {a}\u{2013}{b} {verb}</text>\n"
                );
            }
        }
        for (index, message) in self.chart.messages.iter().enumerate() {
            svg += &self.label(index, message);
        }
        svg + "</g>\n"
    }

    fn label(&self, index: usize, message: &Message) -> String {
        let text = escaped(&message.text());
        let Fate::Arrived { row, .. } = message.fate else {
            let y = self.dead_ends.get(&index).copied().unwrap_or_default();
            return format!("<text x=\"{}\" y=\"{}\">{text}</text>\n", self.half_way(message), y - 7);
        };
        let rightward = is_rightward(message) && message.from != message.to;
        let x = shifted(self.x(message.to), 14, !rightward);
        let anchor = if rightward { "end" } else { "start" };
        format!("<text x=\"{x}\" y=\"{}\" text-anchor=\"{anchor}\">{text}</text>\n", self.y(row) - 6)
    }

    /// The nodes' names at both ends of their lifelines.
    fn names(&self) -> String {
        let mut svg = String::from("<g font-size=\"13\" font-weight=\"bold\" text-anchor=\"middle\">\n");
        for (node, x) in &self.columns {
            svg += &boxed(&name(*node), *x, self.y(0) - HEAD_HALF, HEAD_HALF);
            svg += &boxed(&name(*node), *x, self.y(self.chart.end()) + HEAD_HALF, HEAD_HALF);
        }
        svg + "</g>\n"
    }

    fn violation(&self) -> String {
        let mut y = self.y(self.chart.end()) + 2 * HEAD_HALF + MARGIN + 8;
        let mut svg = format!("<g font-size=\"13\" font-weight=\"bold\" fill=\"{RED}\">\n");
        for line in self.violation_lines() {
            svg += &format!("<text x=\"{MARGIN}\" y=\"{y}\">{}</text>\n", escaped(&line));
            y += TEXT_LINE;
        }
        svg + "</g>\n"
    }
}

/// What happened to a message, for those who point at it.
fn story(message: &Message) -> String {
    let Message { from, to, label, sent, fate } = message;
    let sent = sent.map_or("sent nobody knows when".into(), |row| format!("sent in row {row}"));
    let fate = match fate {
        Fate::Arrived { row, refused: false } => format!("arrives in row {row}"),
        Fate::Arrived { row, refused: true } => format!("arrives in row {row} and is refused"),
        Fate::Ended { row, returned: true } => format!("returned in row {row}"),
        Fate::Ended { row, returned: false } => format!("lost in row {row}"),
        Fate::UnderWay => "under way at the end".into(),
    };
    format!("{} from node {from} to node {to}, {sent}, {fate}", label.text)
}

fn name(node: NodeId) -> String {
    format!("node {node}")
}

fn is_rightward(message: &Message) -> bool {
    message.from <= message.to
}

fn shifted(x: usize, by: usize, rightward: bool) -> usize {
    if rightward { x + by } else { x.saturating_sub(by) }
}

fn link_colour(up: bool) -> &'static str {
    if up { GREEN } else { VERMILLION }
}

/// About how long a text of twelve pixels is; fonts differ.
fn width_of(text: &str) -> usize {
    text.chars().count() * 13 / 2
}

fn bar(kind: BarKind, x: usize, top: usize, bottom: usize) -> String {
    let (half, paint) = match kind {
        BarKind::Waiting => (BAR_HALF, format!("fill=\"{PALE_BLUE}\" stroke=\"{BLUE}\"")),
        BarKind::Critical => (BAR_HALF, format!("fill=\"{BLUE}\" stroke=\"{BLUE}\"")),
        BarKind::Holding => (2, format!("fill=\"{ORANGE}\"")),
    };
    let (left, width, height) = (x - half, 2 * half, bottom - top);
    format!("<rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" {paint}/>\n")
}

fn boxed(text: &str, x: usize, y: usize, half_height: usize) -> String {
    let width = width_of(text) + 18;
    format!(
        "<rect x=\"{}\" y=\"{}\" width=\"{width}\" height=\"{}\" rx=\"4\" fill=\"#FFFFFF\" stroke=\"{GREY}\"/>\
         <text x=\"{x}\" y=\"{}\">{}</text>\n",
        x.saturating_sub(width / 2),
        y - half_height,
        2 * half_height,
        y + 4,
        escaped(text)
    )
}

fn open_end(x: usize, y: usize) -> String {
    format!("<circle cx=\"{x}\" cy=\"{y}\" r=\"3.5\" fill=\"#FFFFFF\"/>")
}

/// The text as XML reads it back; what XML cannot hold at all is replaced.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe += "&amp;",
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '"' => safe += "&quot;",
            '\u{FFFE}' | '\u{FFFF}' => safe.push('\u{FFFD}'),
            _ if character.is_control() => safe.push(' '),
            _ => safe.push(character),
        }
    }
    safe
}

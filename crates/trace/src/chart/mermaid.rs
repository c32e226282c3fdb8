//! A chart in the language of Mermaid.

use std::collections::BTreeMap;

use driftlock_protocol::NodeId;

use super::{Action, BarKind, Chart, Fate, Message, wrapped};

/// Characters in a line of a note.
const NOTE_COLUMNS: usize = 60;
/// Punctuation that means nothing to Mermaid within a text.
const HARMLESS: &str = ",.:()[]{}=/!?_-\u{2013}\u{2026}'";

pub(super) fn write(chart: &Chart) -> String {
    let mut lines = vec!["sequenceDiagram".to_owned(), format!("    title {}", escaped(&chart.heading))];
    lines.extend(chart.lifelines.iter().map(|node| format!("    participant n{node} as node {node}")));
    let happenings = Happenings::of(chart);
    for (row, action) in (1..).zip(chart.rows.iter().map(|row| &row.action)) {
        lines.push(match action {
            Action::Local { node, text } => format!("    Note over n{node}: {}", escaped(text)),
            Action::Arrival { message } => arrow("->>", &chart.messages[*message]),
            Action::Link { ends, up } => {
                let verb = if *up { "forms" } else { "fails" };
                format!("    Note over {}: link {}-{} {verb}", span(ends.0, ends.1), ends.0, ends.1)
            }
        });
        happenings.write(row, &mut lines);
    }
    happenings.write(chart.end(), &mut lines);
    let violation = wrapped(chart.violation.as_deref().unwrap_or_default(), NOTE_COLUMNS);
    let (first, last) = (chart.lifelines.first(), chart.lifelines.last());
    if let (false, Some(first), Some(last)) = (violation.is_empty(), first, last) {
        let text: Vec<String> = violation.iter().map(|line| escaped(line)).collect();
        lines.push(format!("    Note over {}: {}", span(*first, *last), text.join("<br/>")));
    }
    lines.join("\n") + "\n"
}

/// What else is to be written after the action of a row.
struct Happenings<'a> {
    ended: BTreeMap<usize, Vec<&'a Message>>,
    left: BTreeMap<usize, Vec<NodeId>>,
    entered: BTreeMap<usize, Vec<NodeId>>,
}

impl<'a> Happenings<'a> {
    fn of(chart: &'a Chart) -> Self {
        let mut all = Self { ended: BTreeMap::new(), left: BTreeMap::new(), entered: BTreeMap::new() };
        for message in &chart.messages {
            match message.fate {
                Fate::Arrived { .. } => {}
                Fate::Ended { row, .. } => all.ended.entry(row).or_default().push(message),
                Fate::UnderWay => all.ended.entry(chart.end()).or_default().push(message),
            }
        }
        // Every bar has both ends, so that no activation is left open, which Mermaid would not draw.
        for bar in chart.bars.iter().filter(|bar| bar.kind == BarKind::Critical) {
            all.entered.entry(bar.from).or_default().push(bar.node);
            all.left.entry(bar.to).or_default().push(bar.node);
        }
        all
    }

    fn write(&self, row: usize, lines: &mut Vec<String>) {
        lines.extend(self.ended.get(&row).into_iter().flatten().map(|message| arrow("-x", message)));
        lines.extend(self.left.get(&row).into_iter().flatten().map(|node| format!("    deactivate n{node}")));
        lines.extend(self.entered.get(&row).into_iter().flatten().map(|node| format!("    activate n{node}")));
    }
}

fn arrow(shape: &str, message: &Message) -> String {
    format!("    n{}{shape}n{}: {}", message.from, message.to, escaped(&message.text()))
}

/// Over which lifelines a note goes.
fn span(first: NodeId, last: NodeId) -> String {
    if first == last { format!("n{first}") } else { format!("n{first},n{last}") }
}

/// The text as Mermaid reads it back: everything that might mean something to it is given by its number.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            _ if character.is_control() || character.is_whitespace() => safe.push(' '),
            _ if character.is_alphanumeric() || HARMLESS.contains(character) => safe.push(character),
            _ => safe += &format!("#{};", u32::from(character)),
        }
    }
    safe
}

//! The field in a terminal, for those who have no browser at hand.

use std::io::{IsTerminal, Write, stdout};

use driftlock_protocol::Section;
use driftlock_sim::field::FieldPlan;
use driftlock_sim::live::{Glimpse, Progress};

const COLUMNS: usize = 72;
const ROWS: usize = 20;

/// Draws over what it drew before.
pub(crate) struct Terminal {
    drawn: usize,
    coloured: bool,
}

impl Terminal {
    /// If there is a terminal to draw on.
    pub(crate) fn open() -> Option<Self> {
        let coloured = std::env::var_os("NO_COLOR").is_none();
        stdout().is_terminal().then_some(Self { drawn: 0, coloured })
    }

    /// Draws the field as it is now, and these words below it.
    pub(crate) fn draw(&mut self, field: &FieldPlan, progress: &Progress, words: &str) {
        let picture = format!("{}{words}", map(field, &progress.nodes, self.coloured));
        let up = if self.drawn > 0 { format!("\x1b[{}A\x1b[J", self.drawn) } else { String::new() };
        self.drawn = picture.matches('\n').count();
        let mut out = stdout().lock();
        // A user who has closed the terminal does not look any more.
        _ = write!(out, "{up}{picture}").and_then(|()| out.flush());
    }
}

/// Each node by its number: `[7]` uses a unit, `7?` waits for one, `7x` is silent, `7*` holds a unit that is not in
/// use.
fn map(field: &FieldPlan, nodes: &[Glimpse], coloured: bool) -> String {
    let mut cells = vec![(' ', ""); COLUMNS * ROWS];
    for (number, node) in nodes.iter().enumerate() {
        let (text, colour) = match (node.is_silent, node.section) {
            (true, _) => (format!("{number}x"), "\x1b[90m"),
            (_, Section::Critical) => (format!("[{number}]"), "\x1b[1;32m"),
            (_, Section::Waiting) => (format!("{number}?"), "\x1b[33m"),
            (_, Section::Remainder) if !node.permits.is_empty() => (format!("{number}*"), "\x1b[36m"),
            (_, Section::Remainder) => (format!("{number}"), ""),
        };
        let column = scaled(node.at.x / field.area.width, COLUMNS - text.len());
        let row = scaled(node.at.y / field.area.height, ROWS - 1);
        for (at, letter) in text.chars().enumerate() {
            cells[row * COLUMNS + column + at] = (letter, colour);
        }
    }
    let line = |row: &[(char, &str)]| -> String {
        let shown = row.iter().map(|(letter, colour)| match *colour {
            colour if coloured && !colour.is_empty() => format!("{colour}{letter}\x1b[0m"),
            _ => letter.to_string(),
        });
        format!("\u{2502}{}\u{2502}\n", shown.collect::<String>())
    };
    let edge = "\u{2500}".repeat(COLUMNS);
    let rows: String = cells.chunks(COLUMNS).map(line).collect();
    format!("\u{250c}{edge}\u{2510}\n{rows}\u{2514}{edge}\u{2518}\n")
}

/// The nearest of 0 to `most` for a share from 0 to 1.
fn scaled(share: f64, most: usize) -> usize {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // clamped on the same line
    let place = (share * most as f64).round().clamp(0.0, most as f64) as usize;
    place
}

#[cfg(test)]
mod tests {
    use driftlock_field::plane::Point;
    use driftlock_protocol::Permits;

    use super::*;

    #[test]
    fn nodes_are_where_they_are_and_as_they_are() {
        let glimpse = |x, y, section| Glimpse { at: Point { x, y }, section, permits: Permits::NONE, is_silent: false };
        let nodes = [
            glimpse(0.0, 0.0, Section::Remainder),
            glimpse(700.0, 700.0, Section::Waiting),
            glimpse(-5.0, 1e9, Section::Critical),
            Glimpse { is_silent: true, ..glimpse(350.0, 350.0, Section::Critical) },
        ];
        let text = map(&FieldPlan::default(), &nodes, false);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), ROWS + 2);
        assert!(lines[1].starts_with("\u{2502}0 ") && lines[ROWS].ends_with("1?\u{2502}"), "{text}");
        assert!(lines[ROWS].starts_with("\u{2502}[2]") && text.contains(" 3x "), "{text}");
    }
}

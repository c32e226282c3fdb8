//! What the lines of a figure are called.

use super::canvas::{Canvas, Drawn, ENTRY, Font, Pixel, Style};
use super::{PANELS_HEIGHT, Panel};

pub(super) const ROW: f64 = 20.0;
pub(super) const LINE: f64 = 34.0;
/// Between columns.
const GAP: f64 = 20.0;
/// How much smaller than usual the font may be.
const SHRINK: f64 = 0.8;

/// What the legend says: each label once.
pub(super) fn entries(panels: &[Panel]) -> Vec<(&str, Style)> {
    let mut entries: Vec<(&str, Style)> = Vec::new();
    for series in panels.iter().flat_map(|panel| &panel.series) {
        if !series.label.is_empty() && entries.iter().all(|entry| entry.0 != series.label) {
            entries.push((&series.label, series.style));
        }
    }
    entries
}

/// A bit of a line with its mark, from here to the right.
pub(super) fn draw_swatch(canvas: &Canvas, (x, y): Pixel, style: Style) -> Drawn {
    canvas.line(&[(x, y), (x + LINE, y)], style.colour(), 1.5, style.dash)?;
    canvas.mark((x + LINE / 2.0, y), style)
}

/// The entries below the panels, in columns of one width.
pub(super) struct Legend<'a> {
    entries: Vec<(&'a str, Style)>,
    columns: usize,
    pitch: f64,
    font: Font,
}

impl<'a> Legend<'a> {
    pub(super) fn new(panels: &'a [Panel], room: f64) -> Self {
        let entries = entries(panels);
        // The lines of one colour stay in one row if they fit, if need be in a smaller font.
        let lines = entries.iter().take_while(|entry| entry.1.hue == entries[0].1.hue).count().max(1);
        let beside_text = LINE + 6.0 + GAP;
        let widest = entries.iter().map(|entry| ENTRY.width(entry.0)).fold(0.0, f64::max);
        let row_of_lines = (room + GAP) / lines as f64 - beside_text;
        let shrink = if (SHRINK * widest..widest).contains(&row_of_lines) { row_of_lines / widest } else { 1.0 };
        let pitch = (beside_text + shrink * widest).min(room);
        let most = (1..=entries.len()).rev().find(|&n| n as f64 * pitch - GAP <= room + 0.01).unwrap_or(1);
        let most = if most > lines { most - most % lines } else { most };
        let rows = entries.len().div_ceil(most);
        let columns = entries.len().div_ceil(rows.max(1)).max(1);
        let columns = if columns > lines { columns.next_multiple_of(lines) } else { columns };
        Self { entries, columns, pitch, font: ENTRY.scaled(shrink) }
    }

    pub(super) fn height(&self) -> f64 {
        ROW * (self.entries.len().div_ceil(self.columns) as f64 + 0.5)
    }

    pub(super) fn draw(&self, canvas: &Canvas, centre: f64) -> Drawn {
        let left = centre - (self.columns as f64 * self.pitch - GAP) / 2.0;
        for (index, &(text, style)) in self.entries.iter().enumerate() {
            let x = left + self.pitch * (index % self.columns) as f64;
            let y = PANELS_HEIGHT + ROW * ((index / self.columns) as f64 + 0.5);
            draw_swatch(canvas, (x, y), style)?;
            let start = (x + LINE + 6.0, y + 0.36 * self.font.size);
            canvas.text(text, start, self.font, self.pitch - LINE - 6.0)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Series;
    use super::*;

    #[test]
    fn the_lines_of_a_colour_share_a_row_of_the_legend() {
        let series = |at: usize| Series {
            label: format!("the algorithm {}, line {}", at / 2, at % 2),
            style: Style::of_line(at / 2, at % 2),
            points: Vec::new(),
        };
        let panels = [Panel { title: String::new(), series: (0..10).map(series).collect() }];
        for room in [418.0, 838.0, 1000.0, 1200.0, 3000.0] {
            let columns = Legend::new(&panels, room).columns;
            assert!(columns.is_multiple_of(2) && columns <= 10, "{columns} columns in {room}");
        }
        assert_eq!(Legend::new(&[], 418.0).columns, 1);
    }
}

//! BonnMotion movements in two dimensions: a line for each node, with a time, x and y for each of its way points.
//! ```text
//! # comments, and empty lines, are skipped
//! 0.0 5.4 6.2 10.0 8.1 9.9
//! 0.0 1.0 1.0 4.0 1.0 1.0 9.0 3.0 5.0
//! ```

use std::fmt::Write;
use std::io::BufRead;

use super::TraceError;
use super::lines::{Lines, point, time};
use crate::mobility::tracks::{Track, Tracks, Waypoint};

const FLATTEN: &str = "if way points have a z, convert the trace to two dimensions first";

/// Reads a trace. The first line is node 0.
pub fn read(name: &str, reader: impl BufRead) -> Result<Tracks, TraceError> {
    let mut lines = Lines::new(name, reader);
    let mut tracks = Vec::new();
    lines.each(|line| {
        let line = line.trim();
        if !line.is_empty() && !line.starts_with('#') {
            tracks.push(track(tracks.len(), line)?);
        }
        Ok(())
    })?;
    lines.tracks(tracks)
}

fn track(node: usize, line: &str) -> Result<Track, String> {
    let mut points = Vec::<Waypoint>::new();
    let mut words = line.split_whitespace();
    while let Some(at) = words.next() {
        let (Some(x), Some(y)) = (words.next(), words.next()) else {
            return Err(format!(
                "every way point needs three numbers, time x y, and the last one here has fewer; {FLATTEN}"
            ));
        };
        let next = Waypoint { at: time(at)?, point: point(x, y)? };
        if points.last().is_some_and(|last| last.at > next.at) {
            let last = points[points.len() - 1].at.units();
            return Err(format!("the times of a node must not go back, but {at} comes after {last}; {FLATTEN}"));
        }
        points.push(next);
    }
    Track::always(node.to_string(), points).map_err(|error| error.to_string())
}

/// Writes a trace.
pub fn write(tracks: &Tracks) -> String {
    let mut text = String::new();
    for track in tracks {
        let mut gap = "";
        for Waypoint { at, point } in track.without_absence() {
            write!(text, "{gap}{} {} {}", at.units(), point.x, point.y).expect("a String takes all that is written");
            gap = " ";
        }
        text.push('\n');
    }
    text
}

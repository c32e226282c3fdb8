//! BonnMotion movements: a line for each node, with a time, x and y for each of its way points.
//! ```text
//! # comments, and empty lines, are skipped
//! 0.0 5.4 6.2 10.0 8.1 9.9
//! 0.0 1.0 1.0 4.0 1.0 1.0 9.0 3.0 5.0
//! ```
//! Where the line `#3D` comes before them, way points have a z as well. It is left out: nodes move on a plane.

use std::fmt::Write;
use std::io::BufRead;

use super::TraceError;
use super::lines::{Lines, coordinate, point, time};
use crate::mobility::tracks::{Track, Tracks, Waypoint};

/// What BonnMotion puts in front of way points with a z.
pub(super) const THREE_DIMENSIONS: &str = "#3D";
const HINT: &str = "if way points have a z here, put the line #3D in front of all";
const TABLE: &str = ", and if this is a table a line that names its columns, such as time id x y";

/// Reads a trace. The first line is node 0.
pub fn read(name: &str, reader: impl BufRead) -> Result<Tracks, TraceError> {
    let mut lines = Lines::new(name, reader);
    let (mut tracks, mut has_z) = (Vec::new(), false);
    lines.each(|line| {
        let line = line.trim();
        if line.starts_with('#') {
            has_z |= is_of_three_dimensions(line);
        } else if !line.is_empty() {
            tracks.push(track(tracks.len(), line, has_z)?);
        }
        Ok(())
    })?;
    lines.tracks(tracks)
}

/// Whether a comment says that way points have a z.
pub(super) fn is_of_three_dimensions(comment: &str) -> bool {
    comment.eq_ignore_ascii_case(THREE_DIMENSIONS)
}

fn track(node: usize, line: &str, has_z: bool) -> Result<Track, String> {
    let needed = if has_z { "four numbers, time x y z," } else { "three numbers, time x y," };
    let (hint, table) = if has_z { ("the line #3D above says that way points have a z", "") } else { (HINT, TABLE) };
    let mut points = Vec::<Waypoint>::new();
    let mut words = line.split_whitespace();
    while let Some(at) = words.next() {
        let (x, y) = (words.next(), words.next());
        let z = if has_z { words.next() } else { Some("0") };
        let (Some(x), Some(y), Some(z)) = (x, y, z) else {
            return Err(format!("every way point needs {needed} and the last one here has fewer; {hint}{table}"));
        };
        coordinate(z, "z")?;
        let next = Waypoint { at: time(at)?, point: point(x, y)? };
        if points.last().is_some_and(|last| last.at > next.at) {
            let last = points[points.len() - 1].at.units();
            return Err(format!("the times of a node must not go back, but {at} comes after {last}; {hint}"));
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

//! Floating car data of SUMO as a table: what its xml2csv makes of the XML file, or SUMO itself writes since 1.24.
//! ```text
//! timestep_time;vehicle_angle;vehicle_id;vehicle_x;vehicle_y
//! 0.00;90.00;car0;5.10;498.35
//! 1.00;90.00;car0;7.02;498.35
//! ```
//! Columns may come in any order, and others than these are skipped. A line without a vehicle (or person) is a time
//! step at which nobody is seen.

use std::io::BufRead;

use super::TraceError;
use super::lines::{Lines, point, time};
use super::sightings::Sightings;
use crate::mobility::tracks::Tracks;

const SEPARATOR: char = ';';

/// Where the table has what we need.
struct Columns {
    time: usize,
    /// Name, x and y of a vehicle, and of a person, as far as there are such columns.
    subjects: Vec<[usize; 3]>,
}

/// Reads a trace. Nodes are numbered in the order in which they appear.
pub fn read(name: &str, reader: impl BufRead) -> Result<Tracks, TraceError> {
    let mut lines = Lines::new(name, reader);
    let (mut columns, mut sightings) = (None, Sightings::default());
    lines.each(|line| {
        let line = line.trim_end_matches(['\r', '\n']);
        match &columns {
            _ if line.trim().is_empty() => {}
            None => columns = Some(columns_of(line)?),
            Some(columns) => take(line, columns, &mut sightings)?,
        }
        Ok(())
    })?;
    let tracks = sightings.tracks().map_err(|error| lines.error(error.to_string()))?;
    lines.tracks(tracks)
}

fn columns_of(header: &str) -> Result<Columns, String> {
    let column = |names: &[&str]| header.split(SEPARATOR).position(|cell| names.contains(&bare(cell)));
    let subject = |names: [&[&str]; 3]| Some([column(names[0])?, column(names[1])?, column(names[2])?]);
    let vehicle = subject([&["vehicle_id", "id"], &["vehicle_x", "x"], &["vehicle_y", "y"]]);
    let person = subject([&["person_id"], &["person_x"], &["person_y"]]);
    let subjects: Vec<_> = [vehicle, person].into_iter().flatten().collect();
    match column(&["timestep_time", "time"]) {
        Some(time) if !subjects.is_empty() => Ok(Columns { time, subjects }),
        _ => Err("the first line must name the columns, separated by `;`, among them timestep_time, vehicle_id, \
                  vehicle_x and vehicle_y"
            .into()),
    }
}

fn take(line: &str, columns: &Columns, sightings: &mut Sightings) -> Result<(), String> {
    let cells: Vec<&str> = line.split(SEPARATOR).map(bare).collect();
    // Trailing empty cells may be left out.
    let cell = |column: usize| cells.get(column).copied().unwrap_or_default();
    sightings.step(time(cell(columns.time))?)?;
    for &[name, x, y] in &columns.subjects {
        if !cell(name).is_empty() {
            sightings.seen(cell(name), point(cell(x), cell(y))?)?;
        }
    }
    Ok(())
}

/// Without blanks and quotes around it.
fn bare(cell: &str) -> &str {
    let cell = cell.trim();
    cell.strip_prefix('"').and_then(|cell| cell.strip_suffix('"')).unwrap_or(cell)
}

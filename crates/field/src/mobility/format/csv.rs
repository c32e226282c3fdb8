//! Sightings as a table, whose first line names its columns.
//! ```text
//! time,id,x,y
//! 0,car0,5.10,498.35
//! 1,car0,7.02,498.35
//! ```
//! Columns may come in any order, separated by commas, semicolons, tabs or blanks, or by what a line `sep=;` in front
//! says. Other names that mean the same will do (`timestamp`, `vehicle_id`, `pos_x`, ...), and all other columns are
//! skipped. With `lon` and `lat` instead of x and y places are projected. Two columns that could be the same thing are
//! refused. Rows may come in any order.
//!
//! Where nodes are seen at the same times, as a simulator writes it, these are time steps, and a node that is not seen
//! at one of them is absent. Where each has times of its own, as of GPS, nodes are always there. Tables of SUMO
//! (`timestep_time`, from its xml2csv or of SUMO itself since 1.24) always have time steps; they are in order, and a
//! line without a vehicle or person is one at which no node is seen.
//!
//! Times are seconds, hours and minutes (`0:01:05`), or dates. Dates, and seconds since 1970, are counted from the
//! first.

use std::collections::BTreeMap;
use std::io::BufRead;

use crate::plane::Point;
use driftlock_net::Time;

use super::TraceError;
use super::clock::{date, moment};
use super::geographic;
use super::lines::{Lines, Refusal, point, shown};
use super::sightings::Sightings;
use crate::mobility::tracks::{Track, TrackError, Tracks, Waypoint};

/// What is counted from 1970 and not from the start of a simulation: three years and more, in seconds.
const OF_THE_CALENDAR: f64 = 1e8;

/// The separators, from the one that is least likely to stand in a name.
const SEPARATORS: [char; 4] = [';', '\t', ',', ' '];

/// What spreadsheets put on a line of its own, in front of the separator.
const DECLARATION: &str = "sep=";

/// What columns are called, in small letters and with `_` for blanks.
const TIME: &[&str] =
    &["time", "t", "timestamp", "time_s", "time_sec", "seconds", "sec", "sim_time", "simtime", "datetime", "date_time"];
const STEP: &[&str] = &["timestep_time"];
const NAME: &[&str] = &[
    "vehicle_id",
    "id",
    "node",
    "node_id",
    "nodeid",
    "vehicle",
    "vehicleid",
    "veh_id",
    "vehid",
    "veh",
    "vid",
    "car",
    "car_id",
    "agent",
    "agent_id",
    "track_id",
    "trackid",
    "object_id",
    "device_id",
    "user_id",
    "taxi_id",
    "bus_id",
    "ped_id",
    "name",
];
const X: &[&str] =
    &["vehicle_x", "x", "pos_x", "posx", "x_pos", "xpos", "position_x", "x_coord", "xcoord", "coord_x", "x_m"];
const Y: &[&str] =
    &["vehicle_y", "y", "pos_y", "posy", "y_pos", "ypos", "position_y", "y_coord", "ycoord", "coord_y", "y_m"];
const LONGITUDE: &[&str] = &["longitude", "lon", "lng", "long"];
const LATITUDE: &[&str] = &["latitude", "lat"];
const SPEED: &[&str] = &["vehicle_speed", "speed"];
const PERSON: [&[&str]; 4] = [&["person_id"], &["person_x"], &["person_y"], &["person_speed"]];

/// Where the table has what we need.
struct Columns {
    separator: char,
    /// How many there are.
    count: usize,
    /// Two that could be the same thing, by their names.
    rivals: Option<[String; 2]>,
    time: usize,
    /// Whether the time is that of a time step for all.
    has_steps: bool,
    subjects: Vec<Subject>,
    /// Whether places are longitudes and latitudes.
    is_geographic: bool,
    /// Whether the columns say themselves that they have metres.
    says_metres: bool,
}

/// The columns of a vehicle, or those of a person.
struct Subject {
    name: usize,
    x: usize,
    y: usize,
    speed: Option<usize>,
}

/// Reads a trace. Nodes are numbered in the order in which they appear.
pub fn read(name: &str, reader: impl BufRead) -> Result<Tracks, TraceError> {
    let mut lines = Lines::new(name, reader);
    let (mut columns, mut declared) = (None, None);
    let (mut sightings, mut table) = (Sightings::default(), Table::default());
    lines.each_numbered(|number, line| {
        let line = line.trim_end_matches(['\r', '\n']);
        let here = |reason| Refusal { line: number, reason };
        match &columns {
            _ if line.trim().is_empty() => {}
            None if line.trim_start().starts_with('#') && !is_header(line) => {}
            None if declared.is_none() && is_declaration(line) => declared = Some(declaration(line).map_err(here)?),
            None => columns = Some(header(line, declared).map_err(here)?),
            Some(columns) if columns.has_steps => take_step(line, columns, &mut sightings).map_err(here)?,
            Some(columns) => take_row(number, line, columns, &mut table).map_err(here)?,
        }
        Ok(())
    })?;
    let has_steps = columns.as_ref().is_some_and(|columns| columns.has_steps);
    let says_metres = columns.as_ref().is_some_and(|columns| columns.says_metres);
    let is_geographic = columns.is_some_and(|columns| columns.is_geographic);
    let refused = |Refusal { line, reason }| lines.error_at(line, reason);
    let tracks = if has_steps {
        if !is_geographic && !says_metres {
            sightings.check_metres(REMEDY).map_err(|reason| lines.error(reason))?;
        }
        sightings.tracks().map_err(|error| lines.error(error.to_string()))?
    } else {
        table.tracks().map_err(refused)?
    };
    let tracks = lines.tracks(tracks)?;
    if is_geographic { geographic::in_metres(tracks).map_err(|reason| lines.error(reason)) } else { Ok(tracks) }
}

/// What to do where it is not known whether places are metres.
const REMEDY: &str = "for metres write the unit behind the names of the columns, as in \"vehicle_x [m]\"; for degrees \
                      call them lon and lat";

/// Whether this is the first line of such a table, or was meant to be: if one thing is missing in it, the reader says
/// which. A comment may speak of such things without being one.
pub(super) fn is_header(line: &str) -> bool {
    let is_comment = line.trim_start().starts_with('#');
    let is_meant_to_be = || !is_comment && guess(line, None).1.missing().len() <= 1;
    is_declaration(line) || columns_of(line, None).is_some() || is_meant_to_be()
}

/// Whether a line is nothing but what spreadsheets tell one another of the separator.
fn is_declaration(line: &str) -> bool {
    declared(line).is_some_and(|separator| separator.chars().count() <= 1)
}

fn declared(line: &str) -> Option<&str> {
    let line = line.trim_matches(['"', '\r', '\n']);
    let (start, separator) = line.split_at_checked(DECLARATION.len())?;
    start.eq_ignore_ascii_case(DECLARATION).then_some(separator)
}

fn declaration(line: &str) -> Result<char, String> {
    let separator = declared(line).unwrap_or_default().chars().next();
    let is_one = |separator: &char| !separator.is_alphanumeric() && !".-+_\"".contains(*separator);
    separator.filter(is_one).ok_or_else(|| {
        format!(
            "behind {DECLARATION} stands the character that separates columns, such as {DECLARATION};, not {line:?}"
        )
    })
}

/// Where the first line says that everything is.
fn header(line: &str, separator: Option<char>) -> Result<Columns, String> {
    let columns = columns_of(line, separator).ok_or_else(|| no_columns(line, separator))?;
    match &columns.rivals {
        Some([one, other]) => Err(format!(
            "the columns {} and {} could be the same thing, and only one is read: take the other one out, or call it \
             something else",
            shown(one),
            shown(other)
        )),
        None => Ok(columns),
    }
}

/// The titles in a line, without the mark of a comment.
fn titles_in(header: &str) -> &str {
    header.trim_matches([' ', '\r', '\n']).trim_start_matches('#')
}

fn separators(declared: Option<char>) -> impl Iterator<Item = char> {
    SEPARATORS.into_iter().filter(move |_| declared.is_none()).chain(declared)
}

fn columns_of(header: &str, declared: Option<char>) -> Option<Columns> {
    separators(declared).find_map(|separator| columns_between(titles_in(header), separator))
}

fn columns_between(header: &str, separator: char) -> Option<Columns> {
    let cells = cells(header, separator);
    let titles: Vec<String> = cells.iter().map(|cell| title(cell)).collect();
    let all = |names: &[&str]| (0..titles.len()).filter(|&at| names.contains(&titles[at].as_str())).collect::<Vec<_>>();
    let column = |names: &[&str]| all(names).first().copied();
    let subject = |[name, x, y, speed]: [&[&str]; 4]| {
        Some(Subject { name: column(name)?, x: column(x)?, y: column(y)?, speed: column(speed) })
    };
    let (times, has_steps) = if column(STEP).is_some() { (STEP, true) } else { (TIME, false) };
    let time = column(times)?;
    let in_metres = [[NAME, X, Y, SPEED], PERSON];
    let is_geographic = !in_metres.into_iter().any(|names| subject(names).is_some());
    let read: Vec<_> = if is_geographic { vec![[NAME, LONGITUDE, LATITUDE, SPEED]] } else { in_metres.into() };
    let (read, subjects): (Vec<_>, Vec<_>) =
        read.into_iter().filter_map(|names| Some((names, subject(names)?))).unzip();
    let one_each = read.iter().flat_map(|[name, x, y, _]| [name, x, y]).chain([&times]);
    let rivals = one_each.map(|names| all(names)).find(|found| found.len() > 1);
    let rivals = rivals.map(|found| [cells[found[0]].clone(), cells[found[1]].clone()]);
    let says_metres =
        !is_geographic && subjects.iter().flat_map(|subject| [subject.x, subject.y]).all(|at| is_in_metres(&cells[at]));
    let count = cells.len();
    let columns = Columns { separator, count, rivals, time, has_steps, subjects, is_geographic, says_metres };
    (!columns.subjects.is_empty()).then_some(columns)
}

/// What a line names of all that is needed.
struct Named {
    cells: Vec<String>,
    titles: Vec<String>,
}

impl Named {
    fn any(&self, names: &[&[&str]]) -> bool {
        self.titles.iter().any(|title| names.iter().any(|names| names.contains(&title.as_str())))
    }

    /// What is not named, with how one such name begins.
    fn missing(&self) -> Vec<(&'static str, &'static str)> {
        let [person, person_x, person_y, _] = PERSON;
        let in_degrees = !self.any(&[X, person_x]) && !self.any(&[Y, person_y]) && self.any(&[LONGITUDE, LATITUDE]);
        let (x, y) = if in_degrees { (("lon", "lon"), ("lat", "lat")) } else { (("x", "x"), ("y", "y")) };
        let needed: [(_, &[&[&str]]); 4] = [
            (("a time in seconds", "time"), &[TIME, STEP]),
            (("an id", "id"), &[NAME, person]),
            (x, if in_degrees { &[LONGITUDE] } else { &[X, person_x] }),
            (y, if in_degrees { &[LATITUDE] } else { &[Y, person_y] }),
        ];
        needed.into_iter().filter(|(_, names)| !self.any(names)).map(|(what, _)| what).collect()
    }
}

/// The separator with which most of what is needed has a name in a line, and what has.
fn guess(line: &str, declared: Option<char>) -> (char, Named) {
    let named = |separator| {
        let cells = cells(titles_in(line), separator);
        let titles = cells.iter().map(|cell| title(cell)).collect();
        (separator, Named { cells, titles })
    };
    let by_missing = separators(declared).map(named).min_by_key(|(_, named)| named.missing().len());
    by_missing.unwrap_or_else(|| named(','))
}

fn no_columns(line: &str, declared: Option<char>) -> String {
    let (guessed, named) = guess(line, declared);
    let missing = named.missing();
    let has_some = missing.len() < 4;
    let in_line = SEPARATORS.into_iter().find(|separator| line.contains(*separator));
    let separator = if has_some { guessed } else { declared.or(in_line).unwrap_or(',') };
    let mut said = format!(
        "the first line must name the columns, among them a time in seconds, an id, and x and y in metres or \
         lon and lat (such as time{separator}id{separator}x{separator}y), not {}",
        shown(line.trim())
    );
    if has_some && !missing.is_empty() {
        let of = |&(what, begins): &(&str, &str)| {
            // A name that was meant to be it, perhaps, but has a unit that we do not read.
            match named.cells.iter().find(|cell| plain(cell).starts_with(begins)) {
                Some(other) => format!("{what} ({} is not known as one)", shown(other)),
                None => what.to_owned(),
            }
        };
        let missing: Vec<String> = missing.iter().map(of).collect();
        said += &format!("; what is missing is {}", missing.join(", and "));
    }
    said
}

/// The unit of a column, with its name in front.
fn unit(plain: &str) -> Option<(&str, &str)> {
    let (name, unit) = plain.split_once(['(', '['])?;
    Some((name.trim_end_matches('_'), unit.trim_end_matches([')', ']'])))
}

fn plain(cell: &str) -> String {
    cell.to_lowercase().replace([' ', '-'], "_")
}

/// Whether the name of a column says that it has metres.
fn is_in_metres(cell: &str) -> bool {
    let plain = plain(cell);
    unit(&plain).is_some() || matches!(plain.as_str(), "x_m" | "y_m")
}

/// What a column is called, if it has no unit or the usual one. One with another is none that we know: an x in degrees
/// is no x.
fn title(cell: &str) -> String {
    let plain = plain(cell);
    let Some((name, unit)) = unit(&plain) else { return plain };
    let is_one_of = |names: &[&[&str]]| names.iter().any(|names| names.contains(&name));
    let is_usual = match unit {
        "s" | "sec" | "seconds" => is_one_of(&[TIME, STEP]),
        "m" | "metres" | "meters" => is_one_of(&[X, Y, PERSON[1], PERSON[2]]),
        "deg" | "degrees" | "°" => is_one_of(&[LONGITUDE, LATITUDE]),
        "m/s" => is_one_of(&[SPEED, PERSON[3]]),
        _ => false,
    };
    if is_usual { name.to_owned() } else { plain }
}

/// A row of a table with time steps.
fn take_step(line: &str, columns: &Columns, sightings: &mut Sightings) -> Result<(), String> {
    let cells = row(line, columns)?;
    sightings.step(moment(needed(&cells, columns, columns.time)?)?)?;
    for subject in &columns.subjects {
        if let Some((name, place)) = seen(&cells, columns, subject)? {
            let speed = subject.speed.and_then(|speed| cell(&cells, speed).parse().ok());
            sightings.seen(name, place, speed)?;
        }
    }
    Ok(())
}

/// A row of any other table.
fn take_row(number: u64, line: &str, columns: &Columns, table: &mut Table) -> Result<(), String> {
    let cells = row(line, columns)?;
    let at = needed(&cells, columns, columns.time)?;
    let at = if at.contains('-') && at.contains(':') { date(at)? } else { moment(at)? };
    let mut is_of_somebody = false;
    for subject in &columns.subjects {
        if let Some((name, point)) = seen(&cells, columns, subject)? {
            table.push(number, name, Waypoint { at, point });
            is_of_somebody = true;
        }
    }
    if is_of_somebody { Ok(()) } else { Err(NO_ID.to_owned()) }
}

/// What is said of a row that is of no node.
const NO_ID: &str = "this row has no id, so nobody knows who was there";

/// The cells of a row. There may be no more than there are columns, but for empty ones at the end.
fn row(line: &str, columns: &Columns) -> Result<Vec<String>, String> {
    let cells = cells(line, columns.separator);
    if cells.iter().skip(columns.count).all(String::is_empty) {
        return Ok(cells);
    }
    Err(format!(
        "this row has {} fields, and the first line names {} columns; write 1.5 and not 1,5, and put a text with the \
         separator in it into quotes",
        cells.len(),
        columns.count
    ))
}

/// A cell that must be there.
fn needed<'a>(cells: &'a [String], columns: &Columns, column: usize) -> Result<&'a str, String> {
    cells.get(column).map(String::as_str).ok_or_else(|| {
        format!("too few columns: this row has {} fields, and the first line names {}", cells.len(), columns.count)
    })
}

/// Which node is seen where, if one is.
fn seen<'a>(cells: &'a [String], columns: &Columns, subject: &Subject) -> Result<Option<(&'a str, Point)>, String> {
    let [name, x, y] = [subject.name, subject.x, subject.y].map(|column| cell(cells, column));
    match (name, x, y) {
        ("", "", "") => return Ok(None),
        ("", ..) => return Err(NO_ID.to_owned()),
        _ => {}
    }
    let (x, y) = (needed(cells, columns, subject.x)?, needed(cells, columns, subject.y)?);
    let place = if columns.is_geographic { geographic::place(x, y)? } else { point(x, y)? };
    Ok(Some((name, place)))
}

/// Cells at the end that are empty may be left out.
fn cell(cells: &[String], column: usize) -> &str {
    cells.get(column).map(String::as_str).unwrap_or_default()
}

/// The cells of a line, without blanks and quotes around them. In quotes a separator is none.
fn cells(line: &str, separator: char) -> Vec<String> {
    if separator == ' ' {
        return line.split_whitespace().map(|cell| cell.trim_matches('"').to_owned()).collect();
    }
    let (mut cells, mut cell, mut is_quoted) = (Vec::new(), String::new(), false);
    for character in line.chars() {
        match character {
            '"' => is_quoted = !is_quoted,
            _ if character == separator && !is_quoted => cells.push(std::mem::take(&mut cell).trim().to_owned()),
            _ => cell.push(character),
        }
    }
    cells.push(cell.trim().to_owned());
    cells
}

/// Rows in the order of the file.
#[derive(Default)]
struct Table {
    rows: Vec<Row>,
    names: Vec<String>,
    numbers: BTreeMap<String, usize>,
}

#[derive(Clone, Copy)]
struct Row {
    node: usize,
    waypoint: Waypoint,
    line: u64,
}

impl Table {
    fn push(&mut self, line: u64, name: &str, waypoint: Waypoint) {
        let node = self.numbers.get(name).copied().unwrap_or_else(|| {
            self.numbers.insert(name.to_owned(), self.names.len());
            self.names.push(name.to_owned());
            self.names.len() - 1
        });
        self.rows.push(Row { node, waypoint, line });
    }

    fn tracks(mut self) -> Result<Vec<Track>, Refusal> {
        self.rows.sort_by_key(|row| row.waypoint.at);
        self.count_from_the_first();
        self.drop_repetitions()?;
        let tracks = if self.has_steps() { self.in_steps() } else { self.always() };
        tracks.map_err(|error| Refusal { line: 1, reason: error.to_string() })
    }

    /// Times of the calendar begin with the first one.
    fn count_from_the_first(&mut self) {
        let start = self.rows.first().map(|row| row.waypoint.at).unwrap_or_default();
        if start >= Time::from_units(OF_THE_CALENDAR) {
            for row in &mut self.rows {
                row.waypoint.at = Time::ZERO + (row.waypoint.at - start);
            }
        }
    }

    /// What is said twice counts once; no node is at two places at the same time.
    fn drop_repetitions(&mut self) -> Result<(), Refusal> {
        let mut latest: Vec<Option<Waypoint>> = vec![None; self.names.len()];
        let mut twice: Option<Refusal> = None;
        let names = &self.names;
        self.rows.retain(|&Row { node, waypoint, line }| {
            let before = latest[node].replace(waypoint).filter(|before| before.at == waypoint.at);
            if before.is_some_and(|before| before.point != waypoint.point) {
                let reason =
                    format!("{} is at two places at the same time, here and in another row", shown(&names[node]));
                // Rows are in the order of time; people read from the first line.
                if twice.as_ref().is_none_or(|first| line < first.line) {
                    twice = Some(Refusal { line, reason });
                }
            }
            before.is_none()
        });
        twice.map_or(Ok(()), Err)
    }

    /// Whether the times are time steps: most sightings of a node are at the time that comes next for all.
    fn has_steps(&self) -> bool {
        let (mut step, mut now) = (0_u64, None);
        let mut latest: Vec<Option<u64>> = vec![None; self.names.len()];
        let (mut pairs, mut successive) = (0_u64, 0_u64);
        for Row { node, waypoint, .. } in &self.rows {
            if now.replace(waypoint.at).is_some_and(|now| now < waypoint.at) {
                step += 1;
            }
            if let Some(before) = latest[*node].replace(step) {
                pairs += 1;
                successive += u64::from(before + 1 == step);
            }
        }
        pairs > 0 && successive * 2 >= pairs
    }

    fn in_steps(self) -> Result<Vec<Track>, TrackError> {
        let mut sightings = Sightings::default();
        for Row { node, waypoint, .. } in &self.rows {
            let seen =
                sightings.step(waypoint.at).and_then(|()| sightings.seen(&self.names[*node], waypoint.point, None));
            debug_assert_eq!(seen, Ok(()), "rows are in order, and nobody is in two of the same time");
        }
        let mut tracks = sightings.tracks()?;
        tracks.sort_by_key(|track| self.numbers[track.name()]);
        Ok(tracks)
    }

    fn always(self) -> Result<Vec<Track>, TrackError> {
        let mut points: Vec<Vec<Waypoint>> = vec![Vec::new(); self.names.len()];
        for Row { node, waypoint, .. } in self.rows {
            points[node].push(waypoint);
        }
        self.names.into_iter().zip(points).map(|(name, points)| Track::always(name, points)).collect()
    }
}

//! The external movement of the ONE: a header with the least and the greatest time and coordinates, and a line for
//! every sighting.
//! ```text
//! 0 100 0 1000 0 1000 0 0
//! 0 a 10.0 20.0
//! 5 a 30.0 20.0
//! ```
//! As the ONE does, times are counted from the least time, and places from the least coordinates. Lines are in the
//! order of time. A node is always there: it stands at its first place before, and at its last after.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::io::BufRead;

use crate::plane::Point;
use driftlock_net::{Span, Time};

use super::TraceError;
use super::lines::{Lines, number, point, shown, since};
use crate::mobility::movement::Movement;
use crate::mobility::tracks::{Track, Tracks, Waypoint};

/// What the header says.
struct Origin {
    time: f64,
    point: Point,
}

/// Reads a trace. Nodes are numbered in the order in which they appear.
pub fn read(name: &str, reader: impl BufRead) -> Result<Tracks, TraceError> {
    let mut lines = Lines::new(name, reader);
    let mut origin = None;
    let mut sightings = Sightings::default();
    lines.each(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        match (&origin, words.as_slice()) {
            (_, []) => {}
            (_, [first, ..]) if first.starts_with('#') => {}
            (None, header) => origin = Some(header_of(header)?),
            (Some(origin), words) => sightings.take(origin, words)?,
        }
        Ok(())
    })?;
    let tracks: Result<Vec<_>, _> =
        sightings.nodes.into_iter().map(|(name, points)| Track::always(name, points)).collect();
    lines.tracks(tracks.map_err(|error| lines.error(error.to_string()))?)
}

fn header_of(words: &[&str]) -> Result<Origin, String> {
    const EXPECTED: &str =
        "the first line must be `minTime maxTime minX maxX minY maxY minZ maxZ`, in numbers (Z may be left out)";
    if !matches!(words.len(), 6 | 8) {
        return Err(format!("{EXPECTED}, not {} words", words.len()));
    }
    let numbers: Result<Vec<f64>, _> = words.iter().map(|word| number(word, "each of them")).collect();
    let numbers = numbers.map_err(|reason| format!("{EXPECTED}: {reason}"))?;
    let (pairs, _) = numbers.as_chunks();
    if let Some([least, greatest]) = pairs.iter().find(|[least, greatest]| least > greatest) {
        return Err(format!("{EXPECTED}, but there {least} is the least and {greatest} the greatest"));
    }
    Ok(Origin { time: numbers[0], point: point(words[2], words[4])? })
}

/// The nodes seen so far.
#[derive(Default)]
struct Sightings {
    nodes: Vec<(String, Vec<Waypoint>)>,
    numbers: BTreeMap<String, usize>,
    now: Time,
}

impl Sightings {
    fn take(&mut self, origin: &Origin, words: &[&str]) -> Result<(), String> {
        let ([at, name, x, y] | [at, name, x, y, _]) = words else {
            return Err(format!("expected `time id x y` or `time id x y z`, not {} words", words.len()));
        };
        let (seen, place) = (since(at, origin.time)?, point(x, y)?);
        if seen < self.now {
            return Err(format!(
                "times must not go back, but {} is before the line above; sort the lines by time",
                shown(at)
            ));
        }
        self.now = seen;
        let number = *self.numbers.entry((*name).to_owned()).or_insert_with(|| {
            self.nodes.push(((*name).to_owned(), Vec::new()));
            self.nodes.len() - 1
        });
        let point = Point { x: place.x - origin.point.x, y: place.y - origin.point.y };
        self.nodes[number].1.push(Waypoint { at: seen, point });
        Ok(())
    }
}

/// Writes a trace: the place of every node at every step, since the ONE takes what comes next for a node to be a step
/// later. Between steps the way is straight. The least coordinates are 0 unless there are negative ones, so that a
/// place keeps its numbers where it can.
pub fn write(tracks: &Tracks, step: Span) -> String {
    let (low, high) = tracks.bounds();
    let last = last_step(tracks, step);
    let mut text =
        format!("0 {} {} {} {} {} 0 0\n", (step * last).units(), low.x.min(0.0), high.x, low.y.min(0.0), high.y);
    let mut movement = Movement::from_tracks(tracks.clone());
    for at in (0..=last).map(|number| Time::ZERO + step * number) {
        movement.advance(at);
        for node in movement.nodes() {
            let Point { x, y } = movement.position(node, at);
            writeln!(text, "{} {} {x} {y}", at.units(), node.index()).expect("a String takes all that is written");
        }
    }
    text
}

/// How many lines [`write()`] makes.
pub fn samples(tracks: &Tracks, step: Span) -> u64 {
    (last_step(tracks, step) + 1).saturating_mul(tracks.len() as u64)
}

/// The first step at which all nodes have arrived. There are two at least, since their distance tells the ONE what a
/// step is.
fn last_step(tracks: &Tracks, step: Span) -> u64 {
    tracks.last().0.div_ceil(step.0.max(1)).max(1)
}

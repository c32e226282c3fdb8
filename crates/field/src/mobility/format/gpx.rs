//! GPX, as receivers of GPS and telephones write it: a node for each track.
//! ```text
//! <gpx><trk><name>Ann</name><trkseg>
//!   <trkpt lat="48.2082" lon="16.3738"><time>2009-10-17T18:37:26Z</time></trkpt>
//!   <trkpt lat="48.2083" lon="16.3740"><time>2009-10-17T18:37:31Z</time></trkpt>
//! </trkseg></trk></gpx>
//! ```
//! Times are counted from the first of all, and places are projected. A segment ends where the receiver was off or
//! heard nothing: the node is absent from there to the next one of its track. Before its first point and after its last
//! it stands. Routes and single points say where to go and not when, and are skipped.

use std::io::BufRead;

use crate::plane::Point;
use driftlock_net::Time;
use quick_xml::events::BytesStart;

use super::TraceError;
use super::clock::date;
use super::geographic;
use super::lines::Lines;
use super::xml::{self, Node, attribute};
use crate::mobility::tracks::{Track, TrackError, Tracks, Visit, Waypoint};

/// Reads a trace. Nodes are numbered in the order in which they appear.
pub fn read(name: &str, reader: impl BufRead) -> Result<Tracks, TraceError> {
    let mut gpx = Gpx::default();
    let (lines, _) = xml::each(Lines::new(name, reader), |node| match node {
        Node::Open(element) => gpx.open(element),
        Node::Close => gpx.close(),
        Node::Text(text) => {
            gpx.text(text);
            Ok(())
        }
        Node::Comment(_) => Ok(()),
    })?;
    let start = gpx.recordings.iter().filter_map(Recording::first).min().unwrap_or_default();
    let recordings = gpx.recordings.into_iter().filter(|recording| recording.first().is_some());
    let tracks: Result<Vec<_>, _> = (1..).zip(recordings).map(|(number, one)| one.track(number, start)).collect();
    let tracks = tracks.map_err(|error| lines.error(error.to_string()))?;
    if tracks.is_empty() {
        let reason = "there is no <trk> with points in this file; routes and single points say where to go, not when";
        return Err(lines.error(reason.into()));
    }
    geographic::in_metres(Tracks::new(tracks)).map_err(|reason| lines.error(reason))
}

/// What has been read.
#[derive(Default)]
struct Gpx {
    /// The elements that are open, from the outermost.
    open: Vec<String>,
    recordings: Vec<Recording>,
    /// Where and when the present point is.
    place: Point,
    time: String,
}

/// A track of the file.
#[derive(Default)]
struct Recording {
    name: String,
    /// Times are since 1970, and places in degrees.
    segments: Vec<Vec<Waypoint>>,
}

impl Gpx {
    fn open(&mut self, element: &BytesStart<'_>) -> Result<(), String> {
        let name = xml::name(element);
        match name {
            "trk" => self.recordings.push(Recording::default()),
            "trkseg" => self.recording()?.segments.push(Vec::new()),
            "trkpt" => {
                self.place = geographic::place(&attribute(element, "lon")?, &attribute(element, "lat")?)?;
                self.time.clear();
            }
            _ => {}
        }
        self.open.push(name.to_owned());
        Ok(())
    }

    fn text(&mut self, text: &str) {
        match self.open.as_slice() {
            [.., of, what] if of == "trkpt" && what == "time" => self.time.push_str(text),
            [.., of, what] if of == "trk" && what == "name" => {
                if let Some(recording) = self.recordings.last_mut() {
                    recording.name.push_str(text);
                }
            }
            _ => {}
        }
    }

    fn close(&mut self) -> Result<(), String> {
        if self.open.pop().is_some_and(|name| name == "trkpt") {
            if self.time.trim().is_empty() {
                return Err("this <trkpt> has no <time>, so nobody knows when the node was there".into());
            }
            let next = Waypoint { at: date(&self.time)?, point: self.place };
            self.recording()?.push(next)?;
        }
        Ok(())
    }

    fn recording(&mut self) -> Result<&mut Recording, String> {
        self.recordings.last_mut().ok_or_else(|| "this stands outside of all <trk>".to_owned())
    }
}

impl Recording {
    fn push(&mut self, next: Waypoint) -> Result<(), String> {
        if self.segments.iter().flatten().next_back().is_some_and(|last| last.at > next.at) {
            return Err("the times of a track must not go back, but this point is before the one above".into());
        }
        let segment = self.segments.last_mut().ok_or("this <trkpt> stands outside of all <trkseg>")?;
        segment.push(next);
        Ok(())
    }

    /// When it begins, if it has a point.
    fn first(&self) -> Option<Time> {
        self.segments.iter().flatten().next().map(|waypoint| waypoint.at)
    }

    /// The track with its times counted from a start. Without a name it is called by its number.
    fn track(self, number: usize, start: Time) -> Result<Track, TrackError> {
        let segments: Vec<_> = self.segments.into_iter().filter(|segment| !segment.is_empty()).collect();
        let (mut visits, last) = (Vec::new(), segments.len() - 1);
        for (place, segment) in segments.into_iter().enumerate() {
            let from_start = |Waypoint { at, point }| Waypoint { at: Time::ZERO + (at - start), point };
            let points: Vec<_> = segment.into_iter().map(from_start).collect();
            let from = if place == 0 { Time::ZERO } else { points[0].at };
            let until = if place == last { Time::END } else { points[points.len() - 1].at };
            // One that is over at once is none.
            if from < until {
                visits.push(Visit::new(from, until, points)?);
            }
        }
        let name = self.name.trim();
        Track::new(if name.is_empty() { number.to_string() } else { name.to_owned() }, visits)
    }
}

//! Where nodes were, as a file says: way points with times, and straight lines between them.

use crate::plane::Point;
use driftlock_net::Time;
use driftlock_protocol::NodeId;
use thiserror::Error;

use super::model::FAR;
use super::movement::{Movement, Step};

/// A place and when the node is there. Two of them at the same time are a jump.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Waypoint {
    /// When.
    pub at: Time,
    /// Where.
    pub point: Point,
}

/// A time during which a node is there. It stands at the first way point until its time has come, and at the last one
/// until it goes.
#[derive(Clone, PartialEq, Debug)]
pub struct Visit {
    from: Time,
    until: Time,
    points: Vec<Waypoint>,
}

/// The movement of one node.
#[derive(Clone, PartialEq, Debug)]
pub struct Track {
    name: String,
    visits: Vec<Visit>,
}

/// The movement of all nodes, in the order of their numbers.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Tracks(Vec<Track>);

/// Why something is no track.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum TrackError {
    /// Nowhere.
    #[error("a track needs at least one stay, and a stay one way point")]
    Empty,
    /// Times go back.
    #[error("the times of a track must not go back, and a stay must not be over before it begins")]
    OutOfOrder,
    /// A place that is none.
    #[error("coordinates must be numbers of at most {FAR} metres from the origin")]
    NoPlace,
}

/// Whether a coordinate is that of a place.
pub(super) fn is_place(coordinate: f64) -> bool {
    coordinate.abs() <= FAR
}

impl Visit {
    /// Way points in the order of their times, all of them during the visit.
    pub fn new(from: Time, until: Time, points: Vec<Waypoint>) -> Result<Self, TrackError> {
        let (Some(first), Some(last)) = (points.first(), points.last()) else { return Err(TrackError::Empty) };
        if from >= until || first.at < from || last.at > until || !points.is_sorted_by_key(|waypoint| waypoint.at) {
            return Err(TrackError::OutOfOrder);
        }
        if !points.iter().all(|Waypoint { point, .. }| is_place(point.x) && is_place(point.y)) {
            return Err(TrackError::NoPlace);
        }
        Ok(Self { from, until, points })
    }

    /// When the node appears.
    pub fn from(&self) -> Time {
        self.from
    }

    /// When it is gone; [`Time::END`] if never.
    pub fn until(&self) -> Time {
        self.until
    }

    /// At least one.
    pub fn points(&self) -> &[Waypoint] {
        &self.points
    }
}

impl Track {
    /// Visits in the order of their times; between them the node is absent.
    pub fn new(name: impl Into<String>, visits: Vec<Visit>) -> Result<Self, TrackError> {
        if visits.is_empty() {
            return Err(TrackError::Empty);
        }
        let in_order = visits.is_sorted_by(|former, next| former.until <= next.from);
        if in_order { Ok(Self { name: name.into(), visits }) } else { Err(TrackError::OutOfOrder) }
    }

    /// A node that is always there.
    pub fn always(name: impl Into<String>, points: Vec<Waypoint>) -> Result<Self, TrackError> {
        Self::new(name, vec![Visit::new(Time::ZERO, Time::END, points)?])
    }

    /// What the file calls the node.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// When it is there: at least once.
    pub fn visits(&self) -> &[Visit] {
        &self.visits
    }

    fn points(&self) -> impl Iterator<Item = Waypoint> {
        self.visits.iter().flat_map(|visit| visit.points.iter().copied())
    }

    /// When it leaves, whether it comes back or not.
    pub(super) fn departures(&self) -> impl Iterator<Item = Time> {
        self.visits.iter().map(Visit::until).filter(|&until| until < Time::END)
    }

    /// Whether it is at one place only.
    fn stands(&self) -> bool {
        self.points().all(|waypoint| waypoint.point == self.visits[0].points[0].point)
    }

    /// The way points as if the node were always there: while it is absent it stands where it will appear.
    pub(super) fn without_absence(&self) -> Vec<Waypoint> {
        let mut points: Vec<Waypoint> = Vec::new();
        let mut gone = Time::ZERO;
        for visit in &self.visits {
            points.extend(points.last().map(|last| Waypoint { at: gone, ..*last }));
            points.push(Waypoint { at: gone, ..visit.points[0] });
            points.extend_from_slice(&visit.points);
            gone = visit.until;
        }
        points.dedup();
        points
    }
}

impl Tracks {
    /// One for each node.
    pub fn new(tracks: Vec<Track>) -> Self {
        Self(tracks)
    }

    /// What nodes do from the start to a time, after which they stand. A node that is never there is left out.
    pub fn record(mut movement: Movement, until: Time) -> Self {
        let mut recorders: Vec<Recorder> = movement.nodes().map(|_| Recorder::default()).collect();
        let mut note = |movement: &Movement, node: NodeId, at: Time| {
            let recorder = &mut recorders[node.index()];
            if movement.is_present(node) { recorder.note(at, movement.position(node, at)) } else { recorder.close(at) }
        };
        for node in movement.nodes() {
            note(&movement, node, Time::ZERO);
        }
        while let Some((at, node)) = movement.next_turn().filter(|(at, _)| *at < until) {
            note(&movement, node, at);
            movement.turn(node);
            note(&movement, node, at);
        }
        for node in movement.nodes() {
            note(&movement, node, until);
        }
        let named = movement.nodes().zip(recorders);
        Self(named.filter_map(|(node, recorder)| recorder.finish(node.to_string())).collect())
    }

    /// One for each node.
    pub fn iter(&self) -> std::slice::Iter<'_, Track> {
        self.0.iter()
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The last time that any way point has.
    pub fn last(&self) -> Time {
        self.iter().flat_map(Track::points).map(|waypoint| waypoint.at).max().unwrap_or_default()
    }

    /// When the first node is there.
    pub fn begins(&self) -> Time {
        self.iter().map(|track| track.visits[0].from).min().unwrap_or_default()
    }

    /// When the last way point is reached, or the last node leaves: from then on every node stands for ever. Where none
    /// ever moves or leaves there is no such time: that is a placement.
    pub fn ends(&self) -> Option<Time> {
        let departures = self.iter().flat_map(Track::departures).max();
        let is_placement = departures.is_none() && self.iter().all(Track::stands);
        (!is_placement).then(|| self.last().max(departures.unwrap_or_default())).filter(|&end| end > Time::ZERO)
    }

    /// How many nodes are absent at some time.
    pub fn absent(&self) -> usize {
        self.iter().filter(|track| track.visits[0].from > Time::ZERO || track.departures().next().is_some()).count()
    }

    /// The corners of the smallest rectangle that holds all way points.
    pub fn bounds(&self) -> (Point, Point) {
        let mut points = self.iter().flat_map(Track::points).map(|waypoint| waypoint.point);
        let Some(first) = points.next() else { return (Point::default(), Point::default()) };
        points.fold((first, first), |(low, high), point| {
            let low = Point { x: low.x.min(point.x), y: low.y.min(point.y) };
            (low, Point { x: high.x.max(point.x), y: high.y.max(point.y) })
        })
    }

    /// The same with every place put elsewhere, which must be a place too.
    #[must_use]
    pub(super) fn map_points(mut self, put: impl Fn(Point) -> Point) -> Self {
        let visits = self.0.iter_mut().flat_map(|track| &mut track.visits);
        for waypoint in visits.flat_map(|visit| &mut visit.points) {
            waypoint.point = put(waypoint.point);
            debug_assert!(is_place(waypoint.point.x) && is_place(waypoint.point.y), "{waypoint:?}");
        }
        self
    }

    pub(super) fn into_walks(self) -> impl Iterator<Item = (Point, Walk)> {
        self.0.into_iter().map(|track| (track.visits[0].points[0].point, Walk { track, visit: 0, next: 0 }))
    }
}

impl<'a> IntoIterator for &'a Tracks {
    type Item = &'a Track;
    type IntoIter = std::slice::Iter<'a, Track>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// A node that follows its track.
#[derive(Clone, Debug)]
pub(super) struct Walk {
    track: Track,
    /// The first visit that is not over.
    visit: usize,
    /// The first way point of it that is still to come.
    next: usize,
}

impl Walk {
    pub(super) fn next(&mut self, mut here: Point, at: Time) -> Step {
        while self.track.visits.get(self.visit).is_some_and(|visit| visit.until <= at) {
            (self.visit, self.next) = (self.visit + 1, 0);
        }
        let Some(visit) = self.track.visits.get(self.visit) else {
            return Step { from: here, to: here, until: Time::END, is_present: false };
        };
        if at < visit.from {
            let appears = visit.points[0].point;
            return Step { from: appears, to: appears, until: visit.from, is_present: false };
        }
        while let Some(passed) = visit.points.get(self.next).filter(|waypoint| waypoint.at <= at) {
            (here, self.next) = (passed.point, self.next + 1);
        }
        match visit.points.get(self.next) {
            Some(waypoint) => Step { from: here, to: waypoint.point, until: waypoint.at, is_present: true },
            None => Step { from: here, to: here, until: visit.until, is_present: true },
        }
    }
}

/// Writes down where one node is.
#[derive(Default)]
struct Recorder {
    visits: Vec<Visit>,
    /// Since when the node is there, if it is, and where it has been since then.
    visit: Option<(Time, Vec<Waypoint>)>,
}

impl Recorder {
    /// The node is here.
    fn note(&mut self, at: Time, point: Point) {
        let (_, points) = self.visit.get_or_insert_with(|| (at, Vec::new()));
        let waypoint = Waypoint { at, point };
        if points.last() != Some(&waypoint) {
            points.push(waypoint);
        }
    }

    /// It is gone.
    fn close(&mut self, at: Time) {
        if let Some((since, points)) = self.visit.take() {
            self.visits.extend(Visit::new(since, at, points));
        }
    }

    /// None if it was never there.
    fn finish(mut self, name: String) -> Option<Track> {
        self.close(Time::END);
        Track::new(name, self.visits).ok()
    }
}

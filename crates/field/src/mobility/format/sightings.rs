//! Who is seen where at each time step; who is not seen is not there.

use std::collections::BTreeMap;

use driftlock_net::Time;
use driftlock_net::neighbourhood::Point;

use super::lines::shown;
use crate::mobility::tracks::{Stay, Track, TrackError, Waypoint};

/// The traffic so far.
#[derive(Default)]
pub(super) struct Sightings {
    /// All time steps, also those at which nobody is seen.
    steps: Vec<Time>,
    nodes: Vec<Seen>,
    numbers: BTreeMap<String, usize>,
    told: Told,
}

/// How far nodes have gone.
#[derive(Clone, Copy, Default)]
struct Told {
    by_speeds: f64,
    by_places: f64,
    /// As far as no speeds are known.
    without_speeds: f64,
}

/// What is known of one node.
struct Seen {
    name: String,
    stays: Vec<Stay>,
    /// The present stay: at which time steps, from the first to the last, one after the other.
    steps: (usize, usize),
    points: Vec<Waypoint>,
}

impl Sightings {
    /// The next time step, or the same once more.
    pub(super) fn step(&mut self, at: Time) -> Result<(), String> {
        match self.steps.last() {
            Some(last) if *last > at => {
                Err(format!("time steps must not go back, but {} s comes after {} s", at.units(), last.units()))
            }
            Some(last) if *last == at => Ok(()),
            _ => {
                self.steps.push(at);
                Ok(())
            }
        }
    }

    /// Whether nobody was seen.
    pub(super) fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Refuses places that are no metres by what is known of speeds: a degree is a hundred kilometres. Where no speed
    /// is known, traffic that keeps within a few metres is none.
    pub(super) fn check_metres(&self, remedy: &str) -> Result<(), String> {
        const NARROW: f64 = 2.0;
        let Told { by_speeds, by_places, without_speeds } = self.told;
        let Some(extent) = self.extent() else { return Ok(()) };
        let evidence = if by_speeds > 10.0 && by_places * 100.0 < by_speeds {
            format!("by their speeds the nodes go {by_speeds:.0} m in all, and by their places {by_places:.3}")
        } else if by_speeds <= 0.0 && without_speeds > 0.0 && extent < NARROW {
            format!("the nodes move, and keep within {extent:.3} of one another")
        } else {
            return Ok(());
        };
        Err(format!("{evidence}: these are longitudes and latitudes, not metres; {remedy}"))
    }

    /// The longer side of the rectangle that holds all places, if all could be longitudes and latitudes.
    fn extent(&self) -> Option<f64> {
        let mut bounds: Option<(Point, Point)> = None;
        for Waypoint { point, .. } in self.nodes.iter().flat_map(Seen::points) {
            if point.x.abs() > 180.0 || point.y.abs() > 90.0 {
                return None;
            }
            let (low, high) = bounds.unwrap_or((*point, *point));
            let low = Point { x: low.x.min(point.x), y: low.y.min(point.y) };
            bounds = Some((low, Point { x: high.x.max(point.x), y: high.y.max(point.y) }));
        }
        bounds.map(|(low, high)| (high.x - low.x).max(high.y - low.y))
    }

    /// Somebody is here at the present time step, and has this speed, if it is known.
    pub(super) fn seen(&mut self, name: &str, point: Point, speed: Option<f64>) -> Result<(), String> {
        let Some(step) = self.steps.len().checked_sub(1) else {
            return Err(format!("{} is seen before the first time step", shown(name)));
        };
        let waypoint = Waypoint { at: self.steps[step], point };
        let Some(&number) = self.numbers.get(name) else {
            self.numbers.insert(name.to_owned(), self.nodes.len());
            self.nodes.push(Seen {
                name: name.to_owned(),
                stays: Vec::new(),
                steps: (step, step),
                points: vec![waypoint],
            });
            return Ok(());
        };
        let node = &mut self.nodes[number];
        if node.steps.1 == step {
            return Err(format!(
                "{} is seen twice at {} s; every name must be there once in a time step",
                shown(name),
                waypoint.at.units()
            ));
        }
        if node.steps.1 + 1 < step {
            node.close(&self.steps).map_err(|error| error.to_string())?;
            node.steps.0 = step;
        }
        if let Some(last) = node.points.last() {
            self.told.goes(speed, *last, waypoint);
        }
        node.steps.1 = step;
        node.points.push(waypoint);
        Ok(())
    }

    /// All tracks, in the order in which nodes were first seen.
    pub(super) fn tracks(self) -> Result<Vec<Track>, TrackError> {
        let Self { steps, nodes, .. } = self;
        let track = |mut node: Seen| {
            node.close(&steps)?;
            Track::new(node.name, node.stays)
        };
        nodes.into_iter().map(track).collect()
    }
}

impl Told {
    /// A node has gone from here to there, where it has this speed.
    fn goes(&mut self, speed: Option<f64>, from: Waypoint, to: Waypoint) {
        let distance = from.point.distance_squared(to.point).sqrt();
        match speed {
            Some(speed) => {
                self.by_speeds += speed.abs() * (to.at - from.at).units();
                self.by_places += distance;
            }
            None => self.without_speeds += distance,
        }
    }
}

impl Seen {
    fn points(&self) -> impl Iterator<Item = &Waypoint> {
        self.stays.iter().flat_map(Stay::points).chain(&self.points)
    }

    /// It is gone at the first time step at which it is not seen any more. Who is seen at the last one of all stays for
    /// ever.
    fn close(&mut self, steps: &[Time]) -> Result<(), TrackError> {
        let until = steps.get(self.steps.1 + 1).copied().unwrap_or(Time::END);
        self.stays.push(Stay::new(steps[self.steps.0], until, std::mem::take(&mut self.points))?);
        Ok(())
    }
}

//! Which nodes are seen where at each time step; a node that is not seen is not there.

use std::collections::BTreeMap;

use crate::plane::Point;
use driftlock_net::Time;

use super::lines::shown;
use crate::mobility::tracks::{Track, TrackError, Visit, Waypoint};

/// The traffic so far.
#[derive(Default)]
pub(super) struct Sightings {
    /// All time steps, also those at which no node is seen.
    steps: Vec<Time>,
    nodes: Vec<Seen>,
    numbers: BTreeMap<String, usize>,
    told: Told,
}

/// How far nodes have gone.
#[derive(Clone, Copy, Default)]
struct Told {
    /// As far as speeds are known: by them, and by places.
    by_speeds: f64,
    by_places: f64,
    /// Whatever is known: how far in metres if places are in degrees, and for how long.
    in_degrees: f64,
    time: f64,
}

/// What is known of one node.
struct Seen {
    name: String,
    visits: Vec<Visit>,
    /// The present visit: at which time steps, from the first to the last, one after the other.
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

    /// Whether no node was seen.
    pub(super) fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Refuses places that may be longitudes and latitudes, as nothing shows that they are metres: no place is outside
    /// of what degrees can be, no node goes as far as its speed says, and none goes faster, if these are degrees, than
    /// anything on a road. A degree is a hundred kilometres, so whatever moves in metres would be. How wide the places
    /// are apart tells nothing, as a country has degrees and a yard has metres. The remedy says how to mark them as
    /// either.
    pub(super) fn check_metres(&self, remedy: &str) -> Result<(), String> {
        let Told { by_speeds, by_places, .. } = self.told;
        if self.is_empty() || self.has_more_than_degrees() || self.told.has_metres() {
            return Ok(());
        }
        let evidence = if by_speeds > Told::FAR {
            format!("by their speeds the nodes go {by_speeds:.0} m in all, and by their places {by_places:.3}")
        } else {
            "all places are from -180 to 180 and from -90 to 90, and nobody moves in a way that shows what they are"
                .into()
        };
        Err(format!("{evidence}: these may be longitudes and latitudes, or metres; {remedy}"))
    }

    /// Whether there is a place that is none in degrees.
    fn has_more_than_degrees(&self) -> bool {
        let mut points = self.nodes.iter().flat_map(Seen::points).map(|waypoint| waypoint.point);
        points.any(|point| point.x.abs() > 180.0 || point.y.abs() > 90.0)
    }

    /// A node is here at the present time step, and has this speed, if it is known.
    pub(super) fn seen(&mut self, name: &str, point: Point, speed: Option<f64>) -> Result<(), String> {
        let Some(step) = self.steps.len().checked_sub(1) else {
            return Err(format!("{} is seen before the first time step", shown(name)));
        };
        let waypoint = Waypoint { at: self.steps[step], point };
        let Some(&number) = self.numbers.get(name) else {
            self.numbers.insert(name.to_owned(), self.nodes.len());
            self.nodes.push(Seen {
                name: name.to_owned(),
                visits: Vec::new(),
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
            Track::new(node.name, node.visits)
        };
        nodes.into_iter().map(track).collect()
    }
}

impl Told {
    /// What is not far may be rounded too much to tell anything, in metres.
    const FAR: f64 = 10.0;
    /// Degrees and metres are further apart than that, and speeds and places nearer.
    const APART: f64 = 100.0;
    /// A speed that nothing on a road has on average, in metres a second.
    const FAST: f64 = 1000.0;
    /// The length of a degree in metres, on a sphere.
    const DEGREE: f64 = 111_000.0;

    /// Whether places must be metres.
    fn has_metres(self) -> bool {
        if self.by_speeds > Self::FAR {
            self.by_places * Self::APART >= self.by_speeds
        } else {
            self.in_degrees > Self::FAST * self.time
        }
    }

    /// A node has gone from here to there, where it has this speed.
    fn goes(&mut self, speed: Option<f64>, from: Waypoint, to: Waypoint) {
        let seconds = (to.at - from.at).units();
        if let Some(speed) = speed {
            self.by_speeds += speed.abs() * seconds;
            self.by_places += from.point.distance_squared(to.point).sqrt();
        }
        let [east, north] = [to.point.x - from.point.x, to.point.y - from.point.y].map(f64::abs);
        // Beyond the 180th meridian longitudes begin anew, and near a pole they are short.
        let east = east.min((360.0 - east).abs()) * libm::cos(from.point.y.to_radians()).abs();
        self.in_degrees += libm::hypot(east, north) * Self::DEGREE;
        self.time += seconds;
    }
}

impl Seen {
    fn points(&self) -> impl Iterator<Item = &Waypoint> {
        self.visits.iter().flat_map(Visit::points).chain(&self.points)
    }

    /// It is gone at the first time step at which it is not seen any more. A node that is seen at the last one of all
    /// stays for ever.
    fn close(&mut self, steps: &[Time]) -> Result<(), TrackError> {
        let until = steps.get(self.steps.1 + 1).copied().unwrap_or(Time::END);
        self.visits.push(Visit::new(steps[self.steps.0], until, std::mem::take(&mut self.points))?);
        Ok(())
    }
}

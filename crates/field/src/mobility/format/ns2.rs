//! ns-2 movements, as `setdest` and many others write them.
//!
//! A Tcl script of which only these commands are understood:
//! ```text
//! $node_(0) set X_ 150.0
//! $node_(0) set Y_ 93.98
//! $ns_ at 50.0 "$node_(0) setdest 369.46 170.52 3.37"
//! ```
//! At 50 s node 0 sets out for (369.46, 170.52) at 3.37 m/s; where it arrives it stands. The next `setdest` overrides
//! one that is not over, from wherever the node is then. Speed 0 stops it. Places that are not set are 0. A `set` at a
//! time (`$ns_ at 7 "$node_(0) set X_ 1"`) is a jump. Z, comments, `$god_`, variables and what is scheduled for others
//! than nodes have no meaning here.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::io::BufRead;

use driftlock_net::Time;
use driftlock_net::neighbourhood::Point;

use super::TraceError;
use super::lines::{Lines, coordinate, number, point, shown, time};
use crate::mobility::tracks::{Track, Tracks, Waypoint};

/// What is said about one node.
#[derive(Default)]
struct Script {
    start: Point,
    /// In the order of the file, which need not be that of time: every command is scheduled for itself.
    commands: Vec<(Time, Command)>,
}

#[derive(Clone, Copy)]
enum Command {
    SetX(f64),
    SetY(f64),
    SetDest { to: Point, speed: f64 },
}

/// Reads a trace. Nodes are numbered in the order of their numbers in the file, without gaps.
pub fn read(name: &str, reader: impl BufRead) -> Result<Tracks, TraceError> {
    let mut lines = Lines::new(name, reader);
    let mut scripts = BTreeMap::<u64, Script>::new();
    lines.each(|line| take(line.trim(), &mut scripts))?;
    let tracks: Result<Vec<_>, _> =
        scripts.into_iter().map(|(node, script)| Track::always(node.to_string(), waypoints(script))).collect();
    lines.tracks(tracks.map_err(|error| lines.error(error.to_string()))?)
}

fn take(line: &str, scripts: &mut BTreeMap<u64, Script>) -> Result<(), String> {
    const EXPECTED: &str = "`$node_(0) set X_ 1.5` or `$ns_ at 2.0 \"$node_(0) setdest 3.0 4.0 1.0\"`";
    let line = line.trim_end_matches(';').trim_end();
    if line.is_empty() || line.starts_with('#') {
        return Ok(());
    }
    if line.starts_with("$node_(") {
        return take_command(None, line, scripts);
    }
    if let Some((at, command)) = scheduled(line)
        && command.starts_with("$node_(")
    {
        return take_command(Some(time(at)?), command, scripts);
    }
    let is_other = ["$god_", "$ns_ ", "$ns ", "set ", "puts "].iter().any(|other| line.starts_with(other));
    let is_movement = ["setdest", " X_", " Y_"].iter().any(|command| line.contains(command));
    if is_other && !is_movement {
        return Ok(());
    }
    Err(format!("{} is no movement; expected {EXPECTED}; put a # in front of other lines", shown(line)))
}

/// When what is to be done, if the line says that.
fn scheduled(line: &str) -> Option<(&str, &str)> {
    fn word(text: &str) -> Option<(&str, &str)> {
        text.trim_start().split_once(char::is_whitespace)
    }
    let (simulator, rest) = word(line)?;
    let (verb, rest) = word(rest)?;
    let (at, command) = word(rest)?;
    let is_scheduled = matches!(simulator, "$ns_" | "$ns") && verb == "at";
    is_scheduled.then(|| (at, command.trim().trim_matches('"').trim()))
}

fn take_command(at: Option<Time>, command: &str, scripts: &mut BTreeMap<u64, Script>) -> Result<(), String> {
    let (node, rest) = command.trim_start_matches("$node_(").split_once(')').unwrap_or((command, ""));
    let node: u64 = node.trim().parse().map_err(|_| format!("a node must be a whole number, not {}", shown(node)))?;
    let words: Vec<&str> = rest.split_whitespace().collect();
    let command = match words.as_slice() {
        ["set", "X_", x] => Command::SetX(coordinate(x, "X_")?),
        ["set", "Y_", y] => Command::SetY(coordinate(y, "Y_")?),
        ["set", "Z_", z] => return coordinate(z, "Z_").map(|_| ()),
        ["setdest", x, y, speed] => Command::SetDest { to: point(x, y)?, speed: speed_of(speed)? },
        _ => {
            return Err(format!(
                "{} is no command that we know; expected `set X_ 1.5`, `set Y_ 1.5` or `setdest 3.0 4.0 1.0`",
                shown(rest.trim())
            ));
        }
    };
    let script = scripts.entry(node).or_default();
    match (at, command) {
        (None, Command::SetX(x)) => script.start.x = x,
        (None, Command::SetY(y)) => script.start.y = y,
        (None, Command::SetDest { .. }) => script.commands.push((Time::ZERO, command)),
        (Some(at), command) => script.commands.push((at, command)),
    }
    Ok(())
}

fn speed_of(text: &str) -> Result<f64, String> {
    let speed = number(text, "a speed")?;
    if speed >= 0.0 { Ok(speed) } else { Err(format!("a speed must be 0 or more, not {}", shown(text))) }
}

/// What the commands amount to.
fn waypoints(mut script: Script) -> Vec<Waypoint> {
    script.commands.sort_by_key(|(at, _)| *at);
    let mut points = vec![Waypoint { at: Time::ZERO, point: script.start }];
    // Where the node goes at present, and from when to when.
    let mut under_way: Option<(Waypoint, Waypoint)> = None;
    for (at, command) in script.commands {
        let here = match under_way.take() {
            Some((from, to)) if at < to.at => {
                let gone = (at - from.at).units() / (to.at - from.at).units();
                let along = |from: f64, to: f64| from + (to - from) * gone;
                Point { x: along(from.point.x, to.point.x), y: along(from.point.y, to.point.y) }
            }
            Some((_, to)) => {
                points.push(to);
                to.point
            }
            None => points[points.len() - 1].point,
        };
        points.push(Waypoint { at, point: here });
        match command {
            Command::SetX(x) => points.push(Waypoint { at, point: Point { x, y: here.y } }),
            Command::SetY(y) => points.push(Waypoint { at, point: Point { x: here.x, y } }),
            Command::SetDest { to, speed } => {
                let lasts = here.distance_squared(to).sqrt() / speed;
                if speed > 0.0 {
                    let arrives = Waypoint { at: at + Time::from_units(lasts), point: to };
                    under_way = Some((Waypoint { at, point: here }, arrives));
                }
            }
        }
    }
    points.extend(under_way.map(|(_, to)| to));
    points.dedup();
    points
}

/// Writes a trace.
pub fn write(tracks: &Tracks) -> String {
    let mut text = format!("# nodes: {}, time: {}\n", tracks.len(), tracks.last().units());
    for (node, track) in tracks.iter().enumerate() {
        let points = track.without_absence();
        let Point { x, y } = points[0].point;
        for (axis, value) in [("X_", x), ("Y_", y), ("Z_", 0.0)] {
            put(&mut text, format_args!("$node_({node}) set {axis} {value}\n"));
        }
        for pair in points.windows(2) {
            go(&mut text, node, pair[0], pair[1]);
        }
    }
    text
}

fn go(text: &mut String, node: usize, from: Waypoint, to: Waypoint) {
    let (at, Point { x, y }) = (from.at.units(), to.point);
    if from.at == to.at {
        for (axis, value) in [("X_", x), ("Y_", y)] {
            put(text, format_args!("$ns_ at {at} \"$node_({node}) set {axis} {value}\"\n"));
        }
    } else if from.point != to.point {
        let speed = from.point.distance_squared(to.point).sqrt() / (to.at - from.at).units();
        put(text, format_args!("$ns_ at {at} \"$node_({node}) setdest {x} {y} {speed}\"\n"));
    }
}

fn put(text: &mut String, line: std::fmt::Arguments<'_>) {
    text.write_fmt(line).expect("a String takes all that is written");
}

//! ns-2 movements, as `setdest` and many others write them.
//!
//! A Tcl script of which only these commands are understood:
//! ```text
//! $node_(0) set X_ 150.0
//! $node_(0) set Y_ 93.98
//! $ns_ at 50.0 "$node_(0) setdest 369.46 170.52 3.37"
//! $ns_ at 90.0 "$node_(0) switch OFF"
//! ```
//! At 50 s node 0 sets out for (369.46, 170.52) at 3.37 m/s; where it arrives it stands. The next `setdest` overrides
//! one that is not over, from wherever the node is then. Speed 0 stops it. Places that are not set are 0. A `set` at a
//! time (`$ns_ at 7 "$node_(0) set X_ 1"`) is a jump. A node that is switched off is absent until it is switched on;
//! one that is switched on first was off before.
//!
//! Nodes are variables of any name, and so is the simulator (`$n(0)`, `$node(0)`, `$n0`; `$ns`). What has nothing to do
//! with movement is skipped: other commands, procedures, loops. Nothing is computed, so where a loop or a procedure
//! moves nodes, or a number is a variable, the script is refused.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::io::BufRead;

use crate::plane::Point;
use driftlock_net::{Span, Time};

use super::TraceError;
use super::lines::{Lines, Refusal, coordinate, number, point, shown, time};
use super::tcl::{Tcl, Word};
use crate::mobility::tracks::{Track, TrackError, Tracks, Visit, Waypoint};

const EXPECTED: &str = "expected `$node_(0) set X_ 1.5` or `$ns_ at 2.0 \"$node_(0) setdest 3.0 4.0 1.0\"`";
const NOT_COMPUTED: &str = "nothing is computed here, so write numbers";

/// What is said about one node.
#[derive(Default)]
struct Script {
    start: Point,
    /// Whether it is said where the node is or goes. What is only switched on and off is no node, but an application.
    has_place: bool,
    /// In the order of the file, which need not be that of time: every command is scheduled for itself.
    commands: Vec<(Time, Command)>,
    /// Why it is not known when it is switched, if that is so.
    unclear: Option<Refusal>,
}

#[derive(Clone, Copy, Debug)]
enum Command {
    SetX(f64),
    SetY(f64),
    SetZ,
    SetDest { to: Point, speed: f64 },
    Switch { on: bool },
}

/// What a script calls a node.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Variable {
    family: Family,
    number: u64,
}

/// What several such names have in common.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Family {
    /// `node_` of `$node_(7)`.
    Array(String),
    /// `n` of `$n7`.
    Numbered(String),
    /// `hub` of `$hub`, the only one.
    Single(String),
}

/// What has been read.
#[derive(Default)]
struct Ns2 {
    /// Families of variables in the order in which they appear.
    families: Vec<Family>,
    /// By family and number.
    scripts: BTreeMap<(usize, u64), Script>,
    /// The first file that the script reads in its turn.
    source: Option<Word>,
}

/// Reads a trace. Nodes are numbered in the order of their numbers in the file, without gaps.
pub fn read(name: &str, reader: impl BufRead) -> Result<Tracks, TraceError> {
    let mut lines = Lines::new(name, reader);
    let (mut ns2, mut tcl) = (Ns2::default(), Tcl::default());
    lines.each_numbered(|number, line| tcl.line(number, line, &mut |words| ns2.take(None, words)))?;
    tcl.end().map_err(|Refusal { line, reason }| lines.error_at(line, reason))?;
    let source = ns2.source.take();
    let tracks = ns2.tracks().map_err(|Refusal { line, reason }| lines.error_at(line, reason))?;
    match source {
        Some(word) if tracks.is_empty() => {
            let reason = format!("this script moves nobody, but reads {}: give that file", shown(&word.text));
            Err(lines.error_at(word.line, reason))
        }
        _ => lines.tracks(tracks),
    }
}

impl Ns2 {
    /// Takes a command that is for at once, or that the word schedules.
    fn take(&mut self, at: Option<&Word>, words: &[Word]) -> Result<(), Refusal> {
        let words = without_comment(words);
        let Some(first) = words.first() else { return Ok(()) };
        let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
        // What is scheduled schedules nothing in its turn, or it would be a matter of computing.
        if let ([_, "at", _, _, ..], None) = (&texts[..], at)
            && first.text.starts_with('$')
        {
            return self.take_scheduled(&words[2], &words[3..]);
        }
        let here = |reason| Refusal { line: first.line, reason };
        if let Some(command) = command_of(&texts).map_err(here)? {
            let at = at.map(|word| time(&word.text).map_err(not_computed)).transpose().map_err(here);
            return self.take_command(at, variable(&first.text).map_err(here), command);
        }
        if let ["source", ..] = texts[..] {
            self.source.get_or_insert_with(|| words[words.len() - 1].clone());
        }
        refuse_movement(words, &texts)
    }

    /// Takes commands, wrapped or not, that are for a time.
    fn take_scheduled(&mut self, at: &Word, words: &[Word]) -> Result<(), Refusal> {
        let [script] = words else { return self.take(Some(at), words) };
        let mut tcl = Tcl::default();
        for (line, text) in (script.line..).zip(script.text.split('\n')) {
            tcl.line(line, text, &mut |words| self.take(Some(at), words))?;
        }
        tcl.end()
    }

    /// Takes a command for a node. What is only switched may be an application, whose time and name do not matter.
    fn take_command(
        &mut self,
        at: Result<Option<Time>, Refusal>,
        variable: Result<Variable, Refusal>,
        command: Command,
    ) -> Result<(), Refusal> {
        match (command, variable, at) {
            (Command::Switch { .. }, Err(_), _) => {}
            (Command::Switch { .. }, Ok(variable), Err(unclear)) => {
                self.script(variable).unclear.get_or_insert(unclear);
            }
            (command, variable, at) => self.script(variable?).take(at?, command),
        }
        Ok(())
    }

    fn script(&mut self, variable: Variable) -> &mut Script {
        let Variable { family, number } = variable;
        let place = self.families.iter().position(|known| *known == family).unwrap_or_else(|| {
            self.families.push(family);
            self.families.len() - 1
        });
        self.scripts.entry((place, number)).or_default()
    }

    fn tracks(self) -> Result<Vec<Track>, Refusal> {
        let unsound = |error: TrackError| Refusal { line: 1, reason: error.to_string() };
        let nodes: Vec<_> = self.scripts.into_iter().filter(|(_, script)| script.has_place).collect();
        let one_family = nodes.windows(2).all(|pair| pair[0].0.0 == pair[1].0.0);
        let mut tracks = Vec::new();
        for ((family, number), mut script) in nodes {
            script.unclear.take().map_or(Ok(()), Err)?;
            let name = match &self.families[family] {
                Family::Single(name) => name.clone(),
                _ if one_family => number.to_string(),
                Family::Array(name) => format!("{name}({number})"),
                Family::Numbered(name) => format!("{name}{number}"),
            };
            let visits = script.visits().map_err(unsound)?;
            // A node that is never there is left out.
            if !visits.is_empty() {
                tracks.push(Track::new(name, visits).map_err(unsound)?);
            }
        }
        Ok(tracks)
    }
}

/// The words before one that begins with `#`, which others than Tcl take for a comment.
fn without_comment(words: &[Word]) -> &[Word] {
    let end = words.iter().position(|word| !word.is_wrapped && word.text.starts_with('#')).unwrap_or(words.len());
    &words[..end]
}

/// The command, if it is one that moves a node or switches it.
fn command_of(words: &[&str]) -> Result<Option<Command>, String> {
    let (subject, verb) = match words {
        [subject, verb @ ..] if subject.starts_with('$') => (subject, verb),
        _ => return Ok(None),
    };
    let switch = |to: &str| match to.to_ascii_lowercase().as_str() {
        "on" => Some(Command::Switch { on: true }),
        "off" => Some(Command::Switch { on: false }),
        _ => None,
    };
    let command = match verb {
        ["set", "X_", x] => Command::SetX(coordinate(x, "X_").map_err(not_computed)?),
        ["set", "Y_", y] => Command::SetY(coordinate(y, "Y_").map_err(not_computed)?),
        ["set", "Z_", z] => {
            coordinate(z, "Z_").map_err(not_computed)?;
            Command::SetZ
        }
        ["setdest", x, y, speed] => {
            Command::SetDest { to: point(x, y).map_err(not_computed)?, speed: speed_of(speed).map_err(not_computed)? }
        }
        ["switch", to] => {
            return switch(to).map(Some).ok_or_else(|| format!("a node is switched ON or OFF, not {}", shown(to)));
        }
        [to] => return Ok(switch(to)),
        ["setdest", ..] => return Err(unknown(verb)),
        // As likely as not a `setdest` that is written wrong.
        [_, x, y, speed] if subject.contains('(') && [x, y, speed].iter().all(|word| word.parse::<f64>().is_ok()) => {
            return Err(unknown(verb));
        }
        _ => return Ok(None),
    };
    Ok(Some(command))
}

/// Adds why a variable is refused where a number must be.
fn not_computed(reason: String) -> String {
    if reason.contains('$') || reason.contains('[') { format!("{reason}; {NOT_COMPUTED}") } else { reason }
}

fn unknown(verb: &[&str]) -> String {
    format!(
        "{} is no command that we know; expected `set X_ 1.5`, `set Y_ 1.5`, `setdest 3.0 4.0 1.0` or `switch OFF`",
        shown(&verb.join(" "))
    )
}

/// The node that a variable stands for.
fn variable(text: &str) -> Result<Variable, String> {
    let name = text.trim_start_matches('$');
    if let Some((array, number)) = name.split_once('(') {
        let number = number.trim_end_matches(')').trim();
        let number = number
            .parse()
            .map_err(|_| not_computed(format!("a node must be a whole number, not {}", shown(number))))?;
        return Ok(Variable { family: Family::Array(array.to_owned()), number });
    }
    let common = name.trim_end_matches(|character: char| character.is_ascii_digit());
    Ok(match name[common.len()..].parse() {
        Ok(number) => Variable { family: Family::Numbered(common.to_owned()), number },
        Err(_) => Variable { family: Family::Single(name.to_owned()), number: 0 },
    })
}

/// Refuses what moves nodes and is not understood; other commands are skipped.
fn refuse_movement(words: &[Word], texts: &[&str]) -> Result<(), Refusal> {
    // The place of an antenna on its node, and the like.
    let is_of_class = texts[0].starts_with(|character: char| character.is_ascii_uppercase());
    let sets = |place: &[&str]| matches!(place, ["set", "X_" | "Y_", _]);
    if texts.contains(&"setdest") || (!is_of_class && texts.windows(3).any(sets)) {
        let reason = format!("{} is no movement; {EXPECTED}; put a # in front of other lines", shown(&texts.join(" ")));
        return Err(Refusal { line: words[0].line, reason });
    }
    for word in words {
        let Some(further) = movement_in(&word.text) else { continue };
        let line = word.line + further;
        let reason = match texts[0] {
            "proc" | "for" | "foreach" | "while" | "if" => format!(
                "a `{}` moves nodes here, and {NOT_COMPUTED}: {EXPECTED}, once for each node and time",
                texts[0]
            ),
            _ => format!("{} is no movement; {EXPECTED}; put a # in front of other lines", shown(&texts.join(" "))),
        };
        return Err(Refusal { line, reason });
    }
    Ok(())
}

/// In which line of a text, counted from 0, a node is moved, if one is. To ask where it is does not move it.
fn movement_in(text: &str) -> Option<u64> {
    let sets =
        |words: &[&str]| matches!(words, ["set", "X_" | "Y_", value] if !value.starts_with([']', ';', '}', '"']));
    let moves = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_comment = words.first().is_some_and(|word| word.starts_with('#'));
        !is_comment && (line.contains("setdest") || words.windows(3).any(sets))
    };
    (0..).zip(text.lines()).find(|(_, line)| moves(line)).map(|(number, _)| number)
}

fn speed_of(text: &str) -> Result<f64, String> {
    let speed = number(text, "a speed")?;
    if speed >= 0.0 { Ok(speed) } else { Err(format!("a speed must be 0 or more, not {}", shown(text))) }
}

impl Script {
    /// Takes a command that is for a time, or for the start.
    fn take(&mut self, at: Option<Time>, command: Command) {
        self.has_place |= !matches!(command, Command::Switch { .. });
        match (at, command) {
            (None, Command::SetX(x)) => self.start.x = x,
            (None, Command::SetY(y)) => self.start.y = y,
            (_, Command::SetZ) => {}
            (at, command) => self.commands.push((at.unwrap_or_default(), command)),
        }
    }

    /// When the node is there, and where it is then.
    fn visits(mut self) -> Result<Vec<Visit>, TrackError> {
        self.commands.sort_by_key(|(at, _)| *at);
        let switches: Vec<(Time, bool)> =
            self.commands.iter().filter_map(|(at, command)| command.switches().map(|on| (*at, on))).collect();
        let points = self.waypoints();
        let mut on_since = (!switches.first().is_some_and(|(_, on)| *on)).then_some(Time::ZERO);
        let mut visits = Vec::new();
        for (at, on) in switches.into_iter().chain([(Time::END, false)]) {
            match on_since {
                None if on => on_since = Some(at),
                Some(since) if !on => {
                    on_since = None;
                    if since < at {
                        visits.push(Visit::new(since, at, between(&points, since, at))?);
                    }
                }
                _ => {}
            }
        }
        Ok(visits)
    }

    /// What the commands, which are in order, amount to.
    fn waypoints(&self) -> Vec<Waypoint> {
        let mut points = vec![Waypoint { at: Time::ZERO, point: self.start }];
        // Where the node goes at present, and from when to when.
        let mut under_way: Option<(Waypoint, Waypoint)> = None;
        for &(at, command) in &self.commands {
            if command.switches().is_some() {
                continue;
            }
            let here = match under_way.take() {
                Some((from, to)) if at < to.at => on_the_way(from, to, at),
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
                Command::SetDest { to, speed } if speed > 0.0 => {
                    let lasts = here.distance_squared(to).sqrt() / speed;
                    let arrives = Waypoint { at: at + Span::from_units(lasts), point: to };
                    under_way = Some((Waypoint { at, point: here }, arrives));
                }
                Command::SetDest { .. } | Command::SetZ | Command::Switch { .. } => {}
            }
        }
        points.extend(under_way.map(|(_, to)| to));
        points.dedup();
        points
    }
}

impl Command {
    /// Whether the node is on from now on, if that is what the command is about.
    fn switches(self) -> Option<bool> {
        if let Self::Switch { on } = self { Some(on) } else { None }
    }
}

/// Where a node is on its way from one point to another.
fn on_the_way(from: Waypoint, to: Waypoint, at: Time) -> Point {
    let gone = (at - from.at).units() / (to.at - from.at).units();
    let along = |from: f64, to: f64| from + (to - from) * gone;
    Point { x: along(from.point.x, to.point.x), y: along(from.point.y, to.point.y) }
}

/// The way points from a time to another, and where the node is at these.
fn between(points: &[Waypoint], since: Time, until: Time) -> Vec<Waypoint> {
    let place = |at: Time, passed: usize| {
        let (before, after) = (passed.checked_sub(1).map(|last| points[last]), points.get(passed));
        match (before, after) {
            (Some(before), Some(after)) if before.at < at => on_the_way(before, *after, at),
            (Some(before), _) => before.point,
            (None, _) => points[0].point,
        }
    };
    // A jump at the start is over; one at the end is still to come.
    let first = points.partition_point(|waypoint| waypoint.at <= since);
    let last = points.partition_point(|waypoint| waypoint.at < until || until == Time::END);
    let mut within = vec![Waypoint { at: since, point: place(since, first) }];
    within.extend_from_slice(&points[first..last.max(first)]);
    if until < Time::END {
        within.push(Waypoint { at: until, point: place(until, last) });
    }
    within.dedup();
    within
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
        for visit in track.visits() {
            let switches =
                [(visit.from() > Time::ZERO, visit.from(), "ON"), (visit.until() < Time::END, visit.until(), "OFF")];
            for (_, at, to) in switches.into_iter().filter(|(is_one, ..)| *is_one) {
                put(&mut text, format_args!("$ns_ at {} \"$node_({node}) switch {to}\"\n", at.units()));
            }
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

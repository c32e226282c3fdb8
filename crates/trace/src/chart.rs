//! A message sequence chart of a trace: what happened at every node, in which order, and what they said to one another.
//!
//! Every action of the world has a row: something the application did, a message that arrived, a link that formed or
//! failed together with all that follows from it at its ends, or a timer. Rows are counted from 1; row 0 is the start
//! and the row after the last one is the end.
//!
//! A trace is somebody else's file. What a chart does not understand is drawn as little as it is understood, and never
//! refused: only the reader refuses.

mod mermaid;
mod svg;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use driftlock_protocol::{NodeId, Permit, Permits};
use serde_json::Value;

use crate::replay::permits_at_start;
use crate::{Header, Join, Line, LinkChange, Loss, MemberChange, Presence, RESTART, ReadError, Reader, Resource, Step};

/// In a larger network a node has a lifeline only if something happens to it.
const IDLE_LIFELINES_MAX: u32 = 50;
/// A heading with more links than this only counts them.
const LINKS_LISTED_MAX: usize = 12;
/// Characters of a text that somebody else wrote.
const CLIPPED_MAX: usize = 48;

/// What a trace shows as a message sequence chart.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Chart {
    heading: String,
    lifelines: Vec<NodeId>,
    rows: Vec<Row>,
    messages: Vec<Message>,
    bars: Vec<Bar>,
    violation: Option<String>,
}

/// One action of the world.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Row {
    /// In nanoseconds.
    t: u64,
    action: Action,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Action {
    /// It concerns one node only.
    Local { node: NodeId, text: String },
    /// Of the message with this index.
    Arrival { message: usize },
    /// With all steps that follow from it.
    Link { ends: (NodeId, NodeId), up: bool },
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Message {
    from: NodeId,
    to: NodeId,
    label: Label,
    /// The row of the step that sent it; `None` if the trace does not show where it comes from.
    sent: Option<usize>,
    fate: Fate,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    /// It had not arrived when the trace ended.
    UnderWay,
    Arrived {
        row: usize,
        refused: bool,
    },
    /// It never arrives: its link failed in this row.
    Ended {
        row: usize,
        returned: bool,
    },
}

/// What a message is, in a few words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Label {
    pub(crate) text: String,
    permit: Option<Permit>,
}

/// A stretch of a lifeline.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Bar {
    node: NodeId,
    kind: BarKind,
    from: usize,
    to: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum BarKind {
    /// From a request to its grant or its cancellation.
    Waiting,
    /// From a grant to its release.
    Critical,
    /// As long as the node has a permit, in use or not.
    Holding,
}

impl Chart {
    /// Reads a whole trace.
    pub fn read(mut reader: Reader) -> Result<Self, ReadError> {
        let mut drawing = Drawing::of(reader.header());
        while let Some(line) = reader.next_line()? {
            match line {
                Line::Step(step) => drawing.step(&step),
                Line::Link(change) => drawing.link(&change),
                Line::Member(change) => drawing.member(&change),
                Line::Loss(loss) => drawing.lose(&loss),
                Line::Join(Join { t, join }) => drawing.join(t, join),
                Line::Scene(_) => {}
                Line::End { end } => {
                    let of = |violation| format!("{violation}{}", drawing.words.of(end.resource));
                    drawing.chart.violation = end.violation.map(of);
                }
            }
        }
        Ok(drawing.finish())
    }

    /// The chart as a picture that needs nothing else: no script, no font, no style sheet.
    pub fn svg(&self) -> String {
        svg::draw(self)
    }

    /// The chart as a `sequenceDiagram` of Mermaid, which many places where people write understand.
    pub fn mermaid(&self) -> String {
        mermaid::write(self)
    }

    /// The row after the last one.
    fn end(&self) -> usize {
        self.rows.len() + 1
    }
}

impl Message {
    /// The label, and what became of the message if that is not the usual.
    fn text(&self) -> String {
        let label = &self.label.text;
        match self.fate {
            Fate::Arrived { refused: false, .. } => label.clone(),
            Fate::Arrived { refused: true, .. } => format!("{label}, refused"),
            Fate::Ended { returned: true, .. } => format!("{label}, returned"),
            Fate::Ended { returned: false, .. } => format!("{label}, lost"),
            Fate::UnderWay => format!("{label}, under way"),
        }
    }
}

/// Of which resource a message is, its sender and its receiver.
type Way = (u32, NodeId, NodeId);
/// A resource at a node.
type Place = (u32, NodeId);

/// Messages on their way, the oldest first.
#[derive(Default)]
struct Flights(BTreeMap<Way, VecDeque<Flight>>);

struct Flight {
    /// The index of its message.
    message: usize,
    /// What it says: all that tells it from others on the same way, which it may overtake.
    said: Value,
}

impl Flights {
    fn add(&mut self, way: Way, flight: Flight) {
        self.0.entry(way).or_default().push_back(flight);
    }

    /// The oldest that says this; of those that say the same, nobody can tell which it is.
    fn take_saying(&mut self, way: Way, said: &Value) -> Option<usize> {
        let flights = self.0.get_mut(&way)?;
        let at = flights.iter().position(|flight| flight.said == *said)?;
        flights.remove(at).map(|flight| flight.message)
    }

    fn take_oldest(&mut self, way: Way) -> Option<usize> {
        self.0.get_mut(&way)?.pop_front().map(|flight| flight.message)
    }
}

/// A chart while its trace is read.
struct Drawing {
    chart: Chart,
    words: Words,
    nodes: BTreeSet<NodeId>,
    /// Sent and not yet arrived.
    under_way: Flights,
    /// What was under way on a link when it failed last, and has not been returned.
    cut_off: Flights,
    /// Who is in which neighbourhood: those who are with the sender hear a broadcast.
    inside: BTreeMap<Place, u32>,
    /// Whether steps that a change below leads to belong to the row before.
    in_change: bool,
    /// Waiting or critical, and since when.
    phases: BTreeMap<Place, (BarKind, usize)>,
    /// Who has which permits, and since when.
    held: BTreeMap<Place, BTreeMap<Permit, usize>>,
    /// The permits that the trace has spoken of.
    mentioned: BTreeSet<(u32, Permit)>,
}

impl Drawing {
    fn of(header: &Header) -> Self {
        let drawn = if header.nodes <= IDLE_LIFELINES_MAX { header.nodes } else { 0 };
        let chart = Chart {
            heading: heading(header),
            lifelines: Vec::new(),
            rows: Vec::new(),
            messages: Vec::new(),
            bars: Vec::new(),
            violation: None,
        };
        let mut drawing = Self {
            chart,
            words: Words::of_trace(header),
            nodes: (0..drawn).map(NodeId).collect(),
            under_way: Flights::default(),
            cut_off: Flights::default(),
            inside: BTreeMap::new(),
            in_change: false,
            phases: BTreeMap::new(),
            held: BTreeMap::new(),
            mentioned: BTreeSet::new(),
        };
        for (number, resource) in (0..).zip(&header.resources) {
            for (neighbourhood, inside) in (0..).zip(&resource.neighbourhoods) {
                drawing.inside.extend(inside.members.iter().map(|&member| ((number, member), neighbourhood)));
            }
            let permits = permits_at_start(header, resource).unwrap_or_default();
            for (node, permits) in (0..).map(NodeId).zip(permits) {
                drawing.hold((number, node), permits);
            }
        }
        drawing
    }

    fn finish(mut self) -> Chart {
        let end = self.chart.end();
        for ((_, node), (kind, from)) in std::mem::take(&mut self.phases) {
            self.bar(node, kind, from, end);
        }
        for ((_, node), permits) in std::mem::take(&mut self.held) {
            for from in permits.into_values() {
                self.bar(node, BarKind::Holding, from, end);
            }
        }
        self.chart.bars.retain(|bar| self.nodes.contains(&bar.node));
        self.chart.lifelines = self.nodes.into_iter().collect();
        self.chart
    }

    /// The row that is being drawn.
    fn row(&self) -> usize {
        self.chart.rows.len()
    }

    fn begin_row(&mut self, t: u64, action: Action) {
        self.in_change = false;
        self.chart.rows.push(Row { t, action });
    }

    fn bar(&mut self, node: NodeId, kind: BarKind, from: usize, to: usize) {
        if from < to {
            self.chart.bars.push(Bar { node, kind, from, to });
        }
    }

    fn link(&mut self, change: &LinkChange) {
        let (a, b) = change.link;
        self.nodes.extend([a, b]);
        self.begin_row(change.t, Action::Link { ends: (a.min(b), a.max(b)), up: change.up });
        self.in_change = true;
        if change.up {
            return;
        }
        let row = self.row();
        for way in (0..self.words.resources).flat_map(|resource| [(resource, a, b), (resource, b, a)]) {
            let cut_off = self.under_way.0.remove(&way).unwrap_or_default();
            for flight in &cut_off {
                self.chart.messages[flight.message].fate = Fate::Ended { row, returned: false };
            }
            self.cut_off.0.insert(way, cut_off);
        }
    }

    fn join(&mut self, t: u64, node: NodeId) {
        self.nodes.insert(node);
        self.begin_row(t, Action::Local { node, text: "joins".into() });
    }

    fn member(&mut self, change: &MemberChange) {
        let &MemberChange { t, member: node, presence, resource, neighbourhood } = change;
        self.nodes.insert(node);
        self.begin_row(t, Action::Local { node, text: self.words.presence(change) });
        self.in_change = true;
        if presence == Presence::Inside {
            self.inside.insert((resource, node), neighbourhood);
            return;
        }
        self.inside.remove(&(resource, node));
        let row = self.row();
        let is_lost = |&(of, _, to): &Way| (of, to) == (resource, node);
        for (_, under_way) in self.under_way.0.iter_mut().filter(|(way, _)| is_lost(way)) {
            for flight in under_way.drain(..) {
                self.chart.messages[flight.message].fate = Fate::Ended { row, returned: false };
            }
        }
        if [Presence::Crashed, Presence::Down].contains(&presence) {
            self.phase((resource, node), None);
            self.hold((resource, node), Permits::NONE);
        }
    }

    fn lose(&mut self, loss: &Loss<Value>) {
        let (from, to) = loss.lost;
        let text = format!("does not hear {from}{}", self.words.of(loss.resource));
        self.begin_row(loss.t, Action::Local { node: to, text });
        let (row, way) = (self.row(), (loss.resource, from, to));
        let lost = self.under_way.take_saying(way, &loss.message);
        if let Some(message) = lost.or_else(|| self.under_way.take_oldest(way)) {
            self.chart.messages[message].fate = Fate::Ended { row, returned: false };
        }
    }

    fn step(&mut self, step: &Step<Value, Value>) {
        let place = (step.resource, step.node);
        self.nodes.insert(step.node);
        self.input(step);
        for effect in step.out.as_array().into_iter().flatten() {
            match variant(effect) {
                Some(("send", content)) => {
                    if let Some(to) = node(content.get("to")) {
                        self.send((step.resource, step.node, to), &content["message"]);
                    }
                }
                Some(("broadcast", content)) => {
                    for to in self.audience(place) {
                        self.send((step.resource, step.node, to), &content["message"]);
                    }
                }
                Some(("revoke", _)) => self.phase(place, Some(BarKind::Waiting)),
                Some(("grant", grant)) => {
                    for number in grant.get("permits").and_then(Value::as_array).into_iter().flatten() {
                        self.mention(place, permit(number));
                    }
                    self.phase(place, Some(BarKind::Critical));
                }
                _ => {}
            }
        }
        if let Some(permits) = step.status.as_ref().and_then(|status| status.permits) {
            self.hold(place, permits);
        }
    }

    /// Who hears a broadcast: all others that are where the sender is.
    fn audience(&self, sender: Place) -> Vec<NodeId> {
        let (resource, node) = sender;
        let where_it_is = self.inside.get(&sender).copied().unwrap_or_default();
        let there = self.inside.range((resource, NodeId(0))..=(resource, NodeId(u32::MAX)));
        let there = there.filter(|((_, to), at)| **at == where_it_is && *to != node);
        there.map(|((_, to), _)| *to).collect()
    }

    /// Begins the row of a step, unless it follows from the action before.
    fn input(&mut self, step: &Step<Value, Value>) {
        let (kind, content) = variant(&step.input).unwrap_or(("step", &Value::Null));
        let refused = step.refused.is_some();
        let follows = self.in_change;
        match (kind, node(content.get("from")), node(content.get("to"))) {
            ("message", Some(from), _) => return self.arrive(step, from, refused),
            ("undelivered", _, Some(to)) => {
                if !follows {
                    let text = format!("{} returned{}", label(&content["message"]).text, self.words.of(step.resource));
                    self.begin_row(step.t, Action::Local { node: step.node, text });
                }
                return self.give_back((step.resource, step.node, to), &content["message"]);
            }
            ("below", ..) if follows => return,
            _ => {}
        }
        let mut text = words_for(kind, content);
        if refused {
            text += " (refused)";
        }
        text += &self.words.of(step.resource);
        let place = (step.resource, step.node);
        self.begin_row(step.t, Action::Local { node: step.node, text });
        match kind {
            "request" if !refused => self.phase(place, Some(BarKind::Waiting)),
            "release" | "cancel" | "gone" if !refused => self.phase(place, None),
            "resume" if !refused => self.phase(place, Some(BarKind::Critical)),
            // What was in use still is, unless the node knows nothing of that; what was waited for is not.
            RESTART if step.status.as_ref().is_some_and(|change| change.section.is_some()) => self.phase(place, None),
            _ => {}
        }
    }

    /// What a message of this resource is called.
    fn label(&self, resource: u32, said: &Value) -> Label {
        let Label { text, permit } = label(said);
        Label { text: text + &self.words.of(resource), permit }
    }

    fn send(&mut self, way: Way, said: &Value) {
        let (resource, from, to) = way;
        self.nodes.insert(to);
        let label = self.label(resource, said);
        self.mention((resource, from), label.permit);
        let message = self.chart.messages.len();
        self.chart.messages.push(Message { from, to, label, sent: Some(self.row()), fate: Fate::UnderWay });
        self.under_way.add(way, Flight { message, said: said.clone() });
    }

    fn arrive(&mut self, step: &Step<Value, Value>, from: NodeId, refused: bool) {
        self.nodes.insert(from);
        let said = &step.input["message"]["message"];
        let message = self.arriving((step.resource, from, step.node), said, refused).unwrap_or_else(|| {
            let (to, label) = (step.node, self.label(step.resource, said));
            self.chart.messages.push(Message { from, to, label, sent: None, fate: Fate::UnderWay });
            self.chart.messages.len() - 1
        });
        self.begin_row(step.t, Action::Arrival { message });
        self.chart.messages[message].fate = Fate::Arrived { row: self.row(), refused };
    }

    /// Which of the messages between these two it is that arrives.
    fn arriving(&mut self, way: Way, said: &Value, refused: bool) -> Option<usize> {
        // A node refuses what is late, and that was sent before the link failed.
        if refused {
            return self.late(way, said);
        }
        // Some messages find another way after their link has failed.
        let known = self.under_way.take_saying(way, said).or_else(|| self.cut_off.take_saying(way, said));
        known.or_else(|| self.under_way.take_oldest(way))
    }

    /// Likewise, of one that was cut off, if any was.
    fn late(&mut self, way: Way, said: &Value) -> Option<usize> {
        let known = self.cut_off.take_saying(way, said).or_else(|| self.under_way.take_saying(way, said));
        known.or_else(|| self.cut_off.take_oldest(way)).or_else(|| self.under_way.take_oldest(way))
    }

    /// A message that cannot arrive any more is back at its sender.
    fn give_back(&mut self, way: Way, said: &Value) {
        let row = self.row();
        let message = self.late(way, said);
        match message.map(|message| &mut self.chart.messages[message].fate) {
            Some(Fate::Ended { returned, .. }) => *returned = true,
            Some(fate) => *fate = Fate::Ended { row, returned: true },
            None => {}
        }
    }

    fn phase(&mut self, place: Place, kind: Option<BarKind>) {
        let row = self.row();
        if let Some((former, from)) = self.phases.remove(&place) {
            self.bar(place.1, former, from, row);
        }
        if let Some(kind) = kind {
            self.phases.insert(place, (kind, row));
        }
    }

    /// Who has a permit at the start is known if the algorithm is; else it is whoever is the first to use it.
    fn mention(&mut self, place: Place, permit: Option<Permit>) {
        let Some(permit) = permit else { return };
        if self.mentioned.insert((place.0, permit)) {
            self.held.entry(place).or_default().insert(permit, 0);
        }
    }

    /// From this row on the node has exactly these permits.
    fn hold(&mut self, place: Place, permits: Permits) {
        for permit in permits.iter() {
            self.mention(place, Some(permit));
        }
        let row = self.row();
        let former = self.held.remove(&place).unwrap_or_default();
        let now = permits.iter().map(|permit| (permit, former.get(&permit).copied().unwrap_or(row))).collect();
        self.held.insert(place, now);
        for (permit, from) in former {
            if permits.common(Permits::single(permit)).is_empty() {
                self.bar(place.1, BarKind::Holding, from, row);
            }
        }
    }
}

/// Which of several resources or neighbourhoods something is about, where there are several.
pub(crate) struct Words {
    resources: u32,
    /// Of each resource.
    neighbourhoods: Vec<usize>,
}

impl Words {
    pub(crate) fn of_trace(header: &Header) -> Self {
        let neighbourhoods: Vec<_> = header.resources.iter().map(|resource| resource.neighbourhoods.len()).collect();
        Self { resources: u32::try_from(neighbourhoods.len()).unwrap_or(u32::MAX), neighbourhoods }
    }

    pub(crate) fn of(&self, resource: u32) -> String {
        if self.resources > 1 { format!(" (resource {resource})") } else { String::new() }
    }

    /// What has become of a member.
    pub(crate) fn presence(&self, change: &MemberChange) -> String {
        let words = match change.presence {
            Presence::Inside => "enters",
            Presence::Outside => "departs",
            Presence::Crashed => "crashes",
            Presence::Down => "is killed",
        };
        let several =
            self.neighbourhoods.get(change.resource as usize).is_some_and(|&neighbourhoods| neighbourhoods > 1);
        let place = match change.presence {
            Presence::Inside if several => format!(" neighbourhood {}", change.neighbourhood),
            _ => String::new(),
        };
        format!("{words}{place}{}", self.of(change.resource))
    }
}

/// What the run is about: the algorithms, the network and its links at the start.
pub(crate) fn heading(header: &Header) -> String {
    let Header { nodes, links, resources, .. } = header;
    let [resource] = &resources[..] else {
        let shared: Vec<_> =
            resources.iter().map(|resource| format!("{}, k = {}", rules(resource), resource.k)).collect();
        return format!("{nodes} nodes: {}; {}", shared.join("; "), links_words(links));
    };
    let text = format!("{} on {nodes} nodes, k = {}", rules(resource), resource.k);
    match &resource.neighbourhoods[..] {
        [] => format!("{text}, {}", links_words(links)),
        [inside] => {
            let members: Vec<String> = inside.members.iter().map(ToString::to_string).collect();
            format!("{text}, inside {}", if members.is_empty() { "nobody".into() } else { members.join(", ") })
        }
        several => format!("{text} in each of {} neighbourhoods", several.len()),
    }
}

fn rules(resource: &Resource) -> String {
    let tag = clipped(&resource.algorithm);
    if resource.without.is_empty() { tag } else { format!("{tag} without {}", resource.without.join(", ")) }
}

fn links_words(links: &[(NodeId, NodeId)]) -> String {
    if links.len() > LINKS_LISTED_MAX {
        return format!("{} links", links.len());
    }
    let links: Vec<String> = links.iter().map(|(a, b)| format!("{a}\u{2013}{b}")).collect();
    if links.is_empty() { "no links".into() } else { format!("links {}", links.join(", ")) }
}

/// The name and the content of an enum's value as serde writes it: a string without content, or an object of one field.
pub(crate) fn variant(value: &Value) -> Option<(&str, &Value)> {
    match value {
        Value::String(name) => Some((name, &Value::Null)),
        Value::Object(fields) if fields.len() == 1 => {
            fields.iter().next().map(|(name, content)| (name.as_str(), content))
        }
        _ => None,
    }
}

fn node(value: Option<&Value>) -> Option<NodeId> {
    value?.as_u64().and_then(|number| u32::try_from(number).ok()).map(NodeId)
}

fn permit(value: &Value) -> Option<Permit> {
    let number = u8::try_from(value.as_u64()?).ok()?;
    Permit::try_from(number).ok()
}

/// What a message is called: its kind, what it carries, the rank and the height that it tells, as far as it has them.
pub(crate) fn label(message: &Value) -> Label {
    let (kind, content) = variant(message).unwrap_or(("message", message));
    let carried = content.pointer("/token/permit").or_else(|| content.get("permit")).and_then(permit);
    let mut text = spoken(kind);
    match carried {
        Some(permit) if kind == "token" => text += &format!(" {permit}"),
        Some(permit) => text += &format!(", token {permit}"),
        None => {}
    }
    let length = |pointer: &str| content.pointer(pointer).and_then(Value::as_array).map(Vec::len);
    if let Some(free) = length("/token/free") {
        text += &format!(", {free} free");
    }
    if content.get("asks").is_some_and(Value::is_number) {
        text += ", wanted back";
    }
    if let Some(units) = length("/permits") {
        text += &format!(" of {units}");
    }
    if let Some(rank) = content.get("rank").and_then(Value::as_i64).filter(|&rank| rank != 0) {
        text += &format!(", rank {rank}");
    }
    if let Some(height) = content.get("height").and_then(Value::as_array) {
        let parts: Vec<String> = height.iter().take(CLIPPED_MAX).map(Value::to_string).collect();
        text += &format!(" ({})", parts.join(","));
    }
    Label { text: clipped(&text), permit: carried }
}

/// What is asked for, as far as it is out of the ordinary.
fn demand_words(demand: &Value) -> String {
    let number = |name: &str, least: u64| demand.get(name).and_then(Value::as_u64).filter(|&number| number >= least);
    let units = number("units", 2).map(|units| format!(" {units} units"));
    let priority = number("priority", 1).map(|priority| format!(" with priority {priority}"));
    let deadline = number("deadline", 0).map(|deadline| format!(" by {deadline}"));
    ["requests".into()].into_iter().chain(units).chain(priority).chain(deadline).collect()
}

/// What a node's own input is called in a row of its own.
pub(crate) fn words_for(kind: &str, content: &Value) -> String {
    match kind {
        "request" => demand_words(content),
        "cancel" => "cancels".into(),
        "release" => "releases".into(),
        RESTART => "is killed and back".into(),
        "resume" => "hears of an application of an earlier life".into(),
        "gone" => "hears that no application of an earlier life is alive".into(),
        "below" if content == "leaving" => "is about to leave".into(),
        _ => match variant(content) {
            Some((inner, _)) => clipped(&format!("{}: {}", spoken(kind), spoken(inner))),
            None => clipped(&spoken(kind)),
        },
    }
}

/// A name of the trace as words, which are never none.
fn spoken(name: &str) -> String {
    let words = name.replace(|character: char| character == '_' || character.is_control(), " ");
    if words.trim().is_empty() { "?".into() } else { words }
}

fn clipped(text: &str) -> String {
    match text.char_indices().nth(CLIPPED_MAX) {
        Some((at, _)) => format!("{}\u{2026}", &text[..at]),
        None => text.into(),
    }
}

/// The text in lines of at most so many characters, broken between words where that is possible.
fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(1);
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut length = 0;
    let is_gap = |character: char| character.is_whitespace() || character.is_control();
    for word in text.split(is_gap).filter(|word| !word.is_empty()) {
        let letters: Vec<char> = word.chars().collect();
        for piece in letters.chunks(columns) {
            if length > 0 && length + 1 + piece.len() > columns {
                lines.push(std::mem::take(&mut line));
                length = 0;
            }
            if length > 0 {
                line.push(' ');
                length += 1;
            }
            line.extend(piece);
            length += piece.len();
        }
    }
    if length > 0 {
        lines.push(line);
    }
    lines
}

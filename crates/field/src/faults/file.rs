//! Faults as TOML has them.

use std::fmt;

use crate::plane::Point;
use driftlock_net::{Span, Time};
use driftlock_protocol::NodeId;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::area::{Divide, Shape, positive, seconds};
use super::{Area, Border, Chance, Fault, FaultError, Kind, Memory, Nonsense, Schedule};

/// A file of nothing but faults, each of them a table `[[fault]]`. A file that has other things besides has a
/// [`Schedule`] as one of its fields.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct File {
    /// The faults.
    pub fault: Schedule,
}

/// A fault, word by word. Each kind has some of the keys.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Written {
    at: f64,
    kind: Word,
    #[serde(skip_serializing_if = "Option::is_none")]
    node: Option<u32>,
    #[serde(default, deserialize_with = "some_two", skip_serializing_if = "Option::is_none")]
    nodes: Option<[u32; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    back_after: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory: Option<Memory>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lasts: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    disc: Option<Disc>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rectangle: Option<Points>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<Points>,
    #[serde(skip_serializing_if = "Option::is_none")]
    loss: Option<f64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Word {
    Crash,
    Restart,
    Pause,
    Cut,
    Jam,
    Partition,
    Loss,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Disc {
    #[serde(deserialize_with = "two")]
    centre: [f64; 2],
    radius: f64,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Points {
    #[serde(deserialize_with = "two")]
    from: [f64; 2],
    #[serde(deserialize_with = "two")]
    to: [f64; 2],
}

/// Two and not three, the last of which would be ignored without a word.
pub(super) fn two<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<[T; 2], D::Error> {
    let list = Vec::deserialize(deserializer)?;
    list.try_into().map_err(|list: Vec<T>| D::Error::invalid_length(list.len(), &"a list of two"))
}

fn some_two<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<[T; 2]>, D::Error> {
    two(deserializer).map(Some)
}

impl Word {
    fn name(self) -> &'static str {
        match self {
            Self::Crash => "crash",
            Self::Restart => "restart",
            Self::Pause => "pause",
            Self::Cut => "cut",
            Self::Jam => "jam",
            Self::Partition => "partition",
            Self::Loss => "loss",
        }
    }
}

impl Written {
    fn empty(at: Time, kind: Word) -> Self {
        let (node, nodes, back_after, memory, lasts) = (None, None, None, None, None);
        let (disc, rectangle, line, loss) = (None, None, None, None);
        Self { at: at.units(), kind, node, nodes, back_after, memory, lasts, disc, rectangle, line, loss }
    }

    /// What it means.
    fn read(mut self) -> Result<Fault, Nonsense> {
        let at = Time::from_units(seconds("at", self.at)?);
        let kind = match self.kind {
            Word::Crash => {
                let (node, back_after) = (self.take_node()?, self.take_back_after()?);
                if back_after.is_none() && self.memory.is_some() {
                    let hint = " or give \"back-after\", since a node that does not come back remembers nothing";
                    return Err(Nonsense::Superfluous { kind: "crash", key: "memory", hint });
                }
                Kind::Crash { node, back_after: back_after.map(|after| (after, self.take_memory())) }
            }
            Word::Restart => {
                let (node, after) = (self.take_node()?, self.take_back_after()?.unwrap_or(Span::ZERO));
                Kind::Crash { node, back_after: Some((after, self.take_memory())) }
            }
            Word::Pause => Kind::Pause { node: self.take_node()?, lasts: self.take_lasts()? },
            Word::Cut => Kind::Cut { between: self.take_nodes()?, lasts: self.take_lasts()? },
            Word::Jam => {
                let area = self.take_area()?.ok_or_else(|| self.missing("disc", "where, or \"rectangle\""))?;
                Kind::Jam { area, lasts: self.take_lasts()? }
            }
            Word::Partition => Kind::Partition { border: self.take_border()?, lasts: self.take_lasts()? },
            Word::Loss => {
                let (area, lasts) = (self.take_area()?, self.take_lasts()?);
                Kind::Loss { area, chance: self.take_loss()?, lasts }
            }
        };
        self.refuse_the_rest()?;
        Ok(Fault { at, kind })
    }

    fn missing(&self, key: &'static str, meaning: &'static str) -> Nonsense {
        Nonsense::Missing { kind: self.kind.name(), key, meaning }
    }

    fn take_node(&mut self) -> Result<NodeId, Nonsense> {
        self.node.take().map(NodeId).ok_or_else(|| self.missing("node", "which one"))
    }

    fn take_nodes(&mut self) -> Result<(NodeId, NodeId), Nonsense> {
        let [a, b] = self.nodes.take().ok_or_else(|| self.missing("nodes", "which two"))?;
        if a == b {
            return Err(Nonsense::SameNode(a));
        }
        Ok((NodeId(a), NodeId(b)))
    }

    fn take_back_after(&mut self) -> Result<Option<Span>, Nonsense> {
        let after = self.back_after.take().map(|after| seconds("back-after", after)).transpose()?;
        Ok(after.map(Span::from_units))
    }

    fn take_memory(&mut self) -> Memory {
        self.memory.take().unwrap_or(Memory::Lost)
    }

    fn take_lasts(&mut self) -> Result<Span, Nonsense> {
        let lasts = self.lasts.take().ok_or_else(|| self.missing("lasts", "for how many seconds"))?;
        seconds("lasts", positive("lasts", lasts)?).map(Span::from_units)
    }

    fn take_loss(&mut self) -> Result<Chance, Nonsense> {
        let value = self.loss.take().ok_or_else(|| self.missing("loss", "how many of the frames, from 0 to 1"))?;
        Chance::new(value).ok_or(Nonsense::Number { key: "loss", bound: "a probability from 0 to 1", value })
    }

    fn take_area(&mut self) -> Result<Option<Area>, Nonsense> {
        let point = |[x, y]: [f64; 2]| Point { x, y };
        match (self.disc.take(), self.rectangle.take()) {
            (None, None) => Ok(None),
            (Some(disc), None) => Area::disc(point(disc.centre), disc.radius).map(Some),
            (None, Some(corners)) => Area::rectangle(point(corners.from), point(corners.to)).map(Some),
            (Some(_), Some(_)) => Err(Nonsense::SeveralAreas),
        }
    }

    fn take_border(&mut self) -> Result<Border, Nonsense> {
        let point = |[x, y]: [f64; 2]| Point { x, y };
        match (self.take_area()?, self.line.take()) {
            (None, None) => Err(self.missing("line", "where, or \"rectangle\" or \"disc\"")),
            (Some(area), None) => Ok(Border::of(area)),
            (None, Some(points)) => Border::line(point(points.from), point(points.to)),
            (Some(_), Some(_)) => Err(Nonsense::SeveralAreas),
        }
    }

    /// What a kind of fault has not taken, it does not have.
    fn refuse_the_rest(&self) -> Result<(), Nonsense> {
        let Self { at: _, kind, node, nodes, back_after, memory, lasts, disc, rectangle, line, loss } = *self;
        let rest = [
            ("node", node.is_some()),
            ("nodes", nodes.is_some()),
            ("back-after", back_after.is_some()),
            ("memory", memory.is_some()),
            ("lasts", lasts.is_some()),
            ("disc", disc.is_some()),
            ("rectangle", rectangle.is_some()),
            ("line", line.is_some()),
            ("loss", loss.is_some()),
        ];
        match rest.into_iter().find(|(_, given)| *given) {
            None => Ok(()),
            Some((key, _)) => {
                let hint = match (kind, key) {
                    (Word::Crash | Word::Restart, "lasts") => " or call it \"back-after\"",
                    (Word::Pause, "back-after") => " or call it \"lasts\"",
                    _ => "",
                };
                Err(Nonsense::Superfluous { kind: kind.name(), key, hint })
            }
        }
    }
}

impl From<&Fault> for Written {
    fn from(fault: &Fault) -> Self {
        let written = |kind| Self::empty(fault.at, kind);
        match fault.kind {
            Kind::Crash { node, back_after: None } => Self { node: Some(node.0), ..written(Word::Crash) },
            Kind::Crash { node, back_after: Some((after, memory)) } => Self {
                node: Some(node.0),
                back_after: Some(after.units()),
                memory: Some(memory),
                ..written(Word::Crash)
            },
            Kind::Pause { node, lasts } => {
                Self { node: Some(node.0), lasts: Some(lasts.units()), ..written(Word::Pause) }
            }
            Kind::Cut { between: (a, b), lasts } => {
                Self { nodes: Some([a.0, b.0]), lasts: Some(lasts.units()), ..written(Word::Cut) }
            }
            Kind::Jam { area, lasts } => {
                Self { lasts: Some(lasts.units()), ..written(Word::Jam) }.within(Border::of(area))
            }
            Kind::Partition { border, lasts } => {
                Self { lasts: Some(lasts.units()), ..written(Word::Partition) }.within(border)
            }
            Kind::Loss { area, chance, lasts } => {
                let loss = Self { lasts: Some(lasts.units()), loss: Some(chance.get()), ..written(Word::Loss) };
                area.map_or(loss, |area| loss.within(Border::of(area)))
            }
        }
    }
}

impl Written {
    fn within(self, border: Border) -> Self {
        let points = |from: Point, to: Point| Some(Points { from: [from.x, from.y], to: [to.x, to.y] });
        match border.0 {
            Divide::Edge(Area(Shape::Disc { centre, radius })) => {
                Self { disc: Some(Disc { centre: [centre.x, centre.y], radius }), ..self }
            }
            Divide::Edge(Area(Shape::Rectangle { low, high })) => Self { rectangle: points(low, high), ..self },
            Divide::Line { from, to } => Self { line: points(from, to), ..self },
        }
    }
}

impl Serialize for Fault {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Written::from(self).serialize(serializer)
    }
}

impl Serialize for Schedule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(&self.0)
    }
}

impl<'de> Deserialize<'de> for Schedule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(List)
    }
}

/// Reads the list, so that an error can name the number of the fault.
struct List;

impl<'de> Visitor<'de> for List {
    type Value = Schedule;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("a list of faults, each of them a table [[fault]]")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Schedule, A::Error> {
        let mut faults = Vec::new();
        while let Some(fault) = list.next_element_seed(Numbered(faults.len() + 1))? {
            faults.push(fault);
        }
        Ok(Schedule(faults))
    }
}

/// Reads the fault with this number. What is wrong is said from inside its table, so that a TOML error points there.
struct Numbered(usize);

impl<'de> DeserializeSeed<'de> for Numbered {
    type Value = Fault;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Fault, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Numbered {
    type Value = Fault;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "fault {}, a table with \"at\" and \"kind\"", self.0)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Fault, A::Error> {
        let written = Written::deserialize(MapAccessDeserializer::new(map))?;
        written.read().map_err(|why| A::Error::custom(FaultError { number: self.0, why }))
    }
}

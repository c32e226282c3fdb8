//! Schedules by seed.

use crate::plane::Point;
use driftlock_net::{Span, Time};
use driftlock_protocol::NodeId;
use serde::{Deserialize, Serialize};

use super::area::{not_negative, positive, seconds};
use super::file::two;
use super::{Area, Border, Chance, Fault, Kind, Memory, Nonsense, Schedule};
use crate::mobility;
use crate::random::{Stream, Subject, angle, exponential, point, stream, uniform, unit};

/// From what faults are drawn. Pairs are the least and the greatest; times are seconds and lengths metres.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Ranges {
    /// No fault begins earlier.
    pub begins_at: f64,
    /// Every fault is over by then.
    pub heals_at: f64,
    /// Crashes of any node.
    pub crashes: Often,
    /// How many of the crashes lose the memory.
    pub memory_lost: f64,
    /// Pauses of any node.
    pub pauses: Often,
    /// Jammed discs and rectangles.
    pub jams: Often,
    /// Partitions by lines, discs and rectangles.
    pub partitions: Often,
    /// Times with more loss, half of them everywhere.
    pub losses: Often,
    /// The loss of those.
    #[serde(deserialize_with = "two")]
    pub loss: [f64; 2],
    /// The radius of discs, and half a side of rectangles.
    #[serde(deserialize_with = "two")]
    pub size: [f64; 2],
}

/// How often something happens in the whole field, at independent times, and how long it lasts.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Often {
    /// The mean number in a minute.
    pub per_minute: f64,
    /// The shortest and the longest, in seconds.
    #[serde(deserialize_with = "two")]
    pub lasts: [f64; 2],
}

impl Often {
    /// It does not happen.
    pub const NEVER: Self = Self { per_minute: 0.0, lasts: [0.0, 0.0] };
}

impl Default for Ranges {
    /// Nothing happens in the first minute, after which it has healed.
    fn default() -> Self {
        Self {
            begins_at: 0.0,
            heals_at: 60.0,
            crashes: Often::NEVER,
            memory_lost: 0.5,
            pauses: Often::NEVER,
            jams: Often::NEVER,
            partitions: Often::NEVER,
            losses: Often::NEVER,
            loss: [0.1, 0.9],
            size: [100.0, 400.0],
        }
    }
}

impl Schedule {
    /// Faults of the nodes 0 to `nodes` - 1 and of this area by chance, in the order of time, all of them over at
    /// [`Ranges::heals_at`]: what would last longer ends then. Each kind has numbers of its own, so that more faults of
    /// one kind change nothing about the others.
    pub fn random(seed: u64, nodes: u32, area: mobility::Area, ranges: &Ranges) -> Result<Self, Nonsense> {
        ranges.check()?;
        positive("width", area.width)?;
        positive("height", area.height)?;
        let field = Field { nodes, area, ranges };
        let somebody = nodes > 0;
        let often = [
            (What::Crash, ranges.crashes, somebody),
            (What::Pause, ranges.pauses, somebody),
            (What::Jam, ranges.jams, true),
            (What::Partition, ranges.partitions, true),
            (What::Loss, ranges.losses, true),
        ];
        let mut faults = Vec::new();
        for (what, often, possible) in often {
            if possible && often.per_minute > 0.0 {
                field.draw(what, &often, &mut stream(seed, Subject::Fault, what as u32), &mut faults)?;
            }
        }
        faults.sort_by_key(|fault| fault.at);
        Ok(Self(faults))
    }
}

#[derive(Clone, Copy)]
enum What {
    Crash,
    Pause,
    Jam,
    Partition,
    Loss,
}

const SECONDS_PER_MINUTE: f64 = 60.0;
/// One in a millisecond: more would say nothing, and could fill the memory.
const PER_MINUTE_MAX: f64 = 60_000.0;
/// Of each kind, on average.
const FAULTS_MAX: f64 = 1e6;
/// The least size of an area, in metres: anywhere on a field its edges are apart from each other.
const SIZE_MIN: f64 = 1e-3;

impl Ranges {
    fn check(&self) -> Result<(), Nonsense> {
        seconds("begins-at", self.begins_at)?;
        let value = seconds("heals-at", self.heals_at)?;
        if value <= self.begins_at {
            return Err(Nonsense::Number { key: "heals-at", bound: "later than \"begins-at\"", value });
        }
        for (kind, often) in [
            ("crashes", &self.crashes),
            ("pauses", &self.pauses),
            ("jams", &self.jams),
            ("partitions", &self.partitions),
            ("losses", &self.losses),
        ] {
            self.check_often(often).map_err(|why| Nonsense::Of { kind, why: Box::new(why) })?;
        }
        in_order("size", self.size)?;
        if self.size[0] < SIZE_MIN {
            return Err(Nonsense::Number { key: "size", bound: "0.001 m or more", value: self.size[0] });
        }
        for loss in in_order("loss", self.loss)? {
            chance("loss", loss)?;
        }
        chance("memory-lost", self.memory_lost)?;
        Ok(())
    }

    fn check_often(&self, often: &Often) -> Result<(), Nonsense> {
        let value = not_negative("per-minute", often.per_minute)?;
        if value > PER_MINUTE_MAX {
            return Err(Nonsense::Number { key: "per-minute", bound: "at most 60000", value });
        }
        for lasts in in_order("lasts", often.lasts)? {
            seconds("lasts", lasts)?;
        }
        self.check_number(often)
    }

    /// Whether there is room for all of them.
    fn check_number(&self, often: &Often) -> Result<(), Nonsense> {
        let (per_minute, seconds) = (often.per_minute, self.heals_at - self.begins_at);
        let faults = per_minute * seconds / SECONDS_PER_MINUTE;
        if faults > FAULTS_MAX { Err(Nonsense::TooMany { per_minute, seconds, faults }) } else { Ok(()) }
    }
}

/// What faults are drawn for.
struct Field<'a> {
    nodes: u32,
    area: mobility::Area,
    ranges: &'a Ranges,
}

impl Field<'_> {
    fn draw(&self, what: What, often: &Often, stream: &mut Stream, faults: &mut Vec<Fault>) -> Result<(), Nonsense> {
        let heals_at = Time::from_units(self.ranges.heals_at);
        let mut seconds = self.ranges.begins_at;
        loop {
            seconds += exponential(SECONDS_PER_MINUTE / often.per_minute, stream);
            let at = Time::from_units(seconds);
            if at >= heals_at {
                return Ok(());
            }
            let lasts = Span::from_units(between(often.lasts, stream)).min(heals_at - at);
            faults.push(Fault { at, kind: self.kind(what, lasts, stream)? });
        }
    }

    fn kind(&self, what: What, lasts: Span, stream: &mut Stream) -> Result<Kind, Nonsense> {
        Ok(match what {
            What::Crash => {
                let (node, luck) = (self.node(stream), unit(stream));
                let memory = if luck < self.ranges.memory_lost { Memory::Lost } else { Memory::Kept };
                Kind::Crash { node, back_after: Some((lasts, memory)) }
            }
            What::Pause => Kind::Pause { node: self.node(stream), lasts },
            What::Jam => Kind::Jam { area: self.area(stream)?, lasts },
            What::Partition => Kind::Partition { border: self.border(stream)?, lasts },
            What::Loss => {
                let (everywhere, area) = (unit(stream) < 0.5, self.area(stream)?);
                let chance = chance("loss", between(self.ranges.loss, stream))?;
                Kind::Loss { area: (!everywhere).then_some(area), chance, lasts }
            }
        })
    }

    fn node(&self, stream: &mut Stream) -> NodeId {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // less than `nodes`
        let node = (unit(stream) * f64::from(self.nodes)) as u32;
        NodeId(node)
    }

    fn point(&self, stream: &mut Stream) -> Point {
        point(Point { x: self.area.width, y: self.area.height }, stream)
    }

    fn area(&self, stream: &mut Stream) -> Result<Area, Nonsense> {
        let (round, middle) = (unit(stream) < 0.5, self.point(stream));
        let (x, y) = (between(self.ranges.size, stream), between(self.ranges.size, stream));
        if round {
            return Area::disc(middle, x);
        }
        Area::rectangle(Point { x: middle.x - x, y: middle.y - y }, Point { x: middle.x + x, y: middle.y + y })
    }

    fn border(&self, stream: &mut Stream) -> Result<Border, Nonsense> {
        if unit(stream) < 0.5 {
            return self.area(stream).map(Border::of);
        }
        let (from, direction) = (self.point(stream), angle(stream));
        Border::line(from, Point { x: from.x + libm::cos(direction), y: from.y + libm::sin(direction) })
    }
}

fn between([low, high]: [f64; 2], stream: &mut Stream) -> f64 {
    uniform(low, high, stream)
}

/// The least and the greatest, finite.
fn in_order(key: &'static str, [low, high]: [f64; 2]) -> Result<[f64; 2], Nonsense> {
    if low <= high && low.is_finite() && high.is_finite() {
        Ok([low, high])
    } else {
        Err(Nonsense::NoRange { key, low, high })
    }
}

fn chance(key: &'static str, value: f64) -> Result<Chance, Nonsense> {
    Chance::new(value).ok_or(Nonsense::Number { key, bound: "a probability from 0 to 1", value })
}

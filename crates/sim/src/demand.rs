//! What requests ask for: how many units, how urgently, and by when.

use std::fmt;
use std::str::FromStr;

use driftlock_protocol::{Deadline, Demand, Priority, Units};
use rand::RngExt;
use serde::{Deserialize, Serialize};

use crate::queue::Time;
use crate::random::{self, Duration, Stream};

/// Whole numbers from one to another, both included, all equally likely. Written `2` or `1..4`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(try_from = "Spelling", into = "Spelling")]
pub struct Interval {
    low: u32,
    high: u32,
}

impl Interval {
    /// This number and no other.
    pub const fn only(number: u32) -> Self {
        Self { low: number, high: number }
    }

    /// All numbers from one to the other, whichever is the smaller.
    pub fn between(one: u32, other: u32) -> Self {
        Self { low: one.min(other), high: one.max(other) }
    }

    /// The smallest number.
    pub fn low(self) -> u32 {
        self.low
    }

    /// The largest number.
    pub fn high(self) -> u32 {
        self.high
    }

    /// How many numbers there are.
    pub fn count(self) -> u64 {
        u64::from(self.high - self.low) + 1
    }

    /// Each of the numbers, if there are several: what can be told apart.
    pub fn classes(self) -> impl Iterator<Item = u32> {
        (self.low..=self.high).filter(move |_| self.low < self.high)
    }

    /// One of the numbers. Where there is only one, nothing is drawn.
    pub fn sample(self, stream: &mut Stream) -> u32 {
        if self.low == self.high { self.low } else { stream.random_range(self.low..=self.high) }
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.low == self.high { write!(f, "{}", self.low) } else { write!(f, "{}..{}", self.low, self.high) }
    }
}

impl FromStr for Interval {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.trim().parse::<u32>().ok();
        let parsed = match text.split_once("..") {
            None => number(text).map(Self::only),
            Some((low, high)) => {
                number(low).zip(number(high)).filter(|(low, high)| low <= high).map(|(low, high)| Self { low, high })
            }
        };
        parsed.ok_or_else(|| {
            format!("{text:?} is no range: write a whole number such as 2, or two such as 1..4, the smaller first")
        })
    }
}

/// In a file a range is a number or a text.
#[derive(Serialize, Deserialize)]
#[serde(untagged, expecting = "no range: write a whole number such as 2, or a text such as \"1..4\"")]
enum Spelling {
    Number(u32),
    Text(String),
}

impl TryFrom<Spelling> for Interval {
    type Error = String;

    fn try_from(spelling: Spelling) -> Result<Self, String> {
        match spelling {
            Spelling::Number(number) => Ok(Self::only(number)),
            Spelling::Text(text) => text.parse(),
        }
    }
}

impl From<Interval> for Spelling {
    fn from(interval: Interval) -> Self {
        if interval.low == interval.high { Self::Number(interval.low) } else { Self::Text(interval.to_string()) }
    }
}

/// How long after the request its deadline lies. Written as a [`Duration`], or `none`.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(try_from = "random::Spelling", into = "random::Spelling")]
pub enum Deadlines {
    /// No request has one.
    #[default]
    None,
    /// Every request has one.
    After(Duration),
}

impl Deadlines {
    /// The mean, in time units, if there are any.
    pub fn mean(self) -> Option<f64> {
        match self {
            Self::None => None,
            Self::After(duration) => Some(duration.mean()),
        }
    }

    /// The deadline of a request that is made `now`.
    fn sample(self, now: Time, stream: &mut Stream) -> Deadline {
        match self {
            Self::None => Deadline::NONE,
            Self::After(duration) => Deadline((now + duration.sample(stream)).0),
        }
    }
}

impl fmt::Display for Deadlines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::After(duration) => duration.fmt(f),
        }
    }
}

impl FromStr for Deadlines {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "none" {
            return Ok(Self::None);
        }
        text.parse().map(Self::After).map_err(|_| {
            format!(
                "{text:?} is no time until a deadline: write none, a number such as 10, uniform:5..15 or \
                 exponential:10, finite and not negative"
            )
        })
    }
}

impl TryFrom<random::Spelling> for Deadlines {
    type Error = String;

    fn try_from(spelling: random::Spelling) -> Result<Self, String> {
        match spelling {
            random::Spelling::Text(text) => text.parse(),
            number @ random::Spelling::Number(_) => Duration::try_from(number).map(Self::After),
        }
    }
}

impl From<Deadlines> for random::Spelling {
    fn from(deadlines: Deadlines) -> Self {
        match deadlines {
            Deadlines::None => Self::Text(deadlines.to_string()),
            Deadlines::After(duration) => duration.into(),
        }
    }
}

/// What the requests of a run ask for.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Demands {
    /// How many units.
    pub units: Interval,
    /// How urgently; the larger is the more urgent.
    pub priorities: Interval,
    /// By when.
    pub deadlines: Deadlines,
}

impl Demands {
    /// Always one unit, whenever it may be: [`Demand::ONE`]. Nothing has to be drawn for it.
    pub const ONE: Self = Self { units: Interval::only(1), priorities: Interval::only(0), deadlines: Deadlines::None };

    /// What a request asks for that is made `now`.
    pub fn draw(&self, now: Time, stream: &mut Stream) -> Demand {
        Demand {
            // Nobody plans requests for no unit at all.
            units: Units::new(self.units.sample(stream)).unwrap_or(Units::ONE),
            priority: Priority(self.priorities.sample(stream)),
            deadline: self.deadlines.sample(now, stream),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Subject, stream};

    #[test]
    fn ranges_and_deadlines_are_spelled_as_they_are_read() {
        for text in ["2", "0", "1..4"] {
            assert_eq!(text.parse::<Interval>().unwrap().to_string(), text);
        }
        for text in ["", "-1", "4..1", "1..", "..3", "1.5", "1..4..5", "a..b", "4294967296"] {
            assert!(text.parse::<Interval>().unwrap_err().contains("is no range"), "{text:?} should be refused");
        }
        for text in ["none", "10", "uniform:5..15", "exponential:50"] {
            assert_eq!(text.parse::<Deadlines>().unwrap().to_string(), text);
        }
        for text in ["", "soon", "-1", "uniform:2..1", "inf"] {
            assert!(text.parse::<Deadlines>().unwrap_err().contains("write none"), "{text:?} should be refused");
        }
    }

    #[test]
    fn in_a_file_they_are_numbers_or_texts() {
        let json = |demands: (Interval, Deadlines)| serde_json::to_string(&demands).unwrap();
        for text in ["[1,\"none\"]", "[\"1..4\",\"exponential:50\"]", "[2,10.0]"] {
            assert_eq!(json(serde_json::from_str(text).unwrap()), text);
        }
        for text in ["-1", "1.5", "\"4..1\"", "true", "[1]"] {
            assert!(serde_json::from_str::<Interval>(text).is_err(), "{text} should be refused");
        }
    }

    #[test]
    fn every_number_of_a_range_is_drawn_equally_often() {
        let mut stream = stream(1, 0, Subject::Demand);
        let interval = Interval::between(3, 6);
        let mut counts = [0; 7];
        for _ in 0..40_000 {
            counts[interval.sample(&mut stream) as usize] += 1;
        }
        assert_eq!(counts[..3], [0; 3]);
        assert!(counts[3..].iter().all(|count| (9_500..10_500).contains(count)), "{counts:?}");
    }

    #[test]
    fn a_single_class_is_none_worth_telling_apart() {
        assert_eq!(Interval::only(7).classes().count(), 0);
        assert_eq!(Interval::between(4, 2).classes().collect::<Vec<_>>(), [2, 3, 4]);
        assert_eq!(Interval::between(0, u32::MAX).count(), 1 << 32);
    }

    #[test]
    fn nothing_is_drawn_where_there_is_no_choice() {
        let mut drawn = stream(1, 0, Subject::Demand);
        assert_eq!(Demands::ONE.draw(Time(5), &mut drawn), Demand::ONE);
        assert_eq!(drawn, stream(1, 0, Subject::Demand));
    }

    #[test]
    fn a_deadline_lies_after_its_request() {
        let deadlines = Deadlines::After(Duration::Constant(2.0));
        let demand = Demands { deadlines, ..Demands::ONE }.draw(Time(5), &mut stream(1, 0, Subject::Demand));
        assert_eq!(demand.deadline, Deadline(2_000_000_005));
    }
}

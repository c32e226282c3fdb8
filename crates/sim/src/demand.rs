//! What requests ask for: how many units, how urgently, and by when.

use driftlock_net::Time;
use std::fmt;
use std::str::FromStr;

use driftlock_protocol::{Deadline, Demand, Priority, Units};
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

use crate::random::{self, Duration};

/// The most numbers that are told apart.
const NUMBERS_MAX: usize = 64;

/// Whole numbers, each as likely as it is listed often. Written `2`, `1..4` (both included) or `0,50,100`; in `1,1,2`
/// the first is drawn twice as often as the second.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(try_from = "Spelling", into = "String")]
pub struct Numbers {
    /// At least one, the smallest first, each as often as it is listed.
    listed: Vec<u32>,
    /// The same, none twice.
    distinct: Vec<u32>,
}

impl Numbers {
    /// This number and no other.
    pub fn only(number: u32) -> Self {
        Self::listed(vec![number])
    }

    /// From one to the other, both included, as far as can be told apart.
    pub fn between(first: u32, last: u32) -> Self {
        Self::listed((first..=last.max(first)).take(NUMBERS_MAX).collect())
    }

    fn listed(mut listed: Vec<u32>) -> Self {
        listed.sort_unstable();
        let mut distinct = listed.clone();
        distinct.dedup();
        Self { listed, distinct }
    }

    /// These and those, each as often as both list it.
    #[must_use]
    pub fn and(&self, others: &Self) -> Self {
        Self::listed([&self.listed[..], &others.listed].concat())
    }

    /// All of them, the smallest first, none twice.
    pub fn all(&self) -> &[u32] {
        &self.distinct
    }

    /// Whether one of them is listed more than once.
    pub fn repeats(&self) -> bool {
        self.listed.len() > self.distinct.len()
    }

    /// The smallest number.
    pub fn low(&self) -> u32 {
        self.distinct[0]
    }

    /// The largest number.
    pub fn high(&self) -> u32 {
        self.distinct[self.distinct.len() - 1]
    }

    /// Each of the numbers, if there are several: what can be told apart.
    pub fn classes(&self) -> &[u32] {
        if self.distinct.len() > 1 { &self.distinct } else { &[] }
    }

    /// One of the numbers. Where there is only one, nothing is drawn.
    pub fn sample(&self, stream: &mut impl Rng) -> u32 {
        if self.distinct.len() == 1 { self.low() } else { self.listed[stream.random_range(0..self.listed.len())] }
    }
}

impl fmt::Display for Numbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, run) in self.listed.chunk_by(|a, b| a + 1 == *b).enumerate() {
            let comma = if at == 0 { "" } else { "," };
            match *run {
                [first, .., last] => write!(f, "{comma}{first}..{last}")?,
                [number] => write!(f, "{comma}{number}")?,
                [] => {}
            }
        }
        Ok(())
    }
}

impl FromStr for Numbers {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let unreadable = || {
            format!(
                "{text:?} is no choice of numbers: write one such as 2, a range such as 1..4, or a list such as 0,50,100"
            )
        };
        let number = |text: &str| text.trim().parse::<u32>().map_err(|_| unreadable());
        let mut numbers = Vec::new();
        for part in text.split(',') {
            let (first, last) = part.split_once("..").unwrap_or((part, part));
            let (first, last) = (number(first)?, number(last)?);
            if last < first {
                return Err(unreadable());
            }
            // One more than fits is enough to say that there are too many.
            numbers.extend((first..=last).take(NUMBERS_MAX + 1));
        }
        let numbers = Self::listed(numbers);
        if numbers.distinct.len() > NUMBERS_MAX {
            return Err(format!("{text:?} are too many numbers: at most {NUMBERS_MAX} are told apart"));
        }
        Ok(numbers)
    }
}

/// In a file it is a number or a text; it is always written as a text.
#[derive(Deserialize)]
#[serde(untagged, expecting = "no choice of numbers: write a whole number such as 2, or a text such as \"1..4\"")]
enum Spelling {
    Number(u32),
    Text(String),
}

impl TryFrom<Spelling> for Numbers {
    type Error = String;

    fn try_from(spelling: Spelling) -> Result<Self, String> {
        match spelling {
            Spelling::Number(number) => Ok(Self::only(number)),
            Spelling::Text(text) => text.parse(),
        }
    }
}

impl From<Numbers> for String {
    fn from(numbers: Numbers) -> Self {
        numbers.to_string()
    }
}

/// How long after the request its deadline lies. Written as a [`Duration`], or `none`.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(try_from = "random::Spelling", into = "String")]
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
    fn sample(self, now: Time, stream: &mut impl Rng) -> Deadline {
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

impl From<Deadlines> for String {
    fn from(deadlines: Deadlines) -> Self {
        deadlines.to_string()
    }
}

/// What the requests of a run ask for.
#[derive(Clone, PartialEq, Debug)]
pub struct Demands {
    /// How many units.
    pub units: Numbers,
    /// How urgently; the larger is the more urgent.
    pub priorities: Numbers,
    /// By when.
    pub deadlines: Deadlines,
}

impl Default for Demands {
    /// Always one unit, whenever it may be: [`Demand::ONE`]. Nothing has to be drawn for it.
    fn default() -> Self {
        Self { units: Numbers::only(1), priorities: Numbers::only(0), deadlines: Deadlines::None }
    }
}

impl Demands {
    /// What a request asks for that is made `now`.
    pub fn draw(&self, now: Time, stream: &mut impl Rng) -> Demand {
        Demand {
            // No application plans requests for no unit at all.
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
    fn numbers_and_deadlines_are_spelled_as_they_are_read() {
        for text in ["2", "0", "1..4", "0,50,100", "1..3,7"] {
            assert_eq!(text.parse::<Numbers>().unwrap().to_string(), text);
        }
        assert_eq!("3,1,2".parse::<Numbers>().unwrap().to_string(), "1..3");
        let weighted = "3,1,2,2".parse::<Numbers>().unwrap();
        assert_eq!(weighted.to_string().parse(), Ok(weighted.clone()), "{weighted}");
        assert_eq!((weighted.all(), weighted.repeats()), (&[1, 2, 3][..], true));
        for text in ["", "-1", "4..1", "1..", "..3", "1.5", "1..4..5", "a..b", "4294967296", "1,"] {
            let refusal = text.parse::<Numbers>().unwrap_err();
            assert!(refusal.contains("is no choice of numbers"), "{text:?} should be refused");
        }
        assert_eq!("1..64".parse::<Numbers>().unwrap().all().len(), 64);
        for text in ["0..64", "0..4294967295"] {
            assert!(text.parse::<Numbers>().unwrap_err().contains("at most 64"));
        }
        for text in ["none", "10", "uniform:5..15", "exponential:50"] {
            assert_eq!(text.parse::<Deadlines>().unwrap().to_string(), text);
        }
        for text in ["", "soon", "-1", "uniform:2..1", "inf"] {
            assert!(text.parse::<Deadlines>().unwrap_err().contains("write none"), "{text:?} should be refused");
        }
    }

    #[test]
    fn in_a_file_they_are_numbers_or_texts_and_are_written_as_texts() {
        type Spelled = (Numbers, Deadlines, Duration);
        let json = |spelled: Spelled| serde_json::to_string(&spelled).unwrap();
        for (read, written) in [
            (r#"[1,"none",2]"#, r#"["1","none","2"]"#),
            (r#"["1..4","exponential:50","uniform:1..2"]"#, r#"["1..4","exponential:50","uniform:1..2"]"#),
            (r"[2,10.0,0.5]", r#"["2","10","0.5"]"#),
        ] {
            let spelled: Spelled = serde_json::from_str(read).unwrap();
            assert_eq!(json(spelled.clone()), written);
            assert_eq!(serde_json::from_str::<Spelled>(written).unwrap(), spelled);
        }
        for text in ["-1", "1.5", "\"4..1\"", "true", "[1]"] {
            assert!(serde_json::from_str::<Numbers>(text).is_err(), "{text} should be refused");
        }
    }

    #[test]
    fn every_number_of_a_range_is_drawn_equally_often() {
        let mut stream = stream(1, 0, Subject::Demand);
        let numbers = Numbers::between(3, 6);
        let mut counts = [0; 7];
        for _ in 0..40_000 {
            counts[numbers.sample(&mut stream) as usize] += 1;
        }
        assert_eq!(counts[..3], [0; 3]);
        assert!(counts[3..].iter().all(|count| (9_500..10_500).contains(count)), "{counts:?}");
    }

    #[test]
    fn a_number_that_is_listed_twice_is_drawn_twice_as_often() {
        let mut drawn = stream(1, 0, Subject::Demand);
        let numbers: Numbers = "1,1,2".parse().unwrap();
        assert_eq!(numbers.classes(), [1, 2]);
        let ones = (0..30_000).filter(|_| numbers.sample(&mut drawn) == 1).count();
        assert!((19_500..20_500).contains(&ones), "{ones} of 30,000");
        let same: Numbers = "2,2".parse().unwrap();
        assert!(same.repeats() && same.classes().is_empty());
        let before = drawn.clone();
        assert_eq!((same.sample(&mut drawn), drawn == before), (2, true), "nothing to draw");
    }

    #[test]
    fn a_single_class_is_none_worth_telling_apart() {
        assert!(Numbers::only(7).classes().is_empty());
        assert_eq!(Numbers::between(2, 4).classes(), [2, 3, 4]);
    }

    #[test]
    fn nothing_is_drawn_where_there_is_no_choice() {
        let mut drawn = stream(1, 0, Subject::Demand);
        assert_eq!(Demands::default().draw(Time(5), &mut drawn), Demand::ONE);
        assert_eq!(drawn, stream(1, 0, Subject::Demand));
    }

    #[test]
    fn a_deadline_lies_after_its_request() {
        let deadlines = Deadlines::After(Duration::Constant(2.0));
        let demand = Demands { deadlines, ..Demands::default() }.draw(Time(5), &mut stream(1, 0, Subject::Demand));
        assert_eq!(demand.deadline, Deadline(2_000_000_005));
    }
}

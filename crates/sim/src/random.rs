//! One seed, split per replication and subject, so that changing how much one subject draws disturbs no other. What
//! applications do is split further, by node and by the number of the request.

use driftlock_net::Span;
use driftlock_protocol::{NodeId, Stay};
use std::fmt;
use std::str::FromStr;

use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

/// A stream of random numbers.
pub type Stream = ChaCha8Rng;

/// What a stream is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Subject {
    /// The initial graph.
    Topology,
    /// Its changes.
    Mobility,
    /// When nodes ask.
    Workload,
    /// How long they stay in the CS.
    Service,
    /// How long messages take.
    Delay,
    /// What a fault-and-heal run looks like.
    Setting,
    /// What requests ask for.
    Demand,
    /// Which messages are lost.
    Loss,
    /// Who members are.
    Stay,
    /// Who is killed when in a fault-and-heal run, and what follows from being killed in any.
    Life,
    /// Who is killed when in a measured run.
    Restart,
    /// Which requests are withdrawn, and when.
    Patience,
}

/// The stream of `subject` in one replication of the run with this seed.
pub fn stream(seed: u64, replication: u32, subject: Subject) -> Stream {
    const SUBJECTS_MAX: u64 = 16;
    let mut stream = ChaCha8Rng::seed_from_u64(seed);
    stream.set_stream(u64::from(replication) * SUBJECTS_MAX + subject as u64);
    stream
}

/// The same for one of several neighbourhoods, which have nothing to do with one another.
pub fn stream_of_site(seed: u64, replication: u32, subject: Subject, site: u32) -> Stream {
    const REPLICATIONS_BITS: u32 = 40;
    let mut stream = stream(seed, replication, subject);
    stream.set_stream(stream.get_stream() | u64::from(site) << REPLICATIONS_BITS);
    stream
}

/// A stream for each thing that each node does, by the node and the number of the thing. What is drawn for the n-th
/// request of a node is so the same whatever happened before, and in whatever order.
///
/// Nothing is kept of a stream: it is made anew from the seed whenever something is drawn from it. A stream of
/// [`Stream`]'s kind would take a tenth of a microsecond for that; this one takes a few nanoseconds, and is the same on
/// every machine as well.
#[derive(Clone, Copy, Debug)]
pub struct Streams {
    root: u64,
}

impl Streams {
    /// Those of `subject` in one replication of the run with this seed.
    pub fn new(seed: u64, replication: u32, subject: Subject) -> Self {
        Self { root: stream(seed, replication, subject).random() }
    }

    /// The stream of what this node does for the time of this number.
    pub fn of(self, node: NodeId, number: u32) -> Xoshiro256PlusPlus {
        /// Odd, so that no two places coincide. The generator's state is made of four words, by steps of another odd
        /// number from here, so that it shares none with those of other places either.
        const APART: u64 = 0xD1B5_4A32_D192_ED03;
        let place = u64::from(node.0) << u32::BITS | u64::from(number);
        Xoshiro256PlusPlus::seed_from_u64(self.root.wrapping_add(place.wrapping_mul(APART)))
    }
}

/// Draws the stays of those who enter a neighbourhood: unique, for all that any run will ever show, and in no order.
#[derive(Clone, Debug)]
pub struct Stays(Stream);

impl Stays {
    /// Of one of several neighbourhoods in a replication of the run with this seed.
    pub fn of_site(seed: u64, replication: u32, site: u32) -> Self {
        Self(stream_of_site(seed, replication, Subject::Stay, site))
    }

    /// Of the only one.
    pub fn new(seed: u64, replication: u32) -> Self {
        Self::of_site(seed, replication, 0)
    }

    /// The next one.
    pub fn draw(&mut self) -> Stay {
        Stay(self.0.random())
    }

    /// Of so many.
    pub fn draw_all(&mut self, count: usize) -> Vec<Stay> {
        (0..count).map(|_| self.draw()).collect()
    }
}

/// An exponential sample with this mean.
pub fn exponential(mean: f64, stream: &mut impl Rng) -> f64 {
    // 1 - u lies in (0, 1], whose logarithm is finite.
    -mean * libm::log(1.0 - stream.random::<f64>())
}

/// How long something takes, in time units. Written `1`, `uniform:0.5..1.5` or `exponential:1`, which may
/// be shortened to `exp:1`.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(try_from = "Spelling", into = "String")]
pub enum Duration {
    /// Always the same.
    Constant(f64),
    /// Anything between the two alike.
    Uniform(f64, f64),
    /// Exponential with this mean.
    Exponential(f64),
}

impl Duration {
    /// The mean, in time units.
    pub fn mean(self) -> f64 {
        match self {
            Self::Constant(value) | Self::Exponential(value) => value,
            Self::Uniform(low, high) => f64::midpoint(low, high),
        }
    }

    /// The value, if it is always the same.
    pub fn constant(self) -> Option<Span> {
        match self {
            Self::Constant(value) => Some(Span::from_units(value)),
            Self::Uniform(..) | Self::Exponential(_) => None,
        }
    }

    /// The longest that it can be, in time units, if there is such a thing.
    pub fn longest(self) -> Option<f64> {
        match self {
            Self::Constant(value) | Self::Uniform(_, value) => Some(value),
            Self::Exponential(_) => None,
        }
    }

    /// A sample.
    pub fn sample(self, stream: &mut impl Rng) -> Span {
        Span::from_units(match self {
            Self::Constant(value) => value,
            Self::Uniform(low, high) => low + (high - low) * stream.random::<f64>(),
            Self::Exponential(mean) => exponential(mean, stream),
        })
    }

    fn is_sound(self) -> bool {
        let sound = |value: f64| value.is_finite() && value >= 0.0;
        match self {
            Self::Constant(value) | Self::Exponential(value) => sound(value),
            Self::Uniform(low, high) => sound(low) && sound(high) && low <= high,
        }
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constant(value) => write!(f, "{value}"),
            Self::Uniform(low, high) => write!(f, "uniform:{low}..{high}"),
            Self::Exponential(mean) => write!(f, "exponential:{mean}"),
        }
    }
}

impl FromStr for Duration {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.trim().parse::<f64>().ok();
        let parsed = match text.split_once(':') {
            None => number(text).map(Self::Constant),
            Some(("constant", value)) => number(value).map(Self::Constant),
            Some(("exponential" | "exp", mean)) => number(mean).map(Self::Exponential),
            Some(("uniform", range)) => {
                range.split_once("..").and_then(|(low, high)| Some(Self::Uniform(number(low)?, number(high)?)))
            }
            Some(_) => None,
        };
        parsed.filter(|duration| duration.is_sound()).ok_or_else(|| {
            format!(
                "{text:?} is no duration: write a number such as 1, uniform:0.5..1.5 or exponential:1, finite and not negative"
            )
        })
    }
}

/// In a file a duration is a number or a text. It is always written as a text: what reads results should not find
/// another type where there is another value.
#[derive(Deserialize)]
#[serde(untagged, expecting = "no duration: write a number such as 1, \"uniform:0.5..1.5\" or \"exponential:1\"")]
pub(crate) enum Spelling {
    Number(f64),
    Text(String),
}

impl TryFrom<Spelling> for Duration {
    type Error = String;

    fn try_from(spelling: Spelling) -> Result<Self, String> {
        match spelling {
            Spelling::Number(value) => value.to_string().parse(),
            Spelling::Text(text) => text.parse(),
        }
    }
}

impl From<Duration> for String {
    fn from(duration: Duration) -> Self {
        duration.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_of_different_subjects_and_replications_differ() {
        let first = |replication, subject| stream(7, replication, subject).random::<u64>();
        assert_eq!(first(0, Subject::Delay), first(0, Subject::Delay));
        assert_ne!(first(0, Subject::Delay), first(0, Subject::Workload));
        assert_ne!(first(0, Subject::Delay), first(1, Subject::Delay));
        let at_site = |site| stream_of_site(7, 0, Subject::Delay, site).random::<u64>();
        assert_eq!(first(0, Subject::Delay), at_site(0));
        assert_ne!(at_site(0), at_site(1));
    }

    #[test]
    fn streams_of_different_nodes_and_numbers_have_nothing_to_do_with_one_another() {
        let streams = Streams::new(7, 0, Subject::Workload);
        let drawn = |node, number| streams.of(NodeId(node), number).random::<f64>();
        assert_eq!(drawn(3, 5).to_bits(), drawn(3, 5).to_bits());
        let other = Streams::new(8, 0, Subject::Workload).of(NodeId(3), 5).random::<f64>();
        assert_ne!(drawn(3, 5).to_bits(), other.to_bits());
        // The variance of anything from 0 to 1 is a twelfth, and the covariance of two such that have nothing to do
        // with one another is none. What 90,000 pairs come to deviates from either by less than 0.0003, as a rule.
        let places = || (0..300).flat_map(|node| (0..300).map(move |number| (node, number)));
        let mean_product = |pair: &dyn Fn(u32, u32) -> (f64, f64)| {
            places().map(|(node, number)| pair(node, number)).map(|(a, b)| (a - 0.5) * (b - 0.5)).sum::<f64>() / 9e4
        };
        let variance = mean_product(&|node, number| (drawn(node, number), drawn(node, number)));
        assert!((variance - 1.0 / 12.0).abs() < 0.0015, "{variance}");
        let with_next_request = mean_product(&|node, number| (drawn(node, number), drawn(node, number + 1)));
        let with_next_node = mean_product(&|node, number| (drawn(node, number), drawn(node + 1, number)));
        let with_itself = mean_product(&|node, number| {
            let mut stream = streams.of(NodeId(node), number);
            (stream.random(), stream.random())
        });
        for covariance in [with_next_request, with_next_node, with_itself] {
            assert!(covariance.abs() < 0.0015, "{covariance}");
        }
    }

    #[test]
    fn stays_are_drawn_for_each_place_by_itself_and_lie_in_no_order() {
        let stays = Stays::of_site(7, 0, 1).draw_all(8);
        assert_eq!(stays, Stays::of_site(7, 0, 1).draw_all(8));
        assert!(!stays.is_sorted() && !stays.iter().rev().is_sorted(), "{stays:?}");
        for other in [Stays::new(7, 0), Stays::new(7, 1), Stays::new(8, 0)] {
            assert!(other.clone().draw_all(8).iter().all(|stay| !stays.contains(stay)));
        }
    }

    #[test]
    fn durations_are_spelled_as_they_are_read() {
        for text in ["1", "0.25", "uniform:0.5..1.5", "exponential:3"] {
            assert_eq!(text.parse::<Duration>().unwrap().to_string(), text);
        }
        assert_eq!("exp:3".parse(), Ok(Duration::Exponential(3.0)));
        for text in ["", "-1", "nan", "inf", "uniform:2..1", "exponential:-1", "gauss:1", "uniform:1"] {
            assert!(text.parse::<Duration>().is_err(), "{text:?} should be refused");
        }
    }

    #[test]
    fn no_sample_is_longer_than_the_longest() {
        let mut stream = stream(1, 0, Subject::Delay);
        for (duration, longest) in [(Duration::Constant(2.0), 2.0), (Duration::Uniform(1.0, 3.0), 3.0)] {
            assert_eq!(duration.longest(), Some(longest));
            assert!((0..10_000).all(|_| duration.sample(&mut stream) <= Span::from_units(longest)));
        }
        assert_eq!(Duration::Exponential(2.0).longest(), None);
    }

    #[test]
    fn samples_have_the_mean_that_was_asked_for() {
        let mut stream = stream(1, 0, Subject::Delay);
        for duration in [Duration::Constant(2.0), Duration::Uniform(1.0, 3.0), Duration::Exponential(2.0)] {
            let total: f64 = (0..100_000).map(|_| duration.sample(&mut stream).units()).sum();
            assert!((total / 1e5 - duration.mean()).abs() < 0.03, "{duration} has mean {}", total / 1e5);
        }
    }
}

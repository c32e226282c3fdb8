//! One seed, split per subject and number, so that changing how much one of them draws disturbs no other.

use crate::plane::Point;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A stream of random numbers, the same on every machine.
pub type Stream = ChaCha8Rng;

/// What a stream is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Subject {
    /// How a node moves; the number is the node's.
    Walk,
    /// How the reference point of a group moves; the number is the group's.
    Group,
    /// What goes wrong; the number is the kind's.
    Fault,
}

/// The stream of one node, group or other thing that is numbered.
pub fn stream(seed: u64, subject: Subject, number: u32) -> Stream {
    const NUMBER_BITS: u32 = 32;
    let mut stream = ChaCha8Rng::seed_from_u64(seed);
    stream.set_stream((subject as u64) << NUMBER_BITS | u64::from(number));
    stream
}

/// Anything from 0 to less than 1 alike.
pub fn unit(stream: &mut Stream) -> f64 {
    stream.random()
}

/// Anything between the two alike.
pub fn uniform(low: f64, high: f64, stream: &mut Stream) -> f64 {
    low + (high - low) * unit(stream)
}

/// An exponential sample with this mean.
pub fn exponential(mean: f64, stream: &mut Stream) -> f64 {
    // 1 - u lies in (0, 1], whose logarithm is finite.
    -mean * libm::log(1.0 - unit(stream))
}

/// A sample of the normal distribution with mean 0 and deviation 1, by Box and Muller. The second one that the method
/// gives is let go, so that every sample takes as many numbers from the stream.
pub fn normal(stream: &mut Stream) -> f64 {
    let radius = (-2.0 * libm::log(1.0 - unit(stream))).sqrt();
    radius * libm::cos(angle(stream))
}

/// Any direction alike, in radians.
pub fn angle(stream: &mut Stream) -> f64 {
    uniform(0.0, std::f64::consts::TAU, stream)
}

/// Any point of the rectangle between the origin and this corner alike.
pub fn point(corner: Point, stream: &mut Stream) -> Point {
    Point { x: uniform(0.0, corner.x, stream), y: uniform(0.0, corner.y, stream) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_of_different_seeds_subjects_and_numbers_differ() {
        let first = |seed, subject, number| stream(seed, subject, number).random::<u64>();
        assert_eq!(first(7, Subject::Walk, 3), first(7, Subject::Walk, 3));
        assert_ne!(first(7, Subject::Walk, 3), first(8, Subject::Walk, 3));
        assert_ne!(first(7, Subject::Walk, 3), first(7, Subject::Group, 3));
        assert_ne!(first(7, Subject::Walk, 3), first(7, Subject::Walk, 4));
    }

    #[test]
    fn samples_have_the_moments_of_their_distributions() {
        let mut stream = stream(1, Subject::Walk, 0);
        let mut moments = |sample: fn(&mut Stream) -> f64| {
            let samples: Vec<f64> = (0..100_000).map(|_| sample(&mut stream)).collect();
            let mean = samples.iter().sum::<f64>() / 1e5;
            (mean, samples.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / 1e5)
        };
        for ((mean, variance), (expected, spread)) in [
            (moments(unit), (0.5, 1.0 / 12.0)),
            (moments(|stream| exponential(2.0, stream)), (2.0, 4.0)),
            (moments(normal), (0.0, 1.0)),
        ] {
            assert!((mean - expected).abs() < 0.02 && (variance - spread).abs() < 0.1, "{mean} {variance}");
        }
    }
}

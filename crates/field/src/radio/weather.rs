//! Chance without memory: every draw is a hash of the seed, its subject and what it is about.
//!
//! Nothing is consumed, so no draw disturbs another, and the order of the draws does not matter. What the air between
//! two nodes does at an instant is a function of (seed, pair, instant): two algorithms that run under one seed meet the
//! same weather, whatever and however much they send.

use driftlock_net::dice::mix;
use driftlock_net::{Span, Time};
use driftlock_protocol::NodeId;

/// What a draw is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Subject {
    Loss,
    Burst,
    BurstState,
    Shadow,
    Backoff,
    Delay,
    Duplicate,
}

/// The seed, and what is drawn from it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Weather {
    seed: u64,
    /// Frames that begin in the same slot between the same two nodes meet the same luck.
    slot: Span,
    bursts: Option<Bursts>,
}

/// Bad spells of a link: a two-state Markov process in continuous time (Gilbert, Elliott).
#[derive(Clone, Copy, Debug)]
pub(super) struct Bursts {
    /// The time constant of the process, which is the length of a cell.
    pub cell: Span,
    /// The part of all time that is bad.
    pub bad: f64,
    /// The probability of a loss in a bad spell.
    pub loss: f64,
}

impl Weather {
    pub(super) fn new(seed: u64, slot: Span, bursts: Option<Bursts>) -> Self {
        Self { seed, slot: slot.max(Span(1)), bursts }
    }

    /// The luck of a frame from one node to another that begins `at` this instant, from 0 (lost first) to 1.
    pub(super) fn luck(&self, from: NodeId, to: NodeId, at: Time) -> f64 {
        self.uniform(Subject::Loss, directed(from, to), at.0 / self.slot.0, 0)
    }

    /// The probability that the spell which is on between two nodes loses a frame. The same in both directions.
    pub(super) fn spell(&self, one: NodeId, other: NodeId, at: Time) -> f64 {
        match self.bursts {
            Some(bursts) if self.is_bad(&bursts, undirected(one, other), at) => bursts.loss,
            _ => 0.0,
        }
    }

    /// The two-state process as a function of time. Renewals are a Poisson process; at each the state is drawn anew
    /// from the long-run shares, and in between it stays. That is the two-state Markov process exactly, and to know the
    /// state at an instant it is enough to find the last renewal before it: in the instant's own cell, or in one of the
    /// few before.
    fn is_bad(&self, bursts: &Bursts, pair: u64, at: Time) -> bool {
        let mut cell = at.0 / bursts.cell.0;
        let mut before = (at.0 % bursts.cell.0) as f64 / bursts.cell.0 as f64;
        loop {
            let mut last: Option<(f64, u64)> = None;
            for renewal in 1..=self.renewals(pair, cell) {
                let place = self.uniform(Subject::Burst, pair, cell, renewal);
                if place <= before && last.is_none_or(|(latest, _)| place > latest) {
                    last = Some((place, renewal));
                }
            }
            if let Some((_, renewal)) = last {
                return self.uniform(Subject::BurstState, pair, cell, renewal) < bursts.bad;
            }
            if cell == 0 {
                return self.uniform(Subject::BurstState, pair, 0, 0) < bursts.bad;
            }
            cell -= 1;
            before = 1.0;
        }
    }

    /// How many renewals a cell has: Poisson with mean one, by inversion.
    fn renewals(&self, pair: u64, cell: u64) -> u64 {
        let chance = self.uniform(Subject::Burst, pair, cell, 0);
        let mut count = 0;
        let mut term = libm::exp(-1.0);
        let mut sum = term;
        while chance >= sum && count < 32 {
            count += 1;
            term /= count as f64;
            sum += term;
        }
        count
    }

    /// A standard normal number of a pair of nodes, the same in both directions, at most three from zero.
    pub(super) fn normal(&self, one: NodeId, other: NodeId, place: u64) -> f64 {
        let pair = undirected(one, other);
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - self.uniform(Subject::Shadow, pair, place, 0)));
        let angle = core::f64::consts::TAU * self.uniform(Subject::Shadow, pair, place, 1);
        (radius * libm::cos(angle)).clamp(-3.0, 3.0)
    }

    /// The number of slots to wait, the `count`th time this node asks: 0 to `window`.
    pub(super) fn backoff(&self, node: NodeId, count: u64, window: u32) -> u32 {
        let wide = u128::from(self.bits(Subject::Backoff, u64::from(node.0), count, 0));
        u32::try_from((wide * (u128::from(window) + 1)) >> 64).unwrap_or(window)
    }

    /// A number in [0, 1) about one reception.
    pub(super) fn reception(&self, subject: Subject, from: NodeId, to: NodeId, at: Time, copy: u64) -> f64 {
        self.uniform(subject, directed(from, to), at.0, copy)
    }

    fn uniform(&self, subject: Subject, a: u64, b: u64, c: u64) -> f64 {
        const UNIT: f64 = 1.0 / (1_u64 << 53) as f64;
        (self.bits(subject, a, b, c) >> 11) as f64 * UNIT
    }

    fn bits(&self, subject: Subject, a: u64, b: u64, c: u64) -> u64 {
        let start = mix(self.seed ^ mix(subject as u64 + 1));
        [a, b, c].into_iter().fold(start, |hash, word| mix(hash ^ word))
    }
}

fn directed(from: NodeId, to: NodeId) -> u64 {
    u64::from(from.0) << 32 | u64::from(to.0)
}

fn undirected(one: NodeId, other: NodeId) -> u64 {
    directed(one.min(other), one.max(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: NodeId = NodeId(3);
    const B: NodeId = NodeId(8);

    fn weather(bursts: Option<Bursts>) -> Weather {
        Weather::new(7, Span(1_000_000), bursts)
    }

    #[test]
    fn luck_is_uniform_and_differs_by_direction_and_slot() {
        let weather = weather(None);
        let mean = (0..10_000).map(|slot| weather.luck(A, B, Time(slot * 1_000_000))).sum::<f64>() / 1e4;
        assert!((mean - 0.5).abs() < 0.01, "{mean}");
        assert!(weather.luck(A, B, Time(5)).to_bits() == weather.luck(A, B, Time(999_999)).to_bits());
        assert!(weather.luck(A, B, Time(5)).to_bits() != weather.luck(A, B, Time(1_000_000)).to_bits());
        assert!(weather.luck(A, B, Time(5)).to_bits() != weather.luck(B, A, Time(5)).to_bits());
    }

    #[test]
    fn bad_spells_have_the_means_they_were_given() {
        let [good, bad] = [90e6, 10e6];
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let cell = Span((1.0 / (1.0 / good + 1.0 / bad)) as u64);
        let weather = weather(Some(Bursts { cell, bad: bad / (good + bad), loss: 1.0 }));
        let (mut bad_steps, mut spells, mut was) = (0, 0, false);
        let steps = 4_000_000;
        for step in 0..steps {
            let is = weather.spell(A, B, Time(step * 100_000)) > 0.0;
            bad_steps += u64::from(is);
            spells += u64::from(is && !was);
            was = is;
        }
        let share = bad_steps as f64 / steps as f64;
        let mean_ns = bad_steps as f64 * 100_000.0 / spells as f64;
        assert!((share - 0.1).abs() < 0.01, "share {share}");
        assert!((mean_ns / bad - 1.0).abs() < 0.1, "mean {mean_ns}");
    }

    #[test]
    fn a_spell_does_not_depend_on_the_order_of_questions() {
        let weather = weather(Some(Bursts { cell: Span(1_000_000), bad: 0.5, loss: 0.7 }));
        let times = (0..500).map(|step| Time(step * 77_777)).collect::<Vec<_>>();
        let forth = times.iter().map(|&at| weather.spell(A, B, at).to_bits()).collect::<Vec<_>>();
        let mut back = times.iter().rev().map(|&at| weather.spell(B, A, at).to_bits()).collect::<Vec<_>>();
        back.reverse();
        assert_eq!(forth, back);
    }

    #[test]
    fn normal_numbers_have_mean_zero_and_deviation_one() {
        let draws = (0..20_000).map(|other| weather(None).normal(A, NodeId(100 + other), 0)).collect::<Vec<_>>();
        let mean = draws.iter().sum::<f64>() / 2e4;
        let variance = draws.iter().map(|draw| draw * draw).sum::<f64>() / 2e4;
        assert!(mean.abs() < 0.03 && (variance - 1.0).abs() < 0.05, "{mean} {variance}");
        assert!(draws.iter().all(|draw| draw.abs() <= 3.0));
    }

    #[test]
    fn backoff_takes_every_value_of_the_window_and_no_other() {
        let mut seen = [0_u32; 32];
        for count in 0..32_000 {
            seen[weather(None).backoff(A, count, 31) as usize] += 1;
        }
        assert!(seen.iter().all(|&times| (850..1150).contains(&times)), "{seen:?}");
    }
}

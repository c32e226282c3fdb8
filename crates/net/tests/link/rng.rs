//! A small generator, so that a seed says everything about a history.

use driftlock_net::dice::Dice;

pub(crate) struct Rng(Dice);

impl Rng {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Dice::new(seed))
    }

    pub(crate) fn draw(&mut self) -> u64 {
        self.0.roll()
    }

    /// From `0..end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.draw() % end
    }

    pub(crate) fn index(&mut self, end: usize) -> usize {
        usize::try_from(self.below(end as u64)).unwrap()
    }

    pub(crate) fn percent(&mut self, chance: u64) -> bool {
        self.below(100) < chance
    }
}

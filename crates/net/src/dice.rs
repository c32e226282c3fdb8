//! A small generator for jitter, and for tests: `SplitMix64` (Steele, Lea, Flood: "Fast splittable pseudorandom number
//! generators", 2014).

/// From one number to the next.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The same seed gives the same numbers everywhere.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// What it rolls follows from the seed alone.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number.
    pub fn roll(&mut self) -> u64 {
        let rolled = mix(self.0);
        self.0 = self.0.wrapping_add(STEP);
        rolled
    }

    /// A number below `end`, or zero if there is none.
    pub fn below(&mut self, end: u64) -> u64 {
        self.roll() % end.max(1)
    }
}

/// Spreads a number over all 64 bits: what dice with this seed roll first.
// The radios of a field mix numbers for every reception, from another crate.
#[inline]
pub fn mix(word: u64) -> u64 {
    let word = word.wrapping_add(STEP);
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dice_roll_what_splitmix64_does() {
        let mut dice = Dice::new(1_234_567);
        let published = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!([(); 3].map(|()| dice.roll()), published);
        assert_eq!(mix(1_234_567), published[0]);
    }
}

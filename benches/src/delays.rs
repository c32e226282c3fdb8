use serde::{Deserialize, Serialize};

/// Pseudo-random delays of 1 to 2³² ticks, the same for every contender and almost free (xorshift64).
///
/// The range is so wide that two messages hardly ever fall due at the same tick.
#[derive(Debug, Serialize, Deserialize)]
pub struct Delays(u64);

impl Delays {
    /// The delays of one seed. Seeds that follow each other give unrelated delays.
    pub fn new(seed: u64) -> Self {
        // Odd, because xorshift never leaves zero.
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// The next delay.
    #[inline]
    pub fn draw(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 32) + 1
    }
}

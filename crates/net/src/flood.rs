//! Flooding with duplicate suppression.

/// Which numbers of a growing count have been seen.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Window {
    /// One more than the greatest number seen.
    end: u64,
    /// Bit `i` is set if `end - 1 - i` has been seen.
    seen: u64,
}

impl Window {
    /// Notes a number; says whether it is new. A number further back than the window reaches counts as seen.
    pub fn insert(&mut self, number: u64) -> bool {
        if number >= self.end {
            let ahead = number - self.end + 1;
            self.seen = u32::try_from(ahead).ok().and_then(|by| self.seen.checked_shl(by)).unwrap_or(0) | 1;
            self.end = number + 1;
            return true;
        }
        let back = self.end - 1 - number;
        let bit = if back < 64 { 1 << back } else { return false };
        let new = self.seen & bit == 0;
        self.seen |= bit;
        new
    }
}

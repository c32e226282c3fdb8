//! Which states count as one: the fingerprint of a state forgets what makes no difference.
//!
//! Heights count up to a common shift, and so do counts together with the ranks that are made from them; permits count up to
//! their names, fences by whether they are behind the last grant of the same permit, stamps by their order, incarnations not at all ([`Kind`]). All
//! of it is exact as long as every permit exists once: an algorithm only ever compares such numbers, or steps to the one
//! next to them, so whatever one of the states can do, the other can do too. A fence is looked at beside the lowest of the
//! permits that were named before it: several permits are named together when they were granted together, under one fence, or
//! are free in a token whose fence is later than the last grant of each of them.
//!
//! A part of a state (a node, a channel) is sketched once: its hash with the relative numbers left open. The fingerprint of
//! a state puts them in.

use std::cmp::Ordering::{Equal, Greater, Less};
use std::hash::{Hash, Hasher};

use driftlock_protocol::relative::{Kind, Series};

use crate::K_MAX;

/// A permit or a fence in a part, in the order in which they are met: their names depend on the whole state.
#[derive(Clone, Copy, Debug)]
enum Named {
    Permits(u32),
    /// A fence of the permits named just before, from which the next one is made.
    Fence(u128),
    /// The fence of a grant of the permits named just before.
    Granted(u128),
    Stamp(Stamp),
}

/// A number that is compared with those of its series.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Stamp {
    series: u128,
    number: u64,
}

/// The lowest and the highest of some numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Extent {
    pub(crate) low: i64,
    pub(crate) high: i64,
}

impl Default for Extent {
    fn default() -> Self {
        Self::NONE
    }
}

impl Extent {
    /// Of no numbers at all.
    pub(crate) const NONE: Self = Self { low: i64::MAX, high: i64::MIN };

    fn note(&mut self, number: i64) {
        *self = self.with(Self { low: number, high: number });
    }

    /// Of both.
    pub(crate) fn with(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// How far the highest is from the lowest.
    pub(crate) fn spread(self) -> u64 {
        if self.high < self.low { 0 } else { self.high.abs_diff(self.low) }
    }
}

/// The hash of a part, with its relative numbers left open.
///
/// Each relative number is multiplied by a constant of its place, and the products are added up; so the hash of a part
/// whose numbers are all shifted takes one multiplication for the numbers of a kind, however many there are.
#[derive(Default, Debug)]
pub(crate) struct Sketch {
    /// Of everything else, and of where the relative numbers stand.
    fixed: u64,
    level_sum: u64,
    level_weight: u64,
    order_sum: u64,
    order_weight: u64,
    count_sum: u64,
    count_weight: u64,
    named: Box<[Named]>,
    /// Of its levels.
    pub(crate) levels: Extent,
    /// Of its orders within a level.
    pub(crate) orders: Extent,
    /// Of its counts; ranks are not among them.
    pub(crate) counts: Extent,
}

/// What the relative numbers of a state are counted from: the lowest of each kind.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Extents {
    levels: Extent,
    orders: Extent,
    counts: Extent,
}

impl Extents {
    /// Also of this part.
    pub(crate) fn with(self, sketch: &Sketch) -> Self {
        Self {
            levels: self.levels.with(sketch.levels),
            orders: self.orders.with(sketch.orders),
            counts: self.counts.with(sketch.counts),
        }
    }

    /// How far numbers of a kind lie apart.
    pub(crate) fn spread(self) -> u64 {
        self.levels.spread().max(self.orders.spread()).max(self.counts.spread())
    }
}

impl Sketch {
    pub(crate) fn of(part: &impl Hash) -> Self {
        let mut sketcher = Sketcher::default();
        part.hash(&mut sketcher);
        Self { named: sketcher.named.into(), ..sketcher.sketch }
    }

    /// With relative numbers counted from the lowest.
    fn hash(&self, all: Extents) -> u64 {
        let from = |sum: u64, weight: u64, low: i64| sum.wrapping_sub(weight.wrapping_mul(low.cast_unsigned()));
        let levels = from(self.level_sum, self.level_weight, all.levels.low);
        let orders = from(self.order_sum, self.order_weight, all.orders.low);
        let counts = from(self.count_sum, self.count_weight, all.counts.low);
        self.fixed.wrapping_add(levels).wrapping_add(orders).wrapping_add(counts)
    }
}

/// Takes a part to pieces by way of its `Hash`, so that no field can be forgotten.
#[derive(Default)]
struct Sketcher {
    sketch: Sketch,
    named: Vec<Named>,
    mark: Option<Kind>,
    /// How many relative numbers there were.
    place: u64,
    /// The series of the rounds of the leader whose number, a level and a stay, was met last.
    leader: u128,
}

impl Sketcher {
    /// Tells the series of a leader from those that all have in common.
    const A_LEADER: u128 = 1 << 127;

    fn stamp(&mut self, series: u128, number: u64) {
        if series == Series::Stay as u128 {
            self.leader = self.leader >> 64 << 64 | u128::from(number);
        }
        self.named.push(Named::Stamp(Stamp { series, number }));
    }

    fn relative(&mut self, kind: Kind, value: u128) {
        if kind == Kind::Incarnation {
            return;
        }
        self.place += 1;
        let (sketch, weight) = (&mut self.sketch, mix(self.place, SALT) | 1);
        // Where it stands among the other fields counts, whatever its value.
        sketch.fixed = mix(sketch.fixed ^ kind as u64, weight);
        #[allow(clippy::cast_possible_truncation)] // as it was widened, or checked at the door (k <= K_MAX)
        let word = value as u64;
        match kind {
            Kind::Level => {
                self.leader = Self::A_LEADER | value << 64;
                sketch.levels.note(word.cast_signed());
                sketch.level_sum = sketch.level_sum.wrapping_add(weight.wrapping_mul(word));
                sketch.level_weight = sketch.level_weight.wrapping_add(weight);
            }
            Kind::Order => {
                sketch.orders.note(word.cast_signed());
                sketch.order_sum = sketch.order_sum.wrapping_add(weight.wrapping_mul(word));
                sketch.order_weight = sketch.order_weight.wrapping_add(weight);
            }
            Kind::Count | Kind::Rank => {
                if kind == Kind::Count {
                    sketch.counts.note(word.cast_signed());
                }
                sketch.count_sum = sketch.count_sum.wrapping_add(weight.wrapping_mul(word));
                sketch.count_weight = sketch.count_weight.wrapping_add(weight);
            }
            #[allow(clippy::cast_possible_truncation)]
            Kind::Permits => self.named.push(Named::Permits(word as u32)),
            Kind::Fence => self.named.push(Named::Fence(value)),
            Kind::Granted => self.named.push(Named::Granted(value)),
            Kind::Stamp => self.stamp(value >> 64, word),
            Kind::Round => self.stamp(self.leader, word),
            Kind::Incarnation => {}
        }
    }
}

impl Hasher for Sketcher {
    fn finish(&self) -> u64 {
        self.sketch.fixed
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            // The length tells a short chunk from one that ends in zeros.
            self.sketch.fixed = mix(self.sketch.fixed ^ chunk.len() as u64, u64::from_le_bytes(word) ^ SALT);
        }
    }

    fn write_i128(&mut self, mark: i128) {
        self.mark = Kind::of_mark(mark);
        debug_assert!(self.mark.is_some(), "nothing but marks is hashed as an i128");
    }

    fn write_u128(&mut self, value: u128) {
        match self.mark.take() {
            Some(kind) => self.relative(kind, value),
            None => self.write(&value.to_le_bytes()),
        }
    }
}

const SALT: u64 = 0x9e37_79b9_7f4a_7c15;

/// Multiplies two words and folds the product, so that every bit of either reaches every bit of the result.
fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a ^ 0x2d35_8dcc_aa6c_78a5) * u128::from(b ^ 0x8bb8_4b93_962e_acc9);
    #[allow(clippy::cast_possible_truncation)] // the two halves
    let (low, high) = (product as u64, (product >> 64) as u64);
    low ^ high
}

/// Puts the parts of one state together.
pub(crate) struct Fingerprint<'a> {
    hash: u64,
    /// Of each permit, the fence of its last grant.
    fences: &'a [u128],
    /// The new name of each permit: the first to be met is 0. None, if their own names count.
    names: Option<Names>,
    /// The permits that the next fence belongs to.
    permits: u32,
    /// All stamps of the state, in order.
    stamps: Vec<Stamp>,
    /// The fences of the state's grants but for those of last grants, each with the lowest of its permits, in order.
    granted: Vec<(u32, u128)>,
}

impl<'a> Fingerprint<'a> {
    /// Where the names of permits count if they are not `alike`.
    pub(crate) fn new(fences: &'a [u128], alike: bool) -> Self {
        let names = alike.then(Names::default);
        Self { hash: SALT, fences, names, permits: 0, stamps: Vec::new(), granted: Vec::new() }
    }

    /// Adds a word that counts as it is.
    pub(crate) fn word(&mut self, word: u64) {
        self.hash = mix(self.hash, word).wrapping_add(word);
    }

    /// Takes down the stamps and the fences of all parts, which must be known before any of them is added.
    pub(crate) fn note<'b>(&mut self, parts: impl Iterator<Item = &'b Sketch>) {
        self.stamps.clear();
        self.granted.clear();
        let mut lowest = 0;
        for named in parts.flat_map(|part| &part.named) {
            match *named {
                Named::Permits(permits) => lowest = permits.trailing_zeros(),
                Named::Stamp(stamp) => self.stamps.push(stamp),
                Named::Granted(fence) if fence != self.last(lowest) => self.granted.push((lowest, fence)),
                Named::Granted(_) | Named::Fence(_) => {}
            }
        }
        self.stamps.sort_unstable();
        self.stamps.dedup();
        self.granted.sort_unstable();
        self.granted.dedup();
        self.place_last_grants();
    }

    /// Adds where the last grant of each permit stands among the grants that are told by stamps, if there are any. A
    /// generation is a stay there; once no part mentions it any more, nothing is granted in it.
    fn place_last_grants(&mut self) {
        let of_grants = Series::Grant as u128;
        if !self.stamps.iter().any(|stamp| stamp.series == of_grants) {
            return;
        }
        for &last in self.fences {
            #[allow(clippy::cast_possible_truncation)] // the two halves
            let (generation, number) = ((last >> 64) as u64, last as u64);
            let founded = Stamp { series: Series::Stay as u128, number: generation };
            let place = match self.stamps.binary_search(&Stamp { series: of_grants, number }) {
                _ if self.stamps.binary_search(&founded).is_err() => 0,
                Ok(_) => 2 * self.rank(Stamp { series: of_grants, number }) + 1,
                Err(_) => 2 * self.rank(Stamp { series: of_grants, number }),
            };
            self.word(place as u64);
        }
    }

    /// The fence of the last grant of this permit.
    fn last(&self, permit: u32) -> u128 {
        self.fences.get(permit as usize).copied().unwrap_or_default()
    }

    /// How many steps from fence to fence of the permit's grants lead from the last one up or down to this one.
    fn steps_from_last(&self, permit: u32, fence: u128) -> i64 {
        let last = self.last(permit);
        let below = |bound: u128| self.granted.partition_point(|other| *other < (permit, bound));
        let between = |low: u128, high: u128| i64::try_from(below(high) - below(low)).expect("few grants");
        match fence.cmp(&last) {
            Less => -between(fence, last),
            Equal => 0,
            Greater => between(last, fence) + 1,
        }
    }

    /// How many different stamps of the same series are lower.
    fn rank(&self, stamp: Stamp) -> usize {
        let below = |bound: Stamp| self.stamps.partition_point(|other| *other < bound);
        below(stamp) - below(Stamp { number: 0, ..stamp })
    }

    /// Adds a part, its relative numbers counted from the lowest of all.
    pub(crate) fn part(&mut self, sketch: &Sketch, all: Extents) {
        self.word(sketch.hash(all));
        for named in &sketch.named {
            match *named {
                Named::Permits(permits) => {
                    self.permits = permits;
                    let renamed = self.names.as_mut().map_or(permits, |names| names.rename(permits));
                    self.word(u64::from(renamed));
                }
                Named::Fence(fence) => {
                    // However far it is ahead, the next grant is later than the last one.
                    let behind = self.last(self.permits.trailing_zeros()).saturating_sub(fence);
                    #[allow(clippy::cast_possible_truncation)] // the two halves
                    self.word(behind as u64 ^ ((behind >> 64) as u64).rotate_left(32));
                }
                Named::Granted(fence) => {
                    let steps = self.steps_from_last(self.permits.trailing_zeros(), fence);
                    self.word(steps.cast_unsigned());
                }
                Named::Stamp(stamp) => self.word(self.rank(stamp) as u64),
            }
        }
    }

    pub(crate) fn finish(self) -> u64 {
        mix(self.hash, SALT)
    }
}

/// New names of permits, in the order in which they are met.
struct Names {
    names: [u8; K_MAX as usize],
    named: u8,
}

impl Default for Names {
    fn default() -> Self {
        Self { names: [Self::UNNAMED; K_MAX as usize], named: 0 }
    }
}

impl Names {
    const UNNAMED: u8 = u8::MAX;

    fn rename(&mut self, permits: u32) -> u32 {
        let mut renamed = 0;
        let mut rest = permits;
        while rest != 0 {
            let name = &mut self.names[rest.trailing_zeros() as usize];
            rest &= rest - 1;
            if *name == Self::UNNAMED {
                *name = self.named;
                self.named += 1;
            }
            renamed |= 1 << *name;
        }
        renamed
    }
}

#[cfg(test)]
mod tests {
    use driftlock_protocol::height::Height;
    use driftlock_protocol::{Fence, Grant, Incarnation, NodeId, Permit, Permits};

    use super::*;

    fn fingerprint(part: &impl Hash, fences: &[u128]) -> u64 {
        let sketch = Sketch::of(part);
        let mut fingerprint = Fingerprint::new(fences, true);
        fingerprint.note([&sketch].into_iter());
        fingerprint.part(&sketch, Extents::default().with(&sketch));
        fingerprint.finish()
    }

    fn of(part: &impl Hash) -> u64 {
        fingerprint(part, &[0; 4])
    }

    fn heights(all: [(i64, i64, u32); 2]) -> [Height; 2] {
        all.map(|(h1, h2, id)| Height::new(h1, h2, NodeId(id)))
    }

    #[test]
    fn a_common_shift_of_heights_makes_no_difference_and_any_other_does() {
        let here = of(&heights([(0, 1, 0), (2, -1, 1)]));
        assert_eq!(here, of(&heights([(7, 4, 0), (9, 2, 1)])));
        assert_ne!(here, of(&heights([(0, 1, 0), (3, -1, 1)])));
        assert_ne!(here, of(&heights([(0, 1, 0), (2, 0, 1)])));
        assert_ne!(here, of(&heights([(0, 1, 1), (2, -1, 0)])));
        assert_ne!(here, of(&heights([(2, 1, 0), (0, -1, 1)])), "which of the two is the higher");
        assert_ne!(here, of(&heights([(0, -1, 0), (2, 1, 1)])), "and within a level");
    }

    fn permit(number: u8) -> Permit {
        Permit::try_from(number).unwrap()
    }

    #[test]
    fn permits_may_be_renamed_but_not_confused() {
        assert_eq!(of(&[permit(0), permit(1), permit(0)]), of(&[permit(2), permit(0), permit(2)]));
        assert_ne!(of(&[permit(0), permit(1), permit(0)]), of(&[permit(2), permit(0), permit(0)]));
        assert_eq!(of(&Permits::first(2)), of(&Permits::first(3).without(Permits::first(1))));
        assert_ne!(of(&Permits::first(2)), of(&Permits::first(3)));
    }

    #[test]
    fn a_fence_counts_by_how_far_it_is_behind_the_last_grant_of_its_permit() {
        let grant = |number, counter| Grant {
            permits: Permits::single(permit(number)),
            fence: Fence { generation: 0, counter },
        };
        let at = |number: u8, counter, fences: &[u128]| fingerprint(&grant(number, counter), fences);
        assert_eq!(at(0, 5, &[4, 0]), at(1, 9, &[0, 8]));
        assert_eq!(at(0, 5, &[4, 0]), at(0, 5, &[5, 0]));
        assert_ne!(at(0, 5, &[5, 0]), at(0, 5, &[6, 0]));
        assert_ne!(at(0, 5, &[7, 0]), at(0, 5, &[6, 0]));
    }

    /// A count and a rank that is made from it, as hok's messages carry them.
    fn counted(count: i128, rank: i128) -> u64 {
        struct Number(Kind, i128);
        impl Hash for Number {
            fn hash<H: Hasher>(&self, hasher: &mut H) {
                self.0.hash(self.1.cast_unsigned(), hasher);
            }
        }
        of(&[Number(Kind::Count, count), Number(Kind::Rank, rank)])
    }

    #[test]
    fn ranks_are_shifted_with_the_counts_that_they_are_made_from() {
        assert_eq!(counted(5, 2), counted(9, 6));
        assert_eq!(counted(1, -2), counted(4, 1), "below zero too");
        assert_ne!(counted(5, 2), counted(5, 3));
        assert_ne!(counted(5, 2), counted(6, 2));
    }

    #[test]
    fn stamps_count_by_their_order_within_a_series() {
        struct Stamp(Series, u64);
        impl Hash for Stamp {
            fn hash<H: Hasher>(&self, hasher: &mut H) {
                Kind::Stamp.hash(self.0.stamp(self.1), hasher);
            }
        }
        let stays = |numbers: [u64; 3]| of(&numbers.map(|number| Stamp(Series::Stay, number)));
        assert_eq!(stays([3, 9, 3]), stays([0, 1, 0]));
        assert_ne!(stays([3, 9, 3]), stays([9, 3, 9]));
        assert_ne!(stays([3, 9, 3]), stays([3, 9, 10]));
        let with_grant = |number| of(&[Stamp(Series::Stay, 5), Stamp(Series::Grant, number)]);
        assert_eq!(with_grant(4), with_grant(6), "what is not of the same series does not matter");
    }

    #[test]
    fn incarnations_are_forgotten() {
        assert_eq!(of(&(1_u32, Incarnation(3))), of(&(1_u32, Incarnation(8))));
        assert_ne!(of(&(1_u32, Incarnation(3))), of(&(2_u32, Incarnation(3))));
    }
}

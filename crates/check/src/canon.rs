//! Which states count as one: the fingerprint of a state forgets what makes no difference.
//!
//! Heights count up to a common shift, and so do counts together with the ranks that are made from them; grants of a
//! permit count by the order of their fences, its last grant among them, and a fence from which the next is made only
//! if it is behind; stamps count by their order, incarnations not at all ([`Kind`]). Permits count up to their names
//! where each is mentioned by its holder alone, on links; in a neighbourhood a grant may still be on its way when its
//! permit is free again, and the lowest of the free ones is the next to be granted, so that names count. All of it is
//! exact until something is violated: an algorithm only ever compares such numbers, or steps to the one next to them,
//! so whatever one of the states can do, the other can do too, which a test makes sure of (`model::identity`). A fence
//! is looked at beside the lowest of the permits that were named before it: several permits are named together when
//! they were granted together, under one fence, or are free in a token whose fence is later than the last grant of each
//! of them.
//!
//! A part of a state (a node, a channel) is sketched once: its hash with the relative numbers left open. The
//! fingerprint of a state puts them in.

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
    number: u128,
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

    /// Of a part in which only incarnations are relative.
    pub(crate) fn fixed(&self) -> u64 {
        let is_relative = self.level_weight | self.order_weight | self.count_weight != 0;
        debug_assert!(!is_relative && self.named.is_empty(), "what numbers mean in a twin is not known");
        self.fixed
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
    /// The series of the rounds, and but for a bit of the versions, of the leader whose number, a level and a stay, was
    /// met last.
    leader: u128,
}

impl Sketcher {
    /// Tells the series of a leader from those that all have in common.
    const A_LEADER: u128 = 1 << 127;

    /// Tells the versions of a leader's copy holders from its rounds.
    const VERSIONS: u128 = 1 << 126;

    fn stamp(&mut self, series: u128, number: u128) {
        if series == Series::Stay as u128 {
            self.leader = self.leader >> 64 << 64 | number;
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
            Kind::Stamp => {
                let (series, number) = Series::of_stamp(value);
                self.stamp(series, number);
            }
            Kind::Round => self.stamp(self.leader, value),
            Kind::Version => self.stamp(self.leader | Self::VERSIONS, value),
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
    /// All stamps of the state, in order.
    stamps: Vec<Stamp>,
    /// The fences of the state's grants but for those of last grants, each with the lowest of its permits, in order.
    granted: Vec<(u32, u128)>,
}

impl<'a> Fingerprint<'a> {
    /// Where the names of permits count if they are not `alike`.
    pub(crate) fn new(fences: &'a [u128], alike: bool) -> Self {
        let names = alike.then(Names::default);
        Self { hash: SALT, fences, names, stamps: Vec::new(), granted: Vec::new() }
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

    /// Adds where the last grant of each permit stands among the grants that are told by stamps, if there are any. Once
    /// no part mentions a generation any more, nothing is granted in it.
    fn place_last_grants(&mut self) {
        let of_grants = Series::Grant as u128;
        if !self.stamps.iter().any(|stamp| stamp.series == of_grants) {
            return;
        }
        for &last in self.fences {
            // A fence without its generation is the stamp of its grant.
            let generation = Stamp { series: Series::Generation as u128, number: last >> 96 };
            let grant = Stamp { series: of_grants, number: last << 32 >> 32 };
            let is_there = self.stamps.binary_search(&grant).is_ok();
            let is_over = self.stamps.binary_search(&generation).is_err();
            self.word(if is_over { 0 } else { 2 * self.rank(grant) as u64 + u64::from(is_there) });
        }
    }

    /// The fence of the last grant of this permit.
    fn last(&self, permit: u32) -> u128 {
        self.fences.get(permit as usize).copied().unwrap_or_default()
    }

    /// Where a fence stands among the grants of the permit: how many of them have a lower one, whether one has the
    /// same, and how it compares with the last.
    fn place(&self, permit: u32, fence: u128) -> u64 {
        let of_permit = self.granted.partition_point(|other| *other < (permit, 0));
        let below = self.granted.partition_point(|other| *other < (permit, fence)) - of_permit;
        let is_there = self.granted.binary_search(&(permit, fence)).is_ok();
        let beside_last = match fence.cmp(&self.last(permit)) {
            Less => 1,
            Equal => 2,
            Greater => 3,
        };
        (below as u64) << 3 | u64::from(is_there) << 2 | beside_last
    }

    /// Whether the permit was granted under no later fence, as far as the state tells.
    fn is_latest(&self, permit: u32, fence: u128) -> bool {
        let above = self.granted.partition_point(|other| *other <= (permit, fence));
        fence >= self.last(permit) && self.granted.get(above).is_none_or(|other| other.0 != permit)
    }

    /// How many different stamps of the same series are lower.
    fn rank(&self, stamp: Stamp) -> usize {
        let below = |bound: Stamp| self.stamps.partition_point(|other| *other < bound);
        below(stamp) - below(Stamp { number: 0, ..stamp })
    }

    /// Adds a part, its relative numbers counted from the lowest of all.
    pub(crate) fn part(&mut self, sketch: &Sketch, all: Extents) {
        self.word(sketch.hash(all));
        // A fence belongs to the permits before it.
        let mut permits = 0;
        for named in &sketch.named {
            match *named {
                Named::Permits(these) => {
                    permits = these;
                    let renamed = self.names.as_mut().map_or(permits, |names| names.rename(permits));
                    self.word(u64::from(renamed));
                }
                // However far it is ahead, the next grant is later than all others.
                Named::Fence(fence) if self.is_latest(permits.trailing_zeros(), fence) => self.word(0),
                Named::Fence(fence) | Named::Granted(fence) => self.word(self.place(permits.trailing_zeros(), fence)),
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
    use driftlock_protocol::tenure::{self, Round, Version};
    use driftlock_protocol::{Fence, Grant, Incarnation, NodeId, Permit, Permits, Stay, klme};

    use super::*;

    fn fingerprint(part: &impl Hash, fences: &[u128]) -> u64 {
        fingerprint_of(part, fences, true)
    }

    fn fingerprint_of(part: &impl Hash, fences: &[u128], alike: bool) -> u64 {
        let sketch = Sketch::of(part);
        let mut fingerprint = Fingerprint::new(fences, alike);
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

    #[test]
    fn where_a_relative_number_stands_and_of_which_kind_it_is_counts() {
        let height = Height::new(0, 0, NodeId(0));
        assert_ne!(of(&(height, 7_u32)), of(&(7_u32, height)));
        assert_ne!(of(&Marked(Kind::Level, 5)), of(&Marked(Kind::Order, 5)));
    }

    #[test]
    fn every_bit_of_a_word_reaches_both_halves_of_the_mixed_one() {
        for bit in 0..u64::BITS {
            let difference = mix(1 << bit, SALT) ^ mix(0, SALT);
            assert!(difference >> 32 != 0 && difference << 32 != 0, "bit {bit}: {difference:x}");
        }
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
        let by_name = |number| fingerprint_of(&permit(number), &[0; 4], false);
        assert_ne!(by_name(0), by_name(1), "where their names count");
    }

    fn grant(number: u8, counter: u64) -> Grant {
        Grant { permits: Permits::single(permit(number)), fence: Fence { epoch: 0, counter } }
    }

    #[test]
    fn a_grant_counts_by_whether_it_is_before_or_after_the_last_of_its_permit() {
        let at = |number: u8, counter, fences: &[u128]| fingerprint(&grant(number, counter), fences);
        let [before, last, after] = [6, 5, 4].map(|last| at(0, 5, &[last, 0]));
        assert!(before != last && last != after && before != after);
        assert_eq!(after, at(1, 9, &[0, 3]), "by how much does not matter");
        assert_eq!(last, at(1, 9, &[0, 9]));
        assert_eq!(before, at(1, 2, &[0, 9]));
    }

    #[test]
    fn grants_of_the_same_permit_count_by_their_order() {
        let of = |counters: [u64; 2], last: u128| fingerprint(&counters.map(|counter| grant(0, counter)), &[last, 9]);
        assert_eq!(of([3, 5], 1), of([2, 7], 0));
        assert_ne!(of([3, 5], 1), of([5, 3], 1));
        assert_ne!(of([3, 5], 1), of([3, 3], 1));
        assert_ne!(of([3, 5], 1), of([3, 5], 4));
        assert_ne!(of([3, 5], 4), of([3, 5], 9));
        let of_two_permits = |counter| fingerprint(&[grant(0, 3), grant(1, counter)], &[1, 1]);
        assert_eq!(of_two_permits(2), of_two_permits(5));
        let renamed = fingerprint(&[grant(1, 3), grant(0, 5)], &[1, 1]);
        assert_eq!(of_two_permits(5), renamed, "whatever the permits are called");
    }

    /// Three fences out of three, in every order and with every repetition.
    #[test]
    fn grants_count_as_one_exactly_if_their_order_is_the_same() {
        let fences = [3, 5, 7];
        let all = || (0..27).map(|at| [at / 9, at / 3 % 3, at % 3].map(|digit| fences[digit]));
        let order = |counters: [u64; 3]| [(0, 1), (0, 2), (1, 2)].map(|(a, b)| counters[a].cmp(&counters[b]));
        let print = |counters: [u64; 3]| fingerprint(&counters.map(|counter| grant(0, counter)), &[1]);
        for (first, second) in all().flat_map(|first| all().map(move |second| (first, second))) {
            assert_eq!(print(first) == print(second), order(first) == order(second), "{first:?} {second:?}");
        }
    }

    /// Two parts of a network that are apart: the grants and stamps of one say nothing of those of the other.
    #[test]
    fn what_is_noted_together_counts_together_and_nothing_else() {
        let apart = |first: &dyn Fn() -> Sketch, second: &dyn Fn() -> Sketch| {
            let mut fingerprint = Fingerprint::new(&[1; 4], true);
            for sketch in [first(), second()] {
                fingerprint.note([&sketch].into_iter());
                fingerprint.part(&sketch, Extents::default().with(&sketch));
            }
            fingerprint.finish()
        };
        let granted = |counter| move || Sketch::of(&grant(0, counter));
        assert_eq!(apart(&granted(3), &granted(5)), apart(&granted(7), &granted(5)));
        let stay = |number| move || Sketch::of(&stamp(Series::Stay, number));
        assert_eq!(apart(&stay(3), &stay(5)), apart(&stay(7), &stay(5)));
    }

    #[test]
    fn the_fence_that_the_next_is_made_from_counts_only_if_it_is_behind() {
        let token = |counter| (Permits::first(1), Fence { epoch: 0, counter });
        let at = |counter, last: u128| fingerprint(&token(counter), &[last]);
        assert_eq!(at(5, 5), at(7, 5));
        assert_ne!(at(5, 5), at(4, 5));
        let beside = |counter| fingerprint(&(grant(0, 5), token(counter)), &[1]);
        assert_eq!(beside(5), beside(7));
        assert_ne!(beside(5), beside(4), "a grant that was not used yet is later, too");
        let behind = |counter| fingerprint(&(grant(0, 5), grant(0, 9), token(counter)), &[1]);
        assert_ne!(behind(4), behind(5), "the next is one that was granted, or comes after it");
        assert_eq!(behind(6), behind(7));
    }

    /// A number of a kind, as parts hash it.
    #[derive(Clone, Copy)]
    struct Marked(Kind, u128);

    impl Hash for Marked {
        fn hash<H: Hasher>(&self, hasher: &mut H) {
            self.0.hash(self.1, hasher);
        }
    }

    /// A count and a rank that is made from it, as hok's messages carry them.
    fn counted(count: i128, rank: i128) -> u64 {
        of(&[Marked(Kind::Count, count.cast_unsigned()), Marked(Kind::Rank, rank.cast_unsigned())])
    }

    #[test]
    fn ranks_are_shifted_with_the_counts_that_they_are_made_from() {
        assert_eq!(counted(5, 2), counted(9, 6));
        assert_eq!(counted(1, -2), counted(4, 1), "below zero too");
        assert_ne!(counted(5, 2), counted(5, 3));
        assert_ne!(counted(5, 2), counted(6, 2));
        let ranks = Sketch::of(&[Marked(Kind::Count, 5), Marked(Kind::Rank, 2), Marked(Kind::Rank, 50)]);
        assert_eq!(Extents::default().with(&ranks).spread(), 0, "and are not looked at for how far counts lie apart");
    }

    fn stamp(series: Series, number: u128) -> Marked {
        Marked(Kind::Stamp, series.stamp(number))
    }

    #[test]
    fn stamps_count_by_their_order_within_a_series() {
        let stays = |numbers: [u128; 3]| of(&numbers.map(|number| stamp(Series::Stay, number)));
        assert_eq!(stays([3, 9, 3]), stays([0, 1, 0]));
        assert_ne!(stays([3, 9, 3]), stays([9, 3, 9]));
        assert_ne!(stays([3, 9, 3]), stays([3, 9, 10]));
        let with_grant = |number| of(&[stamp(Series::Stay, 5), stamp(Series::Grant, number)]);
        assert_eq!(with_grant(4), with_grant(6), "what is not of the same series does not matter");
    }

    #[test]
    fn rounds_count_by_their_order_among_those_of_the_same_leader() {
        let round = |counter, stay, round| {
            [Marked(Kind::Level, counter), stamp(Series::Stay, stay), Marked(Kind::Round, round)]
        };
        let of_two =
            |other: (u128, u128), rounds: [u128; 2]| of(&[round(1, 0, rounds[0]), round(other.0, other.1, rounds[1])]);
        for other in [(1, 2), (2, 0)] {
            assert_eq!(of_two(other, [3, 3]), of_two(other, [4, 3]));
            assert_eq!(of_two(other, [3, 3]), of_two(other, [3, 9]));
        }
        assert_eq!(of_two((1, 0), [3, 4]), of_two((1, 0), [3, 9]));
        assert_ne!(of_two((1, 0), [3, 3]), of_two((1, 0), [3, 4]));
        assert_ne!(of_two((1, 0), [4, 3]), of_two((1, 0), [3, 4]));
    }

    #[test]
    fn versions_count_by_their_order_among_those_of_the_same_leader_and_not_beside_its_rounds() {
        let number = tenure::LeaderNo { counter: 1, stay: Stay(0) };
        let (first, round) = (Version::default(), Round::default().next());
        let versions = |early: Version, late: Version| of(&[(number, early), (number, late)]);
        assert_eq!(versions(first, first.next()), versions(first, first.next().next()));
        assert_ne!(versions(first, first), versions(first, first.next()));
        let beside = |version: Version, round: Round| of(&(number, version, round));
        assert_eq!(beside(first, round), beside(first.next().next(), round.next()));
    }

    #[test]
    fn what_a_newcomer_begins_with_is_below_all_others_and_equal_to_none() {
        let number = tenure::LeaderNo { counter: 1, stay: Stay(0) };
        let (none, first) = (Round::default(), Round::default().next());
        let rounds = |early: Round, late: Round| of(&[(number, early), (number, late)]);
        assert_eq!(rounds(first, first.next()), rounds(first, first.next().next()));
        assert_ne!(rounds(none, first.next()), rounds(first, first.next()));
        let leaders = |early, late| of(&[klme::LeaderNo(early), klme::LeaderNo(late)]);
        assert_eq!(leaders(1, 2), leaders(4, 5));
        assert_eq!(leaders(0, 2), leaders(0, 5));
        assert_ne!(leaders(0, 2), leaders(1, 2));
    }

    #[test]
    fn a_grant_that_is_told_by_a_stamp_counts_beside_the_last_of_each_permit() {
        let fence = |generation: u128, counter| generation << 96 | counter;
        let at = |number, last| fingerprint(&[stamp(Series::Generation, 2), stamp(Series::Grant, number)], &[last]);
        let [before, last, after] = [6, 5, 4].map(|counter| at(5, fence(2, counter)));
        assert!(before != last && last != after && before != after);
        assert_eq!(after, at(9, fence(2, 7)), "by how much does not matter");
        assert_eq!(after, at(5, fence(1, 8)), "a generation that nobody knows of is over");
        assert_eq!(before, at(6, fence(2, 1 << 64)), "of a later leader");
    }

    #[test]
    fn incarnations_are_forgotten() {
        assert_eq!(of(&(1_u32, Incarnation(3))), of(&(1_u32, Incarnation(8))));
        assert_ne!(of(&(1_u32, Incarnation(3))), of(&(2_u32, Incarnation(3))));
    }
}

//! What the numbers hash as that a checker takes for equal when they differ in nothing that matters. A number that was
//! left out of the hash would make one state of two that are different, and the second would never be looked at.

use std::hash::{Hash, Hasher};

use driftlock_protocol::height::Height;
use driftlock_protocol::relative::{Kind, Series};
use driftlock_protocol::tenure::{self, Round};
use driftlock_protocol::{Fence, Incarnation, NodeId, Permit, Permits, Stay, hok, klme, klme_ft};

/// What is written of a value, in its order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Written {
    Relative(Kind, u128),
    Plain(u32),
    Byte(u8),
}

#[derive(Default)]
struct Recorder {
    mark: Option<Kind>,
    written: Vec<Written>,
}

impl Hasher for Recorder {
    fn write(&mut self, bytes: &[u8]) {
        panic!("{bytes:?} is neither relative, nor a node's id, nor whether there is a number");
    }

    fn write_u8(&mut self, value: u8) {
        self.written.push(Written::Byte(value));
    }

    fn write_u32(&mut self, value: u32) {
        self.written.push(Written::Plain(value));
    }

    fn write_i128(&mut self, mark: i128) {
        self.mark = Kind::of_mark(mark);
    }

    fn write_u128(&mut self, value: u128) {
        let kind = self.mark.take().expect("a mark comes first");
        self.written.push(Written::Relative(kind, value));
    }

    fn finish(&self) -> u64 {
        unreachable!("nobody asks")
    }
}

/// Whether there is a number at all.
const KNOWN: Written = Written::Byte(1);
const UNKNOWN: Written = Written::Byte(0);

fn written(value: &impl Hash) -> Vec<Written> {
    let mut recorder = Recorder::default();
    value.hash(&mut recorder);
    recorder.written
}

/// A number that only its algorithm can make.
fn read<T: serde::de::DeserializeOwned>(number: i64) -> T {
    serde_json::from_str(&number.to_string()).unwrap()
}

#[test]
fn every_mark_stands_for_its_kind() {
    use Kind::{Count, Fence, Granted, Incarnation, Level, Order, Permits, Rank, Round, Stamp, Version};
    for kind in [Level, Order, Fence, Granted, Permits, Incarnation, Count, Rank, Stamp, Round, Version] {
        assert_eq!(Kind::of_mark(kind as i128), Some(kind));
    }
    assert_eq!((Kind::of_mark(-1), Kind::of_mark(11)), (None, None));
}

#[test]
fn a_number_is_hashed_under_its_kind() {
    use Written::Relative;
    assert_eq!(written(&Stay(7)), [Relative(Kind::Stamp, Series::Stay.stamp(7))]);
    assert_eq!(written(&klme::Life(7)), [Relative(Kind::Stamp, Series::Life.stamp(7))]);
    assert_eq!(written(&tenure::Generation(7)), [Relative(Kind::Stamp, Series::Generation.stamp(7))]);
    assert_eq!(written(&Incarnation(7)), [Relative(Kind::Incarnation, 7)]);
    assert_eq!(written(&klme::LeaderNo(7)), [KNOWN, Relative(Kind::Level, 7)]);
    assert_eq!(written(&klme::LeaderNo::default()), [UNKNOWN]);
    assert_eq!(written(&read::<hok::Grants>(7)), [Relative(Kind::Count, 7)]);
    assert_eq!(written(&read::<hok::Rank>(-7)), [Relative(Kind::Rank, u128::from((-7_i64).cast_unsigned()))]);
    let fence = Fence { epoch: 2, counter: 7 };
    assert_eq!(written(&fence), [Relative(Kind::Fence, 2 << 64 | 7)]);
}

#[test]
fn a_permit_is_hashed_as_the_set_of_it_alone() {
    let permit = Permit::try_from(3).unwrap();
    assert_eq!(written(&Permits::first(3)), [Written::Relative(Kind::Permits, 0b111)]);
    assert_eq!(written(&permit), [Written::Relative(Kind::Permits, 0b1000)]);
}

#[test]
fn a_height_is_hashed_by_level_order_and_node() {
    let (level, order) = (Written::Relative(Kind::Level, 1), Written::Relative(Kind::Order, 2));
    assert_eq!(written(&Height::new(1, 2, NodeId(3))), [level, order, Written::Plain(3)]);
}

#[test]
fn a_leaders_number_is_hashed_by_its_counter_and_the_leaders_stay() {
    let number = tenure::LeaderNo { counter: 4, stay: Stay(7) };
    assert_eq!(
        written(&number),
        [Written::Relative(Kind::Level, 4), Written::Relative(Kind::Stamp, Series::Stay.stamp(7))]
    );
}

#[test]
fn rounds_count_within_their_leader_and_seals_among_seals() {
    assert_eq!(written(&read::<Round>(7)), [KNOWN, Written::Relative(Kind::Round, 7)]);
    assert_eq!(written(&Round::default()), [UNKNOWN]);
    let seal: klme_ft::Seal = serde_json::from_str(r#"{"leadership":2,"count":7}"#).unwrap();
    assert_eq!(written(&seal), [Written::Relative(Kind::Stamp, Series::Grant.stamp(2 << 64 | 7))]);
    assert_ne!(Series::Stay.stamp(7), Series::Grant.stamp(7));
    assert!(Series::Stay.stamp(7) < Series::Stay.stamp(8));
    assert_eq!(Series::of_stamp(Series::Life.stamp(7)), (Series::Life as u128, 7));
}

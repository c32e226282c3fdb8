//! What a member stores, and how its part in leadership comes back after it was killed.
//!
//! It stores what it has promised and which members keep copies. That changes when a leader is elected or a copy holder
//! is replaced, so that nothing is written on the way of a grant. Everything else it learns anew: from the next beat,
//! or because its time is over. docs/guarantees.md says why that is enough.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::{Chair, Copy, Generation, LeaderNo, Member, Office, OutOf, Round, Terms, Version, guard};
use crate::{NodeId, Stay};

/// What a member stores.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Durable {
    /// While it is in a neighbourhood.
    pub stay: Option<Stay>,
    /// The greatest that it has voted for or followed.
    pub number: Option<LeaderNo>,
    /// What it knows of the copy holders.
    pub holding: Option<Holding>,
}

/// What a copy says about the members that keep one.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Holding {
    /// Of the leader that has announced them.
    pub number: LeaderNo,
    /// Of the set.
    pub version: Version,
    /// That leader.
    pub leader: NodeId,
    /// Of what is handed out.
    pub generation: Generation,
    /// They.
    pub holders: Vec<Member>,
}

impl Holding {
    fn of<R>(copy: &Copy<R>) -> Self {
        let Copy { number, version, leader, generation, ref holders, .. } = *copy;
        Self { number, version, leader, generation, holders: holders.clone() }
    }

    /// The round is none at all, under which nothing can be claimed.
    fn into_copy<R: Default>(self) -> Copy<R> {
        let Self { number, version, leader, generation, holders } = self;
        Copy { number, version, round: Round::default(), leader, generation, holders, rides: R::default() }
    }
}

impl<O: Office> Chair<O> {
    pub(crate) fn durable(&self) -> Durable {
        let mut holding = self.copy.as_ref().map(Holding::of);
        if let Some(holding) = holding.as_mut().filter(|_| !self.keeps(guard::STORE_VERSION)) {
            holding.version = Version::default();
        }
        Durable {
            stay: self.stay,
            number: self.promise.number().filter(|_| self.keeps(guard::STORE_NUMBER)),
            holding: holding.filter(|_| self.keeps(guard::STORE_HOLDERS)),
        }
    }

    /// In its next life it is bound as if it had just acknowledged a beat, since it does not know when it did. It
    /// rests: a member that wants something wakes it.
    pub(crate) fn restored(id: NodeId, terms: Terms, durable: Durable, office: &O, out: &mut OutOf<O>) -> Self {
        let Durable { stay, number, holding } = durable;
        let mut chair = Self { stay, copy: holding.map(Holding::into_copy), ..Self::blank(id, terms) };
        if stay.is_none() {
            return chair;
        }
        // It may have offered to keep a copy, and have been chosen meanwhile.
        (chair.asked, chair.rests) = (chair.copy.is_some(), true);
        if let Some(number) = number {
            chair.promise.follow(number);
        }
        if chair.keeps(guard::BEGIN_BOND_ANEW) {
            chair.await_silence(office, out);
        } else {
            chair.promise.loosen();
        }
        chair
    }
}

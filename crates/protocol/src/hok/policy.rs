//! Which request goes first.

use core::hash::{Hash, Hasher};

use serde::{Deserialize, Serialize};

use crate::relative::Kind;
use crate::{Demand, Urgency};

/// What a node goes by when it puts requests in order. Requests of equal rank are served first come, first served.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Policy {
    /// The highest priority first. Every grant makes all requests that wait as much more urgent as one step of
    /// priority.
    Priority,
    /// The highest priority first, however long the others have waited.
    Strict,
    /// The fewest units first: the paper's setting for much concurrency. A unit less is worth so many grants of
    /// waiting.
    FewestUnits {
        /// How many.
        unit: u16,
    },
    /// The earliest deadline first. Deadlines that lie in the future when they are set need no aging: every waiter will
    /// have the earliest. A request without a deadline may wait for ever, and so may any if others set theirs ever
    /// earlier.
    EarliestDeadline,
    /// All alike: the algorithm that the paper sets out to improve on.
    FirstCome,
}

impl Policy {
    /// Whether waiting makes a request more urgent.
    pub fn ages(self) -> bool {
        matches!(self, Self::Priority | Self::FewestUnits { .. })
    }

    /// What of a demand the rank is made from, besides its units.
    pub fn urgency(self) -> Urgency {
        match self {
            Self::Priority | Self::Strict => Urgency::Priority,
            Self::EarliestDeadline => Urgency::Deadline,
            Self::FewestUnits { .. } | Self::FirstCome => Urgency::Ignored,
        }
    }

    /// How many grants of waiting a unit less is worth, where it is worth any.
    ///
    /// # Panics
    /// If units do not count.
    pub(super) fn worth_of_a_unit(&mut self) -> &mut u16 {
        match self {
            Self::FewestUnits { unit } => unit,
            _ => unreachable!("only where units count this is a constant"),
        }
    }

    /// The rank of a request that is made when so many grants are known of.
    pub(super) fn rank(self, demand: Demand, grants: Grants) -> Rank {
        Rank(match self {
            Self::Priority => grants.0.saturating_sub(i64::from(demand.priority.0)),
            Self::Strict => -i64::from(demand.priority.0),
            Self::FewestUnits { unit } => {
                grants.0.saturating_add(i64::from(unit).saturating_mul(i64::from(demand.units.count())))
            }
            Self::EarliestDeadline => i64::try_from(demand.deadline.0).unwrap_or(i64::MAX),
            Self::FirstCome => 0,
        })
    }
}

/// How many grants a node has heard of: the clock by which requests age. It stands still where nothing ages.
///
/// That a request becomes more urgent by one step with every grant is the same as that a request which is made a grant
/// later is less urgent by one step. So a rank that contains the count at the time of the request never has to change,
/// and all copies of it agree.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Grants(i64);

impl Grants {
    #[must_use]
    pub(super) fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl Hash for Grants {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        Kind::Count.hash(u128::from(self.0.cast_unsigned()), hasher);
    }
}

/// A request's place in the order of service: the smaller goes first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Rank(i64);

impl Rank {
    /// The paper's aging, which raises what waits in one queue by a step.
    #[must_use]
    pub(super) fn aged(self) -> Self {
        Self(self.0.saturating_sub(1))
    }
}

impl Hash for Rank {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        Kind::Rank.hash(u128::from(self.0.cast_unsigned()), hasher);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Deadline, Priority, Units};

    fn demand(units: u32, priority: u32, deadline: u64) -> Demand {
        Demand { units: Units::new(units).unwrap(), priority: Priority(priority), deadline: Deadline(deadline) }
    }

    fn before(policy: Policy, first: (Demand, i64), second: (Demand, i64)) -> bool {
        policy.rank(first.0, Grants(first.1)) < policy.rank(second.0, Grants(second.1))
    }

    #[test]
    fn a_step_of_priority_is_worth_a_grant_of_waiting() {
        let (low, high) = (demand(1, 3, 0), demand(1, 10, 0));
        assert!(before(Policy::Priority, (high, 6), (low, 0)));
        assert!(before(Policy::Priority, (low, 0), (high, 8)));
        assert_eq!(Policy::Priority.rank(low, Grants(0)), Policy::Priority.rank(high, Grants(7)));
        assert!(before(Policy::Strict, (high, 1_000_000), (low, 0)));
    }

    #[test]
    fn a_unit_less_is_worth_some_grants_of_waiting() {
        let policy = Policy::FewestUnits { unit: 4 };
        assert!(before(policy, (demand(1, 0, 0), 7), (demand(3, 0, 0), 0)));
        assert!(before(policy, (demand(3, 0, 0), 0), (demand(1, 0, 0), 9)));
    }

    #[test]
    fn no_deadline_is_later_than_any() {
        let policy = Policy::EarliestDeadline;
        assert!(before(policy, (demand(1, 0, 5), 9), (demand(1, 9, 6), 0)));
        assert!(before(policy, (demand(1, 0, 1 << 62), 0), (Demand::ONE, 0)));
    }

    #[test]
    fn first_come_makes_no_difference() {
        assert_eq!(Policy::FirstCome.rank(demand(4, 9, 1), Grants(0)), Policy::FirstCome.rank(Demand::ONE, Grants(5)));
    }
}

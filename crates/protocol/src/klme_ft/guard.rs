//! The rules that klme-ft stands on, each of which tests and searches can switch off to see what it is for.
//!
//! docs/guarantees.md has the argument that they are enough. `crates/check/tests/klme_ft_guards.rs` and
//! `crates/sim/tests/klme_ft_guards.rs` show what goes wrong without each.

use crate::Repair;
pub use crate::tenure::guard::{
    ASK_ALL, BEGIN_BOND_ANEW, BIND_SELF, BOND, COUNTER, FORGET_VOLUNTEER, FRESHEST, HEED, KNOCK_AGAIN, LATE_ACKS,
    LATE_DISMISSALS, OUTDO, PROMISE, RESIGN, SETTLE, SPOKEN_FOR, STAY_BOUND, STIR_BY_STAND, STORE_HOLDERS,
    STORE_NUMBER, STORE_VERSION, WATCH, WITHDRAW,
};

/// Safety: which leader may grant.
pub const CONFIRM: Repair =
    Repair::new(5, "confirm", "a leader grants only after a majority of the copy holders has acknowledged its beat");
/// Likewise, when.
pub const NOT_ON_TIMER: Repair = Repair::new(
    7,
    "not-on-timer",
    "nothing is granted on account of a timer: the one that ends the right to grant may be due as well",
);
/// Safety: leases.
pub const LEASE_FROM_CLAIM: Repair = Repair::new(
    8,
    "lease-from-claim",
    "a lease counts from the sending of the claim, not from the arrival of the grant",
);
/// Likewise, at the leader.
pub const GUARD_LEASE: Repair = Repair::new(
    9,
    "guard-lease",
    "a leader lends a unit anew only when the lease of its last user has run out for certain",
);
/// Likewise, what is late.
pub const LATE_GRANTS: Repair =
    Repair::new(10, "late-grants", "a grant counts only for a claim under the latest beat that the claimant has heard");
/// Likewise, the other way.
pub const LATE_CLAIMS: Repair =
    Repair::new(11, "late-claims", "a claim under an earlier beat frees nothing and renews nothing");
/// Service: which members are woken, at the end.
pub const WANTS_NO_REST: Repair =
    Repair::new(24, "wants-no-rest", "a node that wants something does not rest: its claim may have been lost");
/// Likewise, waiters that are waited for in vain.
pub const GHOSTS: Repair = Repair::new(
    25,
    "ghosts",
    "a waiter that has said nothing for some beats keeps no leader awake: its claim may be an old one",
);
/// Safety: restarts, and what an application still uses.
pub const QUIET: Repair = Repair::new(
    31,
    "quiet",
    "a node that was restarted claims and frees nothing for a lease: an application of its earlier life may use a unit",
);

/// All of them.
pub const LIST: &[Repair] = &[
    BOND,
    STAY_BOUND,
    BIND_SELF,
    PROMISE,
    COUNTER,
    CONFIRM,
    LATE_ACKS,
    NOT_ON_TIMER,
    LEASE_FROM_CLAIM,
    GUARD_LEASE,
    LATE_GRANTS,
    LATE_CLAIMS,
    SETTLE,
    FRESHEST,
    RESIGN,
    WATCH,
    OUTDO,
    HEED,
    WITHDRAW,
    FORGET_VOLUNTEER,
    LATE_DISMISSALS,
    STIR_BY_STAND,
    KNOCK_AGAIN,
    ASK_ALL,
    WANTS_NO_REST,
    GHOSTS,
    SPOKEN_FOR,
    STORE_NUMBER,
    STORE_HOLDERS,
    STORE_VERSION,
    BEGIN_BOND_ANEW,
    QUIET,
];

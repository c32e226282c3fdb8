//! The rules that leadership stands on, each of which tests and searches can switch off to see what it is for. Their
//! bits differ from those of the rules that algorithms on a chair add.

use crate::Repair;

/// Safety: how copy holders are bound.
pub const BOND: Repair =
    Repair::new(0, "bond", "a copy holder that has acknowledged a beat votes for no other until its bond is over");
/// Likewise, after a hand-over.
pub const STAY_BOUND: Repair = Repair::new(
    1,
    "stay-bound",
    "a bound copy holder that votes for the successor its leader has chosen stays bound towards all others",
);
/// Likewise, the leader's own vote.
pub const BIND_SELF: Repair = Repair::new(2, "bind-self", "a leader is bound to itself as its copy holders are");
/// Likewise, for good.
pub const PROMISE: Repair =
    Repair::new(3, "promise", "a node follows no leader with a smaller number than it has voted for or followed");
/// Fences are told apart by the counter.
pub const COUNTER: Repair = Repair::new(
    4,
    "counter",
    "a copy holder that has followed a leader votes only for a greater counter, so that no fence is issued twice",
);
/// Likewise, which answers count.
pub const LATE_ACKS: Repair =
    Repair::new(6, "late-acks", "what a copy holder says about an earlier beat does not acknowledge the latest");
/// Safety: copy holders.
pub const SETTLE: Repair =
    Repair::new(12, "settle", "copy holders change only after a majority has acknowledged the last change");
/// Likewise, at an election.
pub const FRESHEST: Repair =
    Repair::new(13, "freshest", "a candidate goes by the latest set of copy holders that any of its voters knows");
/// Service: which member leads.
pub const RESIGN: Repair =
    Repair::new(14, "resign", "a leader that keeps no copy and has lost its majority leads no more");
/// Likewise, on waking up.
pub const WATCH: Repair =
    Repair::new(15, "watch", "a leader that wakes up watches from then on whether a majority hears it");
/// Likewise, numbers.
pub const OUTDO: Repair = Repair::new(
    16,
    "outdo",
    "a leader takes a greater number when a copy holder cannot follow it because it has voted for one",
);
/// Likewise, candidates.
pub const HEED: Repair =
    Repair::new(17, "heed", "a candidate that another does not know to keep a copy is told of the greater number");
/// Likewise, a copy holder that is wanted no more.
pub const WITHDRAW: Repair =
    Repair::new(18, "withdraw", "a copy holder that was added and never heard of is struck off again");
/// Likewise, a member that is about to go.
pub const FORGET_VOLUNTEER: Repair =
    Repair::new(19, "forget-volunteer", "a node that offered to keep a copy and then left is not added");
/// Likewise, a leaver that was let go too early.
pub const LATE_DISMISSALS: Repair = Repair::new(
    20,
    "late-dismissals",
    "a leaver that was let go before it came, or became a copy holder, stays for now",
);
/// Service: which members are woken.
pub const STIR_BY_STAND: Repair =
    Repair::new(21, "stir-by-stand", "a candidate that gets no vote wakes those who rest and know a later leader");
/// Likewise, by a waiter.
pub const KNOCK_AGAIN: Repair =
    Repair::new(22, "knock-again", "a waiter that hears no leader asks everybody, again and again");
/// Likewise, by a candidate that waits.
pub const ASK_ALL: Repair =
    Repair::new(23, "ask-all", "a waiter that asks for votes in vain asks everybody for a unit as well");
/// Service: candidates again.
pub const SPOKEN_FOR: Repair =
    Repair::new(26, "spoken-for", "a copy holder that has voted for a greater number tells a candidate of it");
/// Safety: restarts.
pub const STORE_NUMBER: Repair =
    Repair::new(27, "store-number", "the greatest number that a node has voted for or followed outlives a restart");
/// Likewise, which members keep copies.
pub const STORE_HOLDERS: Repair = Repair::new(
    28,
    "store-holders",
    "the copy holders that a node knows of, and the number that they were announced under, outlive a restart",
);
/// Likewise, which of two sets is the later one.
pub const STORE_VERSION: Repair = Repair::new(
    29,
    "store-version",
    "and so does their version: it tells which of two sets under one leader is the later one",
);
/// Likewise, for how long it is bound.
pub const BEGIN_BOND_ANEW: Repair = Repair::new(
    30,
    "begin-bond-anew",
    "a node that was restarted is bound as if it had just acknowledged a beat of the leader whose number it stored",
);

//! The repairs of the paper's text. docs/papers/krl.md says what goes wrong without each of them.

use crate::Repair;

/// Link failure, lines 9 and 10.
pub const HOLDER_LOWERS: Repair = Repair::new(
    0,
    "holder-lowers",
    "after a link failure it is a token holder that lowers its height, not a non-holder",
);
/// Release, lines 3 and 4.
pub const RELEASE_HOLDS: Repair =
    Repair::new(1, "release-holds", "a node lowers its height on release only if it still holds a token");
/// `next` after a link failure, and without neighbours.
pub const PENDING_REQUEST: Repair =
    Repair::new(2, "pending-request", "a request whose next hop is gone is remembered and sent when there is a way");
/// *receivedLI*.
pub const ACKNOWLEDGE: Repair =
    Repair::new(3, "acknowledge", "tokens are acknowledged one by one, with the receiver's true height");
/// Which neighbours are sent `LinkInfo` when a height is lowered.
pub const LINK_INFO: Repair =
    Repair::new(4, "link-info", "a neighbour is told of a lowered height exactly when the link has turned for it");
/// A token in flight on a link that fails.
pub const RECLAIM: Repair = Repair::new(
    5,
    "reclaim",
    "a token whose link fails under it is taken back by its sender, or taken late by its receiver, who sees to it that it can be reached",
);
/// Components without a token, or with nothing but holders.
pub const PACE: Repair =
    Repair::new(6, "pace", "a node whose reversals lead nowhere turns all links at once, then slows down");

/// All of them.
pub const LIST: &[Repair] = &[HOLDER_LOWERS, RELEASE_HOLDS, PENDING_REQUEST, ACKNOWLEDGE, LINK_INFO, RECLAIM, PACE];

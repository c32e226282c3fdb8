//! The repairs of the paper's text. docs/papers/hok.md quotes what they mend, and says what goes wrong without each.

use crate::Repair;

/// `giveTokenToFrontOfQ()`, the wait within it.
pub const KEEP_OWN: Repair = Repair::new(
    0,
    "keep-own",
    "a holder that waits for units keeps its own request in Q, and looks at the front again after every event",
);
/// Releasing copies of resources.
pub const RELEASE_SERVES: Repair =
    Repair::new(1, "release-serves", "a holder that takes units back serves the front of Q with them");
/// Receiving a request message, "state is not CS".
pub const SHARE_IN_CS: Repair =
    Repair::new(2, "share-in-cs", "a holder in its CS passes the token on to whoever asks for it");
/// Receiving a request message, "|Q| = 1".
pub const ASK_ONCE: Repair =
    Repair::new(3, "ask-once", "a REQUEST that is not taken makes nobody ask again, whose only request is another one");
/// `forwardRelease(r)`.
pub const RELEASE_ASIDE: Repair =
    Repair::new(4, "release-aside", "passing a RELEASE on does not change next, which a request waits at");
/// *receivedLINK*.
pub const RECEIVED_LINK: Repair = Repair::new(
    5,
    "received-link",
    "what a neighbour says of its height does not count until it has the token sent to it",
);
/// *forming* and *formHeight*.
pub const FORMING: Repair = Repair::new(6, "forming", "a height that changed while a link formed is told again");
/// `next` after a link failure, and without neighbours.
pub const PENDING_REQUEST: Repair =
    Repair::new(7, "pending-request", "a request whose next hop is gone is remembered and sent when there is a way");
/// RELEASE without a way.
pub const KEEP_RELEASE: Repair =
    Repair::new(8, "keep-release", "units that cannot be sent to the token are kept until they can");
/// When UPDATE is sent.
pub const UPDATE_FRONT: Repair =
    Repair::new(9, "update-front", "next is told of every change of the front of Q, whatever the change came from");
/// The aging procedure.
pub const AGE_BY_GRANTS: Repair =
    Repair::new(10, "age-by-grants", "every grant ages every request in the network, not a release those in one queue");
/// `giveTokenToFrontOfQ()`, the request that follows the token.
pub const TOKEN_ASKS: Repair = Repair::new(
    11,
    "token-asks",
    "the token says itself who wants it back: a REQUEST behind it may come after others were served",
);
/// A token or a release in flight on a link that fails.
pub const RECLAIM: Repair = Repair::new(
    12,
    "reclaim",
    "a token or units whose link fails under them are taken back, or taken late by their receiver",
);
/// Components without a token.
pub const PACE: Repair =
    Repair::new(13, "pace", "a node whose reversals lead nowhere turns all links at once, then slows down");

/// All of them.
pub const LIST: &[Repair] = &[
    KEEP_OWN,
    RELEASE_SERVES,
    SHARE_IN_CS,
    ASK_ONCE,
    RELEASE_ASIDE,
    RECEIVED_LINK,
    FORMING,
    PENDING_REQUEST,
    KEEP_RELEASE,
    UPDATE_FRONT,
    AGE_BY_GRANTS,
    TOKEN_ASKS,
    RECLAIM,
    PACE,
];

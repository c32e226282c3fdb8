//! The repairs of the paper's text. docs/papers/klme.md quotes what they mend, and says what goes wrong without each.

use crate::Repair;

/// Clause A: `M_Th_id` before the comparison of numbers.
pub const STALE_LEADER: Repair =
    Repair::new(0, "stale-leader", "Leader_info that is not news changes nothing, not even the pointer to the leader");
/// Clauses B, C, F, G, I and L: "if (`M_Th_id` = i)".
pub const POSSESSION: Repair =
    Repair::new(1, "possession", "leader is who has the token, not who believes that the token was sent to it");
/// Messages 5 and 6: no number.
pub const NUMBERED_REPLIES: Repair = Repair::new(
    2,
    "numbered-replies",
    "Req_ack and Per_grant name the request, and Per_grant the leadership, so that stale ones are known as such",
);
/// Clauses G and H: `j` in `T_alloc_id`.
pub const RELEASE_NUMBER: Repair =
    Repair::new(3, "release-number", "a release frees what was allocated for the same request, not for the same node");
/// Clause H: "send Token to node at front of `R_Queue`".
pub const FORWARD_ANNOUNCED: Repair = Repair::new(
    4,
    "forward-announced",
    "whoever passes the token on, or hands it over, counts a new leader and tells all",
);
/// Clause C: `Leader_info` before the token.
pub const TOKEN_FIRST: Repair =
    Repair::new(5, "token-first", "the token is sent before the news of it, so that the news does not say it is lost");
/// Clause A: `Node_req_list`.
pub const MERGE_ALLOCATED: Repair = Repair::new(
    6,
    "merge-allocated",
    "Leader_info brings the list of requests up to date, as the paper's own illustration has it",
);
/// Clause I: "if (i = `M_Th_id` && state = CS)".
pub const IDLE_HOLDER: Repair =
    Repair::new(7, "idle-holder", "a holder that leaves hands the token over whether or not it is in its CS");
/// Clauses I and K: no node to hand the token to, none to wait for.
pub const LAST_NODE: Repair = Repair::new(
    8,
    "last-node",
    "the token goes to an allocated node if there is no other, ends with the last node, and begins anew with the first",
);
/// Clause L: no node answers while the token is on its way.
pub const GREET: Repair =
    Repair::new(9, "greet", "who comes while the token is on its way is greeted by whoever receives it");
/// Clause I: the node is gone before any other knows.
pub const FAREWELL: Repair = Repair::new(
    10,
    "farewell",
    "who leaves stays until the leader has struck it off, and tells every new leader until then",
);
/// Clause J: "delete its entry from all lists".
pub const TOMBSTONE: Repair = Repair::new(
    11,
    "tombstone",
    "who has left is past all requests of that stay, so that a late one is not taken for a new one",
);
/// Clause K: RN begins anew.
pub const STAYS: Repair =
    Repair::new(12, "stays", "request numbers of a later stay come after those of an earlier one");
/// Clause H: "if any pending request(s) is (are) found add it to `R_Queue`".
pub const ACK_STORED: Repair = Repair::new(
    13,
    "ack-stored",
    "a request that was stored is acknowledged when it is queued, so that it is not sent to every new leader",
);
/// Section 7: "Token acknowledgment will be sent by the new token holder/leader".
pub const NO_COPY: Repair = Repair::new(
    14,
    "no-copy",
    "with possession, token-first and farewell no node keeps a copy of the token, and none acknowledges it",
);
/// All of them.
pub(super) const LIST: &[Repair] = &[
    STALE_LEADER,
    POSSESSION,
    NUMBERED_REPLIES,
    RELEASE_NUMBER,
    FORWARD_ANNOUNCED,
    TOKEN_FIRST,
    MERGE_ALLOCATED,
    IDLE_HOLDER,
    LAST_NODE,
    GREET,
    FAREWELL,
    TOMBSTONE,
    STAYS,
    ACK_STORED,
    NO_COPY,
];

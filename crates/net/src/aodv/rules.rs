//! The rules that keep routes fresh and free of loops. All of them hold; a test takes one away to show what it is for.

use super::packet::Seq;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(clippy::struct_excessive_bools)] // each is one rule, and tests take them away one by one
pub(crate) struct Rules {
    /// Sequence numbers are compared as signed differences, so that they may roll over.
    pub(crate) signed: bool,
    /// A request does not replace a route to its originator that is fresher.
    pub(crate) requests_must_be_fresh: bool,
    /// A reply does not replace a route that is fresher.
    pub(crate) replies_must_be_fresh: bool,
    /// The number of a destination is kept, and raised, when the link to its next hop breaks.
    pub(crate) breaks_raise: bool,
    /// And when the route expires.
    pub(crate) expiry_raises: bool,
    /// But not once more before the destination has given itself that number.
    pub(crate) raised_once: bool,
    /// An error is about routes through its sender only.
    pub(crate) errors_from_next_hop: bool,
    /// An error never lowers the number of a destination.
    pub(crate) errors_never_lower: bool,
    /// A route leads through the life of the next hop that has told of it, and ends with that.
    pub(crate) bound_to_lives: bool,
    /// A request is known by its originator and id, not by its id alone.
    pub(crate) duplicates_by_originator: bool,
}

impl Rules {
    pub(crate) const ALL: Self = Self {
        signed: true,
        requests_must_be_fresh: true,
        replies_must_be_fresh: true,
        breaks_raise: true,
        expiry_raises: true,
        raised_once: true,
        errors_from_next_hop: true,
        errors_never_lower: true,
        bound_to_lives: true,
        duplicates_by_originator: true,
    };

    pub(crate) fn newer(self, a: Seq, b: Seq) -> bool {
        if self.signed { a.newer(b) } else { a.0 > b.0 }
    }

    /// The newer one of what is known.
    pub(crate) fn newest(self, a: Option<Seq>, b: Option<Seq>) -> Option<Seq> {
        match (a, b) {
            (Some(a), Some(b)) => Some(if self.newer(a, b) { a } else { b }),
            (a, b) => a.or(b),
        }
    }
}

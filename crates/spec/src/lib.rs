//! What must hold, said from outside an algorithm.
//!
//! - [`Oracle`] watches what applications ask and get: at most k units in use, no grant unasked, no double grant,
//!   fences that grow, and the nodes that are still owed a grant.
//! - [`check_moment`] looks at a whole system between two steps: every permit exactly once, held or in flight, and the
//!   algorithm's own lemmas.

mod oracle;

pub use oracle::{Oracle, Violation};

use driftlock_protocol::{Moment, NodeId, Permits, Protocol};

/// Checks conservation of the `k` permits and the protocol's own invariant.
pub fn check_moment<P: Protocol>(k: u32, moment: &Moment<'_, P>) -> Result<(), Violation> {
    check_permits(k, moment)?;
    P::invariant(moment).map_err(Violation::Lemma)
}

/// Checks that each of the `k` permits exists exactly once.
pub fn check_permits<P: Protocol>(k: u32, moment: &Moment<'_, P>) -> Result<(), Violation> {
    let mut seen = Permits::NONE;
    let held = (0..).map(NodeId).zip(&moment.nodes).map(|(id, node)| (node.held(), id));
    let carried = moment.flights.iter().map(|flight| (P::permits(flight.message), flight.to));
    for (permits, node) in held.chain(carried) {
        let doubled = seen.common(permits);
        if !doubled.is_empty() {
            return Err(Violation::PermitDoubled { permits: doubled, node });
        }
        seen = seen.union(permits);
    }
    let returning = P::returning(moment);
    if seen.union(returning) != Permits::first(k) {
        return Err(Violation::PermitsChanged { expected: Permits::first(k), found: seen });
    }
    Ok(())
}

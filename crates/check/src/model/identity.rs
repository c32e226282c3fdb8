//! Which states count as one.

#[cfg(test)]
mod tests;

use std::hash::{Hash, Hasher};
use std::mem::discriminant;

use driftlock_protocol::ideal::Ideal;
use driftlock_protocol::{NodeId, Protocol};
use rustc_hash::FxHasher;

use super::Model;
use crate::canon::{Extents, Fingerprint};
use crate::parts::EMPTY;
use crate::state::{Common, State};

impl<P: Protocol> Model<P> {
    /// The fingerprint, and how far relative numbers lie apart. While nodes that are apart may still meet, all count
    /// from the lowest of all; afterwards each part of the network is for itself.
    pub(super) fn fingerprint(&self, state: &State) -> (u64, u64) {
        let (layout, parts) = (self.layout, &self.parts);
        let ledger = parts.ledgers.get(layout.ledger(state));
        let twin = self.twin(state);
        let mut fingerprint = Fingerprint::new(&ledger.fences, !P::LENDS);
        for &word in layout.plain(state) {
            fingerprint.word(u64::from(word));
        }
        fingerprint.word(twin.sketch);
        fingerprint.word(self.kind_of_fault(state));
        fingerprint.word(self.setup.stays.turn(twin.twin.next()));
        let may_meet = |&kind: &usize| layout.common(state, Common::Change(kind)) > 0;
        let whole = twin.will_meet || twin.meetings.iter().any(may_meet);
        let everybody = u8::MAX >> (8 - layout.seats(state).len());
        let (mut left, mut spread) = (everybody, 0);
        while left != 0 {
            let first = NodeId(left.trailing_zeros());
            let members = if whole { everybody } else { self.reach(state, first) };
            left &= !members;
            spread = spread.max(self.fingerprint_part(state, members, &mut fingerprint));
        }
        (fingerprint.finish(), spread)
    }

    /// What was done wrong, if anything was. Nothing comes after it, so that by whom and to which units does not
    /// matter.
    fn kind_of_fault(&self, state: &State) -> u64 {
        let Some(at) = self.layout.fault(state) else { return 0 };
        let mut hasher = FxHasher::default();
        discriminant(&self.faults.lock().expect("no thread panicked")[at]).hash(&mut hasher);
        hasher.finish() | 1
    }

    fn fingerprint_part(&self, state: &State, members: u8, fingerprint: &mut Fingerprint<'_>) -> u64 {
        let (layout, parts) = (self.layout, &self.parts);
        let inside = || layout.ids().filter(move |node| members >> node.0 & 1 == 1);
        let seats = || inside().map(|node| &parts.seats.get(layout.seat(state, node)).sketch);
        let busy = |(from, to): &(NodeId, NodeId)| from != to && layout.channel(state, *from, *to) != EMPTY;
        let pairs = || inside().flat_map(|from| inside().map(move |to| (from, to))).filter(busy);
        let channel = |(from, to)| &parts.channels.get(layout.channel(state, from, to)).sketch;
        let all = seats().chain(pairs().map(channel)).fold(Extents::default(), Extents::with);
        fingerprint.note(seats().chain(pairs().map(channel)));
        for sketch in seats() {
            fingerprint.part(sketch, all);
        }
        for (from, to) in pairs() {
            fingerprint.word(u64::from(from.0 * 8 + to.0));
            fingerprint.part(channel((from, to)), all);
        }
        all.spread()
    }
}

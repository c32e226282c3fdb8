//! What must hold in a state, looked at by itself.

#[cfg(test)]
mod tests;

use driftlock_protocol::{Flight, Moment, NodeId, Permits, Protocol, Units};
use driftlock_spec::{Violation, check_moment, check_permits};

use super::{ALL_IN_USE, Model, QUIET};
use crate::Property;
use crate::parts::{EMPTY, PartId};
use crate::state::{AWAKE, Own, State};

impl<P: Protocol> Model<P> {
    /// The nodes that wait and must be served in time, as a set of bits.
    ///
    /// A part of the network without a token can serve nobody, and where somebody wants more units than the part has,
    /// the others may have to wait behind that: an algorithm that serves in some order cannot know that it is in vain.
    pub(crate) fn owed(&self, state: &State) -> u8 {
        self.owed_if(state, true)
    }

    /// Likewise, if everybody leaves the CS in time, or if nobody ever does.
    fn owed_if(&self, state: &State, all_leave: bool) -> u8 {
        let mut owed = 0;
        for node in self.waiters(state) {
            if self.can_serve(state, self.reach(state, node), all_leave) {
                owed |= 1 << node.0;
            }
        }
        owed
    }

    /// Who waits and is here to stay.
    pub(crate) fn waiters(&self, state: &State) -> impl Iterator<Item = NodeId> {
        let layout = self.layout;
        let staying = self.twin(state).staying;
        let waits = move |node| self.parts.seats.get(layout.seat(state, node)).waits;
        layout.ids().filter(move |&node| waits(node) && staying >> node.0 & 1 == 1)
    }

    /// How many nodes wait that are not owed anything because no node has a token, and none is on its way: service says
    /// nothing of them.
    pub(crate) fn uncounted(&self, state: &State) -> usize {
        let waiters = self.waiters(state).count();
        if waiters == 0 || !self.setup.properties.has(Property::Service) || self.is_token_anywhere(state) {
            return 0;
        }
        waiters
    }

    fn is_token_anywhere(&self, state: &State) -> bool {
        let (layout, parts) = (self.layout, &self.parts);
        let mut messages = layout.channels(state).iter().flat_map(|&channel| &parts.channels.get(channel).messages);
        layout.seats(state).iter().any(|&seat| parts.seats.get(seat).has_token)
            || messages.any(|&message| parts.messages.get(message).is_token)
    }

    /// Whether these nodes, and what is on its way between them, have a token and the units for each of their requests.
    fn can_serve(&self, state: &State, members: u8, all_leave: bool) -> bool {
        let (layout, parts) = (self.layout, &self.parts);
        let inside = || layout.ids().filter(move |node| members >> node.0 & 1 == 1);
        let (mut permits, mut has_token, mut largest) = (Permits::NONE, false, 0);
        for to in inside() {
            let seat = parts.seats.get(layout.seat(state, to));
            let kept = if all_leave { Permits::NONE } else { seat.in_use() };
            permits = permits.union(seat.held.without(kept));
            has_token |= seat.has_token;
            largest = largest.max(seat.pending.map_or(0, Units::count));
            for from in inside().filter(|&from| from != to) {
                for &message in &parts.channels.get(layout.channel(state, from, to)).messages {
                    let message = parts.messages.get(message);
                    permits = permits.union(message.permits);
                    has_token |= message.is_token;
                }
            }
        }
        if P::LENDS {
            // What was used and is on its way back is free for whoever keeps the books.
            let kept = inside().map(|node| parts.seats.get(layout.seat(state, node)).in_use());
            let kept = kept.filter(|_| !all_leave).fold(Permits::NONE, Permits::union);
            permits = Permits::first(self.setup.deployment.k).without(kept);
        }
        has_token && largest <= permits.count()
    }

    /// The nodes that use units, as a set of bits.
    pub(crate) fn grants(&self, state: &State) -> u8 {
        let is_user = |node: &NodeId| self.parts.seats.get(self.layout.seat(state, *node)).is_in_use();
        self.layout.ids().filter(is_user).fold(0, |set, node| set | 1 << node.0)
    }

    /// What is wrong with a state, looked at by itself.
    pub fn verdict(&self, state: &State) -> Result<(), Violation> {
        let properties = self.setup.properties;
        let judged = |violation: Violation| {
            if properties.has(Property::of(&violation)) { Err(violation) } else { Ok(()) }
        };
        let fault = self.layout.fault(state).map(|at| self.faults.lock().expect("no thread panicked")[at].clone());
        // Two who use the same unit are worse than the fence that the second was given.
        if let Some(fault) = fault.clone().filter(|fault| !matches!(fault, Violation::FenceNotGrowing { .. })) {
            return judged(fault);
        }
        self.units_in_use(state).or_else(judged)?;
        if let Some(fault) = fault {
            return judged(fault);
        }
        self.moment(state).or_else(judged)?;
        // Whoever is in the CS of a quiet state may stay there.
        let stuck =
            if properties.has(Property::Service) && self.is_quiet(state) { self.owed_if(state, false) } else { 0 };
        if stuck != 0 {
            let nodes = self.layout.ids().filter(|node| stuck >> node.0 & 1 == 1).collect();
            return Err(Violation::Starved { nodes });
        }
        Ok(())
    }

    /// A node with a due timer has done nothing since it was due, and will do nothing before it is told: it may have
    /// slept through the end of a lease.
    fn units_in_use(&self, state: &State) -> Result<(), Violation> {
        let mut in_use = Permits::NONE;
        for node in self.layout.ids() {
            let seat = self.parts.seats.get(self.layout.seat(state, node));
            let granted = seat.grant.filter(|_| !self.has_due_timer(state, node)).map(|grant| grant.permits);
            for permits in granted.into_iter().chain(seat.left.iter().copied()) {
                let (together, k) = (in_use.count() + permits.count(), self.setup.deployment.k);
                if together > k {
                    return Err(Violation::TooManyInUse { in_use: together, k, node });
                }
                if !in_use.common(permits).is_empty() {
                    return Err(Violation::PermitInUse { permits: in_use.common(permits), node });
                }
                in_use = in_use.union(permits);
            }
        }
        Ok(())
    }

    fn moment(&self, state: &State) -> Result<(), Violation> {
        let seats = self.layout.seats(state).iter();
        let nodes = seats.map(|&seat| self.parts.seats.get(seat).seat.node.protocol()).collect();
        let moment = Moment::<P> { nodes, flights: self.flights(state).collect() };
        if !self.twin(state).is_seen_alike {
            // The lemmas speak of links that both ends see alike.
            return check_permits(self.setup.deployment.k, &moment);
        }
        check_moment(self.setup.deployment.k, &moment)
    }

    /// Everything on its way, in the order of senders and receivers.
    pub(super) fn flights(&self, state: &State) -> impl Iterator<Item = Flight<'_, P::Message>> {
        let (layout, parts) = (self.layout, &self.parts);
        let pairs = layout.ids().flat_map(move |from| layout.ids().map(move |to| (from, to)));
        pairs.flat_map(move |(from, to)| {
            let channel: PartId = if from == to { EMPTY } else { layout.channel(state, from, to) };
            let messages = parts.channels.get(channel).messages.iter();
            messages.map(move |&message| Flight { from, to, message: &parts.messages.get(message).message })
        })
    }

    /// Whether nothing will happen unless somebody asks, something changes, or one of those leaves who may stay.
    pub(crate) fn is_quiet(&self, state: &State) -> bool {
        let layout = self.layout;
        let at_rest = |node| {
            let timers = &self.parts.seats.get(layout.seat(state, node)).seat.timers;
            timers.is_empty() && layout.own(state, node, Own::Absence) == AWAKE
        };
        layout.channels(state).iter().all(|&channel| channel == EMPTY)
            && self.grants(state).count_ones() <= u32::from(self.setup.stay)
            && layout.ids().all(at_rest)
            && !self.twin(state).is_torn
    }

    /// Whether the thing of this number is the case: a node is granted, nothing goes on, all units are in use.
    pub(crate) fn is_witness(&self, state: &State, bit: u32) -> bool {
        let grant = |node| self.parts.seats.get(self.layout.seat(state, node)).grant;
        match bit {
            QUIET => self.is_quiet(state),
            ALL_IN_USE => {
                let grants = self.layout.ids().filter_map(grant).map(|grant| grant.permits);
                grants.fold(Permits::NONE, Permits::union) == Permits::first(self.setup.deployment.k)
            }
            node => grant(NodeId(node)).is_some(),
        }
    }
}

//! How a member comes back after it was killed, and an application of its earlier life. What it stores, and what it has
//! to do with leadership, is a matter of its chair.

use core::time::Duration;

use super::{Desk, Earlier, KlmeFt, Seal, Timer, Usage, Variant, guard};
use crate::tenure::{Chair, Durable};
use crate::{Charter, Demand, Grant, NodeId, Out, Permit, Permits};

#[cfg(test)]
mod tests;

impl KlmeFt {
    pub(super) fn restored(me: NodeId, charter: &Charter<Variant>, durable: Durable, out: &mut Out<Self>) -> Self {
        let mut desk = Desk::new(charter);
        let chair = Chair::restored(me, charter.variant.terms(charter.repairs), durable, &desk, out);
        if chair.stay.is_some() && desk.keeps(guard::QUIET) {
            desk.earlier = Earlier::MayBeInside;
            out.arm(Timer::Quiet, desk.variant.times.lease);
        }
        Self { chair, desk }
    }

    /// Whether this is the node's own again, which an application of an earlier life shows. The leader hears so under
    /// the next beat. If it does not lend the unit to this node any more, the lease is not renewed.
    pub(super) fn is_resumed(&mut self, grant: Grant, left: Duration, out: &mut Out<Self>) -> bool {
        let is_idle = matches!(self.desk.usage, Usage::Idle) && !self.chair.leaving;
        let is_in_time = self.desk.is_quiet() && left <= self.desk.variant.times.lease;
        let Some((permit, seal)) = self.recognise(grant).filter(|_| is_idle && is_in_time) else { return false };
        // It wants something now: if no leader is heard until its bond is over, it does something about it.
        (self.desk.earlier, self.chair.rests) = (Earlier::Over, false);
        out.disarm(Timer::Quiet);
        out.arm(Timer::Lease(false), left);
        self.desk.usage = Usage::Using { demand: Demand::ONE, permit, seal, lease: false, claimed: false };
        true
    }

    /// What was granted, if it can be: one unit of this token, by a leader of which this node knows.
    fn recognise(&self, Grant { permits, fence }: Grant) -> Option<(Permit, Seal)> {
        let seal = Seal::of(fence, self.chair.copy.as_ref()?.generation)?;
        let number = self.chair.promise.number()?;
        let is_known = seal < Seal::first(number.next(number.stay));
        let is_one_unit = permits.count() == 1 && permits.without(Permits::first(self.desk.k)).is_empty();
        permits.iter().next().filter(|_| is_known && is_one_unit).map(|permit| (permit, seal))
    }

    /// No application of an earlier life uses a unit any more. What it wants it claims under the next beat; if there
    /// may be none, it asks for one. The leader lends nothing on account of that, so that it does not matter which of
    /// two timers comes first.
    pub(super) fn on_quiet_over(&mut self, out: &mut Out<Self>) {
        self.desk.earlier = Earlier::Over;
        if self.chair.leaving {
            self.take_leave(out);
        } else if matches!(self.desk.usage, Usage::Waiting { .. }) && self.chair.knows_no_leader() {
            self.chair.knock(&self.desk, out);
        }
    }
}

//! The routing table: RFC 3561, sections 6.1, 6.2 and 6.11.
//!
//! Why there is no loop: along valid routes to a destination, the sequence number never falls, and while it stays the
//! same the number of hops falls. So no node's number may ever fall while others route through that node: it is raised
//! when a route ends, and remembered for `DELETE_PERIOD`, by which time no node routes through this node any more. A
//! next hop that is the destination itself closes no loop, whatever its number.
//!
//! A node that restarts forgets its numbers. So what is said here of nodes holds of their lives: a route leads through
//! the life of its next hop that was heard last, and what comes for another is turned away. No route leads through a
//! life that begins, and none goes on from one that is over.
//!
//! A number is raised once: it is one more than the destination has given itself, and stays so until it has given
//! itself that. No node routes through this one with it, so it need not be raised again, and what the destination says
//! next is as fresh.
//!
//! Why data does not get stuck: who routes through this node forgets the route before this node does. So a lifetime
//! shrinks from hop to hop, and a route lives on only if it is used, or its next hop says so.

use std::mem;

use driftlock_protocol::NodeId;

use super::packet::{Advert, Seq, Unreachable};
use super::rules::Rules;
use crate::by_node::ByNode;
use crate::{Span, Time};

/// What is known of the way to a destination. There are hundreds at each of thousands of nodes, so they are small.
#[derive(Clone, Debug)]
pub(super) struct Entry<A> {
    pub(super) next_hop: NodeId,
    pub(super) hops: u8,
    pub(super) valid: bool,
    pub(super) seq: Option<Seq>,
    /// The number is one more than the destination has given itself, as far as is known.
    raised: bool,
    /// When the route becomes invalid, or, if it is invalid, is forgotten.
    pub(super) expires: Time,
    /// Apart, because most have nothing of it.
    company: Option<Box<Company<A>>>,
}

/// What comes along with some routes.
#[derive(Clone, Debug)]
struct Company<A> {
    /// Neighbours that may route through this node, in order.
    precursors: Vec<NodeId>,
    advert: Option<Advert<A>>,
}

impl<A> Default for Company<A> {
    fn default() -> Self {
        Self { precursors: Vec::new(), advert: None }
    }
}

/// What a control message says about the way to a destination.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offer {
    pub(super) destination: NodeId,
    pub(super) next_hop: NodeId,
    pub(super) hops: u8,
    pub(super) seq: Option<Seq>,
    pub(super) expires: Time,
    /// Whether it must be fresher than what is known: always, but for tests.
    pub(super) must_be_fresh: bool,
}

impl Offer {
    /// Whether the destination is a neighbour. Then no other node has to know the way.
    fn is_direct(&self) -> bool {
        self.next_hop == self.destination
    }
}

/// What has become of an offer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Verdict {
    /// The table has something better.
    Refused,
    /// It confirms the route.
    Confirmed,
    /// There is a new route, or the old one has changed.
    Changed,
}

#[derive(Clone, Debug)]
pub(super) struct Table<A> {
    pub(super) rules: Rules,
    delete_period: Span,
    entries: ByNode<Entry<A>>,
    /// Nothing expires before this.
    earliest: Time,
}

impl<A> Table<A> {
    pub(super) fn new(delete_period: Span) -> Self {
        Self { rules: Rules::ALL, delete_period, entries: ByNode::default(), earliest: Time::END }
    }

    /// Makes room for so many entries in all.
    pub(super) fn reserve(&mut self, entries: usize) {
        self.entries.reserve(entries);
    }

    pub(super) fn get(&self, destination: NodeId) -> Option<&Entry<A>> {
        self.entries.get(destination)
    }

    pub(super) fn get_mut(&mut self, destination: NodeId) -> Option<&mut Entry<A>> {
        self.entries.get_mut(destination)
    }

    /// The entry of a destination that need not be up to date, if it is not over.
    pub(super) fn known(&self, now: Time, destination: NodeId) -> Option<&Entry<A>> {
        self.entries.get(destination).filter(|entry| !entry.is_over(now, self.delete_period))
    }

    /// All entries that are not over, in no order that means anything.
    pub(super) fn iter(&self, now: Time) -> impl Iterator<Item = (NodeId, &Entry<A>)> {
        self.entries.iter().filter(move |(_, entry)| !entry.is_over(now, self.delete_period))
    }

    /// When the next entry may expire: not before, perhaps later.
    pub(super) fn earliest(&self) -> Time {
        self.earliest
    }

    /// Brings one entry up to date; says whether its route has just become invalid.
    pub(super) fn update(&mut self, now: Time, destination: NodeId) -> bool {
        let Some(entry) = self.entries.get_mut(destination) else { return false };
        if entry.expires > now {
            return false;
        }
        let was_valid = entry.valid;
        if entry.valid {
            entry.expire(self.rules, self.delete_period);
            self.earliest = self.earliest.min(entry.expires);
        }
        if entry.expires <= now {
            self.entries.remove(destination);
        }
        was_valid
    }

    /// Brings all entries up to date; whose routes have just become invalid goes into `down`, in order.
    pub(super) fn sweep(&mut self, now: Time, down: &mut Vec<NodeId>) {
        self.earliest = Time::END;
        let update = Self::updater(now, self.rules, self.delete_period, &mut self.earliest, down);
        self.entries.retain(update);
        down.sort_unstable();
    }

    /// Sees to it that there is room for another entry. If there is none, all are brought up to date, as in
    /// [`sweep`](Self::sweep).
    pub(super) fn make_room(&mut self, now: Time, down: &mut Vec<NodeId>) {
        let update = Self::updater(now, self.rules, self.delete_period, &mut self.earliest, down);
        self.entries.make_room(update);
        down.sort_unstable();
    }

    /// Brings one entry after the other up to date; says whether it is to be kept.
    fn updater(
        now: Time,
        rules: Rules,
        delete_period: Span,
        earliest: &mut Time,
        down: &mut Vec<NodeId>,
    ) -> impl FnMut(NodeId, &mut Entry<A>) -> bool {
        move |destination, entry| {
            if entry.valid && entry.expires <= now {
                entry.expire(rules, delete_period);
                down.push(destination);
            }
            let lives = entry.expires > now;
            *earliest = if lives { entry.expires.min(*earliest) } else { *earliest };
            lives
        }
    }

    /// Takes a route if it is better than the one that is known. The entry is up to date.
    pub(super) fn offer(&mut self, offer: Offer) -> Verdict {
        self.earliest = self.earliest.min(offer.expires);
        let Some(entry) = self.entries.get_mut(offer.destination) else {
            self.entries.get_or_insert_with(offer.destination, || Entry::new(offer));
            return Verdict::Changed;
        };
        let same = entry.valid && entry.next_hop == offer.next_hop && entry.hops == offer.hops;
        // Whether or not the route is taken: others may route through this node with that number now.
        entry.raised &= self.rules.newest(entry.seq, offer.seq) != offer.seq;
        if !entry.accepts(offer, self.rules) {
            if same && entry.seq == offer.seq {
                entry.expires = entry.expires.max(offer.expires);
                return Verdict::Confirmed;
            }
            return Verdict::Refused;
        }
        let lives_on = same && (entry.seq == offer.seq || offer.is_direct());
        entry.expires = if lives_on { entry.expires.max(offer.expires) } else { offer.expires };
        entry.seq = if offer.must_be_fresh { self.rules.newest(offer.seq, entry.seq) } else { offer.seq };
        (entry.next_hop, entry.hops, entry.valid) = (offer.next_hop, offer.hops, true);
        if same { Verdict::Confirmed } else { Verdict::Changed }
    }

    /// The route has been used: it lives at least until `expires`.
    pub(super) fn refresh(&mut self, destination: NodeId, expires: Time) {
        if let Some(entry) = self.entries.get_mut(destination)
            && entry.valid
        {
            entry.expires = entry.expires.max(expires);
        }
    }

    /// A node still wants to use an invalid route: it is not forgotten yet.
    pub(super) fn remember(&mut self, now: Time, destination: NodeId) {
        if let Some(entry) = self.entries.get_mut(destination)
            && !entry.valid
        {
            entry.expires = now + self.delete_period;
        }
    }

    /// A neighbour may route through this node to `destination` from now on.
    pub(super) fn add_precursor(&mut self, destination: NodeId, neighbour: NodeId) {
        if let Some(entry) = self.entries.get_mut(destination)
            && let precursors = &mut entry.company.get_or_insert_default().precursors
            && let Err(at) = precursors.binary_search(&neighbour)
        {
            precursors.insert(at, neighbour);
        }
    }

    /// The destinations with valid routes through a neighbour, in order.
    pub(super) fn through(&self, neighbour: NodeId, now: Time) -> Vec<NodeId> {
        let through = |entry: &Entry<A>| entry.is_valid(now) && entry.next_hop == neighbour;
        let found = self.entries.iter().filter(|(_, entry)| through(entry));
        let mut destinations: Vec<_> = found.map(|(destination, _)| destination).collect();
        destinations.sort_unstable();
        destinations
    }

    /// Ends a valid route. `reported` is the number that the next hop has told; without it the link to the next hop is
    /// broken. Gives what to tell its precursors, who are added to `affected`.
    pub(super) fn invalidate(
        &mut self,
        now: Time,
        destination: NodeId,
        reported: Option<Seq>,
        affected: &mut Vec<NodeId>,
    ) -> Option<Unreachable> {
        let entry = self.entries.get_mut(destination).filter(|entry| entry.valid)?;
        let raised = if self.rules.breaks_raise { entry.seq_after_its_end() } else { None };
        entry.seq = match reported {
            Some(seq) if self.rules.errors_never_lower => self.rules.newest(Some(seq), raised),
            Some(seq) => Some(seq),
            None => raised,
        };
        (entry.raised, entry.valid) = (self.rules.raised_once, false);
        entry.expires = now + self.delete_period;
        let unreachable = Unreachable { destination, seq: entry.seq };
        let precursors = entry.company.as_mut().map(|company| mem::take(&mut company.precursors)).unwrap_or_default();
        affected.extend(&precursors);
        (!precursors.is_empty()).then_some(unreachable)
    }
}

impl<A> Entry<A> {
    fn new(offer: Offer) -> Self {
        Self {
            next_hop: offer.next_hop,
            hops: offer.hops,
            seq: offer.seq,
            raised: false,
            valid: true,
            expires: offer.expires,
            company: None,
        }
    }

    /// What is known of the destination's advert.
    pub(super) fn advert(&self) -> Option<&Advert<A>> {
        self.company.as_ref()?.advert.as_ref()
    }

    /// Keeps an advert of the destination.
    pub(super) fn set_advert(&mut self, advert: Advert<A>) {
        self.company.get_or_insert_default().advert = Some(advert);
    }

    pub(super) fn is_valid(&self, now: Time) -> bool {
        self.valid && self.expires > now
    }

    /// Whether the route is neither valid nor remembered any more. It is as if there were no entry.
    fn is_over(&self, now: Time, delete_period: Span) -> bool {
        let remembered = if self.valid { delete_period } else { Span::ZERO };
        self.expires + remembered <= now
    }

    fn expire(&mut self, rules: Rules, delete_period: Span) {
        self.valid = false;
        if let Some(company) = &mut self.company {
            company.precursors.clear();
        }
        self.expires = self.expires + delete_period;
        if rules.expiry_raises {
            (self.seq, self.raised) = (self.seq_after_its_end(), rules.raised_once);
        }
    }

    fn seq_after_its_end(&self) -> Option<Seq> {
        if self.raised { self.seq } else { self.seq.map(Seq::next) }
    }

    /// The last number that the destination has given itself, as far as is known. Others are told no newer one.
    pub(super) fn seq_to_tell(&self) -> Option<Seq> {
        if self.raised { self.seq.map(Seq::previous) } else { self.seq }
    }

    fn accepts(&self, offer: Offer, rules: Rules) -> bool {
        if offer.is_direct() || !offer.must_be_fresh {
            return true;
        }
        match (offer.seq, self.seq) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(new), Some(old)) if new == old => {
                // Others may count on the route until it ends.
                !self.valid || (offer.hops < self.hops && offer.expires >= self.expires)
            }
            (Some(new), Some(old)) => rules.newer(new, old),
        }
    }
}

//! The link layer: what the link-reversal algorithms assume, over a radio that loses, delays, doubles and reorders
//! frames.
//!
//! - `beacon`: hellos tell who is there, and links count only if both ends hear each other.
//! - [`frame`]: what link layers send to one another, and how a link forms.
//! - `peer`: one neighbour; how a link to it is called for, answered, and breaks.
//! - `purpose`: for which resources a node wants links at all.
//! - `rank`: which pairs need a link, and which are spared.
//! - `channel`: in order and once each, within one incarnation.
//! - `patience`: how long an acknowledgement is waited for.
//! - [`crate::custody`]: what becomes of messages that carry permits when a link breaks under them.
//!
//! What both ends may rely on is written down in docs/link-layer.md.

use std::collections::{BTreeMap, BTreeSet};

use driftlock_protocol::{Incarnation, NodeId};

use crate::beacon::Beacon;
use crate::custody::Durable;
use crate::parcel::Resource;
use crate::{Boot, Span, Time, Transfer};

mod channel;
pub mod frame;
mod patience;
mod peer;
mod purpose;
pub mod rank;
pub(crate) mod settings;

pub use frame::{CallId, Frame, Head, Hello, Part};
use patience::Patience;
use peer::{Own, Peer, Said};
pub use purpose::Mark;
pub use rank::Rank;
pub use settings::Settings;
use settings::from_ms;

/// From so many receivers on, one frame to all in reach is better than one to each.
const TOGETHER_MIN: usize = 3;
/// A call that could be made now is made somewhere within this time, so that not all who have heard the same hello call
/// at once.
const CALL_JITTER_MS: u32 = 100;

/// What the link layer wants done. The effects of one call are carried out in order, and those of a call that is made
/// meanwhile after them.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Effect<M> {
    /// Over the radio.
    Transmit {
        /// To this neighbour, or to all nodes in reach.
        to: Option<NodeId>,
        /// What.
        frame: Frame<M>,
        /// How long to put it off, so that neighbours do not all speak at once.
        delay: Span,
    },
    /// Over whatever path there is, if there is any. It may be lost.
    Route {
        /// To this node, which need not be in reach.
        to: NodeId,
        /// An offer or a verdict.
        frame: Frame<M>,
    },
    /// A neighbour is heard: the first hello of its life, or anything after it was silent.
    Heard {
        /// The neighbour.
        peer: NodeId,
        /// The life.
        boot: Boot,
    },
    /// Nothing of a neighbour was heard for too long: it counts as gone until something is.
    Silent {
        /// The neighbour.
        peer: NodeId,
    },
    /// A link has formed.
    Up {
        /// The other end.
        peer: NodeId,
        /// The same at both ends, and greater than all before it.
        incarnation: Incarnation,
    },
    /// A link is gone.
    Down {
        /// The other end.
        peer: NodeId,
        /// As it was when it came up.
        incarnation: Incarnation,
    },
    /// A message has arrived.
    Deliver {
        /// The sender.
        from: NodeId,
        /// Of the link, which is up; or, if it carries permits and no link to its sender is up, of a former link that
        /// broke under it.
        incarnation: Incarnation,
        /// The content.
        message: M,
    },
    /// A message of this node did not arrive and never will.
    Undelivered {
        /// The receiver it did not reach.
        to: NodeId,
        /// The content.
        message: M,
    },
    /// It is not known whether this message arrived. It is kept and offered again until that is settled:
    /// [`Effect::Settled`] or [`Effect::Lost`] follows.
    Doubt {
        /// The receiver.
        to: NodeId,
        /// Which message.
        transfer: Transfer,
    },
    /// A message in doubt has arrived.
    Settled {
        /// The receiver.
        to: NodeId,
        /// Which message.
        transfer: Transfer,
    },
    /// No node will ever know whether this message arrived: the receiver has lost its memory. Its permits must count as
    /// gone.
    Lost {
        /// The receiver.
        to: NodeId,
        /// The content.
        message: M,
    },
    /// It is not known whether this message arrived, and as it carries no permits no node has to know. For counts and
    /// traces.
    Dropped {
        /// The receiver.
        to: NodeId,
        /// The content.
        message: M,
    },
}

impl<M> Effect<M> {
    fn now(to: Option<NodeId>, frame: Frame<M>) -> Self {
        Self::Transmit { to, frame, delay: Span::ZERO }
    }
}

/// The link layer of one node.
#[derive(Clone, Debug)]
pub struct Link<M> {
    own: Own<M>,
    beacon: Beacon,
    /// Who is heard, or has to be remembered.
    peers: BTreeMap<NodeId, Peer<M>>,
    /// When each of them wants to be looked at, or earlier; each at most once.
    alarms: BTreeSet<(Time, NodeId)>,
    /// Who is owed an acknowledgement.
    owed: BTreeSet<NodeId>,
    /// When the next call is made, if a node is to be called; and before when there is none.
    call_at: Time,
    calls_paced_until: Time,
    /// How many messages with permits it has sent in this life, to all peers.
    transfers: u64,
}

impl<M: Clone> Link<M> {
    /// A node that begins at `now`, in the life `boot`, and remembers nothing. It wants links for resource 0, until it
    /// is told otherwise ([`Self::serve`]). `is_kept` tells which messages must not be lost: for those of a protocol,
    /// [`driftlock_protocol::carries_permits`].
    pub fn new(now: Time, me: NodeId, boot: Boot, settings: Settings, is_kept: fn(&M) -> bool) -> Self {
        let nothing = Durable { since: boot, floor: Incarnation(0), peers: Vec::new() };
        Self::restore(now, me, boot, settings, is_kept, nothing)
    }

    /// A node that has restarted and remembers what [`Self::durable`] gave last.
    pub fn restore(
        now: Time,
        me: NodeId,
        boot: Boot,
        settings: Settings,
        is_kept: fn(&M) -> bool,
        durable: Durable<M>,
    ) -> Self {
        let patience = Patience::new((u64::from(me.0) << 32) | u64::from(boot.0));
        let (since, floor) = (durable.since, durable.floor);
        let mut link = Self {
            own: Own {
                me,
                boot,
                since,
                floor,
                settings,
                patience,
                is_kept,
                resources: vec![Resource::default()],
                mark: Mark::of(&[Resource::default()]),
            },
            beacon: Beacon::new(me, boot, now, &settings),
            peers: BTreeMap::new(),
            alarms: BTreeSet::new(),
            owed: BTreeSet::new(),
            call_at: Time::END,
            calls_paced_until: now,
            transfers: 0,
        };
        for kept in durable.peers {
            let id = kept.peer;
            link.peers.insert(id, Peer::restored(kept, now, &link.own));
            link.note_changes(id);
        }
        link
    }

    /// What must survive a restart.
    pub fn durable(&self) -> Durable<M> {
        let peers = self.peers.values().map(|peer| peer.kept(&self.own)).collect();
        Durable { since: self.own.since, floor: self.own.floor, peers }
    }

    /// From now on this node wants links for these, given in growing order: only with who wants links for one of them.
    /// Links that are up are given up, and form anew if the others agree.
    pub fn serve(&mut self, now: Time, resources: Vec<Resource>, out: &mut Vec<Effect<M>>) {
        if resources == self.own.resources {
            return;
        }
        (self.own.mark, self.own.resources) = (Mark::of(&resources), resources);
        for id in self.peers.keys().copied().collect::<Vec<_>>() {
            if let Some(peer) = self.peers.get_mut(&id) {
                peer.part(now, &self.own, out);
            }
            self.note_changes(id);
        }
    }

    /// What the other end of a link wants links for, as it has said when the link formed.
    pub fn resources_of(&self, peer: NodeId) -> &[Resource] {
        self.peers.get(&peer).map_or(&[], |peer| &peer.resources)
    }

    /// The links that are up, by peer.
    pub fn links(&self) -> impl Iterator<Item = (NodeId, Incarnation)> {
        self.peers.iter().filter_map(|(&id, peer)| peer.incarnation().map(|incarnation| (id, incarnation)))
    }

    /// The messages with permits that no node can use until it is known whether they arrived, and to whom they went.
    pub fn in_doubt(&self) -> impl Iterator<Item = (NodeId, &M)> {
        self.peers.iter().flat_map(|(&id, peer)| peer.custody.doubts.iter().map(move |doubt| (id, &doubt.message)))
    }

    /// The messages that were sent over links that are up and are not acknowledged.
    pub fn unacknowledged(&self) -> impl Iterator<Item = (NodeId, &M)> {
        self.peers.iter().flat_map(|(&id, peer)| peer.unacknowledged().map(move |message| (id, message)))
    }

    /// A neighbour for which as many messages wait as there may, and how many.
    pub fn full(&self) -> Option<(NodeId, usize)> {
        let most = self.own.settings.queue_max as usize;
        let waiting = self.peers.iter().map(|(&id, peer)| (id, peer.unacknowledged().count()));
        waiting.into_iter().find(|(_, waiting)| *waiting >= most)
    }

    /// Whether a node is known, or may be.
    fn has_room_for(&self, id: NodeId) -> bool {
        self.peers.len() < self.own.settings.peers_max as usize || self.peers.contains_key(&id)
    }

    /// When [`Self::woken`] is to be called.
    pub fn wakes(&self) -> Option<Time> {
        let alarm = self.alarms.first().map_or(Time::END, |&(at, _)| at);
        Some(alarm.min(self.beacon.next).min(self.call_at))
    }

    /// Does what is due.
    pub fn woken(&mut self, now: Time, out: &mut Vec<Effect<M>>) {
        let mut acknowledges = false;
        while let Some(&(at, id)) = self.alarms.first()
            && at <= now
        {
            self.alarms.pop_first();
            if let Some(peer) = self.peers.get_mut(&id) {
                peer.alarm = None;
                peer.woken(now, &mut self.own, out);
                acknowledges |= peer.acknowledge_at().is_some_and(|at| at <= now);
                // Its alarm is set anew when it has been told.
                if peer.acknowledge_at().is_none_or(|at| at > now) {
                    self.note_changes(id);
                }
            }
        }
        if acknowledges {
            self.acknowledge(out);
        }
        if self.beacon.next <= now {
            self.say_hello(now, out);
        }
        if self.call_at <= now {
            self.call(now, out);
        }
    }

    /// Tells all who are owed that what has arrived of theirs.
    fn acknowledge(&mut self, out: &mut Vec<Effect<M>>) {
        let owed = std::mem::take(&mut self.owed);
        let told = |id: &NodeId| self.peers.get_mut(id).and_then(Peer::acknowledges);
        let heads: Vec<_> = owed.iter().filter_map(told).collect();
        if heads.len() >= TOGETHER_MIN {
            out.push(Effect::now(None, Frame::Acks(heads)));
        } else {
            out.extend(heads.into_iter().map(|(to, head)| Effect::now(Some(to), Frame::Ack(head))));
        }
        for id in owed {
            self.note_changes(id);
        }
    }

    fn say_hello(&mut self, now: Time, out: &mut Vec<Effect<M>>) {
        let (crowd, crowd_max) = self.crowd();
        if let Some(hello) = self.beacon.hello(now, crowd, crowd_max, &self.own.settings) {
            let links = self.links().map(|(peer, _)| peer).collect();
            let spared = self.refused(now);
            out.push(Effect::now(None, Frame::Hello(Hello { links, spared, mark: self.own.mark, ..hello })));
        }
    }

    /// Who has called in vain, and would again. To those that are not named for want of room the same is said when they
    /// call.
    fn refused(&mut self, now: Time) -> Vec<NodeId> {
        let refused: Vec<_> = self.peers.iter().filter(|(_, peer)| peer.refused).map(|(&id, _)| id).collect();
        let mut still = Vec::new();
        for id in refused {
            let is_spared = self.spares(now, id);
            if let Some(peer) = self.peers.get_mut(&id) {
                peer.refused = is_spared || !purpose::meet(&peer.resources, &self.own.resources);
                still.extend(peer.refused.then_some(id));
            }
        }
        still.truncate(self.own.settings.list_max as usize);
        still
    }

    /// How many nodes are heard here, and the most that are heard by any of those.
    fn crowd(&self) -> (u32, u32) {
        let heard = || self.peers.values().filter_map(|peer| peer.hearing.as_ref());
        (u32::try_from(heard().count()).unwrap_or(u32::MAX), heard().map(|hearing| hearing.crowd).max().unwrap_or(0))
    }

    /// Whether others make up for a link to this neighbour: enough of them, each linked to it and heard here, both
    /// pairs ranked better, and for whatever the link would be for.
    fn spares(&self, now: Time, id: NodeId) -> bool {
        let (enough, rank) = (self.own.settings.spare_witnesses as usize, Rank::of(self.own.me, id));
        let Some(peer) = self.peers.get(&id).filter(|_| enough > 0) else { return false };
        let serves = |other: &Peer<M>| other.mark().makes_up_for(self.own.mark, peer.mark());
        let makes_up = |other: &&NodeId| {
            let ranks_better = Rank::of(**other, id) < rank && Rank::of(self.own.me, **other) < rank;
            ranks_better && self.peers.get(other).is_some_and(|other| other.is_mutual(now, &self.own) && serves(other))
        };
        peer.its_links().iter().filter(makes_up).take(enough).count() == enough
    }

    /// Calls the best-ranked of all who need a link and are for this node to call.
    fn call(&mut self, now: Time, out: &mut Vec<Effect<M>>) {
        let candidates = self.peers.iter().filter(|(_, peer)| peer.is_to_be_called(now, &self.own)).map(|(&id, _)| id);
        let mut needed: Vec<_> = candidates.filter(|&id| !self.spares(now, id)).collect();
        needed.sort_unstable_by_key(|&id| Rank::of(self.own.me, id));
        self.call_at = Time::END;
        let Some(&best) = needed.first() else { return };
        let (crowd, crowd_max) = self.crowd();
        let nanos =
            u64::from(crowd.max(crowd_max)) * 1_000_000_000 / u64::from(self.own.settings.calls_per_second_max.max(1));
        let gap = Span(nanos);
        self.calls_paced_until = now + gap / 2 + self.own.patience.part_of(gap);
        if needed.len() > 1 {
            self.call_at = self.calls_paced_until;
        }
        if let Some(peer) = self.peers.get_mut(&best) {
            peer.start_calling(now, &mut self.own, out);
        }
        self.note_changes(best);
    }

    /// Sends a message over the link to `to`. What becomes of it is reported by at most one of [`Effect::Undelivered`],
    /// [`Effect::Doubt`] and [`Effect::Dropped`]; if by none, it has arrived.
    pub fn send(&mut self, now: Time, to: NodeId, message: M, out: &mut Vec<Effect<M>>) {
        let transfer = (self.own.is_kept)(&message).then_some(self.transfers);
        self.transfers += u64::from(transfer.is_some());
        match self.peers.get_mut(&to) {
            Some(peer) => peer.send(now, transfer, message, &mut self.own, out),
            None => out.push(Effect::Undelivered { to, message }),
        }
        self.note_changes(to);
    }

    /// Sends the same message over the links to all of these: as [`Self::send`] to each, but in one frame if that is
    /// better.
    pub fn send_to_all(
        &mut self,
        now: Time,
        to: impl ExactSizeIterator<Item = NodeId>,
        message: &M,
        out: &mut Vec<Effect<M>>,
    ) {
        if to.len() < TOGETHER_MIN || (self.own.is_kept)(message) {
            for to in to {
                self.send(now, to, message.clone(), out);
            }
            return;
        }
        let mut parts = Vec::with_capacity(to.len());
        for to in to {
            match self.peers.get_mut(&to) {
                Some(peer) => parts.extend(peer.share(now, message, &mut self.own, out)),
                None => out.push(Effect::Undelivered { to, message: message.clone() }),
            }
            self.note_changes(to);
        }
        if parts.len() >= TOGETHER_MIN {
            // No radio repeats it if it collides, and those who have heard the same message react to it at the same
            // time.
            let delay = self.own.patience.part_of(from_ms(self.own.settings.share_jitter_ms));
            out.push(Effect::Transmit { to: None, frame: Frame::Shared { parts, message: message.clone() }, delay });
        } else {
            out.extend(parts.into_iter().map(|Part { to, head, sequence }| {
                let frame = Frame::Data { head, sequence, transfer: None, message: message.clone() };
                Effect::now(Some(to), frame)
            }));
        }
    }

    /// A frame of another layer of `from` has arrived over the radio. That is a sign of life like any other, also from
    /// a neighbour of which no hello was heard yet.
    pub fn heard(&mut self, now: Time, from: NodeId, out: &mut Vec<Effect<M>>) {
        if from == self.own.me || !self.has_room_for(from) {
            return;
        }
        let own = &self.own;
        let peer = self.peers.entry(from).or_insert_with(|| Peer::new(from, now, own));
        if !peer.sign_of_life(now, out) && peer.glimpse(now, self.beacon.interval(), own) {
            self.note_changes(from);
        }
    }

    /// The radio has given a frame up. A hint: it may be wrong, and need not be given.
    pub fn unsent(&mut self, now: Time) {
        self.own.patience.late(now, &self.own.settings);
    }

    /// A frame of `from` has arrived, over the radio, or over a path if it is an offer or a verdict.
    pub fn received(&mut self, now: Time, from: NodeId, frame: Frame<M>, out: &mut Vec<Effect<M>>) {
        if from == self.own.me {
            return;
        }
        match &frame {
            Frame::Hello(_) | Frame::Shared { .. } | Frame::Run { .. } | Frame::Acks(_) => {
                return self.overheard(now, from, &frame, out);
            }
            Frame::Offer { .. } if self.has_room_for(from) => {
                let own = &self.own;
                self.peers.entry(from).or_insert_with(|| Peer::new(from, now, own));
            }
            _ => {}
        }
        let spared = matches!(frame, Frame::Call { .. }) && self.spares(now, from);
        match self.peers.get_mut(&from) {
            Some(peer) => take(peer, now, frame, spared, &mut self.own, out),
            None => turn_away(from, &frame, out),
        }
        self.note_changes(from);
    }

    /// A frame to all in reach has arrived: as [`Self::received`], but what many hear need not be copied for each.
    pub fn overheard(&mut self, now: Time, from: NodeId, frame: &Frame<M>, out: &mut Vec<Effect<M>>) {
        let me = self.own.me;
        if from == me {
            return;
        }
        let mine = match frame {
            Frame::Hello(hello) => return self.heard_hello(now, from, hello, out),
            Frame::Shared { parts, message } => parts.iter().find(|part| part.to == me).map(|part| Frame::Data {
                head: part.head,
                sequence: part.sequence,
                transfer: None,
                message: message.clone(),
            }),
            Frame::Run { head, sequence, messages } => {
                for ((transfer, message), sequence) in messages.iter().zip(*sequence..) {
                    let frame = Frame::Data { head: *head, sequence, transfer: *transfer, message: message.clone() };
                    self.received(now, from, frame, out);
                }
                return;
            }
            Frame::Acks(heads) => heads.iter().find(|(to, _)| *to == me).map(|&(_, head)| Frame::Ack(head)),
            other => Some(other.clone()),
        };
        if let Some(frame) = mine {
            self.received(now, from, frame, out);
        } else if let Some(peer) = self.peers.get_mut(&from) {
            peer.sign_of_life(now, out);
        }
    }

    fn heard_hello(&mut self, now: Time, from: NodeId, hello: &Hello, out: &mut Vec<Effect<M>>) {
        self.beacon.hears(now, &self.own.settings);
        if !self.has_room_for(from) {
            return;
        }
        let own = &self.own;
        let peer = self.peers.entry(from).or_insert_with(|| Peer::new(from, now, own));
        peer.hello(now, hello, &mut self.own, out);
        let (is_up, is_to_be_called) = (peer.incarnation().is_some(), peer.is_to_be_called(now, &self.own));
        if is_up || is_to_be_called {
            let spared = self.spares(now, from);
            if let Some(peer) = self.peers.get_mut(&from) {
                peer.spare(now, spared, &mut self.own, out);
            }
            if is_to_be_called && !spared {
                let soon = now + self.own.patience.part_of(from_ms(CALL_JITTER_MS));
                self.call_at = self.call_at.min(soon.max(self.calls_paced_until));
            }
        }
        self.note_changes(from);
    }

    /// Follows what has changed about a peer: whom the hellos list, when to look at it again, whether to remember it at
    /// all.
    fn note_changes(&mut self, id: NodeId) {
        let Some(peer) = self.peers.get_mut(&id) else { return };
        if peer.acknowledge_at().is_some() {
            self.owed.insert(id);
        } else {
            self.owed.remove(&id);
        }
        let listed = peer.is_well() && peer.incarnation().is_none() && peer.wants_links(&self.own);
        if listed != peer.announced {
            peer.announced = listed;
            if listed {
                self.beacon.announce(id);
            } else {
                self.beacon.withdraw(id);
            }
        }
        // An alarm that comes too early does no harm, so one that moved away is left until it goes off.
        if let Some(due) = peer.due(&self.own)
            && peer.alarm.is_none_or(|alarm| due < alarm)
        {
            let earlier = peer.alarm.replace(due);
            self.alarms.insert((due, id));
            if let Some(alarm) = earlier {
                self.alarms.remove(&(alarm, id));
            }
        }
        if let Some(last) = peer.forgettable() {
            self.own.floor = self.own.floor.max(last);
            if let Some(alarm) = peer.alarm {
                self.alarms.remove(&(alarm, id));
            }
            self.peers.remove(&id);
        }
    }
}

/// What a stranger is told: there is no link to it.
fn turn_away<M>(from: NodeId, frame: &Frame<M>, out: &mut Vec<Effect<M>>) {
    if let Frame::Answer { incarnation, .. }
    | Frame::Data { head: Head { incarnation, .. }, .. }
    | Frame::Ack(Head { incarnation, .. })
    | Frame::Probe(Head { incarnation, .. }) = *frame
    {
        out.push(Effect::now(Some(from), Frame::Reset { incarnation }));
    }
}

/// A frame of a node that is heard, or remembered.
fn take<M: Clone>(
    peer: &mut Peer<M>,
    now: Time,
    frame: Frame<M>,
    spared: bool,
    own: &mut Own<M>,
    out: &mut Vec<Effect<M>>,
) {
    let over_the_radio = !matches!(frame, Frame::Offer { .. } | Frame::Verdict(_));
    if over_the_radio {
        peer.sign_of_life(now, out);
    }
    match frame {
        Frame::Call { call, statement, doubts, resources } => {
            peer.called(now, call, Said { statement, doubts, resources }, spared, own, out);
        }
        Frame::Answer { call, incarnation, statement, doubts, resources } => {
            peer.answered(now, call, incarnation, Said { statement, doubts, resources }, own, out);
        }
        Frame::Data { head, sequence, transfer, message } => {
            peer.exchange(now, head, Some((sequence, transfer, message)), own, out);
        }
        Frame::Ack(head) => peer.exchange(now, head, None, own, out),
        Frame::Probe(head) => peer.probed(now, head, own, out),
        Frame::Reset { incarnation } => peer.reset(now, incarnation, own, out),
        Frame::Offer { incarnation, doubts } => peer.offered(now, incarnation, doubts, own, out),
        Frame::Verdict(statement) => peer.judged(&statement, out),
        Frame::Hello(_) | Frame::Shared { .. } | Frame::Run { .. } | Frame::Acks(_) => {}
    }
}

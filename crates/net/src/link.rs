//! The link layer: what the link-reversal algorithms assume, over a radio that loses, delays, doubles and reorders frames.
//!
//! - `beacon`: hellos tell who is there, and links count only if both ends hear each other.
//! - [`frame`]: what link layers send to one another, and how a link forms.
//! - `peer`: one neighbour; how a link to it is called for, answered, and breaks.
//! - `channel`: in order and once each, within one incarnation.
//! - [`crate::custody`]: what becomes of messages that carry permits when a link breaks under them.
//!
//! What both ends may rely on is written down in docs/link-layer.md.

use std::collections::{BTreeMap, BTreeSet};

use driftlock_protocol::{Incarnation, NodeId};

use crate::Time;
use crate::beacon::Beacon;
use crate::custody::{Durable, Transfer};

mod channel;
pub mod frame;
mod peer;
mod round_trip;
pub(crate) mod settings;

pub use frame::{Boot, CallId, Frame, Head, Hello};
use peer::{Own, Peer};
pub use settings::Settings;

/// What the link layer wants done. The effects of one call are carried out in order, and those of a call that is made meanwhile after them.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Effect<M> {
    /// Over the radio.
    Transmit {
        /// To this neighbour, or to everybody in reach.
        to: Option<NodeId>,
        /// What.
        frame: Frame<M>,
    },
    /// Over whatever path there is, if there is any. It may be lost.
    Route {
        /// To this node, which need not be in reach.
        to: NodeId,
        /// An offer or a verdict.
        frame: Frame<M>,
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
        /// Of the link, which is up; or, if it carries permits and no link to its sender is up, of a former link that broke under it.
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
    /// It is not known whether this message arrived. It is kept and offered again until that is settled: [`Effect::Settled`] or
    /// [`Effect::Lost`] follows.
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
    /// Nobody will ever know whether this message arrived: the receiver has lost its memory. Its permits must count as gone.
    Lost {
        /// The receiver.
        to: NodeId,
        /// The content.
        message: M,
    },
    /// It is not known whether this message arrived, and as it carries no permits nobody has to know. For counts and traces.
    Dropped {
        /// The receiver.
        to: NodeId,
        /// The content.
        message: M,
    },
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
    /// How many messages with permits it has sent in this life, to whomever.
    transfers: u64,
}

impl<M: Clone> Link<M> {
    /// A node that begins at `now`, in the life `boot`, and remembers nothing. `carries_permits` tells which messages must
    /// not be lost: for those of a protocol, [`driftlock_protocol::carries_permits`].
    pub fn new(now: Time, me: NodeId, boot: Boot, settings: Settings, carries_permits: fn(&M) -> bool) -> Self {
        let nothing = Durable { since: boot, floor: Incarnation(0), peers: Vec::new() };
        Self::restore(now, me, boot, settings, carries_permits, nothing)
    }

    /// A node that has restarted and remembers what [`Self::durable`] gave last.
    pub fn restore(
        now: Time,
        me: NodeId,
        boot: Boot,
        settings: Settings,
        carries_permits: fn(&M) -> bool,
        durable: Durable<M>,
    ) -> Self {
        let own = Own { me, boot, since: durable.since, floor: durable.floor, settings, carries_permits };
        let beacon = Beacon::new(me, boot, now, &settings);
        let mut link = Self { own, beacon, peers: BTreeMap::new(), alarms: BTreeSet::new(), transfers: 0 };
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

    /// The same node after a restart, in the life `boot`: it has what [`Self::durable`] says, and nothing else.
    #[must_use]
    pub fn restarted(&self, now: Time, boot: Boot) -> Self {
        let Own { me, settings, carries_permits, .. } = self.own;
        Self::restore(now, me, boot, settings, carries_permits, self.durable())
    }

    /// Whether a message that is sent and not acknowledged outlives a restart.
    pub fn stores(&self, message: &M) -> bool {
        (self.own.carries_permits)(message)
    }

    /// The links that are up, by peer.
    pub fn links(&self) -> impl Iterator<Item = (NodeId, Incarnation)> {
        self.peers.iter().filter_map(|(&id, peer)| peer.incarnation().map(|incarnation| (id, incarnation)))
    }

    /// The messages with permits that nobody can use until it is known whether they arrived, and to whom they went.
    pub fn in_doubt(&self) -> impl Iterator<Item = (NodeId, &M)> {
        self.peers.iter().flat_map(|(&id, peer)| peer.custody.doubts.iter().map(move |doubt| (id, &doubt.message)))
    }

    /// The messages that were sent over links that are up and are not acknowledged.
    pub fn unacknowledged(&self) -> impl Iterator<Item = (NodeId, &M)> {
        self.peers.iter().flat_map(|(&id, peer)| peer.unacknowledged().map(move |message| (id, message)))
    }

    /// When [`Self::woken`] is to be called.
    pub fn wakes(&self) -> Option<Time> {
        let alarm = self.alarms.first().map_or(Time::END, |&(at, _)| at);
        Some(alarm.min(self.beacon.next))
    }

    /// Does what is due.
    pub fn woken(&mut self, now: Time, out: &mut Vec<Effect<M>>) {
        while let Some(&(at, id)) = self.alarms.first()
            && at <= now
        {
            self.alarms.pop_first();
            if let Some(peer) = self.peers.get_mut(&id) {
                peer.alarm = None;
                peer.woken(now, &self.own, out);
                self.note_changes(id);
            }
        }
        if self.beacon.next <= now {
            let heard = || self.peers.values().filter_map(|peer| peer.hearing.as_ref());
            let crowd = u32::try_from(heard().count()).unwrap_or(u32::MAX);
            let crowd_max = heard().map(|hearing| hearing.crowd).max().unwrap_or(0);
            if let Some(hello) = self.beacon.hello(now, crowd, crowd_max, &self.own.settings) {
                out.push(Effect::Transmit { to: None, frame: Frame::Hello(hello) });
            }
        }
    }

    /// Sends a message over the link to `to`. What becomes of it is reported by at most one of [`Effect::Undelivered`],
    /// [`Effect::Doubt`] and [`Effect::Dropped`]; if by none, it has arrived.
    pub fn send(&mut self, now: Time, to: NodeId, message: M, out: &mut Vec<Effect<M>>) {
        let transfer = (self.own.carries_permits)(&message).then_some(self.transfers);
        self.transfers += u64::from(transfer.is_some());
        match self.peers.get_mut(&to) {
            Some(peer) => peer.send(now, transfer, message, &self.own, out),
            None => out.push(Effect::Undelivered { to, message }),
        }
        self.note_changes(to);
    }

    /// The radio believes that a frame did not reach `to`. A hint: it may be wrong, and need not be given.
    pub fn unsent(&mut self, now: Time, to: NodeId) {
        if let Some(peer) = self.peers.get_mut(&to) {
            peer.unsent(now, &self.own);
            self.note_changes(to);
        }
    }

    /// A frame of `from` has arrived, over the radio, or over a path if it is an offer or a verdict.
    pub fn received(&mut self, now: Time, from: NodeId, frame: Frame<M>, out: &mut Vec<Effect<M>>) {
        if from == self.own.me {
            return;
        }
        if let Frame::Hello(hello) = &frame {
            return self.heard_hello(now, from, hello, out);
        }
        if matches!(frame, Frame::Offer { .. }) {
            let own = &self.own;
            self.peers.entry(from).or_insert_with(|| Peer::new(from, now, own));
        }
        match self.peers.get_mut(&from) {
            Some(peer) => take(peer, now, frame, &self.own, out),
            None => turn_away(from, &frame, out),
        }
        self.note_changes(from);
    }

    /// A hello of `from` has arrived: as [`Self::received`], but a hello that many hear need not be copied for each.
    pub fn heard_hello(&mut self, now: Time, from: NodeId, hello: &Hello, out: &mut Vec<Effect<M>>) {
        if from != self.own.me {
            self.beacon.hears(now, &self.own.settings);
            let own = &self.own;
            let peer = self.peers.entry(from).or_insert_with(|| Peer::new(from, now, own));
            peer.hello(now, hello, own, out);
            self.note_changes(from);
        }
    }

    /// Follows what has changed about a peer: whom the hellos list, when to look at it again, whether to remember it at all.
    fn note_changes(&mut self, id: NodeId) {
        let Some(peer) = self.peers.get_mut(&id) else { return };
        let well = peer.is_well();
        if well != peer.announced {
            peer.announced = well;
            if well {
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
    | Frame::Ack(Head { incarnation, .. }) = *frame
    {
        out.push(Effect::Transmit { to: Some(from), frame: Frame::Reset { incarnation } });
    }
}

/// A frame of somebody who is heard, or remembered.
fn take<M: Clone>(peer: &mut Peer<M>, now: Time, frame: Frame<M>, own: &Own<M>, out: &mut Vec<Effect<M>>) {
    let over_the_radio = !matches!(frame, Frame::Offer { .. } | Frame::Verdict(_));
    if over_the_radio && let Some(hearing) = &mut peer.hearing {
        hearing.sign_of_life(now);
    }
    match frame {
        Frame::Hello(hello) => peer.hello(now, &hello, own, out),
        Frame::Call { call, statement, doubts } => peer.called(now, call, (statement, doubts), own, out),
        Frame::Answer { call, incarnation, statement, doubts } => {
            peer.answered(now, call, incarnation, (statement, doubts), own, out);
        }
        Frame::Data { head, sequence, transfer, message } => {
            peer.exchange(now, head, Some((sequence, transfer, message)), own, out);
        }
        Frame::Ack(head) => peer.exchange(now, head, None, own, out),
        Frame::Reset { incarnation } => peer.reset(now, incarnation, own, out),
        Frame::Offer { incarnation, doubts } => peer.offered(now, incarnation, doubts, own, out),
        Frame::Verdict(statement) => peer.judged(&statement, out),
    }
}

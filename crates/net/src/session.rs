//! Exactly once, in order, between two nodes, over routed datagrams that may be lost, doubled, late and overtaken.
//!
//! ```text
//! sender                                  receiver
//!    | Open { session } ---------------->  |   forgets what it knows of the sender's former sessions
//!    | <---------- Accept { session, boot} |   boot: which life of the receiver this is
//!    | Data { session, boot, 0 } ------->  |   delivers
//!    | Data { session, boot, 1 } ------->  |   delivers
//!    | <----------- Ack { session, boot, 2}|   all below 2 are delivered
//! ```
//!
//! Each direction between two nodes is a session of its own. A session is named by the boot of its sender and a
//! counter, so of two sessions the later is the greater one; it is bound to one boot of the receiver. Boots are numbers
//! that grow whenever a node starts: the caller keeps them.
//!
//! A session breaks when its receiver has rebooted, or when nothing was acknowledged for too long. Every message has
//! exactly one outcome, under the [`Transfer`] that `send` returned: [`Effect::Delivered`]; [`Effect::Undelivered`],
//! which means that it never was and never will be; or [`Effect::Doubt`], which means that no node can tell. Whatever
//! the outcomes, the messages that are delivered are delivered in the order in which they were sent, each once.
//!
//! A message that must not be lost (`keep`) has no outcome but delivery. It is sent again in the sessions that follow,
//! before everything else and under the same transfer. Kept messages are delivered in the order of their transfers, so
//! the receiver knows a repeated one from a new one by the last it has delivered: one number for each sender. For a
//! kept message to survive the reboot of either end, that end must restore its [`Durable`] state.

mod incoming;
mod outgoing;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use driftlock_protocol::NodeId;
use serde::{Deserialize, Serialize};

use crate::dice::Dice;
use crate::{Boot, Span, Time, Transfer, seconds};
use incoming::Incoming;
use outgoing::Outgoing;

/// The constants of sessions. Spans are in seconds in a file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Settings {
    /// How many messages may be on their way to one node without acknowledgement: at least one.
    pub window: usize,
    /// How many may wait for one node. What may be given up and meets a full queue is.
    pub queue_max: usize,
    /// How many nodes there may be sessions with. For another one, one is forgotten that never said anything and was
    /// told nothing for long.
    pub peers_max: usize,
    /// How long that is: longer than anything is under way.
    #[serde(with = "seconds")]
    pub forget: Span,
    /// How long to wait for the first acknowledgement; each further time twice as long.
    #[serde(with = "seconds")]
    pub retry: Span,
    /// But never longer than this.
    #[serde(with = "seconds")]
    pub retry_max: Span,
    /// A session breaks that has had no acknowledgement for so long, if any message may be given up.
    #[serde(with = "seconds")]
    pub give_up: Span,
}

impl Default for Settings {
    fn default() -> Self {
        let retry = Span::from_millis(500);
        Self {
            window: 16,
            queue_max: 1_024,
            peers_max: 4_096,
            forget: Span::from_millis(600_000),
            retry,
            retry_max: retry * 16,
            give_up: retry * 60,
        }
    }
}

/// One life of the messages from one node to another.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Session {
    /// Of the sender.
    pub boot: Boot,
    /// How many sessions there were before, in this boot.
    pub counter: u32,
}

/// What two ends say to one another.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Segment<M> {
    /// I begin a session.
    Open {
        /// Which.
        session: Session,
    },
    /// I know of your session; or: I am no longer the one that you are speaking to.
    Accept {
        /// Which.
        session: Session,
        /// Of the receiver, who says this.
        boot: Boot,
    },
    /// A message.
    Data {
        /// In which session.
        session: Session,
        /// Of the receiver; in another life it must not take it.
        boot: Boot,
        /// From zero in each session.
        seq: u64,
        /// If it must not be lost, the name that it keeps from session to session.
        kept: Option<Transfer>,
        /// The message.
        message: M,
    },
    /// Everything below `next` has been delivered.
    Ack {
        /// In which session.
        session: Session,
        /// Of the receiver, who says this.
        boot: Boot,
        /// What is expected next.
        next: u64,
    },
}

impl<M> Segment<M> {
    /// How many bytes it takes, given the length of a message.
    #[allow(clippy::len_without_is_empty)] // no segment is empty
    pub fn len(&self, message: impl Fn(&M) -> usize) -> usize {
        match self {
            Self::Open { .. } => 9,
            Self::Accept { .. } => 13,
            Self::Data { kept, message: content, .. } => 22 + if kept.is_some() { 12 } else { 0 } + message(content),
            Self::Ack { .. } => 21,
        }
    }

    /// In which life its sender has said this.
    fn boot_of_sender(&self) -> Boot {
        match self {
            Self::Open { session } | Self::Data { session, .. } => session.boot,
            Self::Accept { boot, .. } | Self::Ack { boot, .. } => *boot,
        }
    }
}

/// What the session layer wants done, in this order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Effect<M> {
    /// Send a datagram.
    Transmit {
        /// To whom.
        to: NodeId,
        /// What.
        segment: Segment<M>,
    },
    /// A message has arrived.
    Deliver {
        /// From whom.
        from: NodeId,
        /// The message.
        message: M,
    },
    /// A message has been delivered at the other end.
    Delivered {
        /// To whom.
        to: NodeId,
        /// Which.
        transfer: Transfer,
    },
    /// A message was not delivered and never will be.
    Undelivered {
        /// To whom.
        to: NodeId,
        /// Which.
        transfer: Transfer,
        /// The message.
        message: M,
    },
    /// No node knows whether a message has been delivered.
    Doubt {
        /// To whom.
        to: NodeId,
        /// Which.
        transfer: Transfer,
        /// The message.
        message: M,
    },
    /// Something was not acknowledged in time and is sent again.
    Silent {
        /// By whom.
        peer: NodeId,
    },
}

/// What must survive a reboot, so that a kept message is neither lost nor delivered twice. To be stored before the
/// effects of a step are carried out.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Durable<M> {
    /// Kept messages that are not known to be delivered, by receiver and in order.
    pub open: Vec<(NodeId, Transfer, M)>,
    /// The last kept message that was delivered here, by sender.
    pub delivered: Vec<(NodeId, Transfer)>,
}

/// All sessions of one node.
#[derive(Clone, Debug)]
pub struct Sessions<M> {
    me: NodeId,
    boot: Boot,
    settings: Settings,
    peers: BTreeMap<NodeId, Peer<M>>,
    /// When something is due at which peer.
    alarms: BTreeSet<(Time, NodeId)>,
    sent: u64,
    /// Every session with a node that was forgotten had a smaller counter.
    floor: u32,
    dice: Dice,
}

#[derive(Clone, Debug)]
struct Peer<M> {
    /// The latest that is known of.
    boot: Option<Boot>,
    outgoing: Outgoing<M>,
    incoming: Incoming<M>,
    alarm: Option<Time>,
    /// When it was last spoken to, or heard.
    used_at: Time,
}

impl<M: Clone> Peer<M> {
    /// Whether nothing would go wrong without what is known of it: one that has ever said anything counts on being
    /// known.
    fn is_forgettable(&self, now: Time, forget: Span) -> bool {
        self.outgoing.is_idle() && self.incoming.is_blank() && self.used_at + forget <= now
    }
}

impl<M: Clone> Sessions<M> {
    /// The sessions of a node that starts, in a boot that is greater than all before.
    pub fn new(me: NodeId, boot: Boot, settings: Settings) -> Self {
        let dice = Dice::new(u64::from(me.0) << 32 | u64::from(boot.0));
        Self { me, boot, settings, peers: BTreeMap::new(), alarms: BTreeSet::new(), sent: 0, floor: 0, dice }
    }

    /// The same with what has survived the reboot: kept messages are sent once more.
    pub fn restored(me: NodeId, boot: Boot, settings: Settings, durable: Durable<M>, now: Time) -> Self {
        let mut sessions = Self::new(me, boot, settings);
        for (from, transfer) in durable.delivered {
            sessions.peer(now, from).incoming.last_kept = Some(transfer);
        }
        for (to, transfer, message) in durable.open {
            sessions.peer(now, to).outgoing.push(now, transfer, true, message);
            sessions.set_alarm(to);
        }
        sessions
    }

    /// What must survive a reboot.
    pub fn durable(&self) -> Durable<M> {
        let open = |(&to, peer): (&NodeId, &Peer<M>)| {
            peer.outgoing.kept().map(move |(id, message)| (to, id, message)).collect()
        };
        let open: Vec<Vec<_>> = self.peers.iter().map(open).collect();
        let delivered = self.peers.iter().filter_map(|(&from, peer)| peer.incoming.last_kept.map(|last| (from, last)));
        Durable { open: open.into_iter().flatten().collect(), delivered: delivered.collect() }
    }

    /// Sends a message. With `keep` it is tried until it is delivered, however long that takes.
    pub fn send(&mut self, now: Time, to: NodeId, message: M, keep: bool, out: &mut Vec<Effect<M>>) -> Transfer {
        let transfer = Transfer { boot: self.boot, number: self.sent };
        self.sent += 1;
        if to == self.me {
            out.push(Effect::Deliver { from: to, message });
            out.push(Effect::Delivered { to, transfer });
            return transfer;
        }
        if !keep && !self.takes_more_for(now, to) {
            out.push(Effect::Undelivered { to, transfer, message });
            return transfer;
        }
        self.with_peer(now, to, |peer, context| {
            peer.outgoing.push(now, transfer, keep, message);
            peer.outgoing.advance(now, context, out);
        });
        transfer
    }

    /// Sends a message to each of the members but this node itself: one session message each, each with an outcome of
    /// its own.
    pub fn multicast(
        &mut self,
        now: Time,
        members: impl IntoIterator<Item = NodeId>,
        message: &M,
        keep: bool,
        out: &mut Vec<Effect<M>>,
    ) -> Vec<(NodeId, Transfer)> {
        let me = self.me;
        let others = members.into_iter().filter(|&member| member != me);
        others.map(|member| (member, self.send(now, member, message.clone(), keep, out))).collect()
    }

    /// A node for which as many messages wait as there may, and how many.
    pub fn full(&self) -> Option<(NodeId, usize)> {
        let waiting = self.peers.iter().map(|(&id, peer)| (id, peer.outgoing.waiting()));
        waiting.into_iter().find(|(_, waiting)| *waiting >= self.settings.queue_max)
    }

    fn takes_more_for(&mut self, now: Time, id: NodeId) -> bool {
        match self.peers.get(&id) {
            Some(peer) => peer.outgoing.waiting() < self.settings.queue_max,
            None => self.has_room_for(now, id),
        }
    }

    /// Whether there is a session with this node, or may be another one.
    fn has_room_for(&mut self, now: Time, id: NodeId) -> bool {
        if self.peers.len() >= self.settings.peers_max && !self.peers.contains_key(&id) {
            let idle = self.peers.iter().filter(|(_, peer)| peer.is_forgettable(now, self.settings.forget));
            let idle = idle.min_by_key(|(_, peer)| peer.used_at).map(|(&id, _)| id);
            let forgotten = idle.and_then(|idle| self.peers.remove(&idle));
            if let Some(Peer { outgoing, .. }) = &forgotten {
                self.floor = self.floor.max(outgoing.session().counter.saturating_add(1));
            }
            return forgotten.is_some();
        }
        true
    }

    /// A datagram has arrived.
    pub fn received(&mut self, now: Time, from: NodeId, segment: Segment<M>, out: &mut Vec<Effect<M>>) {
        if !self.has_room_for(now, from) {
            return;
        }
        self.with_peer(now, from, |peer, context| {
            let boot = segment.boot_of_sender();
            if peer.boot.is_some_and(|known| boot < known) {
                return; // of a former life
            }
            if peer.boot.replace(boot).is_some_and(|known| known < boot) {
                peer.outgoing.receiver_rebooted(now, context, out);
            }
            match segment {
                Segment::Open { session } => peer.incoming.open(session, context, out),
                Segment::Data { session, boot, seq, kept, message } if boot == context.boot => {
                    peer.incoming.take(session, seq, kept, message, context, out);
                }
                Segment::Data { session, .. } => incoming::identify(session, context, out),
                Segment::Accept { session, boot } => peer.outgoing.accepted(now, session, boot, context, out),
                Segment::Ack { session, boot, next } => {
                    peer.outgoing.acknowledged(now, session, boot, next, context, out);
                }
            }
        });
    }

    /// A hint of the layer below: it could not reach a node. What waits for an acknowledgement is sent once more at
    /// once, but only once until there is one: who cannot be reached is not called the more often.
    pub fn unreachable(&mut self, now: Time, to: NodeId, out: &mut Vec<Effect<M>>) {
        if self.peers.contains_key(&to) {
            self.with_peer(now, to, |peer, context| peer.outgoing.unreachable(now, context, out));
        }
    }

    /// When [`woken`](Self::woken) has something to do. An earlier call does no harm.
    pub fn wakes(&self) -> Option<Time> {
        self.alarms.first().map(|alarm| alarm.0)
    }

    /// Does what is due.
    pub fn woken(&mut self, now: Time, out: &mut Vec<Effect<M>>) {
        while let Some(&(_, to)) = self.alarms.first().filter(|alarm| alarm.0 <= now) {
            self.with_peer(now, to, |peer, context| peer.outgoing.woken(now, context, out));
        }
    }

    /// What is known of a node. One that was forgotten is spoken to in a later session than before.
    fn peer(&mut self, now: Time, id: NodeId) -> &mut Peer<M> {
        let first = Session { boot: self.boot, counter: self.floor };
        let fresh = || Peer {
            boot: None,
            outgoing: Outgoing::new(first),
            incoming: Incoming::new(),
            alarm: None,
            used_at: now,
        };
        self.peers.entry(id).or_insert_with(fresh)
    }

    fn with_peer(&mut self, now: Time, id: NodeId, act: impl FnOnce(&mut Peer<M>, &mut Context<'_>)) {
        self.peer(now, id).used_at = now;
        let mut context = Context { peer: id, boot: self.boot, settings: &self.settings, dice: &mut self.dice };
        if let Some(peer) = self.peers.get_mut(&id) {
            act(peer, &mut context);
        }
        self.set_alarm(id);
    }

    fn set_alarm(&mut self, id: NodeId) {
        let Some(peer) = self.peers.get_mut(&id) else { return };
        let alarm = peer.outgoing.alarm(&self.settings);
        if alarm != peer.alarm {
            if let Some(former) = peer.alarm {
                self.alarms.remove(&(former, id));
            }
            self.alarms.extend(alarm.map(|alarm| (alarm, id)));
            peer.alarm = alarm;
        }
    }
}

/// What both ends of a session need to know.
struct Context<'a> {
    peer: NodeId,
    /// Of this node.
    boot: Boot,
    settings: &'a Settings,
    dice: &'a mut Dice,
}

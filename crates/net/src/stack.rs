//! The layers of one node, put together: what an algorithm stands on, over a radio.
//!
//! ```text
//! algorithm      klme                    krl, krlf, hok
//!                sessions                links, custody
//!                    \                    |      \ what is in doubt is offered over any path
//!                     +------ AODV -------|-------+
//!                               \         |
//!                                \------ hellos: who has fallen silent
//! radio          broadcast and unicast frames
//! ```
//!
//! Whatever world runs it, it is the same code: frames come in, frames go out, and the world says what time it is.

use std::mem;

use driftlock_protocol::{Incarnation, NodeId};
use serde::{Deserialize, Serialize};

use crate::link::{Boot, Frame, Link};
use crate::session::{Segment, Sessions};
use crate::wire::{Datagram, WireError};
use crate::{Time, aodv, link, session, wire};

/// The constants of all layers.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Settings {
    /// Hellos, links and custody.
    pub link: link::Settings,
    /// Routes.
    pub aodv: aodv::Settings,
    /// Messages over routes.
    pub session: session::Settings,
}

/// A message between members of a neighbourhood.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Letter<M> {
    /// The life of the receiver that it is for.
    pub life: Incarnation,
    /// The content.
    pub message: M,
}

/// What is routed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Cargo<M> {
    /// An offer of messages in doubt, or a verdict on it.
    Custody(Frame<M>),
    /// Of a session.
    Segment(Segment<Letter<M>>),
}

/// What goes over the radio.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Packet<M> {
    /// Between link layers.
    Link(Frame<M>),
    /// Between routers.
    Routed(aodv::Packet<(), Cargo<M>>),
}

impl<M: Serialize> Packet<M> {
    /// How many bytes it takes as the payload of a datagram.
    #[allow(clippy::len_without_is_empty)] // none is empty
    pub fn len(&self) -> usize {
        match self {
            Self::Link(frame) => wire::encoded_len(frame),
            Self::Routed(packet) => {
                let header = if matches!(packet, aodv::Packet::Data(_)) { wire::aodv::IP_HEADER } else { 0 };
                packet.len(wire::aodv::advert_len, Cargo::len) - header
            }
        }
    }

    /// The same as it would be sent by a node of a network of computers.
    pub fn datagram(&self, from: NodeId, to: Option<NodeId>) -> Result<Datagram, WireError> {
        match self {
            Self::Link(frame) => Datagram::to_neighbour(from, to, frame),
            Self::Routed(packet) => wire::aodv::datagram(from, to, packet, Cargo::encode),
        }
    }
}

impl<M: Serialize> Cargo<M> {
    fn len(&self) -> usize {
        match self {
            Self::Custody(frame) => wire::encoded_len(frame),
            Self::Segment(segment) => wire::encoded_len(segment),
        }
    }

    fn encode(&self) -> Vec<u8> {
        match self {
            Self::Custody(frame) => wire::encode(frame),
            Self::Segment(segment) => wire::encode(segment),
        }
    }
}

/// What the layers want done, and what they tell the algorithm. In this order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Effect<M> {
    /// Over the radio.
    Transmit {
        /// To this neighbour, or to everybody in reach.
        to: Option<NodeId>,
        /// What.
        packet: Packet<M>,
        /// How long to put it off, so that neighbours do not all speak at once.
        delay: Time,
    },
    /// A link has formed.
    Up {
        /// The other end.
        peer: NodeId,
        /// Of the link.
        incarnation: Incarnation,
    },
    /// A link is gone.
    Down {
        /// The other end.
        peer: NodeId,
        /// Of the link.
        incarnation: Incarnation,
    },
    /// A message has arrived.
    Deliver {
        /// The sender.
        from: NodeId,
        /// Of the link it came over, or of the life that it is for.
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
    /// Nobody knows whether this message of this node arrived, and nobody has to.
    Dropped {
        /// The receiver.
        to: NodeId,
        /// The content.
        message: M,
    },
}

/// What the algorithm speaks to.
#[derive(Clone, Debug)]
enum Top<M> {
    Links,
    Sessions {
        sessions: Sessions<Letter<M>>,
        /// Whether messages must not be lost.
        keep: bool,
    },
}

/// All layers of one node below the algorithm.
#[derive(Clone, Debug)]
pub struct Stack<M> {
    top: Top<M>,
    /// Hellos, which every node says, and links if the algorithm stands on them.
    link: Box<Link<M>>,
    router: aodv::Router<(), Cargo<M>>,
    /// What layers want of one another, until it is done.
    of_link: Vec<link::Effect<M>>,
    of_sessions: Vec<session::Effect<Letter<M>>>,
    of_router: Vec<aodv::Effect<(), Cargo<M>>>,
}

impl<M: Clone> Stack<M> {
    /// For an algorithm that stands on links. `carries_permits` tells which messages must be neither lost nor doubled.
    pub fn linked(now: Time, me: NodeId, boot: Boot, settings: &Settings, carries_permits: fn(&M) -> bool) -> Self {
        let link = Link::new(now, me, boot, settings.link, carries_permits);
        Self::over(Top::Links, link, router(now, me, boot, settings, None))
    }

    /// For an algorithm whose nodes reach one another over any path. Whether all its messages must arrive is said by
    /// `keep`.
    pub fn routed(now: Time, me: NodeId, boot: Boot, settings: &Settings, keep: bool) -> Self {
        let link = Link::new(now, me, boot, settings.link, |_| false).without_links();
        let sessions = Sessions::new(me, boot.0, settings.session.clone());
        Self::over(Top::Sessions { sessions, keep }, link, router(now, me, boot, settings, None))
    }

    /// The same node after a restart, in the life `boot`. It has what its layers had stored, and nothing else: no
    /// link is up, which is for the world to tell the algorithm, and routes have to be found again.
    #[must_use]
    pub fn restarted(&self, now: Time, me: NodeId, boot: Boot, settings: &Settings) -> Self {
        let top = match &self.top {
            Top::Links => Top::Links,
            Top::Sessions { sessions, keep } => {
                Top::Sessions { sessions: sessions.restarted(boot.0, now), keep: *keep }
            }
        };
        let router = router(now, me, boot, settings, Some(self.router.durable()));
        Self::over(top, self.link.restarted(now, boot), router)
    }

    /// Whether a message of this node that is under way outlives a restart.
    pub fn stores(&self, message: &M) -> bool {
        match &self.top {
            Top::Links => self.link.stores(message),
            Top::Sessions { keep, .. } => *keep,
        }
    }

    fn over(top: Top<M>, link: Link<M>, router: aodv::Router<(), Cargo<M>>) -> Self {
        Self { top, link: Box::new(link), router, of_link: Vec::new(), of_sessions: Vec::new(), of_router: Vec::new() }
    }

    /// The messages that nobody can use until it is known whether they arrived, and to whom they went.
    pub fn in_doubt(&self) -> impl Iterator<Item = (NodeId, &M)> {
        self.link.in_doubt()
    }

    /// Whom this node reaches by which neighbour now.
    pub fn routes(&self, now: Time) -> impl Iterator<Item = (NodeId, NodeId)> {
        self.router.routes(now).map(|route| (route.destination, route.next_hop))
    }

    /// Sends a message over the links to all of these, or to these lives of them.
    pub fn send(&mut self, now: Time, to: &[(NodeId, Incarnation)], message: &M, out: &mut Vec<Effect<M>>) {
        match &mut self.top {
            Top::Links => {
                let to: Vec<_> = to.iter().map(|&(to, _)| to).collect();
                self.link.send_to_all(now, &to, message, &mut self.of_link);
            }
            Top::Sessions { sessions, keep } => {
                for &(to, life) in to {
                    let letter = Letter { life, message: message.clone() };
                    sessions.send(now, to, letter, *keep, &mut self.of_sessions);
                }
            }
        }
        self.settle(now, out);
    }

    /// A packet of a neighbour was heard.
    pub fn received(&mut self, now: Time, from: NodeId, packet: &Packet<M>, out: &mut Vec<Effect<M>>) {
        match packet {
            Packet::Link(frame) => self.link.overheard(now, from, frame, &mut self.of_link),
            Packet::Routed(packet) => {
                self.link.heard(now, from, &mut self.of_link);
                self.router.received(now, from, packet.clone(), &mut self.of_router);
            }
        }
        self.settle(now, out);
    }

    /// The radio believes that this did not reach `to`.
    pub fn unsent(&mut self, now: Time, to: NodeId, packet: &Packet<M>, out: &mut Vec<Effect<M>>) {
        match packet {
            Packet::Link(_) => self.link.unsent(now),
            Packet::Routed(packet) => self.router.unsent(now, to, packet.clone(), &mut self.of_router),
        }
        self.settle(now, out);
    }

    /// When [`Self::woken`] is to be called.
    pub fn wakes(&self) -> Option<Time> {
        let top = match &self.top {
            Top::Links => None,
            Top::Sessions { sessions, .. } => sessions.wakes(),
        };
        top.into_iter().chain(self.link.wakes()).chain(self.router.wakes()).min()
    }

    /// Does what is due.
    pub fn woken(&mut self, now: Time, out: &mut Vec<Effect<M>>) {
        self.link.woken(now, &mut self.of_link);
        if let Top::Sessions { sessions, .. } = &mut self.top {
            sessions.woken(now, &mut self.of_sessions);
        }
        self.router.woken(now, &mut self.of_router);
        self.settle(now, out);
    }

    /// Carries out what the layers want of one another.
    fn settle(&mut self, now: Time, out: &mut Vec<Effect<M>>) {
        while !(self.of_link.is_empty() && self.of_sessions.is_empty() && self.of_router.is_empty()) {
            let mut effects = mem::take(&mut self.of_link);
            effects.drain(..).for_each(|effect| self.for_link(now, effect, out));
            restore(&mut self.of_link, effects);
            let mut effects = mem::take(&mut self.of_sessions);
            effects.drain(..).for_each(|effect| self.for_sessions(now, effect, out));
            restore(&mut self.of_sessions, effects);
            let mut effects = mem::take(&mut self.of_router);
            effects.drain(..).for_each(|effect| self.for_router(now, effect, out));
            restore(&mut self.of_router, effects);
        }
    }

    fn for_link(&mut self, now: Time, effect: link::Effect<M>, out: &mut Vec<Effect<M>>) {
        match effect {
            link::Effect::Transmit { to, frame, delay } => {
                out.push(Effect::Transmit { to, packet: Packet::Link(frame), delay });
            }
            link::Effect::Route { to, frame } => {
                self.router.send(now, to, Cargo::Custody(frame), &mut self.of_router);
            }
            link::Effect::Heard { peer, boot } => _ = self.router.lives(now, peer, boot.0, &mut self.of_router),
            link::Effect::Silent { peer } => self.router.link_lost(now, peer, &mut self.of_router),
            link::Effect::Up { peer, incarnation } => out.push(Effect::Up { peer, incarnation }),
            link::Effect::Down { peer, incarnation } => out.push(Effect::Down { peer, incarnation }),
            link::Effect::Deliver { from, incarnation, message } => {
                out.push(Effect::Deliver { from, incarnation, message });
            }
            link::Effect::Undelivered { to, message } => out.push(Effect::Undelivered { to, message }),
            link::Effect::Dropped { to, message } | link::Effect::Lost { to, message } => {
                out.push(Effect::Dropped { to, message });
            }
            link::Effect::Doubt { .. } | link::Effect::Settled { .. } => {}
        }
    }

    fn for_sessions(&mut self, now: Time, effect: session::Effect<Letter<M>>, out: &mut Vec<Effect<M>>) {
        match effect {
            session::Effect::Transmit { to, segment } => {
                self.router.send(now, to, Cargo::Segment(segment), &mut self.of_router);
            }
            session::Effect::Deliver { from, message: Letter { life, message } } => {
                out.push(Effect::Deliver { from, incarnation: life, message });
            }
            session::Effect::Undelivered { to, message, .. } | session::Effect::Doubt { to, message, .. } => {
                out.push(Effect::Dropped { to, message: message.message });
            }
            session::Effect::Delivered { .. } | session::Effect::Silent { .. } => {}
        }
    }

    fn for_router(&mut self, now: Time, effect: aodv::Effect<(), Cargo<M>>, out: &mut Vec<Effect<M>>) {
        match (effect, &mut self.top) {
            (aodv::Effect::Transmit { to, packet, delay }, _) => {
                out.push(Effect::Transmit { to, packet: Packet::Routed(packet), delay });
            }
            (aodv::Effect::Deliver { from, data: Cargo::Custody(frame) }, Top::Links) => {
                self.link.received(now, from, frame, &mut self.of_link);
            }
            (aodv::Effect::Deliver { from, data: Cargo::Segment(segment) }, Top::Sessions { sessions, .. }) => {
                sessions.received(now, from, segment, &mut self.of_sessions);
            }
            (aodv::Effect::Undelivered { to, data: Cargo::Segment(_) }, Top::Sessions { sessions, .. }) => {
                sessions.unreachable(now, to, &mut self.of_sessions);
            }
            // An offer that does not arrive is made again, and nobody sends what this node does not speak.
            _ => {}
        }
    }
}

/// The router of a node in this life, with what it had stored in the one before, if it had.
fn router<M: Clone>(
    now: Time,
    me: NodeId,
    boot: Boot,
    settings: &Settings,
    stored: Option<aodv::Durable>,
) -> aodv::Router<(), Cargo<M>> {
    match (boot.0, stored) {
        (boot, Some(stored)) => aodv::Router::restored(me, settings.aodv.clone(), boot, stored, now),
        (0, None) => aodv::Router::new(me, settings.aodv.clone()),
        (boot, None) => aodv::Router::rebooted(me, settings.aodv.clone(), boot, now),
    }
}

/// Puts an empty buffer back where nothing has come meanwhile, so that it need not be made again.
fn restore<T>(place: &mut Vec<T>, buffer: Vec<T>) {
    if place.is_empty() {
        *place = buffer;
    }
}

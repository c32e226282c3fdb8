//! All layers of one node, for all resources that it takes part in.
//!
//! ```text
//! residents      krl, hok             klme, klme-ft         one for each resource
//!                  | links, custody     | sessions   | floods
//!                  |        \ in doubt  |            |
//!                  |         +------- AODV           |
//!                  |                    \- hellos tell who has fallen silent
//! radio          broadcast and unicast frames, one hello for all
//! ```
//!
//! A *resident* is the node of one resource. What residents send are [parcels](Parcel), and each says its [way](Way);
//! what the layers tell is for one resident, and is an input of its node once it is [opened](Told::open). Whatever
//! world runs a stack, it is the same code: frames come in, frames go out, and the world says what time it is.

use std::collections::BTreeMap;
use std::mem;

use driftlock_protocol::ideal::Start;
use driftlock_protocol::{Incarnation, LinkEvent, NodeId};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::advert::Board;
use crate::custody;
use crate::flood::Flood;
use crate::link::{Frame, Link};
use crate::parcel::{Parcel, Resource};
use crate::session::Sessions;
use crate::suspicion::{Evidence, Standing, Suspicions};
use crate::{Boot, Span, Time, advert, aodv, flood, link, session, suspicion, wire};

mod batch;
mod limits;
mod packet;
mod pieces;
mod told;

pub use limits::{Limits, Resident, Unfit};
pub use packet::{Cargo, Letter, Packet};
pub use pieces::Piece;
use pieces::Pieces;

use batch::{Runs, Segments};
pub use told::Told;

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
    /// Messages to all nodes.
    pub flood: flood::Settings,
    /// Who may have crashed.
    pub suspicion: suspicion::Settings,
    /// What nodes say of themselves.
    pub adverts: advert::Settings,
    /// How long frames and messages are.
    pub limits: Limits,
}

impl Settings {
    /// Refuses what nothing could come of, in a sentence.
    pub fn check(&self) -> Result<(), &'static str> {
        self.link.check()?;
        self.adverts.check()?;
        self.limits.check()
    }
}

/// What the node of a resource stands on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Footing {
    /// Links: it is told which there are.
    Links,
    /// Nothing but that others can be reached over some path.
    Paths,
}

impl Footing {
    /// What the nodes of an algorithm stand on that starts from this.
    pub fn of(start: Start) -> Self {
        match start {
            Start::Links => Self::Links,
            Start::Members | Start::Nodes => Self::Paths,
        }
    }
}

/// Which way a message goes.
#[derive(Clone, Copy, Debug)]
pub enum Way<'a> {
    /// Over the links with these, in the order of sending.
    Links(&'a [(NodeId, Incarnation)]),
    /// Over sessions, to these lives of others, wherever they are. A message that is not to be kept is given up after a
    /// while.
    Paths(&'a [(NodeId, Incarnation)]),
    /// To all nodes within some hops. It may be lost.
    Around {
        /// How many.
        hops: u8,
    },
}

/// Why a message cannot be sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum Refused {
    /// This node does not take part in it.
    #[error("this node takes no part in resource {}: it has to be set up first", .0.0)]
    NoResident(Resource),
    /// It is longer than this resource has said, or than one frame if it is for all, or than its part of a hello.
    #[error("the message takes {length} bytes, and at most {most} are sent")]
    TooLong {
        /// How many bytes it takes.
        length: usize,
        /// How many it may take.
        most: usize,
    },
}

/// A node that has no room for what its applications want done: more waits for others than it should.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("{waiting} messages wait for node {to}: ask again when it has answered")]
pub struct Full {
    /// Whom they wait for.
    pub to: NodeId,
    /// How many.
    pub waiting: usize,
}

/// What must survive a restart, so that no message that is to be kept is lost or doubled.
///
/// It is to be stored whenever a call of the stack has changed it, before the effects of that call are carried out, and
/// together with what the nodes of the resources store: a token must be in one of the two and never in both.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Durable {
    /// The life that it was stored in.
    pub boot: Boot,
    /// What links have in custody.
    pub links: custody::Durable<Parcel>,
    /// What sessions keep.
    pub sessions: session::Durable<Letter>,
    /// What the router has to remember of its own number.
    pub router: aodv::Durable,
}

/// What the layers want done, in this order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Over the radio.
    Transmit {
        /// To this neighbour, or to all nodes in reach.
        to: Option<NodeId>,
        /// What.
        packet: Packet,
        /// How long to put it off, so that neighbours do not all speak at once.
        delay: Span,
    },
    /// The node of a resource hears something.
    Tell {
        /// Which.
        resource: Resource,
        /// What.
        told: Told,
    },
}

/// All layers of one node.
#[derive(Clone, Debug)]
pub struct Stack {
    boot: Boot,
    limits: Limits,
    residents: BTreeMap<Resource, Resident>,
    links: Box<Link<Parcel>>,
    /// Which residents know of the link to a neighbour: those whose resource has a node at the other end as well.
    linked: BTreeMap<NodeId, Vec<Resource>>,
    router: aodv::Router<(), Cargo>,
    sessions: Sessions<Letter>,
    flood: Flood,
    suspicions: Suspicions,
    board: Board,
    pieces: Pieces,
    runs: Runs,
    segments: Segments,
    /// What layers want of one another, until it is done.
    of_links: Vec<link::Effect<Parcel>>,
    of_sessions: Vec<session::Effect<Letter>>,
    of_router: Vec<aodv::Effect<(), Cargo>>,
    of_flood: Vec<flood::Effect<Parcel>>,
    of_board: Vec<advert::Effect>,
}

impl Stack {
    /// The layers of a node that starts for the first time, in the life `boot`, and remembers nothing.
    pub fn new(now: Time, me: NodeId, boot: Boot, settings: &Settings) -> Self {
        let links = Link::new(now, me, boot, settings.link, is_kept);
        let sessions = Sessions::new(me, boot, settings.session.clone());
        let router = match boot.0 {
            0 => aodv::Router::new(me, settings.aodv.clone()),
            boot => aodv::Router::rebooted(me, settings.aodv.clone(), boot, now),
        };
        Self::over(links, sessions, router, now, (me, boot), settings)
    }

    /// The same node in its next life, after it had stored this. Who resides there is to be said anew; no link is up,
    /// and routes have to be found again. A message that must not be lost is not taken before its resident is there.
    pub fn restored(now: Time, me: NodeId, durable: Durable, settings: &Settings) -> Self {
        let boot = Boot(durable.boot.0 + 1);
        let links = Link::restore(now, me, boot, settings.link, is_kept, durable.links);
        let sessions = Sessions::restored(me, boot, settings.session.clone(), durable.sessions, now);
        let router = aodv::Router::restored(me, settings.aodv.clone(), boot.0, durable.router, now);
        Self::over(links, sessions, router, now, (me, boot), settings)
    }

    /// What must survive a restart.
    pub fn durable(&self) -> Durable {
        let (links, sessions, router) = (self.links.durable(), self.sessions.durable(), self.router.durable());
        Durable { boot: self.boot, links, sessions, router }
    }

    fn over(
        mut links: Link<Parcel>,
        sessions: Sessions<Letter>,
        router: aodv::Router<(), Cargo>,
        now: Time,
        (me, boot): (NodeId, Boot),
        settings: &Settings,
    ) -> Self {
        links.serve(now, Vec::new(), &mut Vec::new());
        Self {
            boot,
            limits: settings.limits,
            residents: BTreeMap::new(),
            links: Box::new(links),
            linked: BTreeMap::new(),
            router,
            sessions,
            flood: Flood::new(me, boot, settings.flood.clone()),
            suspicions: Suspicions::new(settings.suspicion.clone()),
            board: Board::new(me, boot, settings.adverts.clone()),
            pieces: Pieces::new(boot),
            runs: Runs::default(),
            segments: Segments::default(),
            of_links: Vec::new(),
            of_sessions: Vec::new(),
            of_router: Vec::new(),
            of_flood: Vec::new(),
            of_board: Vec::new(),
        }
    }

    /// From now on this node takes part in a resource. Links form with who stands on them for the same one; those that
    /// are up form anew.
    pub fn host(&mut self, now: Time, resource: Resource, resident: Resident) -> Result<(), Unfit> {
        self.limits.admit(resource, &resident)?;
        self.residents.insert(resource, resident);
        self.announce_residents(now);
        Ok(())
    }

    fn announce_residents(&mut self, now: Time) {
        let on_links = self.residents.iter().filter(|(_, resident)| resident.footing == Footing::Links);
        let on_links = on_links.map(|(&resource, _)| resource).collect();
        self.links.serve(now, on_links, &mut self.of_links);
    }

    /// From now on this node says, on its hellos, that it takes part in a resource in this life, and what else its
    /// node wants others to know. A later word replaces it. None: it takes no part any more.
    pub fn advertise(
        &mut self,
        now: Time,
        resource: Resource,
        life: Option<Incarnation>,
        content: Vec<u8>,
    ) -> Result<(), Refused> {
        let (length, most) = (content.len(), self.board.content_max());
        if length > most {
            return Err(Refused::TooLong { length, most });
        }
        self.board.say(now, resource, life, content);
        Ok(())
    }

    /// Who else takes part in a resource, as far as this node has heard.
    pub fn members(&self, resource: Resource) -> impl Iterator<Item = (NodeId, Incarnation)> {
        self.board.members(resource)
    }

    /// The life in which another node takes part in a resource, as far as this one has heard.
    pub fn life(&self, resource: Resource, node: NodeId) -> Option<Incarnation> {
        self.board.life(resource, node)
    }

    /// How long ago another node was heard with what it says about a resource.
    pub fn age(&self, now: Time, resource: Resource, node: NodeId) -> Option<Span> {
        self.board.age(now, resource, node)
    }

    /// It is certain that a node takes part in a resource, in this life.
    pub fn introduce(&mut self, now: Time, resource: Resource, node: NodeId, life: Incarnation) {
        self.board.introduce(now, resource, node, life, &mut self.of_board);
    }

    /// Whether an application may ask this node for something: not while so much waits for some other node that its
    /// queue is full. Nothing that was begun before is hindered by that.
    pub fn admits(&self) -> Result<(), Full> {
        self.links.full().or_else(|| self.sessions.full()).map_or(Ok(()), |(to, waiting)| Err(Full { to, waiting }))
    }

    /// The messages that no node can use until it is known whether they arrived, and to whom they went.
    pub fn in_doubt(&self) -> impl Iterator<Item = (NodeId, &Parcel)> {
        self.links.in_doubt()
    }

    /// Whom this node reaches by which neighbour now.
    pub fn routes(&self, now: Time) -> impl Iterator<Item = (NodeId, NodeId)> {
        self.router.routes(now).map(|route| (route.destination, route.next_hop))
    }

    /// Whether a node seems to be gone.
    pub fn standing(&self, node: NodeId) -> Standing {
        self.suspicions.standing(node)
    }

    /// Sends a message. It goes out with [`Self::drain`] at the latest. One that need not be kept and meets a full
    /// queue is undelivered, and a link with such a queue is given up.
    pub fn send(&mut self, now: Time, way: Way<'_>, parcel: Parcel) -> Result<(), Refused> {
        let resident = self.residents.get(&parcel.resource).ok_or(Refused::NoResident(parcel.resource))?;
        let most = if let Way::Around { .. } = way { self.limits.part_max() } else { resident.longest() };
        if parcel.len() > most {
            return Err(Refused::TooLong { length: parcel.len(), most });
        }
        match way {
            Way::Links(to) => {
                let to = to.iter().map(|(to, _)| *to);
                self.links.send_to_all(now, to, &parcel, &mut self.of_links);
            }
            Way::Paths(to) => {
                let from = self.board.own(parcel.resource).and_then(|advert| advert.life);
                for &(to, life) in to {
                    let letter = Letter { life, from, parcel: parcel.clone() };
                    self.sessions.send(now, to, letter, parcel.keep, &mut self.of_sessions);
                }
            }
            Way::Around { hops } => self.flood.send(parcel, hops, &mut self.of_flood),
        }
        Ok(())
    }

    /// Does what all that was sent since the last time makes necessary.
    pub fn drain(&mut self, now: Time, out: &mut Vec<Effect>) {
        self.carry_out(now, out);
    }

    /// A packet of a neighbour was heard.
    pub fn received(&mut self, now: Time, from: NodeId, packet: &Packet, out: &mut Vec<Effect>) {
        self.suspicions.heard(from, &mut Vec::new());
        match packet {
            Packet::Link(frame) => self.overheard(now, from, frame),
            Packet::Routed(packet) => {
                self.links.heard(now, from, &mut self.of_links);
                self.router.received(now, from, packet.clone(), &mut self.of_router);
            }
            Packet::Flooded(flooded) => {
                self.links.heard(now, from, &mut self.of_links);
                self.flood.received(flooded.clone(), &mut self.of_flood);
            }
            Packet::Piece(piece) => {
                let whole = self.pieces.join(from, piece.clone(), self.limits.parts_max());
                if let Some(Ok(frame)) = whole.map(|bytes| wire::decode(&bytes)) {
                    self.overheard(now, from, &frame);
                }
            }
        }
        self.carry_out(now, out);
    }

    /// A frame of a neighbour's link layer was heard.
    fn overheard(&mut self, now: Time, from: NodeId, frame: &Frame<Parcel>) {
        if self.is_astray(frame.kept()) {
            return;
        }
        if let Frame::Hello(hello) = frame {
            self.board.heard(now, &hello.notices, &mut self.of_board);
        }
        self.links.overheard(now, from, frame, &mut self.of_links);
    }

    /// Whether there is a message among these that must not be lost, and no resident to take it. What it came with is
    /// as good as lost: its sender keeps it, and sends it again until there is one.
    fn is_astray<'a>(&self, kept: impl IntoIterator<Item = &'a Parcel>) -> bool {
        kept.into_iter().any(|parcel| !self.residents.contains_key(&parcel.resource))
    }

    /// The radio believes that this did not reach `to`.
    pub fn unsent(&mut self, now: Time, to: NodeId, packet: &Packet, out: &mut Vec<Effect>) {
        match packet {
            Packet::Link(_) | Packet::Piece(_) => self.links.unsent(now),
            Packet::Routed(packet) => self.router.unsent(now, to, packet.clone(), &mut self.of_router),
            Packet::Flooded(_) => {}
        }
        self.carry_out(now, out);
    }

    /// When [`Self::woken`] is to be called.
    pub fn wakes(&self) -> Option<Time> {
        [self.links.wakes(), self.sessions.wakes(), self.router.wakes()].into_iter().flatten().min()
    }

    /// Does what is due.
    pub fn woken(&mut self, now: Time, out: &mut Vec<Effect>) {
        self.board.expire(now, &mut self.of_board);
        self.links.woken(now, &mut self.of_links);
        self.sessions.woken(now, &mut self.of_sessions);
        self.router.woken(now, &mut self.of_router);
        self.carry_out(now, out);
    }

    /// Carries out what the layers want of one another.
    fn carry_out(&mut self, now: Time, out: &mut Vec<Effect>) {
        self.tell_of_adverts(out);
        while !(self.of_links.is_empty() && self.of_sessions.is_empty() && self.of_router.is_empty()) {
            if let Some(mut effects) = filled(&mut self.of_links) {
                effects.drain(..).for_each(|effect| self.for_links(now, effect, out));
                give_back(&mut self.of_links, effects);
            }
            if let Some(mut effects) = filled(&mut self.of_sessions) {
                effects.drain(..).for_each(|effect| self.for_sessions(now, effect, out));
                give_back(&mut self.of_sessions, effects);
                let mut segments = mem::take(&mut self.segments);
                segments.take(self.limits.frame_bytes_max, |to, cargo| self.route(now, to, cargo));
                self.segments = segments;
            }
            if let Some(mut effects) = filled(&mut self.of_router) {
                effects.drain(..).for_each(|effect| self.for_router(now, effect, out));
                give_back(&mut self.of_router, effects);
            }
        }
        self.runs.end();
        for effect in self.of_flood.drain(..) {
            out.push(match effect {
                flood::Effect::Transmit { packet, delay } => {
                    Effect::Transmit { to: None, packet: Packet::Flooded(packet), delay }
                }
                flood::Effect::Deliver { from, message } => arrived(from, Incarnation(0), message),
            });
        }
    }

    fn for_links(&mut self, now: Time, effect: link::Effect<Parcel>, out: &mut Vec<Effect>) {
        match effect {
            link::Effect::Transmit { to, frame, delay } => self.transmit(now, (to, frame, delay), out),
            link::Effect::Route { to, frame } => self.route(now, to, Cargo::Custody(frame)),
            link::Effect::Heard { peer, boot } => _ = self.router.lives(now, peer, boot.0, &mut self.of_router),
            link::Effect::Silent { peer } => self.router.link_lost(now, peer, &mut self.of_router),
            link::Effect::Up { peer, incarnation } => self.tell_of_link(LinkEvent::Up { peer, incarnation }, out),
            link::Effect::Down { peer, incarnation } => self.tell_of_link(LinkEvent::Down { peer, incarnation }, out),
            link::Effect::Deliver { from, incarnation, message } => out.push(arrived(from, incarnation, message)),
            link::Effect::Undelivered { to, message } => {
                out.push(Effect::Tell { resource: message.resource, told: Told::Undelivered { to, message } });
            }
            link::Effect::Dropped { to, message } | link::Effect::Lost { to, message } => {
                out.push(dropped(to, message));
            }
            link::Effect::Doubt { .. } | link::Effect::Settled { .. } => {}
        }
    }

    /// Those who take part in a resource hear who else does, and what these say.
    fn tell_of_adverts(&mut self, out: &mut Vec<Effect>) {
        for effect in self.of_board.drain(..) {
            let (resource, told) = match effect {
                advert::Effect::Met { resource, peer, life } => (resource, Told::Met { peer, life }),
                advert::Effect::Parted { resource, peer } => (resource, Told::Parted { peer }),
                advert::Effect::Said(advert) => (advert.resource, Told::Said(advert)),
            };
            if self.residents.contains_key(&resource) {
                out.push(Effect::Tell { resource, told });
            }
        }
    }

    /// Over the radio: together with what went to the same neighbour before, or in pieces if it is too long.
    fn transmit(
        &mut self,
        now: Time,
        (to, mut frame, delay): (Option<NodeId>, Frame<Parcel>, Span),
        out: &mut Vec<Effect>,
    ) {
        if let Frame::Hello(hello) = &mut frame {
            hello.notices = self.board.next(now);
        }
        if let Some(to) = to.filter(|_| delay == Span::ZERO) {
            match self.runs.join(to, frame, self.limits.frame_bytes_max, out) {
                Some(alone) => frame = alone,
                None => return,
            }
            self.runs.begin(to, out.len(), &frame);
        }
        if wire::encoded_len(&frame) <= self.limits.frame_bytes_max {
            return out.push(Effect::Transmit { to, packet: Packet::Link(frame), delay });
        }
        let pieces = self.pieces.cut(&wire::encode(&frame), self.limits.part_max());
        out.extend(pieces.map(|piece| Effect::Transmit { to, packet: Packet::Piece(piece), delay }));
    }

    /// Over whatever path there is, in pieces if it is too long.
    fn route(&mut self, now: Time, to: NodeId, cargo: Cargo) {
        if cargo.len() <= self.limits.frame_bytes_max {
            return self.router.send(now, to, cargo, &mut self.of_router);
        }
        for piece in self.pieces.cut(&cargo.encode(), self.limits.part_max()) {
            self.router.send(now, to, Cargo::Piece(piece), &mut self.of_router);
        }
    }

    /// All are told who stand on links, and whose resource has a node at the other end.
    fn tell_of_link(&mut self, event: LinkEvent, out: &mut Vec<Effect>) {
        let concerned = match event {
            LinkEvent::Up { peer, .. } => {
                let theirs = self.links.resources_of(peer).iter().copied();
                let shared = theirs.filter(|resource| {
                    self.residents.get(resource).is_some_and(|resident| resident.footing == Footing::Links)
                });
                let shared: Vec<_> = shared.collect();
                self.linked.insert(peer, shared.clone());
                shared
            }
            LinkEvent::Down { peer, .. } => self.linked.remove(&peer).unwrap_or_default(),
        };
        out.extend(concerned.into_iter().map(|resource| Effect::Tell { resource, told: Told::Link(event) }));
    }

    fn for_sessions(&mut self, now: Time, effect: session::Effect<Letter>, out: &mut Vec<Effect>) {
        match effect {
            session::Effect::Transmit { to, segment } => self.segments.push(to, segment),
            session::Effect::Deliver { from, message: Letter { life, from: in_life, parcel } } => {
                if let Some(in_life) = in_life {
                    self.board.introduce(now, parcel.resource, from, in_life, &mut self.of_board);
                    self.tell_of_adverts(out);
                }
                out.push(arrived(from, life, parcel));
            }
            session::Effect::Undelivered { to, message, .. } | session::Effect::Doubt { to, message, .. } => {
                out.push(dropped(to, message.parcel));
            }
            session::Effect::Silent { peer } => self.suspect(now, peer, Evidence::Unanswered),
            session::Effect::Delivered { .. } => {}
        }
    }

    fn for_router(&mut self, now: Time, effect: aodv::Effect<(), Cargo>, out: &mut Vec<Effect>) {
        match effect {
            aodv::Effect::Transmit { to, packet, delay } => {
                out.push(Effect::Transmit { to, packet: Packet::Routed(packet), delay });
            }
            aodv::Effect::Deliver { from, data } => {
                self.suspicions.heard(from, &mut Vec::new());
                self.unload(now, from, data);
            }
            aodv::Effect::Undelivered { to, data } => {
                self.suspect(now, to, Evidence::NoRoute);
                // An offer that does not arrive is made again.
                if let Cargo::Segment(_) | Cargo::Segments(_) | Cargo::Piece(_) = data {
                    self.sessions.unreachable(now, to, &mut self.of_sessions);
                }
            }
            aodv::Effect::LinkLost { neighbour } => self.suspect(now, neighbour, Evidence::LinkLost),
            aodv::Effect::RouteUp { .. } | aodv::Effect::RouteDown { .. } | aodv::Effect::Advert(_) => {}
        }
    }

    /// What was routed has arrived.
    fn unload(&mut self, now: Time, from: NodeId, cargo: Cargo) {
        match cargo {
            cargo if self.is_astray(cargo.kept()) => {}
            Cargo::Custody(frame) => self.links.received(now, from, frame, &mut self.of_links),
            Cargo::Segment(segment) => self.sessions.received(now, from, segment, &mut self.of_sessions),
            Cargo::Segments(segments) => {
                for segment in segments {
                    self.sessions.received(now, from, segment, &mut self.of_sessions);
                }
            }
            Cargo::Piece(piece) => {
                let whole = self.pieces.join(from, piece, self.limits.parts_max());
                // No node cuts a piece once more.
                let whole = whole.and_then(|bytes| Cargo::decode(&bytes).ok());
                if let Some(cargo) = whole.filter(|cargo| !matches!(cargo, Cargo::Piece(_))) {
                    self.unload(now, from, cargo);
                }
            }
        }
    }

    fn suspect(&mut self, now: Time, node: NodeId, evidence: Evidence) {
        self.suspicions.evidence(now, node, evidence, &mut Vec::new());
    }
}

fn is_kept(parcel: &Parcel) -> bool {
    parcel.keep
}

fn arrived(from: NodeId, incarnation: Incarnation, message: Parcel) -> Effect {
    Effect::Tell { resource: message.resource, told: Told::Message { from, incarnation, message } }
}

fn dropped(to: NodeId, message: Parcel) -> Effect {
    Effect::Tell { resource: message.resource, told: Told::Dropped { to, message } }
}

/// What is in a buffer, if there is anything: most calls of the stack concern one layer.
fn filled<T>(place: &mut Vec<T>) -> Option<Vec<T>> {
    (!place.is_empty()).then(|| mem::take(place))
}

/// Puts an empty buffer back where nothing has come meanwhile, so that it need not be made again.
fn give_back<T>(place: &mut Vec<T>, buffer: Vec<T>) {
    if place.is_empty() {
        *place = buffer;
    }
}

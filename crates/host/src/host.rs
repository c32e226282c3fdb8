//! One node: its stack and the residents of all its resources.

use std::any::Any;
use std::collections::VecDeque;

use driftlock_net::Time;
use driftlock_net::parcel::Resource;
use driftlock_net::stack::{self, Full, Packet, Settings, Stack, Told, Unfit};
use driftlock_protocol::{Incarnation, NodeId, Refusal};
use thiserror::Error;

use crate::resident::{Cue, Desk, Resident, Share};
use crate::stored::{self, Unreadable};
use crate::{Batch, Do, Part, Store};

/// A resident and what the host remembers of it.
struct Room {
    resource: Resource,
    share: Share,
    resident: Box<dyn Resident>,
    /// When its next timer runs out.
    due: Time,
    /// Whether it has done anything since it was last asked what it has to have stored.
    is_stale: bool,
}

/// Why a resident is not told what it was to be told. Nothing has changed.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum Declined {
    /// Its node turns it away.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// Too much waits for other nodes already.
    #[error(transparent)]
    Full(#[from] Full),
}

/// One node, for all its resources.
///
/// What drives it hands in what has happened, with the time: frames, what applications want, that it is time to be
/// [woken](Self::wakes). What belongs together, as all that was read from a socket at once, is handed in together, and
/// [taken out](Self::take) as one [`Batch`]. A host that has paused, or whose machine was suspended, is just given the
/// time as it is now: what was due meanwhile comes first.
pub struct Host {
    stack: Stack,
    /// By resource.
    rooms: Vec<Room>,
    /// The earliest that a timer of any of them runs out.
    due: Time,
    /// What the layers below had stored last.
    stored: Option<stack::Durable>,
    then: Vec<Do>,
    of_stack: Vec<stack::Effect>,
    news: VecDeque<(Resource, Told)>,
}

impl Host {
    /// A node that takes part in nothing yet.
    pub fn new(stack: Stack) -> Self {
        Self {
            stack,
            rooms: Vec::new(),
            due: Time::END,
            stored: None,
            then: Vec::new(),
            of_stack: Vec::new(),
            news: VecDeque::new(),
        }
    }

    /// A node that had stored this of its layers and was killed, in its next life. Its residents are to be taken in
    /// anew, with what each of them had stored.
    pub fn restore(now: Time, me: NodeId, bytes: &[u8], settings: &Settings) -> Result<Self, Unreadable> {
        Ok(Self::new(Stack::restored(now, me, stored::decode(bytes)?, settings)))
    }

    /// From now on the node takes part in a resource, or a resident takes the place of the one that was there.
    pub fn take_in(
        &mut self,
        now: Time,
        resource: Resource,
        share: Share,
        resident: Box<dyn Resident>,
    ) -> Result<(), Unfit> {
        let footing = resident.footing();
        let Share { k, members } = share;
        let room = Room { resource, share, resident, due: Time::END, is_stale: true };
        let at = match self.rooms.binary_search_by_key(&resource, |room| room.resource) {
            Ok(at) => {
                self.rooms[at] = room;
                at
            }
            Err(at) => {
                self.stack.host(now, resource, stack::Resident { footing, k, members })?;
                self.rooms.insert(at, room);
                at
            }
        };
        self.with_room(now, at, |resident, desk| resident.moves_in(now, desk));
        self.run(now);
        Ok(())
    }

    /// Its residents, for another host.
    pub fn into_residents(self) -> impl Iterator<Item = (Resource, Share, Box<dyn Resident>)> {
        self.rooms.into_iter().map(|room| (room.resource, room.share, room.resident))
    }

    /// The layers below all residents.
    pub fn stack(&self) -> &Stack {
        &self.stack
    }

    /// The resident of a resource, whatever its algorithm.
    pub fn resident(&self, resource: Resource) -> Option<&dyn Resident> {
        self.room(resource).map(|at| &*self.rooms[at].resident)
    }

    /// The resident of a resource, where its type is known.
    pub fn resident_as<R: Resident>(&self, resource: Resource) -> Option<&R> {
        let resident: &dyn Any = self.resident(resource)?;
        resident.downcast_ref()
    }

    /// Likewise, for a world that looks at what it has watched.
    pub fn resident_as_mut<R: Resident>(&mut self, resource: Resource) -> Option<&mut R> {
        let at = self.room(resource)?;
        let resident: &mut dyn Any = &mut *self.rooms[at].resident;
        resident.downcast_mut()
    }

    /// A resident is told something by what drives the host.
    ///
    /// # Panics
    /// If the node takes no part in this resource.
    pub fn cue(&mut self, now: Time, resource: Resource, cue: Cue) -> Result<(), Declined> {
        if let Cue::Request(_) = cue {
            self.stack.admits()?;
        }
        self.run_due(now);
        let at = self.room(resource).expect("the node takes part in it");
        let taken = self.with_room(now, at, |resident, desk| resident.cue(now, cue, desk));
        self.run(now);
        Ok(taken?)
    }

    /// It is certain that another node takes part in a resource, in this life.
    pub fn introduce(&mut self, now: Time, resource: Resource, node: NodeId, life: Incarnation) {
        self.run_due(now);
        self.stack.introduce(now, resource, node, life);
        self.stack.drain(now, &mut self.of_stack);
        self.run(now);
    }

    /// A frame of a neighbour was heard.
    pub fn received(&mut self, now: Time, from: NodeId, packet: &Packet) {
        self.run_due(now);
        self.stack.received(now, from, packet, &mut self.of_stack);
        self.run(now);
    }

    /// The radio believes that this did not reach `to`.
    pub fn unsent(&mut self, now: Time, to: NodeId, packet: &Packet) {
        self.run_due(now);
        self.stack.unsent(now, to, packet, &mut self.of_stack);
        self.run(now);
    }

    /// When [`Self::woken`] is to be called. An earlier call does no harm.
    pub fn wakes(&self) -> Option<Time> {
        self.stack.wakes().into_iter().chain(Some(self.due)).min().filter(|at| *at < Time::END)
    }

    /// Does what is due.
    pub fn woken(&mut self, now: Time) {
        self.run_due(now);
        self.stack.woken(now, &mut self.of_stack);
        self.run(now);
    }

    /// Takes out what came of everything since the last time: what to store, then what to do.
    pub fn take(&mut self, batch: &mut Batch) {
        batch.clear();
        for room in self.rooms.iter_mut().filter(|room| room.is_stale) {
            room.is_stale = false;
            let part = Part::Resident(room.resource);
            batch.store.extend(room.resident.unstored().map(|bytes| Store { part, bytes }));
        }
        let durable = self.stack.durable();
        if self.stored.as_ref() != Some(&durable) {
            batch.store.push(Store { part: Part::Stack, bytes: stored::encode(&durable) });
            self.stored = Some(durable);
        }
        std::mem::swap(&mut batch.then, &mut self.then);
    }

    /// Takes out only what to do, and tells whether any resident has done anything. For a world that kills nodes
    /// between batches and nowhere else, and asks its nodes themselves what they would have stored by then.
    pub fn take_deeds(&mut self, then: &mut Vec<Do>) -> bool {
        then.clear();
        std::mem::swap(then, &mut self.then);
        self.rooms.iter_mut().fold(false, |acted, room| acted | std::mem::take(&mut room.is_stale))
    }

    fn room(&self, resource: Resource) -> Option<usize> {
        self.rooms.binary_search_by_key(&resource, |room| room.resource).ok()
    }

    /// Timers that are due come before anything else, at all residents.
    fn run_due(&mut self, now: Time) {
        if self.due > now {
            return;
        }
        for at in 0..self.rooms.len() {
            if self.rooms[at].due <= now {
                self.with_room(now, at, |resident, desk| resident.run_due(now, desk));
                self.run(now);
            }
        }
    }

    /// Carries on until neither the stack nor a resident has anything to tell the other.
    fn run(&mut self, now: Time) {
        loop {
            for effect in self.of_stack.drain(..) {
                match effect {
                    stack::Effect::Transmit { to, packet, delay } => self.then.push(Do::Transmit { to, packet, delay }),
                    stack::Effect::Tell { resource, told } => self.news.push_back((resource, told)),
                }
            }
            let Some((resource, told)) = self.news.pop_front() else { return };
            if let Some(at) = self.room(resource) {
                self.with_room(now, at, |resident, desk| resident.hear(now, told, desk));
            }
        }
    }

    fn with_room<R>(&mut self, now: Time, at: usize, act: impl FnOnce(&mut dyn Resident, &mut Desk<'_>) -> R) -> R {
        let room = &mut self.rooms[at];
        let mut desk = Desk { resource: room.resource, stack: &mut self.stack, then: &mut self.then };
        let result = act(&mut *room.resident, &mut desk);
        self.stack.drain(now, &mut self.of_stack);
        room.is_stale = true;
        room.due = room.resident.due().unwrap_or(Time::END);
        self.due = self.rooms.iter().map(|room| room.due).min().unwrap_or(Time::END);
        result
    }
}

//! Stacks, and the air between them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::rc::Rc;

use driftlock_net::link::Frame;
use driftlock_net::parcel::{Parcel, Resource};
use driftlock_net::stack::{Effect, Footing, Packet, Resident, Settings, Stack, Told, Way};
use driftlock_net::{Boot, Span, Time};
use driftlock_protocol::{Incarnation, LinkEvent, NodeId};

use crate::rng::Rng;

pub(crate) fn ms(ms: u64) -> Time {
    Time::from_millis(ms)
}

pub(crate) fn on(footing: Footing) -> Resident {
    Resident { footing, k: 5, members: 20 }
}

/// A packet that arrives.
type Arrival = (NodeId, NodeId, Rc<Packet>);

pub(crate) struct World {
    pub(crate) now: Time,
    pub(crate) settings: Settings,
    pub(crate) stacks: Vec<Stack>,
    /// Who hears whom: `a * nodes + b`.
    pub(crate) hears: Vec<bool>,
    /// In percent.
    pub(crate) loss: u64,
    pub(crate) rng: Rng,
    queue: BinaryHeap<Reverse<(Time, usize)>>,
    arrivals: Vec<Option<Arrival>>,
    /// Everything that was ever put on the air, and from whom.
    pub(crate) aired: Vec<(NodeId, Rc<Packet>)>,
    /// Everything that residents were told.
    pub(crate) told: Vec<(NodeId, Resource, Told)>,
}

impl World {
    /// So many nodes, all of which hear one another.
    pub(crate) fn new(nodes: u32, settings: Settings) -> Self {
        let ids = (0..nodes).map(NodeId);
        Self {
            now: Time::ZERO,
            stacks: ids.map(|id| Stack::new(Time::ZERO, id, Boot(0), &settings)).collect(),
            settings,
            hears: vec![true; (nodes * nodes) as usize],
            loss: 0,
            rng: Rng::new(7),
            queue: BinaryHeap::new(),
            arrivals: Vec::new(),
            aired: Vec::new(),
            told: Vec::new(),
        }
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..u32::try_from(self.stacks.len()).unwrap()).map(NodeId)
    }

    /// Only those in a row hear each other whose numbers follow one another.
    pub(crate) fn in_a_row(mut self) -> Self {
        let nodes = self.stacks.len();
        for (place, hears) in self.hears.iter_mut().enumerate() {
            *hears = (place / nodes).abs_diff(place % nodes) == 1;
        }
        self
    }

    pub(crate) fn host(&mut self, node: u32, resource: u16, footing: Footing) {
        let now = self.now;
        self.act(NodeId(node), |stack, out| {
            stack.host(now, Resource(resource), on(footing)).expect("its messages are short");
            stack.drain(now, out);
        });
    }

    pub(crate) fn send(&mut self, from: u32, way: Way<'_>, parcel: Parcel) {
        let now = self.now;
        self.act(NodeId(from), |stack, out| {
            stack.send(now, way, parcel).expect("it is short, and for a resource that is there");
            stack.drain(now, out);
        });
    }

    /// Something is done to a stack, with all that it wants then.
    pub(crate) fn act(&mut self, node: NodeId, act: impl FnOnce(&mut Stack, &mut Vec<Effect>)) {
        let mut out = Vec::new();
        act(&mut self.stacks[node.index()], &mut out);
        for effect in out {
            match effect {
                Effect::Tell { resource, told } => self.told.push((node, resource, told)),
                Effect::Transmit { to, packet, delay } => self.transmit(node, to, packet, delay),
            }
        }
    }

    fn transmit(&mut self, from: NodeId, to: Option<NodeId>, packet: Packet, delay: Span) {
        let packet = Rc::new(packet);
        self.aired.push((from, Rc::clone(&packet)));
        for at in self.ids() {
            let hears = self.hears[from.index() * self.stacks.len() + at.index()];
            if at != from && hears && to.is_none_or(|to| to == at) && !self.rng.percent(self.loss) {
                // Where something is lost, packets overtake one another as well.
                let late = if self.loss > 0 { self.rng.below(1_000_000) } else { 0 };
                let arrives = self.now + delay + Span(100_000 + late);
                self.queue.push(Reverse((arrives, self.arrivals.len())));
                self.arrivals.push(Some((at, from, Rc::clone(&packet))));
            }
        }
    }

    /// Lets everything happen for so long.
    pub(crate) fn run(&mut self, ms_long: u64) {
        let end = self.now + Span::from_millis(ms_long);
        loop {
            let wakes = self.ids().filter_map(|id| Some((self.stacks[id.index()].wakes()?, id))).min();
            let arrives = self.queue.peek().map(|Reverse((at, _))| *at);
            let Some(next) = wakes.map(|it| it.0).into_iter().chain(arrives).min().filter(|at| *at <= end) else {
                break;
            };
            self.now = self.now.max(next);
            let now = self.now;
            if let Some((_, id)) = wakes.filter(|it| it.0 == next) {
                self.act(id, |stack, out| stack.woken(now, out));
            } else if let Some(Reverse((_, place))) = self.queue.pop()
                && let Some((at, from, packet)) = self.arrivals[place].take()
            {
                self.act(at, |stack, out| stack.received(now, from, &packet, out));
            }
        }
        self.now = end;
    }

    /// The incarnation of the link from one node to another, as the node of a resource was told last.
    pub(crate) fn link(&self, node: u32, peer: u32, resource: u16) -> Option<Incarnation> {
        let of_link = |(at, of, told): &(NodeId, Resource, Told)| match told {
            Told::Link(event) if (*at, *of) == (NodeId(node), Resource(resource)) => match *event {
                LinkEvent::Up { peer: other, incarnation } => (other.0 == peer).then_some(Some(incarnation)),
                LinkEvent::Down { peer: other, .. } => (other.0 == peer).then_some(None),
            },
            _ => None,
        };
        self.told.iter().rev().find_map(of_link).flatten()
    }

    /// The messages that the node of a resource got, in order.
    pub(crate) fn got(&self, node: u32, resource: u16) -> Vec<String> {
        let of_message = |(at, of, told): &(NodeId, Resource, Told)| match told {
            Told::Message { message, .. } if (*at, *of) == (NodeId(node), Resource(resource)) => message.open().ok(),
            _ => None,
        };
        self.told.iter().filter_map(of_message).collect()
    }

    /// What was put on the air that are no hellos.
    pub(crate) fn aired_besides_hellos(&self) -> Vec<Rc<Packet>> {
        let is_hello = |packet: &Packet| matches!(packet, Packet::Link(Frame::Hello(_)));
        self.aired.iter().filter(|(_, packet)| !is_hello(packet)).map(|(_, packet)| Rc::clone(packet)).collect()
    }
}

pub(crate) fn parcel(resource: u16, keep: bool, text: &str) -> Parcel {
    Parcel::new(Resource(resource), keep, &text)
}

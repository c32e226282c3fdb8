//! Which nodes hear a frame, and when: the medium that all nodes share, as an event-driven model.
//!
//! It is a model, not 802.11. It has what token algorithms feel of a radio: airtime, listening before talking, random
//! backoff, hidden terminals, collisions, acknowledgements and retries, half-duplex nodes, losses that come in spells,
//! queues that overflow. It has no RTS/CTS, no NAV, no rate adaptation, no fragments, no propagation delay and no
//! moving during a frame. docs/radio.md says all of it, with formulas and what the papers' own radios were.
//!
//! ```text
//!            caller                                       Air
//!   send(frame) ──────────────▶ queue ─▶ contend ─▶ on the air ─▶ awaiting the ack ─▶ Sent | Failed
//!                                  idle medium, backoff   │  ▲         │
//!                                                         │  └─ retry ─┘
//!   Heard at each receiver ◀── weather, noise, collisions ┘
//! ```
//!
//! - [`settings`]: what a person writes; [`Settings::rules`] makes [`Rules`] of it, or an error.
//! - [`presets`]: settings with a name.
//! - `propagation`: how strong a signal arrives.
//! - `weather`: chance as a function of (seed, pair, time), the same for every algorithm.
//! - `station`: one node's radio. `csma` and `ideal`: the two ways to share the medium. `reception`: what becomes of a
//!   signal.
//! - [`Meter`]: what it cost.
//!
//! The frame type is the caller's; the medium clones it for every receiver and never looks into it. Time is handed in.
//! The caller keeps the queue of events: it gets [`Effect::At`] and calls [`Air::handle`] then. Positions are the
//! caller's too: `surroundings(node, radius, buffer)` fills in all nodes within the radius of the node now, with their
//! distances, in growing order of nodes.

use std::collections::BTreeSet;

use driftlock_net::Time;
use driftlock_protocol::NodeId;

mod csma;
mod ideal;
mod meter;
pub mod presets;
mod propagation;
mod reception;
mod rules;
pub mod settings;
mod station;
mod weather;

pub use meter::Meter;
pub use rules::Rules;
pub use settings::{Settings, SettingsError};

use crate::slab::Slab;
use reception::{Job, Late, Signal};
use settings::JammedSenses;
use station::Station;
use weather::Weather;

/// The transmitters and receivers of all nodes, and what is in the air between them.
#[derive(Clone, Debug)]
pub struct Air<F> {
    rules: Rules,
    weather: Weather,
    extra_loss: f64,
    /// The same at single nodes; empty until there is any.
    extra_loss_at: Vec<f64>,
    /// Between which nodes, the lower number first, there is nothing to be heard.
    cuts: BTreeSet<(NodeId, NodeId)>,
    watched: bool,
    stations: Vec<Station>,
    jobs: Slab<Job<F>>,
    signals: Slab<Signal>,
    late: Slab<Late<F>>,
    serial: u64,
    nearby: Vec<(NodeId, f64)>,
    /// Buffers of signals that are over.
    spare: Vec<Vec<NodeId>>,
}

/// What the medium wants done, and what it has to tell.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Effect<F> {
    /// Call [`Air::handle`] with this event then.
    At(Time, Event),
    /// A frame has arrived that was for this node or for all.
    Heard {
        /// The receiver.
        at: NodeId,
        /// The sender.
        from: NodeId,
        /// The content.
        frame: F,
    },
    /// A unicast frame was acknowledged, or a broadcast has been on the air and is over.
    Sent {
        /// The sender.
        from: NodeId,
        /// The receiver, or all.
        to: Option<NodeId>,
        /// The content.
        frame: F,
    },
    /// A unicast frame was given up: never acknowledged, or no place in the queue. The receiver may have got it all the
    /// same.
    Failed {
        /// The sender.
        from: NodeId,
        /// The receiver.
        to: NodeId,
        /// The content.
        frame: F,
    },
    /// A transmission begins. Told only to a caller that [watches](Air::set_watched), for a record; acknowledgements
    /// are not told of.
    OnAir {
        /// The sender.
        from: NodeId,
        /// The receiver, or all.
        to: Option<NodeId>,
        /// The content.
        frame: F,
        /// From 1; more if it was sent before and not acknowledged.
        attempt: u32,
    },
    /// A radio has received a transmission that was for it or for all. Told only to a caller that
    /// [watches](Air::set_watched), for a record: also of what the node has had before, and before what the medium
    /// holds back. What the node gets to see is [`Effect::Heard`].
    Received {
        /// The receiver.
        at: NodeId,
        /// The sender.
        from: NodeId,
        /// The receiver, or all.
        to: Option<NodeId>,
        /// The content.
        frame: F,
        /// As in [`Effect::OnAir`].
        attempt: u32,
    },
}

/// Something of the medium's own that is due at some time. One that is overtaken by others is harmless.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Event(Kind);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// A station may send.
    Access { node: NodeId, turn: u32 },
    /// A transmission ends.
    Over { signal: u32 },
    /// An acknowledgement is due.
    Ack { signal: u32 },
    /// A station has waited in vain for one.
    Timeout { node: NodeId, turn: u32 },
    /// A frame that was held back is handed over.
    Late { late: u32 },
}

impl<F: Clone> Air<F> {
    /// The medium of the nodes 0 to `nodes` - 1, all up and silent.
    pub fn new(nodes: u32, rules: Rules, seed: u64) -> Self {
        Self {
            weather: Weather::new(seed, rules.weather_slot, rules.bursts),
            rules,
            extra_loss: 0.0,
            extra_loss_at: Vec::new(),
            cuts: BTreeSet::new(),
            watched: false,
            stations: (0..nodes).map(|_| Station::new()).collect(),
            jobs: Slab::default(),
            signals: Slab::default(),
            late: Slab::default(),
            serial: 0,
            nearby: Vec::new(),
            spare: Vec::new(),
        }
    }

    /// Wants a frame of so many bytes sent, to one neighbour or to all. A unicast gets exactly one [`Effect::Sent`] or
    /// [`Effect::Failed`], unless its sender crashes; a broadcast for which there is no place in the queue, or of a
    /// node that is absent, gets nothing.
    #[allow(clippy::too_many_arguments)] // a frame has no fewer sides
    pub fn send(
        &mut self,
        now: Time,
        from: NodeId,
        to: Option<NodeId>,
        bytes: u32,
        frame: F,
        surroundings: &mut impl FnMut(NodeId, f64, &mut Vec<(NodeId, f64)>),
        out: &mut Vec<Effect<F>>,
    ) {
        let station = &mut self.stations[from.index()];
        if station.absent {
            out.extend(to.map(|to| Effect::Failed { from, to, frame }));
            return;
        }
        if station.down || station.queue.len() >= self.rules.queue_max {
            station.meter.dropped += 1;
            if let Some(to) = to {
                station.meter.failed += 1;
                out.push(Effect::Failed { from, to, frame });
            }
            return;
        }
        self.serial += 1;
        let job = Job { to, bytes, frame, serial: self.serial, transmissions: 0, handed_over: None };
        let job = self.jobs.insert(job);
        if let Some(latency) = self.rules.latency {
            self.launch_ideal(now, from, job, latency, surroundings, out);
            return;
        }
        station.queue.push_back(job);
        if station.queue.len() == 1 {
            self.contend(now, from, out);
        }
    }

    /// Does what is due now.
    pub fn handle(
        &mut self,
        now: Time,
        event: Event,
        surroundings: &mut impl FnMut(NodeId, f64, &mut Vec<(NodeId, f64)>),
        out: &mut Vec<Effect<F>>,
    ) {
        match event.0 {
            Kind::Access { node, turn } => self.on_access(now, node, turn, surroundings, out),
            Kind::Over { signal } if self.rules.latency.is_some() => self.on_ideal_over(now, signal, out),
            Kind::Over { signal } => self.on_over(now, signal, out),
            Kind::Ack { signal } => self.on_ack(now, signal, surroundings, out),
            Kind::Timeout { node, turn } => self.on_timeout(now, node, turn, out),
            Kind::Late { late } => self.on_late(late, out),
        }
    }

    /// A node crashes, or is back. A crash cuts off what it sends, and its queue is lost without a word; when it is
    /// back it remembers nothing.
    pub fn set_down(&mut self, now: Time, node: NodeId, down: bool) {
        let station = &mut self.stations[node.index()];
        if station.down == down {
            return;
        }
        station.keep_meter(now);
        station.down = down;
        if down {
            station.begin_life();
            self.forget(node);
        }
    }

    /// A node leaves the plane, or appears on it. Its radio is off while it is away: what it is sending is cut off,
    /// what it has queued fails, and so does what it is told to send later.
    pub fn set_absent(&mut self, now: Time, node: NodeId, absent: bool, out: &mut Vec<Effect<F>>) {
        let station = &mut self.stations[node.index()];
        if station.absent == absent {
            return;
        }
        station.keep_meter(now);
        station.absent = absent;
        if absent {
            station.begin_life();
            self.give_up(node, out);
        }
    }

    /// A node is jammed, or no longer. While it is, it hears nothing, and senses what [`JammedSenses`] says.
    pub fn set_jammed(&mut self, now: Time, node: NodeId, jammed: bool, out: &mut Vec<Effect<F>>) {
        let station = &mut self.stations[node.index()];
        if station.jammed == jammed {
            return;
        }
        station.jammed = jammed;
        if jammed {
            station.go_deaf();
        }
        match (self.rules.jammed_senses, jammed) {
            (JammedSenses::Free, _) => {}
            (JammedSenses::Busy, true) => station.sense(now, &self.rules.csma),
            (JammedSenses::Busy, false) => self.quieten(now, node, self.rules.csma.difs, out),
        }
    }

    /// Puts a node into a group. Nodes of different groups neither hear nor sense nor disturb each other, from their
    /// next transmission on. At first all are in group 0.
    pub fn set_group(&mut self, node: NodeId, group: u32) {
        self.stations[node.index()].group = group;
    }

    /// Two nodes neither hear nor sense nor disturb each other, from their next transmission on; or they do again.
    pub fn set_cut(&mut self, a: NodeId, b: NodeId, cut: bool) {
        let pair = (a.min(b), a.max(b));
        if cut {
            self.cuts.insert(pair);
        } else {
            self.cuts.remove(&pair);
        }
    }

    /// Whether there is something between two nodes.
    fn is_cut(&self, a: NodeId, b: NodeId) -> bool {
        self.cuts.contains(&(a.min(b), a.max(b)))
    }

    /// From now on every frame is lost with this probability, at each receiver, besides all that the settings say. Not
    /// a number between 0 and 1: the nearest of them.
    pub fn set_loss(&mut self, loss: f64) {
        self.extra_loss = probability(loss);
    }

    /// The same for what one node receives, besides what is lost everywhere.
    pub fn set_loss_at(&mut self, node: NodeId, loss: f64) {
        self.extra_loss_at.resize(self.stations.len(), 0.0);
        self.extra_loss_at[node.index()] = probability(loss);
    }

    /// Whether to tell of every transmission and reception, for a record. At first not: then it costs nothing.
    pub fn set_watched(&mut self, watched: bool) {
        self.watched = watched;
    }

    /// What a node's radio has done until now.
    pub fn meter(&self, now: Time, node: NodeId) -> Meter {
        self.stations[node.index()].metered_until(now)
    }

    /// What all radios have done until now.
    pub fn total(&self, now: Time) -> Meter {
        let mut total = Meter::default();
        for station in &self.stations {
            total += station.metered_until(now);
        }
        total
    }

    /// A proxy for the energy that all have spent until now, in joules.
    pub fn joules(&self, now: Time) -> f64 {
        self.total(now).joules(&self.rules.power)
    }

    /// How many frames are waiting or being sent, at all nodes.
    pub fn in_hand(&self) -> usize {
        self.jobs.count()
    }

    /// The rules of this medium.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }
}

/// The nearest probability. What is no number is none.
fn probability(number: f64) -> f64 {
    if number > 0.0 { number.min(1.0) } else { 0.0 }
}

impl Event {
    fn access(node: NodeId, turn: u32) -> Self {
        Self(Kind::Access { node, turn })
    }

    fn over(signal: u32) -> Self {
        Self(Kind::Over { signal })
    }

    fn ack(signal: u32) -> Self {
        Self(Kind::Ack { signal })
    }

    fn timeout(node: NodeId, turn: u32) -> Self {
        Self(Kind::Timeout { node, turn })
    }

    fn late(late: u32) -> Self {
        Self(Kind::Late { late })
    }
}

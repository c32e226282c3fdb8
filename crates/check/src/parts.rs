//! The parts that states are made of. A search meets millions of states but only thousands of different nodes and
//! channels; each is kept once, and a state is a row of their numbers.

use std::hash::{BuildHasherDefault, Hash};
use std::sync::OnceLock;
use std::time::Duration;

use dashmap::{DashMap, Entry};
use driftlock_protocol::ideal::{Change, Cut, Ideal, IdealOf, News};
use driftlock_protocol::{
    Charter, Demand, Effect, Fence, Grant, Input, InputOf, Node, NodeId, Out, Outbox, Permits, Protocol, Stored, Units,
};
use driftlock_spec::Violation;
use rustc_hash::FxHasher;

use crate::action::TIMERS_MAX;
use crate::canon::Sketch;
use crate::twins::{Event, Outcome, TwinPart};
use crate::{Changes, Setup, StayOrder};

type Table<K, V> = DashMap<K, V, BuildHasherDefault<FxHasher>>;

/// The number of a part.
pub(crate) type PartId = u32;

/// Values that are kept once, each under a number.
pub(crate) struct Interned<K, T> {
    ids: Table<K, PartId>,
    parts: boxcar::Vec<T>,
}

impl<K: Eq + Hash + Clone, T> Interned<K, T> {
    fn new() -> Self {
        Self { ids: Table::default(), parts: boxcar::Vec::new() }
    }

    pub(crate) fn get(&self, id: PartId) -> &T {
        &self.parts[id as usize]
    }

    fn id(&self, key: K, make: impl FnOnce(K) -> T) -> PartId {
        if let Some(id) = self.ids.get(&key) {
            return *id;
        }
        match self.ids.entry(key) {
            Entry::Occupied(entry) => *entry.get(),
            Entry::Vacant(entry) => {
                let id = u32::try_from(self.parts.push(make(entry.key().clone()))).expect("fewer parts than states");
                entry.insert(id);
                id
            }
        }
    }
}

/// A node, and what its applications use.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Seat<P: Protocol> {
    pub(crate) node: Node<P>,
    /// The timers it has armed, with the ticks they have left.
    pub(crate) timers: Vec<(P::Timer, u16)>,
    /// What applications use that a node of an earlier life let in, with the ticks that their leases have left.
    pub(crate) left: Vec<(Grant, u16)>,
}

impl<P: Protocol> Seat<P> {
    /// A node with no timer armed.
    pub(crate) fn new(node: Node<P>) -> Self {
        Self { node, timers: Vec::new(), left: Vec::new() }
    }

    /// What its applications of earlier lives can show, and for how long it is theirs.
    pub(crate) fn shown(&self, tick: Option<Duration>) -> impl Iterator<Item = (Grant, Duration)> {
        let leased = self.left.iter().map(move |&(grant, left)| (grant, tick.unwrap_or_default() * u32::from(left)));
        self.node.left().map(|grant| (grant, Duration::ZERO)).into_iter().chain(leased)
    }

    /// The first of these that the node would take, and this seat once it has.
    pub(crate) fn resumed(&self, tick: Option<Duration>, out: &mut Out<P>) -> Option<(InputOf<P>, Self)> {
        self.shown(tick).find_map(|(grant, left)| {
            let (mut after, resume) = (self.clone(), Input::Resume { grant, left });
            after.node.step(resume.clone(), out).ok()?;
            after.left.retain(|(other, _)| *other != grant);
            Some((resume, after))
        })
    }

    /// A timer is armed, anew or again.
    pub(crate) fn arm(&mut self, timer: P::Timer, ticks: u16) {
        self.disarm(timer);
        self.timers.push((timer, ticks));
        self.timers.sort_unstable_by_key(|armed| armed.0);
        assert!(self.timers.len() <= TIMERS_MAX, "a node has at most {TIMERS_MAX} timers armed");
    }

    pub(crate) fn disarm(&mut self, timer: P::Timer) {
        self.timers.retain(|armed| armed.0 != timer);
    }

    /// A tick has passed.
    pub(crate) fn tick(&mut self) {
        for (_, left) in &mut self.timers {
            *left = left.saturating_sub(1);
        }
        for (_, left) in &mut self.left {
            *left -= 1;
        }
        self.left.retain(|(_, left)| *left > 0);
    }

    /// The node is killed, and its application is not: with a lease it goes on for as long as that lasts.
    pub(crate) fn kill(&mut self) {
        let lease = self.node.protocol().lease();
        let left = self.timers.iter().find(|(timer, _)| Some(*timer) == lease).map(|(_, left)| *left);
        let lasting = self.node.grant().zip(left).filter(|(_, left)| *left > 0);
        self.left.extend(lasting);
        self.timers.clear();
    }
}

/// A seat with what is asked of it most.
pub(crate) struct SeatPart<P: Protocol> {
    pub(crate) seat: Seat<P>,
    pub(crate) sketch: Sketch,
    /// Whether its application waits.
    pub(crate) waits: bool,
    /// The units that the protocol waits for, whether or not anybody still wants them.
    pub(crate) pending: Option<Units>,
    pub(crate) grant: Option<Grant>,
    /// What each application of an earlier life uses.
    pub(crate) left: Box<[Permits]>,
    pub(crate) held: Permits,
    pub(crate) has_token: bool,
}

impl<P: Protocol> SeatPart<P> {
    /// Whether an application uses something.
    pub(crate) fn is_in_use(&self) -> bool {
        self.grant.is_some() || !self.left.is_empty()
    }

    /// What its applications use.
    pub(crate) fn in_use(&self) -> Permits {
        let granted = self.grant.map(|grant| grant.permits);
        granted.into_iter().chain(self.left.iter().copied()).fold(Permits::NONE, Permits::union)
    }

    fn new(seat: Seat<P>) -> Self {
        let (node, sketch) = (&seat.node, Sketch::of(&seat));
        let grant = node.grant();
        Self {
            waits: node.demand().is_some(),
            pending: node.pending().map(|demand| demand.units),
            grant,
            left: node.left().iter().chain(seat.left.iter().map(|(grant, _)| grant)).map(|left| left.permits).collect(),
            held: node.protocol().held(),
            has_token: node.protocol().has_token(),
            sketch,
            seat,
        }
    }
}

/// A message that is or was on its way.
pub(crate) struct MessagePart<M> {
    pub(crate) message: M,
    pub(crate) permits: Permits,
    pub(crate) is_token: bool,
}

/// What is on its way from one node to another, the next to arrive first.
pub(crate) struct Channel {
    pub(crate) messages: Box<[PartId]>,
    pub(crate) sketch: Sketch,
    /// The channel without its first message, once somebody has asked.
    rest: OnceLock<PartId>,
}

/// What the world remembers beside nodes, channels and the layer below.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Ledger {
    /// The fence of each permit's last grant.
    fences: Vec<Fence>,
}

/// A ledger with its fences as the fingerprint takes them.
pub(crate) struct LedgerPart {
    ledger: Ledger,
    pub(crate) fences: Box<[u128]>,
}

/// What a node did about an input.
pub(crate) struct Reaction {
    /// What it is now.
    pub(crate) seat: PartId,
    /// What it sent, and to whom: nobody in particular is everybody.
    pub(crate) sends: Box<[(Option<NodeId>, PartId)]>,
    pub(crate) grant: Option<Grant>,
    /// Whether it has departed from the neighbourhood.
    pub(crate) departed: bool,
    /// What it should not have done.
    pub(crate) fault: Option<Violation>,
}

/// Everything that can happen to a node, by numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Stimulus {
    Request(u8),
    Cancel,
    Release,
    Message {
        from: NodeId,
        message: PartId,
    },
    Undelivered {
        to: NodeId,
        message: PartId,
    },
    Timer(u8),
    Below(PartId),
    /// It is killed.
    Kill,
    /// It is back, with what it had stored.
    Back,
    /// It is killed, and what it had stored is lost.
    Wipe,
    /// An application of an earlier life shows what it was granted.
    Show,
    /// No such application is there any more.
    Gone,
}

/// What is left out of what a node stores, to see what that is for.
pub(crate) type Forget<P> = fn(&mut Stored<<P as Protocol>::Durable>);

/// All parts that were met so far.
pub(crate) struct Parts<P: Protocol> {
    pub(crate) seats: Interned<Seat<P>, SeatPart<P>>,
    pub(crate) messages: Interned<P::Message, MessagePart<P::Message>>,
    pub(crate) channels: Interned<Box<[PartId]>, Channel>,
    pub(crate) ledgers: Interned<Ledger, LedgerPart>,
    pub(crate) twins: Interned<IdealOf<P>, TwinPart<IdealOf<P>>>,
    /// What the layer below has told.
    views: Interned<P::View, P::View>,
    pub(crate) reactions: Interned<(PartId, Stimulus), Reaction>,
    /// Channels with a message more.
    longer: Table<(PartId, PartId), PartId>,
    /// Seats a tick later.
    later: Table<PartId, PartId>,
    /// How long a tick is, if time is counted.
    pub(crate) tick: Option<Duration>,
    /// What applications may ask for.
    demands: Vec<Demand>,
    nodes: u32,
    /// How often the layer below may change.
    changes: Changes,
    /// Whether links fail only where their ends can reach one another afterwards.
    connected: bool,
    stays: StayOrder,
    /// What nodes go by.
    charter: Charter<P::Variant>,
    pub(crate) forget: Option<Forget<P>>,
}

/// The number of the channel on which nothing is on its way.
pub(crate) const EMPTY: PartId = 0;

impl<P: Protocol> Parts<P> {
    /// With timers that count in ticks, or with timers that just are armed.
    pub(crate) fn new(tick: Option<Duration>, setup: &Setup, charter: Charter<P::Variant>) -> Self {
        let parts = Self {
            seats: Interned::new(),
            messages: Interned::new(),
            channels: Interned::new(),
            ledgers: Interned::new(),
            twins: Interned::new(),
            views: Interned::new(),
            reactions: Interned::new(),
            longer: Table::default(),
            later: Table::default(),
            tick,
            demands: setup.demands.clone(),
            nodes: setup.deployment.nodes,
            changes: setup.changes.clone(),
            connected: setup.connected,
            stays: setup.stays,
            charter,
            forget: None,
        };
        let empty = parts.channel(Box::default());
        debug_assert_eq!(empty, EMPTY);
        parts
    }

    pub(crate) fn seat(&self, seat: Seat<P>) -> PartId {
        self.seats.id(seat, SeatPart::new)
    }

    pub(crate) fn message(&self, message: P::Message) -> PartId {
        self.messages.id(message, |message| MessagePart {
            permits: P::permits(&message),
            is_token: P::is_token(&message),
            message,
        })
    }

    fn channel(&self, messages: Box<[PartId]>) -> PartId {
        self.channels.id(messages, |messages| {
            let contents: Vec<_> = messages.iter().map(|&id| &self.messages.get(id).message).collect();
            Channel { sketch: Sketch::of(&contents), messages, rest: OnceLock::new() }
        })
    }

    /// The channel with `message` behind what is there.
    pub(crate) fn sent(&self, channel: PartId, message: PartId) -> PartId {
        if let Some(longer) = self.longer.get(&(channel, message)) {
            return *longer;
        }
        let mut messages = self.channels.get(channel).messages.to_vec();
        messages.push(message);
        let longer = self.channel(messages.into());
        self.longer.insert((channel, message), longer);
        longer
    }

    /// The message that arrives next, and the channel without it.
    pub(crate) fn arrived(&self, channel: PartId) -> Option<(PartId, PartId)> {
        let channel = self.channels.get(channel);
        let (&first, others) = channel.messages.split_first()?;
        Some((first, *channel.rest.get_or_init(|| self.channel(others.into()))))
    }

    /// The message behind the next `past` ones, and the channel without it. None that a channel has earlier as well: it
    /// makes no difference which of them arrives.
    pub(crate) fn overtaking(&self, channel: PartId, past: u8) -> Option<(PartId, PartId)> {
        let messages = &self.channels.get(channel).messages;
        let place = usize::from(past);
        let message = *messages.get(place).filter(|message| !messages[..place].contains(message))?;
        let others = messages.iter().enumerate().filter(|(at, _)| *at != place).map(|(_, &other)| other);
        Some((message, self.channel(others.collect())))
    }

    /// What is left of a channel whose link has failed, where permits find another way.
    pub(crate) fn outliving(&self, channel: PartId) -> PartId {
        let permits = |&&id: &&PartId| {
            let part = self.messages.get(id);
            part.is_token || !part.permits.is_empty()
        };
        self.channel(self.channels.get(channel).messages.iter().filter(permits).copied().collect())
    }

    /// What the layer below tells a node.
    pub(crate) fn told(&self, view: <P as Protocol>::View) -> PartId {
        self.views.id(view, |view| view)
    }

    pub(crate) fn twin(&self, twin: IdealOf<P>) -> PartId {
        self.twins.id(twin, |twin| TwinPart::new(twin, self.nodes, &self.changes, self.connected))
    }

    /// What comes of a change of the layer below.
    pub(crate) fn changed(&self, twin: &IdealOf<P>, change: Change) -> Outcome {
        self.outcome(twin, |twin, news| twin.apply(change, &mut |life| self.stays.of(life), news))
    }

    /// What comes of it when a node departs.
    pub(crate) fn departed(&self, twin: &IdealOf<P>, node: NodeId) -> Outcome {
        self.outcome(twin, |twin, news| twin.depart(node, news))
    }

    fn outcome(&self, before: &IdealOf<P>, happen: impl FnOnce(&mut IdealOf<P>, &mut Vec<News<P::View>>)) -> Outcome {
        let (mut twin, mut news) = (before.clone(), Vec::new());
        happen(&mut twin, &mut news);
        let events = news.into_iter().filter_map(|news| {
            Some(match news {
                News::Tells(node, view) => Event::Tell(node, self.told(view)),
                News::Cut(from, to, Cut::Failed(_)) => Event::Fail(from, to),
                News::Cut(from, to, Cut::Outlived) => Event::Outlive(from, to),
                News::Silenced(node) => Event::Silence(node),
                News::Crashed(node) => Event::Crash(node),
                News::Killed(node) => Event::Kill(node),
                News::Back(node) => Event::Back(node),
                News::Wiped(node) => Event::Wipe(node),
                // A channel keeps what there is by itself, what has to arrive before has arrived, and what follows is
                // among the changes that may be next.
                News::Cut(_, _, Cut::Kept) | News::Settles(..) | News::Follows(..) | News::Shows(_) => return None,
            })
        });
        let events = events.collect();
        Outcome { twin: self.twin(twin), events }
    }

    pub(crate) fn first_ledger(&self, k: u32) -> PartId {
        self.ledger(Ledger { fences: vec![Fence::default(); k as usize] })
    }

    fn ledger(&self, ledger: Ledger) -> PartId {
        self.ledgers.id(ledger, |ledger| LedgerPart {
            fences: ledger.fences.iter().map(|&fence| fence.into()).collect(),
            ledger,
        })
    }

    /// The ledger after a grant, which must come under a later fence than the one before.
    pub(crate) fn granted(&self, ledger: PartId, node: NodeId, grant: Grant) -> Result<PartId, Violation> {
        let mut ledger = self.ledgers.get(ledger).ledger.clone();
        for permit in grant.permits.iter() {
            let Some(last) = ledger.fences.get_mut(permit.index()) else {
                let k = u32::try_from(ledger.fences.len()).expect("few units");
                return Err(Violation::UnknownPermit { permits: grant.permits, node, k });
            };
            if grant.fence <= *last {
                return Err(Violation::FenceNotGrowing { permit, node, got: grant.fence, last: *last });
            }
            *last = grant.fence;
        }
        Ok(self.ledger(ledger))
    }

    /// The seat after a tick.
    pub(crate) fn ticked(&self, seat: PartId) -> PartId {
        if let Some(later) = self.later.get(&seat) {
            return *later;
        }
        let mut after = self.seats.get(seat).seat.clone();
        after.tick();
        let later = self.seat(after);
        self.later.insert(seat, later);
        later
    }

    /// What the node in `seat` does about `stimulus`: worked out once, then remembered.
    pub(crate) fn reaction(&self, id: NodeId, seat: PartId, stimulus: Stimulus) -> &Reaction {
        let reaction = self.reactions.id((seat, stimulus), |_| self.react(id, seat, stimulus));
        self.reactions.get(reaction)
    }

    fn react(&self, id: NodeId, seat: PartId, stimulus: Stimulus) -> Reaction {
        let before = &self.seats.get(seat).seat;
        let mut after = before.clone();
        if let Stimulus::Timer(at) = stimulus {
            after.timers.remove(usize::from(at));
        }
        let mut out = Outbox::new();
        let mut waited = before.node.demand().or(match stimulus {
            Stimulus::Request(demand) => Some(self.demands[usize::from(demand)]),
            _ => None,
        });
        let refused = match stimulus {
            Stimulus::Kill | Stimulus::Back | Stimulus::Wipe => {
                self.begin_life(&mut after, stimulus, &mut out);
                None
            }
            Stimulus::Show => {
                after = before.resumed(self.tick, &mut out).map_or(after, |(_, after)| after);
                None
            }
            _ => after.node.step(self.input(before, stimulus), &mut out).err(),
        };
        // An ideal link layer gives no reason to refuse anything.
        let fault = refused.map(|refusal| Violation::Lemma(format!("node {id} refuses {stimulus:?}: {refusal}")));
        let mut reaction = Reaction { seat, sends: Box::default(), grant: None, departed: false, fault };
        let mut sends = Vec::new();
        let mut uses = before.node.grant().is_some();
        for effect in out.drain() {
            match effect {
                Effect::Send { to, message, .. } => sends.push((Some(to), self.message(message))),
                Effect::Broadcast { message } => sends.push((None, self.message(message))),
                Effect::Depart => reaction.departed = true,
                Effect::Arm { timer, after: duration } => after.arm(timer, ticks(duration, self.tick)),
                Effect::Disarm { timer } => after.disarm(timer),
                Effect::Grant(grant) => {
                    let (asked, granted) = (waited.map_or(0, |demand| demand.units.count()), grant.permits.count());
                    if uses {
                        reaction.fault = Some(Violation::DoubleGrant { node: id });
                    } else if waited.is_none() {
                        reaction.fault = Some(Violation::Unasked { node: id });
                    } else if asked != granted {
                        reaction.fault = Some(Violation::PartialGrant { node: id, asked, granted });
                    }
                    (uses, reaction.grant) = (true, Some(grant));
                }
                Effect::Revoke(demand) => (uses, waited) = (false, Some(demand)),
                Effect::Clause(_) => {}
            }
        }
        Reaction { seat: self.seat(after), sends: sends.into(), ..reaction }
    }

    /// A node that was killed knows what it had stored, or nothing. Its effects are those of a node that is back.
    fn begin_life(&self, seat: &mut Seat<P>, stimulus: Stimulus, out: &mut Out<P>) {
        if stimulus == Stimulus::Wipe {
            seat.kill();
            seat.node = seat.node.wiped(&self.charter);
            return;
        }
        let mut stored = seat.node.durable();
        if let Some(forget) = self.forget {
            forget(&mut stored);
        }
        let node = seat.node.restarted_with(stored, &self.charter, out);
        if stimulus == Stimulus::Kill {
            seat.kill();
            _ = out.drain();
        }
        seat.node = node;
    }

    fn input(&self, seat: &Seat<P>, stimulus: Stimulus) -> InputOf<P> {
        let message = |id| self.messages.get(id).message.clone();
        match stimulus {
            Stimulus::Request(demand) => Input::Request(self.demands[usize::from(demand)]),
            Stimulus::Cancel => Input::Cancel,
            Stimulus::Release => Input::Release,
            Stimulus::Message { from, message: id } => Input::Message {
                from,
                incarnation: seat.node.incarnation(from).unwrap_or_default(),
                message: message(id),
            },
            Stimulus::Undelivered { to, message: id } => Input::Undelivered { to, message: message(id) },
            Stimulus::Timer(at) => Input::Timer(seat.timers[usize::from(at)].0),
            Stimulus::Below(view) => Input::Below(self.views.get(view).clone()),
            Stimulus::Gone => Input::Gone,
            Stimulus::Kill | Stimulus::Back | Stimulus::Wipe | Stimulus::Show => {
                unreachable!("what befalls a node, or what it may refuse, is no input of a checked step")
            }
        }
    }
}

/// How many ticks a timer takes: never fewer than one, and never fewer than its time. Where time is not counted, none.
pub(crate) fn ticks(duration: Duration, tick: Option<Duration>) -> u16 {
    let count =
        |tick: Duration| u16::try_from(duration.as_nanos().div_ceil(tick.as_nanos())).unwrap_or(u16::MAX).max(1);
    tick.map_or(0, count)
}

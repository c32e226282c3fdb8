//! Mutual exclusion by permission, as textbooks have it after G. Ricart and A. K. Agrawala (1981): the example of
//! docs/add-an-algorithm.md. It is compiled, searched and simulated by tests, and not registered.
//!
//! A node that wants the unit numbers its request with one more than the greatest number it has seen, and sends it to
//! all others. Each of them replies at once, unless it has asked itself before, by number and then by id: then it
//! replies when it has left its CS. A node enters when all have replied. There is no token; the unit is with the node
//! that uses it, and otherwise nowhere.
//!
//! Assumed below: a neighbourhood in which every member reaches every other, reliably and in order, and is told rightly
//! who is there. Textbooks have nodes that stay; what it takes that they come and go is ours, and is a rule each, which
//! tests take out to see that they would miss it.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use driftlock_protocol::{
    Charter, Crossing, Demand, Deployment, Fence, Flight, Grant, Incarnation, Moment, Never, NodeId, Out, Permits,
    Protocol, Repair, Repairs, Section, Status, Units,
};
use serde::{Deserialize, Serialize};

/// What the algorithm is about, and the first to be taken out by one who wonders whether a search sees anything.
pub(crate) const DEFERRED_REPLIES: Repair =
    Repair::new(0, "deferred-replies", "a node that leaves its CS replies to those that it let wait");
pub(crate) const NUMBERED_REPLIES: Repair = Repair::new(
    1,
    "numbered-replies",
    "a reply names its request, so that one to a request of an earlier stay is known",
);
pub(crate) const WELCOME: Repair =
    Repair::new(2, "welcome", "a newcomer asks for nothing before a member has told it the greatest number");
pub(crate) const ASK_NEWCOMERS: Repair =
    Repair::new(3, "ask-newcomers", "a node that waits while another enters asks the newcomer, too");
pub(crate) const HAND_ON: Repair =
    Repair::new(4, "hand-on", "a newcomer that is about to leave stays until it can tell those after it the number");

/// What nodes say to one another.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Message {
    /// May the sender enter?
    Request { number: u32 },
    /// As far as the sender is concerned, the request of this number may; all that it asks for later has a greater one.
    Reply { number: u32 },
    /// What a newcomer must know before it asks: no request that was granted before had a greater number.
    Welcome { generation: u32, highest: u32 },
}

/// A node of the algorithm.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct RicartAgrawala {
    me: NodeId,
    /// The greatest number it has seen. It keeps it from one stay to the next, so that its numbers never repeat.
    highest: u32,
    section: Section,
    /// What the application asked for: a revocation has to say it again.
    demand: Demand,
    /// Where it is, if it is inside.
    place: Option<Place>,
    rules: Repairs,
}

/// What a node knows of the neighbourhood that it is in. It forgets it on leaving.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Place {
    /// Of the unit. A newcomer does not know it before it is welcomed, and asks for nothing until then.
    generation: Option<u32>,
    /// Of this node.
    life: Incarnation,
    /// Which other nodes are there, and in which life.
    others: BTreeMap<NodeId, Incarnation>,
    /// The request that is out, or granted.
    asked: Option<Asked>,
    /// The requests of others that wait for this node, the earliest first.
    deferred: BTreeSet<(u32, NodeId)>,
    /// Those that came when this node could not welcome them yet.
    newcomers: BTreeSet<NodeId>,
    leaving: bool,
}

/// A request of this node.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Asked {
    number: u32,
    /// Those that have not replied.
    missing: BTreeSet<NodeId>,
}

impl Place {
    fn new(generation: Option<u32>, life: Incarnation, others: BTreeMap<NodeId, Incarnation>) -> Self {
        let (deferred, newcomers) = (BTreeSet::new(), BTreeSet::new());
        Self { generation, life, others, asked: None, deferred, newcomers, leaving: false }
    }
}

impl Protocol for RicartAgrawala {
    type Message = Message;
    type View = Crossing;
    type Timer = Never;
    type Variant = ();
    type Durable = ();

    const KINDS: &'static [&'static str] = &["request", "reply", "welcome"];
    const REPAIRS: &'static [Repair] = &[];
    const LENDS: bool = true;
    const GUARDS: &'static [Repair] = &[DEFERRED_REPLIES, NUMBERED_REPLIES, WELCOME, ASK_NEWCOMERS, HAND_ON];

    fn deploy(deployment: &Deployment, (): (), rules: Repairs) -> Vec<Self> {
        let charter = Charter::new(deployment.k, (), rules);
        let place = |me| {
            let mut others: BTreeMap<_, _> = deployment.lives().collect();
            let life = others.remove(&me)?;
            Some(Place::new(Some(0), life, others))
        };
        deployment.ids().map(|id| Self { place: place(id), ..Self::blank(id, &charter) }).collect()
    }

    fn blank(me: NodeId, charter: &Charter<()>) -> Self {
        let (section, demand, rules) = (Section::Remainder, Demand::ONE, charter.repairs);
        Self { me, highest: 0, section, demand, place: None, rules }
    }

    /// There is nothing to make but the right to number requests.
    fn mint(&mut self, _k: u32, generation: u32, _out: &mut Out<Self>) {
        self.here().generation = Some(generation);
    }

    fn durable(&self) {}

    fn restore(me: NodeId, charter: &Charter<()>, (): (), _out: &mut Out<Self>) -> Self {
        Self::blank(me, charter)
    }

    fn request(&mut self, demand: Demand, out: &mut Out<Self>) {
        (self.section, self.demand) = (Section::Waiting, demand);
        self.ask(out);
    }

    fn release(&mut self, out: &mut Out<Self>) {
        out.clause("exit");
        self.section = Section::Remainder;
        self.reply_to_deferred(out);
    }

    fn message(&mut self, from: NodeId, message: Message, out: &mut Out<Self>) {
        match message {
            Message::Request { number } => self.on_request(from, number, out),
            Message::Reply { number } => self.on_reply(from, number, out),
            Message::Welcome { generation, highest } => self.on_welcome(generation, highest, out),
        }
    }

    /// A neighbourhood reports nothing as undelivered: a message arrives, or its receiver has left.
    fn undelivered(&mut self, _to: NodeId, _message: Message, _out: &mut Out<Self>) {}

    fn timer(&mut self, timer: Never, _out: &mut Out<Self>) {
        match timer {}
    }

    fn below(&mut self, view: Crossing, out: &mut Out<Self>) {
        match view {
            Crossing::Entered { life, members, founds, .. } => {
                out.clause("enter-neighbourhood");
                let known = (!self.rules.has(WELCOME)).then_some(0);
                self.place = Some(Place::new(known, life, members.into_iter().collect()));
                if let Some(generation) = founds {
                    self.mint(1, generation, out);
                }
                self.ask(out);
            }
            Crossing::Leaving => self.on_about_to_leave(out),
            Crossing::Met { peer, life } => self.on_met(peer, life, out),
            Crossing::Parted { peer } => self.on_parted(peer, out),
        }
    }

    fn units_max(&self) -> Units {
        Units::ONE
    }

    /// What is in use.
    fn held(&self) -> Permits {
        if self.section == Section::Critical { Permits::first(1) } else { Permits::NONE }
    }

    /// A member that knows the number can be granted the unit, so a node that waits beside it is owed it. Were this
    /// left at its default, a search would hold nothing for owed while no node uses the unit.
    fn has_token(&self) -> bool {
        self.place.as_ref().is_some_and(|place| place.generation.is_some())
    }

    fn section(&self) -> Section {
        self.section
    }

    fn status(&self) -> Status {
        let place = self.place.as_ref();
        let missing = place.and_then(|place| place.asked.as_ref()).map(|asked| &asked.missing);
        Status {
            section: self.section,
            permits: self.held(),
            queue: place.map(|place| place.deferred.iter().map(|&(_, node)| node).collect()).unwrap_or_default(),
            waits_on: missing.and_then(|missing| missing.first().copied()),
            height: None,
        }
    }

    fn permits(_message: &Message) -> Permits {
        Permits::NONE
    }

    fn kind(message: &Message) -> usize {
        match message {
            Message::Request { .. } => 0,
            Message::Reply { .. } => 1,
            Message::Welcome { .. } => 2,
        }
    }

    /// The unit that no node uses is nowhere. So conservation says nothing here, and safety has all the work.
    fn returning(moment: &Moment<'_, Self>) -> Permits {
        moment.nodes.iter().fold(Permits::first(1), |idle, node| idle.without(node.held()))
    }

    fn invariant(moment: &Moment<'_, Self>) -> Result<(), String> {
        let members = || moment.nodes.iter().filter_map(|node| node.place.as_ref().map(|place| (*node, place)));
        let is_known = members().any(|(_, place)| place.generation.is_some());
        let is_told = |flight: &Flight<'_, Message>| matches!(flight.message, Message::Welcome { .. });
        // Without this lemma its loss goes unnoticed: service counts no node that waits where none knows it.
        if members().next().is_some() && !is_known && !moment.flights.iter().any(is_told) {
            return Err("no member knows the greatest number, and none is about to".into());
        }
        for (node, place) in members() {
            node.is_in_order(place)?;
            for (other, there) in members().filter(|(other, _)| other.me != node.me) {
                if node.section == Section::Critical {
                    node.is_first_of_all(place, other, there)?;
                }
                if place.asked.as_ref().is_some_and(|asked| asked.missing.contains(&other.me)) {
                    node.will_be_answered(place, other, there, moment)?;
                }
            }
        }
        Ok(())
    }
}

impl RicartAgrawala {
    /// Of a node that is inside.
    fn here(&mut self) -> &mut Place {
        self.place.as_mut().expect("nothing reaches a node that is in no neighbourhood")
    }

    /// Asks all others, as soon as it may: a node that waits outside, or is not welcomed yet, does so later, and one
    /// that is about to leave does so elsewhere.
    fn ask(&mut self, out: &mut Out<Self>) {
        let may_ask = |place: &&mut Place| place.generation.is_some() && !place.leaving;
        let Some(place) = self.place.as_mut().filter(may_ask) else { return out.clause("request.later") };
        if self.section != Section::Waiting {
            return;
        }
        out.clause("request");
        self.highest += 1;
        let number = self.highest;
        place.asked = Some(Asked { number, missing: place.others.keys().copied().collect() });
        // The sender does not hear its own broadcast.
        out.broadcast(Message::Request { number });
        self.enter_if_all_replied(out);
    }

    fn enter_if_all_replied(&mut self, out: &mut Out<Self>) {
        let Some(place) = self.place.as_ref().filter(|_| self.section == Section::Waiting) else { return };
        let (Some(generation), Some(asked)) = (place.generation, &place.asked) else { return };
        if !asked.missing.is_empty() {
            return;
        }
        out.clause("enter");
        // Requests are granted in the order of their numbers and ids, so these make a fence that only grows.
        let counter = u64::from(asked.number) << 32 | u64::from(self.me.0);
        self.section = Section::Critical;
        out.grant(Grant { permits: Permits::first(1), fence: Fence { counter, ..Fence::first(generation, 0) } });
    }

    fn reply_to_deferred(&mut self, out: &mut Out<Self>) {
        let Some(place) = &mut self.place else { return };
        place.asked = None;
        let deferred = mem::take(&mut place.deferred);
        if self.rules.has(DEFERRED_REPLIES) {
            for (number, node) in deferred {
                out.clause("exit.reply");
                out.send(node, Message::Reply { number });
            }
        }
    }

    fn on_request(&mut self, from: NodeId, number: u32, out: &mut Out<Self>) {
        self.highest = self.highest.max(number);
        let me = self.me;
        let place = self.here();
        if place.asked.as_ref().is_some_and(|asked| (asked.number, me) < (number, from)) {
            out.clause("recv-request.defer");
            place.deferred.insert((number, from));
        } else {
            out.clause("recv-request.reply");
            out.send(from, Message::Reply { number });
        }
    }

    fn on_reply(&mut self, from: NodeId, number: u32, out: &mut Out<Self>) {
        let takes_all = !self.rules.has(NUMBERED_REPLIES);
        match &mut self.here().asked {
            Some(asked) if asked.number == number || takes_all => _ = asked.missing.remove(&from),
            _ => return out.clause("recv-reply.stale"),
        }
        out.clause("recv-reply");
        self.enter_if_all_replied(out);
    }

    /// The node learns what it has to know, and tells those that came after it.
    fn on_welcome(&mut self, generation: u32, highest: u32, out: &mut Out<Self>) {
        out.clause("welcomed");
        self.highest = self.highest.max(highest);
        let highest = self.highest;
        let place = self.here();
        if place.generation.is_some() {
            return;
        }
        place.generation = Some(generation);
        let newcomers = mem::take(&mut place.newcomers);
        let leaving = place.leaving;
        out.multicast(newcomers, &Message::Welcome { generation, highest });
        if leaving { self.depart(out) } else { self.ask(out) }
    }

    /// Another node has entered: it is told what it must know, and asked what the others were asked.
    fn on_met(&mut self, peer: NodeId, life: Incarnation, out: &mut Out<Self>) {
        out.clause("met");
        let asks = self.section == Section::Waiting && self.rules.has(ASK_NEWCOMERS);
        let highest = self.highest;
        let place = self.here();
        place.others.insert(peer, life);
        match place.generation {
            Some(generation) => out.send(peer, Message::Welcome { generation, highest }),
            None => _ = place.newcomers.insert(peer),
        }
        if let Some(asked) = place.asked.as_mut().filter(|_| asks) {
            out.clause("met.ask");
            asked.missing.insert(peer);
            out.send(peer, Message::Request { number: asked.number });
        }
    }

    /// Another node has gone, and no node waits for its reply any more.
    fn on_parted(&mut self, peer: NodeId, out: &mut Out<Self>) {
        out.clause("parted");
        let place = self.here();
        place.others.remove(&peer);
        place.newcomers.remove(&peer);
        place.deferred.retain(|request| request.1 != peer);
        if let Some(asked) = &mut place.asked {
            asked.missing.remove(&peer);
        }
        self.enter_if_all_replied(out);
    }

    fn on_about_to_leave(&mut self, out: &mut Out<Self>) {
        out.clause("leave");
        let departs_anyway = !self.rules.has(HAND_ON);
        let place = self.here();
        place.leaving = true;
        if place.generation.is_some() || departs_anyway {
            self.depart(out);
        }
    }

    /// A node that leaves in its CS stops at once, and waits for the same elsewhere.
    fn depart(&mut self, out: &mut Out<Self>) {
        if self.section == Section::Critical {
            out.clause("leave.revoke");
            self.section = Section::Waiting;
            out.revoke(self.demand);
        }
        self.reply_to_deferred(out);
        self.place = None;
        out.depart();
    }
}

/// The lemmas: what the proof relies on.
impl RicartAgrawala {
    /// A node that uses the unit has asked for it and has all replies; one that has not asked lets no other wait.
    fn is_in_order(&self, place: &Place) -> Result<(), String> {
        let Self { me, section, .. } = self;
        let asked = place.asked.as_ref();
        if (*section == Section::Critical) != asked.is_some_and(|asked| asked.missing.is_empty()) {
            return Err(format!("node {me} is {section:?} and has asked {asked:?}"));
        }
        if asked.is_none() && !place.deferred.is_empty() {
            return Err(format!("node {me} lets {:?} wait, and wants nothing", place.deferred));
        }
        if asked.is_some_and(|asked| asked.number > self.highest) {
            return Err(format!("node {me} has asked under a number that it has not seen"));
        }
        Ok(())
    }

    /// This node is in its CS: no other is, all that others have asked for is later, and so is all that they may yet
    /// ask for. From this it follows that fences grow.
    fn is_first_of_all(&self, place: &Place, other: &Self, there: &Place) -> Result<(), String> {
        let (me, its) = (self.me, other.me);
        let mine = place.asked.as_ref().map_or(0, |asked| asked.number);
        if other.section == Section::Critical {
            return Err(format!("nodes {me} and {its} are in their CS at once"));
        }
        if let Some(asked) = there.asked.as_ref().filter(|asked| (asked.number, its) < (mine, me)) {
            return Err(format!("node {me} was let in with {mine} before node {its} with {}", asked.number));
        }
        if there.generation.is_some() && other.highest < mine {
            return Err(format!("node {its} would ask with {} or more, and node {me} has {mine}", other.highest + 1));
        }
        Ok(())
    }

    /// The other node has not replied to this one, and will: the request is on its way, or deferred, or the reply is
    /// on its way.
    fn will_be_answered(
        &self,
        place: &Place,
        other: &Self,
        there: &Place,
        moment: &Moment<'_, Self>,
    ) -> Result<(), String> {
        let Some(Asked { number, .. }) = place.asked else { return Ok(()) };
        if place.others.get(&other.me) != Some(&there.life) {
            return Ok(()); // It will hear that the other has gone, and come back.
        }
        let is_it = |flight: &Flight<'_, Message>| match *flight.message {
            Message::Request { number: asked } => (flight.from, flight.to, asked) == (self.me, other.me, number),
            Message::Reply { number: answered } => (flight.from, flight.to, answered) == (other.me, self.me, number),
            Message::Welcome { .. } => false,
        };
        if there.deferred.contains(&(number, self.me)) || moment.flights.iter().any(is_it) {
            return Ok(());
        }
        Err(format!("node {} waits for a reply of node {}, which does not know of it", self.me, other.me))
    }
}

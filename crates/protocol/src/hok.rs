//! Prioritized h-out-of-k: many units at once, the most urgent request first.
//!
//! J.-R. Jiang: "A prioritized h-out of-k mutual exclusion algorithm with maximum degree of concurrency for mobile ad
//! hoc networks and distributed systems", PDCAT 2003. The paper has no pseudocode; this file follows its event-driven
//! procedures and the procedures that they call, in their order and with their names. A mark such as `recv-request.4`
//! is the fourth sentence of that paragraph, as docs/papers/hok.md numbers and quotes them.
//!
//! One token goes round on a link-reversal DAG ([`crate::dag`]) and carries the units that are free. A node that wants
//! h of them sends a REQUEST downhill; every node keeps the requests that came through it in a priority queue, and
//! tells `next` when the front of its queue changes. The holder sends the token towards the front of its queue; a
//! holder that is at the front itself waits with the token until h units are free, takes them, and passes the token on
//! at once, so that others enter too. A RELEASE follows the token downhill.
//!
//! Assumed below: reliable FIFO links with exact indications ([`crate::link`]). Units in flight on a link that fails
//! come back to their sender, or arrive over another way from a former neighbour (the paper excludes both).
//!
//! Deviations are the [`repair`]s, each of which can be switched off; without any of them this is the paper's prose
//! read literally, and charitably where it is undefined: without neighbours there is none to send to, and "calls
//! `giveTokenToFrontOfQ()` if |Q| = 0" of the token's receipt means "if |Q| > 0".

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::dag::{Dag, pacing};
use crate::height::Height;
use crate::{
    Charter, Claims, Constant, Demand, Deployment, Grant, Harm, LinkEvent, Moment, NodeId, Out, Permits, Protocol,
    Repair, Repairs, Section, Status, Units, Urgency,
};

mod lemmas;
mod message;
mod policy;
mod queue;
pub mod repair;
#[cfg(test)]
mod tests;

pub use crate::dag::Timer;
pub use message::{Message, Token};
pub use policy::{Grants, Policy, Rank};
use queue::RequestQueue;

/// Which of the algorithms of this file, and with which constants of our own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Variant {
    /// Which request goes first.
    pub policy: Policy,
    /// Of [`repair::PACE`].
    pub limits: pacing::Limits,
}

impl Variant {
    /// With the usual constants.
    pub const fn new(policy: Policy) -> Self {
        Self { policy, limits: pacing::Limits::USUAL }
    }
}

impl Charter<Variant> {
    /// Of reversals, with [`repair::PACE`].
    fn limits(&self) -> Option<pacing::Limits> {
        self.repairs.has(repair::PACE).then_some(self.variant.limits)
    }
}

/// What a node stores.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Durable {
    /// Of the node in the DAG: one that came back far above or below the others would have them all move. An older one
    /// does as well.
    pub height: Height,
    /// The token, if it has it: no other node does.
    pub token: Option<Token>,
    /// The units that are in use: an application outlives its node.
    pub in_use: Permits,
    /// The units that are on their way back, and have no way yet.
    pub released: Permits,
    /// How many grants it had heard of: requests that it makes with less would go before older ones. An older count
    /// does as well, as that of a node that has heard little.
    pub grants: Grants,
}

/// A node of prioritized h-out-of-k.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Hok {
    /// *i*.
    id: NodeId,
    /// *k*.
    k: u32,
    /// *state*: NCS, ES or CS.
    state: Section,
    /// *N*, *height*, *htVector*, *receivedLINK*, *forming* and *formHeight*.
    dag: Dag,
    /// *next*: itself while it holds the token, else the neighbour that was asked for it, or that it was sent to.
    next: Option<NodeId>,
    /// The rank that `next` was last told. The paper's UPDATE needs no such memory; [`repair::UPDATE_FRONT`] does.
    told: Option<Rank>,
    /// *tokenHolder*, and the token while it is true.
    token: Option<Token>,
    /// *Q*.
    queue: RequestQueue,
    /// *h*, while it waits.
    wanted: Option<Units>,
    /// The units that the application uses.
    in_use: Permits,
    /// Units that are to go to the token, and have no way yet.
    released: Permits,
    /// Its token came late: as long as it keeps it, it goes below every neighbour.
    sinks: bool,
    /// How many grants it has heard of.
    grants: Grants,
    policy: Policy,
    repairs: Repairs,
}

impl Protocol for Hok {
    type Message = Message;
    type View = LinkEvent;
    type Timer = Timer;
    type Variant = Variant;
    type Durable = Durable;

    const KINDS: &'static [&'static str] = &["request", "release", "update", "token", "link"];
    const REPAIRS: &'static [Repair] = repair::LIST;
    const CLAIMS: Claims = Claims::to_stand(&[Harm::Restart]);

    /// "There is a unique token held by node 0 initially", and t = k.
    fn deploy(deployment: &Deployment, variant: Variant, repairs: Repairs) -> Vec<Self> {
        let charter = Charter::new(deployment.k, variant, repairs);
        let is_holder = |id: NodeId| id == NodeId(0);
        let node = |(id, dag): (NodeId, Dag)| {
            let lowest = dag.lowest_neighbour(|_| true).map(|at| dag.neighbours[at].id);
            let token = is_holder(id).then(|| Token::new(deployment.k, 0));
            let next = if is_holder(id) { Some(id) } else { lowest };
            Self { dag, next, token, ..Self::blank(id, &charter) }
        };
        deployment.ids().zip(Dag::deploy(deployment, is_holder, charter.limits())).map(node).collect()
    }

    fn blank(me: NodeId, charter: &Charter<Variant>) -> Self {
        Self {
            id: me,
            k: charter.k,
            state: Section::Remainder,
            dag: Dag::alone(Height::new(0, 0, me), charter.limits()),
            next: None,
            told: None,
            token: None,
            queue: RequestQueue::default(),
            wanted: None,
            in_use: Permits::NONE,
            released: Permits::NONE,
            sinks: false,
            grants: Grants::default(),
            policy: charter.variant.policy,
            repairs: charter.repairs,
        }
    }

    fn mint(&mut self, k: u32, generation: u32, out: &mut Out<Self>) {
        self.token = Some(Token::new(k, generation));
        self.keep_or_give(out);
    }

    fn durable(&self) -> Durable {
        let Self { token, in_use, released, grants, .. } = *self;
        Durable { height: self.dag.my_height, token, in_use, released, grants }
    }

    /// What an application of an earlier life was granted is in use until it is known that it is not.
    fn restore(me: NodeId, charter: &Charter<Variant>, durable: Durable, _out: &mut Out<Self>) -> Self {
        let Durable { height, token, in_use, released, grants } = durable;
        let state = if in_use.is_empty() { Section::Remainder } else { Section::Critical };
        let (next, sinks) = (token.map(|_| me), token.is_some());
        let dag = Dag::alone(height, charter.limits());
        Self { state, dag, next, token, in_use, released, sinks, grants, ..Self::blank(me, charter) }
    }

    fn urgency(variant: Variant) -> Urgency {
        variant.policy.urgency()
    }

    fn constants(variant: Variant) -> Vec<Constant<Variant>> {
        let mut constants = pacing::constants(|of: &mut Variant| &mut of.limits.patience, |of| &mut of.limits.pause);
        if let Policy::FewestUnits { .. } = variant.policy {
            let says = "how many grants of waiting a unit less is worth";
            constants.push(Constant::count("unit", |of| of.policy.worth_of_a_unit(), 1..=10_000, says));
        }
        constants
    }

    fn at_small_scale(variant: Variant) -> Variant {
        let policy = match variant.policy {
            Policy::FewestUnits { .. } => Policy::FewestUnits { unit: 1 },
            policy => policy,
        };
        Variant { policy, limits: pacing::Limits::SMALL }
    }

    fn request(&mut self, demand: Demand, out: &mut Out<Self>) {
        self.on_request_cs(demand, out);
        self.catch_up(out);
    }

    fn release(&mut self, out: &mut Out<Self>) {
        self.on_release_cs(out);
        self.catch_up(out);
    }

    fn message(&mut self, from: NodeId, message: Message, out: &mut Out<Self>) {
        if message.height().id != from {
            // No node speaks of another node's height: a forged message is as good as none.
            return;
        }
        if self.ages_by_grants() {
            self.grants = self.grants.max(message.grants());
        }
        match message {
            Message::Update { rank, .. } => self.on_update(from, rank, out),
            Message::Request { height, rank, .. } => self.on_request(from, height, rank, out),
            Message::Token { .. } | Message::Release { .. } if !self.dag.is_neighbour(from) => {
                self.on_units_astray(true, &message, out);
            }
            Message::Release { permits, .. } => self.on_release(permits, out),
            Message::Token { height, token, asks, .. } => self.on_token(from, height, token, asks, out),
            Message::Link { height, acknowledges, .. } => {
                self.on_link(from, height, acknowledges == Some(self.id), out);
            }
        }
        self.catch_up(out);
    }

    fn undelivered(&mut self, _to: NodeId, message: Message, out: &mut Out<Self>) {
        self.on_units_astray(false, &message, out);
        self.catch_up(out);
    }

    fn timer(&mut self, timer: Timer, out: &mut Out<Self>) {
        match timer {
            Timer::Pace => self.on_pace(out),
            Timer::Rest => {}
        }
        self.catch_up(out);
    }

    fn below(&mut self, view: LinkEvent, out: &mut Out<Self>) {
        match view {
            LinkEvent::Up { peer, .. } => self.on_link_forming(peer, out),
            LinkEvent::Down { peer, .. } => self.on_link_failing(peer, out),
        }
        self.catch_up(out);
    }

    /// "h > k" would block all others behind it for ever: such a request is turned away.
    fn units_max(&self) -> Units {
        Units::new(self.k).unwrap_or(Units::ONE)
    }

    fn held(&self) -> Permits {
        self.token.map_or(Permits::NONE, |token| token.free).union(self.in_use).union(self.released)
    }

    fn has_token(&self) -> bool {
        self.token.is_some()
    }

    fn section(&self) -> Section {
        self.state
    }

    fn status(&self) -> Status {
        Status {
            section: self.state,
            permits: self.held(),
            queue: self.queue.entries().iter().map(|entry| entry.node).collect(),
            waits_on: self.next.filter(|_| !self.queue.is_empty() && !self.token_holder()),
            height: Some(self.dag.my_height),
        }
    }

    fn permits(message: &Message) -> Permits {
        match message {
            Message::Token { token, .. } => token.free,
            Message::Release { permits, .. } => *permits,
            Message::Request { .. } | Message::Update { .. } | Message::Link { .. } => Permits::NONE,
        }
    }

    fn is_token(message: &Message) -> bool {
        matches!(message, Message::Token { .. })
    }

    fn kind(message: &Message) -> usize {
        match message {
            Message::Request { .. } => 0,
            Message::Release { .. } => 1,
            Message::Update { .. } => 2,
            Message::Token { .. } => 3,
            Message::Link { .. } => 4,
        }
    }

    fn invariant(moment: &Moment<'_, Self>) -> Result<(), String> {
        lemmas::hold(moment)
    }
}

/// The event-driven procedures, in the paper's order.
impl Hok {
    /// Requesting h copies of resources with priority p.
    fn on_request_cs(&mut self, demand: Demand, out: &mut Out<Self>) {
        out.clause("request.1");
        self.queue.put(self.id, self.policy.rank(demand, self.grants));
        self.wanted = Some(demand.units);
        self.state = Section::Waiting;
        if self.token_holder() {
            out.clause("request.3");
            self.give_token_to_front(out);
        } else if self.queue.len() == 1 {
            out.clause("request.2");
            self.forward_request(out);
        }
    }

    /// Receiving a priority update message.
    fn on_update(&mut self, j: NodeId, rank: Rank, out: &mut Out<Self>) {
        if !self.queue.contains(j) {
            return;
        }
        out.clause("recv-update.1");
        let front = self.queue.front();
        self.queue.put(j, rank);
        if self.token_holder() && self.repairs.has(repair::KEEP_OWN) {
            self.give_token_to_front(out);
        }
        if self.token_holder() || self.repairs.has(repair::UPDATE_FRONT) {
            return;
        }
        let moved = front.is_some_and(|before| before.node != j);
        if moved && self.queue.front().is_some_and(|now| now.node == j) {
            out.clause("recv-update.2");
            self.update(rank, out);
        }
    }

    /// Releasing r copies of resources.
    fn on_release_cs(&mut self, out: &mut Out<Self>) {
        if !self.ages_by_grants() && self.policy.ages() {
            out.clause("aging");
            self.queue.age();
        }
        out.clause("release.1");
        self.state = Section::Remainder;
        let permits = core::mem::take(&mut self.in_use);
        if let Some(token) = &mut self.token {
            out.clause("release.3");
            token.free = token.free.union(permits);
            if self.repairs.has(repair::RELEASE_SERVES) {
                self.give_token_to_front(out);
            }
        } else {
            out.clause("release.2");
            self.forward_release(permits, out);
        }
    }

    /// Receiving a request message.
    fn on_request(&mut self, j: NodeId, h: Height, rank: Rank, out: &mut Out<Self>) {
        let Some(at) = self.dag.position(j) else { return };
        if self.dag.neighbours[at].unacknowledged > 0 {
            // The token is on its way to j, which will ask again if that does not do.
            out.clause("recv-request.1");
            return;
        }
        out.clause("recv-request.2");
        self.dag.neighbours[at].height = h;
        if self.dag.my_height < h {
            out.clause("recv-request.3");
            self.queue.put(j, rank);
        }
        if self.token_holder() {
            let may_give = self.state != Section::Critical || self.repairs.has(repair::SHARE_IN_CS);
            if !self.queue.is_empty() && may_give {
                out.clause("recv-request.4");
                self.give_token_to_front(out);
            }
        } else if self.is_first(j) || self.must_reroute() {
            out.clause("recv-request.5");
            self.forward_request(out);
        } else if !self.repairs.has(repair::UPDATE_FRONT) && self.queue.front().is_some_and(|front| front.node == j) {
            out.clause("recv-request.6");
            self.update(rank, out);
        }
    }

    /// Receiving a release message.
    fn on_release(&mut self, permits: Permits, out: &mut Out<Self>) {
        let Some(token) = &mut self.token else {
            out.clause("recv-release.5");
            self.forward_release(permits, out);
            return;
        };
        out.clause("recv-release.1");
        token.free = token.free.union(permits);
        if self.repairs.has(repair::KEEP_OWN) {
            self.give_token_to_front(out);
        } else if self.state == Section::Waiting && !self.queue.contains(self.id) {
            // "i is waiting for t >= h (within the giveTokenToFrontOfQ() procedure)".
            out.clause("recv-release.2");
            self.enter_or_wait(out);
        }
    }

    /// Receiving the token message.
    fn on_token(&mut self, j: NodeId, h: Height, token: Token, asks: Option<Rank>, out: &mut Out<Self>) {
        out.clause("recv-token.1");
        self.token = Some(token);
        self.dag.reset_pace(out);
        if let Some(at) = self.dag.position(j) {
            self.dag.neighbours[at].height = h;
        }
        out.clause("recv-token.2");
        self.dag.my_height = self.dag.my_height.min(h.just_below(self.id));
        self.tell_all(Some(j), out);
        if let Some(rank) = asks {
            out.clause("token-asks");
            self.queue.put(j, rank);
        }
        self.keep_or_give(out);
    }

    /// Receiving a link information message.
    fn on_link(&mut self, j: NodeId, h: Height, acknowledges: bool, out: &mut Out<Self>) {
        let Some(at) = self.dag.position(j) else { return };
        out.clause("recv-link.1");
        self.note_height(at, h, acknowledges, out);
        if self.queue.contains(j) && self.dag.my_height > self.dag.neighbours[at].height {
            out.clause("recv-link.2");
            self.queue.delete(j);
        }
        if self.token_holder() {
            self.sink(out);
        } else if self.dag.has_no_lower_neighbour() {
            out.clause("recv-link.3");
            self.raise_height(out);
        } else if self.must_reroute() {
            out.clause("recv-link.4");
            self.forward_request(out);
        }
    }

    /// What counts of the height that j reports, and whether it has to be told this node's height again.
    fn note_height(&mut self, at: usize, h: Height, acknowledges: bool, out: &mut Out<Self>) {
        let my_height = self.dag.my_height;
        let neighbour = &mut self.dag.neighbours[at];
        neighbour.known = true;
        if acknowledges && neighbour.unacknowledged > 0 {
            neighbour.unacknowledged -= 1;
        }
        if neighbour.unacknowledged == 0 {
            neighbour.height = h;
        }
        let changed = neighbour.forming.take().is_some_and(|form_height| form_height != my_height);
        if changed && self.repairs.has(repair::FORMING) {
            out.clause("forming");
            self.send(at, |height, grants| Message::Link { height, grants, acknowledges: None }, out);
        }
    }

    /// Link failing.
    fn on_link_failing(&mut self, j: NodeId, out: &mut Out<Self>) {
        out.clause("link-failing.1");
        self.dag.fail(j);
        self.queue.delete(j);
        self.dag.reset_pace(out);
        if self.repairs.has(repair::PENDING_REQUEST) && self.next == Some(j) {
            self.next = None;
        }
        if self.token_holder() {
            return;
        }
        if self.dag.has_no_lower_neighbour() {
            out.clause("link-failing.3");
            self.raise_height(out);
        } else if !self.queue.is_empty() && !self.next.is_some_and(|next| self.dag.is_neighbour(next)) {
            out.clause("link-failing.4");
            self.forward_request(out);
        }
    }

    /// Link forming.
    fn on_link_forming(&mut self, j: NodeId, out: &mut Out<Self>) {
        out.clause("link-forming.1");
        let at = self.dag.form(j);
        self.send(at, |height, grants| Message::Link { height, grants, acknowledges: None }, out);
        if self.dag.reset_pace(out) {
            self.reverse_if_needed(out);
        }
    }

    /// Not in the paper, which assumes that it does not happen: the link failed under the token or a release, which
    /// turns up at one of the two. The height that it was sent under says nothing about any neighbour, and its sender
    /// can ask no more. A receiver to which the token comes late may be far above its neighbours, as it was not led to;
    /// unless it goes below them, all of them would have to climb over it.
    fn on_units_astray(&mut self, is_late: bool, message: &Message, out: &mut Out<Self>) {
        if !self.repairs.has(repair::RECLAIM) {
            return;
        }
        match *message {
            Message::Token { token, .. } => {
                out.clause(if is_late { "token-late" } else { "undelivered" });
                self.token = Some(token);
                self.dag.reset_pace(out);
                self.sinks |= is_late;
                self.sink(out);
                self.keep_or_give(out);
            }
            Message::Release { permits, .. } => self.on_release(permits, out),
            Message::Request { .. } | Message::Update { .. } | Message::Link { .. } => {}
        }
    }
}

/// The procedures that they call, in the paper's order.
impl Hok {
    /// Procedure `giveTokenToFrontOfQ()`. With [`repair::KEEP_OWN`] the front is dequeued when it is served, not
    /// before.
    fn give_token_to_front(&mut self, out: &mut Out<Self>) {
        let Some(front) = self.queue.front() else { return };
        out.clause("give-token.1");
        if front.node == self.id {
            if !self.repairs.has(repair::KEEP_OWN) {
                self.queue.delete(self.id);
            }
            self.enter_or_wait(out);
            return;
        }
        let (Some(at), Some(token)) = (self.dag.position(front.node), self.token) else {
            debug_assert!(false, "called by a holder, and Q holds none but neighbours");
            return;
        };
        self.queue.delete(front.node);
        self.next = Some(front.node);
        out.clause("give-token.7");
        self.dag.reset_pace(out);
        self.dag.hand_down(at);
        if !self.repairs.has(repair::RECEIVED_LINK) {
            self.dag.neighbours[at].unacknowledged = 0;
        }
        out.clause("give-token.8");
        (self.token, self.sinks) = (None, false);
        self.told = self.queue.front().map(|front| front.rank);
        let asks = self.told.filter(|_| self.repairs.has(repair::TOKEN_ASKS));
        self.send(at, |height, grants| Message::Token { height, grants, token, asks }, out);
        if let Some(rank) = self.told.filter(|_| asks.is_none()) {
            out.clause("give-token.9");
            self.send(at, |height, grants| Message::Request { height, grants, rank }, out);
        }
    }

    /// Sentences 2 to 5 of `giveTokenToFrontOfQ()`: the front is this node itself.
    fn enter_or_wait(&mut self, out: &mut Out<Self>) {
        let (Some(token), Some(wanted)) = (&mut self.token, self.wanted) else {
            debug_assert!(false, "called by a holder that waits");
            return;
        };
        self.next = Some(self.id);
        out.clause("give-token.2");
        if token.free.count() < wanted.count() {
            out.clause("give-token.4");
            return;
        }
        out.clause("give-token.3");
        let permits = token.free.lowest(wanted.count());
        token.free = token.free.without(permits);
        token.fence = token.fence.next();
        let grant = Grant { permits, fence: token.fence };
        if self.ages_by_grants() {
            self.grants = self.grants.next();
        }
        self.queue.delete(self.id);
        self.wanted = None;
        self.in_use = permits;
        self.state = Section::Critical;
        out.grant(grant);
        out.clause("give-token.5");
        self.give_token_to_front(out);
    }

    /// What a node does with the token that it has just got.
    fn keep_or_give(&mut self, out: &mut Out<Self>) {
        self.next = Some(self.id);
        self.told = None;
        let kept = core::mem::take(&mut self.released);
        if let Some(token) = &mut self.token {
            token.free = token.free.union(kept);
        }
        self.give_token_to_front(out);
    }

    /// Procedure `raiseHeight()`.
    fn raise_height(&mut self, out: &mut Out<Self>) {
        let Some(raised) = self.dag.raise(out) else {
            // Whatever was asked of a neighbour that is higher now, or gone, cannot be asked anew yet.
            self.forget_next();
            return;
        };
        out.clause("raise-height.2");
        self.tell_all(None, out);
        for neighbour in self.dag.neighbours.iter().filter(|neighbour| neighbour.known && neighbour.height < raised) {
            self.queue.delete(neighbour.id);
        }
        if !self.queue.is_empty() {
            out.clause("raise-height.4");
            self.forward_request(out);
        }
    }

    /// Procedure `forwardRequest()`. With [`repair::PENDING_REQUEST`] only downhill: a higher neighbour would not
    /// listen, and the reversal that is due will send it then.
    fn forward_request(&mut self, out: &mut Out<Self>) {
        let lowest = self.lowest_neighbour(self.repairs.has(repair::PENDING_REQUEST));
        let (Some(lowest), Some(front)) = (lowest, self.queue.front()) else {
            self.forget_next();
            return;
        };
        out.clause("forward-request.1");
        self.next = Some(self.dag.neighbours[lowest].id);
        self.told = Some(front.rank);
        self.send(lowest, |height, grants| Message::Request { height, grants, rank: front.rank }, out);
    }

    /// Procedure `forwardRelease(r)`.
    fn forward_release(&mut self, permits: Permits, out: &mut Out<Self>) {
        let keeps = self.repairs.has(repair::KEEP_RELEASE);
        let Some(at) = self.lowest_neighbour(keeps) else {
            if keeps {
                self.released = self.released.union(permits);
            }
            return;
        };
        out.clause("forward-release.1");
        if !self.repairs.has(repair::RELEASE_ASIDE) {
            self.next = Some(self.dag.neighbours[at].id);
        }
        self.send(at, |height, grants| Message::Release { height, grants, permits }, out);
    }
}

/// What the paper leaves open.
impl Hok {
    /// After every event, a node without the token makes up for what could not be said before: units that had no way to
    /// the token, and a front of Q that `next` does not know of.
    fn catch_up(&mut self, out: &mut Out<Self>) {
        if self.token_holder() {
            return;
        }
        if !self.released.is_empty() {
            let permits = core::mem::take(&mut self.released);
            self.forward_release(permits, out);
        }
        let Some(front) = self.queue.front() else { return };
        if self.repairs.has(repair::UPDATE_FRONT) && self.next.is_some() && self.told != Some(front.rank) {
            out.clause("update");
            self.update(front.rank, out);
        }
    }

    /// Sends UPDATE(i, u) to `next`.
    fn update(&mut self, rank: Rank, out: &mut Out<Self>) {
        let next = self.next.and_then(|next| self.dag.position(next)).filter(|&at| self.dag.neighbours[at].known);
        if let Some(at) = next {
            self.told = Some(rank);
            self.send(at, |height, grants| Message::Update { height, grants, rank }, out);
        }
    }

    /// A holder to which the links do not lead goes below all its neighbours.
    fn sink(&mut self, out: &mut Out<Self>) {
        if self.sinks && self.dag.sink().is_some() {
            self.tell_all(None, out);
        }
    }

    /// The pause between reversals is over.
    fn on_pace(&mut self, out: &mut Out<Self>) {
        self.dag.begin_turn();
        self.reverse_if_needed(out);
        self.dag.end_turn();
    }

    /// The reversal that had to wait, if it is still needed; else the request that waited with it.
    fn reverse_if_needed(&mut self, out: &mut Out<Self>) {
        if self.token_holder() {
            return;
        }
        if self.dag.has_no_lower_neighbour() {
            self.raise_height(out);
        } else if self.must_reroute() {
            self.forward_request(out);
        }
    }

    /// The lowest neighbour, if need be only if it is lower than this node.
    fn lowest_neighbour(&self, downhill_only: bool) -> Option<usize> {
        let lowest = self.dag.lowest_neighbour(|_| true);
        lowest.filter(|&at| !downhill_only || self.dag.neighbours[at].height < self.dag.my_height)
    }

    /// *tokenHolder*.
    fn token_holder(&self) -> bool {
        self.token.is_some()
    }

    /// Whether requests age by the grants that are heard of, and not as the paper has it.
    fn ages_by_grants(&self) -> bool {
        self.policy.ages() && self.repairs.has(repair::AGE_BY_GRANTS)
    }

    /// *Q is non-empty and the link to next has reversed*: the request that was sent to `next` will not be served. With
    /// [`repair::PENDING_REQUEST`] the same holds when there is no `next`.
    fn must_reroute(&self) -> bool {
        if self.queue.is_empty() {
            return false;
        }
        match self.next {
            Some(next) => self.dag.is_below(next),
            None => self.repairs.has(repair::PENDING_REQUEST),
        }
    }

    /// *|Q| = 1*, of the request that has just come from j.
    fn is_first(&self, j: NodeId) -> bool {
        self.queue.len() == 1 && (self.queue.contains(j) || !self.repairs.has(repair::ASK_ONCE))
    }

    fn forget_next(&mut self) {
        if self.repairs.has(repair::PENDING_REQUEST) {
            self.next = None;
        }
    }

    /// LINK messages to all neighbours, as one broadcast.
    fn tell_all(&mut self, acknowledges: Option<NodeId>, out: &mut Out<Self>) {
        let (height, grants) = (self.dag.my_height, self.grants);
        out.multicast(self.dag.tell(height, |_| true), &Message::Link { height, grants, acknowledges });
    }

    /// Sends a message with this node's height, which counts for the receiver unless it is a RELEASE or an UPDATE, and
    /// with how many grants this node has heard of.
    fn send(&mut self, at: usize, message: impl FnOnce(Height, Grants) -> Message, out: &mut Out<Self>) {
        let message = message(self.dag.my_height, self.grants);
        let neighbour = &mut self.dag.neighbours[at];
        if !matches!(message, Message::Release { .. } | Message::Update { .. }) {
            neighbour.told = self.dag.my_height;
        }
        out.send(neighbour.id, message);
    }
}

//! KRL and KRLF: k tokens on a link-reversal DAG.
//!
//! J. E. Walter, G. Cao, M. Mohanty: "A K-Mutual Exclusion Algorithm for Wireless Ad Hoc Networks", POMC 2001. This
//! file reads beside the paper's appendix: the same modules in the same order, with the same names; a mark such as
//! `recv-token.5` is line 5 of "When Token(h) received". The forwarding modules are in [`mod@forwarding`].
//!
//! Every node has a [`Height`]; a link is directed from the higher to the lower end. A node that wants the resource
//! asks its lowest neighbour, which asks its lowest neighbour, and so on down to a token holder; the tokens come back
//! along the queues that the requests left behind, and a node that receives one goes below its sender:
//!
//! ```text
//!      2 ──Request──▶ 1 ──Request──▶ 0 (token)        heights: 2 > 1 > 0
//!      2 ◀──Token──── 1 ◀──Token──── 0
//!      2 ──LinkInfo─▶ 1 ──LinkInfo─▶ 0                heights: 0 > 1 > 2
//! ```
//!
//! A node without token that has no lower neighbour raises its height, a holder that has no higher neighbour lowers it;
//! `LinkInfo` tells the neighbours.
//!
//! Assumed below: reliable FIFO links with exact indications ([`crate::link`]). A token in flight on a link that fails
//! comes back to its sender, or arrives over another way from a former neighbour (the paper excludes both).
//!
//! Deviations are the [`repair`]s, each of which can be switched off; without any of them this is the appendix as
//! published, in the most charitable reading where it is undefined: without neighbours, `RaiseHeight`, `LowerHeight`,
//! `ForwardRequest` and `PickLowest` do nothing; `height[next]` of something that is no neighbour is not higher; and a
//! token holder, whose `next` is itself, reroutes no requests.

use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use serde::{Deserialize, Serialize};

use crate::dag::{Dag, Neighbour, pacing};
use crate::height::Height;
use crate::{
    Charter, Claims, Constant, Demand, Deployment, Grant, Harm, LinkEvent, Moment, NodeId, Out, Permit, Permits,
    Protocol, Repair, Repairs, Section, Status, Units,
};

pub mod forwarding;
mod lemmas;
mod message;
pub mod repair;
#[cfg(test)]
mod tests;

pub use crate::dag::Timer;
pub use forwarding::Forwarding;
pub use message::{Message, Token};

/// Which of the algorithms of this file, and with which constants of our own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Variant {
    /// What tells KRL and KRLF apart.
    pub forwarding: Forwarding,
    /// Of [`repair::PACE`].
    pub limits: pacing::Limits,
    /// How long a token that no node wants stays at a node before KRLF sends it on. In the paper it does not stay.
    pub rest: Duration,
}

impl Variant {
    /// With the usual constants.
    pub const fn new(forwarding: Forwarding) -> Self {
        Self { forwarding, limits: pacing::Limits::USUAL, rest: Duration::ZERO }
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
    /// *myHeight*: a holder that came back far above the others would have them all climb over it. An older one does as
    /// well.
    pub height: Height,
    /// The tokens that it holds: no other node has them.
    pub idle: Vec<Token>,
    /// The token that is in use: an application outlives its node.
    pub in_use: Option<Token>,
}

/// A node of KRL, KRLF or the adaptive variant.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Krl {
    /// *i*.
    id: NodeId,
    /// *status*.
    status: Section,
    /// *N*, *myHeight*, *height*, *receivedLI*, *forming*, *formHeight* and *visited*.
    dag: Dag,
    /// The tokens held and not in use. *numTokens* counts these and the one in use, *tokenHolder* says that there is
    /// one.
    idle: Vec<Token>,
    /// The token under which the application is in the CS: it cannot be given away.
    in_use: Option<Token>,
    /// *next*: itself while it holds a token, else the neighbour a request or token was last sent to.
    next: Option<NodeId>,
    /// *Q*.
    queue: VecDeque<NodeId>,
    forwarding: Forwarding,
    rest: Duration,
    /// Whether [`Timer::Rest`] is armed.
    rests: bool,
    load: forwarding::PerceivedLoad,
    repairs: Repairs,
}

impl Protocol for Krl {
    type Message = Message;
    type View = LinkEvent;
    type Timer = Timer;
    type Variant = Variant;
    type Durable = Durable;

    const KINDS: &'static [&'static str] = &["request", "token", "link_info"];
    const REPAIRS: &'static [Repair] = repair::LIST;
    const CLAIMS: Claims = Claims::to_stand(&[Harm::Restart]);

    /// Nodes `0..k` start with a token each. With fewer nodes than tokens, the tokens go round.
    fn deploy(deployment: &Deployment, variant: Variant, repairs: Repairs) -> Vec<Self> {
        let (k, charter) = (deployment.k, Charter::new(deployment.k, variant, repairs));
        let places = Dag::deploy(deployment, |id| id.0 < k, charter.limits());
        let node = |(id, dag): (NodeId, Dag)| {
            let is_here = |permit: &Permit| permit.index() % deployment.nodes as usize == id.index();
            let mut node = Self { dag, ..Self::blank(id, &charter) };
            node.idle = Permits::first(k).iter().filter(is_here).map(|permit| Token::new(permit, 0)).collect();
            let lowest = node.dag.lowest_neighbour(|_| true).map(|at| node.dag.neighbours[at].id);
            node.next = if node.token_holder() { Some(id) } else { lowest };
            node
        };
        deployment.ids().zip(places).map(node).collect()
    }

    fn blank(me: NodeId, charter: &Charter<Variant>) -> Self {
        let Variant { forwarding, rest, .. } = charter.variant;
        Self {
            id: me,
            status: Section::Remainder,
            dag: Dag::alone(Height::new(0, 0, me), charter.limits()),
            idle: Vec::new(),
            in_use: None,
            next: None,
            queue: VecDeque::new(),
            forwarding,
            rest,
            rests: false,
            load: forwarding::PerceivedLoad::default(),
            repairs: charter.repairs,
        }
    }

    fn mint(&mut self, k: u32, generation: u32, out: &mut Out<Self>) {
        self.idle.extend(Permits::first(k).iter().map(|permit| Token::new(permit, generation)));
        self.serve_or_keep(None, out);
    }

    fn durable(&self) -> Durable {
        Durable { height: self.dag.my_height, idle: self.idle.clone(), in_use: self.in_use }
    }

    /// What an application of an earlier life was granted is in use until it is known that it is not.
    fn restore(me: NodeId, charter: &Charter<Variant>, durable: Durable, _out: &mut Out<Self>) -> Self {
        let Durable { height, idle, in_use } = durable;
        let status = if in_use.is_some() { Section::Critical } else { Section::Remainder };
        let next = (in_use.is_some() || !idle.is_empty()).then_some(me);
        let dag = Dag::alone(height, charter.limits());
        Self { status, dag, idle, in_use, next, ..Self::blank(me, charter) }
    }

    fn constants(variant: Variant) -> Vec<Constant<Variant>> {
        let mut constants = pacing::constants(|of: &mut Variant| &mut of.limits.patience, |of| &mut of.limits.pause);
        if variant.forwarding == Forwarding::Always {
            constants.push(Constant::pause(
                "rest",
                |of| &mut of.rest,
                "of an idle token at each node; over radios 0.25 s",
            ));
        }
        constants
    }

    fn at_small_scale(variant: Variant) -> Variant {
        Variant { limits: pacing::Limits::SMALL, ..variant }
    }

    fn over_radios(variant: Variant) -> Variant {
        let forwards = variant.forwarding == Forwarding::Always;
        Variant { rest: if forwards { forwarding::REST } else { variant.rest }, ..variant }
    }

    fn request(&mut self, _demand: Demand, out: &mut Out<Self>) {
        self.on_request_cs(out);
    }

    fn release(&mut self, out: &mut Out<Self>) {
        self.on_release_cs(out);
    }

    fn message(&mut self, from: NodeId, message: Message, out: &mut Out<Self>) {
        if message.height().id != from {
            // No node speaks of another node's height: a forged message is as good as none.
            return;
        }
        match message {
            Message::Request { height } => self.on_request(from, height, out),
            Message::Token { token, .. } if !self.dag.is_neighbour(from) => {
                self.on_token_astray(true, token, out);
            }
            Message::Token { height, token, onward } => self.on_token(from, height, token, onward, out),
            Message::LinkInfo { height, acknowledges } => {
                self.on_link_info(from, height, acknowledges == Some(self.id), out);
            }
        }
    }

    fn undelivered(&mut self, _to: NodeId, message: Message, out: &mut Out<Self>) {
        if let Message::Token { token, .. } = message {
            self.on_token_astray(false, token, out);
        }
    }

    fn timer(&mut self, timer: Timer, out: &mut Out<Self>) {
        match timer {
            Timer::Pace => self.on_pace(out),
            Timer::Rest => self.on_rest(out),
        }
    }

    fn below(&mut self, view: LinkEvent, out: &mut Out<Self>) {
        match view {
            LinkEvent::Up { peer, .. } => self.on_link_formation(peer, out),
            LinkEvent::Down { peer, .. } => self.on_link_failure(peer, out),
        }
    }

    fn units_max(&self) -> Units {
        Units::ONE
    }

    fn held(&self) -> Permits {
        self.idle
            .iter()
            .chain(&self.in_use)
            .fold(Permits::NONE, |held, token| held.union(Permits::single(token.permit)))
    }

    fn section(&self) -> Section {
        self.status
    }

    fn status(&self) -> Status {
        Status {
            section: self.status,
            permits: self.held(),
            queue: self.queue.iter().copied().collect(),
            waits_on: self.next.filter(|_| !self.queue.is_empty() && !self.token_holder()),
            height: Some(self.dag.my_height),
        }
    }

    fn permits(message: &Message) -> Permits {
        match message {
            Message::Token { token, .. } => Permits::single(token.permit),
            Message::Request { .. } | Message::LinkInfo { .. } => Permits::NONE,
        }
    }

    fn kind(message: &Message) -> usize {
        match message {
            Message::Request { .. } => 0,
            Message::Token { .. } => 1,
            Message::LinkInfo { .. } => 2,
        }
    }

    fn invariant(moment: &Moment<'_, Self>) -> Result<(), String> {
        lemmas::hold(moment)
    }
}

/// The modules of the appendix, in its order.
impl Krl {
    /// When node i requests access to the CS.
    fn on_request_cs(&mut self, out: &mut Out<Self>) {
        out.clause("request.1");
        self.status = Section::Waiting;
        self.enqueue(self.id);
        if self.token_holder() {
            out.clause("request.5");
            self.give_token_to_next(out);
        } else if self.queue.len() == 1 {
            out.clause("request.4");
            if self.dag.pace.paused && self.dag.has_no_lower_neighbour() {
                // No neighbour to ask: all are higher, and would not listen. The reversal that is due will send it.
                self.forget_next();
            } else {
                self.forward_request(out);
            }
        }
    }

    /// When node i releases the CS; both versions.
    fn on_release_cs(&mut self, out: &mut Out<Self>) {
        self.idle.extend(self.in_use.take());
        self.note_load();
        if !self.queue.is_empty() {
            out.clause("release.1");
            self.give_token_to_next(out);
        } else if self.forwarding != Forwarding::Off {
            out.clause("release-f.3");
            self.forward_idle_token(None, out);
        }
        out.clause("release.2");
        self.status = Section::Remainder;
        let may_lower = self.token_holder() || !self.repairs.has(repair::RELEASE_HOLDS);
        if self.forwarding == Forwarding::Off && may_lower && self.dag.has_no_higher_neighbour() {
            out.clause("release.4");
            self.lower_height(out);
        }
    }

    /// When Request(h) received at node i from node j.
    fn on_request(&mut self, j: NodeId, h: Height, out: &mut Out<Self>) {
        let Some(at) = self.dag.position(j) else { return };
        if self.dag.neighbours[at].unacknowledged > 0 {
            // A token is on its way to j, which will ask again if that does not do.
            out.clause("recv-request.1");
            return;
        }
        self.dag.neighbours[at].height = h;
        if self.dag.my_height < h {
            out.clause("recv-request.3");
            self.enqueue(j);
        }
        if self.token_holder() {
            // "status = REMAINDER, or CRITICAL with numTokens > 1" is: a token is not in use.
            if !self.queue.is_empty() && !self.idle.is_empty() {
                out.clause("recv-request.6");
                self.give_token_to_next(out);
            } else if self.repairs.has(repair::RECLAIM) && self.dag.has_no_higher_neighbour() {
                // A node that rose, then got its token back, may learn only now that it stands above all others.
                self.lower_height(out);
            }
        } else if self.dag.has_no_lower_neighbour() {
            out.clause("recv-request.9");
            self.raise_height(out);
        } else if (self.queue.len() == 1 && self.queue[0] == j) || self.must_reroute() {
            out.clause("recv-request.11");
            self.forward_request(out);
        }
        self.tell_if_crossed(at, out);
    }

    /// When Token(h) received at node i from node j; both versions.
    fn on_token(&mut self, j: NodeId, h: Height, token: Token, onward: Option<u8>, out: &mut Out<Self>) {
        out.clause("recv-token.1");
        self.idle.push(token);
        self.dag.reset_pace(out);
        if let Some(at) = self.dag.position(j) {
            self.dag.neighbours[at].height = h;
            self.dag.neighbours[at].visited = self.forwarding != Forwarding::Off;
        }
        let (before, lowered) = (self.dag.my_height, h.just_below(self.id));
        let lowers = before > h;
        if lowers {
            out.clause("recv-token.5");
            self.dag.my_height = lowered;
        }
        out.clause("recv-token.8");
        let height = if self.repairs.has(repair::ACKNOWLEDGE) { self.dag.my_height } else { lowered };
        let told_if_crossed = self.repairs.has(repair::LINK_INFO);
        let others = |k: &Neighbour| if told_if_crossed { k.has_crossed(lowered) } else { k.height < before };
        self.tell(height, Some(j), |k| k.id == j || (lowers && others(k)), out);
        if onward.is_some() {
            self.note_load();
        }
        self.serve_or_keep(onward, out);
    }

    /// When LinkInfo(h) received at node i from node j.
    fn on_link_info(&mut self, j: NodeId, h: Height, acknowledges: bool, out: &mut Out<Self>) {
        let Some(at) = self.dag.position(j) else { return };
        let my_height = self.dag.my_height;
        let neighbour = &mut self.dag.neighbours[at];
        neighbour.known = true;
        if neighbour.forming.take().is_some_and(|form_height| form_height != my_height) {
            out.clause("recv-link-info.3");
            self.send(at, Message::LinkInfo { height: my_height, acknowledges: None }, out);
        }
        self.note_height(at, h, acknowledges, out);
        if self.dag.my_height > self.dag.neighbours[at].height {
            out.clause("recv-link-info.7");
            self.delete(j);
        }
        if self.token_holder() {
            if self.dag.has_no_higher_neighbour() {
                out.clause("recv-link-info.10");
                self.lower_height(out);
            }
        } else if self.dag.has_no_lower_neighbour() {
            out.clause("recv-link-info.12");
            self.raise_height(out);
        } else if self.must_reroute() {
            out.clause("recv-link-info.14");
            self.forward_request(out);
        }
        self.tell_if_crossed(at, out);
    }

    /// Lines 5 and 6 of the `LinkInfo`'s receipt: what counts of the height that j reports.
    fn note_height(&mut self, at: usize, h: Height, acknowledges: bool, out: &mut Out<Self>) {
        let awaited =
            if self.repairs.has(repair::ACKNOWLEDGE) { acknowledges } else { self.dag.neighbours[at].height == h };
        let neighbour = &mut self.dag.neighbours[at];
        if neighbour.unacknowledged > 0 && awaited {
            out.clause("recv-link-info.6");
            neighbour.unacknowledged -= 1;
        }
        if neighbour.unacknowledged == 0 {
            out.clause("recv-link-info.5");
            neighbour.height = h;
        }
    }

    /// When failure of link to j detected at node i.
    fn on_link_failure(&mut self, j: NodeId, out: &mut Out<Self>) {
        out.clause("link-failure.1");
        self.dag.fail(j);
        self.delete(j);
        self.dag.reset_pace(out);
        if self.repairs.has(repair::PENDING_REQUEST) && self.next == Some(j) {
            self.next = None;
        }
        let holder_lowers = self.repairs.has(repair::HOLDER_LOWERS);
        if !self.token_holder() {
            if self.dag.has_no_lower_neighbour() {
                out.clause("link-failure.6");
                self.raise_height(out);
            } else if !self.queue.is_empty() && !self.next.is_some_and(|next| self.dag.is_neighbour(next)) {
                out.clause("link-failure.8");
                self.forward_request(out);
            } else if !holder_lowers && self.dag.has_no_higher_neighbour() {
                out.clause("link-failure.10");
                self.lower_height(out);
            }
        } else if holder_lowers && self.dag.has_no_higher_neighbour() {
            out.clause("link-failure.10");
            self.lower_height(out);
        }
    }

    /// When formation of link to j detected at node i; both versions.
    fn on_link_formation(&mut self, j: NodeId, out: &mut Out<Self>) {
        out.clause("link-formation.1");
        let at = self.dag.form(j);
        self.send(at, Message::LinkInfo { height: self.dag.my_height, acknowledges: None }, out);
        if self.dag.reset_pace(out) {
            self.reverse_if_needed(out);
        }
    }

    /// Not in the paper, which assumes that it does not happen: the link failed under a token, and it turns up at one
    /// of the two. The height that it was sent under says nothing about any neighbour. A receiver to which it comes
    /// late may be far above its neighbours, as it was not led to; unless it goes below them, all of them would have to
    /// climb over it.
    fn on_token_astray(&mut self, is_late: bool, token: Token, out: &mut Out<Self>) {
        if !self.repairs.has(repair::RECLAIM) {
            return;
        }
        out.clause(if is_late { "token-late" } else { "undelivered" });
        self.idle.push(token);
        self.dag.reset_pace(out);
        if is_late && let Some(lowered) = self.dag.sink() {
            out.clause("lower-height.1");
            self.tell_lowered(lowered, out);
        }
        self.serve_or_keep(None, out);
        if self.token_holder() && self.dag.has_no_higher_neighbour() {
            self.lower_height(out);
        }
    }
}

/// The procedures of the appendix, in its order.
impl Krl {
    /// Procedure `ForwardRequest()`.
    fn forward_request(&mut self, out: &mut Out<Self>) {
        if let Some(lowest) = self.dag.lowest_neighbour(|_| true) {
            out.clause("forward-request.1");
            self.next = Some(self.dag.neighbours[lowest].id);
            self.send(lowest, Message::Request { height: self.dag.my_height }, out);
        } else {
            self.forget_next();
        }
    }

    /// Procedure `GiveTokenToNext()`.
    fn give_token_to_next(&mut self, out: &mut Out<Self>) {
        let (Some(next), Some(token)) = (self.queue.pop_front(), self.idle.pop()) else {
            debug_assert!(false, "called only with somebody to serve and a token to give");
            return;
        };
        self.next = Some(next);
        if next == self.id {
            out.clause("give-token.12");
            self.status = Section::Critical;
            let token = Token { fence: token.fence.next(), ..token };
            self.in_use = Some(token);
            out.grant(Grant { permits: Permits::single(token.permit), fence: token.fence });
            return;
        }
        let Some(at) = self.dag.position(next) else {
            debug_assert!(false, "Q holds none but neighbours");
            self.idle.push(token);
            return;
        };
        out.clause("give-token.8");
        self.send_token(at, token, None, out);
        if !self.token_holder() && !self.queue.is_empty() {
            out.clause("give-token.10");
            self.send(at, Message::Request { height: self.dag.my_height }, out);
        }
    }

    /// Lines 6 to 8 of `GiveTokenToNext()` and 8 to 10 of `PickLowest&ForwardToken()`.
    fn send_token(&mut self, at: usize, token: Token, onward: Option<u8>, out: &mut Out<Self>) {
        self.dag.reset_pace(out);
        self.dag.hand_down(at);
        if !self.repairs.has(repair::ACKNOWLEDGE) {
            self.dag.neighbours[at].unacknowledged = 1;
        }
        self.send(at, Message::Token { height: self.dag.my_height, token, onward }, out);
    }

    /// What both versions do with a token that is free here: `GiveTokenToNext()`, or keep it, or forward it.
    fn serve_or_keep(&mut self, onward: Option<u8>, out: &mut Out<Self>) {
        if !self.queue.is_empty() {
            out.clause("recv-token.9");
            self.give_token_to_next(out);
        } else if self.forwarding == Forwarding::Off {
            out.clause("recv-token.10");
            self.next = Some(self.id);
        } else {
            out.clause("recv-token-f.12");
            self.forward_idle_token(onward, out);
        }
    }

    /// Procedure `RaiseHeight()`.
    fn raise_height(&mut self, out: &mut Out<Self>) {
        let Some(raised) = self.dag.raise(out) else {
            // Whatever was asked of a neighbour that is higher now, or gone, cannot be asked anew yet.
            self.forget_next();
            return;
        };
        out.clause("raise-height.1");
        self.tell(raised, None, |_| true, out);
        for neighbour in &self.dag.neighbours {
            if neighbour.known && neighbour.height < raised {
                self.queue.retain(|&waiting| waiting != neighbour.id);
            }
        }
        if !self.queue.is_empty() {
            out.clause("raise-height.7");
            self.forward_request(out);
        }
    }

    /// Procedure `LowerHeight()`.
    fn lower_height(&mut self, out: &mut Out<Self>) {
        let Some(lowered) = self.dag.lower(out) else { return };
        out.clause("lower-height.1");
        self.tell_lowered(lowered, out);
    }

    fn tell_lowered(&mut self, lowered: Height, out: &mut Out<Self>) {
        let told_if_crossed = self.repairs.has(repair::LINK_INFO);
        let turned = |k: &Neighbour| if told_if_crossed { k.has_crossed(lowered) } else { k.height > lowered };
        self.tell(lowered, None, turned, out);
    }
}

/// The conditions of the appendix, by name.
impl Krl {
    /// *tokenHolder*.
    fn token_holder(&self) -> bool {
        self.in_use.is_some() || !self.idle.is_empty()
    }

    /// *|Q| > 0 and myHeight < height\[next\]*: the request that was sent to `next` will not be served. With
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

    fn forget_next(&mut self) {
        if self.repairs.has(repair::PENDING_REQUEST) {
            self.next = None;
        }
    }

    /// `Enqueue()`: only if it is not there already.
    fn enqueue(&mut self, id: NodeId) {
        if !self.queue.contains(&id) {
            self.queue.push_back(id);
        }
    }

    /// `Delete()`, wherever it stands.
    fn delete(&mut self, id: NodeId) {
        if let Some(at) = self.queue.iter().position(|&waiting| waiting == id) {
            self.queue.remove(at);
        }
    }
}

/// Which neighbours are told of a new height.
impl Krl {
    /// Sends `LinkInfo` to the neighbours of choice, as one broadcast.
    fn tell(
        &mut self,
        height: Height,
        acknowledges: Option<NodeId>,
        choose: impl Fn(&Neighbour) -> bool,
        out: &mut Out<Self>,
    ) {
        out.multicast(self.dag.tell(height, choose), &Message::LinkInfo { height, acknowledges });
    }

    /// [`repair::LINK_INFO`], for the one neighbour whose height has just been learned.
    fn tell_if_crossed(&mut self, at: usize, out: &mut Out<Self>) {
        let height = self.dag.my_height;
        if self.repairs.has(repair::LINK_INFO) && self.dag.neighbours[at].has_crossed(height) {
            self.send(at, Message::LinkInfo { height, acknowledges: None }, out);
        }
    }

    /// Sends a message, which tells the receiver this node's height on the way.
    fn send(&mut self, at: usize, message: Message, out: &mut Out<Self>) {
        let neighbour = &mut self.dag.neighbours[at];
        neighbour.told = self.dag.my_height;
        out.send(neighbour.id, message);
    }
}

/// What the [`pacing`] of reversals comes down to here.
impl Krl {
    /// The pause is over.
    fn on_pace(&mut self, out: &mut Out<Self>) {
        self.dag.begin_turn();
        self.reverse_if_needed(out);
        self.dag.end_turn();
    }

    /// The reversal that had to wait, if it is still needed; else the request that waited with it.
    fn reverse_if_needed(&mut self, out: &mut Out<Self>) {
        if self.token_holder() {
            if self.dag.has_no_higher_neighbour() {
                self.lower_height(out);
            }
        } else if self.dag.has_no_lower_neighbour() {
            self.raise_height(out);
        } else if self.must_reroute() {
            self.forward_request(out);
        }
    }
}

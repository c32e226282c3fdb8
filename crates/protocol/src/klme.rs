//! k-local mutual exclusion: k units in every neighbourhood, whose members come and go.
//!
//! A. Khanna, A. K. Singh, A. Swaroop: "A Leader-Based k-Local Mutual Exclusion Algorithm Using Token for MANETs", JISE
//! 30(5),
//! 2014. The paper's clauses A to L and its section 7, in their order and with their names. A mark such as `C` is the
//! clause, `C.stale` a branch of it; docs/papers/klme.md quotes them.
//!
//! One token goes round in a neighbourhood. The node that has it is the leader: it lists the nodes that may use a unit
//! (`T_alloc_id`), counts those that are free (`Kfree`) and queues the requests beyond (`R_Queue`). An idle leader
//! sends the token itself to a node that asks; a leader in its CS permits others to enter while units are free, and
//! passes the token on when it leaves its CS. Every move of the token is told to all, so that requests and releases
//! that came too late are sent again.
//!
//! Assumed below: a neighbourhood in which all reach one another, reliably and in order ([`crate::neighbourhood`]).
//!
//! Deviations are the [`repair`]s, each of which can be switched off. Without any of them this is the paper's text,
//! read charitably where it cannot run: a node that is served from `R_Queue` is taken out of it, every grant is listed
//! and counted, the leader's own and that of the node to which the token is sent included (as in the paper's
//! illustration), and a node that believes itself leader without the token acts on the copy that it kept.

use alloc::string::String;
use alloc::vec::Vec;

use crate::{
    Charter, Crossing, Demand, Deployment, Grant, Moment, Never, NodeId, Out, Permits, Protocol, Repair, Repairs,
    Section, Status, Units,
};

mod crossing;
mod lemmas;
mod message;
mod numbers;
pub mod repair;
#[cfg(test)]
mod tests;
mod token_loss;

pub use message::{Allocation, LeaderNo, Message, Token};
pub use numbers::{Life, Numbers, RequestNo};

/// A node of KLME.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Klme {
    /// *i*.
    id: NodeId,
    /// *k*.
    k: u32,
    /// Where it is, if it is in the neighbourhood.
    place: Option<Place>,
    /// *State*.
    state: Section,
    /// The unit that the application uses.
    in_use: Option<Grant>,
    repairs: Repairs,
}

/// All that a node knows of the neighbourhood that it is in. It forgets it on leaving.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Place {
    life: Life,
    /// The other members, and in which life each is.
    others: Vec<(NodeId, Life)>,
    /// *`M_T`*, and the token while it is true.
    token: Option<Token>,
    /// *RN*.
    number: u32,
    /// *`Node_req_list`*.
    requests: Numbers,
    /// *`M_Th_id`*.
    leader: Option<NodeId>,
    /// *`Req_ack`*.
    acknowledged: bool,
    /// *`Node_release_list`*.
    releases: Numbers,
    /// *`Node_leader_no`*.
    leader_no: LeaderNo,
    /// Section 7: the old copy of the token, and the node it was sent to.
    copy: Option<(NodeId, Token)>,
    /// The nodes that have come and were not told which node leads, with [`repair::GREET`].
    newcomers: Vec<NodeId>,
    /// The nodes that want to leave, and up to which request, with [`repair::FAREWELL`].
    leavers: Numbers,
    /// Whether it is about to leave itself.
    leaving: bool,
}

impl Place {
    /// Of a node that has just come, or was there from the start.
    fn new(life: Life, others: Vec<(NodeId, Life)>) -> Self {
        Self {
            life,
            others,
            token: None,
            number: 0,
            requests: Numbers::default(),
            leader: None,
            acknowledged: false,
            releases: Numbers::default(),
            leader_no: LeaderNo::default(),
            copy: None,
            newcomers: Vec::new(),
            leavers: Numbers::default(),
            leaving: false,
        }
    }
}

impl Protocol for Klme {
    type Message = Message;
    type View = Crossing;
    type Timer = Never;
    type Variant = ();
    type Durable = ();

    const KINDS: &'static [&'static str] = &[
        "leader_info",
        "i_am_here",
        "req_cs",
        "token",
        "req_ack",
        "per_grant",
        "release",
        "i_am_leaving",
        "token_ack",
        "token_lost",
        "leave_ack",
    ];
    const REPAIRS: &'static [Repair] = repair::LIST;
    const LENDS: bool = true;

    /// *Initialization* and *`GenerateToken()`*: the first member is the leader, and all have received its
    /// `Leader_info`.
    fn deploy(deployment: &Deployment, (): (), repairs: Repairs) -> Vec<Self> {
        let k = deployment.k;
        let mut everybody: Vec<(_, Life)> = deployment.lives().map(|(id, life)| (id, life.into())).collect();
        everybody.sort_unstable();
        let place = |id| {
            let (_, life) = *everybody.iter().find(|member| member.0 == id)?;
            let others = everybody.iter().copied().filter(|member| member.0 != id).collect();
            let mut place = Place::new(life, others);
            place.leader = deployment.members.first().copied();
            place.leader_no = LeaderNo(1);
            place.token = (place.leader == Some(id)).then(|| Token::generate(k, 0));
            Some(place)
        };
        let charter = Charter::new(k, (), repairs);
        deployment.ids().map(|id| Self { place: place(id), ..Self::blank(id, &charter) }).collect()
    }

    fn blank(me: NodeId, charter: &Charter<()>) -> Self {
        let Charter { k, repairs, .. } = *charter;
        Self { id: me, k, place: None, state: Section::Remainder, in_use: None, repairs }
    }

    /// *`GenerateToken()`*, in the neighbourhood that it is in.
    fn mint(&mut self, k: u32, generation: u32, _out: &mut Out<Self>) {
        let id = self.id;
        let place = self.here();
        (place.leader, place.leader_no) = (Some(id), LeaderNo(1));
        place.token = Some(Token::generate(k, generation));
    }

    /// It claims to stand no restart: what is on its way to a node that is killed is lost, and here nothing is said
    /// twice.
    fn durable(&self) {}

    fn restore(me: NodeId, charter: &Charter<()>, (): (), _out: &mut Out<Self>) -> Self {
        Self::blank(me, charter)
    }

    /// B.
    fn request(&mut self, _demand: Demand, out: &mut Out<Self>) {
        out.clause("B");
        self.state = Section::Waiting;
        if self.place.as_ref().is_some_and(|place| !place.leaving) {
            self.ask(out);
        }
    }

    /// F.
    fn release(&mut self, out: &mut Out<Self>) {
        out.clause("F");
        self.state = Section::Remainder;
        self.in_use = None;
        let number = self.number();
        if self.leads() {
            out.clause("F.leader");
            let id = self.id;
            self.books().take_back(id, |listed| listed == number);
            self.serve(out);
        } else if let Some(leader) = self.here().leader {
            out.send(leader, Message::Release { number });
        }
    }

    fn message(&mut self, from: NodeId, message: Message, out: &mut Out<Self>) {
        match message {
            Message::LeaderInfo { leader, allocated, leader_no } => {
                self.on_leader_info(from, leader, &allocated, leader_no, out);
            }
            Message::ReqCs { number } => self.on_request(from, number, out),
            Message::ReqAck { number } => self.on_ack(number, out),
            Message::PerGrant { number, grant, leader_no } => self.on_grant(from, number, grant, leader_no, out),
            Message::Release { number } => self.on_release(from, number, out),
            Message::Token { token } => self.on_token(from, token, out),
            Message::IAmLeaving { number, requests, releases } => {
                self.on_leaving(from, number, &requests, &releases, out);
            }
            Message::IAmHere { number, hungry } => self.on_here(from, number, hungry, out),
            Message::TokenAck { leader_no } => self.on_token_ack(from, leader_no, out),
            Message::TokenLost { leader_no } => self.on_token_lost(from, leader_no, out),
            Message::LeaveAck { life } => self.on_leave_ack(life, out),
        }
    }

    /// Nothing comes back: a neighbourhood delivers what it takes, or the receiver has left.
    fn undelivered(&mut self, _to: NodeId, _message: Message, _out: &mut Out<Self>) {}

    fn timer(&mut self, timer: Never, _out: &mut Out<Self>) {
        match timer {}
    }

    fn below(&mut self, view: Crossing, out: &mut Out<Self>) {
        match view {
            Crossing::Entered { life, members, founds, .. } => self.on_entering(life, &members, founds, out),
            Crossing::Leaving => self.on_about_to_leave(out),
            Crossing::Met { peer, life } => {
                let others = &mut self.here().others;
                others.retain(|other| other.0 != peer);
                let at = others.partition_point(|other| other.0 < peer);
                others.insert(at, (peer, life.into()));
                self.hand_over(out);
            }
            Crossing::Parted { peer } => {
                let place = self.here();
                place.others.retain(|other| other.0 != peer);
                place.newcomers.retain(|&newcomer| newcomer != peer);
                place.leavers.remove(peer);
                self.hand_over(out);
            }
        }
    }

    fn units_max(&self) -> Units {
        Units::ONE
    }

    fn held(&self) -> Permits {
        let free = self.token().map_or(Permits::NONE, |token| token.free);
        free.union(self.in_use.map_or(Permits::NONE, |grant| grant.permits))
    }

    fn has_token(&self) -> bool {
        self.token().is_some()
    }

    fn section(&self) -> Section {
        self.state
    }

    fn status(&self) -> Status {
        let queue = self.token().map(|token| &token.queue[..]).unwrap_or_default();
        Status {
            section: self.state,
            permits: self.held(),
            queue: queue.iter().map(|request| request.0).collect(),
            waits_on: self.leader().filter(|_| self.state == Section::Waiting),
            height: None,
        }
    }

    /// What is allocated stays in the token's books while the grant is on its way: only `Kfree` travels.
    fn permits(message: &Message) -> Permits {
        match message {
            Message::Token { token } => token.free,
            _ => Permits::NONE,
        }
    }

    fn is_token(message: &Message) -> bool {
        matches!(message, Message::Token { .. })
    }

    fn kind(message: &Message) -> usize {
        match message {
            Message::LeaderInfo { .. } => 0,
            Message::IAmHere { .. } => 1,
            Message::ReqCs { .. } => 2,
            Message::Token { .. } => 3,
            Message::ReqAck { .. } => 4,
            Message::PerGrant { .. } => 5,
            Message::Release { .. } => 6,
            Message::IAmLeaving { .. } => 7,
            Message::TokenAck { .. } => 8,
            Message::TokenLost { .. } => 9,
            Message::LeaveAck { .. } => 10,
        }
    }

    fn returning(moment: &Moment<'_, Self>) -> Permits {
        lemmas::lent(moment)
    }

    fn invariant(moment: &Moment<'_, Self>) -> Result<(), String> {
        lemmas::hold(moment)
    }
}

impl Klme {
    /// *`M_Th_id`*: the node that has the token, as far as it knows.
    pub fn leader(&self) -> Option<NodeId> {
        self.place.as_ref().and_then(|place| place.leader)
    }

    /// *`Node_req_list[j]`*, in the current stay of j.
    pub fn request_of(&self, node: NodeId) -> u32 {
        self.place.as_ref().and_then(|place| place.requests.get(node)).map_or(0, |number| number.number)
    }

    /// The token, if it has it.
    pub fn token(&self) -> Option<&Token> {
        self.place.as_ref().and_then(|place| place.token.as_ref())
    }

    fn has(&self, repair: Repair) -> bool {
        self.repairs.has(repair)
    }

    /// Of a node that is in the neighbourhood.
    fn here(&mut self) -> &mut Place {
        self.place.as_mut().expect("nothing reaches a node that is in no neighbourhood")
    }

    /// The token, of a leader.
    fn books(&mut self) -> &mut Token {
        self.here().token.as_mut().expect("a leader has the token")
    }

    /// *RN*, of the current or the last request in this stay.
    fn number(&self) -> RequestNo {
        let (life, number) = self.place.as_ref().map(|place| (place.life, place.number)).unwrap_or_default();
        RequestNo { life: if self.has(repair::STAYS) { life } else { Life::default() }, number }
    }

    /// Whether it is the leader. As published that is a matter of belief: a node that believes it, and has no token,
    /// goes by the copy.
    fn leads(&mut self) -> bool {
        let (id, by_possession) = (self.id, self.has(repair::POSSESSION));
        let Some(place) = &mut self.place else { return false };
        if !by_possession {
            if place.leader != Some(id) {
                return false;
            }
            if place.token.is_none() {
                place.token = place.copy.take().map(|(_, token)| token);
            }
        }
        place.token.is_some()
    }

    /// A. On receiving `Leader_info(j, T_alloc_id, Token_leader_no)`.
    fn on_leader_info(
        &mut self,
        from: NodeId,
        leader: NodeId,
        allocated: &[(NodeId, RequestNo)],
        leader_no: LeaderNo,
        out: &mut Out<Self>,
    ) {
        out.clause("A");
        let (id, number, state) = (self.id, self.number(), self.state);
        let (checks_first, merges) = (self.has(repair::STALE_LEADER), self.has(repair::MERGE_ALLOCATED));
        let place = self.here();
        if !checks_first {
            place.leader = Some(leader);
        }
        if leader_no <= place.leader_no {
            out.clause("A.reject");
            return;
        }
        (place.leader, place.leader_no) = (Some(leader), leader_no);
        if merges {
            place.requests.note_all(allocated.iter().copied());
        }
        let acknowledged = place.acknowledged;
        if leader == id {
            // Section 7: the news of the token has come before the token.
            if place.token.is_none() {
                out.clause("7.lost");
                out.send(from, Message::TokenLost { leader_no });
            }
            return;
        }
        let mine = allocated.iter().find(|entry| entry.0 == id).map(|entry| entry.1);
        if let Some(listed) = mine.filter(|&listed| state == Section::Remainder || listed < number) {
            out.clause("A.release");
            out.send(leader, Message::Release { number: listed });
        }
        if self.here().leaving {
            self.say_farewell(Some(leader), out);
        } else if state == Section::Waiting && !acknowledged {
            out.clause("A.request");
            out.send(leader, Message::ReqCs { number });
        }
    }

    /// B. Node i is requesting, in the neighbourhood.
    fn ask(&mut self, out: &mut Out<Self>) {
        let place = self.here();
        place.acknowledged = false;
        place.number += 1;
        let leader = place.leader;
        let (id, number) = (self.id, self.number());
        self.here().requests.note(id, number);
        if self.leads() {
            out.clause("B.leader");
            self.here().acknowledged = true;
            self.enter_as_leader(out);
        } else if let Some(leader) = leader {
            out.clause("B.request");
            out.send(leader, Message::ReqCs { number });
        } else {
            out.clause("B.wait");
        }
    }

    /// The leader takes a free unit for itself, or the one that came with the token.
    fn enter_as_leader(&mut self, out: &mut Out<Self>) {
        let (id, number) = (self.id, self.number());
        let token = self.books();
        token.unqueue(id);
        token.requests.note(id, number);
        token.take_back(id, |listed| listed != number);
        let listed = token.allocation(id).map(|entry| entry.grant);
        if let Some(grant) = listed.or_else(|| token.allocate(id, number)) {
            self.enter(grant, out);
        }
    }

    fn enter(&mut self, grant: Grant, out: &mut Out<Self>) {
        self.state = Section::Critical;
        self.in_use = Some(grant);
        out.grant(grant);
    }

    /// C. On receiving `Req_CS(j, RN)`.
    fn on_request(&mut self, from: NodeId, number: RequestNo, out: &mut Out<Self>) {
        out.clause("C");
        if !self.leads() {
            out.clause("C.store");
            self.here().requests.note(from, number);
            return;
        }
        if !self.is_news(from, number) {
            out.clause("C.stale");
            return;
        }
        self.here().requests.note(from, number);
        out.send(from, Message::ReqAck { number });
        self.queue(from, number);
        self.serve(out);
    }

    /// Whether the leader has not seen this request. The token knows; as published the leader's own list is asked.
    fn is_news(&mut self, node: NodeId, number: RequestNo) -> bool {
        let published = !self.has(repair::TOMBSTONE);
        let place = self.here();
        let own = published && !place.requests.is_behind(node, number);
        !own && place.token.as_ref().is_some_and(|token| token.requests.is_behind(node, number))
    }

    /// Appends a request in `R_Queue`. A node that asks again has left the CS of before.
    fn queue(&mut self, node: NodeId, number: RequestNo) {
        let token = self.books();
        token.take_back(node, |listed| listed < number);
        token.requests.note(node, number);
        token.unqueue(node);
        token.queue.push((node, number));
    }

    /// What a leader does about `R_Queue`: a leader in its CS permits the front to enter as long as units are free, one
    /// in its remainder section sends the token to the front, and one that is about to leave hands it over.
    fn serve(&mut self, out: &mut Out<Self>) {
        if self.here().leaving {
            self.hand_over(out);
            return;
        }
        if self.state != Section::Critical {
            if let Some((front, number)) = self.dequeue() {
                out.clause("pass");
                self.pass_token(front, Some(number), out);
            }
            return;
        }
        while !self.books().free.is_empty() {
            let Some((front, number)) = self.dequeue() else { return };
            out.clause("grant");
            let leader_no = self.books().leader_no;
            if let Some(grant) = self.books().allocate(front, number) {
                out.send(front, Message::PerGrant { number, grant, leader_no });
            }
        }
    }

    fn dequeue(&mut self) -> Option<(NodeId, RequestNo)> {
        let queue = &mut self.books().queue;
        (!queue.is_empty()).then(|| queue.remove(0))
    }

    /// Sends the token away, with a unit for the request of the receiver if it is sent for one, and tells all.
    fn pass_token(&mut self, to: NodeId, request: Option<RequestNo>, out: &mut Out<Self>) {
        let (token_first, keeps_copies) = (self.has(repair::TOKEN_FIRST), self.keeps_copies());
        let place = self.here();
        let mut token = place.token.take().expect("a leader has the token");
        if let Some(number) = request {
            token.allocate(to, number);
        }
        token.leader_no.0 += 1;
        (place.leader, place.leader_no) = (Some(to), token.leader_no);
        place.copy = keeps_copies.then(|| (to, token.clone()));
        // Every member that is here hears of the move.
        place.newcomers.clear();
        let info = Message::LeaderInfo { leader: to, allocated: token.allocated_numbers(), leader_no: token.leader_no };
        if token_first {
            out.send(to, Message::Token { token });
            out.broadcast(info);
        } else {
            out.broadcast(info);
            out.send(to, Message::Token { token });
        }
    }

    /// Sends the token away as clauses H and I have it: no other node is told.
    fn pass_silently(&mut self, to: NodeId, request: Option<RequestNo>, out: &mut Out<Self>) {
        let keeps_copies = self.keeps_copies();
        let place = self.here();
        let mut token = place.token.take().expect("a leader has the token");
        if let Some(number) = request {
            token.allocate(to, number);
        }
        place.leader = Some(to);
        place.copy = keeps_copies.then(|| (to, token.clone()));
        out.send(to, Message::Token { token });
    }

    /// D. On receiving `Req_ack()`.
    fn on_ack(&mut self, number: RequestNo, out: &mut Out<Self>) {
        out.clause("D");
        let is_current = self.state == Section::Waiting && number == self.number();
        if is_current || !self.has(repair::NUMBERED_REPLIES) {
            self.here().acknowledged = true;
        }
    }

    /// E. On receiving `Per_grant()`.
    fn on_grant(&mut self, from: NodeId, number: RequestNo, grant: Grant, leader_no: LeaderNo, out: &mut Out<Self>) {
        out.clause("E");
        let (current, waits) = (self.number(), self.state == Section::Waiting);
        let numbered = self.has(repair::NUMBERED_REPLIES);
        let place = self.here();
        if numbered {
            if !waits || number != current || place.leaving {
                out.clause("E.stale");
                return;
            }
            if leader_no > place.leader_no {
                (place.leader, place.leader_no) = (Some(from), leader_no);
            }
            place.acknowledged = true;
        }
        self.enter(grant, out);
    }

    /// G. On receiving `Release(j, RN)`.
    fn on_release(&mut self, from: NodeId, number: RequestNo, out: &mut Out<Self>) {
        out.clause("G");
        if !self.leads() {
            out.clause("G.store");
            self.here().releases.note(from, number);
            return;
        }
        if self.take_release(from, number) {
            self.serve(out);
        } else {
            out.clause("G.stale");
        }
    }

    fn take_release(&mut self, node: NodeId, number: RequestNo) -> bool {
        let numbered = self.has(repair::RELEASE_NUMBER);
        self.books().take_back(node, |listed| listed == number || !numbered)
    }

    /// H. On receiving `Token(i, T_alloc_id, T_req_list, Kfree, R_Queue)`.
    fn on_token(&mut self, from: NodeId, token: Token, out: &mut Out<Self>) {
        out.clause("H");
        let (id, possession) = (self.id, self.has(repair::POSSESSION));
        let leader_no = token.leader_no;
        if self.keeps_copies() {
            out.send(from, Message::TokenAck { leader_no });
        }
        let place = self.here();
        if possession && (place.token.is_some() || leader_no < place.leader_no) {
            out.clause("H.stale");
            return;
        }
        if possession {
            place.leader_no = leader_no;
        }
        (place.token, place.leader) = (Some(token), Some(id));
        self.bring_up_to_date(out);
        if self.state == Section::Waiting && !self.here().leaving {
            out.clause("H.enter");
            self.enter_as_leader(out);
            self.serve(out);
        } else {
            let (number, in_cs) = (self.number(), self.state == Section::Critical);
            self.books().take_back(id, |listed| listed != number || !in_cs);
            self.forward(out);
        }
    }

    /// H, the lists: what came to this node while it was not the leader, and everything that it owes as the leader.
    fn bring_up_to_date(&mut self, out: &mut Out<Self>) {
        self.take_stored(out);
        let known: Vec<_> = self.books().requests.iter().collect();
        let place = self.here();
        let others = place.others.clone();
        // Of nodes that have left nothing is remembered but in the token.
        place.requests.note_all(known.into_iter().filter(|entry| others.iter().any(|other| other.0 == entry.0)));
        for (leaver, number) in self.here().leavers.take() {
            self.strike_off(leaver, number, out);
        }
        for newcomer in core::mem::take(&mut self.here().newcomers) {
            self.tell_leader(newcomer, out);
        }
    }

    /// Queues the requests that came to this node, or were passed on by a leaver, and that the token does not know;
    /// takes the releases. As published those that asked are not told, and ask every new leader until they are served.
    fn take_stored(&mut self, out: &mut Out<Self>) {
        let (id, acknowledges) = (self.id, self.has(repair::ACK_STORED));
        let stored: Vec<_> = self.here().requests.iter().filter(|entry| entry.0 != id).collect();
        for (node, number) in stored {
            if number.number > 0 && self.books().requests.is_behind(node, number) {
                self.queue(node, number);
                if acknowledges {
                    out.clause("H.ack");
                    out.send(node, Message::ReqAck { number });
                }
            }
        }
        for (node, number) in self.here().releases.take() {
            self.take_release(node, number);
        }
    }

    /// H, in the remainder section: "send Token to node at front of `R_Queue`", or hold it.
    fn forward(&mut self, out: &mut Out<Self>) {
        if self.has(repair::FORWARD_ANNOUNCED) || self.state == Section::Critical || self.here().leaving {
            self.serve(out);
        } else if let Some((front, number)) = self.dequeue() {
            out.clause("H.forward");
            self.pass_silently(front, Some(number), out);
        }
    }
}

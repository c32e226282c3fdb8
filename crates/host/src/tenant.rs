//! A resident of a known algorithm: a seat, and the words in which it speaks to its stack.

use std::mem;

use driftlock_net::Time;
use driftlock_net::parcel::Parcel;
use driftlock_net::stack::{Footing, Told, Way};
use driftlock_protocol::ideal::{Ideal, IdealOf};
use driftlock_protocol::{
    Contacts, Crossing, Effect, Harm, Incarnation, Input, InputOf, NodeId, Out, Protocol, Refusal, Status, View,
    carries_permits,
};

use crate::resident::{Cue, Desk, Resident};
use crate::{Do, Seat, Watch, stored};

/// The node of one resource over a stack.
pub struct Tenant<P: Protocol, W = ()> {
    seat: Seat<P>,
    /// Who looks on.
    pub watch: W,
    /// Whom it was told of that is in the neighbourhood, and in which life, by id: where the driver of the host knows
    /// all members, and what nodes hear of one another does not count.
    decreed: Option<Vec<(NodeId, Incarnation)>>,
    /// What its application was last told of the end of its lease.
    until: Option<Time>,
    out: Out<P>,
    /// Whom the message goes to that is about to be sent.
    receivers: Vec<(NodeId, Incarnation)>,
}

impl<P: Protocol, W: Watch<P>> Tenant<P, W> {
    /// A node whose effects so far are in `out`, and have not been carried out.
    pub fn new(seat: Seat<P>, watch: W, out: Out<P>) -> Self {
        Self { seat, watch, decreed: None, until: None, out, receivers: Vec::new() }
    }

    /// The same where the driver of the host decrees who is in the neighbourhood; these are already.
    #[must_use]
    pub fn by_decree(self, mut members: Vec<(NodeId, Incarnation)>) -> Self {
        members.sort_unstable();
        Self { decreed: Some(members), ..self }
    }

    /// The node.
    pub fn seat(&self) -> &Seat<P> {
        &self.seat
    }

    fn take(&mut self, now: Time, input: InputOf<P>, desk: &mut Desk<'_>) -> Result<(), Refusal> {
        let crossing = match &input {
            Input::Below(view) => view.crossing().cloned(),
            _ => None,
        };
        let taken = self.seat.take(now, input, &mut self.watch, &mut self.out);
        if let (Ok(()), Some(crossing)) = (&taken, crossing) {
            if let Crossing::Entered { .. } = crossing {
                self.say_inside(now, desk);
            }
            self.learn(crossing);
        }
        self.carry_out(now, desk);
        taken
    }

    /// Others hear from now on that it is in the neighbourhood, and in which life, or that it is not, unless they know
    /// by decree.
    fn say_where(&mut self, now: Time, life: Option<Incarnation>, desk: &mut Desk<'_>) {
        if self.decreed.is_none() {
            let said = desk.stack.advertise(now, desk.resource, life, Vec::new());
            said.expect("it says nothing but where it is");
        }
    }

    /// Likewise, if it is inside.
    fn say_inside(&mut self, now: Time, desk: &mut Desk<'_>) {
        let life = self.seat.node().contacts().life();
        if life.is_some() {
            self.say_where(now, life, desk);
        }
    }

    /// Remembers whom it was told of.
    fn learn(&mut self, crossing: Crossing) {
        let Some(decreed) = &mut self.decreed else { return };
        let place = |of| decreed.binary_search_by_key(&of, |member| member.0);
        match crossing {
            Crossing::Entered { members, .. } => {
                *decreed = members;
                decreed.sort_unstable();
            }
            Crossing::Met { peer, life } => match place(peer) {
                Ok(at) => decreed[at].1 = life,
                Err(at) => decreed.insert(at, (peer, life)),
            },
            Crossing::Parted { peer } => {
                if let Ok(at) = place(peer) {
                    decreed.remove(at);
                }
            }
            Crossing::Leaving => {}
        }
    }

    /// Who else is in the neighbourhood, as far as this node knows.
    fn members(&self, desk: &Desk<'_>) -> Vec<(NodeId, Incarnation)> {
        match &self.decreed {
            Some(decreed) => decreed.clone(),
            None => desk.stack.members(desk.resource).collect(),
        }
    }

    /// The link to a node, or the life in which it is a member, if this node knows of one.
    fn incarnation(&self, of: NodeId, desk: &Desk<'_>) -> Option<Incarnation> {
        match (footing::<P>(), &self.decreed) {
            (Footing::Links, _) => self.seat.node().incarnation(of),
            (Footing::Paths, None) => desk.stack.life(desk.resource, of),
            (Footing::Paths, Some(decreed)) => {
                let place = decreed.binary_search_by_key(&of, |member| member.0);
                place.ok().map(|at| decreed[at].1)
            }
        }
    }

    /// What it hears of another node concerns it while it is in the neighbourhood, and not about to leave, unless it is
    /// told by decree.
    fn concerns(&self) -> bool {
        let contacts = self.seat.node().contacts();
        self.decreed.is_none() && contacts.life().is_some() && !contacts.is_leaving()
    }

    /// Does what the node wants done. Timers are a matter of its seat.
    fn carry_out(&mut self, now: Time, desk: &mut Desk<'_>) {
        let mut out = mem::take(&mut self.out);
        let mut letter = None;
        for effect in out.drain() {
            match effect {
                Effect::Send { to, message, shared } => {
                    if !shared {
                        self.post(now, letter.take(), desk);
                    }
                    self.address(to, &message, shared, desk);
                    letter = letter.or(Some(message));
                }
                Effect::Broadcast { message } => {
                    self.post(now, letter.take(), desk);
                    for (at, (to, _)) in self.members(desk).into_iter().enumerate() {
                        self.address(to, &message, at > 0, desk);
                    }
                    self.post(now, Some(message), desk);
                }
                effect => self.inform(now, &effect, desk),
            }
        }
        self.out = out;
        self.post(now, letter, desk);
        self.renew(desk);
    }

    fn address(&mut self, to: NodeId, message: &P::Message, shared: bool, desk: &Desk<'_>) {
        let incarnation = self.incarnation(to, desk);
        self.watch.sent(to, incarnation, message, shared);
        self.receivers.extend(incarnation.map(|incarnation| (to, incarnation)));
    }

    /// Hands a message to the stack, once for all its receivers.
    fn post(&mut self, now: Time, message: Option<P::Message>, desk: &mut Desk<'_>) {
        if let Some(message) = message.filter(|_| !self.receivers.is_empty()) {
            let way = match footing::<P>() {
                Footing::Links => Way::Links(&self.receivers),
                Footing::Paths => Way::Paths(&self.receivers),
            };
            let parcel = Parcel::new(desk.resource, keeps::<P>(&message), &message);
            desk.stack.send(now, way, parcel).expect("the stack knows its residents, and how much they say");
        }
        self.receivers.clear();
    }

    /// Tells the application of what concerns it.
    fn inform(&mut self, now: Time, effect: &Effect<P::Message, P::Timer>, desk: &mut Desk<'_>) {
        let resource = desk.resource;
        match *effect {
            Effect::Grant(grant) => {
                self.until = self.seat.lease_ends();
                desk.then.push(Do::Granted { resource, grant, until: self.until });
            }
            Effect::Revoke(demand) => desk.then.push(Do::Revoked { resource, demand }),
            Effect::Depart => {
                self.say_where(now, None, desk);
                desk.then.push(Do::Departed(resource));
            }
            _ => {}
        }
    }

    /// Tells the application that its lease goes on.
    fn renew(&mut self, desk: &mut Desk<'_>) {
        let until = self.seat.lease_ends();
        if let Some(until) = until.filter(|until| self.until.is_some_and(|told| told < *until)) {
            desk.then.push(Do::Renewed { resource: desk.resource, until });
        }
        self.until = until;
    }
}

/// What the nodes of an algorithm stand on.
pub(crate) fn footing<P: Protocol>() -> Footing {
    Footing::of(IdealOf::<P>::STARTS_FROM)
}

/// Whether the layers must neither lose nor double a message. What survives lost messages need not be sent again for
/// ever.
pub fn keeps<P: Protocol>(message: &P::Message) -> bool {
    match footing::<P>() {
        Footing::Links => carries_permits::<P>(message),
        Footing::Paths => !P::CLAIMS.stand(Harm::Loss),
    }
}

impl<P: Protocol, W: Watch<P>> Resident for Tenant<P, W> {
    fn footing(&self) -> Footing {
        footing::<P>()
    }

    fn moves_in(&mut self, now: Time, desk: &mut Desk<'_>) {
        self.say_inside(now, desk);
        self.carry_out(now, desk);
    }

    fn cue(&mut self, now: Time, mut cue: Cue, desk: &mut Desk<'_>) -> Result<(), Refusal> {
        if let Cue::Crossing(Crossing::Entered { members, .. }) = &mut cue
            && self.decreed.is_none()
        {
            *members = self.members(desk);
        }
        self.take(now, cue.into_input::<P>(), desk)
    }

    fn hear(&mut self, now: Time, told: Told, desk: &mut Desk<'_>) {
        let Ok(told) = told.open::<P::Message>() else { return };
        self.watch.told(self.seat.node(), &told);
        let input = match told {
            Told::Link(event) => P::View::of_link(event).map(Input::Below),
            Told::Message { from, incarnation, message } => Some(Input::Message { from, incarnation, message }),
            Told::Undelivered { to, message } => Some(Input::Undelivered { to, message }),
            Told::Met { peer, life } if self.concerns() => P::View::hint(peer, Some(life)).map(Input::Below),
            Told::Parted { peer } if self.concerns() => P::View::hint(peer, None).map(Input::Below),
            // No algorithm has anything else to say of itself.
            Told::Met { .. } | Told::Parted { .. } | Told::Said(_) | Told::Dropped { .. } => None,
        };
        if let Some(input) = input {
            // What is refused is of a link, or for a life, that is over.
            _ = self.take(now, input, desk);
        }
    }

    fn run_due(&mut self, now: Time, desk: &mut Desk<'_>) {
        self.seat.run_due(now, &mut self.watch, &mut self.out);
        self.carry_out(now, desk);
    }

    fn due(&self) -> Option<Time> {
        self.seat.due()
    }

    fn lease_ends(&self) -> Option<Time> {
        self.seat.lease_ends()
    }

    fn unstored(&mut self) -> Option<Vec<u8>> {
        self.seat.unstored().map(stored::encode)
    }

    fn status(&self) -> Status {
        self.seat.node().protocol().status()
    }
}

//! The shell around a protocol: what an application or the network may get wrong is turned away here.

use core::mem;
use core::time::Duration;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{
    Charter, Contacts, ContactsOf, Demand, Effect, Grant, Incarnation, NodeId, Out, Protocol, Section, Units,
    carries_permits,
};

/// Everything that can happen to a node.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Input<M, V, T> {
    /// The application asks for units.
    Request(Demand),
    /// The application no longer wants what it asked for; if it is granted all the same, it is released at once.
    Cancel,
    /// The application returns what it was granted.
    Release,
    /// An application that was granted this in an earlier life of the node is still there, and shows it.
    Resume {
        /// What it was granted.
        grant: Grant,
        /// How long its lease has to go, where a grant is a lease.
        left: Duration,
    },
    /// No application of an earlier life of the node is there any more.
    Gone,
    /// A message arrived.
    Message {
        /// The sender.
        from: NodeId,
        /// Of the link it came over, or of this node's life in the neighbourhood.
        incarnation: Incarnation,
        /// The content.
        message: M,
    },
    /// A message of this node will never arrive.
    Undelivered {
        /// The receiver it did not reach.
        to: NodeId,
        /// The content.
        message: M,
    },
    /// A timer has run out.
    Timer(T),
    /// The layer below reports a change.
    Below(V),
}

/// The inputs of a protocol's node.
pub type InputOf<P> = Input<<P as Protocol>::Message, <P as Protocol>::View, <P as Protocol>::Timer>;

/// Why an input was turned away. The protocol has not seen it, and nothing has changed.
#[derive(Clone, PartialEq, Eq, Debug, Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// Only one request at a time.
    #[error("the application has asked already and still waits")]
    AlreadyWaiting,
    /// A grant must be released before the next request.
    #[error("the application holds a grant; it must release it before it asks again")]
    AlreadyHolding,
    /// The demand could never be granted.
    #[error("{asked} units were asked for, but this algorithm grants at most {most} at a time")]
    TooManyUnits {
        /// How many were asked for.
        asked: u32,
        /// How many can be had.
        most: u32,
    },
    /// A cancelled request is still on its way; another demand has to wait for it.
    #[error("a cancelled request for other units is still on its way")]
    StillWithdrawing,
    /// There is no grant to release.
    #[error("the application holds nothing that it could release")]
    NotHolding,
    /// It may still be in use.
    #[error("an application of an earlier life of this node may still use what it was granted")]
    LeftInUse,
    /// Nothing like that was in use in an earlier life, or it has run out.
    #[error("this node does not know of any such grant of an earlier life")]
    NotLeft,
    /// There is no request to cancel.
    #[error("the application waits for nothing that it could cancel")]
    NotWaiting,
    /// The link layer has not announced this sender.
    #[error("a message of node {from}, which is no neighbour")]
    UnknownSender {
        /// Who it is said to come from.
        from: NodeId,
    },
    /// A late message of a link that has failed since, or to an earlier life of the node.
    #[error("a message of node {from} of former times (incarnation {got:?}, now {now:?})")]
    WrongIncarnation {
        /// The sender.
        from: NodeId,
        /// The incarnation that the message belongs to.
        got: Incarnation,
        /// The incarnation of the link, or the life, as it is now.
        now: Incarnation,
    },
    /// A node is no neighbour of its own.
    #[error("a link of the node to itself")]
    OwnLink,
    /// The link is up already.
    #[error("the link to node {peer} is up already")]
    LinkAlreadyUp {
        /// The other end.
        peer: NodeId,
    },
    /// There is no such link to fail.
    #[error("there is no such link to node {peer}")]
    NoSuchLink {
        /// The other end.
        peer: NodeId,
    },
    /// It cannot enter a second neighbourhood, or leave one twice.
    #[error("the node is in a neighbourhood already, or about to leave it")]
    AlreadyInside,
    /// Nothing reaches a node that is in no neighbourhood.
    #[error("the node is in no neighbourhood")]
    Outside,
}

/// What the application has asked for and got.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Phase {
    Idle,
    Waiting(Demand),
    /// Waiting for a demand that nobody wants any more.
    Withdrawn(Demand),
    Holding(Grant),
    /// An application of an earlier life may still use this.
    Left(Grant),
}

/// What a node stores, so that it can come back after it was killed.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Stored<D> {
    /// Of its protocol.
    pub protocol: D,
    /// What its application was granted, unless a grant is a lease and ends by itself.
    pub grant: Option<Grant>,
}

/// A protocol behind its shell.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Node<P: Protocol> {
    id: NodeId,
    protocol: P,
    phase: Phase,
    contacts: ContactsOf<P::View>,
}

impl<P: Protocol> Node<P> {
    /// A node whom these may speak to from the start.
    pub fn new(id: NodeId, protocol: P, contacts: ContactsOf<P::View>) -> Self {
        Self { id, protocol, phase: Phase::Idle, contacts }
    }

    /// The node that stored this and was killed, in its next life; these may speak to it.
    pub fn restore(
        id: NodeId,
        charter: &Charter<P::Variant>,
        stored: Stored<P::Durable>,
        contacts: ContactsOf<P::View>,
        out: &mut Out<P>,
    ) -> Self {
        let protocol = P::restore(id, charter, stored.protocol, out);
        let left = stored.grant.filter(|_| protocol.section() == Section::Critical);
        Self { id, protocol, phase: left.map_or(Phase::Idle, Phase::Left), contacts }
    }

    /// A node that knows nothing and holds nothing, to whom nobody may speak before it is told anything.
    pub fn blank(id: NodeId, charter: &Charter<P::Variant>) -> Self {
        Self::new(id, P::blank(id, charter), ContactsOf::<P::View>::default())
    }

    /// This node after it was killed and started again: it has what it had stored, and nothing else. None of its links
    /// is up; in a neighbourhood it is in the same life as before.
    #[must_use]
    pub fn restarted(&self, charter: &Charter<P::Variant>, out: &mut Out<P>) -> Self {
        self.restarted_with(self.durable(), charter, out)
    }

    /// Likewise, where this is what was stored.
    #[must_use]
    pub fn restarted_with(&self, stored: Stored<P::Durable>, charter: &Charter<P::Variant>, out: &mut Out<P>) -> Self {
        let contacts = self.contacts.restarted();
        Self::restore(self.id, charter, stored, contacts, out)
    }

    /// This node after it was killed, and what it had stored was lost: nobody may speak to it before it is told anew
    /// where it is.
    #[must_use]
    pub fn wiped(&self, charter: &Charter<P::Variant>) -> Self {
        Self::blank(self.id, charter)
    }

    /// What it must have when it comes back after it was killed.
    pub fn durable(&self) -> Stored<P::Durable> {
        let grant = self.grant().or(self.left()).filter(|_| self.protocol.lease().is_none());
        Stored { protocol: self.protocol.durable(), grant }
    }

    /// Which node it is.
    pub fn id(&self) -> NodeId {
        self.id
    }

    /// The protocol inside.
    pub fn protocol(&self) -> &P {
        &self.protocol
    }

    /// What the application waits for now.
    pub fn demand(&self) -> Option<Demand> {
        match self.phase {
            Phase::Waiting(demand) => Some(demand),
            _ => None,
        }
    }

    /// What the protocol waits for now, whether or not anybody still wants it.
    pub fn pending(&self) -> Option<Demand> {
        match self.phase {
            Phase::Waiting(demand) | Phase::Withdrawn(demand) => Some(demand),
            Phase::Idle | Phase::Holding(_) | Phase::Left(_) => None,
        }
    }

    /// Whether the application may ask for this now. A cancelled request can only be taken up again as it was.
    pub fn may_ask(&self, demand: Demand) -> bool {
        match self.phase {
            Phase::Idle => true,
            Phase::Withdrawn(earlier) => earlier == demand,
            Phase::Waiting(_) | Phase::Holding(_) | Phase::Left(_) => false,
        }
    }

    /// The incarnation under which messages of `peer` arrive now, if they may.
    pub fn incarnation(&self, peer: NodeId) -> Option<Incarnation> {
        self.contacts.incarnation(peer)
    }

    /// Who may speak to it.
    pub fn contacts(&self) -> &ContactsOf<P::View> {
        &self.contacts
    }

    /// What the application holds now.
    pub fn grant(&self) -> Option<Grant> {
        match self.phase {
            Phase::Holding(grant) => Some(grant),
            _ => None,
        }
    }

    /// What an application of an earlier life may still use.
    pub fn left(&self) -> Option<Grant> {
        match self.phase {
            Phase::Left(grant) => Some(grant),
            _ => None,
        }
    }

    /// Takes one input; the effects go into `out`, behind what is there already.
    pub fn step(&mut self, input: InputOf<P>, out: &mut Out<P>) -> Result<(), Refusal> {
        let start = out.effects().len();
        match input {
            Input::Request(demand) => self.request(demand, out)?,
            Input::Cancel => self.cancel()?,
            Input::Release => self.release(out)?,
            Input::Resume { grant, left } => self.resume(grant, left, out)?,
            Input::Gone => self.gone(out)?,
            Input::Message { from, incarnation, message } => {
                self.admit(from, incarnation, carries_permits::<P>(&message))?;
                self.protocol.message(from, message, out);
            }
            Input::Undelivered { to, message } => self.protocol.undelivered(to, message, out),
            Input::Timer(timer) => self.protocol.timer(timer, out),
            Input::Below(view) => {
                self.contacts.hear(self.id, &view)?;
                self.protocol.below(view, out);
            }
        }
        self.take_revocation(start, out);
        self.take_grant(start, out);
        Ok(())
    }

    fn request(&mut self, demand: Demand, out: &mut Out<P>) -> Result<(), Refusal> {
        let most: Units = self.protocol.units_max();
        if demand.units > most {
            return Err(Refusal::TooManyUnits { asked: demand.units.count(), most: most.count() });
        }
        match self.phase {
            Phase::Idle => {
                self.phase = Phase::Waiting(demand);
                self.protocol.request(demand, out);
                Ok(())
            }
            Phase::Withdrawn(earlier) if earlier == demand => {
                self.phase = Phase::Waiting(demand);
                Ok(())
            }
            Phase::Withdrawn(_) => Err(Refusal::StillWithdrawing),
            Phase::Waiting(_) => Err(Refusal::AlreadyWaiting),
            Phase::Holding(_) => Err(Refusal::AlreadyHolding),
            Phase::Left(_) => Err(Refusal::LeftInUse),
        }
    }

    fn cancel(&mut self) -> Result<(), Refusal> {
        match self.phase {
            Phase::Waiting(demand) => {
                self.phase = Phase::Withdrawn(demand);
                Ok(())
            }
            _ => Err(Refusal::NotWaiting),
        }
    }

    fn release(&mut self, out: &mut Out<P>) -> Result<(), Refusal> {
        match self.phase {
            Phase::Holding(_) => {
                self.phase = Phase::Idle;
                self.protocol.release(out);
                Ok(())
            }
            _ => Err(Refusal::NotHolding),
        }
    }

    fn resume(&mut self, grant: Grant, left: Duration, out: &mut Out<P>) -> Result<(), Refusal> {
        let is_its_own = match self.phase {
            Phase::Left(known) => known == grant,
            Phase::Idle => self.protocol.resume(grant, left, out),
            Phase::Waiting(_) | Phase::Withdrawn(_) => return Err(Refusal::AlreadyWaiting),
            Phase::Holding(_) => return Err(Refusal::AlreadyHolding),
        };
        if !is_its_own {
            return Err(Refusal::NotLeft);
        }
        self.phase = Phase::Holding(grant);
        Ok(())
    }

    fn gone(&mut self, out: &mut Out<P>) -> Result<(), Refusal> {
        let Phase::Left(_) = self.phase else { return Err(Refusal::NotLeft) };
        self.phase = Phase::Idle;
        self.protocol.release(out);
        Ok(())
    }

    /// Whether the layer below could have delivered this. Permits may come late, from a former neighbour.
    pub fn admit(&self, from: NodeId, got: Incarnation, permits: bool) -> Result<(), Refusal> {
        match self.incarnation(from) {
            Some(now) if now == got => Ok(()),
            Some(now) => Err(Refusal::WrongIncarnation { from, got, now }),
            None => self.contacts.admits_late(self.id, from, permits),
        }
    }

    /// Notes what the step may have taken away: the units, or the neighbourhood.
    fn take_revocation(&mut self, start: usize, out: &Out<P>) {
        for effect in &out.effects()[start..] {
            match effect {
                Effect::Revoke(demand) => self.phase = Phase::Waiting(*demand),
                Effect::Depart => self.contacts.depart(),
                _ => {}
            }
        }
    }

    /// Notes the grant that the step may have made. One that nobody wants any more is released before anybody sees it.
    fn take_grant(&mut self, start: usize, out: &mut Out<P>) {
        let granted = out.effects()[start..].iter().find_map(|effect| match effect {
            Effect::Grant(grant) => Some(*grant),
            _ => None,
        });
        let Some(grant) = granted else { return };
        if matches!(mem::replace(&mut self.phase, Phase::Holding(grant)), Phase::Withdrawn(_)) {
            out.withdraw_grant(start);
            self.phase = Phase::Idle;
            self.protocol.release(out);
        }
    }
}

//! What link layers send to one another.

use driftlock_protocol::{Incarnation, NodeId};
use serde::{Deserialize, Serialize};

use super::purpose::Mark;
use crate::Boot;
use crate::advert::Notice;
use crate::custody::{Doubt, Statement};
use crate::parcel::Resource;

/// Tells one attempt to form a link from another of the same caller. A later one is greater.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct CallId {
    /// Of the caller.
    pub boot: Boot,
    /// Greater than every incarnation that the caller knows of between the two.
    pub number: Incarnation,
}

/// A frame. A link forms like this, the lower id calling:
///
/// ```text
/// caller                      answerer
///   | <------ Hello ----------- |   each hears the other, and hears that it is heard
///   | ------- Hello ----------> |
///   | ------- Call -----------> |   takes what was in doubt at the caller
///   | <------ Answer ---------- |   takes what was in doubt at the answerer; up at the caller
///   | ------- Ack or Data ----> |   up at the answerer
///   | <------ Data, Ack ------> |
///   | ------- Reset ----------> |   down at both
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Frame<M> {
    /// To all nodes in reach.
    Hello(Hello),
    /// Let there be a link.
    Call {
        /// This attempt.
        call: CallId,
        /// What the caller has had.
        statement: Statement,
        /// What the answerer may not have had.
        doubts: Vec<Doubt<M>>,
        /// What the caller wants links for, in growing order.
        resources: Vec<Resource>,
    },
    /// Let it have this incarnation.
    Answer {
        /// The attempt that is answered.
        call: CallId,
        /// At least the number of the call, and greater than all that the answerer knows of between the two.
        incarnation: Incarnation,
        /// What the answerer has had.
        statement: Statement,
        /// What the caller may not have had.
        doubts: Vec<Doubt<M>>,
        /// What the answerer wants links for, in growing order.
        resources: Vec<Resource>,
    },
    /// A message.
    Data {
        /// Which link, and what has arrived there.
        head: Head,
        /// Its place among the messages of this incarnation and direction, from 0.
        sequence: u64,
        /// Its number among those with permits of this life of the sender, if it is one.
        transfer: Option<u64>,
        /// The content.
        message: M,
    },
    /// Messages that follow one another, as if each came by itself.
    Run {
        /// As in a message by itself.
        head: Head,
        /// Of the first.
        sequence: u64,
        /// Each with its number among those with permits, if it is one.
        messages: Vec<(Option<u64>, M)>,
    },
    /// A message without permits, to several at once.
    Shared {
        /// Whose it is, with its place in the order of each link.
        parts: Vec<Part>,
        /// The content.
        message: M,
    },
    /// No message, but what has arrived.
    Ack(Head),
    /// The same, to several at once.
    Acks(Vec<(NodeId, Head)>),
    /// The same, and a question: the receiver has not been heard for a while.
    Probe(Head),
    /// The sender is in no incarnation up to this one, and will never be again.
    Reset {
        /// Of the link that is no more, or will never be.
        incarnation: Incarnation,
    },
    /// What the receiver may not have had. May come over any path.
    Offer {
        /// The sender is in no incarnation up to this one, and will never be again.
        incarnation: Incarnation,
        /// In growing order.
        doubts: Vec<Doubt<M>>,
    },
    /// The answer to an offer: what the sender has had. May come over any path.
    Verdict(Statement),
}

impl<M> Frame<M> {
    /// The messages in it that must not be lost.
    pub fn kept(&self) -> impl Iterator<Item = &M> {
        let (message, run, doubts): (_, &[_], &[_]) = match self {
            Self::Data { transfer: Some(_), message, .. } => (Some(message), &[], &[]),
            Self::Run { messages, .. } => (None, messages, &[]),
            Self::Call { doubts, .. } | Self::Answer { doubts, .. } | Self::Offer { doubts, .. } => (None, &[], doubts),
            _ => (None, &[], &[]),
        };
        let of_run = run.iter().filter_map(|(transfer, message)| transfer.map(|_| message));
        message.into_iter().chain(of_run).chain(doubts.iter().map(|doubt| &doubt.message))
    }
}

/// What one receiver of a message to several has to know.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Part {
    /// The receiver.
    pub to: NodeId,
    /// As in a message to it alone.
    pub head: Head,
    /// Likewise.
    pub sequence: u64,
}

/// What every frame of a link that is up begins with.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Head {
    /// Of the sender. With the boots of both the incarnation is unique, even if one or both have forgotten all before.
    pub boot: Boot,
    /// Of the receiver, as the sender knows it.
    pub to: Boot,
    /// Of the link.
    pub incarnation: Incarnation,
    /// So many messages of the other direction have been delivered.
    pub acknowledges: u64,
}

/// "I am here, and I hear these."
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Hello {
    /// Of the sender.
    pub boot: Boot,
    /// How many it has sent before.
    pub count: u32,
    /// The next follows within this time.
    pub interval_ms: u32,
    /// How many nodes it hears at all.
    pub crowd: u32,
    /// Of the resources that it wants links for.
    pub mark: Mark,
    /// To whom it has links.
    pub links: Vec<NodeId>,
    /// How many others it hears well. Each of them is listed at least once in a round of hellos.
    pub hears: u32,
    /// Some of those, always the same best-ranked ones first.
    pub list: Vec<NodeId>,
    /// Who has called in vain, and need not call again as long as it is named here: others make up for the link.
    pub spared: Vec<NodeId>,
    /// What it says of itself, and has heard of others.
    pub notices: Vec<Notice>,
}

//! Custody: a message that carries permits is never lost and never doubled, whatever becomes of its link.
//!
//! Such a message is known to both ends by its [`Transfer`]: the incarnation of its link, which the two use once, and its
//! place in the sequence. The sender keeps it until it is acknowledged. If the link breaks before, the message is *in
//! doubt*, and its units are available to nobody. Of its side the receiver remembers one number: how many messages it has
//! delivered of the last incarnation. As nothing of an incarnation is delivered when it is over, that number is final, and
//! it is an answer to every question about it: "these I had, the others I never had and will never take". A message that
//! the receiver had is forgotten by the sender; any other is the sender's again, as undelivered.
//!
//! The two always tell each other that number before a new link between them can come up: the call and the answer carry
//! it. So each end is in doubt about one incarnation at most, and remembers one number for each peer: no list of transfers
//! grows anywhere. When the two do not meet again, the sender asks over a path ([`crate::link::Frame::Inquiry`]).

use driftlock_protocol::{Incarnation, NodeId};
use serde::{Deserialize, Serialize};

use crate::Time;
use crate::link::settings::from_ms;
use crate::link::{Boot, CallId, Effect, Head, Settings};

/// Names a message for both ends.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Transfer {
    /// Of the link it was sent over.
    pub incarnation: Incarnation,
    /// Its place among the messages of that incarnation and direction, from 0.
    pub sequence: u64,
}

/// What an end had of one incarnation, when that is over.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Record {
    /// The last that was up here.
    pub incarnation: Incarnation,
    /// So many messages of the other end were delivered.
    pub delivered: u64,
}

/// What a node can say to a peer about the messages between them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Statement {
    /// Of the speaker.
    pub boot: Boot,
    /// It remembers everything since this boot.
    pub since: Boot,
    /// About the last link between the two. `None`: there was none, or nothing of it needs to be remembered.
    pub last: Option<Record>,
}

/// Messages with permits whose arrival is not known.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Doubts<M> {
    /// Of the link that broke under them.
    pub incarnation: Incarnation,
    /// Of the peer, then. Who has forgotten that life can not answer for it.
    pub boot: Boot,
    /// Each with its place in the sequence, in growing order; at least one.
    pub messages: Vec<(u64, M)>,
}

/// What must survive a restart so that no message in custody is lost or doubled.
///
/// It is to be written whenever a call of the link layer has changed it, before the effects of that call are carried out, and together with what the
/// protocol has to keep: a token must be in one of the two and never in both.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Durable<M> {
    pub(crate) since: Boot,
    pub(crate) floor: Incarnation,
    pub(crate) peers: Vec<Kept<M>>,
}

/// The part of it that concerns one peer.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub(crate) struct Kept<M> {
    pub(crate) peer: NodeId,
    pub(crate) last: Incarnation,
    pub(crate) call: Option<CallId>,
    pub(crate) record: Option<Record>,
    pub(crate) doubts: Option<Doubts<M>>,
}

/// What is remembered of the former links to one peer.
#[derive(Clone, Debug)]
pub(crate) struct Custody<M> {
    /// Of the last one. `None`: no message with permits was delivered over it.
    pub(crate) record: Option<Record>,
    pub(crate) doubts: Option<Box<Doubts<M>>>,
    /// When the peer is asked next, over a path, and how often it was asked.
    ask_at: Time,
    asked: u32,
}

impl<M> Custody<M> {
    /// After these links, as of `now`.
    pub(crate) fn new(now: Time, record: Option<Record>, doubts: Option<Doubts<M>>, settings: &Settings) -> Self {
        let ask_at = now + from_ms(settings.inquire_ms);
        Self { record, doubts: doubts.map(Box::new), ask_at, asked: 0 }
    }

    /// A former neighbour has to be asked at this time.
    pub(crate) fn ask_at(&self) -> Option<Time> {
        self.doubts.as_ref().map(|_| self.ask_at)
    }

    /// The incarnation to ask about, if that is due; the next time is later.
    pub(crate) fn inquire(&mut self, now: Time, settings: &Settings) -> Option<Incarnation> {
        let incarnation = self.doubts.as_ref().filter(|_| self.ask_at <= now)?.incarnation;
        self.asked += 1;
        let first = from_ms(settings.inquire_ms.max(1));
        self.ask_at = now + Settings::backed_off(first, self.asked, settings.inquire_ms_max.max(1));
        Some(incarnation)
    }

    /// A late acknowledgement: these have arrived. Of the others nothing is known yet.
    pub(crate) fn acknowledged(&mut self, to: NodeId, head: Head, out: &mut Vec<Effect<M>>) {
        let Head { boot, incarnation, acknowledges: delivered, .. } = head;
        let in_question = |doubts: &&mut Box<Doubts<M>>| (doubts.boot, doubts.incarnation) == (boot, incarnation);
        let Some(doubts) = self.doubts.as_mut().filter(in_question) else { return };
        let arrived = doubts.messages.partition_point(|&(sequence, _)| sequence < delivered);
        for (sequence, _) in doubts.messages.drain(..arrived) {
            out.push(Effect::Settled { to, transfer: Transfer { incarnation, sequence } });
        }
        if doubts.messages.is_empty() {
            self.doubts = None;
        }
    }

    /// The peer has spoken, after it had left the incarnation in doubt: each message is settled.
    pub(crate) fn settle(&mut self, to: NodeId, statement: &Statement, out: &mut Vec<Effect<M>>) {
        // A word from a life before the one in question says nothing about it.
        let Some(doubts) = self.doubts.take_if(|doubts| doubts.boot <= statement.boot) else { return };
        let Doubts { incarnation, boot, messages } = *doubts;
        let delivered = match statement.last {
            _ if boot < statement.since => None,
            Some(last) if last.incarnation > incarnation => None,
            Some(last) if last.incarnation == incarnation => Some(last.delivered),
            Some(_) | None => Some(0),
        };
        for (sequence, message) in messages {
            out.push(match delivered {
                None => Effect::Lost { to, message },
                Some(delivered) if sequence < delivered => {
                    Effect::Settled { to, transfer: Transfer { incarnation, sequence } }
                }
                Some(_) => Effect::Undelivered { to, message },
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PEER: NodeId = NodeId(3);
    const BROKEN: Incarnation = Incarnation(10);

    fn in_doubt() -> Custody<char> {
        let doubts = Doubts { incarnation: BROKEN, boot: Boot(2), messages: vec![(4, 'x'), (6, 'y')] };
        Custody::new(Time::ZERO, None, Some(doubts), &Settings::default())
    }

    fn settled(since: u32, last: Option<(u32, u64)>) -> Vec<Effect<char>> {
        let last = last.map(|(incarnation, delivered)| Record { incarnation: Incarnation(incarnation), delivered });
        let mut out = Vec::new();
        let mut custody = in_doubt();
        custody.settle(PEER, &Statement { boot: Boot(1), since: Boot(1), last: None }, &mut out);
        assert_eq!(out, [], "said in a life before");
        custody.settle(PEER, &Statement { boot: Boot(3), since: Boot(since), last }, &mut out);
        assert!(custody.doubts.is_none());
        out
    }

    fn arrived(sequence: u64) -> Effect<char> {
        Effect::Settled { to: PEER, transfer: Transfer { incarnation: BROKEN, sequence } }
    }

    fn returned(message: char) -> Effect<char> {
        Effect::Undelivered { to: PEER, message }
    }

    #[test]
    fn what_the_peer_had_is_forgotten_and_what_it_never_had_comes_back() {
        assert_eq!(settled(2, Some((10, 7))), [arrived(4), arrived(6)]);
        assert_eq!(settled(1, Some((10, 5))), [arrived(4), returned('y')]);
        assert_eq!(settled(1, Some((10, 4))), [returned('x'), returned('y')]);
    }

    #[test]
    fn a_peer_at_which_the_link_never_came_up_had_nothing() {
        assert_eq!(settled(2, Some((9, 99))), [returned('x'), returned('y')]);
        assert_eq!(settled(2, None), [returned('x'), returned('y')]);
    }

    #[test]
    fn a_peer_that_has_forgotten_can_not_say_and_the_messages_are_lost() {
        let lost = ['x', 'y'].map(|message| Effect::Lost { to: PEER, message });
        assert_eq!(settled(3, None), lost);
        assert_eq!(settled(3, Some((10, 7))), lost);
        assert_eq!(
            settled(2, Some((11, 0))),
            lost,
            "it has been in another incarnation since, and only this end has forgotten"
        );
    }

    #[test]
    fn a_late_acknowledgement_settles_what_it_covers() {
        let (mut custody, mut out) = (in_doubt(), Vec::new());
        custody.acknowledged(
            PEER,
            Head { boot: Boot(2), to: Boot(1), incarnation: Incarnation(9), acknowledges: 9 },
            &mut out,
        );
        custody.acknowledged(PEER, Head { boot: Boot(1), to: Boot(1), incarnation: BROKEN, acknowledges: 9 }, &mut out);
        custody.acknowledged(PEER, Head { boot: Boot(2), to: Boot(1), incarnation: BROKEN, acknowledges: 4 }, &mut out);
        assert_eq!(out, []);
        custody.acknowledged(PEER, Head { boot: Boot(2), to: Boot(1), incarnation: BROKEN, acknowledges: 5 }, &mut out);
        assert_eq!(out, [arrived(4)]);
        custody.acknowledged(PEER, Head { boot: Boot(2), to: Boot(1), incarnation: BROKEN, acknowledges: 7 }, &mut out);
        assert_eq!(out, [arrived(4), arrived(6)]);
        assert!(custody.doubts.is_none());
    }

    #[test]
    fn a_former_neighbour_is_asked_ever_more_rarely() {
        let (settings, mut custody) = (Settings::default(), in_doubt());
        assert_eq!(custody.inquire(Time::ZERO, &settings), None);
        let mut asked = Vec::new();
        for _ in 0..8 {
            let at = custody.ask_at().unwrap();
            assert_eq!(custody.inquire(at, &settings), Some(BROKEN));
            asked.push(at.0 / 1_000_000_000);
        }
        assert_eq!(asked, [1, 3, 7, 15, 31, 63, 123, 183]);
    }
}

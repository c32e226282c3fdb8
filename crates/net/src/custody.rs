//! Custody: a message that carries permits is never lost and never doubled, whatever becomes of its link.
//!
//! Such a message has a [`Transfer`], by which both ends know it for ever. The sender keeps it until it is
//! acknowledged. If the link breaks before, the message is *in doubt*: no node can say whether it arrived, and its
//! units are available to none. The sender then offers it to its receiver again, however it can reach it: over a path,
//! and in any case before there is a link between the two again, because the call and the answer that form one carry
//! what is in doubt. A receiver that never had it takes it as a message of a former neighbour; one that had it says so.
//!
//! A sender's transfers are offered and taken in growing order, so of each sender one number tells a receiver all that
//! it has had: no list of transfers grows anywhere.

use driftlock_protocol::{Incarnation, NodeId};
use serde::{Deserialize, Serialize};

use crate::link::settings::from_ms;
use crate::link::{CallId, Effect, Settings};
use crate::{Boot, Time, Transfer};

/// What a node can say to a peer about the messages between them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Statement {
    /// Of the speaker.
    pub boot: Boot,
    /// It remembers everything since this boot.
    pub since: Boot,
    /// The last of the peer's transfers that it has had.
    pub had: Option<Transfer>,
}

/// A message with permits whose arrival is not known.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Doubt<M> {
    /// Which one.
    pub transfer: Transfer,
    /// Of the link that broke under it.
    pub incarnation: Incarnation,
    /// Of the receiver, then. Who has forgotten that life does not know whether it had the message.
    pub to: Boot,
    /// The content.
    pub message: M,
}

/// What must survive a restart so that no message in custody is lost or doubled.
///
/// It is to be written whenever a call of the link layer has changed it, before the effects of that call are carried
/// out, and together with what the protocol has to keep: a token must be in one of the two and never in both. Sessions
/// store another thing ([`crate::session::Durable`]): a session is named by the boot of its sender, so neither end
/// has to remember how far incarnations have come, and a receiver that has forgotten takes what it is sent.
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
    pub(crate) had: Option<Transfer>,
    pub(crate) doubts: Vec<Doubt<M>>,
}

/// What is remembered of the messages with permits to and from one peer.
#[derive(Clone, Debug)]
pub(crate) struct Custody<M> {
    /// The last of the peer's transfers that was delivered here.
    pub(crate) had: Option<Transfer>,
    /// What the peer may or may not have had, in growing order.
    pub(crate) doubts: Vec<Doubt<M>>,
    /// When the peer is made an offer next, over a path, and how often it was made one.
    offer_at: Time,
    offered: u32,
}

impl<M: Clone> Custody<M> {
    /// As it was remembered.
    pub(crate) fn new(now: Time, had: Option<Transfer>, doubts: Vec<Doubt<M>>, settings: &Settings) -> Self {
        Self { had, doubts, offer_at: now + from_ms(settings.offer_ms), offered: 0 }
    }

    /// A link has broken under these.
    pub(crate) fn doubt(&mut self, now: Time, doubts: Vec<Doubt<M>>, settings: &Settings) {
        debug_assert!(self.doubts.is_empty(), "a link comes up when all doubts are settled");
        *self = Self::new(now, self.had, doubts, settings);
    }

    /// When a former neighbour is to be made an offer.
    pub(crate) fn offer_at(&self) -> Option<Time> {
        (!self.doubts.is_empty()).then_some(self.offer_at)
    }

    /// What is to be offered, if that is due, and the incarnation that is over; the next time is later.
    pub(crate) fn offer(&mut self, now: Time, settings: &Settings) -> Option<(Incarnation, Vec<Doubt<M>>)> {
        let last = self.doubts.last().filter(|_| self.offer_at <= now)?.incarnation;
        self.offered += 1;
        let first = from_ms(settings.offer_ms.max(1));
        self.offer_at = now + Settings::backed_off(first, self.offered, settings.offer_ms_max.max(1));
        Some((last, self.doubts.clone()))
    }

    /// Takes what the peer offers, unless it was had before, or may have been had before: since `since` nothing is
    /// forgotten. No link to the peer is up.
    pub(crate) fn take(&mut self, from: NodeId, since: Boot, offer: Vec<Doubt<M>>, out: &mut Vec<Effect<M>>) {
        for Doubt { transfer, incarnation, to, message } in offer {
            if since <= to && self.had < Some(transfer) {
                self.had = Some(transfer);
                out.push(Effect::Deliver { from, incarnation, message });
            }
        }
    }

    /// The peer has said what it has had. Of the rest nothing is known yet.
    pub(crate) fn settle(&mut self, to: NodeId, statement: &Statement, out: &mut Vec<Effect<M>>) {
        self.doubts.retain(|doubt| {
            if doubt.to < statement.since {
                out.push(Effect::Lost { to, message: doubt.message.clone() });
            } else if Some(doubt.transfer) <= statement.had {
                out.push(Effect::Settled { to, transfer: doubt.transfer });
            } else {
                return true;
            }
            false
        });
    }

    /// The peer has shown that it has had everything.
    pub(crate) fn settle_all(&mut self, to: NodeId, out: &mut Vec<Effect<M>>) {
        out.extend(self.doubts.drain(..).map(|doubt| Effect::Settled { to, transfer: doubt.transfer }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PEER: NodeId = NodeId(3);
    const BROKEN: Incarnation = Incarnation(10);

    fn transfer(number: u64) -> Transfer {
        Transfer { boot: Boot(5), number }
    }

    fn doubt(number: u64, message: char) -> Doubt<char> {
        Doubt { transfer: transfer(number), incarnation: BROKEN, to: Boot(2), message }
    }

    fn in_doubt() -> Custody<char> {
        Custody::new(Time::ZERO, None, vec![doubt(4, 'x'), doubt(6, 'y')], &Settings::default())
    }

    fn settled(since: u32, had: Option<Transfer>) -> (Vec<Effect<char>>, usize) {
        let (mut out, mut custody) = (Vec::new(), in_doubt());
        custody.settle(PEER, &Statement { boot: Boot(3), since: Boot(since), had }, &mut out);
        (out, custody.doubts.len())
    }

    fn arrived(number: u64) -> Effect<char> {
        Effect::Settled { to: PEER, transfer: transfer(number) }
    }

    #[test]
    fn what_the_peer_had_is_forgotten_and_what_it_never_had_is_kept() {
        assert_eq!(settled(2, Some(transfer(6))), (vec![arrived(4), arrived(6)], 0));
        assert_eq!(settled(2, Some(transfer(5))), (vec![arrived(4)], 1));
        assert_eq!(settled(1, Some(transfer(3))), (vec![], 2));
        assert_eq!(settled(1, None), (vec![], 2));
        let of_a_later_life = Transfer { boot: Boot(6), number: 0 };
        assert_eq!(settled(1, Some(of_a_later_life)), (vec![arrived(4), arrived(6)], 0));
    }

    #[test]
    fn a_peer_that_has_forgotten_can_not_say_and_the_messages_are_lost() {
        let lost = ['x', 'y'].map(|message| Effect::Lost { to: PEER, message }).to_vec();
        assert_eq!(settled(3, None), (lost.clone(), 0));
        assert_eq!(settled(3, Some(transfer(9))), (lost, 0));
    }

    #[test]
    fn an_offer_is_taken_once_in_order_and_not_by_who_may_have_had_it_before() {
        let deliver = |message| Effect::Deliver { from: PEER, incarnation: BROKEN, message };
        let (mut custody, mut out) = (Custody::new(Time::ZERO, None, Vec::new(), &Settings::default()), Vec::new());
        custody.take(PEER, Boot(3), in_doubt().doubts, &mut out);
        assert_eq!((out.len(), custody.had), (0, None), "it has forgotten that life");
        custody.take(PEER, Boot(2), vec![doubt(4, 'x')], &mut out);
        custody.take(PEER, Boot(2), in_doubt().doubts, &mut out);
        custody.take(PEER, Boot(2), in_doubt().doubts, &mut out);
        assert_eq!(out, [deliver('x'), deliver('y')]);
        assert_eq!(custody.had, Some(transfer(6)));
    }

    #[test]
    fn a_former_neighbour_is_made_an_offer_ever_more_rarely() {
        let (settings, mut custody) = (Settings::default(), in_doubt());
        assert_eq!(custody.offer(Time::ZERO, &settings), None);
        let mut offered = Vec::new();
        for _ in 0..8 {
            let at = custody.offer_at().unwrap();
            assert_eq!(custody.offer(at, &settings), Some((BROKEN, in_doubt().doubts)));
            offered.push(at.0 / 1_000_000_000);
        }
        assert_eq!(offered, [1, 3, 7, 15, 31, 63, 123, 183]);
    }
}

//! The reliable exchange over one incarnation of a link: in order, each message once.
//!
//! Messages go through a [window](crate::window), and what is not acknowledged is transmitted again, ever more rarely;
//! that nothing gets through is not for the channel to conclude.

use driftlock_protocol::{Incarnation, NodeId};

use super::peer::Own;
use super::settings::from_ms;
use super::{Effect, Frame, Head, Part};
use crate::window::{InOrder, Pending, Unacknowledged};
use crate::{Boot, Span, Time};

/// A message that was transmitted so long ago was not overtaken by the next one, but is lost.
const OVERTAKEN_MS: u32 = 20;

/// A message, with its number among those with permits, if it is one.
type Content<M> = (Option<u64>, M);

/// One end of an incarnation.
#[derive(Clone, Debug)]
pub(super) struct Channel<M> {
    peer: NodeId,
    /// Of this node.
    my_boot: Boot,
    /// Of the peer.
    pub(super) boot: Boot,
    pub(super) incarnation: Incarnation,
    /// What this end was given to send, as far as it is not acknowledged.
    pub(super) sent: Unacknowledged<Content<M>>,
    resend_at: Option<Time>,
    received: InOrder<Content<M>>,
    /// The last of the peer's messages with permits that was delivered.
    pub(super) had: Option<u64>,
    acknowledge_at: Option<Time>,
    /// When a message of either end was last here.
    carried_at: Time,
}

impl<M: Clone> Channel<M> {
    pub(super) fn new(now: Time, peer: NodeId, boot: Boot, incarnation: Incarnation, my_boot: Boot) -> Self {
        Self {
            peer,
            my_boot,
            boot,
            incarnation,
            sent: Unacknowledged::new(),
            resend_at: None,
            received: InOrder::new(),
            had: None,
            acknowledge_at: None,
            carried_at: now,
        }
    }

    /// When something is due.
    pub(super) fn due(&self) -> Option<Time> {
        [self.resend_at, self.acknowledge_at].into_iter().flatten().min()
    }

    /// Whether it has carried nothing for so long, and nothing is on the way.
    pub(super) fn is_quiet(&self, now: Time, for_so_long: Span) -> bool {
        self.sent.is_empty() && self.received.has_no_gap() && now >= self.carried_at + for_so_long
    }

    /// Puts a message behind the others.
    pub(super) fn send(
        &mut self,
        now: Time,
        transfer: Option<u64>,
        message: M,
        own: &mut Own<M>,
        out: &mut Vec<Effect<M>>,
    ) {
        self.sent.push((transfer, message));
        self.fill_window(now, own, out);
    }

    /// Puts a message without permits behind the others. If it can be transmitted now, that is for the caller to do,
    /// with this.
    pub(super) fn share(&mut self, now: Time, message: M, own: &mut Own<M>) -> Option<Part> {
        self.sent.push((None, message));
        let (sequence, _) = self.sent.transmit_next(now, own.settings.window as usize)?;
        self.expect_acknowledgement(own);
        Some(Part { to: self.peer, head: self.transmits(now), sequence })
    }

    /// A message of the peer has arrived, perhaps again, perhaps too early.
    pub(super) fn data(
        &mut self,
        now: Time,
        sequence: u64,
        content: Content<M>,
        own: &mut Own<M>,
        out: &mut Vec<Effect<M>>,
    ) {
        self.carried_at = now;
        let in_turn = self.received.take(sequence, content, own.settings.window as usize, |(transfer, message)| {
            self.had = transfer.or(self.had);
            out.push(Effect::Deliver { from: self.peer, incarnation: self.incarnation, message });
        });
        if in_turn {
            let delay = from_ms(own.settings.ack_delay_ms);
            self.acknowledge_at.get_or_insert_with(|| now + delay + own.patience.part_of(delay));
        } else {
            // Something was lost: the message before this one, or the acknowledgement of this one.
            self.acknowledge(out);
        }
    }

    /// The peer has delivered so many. What makes no sense is as good as nothing.
    pub(super) fn acknowledged(&mut self, now: Time, count: u64, own: &mut Own<M>, out: &mut Vec<Effect<M>>) {
        self.sent.round_trips(now, count).for_each(|took| own.patience.sample(took));
        if self.sent.acknowledged(count).is_none() {
            return;
        }
        self.resend_at = None;
        self.fill_window(now, own, out);
    }

    /// The peer has had something later than what it waits for, which seems to be lost: that is transmitted again soon,
    /// unless it has only been overtaken; the more rarely the more often it was.
    pub(super) fn is_missing(&mut self, now: Time, count: u64) {
        if count == self.sent.first()
            && let Some((oldest, resend_at)) = self.sent.oldest().zip(self.resend_at.as_mut())
        {
            let grace = from_ms(OVERTAKEN_MS) * (1 << (oldest.tries - 1).min(10));
            *resend_at = (*resend_at).min(now.max(oldest.sent_at + grace));
        }
    }

    fn fill_window(&mut self, now: Time, own: &mut Own<M>, out: &mut Vec<Effect<M>>) {
        while let Some((sequence, content)) = self.sent.transmit_next(now, own.settings.window as usize) {
            let content = content.clone();
            self.transmit(now, sequence, content, out);
        }
        self.expect_acknowledgement(own);
    }

    fn expect_acknowledgement(&mut self, own: &mut Own<M>) {
        if self.resend_at.is_none()
            && let Some(&Pending { tries, sent_at, .. }) = self.sent.oldest()
        {
            self.resend_at = Some(sent_at + own.patience.wait(tries - 1, &own.settings));
        }
    }

    fn transmit(&mut self, now: Time, sequence: u64, (transfer, message): Content<M>, out: &mut Vec<Effect<M>>) {
        let frame = Frame::Data { head: self.transmits(now), sequence, transfer, message };
        out.push(Effect::now(Some(self.peer), frame));
    }

    /// What a message begins with that is transmitted now. It says what has arrived here.
    fn transmits(&mut self, now: Time) -> Head {
        self.carried_at = now;
        self.acknowledges()
    }

    fn head(&self) -> Head {
        Head {
            boot: self.my_boot,
            to: self.boot,
            incarnation: self.incarnation,
            acknowledges: self.received.delivered(),
        }
    }

    /// Says at once what was delivered.
    pub(super) fn acknowledge(&mut self, out: &mut Vec<Effect<M>>) {
        let frame = Frame::Ack(self.acknowledges());
        out.push(Effect::now(Some(self.peer), frame));
    }

    /// What was delivered, for a frame that is transmitted now.
    pub(super) fn acknowledges(&mut self) -> Head {
        self.acknowledge_at = None;
        self.head()
    }

    /// When the peer is to be told what was delivered, if it is not told before.
    pub(super) fn acknowledge_at(&self) -> Option<Time> {
        self.acknowledge_at
    }

    /// Asks whether the peer is there.
    pub(super) fn probe(&mut self, out: &mut Vec<Effect<M>>) {
        let frame = Frame::Probe(self.acknowledges());
        out.push(Effect::now(Some(self.peer), frame));
    }

    /// The oldest message is transmitted again if that is due, and when it has arrived it will be the next one's turn.
    /// Tells whether it was.
    pub(super) fn woken(&mut self, now: Time, own: &mut Own<M>, out: &mut Vec<Effect<M>>) -> bool {
        if self.resend_at.is_none_or(|at| at > now) {
            return false;
        }
        own.patience.late(now, &own.settings);
        self.resend_at = None;
        if let Some((sequence, content)) = self.sent.transmit_again(now) {
            let content = content.clone();
            self.transmit(now, sequence, content, out);
        }
        self.expect_acknowledgement(own);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::patience::Patience;
    use crate::link::{Mark, Settings};

    const PEER: NodeId = NodeId(1);

    fn own(window: u32) -> Own<char> {
        Own {
            me: NodeId(0),
            boot: Boot(1),
            since: Boot(1),
            floor: Incarnation(0),
            settings: Settings { window, ..Settings::default() },
            patience: Patience::new(1),
            is_kept: |_| false,
            resources: Vec::new(),
            mark: Mark::NONE,
        }
    }

    fn sequences(out: &mut Vec<Effect<char>>) -> Vec<u64> {
        let data = |effect| match effect {
            Effect::Transmit { frame: Frame::Data { sequence, .. }, .. } => Some(sequence),
            _ => None,
        };
        out.drain(..).filter_map(data).collect()
    }

    fn channel() -> Channel<char> {
        Channel::new(Time::ZERO, PEER, Boot(1), Incarnation(5), Boot(1))
    }

    #[test]
    fn no_more_than_the_window_is_on_the_way() {
        let (mut own, mut out, mut channel) = (own(3), Vec::new(), channel());
        for message in 'a'..='e' {
            channel.send(Time::ZERO, None, message, &mut own, &mut out);
        }
        assert_eq!(sequences(&mut out), [0, 1, 2]);
        assert_eq!(channel.share(Time::ZERO, 'f', &mut own), None, "one for several waits for its turn like others");
        channel.acknowledged(Time::ZERO, 2, &mut own, &mut out);
        assert_eq!(sequences(&mut out), [3, 4]);
        channel.acknowledged(Time::ZERO, 5, &mut own, &mut out);
        assert_eq!(sequences(&mut out), [5]);
        let part = channel.share(Time::ZERO, 'g', &mut own).expect("there is room");
        assert_eq!((part.to, part.sequence), (PEER, 6));
    }

    #[test]
    fn a_message_that_waited_for_its_turn_is_as_young_as_its_transmission() {
        let (mut own, mut out, mut channel) = (own(1), Vec::new(), channel());
        channel.send(Time::ZERO, None, 'a', &mut own, &mut out);
        channel.send(Time::ZERO, None, 'b', &mut own, &mut out);
        let second = Time::from_millis(1_000);
        channel.acknowledged(second, 1, &mut own, &mut out);
        assert_eq!(sequences(&mut out), [0, 1]);
        assert!(channel.due().is_some_and(|due| due > second), "counted from the transmission");
        let mut expected = own.patience.clone();
        expected.sample(from_ms(10));
        channel.acknowledged(second + from_ms(10), 2, &mut own, &mut out);
        assert_eq!(own.patience.wait(0, &own.settings), expected.wait(0, &own.settings));
    }

    #[test]
    fn messages_are_delivered_in_order_and_once() {
        let (mut own, mut out, mut channel) = (own(3), Vec::new(), channel());
        for (sequence, message) in [(1, 'b'), (0, 'a'), (0, 'a'), (1, 'b'), (9, 'z'), (2, 'c')] {
            channel.data(Time::ZERO, sequence, (Some(sequence), message), &mut own, &mut out);
        }
        let delivered = out.iter().filter_map(|effect| match effect {
            Effect::Deliver { message, .. } => Some(*message),
            _ => None,
        });
        assert_eq!(delivered.collect::<String>(), "abc");
        assert_eq!(channel.had, Some(2));
        assert!(channel.received.has_no_gap(), "what lies beyond the window is not kept");
    }

    #[test]
    fn an_acknowledgement_travels_with_a_message_or_alone_a_little_later() {
        let (mut own, mut out, mut channel) = (own(3), Vec::new(), channel());
        channel.data(Time::ZERO, 0, (None, 'a'), &mut own, &mut out);
        let delay = from_ms(own.settings.ack_delay_ms);
        let soonest = Time::ZERO + delay;
        assert!(channel.acknowledge_at().is_some_and(|at| at >= soonest && at <= soonest + delay));
        channel.send(Time::ZERO, None, 'r', &mut own, &mut out);
        assert!(matches!(
            &out[1],
            Effect::Transmit { frame: Frame::Data { head: Head { acknowledges: 1, .. }, .. }, .. }
        ));
        assert_eq!(channel.acknowledge_at(), None, "no acknowledgement is owed any more");
    }

    #[test]
    fn an_unanswered_message_is_sent_again_ever_more_rarely_and_never_given_up() {
        let (mut own, mut out, mut channel) = (own(3), Vec::new(), channel());
        channel.send(Time::ZERO, None, 'a', &mut own, &mut out);
        let mut waits = Vec::new();
        let mut now = Time::ZERO;
        for _ in 0..20 {
            assert_eq!(sequences(&mut out), [0]);
            let due = channel.due().unwrap();
            waits.push(due - now);
            now = due;
            channel.woken(now, &mut own, &mut out);
        }
        assert!(waits[..4].is_sorted() && waits[0] >= from_ms(200), "{waits:?}");
        assert!(waits[5..].iter().all(|&wait| wait >= from_ms(2_000) && wait <= from_ms(2_500)), "{waits:?}");
    }

    #[test]
    fn what_is_missing_is_transmitted_again_soon_unless_it_was_just_overtaken() {
        let (mut own, mut out, mut channel) = (own(3), Vec::new(), channel());
        channel.send(Time::ZERO, None, 'a', &mut own, &mut out);
        channel.send(Time::ZERO, None, 'b', &mut own, &mut out);
        channel.is_missing(Time::from_millis(4), 0);
        assert_eq!(channel.due(), Some(Time::from_millis(20)), "it may still come");
        channel.is_missing(Time::from_millis(30), 1);
        assert_eq!(channel.due(), Some(Time::from_millis(20)), "that speaks of another one");
        channel.woken(Time::from_millis(20), &mut own, &mut out);
        assert_eq!(sequences(&mut out), [0, 1, 0]);
        channel.is_missing(Time::from_millis(25), 0);
        assert_eq!(channel.due(), Some(Time::from_millis(60)), "the second time it is given twice as long");
    }

    #[test]
    fn it_is_quiet_when_nothing_was_carried_for_a_while() {
        let (mut own, mut out, mut channel) = (own(3), Vec::new(), channel());
        let (second, later) = (from_ms(1_000), Time::from_millis(5_000));
        channel.send(Time::ZERO, None, 'a', &mut own, &mut out);
        assert!(!channel.is_quiet(later, second), "something is on the way");
        channel.acknowledged(Time::ZERO + second, 1, &mut own, &mut out);
        assert!(channel.is_quiet(later, second));
        channel.data(later, 0, (None, 'b'), &mut own, &mut out);
        assert!(!channel.is_quiet(later, second) && channel.is_quiet(later + second, second));
    }
}

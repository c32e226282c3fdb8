//! The reliable exchange over one incarnation of a link: in order, each message once.
//!
//! Messages are numbered, acknowledged cumulatively, and transmitted again until they are. At most a window of them is on
//! the way at a time; the rest waits, untouched by the radio.

use std::collections::{BTreeMap, VecDeque};

use driftlock_protocol::{Incarnation, NodeId};

use super::round_trip::RoundTrip;
use super::settings::from_ms;
use super::{Boot, Effect, Frame, Head, Settings};
use crate::Time;

/// The peer does not answer.
#[derive(Debug)]
pub(super) struct Unanswered;

/// A message that is not acknowledged.
#[derive(Clone, Debug)]
pub(super) struct Outgoing<M> {
    pub(super) message: M,
    /// Its number among those with permits, if it is one.
    pub(super) transfer: Option<u64>,
    /// How often it was transmitted. 0: it still waits for its turn, so nobody can have it.
    pub(super) tries: u32,
    sent_at: Time,
}

/// One end of an incarnation.
#[derive(Clone, Debug)]
pub(super) struct Channel<M> {
    peer: NodeId,
    /// Of this node.
    my_boot: Boot,
    /// Of the peer.
    pub(super) boot: Boot,
    pub(super) incarnation: Incarnation,
    /// The number of the oldest message that is not acknowledged.
    pub(super) first: u64,
    /// All of them, from that one.
    pub(super) outgoing: VecDeque<Outgoing<M>>,
    /// How many of them were transmitted.
    on_the_way: usize,
    resend_at: Option<Time>,
    round_trip: RoundTrip,
    /// How many messages of the peer were delivered: the number of the next.
    pub(super) delivered: u64,
    /// The last of the peer's messages with permits that was delivered.
    pub(super) had: Option<u64>,
    /// What came before its turn.
    early: BTreeMap<u64, (Option<u64>, M)>,
    acknowledge_at: Option<Time>,
}

impl<M: Clone> Channel<M> {
    pub(super) fn new(peer: NodeId, boot: Boot, incarnation: Incarnation, my_boot: Boot) -> Self {
        Self {
            peer,
            my_boot,
            boot,
            incarnation,
            first: 0,
            outgoing: VecDeque::new(),
            on_the_way: 0,
            resend_at: None,
            round_trip: RoundTrip::default(),
            delivered: 0,
            had: None,
            early: BTreeMap::new(),
            acknowledge_at: None,
        }
    }

    /// When something is due.
    pub(super) fn due(&self) -> Option<Time> {
        [self.resend_at, self.acknowledge_at].into_iter().flatten().min()
    }

    /// Puts a message behind the others.
    pub(super) fn send(
        &mut self,
        now: Time,
        transfer: Option<u64>,
        message: M,
        settings: &Settings,
        out: &mut Vec<Effect<M>>,
    ) {
        self.outgoing.push_back(Outgoing { message, transfer, tries: 0, sent_at: now });
        self.fill_window(now, settings, out);
    }

    /// A message of the peer has arrived, perhaps again, perhaps too early.
    pub(super) fn data(
        &mut self,
        now: Time,
        sequence: u64,
        content: (Option<u64>, M),
        settings: &Settings,
        out: &mut Vec<Effect<M>>,
    ) {
        if sequence == self.delivered {
            self.deliver(content, out);
            while let Some(next) = self.early.remove(&self.delivered) {
                self.deliver(next, out);
            }
            self.acknowledge_at.get_or_insert(now + from_ms(settings.ack_delay_ms));
            return;
        }
        if sequence > self.delivered && sequence - self.delivered < u64::from(settings.window) {
            self.early.entry(sequence).or_insert(content);
        }
        // Something was lost: the message before this one, or the acknowledgement of this one.
        self.acknowledge(out);
    }

    fn deliver(&mut self, (transfer, message): (Option<u64>, M), out: &mut Vec<Effect<M>>) {
        self.delivered += 1;
        self.had = transfer.or(self.had);
        out.push(Effect::Deliver { from: self.peer, incarnation: self.incarnation, message });
    }

    /// The peer has delivered so many. What makes no sense is as good as nothing.
    pub(super) fn acknowledged(&mut self, now: Time, count: u64, settings: &Settings, out: &mut Vec<Effect<M>>) {
        let Some(arrived) = count.checked_sub(self.first).filter(|&n| 0 < n && n <= self.on_the_way as u64) else {
            return;
        };
        for _ in 0..arrived {
            let Some(done) = self.outgoing.pop_front() else { break };
            self.on_the_way -= 1;
            if done.tries == 1 {
                self.round_trip.sample(Time(now.0.saturating_sub(done.sent_at.0)));
            }
        }
        self.first = count;
        self.resend_at = None;
        self.fill_window(now, settings, out);
    }

    fn fill_window(&mut self, now: Time, settings: &Settings, out: &mut Vec<Effect<M>>) {
        while self.on_the_way < self.outgoing.len() && self.on_the_way < settings.window.max(1) as usize {
            self.transmit(now, self.on_the_way, out);
            self.on_the_way += 1;
        }
        if self.resend_at.is_none()
            && self.on_the_way > 0
            && let Some(oldest) = self.outgoing.front()
        {
            self.resend_at = Some(oldest.sent_at + self.round_trip.patience(oldest.tries - 1, settings));
        }
    }

    fn transmit(&mut self, now: Time, at: usize, out: &mut Vec<Effect<M>>) {
        let sequence = self.first + at as u64;
        let outgoing = &mut self.outgoing[at];
        outgoing.tries += 1;
        outgoing.sent_at = now;
        let (transfer, message) = (outgoing.transfer, outgoing.message.clone());
        self.acknowledge_at = None;
        let frame = Frame::Data { head: self.head(), sequence, transfer, message };
        out.push(Effect::Transmit { to: Some(self.peer), frame });
    }

    fn head(&self) -> Head {
        Head { boot: self.my_boot, to: self.boot, incarnation: self.incarnation, acknowledges: self.delivered }
    }

    /// Says at once what was delivered.
    pub(super) fn acknowledge(&mut self, out: &mut Vec<Effect<M>>) {
        self.acknowledge_at = None;
        let frame = Frame::Ack(self.head());
        out.push(Effect::Transmit { to: Some(self.peer), frame });
    }

    /// The radio says that the last frame did not get through: the oldest message need not wait as long as it would.
    pub(super) fn unsent(&mut self, now: Time, settings: &Settings) {
        let soon = now + from_ms(settings.retransmit_ms_min);
        self.resend_at = self.resend_at.map(|at| at.min(soon));
    }

    /// Does what is due. The oldest message is transmitted again, and when that has arrived it will be the next one's turn.
    pub(super) fn woken(&mut self, now: Time, settings: &Settings, out: &mut Vec<Effect<M>>) -> Result<(), Unanswered> {
        if self.resend_at.is_some_and(|at| at <= now) {
            let tries = self.outgoing.front().map_or(0, |oldest| oldest.tries);
            if tries >= settings.tries_max {
                return Err(Unanswered);
            }
            self.transmit(now, 0, out);
            self.resend_at = Some(now + self.round_trip.patience(tries, settings));
        }
        if self.acknowledge_at.is_some_and(|at| at <= now) {
            self.acknowledge(out);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PEER: NodeId = NodeId(1);
    const SETTINGS: fn() -> Settings = || Settings { window: 3, ..Settings::default() };

    fn sequences(out: &mut Vec<Effect<char>>) -> Vec<u64> {
        let data = |effect| match effect {
            Effect::Transmit { frame: Frame::Data { sequence, .. }, .. } => Some(sequence),
            _ => None,
        };
        out.drain(..).filter_map(data).collect()
    }

    fn channel() -> Channel<char> {
        Channel::new(PEER, Boot(1), Incarnation(5), Boot(1))
    }

    #[test]
    fn no_more_than_the_window_is_on_the_way() {
        let (settings, mut out, mut channel) = (SETTINGS(), Vec::new(), channel());
        for message in 'a'..='e' {
            channel.send(Time::ZERO, None, message, &settings, &mut out);
        }
        assert_eq!(sequences(&mut out), [0, 1, 2]);
        channel.acknowledged(Time::ZERO, 9, &settings, &mut out);
        channel.acknowledged(Time::ZERO, 0, &settings, &mut out);
        assert_eq!(sequences(&mut out), [], "acknowledgements of what was never sent count for nothing");
        channel.acknowledged(Time::ZERO, 2, &settings, &mut out);
        assert_eq!(sequences(&mut out), [3, 4]);
    }

    #[test]
    fn a_message_that_waited_for_its_turn_is_as_young_as_its_transmission() {
        let settings = Settings { window: 1, ..Settings::default() };
        let (mut out, mut channel) = (Vec::new(), channel());
        channel.send(Time::ZERO, None, 'a', &settings, &mut out);
        channel.send(Time::ZERO, None, 'b', &settings, &mut out);
        let second = from_ms(1_000);
        channel.acknowledged(second, 1, &settings, &mut out);
        assert_eq!(sequences(&mut out), [0, 1]);
        let patience = channel.round_trip.patience(0, &settings);
        assert_eq!(channel.due(), Some(second + patience), "counted from the transmission");
        let mut expected = channel.round_trip.clone();
        expected.sample(from_ms(10));
        channel.acknowledged(second + from_ms(10), 2, &settings, &mut out);
        assert_eq!(channel.round_trip.patience(0, &settings), expected.patience(0, &settings));
    }

    #[test]
    fn messages_are_delivered_in_order_and_once() {
        let (settings, mut out, mut channel) = (SETTINGS(), Vec::new(), channel());
        for (sequence, message) in [(1, 'b'), (0, 'a'), (0, 'a'), (1, 'b'), (9, 'z'), (2, 'c')] {
            channel.data(Time::ZERO, sequence, (Some(sequence), message), &settings, &mut out);
        }
        let delivered = out.iter().filter_map(|effect| match effect {
            Effect::Deliver { message, .. } => Some(*message),
            _ => None,
        });
        assert_eq!(delivered.collect::<String>(), "abc");
        assert_eq!(channel.had, Some(2));
        assert!(channel.early.is_empty(), "what lies beyond the window is not kept");
    }

    #[test]
    fn an_acknowledgement_travels_with_a_message_or_alone_a_little_later() {
        let (settings, mut out, mut channel) = (SETTINGS(), Vec::new(), channel());
        channel.data(Time::ZERO, 0, (None, 'a'), &settings, &mut out);
        assert_eq!(channel.due(), Some(from_ms(settings.ack_delay_ms)));
        channel.send(Time::ZERO, None, 'r', &settings, &mut out);
        assert!(matches!(
            &out[1],
            Effect::Transmit { frame: Frame::Data { head: Head { acknowledges: 1, .. }, .. }, .. }
        ));
        assert_eq!(channel.due(), Some(from_ms(settings.retransmit_ms)), "no acknowledgement is owed any more");
    }

    #[test]
    fn an_unanswered_message_is_sent_again_so_many_times_and_then_the_link_is_broken() {
        let (settings, mut out, mut channel) = (SETTINGS(), Vec::new(), channel());
        channel.send(Time::ZERO, None, 'a', &settings, &mut out);
        let mut transmitted = 0;
        let broken = loop {
            transmitted += sequences(&mut out).len();
            let now = channel.due().unwrap();
            if channel.woken(now, &settings, &mut out).is_err() {
                break now;
            }
        };
        assert_eq!(transmitted, 8);
        assert!(broken > Time::from_units(3.0) && broken < Time::from_units(6.0), "{broken:?}");
    }
}

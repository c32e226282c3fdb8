//! A sliding window: what every exchange has in common that transmits again until there is an acknowledgement.
//!
//! The sending end numbers its messages from 0 and keeps each until it is acknowledged; no more than a window of them
//! is on the way at a time, and the rest waits, untouched by the radio. The receiving end delivers them in order and
//! once each, and acknowledges with one number how many it has delivered. When and how often something is transmitted
//! again is for the exchange to decide, and there are two that differ in all of this:
//!
//! - The channel of a [link](crate::link) lasts as long as one incarnation. It waits as long as round trips were
//!   measured to take over all links of a node, because these share the air; its acknowledgements are put off, to go
//!   with messages of the other direction; it never gives up. What carries permits when the link breaks goes into
//!   [custody](crate::custody), and what becomes of the rest is of interest to nothing but counts and traces.
//! - A [session](crate::session) is between one life of its sender and one of its receiver, over whatever path there
//!   is. It measures nothing and waits twice as long each time, it acknowledges at once, and it gives up. What is to be
//!   kept goes first in the session that follows, and its sender is told one outcome of each message.

use std::collections::{BTreeMap, VecDeque};

use crate::{Span, Time};

/// A message that is not acknowledged.
#[derive(Clone, Debug)]
pub(crate) struct Pending<T> {
    pub(crate) content: T,
    /// How often it was transmitted. 0: it still waits for its turn, so no node can have it.
    pub(crate) tries: u32,
    /// When it was transmitted last, if it was.
    pub(crate) sent_at: Time,
}

impl<T> Pending<T> {
    fn transmit(&mut self, now: Time) -> &T {
        self.tries += 1;
        self.sent_at = now;
        &self.content
    }
}

/// The sending end: messages in the order in which they were sent.
#[derive(Clone, Debug)]
pub(crate) struct Unacknowledged<T> {
    /// The number of the oldest.
    first: u64,
    pending: VecDeque<Pending<T>>,
    /// How many of them were transmitted.
    on_the_way: usize,
}

impl<T> Unacknowledged<T> {
    pub(crate) fn new() -> Self {
        Self { first: 0, pending: VecDeque::new(), on_the_way: 0 }
    }

    /// Puts a message behind the others.
    pub(crate) fn push(&mut self, content: T) {
        self.pending.push_back(Pending { content, tries: 0, sent_at: Time::ZERO });
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.pending.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.pending.iter().map(|pending| &pending.content)
    }

    /// All of them, when the exchange is over.
    pub(crate) fn into_pending(self) -> impl Iterator<Item = Pending<T>> {
        self.pending.into_iter()
    }

    /// The number of the oldest: so many are acknowledged.
    pub(crate) fn first(&self) -> u64 {
        self.first
    }

    /// The number of the first that was never transmitted.
    pub(crate) fn next(&self) -> u64 {
        self.first + self.on_the_way as u64
    }

    /// The oldest, if it is on the way.
    pub(crate) fn oldest(&self) -> Option<&Pending<T>> {
        self.pending.front().filter(|_| self.on_the_way > 0)
    }

    /// The next message with its number, which is now transmitted for the first time, if there is one and the window,
    /// which holds one message at least, has room for it.
    pub(crate) fn transmit_next(&mut self, now: Time, window: usize) -> Option<(u64, &T)> {
        let number = self.next();
        let next = self.pending.get_mut(self.on_the_way).filter(|_| self.on_the_way < window.max(1))?;
        self.on_the_way += 1;
        Some((number, next.transmit(now)))
    }

    /// The oldest message with its number, which is now transmitted again, if it is on the way.
    pub(crate) fn transmit_again(&mut self, now: Time) -> Option<(u64, &T)> {
        let oldest = self.pending.front_mut().filter(|_| self.on_the_way > 0)?;
        Some((self.first, oldest.transmit(now)))
    }

    /// How long each took that arrived, if the receiver has delivered so many. Where one had to be transmitted again,
    /// those behind it have waited for that, and tell nothing either.
    pub(crate) fn round_trips(&self, now: Time, delivered: u64) -> impl Iterator<Item = Span> {
        let arrived = self.pending.iter().take(self.arrived(delivered).unwrap_or(0));
        let just_once = arrived.clone().all(|pending| pending.tries == 1);
        arrived.filter(move |_| just_once).map(move |pending| now.since(pending.sent_at))
    }

    /// The receiver has delivered so many: those that arrived, which are forgotten. None if it says nothing new, or
    /// what makes no sense.
    pub(crate) fn acknowledged(&mut self, delivered: u64) -> Option<impl Iterator<Item = T>> {
        let arrived = self.arrived(delivered)?;
        self.first = delivered;
        self.on_the_way -= arrived;
        Some(self.pending.drain(..arrived).map(|pending| pending.content))
    }

    fn arrived(&self, delivered: u64) -> Option<usize> {
        let arrived = usize::try_from(delivered.checked_sub(self.first)?).ok()?;
        (1..=self.on_the_way).contains(&arrived).then_some(arrived)
    }
}

/// The receiving end.
#[derive(Clone, Debug)]
pub(crate) struct InOrder<T> {
    /// How many were delivered: the number of the next.
    delivered: u64,
    /// What came before its turn.
    early: BTreeMap<u64, T>,
}

impl<T> InOrder<T> {
    pub(crate) fn new() -> Self {
        Self { delivered: 0, early: BTreeMap::new() }
    }

    /// How many were delivered, which is what an acknowledgement says.
    pub(crate) fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Whether nothing waits for what has to come before it.
    pub(crate) fn has_no_gap(&self) -> bool {
        self.early.is_empty()
    }

    /// A message has arrived, perhaps again, perhaps too early. Delivers all whose turn it is then, and tells whether
    /// it was the turn of this one.
    pub(crate) fn take(&mut self, number: u64, content: T, window: usize, mut deliver: impl FnMut(T)) -> bool {
        match number.checked_sub(self.delivered) {
            Some(0) => {
                let mut next = Some(content);
                while let Some(content) = next {
                    self.delivered += 1;
                    deliver(content);
                    next = self.early.remove(&self.delivered);
                }
                true
            }
            Some(ahead) => {
                if ahead < window as u64 {
                    self.early.entry(number).or_insert(content);
                }
                false
            }
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sending(messages: &str) -> Unacknowledged<char> {
        let mut sending = Unacknowledged::new();
        messages.chars().for_each(|message| sending.push(message));
        sending
    }

    fn transmitted(sending: &mut Unacknowledged<char>, now: Time, window: usize) -> Vec<(u64, char)> {
        std::iter::from_fn(|| sending.transmit_next(now, window).map(|(number, &message)| (number, message))).collect()
    }

    fn acknowledged(sending: &mut Unacknowledged<char>, delivered: u64) -> Option<String> {
        sending.acknowledged(delivered).map(Iterator::collect)
    }

    #[test]
    fn no_more_than_the_window_is_on_the_way_and_an_acknowledgement_makes_room() {
        let mut sending = sending("abcde");
        assert_eq!(transmitted(&mut sending, Time::ZERO, 3), [(0, 'a'), (1, 'b'), (2, 'c')]);
        assert_eq!(acknowledged(&mut sending, 2).as_deref(), Some("ab"));
        assert_eq!(transmitted(&mut sending, Time::ZERO, 3), [(3, 'd'), (4, 'e')]);
        assert_eq!((sending.first(), sending.next(), sending.len()), (2, 5, 3));
        assert_eq!(acknowledged(&mut sending, 5).as_deref(), Some("cde"));
        assert!(sending.is_empty());
    }

    #[test]
    fn a_window_of_no_message_holds_one() {
        let mut sending = sending("ab");
        assert_eq!(transmitted(&mut sending, Time::ZERO, 0), [(0, 'a')]);
    }

    #[test]
    fn an_acknowledgement_of_what_was_never_transmitted_or_is_acknowledged_already_counts_for_nothing() {
        let mut sending = sending("abc");
        transmitted(&mut sending, Time::ZERO, 2);
        assert_eq!(acknowledged(&mut sending, 1).as_deref(), Some("a"));
        for nonsense in [0, 1, 3, u64::MAX] {
            assert_eq!(acknowledged(&mut sending, nonsense), None, "{nonsense}");
            assert_eq!(sending.round_trips(Time(9), nonsense).next(), None, "{nonsense}");
        }
        assert_eq!(sending.iter().collect::<String>(), "bc");
    }

    #[test]
    fn the_oldest_is_transmitted_again_if_it_was_transmitted_at_all() {
        let mut sending = sending("ab");
        assert!(sending.oldest().is_none() && sending.transmit_again(Time(1)).is_none());
        transmitted(&mut sending, Time(1), 1);
        assert_eq!(sending.transmit_again(Time(5)), Some((0, &'a')));
        assert_eq!(sending.oldest().map(|oldest| (oldest.tries, oldest.sent_at)), Some((2, Time(5))));
        assert_eq!(sending.into_pending().map(|pending| pending.tries).collect::<Vec<_>>(), [2, 0]);
    }

    #[test]
    fn round_trips_are_told_of_what_was_transmitted_just_once_and_waited_for_nothing_else() {
        let trips = |sending: &Unacknowledged<char>, delivered| {
            sending.round_trips(Time(10), delivered).map(|took| took.0).collect::<Vec<_>>()
        };
        let mut sending = sending("abc");
        transmitted(&mut sending, Time(1), 1);
        transmitted(&mut sending, Time(4), 3);
        assert_eq!((trips(&sending, 1), trips(&sending, 3)), (vec![9], vec![9, 6, 6]));
        sending.transmit_again(Time(7));
        assert_eq!(trips(&sending, 3), [], "b and c have waited for a");
        assert_eq!(acknowledged(&mut sending, 1).as_deref(), Some("a"));
        assert_eq!(trips(&sending, 3), [6, 6]);
    }

    #[test]
    fn messages_are_delivered_in_order_and_once_and_none_from_beyond_the_window() {
        let (mut receiving, mut delivered) = (InOrder::new(), String::new());
        let arrivals = [(1, 'b'), (3, 'z'), (0, 'a'), (0, 'a'), (1, 'b'), (u64::MAX, 'z'), (4, 'e'), (2, 'c')];
        let turns =
            arrivals.map(|(number, message)| receiving.take(number, message, 3, |message| delivered.push(message)));
        assert_eq!(delivered, "abc");
        assert_eq!(turns, [false, false, true, false, false, false, false, true]);
        assert_eq!((receiving.delivered(), receiving.has_no_gap()), (3, false), "d is missing, and e waits for it");
        receiving.take(3, 'd', 3, |message| delivered.push(message));
        assert_eq!((delivered.as_str(), receiving.has_no_gap()), ("abcde", true));
    }
}

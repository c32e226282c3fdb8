//! Hello beacons: who is there, and whether each hears the other.
//!
//! Every node broadcasts hellos. It hears a neighbour *well* when it has heard enough of the neighbour's last hellos,
//! and lists whom it hears well in its own, so that each learns whether it is heard: a link needs both directions. It
//! names all to whom it has links. However many nodes share a cell, beacons stay few and short: the interval grows with
//! the number of nodes that any one in reach hears, and of those without a link a hello lists at most so many: half of
//! them always the best-ranked, who are the likeliest to need one, the others in turn. Each hello says how long the
//! next may take, so that those who listen know when it is missing.

use std::collections::VecDeque;
use std::mem;

use driftlock_protocol::NodeId;

use crate::dice::mix;
use crate::link::rank::Rank;
use crate::link::settings::from_ms;
use crate::link::{Hello, Mark, Settings};
use crate::{Boot, Span, Time};

/// Jitter adds up to one part in so many to an interval, and waiting for others as much again in a crowd.
const JITTER_PARTS: u64 = 4;

/// The first hello of a node may wait for others up to so many intervals more than two.
const NEWCOMER_INTERVALS: u64 = 5;

/// The node's own hellos.
#[derive(Clone, Debug)]
pub(crate) struct Beacon {
    me: NodeId,
    boot: Boot,
    count: u32,
    /// How often it has waited for others.
    yielded: u32,
    /// When it spoke last, or started.
    spoke_at: Time,
    /// When the next one is due.
    pub(crate) next: Time,
    /// By when the last one has promised it.
    promised: Option<Time>,
    /// The longest time between two of them, as the last one has announced it; before there was one, the shortest.
    interval: Span,
    /// The last hellos of others, as many as a second may have.
    heard: VecDeque<Time>,
    /// Whom it hears well and has no link to, best-ranked first.
    announced: Vec<(Rank, NodeId)>,
    /// How many of those that are listed in turn had theirs in this round.
    turn: usize,
}

impl Beacon {
    /// The first hello comes somewhere within the first interval after `start`, so that nodes that start together do
    /// not speak together.
    pub(crate) fn new(me: NodeId, boot: Boot, start: Time, settings: &Settings) -> Self {
        let mut beacon = Self {
            me,
            boot,
            count: 0,
            yielded: 0,
            spoke_at: start,
            next: start,
            promised: None,
            interval: from_ms(settings.hello_ms),
            heard: VecDeque::new(),
            announced: Vec::new(),
            turn: 0,
        };
        beacon.next = start + beacon.jitter(from_ms(settings.hello_ms));
        beacon
    }

    /// The neighbour is heard well from now on, and there is no link to it.
    pub(crate) fn announce(&mut self, peer: NodeId) {
        let entry = (Rank::of(self.me, peer), peer);
        if let Err(place) = self.announced.binary_search(&entry) {
            self.announced.insert(place, entry);
        }
    }

    /// Not any more.
    pub(crate) fn withdraw(&mut self, peer: NodeId) {
        if let Ok(place) = self.announced.binary_search(&(Rank::of(self.me, peer), peer)) {
            self.announced.remove(place);
        }
    }

    /// The longest time between two hellos of this node, as it has announced it.
    pub(crate) fn interval(&self) -> Span {
        self.interval
    }

    /// Another node has spoken.
    pub(crate) fn hears(&mut self, now: Time, settings: &Settings) {
        while self.heard.len() >= settings.hellos_per_second_max.max(1) as usize {
            self.heard.pop_front();
        }
        self.heard.push_back(now);
    }

    /// A hello is due, where this node hears `crowd` nodes and some node in reach hears `crowd_max`. `None`: so many
    /// have spoken within the last second that it waits for a better moment, as long as it has not promised otherwise.
    /// Its links, what they are for, and what else it says are for others to fill in.
    pub(crate) fn hello(&mut self, now: Time, crowd: u32, crowd_max: u32, settings: &Settings) -> Option<Hello> {
        let interval = interval(crowd_max.max(crowd), settings);
        let part = interval / JITTER_PARTS;
        let promised = self.promised.unwrap_or_else(|| self.patience_of_a_newcomer(interval));
        if self.second_is_full(now, settings) && now < promised {
            self.yielded = self.yielded.wrapping_add(1);
            self.next = promised.min(now + self.jitter(part) + Span(1));
            return None;
        }
        let count = self.count;
        self.count = count.wrapping_add(1);
        self.next = now + interval + self.jitter(part);
        let is_crowded = interval > from_ms(settings.hello_ms.max(1));
        let longest = interval + part + if is_crowded { part } else { Span::ZERO };
        (self.promised, self.interval) = (Some(now + longest), longest);
        self.spoke_at = now;
        Some(Hello {
            boot: self.boot,
            count,
            interval_ms: u32::try_from(longest.0.div_ceil(1_000_000)).unwrap_or(u32::MAX),
            crowd,
            mark: Mark::NONE,
            links: Vec::new(),
            hears: u32::try_from(self.announced.len()).unwrap_or(u32::MAX),
            list: self.next_in_turn(settings.list_max as usize),
            spared: Vec::new(),
            notices: Vec::new(),
        })
    }

    /// Until when the first hello may wait. No node expects it, so those who start together can be far apart.
    fn patience_of_a_newcomer(&self, interval: Span) -> Time {
        let own_part = mix(u64::from(self.me.0)) % NEWCOMER_INTERVALS;
        self.spoke_at + interval * (2 + own_part)
    }

    fn second_is_full(&self, now: Time, settings: &Settings) -> bool {
        let full = self.heard.len() >= settings.hellos_per_second_max.max(1) as usize;
        full && self.heard.front().is_some_and(|&oldest| oldest + from_ms(1_000) > now)
    }

    /// The best-ranked half of a list, and as many of the others whose turn it is.
    fn next_in_turn(&mut self, list_max: usize) -> Vec<NodeId> {
        let (best, others) = self.announced.split_at(self.announced.len().min(list_max.div_ceil(2)));
        let length = others.len().min(list_max - best.len());
        self.turn = if self.turn < others.len() { self.turn } else { 0 };
        let in_turn = others.iter().cycle().skip(self.turn).take(length);
        self.turn = (self.turn + length) % others.len().max(1);
        best.iter().chain(in_turn).map(|&(_, peer)| peer).collect()
    }

    /// Some part of `whole`, another one for every node and every hello.
    fn jitter(&self, whole: Span) -> Span {
        let node = mix((u64::from(self.me.0) << 32) | u64::from(self.boot.0));
        let part = mix(node ^ (u64::from(self.count) << 32) ^ u64::from(self.yielded)) >> 32;
        #[allow(clippy::cast_possible_truncation)] // a part of a u64 is one
        let jitter = ((u128::from(whole.0) * u128::from(part)) >> 32) as u64;
        Span(jitter)
    }
}

/// How long between two hellos, before jitter, where a node hears so many nodes.
fn interval(crowd: u32, settings: &Settings) -> Span {
    let crowded = u64::from(crowd) * 1_000_000_000 / u64::from(settings.hellos_per_second_max.max(1));
    Span(crowded).max(from_ms(settings.hello_ms.max(1)))
}

/// What is heard of one neighbour.
#[derive(Clone, Debug)]
pub(crate) struct Hearing {
    /// Of its last hello.
    pub(crate) boot: Boot,
    count: u32,
    /// Which of its last hellos were heard, the last one lowest.
    recent: u32,
    /// How many nodes it hears.
    pub(crate) crowd: u32,
    /// Of the resources that it wants links for.
    pub(crate) mark: Mark,
    interval: Span,
    /// The last sign of life.
    heard_at: Time,
    /// How often it was asked something since, and when first: each transmission that wants an answer is a question.
    asked: Option<(u32, Time)>,
    /// It has been silent for too long, and was not heard since.
    silent: bool,
    /// Enough hellos were heard, and it has not fallen silent since.
    well: bool,
    /// When it said last that it hears this node well.
    listed_at: Option<Time>,
    /// How many hellos it takes to list all.
    round: u64,
    /// To whom it says that it has links.
    pub(crate) links: Vec<NodeId>,
    /// Whether it says that others make up for a link to this node.
    pub(crate) spares: bool,
    /// In how many hellos in a row it did not name a link to this node.
    pub(crate) unnamed: u32,
}

impl Hearing {
    /// After the first hello. What it lists is not looked at yet: one hello is not enough to say anything.
    pub(crate) fn new(now: Time, hello: &Hello, settings: &Settings) -> Self {
        Self {
            boot: hello.boot,
            count: hello.count,
            recent: 1,
            crowd: hello.crowd,
            mark: hello.mark,
            interval: from_ms(hello.interval_ms),
            heard_at: now,
            asked: None,
            silent: false,
            well: settings.hellos_up <= 1,
            listed_at: None,
            round: 1,
            links: hello.links.clone(),
            spares: false,
            unnamed: 0,
        }
    }

    /// One more hello of the same boot. Duplicates and late ones tell nothing new but that they arrived. Tells whether
    /// it was silent before.
    pub(crate) fn hello(&mut self, now: Time, hello: &Hello, me: NodeId, settings: &Settings) -> bool {
        let newer = hello.count.wrapping_sub(self.count);
        if newer == 0 {
            return false;
        }
        if newer > u32::MAX / 2 {
            self.recent |= 1u32.checked_shl(newer.wrapping_neg()).unwrap_or(0);
        } else {
            self.recent = self.recent.checked_shl(newer).unwrap_or(0) | 1;
            self.count = hello.count;
            (self.crowd, self.mark) = (hello.crowd, hello.mark);
            self.interval = from_ms(hello.interval_ms);
            self.round = hellos_in_a_round(hello);
            let is_named = hello.links.contains(&me);
            self.unnamed = if is_named { 0 } else { self.unnamed.saturating_add(1) };
            self.links.clone_from(&hello.links);
            self.spares = hello.spared.contains(&me);
            if is_named || hello.list.contains(&me) {
                self.listed(now);
            }
        }
        let window = u32::MAX >> (32 - settings.hellos_window.clamp(1, 32));
        self.well |= (self.recent & window).count_ones() >= settings.hellos_up.min(settings.hellos_window.clamp(1, 32));
        self.sign_of_life(now)
    }

    /// Another frame of it was heard. Tells whether it was silent before.
    pub(crate) fn sign_of_life(&mut self, now: Time) -> bool {
        (self.heard_at, self.asked) = (now, None);
        mem::take(&mut self.silent)
    }

    /// It counts as gone from now on. Tells whether it did before.
    pub(crate) fn falls_silent(&mut self) -> bool {
        mem::replace(&mut self.silent, true)
    }

    /// It is asked something, once more if it has not been heard since.
    pub(crate) fn ask(&mut self, now: Time) {
        let (count, first) = self.asked.unwrap_or((0, now));
        self.asked = Some((count.saturating_add(1), first));
    }

    /// It has shown that it hears this node well.
    pub(crate) fn listed(&mut self, now: Time) {
        self.listed_at = Some(now);
    }

    /// Enough of its last hellos were heard.
    pub(crate) fn is_well(&self) -> bool {
        self.well
    }

    /// Both hear each other well.
    pub(crate) fn is_mutual(&self, now: Time, settings: &Settings) -> bool {
        self.well && now < self.deaf_at(settings)
    }

    /// When it is gone, unless it is heard before: after so many of its intervals, or, if it was asked often enough,
    /// after as many of the shortest ones as there should be questions, however rarely a crowd lets it speak. Once it
    /// is: when it is forgotten.
    pub(crate) fn silent_at(&self, settings: &Settings) -> Time {
        if self.silent {
            return self.heard_at + settings.memory(self.interval);
        }
        let unasked = self.heard_at + settings.silence(self.interval);
        let enough = self.asked.filter(|(count, _)| *count >= settings.questions_min);
        let unanswered = from_ms(settings.questions_min.saturating_mul(settings.hello_ms));
        enough.map_or(unasked, |(_, first)| unasked.min(first + unanswered))
    }

    /// When to ask whether it is there: when it has not spoken in time, and then as often as few nodes would say hello.
    pub(crate) fn probe_at(&self, probed_at: Time, settings: &Settings) -> Time {
        (self.heard_at + self.interval).max(probed_at + from_ms(settings.hello_ms))
    }

    /// The longest time between two of its hellos.
    pub(crate) fn interval(&self) -> Span {
        self.interval
    }

    /// When it no longer counts as hearing this node.
    pub(crate) fn deaf_at(&self, settings: &Settings) -> Time {
        let round = self.interval * self.round;
        self.listed_at.map_or(Time::ZERO, |listed_at| listed_at + settings.memory(round))
    }
}

/// A list is half the best-ranked, always the same, and half the others in turn.
fn hellos_in_a_round(hello: &Hello) -> u64 {
    let listed = hello.list.len() as u64;
    let always = listed.div_ceil(2);
    u64::from(hello.hears).saturating_sub(always).div_ceil((listed - always).max(1)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ME: NodeId = NodeId(7);

    fn hello(count: u32, list: &[u32]) -> Hello {
        let list: Vec<_> = list.iter().copied().map(NodeId).collect();
        let hears = u32::try_from(list.len()).unwrap();
        Hello {
            boot: Boot(1),
            count,
            interval_ms: 1_000,
            crowd: 1,
            mark: Mark(1),
            links: Vec::new(),
            hears,
            list,
            spared: Vec::new(),
            notices: Vec::new(),
        }
    }

    #[test]
    fn a_neighbour_is_heard_well_after_enough_of_its_last_hellos() {
        let settings = Settings { hellos_up: 3, hellos_window: 4, ..Settings::default() };
        let mut hearing = Hearing::new(Time::ZERO, &hello(0, &[]), &settings);
        for count in [1, 1, 4, 5] {
            hearing.hello(Time::ZERO, &hello(count, &[]), ME, &settings);
            assert!(!hearing.is_well(), "after hello {count}: a duplicate and two gaps");
        }
        hearing.hello(Time::ZERO, &hello(3, &[]), ME, &settings);
        assert!(hearing.is_well(), "late ones count");
    }

    #[test]
    fn it_takes_the_neighbours_word_that_both_hear_each_other() {
        let settings = Settings::default();
        let mut hearing = Hearing::new(Time::ZERO, &hello(0, &[7]), &settings);
        hearing.hello(Time::ZERO, &hello(1, &[5, 6]), ME, &settings);
        assert!(hearing.is_well() && !hearing.is_mutual(Time::ZERO, &settings));
        hearing.hello(Time::ZERO, &hello(2, &[6, 7]), ME, &settings);
        assert!(
            hearing.is_mutual(Time::from_millis(3_999), &settings)
                && !hearing.is_mutual(Time::from_millis(4_000), &settings)
        );
    }

    #[test]
    fn who_speaks_rarely_is_given_time_but_not_once_it_was_asked_often_enough() {
        let settings = Settings::default();
        let mut hearing = Hearing::new(Time::ZERO, &Hello { interval_ms: 6_000, ..hello(0, &[7]) }, &settings);
        assert_eq!(hearing.probe_at(Time::ZERO, &settings), Time::from_millis(6_000), "it has not spoken in time");
        for asked_at in [7_000, 8_000, 9_000] {
            hearing.ask(Time::from_millis(asked_at));
            assert_eq!(hearing.silent_at(&settings), Time::from_millis(18_000), "three of its intervals");
        }
        let mut answers = hearing.clone();
        hearing.ask(Time::from_millis(10_000));
        assert_eq!(
            hearing.silent_at(&settings),
            Time::from_millis(11_000),
            "four seconds after the first of four questions"
        );
        answers.sign_of_life(Time::from_millis(9_500));
        answers.ask(Time::from_millis(10_000));
        assert_eq!(answers.silent_at(&settings), Time::from_millis(27_500), "what was asked before is answered");
    }

    #[test]
    fn the_best_ranked_are_always_listed_and_the_others_in_turn() {
        let settings = Settings { list_max: 4, ..Settings::default() };
        let mut beacon = Beacon::new(ME, Boot(1), Time::ZERO, &settings);
        let mut peers: Vec<_> = (10..17).map(NodeId).collect();
        for &peer in &peers {
            beacon.announce(peer);
        }
        peers.sort_by_key(|&peer| Rank::of(ME, peer));
        let lists = |beacon: &mut Beacon| {
            let hello = beacon.hello(Time::ZERO, 7, 7, &settings).unwrap();
            (
                hello.list.iter().map(|peer| peers.iter().position(|known| known == peer).unwrap()).collect::<Vec<_>>(),
                hello,
            )
        };
        assert_eq!(lists(&mut beacon).0, [0, 1, 2, 3]);
        assert_eq!(lists(&mut beacon).0, [0, 1, 4, 5]);
        let (list, hello) = lists(&mut beacon);
        assert_eq!((list, hellos_in_a_round(&hello)), (vec![0, 1, 6, 2], 3));
        beacon.withdraw(NodeId(10));
        assert_eq!(lists(&mut beacon).1.hears, 6);
    }

    #[test]
    fn no_two_nodes_are_in_step_and_no_hello_is_later_than_the_one_before_it_said() {
        let settings = Settings::default();
        let mut beacons: Vec<_> = (0..100).map(|id| Beacon::new(NodeId(id), Boot(1), Time::ZERO, &settings)).collect();
        let mut gaps = Vec::new();
        for beacon in &mut beacons {
            assert!(beacon.next < Time::from_millis(settings.hello_ms.into()));
            let now = beacon.next;
            let hello = beacon.hello(now, 100, 100, &settings).unwrap();
            let gap = beacon.next - now;
            assert!(gap >= from_ms(2_000) && gap <= from_ms(hello.interval_ms), "{gap:?}");
            gaps.push(gap);
        }
        gaps.sort_unstable();
        gaps.dedup();
        assert_eq!(gaps.len(), 100);
    }

    #[test]
    fn a_hello_waits_while_others_speak_but_not_longer_than_promised() {
        let settings = Settings { hellos_per_second_max: 2, ..Settings::default() };
        let mut beacon = Beacon::new(ME, Boot(1), Time::ZERO, &settings);
        let speak_all_the_time = |beacon: &mut Beacon| loop {
            let now = beacon.next;
            beacon.hears(now, &settings);
            beacon.hears(now, &settings);
            if let Some(hello) = beacon.hello(now, 8, 8, &settings) {
                return (now, hello);
            }
        };
        let (first, hello) = speak_all_the_time(&mut beacon);
        assert_eq!(hello.interval_ms, 6_000, "8 nodes, 2 in a second, and half as much again");
        let (second, _) = speak_all_the_time(&mut beacon);
        assert_eq!(second - first, from_ms(6_000));
        let now = beacon.next;
        beacon.hears(now, &settings);
        assert!(beacon.hello(now, 8, 8, &settings).is_some(), "one in a second is not too many");
    }
}

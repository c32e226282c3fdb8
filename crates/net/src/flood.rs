//! Flooding: a message to every node that can be reached, passed on by each once.
//!
//! What is promised: a node delivers a message at most once, whatever the network does to it, and no node's memory
//! grows with the number of messages. What is not: that it arrives, or in which order. Messages of one origin that are
//! overtaken by 64 others count as seen, and are dropped.

use std::collections::BTreeMap;

use driftlock_protocol::NodeId;
use serde::{Deserialize, Serialize};

use crate::dice::Dice;
use crate::{Boot, Span, seconds};

/// Which numbers of a growing count have been seen: exactly, among the 64 up to the greatest.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Window {
    newest: u64,
    /// Bit `i` is set if `newest - i` has been seen; none is before the first.
    seen: u64,
}

impl Window {
    /// How far back it reaches.
    pub const WIDTH: u64 = 64;

    /// Notes a number; says whether it is new. A number further back than the window reaches counts as seen.
    pub fn insert(&mut self, number: u64) -> bool {
        if self.seen == 0 || number > self.newest {
            let ahead = number.saturating_sub(self.newest);
            self.seen = if ahead < Self::WIDTH { self.seen << ahead | 1 } else { 1 };
            self.newest = number;
            return true;
        }
        let back = self.newest - number;
        if back >= Self::WIDTH || self.seen >> back & 1 == 1 {
            return false;
        }
        self.seen |= 1 << back;
        true
    }
}

/// The constants of flooding.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Settings {
    /// How many hops a message goes at most.
    pub hop_limit: u8,
    /// A message is passed on after up to this, in seconds, so that neighbours do not all repeat it at once.
    #[serde(with = "seconds")]
    pub jitter: Span,
}

impl Default for Settings {
    fn default() -> Self {
        Self { hop_limit: 35, jitter: Span::from_millis(10) }
    }
}

/// A message on its way to all nodes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Flooded<M> {
    /// The node that has sent it.
    pub origin: NodeId,
    /// In which life.
    pub boot: Boot,
    /// Its number among those of that life.
    pub number: u64,
    /// How far it may still go.
    pub ttl: u8,
    /// The message.
    pub message: M,
}

/// What flooding wants done.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Effect<M> {
    /// Broadcast to all neighbours.
    Transmit {
        /// What.
        packet: Flooded<M>,
        /// How long to put it off.
        delay: Span,
    },
    /// A message has arrived.
    Deliver {
        /// Its origin.
        from: NodeId,
        /// The message.
        message: M,
    },
}

/// The flooding of one node.
#[derive(Clone, Debug)]
pub struct Flood {
    me: NodeId,
    boot: Boot,
    settings: Settings,
    sent: u64,
    /// Of each origin, its latest life and what has been seen of it.
    heard: BTreeMap<NodeId, (Boot, Window)>,
    dice: Dice,
}

impl Flood {
    /// The flooding of a node that starts, in a boot that is greater than all before.
    pub fn new(me: NodeId, boot: Boot, settings: Settings) -> Self {
        Self { me, boot, settings, sent: 0, heard: BTreeMap::new(), dice: Dice::new(!u64::from(me.0)) }
    }

    /// Sends a message to all other nodes within so many hops, or within the limit if that is less.
    pub fn send<M>(&mut self, message: M, hops: u8, out: &mut Vec<Effect<M>>) {
        let (origin, boot, number, ttl) = (self.me, self.boot, self.sent, hops.min(self.settings.hop_limit));
        self.sent += 1;
        self.transmit(Flooded { origin, boot, number, ttl, message }, out);
    }

    /// A packet has arrived from a neighbour.
    pub fn received<M: Clone>(&mut self, packet: Flooded<M>, out: &mut Vec<Effect<M>>) {
        if packet.origin == self.me || !self.note(packet.origin, packet.boot, packet.number) {
            return;
        }
        out.push(Effect::Deliver { from: packet.origin, message: packet.message.clone() });
        if packet.ttl > 1 {
            self.transmit(Flooded { ttl: packet.ttl - 1, ..packet }, out);
        }
    }

    /// Whether it is new.
    fn note(&mut self, origin: NodeId, boot: Boot, number: u64) -> bool {
        let (latest, window) = self.heard.entry(origin).or_insert((boot, Window::default()));
        if boot > *latest {
            (*latest, *window) = (boot, Window::default());
        }
        boot == *latest && window.insert(number)
    }

    fn transmit<M>(&mut self, packet: Flooded<M>, out: &mut Vec<Effect<M>>) {
        if packet.ttl > 0 {
            out.push(Effect::Transmit { packet, delay: Span(self.dice.below(self.settings.jitter.0)) });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_window_is_exact_as_far_as_it_reaches() {
        for seed in 0..200 {
            let mut dice = Dice::new(seed);
            let (mut window, mut seen, mut newest) = (Window::default(), BTreeSet::new(), 0);
            for _ in 0..500 {
                let number = (newest + dice.below(20)).saturating_sub(dice.below(100));
                let reached = seen.is_empty() || number + Window::WIDTH > newest;
                newest = if seen.is_empty() { number } else { newest.max(number) };
                assert_eq!(window.insert(number), seen.insert(number) && reached, "seed {seed}");
            }
        }
        let mut window = Window::default();
        assert!(window.insert(0) && window.insert(u64::MAX) && !window.insert(u64::MAX));
    }

    /// Floods from node 0 over random links with losses; how often each node has delivered the message.
    fn deliveries(links: &[(u32, u32)], nodes: u32, hop_limit: u8) -> Vec<u32> {
        let settings = Settings { hop_limit, ..Settings::default() };
        let mut all: Vec<_> = (0..nodes).map(|node| Flood::new(NodeId(node), Boot(0), settings.clone())).collect();
        let mut count = vec![0; nodes as usize];
        let mut air = BTreeSet::new();
        let mut out = Vec::new();
        all[0].send(7_u8, u8::MAX, &mut out);
        let mut at = 0;
        loop {
            for effect in out.drain(..) {
                match effect {
                    Effect::Deliver { message, .. } => count[at as usize] += u32::from(message == 7),
                    Effect::Transmit { packet, delay } => {
                        for &(a, b) in links.iter().filter(|link| link.0 == at || link.1 == at) {
                            air.insert((delay, a + b - at, packet.ttl));
                        }
                    }
                }
            }
            let Some((_, to, ttl)) = air.pop_first() else { return count };
            at = to;
            let packet = Flooded { origin: NodeId(0), boot: Boot(0), number: 0, ttl, message: 7 };
            all[to as usize].received(packet, &mut out);
        }
    }

    #[test]
    fn every_node_that_can_be_reached_delivers_a_message_once() {
        let mut dice = Dice::new(1);
        for _ in 0..100 {
            let ring = (0..20).map(|node| (node, (node + 1) % 20));
            let chords: Vec<_> = (0..10).map(|_| (dice.below(20), dice.below(20))).collect();
            let chords = chords.into_iter().filter(|(a, b)| a != b);
            let chords = chords.map(|(a, b)| (u32::try_from(a).unwrap(), u32::try_from(b).unwrap()));
            let count = deliveries(&ring.chain(chords).collect::<Vec<_>>(), 20, 20);
            assert_eq!(count.iter().sum::<u32>(), 19);
            assert!(count[0] == 0 && count[1..].iter().all(|&times| times == 1));
        }
    }

    #[test]
    fn a_message_goes_no_further_than_its_hops() {
        let line: Vec<_> = (1..6).map(|node| (node - 1, node)).collect();
        assert_eq!(deliveries(&line, 6, 3), [0, 1, 1, 1, 0, 0]);
        assert_eq!(deliveries(&line, 6, 0), [0; 6]);
    }

    #[test]
    fn a_new_life_begins_to_count_anew_and_the_former_is_over() {
        let mut flood = Flood::new(NodeId(1), Boot(0), Settings::default());
        let mut delivers = |boot, number| {
            let mut out = Vec::new();
            flood.received(Flooded { origin: NodeId(0), boot: Boot(boot), number, ttl: 1, message: () }, &mut out);
            !out.is_empty()
        };
        assert!(delivers(0, 5) && !delivers(0, 5) && delivers(0, 4));
        assert!(delivers(1, 5) && !delivers(0, 6) && !delivers(1, 5));
    }
}

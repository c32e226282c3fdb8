//! Who sees every message sent, every message delivered and every outcome, and objects at once.

use std::collections::{BTreeMap, BTreeSet};

use driftlock_protocol::NodeId;

use super::super::Effect;
use crate::Transfer;

/// A message that no other is like: numbers grow in the order of sending.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Note {
    number: u64,
    from: NodeId,
    to: NodeId,
    keep: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Outcome {
    Delivered,
    Undelivered,
    Doubt,
    /// Its sender has forgotten it in a reboot, and nobody waits for its outcome.
    Forgotten,
}

#[derive(Default)]
pub(super) struct Observer {
    sent: Vec<Note>,
    names: BTreeMap<(NodeId, Transfer), Note>,
    outcomes: BTreeMap<Note, Outcome>,
    delivered: BTreeSet<Note>,
    /// The last from one node to another.
    last: BTreeMap<(NodeId, NodeId), u64>,
}

impl Observer {
    pub(super) fn sends(&mut self, from: NodeId, to: NodeId, keep: bool) -> Note {
        let note = Note { number: self.sent.len() as u64, from, to, keep };
        self.sent.push(note);
        note
    }

    pub(super) fn named(&mut self, from: NodeId, transfer: Transfer, note: Note) {
        assert_eq!(self.names.insert((from, transfer), note), None, "two messages of one name");
    }

    pub(super) fn reboots(&mut self, node: NodeId) {
        for &note in self.sent.iter().filter(|note| note.from == node && !note.keep) {
            self.outcomes.entry(note).or_insert(Outcome::Forgotten);
        }
    }

    pub(super) fn sees(&mut self, at: NodeId, effect: &Effect<Note>) {
        match *effect {
            Effect::Deliver { from, message } => self.sees_delivery(from, at, message),
            Effect::Delivered { transfer, to } => {
                let note = self.names[&(at, transfer)];
                assert!(
                    note.to == to && self.delivered.contains(&note),
                    "{note:?} is not delivered, but is said to be"
                );
                self.settles(note, Outcome::Delivered);
            }
            Effect::Undelivered { transfer, message, .. } => {
                assert_eq!(self.names[&(at, transfer)], message);
                assert!(!self.delivered.contains(&message), "{message:?} is delivered, but is said not to be");
                self.settles(message, Outcome::Undelivered);
            }
            Effect::Doubt { transfer, message, .. } => {
                assert_eq!(self.names[&(at, transfer)], message);
                self.settles(message, Outcome::Doubt);
            }
            Effect::Silent { .. } | Effect::Transmit { .. } => {}
        }
    }

    fn sees_delivery(&mut self, from: NodeId, to: NodeId, note: Note) {
        assert_eq!((note.from, note.to), (from, to), "{note:?} went astray");
        let last = self.last.insert((from, to), note.number);
        assert!(last.is_none_or(|last| last < note.number), "{note:?} is doubled or out of order, after {last:?}");
        assert_ne!(self.outcomes.get(&note), Some(&Outcome::Undelivered), "{note:?} is delivered after all");
        self.delivered.insert(note);
    }

    fn settles(&mut self, note: Note, outcome: Outcome) {
        assert!(!note.keep || outcome == Outcome::Delivered, "{note:?} is given up: {outcome:?}");
        let former = self.outcomes.insert(note, outcome);
        assert_eq!(former, None, "{note:?} has two outcomes");
    }

    /// When all has healed and is quiet again.
    pub(super) fn expects_nothing_open(&self) {
        for note in &self.sent {
            assert!(self.outcomes.contains_key(note), "{note:?} has no outcome");
            assert!(!note.keep || self.delivered.contains(note), "{note:?} is lost");
        }
    }

    pub(super) fn count(&self, outcome: Outcome) -> usize {
        self.outcomes.values().filter(|&&it| it == outcome).count()
    }

    pub(super) fn outcome(&self, note: Note) -> Option<Outcome> {
        self.outcomes.get(&note).copied()
    }

    pub(super) fn delivered(&self) -> Vec<Note> {
        self.delivered.iter().copied().collect()
    }
}

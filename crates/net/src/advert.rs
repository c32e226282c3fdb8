//! What nodes say of themselves about resources, on the one hello that every node sends.
//!
//! An *advert* says that its owner takes part in a resource, in which life, and what else the owner's node wants others
//! to know. Hellos carry adverts in turn, as many as a budget of bytes allows: half of it for the node's own, half for
//! those that it has heard of, so that all whom hellos reach over any number of hops hear of all. What is new is told
//! first, and then whatever was not told for the longest time. What was told is told again now and then, so that it
//! stays fresh, and all of it as soon as a node is heard of that was unknown, or has restarted, and may know nothing.
//!
//! Each advert comes with its age: how long ago its owner was heard with it, by the node that heard it last. One that
//! has become too old is forgotten, and its owner counts as gone. So what a node knows of others is a hint: it may be
//! late, and it may be wrong.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use driftlock_protocol::{Incarnation, NodeId};
use serde::{Deserialize, Serialize};

use crate::parcel::Resource;
use crate::{Boot, Span, Time, seconds, wire};

/// The constants of adverts.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Settings {
    /// The most bytes of adverts in one hello.
    pub hello_bytes: usize,
    /// After how many seconds an advert is forgotten whose owner was not heard with it.
    #[serde(with = "seconds")]
    pub forget: Span,
    /// How many adverts of others are remembered at most.
    pub heard_max: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self { hello_bytes: 256, forget: Span::from_millis(120_000), heard_max: 4_096 }
    }
}

/// So many times may an advert be told again, one hop after the other, before it is forgotten.
const RETOLD: u64 = 32;

/// What an advert takes besides what its node says, at most.
const HEAD_MAX: usize = 40;

impl Settings {
    /// Refuses what would let no advert out, in a sentence.
    pub fn check(&self) -> Result<(), &'static str> {
        if self.hello_bytes < 2 * HEAD_MAX {
            return Err("adverts.hello-bytes must be at least 80: there would be no room for an advert");
        }
        Ok(())
    }

    /// The most that a node may say about a resource: it has to fit into its half of a hello.
    pub fn content_max(&self) -> usize {
        self.hello_bytes / 2 - HEAD_MAX
    }
}

/// Which of the adverts of one node about one resource is the newer one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Version {
    /// The life of the owner.
    pub boot: Boot,
    /// How many there were before in that life, about whatever.
    pub count: u32,
}

/// What a node says of itself about a resource.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Advert {
    /// Who says it.
    pub owner: NodeId,
    /// About which resource.
    pub resource: Resource,
    /// Which of several is the newest.
    pub version: Version,
    /// The life in which the owner takes part in the resource. None: it does not any more.
    pub life: Option<Incarnation>,
    /// What else it says.
    pub content: Vec<u8>,
}

/// An advert as a hello carries it.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Notice {
    /// What was said.
    pub advert: Advert,
    /// How many seconds ago, rounded up.
    pub age: u16,
}

/// What is new.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Effect {
    /// A node takes part in a resource, in this life.
    Met {
        /// In which.
        resource: Resource,
        /// Who.
        peer: NodeId,
        /// Of that node.
        life: Incarnation,
    },
    /// A node takes no part in a resource any more, or was not heard of for too long.
    Parted {
        /// In which.
        resource: Resource,
        /// Who.
        peer: NodeId,
    },
    /// A node says this.
    Said(Arc<Advert>),
}

/// By resource, so that those who share one are found together.
type Key = (Resource, NodeId);

#[derive(Clone, Debug)]
struct Entry {
    advert: Arc<Advert>,
    /// When its owner was last heard with it.
    fresh_at: Time,
    /// Since when it waits for its turn: a number that grows, and 0 before it was told at all.
    turn: u64,
    /// When it was told last, if it was.
    told_at: Time,
}

/// What one node says, and knows of others.
#[derive(Clone, Debug)]
pub(crate) struct Board {
    me: NodeId,
    boot: Boot,
    settings: Settings,
    said: u32,
    entries: BTreeMap<Key, Entry>,
    /// Whose turn it is, the node's own.
    own: BTreeSet<(u64, Key)>,
    /// Likewise, of others.
    others: BTreeSet<(u64, Key)>,
    turns: u64,
    /// When it heard last of a node that may know nothing of what was told before.
    newcomer_at: Time,
    /// Nothing is too old before this.
    expires: Time,
}

impl Board {
    pub(crate) fn new(me: NodeId, boot: Boot, settings: Settings) -> Self {
        Self {
            me,
            boot,
            settings,
            said: 0,
            entries: BTreeMap::new(),
            own: BTreeSet::new(),
            others: BTreeSet::new(),
            turns: 0,
            newcomer_at: Time::ZERO,
            expires: Time::END,
        }
    }

    /// From now on this node says this about a resource.
    pub(crate) fn say(&mut self, now: Time, resource: Resource, life: Option<Incarnation>, content: Vec<u8>) {
        let version = Version { boot: self.boot, count: self.said };
        self.said += 1;
        self.put(now, Advert { owner: self.me, resource, version, life, content });
    }

    /// The most that it may say.
    pub(crate) fn content_max(&self) -> usize {
        self.settings.content_max()
    }

    /// What this node says about a resource.
    pub(crate) fn own(&self, resource: Resource) -> Option<&Advert> {
        self.entries.get(&(resource, self.me)).map(|entry| &*entry.advert)
    }

    /// Who takes part in a resource besides, as far as this node has heard, in the order of nodes.
    pub(crate) fn members(&self, resource: Resource) -> impl Iterator<Item = (NodeId, Incarnation)> {
        let of_resource = self.entries.range((resource, NodeId(0))..=(resource, NodeId(u32::MAX)));
        let others = of_resource.filter(|((_, node), _)| *node != self.me);
        others.filter_map(|((_, node), entry)| Some((*node, entry.advert.life?)))
    }

    /// The life in which another node takes part in a resource.
    pub(crate) fn life(&self, resource: Resource, node: NodeId) -> Option<Incarnation> {
        self.entries.get(&(resource, node)).and_then(|entry| entry.advert.life)
    }

    /// How old what is known of this is.
    pub(crate) fn age(&self, now: Time, resource: Resource, node: NodeId) -> Option<Span> {
        self.entries.get(&(resource, node)).map(|entry| now - entry.fresh_at)
    }

    /// Which adverts the next hello carries.
    pub(crate) fn next(&mut self, now: Time) -> Vec<Notice> {
        let (mut notices, whole, latest) = (Vec::new(), self.settings.hello_bytes, self.turns);
        let half = if self.others.is_empty() { whole } else { whole / 2 };
        let left = whole - self.tell(now, Whose::Own, half, latest, &mut notices);
        let left = left - self.tell(now, Whose::Others, left, latest, &mut notices);
        self.tell(now, Whose::Own, left, latest, &mut notices);
        notices
    }

    /// Takes those whose turn it is, as long as there is room, and none that was taken after `latest` or needs not be
    /// told again yet. Gives how many bytes that takes.
    fn tell(&mut self, now: Time, whose: Whose, room: usize, latest: u64, notices: &mut Vec<Notice>) -> usize {
        let (queue, mut taken) = (if whose == Whose::Own { &mut self.own } else { &mut self.others }, 0);
        let (newcomer_at, rest) = (self.newcomer_at, self.settings.forget / RETOLD);
        let is_due = |entry: &Entry| entry.turn == 0 || entry.told_at < newcomer_at || entry.told_at + rest <= now;
        while let Some(&(turn, key)) = queue.first().filter(|(turn, _)| *turn <= latest)
            && let Some(entry) = self.entries.get_mut(&key).filter(|entry| is_due(entry))
        {
            let age = if whose == Whose::Own { Span::ZERO } else { now - entry.fresh_at };
            let age = u16::try_from(age.0.div_ceil(1_000_000_000)).unwrap_or(u16::MAX);
            let notice = Notice { advert: Advert::clone(&entry.advert), age };
            let length = wire::content_len(&notice);
            if taken + length > room {
                break;
            }
            taken += length;
            notices.push(notice);
            self.turns += 1;
            (entry.turn, entry.told_at) = (self.turns, now);
            queue.remove(&(turn, key));
            queue.insert((self.turns, key));
        }
        taken
    }

    /// A hello has told of these.
    pub(crate) fn heard(&mut self, now: Time, notices: &[Notice], out: &mut Vec<Effect>) {
        for Notice { advert, age } in notices {
            let age = Span::from_millis(u64::from(*age) * 1_000);
            if advert.owner != self.me && age < self.settings.forget {
                self.learn(now, now.saturating_sub(age), advert, out);
            }
        }
    }

    /// The owner of this was heard with it then.
    fn learn(&mut self, now: Time, fresh_at: Time, advert: &Advert, out: &mut Vec<Effect>) {
        let key = (advert.resource, advert.owner);
        let former = match self.entries.get_mut(&key) {
            Some(entry) if advert.version < entry.advert.version => return,
            Some(entry) if advert.version == entry.advert.version => {
                entry.fresh_at = entry.fresh_at.max(fresh_at);
                return;
            }
            Some(entry) => {
                if entry.advert.version.boot < advert.version.boot {
                    self.newcomer_at = now;
                }
                entry.advert.life
            }
            None if self.others.len() >= self.settings.heard_max => return,
            None => {
                self.newcomer_at = now;
                None
            }
        };
        self.put(fresh_at, advert.clone());
        compare(key, former, advert.life, out);
        if !advert.content.is_empty() {
            out.extend(self.entries.get(&key).map(|entry| Effect::Said(Arc::clone(&entry.advert))));
        }
        debug_assert!(fresh_at <= now);
    }

    /// Another node says, or has shown by a message, that a node takes part in a resource in this life.
    pub(crate) fn introduce(
        &mut self,
        now: Time,
        resource: Resource,
        owner: NodeId,
        life: Incarnation,
        out: &mut Vec<Effect>,
    ) {
        let key = (resource, owner);
        let known = self.entries.get_mut(&key);
        let former = known.as_ref().and_then(|entry| entry.advert.life);
        match known {
            _ if owner == self.me => return,
            Some(entry) if former.is_none() || former >= Some(life) => {
                // A message of a life that is over says nothing about the present one.
                if former == Some(life) {
                    entry.fresh_at = now;
                }
                return;
            }
            // What it says itself is newer than what others say, and will come.
            Some(entry) => {
                let advert = Advert { life: Some(life), content: Vec::new(), ..Advert::clone(&entry.advert) };
                self.put(now, advert);
            }
            None if self.others.len() >= self.settings.heard_max => return,
            None => {
                self.newcomer_at = now;
                let (version, content) = (Version::default(), Vec::new());
                self.put(now, Advert { owner, resource, version, life: Some(life), content });
            }
        }
        compare(key, former, Some(life), out);
    }

    /// Forgets what is too old.
    pub(crate) fn expire(&mut self, now: Time, out: &mut Vec<Effect>) {
        if now < self.expires {
            return;
        }
        let (forget, me) = (self.settings.forget, self.me);
        let ends = |(key, entry): &(&Key, &Entry)| key.1 != me || entry.advert.life.is_none();
        let is_over = |entry: &(&Key, &Entry)| ends(entry) && entry.1.fresh_at + forget <= now;
        let over: Vec<_> = self.entries.iter().filter(is_over).map(|(key, entry)| (*key, entry.advert.life)).collect();
        for (key, former) in over {
            self.remove(key);
            if key.1 != me {
                compare(key, former, None, out);
            }
        }
        let left = self.entries.iter().filter(ends);
        self.expires = left.map(|(_, entry)| entry.fresh_at + forget).min().unwrap_or(Time::END);
    }

    /// What is new has its turn first.
    fn put(&mut self, fresh_at: Time, advert: Advert) {
        let key = (advert.resource, advert.owner);
        self.remove(key);
        self.queue(key).insert((0, key));
        self.expires = self.expires.min(fresh_at + self.settings.forget);
        let entry = Entry { advert: Arc::new(advert), fresh_at, turn: 0, told_at: Time::ZERO };
        self.entries.insert(key, entry);
    }

    fn remove(&mut self, key: Key) {
        if let Some(Entry { turn, .. }) = self.entries.remove(&key) {
            self.queue(key).remove(&(turn, key));
        }
    }

    fn queue(&mut self, (_, owner): Key) -> &mut BTreeSet<(u64, Key)> {
        if owner == self.me { &mut self.own } else { &mut self.others }
    }
}

/// What it means that a node takes part in this life, and in that one before.
fn compare((resource, peer): Key, former: Option<Incarnation>, life: Option<Incarnation>, out: &mut Vec<Effect>) {
    out.extend(match life {
        Some(life) if former != Some(life) => Some(Effect::Met { resource, peer, life }),
        None if former.is_some() => Some(Effect::Parted { resource, peer }),
        _ => None,
    });
}

/// Whose adverts are told.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whose {
    Own,
    Others,
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: NodeId = NodeId(0);
    const B: NodeId = NodeId(1);
    const C: NodeId = NodeId(2);
    const R: Resource = Resource(5);
    const LIFE: Option<Incarnation> = Some(Incarnation(3));

    fn s(seconds: u64) -> Time {
        Time::from_millis(seconds * 1_000)
    }

    fn board(me: NodeId) -> Board {
        Board::new(me, Boot(1), Settings::default())
    }

    /// One node hears the hello of another, and what is new to it.
    fn hello(now: Time, from: &mut Board, to: &mut Board) -> Vec<Effect> {
        let mut out = Vec::new();
        to.heard(now, &from.next(now), &mut out);
        out
    }

    #[test]
    fn what_a_node_says_is_passed_on_with_its_age_and_told_once() {
        let [mut a, mut b, mut c] = [A, B, C].map(board);
        a.say(s(0), R, LIFE, b"three docks".to_vec());
        let met = Effect::Met { resource: R, peer: A, life: Incarnation(3) };
        let said = Effect::Said(Arc::new(a.own(R).unwrap().clone()));
        assert_eq!(hello(s(10), &mut a, &mut b), [met.clone(), said.clone()]);
        assert_eq!(hello(s(11), &mut a, &mut b), []);
        assert_eq!(hello(s(15), &mut b, &mut c), [met, said]);
        assert_eq!(
            (b.age(s(15), R, A), c.age(s(15), R, A)),
            (Some(Span::from_millis(5_000)), Some(Span::from_millis(5_000)))
        );
        assert_eq!(hello(s(16), &mut c, &mut a), [], "nobody tells a node about itself");
        a.say(s(20), R, None, Vec::new());
        assert_eq!(hello(s(20), &mut a, &mut c), [Effect::Parted { resource: R, peer: A }]);
        assert_eq!(hello(s(21), &mut b, &mut c), [], "that was said before");
        assert_eq!(hello(s(22), &mut c, &mut b), [Effect::Parted { resource: R, peer: A }]);
    }

    #[test]
    fn what_all_know_is_told_again_now_and_then_and_at_once_to_a_newcomer_and_to_a_node_that_has_restarted() {
        let [mut a, mut b, mut c] = [A, B, C].map(board);
        for board in [&mut a, &mut b] {
            board.say(s(0), R, LIFE, Vec::new());
        }
        hello(s(0), &mut a, &mut b);
        hello(s(0), &mut b, &mut a);
        let told = |board: &mut Board, from: u64, to: u64| -> Vec<_> {
            (from..to).map(|now| board.next(s(now)).len()).collect()
        };
        assert_eq!(told(&mut a, 1, 12), [1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0], "its own and the other's every 3.75 s");
        c.say(s(12), R, LIFE, Vec::new());
        hello(s(12), &mut c, &mut a);
        assert_eq!(told(&mut a, 12, 14), [3, 0], "all that it knows, the newcomer included");
        let mut restarted = Board::new(C, Boot(2), Settings::default());
        restarted.say(s(14), R, LIFE, Vec::new());
        assert_eq!(hello(s(14), &mut restarted, &mut a), [], "it is there as before");
        assert_eq!(told(&mut a, 14, 16), [3, 0], "but knows nothing");
    }

    #[test]
    fn who_is_not_heard_of_for_too_long_is_forgotten_by_all_however_much_they_talk() {
        let [mut a, mut b, mut c] = [A, B, C].map(board);
        a.say(s(0), R, LIFE, Vec::new());
        hello(s(0), &mut a, &mut b);
        let mut parted = [0, 0];
        for now in 1..300 {
            hello(s(now), &mut b, &mut c);
            hello(s(now), &mut c, &mut b);
            for (board, parted) in [&mut b, &mut c].into_iter().zip(&mut parted) {
                let mut out = Vec::new();
                board.expire(s(now), &mut out);
                if out == [Effect::Parted { resource: R, peer: A }] {
                    assert_eq!(std::mem::replace(parted, now), 0, "once");
                }
            }
        }
        assert!(parted.iter().all(|at| (119..=121).contains(at)), "{parted:?}");
        assert_eq!(b.entries.len() + c.entries.len(), 0);
    }

    #[test]
    fn adverts_take_turns_within_the_budget_and_what_is_new_comes_first() {
        let (mut a, mut b) = (board(A), board(B));
        (0..100).for_each(|resource| a.say(s(0), Resource(resource), LIFE, vec![7; 20]));
        (0..100).for_each(|resource| b.say(s(0), Resource(resource), LIFE, vec![7; 20]));
        for now in 0..40 {
            let notices = b.next(s(now));
            assert!(notices.iter().map(wire::content_len).sum::<usize>() <= 256);
            a.heard(s(now), &notices, &mut Vec::new());
        }
        let mut told = BTreeMap::new();
        for now in 40..60 {
            let notices = a.next(s(now));
            let bytes: usize = notices.iter().map(wire::content_len).sum();
            assert!((200..=256).contains(&bytes), "{bytes}");
            for Notice { advert, .. } in notices {
                *told.entry((advert.owner, advert.resource)).or_insert(0) += 1;
            }
        }
        assert_eq!(told.len(), 80 + 100, "four of its own in each hello, and five of others");
        assert!(told.values().all(|times| *times == 1), "each in its turn");
        a.say(s(60), Resource(50), LIFE, b"news".to_vec());
        assert_eq!(a.next(s(60))[0].advert, *a.own(Resource(50)).unwrap());
    }

    #[test]
    fn a_message_shows_that_its_sender_is_there_until_it_says_something_newer_itself() {
        let (mut a, mut b, mut out) = (board(A), board(B), Vec::new());
        b.introduce(s(1), R, A, Incarnation(3), &mut out);
        b.introduce(s(2), R, A, Incarnation(3), &mut out);
        b.introduce(s(3), R, A, Incarnation(2), &mut out);
        b.introduce(s(3), R, B, Incarnation(9), &mut out);
        assert_eq!(out, [Effect::Met { resource: R, peer: A, life: Incarnation(3) }]);
        assert_eq!((b.age(s(5), R, A), b.life(R, A)), (Some(Span::from_millis(3_000)), LIFE));
        a.say(s(6), R, LIFE, Vec::new());
        assert_eq!(hello(s(6), &mut a, &mut b), [], "that was known");
        a.say(s(7), R, None, Vec::new());
        assert_eq!(hello(s(7), &mut a, &mut b), [Effect::Parted { resource: R, peer: A }]);
        assert_eq!(b.members(R).count(), 0);
    }

    #[test]
    fn there_is_room_for_so_many_and_what_comes_late_waits_until_something_is_forgotten() {
        let mut board = Board::new(A, Boot(1), Settings { heard_max: 2, ..Settings::default() });
        let mut out = Vec::new();
        for node in 1..=3 {
            board.introduce(s(node), R, NodeId(u32::try_from(node).unwrap()), Incarnation(0), &mut out);
        }
        assert_eq!(board.members(R).count(), 2);
        board.expire(s(121), &mut out);
        board.introduce(s(121), R, NodeId(3), Incarnation(0), &mut out);
        assert_eq!(board.members(R).map(|(node, _)| node).collect::<Vec<_>>(), [NodeId(2), NodeId(3)]);
    }
}

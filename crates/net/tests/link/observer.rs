//! Knows all ends at once, and notices every breach of the contract.

use std::collections::{BTreeMap, BTreeSet};

use driftlock_net::link::{Effect, Link, Rank};
use driftlock_net::{Boot, Transfer};
use driftlock_protocol::{Incarnation, NodeId};

/// A message of the tests: its number among all, and the token it carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Message {
    pub(crate) id: usize,
    pub(crate) token: Option<usize>,
}

pub(crate) fn carries_token(message: &Message) -> bool {
    message.token.is_some()
}

/// What the sender was told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Outcome {
    Undelivered,
    Dropped,
    Doubt,
    Settled,
    Lost,
    /// Nothing any more: it crashed.
    Crashed,
}

#[derive(Debug)]
struct Sent {
    from: NodeId,
    to: NodeId,
    /// Of the link, if there was one.
    incarnation: Option<Incarnation>,
    life: usize,
    sequence: u64,
    token: Option<usize>,
    delivered: bool,
    outcome: Option<Outcome>,
}

/// Where a token is, for an observer that sees everything.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    Held(NodeId),
    /// In this message, which is not delivered.
    Sent(usize),
    /// A node that had it has crashed and forgotten.
    Gone,
}

#[derive(Default)]
pub(crate) struct Observer {
    sent: Vec<Sent>,
    /// The number of a message to several is the first of theirs; here are the others.
    to_several: BTreeMap<(usize, NodeId), usize>,
    by_transfer: BTreeMap<(NodeId, NodeId, Transfer), usize>,
    /// Of each node, how often it has restarted and how many tokens it has sent since.
    lives: BTreeMap<NodeId, (u32, u64)>,
    /// Whom each node hears, in which life.
    heard: BTreeMap<(NodeId, NodeId), Boot>,
    sent_over: BTreeMap<(NodeId, NodeId, usize), u64>,
    delivered_over: BTreeMap<(NodeId, NodeId, usize), u64>,
    /// Each link with the number of its life, which is unique among all.
    up: BTreeMap<(NodeId, NodeId), (Incarnation, usize)>,
    highest: BTreeMap<(NodeId, NodeId), Incarnation>,
    /// Who has forgotten which incarnations it had with whom.
    forgot: BTreeSet<(NodeId, NodeId)>,
    /// Each incarnation that has been up at the caller, the lower of the two, and the number of its life.
    ever_up: BTreeMap<(NodeId, NodeId, Incarnation), usize>,
    pub(crate) tokens: Vec<Place>,
    /// Nodes that have forgotten something, ever.
    forgetful: BTreeSet<NodeId>,
    pub(crate) ups: usize,
    pub(crate) doubts: usize,
    /// Tokens that came from who was no neighbour any more.
    pub(crate) late: usize,
    pub(crate) returned: usize,
    pub(crate) settled: usize,
    pub(crate) lost: usize,
}

impl Observer {
    pub(crate) fn link(&self, node: NodeId, peer: NodeId) -> Option<Incarnation> {
        self.up.get(&(node, peer)).map(|link| link.0)
    }

    /// A node is about to send; gives the message.
    pub(crate) fn sends(&mut self, from: NodeId, to: NodeId, token: Option<usize>) -> Message {
        let id = self.sent.len();
        let link = self.up.get(&(from, to)).copied();
        let (incarnation, life) = (link.map(|link| link.0), link.map_or(0, |link| link.1));
        let mut sequence = 0;
        if link.is_some() {
            let count = self.sent_over.entry((from, to, life)).or_default();
            sequence = *count;
            *count += 1;
        }
        if let Some(token) = token {
            assert_eq!(self.tokens[token], Place::Held(from));
            self.tokens[token] = Place::Sent(id);
            let (restarts, number) = self.lives.entry(from).or_default();
            let transfer = Transfer { boot: Boot(1 + *restarts), number: *number };
            *number += 1;
            self.by_transfer.insert((from, to, transfer), id);
        }
        self.sent.push(Sent { from, to, incarnation, life, sequence, token, delivered: false, outcome: None });
        Message { id, token }
    }

    /// A node is about to send the same to all of these.
    pub(crate) fn sends_to_all(&mut self, from: NodeId, to: &[NodeId]) -> Message {
        let first = self.sent.len();
        for &to in to {
            let message = self.sends(from, to, None);
            self.to_several.insert((first, to), message.id);
        }
        Message { id: first, token: None }
    }

    fn id(&self, message: Message, to: NodeId) -> usize {
        self.to_several.get(&(message.id, to)).copied().unwrap_or(message.id)
    }

    /// A node has restarted: its links are gone without a word, and all that it held unless it remembers.
    pub(crate) fn restarts(&mut self, node: NodeId, remembers: bool) {
        let life = self.lives.entry(node).or_default();
        *life = (life.0 + 1, 0);
        self.up.retain(|&(here, _), _| here != node);
        self.heard.retain(|&(here, _), _| here != node);
        if !remembers {
            self.forgetful.insert(node);
            self.forgets(node);
        }
        for sent in &mut self.sent {
            let open = matches!(sent.outcome, None | Some(Outcome::Doubt));
            if sent.from == node && open && (sent.token.is_none() || !remembers) {
                sent.outcome = Some(Outcome::Crashed);
            }
        }
        for place in &mut self.tokens {
            if *place == Place::Held(node) && !remembers {
                *place = Place::Gone;
            }
        }
    }

    /// An effect of `node`'s link layer that its protocol hears of.
    pub(crate) fn sees(&mut self, node: NodeId, effect: &Effect<Message>) {
        match *effect {
            Effect::Transmit { .. } | Effect::Route { .. } => {}
            Effect::Heard { peer, boot } => {
                let former = self.heard.insert((node, peer), boot);
                assert!(former < Some(boot), "{node} hears {peer} in {boot:?} for the first time again");
            }
            Effect::Silent { peer } => {
                assert!(self.heard.remove(&(node, peer)).is_some(), "{node} has never heard {peer}");
            }
            Effect::Up { peer, incarnation } => self.up(node, peer, incarnation),
            Effect::Down { peer, incarnation } => {
                let link = self.up.remove(&(node, peer)).map(|link| link.0);
                assert_eq!(link, Some(incarnation), "down at {node} without up of {peer}");
            }
            Effect::Deliver { from, incarnation, message } => self.delivered(node, from, incarnation, message),
            Effect::Undelivered { to, message } => {
                let id = self.id(message, to);
                self.concludes(id, Outcome::Undelivered);
                let sent = &self.sent[id];
                assert!(!sent.delivered, "{message:?} was delivered and came back: {sent:?}");
                assert_eq!((sent.from, sent.to), (node, to));
                assert!(
                    sent.incarnation.is_none_or(|was| self.link(node, to) != Some(was)),
                    "returned before its down"
                );
                if let Some(token) = message.token {
                    assert_eq!(self.tokens[token], Place::Sent(message.id), "doubled");
                    self.tokens[token] = Place::Held(node);
                    self.returned += 1;
                }
            }
            Effect::Dropped { to, message } => {
                assert_eq!(message.token, None, "a token was dropped");
                self.concludes(self.id(message, to), Outcome::Dropped);
            }
            Effect::Doubt { to, transfer } => {
                let id = self.by_transfer[&(node, to, transfer)];
                assert!(self.sent[id].token.is_some());
                self.concludes(id, Outcome::Doubt);
                self.doubts += 1;
            }
            Effect::Settled { to, transfer } => {
                let id = self.by_transfer[&(node, to, transfer)];
                assert!(self.sent[id].delivered, "{:?} was never delivered and is forgotten", self.sent[id]);
                self.concludes(id, Outcome::Settled);
                self.settled += 1;
            }
            Effect::Lost { to, message } => {
                assert!(
                    self.forgetful.contains(&to) || self.forgetful.contains(&node),
                    "nobody has forgotten {message:?}"
                );
                self.concludes(message.id, Outcome::Lost);
                let place = &mut self.tokens[message.token.unwrap()];
                if *place == Place::Sent(message.id) {
                    *place = Place::Gone;
                }
                self.lost += 1;
            }
        }
    }

    /// Incarnations grow as long as one of the two remembers.
    fn forgets(&mut self, node: NodeId) {
        let peers: BTreeSet<_> = self.highest.keys().filter(|key| key.0 == node).map(|key| key.1).collect();
        for peer in peers {
            self.forgot.insert((node, peer));
            if self.forgot.contains(&(peer, node)) || !self.highest.contains_key(&(peer, node)) {
                self.highest.remove(&(node, peer));
                self.highest.remove(&(peer, node));
            }
        }
    }

    fn up(&mut self, node: NodeId, peer: NodeId, incarnation: Incarnation) {
        self.ups += 1;
        let life = if node < peer {
            self.ever_up.insert((node, peer, incarnation), self.ups);
            self.ups
        } else {
            let known = self.ever_up.get(&(peer, node, incarnation));
            *known.unwrap_or_else(|| panic!("{peer} knows nothing of {incarnation:?}"))
        };
        assert_eq!(self.up.insert((node, peer), (incarnation, life)), None, "up twice at {node}");
        self.forgot.remove(&(node, peer));
        let before = self.highest.insert((node, peer), incarnation);
        assert!(before < Some(incarnation), "{before:?} was followed by {incarnation:?} at {node}");
        let open = |sent: &&Sent| sent.token.is_some() && matches!(sent.outcome, None | Some(Outcome::Doubt));
        let before = self.sent.iter().filter(|sent| (sent.from, sent.to) == (peer, node) && sent.life != life);
        for sent in before.filter(open) {
            assert!(sent.delivered, "{sent:?} has not arrived, and there is a new link");
        }
    }

    fn delivered(&mut self, node: NodeId, from: NodeId, incarnation: Incarnation, message: Message) {
        let link = self.up.get(&(node, from)).copied();
        let id = self.id(message, node);
        let sent = &mut self.sent[id];
        assert_eq!((sent.from, sent.to), (from, node));
        assert_eq!(sent.incarnation, Some(incarnation));
        if link.is_some() || message.token.is_none() {
            assert_eq!(link, Some((incarnation, sent.life)), "{node} got {message:?} over no link, or over another");
        }
        assert!(!sent.delivered, "{message:?} was delivered twice");
        assert!(
            !matches!(sent.outcome, Some(Outcome::Undelivered | Outcome::Settled | Outcome::Lost)),
            "{message:?} came back and arrived"
        );
        sent.delivered = true;
        let count = self.delivered_over.entry((from, node, sent.life)).or_default();
        if link.is_some() {
            assert_eq!(*count, sent.sequence, "{message:?} is out of order");
        } else {
            // What carries no permits has died with the link.
            assert!(*count <= sent.sequence, "{message:?} is out of order");
            self.late += 1;
        }
        *count = sent.sequence + 1;
        if let Some(token) = message.token {
            assert_eq!(self.tokens[token], Place::Sent(message.id), "doubled, or given up for lost");
            self.tokens[token] = Place::Held(node);
        }
    }

    fn concludes(&mut self, id: usize, outcome: Outcome) {
        let sent = &mut self.sent[id];
        let settles = matches!(outcome, Outcome::Settled | Outcome::Lost);
        // A restarted sender is in doubt about what it had not been told about yet, and is not told so.
        let expected = match sent.outcome {
            None => outcome != Outcome::Settled || sent.token.is_some(),
            Some(Outcome::Doubt) => settles,
            Some(_) => false,
        };
        assert!(expected, "{outcome:?} after {:?} for message {id}", sent.outcome);
        sent.outcome = Some(outcome);
    }

    /// Each token that is in no node's hands is in the custody of the node that sent it.
    pub(crate) fn check_custody(&self, links: &[Link<Message>]) {
        for place in &self.tokens {
            let Place::Sent(id) = *place else { continue };
            let sent = &self.sent[id];
            if sent.outcome == Some(Outcome::Crashed) {
                continue;
            }
            let link = &links[sent.from.index()];
            let found = |(to, message): (NodeId, &Message)| to == sent.to && message.id == id;
            let doubted = link.in_doubt().any(found);
            assert!(doubted || link.unacknowledged().any(found), "nobody has {sent:?}");
            assert!(doubted || sent.outcome != Some(Outcome::Doubt), "{sent:?} is not seen to be in doubt");
        }
    }

    /// Long after everything has healed, where these hear each other: there are the links that there are to be, and all
    /// is settled.
    pub(crate) fn check_calm(&self, links: &[Link<Message>], witnesses: usize, hear: impl Fn(NodeId, NodeId) -> bool) {
        let needed = needed(u32::try_from(links.len()).unwrap(), witnesses, hear);
        let ids = || (0u32..).map(NodeId).take(links.len());
        for (a, b) in ids().flat_map(|a| ids().map(move |b| (a, b))).filter(|(a, b)| a < b) {
            assert_eq!(self.link(a, b).is_some(), needed.contains(&(a, b)), "a link of {a} and {b}, or none");
            assert_eq!(self.link(a, b), self.link(b, a), "{a} and {b} differ");
        }
        for link in links {
            assert_eq!(link.in_doubt().count(), 0, "still in doubt");
            assert_eq!(link.unacknowledged().count(), 0, "still unacknowledged");
        }
        for sent in &self.sent {
            assert!(sent.delivered || sent.outcome.is_some(), "nothing became of {sent:?}");
        }
        for place in &self.tokens {
            match place {
                Place::Held(_) => {}
                Place::Sent(id) => assert_eq!(self.sent[*id].outcome, Some(Outcome::Crashed), "token left over"),
                Place::Gone => assert!(!self.forgetful.is_empty(), "a token is gone"),
            }
        }
    }

    /// Of the plain messages over links, how many were delivered.
    pub(crate) fn deliveries(&self) -> usize {
        self.sent.iter().filter(|sent| sent.delivered).count()
    }
}

/// Which pairs have a link in the end, the lower id first: by the rule, for an observer that knows which node hears
/// which.
pub(crate) fn needed(
    nodes: u32,
    witnesses: usize,
    hear: impl Fn(NodeId, NodeId) -> bool,
) -> BTreeSet<(NodeId, NodeId)> {
    let ids = || (0..nodes).map(NodeId);
    let pairs = ids().flat_map(|a| ids().map(move |b| (a, b))).filter(|&(a, b)| a < b && hear(a, b));
    let mut pairs: Vec<_> = pairs.map(|(a, b)| (Rank::of(a, b), a, b)).collect();
    pairs.sort_unstable();
    let mut linked = BTreeSet::new();
    for (rank, a, b) in pairs {
        let has_link = |a: NodeId, b: NodeId| linked.contains(&(a.min(b), a.max(b)));
        let spares = |here, there| {
            let makes_up = |other: &NodeId| {
                let is_other = *other != here && *other != there && hear(here, *other) && has_link(there, *other);
                is_other && Rank::of(here, *other) < rank && Rank::of(there, *other) < rank
            };
            witnesses > 0 && ids().filter(makes_up).count() >= witnesses
        };
        if !spares(a, b) && !spares(b, a) {
            linked.insert((a, b));
        }
    }
    linked
}

//! A layer that driftlock does not have: nodes stand in a circle, and each can send to the next one alone. Now and then
//! two of them change places.

use driftlock_protocol::ideal::{Change, Course, Cut, Ideal, Kind, Needs, News, NoLink, Start, Way, Whom};
use driftlock_protocol::{Contacts, Deployment, Incarnation, NodeId, Refusal, Stay, View};
use serde::{Deserialize, Serialize};

/// Two nodes change places.
pub(crate) const SWAPS: Kind =
    Kind { name: "swaps", one: "swap", word: "swap", whom: Whom::Pair, course: Course::Bounded };

/// Who stands beside the node now.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub(crate) struct Beside {
    /// Messages come from this one, ...
    pub(crate) before: NodeId,
    /// ... on this way, ...
    pub(crate) incarnation: Incarnation,
    /// ... and go to that one.
    pub(crate) next: NodeId,
}

impl View for Beside {
    type Ideal = Circle;
    type Contacts = Behind;
}

/// Who may speak to a node: the one before it.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Behind(Option<(NodeId, Incarnation)>);

impl Contacts for Behind {
    type View = Beside;

    fn hear(&mut self, _me: NodeId, beside: &Beside) -> Result<(), Refusal> {
        self.0 = Some((beside.before, beside.incarnation));
        Ok(())
    }

    fn incarnation(&self, peer: NodeId) -> Option<Incarnation> {
        self.0.filter(|(before, _)| *before == peer).map(|(_, incarnation)| incarnation)
    }

    fn admits_late(&self, _me: NodeId, from: NodeId, permits: bool) -> Result<(), Refusal> {
        if permits { Ok(()) } else { Err(Refusal::UnknownSender { from }) }
    }
}

/// The exact twin of a circle.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Circle {
    /// The last is followed by the first.
    order: Vec<NodeId>,
    /// Of each node, the way to the next one.
    ways: Vec<Incarnation>,
    incarnation: Incarnation,
}

impl Circle {
    fn place(&self, node: NodeId) -> usize {
        self.order.iter().position(|other| *other == node).expect("it stands in the circle")
    }

    fn after(&self, node: NodeId) -> NodeId {
        self.order[(self.place(node) + 1) % self.order.len()]
    }

    fn before(&self, node: NodeId) -> NodeId {
        self.order[(self.place(node) + self.order.len() - 1) % self.order.len()]
    }

    fn swapped(&self, a: NodeId, b: NodeId) -> Self {
        let mut swapped = self.clone();
        let (first, second) = (self.place(a), self.place(b));
        swapped.order.swap(first, second);
        swapped
    }

    /// The ways that there are here and not in the other circle.
    fn ways_unlike(&self, other: &Self) -> Vec<(NodeId, NodeId)> {
        let ways = self.order.iter().map(|&node| (node, self.after(node)));
        ways.filter(|&(from, to)| other.after(from) != to).collect()
    }
}

impl Ideal for Circle {
    type View = Beside;

    const STARTS_FROM: Start = Start::Nodes;
    const KINDS: &'static [&'static Kind] = &[&SWAPS];

    fn new(start: &Deployment) -> Self {
        let order: Vec<_> = start.ids().collect();
        Self { ways: vec![Incarnation(0); order.len()], order, incarnation: Incarnation(1) }
    }

    fn changes(&self, out: &mut Vec<Change>) {
        let all = Change::all(Self::KINDS, u32::try_from(self.order.len()).expect("a small circle"));
        out.extend(all.into_iter().filter(|_| self.order.len() > 2));
    }

    fn needs(&self, Change { node, peer, .. }: Change) -> Needs {
        let drained = self.swapped(node, peer).ways_unlike(self);
        Needs { attentive: self.order.clone(), drained, ..Needs::default() }
    }

    fn apply(
        &mut self,
        Change { node, peer, .. }: Change,
        _draw: &mut dyn FnMut(Incarnation) -> Stay,
        news: &mut Vec<News<Beside>>,
    ) {
        let former = self.clone();
        *self = self.swapped(node, peer);
        for (from, to) in former.ways_unlike(self) {
            news.push(News::Cut(from, to, Cut::Outlived));
        }
        let new = self.ways_unlike(&former);
        for &(from, to) in &new {
            self.ways[from.index()] = self.incarnation;
            news.push(News::Settles(from, to));
        }
        self.incarnation.0 += 1;
        for &node in &self.order {
            if new.iter().any(|(from, to)| [from, to].contains(&&node)) {
                let before = self.before(node);
                let (incarnation, next) = (self.ways[before.index()], self.after(node));
                news.push(News::Tells(node, Beside { before, incarnation, next }));
            }
        }
    }

    fn next(&self) -> Incarnation {
        self.incarnation
    }

    fn contacts(&self, node: NodeId) -> Behind {
        let before = self.before(node);
        Behind(Some((before, self.ways[before.index()])))
    }

    fn way(&self, from: NodeId, to: NodeId) -> Result<Way, NoLink> {
        if self.after(from) == to { Ok(Way::Open(self.ways[from.index()])) } else { Err(NoLink { from, to }) }
    }

    fn audience(&self, from: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        std::iter::once(self.after(from))
    }

    fn together(&self, _node: NodeId) -> Vec<NodeId> {
        let mut all = self.order.clone();
        all.sort_unstable();
        all
    }
}

//! Links that come and go by decree.

use alloc::vec::Vec;

use super::{Change, Course, Cut, Ideal, Kind, Needs, News, NoLink, RESTARTS, Sight, Start, Way, Whom};
use crate::{Deployment, Incarnation, LinkEvent, Linked, NodeId, Stay};

/// Links fail.
pub const FAILURES: Kind =
    Kind { name: "failures", one: "link failure", word: "down", whom: Whom::Pair, course: Course::Bounded };
/// Links form.
pub const FORMATIONS: Kind =
    Kind { name: "formations", one: "link formation", word: "up", whom: Whom::Pair, course: Course::Bounded };
/// A node notices that a neighbour was killed.
pub const NOTICES: Kind = Kind {
    name: "notices",
    one: "notice",
    word: "miss",
    whom: Whom::NodeByAnother,
    course: Course::Follows { delays: 5 },
};
/// A link forms again that a restart has cut.
pub const MENDINGS: Kind =
    Kind { name: "mendings", one: "mending", word: "mend", whom: Whom::Pair, course: Course::Follows { delays: 10 } };

/// The end of a link whose other end is gone, as its node was killed. This one has not noticed yet.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Loose {
    node: NodeId,
    peer: NodeId,
    incarnation: Incarnation,
}

/// All links of a network.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Links {
    /// For each node the other ends of its links, by id.
    ends: Vec<Vec<(NodeId, Incarnation)>>,
    loose: Vec<Loose>,
    /// Pairs whose link a restart has cut, and which has not formed again.
    cut: Vec<(NodeId, NodeId)>,
    /// Of the next link to form.
    incarnation: Incarnation,
    count: usize,
}

impl Links {
    /// No links among `nodes` nodes.
    pub fn among(nodes: u32) -> Self {
        let ends = (0..nodes).map(|_| Vec::new()).collect();
        Self { ends, loose: Vec::new(), cut: Vec::new(), incarnation: Incarnation(0), count: 0 }
    }

    /// How many links are up.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Whether there is a link between `a` and `b`.
    pub fn is_up(&self, a: NodeId, b: NodeId) -> bool {
        self.incarnation(a, b).is_some()
    }

    /// Every link once, in growing order, lower end first.
    pub fn iter(&self) -> impl Iterator<Item = (NodeId, NodeId)> + '_ {
        (0..).map(NodeId).zip(&self.ends).flat_map(|(a, ends)| {
            let higher = ends.iter().map(|end| end.0).filter(move |&b| a < b);
            higher.map(move |b| (a, b))
        })
    }

    /// The links of one node, by peer.
    pub fn of(&self, node: NodeId) -> impl Iterator<Item = (NodeId, Incarnation)> + '_ {
        self.ends[node.index()].iter().copied()
    }

    /// Forms a link between two nodes that have none, and tells its incarnation.
    pub fn form(&mut self, a: NodeId, b: NodeId) -> Incarnation {
        debug_assert!(a != b && !self.is_up(a, b) && self.loose(a, b).or(self.loose(b, a)).is_none());
        self.cut.retain(|pair| *pair != (a.min(b), a.max(b)));
        let incarnation = self.incarnation;
        self.incarnation.0 += 1;
        self.count += 1;
        for (here, peer) in [(a, b), (b, a)] {
            let ends = &mut self.ends[here.index()];
            let at = ends.partition_point(|end| end.0 < peer);
            ends.insert(at, (peer, incarnation));
        }
        incarnation
    }

    /// The incarnation of a link to `peer` that was killed, which `node` has not noticed yet.
    pub fn loose(&self, node: NodeId, peer: NodeId) -> Option<Incarnation> {
        let loose = self.loose.iter().find(|loose| (loose.node, loose.peer) == (node, peer));
        loose.map(|loose| loose.incarnation)
    }

    /// Whether all nodes can reach one another, over the links except `without`.
    pub fn connected_without(&self, without: Option<(NodeId, NodeId)>) -> bool {
        self.reached(NodeId(0), without).iter().all(|is_reached| *is_reached)
    }

    /// The first node that cannot be reached from node 0, if there is one.
    pub fn unreachable(&self) -> Option<NodeId> {
        let reached = self.reached(NodeId(0), None);
        (0..).map(NodeId).zip(reached).find(|(_, is_reached)| !is_reached).map(|(node, _)| node)
    }

    /// Whether `start` reaches each node, over the links except `without`.
    fn reached(&self, start: NodeId, without: Option<(NodeId, NodeId)>) -> Vec<bool> {
        let mut reached = alloc::vec![false; self.ends.len()];
        let Some(first) = reached.get_mut(start.index()) else { return reached };
        *first = true;
        let mut frontier = alloc::vec![start];
        while let Some(node) = frontier.pop() {
            for &(peer, _) in &self.ends[node.index()] {
                let removed = without.is_some_and(|(a, b)| (a, b) == (node, peer) || (b, a) == (node, peer));
                if !removed && !reached[peer.index()] {
                    reached[peer.index()] = true;
                    frontier.push(peer);
                }
            }
        }
        reached
    }

    fn incarnation(&self, from: NodeId, to: NodeId) -> Option<Incarnation> {
        let ends = &self.ends[from.index()];
        ends.binary_search_by_key(&to, |end| end.0).ok().map(|at| ends[at].1)
    }

    /// Takes both ends of a link away.
    fn remove(&mut self, a: NodeId, b: NodeId) -> Option<Incarnation> {
        let incarnation = self.incarnation(a, b)?;
        for (here, peer) in [(a, b), (b, a)] {
            self.ends[here.index()].retain(|end| end.0 != peer);
        }
        self.count -= 1;
        Some(incarnation)
    }

    fn change_form(&mut self, a: NodeId, b: NodeId, news: &mut Vec<News<LinkEvent>>) {
        self.notice(a, b, news);
        self.notice(b, a, news);
        news.extend([News::Settles(a, b), News::Settles(b, a)]);
        let incarnation = self.form(a, b);
        news.push(News::Shows(Sight::Link { ends: (a, b), up: true, incarnation }));
        news.push(News::Tells(a, LinkEvent::Up { peer: b, incarnation }));
        news.push(News::Tells(b, LinkEvent::Up { peer: a, incarnation }));
    }

    /// Both ends are told at once.
    fn fail(&mut self, a: NodeId, b: NodeId, news: &mut Vec<News<LinkEvent>>) {
        let Some(incarnation) = self.remove(a, b) else { return };
        news.push(News::Shows(Sight::Link { ends: (a, b), up: false, incarnation }));
        news.extend([(a, b), (b, a)].map(|(from, to)| News::Cut(from, to, Cut::Failed(incarnation))));
        news.push(News::Tells(a, LinkEvent::Down { peer: b, incarnation }));
        news.push(News::Tells(b, LinkEvent::Down { peer: a, incarnation }));
    }

    /// A node is killed, and is back at once: to be down is the same as to have no links. The other ends are loose
    /// until they miss it. What it has sent is on its way still; of what was on its way to it only permits are.
    fn kill(&mut self, node: NodeId, news: &mut Vec<News<LinkEvent>>) {
        news.push(News::Killed(node));
        for forgotten in self.loose.extract_if(.., |loose| loose.node == node) {
            news.push(News::Cut(forgotten.peer, node, Cut::Outlived));
        }
        for (peer, incarnation) in self.of(node).collect::<Vec<_>>() {
            self.remove(node, peer);
            self.loose.push(Loose { node: peer, peer: node, incarnation });
            let pair = (node.min(peer), node.max(peer));
            self.cut.extend((!self.cut.contains(&pair)).then_some(pair));
            news.push(News::Cut(node, peer, Cut::Kept));
            news.push(News::Cut(peer, node, Cut::Outlived));
            news.push(News::Shows(Sight::Link { ends: pair, up: false, incarnation }));
            news.push(News::Follows(Change::between(&NOTICES, peer, node), incarnation));
            news.push(News::Follows(Change::between(&MENDINGS, node, peer), incarnation));
        }
        self.loose.sort_unstable_by_key(|loose| (loose.node, loose.peer));
        self.cut.sort_unstable();
        news.push(News::Back(node));
    }

    /// `node` notices that `peer` was killed, unless it has before. Of what that one had sent only permits arrive.
    fn notice(&mut self, node: NodeId, peer: NodeId, news: &mut Vec<News<LinkEvent>>) {
        let Some(at) = self.loose.iter().position(|loose| (loose.node, loose.peer) == (node, peer)) else { return };
        let incarnation = self.loose.remove(at).incarnation;
        news.push(News::Cut(peer, node, Cut::Outlived));
        news.push(News::Tells(node, LinkEvent::Down { peer, incarnation }));
    }

    /// Every pair once, the lower end first.
    fn pairs(&self) -> impl Iterator<Item = (NodeId, NodeId)> + use<> {
        let nodes = 0..u32::try_from(self.ends.len()).unwrap_or(u32::MAX);
        nodes.flat_map(|b| (0..b).map(move |a| (NodeId(a), NodeId(b))))
    }
}

impl Ideal for Links {
    type View = LinkEvent;

    const STARTS_FROM: Start = Start::Links;

    const KINDS: &'static [&'static Kind] = &[&FAILURES, &FORMATIONS, &RESTARTS, &NOTICES, &MENDINGS];

    fn new(start: &Deployment) -> Self {
        let mut links = Self::among(start.nodes);
        for &(a, b) in &start.links {
            links.form(a, b);
        }
        links
    }

    fn changes(&self, out: &mut Vec<Change>) {
        let is_cut = |pair: &(NodeId, NodeId)| self.cut.contains(pair);
        for (a, b) in self.pairs().filter(|pair| !is_cut(pair)) {
            out.push(Change::between(if self.is_up(a, b) { &FAILURES } else { &FORMATIONS }, a, b));
        }
        out.extend((0..).zip(&self.ends).map(|(node, _)| Change::at(&RESTARTS, NodeId(node))));
        for (a, b) in self.pairs().filter(is_cut) {
            let loose = [(a, b), (b, a)].into_iter().find(|&(node, peer)| self.loose(node, peer).is_some());
            let mending = Change::between(&MENDINGS, a, b);
            out.push(loose.map_or(mending, |(node, peer)| Change::between(&NOTICES, node, peer)));
        }
    }

    fn needs(&self, Change { node, peer, kind }: Change) -> Needs {
        let both = [(node, peer), (peer, node)].to_vec();
        match *kind {
            RESTARTS => Needs { awake: [node].to_vec(), ..Needs::default() },
            NOTICES => Needs { attentive: [node].to_vec(), ..Needs::default() },
            FAILURES => Needs { attentive: [node, peer].to_vec(), failing: both, ..Needs::default() },
            _ => Needs { attentive: [node, peer].to_vec(), drained: both, ..Needs::default() },
        }
    }

    fn apply(
        &mut self,
        Change { node, peer, kind }: Change,
        _draw: &mut dyn FnMut(Incarnation) -> Stay,
        news: &mut Vec<News<LinkEvent>>,
    ) {
        match *kind {
            FAILURES => self.fail(node, peer, news),
            FORMATIONS | MENDINGS => self.change_form(node, peer, news),
            RESTARTS => self.kill(node, news),
            NOTICES => self.notice(node, peer, news),
            ref other => unreachable!("no {other:?} befalls links"),
        }
    }

    fn is_to_come(&self, Change { node, peer, kind }: Change, of: Incarnation) -> bool {
        if *kind == MENDINGS { !self.is_up(node, peer) } else { self.loose(node, peer) == Some(of) }
    }

    fn next(&self) -> Incarnation {
        self.incarnation
    }

    fn contacts(&self, node: NodeId) -> Linked {
        self.of(node).collect()
    }

    fn way(&self, from: NodeId, to: NodeId) -> Result<Way, NoLink> {
        if let Some(incarnation) = self.incarnation(from, to) {
            return Ok(Way::Open(incarnation));
        }
        self.loose(from, to).map(Way::Torn).ok_or(NoLink { from, to })
    }

    fn audience(&self, from: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        self.of(from).map(|(peer, _)| peer)
    }

    /// A loose end counts as a link.
    fn together(&self, node: NodeId) -> Vec<NodeId> {
        let mut with_loose_ends = self.clone();
        for Loose { node, peer, incarnation } in with_loose_ends.loose.clone() {
            for (here, there) in [(node, peer), (peer, node)] {
                with_loose_ends.ends[here.index()].push((there, incarnation));
            }
        }
        let reached = with_loose_ends.reached(node, None);
        (0..).map(NodeId).zip(reached).filter(|(_, is_reached)| *is_reached).map(|(node, _)| node).collect()
    }

    fn is_seen_alike(&self) -> bool {
        self.loose.is_empty()
    }

    fn may_meet(&self, may_happen: &dyn Fn(&Kind) -> bool) -> bool {
        may_happen(&FORMATIONS) || !self.cut.is_empty()
    }

    fn links(&self) -> Option<&Links> {
        Some(self)
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::String;
    use alloc::vec;

    use super::*;

    const A: NodeId = NodeId(0);
    const B: NodeId = NodeId(1);
    const C: NodeId = NodeId(2);

    fn linked(pairs: &[(NodeId, NodeId)]) -> Links {
        Links::new(&Deployment { nodes: 3, k: 1, links: pairs.to_vec(), ..Deployment::default() })
    }

    fn apply(links: &mut Links, change: Change) -> Vec<News<LinkEvent>> {
        let mut news = Vec::new();
        links.apply(change, &mut |_| unreachable!("links know no stays"), &mut news);
        news
    }

    fn may(links: &Links) -> String {
        let mut changes = Vec::new();
        links.changes(&mut changes);
        let words: Vec<_> = changes.iter().map(|change| format!("{change}")).collect();
        words.join("; ")
    }

    #[test]
    fn both_ends_hear_of_a_failure_and_nothing_is_sent_without_a_link() {
        let mut links = linked(&[(A, B)]);
        let incarnation = Incarnation(0);
        assert_eq!(links.way(A, B), Ok(Way::Open(incarnation)));
        assert_eq!(links.way(A, C), Err(NoLink { from: A, to: C }));
        let news = apply(&mut links, Change::between(&FAILURES, B, A));
        let failed = Cut::Failed(incarnation);
        assert_eq!(
            news[1..],
            [
                News::Cut(B, A, failed),
                News::Cut(A, B, failed),
                News::Tells(B, LinkEvent::Down { peer: A, incarnation }),
                News::Tells(A, LinkEvent::Down { peer: B, incarnation }),
            ]
        );
        assert_eq!((links.way(A, B), links.count()), (Err(NoLink { from: A, to: B }), 0));
        assert_eq!(apply(&mut links, Change::between(&FAILURES, A, B)), [], "there is none");
        apply(&mut links, Change::between(&FORMATIONS, A, B));
        assert_eq!(links.way(B, A), Ok(Way::Open(Incarnation(1))));
    }

    #[test]
    fn who_is_killed_has_no_links_and_the_other_ends_notice_later() {
        let mut links = linked(&[(A, B), (A, C)]);
        apply(&mut links, Change::at(&RESTARTS, A));
        assert_eq!((links.count(), links.of(A).count()), (0, 0));
        assert_eq!((links.loose(B, A), links.loose(A, B)), (Some(Incarnation(0)), None));
        assert_eq!((links.loose(C, A).is_some(), links.loose(A, C), links.loose(C, B)), (true, None, None));
        assert_eq!(links.way(B, A), Ok(Way::Torn(Incarnation(0))));
        assert_eq!(links.together(B), [A, B, C], "as far as they know");
        assert_eq!(may(&links), "up 1-2; kill 0; kill 1; kill 2; miss 0 at 1; miss 0 at 2");
        let notice = Change::between(&NOTICES, B, A);
        assert!(links.is_to_come(notice, Incarnation(0)) && !links.is_to_come(notice, Incarnation(7)));
        let down = LinkEvent::Down { peer: A, incarnation: Incarnation(0) };
        assert_eq!(apply(&mut links, notice), [News::Cut(A, B, Cut::Outlived), News::Tells(B, down)]);
        assert_eq!(apply(&mut links, notice), [], "once");
        assert_eq!(may(&links), "up 1-2; kill 0; kill 1; kill 2; mend 0-1; miss 0 at 2");
        apply(&mut links, Change::between(&MENDINGS, A, B));
        assert!(links.is_up(A, B) && !links.is_seen_alike());
        assert_eq!(may(&links), "down 0-1; up 1-2; kill 0; kill 1; kill 2; miss 0 at 2");
    }

    #[test]
    fn two_that_are_killed_need_not_miss_each_other() {
        let mut links = linked(&[(A, B)]);
        apply(&mut links, Change::at(&RESTARTS, A));
        let news = apply(&mut links, Change::at(&RESTARTS, B));
        assert_eq!(news, [News::Killed(B), News::Cut(A, B, Cut::Outlived), News::Back(B)], "sent to its earlier life");
        assert!(links.is_seen_alike());
        assert_eq!(may(&links), "up 0-2; up 1-2; kill 0; kill 1; kill 2; mend 0-1");
    }

    #[test]
    fn before_a_link_forms_both_notice_and_what_is_late_arrives() {
        let mut links = linked(&[(A, B)]);
        apply(&mut links, Change::at(&RESTARTS, A));
        let incarnation = Incarnation(1);
        assert_eq!(
            apply(&mut links, Change::between(&FORMATIONS, A, B)),
            vec![
                News::Cut(A, B, Cut::Outlived),
                News::Tells(B, LinkEvent::Down { peer: A, incarnation: Incarnation(0) }),
                News::Settles(A, B),
                News::Settles(B, A),
                News::Shows(Sight::Link { ends: (A, B), up: true, incarnation }),
                News::Tells(A, LinkEvent::Up { peer: B, incarnation }),
                News::Tells(B, LinkEvent::Up { peer: A, incarnation }),
            ]
        );
    }

    #[test]
    fn a_bridge_is_seen_to_disconnect() {
        let mut links = linked(&[(A, B), (C, B)]);
        assert!(links.connected_without(None) && links.unreachable().is_none());
        assert!(!links.connected_without(Some((A, B))));
        links.form(A, C);
        assert!(links.connected_without(Some((B, A))));
        assert_eq!(links.iter().collect::<Vec<_>>(), [(A, B), (A, C), (B, C)]);
        apply(&mut links, Change::between(&FAILURES, A, B));
        apply(&mut links, Change::between(&FAILURES, A, C));
        assert_eq!((links.together(A), links.together(C)), (vec![A], vec![B, C]));
    }
}

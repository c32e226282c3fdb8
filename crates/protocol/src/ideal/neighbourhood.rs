//! A neighbourhood that nodes enter and leave by decree.

use alloc::vec::Vec;

use super::{Change, Course, Ideal, Kind, Life, Needs, News, NoLink, Presence, RESTARTS, Sight, Start, Way, Whom};
use crate::{Crossing, Deployment, Incarnation, Membership, NodeId, Stay};

/// Nodes enter the neighbourhood.
pub const JOINS: Kind =
    Kind { name: "joins", one: "entering", word: "join", whom: Whom::Node, course: Course::Bounded };
/// Members are told to leave it.
pub const LEAVES: Kind =
    Kind { name: "leaves", one: "leaving", word: "leave", whom: Whom::Node, course: Course::Bounded };
/// Members stop for good, and nobody is told.
pub const CRASHES: Kind =
    Kind { name: "crashes", one: "crash", word: "crash", whom: Whom::Node, course: Course::Bounded };
/// A member that was killed is back, with what it had stored.
pub const REVIVALS: Kind =
    Kind { name: "revivals", one: "revival", word: "back", whom: Whom::Node, course: Course::Follows { delays: 20 } };
/// Members are killed, and have nothing with which they could be back.
pub const DISK_LOSSES: Kind =
    Kind { name: "disk-losses", one: "lost disk", word: "wipe", whom: Whom::Node, course: Course::Bounded };
/// A node that has lost its disk enters as a newcomer.
pub const RETURNS: Kind = Kind { name: "returns", one: "return", word: "join", whom: Whom::Node, course: Course::Free };

/// Whether a node is inside, and whether it still lives.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Place {
    Outside,
    Inside {
        /// What is on its way to it is for this one.
        life: Incarnation,
        /// Whether it was told to leave.
        leaving: bool,
    },
    /// It was killed, and will be back. Nobody is told.
    Down(Incarnation),
    /// It was killed, and has nothing with which it could be back: it may enter as a newcomer.
    Wiped,
    /// It has crashed inside. Nobody is told, so it goes on being a member.
    Crashed(Incarnation),
}

/// All members of a neighbourhood.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Neighbourhood {
    places: Vec<Place>,
    /// That begins next. All lives are numbered by one count.
    life: Incarnation,
}

impl Neighbourhood {
    /// The life of a node that is inside and lives.
    pub fn life_of(&self, node: NodeId) -> Option<Incarnation> {
        match self.places.get(node.index()) {
            Some(Place::Inside { life, .. }) => Some(*life),
            _ => None,
        }
    }

    /// Everybody who is taken for a member, by id: also those who have crashed.
    pub fn members(&self) -> impl Iterator<Item = (NodeId, Incarnation)> + '_ {
        (0..).map(NodeId).zip(&self.places).filter_map(|(node, place)| match *place {
            Place::Inside { life, .. } | Place::Down(life) | Place::Crashed(life) => Some((node, life)),
            Place::Outside | Place::Wiped => None,
        })
    }

    /// Whether a node has crashed inside.
    pub fn is_crashed(&self, node: NodeId) -> bool {
        matches!(self.places[node.index()], Place::Crashed(_))
    }

    fn begin_life(&mut self, node: NodeId) -> Incarnation {
        let life = self.life;
        self.life.0 += 1;
        self.places[node.index()] = Place::Inside { life, leaving: false };
        life
    }

    /// A node enters that was outside, or comes in the place of one that has crashed: all who live are told, and it is
    /// told who is there.
    fn enter(&mut self, node: NodeId, draw: &mut dyn FnMut(Incarnation) -> Stay, news: &mut Vec<News<Crossing>>) {
        let members: Vec<_> = self.members().filter(|(member, _)| *member != node).collect();
        let life = self.begin_life(node);
        let stay = draw(life);
        news.push(News::Shows(Sight::Member(node, Presence::Inside)));
        news.extend(self.audience(node).map(|peer| News::Tells(peer, Crossing::Met { peer: node, life })));
        news.push(News::Tells(node, Crossing::decreed(stay, life, members)));
    }

    /// Nothing reaches the node any more; what it has sent arrives.
    fn silence(&mut self, node: NodeId, place: Place, seen: Presence, news: &mut Vec<News<Crossing>>) {
        self.places[node.index()] = place;
        news.extend([News::Silenced(node), News::Shows(Sight::Member(node, seen))]);
    }

    /// It is back in its stay and its life, and hears who is there.
    fn come_back(&mut self, node: NodeId, life: Incarnation, news: &mut Vec<News<Crossing>>) {
        self.places[node.index()] = Place::Inside { life, leaving: false };
        news.extend([News::Shows(Sight::Member(node, Presence::Inside)), News::Back(node)]);
        let others = self.members().filter(|(peer, _)| *peer != node);
        news.extend(others.map(|(peer, life)| News::Tells(node, Crossing::Met { peer, life })));
    }
}

impl Ideal for Neighbourhood {
    type View = Crossing;

    const STARTS_FROM: Start = Start::Members;

    const KINDS: &'static [&'static Kind] = &[&JOINS, &LEAVES, &CRASHES, &RESTARTS, &DISK_LOSSES, &REVIVALS, &RETURNS];

    fn new(start: &Deployment) -> Self {
        let places = alloc::vec![Place::Outside; start.nodes as usize];
        let mut neighbourhood = Self { places, life: Incarnation(0) };
        for &member in &start.members {
            neighbourhood.begin_life(member);
        }
        neighbourhood
    }

    fn changes(&self, out: &mut Vec<Change>) {
        let places = || (0..).map(NodeId).zip(&self.places);
        for (node, place) in places() {
            match place {
                Place::Inside { leaving, .. } => {
                    out.extend((!leaving).then_some(Change::at(&LEAVES, node)));
                    out.push(Change::at(&CRASHES, node));
                }
                Place::Outside => out.push(Change::at(&JOINS, node)),
                Place::Wiped => out.push(Change::at(&RETURNS, node)),
                Place::Down(_) | Place::Crashed(_) => {}
            }
        }
        for (node, place) in places() {
            match place {
                Place::Inside { .. } => {
                    out.extend([Change::at(&RESTARTS, node), Change::at(&DISK_LOSSES, node)]);
                }
                Place::Down(_) => out.push(Change::at(&REVIVALS, node)),
                Place::Outside | Place::Wiped | Place::Crashed(_) => {}
            }
        }
    }

    fn needs(&self, change: Change) -> Needs {
        let is_there = |node: &NodeId| self.life(*node) != Life::Down;
        match *change.kind {
            JOINS | RETURNS => Needs {
                attentive: (0..).map(NodeId).take(self.places.len()).filter(is_there).collect(),
                founds: self.members().all(|(member, _)| member == change.node),
                ..Needs::default()
            },
            RESTARTS | DISK_LOSSES => Needs { awake: [change.node].to_vec(), ..Needs::default() },
            LEAVES => Needs { attentive: [change.node].to_vec(), ..Needs::default() },
            _ => Needs::default(),
        }
    }

    fn apply(&mut self, change: Change, draw: &mut dyn FnMut(Incarnation) -> Stay, news: &mut Vec<News<Crossing>>) {
        let node = change.node;
        let place = self.places[node.index()];
        match (*change.kind, place) {
            (JOINS | RETURNS, _) => self.enter(node, draw, news),
            (LEAVES, Place::Inside { life, .. }) => {
                self.places[node.index()] = Place::Inside { life, leaving: true };
                news.push(News::Tells(node, Crossing::Leaving));
            }
            (CRASHES, _) => {
                let stopped = if let Place::Inside { life, .. } = place { Place::Crashed(life) } else { place };
                news.push(News::Crashed(node));
                self.silence(node, stopped, Presence::Crashed, news);
            }
            (RESTARTS, Place::Inside { life, .. }) => {
                news.push(News::Killed(node));
                self.silence(node, Place::Down(life), Presence::Down, news);
            }
            (DISK_LOSSES, Place::Inside { .. }) => {
                news.push(News::Wiped(node));
                self.silence(node, Place::Wiped, Presence::Crashed, news);
            }
            (REVIVALS, Place::Down(life)) => self.come_back(node, life, news),
            (kind, place) => unreachable!("no {kind:?} befalls a node that is {place:?}"),
        }
    }

    fn depart(&mut self, node: NodeId, news: &mut Vec<News<Crossing>>) {
        self.silence(node, Place::Outside, Presence::Outside, news);
        news.extend(self.audience(node).map(|peer| News::Tells(peer, Crossing::Parted { peer: node })));
    }

    fn next(&self) -> Incarnation {
        self.life
    }

    fn contacts(&self, node: NodeId) -> Membership {
        Membership::of(self.life_of(node))
    }

    fn life(&self, node: NodeId) -> Life {
        match self.places[node.index()] {
            Place::Outside | Place::Inside { .. } => Life::Up,
            Place::Down(_) | Place::Wiped => Life::Down,
            Place::Crashed(_) => Life::Crashed,
        }
    }

    fn counts_on_service(&self, node: NodeId) -> bool {
        matches!(self.places[node.index()], Place::Inside { leaving: false, .. })
    }

    /// Who sends to a node that is not there, or to itself, sends to nobody.
    fn way(&self, from: NodeId, to: NodeId) -> Result<Way, NoLink> {
        let life = self.life_of(to).filter(|_| from != to);
        Ok(life.map_or(Way::Nowhere, Way::Open))
    }

    fn audience(&self, from: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let others = (0..).map(NodeId).zip(&self.places).filter(move |(to, _)| *to != from);
        others.filter(|(_, place)| matches!(place, Place::Inside { .. })).map(|(to, _)| to)
    }

    fn together(&self, node: NodeId) -> Vec<NodeId> {
        if self.life_of(node).is_none() {
            return [node].to_vec();
        }
        (0..).map(NodeId).take(self.places.len()).filter(|&other| self.life_of(other).is_some()).collect()
    }

    fn listed(&self) -> impl Iterator<Item = (NodeId, Incarnation)> + '_ {
        self.members()
    }

    fn neighbourhood(&self) -> Option<&Neighbourhood> {
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

    fn inside(members: &[NodeId]) -> Neighbourhood {
        Neighbourhood::new(&Deployment { nodes: 3, k: 1, members: members.to_vec(), ..Deployment::default() })
    }

    fn apply(neighbourhood: &mut Neighbourhood, kind: &'static Kind, node: NodeId) -> Vec<News<Crossing>> {
        let mut news = Vec::new();
        neighbourhood.apply(Change::at(kind, node), &mut |life| Stay(100 - u64::from(life.0)), &mut news);
        news
    }

    fn may(neighbourhood: &Neighbourhood) -> String {
        let mut changes = Vec::new();
        neighbourhood.changes(&mut changes);
        let words: Vec<_> = changes.iter().map(|change| format!("{change}")).collect();
        words.join("; ")
    }

    #[test]
    fn who_enters_is_told_who_is_there_and_whoever_is_there_is_told() {
        let mut neighbourhood = inside(&[B]);
        let life = Incarnation(1);
        let members = vec![(B, Incarnation(0))];
        assert_eq!(
            apply(&mut neighbourhood, &JOINS, A),
            [
                News::Shows(Sight::Member(A, Presence::Inside)),
                News::Tells(B, Crossing::Met { peer: A, life }),
                News::Tells(A, Crossing::Entered { stay: Stay(99), life, members, founds: None }),
            ]
        );
        assert_eq!(neighbourhood.way(B, A), Ok(Way::Open(life)));
        assert_eq!(neighbourhood.way(A, A), Ok(Way::Nowhere), "nobody hears itself");
        assert_eq!(neighbourhood.way(A, C), Ok(Way::Nowhere), "nobody is there");
        assert_eq!((neighbourhood.together(A), neighbourhood.together(C)), (vec![A, B], vec![C]));
    }

    #[test]
    fn who_departs_is_silenced_and_the_others_are_told() {
        let mut neighbourhood = inside(&[A, B]);
        let leaving = apply(&mut neighbourhood, &LEAVES, A);
        assert_eq!(leaving, [News::Tells(A, Crossing::Leaving)]);
        assert_eq!(neighbourhood.way(B, A), Ok(Way::Open(Incarnation(0))), "it is a member still");
        assert!(!neighbourhood.counts_on_service(A) && neighbourhood.counts_on_service(B));
        assert_eq!(may(&neighbourhood), "crash 0; leave 1; crash 1; join 2; kill 0; wipe 0; kill 1; wipe 1");
        let mut news = Vec::new();
        neighbourhood.depart(A, &mut news);
        let parted = News::Tells(B, Crossing::Parted { peer: A });
        assert_eq!(news, [News::Silenced(A), News::Shows(Sight::Member(A, Presence::Outside)), parted]);
        apply(&mut neighbourhood, &JOINS, A);
        assert_eq!(neighbourhood.life_of(A), Some(Incarnation(2)), "it is another life");
    }

    #[test]
    fn who_was_killed_is_back_in_its_life_and_hears_who_is_there() {
        let mut neighbourhood = inside(&[A, B]);
        apply(&mut neighbourhood, &CRASHES, B);
        assert_eq!(apply(&mut neighbourhood, &RESTARTS, A)[..2], [News::Killed(A), News::Silenced(A)]);
        assert_eq!((neighbourhood.way(B, A), neighbourhood.members().count()), (Ok(Way::Nowhere), 2));
        assert_eq!((neighbourhood.life(A), neighbourhood.life(B)), (Life::Down, Life::Crashed));
        assert_eq!(may(&neighbourhood), "join 2; back 0");
        let met = News::Tells(A, Crossing::Met { peer: B, life: Incarnation(1) });
        assert_eq!(apply(&mut neighbourhood, &REVIVALS, A)[1..], [News::Back(A), met], "nobody was told of the crash");
        assert_eq!(neighbourhood.life_of(A), Some(Incarnation(0)));
    }

    #[test]
    fn who_has_lost_its_disk_is_no_member_and_may_enter_as_a_newcomer() {
        let mut neighbourhood = inside(&[A, B]);
        assert_eq!(apply(&mut neighbourhood, &DISK_LOSSES, A)[0], News::Wiped(A));
        assert_eq!(neighbourhood.listed().collect::<Vec<_>>(), [(B, Incarnation(1))]);
        assert_eq!(may(&neighbourhood), "join 0; leave 1; crash 1; join 2; kill 1; wipe 1");
        let back = Change::at(&RETURNS, A);
        assert_eq!(neighbourhood.needs(back), Needs { attentive: vec![B, C], ..Needs::default() });
        apply(&mut neighbourhood, &DISK_LOSSES, B);
        assert!(neighbourhood.needs(back).founds, "it makes the units anew");
    }

    #[test]
    fn a_broadcast_reaches_whoever_is_inside_and_lives() {
        let mut neighbourhood = inside(&[A, B, C]);
        assert_eq!(neighbourhood.audience(B).collect::<Vec<_>>(), [A, C]);
        apply(&mut neighbourhood, &CRASHES, C);
        assert_eq!(neighbourhood.audience(B).collect::<Vec<_>>(), [A]);
        assert_eq!(neighbourhood.members().map(|(node, _)| node).collect::<Vec<_>>(), [A, B, C], "nobody was told");
        neighbourhood.depart(A, &mut Vec::new());
        assert_eq!(neighbourhood.audience(B).count(), 0);
    }
}

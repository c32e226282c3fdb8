//! A neighbourhood that nodes enter and leave by decree, with reliable channels between its members: first in, first
//! out, unless whoever drives it lets a message overtake others.

use std::collections::VecDeque;

use driftlock_protocol::{Flight, Incarnation, NodeId, Stay};

/// What is on its way from one node to another, the next to arrive first.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Channel<M> {
    to: NodeId,
    messages: VecDeque<M>,
}

/// Who a member is, and which of its lives this is: what is on its way to it is for that one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Being {
    stay: Stay,
    life: Incarnation,
}

/// Whether a node is inside, and whether it still lives.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Presence {
    Outside,
    Inside(Being),
    /// It was killed, and will be back. Nobody is told.
    Down(Being),
    /// It has crashed inside. Nobody is told, so it goes on being a member.
    Crashed(Being),
}

/// All members of a neighbourhood and what is in flight between them.
///
/// A world decides when the head of a channel arrives and who enters, leaves or crashes; this decides what that means.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Neighbourhood<M> {
    presence: Vec<Presence>,
    /// For each node its channels, by receiver. A channel outlives its sender's stay.
    channels: Vec<Vec<Channel<M>>>,
    /// That begins next. All lives are numbered by one count.
    life: Incarnation,
}

impl<M> Neighbourhood<M> {
    /// Nobody of `nodes` nodes is inside.
    pub fn new(nodes: u32) -> Self {
        Self {
            presence: vec![Presence::Outside; nodes as usize],
            channels: (0..nodes).map(|_| Vec::new()).collect(),
            life: Incarnation(0),
        }
    }

    /// The life of a node that is inside and lives.
    pub fn life(&self, node: NodeId) -> Option<Incarnation> {
        match self.presence[node.index()] {
            Presence::Inside(being) => Some(being.life),
            Presence::Outside | Presence::Down(_) | Presence::Crashed(_) => None,
        }
    }

    /// The stay of a node that is taken for a member, whether or not it lives.
    pub fn stay(&self, node: NodeId) -> Option<Stay> {
        self.being(node).map(|being| being.stay)
    }

    /// Everybody who is taken for a member, by id: also those who have crashed.
    pub fn members(&self) -> impl Iterator<Item = (NodeId, Incarnation)> + '_ {
        let nodes = (0..).map(NodeId).take(self.presence.len());
        nodes.filter_map(|node| Some((node, self.being(node)?.life)))
    }

    fn being(&self, node: NodeId) -> Option<Being> {
        match self.presence[node.index()] {
            Presence::Inside(being) | Presence::Down(being) | Presence::Crashed(being) => Some(being),
            Presence::Outside => None,
        }
    }

    /// Whoever hears a broadcast of `from`.
    pub fn audience(&self, from: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let is_inside = |presence: &Presence| matches!(presence, Presence::Inside(_));
        let others = (0..).map(NodeId).zip(&self.presence).filter(move |(to, _)| *to != from);
        others.filter(move |(_, presence)| is_inside(presence)).map(|(to, _)| to)
    }

    /// Whether a node has crashed inside.
    pub fn is_crashed(&self, node: NodeId) -> bool {
        matches!(self.presence[node.index()], Presence::Crashed(_))
    }

    /// The life that begins with the next node that enters.
    pub fn next_life(&self) -> Incarnation {
        self.life
    }

    /// A node enters that was outside, or comes in the place of one that has crashed. Tells which life this begins.
    pub fn enter(&mut self, node: NodeId, stay: Stay) -> Incarnation {
        debug_assert_eq!(self.life(node), None);
        debug_assert!((0..).zip(&self.presence).all(|(other, _)| self.stay(NodeId(other)) != Some(stay)), "{stay:?}");
        let life = self.life;
        self.life.0 += 1;
        self.presence[node.index()] = Presence::Inside(Being { stay, life });
        life
    }

    /// A member is gone. What was on its way to it is lost, and returned here; what it has sent is not.
    pub fn depart(&mut self, node: NodeId) -> Vec<M> {
        self.presence[node.index()] = Presence::Outside;
        self.silence(node)
    }

    /// A member stops for good, and nobody is told. What was on its way to it is returned here.
    pub fn crash(&mut self, node: NodeId) -> Vec<M> {
        if let Presence::Inside(being) = self.presence[node.index()] {
            self.presence[node.index()] = Presence::Crashed(being);
        }
        self.silence(node)
    }

    /// A member is killed, and nobody is told. What was on its way to it is returned here.
    pub fn kill(&mut self, node: NodeId) -> Vec<M> {
        if let Presence::Inside(being) = self.presence[node.index()] {
            self.presence[node.index()] = Presence::Down(being);
        }
        self.silence(node)
    }

    /// A member that was killed is back, in the stay that it was in.
    pub fn back(&mut self, node: NodeId) {
        if let Presence::Down(being) = self.presence[node.index()] {
            self.presence[node.index()] = Presence::Inside(being);
        }
    }

    fn silence(&mut self, node: NodeId) -> Vec<M> {
        let to_node =
            self.channels.iter_mut().flat_map(|channels| channels.extract_if(.., |channel| channel.to == node));
        to_node.flat_map(|channel| channel.messages).collect()
    }

    /// Puts a message on its way, behind what is in flight from `from` to `to` already. It is dropped if `to` is not
    /// there, or is the sender itself: nobody hears itself.
    pub fn send(&mut self, from: NodeId, to: NodeId, message: M) -> Option<Incarnation> {
        let life = self.presence.get(to.index()).filter(|_| from != to).and_then(|_| self.life(to))?;
        let channels = &mut self.channels[from.index()];
        let at = match channels.binary_search_by_key(&to, |channel| channel.to) {
            Ok(at) => at,
            Err(at) => {
                channels.insert(at, Channel { to, messages: VecDeque::new() });
                at
            }
        };
        channels[at].messages.push_back(message);
        Some(life)
    }

    /// What was last put on its way from `from` to `to`, if it has not arrived.
    pub fn last_sent(&self, from: NodeId, to: NodeId) -> Option<&M> {
        let channels = &self.channels[from.index()];
        channels.binary_search_by_key(&to, |channel| channel.to).ok().and_then(|at| channels[at].messages.back())
    }

    /// What is on its way from `from` to `to`, the next to arrive first.
    pub fn on_the_way(&self, from: NodeId, to: NodeId) -> impl DoubleEndedIterator<Item = &M> {
        let channels = &self.channels[from.index()];
        let at = channels.binary_search_by_key(&to, |channel| channel.to).ok();
        at.into_iter().flat_map(|at| &channels[at].messages)
    }

    /// Of what is on its way from `from` to `to`, the message at this place overtakes so many of those before it.
    pub fn overtake(&mut self, from: NodeId, to: NodeId, place: usize, past: usize) {
        let channels = &mut self.channels[from.index()];
        let channel = channels.binary_search_by_key(&to, |channel| channel.to).map(|at| &mut channels[at]);
        if let Ok(Channel { messages, .. }) = channel
            && let Some(message) = messages.remove(place)
        {
            messages.insert(place.saturating_sub(past), message);
        }
    }

    /// Takes the message that arrives next from `from` at `to`, if that is still in the same life.
    pub fn arrive(&mut self, from: NodeId, to: NodeId, incarnation: Incarnation) -> Option<M> {
        if self.life(to)? != incarnation {
            return None;
        }
        let channels = &mut self.channels[from.index()];
        let at = channels.binary_search_by_key(&to, |channel| channel.to).ok()?;
        channels[at].messages.pop_front()
    }

    /// Everything in flight.
    pub fn flights(&self) -> impl Iterator<Item = Flight<'_, M>> {
        (0..).map(NodeId).zip(&self.channels).flat_map(|(from, channels)| {
            channels.iter().flat_map(move |channel| {
                let to = channel.to;
                channel.messages.iter().map(move |message| Flight { from, to, message })
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: NodeId = NodeId(0);
    const B: NodeId = NodeId(1);
    const C: NodeId = NodeId(2);

    fn inside(nodes: &[NodeId]) -> Neighbourhood<char> {
        let mut neighbourhood = Neighbourhood::new(3);
        for &node in nodes {
            neighbourhood.enter(node, Stay(9 - u64::from(node.0)));
        }
        neighbourhood
    }

    #[test]
    fn what_a_member_sent_arrives_after_it_has_departed_and_what_was_sent_to_it_does_not() {
        let mut neighbourhood = inside(&[A, B]);
        let to_b = neighbourhood.send(A, B, 'x').unwrap();
        let to_a = neighbourhood.send(B, A, 'y').unwrap();
        neighbourhood.depart(A);
        assert_eq!(neighbourhood.arrive(B, A, to_a), None);
        assert_eq!(neighbourhood.arrive(A, B, to_b), Some('x'));
        assert_eq!(neighbourhood.send(B, A, 'z'), None, "nobody is there");
        assert_eq!(neighbourhood.send(B, B, 'z'), None, "nobody hears itself");
    }

    #[test]
    fn who_comes_back_hears_nothing_of_former_times() {
        let mut neighbourhood = inside(&[A, B]);
        let before = neighbourhood.send(B, A, 'x').unwrap();
        neighbourhood.depart(A);
        assert_eq!((neighbourhood.life(A), neighbourhood.stay(A)), (None, None));
        assert_eq!(neighbourhood.enter(A, Stay(5)), Incarnation(2));
        assert_eq!((neighbourhood.life(A), neighbourhood.stay(A)), (Some(Incarnation(2)), Some(Stay(5))));
        let now = neighbourhood.send(B, A, 'y').unwrap();
        assert_eq!(neighbourhood.arrive(B, A, before), None);
        assert_eq!(neighbourhood.arrive(B, A, now), Some('y'));
    }

    #[test]
    fn who_was_killed_is_back_in_its_stay_and_hears_nothing_that_was_sent_before() {
        let mut neighbourhood = inside(&[A, B]);
        let incarnation = neighbourhood.send(B, A, 'x').unwrap();
        let to_b = neighbourhood.send(A, B, 'y').unwrap();
        assert_eq!(neighbourhood.kill(A), ['x']);
        assert_eq!(neighbourhood.send(B, A, 'z'), None);
        assert_eq!((neighbourhood.life(A), neighbourhood.members().count()), (None, 2));
        let stay = neighbourhood.stay(A);
        neighbourhood.back(A);
        assert_eq!((neighbourhood.stay(A), neighbourhood.life(A)), (stay, Some(incarnation)));
        assert_eq!(neighbourhood.arrive(B, A, incarnation), None);
        assert_eq!(neighbourhood.arrive(A, B, to_b), Some('y'));
    }

    #[test]
    fn a_message_may_overtake_others_on_the_same_way() {
        let mut neighbourhood = inside(&[A, B]);
        let incarnation = "xyz".chars().map(|message| neighbourhood.send(A, B, message).unwrap()).last().unwrap();
        neighbourhood.overtake(A, B, 2, 1);
        assert_eq!(neighbourhood.on_the_way(A, B).collect::<String>(), "xzy");
        neighbourhood.overtake(A, B, 1, 1);
        assert_eq!(neighbourhood.arrive(A, B, incarnation), Some('z'));
        neighbourhood.overtake(B, A, 1, 1);
        neighbourhood.overtake(A, B, 7, 1);
        assert_eq!(neighbourhood.on_the_way(A, B).collect::<String>(), "xy", "there is nothing to overtake");
    }

    #[test]
    fn a_broadcast_reaches_whoever_is_inside_and_lives() {
        let mut neighbourhood = inside(&[A, B, C]);
        assert_eq!(neighbourhood.audience(B).collect::<Vec<_>>(), [A, C]);
        neighbourhood.crash(C);
        assert_eq!((neighbourhood.life(C), neighbourhood.stay(C)), (None, Some(Stay(7))));
        assert_eq!(neighbourhood.audience(B).collect::<Vec<_>>(), [A]);
        assert_eq!(neighbourhood.members().map(|(node, _)| node).collect::<Vec<_>>(), [A, B, C], "nobody was told");
        neighbourhood.depart(A);
        assert_eq!(neighbourhood.audience(B).count(), 0);
    }
}

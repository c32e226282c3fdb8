//! What goes to one node in one drain goes together.

use std::collections::BTreeMap;

use driftlock_protocol::NodeId;

use super::{Cargo, Effect, Letter, Packet};
use crate::link::{Frame, Head};
use crate::parcel::Parcel;
use crate::session::Segment;
use crate::wire;

/// The most bytes that one more message adds to a run besides the message: its number and its label.
const IN_RUN_MAX: usize = 16;

/// Where the last message to each neighbour is among what is to be transmitted, and how long its frame is.
#[derive(Clone, Debug, Default)]
pub(super) struct Runs {
    last: Vec<(NodeId, usize, usize)>,
}

impl Runs {
    /// From now on frames are new ones.
    pub(super) fn end(&mut self) {
        self.last.clear();
    }

    /// A message to a neighbour follows the one before it in the same frame, if there is one and it fits. Gives the
    /// frame back if it has to go by itself.
    pub(super) fn join(
        &mut self,
        to: NodeId,
        frame: Frame<Parcel>,
        frame_bytes_max: usize,
        out: &mut [Effect],
    ) -> Option<Frame<Parcel>> {
        let Frame::Data { head, sequence, transfer, message } = frame else { return Some(frame) };
        if let Some((_, at, length)) = self.last.iter_mut().find(|(peer, ..)| *peer == to)
            && let longer = *length + message.len() + IN_RUN_MAX
            && longer <= frame_bytes_max
            && let Some(Effect::Transmit { packet: Packet::Link(former), .. }) = out.get_mut(*at)
            && follows(former, (&head, sequence))
        {
            append(former, (transfer, message));
            *length = longer;
            return None;
        }
        Some(Frame::Data { head, sequence, transfer, message })
    }

    /// A message to a neighbour goes by itself: others may follow it in its frame.
    pub(super) fn begin(&mut self, to: NodeId, at: usize, frame: &Frame<Parcel>) {
        if let Frame::Data { .. } = frame {
            self.last.retain(|(peer, ..)| *peer != to);
            self.last.push((to, at, wire::encoded_len(frame)));
        }
    }
}

/// Whether this message is the next one after those in a frame.
fn follows(former: &Frame<Parcel>, (head, sequence): (&Head, u64)) -> bool {
    match former {
        Frame::Data { head: of_former, sequence: first, .. } => of_former == head && first + 1 == sequence,
        Frame::Run { head: of_former, sequence: first, messages } => {
            of_former == head && first + messages.len() as u64 == sequence
        }
        _ => false,
    }
}

fn append(former: &mut Frame<Parcel>, next: (Option<u64>, Parcel)) {
    match former {
        Frame::Data { head, sequence, transfer, message } => {
            let messages = vec![(*transfer, message.clone()), next];
            *former = Frame::Run { head: *head, sequence: *sequence, messages };
        }
        Frame::Run { messages, .. } => messages.push(next),
        _ => {}
    }
}

/// What sessions want sent.
#[derive(Clone, Debug, Default)]
pub(super) struct Segments {
    waiting: Vec<(usize, NodeId, Segment<Letter>)>,
    /// Receivers take turns in the order in which the first segment for each came: a node that sends a token and then
    /// tells all others of it sends the token first.
    turns: BTreeMap<NodeId, usize>,
}

impl Segments {
    pub(super) fn push(&mut self, to: NodeId, segment: Segment<Letter>) {
        let last = self.turns.len();
        let turn = *self.turns.entry(to).or_insert(last);
        self.waiting.push((turn, to, segment));
    }

    /// All of it, for each receiver in order, and as much together as fits into a frame.
    pub(super) fn take(&mut self, frame_bytes_max: usize, mut send: impl FnMut(NodeId, Cargo)) {
        self.turns.clear();
        self.waiting.sort_by_key(|(turn, ..)| *turn);
        let mut waiting = self.waiting.drain(..).peekable();
        while let Some((turn, to, first)) = waiting.next() {
            let (mut others, mut length) = (Vec::new(), wire::encoded_len(&first));
            while let Some((.., next)) = waiting
                .next_if(|(other, _, next)| *other == turn && length + wire::encoded_len(next) <= frame_bytes_max)
            {
                length += wire::encoded_len(&next);
                others.push(next);
            }
            if others.is_empty() {
                send(to, Cargo::Segment(first));
            } else {
                others.insert(0, first);
                send(to, Cargo::Segments(others));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Session;

    #[test]
    fn segments_go_out_in_the_order_in_which_receivers_were_first_sent_something_and_together() {
        let mut segments = Segments::default();
        let open = |counter| Segment::Open { session: Session { counter, ..Session::default() } };
        for (to, counter) in [(7, 0), (3, 1), (7, 2), (5, 3), (3, 4)] {
            segments.push(NodeId(to), open(counter));
        }
        let mut sent = Vec::new();
        segments.take(1_200, |to, cargo| sent.push((to.0, cargo)));
        let both = |a, b| Cargo::Segments(vec![open(a), open(b)]);
        assert_eq!(sent, [(7, both(0, 2)), (3, both(1, 4)), (5, Cargo::Segment(open(3)))]);
        segments.push(NodeId(9), open(5));
        segments.take(1_200, |to, cargo| assert_eq!((to.0, cargo), (9, Cargo::Segment(open(5)))));
    }
}

//! Section 7: acknowledgements of the token, its copy, and the token made anew.

use super::{Klme, LeaderNo, Message, repair};
use crate::{NodeId, Out};

impl Klme {
    /// Section 7: whether the sender of a token keeps a copy until the receiver has acknowledged it. With these repairs
    /// nothing would use one: no node goes by a copy, the token comes before the news of it, and its receiver does not
    /// leave before it has come.
    pub(super) fn keeps_copies(&self) -> bool {
        ![repair::NO_COPY, repair::POSSESSION, repair::TOKEN_FIRST, repair::FAREWELL]
            .iter()
            .all(|&repair| self.has(repair))
    }

    /// Section 7: the token has arrived; as published, a node that believes itself leader later still goes by the copy.
    pub(super) fn on_token_ack(&mut self, from: NodeId, leader_no: LeaderNo, out: &mut Out<Self>) {
        out.clause("7.ack");
        let possession = self.has(repair::POSSESSION);
        let place = self.here();
        if possession && place.copy.as_ref().is_some_and(|(to, token)| *to == from && token.leader_no == leader_no) {
            place.copy = None;
        }
    }

    /// Section 7: sends the copy of a token that was lost on its way.
    pub(super) fn on_token_lost(&mut self, from: NodeId, leader_no: LeaderNo, out: &mut Out<Self>) {
        out.clause("7.resend");
        let copy = self.here().copy.as_ref().filter(|(to, token)| *to == from && token.leader_no == leader_no);
        if let Some((_, token)) = copy {
            out.send(from, Message::Token { token: token.clone() });
        }
    }

    /// Section 7: the receiver has left before the token came, so it is made anew from the copy; under the same number,
    /// and no other node is told. With [`repair::FAREWELL`] no node leaves before a token that is on its way has come.
    pub(super) fn regenerate(&mut self, leaver: NodeId, out: &mut Out<Self>) {
        let id = self.id;
        let place = self.here();
        let Some((_, token)) = place.copy.take_if(|(to, _)| *to == leaver) else { return };
        out.clause("7.regenerate");
        (place.token, place.leader) = (Some(token), Some(id));
        let token = self.books();
        token.unqueue(leaver);
        token.take_back(leaver, |_| true);
        self.forward(out);
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::klme::{Life, RequestNo};
    use crate::{Deployment, Effect, Outbox, Permits, Protocol, Repair, Repairs};

    /// Of the token that node 0 has passed on.
    const PASSED: LeaderNo = LeaderNo(2);

    /// Node 0, which has sent the token to node 1 for a request, with one for node 2 in the queue, and keeps a copy.
    fn sender(switched_off: &[Repair]) -> Klme {
        let members = (0..3).map(NodeId).collect();
        let deployment = Deployment { nodes: 3, k: 1, members, ..Deployment::default() };
        let repairs = switched_off.iter().fold(Repairs::ALL, |repairs, &repair| repairs.without(repair));
        let mut node = Klme::deploy(&deployment, (), repairs).swap_remove(0);
        let number = |life| RequestNo { life: Life(life), number: 1 };
        for waiter in [1, 2] {
            node.books().queue.push((NodeId(waiter), number(waiter)));
        }
        node.serve(&mut Outbox::new());
        assert!(node.token().is_none() && node.leader() == Some(NodeId(1)));
        node
    }

    fn sent(node: &mut Klme, act: impl FnOnce(&mut Klme, &mut Out<Klme>)) -> Vec<(NodeId, Message)> {
        let mut out = Outbox::new();
        act(node, &mut out);
        let message = |effect| match effect {
            Effect::Send { to, message, .. } => Some((to, message)),
            _ => None,
        };
        out.drain().filter_map(message).collect()
    }

    fn keeps_copy_after_ack(switched_off: &[Repair], from: u32, leader_no: LeaderNo) -> bool {
        let mut node = sender(switched_off);
        node.on_token_ack(NodeId(from), leader_no, &mut Outbox::new());
        node.here().copy.is_some()
    }

    #[test]
    fn the_copy_is_kept_until_its_own_receiver_has_acknowledged_that_token() {
        assert!(sender(&[]).here().copy.is_none(), "nothing would use it");
        assert!(!keeps_copy_after_ack(&[repair::NO_COPY], 1, PASSED));
        assert!(keeps_copy_after_ack(&[repair::NO_COPY], 2, PASSED), "it went to node 1");
        assert!(keeps_copy_after_ack(&[repair::NO_COPY], 1, LeaderNo(1)), "that was an earlier one");
        assert!(keeps_copy_after_ack(&[repair::POSSESSION], 1, PASSED), "as published it is used later");
    }

    #[test]
    fn a_token_that_was_lost_is_sent_again_to_its_own_receiver() {
        let answer = |from: u32, leader_no| {
            let mut node = sender(&[repair::NO_COPY]);
            sent(&mut node, |node, out| node.on_token_lost(NodeId(from), leader_no, out))
        };
        let token = sender(&[repair::NO_COPY]).here().copy.clone().unwrap().1;
        assert_eq!(token.leader_no, PASSED);
        assert_eq!(answer(1, PASSED), [(NodeId(1), Message::Token { token })]);
        assert!(answer(2, PASSED).is_empty() && answer(1, LeaderNo(1)).is_empty());
    }

    #[test]
    fn when_its_receiver_has_left_the_token_is_made_anew_without_it() {
        let mut node = sender(&[repair::FAREWELL]);
        assert!(sent(&mut node, |node, out| node.regenerate(NodeId(2), out)).is_empty(), "it went to node 1");
        let queue = &mut node.here().copy.as_mut().unwrap().1.queue;
        queue.insert(0, (NodeId(1), RequestNo { life: Life(1), number: 2 }));
        let again = sent(&mut node, |node, out| node.regenerate(NodeId(1), out));
        let [(NodeId(2), Message::Token { token })] = &again[..] else { panic!("node 2 is next: {again:?}") };
        assert_eq!(token.allocated_numbers().len(), 1, "the unit of node 1 was taken back");
        assert_eq!((token.allocated[0].node, token.free), (NodeId(2), Permits::NONE));
        assert!(token.queue.is_empty());
    }
}

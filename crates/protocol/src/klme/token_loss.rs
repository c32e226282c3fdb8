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

    /// Section 7: the token has arrived; as published, who believes itself leader later still goes by the copy.
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

    /// Section 7: the receiver has left before the token came, so it is made anew from the copy; under the same number, and
    /// nobody is told. With [`repair::FAREWELL`] nobody leaves before a token that is on its way has come.
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

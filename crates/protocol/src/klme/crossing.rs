//! Clauses I to L: nodes that leave, and nodes that come.

#[cfg(test)]
mod tests;

use super::{Klme, Life, Message, Numbers, Place, RequestNo, repair};
use crate::{Demand, Incarnation, NodeId, Out, Protocol, Section};

impl Klme {
    /// I. Node i is about to leave the neighbourhood area.
    pub(super) fn on_about_to_leave(&mut self, out: &mut Out<Self>) {
        out.clause("I");
        let (id, number, leads) = (self.id, self.number(), self.leads());
        let was_in_cs = self.state == Section::Critical;
        self.here().leaving = true;
        if was_in_cs {
            self.state = Section::Waiting;
            self.in_use = None;
            out.revoke(Demand::ONE);
            if leads {
                self.books().take_back(id, |listed| listed == number);
            } else if let Some(leader) = self.here().leader {
                out.send(leader, Message::Release { number });
            }
        }
        if leads && (was_in_cs || self.has(repair::IDLE_HOLDER)) {
            self.give_away(out);
        }
        if self.place.is_some() {
            self.say_farewell(None, out);
            let takes_token_along = leads && !was_in_cs && !self.has(repair::IDLE_HOLDER);
            if takes_token_along || !self.has(repair::FAREWELL) {
                self.depart(out);
            }
        }
    }

    /// I, when the token has come to a node that is about to leave, or a node to give it to: as soon as it is given
    /// away, the new leader is told.
    pub(super) fn hand_over(&mut self, out: &mut Out<Self>) {
        let place = self.here();
        if !place.leaving || place.token.is_none() {
            return;
        }
        self.give_away(out);
        let heir = self.place.as_ref().filter(|place| place.token.is_none()).and_then(|place| place.leader);
        if heir.is_some() && self.has(repair::FAREWELL) {
            self.say_farewell(heir, out);
        }
    }

    /// I: the token goes to the front of `R_Queue`, or to the lowest id which is not in `T_alloc_id`, of those that
    /// stay. If all others are about to leave, too, it is kept until they have; the last node takes it to its end.
    fn give_away(&mut self, out: &mut Out<Self>) {
        if let Some((front, number)) = self.dequeue() {
            out.clause("I.front");
            self.give_to(front, Some(number), out);
        } else if let Some(heir) = self.heir() {
            out.clause("I.lowest");
            self.give_to(heir, None, out);
        } else if self.here().others.is_empty() || !self.has(repair::LAST_NODE) {
            out.clause("I.last");
            self.depart(out);
        }
    }

    fn give_to(&mut self, to: NodeId, request: Option<RequestNo>, out: &mut Out<Self>) {
        if self.has(repair::FORWARD_ANNOUNCED) {
            self.pass_token(to, request, out);
        } else {
            self.pass_silently(to, request, out);
        }
    }

    fn heir(&mut self) -> Option<NodeId> {
        let anybody = self.has(repair::LAST_NODE);
        let place = self.here();
        let token = place.token.as_ref()?;
        let stays = |&&(node, life): &&(NodeId, Life)| {
            let gone = RequestNo::gone(life);
            place.leavers.get(node).is_none_or(|leaver| leaver.life < life) && token.requests.is_behind(node, gone)
        };
        let is_free = |&&(node, _): &&(NodeId, Life)| token.allocation(node).is_none();
        let mut candidates = place.others.iter().filter(stays);
        let heir = candidates.clone().find(is_free).or_else(|| candidates.next().filter(|_| anybody));
        heir.map(|other| other.0)
    }

    /// `I_am_leaving`, to all or to a new leader.
    pub(super) fn say_farewell(&mut self, to: Option<NodeId>, out: &mut Out<Self>) {
        let number = self.number();
        let place = self.here();
        let farewell =
            Message::IAmLeaving { number, requests: place.requests.clone(), releases: place.releases.clone() };
        match to {
            Some(leader) => out.send(leader, farewell),
            None => out.broadcast(farewell),
        }
    }

    fn depart(&mut self, out: &mut Out<Self>) {
        self.place = None;
        out.depart();
    }

    /// J. Node i receives `I_am_leaving(j, Node_req_list, Node_release_list)`.
    pub(super) fn on_leaving(
        &mut self,
        from: NodeId,
        number: RequestNo,
        requests: &Numbers,
        releases: &Numbers,
        out: &mut Out<Self>,
    ) {
        out.clause("J");
        let waits_for_leader = self.has(repair::FAREWELL);
        let leads = self.leads();
        let place = self.here();
        place.requests.note_all(requests.iter().filter(|entry| entry.0 != from));
        place.releases.note_all(releases.iter().filter(|entry| entry.0 != from));
        // A late farewell says nothing about a stay that has begun since.
        let past = RequestNo::gone(number.life);
        place.requests.remove_until(from, past);
        place.releases.remove_until(from, past);
        if !leads {
            if waits_for_leader {
                place.leavers.note(from, number);
            } else {
                self.regenerate(from, out);
            }
            return;
        }
        self.strike_off(from, number, out);
        self.take_stored(out);
        self.serve(out);
    }

    /// J, at the leader: deletes the node from all lists on the token.
    pub(super) fn strike_off(&mut self, leaver: NodeId, number: RequestNo, out: &mut Out<Self>) {
        out.clause("J.leader");
        let (tombstone, farewell) = (self.has(repair::TOMBSTONE), self.has(repair::FAREWELL));
        let past = RequestNo::gone(number.life);
        let token = self.books();
        let is_first = token.requests.is_behind(leaver, past);
        token.queue.retain(|request| request.0 != leaver || request.1 > past);
        token.take_back(leaver, |listed| listed <= past);
        if tombstone {
            token.requests.note(leaver, past);
        } else {
            token.requests.remove(leaver);
        }
        // A farewell comes to every leader meanwhile; a node that was struck off has been told, and may have gone.
        if farewell && is_first {
            out.send(leaver, Message::LeaveAck { life: number.life });
        }
    }

    /// The leader has struck this node off: it may go. It cannot have been sent the token since.
    pub(super) fn on_leave_ack(&mut self, life: Life, out: &mut Out<Self>) {
        let current = self.number().life;
        let place = self.here();
        if place.leaving && life == current && place.token.is_none() {
            out.clause("I.depart");
            self.depart(out);
        }
    }

    /// K. New node i entering the neighbourhood.
    pub(super) fn on_entering(
        &mut self,
        life: Incarnation,
        members: &[(NodeId, Incarnation)],
        founds: Option<u32>,
        out: &mut Out<Self>,
    ) {
        out.clause("K");
        let others = members.iter().map(|&(member, life)| (member, life.into())).collect();
        self.place = Some(Place::new(life.into(), others));
        if let Some(generation) = founds.filter(|_| self.has(repair::LAST_NODE)) {
            out.clause("K.first");
            self.mint(self.k, generation, out);
        }
        let hungry = self.state == Section::Waiting;
        if hungry {
            self.ask(out);
        }
        out.broadcast(Message::IAmHere { number: self.number(), hungry });
    }

    /// L. Node i receives `I_am_here(j, state)`.
    pub(super) fn on_here(&mut self, from: NodeId, number: RequestNo, hungry: bool, out: &mut Out<Self>) {
        out.clause("L");
        let greets = self.has(repair::GREET);
        let leads = self.leads();
        if !leads {
            let place = self.here();
            place.requests.note(from, number);
            if greets && !place.newcomers.contains(&from) {
                place.newcomers.push(from);
                place.newcomers.sort_unstable();
            }
            return;
        }
        self.tell_leader(from, out);
        if hungry {
            self.on_request(from, number, out);
        } else {
            self.here().requests.note(from, number);
        }
    }

    pub(super) fn tell_leader(&mut self, newcomer: NodeId, out: &mut Out<Self>) {
        let leader = self.id;
        let token = self.books();
        let (allocated, leader_no) = (token.allocated_numbers(), token.leader_no);
        out.send(newcomer, Message::LeaderInfo { leader, allocated, leader_no });
    }
}

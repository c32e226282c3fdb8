//! How a member becomes leader.

use super::{Candidacy, Chair, Copy, LeaderNo, Member, Office, OutOf, Role, Term, Words, guard, is_majority};
use crate::NodeId;

impl<O: Office> Chair<O> {
    /// No leader was heard of for so long that whatever it handed out is over; or, at the leader, no majority.
    pub(crate) fn on_silence(&mut self, office: &mut O, out: &mut OutOf<O>) {
        self.promise.loosen();
        if self.rests {
            return;
        }
        if self.is_holder() {
            self.stand(office, out);
            return;
        }
        if self.leads() && self.keeps(guard::RESIGN) {
            // It cannot stand, and its beats would keep a minority bound that the others need to elect another.
            out.clause("resign");
            self.resign(office, out);
        }
        if office.waits() && !self.leads() && self.keeps(guard::KNOCK_AGAIN) {
            self.knock(office, out);
        } else {
            // It has nothing to ask for. When it has, it does not rely on the leader that it heard last.
            self.rests = true;
        }
    }

    /// Asks the copy holders for their votes; once more under the same number, as long as there is no greater one.
    fn stand(&mut self, office: &mut O, out: &mut OutOf<O>) {
        out.clause("stand");
        let (me, taken) = (self.me(), self.promise.number());
        let stands_already = matches!(&self.role, Role::Candidate(own) if Some(own.number) > taken);
        if stands_already {
            // The copy holders that it asks may all have gone since it last heard of them. The leader of today hears it
            // so.
            if office.waits() && !self.leaving && self.keeps(guard::ASK_ALL) {
                out.broadcast(office.ask(self));
            }
        } else {
            self.resign(office, out);
            let number = taken.map_or(LeaderNo { counter: 1, stay: me.stay }, |taken| taken.next(me.stay));
            self.role = Role::Candidate(Candidacy { number, votes: alloc::vec![me], inheritance: None });
        }
        self.canvass(office, out);
    }

    fn canvass(&mut self, office: &mut O, out: &mut OutOf<O>) {
        let (Role::Candidate(candidacy), Some(copy)) = (&self.role, &self.copy) else { return };
        let relieves = candidacy.inheritance.as_ref().map(|(number, _)| *number);
        let stand = Words::Stand { number: candidacy.number, holders: copy.holders.clone(), relieves };
        let holders = copy.holders.iter().map(|holder| holder.id).filter(|id| *id != self.id);
        out.multicast(holders, &office.say(stand));
        self.await_silence(office, out);
        self.lead_if_elected(office, out);
    }

    /// A member wants to lead.
    pub(crate) fn on_stand(
        &mut self,
        from: NodeId,
        number: LeaderNo,
        holders: &[Member],
        relieves: Option<LeaderNo>,
        office: &mut O,
        out: &mut OutOf<O>,
    ) {
        if let Role::Candidate(own) = &self.role
            && own.number > number
        {
            // Usually it will yield when it is asked. It is not if it keeps a copy that this node has not heard of;
            // then it may win where this node cannot.
            let is_unknown = |copy: &Copy<O::Rides>| copy.holders.iter().all(|holder| holder.id != from);
            if self.copy.as_ref().is_some_and(is_unknown) && self.keeps(guard::HEED) {
                out.send(from, office.say(Words::Ahead { number: own.number }));
            }
            return;
        }
        if !holders.contains(&self.me()) {
            return;
        }
        if self.may_vote(number, relieves) {
            self.vote(from, number, office, out);
        } else {
            self.refuse(from, number, office, out);
        }
    }

    fn vote(&mut self, candidate: NodeId, number: LeaderNo, office: &mut O, out: &mut OutOf<O>) {
        out.clause("vote");
        self.resign(office, out);
        if !self.keeps(guard::STAY_BOUND) {
            self.promise.loosen();
        }
        self.promise.vote(number);
        self.rests = false;
        self.await_silence(office, out);
        let vote = Words::Vote { stay: self.me().stay, number, copy: self.copy.clone() };
        out.send(candidate, office.say(vote));
    }

    fn refuse(&mut self, candidate: NodeId, number: LeaderNo, office: &mut O, out: &mut OutOf<O>) {
        // The candidate under the greater number may have gone, and this node may not know that it keeps a copy itself.
        let taken = self.promise.number().filter(|taken| *taken > number && !self.promise.is_bound());
        if let Some(number) = taken.filter(|_| self.keeps(guard::SPOKEN_FOR)) {
            out.send(candidate, office.say(Words::Ahead { number }));
        }
        // The candidate may have missed an election, and wants a leader.
        if self.keeps(guard::STIR_BY_STAND) {
            self.stir(office, out);
        }
    }

    pub(crate) fn may_vote(&self, number: LeaderNo, relieves: Option<LeaderNo>) -> bool {
        let mut promise = self.promise;
        if !self.keeps(guard::BOND) {
            promise.loosen();
        }
        let is_greater = !promise.is_bound() && promise.number() < Some(number);
        promise.may_vote(number, relieves) || (is_greater && !self.keeps(guard::COUNTER))
    }

    /// A vote, and what the voter knows. The latest copy says whose votes count.
    pub(crate) fn on_vote(
        &mut self,
        voter: Member,
        number: LeaderNo,
        copy: Option<Copy<O::Rides>>,
        office: &mut O,
        out: &mut OutOf<O>,
    ) {
        match &mut self.role {
            Role::Candidate(own) if own.number == number => {
                if let Err(at) = own.votes.binary_search(&voter) {
                    own.votes.insert(at, voter);
                }
            }
            _ => return,
        }
        let takes = self.keeps(guard::FRESHEST);
        let is_later = |own: &Copy<O::Rides>| copy.as_ref().is_some_and(|copy| copy.age() > own.age()) && takes;
        if self.copy.as_ref().is_none_or(is_later) {
            self.copy = copy;
        }
        self.lead_if_elected(office, out);
    }

    fn lead_if_elected(&mut self, office: &mut O, out: &mut OutOf<O>) {
        let (Role::Candidate(own), Some(copy)) = (&self.role, &self.copy) else { return };
        if is_majority(&copy.holders, |holder| own.votes.contains(holder)) {
            let estate = own.inheritance.clone().map(|(_, estate)| estate).unwrap_or_default();
            self.lead(own.number, estate, office, out);
        }
    }

    /// *H*: the leader departs, and has chosen this node to follow it.
    pub(crate) fn on_token(&mut self, number: LeaderNo, estate: O::Estate, office: &mut O, out: &mut OutOf<O>) {
        if self.promise.number() != Some(number) || !matches!(self.role, Role::Follower) || !self.is_holder() {
            return;
        }
        out.clause("H");
        self.succeed(number, number, estate, office, out);
    }

    /// A copy holder can follow only a leader with a number greater than this, or vote only for such a candidate.
    pub(crate) fn on_ahead(&mut self, number: LeaderNo, office: &mut O, out: &mut OutOf<O>) {
        let me = self.me();
        match &mut self.role {
            Role::Leader(term) if self.terms.rules.has(guard::OUTDO) => {
                term.outbid = term.outbid.max(Some(number));
                self.outdo(office, out);
            }
            Role::Candidate(own) if number > own.number => {
                out.clause("stand");
                (own.number, own.votes) = (number.next(me.stay), alloc::vec![me]);
                self.canvass(office, out);
            }
            Role::Leader(_) | Role::Candidate(_) | Role::Follower => {}
        }
    }

    /// A leader that a copy holder cannot follow becomes its own successor. If it has no majority behind it, another
    /// leader may have, and two that outbid each other would not come to an end.
    pub(super) fn outdo(&mut self, office: &mut O, out: &mut OutOf<O>) {
        let Role::Leader(term) = &self.role else { return };
        if let Some(number) = term.outbid.filter(|number| *number > term.number && term.is_confirmed()) {
            out.clause("outdo");
            let (own, estate) = (term.number, office.estate());
            self.resign(office, out);
            self.succeed(own, number, estate, office, out);
        }
    }

    /// Stands under a number greater than `taken`, in place of the leader `relieved`, which hands out nothing any more.
    fn succeed(&mut self, relieved: LeaderNo, taken: LeaderNo, estate: O::Estate, office: &mut O, out: &mut OutOf<O>) {
        let me = self.me();
        self.role = Role::Candidate(Candidacy {
            number: taken.next(me.stay),
            votes: alloc::vec![me],
            inheritance: Some((relieved, estate)),
        });
        self.canvass(office, out);
    }

    /// Becomes leader. Whatever leaders before it handed out has run out, but for what was left to it.
    pub(crate) fn lead(&mut self, number: LeaderNo, estate: O::Estate, office: &mut O, out: &mut OutOf<O>) {
        out.clause("lead");
        let me = self.me();
        let Some(copy) = &self.copy else { return };
        let mut term = Term::new(number, copy.round, &copy.holders);
        term.settled = !self.keeps(guard::SETTLE);
        if let Some(holder) = term.holder(me) {
            holder.leaving = self.leaving;
        }
        self.bind_self(number);
        self.role = Role::Leader(term);
        office.take_over(self, number, estate, out);
        self.await_silence(office, out);
        self.begin_round(false, office, out);
    }
}

//! What the leader does: beats, their rounds, and what copy holders say to them.

use super::chair::Timer;
use super::{Chair, Change, Copy, LeaderNo, Member, Office, OutOf, Role, Words, guard};

impl<O: Office> Chair<O> {
    /// The right to hand anything out is over, and is asked for anew.
    pub(crate) fn on_beat_over(&mut self, office: &mut O, out: &mut OutOf<O>) {
        if let Role::Leader(term) = &mut self.role {
            let could_help = term.knows_others(&self.others);
            term.pass_beat(self.terms.care.patience, could_help);
            office.end_beat();
            self.begin_round(true, office, out);
        }
    }

    /// The next beat. If no member wants anything, it is the last for now.
    pub(crate) fn begin_round(&mut self, beat_is_over: bool, office: &mut O, out: &mut OutOf<O>) {
        let (me, care, change) = (self.me(), self.terms.care, self.next_change(beat_is_over));
        let (Role::Leader(term), Some(copy)) = (&mut self.role, &mut self.copy) else { return };
        let could_help = term.knows_others(&self.others);
        let is_idle = office.is_idle() && term.is_confirmed();
        let must_ask = could_help && term.wants_copies(care) && !term.has_asked;
        let is_complete = change.is_none() && !must_ask && !term.has_leaver() && !self.leaving;
        let wakes = self.rests;
        self.rests = is_idle && is_complete;
        term.forget_answers();
        term.change(change);
        term.settled |= !self.terms.rules.has(guard::SETTLE);
        term.round = term.round.next();
        term.has_asked = could_help && term.wants_copies(care);
        *copy = Copy {
            number: term.number,
            version: if change.is_some() { copy.version.next() } else { copy.version },
            round: term.round,
            leader: me.id,
            generation: copy.generation,
            holders: term.holders.iter().map(|holder| holder.member).collect(),
            rides: office.begin_beat(me),
        };
        let beat = Words::Beat { copy: copy.clone(), wanted: term.has_asked, rests: self.rests };
        let keeps_a_copy = term.holder(me).is_some();
        out.broadcast(office.say(beat));
        if self.rests {
            out.clause("rest");
            return;
        }
        out.clause("beat");
        out.arm(office.timer(Timer::Beat), self.terms.times.beat);
        if wakes && self.keeps(guard::WATCH) {
            // While it rested, it did not watch whether it still has a majority.
            self.await_silence(office, out);
        }
        if keeps_a_copy {
            self.acknowledge(me, self.leaving, office, out);
        }
    }

    /// A copy holder has heard the latest beat.
    fn acknowledge(&mut self, member: Member, leaving: bool, office: &mut O, out: &mut OutOf<O>) {
        let me = self.me();
        let Role::Leader(term) = &mut self.role else { return };
        let was_confirmed = term.is_confirmed();
        let Some(holder) = term.holder(member) else { return };
        (holder.acknowledged, holder.missed, holder.leaving) = (true, 0, leaving);
        if was_confirmed || !term.is_confirmed() {
            return;
        }
        out.clause("confirmed");
        (term.settled, term.added) = (true, None);
        let (number, keeps_none) = (term.number, term.holder(me).is_none());
        self.bind_self(number);
        self.await_silence(office, out);
        if self.leaving && keeps_none {
            self.hand_over(office, out);
            return;
        }
        office.confirm(me);
        office.serve(self, out);
        self.outdo(office, out);
    }

    /// A leader follows itself, and votes for no other as long as what it hands out may last.
    pub(crate) fn bind_self(&mut self, number: LeaderNo) {
        if self.keeps(guard::BIND_SELF) {
            self.promise.follow(number);
        } else {
            self.promise.vote(number);
        }
    }

    /// The leader is no longer a copy holder, and a majority of the others knows it: one of them shall lead.
    fn hand_over(&mut self, office: &mut O, out: &mut OutOf<O>) {
        let Role::Leader(term) = &self.role else { return };
        if let Some(heir) = term.holders.iter().find(|holder| holder.acknowledged) {
            out.clause("I.token");
            let token = Words::Token { number: term.number, estate: office.estate() };
            out.send(heir.member.id, office.say(token));
        }
        self.depart(office, out);
    }

    /// A member has said something to this leader, which its office has noted: about the latest beat or an earlier one.
    /// It may keep copies, offer to, or be about to leave.
    pub(crate) fn hear(
        &mut self,
        member: Member,
        is_current: bool,
        leaving: bool,
        wakes: bool,
        office: &mut O,
        out: &mut OutOf<O>,
    ) {
        let forgets = self.keeps(guard::FORGET_VOLUNTEER);
        let Role::Leader(term) = &mut self.role else { return };
        if leaving && forgets {
            term.volunteer = term.volunteer.filter(|volunteer| *volunteer != member);
        } else if is_current && term.has_asked && term.holder(member).is_none() {
            term.volunteer.get_or_insert(member);
        }
        if leaving && term.settled && term.holder(member).is_none() {
            let leave = Words::Dismiss { stay: member.stay, number: term.number, round: term.round };
            out.send(member.id, office.say(leave));
        }
        if wakes {
            self.begin_round(false, office, out);
        } else {
            if (is_current || !self.keeps(guard::LATE_ACKS)) && !self.rests {
                self.acknowledge(member, leaving, office, out);
            }
            office.serve(self, out);
            self.change_at_once(office, out);
        }
    }

    /// A copy holder that leaves need not wait for the next beat, if another member can take its place.
    fn change_at_once(&mut self, office: &mut O, out: &mut OutOf<O>) {
        let Role::Leader(term) = &self.role else { return };
        if term.is_confirmed() && self.next_change(false).is_some() && !self.rests {
            self.begin_round(false, office, out);
        }
    }

    /// How the set of copy holders should change next.
    fn next_change(&self, beat_is_over: bool) -> Option<Change> {
        let term = self.term()?;
        let could_help = term.knows_others(&self.others);
        let change = term.next_change(self.me(), self.terms.care, could_help, beat_is_over);
        change.filter(|_| term.settled || self.keeps(guard::WITHDRAW))
    }
}

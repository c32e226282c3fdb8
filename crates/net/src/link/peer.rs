//! One neighbour, or former neighbour: how a link to it forms, lives and breaks.

#[cfg(test)]
mod tests;

use driftlock_protocol::{Incarnation, NodeId};

use super::channel::Channel;
use super::settings::from_ms;
use super::{Boot, CallId, Effect, Frame, Head, Hello, Settings};
use crate::Time;
use crate::beacon::Hearing;
use crate::custody::{Custody, Doubt, Kept, Statement, Transfer};

/// What a node knows of itself.
#[derive(Clone, Debug)]
pub(super) struct Own<M> {
    pub(super) me: NodeId,
    pub(super) boot: Boot,
    /// It remembers everything since this boot.
    pub(super) since: Boot,
    /// Every incarnation of peers that it has forgotten was at most this.
    pub(super) floor: Incarnation,
    pub(super) settings: Settings,
    pub(super) carries_permits: fn(&M) -> bool,
}

/// How far the link is.
#[derive(Clone, Debug)]
enum State<M> {
    Down,
    /// The caller waits for the answer.
    Calling {
        call: CallId,
        attempt: Attempt,
    },
    /// The answerer waits for any sign that the caller has heard it.
    Answering {
        boot: Boot,
        incarnation: Incarnation,
        attempt: Attempt,
    },
    Up(Box<Channel<M>>),
}

/// A frame of the handshake that is transmitted until it is answered.
#[derive(Clone, Copy, Debug)]
struct Attempt {
    tries: u32,
    again_at: Time,
}

impl Attempt {
    fn first(now: Time, settings: &Settings) -> Self {
        Self { tries: 1, again_at: now + from_ms(settings.retransmit_ms) }
    }

    /// The next try, if it is due; an error when there were enough.
    fn repeat(&mut self, now: Time, settings: &Settings) -> Option<Result<(), ()>> {
        if now < self.again_at {
            return None;
        }
        if self.tries >= settings.tries_max {
            return Some(Err(()));
        }
        let wait = Settings::backed_off(from_ms(settings.retransmit_ms), self.tries, settings.retransmit_ms_max);
        *self = Self { tries: self.tries + 1, again_at: now + wait };
        Some(Ok(()))
    }
}

/// Why a link breaks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Cause {
    /// The peer has said that it is over, or has shown it.
    Peer,
    /// It was not heard, or does not hear.
    Silence,
    /// Its hellos are heard, but nothing gets through.
    Unanswered,
}

/// One of those that a node hears, or has to remember.
#[derive(Clone, Debug)]
pub(super) struct Peer<M> {
    id: NodeId,
    pub(super) hearing: Option<Hearing>,
    /// The greatest incarnation that this end knows of between the two.
    last: Incarnation,
    /// The last call that was answered.
    call: Option<CallId>,
    state: State<M>,
    pub(super) custody: Custody<M>,
    /// The hellos say that it is heard well.
    pub(super) announced: bool,
    /// Where it stands among the alarms.
    pub(super) alarm: Option<Time>,
}

impl<M: Clone> Peer<M> {
    /// Nothing is known of it.
    pub(super) fn new(id: NodeId, now: Time, own: &Own<M>) -> Self {
        Self::restored(Kept { peer: id, last: Incarnation(0), call: None, had: None, doubts: Vec::new() }, now, own)
    }

    /// As it was remembered.
    pub(super) fn restored(kept: Kept<M>, now: Time, own: &Own<M>) -> Self {
        Self {
            id: kept.peer,
            hearing: None,
            last: kept.last,
            call: kept.call,
            state: State::Down,
            custody: Custody::new(now, kept.had, kept.doubts, &own.settings),
            announced: false,
            alarm: None,
        }
    }

    /// What must be remembered of it. A link that is up would break in a restart.
    pub(super) fn kept(&self, own: &Own<M>) -> Kept<M> {
        let mut doubts = self.custody.doubts.clone();
        if let State::Up(channel) = &self.state {
            doubts.extend(channel.outgoing.iter().filter_map(|outgoing| {
                let transfer = Transfer { boot: own.boot, number: outgoing.transfer? };
                Some(Doubt {
                    transfer,
                    incarnation: channel.incarnation,
                    to: channel.boot,
                    message: outgoing.message.clone(),
                })
            }));
        }
        Kept { peer: self.id, last: self.last, call: self.call, had: self.custody.had, doubts }
    }

    /// Nothing of it has to be remembered but that incarnations have come so far.
    pub(super) fn forgettable(&self) -> Option<Incarnation> {
        let nothing = self.hearing.is_none()
            && matches!(self.state, State::Down)
            && self.custody.had.is_none()
            && self.custody.doubts.is_empty();
        nothing.then_some(self.last)
    }

    pub(super) fn is_well(&self) -> bool {
        self.hearing.as_ref().is_some_and(Hearing::is_well)
    }

    fn is_mutual(&self, now: Time, own: &Own<M>) -> bool {
        self.hearing.as_ref().is_some_and(|hearing| hearing.is_mutual(now, &own.settings))
    }

    /// The incarnation of the link, while it is up.
    pub(super) fn incarnation(&self) -> Option<Incarnation> {
        match &self.state {
            State::Up(channel) => Some(channel.incarnation),
            _ => None,
        }
    }

    /// What is sent and not acknowledged.
    pub(super) fn unacknowledged(&self) -> impl Iterator<Item = &M> {
        let channel = match &self.state {
            State::Up(channel) => Some(channel),
            _ => None,
        };
        channel.into_iter().flat_map(|channel| channel.outgoing.iter().map(|outgoing| &outgoing.message))
    }

    /// When something is due.
    pub(super) fn due(&self, own: &Own<M>) -> Option<Time> {
        let (state, deaf) = match &self.state {
            State::Down => (None, None),
            State::Calling { attempt, .. } | State::Answering { attempt, .. } => (Some(attempt.again_at), None),
            State::Up(channel) => (channel.due(), self.hearing.as_ref().map(|hearing| hearing.deaf_at(&own.settings))),
        };
        let silent = self.hearing.as_ref().map(|hearing| hearing.silent_at(&own.settings));
        [state, deaf, silent, self.custody.offer_at()].into_iter().flatten().min()
    }
}

/// Frames and time.
impl<M: Clone> Peer<M> {
    /// A hello. The lower of two that hear each other calls.
    pub(super) fn hello(&mut self, now: Time, hello: &Hello, own: &Own<M>, out: &mut Vec<Effect<M>>) {
        let was_mutual = self.is_mutual(now, own);
        match &mut self.hearing {
            Some(hearing) if hello.boot < hearing.boot => return,
            Some(hearing) if hello.boot == hearing.boot => hearing.hello(now, hello, own.me, &own.settings),
            hearing => {
                *hearing = Some(Hearing::new(now, hello, &own.settings));
                if self.boot_of_state().is_some_and(|boot| boot < hello.boot) {
                    self.fall(now, Cause::Peer, own, out);
                }
            }
        }
        if !self.is_mutual(now, own) || !matches!(self.state, State::Down) {
            return;
        }
        if own.me < self.id {
            self.start_calling(now, own, out);
        } else if was_mutual {
            // It had reason to call and did not: perhaps it believes in a link that is over, or that never came up here.
            self.transmit(Frame::Reset { incarnation: self.last.max(own.floor) }, out);
        }
    }

    fn start_calling(&mut self, now: Time, own: &Own<M>, out: &mut Vec<Effect<M>>) {
        let number = self.next_number(own);
        self.last = number;
        let call = CallId { boot: own.boot, number };
        self.state = State::Calling { call, attempt: Attempt::first(now, &own.settings) };
        self.call_out(call, own, out);
    }

    fn call_out(&self, call: CallId, own: &Own<M>, out: &mut Vec<Effect<M>>) {
        let (statement, doubts) = (self.statement(own), self.custody.doubts.clone());
        self.transmit(Frame::Call { call, statement, doubts }, out);
    }

    /// The caller wants a link, so whatever was between the two is over there.
    pub(super) fn called(
        &mut self,
        now: Time,
        call: CallId,
        (statement, doubts): (Statement, Vec<Doubt<M>>),
        own: &Own<M>,
        out: &mut Vec<Effect<M>>,
    ) {
        let heard = self.is_well() && self.is_heard_in(call.boot);
        if own.me < self.id || !heard || self.call.is_some_and(|known| call < known) {
            return;
        }
        if self.call == Some(call) {
            return self.answer(own, out);
        }
        self.fall(now, Cause::Peer, own, out);
        self.custody.settle(self.id, &statement, out);
        self.custody.take(self.id, own.since, doubts, out);
        if let Some(hearing) = &mut self.hearing {
            hearing.listed(now);
        }
        self.call = Some(call);
        self.last = self.next_number(own).max(call.number);
        let (boot, incarnation) = (call.boot, self.last);
        self.state = State::Answering { boot, incarnation, attempt: Attempt::first(now, &own.settings) };
        self.answer(own, out);
    }

    /// Says which incarnation the caller's link has, as long as the caller does not seem to know.
    fn answer(&mut self, own: &Own<M>, out: &mut Vec<Effect<M>>) {
        if let (State::Answering { incarnation, .. }, Some(call)) = (&self.state, self.call) {
            let (incarnation, statement) = (*incarnation, self.statement(own));
            let doubts = self.custody.doubts.clone();
            self.transmit(Frame::Answer { call, incarnation, statement, doubts }, out);
        }
    }

    /// The answer to a call, perhaps to an old one.
    pub(super) fn answered(
        &mut self,
        now: Time,
        call: CallId,
        incarnation: Incarnation,
        (statement, doubts): (Statement, Vec<Doubt<M>>),
        own: &Own<M>,
        out: &mut Vec<Effect<M>>,
    ) {
        if !self.is_heard_in(statement.boot) {
            return;
        }
        self.last = self.last.max(incarnation);
        match &mut self.state {
            State::Calling { call: mine, .. } if *mine == call && incarnation >= call.number => {
                self.custody.settle(self.id, &statement, out);
                self.custody.take(self.id, own.since, doubts, out);
                debug_assert!(self.custody.doubts.is_empty(), "the call has carried them");
                self.rise(now, statement.boot, incarnation, own, out);
                if let State::Up(channel) = &mut self.state {
                    channel.acknowledge(out);
                }
            }
            State::Up(channel) if channel.incarnation == incarnation => channel.acknowledge(out),
            _ => self.transmit(Frame::Reset { incarnation }, out),
        }
    }

    /// A frame of a link, with its message if it has one. The first one says that the caller is up.
    pub(super) fn exchange(
        &mut self,
        now: Time,
        head: Head,
        data: Option<(u64, Option<u64>, M)>,
        own: &Own<M>,
        out: &mut Vec<Effect<M>>,
    ) {
        if let State::Answering { boot, incarnation, .. } = self.state
            && (boot, own.boot, incarnation) == (head.boot, head.to, head.incarnation)
        {
            self.rise(now, boot, incarnation, own, out);
        }
        let channel = match &mut self.state {
            State::Up(channel)
                if (channel.boot, own.boot, channel.incarnation) == (head.boot, head.to, head.incarnation) =>
            {
                channel
            }
            _ => return self.transmit(Frame::Reset { incarnation: head.incarnation }, out),
        };
        if let Some(hearing) = &mut self.hearing {
            hearing.listed(now);
        }
        channel.acknowledged(now, head.acknowledges, &own.settings, out);
        if let Some((sequence, transfer, message)) = data {
            channel.data(now, sequence, (transfer, message), &own.settings, out);
            let had = channel.had.map(|number| Transfer { boot: head.boot, number });
            self.custody.had = self.custody.had.max(had);
        }
    }

    /// The peer is in no incarnation up to this one, and will never be again.
    pub(super) fn reset(&mut self, now: Time, incarnation: Incarnation, own: &Own<M>, out: &mut Vec<Effect<M>>) {
        let mine = match &self.state {
            State::Up(channel) => Some(channel.incarnation),
            State::Answering { incarnation, .. } => Some(*incarnation),
            State::Down | State::Calling { .. } => None,
        };
        if mine.is_some_and(|mine| mine <= incarnation) {
            self.fall(now, Cause::Peer, own, out);
        }
    }

    /// The peer has left this incarnation, and offers what this end may not have had. So it is over here too, before anything is taken.
    pub(super) fn offered(
        &mut self,
        now: Time,
        incarnation: Incarnation,
        doubts: Vec<Doubt<M>>,
        own: &Own<M>,
        out: &mut Vec<Effect<M>>,
    ) {
        self.reset(now, incarnation, own, out);
        if self.incarnation().is_none() {
            self.custody.take(self.id, own.since, doubts, out);
            out.push(Effect::Route { to: self.id, frame: Frame::Verdict(self.statement(own)) });
        }
    }

    /// What the peer says that it has had.
    pub(super) fn judged(&mut self, statement: &Statement, out: &mut Vec<Effect<M>>) {
        self.custody.settle(self.id, statement, out);
    }

    /// A message of this node, with its number if it carries permits. Without a link it does not even start.
    pub(super) fn send(
        &mut self,
        now: Time,
        transfer: Option<u64>,
        message: M,
        own: &Own<M>,
        out: &mut Vec<Effect<M>>,
    ) {
        match &mut self.state {
            State::Up(channel) => channel.send(now, transfer, message, &own.settings, out),
            _ => out.push(Effect::Undelivered { to: self.id, message }),
        }
    }

    /// The radio says that a frame did not get through.
    pub(super) fn unsent(&mut self, now: Time, own: &Own<M>) {
        if let State::Up(channel) = &mut self.state {
            channel.unsent(now, &own.settings);
        }
    }

    /// Does what is due.
    pub(super) fn woken(&mut self, now: Time, own: &Own<M>, out: &mut Vec<Effect<M>>) {
        if self.hearing.as_ref().is_some_and(|hearing| hearing.silent_at(&own.settings) <= now) {
            self.hearing = None;
            self.fall(now, Cause::Silence, own, out);
        }
        let settings = &own.settings;
        match &mut self.state {
            State::Down => {}
            State::Calling { call, attempt } => {
                let call = *call;
                match attempt.repeat(now, settings) {
                    Some(Ok(())) => self.call_out(call, own, out),
                    Some(Err(())) => self.fall(now, Cause::Unanswered, own, out),
                    None => {}
                }
            }
            State::Answering { attempt, .. } => match attempt.repeat(now, settings) {
                Some(Ok(())) => self.answer(own, out),
                Some(Err(())) => self.fall(now, Cause::Unanswered, own, out),
                None => {}
            },
            State::Up(channel) => {
                if self.hearing.as_ref().is_some_and(|hearing| hearing.deaf_at(&own.settings) <= now) {
                    self.fall(now, Cause::Silence, own, out);
                } else if channel.woken(now, settings, out).is_err() {
                    self.fall(now, Cause::Unanswered, own, out);
                }
            }
        }
        if let Some((incarnation, doubts)) = self.custody.offer(now, &own.settings) {
            out.push(Effect::Route { to: self.id, frame: Frame::Offer { incarnation, doubts } });
        }
    }
}

/// Up and down.
impl<M: Clone> Peer<M> {
    fn rise(&mut self, now: Time, boot: Boot, incarnation: Incarnation, own: &Own<M>, out: &mut Vec<Effect<M>>) {
        // Who calls and is up has heard the answer, and with it all that was in doubt at this end.
        self.custody.settle_all(self.id, out);
        self.state = State::Up(Box::new(Channel::new(self.id, boot, incarnation, own.boot)));
        if let Some(hearing) = &mut self.hearing {
            hearing.listed(now);
        }
        out.push(Effect::Up { peer: self.id, incarnation });
    }

    /// The link, or the attempt to form one, is over. What was sent and not acknowledged is sorted out.
    fn fall(&mut self, now: Time, cause: Cause, own: &Own<M>, out: &mut Vec<Effect<M>>) {
        if cause == Cause::Unanswered
            && let Some(hearing) = &mut self.hearing
        {
            hearing.distrust();
        }
        let channel = match std::mem::replace(&mut self.state, State::Down) {
            State::Up(channel) => channel,
            State::Down | State::Calling { .. } | State::Answering { .. } => return,
        };
        let incarnation = channel.incarnation;
        out.push(Effect::Down { peer: self.id, incarnation });
        if cause != Cause::Peer {
            self.transmit(Frame::Reset { incarnation }, out);
        }
        let mut doubts = Vec::new();
        for outgoing in channel.outgoing {
            let (to, message) = (self.id, outgoing.message);
            if outgoing.tries == 0 {
                out.push(Effect::Undelivered { to, message });
            } else if let Some(number) = outgoing.transfer {
                let transfer = Transfer { boot: own.boot, number };
                doubts.push(Doubt { transfer, incarnation, to: channel.boot, message });
                out.push(Effect::Doubt { to, transfer });
            } else {
                out.push(Effect::Dropped { to, message });
            }
        }
        self.custody.doubt(now, doubts, &own.settings);
    }

    /// Greater than every incarnation that this end knows of between the two.
    fn next_number(&self, own: &Own<M>) -> Incarnation {
        Incarnation(self.last.max(own.floor).0.saturating_add(1))
    }

    /// What this end has had.
    fn statement(&self, own: &Own<M>) -> Statement {
        Statement { boot: own.boot, since: own.since, had: self.custody.had }
    }

    /// Its hellos are of this life. A frame of another is early or late, and will be repeated if it matters.
    fn is_heard_in(&self, boot: Boot) -> bool {
        self.hearing.as_ref().is_some_and(|hearing| hearing.boot == boot)
    }

    fn boot_of_state(&self) -> Option<Boot> {
        match &self.state {
            State::Up(channel) => Some(channel.boot),
            State::Answering { boot, .. } => Some(*boot),
            State::Down | State::Calling { .. } => None,
        }
    }

    fn transmit(&self, frame: Frame<M>, out: &mut Vec<Effect<M>>) {
        out.push(Effect::Transmit { to: Some(self.id), frame });
    }
}

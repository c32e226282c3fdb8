//! The sending end of a session.

use std::collections::VecDeque;

use super::{Context, Effect, Segment, Session, Settings, Transfer};
use crate::{Span, Time};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// Nobody has been asked.
    Idle,
    /// `Open` is on its way.
    Opening,
    /// With this boot of the receiver.
    Established(u32),
}

#[derive(Clone, Debug)]
struct Message<M> {
    transfer: Transfer,
    keep: bool,
    /// Whether it has ever been on the air.
    sent: bool,
    content: M,
}

#[derive(Clone, Debug)]
pub(super) struct Outgoing<M> {
    session: Session,
    state: State,
    /// What is not acknowledged, the oldest first.
    queue: VecDeque<Message<M>>,
    /// How many in the queue may be given up.
    unkept: usize,
    /// The number in this session of the first in the queue.
    base: u64,
    /// How many in the queue are on the air in this session.
    on_air: usize,
    /// What was on the air when something was late: it is sent again, one with each acknowledgement.
    recover: u64,
    /// When to send the oldest again.
    due: Time,
    /// How long to wait then.
    wait: Span,
    /// Since when nothing has been acknowledged.
    stalled: Time,
    /// Whether the layer below has said since then that the receiver can not be reached.
    hinted: bool,
}

impl<M: Clone> Outgoing<M> {
    pub(super) fn new(session: Session) -> Self {
        Self {
            session,
            state: State::Idle,
            queue: VecDeque::new(),
            unkept: 0,
            base: 0,
            on_air: 0,
            recover: 0,
            due: Time::ZERO,
            wait: Span::ZERO,
            stalled: Time::ZERO,
            hinted: false,
        }
    }

    pub(super) fn push(&mut self, now: Time, transfer: Transfer, keep: bool, content: M) {
        if self.queue.is_empty() {
            self.stalled = now;
        }
        self.unkept += usize::from(!keep);
        self.queue.push_back(Message { transfer, keep, sent: false, content });
    }

    pub(super) fn session(&self) -> Session {
        self.session
    }

    /// Whether nothing waits.
    pub(super) fn is_idle(&self) -> bool {
        self.queue.is_empty()
    }

    /// How many messages do.
    pub(super) fn waiting(&self) -> usize {
        self.queue.len()
    }

    pub(super) fn kept(&self) -> impl Iterator<Item = (Transfer, M)> {
        let kept = self.queue.iter().filter(|message| message.keep);
        kept.map(|message| (message.transfer, message.content.clone()))
    }

    /// When something is due.
    pub(super) fn alarm(&self, settings: &Settings) -> Option<Time> {
        let give_up = if self.unkept > 0 { self.stalled + settings.give_up } else { Time::END };
        (!self.queue.is_empty()).then(|| self.due.min(give_up))
    }

    /// Sends what may be sent now.
    pub(super) fn advance(&mut self, now: Time, context: &mut Context<'_>, out: &mut Vec<Effect<M>>) {
        match self.state {
            State::Idle if !self.queue.is_empty() => {
                self.state = State::Opening;
                self.wait = context.settings.retry;
                self.repeat(now, context, out);
            }
            State::Established(_) => {
                if self.on_air == 0 && !self.queue.is_empty() {
                    self.wait = context.settings.retry;
                    self.rearm(now, context);
                }
                while self.on_air < self.queue.len().min(context.settings.window.max(1)) {
                    self.transmit(self.on_air, context, out);
                    self.on_air += 1;
                }
            }
            State::Idle | State::Opening => {}
        }
    }

    pub(super) fn accepted(
        &mut self,
        now: Time,
        session: Session,
        boot: u32,
        context: &mut Context<'_>,
        out: &mut Vec<Effect<M>>,
    ) {
        if self.state == State::Opening && session == self.session {
            self.state = State::Established(boot);
            self.progress(now, context);
            self.advance(now, context, out);
        }
    }

    pub(super) fn acknowledged(
        &mut self,
        now: Time,
        session: Session,
        boot: u32,
        next: u64,
        context: &mut Context<'_>,
        out: &mut Vec<Effect<M>>,
    ) {
        let current = session == self.session && self.state == State::Established(boot);
        if !current || next <= self.base || next - self.base > self.on_air as u64 {
            return;
        }
        while self.base < next
            && let Some(message) = self.queue.pop_front()
        {
            self.base += 1;
            self.on_air -= 1;
            self.unkept -= usize::from(!message.keep);
            out.push(Effect::Delivered { to: context.peer, transfer: message.transfer });
        }
        self.progress(now, context);
        if self.on_air > 0 && self.base < self.recover {
            self.transmit(0, context, out);
        }
        self.advance(now, context, out);
    }

    /// The receiver that this session is bound to is no more.
    pub(super) fn receiver_rebooted(&mut self, now: Time, context: &mut Context<'_>, out: &mut Vec<Effect<M>>) {
        if matches!(self.state, State::Established(_)) {
            self.end(now, context, out);
        }
    }

    pub(super) fn unreachable(&mut self, now: Time, context: &mut Context<'_>, out: &mut Vec<Effect<M>>) {
        if !self.queue.is_empty() && !self.hinted {
            self.hinted = true;
            self.repeat(now, context, out);
        }
    }

    pub(super) fn woken(&mut self, now: Time, context: &mut Context<'_>, out: &mut Vec<Effect<M>>) {
        if self.unkept > 0 && self.stalled + context.settings.give_up <= now {
            self.end(now, context, out);
        } else if self.due <= now {
            match self.state {
                State::Idle => self.advance(now, context, out),
                State::Opening | State::Established(_) => {
                    out.push(Effect::Silent { peer: context.peer });
                    self.wait = (self.wait * 2).min(context.settings.retry_max);
                    self.repeat(now, context, out);
                }
            }
        }
    }

    /// The session is over. What may be given up has its outcome now; what may not goes first in the next session.
    fn end(&mut self, now: Time, context: &mut Context<'_>, out: &mut Vec<Effect<M>>) {
        let to = context.peer;
        let (kept, given_up): (VecDeque<_>, VecDeque<_>) = self.queue.drain(..).partition(|message| message.keep);
        out.extend(given_up.into_iter().map(|Message { transfer, sent, content: message, .. }| {
            if sent { Effect::Doubt { to, transfer, message } } else { Effect::Undelivered { to, transfer, message } }
        }));
        let session = Session { counter: self.session.counter.saturating_add(1), ..self.session };
        *self = Self { queue: kept, stalled: now, ..Self::new(session) };
        self.advance(now, context, out);
    }

    fn progress(&mut self, now: Time, context: &mut Context<'_>) {
        (self.stalled, self.hinted, self.wait) = (now, false, context.settings.retry);
        self.rearm(now, context);
    }

    /// The next repetition is due after the wait, and a little more or less, so that nodes do not keep step.
    fn rearm(&mut self, now: Time, context: &mut Context<'_>) {
        let wait = self.wait.max(Span(1));
        self.due = now + wait + Span(context.dice.below(wait.0 / 8));
    }

    /// Sends the oldest again.
    fn repeat(&mut self, now: Time, context: &mut Context<'_>, out: &mut Vec<Effect<M>>) {
        self.rearm(now, context);
        match self.state {
            State::Idle => {}
            State::Opening => {
                let segment = Segment::Open { session: self.session };
                out.push(Effect::Transmit { to: context.peer, segment });
            }
            State::Established(_) => {
                self.recover = self.base + self.on_air as u64;
                self.transmit(0, context, out);
            }
        }
    }

    fn transmit(&mut self, at: usize, context: &Context<'_>, out: &mut Vec<Effect<M>>) {
        if let State::Established(boot) = self.state
            && let Some(message) = self.queue.get_mut(at)
        {
            message.sent = true;
            let kept = message.keep.then_some(message.transfer);
            let (session, seq) = (self.session, self.base + at as u64);
            let segment = Segment::Data { session, boot, seq, kept, message: message.content.clone() };
            out.push(Effect::Transmit { to: context.peer, segment });
        }
    }
}

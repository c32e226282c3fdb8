//! The sending end of a session.

use std::mem;

use super::{Context, Effect, Segment, Session, Settings};
use crate::window::{Pending, Unacknowledged};
use crate::{Boot, Span, Time, Transfer};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// The peer has not been asked.
    Idle,
    /// `Open` is on its way.
    Opening,
    /// With this boot of the receiver.
    Established(Boot),
}

#[derive(Clone, Debug)]
struct Message<M> {
    transfer: Transfer,
    keep: bool,
    content: M,
}

#[derive(Clone, Debug)]
pub(super) struct Outgoing<M> {
    session: Session,
    state: State,
    /// What was given to it, as far as it is not acknowledged.
    sent: Unacknowledged<Message<M>>,
    /// How many of them may be given up.
    unkept: usize,
    /// What was on the air when something was late: it is sent again, one with each acknowledgement.
    recover: u64,
    /// When to send the oldest again.
    due: Time,
    /// How long to wait then.
    wait: Span,
    /// Since when nothing has been acknowledged.
    stalled: Time,
    /// Whether the layer below has said since then that the receiver cannot be reached.
    hinted: bool,
}

impl<M: Clone> Outgoing<M> {
    pub(super) fn new(session: Session) -> Self {
        Self {
            session,
            state: State::Idle,
            sent: Unacknowledged::new(),
            unkept: 0,
            recover: 0,
            due: Time::ZERO,
            wait: Span::ZERO,
            stalled: Time::ZERO,
            hinted: false,
        }
    }

    pub(super) fn push(&mut self, now: Time, transfer: Transfer, keep: bool, content: M) {
        if self.sent.is_empty() {
            self.stalled = now;
        }
        self.unkept += usize::from(!keep);
        self.sent.push(Message { transfer, keep, content });
    }

    pub(super) fn session(&self) -> Session {
        self.session
    }

    /// Whether nothing waits.
    pub(super) fn is_idle(&self) -> bool {
        self.sent.is_empty()
    }

    /// How many messages do.
    pub(super) fn waiting(&self) -> usize {
        self.sent.len()
    }

    pub(super) fn kept(&self) -> impl Iterator<Item = (Transfer, M)> {
        let kept = self.sent.iter().filter(|message| message.keep);
        kept.map(|message| (message.transfer, message.content.clone()))
    }

    /// When something is due.
    pub(super) fn alarm(&self, settings: &Settings) -> Option<Time> {
        let give_up = if self.unkept > 0 { self.stalled + settings.give_up } else { Time::END };
        (!self.sent.is_empty()).then(|| self.due.min(give_up))
    }

    /// Sends what may be sent now.
    pub(super) fn advance(&mut self, now: Time, context: &mut Context<'_>, out: &mut Vec<Effect<M>>) {
        match self.state {
            State::Idle if !self.sent.is_empty() => {
                self.state = State::Opening;
                self.wait = context.settings.retry;
                self.repeat(now, context, out);
            }
            State::Established(boot) => {
                if self.sent.oldest().is_none() && !self.sent.is_empty() {
                    self.wait = context.settings.retry;
                    self.rearm(now, context);
                }
                while let Some((seq, message)) = self.sent.transmit_next(now, context.settings.window) {
                    out.push(message.transmitted(self.session, boot, seq, context));
                }
            }
            State::Idle | State::Opening => {}
        }
    }

    pub(super) fn accepted(
        &mut self,
        now: Time,
        session: Session,
        boot: Boot,
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
        boot: Boot,
        next: u64,
        context: &mut Context<'_>,
        out: &mut Vec<Effect<M>>,
    ) {
        if session != self.session || self.state != State::Established(boot) {
            return;
        }
        let Some(arrived) = self.sent.acknowledged(next) else { return };
        for message in arrived {
            self.unkept -= usize::from(!message.keep);
            out.push(Effect::Delivered { to: context.peer, transfer: message.transfer });
        }
        self.progress(now, context);
        if self.sent.first() < self.recover {
            self.transmit_again(now, boot, context, out);
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
        if !self.sent.is_empty() && !self.hinted {
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
        let next = Session { counter: self.session.counter.saturating_add(1), ..self.session };
        let over = mem::replace(self, Self::new(next));
        for Pending { content: Message { transfer, keep, content: message }, tries, .. } in over.sent.into_pending() {
            if keep {
                self.push(now, transfer, keep, message);
            } else if tries > 0 {
                out.push(Effect::Doubt { to, transfer, message });
            } else {
                out.push(Effect::Undelivered { to, transfer, message });
            }
        }
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
            State::Established(boot) => {
                self.recover = self.sent.next();
                self.transmit_again(now, boot, context, out);
            }
        }
    }

    fn transmit_again(&mut self, now: Time, boot: Boot, context: &Context<'_>, out: &mut Vec<Effect<M>>) {
        if let Some((seq, message)) = self.sent.transmit_again(now) {
            out.push(message.transmitted(self.session, boot, seq, context));
        }
    }
}

impl<M: Clone> Message<M> {
    fn transmitted(&self, session: Session, boot: Boot, seq: u64, context: &Context<'_>) -> Effect<M> {
        let kept = self.keep.then_some(self.transfer);
        let segment = Segment::Data { session, boot, seq, kept, message: self.content.clone() };
        Effect::Transmit { to: context.peer, segment }
    }
}

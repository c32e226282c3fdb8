//! The receiving end of a session.

use super::{Context, Effect, Segment, Session};
use crate::Transfer;
use crate::window::InOrder;

#[derive(Clone, Debug)]
pub(super) struct Incoming<M> {
    /// The latest that its sender has opened.
    session: Option<Session>,
    /// What was received in it.
    received: InOrder<(Option<Transfer>, M)>,
    /// The last kept message that was delivered, in whatever session.
    pub(super) last_kept: Option<Transfer>,
}

/// Tells who this node is in this life: an answer to who opens a session, and to who speaks to a former life.
pub(super) fn identify<M>(session: Session, context: &Context<'_>, out: &mut Vec<Effect<M>>) {
    let segment = Segment::Accept { session, boot: context.boot };
    out.push(Effect::Transmit { to: context.peer, segment });
}

impl<M> Incoming<M> {
    pub(super) fn new() -> Self {
        Self { session: None, received: InOrder::new(), last_kept: None }
    }

    /// Whether its sender has never said anything.
    pub(super) fn is_blank(&self) -> bool {
        self.session.is_none() && self.last_kept.is_none()
    }

    pub(super) fn open(&mut self, session: Session, context: &Context<'_>, out: &mut Vec<Effect<M>>) {
        if self.session.is_some_and(|known| session < known) {
            return; // long over
        }
        if self.session != Some(session) {
            (self.session, self.received) = (Some(session), InOrder::new());
        }
        identify(session, context, out);
    }

    pub(super) fn take(
        &mut self,
        session: Session,
        seq: u64,
        kept: Option<Transfer>,
        message: M,
        context: &Context<'_>,
        out: &mut Vec<Effect<M>>,
    ) {
        if self.session != Some(session) {
            return; // long over
        }
        self.received.take(seq, (kept, message), context.settings.window, |(kept, message)| {
            let repeated = kept.is_some_and(|transfer| self.last_kept.is_some_and(|last| transfer <= last));
            if !repeated {
                self.last_kept = kept.or(self.last_kept);
                out.push(Effect::Deliver { from: context.peer, message });
            }
        });
        let segment = Segment::Ack { session, boot: context.boot, next: self.received.delivered() };
        out.push(Effect::Transmit { to: context.peer, segment });
    }
}

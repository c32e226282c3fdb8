//! The receiving end of a session.

use std::collections::BTreeMap;

use super::{Context, Effect, Segment, Session, Transfer};

#[derive(Clone, Debug)]
pub(super) struct Incoming<M> {
    /// The latest that its sender has opened.
    session: Option<Session>,
    next: u64,
    /// What has overtaken others.
    early: BTreeMap<u64, (Option<Transfer>, M)>,
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
        Self { session: None, next: 0, early: BTreeMap::new(), last_kept: None }
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
            (self.session, self.next) = (Some(session), 0);
            self.early.clear();
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
        if seq >= self.next && seq - self.next < context.settings.window.max(1) as u64 {
            self.early.entry(seq).or_insert((kept, message));
        }
        while let Some((kept, message)) = self.early.remove(&self.next) {
            self.next += 1;
            let repeated = kept.is_some_and(|transfer| self.last_kept.is_some_and(|last| transfer <= last));
            if !repeated {
                self.last_kept = kept.or(self.last_kept);
                out.push(Effect::Deliver { from: context.peer, message });
            }
        }
        let segment = Segment::Ack { session, boot: context.boot, next: self.next };
        out.push(Effect::Transmit { to: context.peer, segment });
    }
}

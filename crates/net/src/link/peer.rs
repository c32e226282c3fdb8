//! One neighbour, or former neighbour: how a link to it forms, lives and breaks.

#[cfg(test)]
mod tests;

use driftlock_protocol::{Incarnation, NodeId};

use super::channel::Channel;
use super::patience::Patience;
use super::purpose::{Mark, meet};
use super::settings::from_ms;
use super::{CallId, Effect, Frame, Head, Hello, Part, Settings};
use crate::beacon::Hearing;
use crate::custody::{Custody, Doubt, Kept, Statement};
use crate::parcel::Resource;
use crate::window::Pending;
use crate::{Boot, Span, Time, Transfer};

/// So many hellos in a row that do not name a link say that it is over there. One may have been under way when the link
/// came up.
const HELLOS_UNNAMED: u32 = 2;
/// A link that is given up has carried nothing for so long, at first.
const QUIET_MS: u32 = 1_000;
/// Who does not answer calls is called after at most so many doublings of its interval.
const CALL_DOUBLINGS_MAX: u32 = 4;

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
    pub(super) patience: Patience,
    pub(super) is_kept: fn(&M) -> bool,
    /// What it wants links for, in growing order.
    pub(super) resources: Vec<Resource>,
    pub(super) mark: Mark,
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
    fn first<M>(now: Time, own: &mut Own<M>) -> Self {
        Self { tries: 1, again_at: now + own.patience.wait(0, &own.settings) }
    }

    /// The next try, if it is due; an error when there were enough.
    fn repeat<M>(&mut self, now: Time, own: &mut Own<M>) -> Option<Result<(), ()>> {
        if now < self.again_at {
            return None;
        }
        own.patience.late(now, &own.settings);
        if self.tries >= own.settings.tries_max {
            return Some(Err(()));
        }
        *self = Self { tries: self.tries + 1, again_at: now + own.patience.wait(self.tries, &own.settings) };
        Some(Ok(()))
    }
}

/// Calls that came to nothing.
#[derive(Clone, Copy, Debug, Default)]
struct InVain {
    count: u32,
    /// Not before this is there another.
    again_at: Time,
}

/// What a call and its answer say besides.
pub(super) struct Said<M> {
    /// What the sender has had.
    pub(super) statement: Statement,
    /// What the receiver may not have had.
    pub(super) doubts: Vec<Doubt<M>>,
    /// What the sender wants links for.
    pub(super) resources: Vec<Resource>,
}

/// Who knows that a link is over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Known {
    /// The peer has said so, or has shown it.
    ToPeer,
    /// Only this end does.
    Here,
}

/// One of those that a node hears, or has to remember.
#[derive(Clone, Debug)]
pub(super) struct Peer<M> {
    id: NodeId,
    pub(super) hearing: Option<Hearing>,
    /// Whether it was told, when it called, that there is to be no link, and nothing has changed about that since.
    pub(super) refused: bool,
    /// What it wants links for, as it has said when it called or answered last.
    pub(super) resources: Vec<Resource>,
    /// When it is gone, if only frames without a promise of the next one were heard of it, and no hello.
    glimpsed_until: Option<Time>,
    /// The greatest incarnation that this end knows of between the two.
    last: Incarnation,
    /// The last call that was answered.
    call: Option<CallId>,
    state: State<M>,
    in_vain: InVain,
    /// When it was last asked whether it is there.
    probed_at: Time,
    /// Since when others make up for the link.
    spared_since: Option<Time>,
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
            refused: false,
            resources: Vec::new(),
            glimpsed_until: None,
            last: kept.last,
            call: kept.call,
            state: State::Down,
            in_vain: InVain::default(),
            probed_at: Time::ZERO,
            spared_since: None,
            custody: Custody::new(now, kept.had, kept.doubts, &own.settings),
            announced: false,
            alarm: None,
        }
    }

    /// What must be remembered of it. A link that is up would break in a restart.
    pub(super) fn kept(&self, own: &Own<M>) -> Kept<M> {
        let mut doubts = self.custody.doubts.clone();
        if let State::Up(channel) = &self.state {
            doubts.extend(channel.sent.iter().filter_map(|(transfer, message)| {
                let transfer = Transfer { boot: own.boot, number: (*transfer)? };
                Some(Doubt { transfer, incarnation: channel.incarnation, to: channel.boot, message: message.clone() })
            }));
        }
        Kept { peer: self.id, last: self.last, call: self.call, had: self.custody.had, doubts }
    }

    /// Nothing of it has to be remembered but that incarnations have come so far.
    pub(super) fn forgettable(&self) -> Option<Incarnation> {
        let nothing = self.hearing.is_none()
            && self.glimpsed_until.is_none()
            && matches!(self.state, State::Down)
            && self.custody.had.is_none()
            && self.custody.doubts.is_empty();
        nothing.then_some(self.last)
    }

    pub(super) fn is_well(&self) -> bool {
        self.hearing.as_ref().is_some_and(Hearing::is_well)
    }

    /// Both hear each other well, as far as this end knows.
    pub(super) fn is_mutual(&self, now: Time, own: &Own<M>) -> bool {
        self.incarnation().is_some()
            || self.hearing.as_ref().is_some_and(|hearing| hearing.is_mutual(now, &own.settings))
    }

    /// Of the resources that it wants links for.
    pub(super) fn mark(&self) -> Mark {
        self.hearing.as_ref().map_or(Mark::NONE, |hearing| hearing.mark)
    }

    /// Whether both want any links.
    pub(super) fn wants_links(&self, own: &Own<M>) -> bool {
        own.mark != Mark::NONE && self.mark() != Mark::NONE
    }

    /// Whether it is for this end to call it, now.
    pub(super) fn is_to_be_called(&self, now: Time, own: &Own<M>) -> bool {
        let may_call = own.me < self.id && matches!(self.state, State::Down) && self.in_vain.again_at <= now;
        let is_spared = || self.hearing.as_ref().is_some_and(|hearing| hearing.spares);
        may_call && self.wants_links(own) && self.is_mutual(now, own) && !is_spared()
    }

    /// To whom it says that it has links.
    pub(super) fn its_links(&self) -> &[NodeId] {
        self.hearing.as_ref().map_or(&[], |hearing| &hearing.links)
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
        channel.into_iter().flat_map(|channel| channel.sent.iter().map(|(_, message)| message))
    }

    /// When something is due.
    pub(super) fn due(&self, own: &Own<M>) -> Option<Time> {
        let hearing = self.hearing.as_ref();
        let (state, probe) = match &self.state {
            State::Down => (None, None),
            State::Calling { attempt, .. } | State::Answering { attempt, .. } => (Some(attempt.again_at), None),
            State::Up(channel) => {
                (channel.due(), hearing.map(|hearing| hearing.probe_at(self.probed_at, &own.settings)))
            }
        };
        let silent = self.silent_at(own);
        [state, probe, silent, self.custody.offer_at()].into_iter().flatten().min()
    }

    /// When it is gone, unless it is heard before.
    fn silent_at(&self, own: &Own<M>) -> Option<Time> {
        self.hearing.as_ref().map(|hearing| hearing.silent_at(&own.settings)).or(self.glimpsed_until)
    }

    /// When it is to be told what has arrived, unless a message does so before.
    pub(super) fn acknowledge_at(&self) -> Option<Time> {
        match &self.state {
            State::Up(channel) => channel.acknowledge_at(),
            _ => None,
        }
    }

    /// What has arrived, for a frame that is transmitted now, if it is owed that.
    pub(super) fn acknowledges(&mut self) -> Option<(NodeId, Head)> {
        match &mut self.state {
            State::Up(channel) if channel.acknowledge_at().is_some() => Some((self.id, channel.acknowledges())),
            _ => None,
        }
    }
}

/// Frames and time.
impl<M: Clone> Peer<M> {
    /// A frame has arrived over the radio. Tells whether it is of a neighbour whose hellos are heard.
    pub(super) fn sign_of_life(&mut self, now: Time, out: &mut Vec<Effect<M>>) -> bool {
        let Some(hearing) = &mut self.hearing else { return false };
        if hearing.sign_of_life(now) {
            out.push(Effect::Heard { peer: self.id, boot: hearing.boot });
        }
        true
    }

    /// It has said no hello yet, and something else. It is given the time that one has whose hellos are as rare as
    /// those of this node, at this `interval`. Tells whether nothing was heard of it before.
    pub(super) fn glimpse(&mut self, now: Time, interval: Span, own: &Own<M>) -> bool {
        self.glimpsed_until.replace(now + own.settings.silence(interval)).is_none()
    }

    /// A hello. Who names a link that is not there, or does not name one that is, has missed something.
    pub(super) fn hello(&mut self, now: Time, hello: &Hello, own: &mut Own<M>, out: &mut Vec<Effect<M>>) {
        match &mut self.hearing {
            Some(hearing) if hello.boot < hearing.boot => return,
            Some(hearing) if hello.boot == hearing.boot => {
                if hearing.hello(now, hello, own.me, &own.settings) {
                    out.push(Effect::Heard { peer: self.id, boot: hello.boot });
                }
            }
            hearing => {
                *hearing = Some(Hearing::new(now, hello, &own.settings));
                self.glimpsed_until = None;
                out.push(Effect::Heard { peer: self.id, boot: hello.boot });
                if self.boot_of_state().is_some_and(|boot| boot < hello.boot) {
                    self.fall(now, Known::ToPeer, own, out);
                }
            }
        }
        match &self.state {
            State::Up(_) if self.hearing.as_ref().is_some_and(|hearing| hearing.unnamed >= HELLOS_UNNAMED) => {
                self.fall(now, Known::Here, own, out);
            }
            State::Down if hello.links.contains(&own.me) => {
                self.transmit(Frame::Reset { incarnation: self.last.max(own.floor) }, out);
            }
            _ => {}
        }
    }

    /// Others make up for the link, or not. One that neither end needs is given up, in a quiet moment: the longer it is
    /// not needed, the shorter that may be, as under load none is long.
    pub(super) fn spare(&mut self, now: Time, spared: bool, own: &mut Own<M>, out: &mut Vec<Effect<M>>) {
        let State::Up(channel) = &self.state else { return };
        if !spared {
            self.spared_since = None;
            return;
        }
        let since = *self.spared_since.get_or_insert(now);
        let turns = (now - since).0 / from_ms(own.settings.spare_ms).0.max(1);
        let quiet = from_ms(QUIET_MS) / (1 << turns.saturating_sub(1).min(63));
        if turns >= 1 && channel.is_quiet(now, quiet) {
            self.fall(now, Known::Here, own, out);
        }
    }

    /// Calls it, which it is to be.
    pub(super) fn start_calling(&mut self, now: Time, own: &mut Own<M>, out: &mut Vec<Effect<M>>) {
        let number = self.next_number(own);
        self.last = number;
        let call = CallId { boot: own.boot, number };
        self.state = State::Calling { call, attempt: Attempt::first(now, own) };
        self.call_out(call, own, out);
    }

    fn call_out(&self, call: CallId, own: &Own<M>, out: &mut Vec<Effect<M>>) {
        let (statement, doubts) = (self.statement(own), self.custody.doubts.clone());
        self.transmit(Frame::Call { call, statement, doubts, resources: own.resources.clone() }, out);
    }

    /// The caller wants a link, so whatever was between the two is over there.
    pub(super) fn called(
        &mut self,
        now: Time,
        call: CallId,
        Said { statement, doubts, resources }: Said<M>,
        spared: bool,
        own: &mut Own<M>,
        out: &mut Vec<Effect<M>>,
    ) {
        let heard = self.is_well() && self.is_heard_in(call.boot);
        if own.me < self.id || !heard || self.call.is_some_and(|known| call < known) {
            return;
        }
        if self.call == Some(call) {
            return self.answer(own, out);
        }
        self.fall(now, Known::ToPeer, own, out);
        self.resources = resources;
        self.refused = spared || !meet(&self.resources, &own.resources);
        if self.refused {
            self.last = self.last.max(call.number);
            return self.transmit(Frame::Reset { incarnation: call.number }, out);
        }
        self.custody.settle(self.id, &statement, out);
        self.custody.take(self.id, own.since, doubts, out);
        if let Some(hearing) = &mut self.hearing {
            hearing.listed(now);
        }
        self.call = Some(call);
        self.last = self.next_number(own).max(call.number);
        let (boot, incarnation) = (call.boot, self.last);
        self.state = State::Answering { boot, incarnation, attempt: Attempt::first(now, own) };
        self.answer(own, out);
    }

    /// Says which incarnation the caller's link has, as long as the caller does not seem to know.
    fn answer(&mut self, own: &Own<M>, out: &mut Vec<Effect<M>>) {
        if let (State::Answering { incarnation, .. }, Some(call)) = (&self.state, self.call) {
            let (incarnation, statement) = (*incarnation, self.statement(own));
            let (doubts, resources) = (self.custody.doubts.clone(), own.resources.clone());
            self.transmit(Frame::Answer { call, incarnation, statement, doubts, resources }, out);
        }
    }

    /// The answer to a call, perhaps to an old one.
    pub(super) fn answered(
        &mut self,
        now: Time,
        call: CallId,
        incarnation: Incarnation,
        Said { statement, doubts, resources }: Said<M>,
        own: &mut Own<M>,
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
                self.resources = resources;
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
        own: &mut Own<M>,
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
        if data.is_none() {
            channel.is_missing(now, head.acknowledges);
        }
        channel.acknowledged(now, head.acknowledges, own, out);
        if let Some((sequence, transfer, message)) = data {
            channel.data(now, sequence, (transfer, message), own, out);
            let had = channel.had.map(|number| Transfer { boot: head.boot, number });
            self.custody.had = self.custody.had.max(had);
        }
    }

    /// It asks whether this node is there.
    pub(super) fn probed(&mut self, now: Time, head: Head, own: &mut Own<M>, out: &mut Vec<Effect<M>>) {
        self.exchange(now, head, None, own, out);
        if let State::Up(channel) = &mut self.state {
            channel.acknowledge(out);
        }
    }

    /// The peer is in no incarnation up to this one, and will never be again.
    pub(super) fn reset(&mut self, now: Time, incarnation: Incarnation, own: &mut Own<M>, out: &mut Vec<Effect<M>>) {
        let mine = match &self.state {
            State::Up(channel) => channel.incarnation,
            State::Answering { incarnation, .. } => *incarnation,
            State::Calling { call, .. } => call.number,
            State::Down => return,
        };
        if mine <= incarnation {
            self.fall(now, Known::ToPeer, own, out);
        }
    }

    /// The peer has left this incarnation, and offers what this end may not have had. So it is over here too, before
    /// anything is taken.
    pub(super) fn offered(
        &mut self,
        now: Time,
        incarnation: Incarnation,
        doubts: Vec<Doubt<M>>,
        own: &mut Own<M>,
        out: &mut Vec<Effect<M>>,
    ) {
        self.reset(now, incarnation, own, out);
        if self.incarnation().is_none() {
            self.custody.take(self.id, own.since, doubts, out);
            self.reach(now, Frame::Verdict(self.statement(own)), own, out);
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
        own: &mut Own<M>,
        out: &mut Vec<Effect<M>>,
    ) {
        if transfer.is_none() {
            self.give_up_if_full(now, own, out);
        }
        match &mut self.state {
            State::Up(channel) => channel.send(now, transfer, message, own, out),
            _ => out.push(Effect::Undelivered { to: self.id, message }),
        }
    }

    /// A message of this node without permits that goes to others too: its part of the frame, if it is to be
    /// transmitted now.
    pub(super) fn share(&mut self, now: Time, message: &M, own: &mut Own<M>, out: &mut Vec<Effect<M>>) -> Option<Part> {
        self.give_up_if_full(now, own, out);
        if let State::Up(channel) = &mut self.state {
            return channel.share(now, message.clone(), own);
        }
        out.push(Effect::Undelivered { to: self.id, message: message.clone() });
        None
    }

    /// A neighbour that takes nothing for so long that no more messages can wait for it is none.
    fn give_up_if_full(&mut self, now: Time, own: &Own<M>, out: &mut Vec<Effect<M>>) {
        if let State::Up(channel) = &self.state
            && channel.sent.len() >= own.settings.queue_max as usize
        {
            self.fall(now, Known::Here, own, out);
        }
    }

    /// Does what is due, but for acknowledgements, which are told to several together.
    pub(super) fn woken(&mut self, now: Time, own: &mut Own<M>, out: &mut Vec<Effect<M>>) {
        if self.silent_at(own).is_some_and(|at| at <= now) {
            self.falls_silent(now, own, out);
        }
        match &mut self.state {
            State::Down => {}
            State::Calling { call, attempt } => {
                let call = *call;
                match attempt.repeat(now, own) {
                    Some(Ok(())) => self.call_out(call, own, out),
                    Some(Err(())) => self.fall(now, Known::Here, own, out),
                    None => {}
                }
            }
            State::Answering { attempt, .. } => match attempt.repeat(now, own) {
                Some(Ok(())) => self.answer(own, out),
                Some(Err(())) => self.fall(now, Known::Here, own, out),
                None => {}
            },
            State::Up(channel) => {
                let mut asks = channel.woken(now, own, out);
                if let Some(hearing) = &mut self.hearing {
                    if hearing.probe_at(self.probed_at, &own.settings) <= now {
                        (self.probed_at, asks) = (now, true);
                        channel.probe(out);
                    }
                    if asks {
                        hearing.ask(now);
                    }
                }
            }
        }
        if let Some((incarnation, doubts)) = self.custody.offer(now, &own.settings) {
            self.reach(now, Frame::Offer { incarnation, doubts }, own, out);
        }
    }
}

/// Up and down.
impl<M: Clone> Peer<M> {
    /// It is gone. One with a link was asked before whether it is there, and is forgotten. Of another no more than
    /// hellos may be lost, so what they have said is remembered for a while, and links that they made up for need not
    /// form.
    fn falls_silent(&mut self, now: Time, own: &Own<M>, out: &mut Vec<Effect<M>>) {
        self.glimpsed_until = None;
        let was_silent = self.hearing.as_mut().is_some_and(Hearing::falls_silent);
        if was_silent || self.incarnation().is_some() {
            self.hearing = None;
        }
        if !was_silent {
            out.push(Effect::Silent { peer: self.id });
            self.fall(now, Known::Here, own, out);
        }
    }

    fn rise(&mut self, now: Time, boot: Boot, incarnation: Incarnation, own: &Own<M>, out: &mut Vec<Effect<M>>) {
        // Who calls and is up has heard the answer, and with it all that was in doubt at this end.
        self.custody.settle_all(self.id, out);
        self.state = State::Up(Box::new(Channel::new(now, self.id, boot, incarnation, own.boot)));
        self.refused = false;
        (self.in_vain, self.probed_at, self.spared_since) = (InVain::default(), now, None);
        if let Some(hearing) = &mut self.hearing {
            hearing.listed(now);
            hearing.unnamed = 0;
        }
        out.push(Effect::Up { peer: self.id, incarnation });
    }

    /// This node wants links for other things than before.
    pub(super) fn part(&mut self, now: Time, own: &Own<M>, out: &mut Vec<Effect<M>>) {
        self.fall(now, Known::Here, own, out);
    }

    /// The link, or the attempt to form one, is over. What was sent and not acknowledged is sorted out.
    fn fall(&mut self, now: Time, known: Known, own: &Own<M>, out: &mut Vec<Effect<M>>) {
        let channel = match std::mem::replace(&mut self.state, State::Down) {
            State::Up(channel) => channel,
            State::Calling { .. } => return self.called_in_vain(now),
            State::Down | State::Answering { .. } => return,
        };
        let incarnation = channel.incarnation;
        out.push(Effect::Down { peer: self.id, incarnation });
        if known == Known::Here {
            self.transmit(Frame::Reset { incarnation }, out);
        }
        let mut doubts = Vec::new();
        for Pending { content: (transfer, message), tries, .. } in channel.sent.into_pending() {
            let to = self.id;
            if tries == 0 {
                out.push(Effect::Undelivered { to, message });
            } else if let Some(number) = transfer {
                let transfer = Transfer { boot: own.boot, number };
                doubts.push(Doubt { transfer, incarnation, to: channel.boot, message });
                out.push(Effect::Doubt { to, transfer });
            } else {
                out.push(Effect::Dropped { to, message });
            }
        }
        self.custody.doubt(now, doubts, &own.settings);
    }

    /// The next call comes after one interval of its hellos, then after twice as long, and so on.
    fn called_in_vain(&mut self, now: Time) {
        let interval = self.hearing.as_ref().map_or(Span::ZERO, Hearing::interval);
        let wait = interval * (1 << self.in_vain.count.min(CALL_DOUBLINGS_MAX));
        self.in_vain = InVain { count: self.in_vain.count.saturating_add(1), again_at: now + wait };
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

    /// Over the radio if the two hear each other, though they have no link, or over a path.
    fn reach(&self, now: Time, frame: Frame<M>, own: &Own<M>, out: &mut Vec<Effect<M>>) {
        if self.is_mutual(now, own) {
            self.transmit(frame, out);
        } else {
            out.push(Effect::Route { to: self.id, frame });
        }
    }

    fn transmit(&self, frame: Frame<M>, out: &mut Vec<Effect<M>>) {
        out.push(Effect::now(Some(self.id), frame));
    }
}

//! Changes of the layer below, and all that comes of them.

use std::collections::BTreeMap;
use std::mem;

use driftlock_net::Time;
use driftlock_protocol::ideal::{Change, Course, Cut, Fate, Ideal, News};
use driftlock_protocol::{Incarnation, Input, Node, NodeId, Protocol, View, carries_permits};

use super::{Step, Timed, World};
use crate::queue::Event;

/// A message that has to find another way because its link has failed takes as long as so many others.
const SETTLING_DELAYS: usize = 10;

/// Changes that are to come because of others: events have no room for them.
#[derive(Default)]
pub(super) struct Following {
    changes: BTreeMap<u32, (Change, Incarnation)>,
    count: u32,
}

impl Following {
    /// The number of the event that makes this change, which is about something of this incarnation.
    fn add(&mut self, change: Change, of: Incarnation) -> u32 {
        self.count = self.count.wrapping_add(1);
        self.changes.insert(self.count, (change, of));
        self.count
    }
}

/// What returns to its sender, which sent it to this node.
type Returned<M> = (NodeId, NodeId, M);

impl<P: Protocol> World<P> {
    /// The layer below changes. What is in flight on a link that fails by it meets this fate.
    pub fn change(&mut self, change: Change, fate: Fate) -> Step<()> {
        let news = self.apply(change);
        self.take_place(news, fate)
    }

    /// What comes of a change.
    pub(super) fn apply(&mut self, change: Change) -> Vec<News<P::View>> {
        let (mut news, stays) = (mem::take(&mut self.news), &mut self.stays);
        self.ideal.apply(change, &mut |_| stays.draw(), &mut news);
        news
    }

    /// A change that follows from an earlier one happens, if it is still to come.
    pub(super) fn come_about(&mut self, number: u32) -> Step<()> {
        let Some((change, of)) = self.following.changes.remove(&number) else { return Ok(()) };
        if self.ideal.is_to_come(change, of) { self.change(change, Fate::Drained) } else { Ok(()) }
    }

    /// Carries out what comes of a change. Until all have heard of it, and what was in flight is where it belongs, the
    /// whole is not sound: it is again after the last step only.
    pub(super) fn take_place(&mut self, mut all: Vec<News<P::View>>, fate: Fate) -> Step<()> {
        let checked = mem::replace(&mut self.checked, false);
        let (mut returned, mut back) = (Vec::new(), None);
        for news in all.drain(..) {
            match news {
                // One that is back hears of the others at once.
                News::Tells(node, view) if back == Some(node) && view.hints_at().is_some() => {}
                News::Tells(node, view) => self.let_hear(node, view)?,
                News::Cut(from, to, cut) => self.cut(from, to, cut, fate, &mut returned),
                News::Silenced(node) => {
                    for Timed { message, .. } in self.channels.silence(node) {
                        self.meter.landed(P::permits(&message));
                    }
                }
                News::Settles(from, to) => self.deliver_late(from, to, Time::END)?,
                News::Crashed(node) => {
                    self.end_applications(node);
                    self.stop(node);
                }
                News::Killed(node) => self.killed(node),
                News::Wiped(node) => {
                    self.lives.count_disk_loss();
                    self.outlive(node);
                    self.stop(node);
                }
                News::Back(node) => {
                    self.come_back(node)?;
                    back = Some(node);
                }
                News::Follows(change, of) => self.let_follow(change, of),
                News::Shows(sight) => {
                    if let Some((t, recorder)) = self.recorder() {
                        recorder.sight(t, sight);
                    }
                }
            }
        }
        self.news = all;
        for (from, to, message) in returned {
            self.input(from, Input::Undelivered { to, message })?;
        }
        self.checked = checked;
        self.check()?;
        back.map_or(Ok(()), |node| self.resumed(node))
    }

    /// The layer tells a node something: what is a hint, perhaps not, or wrongly.
    fn let_hear(&mut self, node: NodeId, view: P::View) -> Step<()> {
        if let Some((peer, life)) = view.hints_at() {
            return self.hint(node, peer, life);
        }
        let view = self.as_heard(view);
        self.tell(node, view)
    }

    fn let_follow(&mut self, change: Change, of: Incarnation) {
        let Course::Follows { delays } = change.kind.course else { return };
        let number = self.following.add(change, of);
        self.schedule_drawn(f64::from(delays), Event::Follow { number });
    }

    /// What is on its way from one node to another meets its end, or outlives its link.
    fn cut(&mut self, from: NodeId, to: NodeId, cut: Cut, fate: Fate, returned: &mut Vec<Returned<P::Message>>) {
        let outlives = |timed: &Timed<P::Message>| match cut {
            Cut::Failed(_) => false,
            Cut::Outlived => carries_permits::<P>(&timed.message),
            Cut::Kept => true,
        };
        for Timed { message, .. } in self.channels.close(from, to, outlives) {
            match cut {
                Cut::Failed(of) if fate == Fate::Settled && carries_permits::<P>(&message) => {
                    self.go_on(from, to, of, message);
                    continue;
                }
                Cut::Failed(_) if fate == Fate::Lost => self.meter.lost(P::permits(&message)),
                _ => {}
            }
            self.meter.landed(P::permits(&message));
            if matches!(cut, Cut::Failed(_)) && fate == Fate::Returned {
                returned.push((from, to, message));
            }
        }
    }

    /// A message of a link that has failed finds another way, which takes longer.
    fn go_on(&mut self, from: NodeId, to: NodeId, incarnation: Incarnation, message: P::Message) {
        let last = self.channels.late(from, to).next_back().map_or(self.now, |last| last.arrives);
        let delays = (0..SETTLING_DELAYS).map(|_| self.delay.sample(&mut self.delays));
        let arrives = delays.fold(self.now, |arrives, delay| arrives + delay).max(last);
        self.channels.go_on(from, to, incarnation, Timed { message, arrives });
        self.queue.schedule(arrives, Event::Arrival { from, to, incarnation });
    }

    /// What has found another way and is due by then arrives.
    pub(super) fn deliver_late(&mut self, from: NodeId, to: NodeId, by: Time) -> Step<()> {
        let is_due = |world: &Self| world.channels.late(from, to).next().is_some_and(|late| late.arrives <= by);
        while is_due(self)
            && let Some((incarnation, Timed { message, .. })) = self.channels.arrive_late(from, to)
        {
            self.meter.landed(P::permits(&message));
            self.input(to, Input::Message { from, incarnation, message })?;
        }
        Ok(())
    }

    /// What a node sends over a link whose other end is gone: it is lost, but for permits, which arrive late.
    pub(super) fn send_in_vain(&mut self, from: NodeId, to: NodeId, of: Incarnation, message: P::Message) {
        if carries_permits::<P>(&message) {
            self.go_on(from, to, of, message);
        } else {
            self.meter.landed(P::permits(&message));
            if let Some((t, recorder)) = self.recorder() {
                recorder.loss(t, from, to, &message);
            }
        }
    }

    /// Everything that a node knows is gone.
    fn stop(&mut self, node: NodeId) {
        self.die(node);
        self.replace(node, Node::blank(node, &self.charter));
    }
}

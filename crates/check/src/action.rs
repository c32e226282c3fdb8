//! What may happen next.

use std::fmt;

use driftlock_protocol::NodeId;
use driftlock_protocol::ideal::{Change, Course, Kind};

use crate::setup::NODES_MAX;

/// The most timers that a node may have armed: an action's number has room for no more.
pub(crate) const TIMERS_MAX: usize = 8;
/// The most demands that applications may choose from, for the same reason.
pub const DEMANDS_MAX: usize = 8;

/// The most messages that one may overtake at once, likewise.
pub(crate) const PAST_MAX: u8 = 4;

/// One event of the world. What is not a change of the layer below is the same over all layers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Action {
    /// The next message on its way from one node to another arrives.
    Deliver {
        /// The sender.
        from: NodeId,
        /// The receiver.
        to: NodeId,
    },
    /// The application returns what it uses.
    Release(NodeId),
    /// The armed timer of this number, in the order of the timers, fires.
    Timer(NodeId, u8),
    /// A paused node goes on.
    Resume(NodeId),
    /// A tick passes at all nodes.
    Tick,
    /// A tick passes at all nodes but this one, whose clock is slow.
    TickBut(NodeId),
    /// The application makes the demand of this number, in the order of [`crate::Setup::demands`].
    Request(NodeId, u8),
    /// The application withdraws its request.
    Cancel(NodeId),
    /// A node stops for a while.
    Pause(NodeId),
    /// An application that a node had let in before it was killed shows what it was granted.
    Show(NodeId),
    /// No such application is there any more.
    Gone(NodeId),
    /// The next message on its way from one node to another is lost.
    Lose {
        /// The sender.
        from: NodeId,
        /// The receiver.
        to: NodeId,
    },
    /// A message on its way from one node to another arrives before those that were sent before it.
    Overtake {
        /// The sender.
        from: NodeId,
        /// The receiver.
        to: NodeId,
        /// How many of those there are.
        past: u8,
    },
    /// The layer below changes.
    Change(Change),
}

impl Action {
    /// Whether it will happen in time if it stays possible: messages arrive, applications return what they use, time
    /// passes and pauses end, and what follows from changes of the layer below follows.
    pub fn is_fair(self) -> bool {
        match self {
            Self::Deliver { .. } | Self::Timer(..) | Self::Resume(_) | Self::Tick => true,
            Self::Release(_) | Self::Gone(_) => true,
            Self::Change(change) => matches!(change.kind.course, Course::Follows { .. }),
            _ => false,
        }
    }

    /// Whether it is a change that must cease before anybody can count on being served.
    pub fn is_disturbance(self) -> bool {
        let expected = matches!(self, Self::Request(..) | Self::TickBut(_) | Self::Show(_));
        !self.is_fair() && !expected
    }
}

/// The numbers of one sort of actions.
#[derive(Clone, Copy)]
struct Block {
    start: u16,
    size: u16,
}

impl Block {
    /// The numbers that come next.
    const fn then(self, size: u16) -> Self {
        Self { start: self.start + self.size, size }
    }

    const fn end(self) -> u16 {
        self.start + self.size
    }
}

#[allow(clippy::cast_possible_truncation)] // 8
const NODES: u16 = NODES_MAX as u16;
const PAIRS: u16 = NODES * NODES;

const DELIVER: Block = Block { start: 0, size: PAIRS };
const LOSE: Block = DELIVER.then(PAIRS);
const TIMER: Block = LOSE.then(PAIRS);
const REQUEST: Block = TIMER.then(PAIRS);
const OVERTAKE: Block = REQUEST.then(PAST_MAX as u16 * PAIRS);
const RELEASE: Block = OVERTAKE.then(NODES);
const RESUME: Block = RELEASE.then(NODES);
const TICK_BUT: Block = RESUME.then(NODES);
const CANCEL: Block = TICK_BUT.then(NODES);
const PAUSE: Block = CANCEL.then(NODES);
const SHOW: Block = PAUSE.then(NODES);
const GONE: Block = SHOW.then(NODES);
const TICK: Block = GONE.then(1);
const CHANGES: Block = TICK.then(263);

/// A number for each action: those of the layer's changes are their places in the list of all changes of its kinds.
#[derive(Clone)]
pub(crate) struct Codes {
    kinds: &'static [&'static Kind],
    /// By number.
    actions: Vec<Action>,
}

impl Codes {
    /// How many numbers there are.
    pub(crate) const COUNT: u16 = CHANGES.end();

    /// For a layer with these kinds of changes.
    pub(crate) fn new(kinds: &'static [&'static Kind]) -> Self {
        let node = |number: u16| NodeId(u32::from(number % NODES));
        let row = |number: u16| NodeId(u32::from(number / NODES % NODES));
        let small = |number: u16| u8::try_from(number).expect("there are few");
        let block = |block: Block, make: &dyn Fn(u16) -> Action| (0..block.size).map(make).collect::<Vec<_>>();
        let own = [
            block(DELIVER, &|number| Action::Deliver { from: row(number), to: node(number) }),
            block(LOSE, &|number| Action::Lose { from: row(number), to: node(number) }),
            block(TIMER, &|number| Action::Timer(row(number), small(number % NODES))),
            block(REQUEST, &|number| Action::Request(row(number), small(number % NODES))),
            block(OVERTAKE, &|number| Action::Overtake {
                from: row(number),
                to: node(number),
                past: 1 + small(number / PAIRS),
            }),
            block(RELEASE, &|number| Action::Release(node(number))),
            block(RESUME, &|number| Action::Resume(node(number))),
            block(TICK_BUT, &|number| Action::TickBut(node(number))),
            block(CANCEL, &|number| Action::Cancel(node(number))),
            block(PAUSE, &|number| Action::Pause(node(number))),
            block(SHOW, &|number| Action::Show(node(number))),
            block(GONE, &|number| Action::Gone(node(number))),
            block(TICK, &|_| Action::Tick),
        ];
        let changes = Change::all(kinds, NODES_MAX).into_iter().map(Action::Change);
        let actions: Vec<_> = own.concat().into_iter().chain(changes).collect();
        assert!(actions.len() <= usize::from(Self::COUNT), "a layer has at most {} changes", CHANGES.size);
        Self { kinds, actions }
    }

    pub(crate) fn action(&self, code: u16) -> Action {
        self.actions[usize::from(code)]
    }

    pub(crate) fn code(&self, action: Action) -> u16 {
        #[allow(clippy::cast_possible_truncation)] // few nodes
        let at = |node: NodeId| node.0 as u16;
        let pair = |a: NodeId, b: NodeId| at(a) * NODES + at(b);
        match action {
            Action::Deliver { from, to } => DELIVER.start + pair(from, to),
            Action::Lose { from, to } => LOSE.start + pair(from, to),
            Action::Timer(node, timer) => TIMER.start + pair(node, NodeId(timer.into())),
            Action::Request(node, demand) => REQUEST.start + pair(node, NodeId(demand.into())),
            Action::Overtake { from, to, past } => OVERTAKE.start + PAIRS * u16::from(past - 1) + pair(from, to),
            Action::Release(node) => RELEASE.start + at(node),
            Action::Resume(node) => RESUME.start + at(node),
            Action::TickBut(node) => TICK_BUT.start + at(node),
            Action::Cancel(node) => CANCEL.start + at(node),
            Action::Pause(node) => PAUSE.start + at(node),
            Action::Show(node) => SHOW.start + at(node),
            Action::Gone(node) => GONE.start + at(node),
            Action::Tick => TICK.start,
            #[allow(clippy::cast_possible_truncation)] // few changes
            Action::Change(change) => CHANGES.start + change.number(self.kinds, NODES_MAX) as u16,
        }
    }
}

/// As scripts and transcripts have it: `msg 1>2`, `req 0` (`req 0.1` for the second demand of several), `down 0-2`.
impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Deliver { from, to } => write!(f, "msg {from}>{to}"),
            Self::Release(node) => write!(f, "rel {node}"),
            Self::Timer(node, 0) => write!(f, "timer {node}"),
            Self::Timer(node, timer) => write!(f, "timer {node}.{timer}"),
            Self::Resume(node) => write!(f, "resume {node}"),
            Self::Tick => write!(f, "tick"),
            Self::TickBut(node) => write!(f, "tick but {node}"),
            Self::Request(node, 0) => write!(f, "req {node}"),
            Self::Request(node, demand) => write!(f, "req {node}.{demand}"),
            Self::Cancel(node) => write!(f, "cancel {node}"),
            Self::Pause(node) => write!(f, "pause {node}"),
            Self::Show(node) => write!(f, "show {node}"),
            Self::Gone(node) => write!(f, "gone {node}"),
            Self::Lose { from, to } => write!(f, "lose {from}>{to}"),
            Self::Overtake { from, to, past } => write!(f, "pass {past} {from}>{to}"),
            Self::Change(change) => change.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use driftlock_protocol::ideal::{Ideal, Links, Neighbourhood};

    use super::*;

    #[test]
    fn every_action_has_a_code_of_its_own() {
        for kinds in [Links::KINDS, Neighbourhood::KINDS] {
            let codes = Codes::new(kinds);
            for (code, &action) in (0..).zip(&codes.actions) {
                assert_eq!(codes.code(action), code, "{action}");
            }
        }
    }
}

//! What may happen next.

use std::fmt;

use driftlock_protocol::NodeId;

/// The most timers that a node may have armed: an action's number has room for no more.
pub(crate) const TIMERS_MAX: usize = 8;
/// The most demands that applications may choose from, for the same reason.
pub const DEMANDS_MAX: usize = 8;

/// The most messages that one may overtake at once, likewise.
pub(crate) const PAST_MAX: u8 = 4;

/// One event of the world.
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
    /// A link fails.
    Fail(NodeId, NodeId),
    /// A link forms.
    Form(NodeId, NodeId),
    /// A node enters the neighbourhood.
    Join(NodeId),
    /// A member is told to leave the neighbourhood.
    Leave(NodeId),
    /// A member stops for good, and nobody is told.
    Crash(NodeId),
    /// A node is killed. On links it is back at once, with what it had stored: being down is the same as having no
    /// links and no requests.
    Kill(NodeId),
    /// A member that was killed is back, with what it had stored.
    Back(NodeId),
    /// A member is killed, and comes back for a new stay, with nothing.
    Wipe(NodeId),
    /// An application that a node had let in before it was killed shows what it was granted.
    Show(NodeId),
    /// No such application is there any more.
    Gone(NodeId),
    /// A node notices that a neighbour was killed.
    Miss {
        /// Who notices.
        node: NodeId,
        /// Who was killed.
        peer: NodeId,
    },
    /// A link that a restart has cut forms again.
    Mend(NodeId, NodeId),
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
}

impl Action {
    /// Whether it will happen in time if it stays possible: messages arrive, applications return what they use, time
    /// passes and pauses end, and what a restart has torn is whole again.
    pub fn is_fair(self) -> bool {
        let goes_on = matches!(self, Self::Deliver { .. } | Self::Timer(..) | Self::Resume(_) | Self::Tick);
        let ends_use = matches!(self, Self::Release(_) | Self::Gone(_));
        goes_on || ends_use || matches!(self, Self::Back(_) | Self::Miss { .. } | Self::Mend(..))
    }

    /// Whether it is a change that must cease before anybody can count on being served.
    pub fn is_disturbance(self) -> bool {
        let expected = matches!(self, Self::Request(..) | Self::TickBut(_) | Self::Show(_));
        !self.is_fair() && !expected
    }

    /// How many codes there are.
    pub(crate) const CODES: u16 = 832;

    /// A number for each action.
    pub(crate) fn code(self) -> u16 {
        let at = |node: NodeId| u16::try_from(node.0).expect("few nodes");
        let pair = |a: NodeId, b: NodeId| at(a) * 8 + at(b);
        match self {
            Self::Deliver { from, to } => pair(from, to),
            Self::Release(node) => 64 + at(node),
            Self::Resume(node) => 72 + at(node),
            Self::TickBut(node) => 80 + at(node),
            Self::Cancel(node) => 88 + at(node),
            Self::Pause(node) => 96 + at(node),
            Self::Join(node) => 104 + at(node),
            Self::Leave(node) => 112 + at(node),
            Self::Crash(node) => 120 + at(node),
            Self::Lose { from, to } => 128 + pair(from, to),
            Self::Timer(node, timer) => 192 + pair(node, NodeId(timer.into())),
            Self::Request(node, demand) => 256 + pair(node, NodeId(demand.into())),
            Self::Fail(a, b) => 320 + edge(a, b),
            Self::Form(a, b) => 350 + edge(a, b),
            Self::Tick => 380,
            Self::Overtake { from, to, past } => 384 + 64 * u16::from(past - 1) + pair(from, to),
            Self::Kill(node) => 640 + at(node),
            Self::Back(node) => 648 + at(node),
            Self::Wipe(node) => 656 + at(node),
            Self::Show(node) => 664 + at(node),
            Self::Gone(node) => 672 + at(node),
            Self::Mend(a, b) => 680 + edge(a, b),
            Self::Miss { node, peer } => 768 + pair(node, peer),
        }
    }

    pub(crate) fn of_code(code: u16) -> Self {
        let node = NodeId(u32::from(code % 8));
        let row = |start: u16| NodeId(u32::from((code - start) / 8));
        let number = u8::try_from(code % 8).expect("less than 8");
        match code {
            0..64 => Self::Deliver { from: row(0), to: node },
            64..72 => Self::Release(node),
            72..80 => Self::Resume(node),
            80..88 => Self::TickBut(node),
            88..96 => Self::Cancel(node),
            96..104 => Self::Pause(node),
            104..112 => Self::Join(node),
            112..120 => Self::Leave(node),
            120..128 => Self::Crash(node),
            128..192 => Self::Lose { from: row(128), to: node },
            192..256 => Self::Timer(row(192), number),
            256..320 => Self::Request(row(256), number),
            320..348 => ends(code - 320, Self::Fail),
            350..378 => ends(code - 350, Self::Form),
            640..648 => Self::Kill(node),
            648..656 => Self::Back(node),
            656..664 => Self::Wipe(node),
            664..672 => Self::Show(node),
            672..680 => Self::Gone(node),
            680..708 => ends(code - 680, Self::Mend),
            768.. => Self::Miss { node: row(768), peer: node },
            384.. => Self::Overtake {
                from: NodeId(u32::from((code - 384) / 8 % 8)),
                to: node,
                past: u8::try_from((code - 384) / 64 + 1).expect("few messages"),
            },
            _ => Self::Tick,
        }
    }
}

/// The number of the pair `a < b`, counted row by row.
pub(crate) fn edge(a: NodeId, b: NodeId) -> u16 {
    debug_assert!(a < b && b.0 < 8);
    u16::try_from(b.0 * (b.0 - 1) / 2 + a.0).expect("few nodes")
}

fn ends(edge: u16, make: fn(NodeId, NodeId) -> Action) -> Action {
    let b = (1..8).rev().find(|b| b * (b - 1) / 2 <= edge).unwrap_or(1);
    make(NodeId(u32::from(edge - b * (b - 1) / 2)), NodeId(u32::from(b)))
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
            Self::Fail(a, b) => write!(f, "down {a}-{b}"),
            Self::Form(a, b) => write!(f, "up {a}-{b}"),
            Self::Join(node) => write!(f, "join {node}"),
            Self::Leave(node) => write!(f, "leave {node}"),
            Self::Crash(node) => write!(f, "crash {node}"),
            Self::Kill(node) => write!(f, "kill {node}"),
            Self::Back(node) => write!(f, "back {node}"),
            Self::Wipe(node) => write!(f, "wipe {node}"),
            Self::Show(node) => write!(f, "show {node}"),
            Self::Gone(node) => write!(f, "gone {node}"),
            Self::Miss { node, peer } => write!(f, "miss {peer} at {node}"),
            Self::Mend(a, b) => write!(f, "mend {a}-{b}"),
            Self::Lose { from, to } => write!(f, "lose {from}>{to}"),
            Self::Overtake { from, to, past } => write!(f, "pass {past} {from}>{to}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_action_has_a_code_of_its_own() {
        let unused = [348..350, 378..380, 381..384, 708..768];
        for code in (0..Action::CODES).filter(|code| !unused.iter().any(|range| range.contains(code))) {
            let action = Action::of_code(code);
            assert_eq!(action.code(), code, "{action}");
        }
    }
}

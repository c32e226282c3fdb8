//! What may happen next.

use std::fmt;

use driftlock_protocol::NodeId;

/// The most timers that a node may have armed: an action's number has room for no more.
pub(crate) const TIMERS_MAX: usize = 4;
/// The most demands that applications may choose from, for the same reason.
pub const DEMANDS_MAX: usize = 7;

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
}

impl Action {
    /// Whether it will happen in time if it stays possible: messages arrive, applications return what they use, time
    /// passes and pauses end.
    pub fn is_fair(self) -> bool {
        matches!(self, Self::Deliver { .. } | Self::Release(_) | Self::Timer(..) | Self::Resume(_) | Self::Tick)
    }

    /// Whether it is a change that must cease before anybody can count on being served.
    pub fn is_disturbance(self) -> bool {
        matches!(self, Self::Fail(..) | Self::Form(..) | Self::Pause(_) | Self::Cancel(_))
    }

    /// A number for each action.
    pub(crate) fn code(self) -> u8 {
        let at = |node: NodeId| u8::try_from(node.0).expect("few nodes");
        let pair = |a: NodeId, b: NodeId| at(a) * 8 + at(b);
        match self {
            Self::Deliver { from, to } => pair(from, to),
            Self::Release(node) => 64 + at(node),
            Self::Timer(node, timer) => 72 + at(node) * 4 + timer,
            Self::Resume(node) => 104 + at(node),
            Self::TickBut(node) => 112 + at(node),
            Self::Request(node, 0) => 120 + at(node),
            Self::Request(node, demand) => 201 + (demand - 1) * 8 + at(node),
            Self::Cancel(node) => 128 + at(node),
            Self::Pause(node) => 136 + at(node),
            Self::Tick => 144,
            Self::Fail(a, b) => 145 + edge(a, b),
            Self::Form(a, b) => 145 + 28 + edge(a, b),
        }
    }

    pub(crate) fn of_code(code: u8) -> Self {
        let node = |at: u8| NodeId(u32::from(at));
        match code {
            0..64 => Self::Deliver { from: node(code / 8), to: node(code % 8) },
            64..72 => Self::Release(node(code - 64)),
            72..104 => Self::Timer(node((code - 72) / 4), (code - 72) % 4),
            104..112 => Self::Resume(node(code - 104)),
            112..120 => Self::TickBut(node(code - 112)),
            120..128 => Self::Request(node(code - 120), 0),
            128..136 => Self::Cancel(node(code - 128)),
            136..144 => Self::Pause(node(code - 136)),
            144 => Self::Tick,
            145..173 => ends(code - 145, Self::Fail),
            173..201 => ends(code - 173, Self::Form),
            _ => Self::Request(node((code - 201) % 8), (code - 201) / 8 + 1),
        }
    }
}

/// The number of the pair `a < b`, counted row by row.
pub(crate) fn edge(a: NodeId, b: NodeId) -> u8 {
    debug_assert!(a < b && b.0 < 8);
    u8::try_from(b.0 * (b.0 - 1) / 2 + a.0).expect("few nodes")
}

fn ends(edge: u8, make: fn(NodeId, NodeId) -> Action) -> Action {
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
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_action_has_a_code_of_its_own() {
        for code in 0..201 + 8 * 6 {
            let action = Action::of_code(code);
            let loops = matches!(action, Action::Deliver { from, to } if from == to);
            assert!(loops || action.code() == code, "{action}");
        }
    }
}

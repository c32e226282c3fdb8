//! What a page asks of a run that goes on.

use driftlock_field::plane::Point;
use driftlock_protocol::NodeId;
use driftlock_sim::live::Deed;
use serde::Deserialize;

/// A command, as the page writes it: docs/viewer.md has the list.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Command {
    Request { node: NodeId },
    Release(NodeId),
    Crash(NodeId),
    Revive(NodeId),
    Pause(NodeId),
    Resume(NodeId),
    Cut(NodeId, NodeId),
    Mend(NodeId, NodeId),
    Drag { node: NodeId, to: [f64; 2] },
    Jam { centre: [f64; 2], radius: f64 },
    Clear(bool),
    Speed(f64),
    Hold(bool),
    Restart { algorithm: String, without: Vec<String> },
}

impl Command {
    /// What it says, or why that is nothing.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|error| format!("this is no command: {error}"))
    }

    /// What is to be done on the field.
    pub(crate) fn deed(&self) -> Option<Deed> {
        let point = |[x, y]: [f64; 2]| Point { x, y };
        Some(match *self {
            Self::Request { node } => Deed::Request(node),
            Self::Release(node) => Deed::Release(node),
            Self::Crash(node) => Deed::Crash(node),
            Self::Revive(node) => Deed::Revive(node),
            Self::Pause(node) => Deed::Pause(node),
            Self::Resume(node) => Deed::Resume(node),
            Self::Cut(a, b) => Deed::Cut(a, b),
            Self::Mend(a, b) => Deed::Mend(a, b),
            Self::Drag { node, to } => Deed::Place(node, point(to)),
            Self::Jam { centre, radius } => Deed::Jam(point(centre), radius),
            Self::Clear(_) => Deed::Clear,
            Self::Speed(_) | Self::Hold(_) | Self::Restart { .. } => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_read_as_the_page_writes_them() {
        let read = |text| Command::read(text).unwrap();
        assert_eq!(read(r#"{"request": {"node": 3}}"#).deed(), Some(Deed::Request(NodeId(3))));
        assert_eq!(read(r#"{"cut": [3, 4]}"#).deed(), Some(Deed::Cut(NodeId(3), NodeId(4))));
        let there = Point { x: 1.0, y: 2.5 };
        assert_eq!(read(r#"{"drag": {"node": 3, "to": [1, 2.5]}}"#).deed(), Some(Deed::Place(NodeId(3), there)));
        assert_eq!(read(r#"{"clear": true}"#).deed(), Some(Deed::Clear));
        assert_eq!(read(r#"{"speed": 2.0}"#), Command::Speed(2.0));
        let restart = Command::Restart { algorithm: "krl".into(), without: vec!["pace".into()] };
        assert_eq!(read(r#"{"restart": {"algorithm": "krl", "without": ["pace"]}}"#), restart);
        for nonsense in ["", "{}", "[]", r#"{"crash": -1}"#, r#"{"explode": 3}"#, r#"{"crash": 1, "release": 2}"#] {
            assert!(Command::read(nonsense).unwrap_err().starts_with("this is no command"), "{nonsense}");
        }
    }
}

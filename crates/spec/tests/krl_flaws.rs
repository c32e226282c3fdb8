//! What goes wrong without each repair of the paper's text, by the shortest way found in exhaustive search; and that the
//! same steps do no harm with it.

mod stage;

use driftlock_protocol::krl::{Forwarding, repair};
use driftlock_protocol::{Repair, Repairs};
use stage::Stage;

const LINE_3: &[(u32, u32)] = &[(0, 1), (1, 2)];
const LINE_4: &[(u32, u32)] = &[(0, 1), (1, 2), (2, 3)];
const TRIANGLE: &[(u32, u32)] = &[(0, 1), (1, 2), (0, 2)];
const RING_4: &[(u32, u32)] = &[(0, 1), (1, 2), (2, 3), (3, 0)];

struct Flaw {
    repair: Repair,
    forwarding: Forwarding,
    nodes: u32,
    k: u32,
    links: &'static [(u32, u32)],
    script: &'static str,
}

impl Flaw {
    fn played(&self, repairs: Repairs) -> Stage {
        let mut stage = Stage::new(self.nodes, self.k, self.links, self.forwarding, repairs);
        stage.play(self.script);
        stage
    }

    /// The stage after the script, without the repair. With it, nothing may be wrong as far as the script can be played:
    /// a repair may make some of its messages superfluous.
    fn without(&self) -> Stage {
        self.played(Repairs::ALL.without(self.repair))
    }
}

#[test]
fn holder_lowers_a_triangle_deadlocks_in_4_steps() {
    let flaw = Flaw {
        repair: repair::HOLDER_LOWERS,
        forwarding: Forwarding::Off,
        nodes: 3,
        k: 1,
        links: TRIANGLE,
        script: "down 0-2; msg 2>1; req 2; msg 2>1",
    };
    assert_eq!(flaw.without().stuck(), [2]);
    let mut repaired = Stage::new(3, 1, TRIANGLE, Forwarding::Off, Repairs::ALL);
    repaired.play("down 0-2; req 2");
    repaired.drive(100);
    assert!(repaired.is_critical(2) && repaired.violation.is_none());
}

#[test]
fn release_holds_a_static_line_of_4_with_3_tokens_deadlocks_in_15_steps() {
    let flaw = Flaw {
        repair: repair::RELEASE_HOLDS,
        forwarding: Forwarding::Off,
        nodes: 4,
        k: 3,
        links: LINE_4,
        script: "req 2; req 3; msg 3>2; rel 2; msg 2>1; msg 1>0; msg 2>3; rel 3; req 2; msg 2>1; msg 0>1; msg 1>2; \
                 msg 3>2; msg 2>3; msg 3>2",
    };
    assert_eq!(flaw.without().stuck(), [2]);
}

#[test]
fn release_holds_a_static_ring_of_4_with_3_tokens_deadlocks_in_20_steps() {
    let flaw = Flaw {
        repair: repair::RELEASE_HOLDS,
        forwarding: Forwarding::Off,
        nodes: 4,
        k: 3,
        links: RING_4,
        script: "req 0; req 3; msg 3>0; rel 0; msg 0>1; msg 0>3; msg 3>2; msg 2>3; rel 3; req 0; msg 0>1; msg 2>1; \
                 msg 1>0; msg 1>2; msg 3>0; msg 0>3; msg 3>0; msg 3>2; msg 2>1; msg 2>3",
    };
    assert_eq!(flaw.without().stuck(), [0]);
    let mut repaired = Stage::new(4, 3, RING_4, Forwarding::Off, Repairs::ALL);
    repaired.play("req 0; req 3; msg 3>0; rel 0; msg 0>3; rel 3; req 0");
    repaired.drive(100);
    assert!(repaired.is_critical(0) && repaired.violation.is_none());
}

#[test]
fn release_holds_as_published_the_line_deadlocks_too() {
    let mut published = Stage::new(4, 3, LINE_4, Forwarding::Off, Repairs::NONE);
    published.play(
        "req 2; req 3; msg 3>2; rel 2; msg 2>1; msg 1>0; msg 2>3; msg 2>3; rel 3; req 2; msg 2>1; msg 0>1; msg 1>2; \
         msg 3>2; msg 3>2",
    );
    assert_eq!(published.stuck(), [2]);
}

#[test]
fn pending_request_a_request_made_without_neighbours_is_lost_in_5_steps() {
    let flaw = Flaw {
        repair: repair::PENDING_REQUEST,
        forwarding: Forwarding::Off,
        nodes: 3,
        k: 1,
        links: LINE_3,
        script: "up 0-2; msg 2>0; down 1-2; req 2; msg 0>2",
    };
    assert_eq!(flaw.without().stuck(), [2]);
    let mut repaired = flaw.played(Repairs::ALL);
    repaired.drive(100);
    assert!(repaired.is_critical(2) && repaired.violation.is_none());
}

#[test]
fn reclaim_a_token_on_a_failing_link_is_gone_in_3_steps() {
    let flaw = Flaw {
        repair: repair::RECLAIM,
        forwarding: Forwarding::Off,
        nodes: 3,
        k: 1,
        links: LINE_3,
        script: "req 1; msg 1>0; down 0-1",
    };
    assert_eq!(flaw.without().holders(), [0; 0]);
    let repaired = flaw.played(Repairs::ALL);
    assert_eq!((repaired.holders(), repaired.violation), (vec![0], None));
}

#[test]
fn acknowledge_tokens_that_cross_on_a_link_leave_a_wrong_view_in_8_steps() {
    let flaw = Flaw {
        repair: repair::ACKNOWLEDGE,
        forwarding: Forwarding::Always,
        nodes: 3,
        k: 2,
        links: TRIANGLE,
        script: "req 0; rel 0; req 1; rel 1; msg 0>1; msg 1>0; msg 0>1; msg 1>0",
    };
    assert!(flaw.without().violation.is_some(), "a node was told a height that its neighbour does not have");
    assert_eq!(flaw.played(Repairs::ALL).violation, None);
}

#[test]
fn link_info_a_selective_link_info_leaves_a_wrong_direction_in_11_steps() {
    let flaw = Flaw {
        repair: repair::LINK_INFO,
        forwarding: Forwarding::Off,
        nodes: 3,
        k: 1,
        links: TRIANGLE,
        script: "req 1; req 2; msg 2>0; msg 0>2; msg 1>0; msg 0>2; msg 2>0; rel 2; msg 2>0; msg 0>1; msg 2>1",
    };
    let violation = flaw.without().violation.expect("a broken lemma").to_string();
    assert!(violation.contains("direction"), "{violation}");
}

/// Nodes 1 and 2 of a line lose the token's side and reverse their links until they pause.
fn paused_pair() -> Stage {
    let mut stage = Stage::new(3, 1, LINE_3, Forwarding::Off, Repairs::ALL);
    stage.play("down 0-1");
    while !stage.clauses.contains(&"pause") {
        stage.play("msg 1>2; msg 2>1");
    }
    stage
}

#[test]
fn pace_a_part_without_a_token_falls_silent() {
    let mut stage = paused_pair();
    assert_eq!(stage.drive(100), 0);
    assert_eq!(stage.violation, None);
}

#[test]
fn pace_a_request_that_is_made_during_a_pause_is_not_lost() {
    let mut stage = paused_pair();
    stage.play("req 1; up 0-2; msg 0>2; msg 2>0; req 2; msg 2>0; msg 0>2; msg 2>0; msg 2>1; rel 2");
    stage.drive(100);
    assert!(stage.is_critical(1), "{:?}", stage.status(1));
    assert_eq!(stage.violation, None);
}

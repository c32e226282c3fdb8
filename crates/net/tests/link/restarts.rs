//! A hello in which a neighbour shows that it has restarted.

use driftlock_net::Boot;
use driftlock_net::link::{Effect, Frame, Hello, Mark, Settings};
use driftlock_protocol::NodeId;

use crate::crowd::Crowd;
use crate::observer::Message;

const A: NodeId = NodeId(0);
const B: NodeId = NodeId(1);

/// What each end does about a hello of this boot of the other, while the link of the first boots is up.
fn at_hello_of(boot: u32) -> [Vec<Effect<Message>>; 2] {
    [(A, B), (B, A)].map(|(hears, speaks)| {
        let mut crowd = Crowd::new(2, 1, Settings::default());
        crowd.run(6_000);
        assert!(crowd.observer.link(A, B).is_some(), "a link forms");
        // One that has just restarted has no links.
        let (interval_ms, links) = (1_000, if boot > 1 { Vec::new() } else { vec![hears] });
        let hello = Hello {
            boot: Boot(boot),
            count: 1_000,
            interval_ms,
            crowd: 1,
            mark: Mark(1),
            links,
            hears: 0,
            list: Vec::new(),
            spared: Vec::new(),
            notices: Vec::new(),
        };
        let mut out = Vec::new();
        crowd.links[hears.index()].received(crowd.now, speaks, Frame::Hello(hello), &mut out);
        out
    })
}

#[test]
fn the_link_is_over_at_the_first_hello_of_a_later_boot_and_at_no_other() {
    for out in at_hello_of(2) {
        assert!(matches!(out[..], [Effect::Heard { boot: Boot(2), .. }, Effect::Down { .. }]), "{out:?}");
    }
    assert_eq!(at_hello_of(1), [vec![], vec![]], "the same boot");
    assert_eq!(at_hello_of(0), [vec![], vec![]], "a late hello of an earlier boot");
}

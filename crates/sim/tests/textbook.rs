//! The example of docs/add-an-algorithm.md under random changes, without being registered.

#[path = "../../check/tests/textbook/ricart_agrawala.rs"]
mod ricart_agrawala;

use driftlock_protocol::Repairs;
use driftlock_protocol::registry::UnitsRule;
use driftlock_sim::soak::{Case, Crowd, Report};
use ricart_agrawala::{DEFERRED_REPLIES, RicartAgrawala as Example};

fn run(seed: u64, rules: Repairs) -> Report {
    let case = Case::draw_for::<Example>(seed, Crowd::Usual, UnitsRule::One);
    case.run_with::<Example>((), rules, None).expect("nothing is written")
}

#[test]
fn while_nodes_come_and_go_the_unit_is_used_once_at_a_time_and_in_the_end_all_are_served() {
    let (mut counted, mut messages) = (0, 0);
    for seed in 0..300 {
        let report = run(seed, Repairs::ALL);
        assert_eq!(report.violation, None, "seed {seed}");
        assert!(report.rested && report.entries_after > 0, "seed {seed}");
        counted += u64::from(report.entries_under_faults > 0);
        messages += report.messages;
    }
    assert!(counted > 250, "of {counted} runs something was granted while nodes came and went");
    assert!(messages > 0);
}

#[test]
fn without_deferred_replies_nodes_starve() {
    let starved = (0..100).filter(|&seed| run(seed, Repairs::ALL.without(DEFERRED_REPLIES)).violation.is_some());
    assert!(starved.count() > 50);
}

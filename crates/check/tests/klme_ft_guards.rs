use std::time::Duration;

use driftlock_check::{Bound, Effort, Pace, Properties, Property, Setup, Timing, check};
use driftlock_protocol::klme_ft::{KlmeFt, Variant, guard};
use driftlock_protocol::{Deployment, NodeId, Repairs};

const TICK: Duration = Duration::from_secs(10);
const ONCE: Bound = Bound::Most(1);
fn setup() -> Setup {
    let members = (0..3).map(NodeId).collect();
    let deployment = Deployment { nodes: 3, k: 1, members, ..Deployment::default() };
    let mut setup = Setup::still(deployment, ONCE);
    setup.timing = Timing::Timed { tick: TICK, drift: 0, pauses: 0 };
    setup.lateness = Bound::Most(0);
    setup.small_scale = false;
    setup.properties = Properties::USUAL.without(Property::Service);
    setup
}

#[test]
fn matrix() {
    let paused = Timing::Timed { tick: TICK, drift: 0, pauses: 1 };
    let mut two = setup();
    two.deployment.k = 2;
    let mut four = setup();
    four.deployment.nodes = 4;
    four.deployment.members = (0..4).map(NodeId).collect();
    four.requests_in_all = Bound::Most(2);
    let setups = [
        ("crash loss", Setup { crashes: ONCE, losses: ONCE, ..setup() }),
        ("late3", Setup { requests_in_all: Bound::Most(2), lateness: Bound::Most(3), ..setup() }),
        ("crash late", Setup { crashes: ONCE, requests_in_all: Bound::Most(2), lateness: Bound::Most(2), ..setup() }),
        ("pause", Setup { crashes: ONCE, requests_in_all: Bound::Most(2), timing: paused, ..setup() }),
        ("leave join", Setup { leaves: ONCE, joins: ONCE, crashes: ONCE, requests_in_all: Bound::Most(2), ..setup() }),
        ("leave late", Setup { leaves: ONCE, requests_in_all: Bound::Most(2), lateness: Bound::Most(2), ..setup() }),
        ("overtake", Setup { crashes: ONCE, losses: ONCE, overtakes: ONCE, ..setup() }),
        (
            "two overtakes late",
            Setup { overtakes: Bound::Most(2), lateness: ONCE, requests_in_all: Bound::Most(2), ..setup() },
        ),
        ("k2", Setup { crashes: ONCE, losses: ONCE, ..two }),
        ("four", Setup { crashes: ONCE, losses: ONCE, ..four }),
    ];
    for rule in &guard::LIST[..14] {
        for (name, setup) in &setups {
            let effort = Effort { threads: 2, liveness: false };
            let report = check::<KlmeFt>(setup, Variant::SMALL, Repairs::ALL.without(*rule), effort, &mut |p| {
                if p.states > 1_500_000 { Pace::Enough } else { Pace::On }
            })
            .unwrap();
            let verdict = report.violation.map(|v| format!("{}", v.violation)).unwrap_or_default();
            println!(
                "{:18} {:20} {:9} {} {}",
                rule.name,
                name,
                report.states,
                report.exhaustive,
                &verdict[..verdict.len().min(70)]
            );
        }
    }
}

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
    let mut variant = Variant::SMALL;
    variant.times.lease = TICK * 3;
    let setups = [
        (
            "3 leave loss2",
            Setup { leaves: ONCE, losses: Bound::Most(2), crashes: ONCE, requests_in_all: Bound::Most(2), ..setup() },
        ),
        ("4 leave crash loss", Setup { leaves: ONCE, crashes: ONCE, losses: ONCE, ..four.clone() }),
        ("4 leave loss2 ", Setup { leaves: ONCE, losses: Bound::Most(2), ..four.clone() }),
        ("4 leave late", Setup { leaves: ONCE, lateness: Bound::Most(2), losses: ONCE, ..four.clone() }),
    ];
    for rule in &[guard::STAY_BOUND] {
        for (name, setup) in &setups {
            let effort = Effort { threads: 2, liveness: false };
            let report = check::<KlmeFt>(setup, variant, Repairs::ALL.without(*rule), effort, &mut |p| {
                if p.states > 8_000_000 { Pace::Enough } else { Pace::On }
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

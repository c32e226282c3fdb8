//! scratch
use std::time::Duration;

use driftlock_check::{Bound, Effort, Pace, Properties, Property, Setup, Timing, check};
use driftlock_protocol::klme_ft::{KlmeFt, Variant};
use driftlock_protocol::{Deployment, NodeId, Repairs};

#[test]
fn scratch() {
    let env = |name: &str, default: u8| std::env::var(name).map_or(default, |v| v.parse().unwrap());
    let nodes = u32::from(env("N", 3));
    let members = (0..u32::from(env("M", 3))).map(NodeId).collect();
    let deployment = Deployment { nodes, k: u32::from(env("K", 1)), members, ..Deployment::default() };
    let mut setup = Setup::still(deployment, Bound::Most(env("REQ", 1)));
    setup.crashes = Bound::Most(env("CRASH", 0));
    setup.losses = Bound::Most(env("LOSS", 0));
    setup.joins = Bound::Most(env("JOIN", 0));
    setup.leaves = Bound::Most(env("LEAVE", 0));
    if env("REQALL", 255) < 255 {
        setup.requests_in_all = Bound::Most(env("REQALL", 0));
    }
    setup.lateness = if env("LATE", 1) == 255 { Bound::Any } else { Bound::Most(env("LATE", 1)) };
    setup.spread = u64::from(env("SPREAD", 3));
    if env("TIMED", 1) == 1 {
        setup.timing = Timing::Timed { tick: Duration::from_secs(1), drift: env("DRIFT", 0), pauses: env("PAUSES", 0) };
    }
    setup.properties = Properties::USUAL.without(Property::Service).without(Property::Conservation);
    setup.small_scale = false;
    if let Ok(walks) = std::env::var("WALKS") {
        if std::env::var("SERVICE").is_ok() {
            setup.properties = Properties::USUAL;
        }
        let any = |name| if env(name, 0) == 255 { Bound::Any } else { Bound::Most(env(name, 0)) };
        setup.losses = any("LOSS");
        setup.joins = any("JOIN");
        setup.leaves = any("LEAVE");
        setup.crashes = any("CRASH");
        setup.requests = any("REQ");
        let model = driftlock_check::Model::<KlmeFt>::new(setup.clone(), variant(), Repairs::ALL).unwrap();
        let seed = u64::from(env("SEED", 0));
        let walked = driftlock_check::walk(&model, seed, 0..walks.parse().unwrap(), &|_| Pace::On);
        println!(
            "walks {} steps {} grants {} {:?}",
            walked.walks,
            walked.steps,
            walked.grants,
            walked.violation.as_ref().map(|v| (v.0, v.1.violation.to_string()))
        );
        if let Some((_, found)) = &walked.violation {
            let all: Vec<_> = found.actions.iter().chain(&found.cycle).copied().collect();
            println!("then a cycle of {}", found.cycle.len());
            tell(&setup, &all);
        }
        return;
    }
    if std::env::var("SERVICE").is_ok() {
        setup.properties = Properties::USUAL;
    }
    let start = std::time::Instant::now();
    let mut shown = 0;
    let report = check::<KlmeFt>(
        &setup,
        variant(),
        Repairs::ALL,
        Effort { threads: 2, liveness: std::env::var("SERVICE").is_ok() },
        &mut |p| {
            let seconds = start.elapsed().as_secs();
            if seconds / 5 > shown {
                shown = seconds / 5;
                eprintln!("{seconds} s {p:?}");
            }
            if seconds > 550 || p.states > 40_000_000 { Pace::Enough } else { Pace::On }
        },
    )
    .unwrap();
    println!(
        "{:?}: states {} transitions {} depth {} exhaustive {} undecided {} cut {} witnessed {:?}",
        start.elapsed(),
        report.states,
        report.transitions,
        report.depth,
        report.exhaustive,
        report.undecided,
        report.cut,
        report.witnessed
    );
    if let Some(found) = &report.violation {
        println!("{}", found.violation);
        let all: Vec<_> = found.actions.iter().chain(&found.cycle).copied().collect();
        println!("then a cycle of {}", found.cycle.len());
        tell(&setup, &all);
    }
}

fn tell(setup: &Setup, actions: &[driftlock_check::Action]) {
    use driftlock_protocol::*;
    let mut setup = setup.clone();
    setup.spread = 99;
    let model = driftlock_check::Model::<KlmeFt>::new(setup.clone(), variant(), Repairs::ALL).unwrap();
    let mut state = model.initial();
    for (at, action) in actions.iter().enumerate() {
        state = model.after(&state, *action).expect("spread");
        println!("{:>3}. {action}", at + 1);
        if std::env::var("VERBOSE").is_ok() {
            for line in model.describe(&state) {
                println!("        {line}");
            }
        }
    }
}

fn variant() -> Variant {
    let mut variant = Variant::SMALL;
    variant.times.margin = Duration::from_secs(std::env::var("MARGIN").map_or(0, |v| v.parse().unwrap()));
    if let Ok(l) = std::env::var("LEASE") {
        variant.times.lease = Duration::from_secs(l.parse().unwrap());
    }
    variant
}

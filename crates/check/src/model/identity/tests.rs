use std::collections::BTreeMap;
use std::time::Duration;

use driftlock_net::ideal::Fate;
use driftlock_protocol::{Algorithm, Demand, Deployment, NodeId, Protocol, Repairs, Units, Visitor};

use crate::state::State;
use crate::{Action, Bound, Model, Setup, Timing, Topology, topologies};

type Future = (bool, u8, u8, Vec<(Action, Option<u64>)>);

fn future<P: Protocol>(model: &Model<P>, state: &State) -> (Future, Vec<State>) {
    let mut actions = Vec::new();
    model.enabled(state, &mut actions);
    let mut next = Vec::new();
    let moves = actions
        .into_iter()
        .map(|action| {
            let after = model.after(state, action);
            let fp = after.as_ref().map(|s| s.fingerprint);
            next.extend(after);
            (action, fp)
        })
        .collect();
    ((model.verdict(state).is_ok(), model.owed(state), model.grants(state), moves), next)
}

struct Probe<'a>(&'a Setup, usize, usize, Repairs);

fn show<P: Protocol>(model: &Model<P>, state: &State) -> String {
    use std::fmt::Write;
    let mut text = String::new();
    for &seat in model.layout.seats(state) {
        writeln!(text, "  {:?}", model.parts.seats.get(seat).seat).unwrap();
    }
    for flight in model.flights(state) {
        writeln!(text, "  {}>{} {:?}", flight.from, flight.to, flight.message).unwrap();
    }
    writeln!(text, "  fences {:?} plain {:?}", model.parts.ledgers.get(model.layout.ledger(state)).fences, model.layout.plain(state).collect::<Vec<_>>()).unwrap();
    text
}

impl Visitor for Probe<'_> {
    type Output = (usize, usize, usize);

    fn visit<P: Protocol>(self, variant: P::Variant) -> (usize, usize, usize) {
        let Probe(setup, most, each, repairs) = self;
        let model = Model::<P>::new(setup.clone(), variant, repairs).unwrap();
        let mut classes: BTreeMap<u64, (Future, State, Vec<Box<[u32]>>)> = BTreeMap::new();
        let mut queue = std::collections::VecDeque::from([model.initial()]);
        let (mut rows, mut differing) = (0, 0);
        while let Some(state) = queue.pop_front() {
            let known = classes.get_mut(&state.fingerprint);
            if let Some((_, _, seen)) = &known {
                if seen.len() >= each || seen.contains(&state.words) {
                    continue;
                }
            } else if classes.len() >= most {
                continue;
            }
            rows += 1;
            let (future, next) = future(&model, &state);
            match classes.get_mut(&state.fingerprint) {
                None => {
                    classes.insert(state.fingerprint, (future, state.clone(), vec![state.words.clone()]));
                }
                Some((first, rep, seen)) => {
                    seen.push(state.words.clone());
                    if *first != future {
                        differing += 1;
                        if differing <= std::env::var("SHOW").map_or(0, |s| s.parse().unwrap()) {
                            eprintln!("A:\n{}B:\n{}", show(&model, rep), show(&model, &state));
                            eprintln!("{:?} {:?}", (first.0, first.1, first.2), (future.0, future.1, future.2));
                            for (a, b) in first.3.iter().zip(&future.3).filter(|(a, b)| a != b) {
                                eprintln!("   differ: {a:?} {b:?}");
                                if a.0 == b.0 {
                                    if let (Some(x), Some(y)) = (model.after(rep, a.0), model.after(&state, a.0)) {
                                        eprintln!("A':\n{}B':\n{}", show(&model, &x), show(&model, &y));
                                    }
                                }
                            }
                        }
                    }
                }
            }
            queue.extend(next);
        }
        (classes.len(), rows, differing)
    }
}

const ONCE: Bound = Bound::Most(1);

fn near(nodes: u32, k: u32, requests: u8) -> Setup {
    let members = (0..nodes).map(NodeId).collect();
    Setup::still(Deployment { nodes, k, members, ..Deployment::default() }, Bound::Most(requests))
}

fn linked(topology: Topology, nodes: u32, k: u32, requests: u8) -> Setup {
    let links = topologies(topology, nodes).remove(0);
    Setup::still(Deployment { nodes, k, links, ..Deployment::default() }, Bound::Most(requests))
}

fn changing(still: Setup, fate: Fate) -> Setup {
    let mut setup = Setup { failures: ONCE, formations: ONCE, cancels: ONCE, fate, ..still };
    setup.spread = setup.usual_spread();
    setup
}

fn probe(tag: &str, name: &str, setup: &Setup) {
    let most = std::env::var("MOST").map_or(100_000, |s| s.parse().unwrap());
    let each = std::env::var("EACH").map_or(4, |s| s.parse().unwrap());
    for (repairs, said) in [(Repairs::ALL, "all"), (Repairs::NONE, "none")] {
    if said == "none" && std::env::var("NONE").is_err() { continue; }
    if std::env::var("ONLY").is_ok_and(|only| !format!("{tag} {name}").contains(&only)) {
        return;
    }
    let (classes, rows, differing) = Algorithm::named(tag).unwrap().visit(Probe(setup, most, each, repairs));
    println!("{tag} {name} {said}: {classes} classes, {rows} rows, {differing} differ");
    }
}

#[test]
fn probes() {
    for (nodes, k) in [(2, 1), (2, 2), (3, 1), (3, 2)] {
        probe("klme", &format!("{nodes} {k} still"), &near(nodes, k, 2));
        let s = Setup { leaves: ONCE, joins: ONCE, cancels: ONCE, ..near(nodes, k, 1) };
        probe("klme", &format!("{nodes} {k} churn"), &s);
        let s = Setup { leaves: Bound::Most(2), joins: Bound::Most(2), ..near(nodes, k, 2) };
        probe("klme", &format!("{nodes} {k} churn2"), &s);
    }
    let two = Demand { units: Units::new(2).unwrap(), ..Demand::ONE };
    for tag in ["krl", "krlf", "krlf-adaptive", "rl", "hok", "hok-strict", "hok-fewest", "hok-edf", "hok-fcfs"] {
        for fate in [Fate::Returned, Fate::Drained, Fate::Settled] {
            probe(tag, &format!("2 {fate:?}"), &changing(linked(Topology::Line, 2, 1, 2), fate));
            probe(tag, &format!("3 {fate:?}"), &changing(linked(Topology::Complete, 3, 1, 1), fate));
            if tag != "rl" {
            probe(tag, &format!("3 k 2 {fate:?}"), &changing(linked(Topology::Line, 3, 2, 2), fate));
            }
            if tag.contains("hok") {
            let s = Setup { demands: vec![Demand::ONE, two], ..changing(linked(Topology::Line, 3, 2, 2), fate) };
            probe(tag, &format!("3 k 2 several {fate:?}"), &s);
            }
        }
    }
    for (nodes, k) in [(2, 1), (2, 2), (3, 1), (3, 2)] {
        for (name, timing) in [("untimed", Timing::Untimed), ("timed", Timing::Timed { tick: Duration::from_secs(10), drift: 0, pauses: 1 })] {
            let s = Setup { timing, crashes: ONCE, losses: ONCE, leaves: ONCE, joins: ONCE, overtakes: ONCE, lateness: Bound::Most(3), ..near(nodes, k, 2) };
            probe("klme-ft", &format!("{nodes} {k} {name}"), &s);
        }
    }
}

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
            let is_ok = future.0;
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
            if is_ok || std::env::var("PAST").is_ok() { queue.extend(next); }
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
    let n = Bound::Most;
    let churn = |nodes, k, requests, in_all, leaves, joins| Setup { leaves: n(leaves), joins: n(joins), requests_in_all: n(in_all), ..near(nodes, k, requests) };
    for (a, b, c, d, e, f) in [(2,1,1,9,1,1), (2,1,1,9,2,2), (2,1,2,2,3,3), (2,2,1,9,2,2), (2,2,2,9,1,1), (2,2,2,3,2,2), (3,2,2,4,1,0), (3,2,2,3,1,0), (3,2,1,9,1,0)] {
        probe("klme", &format!("{:?}", (a, b, c, d, e, f)), &churn(a, b, c, d, e, f));
    }
    for (name, timing) in [("untimed", Timing::Untimed), ("timed", Timing::Timed { tick: Duration::from_secs(10), drift: 0, pauses: 0 })] {
        for (r, c, lo, le, j, o, la) in [(1,0,0,1,1,0,2), (1,1,0,0,0,1,2), (1,0,1,0,0,1,2), (2,1,0,0,0,1,2), (2,0,1,0,0,1,2), (2,0,0,1,1,1,2), (2,1,1,0,0,1,0), (2, 1, 0, 1, 0, 1, 2), (1, 1, 0, 1, 0, 1, 2)] {
            let s = Setup { timing, crashes: n(c), losses: n(lo), leaves: n(le), joins: n(j), overtakes: n(o), lateness: n(la), ..near(2, 1, r) };
            probe("klme-ft", &format!("{name} {:?}", (r, c, lo, le, j, o, la)), &s);
        }
    }
}

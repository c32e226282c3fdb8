//! States that count as one have futures that count as one: what may happen in one may happen in the other, and leads
//! to states that count as one again. All that a search says rests on it, and that it says the same every time: which
//! of such states it meets first is a matter of chance.

use std::collections::{BTreeMap, VecDeque};
use std::mem::{Discriminant, discriminant};
use std::time::Duration;

use driftlock_protocol::ideal::{CRASHES, FAILURES, FORMATIONS, Fate, JOINS, LEAVES};
use driftlock_protocol::klme::Klme;
use driftlock_protocol::klme::repair::NO_COPY;
use driftlock_protocol::{Algorithm, Demand, Deployment, NodeId, Protocol, Repairs, Units, Visitor};
use driftlock_spec::Violation;

use crate::state::State;
use crate::{Action, Bound, Model, Setup, StayOrder, Timing, Topology, topologies};

/// Of each setup so many states are looked at that count as different,
const DIFFERENT: usize = 25_000;
/// and of those that count as one so many.
const ALIKE: usize = 4;

/// What a search would learn of a state.
#[derive(PartialEq)]
struct Future {
    violation: Option<Discriminant<Violation>>,
    owed: u8,
    grants: u8,
    /// What may happen, and the fingerprint of what comes of it if it is followed. Nothing after a violation.
    moves: Vec<(Action, Option<u64>)>,
}

/// A state and how it was reached: from the one of this number, by this action.
struct Visit {
    state: State,
    reached: Option<(usize, Action)>,
}

struct Class {
    /// The number of the state that was met first.
    first: usize,
    future: Future,
    rows: Vec<Box<[u32]>>,
}

struct Explorer<P: Protocol> {
    model: Model<P>,
    visits: Vec<Visit>,
    queue: VecDeque<Visit>,
}

impl<P: Protocol> Explorer<P> {
    fn new(model: Model<P>) -> Self {
        let queue = VecDeque::from([Visit { state: model.initial(), reached: None }]);
        Self { model, visits: Vec::new(), queue }
    }

    /// Two states that count as one and have different futures, by the ways to them; or how many states were compared.
    fn explore(&mut self) -> Result<usize, String> {
        let (mut classes, mut compared) = (BTreeMap::<u64, Class>::new(), 0);
        while let Some(visit) = self.queue.pop_front() {
            let (fingerprint, row) = (visit.state.fingerprint, visit.state.row());
            let is_news = match classes.get(&fingerprint) {
                Some(class) => class.rows.len() < ALIKE && class.rows.iter().all(|known| **known != *row),
                None => classes.len() < DIFFERENT,
            };
            if !is_news {
                continue;
            }
            let (row, number) = (Box::from(row), self.visits.len());
            self.visits.push(visit);
            let future = self.look_ahead(number);
            let Some(class) = classes.get_mut(&fingerprint) else {
                classes.insert(fingerprint, Class { first: number, future, rows: vec![row] });
                continue;
            };
            if class.future != future {
                return Err(self.tell(class, number, &future));
            }
            class.rows.push(row);
            compared += 1;
        }
        Ok(compared)
    }

    /// The future of the state of this number. What comes of it is looked at later.
    fn look_ahead(&mut self, number: usize) -> Future {
        let (model, state) = (&self.model, &self.visits[number].state);
        let violation = model.verdict(state).err().map(|violation| discriminant(&violation));
        let (mut actions, mut moves) = (Vec::new(), Vec::new());
        if violation.is_none() {
            model.enabled(state, &mut actions);
        }
        for action in actions {
            let next = model.after(state, action);
            moves.push((action, next.as_ref().map(|next| next.fingerprint)));
            self.queue.extend(next.map(|state| Visit { state, reached: Some((number, action)) }));
        }
        Future { violation, owed: model.owed(state), grants: model.grants(state), moves }
    }

    fn tell(&self, class: &Class, number: usize, future: &Future) -> String {
        let differing = class.future.moves.iter().zip(&future.moves).find(|(a, b)| a != b);
        let what = differing.map_or_else(|| "what is seen at once".into(), |((action, _), _)| action.to_string());
        let [first, other] = [class.first, number].map(|number| self.way_to(number));
        format!("two states count as one, and differ in: {what}\n  {first}\n  {other}")
    }

    fn way_to(&self, mut number: usize) -> String {
        let mut way = Vec::new();
        while let Some((before, action)) = self.visits[number].reached {
            way.push(action.to_string());
            number = before;
        }
        way.reverse();
        way.join("; ")
    }
}

struct Compare<'a>(&'a Setup, Repairs);

impl Visitor for Compare<'_> {
    type Output = Result<usize, String>;

    fn visit<P: Protocol>(self, variant: P::Variant) -> Self::Output {
        Explorer::new(Model::<P>::new(self.0.clone(), variant, self.1).expect("it can be explored")).explore()
    }
}

#[track_caller]
fn counts_as_one(tag: &str, setup: &Setup, repairs: Repairs) {
    match Algorithm::named(tag).unwrap().visit(Compare(setup, repairs)) {
        Ok(compared) => assert!(compared > 0, "{tag}, {setup:?}: no two states count as one, so nothing was compared"),
        Err(difference) => panic!("{tag}, {setup:?}: {difference}"),
    }
}

const ONCE: Bound = Bound::Most(1);
const TWICE: Bound = Bound::Most(2);

/// A line whose links fail and form once, while each application may ask twice and withdraw once.
fn changing(nodes: u32, k: u32, fate: Fate) -> Setup {
    let links = topologies(Topology::Line, nodes).remove(0);
    let still = Setup::still(Deployment { nodes, k, links, ..Deployment::default() }, TWICE);
    let still = still.allowing([(&FAILURES, ONCE), (&FORMATIONS, ONCE)]);
    let mut setup = Setup { cancels: ONCE, fate, ..still };
    setup.spread = setup.usual_spread();
    setup
}

const FATES: [Fate; 3] = [Fate::Returned, Fate::Drained, Fate::Settled];

#[test]
fn on_links_that_change() {
    for tag in ["krl", "krlf", "krlf-adaptive", "rl", "hok", "hok-strict"] {
        for fate in FATES {
            counts_as_one(tag, &changing(2, 1, fate), Repairs::ALL);
            counts_as_one(tag, &changing(2, 1, fate), Repairs::NONE);
        }
    }
}

#[test]
fn with_several_units() {
    let two = Demand { units: Units::new(2).unwrap(), ..Demand::ONE };
    for fate in FATES {
        for tag in ["krl", "krlf-adaptive"] {
            counts_as_one(tag, &changing(3, 2, fate), Repairs::ALL);
        }
        for tag in ["hok", "hok-fewest", "hok-fcfs"] {
            counts_as_one(tag, &Setup { demands: vec![Demand::ONE, two], ..changing(3, 2, fate) }, Repairs::ALL);
        }
    }
}

/// Members to whom nothing happens but that each may ask.
fn near(nodes: u32, k: u32, requests: Bound) -> Setup {
    let members = (0..nodes).map(NodeId).collect();
    Setup::still(Deployment { nodes, k, members, ..Deployment::default() }, requests)
}

#[test]
fn where_nodes_come_and_go() {
    for repairs in [Repairs::ALL, Repairs::NONE] {
        for k in [1, 2] {
            counts_as_one("klme", &near(2, k, ONCE).allowing([(&LEAVES, TWICE), (&JOINS, TWICE)]), repairs);
            counts_as_one(
                "klme",
                &Setup { cancels: ONCE, ..near(2, k, TWICE).allowing([(&LEAVES, ONCE), (&JOINS, ONCE)]) },
                repairs,
            );
        }
        let stale = Setup { requests_in_all: Bound::Most(4), ..near(3, 2, TWICE).allowing([(&LEAVES, ONCE)]) };
        counts_as_one("klme", &stale, repairs);
    }
}

/// Above all without `no-copy`: a copy of the token is one from which grants could be made as well.
#[test]
fn without_any_one_of_the_repairs() {
    for &repair in Klme::REPAIRS {
        let setup = near(2, 2, TWICE).allowing([(&LEAVES, ONCE), (&JOINS, ONCE)]);
        counts_as_one("klme", &setup, Repairs::ALL.without(repair));
    }
    let setup = near(3, 1, ONCE).allowing([(&LEAVES, ONCE), (&JOINS, ONCE)]);
    counts_as_one("klme", &setup, Repairs::ALL.without(NO_COPY));
}

#[test]
fn where_nodes_crash_and_messages_are_lost_and_late() {
    let timed = Timing::Timed { tick: Duration::from_secs(10), drift: 0, pauses: 1 };
    for timing in [Timing::Untimed, timed] {
        for setup in [
            Setup { losses: ONCE, overtakes: ONCE, ..near(2, 2, TWICE).allowing([(&CRASHES, ONCE)]) },
            Setup { overtakes: ONCE, ..near(2, 1, ONCE).allowing([(&CRASHES, ONCE)]) },
            near(2, 1, ONCE).allowing([(&LEAVES, ONCE), (&JOINS, ONCE)]),
            near(2, 1, Bound::Most(0)).allowing([(&LEAVES, ONCE)]),
            Setup { losses: ONCE, ..near(3, 1, ONCE).allowing([(&CRASHES, ONCE)]) },
        ] {
            counts_as_one("klme-ft", &Setup { timing, lateness: Bound::Most(3), ..setup }, Repairs::ALL);
        }
    }
}

#[test]
fn whichever_way_stays_lie() {
    for stays in StayOrder::ALL {
        let mut setup =
            Setup { lateness: Bound::Most(3), ..near(2, 1, ONCE).allowing([(&LEAVES, TWICE), (&JOINS, Bound::Any)]) };
        setup.spread = 6;
        setup.set_stays(stays);
        counts_as_one("klme-ft", &setup, Repairs::ALL);
        setup.allow([(&CRASHES, ONCE)]);
        counts_as_one("klme-ft", &setup, Repairs::ALL);
    }
}

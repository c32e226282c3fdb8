//! A layer that is defined here and nowhere else, with an algorithm that stands on it, runs in every world: no world
//! knows which layers there are.

mod baton;
mod circle;

use std::io::{self, Cursor, Write};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

use driftlock_check::{Bound, Effort, Model, Report, Setup, check, record};
use driftlock_protocol::ideal::{Change, Fate, Ideal};
use driftlock_protocol::{Constants, Demand, Deployment, NodeId, Protocol, Repairs, Tokens};
use driftlock_sim::queue::Event;
use driftlock_sim::random::{Duration, Stays, Subject, stream};
use driftlock_sim::world::{Setting, World};
use driftlock_spec::Violation;
use driftlock_trace::replay::{Outcome, replay_with};
use driftlock_trace::{FORMAT, Header, Line, Origin, Reader, Resource, VERSION, Writer};

use crate::baton::{Baton, Sight};
use crate::circle::SWAPS;

/// What is written, for the test to read.
#[derive(Clone, Default)]
struct Page(Arc<Mutex<Vec<u8>>>);

impl Write for Page {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Page {
    fn writer(&self, deployment: &Deployment) -> Writer {
        let resource = Resource {
            algorithm: "baton".into(),
            k: deployment.k,
            without: Vec::new(),
            constants: Constants::new(),
            tokens: Tokens::One,
            asks: Vec::new(),
            brings: Vec::new(),
            hands_over: Vec::new(),
            pages: Vec::new(),
            neighbourhoods: Vec::new(),
            start: Baton::deploy(deployment, Sight::Keen, Repairs::ALL).iter().map(Baton::status).collect(),
        };
        let header = Header {
            format: FORMAT.into(),
            version: VERSION,
            driftlock: env!("CARGO_PKG_VERSION").into(),
            nodes: deployment.nodes,
            links: Vec::new(),
            resources: vec![resource],
            world: Origin::Soak { seed: 1, crowded: false, on_field: false, nodes: None },
            field: None,
        };
        Writer::new(Box::new(self.clone()), &header)
    }

    fn reader(&self) -> Reader {
        Reader::new(Box::new(Cursor::new(self.0.lock().unwrap().clone()))).unwrap()
    }

    /// How many steps fresh nodes did alike.
    fn replayed(&self, sight: Sight) -> u64 {
        match replay_with::<Baton>(self.reader(), sight, Repairs::ALL).unwrap() {
            Outcome::Same { steps, .. } => steps,
            other => panic!("{other:?}"),
        }
    }
}

fn circle(nodes: u32) -> Deployment {
    Deployment { nodes, k: 1, ..Deployment::default() }
}

/// Runs so many events; between them applications ask, and two nodes change places where nothing is in the way. Tells
/// how often an application entered, and nodes changed places.
fn simulated(seed: u64, events: u32, page: &Page) -> (u64, u64) {
    const NODES: u32 = 5;
    let deployment = circle(NODES);
    let mut world = World::<Baton>::new(Setting {
        deployment: &deployment,
        variant: Sight::Keen,
        repairs: Repairs::ALL,
        constants: &Constants::new(),
        delay: Duration::Exponential(1.0),
        delays: stream(seed, 0, Subject::Delay),
        stays: Stays::new(seed, 0),
        lives: stream(seed, 0, Subject::Life),
        checked: true,
        recorder: Some(page.writer(&deployment)),
        field: None,
    });
    let (mut entries, mut swaps) = (0, 0);
    for count in 0..events {
        let node = NodeId(count % NODES);
        if count % 7 == 0 && !world.is_busy(node) {
            world.request(node, Demand::ONE).expect("it holds");
        }
        if count % 10 == 0 {
            let peer = NodeId((node.0 + 1 + count / 10 % (NODES - 1)) % NODES);
            let swap = Change::between(&SWAPS, node, peer);
            let needs = world.ideal().needs(swap);
            if needs.drained.iter().all(|&(from, to)| world.are_drained(from, to)) {
                world.change(swap, Fate::Lost).expect("it holds");
                swaps += 1;
            }
        }
        match world.next_event() {
            Some(Event::Release { node, entry }) => _ = world.release(node, entry).expect("it holds"),
            Some(event) => world.deliver(event).expect("it holds"),
            None => {}
        }
        while let Some(node) = world.next_granted() {
            let entry = world.entry(node);
            world.schedule(driftlock_net::Span::from_units(0.5), Event::Release { node, entry });
            entries += 1;
        }
    }
    world.finish(None).unwrap();
    (entries, swaps)
}

#[test]
fn it_is_simulated_and_every_step_is_repeated() {
    let page = Page::default();
    let (entries, swaps) = simulated(1, 4_000, &page);
    assert!(entries > 100 && swaps > 100, "{entries} entries, {swaps} swaps");
    assert!(page.replayed(Sight::Keen) > 2_000);
    let again = Page::default();
    simulated(1, 4_000, &again);
    assert!(*page.0.lock().unwrap() == *again.0.lock().unwrap(), "the same seed gives the same trace");
}

fn setup(nodes: u32, swaps: u8) -> Setup {
    Setup::still(circle(nodes), Bound::Most(1)).allowing([(&SWAPS, Bound::Most(swaps))])
}

fn searched(setup: &Setup, sight: Sight) -> Report {
    let effort = Effort { threads: 2, liveness: true };
    check::<Baton>(setup, sight, Repairs::ALL, effort, &mut |_| ControlFlow::Continue(())).unwrap()
}

#[test]
fn all_its_states_are_searched_and_its_changes_are_bounded_by_name() {
    let states = [0, 1, 2].map(|swaps| {
        let report = searched(&setup(3, swaps), Sight::Keen);
        assert_eq!(report.violation, None);
        assert!(report.exhaustive && report.liveness && report.witnessed.granted.len() == 3);
        report.states
    });
    assert!(states[0] < states[1] && states[1] < states[2], "{states:?}");
}

#[test]
fn a_counterexample_is_recorded_and_repeated() {
    let setup = setup(3, 1);
    let counterexample = searched(&setup, Sight::Blind).violation.expect("they send to who is next no more");
    assert!(matches!(counterexample.violation, Violation::NoLink { .. }), "{counterexample:?}");
    let words: Vec<_> = counterexample.actions.iter().map(ToString::to_string).collect();
    assert_eq!(words, ["req 1", "swap 0-1"], "it asks once more, and the wrong one");
    let page = Page::default();
    let model = Model::<Baton>::new(setup.clone(), Sight::Blind, Repairs::ALL).unwrap();
    record(&model, &counterexample, page.writer(&setup.deployment)).unwrap();
    assert_eq!(page.replayed(Sight::Blind), 4, "all three see one another elsewhere, and one asks");
    let mut reader = page.reader();
    let lines: Vec<_> = std::iter::from_fn(|| reader.next_line().unwrap()).collect();
    assert!(matches!(lines.last(), Some(Line::End { end }) if end.violation.is_some()));
}

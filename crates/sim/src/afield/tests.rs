//! What a crash leaves of a node's layers.

use driftlock_field::faults::{self, Fault, Schedule};
use driftlock_field::mobility::{Area, Model, Movement};
use driftlock_field::radio::Settings;
use driftlock_protocol::LinkEvent;

use super::*;

const A: NodeId = NodeId(0);
const B: NodeId = NodeId(1);
const SIDE: f64 = 100.0;
/// Of all that these nodes send, this has to be kept in custody.
const TOKEN: char = 'T';

fn s(seconds: f64) -> Time {
    Time::from_units(seconds)
}

fn crash(node: NodeId, at: f64, lasts: f64, memory: Memory) -> Fault {
    Fault { at: s(at), kind: faults::Kind::Crash { node, back_after: Some((s(lasts), memory)) } }
}

/// Two nodes that stand next to each other, and what happens to them.
struct Pair {
    afield: Afield<char>,
    told: Vec<(Time, NodeId, News<char>)>,
}

impl Pair {
    fn new(faults: impl IntoIterator<Item = Fault>, is_forgetful: bool) -> Self {
        let points = [0.0, SIDE / 2.0].map(|x| Point { x, y: 0.0 }).to_vec();
        let area = Area { width: SIDE, height: SIDE };
        let movement = Movement::new(&Model::Static { points }, area, 2, 1).expect("a placement");
        let medium = Medium::new(movement, Settings::wifi_11mbps().rules().expect("a preset"), 1);
        let schedule: Schedule = faults.into_iter().collect();
        let faults = Faults::new(&schedule, 2, Faults::STEP).expect("both are there");
        let keeps = |message: &char| *message == TOKEN;
        let resident = Resident { footing: Footing::Links, k: 1, members: 2 };
        let kind = Kind { resident, permits: |_| Permits::NONE, keeps, hears_of_members: false, is_forgetful };
        let afield = Afield::new(medium, faults, kind, stack::Settings::default()).expect("messages are short");
        Self { afield, told: Vec::new() }
    }

    /// Lets everything happen until then.
    fn run(&mut self, until: f64) {
        while let Some(now) = self.afield.wakes().filter(|at| *at <= s(until)) {
            self.afield.step(now);
            while let Some((node, news)) = self.afield.next_news() {
                match &news {
                    News::Told(Told::Message { from, message, .. }) => _ = self.afield.landed(*from, node, message),
                    News::Told(Told::Undelivered { to, message } | Told::Dropped { to, message }) => {
                        self.afield.landed(node, *to, message);
                    }
                    _ => {}
                }
                self.told.push((now, node, news));
            }
        }
    }

    /// The link as both ends see it, if they do so alike.
    fn link(&self) -> Option<Incarnation> {
        let seen = |end: NodeId| {
            let of_end = |(_, node, news): &(Time, NodeId, News<char>)| match news {
                News::Told(Told::Link(LinkEvent::Up { incarnation, .. })) if *node == end => Some(Some(*incarnation)),
                News::Told(Told::Link(LinkEvent::Down { .. })) if *node == end => Some(None),
                _ => None,
            };
            self.told.iter().rev().find_map(of_end).flatten()
        };
        seen(A).filter(|incarnation| seen(B) == Some(*incarnation))
    }

    fn count(&self, what: impl Fn(NodeId, &News<char>) -> bool) -> usize {
        self.told.iter().filter(|(_, node, news)| what(*node, news)).count()
    }
}

#[test]
fn a_node_that_remembers_is_back_with_a_new_link_and_the_other_end_hears_that_the_old_one_is_gone() {
    for lasts in [0.0, 0.5, 30.0] {
        let mut pair = Pair::new([crash(A, 20.0, lasts, Memory::Kept)], false);
        pair.run(19.0);
        let before = pair.link().expect("they hear each other");
        pair.run(20.0 + lasts + 20.0);
        // The node's own algorithm is told by the world, which knows what it believes in.
        assert_eq!(pair.count(|node, news| node == A && *news == News::Restored), 1);
        assert_eq!(
            pair.count(|node, news| node == B && matches!(news, News::Told(Told::Link(LinkEvent::Down { .. })))),
            1,
            "{lasts}"
        );
        assert!(pair.link().is_some_and(|after| after > before), "{lasts}: {:?}", pair.told);
    }
}

#[test]
fn a_token_that_is_under_way_when_an_end_crashes_arrives_all_the_same_and_once() {
    let (mut in_time, mut late) = (0, 0);
    for who in [A, B] {
        for early in 1..=40 {
            let mut pair = Pair::new([crash(who, 20.0, 1.0, Memory::Kept)], false);
            let sent_at = 20.0 - f64::from(early) * 5e-5;
            pair.run(sent_at);
            let link = pair.link().expect("they hear each other");
            pair.afield.send(s(sent_at), A, (B, link), 'x', false);
            pair.afield.send(s(sent_at), A, (B, link), TOKEN, false);
            pair.afield.dispatch(s(sent_at));
            pair.run(20.0);
            let token = |flights: &[(NodeId, NodeId, char)]| flights.iter().filter(|it| it.2 == TOKEN).count();
            let under_way = token(&pair.afield.flights);
            let had = |pair: &Pair| {
                pair.count(|node, news| node == B && matches!(news, News::Told(Told::Message { message: TOKEN, .. })))
            };
            assert_eq!(under_way + had(&pair), 1);
            pair.run(60.0);
            assert_eq!(had(&pair), 1, "{who:?}, sent at {sent_at}: {:?}", pair.told);
            assert!(pair.afield.flights.is_empty(), "{:?}", pair.afield.flights);
            (in_time, late) = (in_time + 1 - under_way, late + under_way);
        }
    }
    assert!(in_time > 5 && late > 5, "{in_time} and {late}: otherwise nothing is shown");
}

#[test]
fn a_second_crash_takes_the_memory_where_an_algorithm_survives_that() {
    let faults = [crash(A, 20.0, 10.0, Memory::Kept), crash(A, 25.0, 1.0, Memory::Lost)];
    let mut pair = Pair::new(faults, true);
    pair.run(40.0);
    let of_a = pair.told.iter().filter(|(_, node, news)| *node == A && !matches!(news, News::Told(_)));
    let of_a: Vec<_> = of_a.map(|(at, _, news)| (*at, news.clone())).collect();
    assert_eq!(of_a, [(s(20.0), News::Killed), (s(30.0), News::Crashed), (s(30.0), News::Restarted)]);
}

#[test]
fn who_was_switched_off_by_decree_is_not_switched_on_by_the_end_of_a_fault() {
    let pause = Fault { at: s(20.0), kind: faults::Kind::Pause { node: A, lasts: s(5.0) } };
    let mut pair = Pair::new([pause, crash(A, 30.0, 5.0, Memory::Kept)], true);
    pair.run(10.0);
    pair.afield.crash(s(10.0), A);
    pair.run(60.0);
    assert!(pair.afield.is_paused(A));
    assert_eq!(pair.count(|node, news| node == A && !matches!(news, News::Told(_))), 0, "{:?}", pair.told);
    pair.afield.restart_if_down(s(60.0), A);
    pair.run(80.0);
    assert!(!pair.afield.is_paused(A) && pair.link().is_some());
}

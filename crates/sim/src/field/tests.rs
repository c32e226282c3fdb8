//! What a crash leaves of a node's layers.

use driftlock_field::faults::{self, Fault, Schedule};
use driftlock_field::mobility::{Area, Model, Movement};
use driftlock_field::radio::Settings;
use driftlock_host::Desk;
use driftlock_net::stack::{Footing, Told, Way};
use driftlock_protocol::{Incarnation, LinkEvent, Permits, Refusal, Section, Status};

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
    Fault { at: s(at), kind: faults::Kind::Crash { node, back_after: Some((Span::from_units(lasts), memory)) } }
}

/// Stands on links, sends letters when it is told to request something, and knows what it has heard.
#[derive(Default)]
struct Puppet {
    heard: Vec<Told<char>>,
}

/// What is sent next, and over which link.
const LETTERS: [char; 2] = ['x', TOKEN];

impl Resident for Puppet {
    fn footing(&self) -> Footing {
        Footing::Links
    }

    fn moves_in(&mut self, _now: Time, _desk: &mut Desk<'_>) {}

    fn cue(&mut self, now: Time, _cue: Cue, desk: &mut Desk<'_>) -> Result<(), Refusal> {
        for letter in LETTERS {
            let parcel = Parcel::new(desk.resource, letter == TOKEN, &letter);
            desk.stack.send(now, Way::Links(&[(B, Incarnation(0))]), parcel).expect("it is short");
        }
        Ok(())
    }

    fn hear(&mut self, _now: Time, told: Told, _desk: &mut Desk<'_>) {
        self.heard.push(told.open().expect("it is a letter"));
    }

    fn run_due(&mut self, _now: Time, _desk: &mut Desk<'_>) {}

    fn due(&self) -> Option<Time> {
        None
    }

    fn lease_ends(&self) -> Option<Time> {
        None
    }

    fn unstored(&mut self) -> Option<Vec<u8>> {
        None
    }

    fn status(&self) -> Status {
        let (section, permits, queue) = (Section::Remainder, Permits::NONE, Vec::new());
        Status { section, permits, queue, waits_on: None, height: None }
    }
}

/// Two nodes that stand next to each other, and what happens to them.
struct Pair {
    field: Field,
    told: Vec<(Time, NodeId, News)>,
}

impl Pair {
    fn new(faults: impl IntoIterator<Item = Fault>, survives_crash: bool) -> Self {
        let points = [0.0, SIDE / 2.0].map(|x| Point { x, y: 0.0 }).to_vec();
        let area = Area { width: SIDE, height: SIDE };
        let movement = Movement::new(&Model::Static { points }, area, 2, 1).expect("a placement");
        let medium = Medium::new(movement, Settings::wifi_11mbps().rules().expect("a preset"), 1);
        let schedule: Schedule = faults.into_iter().collect();
        let faults = Faults::new(&schedule, 2, Faults::STEP).expect("both are there");
        let share = Share { k: 1, members: 2 };
        let kind = Kind { share, permits: |_| Permits::NONE, hears_of_members: false, survives_crash };
        let mut field = Field::new(medium, faults, 2, stack::Settings::default());
        field.share(kind);
        for node in [A, B] {
            field.take_in(Time::ZERO, FIRST, node, Box::new(Puppet::default()));
        }
        Self { field, told: Vec::new() }
    }

    /// Lets everything happen until then.
    fn run(&mut self, until: f64) {
        while let Some(now) = self.field.wakes().filter(|at| *at <= s(until)) {
            self.field.step(now);
            while let Some((node, news)) = self.field.next_news(FIRST) {
                self.told.push((now, node, news));
            }
        }
    }

    /// A sends its letters to B.
    fn post(&mut self, at: f64) {
        self.field.cue(s(at), FIRST, A, Cue::Gone).expect("a puppet refuses nothing");
    }

    fn heard(&self, node: NodeId) -> &[Told<char>] {
        &self.field.resident::<Puppet>(FIRST, node).heard
    }

    /// The link as both ends see it, if they do so alike. A crash takes it down without a word to the puppet, so the
    /// last that it has heard counts.
    fn link(&self) -> Option<Incarnation> {
        let seen = |end: NodeId| {
            let of_link = |told: &Told<char>| match told {
                Told::Link(LinkEvent::Up { incarnation, .. }) => Some(Some(*incarnation)),
                Told::Link(LinkEvent::Down { .. }) => Some(None),
                _ => None,
            };
            self.heard(end).iter().rev().find_map(of_link).flatten()
        };
        seen(A).filter(|incarnation| seen(B) == Some(*incarnation))
    }

    /// How often the token has arrived.
    fn had(&self) -> usize {
        let is_token = |told: &&Told<char>| matches!(told, Told::Message { message: TOKEN, .. });
        self.heard(B).iter().filter(is_token).count()
    }

    /// Whether it is under way, as far as A knows.
    fn doubts(&self) -> bool {
        self.field.hosts[A.index()].stack().in_doubt().next().is_some()
    }

    fn count(&self, what: impl Fn(NodeId, &News) -> bool) -> usize {
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
        let is_down = |told: &&Told<char>| matches!(told, Told::Link(LinkEvent::Down { .. }));
        assert_eq!(pair.heard(B).iter().filter(is_down).count(), 1, "{lasts}");
        assert!(pair.link().is_some_and(|after| after > before), "{lasts}: {:?}", pair.heard(B));
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
            pair.link().expect("they hear each other");
            pair.post(sent_at);
            pair.run(20.0);
            let by_then = pair.had();
            assert!(by_then <= 1);
            pair.run(60.0);
            assert_eq!(pair.had(), 1, "{who:?}, sent at {sent_at}: {:?}", pair.heard(B));
            assert!(!pair.doubts(), "{who:?}, sent at {sent_at}");
            (in_time, late) = (in_time + by_then, late + 1 - by_then);
        }
    }
    assert!(in_time > 5 && late > 5, "{in_time} and {late}: otherwise nothing is shown");
}

#[test]
fn a_second_crash_takes_the_memory_where_an_algorithm_survives_that() {
    let faults = [crash(A, 20.0, 10.0, Memory::Kept), crash(A, 25.0, 1.0, Memory::Lost)];
    let mut pair = Pair::new(faults, true);
    pair.run(40.0);
    let of_a: Vec<_> =
        pair.told.iter().filter(|(_, node, _)| *node == A).map(|(at, _, news)| (*at, news.clone())).collect();
    assert_eq!(of_a, [(s(20.0), News::Killed), (s(30.0), News::Crashed), (s(30.0), News::Restarted)]);
}

#[test]
fn who_was_switched_off_by_decree_is_not_switched_on_by_the_end_of_a_fault() {
    let pause = Fault { at: s(20.0), kind: faults::Kind::Pause { node: A, lasts: Span::from_units(5.0) } };
    let mut pair = Pair::new([pause, crash(A, 30.0, 5.0, Memory::Kept)], true);
    pair.run(10.0);
    pair.field.crash(s(10.0), A);
    pair.run(60.0);
    assert!(pair.field.is_paused(A));
    assert_eq!(pair.count(|node, _| node == A), 0, "{:?}", pair.told);
    pair.field.restart_if_down(s(60.0), A);
    pair.run(80.0);
    assert!(!pair.field.is_paused(A) && pair.link().is_some());
}

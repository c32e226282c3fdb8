//! The radio of a node that is not there.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use driftlock_field::medium::Medium;
use driftlock_field::mobility::{Movement, Track, Tracks, Visit, Waypoint};
use driftlock_field::plane::Point;
use driftlock_field::radio::{Effect, Event, Settings};
use driftlock_net::{Span, Time};
use driftlock_protocol::NodeId;

const HERE: NodeId = NodeId(0);
const AWAY: NodeId = NodeId(1);

fn s(seconds: f64) -> Time {
    Time::from_units(seconds)
}

/// One node that stands, and beside it one that is there from 2 s to 4 s and from 6 s on.
struct World {
    medium: Medium<u32>,
    queue: BinaryHeap<Reverse<(Time, usize)>>,
    events: Vec<Event>,
    told: Vec<(Time, Effect<u32>)>,
}

impl World {
    fn new(settings: &Settings) -> Self {
        let at = |at, x| Waypoint { at, point: Point { x, y: 0.0 } };
        let here = Track::always("here", vec![at(Time::ZERO, 0.0)]);
        let visits = [(s(2.0), s(4.0)), (s(6.0), Time::END)];
        let visits = visits.map(|(from, until)| Visit::new(from, until, vec![at(from, 50.0)]).unwrap());
        let tracks = Tracks::new(vec![here.unwrap(), Track::new("away", visits.into()).unwrap()]);
        let mut medium = Medium::new(Movement::from_tracks(tracks), settings.rules().unwrap(), 1);
        medium.air().set_watched(true);
        Self { medium, queue: BinaryHeap::new(), events: Vec::new(), told: Vec::new() }
    }

    /// Has frames sent at a time, after all that comes before, and a second more go by.
    fn send(&mut self, at: Time, from: NodeId, frames: &[(Option<NodeId>, u32)]) {
        self.run(at);
        let mut effects = Vec::new();
        for &(to, frame) in frames {
            self.medium.send(at, from, to, 500, frame, &mut effects);
        }
        self.take(at, effects);
        self.run(at + Span::from_units(1.0));
    }

    fn run(&mut self, until: Time) {
        while let Some(&Reverse((at, event))) = self.queue.peek().filter(|next| next.0.0 <= until) {
            self.queue.pop();
            let mut effects = Vec::new();
            self.medium.handle(at, self.events[event], &mut effects);
            self.take(at, effects);
        }
    }

    fn take(&mut self, now: Time, effects: Vec<Effect<u32>>) {
        for effect in effects {
            if let Effect::At(at, event) = effect {
                self.queue.push(Reverse((at, self.events.len())));
                self.events.push(event);
            } else {
                self.told.push((now, effect));
            }
        }
    }

    /// What was told of these frames, in short.
    fn fate(&self, frame: u32) -> Vec<&'static str> {
        let of = |effect: &Effect<u32>| match effect {
            Effect::OnAir { frame: of, .. } => (*of == frame).then_some("on air"),
            Effect::Received { .. } | Effect::At(..) => None,
            Effect::Heard { frame: of, .. } => (*of == frame).then_some("heard"),
            Effect::Sent { frame: of, .. } => (*of == frame).then_some("sent"),
            Effect::Failed { frame: of, .. } => (*of == frame).then_some("failed"),
        };
        self.told.iter().filter_map(|(_, effect)| of(effect)).collect()
    }
}

#[test]
fn a_node_that_is_absent_sends_nothing_hears_nothing_and_spends_nothing() {
    for settings in [Settings::default(), Settings::ideal()] {
        let mut world = World::new(&settings);
        world.send(s(0.5), AWAY, &[(None, 1), (Some(HERE), 2)]);
        world.send(s(2.5), AWAY, &[(None, 3), (Some(HERE), 4)]);
        world.send(s(4.5), HERE, &[(None, 5)]);
        world.send(s(4.7), AWAY, &[(None, 6), (Some(HERE), 7)]);
        world.send(s(6.5), HERE, &[(None, 8), (Some(AWAY), 9)]);
        let fates = [1, 2, 5, 6, 7].map(|frame| world.fate(frame));
        assert_eq!(fates, [vec![], vec!["failed"], vec!["on air", "sent"], vec![], vec!["failed"]]);
        for frame in [3, 4, 8, 9] {
            assert_eq!(world.fate(frame), ["on air", "heard", "sent"], "{frame}");
        }
        let (total, _) = world.medium.effort(s(10.0));
        let meter = world.medium.air().meter(s(10.0), AWAY);
        let on = meter.transmitting_ns + meter.receiving_ns + meter.idle_ns;
        assert_eq!((meter.data_sent, Time(on)), (2, s(6.0)), "it was there for six seconds");
        assert_eq!(total.data_sent, 5);
    }
}

#[test]
fn what_a_node_has_not_sent_when_it_leaves_fails() {
    for settings in [Settings::default(), Settings::ideal()] {
        let mut world = World::new(&settings);
        // A millisecond before it leaves: a frame takes more than two at 2 Mb/s, and one in the ideal medium.
        world.send(s(3.9995), AWAY, &[(Some(HERE), 1), (Some(HERE), 2)]);
        world.send(s(7.0), HERE, &[(Some(AWAY), 3)]);
        for frame in [1, 2] {
            assert_eq!(world.fate(frame).last(), Some(&"failed"), "{frame}");
        }
        assert_eq!(world.fate(3), ["on air", "heard", "sent"], "and it begins anew when it is back");
    }
}

//! Whole stacks on which `unsent` is never called.

use std::collections::BTreeMap;

use driftlock_net::parcel::{Parcel, Resource};
use driftlock_net::stack::{Effect, Footing, Packet, Resident, Settings, Stack, Told, Way};
use driftlock_net::{Boot, Span, Time};
use driftlock_protocol::{Incarnation, NodeId};

use crate::world::id;
use crate::{DATAGRAMS, diamond_hears};

const LIFE: Incarnation = Incarnation(1);
const RESOURCE: Resource = Resource(0);

struct Stacks {
    nodes: Vec<Stack>,
    off: Option<usize>,
    now: Time,
    air: BTreeMap<(Time, u64), (usize, usize, Packet)>,
    count: u64,
    delivered: Vec<u64>,
}

impl Stacks {
    fn diamond() -> Self {
        let settings = Settings::default();
        let stack = |index| {
            let mut stack = Stack::new(Time::ZERO, id(index), Boot(0), &settings);
            let resident = Resident { footing: Footing::Paths, k: 1, members: 4 };
            stack.host(Time::ZERO, RESOURCE, resident).expect("its messages are short");
            stack
        };
        let nodes = (0..4).map(stack).collect();
        Self { nodes, off: None, now: Time::ZERO, air: BTreeMap::new(), count: 0, delivered: Vec::new() }
    }

    fn send(&mut self, from: usize, to: usize, message: u64) {
        let mut out = Vec::new();
        let parcel = Parcel::new(RESOURCE, false, &message);
        self.nodes[from].send(self.now, Way::Paths(&[(id(to), LIFE)]), parcel).expect("it is short");
        self.nodes[from].drain(self.now, &mut out);
        self.carry_out(from, out);
    }

    fn next_hop(&self, from: usize, to: usize) -> Option<usize> {
        let mut routes = self.nodes[from].routes(self.now);
        routes.find(|(destination, _)| *destination == id(to)).map(|(_, next_hop)| next_hop.index())
    }

    fn run_for(&mut self, millis: u64) {
        let end = self.now + Span::from_millis(millis);
        loop {
            let on = (0..self.nodes.len()).filter(|&index| Some(index) != self.off);
            let wake = on.filter_map(|index| Some((self.nodes[index].wakes()?, index))).min();
            let arrival = self.air.first_key_value().map(|(key, _)| key.0);
            let next = wake.map(|wake| wake.0).into_iter().chain(arrival).min();
            let Some(next) = next.filter(|&next| next <= end) else { break };
            self.now = self.now.max(next);
            let mut out = Vec::new();
            if let Some((_, index)) = wake.filter(|wake| wake.0 == next) {
                self.nodes[index].woken(self.now, &mut out);
                self.carry_out(index, out);
            } else if let Some((_, (from, to, packet))) = self.air.pop_first()
                && self.off != Some(to)
            {
                self.nodes[to].received(self.now, id(from), &packet, &mut out);
                self.carry_out(to, out);
            }
        }
        self.now = end;
    }

    fn carry_out(&mut self, at: usize, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Transmit { to, packet, delay } => {
                    let meant = |receiver: usize| to.is_none_or(|to: NodeId| to == id(receiver));
                    for receiver in (0..4).filter(|&it| it != at && meant(it) && diamond_hears(at, it)) {
                        self.count += 1;
                        let arrives = self.now + delay + Span::from_millis(1);
                        self.air.insert((arrives, self.count), (at, receiver, packet.clone()));
                    }
                }
                Effect::Tell { told: Told::Message { message, .. }, .. } => {
                    self.delivered.push(message.open().expect("a number"));
                }
                Effect::Tell { .. } => {}
            }
        }
    }
}

#[test]
fn a_stack_gives_up_its_route_through_a_silent_relay_and_messages_of_sessions_take_another() {
    let mut world = Stacks::diamond();
    world.run_for(5_000);
    world.send(0, 3, 0);
    world.run_for(1_000);
    world.off = world.next_hop(0, 3);
    assert!(world.off.is_some(), "a route");
    let died = world.now;
    let mut given_up = None;
    for message in 1..=DATAGRAMS {
        world.send(0, 3, message);
        world.run_for(400);
        given_up = given_up.or((world.next_hop(0, 3) != world.off).then_some(world.now - died));
    }
    world.run_for(10_000);
    // Looked at every 400 ms. Left to itself the route ends when the session repeats itself more rarely than routes
    // live.
    assert!(given_up.is_some_and(|after| after <= Span::from_millis(3_750 + 400)), "after {given_up:?}");
    // What was under way when the relay died is sent again.
    assert_eq!(world.delivered, (0..=DATAGRAMS).collect::<Vec<_>>());
}

//! What the medium costs when there are many nodes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use driftlock_field::radio::{Air, Effect, Event, Settings};
use driftlock_net::Time;
use driftlock_protocol::NodeId;

/// Fifty nodes per square kilometre that stand still, in a grid of cells.
struct Plane {
    places: Vec<(f64, f64)>,
    cells: Vec<Vec<NodeId>>,
    side: usize,
    cell: f64,
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // small and not negative
impl Plane {
    fn new(nodes: u32, cell: f64) -> Self {
        let width = 1000.0 * (f64::from(nodes) / 50.0).sqrt();
        let side = (width / cell) as usize + 1;
        let mut random = 1_u64;
        let mut roll = || {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) as f64 / (1_u64 << 31) as f64 * width
        };
        let places = (0..nodes).map(|_| (roll(), roll())).collect::<Vec<_>>();
        let mut cells = vec![Vec::new(); side * side];
        for (node, (x, y)) in (0..).zip(&places) {
            cells[(y / cell) as usize * side + (x / cell) as usize].push(NodeId(node));
        }
        Self { places, cells, side, cell }
    }

    fn around(&self, node: NodeId, radius: f64, buffer: &mut Vec<(NodeId, f64)>) {
        let (x, y) = self.places[node.index()];
        let (column, row) = ((x / self.cell) as usize, (y / self.cell) as usize);
        for near_row in row.saturating_sub(1)..(row + 2).min(self.side) {
            for near_column in column.saturating_sub(1)..(column + 2).min(self.side) {
                for &other in &self.cells[near_row * self.side + near_column] {
                    let (to_x, to_y) = self.places[other.index()];
                    let distance = ((to_x - x) * (to_x - x) + (to_y - y) * (to_y - y)).sqrt();
                    if distance <= radius {
                        buffer.push((other, distance));
                    }
                }
            }
        }
        buffer.sort_unstable_by_key(|(node, _)| *node);
    }
}

/// Every node broadcasts now and then, and answers a part of what it hears.
struct Town {
    plane: Plane,
    air: Air<u32>,
    queue: BinaryHeap<Reverse<(u64, u64, u64)>>,
    events: Vec<Option<Event>>,
    free: Vec<usize>,
    effects: Vec<Effect<u32>>,
    answers: Vec<(NodeId, NodeId)>,
    order: u64,
    heard: u64,
}

impl Town {
    fn new(nodes: u32) -> Self {
        let settings = Settings { loss: 0.05, ..Settings::wifi_11mbps() };
        let rules = settings.rules().unwrap();
        let plane = Plane::new(nodes, rules.reach());
        let queue =
            (0..nodes).map(|node| Reverse((u64::from(node) * 999_983 % 1_000_000_000, 0, u64::from(node)))).collect();
        let air = Air::new(nodes, rules, 1);
        Self {
            plane,
            air,
            queue,
            events: Vec::new(),
            free: Vec::new(),
            effects: Vec::new(),
            answers: Vec::new(),
            order: 0,
            heard: 0,
        }
    }

    /// Numbers below the number of nodes are nodes that broadcast; the others are events of the medium.
    fn run_until(&mut self, until: Time) {
        let nodes = self.plane.places.len() as u64;
        while let Some(&Reverse((time, _, what))) = self.queue.peek() {
            if time > until.0 {
                return;
            }
            self.queue.pop();
            let Self { plane, air, effects, events, .. } = self;
            let mut around = |node, radius, buffer: &mut Vec<_>| plane.around(node, radius, buffer);
            if what < nodes {
                let node = NodeId(u32::try_from(what).unwrap());
                air.send(Time(time), node, None, 60, 0, &mut around, effects);
                self.order += 1;
                self.queue.push(Reverse((time + 1_000_000_000, self.order, what)));
            } else {
                let place = usize::try_from(what - nodes).unwrap();
                let event = events[place].take().unwrap();
                self.free.push(place);
                air.handle(Time(time), event, &mut around, effects);
            }
            self.carry_out(Time(time));
        }
    }

    fn carry_out(&mut self, now: Time) {
        let nodes = self.plane.places.len() as u64;
        let mut effects = std::mem::take(&mut self.effects);
        let mut answers = std::mem::take(&mut self.answers);
        for effect in effects.drain(..) {
            match effect {
                Effect::At(time, event) => {
                    let place = self.free.pop().unwrap_or_else(|| {
                        self.events.push(None);
                        self.events.len() - 1
                    });
                    self.events[place] = Some(event);
                    self.order += 1;
                    self.queue.push(Reverse((time.0, self.order, nodes + place as u64)));
                }
                Effect::Heard { at, from, frame: 0 } if (at.0 ^ from.0).is_multiple_of(16) => {
                    self.heard += 1;
                    answers.push((at, from));
                }
                _ => self.heard += 1,
            }
        }
        self.effects = effects;
        let answered = !answers.is_empty();
        for (at, from) in answers.drain(..) {
            let Self { plane, air, effects, .. } = self;
            let mut around = |node, radius, buffer: &mut Vec<_>| plane.around(node, radius, buffer);
            air.send(now, at, Some(from), 200, 1, &mut around, effects);
        }
        self.answers = answers;
        if answered {
            self.carry_out(now);
        }
    }
}

#[test]
fn once_it_is_warm_the_medium_allocates_almost_nothing() {
    let mut town = Town::new(500);
    town.run_until(Time(20_000_000_000));
    let before = town.air.total(Time(20_000_000_000));
    let counted = allocation_counter::measure(|| town.run_until(Time(40_000_000_000)));
    let sent = town.air.total(Time(40_000_000_000)).data_sent - before.data_sent;
    assert!(sent > 10_000 && town.heard > 10_000, "{sent} transmissions");
    // Now and then a buffer is longer than it ever was before.
    assert!(counted.count_total < 200, "{} allocations for {sent} transmissions", counted.count_total);
    println!("{} allocations for {sent} transmissions", counted.count_total);
    assert!(counted.count_current.abs() < 100);
}

#[test]
fn ten_thousand_nodes_reach_as_many_each_as_five_hundred_do() {
    let per_transmission = |nodes| {
        let mut town = Town::new(nodes);
        town.run_until(Time(1_500_000_000));
        let total = town.air.total(Time(1_500_000_000));
        (total.data_received + total.collisions + total.faded + total.missed) as f64 / total.data_sent as f64
    };
    let (small, large) = (per_transmission(500), per_transmission(10_000));
    assert!((large / small - 1.0).abs() < 0.4, "{small} {large}");
}

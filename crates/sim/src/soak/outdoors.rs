//! Fault-and-heal on the field: how it is drawn, disturbed, and calmed.

use driftlock_field::mobility::{Area, Model, RandomWaypoint};
use driftlock_field::radio;
use driftlock_field::radio::settings::Propagation;
use driftlock_net::Time;
use driftlock_net::neighbourhood::Point;
use driftlock_protocol::{NodeId, Protocol};
use rand::RngExt;

use super::Soak;
use crate::afield::{Radio, Terrain};
use crate::random::Stream;

/// How far radios reach, in metres.
const RANGE: f64 = 200.0;
/// The share of frames that are lost at each receiver.
const LOSS: f64 = 0.1;
/// The longest pause of a node, in time units.
const PAUSE_MAX: f64 = 15.0;

/// A field on which so many nodes are now connected and now are not.
pub(super) fn terrain(nodes: u32, draw: &mut Stream) -> Terrain {
    let side = RANGE * (f64::from(nodes) * draw.random_range(0.15..0.6)).sqrt();
    let speed_max = draw.random_range(1.0..30.0);
    let radio = radio::Settings {
        propagation: Propagation::UnitDisk { range_m: RANGE, sense: 2.0, interference: 1.5 },
        loss: LOSS,
        ..radio::Settings::wifi_11mbps()
    };
    Terrain {
        area: Area { width: side, height: side },
        movement: Model::RandomWaypoint(RandomWaypoint { speed_min: 0.5, speed_max, pause: 0.0 }),
        radio: Radio::Written(Box::new(radio)),
        ..Terrain::default()
    }
}

impl<P: Protocol> Soak<'_, P> {
    /// Something goes wrong with the radios, or gets right again.
    pub(super) fn disturb(&mut self) {
        let (now, nodes) = (self.world.now(), self.case.deployment.nodes);
        let Some(field) = self.world.field() else { return };
        let draw = &mut self.mobility;
        let node = NodeId(draw.random_range(0..nodes));
        match draw.random_range(0..4) {
            0 => field.air().set_loss(if draw.random_bool(0.5) { draw.random_range(0.2..0.9) } else { 0.0 }),
            1 => field.air().set_group(node, draw.random_range(0..2)),
            2 => field.jam(now, node, draw.random_bool(0.5)),
            _ => field.pause(node, now + Time::from_units(draw.random_range(0.0..PAUSE_MAX))),
        }
    }

    /// All that went wrong gets right, and everybody stands where neighbours hear one another.
    pub(super) fn settle(&mut self) {
        let (now, ids) = (self.world.now(), self.case.deployment.ids());
        let Some(field) = self.world.field() else { return };
        field.air().set_loss(0.0);
        for node in ids {
            field.air().set_group(node, 0);
            field.jam(now, node, false);
        }
        let spacing = 0.7 * RANGE;
        let columns = f64::from(self.case.deployment.nodes).sqrt().ceil();
        let place = |node: NodeId| {
            let number = f64::from(node.0);
            Point { x: number % columns * spacing, y: (number / columns).floor() * spacing }
        };
        let points = self.case.deployment.ids().map(place).collect();
        field.settle(now, points).expect("a grid is a placement");
    }
}

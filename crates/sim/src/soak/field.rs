//! Fault-and-heal on the field: how it is drawn, disturbed, and calmed.

use driftlock_field::faults::{Often, Ranges};
use driftlock_field::mobility::{Area, Model, RandomWaypoint};
use driftlock_field::plane::Point;
use driftlock_field::radio;
use driftlock_field::radio::settings::Propagation;
use driftlock_protocol::{NodeId, Protocol};
use rand::RngExt;

use super::{Crowd, Soak};
use crate::field::{FieldPlan, Radio};
use crate::random::Stream;

/// How far radios reach, in metres.
const RANGE: f64 = 200.0;
/// The widest square of which any two places are in range of one another, as a share of that range.
const HALL_MAX: f64 = std::f64::consts::FRAC_1_SQRT_2;
/// The share of frames that are lost at each receiver.
const LOSS: f64 = 0.1;

/// How wide the field is. Usually so many nodes are now connected on it and now are not; of the runs with a given
/// number of nodes, half take place in a hall in which no two are ever out of reach.
pub(super) fn side(crowd: Crowd, nodes: u32, draw: &mut Stream) -> f64 {
    if matches!(crowd, Crowd::Exactly { .. }) && draw.random_bool(0.5) {
        return RANGE * draw.random_range(0.2..HALL_MAX);
    }
    RANGE * (f64::from(nodes) * draw.random_range(0.15..0.6)).sqrt()
}

/// A square field of this width, on which much goes wrong until all heals.
pub(super) fn plan(side: f64, heals_at: f64, draw: &mut Stream) -> FieldPlan {
    let speed_max = draw.random_range(1.0..30.0);
    let radio = radio::Settings {
        propagation: Propagation::UnitDisk { range_m: RANGE, sense: 2.0, interference: 1.5 },
        loss: LOSS,
        ..radio::Settings::wifi_11mbps()
    };
    FieldPlan {
        area: Area { width: side, height: side },
        faults: Some(faults(heals_at)),
        movement: Model::RandomWaypoint(RandomWaypoint { speed_min: 0.5, speed_max, pause: 0.0 }),
        radio: Radio::Written(Box::new(radio)),
        ..FieldPlan::default()
    }
}

/// What goes wrong on it until all heals.
fn faults(heals_at: f64) -> Ranges {
    let often = |per_minute| Often { per_minute, lasts: [1.0, 20.0] };
    Ranges {
        begins_at: 0.0,
        heals_at,
        // Some are back before their applications have ended.
        crashes: Often { per_minute: 2.0, lasts: [0.1, 10.0] },
        // What an algorithm survives besides is drawn elsewhere.
        memory_lost: 0.0,
        pauses: often(2.0),
        jams: often(1.0),
        partitions: often(1.0),
        losses: often(1.0),
        loss: [0.2, 0.9],
        size: [0.5 * RANGE, 2.0 * RANGE],
    }
}

impl<P: Protocol> Soak<'_, P> {
    /// All nodes stand where neighbours hear one another. What went wrong has got right by now.
    pub(super) fn place_all(&mut self) {
        let now = self.world.now();
        let Some(field) = self.world.field() else { return };
        let spacing = 0.7 * RANGE;
        let columns = f64::from(self.case.deployment.nodes).sqrt().ceil();
        let place = |node: NodeId| {
            let number = f64::from(node.0);
            Point { x: number % columns * spacing, y: (number / columns).floor() * spacing }
        };
        let points = self.case.deployment.ids().map(place).collect();
        field.place_all(now, points).expect("a grid is a placement");
    }
}

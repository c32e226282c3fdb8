//! What the radios, the links and the places of nodes came to, on a field.

use serde::Serialize;

use super::{Estimate, entries_of, units_of};
use crate::field::{Bonds, Effort, Graph};
use crate::run::Replication;

/// What the radios of all nodes did for an entry, whatever layer wanted it: hellos and routing included.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Radio {
    /// Frames that were put on the air, repetitions included.
    pub transmissions: f64,
    /// Acknowledgements that were.
    pub acknowledgements: f64,
    /// Frames that arrived, once for each receiver.
    pub receptions: f64,
    /// Bytes that were put on the air, without the radio's own headers.
    pub bytes: f64,
    /// How long radios sent, in seconds.
    pub airtime: f64,
    /// What they spent, in joules; most of it goes into listening.
    pub joules: f64,
    /// Not for an entry: how many of them sent at once, on average over time. In one cell, how much of the time the air
    /// was in use.
    pub sending: f64,
}

/// The links of the link layer, on average over time. See [`Bonds`].
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Links {
    /// How many a node had.
    pub degree: Estimate,
    /// How many came to be per time unit, in the whole network.
    pub formed: Estimate,
    /// How many broke per time unit.
    pub broken: Estimate,
}

/// The graph of those in range of one another, on average over time. See [`Graph`].
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Connectedness {
    /// The share of the time in which it was connected.
    pub connected: Estimate,
    /// The share of the nodes that were in its largest component.
    pub largest_component: Estimate,
    /// How many others were in range of a node.
    pub degree: Estimate,
}

impl Radio {
    pub(super) fn of(counted: &[&Replication]) -> Option<Self> {
        let per_entry = |value: fn(&Effort) -> f64| {
            let of = |replication: &&Replication| Some(value(&replication.effort?) / entries_of(replication) as f64);
            let values: Option<Vec<f64>> = counted.iter().map(of).collect();
            values.map(|values| Estimate::of(&values).mean)
        };
        Some(Self {
            transmissions: per_entry(|effort| effort.transmissions as f64)?,
            acknowledgements: per_entry(|effort| effort.acknowledgements as f64)?,
            receptions: per_entry(|effort| effort.receptions as f64)?,
            bytes: per_entry(|effort| effort.bytes as f64)?,
            airtime: per_entry(|effort| effort.airtime.units())?,
            joules: per_entry(|effort| effort.joules)?,
            sending: sending(counted)?,
        })
        .filter(|_| !counted.is_empty())
    }
}

impl Connectedness {
    pub(super) fn of(counted: &[&Replication]) -> Option<Self> {
        let graphs: Vec<Graph> = counted.iter().filter_map(|replication| replication.graph).collect();
        let estimate = |value: fn(&Graph) -> f64| Estimate::of(&graphs.iter().map(value).collect::<Vec<_>>());
        (!graphs.is_empty()).then(|| Self {
            connected: estimate(|graph| graph.connected),
            largest_component: estimate(|graph| graph.largest_component),
            degree: estimate(|graph| graph.degree),
        })
    }
}

impl Links {
    pub(super) fn of(nodes: u32, counted: &[&Replication]) -> Option<Self> {
        let bonds: Vec<_> = counted.iter().map(|replication| replication.bonds).collect::<Option<_>>()?;
        let over_time = |value: &dyn Fn(&Bonds) -> f64| {
            let of = |(replication, bonds): (&&Replication, &Bonds)| value(bonds) / units_of(&replication.tally);
            Estimate::of(&counted.iter().zip(&bonds).map(of).collect::<Vec<_>>())
        };
        (!counted.is_empty()).then(|| Self {
            degree: over_time(&|bonds| 2.0 * bonds.nanos as f64 / 1e9 / f64::from(nodes)),
            formed: over_time(&|bonds| bonds.formed as f64),
            broken: over_time(&|bonds| bonds.broken as f64),
        })
    }
}

/// Radios that sent at once.
fn sending(counted: &[&Replication]) -> Option<f64> {
    let of = |replication: &&Replication| Some(replication.effort?.airtime.units() / units_of(&replication.tally));
    let values: Option<Vec<f64>> = counted.iter().map(of).collect();
    values.map(|values| Estimate::of(&values).mean)
}

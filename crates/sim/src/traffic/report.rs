//! What came of it.

use driftlock_field::radio::Meter;
use driftlock_net::{Span, Time, aodv};
use serde::Serialize;

use super::{Exchange, Hours};

/// What was measured. A ratio of nothing is none.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Report {
    /// Requests that were sent.
    pub requests: u64,
    /// Requests that were not, because no node was near enough.
    pub nobody_near: u64,
    /// Requests that were not, because the node was down.
    pub down: u64,
    /// Requests that were not, because the node was absent: it had yet to appear, or had left.
    pub absent: u64,
    /// From when to when requests were sent, in seconds.
    pub sent: [f64; 2],
    /// When the movements of a file were over, if that was before the end: nothing was sent or received any more. In
    /// seconds.
    pub over: Option<f64>,
    /// Requests that arrived. Each is answered.
    pub requests_received: u64,
    /// Replies that arrived.
    pub replies_received: u64,
    /// Replies received by requests sent.
    pub delivery: Option<f64>,
    /// Requests received by requests sent.
    pub one_way: Option<f64>,
    /// From a request to its reply.
    pub round_trip: Option<Times>,
    /// Packets of the routers, counted each time they were handed to a radio.
    pub packets: Packets,
    /// Packets of routers other than data, by requests and replies sent.
    pub routing_per_message: Option<f64>,
    /// Data packets by requests and replies sent: how many hops they went.
    pub hops_per_message: Option<f64>,
    /// Events of radios, routers and applications.
    pub events: u64,
    /// What all radios did.
    pub radio: Meter,
    /// A proxy for the energy that they spent.
    pub joules: f64,
}

/// Spans of time, in seconds.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Times {
    /// The sum by the number.
    pub mean: f64,
    /// Half of them take no longer.
    pub p50: f64,
    /// Of twenty, nineteen take no longer.
    pub p95: f64,
}

/// What routers handed to their radios. Repetitions by the radio are not in these.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Packets {
    /// RREQ.
    pub requests: u64,
    /// RREP.
    pub replies: u64,
    /// RERR.
    pub errors: u64,
    /// Hello.
    pub hellos: u64,
    /// RREP-ACK.
    pub acknowledgements: u64,
    /// What the application sends.
    pub data: u64,
}

/// Requests that were not sent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Unsent {
    /// No node was near enough.
    pub(super) nobody_near: u64,
    /// The node was down.
    pub(super) down: u64,
    /// The node was absent.
    pub(super) absent: u64,
}

impl Packets {
    pub(super) fn count<A, D>(&mut self, packet: &aodv::Packet<A, D>) {
        let count = match packet {
            aodv::Packet::Request(_) => &mut self.requests,
            aodv::Packet::Reply(_) => &mut self.replies,
            aodv::Packet::Error(_) => &mut self.errors,
            aodv::Packet::Hello(_) => &mut self.hellos,
            aodv::Packet::Acknowledgement => &mut self.acknowledgements,
            aodv::Packet::Data(_) => &mut self.data,
        };
        *count += 1;
    }

    /// All but data.
    pub fn routing(&self) -> u64 {
        self.requests + self.replies + self.errors + self.hellos + self.acknowledgements
    }
}

impl Report {
    pub(super) fn new(
        exchanges: &[Exchange],
        packets: Packets,
        unsent: Unsent,
        hours: &Hours,
        events: u64,
        (radio, joules): (Meter, f64),
    ) -> Self {
        let requests = exchanges.len() as u64;
        let requests_received = exchanges.iter().filter(|exchange| exchange.has_arrived).count() as u64;
        let mut spans: Vec<Span> = exchanges.iter().filter_map(Exchange::round_trip).collect();
        spans.sort_unstable();
        let replies_received = spans.len() as u64;
        let messages = requests + requests_received;
        let by = |count: u64, of: u64| (of > 0).then(|| count as f64 / of as f64);
        Self {
            requests,
            nobody_near: unsent.nobody_near,
            down: unsent.down,
            absent: unsent.absent,
            sent: [hours.start.units(), hours.until.units()],
            over: hours.over.map(Time::units),
            requests_received,
            replies_received,
            delivery: by(replies_received, requests),
            one_way: by(requests_received, requests),
            round_trip: Times::of(&spans),
            packets,
            routing_per_message: by(packets.routing(), messages),
            hops_per_message: by(packets.data, messages),
            events,
            radio,
            joules,
        }
    }
}

impl Times {
    /// Of spans in growing order.
    fn of(spans: &[Span]) -> Option<Self> {
        let last = spans.len().checked_sub(1)?;
        let mean = spans.iter().map(|span| span.units()).sum::<f64>() / spans.len() as f64;
        Some(Self { mean, p50: spans[last / 2].units(), p95: spans[last * 19 / 20].units() })
    }
}

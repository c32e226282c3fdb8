//! Signals in the air, and what becomes of them at their receivers.

use driftlock_net::{Span, Time};
use driftlock_protocol::NodeId;

use super::settings::Delay;
use super::station::Arrival;
use super::weather::Subject;
use super::{Air, Effect, Event};

/// A frame that a node wants sent.
#[derive(Clone, Debug)]
pub(super) struct Job<F> {
    pub to: Option<NodeId>,
    pub bytes: u32,
    pub frame: F,
    /// Never used twice.
    pub serial: u64,
    /// How often it has been sent.
    pub transmissions: u32,
    /// The life of the receiver in which it has been handed over. A MAC remembers the last sequence number of every
    /// sender for this; as senders finish one frame before the next, remembering it with the frame is the same.
    pub handed_over: Option<u32>,
}

/// A transmission.
#[derive(Clone, Debug)]
pub(super) struct Signal {
    pub head: Head,
    /// The nodes that get anything of it.
    pub reach: Vec<NodeId>,
}

/// What there is to know of a transmission.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    pub from: NodeId,
    pub to: Option<NodeId>,
    pub content: Content,
    /// The sender's life. A crash cuts the transmission off.
    pub life: u32,
    pub began: Time,
    /// With headers.
    pub bytes: u32,
    /// How long a bit takes, in nanoseconds.
    pub bit: f64,
}

/// What is transmitted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Content {
    /// The frame of the job with this number.
    Data { job: u32 },
    /// That the frame with this serial has been received.
    Ack { serial: u64 },
}

/// A frame that has been received and is handed over later.
#[derive(Clone, Debug)]
pub(super) struct Late<F> {
    at: NodeId,
    life: u32,
    from: NodeId,
    frame: F,
}

/// What a signal was to a receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Outcome {
    /// Energy, no frame.
    Noise,
    /// A frame, but not an intact one.
    Garbled,
    /// A frame for others.
    Overheard,
    /// A frame for this node.
    Received,
}

impl<F: Clone> Air<F> {
    /// Tells what a signal that ends now was to one of those it reached.
    pub(super) fn outcome(&mut self, head: &Head, node: NodeId, arrival: &Arrival) -> Outcome {
        if !arrival.decodable {
            return Outcome::Noise;
        }
        let cut_off = self.stations[head.from.index()].life != head.life;
        let addressed = head.to.is_none_or(|to| to == node);
        let collided = !self.rules.medium.survives(arrival.power, arrival.interference);
        if !addressed && !arrival.deaf {
            return if collided || cut_off { Outcome::Garbled } else { Outcome::Overheard };
        }
        let faded =
            !collided && !cut_off && !arrival.deaf && self.fades(head, node, arrival.power, arrival.interference);
        let meter = &mut self.stations[node.index()].meter;
        if arrival.deaf {
            meter.missed += u64::from(addressed);
            return Outcome::Noise;
        }
        meter.collisions += u64::from(collided);
        meter.faded += u64::from(faded);
        if collided || cut_off || faded { Outcome::Garbled } else { Outcome::Received }
    }

    /// Whether weather or noise take the frame. One number of luck is held against all dangers together, so that with
    /// more danger the same frames are lost and others besides.
    pub(super) fn fades(&self, head: &Head, node: NodeId, power: f64, interference: f64) -> bool {
        let safe = (1.0 - self.rules.loss)
            * (1.0 - self.extra_loss)
            * (1.0 - self.extra_loss_at.get(node.index()).unwrap_or(&0.0))
            * (1.0 - self.weather.spell(head.from, node, head.began))
            * (1.0 - self.rules.medium.error(power, interference, head.bytes, head.bit));
        safe < 1.0 && self.weather.luck(head.from, node, head.began) < 1.0 - safe
    }

    /// A frame has been received: hands it over, now or later, once or twice, or not if it has been before.
    pub(super) fn hand_over(&mut self, now: Time, head: &Head, job: u32, node: NodeId, out: &mut Vec<Effect<F>>) {
        let Some(job) = self.jobs.get_mut(job) else { return };
        let station = &mut self.stations[node.index()];
        station.meter.data_received += 1;
        station.meter.bytes_received += u64::from(job.bytes);
        if self.watched {
            let (from, to, attempt) = (head.from, head.to, job.transmissions);
            out.push(Effect::Received { at: node, from, to, frame: job.frame.clone(), attempt });
        }
        if head.to.is_some() {
            if job.handed_over == Some(station.life) && !self.rules.duplicates {
                return;
            }
            job.handed_over = Some(station.life);
        }
        let chance = |subject, copy| self.weather.reception(subject, head.from, node, head.began, copy);
        let twice = self.rules.duplicated > 0.0 && chance(Subject::Duplicate, 0) < self.rules.duplicated;
        for copy in 0..=u64::from(twice) {
            let delay = match self.rules.delay {
                Delay::None => Span::ZERO,
                given => given.sample(chance(Subject::Delay, copy)),
            };
            let (from, frame) = (head.from, job.frame.clone());
            if delay == Span::ZERO {
                out.push(Effect::Heard { at: node, from, frame });
            } else {
                let late = self.late.insert(Late { at: node, life: station.life, from, frame });
                out.push(Effect::At(now + delay, Event::late(late)));
            }
        }
    }

    /// A frame that was held back is handed over, unless its receiver has crashed since.
    pub(super) fn on_late(&mut self, late: u32, out: &mut Vec<Effect<F>>) {
        let Some(Late { at, life, from, frame }) = self.late.remove(late) else { return };
        if self.stations[at.index()].life == life {
            out.push(Effect::Heard { at, from, frame });
        }
    }
}

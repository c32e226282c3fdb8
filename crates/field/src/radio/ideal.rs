//! The medium as papers assume it: every frame has it for itself, and arrives after a fixed time.

use driftlock_net::{Span, Time};
use driftlock_protocol::NodeId;

use super::reception::{Content, Head, Signal};
use super::{Air, Effect, Event};

impl<F: Clone> Air<F> {
    /// Puts the frame on its way. Which nodes it reaches, and in which weather, is decided now.
    pub(super) fn launch_ideal(
        &mut self,
        now: Time,
        from: NodeId,
        job: u32,
        latency: Span,
        surroundings: &mut impl FnMut(NodeId, f64, &mut Vec<(NodeId, f64)>),
        out: &mut Vec<Effect<F>>,
    ) {
        let Some(wanted) = self.jobs.get_mut(job) else { return };
        wanted.transmissions += 1;
        if self.watched {
            let (to, attempt) = (wanted.to, wanted.transmissions);
            out.push(Effect::OnAir { from, to, frame: wanted.frame.clone(), attempt });
        }
        let sender = &mut self.stations[from.index()];
        sender.meter.data_sent += 1;
        sender.meter.bytes_sent += u64::from(wanted.bytes);
        let (life, group) = (sender.life, sender.group);
        let (to, content, bytes) = (wanted.to, Content::Data { job }, wanted.bytes);
        let head = Head { from, to, content, life, began: now, bytes, bit: self.rules.csma.bit_of(to.is_some()) };

        let mut reach = self.spare.pop().unwrap_or_default();
        let mut nearby = std::mem::take(&mut self.nearby);
        nearby.clear();
        surroundings(from, self.rules.medium.reach(), &mut nearby);
        for &(node, distance) in &nearby {
            if node == from || head.to.is_some_and(|to| to != node) {
                continue;
            }
            let path = self.rules.medium.path(&self.weather, from, node, distance).filter(|path| path.decodable);
            let Some((path, station)) = path.zip(self.stations.get(node.index())) else { continue };
            if station.group != group || self.is_cut(from, node) {
                continue;
            }
            if self.fades(&head, node, path.power, 0.0) {
                self.stations[node.index()].meter.faded += 1;
            } else {
                reach.push(node);
            }
        }
        self.nearby = nearby;
        let signal = self.signals.insert(Signal { head, reach });
        out.push(Effect::At(now + latency, Event::over(signal)));
    }

    /// The frame arrives.
    pub(super) fn on_ideal_over(&mut self, now: Time, signal: u32, out: &mut Vec<Effect<F>>) {
        let Some(Signal { head, mut reach }) = self.signals.remove(signal) else { return };
        let Content::Data { job } = head.content else { return };
        let mut received = false;
        for &node in &reach {
            let station = &mut self.stations[node.index()];
            if station.is_off() || station.jammed {
                station.meter.missed += 1;
            } else {
                received = true;
                self.hand_over(now, &head, job, node, out);
            }
        }
        reach.clear();
        self.spare.push(reach);
        let sender = &mut self.stations[head.from.index()];
        let Some(job) = self.jobs.remove(job) else { return };
        if sender.life != head.life && !sender.absent {
            return;
        }
        match head.to {
            Some(to) if !received || sender.is_off() || sender.jammed => {
                sender.meter.failed += 1;
                out.push(Effect::Failed { from: head.from, to, frame: job.frame });
            }
            to => out.push(Effect::Sent { from: head.from, to, frame: job.frame }),
        }
    }
}

//! Listen before talk: when a station may send, and what happens when a transmission ends.

use std::hint;
use std::mem;

use driftlock_net::{Span, Time};
use driftlock_protocol::NodeId;

use super::reception::{Content, Head, Job, Outcome, Signal};
use super::station::Phase;
use super::{Air, Effect, Event};

impl<F: Clone> Air<F> {
    /// The station has a frame to send. If the medium has been idle for long enough and the backoff after its last
    /// frame is over, it sends at once; otherwise it waits for a random number of slots, so that stations that waited
    /// for the same do not collide.
    pub(super) fn contend(&mut self, now: Time, node: NodeId, out: &mut Vec<Effect<F>>) {
        let station = &mut self.stations[node.index()];
        station.phase = Phase::Contending;
        let idle = station.senses_nothing();
        if idle {
            station.backoff.count(now, self.rules.csma.slot);
        }
        let at_once = idle && station.backoff.slots.is_none() && now >= station.backoff.from;
        if station.backoff.slots.is_none() && !at_once {
            self.draw_backoff(now, node, 0);
        }
        if idle {
            let due = if at_once { now } else { self.stations[node.index()].backoff.due(self.rules.csma.slot) };
            self.arm(node, due, out);
        }
    }

    fn draw_backoff(&mut self, now: Time, node: NodeId, transmissions: u32) {
        let window = self.rules.csma.window(transmissions);
        let station = &mut self.stations[node.index()];
        let slots = self.weather.backoff(node, station.draws, window);
        station.draws += 1;
        station.backoff.begin(now, self.rules.csma.slot, slots);
    }

    /// Asks to be called when the station may send, unless the medium gets busy before.
    fn arm(&mut self, node: NodeId, due: Time, out: &mut Vec<Effect<F>>) {
        let station = &mut self.stations[node.index()];
        station.turn = station.turn.wrapping_add(1);
        out.push(Effect::At(due, Event::access(node, station.turn)));
    }

    /// One transmission less is sensed. If the medium is idle now, a waiting station counts slots again after the gap.
    pub(super) fn quieten(&mut self, now: Time, node: NodeId, gap: Span, out: &mut Vec<Effect<F>>) {
        let station = &mut self.stations[node.index()];
        if station.unsense(now, gap) && station.phase == Phase::Contending {
            let due = station.backoff.due(self.rules.csma.slot);
            self.arm(node, due, out);
        }
    }

    /// The wait is over: the station sends.
    pub(super) fn on_access(
        &mut self,
        now: Time,
        node: NodeId,
        turn: u32,
        surroundings: &mut impl FnMut(NodeId, f64, &mut Vec<(NodeId, f64)>),
        out: &mut Vec<Effect<F>>,
    ) {
        let station = &mut self.stations[node.index()];
        // One that is sending an acknowledgement counts anew when that is over.
        if station.turn != turn || station.phase != Phase::Contending || station.on_air {
            return;
        }
        let Some((&number, job)) = station.queue.front().and_then(|number| Some((number, self.jobs.get_mut(*number)?)))
        else {
            return;
        };
        station.phase = Phase::Sending;
        station.backoff.slots = None;
        station.meter.data_sent += 1;
        station.meter.bytes_sent += u64::from(job.bytes);
        station.meter.retries += u64::from(job.transmissions > 0);
        job.transmissions += 1;
        if self.watched {
            let (to, attempt) = (job.to, job.transmissions);
            out.push(Effect::OnAir { from: node, to, frame: job.frame.clone(), attempt });
        }
        let csma = &self.rules.csma;
        let airtime = csma.airtime(job.bytes, job.to.is_some());
        let head = Head {
            from: node,
            to: job.to,
            content: Content::Data { job: number },
            life: station.life,
            began: now,
            bytes: job.bytes.saturating_add(csma.overhead_bytes),
            bit: csma.bit_of(job.to.is_some()),
        };
        self.launch(now, head, airtime, surroundings, out);
    }

    /// Puts a transmission on the air. Which nodes it reaches is decided now, for its whole length.
    fn launch(
        &mut self,
        now: Time,
        head: Head,
        airtime: Span,
        surroundings: &mut impl FnMut(NodeId, f64, &mut Vec<(NodeId, f64)>),
        out: &mut Vec<Effect<F>>,
    ) {
        let csma = &self.rules.csma;
        let sender = &mut self.stations[head.from.index()];
        sender.keep_meter(now);
        sender.go_deaf();
        sender.sense(now, csma);
        sender.on_air = true;
        let group = sender.group;

        let signal = self.signals.insert(Signal { head, reach: Vec::new() });
        let mut reach = self.spare.pop().unwrap_or_default();
        self.nearby.clear();
        surroundings(head.from, self.rules.medium.reach(), &mut self.nearby);
        // A short loop of its own: the processor fetches many stations at once here, and would wait for each one below.
        let stations = &self.stations;
        self.nearby.retain(|(node, _)| {
            *node != head.from && stations.get(node.index()).is_some_and(|station| station.group == group)
        });
        if !self.cuts.is_empty() {
            let mut nearby = mem::take(&mut self.nearby);
            nearby.retain(|(node, _)| !self.is_cut(head.from, *node));
            self.nearby = nearby;
        }
        for &(node, distance) in &self.nearby {
            if let Some(path) = self.rules.medium.path(&self.weather, head.from, node, distance) {
                self.stations[node.index()].arrive(now, signal, path, csma);
                reach.push(node);
            }
        }
        if let Some(entry) = self.signals.get_mut(signal) {
            entry.reach = reach;
        }
        out.push(Effect::At(now + airtime, Event::over(signal)));
    }

    /// A transmission ends: first for all nodes that it reached, then for its sender.
    pub(super) fn on_over(&mut self, now: Time, signal: u32, out: &mut Vec<Effect<F>>) {
        let Some(Signal { head, mut reach }) = self.signals.remove(signal) else { return };
        // As in `launch`: all stations are fetched at once here.
        hint::black_box(reach.iter().map(|node| self.stations[node.index()].look_ahead()).sum::<u64>());
        let mut received = false;
        for &node in &reach {
            let Some(arrival) = self.stations[node.index()].depart(signal) else { continue };
            let outcome = self.outcome(&head, node, &arrival);
            if arrival.sensed {
                let csma = &self.rules.csma;
                let gap = if outcome == Outcome::Garbled { csma.eifs() } else { csma.difs };
                self.quieten(now, node, gap, out);
            }
            if outcome == Outcome::Received {
                received = true;
                if let Content::Data { job } = head.content {
                    self.hand_over(now, &head, job, node, out);
                }
            }
        }
        reach.clear();
        self.spare.push(reach);
        self.leave_air(now, &head, out);
        match head.content {
            Content::Ack { serial } => self.on_ack_over(now, head.to, serial, received, out),
            Content::Data { .. } => self.on_data_over(now, &head, received, out),
        }
    }

    fn leave_air(&mut self, now: Time, head: &Head, out: &mut Vec<Effect<F>>) {
        let station = &mut self.stations[head.from.index()];
        station.keep_meter(now);
        station.on_air = false;
        let expects_ack = head.to.is_some() && matches!(head.content, Content::Data { .. });
        let gap = if expects_ack { self.rules.csma.eifs() } else { self.rules.csma.difs };
        self.quieten(now, head.from, gap, out);
    }

    /// A broadcast is done. After a unicast the sender waits: for the acknowledgement if there will be one, or in vain.
    fn on_data_over(&mut self, now: Time, head: &Head, received: bool, out: &mut Vec<Effect<F>>) {
        let csma = &self.rules.csma;
        let sender = &mut self.stations[head.from.index()];
        if sender.life != head.life {
            return;
        }
        let Some(to) = head.to else {
            self.finish(now, head.from, true, out);
            return;
        };
        sender.phase = Phase::AwaitingAck;
        sender.deadline = now + csma.eifs();
        sender.turn = sender.turn.wrapping_add(1);
        let serial = sender.queue.front().and_then(|&job| self.jobs.get(job)).map(|job| job.serial);
        let Some(serial) = serial else { return };
        if !received {
            self.no_ack(head.from, serial, out);
            return;
        }
        let ack = Head {
            from: to,
            to: Some(head.from),
            content: Content::Ack { serial },
            life: self.stations[to.index()].life,
            began: now + csma.sifs,
            bytes: csma.ack_bytes,
            bit: csma.basic_bit,
        };
        let due = ack.began;
        let signal = self.signals.insert(Signal { head: ack, reach: Vec::new() });
        out.push(Effect::At(due, Event::ack(signal)));
    }

    /// An acknowledgement is due. It is sent whatever the medium is like.
    pub(super) fn on_ack(
        &mut self,
        now: Time,
        signal: u32,
        surroundings: &mut impl FnMut(NodeId, f64, &mut Vec<(NodeId, f64)>),
        out: &mut Vec<Effect<F>>,
    ) {
        let Some(Signal { head, .. }) = self.signals.remove(signal) else { return };
        let station = &mut self.stations[head.from.index()];
        if station.life != head.life || station.on_air {
            if let (Some(to), Content::Ack { serial }) = (head.to, head.content) {
                self.no_ack(to, serial, out);
            }
            return;
        }
        station.meter.acks_sent += 1;
        let airtime = self.rules.csma.ack_airtime();
        self.launch(now, head, airtime, surroundings, out);
    }

    fn on_ack_over(&mut self, now: Time, to: Option<NodeId>, serial: u64, received: bool, out: &mut Vec<Effect<F>>) {
        let Some(to) = to else { return };
        if !received {
            self.no_ack(to, serial, out);
            return;
        }
        self.stations[to.index()].meter.acks_received += 1;
        if self.awaits(to, serial) {
            self.finish(now, to, true, out);
        }
    }

    /// Whether the station waits for the acknowledgement of this very frame.
    fn awaits(&self, node: NodeId, serial: u64) -> bool {
        let station = &self.stations[node.index()];
        station.phase == Phase::AwaitingAck
            && station.queue.front().and_then(|&job| self.jobs.get(job)).is_some_and(|job| job.serial == serial)
    }

    /// There will be no acknowledgement, which the sender finds out at its deadline. Only then is an event needed for
    /// it.
    fn no_ack(&self, node: NodeId, serial: u64, out: &mut Vec<Effect<F>>) {
        if self.awaits(node, serial) {
            let station = &self.stations[node.index()];
            out.push(Effect::At(station.deadline, Event::timeout(node, station.turn)));
        }
    }

    /// No acknowledgement has come: once more with twice the window, or never again.
    pub(super) fn on_timeout(&mut self, now: Time, node: NodeId, turn: u32, out: &mut Vec<Effect<F>>) {
        let station = &mut self.stations[node.index()];
        if station.turn != turn || station.phase != Phase::AwaitingAck {
            return;
        }
        let Some(job) = station.queue.front().and_then(|&job| self.jobs.get(job)) else { return };
        if job.transmissions > self.rules.csma.retries {
            station.meter.failed += 1;
            self.finish(now, node, false, out);
            return;
        }
        let transmissions = job.transmissions;
        self.draw_backoff(now, node, transmissions);
        self.contend(now, node, out);
    }

    /// The first frame of the queue is done with. The station waits for some slots before its next, if it has one or
    /// not.
    fn finish(&mut self, now: Time, node: NodeId, sent: bool, out: &mut Vec<Effect<F>>) {
        let station = &mut self.stations[node.index()];
        station.phase = Phase::Quiet;
        let Some(job) = station.queue.pop_front().and_then(|job| self.jobs.remove(job)) else { return };
        let more = !station.queue.is_empty();
        out.push(match (sent, job.to) {
            (false, Some(to)) => Effect::Failed { from: node, to, frame: job.frame },
            (_, to) => Effect::Sent { from: node, to, frame: job.frame },
        });
        self.draw_backoff(now, node, 0);
        if more {
            self.contend(now, node, out);
        }
    }

    /// The station gives up all it wanted to send.
    pub(super) fn give_up(&mut self, node: NodeId, out: &mut Vec<Effect<F>>) {
        for job in self.forget(node) {
            if let Some(to) = job.to {
                self.stations[node.index()].meter.failed += 1;
                out.push(Effect::Failed { from: node, to, frame: job.frame });
            }
        }
    }

    /// The station forgets all it wanted to send: this.
    pub(super) fn forget(&mut self, node: NodeId) -> Vec<Job<F>> {
        let station = &mut self.stations[node.index()];
        station.phase = Phase::Quiet;
        station.turn = station.turn.wrapping_add(1);
        station.backoff.slots = None;
        mem::take(&mut station.queue).into_iter().filter_map(|job| self.jobs.remove(job)).collect()
    }
}

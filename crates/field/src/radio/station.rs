//! One node's radio: what it hears now, what it waits to send, and how long it still has to wait.

use std::collections::VecDeque;

use driftlock_net::{Span, Time};

use super::meter::{Meter, Mode, Spans};
use super::propagation::Path;
use super::rules::CsmaRules;

/// The radio of one node. A transmission visits all that sense it twice, and among thousands of nodes each visit is a
/// walk to main memory: what every visit needs comes first, in two cache lines.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct Station {
    arriving: Arriving,
    /// The sum of what arrives.
    power: f64,
    /// How many transmissions it senses, its own and a jammer included.
    busy: u32,
    /// Nodes of different groups do not hear each other.
    pub group: u32,
    /// Grows with every crash, and when the node leaves, so that what was meant for a former life is known.
    pub life: u32,
    /// The one event that may still come for the phase carries this number; those with older ones are stale.
    pub turn: u32,
    pub phase: Phase,
    pub down: bool,
    /// It is not there.
    pub absent: bool,
    pub jammed: bool,
    pub on_air: bool,
    pub backoff: Backoff,
    spans: Spans,

    /// How many backoffs have been drawn.
    pub draws: u64,
    /// When the acknowledgement is given up.
    pub deadline: Time,
    /// What is to be sent, by number; the first is being worked on.
    pub queue: VecDeque<u32>,
    pub meter: Meter,
}

/// What a station does about the first frame of its queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    /// There is none.
    Quiet,
    /// It waits for the medium.
    Contending,
    /// It sends it.
    Sending,
    /// It has sent it and waits for the acknowledgement.
    AwaitingAck,
}

/// The signals at a receiver. Mostly there is one at a time, which is kept here; for others memory is allocated
/// elsewhere.
#[derive(Clone, Debug, Default)]
struct Arriving {
    one: Option<Arrival>,
    others: Vec<Arrival>,
}

/// A signal at a receiver.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    signal: u32,
    pub power: f64,
    /// The most that ever overlapped it.
    pub interference: f64,
    pub decodable: bool,
    pub sensed: bool,
    /// The node could not listen, at least for a part of it.
    pub deaf: bool,
}

/// Slots still to be waited. They lie on a grid that begins a gap after the medium became idle, so all that sense the
/// same medium share it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Backoff {
    /// From when slots count, while the medium is idle.
    pub from: Time,
    /// Slots from then on. None: the last backoff is over, and none has been drawn since.
    pub slots: Option<u32>,
}

impl Station {
    pub(super) fn new() -> Self {
        Self {
            arriving: Arriving::default(),
            power: 0.0,
            busy: 0,
            group: 0,
            life: 0,
            turn: 0,
            phase: Phase::Quiet,
            down: false,
            absent: false,
            jammed: false,
            on_air: false,
            backoff: Backoff { from: Time::ZERO, slots: None },
            spans: Spans::default(),
            draws: 0,
            deadline: Time::ZERO,
            queue: VecDeque::new(),
            meter: Meter::default(),
        }
    }

    /// Reads what a visit is going to need, for a loop over many stations that has the processor fetch all of them at
    /// once. The answer is of no use otherwise.
    pub(super) fn look_ahead(&self) -> u64 {
        u64::from(self.busy) + self.spans.idle_ns + u64::from(self.arriving.one.is_some())
    }

    /// Whether its radio neither sends nor hears nor spends anything.
    pub(super) fn is_off(&self) -> bool {
        self.down || self.absent
    }

    pub(super) fn senses_nothing(&self) -> bool {
        self.busy == 0
    }

    /// A signal begins here.
    pub(super) fn arrive(&mut self, now: Time, signal: u32, path: Path, csma: &CsmaRules) {
        self.power += path.power;
        for other in self.arriving.iter_mut() {
            other.interference = other.interference.max(self.power - other.power);
        }
        self.arriving.push(Arrival {
            signal,
            power: path.power,
            interference: self.power - path.power,
            decodable: path.decodable,
            sensed: path.sensed,
            deaf: self.on_air || self.is_off() || self.jammed,
        });
        if path.sensed {
            self.sense(now, csma);
        }
    }

    /// A signal ends here. (A call of its own would copy the arrival once more, at every receiver of every frame.)
    #[inline]
    pub(super) fn depart(&mut self, signal: u32) -> Option<Arrival> {
        let arrival = self.arriving.remove(signal)?;
        // Sums of what comes and goes drift; silence is zero.
        self.power = if self.arriving.is_empty() { 0.0 } else { self.power - arrival.power };
        Some(arrival)
    }

    /// What was meant for it before, or is arriving now, is lost on it.
    pub(super) fn begin_life(&mut self) {
        self.life = self.life.wrapping_add(1);
        self.go_deaf();
    }

    /// What is arriving is lost on this node.
    pub(super) fn go_deaf(&mut self) {
        for arrival in self.arriving.iter_mut() {
            arrival.deaf = true;
        }
    }

    /// One transmission more is sensed.
    pub(super) fn sense(&mut self, now: Time, csma: &CsmaRules) {
        if self.busy == 0 {
            self.keep_meter(now);
            self.freeze(now, csma);
        }
        self.busy += 1;
    }

    /// One transmission less is sensed. If it was the last, slots count again after this gap, and the answer is yes.
    pub(super) fn unsense(&mut self, now: Time, gap: Span) -> bool {
        if self.busy == 1 {
            self.keep_meter(now);
            self.backoff.from = now + gap;
        }
        self.busy = self.busy.saturating_sub(1);
        self.busy == 0
    }

    /// The medium is no longer idle: the slots that have passed are forgotten, the others wait. A station that is about
    /// to begin does not notice.
    fn freeze(&mut self, now: Time, csma: &CsmaRules) {
        if self.phase == Phase::Contending {
            if self.backoff.due(csma.slot) <= now + csma.turnaround {
                return;
            }
            self.turn = self.turn.wrapping_add(1);
        }
        self.backoff.count(now, csma.slot);
    }

    /// Writes down what the radio has been doing until now. To be called before that changes.
    pub(super) fn keep_meter(&mut self, now: Time) {
        let mode = self.mode();
        self.spans.spend(now, mode);
    }

    /// The meter with what the radio has been doing until now.
    pub(super) fn metered_until(&self, now: Time) -> Meter {
        let mut spans = self.spans;
        spans.spend(now, self.mode());
        let Spans { transmitting_ns, receiving_ns, idle_ns, .. } = spans;
        Meter { transmitting_ns, receiving_ns, idle_ns, ..self.meter }
    }

    fn mode(&self) -> Mode {
        if self.is_off() {
            Mode::Off
        } else if self.on_air {
            Mode::Transmitting
        } else if self.busy > 0 {
            Mode::Receiving
        } else {
            Mode::Idle
        }
    }
}

impl Arriving {
    fn is_empty(&self) -> bool {
        self.one.is_none() && self.others.is_empty()
    }

    fn iter_mut(&mut self) -> impl Iterator<Item = &mut Arrival> {
        self.one.iter_mut().chain(&mut self.others)
    }

    fn push(&mut self, arrival: Arrival) {
        if self.one.is_none() {
            self.one = Some(arrival);
        } else {
            self.others.push(arrival);
        }
    }

    fn remove(&mut self, signal: u32) -> Option<Arrival> {
        let one = self.one.take_if(|arrival| arrival.signal == signal);
        one.or_else(|| {
            let place = self.others.iter().position(|arrival| arrival.signal == signal)?;
            Some(self.others.swap_remove(place))
        })
    }
}

impl Backoff {
    /// When all slots will have passed, if the medium stays idle.
    pub(super) fn due(&self, slot: Span) -> Time {
        self.from + slot * u64::from(self.slots.unwrap_or(0))
    }

    /// Forgets the slots that have passed.
    pub(super) fn count(&mut self, now: Time, slot: Span) {
        let Some(slots) = self.slots else { return };
        if now < self.from {
            return;
        }
        let passed = (now - self.from).0 / slot.0;
        if passed >= u64::from(slots) {
            self.slots = None;
        } else {
            self.from = self.from + slot * passed;
            self.slots = u32::try_from(passed).ok().map(|passed| slots - passed);
        }
    }

    /// Begins a new wait at the next line of the grid.
    pub(super) fn begin(&mut self, now: Time, slot: Span, slots: u32) {
        if now > self.from {
            self.from = self.from + slot * (now - self.from).0.div_ceil(slot.0);
        }
        self.slots = Some(slots);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLOT: Span = Span(20);

    #[test]
    fn what_a_visit_needs_is_in_two_cache_lines() {
        assert!(std::mem::offset_of!(Station, draws) <= 128);
    }

    #[test]
    fn passed_slots_are_forgotten_and_begun_ones_are_not() {
        let mut backoff = Backoff { from: Time(100), slots: Some(5) };
        assert_eq!(backoff.due(SLOT), Time(200));
        backoff.count(Time(90), SLOT);
        assert_eq!((backoff.from, backoff.slots), (Time(100), Some(5)));
        backoff.count(Time(159), SLOT);
        assert_eq!((backoff.from, backoff.slots), (Time(140), Some(3)));
        backoff.count(Time(200), SLOT);
        assert_eq!(backoff.slots, None);
    }

    #[test]
    fn a_drawn_zero_is_still_to_be_waited_for() {
        let mut backoff = Backoff { from: Time(100), slots: Some(0) };
        backoff.count(Time(99), SLOT);
        assert_eq!(backoff.slots, Some(0));
        backoff.count(Time(100), SLOT);
        assert_eq!(backoff.slots, None);
    }

    #[test]
    fn a_new_wait_begins_on_the_common_grid() {
        let mut backoff = Backoff { from: Time(100), slots: None };
        backoff.begin(Time(141), SLOT, 2);
        assert_eq!((backoff.from, backoff.due(SLOT)), (Time(160), Time(200)));
        backoff.begin(Time(50), SLOT, 2);
        assert_eq!(backoff.from, Time(160));
    }
}

//! How fast simulated time goes by for people who watch.

// What is simulated knows no clock; that it goes by as people's time does is seen to here.
#![allow(clippy::disallowed_types, clippy::disallowed_methods)]

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use driftlock_net::{Span, Time};

/// The slowest and the fastest.
const SPEEDS: (f64, f64) = (0.05, 100.0);

/// Reads how fast time is to go by.
pub(crate) fn speed(text: &str) -> Result<f64, String> {
    let speed = text.parse().ok().filter(|speed| (SPEEDS.0..=SPEEDS.1).contains(speed));
    speed.ok_or_else(|| format!("it must be a number from {} to {}", SPEEDS.0, SPEEDS.1))
}

/// Simulated time as it should be by now. It can be stopped, and made faster or slower, while it goes on.
pub(crate) struct Clock {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Clone, Copy)]
struct State {
    /// It was this time ...
    from: Time,
    /// ... then, and has gone by so fast since.
    since: Instant,
    speed: f64,
    held: bool,
}

impl State {
    fn now(&self) -> Time {
        let passed = if self.held { 0.0 } else { self.since.elapsed().as_secs_f64() * self.speed };
        self.from + Span::from_units(passed)
    }
}

impl Clock {
    pub(crate) fn new(speed: f64) -> Self {
        let state = State { from: Time::ZERO, since: Instant::now(), speed, held: false };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// The time that it should be.
    pub(crate) fn now(&self) -> Time {
        self.state().now()
    }

    /// It is this time now: a new run has begun, or the machine does not keep up.
    pub(crate) fn set_now(&self, now: Time) {
        let mut state = self.state();
        (state.from, state.since) = (now, Instant::now());
    }

    /// How fast it goes, and whether it stands still.
    pub(crate) fn speed(&self) -> (f64, bool) {
        let state = self.state();
        (state.speed, state.held)
    }

    /// Goes on so fast; as fast as that makes sense.
    pub(crate) fn set_speed(&self, speed: f64) {
        self.change(|state| state.speed = if speed.is_finite() { speed.clamp(SPEEDS.0, SPEEDS.1) } else { 1.0 });
    }

    /// Stands still, or goes on.
    pub(crate) fn hold(&self, held: bool) {
        self.change(|state| state.held = held);
    }

    /// Waits until it is this time, but not for longer than so long. Tells whether it is.
    pub(crate) fn wait_until(&self, time: Time, at_most: Duration) -> bool {
        let state = self.state();
        let missing = time.since(state.now()).units() / state.speed;
        if missing <= 0.0 {
            return true;
        }
        let wait = if state.held { at_most } else { Duration::from_secs_f64(missing.min(at_most.as_secs_f64())) };
        let (state, _) = self.changed.wait_timeout(state, wait).unwrap_or_else(PoisonError::into_inner);
        state.now() >= time
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.state();
        (state.from, state.since) = (state.now(), Instant::now());
        change(&mut state);
        self.changed.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_speed_is_neither_nothing_nor_everything() {
        assert_eq!((speed("0.05"), speed("100"), speed("2")), (Ok(0.05), Ok(100.0), Ok(2.0)));
        for nonsense in ["0", "-1", "nan", "inf", "101", "fast", ""] {
            assert_eq!(speed(nonsense).unwrap_err(), "it must be a number from 0.05 to 100", "{nonsense}");
        }
    }

    #[test]
    fn time_goes_by_unless_it_is_held_and_does_not_jump_when_the_speed_changes() {
        let clock = Clock::new(1.0);
        clock.hold(true);
        clock.set_now(Time::from_units(100.0));
        clock.set_speed(1e9);
        assert_eq!((clock.now(), clock.speed()), (Time::from_units(100.0), (SPEEDS.1, true)));
        assert!(!clock.wait_until(Time::from_units(100.1), Duration::from_millis(1)));
        clock.hold(false);
        while !clock.wait_until(Time::from_units(100.1), Duration::from_secs(1)) {}
        assert!(clock.now() >= Time::from_units(100.1));
        clock.set_speed(f64::NAN);
        assert_eq!(clock.speed(), (1.0, false));
    }
}

//! `driftlock sim --view`: one replication in the browser, as slowly as people can follow.

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use driftlock_net::Time;
use driftlock_sim::config::Plan;
use driftlock_sim::run::{replicate, trace_header};
use driftlock_trace::Writer;
use driftlock_viewer::{Hub, Sink, Source};
use serde_json::json;

use crate::clock::Clock;
use crate::demo::command::Command;
use crate::failure::{Failure, Outcome};
use crate::results::print;
use crate::view::{At, announcement, tell};

/// How often the page hears that nothing has happened.
const SILENCE: Duration = Duration::from_millis(100);
/// Pages get so many bytes of a run, and no more: they keep them all.
const HISTORY_MAX: usize = 256 << 20;
/// Time units a second: messages by decree take a whole one.
const SPEED_BY_DECREE: f64 = 4.0;

pub(super) fn watch(plan: &Plan, replication: u32, at: At) -> Outcome {
    let server = at.server()?;
    print(&announcement(&server))?;
    let clock = Arc::new(Clock::new(if plan.config.field.is_some() { 1.0 } else { SPEED_BY_DECREE }));
    let hub = Hub::default();
    let sink = Paced {
        sink: hub.begin(),
        hub: hub.clone(),
        clock: clock.clone(),
        line: Vec::new(),
        lines: 0,
        most: HISTORY_MAX,
    };
    let writer = Writer::new(Box::new(sink), &trace_header(plan, replication));
    describe(&hub, &clock);
    let (to, commanded) = (hub.clone(), clock.clone());
    let commands = Arc::new(move |text: &str| obey(&to, &commanded, text));
    let serving = thread::spawn(move || server.run(Source::Stream { name: "simulation".into(), hub, commands }));
    clock.set_now(Time::ZERO);
    let over = replicate(plan, replication, writer.into());
    let over = over.map_err(|error| Failure::Other(format!("the page cannot be fed any more: {error}")))?;
    let held = "everything held".to_owned();
    let verdict = over.violation.as_ref().map_or(held, |violation| format!("VIOLATED: {violation}"));
    print(&format!("the simulation is over: {} entries, {verdict}; the page stays\n", over.tally.waits.len()))?;
    match serving.join() {
        Ok(Err(error)) => Err(Failure::Other(format!("the page cannot be served any more: {error}"))),
        Ok(Ok(())) | Err(_) => Ok(ExitCode::from(u8::from(over.violation.is_some()))),
    }
}

/// How fast it goes is all that can be changed: the rest follows from the seed.
fn obey(hub: &Hub, clock: &Clock, text: &str) {
    match Command::read(text) {
        Ok(Command::Speed(speed)) => clock.set_speed(speed),
        Ok(Command::Hold(held)) => clock.hold(held),
        Ok(_) => refuse(hub, "a simulation follows its seed: only driftlock demo can be meddled with"),
        Err(refused) => refuse(hub, &refused),
    }
    describe(hub, clock);
}

fn refuse(hub: &Hub, why: &str) {
    hub.tell(&json!({ "refused": why }).to_string());
}

fn describe(hub: &Hub, clock: &Clock) {
    let (speed, paused) = clock.speed();
    let demo = json!({ "demo": { "algorithms": [], "speed": speed, "paused": paused, "canAct": false } });
    hub.tell(&demo.to_string());
}

/// Hands each line on when it is due, and holds the simulation up until then.
struct Paced {
    sink: Sink,
    hub: Hub,
    clock: Arc<Clock>,
    line: Vec<u8>,
    lines: u64,
    /// How many bytes are handed on.
    most: usize,
}

impl Paced {
    fn hand_on(&mut self) -> io::Result<()> {
        if self.hub.bytes() > self.most {
            self.line.clear();
            return Ok(());
        }
        let due = time_of(&self.line);
        if self.lines == 1 {
            // On tracks the first node may come late, and nothing happens before.
            self.clock.set_now(due);
        }
        while !self.clock.wait_until(due, SILENCE) {
            let now = self.clock.now().min(due).0;
            self.hub.tell(&json!({ "now": now, "checked": self.lines }).to_string());
        }
        self.lines += 1;
        self.sink.write_all(&self.line)?;
        self.line.clear();
        self.sink.flush()?;
        if self.hub.bytes() > self.most {
            let megabytes = self.most >> 20;
            tell(
                &self.hub,
                &format!(
                    "The run has grown to {megabytes} MB, as much as a page keeps: it ends here. The simulation goes on; --trace keeps all of it."
                ),
            );
        }
        Ok(())
    }
}

impl Write for Paced {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.line.extend_from_slice(bytes);
        if self.line.ends_with(b"\n") {
            self.hand_on()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}

/// When a line of a trace is due: its first field says so. The first and the last have none.
fn time_of(line: &[u8]) -> Time {
    let digits = line.strip_prefix(b"{\"t\":").unwrap_or_default();
    let number = digits.iter().take_while(|byte| byte.is_ascii_digit());
    Time(number.fold(0, |number: u64, digit| number.saturating_mul(10).saturating_add(u64::from(digit - b'0'))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_gets_only_as_much_as_it_keeps_and_is_told_so_once() {
        let hub = Hub::default();
        let clock = Arc::new(Clock::new(1.0));
        let mut paced = Paced { sink: hub.begin(), hub: hub.clone(), clock, line: Vec::new(), lines: 0, most: 100 };
        let line = [b"{\"t\":0,\"x\":1}\n"; 50];
        let sizes = line.map(|line| paced.write_all(line).map(|()| hub.bytes()).expect("written"));
        let last = *sizes.last().expect("some");
        assert!(sizes[0] < 100 && last > 200, "{sizes:?}");
        assert_eq!(sizes.iter().filter(|&&size| size == last).count(), 50 - 7, "{sizes:?}");
    }

    #[test]
    fn a_line_says_when_it_is_due() {
        assert_eq!(time_of(br#"{"t":1234,"node":5}"#), Time(1234));
        assert_eq!(time_of(br#"{"end":{"steps":3}}"#), Time::ZERO);
        assert_eq!(time_of(br#"{"t":99999999999999999999999}"#), Time::END);
    }
}

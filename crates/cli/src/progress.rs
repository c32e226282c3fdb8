//! How far long work is, on standard error: a bar for people, and now and then a line for logs.

// People who wait go by the clock on the wall; no result does.
#![allow(clippy::disallowed_types, clippy::disallowed_methods)]

use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{HumanDuration, ProgressBar, ProgressStyle};

/// Where no bar can be seen there is a line, no more often than this.
const BETWEEN_LINES: Duration = Duration::from_secs(30);

/// So many steps, with an estimate of the time left.
pub(crate) struct Progress {
    bar: ProgressBar,
    what: &'static str,
    line_at: Mutex<Instant>,
}

impl Progress {
    pub(crate) fn new(steps: u64, what: &'static str) -> Self {
        let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len}, {eta} left")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar = ProgressBar::new(steps).with_style(style).with_message(what);
        Self { bar, what, line_at: Mutex::new(Instant::now()) }
    }

    /// A step is done.
    pub(crate) fn step(&self) {
        self.bar.inc(1);
        if !self.bar.is_hidden() {
            return;
        }
        if let Ok(mut line_at) = self.line_at.try_lock()
            && line_at.elapsed() >= BETWEEN_LINES
        {
            *line_at = Instant::now();
            let (done, of) = (self.bar.position(), self.bar.length().unwrap_or_default());
            eprintln!("{done} of {of} {}, about {} left", self.what, HumanDuration(self.bar.eta()));
        }
    }

    /// All is done.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// The number of threads that the user asks for.
pub(crate) fn threads(text: &str) -> Result<usize, String> {
    const MOST: usize = 1024;
    let number = text.parse().ok().filter(|&number| number <= MOST);
    number.ok_or_else(|| format!("a number of threads is from 0 (one for each core) to {MOST}"))
}

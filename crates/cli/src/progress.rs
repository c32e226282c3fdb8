//! A progress bar on standard error, which shows itself only to people.

use indicatif::{ProgressBar, ProgressStyle};

/// A bar of so many steps, with an estimate of the time left.
pub(crate) fn bar(steps: u64, what: &'static str) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len}, {eta} left")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(steps).with_style(style).with_message(what)
}

/// The number of threads that somebody asks for.
pub(crate) fn threads(text: &str) -> Result<usize, String> {
    const MOST: usize = 1024;
    let number = text.parse().ok().filter(|&number| number <= MOST);
    number.ok_or_else(|| format!("a number of threads is from 0 (one for each core) to {MOST}"))
}

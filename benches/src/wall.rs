//! Time on the wall, for work on several threads that should be over soon.

use std::time::Duration;

/// The result of `work` and how long it took.
#[allow(clippy::disallowed_types, clippy::disallowed_methods)] // a benchmark measures
pub fn time<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = std::time::Instant::now();
    let result = work();
    (result, start.elapsed())
}

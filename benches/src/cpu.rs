//! CPU time, which unlike the wall clock does not run on while other processes have the processor.

use std::time::Duration;

use cpu_time::ProcessTime;

/// The result of `work` and the CPU time that all threads of this process spent meanwhile.
pub fn time<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = ProcessTime::now();
    let result = work();
    (result, start.elapsed())
}

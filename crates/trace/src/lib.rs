//! driftlock-trace

//! driftlock-sim

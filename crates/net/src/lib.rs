//! driftlock-net

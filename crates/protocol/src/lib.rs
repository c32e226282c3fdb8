//! driftlock-protocol

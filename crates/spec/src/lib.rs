//! driftlock-spec

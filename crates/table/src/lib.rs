//! driftlock-table

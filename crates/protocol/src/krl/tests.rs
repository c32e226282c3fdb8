//! Paper tests.

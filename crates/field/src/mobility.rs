//! How nodes move.

//! Whole stacks over radios: several resources side by side, and what a node takes on and what it refuses.

#[path = "../link/rng.rs"]
#[allow(dead_code)] // other tests use the rest of it
mod rng;

mod adverts;
mod air;
mod large;
mod residents;
mod restarts;

//! The contract of the link layer, under everything that a radio can do.

mod crowd;
mod observer;
mod rng;
mod sparing;

mod beacons;
mod histories;
mod pairs;
mod restarts;
mod silence;

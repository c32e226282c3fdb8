//! The numbers of the link layer.

use serde::{Deserialize, Serialize};

use crate::Time;

/// How patient and how talkative a link is. The defaults suit a radio with delays of milliseconds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Settings {
    /// The shortest mean time between two hellos of a node, less a quarter that jitter may add.
    pub hello_ms: u32,
    /// The most hellos that a node should hear in a second; the intervals of all around it grow until that is kept.
    pub hellos_per_second_max: u32,
    /// Of the last [`Self::hellos_window`] hellos of a neighbour so many must have been heard before it counts.
    pub hellos_up: u32,
    /// How many hellos of a neighbour are looked back at: at most 32.
    pub hellos_window: u32,
    /// A neighbour that is silent for so many of its intervals is gone.
    pub hellos_down: u32,
    /// The most neighbours without a link that one hello lists.
    pub list_max: u32,
    /// A pair needs no link if so many others, ranked better, make up for it. With 0 every pair gets one.
    pub spare_witnesses: u32,
    /// For so long others must have made up for a link before it is given up.
    pub spare_ms: u32,
    /// The most calls in a second among all that a node hears.
    pub calls_per_second_max: u32,
    /// The most messages on the way to one neighbour, unacknowledged.
    pub window: u32,
    /// How long an acknowledgement waits at least for a message that could carry it, and at most twice as long.
    pub ack_delay_ms: u32,
    /// How long an acknowledgement is waited for while round trips have not been measured.
    pub retransmit_ms: u32,
    /// The shortest wait for an acknowledgement.
    pub retransmit_ms_min: u32,
    /// The longest.
    pub retransmit_ms_max: u32,
    /// How often a call, or the answer to one, is transmitted.
    pub tries_max: u32,
    /// The first wait before what is in doubt is offered to a former neighbour over a path. The next ones double.
    pub offer_ms: u32,
    /// The longest.
    pub offer_ms_max: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            hello_ms: 1_000,
            hellos_per_second_max: 50,
            hellos_up: 2,
            hellos_window: 3,
            hellos_down: 4,
            list_max: 32,
            spare_witnesses: 2,
            spare_ms: 10_000,
            calls_per_second_max: 25,
            window: 16,
            ack_delay_ms: 10,
            retransmit_ms: 200,
            retransmit_ms_min: 50,
            retransmit_ms_max: 2_000,
            tries_max: 5,
            offer_ms: 1_000,
            offer_ms_max: 60_000,
        }
    }
}

impl Settings {
    /// The first wait of a series of `tries`, doubled with each, up to the longest.
    pub(crate) fn backed_off(first: Time, tries: u32, longest_ms: u32) -> Time {
        let doubled = first.0.saturating_mul(1 << tries.min(20));
        Time(doubled.min(from_ms(longest_ms).0))
    }
}

/// So many milliseconds.
pub(crate) fn from_ms(ms: u32) -> Time {
    Time(u64::from(ms) * 1_000_000)
}

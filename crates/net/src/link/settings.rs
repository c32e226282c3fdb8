//! The numbers of the link layer.

use serde::{Deserialize, Serialize};

use crate::Span;

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
    /// A neighbour that is silent for so many of the intervals that it has announced is gone, for links and routes.
    pub hellos_down: u32,
    /// How often a neighbour must have been asked something before its silence means more than that it speaks rarely:
    /// it is gone when as many shortest intervals, [`Self::hello_ms`], have passed since the first question.
    pub questions_min: u32,
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
    /// The most messages that wait for one neighbour. One that is full and gets another one is given up, unless that
    /// carries permits.
    pub queue_max: u32,
    /// The most neighbours, and former ones that have to be remembered. Others are not heard.
    pub peers_max: u32,
    /// A message to several at once is put off by some part of this.
    pub share_jitter_ms: u32,
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
            hellos_down: 3,
            questions_min: 4,
            list_max: 32,
            spare_witnesses: 2,
            spare_ms: 10_000,
            calls_per_second_max: 25,
            window: 16,
            queue_max: 1_024,
            peers_max: 4_096,
            share_jitter_ms: 5,
            ack_delay_ms: 25,
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
    /// The longest time that any of them may be: an hour.
    const MS_MAX: u32 = 3_600_000;

    /// Refuses what no link could come of, in a sentence.
    pub fn check(&self) -> Result<(), &'static str> {
        let times =
            [self.hello_ms, self.spare_ms, self.share_jitter_ms, self.ack_delay_ms, self.offer_ms, self.offer_ms_max];
        let waits = [self.retransmit_ms, self.retransmit_ms_min, self.retransmit_ms_max];
        let rules = [
            (self.hello_ms >= 1, "link.hello-ms must be at least 1"),
            (self.hellos_per_second_max >= 1, "link.hellos-per-second-max must be at least 1"),
            ((1..=32).contains(&self.hellos_window), "link.hellos-window must be from 1 to 32"),
            (
                (1..=self.hellos_window).contains(&self.hellos_up),
                "link.hellos-up must be from 1 to link.hellos-window: nobody would ever be heard well",
            ),
            (self.hellos_down >= 1, "link.hellos-down must be at least 1: every link would break at once"),
            (self.questions_min >= 1, "link.questions-min must be at least 1"),
            (self.list_max >= 1, "link.list-max must be at least 1: nobody would learn that it is heard"),
            (self.calls_per_second_max >= 1, "link.calls-per-second-max must be at least 1"),
            (self.window >= 1, "link.window must be at least 1: no message would ever be sent"),
            (self.queue_max >= self.window, "link.queue-max must be at least link.window"),
            (self.peers_max >= 1, "link.peers-max must be at least 1: nobody would ever be heard"),
            (self.tries_max >= 1, "link.tries-max must be at least 1"),
            (waits.iter().all(|&ms| ms >= 1), "link.retransmit-ms, -min and -max must be at least 1"),
            (
                self.retransmit_ms_min.max(self.retransmit_ms) <= self.retransmit_ms_max,
                "link.retransmit-ms and link.retransmit-ms-min must not exceed link.retransmit-ms-max",
            ),
            (self.offer_ms <= self.offer_ms_max, "link.offer-ms must not exceed link.offer-ms-max"),
            (
                times.iter().chain(&waits).all(|&ms| ms <= Self::MS_MAX),
                "no time of layers.link may be longer than an hour (3600000)",
            ),
        ];
        rules.into_iter().find(|(holds, _)| !holds).map_or(Ok(()), |(_, refusal)| Err(refusal))
    }

    /// How long a neighbour may be silent that speaks at least once in each such interval.
    pub(crate) fn silence(&self, interval: Span) -> Span {
        interval * u64::from(self.hellos_down)
    }

    /// How long what such a neighbour has said is remembered: for one interval more.
    pub(crate) fn memory(&self, interval: Span) -> Span {
        self.silence(interval) + interval
    }

    /// The first wait of a series of `tries`, doubled with each, up to the longest.
    pub(crate) fn backed_off(first: Span, tries: u32, longest_ms: u32) -> Span {
        (first * (1 << tries.min(20))).min(from_ms(longest_ms))
    }
}

/// So many milliseconds.
pub(crate) fn from_ms(ms: u32) -> Span {
    Span::from_millis(ms.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_link_could_come_of_is_refused_by_its_name() {
        let usual = Settings::default();
        assert_eq!(usual.check(), Ok(()));
        for (nonsense, name) in [
            (Settings { hello_ms: 0, ..usual }, "hello-ms"),
            (Settings { hellos_per_second_max: 0, ..usual }, "hellos-per-second-max"),
            (Settings { hellos_window: 33, ..usual }, "hellos-window"),
            (Settings { hellos_up: 4, ..usual }, "hellos-up"),
            (Settings { hellos_up: 0, ..usual }, "hellos-up"),
            (Settings { hellos_down: 0, ..usual }, "hellos-down"),
            (Settings { questions_min: 0, ..usual }, "questions-min"),
            (Settings { list_max: 0, ..usual }, "list-max"),
            (Settings { calls_per_second_max: 0, ..usual }, "calls-per-second-max"),
            (Settings { window: 0, ..usual }, "window"),
            (Settings { queue_max: 15, ..usual }, "queue-max"),
            (Settings { peers_max: 0, ..usual }, "peers-max"),
            (Settings { tries_max: 0, ..usual }, "tries-max"),
            (Settings { retransmit_ms: 0, ..usual }, "retransmit-ms"),
            (Settings { retransmit_ms_max: 1, ..usual }, "retransmit-ms-max"),
            (Settings { offer_ms: 70_000, ..usual }, "offer-ms-max"),
            (Settings { hello_ms: u32::MAX, ..usual }, "an hour"),
        ] {
            let refusal = nonsense.check().expect_err(name);
            assert!(refusal.contains(name), "{refusal}");
        }
        let bounds =
            Settings { spare_witnesses: 0, ack_delay_ms: 0, share_jitter_ms: 0, offer_ms: 0, window: 1, ..usual };
        assert_eq!(bounds.check(), Ok(()), "these mean something");
    }
}

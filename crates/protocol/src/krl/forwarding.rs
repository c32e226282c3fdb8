//! KRLF: "Pseudocode for KRL with token forwarding", and the heuristic that its authors announce as future work.
//!
//! A token for which no request waits here is sent on to the lowest neighbour that it has not visited. KRLF does so
//! always. The adaptive variant does so only as far as the load that the node perceives warrants: "if a processor
//! perceives that there is a low load on the system, it will not forward the token".

use core::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Krl, Timer};
use crate::Out;

/// What becomes of a token for which no request waits here.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Forwarding {
    /// KRL: it stays.
    Off,
    /// KRLF: it travels on.
    Always,
    /// It travels as far as the load warrants, then it stays.
    Adaptive,
}

/// How long a token rests at each node where radios carry it: each hop costs several frames, and a token that never
/// rests has the air to itself.
pub(super) const REST: Duration = Duration::from_millis(250);

/// How far a token is sent when a request has waited every time lately.
const REACH_MAX: u32 = 16;

/// How busy the system looks from here: the share, lately, of the tokens that became free at this node or were
/// forwarded to it for which a request was waiting in its queue. In 256ths.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct PerceivedLoad(u8);

impl PerceivedLoad {
    /// One more token: did a request wait for it? Each counts for a quarter, so the last few decide.
    fn note(&mut self, wanted: bool) {
        self.0 = self.0 - self.0 / 4 + if wanted { 63 } else { 0 };
    }

    /// How many hops an idle token is worth sending.
    fn reach(self) -> u8 {
        #[allow(clippy::cast_possible_truncation)] // at most REACH_MAX
        let reach = (u32::from(self.0) * REACH_MAX / 256) as u8;
        reach
    }
}

impl Krl {
    /// A token has become free here, or was forwarded to here: does a request wait for it?
    pub(super) fn note_load(&mut self) {
        if self.forwarding == Forwarding::Adaptive {
            self.load.note(!self.queue.is_empty());
        }
    }

    /// Sends the idle token on, or keeps it. `onward` is what its journey has left, if it is on one.
    pub(super) fn forward_idle_token(&mut self, onward: Option<u8>, out: &mut Out<Self>) {
        if self.forwarding == Forwarding::Always && !self.rest.is_zero() {
            return self.let_rest(out);
        }
        let onward = match self.forwarding {
            Forwarding::Off => 0,
            Forwarding::Always => 1,
            Forwarding::Adaptive => onward.unwrap_or_else(|| self.load.reach()),
        };
        if onward == 0 || !self.pick_lowest_and_forward_token(onward - 1, out) {
            self.next = Some(self.id);
        }
    }

    /// The idle token stays here for a while, as KRL's does for good.
    fn let_rest(&mut self, out: &mut Out<Self>) {
        self.next = Some(self.id);
        if !self.rests {
            self.rests = true;
            out.arm(Timer::Rest, self.rest);
        }
    }

    /// It has stayed long enough. Of several, one goes on.
    pub(super) fn on_rest(&mut self, out: &mut Out<Self>) {
        self.rests = false;
        if self.idle.is_empty() || !self.queue.is_empty() {
            return;
        }
        out.clause("rest");
        if !self.pick_lowest_and_forward_token(0, out) || !self.idle.is_empty() {
            self.let_rest(out);
        }
    }

    /// Procedure `PickLowest&ForwardToken()`. False without a neighbour to send it to.
    fn pick_lowest_and_forward_token(&mut self, onward: u8, out: &mut Out<Self>) -> bool {
        if self.dag.neighbours.iter().all(|neighbour| !neighbour.known || neighbour.visited) {
            out.clause("pick-lowest.2");
            for neighbour in &mut self.dag.neighbours {
                neighbour.visited = false;
            }
        }
        let lowest = self.dag.lowest_neighbour(|neighbour| !neighbour.visited);
        let (Some(at), Some(token)) = (lowest, self.idle.last().copied()) else { return false };
        out.clause("pick-lowest.10");
        self.idle.pop();
        let next = &mut self.dag.neighbours[at];
        next.visited = true;
        self.next = Some(next.id);
        self.send_token(at, token, Some(onward), out);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How far a token is sent after so many that a request waited for, and then so many that none did.
    fn reach(wanted: usize, unwanted: usize) -> u8 {
        let mut load = PerceivedLoad::default();
        (0..wanted).for_each(|_| load.note(true));
        (0..unwanted).for_each(|_| load.note(false));
        load.reach()
    }

    #[test]
    fn an_idle_token_goes_the_further_the_more_of_the_last_ones_were_wanted() {
        assert_eq!(reach(0, 0), 0, "nothing is known of any load");
        assert_eq!([1, 2, 3, 4].map(|wanted| reach(wanted, 0)), [3, 6, 9, 10]);
        assert_eq!(u32::from(reach(1_000, 0)), REACH_MAX - 1, "somebody has always waited");
    }

    #[test]
    fn the_last_few_tokens_decide_whatever_was_before_them() {
        assert_eq!([1, 2, 3, 4].map(|unwanted| reach(1_000, unwanted)), [11, 8, 6, 5]);
        assert_eq!(reach(1_000, 11), 0);
        let mut load = PerceivedLoad::default();
        (0..1_000).for_each(|_| load.note(false));
        assert_eq!(load, PerceivedLoad::default(), "idle is idle, however long");
    }
}

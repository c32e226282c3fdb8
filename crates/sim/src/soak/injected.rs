//! What went wrong on purpose in fault-and-heal runs, so that none passes for nothing.

use std::fmt;
use std::ops::Add;

use driftlock_protocol::ideal::Start;
use driftlock_protocol::{Algorithm, Harm};

use super::Crowd;

/// What was done to the nodes of a run, or of many.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Injected {
    /// Changes of links or members.
    pub changes: u64,
    /// Members that stopped, and no other was told.
    pub crashes: u64,
    /// Those of them that stopped while another was still down.
    pub further_crashes: u64,
    /// Crashed nodes that came back before all was healed, knowing nothing.
    pub returns: u64,
    /// Messages that were lost.
    pub losses: u64,
    /// Messages that overtook others.
    pub overtakings: u64,
    /// How often members were out of reach.
    pub seclusions: u64,
    /// Nodes that were killed, and were back with what they had stored.
    pub restarts: u64,
    /// Nodes that were killed, and had lost it.
    pub disk_losses: u64,
    /// Applications that went on when their node was killed.
    pub outlived: u64,
    /// Those of them that became ones of its next life.
    pub resumed: u64,
    /// What members were told of others, or should have been, that was not so.
    pub wrong_hints: u64,
}

impl Injected {
    /// All of it, each under its name.
    fn counts(self) -> [(&'static str, u64); 12] {
        [
            ("changes", self.changes),
            ("crashes", self.crashes),
            ("further crashes", self.further_crashes),
            ("returns", self.returns),
            ("lost messages", self.losses),
            ("overtakings", self.overtakings),
            ("seclusions", self.seclusions),
            ("restarts", self.restarts),
            ("disk losses", self.disk_losses),
            ("outlived nodes", self.outlived),
            ("resumed applications", self.resumed),
            ("wrong hints", self.wrong_hints),
        ]
    }

    /// What these runs say nothing about, although they were to: what was not injected once in so many runs as it
    /// takes, and could have been.
    pub fn missing(self, algorithm: &Algorithm, crowd: Crowd, runs: u64) -> Vec<&'static str> {
        const RUNS_ENOUGH: u64 = 200;
        // While one is down, a further one crashes only if three others keep copies (`can_lose_a_node` of klme-ft).
        const NODES_ENOUGH: u32 = 4;
        let claims = algorithm.claims();
        let survives = algorithm.claims().stand(Harm::Crash) && !crowd.is_on_field();
        let is_drawn = |what: &str| match what {
            "changes" => !crowd.is_on_field() || algorithm.starts_from() == Start::Members,
            "overtakings" => algorithm.claims().stand(Harm::Overtaking) && !crowd.is_on_field(),
            "further crashes" if crowd.nodes().is_some_and(|nodes| nodes < NODES_ENOUGH) => false,
            "further crashes" | "returns" => survives && crowd != Crowd::FewerNodesThanUnits,
            "restarts" => claims.stand(Harm::Restart),
            // On the field nodes are down for so long that few applications are inside still.
            "resumed applications" => claims.stand(Harm::Restart) && !crowd.is_on_field(),
            "disk losses" => claims.stand(Harm::DiskLoss),
            "outlived nodes" => claims.stand(Harm::Restart) || claims.stand(Harm::DiskLoss),
            _ => survives,
        };
        let missing = self.counts().into_iter().filter(|&(what, count)| is_drawn(what) && count == 0);
        missing.filter(|_| runs >= RUNS_ENOUGH).map(|(what, _)| what).collect()
    }
}

impl Add for Injected {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            changes: self.changes + other.changes,
            crashes: self.crashes + other.crashes,
            further_crashes: self.further_crashes + other.further_crashes,
            returns: self.returns + other.returns,
            losses: self.losses + other.losses,
            overtakings: self.overtakings + other.overtakings,
            seclusions: self.seclusions + other.seclusions,
            restarts: self.restarts + other.restarts,
            disk_losses: self.disk_losses + other.disk_losses,
            outlived: self.outlived + other.outlived,
            resumed: self.resumed + other.resumed,
            wrong_hints: self.wrong_hints + other.wrong_hints,
        }
    }
}

/// As people are told of it: only what there was.
impl fmt::Display for Injected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = self.counts().into_iter().filter(|(_, count)| *count > 0);
        let told: Vec<_> = counts.map(|(what, count)| format!("{count} {what}")).collect();
        f.write_str(&told.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_not_happen_among_so_few_nodes_is_not_missed() {
        let klme_ft = Algorithm::named("klme-ft").expect("registered");
        let none = Injected::default().missing(klme_ft, Crowd::Usual, 1_000);
        assert!(none.contains(&"further crashes") && none.contains(&"returns"), "{none:?}");
        assert_eq!(Injected::default().missing(klme_ft, Crowd::Usual, 10), [""; 0], "it takes more runs");
        let among = |nodes| Injected::default().missing(klme_ft, Crowd::Exactly { nodes, on_field: false }, 1_000);
        assert_eq!(among(4), none);
        let but_for_further: Vec<_> = none.iter().copied().filter(|what| *what != "further crashes").collect();
        assert_eq!(among(3), but_for_further);
    }
}

//! The flags that say what the layer below an algorithm may do, and what they mean.

use driftlock_check::{Bound, Networks, Setup, StayOrder, Topology};
use driftlock_protocol::ideal::{CRASHES, DISK_LOSSES, FAILURES, FORMATIONS, Fate, JOINS, LEAVES, RESTARTS, Start};
use driftlock_protocol::{ALGORITHMS, Algorithm, Harm, NodeId};

use super::flags::bound;
use crate::failure::Failure;
use crate::sim::FateFlag;

/// For the algorithms that stand on links.
#[derive(Clone, clap::Args)]
#[command(next_help_heading = "Links, for krl, hok and their variants")]
pub(super) struct LinkFlags {
    /// The links at the start: complete, line, ring or star, or every connected graph in turn: all [default: complete]
    #[arg(long)]
    topology: Option<Networks>,
    /// Links that fail, and as many that form: a number, or any [default: 1]
    #[arg(long, value_name = "NUMBER", value_parser = bound)]
    link_changes: Option<Bound>,
    /// Links that fail, if not as many as form
    #[arg(long, value_name = "NUMBER", value_parser = bound)]
    failures: Option<Bound>,
    /// Links that form, if not as many as fail
    #[arg(long, value_name = "NUMBER", value_parser = bound)]
    formations: Option<Bound>,
    /// What becomes of messages on a link that fails [default: returned]
    #[arg(long, value_enum)]
    link_failure: Option<FateFlag>,
    /// Links fail only where all nodes can still reach one another afterwards
    #[arg(long)]
    connected: bool,
}

/// For the algorithms that stand on a neighbourhood.
#[derive(Clone, clap::Args)]
#[command(next_help_heading = "The neighbourhood, for klme and its variants")]
pub(super) struct NeighbourhoodFlags {
    /// So many of the nodes, the last ones, are outside at the start [default: 0]
    #[arg(long, value_name = "NUMBER")]
    outside: Option<u32>,
    /// Members that leave, and as many nodes that enter: a number, or any [default: 1]
    #[arg(long, value_name = "NUMBER", value_parser = bound)]
    crossings: Option<Bound>,
    /// Members that leave, if not as many as enter
    #[arg(long, value_name = "NUMBER", value_parser = bound)]
    leaves: Option<Bound>,
    /// Nodes that enter, if not as many as leave
    #[arg(long, value_name = "NUMBER", value_parser = bound)]
    joins: Option<Bound>,
    /// How the stays of nodes that enter lie to those before: growing, falling, or alternating between above and below
    /// [default: growing]
    #[arg(long, value_name = "ORDER")]
    pub(super) stays: Option<StayOrder>,
    /// Members that stop for good, and no other is told [default: 0]
    #[arg(long, value_name = "NUMBER", value_parser = bound)]
    crashes: Option<Bound>,
    /// Messages that are lost [default: 0]
    #[arg(long, value_name = "NUMBER", value_parser = bound)]
    losses: Option<Bound>,
    /// How often in all a message may overtake another on its way from one node to another [default: 0]
    #[arg(long, value_name = "NUMBER", value_parser = bound)]
    overtakes: Option<Bound>,
    /// With --timed, how often in all a tick may pass while a message is on its way from one node to another: a number,
    /// or any [default: any]
    #[arg(long, value_name = "NUMBER", value_parser = bound, requires = "timed")]
    lateness: Option<Bound>,
}

/// For the algorithms that stand it.
#[derive(Clone, clap::Args)]
#[command(next_help_heading = "Lives, for algorithms that claim to stand this (`driftlock list ALGORITHM`)")]
pub(super) struct LifeFlags {
    /// Nodes that are killed, at any instant, and come back with what they had stored; their applications go on
    /// [default: 0]
    #[arg(long, value_name = "NUMBER", value_parser = bound)]
    restarts: Option<Bound>,
    /// Nodes that are killed, and may come back with nothing; their applications go on [default: 0]
    #[arg(long, value_name = "NUMBER", value_parser = bound)]
    disk_losses: Option<Bound>,
}

const COMPLETE: Networks = Networks::One(Topology::Complete);
const ONCE: Bound = Bound::Most(1);
const NEVER: Bound = Bound::Most(0);

impl LinkFlags {
    fn is_given(&self) -> bool {
        let bounds = [self.link_changes, self.failures, self.formations];
        bounds.iter().any(Option::is_some) || self.topology.is_some() || self.link_failure.is_some() || self.connected
    }

    /// Which networks; there are more of them than anybody waits for where nodes are many.
    pub(super) fn networks(&self, nodes: u32) -> Result<Networks, Failure> {
        let networks = self.topology.unwrap_or(COMPLETE);
        if networks == Networks::All && nodes > 5 {
            return Err(Failure::Other(format!(
                "--topology all with {nodes} nodes is more graphs than anybody waits for: take at most 5 nodes"
            )));
        }
        Ok(networks)
    }

    fn failures(&self) -> Bound {
        self.failures.or(self.link_changes).unwrap_or(ONCE)
    }

    /// Why a flag changes nothing, if one does not.
    pub(super) fn idle(&self) -> Option<String> {
        if let (Some(_), Some(_), Some(_)) = (self.link_changes, self.failures, self.formations) {
            return Some("--failures and --formations say all that --link-changes does: leave it out".into());
        }
        if self.failures() != NEVER {
            return None;
        }
        let of_failures = [("--link-failure", self.link_failure.is_some()), ("--connected", self.connected)];
        if let Some((flag, _)) = of_failures.iter().find(|(_, is_given)| *is_given) {
            return Some(format!(
                "{flag}: no link fails; leave it out, or give --failures or --link-changes more than 0"
            ));
        }
        let all_are_up = self.topology.unwrap_or(COMPLETE) == COMPLETE;
        let idle = all_are_up && self.formations.is_some_and(|formations| formations != NEVER);
        idle.then(|| "--formations: all links are up, and none fails; give another --topology, or --failures".into())
    }

    fn apply(&self, setup: &mut Setup) {
        let formations = self.formations.or(self.link_changes).unwrap_or(ONCE);
        setup.allow([(&FAILURES, self.failures()), (&FORMATIONS, formations)]);
        setup.fate = self.link_failure.map_or(Fate::Returned, Fate::from);
        setup.connected = self.connected;
    }
}

impl NeighbourhoodFlags {
    fn is_given(&self) -> bool {
        let changes = [self.crossings, self.leaves, self.joins];
        let faults = [self.crashes, self.losses, self.overtakes, self.lateness];
        changes.iter().chain(&faults).any(Option::is_some) || self.outside.is_some() || self.stays.is_some()
    }

    /// Why a flag changes nothing, if one does not.
    pub(super) fn idle(&self) -> Option<String> {
        if let (Some(_), Some(_), Some(_)) = (self.crossings, self.leaves, self.joins) {
            return Some("--leaves and --joins say all that --crossings does: leave it out".into());
        }
        let all_stay_inside = self.leaves.or(self.crossings) == Some(NEVER) && self.outside.unwrap_or(0) == 0;
        let idle = all_stay_inside && self.joins.is_some_and(|joins| joins != NEVER);
        idle.then(|| "--joins: all nodes are inside, and none leaves; give --outside or --leaves".into())
    }

    fn apply(&self, setup: &mut Setup) -> Result<(), Failure> {
        let (nodes, outside) = (setup.deployment.nodes, self.outside.unwrap_or(0));
        let Some(inside) = nodes.checked_sub(outside) else {
            return Err(Failure::Other(format!("--outside {outside}: there are only {nodes} nodes")));
        };
        setup.deployment.members = (0..inside.min(driftlock_check::NODES_MAX)).map(NodeId).collect();
        setup.set_stays(self.stays.unwrap_or_default());
        let both = self.crossings.unwrap_or(ONCE);
        setup.allow([(&LEAVES, self.leaves.unwrap_or(both)), (&JOINS, self.joins.unwrap_or(both))]);
        setup.allow([(&CRASHES, self.crashes.unwrap_or(NEVER))]);
        setup.losses = self.losses.unwrap_or(NEVER);
        setup.overtakes = self.overtakes.unwrap_or(NEVER);
        setup.lateness = self.lateness.unwrap_or(Bound::Any);
        Ok(())
    }
}

impl LifeFlags {
    fn apply(&self, algorithm: &Algorithm, setup: &mut Setup) -> Result<(), Failure> {
        for (kind, bound, harm) in
            [(&RESTARTS, self.restarts, Harm::Restart), (&DISK_LOSSES, self.disk_losses, Harm::DiskLoss)]
        {
            if bound.is_some() && !algorithm.claims().stand(harm) {
                let others = ALGORITHMS.iter().filter(|other| other.claims().stand(harm)).map(|other| other.tag);
                let others = others.collect::<Vec<_>>().join(", ");
                return Err(Failure::Other(format!(
                    "{} claims nothing of what --{} does to its nodes: leave it away, or check one of {others}",
                    algorithm.tag, kind.name
                )));
            }
            setup.allow([(kind, bound.unwrap_or(NEVER))]);
        }
        Ok(())
    }
}

/// Puts into the setup what the layer of this algorithm may do. Flags for another layer are refused.
pub(super) fn apply(
    algorithm: &Algorithm,
    links: &LinkFlags,
    neighbourhood: &NeighbourhoodFlags,
    lives: &LifeFlags,
    setup: &mut Setup,
) -> Result<(), Failure> {
    let tag = algorithm.tag;
    lives.apply(algorithm, setup)?;
    match algorithm.starts_from() {
        Start::Links if neighbourhood.is_given() => Err(Failure::Other(format!(
            "{tag} stands on links, not on a neighbourhood: take --link-changes and the like instead"
        ))),
        Start::Members if links.is_given() => Err(Failure::Other(format!(
            "{tag} stands on a neighbourhood, not on links: take --crossings and the like instead"
        ))),
        Start::Links => {
            links.apply(setup);
            Ok(())
        }
        Start::Members if neighbourhood.overtakes.is_some() && !algorithm.claims().stand(Harm::Overtaking) => {
            Err(Failure::Other(format!(
                "{tag} assumes that messages arrive in the order in which they were sent: leave --overtakes away, or check \
                 klme-ft"
            )))
        }
        Start::Members => neighbourhood.apply(setup),
        Start::Nodes => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use clap::{Args, Command};
    use driftlock_protocol::ideal::{Course, Ideal, IdealOf, Kind};
    use driftlock_protocol::{Protocol, Visitor};

    use super::*;

    struct Kinds;

    impl Visitor for Kinds {
        type Output = &'static [&'static Kind];

        fn visit<P: Protocol>(self, _variant: P::Variant) -> Self::Output {
            IdealOf::<P>::KINDS
        }
    }

    #[test]
    fn each_kind_of_change_that_is_bounded_has_a_flag_of_its_name() {
        let flags = [LinkFlags::augment_args, NeighbourhoodFlags::augment_args, LifeFlags::augment_args];
        let command = flags.into_iter().fold(Command::new("check"), |command, augment| augment(command));
        let has_flag = |kind: &Kind| command.get_arguments().any(|flag| flag.get_long() == Some(kind.name));
        for algorithm in ALGORITHMS {
            let kinds = algorithm.visit(Kinds).iter().filter(|kind| kind.course == Course::Bounded);
            let missing: Vec<_> = kinds.filter(|kind| !has_flag(kind)).map(|kind| kind.name).collect();
            assert!(missing.is_empty(), "{}: {missing:?}", algorithm.tag);
        }
    }
}

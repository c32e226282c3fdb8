//! Flags that would change nothing are refused: a user who gives one believes that it does something.

use std::any::TypeId;

use driftlock_check::{Properties, Property};
use driftlock_protocol::{
    ALGORITHMS, Algorithm, Deployment, Harm, Never, NodeId, Protocol, Repairs, Stay, Urgency, Visitor,
};
use driftlock_sim::config::ConfigError;

use super::flags::Args;
use crate::failure::Failure;

/// Refuses the flags of `args` that have no effect on the search.
pub(super) fn check(args: &Args, algorithm: &'static Algorithm) -> Result<(), Failure> {
    let idle = of_demands(args, algorithm)
        .or_else(|| args.links.idle())
        .or_else(|| args.neighbourhood.idle())
        .or_else(|| of_the_algorithm(args, algorithm))
        .or_else(|| of_properties(args))
        .or_else(|| of_output(args));
    idle.map_or(Ok(()), |says| Err(Failure::Other(says)))
}

/// Why the order of requests does not depend on a flag, if it does not.
fn of_demands(args: &Args, algorithm: &'static Algorithm) -> Option<String> {
    let (flag, about) = args.menu.idle(algorithm.urgency())?;
    let order = if about == Urgency::Priority { "priority" } else { "deadline" };
    let heed = ALGORITHMS.iter().filter(|other| other.urgency() == about).map(|other| other.tag);
    let instead = heed.collect::<Vec<_>>().join(" or ");
    Some(format!("{} does not go by {order}: leave {flag} out, or check {instead}", algorithm.tag))
}

/// Why a flag means nothing to this algorithm, if one does not.
fn of_the_algorithm(args: &Args, algorithm: &'static Algorithm) -> Option<String> {
    let Traits { has_timers, has_constants, differs_over_radios, knows_stays } = algorithm.visit(AskTraits);
    let tag = algorithm.tag;
    if args.as_published && algorithm.repairs().is_empty() {
        return Some(ConfigError::NothingPublished { algorithm: tag }.to_string());
    }
    if args.usual_constants && !has_constants {
        return Some(format!("{tag} has no constants that a search makes smaller: leave --usual-constants out"));
    }
    if args.over_radios && !differs_over_radios {
        return Some(format!("{tag} is the same over radios: leave --over-radios out"));
    }
    if args.neighbourhood.stays.is_some() && !knows_stays {
        return Some(format!("{tag} tells members apart by other means than their stays: leave --stays out"));
    }
    if args.timed && !has_timers && args.pauses == 0 {
        return Some(format!("{tag} has no timers, so time means nothing to it: leave --timed out, or give --pauses"));
    }
    // An algorithm that stands crashes without being told does so by leases.
    if algorithm.claims().stand(Harm::Crash) && !args.timed && !args.ignore.contains(&Property::Safety) {
        return Some(format!(
            "{tag} grants leases, and without a clock any lease may end too soon: what a search found then would be no \
             flaw. Give --timed --lateness 0 --ignore service, or --ignore safety"
        ));
    }
    None
}

/// Why what is asked for does not depend on a flag, if it does not.
fn of_properties(args: &Args) -> Option<String> {
    let usual = |property: &Property| Properties::USUAL.has(*property);
    if let Some(property) = args.also.iter().find(|property| usual(property)) {
        return Some(format!("--also {name}: that is asked for in any case; leave it out", name = property.name()));
    }
    let ignored = args.ignore.iter().find(|property| !usual(property))?;
    Some(format!("--ignore {name}: that is asked for only with --also {name}; leave both out", name = ignored.name()))
}

fn of_output(args: &Args) -> Option<String> {
    let idle = args.at.is_given() && !args.view;
    idle.then(|| "--port: there is no page to serve; give --view as well".into())
}

/// What is asked of an algorithm's type.
#[allow(clippy::struct_excessive_bools)] // each is a question of its own
struct Traits {
    has_timers: bool,
    has_constants: bool,
    differs_over_radios: bool,
    knows_stays: bool,
}

struct AskTraits;

impl Visitor for AskTraits {
    type Output = Traits;

    fn visit<P: Protocol>(self, variant: P::Variant) -> Traits {
        let written = |variant: P::Variant| format!("{variant:?}");
        let with_stay = |stay| {
            let (members, stays) = (vec![NodeId(0)], vec![Stay(stay)]);
            let deployment = Deployment { nodes: 1, k: 1, members, stays, ..Deployment::default() };
            P::deploy(&deployment, variant, Repairs::ALL)
        };
        Traits {
            has_timers: TypeId::of::<P::Timer>() != TypeId::of::<Never>(),
            has_constants: written(P::at_small_scale(variant)) != written(variant),
            differs_over_radios: written(P::over_radios(variant)) != written(variant),
            knows_stays: with_stay(1) != with_stay(2),
        }
    }
}

#[cfg(test)]
mod tests {
    use driftlock_protocol::ideal::Start;
    use driftlock_sim::config::Config;
    use driftlock_sim::run::{Records, replicate};

    use super::*;
    use crate::sim::with_own_units;

    /// Which nodes waited for how long, in one crowded replication.
    fn waits(config: Config) -> Vec<driftlock_net::Span> {
        let config = Config { nodes: 8, load: 1.0, warmup: 0, entries: 300, ..config };
        let start = Algorithm::named(&config.algorithm).unwrap().starts_from();
        // That share of links is refused where there are none.
        let connectivity = if start == Start::Links { 0.6 } else { Config::default().connectivity };
        let plan = with_own_units(Config { connectivity, ..config }, false).plan().unwrap();
        replicate(&plan, 0, Records::default()).unwrap().tally.waits
    }

    #[test]
    fn an_algorithm_goes_by_what_it_says_and_by_nothing_else() {
        for algorithm in ALGORITHMS {
            let config = || Config { algorithm: algorithm.tag.into(), ..Config::default() };
            let usual = waits(config());
            let priorities = waits(Config { priorities: "0,100".parse().unwrap(), ..config() });
            assert_eq!(priorities != usual, algorithm.urgency() == Urgency::Priority, "{}", algorithm.tag);
            let deadlines = waits(Config { deadlines: "exponential:50".parse().unwrap(), ..config() });
            assert_eq!(deadlines != usual, algorithm.urgency() == Urgency::Deadline, "{}", algorithm.tag);
        }
    }
}

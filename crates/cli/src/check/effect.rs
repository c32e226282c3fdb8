//! Flags that would change nothing are refused: who gives one believes that it does.

use std::any::TypeId;

use driftlock_protocol::klme::Never;
use driftlock_protocol::{Algorithm, Protocol, Visitor};

use super::flags::Args;
use crate::failure::Failure;

/// Who goes by priorities, and who by deadlines.
const BY_PRIORITY: &[&str] = &["hok", "hok-strict"];
const BY_DEADLINE: &[&str] = &["hok-edf"];

/// Refuses the flags of `args` that have no effect on the search.
pub(super) fn check(args: &Args, algorithm: &'static Algorithm) -> Result<(), Failure> {
    let order = args.menu.idle(BY_PRIORITY.contains(&algorithm.tag), BY_DEADLINE.contains(&algorithm.tag));
    let idle = order
        .map(|(flag, of)| {
            let instead = if of == "priority" { BY_PRIORITY } else { BY_DEADLINE };
            format!("{} does not go by {of}: leave {flag} out, or check {}", algorithm.tag, instead.join(" or "))
        })
        .or_else(|| args.links.idle())
        .or_else(|| args.neighbourhood.idle())
        .or_else(|| of_the_algorithm(args, algorithm))
        .or_else(|| of_output(args));
    idle.map_or(Ok(()), |says| Err(Failure::Other(says)))
}

/// Why a flag means nothing to this algorithm, if one does not.
fn of_the_algorithm(args: &Args, algorithm: &'static Algorithm) -> Option<String> {
    let Traits { has_timers, has_constants } = algorithm.visit(AskTraits);
    let tag = algorithm.tag;
    if args.as_published && algorithm.repairs().is_empty() {
        return Some(format!("{tag} is not from a paper, so there is nothing as published: leave --as-published out"));
    }
    if args.usual_constants && !has_constants {
        return Some(format!("{tag} has no constants that a search makes smaller: leave --usual-constants out"));
    }
    if args.timed && !has_timers && args.pauses == 0 {
        return Some(format!("{tag} has no timers, so time means nothing to it: leave --timed out, or give --pauses"));
    }
    None
}

fn of_output(args: &Args) -> Option<String> {
    let idle = args.at.is_given() && !args.view;
    idle.then(|| "--port: there is no page to serve; give --view as well".into())
}

/// What is asked of an algorithm's type.
struct Traits {
    has_timers: bool,
    has_constants: bool,
}

struct AskTraits;

impl Visitor for AskTraits {
    type Output = Traits;

    fn visit<P: Protocol>(self, variant: P::Variant) -> Traits {
        let constants = |variant: P::Variant| format!("{variant:?}");
        Traits {
            has_timers: TypeId::of::<P::Timer>() != TypeId::of::<Never>(),
            has_constants: constants(P::at_small_scale(variant)) != constants(variant),
        }
    }
}

#[cfg(test)]
mod tests {
    use driftlock_protocol::ALGORITHMS;
    use driftlock_sim::config::Config;
    use driftlock_sim::run::{Records, replicate};

    use super::*;
    use crate::sim::with_own_units;

    /// Who waited for how long, in one crowded replication.
    fn waits(config: Config) -> Vec<driftlock_net::Time> {
        let config = Config { nodes: 8, load: 1.0, connectivity: 0.6, warmup: 0, entries: 300, ..config };
        let config = if config.algorithm.starts_with("klme") { Config { connectivity: 0.2, ..config } } else { config };
        let plan = with_own_units(config, false).plan().unwrap();
        replicate(&plan, 0, Records::default()).unwrap().tally.waits
    }

    #[test]
    fn these_go_by_priorities_or_deadlines_and_nobody_else_does() {
        for algorithm in ALGORITHMS {
            let config = || Config { algorithm: algorithm.tag.into(), ..Config::default() };
            let usual = waits(config());
            let priorities = waits(Config { priorities: "0,100".parse().unwrap(), ..config() });
            assert_eq!(priorities != usual, BY_PRIORITY.contains(&algorithm.tag), "{}", algorithm.tag);
            let deadlines = waits(Config { deadlines: "exponential:50".parse().unwrap(), ..config() });
            assert_eq!(deadlines != usual, BY_DEADLINE.contains(&algorithm.tag), "{}", algorithm.tag);
        }
    }
}

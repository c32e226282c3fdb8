//! Flags that would change nothing are refused: a user who gives one believes that it does something.

use driftlock_protocol::ideal::Start;
use driftlock_sim::churn::Churn;
use driftlock_sim::config::{ConfigError, LinkInfoRule, Plan};

use super::{Args, Parameters};
use crate::constants::named_twice;
use crate::failure::Failure;

/// Refuses the flags of `args` that have no effect on this plan.
pub(super) fn check(args: &Args, plan: &Plan) -> Result<(), Failure> {
    of_the_layer(&args.parameters, plan)?;
    args.parameters.constants.check()?;
    let idle = of_parameters(&args.parameters, plan).or_else(|| of_output(args));
    idle.map_or(Ok(()), |says| Err(Failure::Other(says)))
}

/// What belongs to another layer is refused whatever its value is, be it the usual one.
fn of_the_layer(flags: &Parameters, plan: &Plan) -> Result<(), ConfigError> {
    let links = [
        ("topology", flags.topology.is_some()),
        ("connectivity", flags.connectivity.is_some()),
        ("mobility", flags.mobility.is_some()),
        ("link_failure", flags.link_failure.is_some()),
        ("restarts", flags.restarts.is_some()),
    ];
    let neighbourhoods = [
        ("neighbourhoods", flags.neighbourhoods.is_some()),
        ("churn", flags.churn.is_some()),
        ("absence", flags.absence.is_some()),
        ("speed", flags.speed.is_some()),
        ("areas", flags.areas.is_some()),
        ("spacing", flags.spacing.is_some()),
        ("margin", flags.margin.is_some()),
    ];
    let first = |names: &[(&'static str, bool)]| names.iter().find(|(_, given)| *given).map(|(name, _)| *name);
    if plan.config.field.is_some() {
        let decreed = [&links[..], &neighbourhoods, &[("delay", flags.delay.is_some())]].concat();
        return first(&decreed).map_or(Ok(()), |name| Err(ConfigError::NotOnTheField { name }));
    }
    let (other, foreign) = match plan.algorithm.starts_from() {
        Start::Links => ("neighbourhoods", first(&neighbourhoods)),
        Start::Members => ("links", first(&links)),
        Start::Nodes => ("links or neighbourhoods", first(&[&links[..], &neighbourhoods].concat())),
    };
    let algorithm = plan.algorithm.tag;
    foreign.map_or(Ok(()), |name| Err(ConfigError::NotOfThisLayer { algorithm, other, name }))
}

/// Why a parameter changes nothing, if one does not.
fn of_parameters(flags: &Parameters, plan: &Plan) -> Option<String> {
    let config = &plan.config;
    let sites =
        [("areas", flags.areas.is_some()), ("spacing", flags.spacing.is_some()), ("margin", flags.margin.is_some())];
    let tag = plan.algorithm.tag;
    if flags.connectivity.is_some() && !config.topology.is_random() {
        return Some(ConfigError::NotRandom { topology: config.topology.clone() }.to_string());
    }
    let twice = [("load-of", named_twice(&flags.load_of)), ("priority-of", named_twice(&flags.priority_of))];
    if let Some((name, node)) = twice.into_iter().find_map(|(name, node)| Some((name, node?))) {
        return Some(format!("--{name} speaks of node {node} twice: leave one out"));
    }
    if flags.link_failure.is_some() && config.mobility <= 0.0 {
        let restarts = if config.restarts > 0.0 { ", and restarts lose all but permits, which settle" } else { "" };
        return Some(format!("--link-failure: no link fails without mobility{restarts}; give --mobility as well"));
    }
    if flags.absence.is_some() && config.churn == Churn::NONE {
        return Some("--absence: nobody is away without churn; give --churn as well".into());
    }
    if let (Some((name, _)), true) = (sites.iter().find(|(_, given)| *given), config.speed <= 0.0) {
        return Some(format!("--{name}: where sites lie matters only to nodes that walk; give --speed as well"));
    }
    if flags.link_info == Some(LinkInfoRule::Repaired) {
        let has_rule = plan.algorithm.repairs().iter().any(|repair| repair.name == "link-info");
        if !has_rule {
            return Some(ConfigError::NoLinkInfo { algorithm: tag }.to_string());
        }
        if config.as_published {
            return Some("--link-info repaired and --as-published contradict each other: leave one out".into());
        }
    }
    None
}

/// The node of which something is said twice, if there is one: only the last would count.
/// Why a flag that says what becomes of the results changes nothing, if one does not.
fn of_output(args: &Args) -> Option<String> {
    if args.at.is_given() && !args.view {
        return Some("--port: there is no page to serve; give --view as well".into());
    }
    let recorded = args.view || args.trace.is_some() || args.field.pcap.is_some();
    if args.trace_replication.is_some() && !recorded {
        return Some("--trace-replication: nothing is recorded; give --trace, --pcap or --view as well".into());
    }
    None
}

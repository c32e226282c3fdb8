//! What a check found, in words, as JSON and as a row of a table.

use std::time::Duration;

use driftlock_check::{
    Action, Bound, Counterexample, Lives, Networks, Property, Report, Setup, StayOrder, Timing, Walked,
};
use driftlock_protocol::Deployment;
use driftlock_protocol::ideal::{
    CRASHES, DISK_LOSSES, FAILURES, FORMATIONS, Fate, JOINS, Kind, LEAVES, RESTARTS, Start,
};
use serde_json::{Value, json};

use super::Found;
use super::flags::{Args, Format, Plan};
use crate::shell::quoted;

/// Everything that is to be said about the check of one network.
pub(super) struct Told<'a> {
    pub(super) plan: &'a Plan,
    pub(super) setup: &'a Setup,
    pub(super) found: &'a Found,
    pub(super) took: Duration,
    /// Until all states were known; the rest was for deciding liveness.
    pub(super) explored: Duration,
    /// The most memory that was in use, in bytes.
    pub(super) memory: u64,
}

impl Told<'_> {
    /// Whether everything that was asked for holds as far as it was looked at, and the search was about something.
    pub(super) fn holds(&self) -> bool {
        self.found.counterexample().is_none() && self.never_granted().is_empty() && self.uncounted() == 0
    }

    pub(super) fn in_format(&self, format: Format) -> String {
        match format {
            Format::Text => self.text(&self.speed()),
            Format::Transcript => self.text(""),
            Format::Json => format!("{}\n", self.json()),
            Format::Markdown => self.row(),
        }
    }

    /// Nodes that no state of a complete search grants anything, although they may ask.
    fn never_granted(&self) -> Vec<u32> {
        match self.found {
            Found::Searched(report) if report.exhaustive && self.setup.requests != Bound::Most(0) => {
                let granted = |node: &u32| report.witnessed.granted.iter().any(|id| id.0 == *node);
                (0..self.setup.deployment.nodes).filter(|node| !granted(node)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Nodes that wait, of which service says nothing.
    fn uncounted(&self) -> u64 {
        if let Found::Searched(report) = self.found { report.uncounted } else { 0 }
    }

    /// With what there is to say about the effort.
    fn text(&self, effort: &str) -> String {
        let body = match self.found {
            Found::Searched(report) => self.searched(report, effort),
            Found::Walked(walked) => walked_through(walked, effort),
        };
        format!("{}\n{}{body}", self.subject(), line(&self.bounds()))
    }

    /// The algorithm and the network.
    fn subject(&self) -> String {
        let deployment = &self.setup.deployment;
        let links: Vec<_> = deployment.links.iter().map(|(a, b)| format!("{a}-{b}")).collect();
        let links = match self.plan.algorithm.starts_from() {
            Start::Members => self.place(),
            Start::Links | Start::Nodes if links.is_empty() => "no links".into(),
            Start::Links | Start::Nodes => format!("links {}", links.join(" ")),
        };
        let nodes = counted(Bound::Most(u8::try_from(deployment.nodes).unwrap_or(u8::MAX)), "node");
        let network = format!("{nodes}, k = {}, {links}", deployment.k);
        format!("{}{}: {network}", self.plan.algorithm.tag, self.repairs_off())
    }

    /// Which nodes are inside the neighbourhood.
    fn place(&self) -> String {
        let Deployment { nodes, members, .. } = &self.setup.deployment;
        match *nodes as usize - members.len() {
            0 => "all inside".into(),
            outside => format!("{outside} outside"),
        }
    }

    fn repairs_off(&self) -> String {
        let all = self.plan.algorithm.repairs().len();
        match self.plan.without.len() {
            0 => String::new(),
            count if count == all => " as published".into(),
            _ => format!(" without {}", self.plan.without.join(", ")),
        }
    }

    fn bounds(&self) -> String {
        let setup = self.setup;
        let mut bounds = vec![format!("{} a node", counted(setup.requests, "request"))];
        if setup.requests_in_all != Bound::Any {
            bounds.push(format!("{} in all", number(setup.requests_in_all)));
        }
        bounds.extend(self.plan.menu.flags().into_iter().map(|(name, numbers)| format!("{name} {numbers}")));
        if setup.cancels != Bound::Most(0) {
            bounds.push(format!("{} a node", counted(setup.cancels, "cancellation")));
        }
        if self.plan.algorithm.starts_from() == Start::Links {
            bounds.push(of_kind(setup, &FAILURES));
            bounds.push(of_kind(setup, &FORMATIONS));
            bounds.extend(setup.connected.then(|| "always connected".to_owned()));
        } else {
            bounds.push(of_kind(setup, &LEAVES));
            bounds.push(of_kind(setup, &JOINS));
            bounds.extend((setup.stays != StayOrder::Growing).then(|| format!("stays {}", setup.stays)));
        }
        bounds.extend(faults(setup).map(|(_, bound, what)| counted(bound, what)));
        if setup.changes.of(&FAILURES) != Bound::Most(0) {
            bounds.push(format!("messages on a failing link are {}", fate(setup.fate)));
        }
        bounds.extend(setup.over_radios.then(|| "as over radios".to_owned()));
        if setup.stay > 0 {
            bounds.push(format!("{} may stay for ever", setup.stay));
        }
        if let Timing::Timed { tick, drift, pauses } = setup.timing {
            bounds.push(format!("ticks of {tick:?}, drift {drift}, {}", counted(Bound::Most(pauses), "pause")));
            if setup.lateness != Bound::Any {
                bounds.push(format!("lateness {}", number(setup.lateness)));
            }
        }
        bounds.join(", ")
    }

    /// How long it took, and how much memory.
    fn speed(&self) -> String {
        let seconds = self.took.as_secs_f64();
        match self.found {
            Found::Searched(Report { states, .. }) => format!(
                ", in {seconds:.1} s ({} states/s, {} bytes of memory a state)",
                rate(*states, self.explored.as_secs_f64()),
                grouped(self.memory / (*states).max(1)),
            ),
            Found::Walked(walked) => format!(", in {seconds:.1} s ({} steps/s)", rate(walked.steps, seconds)),
        }
    }

    fn searched(&self, report: &Report, effort: &str) -> String {
        // Without the graph the depth is only about right, and differs from run to run.
        let depth =
            if effort.is_empty() && !report.liveness { String::new() } else { format!(", depth {}", report.depth) };
        let mut text = line(&format!(
            "{} states, {} transitions{depth}{effort}",
            grouped(report.states),
            grouped(report.transitions),
        ));
        if let Some(counterexample) = &report.violation {
            // How much was looked at until then is of no interest to a reader of the counterexample.
            return if effort.is_empty() { violated(counterexample) } else { text + &violated(counterexample) };
        }
        let looked_for = self.looked_for(report);
        if !report.exhaustive {
            text += &line(&format!(
                "no violation of {looked_for} so far; not exhaustive: a limit ended the search, and there are more states"
            ));
            return text + &self.unasked();
        }
        text += &line(&format!("no violation of {looked_for}: every state within the bounds was looked at"));
        if report.cut > 0 {
            text += &line(&format!(
                "not followed: {} transitions that would take heights, or counts of grants, more than {} apart (--spread)",
                grouped(report.cut),
                self.setup.spread
            ));
        }
        if report.undecided > 0 {
            let undecided = grouped(report.undecided);
            text += &line(&format!(
                "undecided: {undecided} cases in which service or calm depends on what was not followed"
            ));
        }
        text + &self.unasked() + &self.reached(report)
    }

    /// What service was not asked of.
    fn unasked(&self) -> String {
        match self.uncounted() {
            0 => String::new(),
            waiters => line(&format!(
                "but service says nothing of {}, in states in which no node has a token: let has_token be true of each \
                 node that could be granted, or give --ignore service",
                if waiters == 1 { "1 waiter".into() } else { format!("{} waiters", grouped(waiters)) }
            )),
        }
    }

    /// The properties that were looked for, as far as they were.
    fn looked_for(&self, report: &Report) -> String {
        let graph = report.exhaustive && report.liveness;
        let asked = Property::ALL.into_iter().filter(|&property| self.setup.properties.has(property));
        let names: Vec<_> =
            asked
                .filter(|&property| graph || property != Property::Calm)
                .map(|property| {
                    if graph || property != Property::Service {
                        property.name()
                    } else {
                        "service (stuck waiters only)"
                    }
                })
                .collect();
        if names.is_empty() { "anything, as nothing was asked for".into() } else { names.join(", ") }
    }

    fn reached(&self, report: &Report) -> String {
        let missing = self.never_granted();
        if !missing.is_empty() {
            return line(&format!("but no state grants anything to nodes {missing:?}: the verdict is about nothing"));
        }
        let granted = match report.witnessed.granted.len() {
            0 => "no grant, as nobody asks".to_owned(),
            _ => "a grant at every node".to_owned(),
        };
        let all =
            if report.witnessed.all_in_use { "all units in use at once" } else { "never all units in use at once" };
        let quiet = if report.witnessed.quiet { "quiet states" } else { "no quiet state" };
        let lives = match report.witnessed.lives {
            Lives::One => "",
            Lives::Restarted => "; nodes that came back",
            Lives::Resumed => "; nodes that came back, and applications that were resumed",
        };
        line(&format!("met on the way: {granted}; {all}; {quiet}{lives}"))
    }

    /// The command that does the same again.
    pub(super) fn command(&self) -> String {
        let (plan, setup) = (self.plan, self.setup);
        let mut command = format!("driftlock check {}", plan.algorithm.tag);
        let mut flag = |name: &str, value: &str| {
            command += &format!(" --{name}");
            if !value.is_empty() {
                command += &format!(" {value}");
            }
        };
        flag("nodes", &setup.deployment.nodes.to_string());
        flag("k", &setup.deployment.k.to_string());
        if plan.algorithm.starts_from() == Start::Links {
            flag("topology", &plan.networks.to_string());
        }
        flag("requests", &number(setup.requests));
        if setup.requests_in_all != Bound::Any {
            flag("requests-in-all", &number(setup.requests_in_all));
        }
        plan.menu.flags().into_iter().for_each(|(name, numbers)| flag(name, &numbers));
        if setup.cancels != Bound::Most(0) {
            flag("cancels", &number(setup.cancels));
        }
        for (name, value) in self.layer_flags() {
            flag(name, &value);
        }
        if setup.stay > 0 {
            flag("stay", &setup.stay.to_string());
        }
        if !setup.small_scale {
            flag("usual-constants", "");
        }
        if setup.over_radios {
            flag("over-radios", "");
        }
        for (name, value) in &setup.constants {
            flag("constant", &format!("{name}={value}"));
        }
        if let Timing::Timed { tick, drift, pauses } = setup.timing {
            flag("timed --tick", &format!("{}ms --drift {drift} --pauses {pauses}", tick.as_millis()));
            if setup.lateness != Bound::Any {
                flag("lateness", &number(setup.lateness));
            }
        }
        if setup.spread != setup.usual_spread() {
            flag("spread", &if setup.spread == u64::MAX { "any".into() } else { setup.spread.to_string() });
        }
        let all = plan.algorithm.repairs().len();
        if all > 0 && plan.without.len() == all {
            flag("as-published", "");
        } else {
            plan.without.iter().for_each(|name| flag("without", name));
        }
        for property in Property::ALL {
            let (usual, asked) = (property != Property::Calm, setup.properties.has(property));
            if usual != asked {
                flag(if asked { "also" } else { "ignore" }, property.name());
            }
        }
        if let Some((walks, seed)) = plan.walks {
            flag("walks", &format!("{walks} --seed {seed}"));
        }
        if plan.safety_only {
            flag("safety-only", "");
        }
        command
    }

    /// What the layer below may do, as flags.
    fn layer_flags(&self) -> Vec<(&'static str, String)> {
        let setup = self.setup;
        let pair = |both, one: &Kind, other: &Kind| {
            let bounds = [one, other].map(|kind| (kind.name, setup.changes.of(kind)));
            if bounds[0].1 == bounds[1].1 { vec![(both, bounds[0].1)] } else { bounds.to_vec() }
        };
        let (mut flags, bounds) = match self.plan.algorithm.starts_from() {
            Start::Links => {
                let lost = (setup.fate != Fate::Returned).then(|| ("link-failure", fate(setup.fate).to_owned()));
                let bounds = pair("link-changes", &FAILURES, &FORMATIONS);
                let connected = setup.connected.then(|| ("connected", String::new()));
                (lost.into_iter().chain(connected).collect(), bounds)
            }
            Start::Members => {
                let outside = setup.deployment.nodes as usize - setup.deployment.members.len();
                let outside = (outside > 0).then(|| ("outside", outside.to_string()));
                let stays = (setup.stays != StayOrder::Growing).then(|| ("stays", setup.stays.to_string()));
                let bounds = pair("crossings", &LEAVES, &JOINS);
                (outside.into_iter().chain(stays).collect::<Vec<_>>(), bounds)
            }
            Start::Nodes => (Vec::new(), Vec::new()),
        };
        let faults = faults(setup).map(|(name, bound, _)| (name, bound));
        flags.splice(0..0, bounds.into_iter().chain(faults).map(|(name, bound)| (name, number(bound))));
        flags
    }

    fn json(&self) -> Value {
        let mut object = json!({
            "algorithm": self.plan.algorithm.tag,
            "without": self.plan.without,
            "constants": self.setup.constants,
            "deployment": self.setup.deployment,
            "command": self.command(),
            "seconds": self.took.as_secs_f64(),
            "memory_bytes": self.memory,
            "holds": self.holds(),
            "violation": self.found.counterexample().map(|found| json!({
                "property": Property::of(&found.violation).name(),
                "what": found.violation.to_string(),
                "actions": words(&found.actions),
                "cycle": words(&found.cycle),
            })),
        });
        let more = match self.found {
            Found::Searched(report) => json!({
                "states": report.states,
                "transitions": report.transitions,
                "depth": report.depth,
                "exhaustive": report.exhaustive,
                "liveness": report.liveness,
                "not_followed": report.cut,
                "undecided": report.undecided,
                "uncounted": report.uncounted,
                "spread": report.spread,
            }),
            Found::Walked(walked) => json!({
                "walks": walked.walks,
                "steps": walked.steps,
                "grants": walked.grants,
            }),
        };
        if let (Some(fields), Value::Object(more)) = (object.as_object_mut(), more) {
            fields.extend(more);
        }
        object
    }

    /// The links at the start, and what else is not as usual.
    fn start(&self) -> String {
        let setup = self.setup;
        let links: Vec<_> = setup.deployment.links.iter().map(|(a, b)| format!("{a}-{b}")).collect();
        let mut start = vec![match self.plan.algorithm.starts_from() {
            Start::Members => self.place(),
            Start::Links if self.plan.networks == Networks::All => links.join(" "),
            Start::Links | Start::Nodes => self.plan.networks.to_string(),
        }];
        start.extend(setup.connected.then(|| "always connected".to_owned()));
        start.extend(setup.over_radios.then(|| "as over radios".to_owned()));
        start.extend(faults(setup).map(|(_, bound, what)| counted(bound, what)));
        if setup.cancels != Bound::Most(0) {
            start.push(format!("{} a node", counted(setup.cancels, "cancellation")));
        }
        if setup.fate != Fate::Returned {
            start.push(format!("messages {}", fate(setup.fate)));
        }
        if let Timing::Timed { drift, pauses, .. } = setup.timing {
            start.push(format!("timed, drift {drift}, {}", counted(Bound::Most(pauses), "pause")));
            if setup.lateness != Bound::Any {
                start.push(format!("lateness {}", number(setup.lateness)));
            }
        }
        if setup.properties.has(Property::Calm) {
            start.push("calm".into());
        }
        start.join("; ")
    }

    fn requests_in_all(&self) -> String {
        match self.setup.requests_in_all {
            Bound::Any => String::new(),
            most @ Bound::Most(_) => format!(", {} in all", number(most)),
        }
    }

    /// For docs/verification.md.
    fn row(&self) -> String {
        let setup = self.setup;
        let deployment = &setup.deployment;
        let bounds = format!(
            "{}{} | {} | {} | {} | {} | {} + {}",
            self.plan.algorithm.tag,
            self.repairs_off(),
            deployment.nodes,
            deployment.k,
            self.start(),
            number(setup.requests)
                + &self.requests_in_all()
                + &self
                    .plan
                    .menu
                    .flags()
                    .iter()
                    .map(|(name, numbers)| format!(", {name} {numbers}"))
                    .collect::<String>(),
            number(setup.changes.of(&FAILURES).max(setup.changes.of(&LEAVES))),
            number(setup.changes.of(&FORMATIONS).max(setup.changes.of(&JOINS))),
        );
        let (size, depth, verdict) = match self.found {
            Found::Searched(report) => {
                let verdict = match (&report.violation, report.exhaustive) {
                    (Some(found), _) => {
                        format!("violated in {}: {}", counted_steps(found.actions.len()), found.violation)
                    }
                    (None, true) if !self.never_granted().is_empty() => {
                        format!("about nothing: nodes {:?} are never granted", self.never_granted())
                    }
                    (None, true) if report.uncounted > 0 => {
                        format!("service says nothing of {} waiters", grouped(report.uncounted))
                    }
                    (None, true) if report.liveness => "holds".into(),
                    (None, true) => "holds; liveness not decided".into(),
                    (None, false) => "no violation, **not exhaustive**".into(),
                };
                (grouped(report.states), report.depth.to_string(), cut_off(verdict, report))
            }
            Found::Walked(walked) => {
                let verdict = match &walked.violation {
                    Some((number, found)) => format!("walk {number} violated: {}", found.violation),
                    None => format!("no violation; {} grants", grouped(walked.grants)),
                };
                (format!("{} walks", grouped(walked.walks)), format!("{} steps", grouped(walked.steps)), verdict)
            }
        };
        let (seconds, memory) = (self.took.as_secs_f64(), self.memory >> 20);
        format!("| {bounds} | {size} | {depth} | {seconds:.0} s | {} MiB | {verdict} |\n", grouped(memory))
    }
}

/// What can be done with a counterexample that this command finds.
pub(super) fn advice(args: &Args, command: &str) -> String {
    match (&args.trace, args.chart.first()) {
        (Some(trace), _) => {
            format!("\nto play it again:\n  driftlock replay {}\n", quoted(&trace.display().to_string()))
        }
        (None, Some(_)) => String::new(),
        (None, None) => {
            let files = "--trace violation.jsonl --chart violation.svg";
            format!("\nto keep it for driftlock replay, and to draw it:\n  {command} {files}\n")
        }
    }
}

fn walked_through(walked: &Walked, effort: &str) -> String {
    let text = line(&format!(
        "{} random walks, {} steps, {} grants{effort}",
        grouped(walked.walks),
        grouped(walked.steps),
        grouped(walked.grants)
    ));
    match &walked.violation {
        // How many walks the other threads made meanwhile differs from run to run.
        Some((number, counterexample)) if effort.is_empty() => {
            format!("  walk {number}:\n{}", violated(counterexample))
        }
        Some((number, counterexample)) => format!("{text}  walk {number}:\n{}", violated(counterexample)),
        None => format!("{text}  no violation; random walks prove nothing\n"),
    }
}

fn cut_off(verdict: String, report: &Report) -> String {
    match (report.cut, report.undecided) {
        (0, _) => verdict,
        (cut, 0) => format!("{verdict}; {} not followed", grouped(cut)),
        (cut, undecided) => format!("{verdict}; {} not followed, {} undecided", grouped(cut), grouped(undecided)),
    }
}

fn violated(counterexample: &Counterexample) -> String {
    let Counterexample { violation, actions, cycle } = counterexample;
    let mut text = format!(
        "  VIOLATED ({}) after {}: {violation}\n",
        Property::of(violation).name(),
        counted_steps(actions.len())
    );
    text += &format!("    {}\n", words(actions));
    if !cycle.is_empty() {
        text += &format!("  and then for ever:\n    {}\n", words(cycle));
    }
    text
}

fn counted_steps(count: usize) -> String {
    if count == 1 { "1 step".into() } else { format!("{count} steps") }
}

fn words(actions: &[Action]) -> String {
    actions.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

fn number(bound: Bound) -> String {
    match bound {
        Bound::Most(count) => count.to_string(),
        Bound::Any => "any".into(),
    }
}

/// What may befall nodes and messages in this setup: as a flag, how often, and what one of them is called.
fn faults(setup: &Setup) -> impl Iterator<Item = (&'static str, Bound, &'static str)> {
    let faults = [
        (CRASHES.name, setup.changes.of(&CRASHES), CRASHES.one),
        ("losses", setup.losses, "lost message"),
        ("overtakes", setup.overtakes, "overtaking"),
        (RESTARTS.name, setup.changes.of(&RESTARTS), RESTARTS.one),
        (DISK_LOSSES.name, setup.changes.of(&DISK_LOSSES), DISK_LOSSES.one),
    ];
    faults.into_iter().filter(|fault| fault.1 != Bound::Most(0))
}

/// How often changes of this kind may happen.
fn of_kind(setup: &Setup, kind: &Kind) -> String {
    counted(setup.changes.of(kind), kind.one)
}

fn counted(bound: Bound, what: &str) -> String {
    match bound {
        Bound::Most(1) => format!("1 {what}"),
        Bound::Most(0) => format!("no {what}"),
        Bound::Most(count) => format!("{count} {what}s"),
        Bound::Any => format!("any number of {what}s"),
    }
}

fn fate(fate: Fate) -> &'static str {
    match fate {
        Fate::Returned => "returned",
        Fate::Settled => "settled",
        Fate::Drained => "drained",
        Fate::Lost => "lost",
    }
}

/// A line of its own under the subject.
fn line(text: &str) -> String {
    format!("  {text}\n")
}

/// A number with its thousands apart.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// So many a second, rounded to what can be told apart.
pub(super) fn rate(count: u64, seconds: f64) -> String {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a count, and never negative
    let rate = (count as f64 / seconds.max(1e-3)) as u64;
    grouped(if rate > 10_000 { rate / 1_000 * 1_000 } else { rate })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_stand_apart() {
        assert_eq!((grouped(0), grouped(999), grouped(1_000)), ("0".into(), "999".into(), "1,000".into()));
        assert_eq!(grouped(12_345_678), "12,345,678");
    }
}

//! The way from one world to another, shown with an algorithm that leaves nothing else to see.

use driftlock_protocol::{
    Charter, Crossing, Fence, Grant, Moment, Out, Permit, Permits, Repair, Section, Status, Units,
};

use super::*;
use crate::random::Duration;

/// Each node has a unit of its own in every neighbourhood, and greets all that are there.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Hermit {
    id: NodeId,
    inside: bool,
    section: Section,
    demand: Demand,
    fence: Fence,
}

impl Hermit {
    fn own(&self) -> Permits {
        Permits::single(Permit::try_from(u8::try_from(self.id.0).unwrap()).unwrap())
    }

    fn serve(&mut self, out: &mut Out<Self>) {
        if self.inside && self.section == Section::Waiting {
            self.section = Section::Critical;
            self.fence = self.fence.next();
            out.grant(Grant { permits: self.own(), fence: self.fence });
        }
    }
}

impl Protocol for Hermit {
    type Message = ();
    type View = Crossing;
    type Timer = ();
    type Variant = ();
    type Durable = ();

    const KINDS: &'static [&'static str] = &["greeting"];
    const REPAIRS: &'static [Repair] = &[];

    fn deploy(deployment: &Deployment, (): (), repairs: Repairs) -> Vec<Self> {
        let charter = Charter::new(deployment.k, (), repairs);
        let hermit = |id| Self { inside: deployment.members.contains(&id), ..Self::blank(id, &charter) };
        deployment.ids().map(hermit).collect()
    }

    fn blank(me: NodeId, _charter: &Charter<()>) -> Self {
        Self { id: me, inside: false, section: Section::Remainder, demand: Demand::ONE, fence: Fence::default() }
    }

    fn mint(&mut self, _k: u32, _generation: u32, _out: &mut Out<Self>) {}
    fn durable(&self) {}

    fn restore(me: NodeId, charter: &Charter<()>, (): (), _out: &mut Out<Self>) -> Self {
        Self::blank(me, charter)
    }

    fn request(&mut self, demand: Demand, out: &mut Out<Self>) {
        (self.section, self.demand) = (Section::Waiting, demand);
        self.serve(out);
    }

    fn release(&mut self, _out: &mut Out<Self>) {
        self.section = Section::Remainder;
    }

    fn message(&mut self, _from: NodeId, (): (), _out: &mut Out<Self>) {}

    fn undelivered(&mut self, _to: NodeId, (): (), _out: &mut Out<Self>) {}

    fn timer(&mut self, (): (), _out: &mut Out<Self>) {}

    fn below(&mut self, view: Crossing, out: &mut Out<Self>) {
        match view {
            Crossing::Entered { .. } => {
                self.inside = true;
                out.broadcast(());
                self.serve(out);
            }
            Crossing::Leaving => {
                if self.section == Section::Critical {
                    self.section = Section::Waiting;
                    out.revoke(self.demand);
                }
                self.inside = false;
                out.depart();
            }
            Crossing::Met { .. } | Crossing::Parted { .. } => {}
        }
    }

    fn units_max(&self) -> Units {
        Units::ONE
    }

    fn held(&self) -> Permits {
        self.own()
    }

    fn section(&self) -> Section {
        self.section
    }

    fn status(&self) -> Status {
        Status { section: self.section, permits: self.own(), queue: Vec::new(), waits_on: None, height: None }
    }

    fn permits((): &()) -> Permits {
        Permits::NONE
    }

    fn kind((): &()) -> usize {
        0
    }

    fn invariant(_moment: &Moment<'_, Self>) -> Result<(), String> {
        Ok(())
    }
}

/// Two neighbourhoods, twelve hermits who think for 1 and pray for exactly 4 time units.
fn config(change: impl FnOnce(&mut Config)) -> Config {
    let mut config = Config {
        nodes: 12,
        k: 12,
        neighbourhoods: 2,
        load: 1.0,
        cs_time: Duration::Constant(4.0),
        entries: 2_000,
        check: true,
        ..Config::default()
    };
    change(&mut config);
    config
}

fn run(config: &Config) -> Replication {
    let replication = replicate::<Hermit>(config, Repairs::ALL, 0, (), None).unwrap();
    assert_eq!(replication.violation, None);
    replication
}

#[test]
fn whoever_stays_is_served_where_it_is() {
    let Tally { waits, waits_inside, departures, handovers, use_nanos, span, .. } = run(&config(|_| {})).tally;
    assert_eq!((waits.len(), departures, handovers), (2_000, 0, 0));
    assert!(waits.iter().chain(&waits_inside).all(|wait| *wait == Span::ZERO));
    let busy = use_nanos as f64 / span.0 as f64;
    assert!((busy - 12.0 * 0.8).abs() < 0.5, "4 of 5 time units: {busy}");
}

#[test]
fn whoever_crosses_a_border_in_the_cs_goes_on_with_it_on_the_other_side() {
    let churn = |c: &mut Config| (c.churn, c.absence) = ("0.2".parse().unwrap(), Duration::Constant(3.0));
    let tally = run(&config(churn)).tally;
    assert!(tally.handovers > 300 && tally.left_waiting == 0, "{} hand-overs", tally.handovers);
    // It was away for exactly three time units, and is served the moment it comes in.
    assert_eq!(tally.interruption, Span::from_millis(3_000) * tally.resumptions);
    assert!(tally.waits_inside.iter().all(|wait| *wait == Span::ZERO));
    // What was left of the four time units is served, and nothing else: apart from what goes on at the ends, every
    // request that was not cut short takes four.
    let requests = 2_000 - tally.resumptions;
    let served = tally.use_nanos as f64 / 1e9;
    assert!((served - 4.0 * requests as f64).abs() < 4.0 * 12.0, "{served} for {requests} requests");
}

#[test]
fn a_wait_goes_on_where_nobody_serves_and_counts_in_full() {
    let churn = |c: &mut Config| (c.churn, c.absence) = ("0.2".parse().unwrap(), Duration::Exponential(3.0));
    let tally = run(&config(churn)).tally;
    let total = |waits: &[Span]| waits.iter().map(|wait| wait.units()).sum::<f64>();
    assert!(total(&tally.waits) > 100.0 && total(&tally.waits_inside) == 0.0);
}

#[test]
fn a_broadcast_is_one_transmission_and_a_message_to_everybody_else() {
    let churn = |c: &mut Config| c.churn = "0.2".parse().unwrap();
    let tally = run(&config(churn)).tally;
    assert_eq!(tally.transmissions, tally.departures, "everybody who leaves enters elsewhere and greets once");
    let audience = tally.messages[0] as f64 / tally.transmissions as f64;
    assert!((audience - 5.5).abs() < 0.5, "11 others in two neighbourhoods: {audience}");
}

#[test]
fn whoever_walks_is_served_wherever_it_is_and_nowhere_in_a_gap() {
    let walk = |areas: &str| {
        let areas = areas.parse().unwrap();
        run(&config(|c| (c.speed, c.areas, c.neighbourhoods, c.spacing) = (5.0, areas, 4, 50.0)))
    };
    let (cells, discs) = (walk("cells").tally, walk("discs:20").tally);
    assert!(cells.departures > 100 && discs.departures > 100);
    assert!(cells.waits.iter().all(|wait| *wait == Span::ZERO), "cells leave no gap");
    assert!(discs.waits.iter().any(|wait| *wait > Span::ZERO) && discs.waits_inside.iter().all(|w| *w == Span::ZERO));
}

#[test]
fn the_same_seed_gives_the_same_run_and_another_seed_another() {
    let churn = |seed| config(|c| (c.churn, c.seed) = ("heavy".parse().unwrap(), seed));
    assert_eq!(run(&churn(1)), run(&churn(1)));
    assert_ne!(run(&churn(1)), run(&churn(2)));
}

#[test]
fn whoever_waits_between_neighbourhoods_at_the_end_is_not_forgotten() {
    // All nodes are out almost always.
    let absent = |c: &mut Config| {
        (c.churn, c.absence, c.entries) = ("1".parse().unwrap(), Duration::Constant(1_000.0), 20);
    };
    let open = run(&config(absent)).waiting_at_end;
    assert!(open.nodes > 5 && open.longest > Span::from_units(100.0), "{open:?}");
}

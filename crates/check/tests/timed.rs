//! Time that counts: a guardian may act only once a holder's lease has run out. This holds if timers mean something,
//! and not if any armed timer may fire next, if clocks drift too far, or if a node can sleep.

use std::ops::ControlFlow;
use std::time::Duration;

use driftlock_check::{Bound, Effort, Property, Report, Setup, Timing, check};
use driftlock_protocol::{
    Charter, Demand, Deployment, LinkEvent, Moment, NodeId, Out, Permits, Protocol, Repair, Repairs, Section, Status,
    Units,
};
use serde::{Deserialize, Serialize};

const HOLDER: NodeId = NodeId(0);
const LEASE: Duration = Duration::from_secs(2);

/// Node 0 holds a lease from its request on, and tells node 1, which waits for longer than that before it acts.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Lease {
    id: NodeId,
    patience: Duration,
    armed: bool,
    over: bool,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
struct Begun;

impl Protocol for Lease {
    type Message = Begun;
    type View = LinkEvent;
    type Timer = ();
    /// How long the guardian waits.
    type Variant = Duration;
    type Durable = ();

    const KINDS: &'static [&'static str] = &["begun"];
    const REPAIRS: &'static [Repair] = &[];

    fn deploy(deployment: &Deployment, patience: Duration, repairs: Repairs) -> Vec<Self> {
        let charter = Charter::new(deployment.k, patience, repairs);
        deployment.ids().map(|id| Self::blank(id, &charter)).collect()
    }

    fn blank(me: NodeId, charter: &Charter<Duration>) -> Self {
        Self { id: me, patience: charter.variant, armed: false, over: false }
    }

    fn mint(&mut self, _k: u32, _generation: u32, _out: &mut Out<Self>) {}
    fn durable(&self) {}

    fn restore(me: NodeId, charter: &Charter<Duration>, (): (), _out: &mut Out<Self>) -> Self {
        Self::blank(me, charter)
    }

    fn request(&mut self, _demand: Demand, out: &mut Out<Self>) {
        if self.id == HOLDER {
            self.armed = true;
            out.arm((), LEASE);
            out.send(NodeId(1), Begun);
        }
    }

    fn release(&mut self, _out: &mut Out<Self>) {}

    fn message(&mut self, _from: NodeId, Begun: Begun, out: &mut Out<Self>) {
        self.armed = true;
        out.arm((), self.patience);
    }

    fn undelivered(&mut self, _to: NodeId, _message: Begun, _out: &mut Out<Self>) {}

    fn timer(&mut self, (): (), _out: &mut Out<Self>) {
        (self.armed, self.over) = (false, true);
    }

    fn below(&mut self, _view: LinkEvent, _out: &mut Out<Self>) {}

    fn units_max(&self) -> Units {
        Units::ONE
    }

    fn held(&self) -> Permits {
        if self.id == HOLDER { Permits::first(1) } else { Permits::NONE }
    }

    fn section(&self) -> Section {
        Section::Remainder
    }

    fn status(&self) -> Status {
        Status { section: Section::Remainder, permits: self.held(), queue: Vec::new(), waits_on: None, height: None }
    }

    fn permits(_message: &Begun) -> Permits {
        Permits::NONE
    }

    fn kind(_message: &Begun) -> usize {
        0
    }

    fn invariant(moment: &Moment<'_, Self>) -> Result<(), String> {
        let [holder, guardian] = moment.nodes[..] else { return Ok(()) };
        if guardian.over && !holder.over { Err("the guardian acts while the lease runs".into()) } else { Ok(()) }
    }
}

fn checked(guardian_seconds: u64, timing: Timing) -> Report {
    let links = vec![(NodeId(0), NodeId(1))];
    let mut setup = Setup::still(Deployment { nodes: 2, k: 1, links, ..Deployment::default() }, Bound::Most(1));
    setup.timing = timing;
    setup.properties = setup.properties.without(Property::Service);
    let effort = Effort { threads: 1, liveness: true };
    check::<Lease>(&setup, Duration::from_secs(guardian_seconds), Repairs::ALL, effort, &mut |_| {
        ControlFlow::Continue(())
    })
    .unwrap()
}

fn timed(drift: u8, pauses: u8) -> Timing {
    Timing::Timed { tick: Duration::from_secs(1), drift, pauses }
}

#[test]
fn a_longer_wait_outlasts_the_lease_when_time_counts() {
    let report = checked(3, timed(0, 0));
    assert_eq!(report.violation, None);
    assert!(report.exhaustive);
}

#[test]
fn when_any_timer_may_fire_next_a_longer_wait_means_nothing() {
    let found = checked(3, Timing::Untimed).violation.expect("the guardian's timer may fire first");
    let words: Vec<_> = found.actions.iter().map(ToString::to_string).collect();
    assert_eq!(words, ["req 0", "msg 0>1", "timer 1"]);
}

#[test]
fn an_equal_wait_is_too_short() {
    let found = checked(2, timed(0, 0)).violation.expect("both are due at once");
    let words: Vec<_> = found.actions.iter().map(ToString::to_string).collect();
    assert_eq!(words, ["req 0", "msg 0>1", "tick", "tick", "timer 1"]);
}

#[test]
fn clocks_that_drift_need_a_margin() {
    assert!(checked(3, timed(1, 0)).violation.is_some());
    assert_eq!(checked(4, timed(1, 0)).violation, None);
}

#[test]
fn a_holder_that_sleeps_overstays_any_lease() {
    assert!(checked(100, timed(0, 1)).violation.is_some());
}

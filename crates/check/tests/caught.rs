//! A protocol with one flaw at a time: each property notices what it is there for, by the shortest way.

use std::ops::ControlFlow;

use driftlock_check::{Bound, Effort, Model, Properties, Property, Setup, Walked, check, walk};
use driftlock_protocol::{
    Charter, Demand, Deployment, Fence, Grant, LinkEvent, Moment, NodeId, Out, Permits, Protocol, Repair, Repairs,
    Section, Status, Units,
};
use driftlock_spec::Violation;
use serde::{Deserialize, Serialize};

const OWNER: NodeId = NodeId(0);

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Flaw {
    /// Whoever asks may enter.
    TooMany,
    /// A grant for somebody who has not asked.
    Unasked,
    /// Two units where one was asked for.
    Partial,
    /// A unit that does not exist.
    Unknown,
    /// Another grant for the owner, which still uses the first.
    Again,
    /// Two grants at once.
    Twice,
    /// The same fence again, for the owner.
    FenceStands,
    /// A message to a stranger.
    NoLink,
    /// The owner forgets its permit.
    Forgets,
    /// Nobody answers.
    Silent,
    /// Everybody answers, for ever, and nobody is granted.
    EndlessTalk,
}

/// Node 0 owns all permits and never lends one.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Flawed {
    id: NodeId,
    k: u32,
    flaw: Flaw,
    entries: u64,
    forgotten: bool,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
struct Word;

impl Flawed {
    fn enter(&mut self, permits: Permits, out: &mut Out<Self>) {
        self.entries += 1;
        let counter = if self.flaw == Flaw::FenceStands { 1 } else { self.entries * 2 + u64::from(self.id.0) };
        out.grant(Grant { permits, fence: Fence { epoch: 0, counter } });
    }
}

impl Protocol for Flawed {
    type Message = Word;
    type View = LinkEvent;
    type Timer = ();
    type Variant = Flaw;
    type Durable = ();

    const KINDS: &'static [&'static str] = &["word"];
    const REPAIRS: &'static [Repair] = &[];

    fn deploy(deployment: &Deployment, flaw: Flaw, repairs: Repairs) -> Vec<Self> {
        let charter = Charter::new(deployment.k, flaw, repairs);
        deployment.ids().map(|id| Self::blank(id, &charter)).collect()
    }

    fn blank(me: NodeId, charter: &Charter<Flaw>) -> Self {
        Self { id: me, k: charter.k, flaw: charter.variant, entries: 0, forgotten: false }
    }

    fn mint(&mut self, _k: u32, _generation: u32, _out: &mut Out<Self>) {}
    fn durable(&self) {}

    fn restore(me: NodeId, charter: &Charter<Flaw>, (): (), _out: &mut Out<Self>) -> Self {
        Self::blank(me, charter)
    }

    fn request(&mut self, _demand: Demand, out: &mut Out<Self>) {
        let one = Permits::first(1);
        match self.flaw {
            Flaw::TooMany => self.enter(one, out),
            Flaw::FenceStands | Flaw::Again if self.id == OWNER => self.enter(one, out),
            Flaw::Twice => [one, one].into_iter().for_each(|permits| self.enter(permits, out)),
            Flaw::Partial => self.enter(Permits::first(2), out),
            Flaw::Unknown => self.enter(Permits::first(self.k + 1).without(Permits::first(self.k)), out),
            Flaw::NoLink => out.send(NodeId(2), Word),
            Flaw::Forgets => self.forgotten = true,
            Flaw::Unasked | Flaw::EndlessTalk | Flaw::Again if self.id.0 < 2 => out.send(NodeId(1 - self.id.0), Word),
            Flaw::Unasked | Flaw::EndlessTalk | Flaw::Again | Flaw::Silent | Flaw::FenceStands => {}
        }
    }

    fn release(&mut self, _out: &mut Out<Self>) {}

    fn message(&mut self, from: NodeId, Word: Word, out: &mut Out<Self>) {
        match self.flaw {
            Flaw::EndlessTalk => out.send(from, Word),
            Flaw::Again if self.entries == 0 => {}
            _ => self.enter(Permits::first(1), out),
        }
    }

    fn undelivered(&mut self, _to: NodeId, _message: Word, _out: &mut Out<Self>) {}
    fn timer(&mut self, (): (), _out: &mut Out<Self>) {}
    fn below(&mut self, _view: LinkEvent, _out: &mut Out<Self>) {}

    fn units_max(&self) -> Units {
        Units::ONE
    }

    fn held(&self) -> Permits {
        if self.id == OWNER && !self.forgotten { Permits::first(self.k) } else { Permits::NONE }
    }

    fn section(&self) -> Section {
        Section::Remainder
    }

    fn status(&self) -> Status {
        Status { section: Section::Remainder, permits: self.held(), queue: Vec::new(), waits_on: None, height: None }
    }

    fn permits(_message: &Word) -> Permits {
        Permits::NONE
    }

    fn kind(_message: &Word) -> usize {
        0
    }

    fn invariant(_moment: &Moment<'_, Self>) -> Result<(), String> {
        Ok(())
    }
}

/// What is found, and by which actions, where there are `k` units.
fn found(flaw: Flaw, k: u32) -> (Property, String, String) {
    let links = vec![(NodeId(0), NodeId(1))];
    let mut setup = Setup::still(Deployment { nodes: 3, k, links, ..Deployment::default() }, Bound::Most(2));
    if matches!(flaw, Flaw::FenceStands | Flaw::Again) {
        // Those who do not own a permit get nothing, which is not what is looked for.
        setup.properties = setup.properties.without(Property::Service);
    }
    let effort = Effort { threads: 2, liveness: true };
    let report = check::<Flawed>(&setup, flaw, Repairs::ALL, effort, &mut |_| ControlFlow::Continue(())).unwrap();
    let found = report.violation.unwrap_or_else(|| panic!("{flaw:?} goes unnoticed"));
    let actions: Vec<_> = found.actions.iter().map(ToString::to_string).collect();
    (Property::of(&found.violation), found.violation.to_string(), actions.join("; "))
}

#[track_caller]
fn is_caught(flaw: Flaw, property: Property, words: &str, actions: &str) {
    is_caught_of(1, flaw, property, words, actions);
}

/// Likewise, where there are `k` units.
#[track_caller]
fn is_caught_of(k: u32, flaw: Flaw, property: Property, words: &str, actions: &str) {
    let (caught, what, how) = found(flaw, k);
    assert_eq!((caught, how.as_str()), (property, actions), "{what}");
    assert!(what.contains(words), "{what}");
}

#[test]
fn more_than_k_units_in_use_are_caught() {
    is_caught(Flaw::TooMany, Property::Safety, "2 units are in use at once", "req 0; req 1");
}

#[test]
fn two_users_of_one_unit_are_caught_while_another_is_free() {
    is_caught_of(2, Flaw::TooMany, Property::Safety, "permits {0} were granted to node 1 while", "req 0; req 1");
}

#[test]
fn grants_that_were_not_asked_for_so_are_caught() {
    is_caught(Flaw::Unasked, Property::Safety, "had not asked for", "req 0; msg 0>1");
    is_caught(Flaw::Partial, Property::Safety, "asked for 1 units and was granted 2", "req 0");
    is_caught(Flaw::Unknown, Property::Safety, "was granted permits {1}, but there are only 1", "req 0");
    is_caught_of(2, Flaw::Unknown, Property::Safety, "was granted permits {2}, but there are only 2", "req 0");
    is_caught_of(2, Flaw::Again, Property::Safety, "while it still used others", "req 0; req 1; msg 1>0");
    is_caught_of(2, Flaw::Twice, Property::Safety, "while it still used others", "req 0");
    is_caught(Flaw::FenceStands, Property::Safety, "which is not after", "req 0; rel 0; req 0");
}

#[test]
fn a_message_without_a_link_is_caught() {
    is_caught(Flaw::NoLink, Property::Safety, "without a link", "req 0");
}

#[test]
fn a_permit_that_vanishes_is_caught() {
    is_caught(Flaw::Forgets, Property::Conservation, "should be {0}", "req 0");
}

#[test]
fn a_waiter_that_nobody_serves_is_caught_in_silence_and_in_endless_talk() {
    is_caught(Flaw::Silent, Property::Service, "nodes [0] wait", "req 0");
    is_caught(Flaw::EndlessTalk, Property::Service, "without a further change nothing leads", "req 0");
}

/// Where no node has the token that all wait for, service says nothing, and the search counts of how many.
#[test]
fn waiters_that_service_says_nothing_of_are_counted() {
    let searched = |flaw, properties| {
        let alone = Deployment { nodes: 1, k: 1, ..Deployment::default() };
        let setup = Setup { properties, ..Setup::still(alone, Bound::Most(1)) };
        let effort = Effort { threads: 2, liveness: true };
        let report = check::<Flawed>(&setup, flaw, Repairs::ALL, effort, &mut |_| ControlFlow::Continue(())).unwrap();
        (report.violation.map(|found| Property::of(&found.violation)), report.uncounted)
    };
    let usual = Properties::USUAL.without(Property::Conservation);
    assert_eq!(searched(Flaw::Forgets, usual), (None, 1));
    assert_eq!(searched(Flaw::Forgets, usual.without(Property::Service)), (None, 0), "service is not asked for");
    assert_eq!(searched(Flaw::Silent, usual), (Some(Property::Service), 0), "the owner has the token");
}

/// So many random walks with two nodes, each of which asks once.
fn walked(flaw: Flaw, walks: u64, change: impl FnOnce(&mut Setup)) -> Walked {
    let links = vec![(NodeId(0), NodeId(1))];
    let mut setup = Setup::still(Deployment { nodes: 2, k: 1, links, ..Deployment::default() }, Bound::Most(1));
    change(&mut setup);
    let model = Model::<Flawed>::new(setup, flaw, Repairs::ALL).unwrap();
    walk(&model, 7, 0..walks, &|_| ControlFlow::Continue(()))
}

#[test]
fn random_walks_catch_it_too_and_say_how_it_comes_to_that() {
    let (first, found) = walked(Flaw::TooMany, 100, |_| {}).violation.expect("both may be inside at once");
    assert_eq!(Property::of(&found.violation), Property::Safety);
    let again = walked(Flaw::TooMany, first, |_| {});
    assert_eq!((again.violation, again.walks), (None, first), "it is the first walk that goes wrong");
    let setup = Setup::still(Deployment { nodes: 2, k: 1, ..Deployment::default() }, Bound::Most(1));
    let model = Model::<Flawed>::new(setup, Flaw::TooMany, Repairs::ALL).unwrap();
    let [before @ .., last] = &found.actions[..] else { panic!("nothing happened") };
    let end = before.iter().try_fold(model.initial(), |state, &action| model.after(&state, action)).unwrap();
    assert_eq!(model.verdict(&end), Ok(()));
    assert_eq!(model.verdict(&model.after(&end, *last).unwrap()), Err(found.violation));
}

#[test]
fn a_walk_in_which_a_waiter_is_not_served_in_the_end_is_caught() {
    let starved = |flaw| walked(flaw, 1, |_| {}).violation.map(|(_, found)| found.violation);
    let both = Violation::Starved { nodes: vec![NodeId(0), NodeId(1)] };
    assert_eq!(starved(Flaw::EndlessTalk), Some(both));
    assert!(matches!(starved(Flaw::Silent), Some(Violation::Starved { .. })));
    let ignored = |setup: &mut Setup| setup.properties = setup.properties.without(Property::Service);
    assert_eq!(walked(Flaw::EndlessTalk, 1, ignored).violation, None, "service is not asked for");
}

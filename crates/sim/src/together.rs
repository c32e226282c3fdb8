//! Several resources on one field. Each has an algorithm, units and applications of its own; nodes, the layers below
//! their algorithms and the radios are shared by all.
//!
//! Each resource has its [`World`](crate::world::World), which judges and counts it. Their events are merged by time,
//! and of those at the same time the resource that comes first goes first. The field goes from hand to hand: the world
//! whose turn it is has it and acts, and then every other one looks at what that has done to its own resource.

use std::io;

use driftlock_net::Time;
use driftlock_protocol::{Protocol, Visitor};
use driftlock_spec::Violation;
use driftlock_trace::{Header, Writer};

use crate::config::Plan;
use crate::field::Field;
use crate::meter::Tally;
use crate::run::{self, Run, field_seed};
use crate::world::Step;

/// What came of one of the resources.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    /// What was counted.
    pub tally: Tally,
    /// What the oracle of this resource objected to: it ended the run of all.
    pub violation: Option<Violation>,
}

/// The first line of a trace of all of them.
pub fn trace_header(plans: &[Plan], replication: u32) -> Header {
    let headers = plans.iter().map(|plan| run::trace_header(plan, replication));
    let together = headers.reduce(|mut header, other| {
        header.resources.extend(other.resources);
        header
    });
    together.expect("there are plans")
}

/// The writers of one trace, for each of so many resources.
pub fn writers(first: Writer, resources: u32) -> Vec<Option<Writer>> {
    let others: Vec<_> = (1..resources).map(|resource| first.of_resource(resource)).collect();
    std::iter::once(first).chain(others).map(Some).collect()
}

/// Runs these plans on the field of the first until all of them have had their entries, and gives what came of each.
/// `records`: where the steps of each are recorded. Fails only if a trace cannot be written.
///
/// # Panics
/// If the first plan has no field, or another one has other nodes.
pub fn replicate(
    plans: &[Plan],
    replication: u32,
    records: impl IntoIterator<Item = Option<Writer>>,
) -> io::Result<Vec<Outcome>> {
    let (mut courts, mut field) = (Vec::new(), None);
    for (plan, recorder) in plans.iter().zip(records) {
        let mut court = plan.algorithm.visit(Open { plan, first: &plans[0], replication, field, recorder })?;
        field = court.field().take();
        courts.push(court);
    }
    let mut together = Together { courts, field };
    let violated = together.run().err();
    let finished = together.courts.into_iter().enumerate().map(|(at, court)| {
        let violation = violated.as_ref().filter(|violated| violated.0 == at).map(|violated| (*violated.1).clone());
        court.finish(violation)
    });
    finished.collect()
}

/// The world of one of the resources with its applications, whatever its algorithm.
trait Court {
    /// When its next event is due.
    fn next_time(&self) -> Option<Time>;
    /// The time.
    fn now(&self) -> Time;
    /// Lets its next event happen. It has the field.
    fn turn(&mut self) -> Step<()>;
    /// Looks at what others have done by now, and does what follows from it. It has the field.
    fn follow(&mut self, now: Time) -> Step<()>;
    /// The place of the field, which has it in turns.
    fn field(&mut self) -> &mut Option<Field>;
    /// Whether it has had its entries.
    fn is_served(&mut self) -> bool;
    /// Ends the record of it.
    fn finish(self: Box<Self>, violation: Option<Violation>) -> io::Result<Outcome>;
}

impl<P: Protocol> Court for Run<'_, P> {
    fn next_time(&self) -> Option<Time> {
        self.world.next_time()
    }

    fn now(&self) -> Time {
        self.world.now()
    }

    fn turn(&mut self) -> Step<()> {
        self.world.next_event().map_or(Ok(()), |event| self.handle(event))?;
        self.lose_patience()
    }

    fn follow(&mut self, now: Time) -> Step<()> {
        self.world.advance_to(now);
        self.world.follow()?;
        self.let_in();
        Ok(())
    }

    fn field(&mut self) -> &mut Option<Field> {
        self.world.field_in_hand()
    }

    fn is_served(&mut self) -> bool {
        self.world.meter().entries() >= self.plan.config.entries
    }

    fn finish(self: Box<Self>, violation: Option<Violation>) -> io::Result<Outcome> {
        let tally = self.world.finish(violation.as_ref())?.finish();
        Ok(Outcome { tally, violation })
    }
}

/// Makes the world of one more resource.
struct Open<'a> {
    plan: &'a Plan,
    /// The plan whose field it is.
    first: &'a Plan,
    replication: u32,
    /// The field, unless this is the first resource.
    field: Option<Field>,
    recorder: Option<Writer>,
}

impl<'a> Visitor for Open<'a> {
    type Output = io::Result<Box<dyn Court + 'a>>;

    fn visit<P: Protocol>(self, variant: P::Variant) -> Self::Output {
        let Self { plan, first, replication, field, recorder } = self;
        let (nodes, k) = (first.config.nodes, plan.config.k);
        assert_eq!(plan.config.nodes, nodes, "all resources are shared by the same nodes");
        let field_plan = first.config.field.as_ref().expect("a plan with a field");
        let field = match field {
            None => field_plan.set_up::<P>(nodes, k, field_seed(first, replication)),
            Some(mut field) => field_plan.share::<P>(&mut field, nodes, k).map(|()| field),
        };
        let field = field.map_err(io::Error::other)?;
        Ok(Box::new(Run::<P>::new(plan, replication, variant, Some(field), recorder)))
    }
}

struct Together<'a> {
    courts: Vec<Box<dyn Court + 'a>>,
    /// The field, between two turns.
    field: Option<Field>,
}

/// What went wrong, and with which of the resources.
type Violated = (usize, Box<Violation>);

impl Together<'_> {
    fn run(&mut self) -> Result<(), Violated> {
        while !self.courts.iter_mut().all(|court| court.is_served()) {
            let next = |court: &mut Box<dyn Court + '_>| court.next_time().unwrap_or(Time::END);
            let (_, at) = self.courts.iter_mut().map(next).zip(0..).min().expect("there are plans");
            let now = self.with_field(at, |court| {
                court.turn()?;
                Ok(court.now())
            })?;
            self.follow(now)?;
        }
        Ok(())
    }

    /// All look at what was done, until there is nothing left that any of them would have to look at.
    fn follow(&mut self, now: Time) -> Result<(), Violated> {
        while self.field.as_ref().is_some_and(Field::has_news) {
            for at in 0..self.courts.len() {
                self.with_field(at, |court| court.follow(now))?;
            }
        }
        Ok(())
    }

    fn with_field<R>(&mut self, at: usize, act: impl FnOnce(&mut dyn Court) -> Step<R>) -> Result<R, Violated> {
        let court = &mut *self.courts[at];
        *court.field() = self.field.take();
        let result = act(court).map_err(|violation| (at, violation));
        self.field = court.field().take();
        result
    }
}

#[cfg(test)]
mod tests;

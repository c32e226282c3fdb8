//! The node of a resource behind its algorithm: what a host knows of it.

use std::any::Any;
use std::time::Duration;

use driftlock_net::Time;
use driftlock_net::parcel::Resource;
use driftlock_net::stack::{Footing, Stack, Told};
use driftlock_protocol::{Crossing, Demand, Grant, Input, InputOf, Protocol, Refusal, Status, View};

use crate::Do;

/// What the driver of a host tells one of its residents. What the stack tells comes from there.
#[derive(Clone, PartialEq, Debug)]
pub enum Cue {
    /// An application asks for units.
    Request(Demand),
    /// It does not want them any more.
    Cancel,
    /// It returns what it was granted.
    Release,
    /// An application of an earlier life of the node shows its grant.
    Resume {
        /// What it was granted.
        grant: Grant,
        /// How long its lease has to go, where a grant is a lease.
        left: Duration,
    },
    /// No application of an earlier life is alive.
    Gone,
    /// Who enters the neighbourhood of the resource, or leaves it.
    Crossing(Crossing),
}

impl Cue {
    /// As an input of a node. Only one that stands on a neighbourhood is told of crossings.
    pub(crate) fn into_input<P: Protocol>(self) -> InputOf<P> {
        match self {
            Self::Request(demand) => Input::Request(demand),
            Self::Cancel => Input::Cancel,
            Self::Release => Input::Release,
            Self::Resume { grant, left } => Input::Resume { grant, left },
            Self::Gone => Input::Gone,
            Self::Crossing(crossing) => {
                Input::Below(P::View::of_crossing(crossing).expect("what stands on no neighbourhood crosses no border"))
            }
        }
    }
}

/// How much there is to share among how many, which bounds what messages have to say.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Share {
    /// How many units there are.
    pub k: u32,
    /// How many nodes share them, at most.
    pub members: u32,
}

/// Where a resident puts what it wants done.
pub struct Desk<'a> {
    /// Its resource.
    pub resource: Resource,
    /// The layers below, for what it sends.
    pub stack: &'a mut Stack,
    /// For its applications.
    pub then: &'a mut Vec<Do>,
}

/// The node of one resource, whatever its algorithm is.
pub trait Resident: Any {
    /// What it stands on.
    fn footing(&self) -> Footing;
    /// It is there from now on: does what it wanted done when it was made.
    fn moves_in(&mut self, now: Time, desk: &mut Desk<'_>);
    /// Takes what it is told, after all timers that are due.
    fn cue(&mut self, now: Time, cue: Cue, desk: &mut Desk<'_>) -> Result<(), Refusal>;
    /// Hears of the stack. What concerns it no more, or cannot be read, changes nothing.
    fn hear(&mut self, now: Time, told: Told, desk: &mut Desk<'_>);
    /// Delivers all timers that are due.
    fn run_due(&mut self, now: Time, desk: &mut Desk<'_>);
    /// When the next timer runs out.
    fn due(&self) -> Option<Time>;
    /// When the grant of its application ends by itself, if it is a lease.
    fn lease_ends(&self) -> Option<Time>;
    /// What has to be stored before anything that it wants is done, unless it was handed out before.
    fn unstored(&mut self) -> Option<Vec<u8>>;
    /// What it shows of itself.
    fn status(&self) -> Status;
}

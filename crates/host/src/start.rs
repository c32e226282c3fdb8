//! How a node begins to take part in a resource, whatever its algorithm.

use driftlock_net::Time;
use driftlock_net::stack::Footing;
use driftlock_protocol::{
    Algorithm, Charter, Constants, Contacts, ContactsOf, Incarnation, Node, NodeId, Outbox, Protocol, Repairs, Terms,
    Visitor, WrongConstant,
};
use thiserror::Error;

use crate::stored::{self, Unreadable};
use crate::{Resident, Seat, Tenant, tenant};

/// What all nodes of a resource agree on.
#[derive(Clone, Copy, Debug)]
pub struct Agreed<'a> {
    /// How units are shared.
    pub algorithm: &'static Algorithm,
    /// How many there are.
    pub k: u32,
    /// What its users have set of the algorithm's constants.
    pub constants: &'a Constants,
}

/// What a node knows when it begins.
#[derive(Clone, Copy, Debug)]
pub enum Start<'a> {
    /// Nothing: it takes part in what others have.
    Blank,
    /// That there are no units yet: it makes them, of this generation. A node that stands on a neighbourhood is told so
    /// when it enters it.
    Founder {
        /// Greater than all before.
        generation: u32,
    },
    /// What it had stored when it was killed, and nothing else.
    Stored {
        /// The resource's part.
        bytes: &'a [u8],
        /// In which life it is in the neighbourhood, if it stands on one and is inside.
        life: Option<Incarnation>,
    },
}

/// Why a node cannot begin.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum StartError {
    /// The constants make no sense.
    #[error(transparent)]
    Constant(#[from] WrongConstant),
    /// What it had stored cannot be read.
    #[error(transparent)]
    Stored(#[from] Unreadable),
}

/// The node `me` of a resource, for a host to [take in](crate::Host::take_in).
pub fn resident(now: Time, me: NodeId, agreed: Agreed<'_>, start: Start<'_>) -> Result<Box<dyn Resident>, StartError> {
    agreed.algorithm.visit(Begin { now, me, agreed, start })
}

struct Begin<'a> {
    now: Time,
    me: NodeId,
    agreed: Agreed<'a>,
    start: Start<'a>,
}

impl Visitor for Begin<'_> {
    type Output = Result<Box<dyn Resident>, StartError>;

    fn visit<P: Protocol>(self, variant: P::Variant) -> Self::Output {
        let Self { now, me, agreed: Agreed { k, constants, .. }, start } = self;
        let variant = Terms { small_scale: false, over_radios: true, constants }.variant::<P>(variant)?;
        let charter = Charter::new(k, variant, Repairs::ALL);
        let mut out = Outbox::new();
        let seat = match start {
            Start::Founder { generation } if tenant::footing::<P>() == Footing::Links => {
                Seat::<P>::founder(now, me, &charter, generation, &mut out)
            }
            Start::Blank | Start::Founder { .. } => Seat::new(now, Node::blank(me, &charter), &out),
            Start::Stored { bytes, life } => {
                let contacts = life.map(ContactsOf::<P::View>::in_life).unwrap_or_default();
                Seat::restore(now, me, &charter, stored::decode(bytes)?, contacts, &mut out)
            }
        };
        Ok(Box::new(Tenant::new(seat, (), out)))
    }
}

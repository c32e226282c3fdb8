//! Whichever layer an algorithm stands on: what a world does with either of them alike.

use driftlock_protocol::{Deployment, Flight, Incarnation, Layer, NodeId, Reach};

use super::{Links, Neighbourhood, NoLink};

/// One of the ideal layers.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Ground<M> {
    /// Links.
    Links(Links<M>),
    /// A neighbourhood.
    Neighbourhood(Neighbourhood<M>),
}

impl<M> Ground<M> {
    /// The layer as a deployment has it at the start.
    pub fn new(layer: Layer, deployment: &Deployment) -> Self {
        match layer {
            Layer::Links => {
                let mut links = Links::new(deployment.nodes);
                for &(a, b) in &deployment.links {
                    links.form(a, b);
                }
                Self::Links(links)
            }
            Layer::Neighbourhood => {
                let mut neighbourhood = Neighbourhood::new(deployment.nodes);
                for (node, stay) in deployment.stays() {
                    neighbourhood.enter(node, stay);
                }
                Self::Neighbourhood(neighbourhood)
            }
        }
    }

    /// Who may speak to `node`.
    pub fn reach(&self, node: NodeId) -> Reach {
        match self {
            Self::Links(links) => Reach::links(links.of(node)),
            Self::Neighbourhood(neighbourhood) => Reach::member(neighbourhood.life(node)),
        }
    }

    /// Puts a message on its way; `None` if it is dropped because nobody is there.
    pub fn send(&mut self, from: NodeId, to: NodeId, message: M) -> Result<Option<Incarnation>, NoLink> {
        match self {
            Self::Links(links) => links.send(from, to, message).map(Some),
            Self::Neighbourhood(neighbourhood) => Ok(neighbourhood.send(from, to, message)),
        }
    }

    /// What was last put on its way from `from` to `to`, if it has not arrived.
    pub fn last_sent(&self, from: NodeId, to: NodeId) -> Option<&M> {
        match self {
            Self::Links(links) => links.last_sent(from, to),
            Self::Neighbourhood(neighbourhood) => neighbourhood.last_sent(from, to),
        }
    }

    /// Takes the message that arrives next from `from` at `to`, if nothing has come between.
    pub fn arrive(&mut self, from: NodeId, to: NodeId, incarnation: Incarnation) -> Option<M> {
        match self {
            Self::Links(links) => links.arrive(from, to, incarnation),
            Self::Neighbourhood(neighbourhood) => neighbourhood.arrive(from, to, incarnation),
        }
    }

    /// Whoever hears a broadcast of `from`.
    pub fn audience(&self, from: NodeId) -> Vec<NodeId> {
        match self {
            Self::Links(links) => links.of(from).map(|(peer, _)| peer).collect(),
            Self::Neighbourhood(neighbourhood) => neighbourhood.audience(from).collect(),
        }
    }

    /// Everything in flight.
    pub fn flights(&self) -> Box<dyn Iterator<Item = Flight<'_, M>> + '_> {
        match self {
            Self::Links(links) => Box::new(links.flights()),
            Self::Neighbourhood(neighbourhood) => Box::new(neighbourhood.flights()),
        }
    }

    /// The links, if that is what it is.
    pub fn links(&self) -> Option<&Links<M>> {
        match self {
            Self::Links(links) => Some(links),
            Self::Neighbourhood(_) => None,
        }
    }

    /// Likewise, to change them.
    pub fn links_mut(&mut self) -> Option<&mut Links<M>> {
        match self {
            Self::Links(links) => Some(links),
            Self::Neighbourhood(_) => None,
        }
    }

    /// The neighbourhood, if that is what it is.
    pub fn neighbourhood(&self) -> Option<&Neighbourhood<M>> {
        match self {
            Self::Links(_) => None,
            Self::Neighbourhood(neighbourhood) => Some(neighbourhood),
        }
    }

    /// Likewise, to change it.
    pub fn neighbourhood_mut(&mut self) -> Option<&mut Neighbourhood<M>> {
        match self {
            Self::Links(_) => None,
            Self::Neighbourhood(neighbourhood) => Some(neighbourhood),
        }
    }
}

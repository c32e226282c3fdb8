//! An algorithm for tests of the judges: nodes have what the test says, and states are put together by hand.

use std::marker::PhantomData;

use driftlock_protocol::ideal::{Change, FAILURES, Ideal, IdealOf, News, Start};
use driftlock_protocol::{
    Charter, Crossing, Demand, Deployment, Fence, Grant, Input, LinkEvent, Moment, Node, NodeId, Out, Outbox, Permits,
    Protocol, Repair, Repairs, Section, Status, Stay, Units, View,
};
use serde::{Deserialize, Serialize};

use crate::parts::{Seat, Stimulus};
use crate::state::{Own, PAUSED, State};
use crate::{Bound, Model, Setup};

/// A node that does nothing of its own accord. Asked for units, it enters at once if it is told to.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Puppet<V> {
    pub(crate) held: Permits,
    pub(crate) has_token: bool,
    /// What it enters with when its application asks.
    pub(crate) enters: Option<Grant>,
    layer: PhantomData<V>,
}

impl<V> Puppet<V> {
    /// It has nothing.
    pub(crate) fn bare() -> Self {
        Self { held: Permits::NONE, has_token: false, enters: None, layer: PhantomData }
    }

    /// It has the token and these permits.
    pub(crate) fn holder(held: Permits) -> Self {
        Self { held, has_token: true, ..Self::bare() }
    }

    /// The same, and enters with these permits.
    pub(crate) fn entering(self, permits: Permits) -> Self {
        Self { enters: Some(grant(permits, 1)), ..self }
    }
}

/// These permits under a fence of this number.
pub(crate) fn grant(permits: Permits, counter: u64) -> Grant {
    Grant { permits, fence: Fence { epoch: 0, counter } }
}

/// The permit of this number alone.
pub(crate) fn unit(number: u8) -> Permits {
    Permits::single(number.try_into().expect("a small number"))
}

/// A message that carries what the test says.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub(crate) struct Parcel {
    pub(crate) permits: Permits,
    pub(crate) is_token: bool,
}

impl<V: View> Protocol for Puppet<V> {
    type Message = Parcel;
    type View = V;
    type Timer = u8;
    type Variant = ();
    type Durable = ();

    const KINDS: &'static [&'static str] = &["parcel"];
    const REPAIRS: &'static [Repair] = &[];
    const LENDS: bool = matches!(V::Ideal::STARTS_FROM, Start::Members);

    fn deploy(deployment: &Deployment, (): (), _repairs: Repairs) -> Vec<Self> {
        deployment.ids().map(|_| Self::bare()).collect()
    }

    fn blank(_me: NodeId, _charter: &Charter<()>) -> Self {
        Self::bare()
    }

    fn mint(&mut self, _k: u32, _generation: u32, _out: &mut Out<Self>) {}
    fn durable(&self) {}

    fn restore(me: NodeId, charter: &Charter<()>, (): (), _out: &mut Out<Self>) -> Self {
        Self::blank(me, charter)
    }

    fn request(&mut self, _demand: Demand, out: &mut Out<Self>) {
        if let Some(grant) = self.enters {
            out.grant(grant);
        }
    }

    fn release(&mut self, _out: &mut Out<Self>) {}
    fn message(&mut self, _from: NodeId, _message: Parcel, _out: &mut Out<Self>) {}
    fn undelivered(&mut self, _to: NodeId, _message: Parcel, _out: &mut Out<Self>) {}
    fn timer(&mut self, _timer: u8, _out: &mut Out<Self>) {}
    fn below(&mut self, _view: V, _out: &mut Out<Self>) {}

    fn units_max(&self) -> Units {
        Units::new(8).expect("not zero")
    }

    fn held(&self) -> Permits {
        self.held
    }

    fn has_token(&self) -> bool {
        self.has_token
    }

    fn section(&self) -> Section {
        Section::Remainder
    }

    fn status(&self) -> Status {
        Status { section: Section::Remainder, permits: self.held, queue: Vec::new(), waits_on: None, height: None }
    }

    fn permits(message: &Parcel) -> Permits {
        message.permits
    }

    fn is_token(message: &Parcel) -> bool {
        message.is_token
    }

    fn kind(_message: &Parcel) -> usize {
        0
    }

    fn invariant(_moment: &Moment<'_, Self>) -> Result<(), String> {
        Ok(())
    }
}

/// A state that a test puts together: everybody is linked to everybody, or everybody is a member.
pub(crate) struct Scene<V: View> {
    pub(crate) model: Model<Puppet<V>>,
    pub(crate) state: State,
}

impl<V: View> Scene<V> {
    pub(crate) fn new(nodes: u32, k: u32) -> Self {
        Self::with(nodes, k, |_| {})
    }

    /// The same, where the setup is as the test wants it.
    pub(crate) fn with(nodes: u32, k: u32, change: impl FnOnce(&mut Setup)) -> Self {
        let mut deployment = Deployment { nodes, k, ..Deployment::default() };
        if V::Ideal::STARTS_FROM == Start::Members {
            deployment.members = deployment.ids().collect();
        } else {
            deployment.links = (0..nodes).flat_map(|b| (0..b).map(move |a| (NodeId(a), NodeId(b)))).collect();
        }
        let mut setup = Setup::still(deployment, Bound::Any);
        change(&mut setup);
        let model = Model::new(setup, (), Repairs::ALL).expect("it can be explored");
        let state = model.initial();
        Self { model, state }
    }

    /// Puts a node in its place; its application asks for so many units, or for none.
    pub(crate) fn seat(&mut self, node: u32, puppet: Puppet<V>, asks: u32) {
        let reach = self.model.twin(&self.state).twin.contacts(NodeId(node));
        let mut node_there = Node::new(NodeId(node), puppet, reach);
        if let Some(units) = Units::new(asks) {
            let demand = Demand { units, ..Demand::ONE };
            node_there.step(Input::Request(demand), &mut Outbox::new()).expect("it may ask");
        }
        let seat = self.model.parts.seat(Seat::new(node_there));
        self.model.layout.set_seat(&mut self.state, NodeId(node), seat);
    }

    /// Something happens to the node's shell: its application withdraws, or it is told to leave.
    pub(crate) fn step(&mut self, node: u32, stimulus: Stimulus) {
        let before = self.model.layout.seat(&self.state, NodeId(node));
        let seat = self.model.parts.reaction(NodeId(node), before, stimulus).seat;
        self.model.layout.set_seat(&mut self.state, NodeId(node), seat);
    }

    /// The node has a timer that runs out after so many ticks.
    pub(crate) fn arm(&mut self, node: u32, ticks: u16) {
        let parts = &self.model.parts;
        let mut seat = parts.seats.get(self.model.layout.seat(&self.state, NodeId(node))).seat.clone();
        seat.timers.push((0, ticks));
        self.model.layout.set_seat(&mut self.state, NodeId(node), parts.seat(seat));
    }

    /// A message is on its way.
    pub(crate) fn send(&mut self, from: u32, to: u32, permits: Permits, is_token: bool) {
        let message = self.model.parts.message(Parcel { permits, is_token });
        let (layout, from, to) = (self.model.layout, NodeId(from), NodeId(to));
        let channel = self.model.parts.sent(layout.channel(&self.state, from, to), message);
        layout.set_channel(&mut self.state, from, to, channel);
    }

    pub(crate) fn pause(&mut self, node: u32) {
        self.model.layout.set_own(&mut self.state, NodeId(node), Own::Absence, Bound::Most(PAUSED));
    }
}

impl<V: View> Scene<V> {
    /// The layer below has changed before, and nobody was told.
    fn has_changed(&mut self, change: impl FnOnce(&mut V::Ideal, &mut Vec<News<V>>)) {
        let mut twin: IdealOf<Puppet<V>> = self.model.twin(&self.state).twin.clone();
        change(&mut twin, &mut Vec::new());
        self.model.layout.set_twin(&mut self.state, self.model.parts.twin(twin));
    }

    /// The layer below has made this change before, and nobody was told.
    pub(crate) fn has_made(&mut self, change: Change) {
        self.has_changed(|twin, news| twin.apply(change, &mut |life| Stay(life.0.into()), news));
    }
}

impl Scene<LinkEvent> {
    pub(crate) fn cut(&mut self, a: u32, b: u32) {
        self.has_made(Change::between(&FAILURES, NodeId(a), NodeId(b)));
    }
}

impl Scene<Crossing> {
    pub(crate) fn has_departed(&mut self, node: u32) {
        self.has_changed(|twin, news| twin.depart(NodeId(node), news));
    }
}

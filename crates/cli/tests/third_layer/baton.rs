//! An algorithm that stands on a circle: a baton rests until a node asks for it, and goes round and round from then on.
//! Whoever has it may enter.

use driftlock_protocol::{
    Charter, Demand, Deployment, Fence, Grant, Moment, NodeId, Out, Permits, Protocol, Repair, Repairs, Section,
    Status, Units,
};
use serde::{Deserialize, Serialize};

use crate::circle::Beside;

/// The unit, and the fence of its last grant.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub(crate) struct Token {
    permits: Permits,
    fence: Fence,
}

/// What nodes send to the next one.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Message {
    /// Wherever the baton rests, it is to set out: this node wants it. Goes round once.
    Ask(NodeId),
    /// The baton itself.
    Baton(Token),
}

/// Whether nodes notice that others have changed places.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Sight {
    /// They do.
    Keen,
    /// They do not, which is wrong.
    Blind,
}

/// A node.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Baton {
    me: NodeId,
    sight: Sight,
    next: Option<NodeId>,
    baton: Option<Token>,
    section: Section,
}

impl Baton {
    fn send(&self, message: Message, out: &mut Out<Self>) {
        if let Some(next) = self.next {
            out.send(next, message);
        }
    }

    fn enter_or_pass_on(&mut self, out: &mut Out<Self>) {
        let Some(mut token) = self.baton else { return };
        match self.section {
            Section::Waiting => {
                token.fence.counter += 1;
                (self.section, self.baton) = (Section::Critical, Some(token));
                out.grant(Grant { permits: token.permits, fence: token.fence });
            }
            Section::Critical => {}
            Section::Remainder => {
                self.baton = None;
                self.send(Message::Baton(token), out);
            }
        }
    }
}

impl Protocol for Baton {
    type Message = Message;
    type View = Beside;
    type Timer = u8;
    type Variant = Sight;
    type Durable = ();

    const KINDS: &'static [&'static str] = &["ask", "baton"];
    const REPAIRS: &'static [Repair] = &[];

    fn deploy(deployment: &Deployment, sight: Sight, repairs: Repairs) -> Vec<Self> {
        let charter = Charter::new(deployment.k, sight, repairs);
        let mut nodes: Vec<_> = deployment.ids().map(|id| Self::blank(id, &charter)).collect();
        for node in &mut nodes {
            node.next = Some(NodeId((node.me.0 + 1) % deployment.nodes));
        }
        nodes[0].baton = Some(Token { permits: Permits::first(1), fence: Fence::default() });
        nodes
    }

    fn blank(me: NodeId, charter: &Charter<Sight>) -> Self {
        Self { me, sight: charter.variant, next: None, baton: None, section: Section::Remainder }
    }

    fn mint(&mut self, _k: u32, generation: u32, _out: &mut Out<Self>) {
        self.baton = Some(Token { permits: Permits::first(1), fence: Fence { epoch: generation.into(), counter: 0 } });
    }

    fn durable(&self) {}

    fn restore(me: NodeId, charter: &Charter<Sight>, (): (), _out: &mut Out<Self>) -> Self {
        Self::blank(me, charter)
    }

    fn request(&mut self, _demand: Demand, out: &mut Out<Self>) {
        self.section = Section::Waiting;
        self.enter_or_pass_on(out);
        if self.baton.is_none() {
            self.send(Message::Ask(self.me), out);
        }
    }

    fn release(&mut self, out: &mut Out<Self>) {
        self.section = Section::Remainder;
        self.enter_or_pass_on(out);
    }

    fn message(&mut self, _from: NodeId, message: Message, out: &mut Out<Self>) {
        match message {
            Message::Ask(_) if self.baton.is_some() => self.enter_or_pass_on(out),
            Message::Ask(by) if by == self.me => {}
            ask @ Message::Ask(_) => self.send(ask, out),
            Message::Baton(token) => {
                self.baton = Some(token);
                self.enter_or_pass_on(out);
            }
        }
    }

    fn undelivered(&mut self, _to: NodeId, _message: Message, _out: &mut Out<Self>) {}
    fn timer(&mut self, _timer: u8, _out: &mut Out<Self>) {}

    /// What was asked for may have been lost with the former way.
    fn below(&mut self, beside: Beside, out: &mut Out<Self>) {
        if self.sight == Sight::Keen {
            self.next = Some(beside.next);
        }
        if self.section == Section::Waiting {
            self.send(Message::Ask(self.me), out);
        }
    }

    fn units_max(&self) -> Units {
        Units::ONE
    }

    fn held(&self) -> Permits {
        self.baton.map_or(Permits::NONE, |token| token.permits)
    }

    fn section(&self) -> Section {
        self.section
    }

    fn status(&self) -> Status {
        Status { section: self.section, permits: self.held(), queue: Vec::new(), waits_on: self.next, height: None }
    }

    fn permits(message: &Message) -> Permits {
        match message {
            Message::Ask(_) => Permits::NONE,
            Message::Baton(token) => token.permits,
        }
    }

    fn kind(message: &Message) -> usize {
        usize::from(matches!(message, Message::Baton(_)))
    }

    fn invariant(_moment: &Moment<'_, Self>) -> Result<(), String> {
        Ok(())
    }
}

//! Fault-tolerant k-local mutual exclusion: klme that survives crashes and lost messages.
//!
//! A. Khanna, A. K. Singh, A. Swaroop: "A Leader-Based k-Local Mutual Exclusion Algorithm Using Token for MANETs", 2014
//! ([`crate::klme`]), ends with "developing a fault tolerant version of the proposed algorithm may be a future
//! direction of research". This is ours. docs/guarantees.md says what it promises and why that holds.
//!
//! As in the paper, a leader has the token, which knows the free units (*Kfree*), their users (*`T_alloc_id`*) and the
//! waiters (*`R_Queue`*); members ask it and are granted units. What is added:
//!
//! - Three members keep a copy of the token. The leader sends every member a *beat* at intervals; copy holders
//!   acknowledge it. For one beat after a majority of them has done so the leader may grant, and they support no other
//!   for as long as such grants last.
//! - A grant is a lease, counted from the sending of the claim that it answers. A member that uses a unit claims it
//!   anew at every beat, and stops when its lease runs out.
//! - A copy holder that hears no beat for too long stands for leader under a greater number. The votes of a majority
//!   make it one; by then all earlier grants have run out, so its token has all k units free.
//! - Copy holders that leave or fall silent are replaced, one at a time.
//! - When no member wants anything, the leader says so and rests, and so do all others. The next that wants something
//!   wakes all of them.
//!
//! Deviations from the paper, beside the repairs of klme:
//!
//! - The leader stays where it is, unless it leaves or fails. The paper sends an idle token to the first node that
//!   asks, so that this node may enter without permission; here every move would cost a vote of a majority, and a grant
//!   costs only two messages.
//! - There are no request numbers. Claims and grants name the beat that they belong to, and a grant counts only until
//!   the next one; so nothing that is late can be mistaken for something current, and no number outlives the leader
//!   that knows it.
//! - `Req_ack` is not needed: claims are made anew at every beat. `I_am_here` is not needed: the next beat tells a
//!   newcomer which node leads.
//! - What is told about others that come and go (*`I_am_leaving`*) makes things quicker and is never relied on.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use serde::{Deserialize, Serialize};

use crate::tenure::{Care, Chair, Generation, LeaderNo, Member, Office, Round, Terms, Times};
use crate::{
    Charter, Claims, Constant, Crossing, Demand, Deployment, Grant, Harm, Incarnation, Moment, NodeId, Out, Permit,
    Permits, Protocol, Repair, Repairs, Section, Status, Stay, Units,
};

mod books;
mod claimant;
pub mod guard;
mod leader;
mod lemmas;
mod life;
mod message;
#[cfg(test)]
mod tests;

pub use crate::tenure::{Durable, Holding};
use books::Books;
pub use message::{Allocation, Copy, Message, Seal, Want};

/// The longest that a lease may be, in beats: a leader counts them down.
const LEASE_MAX: u32 = 10_000;

/// The constants.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Variant {
    /// How long things last.
    pub times: Times,
    /// How many copies there are, and when a holder counts as lost.
    pub care: Care,
    /// How long a member that wants to leave waits for being dismissed.
    pub farewell: Duration,
}

impl Variant {
    /// For messages that take a second or two, and now and then several.
    pub const USUAL: Self = Self {
        times: Times {
            beat: Duration::from_secs(10),
            lease: Duration::from_secs(30),
            drift_percent: 1,
            margin: Duration::from_millis(500),
        },
        care: Care { copies: 3, patience: 3 },
        farewell: Duration::from_secs(300),
    };

    /// As short as they can be, in ticks of ten seconds: a lease outlasts one beat. Where time passes in ticks and
    /// clocks do not differ, a guard that is as long as what it guards ends a tick later, because it begins a tick
    /// later or with a beat.
    pub const SMALL: Self = Self {
        times: Times {
            beat: Duration::from_secs(10),
            lease: Duration::from_secs(20),
            drift_percent: 0,
            margin: Duration::ZERO,
        },
        care: Care { copies: 3, patience: 1 },
        farewell: Duration::from_secs(80),
    };
}

impl Variant {
    /// What chairs go by.
    fn terms(self, rules: Repairs) -> Terms {
        let Self { times, care, farewell } = self;
        Terms { times, care, farewell, rules }
    }
}

/// What it waits for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Timer {
    /// At the leader: the next beat is due, and the right to grant is over.
    Beat,
    /// Nothing was heard of a leader for so long that all its grants have run out; at the leader: of a majority.
    Silence,
    /// The claim with this lease was sent so long ago that what was granted for it is over. Of the two, one is in force
    /// and the other may be asked for.
    Lease(bool),
    /// It has waited long enough for being dismissed.
    Farewell,
    /// It was restarted so long ago that every lease of its earlier life is over.
    Quiet,
}

/// *State*.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Usage {
    /// R.
    Idle,
    /// W.
    Waiting {
        demand: Demand,
        /// Whether it has claimed a unit under the latest beat, and may still be granted one.
        claimed: bool,
    },
    /// CS.
    Using {
        demand: Demand,
        permit: Permit,
        seal: Seal,
        /// The lease that is in force.
        lease: bool,
        /// Whether it has claimed the unit again under the latest beat, and its lease may still be renewed.
        claimed: bool,
    },
}

/// What is left of its earlier lives.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Earlier {
    /// An application may still use a unit. So it is quiet: it claims and frees nothing.
    MayBeInside,
    Over,
}

/// What a node has to do with units: what its application uses or wants and, while it leads, the books.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Desk {
    /// *k*.
    k: u32,
    earlier: Earlier,
    /// *State*.
    usage: Usage,
    /// While it leads.
    books: Option<Books>,
    variant: Variant,
    /// The rules in force: all of them, but in tests and searches.
    rules: Repairs,
}

/// A node of klme-ft.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct KlmeFt {
    /// Who leads: *`M_Th_id`*, *`Node_leader_no`*.
    chair: Chair<Desk>,
    desk: Desk,
}

impl Protocol for KlmeFt {
    type Message = Message;
    type View = Crossing;
    type Timer = Timer;
    type Variant = Variant;
    type Durable = Durable;

    const KINDS: &'static [&'static str] = &["beat", "claim", "grant", "stand", "vote", "ahead", "token", "dismiss"];
    const REPAIRS: &'static [Repair] = &[];
    const LENDS: bool = true;
    const GUARDS: &'static [Repair] = guard::LIST;
    const CLAIMS: Claims =
        Claims::to_stand(&[Harm::Crash, Harm::Loss, Harm::Overtaking, Harm::Restart, Harm::DiskLoss]);

    /// The first member leads, the first three have copies, and all of them rest.
    fn deploy(deployment: &Deployment, variant: Variant, rules: Repairs) -> Vec<Self> {
        let members: Vec<_> = deployment.stays().map(|(id, stay)| Member { id, stay }).collect();
        let holders: Vec<_> = members.iter().copied().take(variant.care.copies.into()).collect();
        let copy = members.first().map(|&first| {
            let number = LeaderNo { counter: 1, stay: first.stay };
            Copy::first(number, Generation::default(), first, holders)
        });
        let charter = Charter::new(deployment.k, variant, rules);
        let node = |id| {
            let mut node = Self::blank(id, &charter);
            let Some((member, copy)) = members.iter().find(|member| member.id == id).zip(copy.as_ref()) else {
                return node;
            };
            let others = members.iter().map(|other| other.id).filter(|&other| other != id);
            node.chair.begin_at_rest(*member, others.collect(), copy.clone());
            if node.chair.leads() {
                node.desk.books = Some(Books::new(copy.number, deployment.k, &[], &[], 0));
            }
            node
        };
        deployment.ids().map(node).collect()
    }

    /// It is nowhere.
    fn blank(me: NodeId, charter: &Charter<Variant>) -> Self {
        Self { chair: Chair::blank(me, charter.variant.terms(charter.repairs)), desk: Desk::new(charter) }
    }

    /// In the neighbourhood that it is in.
    fn mint(&mut self, _k: u32, generation: u32, out: &mut Out<Self>) {
        self.chair.found(Generation(generation), &mut self.desk, out);
    }

    fn durable(&self) -> Durable {
        self.chair.durable()
    }

    fn restore(me: NodeId, charter: &Charter<Variant>, durable: Durable, out: &mut Out<Self>) -> Self {
        Self::restored(me, charter, durable, out)
    }

    fn lease(&self) -> Option<Timer> {
        match self.desk.usage {
            Usage::Using { lease, .. } => Some(Timer::Lease(lease)),
            Usage::Idle | Usage::Waiting { .. } => None,
        }
    }

    fn resume(&mut self, grant: Grant, left: Duration, out: &mut Out<Self>) -> bool {
        self.is_resumed(grant, left, out)
    }

    fn constants(_variant: Variant) -> Vec<Constant<Variant>> {
        alloc::vec![
            Constant::time("beat", |of| &mut of.times.beat, "from one beat of the leader to the next"),
            Constant::time("lease", |of| &mut of.times.lease, "from a claim to the end of the grant that answers it"),
            Constant::count(
                "drift",
                |of| &mut of.times.drift_percent,
                0..=100,
                "of clocks against one another, in percent"
            ),
            Constant::pause("margin", |of| &mut of.times.margin, "what guards wait beyond that"),
            Constant::count("copies", |of| &mut of.care.copies, 1..=9, "of the token, at so many members"),
            Constant::count(
                "patience",
                |of| &mut of.care.patience,
                1..=100,
                "beats until a silent copy holder is replaced"
            ),
            Constant::time("farewell", |of| &mut of.farewell, "the longest that a member waits for leave to go"),
        ]
    }

    fn fit(variant: Variant) -> Result<(), String> {
        let Variant { times: Times { beat, lease, .. }, farewell, .. } = variant;
        let seconds = |time: Duration| time.as_secs_f64();
        if lease <= beat {
            let (lease, beat) = (seconds(lease), seconds(beat));
            return Err(format!(
                "a lease of {lease} s would be over before the next beat, after {beat} s, can renew it: make lease longer \
                 than beat, two or three times as long if messages may be lost"
            ));
        }
        if lease > beat * LEASE_MAX {
            let (lease, beat) = (seconds(lease), seconds(beat));
            return Err(format!("a lease of {lease} s is more than {LEASE_MAX} beats of {beat} s: make it shorter"));
        }
        if farewell < beat {
            let (farewell, beat) = (seconds(farewell), seconds(beat));
            return Err(format!(
                "a farewell of {farewell} s is over before the next beat, after {beat} s, which could give leave to go: \
                 make it several beats"
            ));
        }
        Ok(())
    }

    fn at_small_scale(_variant: Variant) -> Variant {
        Variant::SMALL
    }

    fn request(&mut self, demand: Demand, out: &mut Out<Self>) {
        self.on_request_cs(demand, out);
    }

    fn release(&mut self, out: &mut Out<Self>) {
        self.on_release_cs(out);
    }

    fn message(&mut self, from: NodeId, message: Message, out: &mut Out<Self>) {
        let Self { chair, desk } = self;
        match message {
            Message::Beat { copy, wanted, rests } => self.on_beat(from, copy, wanted, rests, out),
            Message::Claim { stay, number, round, want, leaving } => {
                let is_current = chair.is_latest_beat(number, round);
                self.on_claim(Member { id: from, stay }, is_current, want, leaving, out);
            }
            Message::Grant { number, round, permit, seal, renews } => {
                if chair.is_latest_beat(Some(number), round) || !desk.keeps(guard::LATE_GRANTS) {
                    desk.on_grant((permit, seal), renews, chair, out);
                }
            }
            Message::Stand { number, holders, relieves } => {
                chair.on_stand(from, number, &holders, relieves, desk, out);
            }
            Message::Vote { stay, number, copy } => {
                chair.on_vote(Member { id: from, stay }, number, copy, desk, out);
            }
            Message::Ahead { number } => chair.on_ahead(number, desk, out),
            Message::Token { number, allocated } => self.on_token(number, allocated, out),
            Message::Dismiss { stay, number, round } => self.on_dismiss(stay, (number, round), out),
        }
    }

    fn undelivered(&mut self, _to: NodeId, _message: Message, _out: &mut Out<Self>) {}

    fn timer(&mut self, timer: Timer, out: &mut Out<Self>) {
        match timer {
            Timer::Beat => self.chair.on_beat_over(&mut self.desk, out),
            Timer::Silence => self.on_silence(out),
            Timer::Lease(which) => self.desk.on_lease_over(which, &self.chair, out),
            Timer::Farewell => self.chair.depart(&mut self.desk, out),
            Timer::Quiet => self.on_quiet_over(out),
        }
    }

    fn below(&mut self, view: Crossing, out: &mut Out<Self>) {
        match view {
            Crossing::Entered { stay, members, founds, .. } => self.on_entered(stay, &members, founds, out),
            Crossing::Leaving => self.on_leaving(out),
            Crossing::Met { peer, .. } => self.chair.on_met(peer, &mut self.desk, out),
            Crossing::Parted { peer } => self.chair.on_parted(peer, &mut self.desk, out),
        }
    }

    fn units_max(&self) -> Units {
        Units::ONE
    }

    /// No node holds permits: a leader has them in its books, and so may another that does not know yet that it leads
    /// no more. What is in use is for the oracles to judge, which know what time it is.
    fn held(&self) -> Permits {
        Permits::NONE
    }

    fn has_token(&self) -> bool {
        self.chair.leads()
    }

    fn section(&self) -> Section {
        match self.desk.usage {
            Usage::Idle => Section::Remainder,
            Usage::Waiting { .. } => Section::Waiting,
            Usage::Using { .. } => Section::Critical,
        }
    }

    fn status(&self) -> Status {
        let queue = self.desk.books.iter().flat_map(Books::waiters).map(|member| member.id).collect();
        let leader = self.chair.copy.as_ref().map(|copy| copy.leader).filter(|leader| *leader != self.chair.id);
        Status {
            section: self.section(),
            permits: if let Usage::Using { permit, .. } = self.desk.usage {
                Permits::single(permit)
            } else {
                Permits::NONE
            },
            queue,
            waits_on: leader.filter(|_| self.section() == Section::Waiting),
            height: None,
        }
    }

    fn permits(_message: &Message) -> Permits {
        Permits::NONE
    }

    fn is_token(message: &Message) -> bool {
        matches!(message, Message::Token { .. })
    }

    fn kind(message: &Message) -> usize {
        match message {
            Message::Beat { .. } => 0,
            Message::Claim { .. } => 1,
            Message::Grant { .. } => 2,
            Message::Stand { .. } => 3,
            Message::Vote { .. } => 4,
            Message::Ahead { .. } => 5,
            Message::Token { .. } => 6,
            Message::Dismiss { .. } => 7,
        }
    }

    /// All of them: they are in a leader's books.
    fn returning(moment: &Moment<'_, Self>) -> Permits {
        moment.nodes.first().map_or(Permits::NONE, |node| Permits::first(node.desk.k))
    }

    fn is_ready_for_crash(moment: &Moment<'_, Self>) -> bool {
        lemmas::can_lose_a_node(moment)
    }

    fn invariant(moment: &Moment<'_, Self>) -> Result<(), String> {
        lemmas::hold(moment)
    }
}

impl Desk {
    fn new(charter: &Charter<Variant>) -> Self {
        let Charter { k, variant, repairs: rules } = *charter;
        Self { k, earlier: Earlier::Over, usage: Usage::Idle, books: None, variant, rules }
    }

    /// Whether this rule is in force.
    fn keeps(&self, rule: Repair) -> bool {
        self.rules.has(rule)
    }

    fn is_quiet(&self) -> bool {
        self.earlier == Earlier::MayBeInside
    }
}

/// Coming and going: *I* and *J* of the paper. In its quiet time a node neither leads nor goes.
impl KlmeFt {
    fn on_entered(&mut self, stay: Stay, members: &[(NodeId, Incarnation)], founds: Option<u32>, out: &mut Out<Self>) {
        out.clause("J");
        self.chair.stay = Some(stay);
        self.chair.others = members.iter().map(|(id, _)| *id).collect();
        if let Some(generation) = founds {
            self.mint(self.desk.k, generation, out);
        } else if self.desk.waits() {
            self.chair.knock(&self.desk, out);
        }
    }

    fn on_leaving(&mut self, out: &mut Out<Self>) {
        out.clause("I");
        self.chair.leaving = true;
        if !self.desk.is_quiet() {
            self.take_leave(out);
        }
    }

    /// It gives its unit up, and waits until no leader counts on its copy.
    fn take_leave(&mut self, out: &mut Out<Self>) {
        let Self { chair, desk } = self;
        desk.lose_unit(chair, out);
        if let Usage::Waiting { claimed, .. } = &mut desk.usage {
            // What is granted from now on comes too late.
            *claimed = false;
            out.disarm(Timer::Lease(false));
        }
        if let Some(books) = &mut desk.books {
            books.dequeue(chair.id);
        }
        if chair.take_leave(desk, out) {
            return;
        }
        match (chair.leads(), chair.rests) {
            (true, true) => chair.begin_round(false, desk, out),
            (true, false) => {}
            (false, true) => chair.knock(desk, out),
            (false, false) => desk.claim(chair, out),
        }
    }

    fn on_dismiss(&mut self, stay: Stay, beat: (LeaderNo, Round), out: &mut Out<Self>) {
        if !self.desk.is_quiet() {
            self.chair.on_dismiss(stay, beat, &mut self.desk, out);
        }
    }

    /// If it is quiet, it slept, and both times are over. It does not lead before it knows that no application is
    /// inside.
    fn on_silence(&mut self, out: &mut Out<Self>) {
        if self.desk.is_quiet() {
            out.arm(Timer::Silence, self.desk.variant.times.bond());
        } else {
            self.chair.on_silence(&mut self.desk, out);
        }
    }

    /// If it were quiet, it would take its own unit back, which an application of its earlier life may still use.
    fn on_token(&mut self, number: LeaderNo, allocated: Vec<Allocation>, out: &mut Out<Self>) {
        if !self.desk.is_quiet() {
            self.chair.on_token(number, allocated, &mut self.desk, out);
        }
    }
}

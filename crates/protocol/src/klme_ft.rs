//! Fault-tolerant k-local mutual exclusion: klme that survives crashes and lost messages.
//!
//! A. Khanna, A. K. Singh, A. Swaroop: "A Leader-Based k-Local Mutual Exclusion Algorithm Using Token for MANETs", 2014
//! ([`crate::klme`]), ends with "developing a fault tolerant version of the proposed algorithm may be a future direction of
//! research". This is ours. docs/guarantees.md says what it promises and why that holds.
//!
//! As in the paper, a leader has the token, which knows the free units (*Kfree*), their users (*`T_alloc_id`*) and who waits
//! (*`R_Queue`*); members ask it and are granted units. What is added:
//!
//! - Three members keep a copy of the token. The leader sends everybody a *beat* at intervals; copy holders acknowledge it. For one beat
//!   after a majority of them has done so the leader may grant, and they support nobody else for as long as such grants last.
//! - A grant is a lease, counted from the sending of the claim that it answers. Whoever uses a unit claims it anew at every
//!   beat, and stops when its lease runs out.
//! - A copy holder that hears no beat for too long stands for leader under a greater number. The votes of a majority make it
//!   one; by then all earlier grants have run out, so its token has all k units free.
//! - Copy holders that leave or fall silent are replaced, one at a time.
//! - When nobody wants anything, the leader says so and rests, and so does everybody else. Whoever then wants something wakes
//!   all of them.
//!
//! Deviations from the paper, beside the repairs of klme:
//!
//! - The leader stays where it is, unless it leaves or fails. The paper sends an idle token to whoever asks first, so that this node may
//!   enter without permission; here every move would cost a vote of a majority, and a grant costs only two messages.
//! - There are no request numbers. Claims and grants name the beat that they belong to, and a grant counts only until the next
//!   one; so nothing that is late can be mistaken for something current, and no number outlives the leader that knows it.
//! - `Req_ack` is not needed: claims are made anew at every beat. `I_am_here` is not needed: the next beat tells a newcomer who leads.
//! - What is told about others who come and go (*`I_am_leaving`*) makes things quicker and is never relied on.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use serde::{Deserialize, Serialize};

use crate::tenure::{Care, LeaderNo, Member, Promise, Round, Term, Times, Version};
use crate::{
    Charter, Claims, Constant, Crossing, Demand, Deployment, Grant, Harm, Moment, NodeId, Out, Permit, Permits,
    Protocol, Repair, Repairs, Section, Status, Stay, Units,
};

mod books;
mod claimant;
mod election;
pub mod guard;
mod leader;
mod lemmas;
mod life;
mod message;
#[cfg(test)]
mod tests;

use books::Books;
pub use life::{Durable, Holding};
pub use message::{Allocation, Copy, Message, Seal, Want};

/// The longest that a lease may be, in beats: a leader counts them down.
const LEASE_MAX: u32 = 10_000;

/// The constants.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Variant {
    /// How long things last.
    pub times: Times,
    /// Who keeps copies.
    pub care: Care,
    /// How long whoever wants to leave waits for being dismissed.
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

    /// As short as they can be, in ticks of ten seconds: a lease outlasts one beat. Where time passes in ticks and clocks do not
    /// differ, a guard that is as long as what it guards ends a tick later, because it begins a tick later or with a beat.
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

/// What it waits for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Timer {
    /// At the leader: the next beat is due, and the right to grant is over.
    Beat,
    /// Nothing was heard of a leader for so long that all its grants have run out; at the leader: of a majority.
    Silence,
    /// The claim with this lease was sent so long ago that what was granted for it is over. Of the two, one is in force and the
    /// other may be asked for.
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

/// What a member is to the others.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Role {
    Follower,
    Candidate(Candidacy),
    Leader(Term),
}

/// What a candidate has.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Candidacy {
    number: LeaderNo,
    /// In growing order.
    votes: Vec<Member>,
    /// The leader that has handed its duty over, and what was in use then.
    inheritance: Option<(LeaderNo, Vec<Allocation>)>,
}

/// A node of klme-ft.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct KlmeFt {
    /// *i*.
    id: NodeId,
    /// *k*.
    k: u32,
    /// Its stay, while it is in the neighbourhood.
    stay: Option<Stay>,
    /// Who else is there, as far as the layer below knows.
    others: Vec<NodeId>,
    /// Whether it is about to leave.
    leaving: bool,
    earlier: Earlier,
    /// *State*.
    usage: Usage,
    /// Whom it has voted for or followed.
    promise: Promise,
    /// Of the latest beat that it heard or sent: *`M_Th_id`*, *`Node_leader_no`*.
    copy: Option<Copy>,
    /// Nobody wanted anything when it last heard, so silence means nothing.
    rests: bool,
    /// Whether the latest beat asked who could keep a copy. Whoever was asked may have been chosen.
    asked: bool,
    role: Role,
    /// While it leads.
    books: Option<Books>,
    variant: Variant,
    /// The rules in force: all of them, but in tests and searches.
    rules: Repairs,
}

impl Protocol for KlmeFt {
    type Message = Message;
    type View = Crossing;
    type Timer = Timer;
    type Variant = Variant;
    type Durable = Durable;

    const KINDS: &'static [&'static str] = &["beat", "claim", "grant", "stand", "vote", "ahead", "token", "dismiss"];
    const REPAIRS: &'static [Repair] = &[];
    const GUARDS: &'static [Repair] = guard::LIST;
    const CLAIMS: Claims =
        Claims::to_stand(&[Harm::Crash, Harm::Loss, Harm::Overtaking, Harm::Restart, Harm::DiskLoss]);

    /// The first member leads, the first three have copies, and all of them rest.
    fn deploy(deployment: &Deployment, variant: Variant, rules: Repairs) -> Vec<Self> {
        let members: Vec<_> = deployment.stays().map(|(id, stay)| Member { id, stay }).collect();
        let copy = members.first().map(|first| Copy {
            number: LeaderNo { counter: 1, stay: first.stay },
            version: Version::default(),
            round: Round::default(),
            leader: first.id,
            founded: first.stay,
            holders: members.iter().copied().take(variant.care.copies.into()).collect(),
            queue: Vec::new(),
        });
        let charter = Charter::new(deployment.k, variant, rules);
        let node = |id| {
            let mut node = Self::blank(id, &charter);
            let Some((member, copy)) = members.iter().find(|member| member.id == id).zip(copy.as_ref()) else {
                return node;
            };
            node.stay = Some(member.stay);
            node.others = members.iter().map(|other| other.id).filter(|&other| other != id).collect();
            node.promise.follow(copy.number);
            node.promise.loosen();
            node.copy = Some(copy.clone());
            node.rests = true;
            if copy.leader == id {
                let term = Term::new(copy.number, copy.round, &copy.holders);
                // There was no leader before, so nobody knows of other copy holders.
                node.role = Role::Leader(Term { settled: true, ..term });
                node.books = Some(Books::new(copy.number, deployment.k, &[], &[], 0));
            }
            node
        };
        deployment.ids().map(node).collect()
    }

    /// It is nowhere.
    fn blank(me: NodeId, charter: &Charter<Variant>) -> Self {
        Self {
            id: me,
            k: charter.k,
            stay: None,
            others: Vec::new(),
            leaving: false,
            earlier: Earlier::Over,
            usage: Usage::Idle,
            promise: Promise::default(),
            copy: None,
            rests: false,
            asked: false,
            role: Role::Follower,
            books: None,
            variant: charter.variant,
            rules: charter.repairs,
        }
    }

    /// In the neighbourhood that it is in.
    fn mint(&mut self, _k: u32, _generation: u32, out: &mut Out<Self>) {
        self.found(out);
    }

    fn durable(&self) -> Durable {
        self.to_store()
    }

    fn restore(me: NodeId, charter: &Charter<Variant>, durable: Durable, out: &mut Out<Self>) -> Self {
        Self::restored(me, charter, durable, out)
    }

    fn lease(&self) -> Option<Timer> {
        match self.usage {
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
        match message {
            Message::Beat { copy, wanted, rests } => self.on_beat(from, copy, wanted, rests, out),
            Message::Claim { stay, number, round, want, leaving } => {
                let is_current = self.is_latest_beat(number, round);
                self.on_claim(Member { id: from, stay }, is_current, want, leaving, out);
            }
            Message::Grant { number, round, permit, seal, renews } => {
                if self.is_latest_beat(Some(number), round) || !self.keeps(guard::LATE_GRANTS) {
                    self.on_grant(permit, seal, renews, out);
                }
            }
            Message::Stand { number, holders, relieves } => self.on_stand(from, number, &holders, relieves, out),
            Message::Vote { stay, number, copy } => self.on_vote(Member { id: from, stay }, number, copy, out),
            Message::Ahead { number } => self.on_ahead(number, out),
            Message::Token { number, allocated } => self.on_token(number, allocated, out),
            Message::Dismiss { stay, number, round } => self.on_dismiss(stay, (number, round), out),
        }
    }

    fn undelivered(&mut self, _to: NodeId, _message: Message, _out: &mut Out<Self>) {}

    fn timer(&mut self, timer: Timer, out: &mut Out<Self>) {
        match timer {
            Timer::Beat => self.on_beat_over(out),
            Timer::Silence => self.on_silence(out),
            Timer::Lease(which) => self.on_lease_over(which, out),
            Timer::Farewell => self.depart(out),
            Timer::Quiet => self.on_quiet_over(out),
        }
    }

    fn below(&mut self, view: Crossing, out: &mut Out<Self>) {
        match view {
            Crossing::Entered { stay, members, founds } => self.on_entered(stay, &members, founds, out),
            Crossing::Leaving => self.on_leaving(out),
            Crossing::Met { peer, .. } => self.on_met(peer, out),
            Crossing::Parted { peer } => self.on_parted(peer, out),
        }
    }

    fn units_max(&self) -> Units {
        Units::ONE
    }

    /// Nobody holds permits: a leader has them in its books, and so may another that does not know yet that it leads no more.
    /// What is in use is for the oracles to judge, who know what time it is.
    fn held(&self) -> Permits {
        Permits::NONE
    }

    fn has_token(&self) -> bool {
        self.leads()
    }

    fn section(&self) -> Section {
        match self.usage {
            Usage::Idle => Section::Remainder,
            Usage::Waiting { .. } => Section::Waiting,
            Usage::Using { .. } => Section::Critical,
        }
    }

    fn status(&self) -> Status {
        let queue = self.books.iter().flat_map(Books::waiters).map(|member| member.id).collect();
        let leader = self.copy.as_ref().map(|copy| copy.leader).filter(|leader| *leader != self.id);
        Status {
            section: self.section(),
            permits: if let Usage::Using { permit, .. } = self.usage { Permits::single(permit) } else { Permits::NONE },
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

    /// All of them: they are in somebody's books.
    fn returning(moment: &Moment<'_, Self>) -> Permits {
        moment.nodes.first().map_or(Permits::NONE, |node| Permits::first(node.k))
    }

    fn is_ready_for_crash(moment: &Moment<'_, Self>) -> bool {
        lemmas::can_lose_a_node(moment)
    }

    fn invariant(moment: &Moment<'_, Self>) -> Result<(), String> {
        lemmas::hold(moment)
    }
}

/// What a node is.
impl KlmeFt {
    /// What it goes by.
    fn charter(&self) -> Charter<Variant> {
        Charter::new(self.k, self.variant, self.rules)
    }

    /// Whether this rule is in force.
    fn keeps(&self, rule: Repair) -> bool {
        self.rules.has(rule)
    }

    /// This stay of this node. Nothing reaches a node that is nowhere, so there is one whenever it matters.
    fn me(&self) -> Member {
        Member { id: self.id, stay: self.stay.unwrap_or_default() }
    }

    fn is_quiet(&self) -> bool {
        self.earlier == Earlier::MayBeInside
    }

    fn leads(&self) -> bool {
        matches!(self.role, Role::Leader(_))
    }

    /// It neither leads nor wants to.
    fn resign(&mut self, out: &mut Out<Self>) {
        if self.leads() {
            out.disarm(Timer::Beat);
        }
        (self.role, self.books) = (Role::Follower, None);
    }

    /// Whether it keeps a copy, as far as it knows.
    fn is_holder(&self) -> bool {
        self.copy.as_ref().is_some_and(|copy| copy.holders.contains(&self.me()))
    }

    /// Whether this was the latest beat that it heard or sent.
    fn is_latest_beat(&self, number: Option<LeaderNo>, round: Round) -> bool {
        number.zip(self.copy.as_ref()).is_some_and(|(number, copy)| copy.beat() == (number, round))
    }
}

/// Coming and going: *I* and *J* of the paper.
impl KlmeFt {
    fn on_entered(&mut self, stay: Stay, members: &[(NodeId, Stay)], founds: Option<u32>, out: &mut Out<Self>) {
        out.clause("J");
        self.stay = Some(stay);
        self.others = members.iter().map(|(id, _)| *id).collect();
        if let Some(generation) = founds {
            self.mint(self.k, generation, out);
        } else if matches!(self.usage, Usage::Waiting { .. }) {
            self.knock(out);
        }
    }

    /// The first to come makes the token.
    fn found(&mut self, out: &mut Out<Self>) {
        let me = self.me();
        let number = LeaderNo { counter: 1, stay: me.stay };
        self.copy = Some(Copy {
            number,
            version: Version::default(),
            round: Round::default(),
            leader: me.id,
            founded: me.stay,
            holders: alloc::vec![me],
            queue: Vec::new(),
        });
        self.lead(number, &[], out);
    }

    fn on_met(&mut self, peer: NodeId, out: &mut Out<Self>) {
        if let Err(at) = self.others.binary_search(&peer) {
            self.others.insert(at, peer);
        }
        // A newcomer learns from a beat who leads, and may be needed to keep a copy.
        if self.leads() && self.rests {
            self.begin_round(false, out);
        }
    }

    fn on_parted(&mut self, peer: NodeId, out: &mut Out<Self>) {
        self.others.retain(|other| *other != peer);
        let patience = self.variant.care.patience;
        if let Some(books) = &mut self.books {
            books.dequeue(peer);
        }
        if let Role::Leader(term) = &mut self.role {
            if self.rules.has(guard::FORGET_VOLUNTEER) {
                term.volunteer = term.volunteer.filter(|volunteer| volunteer.id != peer);
            }
            for holder in term.holders.iter_mut().filter(|holder| holder.member.id == peer) {
                holder.missed = patience;
            }
            if self.leaving && self.others.is_empty() {
                self.depart(out);
            }
        }
    }

    fn on_leaving(&mut self, out: &mut Out<Self>) {
        out.clause("I");
        self.leaving = true;
        if !self.is_quiet() {
            self.take_leave(out);
        }
    }

    /// It gives its unit up, and waits until nobody counts on its copy.
    fn take_leave(&mut self, out: &mut Out<Self>) {
        self.lose_unit(out);
        if let Usage::Waiting { claimed, .. } = &mut self.usage {
            // What is granted from now on comes too late.
            *claimed = false;
            out.disarm(Timer::Lease(false));
        }
        let me = self.me();
        if let Some(books) = &mut self.books {
            books.dequeue(me.id);
        }
        if let Role::Leader(term) = &mut self.role
            && let Some(holder) = term.holder(me)
        {
            holder.leaving = true;
        }
        if (self.leads() && self.others.is_empty()) || (!self.leads() && !self.is_holder() && !self.asked) {
            self.depart(out);
            return;
        }
        self.serve(out);
        out.arm(Timer::Farewell, self.variant.farewell);
        match self.role {
            Role::Leader(_) if self.rests => self.begin_round(false, out),
            Role::Leader(_) => {}
            _ if self.rests => self.knock(out),
            _ => self.claim(out),
        }
    }

    /// As of this beat nobody counts on its copy. If an offer of its own was late, it has been made a copy holder since.
    fn on_dismiss(&mut self, stay: Stay, beat: (LeaderNo, Round), out: &mut Out<Self>) {
        if self.is_quiet() {
            return;
        }
        let is_older = || self.is_holder() && self.copy.as_ref().is_some_and(|copy| copy.beat() > beat);
        let is_late = self.stay != Some(stay) || is_older();
        if self.leaving && !(is_late && self.keeps(guard::LATE_DISMISSALS)) {
            self.depart(out);
        }
    }

    /// It goes, and forgets everything but what its application wants.
    fn depart(&mut self, out: &mut Out<Self>) {
        for timer in [Timer::Beat, Timer::Silence, Timer::Lease(false), Timer::Lease(true), Timer::Farewell] {
            out.disarm(timer);
        }
        out.depart();
        let usage = match self.usage {
            Usage::Waiting { demand, .. } => Usage::Waiting { demand, claimed: false },
            usage => usage,
        };
        *self = Self { usage, ..Self::blank(self.id, &self.charter()) };
    }
}

//! What changes below the nodes of a fault-and-heal run, and how it is made whole again.

use driftlock_net::Span;
use driftlock_protocol::ideal::{Fate, Ideal};
use driftlock_protocol::{Harm, NodeId, Protocol};
use rand::RngExt;

use super::{FAREWELL_UNITS, SERVICE_UNITS_MAX, Soak};
use crate::random::Stream;
use crate::topology::{random_absent, random_removable};
use crate::world::{Disorder, Step};

/// The share of crashed nodes that have lost no more than their disk: the application goes on.
const OUTLIVES: f64 = 0.5;

impl<P: Protocol> Soak<'_, P> {
    /// Something changes, whatever it may be. Nothing keeps the graph connected, or a neighbourhood inhabited.
    pub(super) fn change(&mut self) -> Step<()> {
        self.injected.changes += 1;
        if self.world.ideal().links().is_some() {
            // On the field they change by themselves.
            if self.case.field.is_none() {
                self.change_link()?;
            }
        } else if self.case.seclusion && self.mobility.random_bool(0.5) {
            self.seclude();
        } else {
            self.cross_border()?;
        }
        self.welcome();
        self.schedule_change();
        Ok(())
    }

    /// The graph is made connected; all nodes come into the neighbourhood, those that have crashed as well.
    pub(super) fn make_whole(&mut self) -> Step<()> {
        self.place_all();
        if self.case.field.is_none() {
            self.revive()?;
        }
        if let Some(disorder) = self.case.disorder {
            // Messages may still overtake one another, but none is late for long any more.
            self.world.disorder(Disorder { late: 0.0, ..disorder });
        }
        if self.world.ideal().links().is_some() {
            return if self.case.field.is_some() { Ok(()) } else { self.connect() };
        }
        self.gather()?;
        self.world.tell_the_truth()
    }

    /// A link fails, or one forms, as often as not.
    fn change_link(&mut self) -> Step<()> {
        let fate = self.case.fate;
        if self.mobility.random_bool(0.5) {
            let may_go = |a, b| fate != Fate::Drained || self.world.are_drained(a, b);
            if let Some((a, b)) = random_removable(self.world.links(), may_go, &mut self.mobility) {
                self.world.fail_link(a, b, fate)?;
            }
        } else {
            let nodes = self.case.deployment.nodes;
            if let Some((a, b)) = random_absent(self.world.links(), nodes, None, &mut self.mobility) {
                self.world.form_link(a, b)?;
            }
        }
        Ok(())
    }

    fn connect(&mut self) -> Step<()> {
        while !self.world.links().connected_without(None) {
            let nodes = self.case.deployment.nodes;
            let Some((a, b)) = random_absent(self.world.links(), nodes, None, &mut self.mobility) else { break };
            self.world.form_link(a, b)?;
            self.welcome();
        }
        Ok(())
    }

    /// Some nodes are out of reach from now on, up to half of them or so; the others are back.
    fn seclude(&mut self) {
        let share = self.mobility.random_range(0.0..0.5);
        self.secluded = self.case.deployment.ids().filter(|_| self.mobility.random_bool(share)).collect();
        self.injected.seclusions += u64::from(!self.secluded.is_empty());
    }

    /// A member is told to leave, or a node enters, as often as not; now and then a member crashes, if the algorithm
    /// claims to survive that.
    fn cross_border(&mut self) -> Step<()> {
        let (members, outside) = self.whereabouts();
        if self.case.crashes && P::is_ready_for_crash(&self.world.moment()) && self.mobility.random_bool(0.2) {
            if let Some(node) = pick(&members, &mut self.mobility) {
                self.crash(node)?;
            }
        } else if self.mobility.random_bool(0.5) {
            let staying: Vec<_> = members.into_iter().filter(|&node| !self.world.is_leaving(node)).collect();
            if let Some(node) = pick(&staying, &mut self.mobility).filter(|_| self.may_leave()) {
                self.world.leave(node)?;
            }
        } else if let Some(node) = pick(&outside, &mut self.mobility).filter(|_| self.may_enter()) {
            self.enter(node)?;
        }
        Ok(())
    }

    fn crash(&mut self, node: NodeId) -> Step<()> {
        self.injected.crashes += 1;
        self.injected.further_crashes += u64::from(self.is_anyone_down());
        let are_killed = self.case.kill_rate > 0.0 || self.case.field.is_some();
        if are_killed && P::CLAIMS.stand(Harm::DiskLoss) && self.lives.random_bool(OUTLIVES) {
            self.world.lose_disk(node)
        } else {
            self.world.crash(node)
        }
    }

    /// A node comes in; perhaps it had crashed, and knows nothing.
    pub(super) fn enter(&mut self, node: NodeId) -> Step<()> {
        if self.is_down(node) {
            self.injected.returns += 1;
            self.schedule_request(node);
        }
        self.world.enter(node)
    }

    /// Whether any has crashed so far, or was killed.
    fn is_anyone_harmed(&self) -> bool {
        self.injected.crashes > 0 || self.case.kill_rate > 0.0
    }

    pub(super) fn is_anyone_down(&self) -> bool {
        self.case.deployment.ids().any(|node| self.is_down(node))
    }

    /// One fault at a time is what can be survived. A leaver that is not heard in time goes without a farewell in the
    /// end, and counts as crashed: on the field, where it may be unheard for long, and where others are down already.
    /// If it may be unheard for long, it leaves only so shortly before all is healed that it will be heard.
    fn may_leave(&self) -> bool {
        let is_soon_healed = self.world.now() + Span::from_units(FAREWELL_UNITS) >= self.case.heals_at;
        if self.case.is_patchy() && !is_soon_healed {
            return false;
        }
        let is_fault = P::CLAIMS.stand(Harm::Crash)
            && (self.case.field.is_some() || self.case.is_patchy() || self.is_anyone_harmed());
        let nobody_leaves = || !self.case.deployment.ids().any(|node| self.world.is_leaving(node));
        !is_fault || (nobody_leaves() && P::is_ready_for_crash(&self.world.moment()))
    }

    /// One who claims to stand no crash counts on hearing at once who enters (`ideal::Needs::attentive`), and a member
    /// that pauses would not: one that is about to leave would take itself for the last of all.
    fn may_enter(&self) -> bool {
        let is_inattentive = |node| {
            let is_inside = self.world.neighbourhood().life_of(node).is_some();
            is_inside && self.world.is_paused(node)
        };
        P::CLAIMS.stand(Harm::Crash) || !self.case.deployment.ids().any(is_inattentive)
    }

    /// Who is inside and lives, and who could come in: those that are outside, and, by decree, those that have crashed.
    /// A node that pauses is neither.
    fn whereabouts(&self) -> (Vec<NodeId>, Vec<NodeId>) {
        let neighbourhood = self.world.neighbourhood();
        let returns = self.case.field.is_none();
        let is_out = |node: NodeId| self.world.is_paused(node) || (neighbourhood.is_crashed(node) && !returns);
        let others = self.case.deployment.ids().filter(|&node| !is_out(node));
        others.partition(|&node| neighbourhood.life_of(node).is_some())
    }

    /// Nodes that are about to leave do so; then all come in.
    fn gather(&mut self) -> Step<()> {
        let limit = self.world.now() + Span::from_units(SERVICE_UNITS_MAX);
        while self.case.deployment.ids().any(|node| self.world.is_leaving(node)) {
            let Some(event) = self.next_event().filter(|_| self.world.now() <= limit) else {
                let nodes = self.case.deployment.ids().filter(|&node| self.world.is_leaving(node)).collect();
                return Err(driftlock_spec::Violation::Starved { nodes }.into());
            };
            self.handle(event, false)?;
        }
        for node in self.case.deployment.ids() {
            if self.world.neighbourhood().life_of(node).is_none() {
                self.world.enter(node)?;
                self.welcome();
            }
        }
        Ok(())
    }
}

pub(super) fn pick(nodes: &[NodeId], draw: &mut Stream) -> Option<NodeId> {
    (!nodes.is_empty()).then(|| nodes[draw.random_range(0..nodes.len())])
}

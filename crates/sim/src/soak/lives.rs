//! Nodes that are killed while things change, and come back.

use driftlock_net::Span;
use driftlock_protocol::ideal::{Ideal, IdealOf, Start};
use driftlock_protocol::{Harm, NodeId, Protocol};
use rand::RngExt;

use super::changes::pick;
use super::{Case, Injected, Soak, log_uniform};
use crate::queue::Event;
use crate::random::{Subject, exponential, stream};
use crate::world::{Step, Toll};

/// Streams of their own, so that runs in which no node is killed are as if there were none: whether any is, ...
const WHETHER: u32 = 0;
/// ... who and when, ...
pub(super) const WHO_AND_WHEN: u32 = 1;
/// ... and what follows from it.
pub(super) const IN_WORLD: u32 = 2;

/// The share of nodes that are killed as soon as they are back, or before anything else happens to them.
const AGAIN: f64 = 0.25;
/// The share of killed nodes that are chosen because much is at stake there.
const AT_STAKE: f64 = 0.5;

impl Case {
    /// The same run, perhaps with nodes that are killed, if the algorithm claims to stand that, and with wrong hints.
    pub(super) fn with_lives<P: Protocol>(self) -> Self {
        let mut draw = stream(self.seed, WHETHER, Subject::Life);
        let claims = P::CLAIMS;
        let is_drawn = self.field.is_none() && (claims.stand(Harm::Restart) || claims.stand(Harm::DiskLoss));
        let kill_rate = if is_drawn && draw.random_bool(0.5) { log_uniform(0.01, 0.3, &mut draw) } else { 0.0 };
        let stands_on_members = IdealOf::<P>::STARTS_FROM == Start::Members;
        let is_misled = claims.stand(Harm::Crash) && stands_on_members && draw.random_bool(0.5);
        let wrong_hints = if is_misled { draw.random_range(0.0..0.5) } else { 0.0 };
        Self { kill_rate, wrong_hints, ..self }
    }

    /// The same run in which no node is killed.
    #[must_use]
    pub fn without_kills(self) -> Self {
        Self { kill_rate: 0.0, ..self }
    }

    /// The same run in which nodes are killed often.
    #[must_use]
    pub fn with_kills(self) -> Self {
        Self { kill_rate: 0.2, ..self }
    }

    /// The same run in which all hints about who comes and goes are right.
    #[must_use]
    pub fn well_informed(self) -> Self {
        Self { wrong_hints: 0.0, ..self }
    }
}

impl<P: Protocol> Soak<'_, P> {
    pub(super) fn schedule_kill(&mut self) {
        if self.case.kill_rate > 0.0 {
            let pause = Span::from_units(exponential(1.0 / self.case.kill_rate, &mut self.lives));
            self.world.schedule(pause, Event::Kill);
        }
    }

    /// Some node is killed; now and then the same one once more before much has happened.
    pub(super) fn kill(&mut self) -> Step<()> {
        let up: Vec<_> = self.case.deployment.ids().filter(|&node| self.is_up(node)).collect();
        let precious: Vec<_> = up.iter().copied().filter(|&node| self.world.is_precious(node)).collect();
        let among = if self.lives.random_bool(AT_STAKE) && !precious.is_empty() { &precious } else { &up };
        if let Some(node) = pick(among, &mut self.lives) {
            self.kill_node(node)?;
            while self.world.ideal().links().is_some() && self.lives.random_bool(AGAIN) {
                self.kill_node(node)?;
            }
        }
        self.schedule_kill();
        Ok(())
    }

    /// It is back with what it had stored, or without, if as many as that can be survived.
    fn kill_node(&mut self, node: NodeId) -> Step<()> {
        if self.world.ideal().links().is_some() {
            return self.world.restart(node);
        }
        if self.may_lose_disk() {
            self.world.lose_disk(node)?;
        } else if P::CLAIMS.stand(Harm::Restart) {
            self.world.kill(node)?;
        } else {
            return Ok(());
        }
        let down = Span::from_units(log_uniform(0.1, 100.0, &mut self.lives));
        self.world.schedule(down, Event::Back { node });
        Ok(())
    }

    /// A node without its disk counts as crashed, one with it counts as down while it is.
    fn may_lose_disk(&mut self) -> bool {
        let all_up = !self.case.deployment.ids().any(|node| self.world.is_down(node));
        P::CLAIMS.stand(Harm::DiskLoss)
            && (!P::CLAIMS.stand(Harm::Restart) || self.lives.random_bool(0.3))
            && all_up
            && P::is_ready_for_crash(&self.world.moment())
    }

    /// Whether there is a node to kill.
    fn is_up(&self, node: NodeId) -> bool {
        let inside = self.world.ideal().neighbourhood();
        inside.is_none_or(|inside| inside.life_of(node).is_some()) && !self.world.is_down(node)
    }

    /// Those that are down are back.
    pub(super) fn revive(&mut self) -> Step<()> {
        self.case.deployment.ids().try_for_each(|node| self.world.back(node))?;
        self.welcome();
        Ok(())
    }

    /// What went wrong on purpose so far.
    pub(super) fn injected(&self) -> Injected {
        let Toll { restarts, disk_losses, outlived, resumed } = self.world.toll();
        let (overtakings, wrong_hints) = (self.world.overtakings(), self.world.wrong_hints());
        Injected { overtakings, restarts, disk_losses, outlived, resumed, wrong_hints, ..self.injected }
    }
}

//! One replication over neighbourhoods side by side: the same workload as in [`crate::run`], while nodes come and go.
//!
//! Each neighbourhood is a [`World`] of its own. Their events are merged by time, and of those at the same time the
//! lower neighbourhood goes first. A node's instance of the algorithm is in one of the worlds at a time, or in none; it
//! moves with the node.
//!
//! A border is crossed in two steps, as no algorithm can let go at once of what it has promised. When the node is
//! across, the algorithm is told that it is leaving: what was in use is taken away, and the application waits again.
//! When it has said farewell it departs, and enters where the node is by then, hungry if its application waits. What
//! was left of its time in the CS is served there.

use std::io;

use driftlock_field::sites::Site;
use driftlock_net::queue::Schedule;
use driftlock_net::{Span, Time};
use driftlock_protocol::{Demand, Deployment, NodeId, Protocol, Repairs};
use driftlock_spec::Violation;
use driftlock_trace::Writer;
use rand::RngExt;

use crate::applications::Applications;
use crate::areas::plane;
use crate::config::Config;
use crate::meter::{Tally, Waiter};
use crate::random::{Stays, Subject, stream, stream_of_site};
use crate::roaming::Roaming;
use crate::run::{EVENTS_WITHOUT_ENTRY_MAX, OpenWaits, Replication, give_up, patience};
use crate::world::{Setting, Step, Toll, Traveller, World};

/// How the nodes of a replication move about.
pub(crate) fn roaming(config: &Config, replication: u32) -> Roaming {
    let mut draws = stream(config.seed, replication, Subject::Mobility);
    let &Config { nodes, neighbourhoods, speed, areas, spacing, margin, churn, absence, .. } = config;
    if speed > 0.0 {
        let (sites, corner) = plane(neighbourhoods, areas, spacing, margin).expect("a plan has sites that make sense");
        return Roaming::walk(nodes, sites, corner, speed, draws.random()).expect("a plan has walks that make sense");
    }
    Roaming::churn(nodes, neighbourhoods, churn, absence, draws)
}

/// Where each neighbourhood starts.
pub(crate) fn deployments(config: &Config, replication: u32) -> Vec<Deployment> {
    let roaming = roaming(config, replication);
    (0..config.neighbourhoods).map(|site| deployment(config, replication, &roaming, Site(site))).collect()
}

fn deployment(config: &Config, replication: u32, roaming: &Roaming, site: Site) -> Deployment {
    let members: Vec<_> = (0..config.nodes).map(NodeId).filter(|&node| roaming.site(node) == Some(site)).collect();
    let stays = Stays::of_site(config.seed, replication, site.0).draw_all(members.len());
    Deployment { nodes: config.nodes, k: config.k, members, stays, ..Deployment::default() }
}

fn next_in<P: Protocol>(world: &World<P>) -> Time {
    world.next_time().unwrap_or(Time::END)
}

/// Runs one replication. All neighbourhoods write one record.
pub(crate) fn replicate<P: Protocol>(
    config: &Config,
    repairs: Repairs,
    replication: u32,
    variant: P::Variant,
    recorder: Option<Writer>,
) -> io::Result<Replication> {
    let roaming = roaming(config, replication);
    let world = |site: Site| {
        World::new(Setting::<P> {
            deployment: &deployment(config, replication, &roaming, site),
            variant,
            repairs,
            constants: &config.constants,
            delay: config.delay,
            delays: stream_of_site(config.seed, replication, Subject::Delay, site.0),
            stays: Stays::of_site(config.seed, replication, site.0),
            lives: stream_of_site(config.seed, replication, Subject::Life, site.0),
            checked: config.check,
            recorder: recorder.as_ref().map(|recorder| recorder.of_neighbourhood(site.0)),
            field: None,
        })
    };
    let worlds = (0..config.neighbourhoods).map(Site).map(world).collect();
    // The worlds end it.
    drop(recorder);
    let mut run = SideBySide::new(config, replication, worlds, roaming);
    let violation = run.until_counted().err().map(|violation| *violation);
    let (tally, waiting_at_end) = run.finish(violation.as_ref())?;
    Ok(Replication {
        tally,
        kinds: P::KINDS,
        waiting_at_end,
        effort: None,
        toll: Toll::default(),
        bonds: None,
        graph: None,
        over: None,
        violation,
    })
}

/// What the applications and the bodies of nodes do, wherever they are.
#[derive(Clone, Copy, Debug)]
enum Errand {
    /// The application asks.
    Request(NodeId),
    /// It leaves the CS, unless that was cut short.
    Release { node: NodeId, site: Site, entry: u32 },
    /// The node has moved.
    Move(NodeId),
}

/// Where a node's instance of the algorithm is.
enum Place<P: Protocol> {
    /// In this neighbourhood, perhaps about to leave it.
    In(Site),
    /// In none. Its application may have asked since it left.
    Between { traveller: Box<Traveller<P>>, asked: Option<(Demand, Time)> },
}

/// What becomes of an application's time in the CS.
#[derive(Clone, Copy, Default)]
struct Service {
    /// When it ends, while it lasts.
    until: Time,
    /// What was left of it when it was cut short.
    left: Option<Span>,
}

/// Worlds, and those who wander between them.
struct SideBySide<'a, P: Protocol> {
    config: &'a Config,
    worlds: Vec<World<P>>,
    /// When something happens next in each of them: `settle` keeps it, so that a step looks at one place and not at all
    /// worlds.
    due: Vec<Time>,
    now: Time,
    errands: Schedule<Errand>,
    places: Vec<Place<P>>,
    services: Vec<Service>,
    roaming: Roaming,
    applications: Applications,
    entries: u64,
    events: u64,
    last_entry: Time,
}

impl<'a, P: Protocol> SideBySide<'a, P> {
    /// Each node is where `roaming` has it, in one of the `worlds` or in none.
    fn new(config: &'a Config, replication: u32, mut worlds: Vec<World<P>>, roaming: Roaming) -> Self {
        let place = |node| match roaming.site(node) {
            Some(site) => Place::In(site),
            None => Place::Between { traveller: Box::new(worlds[0].take(node)), asked: None },
        };
        Self {
            places: (0..config.nodes).map(NodeId).map(place).collect(),
            config,
            due: worlds.iter().map(next_in).collect(),
            worlds,
            now: Time::ZERO,
            errands: Schedule::default(),
            services: vec![Service::default(); config.nodes as usize],
            roaming,
            applications: Applications::of(config, replication),
            entries: 0,
            events: 0,
            last_entry: Time::ZERO,
        }
    }

    /// Warms up and counts.
    fn until_counted(&mut self) -> Step<()> {
        for node in (0..self.config.nodes).map(NodeId) {
            self.schedule_request(node);
            self.schedule_move(node);
        }
        let warmed_up = self.until(self.config.warmup, Time::from_units(self.config.warmup_time));
        let share = self.config.entries / self.worlds.len() as u64 + 1;
        for world in &mut self.worlds {
            world.advance_to(self.now);
            #[allow(clippy::cast_possible_truncation)] // bounded on the same line
            world.meter().restart(share.min(1 << 24) as usize);
        }
        self.events = 0;
        warmed_up?;
        self.until(self.config.entries, Time::ZERO)
    }

    /// What was counted in all neighbourhoods, and who still waits. Ends the record of the run.
    fn finish(mut self, violation: Option<&Violation>) -> io::Result<(Tally, OpenWaits)> {
        let open = self.open_waits();
        let mut sum: Option<Tally> = None;
        for world in self.worlds {
            let tally = world.finish(violation)?.finish();
            match &mut sum {
                Some(sum) => sum.add(tally),
                None => sum = Some(tally),
            }
        }
        let sum = sum.unwrap_or_default();
        Ok((Tally { events: sum.events + self.events, ..sum }, open))
    }

    /// Goes on until there were so many more entries, and at least until then.
    fn until(&mut self, entries: u64, time: Time) -> Step<()> {
        let wanted = self.entries + entries;
        let patience = patience(self.config);
        let (mut counted, mut quiet) = (self.entries, 0);
        while self.entries < wanted || self.now < time {
            if !self.step()? {
                return Err(Violation::Starved { nodes: self.owed() }.into());
            }
            quiet = if self.entries > counted { 0 } else { quiet + 1 };
            counted = self.entries;
            if self.now - self.last_entry > patience || quiet > EVENTS_WITHOUT_ENTRY_MAX {
                give_up(self.now, self.last_entry, self.owed())?;
            }
        }
        Ok(())
    }

    /// The next event of all; whether there was one. What is due in a world goes before what applications do, as timers
    /// must.
    fn step(&mut self) -> Step<bool> {
        let in_worlds = self.due.iter().copied().zip((0..).map(Site));
        let first = in_worlds.filter(|(at, _)| *at < Time::END).min();
        let errand = self.errands.next_time();
        match (first, errand) {
            (Some((at, site)), errand) if errand.is_none_or(|errand| at <= errand) => {
                self.now = at;
                let world = &mut self.worlds[site.index()];
                if let Some(event) = world.next_event() {
                    world.deliver(event)?;
                }
                self.settle(site)?;
            }
            (_, Some(at)) => {
                self.now = at;
                self.events += 1;
                if let Some((_, errand)) = self.errands.pop() {
                    self.run(errand)?;
                }
            }
            (_, None) => return Ok(false),
        }
        Ok(true)
    }

    fn run(&mut self, errand: Errand) -> Step<()> {
        match errand {
            Errand::Request(node) => self.request(node),
            Errand::Release { node, site, entry } => {
                let world = &mut self.worlds[site.index()];
                world.advance_to(self.now);
                if world.release(node, entry)? {
                    self.schedule_request(node);
                }
                self.settle(site)
            }
            Errand::Move(node) => {
                self.roaming.advance(node);
                self.schedule_move(node);
                self.follow(node)
            }
        }
    }

    fn request(&mut self, node: NodeId) -> Step<()> {
        let demand = self.applications.demand(node, self.now);
        match &mut self.places[node.index()] {
            Place::In(site) => {
                let site = *site;
                let world = &mut self.worlds[site.index()];
                world.advance_to(self.now);
                world.request(node, demand)?;
                self.settle(site)
            }
            Place::Between { asked, .. } => {
                *asked = Some((demand, self.now));
                Ok(())
            }
        }
    }

    /// The algorithm at a node that has moved is told so, if it has crossed a border.
    fn follow(&mut self, node: NodeId) -> Step<()> {
        let wanted = self.roaming.site(node);
        match self.places[node.index()] {
            Place::In(site) if wanted != Some(site) => {
                let world = &mut self.worlds[site.index()];
                if world.is_leaving(node) {
                    return Ok(());
                }
                world.advance_to(self.now);
                world.leave(node)?;
                self.settle(site)
            }
            Place::Between { .. } => wanted.map_or(Ok(()), |site| self.enter(node, site)),
            Place::In(_) => Ok(()),
        }
    }

    fn enter(&mut self, node: NodeId, site: Site) -> Step<()> {
        let left = std::mem::replace(&mut self.places[node.index()], Place::In(site));
        let Place::Between { traveller, asked } = left else { unreachable!("it has departed") };
        let world = &mut self.worlds[site.index()];
        world.advance_to(self.now);
        world.put(node, *traveller);
        if let Some((demand, since)) = asked {
            world.request_since(node, demand, Waiter { since, resumes: false })?;
        }
        world.enter(node)?;
        self.settle(site)
    }

    /// What a step in a neighbourhood means for applications and bodies.
    fn settle(&mut self, site: Site) -> Step<()> {
        while let Some(node) = self.worlds[site.index()].next_revoked() {
            let service = &mut self.services[node.index()];
            service.left = Some(service.until - self.now);
        }
        while let Some(node) = self.worlds[site.index()].next_granted() {
            self.entered(node, site);
        }
        while let Some(node) = self.worlds[site.index()].next_departed() {
            let traveller = Box::new(self.worlds[site.index()].take(node));
            self.places[node.index()] = Place::Between { traveller, asked: None };
            self.follow(node)?;
        }
        self.due[site.index()] = next_in(&self.worlds[site.index()]);
        Ok(())
    }

    fn entered(&mut self, node: NodeId, site: Site) {
        self.entries += 1;
        self.last_entry = self.now;
        let service = &mut self.services[node.index()];
        let lasts = service.left.take().unwrap_or_else(|| self.applications.use_time(node));
        service.until = self.now + lasts;
        let (until, entry) = (service.until, self.worlds[site.index()].entry(node));
        self.schedule(until, Errand::Release { node, site, entry });
    }

    fn schedule_request(&mut self, node: NodeId) {
        let pause = self.applications.pause(node);
        self.schedule(self.now + pause, Errand::Request(node));
    }

    fn schedule_move(&mut self, node: NodeId) {
        if let Some(at) = self.roaming.next(node, self.now) {
            self.schedule(at, Errand::Move(node));
        }
        if let Some((since, leg)) = self.roaming.leg(node).filter(|(since, _)| *since == self.now) {
            // Where a node walks is nothing that one neighbourhood knows better than another.
            self.worlds[0].record_leg(node, since, &leg);
        }
    }

    fn schedule(&mut self, at: Time, errand: Errand) {
        self.errands.schedule(at, errand);
    }

    /// The nodes that wait in some neighbourhood.
    fn owed(&self) -> Vec<NodeId> {
        let mut nodes: Vec<_> = self.worlds.iter().flat_map(|world| world.oracle().owed()).collect();
        nodes.sort_unstable();
        nodes
    }

    fn open_waits(&mut self) -> OpenWaits {
        let mut open = OpenWaits::default();
        for world in &mut self.worlds {
            world.advance_to(self.now);
            open.add_all(world);
        }
        for place in &self.places {
            let Place::Between { traveller, asked } = place else { continue };
            let since = traveller.waiter().map(|waiter| waiter.since).or(asked.map(|(_, since)| since));
            if let Some(since) = since {
                open.add(self.now - since, false);
            }
        }
        open
    }
}

#[cfg(test)]
mod tests;

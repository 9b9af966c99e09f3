//! The order of what happens at mbarrier objects, and of the work of agents: bulk copies, products of matrices and asynchronous
//! copies.

use super::{Order, WarpClock};
use crate::emulate::{
    AgentWork, BulkGroup, CopyAgent, CopyCommand, LaneMask, MbarrierEvent, MbarrierId,
    MbarrierStep, WarpId, lanes, lanes as of,
};
use crate::order::clock::{Clock, Epoch};
use crate::order::lane_copies::LaneCopies;
use crate::order::lane_groups::LaneGroups;
use crate::order::phases::{PhaseDoubt, PhaseIssue, PhasePoint, Phases};

impl Order {
    /// Returns those of some lanes that know that the phase before the current one of an object is complete.
    pub fn knows_completion(&self, object: MbarrierId, warp: WarpId, mask: LaneMask) -> LaneMask {
        let (phases, groups) = (self.phases.get(&object), &self.warps[warp].lanes);
        let knows =
            |lane: &usize| phases.is_some_and(|own| own.is_last_known((warp, *lane), groups));
        lanes(mask).filter(knows).fold(0, |known, lane| known | 1 << lane)
    }

    /// Whether all of some lanes of a warp know all that an agent has done.
    pub fn knows_work(&self, agent: WarpId, (warp, mask): (WarpId, LaneMask)) -> bool {
        let last = self.warps[agent].now.before(1);
        self.warps[warp]
            .lanes
            .known_by(mask)
            .all(|(_, known)| known.has(agent, last, LaneMask::MAX))
    }

    /// Records what lanes do at an mbarrier object. Returns what is not ordered although all schedules agree on phases
    /// only if it is.
    pub fn at_mbarrier(&mut self, event: MbarrierEvent) -> Option<PhaseIssue> {
        let MbarrierEvent { warp, lanes, pc, object, step } = event;
        let count = self.count;
        if step == MbarrierStep::Init {
            self.phases.insert(object, Phases::new(count));
            return None;
        }
        match step {
            MbarrierStep::Complete => self.release_agents(object),
            MbarrierStep::Follow { by: None, .. } => self.follow(object, (warp, lanes)),
            MbarrierStep::Follow { by: Some(agent), .. } => {
                self.release(object, agent);
                self.release_followed(object, agent);
            }
            _ => {}
        }
        let is_near = self.cta_of(warp) == object.cta.index();
        let WarpClock { now, lanes: groups, .. } = &mut self.warps[warp];
        let phases = self.phases.get_mut(&object)?;
        let is_later = matches!(step, MbarrierStep::Follow { .. });
        let point = PhasePoint { warp, lanes, then: *now, pc, is_later };
        let found = match step {
            MbarrierStep::Init => None,
            MbarrierStep::Full { has_excess } => phases.late_bytes(has_excess),
            MbarrierStep::Complete => phases.complete(count),
            MbarrierStep::Begin { sees_current } => {
                let found = phases.begin_wait(&point, sees_current, groups);
                found.map(|found| (PhaseDoubt::EarlyWait, found))
            }
            MbarrierStep::Wait { acquires, of_cta } => {
                let released = phases.wait(point, of_cta);
                if acquires {
                    groups.learn(lanes, released);
                } else {
                    groups.learn_causes(lanes, released);
                }
                *now = now.next();
                None
            }
            MbarrierStep::Arrive { .. } | MbarrierStep::Follow { .. } => {
                arrive_in_phase(&mut self.warps[warp], phases, (point, is_near), step)
            }
            MbarrierStep::Expect | MbarrierStep::Copied => {
                let found = phases.count(point, groups);
                if step == MbarrierStep::Expect {
                    phases.expect(point);
                } else {
                    phases.copy(point, groups);
                    let mut causes = Clock::new(0);
                    groups.release(warp, lanes, now.next(), &mut causes);
                    phases.cause(&causes);
                }
                *now = now.next();
                found.map(|found| (PhaseDoubt::Arrival, found))
            }
        };
        let (doubt, [here, before]) = found?;
        Some(PhaseIssue { object, doubt, here: here.side(), before: before.side() })
    }

    /// Makes those that see the current phase of an object complete know what its agents did.
    fn release_agents(&mut self, object: MbarrierId) {
        let all =
            [self.agents.get(&object), self.counting.get(&object)].map(Option::<&WarpId>::copied);
        all.into_iter().flatten().for_each(|agent| self.release(object, agent));
    }

    /// Makes those that see the current phase of an object complete know what an agent did.
    fn release(&mut self, object: MbarrierId, agent: WarpId) {
        let Some(phases) = self.phases.get_mut(&object) else { return };
        phases.release_copies((agent, LaneMask::MAX, self.warps[agent].tick()));
    }

    /// Makes those that see the current phase of an object complete know what bulk copies and tensor cores had done before an agent did
    /// its work: what a tensor core reads is there by then. What threads did is not known by that.
    fn release_followed(&mut self, object: MbarrierId, agent: WarpId) {
        let is_followed = |other: &WarpId| self.followed.contains(other);
        let known = self.warps[agent].lanes.common().map(|known| known.of_agents(is_followed));
        if let Some((known, phases)) = known.zip(self.phases.get_mut(&object)) {
            phases.release_known(&known);
        }
    }

    /// Makes those that see the current phase of an object complete know the copies that lanes have issued.
    fn follow(&mut self, object: MbarrierId, (warp, mask): (WarpId, LaneMask)) {
        let Some(LaneCopies { agent, .. }) = self.copies.get(&warp) else { return };
        let Some(phases) = self.phases.get_mut(&object) else { return };
        let epoch = self.warps[*agent].tick();
        phases.release_copies((*agent, mask, epoch));
    }

    /// Lets an agent take over work: it knows what the lane knows that issues the work, and what the lane did.
    pub fn lend(&mut self, loan: CopyAgent) {
        let CopyAgent { agent, work, warp, lanes } = loan;
        while self.warps.count() <= agent.index() {
            let groups = LaneGroups::new(LaneMask::MAX, 0);
            self.warps.push(WarpClock {
                now: Epoch::default(),
                met: Epoch::default(),
                live: 0,
                lanes: groups,
            });
        }
        match work {
            AgentWork::Counted(object) => {
                self.followed.insert(agent);
                self.agents.insert(object, agent);
            }
            AgentWork::Counting(object) => {
                self.generic.insert(agent);
                self.counting.insert(object, agent);
            }
            AgentWork::Grouped | AgentWork::InOrder => {}
            AgentWork::Inits => {
                self.generic.insert(agent);
                self.publications.entry(warp).or_default().inits = Some(agent);
                let epoch = self.warps[agent].tick();
                self.warps[agent].lanes = self.warps[warp].lanes.clone();
                for lane in of(lanes) {
                    self.warps[warp].lanes.reach_own(lane, agent, epoch.next());
                }
                return;
            }
            AgentWork::ByLane => {
                self.generic.insert(agent);
                // What each lane did itself, its lane of the agent knows: see `is_own`.
                self.copies.entry(warp).or_insert_with(|| LaneCopies::new(agent));
                self.warps[agent].lanes = self.warps[warp].lanes.clone();
                return;
            }
        }
        let mut known = Clock::new(self.count);
        let clock = &mut self.warps[warp];
        let epoch = clock.tick();
        clock.lanes.release(warp, lanes, epoch, &mut known);
        if work == AgentWork::InOrder {
            self.followed.insert(agent);
            known.reach(agent, self.warps[agent].tick());
        }
        self.warps[agent].lanes.take_over(&known);
    }

    /// Records that a lane makes a group of its bulk copies, or has waited for groups: each commit begins an epoch of their
    /// agent.
    pub fn at_bulk_group(&mut self, group: BulkGroup) {
        let BulkGroup { agent, warp, lanes, step } = group;
        match step {
            CopyCommand::Commit => {
                self.warps[agent].tick();
            }
            CopyCommand::Wait(keep) => {
                let done = self.warps[agent].now.before(keep);
                let clock = &mut self.warps[warp];
                clock.tick();
                clock.lanes.reach(lanes, agent, done);
            }
        }
    }

    /// Records that lanes make groups of their asynchronous copies, or have waited for groups.
    pub fn at_copies(&mut self, warp: WarpId, mask: LaneMask, command: CopyCommand) {
        let Some(copies) = self.copies.get_mut(&warp) else { return };
        match command {
            CopyCommand::Commit => copies.commit(mask, self.warps[copies.agent].tick()),
            CopyCommand::Wait(keep) => {
                let (agent, clock) = (copies.agent, &mut self.warps[warp]);
                clock.tick();
                for (lane, epoch) in copies.complete(mask, keep) {
                    clock.lanes.reach_own(lane, agent, epoch);
                }
            }
        }
    }
}

/// Lets lanes of a warp arrive at an mbarrier object, which is in their cta or not. Returns what is not ordered.
fn arrive_in_phase(
    clock: &mut WarpClock,
    phases: &mut Phases,
    (point, is_near): (PhasePoint, bool),
    step: MbarrierStep,
) -> Option<(PhaseDoubt, [PhasePoint; 2])> {
    let found = phases.count(point, &clock.lanes).map(|found| (PhaseDoubt::Arrival, found));
    let unseen = || Some((PhaseDoubt::Unseen, phases.unseen(&point, &clock.lanes)?));
    let found = found.or_else(unseen);
    let then = clock.tick();
    let (releases, completes, expects) = match step {
        MbarrierStep::Arrive { releases, completes, expects } => (releases, completes, expects),
        MbarrierStep::Follow { is_expected: true, .. } => (false, true, false),
        _ => {
            phases.join(point);
            return found;
        }
    };
    if !completes {
        phases.precede(PhasePoint { then, ..point });
    }
    for known in phases.arrive((releases, is_near), expects) {
        clock.lanes.release(point.warp, point.lanes, then, known);
    }
    if point.is_later || !releases || !is_near {
        let mut causes = Clock::new(0);
        clock.lanes.release(point.warp, point.lanes, then, &mut causes);
        phases.release_causes(&causes);
    }
    found
}

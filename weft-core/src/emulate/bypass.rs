//! Bypassed barriers: lanes of a warp that go around an aligned barrier which other lanes of it wait at.
//!
//! A branch tells lanes apart. Some come to an aligned barrier before they pass the branch's merge; others pass the
//! merge, and then do something that others observe: an access, a barrier, an exchange. That breaks PTX's rule for
//! `.aligned`, that all threads of the warp that have not exited execute the barrier together. Lanes that do nothing
//! observable any more count as exited.
//!
//! Only branches with an aligned barrier between them and their merge are followed, and only while lanes are on their
//! way to it. Once all lanes of a warp are together at an aligned barrier, all are forgotten.
//!
//! Lanes that execute such a branch at different times, because a warp-level instruction held some of them up, cannot be
//! matched without their histories. Where they might have gone around each other's barrier, that is said to be open.

use smallvec::SmallVec;

use super::divergence::diverged;
use super::event::{BarrierExit, Divergence, Events, Side};
use super::machine::{Machine, Step, Stop, undecided};
use super::origin::Origin;
use super::value::{LaneMask, WARP, lanes};
use super::warp::Wait;
use crate::flow::{BlockId, Instr, Pc, PlaceId};
use crate::launch::BarrierDivergence;
use crate::ptx::isa::Effect;
use crate::slice;

/// Something observable that lanes did after they had passed the merge.
#[derive(Clone, Copy, Debug)]
struct Late {
    block: BlockId,
    pc: Pc,
    lanes: LaneMask,
    /// The branch, the outermost branch and the origin of the open condition that decides whether it happens.
    maybe: Option<(PlaceId, PlaceId, Origin)>,
}

/// Lanes that execute a branch while other lanes of the warp are elsewhere.
#[derive(Clone, Copy, Debug, Default)]
struct Apart {
    ran: LaneMask,
    /// Those on their way to the merge.
    inside: LaneMask,
    /// Those that have passed it since.
    passed: LaneMask,
    /// Those of them that then did something observable.
    late: LaneMask,
}

/// What a branch did to the lanes of a warp since they were last together at an aligned barrier.
#[derive(Clone, Debug)]
struct Parting {
    branch: BlockId,
    merge: BlockId,
    /// By lane: the lanes that went another way, while none of the two has passed the merge.
    parted: [LaneMask; WARP],
    /// By lane that has not passed the merge: the lanes that went another way and have.
    ahead: [LaneMask; WARP],
    /// By lane that has not passed the merge: what lanes ahead of it did first.
    late: [Option<Late>; WARP],
    apart: Apart,
}

/// The branches that tell lanes of a warp apart, with an aligned barrier between them and their merge.
#[derive(Clone, Debug, Default)]
pub(super) struct Partings(Vec<Parting>);

/// A lane that waits at an aligned barrier, and those that went around it.
struct Bypass {
    branch: BlockId,
    waits: LaneMask,
    late: Late,
}

/// What is known of lanes that wait at an aligned barrier and lanes that go on.
enum Found {
    Bypass(Bypass),
    /// At this branch, which they executed at different times.
    Apart(BlockId),
}

impl Parting {
    fn new(branch: BlockId, merge: BlockId) -> Self {
        Self {
            branch,
            merge,
            parted: [0; WARP],
            ahead: [0; WARP],
            late: [None; WARP],
            apart: Apart::default(),
        }
    }

    fn part(&mut self, groups: &[LaneMask]) {
        let all = groups.iter().fold(0, |all, group| all | group);
        for group in groups {
            for lane in lanes(*group) {
                self.parted[lane] |= all & !group;
            }
        }
    }

    fn pass(&mut self, mask: LaneMask) {
        for lane in 0..WARP {
            if mask >> lane & 1 == 1 {
                (self.parted[lane], self.ahead[lane], self.late[lane]) = (0, 0, None);
            } else {
                self.ahead[lane] |= self.parted[lane] & mask;
                self.parted[lane] &= !mask;
            }
        }
        self.apart.passed |= self.apart.inside & mask;
        self.apart.inside &= !mask;
    }

    fn exit(&mut self, mask: LaneMask) {
        for lane in 0..WARP {
            self.parted[lane] &= !mask;
            self.ahead[lane] &= !mask;
        }
        for lane in lanes(mask) {
            (self.parted[lane], self.ahead[lane], self.late[lane]) = (0, 0, None);
        }
        self.apart.inside &= !mask;
        self.apart.passed &= !mask;
    }

    fn observe(&mut self, late: Late) {
        for (ahead, known) in self.ahead.iter().zip(&mut self.late) {
            let own = Late { lanes: ahead & late.lanes, ..late };
            let is_news = known.is_none_or(|known| known.maybe.is_some() && late.maybe.is_none());
            if own.lanes != 0 && is_news {
                *known = Some(own);
            }
        }
        self.apart.late |= self.apart.passed & late.lanes;
    }

    /// Whether some of the lanes that wait at an aligned barrier were gone around.
    fn bypass(&self, waiting: LaneMask) -> Option<Bypass> {
        let is_sure = |lane: &usize| self.late[*lane].is_some_and(|late| late.maybe.is_none());
        let first = lanes(waiting).find(is_sure);
        let first = first.or_else(|| lanes(waiting).find(|lane| self.late[*lane].is_some()))?;
        let waits = lanes(waiting).filter(|lane| self.late[*lane].is_some());
        let waits = waits.fold(0, |waits, lane| waits | 1 << lane);
        Some(Bypass { branch: self.branch, waits, late: self.late[first]? })
    }

    fn is_apart(&self, waiting: LaneMask) -> bool {
        lanes(waiting & self.apart.inside).any(|lane| self.apart.late & !(1 << lane) != 0)
    }

    fn is_over(&self) -> bool {
        let is_open =
            |lane: usize| self.parted[lane] | self.ahead[lane] != 0 || self.late[lane].is_some();
        self.apart.ran == 0 && !(0..WARP).any(is_open)
    }
}

impl Partings {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All lanes that have not ended are together at an aligned barrier. What those that have did apart remains.
    fn forget(&mut self, live: LaneMask) {
        for own in &mut self.0 {
            let Apart { ran, late, .. } = own.apart;
            *own = Parting::new(own.branch, own.merge);
            own.apart = Apart { ran: ran & !live, late: late & !live, ..Apart::default() };
        }
        self.0.retain(|own| own.apart.late != 0);
    }

    fn at(&mut self, branch: BlockId, merge: BlockId) -> &mut Parting {
        let is_it = |own: &Parting| own.branch == branch;
        let at = self.0.iter().position(is_it).unwrap_or_else(|| {
            self.0.push(Parting::new(branch, merge));
            self.0.len() - 1
        });
        &mut self.0[at]
    }

    /// Lanes leave a branch by its sides. `live`: the lanes of the warp that have not ended.
    fn part(&mut self, branch: BlockId, merge: BlockId, groups: &[LaneMask], live: LaneMask) {
        let all = groups.iter().fold(0, |all, group| all | group);
        let is_split = groups.iter().any(|group| *group != 0 && *group != all);
        let was_apart = |own: &Parting| own.branch == branch && own.apart.ran != 0;
        let is_apart = all != live || self.0.iter().any(was_apart);
        if all == 0 || !is_split && !is_apart {
            return;
        }
        let own = self.at(branch, merge);
        if is_split {
            own.part(groups);
        }
        if is_apart {
            own.apart.ran |= all;
            own.apart.inside |= all;
        }
    }

    /// Lanes come to a block.
    pub(super) fn pass(&mut self, to: BlockId, mask: LaneMask) {
        self.0.iter_mut().filter(|own| own.merge == to).for_each(|own| own.pass(mask));
        self.0.retain(|own| !own.is_over());
    }

    /// Lanes end.
    pub(super) fn exit(&mut self, mask: LaneMask) {
        self.0.iter_mut().for_each(|own| own.exit(mask));
        self.0.retain(|own| !own.is_over());
    }

    fn observe(&mut self, late: Late) {
        self.0.iter_mut().for_each(|own| own.observe(late));
    }

    /// What is known of lanes that wait at an aligned barrier; what is sure comes first.
    fn find(&self, waiting: LaneMask) -> Option<Found> {
        let all = || self.0.iter().filter_map(|own| own.bypass(waiting));
        let is_sure = |own: &Bypass| own.late.maybe.is_none();
        if let Some(found) = all().find(is_sure).or_else(|| all().next()) {
            return Some(Found::Bypass(found));
        }
        let apart = self.0.iter().find(|own| own.is_apart(waiting))?;
        Some(Found::Apart(apart.branch))
    }
}

impl<E: Events> Machine<'_, E> {
    /// Lanes leave a branch by its sides, of which the last may be its merge.
    pub(super) fn part(&mut self, warp: usize, branch: BlockId, groups: &[LaneMask]) {
        let merge = self.program.blocks[branch.index()].merge;
        let is_followed = self.inputs.options.barrier_divergence != BarrierDivergence::Off;
        let Some(merge) = merge.filter(|_| is_followed) else { return };
        let live = self.warps[warp].live;
        self.warps[warp].partings.part(branch, merge, groups, live);
    }

    /// Lanes come to an instruction: have some of the warp gone around a barrier that others wait at?
    pub(super) fn watch(
        &mut self,
        warp: usize,
        block: BlockId,
        pc: Pc,
        instr: &Instr,
        enabled: LaneMask,
    ) -> Step<()> {
        if self.warps[warp].partings.is_empty() || !slice::is_observable(self.program, pc) {
            return Ok(());
        }
        let maybe = self.maybe.as_ref().map(|own| (own.place, own.outermost, own.origin));
        self.warps[warp].partings.observe(Late { block, pc, lanes: enabled, maybe });
        let aligned = self.warps[warp].waits.iter().copied().filter(|wait| self.is_aligned(wait));
        let mut waits: SmallVec<[(BlockId, Pc, LaneMask); 2]> =
            aligned.map(|wait| (wait.block, wait.pc, wait.lanes)).collect();
        if instr.is_aligned_barrier() {
            waits.push((block, pc, enabled));
        }
        for (block, pc, waiting) in waits {
            match (self.warps[warp].partings.find(waiting), &self.maybe) {
                (None, _) => {}
                (Some(_), Some(maybe)) => return Err(maybe.undecided()),
                (Some(Found::Bypass(found)), None) => {
                    if let Some((place, outermost, origin)) = found.late.maybe {
                        return Err(undecided(place, outermost, origin));
                    }
                    let lanes = found.waits;
                    let side = |block, pc, lanes| self.side(warp, block, pc, lanes);
                    let late = side(found.late.block, found.late.pc, found.late.lanes);
                    return Err(self.bypassed(found.branch, side(block, pc, lanes), late));
                }
                (Some(Found::Apart(branch)), None) => {
                    let place = self.program.blocks[branch.index()].place;
                    self.events.possible_bypass(place);
                }
            }
        }
        Ok(())
    }

    /// All lanes of a warp that have not ended are at an aligned barrier.
    pub(super) fn gather(&mut self, warp: usize, wait: &Wait) {
        let own = &mut self.warps[warp];
        own.partings.forget(own.live);
        let ended = own.all & !own.live;
        if ended != 0 && self.inputs.options.barrier_divergence != BarrierDivergence::Off {
            self.events.barrier_exit(BarrierExit { warp, ended, pc: wait.pc });
        }
    }

    /// Lanes wait at an aligned barrier that others went around at a branch.
    fn bypassed(&self, branch: BlockId, waits: Side, late: Side) -> Stop {
        let is_barrier = self.program.code[late.pc.index()].effect() == Effect::Barrier;
        let divergence = if is_barrier && late.pc != waits.pc {
            Divergence::Lanes
        } else {
            // A barrier under a guard is its own branch.
            let is_branch = waits.block != branch;
            Divergence::Bypassed(is_branch.then(|| self.program.blocks[branch.index()].place))
        };
        diverged(divergence, vec![waits, late])
    }
}

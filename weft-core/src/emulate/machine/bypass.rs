//! Bypassed barriers: lanes of a warp go around an aligned barrier at which other lanes of the warp wait.
//!
//! Lanes part at a branch. Some of them come to an aligned barrier before they pass the branch's merge; others pass the
//! merge, and then do something that can be observed: an access, a barrier or an exchange. That breaks PTX's rule for
//! `.aligned`: all threads of the warp that have not exited execute the barrier together. Lanes that do nothing
//! observable after the merge count as exited.
//!
//! Only branches with an aligned barrier between them and their merge are followed, and only while lanes are on their
//! way to the merge. Once all lanes of a warp are together at an aligned barrier, the branches are forgotten, except for
//! what lanes did that have ended since.
//!
//! Lanes that execute such a branch at different times, because a warp-level instruction held some of them up, cannot
//! be matched without their histories. Where they might have bypassed each other's barrier, the verdict is open.

use smallvec::SmallVec;

use super::divergence::diverged;
use super::end::{DivergedThreads, Divergence};
use super::event::{BarrierExit, Events, OrderQuery};
use super::partings::{BypassEvidence, Late};
use super::state::Machine;
use super::stop::{OrStop, Stop, undecided};
use super::warp::Wait;
use crate::emulate::value::lane::LaneMask;
use crate::emulate::value::warp_id::WarpId;
use crate::flow::{BlockId, Instr, Pc};
use crate::launch::BarrierDivergence;
use crate::slice;

impl<E: Events + OrderQuery> Machine<'_, E> {
    /// Records that lanes leave a branch, one group for each side. The merge can be a side itself, the last one.
    pub(super) fn part(&mut self, warp: WarpId, branch: BlockId, groups: &[LaneMask]) {
        let merge = self.program.blocks[branch.index()].merge;
        let is_followed = self.inputs.options.barrier_divergence != BarrierDivergence::Off;
        let Some(merge) = merge.filter(|_| is_followed) else { return };
        let live = self.warps[warp].live;
        self.warps[warp].partings.part(branch, merge, groups, live);
    }

    /// Checks, for lanes that come to an instruction, whether lanes of the warp have bypassed an aligned barrier at
    /// which others wait. Fails if they have, or if that depends on an open condition.
    pub(super) fn watch(
        &mut self,
        warp: WarpId,
        block: BlockId,
        pc: Pc,
        instr: &Instr,
        enabled: LaneMask,
    ) -> OrStop<()> {
        if self.warps[warp].partings.is_empty() || !slice::is_observable(self.program, pc) {
            return Ok(());
        }
        let condition =
            self.may_execute.as_ref().map(|side| (side.place, side.outermost, side.origin));
        self.warps[warp].partings.observe(Late { block, pc, lanes: enabled, condition });
        let aligned = self.warps[warp].waits.iter().copied().filter(|wait| self.is_aligned(wait));
        let mut waits: SmallVec<[(BlockId, Pc, LaneMask); 2]> =
            aligned.map(|wait| (wait.block, wait.pc, wait.lanes)).collect();
        if instr.is_aligned_barrier() {
            waits.push((block, pc, enabled));
        }
        for (block, pc, waiting) in waits {
            match (self.warps[warp].partings.find(waiting), &self.may_execute) {
                (None, _) => {}
                (Some(_), Some(may_execute)) => return Err(may_execute.undecided()),
                (Some(BypassEvidence::Bypass(found)), None) => {
                    if let Some((place, outermost, origin)) = found.late.condition {
                        return Err(undecided(place, outermost, origin));
                    }
                    let lanes = found.waits;
                    let side = |block, pc, lanes| self.side(warp, block, pc, lanes);
                    let late = side(found.late.block, found.late.pc, found.late.lanes);
                    return Err(self.bypassed(found.branch, side(block, pc, lanes), late));
                }
                (Some(BypassEvidence::Apart(branch)), None) => {
                    let place = self.program.blocks[branch.index()].place;
                    self.events.possible_bypass(place);
                }
            }
        }
        Ok(())
    }

    /// Forgets the branches at which lanes of a warp parted: all lanes that have not ended are at an aligned barrier.
    /// If some have ended, emits that.
    pub(super) fn gather(&mut self, warp: WarpId, wait: &Wait) {
        let state = &mut self.warps[warp];
        state.partings.forget(state.live);
        let ended = state.all & !state.live;
        if ended != 0 && self.inputs.options.barrier_divergence != BarrierDivergence::Off {
            self.events.barrier_exit(BarrierExit { warp, ended, pc: wait.pc });
        }
    }

    /// Fails because lanes wait at an aligned barrier that other lanes bypassed at a branch.
    fn bypassed(&self, branch: BlockId, waits: DivergedThreads, late: DivergedThreads) -> Stop {
        let is_barrier = self.program.code[late.pc.index()].effect().is_barrier();
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

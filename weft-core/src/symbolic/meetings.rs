//! Where threads meet: the barriers of a cta, and the barriers of warps and exchanges between lanes.

use std::collections::BTreeSet;

use super::assumption::ArithmeticAssumption;
use super::atom::Variance;
use super::expr::Expr;
use super::launched::LaunchedValues;
use super::outcome::Gap;
use super::result_source::{ResultSource, is_of_all};
use super::thread::{SymbolicBarrier, SymbolicThread};
use super::variance::Variances;
use super::warp_values::{WarpLaunch, WarpValues};
use crate::flow::{BlockId, Pc, Program};
use crate::ptx::isa::Effect;

/// Where the threads of a cta meet.
pub(super) struct Meetings {
    /// What they have in common.
    pub(super) variances: Variances,
    /// The blocks that end with barriers of the cta.
    pub(super) barriers: BTreeSet<BlockId>,
    /// The barriers and exchanges before which some threads of the cta might have ended, and others not.
    pub(super) after_exits: BTreeSet<Pc>,
    /// What is taken for granted.
    pub(super) assumed: BTreeSet<ArithmeticAssumption>,
}

/// Returns where the threads of a cta meet. `must_meet`: all threads of the cta have to come to all barriers together, and all
/// lanes of a warp to all exchanges; otherwise, no barrier is returned if they might not.
pub(super) fn of(
    program: &Program,
    thread: &mut SymbolicThread,
    launched: &LaunchedValues,
    must_meet: bool,
) -> Result<Meetings, Vec<Gap>> {
    let variances = Variances::of(thread);
    let exact = separating(program, thread, launched, &variances, true);
    let unwrapped = BTreeSet::from([ArithmeticAssumption::Unwrapped]);
    let found = exact.map(|barriers| (barriers, BTreeSet::new())).or_else(|_| {
        let barriers = separating(program, thread, launched, &variances, false)?;
        Ok((barriers, unwrapped))
    });
    match found {
        Ok((barriers, assumed)) => {
            let after_exits = after_exits(thread, &variances);
            Ok(Meetings { variances, barriers, after_exits, assumed })
        }
        Err(gaps) if must_meet => Err(gaps),
        Err(_) => {
            forget_results(thread);
            let (variances, barriers) = (Variances::of(thread), BTreeSet::new());
            let (after_exits, assumed) = (BTreeSet::new(), BTreeSet::new());
            Ok(Meetings { variances, barriers, after_exits, assumed })
        }
    }
}

/// Returns the blocks that end with barriers of the cta, if all threads of the cta come to all barriers together, and all
/// lanes of a warp to all exchanges. `wraps`: whether numbers of threads in the grid might wrap around.
fn separating(
    program: &Program,
    thread: &SymbolicThread,
    launched: &LaunchedValues,
    variances: &Variances,
    wraps: bool,
) -> Result<BTreeSet<BlockId>, Vec<Gap>> {
    let LaunchedValues { block, has_whole_warps, ref multiples, .. } = *launched;
    let launch = WarpLaunch { block, has_whole_warps, multiples, wraps };
    let mut warps = None;
    let (mut found, mut gaps) = (BTreeSet::new(), Vec::new());
    for barrier in &thread.barriers {
        let instr = &program.code[barrier.pc.index()];
        let is_of_cta = instr.effect() == Effect::Barrier;
        let loops = &program.blocks[barrier.block.index()].loops;
        let come_together = come_as_cta(barrier, loops, variances)
            || !is_of_cta && {
                let warps = warps.get_or_insert_with(|| WarpValues::of(thread, launch, variances));
                warps.is_common(barrier.reach.comes)
                    && loops.iter().all(|header| warps.go_round_together(*header))
            };
        let last = barrier.last.and_then(|last| thread.exprs.as_constant(last));
        if !come_together || !is_of_all(instr, last) {
            gaps.push(Gap::Divergence(barrier.pc));
        } else if is_of_cta && instr.guard.is_none() {
            // A predicated barrier separates nothing where its predicate is false.
            found.insert(barrier.block);
        }
    }
    if gaps.is_empty() { Ok(found) } else { Err(gaps) }
}

/// Returns the barriers and exchanges before which some threads of the cta might have ended, and others not.
fn after_exits(thread: &SymbolicThread, variances: &Variances) -> BTreeSet<Pc> {
    let might_split = |stays: Expr| variances.variance(stays) > Variance::Cta;
    let barriers = thread.barriers.iter().filter(|own| own.stays.is_some_and(might_split));
    barriers.map(|barrier| barrier.pc).collect()
}

/// Whether all threads of a cta come to a barrier, or none, in each iteration of the loops that contain it.
fn come_as_cta(barrier: &SymbolicBarrier, loops: &[BlockId], variances: &Variances) -> bool {
    variances.variance(barrier.reach.comes) <= Variance::Cta
        && loops.iter().all(|header| variances.synchronized.contains(header))
}

/// Makes the results of barriers and exchanges unknowns that each thread has of its own, as they are where threads do not
/// meet at them.
fn forget_results(thread: &mut SymbolicThread) {
    for source in thread.results.values_mut() {
        if matches!(source, ResultSource::Cta(_) | ResultSource::Warp) {
            *source = ResultSource::Other;
        }
    }
}

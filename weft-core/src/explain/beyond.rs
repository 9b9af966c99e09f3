//! Looks beyond the point where a warp cannot go on: if an instruction follows that is not modelled, the verdict stays
//! open, whatever the launch gives.

use std::collections::BTreeSet;

use super::doubts::{self, Progress};
use super::names::Names;
use crate::emulate::{Doubt, DoubtKind};
use crate::finding::Finding;
use crate::flow::{BlockId, Pc, PlaceId, Program};
use crate::ptx::isa::Effect;

/// Returns the finding for a doubt. If every thread that continues reaches an instruction that is not modelled, that
/// finding comes first, because no setting settles it; if only some threads might reach one, it is a note.
pub(crate) fn explain(names: &Names<'_>, doubt: &Doubt, progress: Progress) -> Vec<Finding> {
    let mut finding = doubts::explain(names, doubt, progress);
    let is_input =
        matches!(doubt.kind, DoubtKind::Branch | DoubtKind::Address | DoubtKind::Barrier);
    if !is_input {
        return vec![finding];
    }
    let program = names.program;
    let blocks = blocks_of(program, doubt.place);
    if let Some(pc) = blocks.iter().find_map(|block| certain(program, *block, doubt.place)) {
        let place = program.code[pc.index()].place;
        let label = "whatever the launch gives, this comes next";
        return vec![doubts::unmodelled(names, place, label), finding];
    }
    if let Some(pc) = possible(program, &blocks) {
        finding.notes.push(format!(
            "the instruction in line {} is not modelled: where a thread comes to it, the verdict stays open",
            names.line(pc)
        ));
    }
    vec![finding]
}

/// Returns the blocks that contain an instruction at a place, or whose terminator is there.
fn blocks_of(program: &Program, place: PlaceId) -> Vec<BlockId> {
    let is_there = |id: &BlockId| {
        program.blocks[id.index()].place == place
            || program.instructions(*id).any(|(_, instr)| instr.place == place)
    };
    (0..program.blocks.len()).map(BlockId::at).filter(is_there).collect()
}

/// Returns the first instruction that is not modelled on all paths from a place in a block to the end of the thread.
fn certain(program: &Program, first: BlockId, place: PlaceId) -> Option<Pc> {
    let chain =
        std::iter::successors(Some(first), |block| program.blocks[block.index()].post_dominator);
    let mut all = chain.flat_map(|block| program.instructions(block));
    let in_block = program.instructions(first).any(|(_, instr)| instr.place == place);
    // If the doubt is about the block's terminator, all instructions of the block lie before it.
    let before = if in_block { 0 } else { program.instructions(first).count() };
    let mut all =
        all.by_ref().skip(before).skip_while(|(_, instr)| in_block && instr.place != place);
    let is_it = |(_, instr): &(Pc, &crate::flow::Instr)| {
        instr.effect() == Effect::Asynchronous && instr.guard.is_none()
    };
    all.find(is_it).map(|(pc, _)| pc)
}

/// Returns the first instruction that is not modelled and can be reached from some blocks.
fn possible(program: &Program, from: &[BlockId]) -> Option<Pc> {
    let mut seen: BTreeSet<BlockId> = from.iter().copied().collect();
    let mut work: Vec<BlockId> = from.to_vec();
    while let Some(block) = work.pop() {
        let next = program.blocks[block.index()].terminator.successors();
        work.extend(next.into_iter().filter(|next| seen.insert(*next)));
    }
    let mut all = seen.into_iter().flat_map(|block| program.instructions(block));
    all.find(|(_, instr)| instr.effect() == Effect::Asynchronous).map(|(pc, _)| pc)
}

//! Walks along the paths of a program.

use std::collections::BTreeSet;

use crate::flow::{BlockId, Instr, Program};

/// Whether a walk goes on behind an instruction.
pub(super) enum Step<S> {
    On(S),
    Stop,
}

/// Visits the instructions on all paths that start behind an instruction, each at most once in each state.
pub(super) fn forward<S: Copy + Ord>(
    program: &Program,
    from: usize,
    state: S,
    mut visit: impl FnMut(usize, &Instr, S) -> Step<S>,
) {
    let own = |block: &crate::flow::Block| (block.first.index()..block.end.index()).contains(&from);
    let Some(start) = program.blocks.iter().position(own) else { return };
    let mut seen = BTreeSet::new();
    let mut open = vec![(BlockId::at(start), from + 1, state)];
    while let Some((block, first, mut state)) = open.pop() {
        let block = &program.blocks[block.index()];
        let mut is_over = false;
        for at in first..block.end.index() {
            match visit(at, &program.code[at], state) {
                Step::On(next) => state = next,
                Step::Stop => {
                    is_over = true;
                    break;
                }
            }
        }
        if is_over {
            continue;
        }
        for next in block.terminator.successors() {
            if seen.insert((next, state)) {
                open.push((next, program.blocks[next.index()].first.index(), state));
            }
        }
    }
}
